/* A cut of a Perfetto trace by time: its packets as they are, not made anew of events, so that
 * also what nobody here understands stays.
 *
 *     plan.c  begins and ends of slices are joined: which packets begin or end a slice that crosses
 *             an edge of the window; what counters are at its start
 *     copy.c  packets within the window; of those outside what later ones depend on
 *
 * Events of a track mostly stand in the order of their times, and are joined as they come. Tracks
 * where they do not are looked through once more, and sorted. What is kept in memory are the slices
 * that are open, those that cross an edge, and a value for each counter.
 *
 * Times of a sequence's own clock are differences: where packets are missing between two, the
 * second gets a new one. What is made at an edge has its time on the trace's clock. */
#include "merge/pftrace/cut.h"

#include <stdlib.h>

#include "filter/filter.h"
#include "trace/pipeline.h"

static rocl_status pack_block(void *ctx, unsigned worker, rocl_block *b, rocl_error *err)
{
    const cut *c = ctx;
    (void)worker;
    return pf_pack(&b->out, &b->in, &c->packing, err);
}

static rocl_status write_block(void *ctx, rocl_block *b, rocl_error *err)
{
    const cut *c = ctx;
    return rocl_out_write(c->out.out, b->out.data, b->out.len, err);
}

static const rocl_pipe_ops pipe_ops = {pack_block, write_block};

bool rocl_pftrace_is_cut(const rocl_trace *t, const rocl_pftrace_options *o)
{
    return t->source_count == 1 && t->sources[0]->ops == &rocl_pftrace_ops &&
           pfr_options_cut(&t->opt) && !o->legacy_tracks && !o->group_by_queue;
}

static rocl_status note_times(cut *c, const pfr_packet *p, uint32_t sequence, const pfr_moment *m,
                              rocl_error *err)
{
    (void)sequence;
    (void)err;
    pfr_note_times(c->file, p, m);
    return ROCL_OK;
}

/* The window as times of the trace. What begins and ends it without being an event of the trace
 * does not matter: nothing was joined yet. */
static rocl_status find_window(cut *c, rocl_error *err)
{
    rocl_trace *t = c->trace;
    pfr_file *f = c->file;
    rocl_status st = ROCL_OK;
    if (f->looked_through) /* by a marker, which only events know */
        st = rocl_pipeline_find_window(t, err);
    else if (f->times_unsure) {
        f->first = INT64_MAX;
        f->last = INT64_MIN;
        st = cut_walk(c, note_times, err);
    }
    if (st == ROCL_OK && !f->looked_through) {
        if (f->first <= f->last && rocl_filter_needs_bounds(t->filter))
            rocl_filter_set_bounds(t->filter, f->first, f->last);
        st = rocl_filter_resolve(t->filter, err);
        if (st == ROCL_OK && f->first <= f->last)
            st = rocl_filter_within(t->filter, f->first, f->last, err);
    }
    rocl_trace_window(t, &c->from, &c->to);
    return st;
}

rocl_status rocl_cut_pftrace(rocl_trace *t, const rocl_pftrace_options *o, rocl_written *report,
                             rocl_error *err)
{
    const rocl_records_input *in = t->sources[0]->state;
    cut c = {.trace = t, .file = in->state, .mode = t->opt.window_mode};
    rocl_status st = pf_packing_of(&c.packing, o, err);
    c.states = calloc(c.file->sequence_count + 1, sizeof *c.states);
    c.told = calloc(c.file->sequence_count + 1, sizeof *c.told);
    if (st == ROCL_OK && (!c.states || !c.told))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = find_window(&c, err);
    if (st == ROCL_OK)
        st = cut_make_plan(&c, err);
    if (st == ROCL_OK)
        st = rocl_piped_open(&c.out, o->path, t->opt.jobs, &pipe_ops, &c, err);
    if (st == ROCL_OK) {
        rocl_progress_phase(t, "writing", 0);
        st = cut_walk(&c, cut_copy_packet, err);
    }
    if (st == ROCL_OK)
        st = cut_close_slices(&c, err);
    t->events[ROCL_REGION] = c.written.slices;
    t->events[ROCL_INSTANT] = c.written.instants;
    t->events[ROCL_SAMPLE] = c.written.values;
    if (st == ROCL_OK)
        st = cut_flush(&c, true, err);
    if (st == ROCL_OK)
        st = rocl_piped_commit(&c.out, t, &c.written.bytes, err);
    rocl_piped_discard(&c.out);
    for (size_t i = 0; i < c.track_count && c.tracks; i++)
        free(c.tracks[i].stack);
    free(c.tracks);
    rocl_map_free(&c.others);
    rocl_sorter_free(c.edges);
    free(c.marks);
    rocl_map_free(&c.counters);
    rocl_buf_free(&c.packet);
    pfr_walk_free(&c.walk);
    free(c.values);
    free(c.open);
    free(c.states);
    free(c.told);
    if (report)
        *report = c.written;
    return st ? st : rocl_trace_outcome(t);
}
