/* The SQL of rows: statements, SELECT values FROM input WHERE it goes into the output, and what
 * that SQL calls: sets of ids and numbers that are not in tables. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/filter.h"
#include "merge/copier.h"

/* ---- statements ---------------------------------------------------------------------------- */

rocl_status merge_query(merge_copier *c, const char *table, sqlite3_str *sql, merge_row_fn *fn,
                        void *ctx, rocl_error *err)
{
    sqlite3_stmt *row = NULL;
    rocl_status st = ROCL_OK;
    char what[512], *text = sqlite3_str_finish(sql);
    if (!text)
        return rocl_fail_memory(err);
    int rc = sqlite3_prepare_v2(rocl_new_db_handle(c->out), text, -1, &row, NULL);
    sqlite3_free(text);
    while (rc == SQLITE_OK && st == ROCL_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        st = fn ? fn(c, row, ctx, err) : ROCL_OK;
        rc = SQLITE_OK;
    }
    if (st == ROCL_OK && rc != SQLITE_DONE) {
        sqlite3_snprintf(sizeof what, what, "%s: table %s", c->set ? c->set->capture->path : "",
                         table);
        st = rocl_new_db_fail(c->out, what, err);
    }
    sqlite3_finalize(row);
    return st;
}

rocl_status merge_ask(merge_copier *c, const char *table, merge_row_fn *fn, void *ctx,
                      rocl_error *err, const char *fmt, ...)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    va_list ap;
    va_start(ap, fmt);
    sqlite3_str_vappendf(sql, fmt, ap);
    va_end(ap);
    return merge_query(c, table, sql, fn, ctx, err);
}

/* ---- a row --------------------------------------------------------------------------------- */

const char *merge_id_of(const merge_source *s)
{
    return merge_source_field(s, "id") ? "S.\"id\"" : "S.rowid";
}

static const merge_source *find_track(const merge_copier *c, const merge_source *s)
{
    return s->by_track ? merge_set_table(&c->reader->set, schema_table_name(SCHEMA_TRACK)) : NULL;
}

/* The value that the input has: the column, that of its track, or the default; a category of schema
 * 4 as the string that it becomes. Returns whether it is the column itself. */
static bool put_stored(const merge_copier *c, sqlite3_str *sql, const merge_source *s,
                       const plan_column *column)
{
    const char *name = column->name;
    const merge_source *track = find_track(c, s);
    bool mapped = c->categories.count && s->table == SCHEMA_EVENT && !strcmp(name, "category_id");
    bool own = merge_source_field(s, name);
    if (mapped)
        sqlite3_str_appendall(sql, "rocl_category(");
    if (own)
        sqlite3_str_appendf(sql, "S.\"%w\"", name);
    else if (track && schema_in_track(name) && merge_source_field(track, name))
        sqlite3_str_appendf(sql, "T.\"%w\"", name);
    else if (s->table == SCHEMA_VALUE && !strcmp(name, "value"))
        sqlite3_str_appendall(sql, "NULL"); /* readers leave it out; 0 would be a measured value */
    else
        merge_put_default(sql, column->declared);
    if (mapped)
        sqlite3_str_appendchar(sql, 1, ')');
    return own && !mapped;
}

/* Unknown tables are copied as they are, whatever their columns are called. */
static bool is_time(const merge_source *s, const char *column)
{
    static const char *const of_processes[] = {"init", "fini", "start", "end", NULL};
    static const char *const of_events[] = {"start", "end", "timestamp", NULL};
    bool event = schema_rule_of(s->table) == SCHEMA_SELECTED;
    if (!event && s->table != SCHEMA_PROCESS && s->table != SCHEMA_THREAD)
        return false;
    const char *const *name = event ? of_events : of_processes;
    while (*name && strcmp(*name, column) != 0)
        name++;
    return *name;
}

/* A time on the clock that is set. Events may be at 0; for processes that means unknown, as does an
 * end of 0 with a start elsewhere. Returns whether it is the column itself. */
