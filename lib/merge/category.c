/* In schema 4 events refer to a table of categories, in schema 3 to strings. */
#include <stdlib.h>

#include "merge/copier.h"

static const merge_source *table_in(const merge_copier *c, schema_table t)
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
    const merge_source *strings = table_in(c, SCHEMA_STRING);
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
    const merge_source *s = table_in(c, SCHEMA_CATEGORY);
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
