/* Asynchronous copies. */
#include "capture/hsa/hsa.h"

/* The agent that a copy is shown with: the GPU of the two, the source of two GPUs. */
static rocl_hsa_agent *doer(rocl_hsa_agent *src, rocl_hsa_agent *dst)
{
    return src->gpu || !dst->gpu ? src : dst;
}

/* NULL: it goes untraced, with the program's signal. Without any signal the runtime refuses it. */
static rocl_flight *take(rocl_hsa_agent *dst, rocl_hsa_agent *src, hsa_signal_t done, uint32_t n,
                         const hsa_signal_t *deps)
{
    rocl_flight *f = done.handle && src && dst ? rocl_flight_new(done) : NULL;
    if (!f)
        return NULL;
    f->kind = ROCL_COPY;
    f->src = src;
    f->dst = dst;
    f->agent = doer(src, dst);
    f->seq = atomic_fetch_add(&f->agent->copies, 1);
    for (uint32_t i = 0; i < 5; i++)
        f->deps[i] = deps && i < n ? deps[i].handle : 0;
    return f;
}

/* The copy itself, as far as it is known before; NULL as above. */
static rocl_flight *fill(rocl_flight *f, uint64_t size, const void *src, void *dst)
{
    if (!f)
        return NULL;
    f->size = size;
    f->src_address = (uint64_t)src;
    f->dst_address = (uint64_t)dst;
    return rocl_flight_watch(f) ? f : NULL;
}

static hsa_signal_t signal_of(const rocl_flight *f, hsa_signal_t otherwise)
{
    return f ? f->signal : otherwise;
}

static hsa_status_t sent(rocl_flight *f, hsa_status_t status)
{
    if (f && status != HSA_STATUS_SUCCESS)
        rocl_flight_reject(f);
    return status;
}

static rocl_flight *take_linear(void *dst, hsa_agent_t dst_agent, const void *src,
                                hsa_agent_t src_agent, size_t size, uint32_t n,
                                const hsa_signal_t *deps, hsa_signal_t done)
{
    rocl_hsa_agent *d = rocl_hsa_agent_of(dst_agent), *s = rocl_hsa_agent_of(src_agent);
    return fill(take(d, s, done, n, deps), size, src, dst);
}

static hsa_status_t copy(void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent,
                         size_t size, uint32_t n, const hsa_signal_t *deps, hsa_signal_t done)
{
    rocl_flight *f = take_linear(dst, dst_agent, src, src_agent, size, n, deps, done);
    return sent(f, rocl_hsa_real.amd.hsa_amd_memory_async_copy_fn(
                       dst, dst_agent, src, src_agent, size, n, deps, signal_of(f, done)));
}

#ifdef ROCL_HSA_HAVE_hsa_amd_memory_async_copy_on_engine
static hsa_status_t copy_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
                                   hsa_agent_t src_agent, size_t size, uint32_t n,
                                   const hsa_signal_t *deps, hsa_signal_t done,
                                   hsa_amd_sdma_engine_id_t engine, bool force)
{
    rocl_flight *f = take_linear(dst, dst_agent, src, src_agent, size, n, deps, done);
    return sent(
        f, rocl_hsa_real.amd.hsa_amd_memory_async_copy_on_engine_fn(
               dst, dst_agent, src, src_agent, size, n, deps, signal_of(f, done), engine, force));
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
        fill(take(to ? gpu : cpu, from ? gpu : cpu, done, n, deps), size, src->base, dst->base);
    return sent(f, rocl_hsa_real.amd.hsa_amd_memory_async_copy_rect_fn(
                       dst, dst_offset, src, src_offset, range, agent, direction, n, deps,
                       signal_of(f, done)));
}

/* Times are needed whatever the program thinks of its own. */
static hsa_status_t enable_times(bool enable)
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
    rocl_hsa_next.amd.hsa_amd_memory_async_copy_fn = copy;
    if (ROCL_HSA_HAS(amd, hsa_amd_memory_async_copy_rect))
        rocl_hsa_next.amd.hsa_amd_memory_async_copy_rect_fn = copy_rect;
#ifdef ROCL_HSA_HAVE_hsa_amd_memory_async_copy_on_engine
    if (ROCL_HSA_HAS(amd, hsa_amd_memory_async_copy_on_engine))
        rocl_hsa_next.amd.hsa_amd_memory_async_copy_on_engine_fn = copy_on_engine;
#endif
    rocl_hsa_next.amd.hsa_amd_profiling_async_copy_enable_fn = enable_times;
    rocl_hsa_real.amd.hsa_amd_profiling_async_copy_enable_fn(true);
}
