/* The row cursor on the pages of the file. */
#include <stddef.h>
#include <stdlib.h>

#include "base/btree_record.h"
#include "source/db/connection.h"

/* A batch ends early when it has this much text: in a damaged file every row can be as long as the
 * file. */
#define TEXT_BATCH (8u << 20)

/* The rows that are read in one run, column by column, and the number of distinct headers that
 * counts as few. */
#define RUN 64
#define FEW 8

typedef struct pages_rows {
    rocl_rows pub; /* first: callers hold a pointer to it */
    rocl_db *db;
    const rocl_layout *layout;
    rocl_btree tree;
    rocl_column *out[ROCL_RECORD_VALUES]; /* destination of each value of the plan */
    bool real[ROCL_RECORD_VALUES];        /* the column has REAL affinity */
    uint8_t ids[ROCL_ROWS_COLUMNS_MAX];
    unsigned id_count;                           /* columns that are an alias of the rowid */
    sqlite3_value *defaults[ROCL_RECORD_VALUES]; /* of columns that some rows lacked */
    rocl_buf text;
    int64_t last; /* id */
    bool done;
    /* A run: offsets of its rows in the page, and their decoded headers; NULL: the row was read
     * separately. */
    uint16_t at[RUN];
    const rocl_cached_header *head[RUN];
    const rocl_cached_header *distinct[RUN]; /* the distinct ones in head, by slot */
    unsigned distinct_count;
    uint8_t rows_of[FEW][RUN]; /* the rows with the header of a slot, if those are few */
    uint8_t count_of[FEW];
    bool any_slow;
    rocl_header_cache headers;
} pages_rows;

_Static_assert(ROCL_RECORD_VALUES >= ROCL_ROWS_COLUMNS_MAX, "a record has room for every column");
_Static_assert(offsetof(pages_rows, pub.id) == 0, "all but the ids is set to zeros");

/* ---- values ---- */

rocl_column *rocl_columns_new(unsigned count)
{
    return malloc((count ? count : 1) * sizeof(rocl_column));
}

void rocl_columns_clear_missing(rocl_rows *r)
{
    for (unsigned i = 0; i < r->column_count; i++)
        if (!(r->present >> i & 1))
            memset(r->columns[i].type, ROCL_CELL_NULL, sizeof r->columns[i].type);
}

void rocl_rows_put_value(rocl_column *c, unsigned row, sqlite3_value *v, rocl_buf *text)
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
    default: {
        const bool blob = sqlite3_value_type(v) == SQLITE_BLOB;
        const char *p = blob ? sqlite3_value_blob(v) : (const char *)sqlite3_value_text(v);
        const int n = sqlite3_value_bytes(v);
        if (n == 2 && p[0] == '{' && p[1] == '}') {
            c->type[row] = ROCL_CELL_EMPTY_OBJECT;
            break;
        }
        c->type[row] = blob ? ROCL_CELL_BLOB : ROCL_CELL_TEXT;
        c->num[row] = (int64_t)text->len;
        c->len[row] = (uint32_t)n;
        rocl_buf_put(text, p, (size_t)n);
        rocl_buf_byte(text, 0);
    }
    }
}

static const uint8_t cell_types[ROCL_TYPE_NUMBERS] = {
    ROCL_CELL_NULL, ROCL_CELL_INT, ROCL_CELL_INT,  ROCL_CELL_INT, ROCL_CELL_INT,
    ROCL_CELL_INT,  ROCL_CELL_INT, ROCL_CELL_REAL, ROCL_CELL_INT, ROCL_CELL_INT,
};

static inline void put_bytes(pages_rows *r, rocl_column *c, unsigned row, const rocl_value *v,
                             const uint8_t *payload)
{
    const uint8_t *p = payload + v->offset;
    if (v->size == 2 && p[0] == '{' && p[1] == '}') {
        c->type[row] = ROCL_CELL_EMPTY_OBJECT;
        return;
    }
    uint32_t size = v->size;
    c->type[row] = v->type == ROCL_TYPE_BLOB ? ROCL_CELL_BLOB : ROCL_CELL_TEXT;
    c->num[row] = (int64_t)r->text.len;
    c->len[row] = size;
    if (!rocl_buf_reserve(&r->text, (size_t)size + 1))
        return;
    memcpy(r->text.data + r->text.len, p, size);
    r->text.data[r->text.len + size] = 0;
    r->text.len += (size_t)size + 1;
}

/* SQLite has no NaN, and stores reals without a fraction as integers in columns of REAL affinity:
 * https://www.sqlite.org/datatype3.html, 3. */
