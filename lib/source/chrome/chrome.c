/* Chrome's trace JSON: an array of events, alone or in an object. Kineto, PyTorch's profiler,
 * writes it with categories and arguments of its own; they tell GPU work from host calls.
 *
 *     outline of the file -> blocks of events, parsed side by side as records (source/records)
 *     members before and behind the events: base time, rank, names of devices; no other is read
 *
 * Times are decimal microseconds, turned into nanoseconds exactly. */
#include "source/chrome/chrome.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_index.h"
#include "base/map.h"
#include "source/chrome/callers.h"
#include "source/chrome/xla.h"
#include "source/records/records.h"

/* How events of a category are read. */
typedef enum event_class {
    CLASS_CALL,    /* a host region of the category's name */
    CLASS_RUNTIME, /* a call of HIP or CUDA */
    CLASS_MARKER,
    CLASS_KERNEL,
    CLASS_COPY,
    CLASS_SYNC,    /* a queue waits */
    CLASS_MEMORY,  /* an instant about an allocation */
    CLASS_DERIVED, /* made of others, or about the profiler: left out */
} event_class;

enum { GPUS_MAX = 64, CATEGORIES = 64 };

/* A sampled counter, behind which stands the number of the device. */
#define RESERVED_MEMORY "Total Reserved of GPU "

/* Which arrows begin, and which end, as a worker has seen it. */
typedef struct chrome_flows {
    alignas(ROCL_CACHE_LINE) rocl_idset begun;
    rocl_idset ended;
} chrome_flows;

/* What an operator says of the collective that it runs. */
typedef struct chrome_collective {
    uint64_t where; /* of the operator */
    uint32_t args;  /* text: an object of JSON */
} chrome_collective;

typedef struct chrome_file {
    rocl_json_index index;
    unsigned flags; /* of the JSON reader */
    bool kineto;    /* PyTorch's profiler wrote it: one process */
    int64_t base;   /* ns, added to all times */
    int64_t rank;   /* -1: not said */
    uint32_t device_names[64];
    size_t devices;
    xla_rows xla;
    chrome_flows *flows;                            /* by worker, of the first pass */
    uint32_t kernel, copy, hip, marker, allocation; /* texts */
    pthread_mutex_t lock;      /* of what follows, which is only read in the second pass */
    rocl_idset work_items;     /* correlations of launches whose grid counts work-items */
    rocl_map collective_index; /* number of an operator, mixed -> collective */
    chrome_collective *collectives;
    size_t collective_count, collective_cap;
    chrome_callers callers;
    uint64_t gpus[GPUS_MAX]; /* numbers of the GPUs, ascending, after the first pass */
    size_t gpu_count;
} chrome_file;

/* Of several names the engine takes that of the first place. */
#define LAST_PLACE (((uint64_t)1 << 44) - 1)

/* What a member is that the event does not have. */
#define NOTHING                                                                                    \
    {                                                                                              \
        "", 0                                                                                      \
    }

/* An event as it stands in the file. */
typedef struct chrome_event {
    rocl_view ph, cat, name, id, scope;
    rocl_json_token pid, tid;
    rocl_view ts, dur;
    rocl_view bp, bind; /* of flows: "e"; of a whole event: the number of its arrows */
    bool has_ts, has_dur, name_escaped, flow_in, flow_out;
} chrome_event;

/* The arguments that are looked at. */
typedef struct chrome_args {
    uint64_t correlation, device, stream, bytes;
    uint32_t grid[3], block[3];
    bool has_grid;
    int64_t shared;
    rocl_view name; /* of M: the name */
    bool name_escaped;
    int64_t memory; /* of [memory]: bytes, negative of a free */
    uint64_t address, device_type, device_id;
    uint64_t reserved; /* of [memory]: bytes that the allocator has of the device */
} chrome_args;

typedef struct chrome_worker {
    rocl_buf bytes;   /* the block */
    rocl_buf text[2]; /* unescaped */
    rocl_json r;
    rocl_json args; /* where the arguments of the event are */
    bool has_args;
    chrome_callers_worker callers;
} chrome_worker;

