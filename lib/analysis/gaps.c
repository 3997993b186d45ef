/* The report on gaps: idle times of GPUs and lanes, from the end of all work so far to the start of
 * the next piece. The work that ends a gap looks up the call that launched it; if its class depends
 * on it, what that call's thread did since the gap began is looked up next. */
#include <stdlib.h>

#include "analysis/distribution.h"
#include "analysis/gaps.h"
#include "analysis/activity.h"
#include "analysis/host.h"
#include "analysis/percentiles.h"
#include "base/array.h"
#include "trace/deal.h"

enum { LONGEST_GAPS = 20, BRIEF_GAPS = 3, BUCKETS = 8 };

/* Why a GPU was idle; see rocstats(1) for the rules. */
typedef enum gap_class {
    GAP_HOST,       /* the call that ended it came late */
    GAP_SYNC,       /* the same, and its thread waited when the gap began */
    GAP_LAUNCH,     /* the call was made in time, or took most of the gap until its work began */
    GAP_DEPENDENCY, /* the work had been given long before */
    GAP_COPY,       /* of gaps between kernels: copies ran */
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

typedef struct track_gaps {
    rocl_gap_track track;
    uint32_t group; /* of its lengths */
    uint64_t asked; /* on another rank: the track of rank 0 that this represents, + 1; 0: it is
                       swept here */
    bool any;
    int64_t first, last; /* of the work between which they are */
    uint32_t last_name;  /* of the piece that ends last so far */
    rocl_event_ref last_event;
    rocl_cover copies;
    bool marked;         /* `copied` is known */
    int64_t copied;      /* time in which copies ran, up to `last` */
    int64_t program_end; /* of everything in the processes that gave it work */
    gap longest[LONGEST_GAPS];
    unsigned longest_count;
    gap_sum all, buckets[BUCKETS], classes[GAP_CLASSES];
} track_gaps;

struct rocl_gaps {
    rocl_collector *c;
    bool lanes;
    rocl_percentiles *lengths; /* by track */
    rocl_sorter *questions;    /* gaps by process and stack id, track, start */
    rocl_sorter *elsewhere;    /* on rank 0: those that other ranks answer, by rank, track, start */
    bool asking;               /* it is read */
    rocl_host *host;
    uint32_t *first_end; /* by capture: the place of its first process; the last is the count */
    int64_t *ends;       /* by worker and process, and a place more in each capture for what has no
                          * process: of its last event; in the end those of worker 0 */
    bool ends_known;     /* hold for all */
    track_gaps *tracks;
    size_t count, cap;
};

/* ---- events ---------------------------------------------------------------------------------- */

static size_t end_count(const rocl_gaps *g)
{
    return g->first_end[g->c->trace->capture_count];
}

/* Of an event of this process. */
static size_t place_of_end(const rocl_gaps *g, size_t capture, uint32_t process)
{
    const uint32_t first = g->first_end[capture], last = g->first_end[capture + 1] - 1;
    return process < last - first ? first + process : last;
}

rocl_status rocl_gaps_add_batch(rocl_gaps *g, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    int64_t *ends = &g->ends[worker * end_count(g)];
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        int64_t *end = &ends[place_of_end(g, b->capture->index, e->process)];
        *end = e->end > *end ? e->end : *end;
        if (b->kind == ROCL_REGION)
            st = rocl_host_add_call(g->host, worker, b->capture, e, err);
    }
    return st;
}

