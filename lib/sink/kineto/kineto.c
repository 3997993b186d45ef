/* Trace JSON as PyTorch's profiler (Kineto) writes it, from any trace: a file for each rank.
 *
 *     batches -> sorted records of each capture -> threads in order of time: calls, their
 *                operators and annotations -> GPU work, with what its calls know of it -> text
 *
 * A call has the number ("External id") of the innermost operator around it, and so has the work
 * that it launched. Of each call within an operator or annotation some 40 bytes are kept until its
 * capture is written. An annotation is drawn on a stream as well, around the
 * work that was launched from it and from no annotation within it.
 *
 * One thread makes the text, in the order of the file; the workers of the pipe compress it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "base/num.h"
#include "base/strings.h"
#include "base/text.h"
#include "model/gpus.h"
#include "sink/piped.h"
#include "timeline/timeline.h"
#include "trace/pipeline.h"

#define SECOND 1000000000

/* What an event is to PyTorch's tools. */
typedef enum kineto_class {
    KINETO_OTHER,      /* its category says it */
    KINETO_OPERATOR,   /* has a number, which what it launches has as well */
    KINETO_ANNOTATION, /* the same, and is drawn on the GPU, too */
    KINETO_CALL        /* may launch work */
} kineto_class;

typedef struct kineto_capture {
    rocl_sorter *sorter; /* NULL: a filter has left it out */
    rocl_links links;
} kineto_capture;

typedef struct kineto_worker {
    alignas(ROCL_CACHE_LINE) int64_t first;
    int64_t last;
    uint64_t left_out;
} kineto_worker;

typedef struct open_range { /* of the thread at hand */
    int64_t end;
    uint64_t operator_id; /* of the innermost operator; 0: there is none */
    uint32_t annotation;  /* the innermost; ROCL_NONE */
} open_range;

typedef struct kineto_launch { /* what work knows of the range it was launched from */
    uint64_t operator_id;
    uint32_t annotation;
} kineto_launch;

typedef struct kineto_annotation {
    uint32_t name;
    uint64_t operator_id;
} kineto_annotation;

typedef struct gpu_range { /* an annotation on a stream */
    uint32_t annotation;
    int64_t device, stream, first, last;
} gpu_range;

typedef struct kineto_sink {
    rocl_encoder encoder; /* first */
    rocl_trace *trace;
    const rocl_kineto_options *opt;
    kineto_worker *workers;
    kineto_capture *captures; /* by index */
    rocl_text_cache texts;
    rocl_piped file;
    rocl_out **done; /* written files, which get their names together */
    size_t done_count, done_cap;
    int64_t base;
    bool begun;                                    /* an event has been written to the file */
    uint32_t ext_launch, string_type, external_id; /* texts */
    rocl_written report;
    /* of the capture at hand */
    const rocl_capture *capture;
    rocl_links links; /* a view */
    open_range *open;
    size_t depth, open_cap;
    uint64_t sequence, next_operator;
    bool numbered;         /* its operators have numbers of their own */
    rocl_map launch_index; /* stack id -> launch */
    kineto_launch *launches;
    size_t launch_count, launch_cap;
    kineto_annotation *annotations;
    size_t annotation_count, annotation_cap;
    rocl_map range_index; /* annotation, device and stream -> range */
    gpu_range *ranges;
    size_t range_count, range_cap;
    rocl_idset in_work_items; /* stack ids of launches whose grid PyTorch gives in work-items */
    rocl_map rows;            /* device and stream that have a name */
    rocl_map allocated;       /* device -> where its bytes are in totals */
    int64_t totals[64];
    size_t total_count;
} kineto_sink;

/* ---- reading --------------------------------------------------------------------------------- */

enum {
    LEFT_OUT = ROCL_BIT(ROCL_COUNTER) | ROCL_BIT(ROCL_SPM) | ROCL_BIT(ROCL_SAMPLE) |
               ROCL_BIT(ROCL_SCRATCH) | ROCL_BIT(ROCL_GRAPH) | ROCL_BIT(ROCL_HIP_EVENT),
};

static rocl_status begin_capture(void *self, const rocl_capture *capture, rocl_error *err)
{
    kineto_sink *s = self;
    kineto_capture *at = &s->captures[capture->index];
    at->sorter = s->encoder.sorter = rocl_record_sorter(s->trace);
    if (!at->sorter)
        return rocl_fail_memory(err);
    rocl_status st = rocl_encoder_check(capture, err);
    s->encoder.links = &at->links;
    return st ? st : rocl_links_open(&at->links, s->trace, true, err);
}

/* Allocations have a record of their own: thread, agent, operation, bytes, address. */
static rocl_status add_alloc(kineto_sink *s, unsigned worker, const rocl_alloc *a, rocl_error *err)
{
    uint8_t buf[64], *q = rocl_varint_put(buf, a->e.thread == ROCL_NONE ? 0 : a->e.thread + 1ull);
    const uint64_t key[4] = {
        rocl_sequence_number(ROCL_SEQUENCE_ALLOCATED, a->e.process) << ROCL_SEQUENCE_SHIFT |
            (uint64_t)a->e.start >> (64 - ROCL_SEQUENCE_SHIFT),
        (uint64_t)a->e.start, ~(uint64_t)a->e.end, rocl_row_word(a->e.id, ROCL_ALLOC)};
    q = rocl_varint_put(q, a->owner == ROCL_NONE ? 0 : a->owner + 1ull);
    q = rocl_varint_put(q, a->op == ROCL_OP_FREE);
    q = rocl_varint_put(q, a->block ? a->block : a->size);
    q = rocl_varint_put(q, a->address);
    return rocl_sorter_add(s->encoder.sorter, worker, key, buf, (size_t)(q - buf), err);
}

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    kineto_sink *s = self;
    kineto_worker *w = &s->workers[worker];
    rocl_status st = ROCL_OK;
    if (rocl_kind_in(b->kind, LEFT_OUT)) {
        w->left_out += b->count;
        return ROCL_OK;
    }
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        w->first = e->start < w->first ? e->start : w->first;
        w->last = e->end > w->last ? e->end : w->last;
    }
    if (b->kind != ROCL_ALLOC)
        return rocl_encoder_events(s, worker, b, err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++)
        st = add_alloc(s, worker, &b->allocs[i], err);
    return st;
}