static bool put_time(const merge_copier *c, sqlite3_str *sql, const merge_source *s,
                     const char *column)
{
    const char *zero = schema_rule_of(s->table) != SCHEMA_SELECTED ? "0"
                       : strcmp(column, "end") != 0                ? "1"
                       : merge_source_field(s, "start")            ? "S.\"start\" IS 0"
                                                                   : "NULL IS 0";
    const bool gpu = s->table == SCHEMA_DISPATCH || s->table == SCHEMA_COPY;
    const int64_t more = schema_rule_of(s->table) != SCHEMA_SELECTED ? 0
                         : gpu                                       ? c->clock.gpu
                                                                     : c->clock.host;
    const bool moves = c->offset || more;
    if (moves)
        sqlite3_str_appendf(sql, "rocl_time(S.\"%w\", %s, %lld)", column, zero, (long long)more);
    else
        sqlite3_str_appendf(sql, "S.\"%w\"", column);
    return !moves;
}

bool merge_put_value(const merge_copier *c, sqlite3_str *sql, const merge_source *s,
                     const plan_column *column)
{
    const char *name = column->name, *guid = rocl_str(c->plan->trace, c->set->capture->guid);
    const bool flat = c->plan->flat, own = merge_source_field(s, name);
    const bool of_process = s->table == SCHEMA_PROCESS;
    const schema_table refers = schema_refers_to(s->table, name);
    const schema_serial series = schema_serial_of(name);
    if (flat && !strcmp(name, "guid") && s->table != SCHEMA_METADATA) {
        sqlite3_str_appendf(sql, "%Q", c->set->guid);
    } else if (flat && (refers != SCHEMA_OTHER || series != SCHEMA_SERIALS)) {
        /* Flat sets renumber ids that are unique only within a process. */
        if (refers != SCHEMA_OTHER)
            sqlite3_str_appendf(sql, "rocl_new(%d, ", (int)refers);
        else
            sqlite3_str_appendf(sql, "rocl_serial(%d, ", (int)series);
        put_stored(c, sql, s, column);
        sqlite3_str_appendchar(sql, 1, ')');
    } else if (flat && of_process && !strcmp(name, "extdata")) {
        /* It keeps a guid of before. Without memory SQLite calls an object none, and says nothing:
         * it is asked twice. */
#define IS_OBJECT "json_valid(S.\"extdata\") AND json_type(S.\"extdata\") = 'object'"
        sqlite3_str_appendf(sql,
                            own ? "CASE WHEN " IS_OBJECT
                                  " THEN rocl_holds(json_insert(S.\"extdata\", '$.guid', %Q), "
                                  "'\"guid\"') "
                                  "WHEN " IS_OBJECT
                                  " THEN rocl_holds(NULL, NULL) ELSE S.\"extdata\" END"
                                : "json_object('guid', %Q)",
                            guid);
    } else if (own && c->clip && schema_rule_of(s->table) == SCHEMA_SELECTED &&
               (!strcmp(name, "start") || !strcmp(name, "end"))) {
        sqlite3_str_appendall(sql, "rocl_clip(");
        put_time(c, sql, s, name);
        sqlite3_str_appendf(sql, ", %d)", *name == 's');
    } else if (own && is_time(s, name)) {
        return put_time(c, sql, s, name);
    } else if (own && of_process && !c->keep_environment && !strcmp(name, "environment")) {
        sqlite3_str_appendf(sql, "rocl_environment(%s, S.\"environment\")", merge_id_of(s));
    } else {
        return put_stored(c, sql, s, column);
    }
    return false;
}

void merge_put_from(const merge_copier *c, sqlite3_str *sql, const merge_source *s)
{
    const merge_source *track = find_track(c, s);
    sqlite3_str_appendf(sql, " FROM src%d.\"%w\" AS S NOT INDEXED", merge_src_number(c), s->name);
    if (track)
        sqlite3_str_appendf(sql, " LEFT JOIN src%d.\"%w\" AS T ON T.\"id\" = S.\"track_id\"",
                            merge_src_number(c), track->name);
}

