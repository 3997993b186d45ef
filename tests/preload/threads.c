/* Loaded before a program: how its CPU time is spread over threads, and how long its locks are
 * held. THREADS_LOG names a file that gets, at the end,
 *
 *     cpu MAIN ALL                 seconds of the main thread, and of all threads
 *     lock HELD TIMES WAITED CODE  of each mutex, the longest held first: seconds of CPU time, how
 *                                  often it was taken, and how often another thread had it then; in
 *                                  CODE, a path and an offset in it, it was taken first
 *
 * CPU time is counted, not time: where there are more threads than cores, those that have a lock
 * are put aside with it. What it takes to ask for the time is taken off. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { LOCKS = 4096, DEPTH = 16, PRINTED = 12 };

typedef struct lock {
    _Atomic(const void *) mutex;
    void *code; /* that took it first */
    _Atomic int64_t held;
    _Atomic uint64_t times, waited;
} lock;

static lock locks[LOCKS];
static int64_t asking; /* ns to ask for the time */

/* What this thread holds. */
static __thread struct {
    const void *mutex;
    int64_t since;
} holds[DEPTH];
static __thread unsigned depth;
static __thread bool inside;

static int (*real_lock)(pthread_mutex_t *);
static int (*real_try)(pthread_mutex_t *);
static int (*real_unlock)(pthread_mutex_t *);
static int (*real_wait)(pthread_cond_t *, pthread_mutex_t *);
static int (*real_timed)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

static void find_functions(void)
{
    if (real_timed)
        return;
    *(void **)&real_lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    *(void **)&real_try = dlsym(RTLD_NEXT, "pthread_mutex_trylock");
    *(void **)&real_unlock = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    *(void **)&real_wait = dlsym(RTLD_NEXT, "pthread_cond_wait");
    *(void **)&real_timed = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
}

static int64_t cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* NULL: the table is full. */
static lock *find_lock(const void *mutex)
{
    const size_t from = ((uintptr_t)mutex >> 4) * 0x9e3779b9u % LOCKS;
    for (size_t i = 0; i < LOCKS; i++) {
        lock *l = &locks[(from + i) % LOCKS];
        const void *known = atomic_load(&l->mutex);
        if (known == mutex ||
            (!known && atomic_compare_exchange_strong(&l->mutex, &known, mutex)) || known == mutex)
            return l;
    }
    return NULL;
}

static void note_taken(const void *mutex, void *code, bool waited)
{
    lock *l = find_lock(mutex);
    if (!l)
        return;
    if (!l->code)
        l->code = code;
    atomic_fetch_add(&l->times, 1);
    atomic_fetch_add(&l->waited, waited);
    if (depth < DEPTH)
        holds[depth].mutex = mutex;
    if (depth++ < DEPTH)
        holds[depth - 1].since = cpu_now();
}

static void note_given(const void *mutex)
{
    for (unsigned i = depth < DEPTH ? depth : DEPTH; i-- > 0;)
        if (holds[i].mutex == mutex) {
            const int64_t held = cpu_now() - holds[i].since - asking;
            lock *l = find_lock(mutex);
            if (l)
                atomic_fetch_add(&l->held, held > 0 ? held : 0);
            for (; i + 1 < depth && i + 1 < DEPTH; i++)
                holds[i] = holds[i + 1];
            depth--;
            return;
        }
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
    find_functions();
    const bool waited = real_try(m) != 0;
    const int rc = waited ? real_lock(m) : 0;
    if (!inside)
        note_taken(m, __builtin_return_address(0), waited);
    return rc;
}

int pthread_mutex_trylock(pthread_mutex_t *m)
{
    find_functions();
    const int rc = real_try(m);
    if (rc == 0 && !inside)
        note_taken(m, __builtin_return_address(0), false);
    return rc;
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
    find_functions();
    if (!inside)
        note_given(m);
    return real_unlock(m);
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    find_functions();
    note_given(m);
    const int rc = real_wait(c, m);
    note_taken(m, __builtin_return_address(0), false);
    return rc;
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    find_functions();
    note_given(m);
    const int rc = real_timed(c, m, until);
    note_taken(m, __builtin_return_address(0), false);
    return rc;
}

__attribute__((constructor)) static void measure_asking(void)
{
    enum { TIMES = 1000 };
    const int64_t before = cpu_now();
    for (int i = 1; i < TIMES; i++)
        cpu_now();
    asking = (cpu_now() - before) / TIMES;
}

static double seconds(const struct rusage *use)
{
    return (double)(use->ru_utime.tv_sec + use->ru_stime.tv_sec) +
           (double)(use->ru_utime.tv_usec + use->ru_stime.tv_usec) / 1e6;
}

static int by_held(const void *a, const void *b)
{
    const int64_t x = ((const lock *)a)->held, y = ((const lock *)b)->held;
    return (x < y) - (x > y);
}

__attribute__((destructor)) static void report(void)
{
    const char *name = getenv("THREADS_LOG");
    struct rusage self, own;
    const int fd = name ? open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    inside = true;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_THREAD, &own);
    dprintf(fd, "cpu %.4f %.4f\n", seconds(&own), seconds(&self));
    qsort(locks, LOCKS, sizeof *locks, by_held);
    for (size_t i = 0; i < PRINTED && locks[i].times; i++) {
        Dl_info of = {0};
        const bool known = dladdr(locks[i].code, &of) && of.dli_fname;
        dprintf(fd, "lock %.6f %lu %lu %s %#lx\n", (double)locks[i].held / 1e9,
                (unsigned long)locks[i].times, (unsigned long)locks[i].waited,
                known ? of.dli_fname : "?",
                known ? (unsigned long)((char *)locks[i].code - (char *)of.dli_fbase) : 0);
    }
    close(fd);
}
