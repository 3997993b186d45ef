/* The second pass: a run of chunks of one writer -> events. */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/num.h"
#include "source/chunk/chunk.h"
#include "source/ranges.h"

typedef struct chunk_name {
    uint32_t category, name;
} chunk_name;

/* An open region or range; a region also has arguments, the last of the pending ones. */
typedef struct chunk_open {
    uint64_t ticks, correlation;
    chunk_name name;
    size_t args; /* bytes of its arguments */
} chunk_open;

typedef struct chunk_stack {
    chunk_open *all;
    size_t depth, cap;
    size_t stated; /* of them by the chunk that is read */
} chunk_stack;

typedef struct chunk_parameter {
    uint32_t type, name; /* texts */
} chunk_parameter;

typedef struct chunk_list_of_parameters {
    size_t first, count;
} chunk_list_of_parameters;

typedef struct chunk_waiting_arg {
    size_t depth;
    rocl_arg arg;
} chunk_waiting_arg;

typedef struct chunk_worker {
    alignas(ROCL_CACHE_LINE) chunk_process *process;
    rocl_batcher out;
    rocl_buf content;
    rocl_map texts; /* id in the chunk -> text */
    rocl_map names; /* id in the chunk -> index in name_list */
    rocl_map defs;  /* id in the chunk -> index in the capture */
    chunk_name *name_list;
    size_t name_count, name_cap;
    chunk_stack regions, ranges;
    chunk_waiting_arg *args;
    size_t arg_count, arg_cap;
    rocl_arena values; /* of arguments */
    rocl_map lists;    /* id in the chunk -> index in lists_all */
    chunk_list_of_parameters *lists_all;
    size_t list_count, list_cap;
    chunk_parameter *parameters;
    size_t parameter_count, parameter_cap;
    /* the chunk that is read */
    const chunk_info *chunk;
    chunk_reader reader;
    uint32_t thread;
    uint64_t next_id;
    rocl_status st;
    rocl_error *err;
} chunk_worker;

/* The key in `defs` of a definition that records of the chunk refer to by its id. */
static inline uint64_t def_key(uint8_t type, uint64_t id)
{
    return (uint64_t)type << 56 | (id & UINT64_MAX >> 8);
}

/* ---- workers -------------------------------------------------------------------------------- */

enum { BATCH_MAX = 1024 };

static chunk_worker *get_worker(chunk_process *p, unsigned number, const rocl_emitter *to,
                                rocl_error *err)
{
    chunk_worker *w = &p->workers[number];
    w->process = p;
    w->out.capture = &p->capture->pub;
    w->out.worker = number;
    w->out.max = BATCH_MAX;
    w->out.to = to;
    w->st = ROCL_OK;
    w->err = err;
    return w;
}

rocl_status chunk_workers_new(chunk_process *p, rocl_error *err)
{
    p->workers = rocl_cache_line_calloc(p->file->trace->opt.jobs, sizeof *p->workers);
    return p->workers ? ROCL_OK : rocl_fail_memory(err);
}

/* Drops the names of the chunk that was read. */
static void forget_names(chunk_worker *w)
{
    rocl_map_free(&w->texts);
    rocl_map_free(&w->names);
    rocl_map_free(&w->defs);
    rocl_map_free(&w->lists);
    w->name_count = w->list_count = w->parameter_count = 0;
}

void chunk_workers_free(chunk_process *p)
{
    for (unsigned i = 0; p->workers && i < p->file->trace->opt.jobs; i++) {
        chunk_worker *w = &p->workers[i];
        forget_names(w);
        rocl_batcher_free(&w->out);
        rocl_buf_free(&w->content);
        rocl_arena_free(&w->values);
        free(w->name_list);
        free(w->regions.all);
        free(w->ranges.all);
        free(w->args);
        free(w->lists_all);
        free(w->parameters);
    }
    free(p->workers);
    p->workers = NULL;
}

static void fail_memory(chunk_worker *w)
{
    if (w->st == ROCL_OK)
        w->st = rocl_fail_memory(w->err);
}

/* Counts what is wrong with a record. */
static void count_fault(chunk_worker *w, rocl_fault f)
{
    const chunk_process *p = w->process;
    rocl_status st = rocl_fault_count(p->file->trace, f, w->err, "%s: chunk at byte %llu",
                                      p->file->path, (unsigned long long)w->chunk->offset);
    if (w->st == ROCL_OK)
        w->st = st;
}

