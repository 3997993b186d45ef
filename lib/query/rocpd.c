/* The tables of ROCm's databases in SQL; see rocpd.h. */
#include "query/rocpd.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/out_tree.h"
#include "base/sqlite.h"
#include "base/text.h"
#include "format/schema.h"
#include "model/identity.h"
#include "query/views.h"
#include "source/db/connection.h"
#include "source/rocpd/rocpd.h"
#include "source/rpd/rpd.h"

enum {
    FILES_MAX = 10,      /* attached at once: what SQLite is built for, as a rule */
    CACHE_KIB = 16 << 10 /* of each file */
};

/* A table of an attached file: the view that it belongs to, and its name there. */
typedef struct file_table {
    char *view, *name;
    unsigned file;
    size_t order; /* in which it was found */
} file_table;

struct rocl_rocpd_tables {
    sqlite3 *sql;
    rocl_db *files[FILES_MAX];
    unsigned count;
    bool copied; /* it is a temporary database; else the inputs are attached */
    file_table *tables;
    size_t table_count, table_capacity;
};

/* ---- when they are needed -------------------------------------------------------------------- */

static bool are_all_read_by(const rocl_trace *t, const rocl_source_ops *ops, const char *version)
{
    for (size_t i = 0; i < t->source_count; i++)
        if (t->sources[i]->ops != ops ||
            strncmp(t->sources[i]->version, version, strlen(version)) != 0)
            return false;
    return true;
}

/* Are the rows of the trace those of few files, one for one? */
static bool can_be_attached(const rocl_trace *t)
{
    for (size_t i = 0; i < t->capture_count; i++)
        if (rocl_is_renamed(&t->captures[i]->pub))
            return false;
    return t->source_count <= FILES_MAX && !t->filter && t->opt.align <= ROCL_ALIGN_NONE &&
           (are_all_read_by(t, &rocl_rocpd_ops, "") || are_all_read_by(t, &rocl_rpd_ops, ""));
}

/* The view that is to stand on the tables; NULL: as it is. */
static const char *select_on_tables(const rocl_trace *t, const rocl_query_view *v)
{
    /* What no event or definition of a trace says. */
    const bool alone = !strcmp(v->name, "stream_args");
    if (!v->on_tables || !are_all_read_by(t, &rocl_rocpd_ops, "") ||
        !(alone || (can_be_attached(t) && are_all_read_by(t, &rocl_rocpd_ops, "3"))))
        return NULL;
    size_t n;
    const schema_view *views = schema_views(&n);
    for (size_t i = 0; !*v->on_tables && i < n; i++)
        if (!strcmp(views[i].name, v->name))
            return views[i].query;
    return v->on_tables;
}

bool rocl_rocpd_is_named(const rocl_trace *t, const char *sql)
{
    for (const char *p = sql; *p;) {
        const size_t n = strspn(p, ROCL_QUERY_LETTERS);
        if (n >= 6 && !sqlite3_strnicmp(p, "rocpd_", 6))
            return true;
        for (size_t i = 0; n && i < rocl_query_view_count; i++) {
            const rocl_query_view *v = &rocl_query_views[i];
            if (v->on_tables && strlen(v->name) == n && !sqlite3_strnicmp(p, v->name, (int)n) &&
                select_on_tables(t, v))
                return true;
        }
        p += n ? n : 1;
    }
    return false;
}

/* ---- attaching ------------------------------------------------------------------------------- */

