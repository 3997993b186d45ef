/* The row cursor on the pages of the file. */
#include <stdlib.h>

#include "base/btree_record.h"
#include "source/db_sqlite.h"

/* Headers remembered: neighbours in a table have few different ones, and these mostly hash apart. */
#define HEAD_BITS 3

/* A batch ends early when it has so much text: rows of a damaged file can each be as long as that. */
#define TEXT_BATCH (8u << 20)

typedef struct pages_rows {
    rocl_rows pub; /* first: callers hold a pointer to it */
    rocl_db *db;
    const rocl_layout *layout;
    rocl_btree tree;
    rocl_record_plan plan;
    uint8_t out[ROCL_RECORD_VALUES]; /* the column that a value of the plan goes to */
    uint8_t ids[ROCL_ROWS_COLUMNS_MAX];
    unsigned id_count; /* columns that are the rowid under one of its names */
    sqlite3_value *defaults[ROCL_RECORD_VALUES]; /* of columns that rows lacked so far */
    rocl_record heads[1 << HEAD_BITS];
    rocl_buf text;
    int64_t last; /* id */
    bool done;
} pages_rows;

_Static_assert(ROCL_RECORD_VALUES >= ROCL_ROWS_COLUMNS_MAX, "every column has its place");
_Static_assert((int)ROCL_VALUE_NULL == ROCL_CELL_NULL && (int)ROCL_VALUE_INT == ROCL_CELL_INT &&
                   (int)ROCL_VALUE_REAL == ROCL_CELL_REAL &&
                   (int)ROCL_VALUE_TEXT == ROCL_CELL_TEXT && (int)ROCL_VALUE_BLOB == ROCL_CELL_BLOB,
               "types are copied");

/* Puts file and table before what the b-tree says. */
static rocl_status placed(const pages_rows *r, rocl_status st, rocl_error *err)
{
    if (st == ROCL_INPUT)
        rocl_wrap(err, "%s: table %s", rocl_db_path(r->db), r->layout->table);
    return st;
}

/* ---- values ---- */

static void take_bytes(pages_rows *r, rocl_column *c, unsigned row, const rocl_value *v,
                       const uint8_t *p)
{
    if (v->size == 2 && p[0] == '{' && p[1] == '}') {
        c->type[row] = ROCL_CELL_EMPTY_OBJECT;
        return;
    }
    c->type[row] = v->type;
    c->num[row] = (int64_t)r->text.len;
    c->len[row] = v->size;
    if (!rocl_buf_room(&r->text, (size_t)v->size + 1))
        return;
    memcpy(r->text.data + r->text.len, p, v->size);
    r->text.data[r->text.len + v->size] = 0;
    r->text.len += (size_t)v->size + 1;
}

static void take_real(rocl_column *c, unsigned row, double d)
{
    c->type[row] = d == d ? ROCL_CELL_REAL : ROCL_CELL_NULL; /* SQLite has no NaN */
    memcpy(&c->num[row], &d, sizeof d);
}

/* A row that was written before its table got the column has the column's default, which the schema
 * keeps as SQL: SQLite says what that comes to. */
static rocl_status take_default(pages_rows *r, unsigned k, unsigned row, int64_t id,
                                rocl_error *err)
{
    rocl_column *c = &r->pub.columns[r->out[k]];
    const rocl_layout_column *column = &r->layout->columns[r->plan.column[k]];
    sqlite3_stmt *stmt = NULL;
    rocl_status st = ROCL_OK;
    c->type[row] = ROCL_CELL_NULL;
    if (!column->has_default)
        return ROCL_OK;
    if (!r->defaults[k]) {
        char *sql = sqlite3_mprintf("SELECT \"%w\" FROM main.\"%w\" WHERE \"id\"=%lld",
                                    column->name, r->layout->table, (long long)id);
        if (!sql)
            return rocl_fail_memory(err);
        if (sqlite3_prepare_v2(rocl_db_handle(r->db), sql, -1, &stmt, NULL) != SQLITE_OK ||
            sqlite3_step(stmt) != SQLITE_ROW)
            st = rocl_sqlite_fail(r->db, r->layout->table, err);
        else if (!(r->defaults[k] = sqlite3_value_dup(sqlite3_column_value(stmt, 0))))
            st = rocl_fail_memory(err);
        sqlite3_finalize(stmt);
        sqlite3_free(sql);
    }
    if (st == ROCL_OK)
        rocl_rows_take(c, row, r->defaults[k], &r->text);
    return st;
}

