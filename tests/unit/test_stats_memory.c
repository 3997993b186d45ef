/* The report on memory, against a list of live blocks that is searched from end to end. */
#include "test_csv_world.h"
#include "tests/unit/stats_records.h"

#include <inttypes.h>

#define ALLOCS   (1u << ROCL_ALLOC)
#define SCRATCH  (1u << ROCL_SCRATCH)
#define MEMORY   (1u << ROCL_REPORT_MEMORY)
#define ROWS_MAX 64

/* ---- the other side ---- */

typedef struct account {
    char agent[320];
    int64_t rank;
    int64_t allocations, frees, before, allocated, freed, peak, peak_at, live, unnamed, leaks,
        leaked, unpaired;
    bool used;
} account;

typedef struct live_block {
    const record *by;
    account *of;
    bool inside;
} live_block;

typedef struct step {
    const account *of;
    int64_t when, live; /* from then on */
} step;

typedef struct book {
    const rocl_trace *trace;
    bool by_rank;
    int64_t from, to;
    account accounts[ROWS_MAX];
    size_t count;
    live_block *live;
    size_t live_count;
    step *steps;
    size_t step_count;
} book;

static account *account_of(book *b, const record *r)
{
    const rocl_capture *c = r->capture;
    char name[320], host[128] = "";
    const char *label = r->alloc.owner == ROCL_NONE
                            ? "unknown"
                            : rocl_text(b->trace, c->agents[r->alloc.owner].label, NULL);
    int64_t rank = b->by_rank ? c->processes[r->e.process].rank : -1;
    if (rocl_trace_machines(b->trace) > 1)
        snprintf(host, sizeof host, " on %s", rocl_text(b->trace, c->nodes[0].hostname, NULL));
    snprintf(name, sizeof name, "%s%s", label, host);
    const rocl_gpu *gpu = rocl_gpu_of(c, r->alloc.owner);
    if (gpu)
        snprintf(name, sizeof name, "GPU %u%s", gpu->id, host);
    for (size_t i = 0; i < b->count; i++)
        if (!strcmp(b->accounts[i].agent, name) && b->accounts[i].rank == rank)
            return &b->accounts[i];
    assert_true(b->count < ROWS_MAX);
    account *a = &b->accounts[b->count++];
    *a = (account){.rank = rank};
    strcpy(a->agent, name);
    return a;
}

static int64_t when_of(const record *r)
{
    return r->alloc.op == ROCL_OP_FREE ? r->e.start : r->e.end;
}

static int by_time(const void *a, const void *b)
{
    const record *x = a, *y = b;
    if (when_of(x) != when_of(y))
        return when_of(x) < when_of(y) ? -1 : 1;
    if (x->e.end != y->e.end)
        return x->e.end > y->e.end ? -1 : 1;
    if (x->capture->index != y->capture->index)
        return x->capture->index < y->capture->index ? -1 : 1;
    return x->e.id < y->e.id ? -1 : x->e.id > y->e.id;
}

static bool at_place(const live_block *l, const record *r)
{
    return l->by->capture == r->capture && l->by->e.process == r->e.process &&
           l->by->alloc.address == r->alloc.address;
}

static void remember(book *b, const account *a, const record *r)
{
    b->steps[b->step_count++] = (step){a, when_of(r), a->live};
}

/* Takes what lives at the address; the account that it was in, or NULL. */
static account *drop(book *b, const record *r, bool inside)
{
    for (size_t i = 0; i < b->live_count; i++) {
        if (!at_place(&b->live[i], r))
            continue;
        account *a = b->live[i].of;
        int64_t size = (int64_t)b->live[i].by->alloc.size;
        a->live -= size;
        remember(b, a, r);
        *(inside ? &a->freed : &a->before) += inside ? size : -size;
        a->used |= inside;
        b->live[i] = b->live[--b->live_count];
        return a;
    }
    return NULL;
}

