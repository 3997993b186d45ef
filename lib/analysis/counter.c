/* Values of counters. Those of kernels become records of (group, value): each group is taken in
 * ascending order, so that its sum is the same for every number of workers. Those with a time of
 * their own become records of (series, time); a series is what one process read from one instance
 * of a counter, in which a value lasts until the next. Sums are compensated (Neumaier): they are
 * exact as long as values are integers below 2^53. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/buf.h"

/* Both kinds of keys are compared and interned as bytes: no holes. */
typedef struct group_key {
    uint32_t kernel, counter, units; /* texts */
    uint32_t kind;
    rocl_agent_key agent;
} group_key;

typedef struct series_key {
    group_key group;
    uint32_t capture, counter;
    int64_t place[5]; /* XCC and so on */
} series_key;

typedef struct sum {
    double sum, rest;
} sum;

typedef struct values {
    union {
        group_key group; /* is where that of a series begins */
        series_key series;
    };
    uint64_t count;
    double min, max;
    sum total;
    sum weighted, time; /* of a series: value by ns that it lasted, and ns */
    double last;
    int64_t last_time;
} values;

typedef struct counters {
    rocl_trace *trace;
    const rocl_stats_options *options;
    rocl_strings *groups, *series;
    rocl_sorter *by_value, *by_time;
} counters;

/* ---- taking events ---- */

/* Bits in the order of the values. */
static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t bits)
{
    double v;
    bits = bits >> 63 ? bits & ~(UINT64_C(1) << 63) : ~bits;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static group_key make_group(const counters *s, const rocl_batch *b, const rocl_event *e,
                            uint32_t counter, uint32_t agent)
{
    const rocl_capture *c = b->capture;
    group_key k = {.kind = b->kind};
    int32_t rank = s->options->by_rank ? c->processes[e->process].rank : -1;
    bool of_agent = b->kind != ROCL_COUNTER || s->options->by_agent;
    if (counter < c->counter_count) {
        k.counter = c->counters[counter].name;
        k.units = c->counters[counter].units;
        if (agent >= c->agent_count)
            agent = c->counters[counter].agent;
    } else {
        k.counter = e->name == ROCL_NONE || b->kind == ROCL_COUNTER ? 0 : e->name;
    }
    if (of_agent)
        k.agent = rocl_agent_key_of(c, agent, rank);
    else
        k.agent = (rocl_agent_key){.type = ROCL_NONE, .id = -1, .rank = rank};
    return k;
}

static rocl_status take_counter(counters *s, unsigned worker, const rocl_batch *b, size_t i,
                                rocl_error *err)
{
    const rocl_counter_value *v = &b->counters[i];
    group_key k = make_group(s, b, &v->d.e, v->counter, v->d.agent);
    k.kernel = v->d.e.name == ROCL_NONE ? 0 : v->d.e.name;
    uint32_t id = rocl_strings_put(s->groups, (const char *)&k, sizeof k);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    const uint64_t key[2] = {id, bits_of(v->value)};
    return rocl_sorter_add(s->by_value, worker, key, NULL, 0, err);
}

static rocl_status take_sample(counters *s, unsigned worker, const rocl_batch *b, size_t i,
                               rocl_error *err)
{
    const rocl_sample_value *v = &b->samples[i];
    series_key k = {.group = make_group(s, b, &v->e, v->counter, v->agent),
                    .capture = b->capture->index,
                    .counter = v->counter,
                    .place = {v->xcc, v->shader_engine, v->instance, v->shader_array, v->wgp}};
    uint32_t id = rocl_strings_put(s->series, (const char *)&k, sizeof k);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    const uint64_t key[4] = {id, (uint64_t)v->e.start, v->e.id, bits_of(v->value)};
    return rocl_sorter_add(s->by_time, worker, key, NULL, 0, err);
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    counters *s = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        st = b->kind == ROCL_COUNTER ? take_counter(s, worker, b, i, err)
                                     : take_sample(s, worker, b, i, err);
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    counters *s = self;
    rocl_status st = rocl_sorter_seal(s->by_value, worker, err);
    return st == ROCL_OK ? rocl_sorter_seal(s->by_time, worker, err) : st;
}

/* ---- sums ---- */

static void add(sum *s, double v)
{
    double t = s->sum + v;
    if (isfinite(t))
        s->rest += fabs(s->sum) >= fabs(v) ? s->sum - t + v : v - t + s->sum;
    s->sum = t;
}

static double total(const sum *s)
{
    return isfinite(s->sum) ? s->sum + s->rest : s->sum;
}

static void take_value(values *g, double v)
{
    if (!g->count || v < g->min)
        g->min = v;
    if (!g->count || v > g->max)
        g->max = v;
    g->count++;
    add(&g->total, v);
}

/* What came before has lasted until now. */
static void take_at(values *g, double v, int64_t time)
{
    if (g->count) {
        double ns = (double)(time - g->last_time);
        add(&g->weighted, g->last * ns);
        add(&g->time, ns);
    }
    take_value(g, v);
    g->last = v;
    g->last_time = time;
}

static void merge(values *into, const values *from)
{
    if (!into->count || from->min < into->min)
        into->min = from->min;
    if (!into->count || from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    add(&into->total, total(&from->total));
    add(&into->weighted, total(&from->weighted));
    add(&into->time, total(&from->time));
}

static double mean(const values *g)
{
    return total(&g->total) / (double)g->count;
}

/* Where nothing lasts, as of a single value, all weigh the same. */
static double mean_over_time(const values *g)
{
    double ns = total(&g->time);
    return ns > 0 ? total(&g->weighted) / ns : mean(g);
}

/* ---- groups ---- */

static values *open_values(const rocl_strings *keys, size_t size, size_t *count)
{
    *count = rocl_strings_count(keys);
    values *all = calloc(*count, sizeof *all);
    for (uint32_t i = 1; all && i < *count; i++) /* 0 is "", no key */
        memcpy(&all[i].series, rocl_strings_get(keys, i, NULL), size);
    return all;
}

static rocl_status fill(rocl_sorter *sorter, values *all, bool timed, rocl_error *err)
{
    rocl_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(sorter, &rec, &more, err)) == ROCL_OK && more) {
        if (timed)
            take_at(&all[rec.key[0]], value_of(rec.key[3]), (int64_t)rec.key[1]);
        else
            take_value(&all[rec.key[0]], value_of(rec.key[1]));
    }
    return st;
}

