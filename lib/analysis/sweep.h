/* The sweep over the work of GPUs: one GPU after the other, and by time. A GPU whose work one rank
 * of a team has read alone is swept there; work of one that several ranks have, such as processes
 * that share it, comes to rank 0, and so do the results.
 *
 *     rocl_sweep_open
 *     rocl_sweep_add     records, as events come or in `complete`
 *     rocl_sweep_finish  on rank 0: results are known
 *
 * The struct of the collector begins with a rocl_sweep, and its definition has
 * .gather = &rocl_sweep_gather. */
#pragma once

#include "analysis/gather.h"
#include "analysis/slices.h"

/* `self` is the collector's struct. `complete`, `end`, `put` and `take` may be NULL. */
typedef struct rocl_sweep_def {
    unsigned words; /* words of a record's key: GPU, time, and what else the report wants; 3 or 4 */
    unsigned times; /* values of a result that come first and are times; others are not negative */
    /* Can a rank have sent this record? Its GPU is one of the trace. */
    bool (*is_possible)(const void *self, const uint64_t *key);
    /* When all events have come: adds the last records. */
    rocl_status (*complete)(void *self, rocl_error *err);
    /* Adds a record to the result of its GPU, zeroed before the first one. */
    rocl_status (*extend)(void *self, const uint64_t *key, int64_t *result, bool first,
                          rocl_error *err);
    /* After the last record of a GPU. */
    void (*end)(void *self, int64_t *result);
    /* What a rank has beside its results. It goes to rank 0 in one piece. */
    void (*put)(void *self, rocl_put *to);
    rocl_status (*take)(void *self, rocl_taken *from, rocl_error *err);
} rocl_sweep_def;

typedef struct rocl_sweep {
    rocl_collector c;
    const rocl_sweep_def *def;
    int64_t **results; /* by GPU; NULL: it did nothing */
    /* By worker and machine: when work began and ended. The collector adds to it, if it wants to;
     * during the sweep and after it those of the first worker hold for all ranks. */
    rocl_extent *extents;
    /* The rest is of sweep.c. */
    rocl_sorter *sorter;
    size_t values;   /* how many a result has */
    bool *noted;     /* by worker and GPU: there was work of it here */
    uint32_t *owner; /* on rank 0, by GPU: the rank that has it + 1, or several; 0: none */
    bool *wanted;    /* on another rank, by GPU: rank 0 wants its work */
    bool completed;
    unsigned round; /* on rank 0 */
} rocl_sweep;

/* values: how many a result has. */
rocl_status rocl_sweep_open(rocl_sweep *s, const rocl_sweep_def *def, size_t values,
                            rocl_error *err);
void rocl_sweep_close(rocl_sweep *s);

/* Concurrent. */
static inline rocl_status rocl_sweep_add(rocl_sweep *s, unsigned worker, const uint64_t *key,
                                         rocl_error *err)
{
    bool *noted = &s->noted[worker * s->c.trace->gpu_count + key[0]];
    if (!*noted) /* workers are next to each other */
        *noted = true;
    return rocl_sorter_add(s->sorter, worker, key, NULL, 0, err);
}

/* Sweeps what is here. */
rocl_status rocl_sweep_finish(rocl_sweep *s, rocl_error *err);

extern const rocl_gather_def rocl_sweep_gather;
