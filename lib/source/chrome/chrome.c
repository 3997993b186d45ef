/* Chrome's trace JSON: an array of events, alone or in an object. Kineto, PyTorch's profiler,
 * writes it with categories and arguments of its own; they distinguish GPU work from host calls.
 *
 *     outline of the file -> blocks of events, parsed side by side as records (source/records)
 *     members before and behind the events: base time, rank, names of devices; no other is read
 *
 *     event.h        an event as it stands in the file, and its arguments
 *     work.h         GPU work and memory
 *     callers.h      which process GPU work is of
 *     merged.h       files that were merged from those of several ranks
 *     collectives.h  what collectives send
 *     flows.h        arrows
 *     xla.h          rows of JAX and TensorFlow
 *     own.h          what rtg2json wrote
 *     who.h          hosts, ranks and GPUs, where we wrote the file
 *
 * Times are decimal microseconds, turned into nanoseconds exactly. */
#include "source/chrome/chrome.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_index.h"
#include "format/perfetto.h"
#include "source/chrome/callers.h"
#include "source/chrome/collectives.h"
#include "source/chrome/flows.h"
#include "source/chrome/merged.h"
#include "source/chrome/own.h"
#include "source/chrome/work.h"
#include "source/chrome/xla.h"

/* How events of a category are read. */
typedef enum event_class {
    CLASS_CALL,    /* a host region of the category's name */
    CLASS_RUNTIME, /* a call of HIP or CUDA */
    CLASS_MARKER,
    CLASS_KERNEL,
    CLASS_COPY,
    CLASS_SYNC,    /* a queue waits */
    CLASS_MEMORY,  /* an instant about an allocation */
    CLASS_DERIVED, /* derived from other events, or about the profiler: left out */
} event_class;

/* Events that have no place in a timeline: they are left out. */
static const struct {
    const char *phases, *what;
} asides[] = {{"NOD", "objects"},
              {"vV", "memory dumps"},
              {"c", "clock synchronisation"},
              {"()=", "contexts and links"}};
enum { ASIDES = sizeof asides / sizeof *asides };

typedef struct chrome_file {
    rocl_json_index index;
    unsigned flags;            /* of the JSON reader */
    bool kineto;               /* PyTorch's profiler wrote it, or its files were merged */
    bool ours;                 /* rtg2json wrote it as PyTorch's profiler does */
    uint32_t host;             /* text: name of the host; 0 unknown */
    int64_t base;              /* ns, added to all times */
    int64_t rank;              /* -1: unknown */
    uint32_t hip, hsa, marker; /* categories */
    xla_rows xla;
    chrome_own own;
    chrome_who who;
    chrome_flows *flows; /* by worker, of the first pass */
    chrome_callers callers;
    chrome_merged merged;
    chrome_collectives collectives;
    chrome_work work;
    atomic_uint_fast64_t left_out[ASIDES]; /* in the first pass */
} chrome_file;

/* The engine takes the name with the lowest place, if there are several. */
#define LAST_PLACE (((uint64_t)1 << 44) - 1)

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
            /* PyTorch with ROCm 7.1 takes rocprofiler-sdk's name of a copy for a kernel. */
            const bool copy =
                classes[i].c == CLASS_KERNEL && name.n > 12 && !memcmp(name.p, "MEMORY_COPY_", 12);
            return copy ? CLASS_COPY : classes[i].c;
        }
    return !cat.n && rocl_view_is(name, "[memory]") ? CLASS_MEMORY : CLASS_CALL; /* PyTorch 1.9 */
}

/* ---- records --------------------------------------------------------------------------------- */

static rocl_status put_counter(rocl_records *to, rocl_source_record *r, chrome_worker *w,
                               const chrome_event *e, bool of_gpu, rocl_error *err)
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
        /* What rtg2json writes behind the name of a GPU's value: " (rank 0, pid 12)". */
        rocl_view name = (rocl_view){(const char *)w->text[0].data, w->text[0].len};
        size_t n = of_gpu && name.n && name.p[name.n - 1] == ')' ? name.n : 0;
        while (n && name.p[n - 1] != '(')
            n--;
        const rocl_view whose = {name.p + n, name.n - n};
        r->counter = n > 1 && (rocl_view_begins(whose, "rank ") || rocl_view_begins(whose, "pid "))
                         ? (rocl_view){name.p, n - 2}
                         : name;
        if (!rocl_json_double(v.text, &r->as.sample.value) ||
            r->as.sample.value - r->as.sample.value != 0)
            rocl_record_fault(to, r->where, ROCL_FAULT_NO_NUMBER,
                              "the value of a counter is not a number");
        else
            st = rocl_record_put(to, r, err);
    }
    return st == ROCL_OK && w->has_args && w->args.wrong ? chrome_count_bad_args(to, r->where) : st;
}

