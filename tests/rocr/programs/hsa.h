/* What the programs that call HSA share. They say what went wrong and exit with 1: a tracer must
 * not change that they exit with 0. */
#ifndef ROCL_TESTS_ROCR_HSA_H
#define ROCL_TESTS_ROCR_HSA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#define MUST(call) must((call) == HSA_STATUS_SUCCESS, #call)

static inline void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

typedef struct world {
    hsa_agent_t cpu, gpu;
    hsa_amd_memory_pool_t pool; /* the last one of the CPU that can be allocated from */
} world;

static inline hsa_status_t meet_agent(hsa_agent_t agent, void *data)
{
    world *w = data;
    hsa_device_type_t type;
    MUST(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    *(type == HSA_DEVICE_TYPE_GPU ? &w->gpu : &w->cpu) = agent;
    return HSA_STATUS_SUCCESS;
}

static inline hsa_status_t meet_pool(hsa_amd_memory_pool_t pool, void *data)
{
    bool allowed = false;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
    if (allowed)
        ((world *)data)->pool = pool;
    return HSA_STATUS_SUCCESS;
}

static inline world begin(void)
{
    world w = {0};
    MUST(hsa_init());
    MUST(hsa_iterate_agents(meet_agent, &w));
    MUST(hsa_amd_agent_iterate_memory_pools(w.cpu, meet_pool, &w));
    return w;
}

static inline hsa_signal_t new_signal(hsa_signal_value_t value)
{
    hsa_signal_t s;
    MUST(hsa_signal_create(value, 0, NULL, &s));
    return s;
}

static inline void wait_for(hsa_signal_t s)
{
    must(hsa_signal_wait_scacquire(s, HSA_SIGNAL_CONDITION_LT, 1, UINT64_C(20000000000),
                                   HSA_WAIT_STATE_BLOCKED) == 0,
         "the signal in time");
}

#endif
