#include "merge/copier.h"

#include <stdlib.h>

#include "source/db_sqlite.h"

enum {
    SCHEMA_MAX = 1000, /* tables in the schema before they are hidden */
    TICK = 20000,      /* steps of SQLite's machine between calls for progress */
    STEPS_PER_ROW = 8  /* that a row takes beside one for each column */
};

/* ---- statements ---- */

static rocl_status failed(merge_copier *c, const char *table, rocl_error *err)
{
    char what[512];
    sqlite3_snprintf(sizeof what, what, "%s: table %s", c->set ? c->set->capture->path : "", table);
    return rocl_new_db_fail(c->out, what, err);
}

rocl_status merge_query(merge_copier *c, const char *table, rocl_buf *sql, merge_row_fn *fn,
                        void *ctx, rocl_error *err)
{
    sqlite3 *db = rocl_new_db_handle(c->out);
    sqlite3_stmt *row = NULL;
    rocl_status st = ROCL_OK;
    rocl_buf_byte(sql, 0);
    int rc = sql->failed ? SQLITE_NOMEM
                         : sqlite3_prepare_v2(db, (const char *)sql->data, -1, &row, NULL);
    bool failed_memory = sql->failed;
    rocl_buf_free(sql);
    if (failed_memory)
        return rocl_fail_memory(err);
    while (rc == SQLITE_OK && st == ROCL_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        st = fn ? fn(c, row, ctx, err) : ROCL_OK;
        rc = SQLITE_OK;
    }
    if (st == ROCL_OK && rc != SQLITE_DONE)
        st = failed(c, table, err);
    sqlite3_finalize(row);
    return st;
}

rocl_status merge_run(merge_copier *c, const char *table, rocl_buf *sql, rocl_error *err)
{
    return merge_query(c, table, sql, NULL, NULL, err);
}

void merge_put_source(rocl_buf *sql, const merge_source *s)
{
    rocl_buf_str(sql, "src.");
    merge_put_name(sql, s->name);
}

static void put_joined(rocl_buf *sql, const char *a, const char *b)
{
    rocl_buf name = {0};
    rocl_buf_str(&name, a);
    rocl_buf_str(&name, b);
    rocl_buf_byte(&name, 0);
    if (name.failed)
        sql->failed = true;
    else
        merge_put_name(sql, (const char *)name.data);
    rocl_buf_free(&name);
}

void merge_put_target(const merge_copier *c, rocl_buf *sql, const char *base)
{
    rocl_buf_str(sql, "main.");
    put_joined(sql, base, c->set->suffix);
}

/* ---- tables ---- */

static bool has_own_default(const merge_copier *c, const char *base, const char *column,
                            const char **declared)
{
    const merge_source *s = c->plan->flat ? NULL : merge_set_table(&c->reader.set, base);
    const merge_field *f = s ? merge_source_field(s, column) : NULL;
    if (f)
        *declared = f->declared;
    return f;
}

/* A table that is not there makes no reference to it wrong; an empty one would. */
static bool is_wanted(const merge_copier *c, const plan_table *t)
{
    return c->plan->flat || t->table < MERGE_OTHER || t->table == MERGE_METADATA ||
           merge_set_table(&c->reader.set, t->base);
}

/* Declared as in the input, which lets SQLite copy records without a look at them. */
static void put_column(const merge_copier *c, rocl_buf *sql, const plan_table *t,
                       const plan_column *column)
{
    merge_table refers = merge_refers_to(t->table, column->name);
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
        refers == MERGE_OTHER ? NULL : merge_plan_table(c->plan, merge_table_name(refers));
    if (parent && is_wanted(c, parent)) {
        rocl_buf_str(sql, " REFERENCES ");
        put_joined(sql, merge_table_name(refers), c->set->suffix);
        rocl_buf_str(sql, " (\"id\") ON UPDATE CASCADE");
    }
    if (c->plan->flat && t->table == MERGE_STRING && !strcmp(column->name, "string"))
        rocl_buf_str(sql, " UNIQUE");
}

