/* Small captures, read by threads of their own before the sink gets to them. */
#include "trace/prefetch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/pool.h"
#include "source/formats.h"

/* Captures that are kept at most, so that memory does not grow with the number of either captures
 * or workers. */
#define WINDOW_MAX 16

typedef enum state {
    UNTOUCHED,
    BEING_READ,
    READ,
    TAKEN /* or must not be prefetched */
} state;

typedef struct slot {
    rocl_prefetched pub;
    state state;
} slot;

/* Captures by index, with -j 3: two threads prefetch within the window while the sink takes the
 * capture whose turn it is.
 *
 *     index   0      1      2      3           4      5          6          7 ...
 *     state   TAKEN  TAKEN  TAKEN  BEING_READ  READ   BEING_READ UNTOUCHED  UNTOUCHED
 *                           turn                                 next
 *                           |<------------- window -------------->|
 *
 * `lock` guards next, turn, stop and every state. What is in a slot belongs to the thread that
 * made it BEING_READ, and from READ on to who takes it. `changed` is signalled when a capture has
 * been read, when the turn goes on, and at the end. */
struct rocl_prefetch {
    rocl_trace *trace;
    rocl_emitter wanted;
    slot *all; /* by index of the capture */
    size_t count;
    size_t next;   /* none before it is untouched */
    size_t turn;   /* the capture in hand */
    size_t window; /* how far beyond it to read */
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t *threads;
    unsigned thread_count;
};

uint64_t rocl_plan_rows(const rocl_plan *p)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < p->count; i++)
        rows += p->tasks[i].rows;
    return rows;
}

/* ---- one capture ---- */

static rocl_status keep_batch(void *ctx, unsigned worker, rocl_batch *b, rocl_error *err)
{
    rocl_prefetched *e = ctx;
    const bool dispatches = b->kind == ROCL_DISPATCH || b->kind == ROCL_COUNTER;
    const size_t size = b->count * rocl_kind_size(b->kind);
    const size_t packets = dispatches ? b->packet_count * sizeof *b->packets : 0;
    rocl_batch copy = *b;
    (void)worker;
    copy.any = malloc(size + packets ? size + packets : 1);
    if (!copy.any || !ROCL_GROW(e->kept, e->cap, e->count + 1)) {
        free(copy.any);
        return rocl_fail_memory(err);
    }
    memcpy(copy.any, b->any, size);
    if (packets) {
        copy.packets = (const rocl_packet *)(void *)((char *)copy.any + size);
        memcpy((char *)copy.any + size, b->packets, packets);
    }
    e->kept[e->count++] = copy;
    return ROCL_OK;
}

/* Begins a capture, and reads it whole when it is small. An empty batch marks the end of a task. */
static void prefetch_capture(const rocl_prefetch *a, size_t index)
{
    rocl_prefetched *e = &a->all[index].pub;
    rocl_model_capture *c = a->trace->captures[index];
    const rocl_source_ops *ops = c->source->ops;
    const rocl_emitter to = {keep_batch, e, a->wanted.kinds, a->wanted.fields, .quiet = true};
    e->err = rocl_error_new();
    rocl_status st = e->err ? ROCL_OK : ROCL_INTERNAL;
    if (st == ROCL_OK)
        st = ops->begin(a->trace, c, &to, &e->plan, e->err);
    e->whole = st == ROCL_OK && rocl_plan_rows(&e->plan) <= ROCL_PREFETCH_ROWS;
    for (size_t i = 0; e->whole && i < e->plan.count && st == ROCL_OK; i++) {
        st = ops->scan(a->trace, c, &e->plan.tasks[i], 0, &to, e->err);
        if (st == ROCL_OK && !ROCL_GROW(e->kept, e->cap, e->count + 1))
            st = rocl_fail_memory(e->err);
        if (st == ROCL_OK)
            e->kept[e->count++] = (rocl_batch){0};
    }
    if (st == ROCL_OK && e->whole)
        st = ops->finish(a->trace, c, &to, e->err);
    e->status = st;
}

void rocl_prefetched_free(rocl_prefetched *e)
{
    for (size_t i = 0; i < e->count; i++)
        free(e->kept[i].any);
    free(e->kept);
    rocl_error_free(e->err);
    *e = (rocl_prefetched){0};
}

