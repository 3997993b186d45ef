/* A file that is written block by block through a pipe of workers: for sinks with one file. */
#pragma once

#include "base/out.h"
#include "base/pool.h"
#include "trace/joint.h"
#include "trace/pipeline.h"

/* Makes the text of a block, to `out`, of what was put into `in`. Concurrent; in the order of the
 * file for each worker only. */
typedef rocl_status rocl_piped_format_fn(void *ctx, unsigned worker, const rocl_buf *in,
                                         rocl_buf *out, rocl_error *err);

typedef struct rocl_piped {
    rocl_out *out;
    rocl_pipe *pipe;
    rocl_block *block;            /* under construction; NULL after a failure */
    rocl_buf lost;                /* takes what is written after a failure */
    int level;                    /* of rocl_piped_open_text: of gzip; 0: none */
    rocl_piped_format_fn *format; /* NULL: the text itself is put */
    void *ctx;                    /* its first argument */
    size_t weight; /* of what rocl_piped_end_record has counted since the last block */
    uint64_t rows; /* and what rocl_piped_end_row has counted since the last block */
} rocl_piped;

/* Opens the file and the pipe. Call rocl_piped_discard in the end even if this fails. */
rocl_status rocl_piped_open(rocl_piped *s, const char *path, unsigned jobs,
                            const rocl_pipe_ops *ops, void *ctx, rocl_error *err);

/* Opens a file that the ranks of a team write together: see trace/joint.h. A sink calls
 * rocl_piped_end_part() at the end of each capture that does not join the next one. */
rocl_status rocl_piped_open_joint(rocl_piped *s, rocl_trace *t, const char *path,
                                  rocl_joint_order order, const rocl_pipe_ops *ops, void *ctx,
                                  rocl_error *err);
rocl_status rocl_piped_end_part(rocl_piped *s, rocl_trace *t, rocl_error *err);

/* Opens a file whose blocks are written as they are, or packed by gzip: if that is wanted or
 * the name ends in .gz. level: of ROCL_*_LEVEL, or below 0. */
rocl_status rocl_piped_open_text(rocl_piped *s, const char *path, bool gzip, int level,
                                 unsigned jobs, rocl_error *err);

/* Opens a file whose text the workers make of what is put. In a team it is one of those that
 * the trace has, see rocl_joint_out(). */
rocl_status rocl_piped_open_format(rocl_piped *s, rocl_trace *t, const char *path, bool gzip,
                                   int level, rocl_piped_format_fn *format, void *ctx,
                                   rocl_error *err);

/* The buffer of the next block. */
static inline rocl_buf *rocl_piped_buf(rocl_piped *s)
{
    return s->block ? &s->block->in : &s->lost;
}

/* Passes the block on, and begins the next one. After a failure reports it again. */
rocl_status rocl_piped_put(rocl_piped *s, rocl_error *err);
/* A row is done: passes the block on when it is full, and shows the progress of the rows in it. */
rocl_status rocl_piped_end_row(rocl_piped *s, rocl_trace *t, rocl_error *err);
/* A record that workers turn into text is done. The length of records may differ between runs,
 * as text ids do, but block ends must not, as they affect gzip. So the weight is the approximate
 * length of the text. */
rocl_status rocl_piped_end_record(rocl_piped *s, rocl_trace *t, size_t weight, rocl_error *err);
/* Passes the last block on, and waits until all is written. The file stays open. */
rocl_status rocl_piped_finish(rocl_piped *s, rocl_error *err);
/* Finishes the file and gives it its name, at once or with the other outputs of the reading; *bytes
 * is its size. */
rocl_status rocl_piped_commit(rocl_piped *s, rocl_trace *t, uint64_t *bytes, rocl_error *err);
/* Commits a finished file, and sums what the ranks of a team have counted. */
rocl_status rocl_piped_commit_joint(rocl_piped *s, rocl_trace *t, rocl_joint_sums *sums,
                                    rocl_error *err);
/* Frees all of s, and leaves no trace of a file that is not committed. Zeros are fine. */
void rocl_piped_discard(rocl_piped *s);
