/* The row cursor on stock SQLite. */
#include <stdlib.h>

#include "source/db/connection.h"

/* A batch ends early when its texts have grown to this: cells may be as large as the file. */
#define TEXT_ENOUGH ((size_t)8 << 20)

typedef struct sqlite_rows {
    rocl_rows pub; /* first: callers hold a pointer to it */
    rocl_db *db;
    sqlite3_stmt *stmt;
    char *table;
    rocl_buf text;
    uint8_t present[ROCL_ROWS_COLUMNS_MAX]; /* column of each place in the statement after id */
    unsigned present_count;
    int64_t last;   /* id */
    int64_t before; /* id of the last row read */
    bool any;       /* such a row was read */
    bool ascending; /* ids must grow: the id is the key of the tree */
    bool done;
} sqlite_rows;

static void quote_name(rocl_buf *sql, const char *name)
{
    rocl_buf_byte(sql, '"');
    for (; *name; name++) {
        if (*name == '"')
            rocl_buf_byte(sql, '"');
        rocl_buf_byte(sql, (uint8_t)*name);
    }
    rocl_buf_byte(sql, '"');
}

static rocl_status build_select(sqlite_rows *r, rocl_buf *sql, const char *const *columns,
                                rocl_error *err)
{
    rocl_buf_str(sql, "SELECT \"id\"");
    for (unsigned i = 0; i < r->pub.column_count; i++) {
        bool has = false;
        rocl_status st =
            columns[i] ? rocl_db_has_column(r->db, r->table, columns[i], &has, err) : ROCL_OK;
        if (st != ROCL_OK)
            return st;
        if (!has)
            continue;
        r->pub.present |= 1u << i;
        r->present[r->present_count++] = (uint8_t)i;
        rocl_buf_byte(sql, ',');
        quote_name(sql, columns[i]);
    }
    rocl_buf_str(sql, " FROM main.");
    quote_name(sql, r->table);
    /* The end of the range is not SQLite's to find: that would cost a comparison a row. */
    rocl_buf_str(sql, " WHERE \"id\" >= ?1 ORDER BY \"id\"");
    return ROCL_OK;
}

static bool id_is_key(rocl_db *db, const char *table)
{
    const char *type = NULL;
    int key = 0;
    return sqlite3_table_column_metadata(rocl_db_handle(db), "main", table, "id", &type, NULL, NULL,
                                         &key, NULL) == SQLITE_OK &&
           key && type && sqlite3_stricmp(type, "INTEGER") == 0;
}

static void close_rows(rocl_rows *rows)
{
    sqlite_rows *r = (sqlite_rows *)rows;
    sqlite3_finalize(r->stmt);
    rocl_buf_free(&r->text);
    free(r->table);
}

static rocl_status seek(rocl_rows *rows, int64_t first, int64_t last, rocl_error *err)
{
    sqlite_rows *r = (sqlite_rows *)rows;
    sqlite3_reset(r->stmt);
    if (sqlite3_bind_int64(r->stmt, 1, first) != SQLITE_OK)
        return rocl_sqlite_fail(r->db, r->table, err);
    r->last = last;
    r->any = false;
    r->done = first > last;
    return ROCL_OK;
}

static void take_text(rocl_column *c, unsigned row, sqlite3_value *v, rocl_buf *text)
{
    bool blob = sqlite3_value_type(v) == SQLITE_BLOB;
    const char *p = blob ? sqlite3_value_blob(v) : (const char *)sqlite3_value_text(v);
    int n = sqlite3_value_bytes(v);
    if (n == 2 && p[0] == '{' && p[1] == '}') {
        c->type[row] = ROCL_CELL_EMPTY_OBJECT;
        return;
    }
    c->type[row] = blob ? ROCL_CELL_BLOB : ROCL_CELL_TEXT;
    c->num[row] = (int64_t)text->len;
    c->len[row] = (uint32_t)n;
    rocl_buf_put(text, p, (size_t)n);
    rocl_buf_byte(text, 0);
}

void rocl_rows_take(rocl_column *c, unsigned row, sqlite3_value *v, rocl_buf *text)
{
    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        c->type[row] = ROCL_CELL_INT;
        c->num[row] = sqlite3_value_int64(v);
        break;
    case SQLITE_FLOAT: {
        double d = sqlite3_value_double(v);
        c->type[row] = ROCL_CELL_REAL;
        memcpy(&c->num[row], &d, sizeof d);
        break;
    }
    case SQLITE_NULL:
        c->type[row] = ROCL_CELL_NULL;
        break;
    default:
        take_text(c, row, v, text);
    }
}

static rocl_status out_of_order(const rocl_db *db, const char *table, int64_t id, int64_t before,
                                rocl_error *err)
{
    return rocl_fail(err, ROCL_INPUT, "%s: table %s: the database is damaged (id %lld after %lld)",
                     rocl_db_path(db), table, (long long)id, (long long)before);
}

static rocl_status next(rocl_rows *rows, unsigned max, unsigned *n, rocl_error *err)
{
    sqlite_rows *r = (sqlite_rows *)rows;
    unsigned row = 0;
    r->text.len = 0;
    while (!r->done && row < max && r->text.len < TEXT_ENOUGH) {
        int rc = sqlite3_step(r->stmt);
        if (rc == SQLITE_DONE) {
            r->done = true;
            break;
        }
        if (rc != SQLITE_ROW)
            return rocl_sqlite_fail(r->db, r->table, err);
        r->pub.id[row] = sqlite3_column_int64(r->stmt, 0);
        if (r->pub.id[row] > r->last) {
            r->done = true;
            break;
        }
        /* Pages that refer to each other in circles would be read for ever. */
        if (r->ascending && r->any && r->pub.id[row] <= r->before)
            return out_of_order(r->db, r->table, r->pub.id[row], r->before, err);
        r->before = r->pub.id[row];
        r->any = true;
        for (unsigned i = 0; i < r->present_count; i++)
            rocl_rows_take(&r->pub.columns[r->present[i]], row,
                           sqlite3_column_value(r->stmt, (int)i + 1), &r->text);
        row++;
    }
    if (r->text.failed)
        return rocl_fail_memory(err);
    r->pub.text = (const char *)r->text.data;
    *n = row;
    return ROCL_OK;
}

