/* The second walk, by all workers: packets of a piece -> records. */
#include <stdlib.h>

#include "source/pftrace/worker.h"

static rocl_status put_packet(pfr_worker *w, const pfr_packet *p, rocl_error *err)
{
    rocl_source_record r;
    pfr_open_sequence *s = w->sequence = pfr_open_sequence_of(w, p);
    w->packet = p;
    if (!s)
        return rocl_fail_memory(err);
    if (p->first || p->flags & SEQ_CLEARED)
        rocl_map_free(&s->interned);
    rocl_fault fault;
    pfr_moment m;
    pfr_state_step(&s->state, &w->file->clocks, w->file->bytes, p, &m);
    if (p->interned.n && s->state.valid && !pfr_note_interned(w, p))
        return rocl_fail_memory(err);
    if (m.lost)
        rocl_record_fault(w->to, p->at, ROCL_FAULT_DROPPED,
                          "packets before this one were lost by the tracer");
    if (p->at + 1 == w->file->lost_at)
        rocl_record_fault(w->to, p->at, ROCL_FAULT_DROPPED,
                          "the tracer says that it overwrote or discarded data");
    if (!pfr_is_event(p))
        return ROCL_OK;
    const char *why = pfr_packet_fault(p, &m, &fault);
    if (why)
        return rocl_record_fault(w->to, p->at, fault, why);
    rocl_record_begin(&r, ROCL_REGION, p->at);
    r.as.e.start = r.as.e.end = m.time;
    if (p->payload == PKT_TRACK_EVENT)
        return pfr_put_track_event(w, &r, err);
    return p->payload == PKT_GPU_STAGE ? pfr_put_stage(w, &r, err)
                                       : pfr_put_gpu_counters(w, &r, err);
}

rocl_status pfr_parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                            rocl_error *err)
{
    pfr_file *f = in->state;
    const size_t n = (size_t)(piece->last - piece->first);
    pfr_worker *w = rocl_records_own(to, sizeof *w);
    pfr_packet p;
    size_t got;
    if (!w)
        return rocl_fail_memory(err);
    w->file = f;
    w->to = to;
    w->piece = piece->section;
    w->begin = f->bases[piece->section];
    w->last = ROCL_NONE;
    w->bytes.len = 0;
    if (!rocl_buf_reserve(&w->bytes, n))
        return rocl_fail_memory(err);
    rocl_status st =
        rocl_spool_read(in->files[piece->file].spool, w->bytes.data, n, piece->first, &got, err);
    if (st == ROCL_OK && got < n)
        st = rocl_fail(err, ROCL_INPUT, "%s: the file became shorter", in->files[0].path);
    if (st != ROCL_OK)
        return st;
    pfr_walk_begin(&w->walk, w->bytes.data, n, w->begin);
    while (st == ROCL_OK && pfr_walk_next(&w->walk, &p))
        st = p.why ? rocl_record_fault(to, p.at, ROCL_FAULT_BAD_LINE, p.why)
                   : put_packet(w, &p, err);
    pfr_forget_piece(w);
    return st == ROCL_OK && w->walk.failed ? rocl_fail_memory(err) : st;
}
