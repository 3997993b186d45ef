/* The first pass over a file: which processes, threads, agents and queues it names, how many lines
 * each range has, which calls are under way from one range to the next, and what is wrong. */
#include <stdlib.h>

#include "base/array.h"
#include "base/pool.h"
#include "source/rtg/rtg.h"

typedef struct worker {
    rtg_reader reader;
    rtg_world world;
    rtg_names *names;
    rtg_pairs pairs;
    bool has_dims, has_gpu;
    int64_t first, last;
} worker;

typedef struct indexer {
    rtg_file *file;
    worker *workers;
} indexer;

/* A line being looked at. */
typedef struct place {
    size_t range;
    uint64_t line, offset;
} place;

static void add_fault(rtg_file *f, const place *at, rocl_fault fault, const char *why)
{
    rtg_fault_add(&f->faults, &(rtg_bad){at->range, at->line, at->offset, fault, why}, 1);
}

static const char never_resumed[] = "a call that was never resumed";

static bool see_pair(rtg_file *f, worker *w, const rtg_item *i, const rtg_line *l, const place *at)
{
    rtg_key key = {{i->tid, rtg_name(w->names, l->name), 0}};
    rtg_pair former;
    bool lost;
    if (i->what == RTG_SYSCALL_END)
        return rtg_pairs_end(&w->pairs, &key, at->line, at->offset);
    if (!rtg_pairs_begin(&w->pairs, &key, i->start, at->line, at->offset, &former, &lost))
        return false;
    if (lost)
        add_fault(f, &(place){at->range, former.line, former.offset}, ROCL_FAULT_NO_END,
                  never_resumed);
    return true;
}

static bool see_world(worker *w, const rtg_item *i, uint64_t offset)
{
    rtg_world *all = &w->world;
    rtg_key key = rtg_process_key(i);
    bool ok = rtg_table_see(&all->processes, &key, offset);
    if (i->has_thread) {
        key = rtg_thread_key(i);
        ok &= rtg_table_see(&all->threads, &key, offset);
    }
    if (i->has_agent) {
        key = rtg_agent_key(i);
        ok &= rtg_table_see(&all->agents, &key, offset);
    }
    if (i->has_queue) {
        key = rtg_queue_key(i, rtg_name(w->names, i->queue));
        ok &= rtg_table_see(&all->queues, &key, offset);
    }
    return ok;
}

static void see_times(worker *w, const rtg_item *i)
{
    w->first = i->start < w->first ? i->start : w->first;
    w->last = i->end > w->last ? i->end : w->last;
}