static rocl_status end_capture(void *self, const rocl_capture *capture, rocl_error *err)
{
    kineto_sink *s = self;
    kineto_capture *at = &s->captures[capture->index];
    rocl_status st = ROCL_OK;
    for (unsigned w = 0; w < s->trace->opt.jobs && st == ROCL_OK; w++)
        st = rocl_sorter_seal(at->sorter, w, err);
    for (unsigned w = 0; w < s->trace->opt.jobs && st == ROCL_OK; w++)
        st = rocl_links_seal(&at->links, w, err);
    return st ? st : rocl_links_resolve(&at->links, &at->sorter, err);
}

/* ---- text ------------------------------------------------------------------------------------ */

static rocl_buf *text_of(kineto_sink *s)
{
    return rocl_piped_buf(&s->file);
}

static void escape_text(rocl_buf *to, const char *p, size_t n)
{
    if (!rocl_json_plain(p, n))
        rocl_json_put(to, p, n);
}

static void put_text(kineto_sink *s, uint32_t text)
{
    const rocl_cached_text *t = rocl_text_cache_get(&s->texts, text == ROCL_NONE ? 0 : text);
    if (t)
        rocl_buf_put(text_of(s), t->bytes, t->len);
    else
        text_of(s)->failed = true;
}

static void put_int(rocl_buf *b, const char *key, int64_t v)
{
    rocl_buf_str(b, key);
    if (rocl_buf_reserve(b, ROCL_NUM_MAX))
        b->len = (size_t)(rocl_put_i64((char *)b->data + b->len, v) - (char *)b->data);
}

static void put_uint(rocl_buf *b, const char *key, uint64_t v)
{
    rocl_buf_str(b, key);
    if (rocl_buf_reserve(b, ROCL_NUM_MAX))
        b->len = (size_t)(rocl_put_u64((char *)b->data + b->len, v) - (char *)b->data);
}

/* Nanoseconds as microseconds with three decimals, as PyTorch writes them. */
static void put_us(rocl_buf *b, const char *key, int64_t ns)
{
    const uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    char rest[5] = {'.', (char)('0' + v % 1000 / 100), (char)('0' + v % 100 / 10),
                    (char)('0' + v % 10), 0};
    rocl_buf_str(b, key);
    if (ns < 0)
        rocl_buf_byte(b, '-');
    put_uint(b, "", v / 1000);
    rocl_buf_str(b, rest);
}

/* The begin of an event: all but its name, times and what else follows. */
static rocl_buf *begin_event(kineto_sink *s, const char *ph, const char *cat)
{
    rocl_buf *b = text_of(s);
    rocl_buf_str(b, s->begun ? ",\n  {\"ph\": \"" : "\n  {\"ph\": \"");
    s->begun = true;
    rocl_buf_str(b, ph);
    rocl_buf_str(b, "\", \"cat\": \"");
    rocl_buf_str(b, cat);
    rocl_buf_str(b, "\", \"name\": \"");
    return b;
}

static void put_position(kineto_sink *s, int64_t pid, int64_t tid, int64_t time)
{
    rocl_buf *b = text_of(s);
    put_int(b, "\", \"pid\": ", pid);
    put_int(b, ", \"tid\": ", tid);
    put_us(b, ", \"ts\": ", time - s->base);
}

