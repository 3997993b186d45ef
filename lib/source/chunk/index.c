/* The first pass: every chunk is read once, by all workers. */
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

static bool is_definition(uint8_t type)
{
    return (type >= ROCL_REC_NODE && type <= ROCL_REC_PROCESS_NAME) || type == ROCL_REC_LABEL;
}

static bool keep_definition(indexer *x, chunk_info *c, const chunk_record *rec)
{
    size_t len = (size_t)(rec->end - rec->p);
    pthread_mutex_lock(&x->lock);
    const char *body = rocl_arena_dup(&x->file->arena, (const char *)rec->p, len);
    pthread_mutex_unlock(&x->lock);
    if (!body || !ROCL_GROW(c->defs, c->def_cap, c->def_count + 1))
        return false;
    c->defs[c->def_count++] = (chunk_def){rec->type, (uint32_t)len, (const uint8_t *)body};
    return true;
}

/* How many regions and ranges are open, as the scan will see it. */
typedef struct depths {
    uint32_t regions, ranges;
} depths;

static void follow(depths *d, const chunk_record *rec)
{
    d->regions += rec->type == ROCL_REC_BEGIN || rec->type == ROCL_REC_OPEN_REGION;
    d->ranges += rec->type == ROCL_REC_PUSH || rec->type == ROCL_REC_OPEN_RANGE;
    d->regions -= rec->type == ROCL_REC_END && d->regions;
    d->ranges -= rec->type == ROCL_REC_POP && d->ranges;
}

/* Which threads caused the work: few, and the same one most of the time. */
static bool note_cause(chunk_info *c, rocl_map *seen, chunk_record rec)
{
    for (int i = 0; i < 3; i++)
        chunk_number(&rec); /* clock, start, end */
    uint64_t tid = chunk_number(&rec);
    if (!tid || (c->tid_count && c->tids[c->tid_count - 1] == tid) ||
        rocl_map_get(seen, tid, ROCL_NONE) != ROCL_NONE)
        return true;
    if (!ROCL_GROW(c->tids, c->tid_cap, c->tid_count + 1) || !rocl_map_put(seen, tid, 0))
        return false;
    c->tids[c->tid_count++] = tid;
    return true;
}

static bool read_records(indexer *x, chunk_info *c, chunk_reader *r, rocl_map *seen)
{
    chunk_record rec;
    depths d = {0};
    while (chunk_next(r, &rec)) {
        follow(&d, &rec);
        c->open_regions += rec.type == ROCL_REC_OPEN_REGION;
        c->events += chunk_is_event(&rec);
        c->shown += chunk_is_event(&rec) && rec.type != ROCL_REC_END && rec.type != ROCL_REC_POP &&
                    rec.type != ROCL_REC_STOP;
        if (is_definition(rec.type) && !keep_definition(x, c, &rec))
            return false;
        if (rec.type >= ROCL_REC_DISPATCH && rec.type <= ROCL_REC_GRAPH &&
            !note_cause(c, seen, rec))
            return false;
    }
    c->last_ticks = r->now;
    c->left_open = d.regions + d.ranges;
    return true;
}

static bool read_all(indexer *x, chunk_info *c, chunk_reader *r)
{
    rocl_map seen = {0};
    bool ok = read_records(x, c, r, &seen);
    rocl_map_free(&seen);
    return ok;
}

static rocl_status index_one(void *ctx, unsigned worker, size_t i, rocl_error *err)
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
    if (!read_all(x, c, &r))
        return rocl_fail_memory(err);
    bool bad = state != CHUNK_WHOLE || r.broken;
    c->lost = said > c->events ? said - c->events : 0;
    if (bad && !c->lost)
        c->lost = 1; /* something, though no event */
    return ROCL_OK;
}

/* ---- processes ------------------------------------------------------------------------------- */

static chunk_process *process_of(chunk_file *f, rocl_map *map, const chunk_info *c, rocl_error *err)
{
    uint64_t key, half[2];
    memcpy(half, c->h.session, sizeof half);
    key = rocl_mix64(rocl_mix64(half[0] ^ c->h.pid) ^ half[1]) ^ c->h.process;
    uint32_t at = rocl_map_get(map, key, ROCL_NONE);
    if (at != ROCL_NONE)
        return &f->processes[at];
    if (!ROCL_GROW(f->processes, f->cap, f->count + 1) ||
        !rocl_map_put(map, key, (uint32_t)f->count)) {
        rocl_fail_memory(err);
        return NULL;
    }
    f->processes[f->count].file = f;
    return &f->processes[f->count++];
}

static rocl_status group(chunk_file *f, rocl_error *err)
{
    rocl_map map = {0};
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < f->list.count && st == ROCL_OK; i++) {
        const chunk_info *c = &f->list.all[i];
        chunk_process *p = process_of(f, &map, c, err);
        if (!p)
            st = ROCL_INTERNAL;
        else if (!ROCL_GROW(p->chunks, p->cap, p->count + 1))
            st = rocl_fail_memory(err);
        else
            p->chunks[p->count++] = c;
    }
    rocl_map_free(&map);
    return st;
}

/* By writer, then number; of copies the one first that has most. */
static int by_writer(const void *a, const void *b)
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

static bool follows(const chunk_info *a, const chunk_info *b)
{
    return a->h.writer == b->h.writer && a->h.seq + 1 == b->h.seq;
}

static bool has_flag(const chunk_info *c, uint32_t flag)
{
    return c->h.flags & flag;
}

/* Is there a chunk of its writer behind it, that is, one that was begun? Version 1.0 did not say.
 */
