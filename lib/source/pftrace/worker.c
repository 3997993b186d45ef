/* The second walk, by all workers: packets of a piece -> records; the states of sequences at the
 * current packet, and interned texts. */
#include <stdlib.h>

#include "source/pftrace/worker.h"

static void forget_piece(pfr_worker *w)
{
    for (size_t i = 0; i < w->open_count; i++)
        rocl_map_free(&w->open[i].interned);
    w->open_count = w->value_count = 0;
    rocl_map_free(&w->numbers);
    rocl_map_free(&w->sums);
}

void pfr_free_worker(void *state)
{
    pfr_worker *w = state;
    forget_piece(w);
    pfr_walk_free(&w->walk);
    rocl_buf_free(&w->bytes);
    rocl_buf_free(&w->name);
    free(w->open);
    free(w->texts);
    free(w->values);
    free(w->counted);
    free(w);
}

/* The sequence of a packet, in its state before the packet. NULL: memory is out. */
static pfr_open_sequence *open_sequence(pfr_worker *w, const pfr_packet *p)
{
    const uint32_t number = pfr_sequence(w->file, p);
    if (w->last < w->open_count && w->open[w->last].number == number)
        return &w->open[w->last];
    w->last = rocl_map_get(&w->numbers, number, ROCL_NONE);
    if (w->last == ROCL_NONE) {
        if (!ROCL_GROW(w->open, w->open_cap, w->open_count + 1) ||
            !rocl_map_put(&w->numbers, number, (uint32_t)w->open_count))
            return NULL;
        w->last = (uint32_t)w->open_count++;
        w->open[w->last] = (pfr_open_sequence){
            .number = number, .state = pfr_state_before(w->file, number, w->piece)};
    }
    return &w->open[w->last];
}

static uint64_t interned_key(unsigned table, uint64_t iid)
{
    return iid ^ rocl_mix64(table);
}

/* Notes what a packet interns, which the index knows already, for the following packets of the
 * piece. False: memory is out. */
static bool note_interned(pfr_worker *w, const pfr_packet *p)
{
    rocl_pb r = rocl_pb_of(p->interned);
    unsigned table;
    uint64_t iid;
    rocl_view bytes;
    while (pfr_interned_next(&r, &table, &iid, &bytes)) {
        const uint32_t id = rocl_strings_put(w->file->bytes, bytes.p, bytes.n);
        if (id == ROCL_NONE || !rocl_map_put(&w->sequence->interned, interned_key(table, iid), id))
            return false;
    }
    return true;
}

uint32_t pfr_find_interned(pfr_worker *w, unsigned table, uint64_t iid)
{
    pfr_open_sequence *s = w->sequence;
    const uint64_t key = interned_key(table, iid);
    uint32_t id = rocl_map_get(&s->interned, key, ROCL_NONE);
    if (id == ROCL_NONE && s->state.cleared <= w->begin) {
        id = pfr_interned_before(w->file, s->number, table, iid, w->begin, s->state.cleared);
        if (id != ROCL_NONE && !rocl_map_put(&s->interned, key, id))
            w->walk.failed = true;
    }
    return id == ROCL_NONE ? 0 : id;
}

bool pfr_was_interned(const pfr_worker *w, unsigned table, uint64_t iid)
{
    return rocl_map_get(&w->sequence->interned, interned_key(table, iid), ROCL_NONE) != ROCL_NONE;
}

pfr_text *pfr_text_of(pfr_worker *w, uint32_t bytes)
{
    if (bytes == ROCL_NONE || !ROCL_GROW(w->texts, w->text_cap, bytes + (size_t)1)) {
        w->walk.failed = true;
        w->no_text = (pfr_text){0};
        return &w->no_text;
    }
    return &w->texts[bytes];
}

uint32_t pfr_text_id(pfr_worker *w, uint32_t bytes)
{
    pfr_text *f = pfr_text_of(w, bytes);
    if (!bytes)
        return 0;
    if (!f->text)
        f->text = rocl_records_text(w->to, pfr_bytes(w->file, bytes)) + 1;
    return f->text - 1;
}

/* ---- packets --------------------------------------------------------------------------------- */

static rocl_status put_packet(pfr_worker *w, const pfr_packet *p, rocl_error *err)
{
    rocl_source_record r;
    pfr_open_sequence *s = w->sequence = open_sequence(w, p);
    w->packet = p;
    if (!s)
        return rocl_fail_memory(err);
    if (p->first || p->flags & SEQ_CLEARED)
        rocl_map_free(&s->interned);
    rocl_fault fault;
    pfr_moment m;
    pfr_state_step(&s->state, &w->file->clocks, w->file->bytes, p, &m);
    if (p->interned.n && s->state.valid && !note_interned(w, p))
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
    forget_piece(w);
    return st == ROCL_OK && w->walk.failed ? rocl_fail_memory(err) : st;
}
