/* The views on the data that ROCm's tools, and queries of others, expect in a rocpd database: their
 * names and columns are ROCm's. They stand on the views over all table sets (rocpd_region, ...). A
 * row never vanishes because something that it refers to is missing. */
#include "format/schema.h"

/* clang-format off */
/* Joins the row of `table` that a column of `of` refers to. Ids are unique within a guid. */
#define WITH(table, as, of, column)                                                                \
    " LEFT JOIN " table " " as " ON " as ".id = " of "." column " AND " as ".guid = " of ".guid"
#define EVENT(of)   WITH("rocpd_event", "e", of, "event_id")
#define PROCESS(of) WITH("rocpd_info_process", "p", of, "pid")
#define THREAD(of)  WITH("rocpd_info_thread", "t", of, "tid")
#define NODE(of)    WITH("rocpd_info_node", "n", of, "nid")
#define AGENT(of)   WITH("rocpd_info_agent", "a", of, "agent_id")
#define QUEUE(of)   WITH("rocpd_info_queue", "q", of, "queue_id")
#define STREAM(of)  WITH("rocpd_info_stream", "st", of, "stream_id")
#define KERNEL(of)  WITH("rocpd_info_kernel_symbol", "k", of, "kernel_id")
#define COUNTER(of) WITH("rocpd_info_pmc", "c", of, "pmc_id")

#define STRING(of, column)                                                                         \
    "(SELECT s.string FROM rocpd_string s WHERE s.id = " of "." column " AND s.guid = " of ".guid)"
#define CATEGORY       STRING("e", "category_id") " AS category"
#define FIELD(of, key)                                                                             \
    "iif(json_valid(" of ".extdata), json_extract(" of ".extdata, '$." key "'), NULL)"
#define DURATION(of)   of ".\"end\" - " of ".start"
#define TIMES(of)      of ".start, " of ".\"end\", " DURATION(of) " AS duration"
#define STACK          "e.stack_id, e.parent_stack_id"
#define LINKS          STACK ", e.correlation_id AS corr_id"
#define DETAILS        "e.extdata, e.call_stack, e.line_info"
#define INDEXES(of, prefix)                                                                        \
    of ".absolute_index AS " prefix "_abs_index, "                                                 \
    of ".logical_index AS " prefix "_log_index, "                                                  \
    of ".type_index AS " prefix "_type_index, "                                                    \
    of ".type AS " prefix "_type"
#define NODE_COLUMNS                                                                               \
    "n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, "          \
    "n.version AS system_version"
#define REGISTERS "k.arch_vgpr_count AS vgpr_count, k.accum_vgpr_count, k.sgpr_count"

/* A sample is at a place of its track, and lasts no time where it stands among regions. */
#define SAMPLE(times)                                                                              \
    "SELECT r.id, r.guid, " CATEGORY ", " STRING("tr", "name_id") " AS name, tr.nid, p.pid, "      \
    "t.tid, " times ", r.event_id, " LINKS ", " DETAILS " FROM rocpd_sample r"                     \
    WITH("rocpd_track", "tr", "r", "track_id") EVENT("r") PROCESS("tr") THREAD("tr")

#define WORK                                                                                       \
    "SELECT agent_id, guid, start, \"end\" FROM rocpd_kernel_dispatch UNION ALL "                  \
    "SELECT dst_agent_id, guid, start, \"end\" FROM rocpd_memory_copy"

/* Calls, total and mean in us, and the share of all, by name; of rows (name, ns). */
#define TOP(rows)                                                                                  \
    "SELECT name, count(*) AS total_calls, sum(ns) / 1000.0 AS total_duration, "                   \
    "sum(ns) / count(*) / 1000.0 AS average, "                                                     \
    "sum(ns) * 100.0 / sum(sum(ns)) OVER () AS percentage FROM (" rows ") "                        \
    "GROUP BY name ORDER BY total_duration DESC"
#define KERNEL_TIMES                                                                               \
    "SELECT k.display_name AS name, " DURATION("d") " AS ns FROM rocpd_kernel_dispatch d"          \
    KERNEL("d")

