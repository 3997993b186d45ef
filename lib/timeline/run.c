/* A run of the timeline: events of a capture into a sorter, its sequences, cutting them to
 * ranges that are drawn concurrently, and reading one. */
#include "timeline/timeline.h"

#include "base/array.h"
#include "base/error.h"
#include "trace/pipeline.h"

#include <stdlib.h>

/* ---- events of a capture to its sorter ------------------------------------------------------- */

rocl_status rocl_encoder_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    rocl_encoder *p = self;
    rocl_status st = p->links ? rocl_links_note(p->links, worker, b, err) : ROCL_OK;
    return st ? st : rocl_encode_batch(p, worker, b, err);
}

static rocl_status seal_task(void *self, unsigned worker, rocl_error *err)
{
    const rocl_encoder *p = self;
    rocl_status st = rocl_sorter_seal(p->sorter, worker, err);
    return st || !p->links ? st : rocl_links_seal(p->links, worker, err);
}

rocl_sink rocl_encoder_sink(rocl_encoder *first)
{
    return (rocl_sink){.self = first,
                       .kinds = ROCL_ALL_KINDS,
                       .fields = first->trace->opt.args ? ROCL_FIELD_DISPATCH_ID : 0,
                       .events = rocl_encoder_events,
                       .history_kinds = ROCL_BIT(ROCL_ALLOC),
                       .history = rocl_encode_history,
                       .end_task = seal_task};
}

/* ---- a capture ------------------------------------------------------------------------------- */

rocl_status rocl_timeline_begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    rocl_timeline *t = self;
    rocl_trace_window(t->encoder.trace, &t->from, &t->to);
    rocl_timeline_set_capture(t, c);
    rocl_status st = rocl_encoder_begin(&t->encoder, c, err);
    if (st != ROCL_OK || !t->link_calls)
        return st;
    t->encoder.links = &t->links;
    return rocl_links_open(&t->links, t->encoder.trace, false, err);
}

rocl_status rocl_timeline_resolve(const rocl_trace *t, rocl_sorter **records, rocl_links *links,
                                  rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (unsigned w = 0; w < t->opt.jobs && st == ROCL_OK; w++)
        st = rocl_sorter_seal(*records, w, err);
    for (unsigned w = 0; w < t->opt.jobs && st == ROCL_OK; w++)
        st = rocl_links_seal(links, w, err);
    return st ? st : rocl_links_resolve(links, records, err);
}

rocl_status rocl_timeline_end_capture(rocl_timeline *t, rocl_error *err)
{
    rocl_encoder *p = &t->encoder;
    rocl_progress_phase(p->trace, "writing", rocl_sorter_count(p->sorter));
    rocl_status st = p->links ? rocl_links_resolve(p->links, &p->sorter, err) : ROCL_OK;
    t->sorter = p->sorter;
    if (st == ROCL_OK)
        st = rocl_encoder_sequences(p, &t->sequences, &t->sequence_count, err);
    if (st == ROCL_OK && !t->by_track &&
        t->sequence_count > rocl_timeline_sequences_max(t->capture))
        st = rocl_fail(err, ROCL_INTERNAL, "a capture has more sequences than it can have");
    return st;
}

void rocl_timeline_forget_capture(rocl_timeline *t)
{
    rocl_encoder_forget(&t->encoder);
    rocl_links_free(&t->links);
    free(t->sequences);
    t->sequences = NULL;
    t->sequence_count = 0;
    t->sorter = NULL;
}

/* One for each index of each kind of sequence, see rocl_sequence_kind, plus one for an unknown
 * process or counter. */
