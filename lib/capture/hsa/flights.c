/* GPU work in flight: its signals, and what happens when it is done. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <hsa/amd_hsa_signal.h>

#include "capture/hsa/hsa.h"

/* IDLE: in the free list, or being filled. FLYING -> LANDED by the thread that first sees its
 * completion. LANDED -> IDLE by the thread of the runtime; SWEPT: landed by us at the end, while
 * that thread may still look at the signal. FLYING -> REJECTED: the runtime did not accept the
 * work. */
enum { IDLE, FLYING, LANDED, REJECTED, SWEPT };
enum { SLAB = 256, SLABS = 1024, LAST_WAITS = 1000 };

/* Slabs are never freed or moved: readers index them without a lock below slab_count. `growing` is
 * held to add one. */
static rocl_flight *slabs[SLABS];
static _Atomic uint32_t slab_count;
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;
/* A stack of those that are free: count of changes << 32 | index + 1. The count tells a top that
 * went and came back from one that stayed. */
static _Atomic uint64_t free_list;
_Static_assert((uint64_t)SLAB *SLABS < UINT32_MAX,
               "an index plus one is the low half of free_list");
static _Atomic uint64_t last_dispatch, unwatched, without_times;

static rocl_flight *flight_at(uint32_t index)
{
    return &slabs[index / SLAB][index % SLAB];
}

/* ---- the pool -------------------------------------------------------------------------------- */

static void push_free(rocl_flight *f)
{
    uint64_t old = atomic_load(&free_list), top;
    do {
        atomic_store_explicit(&f->next, (uint32_t)old, memory_order_relaxed);
        top = ((old >> 32) + 1) << 32 | (f->index + 1);
    } while (!atomic_compare_exchange_weak(&free_list, &old, top));
}

static rocl_flight *pop_free(void)
{
    uint64_t old = atomic_load(&free_list), top;
    rocl_flight *f;
    do {
        if (!(uint32_t)old)
            return NULL;
        f = flight_at((uint32_t)old - 1);
        top = ((old >> 32) + 1) << 32 | atomic_load_explicit(&f->next, memory_order_relaxed);
    } while (!atomic_compare_exchange_weak(&free_list, &old, top));
    return f;
}

/* More than there ever were are in flight. */
static rocl_flight *add_slab(void)
{
    pthread_mutex_lock(&growing);
    rocl_flight *f = pop_free(); /* another thread may have been first */
    uint32_t n = atomic_load(&slab_count);
    rocl_flight *slab = !f && n < SLABS ? calloc(SLAB, sizeof *slab) : NULL;
    if (slab) {
        slabs[n] = slab;
        for (uint32_t i = 0; i < SLAB; i++)
            slab[i].index = n * SLAB + i;
        atomic_store(&slab_count, n + 1);
        for (uint32_t i = 1; i < SLAB; i++)
            push_free(&slab[i]);
        f = slab;
    }
    pthread_mutex_unlock(&growing);
    return f;
}

/* A child that was forked has no use for HSA, so the number may be kept. */
uint32_t rocl_hsa_tid(void)
{
    static __thread uint32_t tid;
    if (!tid)
        tid = (uint32_t)syscall(SYS_gettid);
    return tid;
}

/* It goes without a signal of ours. */
static void count_unwatched(bool in_chunk)
{
    atomic_fetch_add(&unwatched, 1);
    rocl_cap_lost(in_chunk);
}

rocl_flight *rocl_flight_new(hsa_signal_t original)
{
    bool in_chunk = rocl_rtg.chunks && !rocl_cap_is_paused();
    if (!in_chunk && !rocl_rtg.text)
        return NULL;
    rocl_flight *f = pop_free();
    if (!f && !(f = add_slab())) {
        count_unwatched(in_chunk);
        return NULL;
    }
    if (f->signal.handle) {
        rocl_hsa_real.core.hsa_signal_store_relaxed_fn(f->signal, 1);
    } else if (rocl_hsa_real.core.hsa_signal_create_fn(1, 0, NULL, &f->signal) !=
                   HSA_STATUS_SUCCESS ||
               !f->signal.handle) {
        f->signal.handle = 0;
        push_free(f);
        count_unwatched(in_chunk);
        return NULL;
    }
    f->original = original;
    f->queue = NULL;
    f->sent = rocl_rtg_now();
    f->tid = rocl_hsa_tid();
    f->in_chunk = in_chunk;
    f->correlation = in_chunk ? rocl_cap_correlate() : 0;
    f->stream = rocl_call_stream;
    return f;
}

