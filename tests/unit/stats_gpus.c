/* What a GPU did is decided for each stretch between two neighbouring times by asking all of its
 * events. */
#include "tests/unit/stats_check.h"

typedef struct work {
    int64_t start, end;
    int part; /* 0: compute, 1: communication, 2: copy */
    char *name;
} work;

enum { EVENTS_MAX = 4000 };

typedef struct gpu {
    work *events;
    size_t count;
    int64_t wall, busy, compute, exposed_communication, copy, both, exposed_copy, idle;
    int64_t kernels, copies;
    int64_t *gap_starts, *gaps; /* in order of time */
    size_t gap_count;
} gpu;

static void load(sqlite3 *db, gpu *g, int64_t key)
{
    sqlite3_stmt *stmt = prepare(db, "SELECT start, \"end\", part, name FROM ev WHERE gpu = ?1 OR "
                                     "gpu2 = ?1");
    *g = (gpu){.events = calloc(EVENTS_MAX, sizeof(work))};
    sqlite3_bind_int64(stmt, 1, key);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        assert_true(g->count < EVENTS_MAX);
        work *w = &g->events[g->count++];
        w->start = sqlite3_column_int64(stmt, 0);
        w->end = sqlite3_column_int64(stmt, 1);
        w->part = sqlite3_column_int(stmt, 2);
        w->name = strdup((const char *)sqlite3_column_text(stmt, 3));
        g->kernels += w->part != 2;
        g->copies += w->part == 2;
    }
    sqlite3_finalize(stmt);
}

static void unload(gpu *g)
{
    for (size_t i = 0; i < g->count; i++)
        free(g->events[i].name);
    free(g->events);
    free(g->gaps);
    free(g->gap_starts);
}

/* The time from a to b, in which no event starts or ends. */
static void judge(gpu *g, int64_t a, int64_t b, int64_t min_gap)
{
    bool active[3] = {false};
    for (size_t i = 0; i < g->count; i++)
        if (g->events[i].start <= a && g->events[i].end >= b)
            active[g->events[i].part] = true;
    bool kernel = active[0] || active[1], any = kernel || active[2];
    int64_t n = b - a;
    g->wall += n;
    g->busy += any ? n : 0;
    g->idle += any ? 0 : n;
    g->compute += active[0] ? n : 0;
    g->exposed_communication += active[1] && !active[0] ? n : 0;
    g->copy += active[2] ? n : 0;
    g->both += active[2] && kernel ? n : 0;
    g->exposed_copy += active[2] && !kernel ? n : 0;
    if (!any && n >= min_gap) {
        g->gap_starts[g->gap_count] = a;
        g->gaps[g->gap_count++] = n;
    }
}

static void judge_all(gpu *g, int64_t min_gap)
{
    values edges = {.v = malloc(2 * g->count * sizeof(int64_t))};
    g->gaps = malloc(2 * g->count * sizeof *g->gaps);
    g->gap_starts = malloc(2 * g->count * sizeof *g->gap_starts);
    assert_true(edges.v && g->gaps && g->gap_starts);
    for (size_t i = 0; i < g->count; i++) {
        edges.v[edges.n++] = g->events[i].start;
        edges.v[edges.n++] = g->events[i].end;
    }
    qsort(edges.v, edges.n, sizeof *edges.v, by_value);
    for (size_t i = 1; i < edges.n; i++)
        if (edges.v[i - 1] < edges.v[i])
            judge(g, edges.v[i - 1], edges.v[i], min_gap);
    free(edges.v);
}

static double percent(int64_t part, int64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : (double)NAN;
}

static void check_overlap(const rocl_table *t, size_t row, const gpu *g)
{
    check_int(t, row, "wall_ns", g->wall);
    check_int(t, row, "busy_ns", g->busy);
    check_int(t, row, "compute_ns", g->compute);
    check_int(t, row, "exposed_communication_ns", g->exposed_communication);
    check_int(t, row, "copy_ns", g->copy);
    check_int(t, row, "both_ns", g->both);
    check_int(t, row, "exposed_copy_ns", g->exposed_copy);
    check_int(t, row, "idle_ns", g->idle);
    check_int(t, row, "kernels", g->kernels);
    check_int(t, row, "copies", g->copies);
    check_real(t, row, "busy_percent", percent(g->busy, g->wall));
    check_real(t, row, "hidden_copy_percent", percent(g->both, g->copy));
}

static void check_gaps(const rocl_table *t, size_t row, const gpu *g)
{
    values d = {.v = malloc((g->gap_count + 1) * sizeof *d.v), .n = g->gap_count};
    assert_non_null(d.v);
    memcpy(d.v, g->gaps, d.n * sizeof *d.v);
    qsort(d.v, d.n, sizeof *d.v, by_value);
    check_int(t, row, "gaps", (int64_t)d.n);
    check_int(t, row, "total_ns", total_of(&d));
    check_real(t, row, "wall_percent", percent(total_of(&d), g->wall));
    if (d.n) {
        check_int(t, row, "min_ns", d.v[0]);
        check_int(t, row, "median_ns", median(&d));
        check_int(t, row, "p90_ns", percentile(&d, 90));
        check_int(t, row, "p99_ns", percentile(&d, 99));
        check_int(t, row, "max_ns", d.v[d.n - 1]);
    } else {
        assert_int_equal(cell(t, row, "max_ns")->type, ROCL_DATUM_NONE);
    }
    free(d.v);
}

