/* Ids of the rows of a set: which ones the events selected use, what they are in a flat set, and
 * the categories of schema 4, which are strings in schema 3. */
#include <stdlib.h>

#include "base/array.h"
#include "merge/copier.h"

/* ---- what the events selected use ---------------------------------------------------------- */

/* Reads the rows that are kept of a table, for their references that need to be followed. */
static rocl_status mark_table(merge_copier *c, const merge_source *s, rocl_error *err)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    bool any = false;
    for (size_t i = 0; i < s->count; i++) {
        const char *name = s->fields[i].name;
        schema_table t = schema_refers_to(s->table, name);
        if (!s->fields[i].is_declared || schema_rule_of(t) != SCHEMA_USED)
            continue;
        bool mapped = c->categories.count && s->table == SCHEMA_EVENT && t == SCHEMA_STRING;
        sqlite3_str_appendf(
            sql, mapped ? "%s rocl_use(%d, rocl_category(S.\"%w\"))" : "%s rocl_use(%d, S.\"%w\")",
            any ? "," : "SELECT", (int)t, name);
        any = true;
    }
    if (!any) {
        sqlite3_free(sqlite3_str_finish(sql));
        return ROCL_OK;
    }
    sqlite3_str_appendf(sql, " FROM src%d.\"%w\" AS S NOT INDEXED", merge_src_number(c), s->name);
    merge_put_where(c, sql, s);
    return merge_query(c, s->name, sql, NULL, NULL, err);
}

/* One pass over the rows of the events, then over those that these refer to, in the order of
 * schema_table, so that every row is marked before its own references are followed. */
rocl_status merge_mark_used(merge_copier *c, rocl_error *err)
{
    const merge_set *set = &c->reader->set;
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

/* A row with the id in the input and that in the output, NULL if that has no such row yet. */
static rocl_status number_row(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
{
    schema_table t = *(const schema_table *)ctx;
    merge_numbers *n = &c->numbers[t];
    bool known = sqlite3_column_type(row, 1) != SQLITE_NULL;
    int64_t old = sqlite3_column_int64(row, 0);
    int64_t fresh = known ? sqlite3_column_int64(row, 1) : ++n->used;
    if (fresh > UINT32_MAX)
        return rocl_fail(err, ROCL_INPUT, "%s: too many rows for one flat set: %s",
                         c->set->capture->path, schema_table_name(t));
    return rocl_map_put(&n->ids, (uint64_t)old, (uint32_t)fresh) ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status look_up_ids(merge_copier *c, const merge_source *s, rocl_error *err)
{
    schema_table t = s->table;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "SELECT %s, ", merge_id_of(s));
    /* A node is that of former sets with the same machine. */
    if (t == SCHEMA_NODE && merge_source_field(s, "machine_id") && merge_source_field(s, "hash"))
        sqlite3_str_appendf(sql,
                            "(SELECT M.\"id\" FROM main.\"%w%w\" AS M "
                            "WHERE M.\"machine_id\" IS S.\"machine_id\" AND "
                            "M.\"hash\" IS S.\"hash\" LIMIT 1)",
                            s->base, c->set->suffix);
    else
        sqlite3_str_appendall(sql, "NULL");
    sqlite3_str_appendf(sql, " FROM src%d.\"%w\" AS S NOT INDEXED", merge_src_number(c), s->name);
    merge_put_where(c, sql, s);
    return merge_query(c, s->name, sql, number_row, &t, err);
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
        return rocl_fail(err, ROCL_INPUT, "%s: ids are too far apart to be renumbered",
                         c->set->capture->path);
    return ROCL_OK;
}

/* Strings of all sets are in one table, each once. */
static rocl_status add_strings(merge_copier *c, const merge_source *s, rocl_error *err)
{
    schema_table t = SCHEMA_STRING;
    const char *field =
        MERGE_FIELD(s, "string"); /* without a text it is an empty one, to readers */
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql,
                        "INSERT OR IGNORE INTO main.\"rocpd_string%w\" (\"guid\", \"string\") "
                        "SELECT %Q, coalesce(%s, '') FROM src%d.\"%w\" AS S NOT INDEXED",
                        c->set->suffix, c->set->guid, field, merge_src_number(c), s->name);
    merge_put_where(c, sql, s);
    rocl_status st = merge_query(c, s->name, sql, NULL, NULL, err);
    if (st != ROCL_OK)
        return st;
    sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql,
                        "SELECT S.\"id\", M.\"id\" FROM src%d.\"%w\" AS S NOT INDEXED "
                        "CROSS JOIN main.\"rocpd_string%w\" AS M "
                        "ON M.\"string\" = coalesce(%s, '')",
                        merge_src_number(c), s->name, c->set->suffix, field);
    merge_put_where(c, sql, s);
    return merge_query(c, s->name, sql, number_row, &t, err);
}

