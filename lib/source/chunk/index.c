/* The first pass: reads every chunk once, with all workers. */
#include "source/chunk/chunk.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/pool.h"

typedef struct indexer {
    chunk_file *file;
    rocl_buf *buffers; /* of workers */
    pthread_mutex_t lock;
} indexer;

static rocl_status index_chunk(void *ctx, unsigned worker, size_t i, rocl_error *err)
{
    indexer *x = ctx;
    chunk_info *c = &x->file->list.all[i];
    rocl_buf *b = &x->buffers[worker];
    chunk_reader r;
    chunk_state state;
    size_t n;
    uint64_t said = chunk_events(c);
    rocl_status st = chunk_load(x->file->spool, c, b, &n, &state, err);
    if (st != ROCL_OK)
        return st;
    c->damaged = state == CHUNK_CORRUPT;
    chunk_reader_begin(&r, c, b->data, c->damaged ? 0 : n);
    chunk_record rec;
    rocl_map seen = {0};
    uint32_t regions = 0, ranges = 0; /* how many are open, as the scan will see it */
    bool ok = true;
    while (ok && chunk_read_record(&r, &rec)) {
        uint8_t type = rec.type;
        bool event = chunk_is_event(&rec);
        regions += type == ROCL_REC_BEGIN || type == ROCL_REC_OPEN_REGION;
        regions -= type == ROCL_REC_END && regions;
        ranges += type == ROCL_REC_PUSH || type == ROCL_REC_OPEN_RANGE;
        ranges -= type == ROCL_REC_POP && ranges;
        c->open_regions += type == ROCL_REC_OPEN_REGION;
        c->open_ranges += type == ROCL_REC_OPEN_RANGE;
        c->events += event;
        c->begun += event && type != ROCL_REC_END && type != ROCL_REC_POP && type != ROCL_REC_STOP;
        if ((type >= ROCL_REC_NODE && type <= ROCL_REC_PROCESS_NAME) || type == ROCL_REC_LABEL ||
            type == ROCL_REC_SUBJECT) {
            const size_t len = (size_t)(rec.end - rec.p);
            pthread_mutex_lock(&x->lock);
            const char *body = rocl_arena_dup(&x->file->arena, (const char *)rec.p, len);
            pthread_mutex_unlock(&x->lock);
            ok = body && ROCL_GROW(c->defs, c->def_cap, c->def_count + 1);
            if (ok)
                c->defs[c->def_count++] = (chunk_def){type, (uint32_t)len, (const uint8_t *)body};
        }
        if (!ok || type < ROCL_REC_DISPATCH || type > ROCL_REC_GRAPH)
            continue;
        /* The threads that caused the work: few, and mostly the same one. */
        const chunk_times t = chunk_read_times(&r, &rec);
        const uint64_t tid = t.tid;
        if (t.end > c->last_times[t.clock] && t.end >> 62 == 0)
            c->last_times[t.clock] = t.end;
        if (!tid || (c->tid_count && c->tids[c->tid_count - 1] == tid) ||
            rocl_map_get(&seen, tid, ROCL_NONE) != ROCL_NONE)
            continue;
        ok = ROCL_GROW(c->tids, c->tid_cap, c->tid_count + 1) && rocl_map_put(&seen, tid, 0);
        if (ok)
            c->tids[c->tid_count++] = tid;
    }
    rocl_map_free(&seen);
    if (r.now > c->last_times[ROCL_CLOCK_TICKS])
        c->last_times[ROCL_CLOCK_TICKS] = r.now;
    c->left_open = regions + ranges;
    if (!ok)
        return rocl_fail_memory(err);
    bool bad = state != CHUNK_WHOLE || r.broken;
    c->lost = said > c->events ? said - c->events : 0;
    if (bad && !c->lost)
        c->lost = 1; /* something was lost, though not an event */
    return ROCL_OK;
}

/* ---- processes ------------------------------------------------------------------------------ */

