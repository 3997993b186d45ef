/* A scan and the thread behind it; see scan.h.
 *
 * Ownership: `lock` of a scan guards its list of blocks, counts and flags. A worker owns its open
 * block until the pipeline has ended. Everything else belongs to the reading thread. */
#include "query/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/pool.h"
#include "query/scan_impl.h"
#include "trace/pipeline.h"

enum { WAIT_MS = 50 }; /* after which a waiting reader looks whether it was interrupted */

/* ---- tests ----------------------------------------------------------------------------------- */

void rocl_cell_set_release(rocl_cell_set *set)
{
    if (set && atomic_fetch_sub(&set->references, 1) == 1)
        free(set);
}

static bool set_has(const rocl_cell_set *set, int64_t cell)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (set->cells[middle] < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->count && set->cells[low] == cell;
}

static inline bool passes_test(rocl_test_op op, int order)
{
    return op == ROCL_TEST_EQ   ? order == 0
           : op == ROCL_TEST_GT ? order > 0
           : op == ROCL_TEST_GE ? order >= 0
           : op == ROCL_TEST_LT ? order < 0
                                : order <= 0;
}

/* LIKE and GLOB are SQLite's own. */
static bool test_text(const rocl_test *t, const rocl_strings *strings, int64_t cell)
{
    const char *text = rocl_strings_get(strings, (uint32_t)cell, NULL);
    const char *pattern = rocl_strings_get(strings, (uint32_t)t->cell, NULL);
    return t->op == ROCL_TEST_IN     ? set_has(t->set, cell)
           : t->op == ROCL_TEST_LIKE ? sqlite3_strlike(pattern, text, 0) == 0
                                     : sqlite3_strglob(pattern, text) == 0;
}

enum { PASSES = 1, FAILS = 2 };

/* keep[i] becomes false for cells that do not pass. False: memory is out. */
static bool test_texts(const rocl_test *t, const rocl_strings *strings, const int64_t *cells,
                       uint32_t n, bool *keep, text_results *results)
{
    for (uint32_t i = 0; i < n; i++) {
        const int64_t c = cells[i];
        if (!keep[i] || c == ROCL_CELL_NULL) {
            keep[i] = false;
            continue;
        }
        if ((size_t)c >= results->capacity &&
            !ROCL_GROW(results->of, results->capacity, (size_t)c + 1))
            return false;
        if (!results->of[c])
            results->of[c] = test_text(t, strings, c) ? PASSES : FAILS;
        keep[i] = results->of[c] == PASSES;
    }
    return true;
}

static void test_numbers(const rocl_test *t, rocl_cell_type type, const int64_t *cells, uint32_t n,
                         bool *keep)
{
    for (uint32_t i = 0; i < n; i++) {
        const int64_t c = cells[i];
        bool passes;
        if (t->op == ROCL_TEST_IN) {
            passes = set_has(t->set, c);
        } else if (t->real) {
            double v = (double)c;
            if (type == ROCL_CELL_REAL)
                memcpy(&v, &c, sizeof v);
            passes = passes_test(t->op, (v > t->number) - (v < t->number));
        } else {
            passes = passes_test(t->op, (c > t->cell) - (c < t->cell));
        }
        keep[i] = keep[i] && passes && c != ROCL_CELL_NULL;
    }
}

/* Moves together the cells [first, first + n) of all columns that are kept; how many are. */
static uint32_t keep_rows(int64_t *cells, unsigned columns, uint32_t first, uint32_t n,
                          const bool *keep)
{
    uint32_t kept = 0;
    for (unsigned c = 0; c < columns; c++) {
        int64_t *at = cells + (size_t)c * ROCL_BLOCK_ROWS + first;
        kept = 0;
        for (uint32_t i = 0; i < n; i++) {
            at[kept] = at[i];
            kept += keep[i];
        }
    }
    return kept;
}

/* ---- the side of the pipeline ---------------------------------------------------------------- */

/* Bytes of a file that is mapped at once. */
#define SPILL_BYTES ((size_t)64 << 20)

/* Copies a block into the temporary file of the scan. The memory of the mapping is the kernel's to
 * write out. */
