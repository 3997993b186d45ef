/* Trace JSON as PyTorch's profiler (Kineto) writes it, from any trace: a file for each rank. In a
 * team each file is written by whoever reads that rank.
 *
 *     batches -> sorted records of each capture -> threads in order of time: calls, their
 *                operators and annotations -> GPU work, with what its calls know of it
 *             -> items of blocks -> text (text.c)
 *
 * A call has the number ("External id") of the innermost operator around it, and so has the work
 * that it launched. Of each call within an operator or annotation some 40 bytes are kept until its
 * capture is written. An annotation is drawn on a stream as well, around the
 * work that was launched from it and from no annotation within it.
 *
 * One thread walks through the records, in the order of the file; the workers of the pipe make the
 * text of its blocks and compress it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/map.h"
#include "base/num.h"
#include "base/order.h"
#include "base/out_set.h"
#include "base/strings.h"
#include "base/text.h"
#include "format/roster.h"
#include "sink/kineto/text.h"
#include "sink/piped.h"
#include "trace/joint.h"
#include "trace/pipeline.h"

#define SECOND 1000000000

enum { SEVERAL = -2 };
enum { EVENT_TEXT = 200 }; /* bytes of an event without arguments of its source, about */

typedef struct kineto_capture {
    rocl_sorter *sorter; /* NULL: a filter has left it out */
    rocl_links links;
} kineto_capture;

typedef struct kineto_times {
    int64_t first, last;
} kineto_times;

typedef struct kineto_worker {
    kineto_writer writer; /* first */
    kineto_times times;
    uint64_t left_out;
} kineto_worker;

typedef struct open_range { /* of the thread at hand */
    int64_t end;
    uint64_t operator_id; /* of the innermost operator; 0: there is none */
    uint32_t annotation;  /* the innermost; ROCL_NONE */
} open_range;

typedef struct kineto_launch { /* the range that work was launched from */
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
    kineto_times times;       /* of all events; on rank 0 later those of all ranks */
    kineto_capture *captures; /* by index */
    kineto_format format;
    kineto_writer own; /* of the thread that walks: for items that are not records */
    rocl_buf text;     /* that it has made */
    rocl_piped file;
    rocl_roster roster; /* of the trace; what the file at hand has is marked in it */
    size_t *firsts;     /* by capture: its first process in the roster */
    bool of_several;    /* the file at hand has several processes; PyTorch's are of one */
    int64_t host;       /* of all processes in the file at hand; -1: none, SEVERAL */
    bool mixes_hosts;   /* a file has those of several hosts */
    rocl_out **done;    /* written files, which get their names together */
    size_t done_count, done_cap;
    uint32_t ext_launch; /* text */
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

static void widen_times(kineto_times *t, int64_t first, int64_t last)
{
    t->first = first < t->first ? first : t->first;
    t->last = last > t->last ? last : t->last;
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
        widen_times(&w->times, e->start, e->end);
    }
    if (b->kind != ROCL_ALLOC)
        return rocl_encoder_events(s, worker, b, err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        /* Allocations have a record of their own: thread, agent, operation, bytes, address. */
        const rocl_alloc *a = &b->allocs[i];
        uint8_t buf[64],
            *q = rocl_varint_put(buf, a->e.thread == ROCL_NONE ? 0 : a->e.thread + 1ull);
        const uint64_t key[4] = {
            rocl_sequence_number(ROCL_SEQUENCE_ALLOCATED, a->e.process) << ROCL_SEQUENCE_SHIFT |
                (uint64_t)a->e.start >> (64 - ROCL_SEQUENCE_SHIFT),
            (uint64_t)a->e.start, ~(uint64_t)a->e.end, rocl_row_word(a->e.id, ROCL_ALLOC)};
        q = rocl_varint_put(q, a->owner == ROCL_NONE ? 0 : a->owner + 1ull);
        q = rocl_varint_put(q, a->op == ROCL_OP_FREE);
        q = rocl_varint_put(q, a->block ? a->block : a->size);
        q = rocl_varint_put(q, a->address);
        st = rocl_sorter_add(s->encoder.sorter, worker, key, buf, (size_t)(q - buf), err);
    }
    return st;
}

