/* Events as records: references are stored one up, so that none is a single 0; the duration as what
 * it differs by from the times, which is nothing but for events that a window cut. */
#include "sink/columnar/record.h"

/* X(encoding, member of the record). */
/* clang-format off */
#define EVENT_FIELDS(X)                                                                            \
    X(REF, e.name) X(REF, e.category) X(REF, e.process) X(REF, e.thread) X(U64, e.event_id)        \
    X(U64, e.stack_id) X(U64, e.parent_stack_id) X(I64, e.correlation_id)
#define REGION_FIELDS(X) EVENT_FIELDS(X) X(REF, function)
#define QUEUE_FIELDS(X) X(REF, agent) X(REF, queue) X(REF, stream)
#define DISPATCH_FIELDS(X)                                                                         \
    EVENT_FIELDS(X) QUEUE_FIELDS(X) X(REF, kernel) X(U64, dispatch_id) X(I64, kernel_id)           \
    X(REF, region_name) X(I64, private_segment) X(I64, group_segment) X(U32, workgroup[0])         \
    X(U32, workgroup[1]) X(U32, workgroup[2]) X(U32, grid[0]) X(U32, grid[1]) X(U32, grid[2])      \
    X(U64, graph_exec_id) X(U64, graph_node_id)
#define COPY_FIELDS(X)                                                                             \
    EVENT_FIELDS(X) X(REF, src) X(REF, dst) X(REF, queue) X(REF, stream) X(U64, size)              \
    X(U64, src_address) X(U64, dst_address)
#define ALLOC_FIELDS(X)                                                                            \
    EVENT_FIELDS(X) QUEUE_FIELDS(X) X(ENUM, op) X(ENUM, level) X(U64, size) X(U64, address)        \
    X(U64, flags) X(REF, owner) X(U64, block) X(I64, delta)
#define SAMPLE_FIELDS(X)                                                                           \
    EVENT_FIELDS(X) X(REF, counter) X(REF, agent) X(REAL, value) X(I64, xcc) X(I64, shader_engine) \
    X(I64, instance) X(I64, shader_array) X(I64, wgp)
#define HIP_FIELDS(X)                                                                              \
    EVENT_FIELDS(X) QUEUE_FIELDS(X) X(REF, source_queue) X(U64, graph_exec_id) X(U64, kernel_count)
/* clang-format on */

/* ---- writing --------------------------------------------------------------------------------- */

#define PUT_REF(v)            rocl_varint_put(p, (uint32_t)((v) + 1))
#define PUT_U32(v)            rocl_varint_put(p, v)
#define PUT_U64(v)            rocl_varint_put(p, v)
#define PUT_ENUM(v)           rocl_varint_put(p, (uint64_t)(v))
#define PUT_I64(v)            rocl_varint_put(p, rocl_zigzag(v))
#define PUT_REAL(v)           put_real(p, v)
#define PUT(encoding, member) p = PUT_##encoding(r->member);

