/* results.json as rocprof v1 writes it since ROCm 6.2. Events become text where they are read; the
 * text waits in a sorter until all captures are in, since tables follow each other in the file
 * whichever process their rows are of. Key of a record:
 *
 *     word 0   63..32 table   31..0 capture
 *     word 1   end: rows of v1 are written when they end; of KERN the id of the dispatch
 *     word 2   id
 *     word 3   kind; of KERN which piece of the row, after its begin: counters, then its end */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/num.h"
#include "base/map.h"
#include "base/text.h"
#include "model/identity.h"
#include "sink/piped.h"
#include "sink/rocprof/rocprof.h"
#include "timeline/links.h"
#include "trace/pipeline.h"

/* Tables, in the order of the file. */
typedef enum v1_table {
    TABLE_ROCTX,
    TABLE_KERN,
    TABLE_HSA,
    TABLE_COPY,
    TABLE_HIP,
    TABLE_KFD,
    TABLE_OTHER_CALLS,
    TABLE_OPS,
    TABLE_FLOWS
} v1_table;

/* The pid of an event of the picture; of GPU n it is SECTION_GPU + n. */
enum {
    SECTION_MARKERS,
    SECTION_COPY,
    SECTION_HIP,
    SECTION_HSA,
    SECTION_KFD,
    SECTION_OTHER,
    SECTION_GPU
};
enum { GPUS_LABELLED = 256, BARRIERS = 512 };

/* Pieces of a row of KERN. */
#define KERN_COUNTERS ((uint64_t)1)
#define KERN_END      UINT64_MAX

/* One end of an arrow, or a call or work that may have one. */
typedef struct v1_spot {
    int64_t pid, tid;
    uint64_t time; /* us */
} v1_spot;

typedef struct v1_end {
    v1_spot spot; /* of a call: in its middle */
    int64_t start;
    uint64_t row_end, id;
} v1_end;

typedef struct v1_flow {
    v1_spot from, to;
} v1_flow;

/* How processes and machines are told apart where their numbers do not do so. */
typedef struct v1_apart {
    bool guids;      /* processes share a pid: rows say which of them they are of */
    bool machines;   /* several: rows of the picture are numbered by machine, GPUs by all of them */
    uint32_t *first; /* of each capture, the number of its first process, from 1 */
} v1_apart;

typedef struct v1_worker {
    alignas(ROCL_CACHE_LINE) rocl_buf text;
    bool sections[SECTION_GPU]; /* with events */
    bool gpus[GPUS_LABELLED];
    uint64_t left_out;
} v1_worker;

typedef struct v1_sink {
    rocl_trace *trace;
    const rocl_json_options *opt;
    rocl_sorter *rows, *ends; /* ends: calls and work by what links them */
    v1_worker *workers;
    v1_apart apart;
    rocl_piped file;
    rocl_written report;
} v1_sink;

/* ---- text ------------------------------------------------------------------------------------ */

static void put_text(rocl_buf *b, const rocl_trace *t, uint32_t text)
{
    size_t n;
    const char *p = rocl_text(t, text, &n);
    rocl_json_put(b, p, n);
}

static void begin_field(rocl_buf *b, const char *key)
{
    if (!b->len || b->data[b->len - 1] != '\n')
        rocl_buf_str(b, ",\n");
    rocl_buf_str(b, "    \"");
    rocl_buf_str(b, key);
    rocl_buf_str(b, "\":\"");
}

static void put_number_field(rocl_buf *b, const char *key, int64_t v)
{
    begin_field(b, key);
    rocl_buf_i64(b, v);
    rocl_buf_byte(b, '"');
}

static void put_handle_field(rocl_buf *b, const char *key, uint64_t v)
{
    begin_field(b, key);
    rocl_buf_str(b, "0x");
    rocl_buf_hex(b, v, 1);
    rocl_buf_byte(b, '"');
}

static void put_text_field(rocl_buf *b, const char *key, const rocl_trace *t, uint32_t text)
{
    begin_field(b, key);
    put_text(b, t, text);
    rocl_buf_byte(b, '"');
}

/* ,"KEY":"TEXT", unless it is unknown */
static void put_named_text(rocl_buf *b, const char *key, const rocl_trace *t, uint32_t text)
{
    if (!text)
        return;
    rocl_buf_printf(b, ",\"%s\":\"", key);
    put_text(b, t, text);
    rocl_buf_byte(b, '"');
}

