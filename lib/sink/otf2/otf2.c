/* The OTF2 sink: collects the records of a capture in a sorter, then writes location by location:
 * first slices that begin a location or nest in such, then those that overlap them. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "base/pool.h"
#include "sink/otf2/otf2.h"
#include "trace/joint.h"
#include "trace/pipeline.h"

/* ---- a pass: drawings side by side ----------------------------------------------------------- */

/* Drawings are not much smaller: this many slices take longer than a thread and a mapping. */
#define LEAST_SLICES 20000

/* A slice is two events, a value one. */
static uint64_t sequence_weight(const rocl_sequence *s)
{
    return rocl_sequence_kind_of(s->number) <= ROCL_SEQUENCE_MEMORY ? 2 * s->records : s->records;
}

/* Records between two reports of the progress. */
#define PROGRESS 4096

static rocl_status write_drawing(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    ot_pass *pass = ctx;
    ot_drawing *p = &pass->drawings[pass->order[index]];
    p->worker = worker;
    p->attributes = OTF2_AttributeList_New();
    rocl_status st = p->attributes ? rocl_drawing_begin(&p->drawing, err) : rocl_fail_memory(err);
    for (uint64_t n = 1; st == ROCL_OK && p->drawing.more; n++) {
        st = rocl_timeline_draw(&p->drawing, err);
        if (st == ROCL_OK)
            st = ot_archive_status(p->sink->archive, err);
        if (st == ROCL_OK && p->defs->failed)
            st = rocl_fail_memory(err);
        if (n % PROGRESS == 0 && !pass->tracks)
            rocl_progress(p->sink->trace, PROGRESS);
        if (n % PROGRESS == 0 && p->sink->trace->joint && st == ROCL_OK)
            st = rocl_joint_poll(p->sink->trace->joint, err);
    }
    ot_end_track(&p->drawing);
    return st;
}

/* The timeline (and the tracks) of the pass are set. */
static rocl_status write_pass(ot_sink *s, ot_pass *pass, rocl_error *err)
{
    const rocl_timeline *t = pass->timeline;
    rocl_draw_range cuts[ROCL_DRAWINGS_MAX];
    size_t count = rocl_cut_draw_ranges(t->sequences, t->sequence_count, sequence_weight,
                                        2 * LEAST_SLICES, ROCL_DRAWINGS_MAX, cuts);
    pass->drawings = rocl_cache_line_calloc(count, sizeof *pass->drawings);
    if (!pass->drawings)
        return rocl_fail_memory(err);
    pass->drawing_count = count;
    for (size_t i = 0; i < count; i++) {
        ot_drawing *p = &pass->drawings[i];
        *p = (ot_drawing){
            .drawing = {.timeline = t, .number = i, .at = cuts[i].first, .last = cuts[i].last},
            .sink = s,
            .pass = pass,
            .first = cuts[i].first,
            .own = {.trace = s->trace},
            .defs = i ? &p->own : &s->defs,
            .tracks = pass->tracks ? s->tracks : NULL,
            .earliest = INT64_MAX,
            .latest = -1};
    }
    /* The largest first: one that is begun last keeps a worker busy when all others are done. */
    for (size_t i = 0; i < pass->drawing_count; i++) {
        size_t at = i;
        for (; at && cuts[pass->order[at - 1]].weight < cuts[i].weight; at--)
            pass->order[at] = pass->order[at - 1];
        pass->order[at] = i;
    }
    rocl_status st = rocl_start_draw_ranges(t->sorter, t->sequences, cuts, count, err);
    return st ? st : rocl_run_tasks(s->trace->opt.jobs, count, write_drawing, pass, err);
}

static void free_pass(ot_pass *pass)
{
    for (size_t i = 0; i < pass->drawing_count; i++) {
        ot_drawing *p = &pass->drawings[i];
        rocl_drawing_free(&p->drawing);
        ot_defs_free(&p->own);
        free(p->open);
        if (!pass->tracks)
            free(p->tracks);
        if (p->attributes)
            OTF2_AttributeList_Delete(p->attributes);
    }
    free(pass->drawings);
    free(pass->tracks);
    *pass = (ot_pass){0};
}

/* ---- drawings are joined --------------------------------------------------------------------- */

/* Adds the definitions of a drawing to the archive's. Where its references differ, the mapping is
 * that of all locations that it wrote. */
