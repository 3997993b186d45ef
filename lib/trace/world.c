/* Definitions of all captures, from rank 0 to the others. Records are as they are in memory, since
 * all ranks are of one version; behind each stand its texts. */
#include "trace/world.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "source/source.h"
#include "trace/deal.h"

/* ---- records --------------------------------------------------------------------------------- */

typedef struct record_def {
    size_t size;
    const size_t *texts; /* offsets of its text ids */
    size_t text_count;
} record_def;

#define RECORD(type, texts)                                                                        \
    {                                                                                              \
        sizeof(type), texts, sizeof(texts) / sizeof *(texts)                                       \
    }

static const size_t node_texts[] = {
    offsetof(rocl_node, machine_id), offsetof(rocl_node, system_name),
    offsetof(rocl_node, hostname),   offsetof(rocl_node, release),
    offsetof(rocl_node, version),    offsetof(rocl_node, hardware)};
static const size_t process_texts[] = {offsetof(rocl_process, command)};
static const size_t agent_texts[] = {
    offsetof(rocl_agent, type_name), offsetof(rocl_agent, name),    offsetof(rocl_agent, model),
    offsetof(rocl_agent, vendor),    offsetof(rocl_agent, product), offsetof(rocl_agent, user_name),
    offsetof(rocl_agent, label)};
static const size_t thread_texts[] = {offsetof(rocl_thread, name)};
static const size_t queue_texts[] = {offsetof(rocl_queue, name), offsetof(rocl_queue, label)};
static const size_t kernel_texts[] = {offsetof(rocl_kernel, mangled),
                                      offsetof(rocl_kernel, display), offsetof(rocl_kernel, shown)};
static const size_t counter_texts[] = {
    offsetof(rocl_counter, name),        offsetof(rocl_counter, symbol),
    offsetof(rocl_counter, description), offsetof(rocl_counter, component),
    offsetof(rocl_counter, units),       offsetof(rocl_counter, value_type),
    offsetof(rocl_counter, block)};
static const size_t machine_texts[] = {offsetof(rocl_machine, hostname),
                                       offsetof(rocl_machine, machine_id)};

static const record_def nodes = RECORD(rocl_node, node_texts);
static const record_def processes = RECORD(rocl_process, process_texts);
static const record_def agents = RECORD(rocl_agent, agent_texts);
static const record_def threads = RECORD(rocl_thread, thread_texts);
static const record_def queues = RECORD(rocl_queue, queue_texts);
static const record_def code_objects = {sizeof(rocl_code_object), NULL, 0};
static const record_def kernels = RECORD(rocl_kernel, kernel_texts);
static const record_def counters = RECORD(rocl_counter, counter_texts);
static const record_def machines = RECORD(rocl_machine, machine_texts);

static void put_text(rocl_buf *to, const rocl_trace *t, uint32_t text)
{
    size_t n;
    const char *p = rocl_strings_get(t->strings, text, &n);
    rocl_buf_varint(to, text == ROCL_NONE ? 0 : n + 1);
    if (text != ROCL_NONE)
        rocl_buf_put(to, p, n);
}

static uint32_t take_text(rocl_trace *t, rocl_team_reader *from)
{
    const uint64_t n = rocl_team_number(from);
    const uint8_t *p = n ? rocl_team_bytes(from, n - 1) : NULL;
    return p ? rocl_strings_put(t->strings, (const char *)p, n - 1) : ROCL_NONE;
}

static void put_records(rocl_buf *to, const rocl_trace *t, const record_def *def,
                        const void *records, size_t count)
{
    rocl_buf_varint(to, count);
    for (size_t i = 0; i < count; i++) {
        const char *r = (const char *)records + i * def->size;
        rocl_buf_put(to, r, def->size);
        for (size_t k = 0; k < def->text_count; k++)
            put_text(to, t, *(const uint32_t *)(const void *)(r + def->texts[k]));
    }
}

