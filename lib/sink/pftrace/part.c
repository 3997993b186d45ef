/* Some of a capture's sequences, one after the other. Each part reads its own range of the sorter,
 * so several can be written at once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "sink/pftrace/pf.h"

/* No part is much smaller. */
#define LEAST_BYTES (1u << 20)

/* Whose turn it is, and whether there will be another one. */
struct pf_turns {
    alignas(ROCL_CACHE_LINE) pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next;
    _Atomic bool over;
};

/* ---- sequences ------------------------------------------------------------------------------- */

static const pf_room *room_of(const pf_sink *p, rocl_sequence_kind kind)
{
    switch (kind) {
    case ROCL_SEQUENCE_HOST:
        return &pf_room_host;
    case ROCL_SEQUENCE_GPU:
    case ROCL_SEQUENCE_MEMORY:
        return p->opt.legacy_tracks ? &pf_room_legacy : &pf_room_gpu;
    case ROCL_SEQUENCE_ALLOCATED:
        return &pf_room_allocated;
    case ROCL_SEQUENCE_BANDWIDTH:
        return &pf_room_bandwidth;
    case ROCL_SEQUENCE_PMC:
        return &pf_room_pmc;
    default:
        return &pf_room_sampled;
    }
}

uint64_t pf_number(pf_numbers *n)
{
    uint64_t v = n->next;
    n->next += n->step;
    if (n->beyond <= v)
        n->beyond = v + 1;
    return v;
}

void pf_part_begin(pf_part *p, int64_t from, uint64_t track)
{
    const pf_world *w = &p->sink->world;
    pf_seq_begin(&p->seq, w->next_seq + (uint32_t)p->at, pf_machine(w), from, track);
}

static rocl_status begin_sequence(pf_part *p, rocl_error *err)
{
    const pf_sink *s = p->sink;
    p->room = room_of(s, p->event.sequence);
    if (p->at == p->last || s->sequences[p->at].number != p->sequence)
        return rocl_fail(err, ROCL_INTERNAL, "a sorted record is of an unknown sequence");
    p->state = rocl_cache_line_calloc((p->room->size + ROCL_CACHE_LINE - 1) / ROCL_CACHE_LINE,
                                      ROCL_CACHE_LINE);
    if (!p->state)
        return rocl_fail_memory(err);
    p->uuids.next = s->world.next_uuid + p->at;
    p->specs.next = s->world.next_spec + p->at;
    p->uuids.step = p->specs.step = s->sequence_count;
    return p->room->begin(p, p->state, err);
}

static void forget_sequence(pf_part *p)
{
    if (p->state && p->room->free)
        p->room->free(p->state);
    free(p->state);
    p->state = NULL;
    p->room = NULL;
}

static void end_sequence(pf_part *p)
{
    if (p->room->end)
        p->room->end(p, p->state);
    forget_sequence(p);
    p->at++;
}

/* ---- records --------------------------------------------------------------------------------- */

static rocl_status next(pf_part *p, rocl_error *err)
{
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_next_of(p->sink->encoder.sorter, p->number, &rec, &p->more, err);
    if (st != ROCL_OK || !p->more)
        return st;
    p->sequence = rocl_sequence_of(rec.key);
    return rocl_record_decode(&rec, &p->event)
               ? ROCL_OK
               : rocl_fail(err, ROCL_INTERNAL, "a sorted record came back broken");
}

/* Writes the record at hand, takes the next. */
static rocl_status step(pf_part *p, rocl_error *err)
{
    uint64_t sequence = p->sequence;
    rocl_status st = p->room ? ROCL_OK : begin_sequence(p, err);
    if (st == ROCL_OK)
        st = p->room->record(p, p->state, err);
    if (st == ROCL_OK)
        st = next(p, err);
    if (st == ROCL_OK && (!p->more || p->sequence != sequence))
        end_sequence(p);
    return st;
}

