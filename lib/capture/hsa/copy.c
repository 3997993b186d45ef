/* Asynchronous copies. */
#include "capture/hsa/hsa.h"

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

/* Times are needed whatever the program thinks of its own. */
static hsa_status_t enable_copy_times(bool enable)
{
    (void)enable;
    return rocl_hsa_real.amd.hsa_amd_profiling_async_copy_enable_fn(true);
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
    rocl_hsa_next.amd.hsa_amd_profiling_async_copy_enable_fn = enable_copy_times;
    rocl_hsa_real.amd.hsa_amd_profiling_async_copy_enable_fn(true);
}
