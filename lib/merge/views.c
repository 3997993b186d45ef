/* The views of a database of rocpd: one per table, over all sets, and those on the data. */
#include <stdio.h>

#include "merge/copier.h"

/* Terms of a UNION ALL; SQLite takes 500. More sets are a union of unions. */
enum { TERMS = 400 };

static void put_columns(rocl_buf *sql, const plan_table *t)
{
    rocl_buf_str(sql, "\"id\"");
    for (size_t i = 0; i < t->count; i++) {
        rocl_buf_str(sql, ", ");
        merge_put_name(sql, t->columns[i].name);
    }
}

/* Appends " UNION ALL SELECT ..." for the table of a set, if it has that. */
static bool put_term(merge_copier *c, rocl_buf *sql, const plan_table *t, size_t set, bool first)
{
    const plan_set *s = &c->plan->sets[set];
    rocl_buf name = {0};
    if (s->first != set || !*merge_made(c, s, t))
        return false;
    rocl_buf_str(&name, t->base);
    rocl_buf_str(&name, s->suffix);
    rocl_buf_byte(&name, 0);
    rocl_buf_str(sql, first ? "SELECT " : " UNION ALL SELECT ");
    put_columns(sql, t);
    rocl_buf_str(sql, " FROM ");
    merge_put_name(sql, name.failed ? "" : (const char *)name.data);
    sql->failed |= name.failed;
    rocl_buf_free(&name);
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
