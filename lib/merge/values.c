/* The SQL of rows: statements, SELECT values FROM input WHERE it goes into the output, and what
 * that SQL calls: sets of ids and numbers that are not in tables. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "merge/copier.h"

/* ---- statements ---------------------------------------------------------------------------- */

static rocl_status fail_statement(merge_copier *c, const char *table, rocl_error *err)
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
        st = fail_statement(c, table, err);
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

void merge_put_joined(rocl_buf *sql, const char *a, const char *b)
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
    merge_put_joined(sql, base, c->set->suffix);
}

/* ---- a row --------------------------------------------------------------------------------- */

static void put_format(rocl_buf *sql, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put_format(rocl_buf *sql, const char *fmt, ...)
{
    char text[160];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    rocl_buf_str(sql, text);
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i < count;
}

void merge_put_field(rocl_buf *sql, const merge_source *s, const char *column)
{
    bool id = !strcmp(column, "id");
    if (!merge_source_field(s, column)) {
        rocl_buf_str(sql, id ? "S.rowid" : "NULL");
        return;
    }
    rocl_buf_str(sql, "S.");
    merge_put_name(sql, column);
}

static const merge_source *find_track(const merge_copier *c, const merge_source *s)
{
    return s->by_track ? merge_set_table(&c->reader.set, schema_table_name(SCHEMA_TRACK)) : NULL;
}

/* What the input has: the column, that of its track, or the default. */
static bool put_stored(const merge_copier *c, rocl_buf *sql, const merge_source *s,
                       const plan_column *column)
{
    const merge_source *track = find_track(c, s);
    bool own = merge_source_field(s, column->name);
    if (!own && track && schema_in_track(column->name) && merge_source_field(track, column->name)) {
        rocl_buf_str(sql, "T.");
        merge_put_name(sql, column->name);
        return false;
    }
    if (!own) {
        merge_put_default(sql, column->declared);
        return false;
    }
    merge_put_field(sql, s, column->name);
    return true;
}

/* A reference in the terms of schema 3. */
static bool put_reference(const merge_copier *c, rocl_buf *sql, const merge_source *s,
                          const plan_column *column)
{
    bool mapped =
        c->categories.count && s->table == SCHEMA_EVENT && !strcmp(column->name, "category_id");
    if (mapped)
        rocl_buf_str(sql, "rocl_category(");
    bool plain = put_stored(c, sql, s, column);
    if (mapped)
        rocl_buf_byte(sql, ')');
    return plain && !mapped;
}

/* Unknown tables are copied as they are, whatever their columns are called. */
static bool is_time(const merge_source *s, const char *column)
{
    static const char *const of_processes[] = {"init", "fini", "start", "end"};
    static const char *const of_events[] = {"start", "end", "timestamp"};
    if (schema_rule_of(s->table) == SCHEMA_SELECTED)
        return is_among(column, of_events, 3);
    return (s->table == SCHEMA_PROCESS || s->table == SCHEMA_THREAD) &&
           is_among(column, of_processes, 4);
}

/* A time on the clock that is set. Events may be at 0; for processes that means unknown, as does an
 * end of 0 with a start elsewhere. */
static bool put_time(const merge_copier *c, rocl_buf *sql, const merge_source *s,
                     const char *column)
{
    if (c->offset)
        rocl_buf_str(sql, "rocl_time(");
    merge_put_field(sql, s, column);
    if (!c->offset)
        return true;
    if (schema_rule_of(s->table) != SCHEMA_SELECTED) {
        rocl_buf_str(sql, ", 0)");
    } else if (!strcmp(column, "end")) {
        rocl_buf_str(sql, ", ");
        merge_put_field(sql, s, "start");
        rocl_buf_str(sql, " IS 0)");
    } else {
        rocl_buf_str(sql, ", 1)");
    }
    return false;
}

/* Flat sets number anew what is unique only within a process. */
static bool put_flat(const merge_copier *c, rocl_buf *sql, const merge_source *s,
                     const plan_column *column)
{
    schema_table refers = schema_refers_to(s->table, column->name);
    schema_serial series = schema_serial_of(column->name);
    if (!strcmp(column->name, "guid") && s->table != SCHEMA_METADATA) {
        merge_put_text(sql, c->set->guid);
    } else if (refers != SCHEMA_OTHER) {
        put_format(sql, "rocl_new(%d, ", (int)refers);
        put_reference(c, sql, s, column);
        rocl_buf_byte(sql, ')');
    } else if (series != SCHEMA_SERIALS) {
        put_format(sql, "rocl_serial(%d, ", (int)series);
        put_stored(c, sql, s, column);
        rocl_buf_byte(sql, ')');
    } else if (s->table == SCHEMA_PROCESS && !strcmp(column->name, "extdata") &&
               !merge_source_field(s, "extdata")) {
        rocl_buf_str(sql, "json_object('guid', ");
        merge_put_text(sql, rocl_str(c->plan->trace, c->set->capture->guid));
        rocl_buf_byte(sql, ')');
    } else if (s->table == SCHEMA_PROCESS && !strcmp(column->name, "extdata")) {
        rocl_buf_str(sql, "CASE WHEN json_valid(S.\"extdata\") AND json_type(S.\"extdata\") = "
                          "'object' THEN json_set(S.\"extdata\", '$.guid', ");
        merge_put_text(sql, rocl_str(c->plan->trace, c->set->capture->guid));
        rocl_buf_str(sql, ") ELSE S.\"extdata\" END");
    } else {
        return false;
    }
    return true;
}

void merge_put_value(const merge_copier *c, rocl_buf *sql, const merge_source *s,
                     const plan_column *column, bool *plain)
{
    const char *name = column->name;
    if (c->plan->flat && put_flat(c, sql, s, column)) {
        *plain = false;
    } else if (c->clip && schema_rule_of(s->table) == SCHEMA_SELECTED &&
               (!strcmp(name, "start") || !strcmp(name, "end"))) {
        bool start = *name == 's';
        rocl_buf_str(sql, start ? "max(" : "min(");
        put_time(c, sql, s, name);
        put_format(sql, ", %" PRId64 ")", start ? c->from : c->to);
        *plain = false;
    } else if (is_time(s, name) && merge_source_field(s, name)) {
        *plain &= put_time(c, sql, s, name);
    } else if (!c->keep_environment && s->table == SCHEMA_PROCESS && !strcmp(name, "environment") &&
               merge_source_field(s, name)) {
        rocl_buf_str(sql, "rocl_environment(S.\"environment\")");
        *plain = false;
    } else if (!put_reference(c, sql, s, column)) {
        *plain = false;
    }
}

void merge_put_from(const merge_copier *c, rocl_buf *sql, const merge_source *s)
{
    const merge_source *track = find_track(c, s);
    rocl_buf_str(sql, " FROM ");
    merge_put_source(sql, s);
    rocl_buf_str(sql, " AS S NOT INDEXED");
    if (track) {
        rocl_buf_str(sql, " LEFT JOIN ");
        merge_put_source(sql, track);
        rocl_buf_str(sql, " AS T ON T.\"id\" = S.\"track_id\"");
    }
}

static void put_ids(rocl_buf *sql, const merge_source *s, const merge_ids *ids)
{
    rocl_buf_str(sql, " WHERE ");
    if (!ids->any) {
        rocl_buf_byte(sql, '0');
        return;
    }
    merge_put_field(sql, s, "id");
    put_format(sql, " BETWEEN %" PRId64 " AND %" PRId64 " AND rocl_used(%d, ", ids->first,
               ids->last, (int)s->table);
    merge_put_field(sql, s, "id");
    rocl_buf_byte(sql, ')');
}

/* Samples of an event that is kept for another row stay with it. */
static void put_samples(rocl_buf *sql, const merge_source *s, const merge_ids *ids)
{
    rocl_buf_str(sql, " WHERE 0");
    if (ids->any) {
        put_format(sql, " OR rocl_used(%d, ", (int)SCHEMA_SAMPLE);
        merge_put_field(sql, s, "id");
        rocl_buf_byte(sql, ')');
    }
    rocl_buf_str(sql, " OR rocl_shared(");
    merge_put_field(sql, s, "event_id");
    rocl_buf_byte(sql, ')');
}

void merge_put_where(const merge_copier *c, rocl_buf *sql, const merge_source *s)
{
    static const char *const owners[] = {"event_id", "sample_id", "pmc_id"};
    schema_rule rule = schema_rule_of(s->table);
    if (!c->selection)
        return;
    if (s->table == SCHEMA_OTHER && merge_source_field(s, "event_id"))
        rule = SCHEMA_BY_EVENT;
    if (s->table == SCHEMA_SAMPLE) {
        put_samples(sql, s, &c->selection->rows[s->table]);
    } else if (rule == SCHEMA_SELECTED) {
        put_ids(sql, s, &c->selection->rows[s->table]);
    } else if (rule == SCHEMA_USED) {
        put_ids(sql, s, &c->used[s->table]);
    } else if (rule == SCHEMA_BY_EVENT) {
        put_format(sql, " WHERE rocl_used(%d, ", (int)SCHEMA_EVENT);
        merge_put_field(sql, s, owners[0]);
        rocl_buf_byte(sql, ')');
    } else if (rule == SCHEMA_VALUES) {
        for (size_t i = 0; i < 3; i++) {
            rocl_buf_str(sql, i ? ", " : " WHERE rocl_value(");
            merge_put_field(sql, s, owners[i]);
        }
        rocl_buf_byte(sql, ')');
    }
}

/* ---- functions ----------------------------------------------------------------------------- */

int64_t merge_number_of(const merge_copier *c, schema_table t, int64_t id)
{
    const merge_numbers *n = &c->numbers[t];
    if (n->moved)
        return n->any && id >= n->low && id <= n->high ? id - n->low + 1 + n->used : -1;
    uint32_t fresh = rocl_map_get(&n->ids, (uint64_t)id, ROCL_NONE);
    return fresh == ROCL_NONE ? -1 : (int64_t)fresh;
}

typedef void sql_fn(sqlite3_context *ctx, int n, sqlite3_value **v);

static schema_table table_argument(sqlite3_value *v)
{
    return (schema_table)sqlite3_value_int(v);
}

static bool is_id(sqlite3_value *v)
{
    return sqlite3_value_type(v) == SQLITE_INTEGER;
}

/* rocl_use(table, id): notes that a row is referred to. */
static void note_use(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    merge_copier *c = sqlite3_user_data(ctx);
    (void)n;
    if (is_id(v[1]) && !merge_ids_add(&c->used[table_argument(v[0])], sqlite3_value_int64(v[1])))
        sqlite3_result_error_nomem(ctx);
}

/* rocl_used(table, id) */
static void is_used(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    merge_copier *c = sqlite3_user_data(ctx);
    schema_table t = table_argument(v[0]);
    merge_ids *ids = t < SCHEMA_EVENT_TABLES ? &c->selection->rows[t] : &c->used[t];
    (void)n;
    sqlite3_result_int(ctx, is_id(v[1]) && merge_ids_has(ids, sqlite3_value_int64(v[1])));
}

/* rocl_shared(event_id): is it one of a region or sampled value selected? */
static void is_shared(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const merge_copier *c = sqlite3_user_data(ctx);
    (void)n;
    sqlite3_result_int(ctx, is_id(v[0]) && rocl_idset_has(&c->selection->shared,
                                                          (uint64_t)sqlite3_value_int64(v[0])));
}

/* rocl_value(event_id, sample_id, pmc_id): is it a value of a counter selected? */
static void value_passes(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    merge_copier *c = sqlite3_user_data(ctx);
    const merge_selection *s = c->selection;
    bool of_sample = is_id(v[1]);
    uint64_t owner = (uint64_t)sqlite3_value_int64(v[of_sample ? 1 : 0]);
    uint64_t counter = (uint64_t)sqlite3_value_int64(v[2]);
    (void)n;
    uint64_t key =
        merge_value_key(c->set->capture, owner, rocl_map_get(&c->counters, counter, ROCL_NONE));
    bool passes = of_sample ? rocl_idset_has(&s->spm, key)
                            : is_id(v[0]) && (rocl_idset_has(&s->counted, owner) ||
                                              rocl_idset_has(&s->sampled, key));
    sqlite3_result_int(ctx, passes);
}

/* rocl_new(table, id): the id in a flat set; NULL where the input has no such table. */
static void find_new_id(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const merge_copier *c = sqlite3_user_data(ctx);
    schema_table t = table_argument(v[0]);
    (void)n;
    if (!c->numbers[t].present || sqlite3_value_type(v[1]) == SQLITE_NULL)
        return;
    sqlite3_result_int64(ctx, is_id(v[1]) ? merge_number_of(c, t, sqlite3_value_int64(v[1])) : -1);
}

/* rocl_serial(series, number): the number in a flat set. */
static void number_serial(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    merge_copier *c = sqlite3_user_data(ctx);
    int series = sqlite3_value_int(v[0]);
    int64_t old = sqlite3_value_int64(v[1]), fresh;
    (void)n;
    if (!is_id(v[1]) || old <= 0) {
        sqlite3_result_value(ctx, v[1]);
        return;
    }
    if (__builtin_add_overflow(old, c->serial_base[series], &fresh)) {
        sqlite3_result_error(ctx, "a correlation id is too large to be numbered anew", -1);
        return;
    }
    if (fresh > c->serial_last[series])
        c->serial_last[series] = fresh;
    sqlite3_result_int64(ctx, fresh);
}

/* rocl_time(time, zero): the time on the clock that is set; zero: is 0 one? What is none stays. */
static void move_time(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    merge_copier *c = sqlite3_user_data(ctx);
    int64_t old = sqlite3_value_int64(v[0]), fresh = 0;
    (void)n;
    if (sqlite3_value_type(v[0]) != SQLITE_INTEGER || old < !sqlite3_value_int(v[1])) {
        sqlite3_result_value(ctx, v[0]);
        return;
    }
    if (__builtin_add_overflow(old, c->offset, &fresh) || fresh < 0) {
        c->early++;
        fresh = -1;
    }
    sqlite3_result_int64(ctx, fresh);
}

/* rocl_category(id): the string of a find_category of schema 4. */
static void find_category(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const merge_copier *c = sqlite3_user_data(ctx);
    uint32_t i = ROCL_NONE;
    (void)n;
    if (is_id(v[0]))
        i = rocl_map_get(&c->categories.index, (uint64_t)sqlite3_value_int64(v[0]), ROCL_NONE);
    if (i != ROCL_NONE)
        sqlite3_result_int64(ctx, c->categories.strings[i]);
    else if (sqlite3_value_type(v[0]) != SQLITE_NULL)
        sqlite3_result_int64(ctx, -1); /* it refers to nothing, and still does */
}

/* rocl_environment(json): nothing of it but the rank. */
static void reduce_environment(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const char *text =
        sqlite3_value_type(v[0]) == SQLITE_TEXT ? (const char *)sqlite3_value_text(v[0]) : NULL;
    char *ranks = rocpd_rank_environment(text ? text : "");
    (void)n;
    if (ranks)
        sqlite3_result_text(ctx, ranks, -1, free);
    else
        sqlite3_result_error_nomem(ctx);
}

rocl_status merge_functions_add(merge_copier *c, rocl_error *err)
{
    static const struct {
        const char *name;
        int arguments;
        sql_fn *fn;
    } functions[] = {
        {"rocl_use", 2, note_use},
        {"rocl_used", 2, is_used},
        {"rocl_shared", 1, is_shared},
        {"rocl_value", 3, value_passes},
        {"rocl_new", 2, find_new_id},
        {"rocl_serial", 2, number_serial},
        {"rocl_time", 2, move_time},
        {"rocl_category", 1, find_category},
        {"rocl_environment", 1, reduce_environment},
    };
    sqlite3 *db = rocl_new_db_handle(c->out);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
                                       SQLITE_UTF8 | SQLITE_DIRECTONLY, c, functions[i].fn, NULL,
                                       NULL, NULL) != SQLITE_OK)
            return rocl_fail_memory(err);
    return ROCL_OK;
}
