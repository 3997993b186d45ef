/* How many kernels ran at once on a GPU: a sweep over starts and ends. */
#include "analysis/busy.h"

static rocl_status next_end(busy *b, rocl_error *err)
{
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_next(b->ends, &rec, &b->more_ends, err);
    if (st == ROCL_OK && b->more_ends) {
        b->end[0] = rec.key[0];
        b->end[1] = rec.key[1];
    }
    return st;
}

/* A kernel of no length may end before its start is seen, at the same time: no time passes with a
 * negative number. */
static void pass_time(levels *l, int64_t until)
{
    if (until > l->time)
        l->ns[l->now < LEVELS ? l->now : LEVELS] += until - l->time;
    l->time = until;
}

/* The ends of kernels up to a time are taken before what starts then. */
static rocl_status take_ends(busy *b, levels *l, uint64_t place, int64_t until, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && b->more_ends && b->end[0] == place && (int64_t)b->end[1] <= until) {
        pass_time(l, (int64_t)b->end[1]);
        l->now--;
        st = next_end(b, err);
    }
    return st;
}

rocl_status rocl_levels_take(busy *b, sweep *s, const piece *p, rocl_error *err)
{
    if (!(s->kernels + s->copies))
        s->levels.time = p->start;
    rocl_status st = take_ends(b, &s->levels, s->place, p->start, err);
    pass_time(&s->levels, p->start);
    s->levels.now += p->part != COPY;
    return st;
}

rocl_status rocl_levels_end(busy *b, sweep *s, rocl_error *err)
{
    rocl_status st = take_ends(b, &s->levels, s->place, INT64_MAX, err);
    pass_time(&s->levels, s->last);
    return st;
}

rocl_status rocl_levels_begin(busy *b, rocl_error *err)
{
    rocl_status st = rocl_sorter_start(b->ends, err);
    return st == ROCL_OK ? next_end(b, err) : st;
}