/* NULL: memory is out, or the message is bad. */
static void *take_records(rocl_trace *t, rocl_team_reader *from, const record_def *def,
                          rocl_arena *arena, uint32_t *count)
{
    const uint64_t n = rocl_team_number(from);
    from->bad |= n > (uint64_t)(from->end - from->p) / def->size;
    const size_t bytes = from->bad ? 0 : (size_t)n * def->size;
    char *records = arena ? rocl_arena_alloc(arena, bytes + 1) : malloc(bytes + 1);
    *count = records && !from->bad ? (uint32_t)n : 0;
    for (uint32_t i = 0; i < *count; i++) {
        char *r = records + i * def->size;
        const uint8_t *p = rocl_team_bytes(from, def->size);
        if (p)
            memcpy(r, p, def->size);
        for (size_t k = 0; k < def->text_count; k++)
            *(uint32_t *)(void *)(r + def->texts[k]) = take_text(t, from);
    }
    return records;
}

/* ---- captures -------------------------------------------------------------------------------- */

/* Of the definitions it is set once: rank 0 does not change it either. */
void rocl_world_take_clock(rocl_model_capture *c, rocl_team_reader *from)
{
    const uint8_t *offset = rocl_team_bytes(from, sizeof c->offset);
    const uint8_t *drift = rocl_team_bytes(from, sizeof c->drift);
    const uint8_t *since = rocl_team_bytes(from, sizeof c->drift_from);
    rocl_model_capture clock;
    if (!since)
        return;
    memcpy(&clock.offset, offset, sizeof clock.offset);
    memcpy(&clock.drift, drift, sizeof clock.drift);
    memcpy(&clock.drift_from, since, sizeof clock.drift_from);
    if (c->offset == clock.offset && c->drift == clock.drift && c->drift_from == clock.drift_from)
        return;
    c->offset = clock.offset;
    c->drift = clock.drift;
    c->drift_from = clock.drift_from;
    rocl_set_clock_of(c);
}

static void put_definitions(rocl_buf *to, const rocl_trace *t, const rocl_capture *c)
{
    rocl_team_put_text(to, c->path, strlen(c->path));
    rocl_buf_varint(to, c->thread_count);
    rocl_buf_varint(to, c->counter_count);
    rocl_buf_varint(to, (uint32_t)(c->rank + 1));
    put_records(to, t, &nodes, c->nodes, c->node_count);
    put_records(to, t, &processes, c->processes, c->process_count);
    put_records(to, t, &agents, c->agents, c->agent_count);
}

rocl_status rocl_world_make(rocl_world *w, const rocl_trace *t, rocl_error *err)
{
    w->ends = calloc(t->capture_count + 1, sizeof *w->ends);
    for (size_t i = 0; w->ends && i < t->capture_count; i++) {
        put_definitions(&w->bytes, t, &t->captures[i]->pub);
        w->ends[i] = w->bytes.len;
    }
    return w->ends && !w->bytes.failed ? ROCL_OK : rocl_fail_memory(err);
}

void rocl_world_free(rocl_world *w)
{
    rocl_buf_free(&w->bytes);
    free(w->ends);
}

/* Behind 1: which of the rank's own it is. Behind 0: its definitions. */
static void put_capture(rocl_buf *to, const rocl_world *w, const rocl_trace *t,
                        const rocl_model_capture *c, unsigned rank)
{
    const uint32_t i = c->pub.index;
    const rocl_deal_place place = rocl_deal_place_of(t->deal, i);
    const bool own = place.rank == rank;
    const size_t begin = i ? w->ends[i - 1] : 0;
    size_t n;
    const char *guid = rocl_strings_get(t->strings, c->pub.guid, &n);
    rocl_buf_byte(to, own);
    rocl_buf_byte(to, c->joins_next);
    rocl_buf_varint(to, c->pub.machine);
    rocl_team_put_text(to, guid, n);
    if (!own) {
        rocl_buf_put(to, w->bytes.data + begin, w->ends[i] - begin);
        return;
    }
    rocl_buf_varint(to, place.input);
    rocl_buf_varint(to, place.nth);
    rocl_deal_put_clock(to, c);
}

