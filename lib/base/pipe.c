/* The pipe: blocks get a number when they are put, wait in a ring, are transformed by whoever is
 * free, and are written in order by whoever completes the one whose turn it is. All bookkeeping is
 * under one lock; transform and write run without it.
 *
 * The first failure in order decides: a failed block is only acted upon when its turn to be written
 * comes, when everything before it has been written. Hence the same error for any workers. */
#include "base/pool.h"

#include "base/error.h"

#include <stdlib.h>

/* Blocks beyond one for each worker, which the producer may fill before they are needed: enough
 * that nobody waits while one block takes much longer than those after it. */
enum { EXTRA_BLOCKS = 8 };

typedef enum state { TAKEN, DONE, FAILED } state;

typedef struct node {
    rocl_block block; /* first: a block's address is its node's */
    state state;
    struct node *next; /* free list */
} node;

typedef struct worker {
    rocl_pipe *pipe;
    rocl_error *err;
    pthread_t thread;
    unsigned number;
    bool running;
} worker;

struct rocl_pipe {
    const rocl_pipe_ops *ops;
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t work;  /* threads: something was put, or quit */
    pthread_cond_t moved; /* the producer: a block came free, or a failure */
    /* numbers of blocks: written <= taken <= put; the ring holds [written, put) */
    uint64_t put, taken, written;
    unsigned blocks, made, held; /* how many there may be, are, and the producer has */
    unsigned busy;               /* workers that are in transform or write */
    unsigned started;            /* workers that there are, with the producer */
    unsigned *ring;              /* indexes of nodes */
    node *nodes, *free;
    bool writing; /* somebody is in ops->write */
    bool broken;  /* the failure's turn has come: nothing is transformed or written any more */
    bool quit;
    uint64_t failed_at; /* number of the first failed block, UINT64_MAX without */
    rocl_status status; /* of it */
    rocl_error *err;
    unsigned workers;
    worker worker[];
};

/* ---- with the lock held -------------------------------------------------------------------- */

static node *node_at(const rocl_pipe *p, uint64_t number)
{
    return &p->nodes[p->ring[number % p->blocks]];
}

static void recycle_block(rocl_pipe *p, node *n)
{
    rocl_buf *in = &n->block.in, *out = &n->block.out;
    in->len = out->len = 0;
    in->failed = out->failed = false;
    n->block.user = NULL;
    n->next = p->free;
    p->free = n;
}

static void note_failure(rocl_pipe *p, uint64_t number, rocl_status status, const rocl_error *err)
{
    if (number >= p->failed_at)
        return;
    p->failed_at = number;
    p->status = status;
    rocl_error_copy(p->err, err);
}

/* Writes whatever is complete and next in order, unless somebody is at it already: that one sees
 * the block just completed when it comes back for the lock. */
static void write_ready(rocl_pipe *p, worker *w)
{
    if (p->writing)
        return;
    p->writing = true;
    while (!p->broken && p->written < p->taken) {
        node *n = node_at(p, p->written);
        if (n->state == TAKEN)
            break;
        rocl_status st = ROCL_OK;
        if (n->state == DONE) {
            pthread_mutex_unlock(&p->lock);
            st = p->ops->write(p->ctx, &n->block, w->err);
            pthread_mutex_lock(&p->lock);
            if (st)
                note_failure(p, p->written, st, w->err);
        }
        if (st || n->state == FAILED) {
            p->broken = true;
            pthread_cond_broadcast(&p->moved);
            break;
        }
        p->written++;
        recycle_block(p, n);
        pthread_cond_signal(&p->moved);
    }
    p->writing = false;
}

static bool has_work(const rocl_pipe *p)
{
    return !p->broken && p->taken < p->put;
}

/* Transforms the oldest block that waits, then writes what can be written. */
static void process_block(rocl_pipe *p, worker *w)
{
    uint64_t number = p->taken++;
    node *n = node_at(p, number);
    n->state = TAKEN;
    p->busy++;
    pthread_mutex_unlock(&p->lock);
    rocl_status st = n->block.in.failed ? rocl_fail_memory(w->err)
                                        : p->ops->transform(p->ctx, w->number, &n->block, w->err);
    if (!st && n->block.out.failed)
        st = rocl_fail_memory(w->err);
    pthread_mutex_lock(&p->lock);
    n->state = st ? FAILED : DONE;
    if (st)
        note_failure(p, number, st, w->err);
    write_ready(p, w);
    if (!--p->busy && p->broken)
        pthread_cond_broadcast(&p->moved);
}

/* ---- threads ------------------------------------------------------------------------------- */