static const rocl_rows_ops ops = {seek, next, close_rows};

rocl_status rocl_rows_open_sqlite(rocl_rows **rows, rocl_db *db, const char *table,
                                  const char *const *columns, unsigned count, rocl_error *err)
{
    rocl_buf sql = {0};
    rocl_status st = rocl_db_sqlite(db, err);
    if (st != ROCL_OK)
        return st;
    bool has;
    st = rocl_db_has_column(db, table, "id", &has, err);
    if (st != ROCL_OK)
        return st;
    if (!has)
        return rocl_fail(err, ROCL_INPUT, "%s: table %s has no column \"id\"", rocl_db_path(db),
                         table);
    sqlite_rows *r = calloc(1, sizeof *r);
    if (!r)
        return rocl_fail_memory(err);
    r->pub.ops = &ops;
    r->pub.column_count = count;
    r->db = db;
    r->done = true;
    r->ascending = id_is_key(db, table);
    r->table = strdup(table);
    r->pub.columns = rocl_columns_new(count);
    if (r->table && r->pub.columns)
        st = build_select(r, &sql, columns, err);
    if (!r->table || !r->pub.columns || sql.failed)
        st = rocl_fail_memory(err);
    else if (st == ROCL_OK && sqlite3_prepare_v2(rocl_db_handle(db), (const char *)sql.data,
                                                 (int)sql.len, &r->stmt, NULL) != SQLITE_OK)
        st = rocl_sqlite_fail(db, table, err);
    rocl_buf_free(&sql);
    if (st != ROCL_OK)
        rocl_rows_close(&r->pub);
    else
        *rows = &r->pub;
    return st;
}

/* ---- ids ---- */

static rocl_status step_ids(rocl_db *db, sqlite3_stmt *stmt, const char *table, bool ascending,
                            int64_t *first, int64_t *last, bool *any, rocl_error *err)
{
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(stmt, 0);
        if (sqlite3_column_type(stmt, 0) == SQLITE_NULL)
            continue;
        if (*any && ascending && id <= *last)
            return out_of_order(db, table, id, *last, err);
        if (!*any || id < *first)
            *first = id;
        if (!*any || id > *last)
            *last = id;
        *any = true;
    }
    return rc == SQLITE_DONE ? ROCL_OK : rocl_sqlite_fail(db, table, err);
}

static rocl_status walk_ids(rocl_db *db, const char *table, bool ascending, int64_t *first,
                            int64_t *last, bool *any, rocl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    char *sql = sqlite3_mprintf("SELECT \"id\" FROM main.\"%w\" NOT INDEXED", table);
    if (!sql)
        return rocl_fail_memory(err);
    int rc = sqlite3_prepare_v2(rocl_db_handle(db), sql, -1, &stmt, NULL);
    sqlite3_free(sql);
    rocl_status st = rc == SQLITE_OK ? step_ids(db, stmt, table, ascending, first, last, any, err)
                                     : rocl_sqlite_fail(db, table, err);
    sqlite3_finalize(stmt);
    return st;
}

/* Two walks down the tree; min and max in one select would be a full scan. Of a page that is
 * damaged they may be wrong: whoever reads the rows reads them from the first to the last one there
 * is. */
static rocl_status find_ends(rocl_db *db, const char *table, int64_t *first, int64_t *last,
                             bool *any, rocl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    rocl_status st = ROCL_OK;
    char *sql = sqlite3_mprintf("SELECT (SELECT min(\"id\") FROM main.\"%w\" NOT INDEXED), "
                                "(SELECT max(\"id\") FROM main.\"%w\" NOT INDEXED)",
                                table, table);
    if (!sql)
        return rocl_fail_memory(err);
    if (sqlite3_prepare_v2(rocl_db_handle(db), sql, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW) {
        st = rocl_sqlite_fail(db, table, err);
    } else if (sqlite3_column_type(stmt, 0) != SQLITE_NULL) {
        *first = sqlite3_column_int64(stmt, 0);
        *last = sqlite3_column_int64(stmt, 1);
        *any = true;
        if (*last < *first)
            st = out_of_order(db, table, *last, *first, err);
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return st;
}

rocl_status rocl_rows_range_sqlite(rocl_db *db, const char *table, int64_t *first, int64_t *last,
                                   bool *any, rocl_error *err)
{
    *any = false;
    rocl_status st = rocl_db_sqlite(db, err);
    if (st != ROCL_OK)
        return st;
    return id_is_key(db, table) ? find_ends(db, table, first, last, any, err)
                                : walk_ids(db, table, false, first, last, any, err);
}

rocl_status rocl_rows_check_sqlite(rocl_db *db, const char *table, rocl_error *err)
{
    int64_t first, last;
    bool any = false;
    rocl_status st = rocl_db_sqlite(db, err);
    return st == ROCL_OK && id_is_key(db, table)
               ? walk_ids(db, table, true, &first, &last, &any, err)
               : st;
}