/* The group of a record of a process, of which the arguments may tell. False: memory is out. */
static bool note_group(rocl_records *to, const rocl_source_record *r, chrome_file *f,
                       chrome_worker *w, chrome_event *e, const chrome_args *a)
{
    chrome_read_group(&f->merged, e, a);
    const chrome_member member = {r->process, e->group, a->raw_pid};
    return (!e->group && r->link == ROCL_NO_KEY) || chrome_note_member(&f->merged, w, to, &member);
}

/* PyTorch calls threads "thread 12 (python3)", or "thread 12" if they have no name. */
static rocl_view thread_name(rocl_view name, uint64_t tid)
{
    char plain[40];
    const size_t n = (size_t)snprintf(plain, sizeof plain, "thread %" PRIu64, tid);
    if (name.n < n || memcmp(name.p, plain, n) != 0)
        return name;
    if (name.n == n)
        return (rocl_view){0};
    return name.n > n + 3 && !memcmp(name.p + n, " (", 2) && name.p[name.n - 1] == ')'
               ? (rocl_view){name.p + n + 2, name.n - n - 3}
               : name;
}

/* "M": names of processes and threads. */
static rocl_status put_metadata(rocl_records *to, rocl_source_record *r, chrome_file *f,
                                chrome_worker *w, chrome_event *e, rocl_error *err)
{
    chrome_own *own = &f->own;
    chrome_args a = chrome_no_args;
    const bool process = rocl_view_is(e->name, "process_name");
    if (!w->has_args || !(process || rocl_view_is(e->name, "thread_name")))
        return ROCL_OK;
    chrome_read_args(&w->args, &a);
    rocl_view name = chrome_unescape(&w->text[0], a.name, a.name_escaped);
    if (f->kineto && !process && !((name = thread_name(name, r->thread)).n))
        return ROCL_OK;
    if (own->is && !own->known) {
        const uint64_t tid = process ? ROCL_NO_KEY : r->thread;
        return chrome_own_note(own, r->process, tid, rocl_records_text(to, name))
                   ? ROCL_OK
                   : rocl_fail_memory(err);
    }
    if (f->kineto && !note_group(to, r, f, w, e, &a))
        return rocl_fail_memory(err);
    r->where = LAST_PLACE - 1 - r->where; /* the last one counts */
    return rocl_record_name(to, process ? ROCL_KEY_PROCESS : ROCL_KEY_THREAD, r, name, err);
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

/* Work of a stream: a copy if its details or its name say so. */
static rocl_status put_xla_work(rocl_records *to, rocl_source_record *r, chrome_file *f,
                                chrome_worker *w, const chrome_event *e, const xla_row *row,
                                rocl_error *err)
{
    static const char *const words[] = {"memcpy", "memset", "copy"};
    xla_details d = {0};
    chrome_args a = chrome_no_args;
    a.device = row->device;
    a.stream = row->stream;
    if (w->has_args) {
        rocl_json args = w->args;
        read_xla_args(&args, &d, &a.correlation);
        if (args.wrong)
            chrome_count_bad_args(to, r->where);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words && !d.is_kernel; i++)
        d.is_copy |=
            e->name.n >= strlen(words[i]) && !strncasecmp(e->name.p, words[i], strlen(words[i]));
    r->name = chrome_unescape(&w->text[0], e->name, e->name_escaped);
    r->link = a.correlation;
    if (d.is_copy && !d.is_kernel) {
        a.bytes = d.bytes;
        chrome_make_copy(r, &f->work, e, &a);
        return rocl_record_put(to, r, err);
    }
    memcpy(a.grid, d.grid, sizeof a.grid);
    memcpy(a.block, d.block, sizeof a.block);
    a.shared = d.group_segment;
    chrome_make_dispatch(r, &f->work, e, &a);
    r->as.dispatch.private_segment = d.private_segment;
    return chrome_put_with_args(to, r, &f->collectives, w, e, err);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* An event of a file that rtg2json wrote. */
static rocl_status put_own_event(rocl_records *to, rocl_source_record *r, chrome_file *f,
                                 chrome_worker *w, const chrome_event *e, rocl_error *err)
{
    rocl_trace *t = rocl_records_input_of(to)->trace;
    bool work;
    rocl_status st = ROCL_OK;
    r->name = chrome_unescape(&w->text[0], e->name, e->name_escaped);
    if (rocl_view_is(r->name, PF_UNNAMED))
        r->name = (rocl_view){"", 0};
    if (!chrome_own_make(&f->own, t, r, &f->work, w, e, &work))
        return chrome_count_bad_args(to, r->where);
    if (!r->as.e.category)
        r->as.e.category = rocl_records_text(to, e->cat);
    if (!work)
        return chrome_put_with_args(to, r, &f->collectives, w, e, err);
    const rocl_view stream = chrome_own_stream_name(&f->own, t, e, r->stream);
    if (stream.n)
        st = rocl_record_name(to, ROCL_KEY_STREAM, r, stream, err);
    return st ? st : rocl_record_put(to, r, err);
}

/* The process of GPU work, or of a row in a merged file that is no process. */
static rocl_status find_process(rocl_records *to, rocl_source_record *r, chrome_file *f,
                                chrome_worker *w, chrome_event *e, const chrome_args *a,
                                rocl_error *err)
{
    chrome_read_group(&f->merged, e, a); /* unless it is known */
    const rocl_status st =
        chrome_find_caller(&f->callers, &w->callers, to, e->group, e->row, r, err);
    const chrome_member member = {r->process, e->group, ROCL_NO_KEY};
    const bool ok = !e->group || chrome_note_member(&f->merged, w, to, &member);
    return st ? st : ok ? ROCL_OK : rocl_fail_memory(err);
}

/* A begin, an end, an instant or a whole event. */
static rocl_status put_event(rocl_records *to, rocl_source_record *r, chrome_file *f,
                             chrome_worker *w, chrome_event *e, rocl_error *err)
{
    chrome_args a = chrome_no_args;
    rocl_status st = ROCL_OK;
    const event_class c = class_of(e->cat, e->name);
    if (c == CLASS_DERIVED ||
        (f->kineto && !e->cat.n && r->kind == ROCL_INSTANT && c != CLASS_MEMORY))
        return ROCL_OK;
    r->name = chrome_unescape(&w->text[0], e->name, e->name_escaped);
    if (w->has_args && c != CLASS_CALL && c != CLASS_MARKER) {
        rocl_json args = w->args;
        chrome_read_args(&args, &a);
        if (args.wrong)
            return chrome_count_bad_args(to, r->where);
        if (a.bad)
            rocl_record_fault(to, r->where, ROCL_FAULT_BAD_VALUE, "a field is not a number");
    }
    if (e->group && (st = find_process(to, r, f, w, e, &a, err)) != ROCL_OK)
        return st;
    r->link = a.correlation;
    switch (c) {
    case CLASS_KERNEL:
        chrome_make_dispatch(r, &f->work, e, &a);
        st = find_process(to, r, f, w, e, &a, err);
        return st ? st : chrome_put_with_args(to, r, &f->collectives, w, e, err);
    case CLASS_COPY:
        chrome_make_copy(r, &f->work, e, &a);
        st = find_process(to, r, f, w, e, &a, err);
        return st ? st : rocl_record_put(to, r, err);
    case CLASS_SYNC:
        r->kind = ROCL_BARRIER;
        chrome_place_work(r, e, &a);
        if ((st = find_process(to, r, f, w, e, &a, err)) != ROCL_OK)
            return st;
        r->link = ROCL_NO_KEY;
        break;
    case CLASS_MEMORY:
        if (rocl_view_is(e->name, "[memory]")) {
            if (!chrome_make_allocation(to, r, &f->work, &a))
                return rocl_fail_memory(err);
            st = rocl_record_put(to, r, err);
            return st ? st : chrome_put_reserved(to, r, &a, err);
        }
        break;
    case CLASS_RUNTIME:
        if (!chrome_note_work_items(&f->work, r) || !note_group(to, r, f, w, e, &a))
            return rocl_fail_memory(err);
        if ((st = chrome_note_call(&f->callers, &w->callers, to, e->group, r, err)) != ROCL_OK)
            return st;
        if (r->name.n > 3 && !memcmp(r->name.p, "hip", 3))
            r->as.e.category = f->hip;
        else if (r->name.n > 4 && !memcmp(r->name.p, "hsa_", 4)) /* rtg2json --style kineto */
            r->as.e.category = f->hsa;
        break;
    case CLASS_MARKER:
        r->kind = r->kind == ROCL_INSTANT ? ROCL_INSTANT : ROCL_MARKER;
        r->function = e->cat;
        r->as.e.category = f->marker;
        break;
    default:
        if (f->kineto && w->has_args && rocl_records_first_pass(to) &&
            chrome_want_collectives(to) && rocl_view_is(e->name, "record_param_comms")) {
            if ((st = chrome_note_collective(to, &f->collectives, w, r, err)) != ROCL_OK)
                return st;
        }
        if (f->xla.count && w->has_args && r->process != ROCL_NO_KEY) { /* of a thread, not a row */
            xla_details d = {0};
            rocl_json args = w->args;
            read_xla_args(&args, &d, &r->link);
            if (args.wrong)
                return chrome_count_bad_args(to, r->where);
        }
        if (f->xla.count && r->name.n > 3 && !memcmp(r->name.p, "hip", 3))
            r->as.e.category = f->hip;
        break;
    }
    if (!r->as.e.category)
        r->as.e.category = rocl_records_text(to, e->cat);
    return chrome_put_with_args(to, r, &f->collectives, w, e, err);
}

/* A process or thread with a text as its number gets that as its name, unless metadata name it. */
static rocl_status name_by_key(rocl_records *to, const rocl_source_record *r, rocl_key_of of,
                               rocl_view text, rocl_error *err)
{
    rocl_source_record last = *r;
    last.where = LAST_PLACE;
    return rocl_record_name(to, of, &last, text, err);
}

/* The process and thread of an event, which get names here if only their numbers have them.
 * *in_row: that of XLA's GPU work that it is in, or NULL; *on_gpu: rtg2json wrote it as work of a
 * GPU. */
static rocl_status place_element(rocl_records *to, rocl_source_record *r, const chrome_file *f,
                                 chrome_event *e, char ph, const xla_row **in_row, bool *on_gpu,
                                 rocl_error *err)
{
    rocl_status st = ROCL_OK;
    r->process = e->row = chrome_key_of(to, &e->pid);
    r->thread = chrome_key_of(to, &e->tid);
    /* Rows of the profiler itself belong to the only process. */
    if ((r->process == 0 && r->thread == 0) || (f->kineto && rocl_view_begins(e->pid.text, "-")))
        r->process = ROCL_NO_KEY;
    if (f->kineto && e->row & ROCL_KEY_OF_TEXT && e->row != ROCL_NO_KEY)
        chrome_place_in_group(to, r, e);
    *on_gpu = f->own.known && chrome_own_place(&f->own, r);
    const xla_row *row = *in_row =
        f->xla.count ? xla_find_row(&f->xla, r->process, r->thread) : NULL;
    if (row) { /* of a GPU: its process is named by others */
        r->process = ROCL_NO_KEY;
        r->thread = row->work ? ROCL_NO_KEY : ROCL_KEY_OF_TEXT | row->name;
        rocl_view name;
        name.p = rocl_text(rocl_records_input_of(to)->trace, row->name, &name.n);
        if (ph != 'M' && !row->work)
            st = name_by_key(to, r, ROCL_KEY_THREAD, name, err);
    }
    if (st == ROCL_OK && r->process & ROCL_KEY_OF_TEXT && r->process != ROCL_NO_KEY)
        st = name_by_key(to, r, ROCL_KEY_PROCESS, e->pid.text, err);
    if (st == ROCL_OK && !row && r->thread & ROCL_KEY_OF_TEXT && r->thread != ROCL_NO_KEY)
        st = name_by_key(to, r, ROCL_KEY_THREAD, e->tid.text, err);
    return st;
}

static rocl_status put_element(rocl_records *to, chrome_file *f, chrome_worker *w, chrome_event *e,
                               uint64_t where, rocl_error *err)
{
    rocl_source_record r;
    const xla_row *row;
    bool on_gpu;
    int64_t ts = 0, dur = 0;
    const char ph = e->ph.n == 1 ? *e->ph.p : 0;
    rocl_status st = ROCL_OK;
    if (f->kineto && (ph == 's' || ph == 'f') &&
        (rocl_view_is(e->cat, "ac2g") || rocl_view_is(e->cat, "async_gpu") ||
         (rocl_view_is(e->cat, "async") && rocl_view_is(e->name, "launch")))) {
        /* From calls to GPU work: repeats the correlation. */
        const bool noted =
            !rocl_records_first_pass(to) || chrome_note_flow(to, f->flows, e, ph == 's');
        return noted ? ROCL_OK : rocl_fail_memory(err);
    }
    rocl_record_begin(&r, ROCL_REGION, where);
    if ((st = place_element(to, &r, f, e, ph, &row, &on_gpu, err)) != ROCL_OK)
        return st;
    if (ph == 'M')
        return row || on_gpu ? ROCL_OK : put_metadata(to, &r, f, w, e, err);
    /* The empty first element of rocprof and RPD. */
    if (!e->ph.n && !e->has_ts && !e->name.n && !e->pid.text.n)
        return ROCL_OK;
    if (ph != 'X' && (!strchr("XBEbeniIRPSTpFCstf", ph) || !ph)) {
        /* An event of a phase that is not read. */
        for (int i = 0; i < ASIDES && ph; i++)
            if (strchr(asides[i].phases, ph)) {
                if (rocl_records_first_pass(to))
                    atomic_fetch_add_explicit(&f->left_out[i], 1, memory_order_relaxed);
                return ROCL_OK;
            }
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE, "an event of no known phase");
    }
    if (!e->has_ts || !rocl_json_decimal(e->ts, 3, &ts))
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_TIME,
                                 rocl_time_fault(e->has_ts ? e->ts : (rocl_view){0}, 1000));
    if (e->has_dur && !rocl_json_decimal(e->dur, 3, &dur))
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_TIME, rocl_time_fault(e->dur, 1000));
    if (__builtin_add_overflow(ts, f->base, &ts) || __builtin_add_overflow(ts, dur, &r.as.e.end))
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_TIME, "a time is too large");
    r.as.e.start = ts;
    if (ph == 'X' && !e->has_dur)
        return rocl_record_fault(to, where, ROCL_FAULT_NO_END, "no duration");
    if (ph == 'C')
        return f->own.is && rocl_view_ends(e->name, " allocated (bytes)") /* the sum of those */
                   ? ROCL_OK
                   : put_counter(to, &r, w, e, on_gpu && r.process != ROCL_NO_KEY, err);
    if (ph == 's' || ph == 't' || ph == 'f')
        return chrome_put_flow(to, &r, f->flows, e, ph, err);
    if (row && row->work)
        return put_xla_work(to, &r, f, w, e, row, err);
    if (ph != 'X' && strchr("iIRnPTp", ph))
        r.kind = ROCL_INSTANT;
    else if (ph != 'X')
        r.half = strchr("BbS", ph) ? ROCL_BEGINS : ROCL_ENDS;
    r.scope = r.thread;
    if (strchr("beSF", ph)) { /* matched by id in a category, or in a name by the old kinds */
        const bool by_name = (ph == 'S' || ph == 'F') && !e->scope.n;
        const rocl_view texts[] = {by_name ? e->name : e->cat, e->id, e->scope};
        r.scope = chrome_hash_texts(texts, 3) | (uint64_t)1 << 63;
    }
    if (ph == 'X' && e->bind.n && (e->flow_in || e->flow_out) && rocl_records_want(to, ROCL_FLOW))
        st = chrome_put_bound_flows(to, &r, e, err);
    if (st == ROCL_OK && f->own.known)
        return put_own_event(to, &r, f, w, e, err);
    return st ? st : put_event(to, &r, f, w, e, err);
}

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    chrome_file *f = in->state;
    chrome_worker *w = rocl_records_own(to, sizeof *w);
    rocl_json_token v;
    if (!w)
        return rocl_fail_memory(err);
    rocl_status st = rocl_json_load(&w->r, &w->bytes, in->files[0].spool, piece->first, piece->last,
                                    f->flags | ROCL_JSON_ELEMENTS, err);
    while (st == ROCL_OK && rocl_json_element(&w->r, &v)) {
        const uint64_t where = rocl_json_offset(&w->r, &v);
        chrome_event e;
        if (!rocl_json_enter(&w->r, ROCL_JSON_OBJECT)) {
            st =
                rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE, "an event that is not an object");
            continue;
        }
        chrome_read_event(w, &e);
        if (!w->r.wrong)
            st = put_element(to, f, w, &e, where, err);
    }
    if (st == ROCL_OK && (w->text[0].failed || w->text[1].failed)) /* a name is incomplete */
        st = rocl_fail_memory(err);
    return st == ROCL_OK && w->r.wrong ? rocl_json_fail(&w->r, in->files[0].path, err) : st;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* HIP counts pairs of units where waves have 32 lanes. */