static rocl_status join_definitions(ot_sink *s, const ot_drawing *p, rocl_error *err)
{
    ot_mapping m;
    rocl_status st = ot_defs_join(&s->defs, &p->own, &m, err);
    if (st == ROCL_OK && m.needed &&
        !ROCL_GROW(s->mappings, s->mapping_capacity, s->mapping_count + (size_t)1))
        st = rocl_fail_memory(err);
    if (st != ROCL_OK || !m.needed) {
        ot_mapping_free(&m);
        return st;
    }
    ot_location *locations = s->system.locations;
    for (size_t i = p->first; i < p->drawing.last && p->pass->tracks; i++)
        locations[s->tracks[p->pass->tracks[i]].location].mapping = s->mapping_count;
    for (uint32_t i = 0; i < p->track_count; i++)
        if (p->tracks[i].written)
            locations[s->tracks[p->first_track + i].location].mapping = s->mapping_count;
    s->mappings[s->mapping_count++] = m;
    return ROCL_OK;
}

/* Adds to the sink what the drawings have defined and counted, once their tracks are joined. */
static rocl_status join_pass(ot_sink *s, const ot_pass *pass, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < pass->drawing_count && st == ROCL_OK; i++) {
        const ot_drawing *p = &pass->drawings[i];
        const ot_list *metrics = &p->defs->lists[OT_METRICS];
        for (uint32_t k = 0; k < metrics->count; k++) {
            ot_metric *m = (ot_metric *)metrics->items + k;
            if (m->class != ROCL_NONE && !m->joined)
                ot_settle_metric(s, m, &s->tracks[p->first_track + m->recorder]);
        }
        if (p->defs != &s->defs)
            st = join_definitions(s, p, err);
        if (!pass->tracks) /* which all slices pass through */
            rocl_timeline_counts_add(&s->counts, &p->drawing.counts);
        s->earliest = p->earliest < s->earliest ? p->earliest : s->earliest;
        s->latest = p->latest > s->latest ? p->latest : s->latest;
    }
    return st;
}

/* ---- a capture ------------------------------------------------------------------------------- */

static void forget_capture(ot_sink *s)
{
    free_pass(&s->passes[0]);
    free_pass(&s->passes[1]);
    rocl_timeline_forget_capture(&s->timeline);
    free(s->settled.sequences);
    rocl_sorter_free(s->deferred);
    rocl_sorter_free(s->markers);
    free(s->labels);
    ot_forget_tracks(s);
    s->deferred = s->markers = NULL;
    s->labels = NULL;
    s->settled = (rocl_timeline){0};
}

static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    ot_sink *s = self;
    forget_capture(s);
    s->first_number = s->next_number;
    s->side_first = s->side_bytes;
    rocl_status st = rocl_timeline_begin_capture(&s->timeline, c, err);
    if (st == ROCL_OK)
        st = ot_system_begin_capture(&s->system, c, err);
    if (st != ROCL_OK || !s->trace->opt.args)
        return st;
    /* The labels of queues and streams, each once, for events that name theirs. */
    size_t count = (size_t)c->queue_count + c->stream_count;
    s->labels = reallocarray(NULL, count + 1, sizeof *s->labels);
    for (size_t i = 0; s->labels && i < count; i++) {
        bool queue = i < c->queue_count;
        char name[160];
        rocl_queue_label(s->trace, queue ? &c->queues[i] : &c->streams[i - c->queue_count],
                         queue ? "Queue" : "Stream", name, sizeof name);
        s->labels[i] = ot_text(&s->defs, name);
    }
    return s->labels ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status write_first_pass(ot_sink *s, rocl_error *err)
{
    ot_pass *pass = &s->passes[0];
    ot_peers *e = &s->peers;
    const rocl_encoder_worker *workers = s->timeline.encoder.workers;
    size_t noted = 0, count = 0, tracks = 0;
    uint32_t one;
    pass->timeline = &s->timeline;
    s->deferred = rocl_record_sorter(s->trace);
    s->markers = rocl_record_sorter(s->trace);
    for (unsigned w = 0; w < s->trace->opt.jobs; w++)
        noted += workers[w].ends.count;
    e->all = reallocarray(NULL, noted + 1, sizeof *e->all);
    if (!s->deferred || !s->markers || !e->all)
        return rocl_fail_memory(err);
    /* The peers that all workers have noted while records were collected get their ranks. */
    for (unsigned w = 0; w < s->trace->opt.jobs; w++)
        for (size_t at = 0; rocl_map_next(&workers[w].ends, &at, &e->all[count], &one);)
            count++;
    qsort(e->all, count, sizeof *e->all, rocl_compare_u64);
    for (size_t i = 0; i < count; i++)
        if (!e->count || e->all[e->count - 1] != e->all[i])
            e->all[e->count++] = e->all[i];
    if (!ot_number_peers(s))
        return rocl_fail_memory(err);
    rocl_status st = write_pass(s, pass, err);
    if (st != ROCL_OK)
        return st;
    /* The tracks are in an order that no number of threads changes. */
    for (size_t i = 0; i < pass->drawing_count; i++)
        tracks += pass->drawings[i].track_count;
    s->tracks = reallocarray(NULL, tracks + 1, sizeof *s->tracks);
    if (!s->tracks)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < pass->drawing_count; i++) {
        ot_drawing *p = &pass->drawings[i];
        p->first_track = s->track_count;
        for (uint32_t k = 0; k < p->track_count; k++) {
            s->tracks[s->track_count] = p->tracks[k];
            s->tracks[s->track_count++].base += p->first_track;
        }
    }
    s->next_number += (uint32_t)pass->timeline->sequence_count;
    st = ot_locate_tracks(s, err);
    return st ? st : join_pass(s, pass, err);
}

