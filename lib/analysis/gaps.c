/* The report on gaps: idle times of GPUs and lanes, from the end of all work so far to the start of
 * the next piece. The work that ends a gap looks up the call that launched it; if its class depends
 * on it, what that call's thread did since the gap began is looked up next. */
#include <stdlib.h>

#include "analysis/activity.h"
#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "analysis/host.h"
#include "analysis/lanes.h"
#include "analysis/percentiles.h"
#include "base/array.h"

enum { LONGEST_GAPS = 20, BRIEF_GAPS = 3, BUCKETS = 8 };

/* Why a GPU was idle; see rocstats-gaps(1) for the rules. */
typedef enum gap_class {
    GAP_HOST,       /* the call that ended it came late */
    GAP_SYNC,       /* the call was made in the gap: its thread waited when that began */
    GAP_LAUNCH,     /* the call was made in time, or took most of the gap until its work began */
    GAP_DEPENDENCY, /* the work had been given long before */
    GAP_COPY,       /* only between kernels: copies ran */
    GAP_UNKNOWN,    /* the call is not in the trace */
    GAP_CLASSES
} gap_class;

typedef struct gap {
    int64_t start, length;
    uint32_t before, after; /* texts */
    rocl_event_ref before_event, after_event;
    gap_class why;
    uint32_t call; /* text: that ended it; ROCL_NONE: not in the trace */
    uint32_t host; /* text: what its thread did meanwhile; ROCL_NONE: nothing in the trace */
    int64_t host_ns;
} gap;

typedef struct gap_sum {
    uint64_t count;
    int64_t total;
} gap_sum;

/* A GPU, or a lane: what one stream or one queue of a process did on it. */
typedef struct gap_track {
    const rocl_gpu *gpu;
    int64_t pid;      /* the lane's process; -1: unknown */
    const char *lane; /* "stream" or "queue" */
    uint32_t name;    /* text: of the stream or queue */
} gap_track;

typedef struct track_gaps {
    uint64_t number;
    gap_track track;
    bool any;
    int64_t first, last; /* the work between which they are */
    uint32_t last_name;  /* name of the piece that ends last so far */
    rocl_event_ref last_event;
    rocl_cover copies;
    bool marked;         /* `copied` is known */
    int64_t copied;      /* time in which copies ran, up to `last` */
    int64_t program_end; /* end of everything in the processes that gave it work */
    gap longest[LONGEST_GAPS];
    unsigned longest_count;
    gap_sum all, buckets[BUCKETS], classes[GAP_CLASSES];
} track_gaps;

typedef struct gaps {
    rocl_collector c;
    bool lanes;                           /* tracks are streams and queues, not GPUs */
    uint64_t *first_stream, *first_queue; /* by capture: number of its first one */
    rocl_sorter *work;                    /* kernels and copies by track and start */
    rocl_sorter *questions;               /* gaps by process and stack id, track, start */
    rocl_percentiles *lengths;            /* by track */
    rocl_host *host;
    uint32_t *first_end; /* by capture: the place of its first process; the last is the count */
    int64_t *ends;       /* by worker and process, and a place more in each capture for what has no
                          * process: of its last event; in the end those of worker 0 hold */
    track_gaps *tracks;  /* by number */
    size_t count, cap;
} gaps;

/* ---- tracks ---------------------------------------------------------------------------------- */

/* A number whose order is that of the rows: GPUs; lanes by GPU, streams before queues. Bits of a
 * lane: 63..33 GPU, 32 is it a queue, 31..0 stream or queue, which are counted through all
 * captures. */
#define QUEUE_BIT (UINT64_C(1) << 32)
#define GPU_SHIFT 33

