/* One database of many, or of those events that pass the filters. */
#include "merge/writer.h"

static rocl_status add_selected(void *ctx, const rocl_capture *c, merge_selection *s,
                                rocl_error *err)
{
    return merge_writer_add(ctx, c, s, err);
}

static rocl_status add_all(rocl_trace *t, merge_writer *w, rocl_error *err)
{
    const merge_way way = {.slices = {.count = 1}, .rebuild = w->plan.rebuild};
    return merge_select(t, &way, add_selected, w, err);
}

static rocl_status write_whole(rocl_trace *t, const rocl_rocpd_options *o,
                               rocl_written *report, rocl_error *err)
{
    merge_writer w = {0};
    rocl_new_db *db = NULL;
    rocl_status st = merge_writer_open(&w, t, NULL, o, o->path, err);
    if (st == ROCL_OK)
        st = add_all(t, &w, err);
    if (st == ROCL_OK)
        st = merge_writer_close(&w, &db, report, err);
    merge_writer_free(&w);
    return st ? st : rocl_new_db_commit(db, err);
}

rocl_status rocl_write_rocpd(rocl_trace *t, const rocl_rocpd_options *o, rocl_written *report,
                             rocl_error *err)
{
    rocl_written own = {0};
    rocl_status st = o->slices || o->slice_ns ? merge_write_slices(t, o, &own, err)
                                              : write_whole(t, o, &own, err);
    if (report)
        *report = own;
    return st ? st : own.changed ? ROCL_PARTIAL : rocl_trace_outcome(t);
}