static uint8_t *put_real(uint8_t *p, double v)
{
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

/* Signed numbers in the order of unsigned ones. */
static uint64_t flip_sign(int64_t v)
{
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

unsigned rocl_row_key_words(uint32_t kinds)
{
    return kinds & ROCL_BIT(ROCL_COUNTER) ? 4 : 3;
}

uint8_t *rocl_row_encode(uint64_t *key, uint8_t *p, rocl_kind kind, const rocl_event *e)
{
    const rocl_any_record *any = (const rocl_any_record *)(const void *)e;
    key[0] = flip_sign(e->start);
    key[1] = ~flip_sign(e->end);
    key[2] = rocl_row_word(e->id, kind);
    p = PUT_U64(e->id >> (64 - ROCL_KIND_BITS));
    p = PUT_I64((int64_t)((uint64_t)e->duration - ((uint64_t)e->end - (uint64_t)e->start)));
    switch (kind) {
    case ROCL_DISPATCH: {
        const rocl_dispatch *r = &any->dispatch;
        DISPATCH_FIELDS(PUT)
        break;
    }
    case ROCL_COUNTER: {
        const rocl_dispatch *r = &any->counter.d;
        DISPATCH_FIELDS(PUT)
        const rocl_counter_value *v = &any->counter;
        key[3] = v->counter;
        p = PUT_REF(v->counter);
        p = PUT_REAL(v->value);
        p = PUT_U64(v->row);
        break;
    }
    case ROCL_COPY: {
        const rocl_copy *r = &any->copy;
        COPY_FIELDS(PUT)
        break;
    }
    case ROCL_ALLOC:
    case ROCL_SCRATCH: {
        const rocl_alloc *r = &any->alloc;
        ALLOC_FIELDS(PUT)
        break;
    }
    case ROCL_SPM:
    case ROCL_SAMPLE: {
        const rocl_sample_value *r = &any->sample;
        SAMPLE_FIELDS(PUT)
        break;
    }
    case ROCL_GRAPH:
    case ROCL_HIP_EVENT:
    case ROCL_BARRIER: {
        const rocl_hip *r = &any->hip;
        HIP_FIELDS(PUT)
        break;
    }
    default: {
        const rocl_region *r = &any->region;
        REGION_FIELDS(PUT)
    }
    }
    return p;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    const uint8_t *p, *end;
    bool broken;
} reader;

static inline uint64_t get_number(reader *in)
{
    uint64_t v = 0;
    if (in->p < in->end && *in->p < 0x80)
        return *in->p++;
    in->broken |= !rocl_varint_get(&in->p, in->end, &v);
    return v;
}

static double get_real(reader *in)
{
    double v = 0;
    if (in->end - in->p < (ptrdiff_t)sizeof v) {
        in->broken = true;
        return v;
    }
    memcpy(&v, in->p, sizeof v);
    in->p += sizeof v;
    return v;
}

#define GET_REF               (uint32_t)(get_number(&in) - 1)
#define GET_U32               (uint32_t) get_number(&in)
#define GET_U64               get_number(&in)
#define GET_ENUM              get_number(&in)
#define GET_I64               rocl_unzigzag(get_number(&in))
#define GET_REAL              get_real(&in)
#define GET(encoding, member) r->member = (__typeof__(r->member))GET_##encoding;

bool rocl_row_decode(const rocl_sort_record *record, rocl_event *e)
{
    reader in = {record->data, record->data + record->len, false};
    rocl_any_record *any = (rocl_any_record *)(void *)e;
    e->start = (int64_t)flip_sign((int64_t)record->key[0]);
    e->end = (int64_t)flip_sign((int64_t)~record->key[1]);
    e->id = rocl_word_row(record->key[2]) | GET_U64 << (64 - ROCL_KIND_BITS);
    e->duration = (int64_t)((uint64_t)GET_I64 + ((uint64_t)e->end - (uint64_t)e->start));
    switch (rocl_row_kind(record->key)) {
    case ROCL_DISPATCH: {
        rocl_dispatch *r = &any->dispatch;
        DISPATCH_FIELDS(GET)
        break;
    }
    case ROCL_COUNTER: {
        rocl_dispatch *r = &any->counter.d;
        DISPATCH_FIELDS(GET)
        any->counter.counter = GET_REF;
        any->counter.value = GET_REAL;
        any->counter.row = GET_U64;
        break;
    }
    case ROCL_COPY: {
        rocl_copy *r = &any->copy;
        COPY_FIELDS(GET)
        break;
    }
    case ROCL_ALLOC:
    case ROCL_SCRATCH: {
        rocl_alloc *r = &any->alloc;
        ALLOC_FIELDS(GET)
        break;
    }
    case ROCL_SPM:
    case ROCL_SAMPLE: {
        rocl_sample_value *r = &any->sample;
        SAMPLE_FIELDS(GET)
        break;
    }
    case ROCL_GRAPH:
    case ROCL_HIP_EVENT:
    case ROCL_BARRIER: {
        rocl_hip *r = &any->hip;
        HIP_FIELDS(GET)
        break;
    }
    default: {
        rocl_region *r = &any->region;
        REGION_FIELDS(GET)
    }
    }
    return !in.broken;
}