static int compare_groups(const counters *s, const group_key *a, const group_key *b)
{
    int c = rocl_compare_texts(s->trace, a->counter, b->counter);
    if (!c)
        c = a->kind < b->kind ? -1 : a->kind > b->kind;
    if (!c)
        c = rocl_compare_texts(s->trace, a->units, b->units);
    if (!c)
        c = rocl_compare_texts(s->trace, a->kernel, b->kernel);
    return c ? c : rocl_compare_agents(&a->agent, &b->agent);
}

static int largest_first(double a, double b)
{
    return a < b ? 1 : a > b ? -1 : 0;
}

/* Values of different counters say nothing about each other: the order is within a counter. */
static int by_values(const void *a, const void *b, void *ctx)
{
    const counters *s = ctx;
    const values *x = a, *y = b;
    int c = rocl_compare_texts(s->trace, x->group.counter, y->group.counter);
    if (!c)
        c = rocl_compare_texts(s->trace, x->group.units, y->group.units);
    if (!c && s->options->sort == ROCL_BY_TOTAL)
        c = largest_first(total(&x->total), total(&y->total));
    if (!c && s->options->sort == ROCL_BY_CALLS)
        c = x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
    if (!c && s->options->sort == ROCL_BY_AVERAGE)
        c = largest_first(mean(x), mean(y));
    if (!c && s->options->sort == ROCL_BY_MAX)
        c = largest_first(x->max, y->max);
    return c ? c : compare_groups(s, &x->group, &y->group);
}

/* Series in an order that does not depend on their ids: they are added up in it. */
static int by_series(const void *a, const void *b, void *ctx)
{
    const series_key *x = &((const values *)a)->series, *y = &((const values *)b)->series;
    int c = compare_groups(ctx, &x->group, &y->group);
    if (!c)
        c = x->capture < y->capture ? -1 : x->capture > y->capture;
    if (!c)
        c = x->counter < y->counter ? -1 : x->counter > y->counter;
    for (unsigned i = 0; i < 5 && !c; i++)
        c = x->place[i] < y->place[i] ? -1 : x->place[i] > y->place[i];
    return c;
}