static gap_track describe_track(const gaps *g, uint64_t number)
{
    gap_track p = {.gpu = &g->c.trace->gpus[g->lanes ? number >> GPU_SHIFT : number], .pid = -1};
    if (!g->lanes)
        return p;
    const bool queue = number & QUEUE_BIT;
    const uint64_t *first = queue ? g->first_queue : g->first_stream;
    const uint64_t at = number & (QUEUE_BIT - 1);
    size_t i = 0;
    while (at >= first[i + 1])
        i++;
    const rocl_capture *c = &g->c.trace->captures[i]->pub;
    const rocl_queue *lane = queue ? &c->queues[at - first[i]] : &c->streams[at - first[i]];
    if (lane->process < c->process_count)
        p.pid = c->processes[lane->process].pid;
    p.lane = queue ? "queue" : "stream";
    p.name = lane->label;
    return p;
}

/* ---- events ---------------------------------------------------------------------------------- */

static size_t end_count(const gaps *g)
{
    return g->first_end[g->c.trace->capture_count];
}

/* Where the last end of events of this process is kept. */
static size_t place_of_end(const gaps *g, size_t capture, uint32_t process)
{
    const uint32_t first = g->first_end[capture], last = g->first_end[capture + 1] - 1;
    return process < last - first ? first + process : last;
}

static rocl_status add_to_track(gaps *g, unsigned worker, const rocl_batch *b, const rocl_event *e,
                                uint64_t track, rocl_error *err)
{
    const uint64_t key[4] = {track, (uint64_t)e->start, (uint64_t)e->end,
                             rocl_row_word(e->id, b->kind) ^ (uint64_t)b->capture->index << 48};
    const uint64_t numbers[] = {e->name, rocl_process_word(b->capture, e), e->stack_id};
    return rocl_add_numbers(g->work, worker, key, numbers, 3, err);
}

static rocl_status add_gaps_batch(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    gaps *g = self;
    const rocl_capture *c = b->capture;
    int64_t *ends = &g->ends[worker * end_count(g)];
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        int64_t *end = &ends[place_of_end(g, c->index, e->process)];
        *end = e->end > *end ? e->end : *end;
        if (b->kind == ROCL_REGION) {
            st = rocl_host_add_call(g->host, worker, c, e, err);
            continue;
        }
        const rocl_gpu *gpus[2];
        const rocl_work_place at = rocl_work_place_of(b->kind, e);
        const unsigned n = rocl_gpus_of(b, i, gpus);
        for (unsigned k = 0; k < n && st == ROCL_OK; k++) {
            const uint64_t gpu = (uint64_t)(gpus[k] - g->c.trace->gpus), lanes = gpu << GPU_SHIFT;
            if (!g->lanes)
                st = add_to_track(g, worker, b, e, gpu, err);
            else if (at.stream < c->stream_count)
                st = add_to_track(g, worker, b, e, lanes | (g->first_stream[c->index] + at.stream),
                                  err);
            if (g->lanes && st == ROCL_OK && at.queue < c->queue_count)
                st = add_to_track(g, worker, b, e,
                                  lanes | QUEUE_BIT | (g->first_queue[c->index] + at.queue), err);
        }
    }
    return st;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* A kernel or a copy as the sweep meets it. */
typedef struct gpu_work {
    bool copy;
    int64_t start, end;
    uint32_t name;
    uint64_t process, stack_id; /* as of rocl_calls */
    rocl_event_ref event;
} gpu_work;

static int compare_lengths(const void *a, const void *b)
{
    return rocl_number_order(((const gap *)b)->length, ((const gap *)a)->length);
}

static void add_to_gap_sum(gap_sum *s, int64_t length)
{
    s->count++;
    s->total += length;
}

