/* The text of records: see text.h. */
#include "sink/kineto/text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/num.h"
#include "base/order.h"
#include "base/text.h"
#include "model/identity.h"

/* ---- pieces of text -------------------------------------------------------------------------- */

static void put_text(kineto_writer *w, uint32_t text)
{
    const rocl_cached_text *t = rocl_text_cache_get(&w->texts, text == ROCL_NONE ? 0 : text);
    if (t)
        rocl_buf_put(w->to, t->bytes, t->len);
    else
        w->to->failed = true;
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
    rocl_buf_u64(b, v / 1000);
    rocl_buf_str(b, rest);
}

/* The begin of an event, up to its name and times. */
static rocl_buf *begin_event(kineto_writer *w, const char *ph, const char *cat)
{
    rocl_buf *b = w->to;
    rocl_buf_str(b, w->begun ? ",\n  {\"ph\": \"" : "\n  {\"ph\": \"");
    w->begun = true;
    rocl_buf_str(b, ph);
    rocl_buf_str(b, "\", \"cat\": \"");
    rocl_buf_str(b, cat);
    rocl_buf_str(b, "\", \"name\": \"");
    return b;
}

static void put_position(kineto_writer *w, int64_t pid, int64_t tid, int64_t time)
{
    rocl_buf *b = w->to;
    rocl_buf_str_i64(b, "\", \"pid\": ", pid);
    rocl_buf_str_i64(b, ", \"tid\": ", tid);
    put_us(b, ", \"ts\": ", time - w->format->base);
}

void kineto_put_metadata(kineto_writer *w, const char *what, int64_t pid, int64_t tid,
                         const char *key, const char *text, int64_t number)
{
    rocl_buf *b = w->to;
    rocl_buf_str(b, w->begun ? ",\n  {\"name\": \"" : "\n  {\"name\": \"");
    w->begun = true;
    rocl_buf_str(b, what);
    rocl_buf_str_i64(b, "\", \"ph\": \"M\", \"ts\": 0.000, \"pid\": ", pid);
    rocl_buf_str_i64(b, ", \"tid\": ", tid);
    rocl_buf_str(b, ", \"args\": {\"");
    rocl_buf_str(b, key);
    rocl_buf_str(b, "\": ");
    if (text) {
        rocl_buf_byte(b, '"');
        rocl_json_put(b, text, strlen(text));
        rocl_buf_str(b, "\"}}");
    } else {
        rocl_buf_i64(b, number);
        rocl_buf_str(b, "}}");
    }
}

