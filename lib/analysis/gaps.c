/* The gaps of a sweep: from the end of all work so far to the start of the next piece. */
#include "analysis/busy.h"

static unsigned bucket_of(int64_t ns)
{
    unsigned n = 0;
    for (int64_t limit = 1000; n < BUCKETS - 1 && ns >= limit; limit *= 10)
        n++;
    return n;
}

static void remember_longest(idleness *s, const gap *g)
{
    unsigned at = s->longest_count;
    if (at == LONGEST && g->length <= s->longest[at - 1].length)
        return;
    if (at < LONGEST)
        s->longest_count++;
    else
        at--;
    for (; at > 0 && s->longest[at - 1].length < g->length; at--)
        s->longest[at] = s->longest[at - 1];
    s->longest[at] = *g;
}

int64_t rocl_cover_before(const cover *c, int64_t t)
{
    return c->measure - (c->until > t ? c->until - t : 0);
}

static rocl_status take_gap(busy *b, sweep *s, const piece *p, rocl_error *err)
{
    idleness *i = &s->idle;
    const gap g = {i->last,     p->start - i->last, i->last_name, p->name,
                   GAP_UNKNOWN, ROCL_NONE,          ROCL_NONE,    0};
    unsigned n = bucket_of(g.length);
    if (g.length < b->c.options->min_gap)
        return ROCL_OK;
    i->count++;
    i->total += g.length;
    i->bucket_count[n]++;
    i->bucket_total[n] += g.length;
    remember_longest(i, &g);
    rocl_status st = rocl_samples_add(b->lengths, 0, (uint32_t)(s - b->sweeps), g.length, err);
    int64_t copied = rocl_cover_before(&s->covers[C_COPY], p->start) - i->copied;
    return st == ROCL_OK && b->causes ? rocl_gap_causes_add(b, s, &g, p, copied, err) : st;
}

static bool counts(const busy *b, part p)
{
    switch (b->c.options->gaps_between) {
    case ROCL_BETWEEN_KERNELS:
        return p != COPY;
    case ROCL_BETWEEN_COPIES:
        return p == COPY;
    default:
        return true;
    }
}

rocl_status rocl_gaps_take(busy *b, sweep *s, const piece *p, rocl_error *err)
{
    idleness *i = &s->idle;
    rocl_status st = ROCL_OK;
    if (i->any && !i->marked && p->start > i->last) {
        i->copied = rocl_cover_before(&s->covers[C_COPY], i->last);
        i->marked = true;
    }
    if (!counts(b, p->part))
        return ROCL_OK;
    if (b->causes) {
        int64_t end = rocl_gap_causes_end(b, p->process);
        i->program_end = end > i->program_end ? end : i->program_end;
    }
    if (!i->any)
        i->first = i->last = p->start;
    else if (p->start > i->last)
        st = take_gap(b, s, p, err);
    if (!i->any || p->end >= i->last) {
        i->marked = i->marked && p->end == i->last;
        i->last = p->end;
        i->last_name = p->name;
    }
    i->any = true;
    return st;
}
