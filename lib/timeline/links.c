/* Which call launched which GPU work. */
#include "timeline/links.h"

#include "base/error.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>

/* What a record keeps of an id. Events with larger ones have no links; that they do not get those
 * of the events they look like is seen by their stack ids. */
#define ROW_BITS (64 - ROCL_KIND_BITS)

uint64_t rocl_link_id(const rocl_capture *c, uint64_t stack_id)
{
    uint64_t capture = c->index;
    if (stack_id >> 40)
        return rocl_mix64(stack_id ^ capture << 48) | (uint64_t)1 << 63;
    return capture << 40 | stack_id;
}

rocl_status rocl_links_open(rocl_links *l, const rocl_trace *t, bool arrows, rocl_error *err)
{
    *l = (rocl_links){.trace = t, .arrows = arrows};
    if (arrows)
        l->sorter = rocl_sorter_new(t->space, 4);
    else
        l->workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *l->workers);
    return l->sorter || l->workers ? ROCL_OK : rocl_fail_memory(err);
}

static void free_workers(rocl_links *l)
{
    for (unsigned w = 0; l->workers && w < l->trace->opt.jobs; w++) {
        rocl_idset_free(&l->workers[w].work);
        rocl_idset_free(&l->workers[w].calls);
        rocl_idset_free(&l->workers[w].repeated);
    }
    free(l->workers);
    l->workers = NULL;
}

void rocl_links_free(rocl_links *l)
{
    free_workers(l);
    rocl_sorter_free(l->sorter);
    rocl_idset_free(&l->stacks);
    rocl_idset_free(&l->repeated);
    for (int k = 0; k < ROCL_KINDS; k++)
        rocl_idset_free(&l->rows[k]);
    *l = (rocl_links){0};
}

/* ---- while events come ----------------------------------------------------------------------- */

/* In the order of the rule: calls, marks, work. */
static rocl_status add_event(rocl_links *l, unsigned worker, uint64_t stack_id, int64_t start,
                             uint64_t row, rocl_kind kind, rocl_error *err)
{
    uint64_t rank = kind == ROCL_REGION ? 0 : kind == ROCL_INSTANT ? 1 : 2;
    const uint64_t key[4] = {stack_id, rank, (uint64_t)start, rocl_row_word(row, kind)};
    return row >> ROW_BITS ? ROCL_OK : rocl_sorter_add(l->sorter, worker, key, NULL, 0, err);
}

static bool note_calls(rocl_links_worker *w, const rocl_batch *b)
{
    uint64_t page = UINT64_MAX, *words = NULL; /* of the set: calls come nearly in order */
    for (size_t i = 0; i < b->count; i++) {
        uint64_t id = b->regions[i].e.stack_id, bit = (uint64_t)1 << (id & 63);
        if (id >> ROCL_IDSET_SHIFT != page) {
            page = id >> ROCL_IDSET_SHIFT;
            if (!(words = rocl_idset_open(&w->calls, page)))
                return false;
        }
        if (words[(id >> 6) & 7] & bit && id && !rocl_idset_add(&w->repeated, id))
            return false;
        words[(id >> 6) & 7] |= bit;
    }
    return true;
}

static bool note_work(rocl_links_worker *w, const rocl_batch *b)
{
    const size_t size = rocl_kind_size(b->kind);
    for (size_t i = 0; i < b->count; i++) {
        uint64_t stack_id = rocl_event_at(b, size, i)->stack_id;
        if (stack_id && !rocl_idset_add(&w->work, stack_id))
            return false;
    }
    return true;
}

rocl_status rocl_links_note(rocl_links *l, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    const bool call = ROCL_LAUNCH_KINDS >> b->kind & 1, work = ROCL_WORK_KINDS >> b->kind & 1;
    const size_t size = rocl_kind_size(b->kind);
    rocl_status st = ROCL_OK;
    if (!call && !work)
        return ROCL_OK;
    if (!l->arrows)
        return (call ? note_calls : note_work)(&l->workers[worker], b) ? ROCL_OK
                                                                       : rocl_fail_memory(err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        if (e->stack_id)
            st = add_event(l, worker, e->stack_id, e->start, e->id, b->kind, err);
    }
    return st;
}

rocl_status rocl_links_seal(rocl_links *l, unsigned worker, rocl_error *err)
{
    return l->sorter ? rocl_sorter_seal(l->sorter, worker, err) : ROCL_OK;
}

/* ---- when all have come ---------------------------------------------------------------------- */

