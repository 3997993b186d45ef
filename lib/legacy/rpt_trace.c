/* Any trace as records: what ran on queues, numbered in order of start. */
#include "legacy/rpt.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/num.h"
#include "model/gpus.h"
#include "trace/pipeline.h"

/* What a worker calls copies: a name is made once for all copies of a name and size. */
typedef struct copy_names {
    rocl_map sizes; /* size -> its number, in order of first sight */
    rocl_map named; /* name and number of the size -> "NAME_N_bytes" */
    rocl_buf text;
} copy_names;

typedef struct gathering {
    rocl_rpt *rpt;
    rocl_trace *trace;
    rocl_gpus gpus;
    rocl_sorter *sorter; /* key: start, capture and kind, row */
    copy_names *copies;  /* one per worker */
} gathering;

static uint64_t key_of(int64_t v)
{
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

/* GPUs of several machines are counted on; what is on no GPU is on the first. */
static int64_t device_of(const gathering *g, const rocl_capture *c, uint32_t agent)
{
    const rocl_gpu *gpu = rocl_gpus_find(&g->gpus, c, agent);
    if (!gpu)
        return 0;
    return rocl_trace_machines(g->trace) > 1 ? gpu - g->gpus.all : gpu->id;
}

static bool is_gpu(const rocl_capture *c, uint32_t agent)
{
    return agent < c->agent_count && c->agents[agent].type == ROCL_AGENT_GPU;
}

static int64_t queue_of(const rocl_capture *c, uint32_t queue)
{
    return queue < c->queue_count ? c->queues[queue].id : 0;
}

/* A name that the trace does not have is "": ROCL_NONE is kept for when memory is out. */
static uint32_t name_of(const rocl_event *e)
{
    return e->name == ROCL_NONE ? 0 : e->name;
}

static uint32_t make_copy_name(const gathering *g, const rocl_copy *copy, rocl_buf *text)
{
    char digits[ROCL_NUM_MAX];
    size_t n;
    const char *p = rocl_strings_get(g->trace->strings, copy->e.name, &n);
    text->len = 0;
    rocl_buf_put(text, p, n);
    rocl_buf_byte(text, '_');
    rocl_buf_put(text, digits, (size_t)(rocl_put_u64(digits, copy->size) - digits));
    rocl_buf_str(text, "_bytes");
    return text->failed ? ROCL_NONE
                        : rocl_strings_put(g->trace->strings, (char *)text->data, text->len);
}

/* "NAME_N_bytes", or the name alone where the size is not known. */
static uint32_t copy_name(const gathering *g, const rocl_copy *copy, copy_names *c)
{
    if (!copy->size)
        return name_of(&copy->e);
    uint32_t size = rocl_map_get(&c->sizes, copy->size, (uint32_t)c->sizes.count);
    uint64_t key = (uint64_t)name_of(&copy->e) << 32 | size;
    uint32_t name = rocl_map_get(&c->named, key, ROCL_NONE);
    if (name != ROCL_NONE)
        return name;
    name = make_copy_name(g, copy, &c->text);
    bool kept = rocl_map_put(&c->sizes, copy->size, size) && rocl_map_put(&c->named, key, name);
    return kept ? name : ROCL_NONE;
}

enum { BY_PLACE = -1 }; /* the number of a command that has none: its place in order of start */

static rocl_rpt_record record_of(const gathering *g, const rocl_batch *b, size_t i,
                                 copy_names *copies)
{
    const rocl_capture *c = b->capture;
    const rocl_event *e = rocl_batch_event(b, i);
    rocl_rpt_record r = {
        .start = e->start, .stop = e->end, .name = name_of(e), .command = BY_PLACE};
    if (b->kind == ROCL_DISPATCH) {
        const rocl_dispatch *d = &b->dispatches[i];
        r.type = g->rpt->kernel;
        r.device = device_of(g, c, d->agent);
        r.queue = queue_of(c, d->queue);
        r.command = (int64_t)d->dispatch_id;
    } else if (b->kind == ROCL_BARRIER) {
        r.type = g->rpt->barrier;
        r.device = device_of(g, c, b->hips[i].agent);
        r.queue = queue_of(c, b->hips[i].queue);
    } else {
        const rocl_copy *copy = &b->copies[i];
        r.type = g->rpt->copy;
        r.device = device_of(g, c, is_gpu(c, copy->dst) ? copy->dst : copy->src);
        r.queue = queue_of(c, copy->queue);
        r.name = copy_name(g, copy, copies);
    }
    return r;
}

/* Several workers, hence no packing of a common form: a record as it is. */
static rocl_status gather(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    gathering *g = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        rocl_rpt_record r = record_of(g, b, i, &g->copies[worker]);
        uint64_t key[3] = {key_of(r.start), (uint64_t)b->capture->index << 8 | b->kind,
                           rocl_batch_event(b, i)->id};
        bool fits = r.start > -ROCL_RPT_TIME_MAX && r.stop < ROCL_RPT_TIME_MAX;
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

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    return rocl_sorter_seal(((gathering *)self)->sorter, worker, err);
}

static rocl_status number(gathering *g, rocl_error *err)
{
    rocl_sort_record packed;
    rocl_rpt_record r;
    uint64_t line = 0;
    bool more = true;
    rocl_status st = rocl_sorter_start(g->sorter, err);
    while (st == ROCL_OK && more) {
        st = rocl_sorter_next(g->sorter, &packed, &more, err);
        if (st || !more)
            break;
        memcpy(&r, packed.data, sizeof r);
        r.line = ++line;
        r.command = r.command == BY_PLACE ? (int64_t)line : r.command;
        st = rocl_rpt_add(g->rpt, &r, err);
    }
    return st;
}

static void release(gathering *g)
{
    for (unsigned i = 0; g->copies && i < g->trace->opt.jobs; i++) {
        rocl_map_free(&g->copies[i].sizes);
        rocl_map_free(&g->copies[i].named);
        rocl_buf_free(&g->copies[i].text);
    }
    free(g->copies);
    rocl_sorter_free(g->sorter);
    rocl_gpus_free(&g->gpus);
}

rocl_status rocl_rpt_read_trace(rocl_rpt *r, rocl_trace *t, rocl_error *err)
{
    gathering g = {.rpt = r,
                   .trace = t,
                   .sorter = rocl_sorter_new(t->space, 3),
                   .copies = calloc(t->opt.jobs, sizeof *g.copies)};
    rocl_sink sink = {.self = &g,
                      .kinds =
                          ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_BARRIER) | ROCL_BIT(ROCL_COPY),
                      .fields = ROCL_FIELD_DISPATCH_ID,
                      .events = gather,
                      .end_task = end_task};
    rocl_status st =
        g.sorter && g.copies ? rocl_gpus_collect(&g.gpus, t, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = number(&g, err);
    release(&g);
    return st;
}
