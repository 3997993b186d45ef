/* What GPU work does - it computes, communicates or copies - and the times in which any of one
 * activity ran. */
#pragma once

#include "base/map.h"
#include "model/kernel_class.h"
#include "model/trace.h"

typedef enum rocl_activity {
    ROCL_ACTIVITY_COMPUTE,
    ROCL_ACTIVITY_COMMUNICATION,
    ROCL_ACTIVITY_COPY,
    ROCL_ACTIVITIES
} rocl_activity;

/* A union of intervals that come by start: only what reaches beyond it is added. */
typedef struct rocl_cover {
    int64_t until; /* covered up to here; at first INT64_MIN */
    int64_t measure;
} rocl_cover;

/* How much of the time before `t` is covered, where no later interval was added. */
static inline int64_t rocl_cover_before(const rocl_cover *c, int64_t t)
{
    return c->measure - (c->until > t ? c->until - t : 0);
}

static inline void rocl_cover_extend(rocl_cover *c, int64_t start, int64_t end)
{
    int64_t from = start > c->until ? start : c->until;
    if (end > from)
        c->measure += end - from;
    if (end > c->until)
        c->until = end;
}

/* Unions that are measured. The union of all kernels without that of computing kernels is
 * communication alone; the union of all work without that of kernels is copies alone. */
enum {
    ROCL_UNION_COMPUTE,
    ROCL_UNION_KERNELS,
    ROCL_UNION_COPY,
    ROCL_UNION_ALL,
    ROCL_UNION_COMMUNICATION,
    ROCL_UNIONS
};

static inline void rocl_covers_begin(rocl_cover covers[ROCL_UNIONS])
{
    for (unsigned i = 0; i < ROCL_UNIONS; i++)
        covers[i] = (rocl_cover){.until = INT64_MIN};
}

/* Work by start. */
static inline void rocl_covers_extend(rocl_cover covers[ROCL_UNIONS], rocl_activity activity,
                                      int64_t start, int64_t end)
{
    static const uint32_t activities[ROCL_UNIONS] = {
        [ROCL_UNION_COMPUTE] = 1 << ROCL_ACTIVITY_COMPUTE,
        [ROCL_UNION_KERNELS] = 1 << ROCL_ACTIVITY_COMPUTE | 1 << ROCL_ACTIVITY_COMMUNICATION,
        [ROCL_UNION_COPY] = 1 << ROCL_ACTIVITY_COPY,
        [ROCL_UNION_ALL] = (1 << ROCL_ACTIVITIES) - 1,
        [ROCL_UNION_COMMUNICATION] = 1 << ROCL_ACTIVITY_COMMUNICATION,
    };
    for (unsigned i = 0; i < ROCL_UNIONS; i++)
        if (activities[i] >> activity & 1)
            rocl_cover_extend(&covers[i], start, end);
}

/* The activity of a kernel. Names are classified once for each `known`, which is for one thread;
 * free it with rocl_ids_free(). False: memory is out. */
static inline bool rocl_find_activity(const rocl_trace *t, rocl_ids *known, uint32_t kernel,
                                      rocl_activity *out)
{
    const uint32_t activity = rocl_ids_get(known, kernel);
    if (activity != ROCL_NONE) {
        *out = (rocl_activity)activity;
        return true;
    }
    size_t n;
    const char *name = rocl_strings_get(t->strings, kernel, &n);
    *out = rocl_classify_kernel(t->classes, name, n) == ROCL_CLASS_COMMUNICATION
               ? ROCL_ACTIVITY_COMMUNICATION
               : ROCL_ACTIVITY_COMPUTE;
    return rocl_ids_put(known, kernel, *out);
}
