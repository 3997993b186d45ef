/* The report on streams, by asking all events for each stretch between two neighbouring times. */
#include "test_csv_world.h"
#include "tests/unit/stats_records.h"

#include "model/identity.h"

#define WORK    (1u << ROCL_DISPATCH | 1u << ROCL_COPY)
#define STREAMS (1u << ROCL_REPORT_STREAMS)

/* ---- the other side ---- */

typedef struct ground {
    rocl_trace *trace;
    records work;
    int64_t *times; /* all starts and ends, in order, each once */
    size_t time_count;
} ground;

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static ground ground_of(rocl_trace *t)
{
    ground g = {.trace = t, .work = records_of(t, WORK)};
    size_t n = 2 * g.work.count;
    g.times = calloc(n + 1, sizeof *g.times);
    assert_non_null(g.times);
    for (size_t i = 0; i < g.work.count; i++) {
        g.times[2 * i] = g.work.all[i].e.start;
        g.times[2 * i + 1] = g.work.all[i].e.end;
    }
    qsort(g.times, n, sizeof *g.times, by_value);
    for (size_t i = 0; i < n; i++)
        if (!i || g.times[i] != g.times[g.time_count - 1])
            g.times[g.time_count++] = g.times[i];
    return g;
}

static void free_ground(ground *g)
{
    free(g->work.all);
    free(g->times);
}

/* What a piece of work is shown as: by stream, else by queue; 0 for nothing. */
static const char *lane_of(const ground *g, const record *r, bool queues, char *text, size_t size)
{
    const rocl_capture *c = r->capture;
    bool copy = r->kind == ROCL_COPY;
    uint32_t stream = copy ? r->copy.stream : r->dispatch.stream;
    uint32_t queue = copy ? r->copy.queue : r->dispatch.queue;
    const rocl_queue *q = !queues && stream != ROCL_NONE ? &c->streams[stream]
                          : queue != ROCL_NONE           ? &c->queues[queue]
                                                         : NULL;
    if (!q)
        return queues ? NULL : "";
    const char *name = rocl_text(g->trace, q->name, NULL);
    if (*name)
        return name;
    snprintf(text, size, "%s %lld", !queues && stream != ROCL_NONE ? "Stream" : "Queue",
             (long long)q->id);
    return text;
}

static bool of_lane(const ground *g, const rocl_table *t, size_t row, const record *r)
{
    char text[64];
    bool queues = !strcmp(t->key, "queues");
    const char *name = lane_of(g, r, queues, text, sizeof text);
    if (has_column(t, "host") && strcmp(rocl_text(g->trace, r->capture->nodes[0].hostname, NULL),
                                        text_if_any(t, row, "host")) != 0)
        return false;
    return name && !strcmp(name, text_if_any(t, row, "name")) &&
           r->capture->processes[r->e.process].pid == int_of(t, row, "pid");
}

static const rocl_gpu *gpu_of(const record *r, unsigned side)
{
    uint32_t agent = r->kind == ROCL_DISPATCH ? (side ? ROCL_NONE : r->dispatch.agent)
                     : side                   ? r->copy.src
                                              : r->copy.dst;
    return rocl_gpu_of(r->capture, agent);
}

static bool runs(const record *r, int64_t from, int64_t to)
{
    return r->e.start <= from && r->e.end >= to;
}

/* ---- lanes ---- */

typedef struct span {
    int64_t kernels, copies, first, last, busy, gap;
} span;

static span span_of(const ground *g, const rocl_table *t, size_t row, int64_t *seen)
{
    span s = {.first = INT64_MAX};
    int64_t idle = 0;
    for (size_t i = 0; i < g->work.count; i++) {
        const record *r = &g->work.all[i];
        if (!of_lane(g, t, row, r))
            continue;
        s.copies += r->kind == ROCL_COPY;
        s.kernels += r->kind == ROCL_DISPATCH;
        s.first = r->e.start < s.first ? r->e.start : s.first;
        s.last = r->e.end > s.last ? r->e.end : s.last;
    }
    *seen += s.copies + s.kernels;
    for (size_t k = 0; k + 1 < g->time_count; k++) {
        int64_t from = g->times[k], to = g->times[k + 1];
        bool busy = false, touched = false;
        for (size_t i = 0; i < g->work.count; i++) {
            const record *r = &g->work.all[i];
            if (!of_lane(g, t, row, r))
                continue;
            busy |= runs(r, from, to);
            touched |= r->e.start == from; /* also what takes no time ends a gap */
        }
        if (from < s.first || to > s.last)
            continue;
        s.busy += busy ? to - from : 0;
        idle = busy ? 0 : (touched ? 0 : idle) + to - from;
        s.gap = idle > s.gap ? idle : s.gap;
    }
    return s;
}

static int64_t work_in(const ground *g, bool queues)
{
    int64_t n = 0;
    char text[64];
    for (size_t i = 0; i < g->work.count; i++)
        n += lane_of(g, &g->work.all[i], queues, text, sizeof text) != NULL;
    return n;
}

