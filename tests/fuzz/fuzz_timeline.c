/* Fuzz target: legacy text to the JSON of the timeline script. The output must be JSON, and the
 * same for one worker and for two. The first byte of the input chooses options, the second how
 * small blocks are. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "base/lines.h"
#include "base/text.h"
#include "rocline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char paths[3][64];

static void remove_files(void)
{
    for (int i = 0; i < 3; i++)
        unlink(paths[i]);
}

static void make_files(void)
{
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    for (int i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/fuzz-timeline-XXXXXX", folder);
        int fd = mkstemp(paths[i]);
        if (fd < 0)
            abort();
        close(fd);
    }
    rocl_sync_outputs(false);
    atexit(remove_files);
}

static void say(void *ctx, const char *text, size_t len)
{
    uint64_t *sum = ctx;
    for (size_t i = 0; i < len; i++)
        *sum = *sum * 31 + (unsigned char)text[i];
}

static char *read_all(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        abort();
    *n = (size_t)ftell(f);
    rewind(f);
    char *p = malloc(*n + 1);
    if (!p || fread(p, 1, *n, f) != *n)
        abort();
    p[*n] = '\0';
    fclose(f);
    return p;
}

static rocl_status convert(unsigned options, unsigned jobs, uint64_t *sum)
{
    const char *input = paths[0];
    rocl_timeline_options o = {.path = paths[jobs],
                               .flows = options & 1,
                               .gaps = options & 2,
                               .kernel_names = options & 4,
                               .by_process = options & 8,
                               .verbose = options & 16,
                               .workgroups = options & 32,
                               .jobs = jobs,
                               .memory = (size_t)4 << 20,
                               .say = say,
                               .ctx = sum};
    rocl_written r;
    rocl_error *err = rocl_error_new();
    rocl_status st = rocl_write_timeline(&input, 1, &o, &r, err);
    if (st > ROCL_PARTIAL && st != ROCL_INPUT) {
        fprintf(stderr, "%s\n", rocl_error_text(err));
        abort();
    }
    rocl_error_free(err);
    return st;
}

static void check_json(const char *text, size_t n)
{
    cJSON *json = strlen(text) == n ? cJSON_ParseWithLength(text, n) : NULL;
    if (!json || !rocl_utf8_valid(text, n))
        abort();
    cJSON_Delete(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t sums[2] = {0};
    size_t n[2];
    if (size < 2)
        return 0;
    if (!paths[0][0])
        make_files();
    FILE *f = fopen(paths[0], "wb");
    if (!f || fwrite(data + 2, 1, size - 2, f) != size - 2 || fclose(f) != 0)
        abort();
    rocl_lines_block = 1 + data[1] * 8u;
    rocl_status st = convert(data[0], 1, &sums[0]);
    if (convert(data[0], 2, &sums[1]) != st)
        abort();
    if (st == ROCL_INPUT) /* broken gzip, a database: what was said before that differs */
        return 0;
    if (sums[0] != sums[1])
        abort();
    char *one = read_all(paths[1], &n[0]), *two = read_all(paths[2], &n[1]);
    if (n[0] != n[1] || memcmp(one, two, n[0]) != 0)
        abort();
    check_json(one, n[0]);
    free(one);
    free(two);
    return 0;
}