/* A gap that the work ends. */
static rocl_status add_gap(gaps *g, track_gaps *p, const gpu_work *w, rocl_error *err)
{
    const gap new_gap = {.start = p->last,
                         .length = w->start - p->last,
                         .before = p->last_name,
                         .after = w->name,
                         .before_event = p->last_event,
                         .after_event = w->event,
                         .why = GAP_UNKNOWN,
                         .call = ROCL_NONE,
                         .host = ROCL_NONE};
    int64_t length = new_gap.length, copied = rocl_cover_before(&p->copies, w->start) - p->copied;
    const uint64_t track = (uint64_t)(p - g->tracks);
    unsigned bucket = 0;
    if (length < g->c.options->min_gap)
        return ROCL_OK;
    for (int64_t limit = 1000; bucket < BUCKETS - 1 && length >= limit; limit *= 10)
        bucket++;
    add_to_gap_sum(&p->all, length);
    add_to_gap_sum(&p->buckets[bucket], length);
    rocl_keep_first(p->longest, &p->longest_count, LONGEST_GAPS, sizeof *p->longest, &new_gap,
                    compare_lengths);
    rocl_status st = rocl_percentiles_add(g->lengths, 0, (uint32_t)track, length, err);
    const uint64_t key[4] = {w->process, w->stack_id, track, (uint64_t)new_gap.start};
    const uint64_t numbers[] = {(uint64_t)length, (uint64_t)copied};
    return st == ROCL_OK && !g->lanes ? rocl_add_numbers(g->questions, 0, key, numbers, 2, err)
                                      : st;
}

static rocl_status sweep_work(gaps *g, track_gaps *p, const gpu_work *w, rocl_error *err)
{
    const rocl_between between = g->c.options->gaps_between;
    rocl_status st = ROCL_OK;
    /* Also work that bounds no gap ends what copies cover before it. */
    if (p->any && !p->marked && w->start > p->last) {
        p->copied = rocl_cover_before(&p->copies, p->last);
        p->marked = true;
    }
    if (between == ROCL_BETWEEN_ALL || (between == ROCL_BETWEEN_COPIES) == w->copy) {
        int64_t end = g->ends[place_of_end(g, w->process >> 32, (uint32_t)w->process)];
        p->program_end = end > p->program_end ? end : p->program_end;
        if (!p->any)
            p->first = p->last = w->start;
        else if (w->start > p->last)
            st = add_gap(g, p, w, err);
        if (!p->any || w->end >= p->last) {
            p->marked = p->marked && w->end == p->last;
            p->last = w->end;
            p->last_name = w->name;
            p->last_event = w->event;
        }
        p->any = true;
    }
    if (w->copy)
        rocl_cover_extend(&p->copies, w->start, w->end);
    return st;
}

static rocl_status sweep_tracks(gaps *g, rocl_error *err)
{
    rocl_sort_record rec;
    track_gaps *p = NULL;
    const size_t n = end_count(g);
    for (size_t i = n; i < n * g->c.trace->opt.jobs; i++)
        g->ends[i % n] = g->ends[i] > g->ends[i % n] ? g->ends[i] : g->ends[i % n];
    rocl_status st = rocl_sorter_start(g->work, err);
    while (rocl_next_record(g->work, &rec, &st, err)) {
        uint64_t v[3]; /* name, process, stack id */
        rocl_read_numbers(&rec, v, 3);
        if (!p || p->number != rec.key[0]) {
            if (!ROCL_GROW(g->tracks, g->cap, g->count + 1))
                return rocl_fail_memory(err);
            p = &g->tracks[g->count++];
            *p = (track_gaps){.number = rec.key[0],
                              .track = describe_track(g, rec.key[0]),
                              .copies.until = INT64_MIN};
        }
        const uint64_t capture = v[1] >> 32, row = rec.key[3] ^ capture << 48;
        const gpu_work w = {.copy = rocl_word_kind(row) == ROCL_COPY,
                            .start = (int64_t)rec.key[1],
                            .end = (int64_t)rec.key[2],
                            .name = (uint32_t)v[0],
                            .process = v[1],
                            .stack_id = v[2],
                            .event = {(uint32_t)capture + 1, row}};
        st = sweep_work(g, p, &w, err);
    }
    return st;
}

/* ---- causes ---------------------------------------------------------------------------------- */

