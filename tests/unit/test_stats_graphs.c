/* The report on graphs, by collecting the work of each call and comparing the names as texts. */
#include "test_csv_world.h"
#include "model/identity.h"
#include "tests/unit/stats_records.h"

#include "model/kinds.h"

#define GRAPHS (1u << ROCL_REPORT_LAUNCH)

enum { EVENTS = 90, STACKS = 14, PROCESSES = 2, TICKS = 400 };

/* ---- the other side ---- */

typedef struct launch {
    const record *call;
    const record *work[EVENTS]; /* by start */
    size_t count;
    uint64_t process, stack;
    char names[EVENTS * 3]; /* kinds and names, sorted */
    int64_t span, busy, gap;
} launch;

typedef struct ground {
    records all;
    launch launches[STACKS * PROCESSES];
    size_t count;
} ground;

static bool comes_before(const record *a, const record *b)
{
    if (a->e.start != b->e.start)
        return a->e.start < b->e.start;
    return rocl_row_word(a->e.id, a->kind) < rocl_row_word(b->e.id, b->kind);
}

static int by_start(const void *a, const void *b)
{
    const record *x = *(record *const *)a, *y = *(record *const *)b;
    return comes_before(x, y) ? -1 : comes_before(y, x);
}

static int by_text(const void *a, const void *b)
{
    return memcmp(a, b, 2);
}

