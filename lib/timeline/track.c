/* Which track GPU work is drawn on, and how things are named: the rules for all outputs. */
#include "timeline/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* AMD's converter has a track for each stream, whatever its agent; with queues, one for each queue
 * of an agent, and one for the copies of a thread to an agent. */
static rocl_track amd_track(const rocl_timeline *t, rocl_track track, rocl_kind kind,
                            rocl_work_place at, uint32_t thread)
{
    if (!t->by_queue &&
        (at.stream != ROCL_NONE || (at.queue == ROCL_NONE && t->capture->stream_count))) {
        track.agent = ROCL_NONE;
        track.id = at.stream;
    } else if (kind == ROCL_COPY && (t->by_queue || at.queue == ROCL_NONE)) {
        track.kind = ROCL_TRACK_COPIES;
        track.thread = thread;
    } else {
        track.kind = ROCL_TRACK_QUEUE;
        track.id = at.queue;
    }
    return track;
}

rocl_track rocl_work_track(const rocl_timeline *t, rocl_kind kind, rocl_work_place at,
                           uint32_t thread)
{
    rocl_track track = {
        .kind = ROCL_TRACK_STREAM, .thread = ROCL_NONE, .agent = at.agent, .id = ROCL_NONE};
    track.gpu = rocl_is_gpu(t->capture, at.agent);
    if (t->encoder.amd_layout)
        return amd_track(t, track, kind, at, thread);
    /* Not every source has streams, and barriers have none. */
    bool by_queue = t->by_queue || (at.stream == ROCL_NONE && at.queue != ROCL_NONE);
    uint32_t id = by_queue ? at.queue : at.stream;
    bool host = at.agent != ROCL_NONE && !track.gpu;
    if (kind == ROCL_ALLOC) {
        track.kind = ROCL_TRACK_MEMORY;
    } else if (kind == ROCL_SCRATCH) {
        track.kind = ROCL_TRACK_SCRATCH;
    } else if (kind == ROCL_GRAPH) {
        track.kind = ROCL_TRACK_GRAPHS;
    } else if (kind == ROCL_COPY && (id == ROCL_NONE || host)) {
        track.kind = ROCL_TRACK_COPIES;
    } else {
        track.kind = by_queue ? ROCL_TRACK_QUEUE : ROCL_TRACK_STREAM;
        track.id = id;
    }
    return track;
}

uint32_t rocl_host_process(const rocl_capture *c, uint32_t index, uint32_t *thread)
{
    *thread = index < c->thread_count ? index : ROCL_NONE;
    if (index >= c->thread_count)
        return index - c->thread_count;
    return c->threads[index].process != ROCL_NONE ? c->threads[index].process : 0;
}

uint32_t rocl_counter_process(const rocl_capture *c, uint32_t counter)
{
    bool known = counter < c->counter_count && c->counters[counter].process != ROCL_NONE;
    return known ? c->counters[counter].process : 0;
}

/* ---- sequences of tracks --------------------------------------------------------------------- */

/* Tracks of GPU work that an agent can have: those without a number, then streams, then queues. */
static uint64_t tracks_of_agent(const rocl_capture *c)
{
    return ROCL_TRACK_WORK_KINDS + (uint64_t)c->stream_count + c->queue_count;
}

void rocl_timeline_set_capture(rocl_timeline *t, const rocl_capture *c)
{
    t->capture = c;
    t->work_indexes = t->fold = 1;
    if (!t->by_track)
        return;
    /* Each process gets as many indexes as the others; its tracks get one each as long as there are
     * enough. */
    uint64_t tracks = ((uint64_t)c->agent_count + 1) * tracks_of_agent(c);
    uint32_t most = ROCL_SEQUENCE_INDEXES / (c->process_count ? c->process_count : 1);
    t->work_indexes = tracks < most ? (uint32_t)tracks : most;
    t->fold = (uint32_t)((tracks + t->work_indexes - 1) / t->work_indexes);
}

uint32_t rocl_work_index(const void *timeline, rocl_kind kind, const rocl_event *e,
                         rocl_work_place at)
{
    const rocl_timeline *t = timeline;
    const rocl_capture *c = t->capture;
    if (!t->by_track)
        return e->process;
    rocl_track track = rocl_work_track(t, kind, at, e->thread);
    uint64_t n = (at.agent != ROCL_NONE ? at.agent : c->agent_count) * tracks_of_agent(c);
    if (track.id == ROCL_NONE)
        n += track.kind;
    else if (track.kind == ROCL_TRACK_STREAM)
        n += ROCL_TRACK_WORK_KINDS + (uint64_t)track.id;
    else
        n += ROCL_TRACK_WORK_KINDS + (uint64_t)c->stream_count + track.id;
    return e->process * t->work_indexes + (uint32_t)(n / t->fold);
}

