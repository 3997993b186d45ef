/* Opens, scans and closes a file of chunks, and sums up a recording. */
#include <inttypes.h>
#include <stdlib.h>

#include "source/chunk/chunk.h"

/* Adds the processes of a file to the summary. */
static void add_summary(const chunk_file *f, rocl_recording *sum)
{
    for (size_t i = 0; i < f->count; i++) {
        const chunk_process *p = &f->processes[i];
        int64_t last = chunk_process_end(p);
        int64_t complete_from = chunk_clock_to_ns(&p->clock, ROCL_CLOCK_TICKS, p->given_until);
        sum->processes++;
        sum->events += p->begun;
        for (size_t k = 0; k < p->count; k++)
            sum->records += p->chunks[k]->events;
        sum->dropped += p->faults[ROCL_FAULT_DROPPED];
        sum->torn += p->faults[ROCL_FAULT_TORN];
        sum->given_chunks += p->given_chunks;
        sum->given_records += p->given_records;
        if (p->given_chunks && complete_from > sum->complete_from)
            sum->complete_from = complete_from;
        sum->last = last > sum->last ? last : sum->last;
    }
}

/* For -v: not a fault, but worth knowing. */
static void explain_ends(const chunk_file *f)
{
    size_t n = 0; /* version 1.0 did not record the end of a process */
    rocl_recording r = {0};
    for (size_t i = 0; i < f->count; i++)
        n += !f->processes[i].ended && f->processes[i].any->h.minor > 0;
    if (n)
        rocl_notice(f->trace,
                    "%s: %zu of %zu processes did not end by exit: by a signal, _exit or exec, or "
                    "they are still running",
                    f->path, n, f->count);
    add_summary(f, &r);
    if (r.given_chunks)
        rocl_notice(f->trace,
                    "%s: a ring has overwritten %" PRIu64 " older chunks with %" PRIu64
                    " records; it is complete from %" PRId64 " ns on",
                    f->path, r.given_chunks, r.given_records, r.complete_from);
}

static rocl_status open_file(rocl_source *src, rocl_trace *t, rocl_error *err)
{
    static const char *const words[CHUNK_WORDS] = {
        [CHUNK_W_PUSH] = "roctxRangePushA",
        [CHUNK_W_START] = "roctxRangeStartA",
        [CHUNK_W_MARK] = "roctxMarkA",
        [CHUNK_W_RANGE_API] = "MARKER_CORE_RANGE_API",
        [CHUNK_W_MARK_API] = "MARKER_CORE_API",
        [CHUNK_W_DISPATCH] = "KERNEL_DISPATCH",
        [CHUNK_W_SAMPLE] = "SAMPLE",
    };
    chunk_file *f = calloc(1, sizeof *f);
    if (!f)
        return rocl_fail_memory(err);
    src->state = f;
    f->trace = t;
    f->path = src->path;
    f->spool = src->spool;
    src->spool = NULL;
    if (!rocl_intern_words(t, words, CHUNK_WORDS, f->words))
        return rocl_fail_memory(err);
    rocl_status st = rocl_spool_fill(f->spool, &f->trace->spooled, f->trace->opt.tmpdir, err);
    if (st == ROCL_OK)
        st = chunk_walk(&f->list, f->spool, f->path, err);
    if (st == ROCL_OK && !f->list.count)
        st = rocl_fail(err, ROCL_INPUT, "%s: it has no readable chunk", f->path);
    if (st == ROCL_OK)
        st = chunk_index(f, err);
    for (size_t i = 0; i < f->count && st == ROCL_OK; i++) {
        chunk_process *p = &f->processes[i];
        p->capture = rocl_trace_add_capture(f->trace, src, err);
        if (!p->capture)
            return ROCL_INTERNAL;
        p->capture->state = p;
        p->capture->overwritten = p->given_records;
        st = chunk_define(p, err);
    }
    if (st == ROCL_OK) {
        /* Bytes outside of chunks belong to no process, and are counted with the first. They may be
         * a missing chunk. */
        uint64_t garbage = f->list.garbage;
        for (size_t i = 0; i < f->count; i++) {
            chunk_process *p = &f->processes[i];
            p->faults[ROCL_FAULT_TORN] += p->missing;
            garbage -= garbage < p->missing ? garbage : p->missing;
        }
        f->processes[0].faults[ROCL_FAULT_TORN] += garbage;
    }
    if (st == ROCL_OK && f->trace->opt.explain)
        explain_ends(f);
    rocl_spool_suspend(f->spool);
    return st;
}