static void put_arrow(kineto_writer *w, const char *ph, const char *name, uint64_t id, int64_t pid,
                      int64_t tid, int64_t time)
{
    rocl_buf *b = begin_event(w, ph, name);
    rocl_buf_str(b, name);
    put_position(w, pid, tid, time);
    rocl_buf_str_u64(b, ", \"id\": ", id);
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
static rocl_buf *begin_arg(kineto_writer *w, bool *any)
{
    rocl_buf *b = w->to;
    rocl_buf_str(b, *any ? ", \"" : ", \"args\": {\"");
    *any = true;
    return b;
}

/* All arguments of the event in its source, except those written otherwise (`known`). */
static void put_source_args(kineto_writer *w, const rocl_track_event *e, const char *const *known,
                            const char *const *own, bool *any)
{
    rocl_track_event args = *e;
    rocl_track_arg a;
    for (unsigned n = 1; rocl_track_event_next_arg(&args, &a); n++) {
        size_t k = 0;
        const char *name = rocl_text(w->format->trace, a.name, NULL);
        while (known[k] && strcmp(known[k], name))
            k++;
        if (known[k])
            continue;
        rocl_buf *b = begin_arg(w, any);
        put_text(w, a.name);
        if (rocl_track_arg_needs_number(w->format->trace, *e, &a, n, own))
            rocl_buf_str_u64(b, " #", n);
        if (a.type != w->format->string_type && is_json_value(a.value, a.len)) {
            rocl_buf_str(b, "\": ");
            rocl_buf_put(b, a.value, a.len);
        } else {
            rocl_buf_str(b, "\": \"");
            rocl_json_put(b, a.value, a.len);
            rocl_buf_byte(b, '"');
        }
    }
}

static void end_args(kineto_writer *w, bool any)
{
    rocl_buf_str(w->to, any ? "}}" : "}");
}

/* ---- what both sides know of events ---------------------------------------------------------- */

bool kineto_find_external_id(const kineto_format *f, const rocl_track_event *e, uint64_t *id)
{
    rocl_track_event args = *e;
    rocl_track_arg a;
    while (rocl_track_event_next_arg(&args, &a))
        if (a.name == f->external_id)
            return rocl_json_uint((rocl_view){a.value, a.len}, id) && *id;
    return false;
}

int64_t kineto_tid(const kineto_format *f, const rocl_capture *c, uint32_t thread, uint32_t process)
{
    if (thread < c->thread_count)
        return c->threads[thread].tid;
    return process < c->process_count ? kineto_pid(f, c, process) : 0;
}

const char *kineto_class_of(const rocl_trace *t, const rocl_track_event *e, kineto_class *c)
{
    const char *category = rocl_text(t, e->category == ROCL_NONE ? 0 : e->category, NULL);
    *c = KINETO_OTHER;
    if (e->kind == ROCL_INSTANT)
        return "cpu_instant_event";
    *c = KINETO_ANNOTATION;
    if (e->kind == ROCL_MARKER)
        return "user_annotation";
    const rocl_domain d = rocl_domain_of(t, ROCL_REGION, e->category);
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

int64_t kineto_device(const rocl_capture *c, uint32_t agent)
{
    const rocl_agent *a = agent < c->agent_count ? &c->agents[agent] : NULL;
    return !a ? 0 : a->type_index >= 0 ? a->type_index : a->id;
}

int64_t kineto_stream(const kineto_format *f, const rocl_capture *c, const rocl_track_event *e)
{
    const bool by_queue = f->group_by_queue && e->queue < c->queue_count;
    return !by_queue && e->stream < c->stream_count ? c->streams[e->stream].id
           : e->queue < c->queue_count              ? c->queues[e->queue].id
                                                    : 0;
}

/* ---- host ------------------------------------------------------------------------------------ */

static void put_call(kineto_writer *w, const kineto_item *item, const rocl_track_event *e)
{
    static const char *const known[] = {"External id", "correlation", NULL};
    const rocl_capture *c = w->capture;
    kineto_class class;
    uint32_t thread;
    const uint32_t process = rocl_host_process(c, e->index, &thread);
    const char *category = kineto_class_of(w->format->trace, e, &class);
    const int64_t pid = kineto_pid(w->format, c, process),
                  tid = kineto_tid(w->format, c, thread, process);
    bool any = false;
    if (!category) {
        category = rocl_text(w->format->trace, e->category, NULL);
        if (!rocl_json_plain(category, strlen(category)))
            category = "cpu_op";
    }
    rocl_buf *b = begin_event(w, e->kind == ROCL_INSTANT ? "i" : "X", category);
    if (e->name == ROCL_NONE || !e->name)
        rocl_buf_str(b, "(unnamed)");
    else
        put_text(w, e->name);
    put_position(w, pid, tid, e->time);
    if (e->kind == ROCL_INSTANT)
        rocl_buf_str(b, ", \"s\": \"t\"");
    else
        put_us(b, ", \"dur\": ", e->end - e->time);
    if (item->operator_id)
        rocl_buf_str_u64(begin_arg(w, &any), "External id\": ", item->operator_id);
    if (e->stack_id && class == KINETO_CALL)
        rocl_buf_str_u64(begin_arg(w, &any), "correlation\": ", e->stack_id);
    put_source_args(w, e, known, known, &any);
    end_args(w, any);
    if (item->linked)
        put_arrow(w, "s", "ac2g", e->stack_id, pid, tid, e->time);
}

static void put_flow(kineto_writer *w, const rocl_track_event *e)
{
    static const char *const phases[] = {
        [ROCL_FLOW_BEGINS] = "s", [ROCL_FLOW_GOES_ON] = "t", [ROCL_FLOW_ENDS] = "f"};
    uint32_t thread;
    const uint32_t process = rocl_host_process(w->capture, e->index, &thread);
    const char *category = rocl_text(w->format->trace, e->category, NULL);
    rocl_buf *b = begin_event(w, phases[e->flow_end],
                              rocl_json_plain(category, strlen(category)) ? category : "");
    put_text(w, e->name);
    put_position(w, kineto_pid(w->format, w->capture, process),
                 kineto_tid(w->format, w->capture, thread, process), e->time);
    rocl_buf_str_u64(b, ", \"id\": ", e->flow >> 11); /* below 2^53, for readers that use doubles */
    rocl_buf_str(b, e->flow_end == ROCL_FLOW_ENDS && !e->flow_next ? ", \"bp\": \"e\"}" : "}");
}

/* ---- GPU work -------------------------------------------------------------------------------- */

static void put_dimensions(kineto_writer *w, const char *key, const uint32_t v[3], bool *any)
{
    rocl_buf *b = begin_arg(w, any);
    rocl_buf_str(b, key);
    for (int i = 0; i < 3; i++)
        rocl_buf_str_u64(b, i ? ", " : "\": [", v[i]);
    rocl_buf_byte(b, ']');
}

/* PyTorch's name of a copy, and its direction: "HtoD". */
static const char *name_of_copy(const kineto_writer *w, uint32_t name, char kind[8])
{
    static const char *const names[][3] = {
        {"MEMORY_COPY_HOST_TO_DEVICE", "Memcpy HtoD (Host -> Device)", "HtoD"},
        {"MEMORY_COPY_DEVICE_TO_HOST", "Memcpy DtoH (Device -> Host)", "DtoH"},
        {"MEMORY_COPY_DEVICE_TO_DEVICE", "Memcpy DtoD (Device -> Device)", "DtoD"},
        {"MEMORY_COPY_HOST_TO_HOST", "Memcpy HtoH (Host -> Host)", "HtoH"}};
    const char *text = rocl_text(w->format->trace, name == ROCL_NONE ? 0 : name, NULL);
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

static void put_work(kineto_writer *w, const kineto_item *item, const rocl_track_event *e)
{
    static const char *const known[] = {"External id", NULL};
    static const char *const written[] = {"device", "stream", "correlation",   "pid",
                                          "grid",   "block",  "shared memory", NULL};
    const int64_t device = kineto_device(w->capture, e->agent),
                  stream = kineto_stream(w->format, w->capture, e);
    const char *name = rocl_text(w->format->trace, e->name == ROCL_NONE ? 0 : e->name, NULL);
    const char *category = e->kind == ROCL_DISPATCH     ? "kernel"
                           : e->kind == ROCL_BARRIER    ? "cuda_sync"
                           : strncmp(name, "Memset", 6) ? "gpu_memcpy"
                                                        : "gpu_memset";
    const char *own = NULL;
    char kind[8] = "";
    bool any = false;
    if (e->kind == ROCL_COPY)
        own = name_of_copy(w, e->name, kind);
    rocl_buf *b = begin_event(w, "X", category);
    if (own)
        rocl_buf_str(b, own);
    else if (*name)
        put_text(w, e->name);
    else
        rocl_buf_str(b, "(unnamed)");
    put_position(w, device, stream, e->time);
    put_us(b, ", \"dur\": ", e->end - e->time);
    if (item->operator_id)
        rocl_buf_str_u64(begin_arg(w, &any), "External id\": ", item->operator_id);
    rocl_buf_str_i64(begin_arg(w, &any), "device\": ", device);
    rocl_buf_str_i64(begin_arg(w, &any), "stream\": ", stream);
    if (e->stack_id)
        rocl_buf_str_u64(begin_arg(w, &any), "correlation\": ", e->stack_id);
    if (item->of_several && e->index < w->capture->process_count)
        rocl_buf_str_i64(begin_arg(w, &any),
                         "pid\": ", kineto_pid(w->format, w->capture, e->index));
    if (e->kind == ROCL_DISPATCH) {
        uint32_t grid[3];
        for (int i = 0; i < 3; i++)
            grid[i] = item->in_work_items || !e->workgroup[i]
                          ? e->grid[i]
                          : e->grid[i] / e->workgroup[i] + (e->grid[i] % e->workgroup[i] != 0);
        if (e->grid[0] && e->workgroup[0]) {
            put_dimensions(w, "grid", grid, &any);
            put_dimensions(w, "block", e->workgroup, &any);
        }
        if (e->group_segment)
            rocl_buf_str_i64(begin_arg(w, &any), "shared memory\": ", e->group_segment);
        put_source_args(w, e, known, written, &any);
    } else if (e->kind == ROCL_COPY) {
        if (*kind) {
            begin_arg(w, &any);
            rocl_buf_str(b, "kind\": \"");
            rocl_buf_str(b, kind);
            rocl_buf_byte(b, '"');
        }
        if (e->size) {
            rocl_buf_str_u64(begin_arg(w, &any), "bytes\": ", e->size);
            begin_arg(w, &any);
            rocl_buf_str(b, "memory bandwidth (GB/s)\": ");
            if (e->duration > 0)
                rocl_buf_double(b, (double)e->size / (double)e->duration);
            else
                rocl_buf_str(b, "\"N/A\"");
        }
    }
    end_args(w, any);
    if (item->linked)
        put_arrow(w, "f", "ac2g", e->stack_id, device, stream, e->time);
}

/* It begins a nanosecond before its work and ends one after it. */
void kineto_put_gpu_annotation(kineto_writer *w, uint32_t name, uint64_t operator_id,
                               int64_t device, int64_t stream, int64_t first, int64_t last)
{
    bool any = false;
    rocl_buf *b = begin_event(w, "X", "gpu_user_annotation");
    put_text(w, name);
    put_position(w, device, stream, first - 1);
    put_us(b, ", \"dur\": ", last - first + 2);
    if (operator_id)
        rocl_buf_str_u64(begin_arg(w, &any), "External id\": ", operator_id);
    end_args(w, any);
}

/* ---- allocations ----------------------------------------------------------------------------- */

bool kineto_decode_allocation(const uint8_t *p, size_t n, kineto_allocation *a)
{
    const uint8_t *end = p + n;
    uint64_t v[5]; /* thread, agent, whether it is a free, bytes, address */
    for (int i = 0; i < 5; i++)
        if (!rocl_varint_get(&p, end, &v[i]))
            return false;
    *a = (kineto_allocation){.thread = v[0] ? (uint32_t)(v[0] - 1) : ROCL_NONE,
                             .agent = v[1] ? (uint32_t)(v[1] - 1) : ROCL_NONE,
                             .frees = v[2] != 0,
                             .bytes = (int64_t)(v[3] & INT64_MAX),
                             .address = v[4]};
    return true;
}

/* Allocations count the GPUs from 0, whatever their numbers are. */
static int64_t number_of_gpu(const rocl_capture *c, uint32_t agent)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < c->agent_count; i++)
        n += c->agents[i].type == ROCL_AGENT_GPU && kineto_device(c, i) < kineto_device(c, agent);
    return n;
}

static void put_allocation(kineto_writer *w, const kineto_item *item, const kineto_allocation *a)
{
    const rocl_capture *c = w->capture;
    const uint32_t process = rocl_sequence_index(rocl_sequence_of(item->key));
    const bool gpu = rocl_is_gpu(c, a->agent);
    bool any = false;
    rocl_buf *b = begin_event(w, "i", "cpu_instant_event");
    rocl_buf_str(b, "[memory]");
    put_position(w, kineto_pid(w->format, c, process), kineto_tid(w->format, c, a->thread, process),
                 (int64_t)item->key[1]);
    rocl_buf_str(b, ", \"s\": \"t\"");
    rocl_buf_str_i64(begin_arg(w, &any), "Total Allocated\": ", item->total);
    rocl_buf_str_i64(begin_arg(w, &any), "Bytes\": ", a->frees ? -a->bytes : a->bytes);
    rocl_buf_str_u64(begin_arg(w, &any), "Addr\": ", a->address);
    rocl_buf_str_i64(begin_arg(w, &any), "Device Id\": ", gpu ? number_of_gpu(c, a->agent) : -1);
    rocl_buf_str_i64(begin_arg(w, &any), "Device Type\": ", gpu);
    end_args(w, any);
}

/* ---- devices --------------------------------------------------------------------------------- */

typedef struct gpu_device {
    int64_t number;
    uint32_t name;
} gpu_device;

void kineto_put_devices(kineto_writer *w, uint32_t machine)
{
    const rocl_trace *t = w->format->trace;
    rocl_buf *b = w->to;
    gpu_device *devices = NULL;
    size_t cap = 0, n = 0;
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; c->machine == machine && k < c->agent_count && !b->failed; k++) {
            const rocl_agent *a = &c->agents[k];
            if (a->type != ROCL_AGENT_GPU)
                continue;
            b->failed = !ROCL_GROW(devices, cap, n + 1);
            if (!b->failed)
                devices[n++] =
                    (gpu_device){kineto_device(c, k),
                                 a->product && a->product != ROCL_NONE ? a->product : a->model};
        }
    }
    if (n)
        qsort(devices, n, sizeof *devices, rocl_compare_i64); /* by number, the first member */
    for (size_t i = 0; i < n; i++) {
        if (i && devices[i].number == devices[i - 1].number)
            continue;
        rocl_buf_str_i64(b, i ? ",\n    {\"id\": " : "\n    {\"id\": ", devices[i].number);
        rocl_buf_str(b, ", \"name\": \"");
        put_text(w, devices[i].name);
        rocl_buf_str(b, "\"}");
    }
    free(devices);
    rocl_buf_str(b, n ? "\n  ],\n" : "],\n");
}

