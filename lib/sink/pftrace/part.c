/* Some of a capture's sequences, one after the other. Each part reads its own range of the sorter,
 * so several can be written at once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "sink/pftrace/pf.h"

/* No part is much smaller. */
#define LEAST_PART_BYTES (1u << 20)

/* Whose turn it is, and whether there will be another one. */
struct pf_turns {
    alignas(ROCL_CACHE_LINE) pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next;
    _Atomic bool over;
};

/* ---- what the timeline draws ----------------------------------------------------------------- */

static rocl_status begin_sequence(rocl_timeline_part *base, int64_t from, rocl_error *err)
{
    pf_part *p = pf_part_of(base);
    const pf_sink *s = p->sink;
    const pf_world *w = &s->world;
    const uint64_t sequence = w->at->first_sequence + base->at;
    const uint64_t nth = sequence - w->places[0].first_sequence; /* of the trace */
    (void)err;
    p->uuids = (pf_numbers){w->first_track + nth, w->sequences};
    p->specs = (pf_numbers){1 + nth, w->sequences};
    p->first_spec = base->at == p->cut ? p->specs.next : 0;
    p->default_track =
        base->event.sequence == ROCL_SEQUENCE_HOST ? w->host_tracks[base->event.index] : 0;
    pf_seq_begin(&p->seq, p->piece_id ? p->piece_id : (uint32_t)sequence, w->machine, from,
                 p->default_track);
    if (base->event.sequence == ROCL_SEQUENCE_PMC)
        pf_begin_counters(p);
    else if (s->timeline.ops->work_overlaps && (base->event.sequence == ROCL_SEQUENCE_GPU ||
                                                base->event.sequence == ROCL_SEQUENCE_MEMORY))
        pf_begin_stages(p);
    return ROCL_OK;
}

