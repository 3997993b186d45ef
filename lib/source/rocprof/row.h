/* A row of AMD's older profilers as named fields: what v1 calls gpu-id, v2 GPU_ID and v3 Agent_Id
 * is one column here. CSV files, the text of rocprof v2, results.txt, results.db and the arguments
 * of results.json are all read as such rows. */
#pragma once

#include "source/records/records.h"

/* X(column, its names, without case, '-', '_' and blanks, separated by blanks) */
#define ROCPROF_COLUMN_TABLE(X)                                                                    \
    X(KIND, "kind")                                                                                \
    X(DOMAIN, "domain")                                                                            \
    X(FUNCTION, "function")                                                                        \
    X(NAME, "name")                                                                                \
    X(ARGS, "args")                                                                                \
    X(PROCESS, "processid pid")                                                                    \
    X(PROC_ID, "procid")                                                                           \
    X(THREAD, "threadid tid")                                                                      \
    X(LINK, "correlationid cid")                                                                   \
    X(INDEX, "index")                                                                              \
    X(START, "starttimestamp begints begintimestamp beginns")                                      \
    X(END, "endtimestamp stoptimestamp endns")                                                     \
    X(AGENT, "agentid gpuid devid")                                                                \
    X(QUEUE, "queueid")                                                                            \
    X(STREAM, "streamid")                                                                          \
    X(DISPATCH, "dispatchid dispatch")                                                             \
    X(KERNEL, "kernelid")                                                                          \
    X(KERNEL_NAME, "kernelname")                                                                   \
    X(SCRATCH, "privatesegmentsize scratchsize scr scratchperworkitem")                            \
    X(LDS, "groupsegmentsize ldsblocksize lds ldsperworkgroup")                                    \
    X(VGPR, "vgprcount archvgpr vgpr")                                                             \
    X(ACCUM_VGPR, "accumvgprcount accumvgpr accumulativevgpr")                                     \
    X(SGPR, "sgprcount sgpr")                                                                      \
    X(WORKGROUP, "workgroupsize wgr")                                                              \
    X(WORKGROUP_X, "workgroupsizex")                                                               \
    X(WORKGROUP_Y, "workgroupsizey")                                                               \
    X(WORKGROUP_Z, "workgroupsizez")                                                               \
    X(GRID, "gridsize grd")                                                                        \
    X(GRID_X, "gridsizex")                                                                         \
    X(GRID_Y, "gridsizey")                                                                         \
    X(GRID_Z, "gridsizez")                                                                         \
    X(DIRECTION, "direction")                                                                      \
    X(SOURCE, "sourceagentid")                                                                     \
    X(DESTINATION, "destinationagentid")                                                           \
    X(OPERATION, "operation operationname")                                                        \
    X(SIZE, "allocationsize size bytes")                                                           \
    X(ADDRESS, "address startingaddress")                                                          \
    X(FLAGS, "allocflags")                                                                         \
    X(COUNTER, "countername")                                                                      \
    X(VALUE, "countervalue")                                                                       \
    X(SAMPLE_TIME, "sampletimestamp")                                                              \
    X(INSTRUCTION, "instruction pcsample")                                                         \
    X(COMMENT, "instructioncomment")                                                               \
    X(STALL, "stallreason")                                                                        \
    X(MESSAGE, "message roctxmessage")                                                             \
    X(RANGE, "roctxid")                                                                            \
    X(TIME, "timestamp")                                                                           \
    X(NODE, "nodeid")                                                                              \
    X(LOGICAL_NODE, "logicalnodeid")                                                               \
    X(AGENT_TYPE, "agenttype")                                                                     \
    X(PRODUCT, "productname")                                                                      \
    X(VENDOR, "vendorname")                                                                        \
    X(MODEL, "modelname")                                                                          \
    X(GUID, "guid")                                                                                \
    X(XCC, "xccindex xcc")                                                                         \
    X(SHADER_ENGINE, "shaderengine")                                                               \
    X(SHADER_ARRAY, "shaderarray")                                                                 \
    X(WGP, "wgp")                                                                                  \
    X(INSTANCE, "instance")                                                                        \
    X(SOURCE_QUEUE, "sourcequeueid")                                                               \
    X(GRAPH_EXEC, "graphexecid")                                                                   \
    X(KERNEL_COUNT, "kerneldispatchcount")                                                         \
    /* known but unused: never a counter */                                                        \
    X(IGNORED, "durationns duration data "                                                         \
               "section lane roctxrange units graphnodeid srctype dsttype async callkind")

