/* GPU work: by stream or queue, and some kinds by themselves, on a location of the GPU that does it
 * for the process that asked for it. Work of agents that are no GPU is drawn with its process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sink/otf2/otf2.h"

/* ---- locations ------------------------------------------------------------------------------- */

/* Kinds of locations of an agent. */
typedef enum track_kind {
    TRACK_STREAM,
    TRACK_QUEUE,
    TRACK_COPIES,
    TRACK_MEMORY,
    TRACK_SCRATCH,
    TRACK_GRAPHS,
    TRACK_KINDS
} track_kind;

typedef struct gpu_track {
    track_kind kind;
    uint32_t id; /* of the stream or queue; ROCL_NONE: unknown, or it is of neither kind */
} gpu_track;

static gpu_track resolve_track(const ot_sink *s, rocl_kind kind, uint32_t agent, uint32_t queue,
                               uint32_t stream)
{
    const rocl_capture *c = s->system.capture;
    bool gpu = agent != ROCL_NONE && c->agents[agent].type == ROCL_AGENT_GPU;
    /* Not every source knows streams, and barriers have none. */
    bool by_queue = s->opt.group_by_queue || (stream == ROCL_NONE && queue != ROCL_NONE);
    uint32_t id = by_queue ? queue : stream;
    if (kind == ROCL_ALLOC)
        return (gpu_track){TRACK_MEMORY, ROCL_NONE};
    if (kind == ROCL_SCRATCH)
        return (gpu_track){TRACK_SCRATCH, ROCL_NONE};
    if (kind == ROCL_GRAPH)
        return (gpu_track){TRACK_GRAPHS, ROCL_NONE};
    if (kind == ROCL_COPY && (id == ROCL_NONE || (!gpu && agent != ROCL_NONE)))
        return (gpu_track){TRACK_COPIES, ROCL_NONE};
    return (gpu_track){by_queue ? TRACK_QUEUE : TRACK_STREAM, id};
}

/* The tracks of an agent: one of each kind without an id, then streams, then queues. */
static uint64_t track_number(const rocl_capture *c, gpu_track t)
{
    if (t.id == ROCL_NONE)
        return t.kind;
    return TRACK_KINDS + (t.kind == TRACK_STREAM ? t.id : (uint64_t)c->stream_count + t.id);
}

static uint64_t tracks_per_agent(const rocl_capture *c)
{
    return (uint64_t)c->stream_count + c->queue_count + TRACK_KINDS;
}

/* Each process has its share of the indexes, process_indexes of them. In it (agent, track) has an
 * index of its own as long as there are enough; else `fold` of them share one. Also makes the
 * labels of queues and streams, each once, for events that name theirs. */
bool ot_gpu_begin_capture(ot_sink *s, const rocl_capture *c)
{
    uint64_t tracks = ((uint64_t)c->agent_count + 1) * tracks_per_agent(c);
    uint32_t share = ROCL_SEQUENCE_INDEXES / (c->process_count ? c->process_count : 1);
    s->process_indexes = tracks < share ? (uint32_t)tracks : share;
    s->fold = (uint32_t)((tracks + s->process_indexes - 1) / s->process_indexes);
    if (!s->trace->opt.args)
        return true;
    size_t count = (size_t)c->queue_count + c->stream_count;
    s->labels = reallocarray(NULL, count + 1, sizeof *s->labels);
    for (size_t i = 0; s->labels && i < count; i++) {
        bool queue = i < c->queue_count;
        char name[160];
        rocl_queue_label(s->trace, queue ? &c->queues[i] : &c->streams[i - c->queue_count],
                         queue ? "Queue" : "Stream", name, sizeof name);
        s->labels[i] = ot_text(&s->defs, name);
    }
    return s->labels;
}

