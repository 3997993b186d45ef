/* The row cursor: the choice of its reader, the reader on SQLite, and cells. */
#include "source/db/connection.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void rocl_rows_close(rocl_rows *r)
{
    if (!r)
        return;
    r->ops->close(r);
    free(r->columns);
    free(r);
}

/* ---- rows from SQLite ------------------------------------------------------------------------ */

/* A batch ends early when its texts reach this size: cells may be as large as the file. */
#define TEXT_ENOUGH ((size_t)8 << 20)

typedef struct sqlite_rows {
    rocl_rows pub; /* first: callers hold a pointer to it */
    rocl_db *db;
    sqlite3_stmt *stmt;
    char *table;
    const char *key; /* of its rows */
    rocl_buf text;
    uint8_t present[ROCL_ROWS_COLUMNS_MAX]; /* column of each position in the statement after id */
    unsigned present_count;
    int64_t last;   /* id */
    int64_t before; /* id of the previous row */
    bool any;       /* such a row was read */
    bool ascending; /* ids must grow: the id is the key of the tree */
    bool done;
} sqlite_rows;

/* The name of the id column of a table. */
static const char *find_key(rocl_db *db, const char *table)
{
    bool has = true;
    if (db->rowids && rocl_db_has_column(db, table, "id", &has, NULL) != ROCL_OK)
        has = true; /* reading the table reports it */
    return has ? "id" : ROCL_ROWID;
}

bool rocl_db_id_is_key(rocl_db *db, const char *table)
{
    const char *type = NULL;
    int key = 0;
    return sqlite3_table_column_metadata(db->handle, "main", table, find_key(db, table), &type,
                                         NULL, NULL, &key, NULL) == SQLITE_OK &&
           key && type && sqlite3_stricmp(type, "INTEGER") == 0;
}

static void close_sqlite(rocl_rows *rows)
{
    sqlite_rows *r = (sqlite_rows *)rows;
    sqlite3_finalize(r->stmt);
    rocl_buf_free(&r->text);
    free(r->table);
}

static rocl_status seek_sqlite(rocl_rows *rows, int64_t first, int64_t last, rocl_error *err)
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

static rocl_status fail_out_of_order(const rocl_db *db, const char *table, int64_t id,
                                     int64_t before, rocl_error *err)
{
    return rocl_fail(err, ROCL_INPUT, "%s: table %s: the database is damaged (id %lld after %lld)",
                     db->name, table, (long long)id, (long long)before);
}

static rocl_status next_sqlite(rocl_rows *rows, unsigned max, unsigned *n, rocl_error *err)
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
        /* Else pages that refer to each other in a cycle would be read forever. */
        if (r->ascending && r->any && r->pub.id[row] <= r->before)
            return fail_out_of_order(r->db, r->table, r->pub.id[row], r->before, err);
        r->before = r->pub.id[row];
        r->any = true;
        for (unsigned i = 0; i < r->present_count; i++)
            rocl_rows_put_value(&r->pub.columns[r->present[i]], row,
                                sqlite3_column_value(r->stmt, (int)i + 1), &r->text);
        row++;
    }
    if (r->text.failed)
        return rocl_fail_memory(err);
    r->pub.text = (const char *)r->text.data;
    *n = row;
    return ROCL_OK;
}

static const rocl_rows_ops sqlite_ops = {seek_sqlite, next_sqlite, close_sqlite};

