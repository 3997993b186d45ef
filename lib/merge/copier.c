/* One database that is written: it is planned, sets are copied into it, it is closed. */
#include "merge/copier.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/pool.h"
#include "source/db/connection.h"
#include "trace/pipeline.h"

enum { SCHEMA_MAX = 300 }; /* tables in the schema before they are hidden */

/* ---- metadata ---- */

static rocl_status add_tag(merge_copier *c, const char *tag, const char *value, rocl_error *err)
{
    return merge_run(c, "rocpd_metadata", err,
                     "INSERT INTO main.\"rocpd_metadata%w\" (\"tag\", \"value\") VALUES (%Q, %Q)",
                     c->set->suffix, tag, value);
}

/* Makes the tables of a set and names it; a flat one has its tables from the first capture on. */
static rocl_status begin_set(merge_copier *c, rocl_error *err)
{
    const merge_set *set = &c->reader->set;
    const bool flat = c->plan->flat, fresh = c->set->fresh;
    bool own = !fresh && !flat && set->version && *set->version > '3' && !set->by_track;
    if (flat && c->flat_begun)
        return ROCL_OK;
    c->flat_begun = true;
    rocl_status st = merge_create_tables(c, err);
    if (st != ROCL_OK || merge_joins(c))
        return st;
    st = add_tag(c, "schema_version", own ? set->version : c->plan->version, err);
    if (st == ROCL_OK && c->slice[0] && !fresh && !flat)
        st = add_tag(c, SCHEMA_SLICE_TAG, c->slice, err);
    if (st == ROCL_OK)
        st = add_tag(c, "uuid", c->set->suffix, err);
    return st ? st : add_tag(c, "guid", c->set->guid, err);
}

/* ---- sets ---------------------------------------------------------------------------------- */

static rocl_status copy_set(merge_copier *c, rocl_error *err)
{
    rocl_status st;
    if ((st = merge_read_categories(c, err)) || (st = begin_set(c, err)) ||
        (c->selection && (st = merge_mark_used(c, err))) ||
        (c->plan->flat && (st = merge_number_set(c, err))) || (st = merge_copy_tables(c, err)) ||
        (st = merge_write_categories(c, err)))
        return st;
    /* Further metadata. Joined slices become one slice with the numbers of all; if none is missing,
     * it is no longer a slice. */
    const merge_source *s = merge_set_table(&c->reader->set, "rocpd_metadata");
    const char *slices = c->set->slices, *of = slices ? strchr(slices, '/') : NULL;
    unsigned long count = 1;
    if (!s || !merge_source_field(s, "tag") || !merge_source_field(s, "value") || merge_joins(c))
        return ROCL_OK;
    st = merge_run(
        c, s->name, err,
        "INSERT INTO main.\"%w%w\" (\"tag\", \"value\") SELECT S.\"tag\", S.\"value\" FROM "
        "src%d.\"%w\" "
        "AS S WHERE S.\"tag\" NOT IN ('schema_version', 'uuid', 'guid', '" SCHEMA_SLICE_TAG "') "
        "ORDER BY S.\"id\"",
        s->base, c->set->suffix, merge_src_number(c), s->name);
    if (st != ROCL_OK || c->slice[0] || c->plan->flat || !of)
        return st;
    for (const char *p = slices; p < of; p++)
        count += *p == ',';
    return count < strtoul(of + 1, NULL, 10) ? add_tag(c, SCHEMA_SLICE_TAG, slices, err) : ROCL_OK;
}

static rocl_status check_or_copy(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    merge_copier *c = ctx;
    merge_reader *r = c->reader;
    const rocpd_file *file = r->source->state;
    rocl_status st = ROCL_OK;
    (void)worker;
    if (index != 0)
        return copy_set(c, err);
    if (!r->checked)
        st = rocl_source_connect(&r->checked, c->plan->trace, r->source, &file->state, err);
    for (size_t i = 0; i < r->set.count && st == ROCL_OK; i++)
        st = rocl_db_check_rows(r->checked, r->set.tables[i].name, err);
    return st;
}

