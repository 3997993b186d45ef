/* The first pass over a file: which processes, threads, agents and queues it names, how many lines
 * each range has, which calls are under way from one range to the next, and what is wrong. */
#include <stdlib.h>

#include "base/pool.h"
#include "source/rtg/rtg.h"

typedef struct index_worker {
    rtg_reader reader;
    rtg_table tables[RTG_TABLES];
    rtg_names *names;
    rtg_calls calls;
    bool has_dims, has_gpu;
    int64_t first, last;
} index_worker;

typedef struct indexer {
    rtg_file *file;
    index_worker *workers;
} indexer;

/* A call of strace that is broken off or resumed. */
static bool index_call(rtg_file *f, index_worker *w, const rtg_item *i, const rtg_line *l,
                       size_t range, uint64_t line, uint64_t offset)
{
    const rtg_key key = {{i->tid, rtg_intern_name(w->names, l->name), 0}};
    rtg_call former;
    bool lost;
    if (i->what == RTG_SYSCALL_END)
        return rtg_calls_resume(&w->calls, &key, line, offset);
    if (!rtg_calls_begin(&w->calls, &key, i->start, line, offset, &former, &lost))
        return false;
    if (lost)
        rtg_fault_add(&f->faults, range, former.line, former.offset, ROCL_FAULT_NO_END, 1,
                      RTG_NEVER_RESUMED);
    return true;
}

static rocl_status index_line(rtg_file *f, index_worker *w, const rtg_text *text, size_t range,
                              uint64_t number, rocl_error *err)
{
    rtg_line line;
    rtg_item item;
    bool ok = true;
    rtg_read_item(&item, &line, text, f->file_pid);
    switch (item.what) {
    case RTG_NOTHING:
        return ROCL_OK;
    case RTG_WRONG:
        rtg_fault_add(&f->faults, range, number, text->offset, item.fault, 1, item.why);
        return ROCL_OK;
    case RTG_SYSCALL_BEGIN:
    case RTG_SYSCALL_END:
        ok = index_call(f, w, &item, &line, range, number, text->offset);
        break;
    case RTG_HOST_PACKET:
        w->has_dims |= line.shape == RTG_HOST_DISPATCH;
        break;
    case RTG_GPU_DISPATCH:
        w->has_gpu = true;
        break;
    default:
        break;
    }
    w->first = item.start < w->first ? item.start : w->first;
    w->last = item.end > w->last ? item.end : w->last;
    const bool has[RTG_TABLES] = {true, item.has_thread, item.has_agent, item.has_queue};
    uint32_t queue = item.has_queue ? rtg_intern_name(w->names, item.queue) : 0;
    for (int t = 0; t < RTG_TABLES; t++) {
        const rtg_key key = rtg_key_of(t, &item, queue);
        if (has[t])
            ok &= rtg_table_add(&w->tables[t], &key, text->offset);
    }
    return ok && !w->names->failed ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status index_range(void *ctx, unsigned number, size_t range, rocl_error *err)
{
    indexer *x = ctx;
    rtg_file *f = x->file;
    index_worker *w = &x->workers[number];
    bool more = true;
    uint64_t line = 0;
    rocl_status st = ROCL_OK;
    rtg_reader_begin(&w->reader, f->spool, rtg_range_begin(range), rtg_range_begin(range + 1));
    while (st == ROCL_OK && (st = rtg_reader_fill(&w->reader, &more, err)) == ROCL_OK && more) {
        rtg_text text;
        uint64_t before = line;
        while (st == ROCL_OK && rtg_reader_line(&w->reader, &text))
            st = index_line(f, w, &text, range, line++, err);
        rocl_progress(f->trace, line - before);
    }
    f->ranges[range].lines = line;
    if (w->calls.count) {
        f->ranges[range].calls = w->calls;
        w->calls = (rtg_calls){0};
    }
    return st;
}

/* What a worker has found is of the file. */
static bool merge_worker(rtg_file *f, const index_worker *w)
{
    bool ok = true;
    if (w->has_dims)
        atomic_store(&f->has_dims, true);
    if (w->has_gpu)
        atomic_store(&f->has_gpu, true);
    f->first = w->first < f->first ? w->first : f->first;
    f->last = w->last > f->last ? w->last : f->last;
    for (int t = 0; t < RTG_TABLES; t++)
        for (size_t i = 0; i < w->tables[t].cap; i++) {
            const rtg_entry *e = &w->tables[t].slots[i];
            if (e->used)
                ok &= rtg_table_add(&f->tables[t], &e->key, e->first);
        }
    return ok;
}

static rocl_status run_indexer(indexer *x, unsigned jobs, rocl_error *err)
{
    rtg_file *f = x->file;
    uint64_t line = 1;
    for (unsigned i = 0; i < jobs; i++) {
        x->workers[i].first = INT64_MAX;
        x->workers[i].last = INT64_MIN;
        if (!(x->workers[i].names = rtg_names_new(f->trace)))
            return rocl_fail_memory(err);
    }
    rocl_status st = rocl_run_tasks(jobs, f->range_count, index_range, x, err);
    for (unsigned i = 0; i < jobs && st == ROCL_OK; i++)
        st = merge_worker(f, &x->workers[i]) ? ROCL_OK : rocl_fail_memory(err);
    for (size_t r = 0; r < f->range_count; r++) {
        f->ranges[r].first_line = line;
        line += f->ranges[r].lines;
    }
    return st ? st : rtg_calls_resolve(f, err);
}

rocl_status rtg_index(rtg_file *f, rocl_error *err)
{
    unsigned jobs = f->trace->opt.jobs;
    uint64_t size = rocl_spool_size(f->spool);
    f->range_count = (size_t)(size / rtg_sizes_used.range + (size % rtg_sizes_used.range != 0));
    f->ranges = calloc(f->range_count + 1, sizeof *f->ranges);
    f->first = INT64_MAX;
    f->last = INT64_MIN;
    indexer x = {f, calloc(jobs, sizeof *x.workers)};
    rocl_progress_phase(f->trace, "looking through", 0);
    rocl_status st = f->ranges && x.workers ? run_indexer(&x, jobs, err) : rocl_fail_memory(err);
    for (unsigned i = 0; x.workers && i < jobs; i++) {
        index_worker *w = &x.workers[i];
        rtg_reader_free(&w->reader);
        for (int t = 0; t < RTG_TABLES; t++)
            rtg_table_free(&w->tables[t]);
        rtg_names_free(w->names);
        rtg_calls_free(&w->calls);
    }
    free(x.workers);
    return st;
}
