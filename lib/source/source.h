/* What a source is: a reader of one input format. A capture's rows are cut into tasks that workers
 * scan in any order. */
#ifndef ROCL_SOURCE_SOURCE_H
#define ROCL_SOURCE_SOURCE_H

#include "base/buf.h"
#include "base/spool.h"
#include "model/trace.h"

/* A piece of work: rows [first, last] of one table, which yield events of `kinds`. */
typedef struct rocl_task {
    uint32_t kinds;
    unsigned table;      /* the source's own numbering */
    unsigned stage;      /* all tasks of a stage are done before the next stage begins */
    int64_t first, last; /* row ids */
    uint64_t rows;       /* about how many, for progress */
} rocl_task;

typedef struct rocl_plan {
    rocl_task *tasks;
    size_t count, cap;
} rocl_plan;

/* Hands a batch on: through the filters to the sink. */
typedef struct rocl_emitter {
    rocl_status (*emit)(void *ctx, unsigned worker, rocl_batch *batch, rocl_error *err);
    void *ctx;
    uint32_t kinds;  /* what is wanted; other events need not be made */
    uint32_t fields; /* ROCL_FIELD_*s of what is wanted of them */
    bool quiet; /* it is not the turn of what is read: for one worker, and no progress is told */
} rocl_emitter;

typedef enum rocl_property_of {
    ROCL_PROPERTIES_OF_AGENT,
    ROCL_PROPERTIES_OF_KERNEL
} rocl_property_of;

typedef struct rocl_source_ops {
    const char *format; /* "rocpd" */
    bool one_guid;      /* a guid is of one process, which must not be read twice */
    bool apart; /* to open an input is a matter of this input alone: several are opened at once */
    /* Opens the path, adds its captures with their definitions to the trace. */
    rocl_status (*open)(struct rocl_source *s, rocl_trace *t, rocl_error *err);
    void (*close)(struct rocl_source *s);
    /* Frees what open hung on a capture. */
    void (*forget)(rocl_model_capture *c);
    /* A capture is about to be scanned / is done: connections, caches. */
    rocl_status (*begin)(rocl_trace *t, rocl_model_capture *c, uint32_t kinds, rocl_plan *plan,
                         rocl_error *err);
    rocl_status (*scan)(rocl_trace *t, rocl_model_capture *c, const rocl_task *task,
                        unsigned worker, const rocl_emitter *to, rocl_error *err);
    /* After all tasks: events that need several tables joined (counter values). */
    rocl_status (*finish)(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                          rocl_error *err);
    void (*end)(rocl_trace *t, rocl_model_capture *c);
    /* Of a source that is opened apart: is the input still what was read? Finish asks as well. */
    rocl_status (*unchanged)(rocl_trace *t, rocl_model_capture *c, rocl_error *err);
    /* Some times of the capture, early and late ones, as cheap as they come; *any false when there
     * are none. NULL: the source knows none without reading everything. */
    rocl_status (*glance)(rocl_trace *t, rocl_model_capture *c, int64_t *first, int64_t *last,
                          bool *any, rocl_error *err);
    /* Appends the JSON object that the input keeps of a definition, nothing where there is none.
     * Thread-safe; between open and close. */
    rocl_status (*properties)(rocl_trace *t, rocl_model_capture *c, rocl_property_of of,
                              uint32_t index, rocl_buf *json, rocl_error *err);
} rocl_source_ops;

typedef struct rocl_source {
    const rocl_source_ops *ops;
    char *path;
    rocl_spool *spool; /* the text that was recognised: the source's to take */
    void *state;
    size_t named; /* place among the inputs as the user named them */
    /* What open leaves, until it is put to that of the inputs before. */
    rocl_model_capture **captures;
    size_t capture_count;
    const char *remark; /* NULL: none */
    bool torn;          /* of its input something is left out that cannot be counted */
    bool alone;         /* it has one capture */
    bool joined;        /* made of slices, in a temporary file */
    bool slice;         /* others may hold more of its processes */
} rocl_source;

/* Looks at the first bytes of the path, never at its suffix, and adds the right source to the
 * trace.
 */
rocl_status rocl_source_recognise(rocl_trace *t, const char *path, rocl_error *err);

/* Opens the sources of the trace from `first` on, before `end`. Their captures come in their order,
 * and a failure is that of the first to fail. */
rocl_status rocl_sources_open(rocl_trace *t, size_t first, size_t end, rocl_error *err);

/* For `open`: a new capture, zeroed, behind those that the source has, owned by the trace. */
rocl_model_capture *rocl_trace_add_capture(rocl_trace *t, rocl_source *s, rocl_error *err);

#endif