static void fix_real(rocl_column *c, unsigned row, bool real)
{
    double d;
    if (c->type[row] == ROCL_CELL_INT && real) {
        d = (double)c->num[row];
        memcpy(&c->num[row], &d, sizeof d);
        c->type[row] = ROCL_CELL_REAL;
    } else if (c->type[row] == ROCL_CELL_REAL) {
        memcpy(&d, &c->num[row], sizeof d);
        if (d != d)
            c->type[row] = ROCL_CELL_NULL;
    }
}

/* A row that is older than a column has the column's default, which the schema keeps as SQL: SQLite
 * evaluates it. */
static rocl_status put_default(pages_rows *r, unsigned k, unsigned row, int64_t id, rocl_error *err)
{
    rocl_column *c = r->out[k];
    const rocl_layout_column *column = &r->layout->columns[r->headers.plan.column[k]];
    sqlite3_stmt *stmt = NULL;
    rocl_status st = ROCL_OK;
    c->type[row] = ROCL_CELL_NULL;
    if (!column->has_default)
        return ROCL_OK;
    if (!r->defaults[k]) {
        char *sql =
            sqlite3_mprintf("SELECT \"%w\" FROM main.\"%w\" WHERE \"%w\"=%lld", column->name,
                            r->layout->table, r->layout->no_id ? ROCL_ROWID : "id", (long long)id);
        if (!sql)
            return rocl_fail_memory(err);
        st = rocl_db_sqlite(r->db, err);
        if (st != ROCL_OK) {
            sqlite3_free(sql);
            return st;
        }
        if (sqlite3_prepare_v2(r->db->handle, sql, -1, &stmt, NULL) != SQLITE_OK ||
            sqlite3_step(stmt) != SQLITE_ROW)
            st = rocl_sqlite_fail(r->db, r->layout->table, err);
        else if (!(r->defaults[k] = sqlite3_value_dup(sqlite3_column_value(stmt, 0))))
            st = rocl_fail_memory(err);
        sqlite3_finalize(stmt);
        sqlite3_free(sql);
    }
    if (st == ROCL_OK)
        rocl_rows_put_value(c, row, r->defaults[k], &r->text);
    return st;
}

/* ---- rows ---- */

/* A row that lacks columns, or extends, perhaps with its header, to overflow pages: what is wanted
 * is put together in one piece. */
static rocl_status read_row_slow(pages_rows *r, unsigned i, unsigned row, rocl_error *err)
{
    rocl_btree *t = &r->tree;
    const rocl_btree_cell *c = &t->cells[i];
    const uint8_t *p = t->page + c->offset;
    rocl_record record;
    uint32_t need;
    rocl_status st = ROCL_OK;
    const char *what = rocl_record_parse(&record, &r->headers.plan, p, c->local, c->size, &need);
    if (!what && need) {
        st = rocl_btree_payload(t, i, need, &p, err);
        if (st == ROCL_OK)
            what = rocl_record_parse(&record, &r->headers.plan, p, need, c->size, &need);
    }
    if (st == ROCL_OK && what)
        st = rocl_btree_damaged(t, what, err);
    if (st == ROCL_OK && record.end > c->local)
        st = rocl_btree_payload(t, i, record.end, &p, err);
    for (unsigned k = 0; k < r->headers.plan.count && st == ROCL_OK; k++) {
        const rocl_value *v = &record.values[k];
        if (v->type == ROCL_TYPE_MISSING) {
            st = put_default(r, k, row, t->rowids[i], err);
        } else if (v->type >= ROCL_TYPE_NUMBERS) {
            put_bytes(r, r->out[k], row, v, p);
        } else {
            r->out[k]->type[row] = cell_types[v->type];
            r->out[k]->num[row] = rocl_value_number(v, p);
            fix_real(r->out[k], row, r->real[k]);
        }
    }
    return st;
}

/* How all rows of the run store a number; NULL if they differ (headers often do in just one
 * column), or if it is not a number. */
static const rocl_value *same_number(const pages_rows *r, unsigned k)
{
    if (r->any_slow || r->distinct_count > FEW)
        return NULL;
    const rocl_value *v = &r->distinct[0]->record.values[k];
    if (v->type >= ROCL_TYPE_NUMBERS)
        return NULL;
    for (unsigned i = 1; i < r->distinct_count; i++) {
        const rocl_value *other = &r->distinct[i]->record.values[k];
        if (v->type != other->type || v->offset != other->offset)
            return NULL;
    }
    return v;
}

