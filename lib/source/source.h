/* A source is the reader of one input format with an input that it reads. An input holds captures;
 * the rows of a capture are cut into tasks that workers scan in any order.
 *
 *     formats.c   the table of formats
 *     source.c    an input recognised by it, opened, asked for properties
 *     inputs.c    what the user named -> files
 *     reader.c    what readers share; allocs.c, short_name.c: larger pieces of that
 *     rocpd/      databases of rocprofv3 and rocprofiler-systems, on the row cursor of db/
 *     chunk/      recordings of rocrec
 *     rtg/        text of rtg_tracer, HCC_PROFILE and strace */
#pragma once

#include <string.h>

#include "base/buf.h"
#include "base/spool.h"
#include "model/trace.h"
#include "source/db/rows.h"

/* A piece of work: rows [first, last] of one table, which yield events of `kinds`. */
typedef struct rocl_task {
    uint32_t kinds;
    unsigned table;      /* the source's own numbering */
    unsigned stage;      /* all tasks of a stage are done before the next stage begins */
    int64_t first, last; /* row ids */
    uint64_t rows;       /* approximate number, for progress */
} rocl_task;

typedef struct rocl_plan {
    rocl_task *tasks;
    size_t count, cap;
} rocl_plan;

/* Passes a batch on: through the filters to the sink. */
typedef struct rocl_emitter {
    rocl_status (*emit)(void *ctx, unsigned worker, rocl_batch *batch, rocl_error *err);
    void *ctx;
    uint32_t kinds;  /* what is wanted; other events need not be made */
    uint32_t fields; /* wanted ROCL_FIELD_*s */
    bool quiet;      /* it is prefetched: by one worker, and without progress */
    bool few;        /* so few rows that one worker is faster than several */
} rocl_emitter;

/* Are arguments wanted, whether all or only those of ROCL_FIELD_HANDLES? */
static inline bool rocl_wants_args(const rocl_trace *t, const rocl_emitter *to)
{
    return t->opt.args || to->fields & ROCL_FIELD_HANDLES;
}

/* Is an argument of this name one of ROCL_FIELD_HANDLES? */
static inline bool rocl_is_handle(const char *name, size_t n)
{
    return (n == 6 && !memcmp(name, "stream", 6)) || (n == 5 && !memcmp(name, "event", 5));
}

typedef enum rocl_property_of {
    ROCL_PROPERTIES_OF_AGENT,
    ROCL_PROPERTIES_OF_CODE_OBJECT,
    ROCL_PROPERTIES_OF_KERNEL
} rocl_property_of;

/* A reader. For a capture the calls are: begin, scan for every task (by any worker, stage after
 * stage), finish if all went well, end in any case. */
typedef struct rocl_source_ops {
    const struct rocl_record_format *records; /* of ROCL_RECORDS_OPS(); else NULL */
    /* Adds the captures of the input with their definitions: see rocl_trace_add_capture(). */
    rocl_status (*open)(struct rocl_source *s, rocl_trace *t, rocl_error *err);
    void (*close)(struct rocl_source *s); /* also after an open that failed */
    /* Do two files (by their names) belong to one run, and so to one input? NULL: never. */
    bool (*same_run)(const char *a, const char *b);
    /* Frees what open attached to a capture; NULL: nothing. */
    void (*free_capture)(rocl_model_capture *c);
    /* A capture is about to be scanned / is done: connections, caches. */
    rocl_status (*begin)(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                         rocl_plan *plan, rocl_error *err);
    rocl_status (*scan)(rocl_trace *t, rocl_model_capture *c, const rocl_task *task,
                        unsigned worker, const rocl_emitter *to, rocl_error *err);
    /* After all tasks: events that need several tables joined (counter values). */
    rocl_status (*finish)(rocl_trace *t, rocl_model_capture *c, const rocl_emitter *to,
                          rocl_error *err);
    void (*end)(rocl_trace *t, rocl_model_capture *c);
    /* Is the input unchanged? For formats that are ROCL_FORMAT_INDEPENDENT; finish checks that as
     * well. */
    rocl_status (*unchanged)(rocl_trace *t, rocl_model_capture *c, rocl_error *err);
    /* Some early and late times of the capture that are cheap to get; *any false: there are none.
     * NULL: the source would have to read everything. */
    rocl_status (*peek_times)(rocl_trace *t, rocl_model_capture *c, int64_t *first, int64_t *last,
                              bool *any, rocl_error *err);
    /* Appends the JSON object that the input has of a definition, if any. Thread-safe; between open
     * and close. NULL: it has none. */
    rocl_status (*properties)(rocl_trace *t, rocl_model_capture *c, rocl_property_of of,
                              uint32_t index, rocl_buf *json, rocl_error *err);
} rocl_source_ops;

