/* A small trace for the tests of the CSV sink: definitions, and a source that hands out the events
 * of an array, one batch each, in as many tasks as asked for. */
#ifndef TEST_CSV_WORLD_H
#define TEST_CSV_WORLD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/identity.h"
#include "sink/csv/csv.h"
#include "source/formats.h"
#include "source/source.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define COUNT(a)  (sizeof(a) / sizeof *(a))

typedef struct world_event {
    rocl_kind kind;
    rocl_any_record as;
} world_event;

/* One with times only; its stack id is its own id. */
#define EVENT(kind_, id_, start_, end_)                                                            \
    {                                                                                              \
        .kind = (kind_), .as.e = {                                                                 \
            .id = (id_),                                                                           \
            .start = (start_),                                                                     \
            .end = (end_),                                                                         \
            .stack_id = (id_)                                                                      \
        }                                                                                          \
    }

typedef struct world {
    rocl_trace trace;
    rocl_model_capture capture, second; /* the second has no definitions */
    rocl_model_capture *captures[2];
    rocl_source source;
    rocl_process processes[2];
    rocl_thread threads[2];
    rocl_agent agents[2];
    rocl_queue queues[1];
    rocl_stream streams[1];
    rocl_kernel kernels[1];
    rocl_counter counters[3];
    const world_event *events;
    size_t count, tasks;
    rocl_status fail; /* what the source says in the end */
} world;

static inline uint32_t text(world *w, const char *s)
{
    return rocl_strings_put(w->trace.strings, s, strlen(s));
}

static inline rocl_status world_begin(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                                      rocl_plan *plan, rocl_error *err)
{
    world *w = c->state;
    (void)t, (void)to, (void)err;
    plan->count = w->tasks;
    plan->tasks = calloc(w->tasks, sizeof *plan->tasks);
    for (size_t i = 0; plan->tasks && i < w->tasks; i++)
        plan->tasks[i].first = (int64_t)i;
    return plan->tasks ? ROCL_OK : ROCL_INTERNAL;
}

static inline rocl_status world_scan(rocl_trace *t, rocl_model_capture *c, const rocl_task *task,
                                     unsigned worker, const rocl_emitter *to, rocl_error *err)
{
    world *w = c->state;
    (void)t;
    for (size_t i = (size_t)task->first; i < w->count; i += w->tasks) {
        world_event e = w->events[i];
        rocl_batch b = {.capture = &c->pub, .kind = e.kind, .count = 1, .any = &e.as.e};
        if (!(to->kinds >> e.kind & 1))
            continue;
        rocl_status st = to->emit(to->ctx, worker, &b, err);
        if (st)
            return st;
    }
    return ROCL_OK;
}

static inline rocl_status world_finish(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                                       rocl_error *err)
{
    world *w = c->state;
    (void)t, (void)to, (void)err;
    return w->fail;
}

static inline void world_end(rocl_trace *t, rocl_model_capture *c)
{
    (void)t, (void)c;
}

static const rocl_source_ops world_ops = {
    .begin = world_begin, .scan = world_scan, .finish = world_finish, .end = world_end};

static inline void world_define(world *w)
{
    w->processes[0] = (rocl_process){.id = 1, .pid = 11};
    w->processes[1] = (rocl_process){.id = 2, .pid = 22};
    w->threads[0] = (rocl_thread){.id = 1, .tid = 111};
    w->threads[1] = (rocl_thread){.id = 2, .process = 1, .tid = 222};
    w->agents[0] = (rocl_agent){.absolute_index = 3,
                                .logical_index = 1,
                                .type_name = text(w, "CPU"),
                                .name = text(w, "epyc"),
                                .label = text(w, "Agent 0")};
    w->agents[1] =
        (rocl_agent){.process = 1, .type_name = text(w, "GPU"), .label = text(w, "Agent 1")};
    w->queues[0] = (rocl_queue){.id = 7};
    w->streams[0] = (rocl_stream){.id = 9};
    w->kernels[0] = (rocl_kernel){.sgpr = 32, .arch_vgpr = 64, .accum_vgpr = 4};
    w->counters[0] = (rocl_counter){.name = text(w, "WAVES"), .units = text(w, "waves")};
    w->counters[1] = (rocl_counter){.name = text(w, "HITS"), .agent = 1};
    w->counters[2] = (rocl_counter){.name = text(w, "HITS"), .agent = 0};
}

static inline void world_open(world *w, unsigned jobs, const world_event *events, size_t count)
{
    memset(w, 0, sizeof *w);
    w->trace.opt.jobs = jobs;
    w->trace.opt.memory = 1 << 20;
    w->trace.strings = rocl_strings_new();
    w->trace.space = rocl_sort_space_new(w->trace.opt.memory, jobs, NULL);
    assert_non_null(w->trace.strings);
    assert_non_null(w->trace.space);
    world_define(w);
    static const rocl_format format = {.name = "a world made by a test", .ops = &world_ops};
    w->source.format = &format;
    w->source.ops = &world_ops;
    w->capture = (rocl_model_capture){.source = &w->source, .state = w};
    w->capture.pub = (rocl_capture){
        .trace = &w->trace,
        .guid = text(w, "g-1"),
        .processes = w->processes,
        .threads = w->threads,
        .agents = w->agents,
        .queues = w->queues,
        .streams = w->streams,
        .kernels = w->kernels,
        .counters = w->counters,
        .process_count = 2,
        .thread_count = 2,
        .agent_count = 2,
        .queue_count = 1,
        .stream_count = 1,
        .kernel_count = 1,
        .counter_count = 3,
    };
    w->second = (rocl_model_capture){.source = &w->source, .state = w};
    w->second.pub = (rocl_capture){.trace = &w->trace, .guid = text(w, "g-2"), .index = 1};
    w->captures[0] = &w->capture;
    w->captures[1] = &w->second;
    w->trace.captures = w->captures;
    w->trace.capture_count = 1;
    w->events = events;
    w->count = count;
    w->tasks = 1;
    rocl_trace_label_queues(&w->trace, NULL);
    rocl_identity_make(&w->trace, NULL);
}

static inline void world_close(world *w)
{
    free(w->trace.machines);
    free(w->trace.gpus);
    rocl_sort_space_free(w->trace.space);
    rocl_strings_free(w->trace.strings);
}

#endif