static void put_metadata(kineto_sink *s, const char *what, int64_t pid, int64_t tid,
                         const char *key, const char *text, int64_t number)
{
    rocl_buf *b = text_of(s);
    rocl_buf_str(b, s->begun ? ",\n  {\"name\": \"" : "\n  {\"name\": \"");
    s->begun = true;
    rocl_buf_str(b, what);
    put_int(b, "\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": ", pid);
    put_int(b, ", \"tid\": ", tid);
    rocl_buf_str(b, ", \"args\": {\"");
    rocl_buf_str(b, key);
    rocl_buf_str(b, "\": ");
    if (text) {
        rocl_buf_byte(b, '"');
        rocl_json_put(b, text, strlen(text));
        rocl_buf_str(b, "\"}}");
    } else {
        put_int(b, "", number);
        rocl_buf_str(b, "}}");
    }
}

static void name_process(const kineto_sink *s, uint32_t process, char *name, size_t size)
{
    const rocl_capture *c = s->capture;
    *name = 0;
    if (process < c->process_count)
        rocl_program_name(rocl_text(s->trace, c->processes[process].command, NULL), name, size);
    if (!*name)
        snprintf(name, size, "process");
}

static void put_arrow(kineto_sink *s, const char *ph, const char *name, uint64_t id, int64_t pid,
                      int64_t tid, int64_t time)
{
    rocl_buf *b = begin_event(s, ph, name);
    rocl_buf_str(b, name);
    put_position(s, pid, tid, time);
    put_uint(b, ", \"id\": ", id);
    rocl_buf_str(b, *ph == 'f' ? ", \"bp\": \"e\"}" : "}");
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Is the text a value of JSON other than a string, whole? */
static bool is_json_value(const char *p, size_t n)
{
    rocl_json r;
    rocl_json_token t;
    rocl_json_kind kind;
    if (!n || !(strchr("[{-", *p) || (*p >= '0' && *p <= '9') || (n <= 5 && strchr("tfn", *p))))
        return false;
    rocl_json_open(&r, p, n, 0, 0);
    for (int values = 0; (kind = rocl_json_next(&r, &t)) != ROCL_JSON_NOTHING; values++)
        if (values == 0 && kind == ROCL_JSON_STRING)
            return false;
    return !r.wrong;
}

/* Begins an argument: a comma or the brace before it. */
static rocl_buf *begin_arg(kineto_sink *s, bool *any)
{
    rocl_buf *b = text_of(s);
    rocl_buf_str(b, *any ? ", \"" : ", \"args\": {\"");
    *any = true;
    return b;
}

/* All that its source says of the event, less what is written otherwise (`known`). */
static void put_source_args(kineto_sink *s, const rocl_track_event *e, const char *const *known,
                            bool *any)
{
    rocl_track_event args = *e;
    rocl_track_arg a;
    while (rocl_track_event_next_arg(&args, &a)) {
        size_t k = 0;
        const char *name = rocl_text(s->trace, a.name, NULL);
        while (known[k] && strcmp(known[k], name))
            k++;
        if (known[k])
            continue;
        rocl_buf *b = begin_arg(s, any);
        put_text(s, a.name);
        if (a.type != s->string_type && is_json_value(a.value, a.len)) {
            rocl_buf_str(b, "\": ");
            rocl_buf_put(b, a.value, a.len);
        } else {
            rocl_buf_str(b, "\": \"");
            rocl_json_put(b, a.value, a.len);
            rocl_buf_byte(b, '"');
        }
    }
}

/* The number that an operator has in its source. */
static bool find_external_id(const kineto_sink *s, const rocl_track_event *e, uint64_t *id)
{
    rocl_track_event args = *e;
    rocl_track_arg a;
    while (rocl_track_event_next_arg(&args, &a))
        if (a.name == s->external_id)
            return rocl_json_uint((rocl_view){a.value, a.len}, id) && *id;
    return false;
}

static void end_args(kineto_sink *s, bool any)
{
    rocl_buf_str(text_of(s), any ? "}}" : "}");
}

/* ---- host ------------------------------------------------------------------------------------ */

static int64_t tid_of(const rocl_capture *c, uint32_t thread, uint32_t process)
{
    if (thread < c->thread_count)
        return c->threads[thread].tid;
    return process < c->process_count ? c->processes[process].pid : 0;
}

/* The category that PyTorch's tools know: of calls by their domain; their own stay. */
static const char *class_of_call(const kineto_sink *s, const rocl_track_event *e, kineto_class *c)
{
    const char *category = rocl_text(s->trace, e->category == ROCL_NONE ? 0 : e->category, NULL);
    *c = KINETO_OTHER;
    if (e->kind == ROCL_INSTANT)
        return "cpu_instant_event";
    *c = KINETO_ANNOTATION;
    if (e->kind == ROCL_MARKER)
        return "user_annotation";
    const rocl_domain d = rocl_domain_of(s->trace, ROCL_REGION, e->category);
    *c = KINETO_CALL;
    if (d == ROCL_DOMAIN_HIP || !strcmp(category, "cuda_runtime") || !strcmp(category, "Runtime"))
        return "cuda_runtime";
    if (d == ROCL_DOMAIN_HSA || !strcmp(category, "cuda_driver"))
        return "cuda_driver";
    *c = KINETO_OPERATOR;
    if (d != ROCL_DOMAIN_OTHER || !*category || !strcmp(category, "cpu_op") ||
        !strcmp(category, "Operator"))
        return "cpu_op";
    *c = KINETO_OTHER;
    return NULL; /* its own */
}

static void begin_thread(kineto_sink *s, uint32_t process, uint32_t thread)
{
    const rocl_capture *c = s->capture;
    char name[320], buf[256];
    const int64_t pid = c->processes[process].pid, tid = tid_of(c, thread, process);
    s->depth = 0;
    if (thread >= c->thread_count)
        return;
    const char *label = rocl_text(s->trace, c->threads[thread].name, NULL);
    if (!strncmp(label, "thread ", 7)) { /* as PyTorch wrote it */
        snprintf(name, sizeof name, "%s", label);
    } else {
        label = rocl_thread_label(c, &c->threads[thread], &c->processes[process], buf, sizeof buf);
        snprintf(name, sizeof name, "thread %" PRId64 "%s%s%s", tid, *label ? " (" : "", label,
                 *label ? ")" : "");
    }
    put_metadata(s, "thread_name", pid, tid, "name", name, 0);
    put_metadata(s, "thread_sort_index", pid, tid, "sort_index", NULL, tid);
}

/* What the range at hand is to those within it and to the work launched from it; its own number, 0:
 * it has none. */
static bool open_slice(kineto_sink *s, const rocl_track_event *e, kineto_class c, open_range *range,
                       uint64_t *own)
{
    while (s->depth && s->open[s->depth - 1].end <= e->time)
        s->depth--;
    *range = (open_range){e->end, 0, ROCL_NONE};
    if (s->depth) {
        range->operator_id = s->open[s->depth - 1].operator_id;
        range->annotation = s->open[s->depth - 1].annotation;
    }
    uint64_t id = *own = 0;
    if (c == KINETO_OPERATOR || c == KINETO_ANNOTATION) {
        if (find_external_id(s, e, &id))
            s->numbered = true;
        else if (!s->numbered)
            id = ++s->next_operator;
        *own = id;
        if (c == KINETO_OPERATOR && id)
            range->operator_id = id;
    }
    if (c == KINETO_ANNOTATION) {
        if (!ROCL_GROW(s->annotations, s->annotation_cap, s->annotation_count + 1))
            return false;
        range->annotation = (uint32_t)s->annotation_count;
        s->annotations[s->annotation_count++] =
            (kineto_annotation){e->name == ROCL_NONE ? 0 : e->name, id};
    }
    if (e->kind == ROCL_INSTANT)
        return true;
    if (!ROCL_GROW(s->open, s->open_cap, s->depth + 1))
        return false;
    s->open[s->depth++] = *range;
    return true;
}

/* Notes where work with the call's stack id was launched from. */
static bool note_launch(kineto_sink *s, const rocl_track_event *e, const open_range *range)
{
    if (e->name == s->ext_launch && !rocl_idset_add(&s->in_work_items, e->stack_id))
        return false;
    if ((!range->operator_id && range->annotation == ROCL_NONE) ||
        rocl_map_get(&s->launch_index, e->stack_id, ROCL_NONE) != ROCL_NONE)
        return true;
    if (s->launch_count >= ROCL_NONE || !ROCL_GROW(s->launches, s->launch_cap, s->launch_count + 1))
        return false;
    s->launches[s->launch_count] = (kineto_launch){range->operator_id, range->annotation};
    return rocl_map_put(&s->launch_index, e->stack_id, (uint32_t)s->launch_count++);
}

static rocl_status put_call(kineto_sink *s, rocl_track_event *e, rocl_error *err)
{
    static const char *const known[] = {"External id", "correlation", NULL};
    const rocl_capture *c = s->capture;
    kineto_class class;
    open_range range;
    uint32_t thread;
    const uint32_t process = rocl_host_process(c, e->index, &thread);
    const char *category = class_of_call(s, e, &class);
    const int64_t pid = c->processes[process].pid, tid = tid_of(c, thread, process);
    bool any = false;
    uint64_t id;
    if (!open_slice(s, e, class, &range, &id))
        return rocl_fail_memory(err);
    const bool linked = rocl_links_of(&s->links, e) == ROCL_LINK_CALL;
    if (class == KINETO_CALL && e->stack_id && !note_launch(s, e, &range))
        return rocl_fail_memory(err);
    if (!category) {
        category = rocl_text(s->trace, e->category, NULL);
        if (!rocl_json_plain(category, strlen(category)))
            category = "cpu_op";
    }
    rocl_buf *b = begin_event(s, e->kind == ROCL_INSTANT ? "i" : "X", category);
    if (e->name == ROCL_NONE || !e->name)
        rocl_buf_str(b, "(unnamed)");
    else
        put_text(s, e->name);
    put_position(s, pid, tid, e->time);
    if (e->kind == ROCL_INSTANT)
        rocl_buf_str(b, ", \"s\": \"t\"");
    else
        put_us(b, ", \"dur\": ", e->end - e->time);
    if (class == KINETO_CALL && !find_external_id(s, e, &id))
        id = range.operator_id;
    if (id)
        put_uint(begin_arg(s, &any), "External id\": ", id);
    if (e->stack_id && class == KINETO_CALL)
        put_uint(begin_arg(s, &any), "correlation\": ", e->stack_id);
    put_source_args(s, e, known, &any);
    end_args(s, any);
    s->report.slices += e->kind != ROCL_INSTANT;
    s->report.instants += e->kind == ROCL_INSTANT;
    if (linked)
        put_arrow(s, "s", "ac2g", e->stack_id, pid, tid, e->time);
    return ROCL_OK;
}

static void put_flow(kineto_sink *s, const rocl_track_event *e)
{
    static const char *const phases[] = {
        [ROCL_FLOW_BEGINS] = "s", [ROCL_FLOW_GOES_ON] = "t", [ROCL_FLOW_ENDS] = "f"};
    uint32_t thread;
    const uint32_t process = rocl_host_process(s->capture, e->index, &thread);
    const char *category = rocl_text(s->trace, e->category, NULL);
    rocl_buf *b = begin_event(s, phases[e->flow_end],
                              rocl_json_plain(category, strlen(category)) ? category : "");
    put_text(s, e->name);
    put_position(s, s->capture->processes[process].pid, tid_of(s->capture, thread, process),
                 e->time);
    put_uint(b, ", \"id\": ", e->flow >> 11); /* below 2^53, for readers that use doubles */
    rocl_buf_str(b, e->flow_end == ROCL_FLOW_ENDS && !e->flow_next ? ", \"bp\": \"e\"}" : "}");
}

/* ---- GPU work -------------------------------------------------------------------------------- */

/* The number of a device in PyTorch's eyes: its place among the GPUs of the machine. */
static int64_t device_of(const rocl_capture *c, uint32_t agent)
{
    const rocl_agent *a = agent < c->agent_count ? &c->agents[agent] : NULL;
    return !a ? 0 : a->type_index >= 0 ? a->type_index : a->id;
}

/* Allocations count the GPUs from 0, whatever their numbers are. */
static int64_t number_of_gpu(const rocl_capture *c, uint32_t agent)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < c->agent_count; i++)
        n += c->agents[i].type == ROCL_AGENT_GPU && device_of(c, i) < device_of(c, agent);
    return n;
}

