/* Definitions of a process, out of those of its chunks: each chunk repeats what it needs. */
#include "source/chunk/chunk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "source/reader.h"

typedef struct definer {
    chunk_process *p;
    rocl_capture *c;
    rocl_map agents; /* of the chunk: id -> index */
    size_t threads, agent_cap, queues, streams, kernels, counters;
    rocl_node *node;
    rocl_process *process;
    uint32_t name; /* of the process, by the program; ROCL_NONE without */
} definer;

static uint32_t intern_text(const definer *d, rocl_view s)
{
    return rocl_strings_put(d->p->file->trace->strings, s.p, s.n);
}

static uint32_t read_text(const definer *d, chunk_record *r)
{
    return intern_text(d, chunk_read_text(r));
}

uint64_t chunk_def_key(uint8_t type, const uint8_t *body, size_t len, uint64_t *id)
{
    chunk_record r = {.type = type, .p = body, .end = body + len};
    *id = chunk_read_number(&r);
    return chunk_read_number(&r);
}

/* ---- kinds of definitions ------------------------------------------------------------------- */

static bool define_node(definer *d, chunk_record *r)
{
    rocl_node *n = d->node;
    n->machine_id = read_text(d, r);
    n->hostname = read_text(d, r);
    n->system_name = read_text(d, r);
    n->release = read_text(d, r);
    n->version = read_text(d, r);
    n->hardware = read_text(d, r);
    return true;
}

static bool define_process(definer *d, chunk_record *r)
{
    rocl_process *p = d->process;
    p->ppid = (int64_t)(chunk_read_number(r) & INT64_MAX);
    p->init = p->start = (int64_t)(chunk_read_number(r) & INT64_MAX);
    uint64_t rank = chunk_read_number(r);
    p->rank = rank && rank <= INT32_MAX ? (int32_t)(rank - 1) : -1;
    p->command = read_text(d, r);
    return true;
}

static uint32_t find_agent(const definer *d, uint64_t id)
{
    return rocl_map_get(&d->agents, id, ROCL_NONE);
}

static bool define_agent(definer *d, chunk_record *r)
{
    static const char *const types[] = {"", "CPU", "GPU", "NIC"};
    rocl_agent *all = (rocl_agent *)(uintptr_t)d->c->agents;
    uint64_t id = chunk_read_number(r), handle = chunk_read_number(r);
    uint32_t at = rocl_map_get(&d->p->agents, handle, ROCL_NONE);
    if (at == ROCL_NONE) {
        if (!ROCL_GROW(all, d->agent_cap, d->c->agent_count + 1u))
            return false;
        d->c->agents = all;
        at = d->c->agent_count++;
        rocl_agent *a = &all[at];
        *a = (rocl_agent){.id = (int64_t)(handle & INT64_MAX), .node = 0, .process = 0};
        uint64_t type = chunk_read_number(r);
        a->type = type < 4 ? (rocl_agent_type)type : ROCL_AGENT_OTHER;
        a->type_name = intern_text(d, (rocl_view){types[a->type], strlen(types[a->type])});
        a->absolute_index = chunk_read_signed(r);
        a->logical_index = chunk_read_signed(r);
        a->type_index = chunk_read_signed(r);
        a->name = read_text(d, r);
        a->model = read_text(d, r);
        a->vendor = read_text(d, r);
        a->product = read_text(d, r);
        rocl_label_agent(d->p->file->trace, a);
    }
    return rocl_map_put(&d->p->agents, handle, at) && rocl_map_put(&d->agents, id, at);
}

static bool define_queue(definer *d, chunk_record *r, const rocl_queue **array, uint32_t *count,
                         size_t *cap, rocl_map *map)
{
    rocl_queue *all = (rocl_queue *)(uintptr_t)*array;
    chunk_read_number(r);
    uint64_t number = chunk_read_number(r);
    if (rocl_map_get(map, number, ROCL_NONE) != ROCL_NONE)
        return true;
    if (!ROCL_GROW(all, *cap, *count + 1u))
        return false;
    *array = all;
    all[*count] =
        (rocl_queue){.id = (int64_t)(number & INT64_MAX), .process = 0, .name = read_text(d, r)};
    return rocl_map_put(map, number, (*count)++);
}

/* What is not known is 0, as in databases. */
static int64_t read_count(chunk_record *r)
{
    int64_t n = chunk_read_signed(r);
    return n > 0 ? n : 0;
}

