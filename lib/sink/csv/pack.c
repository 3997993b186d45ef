/* Events as records: what their file shows and no more, so that as many as possible are sorted in
 * memory. */
#include "sink/csv/csv.h"

#include <stdlib.h>
#include <string.h>

/* ---- keys ---------------------------------------------------------------------------------- */

/* Counters of a dispatch share its times: two words more for AMD's order among them. */
unsigned rocl_csv_key_words(rocl_kind kind)
{
    return kind == ROCL_COUNTER ? 4 : 3;
}

static uint64_t ascending(int64_t t)
{
    return (uint64_t)t ^ (uint64_t)1 << 63;
}

/* AMD's counters come grouped by dispatch, counter name and agent. */
static uint64_t counter_tie(const rocl_counter_value *v, const rocl_csv_order *order)
{
    uint64_t rank =
        v->counter < order->counter_count ? order->counter_ranks[v->counter] : order->counter_count;
    return rank << 32 | (uint32_t)v->d.e.id;
}

/* ORDER BY start ASC, end DESC; then regions before samples as in AMD's UNION ALL, then row ids. */
void rocl_csv_make_key(uint64_t *key, const rocl_batch *b, const rocl_event *e,
                       const rocl_csv_order *order)
{
    key[0] = ascending(e->start);
    key[1] = ~ascending(e->end);
    switch (b->kind) {
    case ROCL_REGION:
    case ROCL_MARKER:
        key[2] = (e->id & UINT64_MAX >> 2) << 1 | (b->kind == ROCL_MARKER);
        break;
    case ROCL_INSTANT:
        key[2] = (uint64_t)1 << 63 | e->id;
        break;
    case ROCL_COUNTER:
        key[2] = ((const rocl_counter_value *)e)->d.dispatch_id;
        key[3] = counter_tie((const rocl_counter_value *)e, order);
        break;
    default:
        key[2] = e->id;
    }
}

typedef struct named_counter {
    const char *name;
    uint32_t agent, index;
} named_counter;

static int by_name(const void *a, const void *b)
{
    const named_counter *x = a, *y = b;
    int d = strcmp(x->name, y->name);
    if (!d)
        d = (x->agent > y->agent) - (x->agent < y->agent);
    return d ? d : (x->index > y->index) - (x->index < y->index);
}

uint32_t *rocl_csv_rank_counters(const rocl_trace *t, const rocl_capture *c)
{
    size_t n = c->counter_count;
    uint32_t *ranks = malloc((n + 1) * sizeof *ranks);
    named_counter *names = malloc((n + 1) * sizeof *names);
    if (ranks && names) {
        for (uint32_t i = 0; i < n; i++)
            names[i] = (named_counter){rocl_str(t, c->counters[i].name), c->counters[i].agent, i};
        qsort(names, n, sizeof *names, by_name);
        for (uint32_t i = 0; i < n; i++)
            ranks[names[i].index] = i;
    } else {
        free(ranks);
        ranks = NULL;
    }
    free(names);
    return ranks;
}

/* ---- records ------------------------------------------------------------------------------- */

static uint8_t *put(uint8_t *p, uint64_t v)
{
    return rocl_varint_put(p, v);
}

static uint8_t *put_ref(uint8_t *p, uint32_t index)
{
    return rocl_varint_put(p, (uint32_t)(index + 1));
}

static uint8_t *put_signed(uint8_t *p, int64_t v)
{
    return rocl_varint_put(p, rocl_zigzag(v));
}

/* Round values have zeros in their low bytes: turned around they are short. */
static uint8_t *put_double(uint8_t *p, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return rocl_varint_put(p, __builtin_bswap64(bits));
}

static uint8_t *put_head(uint8_t *p, const rocl_event *e, uint32_t name)
{
    p = put_ref(p, name);
    p = put(p, e->stack_id);
    p = put_ref(p, e->thread);
    return put_ref(p, e->process);
}