static void read_device(chrome_work *k, rocl_trace *t, rocl_json *r)
{
    enum { NAME, MEMORY, LANES, UNITS, KEYS };
    static const rocl_view keys[KEYS] = {
        [NAME] = ROCL_JSON_KEY("name"),
        [MEMORY] = ROCL_JSON_KEY("totalGlobalMem"),
        [LANES] = ROCL_JSON_KEY("warpSize"),
        [UNITS] = ROCL_JSON_KEY("numSms"),
    };
    int64_t n[KEYS] = {0};
    char json[128];
    rocl_json_token v;
    for (int i; (i = rocl_json_member(r, keys, KEYS, &v)) >= 0;)
        if (i == NAME)
            k->devices[k->device_count].name = rocl_strings_put(t->strings, v.text.p, v.text.n);
        else if (!rocl_json_int(v.text, &n[i]))
            n[i] = 0;
    const int size = snprintf(json, sizeof json,
                              "{\"cu_count\":%" PRId64 ",\"wave_front_size\":%" PRId64
                              ",\"mem_banks\":[{\"size_in_bytes\":%" PRId64 "}]}",
                              n[UNITS], n[LANES], n[MEMORY]);
    if (n[LANES] == 64 && n[UNITS] > 0 && n[MEMORY] > 0)
        k->devices[k->device_count].properties = rocl_strings_put(t->strings, json, (size_t)size);
    k->device_count++;
}

