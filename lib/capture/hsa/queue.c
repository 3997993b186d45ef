/* Queues: packets put on them pass through here. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "capture/hsa/hsa.h"

enum { PACKET = 64, BATCH = 32, SIGNAL_OFFSET = 56 };

_Static_assert(sizeof(hsa_kernel_dispatch_packet_t) == PACKET &&
                   offsetof(hsa_kernel_dispatch_packet_t, completion_signal) == SIGNAL_OFFSET &&
                   offsetof(hsa_barrier_and_packet_t, completion_signal) == SIGNAL_OFFSET &&
                   offsetof(hsa_barrier_or_packet_t, completion_signal) == SIGNAL_OFFSET,
               "all packets that are traced have their signal at the same offset");

/* ---- packets --------------------------------------------------------------------------------- */

/* Gives a packet a signal of ours. Those of other kinds pass as they are: they are the runtime's
 * own. */
static void trace_packet(rocl_hsa_queue *q, char *packet)
{
    unsigned type = (unsigned char)packet[0]; /* low byte of the header */
    hsa_signal_t signal;
    if (type != HSA_PACKET_TYPE_KERNEL_DISPATCH && type != HSA_PACKET_TYPE_BARRIER_AND &&
        type != HSA_PACKET_TYPE_BARRIER_OR)
        return;
    memcpy(&signal, packet + SIGNAL_OFFSET, sizeof signal);
    rocl_flight *f = rocl_flight_new(signal);
    if (!f)
        return;
    f->queue = q;
    f->agent = q->agent;
    f->seq = atomic_fetch_add(&q->seq, 1);
    if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
        const hsa_kernel_dispatch_packet_t *p = (const hsa_kernel_dispatch_packet_t *)packet;
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
    } else {
        const hsa_barrier_and_packet_t *p = (const hsa_barrier_and_packet_t *)packet;
        f->kind = ROCL_BARRIER;
        for (int i = 0; i < 5; i++)
            f->deps[i] = p->dep_signal[i].handle;
    }
    signal = f->signal; /* the flight may be over as soon as it is watched */
    if (rocl_flight_watch(f))
        memcpy(packet + SIGNAL_OFFSET, &signal, sizeof signal);
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
            trace_packet(data, batch + i * PACKET);
        writer(batch, n);
        from += n * PACKET;
        count -= n;
    }
}

/* ---- queues ---------------------------------------------------------------------------------- */

typedef struct queue_entry {
    const hsa_queue_t *handle;
    rocl_hsa_queue *queue;
    struct queue_entry *next;
} queue_entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static queue_entry *queues;

/* The link to it, or to NULL. Locked. */
static queue_entry **find_link(const hsa_queue_t *handle)
{
    queue_entry **k = &queues;
    while (*k && (*k)->handle != handle)
        k = &(*k)->next;
    return k;
}

static rocl_hsa_queue *add_queue(hsa_agent_t agent, const hsa_queue_t *handle)
{
    rocl_hsa_agent *a = rocl_hsa_agent_of(agent);
    rocl_hsa_queue *q = a ? calloc(1, sizeof *q) : NULL;
    queue_entry *k = q ? malloc(sizeof *k) : NULL;
    if (!k) {
        free(q);
        return NULL;
    }
    q->agent = a;
    q->id = handle->id;
    q->number = atomic_fetch_add(&a->queues, 1);
    q->users = 1;
    if (rocl_rtg.chunks)
        q->def = rocl_cap_define_queue(q->id, NULL);
    pthread_mutex_lock(&lock);
    *k = (queue_entry){handle, q, queues};
    queues = k;
    pthread_mutex_unlock(&lock);
    return q;
}

static hsa_status_t create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
                                 uint32_t private_segment, uint32_t group_segment,
                                 hsa_queue_t **queue)
{
    /* What cannot be intercepted is the program's to have all the same, and so are errors. */
    if (rocl_hsa_real.amd.hsa_amd_queue_intercept_create_fn(agent, size, type, callback, data,
                                                            private_segment, group_segment,
                                                            queue) != HSA_STATUS_SUCCESS)
        return rocl_hsa_real.core.hsa_queue_create_fn(agent, size, type, callback, data,
                                                      private_segment, group_segment, queue);
    rocl_hsa_queue *q = add_queue(agent, *queue);
    if (q) {
        rocl_hsa_real.amd.hsa_amd_profiling_set_profiler_enabled_fn(*queue, 1);
        rocl_hsa_real.amd.hsa_amd_queue_intercept_register_fn(*queue, on_packets, q);
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t destroy_queue(hsa_queue_t *queue)
{
    pthread_mutex_lock(&lock);
    queue_entry **link = find_link(queue), *k = *link;
    if (k)
        *link = k->next;
    pthread_mutex_unlock(&lock);
    hsa_status_t status = rocl_hsa_real.core.hsa_queue_destroy_fn(queue);
    if (k)
        rocl_hsa_queue_release(k->queue);
    free(k);
    return status;
}

/* Times are needed whatever the program thinks of its own. */
static hsa_status_t enable_queue_times(hsa_queue_t *queue, int enable)
{
    pthread_mutex_lock(&lock);
    bool ours = *find_link(queue) != NULL;
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
    rocl_hsa_next.core.hsa_queue_create_fn = create_queue;
    rocl_hsa_next.core.hsa_queue_destroy_fn = destroy_queue;
    rocl_hsa_next.core.hsa_executable_freeze_fn = rocl_hsa_freeze;
    rocl_hsa_next.amd.hsa_amd_profiling_set_profiler_enabled_fn = enable_queue_times;
}