static int compare_deferred(const void *a, const void *b, void *tracks)
{
    const ot_track *x = (const ot_track *)tracks + *(const uint32_t *)a,
                   *y = (const ot_track *)tracks + *(const uint32_t *)b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return (x->deferred_index > y->deferred_index) - (x->deferred_index < y->deferred_index);
}

/* Tracks with deferred records are the sequences of the second pass. */
static rocl_status write_second_pass(ot_sink *s, rocl_error *err)
{
    ot_pass *pass = &s->passes[1];
    rocl_timeline *t = &s->settled;
    size_t count = 0;
    *t = s->timeline;
    t->sorter = s->deferred;
    t->lanes_settled = true;
    t->sequences = reallocarray(NULL, s->track_count + (size_t)1, sizeof *t->sequences);
    pass->timeline = t;
    pass->tracks = reallocarray(NULL, s->track_count + (size_t)1, sizeof *pass->tracks);
    if (!pass->tracks || !t->sequences)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < s->track_count; i++)
        if (s->tracks[i].deferred)
            pass->tracks[count++] = i;
    if (!count)
        return ROCL_OK;
    qsort_r(pass->tracks, count, sizeof *pass->tracks, compare_deferred, s->tracks);
    for (size_t i = 0; i < count; i++) {
        const ot_track *track = &s->tracks[pass->tracks[i]];
        t->sequences[i] =
            (rocl_sequence){.number = rocl_sequence_number(track->sequence, track->deferred_index),
                            .records = track->deferred};
    }
    t->sequence_count = count;
    rocl_status st = write_pass(s, pass, err);
    return st ? st : join_pass(s, pass, err);
}

/* Writes the markers that the passes have kept; a rank of a team, beside its archive. */
static rocl_status write_markers(ot_sink *s, rocl_error *err)
{
    rocl_buf text = {0};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(s->markers, err);
    while (rocl_sorter_take(s->markers, &rec, &st, err)) {
        uint64_t name;
        const uint8_t *at = rec.data;
        if (!rocl_varint_get(&at, at + rec.len, &name)) {
            st = rocl_fail_sorted(err);
            break;
        }
        const ot_marker m = {.location = rec.key[0],
                             .time = rec.key[1],
                             .duration = ~rec.key[2] - rec.key[1],
                             .name = (uint32_t)name};
        st = s->trace->joint ? ot_store_marker(s, &m, err) : ot_write_marker(s, &m, &text, err);
    }
    rocl_buf_free(&text);
    return st;
}

static rocl_status end_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    ot_sink *s = self;
    rocl_status st = rocl_timeline_end_capture(&s->timeline, err);
    if (st == ROCL_OK)
        st = write_first_pass(s, err);
    if (st == ROCL_OK)
        st = write_second_pass(s, err);
    if (st == ROCL_OK) {
        ot_settle_capture(s);
        st = write_markers(s, err);
    }
    if (st == ROCL_OK && s->trace->joint)
        st = ot_note_capture(s, c, err);
    forget_capture(s);
    return st;
}

