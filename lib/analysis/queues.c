/* How much work waits in each stream or queue (report "streams"), and what launched work waits for
 * (report "launch").
 *
 *     work    GPU work by process and stack id: looks up the calls that launched it
 *     edges   begins and ends of the time in which a piece is outstanding, by process and time: a
 *             sweep counts what each lane has
 *     runs    work by lane and start: a sweep cuts each delay into what it was for
 *     gpus    work by GPU and start, and the times for which it is asked when the GPU was busy
 *
 * A piece is outstanding from the return of its call, or from its start if that came first, to its
 * end; without a call, from its start. A call that launched several pieces, as that of a graph, has
 * one delay: until the first of them. In memory are the lanes, and for each the times at each
 * length. */
#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "analysis/lanes.h"
#include "analysis/activity.h"
#include "analysis/percentiles.h"
#include "base/array.h"

enum {
    LENGTHS = 1 << 16, /* longer ones count as the last */
    FULL = 1024
};

/* What a delay was for, in this order: work before it in its lane had not ended; then, while other
 * work ran on its GPU; then the rest, while that was idle. */
typedef enum cause {
    CAUSE_QUEUE,
    CAUSE_GPU,
    CAUSE_LAUNCH,     /* nothing had been before it in its lane when the call returned */
    CAUSE_DISPATCH,   /* until the next piece of a lane begins */
    CAUSE_DEPENDENCY, /* the same, but too long for that */
    CAUSES
} cause;

static const char *const cause_names[CAUSES] = {"queue", "gpu", "launch", "dispatch", "dependency"};

/* In groups of samples: a delay as a whole. */
enum { WHOLE = CAUSES };

typedef struct lane {
    rocl_lane_key key; /* first */
    rocl_lane_name name;
    const struct lane *self; /* for rows, which are copies */
    uint64_t kernels, copies, unlinked;
    uint64_t gpu; /* number + 1 of the one on which its work is asked for */
    /* While it is swept: */
    bool swept;
    uint32_t now;
    int64_t since;
    int64_t *ns; /* by length */
    size_t ns_cap;
    int64_t asked; /* how long the GPU had been busy when its next work could have begun */
    /* For its rows: */
    int64_t wall, most_ns, most_at, empty, others, one, full;
    uint64_t most, median;
    double mean, empty_percent, others_percent;
} lane;

typedef struct queues {
    rocl_collector c;
    rocl_strings *keys; /* their ids are the lanes */
    rocl_sorter *work, *edges, *runs, *asked;
    rocl_percentiles *delays; /* by cause */
    lane *lanes;              /* [0] is none */
    size_t lane_count;
    uint32_t *order;       /* lanes as they are printed */
    uint64_t *gpu_lane;    /* by GPU: the lane of all of its work, UINT64_MAX: of several */
    uint64_t last_call[2]; /* process and stack id of the last question */
    uint64_t unlinked;
} queues;

/* ---- events ---------------------------------------------------------------------------------- */

static rocl_status add_queues_batch(void *self, unsigned worker, const rocl_batch *b,
                                    rocl_error *err)
{
    queues *q = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const rocl_lane_key k = rocl_lane_of(b, i);
        const uint32_t id = rocl_strings_put(q->keys, (const char *)&k, sizeof k);
        const rocl_gpu *gpus[2];
        const unsigned n = rocl_gpus_of(b, i, gpus);
        if (id == ROCL_NONE)
            return rocl_fail_memory(err);
        const uint64_t numbers[] = {(uint64_t)(e->end - e->start), id,
                                    n > 0 ? (uint64_t)(gpus[0] - q->c.trace->gpus) + 1 : 0,
                                    n > 1 ? (uint64_t)(gpus[1] - q->c.trace->gpus) + 1 : 0};
        st = rocl_calls_ask(q->work, worker, b, e, numbers, 4, err);
    }
    return st;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* In the fourth word of `edges`: a begin; ends come first. */
enum { ENDS, BEGINS };

