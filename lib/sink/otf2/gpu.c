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

uint32_t ot_work_process(const ot_sink *s)
{
    return s->event.index / s->world.indexes;
}

/* ---- locations ---- */

static void spot_name(const ot_sink *s, spot at, char *name, size_t size)
{
    static const char *const names[] = {[OT_COPIES] = "Copies",
                                        [OT_MEMORY] = "Memory",
                                        [OT_SCRATCH] = "Scratch",
                                        [OT_GRAPHS] = "Graph launches"};
    const rocl_capture *c = s->world.capture;
    const rocl_queue *q = NULL;
    if (at.place != OT_STREAM && at.place != OT_QUEUE) {
        snprintf(name, size, "%s", names[at.place]);
        return;
    }
    if (at.id != ROCL_NONE)
        q = at.place == OT_QUEUE ? &c->queues[at.id] : &c->streams[at.id];
    rocl_queue_label(s->trace, q, at.place == OT_QUEUE ? "Queue" : "Stream", name, size);
}

/* "Stream 1"; in a process "Host copies", "Memory of Agent 0", "Stream 1 of an unknown agent" */
static void location_name(const ot_sink *s, spot at, uint32_t agent, bool host, char *name,
                          size_t size)
{
    char base[160];
    spot_name(s, at, base, sizeof base);
    if (!host)
        snprintf(name, size, "%s", base);
    else if (agent != ROCL_NONE)
        snprintf(name, size, "%s of %s", base,
                 rocl_str(s->trace, s->world.capture->agents[agent].label));
    else
        snprintf(name, size, "%s of an unknown agent", base);
}

uint32_t ot_work_location(ot_sink *s)
{
    const rocl_packed *e = &s->event;
    uint32_t group = ot_agent_group(&s->world, ot_work_process(s), e->agent);
    spot at = spot_of(&s->world, e->kind, e->agent, e->queue, e->stream);
    char name[256];
    location_name(s, at, e->agent, ot_is_process(&s->world, group), name, sizeof name);
    return ot_stream_location(&s->world, group, name);
}

uint64_t ot_work_key(const ot_sink *s)
{
    const rocl_packed *e = &s->event;
    uint64_t agent = e->agent != ROCL_NONE ? e->agent : s->world.capture->agent_count;
    uint64_t number =
        place_number(&s->world, spot_of(&s->world, e->kind, e->agent, e->queue, e->stream));
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

OTF2_RegionRef ot_work_region(ot_sink *s, const rocl_packed *e)
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
    uint32_t name = e->name == ROCL_NONE ? s->words[W_UNNAMED] : e->name;
    OTF2_RegionRole role = kinds[e->kind].role;
    if (role == OTF2_REGION_ROLE_ALLOCATE)
        role = alloc_role(rocl_str(s->trace, name));
    uint32_t category = s->words[kinds[e->kind].category];
    OTF2_RegionRef region = ot_region_of(&s->defs, name, category, OTF2_PARADIGM_HIP, role);
    ot_note_category(s, region, category);
    return region;
}

/* ---- attributes ---- */

static void note_label(ot_sink *s, ot_word word, uint32_t agent)
{
    if (agent != ROCL_NONE)
        ot_note_text(s, s->words[word], s->world.capture->agents[agent].label);
}

static void note_queue(ot_sink *s, ot_word word, const rocl_queue *q, const char *kind)
{
    char name[160];
    rocl_queue_label(s->trace, q, kind, name, sizeof name);
    ot_note_text(s, s->words[word], ot_text(&s->defs, name));
}

static void note_size(ot_sink *s, ot_word word, const uint32_t size[3])
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, size[0], size[1], size[2]);
    ot_note_text(s, s->words[word], ot_text(&s->defs, text));
}

static void note_launch(ot_sink *s, const rocl_packed *e)
{
    ot_note_uint(s, s->words[W_DISPATCH_ID], e->dispatch_id);
    note_size(s, W_GRID, e->grid);
    note_size(s, W_WORKGROUP, e->workgroup);
    ot_note_uint(s, s->words[W_LDS], (uint64_t)e->group_segment);
    ot_note_uint(s, s->words[W_SCRATCH], (uint64_t)e->private_segment);
}

static void note_place(ot_sink *s, const rocl_packed *e)
{
    const rocl_capture *c = s->world.capture;
    if (e->queue != ROCL_NONE)
        note_queue(s, W_QUEUE, &c->queues[e->queue], "Queue");
    if (e->stream != ROCL_NONE)
        note_queue(s, W_STREAM, &c->streams[e->stream], "Stream");
    if (e->stack_id)
        ot_note_uint(s, s->words[W_STACK_ID], e->stack_id);
}

void ot_work_notes(ot_sink *s, const rocl_packed *e)
{
    if (e->kind == ROCL_COPY || e->kind == ROCL_ALLOC || e->kind == ROCL_SCRATCH)
        ot_note_uint(s, s->words[W_BYTES], e->size);
    if (e->kind == ROCL_COPY) {
        note_label(s, W_SOURCE, e->op ? e->other_agent : e->agent);
        note_label(s, W_DESTINATION, e->op ? e->agent : e->other_agent);
    }
    if (!s->trace->opt.args)
        return;
    if (e->kind == ROCL_DISPATCH)
        note_launch(s, e);
    if (e->kind == ROCL_GRAPH)
        ot_note_uint(s, s->words[W_KERNELS], e->size);
    note_place(s, e);
}

/* ---- copies ---- */

/* Between groups, that is: within one there is nobody to draw an arrow to. */
ot_transfer ot_transfer_begin(ot_sink *s, OTF2_EvtWriter *w, uint32_t location,
                              const rocl_packed *e)
{
    ot_world *world = &s->world;
    uint32_t group = world->locations[location].group;
    if (e->kind != ROCL_COPY || ot_is_process(world, group))
        return (ot_transfer){0};
    uint32_t other =
        e->other_agent == ROCL_NONE
            ? world->groups[group].creator
            : ot_agent_group(world, ot_location_process(world, location), e->other_agent);
    if (other == group)
        return (ot_transfer){0};
    uint32_t remote = ot_rank(world, ot_group_location(world, other));
    ot_rank(world, location);
    ot_transfer t = {ot_window(world, location), remote, ++s->match};
    OTF2_TimeStamp time = ot_time(s, e->time);
    if (e->op)
        OTF2_EvtWriter_RmaGet(w, NULL, time, t.window, remote, e->size, t.match);
    else
        OTF2_EvtWriter_RmaPut(w, NULL, time, t.window, remote, e->size, t.match);
    return t;
}

void ot_transfer_end(ot_sink *s, OTF2_EvtWriter *w, const ot_transfer *t, int64_t time)
{
    if (t->match)
        OTF2_EvtWriter_RmaOpCompleteBlocking(w, NULL, ot_time(s, time), t->window, t->match);
}