/* One of the longest of a track, or NULL. */
static gap *find_longest(gaps *g, uint64_t track, int64_t start)
{
    track_gaps *p = &g->tracks[track];
    for (unsigned i = 0; i < p->longest_count; i++)
        if (p->longest[i].start == start)
            return &p->longest[i];
    return NULL;
}

/* GAP_HOST and GAP_LAUNCH include GAP_SYNC as long as it is unknown what the thread did. */
static gap_class classify_by_call(int64_t start, int64_t length, int64_t copied,
                                  const rocl_call *call)
{
    if (copied > length / 2)
        return GAP_COPY;
    if (!call)
        return GAP_UNKNOWN;
    if (call->end <= start && length > ROCL_DISPATCH_NS)
        return GAP_DEPENDENCY;
    int64_t late = call->start > start ? call->start - start : 0;
    return late >= length - late ? GAP_HOST : GAP_LAUNCH;
}

static void set_class(gaps *g, uint64_t track, gap *longest, int64_t length, gap_class c)
{
    add_to_gap_sum(&g->tracks[track].classes[c], length);
    if (longest)
        longest->why = c;
}

/* The host is looked up from the begin of the gap to the call, or to the end of the gap where the
 * call came before. */
static rocl_status on_call(void *ctx, const rocl_sort_record *rec, const rocl_call *call,
                           rocl_error *err)
{
    gaps *g = ctx;
    uint64_t v[2];
    rocl_read_numbers(rec, v, 2);
    const uint64_t track = rec->key[2];
    const int64_t start = (int64_t)rec->key[3], length = (int64_t)v[0], end = start + length;
    gap *longest = find_longest(g, track, start);
    gap_class c = classify_by_call(start, length, (int64_t)v[1], call);
    if (longest && call)
        longest->call = call->name;
    const bool open = c == GAP_HOST || (c == GAP_LAUNCH && call->start > start);
    if (!open)
        set_class(g, track, longest, length, c);
    if (!call || (!open && !longest))
        return ROCL_OK;
    const rocl_host_time t = {
        .process = rec->key[0],
        .thread = call->thread,
        .from = start,
        .to = call->start > start && call->start < end ? call->start : end,
        .gap = open ? length : 0,
        .class = c,
        .whole = longest,
    };
    return rocl_host_look_up(g->host, track, &t, err);
}

static rocl_status look_up_calls(void *self, rocl_calls *calls, rocl_error *err)
{
    gaps *g = self;
    const rocl_status st = sweep_tracks(g, err);
    return st != ROCL_OK ? st : rocl_calls_look_up(calls, g->questions, on_call, g, err);
}

