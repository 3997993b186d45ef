/* Drawing a capture into a file that is written as the blocks of a pipe. Several drawings are made
 * at the same time, and take turns in the file: a block of one, then a block of another. Whose turn
 * it is depends only on their weights, so the file is the same for any number of workers. The
 * worker that takes a block of a drawing from the pipe waits until the blocks before it of the same
 * drawing are drawn, draws its own, and then treats it as any other block. */
#pragma once

#include "base/pool.h"
#include "timeline/timeline.h"

typedef struct rocl_drawing_ops {
    size_t drawing_size; /* of the sink's struct for one, which begins with a rocl_drawing */
    /* Approximate bytes of a sequence in the file: affects only how well they keep pace. */
    uint64_t (*weigh)(const rocl_sequence *s);
    uint64_t least; /* a drawing does not weigh much less */
    size_t full;    /* a block is full once *p->filled reaches this */
    /* Called for the drawings in order, on one thread. In `open` the sink's own members of p are 0.
     * lanes: number of lanes of the earlier pieces of its sequence; 0 if it is not a piece. */
    void (*open)(rocl_drawing *p, void *sink);
    void (*close)(rocl_drawing *p, uint64_t lanes);
    /* Sets where to draw from now on: this block of the pipe; NULL: the file's current block. Sets
     * p->filled. */
    void (*begin_block)(rocl_drawing *p, rocl_buf *block);
    /* Puts the file's current block in the pipe if it is full; `all`: in any case. */
    rocl_status (*flush)(void *sink, bool all, rocl_error *err);
} rocl_drawing_ops;

/* Draws the current capture, whose sequences are counted. A single drawing is made on this thread,
 * in the current block: there may be many small captures. cut_work: see rocl_cut_pieces(). Adds to
 * *counts. When it returns, all blocks in the pipe are drawn. */
rocl_status rocl_draw_capture(const rocl_timeline *t, const rocl_drawing_ops *ops, void *sink,
                              rocl_pipe *pipe, bool cut_work, rocl_timeline_counts *counts,
                              rocl_error *err);

/* To be called first in the pipe's transform: draws a block that has a `user`, into its `in`. */
rocl_status rocl_draw_block(rocl_block *block, rocl_error *err);
