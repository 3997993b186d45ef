/* The report on samples, by asking all events for each stretch between two neighbouring times. */
#include "test_csv_world.h"
#include "tests/unit/stats_records.h"

#include "model/identity.h"

#define SAMPLES (1u << ROCL_REPORT_COUNTERS)
#define KINDS   (1u << ROCL_SAMPLE | 1u << ROCL_DISPATCH | 1u << ROCL_COPY | 1u << ROCL_MARKER)

/* ---- the other side ---- */

enum { GPUS = 2, TRACKS = 3, NAMES = 3, MOST = 80 };

/* The world of the test: counters 0 and 1 are the power of GPU 0 in W and of GPU 1 in mW, counter 2
 * only grows. */
static const char *const counters[TRACKS] = {"power", "power", "process_context_switch"};
static const char *const units[TRACKS] = {"W", "mW", ""};
static const double watts[TRACKS] = {1, 1e-3, 0};
static const char *const names[NAMES] = {"k0", "k1", "k2"};

typedef struct ground {
    const world_event *events;
    size_t count;
    int64_t times[2 * MOST]; /* all starts and ends, in order, each once */
    size_t time_count;
} ground;

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static ground ground_of(const world_event *events, size_t count)
{
    ground g = {.events = events, .count = count};
    int64_t all[2 * MOST];
    for (size_t i = 0; i < count; i++) {
        all[2 * i] = events[i].as.e.start;
        all[2 * i + 1] = events[i].as.e.end;
    }
    qsort(all, 2 * count, sizeof *all, by_value);
    for (size_t i = 0; i < 2 * count; i++)
        if (!i || all[i] != all[i - 1])
            g.times[g.time_count++] = all[i];
    return g;
}

static bool is_value(const ground *g, size_t i, unsigned track)
{
    return g->events[i].kind == ROCL_SAMPLE && g->events[i].as.sample.counter == track;
}

/* The last value of a track at or before a time (before it); the largest of those at one time. */
static const rocl_sample_value *held(const ground *g, unsigned track, int64_t time, bool before)
{
    const rocl_sample_value *best = NULL;
    for (size_t i = 0; i < g->count; i++) {
        const rocl_sample_value *v = &g->events[i].as.sample;
        if (!is_value(g, i, track) || v->e.start > time || (before && v->e.start == time))
            continue;
        if (!best || v->e.start > best->e.start ||
            (v->e.start == best->e.start && v->value > best->value))
            best = v;
    }
    return best;
}

typedef struct extent {
    uint64_t count;
    int64_t first_time, last_time;
    double min, max, first, last, sum;
} extent;

static extent extent_of(const ground *g, unsigned track)
{
    extent x = {.first_time = INT64_MAX, .last_time = INT64_MIN, .min = INFINITY, .max = -INFINITY};
    for (size_t i = 0; i < g->count; i++) {
        const rocl_sample_value *v = &g->events[i].as.sample;
        if (!is_value(g, i, track))
            continue;
        x.count++;
        x.sum += v->value;
        x.min = fmin(x.min, v->value);
        x.max = fmax(x.max, v->value);
        if (v->e.start < x.first_time || (v->e.start == x.first_time && v->value < x.first))
            x.first = v->value;
        x.first_time = v->e.start < x.first_time ? v->e.start : x.first_time;
        x.last_time = v->e.start > x.last_time ? v->e.start : x.last_time;
    }
    x.last = x.count ? held(g, track, x.last_time, false)->value : 0;
    return x;
}

/* The value that lasts from `from` on; not a number where none does. */
static double lasting(const ground *g, unsigned track, const extent *x, int64_t from)
{
    return x->count && from >= x->first_time && from < x->last_time
               ? held(g, track, from, false)->value
               : (double)NAN;
}

