/* GPU work: by stream or queue, and some kinds by themselves, on a location of the GPU that does it
 * for the process that asked for it. Work of agents that are no GPU is shown with its process. */
#include <inttypes.h>
#include <stdio.h>

#include "sink/otf2/ot.h"

typedef struct spot {
    ot_place_kind place;
    uint32_t id; /* of the stream or queue; ROCL_NONE: unknown, or the place has none */
} spot;

static spot spot_of(const ot_world *w, rocl_kind kind, uint32_t agent, uint32_t queue,
                    uint32_t stream)
{
    const rocl_capture *c = w->capture;
    bool gpu = agent != ROCL_NONE && c->agents[agent].type == ROCL_AGENT_GPU;
    /* Not every source knows streams, and barriers have none. */
    bool by_queue = w->by_queue || (stream == ROCL_NONE && queue != ROCL_NONE);
    uint32_t id = by_queue ? queue : stream;
    if (kind == ROCL_ALLOC)
        return (spot){OT_MEMORY, ROCL_NONE};
    if (kind == ROCL_SCRATCH)
        return (spot){OT_SCRATCH, ROCL_NONE};
    if (kind == ROCL_GRAPH)
        return (spot){OT_GRAPHS, ROCL_NONE};
    if (kind == ROCL_COPY && (id == ROCL_NONE || (!gpu && agent != ROCL_NONE)))
        return (spot){OT_COPIES, ROCL_NONE};
    return (spot){by_queue ? OT_QUEUE : OT_STREAM, id};
}

static uint64_t place_number(const ot_world *w, spot s)
{
    const rocl_capture *c = w->capture;
    if (s.id == ROCL_NONE)
        return s.place;
    return OT_PLACES + (s.place == OT_STREAM ? s.id : (uint64_t)c->stream_count + s.id);
}

/* By process, agent, place. */
uint32_t ot_place(const void *ctx, rocl_kind kind, const rocl_event *e, uint32_t agent,
                  uint32_t queue, uint32_t stream)
{
    const ot_world *w = ctx;
    const rocl_capture *c = w->capture;
    uint64_t places = (uint64_t)c->stream_count + c->queue_count + OT_PLACES;
    uint64_t n = (agent != ROCL_NONE ? agent : c->agent_count) * places +
                 place_number(w, spot_of(w, kind, agent, queue, stream));
    return e->process * w->indexes + (uint32_t)(n / w->fold);
}

uint32_t ot_work_process(const ot_part *p)
{
    return p->event.index / p->sink->world.indexes;
}

/* ---- locations ---- */

static void spot_name(const ot_world *w, spot at, char *name, size_t size)
{
    static const char *const names[] = {[OT_COPIES] = "Copies",
                                        [OT_MEMORY] = "Memory",
                                        [OT_SCRATCH] = "Scratch",
                                        [OT_GRAPHS] = "Graph launches"};
    const rocl_capture *c = w->capture;
    const rocl_queue *q = NULL;
    if (at.place != OT_STREAM && at.place != OT_QUEUE) {
        snprintf(name, size, "%s", names[at.place]);
        return;
    }
    if (at.id != ROCL_NONE)
        q = at.place == OT_QUEUE ? &c->queues[at.id] : &c->streams[at.id];
    rocl_queue_label(w->trace, q, at.place == OT_QUEUE ? "Queue" : "Stream", name, size);
}

/* "Stream 1"; in a process "Host copies", "Memory of Agent 0", "Stream 1 of an unknown agent" */
static void location_name(const ot_world *w, spot at, uint32_t agent, bool host, char *name,
                          size_t size)
{
    char base[160];
    spot_name(w, at, base, sizeof base);
    if (!host)
        snprintf(name, size, "%s", base);
    else if (agent != ROCL_NONE)
        snprintf(name, size, "%s of %s", base, rocl_str(w->trace, w->capture->agents[agent].label));
    else
        snprintf(name, size, "%s of an unknown agent", base);
}

uint32_t ot_work_location(ot_world *w, const ot_found *f)
{
    uint32_t group = ot_agent_group(w, f->process, f->agent);
    spot at = spot_of(w, f->kind, f->agent, f->queue, f->stream);
    char name[256];
    location_name(w, at, f->agent, ot_is_process(w, group), name, sizeof name);
    return ot_stream_location(w, group, name);
}

uint64_t ot_work_key(const ot_part *p)
{
    const ot_world *w = &p->sink->world;
    const rocl_track_event *e = &p->event;
    uint64_t agent = e->agent != ROCL_NONE ? e->agent : w->capture->agent_count;
    uint64_t number = place_number(w, spot_of(w, e->kind, e->agent, e->queue, e->stream));
    return agent << 34 ^ number;
}

