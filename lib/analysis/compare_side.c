/* A trace as one side of a comparison. */
#include "analysis/compare_side.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/domains.h"
#include "base/array.h"
#include "base/map.h"
#include "trace/pipeline.h"

typedef struct worker {
    rocl_map known; /* ids of keys by the trace's own text and domain */
    rocl_side_name *names;
    size_t cap;
} worker;

typedef struct reading {
    rocl_side *side;
    rocl_trace *trace;
    rocl_gpu_time gpus;
    rocl_step_reader *steps; /* NULL: they are not wanted */
    worker *workers;
} reading;

static rocl_status add_side_batch(void *self, unsigned worker_index, rocl_batch *b, rocl_error *err)
{
    reading *r = self;
    worker *w = &r->workers[worker_index];
    rocl_status st = rocl_gpu_time_add_batch(&r->gpus, worker_index, b, err);
    if (st == ROCL_OK && r->steps)
        st = rocl_step_reader_add_batch(r->steps, worker_index, b, err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        rocl_domain d = rocl_domain_of(r->trace, b->kind, e->category);
        const uint32_t name = e->name == ROCL_NONE ? 0 : e->name;
        const uint64_t own = (uint64_t)name << 8 | d;
        uint32_t id = rocl_map_get(&w->known, own, ROCL_NONE);
        if (id == ROCL_NONE) {
            size_t n;
            const char *text = rocl_strings_get(r->trace->strings, name, &n);
            id = rocl_side_key(r->side->keys, d, text, n);
            if (id == ROCL_NONE || !rocl_map_put(&w->known, own, id))
                return rocl_fail_memory(err);
        }
        if (!ROCL_GROW(w->names, w->cap, (size_t)id + 1))
            return rocl_fail_memory(err);
        rocl_side_name *sum = &w->names[id];
        sum->count++;
        sum->ns += (uint64_t)(e->end - e->start);
        if (b->kind == ROCL_DISPATCH) {
            const uint32_t *grid = b->dispatches[i].grid;
            sum->items += (uint64_t)grid[0] * grid[1] * grid[2];
        }
        const uint64_t key[2] = {id, (uint64_t)(e->end - e->start) << 1 | r->side->bit};
        if (r->side->sorter)
            st = rocl_sorter_add(r->side->sorter, worker_index, key, NULL, 0, err);
    }
    return st;
}

static rocl_status seal_sorters(void *self, unsigned worker_index, rocl_error *err)
{
    reading *r = self;
    rocl_status st =
        r->side->sorter ? rocl_sorter_seal(r->side->sorter, worker_index, err) : ROCL_OK;
    if (st == ROCL_OK && r->steps)
        st = rocl_step_reader_seal(r->steps, worker_index, err);
    return st == ROCL_OK ? rocl_sorter_seal(r->gpus.sorter, worker_index, err) : st;
}

static rocl_status join_names(rocl_side *s, const reading *r, rocl_error *err)
{
    if (!ROCL_GROW(s->names, s->name_cap, rocl_strings_count(s->keys)))
        return rocl_fail_memory(err);
    for (unsigned k = 0; k < r->trace->opt.jobs; k++)
        for (size_t id = 0; id < r->workers[k].cap && id < s->name_cap; id++) {
            const rocl_side_name *from = &r->workers[k].names[id];
            s->names[id].count += from->count;
            s->names[id].ns += from->ns;
            s->names[id].items += from->items;
        }
    return ROCL_OK;
}

/* ---- what the trace is of -------------------------------------------------------------------- */

/* "2 x gfx942, 1 x gfx90a", in the order in which they come first. */
static void put_gpus(rocl_buf *to, const rocl_trace *t)
{
    for (size_t i = 0; i < t->gpu_count; i++) {
        const char *name = rocl_str(t, rocl_gpu_agent(t, &t->gpus[i])->name);
        size_t same = 0, before = 0;
        for (size_t k = 0; k < t->gpu_count; k++)
            if (!strcmp(name, rocl_str(t, rocl_gpu_agent(t, &t->gpus[k])->name))) {
                same++;
                before += k < i;
            }
        if (!before)
            rocl_buf_printf(to, "%s%zu x %.80s", to->len ? ", " : "", same,
                            *name ? name : "unknown");
    }
}

static rocl_status describe_trace(rocl_side *s, const rocl_trace *t, rocl_error *err)
{
    put_gpus(&s->gpus, t);
    for (size_t i = 0; i < t->capture_count; i++)
        s->processes += t->captures[i]->pub.process_count;
    s->header_texts = rocl_tables_new();
    if (!s->header_texts || s->gpus.failed)
        return rocl_fail_memory(err);
    return rocl_make_header(s->header, s->header_texts, t, err);
}

/* ---- all ------------------------------------------------------------------------------------- */

rocl_status rocl_side_read(rocl_side *s, rocl_trace *t, rocl_sort_space *space, rocl_error *err)
{
    reading r = {.side = s, .trace = t};
    const rocl_sink sink = {
        .self = &r, .kinds = ROCL_TIMED_KINDS, .events = add_side_batch, .end_task = seal_sorters};
    rocl_sorter *work = rocl_sorter_new(space, 3);
    r.workers = calloc(t->opt.jobs, sizeof *r.workers);
    rocl_status st =
        work && r.workers ? rocl_gpu_time_open(&r.gpus, t, work, err) : rocl_fail_memory(err);
    if (st == ROCL_OK && s->wants_steps)
        st = rocl_step_reader_open(&r.steps, t, space, err);
    if (st == ROCL_OK)
        st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = rocl_gpu_time_sum(&r.gpus, &s->gpu_time, err);
    if (st == ROCL_OK && s->wants_steps)
        st = rocl_step_reader_finish(r.steps, &s->steps, s->other, s->keys, err);
    if (st == ROCL_OK)
        st = join_names(s, &r, err);
    if (st == ROCL_OK)
        st = describe_trace(s, t, err);
    for (unsigned w = 0; r.workers && w < t->opt.jobs; w++) {
        rocl_map_free(&r.workers[w].known);
        free(r.workers[w].names);
    }
    free(r.workers);
    rocl_gpu_time_close(&r.gpus);
    rocl_step_reader_close(r.steps);
    rocl_sorter_free(work);
    return st;
}

void rocl_side_free(rocl_side *s)
{
    free(s->names);
    rocl_side_steps_free(&s->steps);
    rocl_buf_free(&s->gpus);
    rocl_tables_free(s->header_texts);
}
