/* What the SQL of a merge calls: sets of ids and numbers that are not in tables. */
#include <stdlib.h>

#include "merge/copier.h"

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
static void use(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    merge_copier *c = sqlite3_user_data(ctx);
    (void)n;
    if (is_id(v[1]) && !merge_ids_add(&c->used[table_argument(v[0])], sqlite3_value_int64(v[1])))
        sqlite3_result_error_nomem(ctx);
}

/* rocl_used(table, id) */
static void used(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    merge_copier *c = sqlite3_user_data(ctx);
    schema_table t = table_argument(v[0]);
    merge_ids *ids = t < SCHEMA_EVENT_TABLES ? &c->selection->rows[t] : &c->used[t];
    (void)n;
    sqlite3_result_int(ctx, is_id(v[1]) && merge_ids_has(ids, sqlite3_value_int64(v[1])));
}

/* rocl_shared(event_id): is it one of a region or sampled value selected? */
static void shared(sqlite3_context *ctx, int n, sqlite3_value **v)
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
static void new_id(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const merge_copier *c = sqlite3_user_data(ctx);
    schema_table t = table_argument(v[0]);
    (void)n;
    if (!c->numbers[t].present || sqlite3_value_type(v[1]) == SQLITE_NULL)
        return;
    sqlite3_result_int64(ctx, is_id(v[1]) ? merge_number_of(c, t, sqlite3_value_int64(v[1])) : -1);
}

/* rocl_serial(series, number): the number in a flat set. */
static void serial(sqlite3_context *ctx, int n, sqlite3_value **v)
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
static void set_time(sqlite3_context *ctx, int n, sqlite3_value **v)
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

/* rocl_category(id): the string of a category of schema 4. */
static void category(sqlite3_context *ctx, int n, sqlite3_value **v)
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
static void environment(sqlite3_context *ctx, int n, sqlite3_value **v)
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
        {"rocl_use", 2, use},
        {"rocl_used", 2, used},
        {"rocl_shared", 1, shared},
        {"rocl_value", 3, value_passes},
        {"rocl_new", 2, new_id},
        {"rocl_serial", 2, serial},
        {"rocl_time", 2, set_time},
        {"rocl_category", 1, category},
        {"rocl_environment", 1, environment},
    };
    sqlite3 *db = rocl_new_db_handle(c->out);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
                                       SQLITE_UTF8 | SQLITE_DIRECTONLY, c, functions[i].fn, NULL,
                                       NULL, NULL) != SQLITE_OK)
            return rocl_fail_memory(err);
    return ROCL_OK;
}