static bool runs(const ground *g, size_t i, rocl_kind kind, unsigned gpu, int64_t from, int64_t to)
{
    const world_event *e = &g->events[i];
    if (e->kind != kind || e->as.e.start > from || e->as.e.end < to)
        return false;
    return kind == ROCL_DISPATCH ? e->as.dispatch.agent == gpu
                                 : e->as.copy.src == gpu || e->as.copy.dst == gpu;
}

/* ---- tracks ---- */

static size_t row_of_track(const rocl_table *t, unsigned track, size_t from)
{
    char gpu[16];
    snprintf(gpu, sizeof gpu, "GPU %u", track);
    for (size_t row = from; row < t->row_count; row++)
        if (!strcmp(text_of(t, row, "counter"), counters[track]) &&
            (track == 2 || !strcmp(text_if_any(t, row, "agent"), gpu)))
            return row;
    return t->row_count;
}

static void check_tracks(const ground *g, const rocl_tables *all)
{
    const rocl_table *t = table_of(all, "sample_tracks");
    size_t rows = 0;
    for (unsigned k = 0; k < TRACKS; k++) {
        const extent x = extent_of(g, k);
        const size_t row = row_of_track(t, k, 0);
        double weighted = 0, ns = (double)(x.last_time - x.first_time);
        if (!x.count) {
            assert_int_equal(row, t->row_count);
            continue;
        }
        rows++;
        for (size_t i = 0; i + 1 < g->time_count; i++) {
            const double v = lasting(g, k, &x, g->times[i]);
            weighted += isnan(v) ? 0 : v * (double)(g->times[i + 1] - g->times[i]);
        }
        check_int(t, row, "samples", (int64_t)x.count);
        check_real(t, row, "min", x.min);
        check_real(t, row, "max", x.max);
        if (k == 2) {
            check_none(t, row, "mean");
            check_real(t, row, "increase", x.last - x.first);
            check_int(t, row, "pid", 11);
        } else {
            check_real(t, row, "mean", ns > 0 ? weighted / ns : x.sum / (double)x.count);
            check_real(t, row, "joules", weighted * watts[k] * 1e-9);
            check_none(t, row, "increase");
            check_none(t, row, "pid");
        }
    }
    assert_int_equal(rows, t->row_count);
}

/* Slices have the means that all of them together make up. */
static void check_slices(const ground *g, const rocl_tables *all)
{
    const rocl_table *t = table_of(all, "sample_timeline");
    double sums[TRACKS] = {0};
    for (size_t row = 0; row < t->row_count; row++) {
        const char *label = text_of(t, row, "track");
        const unsigned k = !strncmp(label, "GPU 0", 5) ? 0 : !strncmp(label, "GPU 1", 5) ? 1 : 2;
        const int64_t from = int_of(t, row, "start_ns"), to = int_of(t, row, "end_ns");
        const extent x = extent_of(g, k);
        double ns = 0;
        for (int64_t at = from; at < to; at++) /* times are small */
            ns += !isnan(lasting(g, k, &x, at));
        if (ns > 0)
            sums[k] += real_of(t, row, "mean") * ns;
        else
            check_none(t, row, "mean");
    }
    for (unsigned k = 0; k < 2; k++) {
        const size_t row = row_of_track(table_of(all, "sample_tracks"), k, 0);
        if (extent_of(g, k).count)
            check_real(table_of(all, "sample_tracks"), row, "joules", sums[k] * watts[k] * 1e-9);
    }
}

/* ---- energy ---- */

typedef struct shares {
    double joules, least, most;
    int64_t calls, samples, total, measured, known, lone; /* measured: of the calls */
} shares;

