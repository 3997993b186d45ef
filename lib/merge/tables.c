/* The tables of the output: those of a set are made and filled; those of sets that are done are
 * hidden from SQLite, which searches the whole schema whenever a table is made. Then the views over
 * all. */
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
    return c->set->fresh ? NULL : merge_set_table(&c->reader->set, base);
}

/* A table that is not there makes no reference to it wrong; an empty one would. */
static bool is_wanted(const merge_copier *c, const plan_table *t)
{
    bool strings = t->table == SCHEMA_STRING && c->categories.count;
    return c->plan->flat || t->table < SCHEMA_OTHER || t->table == SCHEMA_METADATA || strings ||
           (c->set->fresh ? schema_is_base(t->table) : find_source(c, t->base) != NULL);
}

rocl_status merge_create_tables(merge_copier *c, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < c->plan->table_count && st == ROCL_OK; i++) {
        const plan_table *t = &c->plan->tables[i];
        if (!is_wanted(c, t) || *merge_made(c, c->set, t))
            continue;
        sqlite3_str *sql = sqlite3_str_new(NULL);
        *merge_made(c, c->set, t) = true;
        c->in_schema++;
        sqlite3_str_appendf(sql, "CREATE TABLE main.\"%w%w\" (\"id\" INTEGER NOT NULL PRIMARY KEY",
                            t->base, c->set->suffix);
        /* Declared as in the input, which lets SQLite copy records without a look at them. */
        for (size_t k = 0; k < t->count; k++) {
            const plan_column *column = &t->columns[k];
            schema_table refers = schema_refers_to(t->table, column->name);
            const merge_source *own = c->plan->flat ? NULL : find_source(c, t->base);
            const merge_field *field = merge_source_field(own, column->name);
            const plan_table *parent = refers == SCHEMA_OTHER
                                           ? NULL
                                           : merge_plan_table(c->plan, schema_table_name(refers));
            sqlite3_str_appendf(sql, ", \"%w\" ", column->name);
            if (field || strcmp(column->name, "guid") != 0)
                sqlite3_str_appendall(sql, field ? field->declared : column->declared);
            else
                sqlite3_str_appendf(sql, "TEXT DEFAULT %Q", c->set->guid);
            if (parent && is_wanted(c, parent))
                sqlite3_str_appendf(sql, " REFERENCES \"%w%w\" (\"id\") ON UPDATE CASCADE",
                                    parent->base, c->set->suffix);
            if (c->plan->flat && t->table == SCHEMA_STRING && !strcmp(column->name, "string"))
                sqlite3_str_appendall(sql, " UNIQUE");
        }
        sqlite3_str_appendchar(sql, 1, ')');
        st = merge_query(c, t->base, sql, NULL, NULL, err);
    }
    return st;
}

/* ---- rows ---- */

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
                     "%s: table %s: row %lld differs from that of an earlier slice: the slices are "
                     "not from one run of --split",
                     c->set->capture->path, s->name, sqlite3_column_int64(row, 0));
}

/* Rows that several slices have are the same in all of them. */
static rocl_status compare_rows(merge_copier *c, const merge_source *s, const plan_table *t,
                                rocl_error *err)
{
    const char *id = merge_id_of(s);
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "SELECT %s", id);
    merge_put_from(c, sql, s);
    sqlite3_str_appendf(sql, " CROSS JOIN main.\"%w%w\" AS M ON M.\"id\" = %s WHERE NOT (1",
                        t->base, c->set->suffix, id);
    for (size_t i = 0; i < t->count; i++) {
        sqlite3_str_appendf(sql, " AND M.\"%w\" IS ", t->columns[i].name);
        merge_put_value(c, sql, s, &t->columns[i]);
    }
    sqlite3_str_appendall(sql, ") LIMIT 1");
    return merge_query(c, s->name, sql, fail_differing_row, (void *)(uintptr_t)s, err);
}

static rocl_status copy_table(merge_copier *c, const merge_source *s, const plan_table *t,
                              rocl_error *err)
{
    const char *why, *id = merge_id_of(s), *suffix = c->set->suffix;
    const bool flat = c->plan->flat, joins = merge_joins(c);
    int64_t first, last;
    bool any = false;
    rocl_status st = ROCL_OK;
    if (s->table <= SCHEMA_EVENT && s->table != SCHEMA_OTHER)
        st = rocl_db_id_range(c->reader->db, s->name, &first, &last, &any, err);
    if (st == ROCL_OK && joins)
        st = compare_rows(c, s, t, err);
    if (st == ROCL_OK)
        st = rocl_rows_why(c->reader->db, s->name, &why, err);
    if (st != ROCL_OK)
        return st;
    /* Plain: records are copied without a look at their columns. Where the reader does not read
     * their pages itself and so check them (`why`), SQLite has to look. */
    bool plain = !flat && !c->selection && same_columns(s, t) && !why && !joins;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "INSERT %sINTO main.\"%w%w\" SELECT ",
                        flat && t->table == SCHEMA_NODE ? "OR IGNORE " : "", t->base, suffix);
    if (!flat)
        sqlite3_str_appendall(sql, id);
    else if (merge_source_field(s, "id"))
        sqlite3_str_appendf(sql, "rocl_new(%d, %s)", (int)s->table, id);
    else
        sqlite3_str_appendall(sql, "NULL"); /* nothing refers to it */
    for (size_t i = 0; i < t->count; i++) {
        sqlite3_str_appendall(sql, ", ");
        plain &= merge_put_value(c, sql, s, &t->columns[i]);
    }
    merge_put_from(c, sql, s);
    if (joins) /* whole slices: they are joined before a trace is filtered */
        sqlite3_str_appendf(sql,
                            " WHERE NOT EXISTS (SELECT 1 FROM main.\"%w%w\" AS M "
                            "WHERE M.\"id\" = %s)",
                            t->base, suffix, id);
    else
        merge_put_where(c, sql, s);
    if (plain) { /* SQLite has a fast way for exactly this */
        sqlite3_str_reset(sql);
        sqlite3_str_appendf(sql, "INSERT INTO main.\"%w%w\" SELECT * FROM src%d.\"%w\"", t->base,
                            suffix, merge_src_number(c), s->name);
    }
    c->left = any ? (uint64_t)last - (uint64_t)first + 1 : 0;
    c->per_tick = TICK / (plain ? STEPS_PER_RECORD : s->count + STEPS_PER_ROW);
    st = merge_query(c, s->name, sql, NULL, NULL, err);
    c->rows += st == ROCL_OK ? (uint64_t)sqlite3_changes64(rocl_new_db_handle(c->out)) : 0;
    rocl_progress(c->plan->trace, c->left);
    return st;
}