/* Optional columns: for a rocl_packet of dispatches of v1, or arguments of a PC
 * sample. */
#define ROCPROF_PACKET_TABLE(X)                                                                    \
    X(QUEUE_INDEX, "queueindex")                                                                   \
    X(WAVE_SIZE, "wavesize")                                                                       \
    X(SIGNAL, "sig")                                                                               \
    X(OBJECT, "obj")                                                                               \
    X(SUBMITTED, "dispatchns")                                                                     \
    X(COMPLETED, "completens")                                                                     \
    X(BARRIER_BIT, "fbar")                                                                         \
    X(EXEC_MASK, "execmask")                                                                       \
    X(SHADER_ENGINES, "shaderengines")                                                             \
    X(WAVE_ISSUED, "waveissuedinstruction")                                                        \
    X(INSTRUCTION_TYPE, "instructiontype")                                                         \
    X(WAVE_COUNT, "wavecount")

/* The function of a range that was started and stopped, as rocprofv3 calls it. */
#define ROCPROF_STARTED "roctxProcessRangeA"

typedef enum rocprof_column {
#define ROCPROF_COLUMN(column, names) ROCPROF_##column,
    ROCPROF_COLUMN_TABLE(ROCPROF_COLUMN) ROCPROF_COLUMNS,
    ROCPROF_OTHER = ROCPROF_COLUMNS, /* of a table of dispatches: a counter */
    ROCPROF_PACKET_TABLE(ROCPROF_COLUMN)
#undef ROCPROF_COLUMN
        ROCPROF_ALL_COLUMNS
} rocprof_column;

/* The column of a name. NAME_1, as pandas renames a second NAME, is ignored. */
rocprof_column rocprof_column_of(rocl_view name);

/* The kinds of tables. */
typedef enum rocprof_table {
    ROCPROF_CALLS,
    ROCPROF_DISPATCHES, /* with a counter for each unknown column */
    ROCPROF_COUNTERS,   /* a row for each value */
    ROCPROF_COPIES,
    ROCPROF_OPS, /* kernels, copies and barriers, told by their names */
    ROCPROF_ALLOCATIONS,
    ROCPROF_SCRATCHES,
    ROCPROF_RANGES,     /* rocTX, whole */
    ROCPROF_RANGE_ENDS, /* rocTX of v2: begins and ends on their own */
    ROCPROF_PC_SAMPLES,
    ROCPROF_AGENTS,
    ROCPROF_GRAPHS,     /* launches of HIP graphs */
    ROCPROF_HIP_EVENTS, /* recorded and waited for */
    ROCPROF_SPM,        /* values of counters at moments */
    ROCPROF_TABLES,
    ROCPROF_UNKNOWN = ROCPROF_TABLES
} rocprof_table;

/* The table that has these columns (a bit each). */
rocprof_table rocprof_table_of(uint64_t columns);
/* The name of a required column that a table lacks; NULL: none. */
const char *rocprof_missing_column(rocprof_table table, uint64_t columns);

/* A field of a row: a text, or a number where the source has numbers (text.p is NULL then). */
typedef struct rocprof_value {
    rocl_view text;
    int64_t number;
} rocprof_value;

typedef struct rocprof_counter {
    rocl_view name;
    rocprof_value value;
    double real; /* where the source has numbers */
} rocprof_counter;

