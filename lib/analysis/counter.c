/* Values of counters. Those of kernels become records of (group, value): each group is taken in
 * ascending order, so that its sum is the same for every number of workers. Those with a time of
 * their own become records of (series, time); a series is what one process read from one instance
 * of a counter, in which a value lasts until the next. Sums are compensated (Neumaier): they are
 * exact as long as values are integers below 2^53. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/counter.h"
#include "base/buf.h"

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
    int32_t rank = s->c.options->by_rank ? c->processes[e->process].rank : -1;
    bool of_agent = b->kind != ROCL_COUNTER || s->c.options->by_agent;
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

/* ---- sums ---- */

static void add(sum *s, double v)
{
    double t = s->sum + v;
    if (isfinite(t))
        s->rest += fabs(s->sum) >= fabs(v) ? s->sum - t + v : v - t + s->sum;
    s->sum = t;
}

double rocl_counter_total(const sum *s)
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

void rocl_counter_merge(values *into, const values *from)
{
    if (!into->count || from->min < into->min)
        into->min = from->min;
    if (!into->count || from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    add(&into->total, rocl_counter_total(&from->total));
    add(&into->weighted, rocl_counter_total(&from->weighted));
    add(&into->time, rocl_counter_total(&from->time));
}

double rocl_counter_mean(const values *g)
{
    return rocl_counter_total(&g->total) / (double)g->count;
}

/* Where nothing lasts, as of a single value, all weigh the same. */
double rocl_counter_mean_over_time(const values *g)
{
    double ns = rocl_counter_total(&g->time);
    return ns > 0 ? rocl_counter_total(&g->weighted) / ns : rocl_counter_mean(g);
}

/* ---- groups ---- */

values *rocl_counter_open(const rocl_strings *keys, size_t size, size_t *count)
{
    *count = rocl_strings_count(keys);
    values *all = calloc(*count, sizeof *all);
    for (uint32_t i = 1; all && i < *count; i++) /* 0 is "", no key */
        memcpy(&all[i].series, rocl_strings_get(keys, i, NULL), size);
    return all;
}

rocl_status rocl_counter_fill(rocl_sorter *sorter, values *all, bool timed, rocl_error *err)
{
    rocl_sort_record rec;
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

/* ---- the end ---- */

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    return rocl_counter_tables(self, out, err);
}

static void free_counters(void *self)
{
    counters *s = self;
    rocl_strings_free(s->groups);
    rocl_strings_free(s->series);
}

static rocl_status open_counters(void *self, rocl_error *err)
{
    counters *s = self;
    s->groups = rocl_strings_new();
    s->series = rocl_strings_new();
    s->by_value = rocl_collector_sorter(&s->c, 2);
    s->by_time = rocl_collector_sorter(&s->c, 4);
    return s->groups && s->series && s->by_value && s->by_time ? ROCL_OK : rocl_fail_memory(err);
}

const rocl_collector_def rocl_counter_collector = {
    .reports = 1u << ROCL_REPORT_COUNTERS,
    .kinds = ROCL_VALUE_KINDS,
    .size = sizeof(counters),
    .open = open_counters,
    .add_batch = take,
    .finish = finish,
    .close = free_counters,
};