uint64_t rocl_timeline_sequences_max(const rocl_capture *c)
{
    const uint64_t processes = (uint64_t)c->process_count + 1;
    const uint64_t hosts = c->thread_count + processes;
    const uint64_t work = 2 * processes, bytes = 2 * processes;
    return hosts + work + bytes + c->agent_count + 1 + c->counter_count + 1;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* The weight that ranges should have: some are only half as large, so there may be twice as many.
 */
static uint64_t enough_of(uint64_t total, uint64_t least, size_t most)
{
    const uint64_t even = total / (most / 2);
    return even > least ? even : least;
}

size_t rocl_cut_draw_ranges(const rocl_sequence *all, size_t count,
                            uint64_t (*weight)(const rocl_sequence *), uint64_t least, size_t most,
                            rocl_draw_range *ranges)
{
    uint64_t total = 0;
    size_t n = 1;
    for (size_t i = 0; i < count; i++)
        total += weight(&all[i]);
    const uint64_t enough = enough_of(total, least, most);
    rocl_draw_range *p = ranges;
    *p = (rocl_draw_range){0};
    for (size_t i = 0; i < count; i++) {
        uint64_t more = weight(&all[i]);
        if (p->weight >= enough / 2 && p->weight + more > enough + enough / 2 && n < most) {
            p = &ranges[n++];
            *p = (rocl_draw_range){.first = i};
        }
        p->weight += more;
        p->last = i + 1;
    }
    return n;
}

/* How many ends of slices are tried in the search for a time at which none is open. */
#define HOPS_MAX 64

/* Looks for the first time from *time on, and before `until`, at which no slice of the sequence is
 * open that began before it: *time then. Slices may begin at it, but none ends: a reader could take
 * both in the other order. *found false: there is none up to *time. */
static rocl_status find_gap(rocl_sorter *s, uint64_t sequence, uint64_t *time, uint64_t until,
                            bool *found, rocl_error *err)
{
    rocl_sort_bound from = rocl_sequence_bound(sequence, 0);
    uint64_t reach = 0; /* of all that begin before `from` */
    rocl_status st = ROCL_OK;
    *found = false;
    for (unsigned hop = 0; hop < HOPS_MAX && *time < until && st == ROCL_OK; hop++) {
        const rocl_sort_bound to = rocl_sequence_bound(sequence, *time);
        uint64_t least;
        if ((st = rocl_sorter_least(s, from, to, &least, err)) != ROCL_OK)
            break;
        reach = ~least > reach ? ~least : reach; /* word 2 has ~end */
        *found = reach < *time;
        if (*found)
            return ROCL_OK;
        from = to;
        *time = reach + 1;
    }
    return st;
}

/* The last sequence of the last range is cut to `pieces` of about the same time. */
static rocl_status cut_sequence(rocl_sorter *s, const rocl_sequence *q, uint64_t pieces,
                                rocl_draw_range *ranges, size_t *count, rocl_error *err)
{
    const uint64_t step = (q->last - q->first) / pieces, weight = ranges[*count - 1].weight;
    const size_t first = *count - 1, at = ranges[first].last - 1;
    uint64_t time = 0;
    rocl_status st = ROCL_OK;
    for (uint64_t i = 1; i < pieces && step && st == ROCL_OK; i++) {
        bool found = true;
        if (time >= q->first + i * step)
            continue;
        time = q->first + i * step;
        if (rocl_sequence_kind_of(q->number) == ROCL_SEQUENCE_HOST)
            st = find_gap(s, q->number, &time, q->last, &found, err);
        if (st == ROCL_OK && found) {
            ranges[*count] = (rocl_draw_range){.first = at,
                                               .last = at + 1,
                                               .piece = (unsigned)(*count - first),
                                               .begin = rocl_sequence_bound(q->number, time)};
            ++*count;
        }
    }
    for (size_t i = first; i < *count; i++)
        ranges[i].weight = weight / (*count - first);
    return st;
}

rocl_status rocl_cut_pieces(rocl_sorter *s, const rocl_sequence *all, bool work, uint64_t least,
                            rocl_draw_range ranges[ROCL_DRAWN_AT_ONCE_MAX], size_t *count,
                            rocl_error *err)
{
    const rocl_sequence_kind most = work ? ROCL_SEQUENCE_GPU : ROCL_SEQUENCE_HOST;
    const size_t whole = *count;
    rocl_draw_range from[ROCL_DRAWN_AT_ONCE_MAX];
    rocl_status st = ROCL_OK;
    uint64_t total = 0;
    for (size_t i = 0; i < whole; i++) {
        from[i] = ranges[i];
        total += ranges[i].weight;
    }
    const uint64_t enough = enough_of(total, least, ROCL_DRAWN_AT_ONCE_MAX);
    *count = 0;
    for (size_t i = 0; i < whole && st == ROCL_OK; i++) {
        const rocl_sequence *q = from[i].last ? &all[from[i].last - 1] : NULL;
        const size_t free = ROCL_DRAWN_AT_ONCE_MAX - *count - (whole - i);
        const uint64_t pieces = from[i].weight / enough;
        ranges[(*count)++] = from[i];
        if (pieces > 1 && free && q && rocl_sequence_kind_of(q->number) <= most)
            st = cut_sequence(s, q, pieces <= free ? pieces : free + 1, ranges, count, err);
    }
    return st;
}

rocl_status rocl_start_draw_ranges(rocl_sorter *s, const rocl_sequence *all,
                                   const rocl_draw_range *ranges, size_t count, rocl_error *err)
{
    rocl_sort_bound bounds[ROCL_DRAWINGS_MAX];
    for (size_t i = 1; i < count; i++)
        bounds[i - 1] =
            ranges[i].piece ? ranges[i].begin : rocl_sequence_bound(all[ranges[i].first].number, 0);
    return rocl_sorter_start_ranges(s, bounds, count - 1, err);
}

/* ---- the reading of a range ------------------------------------------------------------------ */

static rocl_status read_record(rocl_drawing *p, rocl_error *err)
{
    rocl_status st = rocl_sorter_next_of(p->timeline->sorter, p->number, &p->record, &p->more, err);
    if (st != ROCL_OK || !p->more)
        return st;
    p->sequence = rocl_sequence_of(p->record.key);
    return rocl_record_decode(&p->record, &p->event) ? ROCL_OK : rocl_fail_sorted(err);
}

/* The process of the current sequence. */
static uint32_t find_process(const rocl_drawing *p)
{
    const rocl_capture *c = p->timeline->capture;
    const rocl_track_event *e = &p->event;
    uint32_t thread;
    switch (e->sequence) {
    case ROCL_SEQUENCE_HOST:
        return rocl_host_process(c, e->index, &thread);
    case ROCL_SEQUENCE_GPU:
    case ROCL_SEQUENCE_MEMORY:
        return e->index / p->timeline->work_indexes;
    case ROCL_SEQUENCE_PMC:
        return rocl_counter_process(c, e->counter);
    case ROCL_SEQUENCE_SAMPLED:
        return e->thread;
    default:
        return e->index;
    }
}

static rocl_status begin_sequence(rocl_drawing *p, rocl_error *err)
{
    const rocl_timeline *t = p->timeline;
    const rocl_track_event *e = &p->event;
    int64_t from = e->time;
    rocl_status st = ROCL_OK;
    if (t->sequences && (p->at == p->last || t->sequences[p->at].number != p->sequence))
        return rocl_fail(err, ROCL_INTERNAL, "a sorted record is of an unknown sequence");
    if (e->sequence == ROCL_SEQUENCE_ALLOCATED && from < t->from)
        from = t->from;
    p->process = find_process(p);
    p->lanes_before = p->counts.lanes;
    p->finish = NULL;
    if (t->ops->begin)
        st = t->ops->begin(p, from, err);
    if (st != ROCL_OK)
        return st;
    return e->sequence <= ROCL_SEQUENCE_MEMORY ? rocl_begin_slices(p, err)
                                               : rocl_begin_values(p, err);
}

static void forget_sequence(rocl_drawing *p)
{
    rocl_forget_slices(p);
    rocl_map_free(&p->track_index);
    p->track_count = p->meter_count = p->shown_count = p->flow_count = p->counted_count = 0;
    p->draw = NULL;
}

rocl_status rocl_drawing_begin(rocl_drawing *p, rocl_error *err)
{
    p->links = p->timeline->links;
    return read_record(p, err);
}

rocl_status rocl_timeline_draw(rocl_drawing *p, rocl_error *err)
{
    const uint64_t sequence = p->sequence;
    rocl_status st = p->draw ? ROCL_OK : begin_sequence(p, err);
    if (st == ROCL_OK)
        st = p->draw(p, err);
    if (st == ROCL_OK)
        st = read_record(p, err);
    if (st != ROCL_OK || (p->more && p->sequence == sequence))
        return st;
    if (p->finish)
        st = p->finish(p, err);
    if (p->timeline->ops->end)
        p->timeline->ops->end(p);
    forget_sequence(p);
    p->at++;
    return st;
}

void rocl_drawing_free(rocl_drawing *p)
{
    forget_sequence(p);
    free(p->tracks);
    free(p->meters);
    free(p->shown);
    free(p->flows);
    free(p->counted);
    p->counted = NULL;
    p->counted_cap = 0;
    p->flows = NULL;
    p->flow_cap = 0;
    p->tracks = NULL;
    p->meters = NULL;
    p->shown = NULL;
}

void rocl_timeline_counts_add(rocl_timeline_counts *to, const rocl_timeline_counts *from)
{
    to->slices += from->slices;
    to->instants += from->instants;
    to->values += from->values;
    to->lanes += from->lanes;
    to->moved += from->moved;
}
