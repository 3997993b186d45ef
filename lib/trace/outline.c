/* Definitions as bytes. Records are as they are in memory, since all ranks are of one version, but
 * for texts: these have numbers, and stand before all records, each once. So do arrays that several
 * captures have. */
#include "trace/outline.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/identity.h"
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
static const size_t process_texts[] = {offsetof(rocl_process, command),
                                       offsetof(rocl_process, guid)};
static const size_t agent_texts[] = {
    offsetof(rocl_agent, type_name), offsetof(rocl_agent, name),    offsetof(rocl_agent, model),
    offsetof(rocl_agent, vendor),    offsetof(rocl_agent, product), offsetof(rocl_agent, user_name),
    offsetof(rocl_agent, label),     offsetof(rocl_agent, uuid),    offsetof(rocl_agent, pci),
    offsetof(rocl_agent, device)};
static const size_t thread_texts[] = {offsetof(rocl_thread, name)};
static const size_t queue_texts[] = {offsetof(rocl_queue, name), offsetof(rocl_queue, label)};
static const size_t kernel_texts[] = {offsetof(rocl_kernel, mangled),
                                      offsetof(rocl_kernel, display), offsetof(rocl_kernel, shown)};
static const size_t counter_texts[] = {
    offsetof(rocl_counter, name),        offsetof(rocl_counter, symbol),
    offsetof(rocl_counter, description), offsetof(rocl_counter, component),
    offsetof(rocl_counter, units),       offsetof(rocl_counter, value_type),
    offsetof(rocl_counter, block)};
static const record_def defs[] = {
    RECORD(rocl_node, node_texts),     RECORD(rocl_process, process_texts),
    RECORD(rocl_agent, agent_texts),   RECORD(rocl_thread, thread_texts),
    RECORD(rocl_queue, queue_texts),   {sizeof(rocl_code_object), NULL, 0},
    RECORD(rocl_kernel, kernel_texts), RECORD(rocl_counter, counter_texts)};
static const record_def *const nodes = &defs[0], *const processes = &defs[1],
                               *const agents = &defs[2], *const threads = &defs[3],
                               *const queues = &defs[4], *const code_objects = &defs[5],
                               *const kernels = &defs[6], *const counters = &defs[7];

/* ---- as bytes -------------------------------------------------------------------------------- */

void rocl_defs_open(rocl_defs *d, const rocl_trace *t)
{
    *d = (rocl_defs){.trace = t, .known = rocl_strings_new()};
    d->bytes.failed = !d->known;
}

void rocl_defs_close(rocl_defs *d, rocl_buf *to)
{
    rocl_buf_varint(to, d->text_count);
    rocl_buf_put(to, d->texts.data, d->texts.len);
    rocl_buf_varint(to, d->array_count);
    rocl_buf_put(to, d->arrays.data, d->arrays.len);
    rocl_buf_put(to, d->bytes.data, d->bytes.len);
    rocl_buf_free_into(&d->texts, to);
    rocl_buf_free_into(&d->arrays, to);
    rocl_buf_free_into(&d->bytes, to);
    rocl_buf_free_into(&d->array, to);
    rocl_map_free(&d->numbers);
    rocl_map_free(&d->array_numbers);
    rocl_strings_free(d->known);
}

/* From 1 on; 0 is ROCL_NONE. */
static uint32_t number_text(rocl_defs *d, uint32_t text)
{
    uint32_t number = text == ROCL_NONE ? 0 : rocl_map_get(&d->numbers, text, 0);
    if (number || text == ROCL_NONE)
        return number;
    rocl_team_put_interned(&d->texts, d->trace->strings, text);
    number = ++d->text_count;
    d->texts.failed |= !rocl_map_put(&d->numbers, text, number);
    return number;
}