/* Writes rows made of events. */
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

static rocl_status close_input(merge_copier *c, merge_reader *r, rocl_error *err)
{
    char sql[32];
    rocl_status st = ROCL_OK;
    rocl_db_close(r->checked);
    if (r->attached) {
        snprintf(sql, sizeof sql, "DETACH src%d", (int)(r - c->readers));
        st = rocl_new_db_exec(c->out, sql, err);
    }
    rocl_status closed = merge_reader_close(r, st == ROCL_OK ? err : NULL);
    return st ? st : closed;
}

static rocl_status open_input(merge_copier *c, const rocl_capture *capture, rocl_error *err)
{
    rocl_trace *t = c->plan->trace;
    const rocl_source *source = t->captures[capture->index]->source;
    merge_reader *r = c->reader = merge_reader_choose(c->readers, source);
    rocl_status st = r->source == source ? ROCL_OK : close_input(c, r, err);
    if (st == ROCL_OK)
        st = merge_reader_to(r, t, capture, NULL, err);
    if (st == ROCL_OK && !r->attached) {
        char *uri = rocl_db_uri(r->db);
        if (!uri)
            return rocl_fail_memory(err);
        st = merge_run(c, "sqlite_master", err, "ATTACH %Q AS src%d", uri, merge_src_number(c));
        free(uri);
        r->attached = st == ROCL_OK;
    }
    if (st == ROCL_OK)
        rocl_db_limit_lengths(r->db, rocl_new_db_handle(c->out));
    return st;
}

/* Frees what is known of the set in hand. */
static void free_set(merge_copier *c)
{
    merge_end_numbers(c);
    for (schema_table t = 0; t < SCHEMA_TABLES; t++)
        merge_ids_free(&c->used[t]);
    rocl_map_free(&c->counters);
    c->counters = (rocl_map){0};
    merge_free_categories(&c->categories);
}

/* ---- the database -------------------------------------------------------------------------- */

/* Bytes of cache for tables that only grow at their ends. A flat set has an index of strings. */
#define APPENDING ((size_t)4 << 20)

rocl_status merge_writer_open(merge_writer *w, rocl_trace *t, const rocl_source *source,
                              const rocl_rocpd_options *o, const char *path, rocl_error *err)
{
    merge_plan *p = &w->plan;
    rocl_status st = rocl_refuse_input(t, path, err);
    if (st == ROCL_OK)
        st = merge_plan_make(p, t, source, o->flat, o->rebuild, err);
    if (st == ROCL_OK)
        st = rocl_new_db_open(&w->db, path, o->flat ? t->opt.memory / 2 : APPENDING, err);
    if (st != ROCL_OK)
        return st;
    if (p->by_track)
        rocl_notice(t, "%zu of %zu processes are of schema 4: written as schema 3", p->by_track,
                    p->set_count);
    if (p->left_out == 1)
        rocl_notice(t, "%s: table %s is left out: it is not part of any rocpd schema", p->left_path,
                    p->left_name);
    else if (p->left_out)
        rocl_notice(
            t,
            "%zu tables are left out, the first is %s of %s: they are not part of any rocpd schema",
            p->left_out, p->left_name, p->left_path);
    rocl_progress_phase(t, "copying", p->rows);
    merge_copier *c = &w->copier;
    c->keep_environment = o->keep_environment;
    c->plan = p;
    c->out = w->db;
    c->reader = c->readers;
    c->made = calloc(p->set_count * p->table_count + 1, sizeof *c->made);
    if (!c->made)
        return rocl_fail_memory(err);
    /* Inputs are attached without locks, for which theirs must be exclusive. */
    st = rocl_new_db_exec(w->db, "PRAGMA locking_mode=EXCLUSIVE", err);
    return st ? st : merge_add_functions(c, err);
}

