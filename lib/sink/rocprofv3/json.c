/* JSON as rocprofv3 (ROCm 7.0) writes it. Events become text where they are read; the text waits
 * in a sorter until all captures are in, since the names that events use stand before them. Key of
 * a record:
 *
 *     word 0   63..8 element (process)   7..0 section
 *     word 1   begin; of counter values the dispatch, of messages the correlation id
 *     word 2   id and kind; of counter values the counter
 *     word 3   of counter values the value
 *
 * Its bytes are a row_head and the text, in which NUMBER stands for the number of the name. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "sink/piped.h"
#include "sink/rocprofv3/rocprofv3.h"
#include "trace/pipeline.h"

/* Lists of an element, in the order of the file, and the text after each. */
/* clang-format off */
#define SECTIONS(X) \
    X(MESSAGES, "],\"correlation_id\":{\"external\":[") /* then v3_put_middle() */ \
    X(COUNTERS, "]},\"buffer_records\":{\"kernel_dispatch\":[") \
    X(DISPATCHES, "],\"hip_api\":[") \
    X(HIP, "],\"hsa_api\":[") \
    X(HSA, "],\"marker_api\":[") \
    X(MARKERS, "],\"rccl_api\":[") \
    X(RCCL, "],\"memory_copy\":[") \
    X(COPIES, "],\"memory_allocation\":[") \
    X(ALLOCATIONS, "],\"scratch_memory\":[") \
    X(SCRATCHES, "],\"rocdecode_api\":[") \
    X(ROCDECODE, "],\"rocjpeg_api\":[") \
    X(ROCJPEG, "],\"pc_sample_host_trap\":[],\"pc_sample_stochastic\":[]}}")
/* clang-format on */

typedef enum v3_section {
#define SECTION_ROW(section, text) SECTION_##section,
    SECTIONS(SECTION_ROW)
#undef SECTION_ROW
        SECTION_COUNT
} v3_section;

static const char *const section_ends[SECTION_COUNT] = {
#define SECTION_ROW(section, text) text,
    SECTIONS(SECTION_ROW)
#undef SECTION_ROW
};

/* Bytes that do not occur in JSON. */
#define NUMBER "\1" /* of the name of the row */
#define LINK   "\2" /* the correlation id of a marker */
#define VALUE  "\2" /* the values of a counter row */

enum { TIME_SIGN_SHIFT = 63 };

typedef struct row_head {
    uint64_t name; /* key of the name; 0: the text has no NUMBER */
} row_head;

typedef struct v3_worker {
    alignas(ROCL_CACHE_LINE) rocl_buf text;
    rocl_map names;     /* keys of names that were used */
    uint64_t last_name; /* of them */
    uint64_t last_link; /* the highest correlation id */
    uint64_t left_out;
    /* the category that came last: */
    uint32_t category;
    rocl_kind batch_kind;
    v3_kind kind;
    bool known;
    rocl_domain domain;
} v3_worker;

typedef struct v3_sink {
    rocl_trace *trace;
    const rocl_json_options *opt;
    rocl_sorter *rows, *markers; /* markers: by their correlation ids */
    v3_worker *workers;
    v3_ids *ids;        /* by capture */
    uint32_t *elements; /* the first of each capture, and behind the last */
    bool *begun;        /* by capture: it passed the filters */
    v3_names names;
    rocl_piped file;
    rocl_written report;
} v3_sink;

/* ---- rows ------------------------------------------------------------------------------------ */

static uint32_t element_of(const v3_sink *s, const rocl_capture *c, const rocl_event *e)
{
    return s->elements[c->index] + (e->process < c->process_count ? e->process : 0);
}

