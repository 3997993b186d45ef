#include "merge/copier.h"

enum {
    TICK = 20000,      /* steps of SQLite's machine between calls for progress */
    STEPS_PER_ROW = 8, /* that a row takes beside one for each column */
    STEPS_PER_RECORD = 4
};

/* ---- tables ---- */

/* The table as the input has it; NULL where there is none, or no input with tables. */
static const merge_source *source_of(const merge_copier *c, const char *base)
{
    return c->set->fresh ? NULL : merge_set_table(&c->reader.set, base);
}

static bool has_own_default(const merge_copier *c, const char *base, const char *column,
                            const char **declared)
{
    const merge_source *s = c->plan->flat ? NULL : source_of(c, base);
    const merge_field *f = s ? merge_source_field(s, column) : NULL;
    if (f)
        *declared = f->declared;
    return f;
}

/* A table that is not there makes no reference to it wrong; an empty one would. */
static bool is_wanted(const merge_copier *c, const plan_table *t)
{
    bool strings = t->table == SCHEMA_STRING && c->categories.count;
    return c->plan->flat || t->table < SCHEMA_OTHER || t->table == SCHEMA_METADATA || strings ||
           (c->set->fresh ? schema_is_base(t->table) : source_of(c, t->base) != NULL);
}

/* Declared as in the input, which lets SQLite copy records without a look at them. */
static void put_column(const merge_copier *c, rocl_buf *sql, const plan_table *t,
                       const plan_column *column)
{
    schema_table refers = schema_refers_to(t->table, column->name);
    const char *declared = column->declared;
    rocl_buf_str(sql, ", ");
    merge_put_name(sql, column->name);
    rocl_buf_byte(sql, ' ');
    if (has_own_default(c, t->base, column->name, &declared) || strcmp(column->name, "guid") != 0) {
        rocl_buf_str(sql, declared);
    } else {
        rocl_buf_str(sql, "TEXT DEFAULT ");
        merge_put_text(sql, c->set->guid);
    }
    const plan_table *parent =
        refers == SCHEMA_OTHER ? NULL : merge_plan_table(c->plan, schema_table_name(refers));
    if (parent && is_wanted(c, parent)) {
        rocl_buf_str(sql, " REFERENCES ");
        merge_put_joined(sql, schema_table_name(refers), c->set->suffix);
        rocl_buf_str(sql, " (\"id\") ON UPDATE CASCADE");
    }
    if (c->plan->flat && t->table == SCHEMA_STRING && !strcmp(column->name, "string"))
        rocl_buf_str(sql, " UNIQUE");
}

rocl_status merge_create_tables(merge_copier *c, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < c->plan->table_count && st == ROCL_OK; i++) {
        const plan_table *t = &c->plan->tables[i];
        rocl_buf sql = {0};
        if (!is_wanted(c, t) || *merge_made(c, c->set, t))
            continue;
        *merge_made(c, c->set, t) = true;
        c->in_schema++;
        rocl_buf_str(&sql, "CREATE TABLE ");
        merge_put_target(c, &sql, t->base);
        rocl_buf_str(&sql, " (\"id\" INTEGER NOT NULL PRIMARY KEY");
        for (size_t k = 0; k < t->count; k++)
            put_column(c, &sql, t, &t->columns[k]);
        rocl_buf_str(&sql, ")");
        st = merge_run(c, t->base, &sql, err);
    }
    return st;
}

/* ---- rows ---- */

static void put_id(const merge_copier *c, rocl_buf *sql, const merge_source *s)
{
    char number[32];
    bool anew = c->plan->flat;
    if (anew && !merge_source_field(s, "id")) { /* nothing refers to it */
        rocl_buf_str(sql, "NULL");
        return;
    }
    sqlite3_snprintf(sizeof number, number, "rocl_new(%d, ", (int)s->table);
    rocl_buf_str(sql, anew ? number : "");
    merge_put_field(sql, s, "id");
    rocl_buf_str(sql, anew ? ")" : "");
}

/* Are the columns of input and output the same, in the same order? */
static bool same_columns(const merge_source *s, const plan_table *t)
{
    if (s->count != t->count + 1 || strcmp(s->fields[0].name, "id") != 0)
        return false;
    for (size_t i = 0; i < t->count; i++)
        if (!s->fields[i + 1].is_declared || strcmp(s->fields[i + 1].name, t->columns[i].name) != 0)
            return false;
    return true;
}

/* Values, and whether they are all as they are in the input. */
static bool put_values(const merge_copier *c, rocl_buf *sql, const merge_source *s,
                       const plan_table *t)
{
    bool plain = !c->plan->flat && !c->selection && same_columns(s, t);
    put_id(c, sql, s);
    for (size_t i = 0; i < t->count; i++) {
        rocl_buf_str(sql, ", ");
        merge_put_value(c, sql, s, &t->columns[i], &plain);
    }
    return plain;
}

/* *plain: records are copied without a look at their columns. Where nobody else reads them, SQLite
 * has to. */
