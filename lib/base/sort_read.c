/* Reading sorted runs back in order. Runs that do not overlap are linked to chains, which a tree of
 * losers merges: all of them at once, or for several ranges of keys. */
#include "base/sort_impl.h"

#include "base/error.h"

#include <stdlib.h>

enum { PREFETCH = 256 << 10 };

/* Reads the records of a chain, one after the other. */
typedef struct reader {
    uint64_t key[ROCL_SORT_KEYS_MAX];
    const uint8_t *data;
    size_t len;
    const uint8_t *at, *end; /* bytes in memory that are not decoded yet */
    bool done;
    size_t run;
    uint8_t *buffer; /* for runs in the file */
    size_t cap;
    uint64_t offset, left; /* bytes in the file that are not in the buffer yet */
    uint64_t advised;      /* prefetched up to here */
} reader;

/* A position in the tree of losers: the reader that lost there, and its first key word. */
typedef struct node {
    uint64_t key;
    uint64_t reader;
} node;

typedef struct merge {
    rocl_sort_space *space;
    rocl_sort_run *runs;
    unsigned words;
    size_t count; /* of readers */
    size_t read_buffer;
    reader *readers;
    node *tree;  /* [1, count) losers; [0] the winner */
    node second; /* during a streak of the winner: the best of the losers */
    bool streak; /* second is known */
    bool begun;  /* the winner's record was handed out */
    bool keeps;  /* keep the runs that have been read, for others */
} merge;

struct rocl_sort_range {
    rocl_sort_runs runs; /* its own: no run belongs to two ranges */
    merge merge;
};

typedef rocl_sort_range range;

/* ---- chains ---------------------------------------------------------------------------------- */

static int compare_first(const void *a, const void *b)
{
    const rocl_sort_run *x = a, *y = b;
    return rocl_sort_less(y->first, x->first, ROCL_SORT_KEYS_MAX) -
           rocl_sort_less(x->first, y->first, ROCL_SORT_KEYS_MAX);
}

static bool ends_before(const rocl_sort_run *runs, size_t a, size_t b)
{
    return rocl_sort_less(runs[a].last, runs[b].last, ROCL_SORT_KEYS_MAX);
}

/* Runs are taken in order of their first key and linked to the chain that ends first; a new chain
 * is begun only if the run overlaps all chains so far, so the number of chains is minimal. The last
 * runs of chains are in a heap, the one that ends first on top. */
static size_t link_chains(rocl_sort_run *runs, size_t n, size_t *heads, size_t *heap)
{
    size_t chains = 0;
    if (n)
        qsort(runs, n, sizeof *runs, compare_first);
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        if (!chains || rocl_sort_less(runs[i].first, runs[heap[0]].last, ROCL_SORT_KEYS_MAX)) {
            heads[chains] = i;
            for (at = chains++; at > 0 && ends_before(runs, i, heap[(at - 1) / 2]);
                 at = (at - 1) / 2)
                heap[at] = heap[(at - 1) / 2];
        } else {
            runs[heap[0]].next = i;
            for (size_t child; (child = 2 * at + 1) < chains; at = child) {
                if (child + 1 < chains && ends_before(runs, heap[child + 1], heap[child]))
                    child++;
                if (!ends_before(runs, heap[child], i))
                    break;
                heap[at] = heap[child];
            }
        }
        heap[at] = i;
    }
    return chains;
}

/* ---- one chain ------------------------------------------------------------------------------- */

/* Reads until `need` bytes from r->at on are in memory, or all that there are. */
static rocl_status refill_buffer(merge *m, reader *r, size_t need, rocl_error *err)
{
    size_t have = (size_t)(r->end - r->at);
    if (need > r->cap) {
        size_t cap = need > m->read_buffer ? need : m->read_buffer;
        uint8_t *buffer = malloc(cap + ROCL_SORT_SLACK);
        if (!buffer)
            return rocl_fail_memory(err);
        if (have)
            memcpy(buffer, r->at, have);
        memset(buffer + cap, 0, ROCL_SORT_SLACK);
        rocl_space_unexpand(m->space, r->cap);
        rocl_space_expand(m->space, cap, true);
        free(r->buffer);
        r->buffer = buffer;
        r->cap = cap;
    } else if (have) {
        memmove(r->buffer, r->at, have);
    }
    size_t n = r->cap - have;
    if (n > r->left)
        n = (size_t)r->left;
    rocl_status st = rocl_space_read(m->space, r->buffer + have, n, r->offset, err);
    r->at = r->buffer;
    r->end = r->at + have + n;
    r->offset += n;
    r->left -= n;
    if (r->left && r->offset >= r->advised && r->cap < PREFETCH) {
        rocl_space_advise(m->space, r->left < PREFETCH ? (size_t)r->left : PREFETCH, r->offset);
        r->advised = r->offset + PREFETCH;
    }
    return st;
}