static rocl_status use_name(v3_worker *w, uint64_t name, rocl_error *err)
{
    if (name == w->last_name)
        return ROCL_OK;
    w->last_name = name;
    return rocl_map_put(&w->names, name, 0) ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_buf *begin_row(v3_worker *w, const rocl_event *e, uint64_t name)
{
    const row_head head = {name};
    w->text.len = 0;
    rocl_buf_put(&w->text, &head, sizeof head);
    w->last_link = e->stack_id > w->last_link ? e->stack_id : w->last_link;
    return &w->text;
}

static rocl_status add_row(v3_sink *s, unsigned worker, uint32_t element, v3_section section,
                           rocl_kind kind, const rocl_event *e, rocl_error *err)
{
    const uint64_t key[4] = {(uint64_t)element << 8 | section,
                             (uint64_t)e->start ^ (uint64_t)1 << TIME_SIGN_SHIFT,
                             rocl_row_word(e->id, kind), 0};
    return rocl_sorter_add_buf(s->rows, worker, key, &s->workers[worker].text, err);
}

static void put_correlation(rocl_buf *b, const char *before, uint64_t internal, int64_t external)
{
    rocl_buf_str(b, before);
    rocl_buf_str_u64(b, "\"correlation_id\":{\"internal\":", internal);
    rocl_buf_str_u64(b, ",\"external\":", (uint64_t)external);
}

static void put_thread(rocl_buf *b, const char *before, const rocl_capture *c, const rocl_event *e)
{
    rocl_buf_str_i64(b, before, e->thread < c->thread_count ? c->threads[e->thread].tid : 0);
}

static void put_times(rocl_buf *b, const rocl_event *e)
{
    rocl_buf_str_i64(b, ",\"start_timestamp\":", e->start);
    rocl_buf_str_i64(b, ",\"end_timestamp\":", e->end);
}

static void put_agent(rocl_buf *b, const char *before, const v3_sink *s, const rocl_capture *c,
                      uint32_t agent)
{
    rocl_buf_str_u64(b, before, agent < c->agent_count ? s->ids[c->index].agents[agent] : 0);
}

static void put_queue(rocl_buf *b, const char *before, const rocl_queue *all, uint32_t count,
                      uint32_t at)
{
    rocl_buf_str_i64(b, before, at < count ? all[at].id : 0);
}

static void put_stream(rocl_buf *b, const rocl_capture *c, uint32_t stream)
{
    put_queue(b, ",\"stream_id\":{\"handle\":", c->streams, c->stream_count, stream);
    rocl_buf_byte(b, '}');
}

/* {"size":N,"kind":K,"operation":#,"thread_id":T,"correlation_id":{..},times: of work. */
static rocl_buf *begin_work(v3_worker *w, const rocl_capture *c, const rocl_event *e, unsigned size,
                            v3_kind kind, uint64_t name)
{
    rocl_buf *b = begin_row(w, e, name);
    rocl_buf_str_u64(b, "{\"size\":", size);
    rocl_buf_str_u64(b, ",\"kind\":", kind);
    put_thread(b, ",\"operation\":" NUMBER ",\"thread_id\":", c, e);
    put_correlation(b, ",", e->stack_id, e->correlation_id);
    rocl_buf_byte(b, '}');
    put_times(b, e);
    return b;
}

/* ---- calls and markers ----------------------------------------------------------------------- */

/* The list for calls of a domain, and their kind if their category names none. */
static const struct {
    v3_section section;
    v3_kind kind;
} lists[ROCL_DOMAINS] = {
    [ROCL_DOMAIN_HIP] = {SECTION_HIP, V3_HIP_RUNTIME_API_EXT},
    [ROCL_DOMAIN_HSA] = {SECTION_HSA, V3_HSA_CORE_API},
    [ROCL_DOMAIN_MARKERS] = {SECTION_MARKERS, V3_MARKER_CORE_RANGE_API},
    [ROCL_DOMAIN_RCCL] = {SECTION_RCCL, V3_RCCL_API},
    [ROCL_DOMAIN_ROCDECODE] = {SECTION_ROCDECODE, V3_ROCDECODE_API_EXT},
    [ROCL_DOMAIN_ROCJPEG] = {SECTION_ROCJPEG, V3_ROCJPEG_API},
};

static bool has_text(uint32_t text)
{
    return text && text != ROCL_NONE;
}

/* The function of a marker: one of rocTX, whatever library it is of. */
static uint32_t marker_function(const v3_sink *s, const rocl_region *g, bool mark, v3_kind *kind)
{
    const char *name = rocl_text(s->trace, g->function, NULL);
    if (*kind != V3_MARKER_CORE_API)
        *kind = V3_MARKER_CORE_RANGE_API;
    if (mark ? strstr(name, "Mark") != NULL
             : strstr(name, "Range") && !strstr(name, "Pop") && !strstr(name, "Stop"))
        return g->function;
    name = mark                          ? "roctxMarkA"
           : *kind == V3_MARKER_CORE_API ? "roctxRangePushA"
                                         : "roctxThreadRangeA";
    return rocl_strings_put(s->trace->strings, name, strlen(name));
}

/* The returned value is the last argument, if known. */
static bool is_returned(const rocl_trace *t, const rocl_arg *a)
{
    return a->value_len && strspn(a->value, "0123456789") == a->value_len &&
           !strcmp(rocl_text(t, a->name, NULL), "retval");
}

/* The list of messages identifies a marker by its correlation id, so that must be unique. */
static rocl_status add_marker(v3_sink *s, unsigned worker, uint32_t element, rocl_kind kind,
                              const rocl_event *e, rocl_error *err)
{
    const uint64_t key[4] = {element, e->stack_id,
                             (uint64_t)e->start ^ (uint64_t)1 << TIME_SIGN_SHIFT,
                             rocl_row_word(e->id, kind)};
    return rocl_sorter_add_buf(s->markers, worker, key, &s->workers[worker].text, err);
}

static rocl_status add_region(v3_sink *s, unsigned worker, const rocl_batch *batch, size_t i,
                              rocl_error *err)
{
    const rocl_region *g = &batch->regions[i];
    const rocl_capture *c = batch->capture;
    const rocl_event *e = &g->e;
    v3_worker *w = &s->workers[worker];
    if (!w->known || w->category != e->category || w->batch_kind != batch->kind) {
        w->known = true;
        w->category = e->category;
        w->batch_kind = batch->kind;
        w->domain = rocl_domain_of(s->trace, batch->kind, e->category);
        w->kind = v3_kind_of(rocl_bare_category(rocl_text(s->trace, e->category, NULL)), w->domain,
                             lists[w->domain].kind);
    }
    const rocl_domain domain = w->domain;
    if (!lists[domain].kind) {
        w->left_out++;
        return ROCL_OK;
    }
    v3_kind kind = w->kind;
    const bool marker = domain == ROCL_DOMAIN_MARKERS && batch->kind != ROCL_REGION;
    const uint32_t function = marker ? marker_function(s, g, batch->kind == ROCL_INSTANT, &kind)
                              : has_text(g->function) ? g->function
                              : e->name == ROCL_NONE  ? 0
                                                      : e->name;
    const uint32_t element = element_of(s, c, e);
    const uint64_t name = v3_name_key(element, kind, function);
    rocl_buf *b = begin_row(w, e, name);
    if (marker) { /* its message, which add_messages() takes off */
        const uint32_t message = e->name != function ? e->name : ROCL_NONE;
        rocl_buf_put(b, &message, sizeof message);
    }
    rocl_buf_str_u64(b, "{\"size\":64,\"kind\":", kind);
    rocl_buf_str(b, ",\"operation\":" NUMBER);
    if (marker) {
        rocl_buf_str(b, ",\"correlation_id\":{\"internal\":" LINK);
        rocl_buf_str_i64(b, ",\"external\":", e->correlation_id);
    } else {
        put_correlation(b, ",", e->stack_id, e->correlation_id);
    }
    rocl_buf_str_u64(b, ",\"ancestor\":", e->parent_stack_id);
    rocl_buf_byte(b, '}');
    put_times(b, e);
    put_thread(b, ",\"thread_id\":", c, e);
    const bool with_args = domain == ROCL_DOMAIN_HIP || domain == ROCL_DOMAIN_ROCDECODE;
    if (with_args || g->arg_count) {
        const rocl_arg *args = g->arg_count ? batch->args + g->arg_first : NULL;
        uint32_t count = g->arg_count;
        const rocl_arg *returned =
            with_args && count && is_returned(s->trace, &args[count - 1]) ? &args[--count] : NULL;
        rocl_buf_str(b, ",\"args\":[");
        for (uint32_t k = 0; k < count; k++) {
            v3_put_text(b, k ? ",{\"type\":" : "{\"type\":", s->trace, args[k].type);
            v3_put_text(b, ",\"name\":", s->trace, args[k].name);
            v3_put_string(b, ",\"value\":", args[k].value, args[k].value_len);
            rocl_trace_note_text(s->trace, args[k].value, args[k].value_len);
            rocl_buf_byte(b, '}');
        }
        rocl_buf_byte(b, ']');
        if (with_args) {
            rocl_buf_str(b, ",\"retval\":{\"uint64_t_retval\":");
            rocl_buf_str(b, returned ? returned->value : "0");
            rocl_buf_byte(b, '}');
        }
    }
    if (domain == ROCL_DOMAIN_HIP)
        put_stream(b, c, ROCL_NONE);
    rocl_buf_byte(b, '}');
    rocl_status st = use_name(w, name, err);
    return st       ? st
           : marker ? add_marker(s, worker, element, batch->kind, e, err)
                    : add_row(s, worker, element, lists[domain].section, batch->kind, e, err);
}

/* ---- work of GPUs ---------------------------------------------------------------------------- */

/* A kernel without a symbol is said by its name. */
static void put_dispatch_info(v3_sink *s, const rocl_capture *c, const rocl_dispatch *d,
                              rocl_buf *b, bool named)
{
    put_agent(b, "\"dispatch_info\":{\"size\":72,\"agent_id\":{\"handle\":", s, c, d->agent);
    put_queue(b, "},\"queue_id\":{\"handle\":", c->queues, c->queue_count, d->queue);
    if (named)
        rocl_buf_str(b, "},\"kernel_id\":" NUMBER);
    else
        rocl_buf_str_u64(b, "},\"kernel_id\":", s->ids[c->index].kernels[d->kernel]);
    rocl_buf_str_u64(b, ",\"dispatch_id\":", d->dispatch_id ? d->dispatch_id : d->e.id);
    rocl_buf_str_i64(b, ",\"private_segment_size\":", d->private_segment);
    rocl_buf_str_i64(b, ",\"group_segment_size\":", d->group_segment);
    for (int grid = 0; grid < 2; grid++) {
        const uint32_t *size = grid ? d->grid : d->workgroup;
        rocl_buf_str_u64(b,
                         grid ? "},\"grid_size\":{\"x\":" : ",\"workgroup_size\":{\"x\":", size[0]);
        rocl_buf_str_u64(b, ",\"y\":", size[1]);
        rocl_buf_str_u64(b, ",\"z\":", size[2]);
    }
    rocl_buf_str(b, "}}");
}

/* A dispatch, or a value of a counter, which repeats its dispatch. */
static rocl_status add_dispatch(v3_sink *s, unsigned worker, const rocl_batch *batch, size_t i,
                                rocl_error *err)
{
    const rocl_capture *c = batch->capture;
    const rocl_counter_value *v = batch->kind == ROCL_COUNTER ? &batch->counters[i] : NULL;
    const rocl_dispatch *d = v ? &v->d : &batch->dispatches[i];
    const rocl_event *e = &d->e;
    v3_worker *w = &s->workers[worker];
    if (v && v->counter >= c->counter_count) {
        w->left_out++;
        return ROCL_OK;
    }
    const uint32_t element = element_of(s, c, e);
    const uint32_t process = element - s->elements[c->index];
    const bool named =
        d->kernel >= c->kernel_count || !v3_is_of(c, c->kernels[d->kernel].process, process);
    const uint64_t name =
        named ? v3_name_key(element, V3_NAMED_KERNEL, e->name == ROCL_NONE ? 0 : e->name) : 0;
    /* The correlation id of the user: the label around it, which has the number of its text. */
    rocl_status st = ROCL_OK;
    int64_t external = d->e.correlation_id;
    if (has_text(d->region_name)) {
        size_t n;
        const char *label = rocl_text(s->trace, d->region_name, &n);
        external = (int64_t)v3_label_number(label, n);
        st = use_name(w, v3_name_key(element, V3_LABEL, d->region_name), err);
    }
    if (st == ROCL_OK && named)
        st = use_name(w, name, err);
    if (st != ROCL_OK)
        return st;
    rocl_buf *b = begin_row(w, e, name);
    put_thread(
        b, v ? "{\"thread_id\":" : "{\"size\":184,\"kind\":11,\"operation\":2,\"thread_id\":", c,
        e);
    put_correlation(b, v ? ",\"dispatch_data\":{\"size\":120," : ",", e->stack_id, external);
    rocl_buf_byte(b, '}');
    put_times(b, e);
    rocl_buf_byte(b, ',');
    put_dispatch_info(s, c, d, b, named);
    if (v)
        rocl_buf_str(b, "},\"records\":[" VALUE "]");
    put_stream(b, c, d->stream);
    rocl_buf_byte(b, '}');
    if (!v)
        return add_row(s, worker, element, SECTION_DISPATCHES, ROCL_DISPATCH, e, err);
    uint64_t bits;
    memcpy(&bits, &v->value, sizeof bits);
    const uint64_t key[4] = {(uint64_t)element << 8 | SECTION_COUNTERS, e->id, v->counter, bits};
    return rocl_sorter_add_buf(s->rows, worker, key, b, err);
}

static uint32_t put_word(const v3_sink *s, const char *word)
{
    return rocl_strings_put(s->trace->strings, word, strlen(word));
}

/* "CopyHostToDevice" of older profilers is MEMORY_COPY_HOST_TO_DEVICE here. */
static uint32_t copy_name(const v3_sink *s, uint32_t name)
{
    static const char *const names[][2] = {{"CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE"},
                                           {"CopyDeviceToHost", "MEMORY_COPY_DEVICE_TO_HOST"},
                                           {"CopyDeviceToDevice", "MEMORY_COPY_DEVICE_TO_DEVICE"},
                                           {"CopyHostToHost", "MEMORY_COPY_HOST_TO_HOST"}};
    const char *text = rocl_text(s->trace, name, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i][0]))
            return put_word(s, names[i][1]);
    return has_text(name) ? name : put_word(s, "MEMORY_COPY_NONE");
}