/* ---- tables ---- */

#define COLUMNS(c) (c), sizeof(c) / sizeof *(c)

/* Columns that not every table has. */
enum { C_AGENT = 2, C_RANK, S_RANK = 3 };

static const rocl_table_column counter_columns[] = {
    {"counter", "Counter", ROCL_UNIT_TEXT}, {"kernel", "Kernel", ROCL_UNIT_TEXT},
    {"agent", "Agent", ROCL_UNIT_TEXT},     {"rank", "Rank", ROCL_UNIT_COUNT},
    {"unit", "Unit", ROCL_UNIT_TEXT},       {"dispatches", "Dispatches", ROCL_UNIT_COUNT},
    {"sum", "Sum", ROCL_UNIT_NUMBER},       {"mean", "Mean", ROCL_UNIT_NUMBER},
    {"min", "Min", ROCL_UNIT_NUMBER},       {"max", "Max", ROCL_UNIT_NUMBER},
};

static rocl_datum text_or_none(const counters *s, rocl_tables *out, uint32_t text)
{
    return *rocl_str(s->trace, text) ? rocl_cell_of_text(s->trace, out, text) : (rocl_datum){0};
}

static rocl_datum rank_cell(const group_key *k)
{
    return k->agent.rank >= 0 ? rocl_datum_int(k->agent.rank) : (rocl_datum){0};
}

static uint64_t shown_counters(const counters *s)
{
    uint64_t shown = UINT64_MAX;
    if (!s->options->by_agent)
        shown &= ~(UINT64_C(1) << C_AGENT);
    return s->options->by_rank ? shown : shown & ~(UINT64_C(1) << C_RANK);
}

static bool counter_row(const counters *s, rocl_tables *out, rocl_table *t, const values *g,
                        rocl_datum kernel, bool rest)
{
    const rocl_datum none = {0};
    const rocl_datum cells[] = {
        rocl_cell_of_text(s->trace, out, g->group.counter),
        kernel,
        rest || !s->options->by_agent ? none : rocl_cell_of_agent(s->trace, out, &g->group.agent),
        rest ? none : rank_cell(&g->group),
        text_or_none(s, out, g->group.units),
        rocl_datum_int((int64_t)g->count),
        rocl_cell_of_number(total(&g->total)),
        rocl_datum_real(mean(g)),
        rocl_cell_of_number(g->min),
        rocl_cell_of_number(g->max)};
    return rocl_table_row_some(t, cells, sizeof cells / sizeof *cells, shown_counters(s));
}

/* The groups of one counter and unit; what --top cuts off is summed up for each. */
static bool counter_rows(const counters *s, rocl_tables *out, rocl_table *t, const values *g,
                         size_t n)
{
    size_t top = s->options->top, shown = top && top < n ? top : n;
    bool good = true;
    for (size_t i = 0; good && i < shown; i++)
        good = counter_row(s, out, t, &g[i], rocl_cell_of_text(s->trace, out, g[i].group.kernel),
                           false);
    if (!good || shown == n)
        return good;
    char text[64];
    values rest = {.group = g->group};
    for (size_t i = shown; i < n; i++)
        merge(&rest, &g[i]);
    snprintf(text, sizeof text, "(%zu others)", n - shown);
    return counter_row(s, out, t, &rest, rocl_cell_of_string(out, text), true);
}

static bool same_counter(const values *a, const values *b)
{
    return a->group.counter == b->group.counter && a->group.units == b->group.units;
}

