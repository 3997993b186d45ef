/* The report on queues, by asking all events at each nanosecond of short traces, and by sorting the
 * parts of all delays. */
#include "test_csv_world.h"
#include "tests/unit/stats_records.h"

#include "model/identity.h"
#include "model/kinds.h"

#define QUEUES (1u << ROCL_REPORT_STREAMS | 1u << ROCL_REPORT_LAUNCH)

enum { TICKS = 400, EVENTS = 80, MOST_LANES = 16 };

static const char *const causes[] = {"queue", "gpu", "launch", "dispatch", "dependency"};

enum { QUEUE, GPU, LAUNCH, DISPATCH, DEPENDENCY, WHOLE, PARTS };

/* ---- the other side ---- */

typedef struct piece {
    const record *r;
    const record *call; /* NULL: none */
    int64_t from;       /* outstanding */
    bool first;         /* of its call */
    size_t lane;
    const rocl_gpu *gpus[2];
} piece;

typedef struct lane {
    int64_t process;
    char name[32];
} lane;

typedef struct values {
    int64_t all[EVENTS];
    size_t count;
} values;

typedef struct ground {
    rocl_trace *trace;
    records all;
    piece work[EVENTS];
    size_t work_count, lane_count;
    lane lanes[MOST_LANES];
    values parts[MOST_LANES + 1][PARTS]; /* the last: of all lanes */
} ground;

static void name_lane(const record *r, char name[32])
{
    const bool copy = r->kind == ROCL_COPY;
    const uint32_t stream = copy ? r->copy.stream : r->dispatch.stream;
    const uint32_t queue = copy ? r->copy.queue : r->dispatch.queue;
    if (stream != ROCL_NONE)
        snprintf(name, 32, "Stream %lld", (long long)r->capture->streams[stream].id);
    else if (queue != ROCL_NONE)
        snprintf(name, 32, "Queue %lld", (long long)r->capture->queues[queue].id);
    else
        name[0] = '\0';
}

static size_t find_lane(ground *g, int64_t process, const char *name)
{
    for (size_t i = 0; i < g->lane_count; i++)
        if (g->lanes[i].process == process && !strcmp(g->lanes[i].name, name))
            return i;
    return g->lane_count;
}

static const record *find_call(const ground *g, const record *r)
{
    const record *found = NULL;
    for (size_t i = 0; i < g->all.count && r->e.stack_id; i++) {
        const record *c = &g->all.all[i];
        if (c->kind == ROCL_REGION && c->e.process == r->e.process &&
            c->e.stack_id == r->e.stack_id &&
            (!found || c->e.start < found->e.start ||
             (c->e.start == found->e.start && c->e.id < found->e.id)))
            found = c;
    }
    return found;
}

static bool comes_before(const record *a, const record *b, bool by_end)
{
    if (a->e.start != b->e.start)
        return a->e.start < b->e.start;
    if (by_end && a->e.end != b->e.end)
        return a->e.end < b->e.end;
    return rocl_row_word(a->e.id, a->kind) < rocl_row_word(b->e.id, b->kind);
}

static void put_value(ground *g, size_t of, unsigned part, int64_t ns)
{
    values *own = &g->parts[of][part], *all = &g->parts[MOST_LANES][part];
    own->all[own->count++] = ns;
    all->all[all->count++] = ns;
}

static bool is_busy(const ground *g, const rocl_gpu *gpu, int64_t t)
{
    for (size_t i = 0; i < g->work_count; i++) {
        const piece *p = &g->work[i];
        if ((p->gpus[0] == gpu || p->gpus[1] == gpu) && p->r->e.start <= t && p->r->e.end > t)
            return true;
    }
    return false;
}

