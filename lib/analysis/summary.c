/* Calls and time by domain and name, and by what else was asked for. Every event becomes a record
 * of (group, duration) in the external sort: percentiles are exact for any number of events, and
 * sums do not depend on the number of workers, since each group is taken in order of duration. */
#include <stdlib.h>
#include <string.h>

#include "analysis/summary.h"
#include "base/buf.h"

/* ---- taking events ---- */

static uint32_t agent_text(const rocl_capture *c, uint32_t agent)
{
    return agent < c->agent_count ? c->agents[agent].label : 0;
}

static int64_t stream_id(const rocl_capture *c, uint32_t stream)
{
    return stream < c->stream_count ? c->streams[stream].id : -1;
}

static void place_key(const summary *s, const rocl_capture *c, summary_key *k, uint32_t agent,
                      uint32_t stream)
{
    if (s->options->by_agent)
        k->agent = agent_text(c, agent);
    if (s->options->by_stream)
        k->stream = stream_id(c, stream);
}

static void make_key(const summary *s, const rocl_batch *b, size_t i, summary_key *k)
{
    const rocl_capture *c = b->capture;
    const rocl_event *e = rocl_batch_event(b, i);
    *k = (summary_key){.size_class = -1,
                       .domain = rocl_domain_of(s->trace, b->kind, e->category),
                       .name = e->name == ROCL_NONE ? 0 : e->name};
    k->rank = s->options->by_rank ? c->processes[e->process].rank : -1;
    k->stream = -1;
    if (b->kind == ROCL_DISPATCH) {
        const rocl_dispatch *d = &b->dispatches[i];
        place_key(s, c, k, d->agent, d->stream);
        if (s->options->by_dims) {
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

static rocl_status add(summary *s, unsigned worker, const summary_key *k, int64_t duration,
                       uint64_t bytes, rocl_error *err)
{
    uint8_t payload[ROCL_VARINT_MAX];
    uint32_t id = rocl_strings_put(s->keys, (const char *)k, sizeof *k);
    if (id == ROCL_NONE || !rocl_counts_add(&s->counts[worker], id))
        return rocl_fail_memory(err);
    const uint64_t key[2] = {id, (uint64_t)duration};
    size_t n = k->of != OF_NAMES ? (size_t)(rocl_varint_put(payload, bytes) - payload) : 0;
    return rocl_sorter_add(s->sorter, worker, key, payload, n, err);
}

/* By its agents, whatever else is asked for; and by its size. */
static rocl_status add_copy(summary *s, unsigned worker, const rocl_capture *c,
                            const rocl_copy *copy, summary_key *k, rocl_error *err)
{
    int64_t duration = copy->e.end - copy->e.start;
    k->of = OF_COPIES;
    k->agent = agent_text(c, copy->src);
    k->other_agent = agent_text(c, copy->dst);
    rocl_status st = add(s, worker, k, duration, copy->size, err);
    if (st != ROCL_OK || s->options->brief)
        return st;
    k->of = OF_COPY_SIZES;
    k->size_class = rocl_size_class(copy->size);
    return add(s, worker, k, duration, copy->size, err);
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    summary *s = self;
    bool copies = b->kind == ROCL_COPY && rocl_report_wanted(s->options, ROCL_REPORT_COPIES);
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        summary_key k;
        make_key(s, b, i, &k);
        st = add(s, worker, &k, e->end - e->start, 0, err);
        if (st == ROCL_OK && copies)
            st = add_copy(s, worker, b->capture, &b->copies[i], &k, err);
    }
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    summary *s = self;
    return rocl_sorter_seal(s->sorter, worker, err);
}

/* ---- groups ---- */

static rocl_status open_groups(summary *s, rocl_error *err)
{
    s->group_count = rocl_strings_count(s->keys);
    s->groups = calloc(s->group_count, sizeof *s->groups);
    if (!s->groups)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < s->group_count; i++) { /* 0 is "", no key */
        uint64_t n = rocl_counts_sum(s->counts, s->trace->opt.jobs, i);
        memcpy(&s->groups[i].key, rocl_strings_get(s->keys, i, NULL), sizeof(summary_key));
        rocl_distribution_begin(&s->groups[i].d, n);
    }
    return ROCL_OK;
}

static void take_bytes(summary_group *g, int64_t duration, uint64_t bytes)
{
    double rate = duration > 0 ? (double)bytes * 1e9 / (double)duration : 0;
    g->bytes = rocl_add_saturated(g->bytes, (int64_t)(bytes < INT64_MAX ? bytes : INT64_MAX));
    if (rate > g->best_rate)
        g->best_rate = rate;
}

static rocl_status fill_groups(summary *s, rocl_error *err)
{
    rocl_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(s->sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(s->sorter, &rec, &more, err)) == ROCL_OK &&
           more) {
        summary_group *g = &s->groups[rec.key[0]];
        const uint8_t *p = rec.data;
        uint64_t bytes;
        rocl_distribution_take(&g->d, (int64_t)rec.key[1]);
        if (rocl_varint_get(&p, rec.data + rec.len, &bytes))
            take_bytes(g, (int64_t)rec.key[1], bytes);
    }
    return st;
}

/* ---- order ---- */

typedef struct order {
    const summary *s;
    rocl_sort_by by;
} order;

double rocl_summary_average(const rocl_distribution *d)
{
    return (double)d->total / (double)d->taken;
}

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
        c = rocl_number_order(x->stream, y->stream);
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
    const rocl_trace *t = o->s->trace;
    int c = 0;
    if (o->by == ROCL_BY_TOTAL)
        c = x->d.total < y->d.total ? 1 : x->d.total > y->d.total ? -1 : 0;
    else if (o->by == ROCL_BY_CALLS)
        c = x->d.taken < y->d.taken ? 1 : x->d.taken > y->d.taken ? -1 : 0;
    else if (o->by == ROCL_BY_AVERAGE)
        c = compare_numbers(rocl_summary_average(&x->d), rocl_summary_average(&y->d));
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
    order o = {s, s->options->sort};
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
    const rocl_stats_options *o = s->options;
    rocl_status st = open_groups(s, err);
    if (st == ROCL_OK)
        st = fill_groups(s, err);
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
    rocl_strings_free(s->keys);
    rocl_sorter_free(s->sorter);
    rocl_counts_free(s->counts, s->trace->opt.jobs);
    free(s->groups);
    free(s);
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

rocl_status rocl_summary_collector(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o,
                                   rocl_error *err)
{
    summary *s = calloc(1, sizeof *s);
    if (!s)
        return rocl_fail_memory(err);
    *c = (rocl_collector){.self = s,
                          .kinds = wanted_kinds(o),
                          .events = take,
                          .end_task = end_task,
                          .finish = finish,
                          .free = free_summary};
    s->trace = t;
    s->options = o;
    s->keys = rocl_strings_new();
    s->sorter = rocl_sorter_new(t->space, 2);
    s->counts = calloc(t->opt.jobs, sizeof *s->counts);
    return s->keys && s->sorter && s->counts ? ROCL_OK : rocl_fail_memory(err);
}
