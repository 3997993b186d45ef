#include "merge/schema.h"

#include <string.h>

/* ---- columns ---- */

#define BASE(name, type)                                                                           \
    {                                                                                              \
        name, type, true                                                                           \
    }
#define LATER(name, type)                                                                          \
    {                                                                                              \
        name, type, false                                                                          \
    } /* of some versions */
#define INT     "INTEGER"
#define ZERO    "INTEGER DEFAULT 0"
#define BIG     "BIGINT"
#define JSON    "JSONB DEFAULT \"{}\""
#define TEXT    "TEXT"
#define GUID    BASE("guid", TEXT)
#define TIMES   BASE("start", BIG), BASE("end", BIG)
#define EXTDATA BASE("extdata", JSON)

static const merge_column region_columns[] = {
    GUID,  BASE("nid", INT),     BASE("pid", INT),      BASE("tid", INT),
    TIMES, BASE("name_id", INT), BASE("event_id", INT), EXTDATA};

static const merge_column sample_columns[] = {GUID,
                                              BASE("track_id", INT),
                                              LATER("name_id", INT),
                                              BASE("timestamp", BIG),
                                              BASE("event_id", INT),
                                              EXTDATA};

static const merge_column dispatch_columns[] = {GUID,
                                                BASE("nid", INT),
                                                BASE("pid", INT),
                                                BASE("tid", INT),
                                                BASE("agent_id", INT),
                                                BASE("kernel_id", INT),
                                                BASE("dispatch_id", INT),
                                                BASE("queue_id", INT),
                                                BASE("stream_id", INT),
                                                TIMES,
                                                BASE("private_segment_size", INT),
                                                BASE("group_segment_size", INT),
                                                BASE("workgroup_size_x", INT),
                                                BASE("workgroup_size_y", INT),
                                                BASE("workgroup_size_z", INT),
                                                BASE("grid_size_x", INT),
                                                BASE("grid_size_y", INT),
                                                BASE("grid_size_z", INT),
                                                LATER("graph_exec_id", ZERO),
                                                LATER("graph_node_id", ZERO),
                                                LATER("replay_pass", ZERO),
                                                BASE("region_name_id", INT),
                                                BASE("event_id", INT),
                                                EXTDATA};

static const merge_column copy_columns[] = {GUID,
                                            BASE("nid", INT),
                                            BASE("pid", INT),
                                            BASE("tid", INT),
                                            TIMES,
                                            BASE("name_id", INT),
                                            BASE("dst_agent_id", INT),
                                            BASE("dst_address", INT),
                                            BASE("src_agent_id", INT),
                                            BASE("src_address", INT),
                                            BASE("size", INT),
                                            BASE("queue_id", INT),
                                            BASE("stream_id", INT),
                                            LATER("graph_exec_id", ZERO),
                                            LATER("graph_node_id", ZERO),
                                            BASE("region_name_id", INT),
                                            BASE("event_id", INT),
                                            EXTDATA};

static const merge_column allocate_columns[] = {GUID,
                                                BASE("nid", INT),
                                                BASE("pid", INT),
                                                BASE("tid", INT),
                                                BASE("agent_id", INT),
                                                BASE("type", TEXT),
                                                BASE("level", TEXT),
                                                TIMES,
                                                BASE("address", INT),
                                                BASE("size", INT),
                                                BASE("queue_id", INT),
                                                BASE("stream_id", INT),
                                                BASE("event_id", INT),
                                                EXTDATA};

static const merge_column graph_columns[] = {GUID,
                                             BASE("nid", INT),
                                             BASE("pid", INT),
                                             BASE("tid", INT),
                                             BASE("agent_id", INT),
                                             BASE("queue_id", INT),
                                             TIMES,
                                             BASE("graph_exec_id", ZERO),
                                             BASE("kernel_dispatch_count", ZERO),
                                             BASE("event_id", INT),
                                             EXTDATA};

static const merge_column hip_columns[] = {GUID,
                                           BASE("nid", INT),
                                           BASE("pid", INT),
                                           BASE("tid", INT),
                                           BASE("agent_id", INT),
                                           BASE("queue_id", INT),
                                           BASE("source_queue_id", INT),
                                           BASE("stream_id", INT),
                                           TIMES,
                                           BASE("name_id", INT),
                                           BASE("event_id", INT),
                                           EXTDATA};

