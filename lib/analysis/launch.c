/* From the call that launched a kernel to the kernel's end. Every kernel looks up its call; the
 * answers are kept as sums per group, and as delays for percentiles. */
#include <stdlib.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "analysis/lanes.h"
#include "analysis/percentiles.h"
#include "base/array.h"
#include "base/wide.h"

enum { LONGEST_DELAYS = 20 };

/* What makes a group; interned as bytes, so without holes. */
typedef struct launch_key {
    uint32_t name, call, agent, stream; /* texts; call ROCL_NONE: it is not in the trace */
    int32_t rank;                       /* -1: unknown, or not wanted */
} launch_key;

typedef struct launch_group {
    launch_key key;
    uint64_t count, early;         /* kernels; those that began before their call returned */
    rocl_u128 calls, kernels, all; /* sums of times */
    rocl_distribution delay;
    /* For its row, by describe_launch_group; nothing where no call is known: */
    int64_t early_known, median, p95, max;
    double call_average, delay_average, kernel_average, total_average;
} launch_group;

typedef struct launch_delay {
    launch_key key;
    int64_t start, delay;
    rocl_event_ref event;
    uint64_t process, stack_id; /* as of rocl_calls */
} launch_delay;

typedef struct launch {
    rocl_collector c;
    rocl_sorter *kernels;     /* by process and stack id */
    rocl_percentiles *delays; /* by group */
    rocl_strings *keys;       /* their ids are the groups */
    launch_group *groups;
    size_t group_count;
    launch_delay longest[LONGEST_DELAYS]; /* the longest first */
    unsigned longest_count;
    uint64_t unlinked;
} launch;

/* ---- events ---------------------------------------------------------------------------------- */