static rocl_status create_tables(merge_copier *c, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < c->plan->table_count && st == ROCL_OK; i++) {
        const plan_table *t = &c->plan->tables[i];
        rocl_buf sql = {0};
        if (!is_wanted(c, t))
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
    if (!merge_source_field(s, "id")) {
        rocl_buf_str(sql, c->plan->flat ? "NULL" : "S.rowid");
    } else if (c->plan->flat) {
        sqlite3_snprintf(sizeof number, number, "rocl_new(%d, S.\"id\")", (int)s->table);
        rocl_buf_str(sql, number);
    } else {
        rocl_buf_str(sql, "S.\"id\"");
    }
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

static void put_copy(const merge_copier *c, rocl_buf *sql, const merge_source *s,
                     const plan_table *t)
{
    rocl_buf values = {0};
    bool plain = put_values(c, &values, s, t);
    rocl_buf_byte(&values, 0);
    sql->failed |= values.failed;
    rocl_buf_str(sql, c->plan->flat && t->table == MERGE_NODE ? "INSERT OR IGNORE INTO "
                                                              : "INSERT INTO ");
    merge_put_target(c, sql, t->base);
    if (plain) { /* SQLite has a fast way for exactly this */
        rocl_buf_str(sql, " SELECT * FROM ");
        merge_put_source(sql, s);
    } else if (!sql->failed) {
        rocl_buf_str(sql, " SELECT ");
        rocl_buf_str(sql, (const char *)values.data);
        merge_put_from(c, sql, s);
        merge_put_where(c, sql, s);
    }
    rocl_buf_free(&values);
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
    if (s->table <= MERGE_EVENT && s->table != MERGE_OTHER)
        st = rocl_db_id_range(c->reader.db, s->name, &first, &last, &any, err);
    c->left = any ? (uint64_t)last - (uint64_t)first + 1 : 0;
    c->per_tick = TICK / (s->count + STEPS_PER_ROW);
    return st;
}

static rocl_status copy_table(merge_copier *c, const merge_source *s, const plan_table *t,
                              rocl_error *err)
{
    rocl_buf sql = {0};
    rocl_status st = expect_rows(c, s, err);
    if (st != ROCL_OK)
        return st;
    put_copy(c, &sql, s, t);
    st = merge_run(c, s->name, &sql, err);
    c->rows += st == ROCL_OK ? (uint64_t)sqlite3_changes64(rocl_new_db_handle(c->out)) : 0;
    rocl_progress(c->plan->trace, c->left);
    return st;
}

static rocl_status copy_tables(merge_copier *c, rocl_error *err)
{
    const merge_set *set = &c->reader.set;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < c->plan->table_count && st == ROCL_OK; i++) {
        const plan_table *t = &c->plan->tables[i];
        const merge_source *s = merge_set_table(set, t->base);
        bool done = t->table == MERGE_METADATA || (c->plan->flat && t->table == MERGE_STRING);
        if (s && !done)
            st = copy_table(c, s, t, err);
    }
    return st;
}

/* ---- metadata ---- */

static rocl_status add_tag(merge_copier *c, const char *tag, const char *value, rocl_error *err)
{
    rocl_buf sql = {0};
    rocl_buf_str(&sql, "INSERT INTO ");
    merge_put_target(c, &sql, merge_table_name(MERGE_METADATA));
    rocl_buf_str(&sql, " (\"tag\", \"value\") VALUES (");
    merge_put_text(&sql, tag);
    rocl_buf_str(&sql, ", ");
    merge_put_text(&sql, value);
    rocl_buf_str(&sql, ")");
    return merge_run(c, merge_table_name(MERGE_METADATA), &sql, err);
}

static const char *version_of(const merge_copier *c)
{
    const merge_set *set = &c->reader.set;
    bool own = set->version && *set->version > '3' && !set->by_track && !c->plan->flat;
    return own ? set->version : c->plan->version;
}

static rocl_status add_names(merge_copier *c, rocl_error *err)
{
    rocl_status st = add_tag(c, "schema_version", version_of(c), err);
    if (st == ROCL_OK)
        st = add_tag(c, "uuid", c->set->suffix, err);
    return st ? st : add_tag(c, "guid", c->set->guid, err);
}

/* What else somebody has noted. */
static rocl_status copy_metadata(merge_copier *c, rocl_error *err)
{
    const merge_source *s = merge_set_table(&c->reader.set, merge_table_name(MERGE_METADATA));
    rocl_buf sql = {0};
    if (!s || !merge_source_field(s, "tag") || !merge_source_field(s, "value"))
        return ROCL_OK;
    rocl_buf_str(&sql, "INSERT INTO ");
    merge_put_target(c, &sql, s->base);
    rocl_buf_str(&sql, " (\"tag\", \"value\") SELECT S.\"tag\", S.\"value\" FROM ");
    merge_put_source(&sql, s);
    rocl_buf_str(&sql, " AS S WHERE S.\"tag\" NOT IN ('schema_version', 'uuid', 'guid') "
                       "ORDER BY S.\"id\"");
    return merge_run(c, s->name, &sql, err);
}

/* ---- sets ---- */

