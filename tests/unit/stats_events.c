/* Every sound event of a trace as a row of one table, put there by SQL from its databases. */
#include "tests/unit/stats_check.h"

static const char *const schema =
    "CREATE TABLE ev(domain TEXT, name TEXT, rank INT, agent TEXT, stream TEXT, workgroup TEXT, "
    "grid TEXT, start INT, \"end\" INT, bytes INT, src TEXT, dst TEXT, part INT, gpu INT, gpu2 "
    "INT)";

#define JOINS                                                                                      \
    "{track} LEFT JOIN rocpd_info_process%S p ON p.id = {own}.pid LEFT JOIN rocpd_event%S e ON "   \
    "e.id = x.event_id LEFT JOIN {categories} c ON c.id = e.category_id "
#define SOUND                                                                                      \
    " x.start >= 0 AND x.\"end\" > 0 AND x.\"end\" >= x.start AND x.\"end\" >= coalesce(p.init, "  \
    "0)"
#define RANK "json_extract(p.environment, '$.OMPI_COMM_WORLD_RANK') + 0"
#define DOMAIN                                                                                     \
    "CASE WHEN substr(c.string, 1, 4) IN ('HIP_', 'HSA_') THEN substr(c.string, 1, 3) WHEN "       \
    "substr(c.string, 1, 6) = 'MARKER' THEN 'MARKERS' WHEN substr(c.string, 1, 5) = 'RCCL_' THEN " \
    "'RCCL' WHEN substr(c.string, 1, 10) = 'ROCDECODE_' THEN 'ROCDECODE' WHEN substr(c.string, "   \
    "1, "                                                                                          \
    "8) = 'ROCJPEG_' THEN 'ROCJPEG' ELSE 'OTHER' END"
#define LABEL(of)                                                                                  \
    "CASE WHEN " of ".type IN ('GPU', 'CPU') AND " of ".type_index IS NOT NULL THEN " of           \
    ".type || ' ' || " of ".type_index ELSE 'Agent ' || coalesce(" of ".logical_index, " of        \
    ".id) END || '%P'"
#define GPU(of)                                                                                    \
    "CASE " of ".type WHEN 'GPU' THEN %M * 100000 + coalesce(" of ".absolute_index, " of ".id) "   \
    "END"

