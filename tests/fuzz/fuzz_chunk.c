/* Fuzz target: chunks. An input that begins with an even byte is a file; else the rest is contents,
 * parted by two bytes 0xff, for which headers are made here: so the fuzzer gets at records without
 * having to find out about headers. What can be read must be the same with one worker and with two,
 * after packing, and it can be shown as text. */
#include <fcntl.h>

#include "format/chunk.h"
#include "tests/fuzz/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_at(int fd, const void *p, size_t n, size_t at)
{
    if (pwrite(fd, p, n, (off_t)at) != (ssize_t)n)
        abort();
}

/* Returns where the next chunk begins. */
static size_t write_chunk(int fd, const uint8_t *content, size_t n, size_t at, unsigned number,
                          uint8_t how)
{
    rocl_chunk_header h = {.major = 1,
                           .header_size = ROCL_CHUNK_HEADER,
                           .endian = ROCL_CHUNK_ENDIAN,
                           .flags = how & 2 ? ROCL_CHUNK_RING : 0,
                           .size = (ROCL_CHUNK_HEADER + n + 15) / 8 * 8,
                           .progress = (uint64_t)(how >> 4) << 32 | n,
                           .seq = how & 4 ? number : number / 2,
                           .pid = 7,
                           .tid = 7,
                           .writer = how & 4 ? 1 : number % 2,
                           .clock = how & 8 ? ROCL_CLOCK_TSC : ROCL_CLOCK_MONOTONIC,
                           .tick_hz = 3000000000u,
                           .base = 1000000,
                           .begin = {1000000, 5000000, 6000000, 7000000}};
    memcpy(h.magic, ROCL_CHUNK_MAGIC, sizeof h.magic);
    write_at(fd, &h, sizeof h, at);
    write_at(fd, content, n, at + sizeof h);
    return at + h.size;
}

static void write_chunks(int fd, const uint8_t *data, size_t size, uint8_t how)
{
    size_t at = 0, first = 0;
    unsigned number = 0;
    for (size_t i = 0; i <= size; i++) {
        bool end = i == size || (i + 1 < size && data[i] == 0xff && data[i + 1] == 0xff);
        if (!end)
            continue;
        at = write_chunk(fd, data + first, i - first, at, number++, how);
        first = i + 2;
        i++;
    }
    if (ftruncate(fd, (off_t)at))
        abort();
}

static bool take_line(void *ctx, const char *text, size_t len)
{
    (void)ctx;
    if (len >= 1024 || memchr(text, '\n', len))
        abort();
    return true;
}

static void pack_and_compare(const fuzz_sum *sum)
{
    const char *input = fuzz_path;
    char packed[sizeof fuzz_path + 8];
    snprintf(packed, sizeof packed, "%s.rocl", fuzz_path);
    rocl_trace *t = NULL;
    if (rocl_trace_open(&t, &input, 1, NULL, NULL) != ROCL_OK)
        return;
    const rocl_chunks_options o = {.path = packed, .level = 1};
    fuzz_sum again;
    rocl_dump_chunks(t, take_line, NULL, NULL);
    if (rocl_write_chunks(t, &o, NULL, NULL) <= ROCL_PARTIAL) {
        fuzz_read(packed, 1, &again);
        if (again.events != sum->events || again.bits != sum->bits)
            abort();
    }
    unlink(packed);
    rocl_trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    fuzz_sum sum;
    if (size < 2)
        return 0;
    if (fd < 0)
        fd = fuzz_file();
    if (ftruncate(fd, 0))
        abort();
    if (data[0] & 1)
        write_chunks(fd, data + 1, size - 1, data[0]);
    else
        write_at(fd, data + 1, size - 1, 0);
    fuzz_read_twice(fuzz_path, &sum);
    pack_and_compare(&sum);
    return 0;
}
