/* What each GPU did when: its kernels, copies and collective kernels as sets of time, for the
 * report on overlap, and the gaps in their union, for that on gaps (gaps.c); the latter also for
 * lanes, which are what one stream or one queue of a process did on a GPU. A set's measure is taken
 * in one sweep by start: a piece is added as far as it reaches beyond what the set has covered.
 * Everything else follows from unions of sets:
 *
 *     both         = compute + copy - (compute or copy)
 *     exposed copy = all - (compute or communication)
 *     wall         = compute + exposed communication + exposed copy + idle
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/gaps.h"
#include "analysis/activity.h"
#include "analysis/percentiles.h"
#include "analysis/shares.h"
#include "base/array.h"

/* How long how many kernels ran at once. */
#define LEVELS 64 /* this many or more are the last level */

typedef struct levels {
    int64_t now, time; /* that run, since when */
    int64_t ns[LEVELS + 1];
} levels;

/* A GPU, or a lane, while it is swept. */
typedef struct sweep {
    uint64_t track;
    rocl_cover covers[ROCL_UNIONS];
    levels levels;
    int64_t first, last;
    uint64_t kernels, copies, communications;
} sweep;

typedef struct busy {
    rocl_collector c;
    bool lanes;                           /* sweeps are of streams and queues, not of GPUs */
    uint64_t *first_stream, *first_queue; /* by capture: number of its first one */
    rocl_sorter *sorter;                  /* events by track and start */
    rocl_sorter *ends;                    /* of kernels, by track; NULL: levels are not counted */
    uint64_t end[2];                      /* track and time of the end that comes next */
    bool more_ends;
    rocl_ids *parts; /* by worker: the part of a kernel's name */
    sweep *sweeps;   /* of tracks that did anything, in their order */
    size_t sweep_count, sweep_cap;
    rocl_gaps *gaps; /* NULL: not wanted */
    bool swept;
    rocl_shares shares; /* of a team: GPUs */
    unsigned asked;     /* of a team, on rank 0: the round */
} busy;

/* ---- tracks ---------------------------------------------------------------------------------- */

/* What a sweep is of, as a number whose order is that of the rows: GPUs; of lanes by GPU, streams
 * before queues. Bits of a lane: 63..33 GPU, 32 is it a queue, 31..0 stream or queue, which are
 * counted through all captures. */
#define QUEUE_BIT (UINT64_C(1) << 32)
#define GPU_SHIFT 33

static rocl_status number_lanes(busy *b, rocl_error *err)
{
    size_t n = b->c.trace->capture_count;
    b->first_stream = calloc(n + 1, sizeof *b->first_stream);
    b->first_queue = calloc(n + 1, sizeof *b->first_queue);
    if (!b->first_stream || !b->first_queue)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        const rocl_capture *c = &b->c.trace->captures[i]->pub;
        b->first_stream[i + 1] = b->first_stream[i] + c->stream_count;
        b->first_queue[i + 1] = b->first_queue[i] + c->queue_count;
    }
    if (b->first_stream[n] >= QUEUE_BIT || b->first_queue[n] >= QUEUE_BIT)
        return rocl_fail(err, ROCL_INTERNAL, "too many streams or queues");
    return ROCL_OK;
}