static int by_first(const void *a, const void *b)
{
    const launch *x = a, *y = b;
    const int64_t s = x->work[0]->e.start, t = y->work[0]->e.start;
    if (s != t)
        return s < t ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void measure(launch *l)
{
    bool busy[TICKS + 20] = {false};
    int64_t last = l->work[0]->e.start;
    for (size_t i = 0; i < l->count; i++) {
        const rocl_event *e = &l->work[i]->e;
        l->gap = e->start - last > l->gap ? e->start - last : l->gap;
        last = e->end > last ? e->end : last;
        for (int64_t t = e->start; t < e->end; t++)
            busy[t] = true;
    }
    l->span = last - l->work[0]->e.start;
    for (size_t t = 0; t < COUNT(busy); t++)
        l->busy += busy[t];
}

static void find_launches(ground *g, const rocl_trace *t)
{
    for (uint64_t process = 0; process < PROCESSES; process++)
        for (uint64_t stack = 1; stack < STACKS; stack++) {
            launch *l = &g->launches[g->count];
            *l = (launch){.process = process, .stack = stack};
            for (size_t i = 0; i < g->all.count; i++) {
                const record *r = &g->all.all[i];
                if (r->e.process != process || r->e.stack_id != stack)
                    continue;
                if (r->kind != ROCL_REGION)
                    l->work[l->count++] = r;
                else if (!l->call || comes_before(r, l->call))
                    l->call = r;
            }
            if (!l->count || !l->call ||
                !strstr(rocl_text(t, l->call->e.name, NULL), "GraphLaunch"))
                continue;
            qsort(l->work, l->count, sizeof *l->work, by_start);
            for (size_t i = 0; i < l->count; i++) {
                l->names[2 * i] = l->work[i]->kind == ROCL_COPY ? 'c' : 'k';
                l->names[2 * i + 1] = *rocl_text(t, l->work[i]->e.name, NULL);
            }
            qsort(l->names, l->count, 2, by_text);
            measure(l);
            g->count++;
        }
    qsort(g->launches, g->count, sizeof *g->launches, by_first);
}

/* ---- tables ---- */

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static size_t find_graph(const rocl_table *t, size_t number)
{
    char text[16];
    snprintf(text, sizeof text, "%zu", number);
    size_t row = 0;
    while (strcmp(text_of(t, row, "graph"), text) != 0)
        row++;
    return row;
}

static void check_members(const ground *g, const rocl_table *t, size_t first, size_t number)
{
    const launch *of = &g->launches[first];
    char text[16];
    size_t rows = 0, names = 0;
    snprintf(text, sizeof text, "%zu", number);
    for (size_t row = 0; row < t->row_count; row++) {
        if (strcmp(text_of(t, row, "graph"), text) != 0)
            continue;
        const bool copy = !strcmp(text_of(t, row, "kind"), "copy");
        const char *name = text_of(t, row, "name");
        int64_t calls = 0, total = 0, min = INT64_MAX, max = 0;
        rows++;
        for (size_t i = first; i < g->count; i++)
            for (size_t k = 0; k < g->launches[i].count; k++) {
                const record *r = g->launches[i].work[k];
                const int64_t ns = r->e.end - r->e.start;
                if (strcmp(g->launches[i].names, of->names) != 0 ||
                    (r->kind == ROCL_COPY) != copy ||
                    *rocl_text(r->capture->trace, r->e.name, NULL) != *name)
                    continue;
                calls++;
                total += ns;
                min = ns < min ? ns : min;
                max = ns > max ? ns : max;
            }
        check_int(t, row, "calls", calls);
        check_int(t, row, "total_ns", total);
        check_int(t, row, "min_ns", min);
        check_int(t, row, "max_ns", max);
    }
    for (size_t i = 0; i < of->count; i++)
        names += !i || memcmp(of->names + 2 * i, of->names + 2 * i - 2, 2) != 0;
    assert_int_equal(rows, names);
}

static void check_tables(ground *g, const rocl_tables *all)
{
    const rocl_table *t = table_of(all, "graphs");
    size_t graphs = 0;
    for (size_t i = 0; i < g->count; i++) {
        int64_t spans[STACKS * PROCESSES], total = 0, busy = 0, gap = 0, calls = 0, delays = 0;
        int64_t kernels = 0, copies = 0, work = 0;
        size_t n = 0, before = 0;
        for (size_t k = 0; k < g->count; k++) {
            const launch *l = &g->launches[k];
            if (strcmp(l->names, g->launches[i].names) != 0)
                continue;
            before += k < i;
            spans[n++] = l->span;
            total += l->span;
            busy += l->busy;
            gap = l->gap > gap ? l->gap : gap;
            calls += l->call->e.end - l->call->e.start;
            const int64_t delay = l->work[0]->e.start - l->call->e.end;
            delays += delay > 0 ? delay : 0;
            for (size_t w = 0; w < l->count; w++) {
                kernels += l->work[w]->kind == ROCL_DISPATCH;
                copies += l->work[w]->kind == ROCL_COPY;
                work += l->work[w]->e.end - l->work[w]->e.start;
            }
        }
        if (before)
            continue;
        const size_t row = find_graph(t, ++graphs);
        qsort(spans, n, sizeof *spans, by_value);
        check_text(t, row, "first_kernel",
                   rocl_text(g->all.all[0].capture->trace, g->launches[i].work[0]->e.name, NULL));
        check_int(t, row, "launches", (int64_t)n);
        check_int(t, row, "kernels", kernels);
        check_int(t, row, "copies", copies);
        check_int(t, row, "least", (int64_t)g->launches[i].count);
        check_int(t, row, "most", (int64_t)g->launches[i].count);
        check_int(t, row, "total_ns", total);
        check_int(t, row, "median_ns", (spans[(n - 1) / 2] + spans[n / 2]) / 2);
        check_int(t, row, "min_ns", spans[0]);
        check_int(t, row, "max_ns", spans[n - 1]);
        check_int(t, row, "busy_ns", busy);
        check_int(t, row, "gaps_ns", total - busy);
        check_int(t, row, "longest_gap_ns", gap);
        check_int(t, row, "work_ns", work);
        check_real(t, row, "call_average_ns", (double)calls / (double)n);
        check_real(t, row, "call_per_kernel_ns", (double)calls / (double)(kernels + copies));
        check_real(t, row, "delay_average_ns", (double)delays / (double)n);
        check_members(g, table_of(all, "graph_kernels"), i, graphs);
    }
    assert_int_equal(t->row_count, graphs);
}

/* ---- made-up events ---- */

static world_event random_event(world *w, uint64_t *dice, size_t row, uint64_t steps)
{
    static const rocl_kind kinds[] = {ROCL_REGION, ROCL_DISPATCH, ROCL_DISPATCH, ROCL_COPY};
    static const char *const calls[] = {"hipGraphLaunch", "hipGraphLaunch_spt", "hipLaunchKernel"};
    static const char *const names[] = {"a", "b"};
    world_event e = {.kind = kinds[draw_from(dice, 4)]};
    e.as.e.start = (int64_t)draw_from(dice, steps);
    e.as.e.end = e.as.e.start + (int64_t)draw_from(dice, 9);
    e.as.e.duration = e.as.e.end - e.as.e.start;
    e.as.e.id = row;
    e.as.e.stack_id = draw_from(dice, STACKS);
    e.as.e.process = (uint32_t)draw_from(dice, PROCESSES);
    e.as.e.name = text(w, e.kind == ROCL_REGION ? calls[draw_from(dice, 3)]
                          : e.kind == ROCL_COPY ? "c"
                                                : names[draw_from(dice, 2)]);
    return e;
}

static void test_random(void **state)
{
    static world_event events[EVENTS];
    const rocl_stats_options s = {.reports = GRAPHS};
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t dice = seed;
        ground *g = calloc(1, sizeof *g);
        world w;
        const size_t n = seed % 10 ? COUNT(events) : seed % 7;
        assert_non_null(g);
        world_open(&w, (unsigned)(1 + seed % 3), events, n);
        for (size_t i = 0; i < n; i++)
            events[i] = random_event(&w, &dice, i + 1, seed % 2 ? 50 : TICKS);
        assert_int_equal(rocl_identity_make(&w.trace, NULL), ROCL_OK);
        w.tasks = 1 + seed % 5;
        g->all = records_of(&w.trace, 1u << ROCL_DISPATCH | 1u << ROCL_COPY | 1u << ROCL_REGION);
        find_launches(g, &w.trace);
        rocl_tables *all = stats_of(&w.trace, &s);
        if (g->count)
            check_tables(g, all);
        else
            assert_int_equal(table_of(all, "graphs")->row_count, 0);
        rocl_tables_free(all);
        free(g->all.all);
        free(g);
        world_close(&w);
    }
}