static void open_run(merge *m, reader *r, size_t run)
{
    const rocl_sort_run *source = &m->runs[run];
    memset(r->key, 0, sizeof r->key);
    r->run = run;
    if (source->memory) {
        r->at = source->memory;
        r->end = r->at + source->size;
        r->left = 0;
    } else {
        r->at = r->end = r->buffer;
        r->offset = source->offset;
        r->left = source->size;
        r->advised = 0;
    }
}

/* The next record of the chain, or done. */
static rocl_status read_record(merge *m, reader *r, rocl_error *err)
{
    while ((size_t)(r->end - r->at) < ROCL_SORT_HEAD_MAX) {
        if (r->left) {
            rocl_status st = refill_buffer(m, r, ROCL_SORT_HEAD_MAX, err);
            if (st)
                return st;
        } else if (r->at < r->end) {
            break;
        } else { /* the run is done: go on with the next in the chain */
            size_t next = m->runs[r->run].next;
            if (!m->keeps)
                rocl_sort_run_free(m->space, &m->runs[r->run]);
            r->done = next == ROCL_NO_RUN;
            if (r->done)
                return ROCL_OK;
            open_run(m, r, next);
        }
    }
    uint64_t len;
    switch (m->words) { /* constants, so that the compiler unrolls each case */
    case 1:
        r->at = rocl_sort_decode_head(r->at, r->key, 1, &len);
        break;
    case 2:
        r->at = rocl_sort_decode_head(r->at, r->key, 2, &len);
        break;
    case 3:
        r->at = rocl_sort_decode_head(r->at, r->key, 3, &len);
        break;
    default:
        r->at = rocl_sort_decode_head(r->at, r->key, 4, &len);
        break;
    }
    if (r->at > r->end || len > UINT32_MAX || len > (uint64_t)(r->end - r->at) + r->left)
        return rocl_space_damaged(m->space, err);
    if (len > (size_t)(r->end - r->at)) {
        rocl_status st = refill_buffer(m, r, (size_t)len, err);
        if (st)
            return st;
    }
    r->data = r->at;
    r->len = (size_t)len;
    r->at += len;
    return ROCL_OK;
}

/* ---- the tree of losers ---------------------------------------------------------------------- */

/* An exhausted reader gets the largest possible key, which a record may have, too. */
static node make_node(const merge *m, size_t i)
{
    const reader *r = &m->readers[i];
    return (node){r->done ? UINT64_MAX : r->key[0], i};
}

/* Does a come before b, given that their first words are equal? */
static bool tie_less(const merge *m, uint64_t a, uint64_t b)
{
    const reader *x = &m->readers[a], *y = &m->readers[b];
    if (x->done || y->done)
        return !x->done;
    return rocl_sort_less(x->key, y->key, m->words);
}

static bool node_less(const merge *m, const node *a, const node *b)
{
    return a->key != b->key ? a->key < b->key : tie_less(m, a->reader, b->reader);
}

/* Plays the matches below position i of the tree, where positions from count on are the readers. */
static node play_matches(merge *m, size_t i)
{
    if (i >= m->count)
        return make_node(m, i - m->count);
    node a = play_matches(m, 2 * i), b = play_matches(m, 2 * i + 1);
    bool second = node_less(m, &b, &a);
    m->tree[i] = second ? a : b;
    return second ? b : a;
}

/* Plays the winner's matches again, up to the root. Which side wins cannot be predicted, so
 * winner and loser are exchanged without a branch. */
static void replay_winner(merge *m)
{
    node win = make_node(m, (size_t)m->tree[0].reader);
    for (size_t i = ((size_t)win.reader + m->count) / 2; i > 0; i /= 2) {
        node *t = &m->tree[i];
        bool less = t->key < win.key;
        if (__builtin_expect(t->key == win.key, 0))
            less = tie_less(m, t->reader, win.reader);
        uint64_t mask = 0 - (uint64_t)less;
        uint64_t key = (t->key ^ win.key) & mask, number = (t->reader ^ win.reader) & mask;
        t->key ^= key;
        t->reader ^= number;
        win.key ^= key;
        win.reader ^= number;
    }
    m->tree[0] = win;
}