/* Stack ids of all workers. Of those of several calls only the ones with work are kept. */
static rocl_status join_workers(rocl_links *l, rocl_error *err)
{
    rocl_idset calls = {0}, repeated = {0};
    bool good = true;
    for (unsigned i = 0; i < l->trace->opt.jobs && good; i++) {
        rocl_links_worker *w = &l->workers[i];
        good = rocl_idset_merge(&l->stacks, &w->work) &&
               rocl_idset_merge_common(&repeated, &calls, &w->calls) &&
               rocl_idset_merge(&repeated, &w->repeated) && rocl_idset_merge(&calls, &w->calls);
    }
    good = good && rocl_idset_merge_common(&l->repeated, &l->stacks, &repeated);
    rocl_idset_free(&calls);
    rocl_idset_free(&repeated);
    free_workers(l);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

/* Adds the calls with a repeated stack id to l->sorter, and all records to a new sorter. */
static rocl_status collect_repeated(rocl_links *l, rocl_sorter **records, rocl_error *err)
{
    rocl_sorter *old = *records, *fresh = rocl_record_sorter(l->trace);
    rocl_sort_record rec;
    rocl_track_event e;
    l->sorter = rocl_sorter_new(l->trace->space, 4);
    rocl_status st = fresh && l->sorter ? rocl_sorter_start(old, err) : rocl_fail_memory(err);
    while (rocl_sorter_take(old, &rec, &st, err)) {
        st = rocl_sorter_add(fresh, 0, rec.key, rec.data, rec.len, err);
        if (rocl_sequence_kind_of(rocl_sequence_of(rec.key)) == ROCL_SEQUENCE_HOST &&
            st == ROCL_OK && rocl_record_decode(&rec, &e) && e.kind != ROCL_MARKER && e.stack_id &&
            rocl_idset_next(&l->repeated, e.stack_id))
            st = add_event(l, 0, e.stack_id, e.time, e.row, e.kind, err);
    }
    rocl_sorter_free(old);
    *records = fresh;
    return st;
}

/* The call that the events of a stack id begin with, if they do. */
typedef struct launch {
    uint64_t stack_id, start, row;
    rocl_kind kind;
    bool linked;
} launch;

static bool resolve_event(rocl_links *l, launch *call, const uint64_t *key)
{
    uint64_t row = rocl_word_row(key[3]);
    rocl_kind kind = rocl_word_kind(key[3]);
    bool same = call->stack_id == key[0];
    if (ROCL_LAUNCH_KINDS >> kind & 1) {
        if (!same)
            *call = (launch){key[0], key[2], row, kind, false};
        return same || l->arrows || rocl_idset_add(&l->rows[kind], row);
    }
    if (!same || key[2] < call->start)
        return true;
    if (!call->linked && (!rocl_idset_add(&l->rows[call->kind], call->row) ||
                          !rocl_idset_add(&l->stacks, call->stack_id)))
        return false;
    call->linked = true;
    return rocl_idset_add(&l->rows[kind], row);
}

/* Events of a task. */
#define RANGE ((uint64_t)256 << 10)

typedef struct resolving {
    rocl_links *links;
    pthread_mutex_t lock; /* of the sets of the links */
} resolving;

/* Resolves the stack ids that begin in a range of the events, to their last event. */
static rocl_status resolve_range(void *ctx, unsigned worker, size_t index, rocl_error *err)
{
    resolving *r = ctx;
    rocl_links found = {.arrows = r->links->arrows};
    rocl_sort_cursor *cursor = NULL;
    rocl_sort_record rec;
    launch call = {0};
    const uint64_t before = index > 0; /* an event of the range before, for its stack id */
    uint64_t stack_id = 0;
    bool more = true, begun = !before, good = true;
    (void)worker;
    rocl_status st = rocl_sorter_open(r->links->sorter, index * RANGE - before, UINT64_MAX,
                                      r->links->trace->opt.jobs, &cursor, err);
    for (uint64_t i = 0; st == ROCL_OK && good; i++) {
        st = rocl_sort_cursor_next(cursor, &rec, &more, err);
        if (st != ROCL_OK || !more)
            break;
        const bool other = rec.key[0] != stack_id;
        if (i >= RANGE + before && (other || !begun))
            break;
        stack_id = rec.key[0];
        begun = begun || (other && i >= before);
        good = !begun || resolve_event(&found, &call, rec.key);
    }
    rocl_sort_cursor_close(cursor);
    if (st == ROCL_OK && good) {
        pthread_mutex_lock(&r->lock);
        good = rocl_idset_merge(&r->links->stacks, &found.stacks);
        for (int k = 0; k < ROCL_KINDS && good; k++)
            good = rocl_idset_merge(&r->links->rows[k], &found.rows[k]);
        pthread_mutex_unlock(&r->lock);
    }
    if (st == ROCL_OK && !good)
        st = rocl_fail_memory(err);
    rocl_links_free(&found);
    return st;
}

rocl_status rocl_links_resolve(rocl_links *l, rocl_sorter **records, rocl_error *err)
{
    rocl_status st = l->arrows ? ROCL_OK : join_workers(l, err);
    if (st == ROCL_OK && !l->arrows) {
        if (!l->repeated.count)
            return ROCL_OK;
        st = collect_repeated(l, records, err);
    }
    if (st == ROCL_OK)
        st = rocl_sorter_start_cursors(l->sorter, err);
    if (st == ROCL_OK) {
        const uint64_t count = rocl_sorter_count(l->sorter);
        resolving r = {.links = l};
        pthread_mutex_init(&r.lock, NULL);
        st =
            rocl_run_tasks(l->trace->opt.jobs, (count + RANGE - 1) / RANGE, resolve_range, &r, err);
        pthread_mutex_destroy(&r.lock);
    }
    rocl_sorter_free(l->sorter);
    l->sorter = NULL;
    return st;
}