static rocl_status add_copy(v3_sink *s, unsigned worker, const rocl_batch *batch, size_t i,
                            rocl_error *err)
{
    const rocl_capture *c = batch->capture;
    const rocl_copy *r = &batch->copies[i];
    v3_worker *w = &s->workers[worker];
    const uint32_t element = element_of(s, c, &r->e);
    const uint64_t name = v3_name_key(element, V3_MEMORY_COPY, copy_name(s, r->e.name));
    rocl_buf *b = begin_work(w, c, &r->e, 80, V3_MEMORY_COPY, name);
    put_agent(b, ",\"dst_agent_id\":{\"handle\":", s, c, r->dst);
    put_agent(b, "},\"src_agent_id\":{\"handle\":", s, c, r->src);
    rocl_buf_str_u64(b, "},\"bytes\":", r->size);
    put_stream(b, c, r->stream);
    rocl_buf_byte(b, '}');
    rocl_status st = use_name(w, name, err);
    return st ? st : add_row(s, worker, element, SECTION_COPIES, ROCL_COPY, &r->e, err);
}

/* The name of an operation without a name. */
static uint32_t alloc_name(const v3_sink *s, const rocl_alloc *a, bool scratch)
{
    static const char *const scratches[] = {[ROCL_OP_OTHER] = "SCRATCH_MEMORY_NONE",
                                            [ROCL_OP_ALLOC] = "SCRATCH_MEMORY_ALLOC",
                                            [ROCL_OP_FREE] = "SCRATCH_MEMORY_FREE",
                                            [ROCL_OP_REALLOC] = "SCRATCH_MEMORY_ALLOC",
                                            [ROCL_OP_RECLAIM] = "SCRATCH_MEMORY_ASYNC_RECLAIM"};
    const bool virtual = a->level == ROCL_LEVEL_VIRTUAL;
    if (scratch)
        return put_word(s, scratches[a->op]);
    if (a->op == ROCL_OP_ALLOC)
        return put_word(s,
                        virtual ? "MEMORY_ALLOCATION_VMEM_ALLOCATE" : "MEMORY_ALLOCATION_ALLOCATE");
    if (a->op == ROCL_OP_FREE)
        return put_word(s, virtual ? "MEMORY_ALLOCATION_VMEM_FREE" : "MEMORY_ALLOCATION_FREE");
    return has_text(a->e.name) ? a->e.name : put_word(s, "MEMORY_ALLOCATION_NONE");
}