static int64_t stream_of(const kineto_sink *s, const rocl_track_event *e)
{
    const rocl_capture *c = s->capture;
    const bool by_queue = s->opt->group_by_queue && e->queue < c->queue_count;
    return !by_queue && e->stream < c->stream_count ? c->streams[e->stream].id
           : e->queue < c->queue_count              ? c->queues[e->queue].id
                                                    : 0;
}

static uint64_t row_key(int64_t device, int64_t stream)
{
    return rocl_mix64((uint64_t)device) ^ rocl_mix64(rocl_mix64((uint64_t)stream + 1));
}

/* The names of a device and its stream, before the first event on them. */
static bool name_row(kineto_sink *s, uint32_t process, int64_t device, int64_t stream)
{
    char name[64], program[256];
    const uint64_t whole = row_key(device, -1), row = row_key(device, stream);
    if (!rocl_map_get(&s->rows, whole, 0)) {
        name_process(s, process, program, sizeof program);
        snprintf(name, sizeof name, "GPU %" PRId64, device);
        put_metadata(s, "process_name", device, 0, "name", program, 0);
        put_metadata(s, "process_labels", device, 0, "labels", name, 0);
        put_metadata(s, "process_sort_index", device, 0, "sort_index", NULL, 5000000 + device);
        if (!rocl_map_put(&s->rows, whole, 1))
            return false;
    }
    if (rocl_map_get(&s->rows, row, 0))
        return true;
    snprintf(name, sizeof name, "stream %" PRId64 " ", stream);
    put_metadata(s, "thread_name", device, stream, "name", name, 0);
    put_metadata(s, "thread_sort_index", device, stream, "sort_index", NULL, stream);
    return rocl_map_put(&s->rows, row, 1);
}