static const schema_view views[] = {
    {"code_objects",
     "SELECT o.id, o.guid, o.nid, p.pid, a.absolute_index AS agent_abs_index, o.uri, "
     "o.load_base, o.load_size, o.load_delta, o.storage_type AS storage_type_str, "
     FIELD("o", "size") " AS code_object_size, " FIELD("o", "storage_type") " AS storage_type, "
     FIELD("o", "memory_base") " AS memory_base, " FIELD("o", "memory_size") " AS memory_size "
     "FROM rocpd_info_code_object o" AGENT("o") PROCESS("o")},
    {"kernel_symbols",
     "SELECT k.id, k.guid, k.nid, p.pid, k.code_object_id, k.kernel_name, k.display_name, "
     "k.kernel_object, k.kernarg_segment_size, k.kernarg_segment_alignment, "
     "k.group_segment_size, k.private_segment_size, k.sgpr_count, k.arch_vgpr_count, "
     "k.accum_vgpr_count, "
     FIELD("k", "size") " AS kernel_symbol_size, "
     FIELD("k", "kernel_id") " AS kernel_id, "
     FIELD("k", "kernel_code_entry_byte_offset") " AS kernel_code_entry_byte_offset, "
     FIELD("k", "formatted_kernel_name") " AS formatted_kernel_name, "
     FIELD("k", "demangled_kernel_name") " AS demangled_kernel_name, "
     FIELD("k", "truncated_kernel_name") " AS truncated_kernel_name, "
     FIELD("k", "kernel_address.handle") " AS kernel_address FROM rocpd_info_kernel_symbol k"
     PROCESS("k")},
    {"processes",
     "SELECT " NODE_COLUMNS ", p.guid, p.ppid, p.pid, p.init, p.start, p.\"end\", p.fini, "
     "p.command FROM rocpd_info_process p" NODE("p")},
    {"threads",
     "SELECT " NODE_COLUMNS ", t.guid, p.ppid, p.pid, t.tid, t.start, t.\"end\", t.name FROM "
     "rocpd_info_thread t" PROCESS("t") NODE("t")},
    {"regions",
     "SELECT r.id, r.guid, " CATEGORY ", " STRING("r", "name_id") " AS name, r.nid, p.pid, "
     "t.tid, " TIMES("r") ", r.event_id, " LINKS ", " DETAILS " FROM rocpd_region r" EVENT("r")
     PROCESS("r") THREAD("r")},
    {"region_args",
     "SELECT r.id, r.guid, r.nid, p.pid, g.type, g.name, g.value FROM rocpd_region r JOIN "
     "rocpd_arg g ON g.event_id = r.event_id AND g.guid = r.guid" PROCESS("r")},
    {"samples",
     SAMPLE("r.timestamp")},
    {"sample_regions",
     SAMPLE("r.timestamp AS start, r.timestamp AS \"end\", 0 AS duration")},
    {"regions_and_samples",
     "SELECT * FROM regions UNION ALL SELECT * FROM sample_regions"},
    {"kernels",
     "SELECT d.id, d.guid, t.tid, " CATEGORY ", " STRING("d", "region_name_id") " AS region, "
     "k.display_name AS name, d.nid, p.pid, " INDEXES("a", "agent") ", k.code_object_id, "
     "d.kernel_id, d.dispatch_id, d.stream_id, d.queue_id, q.name AS queue, st.name AS stream, "
     TIMES("d") ", d.grid_size_x AS grid_x, d.grid_size_y AS grid_y, d.grid_size_z AS grid_z, "
     "d.workgroup_size_x AS workgroup_x, d.workgroup_size_y AS workgroup_y, d.workgroup_size_z "
     "AS workgroup_z, d.group_segment_size AS lds_size, d.private_segment_size AS scratch_size, "
     REGISTERS ", k.group_segment_size AS static_lds_size, k.private_segment_size AS "
     "static_scratch_size, " LINKS " FROM rocpd_kernel_dispatch d" AGENT("d") EVENT("d")
     KERNEL("d") STREAM("d") QUEUE("d") PROCESS("d") THREAD("d")},
    {"pmc_info",
     "SELECT c.id, c.guid, c.nid, p.pid, a.absolute_index AS agent_abs_index, c.is_constant, "
     "c.is_derived, c.name, c.description, c.block, c.expression FROM rocpd_info_pmc c" AGENT("c")
     PROCESS("c")},
    {"pmc_events",
     "SELECT v.id, v.guid, v.pmc_id, v.event_id, " CATEGORY ", k.display_name AS name, d.nid, "
     "p.pid, d.dispatch_id, " TIMES("d") ", c.name AS counter_name, v.value AS counter_value "
     "FROM rocpd_pmc_event v JOIN rocpd_kernel_dispatch d ON d.event_id = v.event_id AND d.guid "
     "= v.guid" COUNTER("v") EVENT("v") KERNEL("d") PROCESS("d")},
    {"events_args",
     "SELECT e.id AS event_id, " CATEGORY ", " STACK ", e.correlation_id, g.position AS "
     "arg_position, g.type AS arg_type, g.name AS arg_name, g.value AS arg_value, e.call_stack, "
     "e.line_info, g.extdata FROM rocpd_event e JOIN rocpd_arg g ON g.event_id = e.id AND g.guid "
     "= e.guid"},
    {"stream_args",
     "SELECT g.id AS argument_id, g.event_id, g.position AS arg_position, g.type AS arg_type, "
     "g.value AS arg_value, " FIELD("g", "stream_id") " AS stream_id, st.nid, p.pid, st.name AS "
     "stream_name, st.extdata FROM rocpd_arg g JOIN rocpd_info_stream st ON st.id = "
     FIELD("g", "stream_id") " AND st.guid = g.guid" PROCESS("st") " WHERE g.name = 'stream'"},
    {"memory_copies",
     "SELECT m.id, m.guid, " CATEGORY ", m.nid, p.pid, t.tid, " TIMES("m") ", "
     STRING("m", "name_id") " AS name, " STRING("m", "region_name_id") " AS region_name, "
     "m.stream_id, m.queue_id, st.name AS stream_name, q.name AS queue_name, m.size, a.name AS "
     "dst_device, " INDEXES("a", "dst_agent") ", m.dst_address, b.name AS src_device, "
     INDEXES("b", "src_agent") ", m.src_address, " LINKS " FROM rocpd_memory_copy m"
     WITH("rocpd_info_agent", "a", "m", "dst_agent_id")
     WITH("rocpd_info_agent", "b", "m", "src_agent_id") QUEUE("m") STREAM("m") EVENT("m")
     PROCESS("m") THREAD("m")},
    {"memory_allocations",
     "SELECT m.id, m.guid, " CATEGORY ", m.nid, p.pid, t.tid, " TIMES("m") ", m.type, m.level, "
     "a.name AS agent_name, " INDEXES("a", "agent") ", m.address, m.size, m.queue_id, q.name AS "
     "queue_name, m.stream_id, st.name AS stream_name, " LINKS " FROM rocpd_memory_allocate m"
     AGENT("m") QUEUE("m") STREAM("m") EVENT("m") PROCESS("m") THREAD("m")},
    {"scratch_memory",
     "SELECT m.id, m.guid, m.nid, p.pid, m.type AS operation, a.name AS agent_name, "
     INDEXES("a", "agent") ", m.queue_id, t.tid, " FIELD("m", "flags") " AS alloc_flags, "
     TIMES("m") ", m.size, m.address, e.correlation_id, " LINKS ", " CATEGORY ", e.extdata AS "
     "event_extdata FROM rocpd_memory_allocate m" AGENT("m") EVENT("m") PROCESS("m") THREAD("m")
     " WHERE m.level = 'SCRATCH' ORDER BY m.start"},
    /* Values of one dispatch and counter come from several parts of a GPU; those with a sample are
     * of a time of their own. */
    {"counters_collection",
     "SELECT min(v.id) AS id, v.guid, d.dispatch_id, d.kernel_id, v.event_id, e.correlation_id, "
     STACK ", p.pid, t.tid, d.agent_id, " INDEXES("a", "agent") ", d.queue_id, d.grid_size_x, "
     "d.grid_size_y, d.grid_size_z, d.grid_size_x * d.grid_size_y * d.grid_size_z AS grid_size, "
     "k.display_name AS kernel_name, " STRING("d", "region_name_id") " AS kernel_region, "
     "d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z, d.workgroup_size_x * "
     "d.workgroup_size_y * d.workgroup_size_z AS workgroup_size, d.group_segment_size AS "
     "lds_block_size, d.private_segment_size AS scratch_size, " REGISTERS ", c.name AS "
     "counter_name, c.symbol AS counter_symbol, c.component, c.description, c.block, "
     "c.expression, c.value_type, c.id AS counter_id, sum(v.value) AS value, d.start, d.\"end\", "
     "c.is_constant, c.is_derived, " DURATION("d") " AS duration, " CATEGORY ", d.nid, "
     "e.extdata, k.code_object_id FROM rocpd_pmc_event v JOIN rocpd_kernel_dispatch d ON "
     "d.event_id = v.event_id AND d.guid = v.guid" COUNTER("v") EVENT("v") AGENT("d") KERNEL("d")
     PROCESS("d") THREAD("d") " WHERE v.sample_id IS NULL GROUP BY v.guid, d.dispatch_id, "
     "c.name, d.agent_id"},
    {"top_kernels",
     TOP(KERNEL_TIMES)},
    {"busy",
     "SELECT w.agent_id, a.type, w.GpuTime, w.WallTime, w.GpuTime * 1.0 / w.WallTime AS Busy "
     "FROM (SELECT agent_id, guid, sum(\"end\" - start) AS GpuTime, max(max(\"end\")) OVER () - "
     "min(min(start)) OVER () AS WallTime FROM (" WORK ") GROUP BY agent_id, guid) w" AGENT("w")},
    {"top",
     
     TOP(KERNEL_TIMES " UNION ALL SELECT " STRING("m", "name_id") ", " DURATION("m")
         " FROM rocpd_memory_copy m UNION ALL SELECT " STRING("r", "name_id") ", " DURATION("r")
         " FROM rocpd_region r")
     },
};
/* clang-format on */

const schema_view *schema_views(size_t *count)
{
    *count = sizeof views / sizeof *views;
    return views;
}
