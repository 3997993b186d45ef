/* Definitions of a process, collected from its chunks: each chunk repeats what it needs. */
#include "source/chunk/chunk.h"

#include <stdio.h>

typedef struct definer {
    chunk_process *p;
    rocl_capture *c;
    rocl_trace *trace;
    rocl_map agents; /* of the chunk: id -> index */
    rocl_node *node;
    rocl_process *process;
    uint32_t name; /* of the process, given by the program; ROCL_NONE: none */
} definer;

static uint32_t intern_text(const definer *d, rocl_view s)
{
    return rocl_strings_put(d->trace->strings, s.p, s.n);
}

static uint32_t read_text(const definer *d, chunk_record *r)
{
    return intern_text(d, chunk_read_text(r));
}

static void *define_once(definer *d, rocl_definition kind, uint64_t key, bool *fresh)
{
    return rocl_define_once(d->c, kind, &d->p->indexes[kind], key, fresh);
}

/* NULL: there is no memory. */
static rocl_thread *define_thread(definer *d, uint64_t tid)
{
    bool fresh;
    rocl_thread *t = define_once(d, ROCL_DEFINE_THREAD, tid, &fresh);
    if (t && fresh)
        t->id = t->tid = (int64_t)(tid & INT64_MAX);
    return t;
}

static bool define_agent(definer *d, chunk_record *r)
{
    static const char *const types[] = {"", "CPU", "GPU", "NIC"};
    uint64_t id = chunk_read_number(r);
    uint64_t handle = chunk_read_number(r);
    bool fresh;
    rocl_agent *a = define_once(d, ROCL_DEFINE_AGENT, handle, &fresh);
    if (a && fresh) {
        uint64_t type = chunk_read_number(r);
        a->id = (int64_t)(handle & INT64_MAX);
        a->type = type < 4 ? (rocl_agent_type)type : ROCL_AGENT_OTHER;
        a->type_name = intern_text(d, (rocl_view){types[a->type], strlen(types[a->type])});
        a->absolute_index = chunk_read_signed(r);
        a->logical_index = chunk_read_signed(r);
        a->type_index = chunk_read_signed(r);
        a->name = read_text(d, r);
        a->model = read_text(d, r);
        a->vendor = read_text(d, r);
        a->product = read_text(d, r);
        a->uuid = read_text(d, r);
        a->pci = read_text(d, r);
        rocl_label_agent(d->trace, a);
    }
    return a && rocl_map_put(&d->agents, id, (uint32_t)(a - d->c->agents));
}

static bool define_queue(definer *d, rocl_definition kind, chunk_record *r)
{
    bool fresh;
    chunk_read_number(r); /* its id in the chunk */
    uint64_t number = chunk_read_number(r);
    rocl_queue *q = define_once(d, kind, number, &fresh);
    if (q && fresh)
        *q = (rocl_queue){.id = (int64_t)(number & INT64_MAX), .name = read_text(d, r)};
    return q;
}

/* Unknown counts are 0, as in databases. */
static int64_t read_count(chunk_record *r)
{
    int64_t n = chunk_read_signed(r);
    return n > 0 ? n : 0;
}

static bool define_kernel(definer *d, chunk_record *r)
{
    bool fresh;
    chunk_read_number(r); /* its id in the chunk */
    uint64_t number = chunk_read_number(r);
    rocl_kernel *k = define_once(d, ROCL_DEFINE_KERNEL, number, &fresh);
    if (!k || !fresh)
        return k;
    k->id = (int64_t)(number & INT64_MAX);
    k->agent = rocl_map_get(&d->agents, chunk_read_number(r), ROCL_NONE);
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
    k->shown = rocl_kernel_shown(d->trace, k->mangled, k->display, 0);
    return true;
}

static bool define_counter(definer *d, chunk_record *r)
{
    bool fresh;
    chunk_read_number(r); /* its id in the chunk */
    uint64_t number = chunk_read_number(r);
    rocl_counter *k = define_once(d, ROCL_DEFINE_COUNTER, number, &fresh);
    if (!k || !fresh)
        return k;
    k->id = (int64_t)(number & INT64_MAX);
    k->agent = rocl_map_get(&d->agents, chunk_read_number(r), ROCL_NONE);
    k->name = k->symbol = read_text(d, r);
    k->description = read_text(d, r);
    k->units = read_text(d, r);
    k->value_type = read_text(d, r);
    return true;
}

/* A process that was sampled from outside. */
static bool define_subject(definer *d, chunk_record *r)
{
    bool fresh;
    chunk_read_number(r); /* its id in the chunk */
    rocl_process *p = define_once(d, ROCL_DEFINE_PROCESS, chunk_read_number(r), &fresh);
    if (!p || !fresh)
        return p;
    d->process = (rocl_process *)(uintptr_t)d->c->processes; /* it may have moved */
    p->id = p->pid = (int64_t)(chunk_read_number(r) & INT64_MAX);
    p->ppid = (int64_t)(chunk_read_number(r) & INT64_MAX);
    p->init = p->start = (int64_t)(chunk_read_number(r) & INT64_MAX);
    p->command = read_text(d, r);
    p->rank = -1;
    return true;
}

