/* Agents, and the clock of the runtime. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/hsa/hsa.h"

enum { AGENTS = 256 };

/* Agents of all times that HSA was begun: the handles of the last ones are found first. They are
 * added in OnLoad only and never freed, so that reading them takes no lock. */
static rocl_hsa_agent *agents[AGENTS];
static uint32_t agent_count;
static _Atomic uint32_t agents_numbered; /* in HCC text */

rocl_chunk_clock rocl_hsa_clock = ROCL_CLOCK_BOOTTIME;
static uint64_t frequency = 1000000000;

uint64_t rocl_hsa_ns(uint64_t time)
{
    if (frequency == 1000000000)
        return time;
    return time / frequency * 1000000000u +
           (uint64_t)((double)(time % frequency) * 1e9 / (double)frequency);
}

/* Times of the runtime are of a clock of the kernel; which one is seen by comparing them. They
 * differ by the time that the machine has slept: when they do not, either is right. */
static void find_clock(void)
{
    uint64_t now = 0;
    struct timespec t;
    rocl_hsa_real.core.hsa_system_get_info_fn(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
    frequency = frequency ? frequency : 1000000000;
    rocl_hsa_real.core.hsa_system_get_info_fn(HSA_SYSTEM_INFO_TIMESTAMP, &now);
    now = rocl_hsa_ns(now);
    uint64_t monotonic = rocl_rtg_now();
    clock_gettime(CLOCK_BOOTTIME, &t);
    uint64_t boottime = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    rocl_hsa_clock = llabs((int64_t)(now - monotonic)) < llabs((int64_t)(now - boottime))
                         ? ROCL_CLOCK_MONOTONIC
                         : ROCL_CLOCK_BOOTTIME;
}

static void get_agent_info(hsa_agent_t agent, uint32_t what, void *value)
{
    rocl_hsa_real.core.hsa_agent_get_info_fn(agent, (hsa_agent_info_t)what, value);
}

/* An agent that was there when HSA was begun before keeps its definition. */
static hsa_status_t add_agent(hsa_agent_t handle, void *data)
{
    uint32_t *by_type = data, node = agent_count;
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    char name[64] = "", product[64] = "", vendor[64] = "", uuid[64] = "", pci[32] = "";
    uint32_t location = 0, domain = 0;
    get_agent_info(handle, HSA_AGENT_INFO_DEVICE, &type);
    bool gpu = type == HSA_DEVICE_TYPE_GPU;
    rocl_hsa_agent *a = rocl_hsa_agent_of(handle);
    if (a && a->gpu == gpu)
        return HSA_STATUS_SUCCESS;
    a = agent_count < AGENTS ? calloc(1, sizeof *a) : NULL;
    if (!a)
        return HSA_STATUS_SUCCESS;
    a->handle = handle;
    a->gpu = gpu;
    if (rocl_rtg.chunks) {
        get_agent_info(handle, HSA_AGENT_INFO_NAME, name);
        get_agent_info(handle, HSA_AGENT_INFO_VENDOR_NAME, vendor);
        get_agent_info(handle, HSA_AMD_AGENT_INFO_PRODUCT_NAME, product);
        get_agent_info(handle, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node);
        if (gpu) {
            get_agent_info(handle, HSA_AMD_AGENT_INFO_UUID, uuid);
            get_agent_info(handle, HSA_AMD_AGENT_INFO_BDFID, &location);
            get_agent_info(handle, HSA_AMD_AGENT_INFO_DOMAIN, &domain);
        }
        if (strlen(uuid) != strlen("GPU-") + 16) /* "GPU-XX" where the driver knows none */
            uuid[0] = '\0';
        if (location)
            snprintf(pci, sizeof pci, "%04x:%02x:%02x.%x", domain & 0xffff, location >> 8 & 0xff,
                     location >> 3 & 31, location & 7);
        a->def = rocl_cap_define_agent(&(rocl_cap_agent){.handle = handle.handle,
                                                         .type = gpu ? 2 : 1,
                                                         .absolute_index = node,
                                                         .logical_index = agent_count,
                                                         .type_index = by_type[gpu]++,
                                                         .name = name,
                                                         .model = product,
                                                         .vendor = vendor,
                                                         .product = product,
                                                         .uuid = uuid,
                                                         .pci = pci});
    }
    agents[agent_count++] = a;
    return HSA_STATUS_SUCCESS;
}

void rocl_hsa_find_agents(void)
{
    uint32_t by_type[2] = {0};
    find_clock();
    rocl_hsa_real.core.hsa_iterate_agents_fn(add_agent, by_type);
}

rocl_hsa_agent *rocl_hsa_agent_of(hsa_agent_t handle)
{
    for (uint32_t i = agent_count; i-- > 0;)
        if (agents[i]->handle.handle == handle.handle)
            return agents[i];
    return NULL;
}

rocl_hsa_agent *rocl_hsa_any_cpu(void)
{
    for (uint32_t i = agent_count; i-- > 0;)
        if (!agents[i]->gpu)
            return agents[i];
    return NULL;
}

/* Numbers in order of first use. */
static uint32_t get_or_assign_number(_Atomic uint32_t *number, _Atomic uint32_t *last)
{
    uint32_t none = 0;
    if (!atomic_load(number))
        atomic_compare_exchange_strong(number, &none, atomic_fetch_add(last, 1) + 1);
    return atomic_load(number) - 1;
}

uint32_t rocl_hsa_agent_number(rocl_hsa_agent *a)
{
    return get_or_assign_number(&a->number, &agents_numbered);
}

uint32_t rocl_hsa_copy_queue(rocl_hsa_agent *a)
{
    return get_or_assign_number(&a->copy_queue, &a->queues);
}