/* Also those without a stack id, which no call has. */
static rocl_status add_launch_batch(void *self, unsigned worker, const rocl_batch *b,
                                    rocl_error *err)
{
    launch *l = self;
    const rocl_capture *c = b->capture;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_dispatch *d = &b->dispatches[i];
        const rocl_event *e = &d->e;
        const uint64_t key[4] = {rocl_process_word(c, e), e->stack_id, (uint64_t)e->start, e->id};
        const uint64_t numbers[] = {(uint64_t)e->end, rocl_name_of(e),
                                    d->agent < c->agent_count ? c->agents[d->agent].device : 0,
                                    rocl_lane_label(c, d->stream, d->queue)};
        st = rocl_add_numbers(l->kernels, worker, key, numbers, 4, err);
    }
    return st;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int compare_words(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* The longest first; of equal ones the earliest, and then in the order of questions. */
static int compare_delays(const void *a, const void *b)
{
    const launch_delay *x = a, *y = b;
    int c = rocl_number_order(y->delay, x->delay);
    if (!c)
        c = rocl_number_order(x->start, y->start);
    if (!c)
        c = compare_words(x->process, y->process);
    if (!c)
        c = compare_words(x->stack_id, y->stack_id);
    return c ? c : compare_words(x->event.row, y->event.row);
}

/* No time is below 0, also where the clocks of host and GPU are not quite the same. */
static rocl_status add_launch(void *ctx, const rocl_sort_record *question, const rocl_call *call,
                              rocl_error *err)
{
    launch *l = ctx;
    const rocl_stats_options *o = l->c.options;
    const rocl_capture *c = &l->c.trace->captures[question->key[0] >> 32]->pub;
    uint64_t v[4];
    rocl_read_numbers(question, v, 4);
    const int64_t start = (int64_t)question->key[2], end = (int64_t)v[0];
    const launch_key full_key = {.name = (uint32_t)v[1],
                                 .call = call ? call->name : ROCL_NONE,
                                 .agent = (uint32_t)v[2],
                                 .rank = c->processes[(uint32_t)question->key[0]].rank,
                                 .stream = (uint32_t)v[3]};
    launch_key key = full_key;
    if (!o->by_rank)
        key.rank = -1;
    if (!o->by_agent)
        key.agent = 0;
    if (!o->by_stream)
        key.stream = 0;
    uint32_t id = rocl_strings_put(l->keys, (const char *)&key, sizeof key);
    if (id == ROCL_NONE || !ROCL_GROW(l->groups, l->group_count, (size_t)id + 1))
        return rocl_fail_memory(err);
    launch_group *g = &l->groups[id];
    g->key = key;
    g->count++;
    g->kernels += (uint64_t)(end - start);
    if (!call) {
        l->unlinked++;
        return ROCL_OK;
    }
    int64_t delay = start > call->end ? start - call->end : 0;
    int64_t all = end > call->start ? end - call->start : 0;
    g->early += start < call->end;
    g->calls += (uint64_t)(call->end - call->start);
    g->all += (uint64_t)all;
    if (delay)
        rocl_keep_first(l->longest, &l->longest_count, LONGEST_DELAYS, sizeof *l->longest,
                        &(launch_delay){full_key,
                                        start,
                                        delay,
                                        {(uint32_t)(question->key[0] >> 32) + 1,
                                         rocl_row_word(question->key[3], ROCL_DISPATCH)},
                                        question->key[0],
                                        question->key[1]},
                        compare_delays);
    return rocl_percentiles_add(l->delays, 0, id, delay, err);
}

static rocl_status look_up_calls(void *self, rocl_calls *calls, rocl_error *err)
{
    launch *l = self;
    return rocl_calls_look_up(calls, l->kernels, add_launch, l, err);
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define CELL(field)  ROCL_CELL(launch_group, field)
#define KNOWN(field) ROCL_CELL_BY(rocl_field_known, launch_group, field)
#define LABEL(field) ROCL_CELL_BY(rocl_field_label, launch_group, field)

static const rocl_column launch_columns[] = {
    {"name", "Kernel", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(key.name)},
    {"call", "Launched by", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_text_or_none, launch_group, key.call)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(key.rank)},
    {"agent", "Agent", ROCL_UNIT_TEXT, ROCL_IF_AGENT, LABEL(key.agent)},
    {"stream", "Stream", ROCL_UNIT_TEXT, ROCL_IF_STREAM, LABEL(key.stream)},
    {"launches", "Count", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(count)},
    {"early", "Early", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, KNOWN(early_known)},
    {"call_average_ns", "Call", ROCL_UNIT_NS, ROCL_IN_REST, CELL(call_average)},
    {"delay_average_ns", "Delay", ROCL_UNIT_NS, ROCL_IN_REST, CELL(delay_average)},
    {"delay_median_ns", "Median", ROCL_UNIT_NS, ROCL_ALWAYS, KNOWN(median)},
    {"delay_p95_ns", "P95", ROCL_UNIT_NS, ROCL_MINOR, KNOWN(p95)},
    {"delay_max_ns", "Max", ROCL_UNIT_NS, ROCL_IN_REST, KNOWN(max)},
    {"kernel_average_ns", "Kernel", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR, CELL(kernel_average)},
    {"total_average_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR, CELL(total_average)},
};

#undef CELL
#undef LABEL
#define CELL(field)  ROCL_ALWAYS, ROCL_CELL(launch_delay, field)
#define LABEL(field) ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_label, launch_delay, field)

static const rocl_column delay_columns[] = {
    {"name", "Kernel", ROCL_UNIT_TEXT, CELL(key.name)},
    {"call", "Launched by", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_text_or_none, launch_delay, key.call)},
    {"start_ns", "Start", ROCL_UNIT_TIME, CELL(start)},
    {"delay_ns", "Delay", ROCL_UNIT_NS, CELL(delay)},
    {"rank", "Rank", ROCL_UNIT_COUNT, CELL(key.rank)},
    {"agent", "Agent", ROCL_UNIT_TEXT, LABEL(key.agent)},
    {"stream", "Stream", ROCL_UNIT_TEXT, LABEL(key.stream)},
    {"id", "Id", ROCL_UNIT_TEXT, ROCL_IF_IDS, ROCL_CELL(launch_delay, event)},
};

static const rocl_table_def launch_table = {ROCL_TAB(LAUNCH), "launch", "Kernel launches",
                                            ROCL_COLUMNS(launch_columns)};
static const rocl_table_def delay_table = {
    ROCL_TAB(LAUNCH), "launch_delays", "Longest delays of launches", ROCL_COLUMNS(delay_columns)};

static void describe_launch_group(launch_group *g)
{
    const rocl_distribution *d = &g->delay;
    g->early_known = d->taken ? (int64_t)g->early : -1;
    g->median = d->taken ? d->median : -1;
    g->p95 = d->taken ? d->p95 : -1;
    g->max = d->taken ? d->max : -1;
    g->call_average = rocl_mean_of_sum(g->calls, d->taken);
    g->delay_average = rocl_mean_of_sum(d->sum, d->taken);
    g->kernel_average = rocl_mean_of_sum(g->kernels, g->count);
    g->total_average = rocl_mean_of_sum(g->all, d->taken);
}

static int compare_launch_groups(const void *a, const void *b, void *ctx)
{
    const launch *l = ctx;
    const launch_group *x = a, *y = b;
    const rocl_distribution *d = &x->delay, *e = &y->delay;
    int c = rocl_compare_values(
        l->c.options->sort,
        &(rocl_sort_values){d->total, d->max, x->count, d->taken ? x->delay_average : -1},
        &(rocl_sort_values){e->total, e->max, y->count, e->taken ? y->delay_average : -1});
    if (!c)
        c = rocl_compare_texts(l->c.trace, x->key.name, y->key.name);
    if (!c)
        c = (x->key.call == ROCL_NONE) - (y->key.call == ROCL_NONE);
    if (!c)
        c = rocl_compare_texts(l->c.trace, x->key.call, y->key.call);
    if (!c)
        c = rocl_number_order(x->key.rank, y->key.rank);
    if (!c)
        c = rocl_compare_texts(l->c.trace, x->key.agent, y->key.agent);
    return c ? c : rocl_compare_texts(l->c.trace, x->key.stream, y->key.stream);
}

static void add_launch_group(void *into, const void *from)
{
    launch_group *sum = into;
    const launch_group *g = from;
    sum->count += g->count;
    sum->early += g->early;
    sum->calls += g->calls;
    sum->kernels += g->kernels;
    sum->all += g->all;
    rocl_distribution_merge(&sum->delay, &g->delay);
    describe_launch_group(sum);
}

static rocl_status finish_launch(void *self, rocl_tables *out, rocl_error *err)
{
    launch *l = self;
    size_t n = 0;
    rocl_status st = ROCL_OK;
    for (uint32_t i = 0; i < l->group_count && st == ROCL_OK; i++) {
        launch_group *g = &l->groups[i];
        if (!g->count)
            continue;
        st = rocl_percentiles_describe(l->delays, i, &g->delay, err);
        describe_launch_group(g);
        l->groups[n++] = *g;
    }
    if (n)
        qsort_r(l->groups, n, sizeof *l->groups, compare_launch_groups, l);
    static const char what[] = "call, delay, kernel and total on average";
    rocl_report_rows r = rocl_begin_table(&l->c, out, &launch_table, 0);
    if (l->unlinked)
        rocl_set_note(&r, "%s; the calls of %llu kernels are not in the trace", what,
                      (unsigned long long)l->unlinked);
    else
        rocl_set_note(&r, "%s", what);
    rocl_add_top_rows(&r, l->groups, n, sizeof *l->groups, add_launch_group);
    r = rocl_begin_table(&l->c, out, &delay_table, 0);
    for (size_t i = 0; i < rocl_rows_shown(l->c.options, l->longest_count); i++)
        rocl_add_row(&r, &l->longest[i]);
    return st;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_launch(void *self, rocl_error *err)
{
    launch *l = self;
    l->c.needs_calls = true;
    l->kernels = rocl_collector_sorter(&l->c, 4);
    l->delays = rocl_percentiles_new(l->c.trace->space, l->c.trace->opt.jobs);
    l->keys = rocl_strings_new();
    return l->kernels && l->delays && l->keys ? ROCL_OK : rocl_fail_memory(err);
}

static void close_launch(void *self)
{
    launch *l = self;
    rocl_percentiles_free(l->delays);
    rocl_strings_free(l->keys);
    free(l->groups);
}

const rocl_collector_def rocl_launch_collector = {
    .tables = (const rocl_table_def *const[]){&launch_table, &delay_table, NULL},
    .kinds = ROCL_BIT(ROCL_DISPATCH),
    .size = sizeof(launch),
    .open = open_launch,
    .add_batch = add_launch_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_launch,
    .close = close_launch,
};
