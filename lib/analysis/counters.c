/* The report "counters": values of counters, those of kernels and those over time.
 *
 * Values of kernels are added up as they come: each worker has the sums of groups that it has seen
 * of late, and puts them to those of all when others need the place. Sums are exact, so that
 * neither the order nor the number of workers or ranks matters. Values with a time of their own
 * become records of (series, time); a series is what one process read from one instance of a
 * counter, in which a value lasts until the next. Derived counters are made by derived.c. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/derived.h"
#include "analysis/distribution.h"
#include "analysis/keyed.h"

/* Both kinds of keys are compared and interned as bytes: no holes. */
typedef struct group_key {
    uint32_t kernel, counter, units; /* texts */
    uint32_t kind;
    rocl_agent_key agent;
} group_key;

typedef struct series_key {
    group_key group;
    uint32_t capture, counter;
    int64_t instance[5]; /* XCC and so on */
} series_key;

_Static_assert(sizeof(group_key) == 4 * 4 + sizeof(rocl_agent_key), "no holes");
_Static_assert(sizeof(series_key) == sizeof(group_key) + 2 * 4 + 5 * 8, "no holes");

/* The values of a group or a series; a row of a table as well. */
typedef struct values {
    union { /* the key: that of a series begins with that of its group */
        group_key group;
        series_key series;
    };
    uint64_t count, series_count;
    double min, max;
    rocl_sum total;
    rocl_sum weighted, time; /* for a series: value by ns that it lasted, and ns */
} values;

/* Values of kernels of a group. */
typedef struct group_sums {
    uint64_t count;
    double min, max;
    rocl_exact_sum total;
} group_sums;

/* Values of a series, which one rank has alone: a capture is read by one. */
typedef struct series_sums {
    uint64_t count;
    double min, max, total, weighted, time;
} series_sums;

#define GROUP_KEY                                                                                  \
    ROCL_MEMBER(series_key, group.counter, KEY_TEXT),                                              \
        ROCL_MEMBER_BELOW(series_key, group.kind, KEY_NUMBER, ROCL_KINDS),                         \
        ROCL_MEMBER(series_key, group.units, KEY_TEXT),                                            \
        ROCL_MEMBER(series_key, group.kernel, KEY_TEXT),                                           \
        ROCL_MEMBER(series_key, group.agent, KEY_AGENT)
#define INSTANCE(i) ROCL_MEMBER(series_key, instance[i], KEY_INT)

static const rocl_member group_members[] = {GROUP_KEY};
static const rocl_member group_sum_members[] = {
    ROCL_MEMBER(group_sums, count, SUM_COUNT),
    ROCL_MEMBER(group_sums, min, SUM_REAL_LEAST),
    ROCL_MEMBER(group_sums, max, SUM_REAL_GREATEST),
    ROCL_MEMBER(group_sums, total, SUM_EXACT),
};
static const rocl_keyed_def groups = {.key_size = sizeof(group_key),
                                      .sum_size = sizeof(group_sums),
                                      ROCL_KEY_MEMBERS(group_members),
                                      ROCL_SUM_MEMBERS(group_sum_members)};

/* Series are added up in their order, which does not depend on their ids. */
static const rocl_member series_members[] = {
    GROUP_KEY,
    ROCL_MEMBER(series_key, capture, KEY_NUMBER),
    ROCL_MEMBER(series_key, counter, KEY_NUMBER),
    INSTANCE(0),
    INSTANCE(1),
    INSTANCE(2),
    INSTANCE(3),
    INSTANCE(4),
};
static const rocl_member series_sum_members[] = {
    ROCL_MEMBER(series_sums, count, SUM_COUNT),       ROCL_MEMBER(series_sums, min, SUM_REAL_LEAST),
    ROCL_MEMBER(series_sums, max, SUM_REAL_GREATEST), ROCL_MEMBER(series_sums, total, SUM_REAL),
    ROCL_MEMBER(series_sums, weighted, SUM_REAL),     ROCL_MEMBER(series_sums, time, SUM_REAL),
};
static const rocl_keyed_def all_series = {.key_size = sizeof(series_key),
                                          .sum_size = sizeof(series_sums),
                                          ROCL_KEY_MEMBERS(series_members),
                                          ROCL_SUM_MEMBERS(series_sum_members)};