static rocl_status spill_block(rocl_scan *s, rocl_cell_block **block, rocl_error *err)
{
    rocl_cell_block *b = *block;
    uint8_t *to = NULL;
    rocl_status st = ROCL_OK;
    pthread_mutex_lock(&s->spill_lock);
    if (s->spill_fd < 0) {
        s->spill_fd = rocl_temp_file(s->scanner->trace->opt.tmpdir, &s->spill_dir);
        if (s->spill_fd < 0)
            st = rocl_fail_system(err, ROCL_OUTPUT, s->spill_dir, errno);
    }
    if (st == ROCL_OK && (!s->map_count || s->spilled + b->bytes > SPILL_BYTES)) {
        int why = 0;
        void *map = MAP_FAILED;
        if (!ROCL_GROW(s->maps, s->map_cap, s->map_count + 1))
            st = rocl_fail_memory(err);
        else if (!(why = posix_fallocate(s->spill_fd, (off_t)(s->map_count * SPILL_BYTES),
                                         (off_t)SPILL_BYTES)) &&
                 (map = mmap(NULL, SPILL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->spill_fd,
                             (off_t)(s->map_count * SPILL_BYTES))) == MAP_FAILED)
            why = errno;
        if (why)
            st = rocl_fail_system(err, ROCL_OUTPUT, s->spill_dir, why);
        else if (st == ROCL_OK) {
            s->maps[s->map_count++] = map;
            s->spilled = 0;
        }
    }
    if (st == ROCL_OK) {
        to = (uint8_t *)s->maps[s->map_count - 1] + s->spilled;
        s->spilled += (b->bytes + 7) & ~(size_t)7;
    }
    pthread_mutex_unlock(&s->spill_lock);
    if (to) {
        memcpy(to, b, b->bytes);
        free(b);
        *block = (rocl_cell_block *)(void *)to;
    }
    return st;
}