uint32_t ot_gpu_index(const void *ctx, rocl_kind kind, const rocl_event *e, uint32_t agent,
                      uint32_t queue, uint32_t stream)
{
    const ot_sink *s = ctx;
    const rocl_capture *c = s->system.capture;
    uint64_t n = (agent != ROCL_NONE ? agent : c->agent_count) * tracks_per_agent(c) +
                 track_number(c, resolve_track(s, kind, agent, queue, stream));
    return e->process * s->process_indexes + (uint32_t)(n / s->fold);
}

uint32_t ot_gpu_process(const ot_sink *s, uint32_t index)
{
    return index / s->process_indexes;
}

uint64_t ot_gpu_key(const ot_part *p)
{
    const rocl_track_event *e = &p->event;
    const rocl_capture *c = p->sink->system.capture;
    uint64_t agent = e->agent != ROCL_NONE ? e->agent : c->agent_count;
    gpu_track t = resolve_track(p->sink, e->kind, e->agent, e->queue, e->stream);
    return agent << 34 ^ track_number(c, t);
}

/* "Stream 1"; in a process "Copies of Agent 0", "Stream 1 of an unknown agent" */
uint32_t ot_gpu_location(ot_sink *s, const ot_track *t)
{
    static const char *const names[] = {[TRACK_COPIES] = "Copies",
                                        [TRACK_MEMORY] = "Memory",
                                        [TRACK_SCRATCH] = "Scratch",
                                        [TRACK_GRAPHS] = "Graph launches"};
    const rocl_capture *c = s->system.capture;
    gpu_track at = resolve_track(s, t->kind, t->agent, t->queue, t->stream);
    uint32_t group = ot_agent_group(&s->system, t->process, t->agent);
    char own[160], name[256];
    if (at.kind == TRACK_STREAM || at.kind == TRACK_QUEUE) {
        const rocl_queue *all = at.kind == TRACK_QUEUE ? c->queues : c->streams;
        rocl_queue_label(s->trace, at.id == ROCL_NONE ? NULL : &all[at.id],
                         at.kind == TRACK_QUEUE ? "Queue" : "Stream", own, sizeof own);
    } else {
        snprintf(own, sizeof own, "%s", names[at.kind]);
    }
    if (!ot_is_process(&s->system, group))
        snprintf(name, sizeof name, "%s", own);
    else
        snprintf(name, sizeof name, "%s of %s", own,
                 t->agent != ROCL_NONE ? rocl_str(s->trace, c->agents[t->agent].label)
                                       : "an unknown agent");
    return ot_stream_location(&s->system, group, name);
}

/* ---- regions --------------------------------------------------------------------------------- */

ot_region ot_gpu_region(const ot_sink *s, const rocl_track_event *e)
{
    static const struct {
        ot_word category;
        OTF2_RegionRole role;
    } kinds[ROCL_KINDS] = {
        [ROCL_DISPATCH] = {W_KERNEL_DISPATCH, OTF2_REGION_ROLE_FUNCTION},
        [ROCL_COPY] = {W_MEMORY_COPY, OTF2_REGION_ROLE_DATA_TRANSFER},
        [ROCL_ALLOC] = {W_MEMORY_ALLOCATION, OTF2_REGION_ROLE_ALLOCATE},
        [ROCL_SCRATCH] = {W_SCRATCH_MEMORY, OTF2_REGION_ROLE_ALLOCATE},
        [ROCL_GRAPH] = {W_GRAPH_LAUNCH, OTF2_REGION_ROLE_TASK},
        [ROCL_HIP_EVENT] = {W_HIP_EVENT, OTF2_REGION_ROLE_FUNCTION},
        [ROCL_BARRIER] = {W_BARRIER, OTF2_REGION_ROLE_BARRIER},
    };
    ot_region r = {.name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name,
                   .category = s->words[kinds[e->kind].category],
                   .paradigm = OTF2_PARADIGM_HIP,
                   .role = kinds[e->kind].role};
    const char *name = rocl_str(s->trace, r.name);
    if (r.role != OTF2_REGION_ROLE_ALLOCATE)
        return r;
    if (strcasestr(name, "realloc"))
        r.role = OTF2_REGION_ROLE_REALLOCATE;
    else if (strcasestr(name, "free") || strcasestr(name, "reclaim"))
        r.role = OTF2_REGION_ROLE_DEALLOCATE;
    return r;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void add_agent(ot_part *p, ot_word name, uint32_t agent)
{
    const ot_sink *s = p->sink;
    if (agent != ROCL_NONE)
        ot_add_text(p, s->words[name], s->system.capture->agents[agent].label);
}

static void add_size(ot_part *p, ot_word name, const uint32_t size[3])
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, size[0], size[1], size[2]);
    ot_add_text(p, p->sink->words[name], ot_text(p->defs, text));
}