static rocl_status on_host_time(void *ctx, uint64_t track, const rocl_host_time *t, rocl_error *err)
{
    gaps *g = ctx;
    gap *longest = find_longest(g, track, t->from);
    const int64_t other = t->to - t->from - t->waited_ns;
    const bool works = other >= ROCL_OTHER_WORK_NS && 2 * other > t->gap; /* most of the gap */
    (void)err;
    if (t->gap)
        set_class(g, track, longest, t->gap, t->waited && !works ? GAP_SYNC : (gap_class)t->class);
    if (longest) {
        longest->host = t->name;
        longest->host_ns = t->ns;
    }
    return ROCL_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define IF_LANES ROCL_IF_OWN

typedef struct gaps_row {
    gap_track track;
    gap_sum all;
    double wall_percent;
    int64_t min, median, p90, p99, max; /* -1: there is no gap */
} gaps_row;

#define CELL(field)  ROCL_ALWAYS, ROCL_CELL(gaps_row, field)
#define KNOWN(field) ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_known, gaps_row, field)

static const rocl_column gap_columns[] = {
    {"process", "Process", ROCL_UNIT_COUNT, IF_LANES,
     ROCL_CELL_BY(rocl_field_known, gaps_row, track.pid)},
    {"lane", "Lane", ROCL_UNIT_TEXT, IF_LANES, ROCL_CELL(gaps_row, track.lane)},
    {"name", "Name", ROCL_UNIT_TEXT, IF_LANES, ROCL_CELL(gaps_row, track.name)},
    {"gpu", "GPU", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(gaps_row, track.gpu)},
    {"gaps", "Gaps", ROCL_UNIT_COUNT, ROCL_SUM, ROCL_CELL(gaps_row, all.count)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_SUM, ROCL_CELL(gaps_row, all.total)},
    {"wall_percent", "Of wall %", ROCL_UNIT_PERCENT, CELL(wall_percent)},
    {"min_ns", "Min", ROCL_UNIT_NS, KNOWN(min)},
    {"median_ns", "Median", ROCL_UNIT_NS, KNOWN(median)},
    {"p90_ns", "P90", ROCL_UNIT_NS, KNOWN(p90)},
    {"p99_ns", "P99", ROCL_UNIT_NS, KNOWN(p99)},
    {"max_ns", "Max", ROCL_UNIT_NS, KNOWN(max)},
};

/* A bucket, or a class. */
typedef struct kind_row {
    const rocl_gpu *gpu;
    const char *kind;
    gap_sum sum;
    double percent;
} kind_row;

#define KIND_COLUMNS(key, title)                                                                   \
    {"gpu", "GPU", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(kind_row, gpu)},                         \
        {key, title, ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(kind_row, kind)},                      \
        {"count", "Count", ROCL_UNIT_COUNT, ROCL_SUM, ROCL_CELL(kind_row, sum.count)},             \
        {"total_ns", "Total", ROCL_UNIT_NS, ROCL_SUM, ROCL_CELL(kind_row, sum.total)},             \
    {                                                                                              \
        "percent", "Of idle %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, ROCL_CELL(kind_row, percent)       \
    }

static const rocl_column bucket_columns[] = {KIND_COLUMNS("bucket", "Gap")};
static const rocl_column class_columns[] = {KIND_COLUMNS("class", "Class")};

typedef struct longest_row {
    const rocl_gpu *gpu;
    gap gap;
    const char *why;
    int64_t host_ns; /* -1: the host did nothing in the trace */
} longest_row;

#undef CELL
#define CELL(field)  ROCL_CELL(longest_row, field)
#define CAUSE(field) ROCL_IF_FULL, ROCL_CELL_BY(rocl_field_text_or_none, longest_row, field)

static const rocl_column longest_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(gpu)},
    {"start_ns", "Start", ROCL_UNIT_TIME, ROCL_ALWAYS, CELL(gap.start)},
    {"gap_ns", "Gap", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(gap.length)},
    {"before", "Ran before", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(gap.before)},
    {"after", "Ran after", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(gap.after)},
    {"before_id", "Id before", ROCL_UNIT_TEXT, ROCL_IF_IDS, CELL(gap.before_event)},
    {"after_id", "Id after", ROCL_UNIT_TEXT, ROCL_IF_IDS, CELL(gap.after_event)},
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_IF_FULL, CELL(why)},
    {"call", "Ended by", ROCL_UNIT_TEXT, CAUSE(gap.call)},
    {"host", "Host meanwhile", ROCL_UNIT_TEXT, CAUSE(gap.host)},
    {"host_ns", "For", ROCL_UNIT_NS, ROCL_IF_FULL,
     ROCL_CELL_BY(rocl_field_known, longest_row, host_ns)},
};

static const rocl_table_def gap_table = {ROCL_TAB(GAPS), "gaps", "Idle gaps per GPU",
                                         ROCL_COLUMNS(gap_columns)};
static const rocl_table_def lane_table = {
    ROCL_TAB(GAPS), "lane_gaps", "Idle gaps per stream and queue", ROCL_COLUMNS(gap_columns)};
static const rocl_table_def bucket_table = {ROCL_TAB(GAPS), "gap_buckets", "Idle gaps by length",
                                            ROCL_COLUMNS(bucket_columns)};
static const rocl_table_def class_table = {ROCL_TAB(GAPS), "gap_classes", "Idle gaps by cause",
                                           ROCL_COLUMNS(class_columns)};
