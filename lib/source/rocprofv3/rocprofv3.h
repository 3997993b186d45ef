/* The JSON of rocprofv3, `*_results.json`, of ROCm 6.2 and later, and what other programs write in
 * that form:
 *
 *     {"rocprofiler-sdk-tool": [{metadata, agents, counters, strings, code_objects, kernel_symbols,
 *                                callback_records: {KEY: [record, ...]},
 *                                buffer_records: {KEY: [record, ...]}}]}
 *
 * An element of the outer array is a process. Numbers in records refer to what stands in the
 * members before: those are read whole when the file is opened, but for the symbols, of which only
 * those are kept that were dispatched. Then the blocks of the arrays of records are the pieces of
 * an input of records (source/records/records.h).
 *
 *     rocprofv3.c   opens the file; pieces; definitions of what is used
 *     tables.c      what stands before the records
 *     events.c      records */
#pragma once

#include "base/json_index.h"
#include "base/map.h"
#include "source/records/records.h"

extern const rocl_source_ops rocl_rocprofv3_json_ops;

/* ---- arrays of records ----------------------------------------------------------------------- */

typedef enum rocprofv3_array {
    ROCPROFV3_DISPATCHES,
    ROCPROFV3_COPIES,
    ROCPROFV3_ALLOCATIONS,
    ROCPROFV3_SCRATCHES,
    ROCPROFV3_COUNTERS,
    ROCPROFV3_SPM,
    ROCPROFV3_PC_SAMPLES,
    ROCPROFV3_STOCHASTIC_PC_SAMPLES,
    ROCPROFV3_KFD,
    ROCPROFV3_GRAPHS,
    ROCPROFV3_MARKERS,
    ROCPROFV3_HIP,
    ROCPROFV3_HSA,
    ROCPROFV3_CALLS, /* of any other library */
    ROCPROFV3_ARRAYS
} rocprofv3_array;

/* Kinds of events of the driver. */
typedef enum rocprofv3_kfd {
    ROCPROFV3_KFD_EVENT_MIGRATE,
    ROCPROFV3_KFD_EVENT_FAULT,
    ROCPROFV3_KFD_EVENT_QUEUE,
    ROCPROFV3_KFD_EVENT_UNMAP,
    ROCPROFV3_KFD_EVENT_DROPPED,
    ROCPROFV3_KFD_MIGRATE,
    ROCPROFV3_KFD_FAULT,
    ROCPROFV3_KFD_QUEUE,
    ROCPROFV3_KFD_KINDS
} rocprofv3_kfd;

/* The array of a key; ROCPROFV3_ARRAYS: unknown. */
rocprofv3_array rocprofv3_array_of(const char *key);

/* ---- what stands before the records ---------------------------------------------------------- */

typedef struct rocprofv3_operation {
    uint32_t name;  /* text */
    rocl_kind call; /* of a call: ROCL_REGION, ROCL_MARKER, ROCL_INSTANT */
} rocprofv3_operation;

typedef struct rocprofv3_kind {
    uint32_t name; /* text */
    rocprofv3_operation *operations;
    size_t count, cap;
} rocprofv3_kind;

typedef struct rocprofv3_agent {
    uint64_t handle;
    uint64_t begin, end; /* in the file, where its properties are read on request */
    rocl_agent about;
} rocprofv3_agent;

typedef struct rocprofv3_code_object {
    uint64_t id, agent;  /* the latter a handle */
    uint64_t begin, end; /* in the file */
} rocprofv3_code_object;

typedef struct rocprofv3_symbol {
    uint64_t id;
    uint64_t begin, end; /* in the file */
} rocprofv3_symbol;

typedef struct rocprofv3_counter {
    uint64_t id;
    uint32_t name, description, block; /* texts */
} rocprofv3_counter;

typedef struct rocprofv3_texts {
    uint32_t *all;
    size_t count, cap;
} rocprofv3_texts;

typedef struct rocprofv3_process {
    uint64_t key; /* the pid, unless a process before has it */
    rocl_process about;
    rocl_node node;
    bool has_node;
    int64_t machine;     /* as we write it: processes with the same number are on one; -1 unknown */
    bool has_dispatches; /* it lists dispatches, so they need not be made from counter values */
    rocprofv3_kind *kinds;
    size_t kind_count, kind_cap;
    rocprofv3_agent *agents;
    size_t agent_count, agent_cap;
    rocprofv3_code_object *code_objects;
    size_t code_object_count, code_object_cap;
    uint32_t first_code_object; /* of them, among those of the capture */
    rocprofv3_symbol *symbols;
    size_t symbol_count, symbol_cap;
    rocprofv3_counter *counters;
    size_t counter_count, counter_cap;
    rocl_ids agent_ids, code_object_ids, symbol_ids, counter_ids; /* to the indexes above */
    rocl_ids messages;       /* internal correlation id -> text */
    rocl_ids labels;         /* external correlation id -> text */
    rocl_ids host_functions; /* id of a kernel -> text of its name */
    rocprofv3_texts instructions, comments;
} rocprofv3_process;

enum { ROCPROFV3_AGENT_TYPES = ROCL_AGENT_NIC + 1 };

typedef struct rocprofv3_run {
    rocl_trace *trace;
    const char *path;
    const rocl_spool *spool;
    unsigned flags; /* ROCL_JSON_*, of a reader of this file */
    rocl_json_index index;
    rocl_buf bytes, text;
    rocprofv3_process *processes;
    size_t count, cap;
    uint32_t categories[ROCPROFV3_ARRAYS]; /* texts, of records that do not say it */
    uint32_t types[ROCPROFV3_AGENT_TYPES]; /* texts: "GPU" */
    uint32_t kfd[ROCPROFV3_KFD_KINDS];     /* texts, of records that do not say it */
    uint32_t component, value_type;        /* texts, of counters */
} rocprofv3_run;

/* Is a call a range or mark of rocTX? */
rocl_kind rocprofv3_call_kind(const char *category, const char *function);

/* Reads the members before the records of the process that is `node` of the outline. */
rocl_status rocprofv3_read_tables(rocprofv3_run *run, rocprofv3_process *p,
                                  const rocl_json_node *node, rocl_error *err);
/* Completes the kernel of a symbol. */
rocl_status rocprofv3_read_symbol(rocprofv3_run *run, const rocprofv3_symbol *s, rocl_kernel *k,
                                  uint64_t *code_object, rocl_error *err);
/* Appends the known members of the object of a definition, at [begin, end) in the file. Any thread,
 * even while pieces are read. */
rocl_status rocprofv3_copy_properties(const rocprofv3_run *run, rocl_property_of of, uint64_t begin,
                                      uint64_t end, rocl_buf *b, rocl_error *err);
void rocprofv3_free_tables(rocprofv3_process *p);

/* The element of an array that has a number; NULL: none. */
static inline const rocprofv3_operation *rocprofv3_operation_at(const rocprofv3_kind *k,
                                                                uint64_t number)
{
    return k && number < k->count ? &k->operations[number] : NULL;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Puts the records of a piece, whose section says process and array. */
rocl_status rocprofv3_parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                                  rocl_error *err);
void rocprofv3_free_worker(void *state);
static inline uint32_t rocprofv3_part(size_t process, rocprofv3_array array)
{
    return (uint32_t)(process * ROCPROFV3_ARRAYS + array);
}
