/* Tables of a trace as SQLite's virtual tables: connections, and cursors on scans. What is left to
 * a scan is the plan's to say (plan.h). */
#include "query/plan.h"

#include <stdlib.h>
#include <string.h>

/* How a cursor goes on. */
typedef enum walk {
    WALK_BLOCKS, /* block after block */
    WALK_LIST,   /* row numbers */
    WALK_CHAIN,  /* of an index */
    WALK_NOTHING
} walk;

typedef struct event_cursor {
    sqlite3_vtab_cursor base; /* first */
    rocl_scan *scan;
    rocl_scan_spec spec;
    unsigned filtered; /* how many times */
    walk walk;
    const rocl_cell_block *block; /* the current one; NULL: the end */
    uint32_t row;                 /* of the block */
    uint32_t row_number;          /* LIST, CHAIN: of the scan */
    size_t next_block;            /* BLOCKS */
    const uint32_t *list, *list_end;
    const rocl_row_index *index;
    uint32_t chain;
    const rocl_strings *strings;
    unsigned rowid_place; /* in a block */
    char *path;
    uint8_t place[ROCL_RELATION_COLUMNS_MAX + 1]; /* of each column in a block */
} event_cursor;

/* Sorted rows are scattered in memory: they are prefetched this many rows in advance. */
enum { PREFETCH_ROWS = 12 };

typedef struct module_aux {
    const rocl_relation *table;
    const rocl_table_host *host;
} module_aux;

/* ---- connections ----------------------------------------------------------------------------- */

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **vtab, char **message)
{
    static const char *const types[] = {"INTEGER", "REAL", "TEXT"};
    const module_aux *m = aux;
    const rocl_relation *t = m->table;
    (void)argc, (void)argv, (void)message;
    sqlite3_str *text = sqlite3_str_new(db);
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (unsigned i = 0; i < t->column_count; i++)
        sqlite3_str_appendf(text, "%s\"%w\" %s", i ? ", " : "", t->columns[i].name,
                            types[t->columns[i].type]);
    sqlite3_str_appendall(text, m->host->by_path ? ", \"input\" TEXT HIDDEN)" : ")");
    char *sql = sqlite3_str_finish(text);
    rocl_event_table *e = sqlite3_malloc(sizeof *e);
    if (!sql || !e) {
        sqlite3_free(sql);
        sqlite3_free(e);
        return SQLITE_NOMEM;
    }
    *e = (rocl_event_table){.table = t, .host = m->host};
    int rc = sqlite3_declare_vtab(db, sql);
    sqlite3_vtab_config(db, m->host->by_path ? SQLITE_VTAB_DIRECTONLY : SQLITE_VTAB_INNOCUOUS);
    sqlite3_free(sql);
    if (rc == SQLITE_OK)
        *vtab = &e->base;
    else
        sqlite3_free(e);
    return rc;
}