static rocl_status end_capture(void *self, const rocl_capture *capture, rocl_error *err)
{
    kineto_sink *s = self;
    kineto_capture *at = &s->captures[capture->index];
    return rocl_timeline_resolve(s->trace, &at->sorter, &at->links, err);
}

/* ---- items ----------------------------------------------------------------------------------- */

/* Adds an item and its data to the current block. */
static void put_item(kineto_sink *s, kineto_item *item, const void *data, size_t n)
{
    rocl_buf *b = rocl_piped_buf(&s->file);
    item->len = n;
    item->capture = s->capture;
    rocl_buf_put(b, item, sizeof *item);
    rocl_buf_put(b, data, n);
}

static void put_record_item(kineto_sink *s, const rocl_sort_record *rec, kineto_item *item)
{
    memcpy(item->key, rec->key, sizeof item->key);
    item->first = !s->own.begun;
    s->own.begun = true;
    put_item(s, item, rec->data, rec->len);
}

/* Adds the text that the walking thread has made itself. */
static void put_own_text(kineto_sink *s)
{
    if (s->text.len)
        put_item(s, &(kineto_item){.kind = KINETO_TEXT}, s->text.data, s->text.len);
    rocl_piped_buf(&s->file)->failed |= s->text.failed;
    s->text.len = 0;
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

/* ---- host ------------------------------------------------------------------------------------ */

/* Opens the current range for those within it and work launched from it. */
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
        if (kineto_find_external_id(&s->format, e, &id))
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

static rocl_status walk_call(kineto_sink *s, const rocl_sort_record *rec, const rocl_track_event *e,
                             rocl_error *err)
{
    kineto_item item = {.kind = KINETO_RECORD};
    kineto_class class;
    open_range range;
    uint64_t id;
    kineto_class_of(s->trace, e, &class);
    if (!open_slice(s, e, class, &range, &id))
        return rocl_fail_memory(err);
    item.linked = rocl_links_of(&s->links, e) == ROCL_LINK_CALL;
    if (class == KINETO_CALL && e->stack_id && !note_launch(s, e, &range))
        return rocl_fail_memory(err);
    if (class == KINETO_CALL && !kineto_find_external_id(&s->format, e, &id))
        id = range.operator_id;
    item.operator_id = id;
    put_record_item(s, rec, &item);
    s->report.slices += e->kind != ROCL_INSTANT;
    s->report.instants += e->kind == ROCL_INSTANT;
    return ROCL_OK;
}

/* ---- GPU work -------------------------------------------------------------------------------- */

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
        kineto_put_metadata(&s->own, "process_name", device, 0, "name", program, 0);
        kineto_put_metadata(&s->own, "process_labels", device, 0, "labels", name, 0);
        kineto_put_metadata(&s->own, "process_sort_index", device, 0, "sort_index", NULL,
                            5000000 + device);
        if (!rocl_map_put(&s->rows, whole, 1))
            return false;
    }
    if (rocl_map_get(&s->rows, row, 0))
        return true;
    snprintf(name, sizeof name, "stream %" PRId64 " ", stream);
    kineto_put_metadata(&s->own, "thread_name", device, stream, "name", name, 0);
    kineto_put_metadata(&s->own, "thread_sort_index", device, stream, "sort_index", NULL, stream);
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

static rocl_status walk_work(kineto_sink *s, const rocl_sort_record *rec, const rocl_track_event *e,
                             rocl_error *err)
{
    const int64_t device = kineto_device(s->capture, e->agent),
                  stream = kineto_stream(&s->format, s->capture, e);
    const uint32_t i =
        e->stack_id ? rocl_map_get(&s->launch_index, e->stack_id, ROCL_NONE) : ROCL_NONE;
    const kineto_launch *launch = i == ROCL_NONE ? NULL : &s->launches[i];
    kineto_item item = {.kind = KINETO_RECORD,
                        .linked = rocl_links_of(&s->links, e) == ROCL_LINK_WORK,
                        .in_work_items =
                            e->stack_id && rocl_idset_has(&s->in_work_items, e->stack_id),
                        .of_several = s->of_several,
                        .operator_id = launch ? launch->operator_id : 0};
    if (!name_row(s, e->index, device, stream))
        return rocl_fail_memory(err);
    put_own_text(s);
    put_record_item(s, rec, &item);
    s->report.slices++;
    if (launch && launch->annotation != ROCL_NONE &&
        !stretch_annotation(s, e, launch->annotation, device, stream))
        return rocl_fail_memory(err);
    return ROCL_OK;
}