void rocl_world_put(rocl_buf *to, const rocl_world *w, const rocl_trace *t, unsigned rank)
{
    put_records(to, t, &machines, t->machines, t->machine_count);
    rocl_buf_varint(to, t->capture_count);
    for (size_t i = 0; i < t->capture_count; i++)
        put_capture(to, w, t, t->captures[i], rank);
}

/* Its threads and counters are only counted: nobody looks at those of another rank's capture. */
static rocl_status take_definitions(rocl_trace *t, rocl_team_reader *from, const char *guid,
                                    size_t len, rocl_model_capture **made, rocl_error *err)
{
    rocl_model_capture *c = *made = calloc(1, sizeof *c);
    if (!c)
        return rocl_fail_memory(err);
    const uint64_t n = rocl_team_number(from);
    const char *path = (const char *)rocl_team_bytes(from, n);
    c->pub.trace = t;
    c->pub.guid = rocl_strings_put(t->strings, guid, len);
    c->pub.path = path ? rocl_arena_dup(&c->arena, path, n) : NULL;
    c->pub.thread_count = (uint32_t)rocl_team_number(from);
    c->pub.counter_count = (uint32_t)rocl_team_number(from);
    c->pub.rank = (int32_t)rocl_team_number(from) - 1;
    c->pub.nodes = take_records(t, from, &nodes, &c->arena, &c->pub.node_count);
    c->pub.processes = take_records(t, from, &processes, &c->arena, &c->pub.process_count);
    c->pub.agents = take_records(t, from, &agents, &c->arena, &c->pub.agent_count);
    if (from->bad)
        return rocl_team_bad_message(err);
    return c->pub.path && c->pub.nodes && c->pub.processes && c->pub.agents ? ROCL_OK
                                                                            : rocl_fail_memory(err);
}

static const char *path_of(const rocl_trace *t, uint64_t input)
{
    for (size_t i = 0; i < t->source_count; i++)
        if (t->sources[i]->input == input)
            return t->sources[i]->path;
    return "an input";
}

static rocl_status take_capture(rocl_trace *t, rocl_team_reader *from, rocl_world_find_fn *find,
                                void *ctx, rocl_model_capture **c, bool *own, rocl_error *err)
{
    const uint8_t *flags = rocl_team_bytes(from, 2);
    const uint32_t machine = (uint32_t)rocl_team_number(from);
    const uint64_t len = rocl_team_number(from);
    const char *guid = (const char *)rocl_team_bytes(from, len);
    rocl_status st = ROCL_OK;
    if (from->bad)
        return rocl_team_bad_message(err);
    *own = flags[0];
    if (*own) {
        const uint64_t input = rocl_team_number(from), nth = rocl_team_number(from);
        *c = find(ctx, input, nth, guid, len);
        if (!*c)
            return rocl_fail_changed(err, path_of(t, input));
        rocl_world_take_clock(*c, from);
    } else {
        st = take_definitions(t, from, guid, len, c, err);
    }
    if (*c) {
        (*c)->pub.machine = machine;
        (*c)->joins_next = flags[1];
    }
    return st == ROCL_OK && from->bad ? rocl_team_bad_message(err) : st;
}

/* ---- all definitions of a capture -------------------------------------------------------------
 */

void rocl_world_put_definitions(rocl_buf *to, const rocl_trace *t, const rocl_model_capture *c)
{
    const rocl_capture *p = &c->pub;
    size_t n;
    const char *guid = rocl_strings_get(t->strings, p->guid, &n);
    rocl_team_put_text(to, guid, n);
    rocl_buf_varint(to, (uint32_t)(p->rank + 1));
    rocl_buf_varint(to, (uint32_t)p->rocm_end);
    rocl_buf_byte(to, c->has_untimed_values);
    put_records(to, t, &nodes, p->nodes, p->node_count);
    put_records(to, t, &processes, p->processes, p->process_count);
    put_records(to, t, &threads, p->threads, p->thread_count);
    put_records(to, t, &agents, p->agents, p->agent_count);
    put_records(to, t, &queues, p->queues, p->queue_count);
    put_records(to, t, &queues, p->streams, p->stream_count);
    put_records(to, t, &code_objects, p->code_objects, p->code_object_count);
    put_records(to, t, &kernels, p->kernels, p->kernel_count);
    put_records(to, t, &counters, p->counters, p->counter_count);
}