/* An annotation reaches to the work that was launched from it. */
static bool stretch_annotation(kineto_sink *s, const rocl_track_event *e, uint32_t annotation,
                               int64_t device, int64_t stream)
{
    const uint64_t key = row_key(device, stream) ^ rocl_mix64((uint64_t)annotation << 20 | 1);
    uint32_t i = rocl_map_get(&s->range_index, key, ROCL_NONE);
    if (i == ROCL_NONE) {
        i = (uint32_t)s->range_count;
        if (!ROCL_GROW(s->ranges, s->range_cap, s->range_count + 1) ||
            !rocl_map_put(&s->range_index, key, i))
            return false;
        s->ranges[s->range_count++] = (gpu_range){annotation, device, stream, e->time, e->end};
    }
    gpu_range *r = &s->ranges[i];
    r->first = e->time < r->first ? e->time : r->first;
    r->last = e->end > r->last ? e->end : r->last;
    return true;
}

static void put_dimensions(kineto_sink *s, const char *key, const uint32_t v[3], bool *any)
{
    rocl_buf *b = begin_arg(s, any);
    rocl_buf_str(b, key);
    for (int i = 0; i < 3; i++)
        put_uint(b, i ? ", " : "\": [", v[i]);
    rocl_buf_byte(b, ']');
}

static void put_kernel_args(kineto_sink *s, const rocl_track_event *e, bool *any)
{
    static const char *const known[] = {"External id", NULL};
    uint32_t grid[3];
    const bool items = e->stack_id && rocl_idset_has(&s->in_work_items, e->stack_id);
    for (int i = 0; i < 3; i++)
        grid[i] = items || !e->workgroup[i]
                      ? e->grid[i]
                      : e->grid[i] / e->workgroup[i] + (e->grid[i] % e->workgroup[i] != 0);
    if (e->grid[0] && e->workgroup[0]) {
        put_dimensions(s, "grid", grid, any);
        put_dimensions(s, "block", e->workgroup, any);
    }
    if (e->group_segment)
        put_int(begin_arg(s, any), "shared memory\": ", e->group_segment);
    put_source_args(s, e, known, any);
}

/* What PyTorch calls a copy, and its direction: "HtoD". */
static const char *name_of_copy(const kineto_sink *s, uint32_t name, char kind[8])
{
    static const char *const names[][3] = {
        {"MEMORY_COPY_HOST_TO_DEVICE", "Memcpy HtoD (Host -> Device)", "HtoD"},
        {"MEMORY_COPY_DEVICE_TO_HOST", "Memcpy DtoH (Device -> Host)", "DtoH"},
        {"MEMORY_COPY_DEVICE_TO_DEVICE", "Memcpy DtoD (Device -> Device)", "DtoD"},
        {"MEMORY_COPY_HOST_TO_HOST", "Memcpy HtoH (Host -> Host)", "HtoH"}};
    const char *text = rocl_text(s->trace, name == ROCL_NONE ? 0 : name, NULL);
    kind[0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i][0]) || strstr(text, names[i][2])) {
            strcpy(kind, names[i][2]);
            return strcmp(text, names[i][0]) ? NULL : names[i][1];
        }
    if (!strcmp(text, "Memset (Device)"))
        strcpy(kind, "Device");
    return *text ? NULL : "Memcpy";
}

static void put_copy_args(kineto_sink *s, const rocl_track_event *e, const char *kind, bool *any)
{
    rocl_buf *b;
    if (*kind) {
        b = begin_arg(s, any);
        rocl_buf_str(b, "kind\": \"");
        rocl_buf_str(b, kind);
        rocl_buf_byte(b, '"');
    }
    if (!e->size)
        return;
    put_uint(begin_arg(s, any), "bytes\": ", e->size);
    b = begin_arg(s, any);
    rocl_buf_str(b, "memory bandwidth (GB/s)\": ");
    if (e->duration > 0 && rocl_buf_reserve(b, ROCL_NUM_MAX))
        b->len = (size_t)(rocl_put_double((char *)b->data + b->len,
                                          (double)e->size / (double)e->duration) -
                          (char *)b->data);
    else
        rocl_buf_str(b, "\"N/A\"");
}