static rocl_status take_values(pages_rows *r, const rocl_record *record, const uint8_t *p,
                               unsigned row, int64_t id, rocl_error *err)
{
    for (unsigned k = 0; k < r->plan.count; k++) {
        const rocl_value *v = &record->values[k];
        rocl_column *c = &r->pub.columns[r->out[k]];
        int64_t number;
        double d;
        switch (v->type) {
        case ROCL_VALUE_NULL:
        case ROCL_VALUE_INT:
            c->type[row] = v->type;
            c->num[row] = rocl_value_number(v, p);
            break;
        case ROCL_VALUE_TEXT:
        case ROCL_VALUE_BLOB:
            take_bytes(r, c, row, v, p + v->offset);
            break;
        case ROCL_VALUE_REAL:
            number = rocl_value_number(v, p);
            memcpy(&d, &number, sizeof d);
            take_real(c, row, d);
            break;
        case ROCL_VALUE_INT_REAL:
            take_real(c, row, (double)rocl_value_number(v, p));
            break;
        default: {
            rocl_status st = take_default(r, k, row, id, err);
            if (st != ROCL_OK)
                return st;
        }
        }
    }
    return ROCL_OK;
}

/* ---- rows ---- */

/* What to do where the header is new, or the values wanted are not all in the leaf: *payload is
 * then a piece that has them. */
static rocl_status read_head(pages_rows *r, unsigned i, rocl_record *record,
                             const uint8_t **payload, rocl_error *err)
{
    rocl_btree *t = &r->tree;
    const rocl_btree_cell *c = &t->cells[i];
    uint32_t need;
    rocl_status st = ROCL_OK;
    const char *what = rocl_record_parse(record, &r->plan, *payload, c->local, c->size, &need);
    if (!what && need) {
        st = rocl_btree_payload(t, i, need, payload, err);
        if (st == ROCL_OK)
            what = rocl_record_parse(record, &r->plan, *payload, need, c->size, &need);
    }
    if (st == ROCL_OK && what)
        st = rocl_btree_damaged(t, what, err);
    if (st == ROCL_OK && record->end > c->local)
        st = rocl_btree_payload(t, i, record->end, payload, err);
    return st;
}

static inline rocl_status take_row(pages_rows *r, unsigned i, unsigned row, rocl_error *err)
{
    const rocl_btree_cell *c = &r->tree.cells[i];
    const uint8_t *p = r->tree.page + c->offset;
    rocl_record *record = &r->heads[rocl_record_hash(p, HEAD_BITS)];
    if (!rocl_record_same(record, p) || record->end > c->local ||
        (record->exact && record->exact != c->size)) {
        rocl_status st = read_head(r, i, record, &p, err);
        if (st != ROCL_OK)
            return st;
    }
    return take_values(r, record, p, row, r->tree.rowids[i], err);
}

/* How many of the rows in hand, at most `max`, belong to the range; the end of it is noted. */
static unsigned in_range(pages_rows *r, unsigned max)
{
    const rocl_btree *t = &r->tree;
    unsigned n = t->count - t->at < max ? t->count - t->at : max;
    if (n && t->rowids[t->at + n - 1] <= r->last)
        return n;
    r->done = true;
    while (n && t->rowids[t->at + n - 1] > r->last)
        n--;
    return n;
}

/* Takes rows of the leaf in hand; *row counts on. */
static rocl_status take_rows(pages_rows *r, unsigned max, unsigned *row, rocl_error *err)
{
    rocl_btree *t = &r->tree;
    rocl_status st = ROCL_OK;
    unsigned n = in_range(r, max - *row);
    memcpy(r->pub.id + *row, t->rowids + t->at, n * sizeof *r->pub.id);
    while (n-- && st == ROCL_OK && r->text.len < TEXT_BATCH) {
        for (unsigned k = 0; k < r->id_count; k++) {
            r->pub.columns[r->ids[k]].type[*row] = ROCL_CELL_INT;
            r->pub.columns[r->ids[k]].num[*row] = t->rowids[t->at];
        }
        if (r->plan.count)
            st = take_row(r, t->at, *row, err);
        t->at++;
        ++*row;
    }
    return st;
}