rocl_status merge_number_set(merge_copier *c, rocl_error *err)
{
    const merge_set *set = &c->reader->set;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < set->count && st == ROCL_OK; i++) {
        const merge_source *s = &set->tables[i];
        c->numbers[s->table].present = true;
        c->numbers[s->table].moved = s->table < SCHEMA_TRACK;
        if (s->table == SCHEMA_STRING)
            st = add_strings(c, s, err);
        else if (s->table < SCHEMA_TRACK && s->table != SCHEMA_OTHER) {
            const char *id = merge_id_of(s);
            const int src = merge_src_number(c);
            /* Two walks down the tree; min and max in one SELECT are a scan. */
            st = merge_ask(c, s->name, read_range, &c->numbers[s->table], err,
                           "SELECT (SELECT min(%s) FROM src%d.\"%w\" AS S), "
                           "(SELECT max(%s) FROM src%d.\"%w\" AS S)",
                           id, src, s->name, id, src, s->name);
        } else if (s->table < SCHEMA_STRING && s->table != SCHEMA_OTHER)
            st = look_up_ids(c, s, err);
    }
    for (size_t i = 0; i < c->categories.count && st == ROCL_OK; i++) {
        const char *text = c->categories.all[i].fresh;
        if (!text)
            continue;
        st = merge_run(c, "rocpd_string", err,
                       "INSERT OR IGNORE INTO main.\"rocpd_string%w\" "
                       "(\"guid\", \"string\") SELECT %Q, %Q",
                       c->set->suffix, c->set->guid, text);
        if (st != ROCL_OK)
            break;
        schema_table t = SCHEMA_STRING;
        st = merge_ask(c, "rocpd_string", number_row, &t, err,
                       "SELECT %lld, \"id\" FROM main.\"rocpd_string%w\" WHERE \"string\" = %Q",
                       (long long)c->categories.all[i].string, c->set->suffix, text);
    }
    return st;
}

void merge_end_numbers(merge_copier *c)
{
    for (schema_table t = 0; t < SCHEMA_TABLES; t++) {
        merge_numbers *n = &c->numbers[t];
        if (n->moved && n->any)
            n->used += n->high - n->low + 1;
        n->any = n->present = false;
        rocl_map_free(&n->ids);
        rocl_map_free(&n->dangling);
        n->ids = n->dangling = (rocl_map){0};
    }
    for (int i = 0; i < SCHEMA_SERIALS; i++)
        c->serial_base[i] = c->serial_last[i];
}

/* ---- categories ---------------------------------------------------------------------------- */

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
    const merge_source *strings = merge_set_table(&c->reader->set, "rocpd_string");
    *id = 0;
    if (!strings || (text && !merge_source_field(strings, "string")))
        return ROCL_OK;
    return merge_ask(c, strings->name, read_id, id, err,
                     text ? "SELECT \"id\" FROM src%d.\"%w\" WHERE \"string\" = %Q LIMIT 1"
                          : "SELECT max(\"id\") FROM src%d.\"%w\"",
                     merge_src_number(c), strings->name, text);
}

/* ctx: the last id of a string. */
static rocl_status read_category(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
{
    merge_categories *k = &c->categories;
    int64_t *last = ctx, string;
    const char *text = (const char *)sqlite3_column_text(row, 1), *name = text ? text : "";
    if (!ROCL_GROW(k->all, k->cap, k->count + 1) ||
        !rocl_map_put(&k->index, (uint64_t)sqlite3_column_int64(row, 0), (uint32_t)k->count))
        return rocl_fail_memory(err);
    size_t i = k->count++;
    k->all[i].fresh = NULL;
    rocl_status st = find_string(c, name, &string, err);
    if (st != ROCL_OK)
        return st;
    if (!string) {
        if (*last == INT64_MAX)
            return rocl_fail(err, ROCL_INPUT, "%s: no id is left for the string \"%.100s\"",
                             c->set->capture->path, name);
        string = ++*last;
        if (!(k->all[i].fresh = strdup(name)))
            return rocl_fail_memory(err);
    }
    k->all[i].string = string;
    return ROCL_OK;
}

rocl_status merge_read_categories(merge_copier *c, rocl_error *err)
{
    const merge_source *s = merge_set_table(&c->reader->set, schema_table_name(SCHEMA_CATEGORY));
    int64_t last;
    if (!s || !merge_source_field(s, "name"))
        return ROCL_OK;
    rocl_status st = find_string(c, NULL, &last, err);
    return st ? st
              : merge_ask(c, s->name, read_category, &last, err,
                          "SELECT \"id\", \"name\" FROM src%d.\"%w\"", merge_src_number(c),
                          s->name);
}

rocl_status merge_write_categories(merge_copier *c, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    /* A flat set has had them all with its strings. */
    for (size_t i = 0; i < c->categories.count && !c->plan->flat && st == ROCL_OK; i++)
        if (c->categories.all[i].fresh)
            st = merge_run(c, "rocpd_string", err,
                           "INSERT INTO main.\"rocpd_string%w\" (\"id\", \"guid\", \"string\") "
                           "VALUES (%lld, %Q, %Q)",
                           c->set->suffix, (long long)c->categories.all[i].string, c->set->guid,
                           c->categories.all[i].fresh);
    return st;
}

void merge_free_categories(merge_categories *k)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->all[i].fresh);
    free(k->all);
    rocl_map_free(&k->index);
    *k = (merge_categories){0};
}