static void free_worker(void *state)
{
    chrome_worker *w = state;
    rocl_buf_free(&w->bytes);
    rocl_buf_free(&w->text[0]);
    rocl_buf_free(&w->text[1]);
    chrome_callers_worker_free(&w->callers);
    free(w);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static event_class class_of(rocl_view cat, rocl_view name)
{
    static const struct {
        rocl_view cat;
        event_class c;
    } classes[] = {{ROCL_JSON_KEY("cpu_op"), CLASS_CALL}, /* the most frequent ones first */
                   {ROCL_JSON_KEY("python_function"), CLASS_CALL},
                   {ROCL_JSON_KEY("cuda_runtime"), CLASS_RUNTIME},
                   {ROCL_JSON_KEY("kernel"), CLASS_KERNEL},
                   {ROCL_JSON_KEY("gpu_memcpy"), CLASS_COPY},
                   {ROCL_JSON_KEY("gpu_memset"), CLASS_COPY},
                   {ROCL_JSON_KEY("cuda_driver"), CLASS_RUNTIME},
                   {ROCL_JSON_KEY("hip_runtime"), CLASS_RUNTIME},
                   {ROCL_JSON_KEY("user_annotation"), CLASS_MARKER},
                   {ROCL_JSON_KEY("gpu_user_annotation"), CLASS_DERIVED},
                   {ROCL_JSON_KEY("Trace"), CLASS_DERIVED},
                   {ROCL_JSON_KEY("cuda_sync"), CLASS_SYNC},
                   {ROCL_JSON_KEY("cpu_instant_event"), CLASS_MEMORY},
                   /* before PyTorch 1.13 */
                   {ROCL_JSON_KEY("Kernel"), CLASS_KERNEL},
                   {ROCL_JSON_KEY("Memcpy"), CLASS_COPY},
                   {ROCL_JSON_KEY("Memset"), CLASS_COPY},
                   {ROCL_JSON_KEY("Runtime"), CLASS_RUNTIME}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (cat.n == classes[i].cat.n && !memcmp(cat.p, classes[i].cat.p, cat.n)) {
            const bool copy = classes[i].c == CLASS_KERNEL &&
                              ((name.n >= 23 && !memcmp(name.p, "__amd_rocclr_copyBuffer", 23)) ||
                               (name.n > 12 && !memcmp(name.p, "MEMORY_COPY_", 12)));
            return copy ? CLASS_COPY : classes[i].c;
        }
    return !cat.n && rocl_view_is(name, "[memory]") ? CLASS_MEMORY : CLASS_CALL; /* PyTorch 1.9 */
}

static rocl_view unescape_text(rocl_buf *b, rocl_view text, bool escaped)
{
    if (!escaped)
        return text;
    b->len = 0;
    rocl_json_unescape(b, text);
    return (rocl_view){(const char *)b->data, b->len};
}

/* A number as it is, a text as a key above all numbers of processes and threads. */
static uint64_t key_of(rocl_records *to, const rocl_json_token *t)
{
    uint64_t number;
    int64_t negative;
    if (t->kind != ROCL_JSON_NUMBER && t->kind != ROCL_JSON_STRING)
        return ROCL_NO_KEY;
    if (rocl_json_uint(t->text, &number) && number < ROCL_KEY_OF_TEXT)
        return number;
    if (rocl_json_int(t->text, &negative)) /* as of rows that are no threads */
        return (uint64_t)negative & (ROCL_KEY_OF_TEXT - 1);
    return t->text.n ? ROCL_KEY_OF_TEXT | rocl_records_text(to, t->text) : ROCL_NO_KEY;
}

/* The number of no process or thread. */
static bool is_negative(const rocl_json_token *t)
{
    return t->text.n && *t->text.p == '-';
}

static void read_dimensions(rocl_json *r, uint32_t to[3])
{
    rocl_json_token v;
    if (!rocl_json_enter(r, ROCL_JSON_ARRAY))
        return;
    for (int i = 0; rocl_json_element(r, &v); i++) {
        uint64_t n;
        if (i < 3 && rocl_json_uint(v.text, &n) && n <= UINT32_MAX)
            to[i] = (uint32_t)n;
    }
}

static void read_args(rocl_json *r, chrome_args *a)
{
    enum {
        CORRELATION,
        DEVICE,
        STREAM,
        GRID,
        BLOCK,
        BYTES,
        SIZE,
        SHARED,
        NAME,
        ADDR,
        MEMORY,
        DEVICE_TYPE,
        DEVICE_ID,
        RESERVED,
        KEYS
    };
    static const rocl_view keys[KEYS] = {[CORRELATION] = ROCL_JSON_KEY("correlation"),
                                         [DEVICE] = ROCL_JSON_KEY("device"),
                                         [STREAM] = ROCL_JSON_KEY("stream"),
                                         [GRID] = ROCL_JSON_KEY("grid"),
                                         [BLOCK] = ROCL_JSON_KEY("block"),
                                         [BYTES] = ROCL_JSON_KEY("bytes"),
                                         [SIZE] = ROCL_JSON_KEY("size"),
                                         [SHARED] = ROCL_JSON_KEY("shared memory"),
                                         [NAME] = ROCL_JSON_KEY("name"),
                                         [ADDR] = ROCL_JSON_KEY("Addr"),
                                         [MEMORY] = ROCL_JSON_KEY("Bytes"),
                                         [DEVICE_TYPE] = ROCL_JSON_KEY("Device Type"),
                                         [DEVICE_ID] = ROCL_JSON_KEY("Device Id"),
                                         [RESERVED] = ROCL_JSON_KEY("Total Reserved")};
    rocl_json_token v;
    for (int key; (key = rocl_json_member(r, keys, KEYS, &v)) >= 0;) {
        uint64_t *number = key == CORRELATION            ? &a->correlation
                           : key == DEVICE               ? &a->device
                           : key == STREAM               ? &a->stream
                           : key == BYTES || key == SIZE ? &a->bytes
                           : key == ADDR                 ? &a->address
                           : key == DEVICE_TYPE          ? &a->device_type
                           : key == DEVICE_ID            ? &a->device_id
                           : key == RESERVED             ? &a->reserved
                                                         : NULL;
        uint64_t n;
        int64_t i;
        if (number && rocl_json_uint(v.text, &n)) {
            *number = n;
        } else if (key == GRID) {
            a->has_grid = true;
            read_dimensions(r, a->grid);
        } else if (key == BLOCK) {
            read_dimensions(r, a->block);
        } else if (key == SHARED && rocl_json_int(v.text, &i)) {
            a->shared = i;
        } else if (key == MEMORY && rocl_json_int(v.text, &i)) {
            a->memory = i;
        } else if (key == NAME && v.kind == ROCL_JSON_STRING) {
            a->name = v.text;
            a->name_escaped = v.escaped;
        }
    }
}

/* Arguments of kernels that are known otherwise. */
static bool is_part_of_dispatch(rocl_view key)
{
    static const char *const keys[] = {"device",         "stream",        "correlation",
                                       "grid",           "block",         "shared memory",
                                       "kernel_details", "correlation_id"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (rocl_view_is(key, keys[i]))
            return true;
    return false;
}

/* All arguments as they stand there, as those of the next record. */
static void pass_args(rocl_records *to, chrome_worker *w, rocl_json r, rocl_kind kind_of_record)
{
    static const rocl_view any_type = ROCL_JSON_KEY(""), string_type = ROCL_JSON_KEY("string");
    rocl_json_token key, v;
    while (rocl_json_next(&r, &key) == ROCL_JSON_KEY) {
        rocl_json_kind kind = rocl_json_next(&r, &v);
        if (kind == ROCL_JSON_OBJECT || kind == ROCL_JSON_ARRAY) {
            rocl_json_leave(&r);
            v.text.n = (size_t)(r.at - v.text.p);
        }
        if (r.wrong) /* what was skipped so far is looked at only now */
            return;
        if (kind_of_record == ROCL_DISPATCH && is_part_of_dispatch(key.text))
            continue;
        const rocl_view name = unescape_text(&w->text[0], key.text, key.escaped);
        const bool text = kind == ROCL_JSON_STRING;
        rocl_record_typed_arg(to, text ? string_type : any_type, name,
                              unescape_text(&w->text[1], v.text, text && v.escaped));
    }
}

/* ---- records --------------------------------------------------------------------------------- */

/* After the first pass: is it known whose work it is? */
static rocl_status learn_callers(rocl_records_input *in, bool *again, rocl_error *err)
{
    chrome_file *f = in->state;
    return chrome_learn_callers(&f->callers, in, again, err);
}

/* GPU work names its device and stream; for its process see callers.h. */
static void place_work(rocl_source_record *r, const chrome_event *e, const chrome_args *a)
{
    uint64_t pid, tid;
    r->agent = a->device;
    r->stream = a->stream;
    if (r->agent == ROCL_NO_KEY && rocl_json_uint(e->pid.text, &pid))
        r->agent = pid;
    if (r->stream == ROCL_NO_KEY && rocl_json_uint(e->tid.text, &tid))
        r->stream = tid;
    r->queue = r->stream;
    r->process = r->thread = ROCL_NO_KEY;
}

static void make_dispatch(rocl_source_record *r, const chrome_file *f, const chrome_event *e,
                          const chrome_args *a)
{
    rocl_dispatch *d = &r->as.dispatch;
    r->kind = ROCL_DISPATCH;
    d->e.category = f->kernel;
    d->group_segment = a->shared;
    memcpy(d->workgroup, a->block, sizeof d->workgroup);
    memcpy(d->grid, a->grid, sizeof d->grid); /* see complete_record() */
    place_work(r, e, a);
}

static void make_copy(rocl_source_record *r, const chrome_file *f, const chrome_event *e,
                      const chrome_args *a)
{
    static const struct {
        const char *word;
        bool src, dst;
    } ends[] = {{"HtoD", false, true},
                {"DtoH", true, false},
                {"DtoD", true, true},
                {"HOST_TO_DEVICE", false, true},
                {"DEVICE_TO_HOST", true, false},
                {"DEVICE_TO_DEVICE", true, true},
                {"PtoP", true, true}};
    r->kind = ROCL_COPY;
    r->as.e.category = f->copy;
    r->as.copy.size = a->bytes == ROCL_NO_KEY ? 0 : a->bytes;
    place_work(r, e, a);
    r->dst = r->agent;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (memmem(e->name.p, e->name.n, ends[i].word, strlen(ends[i].word))) {
            r->src = ends[i].src ? r->agent : ROCL_NO_KEY;
            r->dst = ends[i].dst ? r->agent : ROCL_NO_KEY;
        }
}

/* PyTorch's allocator: bytes are negative where they are given back. */
static void make_allocation(rocl_source_record *r, const chrome_file *f, const chrome_args *a)
{
    rocl_alloc *m = &r->as.alloc;
    r->kind = ROCL_ALLOC;
    r->name = a->memory < 0 ? (rocl_view){"MEMORY_ALLOCATION_FREE", 22}
                            : (rocl_view){"MEMORY_ALLOCATION_ALLOCATE", 26};
    m->e.category = f->allocation;
    m->op = a->memory < 0 ? ROCL_OP_FREE : ROCL_OP_ALLOC;
    m->level = ROCL_LEVEL_REAL;
    m->size = (uint64_t)(a->memory < 0 ? -a->memory : a->memory);
    m->address = a->address == ROCL_NO_KEY ? 0 : a->address;
    /* 1: CUDA, which ROCm's builds call themselves; 6: HIP, which they call their memory */
    if ((a->device_type == 1 || a->device_type == 6) && r->half == ROCL_WHOLE &&
        a->device_id < GPUS_MAX)
        r->id = a->device_id + 1; /* see complete_record() */
}

/* What the allocator has of a GPU: more than is allocated, as it keeps what is given back. */
static rocl_status put_reserved(rocl_records *to, const rocl_source_record *allocation,
                                const chrome_args *a, rocl_error *err)
{
    rocl_source_record r;
    char name[64];
    if (a->reserved == ROCL_NO_KEY || (a->device_type != 1 && a->device_type != 6) ||
        a->device_id >= GPUS_MAX || allocation->half != ROCL_WHOLE)
        return ROCL_OK;
    rocl_record_begin(&r, ROCL_SAMPLE, allocation->where);
    const int n = snprintf(name, sizeof name, RESERVED_MEMORY "%" PRIu64, a->device_id);
    r.counter = (rocl_view){name, (size_t)n};
    r.process = allocation->process;
    r.as.e.start = r.as.e.end = allocation->as.e.start;
    r.as.sample.xcc = r.as.sample.shader_engine = r.as.sample.instance = -1;
    r.as.sample.shader_array = r.as.sample.wgp = -1;
    r.as.sample.value = (double)a->reserved;
    return rocl_record_put(to, &r, err);
}

/* Launches that give their grid in work-items, where others give it in groups. */
static bool note_work_items(chrome_file *f, rocl_view name, uint64_t correlation)
{
    if (correlation == ROCL_NO_KEY || !rocl_view_is(name, "hipExtModuleLaunchKernel"))
        return true;
    pthread_mutex_lock(&f->lock);
    const bool ok = rocl_idset_add(&f->work_items, correlation);
    pthread_mutex_unlock(&f->lock);
    return ok;
}

/* When all launches and GPUs are known: grids in work-items, GPUs of allocations. */
static rocl_status complete_record(rocl_records *to, rocl_plain_record *r, rocl_error *err)
{
    const chrome_file *f = rocl_records_input_of(to)->state;
    (void)err;
    if (r->kind == ROCL_DISPATCH &&
        (r->link == ROCL_NO_KEY || !rocl_idset_has(&f->work_items, r->link)))
        for (int i = 0; i < 3; i++)
            r->as.dispatch.grid[i] *= r->as.dispatch.workgroup[i];
    if (r->kind == ROCL_ALLOC && r->half == ROCL_WHOLE && r->id && r->id <= f->gpu_count)
        r->agent = f->gpus[r->id - 1];
    return ROCL_OK;
}

/* Arguments are skipped by their brackets and quotes; what is wrong inside shows when they are
 * read.
 */
static rocl_status count_bad_args(rocl_records *to, uint64_t where, rocl_error *err)
{
    return rocl_record_fault(to, where, ROCL_FAULT_BAD_JSON, "arguments that are no JSON", err);
}

static rocl_status put_counter(rocl_records *to, rocl_source_record *r, chrome_worker *w,
                               const chrome_event *e, rocl_error *err)
{
    rocl_json_token key, v;
    rocl_status st = ROCL_OK;
    r->kind = ROCL_SAMPLE;
    r->as.sample.xcc = r->as.sample.shader_engine = r->as.sample.instance = -1;
    r->as.sample.shader_array = r->as.sample.wgp = -1;
    while (w->has_args && st == ROCL_OK && rocl_json_next(&w->args, &key) == ROCL_JSON_KEY) {
        const rocl_json_kind kind = rocl_json_next(&w->args, &v);
        if (kind == ROCL_JSON_OBJECT || kind == ROCL_JSON_ARRAY)
            rocl_json_leave(&w->args);
        if (w->args.wrong)
            break;
        w->text[0].len = 0;
        rocl_json_unescape(&w->text[0], e->name);
        if (key.text.n && !rocl_view_is(key.text, "value")) {
            rocl_buf_byte(&w->text[0], '.');
            rocl_json_unescape(&w->text[0], key.text);
        }
        r->counter = (rocl_view){(const char *)w->text[0].data, w->text[0].len};
        if (!rocl_json_double(v.text, &r->as.sample.value) ||
            r->as.sample.value - r->as.sample.value != 0)
            st = rocl_record_fault(to, r->where, ROCL_FAULT_NO_NUMBER,
                                   "the value of a counter is no number", err);
        else
            st = rocl_record_put(to, r, err);
    }
    return st == ROCL_OK && w->has_args && w->args.wrong ? count_bad_args(to, r->where, err) : st;
}

/* "M": names of processes and threads. */
static rocl_status put_metadata(rocl_records *to, rocl_source_record *r, chrome_worker *w,
                                const chrome_event *e, rocl_error *err)
{
    chrome_args a = {0};
    const bool process = rocl_view_is(e->name, "process_name");
    if (!w->has_args || !(process || rocl_view_is(e->name, "thread_name")))
        return ROCL_OK;
    read_args(&w->args, &a);
    const rocl_view name = unescape_text(&w->text[0], a.name, a.name_escaped);
    r->where = LAST_PLACE - 1 - r->where; /* the last one counts */
    return rocl_record_name(to, process ? ROCL_KEY_PROCESS : ROCL_KEY_THREAD, r, name, err);
}

/* ---- collectives ----------------------------------------------------------------------------- */

static bool is_of_collective(rocl_view key)
{
    static const char *const keys[] = {"Collective name",
                                       "In msg nelems",
                                       "Out msg nelems",
                                       "Group size",
                                       "dtype",
                                       "In split size",
                                       "Out split size",
                                       "Process Group Name",
                                       "Process Group Description",
                                       "Process Group Ranks",
                                       "Src Rank",
                                       "Dst Rank",
                                       "Seq",
                                       "Comms Id"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (rocl_view_is(key, keys[i]))
            return true;
    return false;
}

static bool is_external_id(rocl_view key)
{
    return rocl_view_is(key, "External id");
}

/* The operator that PyTorch writes around a collective says what it sends; kernels that do not say
 * it themselves, as in older traces, are told by its number. */
static rocl_status note_collective(rocl_records *to, chrome_file *f, const chrome_worker *w,
                                   uint64_t where, rocl_error *err)
{
    rocl_json r = w->args;
    rocl_json_token key, v;
    rocl_buf text = {0};
    uint64_t id = 0;
    while (rocl_json_next(&r, &key) == ROCL_JSON_KEY) {
        const rocl_json_kind kind = rocl_json_next(&r, &v);
        const char *from = v.text.p - (kind == ROCL_JSON_STRING); /* with its quote */
        if (kind == ROCL_JSON_OBJECT || kind == ROCL_JSON_ARRAY)
            rocl_json_leave(&r);
        if (r.wrong)
            break;
        if (is_external_id(key.text))
            rocl_json_uint(v.text, &id);
        if (!is_of_collective(key.text))
            continue;
        rocl_buf_str(&text, text.len ? ",\"" : "{\"");
        rocl_buf_put(&text, key.text.p, key.text.n);
        rocl_buf_str(&text, "\":");
        rocl_buf_put(&text, from, (size_t)(r.at - from));
    }
    rocl_buf_byte(&text, '}');
    const rocl_view all = {(const char *)text.data, text.len};
    const uint32_t args = text.failed ? ROCL_NONE : rocl_records_text(to, all);
    bool ok = args != ROCL_NONE;
    rocl_buf_free(&text);
    if (!ok || !id || all.n < 2)
        return ok ? ROCL_OK : rocl_fail_memory(err);
    pthread_mutex_lock(&f->lock);
    const uint32_t i = rocl_map_get(&f->collective_index, rocl_mix64(id), ROCL_NONE);
    if (i != ROCL_NONE && f->collectives[i].where > where)
        f->collectives[i] = (chrome_collective){where, args};
    if (i == ROCL_NONE)
        ok = ROCL_GROW(f->collectives, f->collective_cap, f->collective_count + 1) &&
             rocl_map_put(&f->collective_index, rocl_mix64(id), (uint32_t)f->collective_count);
    if (i == ROCL_NONE && ok)
        f->collectives[f->collective_count++] = (chrome_collective){where, args};
    pthread_mutex_unlock(&f->lock);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

static void pass_collective(rocl_records *to, const chrome_file *f, chrome_worker *w,
                            rocl_view kernel)
{
    rocl_json r = w->args;
    rocl_json_token key, v;
    uint64_t id = 0;
    size_t n;
    if (!memmem(kernel.p, kernel.n, "nccl", 4) && !memmem(kernel.p, kernel.n, "rccl", 4))
        return;
    while (rocl_json_next(&r, &key) == ROCL_JSON_KEY) {
        const rocl_json_kind kind = rocl_json_next(&r, &v);
        if (rocl_view_is(key.text, "Collective name"))
            return; /* it says it itself */
        if (is_external_id(key.text))
            rocl_json_uint(v.text, &id);
        if (kind == ROCL_JSON_OBJECT || kind == ROCL_JSON_ARRAY)
            rocl_json_leave(&r);
    }
    const uint32_t i = rocl_map_get(&f->collective_index, rocl_mix64(id), ROCL_NONE);
    if (i == ROCL_NONE)
        return;
    const char *text = rocl_text(rocl_records_input_of(to)->trace, f->collectives[i].args, &n);
    rocl_json_open(&r, text, n, 0, f->flags & ROCL_JSON_NANS);
    if (rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT))
        pass_args(to, w, r, ROCL_DISPATCH);
}

/* With its arguments, where they are wanted. */
static rocl_status put_with_args(rocl_records *to, rocl_source_record *r, const chrome_file *f,
                                 chrome_worker *w, const chrome_event *e, rocl_error *err)
{
    rocl_buf name = {0};
    if (!w->has_args || r->half == ROCL_ENDS || !rocl_records_want_args(to) ||
        !rocl_records_want(to, r->kind))
        return rocl_record_put(to, r, err);
    if (e->name_escaped) { /* its buffer is used for the arguments */
        rocl_buf_put(&name, r->name.p, r->name.n);
        r->name = (rocl_view){(const char *)name.data, name.len};
    }
    pass_args(to, w, w->args, r->kind);
    if (r->kind == ROCL_DISPATCH && f->collective_count)
        pass_collective(to, f, w, r->name);
    const rocl_status st = name.failed ? rocl_fail_memory(err) : rocl_record_put(to, r, err);
    rocl_buf_free(&name);
    return st;
}

/* ---- rows of XLA ----------------------------------------------------------------------------- */

static void read_xla_args(rocl_json *r, xla_details *d, uint64_t *correlation)
{
    enum { CORRELATION, KERNEL, COPY, SET, KEYS };
    static const rocl_view keys[KEYS] = {[CORRELATION] = ROCL_JSON_KEY("correlation_id"),
                                         [KERNEL] = ROCL_JSON_KEY("kernel_details"),
                                         [COPY] = ROCL_JSON_KEY("memcpy_details"),
                                         [SET] = ROCL_JSON_KEY("memset_details")};
    rocl_json_token v;
    for (int key; (key = rocl_json_member(r, keys, KEYS, &v)) >= 0;) {
        if (key == CORRELATION)
            rocl_json_uint(v.text, correlation);
        else if (key == KERNEL)
            xla_read_kernel(d, v.text);
        else
            xla_read_copy(d, v.text);
    }
}

/* Work of a stream: a copy where its details or its name say so. */
static rocl_status put_xla_work(rocl_records *to, rocl_source_record *r, chrome_file *f,
                                chrome_worker *w, const chrome_event *e, const xla_row *row,
                                rocl_error *err)
{
    static const char *const words[] = {"memcpy", "memset", "copy"};
    xla_details d = {0};
    chrome_args a = {.correlation = ROCL_NO_KEY, .device = row->device, .stream = row->stream};
    if (w->has_args) {
        rocl_json args = w->args;
        read_xla_args(&args, &d, &a.correlation);
        const rocl_status st = args.wrong ? count_bad_args(to, r->where, err) : ROCL_OK;
        if (st != ROCL_OK)
            return st;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words && !d.is_kernel; i++)
        d.is_copy |=
            e->name.n >= strlen(words[i]) && !strncasecmp(e->name.p, words[i], strlen(words[i]));
    r->name = unescape_text(&w->text[0], e->name, e->name_escaped);
    r->link = a.correlation;
    if (d.is_copy && !d.is_kernel) {
        a.bytes = d.bytes;
        make_copy(r, f, e, &a);
        return rocl_record_put(to, r, err);
    }
    memcpy(a.grid, d.grid, sizeof a.grid);
    memcpy(a.block, d.block, sizeof a.block);
    a.shared = d.group_segment;
    make_dispatch(r, f, e, &a);
    r->as.dispatch.private_segment = d.private_segment;
    return put_with_args(to, r, f, w, e, err);
}

/* ---- arrows ---------------------------------------------------------------------------------- */

static uint64_t hash_texts(const rocl_view *texts, size_t count)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i <= texts[k].n; i++) /* what lies between two texts counts as well */
            h = rocl_mix64(h ^ (i < texts[k].n ? (unsigned char)texts[k].p[i] : 0x100u));
    return h;
}

/* Which begin and end, so that those that only end are known: numbers of a category lie together.
 */
static bool note_flow(rocl_records *to, chrome_file *f, const chrome_event *e, bool begins)
{
    chrome_flows *seen = &f->flows[rocl_records_worker(to)];
    uint64_t id;
    if (rocl_json_uint(e->id, &id) && id < (uint64_t)1 << 40)
        id |= hash_texts((const rocl_view[]){e->cat, e->name}, 2) << 40;
    else
        id = hash_texts((const rocl_view[]){e->cat, e->name, e->id}, 3);
    return rocl_idset_add(begins ? &seen->begun : &seen->ended, id);
}

/* An end of an arrow that is an event of its own ("s", "t", "f"). */
static rocl_status put_flow(rocl_records *to, rocl_source_record *r, chrome_file *f,
                            const chrome_event *e, char ph, rocl_error *err)
{
    const uint64_t id = hash_texts((const rocl_view[]){e->cat, e->name, e->id}, 3);
    rocl_flow *flow = &r->as.flow;
    if (rocl_records_first_pass(to) && ph != 't' && !note_flow(to, f, e, ph == 's'))
        return rocl_fail_memory(err);
    if (!rocl_records_want(to, ROCL_FLOW))
        return ROCL_OK;
    r->kind = ROCL_FLOW;
    r->as.e.end = r->as.e.start;
    r->as.e.category = rocl_records_text(to, e->cat);
    r->name = e->name;
    flow->flow = id;
    flow->end = ph == 's' ? ROCL_FLOW_BEGINS : ph == 't' ? ROCL_FLOW_GOES_ON : ROCL_FLOW_ENDS;
    flow->next = ph == 'f' && !rocl_view_is(e->bp, "e");
    return rocl_record_put(to, r, err);
}

/* An event that says itself which arrows lead to it and from it. */
static rocl_status put_bound_flows(rocl_records *to, const rocl_source_record *event,
                                   const chrome_event *e, rocl_error *err)
{
    rocl_source_record r;
    rocl_record_begin(&r, ROCL_FLOW, event->where);
    r.process = event->process;
    r.thread = event->thread;
    r.name = e->name;
    r.as.e.start = r.as.e.end = event->as.e.start;
    r.as.e.category = rocl_records_text(to, e->cat);
    r.as.flow.flow = hash_texts(&e->bind, 1);
    r.as.flow.end = e->flow_in && e->flow_out ? ROCL_FLOW_GOES_ON
                    : e->flow_in              ? ROCL_FLOW_ENDS
                                              : ROCL_FLOW_BEGINS;
    return rocl_record_put(to, &r, err);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* A begin, an end, an instant or a whole event. */
static rocl_status put_event(rocl_records *to, rocl_source_record *r, chrome_file *f,
                             chrome_worker *w, const chrome_event *e, rocl_error *err)
{
    chrome_args a = {.correlation = ROCL_NO_KEY,
                     .device = ROCL_NO_KEY,
                     .stream = ROCL_NO_KEY,
                     .bytes = ROCL_NO_KEY,
                     .address = ROCL_NO_KEY,
                     .reserved = ROCL_NO_KEY};
    rocl_status st = ROCL_OK;
    const event_class c = class_of(e->cat, e->name);
    if (c == CLASS_DERIVED ||
        (f->kineto && !e->cat.n && r->kind == ROCL_INSTANT && c != CLASS_MEMORY))
        return ROCL_OK;
    r->name = unescape_text(&w->text[0], e->name, e->name_escaped);
    if (w->has_args && c != CLASS_CALL && c != CLASS_MARKER) {
        rocl_json args = w->args;
        read_args(&args, &a);
        if (args.wrong)
            return count_bad_args(to, r->where, err);
    }
    r->link = a.correlation;
    switch (c) {
    case CLASS_KERNEL:
        make_dispatch(r, f, e, &a);
        st = chrome_find_caller(&f->callers, &w->callers, to, key_of(to, &e->pid), r, err);
        return st ? st : put_with_args(to, r, f, w, e, err);
    case CLASS_COPY:
        make_copy(r, f, e, &a);
        st = chrome_find_caller(&f->callers, &w->callers, to, key_of(to, &e->pid), r, err);
        return st ? st : rocl_record_put(to, r, err);
    case CLASS_SYNC:
        r->kind = ROCL_BARRIER;
        place_work(r, e, &a);
        if ((st = chrome_find_caller(&f->callers, &w->callers, to, key_of(to, &e->pid), r, err)) !=
            ROCL_OK)
            return st;
        r->link = ROCL_NO_KEY;
        break;
    case CLASS_MEMORY:
        if (rocl_view_is(e->name, "[memory]")) {
            make_allocation(r, f, &a);
            st = rocl_record_put(to, r, err);
            return st ? st : put_reserved(to, r, &a, err);
        }
        break;
    case CLASS_RUNTIME:
        if (!note_work_items(f, r->name, a.correlation))
            return rocl_fail_memory(err);
        if ((st = chrome_note_call(&f->callers, &w->callers, to, r, err)) != ROCL_OK)
            return st;
        if (r->name.n > 3 && !memcmp(r->name.p, "hip", 3))
            r->as.e.category = f->hip;
        break;
    case CLASS_MARKER:
        r->kind = r->kind == ROCL_INSTANT ? ROCL_INSTANT : ROCL_MARKER;
        r->function = e->cat;
        r->as.e.category = f->marker;
        break;
    default:
        if (f->kineto && w->has_args && rocl_records_first_pass(to) &&
            rocl_records_input_of(to)->trace->opt.args &&
            rocl_view_is(e->name, "record_param_comms")) {
            if ((st = note_collective(to, f, w, r->where, err)) != ROCL_OK)
                return st;
        }
        if (f->xla.count && w->has_args && r->process != ROCL_NO_KEY) { /* of a thread, not a row */
            xla_details d = {0};
            rocl_json args = w->args;
            read_xla_args(&args, &d, &r->link);
            if (args.wrong)
                return count_bad_args(to, r->where, err);
        }
        if (f->xla.count && r->name.n > 3 && !memcmp(r->name.p, "hip", 3))
            r->as.e.category = f->hip;
        break;
    }
    if (!r->as.e.category)
        r->as.e.category = rocl_records_text(to, e->cat);
    return put_with_args(to, r, f, w, e, err);
}

/* Asynchronous events belong together by category and id, not by thread. */
static uint64_t scope_of(const chrome_event *e)
{
    return hash_texts((const rocl_view[]){e->cat, e->id, e->scope}, 3) | (uint64_t)1 << 63;
}

/* A process or thread that has a text for a number is called so, unless metadata say better. */
static rocl_status name_by_key(rocl_records *to, const rocl_source_record *r, rocl_key_of of,
                               rocl_view text, rocl_error *err)
{
    rocl_source_record last = *r;
    last.where = LAST_PLACE;
    return rocl_record_name(to, of, &last, text, err);
}

static rocl_status put_element(rocl_records *to, chrome_file *f, chrome_worker *w,
                               const chrome_event *e, uint64_t where, rocl_error *err)
{
    rocl_source_record r;
    int64_t ts = 0, dur = 0;
    const char ph = e->ph.n == 1 ? *e->ph.p : 0;
    rocl_status st = ROCL_OK;
    if (f->kineto && (ph == 's' || ph == 'f') &&
        (rocl_view_is(e->cat, "ac2g") || rocl_view_is(e->cat, "async_gpu") ||
         (rocl_view_is(e->cat, "async") && rocl_view_is(e->name, "launch")))) {
        /* From calls to GPU work: the correlation, told again. */
        const bool noted = !rocl_records_first_pass(to) || note_flow(to, f, e, ph == 's');
        return noted ? ROCL_OK : rocl_fail_memory(err);
    }
    rocl_record_begin(&r, ROCL_REGION, where);
    r.process = key_of(to, &e->pid);
    r.thread = key_of(to, &e->tid);
    /* Python's frames, and rows of the profiler itself, in the only process there is. */
    if ((r.process == 0 && r.thread == 0) ||
        (f->kineto && (r.process & ROCL_KEY_OF_TEXT || is_negative(&e->pid))))
        r.process = ROCL_NO_KEY;
    if (f->kineto && r.thread & ROCL_KEY_OF_TEXT)
        r.thread = ROCL_NO_KEY;
    const xla_row *row = f->xla.count ? xla_find_row(&f->xla, r.process, r.thread) : NULL;
    if (row) { /* of a GPU: its process is the one that others name */
        r.process = ROCL_NO_KEY;
        r.thread = row->work ? ROCL_NO_KEY : ROCL_KEY_OF_TEXT | row->name;
        rocl_view name;
        name.p = rocl_text(rocl_records_input_of(to)->trace, row->name, &name.n);
        if (ph != 'M' && !row->work)
            st = name_by_key(to, &r, ROCL_KEY_THREAD, name, err);
    }
    if (st == ROCL_OK && r.process & ROCL_KEY_OF_TEXT && r.process != ROCL_NO_KEY)
        st = name_by_key(to, &r, ROCL_KEY_PROCESS, e->pid.text, err);
    if (st == ROCL_OK && !row && r.thread & ROCL_KEY_OF_TEXT && r.thread != ROCL_NO_KEY)
        st = name_by_key(to, &r, ROCL_KEY_THREAD, e->tid.text, err);
    if (st != ROCL_OK)
        return st;
    if (ph == 'M')
        return row ? ROCL_OK : put_metadata(to, &r, w, e, err);
    if (!ph && !e->has_ts) /* the empty first element of rocprof and RPD */
        return ROCL_OK;
    if (ph != 'X' && (!strchr("XBEbeniIRCstf", ph) || !ph))
        return strchr("STFpNODvPc(),", ph) && ph
                   ? ROCL_OK
                   : rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE, "an event of no known phase",
                                       err);
    if (!e->has_ts || !rocl_json_decimal(e->ts, 3, &ts) ||
        (e->has_dur && !rocl_json_decimal(e->dur, 3, &dur)))
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_TIME, "a time is no number", err);
    if (__builtin_add_overflow(ts, f->base, &ts) || __builtin_add_overflow(ts, dur, &r.as.e.end))
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_TIME, "a time is too large", err);
    r.as.e.start = ts;
    if (ph == 'X' && !e->has_dur)
        return rocl_record_fault(to, where, ROCL_FAULT_NO_END, "no duration", err);
    if (ph == 'C')
        return put_counter(to, &r, w, e, err);
    if (ph == 's' || ph == 't' || ph == 'f')
        return put_flow(to, &r, f, e, ph, err);
    if (row && row->work)
        return put_xla_work(to, &r, f, w, e, row, err);
    if (ph != 'X' && strchr("iIRn", ph))
        r.kind = ROCL_INSTANT;
    else if (ph != 'X')
        r.half = ph == 'B' || ph == 'b' ? ROCL_BEGINS : ROCL_ENDS;
    r.scope = ph == 'b' || ph == 'e' ? scope_of(e) : r.thread;
    if (ph == 'X' && e->bind.n && (e->flow_in || e->flow_out) && rocl_records_want(to, ROCL_FLOW))
        st = put_bound_flows(to, &r, e, err);
    return st ? st : put_event(to, &r, f, w, e, err);
}

