/* How evenly work is spread over ranks. Only sums are needed, so every worker adds up on its own,
 * one cell for each kind, name and rank: memory is bounded by those, whatever the number of events,
 * and sums of integers do not depend on who added them. */
#include <stdlib.h>
#include <string.h>

#include "analysis/ranks.h"

typedef rocl_ranks ranks;
typedef rocl_rank_place place;
typedef rocl_rank_sum sum;
typedef rocl_rank_sums sums;
typedef rocl_rank_cell cell;
typedef rocl_rank_cell_key cell_key;
typedef rocl_rank_work work;

/* ---- places ---- */

static int order_places(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->rank != y->rank) /* those without a rank last */
        return (uint32_t)x->rank < (uint32_t)y->rank ? -1 : 1;
    if (x->rank >= 0)
        return 0;
    if (x->machine != y->machine)
        return x->machine < y->machine ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static place place_at(const rocl_capture *c, uint32_t process)
{
    const rocl_process *p = &c->processes[process];
    return (place){.rank = p->rank >= 0 ? p->rank : -1,
                   .machine = c->machine,
                   .pid = p->pid,
                   .host = p->node < c->node_count ? c->nodes[p->node].hostname : 0,
                   .capture = c->index,
                   .process = process};
}

/* Puts the processes of one rank together. */
static void merge_places(ranks *r, size_t n)
{
    uint32_t last = 0;
    for (size_t i = 0; i < n; i++) {
        const place p = r->places[i];
        place *q = &r->places[last];
        if (i && order_places(q, &p) == 0) {
            q->pid = q->pid == p.pid && q->machine == p.machine ? q->pid : -1;
            q->host = q->host == p.host ? q->host : 0;
        } else {
            last += i > 0;
            r->places[last] = p;
        }
        r->place_of[p.capture][p.process] = last;
    }
    r->place_count = n ? last + 1 : 0;
}

static rocl_status find_places(ranks *r, rocl_error *err)
{
    const rocl_trace *t = r->c.trace;
    size_t n = 0;
    r->place_of = calloc(t->capture_count + 1, sizeof *r->place_of);
    for (size_t i = 0; r->place_of && i < t->capture_count; i++) {
        uint32_t count = t->captures[i]->pub.process_count;
        r->place_of[i] = calloc((size_t)count + 1, sizeof **r->place_of);
        if (!r->place_of[i])
            return rocl_fail_memory(err);
        n += count;
    }
    r->places = calloc(n + 1, sizeof *r->places);
    if (!r->place_of || !r->places)
        return rocl_fail_memory(err);
    n = 0;
    for (size_t i = 0; i < t->capture_count; i++)
        for (uint32_t p = 0; p < t->captures[i]->pub.process_count; p++)
            r->places[n++] = place_at(&t->captures[i]->pub, p);
    qsort(r->places, n, sizeof *r->places, order_places);
    merge_places(r, n);
    return ROCL_OK;
}

/* ---- taking events ---- */

static work work_of(rocl_domain d)
{
    switch (d) {
    case ROCL_DOMAIN_KERNELS:
        return ROCL_RANK_KERNEL;
    case ROCL_DOMAIN_MARKERS:
        return ROCL_RANK_MARKER;
    case ROCL_DOMAIN_HIP:
    case ROCL_DOMAIN_HSA:
    case ROCL_DOMAIN_RCCL:
    case ROCL_DOMAIN_ROCDECODE:
    case ROCL_DOMAIN_ROCJPEG:
        return ROCL_RANK_API;
    default:
        return ROCL_RANK_WORKS;
    }
}

static sum *sum_of(sums *s, uint32_t id)
{
    if (id >= s->cap) {
        uint32_t cap = s->cap ? s->cap : 256;
        while (cap <= id)
            cap *= 2;
        sum *more = realloc(s->by_key, cap * sizeof *more);
        if (!more)
            return NULL;
        memset(more + s->cap, 0, (cap - s->cap) * sizeof *more);
        s->by_key = more;
        s->cap = cap;
    }
    return &s->by_key[id];
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    ranks *r = self;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        work w = work_of(rocl_domain_of(r->c.trace, b->kind, e->category));
        if (w == ROCL_RANK_WORKS)
            continue;
        const cell_key k = {w, w == ROCL_RANK_API || e->name == ROCL_NONE ? 0 : e->name,
                            r->place_of[b->capture->index][e->process]};
        uint32_t id = rocl_strings_put(r->keys, (const char *)&k, sizeof k);
        sum *s = id == ROCL_NONE ? NULL : sum_of(&r->sums[worker], id);
        if (!s)
            return rocl_fail_memory(err);
        s->calls++;
        s->total = rocl_add_saturated(s->total, e->end - e->start);
    }
    return ROCL_OK;
}

/* ---- adding up ---- */

void rocl_rank_add(rocl_rank_sum *to, const rocl_rank_sum *s)
{
    to->calls += s->calls;
    to->total = rocl_add_saturated(to->total, s->total);
}

/* Places next to each other, in order. */
static int order_cells(const void *a, const void *b)
{
    const cell_key *x = &((const cell *)a)->key, *y = &((const cell *)b)->key;
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static rocl_status add_up(ranks *r, rocl_error *err)
{
    size_t n = rocl_strings_count(r->keys);
    r->cells = calloc(n, sizeof *r->cells);
    r->totals = calloc((size_t)r->place_count + 1, sizeof *r->totals);
    if (!r->cells || !r->totals)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < n; i++) { /* 0 is "", no key */
        cell *c = &r->cells[r->cell_count];
        memcpy(&c->key, rocl_strings_get(r->keys, i, NULL), sizeof c->key);
        for (unsigned w = 0; w < r->c.trace->opt.jobs; w++)
            if (i < r->sums[w].cap)
                rocl_rank_add(&c->sum, &r->sums[w].by_key[i]);
        rocl_rank_add(&r->totals[c->key.place][c->key.work], &c->sum);
        r->cell_count += c->sum.calls > 0;
    }
    qsort(r->cells, r->cell_count, sizeof *r->cells, order_cells);
    return ROCL_OK;
}

/* ---- the collector ---- */

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    ranks *r = self;
    rocl_status st = add_up(r, err);
    if (st == ROCL_OK)
        st = rocl_ranks_put(r, out, err);
    return st;
}

static void free_ranks(void *self)
{
    ranks *r = self;
    for (size_t i = 0; r->place_of && i < r->c.trace->capture_count; i++)
        free(r->place_of[i]);
    for (unsigned w = 0; r->sums && w < r->c.trace->opt.jobs; w++)
        free(r->sums[w].by_key);
    rocl_strings_free(r->keys);
    free(r->place_of);
    free(r->places);
    free(r->sums);
    free(r->cells);
    free(r->totals);
}

static rocl_status open_ranks(void *self, rocl_error *err)
{
    ranks *r = self;
    r->keys = rocl_strings_new();
    r->sums = calloc(r->c.trace->opt.jobs, sizeof *r->sums);
    return r->keys && r->sums ? find_places(r, err) : rocl_fail_memory(err);
}

const rocl_collector_def rocl_ranks_collector = {
    .reports = 1u << ROCL_REPORT_RANKS,
    .kinds = ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_DISPATCH),
    .size = sizeof(ranks),
    .open = open_ranks,
    .add_batch = take,
    .finish = finish,
    .close = free_ranks,
};