/* ,{"ph":"X","name":"..","pid":P,"tid":T,"ts":"N","dur":"N", and the begin of the arguments */
static void begin_event(rocl_buf *b, const rocl_trace *t, const rocl_event *e, const char *suffix,
                        int64_t pid, int64_t tid, int64_t end)
{
    const int64_t dur = (end - e->start) / 1000;
    b->len = 0;
    rocl_buf_str(b, ",{\"ph\":\"X\",\"name\":\"");
    put_text(b, t, e->name == ROCL_NONE ? 0 : e->name);
    rocl_buf_str(b, suffix);
    rocl_buf_str_i64(b, "\",\"pid\":", pid);
    rocl_buf_str_i64(b, ",\"tid\":", tid);
    rocl_buf_str_i64(b, ",\"ts\":\"", e->start / 1000);
    rocl_buf_str_i64(b, "\",\"dur\":\"", dur ? dur : 1);
    rocl_buf_str(b, "\",\n  \"args\":{\n");
}

static void end_event(rocl_buf *b)
{
    rocl_buf_str(b, "\n  }\n}\n");
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void put_who(rocl_buf *b, const v1_sink *s, const rocl_capture *c, const rocl_event *e)
{
    put_number_field(b, "pid", v1_pid_of(c, e->process));
    put_number_field(b, "tid", v1_tid_of(c, e->thread));
    if (s->apart.guids && e->process < c->process_count)
        put_number_field(b, "guid", s->apart.first[c->index] + e->process);
}

/* The row of the picture for a thread or stream. */
static int64_t row_of(const v1_sink *s, const rocl_capture *c, uint32_t process, int64_t number)
{
    return !s->apart.machines || number < 0 ? number
                                            : number + ((int64_t)rocl_machine_of(c, process) << 32);
}

/* The number of a GPU among the sections. */
static int64_t section_of_gpu(const v1_sink *s, const rocl_capture *c, uint32_t agent)
{
    const rocl_gpu *g = s->apart.machines ? rocl_gpu_of(c, agent) : NULL;
    const int64_t device = g ? g - s->trace->gpus : v1_device_of(c, agent);
    return device > 0 ? device : 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static rocl_status add_row(v1_sink *s, unsigned worker, const rocl_capture *c, v1_table table,
                           const uint64_t key[3], rocl_error *err)
{
    const uint64_t all[4] = {(uint64_t)table << 32 | c->index, key[0], key[1], key[2]};
    return rocl_sorter_add_buf(s->rows, worker, all, &s->workers[worker].text, err);
}

static rocl_status add_event(v1_sink *s, unsigned worker, const rocl_capture *c, v1_table table,
                             rocl_kind kind, const rocl_event *e, rocl_error *err)
{
    return add_row(s, worker, c, table, (const uint64_t[]){(uint64_t)e->end, e->id, kind}, err);
}

/* A call or work with a stack id may be the end of an arrow. */
static rocl_status add_end(v1_sink *s, unsigned worker, const rocl_capture *c, bool work,
                           const rocl_event *e, v1_spot spot, rocl_error *err)
{
    const v1_end end = {spot, e->start, (uint64_t)e->end, e->id};
    if (!e->stack_id)
        return ROCL_OK;
    return rocl_sorter_add(
        s->ends, worker,
        (const uint64_t[]){rocl_link_id(c, e->stack_id), work, (uint64_t)e->start, e->id}, &end,
        sizeof end, err);
}

/* "( kernel(KERNEL) a(v) b({x(1) y(2}))": in structs "=" is "(" and "," is ")". */
static void put_hip_args(rocl_buf *b, const rocl_trace *t, const rocl_arg *args, uint32_t count)
{
    rocl_buf_byte(b, '(');
    for (int kernel = 1; kernel >= 0; kernel--) /* it comes first */
        for (uint32_t i = 0; i < count; i++) {
            const rocl_arg *a = &args[i];
            if ((strcmp(rocl_text(t, a->name, NULL), "kernel") == 0) != kernel)
                continue;
            rocl_buf_byte(b, ' ');
            put_text(b, t, a->name);
            rocl_buf_byte(b, '(');
            const size_t from = b->len;
            rocl_json_put(b, a->value, a->value_len);
            for (size_t k = from; *a->value == '{' && k < b->len; k++)
                b->data[k] = b->data[k] == '=' ? '(' : b->data[k] == ',' ? ')' : b->data[k];
            rocl_buf_byte(b, ')');
        }
    rocl_buf_str(b, count ? ")" : " ))");
}

/* The position of an unnamed argument, from its placeholder "arg2"; SIZE_MAX: it has a name. */
static size_t place_of_arg(const char *name)
{
    char *end;
    const unsigned long place =
        strncmp(name, "arg", 3) || !name[3] ? 0 : strtoul(name + 3, &end, 10);
    return !strncmp(name, "arg", 3) && name[3] && !*end ? place : SIZE_MAX;
}

/* "(v, , v) = returned": arguments have no names, or their place as one. */
static void put_hsa_args(rocl_buf *b, const rocl_trace *t, const rocl_arg *args, uint32_t count)
{
    const rocl_arg *result = NULL;
    size_t place = 0;
    bool named = false;
    rocl_buf_byte(b, '(');
    for (uint32_t i = 0; i < count; i++) {
        const char *name = rocl_text(t, args[i].name, NULL);
        if (!strcmp(name, "ret") || !strcmp(name, "return")) {
            result = &args[i];
            continue;
        }
        const size_t at = place_of_arg(name);
        named |= at == SIZE_MAX;
        do {
            rocl_buf_str(b, place ? ", " : "");
        } while (place++ < at && at != SIZE_MAX);
        rocl_json_put(b, args[i].value, args[i].value_len);
    }
    rocl_buf_byte(b, ')');
    if (result) {
        rocl_buf_str(b, " = ");
        rocl_json_put(b, result->value, result->value_len);
    } else if (place && !named) { /* of rocprof, where 0 is not kept */
        rocl_buf_str(b, " = 0");
    }
}

/* A call, or a range or mark of ROCTx. A mark takes 1 ns; what was started and stopped is on row 0
 * and ends 1 ns later than it did. */
static rocl_status add_region(v1_sink *s, unsigned worker, const rocl_batch *batch, size_t i,
                              rocl_error *err)
{
    const rocl_region *g = &batch->regions[i];
    const rocl_capture *c = batch->capture;
    const rocl_event *e = &g->e;
    v1_worker *w = &s->workers[worker];
    rocl_buf *b = &w->text;
    const rocl_domain domain = rocl_domain_of(s->trace, batch->kind, e->category);
    const int64_t tid = v1_tid_of(c, e->thread);
    const bool mark = batch->kind == ROCL_INSTANT;
    const bool call = batch->kind == ROCL_REGION ||
                      (mark && (domain == ROCL_DOMAIN_HIP || domain == ROCL_DOMAIN_HSA));
    const char *function = rocl_text(s->trace, g->function, NULL);
    const bool started =
        !call && !mark && (strstr(function, "RangeStart") || strstr(function, "ProcessRange"));
    const int64_t end = !call && (mark || started) ? (mark ? e->start : e->end) + 1 : e->end;
    static const v1_table tables[] = {[SECTION_MARKERS] = TABLE_ROCTX,
                                      [SECTION_HIP] = TABLE_HIP,
                                      [SECTION_HSA] = TABLE_HSA,
                                      [SECTION_KFD] = TABLE_KFD,
                                      [SECTION_OTHER] = TABLE_OTHER_CALLS};
    const int section = !call                       ? SECTION_MARKERS
                        : domain == ROCL_DOMAIN_HIP ? SECTION_HIP
                        : domain == ROCL_DOMAIN_HSA ? SECTION_HSA
                        : domain == ROCL_DOMAIN_KFD ? SECTION_KFD
                                                    : SECTION_OTHER;
    const v1_table table = tables[section];
    const int64_t row = row_of(s, c, e->process, tid);
    w->sections[section] = true;
    begin_event(b, s->trace, e, "", section, started ? 0 : row, end);
    put_number_field(b, "BeginNs", e->start);
    put_number_field(b, "EndNs", end);
    put_who(b, s, c, e);
    put_text_field(b, "Name", s->trace, e->name == ROCL_NONE ? 0 : e->name);
    if (call) {
        begin_field(b, "args");
        if (s->trace->opt.args) {
            const rocl_arg *args = g->arg_count ? batch->args + g->arg_first : NULL;
            for (uint32_t k = 0; k < g->arg_count; k++)
                rocl_trace_note_text(s->trace, args[k].value, args[k].value_len);
            (table == TABLE_HSA ? put_hsa_args : put_hip_args)(b, s->trace, args, g->arg_count);
        }
        rocl_buf_byte(b, '"');
        if (table == TABLE_OTHER_CALLS)
            put_text_field(b, "Domain", s->trace, e->category);
        rocl_buf_str(b, ",\n    \"Data\":\"\"");
        put_number_field(b, "DurationNs", end - e->start);
    }
    end_event(b);
    rocl_status st = add_event(s, worker, c, table, batch->kind, e, err);
    const uint64_t middle = (uint64_t)(e->start / 1000 + (end - e->start) / 1000 / 2);
    return st || !call ? st : add_end(s, worker, c, false, e, (v1_spot){section, row, middle}, err);
}

/* Work in the form of the table OPS or COPY: on the row of its stream. */
static rocl_status add_op(v1_sink *s, unsigned worker, const rocl_batch *batch, const rocl_event *e,
                          uint32_t agent, uint32_t queue, uint32_t stream, rocl_error *err)
{
    const rocl_capture *c = batch->capture;
    v1_worker *w = &s->workers[worker];
    rocl_buf *b = &w->text;
    const bool copy = batch->kind == ROCL_COPY;
    const int64_t device = v1_device_of(c, agent);
    const int64_t gpu = section_of_gpu(s, c, agent);
    const int64_t section = copy ? SECTION_COPY : SECTION_GPU + gpu;
    /* Copies of HSA have neither: they are on the row of the thread that called. */
    const int64_t number = stream < c->stream_count ? c->streams[stream].id
                           : copy && device < 0     ? v1_tid_of(c, e->thread)
                                                    : 0;
    const int64_t row = row_of(s, c, e->process, number);
    if (!copy && gpu < GPUS_LABELLED)
        w->gpus[gpu] = true;
    begin_event(b, s->trace, e, "", section, row, e->end);
    put_number_field(b, "BeginNs", e->start);
    put_number_field(b, "EndNs", e->end);
    if (device >= 0)
        put_number_field(b, "dev-id", device);
    if (queue < c->queue_count)
        put_number_field(b, "queue-id", c->queues[queue].id);
    put_text_field(b, "Name", s->trace, e->name == ROCL_NONE ? 0 : e->name);
    put_who(b, s, c, e);
    if (stream < c->stream_count)
        put_number_field(b, "stream-id", number);
    rocl_buf_str(b, ",\n    \"Data\":\"\"");
    put_number_field(b, "DurationNs", e->end - e->start);
    end_event(b);
    rocl_status st = add_event(s, worker, c, copy ? TABLE_COPY : TABLE_OPS, batch->kind, e, err);
    const v1_spot spot = {section, row, (uint64_t)(e->start / 1000)};
    return st ? st : add_end(s, worker, c, true, e, spot, err);
}

/* "MEMORY_COPY_HOST_TO_DEVICE" is CopyHostToDevice here. */
static uint32_t copy_name(const v1_sink *s, uint32_t name)
{
    static const struct {
        const char *from, *to;
    } names[] = {{"MEMORY_COPY_HOST_TO_DEVICE", "CopyHostToDevice"},
                 {"MEMORY_COPY_DEVICE_TO_HOST", "CopyDeviceToHost"},
                 {"MEMORY_COPY_DEVICE_TO_DEVICE", "CopyDeviceToDevice"},
                 {"MEMORY_COPY_HOST_TO_HOST", "CopyHostToHost"}};
    const char *text = rocl_text(s->trace, name, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i].from))
            return rocl_strings_put(s->trace->strings, names[i].to, strlen(names[i].to));
    return name;
}

