/* One database that is written: it is planned, sets are copied into it, it is closed. */
#include "merge/copier.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/pool.h"
#include "source/db/connection.h"
#include "trace/pipeline.h"

enum { SCHEMA_MAX = 300 }; /* tables in the schema before they are hidden */

/* ---- metadata ---- */

static rocl_status add_tag(merge_copier *c, const char *tag, const char *value, rocl_error *err)
{
    rocl_buf sql = {0};
    rocl_buf_str(&sql, "INSERT INTO ");
    merge_put_target(c, &sql, schema_table_name(SCHEMA_METADATA));
    rocl_buf_str(&sql, " (\"tag\", \"value\") VALUES (");
    merge_put_text(&sql, tag);
    rocl_buf_str(&sql, ", ");
    merge_put_text(&sql, value);
    rocl_buf_str(&sql, ")");
    return merge_run(c, schema_table_name(SCHEMA_METADATA), &sql, err);
}

static rocl_status add_names(merge_copier *c, rocl_error *err)
{
    const merge_set *set = &c->reader.set;
    bool own =
        !c->set->fresh && set->version && *set->version > '3' && !set->by_track && !c->plan->flat;
    if (merge_joins(c))
        return ROCL_OK;
    rocl_status st = add_tag(c, "schema_version", own ? set->version : c->plan->version, err);
    if (st == ROCL_OK && c->slice[0] && !c->set->fresh && !c->plan->flat)
        st = add_tag(c, SCHEMA_SLICE_TAG, c->slice, err);
    if (st == ROCL_OK)
        st = add_tag(c, "uuid", c->set->suffix, err);
    return st ? st : add_tag(c, "guid", c->set->guid, err);
}

/* Slices that are put together are one with the numbers of all; where none is missing, it is none.
 */
static rocl_status add_slices(merge_copier *c, rocl_error *err)
{
    const char *slices = c->set->slices, *of = slices ? strchr(slices, '/') : NULL;
    unsigned long count = 1;
    if (c->slice[0] || c->plan->flat || !of)
        return ROCL_OK;
    for (const char *p = slices; p < of; p++)
        count += *p == ',';
    return count < strtoul(of + 1, NULL, 10) ? add_tag(c, SCHEMA_SLICE_TAG, slices, err) : ROCL_OK;
}

/* What else somebody has noted. */
static rocl_status copy_metadata(merge_copier *c, rocl_error *err)
{
    const merge_source *s = merge_set_table(&c->reader.set, schema_table_name(SCHEMA_METADATA));
    rocl_buf sql = {0};
    if (!s || !merge_source_field(s, "tag") || !merge_source_field(s, "value") || merge_joins(c))
        return ROCL_OK;
    rocl_buf_str(&sql, "INSERT INTO ");
    merge_put_target(c, &sql, s->base);
    rocl_buf_str(&sql, " (\"tag\", \"value\") SELECT S.\"tag\", S.\"value\" FROM ");
    merge_put_source(&sql, s);
    rocl_buf_str(&sql, " AS S WHERE S.\"tag\" NOT IN ('schema_version', 'uuid', 'guid', "
                       "'" SCHEMA_SLICE_TAG "') ORDER BY S.\"id\"");
    rocl_status st = merge_run(c, s->name, &sql, err);
    return st ? st : add_slices(c, err);
}

/* ---- rows are checked while they are copied ------------------------------------------------ */

/* SQLite copies records without a look at them, and reads damaged ones as whatever they look like.
 * So the rows of a set are read as the other tools would, while they are copied. */

typedef struct check_task {
    merge_copier *copier;
    rocl_status (*copy)(merge_copier *c, rocl_error *err);
} check_task;

static rocl_status check_set(merge_copier *c, rocl_error *err)
{
    const merge_set *set = &c->reader.set;
    const rocl_source *source = c->reader.source;
    const rocpd_file *file = source->state;
    rocl_status st = ROCL_OK;
    if (!c->checked)
        st = rocl_source_connect(&c->checked, c->plan->trace, source, &file->state, err);
    for (size_t i = 0; i < set->count && st == ROCL_OK; i++)
        st = rocl_db_check_rows(c->checked, set->tables[i].name, err);
    return st;
}

static rocl_status check_or_copy(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    check_task *b = ctx;
    (void)worker;
    return index == 0 ? check_set(b->copier, err) : b->copy(b->copier, err);
}

/* Of two failures it is the first that is told: it names the page. */
rocl_status merge_check_and(merge_copier *c, rocl_status (*copy)(merge_copier *c, rocl_error *err),
                            rocl_error *err)
{
    rocl_trace *t = c->plan->trace;
    rocpd_set *set = t->captures[c->set->capture->index]->state;
    check_task b = {c, copy};
    if (set->sound)
        return copy(c, err);
    rocl_status st = rocl_run_tasks(t->opt.jobs > 1 ? 2 : 1, 2, check_or_copy, &b, err);
    set->sound = st == ROCL_OK;
    return st;
}