/* Adds a full block to the queue; waits while the reader has enough. */
static rocl_status put_block(rocl_scan *s, open_rows *o, rocl_error *err)
{
    rocl_scanner *r = s->scanner;
    rocl_cell_block *b = rocl_cells_pack(o->cells, ROCL_BLOCK_ROWS, o->rows, s->column_count);
    rocl_status st = b ? ROCL_OK : rocl_fail_memory(err);
    bool in_memory = true;
    o->rows = 0;
    if (st != ROCL_OK)
        return st;
    if (atomic_fetch_add(&r->used, b->bytes) + b->bytes > r->memory && atomic_load(&s->unlimited)) {
        atomic_fetch_sub(&r->used, b->bytes);
        st = spill_block(s, &b, err);
        in_memory = st != ROCL_OK;
    }
    pthread_mutex_lock(&s->lock);
    while (st == ROCL_OK && !atomic_load(&s->cancelled) && !atomic_load(&s->unlimited) &&
           s->block_count - s->consumed >= s->queue_max)
        pthread_cond_wait(&s->space, &s->lock);
    if (st == ROCL_OK && atomic_load(&s->cancelled))
        st = rocl_fail(err, ROCL_INTERNAL, "cancelled");
    if (st == ROCL_OK && !ROCL_GROW(s->blocks, s->block_cap, s->block_count + 1))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        s->rows += b->rows;
        s->bytes += in_memory ? b->bytes : 0;
        s->blocks[s->block_count++] = (kept_block){b, in_memory};
        pthread_cond_signal(&s->more);
    } else if (in_memory) {
        atomic_fetch_sub(&r->used, b->bytes);
        free(b);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

/* The capture, the kind, and the row in its table; of counters, which have the row of their
 * dispatch, also the counter. Ids beyond 2^44, if there should be any, lose their first bits. */
static void put_rowids(const rocl_batch *b, size_t first, size_t n, bool definitions,
                       int64_t *cells)
{
    const uint64_t base = (uint64_t)b->capture->index << 48 | (uint64_t)b->kind << 44;
    for (size_t i = 0; i < n; i++) {
        uint64_t id = first + i;
        if (!definitions && b->kind == ROCL_COUNTER)
            id = b->counters[id].d.e.id << 12 | (b->counters[id].counter & 0xfff);
        else if (!definitions)
            id = rocl_event_at(b, rocl_kind_infos[b->kind].size, id)->id;
        cells[i] = (int64_t)((base | (id & ((UINT64_C(1) << 44) - 1))) & INT64_MAX);
    }
}

/* Takes the cells of a batch into the open block of the worker. */
static rocl_status add_rows(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    rocl_scan *s = self;
    open_rows *o = &s->workers[worker];
    const rocl_relation *table = s->spec.table;
    rocl_status st = ROCL_OK;
    if (!o->cells && (!(o->cells = malloc((size_t)ROCL_BLOCK_ROWS * s->column_count * 8 + 8)) ||
                      !(o->keep = malloc(ROCL_BLOCK_ROWS))))
        return rocl_fail_memory(err);
    if (atomic_load_explicit(&s->cancelled, memory_order_relaxed))
        return rocl_fail(err, ROCL_INTERNAL, "cancelled");
    for (size_t i = 0; i < b->count && st == ROCL_OK;) {
        const size_t left = b->count - i;
        uint32_t n = ROCL_BLOCK_ROWS - o->rows;
        n = left < n ? (uint32_t)left : n;
        unsigned at = 0;
        for (uint64_t bits = s->columns; bits; bits &= bits - 1, at++) {
            const unsigned c = (unsigned)__builtin_ctzll(bits);
            int64_t *cells = o->cells + (size_t)at * ROCL_BLOCK_ROWS + o->rows;
            if (c == ROCL_SCAN_ROWID)
                put_rowids(b, i, n, table->list != NULL, cells);
            else
                table->columns[c].fill(s->scanner->trace, b, i, n, cells);
        }
        uint32_t kept = n;
        if (s->spec.test_count) {
            memset(o->keep, 1, n);
            for (unsigned t = 0; t < s->spec.test_count; t++) {
                const rocl_test *test = &s->spec.tests[t];
                const int64_t *cells = o->cells +
                                       (size_t)rocl_scan_column(s, test->column) * ROCL_BLOCK_ROWS +
                                       o->rows;
                if (test->op < ROCL_TEST_IN || table->columns[test->column].type != ROCL_CELL_TEXT)
                    test_numbers(test, table->columns[test->column].type, cells, n, o->keep);
                else if (!test_texts(test, s->strings, cells, n, o->keep, &o->tested[t]))
                    return rocl_fail_memory(err);
            }
            kept = keep_rows(o->cells, s->column_count, o->rows, n, o->keep);
        }
        o->rows += kept;
        i += n;
        if (o->rows == ROCL_BLOCK_ROWS)
            st = put_block(s, o, err);
    }
    return st;
}

/* The events of a batch, each as often as it has arguments: see rocl_relation.arguments. */
static rocl_status add_arguments(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    rocl_scan *s = self;
    open_rows *o = &s->workers[worker];
    rocl_batch each = *b;
    each.count = 0;
    for (size_t i = 0; i < b->count; i++)
        for (uint32_t k = 0; k < b->regions[i].arg_count; k++) {
            if (!ROCL_GROW(o->arguments, o->argument_cap, each.count + 1))
                return rocl_fail_memory(err);
            rocl_region *r = &o->arguments[each.count++];
            *r = b->regions[i];
            r->arg_first += k;
            r->arg_count = k;
        }
    each.regions = o->arguments;
    return add_rows(s, worker, &each, err);
}

/* Kinds of events whose word passes the tests: others are not read. */
static uint32_t wanted_kinds(const rocl_scan *s)
{
    uint32_t kinds = s->spec.table->kinds;
    for (unsigned t = 0; t < s->spec.test_count; t++) {
        const rocl_test *test = &s->spec.tests[t];
        if (strcmp(s->spec.table->columns[test->column].name, "kind") != 0)
            continue;
        for (unsigned k = 0; k < ROCL_KINDS; k++) {
            const char *word = rocl_kind_infos[k].name;
            const int64_t cell = rocl_strings_put(s->scanner->trace->strings, word, strlen(word));
            const bool passes = test->op < ROCL_TEST_IN ? passes_test(test->op, cell != test->cell)
                                                        : test_text(test, s->strings, cell);
            if (!passes && cell != ROCL_NONE)
                kinds &= ~ROCL_BIT(k);
        }
    }
    return kinds;
}

static rocl_status run_pipeline(rocl_scan *s, rocl_error *err)
{
    uint32_t fields = s->spec.table->fields;
    const uint64_t columns = s->columns & ~(UINT64_C(1) << ROCL_SCAN_ROWID);
    for (uint64_t bits = columns; bits; bits &= bits - 1)
        fields |= s->spec.table->columns[__builtin_ctzll(bits)].fields;
    rocl_trace *t = s->scanner->trace;
    const bool args = t->opt.args, wanted = s->spec.table->arguments;
    const rocl_sink sink = {.self = s,
                            .kinds = wanted_kinds(s),
                            .fields = fields,
                            .events = wanted ? add_arguments : add_rows};
    t->opt.args = wanted; /* one pipeline runs at a time */
    const rocl_status st = rocl_pipeline_run(t, &sink, err);
    t->opt.args = args;
    return st;
}

static void *produce_rows(void *arg)
{
    rocl_scan *s = arg;
    const rocl_trace *trace = s->scanner->trace;
    const bool definitions = s->spec.table->list != NULL;
    rocl_status st = definitions ? ROCL_OK : run_pipeline(s, s->err);
    for (size_t i = 0; definitions && i < trace->capture_count && st == ROCL_OK; i++) {
        rocl_batch b = {.capture = &trace->captures[i]->pub};
        s->spec.table->list(&b);
        st = add_rows(s, 0, &b, s->err);
    }
    for (unsigned w = 0; w < trace->opt.jobs; w++) {
        if (st == ROCL_OK && s->workers[w].rows)
            st = put_block(s, &s->workers[w], s->err);
        free(s->workers[w].cells);
        free(s->workers[w].keep);
        free(s->workers[w].arguments);
        for (unsigned t = 0; t < ROCL_TESTS_MAX; t++)
            free(s->workers[w].tested[t].of);
        s->workers[w] = (open_rows){0};
    }
    pthread_mutex_lock(&s->lock);
    s->status = st;
    s->done = true;
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- the side of SQL ------------------------------------------------------------------------- */

static void drop_block(rocl_scan *s, size_t i)
{
    kept_block *k = &s->blocks[i];
    if (k->block && k->in_memory) {
        atomic_fetch_sub(&s->scanner->used, k->block->bytes);
        s->bytes -= k->block->bytes;
        free(k->block);
    }
    k->block = NULL;
}

/* The pipeline of a scan has ended, or is about to. */
static void join_producer(rocl_scan *s)
{
    rocl_scanner *r = s->scanner;
    if (!s->running)
        return;
    pthread_join(s->thread, NULL);
    s->running = false;
    if (r->active == s)
        r->active = NULL;
    for (int i = 0; i < ROCL_FAULTS && !s->spec.table->list; i++) {
        const uint64_t n = atomic_load(&r->trace->faults[i]);
        r->faults[i] = n > r->faults[i] ? n : r->faults[i];
    }
}

/* Waits under the lock until something has come or a moment is over. */
static rocl_status wait_for_rows(rocl_scan *s, rocl_error *err)
{
    struct timespec until;
    const rocl_scanner *r = s->scanner;
    if (atomic_load(&r->interrupted) || (r->stop && r->stop(r->stop_ctx)))
        return rocl_fail(err, ROCL_INTERNAL, "interrupted");
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&s->more, &s->lock, &until);
    return ROCL_OK;
}

/* The scan under way ends on its own: what its cursor has not seen is kept. */
static rocl_status finish_active(rocl_scanner *r, rocl_error *err)
{
    rocl_scan *s = r->active;
    rocl_status st = ROCL_OK;
    if (!s)
        return ROCL_OK;
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->unlimited, true);
    pthread_cond_broadcast(&s->space);
    while (!s->done && st == ROCL_OK)
        st = wait_for_rows(s, err);
    pthread_mutex_unlock(&s->lock);
    if (st == ROCL_OK)
        join_producer(s);
    return st; /* a failure of the pipeline is met by its own cursor */
}

