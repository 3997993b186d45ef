/* Ids of a flat set. A table of definitions has few and sparse ones: each is given the next number.
 * The ids of a table of events are moved behind those of the sets before. */
#include "merge/copier.h"

/* ---- looked up ---- */

static rocl_status put_number(merge_copier *c, schema_table t, int64_t old, int64_t fresh,
                              rocl_error *err)
{
    if (fresh > UINT32_MAX)
        return rocl_fail(err, ROCL_INPUT, "%s: too many rows for one flat set: %s",
                         c->set->capture->path, schema_table_name(t));
    return rocl_map_put(&c->numbers[t].ids, (uint64_t)old, (uint32_t)fresh) ? ROCL_OK
                                                                            : rocl_fail_memory(err);
}

static rocl_status take_id(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
{
    schema_table t = *(schema_table *)ctx;
    bool known = sqlite3_column_type(row, 1) != SQLITE_NULL; /* the same row came from before */
    int64_t fresh = known ? sqlite3_column_int64(row, 1) : ++c->numbers[t].used;
    return put_number(c, t, sqlite3_column_int64(row, 0), fresh, err);
}

/* A node is that of former sets with the same machine. */
static void put_known(merge_copier *c, rocl_buf *sql, const merge_source *s)
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
    put_known(c, &sql, s);
    rocl_buf_str(&sql, " FROM ");
    merge_put_source(&sql, s);
    rocl_buf_str(&sql, " AS S NOT INDEXED");
    merge_put_where(c, &sql, s);
    return merge_query(c, s->name, &sql, take_id, &t, err);
}

/* ---- moved ---- */

static rocl_status take_range(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
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
    return merge_query(c, s->name, &sql, take_range, &c->numbers[s->table], err);
}

/* ---- strings: those of all sets are in one table, each once ---- */

static rocl_status take_string(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err)
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
static void put_string(rocl_buf *sql, const merge_source *s)
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
    put_string(&sql, s);
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
    put_string(&sql, s);
    merge_put_where(c, &sql, s);
    return merge_query(c, s->name, &sql, take_string, NULL, err);
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
    return merge_query(c, "rocpd_string", &sql, take_string, NULL, err);
}

/* ---- a set ---- */

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

int64_t merge_number_of(const merge_copier *c, schema_table t, int64_t id)
{
    const merge_numbers *n = &c->numbers[t];
    if (n->moved)
        return n->any && id >= n->low && id <= n->high ? id - n->low + 1 + n->used : -1;
    uint32_t fresh = rocl_map_get(&n->ids, (uint64_t)id, ROCL_NONE);
    return fresh == ROCL_NONE ? -1 : (int64_t)fresh;
}
