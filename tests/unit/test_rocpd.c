/* The rocpd source against SQL on the same database. Every event that rocl_trace_scan hands out is
 * hashed, field by field; so is every row of a query of ours on the plain tables, which says in SQL
 * what the rules for broken records mean. Equal counts and equal sums of hashes: equal rows.
 *
 * Needs FIXTURES, the folder that make-fixtures.sh filled. */
#include "tests/unit/rocpd.h"

#include "base/lz4.h"

/* ---- every kind ------------------------------------------------------------------------------ */

#define SIZE(column)                                                                               \
    "CASE WHEN typeof(x." column ") = 'integer' AND x." column " >= 0 THEN x." column " ELSE 0 "   \
    "END"
#define DIM(column)                                                                                \
    "CASE WHEN typeof(x." column ") = 'integer' AND x." column                                     \
    " BETWEEN 0 AND 4294967295 THEN x." column " ELSE 0 END"
#define DIMS(axis) DIM("workgroup_size_" axis) ", " DIM("grid_size_" axis)
#define OP                                                                                         \
    "CASE x.type WHEN 'ALLOC' THEN 1 WHEN 'FREE' THEN 2 WHEN 'REALLOC' THEN 3 WHEN 'RECLAIM' "     \
    "THEN 4 ELSE 0 END, CASE x.level WHEN 'REAL' THEN 1 WHEN 'VIRTUAL' THEN 2 WHEN 'SCRATCH' "     \
    "THEN 3 ELSE 0 END"
#define REGIONS                                                                                    \
    "SELECT {head}, n.string FROM rocpd_region%S x {joins} LEFT JOIN rocpd_string%S n ON n.id = "  \
    "x.name_id WHERE {sound} AND coalesce(CAST(c.string AS TEXT), '') "
#define DISPATCHES(graph)                                                                          \
    "SELECT {head}, {place}, s.id, x.dispatch_id, " SIZE("private_segment_size") ", " SIZE(        \
        "group_segment_size") ", " DIMS("x") ", " DIMS("y") ", " DIMS("z") ", r.string, " graph    \
                                                                           " FROM "                \
                                                                           "rocpd_kernel_"         \
                                                                           "dispatch%S x {joins} " \
                                                                           "LEFT JOIN "            \
                                                                           "rocpd_info_kernel_"    \
                                                                           "symbol%S s ON s.id = " \
                                                                           "x.kernel_id LEFT "     \
                                                                           "JOIN rocpd_string%S "  \
                                                                           "r ON r.id = "          \
                                                                           "x.region_name_id "     \
                                                                           "WHERE {sound}"
#define ALLOCS                                                                                     \
    "SELECT {head}, {place}, " OP                                                                  \
    ", " SIZE("size") ", coalesce(x.address, 0) FROM "                                             \
                      "rocpd_memory_allocate%S x {joins} WHERE {sound} AND coalesce(x.level, '') "
#define COPIES                                                                                     \
    "SELECT {head}, n.string, (SELECT id FROM rocpd_info_agent%S WHERE id = x.src_agent_id), "     \
    "(SELECT id FROM rocpd_info_agent%S WHERE id = x.dst_agent_id), (SELECT id FROM "              \
    "rocpd_info_queue%S WHERE id = {queue}), (SELECT id FROM rocpd_info_stream%S WHERE id = "      \
    "{stream}), " SIZE("size") ", coalesce(x.src_address, 0), coalesce(x.dst_address, 0) FROM "    \
                               "rocpd_memory_copy%S x {joins} LEFT JOIN rocpd_string%S n ON n.id " \
                               "= x.name_id WHERE {sound}"
#define INSTANTS(name, spm)                                                                        \
    "SELECT {sample}, n.string FROM rocpd_sample%S x {sample-joins} LEFT JOIN rocpd_string%S n "   \
    "ON "                                                                                          \
    "n.id = " name " WHERE {sample-sound} AND NOT EXISTS (SELECT 1 FROM rocpd_pmc_event%S v "      \
    "WHERE {number} AND (" spm "v.event_id = x.event_id)) AND NOT EXISTS (SELECT 1 FROM "          \
    "rocpd_region%S r WHERE r.event_id = x.event_id AND e.id NOT NULL)"
#define VALUES(place, on)                                                                          \
    "SELECT {sample}, {counter}, CAST(coalesce(v.value, 0) AS REAL), " place " FROM "              \
    "rocpd_pmc_event%S v JOIN rocpd_sample%S x ON " on " {sample-joins} LEFT JOIN "                \
    "rocpd_info_pmc%S i ON i.id = v.pmc_id WHERE {sample-sound} AND {number}"