static rocl_status add_alloc(v3_sink *s, unsigned worker, const rocl_batch *batch, size_t i,
                             rocl_error *err)
{
    const rocl_capture *c = batch->capture;
    const rocl_alloc *a = &batch->allocs[i];
    v3_worker *w = &s->workers[worker];
    const bool scratch = batch->kind == ROCL_SCRATCH;
    const v3_kind as = scratch ? V3_SCRATCH_MEMORY : V3_MEMORY_ALLOCATION;
    const uint32_t element = element_of(s, c, &a->e);
    const uint64_t name = v3_name_key(element, as, alloc_name(s, a, scratch));
    rocl_buf *b = begin_work(w, c, &a->e, scratch ? 96 : 80, as, name);
    put_agent(b, ",\"agent_id\":{\"handle\":", s, c, a->agent);
    if (scratch) {
        put_queue(b, "},\"queue_id\":{\"handle\":", c->queues, c->queue_count, a->queue);
        rocl_buf_str_u64(b, "},\"flags\":", a->flags);
        rocl_buf_str_u64(b, ",\"allocation_size\":", a->size);
    } else {
        rocl_buf_str(b, "},\"address\":\"0x");
        rocl_buf_hex(b, a->address, 16);
        rocl_buf_str_u64(b, "\",\"allocation_size\":", a->size);
        put_stream(b, c, a->stream);
    }
    rocl_buf_byte(b, '}');
    rocl_status st = use_name(w, name, err);
    return st ? st
              : add_row(s, worker, element, scratch ? SECTION_SCRATCHES : SECTION_ALLOCATIONS,
                        batch->kind, &a->e, err);
}