static rocl_status attach(merge_copier *c, rocl_error *err)
{
    char *uri = rocl_db_uri(c->reader.db);
    rocl_buf sql = {0};
    if (!uri)
        return rocl_fail_memory(err);
    rocl_buf_str(&sql, "ATTACH ");
    merge_put_text(&sql, uri);
    rocl_buf_str(&sql, " AS src");
    free(uri);
    rocl_status st = merge_run(c, "sqlite_master", &sql, err);
    c->attached = st == ROCL_OK;
    return st;
}

static rocl_status detach(merge_copier *c, rocl_error *err)
{
    if (!c->attached)
        return ROCL_OK;
    c->attached = false;
    return rocl_new_db_exec(c->out, "DETACH src", err);
}

static const plan_set *set_of(const merge_plan *p, const rocl_capture *capture)
{
    for (size_t i = 0; i < p->set_count; i++)
        if (p->sets[i].capture == capture)
            return &p->sets[i];
    return NULL;
}

static void forget_set(merge_copier *c)
{
    merge_number_next(c);
    for (merge_table t = 0; t < MERGE_TABLES; t++)
        merge_ids_free(&c->used[t]);
    rocl_map_free(&c->counters);
    c->counters = (rocl_map){0};
    merge_categories_free(&c->categories);
}

static rocl_status copy_set(merge_copier *c, rocl_error *err)
{
    bool first = c->set == c->plan->sets;
    rocl_status st;
    if ((!c->plan->flat || first) && ((st = create_tables(c, err)) || (st = add_names(c, err))))
        return st;
    if ((st = merge_categories_read(c, err)) || (c->selection && (st = merge_mark(c, err))) ||
        (c->plan->flat && (st = merge_number_set(c, err))) || (st = copy_tables(c, err)) ||
        (st = merge_categories_write(c, err)))
        return st;
    return copy_metadata(c, err);
}

static rocl_status open_input(merge_copier *c, const rocl_capture *capture, rocl_error *err)
{
    rocl_trace *t = c->plan->trace;
    bool file;
    if (c->reader.source && c->reader.source != t->captures[capture->index]->source) {
        rocl_status st = detach(c, err);
        if (st != ROCL_OK)
            return st;
    }
    rocl_status st = merge_reader_to(&c->reader, t, capture, &file, err);
    return st == ROCL_OK && file ? attach(c, err) : st;
}

rocl_status merge_copier_add(merge_copier *c, const rocl_capture *capture,
                             merge_selection *selection, rocl_error *err)
{
    c->set = set_of(c->plan, capture);
    c->selection = selection;
    if (!c->set)
        return ROCL_OK;
    rocl_status st = open_input(c, capture, err);
    if (st == ROCL_OK)
        st = rocl_new_db_exec(c->out, "BEGIN", err);
    if (st == ROCL_OK)
        st = copy_set(c, err);
    if (st == ROCL_OK)
        st = rocl_new_db_exec(c->out, "COMMIT", err);
    if (st == ROCL_OK && !c->plan->flat && c->in_schema > SCHEMA_MAX)
        st = merge_hide_tables(c, err);
    forget_set(c);
    return st;
}

rocl_status merge_copier_begin(merge_copier *c, const merge_plan *plan, rocl_new_db *out,
                               rocl_error *err)
{
    c->plan = plan;
    c->out = out;
    c->made = calloc(plan->set_count * plan->table_count + 1, sizeof *c->made);
    if (!c->made)
        return rocl_fail_memory(err);
    /* Inputs are attached without locks, for which theirs must be exclusive. */
    rocl_status st = rocl_new_db_exec(out, "PRAGMA locking_mode=EXCLUSIVE", err);
    if (st == ROCL_OK && plan->trace->opt.progress)
        sqlite3_progress_handler(rocl_new_db_handle(out), TICK, tick, c);
    return st ? st : merge_functions_add(c, err);
}

rocl_status merge_copier_end(merge_copier *c, rocl_error *err)
{
    rocl_status st = detach(c, err);
    rocl_status closed = merge_reader_close(&c->reader, st == ROCL_OK ? err : NULL);
    st = st ? st : closed;
    if (st == ROCL_OK && !c->plan->flat)
        st = merge_hide_tables(c, err);
    if (st == ROCL_OK)
        st = merge_views_make(c, err);
    return st || c->plan->flat ? st : merge_show_tables(c, err);
}

void merge_copier_free(merge_copier *c)
{
    forget_set(c);
    merge_hidden_free(c);
    free(c->made);
    if (c->out)
        detach(c, NULL);
    merge_reader_close(&c->reader, NULL);
    *c = (merge_copier){0};
}