static void read_event(rocl_json *r, chrome_worker *w, chrome_event *e)
{
    enum { PH, CAT, NAME, PID, TID, TS, DUR, ARGS, ID, SCOPE, BP, BIND, FLOW_IN, FLOW_OUT, KEYS };
    static const rocl_view keys[KEYS] = {
        [PH] = ROCL_JSON_KEY("ph"),           [CAT] = ROCL_JSON_KEY("cat"),
        [NAME] = ROCL_JSON_KEY("name"),       [PID] = ROCL_JSON_KEY("pid"),
        [TID] = ROCL_JSON_KEY("tid"),         [TS] = ROCL_JSON_KEY("ts"),
        [DUR] = ROCL_JSON_KEY("dur"),         [ARGS] = ROCL_JSON_KEY("args"),
        [ID] = ROCL_JSON_KEY("id"),           [SCOPE] = ROCL_JSON_KEY("scope"),
        [BP] = ROCL_JSON_KEY("bp"),           [BIND] = ROCL_JSON_KEY("bind_id"),
        [FLOW_IN] = ROCL_JSON_KEY("flow_in"), [FLOW_OUT] = ROCL_JSON_KEY("flow_out")};
    rocl_json_token v;
    for (int key; (key = rocl_json_member(r, keys, KEYS, &v)) >= 0;) {
        switch (key) {
        case PH:
            e->ph = v.text;
            break;
        case CAT:
            e->cat = v.text;
            break;
        case NAME:
            e->name = v.text;
            e->name_escaped = v.escaped;
            break;
        case PID:
            e->pid = v;
            break;
        case TID:
            e->tid = v;
            break;
        case TS:
            e->ts = v.text;
            e->has_ts = true;
            break;
        case DUR:
            e->dur = v.text;
            e->has_dur = true;
            break;
        case ID:
            e->id = v.text;
            break;
        case SCOPE:
            e->scope = v.text;
            break;
        case BP:
            e->bp = v.text;
            break;
        case BIND:
            e->bind = v.text;
            break;
        case FLOW_IN:
            e->flow_in = v.kind == ROCL_JSON_TRUE;
            break;
        case FLOW_OUT:
            e->flow_out = v.kind == ROCL_JSON_TRUE;
            break;
        default: /* whether anything of them is wanted the event as a whole tells */
            w->args = *r;
            w->has_args = rocl_json_enter(&w->args, ROCL_JSON_OBJECT);
        }
    }
}

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    chrome_file *f = in->state;
    void **state = rocl_records_state(to);
    if (!*state && !(*state = calloc(1, sizeof(chrome_worker))))
        return rocl_fail_memory(err);
    chrome_worker *w = *state;
    rocl_json_token v;
    rocl_status st = rocl_json_load(&w->r, &w->bytes, in->files[0].spool, piece->first, piece->last,
                                    f->flags | ROCL_JSON_ELEMENTS, err);
    while (st == ROCL_OK && rocl_json_element(&w->r, &v)) {
        const uint64_t where = rocl_json_offset(&w->r, &v);
        chrome_event e = {.ph = NOTHING, .cat = NOTHING, .name = NOTHING, .id = NOTHING};
        e.scope = e.ts = e.dur = e.bp = e.bind = e.pid.text = e.tid.text = e.ph;
        if (!rocl_json_enter(&w->r, ROCL_JSON_OBJECT)) {
            st = rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE, "an event that is no object",
                                   err);
            continue;
        }
        w->has_args = false;
        read_event(&w->r, w, &e);
        if (!w->r.wrong)
            st = put_element(to, f, w, &e, where, err);
    }
    return st == ROCL_OK && w->r.wrong ? rocl_json_fail(&w->r, in->files[0].path, err) : st;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* "rank-3", "rank3", "_r3" in the name of a file. */