/* ---- labels ---------------------------------------------------------------------------------- */

void rocl_program_name(const char *command, char *name, size_t size)
{
    size_t n = strcspn(command, " \t"), from = n;
    while (from > 0 && command[from - 1] != '/')
        from--;
    rocl_label(name, size, "%.*s", (int)(n - from), command + from);
}

const char *rocl_process_host(const rocl_capture *c, const rocl_process *p)
{
    const rocl_trace *t = c->trace;
    return p->machine < t->machine_count ? rocl_str(t, t->machines[p->machine].hostname) : "";
}

void rocl_process_details(char *s, size_t size, int32_t rank, int64_t pid, const char *host)
{
    char parts[3][96] = {"", "", ""};
    if (rank >= 0)
        snprintf(parts[0], sizeof parts[0], "rank %" PRId32, rank);
    if (pid)
        snprintf(parts[1], sizeof parts[1], "pid %" PRId64, pid);
    rocl_label(parts[2], sizeof parts[2], "%s", host);
    s[0] = 0;
    for (unsigned i = 0; i < 3; i++) {
        size_t n = strlen(s);
        if (parts[i][0])
            rocl_label(s + n, size - n, "%s%s", n ? ", " : "", parts[i]);
    }
}

const char *rocl_thread_label(const rocl_capture *c, const rocl_thread *t, const rocl_process *p,
                              char *buf, size_t size)
{
    if (t->name)
        return rocl_str(c->trace, t->name);
    buf[0] = 0;
    if (t->tid == p->pid)
        rocl_program_name(rocl_str(c->trace, p->command), buf, size);
    return buf;
}

void rocl_gpu_label(const rocl_trace *t, const rocl_gpu *g, char *name, size_t size)
{
    const rocl_agent *a = rocl_gpu_agent(t, g);
    const char *s = rocl_str(t, a->user_name ? a->user_name : a->product ? a->product : a->name);
    rocl_label(name, size, "GPU %u%s%s", g->id, *s ? " " : "", s);
}

void rocl_agent_label(const rocl_capture *c, uint32_t agent, char *s, size_t size)
{
    if (agent < c->agent_count)
        rocl_label(s, size, "%s", rocl_str(c->trace, c->agents[agent].device));
    else
        snprintf(s, size, ROCL_UNKNOWN_AGENT);
}

void rocl_queue_label(const rocl_trace *t, const rocl_queue *q, const char *word, char *name,
                      size_t size)
{
    if (!q)
        snprintf(name, size, "No %s", word);
    else
        rocl_label(name, size, "%s", rocl_str(t, q->label));
}

void rocl_work_label(const rocl_trace *t, const rocl_capture *c, const rocl_track *track, bool host,
                     char *name, size_t size)
{
    static const char *const names[] = {[ROCL_TRACK_COPIES] = "Copies",
                                        [ROCL_TRACK_MEMORY] = "Memory",
                                        [ROCL_TRACK_SCRATCH] = "Scratch",
                                        [ROCL_TRACK_GRAPHS] = "Graph launches"};
    bool by_queue = track->kind == ROCL_TRACK_QUEUE;
    const rocl_queue *q = NULL;
    if (host && track->kind == ROCL_TRACK_COPIES)
        snprintf(name, size, "Host copies");
    else if (host && track->kind == ROCL_TRACK_MEMORY)
        snprintf(name, size, "Host memory");
    else if (!by_queue && track->kind != ROCL_TRACK_STREAM)
        snprintf(name, size, "%s", names[track->kind]);
    else {
        if (track->id != ROCL_NONE)
            q = by_queue ? &c->queues[track->id] : &c->streams[track->id];
        rocl_queue_label(t, q, by_queue ? "Queue" : "Stream", name, size);
    }
}

void rocl_place_label(const int64_t place[5], char name[ROCL_PLACE_LABEL_MAX])
{
    static const char *const words[5] = {"xcc", "se", "instance", "sa", "wgp"};
    size_t n = 0;
    name[0] = 0;
    for (unsigned i = 0; i < 5; i++)
        if (place[i] >= 0)
            n += (size_t)snprintf(name + n, ROCL_PLACE_LABEL_MAX - n, " %s %" PRId64, words[i],
                                  place[i]);
}