static bool add_definition(definer *d, const chunk_def *def)
{
    chunk_record r = {.type = def->type, .p = def->body, .end = def->body + def->len};
    switch (def->type) {
    case ROCL_REC_NODE:
        d->node->machine_id = read_text(d, &r);
        d->node->hostname = read_text(d, &r);
        d->node->system_name = read_text(d, &r);
        d->node->release = read_text(d, &r);
        d->node->version = read_text(d, &r);
        d->node->hardware = read_text(d, &r);
        return true;
    case ROCL_REC_PROCESS: {
        rocl_process *p = d->process;
        p->ppid = (int64_t)(chunk_read_number(&r) & INT64_MAX);
        p->init = p->start = (int64_t)(chunk_read_number(&r) & INT64_MAX);
        uint64_t rank = chunk_read_number(&r);
        p->rank = rank && rank <= INT32_MAX ? (int32_t)(rank - 1) : -1;
        p->command = read_text(d, &r);
        return true;
    }
    case ROCL_REC_SUBJECT:
        return define_subject(d, &r);
    case ROCL_REC_PROCESS_NAME:
        d->name = intern_text(d, chunk_read_rest(&r));
        return true;
    case ROCL_REC_AGENT:
        return define_agent(d, &r);
    case ROCL_REC_QUEUE:
        return define_queue(d, ROCL_DEFINE_QUEUE, &r);
    case ROCL_REC_STREAM:
        return define_queue(d, ROCL_DEFINE_STREAM, &r);
    case ROCL_REC_KERNEL:
        return define_kernel(d, &r);
    case ROCL_REC_COUNTER:
        return define_counter(d, &r);
    default:
        return true;
    }
}

/* ---- names that the program gave ------------------------------------------------------------ */

/* Labels of things that were not used are ignored. */
static void apply_label(const definer *d, const chunk_def *def)
{
    chunk_record r = {.type = def->type, .p = def->body, .end = def->body + def->len};
    uint64_t what = chunk_read_number(&r);
    uint64_t number = chunk_read_number(&r);
    rocl_view name = chunk_read_rest(&r);
    const rocl_definition kind = what == ROCL_NAMED_STREAM ? ROCL_DEFINE_STREAM : ROCL_DEFINE_AGENT;
    const uint32_t at = rocl_map_get(&d->p->indexes[kind], number, ROCL_NONE);
    if (what == ROCL_NAMED_STREAM && at != ROCL_NONE) {
        rocl_stream *s = rocl_definition_at(d->c, ROCL_DEFINE_STREAM, at);
        s->name = intern_text(d, name);
    }
    for (uint32_t i = 0; i < d->c->agent_count; i++) {
        rocl_agent *a = rocl_definition_at(d->c, ROCL_DEFINE_AGENT, i);
        if ((what == ROCL_NAMED_AGENT && i == at) ||
            (what == ROCL_NAMED_GPU && a->type == ROCL_AGENT_GPU &&
             a->type_index == (int64_t)(number & INT64_MAX))) {
            a->user_name = intern_text(d, name);
            (name.n ? rocl_label_named_agent : rocl_label_agent)(d->trace, a);
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

int64_t chunk_process_end(const chunk_process *p)
{
    const uint64_t last = p->last_times[ROCL_CLOCK_TICKS];
    int64_t end =
        chunk_clock_to_ns(&p->clock, ROCL_CLOCK_TICKS, last > p->end_ticks ? last : p->end_ticks);
    for (unsigned clock = 0; clock < 4 && !p->end_ticks; clock++) {
        const int64_t ns = chunk_clock_to_ns(&p->clock, clock, p->last_times[clock]);
        end = p->last_times[clock] && ns > end ? ns : end;
    }
    return end;
}

rocl_status chunk_define(chunk_process *p, rocl_error *err)
{
    rocl_capture *c = &p->capture->pub;
    const rocl_chunk_header *h = &p->any->h;
    definer d = {.p = p, .c = c, .trace = p->file->trace, .name = ROCL_NONE};
    d.node = rocl_define(c, ROCL_DEFINE_NODE);
    d.process = rocl_define(c, ROCL_DEFINE_PROCESS);
    bool ok = d.node && d.process;
    if (ok)
        *d.process = (rocl_process){.id = h->pid, .pid = h->pid, .rank = -1};
    for (size_t i = 0; i < p->count && ok; i++) {
        const chunk_info *k = p->chunks[i];
        if (!(k->h.flags & ROCL_CHUNK_PROCESS)) {
            rocl_thread *t = define_thread(&d, k->h.tid);
            ok = t;
            /* The last name of a thread counts. */
            for (size_t n = 0; t && n < k->def_count; n++)
                if (k->defs[n].type == ROCL_REC_THREAD && k->defs[n].len)
                    t->name =
                        intern_text(&d, (rocl_view){(const char *)k->defs[n].body, k->defs[n].len});
        }
        for (size_t n = 0; n < k->def_count && ok; n++)
            ok = add_definition(&d, &k->defs[n]);
        rocl_map_free(&d.agents);
    }
    /* Threads that recorded nothing themselves, but caused work that others recorded. */
    for (size_t i = 0; i < p->count && ok; i++)
        for (size_t k = 0; k < p->chunks[i]->tid_count && ok; k++)
            ok = define_thread(&d, p->chunks[i]->tids[k]);
    for (size_t i = 0; i < p->count && ok; i++)
        for (size_t k = 0; k < p->chunks[i]->def_count; k++)
            if (p->chunks[i]->defs[k].type == ROCL_REC_LABEL)
                apply_label(&d, &p->chunks[i]->defs[k]);
    /* One for each process image, whatever the file is called. */
    char guid[64];
    size_t n = 0;
    for (int i = 0; i < 8; i++)
        n += (size_t)snprintf(guid + n, sizeof guid - n, "%02x", h->session[i]);
    n += (size_t)snprintf(guid + n, sizeof guid - n, "-%016llx", (unsigned long long)h->process);
    c->guid = rocl_strings_put(d.trace->strings, guid, n);
    if (!ok || c->guid == ROCL_NONE)
        return rocl_fail_memory(err);
    if (d.name != ROCL_NONE)
        d.process->command = d.name;
    d.process->fini = d.process->end = chunk_process_end(p);
    c->rank = d.process->rank;
    return ROCL_OK;
}
