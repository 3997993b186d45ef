#include "base/budget.h"

#include <unistd.h>

enum { JOBS_MAX = 256, WORKERS_LEAST = 4 };

/* What a worker may hold: batches and pages while it reads; later a block of output, the same block
 * compressed, and the state of the compressor. Each phase gives its own back before the next. */
#define WORKER_BYTES ((size_t)1 << 20)

/* All cursors of a table together: with few workers each has as much as is the fastest. */
#define CURSOR_BYTES ((size_t)512 << 10)

static unsigned cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > JOBS_MAX ? JOBS_MAX : (unsigned)n;
}

rocl_budget rocl_budget_share(size_t memory, unsigned jobs)
{
    if (!memory)
        memory = ROCL_DEFAULT_MEMORY;
    if (!jobs)
        jobs = cores();
    size_t afford = memory / 2 / WORKER_BYTES;
    if (afford < WORKERS_LEAST)
        afford = WORKERS_LEAST;
    rocl_budget b = {.workers = jobs < afford ? jobs : (unsigned)afford};
    size_t held = b.workers * WORKER_BYTES;
    b.sorting = held < memory / 2 ? memory - held : memory - memory / 2;
    b.cursor = CURSOR_BYTES / b.workers;
    return b;
}