static rocl_status put_work(kineto_sink *s, const rocl_track_event *e, rocl_error *err)
{
    const int64_t device = device_of(s->capture, e->agent), stream = stream_of(s, e);
    const char *name = rocl_text(s->trace, e->name == ROCL_NONE ? 0 : e->name, NULL);
    const char *category = e->kind == ROCL_DISPATCH     ? "kernel"
                           : e->kind == ROCL_BARRIER    ? "cuda_sync"
                           : strncmp(name, "Memset", 6) ? "gpu_memcpy"
                                                        : "gpu_memset";
    const char *own = NULL;
    char kind[8] = "";
    bool any = false;
    const bool linked = rocl_links_of(&s->links, e) == ROCL_LINK_WORK;
    const uint32_t i =
        e->stack_id ? rocl_map_get(&s->launch_index, e->stack_id, ROCL_NONE) : ROCL_NONE;
    if (!name_row(s, e->index, device, stream))
        return rocl_fail_memory(err);
    if (e->kind == ROCL_COPY)
        own = name_of_copy(s, e->name, kind);
    rocl_buf *b = begin_event(s, "X", category);
    if (own)
        rocl_buf_str(b, own);
    else if (*name)
        put_text(s, e->name);
    else
        rocl_buf_str(b, "(unnamed)");
    put_position(s, device, stream, e->time);
    put_us(b, ", \"dur\": ", e->end - e->time);
    if (i != ROCL_NONE && s->launches[i].operator_id)
        put_uint(begin_arg(s, &any), "External id\": ", s->launches[i].operator_id);
    put_int(begin_arg(s, &any), "device\": ", device);
    put_int(begin_arg(s, &any), "stream\": ", stream);
    if (e->stack_id)
        put_uint(begin_arg(s, &any), "correlation\": ", e->stack_id);
    if (e->kind == ROCL_DISPATCH)
        put_kernel_args(s, e, &any);
    else if (e->kind == ROCL_COPY)
        put_copy_args(s, e, kind, &any);
    end_args(s, any);
    s->report.slices++;
    if (linked)
        put_arrow(s, "f", "ac2g", e->stack_id, device, stream, e->time);
    if (i != ROCL_NONE && s->launches[i].annotation != ROCL_NONE &&
        !stretch_annotation(s, e, s->launches[i].annotation, device, stream))
        return rocl_fail_memory(err);
    return ROCL_OK;
}

/* ---- allocations ----------------------------------------------------------------------------- */

static rocl_status put_allocation(kineto_sink *s, const rocl_sort_record *rec, rocl_error *err)
{
    const rocl_capture *c = s->capture;
    const uint8_t *p = rec->data, *end = rec->data + rec->len;
    uint64_t v[5]; /* thread, agent, whether it is a free, bytes, address */
    const uint32_t process = rocl_sequence_index(rocl_sequence_of(rec->key));
    bool any = false;
    for (int i = 0; i < 5; i++)
        if (!rocl_varint_get(&p, end, &v[i]))
            return rocl_fail(err, ROCL_INTERNAL, "a sorted record came back broken");
    const uint32_t thread = v[0] ? (uint32_t)(v[0] - 1) : ROCL_NONE;
    const uint32_t agent = v[1] ? (uint32_t)(v[1] - 1) : ROCL_NONE;
    const bool gpu = rocl_is_gpu(c, agent);
    const int64_t device = gpu ? device_of(c, agent) : -1;
    const int64_t bytes = (int64_t)(v[3] & INT64_MAX);
    uint32_t at = rocl_map_get(&s->allocated, (uint64_t)device + 1, ROCL_NONE);
    if (at == ROCL_NONE) {
        at = (uint32_t)(s->total_count < 64 ? s->total_count++ : 63);
        if (!rocl_map_put(&s->allocated, (uint64_t)device + 1, at))
            return rocl_fail_memory(err);
    }
    /* Absurd sizes make the sum wrap and come back. */
    s->totals[at] = (int64_t)((uint64_t)s->totals[at] + (uint64_t)(v[2] ? -bytes : bytes));
    rocl_buf *b = begin_event(s, "i", "cpu_instant_event");
    rocl_buf_str(b, "[memory]");
    put_position(s, c->processes[process].pid, tid_of(c, thread, process), (int64_t)rec->key[1]);
    rocl_buf_str(b, ", \"s\": \"t\"");
    put_int(begin_arg(s, &any), "Total Allocated\": ", s->totals[at]);
    put_int(begin_arg(s, &any), "Bytes\": ", v[2] ? -bytes : bytes);
    put_uint(begin_arg(s, &any), "Addr\": ", v[4]);
    put_int(begin_arg(s, &any), "Device Id\": ", gpu ? number_of_gpu(c, agent) : -1);
    put_int(begin_arg(s, &any), "Device Type\": ", gpu);
    end_args(s, any);
    s->report.instants++;
    return ROCL_OK;
}

/* ---- a capture ------------------------------------------------------------------------------- */

static void forget_ranges(kineto_sink *s)
{
    rocl_map_free(&s->launch_index);
    rocl_map_free(&s->range_index);
    rocl_map_free(&s->allocated);
    rocl_idset_free(&s->in_work_items);
    s->launch_count = s->annotation_count = s->range_count = s->depth = s->total_count = 0;
    memset(s->totals, 0, sizeof s->totals);
    s->sequence = UINT64_MAX;
    s->next_operator = 0;
    s->numbered = false;
}

/* It begins a nanosecond before its work and ends one after it. */
static rocl_status put_gpu_annotations(kineto_sink *s, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < s->range_count && st == ROCL_OK; i++) {
        const gpu_range *r = &s->ranges[i];
        const kineto_annotation *a = &s->annotations[r->annotation];
        bool any = false;
        rocl_buf *b = begin_event(s, "X", "gpu_user_annotation");
        put_text(s, a->name);
        put_position(s, r->device, r->stream, r->first - 1);
        put_us(b, ", \"dur\": ", r->last - r->first + 2);
        if (a->operator_id)
            put_uint(begin_arg(s, &any), "External id\": ", a->operator_id);
        end_args(s, any);
        st = rocl_piped_end_row(&s->file, s->trace, err);
    }
    return st;
}

static rocl_status put_record(kineto_sink *s, const rocl_sort_record *rec, rocl_error *err)
{
    rocl_track_event e;
    const uint64_t sequence = rocl_sequence_of(rec->key);
    const rocl_sequence_kind kind = rocl_sequence_kind_of(sequence);
    if (kind == ROCL_SEQUENCE_ALLOCATED)
        return put_allocation(s, rec, err);
    if (!rocl_record_decode(rec, &e))
        return rocl_fail(err, ROCL_INTERNAL, "a sorted record came back broken");
    if (kind != ROCL_SEQUENCE_HOST)
        return put_work(s, &e, err);
    if (sequence != s->sequence) {
        uint32_t thread;
        const uint32_t process = rocl_host_process(s->capture, e.index, &thread);
        begin_thread(s, process, thread);
        s->sequence = sequence;
    }
    if (e.kind != ROCL_FLOW)
        return put_call(s, &e, err);
    put_flow(s, &e);
    return ROCL_OK;
}

