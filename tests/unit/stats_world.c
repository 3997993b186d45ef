#include "tests/unit/stats_world.h"

uint64_t draw(world *w, uint64_t below)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return (w->random >> 11) % below;
}

void world_sql(world *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *sql = sqlite3_vmprintf(format, args);
    va_end(args);
    sqlite3_str *out = sqlite3_str_new(w->db);
    const char *from = sql;
    for (const char *p; (p = strstr(from, "%S")); from = p + 2) {
        sqlite3_str_append(out, from, (int)(p - from));
        sqlite3_str_appendall(out, w->suffix);
    }
    sqlite3_str_appendall(out, from);
    char *text = sqlite3_str_finish(out);
    run_sql(w->db, text);
    sqlite3_free(text);
    sqlite3_free(sql);
}

void world_symbol(world *w, int id, const char *name)
{
    world_sql(w,
              "INSERT INTO rocpd_info_kernel_symbol%%S(id, nid, pid, code_object_id, kernel_name, "
              "display_name) SELECT %d, nid, pid, code_object_id, %Q, %Q FROM "
              "rocpd_info_kernel_symbol%%S LIMIT 1",
              id, name, name);
}

void world_copy(world *w, uint64_t seed)
{
    char from[512], command[800];
    *w = (world){.random = seed * 0x9e3779b97f4a7c15u + 1};
    path_of(from, sizeof from, "empty-tables");
    snprintf(w->path, sizeof w->path, "%s/world.db", folder);
    snprintf(command, sizeof command, "cp '%s' %s && chmod u+w %s", from, w->path, w->path);
    assert_int_equal(system(command), 0);
    assert_int_equal(sqlite3_open(w->path, &w->db), SQLITE_OK);
    sqlite3_stmt *stmt = prepare(w->db, "SELECT substr(name, 15) FROM sqlite_master WHERE type = "
                                        "'table' AND name LIKE 'rocpd_metadata%'");
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    snprintf(w->suffix, sizeof w->suffix, "%s", sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    run_sql(w->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
    world_sql(w, "UPDATE rocpd_info_process%%S SET init = 0");
}

const char *world_end(world *w)
{
    run_sql(w->db, "COMMIT");
    sqlite3_close(w->db);
    return w->path;
}