static const char *const fill[] = {
    "INSERT INTO ev(domain, name, rank, start, \"end\") SELECT " DOMAIN
    ", CASE WHEN c.string LIKE 'MARKER%%' THEN coalesce(json_extract(e.extdata, '$.message'), "
    "n.string) ELSE "
    "n.string END, " RANK ", x.start, x.\"end\" FROM rocpd_region%S x " JOINS
    "LEFT JOIN rocpd_string%S n ON n.id = x.name_id WHERE" SOUND,

    "INSERT INTO ev(domain, name, rank, agent, stream, workgroup, grid, start, \"end\", part, "
    "gpu) SELECT 'KERNELS', s.display_name, " RANK
    ", " LABEL("a") ", (SELECT w.name FROM rocpd_info_stream%S w WHERE w.id = {own}.stream_id), "
                    "x.workgroup_size_x || 'x' || x.workgroup_size_y || 'x' || x.workgroup_size_z, "
                    "x.grid_size_x "
                    "|| 'x' || x.grid_size_y || 'x' || x.grid_size_z, x.start, x.\"end\", "
                    "substr(s.display_name, "
                    "1, 4) IN ('nccl', 'rccl'), " GPU(
                        "a") " FROM rocpd_kernel_dispatch%S x " JOINS
                             "LEFT JOIN rocpd_info_kernel_symbol%S s ON s.id = x.kernel_id LEFT "
                             "JOIN rocpd_info_agent%S a "
                             "ON a.id = {own}.agent_id WHERE" SOUND,

    "INSERT INTO ev(domain, name, rank, agent, stream, start, \"end\", bytes, src, dst, part, gpu, "
    "gpu2) SELECT 'MEMORY_COPIES', n.string, " RANK ", " LABEL(
        "d") ", (SELECT w.name FROM rocpd_info_stream%S w WHERE w.id = {own}.stream_id), x.start, "
             "x.\"end\", x.size, coalesce(" LABEL("s") ", ''), coalesce(" LABEL(
                 "d") ", ''), 2, " GPU("d") ", nullif(" GPU("s") ", coalesce(" GPU("d") ", -1)) "
                                                                                        "FROM "
                                                                                        "rocpd_"
                                                                                        "memory_"
                                                                                        "copy%S "
                                                                                        "x " JOINS
                                                                                        "LEFT JOIN "
                                                                                        "rocpd_"
                                                                                        "string%S "
                                                                                        "n ON n.id "
                                                                                        "= "
                                                                                        "x.name_id "
                                                                                        "LEFT JOIN "
                                                                                        "rocpd_"
                                                                                        "info_"
                                                                                        "agent%S d "
                                                                                        "ON d.id = "
                                                                                        "x.dst_"
                                                                                        "agent_id "
                                                                                        "LEFT JOIN "
                                                                                        "rocpd_"
                                                                                        "info_"
                                                                                        "agent%S s "
                                                                                        "ON s.id = "
                                                                                        "x.src_"
                                                                                        "agent_id "
                                                                                        "WHER"
                                                                                        "E" SOUND,

    /* A free is on the agent of the allocation at its address, in scratch memory of its queue. */
    "INSERT INTO ev(domain, name, rank, agent, stream, start, \"end\") SELECT CASE x.level WHEN "
    "'SCRATCH' THEN 'SCRATCH_MEMORY' ELSE 'MEMORY_ALLOCATIONS' END, CASE x.level WHEN 'SCRATCH' "
    "THEN 'SCRATCH_MEMORY_' || x.type WHEN 'VIRTUAL' THEN 'MEMORY_ALLOCATION_VMEM_' || "
    "replace(x.type, 'ALLOC', 'ALLOCATE') ELSE 'MEMORY_ALLOCATION_' || replace(x.type, 'ALLOC', "
    "'ALLOCATE') END, " RANK ", coalesce(" LABEL("a") ", (SELECT " LABEL(
        "b") " FROM (SELECT x.*, "
             "{own}.agent_id AS agent, {own}.queue_id AS queue, {own}.tid AS thread FROM "
             "rocpd_memory_allocate%S x {track}) y JOIN rocpd_info_agent%S b ON b.id = y.agent "
             "WHERE y.type "
             "= 'ALLOC' AND (y.level = 'SCRATCH') = (x.level = 'SCRATCH') AND CASE x.level WHEN "
             "'SCRATCH' "
             "THEN y.queue IS {own}.queue_id AND y.thread IS {own}.tid ELSE y.address = x.address "
             "END AND "
             "y.start < x.start ORDER BY y.start DESC LIMIT 1)), (SELECT w.name FROM "
             "rocpd_info_stream%S w WHERE w.id = {own}.stream_id), x.start, "
             "x.\"end\" FROM "
             "rocpd_memory_allocate%S x " JOINS
             "LEFT JOIN rocpd_info_agent%S a ON a.id = {own}.agent_id "
             "WHERE" SOUND,

    "INSERT INTO ev(domain, name, rank, start, \"end\") SELECT " DOMAIN
    ", coalesce(json_extract(e.extdata, '$.message'), n.string), " RANK
    ", x.timestamp, x.timestamp FROM "
    "rocpd_sample%S x LEFT JOIN rocpd_track%S k ON k.id = x.track_id LEFT JOIN "
    "rocpd_info_process%S p ON p.id = k.pid LEFT JOIN rocpd_event%S e ON e.id = x.event_id LEFT "
    "JOIN {categories} c ON c.id = e.category_id LEFT JOIN rocpd_string%S n ON n.id = "
    "{sample-name} WHERE x.timestamp >= coalesce(p.init, 0) AND NOT EXISTS (SELECT 1 FROM "
    "rocpd_pmc_event%S v WHERE "
    "v.event_id = x.event_id)",
};

