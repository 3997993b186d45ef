/* What an input holds, counted without the library. */
#include "tests/property/property.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rocpd databases ---- */

/* A number by SQL, summed over all sets of tables: @ is the ending of their names. -1 if SQLite
 * fails. A table that is missing counts as empty. */
static int64_t sum_over_sets(sqlite3 *db, const char *table, const char *sql)
{
    char names[512], query[2048];
    sqlite3_stmt *sets = NULL, *s = NULL;
    int64_t sum = 0;
    int rc;
    snprintf(
        names, sizeof names,
        "SELECT substr(name, %zu) FROM sqlite_master WHERE type = 'table' AND (name GLOB '%s_*' "
        "OR name = '%s')",
        strlen(table) + 1, table, table);
    if (sqlite3_prepare_v2(db, names, -1, &sets, NULL) != SQLITE_OK)
        return -1;
    while ((rc = sqlite3_step(sets)) == SQLITE_ROW) {
        size_t n = 0;
        for (const char *p = sql; *p && n < sizeof query - 512; p++)
            if (*p == '@')
                n += (size_t)snprintf(query + n, sizeof query - n, "%s",
                                      (const char *)sqlite3_column_text(sets, 0));
            else
                query[n++] = *p;
        query[n] = '\0';
        int64_t add = -1;
        if (sqlite3_prepare_v2(db, query, -1, &s, NULL) == SQLITE_OK &&
            sqlite3_step(s) == SQLITE_ROW)
            add = sqlite3_column_int64(s, 0);
        sqlite3_finalize(s);
        s = NULL;
        if (add < 0) {
            rc = SQLITE_ERROR;
            break;
        }
        sum += add;
    }
    sqlite3_finalize(sets);
    return rc == SQLITE_DONE ? sum : -1;
}

/* The columns that every reader needs are read, so that damage in them is seen. */
#define ROWS(table)                                                                                \
    "SELECT coalesce(sum(typeof(start) || typeof(\"end\") || typeof(event_id) <> ''), 0) "         \
    "FROM " table "@ NOT INDEXED"

static bool has_table(sqlite3 *db, const char *glob)
{
    sqlite3_stmt *s = NULL;
    bool found = sqlite3_prepare_v2(db,
                                    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name "
                                    "GLOB ?",
                                    -1, &s, NULL) == SQLITE_OK &&
                 sqlite3_bind_text(s, 1, glob, -1, SQLITE_STATIC) == SQLITE_OK &&
                 sqlite3_step(s) == SQLITE_ROW;
    sqlite3_finalize(s);
    return found;
}