/* A further file of an input of several files, which owns both members. */
typedef struct rocl_source_file {
    char *path;
    rocl_spool *spool;
} rocl_source_file;

/* An input of a trace, which owns it. */
typedef struct rocl_source {
    const struct rocl_format *format;
    const rocl_source_ops *ops; /* of the format; for a database NULL until it is opened */
    char *path;                 /* as the user named it */
    rocl_spool *spool;      /* its bytes, decompressed: a reader may take it and set it to NULL */
    rocl_source_file *more; /* of the same run */
    size_t more_count;
    struct rocl_db *db; /* of a database, while `open` runs */
    rocl_db_state was;  /* before it is opened: see rocl_source_explain() */
    void *state;        /* for the reader */
    size_t named;       /* index among the inputs as the user named them */
    /* The result of open, until it is added to the trace. */
    rocl_model_capture **captures;
    size_t capture_count;
    size_t number;       /* among the sources of the trace, once that is open */
    size_t total;        /* of its captures in the trace, once that is open */
    uint64_t bytes;      /* of its file, 0: not a regular one; once the trace is open */
    const char *remark;  /* NULL: none */
    char version[32];    /* of the format, as the input says; "": unknown */
    const char *writer;  /* the program that has written it; NULL: that of the format */
    unsigned rank;       /* of a team that has opened it; 0: this process */
    uint32_t input;      /* among those that this rank was told to open */
    int64_t modified;    /* s; of such an input */
    rocl_status refused; /* that rank could not open it; the remark says why */
    bool on_node;        /* only ranks of its node see it */
    bool truncated;      /* some of its input is left out that cannot be counted */
    bool single;         /* it has one capture */
    bool joined;         /* made of slices, in a temporary file */
    bool slice;          /* others may hold more of its processes */
    bool opened;
    bool deferred; /* not opened before all inputs are recognised: more files may come */
} rocl_source;

/* Does the process say when it ran? */
static inline bool rocl_knows_times(const rocl_process *p)
{
    return p->init > 0 && p->fini >= p->init;
}

/* Are times of events peeked at, since processes do not say when they ran? */
static inline bool rocl_peeks_at_times(const rocl_model_capture *c)
{
    bool known = c->pub.process_count > 0;
    for (uint32_t i = 0; i < c->pub.process_count; i++)
        known &= rocl_knows_times(&c->pub.processes[i]);
    return !known && c->source->ops->peek_times;
}

/* Recognises an input and adds a source for it to the trace. */
rocl_status rocl_source_recognise(rocl_trace *t, const char *path, rocl_error *err);

/* A file that is written while it is read looks damaged. Returns `st`, the status of the reader; if
 * that is ROCL_INPUT and the file has changed, the error says so instead. */
rocl_status rocl_source_explain(const rocl_source *s, rocl_status st, rocl_error *err);
/* Explains `st` likewise if it is unknown which of the inputs could not be read. */
rocl_status rocl_sources_explain(const rocl_trace *t, rocl_status st, rocl_error *err);

/* Opens the sources of the trace from `first` on, before `end`. Their captures come in their order,
 * and a failure is that of the first to fail. */
rocl_status rocl_sources_open(rocl_trace *t, size_t first, size_t end, rocl_error *err);

/* An input that was opened independently of those before it. */
typedef struct rocl_opened {
    rocl_source *source; /* with its captures, owned by the caller. NULL: it could not be opened */
    rocl_status status;
    char *why;          /* to be freed; NULL: it was opened */
    const char *remark; /* owned by the source, until its captures are added */
} rocl_opened;

/* Opens each input that can be opened, independently. `all` is zeroed. Fails only if memory is
 * out. */
rocl_status rocl_sources_open_alone(rocl_trace *t, char *const *paths, size_t n, rocl_opened *all,
                                    rocl_error *err);
/* Adds a source to the trace, which then owns it. If it is open, rocl_sources_open() adds its
 * captures. */
rocl_status rocl_source_add(rocl_trace *t, rocl_source *s, rocl_error *err);

void rocl_source_free(rocl_source *s);         /* with captures that no trace has yet */
void rocl_capture_free(rocl_model_capture *c); /* while its source is there */
