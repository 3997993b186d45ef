/* json: how fast are files of JSON read? Prints, for one thread: the outline, walking over all
 * tokens of the arrays that were not opened, and skipping their elements. A reader's time divided
 * by that of the tokens is what its own work costs. Usage: json FILE [OBJECTS [ARRAYS [quotes]]],
 * the depths down to which objects and arrays are opened (1 and 0: trace events; 4 and 2:
 * rocprofv3). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clock_gettime */
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/error.h"
#include "base/json_index.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reads all blocks, which includes the reading of the file, and prints how fast. */
static rocl_status read_blocks(const rocl_json_index *x, const rocl_spool *spool, unsigned flags,
                               bool tokens, rocl_error *err)
{
    rocl_buf b = {0};
    uint64_t count = 0, bytes = 0;
    rocl_status st = ROCL_OK;
    const double begin = now();
    for (size_t i = 0; i < x->block_count && st == ROCL_OK; i++) {
        rocl_json r;
        rocl_json_token t;
        st = rocl_json_load(&r, &b, spool, x->blocks[i].begin, x->blocks[i].end,
                            flags | ROCL_JSON_ELEMENTS, err);
        if (st != ROCL_OK)
            break;
        while (tokens ? rocl_json_next(&r, &t) != ROCL_JSON_NOTHING : rocl_json_element(&r, &t))
            count++;
        bytes += b.len;
        if (r.wrong)
            st = rocl_json_fail(&r, "block", err);
    }
    rocl_buf_free(&b);
    if (st == ROCL_OK)
        printf("%-10s %8.0f MB/s  %" PRIu64 "\n", tokens ? "tokens" : "elements",
               (double)bytes / 1e6 / (now() - begin), count);
    return st;
}

int main(int argc, char **argv)
{
    rocl_error *err = rocl_error_new();
    rocl_spool *spool = NULL;
    rocl_spool_store store = {0};
    rocl_json_index x = {0};
    const rocl_json_outline how = {argc > 2 ? (unsigned)atoi(argv[2]) : 1,
                                   argc > 3 ? (unsigned)atoi(argv[3]) : 0,
                                   argc > 4 ? ROCL_JSON_QUOTES : 0, 0};
    struct rusage use;
    bool quotes;
    if (argc < 2) {
        fputs("usage: json FILE [OBJECTS [ARRAYS [quotes]]]\n", stderr);
        return 2;
    }
    rocl_status st = rocl_spool_open(&spool, argv[1], err);
    if (st == ROCL_OK)
        st = rocl_spool_fill(spool, &store, NULL, err);
    const double begin = now();
    if (st == ROCL_OK)
        st = rocl_json_index_spool(&x, spool, &how, &quotes, err);
    if (st == ROCL_OK) {
        printf("%-10s %8.0f MB/s  %zu nodes, %zu blocks%s\n", "outline",
               (double)x.size / 1e6 / (now() - begin), x.count, x.block_count,
               x.truncated ? ", truncated" : "");
        st = read_blocks(&x, spool, how.flags, true, err);
    }
    if (st == ROCL_OK)
        st = read_blocks(&x, spool, how.flags, false, err);
    getrusage(RUSAGE_SELF, &use);
    if (st == ROCL_OK)
        printf("%-10s %8.1f MiB\n", "peak", (double)use.ru_maxrss / 1024);
    else
        fprintf(stderr, "json: %s\n", rocl_error_text(err));
    rocl_json_index_free(&x);
    rocl_spool_close(spool);
    rocl_spool_store_close(&store);
    rocl_error_free(err);
    return (int)st;
}