static rocl_status add_copy(v1_sink *s, unsigned worker, const rocl_batch *batch, size_t i,
                            rocl_error *err)
{
    const rocl_copy *r = &batch->copies[i];
    const rocl_capture *c = batch->capture;
    const bool to_gpu = r->dst < c->agent_count && c->agents[r->dst].type == ROCL_AGENT_GPU;
    rocl_event e = r->e;
    e.name = copy_name(s, e.name);
    return add_op(s, worker, batch, &e, to_gpu || r->src == ROCL_NONE ? r->dst : r->src, r->queue,
                  r->stream, err);
}

static rocl_status add_dispatch(v1_sink *s, unsigned worker, const rocl_batch *batch, size_t i,
                                rocl_error *err)
{
    const rocl_dispatch *d = &batch->dispatches[i];
    const rocl_capture *c = batch->capture;
    const rocl_event *e = &d->e;
    const rocl_kernel *k = d->kernel < c->kernel_count ? &c->kernels[d->kernel] : NULL;
    const rocl_packet *p = d->packet ? &batch->packets[d->packet - 1] : NULL;
    const char *suffix = v1_kernel_suffix(s->trace, k, e->name);
    v1_worker *w = &s->workers[worker];
    rocl_buf *b = &w->text;
    if (!c->counter_count && (d->stream < c->stream_count || !d->workgroup[0]))
        return add_op(s, worker, batch, e, d->agent, d->queue, d->stream, err);
    const int64_t device = v1_device_of(c, d->agent), gpu = section_of_gpu(s, c, d->agent);
    const v1_spot spot = {SECTION_GPU + gpu, row_of(s, c, e->process, v1_tid_of(c, e->thread)),
                          (uint64_t)(e->start / 1000)};
    const struct {
        const char *name;
        int64_t value;
    } fields[] = {{"grd", v1_multiply_sizes(d->grid)},
                  {"wgr", v1_multiply_sizes(d->workgroup)},
                  {"lds", d->group_segment},
                  {"scr", d->private_segment},
                  {"arch_vgpr", k ? k->arch_vgpr : 0},
                  {"accum_vgpr", k ? k->accum_vgpr : 0},
                  {"sgpr", k ? k->sgpr : 0}};
    if (gpu < GPUS_LABELLED)
        w->gpus[gpu] = true;
    begin_event(b, s->trace, e, suffix, spot.pid, spot.tid, e->end);
    begin_field(b, "KernelName");
    put_text(b, s->trace, e->name == ROCL_NONE ? 0 : e->name);
    rocl_buf_str(b, suffix);
    rocl_buf_byte(b, '"');
    if (device >= 0)
        put_number_field(b, "gpu-id", device);
    if (d->queue < c->queue_count)
        put_number_field(b, "queue-id", c->queues[d->queue].id);
    if (d->stream < c->stream_count)
        put_number_field(b, "stream-id", c->streams[d->stream].id);
    if (p && p->known & ROCL_PACKET_INDEX)
        put_number_field(b, "queue-index", (int64_t)p->queue_index);
    put_who(b, s, c, e);
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        put_number_field(b, fields[f].name, fields[f].value);
    if (p && p->known & ROCL_PACKET_WAVE_SIZE)
        put_number_field(b, "wave_size", p->wave_size);
    if (p && p->known & ROCL_PACKET_SIGNAL)
        put_handle_field(b, "sig", p->signal);
    if (p && p->known & ROCL_PACKET_OBJECT)
        put_handle_field(b, "obj", p->object);
    uint64_t key[3] = {e->id, 0, 0};
    rocl_status st = add_row(s, worker, c, TABLE_KERN, key, err);
    b->len = 0;
    if (p && p->known & ROCL_PACKET_TIMES)
        put_number_field(b, "DispatchNs", (int64_t)((uint64_t)e->start - (uint64_t)p->before));
    put_number_field(b, "BeginNs", e->start);
    put_number_field(b, "EndNs", e->end);
    if (p && p->known & ROCL_PACKET_TIMES)
        put_number_field(b, "CompleteNs", (int64_t)((uint64_t)e->end + (uint64_t)p->after));
    put_number_field(b, "DurationNs", e->end - e->start);
    end_event(b);
    key[2] = KERN_END;
    if (st == ROCL_OK)
        st = add_row(s, worker, c, TABLE_KERN, key, err);
    return st ? st : add_end(s, worker, c, true, e, spot, err);
}

