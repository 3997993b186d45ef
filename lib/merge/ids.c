/* Ids of the rows of a set: which ones the events selected use, what they are in a flat set, and
 * the categories of schema 4, which are strings in schema 3. */
#include <stdio.h>
#include <stdlib.h>

#include "merge/copier.h"

/* ---- what the events selected use ---------------------------------------------------------- */

/* One pass over their rows, then over those that these refer to, in the order of schema_table, so
 * that every row is marked before its own references are followed. */

/* "rocl_use(...), ..." for the references of a row that need to be followed; false: there are none.
 */
static bool put_uses(const merge_copier *c, rocl_buf *sql, const merge_source *s)
{
    bool any = false;
    for (size_t i = 0; i < s->count; i++) {
        const char *name = s->fields[i].name;
        schema_table t = schema_refers_to(s->table, name);
        char call[64];
        if (!s->fields[i].is_declared || schema_rule_of(t) != SCHEMA_USED)
            continue;
        bool mapped = c->categories.count && s->table == SCHEMA_EVENT && t == SCHEMA_STRING;
        snprintf(call, sizeof call, "%srocl_use(%d, %s", any ? ", " : "", (int)t,
                 mapped ? "rocl_category(S." : "S.");
        rocl_buf_str(sql, call);
        merge_put_name(sql, name);
        rocl_buf_str(sql, mapped ? "))" : ")");
        any = true;
    }
    return any;
}

static rocl_status mark_table(merge_copier *c, const merge_source *s, rocl_error *err)
{
    rocl_buf sql = {0};
    rocl_buf_str(&sql, "SELECT ");
    if (!put_uses(c, &sql, s)) {
        rocl_buf_free(&sql);
        return ROCL_OK;
    }
    rocl_buf_str(&sql, " FROM ");
    merge_put_source(&sql, s);
    rocl_buf_str(&sql, " AS S NOT INDEXED");
    merge_put_where(c, &sql, s);
    return merge_query(c, s->name, &sql, NULL, NULL, err);
}

rocl_status merge_mark(merge_copier *c, rocl_error *err)
{
    const merge_set *set = &c->reader.set;
    const rocl_capture *capture = c->set->capture;
    rocl_status st = ROCL_OK;
    for (uint32_t i = 0; i < capture->counter_count; i++)
        if (!rocl_map_put(&c->counters, (uint64_t)capture->counters[i].id, i))
            return rocl_fail_memory(err);
    for (schema_table t = 0; t < SCHEMA_TABLES && st == ROCL_OK; t++)
        for (size_t i = 0; i < set->count && st == ROCL_OK; i++)
            if (set->tables[i].table == t)
                st = mark_table(c, &set->tables[i], err);
    return st;
}

/* ---- ids of a flat set --------------------------------------------------------------------- */

/* A table of definitions has few and sparse ones: each is given the next number. The ids of a table
 * of events are moved behind those of the sets before. */

static rocl_status put_number(merge_copier *c, schema_table t, int64_t old, int64_t fresh,
                              rocl_error *err)
{
    if (fresh > UINT32_MAX)
        return rocl_fail(err, ROCL_INPUT, "%s: too many rows for one flat set: %s",
                         c->set->capture->path, schema_table_name(t));
    return rocl_map_put(&c->numbers[t].ids, (uint64_t)old, (uint32_t)fresh) ? ROCL_OK
                                                                            : rocl_fail_memory(err);
}