/* ---- sets ---- */

static rocl_status detach(merge_copier *c, rocl_error *err)
{
    rocl_db_close(c->checked);
    c->checked = NULL;
    if (!c->attached)
        return ROCL_OK;
    c->attached = false;
    return rocl_new_db_exec(c->out, "DETACH src", err);
}

static const plan_set *find_set(const merge_plan *p, const rocl_capture *capture)
{
    for (size_t i = 0; i < p->set_count; i++)
        if (p->sets[i].capture == capture)
            return &p->sets[i];
    return NULL;
}

static void forget_set(merge_copier *c)
{
    merge_number_next(c);
    for (schema_table t = 0; t < SCHEMA_TABLES; t++)
        merge_ids_free(&c->used[t]);
    rocl_map_free(&c->counters);
    c->counters = (rocl_map){0};
    merge_categories_free(&c->categories);
}

/* A flat set has its tables from the first capture on. */
static rocl_status begin_set(merge_copier *c, rocl_error *err)
{
    if (c->plan->flat && c->flat_begun)
        return ROCL_OK;
    c->flat_begun = true;
    rocl_status st = merge_create_tables(c, err);
    return st ? st : add_names(c, err);
}

static rocl_status copy_set(merge_copier *c, rocl_error *err)
{
    rocl_status st;
    if ((st = merge_categories_read(c, err)) || (st = begin_set(c, err)) ||
        (c->selection && (st = merge_mark(c, err))) ||
        (c->plan->flat && (st = merge_number_set(c, err))) || (st = merge_copy_tables(c, err)) ||
        (st = merge_categories_write(c, err)))
        return st;
    return copy_metadata(c, err);
}

/* Rows of events. */
static rocl_status write_set(merge_copier *c, rocl_error *err)
{
    newset_target to = {.db = c->out,
                        .suffix = c->set->suffix,
                        .flat = c->plan->flat,
                        .whole = !c->plan->trace->filter && c->selection->whole};
    rocl_status st = begin_set(c, err);
    if (st != ROCL_OK)
        return st;
    for (schema_table t = 0; t < SCHEMA_TABLES; t++)
        to.used[t] = c->numbers[t].used;
    memcpy(to.base, c->serial_base, sizeof to.base);
    memcpy(to.last, c->serial_last, sizeof to.last);
    st = newset_write(c->selection->fresh, &to, err);
    for (schema_table t = 0; t < SCHEMA_TABLES; t++)
        c->numbers[t].used = to.used[t];
    memcpy(c->serial_last, to.last, sizeof to.last);
    c->rows += to.rows;
    c->changed += to.changed;
    return st;
}

static rocl_status open_input(merge_copier *c, const rocl_capture *capture, rocl_error *err)
{
    rocl_trace *t = c->plan->trace;
    bool file;
    if (c->reader.source && c->reader.source != t->captures[capture->index]->source) {
        rocl_status st = detach(c, err);
        if (st != ROCL_OK)
            return st;
    }
    rocl_status st = merge_reader_to(&c->reader, t, capture, &file, err);
    if (st != ROCL_OK || !file)
        return st;
    char *uri = rocl_db_uri(c->reader.db);
    rocl_buf sql = {0};
    if (!uri)
        return rocl_fail_memory(err);
    rocl_buf_str(&sql, "ATTACH ");
    merge_put_text(&sql, uri);
    rocl_buf_str(&sql, " AS src");
    free(uri);
    st = merge_run(c, "sqlite_master", &sql, err);
    c->attached = st == ROCL_OK;
    rocl_db_limit_lengths(c->reader.db, rocl_new_db_handle(c->out));
    return st;
}

rocl_status merge_copier_add(merge_copier *c, const rocl_capture *capture,
                             merge_selection *selection, rocl_error *err)
{
    c->set = find_set(c->plan, capture);
    c->selection = selection;
    c->offset = c->plan->trace->captures[capture->index]->offset;
    if (!c->set)
        return ROCL_OK;
    bool fresh = c->set->fresh, full = !c->plan->flat && c->in_schema > SCHEMA_MAX;
    /* Slices of one process follow each other: its tables are there for all of them. */
    rocl_status st = full && !merge_joins(c) ? merge_hide_tables(c, err) : ROCL_OK;
    if (st == ROCL_OK && !fresh)
        st = open_input(c, capture, err);
    if (st == ROCL_OK)
        st = rocl_new_db_exec(c->out, "BEGIN", err);
    if (st == ROCL_OK)
        st = fresh ? write_set(c, err) : merge_check_and(c, copy_set, err);
    if (st == ROCL_OK)
        st = rocl_new_db_exec(c->out, "COMMIT", err);
    forget_set(c);
    return st;
}