rocl_status pf_part_fill(pf_part *p, rocl_buf *block, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    uint64_t records = 0;
    p->seq.block = block;
    if (!p->begun) {
        st = next(p, err);
        p->begun = true;
    }
    while (st == ROCL_OK && p->more && block->len < PF_BLOCK) {
        st = step(p, err);
        records++;
    }
    if (st != ROCL_OK || !p->more)
        atomic_store(&p->turns->over, true);
    rocl_progress(p->sink->trace, records);
    return st == ROCL_OK && block->failed ? rocl_fail_memory(err) : st;
}

bool pf_part_is_over(const pf_part *p)
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
    rocl_status st = pf_part_is_over(p) ? ROCL_OK : pf_part_fill(p, block, err);
    t->next++;
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
    return st;
}

bool pf_is_linked(pf_part *p, uint64_t stack_id)
{
    return rocl_idset_next(&p->linked, stack_id);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Bytes that a sequence becomes, about: only how well parts keep step depends on it. */
static uint64_t bytes_of(const rocl_sequence *s)
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

static rocl_status add_part(pf_sink *p, const rocl_part_range *cut, rocl_error *err)
{
    struct pf_turns *turns = rocl_cache_line_calloc(1, sizeof *turns);
    if (!turns)
        return rocl_fail_memory(err);
    pthread_mutex_init(&turns->lock, NULL);
    pthread_cond_init(&turns->moved, NULL);
    p->parts[p->part_count] = (pf_part){.sink = p,
                                        .number = p->part_count,
                                        .first = cut->first,
                                        .last = cut->last,
                                        .at = cut->first,
                                        .bytes = cut->weight,
                                        .seq = {.trace = p->trace},
                                        .linked = p->encoder.workers[0].linked,
                                        .turns = turns};
    p->part_count++;
    return ROCL_OK;
}

static rocl_status make_parts(pf_sink *p, rocl_error *err)
{
    rocl_part_range cuts[ROCL_PARTS_MAX];
    size_t count = rocl_cut_parts(p->sequences, p->sequence_count, bytes_of, LEAST_BYTES, cuts);
    p->parts = rocl_cache_line_calloc(count, sizeof *p->parts);
    rocl_status st = p->parts ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        st = add_part(p, &cuts[i], err);
    return st ? st : rocl_start_parts(p->encoder.sorter, p->sequences, cuts, count, err);
}

rocl_status pf_parts_open(pf_sink *p, rocl_error *err)
{
    rocl_status st = rocl_encoder_sequences(&p->encoder, &p->sequences, &p->sequence_count, err);
    for (size_t i = 0; i < p->sequence_count && st == ROCL_OK; i++)
        if (rocl_sequence_kind_of(p->sequences[i].number) == ROCL_SEQUENCE_HOST)
            pf_describe_host(&p->world, rocl_sequence_index(p->sequences[i].number));
    return st ? st : make_parts(p, err);
}

static void add_report(rocl_written *to, const rocl_written *from)
{
    to->slices += from->slices;
    to->values += from->values;
    to->lanes += from->lanes;
    to->moved += from->moved;
}

void pf_parts_close(pf_sink *p)
{
    pf_world *w = &p->world;
    w->next_seq += (uint32_t)p->sequence_count;
    for (size_t i = 0; i < p->part_count; i++) {
        pf_part *part = &p->parts[i];
        add_report(&p->report, &part->report);
        if (w->next_uuid < part->uuids.beyond)
            w->next_uuid = part->uuids.beyond;
        if (w->next_spec < part->specs.beyond)
            w->next_spec = part->specs.beyond;
        forget_sequence(part);
        pf_seq_free(&part->seq);
        pthread_cond_destroy(&part->turns->moved);
        pthread_mutex_destroy(&part->turns->lock);
        free(part->turns);
    }
    free(p->parts);
    free(p->sequences);
    p->parts = NULL;
    p->sequences = NULL;
    p->part_count = p->sequence_count = 0;
}
