/* Memory that is allocated and freed. */
#include <stdlib.h>

#include "capture/hsa/hsa.h"

/* Which agent the memory of a pool is of. A pool and its region have one handle. Those of all times
 * that HSA was begun: the last ones are found first. */
typedef struct place {
    uint64_t handle;
    rocl_hsa_agent *agent;
} place;

static place *places;
static uint32_t count, cap;

static void add_place(uint64_t handle, rocl_hsa_agent *agent)
{
    if (count == cap) {
        place *more = realloc(places, (cap ? 2 * cap : 64) * sizeof *more);
        if (!more)
            return;
        places = more;
        cap = cap ? 2 * cap : 64;
    }
    places[count++] = (place){handle, agent};
}

static const place *find(uint64_t handle)
{
    for (uint32_t i = count; i-- > 0;)
        if (places[i].handle == handle)
            return &places[i];
    return NULL;
}

static rocl_def *agent_of(uint64_t handle)
{
    const place *p = find(handle);
    return p ? p->agent->def : NULL;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *agent)
{
    add_place(pool.handle, agent);
    return HSA_STATUS_SUCCESS;
}

/* Regions of a GPU are also those of others that it can reach. */
static hsa_status_t take_region(hsa_region_t region, void *agent)
{
    if (!find(region.handle))
        add_place(region.handle, agent);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_pools(hsa_agent_t handle, void *data)
{
    rocl_hsa_agent *a = rocl_hsa_agent_of(handle);
    (void)data;
    if (a)
        rocl_hsa_real.amd.hsa_amd_agent_iterate_memory_pools_fn(handle, take_pool, a);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_regions(hsa_agent_t handle, void *data)
{
    rocl_hsa_agent *a = rocl_hsa_agent_of(handle);
    (void)data;
    if (a)
        rocl_hsa_real.core.hsa_agent_iterate_regions_fn(handle, take_region, a);
    return HSA_STATUS_SUCCESS;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void record(rocl_cap_alloc *a, uint64_t began, const void *address)
{
    a->t = (rocl_cap_times){.start = began,
                            .end = rocl_cap_now(),
                            .clock = ROCL_CLOCK_TICKS,
                            .correlation = rocl_cap_correlate(),
                            .tid = rocl_hsa_tid()};
    a->level = 1;
    a->address = (uint64_t)address;
    rocl_cap_allocated(a);
}

static void allocated(uint64_t began, uint64_t place_handle, size_t size, const void *address,
                      uint32_t flags)
{
    static rocl_site site = ROCL_SITE("MEMORY_ALLOCATION", "MEMORY_ALLOCATION_ALLOCATE");
    record(
        &(rocl_cap_alloc){
            .name = &site, .agent = agent_of(place_handle), .op = 1, .size = size, .flags = flags},
        began, address);
}

static void freed(uint64_t began, const void *address)
{
    static rocl_site site = ROCL_SITE("MEMORY_ALLOCATION", "MEMORY_ALLOCATION_FREE");
    record(&(rocl_cap_alloc){.name = &site, .op = 2}, began, address);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
                                  void **address)
{
    uint64_t began = rocl_cap_now();
    hsa_status_t status =
        rocl_hsa_real.amd.hsa_amd_memory_pool_allocate_fn(pool, size, flags, address);
    if (status == HSA_STATUS_SUCCESS)
        allocated(began, pool.handle, size, *address, flags);
    return status;
}

static hsa_status_t pool_free(void *address)
{
    uint64_t began = rocl_cap_now();
    hsa_status_t status = rocl_hsa_real.amd.hsa_amd_memory_pool_free_fn(address);
    if (status == HSA_STATUS_SUCCESS && address)
        freed(began, address);
    return status;
}

static hsa_status_t allocate(hsa_region_t region, size_t size, void **address)
{
    uint64_t began = rocl_cap_now();
    hsa_status_t status = rocl_hsa_real.core.hsa_memory_allocate_fn(region, size, address);
    if (status == HSA_STATUS_SUCCESS)
        allocated(began, region.handle, size, *address, 0);
    return status;
}

static hsa_status_t free_memory(void *address)
{
    uint64_t began = rocl_cap_now();
    hsa_status_t status = rocl_hsa_real.core.hsa_memory_free_fn(address);
    if (status == HSA_STATUS_SUCCESS && address)
        freed(began, address);
    return status;
}

/* Each with its counterpart, or there would be memory that is never freed. */
void rocl_hsa_intercept_memory(void)
{
    if (ROCL_HSA_HAS(amd, hsa_amd_agent_iterate_memory_pools))
        rocl_hsa_real.core.hsa_iterate_agents_fn(take_pools, NULL);
    if (ROCL_HSA_HAS(core, hsa_agent_iterate_regions))
        rocl_hsa_real.core.hsa_iterate_agents_fn(take_regions, NULL);
    if (ROCL_HSA_HAS(amd, hsa_amd_memory_pool_allocate) &&
        ROCL_HSA_HAS(amd, hsa_amd_memory_pool_free)) {
        rocl_hsa_next.amd.hsa_amd_memory_pool_allocate_fn = pool_allocate;
        rocl_hsa_next.amd.hsa_amd_memory_pool_free_fn = pool_free;
    }
    if (ROCL_HSA_HAS(core, hsa_memory_allocate) && ROCL_HSA_HAS(core, hsa_memory_free)) {
        rocl_hsa_next.core.hsa_memory_allocate_fn = allocate;
        rocl_hsa_next.core.hsa_memory_free_fn = free_memory;
    }
}
