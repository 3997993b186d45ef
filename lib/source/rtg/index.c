/* The first pass over a file: which processes, threads, agents and queues it names, how many lines
 * each range has, which calls are under way from one range to the next, and which lines are wrong.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/pool.h"
#include "base/text.h"
#include "source/rtg/rtg.h"

/* ---- lines that are wrong ------------------------------------------------------------------- */

rocl_status rtg_faults_report(rtg_file *f, rocl_error *err)
{
    char text[61];
    for (unsigned i = 0; i < f->faults.first_count && !f->faults.reported; i++) {
        const rocl_bad_record *bad = &f->faults.first[i];
        const uint64_t line = f->ranges[bad->piece].first_line + bad->line;
        rocl_quote_line(f->spool, bad->where, text, sizeof text);
        if (f->trace->opt.strict)
            return rocl_fail(err, ROCL_INPUT, "%s:%" PRIu64 ": %s: '%s'", f->path, line, bad->why,
                             text);
        rocl_notice(f->trace, "%s:%" PRIu64 ": %s: '%s'", f->path, line, bad->why, text);
    }
    f->faults.reported = true;
    return ROCL_OK;
}

/* ---- calls of strace ------------------------------------------------------------------------ */

/* strace interrupts the line of a call when another thread makes one, and resumes it later: "read(3
 * <unfinished ...>", "<... read resumed> ...". A resumed line belongs to the last begin of a call
 * of this name (and thread, if lines have it), which may be in an earlier range: the first pass
 * finds out which calls are open where a range begins. */

/* NULL: memory is out. */
static rtg_call *find_call(rtg_calls *c, const rocl_key *k)
{
    return rocl_registry_note(&c->keys, k, 0, NULL) && ROCL_GROW(c->all, c->cap, c->keys.count)
               ? &c->all[rocl_registry_find(&c->keys, k) - c->keys.entries]
               : NULL;
}

bool rtg_calls_begin(rtg_calls *c, const rocl_key *k, int64_t when, uint64_t line, uint64_t offset,
                     rtg_call *former, bool *lost)
{
    rtg_call *call = find_call(c, k);
    *lost = call && call->has_begun && !call->used;
    if (!call)
        return false;
    *former = *call;
    call->begun = when;
    call->line = line;
    call->offset = offset;
    call->has_begun = true;
    call->used = false;
    return true;
}

rtg_call *rtg_calls_resume(rtg_calls *c, const rocl_key *k, uint64_t line, uint64_t offset)
{
    rtg_call *call = find_call(c, k);
    if (!call)
        return NULL;
    if (call->has_begun) {
        call->used = true;
    } else if (!call->resumed_count++) {
        call->resumed_first = line;
        call->resumed_offset = offset;
    }
    return call;
}

void rtg_calls_free(rtg_calls *c)
{
    rocl_registry_free(&c->keys);
    free(c->all);
    *c = (rtg_calls){0};
}

static void count_never_resumed(rtg_file *f, size_t range, const rtg_call *c)
{
    const rocl_bad_record bad = {range, c->line, c->offset, "a call that was never resumed"};
    if (c->has_begun && !c->used)
        rocl_bad_records_add(&f->faults, &bad, ROCL_FAULT_NO_END, 1);
}

/* What was under way at the begin of each range. */
static rocl_status resolve_calls(rtg_file *f, rocl_error *err)
{
    rtg_calls last = {0};                /* the last begin of each call in the ranges before */
    size_t *last_ranges = NULL, cap = 0; /* where that is */
    bool ok = true;
    for (size_t r = 0; r < f->range_count && ok; r++) {
        rtg_calls *calls = &f->ranges[r].calls;
        for (size_t i = 0; i < calls->keys.count && ok; i++) {
            rtg_call *c = &calls->all[i], *before = find_call(&last, &calls->keys.entries[i].key);
            ok = before && ROCL_GROW(last_ranges, cap, last.keys.count);
            if (!ok)
                break;
            if (c->resumed_count && before->has_begun) {
                c->resolved = before->used = true;
                c->before = before->begun;
            } else if (c->resumed_count) {
                const rocl_bad_record bad = {r, c->resumed_first, c->resumed_offset,
                                             "a call is resumed that never began"};
                rocl_bad_records_add(&f->faults, &bad, ROCL_FAULT_BAD_LINE, c->resumed_count);
            }
            if (c->has_begun) {
                count_never_resumed(f, last_ranges[before - last.all], before);
                last_ranges[before - last.all] = r;
                *before = *c;
            }
        }
    }
    for (size_t i = 0; i < last.keys.count && ok; i++)
        count_never_resumed(f, last_ranges[i], &last.all[i]);
    rtg_calls_free(&last);
    free(last_ranges);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- the pass ------------------------------------------------------------------------------- */

typedef struct index_worker {
    rtg_reader reader;
    rocl_registry tables[RTG_TABLES];
    rtg_names *names;
    rtg_calls calls;
    bool has_dims, has_gpu;
    int64_t first, last;
} index_worker;

typedef struct indexer {
    rtg_file *file;
    index_worker *workers;
} indexer;

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
    case RTG_WRONG: {
        const rocl_bad_record bad = {range, number, text->offset, item.why};
        rocl_bad_records_add(&f->faults, &bad, item.fault, 1);
        return ROCL_OK;
    }
    case RTG_SYSCALL_BEGIN:
    case RTG_SYSCALL_END: {
        const rocl_key key = {item.tid, rtg_intern_name(w->names, line.name), 0};
        rtg_call former;
        bool lost = false;
        ok = item.what == RTG_SYSCALL_END
                 ? rtg_calls_resume(&w->calls, &key, number, text->offset) != NULL
                 : rtg_calls_begin(&w->calls, &key, item.start, number, text->offset, &former,
                                   &lost);
        if (lost)
            count_never_resumed(f, range, &former);
        break;
    }
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
        const rocl_key key = rtg_key_of(t, &item, queue);
        if (has[t])
            ok &= rocl_registry_note(&w->tables[t], &key, text->offset, NULL);
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
    if (w->calls.keys.count) {
        f->ranges[range].calls = w->calls;
        w->calls = (rtg_calls){0};
    }
    return st;
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
    for (unsigned i = 0; i < jobs && st == ROCL_OK; i++) {
        const index_worker *w = &x->workers[i];
        bool ok = true;
        f->has_dims |= w->has_dims;
        f->has_gpu |= w->has_gpu;
        f->first = w->first < f->first ? w->first : f->first;
        f->last = w->last > f->last ? w->last : f->last;
        for (int t = 0; t < RTG_TABLES; t++)
            ok &= rocl_registry_merge(&f->tables[t], &w->tables[t]);
        st = ok ? ROCL_OK : rocl_fail_memory(err);
    }
    for (size_t r = 0; r < f->range_count; r++) {
        f->ranges[r].first_line = line;
        line += f->ranges[r].lines;
    }
    return st ? st : resolve_calls(f, err);
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
            rocl_registry_free(&w->tables[t]);
        rtg_names_free(w->names);
        rtg_calls_free(&w->calls);
    }
    free(x.workers);
    return st;
}