#define COUNTERS(spm)                                                                              \
    "SELECT x.id, {counter}, CAST(total(v.value) AS REAL) FROM rocpd_pmc_event%S v JOIN "          \
    "rocpd_kernel_dispatch%S x ON x.event_id = v.event_id {joins} LEFT JOIN rocpd_info_pmc%S i "   \
    "ON "                                                                                          \
    "i.id = v.pmc_id WHERE {sound} AND {number} " spm " GROUP BY x.id, i.name, i.agent_id"
#define HIPS(queue, exec)                                                                          \
    "SELECT {head}, (SELECT id FROM rocpd_info_agent%S WHERE id = x.agent_id), (SELECT id FROM "   \
    "rocpd_info_queue%S WHERE id = x.queue_id), " queue ", " exec " FROM "

static void check_regions(const base *b, const digest *ours)
{
    digest d;
    query(b, REGIONS "NOT LIKE 'MARKER%'", true, &d);
    assert_same("regions", &ours[ROCL_REGION], &d);
    query(b, REGIONS "LIKE 'MARKER%'", true, &d);
    assert_same("markers", &ours[ROCL_MARKER], &d);
}

static void check_work(const base *b, const digest *ours)
{
    digest d;
    query(b, b->has_graph ? DISPATCHES("x.graph_exec_id, x.graph_node_id") : DISPATCHES("0, 0"),
          true, &d);
    assert_same("dispatches", &ours[ROCL_DISPATCH], &d);
    query(b, COPIES, true, &d);
    assert_same("copies", &ours[ROCL_COPY], &d);
    query(b, ALLOCS "<> 'SCRATCH'", true, &d);
    assert_same("allocations", &ours[ROCL_ALLOC], &d);
    query(b, ALLOCS "= 'SCRATCH'", true, &d);
    assert_same("scratch", &ours[ROCL_SCRATCH], &d);
}

static void check_hip(const base *b, const digest *ours)
{
    digest d = {0};
    if (has_table_column(b, "graph_launch", "id"))
        query(
            b,
            HIPS("NULL, NULL", "x.graph_exec_id, x.kernel_dispatch_count") "rocpd_graph_launch%S x "
                                                                           "{joins} WHERE {sound}",
            true, &d);
    assert_same("graph launches", &ours[ROCL_GRAPH], &d);
    memset(&d, 0, sizeof d);
    if (b->has_source)
        query(b,
              HIPS("(SELECT id FROM rocpd_info_stream%S WHERE id = x.stream_id), (SELECT id FROM "
                   "rocpd_info_queue%S WHERE id = x.source_queue_id)",
                   "0, 0") "rocpd_hip_event%S x {joins} WHERE {sound}",
              true, &d);
    assert_same("HIP events", &ours[ROCL_HIP_EVENT], &d);
}

#define NO_PLACE "-1, -1, -1, -1, -1"
#define PLACE_303                                                                                  \
    "coalesce(v.xcc, -1), coalesce(v.shader_engine, -1), coalesce(v.instance, -1), -1, -1"
#define PLACE_305                                                                                  \
    "coalesce(v.xcc, -1), coalesce(v.shader_engine, -1), coalesce(v.instance, -1), "               \
    "coalesce(v.shader_array, -1), coalesce(v.wgp, -1)"
#define OF_NO_DISPATCH                                                                             \
    "NOT EXISTS (SELECT 1 FROM rocpd_kernel_dispatch%S q WHERE q.event_id = v.event_id) AND "
/* The sample of a streaming value may have the event of the dispatch. */
#define BY_EVENT_ONLY                                                                              \
    OF_NO_DISPATCH                                                                                 \
    "v.event_id = x.event_id AND v.sample_id IS NULL AND NOT EXISTS (SELECT 1 FROM "               \
    "rocpd_pmc_event%S o WHERE o.sample_id = x.id)"
#define TRACK_NAME "k.name_id"
#define OWN_NAME   "coalesce((SELECT id FROM rocpd_string%S WHERE id = x.name_id), k.name_id)"

static void check_samples(const base *b, const digest *ours)
{
    digest d;
    const char *by_event = VALUES(NO_PLACE, OF_NO_DISPATCH "v.event_id = x.event_id");
    if (b->has_spm)
        by_event =
            b->has_place ? VALUES(PLACE_305, BY_EVENT_ONLY) : VALUES(PLACE_303, BY_EVENT_ONLY);
    if (b->by_track)
        query(b, INSTANTS(OWN_NAME, ""), true, &d);
    else
        query(b,
              b->has_spm ? INSTANTS(TRACK_NAME, "v.sample_id = x.id OR v.sample_id IS NULL AND ")
                         : INSTANTS(TRACK_NAME, ""),
              true, &d);
    assert_same("instants", &ours[ROCL_INSTANT], &d);
    query(b, by_event, true, &d);
    assert_same("sampled values", &ours[ROCL_SAMPLE], &d);
    memset(&d, 0, sizeof d);
    if (b->has_spm)
        query(b,
              b->has_place ? VALUES(PLACE_305, "v.sample_id = x.id")
                           : VALUES(PLACE_303, "v.sample_id = x.id"),
              true, &d);
    assert_same("SPM values", &ours[ROCL_SPM], &d);
}