static rocl_status define_track(rocl_timeline_part *base, const rocl_track *t, uint64_t *id,
                                rocl_error *err)
{
    pf_part *p = pf_part_of(base);
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

/* The reader puts typed GPU events that overlap on rows of their own. */
const rocl_timeline_ops pf_typed_ops = {.work_overlaps = true,
                                        .instant_flows = true,
                                        .begin = begin_sequence,
                                        .define = define_track,
                                        .call = pf_write_call,
                                        .work = pf_write_stage,
                                        .slice_end = pf_write_end,
                                        .instant = pf_write_call,
                                        .flow = pf_write_flow,
                                        .value = pf_write_value,
                                        .bytes = pf_write_bytes};

const rocl_timeline_ops pf_legacy_ops = {.instant_flows = true,
                                         .begin = begin_sequence,
                                         .define = define_track,
                                         .call = pf_write_call,
                                         .work = pf_write_legacy,
                                         .slice_end = pf_write_end,
                                         .instant = pf_write_call,
                                         .flow = pf_write_flow,
                                         .value = pf_write_value,
                                         .bytes = pf_write_bytes};

/* ---- turns ----------------------------------------------------------------------------------- */

static rocl_status fill_block(pf_part *p, rocl_buf *block, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    uint64_t records = 0;
    p->seq.block = block;
    if (!p->begun) {
        st = rocl_timeline_part_begin(&p->part, err);
        p->begun = true;
    }
    while (st == ROCL_OK && p->part.more && block->len < PF_BLOCK) {
        st = rocl_timeline_draw(&p->part, err);
        records++;
    }
    if (st != ROCL_OK || !p->part.more)
        atomic_store(&p->turns->over, true);
    rocl_progress(p->sink->trace, records);
    return st == ROCL_OK && block->failed ? rocl_fail_memory(err) : st;
}

static bool is_over(const pf_part *p)
{
    return atomic_load(&p->turns->over);
}

/* Turns are handed out in their order, so somebody has the one before, and will be done. */
rocl_status pf_part_turn(pf_part *p, uint64_t n, rocl_buf *block, rocl_error *err)
{
    struct pf_turns *t = p->turns;
    pthread_mutex_lock(&t->lock);
    while (t->next != n)
        pthread_cond_wait(&t->moved, &t->lock);
    rocl_status st = is_over(p) ? ROCL_OK : fill_block(p, block, err);
    t->next++;
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
    return st;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Bytes that a sequence becomes, about: only how well parts keep step depends on it. */
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

static rocl_status open_parts(pf_sink *p, rocl_error *err)
{
    const rocl_timeline *t = &p->timeline;
    rocl_part_range cuts[ROCL_PARTS_MAX];
    size_t count =
        rocl_cut_parts(t->sequences, t->sequence_count, estimate_bytes, LEAST_PART_BYTES, cuts);
    rocl_status st = rocl_cut_pieces(t->sorter, t->sequences, pf_can_cut_work(p), LEAST_PART_BYTES,
                                     cuts, &count, err);
    if (st != ROCL_OK)
        return st;
    p->parts = rocl_cache_line_calloc(count, sizeof *p->parts);
    if (!p->parts)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        struct pf_turns *turns = rocl_cache_line_calloc(1, sizeof *turns);
        if (!turns)
            return rocl_fail_memory(err);
        pthread_mutex_init(&turns->lock, NULL);
        pthread_cond_init(&turns->moved, NULL);
        p->parts[p->part_count++] = (pf_part){
            .part = {.timeline = t, .number = i, .at = cuts[i].first, .last = cuts[i].last},
            .sink = p,
            .cut = cuts[i].piece                        ? cuts[i].first
                   : i + 1 < count && cuts[i + 1].piece ? cuts[i].last - 1
                                                        : SIZE_MAX,
            .piece_id = cuts[i].piece ? (uint32_t)(p->world.at->first_piece + i) : 0,
            .bytes = cuts[i].weight,
            .seq = {.trace = p->trace},
            .turns = turns};
    }
    return rocl_start_parts(t->sorter, t->sequences, cuts, count, err);
}

static void close_parts(pf_sink *p)
{
    uint64_t lanes = 0; /* of a thread, in the pieces so far: they share them */
    for (size_t i = 0; i < p->part_count; i++) {
        pf_part *part = &p->parts[i];
        const uint64_t here = part->part.counts.lanes - part->part.lanes_before;
        rocl_timeline_counts_add(&p->counts, &part->part.counts);
        if (part->piece_id)
            p->counts.lanes -= here < lanes ? here : lanes;
        lanes = part->piece_id && lanes > here ? lanes : here;
        rocl_timeline_part_free(&part->part);
        pf_seq_free(&part->seq);
        pthread_cond_destroy(&part->turns->moved);
        pthread_mutex_destroy(&part->turns->lock);
        free(part->turns);
    }
    free(p->parts);
    p->parts = NULL;
    p->part_count = 0;
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

/* The part that has written the least of what it will, so that all end at about the same time. */
static size_t find_laggard(const pf_part *parts, const uint64_t *turns, size_t count)
{
    size_t least = count;
    for (size_t i = 0; i < count; i++)
        if (!is_over(&parts[i]) &&
            (least == count || turns[i] * parts[least].bytes < turns[least] * parts[i].bytes))
            least = i;
    return least;
}

/* Puts a block in the pipe that is filled, by pf_part_turn, when it has its turn. */
static rocl_status put_turn(pf_part *part, uint64_t turn, rocl_error *err)
{
    rocl_pipe *pipe = part->sink->file.pipe;
    rocl_block *c;
    rocl_status st = rocl_pipe_get(pipe, &c, err);
    if (st)
        return st;
    c->user = part;
    rocl_buf_put(&c->in, &turn, sizeof turn);
    bool failed = c->in.failed; /* then the turn is never taken, and those after it would wait */
    st = rocl_pipe_put(pipe, c, err);
    return st == ROCL_OK && failed ? rocl_fail_memory(err) : st;
}

/* A block of one part after a block of another. That a part is over may become known late: it is
 * given turns more, and writes nothing. The order among the others is the same then. */
static rocl_status write_parts(pf_sink *p, rocl_error *err)
{
    uint64_t turns[ROCL_PARTS_MAX] = {0};
    rocl_status st = pf_flush(&p->file, true, err);
    for (size_t i;
         st == ROCL_OK && (i = find_laggard(p->parts, turns, p->part_count)) < p->part_count;)
        st = put_turn(&p->parts[i], turns[i]++, err);
    rocl_status drained = rocl_pipe_drain(p->file.pipe, st ? NULL : err);
    return st ? st : drained;
}

rocl_status pf_write_sequences(pf_sink *p, rocl_error *err)
{
    const rocl_timeline *t = &p->timeline;
    if (t->sequence_count > rocl_timeline_sequences_max(p->world.capture))
        return rocl_fail(err, ROCL_INTERNAL, "a capture has more sequences than it can have");
    for (size_t i = 0; i < t->sequence_count; i++)
        if (rocl_sequence_kind_of(t->sequences[i].number) == ROCL_SEQUENCE_HOST)
            pf_describe_host(&p->world, rocl_sequence_index(t->sequences[i].number));
    rocl_status st = open_parts(p, err);
    if (st == ROCL_OK && p->part_count > 1)
        st = write_parts(p, err);
    /* A part alone fills the blocks that others have begun: there may be many small captures. */
    while (st == ROCL_OK && p->part_count == 1 && !is_over(p->parts)) {
        st = fill_block(p->parts, rocl_piped_buf(&p->file), err);
        if (st == ROCL_OK)
            st = pf_flush(&p->file, false, err);
    }
    close_parts(p);
    return st;
}