/* ---- regions ---- */

static OTF2_RegionRole alloc_role(const char *name)
{
    if (strcasestr(name, "realloc"))
        return OTF2_REGION_ROLE_REALLOCATE;
    return strcasestr(name, "free") || strcasestr(name, "reclaim") ? OTF2_REGION_ROLE_DEALLOCATE
                                                                   : OTF2_REGION_ROLE_ALLOCATE;
}

ot_region ot_work_region(const ot_part *p, const rocl_track_event *e)
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
    const ot_sink *s = p->sink;
    ot_region r = {.name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name,
                   .category = s->words[kinds[e->kind].category],
                   .paradigm = OTF2_PARADIGM_HIP,
                   .role = kinds[e->kind].role};
    if (r.role == OTF2_REGION_ROLE_ALLOCATE)
        r.role = alloc_role(rocl_str(s->trace, r.name));
    return r;
}

/* ---- attributes ---- */

static void note_label(ot_part *p, ot_word word, uint32_t agent)
{
    const ot_sink *s = p->sink;
    if (agent != ROCL_NONE)
        ot_note_text(p, s->words[word], s->world.capture->agents[agent].label);
}

static void note_size(ot_part *p, ot_word word, const uint32_t size[3])
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, size[0], size[1], size[2]);
    ot_note_text(p, p->sink->words[word], ot_text(p->defs, text));
}

static void note_launch(ot_part *p, const rocl_track_event *e)
{
    const uint32_t *words = p->sink->words;
    ot_note_uint(p, words[W_DISPATCH_ID], e->dispatch_id);
    note_size(p, W_GRID, e->grid);
    note_size(p, W_WORKGROUP, e->workgroup);
    ot_note_uint(p, words[W_LDS], (uint64_t)e->group_segment);
    ot_note_uint(p, words[W_SCRATCH], (uint64_t)e->private_segment);
}

static void note_place(ot_part *p, const rocl_track_event *e)
{
    const ot_sink *s = p->sink;
    const ot_world *w = &s->world;
    if (e->queue != ROCL_NONE)
        ot_note_text(p, s->words[W_QUEUE], w->labels[e->queue]);
    if (e->stream != ROCL_NONE)
        ot_note_text(p, s->words[W_STREAM], w->labels[w->capture->queue_count + e->stream]);
    if (e->stack_id)
        ot_note_uint(p, s->words[W_STACK_ID], e->stack_id);
}

void ot_work_notes(ot_part *p, const rocl_track_event *e)
{
    const ot_sink *s = p->sink;
    if (e->kind == ROCL_COPY || e->kind == ROCL_ALLOC || e->kind == ROCL_SCRATCH)
        ot_note_uint(p, s->words[W_BYTES], e->size);
    if (e->kind == ROCL_COPY) {
        note_label(p, W_SOURCE, e->op ? e->other_agent : e->agent);
        note_label(p, W_DESTINATION, e->op ? e->agent : e->other_agent);
    }
    if (!s->trace->opt.args)
        return;
    if (e->kind == ROCL_DISPATCH)
        note_launch(p, e);
    if (e->kind == ROCL_GRAPH)
        ot_note_uint(p, s->words[W_KERNELS], e->size);
    note_place(p, e);
}

/* ---- copies ---- */

/* Between groups, that is: within one there is nobody to draw an arrow to. */
ot_transfer ot_transfer_begin(ot_part *p, OTF2_EvtWriter *w, ot_found *f, const rocl_track_event *e,
                              uint64_t *match)
{
    const ot_sink *s = p->sink;
    const ot_world *world = &s->world;
    if (e->kind != ROCL_COPY || !ot_is_gpu(world, e->agent))
        return (ot_transfer){0};
    uint32_t other = ot_is_gpu(world, e->other_agent) ? e->other_agent : ROCL_NONE;
    if (other == e->agent)
        return (ot_transfer){0};
    f->copies = true;
    uint32_t remote = ot_end_rank(&s->ends, f->process, other);
    ot_transfer t = {s->ends.windows[f->process], ++*match};
    OTF2_TimeStamp time = ot_time(p, e->time);
    if (e->op)
        OTF2_EvtWriter_RmaGet(w, NULL, time, t.window, remote, e->size, t.match);
    else
        OTF2_EvtWriter_RmaPut(w, NULL, time, t.window, remote, e->size, t.match);
    return t;
}

void ot_transfer_end(ot_part *p, OTF2_EvtWriter *w, const ot_transfer *t, int64_t time)
{
    if (t->match)
        OTF2_EvtWriter_RmaOpCompleteBlocking(w, NULL, ot_time(p, time), t->window, t->match);
}
