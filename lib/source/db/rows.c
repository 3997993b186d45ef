/* The row cursor: which reader is behind it, and what their cells have in common. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "source/db/connection.h"

/* Sets *layout where the pages can be read, else *why not. */
static rocl_status choose(rocl_db *db, const char *table, const rocl_layout **layout,
                          const char **why, rocl_error *err)
{
    *layout = NULL;
    *why = "SQLite was asked for";
    if (rocl_db_reader(db) == ROCL_READER_SQLITE)
        return ROCL_OK;
    rocl_status st = rocl_layout_find(db, table, layout, err);
    if (st != ROCL_OK)
        return st;
    *why = (*layout)->why;
    if (*why)
        *layout = NULL;
    return ROCL_OK;
}

rocl_status rocl_rows_why(rocl_db *db, const char *table, const char **why, rocl_error *err)
{
    const rocl_layout *layout;
    return choose(db, table, &layout, why, err);
}

rocl_status rocl_db_split(rocl_db *db, const char *table, size_t parts, int64_t *ends,
                          size_t *count, rocl_error *err)
{
    const rocl_layout *layout;
    const char *why;
    *count = 0;
    rocl_status st = choose(db, table, &layout, &why, err);
    return st == ROCL_OK && layout ? rocl_rows_split_pages(db, layout, parts, ends, count, err)
                                   : st;
}

rocl_status rocl_db_check_rows(rocl_db *db, const char *table, rocl_error *err)
{
    const rocl_layout *layout;
    const char *why;
    rocl_status st = choose(db, table, &layout, &why, err);
    if (st != ROCL_OK)
        return st;
    return layout ? rocl_rows_check_pages(db, layout, INT64_MIN, INT64_MAX, err)
                  : rocl_rows_check_sqlite(db, table, err);
}

/* Damage is told here: of a damaged page SQLite may say that it has no row. */
rocl_status rocl_db_id_range(rocl_db *db, const char *table, int64_t *first, int64_t *last,
                             bool *any, rocl_error *err)
{
    const rocl_layout *layout;
    const char *why;
    *any = false;
    rocl_status st = choose(db, table, &layout, &why, err);
    if (st != ROCL_OK)
        return st;
    return layout ? rocl_rows_range_pages(db, layout, first, last, any, err)
                  : rocl_rows_range_sqlite(db, table, first, last, any, err);
}

/* The lesser of both times and the greater one, of a row that has them. */
static rocl_status widen(rocl_rows *rows, int64_t id, int64_t *low, int64_t *high, bool *any,
                         rocl_error *err)
{
    unsigned n = 0;
    int64_t from, to;
    bool bad = false;
    rocl_status st = rocl_rows_seek(rows, id, id, err);
    if (st == ROCL_OK)
        st = rocl_rows_next(rows, 1, &n, err);
    if (st != ROCL_OK || !n || !rocl_cell_int(rows, 0, 0, &from, &bad) ||
        !rocl_cell_int(rows, 1, 0, &to, &bad) || from <= 0 || to < from)
        return st;
    *low = *any && *low < from ? *low : from;
    *high = *any && *high > to ? *high : to;
    *any = true;
    return ROCL_OK;
}

rocl_status rocl_db_glance(rocl_db *db, const char *table, const char *low, const char *high,
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
    for (int i = 0; i < 2 && st == ROCL_OK; i++)
        st = widen(rows, ends[i], first, last, any, err);
    rocl_rows_close(rows);
    return st;
}

/* Only the types: all of it would be more than most tables of a small file hold. */
rocl_column *rocl_columns_new(unsigned count)
{
    rocl_column *columns = malloc((count ? count : 1) * sizeof *columns);
    for (unsigned i = 0; columns && i < count; i++)
        memset(columns[i].type, ROCL_CELL_NULL, sizeof columns[i].type);
    return columns;
}

rocl_status rocl_rows_open(rocl_rows **rows, rocl_db *db, const char *table,
                           const char *const *columns, unsigned count, rocl_error *err)
{
    const rocl_layout *layout;
    const char *why;
    if (count > ROCL_ROWS_COLUMNS_MAX)
        return rocl_fail(err, ROCL_INTERNAL, "more than %d columns", ROCL_ROWS_COLUMNS_MAX);
    rocl_status st = choose(db, table, &layout, &why, err);
    if (st != ROCL_OK)
        return st;
    if (layout)
        return rocl_rows_open_pages(rows, db, layout, columns, count, err);
    if (rocl_db_reader(db) == ROCL_READER_PAGES) {
        rocl_fail(err, ROCL_INPUT, "%s: table %s: its pages cannot be read directly: %s",
                  rocl_db_path(db), table, why);
        return ROCL_INPUT; /* said again, so that checkers know it is no ROCL_OK */
    }
    return rocl_rows_open_sqlite(rows, db, table, columns, count, err);
}

void rocl_rows_close(rocl_rows *r)
{
    if (!r)
        return;
    r->ops->close(r);
    free(r->columns);
    free(r);
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

/* ---- cells ---- */

/* 2^63 as a double; the largest int64 is just below it. */
#define TWO63 9223372036854775808.0

static bool integer_of_text(const char *s, int64_t *v)
{
    char *end;
    errno = 0;
    long long x = strtoll(s, &end, 0);
    if (errno || end == s || *end)
        return false;
    *v = x;
    return true;
}

bool rocl_cell_int_slow(const rocl_rows *r, unsigned col, unsigned row, int64_t *v, bool *bad)
{
    double d;
    switch (rocl_cell_kind(r, col, row)) {
    case ROCL_CELL_REAL:
        memcpy(&d, &r->columns[col].num[row], sizeof d);
        if (d >= -TWO63 && d < TWO63 && trunc(d) == d) {
            *v = (int64_t)d;
            return true;
        }
        break;
    case ROCL_CELL_TEXT: {
        size_t n;
        if (integer_of_text(rocl_cell_text(r, col, row, &n), v))
            return true;
        break;
    }
    case ROCL_CELL_NULL:
        return false;
    default:
        break;
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