static bool define_kernel(definer *d, chunk_record *r)
{
    rocl_kernel *all = (rocl_kernel *)(uintptr_t)d->c->kernels;
    chunk_read_number(r);
    uint64_t number = chunk_read_number(r);
    if (rocl_map_get(&d->p->kernels, number, ROCL_NONE) != ROCL_NONE)
        return true;
    if (!ROCL_GROW(all, d->kernels, d->c->kernel_count + 1u))
        return false;
    d->c->kernels = all;
    rocl_kernel *k = &all[d->c->kernel_count];
    *k = (rocl_kernel){.id = (int64_t)(number & INT64_MAX), .process = 0};
    k->agent = find_agent(d, chunk_read_number(r));
    k->group_segment = read_count(r);
    k->private_segment = read_count(r);
    k->sgpr = read_count(r);
    k->arch_vgpr = read_count(r);
    k->accum_vgpr = read_count(r);
    rocl_view name = chunk_read_text(r);
    name.n = rocl_kernel_length(name.p, name.n);
    k->mangled = intern_text(d, name);
    k->display = read_text(d, r);
    if (!k->display)
        k->display = k->mangled;
    k->shown = rocl_kernel_shown(d->p->file->trace, k->mangled, k->display, 0);
    return rocl_map_put(&d->p->kernels, number, d->c->kernel_count++);
}

static bool define_counter(definer *d, chunk_record *r)
{
    rocl_counter *all = (rocl_counter *)(uintptr_t)d->c->counters;
    chunk_read_number(r);
    uint64_t number = chunk_read_number(r);
    if (rocl_map_get(&d->p->counters, number, ROCL_NONE) != ROCL_NONE)
        return true;
    if (!ROCL_GROW(all, d->counters, d->c->counter_count + 1u))
        return false;
    d->c->counters = all;
    rocl_counter *k = &all[d->c->counter_count];
    *k = (rocl_counter){.id = (int64_t)(number & INT64_MAX), .process = 0};
    k->agent = find_agent(d, chunk_read_number(r));
    k->name = k->symbol = read_text(d, r);
    k->description = read_text(d, r);
    k->units = read_text(d, r);
    return rocl_map_put(&d->p->counters, number, d->c->counter_count++);
}

static bool add_definition(definer *d, const chunk_def *def)
{
    rocl_capture *c = d->c;
    chunk_record r = {.type = def->type, .p = def->body, .end = def->body + def->len};
    switch (def->type) {
    case ROCL_REC_NODE:
        return define_node(d, &r);
    case ROCL_REC_PROCESS:
        return define_process(d, &r);
    case ROCL_REC_PROCESS_NAME:
        d->name = intern_text(d, chunk_read_rest(&r));
        return true;
    case ROCL_REC_AGENT:
        return define_agent(d, &r);
    case ROCL_REC_QUEUE:
        return define_queue(d, &r, &c->queues, &c->queue_count, &d->queues, &d->p->queues);
    case ROCL_REC_STREAM:
        return define_queue(d, &r, &c->streams, &c->stream_count, &d->streams, &d->p->streams);
    case ROCL_REC_KERNEL:
        return define_kernel(d, &r);
    case ROCL_REC_COUNTER:
        return define_counter(d, &r);
    default:
        return true;
    }
}

/* ---- names that the program gave ------------------------------------------------------------ */

static void name_agent(const definer *d, uint32_t at, rocl_view name)
{
    rocl_agent *a = &((rocl_agent *)(uintptr_t)d->c->agents)[at];
    a->user_name = intern_text(d, name);
    (name.n ? rocl_label_named_agent : rocl_label_agent)(d->p->file->trace, a);
}

