/* Calls and time by domain and name, and by what else was asked for. Every event adds its duration
 * to the samples of its group, a copy to those of two more: percentiles are exact for any number of
 * events, and nothing depends on the number of workers. */
#include <stdlib.h>
#include <string.h>

#include "analysis/summary.h"
#include "base/array.h"

/* ---- taking events ---- */

static uint32_t agent_text(const rocl_capture *c, uint32_t agent)
{
    return agent < c->agent_count ? c->agents[agent].label : 0;
}

static uint32_t stream_text(const rocl_capture *c, uint32_t stream)
{
    return stream < c->stream_count ? c->streams[stream].label : 0;
}

static void place_key(const summary *s, const rocl_capture *c, summary_key *k, uint32_t agent,
                      uint32_t stream)
{
    if (s->c.options->by_agent)
        k->agent = agent_text(c, agent);
    if (s->c.options->by_stream)
        k->stream = stream_text(c, stream);
}

static void make_key(const summary *s, const rocl_batch *b, size_t i, summary_key *k)
{
    const rocl_capture *c = b->capture;
    const rocl_event *e = rocl_batch_event(b, i);
    *k = (summary_key){.size_class = -1,
                       .domain = rocl_domain_of(s->c.trace, b->kind, e->category),
                       .name = e->name == ROCL_NONE ? 0 : e->name};
    k->rank = s->c.options->by_rank ? c->processes[e->process].rank : -1;
    if (b->kind == ROCL_DISPATCH) {
        const rocl_dispatch *d = &b->dispatches[i];
        place_key(s, c, k, d->agent, d->stream);
        if (s->c.options->by_dims) {
            memcpy(k->workgroup, d->workgroup, sizeof k->workgroup);
            memcpy(k->grid, d->grid, sizeof k->grid);
        }
    } else if (b->kind == ROCL_COPY) {
        place_key(s, c, k, b->copies[i].dst, b->copies[i].stream);
    } else if (b->kind == ROCL_ALLOC || b->kind == ROCL_SCRATCH) {
        place_key(s, c, k, b->allocs[i].owner, b->allocs[i].stream);
    } else if (b->kind == ROCL_BARRIER) {
        place_key(s, c, k, b->hips[i].agent, b->hips[i].stream);
    }
}

/* Where events of a group come from. Most events are of a few hundred groups: those that were found
 * lately are not looked up. */
typedef struct origin {
    uint32_t name, category, kind, capture, process, agent, stream;
    uint32_t group; /* 0: of none */
} origin;

enum { RECENT = 1024 };

static origin origin_of(const summary *s, const rocl_batch *b, size_t i)
{
    const rocl_event *e = rocl_batch_event(b, i);
    const rocl_stats_options *o = s->c.options;
    origin f = {.name = e->name, .category = e->category, .kind = b->kind};
    if (o->by_rank || o->by_agent || o->by_stream)
        f.capture = b->capture->index + 1;
    if (o->by_rank)
        f.process = e->process;
    if (b->kind == ROCL_DISPATCH) {
        f.agent = o->by_agent ? b->dispatches[i].agent : 0;
        f.stream = o->by_stream ? b->dispatches[i].stream : 0;
    } else if (b->kind == ROCL_COPY) {
        f.agent = o->by_agent ? b->copies[i].dst : 0;
        f.stream = o->by_stream ? b->copies[i].stream : 0;
    } else if (b->kind == ROCL_ALLOC || b->kind == ROCL_SCRATCH) {
        f.agent = o->by_agent ? b->allocs[i].owner : 0;
        f.stream = o->by_stream ? b->allocs[i].stream : 0;
    } else if (b->kind == ROCL_BARRIER) {
        f.agent = o->by_agent ? b->hips[i].agent : 0;
        f.stream = o->by_stream ? b->hips[i].stream : 0;
    }
    return f;
}

static bool same_origin(const origin *a, const origin *b)
{
    return a->name == b->name && a->category == b->category && a->kind == b->kind &&
           a->capture == b->capture && a->process == b->process && a->agent == b->agent &&
           a->stream == b->stream;
}

static origin *slot_of(const summary *s, unsigned worker, const origin *f)
{
    uint32_t h = (f->name ^ f->category << 7 ^ f->kind << 3 ^ f->agent << 5 ^ f->stream << 9 ^
                  f->process << 11 ^ f->capture << 13) *
                 UINT32_C(0x9e3779b1);
    return &s->workers[worker].recent[h >> 22];
}