static rocl_gap_track describe_track(const busy *b, uint64_t track)
{
    rocl_gap_track p = {
        .gpu = &b->c.trace->gpus[b->lanes ? track >> GPU_SHIFT : track], .pid = -1, .order = track};
    if (!b->lanes)
        return p;
    bool queue = track & QUEUE_BIT;
    const uint64_t *first = queue ? b->first_queue : b->first_stream;
    uint64_t at = track & (QUEUE_BIT - 1);
    size_t i = 0;
    while (at >= first[i + 1])
        i++;
    const rocl_capture *c = &b->c.trace->captures[i]->pub;
    const rocl_queue *lane = queue ? &c->queues[at - first[i]] : &c->streams[at - first[i]];
    if (lane->process < c->process_count)
        p.pid = c->processes[lane->process].pid;
    p.lane = queue ? "queue" : "stream";
    p.name = lane->label;
    return p;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* What all kinds of work say. */
typedef struct work {
    const rocl_event *e;
    rocl_kind kind;
    rocl_activity part;
    uint32_t queue, stream;
} work;

static rocl_status add_to_track(busy *b, unsigned worker, const rocl_capture *c, const work *w,
                                uint64_t track, rocl_error *err)
{
    const uint64_t key[4] = {track, (uint64_t)w->e->start, (uint64_t)w->e->end,
                             rocl_row_word(w->e->id, w->kind) ^ (uint64_t)c->index << 48};
    const uint64_t numbers[] = {w->part, w->e->name, rocl_process_word(c, w->e), w->e->stack_id};
    if (b->ends && w->part != ROCL_ACTIVITY_COPY) {
        const uint64_t end[2] = {key[0], key[2]};
        rocl_status st = rocl_sorter_add(b->ends, worker, end, NULL, 0, err);
        if (st != ROCL_OK)
            return st;
    }
    /* Only gaps look up calls. */
    return rocl_add_numbers(b->sorter, worker, key, numbers, b->gaps ? 4 : 2, err);
}

static rocl_status add_busy_batch(void *self, unsigned worker, const rocl_batch *batch,
                                  rocl_error *err)
{
    busy *b = self;
    const rocl_capture *c = batch->capture;
    rocl_status st = b->gaps ? rocl_gaps_add_batch(b->gaps, worker, batch, err) : ROCL_OK;
    for (size_t i = 0; i < batch->count && st == ROCL_OK && batch->kind != ROCL_REGION; i++) {
        const rocl_gpu *gpus[2];
        work w;
        if (batch->kind == ROCL_DISPATCH) {
            const rocl_dispatch *d = &batch->dispatches[i];
            w = (work){&d->e, ROCL_DISPATCH, ROCL_ACTIVITY_COMPUTE, d->queue, d->stream};
            if (!rocl_find_activity(b->c.trace, &b->parts[worker], d->e.name, &w.part))
                return rocl_fail_memory(err);
        } else {
            const rocl_copy *k = &batch->copies[i];
            w = (work){&k->e, ROCL_COPY, ROCL_ACTIVITY_COPY, k->queue, k->stream};
        }
        const unsigned n = rocl_gpus_of(batch, i, gpus);
        for (unsigned k = 0; k < n && st == ROCL_OK; k++) {
            const uint64_t gpu = (uint64_t)(gpus[k] - b->c.trace->gpus), lanes = gpu << GPU_SHIFT;
            rocl_shares_note(&b->shares, worker, gpu);
            if (!b->lanes)
                st = add_to_track(b, worker, c, &w, gpu, err);
            else if (w.stream < c->stream_count)
                st = add_to_track(b, worker, c, &w, lanes | (b->first_stream[c->index] + w.stream),
                                  err);
            if (b->lanes && st == ROCL_OK && w.queue < c->queue_count)
                st = add_to_track(b, worker, c, &w,
                                  lanes | QUEUE_BIT | (b->first_queue[c->index] + w.queue), err);
        }
    }
    return st;
}

/* ---- how many kernels ran at once ------------------------------------------------------------ */

static rocl_status read_next_end(busy *b, rocl_error *err)
{
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_next(b->ends, &rec, &b->more_ends, err);
    if (st == ROCL_OK && b->more_ends)
        memcpy(b->end, rec.key, sizeof b->end);
    return st;
}

/* A kernel of no length may end before its start is seen, at the same time: no time passes with a
 * negative number. */
static void pass_time(levels *l, int64_t until)
{
    if (until > l->time)
        l->ns[l->now < LEVELS ? l->now : LEVELS] += until - l->time;
    l->time = until;
}

/* The ends of kernels up to a time come before what starts then. */
static rocl_status pass_ends(busy *b, sweep *s, int64_t until, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && b->more_ends && b->end[0] == s->track && (int64_t)b->end[1] <= until) {
        pass_time(&s->levels, (int64_t)b->end[1]);
        s->levels.now--;
        st = read_next_end(b, err);
    }
    return st;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static rocl_status begin_track(busy *b, uint64_t track, rocl_error *err)
{
    const rocl_gap_track t = describe_track(b, track);
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && b->more_ends &&
           b->end[0] < track) /* of a track that is not swept here */
        st = read_next_end(b, err);
    if (st != ROCL_OK)
        return st;
    if (!ROCL_GROW(b->sweeps, b->sweep_cap, b->sweep_count + 1))
        return rocl_fail_memory(err);
    sweep *s = &b->sweeps[b->sweep_count++];
    *s = (sweep){.track = track};
    rocl_covers_begin(s->covers);
    return b->gaps ? rocl_gaps_begin_track(b->gaps, &t, err) : ROCL_OK;
}