static uint8_t *put_place(uint8_t *p, uint32_t agent, uint32_t queue, uint32_t stream)
{
    p = put_ref(p, agent);
    p = put_ref(p, queue);
    return put_ref(p, stream);
}

static uint8_t *pack_region(uint8_t *p, const rocl_region *r, bool functions)
{
    p = put_head(p, &r->e, functions ? r->function : r->e.name);
    return put_ref(p, r->e.category);
}

static uint8_t *put_kernel(uint8_t *p, const rocl_dispatch *d)
{
    p = put_head(p, &d->e, d->e.name);
    p = put_place(p, d->agent, d->queue, d->stream);
    p = put(p, d->dispatch_id);
    p = put_signed(p, d->kernel_id);
    p = put_ref(p, d->kernel);
    p = put_signed(p, d->group_segment);
    return put_signed(p, d->private_segment);
}

static uint8_t *pack_dispatch(uint8_t *p, const rocl_dispatch *d)
{
    p = put_kernel(p, d);
    for (unsigned i = 0; i < 3; i++)
        p = put(p, d->workgroup[i]);
    for (unsigned i = 0; i < 3; i++)
        p = put(p, d->grid[i]);
    return p;
}

static uint64_t product(const uint32_t v[3])
{
    return (uint64_t)v[0] * v[1] * v[2];
}

static uint8_t *pack_counter(uint8_t *p, const rocl_counter_value *v)
{
    p = put_kernel(p, &v->d);
    p = put(p, product(v->d.workgroup));
    p = put(p, product(v->d.grid));
    p = put_ref(p, v->counter);
    return put_double(p, v->value);
}

static uint8_t *pack_copy(uint8_t *p, const rocl_copy *c)
{
    p = put_head(p, &c->e, c->e.name);
    p = put_place(p, c->src, c->dst, c->stream);
    return put(p, c->size);
}

static uint8_t *pack_alloc(uint8_t *p, const rocl_alloc *a)
{
    p = put_head(p, &a->e, a->e.name);
    p = put_place(p, a->agent, a->queue, a->stream);
    p = put(p, a->size);
    p = put(p, a->address);
    return put(p, a->flags);
}

static uint8_t *pack_sample(uint8_t *p, const rocl_sample_value *s)
{
    p = put_head(p, &s->e, s->e.name);
    p = put_ref(p, s->agent);
    p = put_ref(p, s->counter);
    p = put_double(p, s->value);
    p = put_signed(p, s->xcc);
    p = put_signed(p, s->shader_engine);
    p = put_signed(p, s->shader_array);
    p = put_signed(p, s->wgp);
    return put_signed(p, s->instance);
}

static uint8_t *pack_hip(uint8_t *p, const rocl_hip *h)
{
    p = put_head(p, &h->e, h->e.name);
    p = put_place(p, h->agent, h->queue, h->stream);
    p = put_ref(p, h->source_queue);
    p = put(p, h->graph_exec_id);
    return put(p, h->kernel_count);
}

uint8_t *rocl_csv_pack(uint8_t *to, const rocl_batch *b, const rocl_event *e, bool functions)
{
    switch (b->kind) {
    case ROCL_REGION:
    case ROCL_MARKER:
    case ROCL_INSTANT:
        return pack_region(to, (const rocl_region *)e, functions);
    case ROCL_DISPATCH:
        return pack_dispatch(to, (const rocl_dispatch *)e);
    case ROCL_COPY:
        return pack_copy(to, (const rocl_copy *)e);
    case ROCL_ALLOC:
    case ROCL_SCRATCH:
        return pack_alloc(to, (const rocl_alloc *)e);
    case ROCL_COUNTER:
        return pack_counter(to, (const rocl_counter_value *)e);
    case ROCL_SPM:
    case ROCL_SAMPLE:
        return pack_sample(to, (const rocl_sample_value *)e);
    case ROCL_GRAPH:
    case ROCL_HIP_EVENT:
        return pack_hip(to, (const rocl_hip *)e);
    default:
        return to;
    }
}