static rocl_status write_capture(kineto_sink *s, size_t index, rocl_error *err)
{
    const rocl_capture *c = &s->trace->captures[index]->pub;
    kineto_capture *at = &s->captures[index];
    rocl_sort_record rec;
    bool more = true;
    forget_ranges(s);
    s->capture = c;
    s->links = at->links;
    for (uint32_t i = 0; i < c->process_count; i++) {
        char name[256];
        const int64_t pid = c->processes[i].pid;
        name_process(s, i, name, sizeof name);
        put_metadata(s, "process_name", pid, 0, "name", name, 0);
        put_metadata(s, "process_labels", pid, 0, "labels", "CPU", 0);
        put_metadata(s, "process_sort_index", pid, 0, "sort_index", NULL, pid);
    }
    rocl_status st = rocl_sorter_start(at->sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(at->sorter, &rec, &more, err)) == ROCL_OK &&
           more) {
        st = put_record(s, &rec, err);
        if (st == ROCL_OK)
            st = rocl_piped_end_row(&s->file, s->trace, err);
    }
    if (st == ROCL_OK)
        st = put_gpu_annotations(s, err);
    rocl_sorter_free(at->sorter);
    at->sorter = NULL;
    rocl_links_free(&at->links);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

typedef struct kineto_device {
    int64_t number;
    uint32_t name;
} kineto_device;

static int compare_devices(const void *a, const void *b)
{
    const int64_t x = ((const kineto_device *)a)->number, y = ((const kineto_device *)b)->number;
    return (x > y) - (x < y);
}

/* Those of the machine that the rank ran on, also of other ranks: how many a machine has is read
 * from there. */
static bool find_devices(const kineto_sink *s, int32_t rank, kineto_device **devices, size_t *count)
{
    const rocl_trace *t = s->trace;
    uint32_t machine = ROCL_NONE;
    size_t cap = 0, n = 0, kept = 0;
    *devices = NULL;
    for (size_t i = t->capture_count; i-- > 0;)
        machine = t->captures[i]->pub.rank == rank ? t->captures[i]->pub.machine : machine;
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; c->machine == machine && k < c->agent_count; k++) {
            const rocl_agent *a = &c->agents[k];
            if (a->type != ROCL_AGENT_GPU)
                continue;
            if (!ROCL_GROW(*devices, cap, n + 1))
                return false;
            (*devices)[n++] = (kineto_device){
                device_of(c, k), a->product && a->product != ROCL_NONE ? a->product : a->model};
        }
    }
    if (n)
        qsort(*devices, n, sizeof **devices, compare_devices);
    for (size_t i = 0; i < n; i++)
        if (!i || (*devices)[i].number != (*devices)[kept - 1].number)
            (*devices)[kept++] = (*devices)[i];
    *count = kept;
    return true;
}

/* All that stands before the events; ranks: of the job, 0: it is not known. */
static void put_head(kineto_sink *s, int32_t rank, size_t ranks)
{
    rocl_buf *b = text_of(s);
    kineto_device *devices;
    size_t count = 0;
    b->failed |= !find_devices(s, rank, &devices, &count);
    rocl_buf_str(b, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
    for (size_t i = 0; i < count; i++) {
        put_int(b, i ? ",\n    {\"id\": " : "\n    {\"id\": ", devices[i].number);
        rocl_buf_str(b, ", \"name\": \"");
        put_text(s, devices[i].name);
        rocl_buf_str(b, "\"}");
    }
    free(devices);
    rocl_buf_str(b, count ? "\n  ],\n" : "],\n");
    if (rank >= 0) {
        put_int(b, "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": ", rank);
        if (ranks)
            put_uint(b, ", \"world_size\": ", ranks);
        rocl_buf_str(b, "},\n");
    }
    rocl_buf_str(b, "  \"generator\": \"rocline " ROCLINE_VERSION
                    "\",\n  \"displayTimeUnit\": \"ms\",\n");
    put_int(b, "  \"baseTimeNanoseconds\": ", s->base);
    rocl_buf_str(b, ",\n  \"traceEvents\": [");
    s->begun = false;
}

/* "dir/out.json.gz" and rank 3: "dir/out_rank3.json.gz". */
static char *name_of_rank(const char *path, int32_t rank)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name);
    char *out = NULL;
    if (n > 3 && !strcmp(name + n - 3, ".gz"))
        n -= 3;
    for (size_t i = n; i-- > 1;)
        if (name[i] == '.') {
            n = i;
            break;
        }
    const int stem = (int)(name - path) + (int)n;
    const int written =
        rank >= 0 ? asprintf(&out, "%.*s_rank%" PRId32 "%s", stem, path, rank, path + stem)
                  : asprintf(&out, "%.*s_norank%s", stem, path, path + stem);
    return written < 0 ? NULL : out;
}

static rocl_status write_rank(kineto_sink *s, const char *path, int32_t rank, size_t ranks,
                              rocl_error *err)
{
    rocl_status st =
        rocl_piped_open_text(&s->file, path, s->opt->gzip, s->opt->level, s->trace->opt.jobs, err);
    if (st == ROCL_OK)
        put_head(s, rank, ranks);
    rocl_map_free(&s->rows);
    for (size_t i = 0; i < s->trace->capture_count && st == ROCL_OK; i++)
        if (s->trace->captures[i]->pub.rank == rank && s->captures[i].sorter)
            st = write_capture(s, i, err);
    rocl_buf_str(text_of(s), "\n  ]\n}\n");
    if (st == ROCL_OK)
        st = rocl_piped_finish(&s->file, err);
    if (st == ROCL_OK && !ROCL_GROW(s->done, s->done_cap, s->done_count + 1))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        s->report.files++;
        s->report.bytes += rocl_out_bytes(s->file.out);
        s->done[s->done_count++] = s->file.out;
        s->file.out = NULL;
        st = rocl_out_seal(s->done[s->done_count - 1], true, err);
    }
    rocl_piped_discard(&s->file);
    return st;
}

