/* The tables of a rocpd database and what their columns hold. */
#include "format/schema.h"

#include <string.h>

/* ---- columns ---- */

/* clang-format off */
#define BASE(name, type)  {name, type, true, false}  /* every database of schema 3 has it */
#define LATER(name, type) {name, type, false, false} /* only some versions of it */
#define FOUR(name, type)  {name, type, false, true}  /* only schema 4 */
/* clang-format on */
#define INT        "INTEGER"
#define ZERO       "INTEGER DEFAULT 0"
#define BIG        "BIGINT"
#define JSON       "JSONB DEFAULT \"{}\""
#define TEXT       "TEXT"
#define GUID       BASE("guid", TEXT)
#define TIMES      BASE("start", BIG), BASE("end", BIG)
#define EXTDATA    BASE("extdata", JSON)
#define OF_PROCESS GUID, SAME_2(INT, "nid", "pid")
#define OF_THREAD  OF_PROCESS, BASE("tid", INT)
#define OF_EVENT   BASE("event_id", INT), EXTDATA
/* Several columns of one type. */
#define SAME_2(type, a, b)       BASE(a, type), BASE(b, type)
#define SAME_3(type, a, b, c)    SAME_2(type, a, b), BASE(c, type)
#define SAME_4(type, a, b, c, d) SAME_3(type, a, b, c), BASE(d, type)
#define XYZ(name)                SAME_3(INT, name "_x", name "_y", name "_z")

static const schema_column region_columns[] = {OF_THREAD, TIMES, BASE("name_id", INT), OF_EVENT};

static const schema_column sample_columns[] = {GUID, BASE("track_id", INT), FOUR("name_id", INT),
                                               BASE("timestamp", BIG), OF_EVENT};

static const schema_column dispatch_columns[] = {
    OF_THREAD,
    SAME_4(INT, "agent_id", "kernel_id", "dispatch_id", "queue_id"),
    BASE("stream_id", INT),
    TIMES,
    SAME_2(INT, "private_segment_size", "group_segment_size"),
    XYZ("workgroup_size"),
    XYZ("grid_size"),
    LATER("graph_exec_id", ZERO),
    LATER("graph_node_id", ZERO),
    LATER("replay_pass", ZERO),
    BASE("region_name_id", INT),
    OF_EVENT};

static const schema_column copy_columns[] = {
    OF_THREAD,
    TIMES,
    SAME_4(INT, "name_id", "dst_agent_id", "dst_address", "src_agent_id"),
    SAME_4(INT, "src_address", "size", "queue_id", "stream_id"),
    LATER("graph_exec_id", ZERO),
    LATER("graph_node_id", ZERO),
    BASE("region_name_id", INT),
    OF_EVENT};

static const schema_column allocate_columns[] = {
    OF_THREAD,
    BASE("agent_id", INT),
    SAME_2(TEXT, "type", "level"),
    TIMES,
    SAME_4(INT, "address", "size", "queue_id", "stream_id"),
    OF_EVENT};

static const schema_column graph_columns[] = {OF_THREAD,
                                              SAME_2(INT, "agent_id", "queue_id"),
                                              LATER("stream_id", INT),
                                              TIMES,
                                              LATER("name_id", INT),
                                              BASE("graph_exec_id", ZERO),
                                              BASE("kernel_dispatch_count", ZERO),
                                              OF_EVENT};

static const schema_column hip_columns[] = {
    OF_THREAD, SAME_4(INT, "agent_id", "queue_id", "source_queue_id", "stream_id"), TIMES,
    BASE("name_id", INT), OF_EVENT};

static const schema_column value_columns[] = {GUID,
                                              SAME_2(INT, "event_id", "pmc_id"),
                                              LATER("sample_id", INT),
                                              LATER("xcc", INT),
                                              LATER("shader_engine", INT),
                                              LATER("shader_array", INT),
                                              LATER("wgp", INT),
                                              LATER("instance", INT),
                                              BASE("value", "REAL DEFAULT 0.0"),
                                              EXTDATA};

static const schema_column arg_columns[] = {GUID, SAME_2(INT, "event_id", "position"),
                                            SAME_3(TEXT, "type", "name", "value"), EXTDATA};