static rocl_status put_properties(rocl_trace *t, rocl_model_capture *c, rocl_property_of of,
                                  uint32_t index, rocl_buf *json, rocl_error *err)
{
    const chrome_file *f = ((const rocl_records_input *)c->state)->state;
    (void)err;
    if (of == ROCL_PROPERTIES_OF_AGENT && f->work.properties)
        rocl_buf_str(json, rocl_str(t, f->work.properties[index]));
    return ROCL_OK;
}

/* The rank, the base time and the names of devices, from known members. */
static rocl_status read_members(rocl_records_input *in, rocl_error *err)
{
    chrome_file *f = in->state;
    const rocl_json_index *x = &f->index;
    const rocl_spool *spool = in->files[0].spool;
    const rocl_json_node *base = rocl_json_child(x, x->nodes, "baseTimeNanoseconds"),
                         *info = rocl_json_child(x, x->nodes, "distributedInfo"),
                         *devices = rocl_json_child(x, x->nodes, "deviceProperties"),
                         *host = rocl_json_child(x, x->nodes, "host_name"),
                         *generator = rocl_json_child(x, x->nodes, "generator");
    static const rocl_view rank_key[] = {ROCL_JSON_KEY("rank")};
    rocl_buf b = {0};
    rocl_json r;
    rocl_json_token v;
    rocl_status st = ROCL_OK;
    const rocl_json_node *const once[] = {base, info, devices, host};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        if (once[i] && rocl_json_same(x, once[i]))
            rocl_notice(in->trace, "%s: \"%s\" occurs several times: the first is used",
                        in->files[0].path, once[i]->key);
    f->kineto = base || info || devices || rocl_json_child(x, x->nodes, "schemaVersion");
    f->rank = -1;
    if (rocl_json_load_node(&r, &v, &b, spool, base, f->flags, &st, err) &&
        !rocl_json_int(v.text, &f->base))
        f->base = 0;
    if (rocl_json_load_node(&r, &v, &b, spool, host, f->flags, &st, err) &&
        v.kind == ROCL_JSON_STRING)
        f->host = rocl_strings_put(in->trace->strings, v.text.p, v.text.n);
    if (rocl_json_load_node(&r, &v, &b, spool, generator, f->flags, &st, err))
        f->ours = v.text.n > 8 && !memcmp(v.text.p, "rocline ", 8);
    if (rocl_json_load_node(&r, &v, &b, spool, info, f->flags, &st, err) &&
        rocl_json_enter(&r, ROCL_JSON_OBJECT))
        while (rocl_json_member(&r, rank_key, 1, &v) >= 0)
            rocl_json_int(v.text, &f->rank);
    if (rocl_json_load_node(&r, &v, &b, spool, devices, f->flags, &st, err) &&
        rocl_json_enter(&r, ROCL_JSON_ARRAY))
        while (rocl_json_element(&r, &v) && f->work.device_count < CHROME_GPUS_MAX)
            if (rocl_json_enter(&r, ROCL_JSON_OBJECT))
                read_device(&f->work, in->trace, &r);
    rocl_buf_free(&b);
    return st;
}