/* The group of an event; ROCL_NONE: memory is out. */
static uint32_t group_of(summary *s, unsigned worker, const rocl_batch *b, size_t i)
{
    origin f = origin_of(s, b, i), *slot = slot_of(s, worker, &f);
    if (slot->group && same_origin(&f, slot) && !s->c.options->by_dims)
        return slot->group;
    summary_key k;
    make_key(s, b, i, &k);
    f.group = rocl_strings_put(s->keys, (const char *)&k, sizeof k);
    *slot = f;
    if (f.group == ROCL_NONE)
        slot->group = 0;
    return f.group;
}

static rocl_status add_copied(summary *s, unsigned worker, const summary_key *k, const rocl_copy *c,
                              rocl_error *err)
{
    summary_worker *w = &s->workers[worker];
    uint32_t group = rocl_strings_put(s->keys, (const char *)k, sizeof *k);
    int64_t ns = c->e.end - c->e.start;
    if (group == ROCL_NONE || !ROCL_GROW(w->copied, w->cap, (size_t)group + 1))
        return rocl_fail_memory(err);
    copied *sum = &w->copied[group];
    double rate = ns > 0 ? (double)c->size * 1e9 / (double)ns : 0;
    sum->bytes =
        rocl_add_saturated(sum->bytes, (int64_t)(c->size < INT64_MAX ? c->size : INT64_MAX));
    sum->best_rate = rate > sum->best_rate ? rate : sum->best_rate;
    return rocl_samples_add(s->samples, worker, group, ns, err);
}

/* By its agents, whatever else is asked for; and by its size. */
static rocl_status add_copy(summary *s, unsigned worker, const rocl_batch *b, size_t i,
                            rocl_error *err)
{
    const rocl_copy *c = &b->copies[i];
    summary_key k;
    make_key(s, b, i, &k);
    k.of = OF_COPIES;
    k.agent = agent_text(b->capture, c->src);
    k.other_agent = agent_text(b->capture, c->dst);
    rocl_status st = add_copied(s, worker, &k, c, err);
    if (st != ROCL_OK || s->c.options->brief)
        return st;
    k.of = OF_COPY_SIZES;
    k.size_class = rocl_size_class(c->size);
    return add_copied(s, worker, &k, c, err);
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    summary *s = self;
    bool copies = b->kind == ROCL_COPY && rocl_report_wanted(s->c.options, ROCL_REPORT_COPIES);
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        uint32_t group = group_of(s, worker, b, i);
        if (group == ROCL_NONE)
            return rocl_fail_memory(err);
        st = rocl_samples_add(s->samples, worker, group, e->end - e->start, err);
        if (st == ROCL_OK && copies)
            st = add_copy(s, worker, b, i, err);
    }
    return st;
}

/* ---- groups ---- */

static void sum_copied(const summary *s, uint32_t group, copied *sum)
{
    for (unsigned w = 0; w < s->c.trace->opt.jobs; w++) {
        if (group >= s->workers[w].cap)
            continue;
        const copied *c = &s->workers[w].copied[group];
        sum->bytes = rocl_add_saturated(sum->bytes, c->bytes);
        sum->best_rate = c->best_rate > sum->best_rate ? c->best_rate : sum->best_rate;
    }
}

static rocl_status fill_groups(summary *s, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    s->group_count = rocl_strings_count(s->keys);
    s->groups = calloc(s->group_count, sizeof *s->groups);
    if (!s->groups)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < s->group_count && st == ROCL_OK; i++) { /* 0 is "", no key */
        summary_group *g = &s->groups[i];
        memcpy(&g->key, rocl_strings_get(s->keys, i, NULL), sizeof g->key);
        sum_copied(s, i, &g->copied);
        st = rocl_samples_describe(s->samples, i, &g->d, err);
    }
    return st;
}

/* ---- order ---- */

typedef struct order {
    const summary *s;
    rocl_sort_by by;
} order;

static int compare_numbers(double a, double b)
{
    return a < b ? 1 : a > b ? -1 : 0; /* largest first */
}

/* Never by ids, which depend on the number of workers. */
static int compare_keys(const rocl_trace *t, const summary_key *x, const summary_key *y)
{
    int c = rocl_compare_texts(t, x->name, y->name);
    if (!c)
        c = rocl_compare_texts(t, x->agent, y->agent);
    if (!c)
        c = rocl_compare_texts(t, x->other_agent, y->other_agent);
    if (!c)
        c = rocl_number_order(x->rank, y->rank);
    if (!c)
        c = rocl_compare_texts(t, x->stream, y->stream);
    if (!c)
        c = rocl_number_order(x->size_class, y->size_class);
    if (!c)
        c = memcmp(x->workgroup, y->workgroup, sizeof x->workgroup);
    if (!c)
        c = memcmp(x->grid, y->grid, sizeof x->grid);
    return c ? c : rocl_number_order(x->domain, y->domain);
}