/* The winner has a new record. Chains often cover separate ranges: a reader that wins twice may win
 * a thousand times, which takes only one comparison with the second each time. */
static void update_winner(merge *m)
{
    uint64_t before = m->tree[0].reader;
    if (m->count == 1)
        return;
    if (m->streak) {
        node win = make_node(m, (size_t)before);
        if (!node_less(m, &m->second, &win))
            return;
    }
    replay_winner(m);
    m->streak = m->tree[0].reader == before;
    if (!m->streak)
        return;
    /* The second is the best of all that lost; those that lost to the winner itself are on its way
     * to the root. */
    size_t i = ((size_t)before + m->count) / 2;
    m->second = m->tree[i];
    for (i /= 2; i > 0; i /= 2)
        if (node_less(m, &m->tree[i], &m->second))
            m->second = m->tree[i];
}

/* ---- the merge ------------------------------------------------------------------------------- */

/* Reads the first record of each chain. */
static rocl_status open_chains(merge *m, const size_t *heads, size_t count, rocl_error *err)
{
    m->readers = calloc(count ? count : 1, sizeof *m->readers);
    m->tree = calloc(count ? count : 1, sizeof *m->tree);
    if (!m->readers || !m->tree)
        return rocl_fail_memory(err);
    m->count = count;
    for (size_t i = 0; i < count; i++) {
        open_run(m, &m->readers[i], heads[i]);
        rocl_status st = read_record(m, &m->readers[i], err);
        if (st)
            return st;
    }
    return ROCL_OK;
}

static rocl_status start_merge(merge *m, const size_t *heads, size_t count, rocl_error *err)
{
    const rocl_status st = open_chains(m, heads, count, err);
    if (st == ROCL_OK && count)
        m->tree[0] = play_matches(m, 1);
    return st;
}

static rocl_status next_of_merge(merge *m, rocl_sort_record *rec, bool *more, rocl_error *err)
{
    *more = false;
    if (!m->count)
        return ROCL_OK;
    reader *r = &m->readers[m->tree[0].reader];
    if (m->begun && !r->done) {
        rocl_status st = read_record(m, r, err);
        if (st)
            return st;
        update_winner(m);
        r = &m->readers[m->tree[0].reader];
    }
    m->begun = true;
    if (r->done)
        return ROCL_OK;
    *rec = (rocl_sort_record){r->key, r->data, r->len};
    *more = true;
    return ROCL_OK;
}

/* Does the key come before the bound? Unused words are 0. */
static inline bool is_before(const uint64_t *key, const rocl_sort_bound *b)
{
    return key[0] != b->word[0] ? key[0] < b->word[0] : key[1] < b->word[1];
}

static void free_merge(merge *m)
{
    for (size_t i = 0; m->readers && i < m->count; i++) {
        rocl_space_unexpand(m->space, m->readers[i].cap);
        free(m->readers[i].buffer);
    }
    free(m->readers);
    free(m->tree);
}

/* ---- from any record on ---------------------------------------------------------------------- */

struct rocl_sort_cursor {
    merge merge;
    rocl_sort_run *runs; /* copies of those of the index; the sorter owns their memory */
    size_t run_count;
    uint64_t left; /* records */
};

static int compare_last(const void *a, const void *b)
{
    const rocl_sort_run *const *x = a, *const *y = b;
    return rocl_sort_less((*y)->last, (*x)->last, ROCL_SORT_KEYS_MAX) -
           rocl_sort_less((*x)->last, (*y)->last, ROCL_SORT_KEYS_MAX);
}

rocl_status rocl_sort_index_runs(rocl_sort_index *index, rocl_sort_runs *runs, rocl_error *err)
{
    const size_t n = runs->count;
    const rocl_sort_run **by_last = reallocarray(NULL, n + 1, sizeof *by_last);
    index->most = calloc(n + 1, sizeof *index->most);
    index->least = calloc(n + 1, sizeof *index->least);
    index->runs = runs;
    if (!by_last || !index->most || !index->least) {
        free(by_last);
        return rocl_fail_memory(err);
    }
    if (n)
        qsort(runs->all, n, sizeof *runs->all, compare_first);
    for (size_t i = 0; i < n; i++)
        by_last[i] = &runs->all[i];
    if (n)
        qsort(by_last, n, sizeof *by_last, compare_last);
    uint64_t sum = 0;
    for (size_t i = 0, ended = 0; i <= n; i++) {
        for (; ended < n && (i == n || rocl_sort_less(by_last[ended]->last, runs->all[i].first,
                                                      ROCL_SORT_KEYS_MAX));
             ended++)
            sum += by_last[ended]->records;
        index->least[i] = sum;
        index->most[i] = i ? index->most[i - 1] + runs->all[i - 1].records : 0;
    }
    free(by_last);
    return ROCL_OK;
}

