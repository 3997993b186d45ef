/* What fuzz targets of sources share: a file to put the input in, and all events of a trace as a
 * number that does not depend on their order. */
#ifndef TESTS_FUZZ_EVENTS_H
#define TESTS_FUZZ_EVENTS_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "rocline.h"

static char fuzz_path[64];

static void fuzz_remove_file(void)
{
    unlink(fuzz_path);
}

static int fuzz_file(void)
{
    static const char *const folders[] = {"/dev/shm", "/tmp"};
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < sizeof folders / sizeof *folders; i++) {
        snprintf(fuzz_path, sizeof fuzz_path, "%s/fuzz-events-XXXXXX", folders[i]);
        fd = mkstemp(fuzz_path);
    }
    if (fd < 0)
        abort();
    rocl_sync_outputs(false);
    atexit(fuzz_remove_file);
    return fd;
}

/* A sum over events that does not depend on their order, nor on the numbers of texts. */
typedef struct fuzz_sum {
    const rocl_trace *trace;
    pthread_mutex_t lock;
    uint64_t events, bits, faults;
} fuzz_sum;

static uint64_t fuzz_bits(uint64_t seed, const char *p, size_t n)
{
    uint64_t h = seed ^ n;
    for (size_t i = 0; i < n; i++)
        h = rocl_mix64(h ^ (unsigned char)p[i]);
    return h;
}

static uint64_t fuzz_event(const fuzz_sum *s, const rocl_batch *b, size_t i)
{
    const rocl_event *e = rocl_batch_event(b, i);
    size_t n;
    const char *name = rocl_text(s->trace, e->name, &n);
    uint64_t h = fuzz_bits((uint64_t)b->kind, name, n);
    if (e->end < e->start || e->process >= b->capture->process_count)
        abort();
    h = rocl_mix64(h ^ (uint64_t)e->start);
    h = rocl_mix64(h ^ (uint64_t)e->end);
    h = rocl_mix64(h ^ e->id ^ e->stack_id ^ e->thread);
    if (b->kind <= ROCL_INSTANT) {
        const rocl_region *g = &b->regions[i];
        for (uint32_t k = 0; k < g->arg_count; k++) {
            const rocl_arg *a = &b->args[g->arg_first + k];
            if (a->value[a->value_len])
                abort();
            h = fuzz_bits(h, a->value, a->value_len);
        }
    }
    if (b->kind == ROCL_DISPATCH)
        h = rocl_mix64(h ^ b->dispatches[i].queue ^ (uint64_t)b->dispatches[i].grid[0] << 32);
    return h;
}

static rocl_status fuzz_add(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    fuzz_sum *s = ctx;
    (void)worker, (void)err;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < b->count; i++)
        s->bits += fuzz_event(s, b, i);
    s->events += b->count;
    pthread_mutex_unlock(&s->lock);
    return ROCL_OK;
}

/* Reads the file with as many workers; internal errors are findings. */
static void fuzz_read(const char *input, unsigned jobs, fuzz_sum *s)
{
    rocl_options o = {.jobs = jobs, .memory = (size_t)16 << 20, .args = true};
    rocl_error *err = rocl_error_new();
    rocl_trace *t = NULL;
    *s = (fuzz_sum){.lock = PTHREAD_MUTEX_INITIALIZER};
    if (rocl_trace_open(&t, &input, 1, &o, err) == ROCL_OK) {
        s->trace = t;
        const rocl_status st =
            rocl_trace_scan(t, ROCL_ALL_KINDS, ROCL_ALL_FIELDS, fuzz_add, s, err);
        for (int f = 0; f < ROCL_FAULTS; f++)
            s->faults += rocl_mix64(rocl_trace_faults(t, (rocl_fault)f) << 8 | (unsigned)f);
        if (st > ROCL_PARTIAL) { /* how far others came is a matter of time, but not why it ended */
            const char *why = rocl_error_text(err);
            s->events = s->faults = 0;
            s->bits = fuzz_bits(st, why, strlen(why));
        }
        rocl_pftrace_options p = {.path = "/dev/null", .level = 0};
        rocl_write_pftrace(t, &p, NULL, err);
    }
    if (rocl_error_status(err) == ROCL_INTERNAL) {
        fprintf(stderr, "%s\n", rocl_error_text(err));
        abort();
    }
    rocl_trace_close(t);
    rocl_error_free(err);
}

/* With one worker and with two: it must be the same. */
static inline void fuzz_read_twice(const char *input, fuzz_sum *one)
{
    fuzz_sum two;
    fuzz_read(input, 1, one);
    fuzz_read(input, 2, &two);
    if (one->events != two.events || one->bits != two.bits || one->faults != two.faults)
        abort();
}

/* The same of a file that begins with `head`, so that it is taken for what the target is about. */
static inline void fuzz_read_after(const char *head, const uint8_t *data, size_t size)
{
    static int fd = -1;
    const size_t n = strlen(head);
    fuzz_sum sum;
    if (fd < 0)
        fd = fuzz_file();
    if (ftruncate(fd, 0) || pwrite(fd, head, n, 0) != (ssize_t)n ||
        pwrite(fd, data, size, (off_t)n) != (ssize_t)size)
        abort();
    fuzz_read_twice(fuzz_path, &sum);
}

#endif
