/* The event table, joined by id without an index of ours and without a query per row.
 *
 * A writer stores events domain by domain, while regions are stored by time: the event ids of
 * neighbouring regions come from a handful of ascending streams, one per domain. So a few windows
 * are kept open on the table, each a cursor with a batch of rows in hand. An id is looked for in
 * the windows; the window that stands just before it reads on; else the window unused for longest
 * is moved there, or there is one more if all are of use to the task at hand. A moved window reads
 * few rows at first and more as it is read on (read-ahead), which makes random ids cost a seek
 * each, never a batch each. */
#include <stdlib.h>

#include "base/order.h"
#include "source/rocpd/rocpd.h"

#define WINDOWS    12
#define FIRST_READ 8
#define NEAR       256 /* ids ahead of a window that are cheaper to read over than to seek */

enum { COL_CATEGORY, COL_STACK, COL_PARENT, COL_CORRELATION, COL_EXTDATA, COLUMNS };

typedef struct window {
    rocl_rows *rows;
    unsigned count;    /* rows in hand */
    unsigned at;       /* the row used last */
    unsigned prefetch; /* how many to read next */
    uint64_t used;     /* when, in finds */
} window;

struct rocpd_events {
    rocpd_set *set;
    rocl_db *db;
    uint32_t fields;
    int64_t next[WINDOWS]; /* id after the row used last, while it is in hand: the usual answer */
    window windows[WINDOWS];
    unsigned open;
    unsigned peeked; /* the window that was peeked into last */
    uint64_t finds;
    uint64_t before;   /* finds of the tasks before this one */
    rocl_lz4 unpacked; /* extdata */
};

rocl_status rocpd_events_open(rocpd_events **out, rocpd_set *s, rocl_db *db, uint32_t fields,
                              rocl_error *err)
{
    rocpd_events *e = calloc(1, sizeof *e);
    if (!e)
        return rocl_fail_memory(err);
    e->set = s;
    e->db = db;
    e->fields = fields;
    for (unsigned i = 0; i < WINDOWS; i++)
        e->next[i] = INT64_MIN;
    *out = e;
    return ROCL_OK;
}

void rocpd_events_begin_task(rocpd_events *e)
{
    e->before = e->finds;
}

void rocpd_events_close(rocpd_events *e)
{
    for (unsigned i = 0; e && i < e->open; i++)
        rocl_rows_close(e->windows[i].rows);
    if (e)
        rocl_lz4_free(&e->unpacked);
    free(e);
}

/* Does the window's batch cover the id? Then w->at is the row of the id, or of the next greater
 * one. */
static bool find_in_hand(window *w, int64_t id)
{
    const int64_t *ids = w->rows->id;
    if (!w->count || id < ids[0] || id > ids[w->count - 1])
        return false;
    w->at = (unsigned)rocl_count_before(&id, ids, w->count, sizeof id, rocl_compare_i64);
    return true;
}

static rocl_status read_more(window *w, rocl_error *err)
{
    w->at = 0;
    rocl_status st = rocl_rows_next(w->rows, w->prefetch, &w->count, err);
    if (w->prefetch < ROCL_ROWS_BATCH)
        w->prefetch *= 2;
    return st;
}

/* Moves a window to an id: the one unused for longest, or a new one if this task has used all of
 * them. */
static rocl_status move_window(rocpd_events *e, int64_t id, window **out, rocl_error *err)
{
    const char *const columns[COLUMNS] = {
        "category_id", "stack_id", e->fields & ROCL_FIELD_PARENT ? "parent_stack_id" : NULL,
        e->fields & ROCL_FIELD_CORRELATION ? "correlation_id" : NULL, "extdata"};
    window *w = &e->windows[0];
    rocl_status st = ROCL_OK;
    for (unsigned i = 1; i < e->open; i++)
        if (e->windows[i].used < w->used)
            w = &e->windows[i];
    if (e->open < WINDOWS && (!e->open || w->used > e->before)) {
        w = &e->windows[e->open];
        st = rocl_rows_open(&w->rows, e->db, e->set->tables[SCHEMA_EVENT], columns, COLUMNS, err);
        e->open += st == ROCL_OK;
    }
    if (st == ROCL_OK)
        st = rocl_rows_seek(w->rows, id, INT64_MAX, err);
    if (st != ROCL_OK)
        return st;
    *out = w;
    w->prefetch = FIRST_READ;
    return read_more(w, err);
}

/* The window has used the row at w->at: notes which id would be the next. */
static void note_use(rocpd_events *e, window *w)
{
    w->used = ++e->finds;
    e->next[w - e->windows] = w->at + 1 < w->count ? w->rows->id[w->at + 1] : INT64_MIN;
}