static bool has_more(const chunk_info *c)
{
    return c->h.minor > 0 && has_flag(c, ROCL_CHUNK_CLOSED) &&
           !has_flag(c, ROCL_CHUNK_LAST | ROCL_CHUNK_OPEN | ROCL_CHUNK_PROCESS);
}

/* How many chunks are missing between one of a writer and the next one that is there; NULL: that
 * is of another writer. A ring has given them up. */
static uint64_t gap_behind(const chunk_info *c, const chunk_info *next)
{
    if (has_flag(next ? next : c, ROCL_CHUNK_RING))
        return 0;
    if (!next)
        return has_more(c);
    return next->h.seq > c->h.seq + 1 ? next->h.seq - c->h.seq - 1 : 0;
}

/* What is missing between two chunks of a writer, and what it says it could not keep. */
static void count_losses(chunk_process *p, size_t i)
{
    const chunk_info *c = p->chunks[i], *next = i + 1 < p->count ? p->chunks[i + 1] : NULL;
    bool same = next && next->h.writer == c->h.writer;
    p->faults[ROCL_FAULT_TORN] += c->damaged && !c->lost ? 1 : c->lost;
    p->missing += gap_behind(c, same ? next : NULL);
    if (!same && !c->damaged)
        p->faults[ROCL_FAULT_DROPPED] +=
            atomic_load_explicit(&((chunk_info *)(uintptr_t)c)->h.dropped, memory_order_relaxed);
}

/* What the process said when it ended: there may be writers of which there is nothing. */
static void count_chunks(chunk_process *p)
{
    uint64_t said = 0;
    for (size_t i = 0; i < p->count; i++) {
        const chunk_info *c = p->chunks[i];
        if (!has_flag(c, ROCL_CHUNK_PROCESS) || !has_flag(c, ROCL_CHUNK_LAST))
            continue;
        p->ended = true;
        said = c->h.chunks > said ? c->h.chunks : said;
    }
    if (said > p->count && said - p->count > p->missing)
        p->missing = said - p->count;
}

/* Of copies of a chunk the one that was closed last knows most. */
static void take_given_up(chunk_process *p, const rocl_chunk_header *h)
{
    if (!(h->flags & ROCL_CHUNK_PROCESS) || h->minor < 2 || h->given_chunks <= p->given_chunks)
        return;
    p->given_chunks = h->given_chunks;
    p->given_records = h->given_records;
    p->given_until = h->given_until;
}

static bool is_same(const chunk_info *a, const chunk_info *b)
{
    return a->h.writer == b->h.writer && a->h.seq == b->h.seq;
}

/* Files may have been joined that have chunks in common. */
static void drop_copies(chunk_process *p)
{
    size_t n = 1;
    for (size_t i = 1; i < p->count; i++)
        if (!is_same(p->chunks[n - 1], p->chunks[i]))
            p->chunks[n++] = p->chunks[i];
    if (n < p->count)
        rocl_notice(p->file->trace, "%s: %zu chunks are there more than once; they are read once",
                    p->file->path, p->count - n);
    p->count = n;
}

/* What is left are chunks that can be read. */
static void sort_out(chunk_process *p)
{
    size_t n = 0;
    drop_copies(p);
    for (size_t i = 0; i < p->count; i++)
        count_losses(p, i);
    count_chunks(p);
    for (size_t i = 0; i < p->count; i++) {
        if (p->chunks[i]->damaged)
            continue;
        take_given_up(p, &p->chunks[i]->h);
        p->shown += p->chunks[i]->shown;
        p->chunks[n++] = p->chunks[i];
    }
    p->count = n;
}

static rocl_status plan_runs(chunk_process *p, rocl_error *err)
{
    uint64_t id = 1;
    p->runs = calloc(p->count + 1, sizeof *p->runs);
    if (!p->runs)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < p->count; i++) {
        chunk_info *c = (chunk_info *)(uintptr_t)p->chunks[i];
        c->last = i + 1 == p->count || p->chunks[i + 1]->h.writer != c->h.writer;
        c->first_id = id;
        id += c->events + (c->last ? c->left_open : 0);
        if (c->last_ticks > p->last_ticks)
            p->last_ticks = c->last_ticks;
        if (i && follows(p->chunks[i - 1], c) && c->open_regions)
            p->runs[p->run_count - 1].count++;
        else
            p->runs[p->run_count++] = (chunk_run){.first = i, .count = 1};
        p->runs[p->run_count - 1].events += c->events;
    }
    return ROCL_OK;
}

static rocl_status prepare(chunk_process *p, rocl_error *err)
{
    qsort(p->chunks, p->count, sizeof *p->chunks, by_writer);
    p->any = p->chunks[0];
    sort_out(p);
    rocl_status st = plan_runs(p, err);
    if (st == ROCL_OK)
        st = chunk_clock_make(&p->clock, p->chunks, p->count, err);
    return st;
}

rocl_status chunk_index(chunk_file *f, rocl_error *err)
{
    unsigned jobs = f->trace->opt.jobs;
    indexer x = {.file = f, .buffers = calloc(jobs, sizeof *x.buffers)};
    if (!x.buffers)
        return rocl_fail_memory(err);
    pthread_mutex_init(&x.lock, NULL);
    rocl_status st = rocl_run_tasks(jobs, f->list.count, index_one, &x, err);
    pthread_mutex_destroy(&x.lock);
    for (unsigned i = 0; i < jobs; i++)
        rocl_buf_free(&x.buffers[i]);
    free(x.buffers);
    if (st == ROCL_OK)
        st = group(f, err);
    for (size_t i = 0; i < f->count && st == ROCL_OK; i++)
        st = prepare(&f->processes[i], err);
    return st;
}