/* ---- names ---------------------------------------------------------------------------------- */

static uint32_t intern_text(chunk_worker *w, rocl_view s)
{
    uint32_t id = rocl_strings_put(w->process->file->trace->strings, s.p, s.n);
    if (id == ROCL_NONE)
        fail_memory(w);
    return id;
}

static chunk_name find_name(chunk_worker *w, uint64_t id)
{
    uint32_t at = rocl_map_get(&w->names, id, ROCL_NONE);
    if (at != ROCL_NONE)
        return w->name_list[at];
    count_fault(w, ROCL_FAULT_DANGLING_NAME);
    return (chunk_name){0, 0};
}

static uint32_t find_text(chunk_worker *w, uint64_t id)
{
    uint32_t text = rocl_map_get(&w->texts, id, ROCL_NONE);
    if (text != ROCL_NONE)
        return text;
    count_fault(w, ROCL_FAULT_DANGLING_NAME);
    return 0;
}

static void add_name(chunk_worker *w, chunk_record *r)
{
    uint64_t id = chunk_read_number(r);
    uint32_t category = intern_text(w, chunk_read_text(r));
    uint32_t name = intern_text(w, chunk_read_rest(r));
    if (!ROCL_GROW(w->name_list, w->name_cap, w->name_count + 1) ||
        !rocl_map_put(&w->names, id, (uint32_t)w->name_count)) {
        fail_memory(w);
        return;
    }
    w->name_list[w->name_count++] = (chunk_name){category, name};
}

static chunk_name marker_name(chunk_worker *w, uint64_t text)
{
    const uint32_t *words = w->process->file->words;
    return (chunk_name){words[CHUNK_W_RANGE_API], find_text(w, text)};
}

/* ---- events --------------------------------------------------------------------------------- */

/* Fills in the head of an event; false: its kind is not wanted. */
static bool fill_event(chunk_worker *w, rocl_kind kind, int64_t start, int64_t end, chunk_name name,
                       rocl_event *e)
{
    uint64_t id = w->next_id++;
    if (w->st != ROCL_OK || !(w->process->kinds & ROCL_BIT(kind)))
        return false;
    if (start < 0 || end < start) {
        bool bad = start < 0 || end < 0;
        count_fault(w, bad ? ROCL_FAULT_BAD_TIME : ROCL_FAULT_END_BEFORE_START);
        return false;
    }
    *e = (rocl_event){.start = start,
                      .end = end,
                      .duration = end - start,
                      .id = id,
                      .process = 0,
                      .thread = w->thread,
                      .name = name.name,
                      .category = name.category};
    return true;
}

/* The next event, with its head filled in; NULL: its kind is not wanted. */
static void *next_event(chunk_worker *w, rocl_kind kind, int64_t start, int64_t end,
                        chunk_name name)
{
    rocl_event head;
    if (!fill_event(w, kind, start, end, name, &head))
        return NULL;
    rocl_event *e = rocl_batcher_next(&w->out, kind, &w->st, w->err);
    if (e)
        *e = head;
    return e;
}

/* ---- arguments of regions: values -> texts, which are kept until their region ends ----------- */

/* Values other than texts are shorter, except handles of a type with a long name. */
enum { VALUE_MAX = 128 };

/* The most bytes of a call: a chunk can name a long text any number of times. */
enum { ARGS_MAX = 16 << 20 };

/* False: too much for one call. The value must stay valid, and ends with a NUL. */
static bool add_value(chunk_worker *w, uint32_t type, uint32_t name, rocl_view value)
{
    chunk_open *call = &w->regions.all[w->regions.depth - 1];
    if (value.n > ARGS_MAX - call->args) {
        count_fault(w, ROCL_FAULT_BAD_VALUE);
        return false;
    }
    call->args += value.n;
    if (!ROCL_GROW(w->args, w->arg_cap, w->arg_count + 1))
        fail_memory(w);
    else
        w->args[w->arg_count++] =
            (chunk_waiting_arg){w->regions.depth, {type, name, value.p, value.n}};
    return true;
}

/* Values made here live until the batch is emitted. */
static bool add_copied_value(chunk_worker *w, uint32_t type, uint32_t name, rocl_view value)
{
    value.p = rocl_arena_dup(&w->values, value.p, value.n);
    if (!value.p)
        fail_memory(w);
    return value.p && add_value(w, type, name, value);
}

