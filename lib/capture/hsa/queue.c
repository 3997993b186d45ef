/* Queues: what is put on them passes through here. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "capture/hsa/hsa.h"

enum { PACKET = 64, BATCH = 32, SIGNAL_AT = 56 };

typedef struct known {
    const hsa_queue_t *handle;
    rocl_hsa_queue *queue;
    struct known *next;
} known;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static known *all;

/* ---- packets --------------------------------------------------------------------------------- */

static void read_kernel(rocl_flight *f, const hsa_kernel_dispatch_packet_t *p)
{
    f->kind = ROCL_KERNEL;
    f->kernel = rocl_hsa_kernel_of(p->kernel_object);
    f->workgroup[0] = p->workgroup_size_x;
    f->workgroup[1] = p->workgroup_size_y;
    f->workgroup[2] = p->workgroup_size_z;
    f->grid[0] = p->grid_size_x;
    f->grid[1] = p->grid_size_y;
    f->grid[2] = p->grid_size_z;
    f->private_segment = p->private_segment_size;
    f->group_segment = p->group_segment_size;
}

static void read_barrier(rocl_flight *f, const hsa_barrier_and_packet_t *p)
{
    f->kind = ROCL_BARRIER;
    for (int i = 0; i < 5; i++)
        f->deps[i] = p->dep_signal[i].handle;
}

/* Gives a packet a signal of ours. Those of other kinds pass as they are: they are the runtime's
 * own. */
static void take(rocl_hsa_queue *q, char *packet)
{
    unsigned type = (unsigned char)packet[0]; /* low byte of the header */
    bool kernel = type == HSA_PACKET_TYPE_KERNEL_DISPATCH;
    hsa_signal_t signal;
    if (!kernel && type != HSA_PACKET_TYPE_BARRIER_AND && type != HSA_PACKET_TYPE_BARRIER_OR)
        return;
    memcpy(&signal, packet + SIGNAL_AT, sizeof signal);
    rocl_flight *f = rocl_flight_new(signal);
    if (!f)
        return;
    f->queue = q;
    f->agent = q->agent;
    f->seq = atomic_fetch_add(&q->seq, 1);
    if (kernel)
        read_kernel(f, (const hsa_kernel_dispatch_packet_t *)packet);
    else
        read_barrier(f, (const hsa_barrier_and_packet_t *)packet);
    signal = f->signal;
    if (rocl_flight_watch(f))
        memcpy(packet + SIGNAL_AT, &signal, sizeof signal);
}

/* Called by the thread that rings the doorbell, for one queue by one at a time. */
static void on_packets(const void *packets, uint64_t count, uint64_t index, void *data,
                       hsa_amd_queue_intercept_packet_writer writer)
{
    _Alignas(PACKET) char batch[BATCH * PACKET];
    const char *from = packets;
    (void)index;
    while (count) {
        uint64_t n = count < BATCH ? count : BATCH;
        memcpy(batch, from, n * PACKET);
        for (uint64_t i = 0; i < n; i++)
            take(data, batch + i * PACKET);
        writer(batch, n);
        from += n * PACKET;
        count -= n;
    }
}

/* ---- queues ---------------------------------------------------------------------------------- */

void rocl_hsa_queue_release(rocl_hsa_queue *q)
{
    if (atomic_fetch_sub(&q->users, 1) == 1)
        free(q);
}

static void remember(const hsa_queue_t *handle, rocl_hsa_queue *q, known *k)
{
    *k = (known){handle, q, NULL};
    pthread_mutex_lock(&lock);
    k->next = all;
    all = k;
    pthread_mutex_unlock(&lock);
}

/* The link to it, or to NULL. Locked. */
static known **find(const hsa_queue_t *handle)
{
    known **k = &all;
    while (*k && (*k)->handle != handle)
        k = &(*k)->next;
    return k;
}

static rocl_hsa_queue *new_queue(hsa_agent_t agent, const hsa_queue_t *handle)
{
    rocl_hsa_agent *a = rocl_hsa_agent_of(agent);
    rocl_hsa_queue *q = a ? calloc(1, sizeof *q) : NULL;
    known *k = q ? malloc(sizeof *k) : NULL;
    if (!k) {
        free(q);
        return NULL;
    }
    q->agent = a;
    q->id = handle->id;
    q->shown = atomic_fetch_add(&a->queues, 1);
    q->users = 1;
    if (rocl_rtg.chunks)
        q->def = rocl_cap_define_queue(q->id, NULL);
    remember(handle, q, k);
    return q;
}

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                           void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                           uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    /* What cannot be intercepted is the program's to have all the same, and so are errors. */
    if (rocl_hsa_real.amd.hsa_amd_queue_intercept_create_fn(agent, size, type, callback, data,
                                                            private_segment, group_segment,
                                                            queue) != HSA_STATUS_SUCCESS)
        return rocl_hsa_real.core.hsa_queue_create_fn(agent, size, type, callback, data,
                                                      private_segment, group_segment, queue);
    rocl_hsa_queue *q = new_queue(agent, *queue);
    if (q) {
        rocl_hsa_real.amd.hsa_amd_profiling_set_profiler_enabled_fn(*queue, 1);
        rocl_hsa_real.amd.hsa_amd_queue_intercept_register_fn(*queue, on_packets, q);
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t destroy(hsa_queue_t *queue)
{
    pthread_mutex_lock(&lock);
    known **at = find(queue), *k = *at;
    if (k)
        *at = k->next;
    pthread_mutex_unlock(&lock);
    hsa_status_t status = rocl_hsa_real.core.hsa_queue_destroy_fn(queue);
    if (k)
        rocl_hsa_queue_release(k->queue);
    free(k);
    return status;
}

/* Times are needed whatever the program thinks of its own. */
static hsa_status_t enable_times(hsa_queue_t *queue, int enable)
{
    pthread_mutex_lock(&lock);
    bool ours = *find(queue) != NULL;
    pthread_mutex_unlock(&lock);
    return rocl_hsa_real.amd.hsa_amd_profiling_set_profiler_enabled_fn(queue, ours || enable);
}

void rocl_hsa_intercept_queues(void)
{
    if (!ROCL_HSA_HAS(amd, hsa_amd_queue_intercept_create) ||
        !ROCL_HSA_HAS(amd, hsa_amd_queue_intercept_register) ||
        !ROCL_HSA_HAS(amd, hsa_amd_signal_async_handler) ||
        !ROCL_HSA_HAS(amd, hsa_amd_profiling_set_profiler_enabled) ||
        !ROCL_HSA_HAS(amd, hsa_amd_profiling_get_dispatch_time) ||
        !ROCL_HSA_HAS(core, hsa_executable_iterate_agent_symbols) ||
        !ROCL_HSA_HAS(core, hsa_executable_symbol_get_info))
        return;
    rocl_hsa_next.core.hsa_queue_create_fn = create;
    rocl_hsa_next.core.hsa_queue_destroy_fn = destroy;
    rocl_hsa_next.core.hsa_executable_freeze_fn = rocl_hsa_freeze;
    rocl_hsa_next.amd.hsa_amd_profiling_set_profiler_enabled_fn = enable_times;
}
