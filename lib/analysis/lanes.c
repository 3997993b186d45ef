/* Lanes: streams, queues, and work without either. */
#include "analysis/lanes.h"

rocl_lane_key rocl_lane_of(const rocl_batch *b, size_t i)
{
    const rocl_capture *c = b->capture;
    const rocl_event *e = rocl_batch_event(b, i);
    const rocl_work_place at = rocl_work_place_of(b->kind, e);
    rocl_lane_key k = {ROCL_LANE_NONE, c->index, e->process, 0};
    if (at.stream < c->stream_count) {
        k.kind = ROCL_LANE_STREAM;
        k.index = at.stream;
    } else if (at.queue < c->queue_count) {
        k.kind = ROCL_LANE_QUEUE;
        k.index = at.queue;
    }
    return k;
}

rocl_lane_name rocl_name_lane(const rocl_trace *t, const rocl_lane_key *k)
{
    const rocl_capture *c = &t->captures[k->capture]->pub;
    const rocl_process *p = &c->processes[k->process];
    rocl_lane_name n = {.host = rocl_machine_name(t, p->machine),
                        .name = ROCL_NONE,
                        .rank = p->rank,
                        .pid = p->pid};
    if (k->kind != ROCL_LANE_NONE) {
        const rocl_queue *q =
            k->kind == ROCL_LANE_STREAM ? &c->streams[k->index] : &c->queues[k->index];
        n.name = q->label;
        n.id = q->id;
    }
    return n;
}

int rocl_compare_lanes(const rocl_lane_key *a, const rocl_lane_name *x, const rocl_lane_key *b,
                       const rocl_lane_name *y)
{
    int c = rocl_number_order(a->capture, b->capture);
    c = c ? c : rocl_number_order(x->pid, y->pid);
    c = c ? c : rocl_number_order(a->process, b->process);
    c = c ? c : rocl_number_order(a->kind, b->kind);
    c = c ? c : rocl_number_order(x->id, y->id);
    return c ? c : rocl_number_order(a->index, b->index);
}