static const schema_column event_columns[] = {
    GUID, SAME_4(INT, "category_id", "stack_id", "parent_stack_id", "correlation_id"),
    BASE("call_stack", JSON), BASE("line_info", JSON), EXTDATA};

static const schema_column track_columns[] = {GUID,
                                              BASE("nid", INT),
                                              FOUR("ppid", INT),
                                              SAME_2(INT, "pid", "tid"),
                                              FOUR("agent_id", INT),
                                              FOUR("queue_id", INT),
                                              FOUR("stream_id", INT),
                                              BASE("name_id", INT),
                                              EXTDATA};

static const schema_column kernel_columns[] = {
    OF_PROCESS,
    BASE("code_object_id", INT),
    SAME_2(TEXT, "kernel_name", "display_name"),
    SAME_4(INT, "kernel_object", "kernarg_segment_size", "kernarg_segment_alignment",
           "group_segment_size"),
    SAME_4(INT, "private_segment_size", "sgpr_count", "arch_vgpr_count", "accum_vgpr_count"),
    EXTDATA};

static const schema_column code_object_columns[] = {
    OF_PROCESS,
    BASE("agent_id", INT),
    BASE("uri", TEXT),
    SAME_3(BIG, "load_base", "load_size", "load_delta"),
    BASE("storage_type", TEXT),
    EXTDATA};

static const schema_column counter_columns[] = {
    OF_PROCESS,
    BASE("agent_id", INT),
    BASE("target_arch", TEXT),
    SAME_2(INT, "event_code", "instance_id"),
    SAME_4(TEXT, "name", "symbol", "description", "long_description"),
    SAME_4(TEXT, "component", "units", "value_type", "block"),
    BASE("expression", TEXT),
    SAME_2(INT, "is_constant", "is_derived"),
    LATER("spm_support", INT),
    EXTDATA};

static const schema_column lane_columns[] = {OF_PROCESS, BASE("name", TEXT), EXTDATA};

static const schema_column agent_columns[] = {
    OF_PROCESS,
    BASE("type", TEXT),
    SAME_4(INT, "absolute_index", "logical_index", "type_index", "uuid"),
    SAME_4(TEXT, "name", "model_name", "vendor_name", "product_name"),
    BASE("user_name", TEXT),
    EXTDATA};

static const schema_column thread_columns[] = {GUID, SAME_4(INT, "nid", "ppid", "pid", "tid"),
                                               BASE("name", TEXT), TIMES, EXTDATA};

static const schema_column process_columns[] = {GUID,
                                                SAME_3(INT, "nid", "ppid", "pid"),
                                                SAME_2(BIG, "init", "fini"),
                                                TIMES,
                                                BASE("command", TEXT),
                                                BASE("environment", JSON),
                                                EXTDATA};

static const schema_column node_columns[] = {
    GUID, BASE("hash", BIG), SAME_4(TEXT, "machine_id", "system_name", "hostname", "release"),
    SAME_3(TEXT, "version", "hardware_name", "domain_name")};

static const schema_column string_columns[] = {GUID, BASE("string", TEXT)};

static const schema_column metadata_columns[] = {SAME_2(TEXT, "tag", "value")};

/* ---- tables ---- */

#define COLUMNS(list) list, sizeof(list) / sizeof *(list)

