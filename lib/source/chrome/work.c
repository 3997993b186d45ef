/* GPU work and memory: see work.h. */
#include "source/chrome/work.h"

#include "base/order.h"
#include "source/copies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A sampled counter; the number of the device follows. */
#define RESERVED_MEMORY "Total Reserved of GPU "

/* PyTorch's types of devices with memory. Elsewhere its builds for ROCm use the names of CUDA. */
enum { DEVICE_CUDA = 1, DEVICE_HIP = 6 };

void chrome_work_open(chrome_work *k)
{
    pthread_mutex_init(&k->lock, NULL);
}

void chrome_work_close(chrome_work *k)
{
    pthread_mutex_destroy(&k->lock);
    rocl_idset_free(&k->work_items);
}

void chrome_place_work(rocl_source_record *r, const chrome_event *e, const chrome_args *a)
{
    uint64_t pid, tid;
    r->agent = a->device;
    r->stream = a->stream;
    if (r->agent == ROCL_NO_KEY && rocl_json_uint(e->pid.text, &pid))
        r->agent = pid;
    if (r->stream == ROCL_NO_KEY && rocl_json_uint(e->tid.text, &tid))
        r->stream = tid;
    r->queue = r->stream;
    r->process = a->pid < ROCL_KEY_OF_TEXT ? a->pid : ROCL_NO_KEY;
    r->thread = ROCL_NO_KEY;
}

void chrome_make_dispatch(rocl_source_record *r, const chrome_work *k, const chrome_event *e,
                          const chrome_args *a)
{
    rocl_dispatch *d = &r->as.dispatch;
    r->kind = ROCL_DISPATCH;
    d->e.category = k->kernel;
    d->group_segment = a->shared;
    memcpy(d->workgroup, a->block, sizeof d->workgroup);
    memcpy(d->grid, a->grid, sizeof d->grid); /* see chrome_complete_work() */
    chrome_place_work(r, e, a);
}

void chrome_make_copy(rocl_source_record *r, const chrome_work *k, const chrome_event *e,
                      const chrome_args *a)
{
    bool src, dst;
    r->kind = ROCL_COPY;
    r->as.e.category = k->copy;
    r->as.copy.size = a->bytes == ROCL_NO_KEY ? 0 : a->bytes;
    chrome_place_work(r, e, a);
    r->dst = r->agent;
    if (rocl_copy_ends(e->name, &src, &dst)) {
        r->src = src ? r->agent : ROCL_NO_KEY;
        r->dst = dst ? r->agent : ROCL_NO_KEY;
    }
}

void chrome_make_allocation(rocl_source_record *r, chrome_work *k, const chrome_args *a)
{
    rocl_alloc *m = &r->as.alloc;
    r->kind = ROCL_ALLOC;
    r->name = a->memory < 0 ? (rocl_view){"MEMORY_ALLOCATION_FREE", 22}
                            : (rocl_view){"MEMORY_ALLOCATION_ALLOCATE", 26};
    m->e.category = k->allocation;
    m->op = a->memory < 0 ? ROCL_OP_FREE : ROCL_OP_ALLOC;
    m->level = ROCL_LEVEL_REAL;
    m->size = a->memory < 0 ? 0 - (uint64_t)a->memory : (uint64_t)a->memory;
    m->address = a->address == ROCL_NO_KEY ? 0 : a->address;
    if ((a->device_type != DEVICE_CUDA && a->device_type != DEVICE_HIP) || r->half != ROCL_WHOLE ||
        a->device_id >= CHROME_GPUS_MAX)
        return;
    r->id = a->device_id + 1; /* see chrome_complete_work() */
    atomic_fetch_or_explicit(&k->allocating, (uint64_t)1 << a->device_id, memory_order_relaxed);
    if (a->device_type == DEVICE_HIP)
        atomic_store_explicit(&k->hip_memory, true, memory_order_relaxed);
}