static void cut_delay(ground *g, const piece *p)
{
    const int64_t returned = p->call->e.end, start = p->r->e.start;
    int64_t until = -1, ns[PARTS] = {0};
    for (size_t i = 0; i < g->work_count; i++) {
        const piece *o = &g->work[i];
        if (o->lane == p->lane && o != p && comes_before(o->r, p->r, true) && o->r->e.end > until)
            until = o->r->e.end;
    }
    for (int64_t t = returned; t < start; t++)
        ns[t < until ? QUEUE : p->gpus[0] && is_busy(g, p->gpus[0], t) ? GPU : LAUNCH]++;
    put_value(g, p->lane, WHOLE, start > returned ? start - returned : 0);
    for (unsigned k = QUEUE; k <= LAUNCH; k++)
        if (ns[k])
            put_value(g, p->lane, k == LAUNCH && until > returned ? DISPATCH : k, ns[k]);
}

static void find_work(ground *g)
{
    for (size_t i = 0; i < g->all.count; i++) {
        const record *r = &g->all.all[i];
        if (r->kind == ROCL_REGION)
            continue;
        lane l = {.process = r->capture->processes[r->e.process].pid};
        piece *p = &g->work[g->work_count++];
        const bool copy = r->kind == ROCL_COPY;
        const uint32_t agent = copy ? r->copy.dst : r->dispatch.agent;
        name_lane(r, l.name);
        *p = (piece){.r = r, .call = find_call(g, r), .first = true};
        p->lane = find_lane(g, l.process, l.name);
        if (p->lane == g->lane_count)
            g->lanes[g->lane_count++] = l;
        assert_true(g->lane_count < MOST_LANES);
        p->gpus[0] = rocl_gpu_of(r->capture, agent);
        if (copy && r->copy.src != agent)
            p->gpus[p->gpus[0] != NULL] = rocl_gpu_of(r->capture, r->copy.src);
        p->from = p->call && p->call->e.end < r->e.start ? p->call->e.end : r->e.start;
    }
    for (size_t i = 0; i < g->work_count; i++)
        for (size_t k = 0; k < g->work_count; k++)
            if (g->work[k].r->e.process == g->work[i].r->e.process &&
                g->work[k].r->e.stack_id == g->work[i].r->e.stack_id &&
                comes_before(g->work[k].r, g->work[i].r, false))
                g->work[i].first = false;
    for (size_t i = 0; i < g->work_count; i++)
        if (g->work[i].call && g->work[i].first)
            cut_delay(g, &g->work[i]);
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* ---- tables ---- */

static size_t lane_of_row(ground *g, const rocl_table *t, size_t row)
{
    const size_t i = find_lane(g, int_of(t, row, "pid"), text_if_any(t, row, "name"));
    assert_true(i < g->lane_count);
    return i;
}

static void check_lengths(ground *g, const rocl_table *t)
{
    assert_int_equal(t->row_count, g->lane_count);
    for (size_t row = 0; row < t->row_count; row++) {
        const size_t of = lane_of_row(g, t, row);
        int64_t first = INT64_MAX, last = 0, most = 0, at = -1, sum = 0, empty = 0, others = 0;
        int64_t one = 0, kernels = 0, copies = 0, unlinked = 0, most_ns = 0, below = 0, median = 0;
        int64_t ns[EVENTS + 1] = {0};
        bool any = false;
        for (size_t i = 0; i < g->work_count; i++) {
            const piece *p = &g->work[i];
            const bool empty_time = p->from == p->r->e.end;
            if (g->lanes[p->lane].process == g->lanes[of].process && !empty_time) {
                first = p->from < first ? p->from : first;
                last = p->r->e.end > last ? p->r->e.end : last;
            }
            if (p->lane != of)
                continue;
            any |= !empty_time;
            kernels += p->r->kind == ROCL_DISPATCH;
            copies += p->r->kind == ROCL_COPY;
            unlinked += !p->call;
        }
        for (int64_t tick = first; any && tick < last; tick++) {
            int64_t n = 0, all = 0;
            for (size_t i = 0; i < g->work_count; i++) {
                const piece *p = &g->work[i];
                const bool out = p->from <= tick && p->r->e.end > tick;
                n += out && p->lane == of;
                all += out && g->lanes[p->lane].process == g->lanes[of].process;
            }
            ns[n]++;
            sum += n;
            empty += !n;
            others += !n && all;
            one += n == 1;
            at = n > most ? tick : at;
            most_ns = n > most ? 0 : most_ns;
            most = n > most ? n : most;
            most_ns += n == most;
        }
        check_int(t, row, "kernels", kernels);
        check_int(t, row, "copies", copies);
        check_int(t, row, "unlinked", unlinked);
        if (!any)
            continue;
        for (int64_t n = 0; n <= most; below += ns[n++])
            median = below * 2 < last - first ? n : median;
        check_int(t, row, "wall_ns", last - first);
        check_int(t, row, "most", most);
        check_int(t, row, "most_at_ns", at);
        check_int(t, row, "most_ns", most_ns);
        check_real(t, row, "mean", (double)sum / (double)(last - first));
        check_int(t, row, "median", median);
        check_int(t, row, "empty_ns", empty);
        check_int(t, row, "others_ns", others);
        check_int(t, row, "one_ns", one);
        check_int(t, row, "full_ns", 0);
    }
}

static void check_values(const rocl_table *t, size_t row, values *v)
{
    int64_t sum = 0;
    const size_t n = v->count;
    size_t p90 = 0, p99 = 0;
    assert_true(n > 0);
    qsort(v->all, n, sizeof *v->all, by_value);
    for (size_t i = 0; i < n; i++)
        sum += v->all[i];
    while ((p90 + 1) * 100 < n * 90)
        p90++;
    while ((p99 + 1) * 100 < n * 99)
        p99++;
    check_int(t, row, "total_ns", sum);
    check_real(t, row, "average_ns", (double)sum / (double)n);
    check_int(t, row, "min_ns", v->all[0]);
    check_int(t, row, "median_ns", (v->all[(n - 1) / 2] + v->all[n / 2]) / 2);
    check_int(t, row, "p90_ns", v->all[p90]);
    check_int(t, row, "p99_ns", v->all[p99]);
    check_int(t, row, "max_ns", v->all[n - 1]);
}

static size_t cause_of_row(const rocl_table *t, size_t row)
{
    size_t k = 0;
    while (strcmp(text_of(t, row, "cause"), causes[k]) != 0)
        k++;
    return k;
}

static void check_delays(ground *g, const rocl_tables *all)
{
    const rocl_table *t = table_of(all, "delay_causes");
    int64_t parts = 0, whole = 0;
    for (size_t row = 0; row < t->row_count; row++) {
        values *v = &g->parts[MOST_LANES][cause_of_row(t, row)];
        check_values(t, row, v);
        check_int(t, row, "count", (int64_t)v->count);
        parts += int_of(t, row, "total_ns");
    }
    for (size_t i = 0; i < g->parts[MOST_LANES][WHOLE].count; i++)
        whole += g->parts[MOST_LANES][WHOLE].all[i];
    assert_int_equal(parts, whole);
}

static void check_report(rocl_trace *t)
{
    const rocl_stats_options s = {.reports = QUEUES, .slices = 1 + t->opt.jobs * 7};
    ground *g = calloc(1, sizeof *g);
    assert_non_null(g);
    g->trace = t;
    g->all = records_of(t, 1u << ROCL_DISPATCH | 1u << ROCL_COPY | 1u << ROCL_REGION);
    assert_true(g->all.count <= EVENTS);
    find_work(g);
    rocl_tables *all = stats_of(t, &s);
    check_lengths(g, table_of(all, "queue_lengths"));
    check_delays(g, all);
    rocl_tables_free(all);
    free(g->all.all);
    free(g);
}

/* ---- made-up events ---- */

static uint32_t draw_or_none(uint64_t *seed, uint32_t n)
{
    const uint32_t v = (uint32_t)draw_from(seed, n + 1);
    return v == n ? ROCL_NONE : v;
}

static world_event random_event(uint64_t *dice, size_t row, uint64_t steps)
{
    static const rocl_kind kinds[] = {ROCL_REGION, ROCL_DISPATCH, ROCL_DISPATCH, ROCL_COPY};
    world_event e = {.kind = kinds[draw_from(dice, 4)]};
    const uint32_t stream = draw_or_none(dice, 2), queue = draw_or_none(dice, 2);
    e.as.e.start = (int64_t)draw_from(dice, steps);
    e.as.e.end = e.as.e.start + (int64_t)draw_from(dice, 9);
    e.as.e.duration = e.as.e.end - e.as.e.start;
    e.as.e.id = row;
    e.as.e.stack_id = draw_from(dice, 25);
    e.as.e.process = (uint32_t)draw_from(dice, 2);
    if (e.kind == ROCL_DISPATCH) {
        e.as.dispatch.agent = draw_or_none(dice, 2);
        e.as.dispatch.stream = stream;
        e.as.dispatch.queue = queue;
    } else if (e.kind == ROCL_COPY) {
        e.as.copy.src = draw_or_none(dice, 2);
        e.as.copy.dst = draw_or_none(dice, 2);
        e.as.copy.stream = stream;
        e.as.copy.queue = queue;
        e.as.copy.size = draw_from(dice, 1000);
    }
    return e;
}

static void open_world(world *w, unsigned jobs, const world_event *events, size_t n)
{
    static rocl_queue queues[2] = {{.id = 5}, {.id = 6}};
    static rocl_stream streams[2] = {{.id = 5}, {.id = 6}};
    world_open(w, jobs, events, n);
    w->agents[0].type = w->agents[1].type = ROCL_AGENT_GPU;
    w->capture.pub.queues = queues;
    w->capture.pub.streams = streams;
    w->capture.pub.stream_count = w->capture.pub.queue_count = 2;
    assert_int_equal(rocl_identity_make(&w->trace, NULL), ROCL_OK);
    assert_int_equal(rocl_trace_label_queues(&w->trace, NULL), ROCL_OK);
}

/* Times are few, so that work touches, nests, and takes no time; ids have one call, several or
 * none, before their work and after it. */
static void test_random(void **state)
{
    static world_event events[EVENTS];
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t dice = seed;
        world w;
        const size_t n = seed % 10 ? COUNT(events) : seed / 10 % 4;
        for (size_t i = 0; i < n; i++)
            events[i] = random_event(&dice, i + 1, seed % 2 ? 50 : TICKS - 10);
        open_world(&w, (unsigned)(1 + seed % 3), events, n);
        w.tasks = 1 + seed % 5;
        check_report(&w.trace);
        world_close(&w);
    }
}