static rocl_status open_sqlite(rocl_rows **rows, rocl_db *db, const char *table,
                               const char *const *columns, unsigned count, rocl_error *err)
{
    rocl_status st = rocl_db_sqlite(db, err);
    if (st != ROCL_OK)
        return st;
    bool has;
    const char *key = find_key(db, table);
    st = rocl_db_has_column(db, table, key, &has, err);
    if (st != ROCL_OK)
        return st;
    if (!has)
        return rocl_fail(err, ROCL_INPUT, "%s: table %s has no column \"id\"", db->name, table);
    sqlite_rows *r = calloc(1, sizeof *r);
    if (!r)
        return rocl_fail_memory(err);
    r->pub.ops = &sqlite_ops;
    r->pub.column_count = count;
    r->db = db;
    r->done = true;
    r->key = key;
    r->ascending = rocl_db_id_is_key(db, table);
    r->table = strdup(table);
    r->pub.columns = rocl_columns_new(count);
    if (!r->table || !r->pub.columns)
        st = rocl_fail_memory(err);
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "SELECT \"%w\"", key);
    for (unsigned i = 0; i < count && st == ROCL_OK; i++) {
        has = false;
        if (columns[i])
            st = rocl_db_has_column(db, table, columns[i], &has, err);
        if (!has)
            continue;
        r->pub.present |= 1u << i;
        r->present[r->present_count++] = (uint8_t)i;
        sqlite3_str_appendf(sql, ",\"%w\"", columns[i]);
    }
    /* SQLite does not check the end of the range: that would cost a comparison per row. */
    sqlite3_str_appendf(sql, " FROM main.\"%w\" WHERE \"%w\" >= ?1 ORDER BY \"%w\"", table, key,
                        key);
    char *text = sqlite3_str_finish(sql);
    if (st == ROCL_OK && !text)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && sqlite3_prepare_v2(db->handle, text, -1, &r->stmt, NULL) != SQLITE_OK)
        st = rocl_sqlite_fail(db, table, err);
    sqlite3_free(text);
    if (st != ROCL_OK) {
        rocl_rows_close(&r->pub);
        return st;
    }
    rocl_columns_clear_missing(&r->pub);
    *rows = &r->pub;
    return ROCL_OK;
}

/* ---- ids from SQLite ------------------------------------------------------------------------- */

static rocl_status walk_ids(rocl_db *db, const char *table, bool ascending, int64_t *first,
                            int64_t *last, bool *any, rocl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    rocl_status st = ROCL_OK;
    char *sql =
        sqlite3_mprintf("SELECT \"%w\" FROM main.\"%w\" NOT INDEXED", find_key(db, table), table);
    if (!sql)
        return rocl_fail_memory(err);
    int rc = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL);
    sqlite3_free(sql);
    while (st == ROCL_OK && stmt && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(stmt, 0);
        if (sqlite3_column_type(stmt, 0) == SQLITE_NULL)
            continue;
        if (*any && ascending && id <= *last)
            st = fail_out_of_order(db, table, id, *last, err);
        if (!*any || id < *first)
            *first = id;
        if (!*any || id > *last)
            *last = id;
        *any = true;
    }
    if (st == ROCL_OK && rc != SQLITE_DONE)
        st = rocl_sqlite_fail(db, table, err);
    sqlite3_finalize(stmt);
    return st;
}

/* Two walks down the tree; min and max in one select would be a full scan. In a damaged page they
 * may be wrong, so readers read from the very first to the very last row. */
