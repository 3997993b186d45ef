/* Tables of a trace as SQLite's virtual tables: what a plan may leave to a scan, and a cursor on
 * it.
 *
 * Conditions are handed on in the plan's string: the wanted columns as a hexadecimal number, then
 * for each argument three characters: what it is for, its column from '0' on, its operator. The
 * order follows: "o" (sorted) or "g" (equal rows together), then column and direction of each term.
 *
 *     7|t1=k2=|o4+
 *
 * SQLite tests all conditions again: a scan may only leave out rows that would fail. */
#include "query/sql.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an argument is for. */
enum {
    USE_TEST = 't',  /* the value is known before: rows are tested where they are read */
    USE_LIST = 'l',  /* the same of a list of values, which may be another one each time */
    USE_KEY = 'k',   /* a value for each row of another table: rows are looked up */
    USE_RANGE = 'r', /* the same, for the time */
    USE_PATH = 'p',
};

typedef struct event_table {
    sqlite3_vtab base; /* first */
    const rocl_relation *table;
    const rocl_table_host *host;
    uint64_t rows; /* about how many; 0: not known */
} event_table;

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
    const rocl_cell_block *block; /* at hand; NULL: the end */
    uint32_t row;                 /* of the block */
    size_t next_block;            /* BLOCKS */
    const uint32_t *list, *list_end;
    const rocl_row_index *index;
    uint32_t chain;
    const rocl_strings *strings;
    bool has_rowids;
    unsigned rowid_place; /* in a block */
    int64_t number;       /* of the row from 1 on: rowid where the scan has none */
    char *path;
    uint8_t place[ROCL_RELATION_COLUMNS_MAX + 1]; /* of each column in a block */
} event_cursor;

/* Rows in an order lie anywhere in memory: they are fetched so many rows before they are read. */
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
    char *sql = sqlite3_mprintf("CREATE TABLE x(");
    for (unsigned i = 0; i < t->column_count; i++)
        sql = sqlite3_mprintf("%z%s\"%w\" %s", sql, i ? ", " : "", t->columns[i].name,
                              types[t->columns[i].type]);
    sql = sqlite3_mprintf("%z%s)", sql, m->host->by_path ? ", \"input\" TEXT HIDDEN" : "");
    event_table *e = sqlite3_malloc(sizeof *e);
    if (!sql || !e) {
        sqlite3_free(sql);
        sqlite3_free(e);
        return SQLITE_NOMEM;
    }
    *e = (event_table){.table = t, .host = m->host};
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

/* ---- plans ----------------------------------------------------------------------------------- */

/* The operators that are handed on. IN is an equality with a list behind it. */
static const struct operator_row {
    unsigned char constraint;
    char letter;
    rocl_test_op op;
} operators[] = {
    {SQLITE_INDEX_CONSTRAINT_EQ, '=', ROCL_TEST_EQ},
    {SQLITE_INDEX_CONSTRAINT_NE, 'N', ROCL_TEST_NE},
    {SQLITE_INDEX_CONSTRAINT_GT, '>', ROCL_TEST_GT},
    {SQLITE_INDEX_CONSTRAINT_GE, 'G', ROCL_TEST_GE},
    {SQLITE_INDEX_CONSTRAINT_LT, '<', ROCL_TEST_LT},
    {SQLITE_INDEX_CONSTRAINT_LE, 'L', ROCL_TEST_LE},
    {SQLITE_INDEX_CONSTRAINT_LIKE, '%', ROCL_TEST_LIKE},
    {SQLITE_INDEX_CONSTRAINT_GLOB, '*', ROCL_TEST_GLOB},
    {0, 'I', ROCL_TEST_IN},
};
enum { OPERATORS = sizeof operators / sizeof *operators };

static char operator_character(unsigned char op)
{
    for (unsigned i = 0; i < OPERATORS; i++)
        if (op && operators[i].constraint == op)
            return operators[i].letter;
    return '\0';
}

static rocl_test_op test_op(char c)
{
    unsigned i = 0;
    while (operators[i].letter != c)
        i++;
    return operators[i].op;
}

/* May a scan test a column of this type so, with a constant? */
static bool is_testable(char letter, rocl_cell_type type, bool binary)
{
    switch (letter) {
    case '%':
    case '*':
        return type == ROCL_CELL_TEXT;
    case 'I':
        return type == ROCL_CELL_INTEGER || (type == ROCL_CELL_TEXT && binary);
    case '=':
    case 'N':
        return type != ROCL_CELL_TEXT || binary;
    default:
        return type != ROCL_CELL_TEXT;
    }
}

