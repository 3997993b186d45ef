/* The SQL of a row: SELECT values FROM input WHERE it goes into the output. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "merge/copier.h"

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

static const merge_source *track_of(const merge_copier *c, const merge_source *s)
{
    return s->by_track ? merge_set_table(&c->reader.set, schema_table_name(SCHEMA_TRACK)) : NULL;
}

/* What the input has: the column, that of its track, or the default. */
static bool put_stored(const merge_copier *c, rocl_buf *sql, const merge_source *s,
                       const plan_column *column)
{
    const merge_source *track = track_of(c, s);
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

static void put_is_zero(rocl_buf *sql, const merge_source *s, const char *column)
{
    rocl_buf_str(sql, ", ");
    merge_put_field(sql, s, column);
    rocl_buf_str(sql, " IS 0)");
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
    if (schema_rule_of(s->table) != SCHEMA_SELECTED)
        rocl_buf_str(sql, ", 0)");
    else if (!strcmp(column, "end"))
        put_is_zero(sql, s, "start");
    else
        rocl_buf_str(sql, ", 1)");
    return false;
}

static bool is_clipped(const merge_copier *c, const merge_source *s, const char *column)
{
    return c->clip && schema_rule_of(s->table) == SCHEMA_SELECTED &&
           (!strcmp(column, "start") || !strcmp(column, "end"));
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
    } else if (is_clipped(c, s, name)) {
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
    const merge_source *track = track_of(c, s);
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
