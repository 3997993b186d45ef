/* Asynchronous copies. */
#include <pthread.h>
#include <stdlib.h>

#include "capture/hsa/hsa.h"

/* ---- times that the program asks for --------------------------------------------------------- */

/* The runtime knows times of copies by the signals that it got, which are ours. A signal of the
 * program that is destroyed leaves its entry to the next one at its address. */
typedef struct copy_times {
    uint64_t signal; /* of the program */
    hsa_amd_profiling_async_copy_time_t times;
    struct copy_times *next;
} copy_times;

enum { BUCKETS = 1024 };
static copy_times *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of them */
static _Atomic bool times_wanted;                        /* by the program */

/* Signals are cache lines. The link to it, or to NULL. Locked. */
static copy_times **find_times(uint64_t signal)
{
    copy_times **k = &buckets[(signal >> 6) % BUCKETS];
    while (*k && (*k)->signal != signal)
        k = &(*k)->next;
    return k;
}

void rocl_hsa_keep_copy_times(const rocl_flight *f)
{
    hsa_amd_profiling_async_copy_time_t times;
    if (rocl_hsa_real.amd.hsa_amd_profiling_get_async_copy_time_fn(f->signal, &times) !=
        HSA_STATUS_SUCCESS)
        return;
    pthread_mutex_lock(&lock);
    copy_times **link = find_times(f->original.handle);
    if (!*link && (*link = calloc(1, sizeof **link)))
        (*link)->signal = f->original.handle;
    if (*link)
        (*link)->times = times;
    pthread_mutex_unlock(&lock);
}

static hsa_status_t get_copy_times(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *times)
{
    hsa_status_t status = rocl_hsa_real.amd.hsa_amd_profiling_get_async_copy_time_fn(signal, times);
    if (status == HSA_STATUS_SUCCESS || !times)
        return status;
    pthread_mutex_lock(&lock);
    const copy_times *k = *find_times(signal.handle);
    if (k) {
        *times = k->times;
        status = HSA_STATUS_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* Ours are needed whatever the program thinks of its own. */
static hsa_status_t enable_copy_times(bool enable)
{
    atomic_store(&times_wanted, enable);
    return rocl_hsa_real.amd.hsa_amd_profiling_async_copy_enable_fn(true);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* A copy that the runtime is about to get, with a signal of ours in *done. NULL: it goes untraced,
 * with the program's signal. Without any signal the runtime refuses it. */
static rocl_flight *begin_copy(rocl_hsa_agent *dst_agent, void *dst, rocl_hsa_agent *src_agent,
                               const void *src, uint64_t size, uint32_t n, const hsa_signal_t *deps,
                               hsa_signal_t *done)
{
    rocl_flight *f = done->handle && src_agent && dst_agent ? rocl_flight_new(*done) : NULL;
    if (!f)
        return NULL;
    f->kind = ROCL_COPY;
    f->src = src_agent;
    f->dst = dst_agent;
    /* It is shown with the GPU of the two, the source of two GPUs. */
    f->agent = src_agent->gpu || !dst_agent->gpu ? src_agent : dst_agent;
    f->seq = atomic_fetch_add(&f->agent->copies, 1);
    for (uint32_t i = 0; i < 5; i++)
        f->deps[i] = deps && i < n ? deps[i].handle : 0;
    f->size = size;
    f->src_address = (uint64_t)src;
    f->dst_address = (uint64_t)dst;
    f->timed = atomic_load(&times_wanted);
    hsa_signal_t ours = f->signal;
    if (!rocl_flight_watch(f))
        return NULL;
    *done = ours;
    return f;
}

static hsa_status_t check_accepted(rocl_flight *f, hsa_status_t status)
{
    if (f && status != HSA_STATUS_SUCCESS)
        rocl_flight_reject(f);
    return status;
}

static hsa_status_t copy_linear(void *dst, hsa_agent_t dst_agent, const void *src,
                                hsa_agent_t src_agent, size_t size, uint32_t n,
                                const hsa_signal_t *deps, hsa_signal_t done)
{
    rocl_flight *f = begin_copy(rocl_hsa_agent_of(dst_agent), dst, rocl_hsa_agent_of(src_agent),
                                src, size, n, deps, &done);
    return check_accepted(f, rocl_hsa_real.amd.hsa_amd_memory_async_copy_fn(
                                 dst, dst_agent, src, src_agent, size, n, deps, done));
}

#ifdef ROCL_HSA_HAVE_hsa_amd_memory_async_copy_on_engine
static hsa_status_t copy_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
                                   hsa_agent_t src_agent, size_t size, uint32_t n,
                                   const hsa_signal_t *deps, hsa_signal_t done,
                                   hsa_amd_sdma_engine_id_t engine, bool force)
{
    rocl_flight *f = begin_copy(rocl_hsa_agent_of(dst_agent), dst, rocl_hsa_agent_of(src_agent),
                                src, size, n, deps, &done);
    return check_accepted(f,
                          rocl_hsa_real.amd.hsa_amd_memory_async_copy_on_engine_fn(
                              dst, dst_agent, src, src_agent, size, n, deps, done, engine, force));
}
#endif

/* One of the two is a CPU, and which one it is does not matter. */
static hsa_status_t copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
                              const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
                              const hsa_dim3_t *range, hsa_agent_t agent,
                              hsa_amd_copy_direction_t direction, uint32_t n,
                              const hsa_signal_t *deps, hsa_signal_t done)
{
    bool from = direction == hsaDeviceToHost || direction == hsaDeviceToDevice;
    bool to = direction == hsaHostToDevice || direction == hsaDeviceToDevice;
    rocl_hsa_agent *gpu = rocl_hsa_agent_of(agent), *cpu = rocl_hsa_any_cpu();
    uint64_t size = (uint64_t)range->x * range->y * range->z;
    rocl_flight *f =
        begin_copy(to ? gpu : cpu, dst->base, from ? gpu : cpu, src->base, size, n, deps, &done);
    return check_accepted(
        f, rocl_hsa_real.amd.hsa_amd_memory_async_copy_rect_fn(
               dst, dst_offset, src, src_offset, range, agent, direction, n, deps, done));
}

void rocl_hsa_intercept_copies(void)
{
    if (!ROCL_HSA_HAS(amd, hsa_amd_memory_async_copy) ||
        !ROCL_HSA_HAS(amd, hsa_amd_signal_async_handler) ||
        !ROCL_HSA_HAS(amd, hsa_amd_profiling_async_copy_enable) ||
        !ROCL_HSA_HAS(amd, hsa_amd_profiling_get_async_copy_time))
        return;
    rocl_hsa_next.amd.hsa_amd_memory_async_copy_fn = copy_linear;
    if (ROCL_HSA_HAS(amd, hsa_amd_memory_async_copy_rect))
        rocl_hsa_next.amd.hsa_amd_memory_async_copy_rect_fn = copy_rect;
#ifdef ROCL_HSA_HAVE_hsa_amd_memory_async_copy_on_engine
    if (ROCL_HSA_HAS(amd, hsa_amd_memory_async_copy_on_engine))
        rocl_hsa_next.amd.hsa_amd_memory_async_copy_on_engine_fn = copy_on_engine;
#endif
    rocl_hsa_next.amd.hsa_amd_profiling_get_async_copy_time_fn = get_copy_times;
    rocl_hsa_next.amd.hsa_amd_profiling_async_copy_enable_fn = enable_copy_times;
    atomic_store(&times_wanted, false);
    rocl_hsa_real.amd.hsa_amd_profiling_async_copy_enable_fn(true);
}