static const struct {
    const char *name;
    schema_rule rule;
    bool base;
    const schema_column *columns;
    size_t count;
} tables[SCHEMA_TABLES] = {
    [SCHEMA_REGION] = {"rocpd_region", SCHEMA_SELECTED, true, COLUMNS(region_columns)},
    [SCHEMA_SAMPLE] = {"rocpd_sample", SCHEMA_SELECTED, true, COLUMNS(sample_columns)},
    [SCHEMA_DISPATCH] = {"rocpd_kernel_dispatch", SCHEMA_SELECTED, true, COLUMNS(dispatch_columns)},
    [SCHEMA_COPY] = {"rocpd_memory_copy", SCHEMA_SELECTED, true, COLUMNS(copy_columns)},
    [SCHEMA_ALLOCATE] = {"rocpd_memory_allocate", SCHEMA_SELECTED, true, COLUMNS(allocate_columns)},
    [SCHEMA_GRAPH] = {"rocpd_graph_launch", SCHEMA_SELECTED, false, COLUMNS(graph_columns)},
    [SCHEMA_HIP] = {"rocpd_hip_event", SCHEMA_SELECTED, false, COLUMNS(hip_columns)},
    [SCHEMA_VALUE] = {"rocpd_pmc_event", SCHEMA_VALUES, true, COLUMNS(value_columns)},
    [SCHEMA_ARG] = {"rocpd_arg", SCHEMA_BY_EVENT, true, COLUMNS(arg_columns)},
    [SCHEMA_LINE_INFO] = {"rocpd_line_info", SCHEMA_BY_EVENT, false, NULL, 0},
    [SCHEMA_CALL_STACK] = {"rocpd_call_stack", SCHEMA_BY_EVENT, false, NULL, 0},
    [SCHEMA_EVENT] = {"rocpd_event", SCHEMA_USED, true, COLUMNS(event_columns)},
    [SCHEMA_TRACK] = {"rocpd_track", SCHEMA_USED, true, COLUMNS(track_columns)},
    [SCHEMA_KERNEL] = {"rocpd_info_kernel_symbol", SCHEMA_USED, true, COLUMNS(kernel_columns)},
    [SCHEMA_CODE_OBJECT] = {"rocpd_info_code_object", SCHEMA_USED, true,
                            COLUMNS(code_object_columns)},
    [SCHEMA_COUNTER] = {"rocpd_info_pmc", SCHEMA_USED, true, COLUMNS(counter_columns)},
    [SCHEMA_SOURCE_CODE] = {"rocpd_info_source_code", SCHEMA_USED, false, NULL, 0},
    [SCHEMA_PC] = {"rocpd_info_pc", SCHEMA_USED, false, NULL, 0},
    [SCHEMA_ADDRESS_RANGE] = {"rocpd_info_address_range", SCHEMA_USED, false, NULL, 0},
    [SCHEMA_QUEUE] = {"rocpd_info_queue", SCHEMA_USED, true, COLUMNS(lane_columns)},
    [SCHEMA_STREAM] = {"rocpd_info_stream", SCHEMA_USED, true, COLUMNS(lane_columns)},
    [SCHEMA_AGENT] = {"rocpd_info_agent", SCHEMA_WHOLE, true, COLUMNS(agent_columns)},
    [SCHEMA_THREAD] = {"rocpd_info_thread", SCHEMA_USED, true, COLUMNS(thread_columns)},
    [SCHEMA_PROCESS] = {"rocpd_info_process", SCHEMA_WHOLE, true, COLUMNS(process_columns)},
    [SCHEMA_NODE] = {"rocpd_info_node", SCHEMA_WHOLE, true, COLUMNS(node_columns)},
    [SCHEMA_STRING] = {"rocpd_string", SCHEMA_USED, true, COLUMNS(string_columns)},
    [SCHEMA_CATEGORY] = {"rocpd_info_category", SCHEMA_WHOLE, false, NULL, 0},
    [SCHEMA_METADATA] = {"rocpd_metadata", SCHEMA_WHOLE, true, COLUMNS(metadata_columns)},
    [SCHEMA_OTHER] = {"", SCHEMA_WHOLE, false, NULL, 0},
};

const char *schema_table_name(schema_table t)
{
    return tables[t].name;
}

schema_table schema_table_of(const char *name)
{
    for (schema_table t = 0; t < SCHEMA_TABLES; t++)
        if (!strcmp(tables[t].name, name))
            return t;
    return SCHEMA_OTHER;
}

schema_table schema_table_of_kind(rocl_kind kind)
{
    static const schema_table table_of[ROCL_KINDS] = {
        [ROCL_REGION] = SCHEMA_REGION,    [ROCL_MARKER] = SCHEMA_REGION,
        [ROCL_INSTANT] = SCHEMA_SAMPLE,   [ROCL_DISPATCH] = SCHEMA_DISPATCH,
        [ROCL_COPY] = SCHEMA_COPY,        [ROCL_ALLOC] = SCHEMA_ALLOCATE,
        [ROCL_SCRATCH] = SCHEMA_ALLOCATE, [ROCL_SPM] = SCHEMA_SAMPLE,
        [ROCL_SAMPLE] = SCHEMA_SAMPLE,    [ROCL_GRAPH] = SCHEMA_GRAPH,
        [ROCL_HIP_EVENT] = SCHEMA_HIP,    [ROCL_COUNTER] = SCHEMA_DISPATCH, /* its owner */
        [ROCL_BARRIER] = SCHEMA_HIP, /* schema 3 has no other table for it */
    };
    return table_of[kind];
}