static void check_gpu_energy(const ground *g, const rocl_tables *all, unsigned gpu,
                             shares by_name[NAMES], size_t *row)
{
    const rocl_table *t = table_of(all, "energy");
    const extent x = extent_of(g, gpu);
    double sums[3] = {0}; /* of kernels, copies, nobody */
    for (size_t i = 0; i + 1 < g->time_count; i++) {
        const int64_t from = g->times[i], to = g->times[i + 1];
        const double v = lasting(g, gpu, &x, from);
        const double joules = v * watts[gpu] * (double)(to - from) * 1e-9;
        unsigned dispatches = 0, copies = 0, kernels = 0, of[NAMES] = {0};
        if (isnan(v))
            continue;
        for (size_t k = 0; k < g->count; k++) {
            const bool dispatch = runs(g, k, ROCL_DISPATCH, gpu, from, to);
            dispatches += dispatch;
            kernels += dispatch && !of[g->events[k].as.dispatch.dispatch_id]++;
            copies += runs(g, k, ROCL_COPY, gpu, from, to);
        }
        sums[dispatches ? 0 : copies ? 1 : 2] += joules;
        for (unsigned k = 0; k < NAMES; k++) {
            if (!of[k])
                continue;
            shares *s = &by_name[k];
            s->joules += joules * of[k] / dispatches;
            s->measured += (to - from) * of[k];
            s->most += joules;
            s->least += kernels == 1 ? joules : 0;
            s->known += to - from;
            s->lone += kernels == 1 ? to - from : 0;
        }
    }
    for (size_t k = 0; k < g->count; k++) {
        const rocl_event *e = &g->events[k].as.e;
        if (g->events[k].kind != ROCL_DISPATCH || g->events[k].as.dispatch.agent != gpu)
            continue;
        shares *s = &by_name[g->events[k].as.dispatch.dispatch_id];
        s->calls++;
        s->total += e->end - e->start;
    }
    for (size_t i = 0; i < g->count; i++) {
        const int64_t at = g->events[i].as.e.start;
        bool seen[NAMES] = {false};
        for (size_t k = 0; is_value(g, i, gpu) && k < g->count; k++)
            if (runs(g, k, ROCL_DISPATCH, gpu, at, at + 1))
                seen[g->events[k].as.dispatch.dispatch_id] = true;
        for (unsigned k = 0; k < NAMES; k++)
            by_name[k].samples += seen[k];
    }
    if (!x.count)
        return;
    check_real(t, *row, "kernel_joules", sums[0]);
    check_real(t, *row, "copy_joules", sums[1]);
    check_real(t, *row, "idle_joules", sums[2]);
    check_real(t, *row, "joules", sums[0] + sums[1] + sums[2]);
    check_int(t, *row, "known_ns", x.last_time - x.first_time);
    check_int(t, *row, "samples", (int64_t)x.count);
    (*row)++;
}

static void check_energy(const ground *g, const rocl_tables *all)
{
    const rocl_table *t = table_of(all, "kernel_energy");
    shares by_name[NAMES] = {0};
    size_t row = 0, kernels = 0;
    for (unsigned gpu = 0; gpu < GPUS; gpu++)
        check_gpu_energy(g, all, gpu, by_name, &row);
    assert_int_equal(row, table_of(all, "energy")->row_count);
    for (unsigned k = 0; k < NAMES; k++) {
        const shares *s = &by_name[k];
        const size_t at = find_row(t, NULL, names[k]);
        if (!s->known && !s->samples) {
            assert_int_equal(at, t->row_count);
            continue;
        }
        kernels++;
        check_int(t, at, "calls", s->calls);
        check_int(t, at, "samples", s->samples);
        check_int(t, at, "total_ns", s->total);
        check_real(t, at, "joules", s->joules);
        check_real(t, at, "least_joules", s->least);
        check_real(t, at, "most_joules", s->most);
        check_real(t, at, "joules_per_call", s->joules / (double)s->calls);
        if (s->known) {
            check_real(t, at, "alone_percent", 100.0 * (double)s->lone / (double)s->known);
            check_real(t, at, "known_percent", 100.0 * (double)s->measured / (double)s->total);
        }
    }
    assert_int_equal(kernels, t->row_count);
}

/* ---- markers ---- */

