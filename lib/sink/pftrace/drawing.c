/* Some of a capture's sequences, one after the other. Each drawing reads its own range of the
 * sorter, so several can be written at once. */
#include <stdio.h>

#include "sink/pftrace/pf.h"
#include "timeline/drawing.h"

/* ---- what the timeline draws ----------------------------------------------------------------- */

static rocl_status begin_sequence(rocl_drawing *base, int64_t from, rocl_error *err)
{
    pf_drawing *p = pf_drawing_of(base);
    const pf_sink *s = p->sink;
    const pf_owners *w = &s->owners;
    const uint64_t sequence = w->at->first_sequence + base->at;
    const uint64_t nth = sequence - w->places[0].first_sequence; /* of the trace */
    (void)err;
    p->uuids = (pf_numbers){w->first_track + nth, w->sequences};
    p->specs = (pf_numbers){1 + nth, w->sequences};
    p->first_spec = base->at == base->cut ? p->specs.next : 0;
    p->default_track =
        base->event.sequence == ROCL_SEQUENCE_HOST  ? w->host_tracks[base->event.index]
        : base->event.sequence == ROCL_SEQUENCE_PMC ? w->processes[base->process].uuid
                                                    : 0; /* of counters, to say whose they are */
    pf_seq_begin(&p->seq, p->piece_id ? p->piece_id : (uint32_t)sequence,
                 pf_machine_id(w, rocl_machine_of(w->capture, base->process)), from,
                 p->default_track);
    if (base->event.sequence == ROCL_SEQUENCE_PMC)
        pf_begin_counters(p);
    else if (s->timeline.ops->work_overlaps && (base->event.sequence == ROCL_SEQUENCE_GPU ||
                                                base->event.sequence == ROCL_SEQUENCE_MEMORY))
        pf_begin_stages(p);
    return ROCL_OK;
}

static rocl_status define_track(rocl_drawing *base, const rocl_track *t, uint64_t *id,
                                rocl_error *err)
{
    pf_drawing *p = pf_drawing_of(base);
    char name[64];
    (void)err;
    if (t->kind > ROCL_TRACK_THREAD) {
        *id = pf_define_values(p, t);
    } else if (t->kind < ROCL_TRACK_THREAD) {
        *id = p->sink->opt.legacy_tracks ? pf_define_legacy(p, t) : pf_define_queue(p, t);
    } else if (!t->lane) {
        *id = p->default_track;
    } else {
        snprintf(name, sizeof name, PF_OVERLAPPING_CALLS " %u", t->lane);
        *id = pf_new_track(p, t->base, name, NULL);
    }
    return ROCL_OK;
}

#define PF_OPS(...)                                                                                \
    {                                                                                              \
        .instant_flows = true, .begin = begin_sequence, .define = define_track,                    \
        .call = pf_write_call, .slice_end = pf_write_end, .instant = pf_write_call,                \
        .flow = pf_write_flow, .value = pf_write_value, __VA_ARGS__                                \
    }

/* The reader puts typed GPU events that overlap on rows of their own. */
const rocl_timeline_ops pf_typed_ops = PF_OPS(.work_overlaps = true, .work = pf_write_stage);
const rocl_timeline_ops pf_legacy_ops = PF_OPS(.work = pf_write_legacy);

/* ---- drawings -------------------------------------------------------------------------------- */

/* No drawing has much fewer records. */
#define LEAST_BYTES (1u << 20)

static uint64_t estimate_bytes(const rocl_sequence *s)
{
    switch (rocl_sequence_kind_of(s->number)) {
    case ROCL_SEQUENCE_HOST:
        return 37 * s->records; /* a begin and an end */
    case ROCL_SEQUENCE_GPU:
    case ROCL_SEQUENCE_MEMORY:
        return 86 * s->records;
    default:
        return 22 * s->records;
    }
}

static void open_drawing(rocl_drawing *base, void *sink)
{
    pf_drawing *p = pf_drawing_of(base);
    p->sink = sink;
    p->piece_id = base->piece ? (uint32_t)(p->sink->owners.at->first_piece + base->number) : 0;
    p->seq.trace = p->sink->trace;
}

static void close_drawing(rocl_drawing *base, uint64_t lanes)
{
    (void)lanes;
    pf_seq_free(&pf_drawing_of(base)->seq);
}

static void begin_block(rocl_drawing *base, rocl_buf *block)
{
    pf_drawing *p = pf_drawing_of(base);
    p->seq.block = block ? block : rocl_piped_buf(&p->sink->file);
    base->filled = &p->seq.block->len;
}

rocl_status pf_flush(rocl_piped *file, bool all, rocl_error *err)
{
    const rocl_block *c = file->block;
    if (c && c->in.failed)
        return rocl_fail_memory(err);
    if (c && c->in.len < PF_BLOCK && !(all && c->in.len))
        return ROCL_OK;
    return rocl_piped_put(file, err);
}

static rocl_status flush_file(void *sink, bool all, rocl_error *err)
{
    return pf_flush(&((pf_sink *)sink)->file, all, err);
}

static const rocl_drawing_ops drawing_ops = {.drawing_size = sizeof(pf_drawing),
                                             .weigh = estimate_bytes,
                                             .least = LEAST_BYTES,
                                             .full = PF_BLOCK,
                                             .open = open_drawing,
                                             .close = close_drawing,
                                             .begin_block = begin_block,
                                             .flush = flush_file};

rocl_status pf_write_sequences(pf_sink *p, rocl_error *err)
{
    const rocl_timeline *t = &p->timeline;
    for (size_t i = 0; i < t->sequence_count; i++)
        if (rocl_sequence_kind_of(t->sequences[i].number) == ROCL_SEQUENCE_HOST)
            pf_describe_host(&p->owners, rocl_sequence_index(t->sequences[i].number));
    return rocl_draw_capture(t, &drawing_ops, p, p->file.pipe, pf_can_cut_work(p), &p->counts, err);
}