static int compare_ranks(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* A file for each rank; if there is one, or none is known, that of the given name. */
static rocl_status write_ranks(kineto_sink *s, rocl_error *err)
{
    rocl_trace *t = s->trace;
    int32_t *ranks = calloc(t->capture_count + 1, sizeof *ranks);
    size_t n = 0, all = 0;
    rocl_status st = ranks ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; ranks && i < t->capture_count; i++)
        if (s->captures[i].sorter)
            ranks[all++] = t->captures[i]->pub.rank;
    if (all)
        qsort(ranks, all, sizeof *ranks, compare_ranks);
    for (size_t i = 0; i < all; i++)
        if (!i || ranks[i] != ranks[n - 1])
            ranks[n++] = ranks[i];
    /* How many there are in all is known where none is missing. */
    const size_t known = n && ranks[0] >= 0 && ranks[n - 1] == (int32_t)n - 1 ? n : 0;
    if (n > 1 && !strcmp(s->opt->path, "-"))
        st = rocl_fail(err, ROCL_USAGE, "%zu ranks are as many files: standard output is one", n);
    for (size_t i = 0; i < (n ? n : 1) && st == ROCL_OK; i++) {
        const int32_t rank = n ? ranks[i] : -1;
        char *own = n > 1 ? name_of_rank(s->opt->path, rank) : NULL;
        if (n > 1 && !own)
            st = rocl_fail_memory(err);
        else
            st = write_rank(s, own ? own : s->opt->path, rank, known, err);
        free(own);
    }
    free(ranks);
    if (st == ROCL_OK)
        st = rocl_out_commit_all(s->done, s->done_count, err);
    return st;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* A second at or before the first event, so that times are exact as doubles. One for all ranks:
 * readers compare times of ranks without it. */
static int64_t choose_base(const kineto_sink *s)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (unsigned w = 0; w < s->trace->opt.jobs; w++) {
        first = s->workers[w].first < first ? s->workers[w].first : first;
        last = s->workers[w].last > last ? s->workers[w].last : last;
    }
    return last < first || first < 0 ? 0 : first - first % SECOND;
}

static rocl_status open_sink(kineto_sink *s, rocl_error *err)
{
    static const char *const words[] = {"hipExtModuleLaunchKernel", "string", "External id"};
    rocl_trace *t = s->trace;
    uint32_t *const texts[] = {&s->ext_launch, &s->string_type, &s->external_id};
    for (int i = 0; i < 3; i++)
        if ((*texts[i] = rocl_strings_put(t->strings, words[i], strlen(words[i]))) == ROCL_NONE)
            return rocl_fail_memory(err);
    s->texts = (rocl_text_cache){.strings = t->strings, .make = escape_text};
    s->workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *s->workers);
    s->captures = calloc(t->capture_count + 1, sizeof *s->captures);
    if (!s->workers || !s->captures)
        return rocl_fail_memory(err);
    for (unsigned w = 0; w < t->opt.jobs; w++)
        s->workers[w] = (kineto_worker){.first = INT64_MAX, .last = INT64_MIN};
    return rocl_encoder_open(&s->encoder, err);
}

static void close_sink(kineto_sink *s)
{
    for (size_t i = 0; s->captures && i < s->trace->capture_count; i++) {
        rocl_sorter_free(s->captures[i].sorter);
        rocl_links_free(&s->captures[i].links);
    }
    for (size_t i = 0; i < s->done_count; i++)
        rocl_out_discard(s->done[i]);
    forget_ranges(s);
    rocl_map_free(&s->rows);
    rocl_text_cache_free(&s->texts);
    rocl_piped_discard(&s->file);
    rocl_encoder_close(&s->encoder);
    free(s->done);
    free(s->open);
    free(s->launches);
    free(s->annotations);
    free(s->ranges);
    free(s->captures);
    free(s->workers);
}

rocl_status rocl_write_kineto(rocl_trace *t, const rocl_kineto_options *o, rocl_written *report,
                              rocl_error *err)
{
    kineto_sink s = {.encoder = {.trace = t, .amd_layout = true}, .trace = t, .opt = o};
    rocl_sink sink = rocl_encoder_sink(&s.encoder);
    uint64_t records = 0;
    sink.kinds |= ROCL_BIT(ROCL_FLOW);
    sink.fields = ROCL_FIELD_ADDRESSES;
    sink.begin_capture = begin_capture;
    sink.end_capture = end_capture;
    sink.events = add_events;
    sink.history = NULL;
    sink.history_kinds = 0;
    rocl_status st = open_sink(&s, err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK) {
        s.base = choose_base(&s);
        for (size_t i = 0; i < t->capture_count; i++)
            records += s.captures[i].sorter ? rocl_sorter_count(s.captures[i].sorter) : 0;
        rocl_progress_phase(t, "writing", records);
        st = write_ranks(&s, err);
    }
    for (unsigned w = 0; s.workers && w < t->opt.jobs; w++)
        s.report.left_out += s.workers[w].left_out;
    close_sink(&s);
    if (st == ROCL_OK && s.report.left_out)
        rocl_notice(t,
                    "%" PRIu64 " event%s left out: PyTorch's traces have no place for counters, "
                    "samples, scratch memory, graphs and HIP events",
                    s.report.left_out, s.report.left_out == 1 ? "" : "s");
    if (report)
        *report = s.report;
    return st ? st : rocl_trace_outcome_utf8(t);
}