/* Are there few rows with a value of this column? */
static bool is_selective(const char *column)
{
    static const char *const names[] = {"id",       "event_id",    "stack_id", "parent_stack_id",
                                        "slice_id", "dispatch_id", "start",    "end"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(column, names[i]))
            return true;
    return false;
}

/* Is it one of the columns whose range a scan can look up: of the time? */
static bool is_time_bound(const char *column, char op)
{
    const bool lower = op == '>' || op == 'G', upper = op == '<' || op == 'L';
    return (!strcmp(column, "start") && (lower || upper)) ||
           (!strcmp(column, "end") && upper); /* no event ends before it starts */
}

/* Which condition is for what; '\0': SQLite alone tests it. */
static void choose_uses(const event_table *t, sqlite3_index_info *info, char *uses)
{
    bool keys = false, selective = false, lower = false, upper = false;
    unsigned tests = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        const char op = operator_character(c->op);
        sqlite3_value *value;
        uses[i] = '\0';
        if (!op || !c->usable || c->iColumn < 0 || c->iColumn >= (int)t->table->column_count)
            continue;
        const rocl_relation_column *column = &t->table->columns[c->iColumn];
        const bool binary = !strcmp(sqlite3_vtab_collation(info, i), "BINARY");
        if (sqlite3_vtab_in(info, i, -1)) { /* all of the list at once */
            if (is_testable('I', column->type, binary) && tests++ < ROCL_TESTS_MAX) {
                uses[i] = USE_LIST;
                sqlite3_vtab_in(info, i, 1);
            }
            continue;
        }
        if (!is_testable(op, column->type, binary))
            continue;
        if (sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK) {
            if (tests++ < ROCL_TESTS_MAX)
                uses[i] = USE_TEST;
        } else if (op == '=' && column->type != ROCL_CELL_REAL) {
            uses[i] = USE_KEY;
            keys = true;
            selective |= is_selective(column->name);
        } else if (is_time_bound(column->name, op)) {
            uses[i] = USE_RANGE;
            lower |= op == '>' || op == 'G';
            upper |= op == '<' || op == 'L';
        }
    }
    /* One way to look up: by a selective key, else by the time from both sides, else by any key. */
    const bool by_time = lower && upper && !selective;
    for (int i = 0; i < info->nConstraint; i++)
        if (uses[i] == (by_time ? USE_KEY : USE_RANGE) && (by_time || keys))
            uses[i] = '\0';
}

/* What a plan costs, in rows that are read. */
static void estimate(const event_table *t, sqlite3_index_info *info, const char *uses)
{
    double rows = t->table->kinds ? 1e6 : 100, cost;
    bool keys = false, ranges = false, selective = false;
    if (t->rows)
        rows = (double)t->rows;
    cost = rows;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (!uses[i] || uses[i] == USE_PATH)
            continue;
        const char *name = t->table->columns[c->iColumn].name;
        if (uses[i] == USE_KEY) {
            keys = true;
            selective |= is_selective(name);
        } else if (uses[i] == USE_RANGE) {
            ranges = true;
        }
        rows *= c->op == SQLITE_INDEX_CONSTRAINT_NE   ? 0.9
                : c->op == SQLITE_INDEX_CONSTRAINT_EQ ? is_selective(name) ? 0.001 : 0.1
                                                      : 0.3;
    }
    if (selective)
        rows = rows < 2 ? rows : 2;
    if (keys)
        cost = selective ? 4 : 4 + rows;
    else if (ranges)
        cost = 20 + rows;
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    info->estimatedCost = cost;
}

/* Can the scan give the rows in the order that is wanted? */
static bool takes_order(const event_table *t, const sqlite3_index_info *info, const char *uses)
{
    for (int i = 0; i < info->nConstraint; i++)
        if (uses[i] == USE_KEY || uses[i] == USE_RANGE)
            return false; /* few rows: SQLite sorts them */
    for (int i = 0; i < info->nOrderBy; i++)
        if (info->aOrderBy[i].iColumn < 0 ||
            info->aOrderBy[i].iColumn >= (int)t->table->column_count)
            return false;
    return info->nOrderBy > 0 && info->nOrderBy <= ROCL_ORDER_MAX;
}

