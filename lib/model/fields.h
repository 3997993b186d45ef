/* The fields of the records of events: one list for each record, and all that is made from them.
 *
 *     wire of teams            team/wire.c      every field, column by column (rocl_field_lists)
 *     rows that are sorted     fields.c         rocl_fields_put(), rocl_fields_get(): of columnar
 *                                               outputs and of databases
 *     columns                  relation.c       SQL, Parquet, Arrow, JSON lines, and what they say
 *     pictures                 timeline/        the lists of what is drawn of a dispatch
 *
 * A row is X(member of the record, type, column, ROCL_FIELD_* that a source must be asked for,
 * SHOWN | DETAIL | HIDDEN, what it is, ...); what follows it is the caller's. HIDDEN: relation.c
 * has no column for it, or one with an own expression; DETAIL: exports leave the column out if
 * nobody asks. Lists are in pieces where columns of relations with an own expression stand between.
 */
#pragma once

#include "base/buf.h"
#include "model/kinds.h"

typedef enum rocl_field_type {
    /* Whoever sorts records has these in keys: */
    ROCL_AS_START, /* int64_t, ns */
    ROCL_AS_END,
    ROCL_AS_DURATION, /* mostly end - start */
    ROCL_AS_ROW,      /* uint64_t */
    /* Values: */
    ROCL_AS_INDEX, /* uint32_t, of a definition; ROCL_NONE: none */
    ROCL_AS_TEXT,  /* uint32_t; ROCL_NONE: none */
    ROCL_AS_ENUM,
    ROCL_AS_BOOL,
    ROCL_AS_U32,
    ROCL_AS_U64,
    ROCL_AS_ID,    /* uint64_t; 0: none */
    ROCL_AS_I64,   /* mostly small */
    ROCL_AS_KNOWN, /* int64_t; -1: unknown */
    ROCL_AS_REAL,  /* double */
    /* Say nothing without the arrays of their batch: */
    ROCL_AS_BATCH, /* uint32_t */
    ROCL_AS_ARG_COUNT,
    ROCL_AS_ARG_FIRST,
} rocl_field_type;

/* clang-format off */
#define ROCL_EVENT_FIELDS(X, ...) \
    X(start, START, start, 0, HIDDEN, "ns", __VA_ARGS__) \
    X(end, END, end, 0, HIDDEN, "ns", __VA_ARGS__) \
    X(duration, DURATION, duration, 0, HIDDEN, \
      "ns of the whole event, even if it was cut", __VA_ARGS__) \
    X(id, ROW, id, 0, HIDDEN, "row of its table in the input", __VA_ARGS__) \
    X(name, TEXT, name, 0, HIDDEN, "what is shown", __VA_ARGS__) \
    X(category, TEXT, category, 0, HIDDEN, "what the profiler calls its kind", __VA_ARGS__) \
    X(process, INDEX, process, 0, HIDDEN, "process", __VA_ARGS__) \
    X(thread, INDEX, thread, 0, HIDDEN, "thread", __VA_ARGS__) \
    ROCL_EVENT_LINKS(X, __VA_ARGS__)
#define ROCL_EVENT_LINKS(X, ...) \
    X(event_id, ID, event_id, 0, DETAIL, "row of rocpd_event", __VA_ARGS__) \
    X(stack_id, U64, stack_id, 0, SHOWN, \
      "the same for a call and the GPU work it caused, 0: none (Correlation_Id of the " \
      "CSV files)", __VA_ARGS__) \
    X(parent_stack_id, U64, parent_stack_id, ROCL_FIELD_PARENT, DETAIL, \
      "stack_id of the call around, 0: none", __VA_ARGS__) \
    X(correlation_id, I64, correlation_id, ROCL_FIELD_CORRELATION, DETAIL, \
      "the user's own correlation id, 0: none", __VA_ARGS__)

#define ROCL_REGION_FIELDS(X, ...) \
    X(function, TEXT, function, 0, SHOWN, \
      "the API function, also where the name is a message", __VA_ARGS__) \
    X(arg_count, ARG_COUNT, arg_count, 0, HIDDEN, "arguments", __VA_ARGS__) \
    X(arg_first, ARG_FIRST, arg_first, 0, HIDDEN, "index of the first argument", __VA_ARGS__)