rocl_status merge_copier_begin(merge_copier *c, const merge_plan *plan, rocl_new_db *out,
                               rocl_error *err)
{
    c->plan = plan;
    c->out = out;
    c->made = calloc(plan->set_count * plan->table_count + 1, sizeof *c->made);
    if (!c->made)
        return rocl_fail_memory(err);
    /* Inputs are attached without locks, for which theirs must be exclusive. */
    rocl_status st = rocl_new_db_exec(out, "PRAGMA locking_mode=EXCLUSIVE", err);
    if (st == ROCL_OK)
        merge_watch_progress(c);
    return st ? st : merge_functions_add(c, err);
}

rocl_status merge_copier_end(merge_copier *c, rocl_error *err)
{
    rocl_status st = detach(c, err);
    rocl_status closed = merge_reader_close(&c->reader, st == ROCL_OK ? err : NULL);
    st = st ? st : closed;
    if (st == ROCL_OK && !c->plan->flat)
        st = merge_hide_tables(c, err);
    if (st == ROCL_OK)
        st = merge_views_make(c, err);
    return st || c->plan->flat ? st : merge_show_tables(c, err);
}

void merge_copier_free(merge_copier *c)
{
    forget_set(c);
    merge_hidden_free(c);
    free(c->made);
    if (c->out)
        detach(c, NULL);
    merge_reader_close(&c->reader, NULL);
    *c = (merge_copier){0};
}

/* ---- the database -------------------------------------------------------------------------- */

/* Bytes of cache for tables that only grow at their ends. A flat set has an index of strings. */
#define APPENDING ((size_t)4 << 20)

static void say_what_changes(const merge_plan *p)
{
    if (p->by_track)
        rocl_notice(p->trace, "%zu of %zu processes are of schema 4: written as schema 3",
                    p->by_track, p->set_count);
    if (p->left_out == 1)
        rocl_notice(p->trace, "%s: table %s is left out: no schema of traces has it", p->left_path,
                    p->left_name);
    else if (p->left_out)
        rocl_notice(p->trace,
                    "%zu tables are left out, %s of %s first: no schema of traces has them",
                    p->left_out, p->left_name, p->left_path);
}

rocl_status merge_writer_open(merge_writer *w, rocl_trace *t, const rocl_source *source,
                              const rocl_rocpd_options *o, const char *path, rocl_error *err)
{
    rocl_status st = rocl_refuse_input(t, path, err);
    if (st == ROCL_OK)
        st = merge_plan_make(&w->plan, t, source, o->flat, o->rebuild, err);
    if (st == ROCL_OK)
        st = rocl_new_db_open(&w->db, path, o->flat ? t->opt.memory / 2 : APPENDING, err);
    if (st != ROCL_OK)
        return st;
    say_what_changes(&w->plan);
    rocl_progress_phase(t, "copying", w->plan.rows);
    w->copier.keep_environment = o->keep_environment;
    return merge_copier_begin(&w->copier, &w->plan, w->db, err);
}

rocl_status merge_writer_add(merge_writer *w, const rocl_capture *c, merge_selection *selection,
                             rocl_error *err)
{
    rocl_trace *t = w->plan.trace;
    if (t->filter)
        rocl_progress_phase(t, "copying", 0); /* reading and copying take turns */
    w->copier.clip = selection && t->opt.window_mode == ROCL_WINDOW_CLIP;
    rocl_trace_window(t, &w->copier.from, &w->copier.to);
    return merge_copier_add(&w->copier, c, selection, err);
}

rocl_status merge_writer_close(merge_writer *w, rocl_new_db **db, rocl_written *report,
                               rocl_error *err)
{
    uint64_t bytes;
    rocl_status st = merge_copier_end(&w->copier, err);
    if (st == ROCL_OK) {
        report->rows += w->copier.rows;
        report->changed += w->copier.changed;
        if (w->copier.early)
            rocl_notice(w->plan.trace,
                        "%" PRIu64
                        " times are before time 0 on the clocks that are set: written as -1",
                        w->copier.early);
        merge_copier_free(&w->copier);
        st = rocl_new_db_close(w->db, &bytes, err);
    }
    if (st != ROCL_OK)
        return st;
    report->bytes += bytes;
    report->files++;
    *db = w->db;
    w->db = NULL;
    merge_writer_free(w);
    return ROCL_OK;
}

void merge_writer_free(merge_writer *w)
{
    merge_copier_free(&w->copier);
    rocl_new_db_discard(w->db);
    merge_plan_free(&w->plan);
    *w = (merge_writer){0};
}