static world_event made(rocl_kind kind, size_t row, int64_t start, int64_t end, uint64_t stack,
                        uint32_t stream)
{
    world_event e = {.kind = kind};
    e.as.e = (rocl_event){.id = row,
                          .start = start,
                          .end = end,
                          .duration = end - start,
                          .stack_id = stack,
                          .name = ROCL_NONE};
    if (kind == ROCL_DISPATCH) {
        e.as.dispatch.stream = stream;
        e.as.dispatch.queue = ROCL_NONE;
    }
    return e;
}

static void check_cause(const rocl_table *t, size_t row, const char *cause, int64_t count,
                        int64_t total)
{
    check_text(t, row, "cause", cause);
    check_int(t, row, "count", count);
    check_int(t, row, "total_ns", total);
}

/* Delays by all causes but one, in ns. */
static void test_example(void **state)
{
    const rocl_stats_options s = {.reports = QUEUES};
    const world_event events[] = {
        made(ROCL_REGION, 1, 0, 2000, 1, 0),        made(ROCL_REGION, 2, 2000, 4000, 2, 0),
        made(ROCL_REGION, 3, 4000, 6000, 3, 0),     made(ROCL_DISPATCH, 1, 10000, 50000, 1, 0),
        made(ROCL_DISPATCH, 2, 53000, 60000, 2, 0), made(ROCL_DISPATCH, 3, 80000, 90000, 3, 1),
    };
    world w;
    (void)state;
    open_world(&w, 1, events, COUNT(events));
    rocl_tables *all = stats_of(&w.trace, &s);
    const rocl_table *t = table_of(all, "queue_lengths");
    check_int(t, 0, "most", 1);
    check_text(t, 0, "name", "Stream 6");
    check_text(t, 1, "name", "Stream 5");
    check_int(t, 1, "wall_ns", 88000);
    check_int(t, 1, "most", 2);
    check_int(t, 1, "most_at_ns", 4000);
    check_int(t, 1, "most_ns", 46000);
    check_int(t, 1, "empty_ns", 30000);
    check_int(t, 1, "others_ns", 30000);
    check_real(t, 1, "mean", 104000. / 88000);
    t = table_of(all, "delay_causes");
    assert_int_equal(t->row_count, 4);
    check_cause(t, 0, "queue", 1, 46000);
    check_cause(t, 1, "gpu", 1, 47000);
    check_cause(t, 2, "launch", 2, 35000);
    check_cause(t, 3, "dispatch", 1, 3000);
    rocl_tables_free(all);
    world_close(&w);
}