static void free_scan(rocl_scan *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->cancelled, true);
    pthread_cond_broadcast(&s->space);
    pthread_mutex_unlock(&s->lock);
    join_producer(s);
    for (size_t i = 0; i < s->block_count; i++)
        drop_block(s, i);
    for (size_t i = 0; i < s->map_count; i++)
        munmap(s->maps[i], SPILL_BYTES);
    if (s->spill_fd >= 0)
        close(s->spill_fd);
    for (size_t i = 0; i < s->order_count; i++)
        free(s->orders[i].rows);
    for (size_t i = 0; i < s->index_count; i++) {
        free(s->indexes[i]->heads);
        free(s->indexes[i]->next);
        free(s->indexes[i]);
    }
    free(s->orders);
    free(s->indexes);
    free(s->depths);
    free(s->parents);
    for (unsigned i = 0; i < s->spec.test_count; i++)
        rocl_cell_set_release(s->spec.tests[i].set);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->spill_lock);
    pthread_cond_destroy(&s->more);
    pthread_cond_destroy(&s->space);
    rocl_error_free(s->err);
    free(s->workers);
    free(s->blocks);
    free(s->maps);
    free(s);
}

bool rocl_scan_is_of(const rocl_scan *s, const rocl_scan_spec *spec)
{
    bool same = s->spec.table == spec->table && !(spec->columns & ~s->columns) &&
                s->spec.test_count == spec->test_count;
    for (unsigned i = 0; i < spec->test_count && same; i++) {
        const rocl_test *x = &s->spec.tests[i], *y = &spec->tests[i];
        same = x->column == y->column && x->op == y->op && x->real == y->real &&
               (x->op == ROCL_TEST_IN
                    ? x->set->count == y->set->count &&
                          !memcmp(x->set->cells, y->set->cells, x->set->count * sizeof(int64_t))
                : x->real ? x->number == y->number
                          : x->cell == y->cell);
    }
    return same;
}

