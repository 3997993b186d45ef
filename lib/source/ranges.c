/* Begins and ends that are records of their own: see ranges.h. */
#include "source/ranges.h"

#include <stdlib.h>

#include "base/error.h"
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

/* ---- begins and ends in a sorter ------------------------------------------------------------- */

typedef struct open_begin {
    rocl_open open;
    uint8_t data[]; /* a copy of its data */
} open_begin;

/* Puts and frees an open begin. */
static rocl_status close_begin(const rocl_range_format *format, void *ctx, rocl_open_stack *open,
                               rocl_open *o, const rocl_sort_record *end, rocl_error *err)
{
    open_begin *begin = (open_begin *)o;
    rocl_open_remove(open, o);
    const rocl_status st = format->put(ctx, begin->data, end, err);
    free(begin);
    return st;
}

static rocl_status close_all(const rocl_range_format *format, void *ctx, rocl_open_stack *open,
                             rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (open->top && st == ROCL_OK)
        st = close_begin(format, ctx, open, open->top, NULL, err);
    return st;
}

rocl_status rocl_ranges_join(rocl_sorter *sorter, const rocl_range_format *format, void *ctx,
                             rocl_error *err)
{
    const bool nest = format->rules & ROCL_RANGES_NEST;
    const bool replace = format->rules & ROCL_RANGES_REPLACE;
    const size_t scope_size = format->scope_words * sizeof(uint64_t);
    rocl_open_stack open = {0};
    uint64_t scope[2] = {0};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(sorter, err);
    while (rocl_sorter_take(sorter, &rec, &st, err)) {
        const rocl_range_half half = format->read(rec.data);
        if (memcmp(scope, rec.key, scope_size) != 0)
            st = close_all(format, ctx, &open, err);
        memcpy(scope, rec.key, scope_size);
        rocl_open *found = half.begins && !replace ? NULL : rocl_open_find(&open, half.id);
        if (!half.begins && !found && nest)
            found = open.top;
        if (st == ROCL_OK && found)
            st = close_begin(format, ctx, &open, found, half.begins ? NULL : &rec, err);
        else if (st == ROCL_OK && !half.begins)
            st = format->put(ctx, NULL, &rec, err);
        if (st == ROCL_OK && half.begins) {
            open_begin *begin = malloc(sizeof *begin + rec.len);
            if (!begin) {
                st = rocl_fail_memory(err);
                break;
            }
            begin->open.id = half.id;
            memcpy(begin->data, rec.data, rec.len);
            rocl_open_push(&open, &begin->open);
        }
    }
    if (st == ROCL_OK)
        st = close_all(format, ctx, &open, err);
    while (open.top) { /* after an error */
        open_begin *begin = (open_begin *)open.top;
        rocl_open_remove(&open, open.top);
        free(begin);
    }
    return st;
}