rocl_status merge_copy_tables(merge_copier *c, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (c->plan->trace->opt.progress)
        sqlite3_progress_handler(rocl_new_db_handle(c->out), TICK, report_progress, c);
    for (size_t i = 0; i < c->plan->table_count && st == ROCL_OK; i++) {
        const plan_table *t = &c->plan->tables[i];
        const merge_source *s = merge_set_table(&c->reader->set, t->base);
        bool done = t->table == SCHEMA_METADATA || (c->plan->flat && t->table == SCHEMA_STRING);
        if (s && !done)
            st = copy_table(c, s, t, err);
    }
    return st;
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
    rocl_status st = merge_ask(c, "sqlite_master", keep_table, NULL, err,
                               "SELECT name, rootpage, sql FROM main.sqlite_master ORDER BY rowid");
    c->in_schema = 0;
    /* With WHERE: without it SQLite 3.37 clears the page as a whole, and calls it malformed. */
    return st ? st
              : rocl_new_db_exec(c->out,
                                 "PRAGMA writable_schema=ON; "
                                 "DELETE FROM main.sqlite_master WHERE true; "
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

void merge_free_hidden(merge_copier *c)
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

static rocl_status make_union(merge_copier *c, const plan_table *t, rocl_error *err)
{
    const size_t sets = c->plan->flat ? 1 : c->plan->set_count;
    const bool nested = sets > TERMS;
    size_t terms = 0, group = 0; /* in all, and in the union at hand */
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "CREATE VIEW main.\"%w\" AS ", t->base);
    for (size_t i = 0; i < sets; i++) {
        const plan_set *s = &c->plan->sets[i];
        if (i % TERMS == 0 && group) {
            sqlite3_str_appendchar(sql, 1, ')');
            group = 0;
        }
        if (s->first != i || !*merge_made(c, s, t))
            continue;
        sqlite3_str_appendall(sql, terms ? " UNION ALL " : "");
        sqlite3_str_appendall(sql, nested && !group ? "SELECT * FROM (" : "");
        sqlite3_str_appendall(sql, "SELECT \"id\"");
        for (size_t k = 0; k < t->count; k++)
            sqlite3_str_appendf(sql, ", \"%w\"", t->columns[k].name);
        sqlite3_str_appendf(sql, " FROM \"%w%w\"", t->base, s->suffix);
        terms++;
        group++;
    }
    if (nested && group)
        sqlite3_str_appendchar(sql, 1, ')');
    if (!terms && sqlite3_str_errcode(sql) == SQLITE_OK) { /* no input has such a table */
        sqlite3_free(sqlite3_str_finish(sql));
        return ROCL_OK;
    }
    return merge_query(c, t->base, sql, NULL, NULL, err);
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

rocl_status merge_make_views(merge_copier *c, rocl_error *err)
{
    sqlite3 *db = rocl_new_db_handle(c->out);
    rocl_status st = rocl_new_db_exec(c->out, "BEGIN", err);
    for (size_t i = 0; i < c->plan->table_count && st == ROCL_OK; i++)
        st = make_union(c, &c->plan->tables[i], err);
    for (size_t i = 0; i < c->plan->view_count && st == ROCL_OK; i++) {
        const plan_view *v = &c->plan->views[i];
        sqlite3_stmt *stmt = NULL;
        sqlite3_set_authorizer(db, only_a_view, NULL);
        int rc = sqlite3_prepare_v2(db, v->sql, -1, &stmt, NULL);
        sqlite3_set_authorizer(db, NULL, NULL);
        if (rc == SQLITE_OK)
            rc = sqlite3_step(stmt);
        sqlite3_finalize(stmt);
        if (rc == SQLITE_FULL || rc == SQLITE_NOMEM)
            st = rocl_new_db_fail(c->out, v->name, err);
        else if (rc != SQLITE_DONE) /* the tables hold everything */
            rocl_notice(c->plan->trace, "the view %s is left out: %s", v->name, sqlite3_errmsg(db));
    }
    return st ? st : rocl_new_db_exec(c->out, "COMMIT", err);
}