static rocl_scan *new_scan(rocl_scanner *r, const rocl_scan_spec *spec)
{
    const unsigned jobs = r->trace->opt.jobs;
    rocl_scan *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = (rocl_scan){.scanner = r, .spec = *spec, .references = 1, .spill_fd = -1};
    s->strings = r->trace->strings;
    s->columns = spec->columns;
    for (unsigned i = 0; i < spec->test_count; i++) {
        s->columns |= UINT64_C(1) << spec->tests[i].column;
        if (spec->tests[i].set)
            atomic_fetch_add(&spec->tests[i].set->references, 1);
    }
    s->column_count = (unsigned)__builtin_popcountll(s->columns);
    s->queue_max = 4 * jobs + 4;
    s->workers = rocl_cache_line_calloc(jobs, sizeof *s->workers);
    s->err = rocl_error_new();
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->spill_lock, NULL);
    pthread_cond_init(&s->more, NULL);
    pthread_cond_init(&s->space, NULL);
    if (s->workers && s->err)
        return s;
    free_scan(s);
    return NULL;
}

rocl_status rocl_scan_begin(rocl_scanner *r, const rocl_scan_spec *spec, rocl_scan **scan,
                            rocl_error *err)
{
    *scan = NULL;
    for (size_t i = 0; i < r->kept_count; i++) {
        rocl_scan *kept = r->kept[i];
        if (rocl_scan_is_of(kept, spec)) {
            memmove(r->kept + i, r->kept + i + 1, (r->kept_count - i - 1) * sizeof *r->kept);
            r->kept[r->kept_count - 1] = kept;
            kept->references++;
            *scan = kept;
            return ROCL_OK;
        }
    }
    rocl_status st = spec->table->list ? ROCL_OK : finish_active(r, err);
    if (st == ROCL_OK && !(*scan = new_scan(r, spec)))
        st = rocl_fail_memory(err);
    if (st != ROCL_OK)
        return st;
    rocl_scan *s = *scan;
    if (spec->table->list) { /* definitions are in memory */
        atomic_store(&s->unlimited, true);
        produce_rows(s);
        return ROCL_OK;
    }
    if (!rocl_thread_start(&s->thread, produce_rows, s))
        return rocl_fail(err, ROCL_INTERNAL, "cannot start a thread");
    s->running = true;
    r->active = s;
    return ROCL_OK;
}

