#include "base/pool.h"

#include "base/error.h"
#include "base/threads.h"

#include <stdatomic.h>
#include <stdlib.h>

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

static void report(bag *b, size_t index, rocl_status status, const rocl_error *err)
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

static void work(bag *b, unsigned number, rocl_error *err)
{
    while (!atomic_load_explicit(&b->stop, memory_order_relaxed)) {
        size_t i = atomic_fetch_add_explicit(&b->next, 1, memory_order_relaxed);
        if (i >= b->count)
            break;
        rocl_status st = b->task(b->ctx, number, i, err);
        if (st)
            report(b, i, st, err);
    }
}

static void *run(void *arg)
{
    worker *w = arg;
    work(w->bag, w->number, w->err);
    return NULL;
}

/* Fewer threads than asked for (a limit, no memory) only make it slower; but none runs that could
 * not say what went wrong. */
static void start(bag *b, worker *w, unsigned number)
{
    *w = (worker){.bag = b, .number = number};
    w->err = b->err ? rocl_error_new() : NULL;
    w->running = (w->err || !b->err) && rocl_thread_start(&w->thread, run, w);
}

static void run_threads(bag *b, worker *threads, unsigned count, rocl_error *err)
{
    for (unsigned i = 0; i < count; i++)
        start(b, &threads[i], i + 1);
    work(b, 0, err);
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
