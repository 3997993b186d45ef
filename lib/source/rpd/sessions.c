/* Processes that were traced, each a session of the file. */
#include "source/rpd/tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/order.h"

static int compare_sessions(const void *a, const void *b)
{
    const rpd_session *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->number > y->number) - (x->number < y->number);
}

/* Calls are searched by id. If that is not the key of the table, as after CREATE TABLE AS, each
 * search would walk through all of it: then a copy with the key is searched. */
static rocl_status open_calls(rocl_db *db, const char **table, rocl_error *err)
{
    *table = "rocpd_api";
    if (rocl_db_id_is_key(db, *table))
        return ROCL_OK;
    *table = "temp.rocl_calls";
    const int rc = sqlite3_exec(
        db->handle,
        "CREATE TEMP TABLE rocl_calls(id INTEGER PRIMARY KEY, pid, start, end, apiName_id, "
        "args_id);"
        "INSERT OR IGNORE INTO rocl_calls SELECT id, pid, start, end, apiName_id, args_id "
        "FROM main.rocpd_api WHERE typeof(id) = 'integer'",
        NULL, NULL, NULL);
    /* Readers of a table report missing columns. */
    return rc == SQLITE_OK || rc == SQLITE_ERROR ? ROCL_OK : rocl_sqlite_fail(db, "rocpd_api", err);
}

/* The row of rocpd_api next to an id, on one side of it: its id, pid and a time; false: none. */
static bool find_next_call(sqlite3_stmt *s, uint64_t id, uint64_t *found, int64_t *pid,
                           int64_t *time)
{
    sqlite3_reset(s);
    sqlite3_bind_int64(s, 1, (sqlite3_int64)id);
    const bool any = sqlite3_step(s) == SQLITE_ROW;
    *found = any ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    *pid = any ? sqlite3_column_int64(s, 1) : 0;
    *time = any ? sqlite3_column_int64(s, 2) : 0;
    return any;
}

/* The sessions that have calls: pid and times of each, by the first and last rows of both series of
 * ids: calls, and from 2^31 on markers. */
static rocl_status find_sessions(rpd_file *f, sqlite3 *h, const char *calls, rocl_error *err)
{
    sqlite3_stmt *next = NULL, *before = NULL;
    char sql[100];
    size_t cap = 0;
    bool ok = true;
    snprintf(sql, sizeof sql, "SELECT id, pid, start FROM %s WHERE id >= ? ORDER BY id LIMIT 1",
             calls);
    int rc = sqlite3_prepare_v2(h, sql, -1, &next, NULL);
    snprintf(sql, sizeof sql, "SELECT id, pid, end FROM %s WHERE id < ? ORDER BY id DESC LIMIT 1",
             calls);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(h, sql, -1, &before, NULL);
    for (uint64_t from = 0; rc == SQLITE_OK && ok && from < INT64_MAX;) {
        rpd_session s = {0};
        uint64_t id;
        int64_t pid, other_pid, time;
        if (!find_next_call(next, from, &id, &pid, &s.first) || id < from) /* no number */
            break;
        s.number = rpd_session_of(id);
        s.pid = (uint64_t)pid;
        const uint64_t begin = s.number << 32, markers = begin | (uint64_t)1 << 31;
        from = s.number < INT64_MAX >> 32 ? begin + ((uint64_t)1 << 32) : INT64_MAX;
        find_next_call(before, from, &id, &other_pid, &s.last);
        if (find_next_call(before, markers, &id, &other_pid, &time) && id >= begin && time > s.last)
            s.last = time;
        if (find_next_call(next, markers, &id, &other_pid, &time) && id < from && time < s.first)
            s.first = time;
        if (pid < 0)
            continue;
        ok = ROCL_GROW(f->sessions, cap, f->session_count + 1);
        if (ok)
            f->sessions[f->session_count++] = s;
    }
    sqlite3_finalize(next);
    sqlite3_finalize(before);
    if (!ok)
        return rocl_fail_memory(err);
    if (f->session_count)
        qsort(f->sessions, f->session_count, sizeof *f->sessions, compare_sessions);
    int64_t latest = INT64_MIN;
    for (size_t i = 0; i < f->session_count; i++) {
        latest = f->sessions[i].last > latest ? f->sessions[i].last : latest;
        f->sessions[i].latest = latest;
    }
    return ROCL_OK;
}