static const merge_column value_columns[] = {GUID,
                                             BASE("event_id", INT),
                                             BASE("pmc_id", INT),
                                             LATER("sample_id", INT),
                                             LATER("xcc", INT),
                                             LATER("shader_engine", INT),
                                             LATER("shader_array", INT),
                                             LATER("wgp", INT),
                                             LATER("instance", INT),
                                             BASE("value", "REAL DEFAULT 0.0"),
                                             EXTDATA};

static const merge_column arg_columns[] = {GUID,
                                           BASE("event_id", INT),
                                           BASE("position", INT),
                                           BASE("type", TEXT),
                                           BASE("name", TEXT),
                                           BASE("value", TEXT),
                                           EXTDATA};

static const merge_column event_columns[] = {GUID,
                                             BASE("category_id", INT),
                                             BASE("stack_id", INT),
                                             BASE("parent_stack_id", INT),
                                             BASE("correlation_id", INT),
                                             BASE("call_stack", JSON),
                                             BASE("line_info", JSON),
                                             EXTDATA};

static const merge_column track_columns[] = {GUID,
                                             BASE("nid", INT),
                                             LATER("ppid", INT),
                                             BASE("pid", INT),
                                             BASE("tid", INT),
                                             LATER("agent_id", INT),
                                             LATER("queue_id", INT),
                                             LATER("stream_id", INT),
                                             BASE("name_id", INT),
                                             EXTDATA};

static const merge_column kernel_columns[] = {GUID,
                                              BASE("nid", INT),
                                              BASE("pid", INT),
                                              BASE("code_object_id", INT),
                                              BASE("kernel_name", TEXT),
                                              BASE("display_name", TEXT),
                                              BASE("kernel_object", INT),
                                              BASE("kernarg_segment_size", INT),
                                              BASE("kernarg_segment_alignment", INT),
                                              BASE("group_segment_size", INT),
                                              BASE("private_segment_size", INT),
                                              BASE("sgpr_count", INT),
                                              BASE("arch_vgpr_count", INT),
                                              BASE("accum_vgpr_count", INT),
                                              EXTDATA};

static const merge_column code_object_columns[] = {GUID,
                                                   BASE("nid", INT),
                                                   BASE("pid", INT),
                                                   BASE("agent_id", INT),
                                                   BASE("uri", TEXT),
                                                   BASE("load_base", BIG),
                                                   BASE("load_size", BIG),
                                                   BASE("load_delta", BIG),
                                                   BASE("storage_type", TEXT),
                                                   EXTDATA};

static const merge_column counter_columns[] = {GUID,
                                               BASE("nid", INT),
                                               BASE("pid", INT),
                                               BASE("agent_id", INT),
                                               BASE("target_arch", TEXT),
                                               BASE("event_code", INT),
                                               BASE("instance_id", INT),
                                               BASE("name", TEXT),
                                               BASE("symbol", TEXT),
                                               BASE("description", TEXT),
                                               BASE("long_description", TEXT),
                                               BASE("component", TEXT),
                                               BASE("units", TEXT),
                                               BASE("value_type", TEXT),
                                               BASE("block", TEXT),
                                               BASE("expression", TEXT),
                                               BASE("is_constant", INT),
                                               BASE("is_derived", INT),
                                               LATER("spm_support", INT),
                                               EXTDATA};

static const merge_column queue_columns[] = {GUID, BASE("nid", INT), BASE("pid", INT),
                                             BASE("name", TEXT), EXTDATA};

static const merge_column stream_columns[] = {GUID, BASE("nid", INT), BASE("pid", INT),
                                              BASE("name", TEXT), EXTDATA};

static const merge_column agent_columns[] = {GUID,
                                             BASE("nid", INT),
                                             BASE("pid", INT),
                                             BASE("type", TEXT),
                                             BASE("absolute_index", INT),
                                             BASE("logical_index", INT),
                                             BASE("type_index", INT),
                                             BASE("uuid", INT),
                                             BASE("name", TEXT),
                                             BASE("model_name", TEXT),
                                             BASE("vendor_name", TEXT),
                                             BASE("product_name", TEXT),
                                             BASE("user_name", TEXT),
                                             EXTDATA};

