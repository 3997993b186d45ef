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

static void report_failure(bag *b, size_t index, rocl_status status, const rocl_error *err)
{
    atomic_store_explicit(&b->stop, true, memory_order_relaxed);
    pthread_mutex_lock(&b->lock);
    if (!b->status || index < b->failed_index) {
        b->status = status;
        b->failed_index = index;
        rocl_error_copy(b->err, err);
    }
    pthread_mutex_unlock(&b->lock);
}

static void work_on_bag(bag *b, unsigned number, rocl_error *err)
{
    while (!atomic_load_explicit(&b->stop, memory_order_relaxed)) {
        size_t i = atomic_fetch_add_explicit(&b->next, 1, memory_order_relaxed);
        if (i >= b->count)
            break;
        rocl_status st = b->task(b->ctx, number, i, err);
        if (st)
            report_failure(b, i, st, err);
    }
}

static void *run_worker(void *arg)
{
    worker *w = arg;
    work_on_bag(w->bag, w->number, w->err);
    return NULL;
}

/* Fewer threads than asked for (a limit, no memory) only make it slower; but none runs that could
 * not say what went wrong. */
static void start_worker(bag *b, worker *w, unsigned number)
{
    *w = (worker){.bag = b, .number = number};
    w->err = b->err ? rocl_error_new() : NULL;
    w->running = (w->err || !b->err) && rocl_thread_start(&w->thread, run_worker, w);
}

static void run_threads(bag *b, worker *threads, unsigned count, rocl_error *err)
{
    for (unsigned i = 0; i < count; i++)
        start_worker(b, &threads[i], i + 1);
    work_on_bag(b, 0, err);
    for (unsigned i = 0; i < count; i++) {
        if (threads[i].running)
            pthread_join(threads[i].thread, NULL);
        rocl_error_free(threads[i].err);
    }
}

rocl_status rocl_run_tasks(unsigned workers, size_t count, rocl_task_fn *task, void *ctx,
                           rocl_error *err)
{
    if (workers > count)
        workers = (unsigned)count;
    bag b = {.task = task, .ctx = ctx, .count = count, .err = err};
    worker *threads = calloc(workers + 1, sizeof *threads);
    rocl_error *own = err ? rocl_error_new() : NULL; /* of worker 0: err holds the lowest task's */
    if (threads && (own || !err)) {
        pthread_mutex_init(&b.lock, NULL);
        run_threads(&b, threads, workers > 1 ? workers - 1 : 0, own);
        pthread_mutex_destroy(&b.lock);
    } else {
        b.status = rocl_fail_memory(err);
    }
    rocl_error_free(own);
    free(threads);
    return b.status;
}

/* ---- memory -------------------------------------------------------------------------------- */

enum { JOBS_MAX = 256, WORKERS_LEAST = 4 };

/* What a worker may hold: batches and pages while it reads; later a block of output, the same block
 * compressed, and the state of the compressor. Each phase gives its own back before the next. */
#define WORKER_BYTES ((size_t)1 << 20)

/* All cursors of a table together: with few workers each has as much as is the fastest. */
#define CURSOR_BYTES ((size_t)512 << 10)

static unsigned cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > JOBS_MAX ? JOBS_MAX : (unsigned)n;
}

rocl_budget rocl_budget_share(size_t memory, unsigned jobs)
{
    if (!memory)
        memory = ROCL_DEFAULT_MEMORY;
    if (!jobs)
        jobs = cores();
    size_t afford = memory / 2 / WORKER_BYTES;
    if (afford < WORKERS_LEAST)
        afford = WORKERS_LEAST;
    rocl_budget b = {.workers = jobs < afford ? jobs : (unsigned)afford};
    size_t held = b.workers * WORKER_BYTES;
    b.sorting = held < memory / 2 ? memory - held : memory - memory / 2;
    b.cursor = CURSOR_BYTES / b.workers;
    return b;
}