/* A wait of more than 10 us behind other work of the lane is no dispatch; a graph waits once. */
static void test_dependency(void **state)
{
    const rocl_stats_options s = {.reports = QUEUES};
    const world_event events[] = {
        made(ROCL_REGION, 1, 0, 10, 1, 0),          made(ROCL_DISPATCH, 1, 10, 1000, 1, 0),
        made(ROCL_REGION, 2, 10, 20, 2, 0),         made(ROCL_DISPATCH, 2, 11000, 12000, 2, 0),
        made(ROCL_REGION, 3, 20, 30, 3, 0),         made(ROCL_DISPATCH, 3, 22001, 23000, 3, 0),
        made(ROCL_DISPATCH, 4, 50000, 60000, 3, 0),
    };
    world w;
    (void)state;
    open_world(&w, 1, events, COUNT(events));
    rocl_tables *all = stats_of(&w.trace, &s);
    const rocl_table *t = table_of(all, "delay_causes");
    assert_int_equal(t->row_count, 3);
    check_cause(t, 0, "queue", 2, 980 + 11970);
    check_cause(t, 1, "dispatch", 1, 10000);
    check_cause(t, 2, "dependency", 1, 10001);
    rocl_tables_free(all);
    world_close(&w);
}

/* ---- fixtures ---- */

