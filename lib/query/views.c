/* Views on the tables: the names and columns of ROCm's databases, so that queries written for those
 * run on any input, Perfetto's slice, and ours. What no input but a database has is NULL. */
#include "query/views.h"

/* clang-format off */
#define EVENT   "id, guid, category, "
#define TIMES   "start, \"end\", duration, "
#define LINKS   "stack_id, parent_stack_id, correlation_id AS corr_id"
#define AGENT   "agent_abs_index, agent_log_index, agent_type_index, agent_type, "
#define DETAILS                                                                                    \
    "CASE WHEN function <> name THEN json_object('message', name) ELSE '{}' END AS extdata, "      \
    "'{}' AS call_stack, '{}' AS line_info "
/* A name of a kernel that the profiler knows by its descriptor: demangled, else as it is. */
#define DESCRIPTOR(demangled, of_function)                                                         \
    "CASE WHEN is_function THEN " of_function " WHEN display_name = kernel_name THEN "             \
    "kernel_name || '.kd' ELSE " demangled " END"
/* A text as a row of the table of events has it, which is looked up where the column is used. */
#define EVENT_TEXT(of, column)                                                                     \
    "(SELECT e." column " FROM rocpd_event e WHERE e.id = " of ".event_id AND e.guid = " of        \
    ".guid) AS " column
#define COUNTER_CELL(column)                                                                       \
    "(SELECT i." column " FROM rocpd_info_pmc i WHERE i.id = c.counter_id AND i.guid = c.guid) "   \
    "AS " column
#define REGIONS(details)                                                                           \
    "SELECT " EVENT "function AS name, nid, pid, tid, " TIMES "event_id, " LINKS ", " details      \
    "FROM _range r"
#define COPIES(region)                                                                             \
    "SELECT " EVENT "nid, pid, tid, " TIMES "name, " region " AS region_name, stream_id, "         \
    "queue_id, stream AS stream_name, queue AS queue_name, size, dst_agent_name AS dst_device, "   \
    "dst_agent_abs_index, dst_agent_log_index, dst_agent_type_index, dst_agent_type, "             \
    "dst_address, src_agent_name AS src_device, src_agent_abs_index, src_agent_log_index, "        \
    "src_agent_type_index, src_agent_type, src_address, " LINKS " FROM memory_copy m"
#define COUNTERS(expression, is_constant, is_derived, extdata)                                     \
    "SELECT coalesce(value_id, id) AS id, guid, dispatch_id, kernel_id, event_id, "                \
    "correlation_id, stack_id, parent_stack_id, pid, tid, agent_id, " AGENT "queue_id, grid_x AS " \
    "grid_size_x, grid_y AS grid_size_y, grid_z AS grid_size_z, grid_x * grid_y * grid_z AS "      \
    "grid_size, kernel AS kernel_name, region AS kernel_region, workgroup_x AS workgroup_size_x, " \
    "workgroup_y AS workgroup_size_y, workgroup_z AS workgroup_size_z, workgroup_x * workgroup_y " \
    "* workgroup_z AS workgroup_size, lds_size AS lds_block_size, scratch_size, vgpr_count, "      \
    "accum_vgpr_count, sgpr_count, counter AS counter_name, symbol AS counter_symbol, component, " \
    "description, block, " expression ", value_type, counter_id, value, start, \"end\", "          \
    is_constant ", " is_derived ", duration, category, nid, " extdata ", code_object_id FROM "     \
    "counter c"
#define REGIONS_AND_SAMPLES "SELECT * FROM regions UNION ALL SELECT * FROM sample_regions"
#define SAMPLE(times)                                                                              \
    "SELECT " EVENT "category AS name, nid, pid, tid, " times ", event_id, " LINKS ", " DETAILS    \
    "FROM _instant"
/* Calls, total and mean in us, and the share of all, by name. */
#define TOP(rows)                                                                                  \
    "SELECT name, count(*) AS total_calls, sum(duration) / 1000.0 AS total_duration, "             \
    "(sum(duration) / count(*)) / 1000.0 AS average, "                                             \
    "sum(duration) * 100.0 / sum(sum(duration)) OVER () AS percentage FROM (" rows ") "            \
    "GROUP BY name ORDER BY total_duration DESC"
/* By name, in ns. */
#define SUMMARY(table)                                                                             \
    "SELECT name, count(*) AS calls, sum(duration) AS total_ns, avg(duration) AS average_ns, "     \
    "min(duration) AS min_ns, max(duration) AS max_ns, stddev(duration) AS stddev_ns, "            \
    "sum(duration) * 100.0 / sum(sum(duration)) OVER () AS percentage FROM " table                 \
    " GROUP BY name ORDER BY total_ns DESC"

