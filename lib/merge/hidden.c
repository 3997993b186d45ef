#include <stdlib.h>

#include "base/array.h"
#include "merge/copier.h"

static char *text_of(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return strdup(text ? text : "");
}

static rocl_status take_table(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
{
    (void)ctx;
    if (!ROCL_GROW(c->hidden, c->hidden_cap, c->hidden_count + 1))
        return rocl_fail_memory(err);
    merge_hidden *h = &c->hidden[c->hidden_count++];
    *h = (merge_hidden){text_of(row, 0), text_of(row, 2), sqlite3_column_int64(row, 1)};
    return h->name && h->sql ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status merge_hide_tables(merge_copier *c, rocl_error *err)
{
    rocl_buf sql = {0};
    rocl_buf_str(&sql, "SELECT name, rootpage, sql FROM main.sqlite_master ORDER BY rowid");
    rocl_status st = merge_query(c, "sqlite_master", &sql, take_table, NULL, err);
    c->in_schema = 0;
    return st ? st
              : rocl_new_db_exec(c->out,
                                 "PRAGMA writable_schema=ON; DELETE FROM main.sqlite_master; "
                                 "PRAGMA writable_schema=RESET",
                                 err);
}

static int insert(sqlite3_stmt *stmt, const merge_hidden *h)
{
    sqlite3_bind_text(stmt, 1, h->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 2, h->root);
    sqlite3_bind_text(stmt, 3, h->sql, -1, SQLITE_STATIC);
    int rc = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    return rc;
}

rocl_status merge_show_tables(merge_copier *c, rocl_error *err)
{
    sqlite3 *db = rocl_new_db_handle(c->out);
    sqlite3_stmt *stmt = NULL;
    rocl_status st = rocl_new_db_exec(c->out, "PRAGMA writable_schema=ON; BEGIN", err);
    if (st != ROCL_OK)
        return st;
    int rc = sqlite3_prepare_v2(db,
                                "INSERT INTO main.sqlite_master (type, name, tbl_name, rootpage, "
                                "sql) VALUES ('table', ?1, ?1, ?2, ?3)",
                                -1, &stmt, NULL);
    rc = rc == SQLITE_OK ? SQLITE_DONE : rc;
    for (size_t i = 0; i < c->hidden_count && rc == SQLITE_DONE; i++)
        rc = insert(stmt, &c->hidden[i]);
    if (rc != SQLITE_DONE)
        st = rocl_new_db_fail(c->out, "sqlite_master", err);
    sqlite3_finalize(stmt);
    return st ? st : rocl_new_db_exec(c->out, "COMMIT", err);
}

void merge_hidden_free(merge_copier *c)
{
    for (size_t i = 0; i < c->hidden_count; i++) {
        free(c->hidden[i].name);
        free(c->hidden[i].sql);
    }
    free(c->hidden);
    c->hidden = NULL;
    c->hidden_count = c->hidden_cap = 0;
}
