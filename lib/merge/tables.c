/* The tables of the output: those of a set are made and filled; those of sets that are done are
 * hidden from SQLite, which searches the whole schema whenever a table is made. Then the views over
 * all. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "merge/copier.h"

enum {
    TICK = 20000,      /* steps of SQLite's machine between calls for progress */
    STEPS_PER_ROW = 8, /* that a row takes beside one for each column */
    STEPS_PER_RECORD = 4
};

/* ---- tables ---- */

/* The table as the input has it; NULL where there is none, or no input with tables. */
static const merge_source *find_source(const merge_copier *c, const char *base)
{
    return c->set->fresh ? NULL : merge_set_table(&c->reader.set, base);
}

/* A table that is not there makes no reference to it wrong; an empty one would. */
static bool is_wanted(const merge_copier *c, const plan_table *t)
{
    bool strings = t->table == SCHEMA_STRING && c->categories.count;
    return c->plan->flat || t->table < SCHEMA_OTHER || t->table == SCHEMA_METADATA || strings ||
           (c->set->fresh ? schema_is_base(t->table) : find_source(c, t->base) != NULL);
}

/* Declared as in the input, which lets SQLite copy records without a look at them. */
static void put_column(const merge_copier *c, rocl_buf *sql, const plan_table *t,
                       const plan_column *column)
{
    schema_table refers = schema_refers_to(t->table, column->name);
    const merge_source *own = c->plan->flat ? NULL : find_source(c, t->base);
    const merge_field *field = own ? merge_source_field(own, column->name) : NULL;
    rocl_buf_str(sql, ", ");
    merge_put_name(sql, column->name);
    rocl_buf_byte(sql, ' ');
    if (field || strcmp(column->name, "guid") != 0) {
        rocl_buf_str(sql, field ? field->declared : column->declared);
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
    *plain = !c->plan->flat && !c->selection && same_columns(s, t) && !why && !merge_joins(c);
    put_id(c, &values, s);
    for (size_t i = 0; i < t->count; i++) {
        rocl_buf_str(&values, ", ");
        merge_put_value(c, &values, s, &t->columns[i], plain);
    }
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

static int report_progress(void *self)
{
    merge_copier *c = self;
    uint64_t n = c->per_tick < c->left ? c->per_tick : c->left;
    c->left -= n;
    rocl_progress(c->plan->trace, n);
    return 0;
}

static rocl_status fail_differing_row(merge_copier *c, sqlite3_stmt *row, void *ctx,
                                      rocl_error *err)
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
    return merge_query(c, s->name, &sql, fail_differing_row, (void *)(uintptr_t)s, err);
}

static rocl_status copy_table(merge_copier *c, const merge_source *s, const plan_table *t,
                              rocl_error *err)
{
    rocl_buf sql = {0};
    bool plain = false;
    int64_t first, last;
    bool any = false;
    rocl_status st = ROCL_OK;
    if (s->table <= SCHEMA_EVENT && s->table != SCHEMA_OTHER)
        st = rocl_db_id_range(c->reader.db, s->name, &first, &last, &any, err);
    c->left = any ? (uint64_t)last - (uint64_t)first + 1 : 0;
    c->per_tick = TICK / (s->count + STEPS_PER_ROW);
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
        sqlite3_progress_handler(rocl_new_db_handle(c->out), TICK, report_progress, c);
}

/* ---- tables that are done ------------------------------------------------------------------ */

static char *copy_text(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return strdup(text ? text : "");
}

static rocl_status keep_table(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
{
    (void)ctx;
    if (!ROCL_GROW(c->hidden, c->hidden_cap, c->hidden_count + 1))
        return rocl_fail_memory(err);
    merge_hidden *h = &c->hidden[c->hidden_count++];
    *h = (merge_hidden){copy_text(row, 0), copy_text(row, 2), sqlite3_column_int64(row, 1)};
    return h->name && h->sql ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status merge_hide_tables(merge_copier *c, rocl_error *err)
{
    rocl_buf sql = {0};
    rocl_buf_str(&sql, "SELECT name, rootpage, sql FROM main.sqlite_master ORDER BY rowid");
    rocl_status st = merge_query(c, "sqlite_master", &sql, keep_table, NULL, err);
    c->in_schema = 0;
    return st ? st
              : rocl_new_db_exec(c->out,
                                 "PRAGMA writable_schema=ON; DELETE FROM main.sqlite_master; "
                                 "PRAGMA writable_schema=RESET",
                                 err);
}

rocl_status merge_show_tables(merge_copier *c, rocl_error *err)
{
    sqlite3 *db = rocl_new_db_handle(c->out);
    sqlite3_stmt *stmt = NULL;
    rocl_status st = rocl_new_db_exec(c->out, "PRAGMA writable_schema=ON; BEGIN", err);
    if (st != ROCL_OK)
        return st;
    int rc = sqlite3_prepare_v2(db,
                                "INSERT INTO main.sqlite_master (type, name, tbl_name, rootpage, "
                                "sql) VALUES ('table', ?1, ?1, ?2, ?3)",
                                -1, &stmt, NULL);
    rc = rc == SQLITE_OK ? SQLITE_DONE : rc;
    for (size_t i = 0; i < c->hidden_count && rc == SQLITE_DONE; i++) {
        const merge_hidden *h = &c->hidden[i];
        sqlite3_bind_text(stmt, 1, h->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 2, h->root);
        sqlite3_bind_text(stmt, 3, h->sql, -1, SQLITE_STATIC);
        rc = sqlite3_step(stmt);
        sqlite3_reset(stmt);
    }
    if (rc != SQLITE_DONE)
        st = rocl_new_db_fail(c->out, "sqlite_master", err);
    sqlite3_finalize(stmt);
    return st ? st : rocl_new_db_exec(c->out, "COMMIT", err);
}

void merge_hidden_free(merge_copier *c)
{
    for (size_t i = 0; i < c->hidden_count; i++) {
        free(c->hidden[i].name);
        free(c->hidden[i].sql);
    }
    free(c->hidden);
    c->hidden = NULL;
    c->hidden_count = c->hidden_cap = 0;
}

/* ---- views over all sets ------------------------------------------------------------------- */

/* Terms of a UNION ALL; SQLite takes 500. More sets are a union of unions. */
enum { TERMS = 400 };

/* Appends " UNION ALL SELECT ..." for the table of a set, if it has that. */
static bool put_term(merge_copier *c, rocl_buf *sql, const plan_table *t, size_t set, bool first)
{
    const plan_set *s = &c->plan->sets[set];
    if (s->first != set || !*merge_made(c, s, t))
        return false;
    rocl_buf_str(sql, first ? "SELECT " : " UNION ALL SELECT ");
    rocl_buf_str(sql, "\"id\"");
    for (size_t i = 0; i < t->count; i++) {
        rocl_buf_str(sql, ", ");
        merge_put_name(sql, t->columns[i].name);
    }
    rocl_buf_str(sql, " FROM ");
    merge_put_joined(sql, t->base, s->suffix);
    return true;
}

/* The tables of sets first to last - 1; how many there are. */
static size_t put_union(merge_copier *c, rocl_buf *sql, const plan_table *t, size_t first,
                        size_t last)
{
    size_t n = 0;
    for (size_t i = first; i < last; i++)
        n += put_term(c, sql, t, i, n == 0);
    return n;
}

static size_t put_union_of_unions(merge_copier *c, rocl_buf *sql, const plan_table *t, size_t sets)
{
    size_t n = 0;
    for (size_t i = 0; i < sets; i += TERMS) {
        rocl_buf part = {0};
        size_t some = put_union(c, &part, t, i, i + TERMS < sets ? i + TERMS : sets);
        if (some) {
            rocl_buf_str(sql, n ? " UNION ALL SELECT * FROM (" : "SELECT * FROM (");
            rocl_buf_put(sql, part.data, part.len);
            rocl_buf_byte(sql, ')');
        }
        sql->failed |= part.failed;
        rocl_buf_free(&part);
        n += some;
    }
    return n;
}

static rocl_status make_union(merge_copier *c, const plan_table *t, rocl_error *err)
{
    size_t sets = c->plan->flat ? 1 : c->plan->set_count;
    rocl_buf sql = {0};
    rocl_buf_str(&sql, "CREATE VIEW main.");
    merge_put_name(&sql, t->base);
    rocl_buf_str(&sql, " AS ");
    size_t n =
        sets <= TERMS ? put_union(c, &sql, t, 0, sets) : put_union_of_unions(c, &sql, t, sets);
    if (!n && !sql.failed) { /* nobody has such a table */
        rocl_buf_free(&sql);
        return ROCL_OK;
    }
    return merge_run(c, t->base, &sql, err);
}

/* ---- views on the data, in the words of the input ---- */

/* Nothing but a view is made, whatever the words are. */
static int only_a_view(void *ctx, int action, const char *a, const char *b, const char *db,
                       const char *trigger)
{
    (void)ctx;
    (void)b;
    (void)db;
    (void)trigger;
    bool schema = a && !strcmp(a, "sqlite_master");
    if (action == SQLITE_CREATE_VIEW || action == SQLITE_SELECT || action == SQLITE_READ ||
        ((action == SQLITE_INSERT || action == SQLITE_UPDATE) && schema))
        return SQLITE_OK;
    return SQLITE_DENY;
}

/* A view that cannot be made is left out: the tables tell everything. */
static rocl_status make_view(merge_copier *c, const plan_view *v, rocl_error *err)
{
    sqlite3 *db = rocl_new_db_handle(c->out);
    sqlite3_stmt *stmt = NULL;
    sqlite3_set_authorizer(db, only_a_view, NULL);
    int rc = sqlite3_prepare_v2(db, v->sql, -1, &stmt, NULL);
    sqlite3_set_authorizer(db, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    sqlite3_finalize(stmt);
    if (rc == SQLITE_DONE)
        return ROCL_OK;
    if (rc == SQLITE_FULL || rc == SQLITE_NOMEM)
        return rocl_new_db_fail(c->out, v->name, err);
    rocl_notice(c->plan->trace, "the view %s is left out: %s", v->name, sqlite3_errmsg(db));
    return ROCL_OK;
}

rocl_status merge_views_make(merge_copier *c, rocl_error *err)
{
    rocl_status st = rocl_new_db_exec(c->out, "BEGIN", err);
    for (size_t i = 0; i < c->plan->table_count && st == ROCL_OK; i++)
        st = make_union(c, &c->plan->tables[i], err);
    for (size_t i = 0; i < c->plan->view_count && st == ROCL_OK; i++)
        st = make_view(c, &c->plan->views[i], err);
    return st ? st : rocl_new_db_exec(c->out, "COMMIT", err);
}