static rocl_status next(rocl_rows *rows, unsigned max, unsigned *n, rocl_error *err)
{
    pages_rows *r = (pages_rows *)rows;
    rocl_status st = ROCL_OK;
    unsigned row = 0;
    r->text.len = 0;
    *n = 0;
    while (st == ROCL_OK && !r->done && row < max && r->text.len < TEXT_BATCH) {
        if (r->tree.at == r->tree.count)
            st = rocl_btree_next(&r->tree, err);
        if (st == ROCL_OK)
            st = take_rows(r, max, &row, err);
    }
    if (st == ROCL_OK && r->text.failed)
        st = rocl_fail_memory(err);
    if (st != ROCL_OK) {
        r->done = true;
        return placed(r, st, err);
    }
    r->pub.text = (const char *)r->text.data;
    *n = row;
    return ROCL_OK;
}

static rocl_status seek(rocl_rows *rows, int64_t first, int64_t last, rocl_error *err)
{
    pages_rows *r = (pages_rows *)rows;
    r->last = last;
    r->done = true;
    if (first > last)
        return ROCL_OK;
    rocl_status st = rocl_btree_seek(&r->tree, first, err);
    r->done = st != ROCL_OK || !r->tree.count;
    return placed(r, st, err);
}

/* ---- open and close ---- */

static void close_rows(rocl_rows *rows)
{
    pages_rows *r = (pages_rows *)rows;
    rocl_btree_close(&r->tree);
    for (unsigned k = 0; k < ROCL_RECORD_VALUES; k++)
        sqlite3_value_free(r->defaults[k]);
    rocl_buf_free(&r->text);
}

/* Sorts a column in by its place in the record. */
static void plan_value(pages_rows *r, unsigned column, unsigned out)
{
    rocl_record_plan *p = &r->plan;
    unsigned k = p->count++;
    for (; k && p->column[k - 1] > column; k--) {
        p->column[k] = p->column[k - 1];
        p->real[k] = p->real[k - 1];
        r->out[k] = r->out[k - 1];
    }
    p->column[k] = (uint16_t)column;
    p->real[k] = r->layout->columns[column].real;
    r->out[k] = (uint8_t)out;
}

static const rocl_rows_ops ops = {seek, next, close_rows};

static void plan_columns(pages_rows *r, const char *const *columns)
{
    for (unsigned i = 0; i < r->pub.column_count; i++) {
        int column = columns[i] ? rocl_layout_column_of(r->layout, columns[i]) : -1;
        if (column < 0)
            continue;
        r->pub.present |= 1u << i;
        if ((unsigned)column == r->layout->id)
            r->ids[r->id_count++] = (uint8_t)i;
        else
            plan_value(r, (unsigned)column, i);
    }
}

rocl_status rocl_rows_open_pages(rocl_rows **rows, rocl_db *db, const rocl_layout *layout,
                                 const char *const *columns, unsigned count, rocl_error *err)
{
    const rocl_btree_file *file;
    const char *why;
    pages_rows *r = calloc(1, sizeof *r);
    if (!r || !(r->pub.columns = calloc(count ? count : 1, sizeof *r->pub.columns))) {
        free(r);
        return rocl_fail_memory(err);
    }
    r->pub.ops = &ops;
    r->pub.column_count = count;
    r->db = db;
    r->layout = layout;
    r->done = true;
    plan_columns(r, columns);
    rocl_status st = rocl_db_pages(db, &file, &why, err);
    if (st == ROCL_OK)
        st = placed(r, rocl_btree_open(&r->tree, file, layout->root, err), err);
    *rows = &r->pub;
    if (st != ROCL_OK)
        rocl_rows_close(&r->pub);
    return st;
}
