#include "filter/stages.h"

/* Kinds that last. Instants, samples and streaming counter values are points: they have no duration
 * to judge and pass. Counter values carry the times of their dispatch and share its fate. */
#define LASTING                                                                                    \
    (ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_DISPATCH) |                     \
     ROCL_BIT(ROCL_COPY) | ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH) |                         \
     ROCL_BIT(ROCL_COUNTER) | ROCL_BIT(ROCL_GRAPH) | ROCL_BIT(ROCL_HIP_EVENT) |                    \
     ROCL_BIT(ROCL_BARRIER))

void rocl_duration_judge(int64_t min, const rocl_batch *b, uint8_t *keep)
{
    if (!(ROCL_BIT(b->kind) & LASTING))
        return;
    size_t size = rocl_kind_size(b->kind);
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        /* Unsigned: the times of a hostile file may be further apart than int64. */
        keep[i] &= (uint64_t)e->end - (uint64_t)e->start >= (uint64_t)min;
    }
}
