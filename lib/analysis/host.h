/* What host threads did in given times, such as gaps: looked up by process, thread and time, and
 * resolved in one pass over the calls of each thread. */
#pragma once

#include "analysis/report.h"

typedef struct rocl_host rocl_host;

/* What a host does for so long after it waited is work of its own. */
enum { ROCL_OTHER_WORK_NS = 1000000 };

/* What a thread of a process did in a time. */
typedef struct rocl_host_time {
    uint64_t process, thread; /* process: its key word */
    int64_t from, to;
    int64_t gap;    /* the caller's: length of the gap that `waited` decides on; 0: of none */
    unsigned class; /* the caller's: of the gap where it did not wait */
    bool whole;     /* `name` is needed as well */
    /* Resolved: */
    bool waited;       /* for the GPU: at `from`, or for half of the time */
    int64_t waited_ns; /* from `from` on */
    uint32_t name;     /* text: of the call that took most of the time; ROCL_NONE: of none */
    int64_t ns;        /* time that it took */
} rocl_host_time;

typedef rocl_status rocl_host_fn(void *ctx, uint64_t track, const rocl_host_time *t,
                                 rocl_error *err);

/* Its sorters are those of the collector. NULL: memory is out. */
rocl_host *rocl_host_new(rocl_collector *c);
void rocl_host_free(rocl_host *h);
/* Concurrent. */
rocl_status rocl_host_add_call(rocl_host *h, unsigned worker, const rocl_capture *c,
                               const rocl_event *call, rocl_error *err);
/* When all calls have come. A track has one time from t->from. */
rocl_status rocl_host_look_up(rocl_host *h, uint64_t track, const rocl_host_time *t,
                              rocl_error *err);
/* Calls fn once for each, by process and thread. */
rocl_status rocl_host_resolve(rocl_host *h, rocl_host_fn *fn, void *ctx, rocl_error *err);