static rocl_status run_sql(const rocl_rocpd_tables *r, const char *what, rocl_error *err, char *sql)
{
    if (!sql)
        return rocl_fail_memory(err);
    const int rc = sqlite3_exec(r->sql, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return rc == SQLITE_OK ? ROCL_OK : rocl_sqlite_error(r->sql, what, err);
}

/* Adds the table to the view of its name without the ending of its set; does nothing if it is not
 * one of rocpd's. */
static rocl_status add_table(rocl_rocpd_tables *r, const rocpd_found *found, const char *table,
                             rocl_error *err)
{
    const size_t len = strlen(table);
    const char *suffix = NULL;
    for (size_t i = 0; i < found->count; i++) {
        const size_t n = strlen(found->suffixes[i]);
        if (len > n && !strcmp(table + len - n, found->suffixes[i]) &&
            (!suffix || n > strlen(suffix)))
            suffix = found->suffixes[i];
    }
    if (!suffix || strncmp(table, "rocpd_", 6) != 0)
        return ROCL_OK;
    if (!ROCL_GROW(r->tables, r->table_capacity, r->table_count + 1))
        return rocl_fail_memory(err);
    file_table *p = &r->tables[r->table_count];
    *p =
        (file_table){strndup(table, len - strlen(suffix)), strdup(table), r->count, r->table_count};
    r->table_count++;
    return p->view && p->name ? ROCL_OK : rocl_fail_memory(err);
}

/* Takes the database over. */
static rocl_status attach_file(rocl_rocpd_tables *r, rocl_db *db, rocl_error *err)
{
    rocpd_found found = {0};
    char *uri = rocl_db_uri(db);
    rocl_status st = uri ? run_sql(r, db->name, err,
                                   sqlite3_mprintf("ATTACH %Q AS rocpd%u; "
                                                   "PRAGMA rocpd%u.cache_size = -%d",
                                                   uri, r->count, r->count, CACHE_KIB))
                         : rocl_fail_memory(err);
    free(uri);
    if (st == ROCL_OK)
        st = rocpd_find(&found, db, db->name, err);
    for (size_t i = 0; i < found.object_count && st == ROCL_OK; i++)
        if (!found.objects[i].is_view)
            st = add_table(r, &found, found.objects[i].name, err);
    rocpd_found_free(&found);
    r->files[r->count++] = db;
    return st;
}

/* The trace as a database in the folder of temporary files, which has no name from then on. */
static rocl_status attach_copy(rocl_rocpd_tables *r, rocl_trace *t, rocl_error *err)
{
    char *path = NULL;
    rocl_db *db = NULL;
    rocl_out_tree *tree = NULL;
    rocl_status st = rocl_out_tree_open(&tree, rocl_temp_folder(t->opt.tmpdir), err);
    r->copied = true;
    if (st == ROCL_OK && !(path = rocl_new_text("%s/trace.db", rocl_out_tree_path(tree))))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        const rocl_rocpd_options o = {.path = path, .keep_environment = true};
        rocl_notice(t, "the tables of rocpd are those of a temporary database of the inputs");
        st = rocl_write_rocpd(t, &o, NULL, err);
        st = st == ROCL_PARTIAL ? ROCL_OK : st; /* said at the end of the statements */
    }
    if (st == ROCL_OK)
        st = rocl_db_open(&db, &(rocl_db_options){.path = path}, err);
    if (st == ROCL_OK)
        st = attach_file(r, db, err);
    rocl_out_tree_discard(tree);
    free(path);
    return st;
}

/* ---- views over the table sets --------------------------------------------------------------- */

static int compare_tables(const void *a, const void *b)
{
    const file_table *x = a, *y = b;
    const int order = strcmp(x->view, y->view);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Names of columns, each once, in the order in which they come. */
typedef struct column_names {
    char **names;
    size_t count, capacity;
} column_names;

static bool has_name(const column_names *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++)
        if (!sqlite3_stricmp(c->names[i], name))
            return true;
    return false;
}

static void free_names(column_names *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->names[i]);
    free(c->names);
    *c = (column_names){0};
}

static rocl_status add_names(const rocl_rocpd_tables *r, column_names *c, const file_table *p,
                             rocl_error *err)
{
    sqlite3_stmt *s = NULL;
    char *sql = sqlite3_mprintf("PRAGMA rocpd%u.table_info(%Q)", p->file, p->name);
    if (!sql)
        return rocl_fail_memory(err);
    int rc = sqlite3_prepare_v2(r->sql, sql, -1, &s, NULL);
    rocl_status st = ROCL_OK;
    while (rc == SQLITE_OK && st == ROCL_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 1);
        rc = SQLITE_OK;
        if (!name) {
            st = rocl_fail_memory(err);
            break;
        }
        if (has_name(c, name))
            continue;
        if (!ROCL_GROW(c->names, c->capacity, c->count + 1) || !(c->names[c->count] = strdup(name)))
            st = rocl_fail_memory(err);
        else
            c->count++;
    }
    if (st == ROCL_OK && rc != SQLITE_DONE)
        st = rocl_sqlite_error(r->sql, p->name, err);
    sqlite3_finalize(s);
    sqlite3_free(sql);
    return st;
}

/* The rows of all of them; a column that one of them lacks is NULL there. */
static rocl_status create_union(const rocl_rocpd_tables *r, const file_table *tables, size_t n,
                                rocl_error *err)
{
    column_names all = {0};
    sqlite3_str *sql = sqlite3_str_new(r->sql);
    sqlite3_str_appendf(sql, "DROP VIEW IF EXISTS temp.\"%w\"; CREATE TEMP VIEW \"%w\" AS",
                        tables->view, tables->view);
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < n && st == ROCL_OK; i++)
        st = add_names(r, &all, &tables[i], err);
    for (size_t i = 0; i < n && st == ROCL_OK; i++) {
        column_names own = {0};
        st = add_names(r, &own, &tables[i], err);
        sqlite3_str_appendall(sql, i ? " UNION ALL SELECT" : " SELECT");
        for (size_t k = 0; k < all.count; k++)
            sqlite3_str_appendf(sql,
                                has_name(&own, all.names[k]) ? "%s \"%w\"" : "%s NULL AS \"%w\"",
                                k ? "," : "", all.names[k]);
        sqlite3_str_appendf(sql, " FROM rocpd%u.\"%w\"", tables[i].file, tables[i].name);
        free_names(&own);
    }
    free_names(&all);
    char *text = sqlite3_str_finish(sql);
    if (st == ROCL_OK)
        return run_sql(r, tables->view, err, text);
    sqlite3_free(text);
    return st;
}