static rocl_status begin_capture(void *self, const rocl_capture *c, rocl_error *err)
{
    v3_sink *s = self;
    (void)err;
    s->begun[c->index] = true;
    return ROCL_OK;
}

/* Kinds without one have no place in the file. */
static rocl_status (*const adders[ROCL_KINDS])(v3_sink *s, unsigned worker, const rocl_batch *b,
                                               size_t i, rocl_error *err) = {
    [ROCL_REGION] = add_region,     [ROCL_MARKER] = add_region,    [ROCL_INSTANT] = add_region,
    [ROCL_DISPATCH] = add_dispatch, [ROCL_COUNTER] = add_dispatch, [ROCL_COPY] = add_copy,
    [ROCL_ALLOC] = add_alloc,       [ROCL_SCRATCH] = add_alloc};

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    v3_sink *s = self;
    rocl_status st = ROCL_OK;
    if (!adders[b->kind])
        s->workers[worker].left_out += b->count;
    for (size_t i = 0; adders[b->kind] && i < b->count && st == ROCL_OK; i++)
        st = adders[b->kind](s, worker, b, i, err);
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    v3_sink *s = self;
    rocl_status st = rocl_sorter_seal(s->rows, worker, err);
    return st ? st : rocl_sorter_seal(s->markers, worker, err);
}