#define ROCL_DISPATCH_FIELDS(X, ...) \
    X(agent, INDEX, agent, 0, HIDDEN, "agent", __VA_ARGS__) \
    X(queue, INDEX, queue, 0, HIDDEN, "HSA queue", __VA_ARGS__) \
    X(stream, INDEX, stream, 0, HIDDEN, "HIP stream", __VA_ARGS__) \
    X(kernel, INDEX, kernel, 0, HIDDEN, "kernel", __VA_ARGS__) \
    X(packet, BATCH, packet, 0, HIDDEN, "index of its packet + 1", __VA_ARGS__) \
    X(arg_count, ARG_COUNT, arg_count, 0, HIDDEN, "arguments", __VA_ARGS__) \
    X(arg_first, ARG_FIRST, arg_first, 0, HIDDEN, "index of the first argument", __VA_ARGS__) \
    ROCL_DISPATCH_IDS(X, __VA_ARGS__) \
    ROCL_DISPATCH_LABEL(X, __VA_ARGS__) \
    ROCL_DISPATCH_SIZES(X, __VA_ARGS__) \
    ROCL_DISPATCH_GRAPH(X, __VA_ARGS__)
#define ROCL_DISPATCH_IDS(X, ...) \
    X(dispatch_id, U64, dispatch_id, ROCL_FIELD_DISPATCH_ID, SHOWN, \
      "number of the dispatch in its process", __VA_ARGS__) \
    X(kernel_id, I64, kernel_id, 0, SHOWN, "id of the kernel symbol", __VA_ARGS__)
#define ROCL_DISPATCH_LABEL(X, ...) \
    X(region_name, TEXT, region, 0, SHOWN, "label around the dispatch", __VA_ARGS__)
#define ROCL_DISPATCH_SIZES(X, ...) \
    X(grid[0], U32, grid_x, 0, SHOWN, "grid size, work-items", __VA_ARGS__) \
    X(grid[1], U32, grid_y, 0, SHOWN, "grid size, work-items", __VA_ARGS__) \
    X(grid[2], U32, grid_z, 0, SHOWN, "grid size, work-items", __VA_ARGS__) \
    X(workgroup[0], U32, workgroup_x, 0, SHOWN, "size of a workgroup, work-items", __VA_ARGS__) \
    X(workgroup[1], U32, workgroup_y, 0, SHOWN, "size of a workgroup, work-items", __VA_ARGS__) \
    X(workgroup[2], U32, workgroup_z, 0, SHOWN, "size of a workgroup, work-items", __VA_ARGS__) \
    X(group_segment, I64, lds_size, 0, SHOWN, "LDS of the dispatch, bytes", __VA_ARGS__) \
    X(private_segment, I64, scratch_size, 0, SHOWN, \
      "scratch memory of the dispatch, bytes", __VA_ARGS__)
#define ROCL_DISPATCH_GRAPH(X, ...) \
    X(graph_exec_id, ID, graph_exec_id, ROCL_FIELD_GRAPH, SHOWN, \
      "executable HIP graph", __VA_ARGS__) \
    X(graph_node_id, ID, graph_node_id, ROCL_FIELD_GRAPH, DETAIL, \
      "node of the HIP graph", __VA_ARGS__)

#define ROCL_COPY_FIELDS(X, ...) \
    X(src, INDEX, src, 0, HIDDEN, "agent it reads from", __VA_ARGS__) \
    X(dst, INDEX, dst, 0, HIDDEN, "agent it writes to", __VA_ARGS__) \
    X(queue, INDEX, queue, 0, HIDDEN, "HSA queue", __VA_ARGS__) \
    X(stream, INDEX, stream, 0, HIDDEN, "HIP stream", __VA_ARGS__) \
    ROCL_COPY_SIZE(X, __VA_ARGS__) \
    ROCL_COPY_ADDRESSES(X, __VA_ARGS__)
#define ROCL_COPY_SIZE(X, ...) \
    X(size, U64, size, 0, SHOWN, "bytes", __VA_ARGS__)