static void close_file(rocl_source *src)
{
    chunk_file *f = src->state;
    if (!f)
        return;
    for (size_t i = 0; i < f->count; i++) {
        chunk_process *p = &f->processes[i];
        for (int k = 0; k < ROCL_DEFINITIONS; k++)
            rocl_map_free(&p->indexes[k]);
        free(p->chunks);
        free(p->runs);
        chunk_clock_free(&p->clock);
    }
    for (size_t i = 0; i < f->list.count; i++) {
        free(f->list.all[i].defs);
        free(f->list.all[i].tids);
    }
    free(f->processes);
    free(f->list.all);
    rocl_arena_free(&f->arena);
    rocl_spool_close(f->spool);
    free(f);
}

/* ---- scanning ------------------------------------------------------------------------------- */

rocl_status chunk_count_faults(const chunk_process *p, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (int i = 0; i < ROCL_FAULTS && st == ROCL_OK; i++)
        st = rocl_fault_count_n(p->file->trace, (rocl_fault)i, p->faults[i], p->file->path, err);
    return st;
}

static rocl_status begin_scan(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                              rocl_plan *plan, rocl_error *err)
{
    const uint32_t kinds = to->kinds;
    chunk_process *p = c->state;
    rocl_status st = rocl_spool_resume(p->file->spool, err);
    if (st != ROCL_OK)
        return st;
    p->kinds = kinds;
    p->args = rocl_wants_args(t, to);
    if ((st = chunk_workers_new(p, err)) != ROCL_OK)
        return st;
    if ((kinds & ROCL_BIT(ROCL_MARKER)) && !(p->ranges = rocl_sorter_new(t->space, 3)))
        return rocl_fail_memory(err);
    if (kinds & (ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH)))
        st = rocl_allocs_new(&p->allocs, t, err);
    if (st == ROCL_OK)
        st = chunk_count_faults(p, err);
    for (size_t i = 0; i < p->run_count && st == ROCL_OK; i++)
        st = rocl_plan_add(
            plan,
            &(rocl_task){
                .kinds = kinds, .first = (int64_t)i, .last = (int64_t)i, .rows = p->runs[i].events},
            err);
    return st;
}

static rocl_status finish_scan(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                               rocl_error *err)
{
    (void)t;
    rocl_status st = chunk_emit_allocs(c->state, to, err);
    if (st == ROCL_OK)
        st = chunk_emit_ranges(c->state, to, err);
    chunk_workers_free(c->state);
    return st;
}

static void end_scan(rocl_trace *t, rocl_model_capture *c)
{
    chunk_process *p = c->state;
    (void)t;
    chunk_workers_free(p);
    rocl_sorter_free(p->ranges);
    p->ranges = NULL;
    rocl_allocs_free(p->allocs);
    p->allocs = NULL;
    rocl_spool_suspend(p->file->spool);
}

static rocl_status peek_times(rocl_trace *t, rocl_model_capture *c, int64_t *first, int64_t *last,
                              bool *any, rocl_error *err)
{
    const chunk_process *p = c->state;
    (void)t;
    (void)err;
    *any = p->clock.count > 0;
    *first = *any ? chunk_clock_to_ns(&p->clock, ROCL_CLOCK_TICKS, p->clock.points[0].ticks) : 0;
    *last = chunk_process_end(p);
    return ROCL_OK;
}

const rocl_source_ops rocl_chunk_ops = {
    .open = open_file,
    .close = close_file,
    .free_capture = rocl_definitions_free,
    .begin = begin_scan,
    .scan = chunk_scan,
    .finish = finish_scan,
    .end = end_scan,
    .peek_times = peek_times,
};

/* ---- recordings ----------------------------------------------------------------------------- */

rocl_status chunk_refuse_others(const rocl_trace *t, rocl_error *err)
{
    for (size_t i = 0; i < t->source_count; i++)
        if (t->sources[i]->ops != &rocl_chunk_ops)
            return rocl_fail(err, ROCL_USAGE, "%s: not a .rocl file", t->sources[i]->path);
    return ROCL_OK;
}

rocl_status rocl_sum_up_chunks(const rocl_trace *t, rocl_recording *sum, rocl_error *err)
{
    rocl_status st = chunk_refuse_others(t, err);
    *sum = (rocl_recording){0};
    for (size_t i = 0; i < t->source_count && st == ROCL_OK; i++)
        add_summary(t->sources[i]->state, sum);
    return st;
}