static rocl_status put_copy(const merge_copier *c, rocl_buf *sql, const merge_source *s,
                            const plan_table *t, bool *plain, rocl_error *err)
{
    rocl_buf values = {0};
    const char *why;
    rocl_status st = rocl_rows_why(c->reader.db, s->name, &why, err);
    if (st != ROCL_OK)
        return st;
    *plain = put_values(c, &values, s, t) && !why && !merge_joins(c);
    rocl_buf_byte(&values, 0);
    sql->failed |= values.failed;
    rocl_buf_str(sql, c->plan->flat && t->table == SCHEMA_NODE ? "INSERT OR IGNORE INTO "
                                                               : "INSERT INTO ");
    merge_put_target(c, sql, t->base);
    if (*plain) { /* SQLite has a fast way for exactly this */
        rocl_buf_str(sql, " SELECT * FROM ");
        merge_put_source(sql, s);
    } else if (!sql->failed) {
        rocl_buf_str(sql, " SELECT ");
        rocl_buf_str(sql, (const char *)values.data);
        merge_put_from(c, sql, s);
        merge_put_where(c, sql, s);
        if (merge_joins(c)) {
            rocl_buf_str(sql, " WHERE NOT EXISTS (SELECT 1 FROM ");
            merge_put_target(c, sql, t->base);
            rocl_buf_str(sql, " AS M WHERE M.\"id\" = ");
            merge_put_field(sql, s, "id");
            rocl_buf_byte(sql, ')');
        }
    }
    rocl_buf_free(&values);
    return ROCL_OK;
}

static int tick(void *self)
{
    merge_copier *c = self;
    uint64_t n = c->per_tick < c->left ? c->per_tick : c->left;
    c->left -= n;
    rocl_progress(c->plan->trace, n);
    return 0;
}

static rocl_status expect_rows(merge_copier *c, const merge_source *s, rocl_error *err)
{
    int64_t first, last;
    bool any = false;
    rocl_status st = ROCL_OK;
    if (s->table <= SCHEMA_EVENT && s->table != SCHEMA_OTHER)
        st = rocl_db_id_range(c->reader.db, s->name, &first, &last, &any, err);
    c->left = any ? (uint64_t)last - (uint64_t)first + 1 : 0;
    c->per_tick = TICK / (s->count + STEPS_PER_ROW);
    return st;
}

static rocl_status differ(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
{
    const merge_source *s = ctx;
    return rocl_fail(err, ROCL_INPUT,
                     "%s: table %s: row %lld is another one than in the slices before: these are "
                     "not of one cut",
                     c->set->capture->path, s->name, sqlite3_column_int64(row, 0));
}

/* Rows that several slices have are the same in all of them. */
static rocl_status compare_rows(merge_copier *c, const merge_source *s, const plan_table *t,
                                rocl_error *err)
{
    rocl_buf sql = {0};
    bool plain = true;
    rocl_buf_str(&sql, "SELECT ");
    merge_put_field(&sql, s, "id");
    merge_put_from(c, &sql, s);
    rocl_buf_str(&sql, " CROSS JOIN ");
    merge_put_target(c, &sql, t->base);
    rocl_buf_str(&sql, " AS M ON M.\"id\" = ");
    merge_put_field(&sql, s, "id");
    rocl_buf_str(&sql, " WHERE NOT (1");
    for (size_t i = 0; i < t->count; i++) {
        rocl_buf_str(&sql, " AND M.");
        merge_put_name(&sql, t->columns[i].name);
        rocl_buf_str(&sql, " IS ");
        merge_put_value(c, &sql, s, &t->columns[i], &plain);
    }
    rocl_buf_str(&sql, ") LIMIT 1");
    return merge_query(c, s->name, &sql, differ, (void *)(uintptr_t)s, err);
}

static rocl_status copy_table(merge_copier *c, const merge_source *s, const plan_table *t,
                              rocl_error *err)
{
    rocl_buf sql = {0};
    bool plain = false;
    rocl_status st = expect_rows(c, s, err);
    if (st == ROCL_OK && merge_joins(c))
        st = compare_rows(c, s, t, err);
    if (st == ROCL_OK)
        st = put_copy(c, &sql, s, t, &plain, err);
    if (st != ROCL_OK)
        return st;
    if (plain)
        c->per_tick = TICK / STEPS_PER_RECORD;
    st = merge_run(c, s->name, &sql, err);
    c->rows += st == ROCL_OK ? (uint64_t)sqlite3_changes64(rocl_new_db_handle(c->out)) : 0;
    rocl_progress(c->plan->trace, c->left);
    return st;
}

rocl_status merge_copy_tables(merge_copier *c, rocl_error *err)
{
    const merge_set *set = &c->reader.set;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < c->plan->table_count && st == ROCL_OK; i++) {
        const plan_table *t = &c->plan->tables[i];
        const merge_source *s = merge_set_table(set, t->base);
        bool done = t->table == SCHEMA_METADATA || (c->plan->flat && t->table == SCHEMA_STRING);
        if (s && !done)
            st = copy_table(c, s, t, err);
    }
    return st;
}

void merge_watch_progress(merge_copier *c)
{
    if (c->plan->trace->opt.progress)
        sqlite3_progress_handler(rocl_new_db_handle(c->out), TICK, tick, c);
}