/* The sessions of the newer writer (rocprofiler-sdk), whose grids are all work-items: it names
 * copies otherwise, and notes arguments of launches as JSON. */
static rocl_status find_item_sessions(rpd_file *f, sqlite3 *h, const char *calls, rocl_error *err)
{
    sqlite3_stmt *s = NULL;
    char sql[400];
    bool ok = true;
    int rc = sqlite3_prepare_v2(h, "SELECT id FROM rocpd_string WHERE string GLOB 'MEMORY_COPY_*'",
                                -1, &s, NULL);
    while (rc == SQLITE_OK && ok && sqlite3_step(s) == SQLITE_ROW)
        ok =
            rocl_idset_add(&f->item_sessions, rpd_session_of((uint64_t)sqlite3_column_int64(s, 0)));
    sqlite3_finalize(s);
    s = NULL;
    snprintf(sql, sizeof sql,
             "SELECT 1 FROM (SELECT apiName_id, args_id FROM %s WHERE id BETWEEN ?1 AND ?2 "
             "LIMIT 100000) JOIN rocpd_string n ON n.id = apiName_id AND n.string GLOB "
             "'hip*Launch*' JOIN %s a ON a.id = args_id AND a.string GLOB '{*' LIMIT 1",
             calls, rpd_tables[f->names[RPD_USTRING] ? RPD_USTRING : RPD_STRING].name);
    rc = sqlite3_prepare_v2(h, sql, -1, &s, NULL);
    for (size_t i = 0; rc == SQLITE_OK && ok && i < f->session_count; i++) {
        const uint64_t number = f->sessions[i].number;
        if (rocl_idset_has(&f->item_sessions, number))
            continue;
        sqlite3_reset(s);
        sqlite3_bind_int64(s, 1, (sqlite3_int64)(number << 32));
        sqlite3_bind_int64(s, 2, (sqlite3_int64)(number << 32 | UINT32_MAX));
        if (sqlite3_step(s) == SQLITE_ROW)
            ok = rocl_idset_add(&f->item_sessions, number);
    }
    sqlite3_finalize(s);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rpd_read_sessions(rpd_file *f, rocl_db *db, rocl_error *err)
{
    sqlite3_stmt *s = NULL;
    rocl_status st = rocl_db_sqlite(db, err);
    if (st != ROCL_OK)
        return st;
    sqlite3 *h = db->handle;
    int rc = sqlite3_prepare_v2(h, "SELECT tag, CAST(value AS INTEGER) FROM rocpd_metadata", -1, &s,
                                NULL);
    while (rc == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW) {
        const char *tag = (const char *)sqlite3_column_text(s, 0);
        const sqlite3_int64 v = sqlite3_column_int64(s, 1);
        if (tag && v > 0 && !strcmp(tag, "pid_stride"))
            f->pid_stride = (uint64_t)v;
        if (tag && v > 0 && !strcmp(tag, "gpu_stride"))
            f->gpu_stride = (uint64_t)v;
        if (tag && v > 0 && !strcmp(tag, "schema_version"))
            f->schema = (uint64_t)v;
    }
    sqlite3_finalize(s);
    const char *calls;
    st = open_calls(db, &calls, err);
    if (st == ROCL_OK)
        st = find_sessions(f, h, calls, err);
    if (st == ROCL_OK)
        st = find_item_sessions(f, h, calls, err);
    sqlite3_exec(db->handle, "DROP TABLE IF EXISTS temp.rocl_calls", NULL, NULL, NULL);
    return st;
}

static int compare_latest(const void *session, const void *when)
{
    const int64_t latest = ((const rpd_session *)session)->latest;
    return rocl_number_order(latest, *(const int64_t *)when);
}

const rpd_session *rpd_find_monitoring_session(const rpd_file *f, int64_t when)
{
    const size_t i = rocl_count_before(&when, f->sessions, f->session_count, sizeof *f->sessions,
                                       compare_latest);
    if (!f->session_count)
        return NULL;
    return &f->sessions[i < f->session_count ? i : f->session_count - 1];
}