static const rocl_table_def longest_table = {ROCL_TAB(GAPS), "longest_gaps", "Longest idle gaps",
                                             ROCL_COLUMNS(longest_columns)};

static const char *const class_names[GAP_CLASSES] = {"host",       "sync", "launch",
                                                     "dependency", "copy", "unknown"};

static rocl_status put_gaps(const gaps *g, const rocl_report_rows *r, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < g->count && st == ROCL_OK; i++) {
        const track_gaps *p = &g->tracks[i];
        rocl_distribution d;
        gaps_row row = {
            p->track, p->all, rocl_percent(p->all.total, p->last - p->first), -1, -1, -1, -1, -1};
        st = rocl_percentiles_describe(g->lengths, (uint32_t)i, &d, err);
        if (p->all.count) {
            row.min = d.min;
            row.median = d.median;
            row.p90 = d.p90;
            row.p99 = d.p99;
            row.max = d.max;
        }
        rocl_add_row(r, &row);
    }
    return st;
}

/* Every gap is in one class. The tail is not a gap, since no work ends it. */
static rocl_status put_classes(const gaps *g, const rocl_report_rows *r, rocl_error *err)
{
    for (size_t k = 0; k < g->count; k++) {
        const track_gaps *p = &g->tracks[k];
        int64_t all = 0, tail = p->any ? p->program_end - p->last : 0;
        for (int i = 0; i < GAP_CLASSES; i++) {
            const gap_sum *s = &p->classes[i];
            all += s->total;
            if (s->count)
                rocl_add_row(r, &(kind_row){p->track.gpu, class_names[i], *s,
                                            rocl_percent(s->total, p->all.total)});
        }
        if (all != p->all.total)
            return rocl_fail(err, ROCL_INTERNAL, "classes of gaps do not add up");
        if (tail > 0)
            rocl_add_row(r, &(kind_row){p->track.gpu, "tail", {1, tail}, rocl_percent(0, 0)});
    }
    return ROCL_OK;
}

static rocl_status finish_gaps(void *self, rocl_tables *out, rocl_error *err)
{
    static const char *const bucket_names[BUCKETS] = {"< 1 us",  "< 10 us",  "< 100 us", "< 1 ms",
                                                      "< 10 ms", "< 100 ms", "< 1 s",    ">= 1 s"};
    gaps *g = self;
    const rocl_trace *t = g->c.trace;
    const rocl_stats_options *o = g->c.options;
    rocl_collector_free_sorter(&g->c, &g->questions);
    rocl_status st = rocl_host_resolve(g->host, on_host_time, g, err);
    if (st != ROCL_OK)
        return st;
    rocl_report_rows r = rocl_begin_table(&g->c, out, &gap_table, 0);
    st = put_gaps(g, &r, err);
    if (!o->brief) {
        r = rocl_begin_table(&g->c, out, &bucket_table, 0);
        for (size_t k = 0; k < g->count; k++) {
            const track_gaps *p = &g->tracks[k];
            for (unsigned i = 0; i < BUCKETS; i++)
                if (p->buckets[i].count)
                    rocl_add_row(&r, &(kind_row){p->track.gpu, bucket_names[i], p->buckets[i],
                                                 rocl_percent(p->buckets[i].total, p->all.total)});
        }
    }
    r = rocl_begin_table(&g->c, out, &class_table, 0);
    if (!rocl_trace_events(t, ROCL_REGION) && g->count) {
        const bool pytorch =
            rocl_trace_inputs(t) && strstr(rocl_trace_input(t, 0).format, "PyTorch");
        rocl_set_note(&r, pytorch ? "recorded without host calls: record with "
                                    "ProfilerActivity.CPU to see why"
                                  : "recorded without HIP calls: record with --hip-trace to see "
                                    "why");
    }
    if (st == ROCL_OK)
        st = put_classes(g, &r, err);
    r = rocl_begin_table(&g->c, out, &longest_table, 0);
    const size_t most = o->brief ? BRIEF_GAPS : o->top ? o->top : LONGEST_GAPS;
    for (size_t k = 0; k < g->count; k++) {
        const track_gaps *p = &g->tracks[k];
        for (unsigned i = 0; i < p->longest_count && i < most; i++) {
            const gap *l = &p->longest[i];
            rocl_add_row(&r, &(longest_row){p->track.gpu, *l, class_names[l->why],
                                            l->host != ROCL_NONE ? l->host_ns : -1});
        }
    }
    return st;
}