static void add_arg(chunk_worker *w, chunk_record *r)
{
    if (!w->process->args || !w->regions.depth)
        return;
    uint32_t name = find_text(w, chunk_read_number(r));
    uint32_t type = find_text(w, chunk_read_number(r));
    add_copied_value(w, type, name, chunk_read_rest(r));
}

/* A parameter is two strings, and so at least two bytes. */
static void add_parameters(chunk_worker *w, chunk_record *r)
{
    uint64_t id = chunk_read_number(r);
    uint64_t count = chunk_read_number(r);
    uint64_t most = (uint64_t)(r->end - r->p) / 2;
    chunk_list_of_parameters list = {w->parameter_count, (size_t)(count < most ? count : most)};
    if (!w->process->args)
        return;
    if (!ROCL_GROW(w->parameters, w->parameter_cap, w->parameter_count + list.count) ||
        !ROCL_GROW(w->lists_all, w->list_cap, w->list_count + 1) ||
        !rocl_map_put(&w->lists, id, (uint32_t)w->list_count)) {
        fail_memory(w);
        return;
    }
    for (size_t i = 0; i < list.count; i++) {
        uint32_t type = intern_text(w, chunk_read_text(r));
        w->parameters[w->parameter_count++] =
            (chunk_parameter){.type = type, .name = intern_text(w, chunk_read_text(r))};
    }
    w->lists_all[w->list_count++] = list;
}

/* "hsa_agent_t": "agent_" and the number. */
static char *put_handle(const chunk_worker *w, char *to, uint32_t type, uint64_t v)
{
    const char *name = rocl_str(w->process->file->trace, type);
    size_t n = strlen(name), cut = n > 6 ? n - 6 : 0;
    if (cut > VALUE_MAX - ROCL_NUM_MAX - 2)
        cut = 0;
    if (cut)
        memcpy(to, name + 4, cut);
    to[cut] = '_';
    return rocl_put_u64(to + cut + (cut > 0), v);
}

/* A value as text, in `to` if it is not a text itself; false: its form is unknown, and what follows
 * cannot be read. */
static bool format_value(chunk_worker *w, const chunk_parameter *a, uint8_t form, chunk_record *r,
                         char to[VALUE_MAX], rocl_view *value)
{
    rocl_strings *strings = w->process->file->trace->strings;
    uint64_t v = 0;
    char *end = to;
    if (form == ROCL_FORM_TEXT) {
        value->p = rocl_strings_get(strings, find_text(w, chunk_read_number(r)), &value->n);
        return true;
    }
    if (form <= ROCL_FORM_DOUBLE)
        v = chunk_read_number(r);
    switch (form) {
    case ROCL_FORM_SIGNED:
        end = rocl_put_i64(to, rocl_unzigzag(v));
        break;
    case ROCL_FORM_UNSIGNED:
        end = rocl_put_u64(to, v);
        break;
    case ROCL_FORM_POINTER:
        memcpy(to, "0x", 2);
        end = rocl_put_hex(to + 2, v, 1, false);
        break;
    case ROCL_FORM_HANDLE:
        end = put_handle(w, to, a->type, v);
        break;
    case ROCL_FORM_FLOAT:
    case ROCL_FORM_DOUBLE: {
        uint32_t word = (uint32_t)v;
        double d;
        float f;
        memcpy(&d, &v, sizeof d);
        memcpy(&f, &word, sizeof f);
        int n = snprintf(to, VALUE_MAX, "%g", form == ROCL_FORM_FLOAT ? (double)f : d);
        end += n > 0 ? n : 0;
        break;
    }
    case ROCL_FORM_SIZES:
        for (int i = 0; i < 3; i++) {
            *end++ = i ? ',' : '{';
            end = rocl_put_u64(end, chunk_read_number(r));
        }
        *end++ = '}';
        break;
    default:
        return false;
    }
    *value = rocl_view_between(to, end);
    return true;
}

