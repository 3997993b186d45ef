/* Agents, and the clock of the runtime. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/hsa/hsa.h"

enum { AGENTS = 256 };

/* Those of all times that HSA was begun: the handles of the last ones are found first. */
static rocl_hsa_agent *agents[AGENTS];
static uint32_t count;
static _Atomic uint32_t shown;

rocl_chunk_clock rocl_hsa_clock = ROCL_CLOCK_BOOTTIME;
static uint64_t frequency = 1000000000;

static void get(hsa_agent_t agent, uint32_t what, void *value)
{
    rocl_hsa_real.core.hsa_agent_get_info_fn(agent, (hsa_agent_info_t)what, value);
}

static rocl_def *define(hsa_agent_t handle, bool gpu, uint32_t type_index)
{
    char name[64] = "", product[64] = "", vendor[64] = "";
    uint32_t node = count;
    get(handle, HSA_AGENT_INFO_NAME, name);
    get(handle, HSA_AGENT_INFO_VENDOR_NAME, vendor);
    get(handle, HSA_AMD_AGENT_INFO_PRODUCT_NAME, product);
    get(handle, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node);
    return rocl_cap_define_agent(&(rocl_cap_agent){.handle = handle.handle,
                                                   .type = gpu ? 2 : 1,
                                                   .absolute_index = node,
                                                   .logical_index = count,
                                                   .type_index = type_index,
                                                   .name = name,
                                                   .model = product,
                                                   .vendor = vendor,
                                                   .product = product});
}

static hsa_status_t add(hsa_agent_t handle, void *data)
{
    uint32_t *by_type = data;
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    get(handle, HSA_AGENT_INFO_DEVICE, &type);
    rocl_hsa_agent *a = rocl_hsa_agent_of(handle);
    if (a && a->gpu == (type == HSA_DEVICE_TYPE_GPU))
        return HSA_STATUS_SUCCESS;
    a = count < AGENTS ? calloc(1, sizeof *a) : NULL;
    if (!a)
        return HSA_STATUS_SUCCESS;
    a->handle = handle;
    a->gpu = type == HSA_DEVICE_TYPE_GPU;
    if (rocl_rtg.chunks)
        a->def = define(handle, a->gpu, by_type[a->gpu]++);
    agents[count++] = a;
    return HSA_STATUS_SUCCESS;
}

static uint64_t ns_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Times of the runtime are of a clock of the kernel; which one is seen by comparing them. They
 * differ by the time that the machine has slept: when they do not, either is right. */
static void find_clock(void)
{
    uint64_t now = 0;
    rocl_hsa_real.core.hsa_system_get_info_fn(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
    frequency = frequency ? frequency : 1000000000;
    rocl_hsa_real.core.hsa_system_get_info_fn(HSA_SYSTEM_INFO_TIMESTAMP, &now);
    now = rocl_hsa_ns(now);
    bool monotonic = distance(now, ns_of(CLOCK_MONOTONIC)) < distance(now, ns_of(CLOCK_BOOTTIME));
    rocl_hsa_clock = monotonic ? ROCL_CLOCK_MONOTONIC : ROCL_CLOCK_BOOTTIME;
}

uint64_t rocl_hsa_ns(uint64_t time)
{
    if (frequency == 1000000000)
        return time;
    return time / frequency * 1000000000u +
           (uint64_t)((double)(time % frequency) * 1e9 / (double)frequency);
}

void rocl_hsa_find_agents(void)
{
    uint32_t by_type[2] = {0};
    find_clock();
    rocl_hsa_real.core.hsa_iterate_agents_fn(add, by_type);
}

rocl_hsa_agent *rocl_hsa_agent_of(hsa_agent_t handle)
{
    for (uint32_t i = count; i-- > 0;)
        if (agents[i]->handle.handle == handle.handle)
            return agents[i];
    return NULL;
}

rocl_hsa_agent *rocl_hsa_any_cpu(void)
{
    for (uint32_t i = count; i-- > 0;)
        if (!agents[i]->gpu)
            return agents[i];
    return NULL;
}

/* Numbers in order of first use. */
static uint32_t numbered(_Atomic uint32_t *number, _Atomic uint32_t *last)
{
    uint32_t none = 0;
    if (!atomic_load(number))
        atomic_compare_exchange_strong(number, &none, atomic_fetch_add(last, 1) + 1);
    return atomic_load(number) - 1;
}

uint32_t rocl_hsa_agent_shown(rocl_hsa_agent *a)
{
    return numbered(&a->shown, &shown);
}

uint32_t rocl_hsa_copy_queue(rocl_hsa_agent *a)
{
    return numbered(&a->copy_queue, &a->queues);
}