static rocl_status group_chunks(chunk_file *f, rocl_error *err)
{
    rocl_map map = {0};
    bool ok = true;
    for (size_t i = 0; i < f->list.count && ok; i++) {
        const chunk_info *c = &f->list.all[i];
        uint64_t half[2];
        memcpy(half, c->h.session, sizeof half);
        uint64_t key = rocl_mix64(rocl_mix64(half[0] ^ c->h.pid) ^ half[1]) ^ c->h.process;
        uint32_t at = rocl_map_get(&map, key, ROCL_NONE);
        if (at == ROCL_NONE) {
            at = (uint32_t)f->count;
            ok = ROCL_GROW(f->processes, f->cap, f->count + 1) && rocl_map_put(&map, key, at);
            if (!ok)
                break;
            f->processes[f->count++].file = f;
        }
        chunk_process *p = &f->processes[at];
        ok = ROCL_GROW(p->chunks, p->cap, p->count + 1);
        if (ok)
            p->chunks[p->count++] = c;
    }
    rocl_map_free(&map);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

/* By writer, then number; of copies the most complete first. */
static int compare_chunks(const void *a, const void *b)
{
    const chunk_info *x = *(const chunk_info *const *)a, *y = *(const chunk_info *const *)b;
    if (x->h.writer != y->h.writer)
        return x->h.writer < y->h.writer ? -1 : 1;
    if (x->h.seq != y->h.seq)
        return x->h.seq < y->h.seq ? -1 : 1;
    if (x->damaged != y->damaged)
        return x->damaged ? 1 : -1;
    if (x->events != y->events)
        return x->events > y->events ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The number of chunks missing between one of a writer and the next; NULL: there is no next of this
 * writer. A ring has overwritten them. */
static uint64_t count_missing(const chunk_info *c, const chunk_info *next)
{
    if ((next ? next : c)->h.flags & ROCL_CHUNK_RING)
        return 0;
    if (next)
        return next->h.seq > c->h.seq + 1 ? next->h.seq - c->h.seq - 1 : 0;
    /* Did its writer begin a chunk after it? Version 1.0 did not record that. */
    return c->h.minor > 0 && (c->h.flags & ROCL_CHUNK_CLOSED) &&
           !(c->h.flags & (ROCL_CHUNK_LAST | ROCL_CHUNK_OPEN | ROCL_CHUNK_PROCESS));
}

/* Counts missing chunks, losses that writers recorded, and those that the process recorded at its
 * end. */
static void count_losses(chunk_process *p)
{
    uint64_t said = 0;
    for (size_t i = 0; i < p->count; i++) {
        const chunk_info *c = p->chunks[i], *next = i + 1 < p->count ? p->chunks[i + 1] : NULL;
        bool same = next && next->h.writer == c->h.writer;
        p->faults[ROCL_FAULT_TORN] += c->damaged && !c->lost ? 1 : c->lost;
        p->missing += count_missing(c, same ? next : NULL);
        if (!same && !c->damaged)
            p->faults[ROCL_FAULT_DROPPED] += atomic_load_explicit(
                &((chunk_info *)(uintptr_t)c)->h.dropped, memory_order_relaxed);
        if ((c->h.flags & ROCL_CHUNK_PROCESS) && (c->h.flags & ROCL_CHUNK_LAST)) {
            p->ended = true;
            said = c->h.chunks > said ? c->h.chunks : said;
        }
    }
    /* There may be writers without any chunk. */
    if (said > p->count && said - p->count > p->missing)
        p->missing = said - p->count;
}

/* Leaves the chunks that can be read, and what only they are believed. */
static void drop_damaged(chunk_process *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++) {
        const chunk_info *c = p->chunks[i];
        if (c->damaged)
            continue;
        /* The copy of a chunk that was closed last is the most complete. */
        if ((c->h.flags & ROCL_CHUNK_PROCESS) && c->h.minor >= 2 &&
            c->h.given_chunks > p->given_chunks) {
            p->given_chunks = c->h.given_chunks;
            p->given_records = c->h.given_records;
            p->given_until = c->h.given_until;
        }
        if ((c->h.flags & ROCL_CHUNK_PROCESS) && (c->h.flags & ROCL_CHUNK_LAST) &&
            c->h.end.ticks > p->end_ticks)
            p->end_ticks = c->h.end.ticks;
        p->begun += c->begun;
        p->chunks[n++] = c;
    }
    p->count = n;
}

static rocl_status plan_runs(chunk_process *p, rocl_error *err)
{
    uint64_t id = 1, open = 0; /* an upper limit of what is open at the end of a chunk */
    p->runs = calloc(p->count + 1, sizeof *p->runs);
    if (!p->runs)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < p->count; i++) {
        chunk_info *c = (chunk_info *)(uintptr_t)p->chunks[i];
        const chunk_info *before = i ? p->chunks[i - 1] : NULL;
        const bool follows =
            before && before->h.writer == c->h.writer && before->h.seq + 1 == c->h.seq;
        /* A chunk repeats only that a range is open, which suffices to read the chunk alone.
         * It does not list more than a maximum, and does not repeat the details of calls. */
        const bool goes_on = follows && (c->open_regions || c->open_ranges >= ROCL_CHUNK_OPEN_MAX);
        const uint64_t told = (uint64_t)c->open_regions + c->open_ranges;
        if (goes_on)
            p->runs[p->run_count - 1].count++;
        else
            p->runs[p->run_count++] = (chunk_run){.first = i, .count = 1};
        p->runs[p->run_count - 1].events += c->events;
        /* What was open at the end of the chunk before and is not listed by this one: its end was
         * dropped, so it is not shown. If records of the chunk before are lost, those are counted
         * already. */
        const bool tells_all =
            c->open_regions < ROCL_CHUNK_OPEN_MAX && c->open_ranges < ROCL_CHUNK_OPEN_MAX;
        if (follows && tells_all && !before->lost && before->left_open > told) {
            p->faults[ROCL_FAULT_DROPPED] += before->left_open - told;
            p->begun -= before->left_open - told;
        }
        if (!follows) /* begun in missing chunks, but shown */
            p->begun += told;
        c->last = i + 1 == p->count || p->chunks[i + 1]->h.writer != c->h.writer;
        c->first_id = id;
        open = c->left_open + (goes_on && open > told ? open - told : 0);
        id += c->events + (c->last ? open : 0);
        for (int clock = 0; clock < 4; clock++)
            if (c->last_times[clock] > p->last_times[clock])
                p->last_times[clock] = c->last_times[clock];
    }
    return ROCL_OK;
}