static void put_back(rocl_flight *f)
{
    atomic_store(&f->state, IDLE);
    push_free(f);
}

void rocl_hsa_queue_release(rocl_hsa_queue *q)
{
    if (atomic_fetch_sub(&q->users, 1) == 1)
        free(q);
}

/* ---- when it is done ------------------------------------------------------------------------- */

/* The times of the work. The runtime has none of copies between CPUs: they are what the host saw
 * of it. */
static bool find_times(const rocl_flight *f, rocl_cap_times *t)
{
    hsa_amd_profiling_dispatch_time_t d = {0};
    hsa_amd_profiling_async_copy_time_t c = {0};
    hsa_status_t status = HSA_STATUS_ERROR;
    if (f->kind != ROCL_COPY) {
        status = rocl_hsa_real.amd.hsa_amd_profiling_get_dispatch_time_fn(f->agent->handle,
                                                                          f->signal, &d);
    } else {
        status = rocl_hsa_real.amd.hsa_amd_profiling_get_async_copy_time_fn(f->signal, &c);
        d.start = c.start;
        d.end = c.end;
    }
    *t = (rocl_cap_times){.start = rocl_hsa_ns(d.start),
                          .end = rocl_hsa_ns(d.end),
                          .clock = rocl_hsa_clock,
                          .correlation = f->correlation,
                          .tid = f->tid};
    if (status == HSA_STATUS_SUCCESS && d.end)
        return true;
    t->start = f->sent;
    t->end = rocl_rtg_now();
    t->clock = ROCL_CLOCK_MONOTONIC;
    return f->kind == ROCL_COPY && !f->agent->gpu;
}

static void record_in_chunk(const rocl_flight *f, const rocl_cap_times *t)
{
    static rocl_site barrier = ROCL_SITE("HSA_BARRIER", "barrier");
    static rocl_site copies[2][2] = {{ROCL_SITE("MEMORY_COPY", "MEMORY_COPY_HOST_TO_HOST"),
                                      ROCL_SITE("MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE")},
                                     {ROCL_SITE("MEMORY_COPY", "MEMORY_COPY_DEVICE_TO_HOST"),
                                      ROCL_SITE("MEMORY_COPY", "MEMORY_COPY_DEVICE_TO_DEVICE")}};
    switch (f->kind) {
    case ROCL_KERNEL:
        rocl_cap_dispatched(
            &(rocl_cap_dispatch){.t = *t,
                                 .agent = f->agent->def,
                                 .queue = f->queue->def,
                                 .stream = f->stream,
                                 .kernel = f->kernel ? f->kernel->def : NULL,
                                 .dispatch_id = f->id,
                                 .workgroup = {f->workgroup[0], f->workgroup[1], f->workgroup[2]},
                                 .grid = {f->grid[0], f->grid[1], f->grid[2]},
                                 .private_segment = f->private_segment,
                                 .group_segment = f->group_segment});
        break;
    case ROCL_BARRIER:
        rocl_cap_waited(&(rocl_cap_barrier){
            .t = *t, .name = &barrier, .agent = f->agent->def, .queue = f->queue->def});
        break;
    case ROCL_COPY:
        rocl_cap_copied(&(rocl_cap_copy){.t = *t,
                                         .name = &copies[f->src->gpu][f->dst->gpu],
                                         .src = f->src->def,
                                         .dst = f->dst->def,
                                         .stream = f->stream,
                                         .size = f->size,
                                         .src_address = f->src_address,
                                         .dst_address = f->dst_address});
        break;
    }
}

/* Whoever sees first that it is done records it and completes the program's own signal, which gets
 * the times of the work and is one less: only then the program may go on. */