/* Keeps what may be asked for again, as far as there is memory. */
static void keep_scan(rocl_scan *s)
{
    rocl_scanner *r = s->scanner;
    if (!rocl_scan_is_whole(s) || s->map_count || s->status != ROCL_OK || s->is_kept ||
        s->bytes > r->memory / 2 || !ROCL_GROW(r->kept, r->kept_cap, r->kept_count + 1))
        return;
    s->references++;
    s->is_kept = true;
    r->kept[r->kept_count++] = s;
    while (r->kept_count > 1 && atomic_load(&r->used) > r->memory / 2) {
        rocl_scan *oldest = r->kept[0];
        memmove(r->kept, r->kept + 1, --r->kept_count * sizeof *r->kept);
        oldest->is_kept = false;
        rocl_scan_release(oldest);
    }
}

void rocl_scan_release(rocl_scan *s)
{
    if (!s)
        return;
    if (s->references == 1)
        keep_scan(s);
    if (--s->references == 0)
        free_scan(s);
}

void rocl_scan_prefetch(const rocl_scan *s, uint32_t row)
{
    const rocl_cell_block *b = s->blocks[row >> ROCL_BLOCK_SHIFT].block;
    for (unsigned i = 0; i < s->column_count; i++)
        __builtin_prefetch((const uint8_t *)b + b->columns[i].offset +
                           (size_t)(row & (ROCL_BLOCK_ROWS - 1)) * b->columns[i].width);
}

bool rocl_scan_is_whole(const rocl_scan *s)
{
    return !s->running && s->done && !s->dropped;
}

uint64_t rocl_scan_rows(const rocl_scan *s)
{
    return s->rows;
}

bool rocl_scan_is_unconditional(const rocl_scan *s)
{
    return !s->spec.test_count && !s->running && s->done;
}

unsigned rocl_scan_column(const rocl_scan *s, unsigned column)
{
    return (unsigned)__builtin_popcountll(s->columns & ((UINT64_C(1) << column) - 1));
}

rocl_status rocl_scan_block(rocl_scan *s, size_t i, const rocl_cell_block **block, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    *block = NULL;
    if (!s->running) {
        *block = i < s->block_count ? s->blocks[i].block : NULL;
    } else {
        pthread_mutex_lock(&s->lock);
        if (i > s->consumed) {
            s->consumed = i;
            pthread_cond_broadcast(&s->space);
        }
        /* Too much to be kept: what the cursor has left goes. */
        if (s->dropped || (!atomic_load(&s->unlimited) && s->bytes > s->scanner->memory / 2)) {
            for (; s->dropped < i && s->dropped < s->block_count; s->dropped++)
                drop_block(s, s->dropped);
        }
        while (i >= s->block_count && !s->done && st == ROCL_OK)
            st = wait_for_rows(s, err);
        if (st == ROCL_OK && i < s->block_count)
            *block = s->blocks[i].block;
        bool end = st == ROCL_OK && !*block;
        pthread_mutex_unlock(&s->lock);
        if (end)
            join_producer(s);
    }
    if (st == ROCL_OK && !*block && s->status != ROCL_OK) {
        rocl_error_copy(err, s->err);
        st = s->status;
    }
    return st;
}

rocl_status rocl_scan_complete(rocl_scan *s, rocl_error *err)
{
    rocl_status st = s->running ? finish_active(s->scanner, err) : ROCL_OK;
    if (st == ROCL_OK && s->status != ROCL_OK) {
        rocl_error_copy(err, s->err);
        st = s->status;
    }
    return st;
}

/* ---- readers --------------------------------------------------------------------------------- */

rocl_status rocl_scanner_new(rocl_scanner **r, rocl_trace *t, size_t memory, rocl_error *err)
{
    *r = calloc(1, sizeof **r);
    if (!*r)
        return rocl_fail_memory(err);
    (*r)->trace = t;
    (*r)->memory = memory;
    return ROCL_OK;
}

void rocl_scanner_free(rocl_scanner *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->kept_count; i++) {
        r->kept[i]->is_kept = false;
        if (--r->kept[i]->references == 0)
            free_scan(r->kept[i]);
    }
    free(r->kept);
    free(r);
}

void rocl_scanner_put_faults(const rocl_scanner *r)
{
    for (int i = 0; i < ROCL_FAULTS; i++)
        atomic_store(&r->trace->faults[i], r->faults[i]);
}
