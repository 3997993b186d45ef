/* Events with times of their own. A record is made of numbers only, so it is built beside the chunk
 * and copied: its size is known then. */
#include "capture/core.h"

enum { BODY_MAX = 256 };

typedef struct record_refs {
    const rocl_def *defs[4];
    rocl_site *name;
    uint32_t ids[4], name_id;
} record_refs;

static void put_record(rocl_writer *w, uint8_t type, const rocl_cap_times *t, const uint64_t *v,
                       size_t n)
{
    const unsigned clock = (unsigned)t->clock & 3;
    uint8_t body[BODY_MAX], *p = rocl_varint_put(body, clock);
    p = rocl_varint_put(p, rocl_zigzag((int64_t)(t->start - w->gpu_last[clock])));
    p = rocl_varint_put(p, rocl_zigzag((int64_t)(t->end - t->start)));
    p = rocl_varint_put(p, t->tid);
    p = rocl_varint_put(p, t->correlation);
    w->gpu_last[clock] = t->start;
    for (size_t i = 0; i < n; i++)
        p = rocl_varint_put(p, v[i]);
    size_t len = (size_t)(p - body);
    p = rocl_put_sized(w->pos, type, len);
    memcpy(p, body, len);
    rocl_commit(w, p + len, 1);
}

/* A writer whose chunk has everything that the record refers to, until rocl_leave; NULL: nothing is
 * to be recorded. */
static rocl_writer *enter_and_define(record_refs *r)
{
    rocl_writer *w = rocl_enter();
    if (!w)
        return NULL;
    uint32_t generation;
    bool ok = rocl_reserve(w, BODY_MAX);
    do {
        generation = w->generation;
        for (int i = 0; i < 4 && ok; i++)
            r->ids[i] = rocl_def_id(w, r->defs[i], BODY_MAX, &ok);
        if (ok && r->name)
            ok = (r->name_id = rocl_site_id(w, r->name, BODY_MAX)) != 0;
        ok = ok && rocl_reserve(w, BODY_MAX);
    } while (ok && w->generation != generation);
    if (ok)
        return w;
    rocl_leave();
    return NULL;
}

void rocl_cap_dispatched(const rocl_cap_dispatch *d)
{
    record_refs r = {.defs = {d->agent, d->queue, d->stream, d->kernel}};
    rocl_writer *w = enter_and_define(&r);
    if (!w)
        return;
    const uint64_t v[] = {r.ids[0],        r.ids[1],        r.ids[2],        r.ids[3],
                          d->dispatch_id,  d->workgroup[0], d->workgroup[1], d->workgroup[2],
                          d->grid[0],      d->grid[1],      d->grid[2],      d->private_segment,
                          d->group_segment};
    put_record(w, ROCL_REC_DISPATCH, &d->t, v, sizeof v / sizeof *v);
    rocl_leave();
}

void rocl_cap_copied(const rocl_cap_copy *c)
{
    record_refs r = {.defs = {c->src, c->dst, c->queue, c->stream}, .name = c->name};
    rocl_writer *w = enter_and_define(&r);
    if (!w)
        return;
    const uint64_t v[] = {r.name_id, r.ids[0], r.ids[1],       r.ids[2],
                          r.ids[3],  c->size,  c->src_address, c->dst_address};
    put_record(w, ROCL_REC_COPY, &c->t, v, sizeof v / sizeof *v);
    rocl_leave();
}

void rocl_cap_allocated(const rocl_cap_alloc *a)
{
    record_refs r = {.defs = {a->agent, a->queue, a->stream}, .name = a->name};
    rocl_writer *w = enter_and_define(&r);
    if (!w)
        return;
    const uint64_t v[] = {r.name_id, r.ids[0], r.ids[1],   r.ids[2], a->op,
                          a->level,  a->size,  a->address, a->flags};
    put_record(w, ROCL_REC_ALLOC, &a->t, v, sizeof v / sizeof *v);
    rocl_leave();
}

void rocl_cap_waited(const rocl_cap_barrier *b)
{
    record_refs r = {.defs = {b->agent, b->queue, b->stream}, .name = b->name};
    rocl_writer *w = enter_and_define(&r);
    if (!w)
        return;
    const uint64_t v[] = {r.name_id, r.ids[0], r.ids[1], r.ids[2]};
    put_record(w, ROCL_REC_BARRIER, &b->t, v, sizeof v / sizeof *v);
    rocl_leave();
}

/* The value is its bits: what a varint makes of them is at most ten bytes. */
void rocl_cap_sampled(rocl_def *counter, rocl_def *subject, uint64_t time, rocl_chunk_clock clock,
                      double value)
{
    record_refs r = {.defs = {counter, subject}};
    rocl_writer *w = counter ? enter_and_define(&r) : NULL;
    uint64_t v[3];
    if (!w)
        return;
    v[0] = r.ids[0];
    memcpy(&v[1], &value, sizeof value);
    v[2] = r.ids[1];
    put_record(w, ROCL_REC_SAMPLE, &(rocl_cap_times){time, time, clock, 0, 0}, v, 3);
    rocl_leave();
}
