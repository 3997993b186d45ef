/* The lists of fields.h as tables, and records as bytes: a varint for each value, straight from the
 * lists, as every row that is sorted comes this way. References are stored one up, so that
 * ROCL_NONE is a single 0. */
#include "model/fields.h"

/* ---- tables ---------------------------------------------------------------------------------- */

#define FIELD(name, type, column, needs, shown, doc, record)                                       \
    {#name, offsetof(record, name), sizeof(((record *)0)->name), ROCL_AS_##type},

#define TABLE(record, ...)                                                                         \
    static const rocl_field fields_of_##record[] = {ROCL_EVENT_FIELDS(FIELD, rocl_event)           \
                                                        __VA_ARGS__};                              \
    _Static_assert(sizeof fields_of_##record / sizeof *fields_of_##record <=                       \
                       ROCL_FIELDS_MAX / ROCL_VARINT_MAX,                                          \
                   "a record must fit ROCL_FIELDS_MAX");

TABLE(rocl_region, ROCL_REGION_FIELDS(FIELD, rocl_region))
TABLE(rocl_dispatch, ROCL_DISPATCH_FIELDS(FIELD, rocl_dispatch))
TABLE(rocl_copy, ROCL_COPY_FIELDS(FIELD, rocl_copy))
TABLE(rocl_alloc, ROCL_ALLOC_FIELDS(FIELD, rocl_alloc))
TABLE(rocl_counter_value,
      ROCL_DISPATCH_FIELDS(FIELD, rocl_dispatch) ROCL_COUNTER_FIELDS(FIELD, rocl_counter_value))
TABLE(rocl_sample_value, ROCL_SAMPLE_FIELDS(FIELD, rocl_sample_value))
TABLE(rocl_hip, ROCL_HIP_FIELDS(FIELD, rocl_hip))
TABLE(rocl_flow, ROCL_FLOW_FIELDS(FIELD, rocl_flow))

const rocl_field_list rocl_field_lists[ROCL_KINDS] = {
#define ROW(kind, name, record, ...)                                                               \
    [ROCL_##kind] = {fields_of_##record, sizeof fields_of_##record / sizeof *fields_of_##record},
    ROCL_KIND_TABLE(ROW)
#undef ROW
};

/* ---- records as bytes ------------------------------------------------------------------------ */

#define PUT(member, type, ...) PUT_##type(r->member)
#define PUT_VALUE(v)           p = rocl_varint_put(p, v);
#define PUT_START(v)
#define PUT_END(v)
#define PUT_DURATION(v)
#define PUT_ROW(v)
#define PUT_INDEX(v) p = rocl_put_index(p, v);
#define PUT_TEXT(v)  PUT_INDEX(v)
#define PUT_ENUM(v)  PUT_VALUE((uint64_t)(v))
#define PUT_BOOL(v)  PUT_VALUE(v)
#define PUT_U32(v)   PUT_VALUE(v)
#define PUT_U64(v)   PUT_VALUE(v)
#define PUT_ID(v)    PUT_VALUE(v)
#define PUT_I64(v)   PUT_VALUE(rocl_zigzag(v))
#define PUT_KNOWN(v) PUT_I64(v)
#define PUT_REAL(v)  PUT_VALUE(rocl_turn_real(v))
#define PUT_BATCH(v)
#define PUT_ARG_COUNT(v)
#define PUT_ARG_FIRST(v)

#define GET(member, type, ...) GET_##type(r->member)
#define GET_VALUE(v, value)    v = (__typeof__(v))(value);
#define GET_START(v)
#define GET_END(v)
#define GET_DURATION(v)
#define GET_ROW(v)
#define GET_INDEX(v) GET_VALUE(v, rocl_read_index(in))
#define GET_TEXT(v)  GET_INDEX(v)
#define GET_ENUM(v)  GET_VALUE(v, rocl_read_value(in))
#define GET_BOOL(v)  GET_VALUE(v, rocl_read_value(in))
#define GET_U32(v)   GET_VALUE(v, rocl_read_value(in))
#define GET_U64(v)   GET_VALUE(v, rocl_read_value(in))
#define GET_ID(v)    GET_VALUE(v, rocl_read_value(in))
#define GET_I64(v)   GET_VALUE(v, rocl_unzigzag(rocl_read_value(in)))
#define GET_KNOWN(v) GET_I64(v)
#define GET_REAL(v)  GET_VALUE(v, rocl_unturn_real(rocl_read_value(in)))
#define GET_BATCH(v)
#define GET_ARG_COUNT(v)
#define GET_ARG_FIRST(v)

/* The two ways of a record that begins with a base, whose fields come first. */
#define RECORD(record, base, FIELDS)                                                               \
    static uint8_t *put_##record(uint8_t *p, const rocl_event *e)                                  \
    {                                                                                              \
        const record *r = (const record *)(const void *)e;                                         \
        p = put_##base(p, e);                                                                      \
        FIELDS(PUT, )                                                                              \
        return p;                                                                                  \
    }                                                                                              \
    static void get_##record(rocl_value_reader *in, rocl_event *e)                                 \
    {                                                                                              \
        record *r = (record *)(void *)e;                                                           \
        get_##base(in, e);                                                                         \
        FIELDS(GET, )                                                                              \
    }

static inline uint8_t *put_nothing(uint8_t *p, const rocl_event *e)
{
    (void)e;
    return p;
}

static inline void get_nothing(const rocl_value_reader *in, const rocl_event *e)
{
    (void)in, (void)e;
}

RECORD(rocl_event, nothing, ROCL_EVENT_FIELDS)
RECORD(rocl_region, rocl_event, ROCL_REGION_FIELDS)
RECORD(rocl_dispatch, rocl_event, ROCL_DISPATCH_FIELDS)
RECORD(rocl_copy, rocl_event, ROCL_COPY_FIELDS)
RECORD(rocl_alloc, rocl_event, ROCL_ALLOC_FIELDS)
RECORD(rocl_counter_value, rocl_dispatch, ROCL_COUNTER_FIELDS)
RECORD(rocl_sample_value, rocl_event, ROCL_SAMPLE_FIELDS)
RECORD(rocl_hip, rocl_event, ROCL_HIP_FIELDS)
RECORD(rocl_flow, rocl_event, ROCL_FLOW_FIELDS)

uint8_t *rocl_fields_put(uint8_t *to, rocl_kind kind, const rocl_event *e)
{
    switch (kind) {
#define CASE(kind, name, record, ...)                                                              \
    case ROCL_##kind:                                                                              \
        return put_##record(to, e);
        ROCL_KIND_TABLE(CASE)
#undef CASE
    default:
        return to;
    }
}

bool rocl_fields_get(const uint8_t **p, const uint8_t *end, rocl_kind kind, rocl_event *e)
{
    rocl_value_reader in = {*p, end, false};
    switch (kind) {
#define CASE(kind, name, record, ...)                                                              \
    case ROCL_##kind:                                                                              \
        get_##record(&in, e);                                                                      \
        break;
        ROCL_KIND_TABLE(CASE)
#undef CASE
    default:
        break;
    }
    *p = in.p;
    return !in.broken;
}
