/* Drawing a capture into a file that is written as the blocks of a pipe. Its parts are drawn at the
 * same time, and take turns in the file: a block of one, then a block of another. Whose turn it is
 * depends on what the parts weigh alone, so the file is the same for any number of workers. The
 * worker that takes a part's block from the pipe waits until the blocks before it of the same part
 * are drawn, draws its own, and then treats it as any other block. */
#ifndef ROCL_TIMELINE_DRAWING_H
#define ROCL_TIMELINE_DRAWING_H

#include "base/pool.h"
#include "timeline/timeline.h"

typedef struct rocl_drawing_ops {
    size_t part_size; /* of the sink's struct for a part, which begins with a rocl_timeline_part */
    /* Bytes that a sequence becomes, about: only how well parts keep step depends on it. */
    uint64_t (*weigh)(const rocl_sequence *s);
    uint64_t least; /* no part weighs much less */
    size_t full;    /* a block takes no more once *p->filled is so much */
    /* Called for the parts in order, on one thread. All that is the sink's own in p is 0 in `open`.
     * lanes: how many the earlier pieces of the part's sequence have; 0 if it is no piece. */
    void (*open)(rocl_timeline_part *p, void *sink);
    void (*close)(rocl_timeline_part *p, uint64_t lanes);
    /* What is drawn from now on goes to this block of the pipe; NULL: to the one that the file has
     * at hand. Sets p->filled. */
    void (*begin_block)(rocl_timeline_part *p, rocl_buf *block);
    /* Puts the block that the file has at hand in the pipe if it is full; `all`: in any case. */
    rocl_status (*flush)(void *sink, bool all, rocl_error *err);
} rocl_drawing_ops;

/* Draws the capture at hand, whose sequences are counted. A part alone draws on this thread, to the
 * block at hand: there may be many small captures. cut_work: see rocl_cut_pieces(). Adds to
 * *counts. When it returns, the pipe holds no block that has yet to be drawn. */
rocl_status rocl_draw_capture(const rocl_timeline *t, const rocl_drawing_ops *ops, void *sink,
                              rocl_pipe *pipe, bool cut_work, rocl_timeline_counts *counts,
                              rocl_error *err);

/* First thing in the pipe's transform: draws a block that has a `user`, into its `in`. */
rocl_status rocl_draw_block(rocl_block *block, rocl_error *err);

#endif