rocl_status chunk_index(chunk_file *f, rocl_error *err)
{
    unsigned jobs = f->trace->opt.jobs;
    indexer x = {.file = f, .buffers = calloc(jobs, sizeof *x.buffers)};
    if (!x.buffers)
        return rocl_fail_memory(err);
    pthread_mutex_init(&x.lock, NULL);
    rocl_status st = rocl_run_tasks(jobs, f->list.count, index_chunk, &x, err);
    pthread_mutex_destroy(&x.lock);
    for (unsigned i = 0; i < jobs; i++)
        rocl_buf_free(&x.buffers[i]);
    free(x.buffers);
    if (st == ROCL_OK)
        st = group_chunks(f, err);
    size_t copies = 0;
    /* Joined files may have had chunks in common. */
    for (size_t i = 0; i < f->count && st == ROCL_OK; i++) {
        chunk_process *p = &f->processes[i];
        const size_t all = p->count;
        size_t n = 1;
        qsort(p->chunks, all, sizeof *p->chunks, compare_chunks);
        p->any = p->chunks[0];
        for (size_t k = 1; k < all; k++) {
            const chunk_info *kept = p->chunks[n - 1], *c = p->chunks[k];
            if (kept->h.writer != c->h.writer || kept->h.seq != c->h.seq)
                p->chunks[n++] = c;
        }
        p->count = n;
        copies += all - n;
    }
    if (copies)
        rocl_notice(f->trace, "%s: %zu %s of chunks left out: each chunk is read once", f->path,
                    copies, copies == 1 ? "copy" : "copies");
    for (size_t i = 0; i < f->count && st == ROCL_OK; i++) {
        chunk_process *p = &f->processes[i];
        count_losses(p);
        drop_damaged(p);
        st = plan_runs(p, err);
        if (st == ROCL_OK)
            st = chunk_clock_make(&p->clock, p->chunks, p->count, err);
    }
    return st;
}