typedef struct base { /* of one capture */
    char suffix[64];
    bool by_track;
    uint32_t machine;
    char place[128];
} base;

static void find_suffix(sqlite3 *db, base *b, const char *guid)
{
    sqlite3_stmt *list = prepare(db, "SELECT substr(name, 15) FROM f.sqlite_master WHERE type = "
                                     "'table' AND name LIKE 'rocpd_metadata%'");
    while (sqlite3_step(list) == SQLITE_ROW) {
        const char *suffix = (const char *)sqlite3_column_text(list, 0);
        char *sql = sqlite3_mprintf("SELECT count(*) FROM \"rocpd_metadata%w\" WHERE tag = 'guid' "
                                    "AND value = %Q",
                                    suffix, guid);
        if (number(db, sql))
            snprintf(b->suffix, sizeof b->suffix, "%s", suffix);
        sqlite3_free(sql);
    }
    sqlite3_finalize(list);
    assert_true(b->suffix[0]);
}

/* What a word in braces stands for, by schema. */
static const struct {
    const char *word, *v3, *v4;
} words[] = {
    {"own", "x", "k"},
    {"track", "", "LEFT JOIN rocpd_track%S k ON k.id = x.track_id"},
    {"categories", "rocpd_string%S", "(SELECT id, name AS string FROM rocpd_info_category%S)"},
    {"sample-name", "k.name_id", "x.name_id"},
};

/* %S: the suffix of the tables; %M: the machine; %P: where things are on it; %%: a percent sign. */
static void expand_to(const base *b, const char *sql, sqlite3_str *out)
{
    while (*sql) {
        size_t n = strcspn(sql, "{%");
        sqlite3_str_append(out, sql, (int)n);
        sql += n;
        if (*sql == '{') {
            n = strcspn(sql, "}");
            for (size_t i = 0; i < COUNT(words); i++)
                if (strlen(words[i].word) == n - 1 && !memcmp(words[i].word, sql + 1, n - 1))
                    expand_to(b, b->by_track ? words[i].v4 : words[i].v3, out);
            sql += n + 1;
        } else if (*sql) {
            if (sql[1] == 'S')
                sqlite3_str_appendall(out, b->suffix);
            else if (sql[1] == 'M')
                sqlite3_str_appendf(out, "%u", b->machine);
            else if (sql[1] == 'P')
                sqlite3_str_appendf(out, "%q", b->place);
            else
                sqlite3_str_appendchar(out, 1, '%');
            sql += 2;
        }
    }
}

static char *expand(sqlite3 *db, const base *b, const char *sql)
{
    sqlite3_str *out = sqlite3_str_new(db);
    expand_to(b, sql, out);
    return sqlite3_str_finish(out);
}

static void collect(sqlite3 *db, const rocl_trace *t, const rocl_capture *c)
{
    base b = {.machine = c->machine};
    if (rocl_trace_machines(t) > 1)
        snprintf(b.place, sizeof b.place, " on %s", rocl_text(t, c->nodes[0].hostname, NULL));
    char *sql = sqlite3_mprintf("ATTACH 'file:%q?immutable=1' AS f", c->path);
    run_sql(db, sql);
    sqlite3_free(sql);
    find_suffix(db, &b, rocl_text(t, c->guid, NULL));
    sql = sqlite3_mprintf("rocpd_region%s", b.suffix);
    b.by_track = sqlite3_table_column_metadata(db, "f", sql, "track_id", NULL, NULL, NULL, NULL,
                                               NULL) == SQLITE_OK;
    sqlite3_free(sql);
    for (size_t i = 0; i < COUNT(fill); i++) {
        sql = expand(db, &b, fill[i]);
        run_sql(db, sql);
        sqlite3_free(sql);
    }
    run_sql(db, "DETACH f");
}

sqlite3 *events_of(const rocl_trace *t)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(":memory:", &db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                                     NULL),
                     SQLITE_OK);
    run_sql(db, schema);
    for (size_t i = 0; i < rocl_trace_captures(t); i++)
        collect(db, t, rocl_trace_capture(t, i));
    return db;
}
