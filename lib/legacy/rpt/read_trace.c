/* Any trace as records: what ran on queues, numbered in order of start. */
#include "legacy/rpt/rpt.h"

#include <stdlib.h>

#include "model/identity.h"
#include "trace/pipeline.h"

/* What a worker calls copies: a name is made once for all copies of a name and size. */
typedef struct copy_names {
    rocl_map sizes; /* size -> its number, in order of first sight */
    rocl_map named; /* name and number of the size -> "NAME_N_bytes" */
    rocl_buf text;
} copy_names;

typedef struct trace_reader {
    rpt *rpt;
    rocl_trace *trace;
    rocl_sorter *sorter; /* key: start, capture and kind, row */
    copy_names *copies;  /* one per worker */
} trace_reader;

/* A name that the trace does not have is "": ROCL_NONE is kept for when memory is out. */
static uint32_t name_of(const rocl_event *e)
{
    return e->name == ROCL_NONE ? 0 : e->name;
}

/* "NAME_N_bytes", or the name alone where the size is not known. */
static uint32_t name_copy(const trace_reader *g, const rocl_copy *copy, copy_names *c)
{
    rocl_strings *strings = g->trace->strings;
    if (!copy->size)
        return name_of(&copy->e);
    uint32_t size = rocl_map_get(&c->sizes, copy->size, (uint32_t)c->sizes.count);
    uint64_t key = (uint64_t)name_of(&copy->e) << 32 | size;
    uint32_t name = rocl_map_get(&c->named, key, ROCL_NONE);
    if (name != ROCL_NONE)
        return name;
    size_t n;
    const char *p = rocl_strings_get(strings, copy->e.name, &n);
    c->text.len = 0;
    rocl_buf_put(&c->text, p, n);
    rocl_buf_printf(&c->text, "_%llu_bytes", (unsigned long long)copy->size);
    if (!c->text.failed)
        name = rocl_strings_put(strings, (char *)c->text.data, c->text.len);
    bool kept = rocl_map_put(&c->sizes, copy->size, size) && rocl_map_put(&c->named, key, name);
    return kept ? name : ROCL_NONE;
}

enum { BY_ORDER = -1 }; /* the number of a command that has none: its rank in order of start */

static rpt_record make_record(const trace_reader *g, const rocl_batch *b, size_t i,
                              copy_names *copies)
{
    const rocl_capture *c = b->capture;
    const rocl_event *e = rocl_batch_event(b, i);
    const rocl_work_place at = rocl_work_place_on_gpu(c, b->kind, e);
    rpt_record r = {.start = e->start, .stop = e->end, .name = name_of(e), .command = BY_ORDER};
    /* GPUs of several machines are numbered consecutively; work without a GPU is on the first. */
    const rocl_gpu *gpu = rocl_gpu_of(c, at.agent);
    if (gpu)
        r.device = rocl_trace_machines(g->trace) > 1 ? gpu - g->trace->gpus : gpu->id;
    r.queue = at.queue < c->queue_count ? c->queues[at.queue].id : 0;
    if (b->kind == ROCL_DISPATCH) {
        r.type = g->rpt->kernel;
        r.command = (int64_t)b->dispatches[i].dispatch_id;
    } else if (b->kind == ROCL_BARRIER) {
        r.type = g->rpt->barrier;
    } else {
        r.type = g->rpt->copy;
        r.name = name_copy(g, &b->copies[i], copies);
    }
    return r;
}

static rocl_status add_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    trace_reader *g = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        rpt_record r = make_record(g, b, i, &g->copies[worker]);
        uint64_t key[3] = {rpt_time_key(r.start), (uint64_t)b->capture->index << 8 | b->kind,
                           rocl_batch_event(b, i)->id};
        bool fits = r.start > -RPT_TIME_MAX && r.stop < RPT_TIME_MAX;
        if (r.name == ROCL_NONE)
            st = rocl_fail_memory(err);
        else if (fits)
            st = rocl_sorter_add(g->sorter, worker, key, &r, sizeof r, err);
        else
            st = rocl_fault_count(g->trace, ROCL_FAULT_BAD_TIME, err, "%s: a time beyond 2^62 ns",
                                  b->capture->path);
    }
    return st;
}

static rocl_status seal_records(void *self, unsigned worker, rocl_error *err)
{
    return rocl_sorter_seal(((trace_reader *)self)->sorter, worker, err);
}

rocl_status rpt_read_trace(rpt *r, rocl_trace *t, rocl_error *err)
{
    trace_reader g = {.rpt = r,
                      .trace = t,
                      .sorter = rocl_sorter_new(t->space, 3),
                      .copies = calloc(t->opt.jobs, sizeof *g.copies)};
    rocl_sink sink = {.self = &g,
                      .kinds =
                          ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_BARRIER) | ROCL_BIT(ROCL_COPY),
                      .fields = ROCL_FIELD_DISPATCH_ID,
                      .events = add_events,
                      .end_task = seal_records};
    rocl_status st = g.sorter && g.copies ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = rocl_sorter_start(g.sorter, err);
    rocl_sort_record encoded;
    rpt_record record;
    /* In order of start a record gets its line. */
    for (uint64_t line = 1; rocl_sorter_take(g.sorter, &encoded, &st, err); line++) {
        memcpy(&record, encoded.data, sizeof record);
        record.line = line;
        record.command = record.command == BY_ORDER ? (int64_t)line : record.command;
        st = rpt_add_record(r, &record, err);
    }
    for (unsigned i = 0; g.copies && i < t->opt.jobs; i++) {
        rocl_map_free(&g.copies[i].sizes);
        rocl_map_free(&g.copies[i].named);
        rocl_buf_free(&g.copies[i].text);
    }
    free(g.copies);
    rocl_sorter_free(g.sorter);
    return st;
}