/* As they are in memory, with the numbers of their texts. */
static void put_records(rocl_defs *d, rocl_buf *to, const record_def *def, const void *records,
                        size_t count)
{
    rocl_buf_varint(to, count);
    for (size_t i = 0; i < count; i++) {
        const size_t at = to->len;
        rocl_buf_put(to, (const char *)records + i * def->size, def->size);
        for (size_t k = 0; k < def->text_count && !to->failed; k++) {
            uint32_t text;
            uint8_t *place = to->data + at + def->texts[k];
            memcpy(&text, place, sizeof text);
            text = number_text(d, text);
            memcpy(place, &text, sizeof text);
        }
    }
}

/* What nobody changes is there once: processes of a node know the same GPUs. The kind of its
 * records tells it apart, too: there may be no kernels and no code objects. */
static void put_array(rocl_defs *d, const record_def *def, const void *records, size_t count)
{
    d->array.len = 0;
    rocl_buf_byte(&d->array, (uint8_t)(def - defs));
    put_records(d, &d->array, def, records, count);
    const uint32_t id = d->known && !d->array.failed
                            ? rocl_strings_put(d->known, (const char *)d->array.data, d->array.len)
                            : ROCL_NONE;
    uint32_t number = rocl_map_get(&d->array_numbers, id, ROCL_NONE);
    if (number == ROCL_NONE) {
        number = d->array_count++;
        rocl_buf_put(&d->arrays, d->array.data, d->array.len);
        d->arrays.failed |= id == ROCL_NONE || !rocl_map_put(&d->array_numbers, id, number);
    }
    rocl_buf_varint(&d->bytes, number);
}

/* NULL: memory is out, or the message is bad. */
static void *take_records(rocl_defs_reader *d, const record_def *def, rocl_arena *arena,
                          uint32_t *count)
{
    rocl_byte_reader *from = d->from;
    const uint64_t n = rocl_next_number(from);
    from->bad |= n > (uint64_t)(from->end - from->p) / def->size;
    const size_t bytes = from->bad ? 0 : (size_t)n * def->size;
    char *records = arena ? rocl_arena_alloc(arena, bytes + 1) : malloc(bytes + 1);
    const uint8_t *p = rocl_next_bytes(from, bytes);
    *count = records && p ? (uint32_t)n : 0;
    if (*count)
        memcpy(records, p, bytes);
    for (uint32_t i = 0; i < *count; i++)
        for (size_t k = 0; k < def->text_count; k++) {
            uint32_t *text = (uint32_t *)(void *)(records + i * def->size + def->texts[k]);
            from->bad |= *text > d->text_count;
            *text = from->bad ? 0 : d->texts[*text];
        }
    return records;
}

rocl_status rocl_defs_take(rocl_defs_reader *d, rocl_trace *t, rocl_byte_reader *from,
                           rocl_error *err)
{
    *d = (rocl_defs_reader){.trace = t, .from = from};
    const uint64_t texts = rocl_next_number(from);
    from->bad |= texts > (uint64_t)(from->end - from->p);
    d->texts = from->bad ? NULL : malloc((texts + 1) * sizeof *d->texts);
    if (!d->texts)
        return from->bad ? rocl_team_bad_message(err) : rocl_fail_memory(err);
    d->texts[0] = ROCL_NONE;
    while (d->text_count < texts && !from->bad)
        d->texts[++d->text_count] = rocl_team_intern_text(t->strings, from);
    const uint64_t arrays = rocl_next_number(from);
    from->bad |= arrays > (uint64_t)(from->end - from->p);
    d->arrays = from->bad ? NULL : calloc(arrays + 1, sizeof *d->arrays);
    while (d->arrays && d->array_count < arrays && !from->bad) {
        rocl_defs_array *a = &d->arrays[d->array_count];
        const uint8_t *def = rocl_next_bytes(from, 1);
        from->bad |= def && *def >= sizeof defs / sizeof *defs;
        a->def = def && !from->bad ? *def : 0;
        a->records = take_records(d, &defs[a->def], &t->shared, &a->count);
        if (!a->records)
            break;
        d->array_count++;
    }
    if (from->bad)
        return rocl_team_bad_message(err);
    return d->arrays && d->array_count == arrays ? ROCL_OK : rocl_fail_memory(err);
}