/* Puts values of different shapes. Returns whether there are reals among them. */
static bool put_mixed(pages_rows *r, unsigned k, unsigned row, unsigned n)
{
    rocl_column *c = r->out[k];
    bool reals = false;
    for (unsigned i = 0; i < n; i++) {
        if (!r->head[i])
            continue;
        const rocl_value *v = &r->head[i]->record.values[k];
        const uint8_t *payload = r->tree.page + r->at[i];
        if (v->type >= ROCL_TYPE_NUMBERS) {
            put_bytes(r, c, row + i, v, payload);
            continue;
        }
        reals |= v->type == ROCL_TYPE_REAL;
        c->type[row + i] = cell_types[v->type];
        c->num[row + i] = rocl_value_number(v, payload);
    }
    return reals;
}

/* Puts values of different shapes if there are few headers, one header after the other: in all rows
 * of a header the value is at the same place. */
static bool put_by_header(pages_rows *r, unsigned k, unsigned row)
{
    rocl_column *c = r->out[k];
    bool reals = false;
    for (unsigned h = 0; h < r->distinct_count; h++) {
        const rocl_value v = r->distinct[h]->record.values[k]; /* in registers */
        const uint8_t *first = r->tree.page + v.offset, *rows = r->rows_of[h];
        const unsigned n = r->count_of[h];
        if (v.type >= ROCL_TYPE_NUMBERS) {
            for (unsigned i = 0; i < n; i++)
                put_bytes(r, c, row + rows[i], &v, r->tree.page + r->at[rows[i]]);
            continue;
        }
        reals |= v.type == ROCL_TYPE_REAL;
        for (unsigned i = 0; i < n; i++)
            c->type[row + rows[i]] = cell_types[v.type];
        if (v.stored)
            for (unsigned i = 0; i < n; i++)
                c->num[row + rows[i]] = (int64_t)rocl_be64(first + r->at[rows[i]]) >> v.shift;
        else
            for (unsigned i = 0; i < n; i++)
                c->num[row + rows[i]] = v.constant;
    }
    return reals;
}

/* One column of a run. */
static void put_column(pages_rows *r, unsigned k, unsigned row, unsigned n)
{
    rocl_column *c = r->out[k];
    const rocl_value *same = same_number(r, k);
    bool reals = r->real[k];
    if (same) {
        const rocl_value v = *same; /* in registers */
        const uint8_t *first = r->tree.page + v.offset;
        memset(c->type + row, cell_types[v.type], n);
        if (v.stored)
            for (unsigned i = 0; i < n; i++)
                c->num[row + i] = (int64_t)rocl_be64(first + r->at[i]) >> v.shift;
        else
            for (unsigned i = 0; i < n; i++)
                c->num[row + i] = v.constant;
        reals |= v.type == ROCL_TYPE_REAL;
    } else {
        reals |= r->distinct_count <= FEW ? put_by_header(r, k, row) : put_mixed(r, k, row, n);
    }
    for (unsigned i = 0; reals && i < n; i++)
        fix_real(c, row + i, r->real[k]);
}

static inline void note_header(pages_rows *r, unsigned i, const rocl_cached_header *h)
{
    r->head[i] = h;
    if (h->slot < FEW)
        r->rows_of[h->slot][r->count_of[h->slot]++] = (uint8_t)i;
}

/* Finds the header of a row of the run among the known ones. False: it would replace one that the
 * run needs. */
static inline bool find_header(pages_rows *r, unsigned i, const rocl_btree_cell *c)
{
    const uint8_t *payload = r->tree.page + c->offset;
    r->at[i] = (uint16_t)c->offset;
    if (i && r->head[i - 1] &&
        rocl_cached_header_matches(&r->headers, r->head[i - 1], payload, c)) {
        note_header(r, i, r->head[i - 1]);
        return true;
    }
    rocl_cached_header *place = rocl_header_cache_entry(&r->headers, payload);
    r->head[i] = NULL;
    if (!place) {
        r->any_slow = true;
        return true;
    }
    if (!rocl_cached_header_matches(&r->headers, place, payload, c)) {
        if (place->used == r->headers.time)
            return false;
        if (!rocl_cached_header_set(&r->headers, place, payload, c)) {
            r->any_slow = true;
            return true;
        }
    }
    if (place->used != r->headers.time) {
        place->slot = r->distinct_count++;
        r->distinct[place->slot] = place;
        if (place->slot < FEW)
            r->count_of[place->slot] = 0;
    }
    place->used = r->headers.time;
    note_header(r, i, place);
    return true;
}