void rocl_sort_index_free(rocl_sort_index *index)
{
    free(index->most);
    free(index->least);
}

/* Copies the runs that are needed from the first record of run `from` on, up to the record with the
 * number `end`. False: memory is out. */
static bool copy_runs(rocl_sort_cursor *c, const rocl_sort_index *index, size_t from, uint64_t end)
{
    const rocl_sort_runs *runs = index->runs;
    size_t to = from;
    while (to < runs->count && index->least[to] < end)
        to++;
    c->run_count = 0;
    c->runs = reallocarray(NULL, to + 1, sizeof *c->runs);
    for (size_t i = 0; c->runs && i < to; i++)
        if (i >= from ||
            !rocl_sort_less(runs->all[i].last, runs->all[from].first, ROCL_SORT_KEYS_MAX)) {
            c->runs[c->run_count] = runs->all[i];
            c->runs[c->run_count++].next = ROCL_NO_RUN;
        }
    return c->runs != NULL;
}

/* Opens chains at a key, and counts the records skipped for it: those before the key in runs that
 * extend beyond it. */
static rocl_status open_chains_at(rocl_sort_cursor *c, const uint64_t *key, unsigned together,
                                  uint64_t *before, rocl_error *err)
{
    merge *m = &c->merge;
    size_t files = 0;
    size_t *heads = reallocarray(NULL, c->run_count + 1, 2 * sizeof *heads);
    if (!heads)
        return rocl_fail_memory(err);
    const size_t chains = link_chains(c->runs, c->run_count, heads, heads + c->run_count);
    for (size_t i = 0; i < c->run_count; i++)
        files += !c->runs[i].memory;
    files = files < chains ? files : chains;
    m->runs = c->runs;
    m->read_buffer = rocl_space_read_buffer(m->space, files * together);
    rocl_status st = open_chains(m, heads, chains, err);
    free(heads);
    for (size_t i = 0; i < chains && st == ROCL_OK; i++) {
        reader *r = &m->readers[i];
        while (st == ROCL_OK && !r->done && rocl_sort_less(r->key, key, m->words)) {
            ++*before;
            st = read_record(m, r, err);
        }
    }
    return st;
}

static void close_chains(rocl_sort_cursor *c)
{
    merge *m = &c->merge;
    free_merge(m);
    free(c->runs);
    c->runs = NULL;
    c->merge = (merge){.space = m->space, .words = m->words, .keeps = true};
}