/* Where a value comes from: values of the same origin are of the same group. */
typedef struct origin {
    uint32_t capture, process, agent, name, counter;
} origin;

typedef struct recent {
    origin of;
    uint32_t group; /* 0: none */
    group_sums sums;
} recent;

enum { RECENT = 256 }; /* how many a worker remembers */

typedef struct counters {
    rocl_collector c;
    rocl_keyed groups; /* the sums of all workers are those of worker 0, under the lock */
    rocl_keyed series; /* in the end */
    recent **recent;   /* by worker; NULL: it has seen nothing */
    pthread_mutex_t lock;
    bool has_lock;
    rocl_sorter *by_time;
} counters;

/* ---- sums of groups -------------------------------------------------------------------------- */

/* What a worker has of a group goes to the sums of all. */
static rocl_status flush_recent(counters *s, recent *r, rocl_error *err)
{
    if (!r->group)
        return ROCL_OK;
    pthread_mutex_lock(&s->lock);
    group_sums *all = rocl_keyed_sums(&s->groups, 0, r->group);
    const bool good = all && rocl_keyed_add(&groups, all, &r->sums);
    pthread_mutex_unlock(&s->lock);
    rocl_exact_clear(&r->sums.total);
    r->sums.count = 0;
    r->group = 0;
    return good ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- collecting ------------------------------------------------------------------------------ */

static group_key make_group(const counters *s, const rocl_batch *b, const rocl_event *e,
                            uint32_t counter, uint32_t agent)
{
    const rocl_capture *c = b->capture;
    group_key k = {.kind = b->kind};
    int32_t rank = s->c.options->by_rank ? c->processes[e->process].rank : -1;
    if (counter < c->counter_count) {
        k.counter = c->counters[counter].name;
        k.units = c->counters[counter].units;
        if (agent >= c->agent_count)
            agent = c->counters[counter].agent;
    } else {
        k.counter = e->name == ROCL_NONE || b->kind == ROCL_COUNTER ? 0 : e->name;
    }
    if (b->kind != ROCL_COUNTER || s->c.options->by_agent)
        k.agent = rocl_agent_key_of(c, agent, rank);
    else
        k.agent = (rocl_agent_key){.type = ROCL_NONE, .id = -1, .rank = rank};
    return k;
}

static rocl_status add_counter_value(counters *s, unsigned worker, const rocl_batch *b,
                                     const rocl_counter_value *v, rocl_error *err)
{
    const origin o = {b->capture->index, v->d.e.process, v->d.agent, v->d.e.name, v->counter};
    const uint32_t h = (o.name ^ o.counter << 7 ^ o.agent << 3 ^ o.process << 5 ^ o.capture) *
                       UINT32_C(2654435761);
    recent *r = &s->recent[worker][h / (UINT32_MAX / RECENT + 1)];
    if (!r->group || memcmp(&r->of, &o, sizeof o) != 0) {
        group_key k = make_group(s, b, &v->d.e, v->counter, v->d.agent);
        k.kernel = v->d.e.name == ROCL_NONE ? 0 : v->d.e.name;
        const uint32_t id = rocl_keyed_group(&s->groups, &k);
        const rocl_status st = id == ROCL_NONE ? rocl_fail_memory(err) : flush_recent(s, r, err);
        if (st != ROCL_OK)
            return st;
        r->of = o;
        r->group = id;
    }
    group_sums *sums = &r->sums;
    if (!sums->count || rocl_bits_of_value(v->value) < rocl_bits_of_value(sums->min))
        sums->min = v->value;
    if (!sums->count || rocl_bits_of_value(v->value) > rocl_bits_of_value(sums->max))
        sums->max = v->value;
    sums->count++;
    return rocl_exact_add(&sums->total, v->value) ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status add_sampled_value(counters *s, unsigned worker, const rocl_batch *b,
                                     const rocl_sample_value *v, rocl_error *err)
{
    series_key k = {.group = make_group(s, b, &v->e, v->counter, v->agent),
                    .capture = b->capture->index,
                    .counter = v->counter,
                    .instance = {v->xcc, v->shader_engine, v->instance, v->shader_array, v->wgp}};
    const uint32_t id = rocl_keyed_group(&s->series, &k);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    const uint64_t key[4] = {id, (uint64_t)v->e.start, v->e.id, rocl_bits_of_value(v->value)};
    return rocl_sorter_add(s->by_time, worker, key, NULL, 0, err);
}

static rocl_status add_counter_batch(void *self, unsigned worker, const rocl_batch *b,
                                     rocl_error *err)
{
    counters *s = self;
    rocl_status st = ROCL_OK;
    if (!s->recent[worker] && !(s->recent[worker] = calloc(RECENT, sizeof(recent))))
        return rocl_fail_memory(err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        st = b->kind == ROCL_COUNTER ? add_counter_value(s, worker, b, &b->counters[i], err)
                                     : add_sampled_value(s, worker, b, &b->samples[i], err);
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double mean_of(const values *g)
{
    return rocl_sum_value(&g->total) / (double)g->count;
}

static void merge_values(void *into, const void *from)
{
    values *a = into;
    const values *b = from;
    if (!a->count || b->min < a->min)
        a->min = b->min;
    if (!a->count || b->max > a->max)
        a->max = b->max;
    a->count += b->count;
    a->series_count += b->series_count;
    rocl_sum_add(&a->total, rocl_sum_value(&b->total));
    rocl_sum_add(&a->weighted, rocl_sum_value(&b->weighted));
    rocl_sum_add(&a->time, rocl_sum_value(&b->time));
}

/* ---- order ----------------------------------------------------------------------------------- */

static int largest_first(double a, double b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Values of different counters say nothing about each other: the order is within a counter. */
static int compare_by_values(const void *a, const void *b, void *ctx)
{
    const counters *s = ctx;
    const values *x = a, *y = b;
    const rocl_sort_by by = s->c.options->sort;
    int c = rocl_compare_texts(s->c.trace, x->group.counter, y->group.counter);
    if (!c)
        c = rocl_compare_texts(s->c.trace, x->group.units, y->group.units);
    if (!c && by == ROCL_BY_TOTAL)
        c = largest_first(rocl_sum_value(&x->total), rocl_sum_value(&y->total));
    if (!c && by == ROCL_BY_CALLS)
        c = x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
    if (!c && by == ROCL_BY_AVERAGE)
        c = largest_first(mean_of(x), mean_of(y));
    if (!c && by == ROCL_BY_MAX)
        c = largest_first(x->max, y->max);
    return c ? c : rocl_keyed_compare(&groups, s->c.trace, x, y);
}

static int compare_by_series(const void *a, const void *b, void *trace)
{
    return rocl_keyed_compare(&all_series, trace, a, b);
}

/* ---- series ---------------------------------------------------------------------------------- */

/* The values of the series that is read. */
typedef struct open_series {
    uint32_t id; /* 0: none yet */
    series_sums sums;
    rocl_sum total, weighted, time;
    double last;
    int64_t last_time;
} open_series;

static void add_to_series(open_series *o, int64_t time, double v)
{
    if (o->sums.count) { /* what came before has lasted until now */
        const double ns = (double)(time - o->last_time);
        rocl_sum_add(&o->weighted, o->last * ns);
        rocl_sum_add(&o->time, ns);
    }
    o->last = v;
    o->last_time = time;
    if (!o->sums.count || v < o->sums.min)
        o->sums.min = v;
    if (!o->sums.count || v > o->sums.max)
        o->sums.max = v;
    o->sums.count++;
    rocl_sum_add(&o->total, v);
}

/* all: the sums of all series. */
static void end_series(open_series *o, series_sums *all)
{
    o->sums.total = rocl_sum_value(&o->total);
    o->sums.weighted = rocl_sum_value(&o->weighted);
    o->sums.time = rocl_sum_value(&o->time);
    if (o->id)
        all[o->id] = o->sums;
    *o = (open_series){0};
}

/* Once: for the ranks of a team, or when the report is finished. */
static rocl_status settle_counters(void *self, rocl_error *err)
{
    counters *s = self;
    open_series open = {0};
    rocl_sort_record rec;
    series_sums *all = rocl_keyed_all(&s->series);
    rocl_status st = all ? ROCL_OK : rocl_fail_memory(err);
    for (unsigned w = 0; w < s->c.trace->opt.jobs; w++)
        for (unsigned i = 0; s->recent[w] && i < RECENT && st == ROCL_OK; i++)
            st = flush_recent(s, &s->recent[w][i], err);
    if (st != ROCL_OK || !s->by_time)
        return st;
    st = rocl_sorter_start(s->by_time, err);
    while (rocl_next_record(s->by_time, &rec, &st, err)) {
        if (rec.key[0] != open.id)
            end_series(&open, all);
        open.id = (uint32_t)rec.key[0];
        add_to_series(&open, (int64_t)rec.key[1], rocl_value_of_bits(rec.key[3]));
    }
    end_series(&open, all);
    rocl_collector_free_sorter(&s->c, &s->by_time);
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static rocl_datum field_sum(const rocl_report_rows *r, const void *field)
{
    double v = rocl_sum_value(field);
    return rocl_field_number(r, &v);
}

static rocl_datum field_mean(const rocl_report_rows *r, const void *row)
{
    double v = mean_of(row);
    return rocl_field_real(r, &v);
}

/* Weighted by the time that each value lasted. Where nothing lasts, as with a single value, all
 * weigh the same. */
static rocl_datum field_mean_over_time(const rocl_report_rows *r, const void *row)
{
    const values *g = row;
    const double ns = rocl_sum_value(&g->time);
    const double v = ns > 0 ? rocl_sum_value(&g->weighted) / ns : mean_of(g);
    return rocl_field_real(r, &v);
}

static rocl_datum field_kind(const rocl_report_rows *r, const void *field)
{
    const uint32_t *kind = field;
    const char *name = rocl_kind_name((rocl_kind)*kind);
    return rocl_field_string(r, &name);
}

#define CELL(field)   ROCL_IN_REST, ROCL_CELL(values, field)
#define BY(fn, field) ROCL_IN_REST, ROCL_CELL_BY(fn, values, field)
#define RANK          ROCL_IF_RANK, ROCL_CELL_BY(rocl_field_known, values, group.agent.rank)

static const rocl_column counter_columns[] = {
    {"counter", "Counter", ROCL_UNIT_TEXT, CELL(group.counter)},
    {"kernel", "Kernel", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(values, group.kernel)},
    {"agent", "Agent", ROCL_UNIT_TEXT, ROCL_IF_AGENT, ROCL_CELL(values, group.agent)},
    {"rank", "Rank", ROCL_UNIT_COUNT, RANK},
    {"unit", "Unit", ROCL_UNIT_TEXT, BY(rocl_field_label, group.units)},
    {"dispatches", "Dispatches", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM,
     ROCL_CELL(values, count)},
    {"sum", "Sum", ROCL_UNIT_NUMBER, BY(field_sum, total)},
    {"mean", "Mean", ROCL_UNIT_NUMBER, ROCL_IN_REST, field_mean, 0},
    {"min", "Min", ROCL_UNIT_NUMBER, ROCL_IN_REST | ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_number, values, min)},
    {"max", "Max", ROCL_UNIT_NUMBER, ROCL_IN_REST | ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_number, values, max)},
};

static const rocl_column sample_columns[] = {
    {"counter", "Counter", ROCL_UNIT_TEXT, CELL(group.counter)},
    {"kind", "Kind", ROCL_UNIT_TEXT, BY(field_kind, group.kind)},
    {"agent", "Agent", ROCL_UNIT_TEXT, CELL(group.agent)},
    {"rank", "Rank", ROCL_UNIT_COUNT, RANK},
    {"unit", "Unit", ROCL_UNIT_TEXT, BY(rocl_field_label, group.units)},
    {"series", "Series", ROCL_UNIT_COUNT, CELL(series_count)},
    {"samples", "Samples", ROCL_UNIT_COUNT, CELL(count)},
    {"mean", "Mean", ROCL_UNIT_NUMBER, ROCL_IN_REST, field_mean_over_time, 0},
    {"min", "Min", ROCL_UNIT_NUMBER, ROCL_IN_REST | ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_number, values, min)},
    {"max", "Max", ROCL_UNIT_NUMBER, ROCL_IN_REST | ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_number, values, max)},
};

static const rocl_table_def counter_table = {ROCL_TAB(COUNTERS), "counters", "Counters of kernels",
                                             ROCL_COLUMNS(counter_columns)};
static const rocl_table_def sample_table = {ROCL_TAB(COUNTERS), "samples", "Sampled counters",
                                            ROCL_COLUMNS(sample_columns)};

static rocl_status put_groups(counters *s, rocl_tables *out, rocl_error *err)
{
    const rocl_report_rows r = rocl_begin_table(&s->c, out, &counter_table, 0);
    size_t count, next;
    values *all = rocl_groups_new(s->groups.keys, sizeof(group_key), sizeof *all, &count);
    const group_sums *sums = rocl_keyed_all(&s->groups);
    if (!all || !sums) {
        free(all);
        return rocl_fail_memory(err);
    }
    for (size_t i = 1; i < count; i++) {
        all[i].count = sums[i].count;
        all[i].min = sums[i].min;
        all[i].max = sums[i].max;
        all[i].total.sum = rocl_exact_value(&sums[i].total);
    }
    qsort_r(all + 1, count - 1, sizeof *all, compare_by_values, s);
    /* The groups of one counter and unit stand together; --top counts for each. */
    for (size_t i = 1; i < count; i = next) {
        const group_key *k = &all[i].group;
        for (next = i + 1; next < count && all[next].group.counter == k->counter &&
                           all[next].group.units == k->units;)
            next++;
        rocl_add_top_rows(&r, &all[i], next - i, sizeof *all, merge_values);
    }
    free(all);
    return ROCL_OK;
}

typedef struct series_row {
    series_key key;
    series_sums sums;
} series_row;

/* A row for all series of a group. */
static rocl_status put_series(counters *s, rocl_tables *out, rocl_error *err)
{
    const rocl_report_rows r = rocl_begin_table(&s->c, out, &sample_table, 0);
    size_t count, next;
    series_row *all = rocl_keyed_rows(&s->series, &s->c, sizeof *all, &count);
    if (!all)
        return rocl_fail_memory(err);
    qsort_r(all, count, sizeof *all, compare_by_series, s->c.trace);
    for (size_t i = 0; i < count; i = next) {
        values g = {.group = all[i].key.group};
        for (next = i;
             next < count && !rocl_keyed_compare(&groups, s->c.trace, &all[i].key, &all[next].key);
             next++) {
            const series_sums *of = &all[next].sums;
            merge_values(&g, &(values){.count = of->count,
                                       .series_count = 1,
                                       .min = of->min,
                                       .max = of->max,
                                       .total.sum = of->total,
                                       .weighted.sum = of->weighted,
                                       .time.sum = of->time});
        }
        rocl_add_row(&r, &g);
    }
    free(all);
    return ROCL_OK;
}

static rocl_status finish_counters(void *self, rocl_tables *out, rocl_error *err)
{
    rocl_status st = settle_counters(self, err);
    if (st == ROCL_OK)
        st = put_groups(self, out, err);
    return st == ROCL_OK ? put_series(self, out, err) : st;
}

static const rocl_gather_def gather_counters = {.settle = settle_counters, ROCL_GATHER_KEYED};

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_counters(void *self, rocl_error *err)
{
    counters *s = self;
    s->recent = calloc(s->c.trace->opt.jobs, sizeof *s->recent);
    s->by_time = rocl_collector_sorter(&s->c, 4);
    s->has_lock = pthread_mutex_init(&s->lock, NULL) == 0;
    if (!s->recent || !s->by_time || !s->has_lock)
        return rocl_fail_memory(err);
    const rocl_status st = rocl_keyed_open(&s->groups, &groups, &s->c, err);
    return st == ROCL_OK ? rocl_keyed_open(&s->series, &all_series, &s->c, err) : st;
}

static void close_counters(void *self)
{
    counters *s = self;
    for (unsigned w = 0; s->recent && w < s->c.trace->opt.jobs; w++) {
        for (unsigned i = 0; s->recent[w] && i < RECENT; i++)
            rocl_exact_free(&s->recent[w][i].sums.total);
        free(s->recent[w]);
    }
    free(s->recent);
    if (s->has_lock)
        pthread_mutex_destroy(&s->lock);
}

const rocl_collector_def rocl_counter_collector = {
    .tables = (const rocl_table_def *const[]){&counter_table, &sample_table, NULL},
    .kinds = ROCL_VALUE_KINDS,
    .size = sizeof(counters),
    .open = open_counters,
    .add_batch = add_counter_batch,
    .finish = finish_counters,
    .close = close_counters,
    .gather = &gather_counters,
};
