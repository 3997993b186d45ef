/* Plans; see plan.h. Conditions are passed in the plan's string: the wanted columns as a
 * hexadecimal number, then for each argument three characters: its use, its column from '0' on, its
 * operator. The order follows: "o" (sorted) or "g" (equal rows together), then column and direction
 * of each term.
 *
 *     7|t1=k2=|o4+ */
#include "query/plan.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an argument is for. */
enum {
    USE_TEST = 't',  /* the value is known in advance: rows are tested when they are read */
    USE_LIST = 'l',  /* the same of a list of values, which may be another one each time */
    USE_KEY = 'k',   /* a value for each row of another table: rows are looked up */
    USE_RANGE = 'r', /* the same, for the time */
    USE_PATH = 'p',
};

/* ---- plans ----------------------------------------------------------------------------------- */

/* The operators that are passed on. IN is an equality followed by a list. */
static const struct operator_row {
    unsigned char constraint;
    char letter;
    rocl_test_op op;
} operators[] = {
    {SQLITE_INDEX_CONSTRAINT_EQ, '=', ROCL_TEST_EQ},
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

/* May a scan test a column of this type so, with a constant? */
static bool is_testable(const rocl_table_host *host, char letter, rocl_cell_type type, bool binary)
{
    switch (letter) {
    case '%':
    case '*':
        return host->patterns && type == ROCL_CELL_TEXT;
    case 'I':
        return type == ROCL_CELL_INTEGER || (type == ROCL_CELL_TEXT && binary);
    case '=':
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
static void choose_uses(const rocl_event_table *t, sqlite3_index_info *info, char *uses)
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
        if (t->table->nested >> c->iColumn & 1)
            continue;
        const rocl_relation_column *column = &t->table->columns[c->iColumn];
        const bool binary = !strcmp(sqlite3_vtab_collation(info, i), "BINARY");
        if (sqlite3_vtab_in(info, i, -1)) { /* all of the list at once */
            if (is_testable(t->host, 'I', column->type, binary) && tests++ < ROCL_TESTS_MAX) {
                uses[i] = USE_LIST;
                sqlite3_vtab_in(info, i, 1);
            }
            continue;
        }
        if (!is_testable(t->host, op, column->type, binary))
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
static void estimate_cost(const rocl_event_table *t, sqlite3_index_info *info, const char *uses)
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
        rows *= c->op == SQLITE_INDEX_CONSTRAINT_EQ ? is_selective(name) ? 0.001 : 0.1 : 0.3;
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
static bool takes_order(const rocl_event_table *t, const sqlite3_index_info *info, const char *uses)
{
    for (int i = 0; i < info->nConstraint; i++)
        if (uses[i] == USE_KEY || uses[i] == USE_RANGE)
            return false; /* few rows: SQLite sorts them */
    for (int i = 0; i < info->nOrderBy; i++)
        if (info->aOrderBy[i].iColumn < 0 ||
            info->aOrderBy[i].iColumn >= (int)t->table->column_count ||
            t->table->nested >> info->aOrderBy[i].iColumn & 1)
            return false;
    return info->nOrderBy > 0 && info->nOrderBy <= ROCL_ORDER_MAX;
}

int rocl_plan_scan(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    rocl_event_table *t = (rocl_event_table *)vtab;
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
    /* By their rowids SQLite tells rows of several scans apart: of conditions with OR, and of a
     * RIGHT or FULL JOIN, which looks rows up and in the end walks over those that it has not met.
     */
    wanted |= UINT64_C(1) << ROCL_SCAN_ROWID;
    sqlite3_str *plan = sqlite3_str_new(NULL);
    for (int i = 0; i < info->nConstraint; i++) {
        if (!uses[i])
            continue;
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        info->aConstraintUsage[i].argvIndex = ++arguments;
        info->aConstraintUsage[i].omit = uses[i] == USE_PATH;
        sqlite3_str_appendf(plan, "%c%c%c", uses[i], '0' + c->iColumn,
                            uses[i] == USE_LIST ? 'I' : operator_character(c->op));
        if (uses[i] != USE_PATH)
            wanted |= UINT64_C(1) << c->iColumn;
    }
    if (takes_order(t, info, uses)) {
        /* For GROUP BY it returns 1 (grouped rows are enough) even if the order is also that of
         * ORDER BY, and SQLite 3.40 then does not sort. So only DISTINCT (2) is trusted. */
        sqlite3_str_appendf(plan, "|%c", sqlite3_vtab_distinct(info) == 2 ? 'g' : 'o');
        for (int i = 0; i < info->nOrderBy; i++) {
            sqlite3_str_appendf(plan, "%c%c", '0' + info->aOrderBy[i].iColumn,
                                info->aOrderBy[i].desc ? '-' : '+');
            wanted |= UINT64_C(1) << info->aOrderBy[i].iColumn;
        }
        info->orderByConsumed = 1;
    }
    estimate_cost(t, info, uses);
    sqlite3_free(uses);
    const char *steps = sqlite3_str_value(plan); /* NULL: there are none */
    const int rc = sqlite3_str_errcode(plan);
    info->idxStr = rc == SQLITE_OK
                       ? sqlite3_mprintf("%llx|%s", (unsigned long long)wanted, steps ? steps : "")
                       : NULL;
    info->needToFreeIdxStr = 1;
    sqlite3_free(sqlite3_str_finish(plan));
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- values ---------------------------------------------------------------------------------- */

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
        test->cell = (int64_t)(up ? ceil(d) : floor(d));
    }
    return test->cell == ROCL_CELL_NULL ? NOT_COMPARABLE : CONVERTED;
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
    qsort(set->cells, count, sizeof *set->cells, rocl_compare_i64);
    atomic_init(&set->references, 1);
    set->count = count;
    test->set = set;
    return CONVERTED;
}

void rocl_plan_read(rocl_plan_request *q, const rocl_event_table *t, const char *plan, int argc,
                    sqlite3_value **argv, bool again, rocl_strings *strings)
{
    char *end;
    q->spec.table = t->table;
    q->spec.columns = strtoull(plan, &end, 16);
    const char *p = strchr(plan, '|') + 1;
    bool lookup = true;
    for (int i = 0; i < argc; i++, p += 3) {
        const unsigned column = (unsigned)(p[1] - '0');
        const struct operator_row *o = operators;
        while (o->letter != p[2])
            o++;
        rocl_test test = {.column = column, .op = o->op};
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

void rocl_plan_release(rocl_plan_request *q)
{
    for (unsigned i = 0; i < q->spec.test_count; i++)
        rocl_cell_set_release(q->spec.tests[i].set);
    q->spec.test_count = 0;
}

int rocl_plan_path(const char *plan)
{
    const char *p = strchr(plan, '|') + 1;
    int i = 0;
    while (p[(ptrdiff_t)3 * i] != USE_PATH)
        i++;
    return i;
}