static void join_ends(rocl_gaps *g)
{
    const size_t n = end_count(g);
    for (size_t i = n; i < n * g->c->trace->opt.jobs && !g->ends_known; i++)
        g->ends[i % n] = g->ends[i] > g->ends[i % n] ? g->ends[i] : g->ends[i % n];
    g->ends_known = true;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

rocl_status rocl_gaps_begin_track(rocl_gaps *g, const rocl_gap_track *track, rocl_error *err)
{
    join_ends(g);
    if (!ROCL_GROW(g->tracks, g->cap, g->count + 1))
        return rocl_fail_memory(err);
    g->tracks[g->count] =
        (track_gaps){.track = *track, .group = (uint32_t)g->count, .copies.until = INT64_MIN};
    g->count++;
    return ROCL_OK;
}

static int compare_lengths(const void *a, const void *b)
{
    return rocl_number_order(((const gap *)b)->length, ((const gap *)a)->length);
}

static void add_to_gap_sum(gap_sum *s, int64_t length)
{
    s->count++;
    s->total += length;
}

/* How much of the time up to `t` is covered, where no later piece was added. */
static int64_t cover_before(const rocl_cover *c, int64_t t)
{
    return c->measure - (c->until > t ? c->until - t : 0);
}

static rocl_event_ref refer_to(const rocl_gpu_work *w)
{
    return (rocl_event_ref){(uint32_t)(w->process >> 32) + 1, w->row};
}

/* The rank that has the calls of a process. */
static unsigned rank_of(const rocl_gaps *g, uint64_t process)
{
    const rocl_trace *t = g->c->trace;
    return t->deal && t->joint ? rocl_deal_place_of(t->deal, (uint32_t)(process >> 32)).rank : 0;
}

static rocl_status add_elsewhere(rocl_gaps *g, const rocl_gpu_work *w, uint64_t track,
                                 const gap *new_gap, int64_t copied, rocl_error *err)
{
    const uint64_t key[4] = {rank_of(g, w->process), track, (uint64_t)new_gap->start, w->process};
    const uint64_t numbers[] = {w->stack_id, (uint64_t)new_gap->length, (uint64_t)copied};
    if (!g->elsewhere && !(g->elsewhere = rocl_collector_sorter(g->c, 4)))
        return rocl_fail_memory(err);
    return rocl_add_numbers(g->elsewhere, 0, key, numbers, 3, err);
}

/* A gap that the work ends. */
static rocl_status add_gap(rocl_gaps *g, track_gaps *p, const rocl_gpu_work *w, rocl_error *err)
{
    const gap new_gap = {.start = p->last,
                         .length = w->start - p->last,
                         .before = p->last_name,
                         .after = w->name,
                         .before_event = p->last_event,
                         .after_event = refer_to(w),
                         .why = GAP_UNKNOWN,
                         .call = ROCL_NONE,
                         .host = ROCL_NONE};
    int64_t length = new_gap.length, copied = cover_before(&p->copies, w->start) - p->copied;
    uint64_t track = (uint64_t)(p - g->tracks);
    unsigned bucket = 0;
    if (length < g->c->options->min_gap)
        return ROCL_OK;
    for (int64_t limit = 1000; bucket < BUCKETS - 1 && length >= limit; limit *= 10)
        bucket++;
    add_to_gap_sum(&p->all, length);
    add_to_gap_sum(&p->buckets[bucket], length);
    rocl_keep_first(p->longest, &p->longest_count, LONGEST_GAPS, sizeof *p->longest, &new_gap,
                    compare_lengths);
    rocl_status st = rocl_percentiles_add(g->lengths, 0, (uint32_t)track, length, err);
    if (st == ROCL_OK && rank_of(g, w->process))
        return add_elsewhere(g, w, track, &new_gap, copied, err);
    const uint64_t key[4] = {w->process, w->stack_id, track, (uint64_t)new_gap.start};
    const uint64_t numbers[] = {(uint64_t)length, (uint64_t)copied};
    return st == ROCL_OK ? rocl_add_numbers(g->questions, 0, key, numbers, 2, err) : st;
}

rocl_status rocl_gaps_add_work(rocl_gaps *g, const rocl_gpu_work *w, rocl_error *err)
{
    track_gaps *p = &g->tracks[g->count - 1];
    const rocl_between between = g->c->options->gaps_between;
    rocl_status st = ROCL_OK;
    /* Also work that bounds no gap ends what copies cover before it. */
    if (p->any && !p->marked && w->start > p->last) {
        p->copied = cover_before(&p->copies, p->last);
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
            p->last_event = refer_to(w);
        }
        p->any = true;
    }
    if (w->copy)
        rocl_cover_extend(&p->copies, w->start, w->end);
    return st;
}