/* ---- between reading and writing ------------------------------------------------------------- */

/* What the workers have noted. */
static rocl_status join_workers(v3_sink *s, uint64_t *last_link, rocl_error *err)
{
    *last_link = 0;
    for (unsigned i = 0; i < s->trace->opt.jobs; i++) {
        const v3_worker *w = &s->workers[i];
        uint64_t key;
        uint32_t value;
        for (size_t at = 0; rocl_map_next(&w->names, &at, &key, &value);)
            if (!v3_names_add(&s->names, s->trace, key))
                return rocl_fail_memory(err);
        *last_link = w->last_link > *last_link ? w->last_link : *last_link;
        s->report.left_out += w->left_out;
    }
    return v3_names_number(&s->names) ? ROCL_OK : rocl_fail_memory(err);
}

/* Adds markers, and their messages by their correlation ids. Of markers that share one the first
 * keeps it, and those that say the same; the others get numbers that nothing has. */
static rocl_status add_messages(v3_sink *s, uint64_t next_link, rocl_error *err)
{
    uint64_t element = UINT64_MAX, link = 0;
    uint32_t message = ROCL_NONE, own;
    rocl_buf text = {0};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(s->markers, err);
    while (rocl_sorter_take(s->markers, &rec, &st, err)) {
        const uint8_t *from = rec.data + sizeof(row_head) + sizeof own;
        const uint8_t *end = rec.data + rec.len, *at = memchr(from, *LINK, (size_t)(end - from));
        memcpy(&own, from - sizeof own, sizeof own);
        const bool first = rec.key[1] && (rec.key[0] != element || rec.key[1] != link);
        const bool same = rec.key[1] && !first && own == message;
        const uint64_t number = first || same ? rec.key[1] : ++next_link;
        if (first) {
            element = rec.key[0];
            link = rec.key[1];
            message = own;
        }
        text.len = 0;
        rocl_buf_put(&text, rec.data, sizeof(row_head));
        rocl_buf_put(&text, from, (size_t)(at - from));
        rocl_buf_u64(&text, number);
        rocl_buf_put(&text, at + 1, (size_t)(end - at - 1));
        const uint64_t key[4] = {rec.key[0] << 8 | SECTION_MARKERS, rec.key[2], rec.key[3], 0};
        st = rocl_sorter_add_buf(s->rows, 0, key, &text, err);
        if (st != ROCL_OK || same || own == ROCL_NONE)
            continue;
        text.len = 0;
        rocl_buf_put(&text, &(row_head){0}, sizeof(row_head));
        rocl_buf_str_u64(&text, "{\"key\":", number);
        v3_put_text(&text, ",\"value\":", s->trace, own);
        rocl_buf_byte(&text, '}');
        const uint64_t to[4] = {rec.key[0] << 8 | SECTION_MESSAGES, number};
        st = rocl_sorter_add_buf(s->rows, 0, to, &text, err);
    }
    rocl_buf_free(&text);
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The position of the writer. */
typedef struct v3_position {
    v3_element element;
    unsigned section; /* SECTION_COUNT: behind the element, or before the first */
    bool any;         /* the list has a row */
    bool any_element;
    rocl_buf tail; /* of the counter record that is open, which has a row for each value */
    bool in_record;
    uint64_t dispatch;
} v3_position;

/* Goes to a section of an element: ends those before, and writes elements without events. With
 * filters of processes those are left out. */
static rocl_status go_to(v3_sink *s, v3_position *p, uint32_t *next, uint32_t element,
                         unsigned section, rocl_error *err)
{
    const rocl_options *o = &s->trace->opt;
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && (*next <= element || (*next == element + 1 && p->section < section))) {
        if (p->section < SECTION_COUNT) {
            rocl_buf *b = rocl_piped_buf(&s->file);
            if (p->in_record)
                rocl_buf_put(b, p->tail.data, p->tail.len);
            p->in_record = false;
            p->any = false;
            rocl_buf_str(b, section_ends[p->section]);
            st = p->section++ == SECTION_MESSAGES ? v3_put_middle(b, &p->element, err) : ROCL_OK;
        } else if (*next >= s->elements[s->trace->capture_count]) {
            break;
        } else {
            size_t capture = 0;
            while (s->elements[capture + 1] <= *next)
                capture++;
            const uint32_t index = (*next)++;
            if (index == element || (s->begun[capture] && !o->pids && !o->ranks)) {
                rocl_buf *b = rocl_piped_buf(&s->file);
                p->element = (v3_element){.trace = s->trace,
                                          .capture = rocl_trace_capture(s->trace, capture),
                                          .ids = &s->ids[capture],
                                          .names = &s->names,
                                          .index = index,
                                          .process = index - s->elements[capture],
                                          .shared = s->elements[s->trace->capture_count] > 1};
                if (p->any_element)
                    rocl_buf_byte(b, ',');
                p->any_element = true;
                p->section = 0;
                p->any = false;
                st = v3_put_begin(b, &p->element, err);
            }
        }
    }
    return st;
}