/* A graph whose id was recorded is one, whatever it ran. */
static void test_ids(void **state)
{
    const rocl_stats_options s = {.reports = GRAPHS};
    world_event events[5] = {{.kind = ROCL_REGION},
                             {.kind = ROCL_REGION},
                             {.kind = ROCL_DISPATCH},
                             {.kind = ROCL_DISPATCH},
                             {.kind = ROCL_DISPATCH}};
    world w;
    (void)state;
    world_open(&w, 1, events, COUNT(events));
    assert_int_equal(rocl_identity_make(&w.trace, NULL), ROCL_OK);
    for (size_t i = 0; i < COUNT(events); i++) {
        events[i].as.e = (rocl_event){.id = i + 1,
                                      .start = (int64_t)i * 10,
                                      .end = (int64_t)i * 10 + 5,
                                      .stack_id = i < 2   ? i + 1
                                                  : i < 4 ? 1
                                                          : 2,
                                      .name = text(&w, i < 2 ? "hipGraphLaunch" : "k")};
        if (i >= 2)
            events[i].as.dispatch.graph_exec_id = 0xab;
    }
    rocl_tables *all = stats_of(&w.trace, &s);
    const rocl_table *t = table_of(all, "graphs");
    assert_int_equal(t->row_count, 1);
    check_text(t, 0, "graph", "1 (0xab)");
    check_int(t, 0, "launches", 2);
    check_int(t, 0, "kernels", 3);
    check_int(t, 0, "least", 1);
    check_int(t, 0, "most", 2);
    check_int(t, 0, "total_ns", 20);
    check_int(t, 0, "gaps_ns", 5);
    rocl_tables_free(all);
    world_close(&w);
}

static void test_same_bytes(void **state)
{
    const rocl_stats_options s = {.reports = GRAPHS, .by_rank = true};
    (void)state;
    check_same_bytes("graph", &s);
    check_same_bytes("rank0 rank1", &s);
}

static void test_nothing(void **state)
{
    (void)state;
    check_nothing(GRAPHS, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests_name("stats_graphs", tests, enter, leave);
}