rocl_status rocl_prefetched_emit(rocl_prefetched *e, const rocl_emitter *to,
                                 rocl_end_task_fn *end_task, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < e->count && st == ROCL_OK; i++) {
        rocl_batch *b = &e->kept[i];
        if (b->any)
            st = to->emit(to->ctx, 0, b, err);
        else if (end_task)
            st = end_task(to->ctx, 0, err);
    }
    if (st != ROCL_OK || e->status == ROCL_OK)
        return st;
    if (e->err)
        rocl_error_copy(err, e->err);
    else
        rocl_fail_memory(err);
    return e->status;
}

/* ---- all of them ---- */

/* With the lock held: reads the next untouched capture; false: there is none within the window. */
static bool prefetch_next(rocl_prefetch *a)
{
    while (a->next < a->count && a->all[a->next].state != UNTOUCHED)
        a->next++;
    size_t i = a->next;
    if (a->stop || i >= a->count || i > a->turn + a->window)
        return false;
    a->all[i].state = BEING_READ;
    pthread_mutex_unlock(&a->lock);
    prefetch_capture(a, i);
    pthread_mutex_lock(&a->lock);
    a->all[i].state = READ;
    pthread_cond_broadcast(&a->changed);
    return true;
}

static void *run_thread(void *arg)
{
    rocl_prefetch *a = arg;
    pthread_mutex_lock(&a->lock);
    while (!a->stop && a->next < a->count)
        if (!prefetch_next(a) && !a->stop && a->next < a->count)
            pthread_cond_wait(&a->changed, &a->lock);
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

rocl_prefetched *rocl_prefetch_take(rocl_prefetch *a, uint32_t index)
{
    if (!a)
        return NULL;
    slot *e = &a->all[index];
    pthread_mutex_lock(&a->lock);
    a->turn = index;
    pthread_cond_broadcast(&a->changed);
    while (e->state == BEING_READ)
        if (!prefetch_next(a))
            pthread_cond_wait(&a->changed, &a->lock);
    bool read = e->state == READ;
    e->state = TAKEN;
    pthread_mutex_unlock(&a->lock);
    return read ? &e->pub : NULL;
}

rocl_prefetch *rocl_prefetch_new(rocl_trace *t, const bool *wanted, const rocl_emitter *emitter)
{
    const unsigned jobs = t->opt.jobs;
    rocl_prefetch *a = jobs > 1 && t->capture_count > 1 ? calloc(1, sizeof *a) : NULL;
    if (!a)
        return NULL;
    a->trace = t;
    a->wanted = *emitter;
    a->count = t->capture_count;
    a->window = 2 * jobs < WINDOW_MAX ? 2 * jobs : WINDOW_MAX;
    a->all = calloc(a->count, sizeof *a->all);
    a->threads = calloc(jobs, sizeof *a->threads);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    for (size_t i = 0; a->all && i < a->count; i++) {
        const rocl_source *s = t->captures[i]->source;
        /* Captures of one file use the same connections. */
        if (!wanted[i] || !(s->format->flags & ROCL_FORMAT_INDEPENDENT && s->single))
            a->all[i].state = TAKEN;
    }
    unsigned threads = a->all && a->threads ? (jobs <= WINDOW_MAX ? jobs - 1 : WINDOW_MAX) : 0;
    while (a->thread_count < threads &&
           rocl_thread_start(&a->threads[a->thread_count], run_thread, a))
        a->thread_count++;
    if (a->thread_count)
        return a;
    rocl_prefetch_free(a);
    return NULL;
}

void rocl_prefetch_free(rocl_prefetch *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    for (unsigned i = 0; i < a->thread_count; i++)
        pthread_join(a->threads[i], NULL);
    for (size_t i = 0; a->all && i < a->count; i++)
        if (a->all[i].state == READ) {
            rocl_model_capture *c = a->trace->captures[i];
            c->source->ops->end(a->trace, c);
            free(a->all[i].pub.plan.tasks);
            rocl_prefetched_free(&a->all[i].pub);
        }
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
    free(a->threads);
    free(a->all);
    free(a);
}
