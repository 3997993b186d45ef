/* What a sweep is of: a GPU, or a lane, which is what one stream or one queue of a process did on a
 * GPU. Places are numbers whose order is that of the rows: GPUs, then streams, then queues. */
#include <stdlib.h>

#include "analysis/busy.h"

#define QUEUE_BIT (UINT64_C(1) << 32)
#define GPU_SHIFT 33

/* Streams and queues are counted through all captures. */
rocl_status rocl_busy_number_lanes(busy *b, rocl_error *err)
{
    size_t n = b->c.trace->capture_count;
    b->first_stream = calloc(n + 1, sizeof *b->first_stream);
    b->first_queue = calloc(n + 1, sizeof *b->first_queue);
    if (!b->first_stream || !b->first_queue)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        const rocl_capture *c = &b->c.trace->captures[i]->pub;
        b->first_stream[i + 1] = b->first_stream[i] + c->stream_count;
        b->first_queue[i + 1] = b->first_queue[i] + c->queue_count;
    }
    if (b->first_stream[n] >= QUEUE_BIT || b->first_queue[n] >= QUEUE_BIT)
        return rocl_fail(err, ROCL_INTERNAL, "too many streams or queues");
    return ROCL_OK;
}

uint64_t rocl_busy_stream(const busy *b, uint64_t gpu, const rocl_capture *c, uint32_t stream)
{
    if (stream >= c->stream_count)
        return ROCL_NO_PLACE;
    return gpu << GPU_SHIFT | (b->first_stream[c->index] + stream);
}

uint64_t rocl_busy_queue(const busy *b, uint64_t gpu, const rocl_capture *c, uint32_t queue)
{
    if (queue >= c->queue_count)
        return ROCL_NO_PLACE;
    return gpu << GPU_SHIFT | QUEUE_BIT | (b->first_queue[c->index] + queue);
}

static void fill_lane(const busy *b, rocl_tables *out, rocl_datum *r, uint64_t place)
{
    bool queue = place & QUEUE_BIT;
    const uint64_t *first = queue ? b->first_queue : b->first_stream;
    uint64_t at = place & (QUEUE_BIT - 1);
    size_t i = 0;
    while (at >= first[i + 1])
        i++;
    const rocl_capture *c = &b->c.trace->captures[i]->pub;
    const rocl_queue *lane = queue ? &c->queues[at - first[i]] : &c->streams[at - first[i]];
    if (lane->process < c->process_count)
        r[0] = rocl_datum_int(c->processes[lane->process].pid);
    r[1] = queue ? rocl_datum_text(out, "queue", 5) : rocl_datum_text(out, "stream", 6);
    r[2] = rocl_cell_of_text(b->c.trace, out, lane->label);
}

rocl_datum *rocl_busy_row(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s)
{
    rocl_datum *r = rocl_table_row(t);
    uint64_t gpu = b->lanes ? s->place >> GPU_SHIFT : s->place;
    if (!r)
        return NULL;
    if (b->lanes) {
        fill_lane(b, out, r, s->place);
        r += LANE_COLUMNS;
    }
    r[0] = rocl_cell_of_gpu(b->c.trace, out, &b->gpus.all[gpu]);
    return r;
}
