/* Fuzz target: parts of Perfetto traces by time. The first byte says which part and how. A cut by
 * one worker in one piece and one by two workers in pieces of some bytes must be the same file; it
 * must be a trace that can be read; and all of a trace in which nothing is wrong has the same
 * events. */
#include "source/records/records.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const windows[][2] = {{"0%", "100%"}, {"30%", "60%"}, {"100", "5000"},
                                         {"0%", "50%"},  {"50%", "50%"}, {"99%", "100%"},
                                         {NULL, "40%"},  {"40%", NULL}};

/* A number of all events that does not depend on where they stand in the file. */
static rocl_status add_events(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    fuzz_sum *s = ctx;
    (void)worker, (void)err;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        size_t n;
        const char *name = rocl_text(s->trace, e->name, &n);
        uint64_t h = fuzz_bits((uint64_t)b->kind, name, n);
        h = rocl_mix64(h ^ (uint64_t)e->start);
        s->bits += rocl_mix64(h ^ (uint64_t)e->end);
        if (b->kind == ROCL_SAMPLE)
            s->bits += fuzz_bits(h, (const char *)&b->samples[i].value, sizeof(double));
    }
    s->events += b->count;
    return ROCL_OK;
}

static void check_error(const rocl_error *err)
{
    if (rocl_error_status(err) != ROCL_INTERNAL)
        return;
    fprintf(stderr, "%s\n", rocl_error_text(err));
    abort();
}

static void read_events(const char *path, fuzz_sum *s)
{
    const rocl_options o = {.jobs = 1, .memory = (size_t)16 << 20};
    rocl_error *err = rocl_error_new();
    rocl_trace *t = NULL;
    *s = (fuzz_sum){.faults = UINT64_MAX};
    if (rocl_trace_open(&t, &path, 1, &o, err) == ROCL_OK) {
        s->trace = t;
        if (rocl_trace_scan(t, ROCL_ALL_KINDS, 0, add_events, s, err) == ROCL_OK)
            s->faults = 0;
    }
    check_error(err);
    rocl_trace_close(t);
    rocl_error_free(err);
}

/* Cuts to `to`; a hash of its bytes, 0: there is none. */
static uint64_t cut_file(const char *to, unsigned jobs, uint8_t how, bool *whole)
{
    const unsigned window = how % (sizeof windows / sizeof *windows);
    const char *path = fuzz_path;
    const rocl_options o = {.jobs = jobs,
                            .memory = (size_t)16 << 20,
                            .copy_packets = true,
                            .start = windows[window][0],
                            .end = windows[window][1],
                            .window_mode = (rocl_window_mode)(how / 8 % 3)};
    const rocl_pftrace_options p = {.path = to, .level = 0};
    rocl_error *err = rocl_error_new();
    rocl_trace *t = NULL;
    uint64_t hash = 0;
    *whole = window == 0;
    unlink(to);
    if (rocl_trace_open(&t, &path, 1, &o, err) == ROCL_OK && rocl_pftrace_is_cut(t, &p) &&
        rocl_cut_pftrace(t, &p, NULL, err) <= ROCL_PARTIAL) {
        char bytes[4096];
        FILE *f = fopen(to, "rb");
        hash = 1;
        for (size_t n; f && (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
            hash = fuzz_bits(hash, bytes, n);
        if (f)
            fclose(f);
    }
    check_error(err);
    rocl_trace_close(t);
    rocl_error_free(err);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t head[] = {'\n', 2, 0x78, 0}; /* a packet with field 15, which is 0 */
    static int fd = -1;
    const size_t piece = rocl_piece_bytes;
    char to[sizeof fuzz_path + 8];
    fuzz_sum before, after;
    bool whole;
    if (fd < 0)
        fd = fuzz_file();
    if (!size)
        return 0;
    if (ftruncate(fd, 0) || pwrite(fd, head, sizeof head, 0) != (ssize_t)sizeof head ||
        pwrite(fd, data + 1, size - 1, (off_t)sizeof head) != (ssize_t)size - 1)
        abort();
    snprintf(to, sizeof to, "%s.part", fuzz_path);
    rocl_piece_bytes = 40;
    const uint64_t pieces = cut_file(to, 2, *data, &whole);
    rocl_piece_bytes = piece;
    if (cut_file(to, 1, *data, &whole) != pieces)
        abort();
    if (pieces) {
        read_events(fuzz_path, &before);
        read_events(to, &after);
        if (whole && !before.faults && (before.events != after.events || before.bits != after.bits))
            abort();
    }
    unlink(to);
    return 0;
}
