/* Fuzz target: legacy text, through the line parser and through the source with one worker and with
 * two, which must say the same. The first byte of the input chooses how small ranges and blocks
 * are. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rocline.h"
#include "source/rtg/rtg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

static void remove_file(void)
{
    unlink(path);
}

static int text_file(void)
{
    static const char *const folders[] = {"/dev/shm", "/tmp"};
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/fuzz-rtg-XXXXXX", folders[i]);
        fd = mkstemp(path);
    }
    if (fd < 0)
        abort();
    atexit(remove_file);
    return fd;
}

/* A sum over events that does not depend on their order, nor on the numbers of texts. */
typedef struct sum {
    const rocl_trace *trace;
    pthread_mutex_t lock;
    uint64_t events, bits;
} sum;

static uint64_t bits_of(uint64_t seed, const char *p, size_t n)
{
    uint64_t h = seed ^ n;
    for (size_t i = 0; i < n; i++)
        h = rocl_mix64(h ^ (unsigned char)p[i]);
    return h;
}

static uint64_t event_bits(const sum *s, const rocl_batch *b, size_t i)
{
    const rocl_event *e = rocl_batch_event(b, i);
    size_t n;
    const char *name = rocl_text(s->trace, e->name, &n);
    uint64_t h = bits_of((uint64_t)b->kind, name, n);
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
            h = bits_of(h, a->value, a->value_len);
        }
    }
    if (b->kind == ROCL_DISPATCH)
        h = rocl_mix64(h ^ b->dispatches[i].queue ^ (uint64_t)b->dispatches[i].grid[0] << 32);
    return h;
}

static rocl_status add(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    sum *s = ctx;
    (void)worker, (void)err;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < b->count; i++)
        s->bits += event_bits(s, b, i);
    s->events += b->count;
    pthread_mutex_unlock(&s->lock);
    return ROCL_OK;
}

static void convert(unsigned jobs, uint64_t *result)
{
    const char *input = path;
    rocl_options o = {.jobs = jobs, .memory = (size_t)16 << 20, .args = true};
    sum s = {.lock = PTHREAD_MUTEX_INITIALIZER};
    rocl_error *err = rocl_error_new();
    rocl_trace *t = NULL;
    if (rocl_trace_open(&t, &input, 1, &o, err) == ROCL_OK) {
        s.trace = t;
        rocl_trace_scan(t, add, &s, err);
        rocl_pftrace_options p = {.path = "/dev/null", .level = 0};
        rocl_write_pftrace(t, &p, NULL, err);
        for (int f = 0; f < ROCL_FAULTS; f++)
            s.bits += rocl_mix64(rocl_trace_faults(t, (rocl_fault)f) << 8 | (unsigned)f);
    }
    if (rocl_error_status(err) == ROCL_INTERNAL) {
        fprintf(stderr, "%s\n", rocl_error_text(err));
        abort();
    }
    result[0] = s.events;
    result[1] = s.bits;
    rocl_trace_close(t);
    rocl_error_free(err);
}

/* In memory of exactly its size. */
static void parse_whole(const uint8_t *data, size_t size)
{
    rtg_line l;
    rtg_line_parse(&l, (const char *)data, size, false);
    rtg_line_newer(&l, (const char *)data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    uint64_t one[2], two[2];
    if (size < 1)
        return 0;
    rtg_sizes_used = (rtg_sizes){.range = 1 + (data[0] & 15) * 16u,
                                 .block = 1 + (data[0] >> 4) * 24u,
                                 .line_max = 600,
                                 .batch_max = 4};
    data++;
    size--;
    parse_whole(data, size);
    if (fd < 0)
        fd = text_file();
    if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    convert(1, one);
    convert(2, two);
    if (one[0] != two[0] || one[1] != two[1])
        abort();
    return 0;
}