static void note(account *a, int64_t at)
{
    if (a->live > a->peak) {
        a->peak = a->live;
        a->peak_at = at;
    }
    a->used = true;
}

/* Without an address nothing is paired, and sizes count for themselves. */
static void book_unnamed(book *b, const record *r, int64_t first, bool inside)
{
    account *a = account_of(b, r);
    int64_t size = (int64_t)r->alloc.size;
    if (r->alloc.op == ROCL_OP_FREE) {
        a->unpaired += inside && size > a->unnamed;
        size = size < a->unnamed ? size : a->unnamed;
        *(inside ? &a->freed : &a->before) += inside ? size : -size;
        a->frees += inside;
        a->used |= inside;
        size = -size;
    } else if (r->alloc.op == ROCL_OP_ALLOC || r->alloc.op == ROCL_OP_REALLOC) {
        *(inside ? &a->allocated : &a->before) += size;
        a->allocations += inside;
    } else {
        return;
    }
    a->live += size;
    a->unnamed += size;
    remember(b, a, r);
    if (inside && r->alloc.op != ROCL_OP_FREE)
        note(a, when_of(r) - first);
}

static void book_one(book *b, const record *r, int64_t first)
{
    bool inside = when_of(r) >= b->from;
    if (!r->alloc.address) {
        book_unnamed(b, r, first, inside);
        return;
    }
    if (r->alloc.op == ROCL_OP_FREE) {
        account *a = drop(b, r, inside);
        bool unpaired = !a;
        a = a ? a : account_of(b, r);
        a->frees += inside;
        a->unpaired += inside && unpaired;
        a->used |= inside;
    } else if (r->alloc.op == ROCL_OP_ALLOC || r->alloc.op == ROCL_OP_REALLOC) {
        drop(b, r, inside);
        account *a = account_of(b, r);
        int64_t size = (int64_t)r->alloc.size;
        b->live[b->live_count++] = (live_block){r, a, inside};
        a->live += size;
        remember(b, a, r);
        *(inside ? &a->allocated : &a->before) += size;
        a->allocations += inside;
        if (inside)
            note(a, when_of(r) - first);
    }
}

static void keep_books(book *b, records *all)
{
    bool open = false;
    b->live = calloc(all->count + 1, sizeof *b->live);
    b->steps = calloc(2 * all->count + 1, sizeof *b->steps);
    assert_true(b->live && b->steps);
    qsort(all->all, all->count, sizeof *all->all, by_time);
    for (size_t i = 0; i <= all->count; i++) {
        bool end = i == all->count;
        for (size_t k = 0; !open && (end || when_of(&all->all[i]) >= b->from) && k < b->count; k++)
            if (b->accounts[k].live > 0)
                note(&b->accounts[k], b->from - when_of(&all->all[0]));
        open |= end || when_of(&all->all[i]) >= b->from;
        if (!end && when_of(&all->all[i]) <= b->to)
            book_one(b, &all->all[i], when_of(&all->all[0]));
    }
    for (size_t i = 0; i < b->live_count; i++) {
        b->live[i].of->leaks += b->live[i].inside;
        b->live[i].of->leaked += b->live[i].inside ? (int64_t)b->live[i].by->alloc.size : 0;
    }
}

/* ---- comparing ---- */

static const account *find_account(const book *b, const rocl_table *t, size_t row)
{
    const rocl_datum *rank = b->by_rank ? cell(t, row, "rank") : NULL;
    int64_t of = rank && rank->type == ROCL_DATUM_INT ? rank->i : -1;
    for (size_t i = 0; i < b->count; i++)
        if (!strcmp(b->accounts[i].agent, text_of(t, row, "agent")) && b->accounts[i].rank == of)
            return &b->accounts[i];
    fail_msg("nothing is known of %s", text_of(t, row, "agent"));
    return NULL;
}