/* ---- blocks ---------------------------------------------------------------------------------- */

void kineto_writer_open(kineto_writer *w, const kineto_format *format)
{
    w->format = format;
    w->texts = (rocl_text_cache){.strings = format->trace->strings, .make = rocl_json_make_text};
}

void kineto_writer_close(kineto_writer *w)
{
    rocl_text_cache_free(&w->texts);
}

rocl_status kineto_write_items(kineto_writer *w, const rocl_buf *in, rocl_buf *out, rocl_error *err)
{
    const uint8_t *p = in->data, *end = in->data + in->len;
    w->to = out;
    while (p < end) {
        kineto_item item;
        kineto_allocation a;
        rocl_track_event e;
        memcpy(&item, p, sizeof item);
        p += sizeof item;
        const rocl_sort_record rec = {item.key, p, item.len};
        bool whole = true;
        w->capture = item.capture;
        w->begun = !item.first;
        if (item.kind == KINETO_TEXT)
            rocl_buf_put(out, p, item.len);
        else if (item.kind == KINETO_MEMORY && (whole = kineto_decode_allocation(p, item.len, &a)))
            put_allocation(w, &item, &a);
        else if (item.kind == KINETO_RECORD && (whole = rocl_record_decode(&rec, &e))) {
            if (rocl_sequence_kind_of(rocl_sequence_of(item.key)) != ROCL_SEQUENCE_HOST)
                put_work(w, &item, &e);
            else if (e.kind == ROCL_FLOW)
                put_flow(w, &e);
            else
                put_call(w, &item, &e);
        }
        if (!whole)
            return rocl_fail_sorted(err);
        p += item.len;
    }
    return out->failed ? rocl_fail_memory(err) : ROCL_OK;
}