static void add_args(chunk_worker *w, chunk_record *r)
{
    char text[VALUE_MAX];
    if (!w->process->args || !w->regions.depth)
        return;
    uint32_t at = rocl_map_get(&w->lists, chunk_read_number(r), ROCL_NONE);
    if (at == ROCL_NONE) {
        count_fault(w, ROCL_FAULT_DANGLING_NAME);
        return;
    }
    chunk_list_of_parameters list = w->lists_all[at];
    for (size_t i = 0; i < list.count && r->p < r->end; i++) {
        const chunk_parameter *a = &w->parameters[list.first + i];
        uint8_t form = *r->p++;
        rocl_view value;
        if (form == ROCL_FORM_NONE)
            continue;
        if (!format_value(w, a, form, r, text, &value)) {
            count_fault(w, ROCL_FAULT_BAD_VALUE);
            return;
        }
        if (!(form == ROCL_FORM_TEXT ? add_value : add_copied_value)(w, a->type, a->name, value))
            return;
    }
}

/* Moves the arguments of the region at this depth, which ends, to g; NULL: drops them. They are the
 * last pending ones. */
static void move_args(chunk_worker *w, size_t depth, rocl_region *g)
{
    size_t first = w->arg_count;
    while (first && w->args[first - 1].depth >= depth)
        first--;
    size_t n = w->arg_count - first;
    w->arg_count = first;
    if (!g || !n)
        return;
    rocl_batcher *b = &w->out;
    if (!ROCL_GROW(b->args, b->arg_cap, b->arg_count + n)) {
        fail_memory(w);
        return;
    }
    g->arg_first = (uint32_t)b->arg_count;
    g->arg_count = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        b->args[b->arg_count++] = w->args[first + i].arg;
}

/* ---- GPU work, and other records that contain their own times -------------------------------- */

/* Reads the id of a definition in the chunk; returns its index in the capture; id 0: none. */
static uint32_t read_reference(chunk_worker *w, chunk_record *r, uint8_t type, rocl_fault fault)
{
    uint64_t id = chunk_read_number(r);
    uint32_t at = id ? rocl_map_get(&w->defs, def_key(type, id), ROCL_NONE) : ROCL_NONE;
    if (id && at == ROCL_NONE)
        count_fault(w, fault);
    return at;
}

#define READ_AGENT(w, r)  read_reference(w, r, ROCL_REC_AGENT, ROCL_FAULT_DANGLING_AGENT)
#define READ_QUEUE(w, r)  read_reference(w, r, ROCL_REC_QUEUE, ROCL_FAULT_DANGLING_QUEUE)
#define READ_STREAM(w, r) read_reference(w, r, ROCL_REC_STREAM, ROCL_FAULT_DANGLING_STREAM)

/* The event belongs to the thread that caused it. */
static void set_cause(const chunk_worker *w, rocl_event *e, const chunk_times *t)
{
    e->stack_id = t->correlation;
    e->thread = t->tid ? rocl_map_get(&w->process->indexes[ROCL_DEFINE_THREAD], t->tid, ROCL_NONE)
                       : ROCL_NONE;
}

/* The event of a record; NULL: its kind is not wanted. */
static void *add_event(chunk_worker *w, rocl_kind kind, const chunk_times *t, chunk_name name)
{
    const chunk_clock *k = &w->process->clock;
    rocl_event *e = next_event(w, kind, chunk_clock_to_ns(k, t->clock, t->start),
                               chunk_clock_to_ns(k, t->clock, t->end), name);
    if (e)
        set_cause(w, e, t);
    return e;
}

static void add_dispatch(chunk_worker *w, chunk_record *r)
{
    const rocl_capture *c = &w->process->capture->pub;
    chunk_times t = chunk_read_times(&w->reader, r);
    rocl_dispatch d = {.region_name = ROCL_NONE};
    d.agent = READ_AGENT(w, r);
    d.queue = READ_QUEUE(w, r);
    d.stream = READ_STREAM(w, r);
    d.kernel = read_reference(w, r, ROCL_REC_KERNEL, ROCL_FAULT_DANGLING_KERNEL);
    bool known = d.kernel != ROCL_NONE;
    chunk_name name = {w->process->file->words[CHUNK_W_DISPATCH],
                       known ? c->kernels[d.kernel].shown : 0};
    d.kernel_id = known ? c->kernels[d.kernel].id : 0;
    d.dispatch_id = chunk_read_number(r);
    for (int i = 0; i < 3; i++)
        d.workgroup[i] = (uint32_t)chunk_read_number(r);
    for (int i = 0; i < 3; i++)
        d.grid[i] = (uint32_t)chunk_read_number(r);
    d.private_segment = (int64_t)(chunk_read_number(r) & INT64_MAX);
    d.group_segment = (int64_t)(chunk_read_number(r) & INT64_MAX);
    rocl_dispatch *to = add_event(w, ROCL_DISPATCH, &t, name);
    if (to) {
        d.e = to->e;
        *to = d;
    }
}