/* Values of process 0 are of its own markers. */
static bool marked(const ground *g, unsigned track, unsigned name, int64_t from, int64_t to)
{
    for (size_t i = 0; i < g->count; i++) {
        const rocl_event *e = &g->events[i].as.e;
        if (track == 2 && e->process != 0)
            continue;
        if (g->events[i].kind == ROCL_MARKER && e->id % NAMES == name && e->start <= from &&
            e->end >= to && (from < to || e->start == e->end || e->end > from))
            return true;
    }
    return false;
}

static void check_marker(const ground *g, const rocl_tables *all, unsigned name)
{
    const rocl_table *t = table_of(all, "sample_markers");
    char text[8];
    snprintf(text, sizeof text, "m%u", name);
    for (unsigned k = 0; k < TRACKS; k++) {
        const extent x = extent_of(g, k);
        double weighted = 0, min = INFINITY, max = -INFINITY;
        int64_t ns = 0, total = 0, count = 0;
        size_t row = 0;
        for (size_t i = 0; i + 1 < g->time_count; i++) {
            const int64_t from = g->times[i], to = g->times[i + 1];
            const double v = lasting(g, k, &x, from);
            if (!marked(g, k, name, from, to))
                continue;
            total += to - from;
            if (isnan(v))
                continue;
            ns += to - from;
            weighted += v * (double)(to - from);
            min = fmin(min, v);
            max = fmax(max, v);
        }
        for (size_t i = 0; i < g->count; i++) {
            const rocl_sample_value *v = &g->events[i].as.sample;
            if (!is_value(g, i, k) || !marked(g, k, name, v->e.start, v->e.start))
                continue;
            count++;
            min = fmin(min, v->value);
            max = fmax(max, v->value);
        }
        do
            row = row_of_track(t, k, row);
        while (row < t->row_count && strcmp(text_of(t, row, "name"), text) && ++row);
        if (min > max) {
            assert_int_equal(row, t->row_count);
            continue;
        }
        check_int(t, row, "samples", count);
        check_int(t, row, "total_ns", total);
        check_real(t, row, "min", min);
        check_real(t, row, "max", max);
        if (k == 2)
            continue;
        if (ns)
            check_real(t, row, "mean", weighted / (double)ns);
        check_real(t, row, "joules", weighted * watts[k] * 1e-9);
    }
}

/* ---- made-up events ---- */

static world_event random_event(uint64_t *dice, size_t row, uint64_t steps)
{
    static const rocl_kind kinds[] = {ROCL_SAMPLE, ROCL_SAMPLE, ROCL_DISPATCH, ROCL_COPY,
                                      ROCL_MARKER};
    world_event e = {.kind = kinds[draw_from(dice, COUNT(kinds))]};
    e.as.e.start = (int64_t)draw_from(dice, steps);
    e.as.e.end = e.as.e.start + (e.kind == ROCL_SAMPLE ? 0 : (int64_t)draw_from(dice, 9));
    e.as.e.duration = e.as.e.end - e.as.e.start;
    e.as.e.id = row;
    if (e.kind == ROCL_DISPATCH) {
        e.as.dispatch.agent = (uint32_t)draw_from(dice, GPUS);
        e.as.dispatch.dispatch_id = draw_from(dice, NAMES);
    } else if (e.kind == ROCL_MARKER) {
        e.as.e.process = (uint32_t)draw_from(dice, 2);
    } else if (e.kind == ROCL_COPY) {
        e.as.copy.src = (uint32_t)draw_from(dice, GPUS);
        e.as.copy.dst = draw_from(dice, 2) ? ROCL_NONE : (uint32_t)draw_from(dice, GPUS);
    } else if (e.kind == ROCL_SAMPLE) {
        e.as.sample = (rocl_sample_value){.e = e.as.e,
                                          .agent = ROCL_NONE,
                                          .xcc = -1,
                                          .shader_engine = -1,
                                          .instance = -1,
                                          .shader_array = -1,
                                          .wgp = -1};
        e.as.sample.counter = (uint32_t)draw_from(dice, TRACKS);
        e.as.sample.value = (double)draw_from(dice, 1000) / 8;
    }
    return e;
}

