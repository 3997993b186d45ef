/* Tasks, memory for workers, threads. The pipe is in pipe.c. */
#include "base/pool.h"

#include "base/error.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

bool rocl_thread_start(pthread_t *t, void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(t, NULL, run, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

/* ---- tasks --------------------------------------------------------------------------------- */

typedef struct bag {
    rocl_task_fn *task;
    void *ctx;
    size_t count;
    _Atomic size_t next;
    atomic_bool stop;
    /* the failure of the lowest index; it is the same in every run, because an index is only ever
     * started after all lower ones were */
    pthread_mutex_t lock;
    size_t failed_index;
    rocl_status status;
    rocl_error *err;
} bag;

typedef struct worker {
    pthread_t thread;
    bag *bag;
    rocl_error *err; /* of the task at hand; NULL when the caller wants none */
    unsigned number;
    bool running;
} worker;

static void *work_on_bag(void *arg)
{
    worker *w = arg;
    bag *b = w->bag;
    while (!atomic_load_explicit(&b->stop, memory_order_relaxed)) {
        size_t i = atomic_fetch_add_explicit(&b->next, 1, memory_order_relaxed);
        if (i >= b->count)
            break;
        rocl_status st = b->task(b->ctx, w->number, i, w->err);
        if (st == ROCL_OK)
            continue;
        atomic_store_explicit(&b->stop, true, memory_order_relaxed);
        pthread_mutex_lock(&b->lock);
        if (!b->status || i < b->failed_index) {
            b->status = st;
            b->failed_index = i;
            rocl_error_copy(b->err, w->err);
        }
        pthread_mutex_unlock(&b->lock);
    }
    return NULL;
}

rocl_status rocl_run_tasks(unsigned workers, size_t count, rocl_task_fn *task, void *ctx,
                           rocl_error *err)
{
    const unsigned most = workers < count ? workers : (unsigned)count;
    bag b = {.task = task, .ctx = ctx, .count = count, .err = err};
    worker *w = calloc(most + 1, sizeof *w); /* w[0] is the caller: err holds the lowest task's */
    if (!w || (err && !(w[0].err = rocl_error_new()))) {
        free(w);
        return rocl_fail_memory(err);
    }
    w[0].bag = &b;
    pthread_mutex_init(&b.lock, NULL);
    /* Fewer threads than asked for (a limit, no memory) only make it slower; but none runs that
     * could not report what went wrong. */
    for (unsigned i = 1; i < most; i++) {
        w[i] = (worker){.bag = &b, .number = i, .err = err ? rocl_error_new() : NULL};
        w[i].running = (w[i].err || !err) && rocl_thread_start(&w[i].thread, work_on_bag, &w[i]);
    }
    work_on_bag(&w[0]);
    for (unsigned i = 1; i < most; i++)
        if (w[i].running)
            pthread_join(w[i].thread, NULL);
    for (unsigned i = 0; i <= most; i++)
        rocl_error_free(w[i].err);
    pthread_mutex_destroy(&b.lock);
    free(w);
    return b.status;
}

/* ---- memory -------------------------------------------------------------------------------- */

enum { JOBS_MAX = 256, WORKERS_LEAST = 4 };

/* What a worker may hold: batches and pages while it reads; later a block of output, the same block
 * compressed, and the state of the compressor. Each phase gives its own back before the next. */
#define WORKER_BYTES ((size_t)1 << 20)

/* All cursors of a table together: with few workers each has as much as is the fastest. */
#define CURSOR_BYTES ((size_t)512 << 10)

rocl_budget rocl_budget_share(size_t memory, unsigned jobs)
{
    if (!memory)
        memory = ROCL_DEFAULT_MEMORY;
    if (!jobs) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        jobs = cores < 1 ? 1 : cores > JOBS_MAX ? JOBS_MAX : (unsigned)cores;
    }
    size_t afford = memory / 2 / WORKER_BYTES;
    if (afford < WORKERS_LEAST)
        afford = WORKERS_LEAST;
    rocl_budget b = {.workers = jobs < afford ? jobs : (unsigned)afford};
    size_t held = b.workers * WORKER_BYTES;
    b.sorting = held < memory / 2 ? memory - held : memory - memory / 2;
    b.cursor = CURSOR_BYTES / b.workers;
    return b;
}