static rocl_status add_work(void *ctx, const rocl_sort_record *question, const rocl_call *call,
                            rocl_error *err)
{
    queues *q = ctx;
    uint64_t v[4]; /* duration, lane, GPUs */
    rocl_read_numbers(question, v, 4);
    const int64_t start = (int64_t)question->key[2], end = start + (int64_t)v[0];
    const int64_t from = call && call->end < start ? call->end : start;
    const bool next = q->last_call[0] == question->key[0] && q->last_call[1] == question->key[1];
    lane *l = &q->lanes[v[1]];
    rocl_status st = ROCL_OK;
    memcpy(q->last_call, question->key, sizeof q->last_call);
    l->unlinked += !call;
    q->unlinked += !call;
    l->kernels += rocl_word_kind(question->key[3]) == ROCL_DISPATCH;
    l->copies += rocl_word_kind(question->key[3]) == ROCL_COPY;
    l->gpu = v[2];
    for (unsigned i = 2; i < 4; i++)
        if (v[i]) {
            uint64_t *of = &q->gpu_lane[v[i] - 1];
            *of = !*of || *of == v[1] ? v[1] : UINT64_MAX;
        }
    for (unsigned i = ENDS; i <= BEGINS && from < end && st == ROCL_OK; i++) {
        const uint64_t key[4] = {question->key[0], (uint64_t)(i == ENDS ? end : from), i, v[1]};
        st = rocl_sorter_add(q->edges, 0, key, NULL, 0, err);
    }
    if (st != ROCL_OK)
        return st;
    const uint64_t key[4] = {v[1], question->key[2], (uint64_t)end, question->key[3]};
    const uint64_t numbers[] = {v[2], v[3], call && !next, call ? (uint64_t)call->end : 0};
    return rocl_add_numbers(q->runs, 0, key, numbers, 4, err);
}

