/* Time from a first begin to a last end, and time cut into equal slices, in whole nanoseconds. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/wide.h"

typedef struct rocl_extent {
    uint64_t count; /* events; 0: the times mean nothing */
    int64_t first, last;
} rocl_extent;

static inline void rocl_extent_join(rocl_extent *to, const rocl_extent *from)
{
    if (!from->count)
        return;
    if (!to->count || from->first < to->first)
        to->first = from->first;
    if (!to->count || from->last > to->last)
        to->last = from->last;
    to->count += from->count;
}

static inline void rocl_extent_add(rocl_extent *x, int64_t start, int64_t end)
{
    rocl_extent_join(x, &(rocl_extent){1, start, end});
}

/* Extents by worker and machine: those of the first worker become those of all. */
static inline void rocl_extents_join(rocl_extent *x, size_t machines, size_t workers)
{
    for (size_t i = machines; i < machines * workers; i++)
        rocl_extent_join(&x[i % machines], &x[i]);
}

typedef struct rocl_slices {
    int64_t first;
    uint64_t length, count;
} rocl_slices;

/* At most `most` slices, none of them empty, except if the time itself is. */
static inline rocl_slices rocl_slices_of(int64_t first, int64_t last, uint64_t most)
{
    uint64_t length = last > first ? (uint64_t)last - (uint64_t)first : 0;
    return (rocl_slices){first, length, most <= length ? most : length ? length : 1};
}

/* Begin of slice i, the end of the last one for `count`: floor(length * i / count). */
static inline int64_t rocl_slice_begin(const rocl_slices *s, uint64_t i)
{
    uint64_t count = s->count ? s->count : 1;
    return s->first + (int64_t)((rocl_u128)s->length * i / count);
}

/* The slice that a time is in: the last that begins at or before it, and the last of all for the
 * end. */
static inline uint64_t rocl_slice_at(const rocl_slices *s, int64_t time)
{
    uint64_t x = (uint64_t)(time - s->first);
    if (x >= s->length)
        return s->count - 1;
    rocl_u128 scaled = ((rocl_u128)x + 1) * s->count;
    return (uint64_t)((scaled + s->length - 1) / s->length) - 1;
}