/* ---- allocations ----------------------------------------------------------------------------- */

/* The bytes that are allocated on a device by now. */
static rocl_status walk_allocation(kineto_sink *s, const rocl_sort_record *rec, rocl_error *err)
{
    const rocl_capture *c = s->capture;
    kineto_item item = {.kind = KINETO_MEMORY};
    kineto_allocation a;
    if (!kineto_decode_allocation(rec->data, rec->len, &a))
        return rocl_fail_sorted(err);
    const int64_t device = rocl_is_gpu(c, a.agent) ? kineto_device(c, a.agent) : -1;
    uint32_t at = rocl_map_get(&s->allocated, (uint64_t)device + 1, ROCL_NONE);
    if (at == ROCL_NONE) {
        at = (uint32_t)(s->total_count < 64 ? s->total_count++ : 63);
        if (!rocl_map_put(&s->allocated, (uint64_t)device + 1, at))
            return rocl_fail_memory(err);
    }
    /* Absurd sizes make the sum wrap and come back. */
    s->totals[at] = (int64_t)((uint64_t)s->totals[at] + (uint64_t)(a.frees ? -a.bytes : a.bytes));
    item.total = s->totals[at];
    put_record_item(s, rec, &item);
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

/* *weight: the approximate length of its text. */
static rocl_status walk_record(kineto_sink *s, const rocl_sort_record *rec, size_t *weight,
                               rocl_error *err)
{
    rocl_track_event e;
    const uint64_t sequence = rocl_sequence_of(rec->key);
    const rocl_sequence_kind kind = rocl_sequence_kind_of(sequence);
    *weight = EVENT_TEXT;
    if (kind == ROCL_SEQUENCE_ALLOCATED)
        return walk_allocation(s, rec, err);
    if (!rocl_record_decode(rec, &e))
        return rocl_fail_sorted(err);
    rocl_track_event args = e;
    rocl_track_arg a;
    while (rocl_track_event_next_arg(&args, &a))
        *weight += a.len + 20;
    if (kind != ROCL_SEQUENCE_HOST)
        return walk_work(s, rec, &e, err);
    if (sequence != s->sequence) {
        uint32_t thread;
        const uint32_t process = rocl_host_process(s->capture, e.index, &thread);
        const rocl_capture *c = s->capture;
        char name[320], buf[256];
        const int64_t pid = kineto_pid(&s->format, c, process),
                      tid = kineto_tid(&s->format, c, thread, process);
        s->depth = 0;
        if (thread < c->thread_count) {
            const char *label = rocl_text(s->trace, c->threads[thread].name, NULL);
            if (!strncmp(label, "thread ", 7)) { /* as PyTorch wrote it */
                snprintf(name, sizeof name, "%s", label);
            } else {
                label = rocl_thread_label(c, &c->threads[thread], &c->processes[process], buf,
                                          sizeof buf);
                snprintf(name, sizeof name, "thread %" PRId64 "%s%s%s", tid, *label ? " (" : "",
                         label, *label ? ")" : "");
            }
            kineto_put_metadata(&s->own, "thread_name", pid, tid, "name", name, 0);
            kineto_put_metadata(&s->own, "thread_sort_index", pid, tid, "sort_index", NULL, tid);
        }
        put_own_text(s);
        s->sequence = sequence;
    }
    if (e.kind != ROCL_FLOW)
        return walk_call(s, rec, &e, err);
    put_record_item(s, rec, &(kineto_item){.kind = KINETO_RECORD});
    return ROCL_OK;
}

static rocl_status write_capture(kineto_sink *s, size_t index, rocl_error *err)
{
    const rocl_capture *c = &s->trace->captures[index]->pub;
    kineto_capture *at = &s->captures[index];
    rocl_sort_record rec;
    forget_ranges(s);
    s->capture = c;
    s->links = at->links;
    for (uint32_t i = 0; i < c->process_count; i++) {
        char name[256];
        const int64_t pid = kineto_pid(&s->format, c, i);
        name_process(s, i, name, sizeof name);
        kineto_put_metadata(&s->own, "process_name", pid, 0, "name", name, 0);
        kineto_put_metadata(&s->own, "process_labels", pid, 0, "labels", "CPU", 0);
        kineto_put_metadata(&s->own, "process_sort_index", pid, 0, "sort_index", NULL, pid);
    }
    put_own_text(s);
    rocl_status st = rocl_sorter_start(at->sorter, err);
    while (rocl_sorter_take(at->sorter, &rec, &st, err)) {
        size_t weight = 0;
        st = walk_record(s, &rec, &weight, err);
        if (st == ROCL_OK)
            st = rocl_piped_end_record(&s->file, s->trace, weight, err);
    }
    for (size_t i = 0; i < s->range_count && st == ROCL_OK; i++) {
        const gpu_range *r = &s->ranges[i];
        const kineto_annotation *a = &s->annotations[r->annotation];
        kineto_put_gpu_annotation(&s->own, a->name, a->operator_id, r->device, r->stream, r->first,
                                  r->last);
        put_own_text(s);
        st = rocl_piped_end_record(&s->file, s->trace, EVENT_TEXT, err);
    }
    rocl_sorter_free(at->sorter);
    at->sorter = NULL;
    rocl_links_free(&at->links);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The rank of a capture; -1: none, or several (a flat database), which cannot be separated. */
static int32_t rank_of(const rocl_capture *c)
{
    for (uint32_t i = 1; i < c->process_count; i++)
        if (c->processes[i].rank != c->processes[0].rank)
            return -1;
    return c->rank;
}

/* The processes of the file at hand get numbers that no other there has, and GPUs of their hosts
 * those that events have: of their own first, as others may count differently. */
static rocl_status number_file(kineto_sink *s, int32_t rank, rocl_error *err)
{
    const rocl_trace *t = s->trace;
    rocl_roster *who = &s->roster;
    rocl_map pids = {0}, devices = {0};
    int64_t host = -1, next = 1 << 22; /* above all pids of Linux */
    size_t of_rank = 0;
    bool ok = true;
    s->host = -1;
    for (size_t i = 0; i < who->gpu_count; i++)
        who->gpus[i].id = -1;
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        const bool in = rank_of(c) == rank && rocl_trace_takes(t, c);
        of_rank += rank_of(c) == rank ? c->process_count : 0;
        for (uint32_t k = 0; k < c->process_count && ok; k++) {
            rocl_roster_process *p = &who->processes[s->firsts[i] + k];
            int64_t *pid = &s->format.pids[s->firsts[i] + k];
            p->id = -1;
            if (!in)
                continue;
            for (*pid = p->pid; rocl_map_get(&pids, (uint64_t)*pid, 0);)
                *pid = ++next;
            p->id = *pid;
            ok = rocl_map_put(&pids, (uint64_t)*pid, 1);
            s->mixes_hosts |= host >= 0 && host != p->on;
            host = p->on;
            if (p->id != -1)
                s->host = s->host == -1 || s->host == p->on ? p->on : SEVERAL;
        }
        for (uint32_t k = 0; k < c->agent_count && ok && in; k++) {
            const uint32_t gpu = c->agents[k].gpu;
            const int64_t device = kineto_device(c, k);
            const uint64_t key = (uint64_t)c->agents[k].machine << 32 ^ (uint64_t)device;
            if (gpu >= who->gpu_count || who->gpus[gpu].id != -1 || rocl_map_get(&devices, key, 0))
                continue;
            who->gpus[gpu].id = device;
            ok = rocl_map_put(&devices, key, 1);
        }
    }
    rocl_map_free(&pids);
    rocl_map_free(&devices);
    s->of_several = of_rank > 1;
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

/* Everything before the events; ranks: of the job, 0: unknown. */
static void put_head(kineto_sink *s, int32_t rank, size_t ranks)
{
    const rocl_trace *t = s->trace;
    rocl_buf *b = &s->text;
    uint32_t machine = ROCL_NONE;
    for (size_t i = t->capture_count; i-- > 0;)
        machine = rank_of(&t->captures[i]->pub) == rank ? t->captures[i]->pub.machine : machine;
    rocl_buf_str(b, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
    kineto_put_devices(&s->own, machine);
    if (rank >= 0) {
        rocl_buf_str_i64(b, "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": ", rank);
        if (ranks)
            rocl_buf_str_u64(b, ", \"world_size\": ", ranks);
        rocl_buf_str(b, "},\n");
    }
    const char *host = s->host < 0 ? "" : rocl_text(t, s->roster.hosts[s->host].hostname, NULL);
    if (*host) {
        rocl_buf_str(b, "  \"host_name\": \"");
        rocl_json_put(b, host, strlen(host));
        rocl_buf_str(b, "\",\n");
    }
    rocl_buf_str(b, "  \"" ROCL_ROSTER_MEMBER "\": ");
    rocl_roster_put(b, t, &s->roster);
    rocl_buf_str(b, ",\n  \"generator\": \"rocline " ROCLINE_VERSION
                    "\",\n  \"displayTimeUnit\": \"ms\",\n");
    rocl_buf_str_i64(b, "  \"baseTimeNanoseconds\": ", s->format.base);
    rocl_buf_str(b, ",\n  \"traceEvents\": [");
    s->own.begun = false;
    put_own_text(s);
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

/* What the workers of the pipe do. */
static rocl_status write_items(void *ctx, unsigned worker, const rocl_buf *in, rocl_buf *out,
                               rocl_error *err)
{
    kineto_sink *s = ctx;
    return kineto_write_items(&s->workers[worker].writer, in, out, err);
}

static rocl_status write_rank(kineto_sink *s, const char *path, int32_t rank, size_t ranks,
                              rocl_error *err)
{
    rocl_status st = rocl_piped_open_format(&s->file, s->trace, path, s->opt->gzip, s->opt->level,
                                            write_items, s, err);
    if (st == ROCL_OK)
        st = number_file(s, rank, err);
    if (st == ROCL_OK)
        put_head(s, rank, ranks);
    rocl_map_free(&s->rows);
    for (size_t i = 0; i < s->trace->capture_count && st == ROCL_OK; i++)
        if (rank_of(&s->trace->captures[i]->pub) == rank && s->captures[i].sorter)
            st = write_capture(s, i, err);
    rocl_buf_str(&s->text, "\n  ]\n}\n");
    put_own_text(s);
    if (st == ROCL_OK)
        st = rocl_piped_finish(&s->file, err);
    if (st == ROCL_OK && !ROCL_GROW(s->done, s->done_cap, s->done_count + 1))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        s->done[s->done_count++] = s->file.out;
        s->file.out = NULL;
        st = rocl_out_seal(s->done[s->done_count - 1], true, err);
    }
    rocl_piped_discard(&s->file);
    return st;
}

/* In a team: does this process write the file of that rank? If there are none, rank 0 writes
 * one. */
static bool is_own(const kineto_sink *s, int32_t rank, bool none)
{
    const rocl_trace *t = s->trace;
    for (size_t i = 0; t->joint && !none && i < t->capture_count; i++)
        if (rank_of(&t->captures[i]->pub) == rank && rocl_trace_takes(t, &t->captures[i]->pub)) {
            rocl_joint_write_to(t->joint, &t->captures[i]->pub);
            return rocl_joint_own(t->joint)[i];
        }
    return !t->joint || rocl_joint_leads(t->joint);
}

/* A file for each rank; if there is one, or none is known, that of the given name. */
static rocl_status write_ranks(kineto_sink *s, rocl_error *err)
{
    rocl_trace *t = s->trace;
    int64_t *ranks = calloc(t->capture_count + 1, sizeof *ranks);
    size_t n = 0, all = 0;
    rocl_status st = ranks ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; ranks && i < t->capture_count; i++)
        if (rocl_trace_takes(t, &t->captures[i]->pub))
            ranks[all++] = rank_of(&t->captures[i]->pub);
    if (all)
        qsort(ranks, all, sizeof *ranks, rocl_compare_i64);
    for (size_t i = 0; i < all; i++)
        if (!i || ranks[i] != ranks[n - 1])
            ranks[n++] = ranks[i];
    /* The total is known only if no rank is missing. */
    const size_t known = n && ranks[0] >= 0 && ranks[n - 1] == (int64_t)n - 1 ? n : 0;
    if (n > 1 && !strcmp(s->opt->path, "-"))
        st = rocl_fail(err, ROCL_USAGE, "%zu ranks are as many files: standard output is one", n);
    for (size_t i = 0; i < (n ? n : 1) && st == ROCL_OK; i++) {
        const int32_t rank = n ? (int32_t)ranks[i] : -1;
        if (!is_own(s, rank, !n))
            continue;
        char *own = n > 1 ? name_of_rank(s->opt->path, rank) : NULL;
        if (n > 1 && !own)
            st = rocl_fail_memory(err);
        else
            st = write_rank(s, own ? own : s->opt->path, rank, known, err);
        free(own);
    }
    free(ranks);
    if (st != ROCL_OK)
        return st;
    uint64_t counts[] = {s->report.slices, s->report.instants, s->report.left_out};
    rocl_joint_sums sums = {.own = counts, .own_count = sizeof counts / sizeof *counts};
    st = rocl_joint_commit(t, s->done, s->done_count, &sums, err);
    s->report.files = sums.files;
    s->report.bytes = sums.bytes;
    s->report.slices = counts[0];
    s->report.instants = counts[1];
    s->report.left_out = counts[2];
    return st;
}

/* ---- the run --------------------------------------------------------------------------------- */

static void tell_times(void *ctx, rocl_buf *b)
{
    const kineto_sink *s = ctx;
    rocl_buf_varint(b, rocl_zigzag(s->times.first));
    rocl_buf_varint(b, rocl_zigzag(s->times.last));
}

static rocl_status hear_times(void *ctx, unsigned rank, rocl_byte_reader *r, rocl_error *err)
{
    kineto_sink *s = ctx;
    const int64_t first = rocl_unzigzag(rocl_next_number(r));
    (void)rank, (void)err;
    widen_times(&s->times, first, rocl_unzigzag(rocl_next_number(r)));
    return ROCL_OK; /* the caller checks whether it was cut */
}

/* A second at or before the first event, so that times are exact as doubles. One for all ranks:
 * readers compare times of ranks without it. */
static void decide_base(void *ctx, rocl_buf *b)
{
    kineto_sink *s = ctx;
    const int64_t first = s->times.first;
    s->format.base = s->times.last < first || first < 0 ? 0 : first - first % SECOND;
    rocl_buf_varint(b, rocl_zigzag(s->format.base));
}

static void take_base(void *ctx, rocl_byte_reader *r)
{
    kineto_sink *s = ctx;
    s->format.base = rocl_unzigzag(rocl_next_number(r));
}

static rocl_status choose_base(kineto_sink *s, rocl_error *err)
{
    static const rocl_joint_talk talk = {tell_times, hear_times, decide_base, take_base};
    s->times = (kineto_times){INT64_MAX, INT64_MIN};
    for (unsigned w = 0; w < s->trace->opt.jobs; w++)
        widen_times(&s->times, s->workers[w].times.first, s->workers[w].times.last);
    return rocl_joint_agree(s->trace->joint, &talk, s, err);
}

static rocl_status open_sink(kineto_sink *s, rocl_error *err)
{
    static const char *const words[] = {"hipExtModuleLaunchKernel", "string", "External id"};
    rocl_trace *t = s->trace;
    uint32_t *const texts[] = {&s->ext_launch, &s->format.string_type, &s->format.external_id};
    size_t processes = 0;
    for (int i = 0; i < 3; i++)
        if ((*texts[i] = rocl_strings_put(t->strings, words[i], strlen(words[i]))) == ROCL_NONE)
            return rocl_fail_memory(err);
    s->workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *s->workers);
    s->captures = calloc(t->capture_count + 1, sizeof *s->captures);
    s->firsts = calloc(t->capture_count + 1, sizeof *s->firsts);
    for (size_t i = 0; s->firsts && i < t->capture_count; i++) {
        s->firsts[i] = processes;
        processes += t->captures[i]->pub.process_count;
    }
    s->format.pids = calloc(processes + 1, sizeof *s->format.pids);
    if (!s->workers || !s->captures || !s->firsts || !s->format.pids ||
        !rocl_roster_make(&s->roster, t))
        return rocl_fail_memory(err);
    s->format.firsts = s->firsts;
    s->format.trace = t;
    s->format.group_by_queue = s->opt->group_by_queue;
    kineto_writer_open(&s->own, &s->format);
    s->own.to = &s->text;
    for (unsigned w = 0; w < t->opt.jobs; w++) {
        s->workers[w].times = (kineto_times){INT64_MAX, INT64_MIN};
        kineto_writer_open(&s->workers[w].writer, &s->format);
    }
    /* A file whose captures one rank reads can be written by that rank alone. */
    int32_t *ranks = calloc(t->capture_count + 1, sizeof *ranks);
    rocl_status st = ranks ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; ranks && i < t->capture_count; i++)
        ranks[i] = rank_of(&t->captures[i]->pub);
    if (st == ROCL_OK)
        st = rocl_joint_is_apart(t, ranks) ? rocl_joint_open(t, s->opt->path, err)
                                           : rocl_pipeline_complete(t, err);
    rocl_joint_set_order(t, ROCL_JOINT_ALONE);
    free(ranks);
    return st ? st : rocl_encoder_open(&s->encoder, err);
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
    rocl_piped_discard(&s->file); /* before what its workers use */
    kineto_writer_close(&s->own);
    for (unsigned w = 0; s->workers && w < s->trace->opt.jobs; w++)
        kineto_writer_close(&s->workers[w].writer);
    rocl_buf_free(&s->text);
    rocl_encoder_close(&s->encoder);
    rocl_roster_free(&s->roster);
    free(s->firsts);
    free(s->format.pids);
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
    uint64_t records = 0, mixed = 0;
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
    for (unsigned w = 0; s.workers && w < t->opt.jobs; w++)
        s.report.left_out += s.workers[w].left_out;
    if (st == ROCL_OK)
        st = choose_base(&s, err);
    if (st == ROCL_OK) {
        for (size_t i = 0; i < t->capture_count; i++) {
            records += s.captures[i].sorter ? rocl_sorter_count(s.captures[i].sorter) : 0;
            mixed +=
                s.captures[i].sorter && rank_of(&t->captures[i]->pub) != t->captures[i]->pub.rank;
        }
        rocl_progress_phase(t, "writing", records);
        st = write_ranks(&s, err);
    }
    const bool tells = !t->joint || rocl_joint_leads(t->joint), hosts = s.mixes_hosts;
    close_sink(&s);
    if (st == ROCL_OK && tells && s.report.left_out)
        rocl_notice(t,
                    "%" PRIu64 " event%s left out: PyTorch's traces have no place for counters, "
                    "samples, scratch memory, graphs and HIP events",
                    s.report.left_out, s.report.left_out == 1 ? "" : "s");
    if (st == ROCL_OK && tells && mixed)
        rocl_notice(
            t, "several ranks share one set of tables, and are written to one file without a rank: "
               "for a file each, convert their own inputs or merge without --flat");
    if (st == ROCL_OK && tells && hosts)
        rocl_notice(t, "PyTorch's traces are of one host: GPUs of different hosts share rows where "
                       "their numbers are equal");
    if (report)
        *report = s.report;
    return st ? st : rocl_trace_outcome_utf8(t);
}