/* After the first pass: is it known which process work belongs to? */
static rocl_status learn_callers(rocl_records_input *in, bool *again, rocl_error *err)
{
    chrome_file *f = in->state;
    *again = f->own.is && !f->own.known;
    if (*again)
        chrome_own_learn(&f->own, in->trace);
    const rocl_status st = f->own.is ? ROCL_OK : chrome_learn_callers(&f->callers, in, again, err);
    if (!f->kineto && !f->xla.count && atomic_load(&f->merged.ranked))
        f->kineto = *again = true; /* of PyTorch's members only the events are left */
    for (int i = 0; i < ASIDES && *again; i++)
        atomic_store(&f->left_out[i], 0);
    return st;
}

static rocl_status complete_record(rocl_records *to, rocl_plain_record *r, rocl_error *err)
{
    (void)err;
    chrome_complete_work(&((const chrome_file *)rocl_records_input_of(to)->state)->work, r);
    return ROCL_OK;
}

static rocl_status refine_definitions(rocl_records_input *in, rocl_error *err)
{
    chrome_file *f = in->state;
    rocl_capture *c = &in->capture->pub;
    bool several;
    rocl_status st =
        chrome_apply_groups(&f->merged, in, f->callers.collided && !f->ours, &several, err);
    /* Members of a merged file are those of the first one. */
    c->rank = f->rank >= 0 && f->rank <= INT32_MAX && !several ? (int32_t)f->rank : -1;
    for (uint32_t i = 0; i < c->process_count && c->rank >= 0; i++)
        ((rocl_process *)rocl_definition_at(c, ROCL_DEFINE_PROCESS, i))->rank = c->rank;
    if (st == ROCL_OK && f->host && !several && !f->who.roster.process_count) {
        rocl_node *node = rocl_define(c, ROCL_DEFINE_NODE);
        if (!node)
            return rocl_fail_memory(err);
        node->hostname = f->host; /* where all processes are, as there is no other */
    }
    f->work.ordinal = f->kineto && !f->ours;
    if (st == ROCL_OK)
        st = f->own.is ? chrome_own_name_gpus(&f->own, in->trace, c, err)
                       : chrome_name_gpus(&f->work, in, err);
    if (st == ROCL_OK)
        st = chrome_who_refine(&f->who, in, err);
    if (st != ROCL_OK)
        return st;
    /* "FILE: events of other phases are left out: 12 of objects, 3 of memory dumps" */
    rocl_buf b = {0};
    rocl_buf_printf(&b, "%s: events of other phases are left out:", in->source->path);
    const size_t begin = b.len;
    for (int i = 0; i < ASIDES; i++) {
        const uint64_t n = atomic_load(&f->left_out[i]);
        if (n)
            rocl_buf_printf(&b, "%s %" PRIu64 " of %s", b.len > begin ? "," : "", n,
                            asides[i].what);
    }
    const bool any = b.len > begin;
    rocl_buf_byte(&b, 0);
    if (any && !b.failed)
        rocl_notice(in->trace, "%s", (const char *)b.data);
    rocl_buf_free(&b);
    return chrome_explain_flows(f->flows, in, err);
}