static rocl_status number_row(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
{
    schema_table t = *(schema_table *)ctx;
    bool known = sqlite3_column_type(row, 1) != SQLITE_NULL; /* the same row came from before */
    int64_t fresh = known ? sqlite3_column_int64(row, 1) : ++c->numbers[t].used;
    return put_number(c, t, sqlite3_column_int64(row, 0), fresh, err);
}

/* A node is that of former sets with the same machine. */
static void put_known_node(merge_copier *c, rocl_buf *sql, const merge_source *s)
{
    if (s->table != SCHEMA_NODE || !merge_source_field(s, "machine_id") ||
        !merge_source_field(s, "hash")) {
        rocl_buf_str(sql, ", NULL");
        return;
    }
    rocl_buf_str(sql, ", (SELECT M.\"id\" FROM ");
    merge_put_target(c, sql, s->base);
    rocl_buf_str(sql, " AS M WHERE M.\"machine_id\" IS S.\"machine_id\" AND "
                      "M.\"hash\" IS S.\"hash\" LIMIT 1)");
}

static rocl_status look_up_ids(merge_copier *c, const merge_source *s, rocl_error *err)
{
    rocl_buf sql = {0};
    schema_table t = s->table;
    rocl_buf_str(&sql, "SELECT ");
    merge_put_field(&sql, s, "id");
    put_known_node(c, &sql, s);
    rocl_buf_str(&sql, " FROM ");
    merge_put_source(&sql, s);
    rocl_buf_str(&sql, " AS S NOT INDEXED");
    merge_put_where(c, &sql, s);
    return merge_query(c, s->name, &sql, number_row, &t, err);
}

static rocl_status read_range(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
{
    merge_numbers *n = ctx;
    int64_t span, last;
    n->any = sqlite3_column_type(row, 0) != SQLITE_NULL;
    n->low = sqlite3_column_int64(row, 0);
    n->high = sqlite3_column_int64(row, 1);
    if (__builtin_sub_overflow(n->high, n->low, &span) ||
        __builtin_add_overflow(span, n->used, &last) || last == INT64_MAX)
        return rocl_fail(err, ROCL_INPUT, "%s: ids are too far apart to be numbered anew",
                         c->set->capture->path);
    return ROCL_OK;
}

static rocl_status move_ids(merge_copier *c, const merge_source *s, rocl_error *err)
{
    rocl_buf sql = {0};
    for (int last = 0; last < 2; last++) { /* two walks down the tree; in one select, a scan */
        rocl_buf_str(&sql, last ? ", (SELECT max(" : "SELECT (SELECT min(");
        merge_put_field(&sql, s, "id");
        rocl_buf_str(&sql, ") FROM ");
        merge_put_source(&sql, s);
        rocl_buf_str(&sql, " AS S)");
    }
    return merge_query(c, s->name, &sql, read_range, &c->numbers[s->table], err);
}

/* Strings of all sets are in one table, each once. */

static rocl_status read_new_string(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
{
    (void)ctx;
    return put_number(c, SCHEMA_STRING, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                      err);
}

static void put_insert_string(merge_copier *c, rocl_buf *sql)
{
    rocl_buf_str(sql, "INSERT OR IGNORE INTO ");
    merge_put_target(c, sql, schema_table_name(SCHEMA_STRING));
    rocl_buf_str(sql, " (\"guid\", \"string\") SELECT ");
    merge_put_text(sql, c->set->guid);
}

/* Without a text it is an empty one, to all readers. */
static void put_string_value(rocl_buf *sql, const merge_source *s)
{
    rocl_buf_str(sql, "coalesce(");
    merge_put_field(sql, s, "string");
    rocl_buf_str(sql, ", '')");
}

static rocl_status add_strings(merge_copier *c, const merge_source *s, rocl_error *err)
{
    rocl_buf sql = {0};
    put_insert_string(c, &sql);
    rocl_buf_str(&sql, ", ");
    put_string_value(&sql, s);
    rocl_buf_str(&sql, " FROM ");
    merge_put_source(&sql, s);
    rocl_buf_str(&sql, " AS S NOT INDEXED");
    merge_put_where(c, &sql, s);
    rocl_status st = merge_run(c, s->name, &sql, err);
    if (st != ROCL_OK)
        return st;
    sql = (rocl_buf){0};
    rocl_buf_str(&sql, "SELECT S.\"id\", M.\"id\" FROM ");
    merge_put_source(&sql, s);
    rocl_buf_str(&sql, " AS S NOT INDEXED CROSS JOIN ");
    merge_put_target(c, &sql, schema_table_name(SCHEMA_STRING));
    rocl_buf_str(&sql, " AS M ON M.\"string\" = ");
    put_string_value(&sql, s);
    merge_put_where(c, &sql, s);
    return merge_query(c, s->name, &sql, read_new_string, NULL, err);
}

static rocl_status add_category_string(merge_copier *c, size_t i, rocl_error *err)
{
    rocl_buf sql = {0};
    char id[32];
    put_insert_string(c, &sql);
    rocl_buf_str(&sql, ", ");
    merge_put_text(&sql, c->categories.fresh[i]);
    rocl_status st = merge_run(c, "rocpd_string", &sql, err);
    if (st != ROCL_OK)
        return st;
    sql = (rocl_buf){0};
    sqlite3_snprintf(sizeof id, id, "SELECT %lld", (long long)c->categories.strings[i]);
    rocl_buf_str(&sql, id);
    rocl_buf_str(&sql, ", \"id\" FROM ");
    merge_put_target(c, &sql, schema_table_name(SCHEMA_STRING));
    rocl_buf_str(&sql, " WHERE \"string\" = ");
    merge_put_text(&sql, c->categories.fresh[i]);
    return merge_query(c, "rocpd_string", &sql, read_new_string, NULL, err);
}

rocl_status merge_number_set(merge_copier *c, rocl_error *err)
{
    const merge_set *set = &c->reader.set;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < set->count && st == ROCL_OK; i++) {
        const merge_source *s = &set->tables[i];
        c->numbers[s->table].present = true;
        c->numbers[s->table].moved = s->table < SCHEMA_TRACK;
        if (s->table == SCHEMA_STRING)
            st = add_strings(c, s, err);
        else if (s->table < SCHEMA_TRACK && s->table != SCHEMA_OTHER)
            st = move_ids(c, s, err);
        else if (s->table < SCHEMA_STRING && s->table != SCHEMA_OTHER)
            st = look_up_ids(c, s, err);
    }
    for (size_t i = 0; i < c->categories.count && st == ROCL_OK; i++)
        if (c->categories.fresh[i])
            st = add_category_string(c, i, err);
    return st;
}

void merge_number_next(merge_copier *c)
{
    for (schema_table t = 0; t < SCHEMA_TABLES; t++) {
        merge_numbers *n = &c->numbers[t];
        if (n->moved && n->any)
            n->used += n->high - n->low + 1;
        n->any = n->present = false;
        rocl_map_free(&n->ids);
        n->ids = (rocl_map){0};
    }
    for (int i = 0; i < SCHEMA_SERIALS; i++)
        c->serial_base[i] = c->serial_last[i];
}

/* ---- categories ---------------------------------------------------------------------------- */

static const merge_source *find_table(const merge_copier *c, schema_table t)
{
    return merge_set_table(&c->reader.set, schema_table_name(t));
}

static rocl_status read_id(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
{
    (void)c;
    (void)err;
    *(int64_t *)ctx = sqlite3_column_int64(row, 0);
    return ROCL_OK;
}

/* The id of a text among the strings of the set, of NULL the last of all ids; 0: there is none. */
static rocl_status find_string(merge_copier *c, const char *text, int64_t *id, rocl_error *err)
{
    const merge_source *strings = find_table(c, SCHEMA_STRING);
    rocl_buf sql = {0};
    *id = 0;
    if (!strings || (text && !merge_source_field(strings, "string")))
        return ROCL_OK;
    rocl_buf_str(&sql, text ? "SELECT \"id\" FROM " : "SELECT max(\"id\") FROM ");
    merge_put_source(&sql, strings);
    if (text) {
        rocl_buf_str(&sql, " WHERE \"string\" = ");
        merge_put_text(&sql, text);
        rocl_buf_str(&sql, " LIMIT 1");
    }
    return merge_query(c, strings->name, &sql, read_id, id, err);
}

/* ctx: the last id of a string. */
static rocl_status read_category(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
{
    merge_categories *k = &c->categories;
    int64_t *last = ctx;
    const char *name = (const char *)sqlite3_column_text(row, 1);
    int64_t *strings = realloc(k->strings, (k->count + 1) * sizeof *strings);
    if (strings)
        k->strings = strings;
    char **fresh = realloc(k->fresh, (k->count + 1) * sizeof *fresh);
    if (fresh)
        k->fresh = fresh;
    if (!strings || !fresh ||
        !rocl_map_put(&k->index, (uint64_t)sqlite3_column_int64(row, 0), (uint32_t)k->count))
        return rocl_fail_memory(err);
    size_t i = k->count++;
    k->fresh[i] = NULL;
    rocl_status st = find_string(c, name ? name : "", &k->strings[i], err);
    if (st != ROCL_OK || k->strings[i])
        return st;
    if (*last == INT64_MAX)
        return rocl_fail(err, ROCL_INPUT, "%s: no id is left for the string \"%.100s\"",
                         c->set->capture->path, name);
    k->strings[i] = ++*last;
    k->fresh[i] = strdup(name ? name : "");
    return k->fresh[i] ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status merge_categories_read(merge_copier *c, rocl_error *err)
{
    const merge_source *s = find_table(c, SCHEMA_CATEGORY);
    int64_t last;
    rocl_buf sql = {0};
    if (!s || !merge_source_field(s, "name"))
        return ROCL_OK;
    rocl_status st = find_string(c, NULL, &last, err);
    if (st != ROCL_OK)
        return st;
    rocl_buf_str(&sql, "SELECT \"id\", \"name\" FROM ");
    merge_put_source(&sql, s);
    return merge_query(c, s->name, &sql, read_category, &last, err);
}

rocl_status merge_categories_write(merge_copier *c, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < c->categories.count && st == ROCL_OK; i++) {
        rocl_buf sql = {0};
        int64_t id = c->categories.strings[i];
        if (!c->categories.fresh[i] || c->plan->flat)
            continue; /* a flat set has had them all with its strings */
        rocl_buf_str(&sql, "INSERT INTO ");
        merge_put_target(c, &sql, schema_table_name(SCHEMA_STRING));
        rocl_buf_str(&sql, " (\"id\", \"guid\", \"string\") VALUES (");
        rocl_buf_printf(&sql, "%lld", (long long)id);
        rocl_buf_str(&sql, ", ");
        merge_put_text(&sql, c->set->guid);
        rocl_buf_str(&sql, ", ");
        merge_put_text(&sql, c->categories.fresh[i]);
        rocl_buf_str(&sql, ")");
        st = merge_run(c, "rocpd_string", &sql, err);
    }
    return st;
}

void merge_categories_free(merge_categories *k)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->fresh[i]);
    free(k->fresh);
    free(k->strings);
    rocl_map_free(&k->index);
    *k = (merge_categories){0};
}