static int disconnect_table(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

/* ---- cursors --------------------------------------------------------------------------------- */

static int open_cursor(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    (void)vtab;
    event_cursor *c = sqlite3_malloc(sizeof *c);
    if (!c)
        return SQLITE_NOMEM;
    *c = (event_cursor){.scan = NULL};
    *cursor = &c->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *cursor)
{
    event_cursor *c = (event_cursor *)cursor;
    rocl_scan_release(c->scan);
    sqlite3_free(c->path);
    sqlite3_free(c);
    return SQLITE_OK;
}

/* The failure becomes SQLite's; frees err. */
static int report_failure(event_cursor *c, rocl_status st, rocl_error *err)
{
    sqlite3_vtab *vtab = c->base.pVtab;
    const bool interrupted = !strcmp(rocl_error_text(err), "interrupted");
    sqlite3_free(vtab->zErrMsg);
    vtab->zErrMsg = sqlite3_mprintf("%s", rocl_error_text(err));
    rocl_error_free(err);
    c->block = NULL;
    rocl_status *failed = ((rocl_event_table *)vtab)->host->failed;
    if (failed)
        *failed = st;
    return interrupted ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

/* Narrows a list by start to the rows whose start is within the bounds. An upper bound of the end
 * is one of the start. */
static void narrow_list(event_cursor *c, const rocl_plan_request *q, unsigned start)
{
    for (unsigned i = 0; i < q->range_count; i++) {
        const rocl_test *r = &q->ranges[i];
        const bool lower = r->op == ROCL_TEST_GT || r->op == ROCL_TEST_GE;
        /* the first row whose start is >= `from` */
        const bool behind = r->op == ROCL_TEST_GT || r->op == ROCL_TEST_LE;
        if (behind && r->cell == INT64_MAX) {
            if (lower)
                c->list = c->list_end;
            continue;
        }
        const int64_t from = r->cell + behind;
        const uint32_t *low = c->list, *high = c->list_end;
        while (low < high) {
            const uint32_t *middle = low + (high - low) / 2;
            const rocl_cell_block *b = NULL;
            rocl_scan_block(c->scan, *middle >> ROCL_BLOCK_SHIFT, &b, NULL);
            if (rocl_cell_at(b, rocl_scan_column(c->scan, start), *middle & (ROCL_BLOCK_ROWS - 1)) <
                from)
                low = middle + 1;
            else
                high = middle;
        }
        if (lower)
            c->list = low;
        else
            c->list_end = low;
    }
}

/* Finds or begins the scan, and how to go through it. */
static rocl_status start_walk(event_cursor *c, rocl_plan_request *q, rocl_scanner *scanner,
                              rocl_error *err)
{
    const rocl_relation *table = q->spec.table;
    const bool again = c->filtered++ > 0;
    rocl_status st = ROCL_OK;
    if (q->range_count && !again) { /* it may be the only time */
        for (unsigned i = 0; i < q->range_count && q->spec.test_count < ROCL_TESTS_MAX; i++)
            q->spec.tests[q->spec.test_count++] = q->ranges[i];
        q->range_count = 0;
    }
    const unsigned start = rocl_relation_find(table, "start");
    const bool nested = q->spec.columns & table->nested;
    if (nested) { /* rows that a test leaves out may be around others */
        q->spec.columns |= rocl_nesting_needs(table);
        rocl_plan_release(q);
    }
    if (q->range_count && start < table->column_count)
        q->spec.columns |= UINT64_C(1) << start;
    if (!c->scan || !rocl_scan_is_whole(c->scan) || !rocl_scan_is_of(c->scan, &q->spec)) {
        rocl_scan_release(c->scan);
        c->scan = NULL;
        st = rocl_scan_begin(scanner, &q->spec, &c->scan, err);
    }
    if (st == ROCL_OK && (again || q->keys || q->order_count || nested))
        st = rocl_scan_complete(c->scan, err);
    if (st == ROCL_OK && nested)
        st = rocl_scan_nest(c->scan, err);
    if (st != ROCL_OK)
        return st;
    c->rowid_place = rocl_scan_column(c->scan, ROCL_SCAN_ROWID);
    for (unsigned i = 0; i < table->column_count; i++)
        c->place[i] = (uint8_t)rocl_scan_column(c->scan, i);
    if (q->keys) {
        int64_t cells[ROCL_RELATION_COLUMNS_MAX];
        unsigned n = 0;
        for (uint64_t bits = q->keys; bits; bits &= bits - 1)
            cells[n++] = q->key_cells[__builtin_ctzll(bits)];
        c->walk = WALK_CHAIN;
        st = rocl_scan_index(c->scan, q->keys, &c->index, err);
        c->chain = st == ROCL_OK ? rocl_row_index_find(c->index, cells) : ROCL_NONE;
    } else if (q->order_count || q->range_count) {
        const rocl_order_term by_start = {start, false};
        const bool ordered = q->order_count;
        c->walk = WALK_LIST;
        st = rocl_scan_order(c->scan, ordered ? q->order : &by_start, ordered ? q->order_count : 1,
                             ordered && q->grouped, &c->list, err);
        if (st == ROCL_OK) {
            c->list_end = c->list + rocl_scan_rows(c->scan);
            narrow_list(c, q, start);
        }
    } else {
        c->walk = WALK_BLOCKS;
        c->next_block = 0;
    }
    return st;
}

static int next_row(sqlite3_vtab_cursor *cursor);

static int filter_rows(sqlite3_vtab_cursor *cursor, int idxNum, const char *plan, int argc,
                       sqlite3_value **argv)
{
    event_cursor *c = (event_cursor *)cursor;
    const rocl_event_table *t = (const rocl_event_table *)cursor->pVtab;
    rocl_error *err = rocl_error_new();
    rocl_scanner *scanner = NULL;
    const char *path = NULL;
    (void)idxNum;
    if (t->host->by_path) {
        path = (const char *)sqlite3_value_text(argv[rocl_plan_path(plan)]);
        sqlite3_free(c->path);
        c->path = sqlite3_mprintf("%s", path ? path : "");
    }
    rocl_plan_request *q = calloc(1, sizeof *q);
    rocl_status st = q ? t->host->scanner(t->host->ctx, path, &scanner, err) : ROCL_INTERNAL;
    c->block = NULL;
    c->row = 0;
    c->walk = WALK_NOTHING;
    if (st == ROCL_OK) {
        c->strings = scanner->trace->strings;
        rocl_plan_read(q, t, plan, argc, argv, c->filtered > 0, scanner->trace->strings);
        st = q->nothing ? ROCL_OK : start_walk(c, q, scanner, err);
    }
    if (q)
        rocl_plan_release(q);
    free(q);
    if (st != ROCL_OK)
        return report_failure(c, st, err);
    rocl_error_free(err);
    c->row = UINT32_MAX; /* before the first one */
    return next_row(cursor);
}

static int next_row(sqlite3_vtab_cursor *cursor)
{
    event_cursor *c = (event_cursor *)cursor;
    rocl_status st = ROCL_OK;
    uint32_t number = ROCL_NONE;
    if (c->walk == WALK_BLOCKS) {
        if (++c->row && c->block && c->row < c->block->rows)
            return SQLITE_OK;
        rocl_error *err = rocl_error_new();
        do
            st = rocl_scan_block(c->scan, c->next_block++, &c->block, err);
        while (st == ROCL_OK && c->block && !c->block->rows);
        c->row = 0;
        if (st == ROCL_OK && !c->block && rocl_scan_is_unconditional(c->scan))
            ((rocl_event_table *)cursor->pVtab)->rows = rocl_scan_rows(c->scan) + 1;
        if (st != ROCL_OK)
            return report_failure(c, st, err);
        rocl_error_free(err);
        return SQLITE_OK;
    }
    if (c->walk == WALK_LIST) {
        number = c->list < c->list_end ? *c->list++ : ROCL_NONE;
        if (c->list_end - c->list > PREFETCH_ROWS)
            rocl_scan_prefetch(c->scan, c->list[PREFETCH_ROWS]);
    } else if (c->walk == WALK_CHAIN) {
        number = c->chain;
        c->chain = number == ROCL_NONE ? number : rocl_row_index_next(c->index, number);
    }
    c->block = NULL;
    c->row_number = number;
    if (number != ROCL_NONE) {
        c->row = number & (ROCL_BLOCK_ROWS - 1);
        rocl_scan_block(c->scan, number >> ROCL_BLOCK_SHIFT, &c->block, NULL);
    }
    return SQLITE_OK;
}

static int at_end(sqlite3_vtab_cursor *cursor)
{
    return !((event_cursor *)cursor)->block;
}

static int put_column(sqlite3_vtab_cursor *cursor, sqlite3_context *to, int column)
{
    const event_cursor *c = (const event_cursor *)cursor;
    const rocl_relation *t = ((const rocl_event_table *)cursor->pVtab)->table;
    if (column >= (int)t->column_count) {
        sqlite3_result_text(to, c->path, -1, SQLITE_TRANSIENT);
        return SQLITE_OK;
    }
    int64_t cell;
    if (t->nested >> column & 1) {
        const uint32_t row = c->walk == WALK_BLOCKS
                                 ? (uint32_t)(c->next_block - 1) << ROCL_BLOCK_SHIFT | c->row
                                 : c->row_number;
        cell = rocl_scan_nesting(c->scan, row, !strcmp(t->columns[column].name, "depth"));
    } else {
        cell = rocl_cell_at(c->block, c->place[column], c->row);
    }
    if (cell == ROCL_CELL_NULL) {
        sqlite3_result_null(to);
    } else if (t->columns[column].type == ROCL_CELL_INTEGER) {
        sqlite3_result_int64(to, cell);
    } else if (t->columns[column].type == ROCL_CELL_REAL) {
        double v;
        memcpy(&v, &cell, sizeof v);
        sqlite3_result_double(to, v);
    } else { /* texts live as long as the trace */
        size_t len;
        const char *text = rocl_strings_get(c->strings, (uint32_t)cell, &len);
        sqlite3_result_text(to, text, (int)len, SQLITE_STATIC);
    }
    return SQLITE_OK;
}

static int put_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    const event_cursor *c = (const event_cursor *)cursor;
    *rowid = rocl_cell_at(c->block, c->rowid_place, c->row);
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect_table,
    .xBestIndex = rocl_plan_scan,
    .xDisconnect = disconnect_table,
    .xDestroy = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter_rows,
    .xNext = next_row,
    .xEof = at_end,
    .xColumn = put_column,
    .xRowid = put_rowid,
};

int rocl_add_tables(sqlite3 *db, const rocl_table_host *host)
{
    int rc = SQLITE_OK;
    for (size_t i = 0; i < rocl_relation_count && rc == SQLITE_OK; i++) {
        const rocl_relation *t = &rocl_relations[i];
        module_aux *aux = sqlite3_malloc(sizeof *aux);
        char *name = sqlite3_mprintf("%s%s", host->by_path ? "rocline_" : "", t->name);
        if (!aux || !name) {
            sqlite3_free(aux);
            sqlite3_free(name);
            return SQLITE_NOMEM;
        }
        *aux = (module_aux){t, host};
        rc = sqlite3_create_module_v2(db, name, &module, aux, sqlite3_free);
        sqlite3_free(name);
    }
    return rc;
}
