/* Begins that wait for their ends: see open.h. */
#include "source/records/open.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/map.h"

/* How far down an end looks before there is a table. */
enum { LOOK_DOWN_MAX = 32 };

/* The place in a chain where an id is, or the end of the chain. */
static rocl_open **find_place(const rocl_open_stack *s, uint64_t id)
{
    rocl_open **at = &s->chains[(size_t)rocl_mix64(id) & (s->chain_count - 1)];
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

static void add_to_table(const rocl_open_stack *s, rocl_open *o)
{
    rocl_open **at = find_place(s, o->id);
    o->same = *at;
    o->next = *at ? (*at)->next : NULL;
    *at = o;
}

/* Makes a table with room for twice as many as there are. False: memory is out; the old table, or
 * none, stays in use, which is only slower. */
static bool make_table(rocl_open_stack *s)
{
    size_t count = (size_t)2 * LOOK_DOWN_MAX;
    while (count < 2 * s->count)
        count *= 2;
    rocl_open **chains = calloc(count, sizeof *chains);
    if (!chains)
        return false;
    free(s->chains);
    s->chains = chains;
    s->chain_count = count;
    rocl_open *o = s->top;
    while (o && o->below)
        o = o->below;
    for (; o; o = o->above)
        add_to_table(s, o);
    return true;
}

void rocl_open_push(rocl_open_stack *s, rocl_open *o)
{
    o->below = s->top;
    o->above = NULL;
    if (s->top)
        s->top->above = o;
    s->top = o;
    s->count++;
    if (s->chains && (s->count <= s->chain_count || !make_table(s)))
        add_to_table(s, o);
}

rocl_open *rocl_open_find(rocl_open_stack *s, uint64_t id)
{
    rocl_open *o = s->top;
    for (size_t i = 0; o && o->id != id; i++, o = o->below)
        if (s->chains || (i == LOOK_DOWN_MAX && make_table(s)))
            return *find_place(s, id);
    return o;
}

void rocl_open_remove(rocl_open_stack *s, rocl_open *o)
{
    if (s->chains) {
        rocl_open **at = find_place(s, o->id);
        *at = o->same ? o->same : o->next;
        if (o->same)
            o->same->next = o->next;
    }
    if (o->below)
        o->below->above = o->above;
    *(o->above ? &o->above->below : &s->top) = o->below;
    if (!--s->count) {
        free(s->chains);
        s->chains = NULL;
        s->chain_count = 0;
    }
}
