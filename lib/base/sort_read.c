/* Reading the runs back in order. */
#include "base/sort_impl.h"

#include "base/error.h"
#include "base/sort_pack.h"

#include <stdlib.h>

typedef rocl_sort_reader reader;
typedef rocl_sort_merge merge;
typedef rocl_sort_node node;

enum { READ_AHEAD = 256 << 10 };

/* ---- one chain ------------------------------------------------------------------------------- */

/* A read buffer with room for `need` bytes that keeps what is not decoded yet. */
static bool resize(merge *m, reader *r, size_t need)
{
    size_t cap = need > m->read_buffer ? need : m->read_buffer;
    size_t have = (size_t)(r->end - r->at);
    uint8_t *buffer = malloc(cap + ROCL_PACK_SLACK);
    if (!buffer)
        return false;
    if (have)
        memcpy(buffer, r->at, have);
    memset(buffer + cap, 0, ROCL_PACK_SLACK);
    rocl_space_unexpand(m->space, r->cap);
    rocl_space_expand(m->space, cap, true);
    free(r->buffer);
    r->buffer = buffer;
    r->cap = cap;
    r->at = buffer;
    r->end = buffer + have;
    return true;
}

/* Reads on so that `need` bytes from r->at are in memory, or all there are. */
static rocl_status refill(merge *m, reader *r, size_t need, rocl_error *err)
{
    size_t have = (size_t)(r->end - r->at);
    if (need > r->cap) {
        if (!resize(m, r, need))
            return rocl_fail_memory(err);
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
    if (r->left && r->offset >= r->advised && r->cap < READ_AHEAD) {
        rocl_space_advise(m->space, r->left < READ_AHEAD ? (size_t)r->left : READ_AHEAD, r->offset);
        r->advised = r->offset + READ_AHEAD;
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

/* The number of words is written out so that the compiler unrolls each. */
static const uint8_t *unpack(const uint8_t *p, uint64_t *key, unsigned words, uint64_t *len)
{
    switch (words) {
    case 1:
        return rocl_unpack_head(p, key, 1, len);
    case 2:
        return rocl_unpack_head(p, key, 2, len);
    case 3:
        return rocl_unpack_head(p, key, 3, len);
    default:
        return rocl_unpack_head(p, key, 4, len);
    }
}

/* The payload of the record whose head was read. */
static rocl_status take_payload(merge *m, reader *r, uint64_t len, rocl_error *err)
{
    if (r->at > r->end || len > UINT32_MAX || len > (uint64_t)(r->end - r->at) + r->left)
        return rocl_space_damaged(m->space, err);
    if (len > (size_t)(r->end - r->at)) {
        rocl_status st = refill(m, r, (size_t)len, err);
        if (st)
            return st;
    }
    r->data = r->at;
    r->len = (size_t)len;
    r->at += len;
    return ROCL_OK;
}

/* The run is read: frees it and goes on with the next of its chain. */
static void finish_run(merge *m, reader *r)
{
    size_t next = m->runs[r->run].next;
    rocl_sort_run_free(m->space, &m->runs[r->run]);
    if (next != ROCL_NO_RUN)
        open_run(m, r, next);
    else
        r->done = true;
}

/* The next record of the chain, or done. */
static rocl_status advance(merge *m, reader *r, rocl_error *err)
{
    while ((size_t)(r->end - r->at) < ROCL_PACK_HEAD) {
        if (r->left) {
            rocl_status st = refill(m, r, ROCL_PACK_HEAD, err);
            if (st)
                return st;
        } else if (r->at < r->end) {
            break;
        } else {
            finish_run(m, r);
            if (r->done)
                return ROCL_OK;
        }
    }
    uint64_t len;
    r->at = unpack(r->at, r->key, m->words, &len);
    return take_payload(m, r, len, err);
}

/* ---- the tree of losers ---------------------------------------------------------------------- */

/* An exhausted reader has the largest key there is, which a record may have, too. */
static node make_node(const merge *m, size_t i)
{
    const reader *r = &m->readers[i];
    return (node){r->done ? UINT64_MAX : r->key[0], i};
}

/* Whether a comes before b where their first words are the same. */
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

/* Plays the matches below tree place i, where places from count on are the readers. */
static node play(merge *m, size_t i)
{
    if (i >= m->count)
        return make_node(m, i - m->count);
    node a = play(m, 2 * i), b = play(m, 2 * i + 1);
    bool second = node_less(m, &b, &a);
    m->tree[i] = second ? a : b;
    return second ? b : a;
}

/* Plays the winner's matches again, up to the root. Which side wins is a matter of chance, so
 * winner and loser are exchanged without a branch. */
static void replay(merge *m)
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

/* The best of all that lost; those that lost to the winner itself are on its way to the root. */
static node find_second(const merge *m)
{
    size_t i = ((size_t)m->tree[0].reader + m->count) / 2;
    node best = m->tree[i];
    for (i /= 2; i > 0; i /= 2)
        if (node_less(m, &m->tree[i], &best))
            best = m->tree[i];
    return best;
}

/* The winner has a new record. Chains often lie far apart: who wins twice may win a thousand times,
 * which takes one look at the second each. */
static void settle(merge *m)
{
    uint64_t before = m->tree[0].reader;
    if (m->count == 1)
        return;
    if (m->streak) {
        node win = make_node(m, (size_t)before);
        if (!node_less(m, &m->second, &win))
            return;
    }
    replay(m);
    m->streak = m->tree[0].reader == before;
    if (m->streak)
        m->second = find_second(m);
}

/* ---- the merge ------------------------------------------------------------------------------- */

size_t rocl_sort_chains_in_file(const rocl_sort_run *runs, const size_t *heads, size_t count)
{
    size_t files = 0;
    for (size_t i = 0; i < count; i++) {
        size_t run = heads[i];
        while (run != ROCL_NO_RUN && runs[run].memory)
            run = runs[run].next;
        files += run != ROCL_NO_RUN;
    }
    return files;
}

rocl_status rocl_merge_start(merge *m, const size_t *heads, size_t count, rocl_error *err)
{
    m->readers = calloc(count ? count : 1, sizeof *m->readers);
    m->tree = calloc(count ? count : 1, sizeof *m->tree);
    if (!m->readers || !m->tree)
        return rocl_fail_memory(err);
    m->count = count;
    for (size_t i = 0; i < count; i++) {
        open_run(m, &m->readers[i], heads[i]);
        rocl_status st = advance(m, &m->readers[i], err);
        if (st)
            return st;
    }
    if (count)
        m->tree[0] = play(m, 1);
    return ROCL_OK;
}

rocl_status rocl_merge_next(merge *m, rocl_sort_record *rec, bool *more, rocl_error *err)
{
    *more = false;
    if (!m->count)
        return ROCL_OK;
    reader *r = &m->readers[m->tree[0].reader];
    if (m->begun && !r->done) {
        rocl_status st = advance(m, r, err);
        if (st)
            return st;
        settle(m);
        r = &m->readers[m->tree[0].reader];
    }
    m->begun = true;
    if (r->done)
        return ROCL_OK;
    *rec = (rocl_sort_record){r->key, r->data, r->len};
    *more = true;
    return ROCL_OK;
}

void rocl_merge_free(merge *m)
{
    for (size_t i = 0; m->readers && i < m->count; i++) {
        rocl_space_unexpand(m->space, m->readers[i].cap);
        free(m->readers[i].buffer);
    }
    free(m->readers);
    free(m->tree);
}