const rocl_query_view rocl_query_views[] = {
    {"kernels",
     "SELECT id, guid, tid, category, region, name, nid, pid, " AGENT "code_object_id, kernel_id, "
     "dispatch_id, stream_id, queue_id, queue, stream, " TIMES "grid_x, grid_y, grid_z, "
     "workgroup_x, workgroup_y, workgroup_z, lds_size, scratch_size, vgpr_count, "
     "accum_vgpr_count, sgpr_count, static_lds_size, static_scratch_size, " LINKS " FROM kernel",
     "ROCm's view of kernel dispatches", NULL},
    {"regions",
     REGIONS(DETAILS), "ROCm's view of calls and markers",
     REGIONS(EVENT_TEXT("r", "extdata") ", " EVENT_TEXT("r", "call_stack") ", "
             EVENT_TEXT("r", "line_info") " ")},
    {"samples", SAMPLE("start AS timestamp"), "ROCm's view of marks", ROCL_SCHEMA_VIEW},
    {"sample_regions", SAMPLE("start, start AS \"end\", 0 AS duration"),
     "ROCm's view of marks, as regions", ROCL_SCHEMA_VIEW},
    {"regions_and_samples", REGIONS_AND_SAMPLES, "ROCm's view of calls, markers and marks",
     REGIONS_AND_SAMPLES},
    {"region_args",
     "SELECT id, guid, nid, pid, arg_type AS type, arg_name AS name, arg_value AS value "
     "FROM _argument WHERE kind IN ('region', 'marker')",
     "ROCm's view of the arguments of calls and markers", ROCL_SCHEMA_VIEW},
    {"events_args",
     "SELECT event_id, category, stack_id, parent_stack_id, correlation_id, "
     "position AS arg_position, arg_type, arg_name, arg_value, '{}' AS call_stack, "
     "'{}' AS line_info, '{}' AS extdata FROM _argument",
     "ROCm's view of all arguments", ROCL_SCHEMA_VIEW},
    /* Only a database says which streams these are: rocpd.h. */
    {"stream_args",
     "SELECT NULL AS argument_id, NULL AS event_id, NULL AS arg_position, NULL AS arg_type, "
     "NULL AS arg_value, NULL AS stream_id, NULL AS nid, NULL AS pid, NULL AS stream_name, "
     "NULL AS extdata WHERE 0",
     "ROCm's view of the streams among arguments", ROCL_SCHEMA_VIEW},
    {"memory_copies", COPIES("NULL"), "ROCm's view of memory copies",
     COPIES("(SELECT s.string FROM rocpd_memory_copy d JOIN rocpd_string s ON s.id = "
            "d.region_name_id AND s.guid = d.guid WHERE d.id = m.id AND d.guid = m.guid)")},
    {"memory_allocations",
     "SELECT " EVENT "nid, pid, tid, " TIMES "type, level, agent_name, " AGENT "address, size, "
     "queue_id, queue AS queue_name, stream_id, stream AS stream_name, " LINKS
     " FROM _allocation",
     "ROCm's view of operations on memory", NULL},
    {"scratch_memory",
     "SELECT id, guid, nid, pid, type AS operation, agent_name, " AGENT "queue_id, tid, "
     "CAST(flags AS TEXT) AS alloc_flags, " TIMES "size, address, correlation_id, " LINKS ", category, "
     "'{}' AS event_extdata FROM scratch ORDER BY start",
     "ROCm's view of operations on scratch memory", NULL},
    {"counters_collection",
     COUNTERS("NULL AS expression", "NULL AS is_constant", "NULL AS is_derived", "'{}' AS extdata"),
     "ROCm's view of counters of dispatches",
     COUNTERS(COUNTER_CELL("expression"), COUNTER_CELL("is_constant"), COUNTER_CELL("is_derived"),
              EVENT_TEXT("c", "extdata"))},
    {"pmc_events",
     "SELECT coalesce(value_id, id) AS id, guid, counter_id AS pmc_id, event_id, category, kernel AS name, nid, pid, "
     "dispatch_id, " TIMES "counter AS counter_name, value AS counter_value FROM _counter_instance",
     "ROCm's view of counter values", ROCL_SCHEMA_VIEW},
    {"pmc_info",
     "SELECT id, guid, nid, pid, agent_abs_index, NULL AS is_constant, NULL AS is_derived, name, "
     "description, block, NULL AS expression FROM counter_info",
     "ROCm's view of counters", ROCL_SCHEMA_VIEW},
    {"kernel_symbols",
     "SELECT id, guid, nid, pid, code_object_id, kernel_name || iif(is_function, '', '.kd') AS "
     "kernel_name, display_name, NULL AS kernel_object, NULL AS kernarg_segment_size, "
     "NULL AS kernarg_segment_alignment, group_segment_size, private_segment_size, sgpr_count, "
     "arch_vgpr_count, accum_vgpr_count, NULL AS kernel_symbol_size, id AS kernel_id, "
     "NULL AS kernel_code_entry_byte_offset, display_name AS formatted_kernel_name, "
     DESCRIPTOR("display_name || ' [clone .kd]'", "display_name") " AS demangled_kernel_name, "
     DESCRIPTOR("short_name(display_name)", "short_name(display_name)")
     " AS truncated_kernel_name, "
     "NULL AS kernel_address FROM kernel_symbol",
     "ROCm's view of kernels", ROCL_SCHEMA_VIEW},
    {"code_objects",
     "SELECT id, guid, nid, pid, agent_abs_index, NULL AS uri, NULL AS load_base, NULL AS load_size, "
     "NULL AS load_delta, NULL AS storage_type_str, NULL AS code_object_size, NULL AS storage_type, "
     "NULL AS memory_base, NULL AS memory_size FROM _code_object",
     "ROCm's view of code objects", ROCL_SCHEMA_VIEW},
    {"processes",
     "SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, "
     "n.version AS system_version, p.guid, p.ppid, p.pid, p.init, p.start, p.\"end\", p.fini, "
     "p.command FROM process p LEFT JOIN node n ON n.guid = p.guid AND n.id = p.nid",
     "ROCm's view of processes", ROCL_SCHEMA_VIEW},
    {"threads",
     "SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, "
     "n.version AS system_version, t.guid, t.ppid, t.pid, t.tid, NULL AS start, NULL AS \"end\", "
     "nullif(t.name, '') AS name FROM thread t LEFT JOIN node n ON n.guid = t.guid AND n.id = t.nid",
     "ROCm's view of threads", ROCL_SCHEMA_VIEW},
    {"top_kernels", TOP("SELECT name, duration FROM kernel"),
     "ROCm's view: kernels by time, in us", NULL},
    {"top",
     TOP("SELECT name, duration FROM kernel UNION ALL SELECT name, duration FROM memory_copy "
         "UNION ALL SELECT function, duration FROM _range"),
     "ROCm's view: kernels, copies and calls by time, in us", NULL},
    {"busy",
     "SELECT agent_id, agent_type AS type, GpuTime, WallTime, GpuTime * 1.0 / WallTime AS Busy "
     "FROM (SELECT agent_id, agent_type, sum(\"end\" - start) AS GpuTime, max(max(\"end\")) OVER "
     "() - min(min(start)) OVER () AS WallTime FROM _gpu_work GROUP BY guid, agent_id, "
     "agent_type) WHERE agent_id IS NOT NULL",
     "ROCm's view: time of GPUs", NULL},
    {"kernel_summary", SUMMARY("kernel"), "kernels by name, in ns", NULL},
    {"region_summary", SUMMARY("region"), "host calls by name, in ns", NULL},
    {"marker_summary", SUMMARY("marker"), "markers by name, in ns", NULL},
    {"memory_copy_summary", SUMMARY("memory_copy"), "copies by direction, in ns", NULL},
    {"slice",
     "SELECT slice_id AS id, start AS ts, duration AS dur, track_id, category, name, kind AS type, "
     "depth, parent_id, NULL AS arg_set_id, NULL AS thread_ts, "
     "NULL AS thread_dur, guid, rank, hostname, pid, tid, agent, queue, stream, "
     "stack_id FROM event",
     "all calls, markers and GPU work, with the columns of Perfetto's slice", NULL},
    {"launch",
     "SELECT w.kind, w.id, w.guid, w.rank, w.hostname, w.name, w.start, w.\"end\", w.duration, "
     "w.agent, w.queue, w.stream, w.stack_id, r.id AS call_id, "
     "r.name AS call, r.pid, r.tid, "
     "r.start AS call_start, r.\"end\" AS call_end, r.duration AS call_duration, "
     "max(w.start - r.\"end\", 0) AS delay, w.\"end\" - r.start AS total "
     "FROM _work w LEFT JOIN region r ON r.guid = w.guid AND r.stack_id = w.stack_id AND "
     "w.stack_id <> 0 AND NOT EXISTS (SELECT 1 FROM region x WHERE x.guid = w.guid AND "
     "x.stack_id = w.stack_id AND (x.start, x.id) < (r.start, r.id))",
     "GPU work with the call that launched it, NULL where none is known", NULL},
    {"gap",
     "SELECT hostname, agent, until AS start, start AS \"end\", start - until AS duration, "
     "name AS before FROM (SELECT hostname, agent, name, start, max(\"end\") OVER (PARTITION BY "
     "agent ORDER BY start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until FROM "
     "(SELECT hostname, agent, name, start, \"end\" FROM _gpu_work WHERE "
     "agent_type = 'GPU' UNION ALL SELECT hostname, src_agent, name, start, \"end\" "
     "FROM memory_copy WHERE src_agent_type = 'GPU')) WHERE start > until",
     "times in which a GPU had neither kernels nor copies, and what came then", NULL},
};
/* clang-format on */
const size_t rocl_query_view_count = sizeof rocl_query_views / sizeof *rocl_query_views;
