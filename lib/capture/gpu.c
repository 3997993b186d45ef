/* Events with times of their own. A record is made of numbers only, so it is built beside the chunk
 * and copied: its size is known then. */
#include "capture/core.h"

enum { BODY_MAX = 256 };

/* Records numbers v[n], after the name (NULL: without one) and the ids of `count` definitions; the
 * process of a sample comes last. */
static void record_work(rocl_record_type type, const rocl_cap_times *t, rocl_site *name,
                        const rocl_def *const *defs, unsigned count, const uint64_t *v, size_t n)
{
    const bool sample = type == ROCL_REC_SAMPLE;
    uint32_t generation, ids[5] = {0}, name_id = 0;
    rocl_writer *w = rocl_enter();
    if (!w)
        return;
    /* Everything that the record refers to must be in the chunk that it will be in. */
    bool ok = rocl_reserve(w, BODY_MAX);
    do {
        generation = w->generation;
        for (unsigned i = 0; i < count + sample && ok; i++)
            ids[i] = rocl_def_id(w, defs[i], BODY_MAX, &ok);
        if (ok && name)
            ok = (name_id = rocl_site_id(w, name, BODY_MAX)) != 0;
        ok = ok && rocl_reserve(w, BODY_MAX);
    } while (ok && w->generation != generation);
    if (ok) {
        const unsigned clock = (unsigned)t->clock & 3;
        uint8_t body[BODY_MAX], *p = rocl_varint_put(body, clock);
        p = rocl_varint_put(p, rocl_zigzag((int64_t)(t->start - w->gpu_last[clock])));
        p = rocl_varint_put(p, rocl_zigzag((int64_t)(t->end - t->start)));
        p = rocl_varint_put(p, t->tid);
        p = rocl_varint_put(p, t->correlation);
        w->gpu_last[clock] = t->start;
        if (name)
            p = rocl_varint_put(p, name_id);
        for (unsigned i = 0; i < count; i++)
            p = rocl_varint_put(p, ids[i]);
        for (size_t i = 0; i < n; i++)
            p = rocl_varint_put(p, v[i]);
        if (sample)
            p = rocl_varint_put(p, ids[count]);
        p = rocl_put_record(w->pos, (uint8_t)type, body, (size_t)(p - body));
        rocl_commit(w, p, 1);
    }
    rocl_leave();
}

void rocl_cap_dispatched(const rocl_cap_dispatch *d)
{
    const rocl_def *const defs[] = {d->agent, d->queue, d->stream, d->kernel};
    const uint64_t v[] = {d->dispatch_id,  d->workgroup[0],    d->workgroup[1],
                          d->workgroup[2], d->grid[0],         d->grid[1],
                          d->grid[2],      d->private_segment, d->group_segment};
    record_work(ROCL_REC_DISPATCH, &d->t, NULL, defs, 4, v, sizeof v / sizeof *v);
}

void rocl_cap_copied(const rocl_cap_copy *c)
{
    const rocl_def *const defs[] = {c->src, c->dst, c->queue, c->stream};
    const uint64_t v[] = {c->size, c->src_address, c->dst_address};
    record_work(ROCL_REC_COPY, &c->t, c->name, defs, 4, v, 3);
}

void rocl_cap_allocated(const rocl_cap_alloc *a)
{
    const rocl_def *const defs[] = {a->agent, a->queue, a->stream};
    const uint64_t v[] = {a->op, a->level, a->size, a->address, a->flags};
    record_work(ROCL_REC_ALLOC, &a->t, a->name, defs, 3, v, 5);
}

void rocl_cap_waited(const rocl_cap_barrier *b)
{
    const rocl_def *const defs[] = {b->agent, b->queue, b->stream};
    record_work(ROCL_REC_BARRIER, &b->t, b->name, defs, 3, NULL, 0);
}

/* The value is its bits: what a varint makes of them is at most ten bytes. */
void rocl_cap_sampled(rocl_def *counter, rocl_def *subject, uint64_t time, rocl_chunk_clock clock,
                      double value)
{
    const rocl_def *const defs[] = {counter, subject};
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (counter)
        record_work(ROCL_REC_SAMPLE, &(rocl_cap_times){time, time, clock, 0, 0}, NULL, defs, 1,
                    &bits, 1);
}