static int64_t rank_of_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    static const char *const words[] = {"rank-", "rank_", "rank", "_r"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *p = strcasestr(name, words[i]);
        p = p ? p + strlen(words[i]) : NULL;
        if (p && *p >= '0' && *p <= '9')
            return strtoll(p, NULL, 10);
    }
    return -1;
}

/* The rank, the base time and the names of devices, out of the members that are known. */
static rocl_status read_members(rocl_records_input *in, rocl_error *err)
{
    chrome_file *f = in->state;
    const rocl_json_index *x = &f->index;
    const rocl_spool *spool = in->files[0].spool;
    const rocl_json_node *base = rocl_json_child(x, x->nodes, "baseTimeNanoseconds"),
                         *info = rocl_json_child(x, x->nodes, "distributedInfo"),
                         *devices = rocl_json_child(x, x->nodes, "deviceProperties");
    static const rocl_view rank_key[] = {ROCL_JSON_KEY("rank")},
                           name_key[] = {ROCL_JSON_KEY("name")};
    rocl_buf b = {0};
    rocl_json r;
    rocl_json_token v;
    rocl_status st = ROCL_OK;
    f->kineto = base || info || devices || rocl_json_child(x, x->nodes, "schemaVersion");
    f->rank = rank_of_name(in->files[0].path);
    if (base) {
        st = rocl_json_load(&r, &b, spool, base->begin, base->end, f->flags, err);
        if (st == ROCL_OK && rocl_json_element(&r, &v) && !rocl_json_int(v.text, &f->base))
            f->base = 0;
    }
    if (st == ROCL_OK && info) {
        st = rocl_json_load(&r, &b, spool, info->begin, info->end, f->flags, err);
        if (st == ROCL_OK && rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_OBJECT))
            while (rocl_json_member(&r, rank_key, 1, &v) >= 0)
                rocl_json_int(v.text, &f->rank);
    }
    if (st == ROCL_OK && devices) {
        st = rocl_json_load(&r, &b, spool, devices->begin, devices->end, f->flags, err);
        if (st == ROCL_OK && rocl_json_element(&r, &v) && rocl_json_enter(&r, ROCL_JSON_ARRAY))
            while (rocl_json_element(&r, &v) && f->devices < 64) {
                uint32_t name = 0;
                if (!rocl_json_enter(&r, ROCL_JSON_OBJECT))
                    continue;
                while (rocl_json_member(&r, name_key, 1, &v) >= 0)
                    name = rocl_strings_put(in->trace->strings, v.text.p, v.text.n);
                f->device_names[f->devices++] = name;
            }
    }
    rocl_buf_free(&b);
    return st;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* GPUs are counted in the order of their numbers, which are those of the driver where roctracer was
 * below; deviceProperties counts from 0. */