static void check_lanes(const ground *g, const rocl_tables *all, const char *key)
{
    const rocl_table *t = table_of(all, key);
    int64_t seen = 0, sum = 0;
    for (size_t row = 0; row < t->row_count; row++)
        sum += int_of(t, row, "busy_ns");
    for (size_t row = 0; row < t->row_count; row++) {
        span s = span_of(g, t, row, &seen);
        check_int(t, row, "kernels", s.kernels);
        check_int(t, row, "copies", s.copies);
        check_int(t, row, "busy_ns", s.busy);
        check_int(t, row, "idle_ns", s.last - s.first - s.busy);
        check_real(t, row, "share_percent",
                   sum ? 100.0 * (double)s.busy / (double)sum : (double)NAN);
        check_int(t, row, "first_ns", s.first - g->times[0]);
        check_int(t, row, "last_ns", s.last - g->times[0]);
        check_int(t, row, "longest_gap_ns", s.gap);
        check_real(t, row, "busy_percent",
                   s.last > s.first ? 100.0 * (double)s.busy / (double)(s.last - s.first)
                                    : (double)NAN);
        if (row)
            assert_true(int_of(t, row - 1, "busy_ns") >= int_of(t, row, "busy_ns"));
    }
    assert_int_equal(seen, work_in(g, !strcmp(key, "queues")));
}

/* ---- how many at once ---- */

static bool on_gpu(const record *r, const rocl_gpu *gpu)
{
    return gpu_of(r, 0) == gpu || gpu_of(r, 1) == gpu;
}

/* Lanes by the rows of their table. */
static int64_t active(const ground *g, const rocl_table *lanes, const rocl_gpu *gpu, int64_t from,
                      int64_t to)
{
    int64_t n = 0;
    for (size_t row = 0; row < lanes->row_count; row++) {
        bool any = false;
        for (size_t i = 0; i < g->work.count && !any; i++) {
            const record *r = &g->work.all[i];
            any = runs(r, from, to) && on_gpu(r, gpu) && of_lane(g, lanes, row, r);
        }
        n += any;
    }
    return n;
}

static void check_gpu(const ground *g, const rocl_tables *all, size_t row, const rocl_gpu *gpu)
{
    const rocl_table *t = table_of(all, "stream_activity"), *lanes = table_of(all, "streams");
    int64_t first = INT64_MAX, last = 0, busy = 0, most = 0, at = 0;
    double sum = 0;
    for (size_t i = 0; i < g->work.count; i++) {
        const record *r = &g->work.all[i];
        if (!on_gpu(r, gpu))
            continue;
        first = r->e.start < first ? r->e.start : first;
        last = r->e.end > last ? r->e.end : last;
    }
    for (size_t k = 0; k + 1 < g->time_count; k++) {
        const int64_t from = g->times[k], length = g->times[k + 1] - from;
        const int64_t n = active(g, lanes, gpu, from, from + length);
        busy += n ? length : 0;
        sum += (double)n * (double)length;
        at = n > most ? from : at;
        most = n > most ? n : most;
    }
    check_int(t, row, "wall_ns", last - first);
    check_int(t, row, "busy_ns", busy);
    check_int(t, row, "most", most);
    if (most)
        check_int(t, row, "most_at_ns", at - g->times[0]);
    check_real(t, row, "average", last > first ? sum / (double)(last - first) : (double)NAN);
    check_real(t, row, "average_busy", busy ? sum / (double)busy : (double)NAN);
}

static void check_activity(const ground *g, const rocl_trace *t, const rocl_tables *all)
{
    size_t row = 0;
    for (size_t i = 0; i < t->gpu_count; i++) {
        bool any = false;
        for (size_t k = 0; k < g->work.count; k++)
            any |= on_gpu(&g->work.all[k], &t->gpus[i]);
        if (any)
            check_gpu(g, all, row++, &t->gpus[i]);
    }
    assert_int_equal(row, table_of(all, "stream_activity")->row_count);
}

static void check_report(rocl_trace *t)
{
    const rocl_stats_options s = {.reports = STREAMS};
    ground g = ground_of(t);
    rocl_tables *all = stats_of(t, &s);
    check_lanes(&g, all, "streams");
    check_lanes(&g, all, "queues");
    check_activity(&g, t, all);
    rocl_tables_free(all);
    free_ground(&g);
}

/* ---- fixtures ---- */

static const char *const traces[] = {
    "everything", "schema-3.0.0", "schema-4.1.0", "sampled",
    "merged",     "nasty-3.0.0",  "rank0 rank1",  "node-rank0 node-rank1",
};

static void test_fixtures(void **state)
{
    const rocl_options o = {.jobs = 2};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        rocl_trace *t = open_trace(traces[i], &o);
        check_report(t);
        rocl_trace_close(t);
    }
}

