/* Streams by their handles. A runtime gives the handle of one that is gone to another one: so they
 * are numbered here, in order of first use. That of handle 0, the default stream, is 0. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "capture/core.h"

enum { BUCKETS = 256, NO_HANDLE = 0 };

typedef struct stream_entry {
    _Atomic uint64_t handle; /* NO_HANDLE: the stream is gone, and this is for another one */
    uint64_t number;
    rocl_def *def;
    struct stream_entry *next;
} stream_entry;

/* Entries stay in their lists, so readers take no lock. `making` is held to add or reuse one, and
 * guards last_number and the definition of default_entry. */
static _Atomic(stream_entry *) buckets[BUCKETS];
static stream_entry default_entry;
static uint64_t last_number;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

static void reset_lock(void)
{
    pthread_mutex_init(&making, NULL);
}

__attribute__((constructor)) static void register_fork_handler(void)
{
    pthread_atfork(NULL, NULL, reset_lock);
}

static _Atomic(stream_entry *) *bucket_of(uint64_t handle)
{
    return &buckets[handle * 0x9e3779b97f4a7c15u >> 56];
}

static stream_entry *find_stream(_Atomic(stream_entry *) *bucket, uint64_t handle)
{
    stream_entry *k = atomic_load_explicit(bucket, memory_order_acquire);
    while (k && atomic_load_explicit(&k->handle, memory_order_acquire) != handle)
        k = k->next;
    return k;
}

/* Takes the entry of a stream that is gone, or a new one. */
static stream_entry *make_stream(_Atomic(stream_entry *) *bucket, uint64_t handle)
{
    int saved = errno;
    if (rocl_is_sealed())
        return NULL;
    pthread_mutex_lock(&making);
    stream_entry *k = find_stream(bucket, handle); /* another thread may have been first */
    if (!k) {
        k = find_stream(bucket, NO_HANDLE);
        if (!k && (k = calloc(1, sizeof *k))) {
            k->next = atomic_load(bucket);
            atomic_store_explicit(bucket, k, memory_order_release);
        }
        if (k) {
            k->number = ++last_number;
            k->def = rocl_cap_define_stream(k->number, NULL);
            atomic_store_explicit(&k->handle, handle, memory_order_release);
        }
    }
    pthread_mutex_unlock(&making);
    errno = saved;
    return k;
}

static stream_entry *find_or_make_stream(uint64_t handle)
{
    static _Atomic bool has_default;
    if (handle) {
        _Atomic(stream_entry *) *bucket = bucket_of(handle);
        stream_entry *k = find_stream(bucket, handle);
        return k ? k : make_stream(bucket, handle);
    }
    if (!atomic_load_explicit(&has_default, memory_order_acquire)) {
        pthread_mutex_lock(&making);
        if (!default_entry.def)
            default_entry.def = rocl_cap_define_stream(0, NULL);
        pthread_mutex_unlock(&making);
        atomic_store_explicit(&has_default, true, memory_order_release);
    }
    return &default_entry;
}

rocl_def *rocl_cap_stream(uint64_t handle)
{
    const stream_entry *k = rocl_set.on ? find_or_make_stream(handle) : NULL;
    return k ? k->def : NULL;
}

void rocl_cap_streams_gone(void)
{
    for (int i = 0; i < BUCKETS; i++)
        for (stream_entry *k = atomic_load(&buckets[i]); k; k = k->next)
            atomic_store_explicit(&k->handle, NO_HANDLE, memory_order_release);
}

void rocl_cap_stream_gone(uint64_t handle)
{
    stream_entry *k = handle ? find_stream(bucket_of(handle), handle) : NULL;
    if (k)
        atomic_store_explicit(&k->handle, NO_HANDLE, memory_order_release);
}

void rocl_cap_name_stream(uint64_t handle, const char *name)
{
    const stream_entry *k = rocl_set.on ? find_or_make_stream(handle) : NULL;
    if (k && k->def)
        rocl_cap_name(ROCL_NAMED_STREAM, k->number, name);
}