static void open_samples_world(world *w, world_event *events, size_t n, unsigned jobs)
{
    world_open(w, jobs, events, n);
    for (int i = 0; i < GPUS; i++) {
        w->agents[i].type = ROCL_AGENT_GPU;
        w->agents[i].absolute_index = i;
    }
    for (unsigned i = 0; i < TRACKS; i++)
        w->counters[i] = (rocl_counter){.id = i + 1,
                                        .agent = i < GPUS ? i : ROCL_NONE,
                                        .name = text(w, counters[i]),
                                        .units = text(w, units[i])};
    for (size_t i = 0; i < n; i++) {
        char name[8];
        snprintf(name, sizeof name, "m%u", (unsigned)(events[i].as.e.id % NAMES));
        if (events[i].kind == ROCL_DISPATCH)
            snprintf(name, sizeof name, "%s", names[events[i].as.dispatch.dispatch_id]);
        events[i].as.e.name = text(w, name);
    }
    assert_int_equal(rocl_identity_make(&w->trace, NULL), ROCL_OK);
}

/* Times are few, so that events touch, nest, and take no time within others. */
static void test_random(void **state)
{
    static world_event events[MOST];
    const rocl_stats_options o = {.reports = SAMPLES, .by_marker = true, .slices = 7};
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        uint64_t dice = seed;
        world w;
        size_t n = seed % 10 ? COUNT(events) : seed / 10 % 4;
        for (size_t i = 0; i < n; i++)
            events[i] = random_event(&dice, i + 1, seed % 2 ? 30 : 300);
        open_samples_world(&w, events, n, (unsigned)(1 + seed % 3));
        w.tasks = 1 + seed % 5;
        const ground g = ground_of(events, n);
        rocl_tables *all = stats_of(&w.trace, &o);
        check_tracks(&g, all);
        check_slices(&g, all);
        check_energy(&g, all);
        for (unsigned k = 0; k < NAMES; k++)
            check_marker(&g, all, k);
        rocl_tables_free(all);
        world_close(&w);
    }
}

/* ---- fixtures ---- */

static void test_same_bytes(void **state)
{
    static const char *const traces[] = {"ticks", "sampled", "everything", "merged", "sys"};
    const rocl_stats_options s = {.reports = SAMPLES, .by_marker = true},
                             by_agent = {.reports = SAMPLES, .by_agent = true, .top = 2};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++) {
        check_same_bytes(traces[i], &s);
        check_same_bytes(traces[i], &by_agent);
    }
}

/* A row for each GPU adds up to the row of all. */
static void test_by_agent(void **state)
{
    const rocl_options o = {.jobs = 2};
    const rocl_stats_options s = {.reports = SAMPLES}, by = {.reports = SAMPLES, .by_agent = true};
    (void)state;
    rocl_trace *t = open_trace("ticks", &o);
    rocl_tables *all = stats_of(t, &s), *each = stats_of(t, &by);
    const rocl_table *a = table_of(all, "kernel_energy"), *b = table_of(each, "kernel_energy");
    double sum = 0;
    assert_true(a->row_count > 0 && b->row_count > a->row_count);
    for (size_t row = 0; row < a->row_count; row++)
        sum += real_of(a, row, "joules");
    for (size_t row = 0; row < b->row_count; row++)
        sum -= real_of(b, row, "joules");
    assert_true(fabs(sum) < 1e-9);
    rocl_tables_free(all);
    rocl_tables_free(each);
    rocl_trace_close(t);
}

static void test_nothing(void **state)
{
    (void)state;
    check_nothing(SAMPLES, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_by_agent),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