/* Appends text with the number of its name. */
static void put_numbered(v3_sink *s, rocl_buf *b, uint64_t name, const v3_element *e,
                         const uint8_t *text, size_t n)
{
    const uint8_t *at = name ? memchr(text, *NUMBER, n) : NULL;
    if (!at) {
        rocl_buf_put(b, text, n);
        return;
    }
    const bool kernel = ((name >> 32) & 63) == V3_NAMED_KERNEL;
    rocl_buf_put(b, text, (size_t)(at - text));
    rocl_buf_u64(b, v3_number_of(&s->names, name) + (kernel ? e->ids->kernel_end : 0));
    rocl_buf_put(b, at + 1, (size_t)(text + n - at - 1));
}

static rocl_status put_rows(v3_sink *s, rocl_error *err)
{
    v3_position p = {.section = SECTION_COUNT};
    uint32_t next = 0;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(s->rows, err);
    while (rocl_sorter_take(s->rows, &rec, &st, err)) {
        st = go_to(s, &p, &next, (uint32_t)(rec.key[0] >> 8), rec.key[0] & 0xff, err);
        if (st != ROCL_OK)
            break;
        rocl_buf *b = rocl_piped_buf(&s->file);
        row_head head;
        const uint8_t *text = rec.data + sizeof head;
        const size_t n = rec.len - sizeof head;
        memcpy(&head, rec.data, sizeof head);
        if (p.section != SECTION_COUNTERS) {
            if (p.any)
                rocl_buf_byte(b, ',');
            put_numbered(s, b, head.name, &p.element, text, n);
            s->report.slices += p.section != SECTION_MESSAGES;
        } else {
            const uint8_t *value = memchr(text, *VALUE, n);
            double v;
            memcpy(&v, &rec.key[3], sizeof v);
            const bool first = !p.in_record || p.dispatch != rec.key[1];
            if (first) {
                if (p.in_record)
                    rocl_buf_put(b, p.tail.data, p.tail.len);
                if (p.any)
                    rocl_buf_byte(b, ',');
                put_numbered(s, b, head.name, &p.element, text, (size_t)(value - text));
                p.tail.len = 0;
                rocl_buf_put(&p.tail, value + 1, (size_t)(text + n - value - 1));
                p.in_record = true;
                p.dispatch = rec.key[1];
            }
            rocl_buf_str_u64(
                b, first ? "{\"counter_id\":{\"handle\":" : ",{\"counter_id\":{\"handle\":",
                p.element.ids->counters[rec.key[2]]);
            rocl_buf_str(b, "},\"value\":");
            rocl_repr_put(b, v);
            rocl_buf_byte(b, '}');
            s->report.values++;
        }
        p.any = true;
        st = rocl_piped_end_row(&s->file, s->trace, err);
    }
    if (st == ROCL_OK)
        st = go_to(s, &p, &next, UINT32_MAX - 1, SECTION_COUNT, err);
    if (st == ROCL_OK && p.tail.failed)
        st = rocl_fail_memory(err);
    rocl_buf_free(&p.tail);
    return st;
}