static bool has_column(sqlite3 *db, const char *glob, const char *column)
{
    sqlite3_stmt *s = NULL;
    bool found =
        sqlite3_prepare_v2(db,
                           "SELECT 1 FROM sqlite_master AS m, pragma_table_info(m.name) AS "
                           "c WHERE m.type = 'table' AND m.name GLOB ? AND c.name = ?",
                           -1, &s, NULL) == SQLITE_OK &&
        sqlite3_bind_text(s, 1, glob, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_text(s, 2, column, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW;
    sqlite3_finalize(s);
    return found;
}

static bool count_rocpd(counts *c, sqlite3 *db)
{
    int64_t regions = sum_over_sets(db, "rocpd_region", ROWS("rocpd_region"));
    /* A sample is a mark where no value and no region belongs to its event. */
    char marks_sql[1024];
    snprintf(
        marks_sql, sizeof marks_sql,
        "SELECT count(*) FROM rocpd_sample@ WHERE (event_id IS NULL OR event_id NOT IN (SELECT "
        "event_id FROM rocpd_region@ WHERE event_id NOT NULL%s%s))%s",
        has_table(db, "rocpd_event*") ? " AND event_id IN (SELECT id FROM rocpd_event@)" : " AND 0",
        has_table(db, "rocpd_pmc_event*")
            ? " UNION SELECT event_id FROM rocpd_pmc_event@ WHERE event_id NOT NULL"
            : "",
        has_column(db, "rocpd_pmc_event*", "sample_id")
            ? " AND id NOT IN (SELECT sample_id FROM rocpd_pmc_event@ WHERE sample_id NOT NULL)"
            : "");
    int64_t marks = sum_over_sets(db, "rocpd_sample", marks_sql);
    counts_forget(c);
    c->samples = sum_over_sets(db, "rocpd_sample", "SELECT count(*) FROM rocpd_sample@") - marks;
    if (has_table(db, "rocpd_pmc_event*"))
        c->timeless =
            sum_over_sets(db, "rocpd_kernel_dispatch",
                          "SELECT count(*) FROM rocpd_kernel_dispatch@ WHERE start = 0 AND "
                          "\"end\" = 0 AND event_id IN (SELECT event_id FROM "
                          "rocpd_pmc_event@)");
    c->of[KIND_CALL] = regions < 0 || marks < 0 ? -1 : regions + marks;
    c->of[KIND_KERNEL] = sum_over_sets(db, "rocpd_kernel_dispatch", ROWS("rocpd_kernel_dispatch"));
    c->of[KIND_COPY] = sum_over_sets(db, "rocpd_memory_copy", ROWS("rocpd_memory_copy"));
    c->of[KIND_ALLOC] = sum_over_sets(db, "rocpd_memory_allocate", ROWS("rocpd_memory_allocate"));
    c->of[KIND_GRAPH] = sum_over_sets(db, "rocpd_graph_launch", ROWS("rocpd_graph_launch"));
    c->of[KIND_HIP_EVENT] = sum_over_sets(db, "rocpd_hip_event", ROWS("rocpd_hip_event"));
    for (int k = 0; k < KIND_COUNTER; k++)
        if (c->of[k] < 0 && k != KIND_SCRATCH && k != KIND_BARRIER)
            return false;
    counts_add_up(c);
    c->of[KIND_ALLOC] = -1; /* scratch memory is in the same table */
    return true;
}

/* ---- databases of others --------------------------------------------------------------------- */

/* Rows of tables, of which there may be none; -1 if one cannot be read. */
static int64_t count_tables(sqlite3 *db, const char *const *tables)
{
    char sql[512];
    int64_t sum = 0;
    for (; *tables; tables++) {
        sqlite3_stmt *s = NULL;
        if (!has_table(db, *tables))
            continue;
        snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\" NOT INDEXED", *tables);
        const bool known =
            sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW;
        sum += known ? sqlite3_column_int64(s, 0) : 0;
        sqlite3_finalize(s);
        if (!known)
            return -1;
    }
    return sum;
}

/* results.db of rocprof: dispatches are in two tables, and are not counted. */
static bool count_rocprof(counts *c, sqlite3 *db)
{
    counts_forget(c);
    c->of[KIND_CALL] = count_tables(db, (const char *const[]){"HIP", "HSA", "KFD", "rocTX", NULL});
    return c->of[KIND_CALL] >= 0;
}

static bool count_rpd(counts *c, sqlite3 *db)
{
    counts_forget(c);
    c->of[KIND_CALL] = count_tables(db, (const char *const[]){"rocpd_api", NULL});
    c->work = count_tables(db, (const char *const[]){"rocpd_op", NULL});
    return c->of[KIND_CALL] >= 0 && c->work >= 0;
}

static bool count_any_database(counts *c, const char *path)
{
    sqlite3 *db = NULL;
    const bool known = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
                       (has_table(db, "rocpd_info_*") ? count_rocpd(c, db)
                        : has_table(db, "rocpd_api")  ? count_rpd(c, db)
                        : has_table(db, "HIP") || has_table(db, "HSA") || has_table(db, "rocTX")
                            ? count_rocprof(c, db)
                            : false);
    sqlite3_close(db);
    return known;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* One event a row, but where rows are values of counters. */
static bool count_csv_input(counts *c, const bytes *b)
{
    const size_t head = strcspn(b->p, "\n");
    const char *counters = memmem(b->p, head, "obj,", 4); /* of rocprof: columns behind it */
    bool quoted = false;
    if (counters && strncmp(counters + 4, "DispatchNs", 10) != 0)
        return false;
    if (memchr(b->p, '\0', b->n) || memmem(b->p, head, "Counter_Name", 12) ||
        memmem(b->p, head, "Start_Timestamp(", 16) || /* a line of text of rocprofv2 */
        (!memmem(b->p, head, "Start_Timestamp", 15) && !memmem(b->p, head, "BeginNs", 7)))
        return false;
    counts_forget(c);
    c->events = 0;
    for (const char *p = b->p + head; *p; p++) {
        quoted ^= *p == '"';
        if ((*p == '\n' && quoted) || (*p == '\r' && p[1] != '\n'))
            return false; /* readers may differ on a damaged quote or end of a line */
        if (*p == '\n')
            c->events += p[1 + strspn(p + 1, " \t\r")] && p[1 + strspn(p + 1, " \t\r")] != '\n';
    }
    return !quoted;
}

static void count_record(void *ctx, const json_event *e)
{
    counts *c = ctx;
    if (!e->object || e->depth != 5 || strcmp(e->keys[0], "rocprofiler-sdk-tool") != 0)
        return;
    if (!strcmp(e->keys[2], "buffer_records"))
        c->events++;
    else /* counters; they are left out like others */
        c->samples++;
}

bool count_input(counts *c, const char *path)
{
    bytes b;
    bool known = false;
    counts_forget(c);
    if (is_folder(path) || !bytes_read(&b, path))
        return false;
    if (b.n >= 16 && !memcmp(b.p, "SQLite format 3", 16)) {
        known = count_any_database(c, path);
    } else if (memmem(b.p, b.n, "\"rocprofiler-sdk-tool\"", 22)) {
        c->events = 0;
        known = json_walk(b.p, b.n, count_record, c);
    } else if (b.n && b.p[0] != '{' && b.p[0] != '[') {
        known = count_csv_input(c, &b);
    }
    free(b.p);
    return known;
}