static void test_window(void **state)
{
    const rocl_options o = {
        .jobs = 2, .start = "20%", .end = "70%", .window_mode = ROCL_WINDOW_CLIP};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        rocl_trace *t = open_trace(traces[i], &o);
        check_report(t);
        rocl_trace_close(t);
    }
}

/* A row holds what is cut off, and rows are in the order that was asked for. */
static void test_top(void **state)
{
    const rocl_options o = {.jobs = 2};
    (void)state;
    rocl_trace *t = open_trace("everything", &o);
    for (unsigned by = ROCL_BY_TOTAL; by <= ROCL_BY_NAME; by++) {
        const rocl_stats_options s = {.reports = STREAMS, .sort = by},
                                 few = {.reports = STREAMS, .sort = by, .top = 2};
        rocl_tables *all = stats_of(t, &s), *cut = stats_of(t, &few);
        const rocl_table *a = table_of(all, "streams"), *c = table_of(cut, "streams");
        int64_t busy = 0, kernels = 0;
        assert_int_equal(c->row_count, 3);
        for (size_t row = 0; row < a->row_count; row++) {
            busy += int_of(a, row, "busy_ns");
            kernels += int_of(a, row, "kernels");
        }
        for (size_t row = 0; row < 3; row++) {
            busy -= int_of(c, row, "busy_ns");
            kernels -= int_of(c, row, "kernels");
        }
        assert_int_equal(busy | kernels, 0);
        for (size_t row = 1; row < a->row_count; row++) {
            if (by == ROCL_BY_MAX)
                assert_true(int_of(a, row - 1, "longest_gap_ns") >=
                            int_of(a, row, "longest_gap_ns"));
            if (by == ROCL_BY_CALLS)
                assert_true(int_of(a, row - 1, "kernels") + int_of(a, row - 1, "copies") >=
                            int_of(a, row, "kernels") + int_of(a, row, "copies"));
        }
        rocl_tables_free(all);
        rocl_tables_free(cut);
    }
    rocl_trace_close(t);
}

static void test_same_bytes(void **state)
{
    const rocl_stats_options s = {.reports = STREAMS, .by_rank = true};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++)
        check_same_bytes(traces[i], &s);
}

static void test_nothing(void **state)
{
    (void)state;
    check_nothing(STREAMS, 4);
}

/* ---- made-up events ---- */

static uint32_t draw_or_none(uint64_t *seed, uint32_t n)
{
    uint32_t v = (uint32_t)draw_from(seed, n + 1);
    return v == n ? ROCL_NONE : v;
}

static world_event random_work(uint64_t *dice, size_t row, uint64_t steps)
{
    world_event e = {.kind = draw_from(dice, 2) ? ROCL_DISPATCH : ROCL_COPY};
    uint32_t stream = draw_or_none(dice, 3), queue = draw_or_none(dice, 2);
    e.as.e.start = (int64_t)draw_from(dice, steps);
    e.as.e.end = e.as.e.start + (int64_t)draw_from(dice, 6);
    e.as.e.duration = e.as.e.end - e.as.e.start;
    e.as.e.id = row;
    e.as.e.process = (uint32_t)draw_from(dice, 2);
    if (e.kind == ROCL_DISPATCH) {
        e.as.dispatch.agent = draw_or_none(dice, 2);
        e.as.dispatch.stream = stream;
        e.as.dispatch.queue = queue;
    } else {
        e.as.copy.src = draw_or_none(dice, 2);
        e.as.copy.dst = draw_or_none(dice, 2);
        e.as.copy.stream = stream;
        e.as.copy.queue = queue;
    }
    return e;
}

/* Times are few, so that work touches, nests, and takes no time within others. */
static void test_random(void **state)
{
    static world_event events[60];
    rocl_queue queues[2] = {{.id = 5}, {.id = 6}};
    rocl_stream streams[3] = {{.id = 5}, {.id = 6}, {.id = 4}};
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint64_t dice = seed;
        world w;
        size_t n = seed % 10 ? COUNT(events) : seed / 10 % 3;
        for (size_t i = 0; i < n; i++)
            events[i] = random_work(&dice, i + 1, seed % 2 ? 50 : 300);
        world_open(&w, (unsigned)(1 + seed % 3), events, n);
        w.agents[0].type = w.agents[1].type = ROCL_AGENT_GPU;
        w.capture.pub.queues = queues;
        w.capture.pub.streams = streams;
        w.capture.pub.stream_count = 3;
        w.capture.pub.queue_count = 2;
        assert_int_equal(rocl_identity_make(&w.trace, NULL), ROCL_OK);
        assert_int_equal(rocl_trace_label_queues(&w.trace, NULL), ROCL_OK);
        w.tasks = 1 + seed % 5;
        check_report(&w.trace);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures),   cmocka_unit_test(test_window),
        cmocka_unit_test(test_top),        cmocka_unit_test(test_random),
        cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
