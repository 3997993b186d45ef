/* Streams by their handles. A runtime gives the handle of one that is gone to another one: so they
 * are numbered here, in order of first use. That of handle 0, the default stream, is 0. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "capture/core.h"

enum { BUCKETS = 256, NOBODY = 0 };

typedef struct known {
    _Atomic uint64_t handle; /* NOBODY: the stream is gone, and this is for another one */
    uint64_t number;
    rocl_def *def;
    struct known *next;
} known;

/* Entries stay in their lists, so readers take no lock. */
static _Atomic(known *) buckets[BUCKETS];
static known standard;
static uint64_t last;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static void forget_lock(void)
{
    pthread_mutex_init(&making, NULL);
}

__attribute__((constructor)) static void load(void)
{
    pthread_atfork(NULL, NULL, forget_lock);
}

static _Atomic(known *) *bucket_of(uint64_t handle)
{
    return &buckets[handle * 0x9e3779b97f4a7c15u >> 56];
}

static known *find(_Atomic(known *) *bucket, uint64_t handle)
{
    known *k = atomic_load_explicit(bucket, memory_order_acquire);
    while (k && atomic_load_explicit(&k->handle, memory_order_acquire) != handle)
        k = k->next;
    return k;
}

/* Locked. */
static known *room_in(_Atomic(known *) *bucket)
{
    known *k = find(bucket, NOBODY);
    if (!k && (k = calloc(1, sizeof *k))) {
        k->next = atomic_load(bucket);
        atomic_store_explicit(bucket, k, memory_order_release);
    }
    return k;
}

static known *make(_Atomic(known *) *bucket, uint64_t handle)
{
    int saved = errno;
    if (rocl_is_sealed())
        return NULL;
    pthread_mutex_lock(&making);
    known *k = find(bucket, handle); /* another thread may have been first */
    if (!k && (k = room_in(bucket))) {
        k->number = ++last;
        k->def = rocl_cap_define_stream(k->number, NULL);
        atomic_store_explicit(&k->handle, handle, memory_order_release);
    }
    pthread_mutex_unlock(&making);
    errno = saved;
    return k;
}

static known *default_stream(void)
{
    pthread_mutex_lock(&making);
    if (!standard.def)
        standard.def = rocl_cap_define_stream(0, NULL);
    pthread_mutex_unlock(&making);
    return &standard;
}

static known *known_of(uint64_t handle)
{
    static _Atomic bool has_default;
    if (!handle) {
        if (atomic_load_explicit(&has_default, memory_order_acquire))
            return &standard;
        known *k = default_stream();
        atomic_store_explicit(&has_default, true, memory_order_release);
        return k;
    }
    _Atomic(known *) *bucket = bucket_of(handle);
    known *k = find(bucket, handle);
    return k ? k : make(bucket, handle);
}

rocl_def *rocl_cap_stream(uint64_t handle)
{
    const known *k = rocl_set.on ? known_of(handle) : NULL;
    return k ? k->def : NULL;
}

void rocl_cap_streams_gone(void)
{
    for (int i = 0; i < BUCKETS; i++)
        for (known *k = atomic_load(&buckets[i]); k; k = k->next)
            atomic_store_explicit(&k->handle, NOBODY, memory_order_release);
}

void rocl_cap_stream_gone(uint64_t handle)
{
    known *k = handle ? find(bucket_of(handle), handle) : NULL;
    if (k)
        atomic_store_explicit(&k->handle, NOBODY, memory_order_release);
}

void rocl_cap_name_stream(uint64_t handle, const char *name)
{
    const known *k = rocl_set.on ? known_of(handle) : NULL;
    if (k && k->def)
        rocl_cap_name(ROCL_NAMED_STREAM, k->number, name);
}