/* Tables of schema 3 that no file has are empty. */
static rocl_status create_missing(const rocl_rocpd_tables *r, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (schema_table t = 0; t < SCHEMA_TABLES && st == ROCL_OK; t++) {
        size_t n;
        const schema_column *c = schema_columns_of(t, &n);
        bool wanted = schema_is_base(t);
        for (size_t i = 0; i < r->table_count && wanted; i++)
            wanted = strcmp(r->tables[i].view, schema_table_name(t)) != 0;
        if (!wanted)
            continue;
        char *sql = sqlite3_mprintf("DROP VIEW IF EXISTS temp.%s; "
                                    "CREATE TEMP VIEW %s AS SELECT NULL AS id",
                                    schema_table_name(t), schema_table_name(t));
        for (size_t i = 0; i < n; i++)
            if (c[i].base)
                sql = sqlite3_mprintf("%z, NULL AS \"%w\"", sql, c[i].name);
        st = run_sql(r, schema_table_name(t), err, sqlite3_mprintf("%z WHERE 0", sql));
    }
    return st;
}

/* ---- open and close -------------------------------------------------------------------------- */

rocl_status rocl_rocpd_open(rocl_rocpd_tables **out, sqlite3 *db, rocl_trace *t, rocl_error *err)
{
    rocl_rocpd_tables *r = *out = calloc(1, sizeof *r);
    rocl_status st = ROCL_OK;
    if (!r)
        return rocl_fail_memory(err);
    r->sql = db;
    if (sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", NULL, NULL, NULL) != SQLITE_OK)
        st = rocl_sqlite_error(db, "locking_mode", err);
    if (st == ROCL_OK && !can_be_attached(t))
        st = attach_copy(r, t, err);
    for (size_t i = 0; can_be_attached(t) && i < t->source_count && st == ROCL_OK; i++) {
        const rocl_source *s = t->sources[i];
        const rocpd_file *state = s->ops == &rocl_rocpd_ops ? s->state : NULL;
        rocl_db *file = NULL;
        st = rocl_source_connect(&file, t, s, state ? &state->state : NULL, err);
        if (st == ROCL_OK)
            st = attach_file(r, file, err);
    }
    if (r->table_count)
        qsort(r->tables, r->table_count, sizeof *r->tables, compare_tables);
    for (size_t i = 0, end; i < r->table_count && st == ROCL_OK; i = end) {
        for (end = i + 1; end < r->table_count && !strcmp(r->tables[end].view, r->tables[i].view);)
            end++;
        st = create_union(r, &r->tables[i], end - i, err);
    }
    if (st == ROCL_OK && !are_all_read_by(t, &rocl_rpd_ops, ""))
        st = create_missing(r, err);
    for (size_t i = 0; i < rocl_query_view_count && st == ROCL_OK; i++) {
        const char *name = rocl_query_views[i].name;
        const char *select = select_on_tables(t, &rocl_query_views[i]);
        if (select)
            st = run_sql(r, name, err,
                         sqlite3_mprintf("DROP VIEW IF EXISTS temp.%s; "
                                         "CREATE TEMP VIEW %s AS %s",
                                         name, name, select));
    }
    if (st == ROCL_OK)
        return st;
    for (unsigned i = 0; i < r->count; i++)
        run_sql(r, "DETACH", NULL, sqlite3_mprintf("DETACH rocpd%u", i));
    rocl_rocpd_free(r);
    *out = NULL;
    return st;
}

void rocl_rocpd_free(rocl_rocpd_tables *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++)
        rocl_db_close(r->files[i]);
    for (size_t i = 0; i < r->table_count; i++) {
        free(r->tables[i].view);
        free(r->tables[i].name);
    }
    free(r->tables);
    free(r);
}

rocl_status rocl_rocpd_check(const rocl_rocpd_tables *r, const rocl_trace *t, rocl_status st,
                             rocl_error *err)
{
    for (size_t i = 0; r && !r->copied && i < r->count && st == ROCL_OK; i++)
        st = rocl_db_check_unchanged(r->files[i], err);
    return rocl_sources_explain(t, st, err);
}