schema_rule schema_rule_of(schema_table t)
{
    return tables[t].rule;
}

bool schema_is_base(schema_table t)
{
    return tables[t].base;
}

const schema_column *schema_columns_of(schema_table t, size_t *count)
{
    *count = tables[t].count;
    return tables[t].columns;
}

/* ---- what columns hold ---- */

/* Columns are named alike in all tables, also in those that later versions add. */
static const struct {
    const char *column;
    schema_table table; /* whose ids it holds */
    bool in_track;
    schema_serial serial;
} meanings[] = {
    {"nid", SCHEMA_NODE, true, SCHEMA_SERIALS},
    {"pid", SCHEMA_PROCESS, true, SCHEMA_SERIALS},
    {"tid", SCHEMA_THREAD, true, SCHEMA_SERIALS},
    {"agent_id", SCHEMA_AGENT, true, SCHEMA_SERIALS},
    {"src_agent_id", SCHEMA_AGENT, false, SCHEMA_SERIALS},
    {"dst_agent_id", SCHEMA_AGENT, false, SCHEMA_SERIALS},
    {"queue_id", SCHEMA_QUEUE, true, SCHEMA_SERIALS},
    {"source_queue_id", SCHEMA_QUEUE, false, SCHEMA_SERIALS},
    {"stream_id", SCHEMA_STREAM, true, SCHEMA_SERIALS},
    {"kernel_id", SCHEMA_KERNEL, false, SCHEMA_SERIALS},
    {"code_object_id", SCHEMA_CODE_OBJECT, false, SCHEMA_SERIALS},
    {"pmc_id", SCHEMA_COUNTER, false, SCHEMA_SERIALS},
    {"event_id", SCHEMA_EVENT, false, SCHEMA_SERIALS},
    {"sample_id", SCHEMA_SAMPLE, false, SCHEMA_SERIALS},
    {"track_id", SCHEMA_TRACK, false, SCHEMA_SERIALS},
    {"name_id", SCHEMA_STRING, false, SCHEMA_SERIALS},
    {"region_name_id", SCHEMA_STRING, false, SCHEMA_SERIALS},
    {"category_id", SCHEMA_STRING, false, SCHEMA_SERIALS},
    {"pc_id", SCHEMA_PC, false, SCHEMA_SERIALS},
    {"source_code_id", SCHEMA_SOURCE_CODE, false, SCHEMA_SERIALS},
    {"address_id", SCHEMA_ADDRESS_RANGE, false, SCHEMA_SERIALS},
    {"stack_id", SCHEMA_OTHER, false, SCHEMA_STACK},
    {"parent_stack_id", SCHEMA_OTHER, false, SCHEMA_STACK},
    {"dispatch_id", SCHEMA_OTHER, false, SCHEMA_DISPATCH_ID},
    {"graph_exec_id", SCHEMA_OTHER, false, SCHEMA_GRAPH_ID},
};

enum { MEANINGS = sizeof meanings / sizeof *meanings };

static size_t find_meaning(const char *column)
{
    size_t i = 0;
    while (i < MEANINGS && strcmp(meanings[i].column, column) != 0)
        i++;
    return i;
}

schema_table schema_refers_to(schema_table t, const char *column)
{
    size_t i = find_meaning(column);
    /* These two are what the operating system says. */
    if ((t == SCHEMA_PROCESS && !strcmp(column, "pid")) ||
        (t == SCHEMA_THREAD && !strcmp(column, "tid")))
        return SCHEMA_OTHER;
    return i < MEANINGS ? meanings[i].table : SCHEMA_OTHER;
}

schema_serial schema_serial_of(const char *column)
{
    size_t i = find_meaning(column);
    return i < MEANINGS ? meanings[i].serial : SCHEMA_SERIALS;
}

bool schema_in_track(const char *column)
{
    size_t i = find_meaning(column);
    return i < MEANINGS && meanings[i].in_track;
}