static void add_memory_copy(chunk_worker *w, chunk_record *r)
{
    chunk_times t = chunk_read_times(&w->reader, r);
    rocl_copy *k = add_event(w, ROCL_COPY, &t, find_name(w, chunk_read_number(r)));
    if (!k)
        return;
    k->src = READ_AGENT(w, r);
    k->dst = READ_AGENT(w, r);
    k->queue = READ_QUEUE(w, r);
    k->stream = READ_STREAM(w, r);
    k->size = chunk_read_number(r);
    k->src_address = chunk_read_number(r);
    k->dst_address = chunk_read_number(r);
}

/* A field after the name tells scratch memory, which is a kind of its own. All are kept until they
 * can be joined in order of time. */
static void add_alloc(chunk_worker *w, chunk_record *r)
{
    const chunk_clock *k = &w->process->clock;
    chunk_times t = chunk_read_times(&w->reader, r);
    chunk_name name = find_name(w, chunk_read_number(r));
    rocl_alloc a = {0};
    a.agent = READ_AGENT(w, r);
    a.queue = READ_QUEUE(w, r);
    a.stream = READ_STREAM(w, r);
    uint64_t op = chunk_read_number(r);
    uint64_t level = chunk_read_number(r);
    a.op = op <= ROCL_OP_RECLAIM ? (rocl_alloc_op)op : ROCL_OP_OTHER;
    a.level = level <= ROCL_LEVEL_SCRATCH ? (rocl_alloc_level)level : ROCL_LEVEL_OTHER;
    a.size = chunk_read_number(r);
    a.address = chunk_read_number(r);
    a.flags = chunk_read_number(r);
    if (!fill_event(w, a.level == ROCL_LEVEL_SCRATCH ? ROCL_SCRATCH : ROCL_ALLOC,
                    chunk_clock_to_ns(k, t.clock, t.start), chunk_clock_to_ns(k, t.clock, t.end),
                    name, &a.e))
        return;
    set_cause(w, &a.e, &t);
    w->st = rocl_allocs_add(w->process->allocs, w->out.worker, &a, w->err);
}

static void add_hip(chunk_worker *w, chunk_record *r)
{
    const rocl_kind kind = r->type == ROCL_REC_GRAPH ? ROCL_GRAPH : ROCL_BARRIER;
    chunk_times t = chunk_read_times(&w->reader, r);
    rocl_hip *h = add_event(w, kind, &t, find_name(w, chunk_read_number(r)));
    if (!h)
        return;
    h->agent = READ_AGENT(w, r);
    h->queue = READ_QUEUE(w, r);
    h->stream = READ_STREAM(w, r);
    h->source_queue = ROCL_NONE;
    if (kind != ROCL_GRAPH)
        return;
    h->graph_exec_id = chunk_read_number(r);
    h->kernel_count = chunk_read_number(r);
}

static void add_sample(chunk_worker *w, chunk_record *r)
{
    const rocl_capture *c = &w->process->capture->pub;
    chunk_times t = chunk_read_times(&w->reader, r);
    uint32_t counter = read_reference(w, r, ROCL_REC_COUNTER, ROCL_FAULT_DANGLING_COUNTER);
    bool known = counter != ROCL_NONE;
    chunk_name name = {w->process->file->words[CHUNK_W_SAMPLE],
                       known ? c->counters[counter].name : 0};
    rocl_sample_value *v = add_event(w, ROCL_SAMPLE, &t, name);
    uint64_t bits = chunk_read_number(r);
    uint32_t subject =
        read_reference(w, r, ROCL_REC_SUBJECT, ROCL_FAULT_DANGLING_PROCESS); /* else this one */
    if (!v)
        return;
    v->e.process = subject == ROCL_NONE ? 0 : subject;
    v->counter = counter;
    v->agent = known ? c->counters[counter].agent : ROCL_NONE;
    memcpy(&v->value, &bits, sizeof v->value);
    v->xcc = v->shader_engine = v->instance = v->shader_array = v->wgp = -1;
}

/* ---- regions and markers of a thread -------------------------------------------------------- */