void ot_add_gpu_attributes(ot_part *p, const rocl_track_event *e)
{
    const ot_sink *s = p->sink;
    const uint32_t *words = s->words;
    if (e->kind == ROCL_COPY || e->kind == ROCL_ALLOC || e->kind == ROCL_SCRATCH)
        ot_add_uint(p, words[W_BYTES], e->size);
    if (e->kind == ROCL_COPY) {
        add_agent(p, W_SOURCE, e->op ? e->other_agent : e->agent);
        add_agent(p, W_DESTINATION, e->op ? e->agent : e->other_agent);
    }
    if (!s->trace->opt.args)
        return;
    if (e->kind == ROCL_DISPATCH) {
        ot_add_uint(p, words[W_DISPATCH_ID], e->dispatch_id);
        add_size(p, W_GRID, e->grid);
        add_size(p, W_WORKGROUP, e->workgroup);
        ot_add_uint(p, words[W_LDS], (uint64_t)e->group_segment);
        ot_add_uint(p, words[W_SCRATCH], (uint64_t)e->private_segment);
    }
    if (e->kind == ROCL_GRAPH)
        ot_add_uint(p, words[W_KERNELS], e->size);
    if (e->queue != ROCL_NONE)
        ot_add_text(p, words[W_QUEUE], s->labels[e->queue]);
    if (e->stream != ROCL_NONE)
        ot_add_text(p, words[W_STREAM], s->labels[s->system.capture->queue_count + e->stream]);
    if (e->stack_id)
        ot_add_uint(p, words[W_STACK_ID], e->stack_id);
}

/* ---- copies as RMA --------------------------------------------------------------------------- */

ot_transfer ot_transfer_begin(ot_part *p, OTF2_EvtWriter *w, ot_track *t, uint64_t *match)
{
    const rocl_track_event *e = &p->event;
    const ot_peers *peers = &p->sink->peers;
    const ot_system *y = &p->sink->system;
    if (e->kind != ROCL_COPY || !ot_is_gpu(y, e->agent))
        return (ot_transfer){0};
    uint32_t other = ot_is_gpu(y, e->other_agent) ? e->other_agent : ROCL_NONE;
    if (other == e->agent) /* within a group there is nobody to draw an arrow to */
        return (ot_transfer){0};
    t->copies = true;
    uint32_t remote = rocl_map_get(&peers->ranks, rocl_copy_end(t->process, other), 0);
    ot_transfer transfer = {peers->windows[t->process], ++*match};
    OTF2_TimeStamp time = ot_time(p, e->time);
    if (e->op)
        OTF2_EvtWriter_RmaGet(w, NULL, time, transfer.window, remote, e->size, transfer.match);
    else
        OTF2_EvtWriter_RmaPut(w, NULL, time, transfer.window, remote, e->size, transfer.match);
    return transfer;
}

void ot_transfer_end(ot_part *p, OTF2_EvtWriter *w, const ot_transfer *t, int64_t time)
{
    if (t->match)
        OTF2_EvtWriter_RmaOpCompleteBlocking(w, NULL, ot_time(p, time), t->window, t->match);
}