/* What is named and was not used is not there. */
static void apply_label(const definer *d, const chunk_def *def)
{
    chunk_record r = {.type = def->type, .p = def->body, .end = def->body + def->len};
    uint64_t what = chunk_read_number(&r), number = chunk_read_number(&r);
    rocl_view name = chunk_read_rest(&r);
    uint32_t at;
    if (what == ROCL_NAMED_GPU) {
        for (uint32_t i = 0; i < d->c->agent_count; i++)
            if (d->c->agents[i].type == ROCL_AGENT_GPU &&
                d->c->agents[i].type_index == (int64_t)(number & INT64_MAX))
                name_agent(d, i, name);
    } else if (what == ROCL_NAMED_AGENT) {
        if ((at = rocl_map_get(&d->p->agents, number, ROCL_NONE)) != ROCL_NONE)
            name_agent(d, at, name);
    } else if (what == ROCL_NAMED_STREAM) {
        if ((at = rocl_map_get(&d->p->streams, number, ROCL_NONE)) != ROCL_NONE)
            ((rocl_stream *)(uintptr_t)d->c->streams)[at].name = intern_text(d, name);
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* NULL: there is no memory. */
static rocl_thread *find_thread(definer *d, uint64_t tid)
{
    rocl_thread *all = (rocl_thread *)(uintptr_t)d->c->threads;
    uint32_t at = rocl_map_get(&d->p->threads, tid, ROCL_NONE);
    if (at != ROCL_NONE)
        return &all[at];
    if (!ROCL_GROW(all, d->threads, d->c->thread_count + 1u))
        return NULL;
    d->c->threads = all;
    at = d->c->thread_count++;
    int64_t id = (int64_t)(tid & INT64_MAX);
    all[at] = (rocl_thread){.id = id, .process = 0, .tid = id};
    return rocl_map_put(&d->p->threads, tid, at) ? &all[at] : NULL;
}

static bool add_chunk(definer *d, const chunk_info *c)
{
    bool ok = true;
    if (!(c->h.flags & ROCL_CHUNK_PROCESS)) {
        rocl_thread *t = find_thread(d, c->h.tid);
        ok = t;
        /* The last name of a thread is that by which it is known. */
        for (size_t i = 0; t && i < c->def_count; i++)
            if (c->defs[i].type == ROCL_REC_THREAD && c->defs[i].len)
                t->name =
                    intern_text(d, (rocl_view){(const char *)c->defs[i].body, c->defs[i].len});
    }
    for (size_t i = 0; i < c->def_count && ok; i++)
        ok = add_definition(d, &c->defs[i]);
    rocl_map_free(&d->agents);
    return ok;
}

/* One for each process image, whatever the file is called. */
static uint32_t make_guid(const chunk_process *p)
{
    const rocl_chunk_header *h = &p->any->h;
    char text[64];
    size_t n = 0;
    for (int i = 0; i < 8; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%02x", h->session[i]);
    n += (size_t)snprintf(text + n, sizeof text - n, "-%016llx", (unsigned long long)h->process);
    return rocl_strings_put(p->file->trace->strings, text, n);
}

rocl_status chunk_define(chunk_process *p, rocl_error *err)
{
    rocl_capture *c = &p->capture->pub;
    definer d = {.p = p, .c = c, .name = ROCL_NONE};
    d.node = calloc(1, sizeof *d.node);
    d.process = calloc(1, sizeof *d.process);
    c->nodes = d.node;
    c->processes = d.process;
    bool ok = d.node && d.process;
    if (ok) {
        c->node_count = c->process_count = 1;
        int64_t pid = p->any->h.pid;
        *d.process = (rocl_process){.id = pid, .node = 0, .pid = pid, .rank = -1};
    }
    for (size_t i = 0; i < p->count && ok; i++)
        ok = add_chunk(&d, p->chunks[i]);
    /* Threads that recorded nothing themselves, but caused work that others recorded. */
    for (size_t i = 0; i < p->count && ok; i++)
        for (size_t k = 0; k < p->chunks[i]->tid_count && ok; k++)
            ok = find_thread(&d, p->chunks[i]->tids[k]);
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->chunks[i]->def_count; k++)
            if (p->chunks[i]->defs[k].type == ROCL_REC_LABEL)
                apply_label(&d, &p->chunks[i]->defs[k]);
    ok = ok && (c->guid = make_guid(p)) != ROCL_NONE;
    if (!ok)
        return rocl_fail_memory(err);
    if (d.name != ROCL_NONE)
        d.process->command = d.name;
    d.process->fini = d.process->end =
        chunk_clock_to_ns(&p->clock, ROCL_CLOCK_TICKS, p->last_ticks);
    c->rank = d.process->rank;
    return ROCL_OK;
}

void chunk_definitions_free(rocl_model_capture *m)
{
    const rocl_capture *c = &m->pub;
    const void *arrays[] = {c->nodes,  c->processes, c->threads, c->agents,
                            c->queues, c->streams,   c->kernels, c->counters};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free((void *)(uintptr_t)arrays[i]);
}