static rocl_status finish_lane_gaps(void *self, rocl_tables *out, rocl_error *err)
{
    gaps *g = self;
    const rocl_status st = sweep_tracks(g, err);
    const rocl_report_rows r = rocl_begin_table(&g->c, out, &lane_table, IF_LANES);
    return st == ROCL_OK ? put_gaps(g, &r, err) : st;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_gaps(void *self, rocl_error *err)
{
    gaps *g = self;
    const rocl_trace *t = g->c.trace;
    g->c.needs_calls = !g->lanes;
    g->work = rocl_collector_sorter(&g->c, 4);
    g->questions = rocl_collector_sorter(&g->c, 4);
    g->lengths = rocl_percentiles_new(t->space, t->opt.jobs);
    g->host = rocl_host_new(&g->c);
    g->first_end = calloc(t->capture_count + 1, sizeof *g->first_end);
    if (!g->work || !g->questions || !g->lengths || !g->host || !g->first_end)
        return rocl_fail_memory(err);
    /* Only the processes of a capture that are known have a place. */
    for (size_t i = 0; i < t->capture_count; i++)
        g->first_end[i + 1] = g->first_end[i] + t->captures[i]->pub.process_count + 1;
    const size_t n = end_count(g) * t->opt.jobs;
    if (!(g->ends = calloc(n + 1, sizeof *g->ends)))
        return rocl_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        g->ends[i] = INT64_MIN;
    return ROCL_OK;
}

static rocl_status open_lane_gaps(void *self, rocl_error *err)
{
    gaps *g = self;
    g->lanes = true;
    const size_t n = g->c.trace->capture_count;
    const rocl_status st = open_gaps(g, err);
    g->first_stream = calloc(n + 1, sizeof *g->first_stream);
    g->first_queue = calloc(n + 1, sizeof *g->first_queue);
    if (st != ROCL_OK || !g->first_stream || !g->first_queue)
        return st != ROCL_OK ? st : rocl_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        const rocl_capture *c = &g->c.trace->captures[i]->pub;
        g->first_stream[i + 1] = g->first_stream[i] + c->stream_count;
        g->first_queue[i + 1] = g->first_queue[i] + c->queue_count;
    }
    if (g->first_stream[n] >= QUEUE_BIT || g->first_queue[n] >= QUEUE_BIT)
        return rocl_fail(err, ROCL_INTERNAL, "too many streams or queues");
    return ROCL_OK;
}

static void close_gaps(void *self)
{
    gaps *g = self;
    rocl_percentiles_free(g->lengths);
    rocl_host_free(g->host);
    free(g->first_stream);
    free(g->first_queue);
    free(g->first_end);
    free(g->ends);
    free(g->tracks);
}

const rocl_collector_def rocl_gaps_collector = {
    .tables = (const rocl_table_def *const[]){&gap_table, &bucket_table, &class_table,
                                              &longest_table, NULL},
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY) | ROCL_BIT(ROCL_REGION),
    .size = sizeof(gaps),
    .open = open_gaps,
    .add_batch = add_gaps_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_gaps,
    .close = close_gaps,
};

const rocl_collector_def rocl_lane_gaps_collector = {
    .tables = (const rocl_table_def *const[]){&lane_table, NULL},
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(gaps),
    .by_stream = true,
    .open = open_lane_gaps,
    .add_batch = add_gaps_batch,
    .finish = finish_lane_gaps,
    .close = close_gaps,
};