static int64_t ticks_to_ns(const chunk_worker *w, uint64_t ticks)
{
    return chunk_clock_to_ns(&w->process->clock, ROCL_CLOCK_TICKS, ticks);
}

static void push_open(chunk_worker *w, chunk_stack *s, chunk_open open)
{
    if (!ROCL_GROW(s->all, s->cap, s->depth + 1))
        fail_memory(w);
    else
        s->all[s->depth++] = open;
}

static void end_region(chunk_worker *w, uint64_t ticks)
{
    const chunk_open *o = &w->regions.all[--w->regions.depth];
    rocl_region *g =
        next_event(w, ROCL_REGION, ticks_to_ns(w, o->ticks), ticks_to_ns(w, ticks), o->name);
    if (g) {
        g->function = o->name.name;
        g->e.stack_id = o->correlation;
        g->e.parent_stack_id = w->regions.depth ? o[-1].correlation : 0;
    }
    move_args(w, w->regions.depth + 1, g);
}

static void end_range(chunk_worker *w, uint64_t ticks)
{
    const chunk_open *o = &w->ranges.all[--w->ranges.depth];
    rocl_region *g =
        next_event(w, ROCL_MARKER, ticks_to_ns(w, o->ticks), ticks_to_ns(w, ticks), o->name);
    if (g)
        g->function = w->process->file->words[CHUNK_W_PUSH];
}

static void add_mark(chunk_worker *w, chunk_record *r)
{
    const uint32_t *words = w->process->file->words;
    int64_t at = ticks_to_ns(w, w->reader.now);
    chunk_name name = {words[CHUNK_W_MARK_API], find_text(w, r->a)};
    rocl_region *g = next_event(w, ROCL_INSTANT, at, at, name);
    if (g)
        g->function = words[CHUNK_W_MARK];
}

/* Everything open from this depth on has ended without a record. */
static void forget_open(chunk_worker *w, chunk_stack *s, size_t depth)
{
    if (s->depth <= depth)
        return;
    s->depth = depth;
    if (s == &w->regions)
        move_args(w, depth + 1, NULL);
}

/* Adds what was open at the begin of the chunk; known already if the chunk before was read, except
 * for ends dropped in between. */
static void add_open(chunk_worker *w, chunk_record *r)
{
    const bool region = r->type == ROCL_REC_OPEN_REGION;
    uint64_t ticks = w->chunk->h.base - chunk_read_number(r);
    uint64_t id = chunk_read_number(r);
    chunk_stack *s = region ? &w->regions : &w->ranges;
    size_t at = s->stated++;
    if (at < s->depth && s->all[at].ticks == ticks)
        return;
    forget_open(w, s, at);
    const uint64_t correlation = region ? chunk_read_number(r) : 0;
    push_open(w, s,
              (chunk_open){ticks, correlation, region ? find_name(w, id) : marker_name(w, id), 0});
}

static void resolve_definition(chunk_worker *w, chunk_record *r)
{
    const rocl_definition kind = r->type == ROCL_REC_AGENT     ? ROCL_DEFINE_AGENT
                                 : r->type == ROCL_REC_QUEUE   ? ROCL_DEFINE_QUEUE
                                 : r->type == ROCL_REC_STREAM  ? ROCL_DEFINE_STREAM
                                 : r->type == ROCL_REC_KERNEL  ? ROCL_DEFINE_KERNEL
                                 : r->type == ROCL_REC_SUBJECT ? ROCL_DEFINE_PROCESS
                                                               : ROCL_DEFINE_COUNTER;
    uint64_t id = chunk_read_number(r);
    uint64_t key = chunk_read_number(r);
    uint32_t at = rocl_map_get(&w->process->indexes[kind], key, ROCL_NONE);
    if (!rocl_map_put(&w->defs, def_key(r->type, id), at))
        fail_memory(w);
}

/* ---- ranges of the process ------------------------------------------------------------------ */

/* Ranges may end on another thread than they began on, so perhaps in another run. Sorting by their
 * numbers brings begin and end together. If a number begins again before its end, the former range
 * never ended. */

/* What the sorter keeps of a half. */
typedef struct range_half {
    uint64_t ticks, id;
    uint32_t thread, text;
    bool stops;
} range_half;