static void check_counters(const base *b, const digest *ours)
{
    digest d, values = ours[ROCL_COUNTER];
    values.start = values.end = 0;
    query(b, b->has_spm ? COUNTERS("AND v.sample_id IS NULL") : COUNTERS(""), false, &d);
    assert_same("counters", &values, &d);
}

static void check_against_sql(const rocl_trace *t, const sums *s)
{
    for (size_t i = 0; i < rocl_trace_captures(t); i++) {
        base b;
        open_base(&b, t, rocl_trace_capture(t, i));
        check_regions(&b, s->of[i]);
        check_work(&b, s->of[i]);
        check_hip(&b, s->of[i]);
        check_samples(&b, s->of[i]);
        check_counters(&b, s->of[i]);
        sqlite3_close(b.db);
    }
}

/* ---- tests: every fixture -------------------------------------------------------------------- */

static const char *const clean[] = {
    "schema-3.0.0",
    "schema-3.0.1",
    "schema-3.0.2",
    "schema-3.0.3",
    "schema-3.0.4",
    "schema-3.0.5",
    "schema-4.1.0",
    "schema-lz4",
    "sys",
    "sys-4.1.0",
    "sampled",
    "sampled-4.1.0",
    "no-underscore",
    "merged",
    "merged-no-underscore",
    "rank0 rank1",
    "node-rank0 node-rank1 node-rank2 node-rank3",
    "spm",
    "spm-3.0.5",
    "graph",
    "hip-events",
    "rename",
    "nic",
    "everything",
    "no-pmc",
    "no-views",
    "viewer",
    "wal-clean",
};
static const char *const nasty[] = {NASTY};

static void test_rows(void **state)
{
    const char *names = *state;
    rocl_options o = {.jobs = 2, .args = true};
    sums s;
    if (strstr(names, "schema-lz4") && !*rocl_lz4_version())
        skip();
    rocl_trace *t = scan(names, &o, &s);
    check_against_sql(t, &s);
    for (size_t i = 0; i < COUNT(clean); i++)
        for (int f = 0; names == clean[i] && f < ROCL_FAULTS; f++)
            assert_int_equal(rocl_trace_faults(t, (rocl_fault)f), 0);
    rocl_trace_close(t);
}

/* The same events by any reader, with any number of workers and any memory. */
static void test_ways(void **state)
{
    static const rocl_options ways[] = {
        {.jobs = 1, .reader = ROCL_READER_SQLITE, .args = true},
        {.jobs = 1, .reader = ROCL_READER_AUTO, .args = true},
        {.jobs = 2, .reader = ROCL_READER_AUTO, .args = true},
        {.jobs = 3, .reader = ROCL_READER_SQLITE, .args = true, .memory = (size_t)1 << 20},
        {.jobs = 3, .reader = ROCL_READER_AUTO, .args = true, .memory = (size_t)1 << 20},
    };
    static sums first, s;
    uint64_t faults[ROCL_FAULTS];
    for (size_t i = 0; i < COUNT(ways); i++) {
        rocl_trace *t = scan(*state, &ways[i], &s);
        if (i == 0) {
            first = s;
            for (int f = 0; f < ROCL_FAULTS; f++)
                faults[f] = rocl_trace_faults(t, (rocl_fault)f);
        }
        assert_memory_equal(first.of, s.of, sizeof s.of);
        assert_memory_equal(first.names, s.names, sizeof s.names);
        for (int f = 0; f < ROCL_FAULTS; f++)
            assert_int_equal(rocl_trace_faults(t, (rocl_fault)f), faults[f]);
        rocl_trace_close(t);
    }
}

int main(void)
{
    static struct CMUnitTest tests[2 * (COUNT(clean) + COUNT(nasty))];
    size_t n = 0;
    for (size_t i = 0; i < COUNT(clean) + COUNT(nasty); i++) {
        const char *name = i < COUNT(clean) ? clean[i] : nasty[i - COUNT(clean)];
        void *state = (void *)(uintptr_t)name;
        tests[n++] = (struct CMUnitTest){name, test_rows, NULL, NULL, state};
        tests[n++] = (struct CMUnitTest){name, test_ways, NULL, NULL, state};
    }
    return _cmocka_run_group_tests("rocpd", tests, n, NULL, NULL);
}