typedef struct rocprof_row {
    uint64_t has;        /* a bit for each column that the row has, */
    uint32_t has_packet; /* for each behind ROCPROF_OTHER */
    bool of_v1;          /* of a table of dispatches */
    bool of_csv;         /* whose quotes are not part of its texts */
    bool without_db;     /* see ROCL_PACKET_WITHOUT_DB, */
    bool quotes;         /* ROCL_PACKET_QUOTES */
    rocprof_value value[ROCPROF_ALL_COLUMNS];
    rocprof_counter *counters;
    size_t counter_count;
    uint64_t where;
    uint64_t scope, id; /* of the record, for its completion; 0 */
    bool started;       /* a range of rocTX that was started and stopped, not pushed and popped */
    bool puts_dispatch; /* of a table of counter values: no other table has its dispatch */
    bool no_copy;       /* copies are elsewhere in the file: a kernel may be called like one */
} rocprof_row;

#define ROCPROF_BIT(column)        ((uint64_t)1 << ROCPROF_##column)
#define ROCPROF_PACKET_BIT(column) ((uint32_t)1 << (ROCPROF_##column - ROCPROF_OTHER))

static inline bool rocprof_row_has(const rocprof_row *row, rocprof_column c)
{
    return c < ROCPROF_OTHER ? row->has >> c & 1 : row->has_packet >> (c - ROCPROF_OTHER) & 1;
}

/* Sets a column of the row, other than ROCPROF_OTHER. */
static inline void rocprof_row_set(rocprof_row *row, rocprof_column c, rocprof_value value)
{
    row->value[c] = value;
    if (c < ROCPROF_OTHER)
        row->has |= (uint64_t)1 << c;
    else
        row->has_packet |= (uint32_t)1 << (c - ROCPROF_OTHER);
}

/* Sets it to a text, unless the row has it: the first of several counts. */
static inline void rocprof_row_add(rocprof_row *row, rocprof_column c, rocl_view text)
{
    if (!rocprof_row_has(row, c))
        rocprof_row_set(row, c, (rocprof_value){.text = text});
}

/* Texts that events share. */
typedef struct rocprof_words {
    uint32_t hip, hsa, range, mark, kernel, copy, barrier, allocation, scratch, sample, graph,
        event, spm;
} rocprof_words;

bool rocprof_intern_words(rocprof_words *w, rocl_trace *t);

/* The operation on memory and its level: "MEMORY_ALLOCATION_VMEM_FREE", "ALLOC". */
void rocprof_alloc_operation(rocl_view name, bool scratch, rocl_alloc *to);
/* All of a text as a decimal number. */
bool rocprof_decimal(rocl_view s, uint64_t *v);

/* Puts the record or records of a row. category: of calls whose rows do not have it, else 0. */
rocl_status rocprof_row_put(rocl_records *to, const rocprof_words *w, rocprof_table table,
                            const rocprof_row *row, uint32_t category, rocl_error *err);

/* Is work of this name a copy? */
bool rocprof_is_copy(rocl_view name);
/* AMD's scripts take what has "Memcpy", "Copy" or "Fill" anywhere in its name for a copy, such as
 * CatArrayBatchedCopy. */
bool rocprof_is_kernel_among_copies(rocl_view name);
/* Puts work on a GPU that only its name tells: a kernel, a copy or a barrier. */
rocl_status rocprof_op_put(rocl_records *to, const rocprof_words *w, rocl_source_record *r,
                           rocl_view name, rocl_error *err);

/* Adds an argument to the records in ctx: an rtg_arg_fn. */
bool rocprof_add_arg(void *ctx, rocl_view name, rocl_view value);
/* Puts the arguments of a call as the column "args" has them; the text may be written to. */
void rocprof_args_put(rocl_records *to, rocl_view text);
/* Is it the name of a call whose arguments say how much it copies? */
bool rocprof_call_copies(rocl_view name);
/* The size and direction of the copy of a call, from its arguments in these tables or raw texts.
 * Unchanged if they do not tell. */
void rocprof_read_copy(rocl_view name, rocl_view args, uint64_t *bytes,
                       rocl_copy_direction *direction);