static void *run_worker(void *arg)
{
    worker *w = arg;
    rocl_pipe *p = w->pipe;
    pthread_mutex_lock(&p->lock);
    while (!p->quit) {
        if (has_work(p))
            process_block(p, w);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Joins the threads and frees. */
static void free_pipe(rocl_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 1; i < p->workers; i++)
        if (p->worker[i].running)
            pthread_join(p->worker[i].thread, NULL);
    for (unsigned i = 0; p->nodes && i < p->made; i++) {
        rocl_buf_free(&p->nodes[i].block.in);
        rocl_buf_free(&p->nodes[i].block.out);
    }
    for (unsigned i = 0; i < p->workers; i++)
        rocl_error_free(p->worker[i].err);
    rocl_error_free(p->err);
    free(p->nodes);
    free(p->ring);
    pthread_cond_destroy(&p->moved);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

rocl_status rocl_pipe_new(rocl_pipe **pipe, unsigned workers, const rocl_pipe_ops *ops, void *ctx,
                          rocl_error *err)
{
    *pipe = NULL;
    if (!workers)
        workers = 1;
    rocl_pipe *p = calloc(1, sizeof *p + workers * sizeof p->worker[0]);
    if (!p)
        return rocl_fail_memory(err);
    p->ops = ops;
    p->ctx = ctx;
    p->workers = workers;
    p->blocks = workers + EXTRA_BLOCKS;
    p->failed_at = UINT64_MAX;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->moved, NULL);
    p->ring = calloc(p->blocks, sizeof *p->ring);
    p->nodes = calloc(p->blocks, sizeof *p->nodes);
    p->err = rocl_error_new();
    bool ok = p->ring && p->nodes && p->err;
    for (unsigned i = 0; i < workers; i++) {
        p->worker[i] = (worker){.pipe = p, .err = rocl_error_new(), .number = i};
        ok = ok && p->worker[i].err;
    }
    if (!ok) {
        free_pipe(p);
        return rocl_fail_memory(err);
    }
    p->started = 1;
    *pipe = p;
    return ROCL_OK;
}

/* ---- the producer -------------------------------------------------------------------------- */

/* Makes progress while the producer has to wait. */
static void help_or_wait(rocl_pipe *p)
{
    if (has_work(p))
        process_block(p, &p->worker[0]);
    else
        pthread_cond_wait(&p->moved, &p->lock);
}

rocl_status rocl_pipe_get(rocl_pipe *p, rocl_block **block, rocl_error *err)
{
    node *n = NULL;
    rocl_status st = ROCL_OK;
    *block = NULL;
    if (p->held == p->blocks)
        return rocl_fail(err, ROCL_INTERNAL, "all blocks of a pipe are held by its producer");
    pthread_mutex_lock(&p->lock);
    while (!p->broken && !n) {
        n = p->free;
        if (n)
            p->free = n->next;
        else if (p->made < p->blocks)
            n = &p->nodes[p->made++];
        else
            help_or_wait(p);
    }
    if (n) {
        p->held++;
        *block = &n->block;
    } else {
        rocl_error_copy(err, p->err);
        st = p->status;
    }
    pthread_mutex_unlock(&p->lock);
    return st;
}

rocl_status rocl_pipe_put(rocl_pipe *p, rocl_block *block, rocl_error *err)
{
    node *n = (node *)block;
    rocl_status st = ROCL_OK;
    pthread_mutex_lock(&p->lock);
    p->held--;
    if (p->broken) {
        recycle_block(p, n);
    } else {
        p->ring[p->put++ % p->blocks] = (unsigned)(n - p->nodes);
        /* One more thread where a block waits for it beside the last one, which the producer
         * transforms if it is all that there is: a small output needs no thread. One that cannot be
         * had is done without. */
        if (block->in.len && p->started < p->workers && p->put - p->taken > 1) {
            worker *w = &p->worker[p->started++];
            w->running = rocl_thread_start(&w->thread, run_worker, w);
        }
        pthread_cond_signal(&p->work);
        if (p->workers == 1)
            process_block(p, &p->worker[0]);
    }
    if (p->broken) {
        rocl_error_copy(err, p->err);
        st = p->status;
    }
    pthread_mutex_unlock(&p->lock);
    return st;
}

rocl_status rocl_pipe_drain(rocl_pipe *p, rocl_error *err)
{
    pthread_mutex_lock(&p->lock);
    while (!p->broken && p->written < p->put)
        help_or_wait(p);
    while (p->broken && p->busy)
        pthread_cond_wait(&p->moved, &p->lock);
    rocl_status st = p->broken ? p->status : ROCL_OK;
    if (st)
        rocl_error_copy(err, p->err);
    pthread_mutex_unlock(&p->lock);
    return st;
}

rocl_status rocl_pipe_finish(rocl_pipe *p, rocl_error *err)
{
    rocl_status st = rocl_pipe_drain(p, err);
    free_pipe(p);
    return st;
}

void rocl_pipe_abort(rocl_pipe *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->broken = true;
    pthread_mutex_unlock(&p->lock);
    free_pipe(p);
}