static void check_accounts(const book *b, const rocl_table *t)
{
    size_t used = 0;
    for (size_t i = 0; i < b->count; i++)
        used += b->accounts[i].used;
    assert_int_equal(t->row_count, used);
    for (size_t row = 0; row < t->row_count; row++) {
        const account *a = find_account(b, t, row);
        check_int(t, row, "allocations", a->allocations);
        check_int(t, row, "frees", a->frees);
        check_int(t, row, "allocated_bytes", a->allocated);
        check_int(t, row, "freed_bytes", a->freed);
        check_int(t, row, "peak_bytes", a->peak);
        if (a->peak)
            check_int(t, row, "peak_at_ns", a->peak_at);
        check_int(t, row, "live_bytes", a->live);
        if (a->unnamed > 0) {
            check_none(t, row, "leaks");
            check_none(t, row, "leaked_bytes");
        } else {
            check_int(t, row, "leaks", a->leaks);
            check_int(t, row, "leaked_bytes", a->leaked);
        }
        check_int(t, row, "unpaired_frees", a->unpaired);
        assert_int_equal(has_column(t, "before_bytes"), b->from != INT64_MIN);
        if (b->from != INT64_MIN)
            check_int(t, row, "before_bytes", a->before);
        assert_int_equal(a->before + a->allocated - a->freed, a->live);
    }
}

/* What was live when a slice began, or at any time in it. */
static int64_t most_in(const book *b, const account *a, int64_t start, int64_t end, bool last)
{
    int64_t before = 0, most = 0;
    for (size_t i = 0; i < b->step_count; i++) {
        const step *s = &b->steps[i];
        if (s->of != a)
            continue;
        if (s->when < start)
            before = s->live;
        else if ((s->when < end || last) && s->live > most)
            most = s->live;
    }
    return before > most ? before : most;
}

/* Every used account has all slices, which follow each other. */
static void check_slices(const book *b, const rocl_table *t, size_t accounts)
{
    size_t slices = accounts ? t->row_count / accounts : 0;
    assert_int_equal(t->row_count, slices * accounts);
    for (size_t row = 0; row < t->row_count; row++) {
        int64_t start = int_of(t, row, "start_ns"), end = int_of(t, row, "end_ns");
        size_t slice = row % slices;
        check_int(t, row, "slice", (int64_t)slice);
        if (slice)
            check_int(t, row - 1, "end_ns", start);
        check_int(t, row, "peak_bytes",
                  most_in(b, find_account(b, t, row), start, end, slice + 1 == slices));
    }
}

static bool tid_is(const record *r, const rocl_datum *d)
{
    if (r->e.thread >= r->capture->thread_count)
        return d->type == ROCL_DATUM_NONE;
    return d->type == ROCL_DATUM_INT && d->i == r->capture->threads[r->e.thread].tid;
}

/* Every leak has a row; rows are in order of size, and hold all bytes with --top as well. */
static void check_leaks(const book *b, const rocl_table *t, size_t top)
{
    int64_t blocks = 0, bytes = 0, all_blocks = 0, all_bytes = 0;
    for (size_t i = 0; i < b->count; i++) {
        all_blocks += b->accounts[i].leaks;
        all_bytes += b->accounts[i].leaked;
    }
    for (size_t row = 0; row < t->row_count; row++) {
        blocks += int_of(t, row, "blocks");
        bytes += int_of(t, row, "bytes");
        bool rest = text_of(t, row, "address")[0] == '(', found = rest;
        if (row && !rest)
            assert_true(int_of(t, row, "bytes") <= int_of(t, row - 1, "bytes"));
        for (size_t i = 0; i < b->live_count && !found; i++) {
            const record *r = b->live[i].by;
            found = b->live[i].inside && (int64_t)r->alloc.size == int_of(t, row, "bytes") &&
                    strtoull(text_of(t, row, "address"), NULL, 16) == r->alloc.address &&
                    tid_is(r, cell(t, row, "tid"));
        }
        assert_true(found);
    }
    assert_int_equal(blocks, all_blocks);
    assert_int_equal(bytes, all_bytes);
    if (top && (size_t)blocks > top)
        assert_int_equal(t->row_count, top + 1);
    else
        assert_int_equal(t->row_count, blocks);
}