void rocl_defs_free(rocl_defs_reader *d)
{
    free(d->texts);
    free(d->arrays);
}

static const void *take_array(const rocl_defs_reader *d, const record_def *def, uint32_t *count)
{
    const uint64_t number = rocl_next_number(d->from);
    d->from->bad |= number >= d->array_count || d->arrays[number].def != def - defs;
    *count = d->from->bad ? 0 : d->arrays[number].count;
    return d->from->bad ? NULL : d->arrays[number].records;
}

/* ---- captures -------------------------------------------------------------------------------- */

/* The clock of definitions is set once, as on rank 0. */
void rocl_outline_take_clock(rocl_model_capture *c, rocl_byte_reader *from)
{
    const uint8_t *offset = rocl_next_bytes(from, sizeof c->offset);
    const uint8_t *drift = rocl_next_bytes(from, sizeof c->drift);
    const uint8_t *since = rocl_next_bytes(from, sizeof c->drift_from);
    rocl_model_capture clock;
    const uint64_t clock_count = rocl_next_number(from);
    const uint8_t *clocks = clock_count && clock_count <= c->pub.process_count
                                ? rocl_next_bytes(from, (size_t)clock_count * sizeof *c->clocks)
                                : NULL;
    if (!since || (clock_count && !clocks))
        return;
    if (clocks &&
        (c->clocks = rocl_arena_alloc(&c->arena, (size_t)clock_count * sizeof *c->clocks)))
        memcpy(c->clocks, clocks, (size_t)clock_count * sizeof *c->clocks);
    from->bad |= clock_count && !c->clocks;
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

rocl_status rocl_outline_make(rocl_buf *outline, const rocl_trace *t, rocl_error *err)
{
    rocl_defs d;
    rocl_defs_open(&d, t);
    rocl_buf_varint(&d.bytes, t->capture_count);
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_model_capture *c = t->captures[i];
        const rocl_capture *p = &c->pub;
        rocl_buf_byte(&d.bytes, c->joins_next);
        rocl_buf_varint(&d.bytes, c->run);
        rocl_team_put_interned(&d.bytes, t->strings, p->guid);
        rocl_team_put_text(&d.bytes, p->path, strlen(p->path));
        /* Most ranks do not read it: its threads and counters are not used, only counted. */
        rocl_buf_varint(&d.bytes, p->thread_count);
        rocl_buf_varint(&d.bytes, p->counter_count);
        rocl_buf_varint(&d.bytes, (uint32_t)(p->rank + 1));
        rocl_buf_varint(&d.bytes, c->overwritten);
        rocl_buf_varint(&d.bytes, c->memory_before);
        put_array(&d, nodes, p->nodes, p->node_count);
        put_records(&d, &d.bytes, processes, p->processes, p->process_count);
        put_records(&d, &d.bytes, agents, p->agents, p->agent_count);
    }
    rocl_defs_close(&d, outline);
    return outline->failed ? rocl_fail_memory(err) : ROCL_OK;
}

void rocl_outline_put(rocl_buf *to, const rocl_buf *outline, const rocl_trace *t, unsigned rank)
{
    uint64_t own = 0;
    for (uint32_t i = 0; i < t->capture_count; i++)
        own += rocl_deal_place_of(t->deal, i).rank == rank;
    rocl_buf_put(to, outline->data, outline->len);
    rocl_buf_varint(to, own);
    for (uint32_t i = 0; i < t->capture_count && own; i++) {
        const rocl_deal_place place = rocl_deal_place_of(t->deal, i);
        if (place.rank != rank)
            continue;
        rocl_buf_varint(to, i);
        rocl_buf_varint(to, place.input);
        rocl_buf_varint(to, place.nth);
        rocl_deal_put_clock(to, t->captures[i]);
    }
}