static rocl_status end_track(busy *b, rocl_error *err)
{
    sweep *s = b->sweep_count ? &b->sweeps[b->sweep_count - 1] : NULL;
    if (!s || !b->ends)
        return ROCL_OK;
    rocl_status st = pass_ends(b, s, INT64_MAX, err);
    pass_time(&s->levels, s->last);
    return st;
}

static rocl_status sweep_work(busy *b, sweep *s, rocl_activity p, const rocl_gpu_work *w,
                              rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (!(s->kernels + s->copies))
        s->first = s->last = s->levels.time = w->start;
    if (b->ends) {
        st = pass_ends(b, s, w->start, err);
        pass_time(&s->levels, w->start);
        s->levels.now += p != ROCL_ACTIVITY_COPY;
    }
    if (st == ROCL_OK && b->gaps)
        st = rocl_gaps_add_work(b->gaps, w, err);
    s->last = w->end > s->last ? w->end : s->last;
    s->copies += p == ROCL_ACTIVITY_COPY;
    s->kernels += p != ROCL_ACTIVITY_COPY;
    s->communications += p == ROCL_ACTIVITY_COMMUNICATION;
    rocl_covers_extend(s->covers, p, w->start, w->end);
    return st;
}

/* Work as stored in the sorter. */
typedef struct sorted_work {
    uint64_t track;
    rocl_activity part;
    rocl_gpu_work w;
} sorted_work;

static sorted_work read_work(const rocl_sort_record *rec)
{
    uint64_t v[4];
    rocl_read_numbers(rec, v, 4);
    return (sorted_work){rec->key[0],
                         (rocl_activity)v[0],
                         {v[0] == ROCL_ACTIVITY_COPY, (int64_t)rec->key[1], (int64_t)rec->key[2],
                          (uint32_t)v[1], v[2], v[3], rec->key[3] ^ v[2] >> 32 << 48}};
}

static void put_work(const busy *b, const rocl_sort_record *rec, rocl_put *to);

/* to: gets the work of tracks that rank 0 sweeps; NULL: there are none. */
static rocl_status sweep_all(busy *b, rocl_put *to, rocl_error *err)
{
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(b->sorter, err);
    b->swept = true;
    if (st == ROCL_OK && b->ends)
        st = rocl_sorter_start(b->ends, err);
    if (st == ROCL_OK && b->ends)
        st = read_next_end(b, err);
    while (rocl_next_record(b->sorter, &rec, &st, err)) {
        if (to && b->shares.sent[rec.key[0]]) {
            put_work(b, &rec, to);
            st = rocl_put_piece(to, err);
            continue;
        }
        const sorted_work s = read_work(&rec);
        if (!b->sweep_count || b->sweeps[b->sweep_count - 1].track != s.track) {
            st = end_track(b, err);
            if (st == ROCL_OK)
                st = begin_track(b, s.track, err);
        }
        if (st == ROCL_OK)
            st = sweep_work(b, &b->sweeps[b->sweep_count - 1], s.part, &s.w, err);
    }
    return st == ROCL_OK ? end_track(b, err) : st;
}

/* ---- overlap --------------------------------------------------------------------------------- */

typedef struct overlap_row {
    const rocl_gpu *gpu;
    int64_t wall, all, compute, communication, exposed_communication, copy, both, exposed_copy,
        idle;
    double busy_percent, hidden_copy_percent;
    uint64_t kernels, copies, communications;
    /* Of communication: */
    int64_t hidden;
    double wall_percent, exposed_percent, hidden_percent;
} overlap_row;

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(overlap_row, field)
#define SUM(field)  ROCL_SUM, ROCL_CELL(overlap_row, field)