static rocl_status find_ends(rocl_db *db, const char *table, int64_t *first, int64_t *last,
                             bool *any, rocl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    rocl_status st = ROCL_OK;
    const char *key = find_key(db, table);
    char *sql = sqlite3_mprintf("SELECT (SELECT min(\"%w\") FROM main.\"%w\" NOT INDEXED), "
                                "(SELECT max(\"%w\") FROM main.\"%w\" NOT INDEXED)",
                                key, table, key, table);
    if (!sql)
        return rocl_fail_memory(err);
    if (sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW) {
        st = rocl_sqlite_fail(db, table, err);
    } else if (sqlite3_column_type(stmt, 0) != SQLITE_NULL) {
        *first = sqlite3_column_int64(stmt, 0);
        *last = sqlite3_column_int64(stmt, 1);
        *any = true;
        if (*last < *first)
            st = fail_out_of_order(db, table, *last, *first, err);
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return st;
}

/* ---- which reader ---------------------------------------------------------------------------- */

/* Sets *layout if the pages can be read, else *why not. */
static rocl_status choose_reader(rocl_db *db, const char *table, const rocl_layout **layout,
                                 const char **why, rocl_error *err)
{
    *layout = NULL;
    *why = "--reader sqlite was given";
    if (db->reader == ROCL_READER_SQLITE)
        return ROCL_OK;
    rocl_status st = rocl_db_layout(db, table, layout, err);
    if (st != ROCL_OK)
        return st;
    *why = (*layout)->why;
    if (!*why && (*layout)->no_id && !db->rowids)
        *why = "its column id is not the rowid";
    if (*why)
        *layout = NULL;
    return ROCL_OK;
}

rocl_status rocl_rows_why(rocl_db *db, const char *table, const char **why, rocl_error *err)
{
    const rocl_layout *layout;
    return choose_reader(db, table, &layout, why, err);
}

rocl_status rocl_db_check_rows(rocl_db *db, const char *table, rocl_error *err)
{
    const rocl_layout *layout;
    const char *why;
    int64_t first, last;
    bool any = false;
    rocl_status st = choose_reader(db, table, &layout, &why, err);
    if (st == ROCL_OK && layout)
        return rocl_db_check_pages(db, layout, err);
    if (st == ROCL_OK)
        st = rocl_db_sqlite(db, err);
    return st == ROCL_OK && rocl_db_id_is_key(db, table)
               ? walk_ids(db, table, true, &first, &last, &any, err)
               : st;
}

/* Reports damage here, as SQLite may take a damaged page for an empty one. */
rocl_status rocl_db_id_range(rocl_db *db, const char *table, int64_t *first, int64_t *last,
                             bool *any, rocl_error *err)
{
    rocl_btree tree = {0};
    const rocl_layout *layout;
    const char *why;
    *any = false;
    rocl_status st = choose_reader(db, table, &layout, &why, err);
    if (st == ROCL_OK && !layout)
        st = rocl_db_sqlite(db, err);
    if (st != ROCL_OK)
        return st;
    if (!layout)
        return rocl_db_id_is_key(db, table) ? find_ends(db, table, first, last, any, err)
                                            : walk_ids(db, table, false, first, last, any, err);
    st = rocl_db_open_tree(&tree, db, layout, err);
    if (st == ROCL_OK)
        st = rocl_btree_range(&tree, first, last, any, err);
    rocl_btree_close(&tree);
    return rocl_db_in_table(db, layout, st, err);
}

rocl_status rocl_db_split(rocl_db *db, const char *table, size_t ranges, int64_t *ends,
                          size_t *count, rocl_error *err)
{
    rocl_btree tree = {0};
    const rocl_layout *layout;
    const char *why;
    *count = 0;
    rocl_status st = choose_reader(db, table, &layout, &why, err);
    if (st != ROCL_OK || !layout)
        return st;
    st = rocl_db_open_tree(&tree, db, layout, err);
    if (st == ROCL_OK)
        st = rocl_btree_split(&tree, ranges, ends, count, err);
    rocl_btree_close(&tree);
    return rocl_db_in_table(db, layout, st, err);
}

rocl_status rocl_db_cut(rocl_db *db, const char *table, uint64_t rows, uint64_t most,
                        rocl_db_range **ranges, size_t *count, rocl_error *err)
{
    int64_t first, last;
    size_t n = 0;
    bool any;
    const rocl_layout *layout = NULL;
    const char *why;
    *ranges = NULL;
    *count = 0;
    rocl_status st = rocl_db_id_range(db, table, &first, &last, &any, err);
    if (st != ROCL_OK || !any)
        return st;
    const uint64_t span = (uint64_t)last - (uint64_t)first; /* ids, less one */
    const uint64_t wanted = span / rows + 1 > most ? most : span / rows + 1;
    int64_t *ends = malloc(wanted * sizeof *ends);
    rocl_db_range *list = calloc(wanted, sizeof *list);
    if (!ends || !list)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && wanted > 1)
        st = choose_reader(db, table, &layout, &why, err);
    if (st == ROCL_OK && wanted > 1)
        st = rocl_db_split(db, table, wanted, ends, &n, err);
    /* Read by pages, a table of one leaf is one range, however far apart its ids are. */
    for (; st == ROCL_OK && !layout && n + 1 < wanted; n++)
        ends[n] = (int64_t)((uint64_t)first + (n + 1) * (span / wanted + 1) - 1);
    for (size_t i = 0; i <= n && st == ROCL_OK; i++) {
        const int64_t end = i < n ? ends[i] : last;
        if (i < n && (end < first || end >= last))
            continue;
        list[*count] = (rocl_db_range){*count ? first : INT64_MIN, i < n ? end : INT64_MAX,
                                       (uint64_t)end - (uint64_t)first + 1};
        ++*count;
        first = (int64_t)((uint64_t)end + 1); /* the last id may be the greatest number */
    }
    free(ends);
    if (st == ROCL_OK)
        *ranges = list;
    else
        free(list);
    return st;
}