static rocl_status counter_table(counters *s, rocl_tables *out, rocl_error *err)
{
    size_t count;
    values *all = open_values(s->groups, sizeof(group_key), &count);
    rocl_table *t = rocl_tables_add_some(out, "counters", "Counters of kernels",
                                         COLUMNS(counter_columns), shown_counters(s));
    bool good = all && t;
    rocl_status st = good ? fill(s->by_value, all, false, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        qsort_r(all + 1, count - 1, sizeof *all, by_values, s);
    for (size_t i = 1, next; st == ROCL_OK && good && i < count; i = next) {
        for (next = i + 1; next < count && same_counter(&all[i], &all[next]);)
            next++;
        good = counter_rows(s, out, t, &all[i], next - i);
    }
    free(all);
    return st == ROCL_OK && !good ? rocl_fail_memory(err) : st;
}

static const rocl_table_column sample_columns[] = {
    {"counter", "Counter", ROCL_UNIT_TEXT},  {"kind", "Kind", ROCL_UNIT_TEXT},
    {"agent", "Agent", ROCL_UNIT_TEXT},      {"rank", "Rank", ROCL_UNIT_COUNT},
    {"unit", "Unit", ROCL_UNIT_TEXT},        {"series", "Series", ROCL_UNIT_COUNT},
    {"samples", "Samples", ROCL_UNIT_COUNT}, {"mean", "Mean", ROCL_UNIT_NUMBER},
    {"min", "Min", ROCL_UNIT_NUMBER},        {"max", "Max", ROCL_UNIT_NUMBER},
};

static uint64_t shown_samples(const counters *s)
{
    return s->options->by_rank ? UINT64_MAX : ~(UINT64_C(1) << S_RANK);
}

static bool sample_row(const counters *s, rocl_tables *out, rocl_table *t, const values *g,
                       size_t series)
{
    const rocl_datum cells[] = {rocl_cell_of_text(s->trace, out, g->group.counter),
                                rocl_cell_of_string(out, rocl_kind_name((rocl_kind)g->group.kind)),
                                rocl_cell_of_agent(s->trace, out, &g->group.agent),
                                rank_cell(&g->group),
                                text_or_none(s, out, g->group.units),
                                rocl_datum_int((int64_t)series),
                                rocl_datum_int((int64_t)g->count),
                                rocl_datum_real(mean_over_time(g)),
                                rocl_cell_of_number(g->min),
                                rocl_cell_of_number(g->max)};
    return rocl_table_row_some(t, cells, sizeof cells / sizeof *cells, shown_samples(s));
}

static rocl_status sample_table(counters *s, rocl_tables *out, rocl_error *err)
{
    size_t count;
    values *all = open_values(s->series, sizeof(series_key), &count);
    rocl_table *t = rocl_tables_add_some(out, "samples", "Sampled counters",
                                         COLUMNS(sample_columns), shown_samples(s));
    bool good = all && t;
    rocl_status st = good ? fill(s->by_time, all, true, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        qsort_r(all + 1, count - 1, sizeof *all, by_series, s);
    for (size_t i = 1, next; st == ROCL_OK && good && i < count; i = next) {
        values g = {.group = all[i].group};
        for (next = i; next < count && !compare_groups(s, &all[i].group, &all[next].group); next++)
            merge(&g, &all[next]);
        good = sample_row(s, out, t, &g, next - i);
    }
    free(all);
    return st == ROCL_OK && !good ? rocl_fail_memory(err) : st;
}

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    counters *s = self;
    rocl_status st = counter_table(s, out, err);
    return st == ROCL_OK ? sample_table(s, out, err) : st;
}

static void free_counters(void *self)
{
    counters *s = self;
    rocl_strings_free(s->groups);
    rocl_strings_free(s->series);
    rocl_sorter_free(s->by_value);
    rocl_sorter_free(s->by_time);
    free(s);
}

rocl_status rocl_counter_collector(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o,
                                   rocl_error *err)
{
    counters *s = calloc(1, sizeof *s);
    if (!s)
        return rocl_fail_memory(err);
    *c = (rocl_collector){.self = s,
                          .kinds =
                              ROCL_BIT(ROCL_COUNTER) | ROCL_BIT(ROCL_SPM) | ROCL_BIT(ROCL_SAMPLE),
                          .events = take,
                          .end_task = end_task,
                          .finish = finish,
                          .free = free_counters};
    s->trace = t;
    s->options = o;
    s->groups = rocl_strings_new();
    s->series = rocl_strings_new();
    s->by_value = rocl_sorter_new(t->space, 2);
    s->by_time = rocl_sorter_new(t->space, 4);
    return s->groups && s->series && s->by_value && s->by_time ? ROCL_OK : rocl_fail_memory(err);
}