static const rocl_column overlap_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"wall_ns", "Wall", ROCL_UNIT_NS, SUM(wall)},
    {"busy_ns", "Busy", ROCL_UNIT_NS, SUM(all)},
    {"busy_percent", "Busy %", ROCL_UNIT_PERCENT, CELL(busy_percent)},
    {"compute_ns", "Compute", ROCL_UNIT_NS, SUM(compute)},
    {"exposed_communication_ns", "Exposed comm.", ROCL_UNIT_NS, SUM(exposed_communication)},
    {"copy_ns", "Copy", ROCL_UNIT_NS, ROCL_SUM | ROCL_MINOR, ROCL_CELL(overlap_row, copy)},
    {"both_ns", "Both", ROCL_UNIT_NS, ROCL_SUM | ROCL_MINOR, ROCL_CELL(overlap_row, both)},
    {"exposed_copy_ns", "Exposed copy", ROCL_UNIT_NS, SUM(exposed_copy)},
    {"hidden_copy_percent", "Hidden copy %", ROCL_UNIT_PERCENT, ROCL_MINOR,
     ROCL_CELL(overlap_row, hidden_copy_percent)},
    {"idle_ns", "Idle", ROCL_UNIT_NS, SUM(idle)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_SUM | ROCL_MINOR, ROCL_CELL(overlap_row, kernels)},
    {"copies", "Copies", ROCL_UNIT_COUNT, ROCL_SUM | ROCL_MINOR, ROCL_CELL(overlap_row, copies)},
};

static const rocl_column communication_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"communication_ns", "Communication", ROCL_UNIT_NS, SUM(communication)},
    {"wall_percent", "Of wall %", ROCL_UNIT_PERCENT, CELL(wall_percent)},
    {"exposed_ns", "Exposed", ROCL_UNIT_NS, SUM(exposed_communication)},
    {"exposed_percent", "Exposed %", ROCL_UNIT_PERCENT, CELL(exposed_percent)},
    {"hidden_ns", "Hidden", ROCL_UNIT_NS, SUM(hidden)},
    {"hidden_percent", "Hidden %", ROCL_UNIT_PERCENT, CELL(hidden_percent)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, SUM(communications)},
};

typedef struct level_row {
    const rocl_gpu *gpu;
    uint64_t kernels;
    int64_t time;
    double percent;
} level_row;

#undef CELL
#undef SUM
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(level_row, field)
#define SUM(field)  ROCL_SUM, ROCL_CELL(level_row, field)

static const rocl_column level_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"kernels", "Kernels at once", ROCL_UNIT_COUNT, CELL(kernels)},
    {"time_ns", "Time", ROCL_UNIT_NS, SUM(time)},
    {"percent", "Of wall %", ROCL_UNIT_PERCENT, CELL(percent)},
};

static const rocl_table_def overlap_table = {&rocl_overlap_report.tab, "overlap",
                                             "Compute and copies per GPU",
                                             ROCL_COLUMNS(overlap_columns)};
static const rocl_table_def communication_table = {&rocl_overlap_report.tab, "communication",
                                                   "Communication per GPU",
                                                   ROCL_COLUMNS(communication_columns)};
static const rocl_table_def level_table = {&rocl_overlap_report.tab, "concurrency",
                                           "Kernels at once per GPU", ROCL_COLUMNS(level_columns)};

const rocl_report_def rocl_overlap_report = {
    "overlap",
    {"overlap", "Overlap"},
    "for each GPU: how long it computed, copied, did both, or was idle",
    (const rocl_table_def *const[]){&overlap_table, &communication_table, &level_table, NULL}};