/* By what was asked for; then by name and the rest of the key. */
static int compare_groups(const void *a, const void *b, void *ctx)
{
    const order *o = ctx;
    const summary_group *x = *(summary_group *const *)a, *y = *(summary_group *const *)b;
    const rocl_trace *t = o->s->c.trace;
    int c = 0;
    if (o->by == ROCL_BY_TOTAL)
        c = x->d.total < y->d.total ? 1 : x->d.total > y->d.total ? -1 : 0;
    else if (o->by == ROCL_BY_CALLS)
        c = x->d.taken < y->d.taken ? 1 : x->d.taken > y->d.taken ? -1 : 0;
    else if (o->by == ROCL_BY_AVERAGE)
        c = compare_numbers(rocl_distribution_average(&x->d), rocl_distribution_average(&y->d));
    else if (o->by == ROCL_BY_MAX)
        c = x->d.max < y->d.max ? 1 : x->d.max > y->d.max ? -1 : 0;
    return c ? c : compare_keys(t, &x->key, &y->key);
}
summary_group **rocl_summary_select(const summary *s, uint32_t domains, summary_of of,
                                    size_t *count)
{
    summary_group **list = calloc(s->group_count, sizeof *list);
    size_t n = 0;
    for (size_t i = 1; list && i < s->group_count; i++) {
        summary_group *g = &s->groups[i];
        if (domains >> g->key.domain & 1 && g->key.of == of && g->d.taken)
            list[n++] = g;
    }
    order o = {s, s->c.options->sort};
    if (list)
        qsort_r(list, n, sizeof *list, compare_groups, &o);
    *count = n;
    return list;
}

rocl_distribution rocl_summary_sum(summary_group *const *list, size_t n)
{
    rocl_distribution d = {0};
    for (size_t i = 0; i < n; i++)
        rocl_distribution_merge(&d, &list[i]->d);
    return d;
}

/* ---- the end ---- */

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    summary *s = self;
    const rocl_stats_options *o = s->c.options;
    rocl_status st = fill_groups(s, err);
    if (st == ROCL_OK && rocl_report_wanted(o, ROCL_REPORT_DOMAINS))
        st = rocl_domain_table(s, out, err);
    if (st == ROCL_OK && rocl_report_wanted(o, ROCL_REPORT_SUMMARY))
        st = rocl_summary_table(s, out, err);
    if (st == ROCL_OK && rocl_report_wanted(o, ROCL_REPORT_SUMMARY) && o->summary_groups)
        st = rocl_summary_groups_table(s, out, err);
    if (st == ROCL_OK && rocl_report_wanted(o, ROCL_REPORT_KERNELS))
        st = rocl_kernel_table(s, out, err);
    if (st == ROCL_OK && rocl_report_wanted(o, ROCL_REPORT_COPIES))
        st = rocl_copy_tables(s, out, err);
    return st;
}

static void free_summary(void *self)
{
    summary *s = self;
    for (unsigned w = 0; s->workers && w < s->c.trace->opt.jobs; w++) {
        free(s->workers[w].recent);
        free(s->workers[w].copied);
    }
    rocl_strings_free(s->keys);
    rocl_samples_free(s->samples);
    free(s->workers);
    free(s->groups);
}

static uint32_t wanted_kinds(const rocl_stats_options *o)
{
    uint32_t kinds = 0;
    if (rocl_report_wanted(o, ROCL_REPORT_DOMAINS) || rocl_report_wanted(o, ROCL_REPORT_SUMMARY))
        kinds |= ROCL_TIMED_KINDS;
    if (rocl_report_wanted(o, ROCL_REPORT_KERNELS))
        kinds |= ROCL_BIT(ROCL_DISPATCH);
    if (rocl_report_wanted(o, ROCL_REPORT_COPIES))
        kinds |= ROCL_BIT(ROCL_COPY);
    return kinds;
}

static rocl_status open_summary(void *self, rocl_error *err)
{
    summary *s = self;
    unsigned jobs = s->c.trace->opt.jobs;
    s->c.kinds = wanted_kinds(s->c.options);
    s->keys = rocl_strings_new();
    s->samples = rocl_samples_new(s->c.trace->space, jobs);
    s->workers = calloc(jobs, sizeof *s->workers);
    bool good = s->keys && s->samples && s->workers;
    for (unsigned w = 0; good && w < jobs; w++)
        good = (s->workers[w].recent = calloc(RECENT, sizeof(origin)));
    return good ? ROCL_OK : rocl_fail_memory(err);
}

const rocl_collector_def rocl_summary_collector = {
    .reports = 1u << ROCL_REPORT_DOMAINS | 1u << ROCL_REPORT_SUMMARY | 1u << ROCL_REPORT_KERNELS |
               1u << ROCL_REPORT_COPIES,
    .size = sizeof(summary),
    .open = open_summary,
    .add_batch = take,
    .finish = finish,
    .close = free_summary,
};