static rocl_status see_line(rtg_file *f, worker *w, const rtg_text *text, const place *at,
                            rocl_error *err)
{
    rtg_line line;
    rtg_item item;
    rtg_read_item(&item, &line, text, f->file_pid);
    bool ok = true;
    switch (item.what) {
    case RTG_NOTHING:
        return ROCL_OK;
    case RTG_WRONG:
        add_fault(f, at, item.fault, item.why);
        return ROCL_OK;
    case RTG_SYSCALL_BEGIN:
    case RTG_SYSCALL_END:
        ok = see_pair(f, w, &item, &line, at);
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
    see_times(w, &item);
    ok &= see_world(w, &item, text->offset);
    return ok && !w->names->failed ? ROCL_OK : rocl_fail_memory(err);
}

static rocl_status index_range(void *ctx, unsigned number, size_t range, rocl_error *err)
{
    indexer *x = ctx;
    rtg_file *f = x->file;
    worker *w = &x->workers[number];
    bool more = true;
    rocl_status st = ROCL_OK;
    place at = {.range = range};
    rtg_reader_begin(&w->reader, f->spool, rtg_range_begin(range), rtg_range_begin(range + 1));
    while (st == ROCL_OK && (st = rtg_reader_fill(&w->reader, &more, err)) == ROCL_OK && more) {
        rtg_text text;
        uint64_t before = at.line;
        while (st == ROCL_OK && rtg_reader_line(&w->reader, &text)) {
            at.offset = text.offset;
            st = see_line(f, w, &text, &at, err);
            at.line++;
        }
        rocl_progress(f->trace, at.line - before);
    }
    f->ranges[range].lines = at.line;
    if (w->pairs.count) {
        f->ranges[range].pairs = w->pairs;
        w->pairs = (rtg_pairs){0};
    }
    return st;
}

/* ---- what the ranges say together ---------------------------------------------------------- */

static bool merge_table(rtg_table *to, const rtg_table *from)
{
    bool ok = true;
    for (size_t i = 0; i < from->cap; i++)
        if (from->slots[i].used)
            ok &= rtg_table_see(to, &from->slots[i].key, from->slots[i].first);
    return ok;
}

static bool merge_worker(rtg_file *f, const worker *w)
{
    if (w->has_dims)
        atomic_store(&f->has_dims, true);
    if (w->has_gpu)
        atomic_store(&f->has_gpu, true);
    f->first = w->first < f->first ? w->first : f->first;
    f->last = w->last > f->last ? w->last : f->last;
    return merge_table(&f->world.processes, &w->world.processes) &&
           merge_table(&f->world.threads, &w->world.threads) &&
           merge_table(&f->world.agents, &w->world.agents) &&
           merge_table(&f->world.queues, &w->world.queues);
}

/* The last begin of a call in the ranges so far. */
typedef struct under_way {
    place at;
    int64_t begun;
    bool any, used;
} under_way;

typedef struct calls {
    rtg_table keys;
    under_way *all;
    size_t count, cap;
} calls;

static under_way *call_of(calls *c, const rtg_key *k)
{
    bool fresh;
    rtg_entry *e = rtg_table_put(&c->keys, k, &fresh);
    if (e && fresh) {
        if (!ROCL_GROW(c->all, c->cap, c->count + 1))
            return NULL;
        e->index = (uint32_t)c->count++;
    }
    return e ? &c->all[e->index] : NULL;
}

static void lose(rtg_file *f, const under_way *u)
{
    if (u && u->any && !u->used)
        add_fault(f, &u->at, ROCL_FAULT_NO_END, never_resumed);
}

static void resolve(rtg_file *f, under_way *u, rtg_pair *p, size_t range)
{
    if (p->resumed_count && u->any) {
        p->resolved = u->used = true;
        p->before = u->begun;
    } else if (p->resumed_count) {
        rtg_bad bad = {range, p->resumed_first, p->resumed_offset, ROCL_FAULT_BAD_LINE,
                       "a call is resumed that did not begin"};
        rtg_fault_add(&f->faults, &bad, p->resumed_count);
    }
    if (p->has_begun) {
        lose(f, u);
        *u = (under_way){{range, p->line, p->offset}, p->begun, true, p->used};
    }
}

static rocl_status resolve_pairs(rtg_file *f, rocl_error *err)
{
    calls c = {0};
    bool ok = true;
    for (size_t r = 0; r < f->range_count && ok; r++) {
        rtg_pairs *p = &f->ranges[r].pairs;
        for (size_t i = 0; i < p->keys.cap && ok; i++) {
            const rtg_entry *e = &p->keys.slots[i];
            under_way *u = e->used ? call_of(&c, &e->key) : NULL;
            ok = u || !e->used;
            if (u)
                resolve(f, u, &p->all[e->index], r);
        }
    }
    for (size_t i = 0; i < c.count; i++)
        lose(f, &c.all[i]);
    rtg_table_free(&c.keys);
    free(c.all);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

static void number_lines(rtg_file *f)
{
    uint64_t line = 1;
    for (size_t r = 0; r < f->range_count; r++) {
        f->ranges[r].first_line = line;
        line += f->ranges[r].lines;
    }
}

static void free_worker(worker *w)
{
    rtg_reader_free(&w->reader);
    rtg_table_free(&w->world.processes);
    rtg_table_free(&w->world.threads);
    rtg_table_free(&w->world.agents);
    rtg_table_free(&w->world.queues);
    rtg_names_free(w->names);
    rtg_pairs_free(&w->pairs);
}

static rocl_status run(indexer *x, unsigned jobs, rocl_error *err)
{
    rtg_file *f = x->file;
    for (unsigned i = 0; i < jobs; i++)
        if (!(x->workers[i].names = rtg_names_new(f->trace)))
            return rocl_fail_memory(err);
    rocl_status st = rocl_run_tasks(jobs, f->range_count, index_range, x, err);
    for (unsigned i = 0; i < jobs && st == ROCL_OK; i++)
        st = merge_worker(f, &x->workers[i]) ? ROCL_OK : rocl_fail_memory(err);
    number_lines(f);
    return st ? st : resolve_pairs(f, err);
}

rocl_status rtg_index(rtg_file *f, rocl_error *err)
{
    unsigned jobs = f->trace->opt.jobs;
    uint64_t size = rocl_spool_size(f->spool);
    f->range_count = (size_t)(size / rtg_sizes_used.range + (size % rtg_sizes_used.range != 0));
    f->ranges = calloc(f->range_count + 1, sizeof *f->ranges);
    indexer x = {f, calloc(jobs, sizeof(worker))};
    f->first = INT64_MAX;
    f->last = INT64_MIN;
    for (unsigned i = 0; x.workers && i < jobs; i++) {
        x.workers[i].first = INT64_MAX;
        x.workers[i].last = INT64_MIN;
    }
    rocl_progress_phase(f->trace, "looking through", 0);
    rocl_status st = f->ranges && x.workers ? run(&x, jobs, err) : rocl_fail_memory(err);
    for (unsigned i = 0; x.workers && i < jobs; i++)
        free_worker(&x.workers[i]);
    free(x.workers);
    return st;
}