/* Takes a capture as one of another rank. */
static rocl_status take_capture(rocl_defs_reader *d, rocl_model_capture **made, rocl_error *err)
{
    rocl_byte_reader *from = d->from;
    rocl_model_capture *c = *made = calloc(1, sizeof *c);
    if (!c)
        return rocl_fail_memory(err);
    const uint8_t *joins = rocl_next_bytes(from, 1);
    c->pub.trace = d->trace;
    c->joins_next = joins && *joins;
    c->run = (uint32_t)rocl_next_number(from);
    c->pub.guid = rocl_team_intern_text(d->trace->strings, from);
    const uint64_t n = rocl_next_number(from);
    const char *path = (const char *)rocl_next_bytes(from, n);
    c->pub.path = path ? rocl_arena_dup(&c->arena, path, n) : NULL;
    c->pub.thread_count = (uint32_t)rocl_next_number(from);
    c->pub.counter_count = (uint32_t)rocl_next_number(from);
    c->pub.rank = (int32_t)rocl_next_number(from) - 1;
    c->overwritten = rocl_next_number(from);
    c->memory_before = rocl_next_number(from);
    c->pub.nodes = take_array(d, nodes, &c->pub.node_count);
    c->pub.processes = take_records(d, processes, &c->arena, &c->pub.process_count);
    c->pub.agents = take_records(d, agents, &c->arena, &c->pub.agent_count);
    if (from->bad)
        return rocl_team_bad_message(err);
    return c->pub.path && c->pub.processes && c->pub.agents ? ROCL_OK : rocl_fail_memory(err);
}