static rocl_status add_counter(v1_sink *s, unsigned worker, const rocl_batch *batch, size_t i,
                               rocl_error *err)
{
    const rocl_capture *c = batch->capture;
    const rocl_counter_value *v = &batch->counters[i];
    rocl_buf *b = &s->workers[worker].text;
    b->len = 0;
    rocl_buf_str(b, ",\n    \"");
    put_text(b, s->trace, v->counter < c->counter_count ? c->counters[v->counter].name : 0);
    rocl_buf_str(b, "\":\"");
    rocl_buf_double(b, v->value);
    rocl_buf_byte(b, '"');
    return add_row(s, worker, c, TABLE_KERN,
                   (const uint64_t[]){v->d.e.id, 0, KERN_COUNTERS + v->counter}, err);
}

static rocl_status add_barrier(v1_sink *s, unsigned worker, const rocl_batch *batch, size_t i,
                               rocl_error *err)
{
    const rocl_hip *h = &batch->hips[i];
    static const char name[] = "<barrier packet>";
    const char *own = rocl_text(s->trace, h->e.name, NULL);
    rocl_event e = h->e;
    if (strncmp(own, "Marker", 6) != 0 && strncmp(own, "Barrier", 7) != 0)
        e.name = rocl_strings_put(s->trace->strings, name, sizeof name - 1);
    return add_op(s, worker, batch, &e, h->agent, h->queue, h->stream, err);
}