static rocl_status write_all(v3_sink *s, rocl_error *err)
{
    uint64_t last_link;
    rocl_status st = join_workers(s, &last_link, err);
    if (st == ROCL_OK)
        st = add_messages(s, last_link, err);
    if (st != ROCL_OK)
        return st;
    rocl_progress_phase(s->trace, "writing", rocl_sorter_count(s->rows));
    rocl_buf_str(rocl_piped_buf(&s->file), "{\"rocprofiler-sdk-tool\":[");
    st = put_rows(s, err);
    rocl_buf_str(rocl_piped_buf(&s->file), "]}");
    return st ? st : rocl_piped_commit(&s->file, s->trace, &s->report.bytes, err);
}

/* ---- the run --------------------------------------------------------------------------------- */

static rocl_status number_elements(v3_sink *s, rocl_error *err)
{
    const size_t captures = s->trace->capture_count;
    uint64_t count = 0;
    s->ids = calloc(captures + 1, sizeof *s->ids);
    s->elements = calloc(captures + 1, sizeof *s->elements);
    s->begun = calloc(captures + 1, sizeof *s->begun);
    if (!s->ids || !s->elements || !s->begun)
        return rocl_fail_memory(err);
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < captures && st == ROCL_OK; i++) {
        const rocl_capture *c = rocl_trace_capture(s->trace, i);
        count += c->process_count ? c->process_count : 1;
        if (count >= V3_ELEMENTS_MAX)
            return rocl_fail(err, ROCL_INPUT, "%s: too many processes", c->path);
        s->elements[i + 1] = (uint32_t)count;
        st = v3_ids_make(&s->ids[i], s->trace, c, err);
    }
    return st;
}

rocl_status rocl_write_rocprofv3_json(rocl_trace *t, const rocl_json_options *o,
                                      rocl_written *report, rocl_error *err)
{
    v3_sink s = {.trace = t, .opt = o};
    const rocl_sink sink = {.self = &s,
                            .kinds = ROCL_ALL_KINDS,
                            .no_place_for = ROCL_BIT(ROCL_FLOW),
                            .output = "rocprofv3's JSON",
                            .fields = (ROCL_ALL_FIELDS & ~ROCL_FIELD_PACKET) | ROCL_FIELD_INSTANCES,
                            .begin_capture = begin_capture,
                            .events = add_events,
                            .end_task = end_task};
    s.rows = rocl_sorter_new(t->space, 4);
    s.markers = rocl_sorter_new(t->space, 4);
    s.workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *s.workers);
    rocl_status st =
        s.rows && s.markers && s.workers ? number_elements(&s, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_piped_open_text(&s.file, o->path, o->gzip, o->level, t->opt.jobs, err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = write_all(&s, err);
    for (unsigned i = 0; s.workers && i < t->opt.jobs; i++) {
        rocl_buf_free(&s.workers[i].text);
        rocl_map_free(&s.workers[i].names);
    }
    for (size_t i = 0; s.ids && i < t->capture_count; i++)
        v3_ids_free(&s.ids[i]);
    free(s.workers);
    free(s.ids);
    free(s.elements);
    free(s.begun);
    v3_names_free(&s.names);
    rocl_sorter_free(s.rows);
    rocl_sorter_free(s.markers);
    rocl_piped_discard(&s.file);
    if (st == ROCL_OK && s.report.left_out)
        rocl_notice(t,
                    "%" PRIu64 " event%s left out: JSON of rocprofv3 has no place for samples, "
                    "graphs, HIP events, barriers and calls of other libraries",
                    s.report.left_out, s.report.left_out == 1 ? "" : "s");
    if (report)
        *report = s.report;
    return st ? st : rocl_trace_outcome_utf8(t);
}