static rocl_status look_up_calls(void *self, rocl_calls *calls, rocl_error *err)
{
    queues *q = self;
    q->lanes = rocl_groups_new(q->keys, sizeof(rocl_lane_key), sizeof *q->lanes, &q->lane_count);
    q->order = calloc(q->lane_count, sizeof *q->order);
    if (!q->lanes || !q->order)
        return rocl_fail_memory(err);
    return rocl_calls_look_up(calls, q->work, add_work, q, err);
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* A lane has had its length until now. */
static void pass_time(lane *l, int64_t until)
{
    if (until > l->since)
        l->ns[l->now < LENGTHS ? l->now : LENGTHS] += until - l->since;
    l->since = until;
}

/* The process that is swept: from its first to its last work. */
typedef struct process_sweep {
    uint64_t process;
    uint32_t *lanes; /* that it has had so far */
    size_t lane_count, lane_cap;
    uint64_t now;
    int64_t first, since, busy; /* busy: some lane had work */
} process_sweep;

static void end_process(queues *q, process_sweep *p)
{
    const int64_t last = p->since, wall = last - p->first;
    for (size_t i = 0; i < p->lane_count; i++) {
        lane *l = &q->lanes[p->lanes[i]];
        rocl_u128 sum = 0;
        int64_t below = 0;
        pass_time(l, last);
        l->wall = wall;
        l->empty = l->ns[0];
        l->others = p->busy - (wall - l->ns[0]);
        l->one = l->ns_cap > 1 ? l->ns[1] : 0;
        l->most_ns = l->ns[l->most < LENGTHS ? l->most : LENGTHS];
        for (size_t n = 0; n <= l->most && n <= LENGTHS; n++) {
            sum += (rocl_u128)l->ns[n] * n;
            l->full += n >= FULL ? l->ns[n] : 0;
            if (below < wall - below)
                l->median = n;
            below += l->ns[n];
        }
        l->mean = rocl_ratio((double)sum, (double)wall);
        l->empty_percent = rocl_percent(l->empty, wall);
        l->others_percent = rocl_percent(l->others, wall);
        free(l->ns);
        l->ns = NULL;
    }
    p->lane_count = 0;
}

static rocl_status pass_edge(queues *q, process_sweep *p, const rocl_sort_record *rec,
                             rocl_error *err)
{
    const int64_t time = (int64_t)rec->key[1];
    lane *l = &q->lanes[rec->key[3]];
    p->busy += p->now ? time - p->since : 0;
    p->since = time;
    if (!l->swept) {
        if (!ROCL_GROW(p->lanes, p->lane_cap, p->lane_count + 1) || !ROCL_GROW(l->ns, l->ns_cap, 1))
            return rocl_fail_memory(err);
        p->lanes[p->lane_count++] = (uint32_t)rec->key[3];
        l->swept = true;
        l->since = p->first;
        l->most_at = p->first;
    }
    pass_time(l, time);
    if (rec->key[2] == ENDS) {
        l->now--;
        p->now--;
        return ROCL_OK;
    }
    p->now++;
    if (++l->now > l->most) {
        l->most = l->now;
        l->most_at = time;
        if (l->most <= LENGTHS && !ROCL_GROW(l->ns, l->ns_cap, (size_t)l->most + 1))
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

static rocl_status sweep_edges(queues *q, rocl_error *err)
{
    process_sweep p = {.process = UINT64_MAX};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(q->edges, err);
    while (rocl_next_record(q->edges, &rec, &st, err)) {
        if (rec.key[0] != p.process) {
            end_process(q, &p);
            p.process = rec.key[0];
            p.first = p.since = (int64_t)rec.key[1];
            p.busy = 0;
        }
        st = pass_edge(q, &p, &rec, err);
    }
    if (st == ROCL_OK)
        end_process(q, &p);
    free(p.lanes);
    rocl_collector_free_sorter(&q->c, &q->edges);
    return st;
}

/* ---- delays ---------------------------------------------------------------------------------- */

/* why: a cause, or WHOLE. */
static rocl_status add_delay(queues *q, unsigned why, int64_t ns, rocl_error *err)
{
    return rocl_percentiles_add(q->delays, 0, why, ns, err);
}

/* Classifies the rest of a delay after the time in which the GPU was busy. */
static rocl_status add_rest(queues *q, cause rest, int64_t busy, int64_t ns, rocl_error *err)
{
    rocl_status st = busy ? add_delay(q, CAUSE_GPU, busy, err) : ROCL_OK;
    if (rest == CAUSE_DISPATCH && ns - busy > ROCL_DISPATCH_NS)
        rest = CAUSE_DEPENDENCY;
    return st == ROCL_OK && ns > busy ? add_delay(q, rest, ns - busy, err) : st;
}

/* In the third word of a key of `asked`; a stretch ends before the next of its lane begins. */
enum { RUNS, TO, FROM };

/* until: end of all work before it in its lane, INT64_MIN: there was none. */
static rocl_status cut_delay(queues *q, uint64_t of, uint64_t gpu, int64_t returned, int64_t start,
                             int64_t until, rocl_error *err)
{
    const int64_t delay = start > returned ? start - returned : 0;
    const cause rest = until > returned ? CAUSE_DISPATCH : CAUSE_LAUNCH;
    rocl_status st = add_delay(q, WHOLE, delay, err);
    if (st != ROCL_OK || !delay)
        return st;
    int64_t from = until > returned ? until : returned;
    from = from < start ? from : start;
    if (from > returned)
        st = add_delay(q, CAUSE_QUEUE, from - returned, err);
    if (st != ROCL_OK || from == start)
        return st;
    if (!gpu || q->gpu_lane[gpu - 1] != UINT64_MAX)
        return add_rest(q, rest, 0, start - from, err);
    /* The GPU works for others as well: how long it did so is asked. */
    const uint64_t asked_from[4] = {gpu - 1, (uint64_t)from, FROM, of};
    const uint64_t asked_to[4] = {gpu - 1, (uint64_t)start, TO, of};
    const uint64_t numbers[] = {rest, (uint64_t)(start - from)};
    st = rocl_sorter_add(q->asked, 0, asked_from, NULL, 0, err);
    return st == ROCL_OK ? rocl_add_numbers(q->asked, 0, asked_to, numbers, 2, err) : st;
}

static rocl_status sweep_runs(queues *q, rocl_error *err)
{
    uint64_t of = 0;
    int64_t until = INT64_MIN;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(q->runs, err);
    while (rocl_next_record(q->runs, &rec, &st, err)) {
        const int64_t start = (int64_t)rec.key[1], end = (int64_t)rec.key[2];
        uint64_t v[4]; /* GPUs, whether it is the first of its call, return of that */
        rocl_read_numbers(&rec, v, 4);
        until = rec.key[0] == of ? until : INT64_MIN;
        of = rec.key[0];
        for (unsigned i = 0; i < 2 && st == ROCL_OK; i++)
            if (v[i] && q->gpu_lane[v[i] - 1] == UINT64_MAX) {
                const uint64_t key[4] = {v[i] - 1, (uint64_t)start, RUNS, (uint64_t)end};
                st = rocl_sorter_add(q->asked, 0, key, NULL, 0, err);
            }
        if (st == ROCL_OK && v[2])
            st = cut_delay(q, of, v[0], (int64_t)v[3], start, until, err);
        until = end > until ? end : until;
    }
    rocl_collector_free_sorter(&q->c, &q->runs);
    return st;
}

/* A lane asks for one stretch of time at once: the next begins when its work has ended. */
static rocl_status sweep_gpus(queues *q, rocl_error *err)
{
    rocl_cover busy = {.until = INT64_MIN};
    uint64_t gpu = UINT64_MAX;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(q->asked, err);
    while (rocl_next_record(q->asked, &rec, &st, err)) {
        const int64_t time = (int64_t)rec.key[1];
        uint64_t v[2]; /* cause of the rest, length */
        if (rec.key[0] != gpu)
            busy = (rocl_cover){.until = INT64_MIN};
        gpu = rec.key[0];
        if (rec.key[2] == RUNS) {
            rocl_cover_extend(&busy, time, (int64_t)rec.key[3]);
            continue;
        }
        lane *l = &q->lanes[rec.key[3]];
        if (rec.key[2] == FROM) {
            l->asked = rocl_cover_before(&busy, time);
            continue;
        }
        rocl_read_numbers(&rec, v, 2);
        st =
            add_rest(q, (cause)v[0], rocl_cover_before(&busy, time) - l->asked, (int64_t)v[1], err);
    }
    rocl_collector_free_sorter(&q->c, &q->asked);
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define CELL(field) ROCL_CELL(lane, field)

static const rocl_column length_columns[] = {
    ROCL_LANE_COLUMNS(lane, name, "Stream or queue"),
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, CELL(kernels)},
    {"copies", "Copies", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM | ROCL_MINOR, CELL(copies)},
    {"unlinked", "Without call", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM | ROCL_MINOR,
     CELL(unlinked)},
    {"wall_ns", "Wall", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(wall)},
    {"most", "Most", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(most)},
    {"most_at_ns", "First at", ROCL_UNIT_TIME, ROCL_MINOR, CELL(most_at)},
    {"most_ns", "For", ROCL_UNIT_NS, ROCL_MINOR, CELL(most_ns)},
    {"mean", "Mean", ROCL_UNIT_NUMBER, ROCL_ALWAYS, CELL(mean)},
    {"median", "Median", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(median)},
    {"empty_ns", "Empty", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(empty)},
    {"empty_percent", "Empty %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, CELL(empty_percent)},
    {"others_ns", "Others have work", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(others)},
    {"one_ns", "One", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(one)},
    {"full_ns", "1024 and more", ROCL_UNIT_NS, ROCL_MINOR, CELL(full)},
};

/* One cause of delays. */
typedef struct cause_row {
    const char *cause;
    rocl_distribution delay;
    double percent;
} cause_row;

#undef CELL
#define CELL(field) ROCL_CELL(cause_row, field)

static const rocl_column cause_columns[] = {
    {"cause", "Cause", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(cause)},
    {"count", "Count", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, CELL(delay.taken)},
    {"percent", "Of delays %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, CELL(percent)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_SUM, CELL(delay.total)},
    {"average_ns", "Average", ROCL_UNIT_NS, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_average, cause_row, delay)},
    {"min_ns", "Min", ROCL_UNIT_NS, ROCL_MINOR, CELL(delay.min)},
    {"median_ns", "Median", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(delay.median)},
    {"p90_ns", "P90", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(delay.p90)},
    {"p99_ns", "P99", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(delay.p99)},
    {"max_ns", "Max", ROCL_UNIT_NS, ROCL_IN_REST, CELL(delay.max)},
};

static const rocl_table_def length_table = {ROCL_TAB(STREAMS), "queue_lengths", "Outstanding work",
                                            ROCL_COLUMNS(length_columns)};
static const rocl_table_def cause_table = {
    ROCL_TAB(LAUNCH), "delay_causes", "Delays of launches by cause", ROCL_COLUMNS(cause_columns)};
/* By the time that they have work. */
static int compare_lanes(const void *a, const void *b, void *ctx)
{
    const queues *q = ctx;
    const lane *l = &q->lanes[*(const uint32_t *)a], *m = &q->lanes[*(const uint32_t *)b];
    const int64_t x = l->wall - l->empty, y = m->wall - m->empty;
    const int c = rocl_compare_values(
        q->c.options->sort,
        &(rocl_sort_values){x, (int64_t)l->most, l->kernels + l->copies, l->mean},
        &(rocl_sort_values){y, (int64_t)m->most, m->kernels + m->copies, m->mean});
    return c ? c : rocl_compare_lanes(&l->key, &l->name, &m->key, &m->name);
}

static void add_lane(void *into, const void *from)
{
    lane *sum = into;
    const lane *l = from;
    sum->kernels += l->kernels;
    sum->copies += l->copies;
    sum->unlinked += l->unlinked;
    sum->most = l->most > sum->most ? l->most : sum->most;
}

static rocl_status put_causes(queues *q, rocl_tables *out, rocl_error *err)
{
    rocl_distribution all;
    rocl_status st = rocl_percentiles_describe(q->delays, WHOLE, &all, err);
    int64_t sum = 0;
    const rocl_report_rows r = rocl_begin_table(&q->c, out, &cause_table, 0);
    rocl_set_note(&r, "parts of the time from the return of a call to the start of its first work");
    for (unsigned i = 0; i < CAUSES && st == ROCL_OK; i++) {
        cause_row row = {.cause = cause_names[i]};
        st = rocl_percentiles_describe(q->delays, i, &row.delay, err);
        row.percent = rocl_percent(row.delay.total, all.total);
        sum = rocl_add_saturated(sum, row.delay.total);
        if (row.delay.taken)
            rocl_add_row(&r, &row);
    }
    if (st == ROCL_OK && sum != all.total)
        st = rocl_fail(err, ROCL_INTERNAL, "causes of delays do not add up");
    return st;
}

static rocl_status put_lengths(queues *q, rocl_tables *out, rocl_error *err)
{
    const rocl_report_rows r =
        rocl_begin_table(&q->c, out, &length_table, rocl_lane_conditions(q->c.trace));
    const size_t n = q->lane_count - 1;
    lane *rows = calloc(q->lane_count, sizeof *rows);
    if (!rows)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        rows[i] = q->lanes[q->order[i]];
    if (q->unlinked)
        rocl_set_note(&r,
                      "the calls of %llu kernels and copies are not in the trace: they count "
                      "from their start",
                      (unsigned long long)q->unlinked);
    rocl_add_top_rows(&r, rows, n, sizeof *rows, add_lane);
    free(rows);
    return ROCL_OK;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_queues(void *self, rocl_error *err)
{
    queues *q = self;
    const rocl_trace *t = q->c.trace;
    q->c.needs_calls = true;
    q->keys = rocl_strings_new();
    q->work = rocl_collector_sorter(&q->c, 4);
    q->edges = rocl_collector_sorter(&q->c, 4);
    q->runs = rocl_collector_sorter(&q->c, 4);
    q->asked = rocl_collector_sorter(&q->c, 4);
    q->delays = rocl_percentiles_new(t->space, t->opt.jobs);
    q->gpu_lane = calloc(t->gpu_count + 1, sizeof *q->gpu_lane);
    if (!q->keys || !q->work || !q->edges || !q->runs || !q->asked || !q->delays || !q->gpu_lane)
        return rocl_fail_memory(err);
    return ROCL_OK;
}

static rocl_status finish_queues(void *self, rocl_tables *out, rocl_error *err)
{
    queues *q = self;
    rocl_collector_free_sorter(&q->c, &q->work);
    for (uint32_t i = 1; i < q->lane_count; i++) {
        q->lanes[i].name = rocl_name_lane(q->c.trace, &q->lanes[i].key);
        q->order[i - 1] = i;
    }
    rocl_status st = sweep_edges(q, err);
    if (st == ROCL_OK)
        st = sweep_runs(q, err);
    if (st == ROCL_OK)
        st = sweep_gpus(q, err);
    if (st != ROCL_OK)
        return st;
    qsort_r(q->order, q->lane_count - 1, sizeof *q->order, compare_lanes, q);
    st = put_lengths(q, out, err);
    if (st == ROCL_OK)
        st = put_causes(q, out, err);
    return st;
}

static void close_queues(void *self)
{
    queues *q = self;
    rocl_strings_free(q->keys);
    rocl_percentiles_free(q->delays);
    for (size_t i = 0; q->lanes && i < q->lane_count; i++)
        free(q->lanes[i].ns);
    free(q->lanes);
    free(q->order);
    free(q->gpu_lane);
}

const rocl_collector_def rocl_queues_collector = {
    .tables = (const rocl_table_def *const[]){&length_table, &cause_table, NULL},
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(queues),
    .slow = true,
    .open = open_queues,
    .add_batch = add_queues_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_queues,
    .close = close_queues,
};