rocl_status rocl_world_take_definitions(rocl_trace *t, rocl_team_reader *from,
                                        rocl_model_capture *c, rocl_error *err)
{
    rocl_capture *p = &c->pub;
    const uint64_t n = rocl_team_number(from);
    const char *guid = (const char *)rocl_team_bytes(from, n);
    if (!guid)
        return rocl_team_bad_message(err);
    p->guid = rocl_strings_put(t->strings, guid, n);
    p->rank = (int32_t)rocl_team_number(from) - 1;
    p->rocm_end = (int32_t)rocl_team_number(from);
    const uint8_t *untimed = rocl_team_bytes(from, 1);
    c->has_untimed_values = untimed && *untimed;
    p->nodes = take_records(t, from, &nodes, &c->arena, &p->node_count);
    p->processes = take_records(t, from, &processes, &c->arena, &p->process_count);
    p->threads = take_records(t, from, &threads, &c->arena, &p->thread_count);
    p->agents = take_records(t, from, &agents, &c->arena, &p->agent_count);
    p->queues = take_records(t, from, &queues, &c->arena, &p->queue_count);
    p->streams = take_records(t, from, &queues, &c->arena, &p->stream_count);
    p->code_objects = take_records(t, from, &code_objects, &c->arena, &p->code_object_count);
    p->kernels = take_records(t, from, &kernels, &c->arena, &p->kernel_count);
    p->counters = take_records(t, from, &counters, &c->arena, &p->counter_count);
    if (from->bad)
        return rocl_team_bad_message(err);
    return p->nodes && p->processes && p->threads && p->agents && p->queues && p->streams &&
                   p->code_objects && p->kernels && p->counters
               ? ROCL_OK
               : rocl_fail_memory(err);
}

/* What the rank has opened but others read. */
static void drop_former(rocl_trace *t, rocl_model_capture *const *all, size_t count)
{
    for (size_t i = 0; i < t->capture_count; i++) {
        bool kept = false;
        for (size_t k = 0; k < count && !kept; k++)
            kept = all[k] == t->captures[i];
        if (!kept)
            rocl_capture_free(t->captures[i]);
    }
    free(t->captures);
}

rocl_status rocl_world_take(rocl_trace *t, rocl_team_reader *from, rocl_world_find_fn *find,
                            void *ctx, bool **own, rocl_error *err)
{
    uint32_t machine_count;
    rocl_machine *all_machines = take_records(t, from, &machines, NULL, &machine_count);
    const uint64_t count = rocl_team_number(from);
    from->bad |= count > (uint64_t)(from->end - from->p);
    const size_t n = from->bad ? 0 : (size_t)count;
    rocl_model_capture **all = calloc(n + 1, sizeof *all);
    size_t made = 0;
    *own = calloc(n + 1, sizeof **own);
    rocl_status st = all && *own && all_machines ? ROCL_OK : rocl_fail_memory(err);
    for (; st == ROCL_OK && made < n; made++) /* one that has failed is freed as well */
        st = take_capture(t, from, find, ctx, &all[made], &(*own)[made], err);
    if (st == ROCL_OK && from->bad)
        st = rocl_team_bad_message(err);
    if (st != ROCL_OK) {
        for (size_t i = 0; i < made; i++)
            if (all[i] && !all[i]->source)
                rocl_capture_free(all[i]);
        free(all);
        free(all_machines);
        free(*own);
        *own = NULL;
        return st;
    }
    drop_former(t, all, n);
    free(t->machines);
    t->machines = all_machines;
    t->machine_count = machine_count;
    t->captures = all;
    t->capture_count = n;
    for (size_t i = 0; i < n; i++)
        all[i]->pub.index = (uint32_t)i;
    return ROCL_OK;
}