static bool sees_agent(const rocl_records_input *in, uint64_t process, uint64_t host)
{
    return chrome_who_sees(&((const chrome_file *)in->state)->who, process, host);
}

static void close_file(rocl_records_input *in)
{
    chrome_file *f = in->state;
    chrome_flows_free(f->flows, in->trace);
    chrome_callers_close(&f->callers);
    chrome_merged_close(&f->merged);
    chrome_collectives_close(&f->collectives);
    chrome_work_close(&f->work);
    chrome_own_close(&f->own);
    chrome_who_close(&f->who);
    xla_rows_free(&f->xla);
    rocl_json_index_free(&f->index);
}

/* The next array of events: the whole file, or a member of it, of which there may be several. NULL:
 * no more. */
static const rocl_json_node *next_events(const rocl_json_index *x, const rocl_json_node *before)
{
    if (x->nodes->kind == ROCL_JSON_ARRAY)
        return before ? NULL : x->nodes;
    return before ? rocl_json_same(x, before) : rocl_json_child(x, x->nodes, "traceEvents");
}

static rocl_status open_file(rocl_records_input *in, rocl_error *err)
{
    rocl_source *s = in->source;
    rocl_trace *t = in->trace;
    chrome_file *f = in->state;
    static const char *const words[] = {"KERNEL_DISPATCH",   "MEMORY_COPY",
                                        "HIP_RUNTIME_API",   "MARKER_CORE_RANGE_API",
                                        "MEMORY_ALLOCATION", "HSA_CORE_API"};
    uint32_t texts[6];
    pthread_mutex_t *const locks[] = {&f->callers.lock, &f->merged.lock, &f->collectives.lock,
                                      &f->work.lock, &f->own.lock};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
        pthread_mutex_init(locks[i], NULL);
    f->work.callers = f->collectives.callers = &f->callers;
    f->own.who = &f->who;
    if (!rocl_intern_words(t, words, 6, texts) || !(f->flows = chrome_flows_new(t)))
        return rocl_fail_memory(err);
    f->work.kernel = texts[0];
    f->work.copy = texts[1];
    f->hip = texts[2];
    f->marker = texts[3];
    f->work.allocation = texts[4];
    f->hsa = texts[5];
    rocl_json_outline how = {.objects = 1, .flags = ROCL_JSON_NANS};
    rocl_status st = rocl_records_outline(in, &f->index, &how, err);
    f->flags = how.flags;
    if (st != ROCL_OK)
        return st;
    const rocl_json_node *events = next_events(&f->index, NULL);
    do {
        if (!events || events->kind != ROCL_JSON_ARRAY)
            return rocl_fail(err, ROCL_INPUT, "%s: JSON, but it has no array traceEvents", s->path);
        if (!rocl_records_add_blocks(in, &f->index, events, 0))
            return rocl_fail_memory(err);
    } while ((events = next_events(&f->index, events)));
    /* An array alone need not be closed. */
    const bool in_event = f->index.rest < f->index.size;
    if (f->index.truncated && (in_event || f->index.nodes->kind == ROCL_JSON_OBJECT))
        st = rocl_source_truncated(s, t, err);
    if (st == ROCL_OK)
        st = read_members(in, err);
    if (st == ROCL_OK && !f->kineto)
        st = chrome_own_find(&f->own, &f->index, in->files[0].spool, f->flags, &f->base, err);
    if (st == ROCL_OK && (f->kineto || f->own.is))
        st = chrome_who_open(&f->who, in, &f->index, f->flags, err);
    f->work.in_work_items = f->own.is;
    for (events = next_events(&f->index, NULL); st == ROCL_OK && events && !f->kineto;
         events = next_events(&f->index, events))
        st = xla_rows_read(&f->xla, t, &f->index, events, in->files[0].spool, f->flags, err);
    if (st == ROCL_OK && f->xla.host)
        in->likely_process = f->xla.host;
    return st;
}

static const rocl_record_format format = {.state_size = sizeof(chrome_file),
                                          .open = open_file,
                                          .places = ROCL_PLACES_BYTES,
                                          .parse = parse_piece,
                                          .keeps = true,
                                          .complete = complete_record,
                                          .free_worker = chrome_free_worker,
                                          .passed = learn_callers,
                                          .refine = refine_definitions,
                                          .sees = sees_agent,
                                          .close = close_file};

const rocl_source_ops rocl_chrome_ops = {ROCL_RECORDS_OPS(format), .properties = put_properties};