/* From row `at` on; the row behind. */
static size_t check_buckets(const rocl_table *t, size_t at, const char *label, const gpu *g)
{
    static const struct {
        const char *name;
        int64_t from, to;
    } buckets[] = {
        {"< 1 us", 0, 1000},
        {"< 10 us", 1000, 10000},
        {"< 100 us", 10000, 100000},
        {"< 1 ms", 100000, 1000000},
        {"< 10 ms", 1000000, 10000000},
        {"< 100 ms", 10000000, 100000000},
        {"< 1 s", 100000000, 1000000000},
        {">= 1 s", 1000000000, INT64_MAX},
    };
    int64_t all = 0;
    for (size_t k = 0; k < g->gap_count; k++)
        all += g->gaps[k];
    for (size_t i = 0; i < COUNT(buckets); i++) {
        int64_t n = 0, total = 0;
        for (size_t k = 0; k < g->gap_count; k++)
            if (g->gaps[k] >= buckets[i].from && g->gaps[k] < buckets[i].to) {
                n++;
                total += g->gaps[k];
            }
        if (!n)
            continue;
        assert_true(at < t->row_count);
        check_text(t, at, "gpu", label);
        check_text(t, at, "bucket", buckets[i].name);
        check_int(t, at, "count", n);
        check_int(t, at, "total_ns", total);
        check_real(t, at++, "percent", percent(total, all));
    }
    return at;
}

/* The longest gap that was not shown yet; of equal ones the first. */
static size_t pick_gap(const gpu *g, const bool *shown)
{
    size_t best = g->gap_count;
    for (size_t k = 0; k < g->gap_count; k++)
        if (!shown[k] && (best == g->gap_count || g->gaps[k] > g->gaps[best]))
            best = k;
    return best;
}

static bool named(const gpu *g, const char *name, int64_t start, int64_t end)
{
    for (size_t i = 0; i < g->count; i++)
        if (!strcmp(g->events[i].name, name) && (start < 0 || g->events[i].start == start) &&
            (end < 0 || g->events[i].end == end))
            return true;
    return false;
}

static size_t check_longest(const rocl_table *t, size_t at, const char *label, const gpu *g,
                            size_t top)
{
    bool *shown = calloc(g->gap_count + 1, sizeof *shown);
    assert_non_null(shown);
    for (size_t n = 0; n < g->gap_count && n < (top && top < 20 ? top : 20); n++, at++) {
        size_t k = pick_gap(g, shown);
        shown[k] = true;
        assert_true(at < t->row_count);
        check_text(t, at, "gpu", label);
        check_int(t, at, "start_ns", g->gap_starts[k]);
        check_int(t, at, "gap_ns", g->gaps[k]);
        assert_true(named(g, text_of(t, at, "before"), -1, g->gap_starts[k]));
        assert_true(named(g, text_of(t, at, "after"), g->gap_starts[k] + g->gaps[k], -1));
    }
    free(shown);
    return at;
}

/* "GPU 1", or "GPU 1 on host"; GPUs are numbered from 0 on each machine, also those without work.
 */
static void gpu_label(char *text, size_t size, const rocl_trace *t, int64_t key)
{
    int64_t seen[64];
    int n = 0, id = 0;
    const char *host = "?";
    for (size_t i = 0; i < rocl_trace_captures(t); i++) {
        const rocl_capture *c = rocl_trace_capture(t, i);
        if (c->machine != (uint64_t)key / 100000)
            continue;
        host = rocl_text(t, c->nodes[0].hostname, NULL);
        for (uint32_t k = 0; k < c->agent_count; k++) {
            bool known = c->agents[k].type != ROCL_AGENT_GPU;
            for (int s = 0; s < n; s++)
                known = known || seen[s] == c->agents[k].absolute_index;
            if (known)
                continue;
            id += c->agents[k].absolute_index < key % 100000;
            assert_true(n < 64);
            seen[n++] = c->agents[k].absolute_index;
        }
    }
    if (rocl_trace_machines(t) > 1)
        snprintf(text, size, "GPU %d on %s", id, host);
    else
        snprintf(text, size, "GPU %d", id);
}

void check_gpus(sqlite3 *db, const rocl_trace *t, const rocl_tables *all,
                const rocl_stats_options *o)
{
    const rocl_table *overlap = table_of(all, "overlap"), *gaps = table_of(all, "gaps");
    const rocl_table *buckets = table_of(all, "gap_buckets");
    const rocl_table *longest = table_of(all, "longest_gaps");
    size_t row = 0, bucket = 0, gap = 0;
    sqlite3_stmt *keys = prepare(db, "SELECT gpu FROM ev WHERE gpu >= 0 UNION SELECT gpu2 FROM ev "
                                     "WHERE gpu2 >= 0 ORDER BY 1");
    for (; sqlite3_step(keys) == SQLITE_ROW; row++) {
        char label[320];
        gpu g;
        assert_true(row < overlap->row_count && row < gaps->row_count);
        load(db, &g, sqlite3_column_int64(keys, 0));
        judge_all(&g, o->min_gap);
        gpu_label(label, sizeof label, t, sqlite3_column_int64(keys, 0));
        check_text(overlap, row, "gpu", label);
        check_text(gaps, row, "gpu", label);
        check_overlap(overlap, row, &g);
        check_gaps(gaps, row, &g);
        bucket = check_buckets(buckets, bucket, label, &g);
        gap = check_longest(longest, gap, label, &g, o->top);
        unload(&g);
    }
    sqlite3_finalize(keys);
    assert_int_equal(overlap->row_count, row);
    assert_int_equal(gaps->row_count, row);
    assert_int_equal(buckets->row_count, bucket);
    assert_int_equal(longest->row_count, gap);
}