/* The union of all kernels without that of computing kernels is communication alone. */
static rocl_status measure_overlap(const busy *b, const sweep *s, overlap_row *r, rocl_error *err)
{
    int64_t kernels = s->covers[ROCL_UNION_KERNELS].measure, at_once = 0;
    *r = (overlap_row){.gpu = &b->c.trace->gpus[s->track],
                       .wall = s->last - s->first,
                       .all = s->covers[ROCL_UNION_ALL].measure,
                       .compute = s->covers[ROCL_UNION_COMPUTE].measure,
                       .communication = s->covers[ROCL_UNION_COMMUNICATION].measure,
                       .copy = s->covers[ROCL_UNION_COPY].measure,
                       .kernels = s->kernels,
                       .copies = s->copies,
                       .communications = s->communications};
    r->exposed_communication = kernels - r->compute;
    r->exposed_copy = r->all - kernels;
    r->both = r->copy - r->exposed_copy;
    r->idle = r->wall - r->all;
    r->hidden = r->communication - r->exposed_communication;
    r->busy_percent = rocl_percent(r->all, r->wall);
    r->hidden_copy_percent = rocl_percent(r->both, r->copy);
    r->wall_percent = rocl_percent(r->communication, r->wall);
    r->exposed_percent = rocl_percent(r->exposed_communication, r->wall);
    r->hidden_percent = rocl_percent(r->hidden, r->communication);
    if (r->idle < 0 || r->both < 0 ||
        r->compute + r->exposed_communication + r->exposed_copy + r->idle != r->wall)
        return rocl_fail(err, ROCL_INTERNAL, "busy and idle time do not add up");
    if (r->communications && (r->exposed_communication < 0 || r->hidden < 0))
        return rocl_fail(err, ROCL_INTERNAL, "exposed communication is longer than all of it");
    for (unsigned i = 0; i <= LEVELS; i++)
        at_once += s->levels.ns[i];
    if (at_once != r->wall || s->levels.ns[0] != r->wall - kernels)
        return rocl_fail(err, ROCL_INTERNAL, "times of kernels at once do not add up");
    return ROCL_OK;
}

static rocl_status put_overlap(const busy *b, rocl_tables *out, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    overlap_row *rows = calloc(b->sweep_count + 1, sizeof *rows);
    if (!rows)
        return rocl_fail_memory(err);
    rocl_report_rows r = rocl_begin_table(&b->c, out, &overlap_table, 0);
    for (size_t i = 0; i < b->sweep_count && st == ROCL_OK; i++) {
        st = measure_overlap(b, &b->sweeps[i], &rows[i], err);
        rocl_add_row(&r, &rows[i]);
    }
    if (!b->c.options->brief) {
        r = rocl_begin_table(&b->c, out, &communication_table, 0);
        for (size_t i = 0; i < b->sweep_count; i++)
            if (rows[i].communications)
                rocl_add_row(&r, &rows[i]);
        r = rocl_begin_table(&b->c, out, &level_table, 0);
        for (size_t i = 0; i < b->sweep_count; i++) {
            const int64_t *ns = b->sweeps[i].levels.ns;
            for (unsigned k = 0; k <= LEVELS; k++)
                if (ns[k])
                    rocl_add_row(
                        &r, &(level_row){rows[i].gpu, k, ns[k], rocl_percent(ns[k], rows[i].wall)});
            if (ns[LEVELS])
                rocl_set_note(&r, "64 stands for 64 and more");
        }
    }
    free(rows);
    return st;
}

/* ---- the collectors -------------------------------------------------------------------------- */

static rocl_status open_sweeps(busy *b, rocl_error *err)
{
    rocl_trace *t = b->c.trace;
    b->sorter = rocl_collector_sorter(&b->c, 4);
    b->parts = calloc(t->opt.jobs, sizeof *b->parts);
    if (!b->sorter || !b->parts)
        return rocl_fail_memory(err);
    if (rocl_report_wanted(b->c.options, ROCL_REPORT_GAPS)) {
        b->c.kinds |= ROCL_BIT(ROCL_REGION);
        b->c.needs_calls = true;
        if (!(b->gaps = rocl_gaps_new(&b->c, b->lanes)))
            return rocl_fail_memory(err);
    }
    rocl_status st = ROCL_OK;
    if (!rocl_shares_open(&b->shares, b->c.trace->gpu_count, t->opt.jobs))
        st = rocl_fail_memory(err);
    return st;
}

