/* Rows by SQL, whatever the schema. */
#include "tests/unit/rocpd.h"

bool has_table_column(const base *b, const char *table, const char *column)
{
    char name[128];
    snprintf(name, sizeof name, "rocpd_%s%s", table, b->suffix);
    return sqlite3_table_column_metadata(b->db, NULL, name, column, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

static sqlite3_stmt *prepare(const base *b, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(b->db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        print_error("%s\n%s\n", sqlite3_errmsg(b->db), sql);
        fail();
    }
    return stmt;
}

/* The suffix of the tables whose metadata hold this guid. */
static void find_suffix(base *b, const char *guid)
{
    sqlite3_stmt *list =
        prepare(b, "SELECT substr(name, 15) FROM sqlite_master WHERE type = 'table' "
                   "AND name LIKE 'rocpd_metadata%'");
    while (sqlite3_step(list) == SQLITE_ROW) {
        const char *suffix = (const char *)sqlite3_column_text(list, 0);
        char *sql =
            sqlite3_mprintf("SELECT 1 FROM \"rocpd_metadata%w\" WHERE tag = 'guid' AND value "
                            "= %Q",
                            suffix, guid);
        sqlite3_stmt *found = prepare(b, sql);
        if (sqlite3_step(found) == SQLITE_ROW)
            snprintf(b->suffix, sizeof b->suffix, "%s", suffix);
        sqlite3_finalize(found);
        sqlite3_free(sql);
    }
    sqlite3_finalize(list);
    assert_true(b->suffix[0]);
}

void open_base(base *b, const rocl_trace *t, const rocl_capture *c)
{
    memset(b, 0, sizeof *b);
    char *uri = sqlite3_mprintf("file:%s?immutable=1", c->path);
    assert_int_equal(sqlite3_open_v2(uri, &b->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL),
                     SQLITE_OK);
    sqlite3_free(uri);
    find_suffix(b, rocl_text(t, c->guid, NULL));
    b->by_track = has_table_column(b, "region", "track_id");
    b->has_graph = has_table_column(b, "kernel_dispatch", "graph_exec_id");
    b->has_spm = has_table_column(b, "pmc_event", "sample_id");
    b->has_place = has_table_column(b, "pmc_event", "wgp");
    b->has_source = has_table_column(b, "hip_event", "source_queue_id");
}

/* What a word in braces stands for, by schema. */
static const struct {
    const char *word;
    const char *v3, *v4;
} words[] = {
    {"pid", "x.pid", "k.pid"},
    {"tid", "x.tid", "k.tid"},
    {"agent", "x.agent_id", "k.agent_id"},
    {"queue", "x.queue_id", "k.queue_id"},
    {"stream", "x.stream_id", "k.stream_id"},
    {"track", "", "LEFT JOIN rocpd_track%S k ON k.id = x.track_id"},
    {"category", "LEFT JOIN rocpd_string%S c ON c.id = e.category_id",
     "LEFT JOIN (SELECT id, name AS string FROM rocpd_info_category%S) c ON c.id = e.category_id"},
};

/* Words that stand for the same in every schema; they may hold others. */
static const char *const parts[][2] = {
    {"head",
     "x.id, x.start, x.\"end\", coalesce(p.pid, (SELECT pid FROM rocpd_info_process%S ORDER BY "
     "id LIMIT 1)), h.tid, {event}"},
    {"event", "coalesce(x.event_id, 0), coalesce(e.stack_id, 0), coalesce(e.parent_stack_id, 0), "
              "coalesce(e.correlation_id, 0), c.string"},
    {"joins",
     "{track} LEFT JOIN rocpd_info_process%S p ON p.id = {pid} LEFT JOIN "
     "rocpd_info_thread%S h ON h.id = {tid} LEFT JOIN rocpd_event%S e ON e.id = x.event_id "
     "{category}"},
    {"sound",
     "typeof(x.start) = 'integer' AND typeof(x.\"end\") = 'integer' AND x.start >= 0 AND "
     "x.\"end\" > 0 AND x.\"end\" >= x.start AND x.\"end\" >= coalesce(p.init, (SELECT init "
     "FROM rocpd_info_process%S ORDER BY id LIMIT 1), 0)"},
    {"place",
     "(SELECT id FROM rocpd_info_agent%S WHERE id = {agent}), (SELECT id FROM "
     "rocpd_info_queue%S WHERE id = {queue}), (SELECT id FROM rocpd_info_stream%S WHERE id = "
     "{stream})"},
    /* A sample is in a track in every schema, and has one time. */
    {"sample",
     "x.id, x.timestamp, x.timestamp, coalesce(p.pid, (SELECT pid FROM rocpd_info_process%S "
     "ORDER BY id LIMIT 1)), h.tid, {event}"},
    {"sample-joins",
     "LEFT JOIN rocpd_track%S k ON k.id = x.track_id LEFT JOIN rocpd_info_process%S p "
     "ON p.id = k.pid LEFT JOIN rocpd_info_thread%S h ON h.id = k.tid LEFT JOIN "
     "rocpd_event%S e ON e.id = x.event_id {category}"},
    {"sample-sound",
     "x.timestamp >= max(0, coalesce(p.init, (SELECT init FROM rocpd_info_process%S ORDER BY id "
     "LIMIT 1), 0))"},
    {"counter", "i.name, (SELECT id FROM rocpd_info_agent%S WHERE id = i.agent_id)"},
    {"number", "typeof(v.value) IN ('integer', 'real', 'null')"},
};

static void expand(const base *b, const char *sql, sqlite3_str *out);

static void expand_word(const base *b, const char *word, size_t n, sqlite3_str *out)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (strlen(words[i].word) == n && !memcmp(words[i].word, word, n)) {
            expand(b, b->by_track ? words[i].v4 : words[i].v3, out);
            return;
        }
    for (size_t i = 0; i < COUNT(parts); i++)
        if (strlen(parts[i][0]) == n && !memcmp(parts[i][0], word, n)) {
            expand(b, parts[i][1], out);
            return;
        }
    print_error("no word {%.*s}\n", (int)n, word);
    fail();
}

static void expand(const base *b, const char *sql, sqlite3_str *out)
{
    while (*sql) {
        size_t n = strcspn(sql, "{%");
        sqlite3_str_append(out, sql, (int)n);
        sql += n;
        if (sql[0] == '%' && sql[1] == 'S') {
            sqlite3_str_appendall(out, b->suffix);
            sql += 2;
        } else if (sql[0] == '{') {
            n = strcspn(sql, "}");
            expand_word(b, sql + 1, n - 1, out);
            sql += n + 1;
        } else if (*sql) {
            sqlite3_str_append(out, sql++, 1);
        }
    }
}

void query(const base *b, const char *sql, bool timed, digest *d)
{
    sqlite3_str *text = sqlite3_str_new(b->db);
    expand(b, sql, text);
    char *whole = sqlite3_str_finish(text);
    sqlite3_stmt *stmt = prepare(b, whole);
    int rc;
    memset(d, 0, sizeof *d);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        row r = {0};
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            switch (sqlite3_column_type(stmt, i)) {
            case SQLITE_NULL:
                put_null(&r);
                break;
            case SQLITE_INTEGER:
                put_int(&r, sqlite3_column_int64(stmt, i));
                break;
            case SQLITE_FLOAT:
                put_real(&r, sqlite3_column_double(stmt, i));
                break;
            default: /* the blob first: a text may not be UTF-8 */
                put_bytes(&r, sqlite3_column_blob(stmt, i), (size_t)sqlite3_column_bytes(stmt, i));
            }
        }
        add_row(d, &r, timed ? sqlite3_column_int64(stmt, 1) : 0,
                timed ? sqlite3_column_int64(stmt, 2) : 0);
    }
    assert_int_equal(rc, SQLITE_DONE);
    sqlite3_finalize(stmt);
    sqlite3_free(whole);
}

uint64_t number_of(const base *b, const char *sql)
{
    sqlite3_str *text = sqlite3_str_new(b->db);
    expand(b, sql, text);
    char *whole = sqlite3_str_finish(text);
    sqlite3_stmt *stmt = prepare(b, whole);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    uint64_t v = (uint64_t)sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_free(whole);
    return v;
}
