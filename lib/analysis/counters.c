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
#include "analysis/gather.h"
#include "analysis/report.h"
#include "base/array.h"
#include "base/exact.h"

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

/* Of a group or a series; a row of a table as well. */
typedef struct values {
    union { /* the key: that of a series begins with that of its group */
        group_key group;
        series_key series;
    };
    uint64_t count, series_count;
    double min, max;
    rocl_sum total;
    rocl_sum weighted, time; /* of a series: value by ns that it lasted, and ns */
    double last;
    int64_t last_time;
} values;

/* Values of kernels of a group. */
typedef struct sums {
    uint64_t count;
    double min, max;
    rocl_exact_sum total;
} sums;

/* Where a value comes from: values of the same origin are of the same group. */
typedef struct origin {
    uint32_t capture, process, agent, name, counter;
} origin;

typedef struct recent {
    origin of;
    uint32_t group; /* 0: none */
    sums sums;
} recent;

enum { RECENT = 256 }; /* of a worker */

typedef struct counters {
    rocl_collector c;
    rocl_strings *groups, *series; /* keys by id */
    recent **recent;               /* by worker; NULL: it has seen nothing */
    pthread_mutex_t lock;
    bool has_lock;
    sums *sums; /* by group, of all workers; under the lock */
    size_t sum_cap;
    rocl_sorter *by_time;
    values *elsewhere; /* series of other ranks */
    size_t elsewhere_count, elsewhere_cap;
} counters;

/* ---- sums of groups -------------------------------------------------------------------------- */

/* In an order that also -0 and NaN have a place in, so that it does not matter which comes first.
 */
static void widen_range(sums *s, double min, double max)
{
    if (!s->count || rocl_bits_of_value(min) < rocl_bits_of_value(s->min))
        s->min = min;
    if (!s->count || rocl_bits_of_value(max) > rocl_bits_of_value(s->max))
        s->max = max;
}

static bool add_to_sums(sums *s, double v)
{
    widen_range(s, v, v);
    s->count++;
    return rocl_exact_add(&s->total, v);
}

static bool merge_sums(sums *into, const sums *from)
{
    if (!from->count)
        return true;
    widen_range(into, from->min, from->max);
    into->count += from->count;
    return rocl_exact_merge(&into->total, &from->total);
}

/* What a worker has of a group goes to the sums of all. */
static rocl_status flush_recent(counters *s, recent *r, rocl_error *err)
{
    if (!r->group)
        return ROCL_OK;
    pthread_mutex_lock(&s->lock);
    const bool good = ROCL_GROW(s->sums, s->sum_cap, (size_t)r->group + 1) &&
                      merge_sums(&s->sums[r->group], &r->sums);
    pthread_mutex_unlock(&s->lock);
    rocl_exact_clear(&r->sums.total);
    r->sums.count = 0;
    r->group = 0;
    return good ? ROCL_OK : rocl_fail_memory(err);
}