static const merge_column thread_columns[] = {GUID,
                                              BASE("nid", INT),
                                              BASE("ppid", INT),
                                              BASE("pid", INT),
                                              BASE("tid", INT),
                                              BASE("name", TEXT),
                                              TIMES,
                                              EXTDATA};

static const merge_column process_columns[] = {GUID,
                                               BASE("nid", INT),
                                               BASE("ppid", INT),
                                               BASE("pid", INT),
                                               BASE("init", BIG),
                                               BASE("fini", BIG),
                                               TIMES,
                                               BASE("command", TEXT),
                                               BASE("environment", JSON),
                                               EXTDATA};

static const merge_column node_columns[] = {GUID,
                                            BASE("hash", BIG),
                                            BASE("machine_id", TEXT),
                                            BASE("system_name", TEXT),
                                            BASE("hostname", TEXT),
                                            BASE("release", TEXT),
                                            BASE("version", TEXT),
                                            BASE("hardware_name", TEXT),
                                            BASE("domain_name", TEXT)};

static const merge_column string_columns[] = {GUID, BASE("string", TEXT)};

static const merge_column metadata_columns[] = {BASE("tag", TEXT), BASE("value", TEXT)};

/* ---- tables ---- */

#define COLUMNS(list) list, sizeof(list) / sizeof *(list)

static const struct {
    const char *name;
    merge_rule rule;
    bool base;
    const merge_column *columns;
    size_t count;
} tables[MERGE_TABLES] = {
    [MERGE_REGION] = {"rocpd_region", MERGE_SELECTED, true, COLUMNS(region_columns)},
    [MERGE_SAMPLE] = {"rocpd_sample", MERGE_SELECTED, true, COLUMNS(sample_columns)},
    [MERGE_DISPATCH] = {"rocpd_kernel_dispatch", MERGE_SELECTED, true, COLUMNS(dispatch_columns)},
    [MERGE_COPY] = {"rocpd_memory_copy", MERGE_SELECTED, true, COLUMNS(copy_columns)},
    [MERGE_ALLOCATE] = {"rocpd_memory_allocate", MERGE_SELECTED, true, COLUMNS(allocate_columns)},
    [MERGE_GRAPH] = {"rocpd_graph_launch", MERGE_SELECTED, false, COLUMNS(graph_columns)},
    [MERGE_HIP] = {"rocpd_hip_event", MERGE_SELECTED, false, COLUMNS(hip_columns)},
    [MERGE_VALUE] = {"rocpd_pmc_event", MERGE_VALUES, true, COLUMNS(value_columns)},
    [MERGE_ARG] = {"rocpd_arg", MERGE_BY_EVENT, true, COLUMNS(arg_columns)},
    [MERGE_LINE_INFO] = {"rocpd_line_info", MERGE_BY_EVENT, false, NULL, 0},
    [MERGE_CALL_STACK] = {"rocpd_call_stack", MERGE_BY_EVENT, false, NULL, 0},
    [MERGE_EVENT] = {"rocpd_event", MERGE_USED, true, COLUMNS(event_columns)},
    [MERGE_TRACK] = {"rocpd_track", MERGE_USED, true, COLUMNS(track_columns)},
    [MERGE_KERNEL] = {"rocpd_info_kernel_symbol", MERGE_USED, true, COLUMNS(kernel_columns)},
    [MERGE_CODE_OBJECT] = {"rocpd_info_code_object", MERGE_USED, true,
                           COLUMNS(code_object_columns)},
    [MERGE_COUNTER] = {"rocpd_info_pmc", MERGE_USED, true, COLUMNS(counter_columns)},
    [MERGE_SOURCE_CODE] = {"rocpd_info_source_code", MERGE_USED, false, NULL, 0},
    [MERGE_PC] = {"rocpd_info_pc", MERGE_USED, false, NULL, 0},
    [MERGE_ADDRESS_RANGE] = {"rocpd_info_address_range", MERGE_USED, false, NULL, 0},
    [MERGE_QUEUE] = {"rocpd_info_queue", MERGE_USED, true, COLUMNS(queue_columns)},
    [MERGE_STREAM] = {"rocpd_info_stream", MERGE_USED, true, COLUMNS(stream_columns)},
    [MERGE_AGENT] = {"rocpd_info_agent", MERGE_WHOLE, true, COLUMNS(agent_columns)},
    [MERGE_THREAD] = {"rocpd_info_thread", MERGE_USED, true, COLUMNS(thread_columns)},
    [MERGE_PROCESS] = {"rocpd_info_process", MERGE_WHOLE, true, COLUMNS(process_columns)},
    [MERGE_NODE] = {"rocpd_info_node", MERGE_WHOLE, true, COLUMNS(node_columns)},
    [MERGE_STRING] = {"rocpd_string", MERGE_USED, true, COLUMNS(string_columns)},
    [MERGE_CATEGORY] = {"rocpd_info_category", MERGE_WHOLE, false, NULL, 0},
    [MERGE_METADATA] = {"rocpd_metadata", MERGE_WHOLE, true, COLUMNS(metadata_columns)},
    [MERGE_OTHER] = {"", MERGE_WHOLE, false, NULL, 0},
};

