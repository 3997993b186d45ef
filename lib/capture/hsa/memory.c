/* Memory that is allocated and freed. */
#include <stdlib.h>

#include "capture/hsa/hsa.h"

/* Which agent the memory of a pool is of. A pool and its region have one handle. Those of all times
 * that HSA was begun: the last ones are found first. */
typedef struct pool_agent {
    uint64_t handle;
    rocl_hsa_agent *agent;
} pool_agent;

static pool_agent *pools; /* made in OnLoad, only read by calls */
static uint32_t count, capacity;

static const rocl_hsa_agent *find_pool_agent(uint64_t handle)
{
    for (uint32_t i = count; i-- > 0;)
        if (pools[i].handle == handle)
            return pools[i].agent;
    return NULL;
}

static hsa_status_t add_pool(hsa_amd_memory_pool_t pool, void *agent)
{
    if (count == capacity) {
        uint32_t larger = capacity ? 2 * capacity : 64;
        pool_agent *more = realloc(pools, larger * sizeof *more);
        if (!more)
            return HSA_STATUS_SUCCESS;
        pools = more;
        capacity = larger;
    }
    pools[count++] = (pool_agent){pool.handle, agent};
    return HSA_STATUS_SUCCESS;
}

/* Regions of a GPU are also those of others that it can reach. */
static hsa_status_t add_region(hsa_region_t region, void *agent)
{
    return find_pool_agent(region.handle) ? HSA_STATUS_SUCCESS
                                          : add_pool((hsa_amd_memory_pool_t){region.handle}, agent);
}

static hsa_status_t add_pools_of_agent(hsa_agent_t handle, void *data)
{
    rocl_hsa_agent *a = rocl_hsa_agent_of(handle);
    (void)data;
    if (a)
        rocl_hsa_real.amd.hsa_amd_agent_iterate_memory_pools_fn(handle, add_pool, a);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_regions_of_agent(hsa_agent_t handle, void *data)
{
    rocl_hsa_agent *a = rocl_hsa_agent_of(handle);
    (void)data;
    if (a)
        rocl_hsa_real.core.hsa_agent_iterate_regions_fn(handle, add_region, a);
    return HSA_STATUS_SUCCESS;
}

/* ---- calls ----------------------------------------------------------------------------------- */

enum { ALLOCATE = 1, FREE = 2 }; /* rocl_alloc_op */

static void record_memory(uint32_t op, uint64_t began, const rocl_hsa_agent *agent, size_t size,
                          const void *address, uint32_t flags)
{
    static rocl_site sites[] = {ROCL_SITE("MEMORY_ALLOCATION", "MEMORY_ALLOCATION_ALLOCATE"),
                                ROCL_SITE("MEMORY_ALLOCATION", "MEMORY_ALLOCATION_FREE")};
    if (rocl_cap_is_paused())
        return;
    rocl_cap_allocated(&(rocl_cap_alloc){.t = {.start = began,
                                               .end = rocl_cap_now(),
                                               .clock = ROCL_CLOCK_TICKS,
                                               .correlation = rocl_cap_correlate(),
                                               .tid = rocl_hsa_tid()},
                                         .name = &sites[op == FREE],
                                         .agent = agent ? agent->def : NULL,
                                         .op = op,
                                         .level = 1,
                                         .size = size,
                                         .address = (uint64_t)address,
                                         .flags = flags});
}

static hsa_status_t allocate_in_pool(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
                                     void **address)
{
    uint64_t began = rocl_cap_now();
    hsa_status_t status =
        rocl_hsa_real.amd.hsa_amd_memory_pool_allocate_fn(pool, size, flags, address);
    if (status == HSA_STATUS_SUCCESS)
        record_memory(ALLOCATE, began, find_pool_agent(pool.handle), size, *address, flags);
    return status;
}

static hsa_status_t free_in_pool(void *address)
{
    uint64_t began = rocl_cap_now();
    hsa_status_t status = rocl_hsa_real.amd.hsa_amd_memory_pool_free_fn(address);
    if (status == HSA_STATUS_SUCCESS && address)
        record_memory(FREE, began, NULL, 0, address, 0);
    return status;
}

static hsa_status_t allocate_in_region(hsa_region_t region, size_t size, void **address)
{
    uint64_t began = rocl_cap_now();
    hsa_status_t status = rocl_hsa_real.core.hsa_memory_allocate_fn(region, size, address);
    if (status == HSA_STATUS_SUCCESS)
        record_memory(ALLOCATE, began, find_pool_agent(region.handle), size, *address, 0);
    return status;
}

static hsa_status_t free_in_region(void *address)
{
    uint64_t began = rocl_cap_now();
    hsa_status_t status = rocl_hsa_real.core.hsa_memory_free_fn(address);
    if (status == HSA_STATUS_SUCCESS && address)
        record_memory(FREE, began, NULL, 0, address, 0);
    return status;
}

/* Each with its counterpart, or there would be memory that is never freed. */
void rocl_hsa_intercept_memory(void)
{
    if (ROCL_HSA_HAS(amd, hsa_amd_agent_iterate_memory_pools))
        rocl_hsa_real.core.hsa_iterate_agents_fn(add_pools_of_agent, NULL);
    if (ROCL_HSA_HAS(core, hsa_agent_iterate_regions))
        rocl_hsa_real.core.hsa_iterate_agents_fn(add_regions_of_agent, NULL);
    if (ROCL_HSA_HAS(amd, hsa_amd_memory_pool_allocate) &&
        ROCL_HSA_HAS(amd, hsa_amd_memory_pool_free)) {
        rocl_hsa_next.amd.hsa_amd_memory_pool_allocate_fn = allocate_in_pool;
        rocl_hsa_next.amd.hsa_amd_memory_pool_free_fn = free_in_pool;
    }
    if (ROCL_HSA_HAS(core, hsa_memory_allocate) && ROCL_HSA_HAS(core, hsa_memory_free)) {
        rocl_hsa_next.core.hsa_memory_allocate_fn = allocate_in_region;
        rocl_hsa_next.core.hsa_memory_free_fn = free_in_region;
    }
}