/* When all have come. */
static rocl_status flush_all_recent(counters *s, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (unsigned w = 0; w < s->c.trace->opt.jobs; w++)
        for (unsigned i = 0; s->recent[w] && i < RECENT && st == ROCL_OK; i++)
            st = flush_recent(s, &s->recent[w][i], err);
    return st;
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

static recent *find_recent(recent *all, const origin *o)
{
    const uint32_t h = (o->name ^ o->counter << 7 ^ o->agent << 3 ^ o->process << 5 ^ o->capture) *
                       UINT32_C(2654435761);
    return &all[h / (UINT32_MAX / RECENT + 1)];
}

static rocl_status add_counter_value(counters *s, unsigned worker, const rocl_batch *b,
                                     const rocl_counter_value *v, rocl_error *err)
{
    const origin o = {b->capture->index, v->d.e.process, v->d.agent, v->d.e.name, v->counter};
    recent *r = find_recent(s->recent[worker], &o);
    if (!r->group || memcmp(&r->of, &o, sizeof o) != 0) {
        group_key k = make_group(s, b, &v->d.e, v->counter, v->d.agent);
        k.kernel = v->d.e.name == ROCL_NONE ? 0 : v->d.e.name;
        const uint32_t id = rocl_strings_put(s->groups, (const char *)&k, sizeof k);
        const rocl_status st = id == ROCL_NONE ? rocl_fail_memory(err) : flush_recent(s, r, err);
        if (st != ROCL_OK)
            return st;
        r->of = o;
        r->group = id;
    }
    return add_to_sums(&r->sums, v->value) ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status add_sampled_value(counters *s, unsigned worker, const rocl_batch *b,
                                     const rocl_sample_value *v, rocl_error *err)
{
    series_key k = {.group = make_group(s, b, &v->e, v->counter, v->agent),
                    .capture = b->capture->index,
                    .counter = v->counter,
                    .instance = {v->xcc, v->shader_engine, v->instance, v->shader_array, v->wgp}};
    uint32_t id = rocl_strings_put(s->series, (const char *)&k, sizeof k);
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

/* Weighted by the time that each value lasted. Where nothing lasts, as of a single value, all weigh
 * the same. */
static double mean_over_time(const values *g)
{
    double ns = rocl_sum_value(&g->time);
    return ns > 0 ? rocl_sum_value(&g->weighted) / ns : mean_of(g);
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

static int compare_keys(const counters *s, const group_key *a, const group_key *b)
{
    int c = rocl_compare_texts(s->c.trace, a->counter, b->counter);
    if (!c)
        c = rocl_number_order(a->kind, b->kind);
    if (!c)
        c = rocl_compare_texts(s->c.trace, a->units, b->units);
    if (!c)
        c = rocl_compare_texts(s->c.trace, a->kernel, b->kernel);
    return c ? c : rocl_compare_agents(&a->agent, &b->agent);
}

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
    return c ? c : compare_keys(s, &x->group, &y->group);
}

/* An order that does not depend on their ids: series are added up in it. */
static int compare_by_series(const void *a, const void *b, void *ctx)
{
    const series_key *x = &((const values *)a)->series, *y = &((const values *)b)->series;
    int c = compare_keys(ctx, &x->group, &y->group);
    if (!c)
        c = rocl_number_order(x->capture, y->capture);
    if (!c)
        c = rocl_number_order(x->counter, y->counter);
    for (unsigned i = 0; i < 5 && !c; i++)
        c = rocl_number_order(x->instance[i], y->instance[i]);
    return c;
}

/* ---- values by key -------------------------------------------------------------------------- */

/* The values of each group, in order: all[1] to all[*count - 1]. Free them also after a failure. */
static rocl_status collect_groups(counters *s, values **all, size_t *count, rocl_error *err)
{
    rocl_status st = flush_all_recent(s, err);
    *all = rocl_groups_new(s->groups, sizeof(group_key), sizeof **all, count);
    if (st != ROCL_OK || !*all)
        return st == ROCL_OK ? rocl_fail_memory(err) : st;
    for (size_t i = 1; i < *count; i++) {
        values *g = &(*all)[i];
        const sums *of = &s->sums[i];
        g->count = of->count;
        g->min = of->min;
        g->max = of->max;
        g->total.sum = rocl_exact_value(&of->total);
    }
    qsort_r(*all + 1, *count - 1, sizeof **all, compare_by_values, s);
    return ROCL_OK;
}

static void add_to_series(values *g, int64_t time, double v)
{
    if (g->count) { /* what came before has lasted until now */
        const double ns = (double)(time - g->last_time);
        rocl_sum_add(&g->weighted, g->last * ns);
        rocl_sum_add(&g->time, ns);
    }
    g->last = v;
    g->last_time = time;
    if (!g->count || v < g->min)
        g->min = v;
    if (!g->count || v > g->max)
        g->max = v;
    g->count++;
    g->series_count = 1;
    rocl_sum_add(&g->total, v);
}

/* A sum of others begins as a copy of its first. */
static void end_sum(rocl_sum *s)
{
    *s = (rocl_sum){.sum = rocl_sum_value(s)};
}

/* The same of each series, of this rank. */
static rocl_status collect_series(counters *s, values **all, size_t *count, rocl_error *err)
{
    rocl_sort_record rec;
    *all = rocl_groups_new(s->series, sizeof(series_key), sizeof **all, count);
    rocl_status st = *all ? rocl_sorter_start(s->by_time, err) : rocl_fail_memory(err);
    while (rocl_next_record(s->by_time, &rec, &st, err))
        add_to_series(&(*all)[rec.key[0]], (int64_t)rec.key[1], rocl_value_of_bits(rec.key[3]));
    for (size_t i = 1; i < *count && st == ROCL_OK; i++) {
        end_sum(&(*all)[i].total);
        end_sum(&(*all)[i].weighted);
        end_sum(&(*all)[i].time);
    }
    return st;
}

/* And of all ranks, in order. */
static rocl_status collect_all_series(counters *s, values **all, size_t *count, rocl_error *err)
{
    rocl_status st = collect_series(s, all, count, err);
    const size_t more = s->elsewhere_count;
    values *joined = st == ROCL_OK && more ? realloc(*all, (*count + more) * sizeof **all) : NULL;
    if (st == ROCL_OK && more && !joined)
        st = rocl_fail_memory(err);
    if (joined) {
        memcpy(joined + *count, s->elsewhere, more * sizeof **all);
        *all = joined;
        *count += more;
    }
    if (st == ROCL_OK)
        qsort_r(*all + 1, *count - 1, sizeof **all, compare_by_series, s);
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

static rocl_datum field_mean_over_time(const rocl_report_rows *r, const void *row)
{
    double v = mean_over_time(row);
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

static const rocl_table_def counter_table = {&rocl_counters_report.tab, "counters",
                                             "Counters of kernels", ROCL_COLUMNS(counter_columns)};
static const rocl_table_def sample_table = {&rocl_counters_report.tab, "samples",
                                            "Sampled counters", ROCL_COLUMNS(sample_columns)};

const rocl_report_def rocl_counters_report = {
    "counters", ROCL_COUNTERS_TAB,
    "performance counters by kernel, and sampled values over time, such as power",
    (const rocl_table_def *const[]){&counter_table, &sample_table, &rocl_derived_table,
                                    &rocl_derived_dispatch_table, &rocl_derived_missing_table,
                                    NULL}};

static rocl_status finish_counters(void *self, rocl_tables *out, rocl_error *err)
{
    counters *s = self;
    values *all;
    size_t count, next;
    rocl_report_rows r = rocl_begin_table(&s->c, out, &counter_table, 0);
    rocl_status st = collect_groups(s, &all, &count, err);
    /* The groups of one counter and unit stand together; --top counts for each. */
    for (size_t i = 1; st == ROCL_OK && i < count; i = next) {
        const group_key *k = &all[i].group;
        for (next = i + 1; next < count && all[next].group.counter == k->counter &&
                           all[next].group.units == k->units;)
            next++;
        rocl_add_top_rows(&r, &all[i], next - i, sizeof *all, merge_values);
    }
    free(all);
    if (st != ROCL_OK)
        return st;
    r = rocl_begin_table(&s->c, out, &sample_table, 0);
    st = collect_all_series(s, &all, &count, err);
    for (size_t i = 1; st == ROCL_OK && i < count; i = next) { /* a row for all of a group */
        values g = {.group = all[i].group};
        for (next = i; next < count && !compare_keys(s, &all[i].group, &all[next].group); next++)
            merge_values(&g, &all[next]);
        rocl_add_row(&r, &g);
    }
    free(all);
    return st;
}

/* ---- of a team ------------------------------------------------------------------------------- */

enum { PUT_GROUP, PUT_SERIES };

static void put_group_key(const group_key *k, rocl_put *to)
{
    rocl_put_text(to, k->kernel);
    rocl_put_text(to, k->counter);
    rocl_put_text(to, k->units);
    rocl_put_bytes(to, &k->kind, sizeof *k - offsetof(group_key, kind));
}

static group_key take_group_key(rocl_taken *from)
{
    group_key k = {.kernel = rocl_take_text(from)};
    k.counter = rocl_take_text(from);
    k.units = rocl_take_text(from);
    rocl_take_bytes(from, &k.kind, sizeof k - offsetof(group_key, kind));
    return k;
}

/* A series is one of a capture, and a capture is read by one rank: it is complete. */
static rocl_status put_counters(void *self, rocl_put *to, rocl_error *err)
{
    counters *s = self;
    values *all;
    size_t count;
    rocl_status st = flush_all_recent(s, err);
    for (uint32_t i = 1; i < rocl_strings_count(s->groups) && st == ROCL_OK; i++) {
        group_key k;
        const sums *of = &s->sums[i];
        memcpy(&k, rocl_strings_get(s->groups, i, NULL), sizeof k);
        rocl_put_number(to, PUT_GROUP);
        put_group_key(&k, to);
        rocl_put_bytes(to, of, offsetof(sums, total));
        rocl_put_exact(to, &of->total);
        st = rocl_put_piece(to, err);
    }
    if (st != ROCL_OK)
        return st;
    st = collect_series(s, &all, &count, err);
    for (size_t i = 1; st == ROCL_OK && i < count; i++) {
        rocl_put_number(to, PUT_SERIES);
        put_group_key(&all[i].group, to);
        rocl_put_bytes(to, &all[i], sizeof *all);
        st = rocl_put_piece(to, err);
    }
    free(all);
    return st;
}

static rocl_status take_group(counters *s, rocl_taken *from, rocl_error *err)
{
    const group_key k = take_group_key(from);
    sums of = {0};
    rocl_take_bytes(from, &of, offsetof(sums, total));
    bool good = rocl_take_exact(from, &of.total);
    const uint32_t id = rocl_strings_put(s->groups, (const char *)&k, sizeof k);
    good = good && id != ROCL_NONE && ROCL_GROW(s->sums, s->sum_cap, (size_t)id + 1) &&
           merge_sums(&s->sums[id], &of);
    rocl_exact_free(&of.total);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status take_counters(void *self, unsigned rank, rocl_taken *from, rocl_error *err)
{
    counters *s = self;
    rocl_status st = ROCL_OK;
    (void)rank;
    while (!rocl_taken_all(from) && st == ROCL_OK) {
        if (rocl_take_number(from) == PUT_GROUP) {
            st = take_group(s, from, err);
            continue;
        }
        const group_key k = take_group_key(from);
        if (!ROCL_GROW(s->elsewhere, s->elsewhere_cap, s->elsewhere_count + 1))
            return rocl_fail_memory(err);
        values *v = &s->elsewhere[s->elsewhere_count++];
        rocl_take_bytes(from, v, sizeof *v);
        v->group = k;
    }
    return st == ROCL_OK && from->r.bad ? rocl_team_bad_message(err) : st;
}

static const rocl_gather_def gather_counters = {.put = put_counters, .take = take_counters};

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_counters(void *self, rocl_error *err)
{
    counters *s = self;
    s->groups = rocl_strings_new();
    s->series = rocl_strings_new();
    s->recent = calloc(s->c.trace->opt.jobs, sizeof *s->recent);
    s->by_time = rocl_collector_sorter(&s->c, 4);
    s->has_lock = pthread_mutex_init(&s->lock, NULL) == 0;
    return s->groups && s->series && s->recent && s->by_time && s->has_lock ? ROCL_OK
                                                                            : rocl_fail_memory(err);
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
    for (size_t i = 0; i < s->sum_cap; i++)
        rocl_exact_free(&s->sums[i].total);
    free(s->sums);
    free(s->elsewhere);
    rocl_strings_free(s->groups);
    rocl_strings_free(s->series);
    if (s->has_lock)
        pthread_mutex_destroy(&s->lock);
}

const rocl_collector_def rocl_counter_collector = {
    .reports = 1u << ROCL_REPORT_COUNTERS,
    .kinds = ROCL_VALUE_KINDS,
    .size = sizeof(counters),
    .open = open_counters,
    .add_batch = add_counter_batch,
    .finish = finish_counters,
    .close = close_counters,
    .gather = &gather_counters,
};