static int plan_scan(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    event_table *t = (event_table *)vtab;
    const unsigned columns = t->table->column_count;
    char *uses = sqlite3_malloc(info->nConstraint + 1);
    uint64_t wanted = info->colUsed & ((UINT64_C(1) << columns) - 1);
    bool path = false;
    int arguments = 0;
    if (!uses)
        return SQLITE_NOMEM;
    choose_uses(t, info, uses);
    for (int i = 0; t->host->by_path && i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (c->iColumn == (int)columns && c->usable && c->op == SQLITE_INDEX_CONSTRAINT_EQ &&
            !path) {
            uses[i] = USE_PATH;
            path = true;
        }
    }
    if (t->host->by_path && !path) { /* not in this order of a join, or at all */
        sqlite3_free(uses);
        return SQLITE_CONSTRAINT;
    }
    /* Conditions with OR may become several scans, whose rows SQLite tells apart by their rowids.
     */
    if (info->nConstraint > path)
        wanted |= UINT64_C(1) << ROCL_SCAN_ROWID;
    char *plan = sqlite3_mprintf("");
    for (int i = 0; i < info->nConstraint; i++) {
        if (!uses[i])
            continue;
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        info->aConstraintUsage[i].argvIndex = ++arguments;
        info->aConstraintUsage[i].omit = uses[i] == USE_PATH;
        plan = sqlite3_mprintf("%z%c%c%c", plan, uses[i], '0' + c->iColumn,
                               uses[i] == USE_LIST ? 'I' : operator_character(c->op));
        if (uses[i] != USE_PATH)
            wanted |= UINT64_C(1) << c->iColumn;
    }
    if (takes_order(t, info, uses)) {
        const int distinct = sqlite3_vtab_distinct(info);
        plan = sqlite3_mprintf("%z|%c", plan, distinct == 1 || distinct == 2 ? 'g' : 'o');
        for (int i = 0; i < info->nOrderBy; i++) {
            plan = sqlite3_mprintf("%z%c%c", plan, '0' + info->aOrderBy[i].iColumn,
                                   info->aOrderBy[i].desc ? '-' : '+');
            wanted |= UINT64_C(1) << info->aOrderBy[i].iColumn;
        }
        info->orderByConsumed = 1;
    }
    estimate(t, info, uses);
    sqlite3_free(uses);
    info->idxStr = sqlite3_mprintf("%llx|%z", (unsigned long long)wanted, plan);
    info->needToFreeIdxStr = 1;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
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
    vtab->zErrMsg =
        sqlite3_mprintf("%s", st == ROCL_INTERNAL && !err ? "out of memory" : rocl_error_text(err));
    rocl_error_free(err);
    c->block = NULL;
    return interrupted ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

/* What a value is as a test of a column. */
typedef enum converted { CONVERTED, NOTHING_PASSES, NOT_COMPARABLE } converted;

static converted convert_value(sqlite3_value *v, rocl_cell_type type, rocl_strings *strings,
                               rocl_test *test)
{
    const int kind = sqlite3_value_type(v);
    test->real = false;
    if (kind == SQLITE_NULL)
        return NOTHING_PASSES;
    if (type == ROCL_CELL_TEXT) {
        if (kind != SQLITE_TEXT)
            return NOT_COMPARABLE;
        const char *text = (const char *)sqlite3_value_text(v);
        /* A host may have a LIKE of its own, for letters beyond ASCII. */
        for (const char *p = text; test->op == ROCL_TEST_LIKE && p && *p; p++)
            if ((unsigned char)*p >= 0x80)
                return NOT_COMPARABLE;
        const uint32_t id =
            text ? rocl_strings_put(strings, text, (size_t)sqlite3_value_bytes(v)) : ROCL_NONE;
        test->cell = id;
        return id == ROCL_NONE ? NOT_COMPARABLE : CONVERTED;
    }
    if (kind != SQLITE_INTEGER && kind != SQLITE_FLOAT)
        return NOT_COMPARABLE; /* by rules of affinity */
    if (type == ROCL_CELL_REAL) {
        const double limit = 9007199254740992.0;
        test->real = true;
        test->number = sqlite3_value_double(v);
        return fabs(test->number) <= limit ? CONVERTED : NOT_COMPARABLE;
    }
    if (kind == SQLITE_INTEGER) {
        test->cell = sqlite3_value_int64(v);
    } else { /* an integer is compared with the next one in the right direction */
        const double d = sqlite3_value_double(v);
        const bool up = test->op == ROCL_TEST_GE || test->op == ROCL_TEST_LT;
        if (!(fabs(d) < 9.2e18))
            return NOT_COMPARABLE;
        if (test->op == ROCL_TEST_EQ && floor(d) != d)
            return NOTHING_PASSES;
        if (test->op == ROCL_TEST_NE && floor(d) != d)
            return NOT_COMPARABLE; /* all but NULL pass */
        test->cell = (int64_t)(up ? ceil(d) : floor(d));
    }
    return test->cell == ROCL_CELL_NULL ? NOT_COMPARABLE : CONVERTED;
}

static int compare_cells(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The values of an IN as a set. NULLs and, of integers, fractions are left out, as they equal
 * nothing. NOT_COMPARABLE also when memory is out: SQLite tests again. */
static converted convert_list(sqlite3_value *list, rocl_cell_type type, rocl_strings *strings,
                              rocl_test *test)
{
    sqlite3_value *v;
    rocl_cell_set *set = NULL;
    size_t cap = 0, count = 0;
    converted how = CONVERTED;
    int rc = sqlite3_vtab_in_first(list, &v);
    for (; rc == SQLITE_OK && v && how != NOT_COMPARABLE; rc = sqlite3_vtab_in_next(list, &v)) {
        rocl_test one = {.op = ROCL_TEST_EQ};
        if (count == cap) {
            cap = cap ? 2 * cap : 16;
            rocl_cell_set *larger = realloc(set, sizeof *set + cap * sizeof *set->cells);
            if (!larger) {
                how = NOT_COMPARABLE;
                break;
            }
            set = larger;
        }
        how = convert_value(v, type, strings, &one);
        if (how == CONVERTED)
            set->cells[count++] = one.cell;
    }
    if (how == NOT_COMPARABLE || (rc != SQLITE_OK && rc != SQLITE_DONE)) {
        free(set);
        return NOT_COMPARABLE;
    }
    if (!count) {
        free(set);
        return NOTHING_PASSES;
    }
    qsort(set->cells, count, sizeof *set->cells, compare_cells);
    atomic_init(&set->references, 1);
    set->count = count;
    test->set = set;
    return CONVERTED;
}

/* What a plan and its arguments ask for. */
typedef struct request {
    rocl_scan_spec spec;
    uint64_t keys;                                /* columns */
    int64_t key_cells[ROCL_RELATION_COLUMNS_MAX]; /* by column */
    rocl_test ranges[ROCL_TESTS_MAX];
    unsigned range_count;
    rocl_order_term order[ROCL_ORDER_MAX];
    unsigned order_count;
    bool grouped, nothing;
    const char *path;
} request;

static void read_plan(request *q, const event_table *t, const char *plan)
{
    char *end;
    q->spec.table = t->table;
    q->spec.columns = strtoull(plan, &end, 16);
}

static void read_arguments(request *q, const event_table *t, const char *plan, int argc,
                           sqlite3_value **argv, bool again, rocl_strings *strings)
{
    const char *p = strchr(plan, '|') + 1;
    bool lookup = true;
    for (int i = 0; i < argc; i++, p += 3) {
        const unsigned column = (unsigned)(p[1] - '0');
        rocl_test test = {.column = column, .op = test_op(p[2])};
        if (*p == USE_PATH || (*p == USE_LIST && again))
            continue;
        const rocl_cell_type type = t->table->columns[column].type;
        const converted how = *p == USE_LIST ? convert_list(argv[i], type, strings, &test)
                                             : convert_value(argv[i], type, strings, &test);
        q->nothing |= how == NOTHING_PASSES;
        if (*p == USE_KEY && how == CONVERTED) {
            if (q->keys >> column & 1 && q->key_cells[column] != test.cell)
                q->nothing = true;
            q->keys |= UINT64_C(1) << column;
            q->key_cells[column] = test.cell;
        } else if (*p == USE_KEY) {
            lookup = false;
        } else if ((*p == USE_TEST || *p == USE_LIST) && how == CONVERTED) {
            q->spec.tests[q->spec.test_count++] = test; /* the plan has no more than fit */
        } else if (*p == USE_RANGE && how == CONVERTED && q->range_count < ROCL_TESTS_MAX) {
            q->ranges[q->range_count++] = test;
        }
    }
    if (!lookup)
        q->keys = 0;
    p = strchr(p, '|');
    if (p) {
        q->grouped = *++p == 'g';
        for (p++; *p; p += 2)
            q->order[q->order_count++] = (rocl_order_term){(unsigned)(p[0] - '0'), p[1] == '-'};
    }
}

static int64_t cell_of_row(const event_cursor *c, uint32_t number, unsigned column)
{
    rocl_error *none = NULL;
    const rocl_cell_block *b = NULL;
    rocl_scan_block(c->scan, number >> ROCL_BLOCK_SHIFT, &b, none);
    return rocl_cell_at(b, rocl_scan_column(c->scan, column), number & (ROCL_BLOCK_ROWS - 1));
}

/* Of a list by start, the rows whose start is within the bounds. An upper bound of the end is one
 * of the start. */
static void narrow_list(event_cursor *c, const request *q, unsigned start)
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
            if (cell_of_row(c, *middle, start) < from)
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

static unsigned find_column(const rocl_relation *t, const char *name)
{
    unsigned i = 0;
    while (i < t->column_count && strcmp(t->columns[i].name, name) != 0)
        i++;
    return i;
}

/* Finds or begins the scan, and how to go through it. */
static rocl_status start_walk(event_cursor *c, request *q, rocl_scanner *scanner, rocl_error *err)
{
    const rocl_relation *table = q->spec.table;
    const bool again = c->filtered++ > 0;
    rocl_status st = ROCL_OK;
    if (q->range_count && !again) { /* it may be the only time */
        for (unsigned i = 0; i < q->range_count && q->spec.test_count < ROCL_TESTS_MAX; i++)
            q->spec.tests[q->spec.test_count++] = q->ranges[i];
        q->range_count = 0;
    }
    const unsigned start = find_column(table, "start");
    if (q->range_count && start < table->column_count)
        q->spec.columns |= UINT64_C(1) << start;
    if (!c->scan || !rocl_scan_is_whole(c->scan) || !rocl_scan_is_of(c->scan, &q->spec)) {
        rocl_scan_release(c->scan);
        c->scan = NULL;
        st = rocl_scan_begin(scanner, &q->spec, &c->scan, err);
    }
    if (st == ROCL_OK && (again || q->keys || q->order_count))
        st = rocl_scan_complete(c->scan, err);
    if (st != ROCL_OK)
        return st;
    c->has_rowids = q->spec.columns >> ROCL_SCAN_ROWID;
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
    const event_table *t = (const event_table *)cursor->pVtab;
    rocl_error *err = rocl_error_new();
    rocl_scanner *scanner = NULL;
    const char *path = NULL;
    (void)idxNum;
    if (t->host->by_path) {
        const char *p = strchr(plan, '|') + 1;
        int i = 0;
        while (p[(ptrdiff_t)3 * i] != USE_PATH)
            i++;
        path = (const char *)sqlite3_value_text(argv[i]);
        sqlite3_free(c->path);
        c->path = sqlite3_mprintf("%s", path ? path : "");
    }
    request *q = calloc(1, sizeof *q);
    rocl_status st = q ? t->host->scanner(t->host->ctx, path, &scanner, err) : ROCL_INTERNAL;
    c->block = NULL;
    c->row = 0;
    c->number = 0;
    c->walk = WALK_NOTHING;
    if (st == ROCL_OK) {
        rocl_trace *trace = rocl_scanner_trace(scanner);
        c->strings = trace->strings;
        read_plan(q, t, plan);
        read_arguments(q, t, plan, argc, argv, c->filtered > 0, trace->strings);
        st = q->nothing ? ROCL_OK : start_walk(c, q, scanner, err);
    }
    for (unsigned i = 0; q && i < q->spec.test_count; i++)
        rocl_cell_set_release(q->spec.tests[i].set);
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
    c->number++;
    if (c->walk == WALK_BLOCKS) {
        if (++c->row && c->block && c->row < c->block->rows)
            return SQLITE_OK;
        rocl_error *err = rocl_error_new();
        do
            st = rocl_scan_block(c->scan, c->next_block++, &c->block, err);
        while (st == ROCL_OK && c->block && !c->block->rows);
        c->row = 0;
        if (st == ROCL_OK && !c->block && rocl_scan_is_unconditional(c->scan))
            ((event_table *)cursor->pVtab)->rows = rocl_scan_rows(c->scan) + 1;
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
    const rocl_relation *t = ((const event_table *)cursor->pVtab)->table;
    if (column >= (int)t->column_count) {
        sqlite3_result_text(to, c->path, -1, SQLITE_TRANSIENT);
        return SQLITE_OK;
    }
    const int64_t cell = rocl_cell_at(c->block, c->place[column], c->row);
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
    *rowid = c->has_rowids ? rocl_cell_at(c->block, c->rowid_place, c->row) : c->number;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect_table,
    .xBestIndex = plan_scan,
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
