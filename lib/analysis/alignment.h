/* The kernels of two sides of a comparison, aligned in their order: the pairs, and the places where
 * the sides differ.
 *
 * Kernels are aligned lane by lane, so that it does not matter what other streams did meanwhile.
 * Lanes of the same process are paired by how many kernels they have in common, the most first;
 * those with none in common by their order. */
#pragma once

#include "analysis/side_steps.h"

/* A place: kernels of A that have no partner there, and kernels of B in their stead. Either may be
 * none. Those that have moved are among them. In texts, see below. */
typedef struct rocl_hunk {
    uint32_t begin[2], end[2];
} rocl_hunk;

typedef struct rocl_alignment {
    const rocl_side_steps *side[2];
    uint32_t *text[2];         /* kernels by lane: indices in side[]->kernels */
    uint32_t *lane_begin[2];   /* by lane: where it begins in the text; one more at the end */
    uint32_t *lane_partner[2]; /* by lane: that of the other side, or ROCL_NONE */
    uint32_t *partner[2];      /* by place in the text: that in the other text, + 1; 0: none */
    bool *moved[2];            /* by place in the text: the partner is elsewhere */
    rocl_hunk *hunks;          /* by lane of A and place, then those of B's further lanes */
    size_t hunk_count, hunk_cap;
    bool minimal; /* no other alignment leaves fewer kernels without a partner in its lane */
} rocl_alignment;

/* same: by key of a name the one that it counts as; NULL: each is itself. Free it also after a
 * failure. The sides and `same` must stay. */
rocl_status rocl_alignment_make(rocl_alignment *g, const rocl_side_steps *a,
                                const rocl_side_steps *b, const uint32_t *same, rocl_error *err);
void rocl_alignment_free(rocl_alignment *g);

static inline const rocl_side_kernel *rocl_aligned_kernel(const rocl_alignment *g, unsigned side,
                                                          uint32_t place)
{
    return &g->side[side]->kernels[g->text[side][place]];
}