static bool land_flight(rocl_flight *f)
{
    int flying = FLYING;
    if (!atomic_compare_exchange_strong(&f->state, &flying, LANDED))
        return false;
    int saved = errno;
    rocl_cap_times t;
    bool in_chunk = atomic_exchange(&f->in_chunk, false);
    if (!find_times(f, &t)) {
        atomic_fetch_add(&without_times, 1);
        rocl_cap_lost(in_chunk);
    } else {
        if (in_chunk)
            record_in_chunk(f, &t);
        if (rocl_rtg.text)
            rocl_hsa_line_done(f, t.start, t.end);
    }
    const amd_signal_t *ours = (const amd_signal_t *)f->signal.handle;
    amd_signal_t *theirs = (amd_signal_t *)f->original.handle;
    if (theirs) {
        if (ours->kind == AMD_SIGNAL_KIND_USER && theirs->kind == AMD_SIGNAL_KIND_USER) {
            theirs->start_ts = ours->start_ts;
            theirs->end_ts = ours->end_ts;
        }
        if (f->kind == ROCL_COPY && f->timed)
            rocl_hsa_keep_copy_times(f);
        rocl_hsa_real.core.hsa_signal_subtract_screlease_fn(f->original, 1);
    }
    if (f->queue)
        rocl_hsa_queue_release(f->queue);
    errno = saved;
    return true;
}

/* Called by a thread of the runtime; false: not again. */
static bool on_done(hsa_signal_value_t value, void *arg)
{
    rocl_flight *f = arg;
    (void)value;
    if (land_flight(f) || atomic_load(&f->state) == REJECTED)
        put_back(f);
    return false;
}

/* It is put back when the runtime has let go of it. */
void rocl_flight_reject(rocl_flight *f)
{
    atomic_store(&f->state, REJECTED);
    rocl_hsa_real.core.hsa_signal_store_relaxed_fn(f->signal, 0);
}

bool rocl_flight_watch(rocl_flight *f)
{
    if (f->queue)
        atomic_fetch_add(&f->queue->users, 1);
    f->id = f->kind == ROCL_COPY ? 0 : atomic_fetch_add(&last_dispatch, 1);
    if (rocl_rtg.host_dispatch && rocl_rtg.text && f->queue)
        rocl_hsa_line_sent(f);
    atomic_store(&f->state, FLYING);
    if (rocl_hsa_real.amd.hsa_amd_signal_async_handler_fn(f->signal, HSA_SIGNAL_CONDITION_LT, 1,
                                                          on_done, f) == HSA_STATUS_SUCCESS)
        return true;
    if (f->queue)
        rocl_hsa_queue_release(f->queue);
    count_unwatched(f->in_chunk);
    put_back(f);
    return false;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool is_done(const rocl_flight *f)
{
    return rocl_hsa_real.core.hsa_signal_load_scacquire_fn(f->signal) < 1;
}

/* How many the thread of the runtime has still to see; work: or the GPU to do. */
static uint32_t count_pending(bool work)
{
    uint32_t count = 0, n = atomic_load(&slab_count) * SLAB;
    for (uint32_t i = 0; i < n; i++) {
        const rocl_flight *f = flight_at(i);
        int state = atomic_load(&f->state);
        count += state == FLYING ? work || is_done(f) : state == LANDED || state == REJECTED;
    }
    return count;
}

static void say_count(uint64_t count, const char *what)
{
    if (count)
        fprintf(stderr, "rocline: %lu dispatches or copies %s\n", (unsigned long)count, what);
}

void rocl_flights_end(bool wait)
{
    uint64_t undone = 0;
    for (int i = 0; i < LAST_WAITS && count_pending(wait); i++)
        usleep(250);
    /* What that thread has not done is done here. */
    uint32_t n = atomic_load(&slab_count) * SLAB;
    for (uint32_t i = 0; i < n; i++) {
        rocl_flight *f = flight_at(i);
        if (atomic_load(&f->state) != FLYING)
            continue;
        if (!is_done(f)) { /* it is counted, and not recorded should it be done yet */
            undone++;
            rocl_cap_lost(atomic_exchange(&f->in_chunk, false));
        } else if (land_flight(f)) {
            atomic_store(&f->state, SWEPT);
        }
    }
    say_count(undone, "were not done at the end");
    say_count(atomic_exchange(&without_times, 0), "had no times");
    say_count(atomic_exchange(&unwatched, 0), "could not be watched: no memory, signal or handler");
    if (wait)
        return;
    /* The runtime goes, and with it the signals; but those that it still looks at. */
    n = atomic_load(&slab_count) * SLAB;
    atomic_store(&free_list, 0);
    for (uint32_t i = 0; i < n; i++) {
        rocl_flight *f = flight_at(i);
        if (f->signal.handle && atomic_load(&f->state) == IDLE)
            rocl_hsa_real.core.hsa_signal_destroy_fn(f->signal);
        f->signal.handle = 0;
        put_back(f);
    }
}