/* `whole` is the trace without a window, whose events are taken. */
static void check_memory(rocl_trace *t, rocl_trace *whole, int64_t from, int64_t to,
                         const rocl_stats_options *o)
{
    book b = {.trace = whole, .by_rank = o->by_rank, .from = from, .to = to};
    records all = records_of(whole, ALLOCS);
    rocl_tables *tables = stats_of(t, o);
    keep_books(&b, &all);
    check_accounts(&b, table_of(tables, "memory"));
    check_slices(&b, table_of(tables, "memory_timeline"), table_of(tables, "memory")->row_count);
    check_leaks(&b, table_of(tables, "leaks"), o->top);
    rocl_tables_free(tables);
    free(b.live);
    free(b.steps);
    free(all.all);
}

/* ---- fixtures ---- */

static const char *const traces[] = {
    "everything", "schema-3.0.0", "schema-4.1.0", "sampled",
    "merged",     "nasty-3.0.5",  "rank0 rank1",  "node-rank0 node-rank1 node-rank2 node-rank3",
};

static void test_fixtures(void **state)
{
    const rocl_options o = {.jobs = 2};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++)
        for (unsigned by = 0; by < 4; by++) {
            const rocl_stats_options s = {
                .reports = MEMORY, .by_rank = by & 1, .top = by & 2, .slices = by * 7};
            rocl_trace *t = open_trace(traces[i], &o);
            check_memory(t, t, INT64_MIN, INT64_MAX, &s);
            rocl_trace_close(t);
        }
}

/* What was allocated before a window is known in it. */
static void test_windows(void **state)
{
    const rocl_options plain = {.jobs = 2};
    const rocl_stats_options s = {.reports = MEMORY};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        rocl_trace *whole = open_trace(traces[i], &plain);
        records all = records_of(whole, ALLOCS);
        qsort(all.all, all.count, sizeof *all.all, by_time);
        for (size_t k = 0; k < 9 && all.count; k++) {
            char start[32], end[32];
            int64_t from = when_of(&all.all[all.count * (k % 3) / 3]) + (int64_t)(k & 1);
            int64_t to = when_of(&all.all[all.count * (k / 3 + 1) / 3 - 1]);
            if (to < from)
                continue;
            snprintf(start, sizeof start, "%" PRId64, from);
            snprintf(end, sizeof end, "%" PRId64, to);
            const rocl_options o = {
                .jobs = 2, .start = start, .end = end, .window_mode = (rocl_window_mode)(k % 3)};
            rocl_trace *t = open_trace(traces[i], &o);
            check_memory(t, whole, from, to, &s);
            rocl_trace_close(t);
        }
        free(all.all);
        rocl_trace_close(whole);
    }
}

static void test_scratch(void **state)
{
    const rocl_options o = {.jobs = 2};
    const rocl_stats_options s = {.reports = MEMORY};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        rocl_trace *t = open_trace(traces[i], &o);
        records all = records_of(t, SCRATCH);
        rocl_tables *tables = stats_of(t, &s);
        const rocl_table *table = table_of(tables, "scratch");
        int64_t n[5] = {0}, ns = 0, bytes = 0;
        for (size_t k = 0; k < all.count; k++) {
            n[all.all[k].alloc.op]++;
            ns += all.all[k].e.end - all.all[k].e.start;
            bytes += all.all[k].alloc.op == ROCL_OP_ALLOC ? (int64_t)all.all[k].alloc.size : 0;
        }
        for (size_t row = 0; row < table->row_count; row++) {
            n[ROCL_OP_ALLOC] -= int_of(table, row, "allocations");
            n[ROCL_OP_FREE] -= int_of(table, row, "frees");
            n[ROCL_OP_RECLAIM] -= int_of(table, row, "reclaims");
            ns -= int_of(table, row, "total_ns");
            bytes -= int_of(table, row, "allocated_bytes");
        }
        assert_int_equal(n[ROCL_OP_ALLOC] | n[ROCL_OP_FREE] | n[ROCL_OP_RECLAIM] | ns | bytes, 0);
        assert_int_equal(all.count > 0, table->row_count > 0);
        rocl_tables_free(tables);
        free(all.all);
        rocl_trace_close(t);
    }
}