static rocl_status open_busy(void *self, rocl_error *err)
{
    busy *b = self;
    if (rocl_report_wanted(b->c.options, ROCL_REPORT_OVERLAP) &&
        !(b->ends = rocl_collector_sorter(&b->c, 2)))
        return rocl_fail_memory(err);
    return open_sweeps(b, err);
}

static rocl_status open_lanes(void *self, rocl_error *err)
{
    busy *b = self;
    b->lanes = true;
    rocl_status st = open_sweeps(b, err);
    return st == ROCL_OK ? number_lanes(b, err) : st;
}

static rocl_status look_up_calls(void *self, rocl_calls *calls, rocl_error *err)
{
    busy *b = self;
    rocl_status st = b->swept ? ROCL_OK : sweep_all(b, NULL, err);
    return st == ROCL_OK ? rocl_gaps_look_up_calls(b->gaps, calls, err) : st;
}

/* Those of other ranks come behind our own. */
static int compare_sweeps(const void *a, const void *b)
{
    const sweep *x = a, *y = b;
    return (x->track > y->track) - (x->track < y->track);
}

static rocl_status finish_busy(void *self, rocl_tables *out, rocl_error *err)
{
    busy *b = self;
    rocl_status st = b->swept ? ROCL_OK : sweep_all(b, NULL, err);
    if (st == ROCL_OK && b->sweep_count)
        qsort(b->sweeps, b->sweep_count, sizeof *b->sweeps, compare_sweeps);
    if (st == ROCL_OK && b->ends)
        st = put_overlap(b, out, err);
    return st == ROCL_OK && b->gaps ? rocl_gaps_put_tables(b->gaps, out, err) : st;
}

static void close_busy(void *self)
{
    busy *b = self;
    free(b->first_stream);
    free(b->first_queue);
    free(b->sweeps);
    for (unsigned w = 0; b->parts && w < b->c.trace->opt.jobs; w++)
        rocl_ids_free(&b->parts[w]);
    free(b->parts);
    rocl_shares_close(&b->shares);
    rocl_gaps_free(b->gaps);
}

/* ---- of a team ------------------------------------------------------------------------------- */

/* A GPU whose work one rank has alone is swept there. Work of one that several ranks have, such as
 * processes that share it, comes to rank 0. A stream or a queue belongs to one process. */

enum {
    ASK_TRACKS, /* which GPUs had work; when processes ended */
    ASK_WORK,   /* GPUs of which rank 0 wants the work; all others are swept */
    ASK_CAUSES  /* of gaps */
};

static void put_work(const busy *b, const rocl_sort_record *rec, rocl_put *to)
{
    const sorted_work s = read_work(rec);
    rocl_put_number(to, s.track);
    rocl_put_number(to, s.part);
    rocl_put_signed(to, s.w.start);
    rocl_put_number(to, (uint64_t)(s.w.end - s.w.start));
    if (!b->gaps)
        return;
    rocl_put_text(to, s.w.name);
    rocl_put_number(to, s.w.process);
    rocl_put_number(to, s.w.stack_id);
    rocl_put_number(to, rec->key[3]);
}

static rocl_status take_work(busy *b, rocl_taken *from, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (!rocl_taken_all(from) && st == ROCL_OK) {
        uint64_t key[4] = {rocl_take_number(from)};
        uint64_t numbers[4] = {rocl_take_number(from)};
        key[1] = (uint64_t)rocl_take_signed(from);
        key[2] = key[1] + rocl_take_number(from);
        if (b->gaps) {
            numbers[1] = rocl_take_text(from);
            numbers[2] = rocl_take_number(from);
            numbers[3] = rocl_take_number(from);
            key[3] = rocl_take_number(from);
        }
        if (from->r.bad || key[0] >= b->c.trace->gpu_count || numbers[0] >= ROCL_ACTIVITIES ||
            numbers[2] >> 32 >= b->c.trace->capture_count)
            return rocl_team_bad_message(err);
        if (b->ends && numbers[0] != ROCL_ACTIVITY_COPY)
            st = rocl_sorter_add(b->ends, 0, (const uint64_t[]){key[0], key[2]}, NULL, 0, err);
        if (st == ROCL_OK)
            st = rocl_add_numbers(b->sorter, 0, key, numbers, b->gaps ? 4 : 2, err);
    }
    return st;
}

