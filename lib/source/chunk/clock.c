/* Ticks as ns: straight lines between moments at which the clocks were compared. All chunks of a
 * process share them, so that threads agree. */
#include "source/chunk/chunk.h"

#include <stdlib.h>

#include "base/order.h"

/* Moments closer to each other than this say little about the rate of ticks. */
#define FAR_NS     50000000u
#define FAR_MIN_NS 1000000u /* of the only two */

static bool is_later(const rocl_chunk_sync *a, const rocl_chunk_sync *b, uint64_t ns)
{
    return b->ticks > a->ticks && b->monotonic > a->monotonic && b->monotonic - a->monotonic >= ns;
}

rocl_status chunk_clock_make(chunk_clock *k, const chunk_info *const *chunks, size_t n,
                             rocl_error *err)
{
    k->points = calloc(2 * n + 1, sizeof *k->points);
    k->tick_ns = 1;
    if (!k->points)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        const rocl_chunk_header *h = &chunks[i]->h;
        if (h->clock == ROCL_CLOCK_TSC)
            k->tick_ns = 1e9 / (double)h->tick_hz;
        k->points[k->count++] = h->begin;
        if (h->end.ticks)
            k->points[k->count++] = h->end;
    }
    qsort(k->points, k->count, sizeof *k->points,
          rocl_compare_u64); /* by ticks, the first member */
    /* Keeps only moments that are far enough apart, and the last one. */
    size_t kept = 0;
    for (size_t i = 0; i < k->count; i++) {
        const rocl_chunk_sync *p = &k->points[i];
        bool last = i + 1 == k->count;
        if (!kept || is_later(&k->points[kept - 1], p, FAR_NS))
            k->points[kept++] = *p;
        else if (last && kept > 1 && is_later(&k->points[kept - 2], p, FAR_NS))
            k->points[kept - 1] = *p;
        else if (last && kept == 1 && is_later(&k->points[0], p, FAR_MIN_NS))
            k->points[kept++] = *p;
    }
    k->count = kept;
    const rocl_chunk_sync *first = &k->points[0];
    k->boottime = (int64_t)(first->boottime - first->monotonic);
    k->realtime = (int64_t)(first->boottime - first->realtime);
    return ROCL_OK;
}

/* Uses the line through the points before and after; after the last point, that through the last
 * two. */
static int64_t ticks_to_monotonic(const chunk_clock *k, uint64_t ticks)
{
    size_t low = 0, high = k->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (k->points[middle].ticks <= ticks)
            low = middle;
        else
            high = middle;
    }
    const rocl_chunk_sync *a = &k->points[low], *end = k->points + k->count;
    const rocl_chunk_sync *from = a + 1 < end || k->count < 2 ? a : a - 1;
    double slope = k->tick_ns;
    if (from + 1 < end)
        slope =
            (double)(from[1].monotonic - from->monotonic) / (double)(from[1].ticks - from->ticks);
    double ns = (double)(int64_t)(ticks - a->ticks) * slope;
    /* Beyond any possible time: the file is wrong. */
    if (!(ns > -4e18 && ns < 4e18))
        return -1;
    return (int64_t)(a->monotonic + (uint64_t)(int64_t)ns);
}

int64_t chunk_clock_to_ns(const chunk_clock *k, unsigned clock, uint64_t time)
{
    uint64_t ns = time;
    if (clock == ROCL_CLOCK_TICKS)
        ns = (uint64_t)ticks_to_monotonic(k, time) + (uint64_t)k->boottime;
    else if (clock == ROCL_CLOCK_MONOTONIC)
        ns = time + (uint64_t)k->boottime;
    else if (clock == ROCL_CLOCK_REALTIME)
        ns = time + (uint64_t)k->realtime;
    return (int64_t)ns;
}

void chunk_clock_free(chunk_clock *k)
{
    free(k->points);
    *k = (chunk_clock){0};
}