static void test_same_bytes(void **state)
{
    static const char *const traces[] = {"everything", "schema-3.0.5", "nasty-3.0.0", "graph",
                                         "rank0 rank1"};
    const rocl_stats_options s = {.reports = QUEUES, .by_rank = true};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++)
        check_same_bytes(traces[i], &s);
}

/* The rows of --top and the last one hold everything. */
static void test_top(void **state)
{
    const rocl_options o = {.jobs = 2};
    const rocl_stats_options s = {.reports = QUEUES}, few = {.reports = QUEUES, .top = 1};
    rocl_trace *t = open_trace("rank0 rank1", &o);
    rocl_tables *all = stats_of(t, &s), *cut = stats_of(t, &few);
    const rocl_table *a = table_of(all, "queue_lengths"), *c = table_of(cut, "queue_lengths");
    int64_t sum = int_of(c, 0, "kernels") + int_of(c, 1, "kernels");
    (void)state;
    assert_true(a->row_count > 2);
    assert_int_equal(c->row_count, 2);
    for (size_t row = 0; row < a->row_count; row++)
        sum -= int_of(a, row, "kernels");
    assert_int_equal(sum, 0);
    rocl_tables_free(all);
    rocl_tables_free(cut);
    rocl_trace_close(t);
}

static void test_nothing(void **state)
{
    (void)state;
    check_nothing(QUEUES, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),     cmocka_unit_test(test_example),
        cmocka_unit_test(test_dependency), cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_top),        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests_name("stats_queues", tests, enter, leave);
}