static void put_tracks(const busy *b, rocl_put *to)
{
    rocl_shares_put(&b->shares, to);
    if (b->gaps)
        rocl_gaps_put_ends(b->gaps, to);
}

static rocl_status take_tracks(busy *b, unsigned rank, rocl_taken *from, rocl_error *err)
{
    const rocl_status st = rocl_shares_take(&b->shares, rank, from, err);
    return st == ROCL_OK && b->gaps ? rocl_gaps_take_ends(b->gaps, from, err) : st;
}

static rocl_status answer_work(busy *b, rocl_taken *question, rocl_put *to, rocl_error *err)
{
    rocl_shares_take_shared(&b->shares, question);
    return sweep_all(b, b->lanes ? NULL : to, err);
}

/* Lanes are identified by their capture, and stream or queue, as numbers of lanes differ between
 * ranks. */
static void put_track(const busy *b, uint64_t track, rocl_put *to)
{
    rocl_put_number(to, b->lanes ? track >> GPU_SHIFT : track);
    if (!b->lanes)
        return;
    const bool queue = track & QUEUE_BIT;
    const uint64_t *first = queue ? b->first_queue : b->first_stream;
    const uint64_t at = track & (QUEUE_BIT - 1);
    size_t i = 0;
    while (at >= first[i + 1])
        i++;
    rocl_put_number(to, queue);
    rocl_put_number(to, i);
    rocl_put_number(to, at - first[i]);
}

static uint64_t take_track(const busy *b, rocl_taken *from)
{
    const uint64_t gpu = rocl_take_number(from);
    from->r.bad |= gpu >= b->c.trace->gpu_count;
    if (!b->lanes || from->r.bad)
        return gpu;
    const bool queue = rocl_take_number(from);
    const uint64_t capture = rocl_take_number(from), at = rocl_take_number(from);
    const uint64_t *first = queue ? b->first_queue : b->first_stream;
    from->r.bad |= capture >= b->c.trace->capture_count;
    from->r.bad |= !from->r.bad && at >= first[capture + 1] - first[capture];
    return from->r.bad ? 0 : gpu << GPU_SHIFT | (queue ? QUEUE_BIT : 0) | (first[capture] + at);
}

static void put_sweep(const sweep *s, rocl_put *to)
{
    for (unsigned i = 0; i < ROCL_UNIONS; i++)
        rocl_put_number(to, (uint64_t)s->covers[i].measure);
    for (unsigned i = 0; i <= LEVELS; i++)
        if (s->levels.ns[i]) {
            rocl_put_number(to, i + 1);
            rocl_put_number(to, (uint64_t)s->levels.ns[i]);
        }
    rocl_put_number(to, 0);
    rocl_put_signed(to, s->first);
    rocl_put_number(to, (uint64_t)(s->last - s->first));
    rocl_put_number(to, s->kernels);
    rocl_put_number(to, s->copies);
    rocl_put_number(to, s->communications);
}

static void take_sweep(sweep *s, rocl_taken *from)
{
    uint64_t level;
    for (unsigned i = 0; i < ROCL_UNIONS; i++)
        s->covers[i].measure = (int64_t)rocl_take_number(from);
    while ((level = rocl_take_number(from))) {
        const int64_t ns = (int64_t)rocl_take_number(from);
        if (level <= LEVELS + 1)
            s->levels.ns[level - 1] = ns;
    }
    s->first = rocl_take_signed(from);
    s->last = s->first + (int64_t)rocl_take_number(from);
    s->kernels = rocl_take_number(from);
    s->copies = rocl_take_number(from);
    s->communications = rocl_take_number(from);
}

