/* Events as bytes: a varint for each field, listed once for both ways. */
#include "sink/rocpd/newset.h"

typedef enum form {
    REF,  /* uint32_t; ROCL_NONE is 0 */
    U32,  /* uint32_t or an enum */
    U64,  /* uint64_t */
    I64,  /* int64_t, mostly small */
    REAL, /* double; round ones have zeros in their low bytes: turned around they are short */
    END
} form;

typedef struct field {
    uint16_t offset;
    uint8_t form;
} field;

#define FIELD(type, member, form)                                                                  \
    {                                                                                              \
        offsetof(type, member), form                                                               \
    }
#define LAST                                                                                       \
    {                                                                                              \
        0, END                                                                                     \
    }

static const field event_fields[] = {
    FIELD(rocl_event, stack_id, U64),       FIELD(rocl_event, parent_stack_id, U64),
    FIELD(rocl_event, correlation_id, I64), FIELD(rocl_event, process, REF),
    FIELD(rocl_event, thread, REF),         FIELD(rocl_event, name, REF),
    FIELD(rocl_event, category, REF),       LAST};

static const field region_fields[] = {FIELD(rocl_region, function, REF),
                                      FIELD(rocl_region, arg_count, U32), LAST};

static const field dispatch_fields[] = {
    FIELD(rocl_dispatch, agent, REF),         FIELD(rocl_dispatch, queue, REF),
    FIELD(rocl_dispatch, stream, REF),        FIELD(rocl_dispatch, kernel, REF),
    FIELD(rocl_dispatch, dispatch_id, U64),   FIELD(rocl_dispatch, kernel_id, I64),
    FIELD(rocl_dispatch, region_name, REF),   FIELD(rocl_dispatch, private_segment, I64),
    FIELD(rocl_dispatch, group_segment, I64), FIELD(rocl_dispatch, workgroup[0], U32),
    FIELD(rocl_dispatch, workgroup[1], U32),  FIELD(rocl_dispatch, workgroup[2], U32),
    FIELD(rocl_dispatch, grid[0], U32),       FIELD(rocl_dispatch, grid[1], U32),
    FIELD(rocl_dispatch, grid[2], U32),       FIELD(rocl_dispatch, graph_exec_id, U64),
    FIELD(rocl_dispatch, graph_node_id, U64), LAST};

static const field copy_fields[] = {
    FIELD(rocl_copy, src, REF),         FIELD(rocl_copy, dst, REF),
    FIELD(rocl_copy, queue, REF),       FIELD(rocl_copy, stream, REF),
    FIELD(rocl_copy, size, U64),        FIELD(rocl_copy, src_address, U64),
    FIELD(rocl_copy, dst_address, U64), LAST};

static const field alloc_fields[] = {
    FIELD(rocl_alloc, agent, REF),   FIELD(rocl_alloc, queue, REF), FIELD(rocl_alloc, stream, REF),
    FIELD(rocl_alloc, op, U32),      FIELD(rocl_alloc, level, U32), FIELD(rocl_alloc, size, U64),
    FIELD(rocl_alloc, address, U64), FIELD(rocl_alloc, flags, U64), LAST};

static const field counter_fields[] = {FIELD(rocl_counter_value, counter, REF),
                                       FIELD(rocl_counter_value, value, REAL), LAST};

static const field sample_fields[] = {
    FIELD(rocl_sample_value, counter, REF),  FIELD(rocl_sample_value, value, REAL),
    FIELD(rocl_sample_value, xcc, I64),      FIELD(rocl_sample_value, shader_engine, I64),
    FIELD(rocl_sample_value, instance, I64), FIELD(rocl_sample_value, shader_array, I64),
    FIELD(rocl_sample_value, wgp, I64),      LAST};

static const field hip_fields[] = {FIELD(rocl_hip, agent, REF),
                                   FIELD(rocl_hip, queue, REF),
                                   FIELD(rocl_hip, stream, REF),
                                   FIELD(rocl_hip, source_queue, REF),
                                   FIELD(rocl_hip, graph_exec_id, U64),
                                   FIELD(rocl_hip, kernel_count, U64),
                                   LAST};

enum { LISTS = 3 };

static const field *const lists[ROCL_KINDS][LISTS] = {
    [ROCL_REGION] = {event_fields, region_fields},
    [ROCL_MARKER] = {event_fields, region_fields},
    [ROCL_INSTANT] = {event_fields, region_fields},
    [ROCL_DISPATCH] = {event_fields, dispatch_fields},
    [ROCL_COPY] = {event_fields, copy_fields},
    [ROCL_ALLOC] = {event_fields, alloc_fields},
    [ROCL_SCRATCH] = {event_fields, alloc_fields},
    [ROCL_COUNTER] = {event_fields, dispatch_fields, counter_fields},
    [ROCL_SPM] = {event_fields, sample_fields},
    [ROCL_SAMPLE] = {event_fields, sample_fields},
    [ROCL_GRAPH] = {event_fields, hip_fields},
    [ROCL_HIP_EVENT] = {event_fields, hip_fields},
    [ROCL_BARRIER] = {event_fields, hip_fields},
};

static uint64_t get(const char *at, form how)
{
    uint32_t small;
    uint64_t large;
    if (how == REF || how == U32) {
        memcpy(&small, at, sizeof small);
        return how == REF ? small + 1 : small; /* wraps to 0 */
    }
    memcpy(&large, at, sizeof large);
    return how == I64    ? rocl_zigzag((int64_t)large)
           : how == REAL ? __builtin_bswap64(large)
                         : large;
}

static void put(char *at, form how, uint64_t v)
{
    uint32_t small = (uint32_t)(how == REF ? v - 1 : v);
    uint64_t large = how == I64    ? (uint64_t)rocl_unzigzag(v)
                     : how == REAL ? __builtin_bswap64(v)
                                   : v;
    if (how == REF || how == U32)
        memcpy(at, &small, sizeof small);
    else
        memcpy(at, &large, sizeof large);
}

void newset_pack(rocl_buf *to, rocl_kind kind, const void *record)
{
    for (unsigned i = 0; i < LISTS && lists[kind][i]; i++)
        for (const field *f = lists[kind][i]; f->form != END; f++)
            rocl_buf_varint(to, get((const char *)record + f->offset, f->form));
}

bool newset_unpack(const uint8_t **p, const uint8_t *end, rocl_kind kind, rocl_any_record *r)
{
    uint64_t v;
    for (unsigned i = 0; i < LISTS && lists[kind][i]; i++)
        for (const field *f = lists[kind][i]; f->form != END; f++) {
            if (!rocl_varint_get(p, end, &v))
                return false;
            put((char *)r + f->offset, f->form, v);
        }
    return true;
}