/* Reads rows of the current leaf; advances *row. */
static rocl_status read_leaf_rows(pages_rows *r, unsigned max, unsigned *row, rocl_error *err)
{
    rocl_btree *t = &r->tree;
    unsigned n = max - *row < RUN ? max - *row : RUN;
    n = t->count - t->at < n ? t->count - t->at : n;
    while (n && t->rowids[t->at + n - 1] > r->last) /* beyond the range */
        n--;
    r->done = !n;
    if (r->headers.plan.count) {
        unsigned i;
        r->headers.time++;
        r->distinct_count = 0;
        r->any_slow = false;
        for (i = 0; i < n && find_header(r, i, &t->cells[t->at + i]); i++) {
            rocl_status st = r->head[i] ? ROCL_OK : read_row_slow(r, t->at + i, *row + i, err);
            if (st != ROCL_OK)
                return st;
        }
        n = i;
        for (unsigned k = 0; n && k < r->headers.plan.count; k++)
            put_column(r, k, *row, n);
    }
    memcpy(r->pub.id + *row, t->rowids + t->at, n * sizeof *r->pub.id);
    for (unsigned k = 0; k < r->id_count; k++) {
        memset(r->pub.columns[r->ids[k]].type + *row, ROCL_CELL_INT, n);
        memcpy(r->pub.columns[r->ids[k]].num + *row, t->rowids + t->at, n * sizeof *t->rowids);
    }
    t->at += n;
    *row += n;
    return ROCL_OK;
}

static rocl_status next_rows(rocl_rows *rows, unsigned max, unsigned *n, rocl_error *err)
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
            st = read_leaf_rows(r, max, &row, err);
    }
    if (st == ROCL_OK && r->text.failed)
        st = rocl_fail_memory(err);
    if (st != ROCL_OK) {
        r->done = true;
        return rocl_db_in_table(r->db, r->layout, st, err);
    }
    r->pub.text = (const char *)r->text.data;
    *n = row;
    return ROCL_OK;
}

static rocl_status seek_rows(rocl_rows *rows, int64_t first, int64_t last, rocl_error *err)
{
    pages_rows *r = (pages_rows *)rows;
    r->last = last;
    r->done = true;
    if (first > last)
        return ROCL_OK;
    rocl_status st = rocl_btree_seek(&r->tree, first, err);
    r->done = st != ROCL_OK || !r->tree.count;
    return rocl_db_in_table(r->db, r->layout, st, err);
}

/* ---- open and close ---- */

static void close_rows(rocl_rows *rows)
{
    pages_rows *r = (pages_rows *)rows;
    rocl_btree_close(&r->tree);
    rocl_header_cache_free(&r->headers);
    for (unsigned k = 0; k < ROCL_RECORD_VALUES; k++)
        sqlite3_value_free(r->defaults[k]);
    rocl_buf_free(&r->text);
}

static const rocl_rows_ops ops = {seek_rows, next_rows, close_rows};

/* Plans which values of a record are read, and where to: sorted by their position in the record. */
static void plan_columns(pages_rows *r, const char *const *columns)
{
    rocl_record_plan *p = &r->headers.plan;
    for (unsigned i = 0; i < r->pub.column_count; i++) {
        int column = columns[i] ? rocl_layout_column_of(r->layout, columns[i]) : -1;
        if (column < 0)
            continue;
        r->pub.present |= 1u << i;
        if ((unsigned)column == r->layout->id) {
            r->ids[r->id_count++] = (uint8_t)i;
            continue;
        }
        unsigned k = p->count++;
        for (; k && p->column[k - 1] > (unsigned)column; k--) {
            p->column[k] = p->column[k - 1];
            r->real[k] = r->real[k - 1];
            r->out[k] = r->out[k - 1];
        }
        p->column[k] = (uint16_t)column;
        r->real[k] = r->layout->columns[column].real;
        r->out[k] = &r->pub.columns[i];
    }
}

rocl_status rocl_rows_open_pages(rocl_rows **rows, rocl_db *db, const rocl_layout *layout,
                                 const char *const *columns, unsigned count, rocl_error *err)
{
    pages_rows *r = malloc(sizeof *r);
    rocl_column *room = rocl_columns_new(count);
    if (!r || !room) {
        free(r);
        free(room);
        return rocl_fail_memory(err);
    }
    memset((char *)r + sizeof r->pub.id, 0, sizeof *r - sizeof r->pub.id);
    r->pub.columns = room;
    r->pub.ops = &ops;
    r->pub.column_count = count;
    r->db = db;
    r->layout = layout;
    r->done = true;
    plan_columns(r, columns);
    rocl_columns_clear_missing(&r->pub);
    rocl_header_cache_init(&r->headers);
    rocl_status st =
        rocl_db_in_table(db, layout, rocl_db_open_tree(&r->tree, db, layout, err), err);
    if (st == ROCL_OK) {
        *rows = &r->pub;
        return ROCL_OK;
    }
    close_rows(&r->pub);
    free(r->pub.columns);
    free(r);
    return st;
}