/* The gaps of a track follow its sweep. */
static rocl_status put_sweeps(void *self, rocl_put *to, rocl_error *err)
{
    busy *b = self;
    rocl_status st = b->gaps ? rocl_gaps_find_causes(b->gaps, err) : ROCL_OK;
    if (st == ROCL_OK && b->gaps)
        rocl_gaps_put_causes(b->gaps, to);
    rocl_put_number(to, b->sweep_count);
    for (size_t i = 0; i < b->sweep_count && st == ROCL_OK; i++) {
        put_track(b, b->sweeps[i].track, to);
        put_sweep(&b->sweeps[i], to);
        if (b->gaps)
            rocl_gaps_put_track(b->gaps, i, to);
    }
    return st;
}

static rocl_status take_sweeps(void *self, unsigned rank, rocl_taken *from, rocl_error *err)
{
    busy *b = self;
    rocl_status st = b->gaps ? rocl_gaps_take_causes(b->gaps, from, err) : ROCL_OK;
    for (uint64_t n = rocl_take_number(from); n && st == ROCL_OK && !from->r.bad; n--) {
        if (!ROCL_GROW(b->sweeps, b->sweep_cap, b->sweep_count + 1))
            return rocl_fail_memory(err);
        sweep *s = &b->sweeps[b->sweep_count++];
        *s = (sweep){.track = take_track(b, from)};
        take_sweep(s, from);
        if (from->r.bad)
            return rocl_team_bad_message(err);
        const rocl_gap_track t = describe_track(b, s->track);
        if (b->gaps)
            st = rocl_gaps_take_track(b->gaps, rank, &t, from, err);
    }
    return st;
}

static rocl_status prepare_busy(void *self, unsigned round, rocl_error *err)
{
    return round == ASK_CAUSES ? sweep_all(self, NULL, err) : ROCL_OK; /* all work is here */
}

static rocl_status ask_busy(void *self, unsigned round, unsigned rank, rocl_put *to,
                            rocl_error *err)
{
    busy *b = self;
    b->asked = round;
    if (round >= ASK_CAUSES)
        return b->gaps ? rocl_gaps_ask_causes(b->gaps, ASK_CAUSES, rank, to, err) : ROCL_OK;
    rocl_put_number(to, round);
    if (round == ASK_WORK)
        rocl_shares_put_shared(&b->shares, to);
    return ROCL_OK;
}

static rocl_status answer_busy(void *self, rocl_taken *question, rocl_put *to, rocl_error *err)
{
    busy *b = self;
    switch (rocl_take_number(question)) {
    case ASK_TRACKS:
        put_tracks(b, to);
        return ROCL_OK;
    case ASK_WORK:
        return answer_work(b, question, to, err);
    default:
        return b->gaps ? rocl_gaps_take_questions(b->gaps, question, err)
                       : rocl_team_bad_message(err);
    }
}

static rocl_status hear_busy(void *self, unsigned rank, rocl_taken *answer, rocl_error *err)
{
    busy *b = self;
    return b->asked == ASK_TRACKS ? take_tracks(b, rank, answer, err) : take_work(b, answer, err);
}

static rocl_percentiles *samples_of(void *self)
{
    const busy *b = self;
    return b->gaps ? rocl_gaps_lengths(b->gaps) : NULL;
}

static const rocl_gather_def gather_busy = {.prepare = prepare_busy,
                                            .ask = ask_busy,
                                            .answer = answer_busy,
                                            .hear = hear_busy,
                                            .put = put_sweeps,
                                            .take = take_sweeps,
                                            .samples = samples_of};

/* ---- what is known of them ------------------------------------------------------------------- */

const rocl_collector_def rocl_busy_collector = {
    .reports = 1u << ROCL_REPORT_OVERLAP | 1u << ROCL_REPORT_GAPS,
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(busy),
    .open = open_busy,
    .add_batch = add_busy_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_busy,
    .close = close_busy,
    .gather = &gather_busy,
};

const rocl_collector_def rocl_lane_gaps_collector = {
    .reports = 1u << ROCL_REPORT_GAPS,
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(busy),
    .by_stream = true,
    .open = open_lanes,
    .add_batch = add_busy_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_busy,
    .close = close_busy,
    .gather = &gather_busy,
};