void merge_put_where(const merge_copier *c, sqlite3_str *sql, const merge_source *s)
{
    schema_table t = s->table;
    schema_rule rule = schema_rule_of(t);
    const char *id = merge_id_of(s), *event = MERGE_FIELD(s, "event_id");
    if (!c->selection)
        return;
    if (t == SCHEMA_OTHER && merge_source_field(s, "event_id"))
        rule = SCHEMA_BY_EVENT;
    if (t == SCHEMA_SAMPLE) { /* samples of an event that is kept for another row stay with it */
        sqlite3_str_appendf(sql, " WHERE rocl_used(%d, %s) OR rocl_shared(%s)", (int)t, id, event);
    } else if (rule == SCHEMA_SELECTED || rule == SCHEMA_USED) {
        const merge_ids *ids = rule == SCHEMA_SELECTED ? &c->selection->rows[t] : &c->used[t];
        if (ids->any)
            sqlite3_str_appendf(sql, " WHERE %s BETWEEN %lld AND %lld AND rocl_used(%d, %s)", id,
                                (long long)ids->first, (long long)ids->last, (int)t, id);
        else
            sqlite3_str_appendall(sql, " WHERE 0");
    } else if (rule == SCHEMA_BY_EVENT) {
        sqlite3_str_appendf(sql, " WHERE rocl_used(%d, %s)", (int)SCHEMA_EVENT, event);
    } else if (rule == SCHEMA_VALUES) {
        sqlite3_str_appendf(sql, " WHERE rocl_value(%s, %s, %s)", event,
                            MERGE_FIELD(s, "sample_id"), MERGE_FIELD(s, "pmc_id"));
    }
}

/* ---- functions ----------------------------------------------------------------------------- */

typedef void sql_fn(sqlite3_context *ctx, int n, sqlite3_value **v);

static bool is_id(sqlite3_value *v)
{
    return sqlite3_value_type(v) == SQLITE_INTEGER;
}

/* rocl_use(table, id): notes that a row is referred to. */
static void note_use(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    merge_copier *c = sqlite3_user_data(ctx);
    (void)n;
    if (is_id(v[1]) &&
        !merge_ids_add(&c->used[(schema_table)sqlite3_value_int(v[0])], sqlite3_value_int64(v[1])))
        sqlite3_result_error_nomem(ctx);
}

/* rocl_used(table, id) */
static void is_used(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    merge_copier *c = sqlite3_user_data(ctx);
    schema_table t = (schema_table)sqlite3_value_int(v[0]);
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

/* rocl_new(table, id): the id in a flat set; NULL where the input has no such table. What is no id
 * stays as it is, and ids that no row has stay different from each other: rows may have no more in
 * common than an event that is missing. */
static void find_new_id(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    merge_copier *c = sqlite3_user_data(ctx);
    const schema_table t = (schema_table)sqlite3_value_int(v[0]);
    merge_numbers *numbers = &c->numbers[t];
    const int64_t id = sqlite3_value_int64(v[1]);
    (void)n;
    if (!is_id(v[1])) {
        sqlite3_result_value(ctx, v[1]);
        return;
    }
    if (!numbers->present && t != SCHEMA_EVENT)
        return;
    if (numbers->moved && numbers->any && id >= numbers->low && id <= numbers->high) {
        sqlite3_result_int64(ctx, id - numbers->low + 1 + numbers->used);
        return;
    }
    const uint32_t known =
        numbers->moved ? ROCL_NONE : rocl_map_get(&numbers->ids, (uint64_t)id, ROCL_NONE);
    if (known != ROCL_NONE) {
        sqlite3_result_int64(ctx, known);
        return;
    }
    uint32_t number = rocl_map_get(&numbers->dangling, (uint64_t)id, ROCL_NONE);
    if (number == ROCL_NONE) {
        number = numbers->dangling_used++;
        if (!rocl_map_put(&numbers->dangling, (uint64_t)id, number)) {
            sqlite3_result_error_nomem(ctx);
            return;
        }
    }
    sqlite3_result_int64(ctx, -1 - (int64_t)number);
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
        sqlite3_result_error(ctx, SCHEMA_SERIAL_TOO_LARGE, -1);
        return;
    }
    if (fresh > c->serial_last[series])
        c->serial_last[series] = fresh;
    sqlite3_result_int64(ctx, fresh);
}