/* Replaces a capture by the rank's own. */
static rocl_status take_own(rocl_trace *t, rocl_byte_reader *from, rocl_model_capture **all,
                            uint64_t count, bool *own, rocl_outline_find_fn *find, void *ctx,
                            rocl_error *err)
{
    const uint64_t i = rocl_next_number(from);
    const uint64_t input = rocl_next_number(from), nth = rocl_next_number(from);
    size_t len;
    if (from->bad || i >= count || own[i])
        return rocl_team_bad_message(err);
    const char *guid = rocl_strings_get(t->strings, all[i]->pub.guid, &len);
    rocl_model_capture *c = find(ctx, input, nth, guid, len);
    if (!c) {
        size_t k = 0;
        while (k < t->source_count && t->sources[k]->input != input)
            k++;
        return rocl_fail_changed(err, k < t->source_count ? t->sources[k]->path : "an input");
    }
    rocl_outline_take_clock(c, from);
    c->joins_next = all[i]->joins_next;
    c->run = all[i]->run;
    rocl_capture_free(all[i]);
    all[i] = c;
    own[i] = true;
    return from->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

/* ---- all definitions of a capture ------------------------------------------------------------ */

void rocl_defs_put(rocl_defs *d, const rocl_model_capture *c)
{
    const rocl_capture *p = &c->pub;
    rocl_buf *to = &d->bytes;
    rocl_team_put_interned(to, d->trace->strings, p->guid);
    rocl_buf_varint(to, (uint32_t)(p->rank + 1));
    rocl_buf_varint(to, (uint32_t)p->rocm_end);
    rocl_buf_byte(to, c->has_untimed_values);
    put_array(d, nodes, p->nodes, p->node_count);
    put_records(d, to, processes, p->processes, p->process_count);
    put_records(d, to, threads, p->threads, p->thread_count);
    put_records(d, to, agents, p->agents, p->agent_count);
    put_records(d, to, queues, p->queues, p->queue_count);
    put_records(d, to, queues, p->streams, p->stream_count);
    put_array(d, counters, p->counters, p->counter_count);
}

rocl_status rocl_defs_get(rocl_defs_reader *d, rocl_model_capture *c, rocl_error *err)
{
    rocl_capture *p = &c->pub;
    rocl_byte_reader *from = d->from;
    p->guid = rocl_team_intern_text(d->trace->strings, from);
    p->rank = (int32_t)rocl_next_number(from) - 1;
    p->rocm_end = (int32_t)rocl_next_number(from);
    const uint8_t *untimed = rocl_next_bytes(from, 1);
    c->has_untimed_values = untimed && *untimed;
    p->nodes = take_array(d, nodes, &p->node_count);
    p->processes = take_records(d, processes, &c->arena, &p->process_count);
    p->threads = take_records(d, threads, &c->arena, &p->thread_count);
    p->agents = take_records(d, agents, &c->arena, &p->agent_count);
    p->queues = take_records(d, queues, &c->arena, &p->queue_count);
    p->streams = take_records(d, queues, &c->arena, &p->stream_count);
    p->counters = take_array(d, counters, &p->counter_count);
    if (from->bad)
        return rocl_team_bad_message(err);
    return p->processes && p->threads && p->agents && p->queues && p->streams
               ? ROCL_OK
               : rocl_fail_memory(err);
}

void rocl_defs_put_kernels(rocl_defs *d, const rocl_capture *c)
{
    put_array(d, code_objects, c->code_objects, c->code_object_count);
    put_array(d, kernels, c->kernels, c->kernel_count);
}

void rocl_defs_get_kernels(const rocl_defs_reader *d, rocl_capture *c)
{
    c->code_objects = take_array(d, code_objects, &c->code_object_count);
    c->kernels = take_array(d, kernels, &c->kernel_count);
}

/* The trace's captures become these. What the rank has opened but others read stays: rank 0 may
 * still ask for its kernels. */
static bool replace_captures(rocl_trace *t, rocl_model_capture **all, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count; i++)
        all[i]->pub.index = (uint32_t)i;
    for (size_t i = 0; i < t->capture_count; i++) {
        rocl_model_capture *c = t->captures[i];
        if (c->pub.index < count && all[c->pub.index] == c)
            continue;
        if (!c->source) {
            rocl_capture_free(c);
            continue;
        }
        rocl_model_capture **more = realloc(t->former, (t->former_count + 1) * sizeof *more);
        good &= more != NULL;
        if (more) {
            t->former = more;
            t->former[t->former_count++] = c;
        }
    }
    free(t->captures);
    t->captures = all;
    t->capture_count = count;
    return good;
}

rocl_status rocl_outline_take(rocl_trace *t, rocl_byte_reader *from, rocl_outline_find_fn *find,
                              void *ctx, bool **own, rocl_error *err)
{
    rocl_defs_reader d;
    uint64_t n = 0;
    rocl_status st = rocl_defs_take(&d, t, from, err);
    if (st == ROCL_OK) {
        n = rocl_next_number(from);
        from->bad |= n > (uint64_t)(from->end - from->p);
    }
    rocl_model_capture **all = calloc((from->bad ? 0 : n) + 1, sizeof *all);
    size_t made = 0;
    *own = calloc((from->bad ? 0 : n) + 1, sizeof **own);
    if (st == ROCL_OK && (!all || !*own))
        st = rocl_fail_memory(err);
    for (; st == ROCL_OK && !from->bad && made < n; made++) /* a failed one is freed, too */
        st = take_capture(&d, &all[made], err);
    for (uint64_t i = rocl_next_number(from); i && st == ROCL_OK; i--)
        st = take_own(t, from, all, n, *own, find, ctx, err);
    if (st == ROCL_OK && from->bad)
        st = rocl_team_bad_message(err);
    rocl_defs_free(&d);
    if (st != ROCL_OK) {
        for (size_t i = 0; i < made; i++)
            if (all[i] && !all[i]->source)
                rocl_capture_free(all[i]);
        free(all);
        free(*own);
        *own = NULL;
        return st;
    }
    st = replace_captures(t, all, n) ? rocl_identity_make(t, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        return ROCL_OK;
    free(*own);
    *own = NULL;
    return st;
}