/* Copies the row at w->at, and notes which id would be the next. */
static rocl_status use_row(rocpd_events *e, window *w, rocpd_event_row *row, rocl_error *err)
{
    const rocl_rows *rows = w->rows;
    int64_t category = 0, stack = 0, parent = 0;
    bool bad = false;
    note_use(e, w);
    row->correlation_id = 0;
    rocl_cell_int(rows, COL_STACK, w->at, &stack, &bad);
    rocl_cell_int(rows, COL_PARENT, w->at, &parent, &bad);
    rocl_cell_int(rows, COL_CORRELATION, w->at, &row->correlation_id, &bad);
    row->stack_id = (uint64_t)stack;
    row->parent_stack_id = (uint64_t)parent;
    row->category = ROCL_NONE;
    if (rocl_cell_int(rows, COL_CATEGORY, w->at, &category, &bad))
        row->category = rocl_ids_get(&e->set->categories, (uint64_t)category);
    row->bad_category = rocl_cell_kind(rows, COL_CATEGORY, w->at) != ROCL_CELL_NULL &&
                        row->category == ROCL_NONE && !e->set->categories.absent;
    row->extdata = rocpd_read_json(&e->unpacked, rows, COL_EXTDATA, w->at, &row->extdata_len);
    return e->unpacked.text.failed ? rocl_fail_memory(err) : ROCL_OK;
}

rocl_status rocpd_events_find(rocpd_events *e, int64_t id, rocpd_event_row *row, bool *found,
                              rocl_error *err)
{
    rocl_status st = ROCL_OK;
    *found = true;
    for (unsigned i = 0; i < e->open; i++)
        if (e->next[i] == id && id != INT64_MIN) {
            e->windows[i].at++;
            return use_row(e, &e->windows[i], row, err);
        }
    *found = false;
    if (!e->set->tables[SCHEMA_EVENT])
        return ROCL_OK;
    window *w = NULL; /* the one that covers the id, or is about to */
    for (window *at = e->windows; at < e->windows + e->open; at++) {
        if (find_in_hand(at, id)) {
            w = at;
            break;
        }
        const int64_t last = at->count ? at->rows->id[at->count - 1] : INT64_MAX;
        if (id > last && (uint64_t)id - (uint64_t)last <= NEAR)
            w = at;
    }
    while (w && st == ROCL_OK && w->count && w->rows->id[w->count - 1] < id)
        st = read_more(w, err);
    if (st == ROCL_OK && (!w || !w->count))
        st = move_window(e, id, &w, err);
    if (st != ROCL_OK)
        return st;
    w->used = ++e->finds;
    e->next[w - e->windows] = INT64_MIN;
    if (!find_in_hand(w, id) || w->rows->id[w->at] != id)
        return ROCL_OK;
    *found = true;
    return use_row(e, w, row, err);
}

/* 0 for NULL. */
static inline int64_t number_or_null(const rocl_column *c, unsigned row, bool *plain)
{
    *plain &= c->type[row] <= ROCL_CELL_INT;
    return c->type[row] == ROCL_CELL_INT ? c->num[row] : 0;
}

bool rocpd_events_peek(rocpd_events *e, int64_t id, rocpd_event_row *row)
{
    unsigned i = e->peeked;
    if (e->next[i] != id)
        for (i = 0; i < e->open && e->next[i] != id; i++)
            ;
    if (i == e->open || id == INT64_MIN)
        return false;
    const window *w = &e->windows[i];
    const rocl_column *c = w->rows->columns;
    const unsigned at = w->at + 1;
    const uint8_t extdata = c[COL_EXTDATA].type[at];
    bool plain = c[COL_CATEGORY].type[at] == ROCL_CELL_INT &&
                 (extdata == ROCL_CELL_EMPTY_OBJECT || extdata == ROCL_CELL_NULL);
    e->peeked = i;
    row->stack_id = (uint64_t)number_or_null(&c[COL_STACK], at, &plain);
    row->parent_stack_id = (uint64_t)number_or_null(&c[COL_PARENT], at, &plain);
    row->correlation_id = number_or_null(&c[COL_CORRELATION], at, &plain);
    if (!plain)
        return false;
    row->category = rocl_ids_get(&e->set->categories, (uint64_t)c[COL_CATEGORY].num[at]);
    return row->category != ROCL_NONE;
}

void rocpd_events_take(rocpd_events *e)
{
    window *w = &e->windows[e->peeked];
    w->at++;
    note_use(e, w);
}