static void add_range_half(chunk_worker *w, chunk_record *rec)
{
    chunk_process *p = w->process;
    bool stop = rec->type == ROCL_REC_STOP;
    range_half h = {.ticks = w->reader.now, .id = w->next_id++, .thread = w->thread, .stops = stop};
    uint64_t number = stop ? rec->a : rec->b;
    if (!p->ranges || w->st != ROCL_OK)
        return;
    if (!stop) {
        h.text = rocl_map_get(&w->texts, rec->a, ROCL_NONE);
        if (h.text == ROCL_NONE)
            count_fault(w, ROCL_FAULT_DANGLING_NAME);
    }
    const uint64_t key[] = {number, h.ticks, h.id << 1 | stop};
    if (w->st == ROCL_OK)
        w->st = rocl_sorter_add(p->ranges, w->out.worker, key, &h, sizeof h, w->err);
}

static rocl_range_half read_range_half(const uint8_t *data)
{
    range_half h;
    memcpy(&h, data, sizeof h);
    return (rocl_range_half){.begins = !h.stops};
}

/* An end alone belongs to a range that began while nothing was recorded. */
static rocl_status put_range(void *ctx, const uint8_t *begin_data, const rocl_sort_record *end_data,
                             rocl_error *err)
{
    chunk_worker *w = ctx;
    const chunk_process *p = w->process;
    const uint32_t *words = p->file->words;
    range_half begin, end = {.ticks = p->last_times[ROCL_CLOCK_TICKS]};
    (void)err;
    if (!begin_data)
        return w->st;
    memcpy(&begin, begin_data, sizeof begin);
    if (end_data)
        memcpy(&end, end_data->data, sizeof end);
    else
        count_fault(w, ROCL_FAULT_UNFINISHED);
    chunk_name name = {words[CHUNK_W_RANGE_API], begin.text == ROCL_NONE ? 0 : begin.text};
    w->thread = begin.thread;
    w->next_id = begin.id;
    rocl_region *g =
        next_event(w, ROCL_MARKER, ticks_to_ns(w, begin.ticks), ticks_to_ns(w, end.ticks), name);
    if (g)
        g->function = words[CHUNK_W_START];
    return w->st;
}

rocl_status chunk_emit_ranges(chunk_process *p, const rocl_emitter *to, rocl_error *err)
{
    static const rocl_range_format format = {1, ROCL_RANGES_REPLACE, read_range_half, put_range};
    if (!p->ranges || !p->count)
        return ROCL_OK;
    chunk_worker *w = get_worker(p, 0, to, err);
    w->chunk = p->chunks[0];
    rocl_status st = rocl_ranges_join(p->ranges, &format, w, err);
    return st == ROCL_OK ? rocl_batcher_flush(&w->out, err) : st;
}

/* ---- records -------------------------------------------------------------------------------- */

static void add_text(chunk_worker *w, chunk_record *r)
{
    const uint64_t id = chunk_read_number(r);
    if (!rocl_map_put(&w->texts, id, intern_text(w, chunk_read_rest(r))))
        fail_memory(w);
}

static void correlate(chunk_worker *w, chunk_record *r)
{
    const uint64_t id = chunk_read_number(r), said = chunk_read_number(r);
    const uint64_t depth = said ? said : w->regions.depth;
    if (depth && depth <= w->regions.depth)
        w->regions.all[depth - 1].correlation = id;
}

