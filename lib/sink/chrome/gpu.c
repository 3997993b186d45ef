/* GPU work, on rows of the GPU that does it: by stream or queue, and some kinds by themselves. What
 * overlaps on a row goes to further rows of the same name. Work of agents that are no GPU is shown
 * with its process. */
#include <stdio.h>

#include "sink/chrome/chrome.h"

/* Kinds of rows, in the order in which they are shown. */
typedef enum place { STREAM, QUEUE, COPIES, MEMORY, SCRATCH, GRAPHS } place;

typedef struct work {
    chrome_sink *c;
    rocl_lanes lanes;
    rocl_map groups; /* place, agent, id -> group of lanes */
    uint32_t group_count;
    uint32_t process;
} work;

/* The row that the event at hand belongs to. */
typedef struct row {
    place place;
    uint32_t id;  /* of the stream or queue; ROCL_NONE: unknown, or the place has none */
    uint32_t pid; /* of the GPU, else of the process */
    bool gpu;
} row;

static row row_of(work *w)
{
    chrome_sink *c = w->c;
    const rocl_track_event *e = &c->event;
    /* Not every source knows streams, and barriers have none. */
    bool by_queue = c->opt.group_by_queue || (e->stream == ROCL_NONE && e->queue != ROCL_NONE);
    row r = {.place = by_queue ? QUEUE : STREAM, .id = by_queue ? e->queue : e->stream};
    r.pid = chrome_gpu_pid(&c->world, e->agent);
    r.gpu = r.pid != 0;
    if (!r.gpu)
        r.pid = chrome_pid(&c->world, w->process);
    if (e->kind == ROCL_ALLOC)
        r.place = MEMORY;
    else if (e->kind == ROCL_SCRATCH)
        r.place = SCRATCH;
    else if (e->kind == ROCL_GRAPH)
        r.place = GRAPHS;
    else if (e->kind == ROCL_COPY && (r.id == ROCL_NONE || (!r.gpu && e->agent != ROCL_NONE)))
        r.place = COPIES;
    if (r.place != STREAM && r.place != QUEUE)
        r.id = ROCL_NONE;
    return r;
}

static uint32_t group_of(work *w, const row *r)
{
    uint64_t key =
        (uint64_t)r->place << 60 | ((uint64_t)w->c->event.agent & 0xfffffff) << 32 | r->id;
    uint32_t group = rocl_map_get(&w->groups, key, ROCL_NONE);
    if (group == ROCL_NONE && rocl_map_put(&w->groups, key, w->group_count))
        group = w->group_count++;
    return group;
}

/* "Stream 1", "Host copies" */
static void place_name(const work *w, const row *r, char *name, size_t size)
{
    static const char *const names[] = {[COPIES] = "Copies",
                                        [MEMORY] = "Memory",
                                        [SCRATCH] = "Scratch",
                                        [GRAPHS] = "Graph launches"};
    static const char *const of_host[] = {[COPIES] = "Host copies",
                                          [MEMORY] = "Host memory",
                                          [SCRATCH] = "Scratch",
                                          [GRAPHS] = "Graph launches"};
    const rocl_capture *c = w->c->world.capture;
    const rocl_queue *q = NULL;
    if (r->place > QUEUE) {
        snprintf(name, size, "%s", (r->gpu ? names : of_host)[r->place]);
        return;
    }
    if (r->id != ROCL_NONE)
        q = r->place == QUEUE ? &c->queues[r->id] : &c->streams[r->id];
    rocl_queue_label(w->c->trace, q, r->place == QUEUE ? "Queue" : "Stream", name, size);
}

/* "Stream 1 (pid 12) (2)" */
static void row_name(const work *w, const row *r, uint32_t lane, char *name, size_t size)
{
    char base[160], whose[40] = "", number[24] = "";
    place_name(w, r, base, sizeof base);
    if (r->gpu)
        chrome_whose(&w->c->world, w->process, whose, sizeof whose);
    if (lane)
        snprintf(number, sizeof number, " (%u)", lane + 1);
    const char *unknown = !r->gpu && r->place <= QUEUE ? " (unknown agent)" : "";
    snprintf(name, size, "%s%s%s%s", base, unknown, whose, number);
}

/* By place, then stream or queue, then lane: 4, 17 and 10 bits. */
static uint32_t sort_of(const row *r, uint32_t lane)
{
    uint32_t id = r->id == ROCL_NONE ? 0 : r->id < 0x1fffe ? r->id + 1 : 0x1ffff;
    return (uint32_t)r->place << 27 | id << 10 | (lane < 1023 ? lane : 1023);
}

static uint32_t new_lane(work *w, const row *r, uint32_t group, bool extra)
{
    char name[256];
    uint32_t lane = extra ? w->lanes.groups[group].count : 0;
    row_name(w, r, lane, name, sizeof name);
    w->c->report.lanes += extra;
    return rocl_lanes_add(&w->lanes, group,
                          chrome_new_row(&w->c->world, r->pid, name, sort_of(r, lane)));
}

static rocl_status write_slice(work *w, rocl_error *err)
{
    chrome_sink *c = w->c;
    bool extra;
    row r = row_of(w);
    uint32_t group = group_of(w, &r);
    if (group == ROCL_NONE)
        return rocl_fail_memory(err);
    uint32_t lane = rocl_lanes_find(&w->lanes, group, c->event.end, &extra);
    if (lane == ROCL_NONE)
        lane = new_lane(w, &r, group, extra);
    if (lane == ROCL_NONE || !rocl_lanes_push(&w->lanes, lane, c->event.end))
        return rocl_fail_memory(err);
    c->report.slices++;
    c->report.moved += extra;
    chrome_event(c, r.pid, (uint32_t)w->lanes.lanes[lane].track);
    return ROCL_OK;
}

rocl_status chrome_write_work(chrome_sink *c, rocl_sequence_kind kind, rocl_error *err)
{
    work w = {.c = c, .process = c->event.index};
    rocl_open_slice ended;
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && chrome_same(c, kind, w.process)) {
        while (rocl_lanes_close(&w.lanes, c->event.time, &ended))
            ;
        st = write_slice(&w, err);
        if (st == ROCL_OK)
            st = chrome_next(c, err);
    }
    rocl_lanes_free(&w.lanes);
    rocl_map_free(&w.groups);
    return st;
}