rocl_status merge_writer_add(merge_writer *w, const rocl_capture *capture,
                             merge_selection *selection, rocl_error *err)
{
    rocl_trace *t = w->plan.trace;
    merge_copier *c = &w->copier;
    const uint64_t before = c->rows;
    if (t->filter)
        rocl_progress_phase(t, "copying", 0); /* reading and copying take turns */
    c->clip = selection && t->opt.window_mode == ROCL_WINDOW_CLIP;
    c->selection = selection;
    c->offset = t->captures[capture->index]->offset;
    const rocl_process_clock *clocks = t->captures[capture->index]->clocks;
    c->clock = clocks ? clocks[0] : (rocl_process_clock){0};
    for (uint32_t i = 1; clocks && i < capture->process_count; i++)
        if (clocks[i].host != clocks[0].host || clocks[i].gpu != clocks[0].gpu)
            return rocl_fail(err, ROCL_USAGE,
                             "%s: its processes have one set of tables: their clocks cannot be "
                             "shifted differently",
                             capture->path);
    c->set = NULL;
    for (size_t i = 0; i < w->plan.set_count && !c->set; i++)
        if (w->plan.sets[i].capture == capture)
            c->set = &w->plan.sets[i];
    if (!c->set)
        return ROCL_OK;
    bool fresh = c->set->fresh, full = !w->plan.flat && c->in_schema > SCHEMA_MAX;
    /* Slices of one process follow each other: its tables are there for all of them. */
    rocl_status st = full && !merge_joins(c) ? merge_hide_tables(c, err) : ROCL_OK;
    if (st == ROCL_OK && !fresh)
        st = open_input(c, capture, err);
    if (st == ROCL_OK)
        st = rocl_new_db_exec(c->out, "BEGIN", err);
    rocpd_set *set = fresh ? NULL : t->captures[capture->index]->state;
    if (st == ROCL_OK && fresh)
        st = write_set(c, err);
    else if (st == ROCL_OK && set->sound)
        st = copy_set(c, err);
    else if (st == ROCL_OK) {
        /* SQLite copies records without a look at them, and reads damaged ones as whatever they
         * look like. So the rows of a set are also read as by the other tools while they are
         * copied. Of two failures that of the check, the first task, is reported: it names the
         * page. */
        st = rocl_run_tasks(t->opt.jobs > 1 ? 2 : 1, 2, check_or_copy, c, err);
        set->sound = st == ROCL_OK;
    }
    if (st == ROCL_OK)
        st = rocl_new_db_exec(c->out, "COMMIT", err);
    free_set(c);
    if (st == ROCL_OK && !selection && !t->opt.strict) {
        w->copied++;
        w->copied_rows += c->rows - before;
    }
    return st;
}

static void free_copier(merge_copier *c)
{
    free_set(c);
    merge_free_hidden(c);
    free(c->made);
    for (size_t i = 0; i < MERGE_READERS; i++)
        close_input(c, &c->readers[i], NULL);
    *c = (merge_copier){0};
}

rocl_status merge_writer_close(merge_writer *w, rocl_new_db **db, rocl_written *report,
                               rocl_error *err)
{
    uint64_t bytes;
    merge_copier *c = &w->copier;
    const bool flat = w->plan.flat;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < MERGE_READERS && st == ROCL_OK; i++)
        st = close_input(c, &c->readers[i], err);
    if (st == ROCL_OK && !flat)
        st = merge_hide_tables(c, err);
    if (st == ROCL_OK)
        st = merge_make_views(c, err);
    if (st == ROCL_OK && !flat)
        st = merge_show_tables(c, err);
    if (st != ROCL_OK)
        return st;
    report->rows += c->rows;
    report->copied_rows += w->copied_rows;
    report->copied += w->copied;
    report->changed += c->changed + c->early;
    if (c->early)
        rocl_notice(w->plan.trace,
                    "%" PRIu64
                    " times are before time 0 or out of range on the aligned clocks: written "
                    "as -1, and readers leave their events out",
                    c->early);
    free_copier(c);
    st = rocl_new_db_close(w->db, &bytes, err);
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
    free_copier(&w->copier);
    rocl_new_db_discard(w->db);
    merge_plan_free(&w->plan);
    *w = (merge_writer){0};
}