static void test_same_bytes(void **state)
{
    const rocl_stats_options s = {.reports = MEMORY, .by_rank = true};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++)
        check_same_bytes(traces[i], &s);
}

static void test_nothing(void **state)
{
    (void)state;
    check_nothing(MEMORY, 4);
}

/* ---- made-up events ---- */

/* Few addresses and times: blocks are made where others live, freed twice, and at the same time. */
static void test_random(void **state)
{
    static const rocl_alloc_op ops[] = {ROCL_OP_ALLOC, ROCL_OP_ALLOC,   ROCL_OP_FREE,
                                        ROCL_OP_FREE,  ROCL_OP_REALLOC, ROCL_OP_OTHER};
    static world_event events[300];
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const rocl_stats_options s = {.reports = MEMORY, .top = seed % 4};
        uint64_t dice = seed;
        world w;
        for (size_t i = 0; i < COUNT(events); i++) {
            int64_t start = (int64_t)draw_from(&dice, seed % 2 ? 40 : 4000);
            rocl_alloc_op op = ops[draw_from(&dice, COUNT(ops))];
            events[i] = (world_event){.kind = ROCL_ALLOC};
            rocl_alloc *a = &events[i].as.alloc;
            a->e.start = start;
            a->e.end = start + (int64_t)draw_from(&dice, 5);
            a->e.id = i + 1;
            a->e.process = (uint32_t)draw_from(&dice, 2);
            a->e.thread = a->e.process;
            a->op = op;
            a->address = draw_from(&dice, 12) * 4096;
            a->size = op == ROCL_OP_FREE && a->address ? 0 : draw_from(&dice, 5) * 1000;
            a->owner = op == ROCL_OP_FREE ? ROCL_NONE : (uint32_t)draw_from(&dice, 2);
        }
        world_open(&w, (unsigned)(1 + seed % 3), events, COUNT(events));
        w.tasks = 1 + seed % 5;
        check_memory(&w.trace, &w.trace, INT64_MIN, INT64_MAX, &s);
        world_close(&w);
    }
}

/* Sizes that no memory has: sums stay at the largest number, and still add up. */
static void test_largest(void **state)
{
    static world_event events[6];
    const rocl_stats_options s = {.reports = MEMORY};
    world w;
    (void)state;
    for (size_t i = 0; i < COUNT(events); i++) {
        events[i] = (world_event){.kind = ROCL_ALLOC};
        rocl_alloc *a = &events[i].as.alloc;
        a->e.start = a->e.end = INT64_MAX - 10 + (int64_t)i;
        a->e.id = i + 1;
        a->op = i % 3 == 2 ? ROCL_OP_FREE : ROCL_OP_ALLOC;
        a->address = i % 2 + 1;
        a->size = i % 3 == 2 ? 0 : UINT64_MAX - i;
    }
    world_open(&w, 1, events, COUNT(events));
    rocl_tables *all = stats_of(&w.trace, &s);
    const rocl_table *t = table_of(all, "memory");
    assert_int_equal(t->row_count, 1);
    check_int(t, 0, "allocated_bytes", INT64_MAX);
    check_int(t, 0, "peak_bytes", INT64_MAX);
    check_int(t, 0, "live_bytes", INT64_MAX - int_of(t, 0, "freed_bytes"));
    rocl_tables_free(all);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures), cmocka_unit_test(test_windows),
        cmocka_unit_test(test_scratch),  cmocka_unit_test(test_random),
        cmocka_unit_test(test_largest),  cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
