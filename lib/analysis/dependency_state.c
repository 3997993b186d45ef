/* What goes on while dependencies are followed: see dependency_state.h. */
#include "analysis/dependency_state.h"

uint32_t rocl_find_time_key(dependencies *d, rocl_time_class class, rocl_time_detail detail,
                            uint32_t name, uint32_t process)
{
    const rocl_time_key key = {class, detail, name,
                               d->c->options->by_rank ? d->processes[process].rank : -1};
    const uint32_t id = rocl_strings_put(d->pub.keys, (const char *)&key, sizeof key);
    d->failed |= id >> 31;
    return id;
}

bool rocl_join_slot(dependencies *d, uint32_t *slot, uint32_t from)
{
    if (*slot)
        return rocl_path_wait(d->pub.path, *slot, from);
    *slot = rocl_path_new_slot(d->pub.path);
    rocl_path_copy(d->pub.path, *slot, from);
    return true;
}

void rocl_free_slot(dependencies *d, uint32_t *slot)
{
    rocl_path_free_slot(d->pub.path, *slot);
    *slot = 0;
}

uint32_t rocl_take_place(places *p)
{
    if (p->unused_count)
        return p->unused[--p->unused_count];
    return p->count < UINT32_MAX - 1 ? (uint32_t)p->count++ : ROCL_NONE;
}

void rocl_leave_place(dependencies *d, places *p, uint32_t i)
{
    if (ROCL_GROW(p->unused, p->unused_cap, p->unused_count + 1))
        p->unused[p->unused_count++] = i;
    else
        d->failed = true;
}

static bool ends_sooner(const pending *a, const pending *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return !a->calls != !b->calls ? !a->calls : a->order < b->order;
}

void rocl_add_pending(dependencies *d, pending x)
{
    d->failed |= !ROCL_GROW(d->heap, d->pending_cap, d->pending_count + 1);
    if (d->failed)
        return;
    size_t at = d->pending_count++;
    for (size_t up; at && ends_sooner(&x, &d->heap[up = (at - 1) / 2]); at = up)
        d->heap[at] = d->heap[up];
    d->heap[at] = x;
}

pending rocl_take_pending(dependencies *d)
{
    const pending first = d->heap[0], x = d->heap[--d->pending_count];
    size_t at = 0;
    for (size_t down; (down = 2 * at + 1) < d->pending_count; at = down) {
        if (down + 1 < d->pending_count && ends_sooner(&d->heap[down + 1], &d->heap[down]))
            down++;
        if (!ends_sooner(&d->heap[down], &x))
            break;
        d->heap[at] = d->heap[down];
    }
    d->heap[at] = x;
    return first;
}

void rocl_leave_own(dependencies *d, uint32_t own_plus1)
{
    own *o = own_plus1 ? &d->owns[own_plus1 - 1] : NULL;
    if (!o || --o->users)
        return;
    rocl_free_slot(d, &o->slot);
    rocl_leave_place(d, &d->own_places, own_plus1 - 1);
}

/* ---- events that are recorded ---------------------------------------------------------------- */

void rocl_leave_mark(dependencies *d, uint32_t mark_plus1)
{
    mark *m = mark_plus1 ? &d->marks[mark_plus1 - 1] : NULL;
    if (!m || --m->users)
        return;
    rocl_free_slot(d, &m->slot);
    rocl_leave_place(d, &d->mark_places, mark_plus1 - 1);
}

void rocl_add_link(dependencies *d, uint32_t *list, uint32_t mark_plus1)
{
    uint32_t i;
    if (!TAKE(d, link, i))
        return;
    d->links[i] = (link){mark_plus1 - 1, *list};
    d->marks[mark_plus1 - 1].users++;
    *list = i + 1;
}

void rocl_free_links(dependencies *d, uint32_t *list)
{
    while (*list) {
        const uint32_t i = *list - 1;
        *list = d->links[i].next;
        rocl_leave_mark(d, d->links[i].mark + 1);
        rocl_leave_place(d, &d->link_places, i);
    }
}

void rocl_record_event(dependencies *d, uint32_t event, uint32_t stream)
{
    handle *e = &d->handles[event];
    const handle *of = &d->handles[stream];
    uint32_t i;
    if (!TAKE(d, mark, i))
        return;
    d->marks[i] = (mark){.users = 1};
    rocl_leave_mark(d, e->mark_plus1);
    e->mark_plus1 = i + 1;
    for (size_t k = 0; k < of->lane_count; k++) {
        const lane *l = &d->lanes[of->lanes[k]];
        if (l->slot)
            rocl_join_slot(d, &d->marks[i].slot, l->slot);
        if (l->newest)
            rocl_add_link(d, &d->works[l->newest - 1].is_under, i + 1);
    }
}

uint32_t rocl_add_lane(dependencies *d)
{
    d->failed |=
        d->lane_count >= UINT32_MAX || !ROCL_GROW(d->lanes, d->lane_cap, d->lane_count + 1);
    if (d->failed)
        return 0;
    d->lanes[d->lane_count] = fresh_lane;
    return (uint32_t)d->lane_count++;
}

bool rocl_has_lane(const handle *h, uint32_t of)
{
    for (size_t i = 0; i < h->lane_count; i++)
        if (h->lanes[i] == of)
            return true;
    return false;
}