#define ROCL_COPY_ADDRESSES(X, ...) \
    X(src_address, U64, src_address, ROCL_FIELD_ADDRESSES, DETAIL, \
      "address the copy reads from", __VA_ARGS__) \
    X(dst_address, U64, dst_address, ROCL_FIELD_ADDRESSES, DETAIL, \
      "address the copy writes to", __VA_ARGS__)

#define ROCL_ALLOC_FIELDS(X, ...) \
    X(agent, INDEX, agent, 0, HIDDEN, "agent, as its source has it", __VA_ARGS__) \
    X(queue, INDEX, queue, 0, HIDDEN, "HSA queue", __VA_ARGS__) \
    X(stream, INDEX, stream, 0, HIDDEN, "HIP stream", __VA_ARGS__) \
    X(op, ENUM, type, 0, HIDDEN, "rocl_alloc_op", __VA_ARGS__) \
    X(level, ENUM, level, 0, HIDDEN, "rocl_alloc_level", __VA_ARGS__) \
    X(owner, INDEX, owner, 0, HIDDEN, "agent whose memory it is, also of a free", __VA_ARGS__) \
    X(unpaired, BOOL, unpaired, 0, HIDDEN, "a free of what was never allocated", __VA_ARGS__) \
    ROCL_ALLOC_SIZE(X, __VA_ARGS__) \
    ROCL_ALLOC_BLOCK(X, __VA_ARGS__)
#define ROCL_ALLOC_SIZE(X, ...) \
    X(size, U64, size, 0, SHOWN, "bytes", __VA_ARGS__) \
    X(address, U64, address, 0, SHOWN, "address of the memory", __VA_ARGS__) \
    X(flags, U64, flags, 0, SHOWN, "flags of the operation", __VA_ARGS__)
#define ROCL_ALLOC_BLOCK(X, ...) \
    X(block, U64, block_size, 0, SHOWN, "bytes of the block that is made or freed", __VA_ARGS__) \
    X(delta, I64, delta, 0, SHOWN, "by how many bytes the owner's live memory changes", __VA_ARGS__)

/* A value of a counter has these besides those of its dispatch. */
#define ROCL_COUNTER_FIELDS(X, ...) \
    X(counter, INDEX, counter, 0, HIDDEN, "counter", __VA_ARGS__) \
    X(instances, BATCH, instances, 0, HIDDEN, "how many", __VA_ARGS__) \
    X(instance, BATCH, instance, 0, HIDDEN, "index of the first + 1", __VA_ARGS__) \
    X(min, REAL, min, 0, HIDDEN, "least value of an instance", __VA_ARGS__) \
    X(max, REAL, max, 0, HIDDEN, "greatest value of an instance", __VA_ARGS__) \
    ROCL_COUNTER_VALUE(X, __VA_ARGS__) \
    ROCL_COUNTER_ROW(X, __VA_ARGS__)
#define ROCL_COUNTER_VALUE(X, ...) \
    X(value, REAL, value, 0, SHOWN, "value of the counter, summed over its instances", __VA_ARGS__)
#define ROCL_COUNTER_ROW(X, ...) \
    X(row, ID, value_id, 0, DETAIL, \
      "row of rocpd_pmc_event, of several instances the first", __VA_ARGS__)

#define ROCL_SAMPLE_FIELDS(X, ...) \
    X(counter, INDEX, counter, 0, HIDDEN, "counter", __VA_ARGS__) \
    X(agent, INDEX, agent, 0, HIDDEN, "agent", __VA_ARGS__) \
    ROCL_COUNTER_VALUE(X, __VA_ARGS__) \
    ROCL_SAMPLE_INSTANCE(X, __VA_ARGS__)
#define ROCL_SAMPLE_INSTANCE(X, ...) \
    X(xcc, KNOWN, xcc, 0, SHOWN, "XCC of the instance", __VA_ARGS__) \
    X(shader_engine, KNOWN, shader_engine, 0, SHOWN, "shader engine of the instance", __VA_ARGS__) \
    X(shader_array, KNOWN, shader_array, 0, SHOWN, "shader array of the instance", __VA_ARGS__) \
    X(wgp, KNOWN, wgp, 0, SHOWN, "WGP of the instance", __VA_ARGS__) \
    X(instance, KNOWN, instance, 0, SHOWN, "number of the instance", __VA_ARGS__)