static rocl_status name_gpus(rocl_records_input *in, rocl_error *err)
{
    chrome_file *f = in->state;
    rocl_capture *c = &in->capture->pub;
    for (uint32_t i = 0; i < c->agent_count && f->gpu_count < GPUS_MAX; i++) {
        bool known = false; /* of another process */
        for (size_t k = 0; k < f->gpu_count; k++)
            known |= f->gpus[k] == (uint64_t)c->agents[i].id;
        if (!known)
            f->gpus[f->gpu_count++] = (uint64_t)c->agents[i].id;
    }
    qsort(f->gpus, f->gpu_count, sizeof *f->gpus, compare_numbers);
    for (uint32_t i = 0; i < c->counter_count; i++) {
        rocl_counter *counter = rocl_definition_at(c, ROCL_DEFINE_COUNTER, i);
        const char *name = rocl_str(in->trace, counter->name);
        if (!strncmp(name, RESERVED_MEMORY, strlen(RESERVED_MEMORY)) &&
            (counter->units = rocl_strings_put(in->trace->strings, "bytes", 5)) == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    for (uint32_t i = 0; i < c->agent_count; i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        for (size_t k = 0; k < f->gpu_count; k++)
            if (f->gpus[k] == (uint64_t)a->id && k < f->devices)
                a->product = f->device_names[k];
    }
    for (uint32_t i = 0; i < c->process_count && f->rank >= 0 && f->rank <= INT32_MAX; i++)
        ((rocl_process *)rocl_definition_at(c, ROCL_DEFINE_PROCESS, i))->rank = (int32_t)f->rank;
    c->rank = f->rank >= 0 && f->rank <= INT32_MAX ? (int32_t)f->rank : -1;
    return ROCL_OK;
}

static void close_file(rocl_records_input *in)
{
    chrome_file *f = in->state;
    if (!f)
        return;
    for (unsigned i = 0; f->flows && i < in->trace->opt.jobs; i++) {
        rocl_idset_free(&f->flows[i].begun);
        rocl_idset_free(&f->flows[i].ended);
    }
    free(f->flows);
    xla_rows_free(&f->xla);
    rocl_json_index_free(&f->index);
    rocl_idset_free(&f->work_items);
    chrome_callers_close(&f->callers);
    rocl_map_free(&f->collective_index);
    free(f->collectives);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

static const rocl_record_format format = {.places = ROCL_PLACES_BYTES,
                                          .parse = parse_piece,
                                          .keeps = true,
                                          .complete = complete_record,
                                          .free_worker = free_worker,
                                          .passed = learn_callers,
                                          .refine = name_gpus,
                                          .close = close_file};

/* Strictly first; files of old profilers have quotes in names without a backslash. */
static rocl_status outline_file(rocl_records_input *in, rocl_error *err)
{
    chrome_file *f = in->state;
    rocl_json_outline how = {.objects = 1, .flags = ROCL_JSON_NANS};
    bool quotes = false;
    rocl_status st = rocl_json_index_spool(&f->index, in->files[0].spool, &how, &quotes, err);
    if (st == ROCL_INPUT && quotes) {
        rocl_json_index_free(&f->index);
        f->index = (rocl_json_index){0};
        how.flags |= ROCL_JSON_QUOTES;
        st = rocl_json_index_spool(&f->index, in->files[0].spool, &how, &quotes, err);
    }
    f->flags = how.flags;
    return st == ROCL_INPUT ? (rocl_wrap(err, "%s", in->files[0].path), st) : st;
}

/* Builds for ROCm end an arrow at every call that launches nothing. */
static rocl_status explain_flows(rocl_records_input *in, rocl_error *err)
{
    chrome_file *f = in->state;
    rocl_idset begun = {0}, ended = {0}, both = {0};
    bool ok = true;
    for (unsigned i = 0; i < in->trace->opt.jobs && ok; i++)
        ok = rocl_idset_merge(&begun, &f->flows[i].begun) &&
             rocl_idset_merge(&ended, &f->flows[i].ended);
    ok = ok && rocl_idset_merge_common(&both, &begun, &ended);
    const uint64_t lone = ok ? rocl_idset_size(&ended) - rocl_idset_size(&both) : 0;
    if (lone && in->trace->opt.explain)
        rocl_notice(in->trace, "%s: %" PRIu64 " arrows end that begin nowhere", in->source->path,
                    lone);
    rocl_idset_free(&begun);
    rocl_idset_free(&ended);
    rocl_idset_free(&both);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status open_file(rocl_source *s, rocl_trace *t, rocl_error *err)
{
    rocl_records_input *in;
    rocl_status st = rocl_records_open(&in, s, t, &format, err);
    if (st != ROCL_OK)
        return st;
    chrome_file *f = in->state = calloc(1, sizeof *f);
    static const char *const words[] = {"KERNEL_DISPATCH", "MEMORY_COPY", "HIP_RUNTIME_API",
                                        "MARKER_CORE_RANGE_API", "MEMORY_ALLOCATION"};
    uint32_t texts[5];
    if (!f || !rocl_intern_words(t, words, 5, texts))
        return rocl_fail_memory(err);
    pthread_mutex_init(&f->lock, NULL);
    chrome_callers_open(&f->callers);
    f->flows = rocl_cache_line_calloc(t->opt.jobs, sizeof *f->flows);
    if (!f->flows)
        return rocl_fail_memory(err);
    f->kernel = texts[0];
    f->copy = texts[1];
    f->hip = texts[2];
    f->marker = texts[3];
    f->allocation = texts[4];
    st = outline_file(in, err);
    if (st != ROCL_OK)
        return st;
    const rocl_json_node *root = f->index.nodes,
                         *events = root->kind == ROCL_JSON_ARRAY
                                       ? root
                                       : rocl_json_child(&f->index, root, "traceEvents");
    if (!events || events->kind != ROCL_JSON_ARRAY)
        return rocl_fail(err, ROCL_INPUT, "%s: JSON, but it has no array traceEvents", s->path);
    for (size_t i = 0; i < events->blocks; i++) {
        const rocl_json_block *b = &f->index.blocks[events->block + i];
        if (!rocl_records_add_piece(
                in, &(rocl_piece){.first = b->begin, .last = b->end, .rows = b->count}))
            return rocl_fail_memory(err);
    }
    /* An array alone need not be closed. */
    const bool in_event = f->index.rest < f->index.size;
    if (f->index.truncated && (in_event || root->kind == ROCL_JSON_OBJECT))
        st = rocl_source_truncated(s, t, err);
    if (st == ROCL_OK)
        st = read_members(in, err);
    if (st == ROCL_OK && !f->kineto)
        st = xla_rows_read(&f->xla, t, &f->index, events, in->files[0].spool, f->flags, err);
    if (st == ROCL_OK && f->xla.host)
        in->likely_process = f->xla.host;
    if (st == ROCL_OK)
        st = rocl_records_index(in, err);
    return st ? st : explain_flows(in, err);
}

const rocl_source_ops rocl_chrome_ops = {ROCL_RECORDS_OPS(open_file)};
