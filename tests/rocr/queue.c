/* Queues of the GPU: a thread for each takes packets in order and completes them. A kernel "runs"
 * for KMT_KERNEL_US microseconds (default 20). */
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>

#include "kmt.h"

typedef struct queue {
    char *ring;
    uint64_t packets; /* of the ring */
    volatile uint64_t *read;
    volatile uint64_t doorbell;
    atomic_bool over;
    pthread_t thread;
} queue;

static void wait_us(long us)
{
    nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL);
}

static uint64_t load64(const void *p)
{
    return atomic_load((const _Atomic uint64_t *)p);
}

static int64_t signal_value(hsa_signal_t s)
{
    const amd_signal_t *a = (const amd_signal_t *)s.handle;
    return a ? (int64_t)load64((const void *)&a->value) : 0;
}

static void complete(uint64_t handle, uint64_t start, uint64_t end)
{
    amd_signal_t *a = (amd_signal_t *)handle;
    if (!a)
        return;
    uint64_t mailbox = a->event_mailbox_ptr;
    uint32_t id = a->event_id;
    a->start_ts = start;
    a->end_ts = end;
    atomic_fetch_sub((_Atomic int64_t *)(uintptr_t)&a->value, 1);
    if (mailbox)
        kmt_event_signal(id);
}

static bool is_blocked(const hsa_barrier_and_packet_t *b, unsigned type)
{
    unsigned open = 0, deps = 0;
    for (int i = 0; i < 5; i++) {
        deps += b->dep_signal[i].handle != 0;
        open += signal_value(b->dep_signal[i]) != 0;
    }
    return type == HSA_PACKET_TYPE_BARRIER_AND ? open > 0 : deps && open == deps;
}

static void execute(queue *q, const void *packet, unsigned type)
{
    const char *us = getenv("KMT_KERNEL_US");
    if (type == HSA_PACKET_TYPE_BARRIER_AND || type == HSA_PACKET_TYPE_BARRIER_OR)
        while (!atomic_load(&q->over) && is_blocked(packet, type))
            wait_us(10);
    uint64_t start = kmt_now();
    if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH)
        wait_us(us ? atol(us) : 20);
    /* In every type of packet it is the last word. */
    complete(load64((const char *)packet + 56), start, kmt_now());
}

static void *run(void *arg)
{
    queue *q = arg;
    while (!atomic_load(&q->over)) {
        uint64_t i = *q->read;
        _Atomic uint16_t *header = (_Atomic uint16_t *)(q->ring + i % q->packets * 64);
        unsigned type = atomic_load(header) & 0xff;
        if (type == HSA_PACKET_TYPE_INVALID || (int64_t)q->doorbell < (int64_t)i) {
            wait_us(20);
            continue;
        }
        execute(q, header, type);
        atomic_store(header, HSA_PACKET_TYPE_INVALID);
        atomic_store((_Atomic uint64_t *)(uintptr_t)q->read, i + 1);
    }
    return NULL;
}

HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 node, HSA_QUEUE_TYPE type, HSAuint32 percentage,
                                HSA_QUEUE_PRIORITY priority, void *address, HSAuint64 size,
                                HsaEvent *e, HsaQueueResource *r)
{
    (void)percentage, (void)priority, (void)e;
    if (node != KMT_GPU || type != HSA_QUEUE_COMPUTE_AQL)
        return HSAKMT_STATUS_NOT_SUPPORTED;
    queue *q = calloc(1, sizeof *q);
    if (!q)
        return HSAKMT_STATUS_NO_MEMORY;
    q->ring = address;
    q->packets = size / 64;
    q->read = r->Queue_read_ptr_aql;
    q->doorbell = UINT64_MAX;
    r->QueueId = (HSA_QUEUEID)q;
    r->Queue_DoorBell_aql = (HSAuint64 *)(uintptr_t)&q->doorbell;
    if (pthread_create(&q->thread, NULL, run, q) != 0) {
        free(q);
        return HSAKMT_STATUS_NO_MEMORY;
    }
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtDestroyQueue(HSA_QUEUEID id)
{
    queue *q = (queue *)id;
    atomic_store(&q->over, true);
    pthread_join(q->thread, NULL);
    free(q);
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtUpdateQueue(HSA_QUEUEID id, HSAuint32 percentage, HSA_QUEUE_PRIORITY priority,
                                void *address, HSAuint64 size, HsaEvent *e)
{
    (void)id, (void)percentage, (void)priority, (void)address, (void)size, (void)e;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtSetQueueCUMask(HSA_QUEUEID id, HSAuint32 n, HSAuint32 *mask)
{
    (void)id, (void)n, (void)mask;
    return HSAKMT_STATUS_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID id, HSAuint32 n, HSAuint32 *first)
{
    (void)id, (void)n, (void)first;
    return HSAKMT_STATUS_NOT_SUPPORTED;
}

HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 node, void *base, HSAuint64 size, void *buffer,
                                   HSAuint64 buffer_size)
{
    (void)node, (void)base, (void)size, (void)buffer, (void)buffer_size;
    return HSAKMT_STATUS_SUCCESS;
}