static void add_record(chunk_worker *w, chunk_record *r)
{
    static void (*const adders[256])(chunk_worker * w, chunk_record * r) = {
        [ROCL_REC_MARK] = add_mark,
        [ROCL_REC_START] = add_range_half,
        [ROCL_REC_STOP] = add_range_half,
        [ROCL_REC_TEXT] = add_text,
        [ROCL_REC_NAME] = add_name,
        [ROCL_REC_AGENT] = resolve_definition,
        [ROCL_REC_QUEUE] = resolve_definition,
        [ROCL_REC_STREAM] = resolve_definition,
        [ROCL_REC_KERNEL] = resolve_definition,
        [ROCL_REC_COUNTER] = resolve_definition,
        [ROCL_REC_SUBJECT] = resolve_definition,
        [ROCL_REC_OPEN_REGION] = add_open,
        [ROCL_REC_OPEN_RANGE] = add_open,
        [ROCL_REC_CORRELATE] = correlate,
        [ROCL_REC_ARG] = add_arg,
        [ROCL_REC_PARAMETERS] = add_parameters,
        [ROCL_REC_ARGS] = add_args,
        [ROCL_REC_DISPATCH] = add_dispatch,
        [ROCL_REC_COPY] = add_memory_copy,
        [ROCL_REC_ALLOC] = add_alloc,
        [ROCL_REC_BARRIER] = add_hip,
        [ROCL_REC_GRAPH] = add_hip,
        [ROCL_REC_SAMPLE] = add_sample,
    };
    const uint64_t now = w->reader.now;
    if (adders[r->type])
        adders[r->type](w, r);
    else if (r->type == ROCL_REC_BEGIN)
        push_open(w, &w->regions, (chunk_open){now, 0, find_name(w, r->a), 0});
    else if (r->type == ROCL_REC_PUSH)
        push_open(w, &w->ranges, (chunk_open){now, 0, marker_name(w, r->a), 0});
    else if (r->type == ROCL_REC_END && w->regions.depth)
        end_region(w, now);
    else if (r->type == ROCL_REC_POP && w->ranges.depth)
        end_range(w, now);
    else if (chunk_is_event(r)) /* an end whose begin was lost and counted, or an unknown kind */
        w->next_id++;
}

/* ---- runs ----------------------------------------------------------------------------------- */

rocl_status chunk_scan(rocl_trace *t, rocl_model_capture *c, const rocl_task *task, unsigned worker,
                       const rocl_emitter *to, rocl_error *err)
{
    chunk_process *p = c->state;
    const chunk_run *run = &p->runs[task->first];
    chunk_worker *w = get_worker(p, worker, to, err);
    w->regions.depth = w->ranges.depth = w->arg_count = 0;
    for (size_t i = 0; i < run->count && w->st == ROCL_OK; i++) {
        const chunk_info *k = p->chunks[run->first + i];
        chunk_record r;
        chunk_state state;
        size_t n = 0;
        w->chunk = k;
        w->thread = rocl_map_get(&p->indexes[ROCL_DEFINE_THREAD], k->h.tid, ROCL_NONE);
        w->next_id = k->first_id;
        w->regions.stated = w->ranges.stated = 0;
        /* What the chunk does not list has ended among dropped events, which index.c counts. */
        if (k->open_regions < ROCL_CHUNK_OPEN_MAX)
            forget_open(w, &w->regions, k->open_regions);
        if (k->open_ranges < ROCL_CHUNK_OPEN_MAX)
            forget_open(w, &w->ranges, k->open_ranges);
        w->st = chunk_load(p->file->spool, k, &w->content, &n, &state, w->err);
        chunk_reader_begin(&w->reader, k, w->content.data, n);
        while (w->st == ROCL_OK && chunk_read_record(&w->reader, &r))
            add_record(w, &r);
        /* The process ended first: what is open ends with the last event of its thread. */
        while (k->last && w->st == ROCL_OK && w->regions.depth + w->ranges.depth) {
            count_fault(w, ROCL_FAULT_UNFINISHED);
            (w->regions.depth ? end_region : end_range)(w, w->reader.now);
        }
        forget_names(w);
        if (w->st == ROCL_OK)
            w->st = rocl_batcher_flush(&w->out, w->err);
        /* Values of open regions are still needed. */
        if (!w->arg_count)
            rocl_arena_free(&w->values);
    }
    rocl_progress(t, run->events);
    return w->st;
}

/* ---- allocations ---------------------------------------------------------------------------- */

/* The allocation of a free may have been in a chunk that a ring overwrote. */
static rocl_status emit_alloc(void *ctx, rocl_kind kind, const rocl_alloc *a, rocl_error *err)
{
    chunk_worker *w = ctx;
    rocl_status st = ROCL_OK;
    rocl_alloc *to = rocl_batcher_next(&w->out, kind, &st, err);
    if (!to)
        return st;
    *to = *a;
    to->unpaired = a->unpaired && !(w->process->any->h.flags & ROCL_CHUNK_RING);
    return ROCL_OK;
}

rocl_status chunk_emit_allocs(chunk_process *p, const rocl_emitter *to, rocl_error *err)
{
    if (!p->allocs)
        return ROCL_OK;
    chunk_worker *w = get_worker(p, 0, to, err);
    rocl_status st = rocl_allocs_finish(p->allocs, emit_alloc, w, err);
    return st ? st : rocl_batcher_flush(&w->out, err);
}
