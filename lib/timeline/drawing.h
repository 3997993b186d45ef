/* The drawing of a capture for sinks whose file is the blocks of a pipe: its parts draw side by
 * side, a block of one after a block of another. Whose block is next depends on what the parts
 * weigh, so the file is the same for any number of workers. A worker of the pipe that has a part's
 * block waits for the part's blocks before, draws, and goes on with the block as with any other. */
#ifndef ROCL_TIMELINE_DRAWING_H
#define ROCL_TIMELINE_DRAWING_H

#include "base/pool.h"
#include "timeline/timeline.h"

typedef struct rocl_drawing_ops {
    size_t part_size; /* of the sink's struct for a part, which begins with a rocl_timeline_part */
    /* Bytes that a sequence becomes, about: only how well parts keep step depends on it. */
    uint64_t (*weigh)(const rocl_sequence *s);
    uint64_t least; /* no part weighs much less */
    size_t full;    /* what *p->filled is in a block that takes no more */
    /* The parts in their order, on one thread. What is the sink's own is 0 when they are opened.
     * lanes: of the sequence that a piece is of, those before it have had so many. */
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
