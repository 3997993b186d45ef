/* GPU work and memory: see work.h. */
#include "source/chrome/work.h"

#include "base/order.h"
#include "model/copies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A sampled counter; the number of the device follows until its GPU is known. */
#define RESERVED        "Total Reserved"
#define RESERVED_OF_GPU RESERVED " of GPU "

/* PyTorch's types of devices with memory. Elsewhere its builds for ROCm use the names of CUDA. */
enum { DEVICE_CPU = 0, DEVICE_CUDA = 1, DEVICE_HIP = 6 };

/* The number of the agent that memory of the host is of: no number of a GPU. */
#define HOST_AGENT ((uint64_t)ROCL_AGENT_CPU << 32)

void chrome_work_close(chrome_work *k)
{
    pthread_mutex_destroy(&k->lock);
    rocl_idset_free(&k->work_items);
    rocl_map_free(&k->memory_index);
    free(k->memory);
    free(k->properties);
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
    r->pid = 0;
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

static chrome_device *find_device(const chrome_work *k, uint64_t process, uint64_t device)
{
    const uint32_t i = rocl_map_get(&k->memory_index, rocl_mix_pair(process, device), ROCL_NONE);
    return i == ROCL_NONE ? NULL : &k->memory[i];
}

/* In the first pass: its device, and what was in use of that before its first event. False: memory
 * is out. */
static bool note_device(chrome_work *k, const rocl_source_record *r, const chrome_args *a)
{
    bool ok = true;
    const uint64_t used = a->allocated == ROCL_NO_KEY ? 0 : a->allocated - (uint64_t)a->memory;
    chrome_device one = {.process = r->process,
                         .number = (uint32_t)a->device_id,
                         .since = r->as.e.start,
                         .where = r->where,
                         .before = used > INT64_MAX ? 0 : used};
    pthread_mutex_lock(&k->lock);
    chrome_device *d = find_device(k, one.process, one.number);
    if (d && (one.since < d->since || (one.since == d->since && one.where < d->where))) {
        *d = one;
    } else if (!d) {
        ok = ROCL_GROW(k->memory, k->memory_cap, k->memory_count + 1) &&
             rocl_map_put(&k->memory_index, rocl_mix_pair(one.process, one.number),
                          (uint32_t)k->memory_count);
        if (ok)
            k->memory[k->memory_count++] = one;
    }
    pthread_mutex_unlock(&k->lock);
    return ok;
}

static bool is_on_gpu(const rocl_source_record *allocation, const chrome_args *a)
{
    return (a->device_type == DEVICE_CUDA || a->device_type == DEVICE_HIP) &&
           allocation->half == ROCL_WHOLE && a->device_id < CHROME_GPUS_MAX;
}

bool chrome_make_allocation(rocl_records *to, rocl_source_record *r, chrome_work *k,
                            const chrome_args *a)
{
    const bool frees = a->memory < 0;
    rocl_alloc *m = &r->as.alloc;
    r->kind = ROCL_ALLOC;
    r->name = frees ? (rocl_view){"MEMORY_ALLOCATION_FREE", 22}
                    : (rocl_view){"MEMORY_ALLOCATION_ALLOCATE", 26};
    m->e.category = k->allocation;
    m->op = frees ? ROCL_OP_FREE : ROCL_OP_ALLOC;
    m->level = ROCL_LEVEL_REAL;
    m->size = frees ? 0 - (uint64_t)a->memory : (uint64_t)a->memory;
    m->address = a->address == ROCL_NO_KEY ? 0 : a->address;
    if (a->device_type == DEVICE_CPU) {
        r->agent = HOST_AGENT;
        r->agent_type = ROCL_AGENT_CPU;
    }
    if (!is_on_gpu(r, a))
        return true;
    r->id = a->device_id + 1; /* see chrome_complete_work() */
    if (a->device_type == DEVICE_HIP)
        atomic_store_explicit(&k->hip_memory, true, memory_order_relaxed);
    return !rocl_records_first_pass(to) || note_device(k, r, a);
}

rocl_status chrome_put_reserved(rocl_records *to, const rocl_source_record *allocation,
                                const chrome_args *a, rocl_error *err)
{
    rocl_source_record r;
    char name[64];
    if (a->reserved == ROCL_NO_KEY || !is_on_gpu(allocation, a))
        return ROCL_OK;
    rocl_record_begin(&r, ROCL_SAMPLE, allocation->where);
    const int n = snprintf(name, sizeof name, RESERVED_OF_GPU "%" PRIu64, a->device_id);
    r.counter = (rocl_view){name, (size_t)n};
    r.process = allocation->process;
    r.pid = allocation->pid;
    r.as.e.start = r.as.e.end = allocation->as.e.start;
    r.as.sample.xcc = r.as.sample.shader_engine = r.as.sample.instance = -1;
    r.as.sample.shader_array = r.as.sample.wgp = -1;
    r.as.sample.value = (double)a->reserved;
    return rocl_record_put(to, &r, err);
}

/* Launches whose grid counts work-items; that of others counts groups. */
bool chrome_note_work_items(chrome_work *k, const rocl_source_record *call)
{
    if (call->link == ROCL_NO_KEY || !rocl_view_is(call->name, "hipExtModuleLaunchKernel"))
        return true;
    pthread_mutex_lock(&k->lock);
    const bool ok = rocl_idset_add(&k->work_items,
                                   chrome_number_in_file(k->callers, call->process, call->link));
    pthread_mutex_unlock(&k->lock);
    return ok;
}

void chrome_complete_work(const chrome_work *k, rocl_plain_record *r)
{
    if (r->kind == ROCL_DISPATCH && !k->in_work_items &&
        (r->link == ROCL_NO_KEY ||
         !rocl_idset_has(&k->work_items, chrome_number_in_file(k->callers, r->process, r->link))))
        for (int i = 0; i < 3; i++)
            r->as.dispatch.grid[i] *= r->as.dispatch.workgroup[i];
    if (r->kind == ROCL_ALLOC && r->half == ROCL_WHOLE && r->id) {
        const chrome_device *d = find_device(k, r->process, r->id - 1);
        r->agent = d ? d->gpu : ROCL_NO_KEY;
    }
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* A GPU that a process has work on. */
typedef struct process_gpu {
    uint32_t process;
    uint64_t number;
} process_gpu;

ROCL_COMPARE_MEMBERS(compare_process_gpus, process_gpu, process, number)
ROCL_COMPARE_MEMBERS(compare_devices, chrome_device, index, number)

static uint64_t process_of(const chrome_device *d, const rocl_records_input *in)
{
    return d->process == ROCL_NO_KEY ? in->only_process : d->process;
}

/* Maps the devices with memory of a process to its GPUs. CUDA has one number for both. HIP counts
 * from 0, while work has numbers of the driver in the same order: either the devices with memory
 * are those with work, or all have work. */
static void map_devices(chrome_device *devices, size_t count, const process_gpu *gpus,
                        size_t gpu_count, bool hip)
{
    bool same = !hip;
    size_t n = 0; /* different ones, so far */
    for (size_t i = 0; i < count; i++) {
        size_t g = 0;
        while (g < gpu_count && gpus[g].number != devices[i].number)
            g++;
        same = same && g < gpu_count;
        n += i && devices[i].number != devices[i - 1].number;
        devices[i].gpu = n;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t nth = n + 1 == gpu_count ? devices[i].gpu : devices[i].number;
        devices[i].gpu = same              ? devices[i].number
                         : nth < gpu_count ? gpus[nth].number
                                           : ROCL_NO_KEY;
    }
}

/* gpus: of all processes, in order. */
static bool map_memory(chrome_work *k, const rocl_records_input *in, const process_gpu *gpus,
                       size_t gpu_count)
{
    bool ok = true;
    size_t g = 0;
    for (size_t i = 0; i < k->memory_count; i++) {
        chrome_device *d = &k->memory[i];
        d->index = rocl_records_find(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, process_of(d, in)});
        in->capture->memory_before += d->before;
    }
    if (k->memory_count)
        qsort(k->memory, k->memory_count, sizeof *k->memory, compare_devices);
    for (size_t i = 0, n, m; i < k->memory_count; i += n) {
        const uint32_t process = k->memory[i].index;
        for (n = 1; i + n < k->memory_count && k->memory[i + n].index == process; n++)
            ;
        while (g < gpu_count && gpus[g].process < process)
            g++;
        for (m = 0; g + m < gpu_count && gpus[g + m].process == process; m++)
            ;
        map_devices(&k->memory[i], n, gpus + g, m, atomic_load(&k->hip_memory));
    }
    for (size_t i = 0; i < k->memory_count && ok; i++)
        ok = rocl_map_put(&k->memory_index,
                          rocl_mix_pair(k->memory[i].process, k->memory[i].number), (uint32_t)i);
    return ok;
}

/* A counter of what is reserved gets the GPU of its device. */
static bool place_reserved(const chrome_work *k, const rocl_records_input *in,
                           rocl_counter *counter)
{
    rocl_trace *t = in->trace;
    const char *name = rocl_str(t, counter->name);
    if (strncmp(name, RESERVED_OF_GPU, strlen(RESERVED_OF_GPU)) != 0)
        return true;
    const uint64_t number = strtoull(name + strlen(RESERVED_OF_GPU), NULL, 10);
    counter->units = rocl_strings_put(t->strings, "bytes", 5);
    const chrome_device is = {.index = counter->process, .number = (uint32_t)number};
    const chrome_device *d =
        k->memory_count && number < CHROME_GPUS_MAX
            ? bsearch(&is, k->memory, k->memory_count, sizeof *k->memory, compare_devices)
            : NULL;
    if (d && d->gpu != ROCL_NO_KEY) {
        const rocl_key agent = {process_of(d, in), 0, d->gpu};
        counter->agent = rocl_records_find(in, ROCL_KEY_AGENT, agent);
        counter->name = counter->symbol = rocl_strings_put(t->strings, RESERVED, strlen(RESERVED));
    }
    return counter->units != ROCL_NONE && counter->name != ROCL_NONE;
}

/* The names of GPUs are those of deviceProperties, which are in the order of their numbers. Returns
 * how many GPUs of processes there are. */
static size_t name_agents(const chrome_work *k, rocl_capture *c, process_gpu *gpus)
{
    uint64_t numbers[CHROME_GPUS_MAX];
    size_t n = 0, count = 0;
    for (uint32_t i = 0; i < c->agent_count; i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        if (a->type == ROCL_AGENT_GPU) {
            gpus[count++] = (process_gpu){a->process, (uint64_t)a->id};
            a->ordinal = k->ordinal;
        } else if ((uint64_t)a->id == HOST_AGENT) {
            a->absolute_index = a->logical_index = -1;
            a->type_index = 0;
            a->label = rocl_strings_put(c->trace->strings, "CPU 0", 5);
        }
    }
    for (size_t i = 0, j; i < count && n < CHROME_GPUS_MAX; i++) { /* also of other processes */
        for (j = 0; j < n && numbers[j] != gpus[i].number;)
            j++;
        numbers[j] = gpus[i].number;
        n += j == n;
    }
    qsort(numbers, n, sizeof *numbers, rocl_compare_u64);
    if (count)
        qsort(gpus, count, sizeof *gpus, compare_process_gpus);
    for (uint32_t i = 0; i < c->agent_count; i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        for (size_t j = 0; j < n && a->type == ROCL_AGENT_GPU; j++)
            if (numbers[j] == (uint64_t)a->id && j < k->device_count) {
                a->product = k->devices[j].name;
                k->properties[i] = k->devices[j].properties;
            }
    }
    return count;
}

rocl_status chrome_name_gpus(chrome_work *k, rocl_records_input *in, rocl_error *err)
{
    rocl_capture *c = &in->capture->pub;
    process_gpu *gpus = malloc((c->agent_count + (size_t)1) * sizeof *gpus);
    k->properties = calloc(c->agent_count + (size_t)1, sizeof *k->properties);
    bool ok = gpus && k->properties && map_memory(k, in, gpus, name_agents(k, c, gpus));
    for (uint32_t i = 0; i < c->counter_count && ok; i++)
        ok = place_reserved(k, in, rocl_definition_at(c, ROCL_DEFINE_COUNTER, i));
    free(gpus);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}