rocl_status chrome_put_reserved(rocl_records *to, const rocl_source_record *allocation,
                                const chrome_args *a, rocl_error *err)
{
    rocl_source_record r;
    char name[64];
    if (a->reserved == ROCL_NO_KEY ||
        (a->device_type != DEVICE_CUDA && a->device_type != DEVICE_HIP) ||
        a->device_id >= CHROME_GPUS_MAX || allocation->half != ROCL_WHOLE)
        return ROCL_OK;
    rocl_record_begin(&r, ROCL_SAMPLE, allocation->where);
    const int n = snprintf(name, sizeof name, RESERVED_MEMORY "%" PRIu64, a->device_id);
    r.counter = (rocl_view){name, (size_t)n};
    r.process = allocation->process;
    r.as.e.start = r.as.e.end = allocation->as.e.start;
    r.as.sample.xcc = r.as.sample.shader_engine = r.as.sample.instance = -1;
    r.as.sample.shader_array = r.as.sample.wgp = -1;
    r.as.sample.value = (double)a->reserved;
    return rocl_record_put(to, &r, err);
}

/* Launches whose grid counts work-items; that of others counts groups. */
bool chrome_note_work_items(chrome_work *k, rocl_view call, uint64_t correlation)
{
    if (correlation == ROCL_NO_KEY || !rocl_view_is(call, "hipExtModuleLaunchKernel"))
        return true;
    pthread_mutex_lock(&k->lock);
    const bool ok = rocl_idset_add(&k->work_items, correlation);
    pthread_mutex_unlock(&k->lock);
    return ok;
}

void chrome_complete_work(const chrome_work *k, rocl_plain_record *r)
{
    if (r->kind == ROCL_DISPATCH && !k->in_work_items &&
        (r->link == ROCL_NO_KEY || !rocl_idset_has(&k->work_items, r->link)))
        for (int i = 0; i < 3; i++)
            r->as.dispatch.grid[i] *= r->as.dispatch.workgroup[i];
    if (r->kind == ROCL_ALLOC && r->half == ROCL_WHOLE && r->id)
        r->agent = k->gpu_of_device[r->id - 1];
}

/* GPUs are ordered by their numbers, which are those of the driver with roctracer; deviceProperties
 * counts from 0. */
/* Maps devices with memory to GPUs. CUDA has one number for both. HIP counts from 0, while work has
 * numbers of the driver in the same order: either the devices with memory are those with work, or
 * all have work. */
static void map_devices(chrome_work *k)
{
    const uint64_t allocating = atomic_load(&k->allocating);
    const bool all = (size_t)__builtin_popcountll(allocating) == k->gpu_count;
    size_t nth = 0; /* of the devices with memory */
    for (uint64_t device = 0; device < CHROME_GPUS_MAX; device++) {
        bool same = false;
        for (size_t n = 0; n < k->gpu_count && !atomic_load(&k->hip_memory); n++)
            same |= k->gpus[n] == device;
        const size_t i = all ? nth : (size_t)device;
        k->gpu_of_device[device] = same ? device : i < k->gpu_count ? k->gpus[i] : ROCL_NO_KEY;
        nth += allocating >> device & 1;
    }
}

rocl_status chrome_name_gpus(chrome_work *k, rocl_trace *t, rocl_capture *c, rocl_error *err)
{
    for (uint32_t i = 0; i < c->agent_count && k->gpu_count < CHROME_GPUS_MAX; i++) {
        bool known = false; /* noted for another process */
        for (size_t n = 0; n < k->gpu_count; n++)
            known |= k->gpus[n] == (uint64_t)c->agents[i].id;
        if (!known)
            k->gpus[k->gpu_count++] = (uint64_t)c->agents[i].id;
    }
    qsort(k->gpus, k->gpu_count, sizeof *k->gpus, rocl_compare_u64);
    map_devices(k);
    for (uint32_t i = 0; i < c->counter_count; i++) {
        rocl_counter *counter = rocl_definition_at(c, ROCL_DEFINE_COUNTER, i);
        const char *name = rocl_str(t, counter->name);
        if (!strncmp(name, RESERVED_MEMORY, strlen(RESERVED_MEMORY)) &&
            (counter->units = rocl_strings_put(t->strings, "bytes", 5)) == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    for (uint32_t i = 0; i < c->agent_count; i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        for (size_t n = 0; n < k->gpu_count; n++)
            if (k->gpus[n] == (uint64_t)a->id && n < k->devices)
                a->product = k->device_names[n];
    }
    return ROCL_OK;
}