/* ---- causes ---------------------------------------------------------------------------------- */

/* One of the longest of a track, or NULL. */
static gap *find_longest(rocl_gaps *g, uint64_t track, int64_t start)
{
    track_gaps *p = &g->tracks[track];
    for (unsigned i = 0; i < p->longest_count; i++)
        if (p->longest[i].start == start)
            return &p->longest[i];
    return NULL;
}

/* GAP_HOST includes GAP_SYNC as long as it is unknown what the thread did. */
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

static void set_class(rocl_gaps *g, uint64_t track, gap *longest, int64_t length, gap_class c)
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
    rocl_gaps *g = ctx;
    uint64_t v[2];
    rocl_read_numbers(rec, v, 2);
    const uint64_t track = rec->key[2];
    const int64_t start = (int64_t)rec->key[3], length = (int64_t)v[0], end = start + length;
    gap *longest = find_longest(g, track, start);
    gap_class c = classify_by_call(start, length, (int64_t)v[1], call);
    if (longest && call)
        longest->call = call->name;
    if (c != GAP_HOST)
        set_class(g, track, longest, length, c);
    if (!call || (c != GAP_HOST && !longest))
        return ROCL_OK;
    const rocl_host_time t = {
        .process = rec->key[0],
        .thread = call->thread,
        .from = start,
        .to = call->start > start && call->start < end ? call->start : end,
        .gap = c == GAP_HOST ? length : 0,
        .whole = longest,
    };
    return rocl_host_look_up(g->host, track, &t, err);
}

rocl_status rocl_gaps_look_up_calls(rocl_gaps *g, rocl_calls *calls, rocl_error *err)
{
    return rocl_calls_look_up(calls, g->questions, on_call, g, err);
}