const char *merge_table_name(merge_table t)
{
    return tables[t].name;
}

merge_table merge_table_of(const char *name)
{
    for (merge_table t = 0; t < MERGE_TABLES; t++)
        if (!strcmp(tables[t].name, name))
            return t;
    return MERGE_OTHER;
}

merge_rule merge_rule_of(merge_table t)
{
    return tables[t].rule;
}

bool merge_table_is_base(merge_table t)
{
    return tables[t].base;
}

const merge_column *merge_columns_of(merge_table t, size_t *count)
{
    *count = tables[t].count;
    return tables[t].columns;
}

/* ---- what columns hold ---- */

/* Columns are named alike in all tables, also in those that later versions add. */
static const struct {
    const char *column;
    merge_table table;
} references[] = {
    {"nid", MERGE_NODE},
    {"pid", MERGE_PROCESS},
    {"tid", MERGE_THREAD},
    {"agent_id", MERGE_AGENT},
    {"src_agent_id", MERGE_AGENT},
    {"dst_agent_id", MERGE_AGENT},
    {"queue_id", MERGE_QUEUE},
    {"source_queue_id", MERGE_QUEUE},
    {"stream_id", MERGE_STREAM},
    {"kernel_id", MERGE_KERNEL},
    {"code_object_id", MERGE_CODE_OBJECT},
    {"pmc_id", MERGE_COUNTER},
    {"event_id", MERGE_EVENT},
    {"sample_id", MERGE_SAMPLE},
    {"track_id", MERGE_TRACK},
    {"name_id", MERGE_STRING},
    {"region_name_id", MERGE_STRING},
    {"category_id", MERGE_STRING},
    {"pc_id", MERGE_PC},
    {"source_code_id", MERGE_SOURCE_CODE},
    {"address_id", MERGE_ADDRESS_RANGE},
};

merge_table merge_refers_to(merge_table t, const char *column)
{
    /* These two are what the operating system says. */
    if ((t == MERGE_PROCESS && !strcmp(column, "pid")) ||
        (t == MERGE_THREAD && !strcmp(column, "tid")))
        return MERGE_OTHER;
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        if (!strcmp(references[i].column, column))
            return references[i].table;
    return MERGE_OTHER;
}

merge_serial merge_serial_of(const char *column)
{
    if (!strcmp(column, "stack_id") || !strcmp(column, "parent_stack_id"))
        return MERGE_STACK;
    if (!strcmp(column, "dispatch_id"))
        return MERGE_DISPATCH_ID;
    return !strcmp(column, "graph_exec_id") ? MERGE_GRAPH_ID : MERGE_SERIALS;
}

bool merge_in_track(const char *column)
{
    static const char *const columns[] = {"nid", "pid", "tid", "agent_id", "queue_id", "stream_id"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (!strcmp(columns[i], column))
            return true;
    return false;
}