/* ---- the end --------------------------------------------------------------------------------- */

static rocl_status complete_archive(ot_sink *s, rocl_error *err)
{
    rocl_status st = ot_complete_locations(s, err);
    if (st == ROCL_OK)
        st = ot_write_definitions(s, err);
    if (st == ROCL_OK && s->defs.failed)
        st = rocl_fail_memory(err);
    const ot_summary summary = ot_summarize(s);
    s->all_locations = summary.location_count;
    if (st == ROCL_OK)
        st = ot_archive_complete(s->archive, &summary, &s->bytes, err);
    if (st != ROCL_OK)
        return st;
    ot_archive *a = s->archive;
    s->archive = NULL;
    return ot_archive_commit(a, s->trace->outputs, err);
}

static rocl_status open_sink(ot_sink *s, rocl_error *err)
{
#define WORD_TEXT(id, text) [W_##id] = (text),
    static const char *const words[] = {OT_WORDS(WORD_TEXT)};
    const size_t chunk = s->opt.chunk_size;
    rocl_trace *t = s->trace;
    if (chunk && (chunk < OTF2_CHUNK_SIZE_MIN || chunk > OTF2_CHUNK_SIZE_MAX))
        return rocl_fail(err, ROCL_USAGE, "the size of chunks must be from 256 KiB to 16 MiB");
    s->defs.trace = t;
    rocl_status st = rocl_encoder_open(&s->timeline.encoder, err);
    for (int i = 0; i < OT_WORD_COUNT && st == ROCL_OK; i++)
        s->words[i] = ot_text(&s->defs, words[i]);
    if (st == ROCL_OK)
        st = rocl_joint_open(t, s->opt.path, err);
    if (st == ROCL_OK)
        st = ot_system_open(&s->system, t, &s->defs, err);
    return st ? st : ot_archive_open(&s->archive, t, s->opt.path, chunk, err);
}

static void close_sink(ot_sink *s)
{
    forget_capture(s);
    if (s->archive) /* other ranks write in its folder */
        rocl_joint_end_all(s->trace->joint);
    ot_archive_discard(s->archive);
    if (s->side)
        fclose(s->side);
    rocl_buf_free(&s->captures);
    free(s->begins);
    ot_system_close(&s->system);
    ot_defs_free(&s->defs);
    rocl_encoder_close(&s->timeline.encoder);
    for (uint32_t i = 0; i < s->mapping_count; i++)
        ot_mapping_free(&s->mappings[i]);
    free(s->mappings);
}

bool rocl_has_otf2(void)
{
    return true;
}

rocl_status rocl_write_otf2(rocl_trace *t, const rocl_otf2_options *o, rocl_written *written,
                            rocl_error *err)
{
    ot_sink s = {.trace = t, .opt = *o, .earliest = INT64_MAX, .latest = -1};
    s.timeline = (rocl_timeline){.encoder = {.trace = t,
                                             .bandwidth = true,
                                             .ends = true,
                                             .index = rocl_work_index,
                                             .index_ctx = &s.timeline},
                                 .ops = &ot_ops,
                                 .by_queue = o->group_by_queue,
                                 .by_track = true};
    rocl_sink sink = rocl_encoder_sink(&s.timeline.encoder);
    sink.begin_capture = begin_capture;
    sink.end_capture = end_capture;
    sink.no_place_for = ROCL_BIT(ROCL_FLOW);
    sink.output = "OTF2";
    rocl_status st = open_sink(&s, err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = t->joint ? ot_complete_together(&s, err) : complete_archive(&s, err);
    if (st == ROCL_OK && s.defs.cut) {
        rocl_notice(t, "%" PRIu64 " text%s longer than 1 MiB: truncated", s.defs.cut,
                    s.defs.cut == 1 ? "" : "s");
        st = ROCL_PARTIAL;
    }
    if (written)
        *written = (rocl_written){.bytes = s.bytes,
                                  .slices = s.counts.slices,
                                  .instants = s.counts.instants,
                                  .values = s.counts.values,
                                  .locations = s.all_locations,
                                  .lanes = s.counts.lanes,
                                  .moved = s.counts.moved};
    close_sink(&s);
    return st ? st : rocl_trace_outcome_utf8(t);
}