static rocl_status on_host_time(void *ctx, uint64_t track, const rocl_host_time *t, rocl_error *err)
{
    rocl_gaps *g = ctx;
    gap *longest = find_longest(g, track, t->from);
    (void)err;
    if (t->gap)
        set_class(g, track, longest, t->gap, t->waited ? GAP_SYNC : GAP_HOST);
    if (longest) {
        longest->host = t->name;
        longest->host_ns = t->ns;
    }
    return ROCL_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define IF_LANES ROCL_IF_OWN

#define TRACK_COLUMNS(row)                                                                         \
    {"process", "Process", ROCL_UNIT_COUNT, IF_LANES,                                              \
     ROCL_CELL_BY(rocl_field_known, row, track.pid)},                                              \
        {"lane", "Lane", ROCL_UNIT_TEXT, IF_LANES, ROCL_CELL(row, track.lane)},                    \
        {"name", "Name", ROCL_UNIT_TEXT, IF_LANES, ROCL_CELL(row, track.name)},                    \
    {                                                                                              \
        "gpu", "GPU", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(row, track.gpu)                       \
    }

typedef struct gaps_row {
    rocl_gap_track track;
    gap_sum all;
    double wall_percent;
    int64_t min, median, p90, p99, max; /* -1: there is no gap */
} gaps_row;

#define CELL(field)  ROCL_ALWAYS, ROCL_CELL(gaps_row, field)
#define KNOWN(field) ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_known, gaps_row, field)

static const rocl_column gap_columns[] = {
    TRACK_COLUMNS(gaps_row),
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
typedef struct part_row {
    rocl_gap_track track;
    const char *part;
    gap_sum sum;
    double percent;
} part_row;

#define PART_COLUMNS(key, title)                                                                   \
    TRACK_COLUMNS(part_row), {key, title, ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(part_row, part)}, \
        {"count", "Count", ROCL_UNIT_COUNT, ROCL_SUM, ROCL_CELL(part_row, sum.count)},             \
        {"total_ns", "Total", ROCL_UNIT_NS, ROCL_SUM, ROCL_CELL(part_row, sum.total)},             \
    {                                                                                              \
        "percent", "Of idle %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, ROCL_CELL(part_row, percent)       \
    }

static const rocl_column bucket_columns[] = {PART_COLUMNS("bucket", "Gap")};
static const rocl_column class_columns[] = {PART_COLUMNS("class", "Class")};

typedef struct longest_row {
    rocl_gap_track track;
    gap gap;
    const char *why;
    int64_t host_ns; /* -1: the host did nothing in the trace */
} longest_row;

#undef CELL
#define CELL(field)  ROCL_CELL(longest_row, field)
#define CAUSE(field) ROCL_IF_FULL, ROCL_CELL_BY(rocl_field_text_or_none, longest_row, field)

static const rocl_column longest_columns[] = {
    TRACK_COLUMNS(longest_row),
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

/* Of GPUs, and of lanes. */
static const rocl_table_def gap_tables[] = {
    {&rocl_gaps_report.tab, "gaps", "Idle gaps per GPU", ROCL_COLUMNS(gap_columns)},
    {&rocl_gaps_report.tab, "lane_gaps", "Idle gaps per stream and queue",
     ROCL_COLUMNS(gap_columns)}};
static const rocl_table_def bucket_tables[] = {
    {&rocl_gaps_report.tab, "gap_buckets", "Idle gaps by length", ROCL_COLUMNS(bucket_columns)},
    {&rocl_gaps_report.tab, "lane_gap_buckets", "Idle gaps of streams and queues by length",
     ROCL_COLUMNS(bucket_columns)}};
static const rocl_table_def class_tables[] = {
    {&rocl_gaps_report.tab, "gap_classes", "Idle gaps by cause", ROCL_COLUMNS(class_columns)},
    {&rocl_gaps_report.tab, "lane_gap_classes", "Idle gaps of streams and queues by cause",
     ROCL_COLUMNS(class_columns)}};
static const rocl_table_def longest_tables[] = {
    {&rocl_gaps_report.tab, "longest_gaps", "Longest idle gaps", ROCL_COLUMNS(longest_columns)},
    {&rocl_gaps_report.tab, "longest_lane_gaps", "Longest idle gaps of streams and queues",
     ROCL_COLUMNS(longest_columns)}};

const rocl_report_def rocl_gaps_report = {
    "gaps",
    {"gap", "Gaps"},
    "for each GPU: when it was idle, for how long, and between which kernels or copies",
    (const rocl_table_def *const[]){&gap_tables[0], &bucket_tables[0], &class_tables[0],
                                    &longest_tables[0], &gap_tables[1], &bucket_tables[1],
                                    &class_tables[1], &longest_tables[1], NULL}};

static const char *const class_names[GAP_CLASSES] = {"host",       "sync", "launch",
                                                     "dependency", "copy", "unknown"};

static rocl_status put_gaps(const rocl_gaps *g, const rocl_report_rows *r, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < g->count && st == ROCL_OK; i++) {
        const track_gaps *p = &g->tracks[i];
        rocl_distribution d;
        gaps_row row = {
            p->track, p->all, rocl_percent(p->all.total, p->last - p->first), -1, -1, -1, -1, -1};
        st = rocl_percentiles_describe(g->lengths, p->group, &d, err);
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

/* There may be none, and nothing can be added to NULL. */
static const track_gaps *end_of_tracks(const rocl_gaps *g)
{
    return g->count ? g->tracks + g->count : g->tracks;
}

static void put_buckets(const rocl_gaps *g, const rocl_report_rows *r)
{
    static const char *const names[BUCKETS] = {"< 1 us",  "< 10 us",  "< 100 us", "< 1 ms",
                                               "< 10 ms", "< 100 ms", "< 1 s",    ">= 1 s"};
    for (const track_gaps *p = g->tracks; p != end_of_tracks(g); p++)
        for (unsigned i = 0; i < BUCKETS; i++)
            if (p->buckets[i].count)
                rocl_add_row(r, &(part_row){p->track, names[i], p->buckets[i],
                                            rocl_percent(p->buckets[i].total, p->all.total)});
}

/* Every gap is in one class. The tail is not a gap, since no work ends it. */
static rocl_status put_classes(const rocl_gaps *g, const rocl_report_rows *r, rocl_error *err)
{
    for (const track_gaps *p = g->tracks; p != end_of_tracks(g); p++) {
        int64_t all = 0, tail = p->any && !g->lanes ? p->program_end - p->last : 0;
        for (int i = 0; i < GAP_CLASSES; i++) {
            const gap_sum *s = &p->classes[i];
            all += s->total;
            if (s->count)
                rocl_add_row(r, &(part_row){p->track, class_names[i], *s,
                                            rocl_percent(s->total, p->all.total)});
        }
        if (all != p->all.total)
            return rocl_fail(err, ROCL_INTERNAL, "classes of gaps do not add up");
        if (tail > 0)
            rocl_add_row(r, &(part_row){p->track, "tail", {1, tail}, rocl_percent(0, 0)});
    }
    return ROCL_OK;
}

static bool was_recorded_by_pytorch(const rocl_trace *t)
{
    return rocl_trace_inputs(t) && strstr(rocl_trace_input(t, 0).format, "PyTorch");
}

static void put_longest(const rocl_gaps *g, const rocl_report_rows *r)
{
    const rocl_stats_options *o = g->c->options;
    size_t most = o->brief ? BRIEF_GAPS : o->top ? o->top : LONGEST_GAPS;
    for (const track_gaps *p = g->tracks; p != end_of_tracks(g); p++)
        for (unsigned i = 0; i < p->longest_count && i < most; i++) {
            const gap *l = &p->longest[i];
            rocl_add_row(r, &(longest_row){p->track, *l, class_names[l->why],
                                           l->host != ROCL_NONE ? l->host_ns : -1});
        }
}

static int compare_tracks(const void *a, const void *b)
{
    const track_gaps *x = a, *y = b;
    return (x->track.order > y->track.order) - (x->track.order < y->track.order);
}

rocl_status rocl_gaps_put_tables(rocl_gaps *g, rocl_tables *out, rocl_error *err)
{
    uint32_t lanes = g->lanes ? IF_LANES : 0;
    rocl_collector_free_sorter(g->c, &g->questions);
    rocl_status st = rocl_host_resolve(g->host, on_host_time, g, err);
    if (st != ROCL_OK)
        return st;
    if (g->count)
        qsort(g->tracks, g->count, sizeof *g->tracks, compare_tracks);
    rocl_report_rows r = rocl_begin_table(g->c, out, &gap_tables[g->lanes], lanes);
    st = put_gaps(g, &r, err);
    if (!g->c->options->brief) {
        r = rocl_begin_table(g->c, out, &bucket_tables[g->lanes], lanes);
        put_buckets(g, &r);
    }
    r = rocl_begin_table(g->c, out, &class_tables[g->lanes], lanes);
    if (!rocl_trace_events(g->c->trace, ROCL_REGION) && g->count)
        rocl_set_note(&r, was_recorded_by_pytorch(g->c->trace)
                              ? "recorded without host calls: record with ProfilerActivity.CPU to "
                                "see why"
                              : "recorded without HIP calls: record with --hip-trace to see why");
    if (st == ROCL_OK)
        st = put_classes(g, &r, err);
    r = rocl_begin_table(g->c, out, &longest_tables[g->lanes], lanes);
    put_longest(g, &r);
    return st;
}

/* ---- of a team ------------------------------------------------------------------------------- */

/* Bytes of the questions of a round. */
#define QUESTIONS ((size_t)4 << 20)

void rocl_gaps_put_ends(const rocl_gaps *g, rocl_put *to)
{
    const size_t n = end_count(g);
    for (size_t i = 0; i < n; i++) {
        int64_t end = INT64_MIN;
        for (unsigned w = 0; w < g->c->trace->opt.jobs; w++) {
            const int64_t e = g->ends[w * n + i];
            end = e > end ? e : end;
        }
        if (end == INT64_MIN)
            continue;
        rocl_put_number(to, i + 1);
        rocl_put_signed(to, end);
    }
    rocl_put_number(to, 0);
}

rocl_status rocl_gaps_take_ends(rocl_gaps *g, rocl_taken *from, rocl_error *err)
{
    uint64_t place;
    while ((place = rocl_take_number(from))) {
        if (place > end_count(g))
            return rocl_team_bad_message(err);
        g->ends[place - 1] = rocl_take_signed(from);
    }
    return ROCL_OK;
}

/* ---- causes ---- */

static rocl_status start_asking(rocl_gaps *g, rocl_error *err)
{
    const unsigned size = rocl_team_size(g->c->trace->opt.team);
    rocl_sort_bound *bounds = calloc(size, sizeof *bounds);
    if (!bounds)
        return rocl_fail_memory(err);
    for (unsigned r = 1; r < size; r++)
        bounds[r - 1].word[0] = r;
    const rocl_status st = rocl_sorter_start_ranges(g->elsewhere, bounds, size - 1, err);
    free(bounds);
    g->asking = true;
    return st;
}

rocl_status rocl_gaps_ask_causes(rocl_gaps *g, uint64_t number, unsigned rank, rocl_put *to,
                                 rocl_error *err)
{
    const size_t empty = to->b.len;
    rocl_status st = !g->elsewhere || g->asking ? ROCL_OK : start_asking(g, err);
    bool more = g->elsewhere;
    while (st == ROCL_OK && more && to->b.len - empty < QUESTIONS) {
        rocl_sort_record rec;
        uint64_t v[3];
        st = rocl_sorter_next_of(g->elsewhere, rank, &rec, &more, err);
        if (st != ROCL_OK || !more)
            break;
        rocl_read_numbers(&rec, v, 3);
        if (to->b.len == empty)
            rocl_put_number(to, number);
        rocl_put_number(to, rec.key[1]);
        rocl_put_number(to, rec.key[2]);
        rocl_put_number(to, rec.key[3]);
        for (unsigned i = 0; i < 3; i++)
            rocl_put_number(to, v[i]);
        rocl_put_number(to, find_longest(g, rec.key[1], (int64_t)rec.key[2]) != NULL);
    }
    return st;
}

/* The local track that represents one of rank 0, whose questions are adjacent. NULL: memory is
 * out. */
static track_gaps *find_asked(rocl_gaps *g, uint64_t asked)
{
    track_gaps *last = g->count ? &g->tracks[g->count - 1] : NULL;
    if (last && last->asked == asked + 1)
        return last;
    if (!ROCL_GROW(g->tracks, g->cap, g->count + 1))
        return NULL;
    g->tracks[g->count] = (track_gaps){.asked = asked + 1};
    return &g->tracks[g->count++];
}

rocl_status rocl_gaps_take_questions(rocl_gaps *g, rocl_taken *from, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (!rocl_taken_all(from) && st == ROCL_OK) {
        track_gaps *p = find_asked(g, rocl_take_number(from));
        const uint64_t start = rocl_take_number(from), process = rocl_take_number(from);
        const uint64_t stack_id = rocl_take_number(from);
        const uint64_t numbers[] = {rocl_take_number(from), rocl_take_number(from)};
        const bool longest = rocl_take_number(from);
        if (!p)
            return rocl_fail_memory(err);
        if (from->r.bad || (longest && p->longest_count == LONGEST_GAPS))
            return rocl_team_bad_message(err);
        if (longest)
            p->longest[p->longest_count++] = (gap){
                .start = (int64_t)start, .why = GAP_UNKNOWN, .call = ROCL_NONE, .host = ROCL_NONE};
        const uint64_t key[4] = {process, stack_id, (uint64_t)(p - g->tracks), start};
        st = rocl_add_numbers(g->questions, 0, key, numbers, 2, err);
    }
    return st;
}

rocl_status rocl_gaps_find_causes(rocl_gaps *g, rocl_error *err)
{
    rocl_collector_free_sorter(g->c, &g->questions);
    return rocl_host_resolve(g->host, on_host_time, g, err);
}

static void put_sums(const gap_sum *sums, size_t n, rocl_put *to)
{
    for (size_t i = 0; i < n; i++) {
        rocl_put_number(to, sums[i].count);
        rocl_put_number(to, (uint64_t)sums[i].total);
    }
}

static void add_taken_sums(gap_sum *sums, size_t n, rocl_taken *from)
{
    for (size_t i = 0; i < n; i++) {
        sums[i].count += rocl_take_number(from);
        sums[i].total += (int64_t)rocl_take_number(from);
    }
}

static void put_cause(const gap *l, rocl_put *to)
{
    rocl_put_number(to, l->why);
    rocl_put_text(to, l->call);
    rocl_put_text(to, l->host);
    rocl_put_signed(to, l->host_ns);
}

static void take_cause(gap *l, rocl_taken *from)
{
    l->why = (gap_class)rocl_take_number(from);
    from->r.bad |= l->why >= GAP_CLASSES;
    l->why = from->r.bad ? GAP_UNKNOWN : l->why;
    l->call = rocl_take_text(from);
    l->host = rocl_take_text(from);
    l->host_ns = rocl_take_signed(from);
}

void rocl_gaps_put_causes(const rocl_gaps *g, rocl_put *to)
{
    for (const track_gaps *p = g->tracks; p != end_of_tracks(g); p++) {
        if (!p->asked)
            continue;
        rocl_put_number(to, p->asked);
        put_sums(p->classes, GAP_CLASSES, to);
        rocl_put_number(to, p->longest_count);
        for (unsigned i = 0; i < p->longest_count; i++) {
            rocl_put_signed(to, p->longest[i].start);
            put_cause(&p->longest[i], to);
        }
    }
    rocl_put_number(to, 0);
}

rocl_status rocl_gaps_take_causes(rocl_gaps *g, rocl_taken *from, rocl_error *err)
{
    uint64_t asked;
    while ((asked = rocl_take_number(from))) {
        if (asked > g->count)
            return rocl_team_bad_message(err);
        add_taken_sums(g->tracks[asked - 1].classes, GAP_CLASSES, from);
        for (uint64_t n = rocl_take_number(from); n && !from->r.bad; n--) {
            gap cause;
            gap *l = find_longest(g, asked - 1, rocl_take_signed(from));
            take_cause(l ? l : &cause, from);
            from->r.bad |= !l;
        }
    }
    return from->r.bad ? rocl_team_bad_message(err) : ROCL_OK;
}

/* ---- tracks ---- */

static void put_event(const rocl_event_ref *e, rocl_put *to)
{
    rocl_put_number(to, e->capture_plus1);
    rocl_put_number(to, e->row);
}

static rocl_event_ref take_event(rocl_taken *from)
{
    rocl_event_ref e = {.capture_plus1 = (uint32_t)rocl_take_number(from)};
    e.row = rocl_take_number(from);
    return e;
}

void rocl_gaps_put_track(rocl_gaps *g, size_t i, rocl_put *to)
{
    const track_gaps *p = &g->tracks[i];
    rocl_put_number(to, p->any);
    rocl_put_signed(to, p->first);
    rocl_put_signed(to, p->last);
    rocl_put_signed(to, p->program_end);
    put_sums(&p->all, 1, to);
    put_sums(p->buckets, BUCKETS, to);
    put_sums(p->classes, GAP_CLASSES, to);
    rocl_put_number(to, p->longest_count);
    for (unsigned k = 0; k < p->longest_count; k++) {
        const gap *l = &p->longest[k];
        rocl_put_signed(to, l->start);
        rocl_put_signed(to, l->length);
        rocl_put_text(to, l->before);
        rocl_put_text(to, l->after);
        put_event(&l->before_event, to);
        put_event(&l->after_event, to);
        put_cause(l, to);
    }
    if (p->all.count)
        rocl_percentiles_put(g->lengths, p->group, to);
}

rocl_status rocl_gaps_take_track(rocl_gaps *g, unsigned rank, const rocl_gap_track *track,
                                 rocl_taken *from, rocl_error *err)
{
    rocl_status st = rocl_gaps_begin_track(g, track, err);
    if (st != ROCL_OK)
        return st;
    track_gaps *p = &g->tracks[g->count - 1];
    p->any = rocl_take_number(from);
    p->first = rocl_take_signed(from);
    p->last = rocl_take_signed(from);
    p->program_end = rocl_take_signed(from);
    add_taken_sums(&p->all, 1, from);
    add_taken_sums(p->buckets, BUCKETS, from);
    add_taken_sums(p->classes, GAP_CLASSES, from);
    const uint64_t n = rocl_take_number(from);
    if (from->r.bad || n > LONGEST_GAPS)
        return rocl_team_bad_message(err);
    for (p->longest_count = 0; p->longest_count < n; p->longest_count++) {
        gap *l = &p->longest[p->longest_count];
        l->start = rocl_take_signed(from);
        l->length = rocl_take_signed(from);
        l->before = rocl_take_text(from);
        l->after = rocl_take_text(from);
        l->before_event = take_event(from);
        l->after_event = take_event(from);
        take_cause(l, from);
    }
    return p->all.count ? rocl_percentiles_take(g->lengths, rank, p->group, true, from, err)
                        : ROCL_OK;
}

rocl_percentiles *rocl_gaps_lengths(const rocl_gaps *g)
{
    return g->lengths;
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* Only the processes of a capture that are known have a place. */
static bool make_ends(rocl_gaps *g)
{
    const rocl_trace *t = g->c->trace;
    if (!(g->first_end = calloc(t->capture_count + 1, sizeof *g->first_end)))
        return false;
    for (size_t i = 0; i < t->capture_count; i++)
        g->first_end[i + 1] = g->first_end[i] + t->captures[i]->pub.process_count + 1;
    const size_t n = end_count(g) * t->opt.jobs;
    if (!(g->ends = calloc(n + 1, sizeof *g->ends)))
        return false;
    for (size_t i = 0; i < n; i++)
        g->ends[i] = INT64_MIN;
    return true;
}

rocl_gaps *rocl_gaps_new(rocl_collector *c, bool lanes)
{
    const rocl_trace *t = c->trace;
    rocl_gaps *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->c = c;
    g->lanes = lanes;
    g->lengths = rocl_percentiles_new(t->space, t->opt.jobs);
    g->questions = rocl_collector_sorter(c, 4);
    g->host = rocl_host_new(c);
    if (make_ends(g) && g->lengths && g->questions && g->host)
        return g;
    rocl_gaps_free(g);
    return NULL;
}

void rocl_gaps_free(rocl_gaps *g)
{
    if (!g)
        return;
    rocl_percentiles_free(g->lengths);
    rocl_host_free(g->host);
    free(g->first_end);
    free(g->ends);
    free(g->tracks);
    free(g);
}