/* A run that probably begins shortly before the record with this number. */
static size_t guess_run(const rocl_sort_index *index, uint64_t number)
{
    size_t lo = 0, hi = index->runs->count;
    while (lo + 1 < hi) {
        const size_t mid = (lo + hi) / 2;
        if (index->least[mid] / 2 + index->most[mid] / 2 <= number)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static rocl_status open_cursor(rocl_sort_cursor *c, const rocl_sort_index *index, uint64_t first,
                               uint64_t count, unsigned together, rocl_error *err)
{
    const rocl_sort_runs *runs = index->runs;
    c->merge = (merge){.space = runs->space, .words = runs->words, .keeps = true};
    if (first >= index->most[runs->count])
        return ROCL_OK;
    const uint64_t left = index->most[runs->count] - first;
    count = count < left ? count : left;
    rocl_status st = ROCL_OK;
    uint64_t number = 0; /* of the next record */
    for (size_t from = guess_run(index, first), back = 1;; back *= 2) {
        number = index->least[from];
        if (!copy_runs(c, index, from, first + count))
            return rocl_fail_memory(err);
        st = open_chains_at(c, runs->all[from].first, together, &number, err);
        if (st != ROCL_OK)
            return st;
        if (number <= first) /* always true for the first run */
            break;
        close_chains(c);
        from = from > back ? from - back : 0;
    }
    c->merge.tree[0] = play_matches(&c->merge, 1);
    c->left = first - number + count;
    for (; number < first && st == ROCL_OK; number++) {
        rocl_sort_record rec;
        bool more;
        st = rocl_sort_cursor_next(c, &rec, &more, err);
    }
    return st;
}

rocl_status rocl_sort_open(const rocl_sort_index *index, uint64_t first, uint64_t count,
                           unsigned together, rocl_sort_cursor **cursor, rocl_error *err)
{
    rocl_sort_cursor *c = *cursor = calloc(1, sizeof *c);
    const rocl_status st =
        c ? open_cursor(c, index, first, count, together, err) : rocl_fail_memory(err);
    if (st != ROCL_OK) {
        rocl_sort_cursor_close(c);
        *cursor = NULL;
    }
    return st;
}

rocl_status rocl_sort_cursor_next(rocl_sort_cursor *c, rocl_sort_record *rec, bool *more,
                                  rocl_error *err)
{
    *more = false;
    if (!c->left)
        return ROCL_OK;
    c->left--;
    return next_of_merge(&c->merge, rec, more, err);
}

void rocl_sort_cursor_close(rocl_sort_cursor *c)
{
    if (c)
        close_chains(c);
    free(c);
}

/* ---- the least third word in a range --------------------------------------------------------- */

/* Reads a run that is partly in the range. The run is kept, as nothing is read after its last
 * record. */
static rocl_status read_least(const rocl_sort_runs *runs, const rocl_sort_run *of,
                              const rocl_sort_bound *from, const rocl_sort_bound *to,
                              uint64_t *least, rocl_error *err)
{
    rocl_sort_run run = *of;
    merge m = {.space = runs->space, .runs = &run, .words = runs->words};
    reader r = {0};
    m.read_buffer = rocl_space_read_buffer(runs->space, 1);
    rocl_status st = ROCL_OK;
    open_run(&m, &r, 0);
    while (st == ROCL_OK && (r.left || r.at < r.end) &&
           (st = read_record(&m, &r, err)) == ROCL_OK && is_before(r.key, to))
        if (!is_before(r.key, from))
            *least = rocl_sort_least(*least, r.key, m.words);
    rocl_space_unexpand(m.space, r.cap);
    free(r.buffer);
    return st;
}

rocl_status rocl_sort_find_least(const rocl_sort_runs *runs, rocl_sort_bound from,
                                 rocl_sort_bound to, uint64_t *least, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    *least = UINT64_MAX;
    for (size_t i = 0; i < runs->count && st == ROCL_OK; i++) {
        const rocl_sort_run *run = &runs->all[i];
        if (is_before(run->last, &from) || !is_before(run->first, &to))
            continue;
        if (!is_before(run->first, &from) && is_before(run->last, &to))
            *least = run->least < *least ? run->least : *least;
        else if (run->least < *least)
            st = read_least(runs, run, &from, &to, least, err);
    }
    return st;
}

/* ---- a run of several ranges ----------------------------------------------------------------- */

/* A piece of the run, under construction. */
typedef struct piece {
    range *to;
    uint8_t *at;
    rocl_sort_run run;
} piece;

static rocl_status end_piece(piece *p, rocl_error *err)
{
    if (!p->run.memory)
        return ROCL_OK;
    p->run.size = (size_t)(p->at - p->run.memory);
    rocl_status st = rocl_sort_keep_run(&p->to->runs, &p->run, err);
    p->run.memory = NULL;
    return st;
}

static size_t find_range(const uint64_t *key, const rocl_sort_bound *bounds, size_t count)
{
    size_t lo = 0, hi = count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (is_before(key, &bounds[mid]))
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* Encodes the records of a run anew, into a run for each range. Takes ownership of the run. */
static rocl_status cut_run(rocl_sort_runs *from, rocl_sort_run *run, range *ranges,
                           const rocl_sort_bound *bounds, size_t count, rocl_error *err)
{
    const size_t head = 0;
    merge m = {.space = from->space, .runs = run, .words = from->words};
    m.read_buffer = rocl_space_read_buffer(from->space, 1);
    piece p = {0};
    rocl_sort_record rec;
    bool more = true;
    rocl_status st = start_merge(&m, &head, 1, err);
    while (st == ROCL_OK && (st = next_of_merge(&m, &rec, &more, err)) == ROCL_OK && more) {
        range *to = &ranges[find_range(rec.key, bounds, count)];
        if (to != p.to) {
            st = end_piece(&p, err);
            /* Only the first record may take more bytes than before. */
            uint8_t *memory = st ? NULL : malloc(run->size + ROCL_SORT_HEAD_MAX + ROCL_SORT_SLACK);
            if (!memory) {
                st = st ? st : rocl_fail_memory(err);
                break;
            }
            p = (piece){.to = to, .at = memory, .run = {.memory = memory, .next = ROCL_NO_RUN}};
            memcpy(p.run.first, rec.key, from->words * sizeof *rec.key);
        }
        p.at = rocl_sort_encode_head(p.at, rec.key, p.run.last, from->words, (uint32_t)rec.len);
        if (rec.len)
            memcpy(p.at, rec.data, rec.len);
        p.at += rec.len;
    }
    if (st == ROCL_OK)
        st = end_piece(&p, err);
    else
        free(p.run.memory);
    free_merge(&m);
    return st;
}

/* ---- runs to ranges -------------------------------------------------------------------------- */

/* Read buffers share the memory, so all chains are made before the first is read. */
static rocl_status start_merges(range *ranges, size_t count, size_t **heads, size_t *chains,
                                rocl_error *err)
{
    size_t files = 0;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < count; i++) {
        const rocl_sort_runs *runs = &ranges[i].runs;
        heads[i] = reallocarray(NULL, runs->count ? runs->count : 1, 2 * sizeof **heads);
        if (!heads[i])
            return rocl_fail_memory(err);
        chains[i] = link_chains(runs->all, runs->count, heads[i], heads[i] + runs->count);
        for (size_t c = 0; c < chains[i]; c++) { /* chains with a run in the file */
            size_t run = heads[i][c];
            while (run != ROCL_NO_RUN && runs->all[run].memory)
                run = runs->all[run].next;
            files += run != ROCL_NO_RUN;
        }
    }
    size_t buffer = rocl_space_read_buffer(ranges[0].runs.space, files);
    for (size_t i = 0; i < count && st == ROCL_OK; i++) {
        rocl_sort_runs *runs = &ranges[i].runs;
        ranges[i].merge = (merge){
            .space = runs->space, .runs = runs->all, .words = runs->words, .read_buffer = buffer};
        st = start_merge(&ranges[i].merge, heads[i], chains[i], err);
    }
    return st;
}

rocl_status rocl_sort_ranges_next(rocl_sort_range *ranges, size_t i, rocl_sort_record *rec,
                                  bool *more, rocl_error *err)
{
    return next_of_merge(&ranges[i].merge, rec, more, err);
}

rocl_status rocl_sort_ranges_start(rocl_sort_runs *from, const rocl_sort_bound *bounds,
                                   size_t count, rocl_sort_range **out, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    range *ranges = *out = calloc(count + 1, sizeof *ranges);
    size_t **heads = calloc(count + 1, sizeof *heads);
    size_t *chains = calloc(count + 1, sizeof *chains);
    for (size_t i = 0; ranges && i <= count; i++)
        rocl_sort_runs_init(&ranges[i].runs, from->space, from->words, from->shift);
    if (!ranges || !heads || !chains)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && !count) { /* there is only one range */
        ranges[0].runs.all = from->all;
        ranges[0].runs.count = from->count;
        ranges[0].runs.cap = from->cap;
        from->all = NULL;
        from->count = from->cap = 0;
    }
    for (size_t i = 0; i < from->count && st == ROCL_OK; i++) {
        rocl_sort_run *run = &from->all[i];
        size_t first = find_range(run->first, bounds, count);
        if (first != find_range(run->last, bounds, count))
            st = cut_run(from, run, ranges, bounds, count, err);
        else if (rocl_sort_runs_add(&ranges[first].runs, run))
            run->memory = NULL;
        else
            st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK) { /* the runs belong to ranges now */
        free(from->all);
        from->all = NULL;
        from->count = from->cap = 0;
        st = start_merges(ranges, count + 1, heads, chains, err);
    }
    for (size_t i = 0; heads && i <= count; i++)
        free(heads[i]);
    free(heads);
    free(chains);
    return st;
}

void rocl_sort_ranges_free(rocl_sort_range *ranges, size_t count)
{
    for (size_t i = 0; ranges && i <= count; i++) {
        free_merge(&ranges[i].merge);
        rocl_sort_runs_free(&ranges[i].runs);
    }
    free(ranges);
}
