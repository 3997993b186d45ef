/* Events as records: only what their file shows, so that as many as possible are sorted in
 * memory. */
#include "sink/csv/csv.h"

#include <stdlib.h>
#include <string.h>

/* ---- keys ---- */

/* Counters of a dispatch share its times: two words more for AMD's order among them. */
unsigned rocl_csv_key_words(rocl_kind kind)
{
    return kind == ROCL_COUNTER ? 4 : 3;
}

/* ORDER BY start ASC, end DESC; then regions before samples as in AMD's UNION ALL, then row ids.
 * AMD's counters come grouped by dispatch, counter name and agent. */
void rocl_csv_make_key(uint64_t *key, const rocl_batch *b, const rocl_event *e,
                       const rocl_csv_order *order)
{
    const rocl_counter_value *v;
    uint64_t rank;
    key[0] = rocl_flip_sign(e->start);
    key[1] = ~rocl_flip_sign(e->end);
    switch (b->kind) {
    case ROCL_REGION:
    case ROCL_MARKER:
        key[2] = (e->id & UINT64_MAX >> 2) << 1 | (b->kind == ROCL_MARKER);
        break;
    case ROCL_INSTANT:
        key[2] = (uint64_t)1 << 63 | e->id;
        break;
    case ROCL_COUNTER:
        v = (const rocl_counter_value *)e;
        rank = v->counter < order->counter_count ? order->counter_ranks[v->counter]
                                                 : order->counter_count;
        key[2] = v->d.dispatch_id;
        key[3] = rank << 32 | (uint32_t)e->id;
        break;
    default:
        key[2] = e->id;
    }
}

typedef struct named_counter {
    const char *name;
    uint32_t agent, index;
} named_counter;

static int compare_counters(const void *a, const void *b)
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
        qsort(names, n, sizeof *names, compare_counters);
        for (uint32_t i = 0; i < n; i++)
            ranks[names[i].index] = i;
    } else {
        free(ranks);
        ranks = NULL;
    }
    free(names);
    return ranks;
}

/* ---- records ---- */

static uint64_t multiply_sizes(const uint32_t v[3])
{
    return (uint64_t)v[0] * v[1] * v[2];
}

#define PUT(field, form, value) p = PUT_##form(value);
#define PUT_REF(index)          rocl_put_index(p, index)
#define PUT_U64(v)              rocl_varint_put(p, v)
#define PUT_I64(v)              rocl_varint_put(p, rocl_zigzag(v))
#define PUT_REAL(v)             rocl_varint_put(p, rocl_turn_real(v))

uint8_t *rocl_csv_encode(uint8_t *p, const rocl_batch *b, const rocl_event *e, bool functions)
{
    const rocl_kind kind = b->kind;
    uint32_t name = e->name;
    if (rocl_kind_in(kind, ROCL_HOST_KINDS)) {
        const rocl_region *r = (const rocl_region *)e;
        name = functions ? r->function : name;
        CSV_FIELDS_OF_ALL(PUT)
        CSV_FIELDS_OF_REGION(PUT)
        return p;
    }
    CSV_FIELDS_OF_ALL(PUT)
    if (kind == ROCL_DISPATCH) {
        const rocl_dispatch *r = (const rocl_dispatch *)e;
        CSV_FIELDS_OF_QUEUE(PUT)
        CSV_FIELDS_OF_KERNEL(PUT)
        CSV_FIELDS_OF_DISPATCH(PUT)
    } else if (kind == ROCL_COUNTER) {
        const rocl_counter_value *v = (const rocl_counter_value *)e;
        const rocl_dispatch *r = &v->d;
        CSV_FIELDS_OF_QUEUE(PUT)
        CSV_FIELDS_OF_KERNEL(PUT)
        CSV_FIELDS_OF_COUNTER(PUT)
    } else if (kind == ROCL_COPY) {
        const rocl_copy *r = (const rocl_copy *)e;
        CSV_FIELDS_OF_COPY(PUT)
    } else if (kind == ROCL_ALLOC || kind == ROCL_SCRATCH) {
        const rocl_alloc *r = (const rocl_alloc *)e;
        CSV_FIELDS_OF_QUEUE(PUT)
        CSV_FIELDS_OF_ALLOC(PUT)
    } else if (kind == ROCL_SPM || kind == ROCL_SAMPLE) {
        const rocl_sample_value *r = (const rocl_sample_value *)e;
        CSV_FIELDS_OF_SAMPLE(PUT)
    } else {
        const rocl_hip *r = (const rocl_hip *)e;
        CSV_FIELDS_OF_QUEUE(PUT)
        CSV_FIELDS_OF_HIP(PUT)
    }
    return p;
}
