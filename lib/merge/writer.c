#include "merge/writer.h"

#include <inttypes.h>

#include "trace/pipeline.h"

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

static void say_what_is_early(const merge_writer *w)
{
    if (w->copier.early)
        rocl_notice(w->plan.trace,
                    "%" PRIu64 " times are before time 0 on the clocks that are set: written as -1",
                    w->copier.early);
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
        say_what_is_early(w);
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
