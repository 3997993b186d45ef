/* Reads tables with both readers of the row cursor, row by row, and says whether they agree. The
 * one by pages has not asked SQLite for the schema where it is of a usual form. */
#ifndef ROWS_COMPARE_H
#define ROWS_COMPARE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/db/connection.h"

enum { BY_SQLITE, BY_PAGES, READERS };

typedef enum verdict {
    ROWS_SAME,
    ROWS_DIFFERENT,    /* see pair.what */
    ROWS_SQLITE_FAILS, /* see pair.err; what came before was the same */
    ROWS_PAGES_FAIL,
    ROWS_BOTH_FAIL,
} verdict;

/* One file in both readers, and a table of it. */
typedef struct rows_pair {
    rocl_schema_cache *schemas;
    rocl_db *db[READERS];
    rocl_rows *rows[READERS];
    rocl_error *err[READERS];
    rocl_status st[READERS];
    unsigned count[READERS], at[READERS]; /* rows in hand */
    char what[256];
} rows_pair;

static inline void rows_pair_free(rows_pair *p)
{
    for (int i = 0; i < READERS; i++) {
        rocl_rows_close(p->rows[i]);
        rocl_db_close(p->db[i]);
        rocl_error_free(p->err[i]);
    }
    rocl_schema_cache_free(p->schemas);
    memset(p, 0, sizeof *p);
}

static inline bool rows_pair_init(rows_pair *p, const char *path)
{
    rocl_db *first = NULL;
    memset(p, 0, sizeof *p);
    p->schemas = rocl_schema_cache_new();
    for (int i = 0; i < READERS; i++)
        p->err[i] = rocl_error_new();
    p->st[BY_SQLITE] = rocl_db_open(&p->db[BY_SQLITE],
                                    &(rocl_db_options){.path = path, .reader = ROCL_READER_SQLITE},
                                    p->err[BY_SQLITE]);
    rocl_db_open(&first, &(rocl_db_options){.path = path, .schemas = p->schemas},
                 NULL); /* it asks */
    rocl_db_close(first);
    p->st[BY_PAGES] =
        rocl_db_open(&p->db[BY_PAGES], &(rocl_db_options){.path = path, .schemas = p->schemas},
                     p->err[BY_PAGES]);
    return !p->st[0] && !p->st[1];
}

static inline verdict rows_verdict(const rows_pair *p)
{
    if (p->st[BY_SQLITE] && p->st[BY_PAGES])
        return ROWS_BOTH_FAIL;
    if (p->st[BY_SQLITE])
        return ROWS_SQLITE_FAILS;
    return p->st[BY_PAGES] ? ROWS_PAGES_FAIL : ROWS_SAME;
}

static inline void rows_close(rows_pair *p)
{
    for (int i = 0; i < READERS; i++) {
        rocl_rows_close(p->rows[i]);
        p->rows[i] = NULL;
    }
}

static inline verdict rows_open(rows_pair *p, const char *table, const char *const *columns,
                                unsigned count)
{
    rows_close(p);
    for (int i = 0; i < READERS; i++)
        p->st[i] = rocl_rows_open(&p->rows[i], p->db[i], table, columns, count, p->err[i]);
    return rows_verdict(p);
}

/* Why the pages of an open table are not read, or NULL. */
static inline const char *rows_why(const rows_pair *p, const char *table)
{
    const char *why = NULL;
    return rocl_rows_why(p->db[BY_PAGES], table, &why, NULL) == ROCL_OK ? why : "it fails";
}

static inline bool cells_same(const rows_pair *p, unsigned col)
{
    const rocl_rows *a = p->rows[0], *b = p->rows[1];
    const unsigned i = p->at[0], k = p->at[1];
    size_t n, m;
    if (rocl_cell_kind(a, col, i) != rocl_cell_kind(b, col, k))
        return false;
    switch (rocl_cell_kind(a, col, i)) {
    case ROCL_CELL_INT:
    case ROCL_CELL_REAL:
        return a->columns[col].num[i] == b->columns[col].num[k];
    case ROCL_CELL_TEXT:
    case ROCL_CELL_BLOB: {
        const char *s = rocl_cell_text(a, col, i, &n), *t = rocl_cell_text(b, col, k, &m);
        return n == m && !memcmp(s, t, n) && t[m] == 0;
    }
    default:
        return true;
    }
}

static inline bool row_same(rows_pair *p, const char *table)
{
    const rocl_rows *a = p->rows[0], *b = p->rows[1];
    if (a->id[p->at[0]] != b->id[p->at[1]]) {
        snprintf(p->what, sizeof p->what, "table %s: ids %lld and %lld", table,
                 (long long)a->id[p->at[0]], (long long)b->id[p->at[1]]);
        return false;
    }
    for (unsigned col = 0; col < a->column_count; col++)
        if (!cells_same(p, col) || rocl_rows_has(a, col) != rocl_rows_has(b, col)) {
            snprintf(p->what, sizeof p->what, "table %s: id %lld, column %u: kinds %d and %d",
                     table, (long long)a->id[p->at[0]], col, (int)rocl_cell_kind(a, col, p->at[0]),
                     (int)rocl_cell_kind(b, col, p->at[1]));
            return false;
        }
    return true;
}

/* Up to `most` rows of the range, each reader with batches of its own size. */
static inline verdict rows_compare(rows_pair *p, const char *table, int64_t first, int64_t last,
                                   const unsigned *batch, uint64_t most)
{
    for (int i = 0; i < READERS; i++) {
        p->count[i] = p->at[i] = 0;
        p->st[i] = rocl_rows_seek(p->rows[i], first, last, p->err[i]);
    }
    for (uint64_t row = 0; row < most; row++) {
        for (int i = 0; i < READERS; i++)
            if (!p->st[i] && p->at[i] == p->count[i]) {
                p->at[i] = 0;
                p->st[i] = rocl_rows_next(p->rows[i], batch[i], &p->count[i], p->err[i]);
            }
        if (p->st[0] || p->st[1])
            return rows_verdict(p);
        if (!p->count[0] != !p->count[1]) {
            snprintf(p->what, sizeof p->what, "table %s, %lld..%lld: only %s has row %llu", table,
                     (long long)first, (long long)last, p->count[BY_PAGES] ? "pages" : "sqlite",
                     (unsigned long long)row);
            return ROWS_DIFFERENT;
        }
        if (!p->count[0])
            return ROWS_SAME;
        if (!row_same(p, table))
            return ROWS_DIFFERENT;
        p->at[0]++;
        p->at[1]++;
    }
    return ROWS_SAME;
}

/* ---- what there is ---- */

typedef struct column_names {
    char *name[64];
    unsigned count;
} column_names;

static inline void columns_free(column_names *c)
{
    for (unsigned i = 0; i < c->count; i++)
        free(c->name[i]);
    c->count = 0;
}

static inline void columns_of(rocl_db *db, const char *table, column_names *c)
{
    sqlite3_stmt *stmt = NULL;
    char *sql = sqlite3_mprintf("PRAGMA main.table_xinfo(%Q)", table);
    c->count = 0;
    if (sql && sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) == SQLITE_OK)
        while (c->count < 64 && sqlite3_step(stmt) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(stmt, 1);
            c->name[c->count++] = strdup(name ? name : "");
        }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
}

#endif