/* Kinds without one have no place in the file. */
static rocl_status (*const adders[ROCL_KINDS])(v1_sink *s, unsigned worker, const rocl_batch *b,
                                               size_t i, rocl_error *err) = {
    [ROCL_REGION] = add_region,     [ROCL_MARKER] = add_region, [ROCL_INSTANT] = add_region,
    [ROCL_DISPATCH] = add_dispatch, [ROCL_COPY] = add_copy,     [ROCL_COUNTER] = add_counter,
    [ROCL_BARRIER] = add_barrier};

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    v1_sink *s = self;
    rocl_status st = ROCL_OK;
    if (!adders[b->kind])
        s->workers[worker].left_out += b->count;
    for (size_t i = 0; adders[b->kind] && i < b->count && st == ROCL_OK; i++)
        st = adders[b->kind](s, worker, b, i, err);
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    v1_sink *s = self;
    rocl_status st = rocl_sorter_seal(s->rows, worker, err);
    return st ? st : rocl_sorter_seal(s->ends, worker, err);
}

/* ---- arrows ---------------------------------------------------------------------------------- */

/* The first call with the stack id of the work launched it, unless it began later. */
static rocl_status add_flows(v1_sink *s, rocl_error *err)
{
    v1_end call = {0};
    uint64_t link = 0;
    bool have = false;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(s->ends, err);
    while (rocl_sorter_take(s->ends, &rec, &st, err)) {
        v1_end end;
        memcpy(&end, rec.data, sizeof end);
        have = have && rec.key[0] == link;
        link = rec.key[0];
        if (!rec.key[1] && !have) {
            call = end;
            have = true;
        } else if (rec.key[1] && have && end.start >= call.start) {
            v1_flow flow = {call.spot, end.spot};
            if (flow.from.time > flow.to.time)
                flow.from.time = flow.to.time;
            st = rocl_sorter_add(
                s->rows, 0,
                (const uint64_t[]){(uint64_t)TABLE_FLOWS << 32, end.row_end, end.id, link}, &flow,
                sizeof flow, err);
        }
    }
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* place: where it is, "" unless there are several machines. */
static void put_label(rocl_buf *b, const char *name, int64_t number, const char *place, int64_t pid,
                      unsigned *sort)
{
    rocl_buf_printf(b, ",{\"args\":{\"name\":\"%s", name);
    if (number >= 0)
        rocl_buf_i64(b, number);
    rocl_json_put(b, place, strlen(place));
    rocl_buf_printf(
        b, "\"},\"ph\":\"M\",\"pid\":%" PRId64 ",\"name\":\"process_name\",\"sort_index\":%u}\n",
        pid, (*sort)++);
}

/* Every GPU up to the last one with work has a row, as rocprof does it. */
static void put_labels(v1_sink *s, rocl_buf *b)
{
    static const struct {
        const char *name;
        int section;
    } rows[] = {{"Markers and Ranges", SECTION_MARKERS},
                {"CPU HIP API", SECTION_HIP},
                {"CPU HSA API", SECTION_HSA},
                {"CPU KFD API", SECTION_KFD},
                {"COPY", SECTION_COPY},
                {"CPU API", SECTION_OTHER}};
    bool sections[SECTION_GPU] = {[SECTION_COPY] = true};
    unsigned sort = 0, gpus = 0;
    for (unsigned i = 0; i < s->trace->opt.jobs; i++) {
        const v1_worker *w = &s->workers[i];
        for (unsigned k = 0; k < SECTION_GPU; k++)
            sections[k] |= w->sections[k];
        s->report.left_out += w->left_out;
        for (unsigned g = 0; g < GPUS_LABELLED; g++)
            gpus = w->gpus[g] && g >= gpus ? g + 1 : gpus;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (sections[rows[i].section])
            put_label(b, rows[i].name, -1, "", rows[i].section, &sort);
    for (unsigned i = 0; i < gpus; i++) {
        const rocl_gpu *g =
            s->apart.machines && i < s->trace->gpu_count ? &s->trace->gpus[i] : NULL;
        const char *place = g ? rocl_machine_place(s->trace, g->machine) : "";
        const int64_t number = g ? g->id : i;
        put_label(b, "GPU", number, place, SECTION_GPU + i, &sort);
        put_label(b, "GPU Barriers", number, place, SECTION_GPU + i + BARRIERS, &sort);
    }
}

/* Puts the rows in the order of the file. Pieces of a row of KERN whose begin did not pass the
 * filters are left out with it. */
static rocl_status put_rows(v1_sink *s, rocl_error *err)
{
    uint64_t flows = 0, kern[2] = {UINT64_MAX};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(s->rows, err);
    while (rocl_sorter_take(s->rows, &rec, &st, err)) {
        rocl_buf *b = rocl_piped_buf(&s->file);
        const uint64_t table = rec.key[0] >> 32;
        if (table == TABLE_FLOWS) {
            v1_flow f;
            memcpy(&f, rec.data, sizeof f);
            for (unsigned end = 0; end < 2; end++) {
                const v1_spot *at = end ? &f.to : &f.from;
                rocl_buf_str_i64(b, ",{\"ts\":", (int64_t)at->time);
                rocl_buf_str(b, end ? ",\"ph\":\"t\"" : ",\"ph\":\"s\"");
                rocl_buf_str_i64(b, ",\"cat\":\"DataFlow\",\"id\":", (int64_t)flows);
                rocl_buf_str_i64(b, ",\"pid\":", at->pid);
                rocl_buf_str_i64(b, ",\"tid\":", at->tid);
                rocl_buf_str(b, ",\"name\":\"dep\"}\n");
            }
            flows++;
        } else {
            if (table == TABLE_KERN && !rec.key[3])
                memcpy(kern, rec.key, sizeof kern);
            if (table == TABLE_KERN && memcmp(kern, rec.key, sizeof kern) != 0) {
                s->report.left_out++;
                continue;
            }
            s->report.slices += table != TABLE_KERN || !rec.key[3];
            s->report.values += table == TABLE_KERN && rec.key[3] && rec.key[3] != KERN_END;
            rocl_buf_put(b, rec.data, rec.len);
        }
        st = rocl_piped_end_row(&s->file, s->trace, err);
    }
    return st;
}

/* Who is who: rocprof has no place for it, and reads no members that it does not know. */
static void put_processes(v1_sink *s, rocl_buf *b)
{
    const rocl_trace *t = s->trace;
    const char *before = ",\n    \"rocline\": {\"processes\": [\n";
    for (size_t i = 0; i < t->capture_count; i++)
        for (uint32_t k = 0; k < t->captures[i]->pub.process_count; k++) {
            const rocl_capture *c = &t->captures[i]->pub;
            const rocl_process *p = &c->processes[k];
            const rocl_machine *m = rocl_machine_at(c, k);
            rocl_buf_printf(b, "%s      {\"pid\":%" PRId64, before, p->pid);
            if (s->apart.guids)
                rocl_buf_printf(b, ",\"guid\":\"%" PRIu32 "\"", s->apart.first[i] + k);
            if (p->rank >= 0)
                rocl_buf_printf(b, ",\"rank\":%" PRId32, p->rank);
            if (m) {
                rocl_buf_printf(b, ",\"machine\":%zu", (size_t)(m - t->machines));
                put_named_text(b, "hostname", t, m->hostname);
                put_named_text(b, "machine_id", t, m->machine_id);
            }
            /* ,"gpus":[...] of a process: those of which more is known than their number. */
            const char *before_gpu = ",\"gpus\":[";
            for (uint32_t n = 0; n < c->agent_count; n++) {
                const rocl_agent *a = &c->agents[n];
                const bool own = a->process < c->process_count
                                     ? a->process == k
                                     : a->machine == rocl_machine_of(c, k);
                const bool counted = a->type_index >= 0 && a->type_index != v1_device_of(c, n);
                if (!own || a->type != ROCL_AGENT_GPU || (!a->uuid && !a->pci && !counted))
                    continue;
                rocl_buf_printf(b, "%s{\"id\":%" PRId64, before_gpu, v1_device_of(c, n));
                if (counted)
                    rocl_buf_printf(b, ",\"index\":%" PRId64, a->type_index);
                put_named_text(b, "uuid", c->trace, a->uuid);
                put_named_text(b, "pci", c->trace, a->pci);
                rocl_buf_byte(b, '}');
                before_gpu = ",";
            }
            rocl_buf_str(b, before_gpu[1] ? "" : "]");
            rocl_buf_byte(b, '}');
            before = ",\n";
        }
    rocl_buf_str(b, *before == ',' && before[2] ? "" : "\n    ]}");
}

static rocl_status write_all(v1_sink *s, rocl_error *err)
{
    rocl_status st = add_flows(s, err);
    if (st != ROCL_OK)
        return st;
    rocl_progress_phase(s->trace, "writing", rocl_sorter_count(s->rows));
    rocl_buf *b = rocl_piped_buf(&s->file);
    rocl_buf_str(b, "{ \"traceEvents\":[{}\n");
    put_labels(s, b);
    st = put_rows(s, err);
    b = rocl_piped_buf(&s->file);
    rocl_buf_str(b, "],\n\"otherData\": {\n    \"generator\": \"rocline " ROCLINE_VERSION "\"");
    put_processes(s, b);
    rocl_buf_str(b, "\n  }\n}");
    return st ? st : rocl_piped_commit(&s->file, s->trace, &s->report.bytes, err);
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool number_processes(v1_sink *s)
{
    const rocl_trace *t = s->trace;
    rocl_map pids = {0};
    uint32_t next = 1;
    bool ok = (s->apart.first = calloc(t->capture_count + 1, sizeof *s->apart.first));
    for (size_t i = 0; i < t->capture_count && ok; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        s->apart.first[i] = next;
        next += c->process_count;
        for (uint32_t k = 0; k < c->process_count && ok; k++) {
            const uint64_t pid = (uint64_t)c->processes[k].pid;
            s->apart.guids |= rocl_map_get(&pids, pid, 0) != 0;
            ok = rocl_map_put(&pids, pid, 1);
        }
    }
    s->apart.machines = t->machine_count > 1;
    rocl_map_free(&pids);
    return ok;
}

rocl_status rocl_write_rocprof_json(rocl_trace *t, const rocl_json_options *o, rocl_written *report,
                                    rocl_error *err)
{
    v1_sink s = {.trace = t, .opt = o};
    const rocl_sink sink = {.self = &s,
                            .kinds = ROCL_ALL_KINDS,
                            .no_place_for = ROCL_BIT(ROCL_FLOW),
                            .output = "rocprof's JSON",
                            .fields = ROCL_ALL_FIELDS,
                            .events = add_events,
                            .end_task = end_task};
    s.rows = rocl_sorter_new(t->space, 4);
    s.ends = rocl_sorter_new(t->space, 4);
    s.workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *s.workers);
    const bool good = s.rows && s.ends && s.workers && number_processes(&s);
    rocl_status st =
        good ? rocl_piped_open_text(&s.file, o->path, o->gzip, o->level, t->opt.jobs, err)
             : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = write_all(&s, err);
    for (unsigned i = 0; s.workers && i < t->opt.jobs; i++)
        rocl_buf_free(&s.workers[i].text);
    free(s.workers);
    free(s.apart.first);
    rocl_sorter_free(s.rows);
    rocl_sorter_free(s.ends);
    rocl_piped_discard(&s.file);
    if (st == ROCL_OK && s.report.left_out)
        rocl_notice(t,
                    "%" PRIu64 " event%s left out: results.json of rocprof has no place for "
                    "allocations, samples, graphs and values without a dispatch",
                    s.report.left_out, s.report.left_out == 1 ? "" : "s");
    if (report)
        *report = s.report;
    return st ? st : rocl_trace_outcome_utf8(t);
}
