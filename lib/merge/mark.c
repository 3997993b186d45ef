/* What the events selected use: one pass over their rows, then over those that these refer to, in
 * the order of schema_table, so that every row is marked before its own references are followed. */
#include <stdio.h>

#include "merge/copier.h"

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
