#include "timeline/drawing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A drawing: whose turn it is to draw a block of it, and whether there will be another one. */
typedef struct drawer {
    alignas(ROCL_CACHE_LINE) pthread_mutex_t lock;
    pthread_cond_t moved;
    uint64_t next;
    atomic_bool over;
    const rocl_drawing_ops *ops;
    rocl_drawing *drawing;
    uint64_t weight;
    bool begun; /* the first record has been read */
} drawer;

typedef struct drawings {
    const rocl_timeline *timeline;
    const rocl_drawing_ops *ops;
    void *sink;
    rocl_pipe *pipe;
    void *all; /* the sink's structs */
    drawer *drawers;
    size_t count;
} drawings;

static rocl_status fill_block(drawer *d, rocl_buf *block, rocl_error *err)
{
    rocl_drawing *p = d->drawing;
    rocl_status st = ROCL_OK;
    uint64_t records = 0;
    d->ops->begin_block(p, block);
    if (!d->begun) {
        st = rocl_drawing_begin(p, err);
        d->begun = true;
    }
    while (st == ROCL_OK && p->more && *p->filled < d->ops->full) {
        st = rocl_timeline_draw(p, err);
        records++;
    }
    if (st != ROCL_OK || !p->more)
        atomic_store(&d->over, true);
    rocl_progress(p->timeline->encoder.trace, records);
    return st == ROCL_OK && block && block->failed ? rocl_fail_memory(err) : st;
}

/* Turns are handed out in order, so some worker has the one before, and will finish it. */
rocl_status rocl_draw_block(rocl_block *block, rocl_error *err)
{
    drawer *d = block->user;
    uint64_t turn;
    if (!d)
        return ROCL_OK;
    memcpy(&turn, block->in.data, sizeof turn);
    block->in.len = 0;
    pthread_mutex_lock(&d->lock);
    while (d->next != turn)
        pthread_cond_wait(&d->moved, &d->lock);
    const rocl_status st = atomic_load(&d->over) ? ROCL_OK : fill_block(d, &block->in, err);
    d->next++;
    pthread_cond_broadcast(&d->moved);
    pthread_mutex_unlock(&d->lock);
    return st;
}

/* ---- drawings -------------------------------------------------------------------------------- */

static rocl_status open_drawings(drawings *g, bool cut_work, rocl_error *err)
{
    const rocl_timeline *t = g->timeline;
    const rocl_drawing_ops *ops = g->ops;
    rocl_draw_range cuts[ROCL_DRAWN_AT_ONCE_MAX];
    size_t count = rocl_cut_draw_ranges(t->sequences, t->sequence_count, ops->weigh, ops->least,
                                        ROCL_DRAWN_AT_ONCE_MAX, cuts);
    const rocl_status st =
        rocl_cut_pieces(t->sorter, t->sequences, cut_work, ops->least, cuts, &count, err);
    if (st != ROCL_OK)
        return st;
    g->all = rocl_cache_line_calloc(count, ops->drawing_size);
    g->drawers = rocl_cache_line_calloc(count, sizeof *g->drawers);
    if (!g->all || !g->drawers)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        rocl_drawing *p = (void *)((char *)g->all + i * ops->drawing_size);
        *p = (rocl_drawing){.timeline = t,
                            .number = i,
                            .at = cuts[i].first,
                            .last = cuts[i].last,
                            .piece = cuts[i].piece,
                            .cut = cuts[i].piece                        ? cuts[i].first
                                   : i + 1 < count && cuts[i + 1].piece ? cuts[i].last - 1
                                                                        : SIZE_MAX};
        drawer *d = &g->drawers[g->count++];
        *d = (drawer){.ops = ops, .drawing = p, .weight = cuts[i].weight};
        pthread_mutex_init(&d->lock, NULL);
        pthread_cond_init(&d->moved, NULL);
        ops->open(p, g->sink);
    }
    return rocl_start_draw_ranges(t->sorter, t->sequences, cuts, count, err);
}

/* Pieces of a sequence share its lanes. */
static void close_drawings(drawings *g, rocl_timeline_counts *counts)
{
    uint64_t lanes = 0; /* of the sequence, in the pieces so far */
    for (size_t i = 0; i < g->count; i++) {
        drawer *d = &g->drawers[i];
        rocl_drawing *p = d->drawing;
        const uint64_t here = p->counts.lanes - p->lanes_before;
        lanes = p->piece ? lanes : 0;
        rocl_timeline_counts_add(counts, &p->counts);
        counts->lanes -= here < lanes ? here : lanes;
        g->ops->close(p, lanes);
        lanes = lanes > here ? lanes : here;
        rocl_drawing_free(p);
        pthread_cond_destroy(&d->moved);
        pthread_mutex_destroy(&d->lock);
    }
    free(g->drawers);
    free(g->all);
}

/* The drawing with the least share of its weight drawn, so that all end at about the same time. */
static size_t find_laggard(const drawings *g, const uint64_t *turns)
{
    size_t least = g->count;
    for (size_t i = 0; i < g->count; i++)
        if (!atomic_load(&g->drawers[i].over) &&
            (least == g->count ||
             turns[i] * g->drawers[least].weight < turns[least] * g->drawers[i].weight))
            least = i;
    return least;
}

/* The end of a drawing may become known late: it then gets further turns, in which it draws
 * nothing. That does not change the order of the others. */
static rocl_status draw_side_by_side(const drawings *g, rocl_error *err)
{
    uint64_t turns[ROCL_DRAWN_AT_ONCE_MAX] = {0};
    rocl_status st = g->ops->flush(g->sink, true, err);
    for (size_t i; st == ROCL_OK && (i = find_laggard(g, turns)) < g->count;) {
        rocl_block *block;
        st = rocl_pipe_get(g->pipe, &block, err);
        if (st != ROCL_OK)
            break;
        block->user = &g->drawers[i];
        rocl_buf_put(&block->in, &turns[i], sizeof turns[i]);
        turns[i]++;
        /* Then the turn would never be taken, and later ones would wait. */
        const bool failed = block->in.failed;
        st = rocl_pipe_put(g->pipe, block, err);
        if (st == ROCL_OK && failed)
            st = rocl_fail_memory(err);
    }
    const rocl_status drained = rocl_pipe_drain(g->pipe, st ? NULL : err);
    return st ? st : drained;
}

rocl_status rocl_draw_capture(const rocl_timeline *t, const rocl_drawing_ops *ops, void *sink,
                              rocl_pipe *pipe, bool cut_work, rocl_timeline_counts *counts,
                              rocl_error *err)
{
    drawings g = {.timeline = t, .ops = ops, .sink = sink, .pipe = pipe};
    rocl_status st = open_drawings(&g, cut_work, err);
    if (st == ROCL_OK && g.count > 1)
        st = draw_side_by_side(&g, err);
    while (st == ROCL_OK && g.count == 1 && !atomic_load(&g.drawers->over)) {
        st = fill_block(g.drawers, NULL, err);
        if (st == ROCL_OK)
            st = ops->flush(sink, false, err);
    }
    close_drawings(&g, counts);
    return st;
}
