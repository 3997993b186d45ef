#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "kmt.h"

enum { EVENTS = 4096 };

typedef struct event {
    HsaEvent pub; /* first: what ROCr holds is this */
    bool signaled, manual;
    uint32_t waiters;
    uint64_t times; /* that it was signaled while someone waited */
} event;

/* One condition for all: tests have few threads. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static event *events[EVENTS]; /* by id; 0 is none */
static uint64_t mailbox;      /* where the GPU would write ids */

HSAKMT_STATUS hsaKmtCreateEvent(HsaEventDescriptor *d, bool manual, bool signaled, HsaEvent **out)
{
    event *e = calloc(1, sizeof *e);
    uint32_t id = 1;
    if (!e)
        return HSAKMT_STATUS_NO_MEMORY;
    pthread_mutex_lock(&lock);
    while (id < EVENTS && events[id])
        id++;
    if (id < EVENTS)
        events[id] = e;
    pthread_mutex_unlock(&lock);
    if (id == EVENTS) {
        free(e);
        return HSAKMT_STATUS_NO_MEMORY;
    }
    e->manual = manual;
    e->signaled = signaled;
    e->pub.EventId = id;
    e->pub.EventData.EventType = d->EventType;
    e->pub.EventData.EventData.SyncVar = d->SyncVar;
    e->pub.EventData.HWData2 = (HSAuint64)&mailbox;
    *out = &e->pub;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtDestroyEvent(HsaEvent *pub)
{
    if (!pub)
        return HSAKMT_STATUS_SUCCESS;
    pthread_mutex_lock(&lock);
    events[pub->EventId] = NULL;
    pthread_mutex_unlock(&lock);
    free(pub);
    return HSAKMT_STATUS_SUCCESS;
}

void kmt_event_signal(uint32_t id)
{
    pthread_mutex_lock(&lock);
    event *e = id < EVENTS ? events[id] : NULL;
    if (e && e->waiters && !e->manual)
        e->times++; /* as the driver has it, all of them wake up */
    else if (e)
        e->signaled = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

HSAKMT_STATUS hsaKmtSetEvent(HsaEvent *pub)
{
    if (!pub)
        return HSAKMT_STATUS_INVALID_HANDLE;
    kmt_event_signal(pub->EventId);
    return HSAKMT_STATUS_SUCCESS;
}

static uint64_t *begin_wait(HsaEvent **pubs, uint32_t n)
{
    uint64_t *times = malloc((n + 1) * sizeof *times);
    for (uint32_t i = 0; times && i < n; i++) {
        times[i] = ((event *)pubs[i])->times;
        ((event *)pubs[i])->waiters++;
    }
    return times;
}

static void end_wait(HsaEvent **pubs, uint32_t n, uint64_t *times)
{
    for (uint32_t i = 0; i < n; i++)
        ((event *)pubs[i])->waiters--;
    free(times);
}

/* Takes what was signaled; whether the wait is over. Locked. */
static bool take(HsaEvent **pubs, uint32_t n, bool all, const uint64_t *times)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < n; i++)
        set += ((event *)pubs[i])->signaled || ((event *)pubs[i])->times != times[i];
    if (all ? set < n : !set)
        return false;
    for (uint32_t i = 0; i < n; i++)
        ((event *)pubs[i])->signaled &= ((event *)pubs[i])->manual;
    return true;
}

HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *pubs[], HSAuint32 n, bool all, HSAuint32 ms)
{
    struct timespec until;
    bool over = false;
    int rc = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&lock);
    uint64_t *times = begin_wait(pubs, n);
    while (times && !(over = take(pubs, n, all, times)) && rc != ETIMEDOUT)
        rc = ms == HSA_EVENTTIMEOUT_INFINITE ? pthread_cond_wait(&changed, &lock)
                                             : pthread_cond_timedwait(&changed, &lock, &until);
    if (times)
        end_wait(pubs, n, times);
    pthread_mutex_unlock(&lock);
    return over ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
}

HSAKMT_STATUS hsaKmtWaitOnEvent(HsaEvent *pub, HSAuint32 ms)
{
    return pub ? hsaKmtWaitOnMultipleEvents(&pub, 1, true, ms) : HSAKMT_STATUS_INVALID_HANDLE;
}