rocl_status rocl_rows_open(rocl_rows **rows, rocl_db *db, const char *table,
                           const char *const *columns, unsigned count, rocl_error *err)
{
    const rocl_layout *layout;
    const char *why;
    if (count > ROCL_ROWS_COLUMNS_MAX)
        return rocl_fail(err, ROCL_INTERNAL, "more than %d columns", ROCL_ROWS_COLUMNS_MAX);
    rocl_status st = choose_reader(db, table, &layout, &why, err);
    if (st != ROCL_OK)
        return st;
    if (layout)
        return rocl_rows_open_pages(rows, db, layout, columns, count, err);
    if (db->reader == ROCL_READER_PAGES) {
        rocl_fail(err, ROCL_INPUT, "%s: table %s: its pages cannot be read directly: %s", db->name,
                  table, why);
        return ROCL_INPUT; /* repeated, so that checkers see that it is not ROCL_OK */
    }
    return open_sqlite(rows, db, table, columns, count, err);
}

bool rocl_rows_has(const rocl_rows *r, unsigned column)
{
    return r->present >> column & 1;
}

rocl_status rocl_rows_seek(rocl_rows *r, int64_t first, int64_t last, rocl_error *err)
{
    return r->ops->seek(r, first, last, err);
}

rocl_status rocl_rows_next(rocl_rows *r, unsigned max, unsigned *n, rocl_error *err)
{
    return r->ops->next(r, max, n, err);
}

rocl_status rocl_db_peek_times(rocl_db *db, const char *table, const char *low, const char *high,
                               int64_t *first, int64_t *last, bool *any, rocl_error *err)
{
    const char *const columns[] = {low, high};
    int64_t ends[2];
    rocl_rows *rows;
    bool some;
    *any = false;
    rocl_status st = rocl_db_id_range(db, table, &ends[0], &ends[1], &some, err);
    if (st != ROCL_OK || !some)
        return st;
    st = rocl_rows_open(&rows, db, table, columns, 2, err);
    if (st != ROCL_OK)
        return st;
    for (int i = 0; i < 2 && st == ROCL_OK; i++) {
        unsigned n = 0;
        int64_t from, to;
        bool bad = false;
        st = rocl_rows_seek(rows, ends[i], ends[i], err);
        if (st == ROCL_OK)
            st = rocl_rows_next(rows, 1, &n, err);
        if (st != ROCL_OK || !n || !rocl_cell_int(rows, 0, 0, &from, &bad) ||
            !rocl_cell_int(rows, 1, 0, &to, &bad) || from <= 0 || to < from)
            continue;
        *first = *any && *first < from ? *first : from;
        *last = *any && *last > to ? *last : to;
        *any = true;
    }
    rocl_rows_close(rows);
    return st;
}

/* ---- cells --------------------------------------------------------------------------------- */

/* 2^63 as a double; the largest int64 is just below it. */
#define TWO63 9223372036854775808.0

bool rocl_cell_int_slow(const rocl_rows *r, unsigned col, unsigned row, int64_t *v, bool *bad)
{
    const rocl_cell_type type = rocl_cell_kind(r, col, row);
    if (type == ROCL_CELL_NULL)
        return false;
    if (type == ROCL_CELL_REAL) {
        double d;
        memcpy(&d, &r->columns[col].num[row], sizeof d);
        if (d >= -TWO63 && d < TWO63 && trunc(d) == d) {
            *v = (int64_t)d;
            return true;
        }
    } else if (type == ROCL_CELL_TEXT) {
        size_t n;
        char *end;
        const char *s = rocl_cell_text(r, col, row, &n);
        errno = 0;
        long long x = strtoll(s, &end, 0);
        if (!errno && end != s && !*end) {
            *v = x;
            return true;
        }
    }
    *bad = true;
    return false;
}

bool rocl_cell_real(const rocl_rows *r, unsigned col, unsigned row, double *v, bool *bad)
{
    int64_t i;
    if (rocl_cell_kind(r, col, row) == ROCL_CELL_REAL) {
        memcpy(v, &r->columns[col].num[row], sizeof *v);
        return true;
    }
    if (rocl_cell_int(r, col, row, &i, bad)) {
        *v = (double)i;
        return true;
    }
    return false;
}