#define ROCL_HIP_FIELDS(X, ...) \
    X(agent, INDEX, agent, 0, HIDDEN, "agent", __VA_ARGS__) \
    X(queue, INDEX, queue, 0, HIDDEN, "HSA queue", __VA_ARGS__) \
    X(stream, INDEX, stream, 0, HIDDEN, "HIP stream", __VA_ARGS__) \
    X(source_queue, INDEX, source_queue, 0, HIDDEN, "queue waited for", __VA_ARGS__) \
    ROCL_HIP_GRAPH(X, __VA_ARGS__)
#define ROCL_HIP_GRAPH(X, ...) \
    X(graph_exec_id, ID, graph_exec_id, 0, SHOWN, "executable HIP graph", __VA_ARGS__) \
    X(kernel_count, U64, kernel_count, 0, SHOWN, "kernels of the graph", __VA_ARGS__)

#define ROCL_FLOW_FIELDS(X, ...) \
    X(flow, U64, flow, 0, HIDDEN, "number of the arrow", __VA_ARGS__) \
    X(end, ENUM, end, 0, HIDDEN, "rocl_flow_end", __VA_ARGS__) \
    X(next, BOOL, next, 0, HIDDEN, "it belongs to the next range", __VA_ARGS__)
/* clang-format on */

/* ---- the lists as tables --------------------------------------------------------------------- */

typedef struct rocl_field {
    const char *member;
    uint16_t offset;
    uint8_t width; /* 1, 4 or 8 bytes */
    uint8_t type;  /* rocl_field_type */
} rocl_field;

typedef struct rocl_field_list {
    const rocl_field *all;
    size_t count;
} rocl_field_list;

/* All fields of the records of a kind. Ends come after starts, durations after ends. */
extern const rocl_field_list rocl_field_lists[ROCL_KINDS];

/* ---- records as bytes ------------------------------------------------------------------------ */

enum { ROCL_FIELDS_MAX = 40 * ROCL_VARINT_MAX };

/* Writes the values of a record, ROCL_FIELDS_MAX bytes at most: no times, no row, nothing of its
 * batch. Returns their end. */
uint8_t *rocl_fields_put(uint8_t *to, rocl_kind kind, const rocl_event *e);
/* Reads them back into the record at *e and advances *p. False: the bytes are cut. */
bool rocl_fields_get(const uint8_t **p, const uint8_t *end, rocl_kind kind, rocl_event *e);

/* Bytes that are read: at the end `broken` says whether there were too few. */
typedef struct rocl_value_reader {
    const uint8_t *p, *end;
    bool broken;
} rocl_value_reader;

static inline uint64_t rocl_read_value(rocl_value_reader *in)
{
    uint64_t v = 0;
    if (in->p < in->end && *in->p < 0x80) /* most are a single byte */
        return *in->p++;
    in->broken |= !rocl_varint_get(&in->p, in->end, &v);
    return v;
}

/* Indexes and texts are one up, so that ROCL_NONE is a single 0. */
static inline uint8_t *rocl_put_index(uint8_t *p, uint32_t index)
{
    return rocl_varint_put(p, (uint32_t)(index + 1));
}

static inline uint32_t rocl_read_index(rocl_value_reader *in)
{
    return (uint32_t)(rocl_read_value(in) - 1);
}

/* Words of keys: signed numbers in the order of unsigned ones. */
static inline uint64_t rocl_flip_sign(int64_t v)
{
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

static inline int64_t rocl_unflip_sign(uint64_t word)
{
    return (int64_t)(word ^ (uint64_t)1 << 63);
}

/* Reals as numbers for varints: round ones have zeros in their low bytes, turned around they are
 * short. */
static inline uint64_t rocl_turn_real(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return __builtin_bswap64(bits);
}

static inline double rocl_unturn_real(uint64_t turned)
{
    double v;
    turned = __builtin_bswap64(turned);
    memcpy(&v, &turned, sizeof v);
    return v;
}