/* rocl_time(time, zero, more): the time on the aligned clock, and `more` is added; zero: 0 is a
 * time. Other values stay. */
static void move_time(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    merge_copier *c = sqlite3_user_data(ctx);
    int64_t old = sqlite3_value_int64(v[0]), fresh = 0;
    (void)n;
    if (sqlite3_value_type(v[0]) != SQLITE_INTEGER || old < !sqlite3_value_int(v[1])) {
        sqlite3_result_value(ctx, v[0]);
        return;
    }
    if (__builtin_add_overflow(old, c->offset, &fresh) ||
        __builtin_add_overflow(fresh, sqlite3_value_int64(v[2]), &fresh) || fresh < 0) {
        c->early++;
        fresh = -1;
    }
    sqlite3_result_int64(ctx, fresh);
}

/* rocl_clip(time, begin): as --clip moves the begin or the end of an event. */
static void clip_time(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const merge_copier *c = sqlite3_user_data(ctx);
    (void)n;
    if (sqlite3_value_type(v[0]) == SQLITE_INTEGER)
        sqlite3_result_int64(ctx, rocl_filter_clip_time(c->plan->trace->filter,
                                                        sqlite3_value_int64(v[0]),
                                                        sqlite3_value_int(v[1]) != 0));
    else
        sqlite3_result_value(ctx, v[0]);
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
        sqlite3_result_int64(ctx, c->categories.all[i].string);
    else if (sqlite3_value_type(v[0]) != SQLITE_NULL)
        sqlite3_result_int64(ctx, -1); /* it refers to nothing, and still does */
}

/* rocl_environment(id, json): nothing of it but the rank; of a process without one, that which the
 * name of its file tells. */
static void reduce_environment(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const merge_copier *c = sqlite3_user_data(ctx);
    const rocl_capture *of = c->set->capture;
    const bool is_text = sqlite3_value_type(v[1]) == SQLITE_TEXT;
    const char *text = is_text ? (const char *)sqlite3_value_text(v[1]) : "";
    char named[32] = "";
    (void)n;
    for (uint32_t i = 0; i < of->process_count && is_id(v[0]); i++) {
        const rocl_process *p = &of->processes[i];
        if (p->id == sqlite3_value_int64(v[0]) && p->said_by == ROCL_SAID_BY_NAME && p->rank >= 0)
            snprintf(named, sizeof named, "{\"RANK\": \"%d\"}", p->rank);
    }
    char *ranks = *named ? strdup(named) : text ? rocpd_rank_environment(text) : NULL;
    if (ranks)
        sqlite3_result_text(ctx, ranks, -1, free);
    else
        sqlite3_result_error_nomem(ctx);
}

/* rocl_holds(text, piece): the text. SQLite's json_insert() silently drops a piece if memory is
 * out. */
static void check_piece(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const char *text = (const char *)sqlite3_value_text(v[0]);
    const char *piece = (const char *)sqlite3_value_text(v[1]);
    (void)n;
    if (text && piece && strstr(text, piece))
        sqlite3_result_value(ctx, v[0]);
    else
        sqlite3_result_error_nomem(ctx);
}

rocl_status merge_add_functions(merge_copier *c, rocl_error *err)
{
    static const struct {
        const char *name;
        int arguments;
        sql_fn *fn;
    } functions[] = {
        {"rocl_use", 2, note_use},           {"rocl_used", 2, is_used},
        {"rocl_shared", 1, is_shared},       {"rocl_value", 3, value_passes},
        {"rocl_new", 2, find_new_id},        {"rocl_serial", 2, number_serial},
        {"rocl_time", 3, move_time},         {"rocl_clip", 2, clip_time},
        {"rocl_category", 1, find_category}, {"rocl_environment", 2, reduce_environment},
        {"rocl_holds", 2, check_piece},
    };
    sqlite3 *db = rocl_new_db_handle(c->out);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
                                       SQLITE_UTF8 | SQLITE_DIRECTONLY, c, functions[i].fn, NULL,
                                       NULL, NULL) != SQLITE_OK)
            return rocl_fail_memory(err);
    return ROCL_OK;
}
