/* Strings, attributes, regions and metrics, each defined once. References follow the order of the
 * sorted records, so that they are the same for every number of workers. */
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "sink/otf2/otf2.h"

void ot_defs_free(ot_defs *d)
{
    for (unsigned i = 0; i < OT_LISTS; i++) {
        free(d->lists[i].items);
        rocl_map_free(&d->lists[i].index);
    }
    free(d->members.items);
    rocl_map_free(&d->members.index);
    *d = (ot_defs){0};
}

/* Appends an item; false, and d->failed set, when memory is out. */
static bool append_item(ot_defs *d, ot_list *l, const void *item, size_t size)
{
    if (!rocl_array_reserve(&l->items, &l->capacity, l->count + (size_t)1, size)) {
        d->failed = true;
        return false;
    }
    memcpy((char *)l->items + l->count++ * size, item, size);
    return true;
}

/* The reference of an item, appended if it is new. Of different items with one hash the next takes
 * the next key. */
static inline uint32_t intern_item(ot_defs *d, ot_list *l, uint64_t hash, const void *item,
                                   size_t size)
{
    uint32_t ref;
    for (; (ref = rocl_map_get(&l->index, hash, ROCL_NONE)) != ROCL_NONE; hash++)
        if (!memcmp((const char *)l->items + ref * size, item, size))
            return ref;
    if (append_item(d, l, item, size) && rocl_map_put(&l->index, hash, l->count - 1))
        return l->count - 1;
    d->failed = true;
    return 0;
}

uint32_t ot_text(ot_defs *d, const char *s)
{
    uint32_t text = rocl_strings_put(d->trace->strings, s, strlen(s));
    d->failed |= text == ROCL_NONE;
    return text == ROCL_NONE ? 0 : text;
}

OTF2_StringRef ot_string(ot_defs *d, uint32_t text)
{
    if (text == ROCL_NONE)
        text = 0;
    return intern_item(d, &d->lists[OT_STRINGS], text, &text, sizeof text);
}

OTF2_AttributeRef ot_attribute_ref(ot_defs *d, uint32_t name, OTF2_Type type)
{
    const ot_attribute a = {name, type};
    return intern_item(d, &d->lists[OT_ATTRIBUTES], (uint64_t)type << 32 | name, &a, sizeof a);
}

OTF2_RegionRef ot_region_ref(ot_defs *d, const ot_region *r)
{
    uint64_t hash = rocl_mix64((uint64_t)r->name << 32 | r->category) ^
                    rocl_mix64((uint64_t)r->paradigm << 8 | r->role);
    return intern_item(d, &d->lists[OT_REGIONS], hash, r, sizeof *r);
}

/* Classes are interned among the metrics by their member, instances are never looked up. */
static OTF2_MetricRef class_ref(ot_defs *d, const ot_member *m)
{
    uint64_t hash = rocl_mix64((uint64_t)m->name << 32 | m->unit) ^
                    ((uint64_t)m->description << 32 | (uint64_t)m->type << 8 | m->mode);
    const ot_metric class = {.class = ROCL_NONE,
                             .member = intern_item(d, &d->members, hash, m, sizeof *m)};
    return intern_item(d, &d->lists[OT_METRICS], class.member, &class, sizeof class);
}

OTF2_MetricRef ot_metric_new(ot_defs *d, const ot_member *m, const ot_metric *instance)
{
    ot_list *l = &d->lists[OT_METRICS];
    ot_metric own = *instance;
    own.class = class_ref(d, m);
    return append_item(d, l, &own, sizeof own) ? l->count - 1 : 0;
}

/* The most bytes of a text, which may triple when made valid UTF-8: libotf2 cannot write more than
 * a chunk. */
#define TEXT_MAX (1u << 20)

void ot_put_text(rocl_buf *b, ot_defs *d, uint32_t text)
{
    size_t n, run;
    const char *p = rocl_strings_get(d->trace->strings, text, &n);
    if (n > TEXT_MAX) {
        d->cut++;
        for (n = TEXT_MAX; n && ((uint8_t)p[n] & 0xc0) == 0x80;)
            n--;
    }
    while ((run = strnlen(p, n)) < n) {
        rocl_utf8_put(b, p, run);
        rocl_buf_str(b, "\xef\xbf\xbd");
        p += run + 1;
        n -= run + 1;
    }
    rocl_utf8_put(b, p, n);
    rocl_buf_byte(b, 0);
}

/* ---- from those of a drawing to those of the archive ----------------------------------------- */

static uint32_t join_item(ot_defs *all, const ot_defs *own, ot_kind kind, uint32_t i)
{
    const void *items = own->lists[kind].items;
    switch (kind) {
    case OT_STRINGS:
        return ot_string(all, ((const uint32_t *)items)[i]);
    case OT_ATTRIBUTES: {
        const ot_attribute *a = (const ot_attribute *)items + i;
        return ot_attribute_ref(all, a->name, (OTF2_Type)a->type);
    }
    case OT_REGIONS:
        return ot_region_ref(all, (const ot_region *)items + i);
    default: {
        const ot_member *members = own->members.items;
        const ot_metric *metrics = items, *m = &metrics[i];
        return m->class == ROCL_NONE ? class_ref(all, &members[m->member])
                                     : ot_metric_new(all, &members[metrics[m->class].member], m);
    }
    }
}

bool ot_mapping_open(ot_mapping *m, const uint32_t counts[OT_MAPPED])
{
    bool good = true;
    *m = (ot_mapping){0};
    for (unsigned kind = 0; kind < OT_MAPPED; kind++) {
        m->refs[kind] = reallocarray(NULL, counts[kind] + (size_t)1, sizeof(uint32_t));
        good &= m->refs[kind] != NULL;
    }
    return good;
}

void ot_defs_add(ot_defs *all, const ot_defs *own, const uint32_t upto[OT_LISTS], ot_mapping *m)
{
    for (unsigned kind = 0; kind < OT_LISTS; kind++)
        for (uint32_t *i = &m->counts[kind]; *i < upto[kind]; (*i)++)
            m->refs[kind][*i] = join_item(all, own, (ot_kind)kind, *i);
}

void ot_mapping_close(ot_mapping *m)
{
    for (unsigned kind = 0; kind < OT_MAPPED; kind++) {
        bool same = true;
        for (uint32_t i = 0; i < m->counts[kind]; i++)
            same &= m->refs[kind][i] == i;
        m->needed |= !same;
        if (same) {
            free(m->refs[kind]);
            m->refs[kind] = NULL;
        }
    }
}

rocl_status ot_defs_join(ot_defs *all, const ot_defs *own, ot_mapping *m, rocl_error *err)
{
    uint32_t counts[OT_MAPPED] = {0};
    for (unsigned kind = 0; kind < OT_LISTS; kind++)
        counts[kind] = own->lists[kind].count;
    if (!ot_mapping_open(m, counts) || own->failed)
        return rocl_fail_memory(err);
    ot_defs_add(all, own, counts, m);
    ot_mapping_close(m);
    return ROCL_OK;
}

void ot_mapping_free(ot_mapping *m)
{
    for (unsigned i = 0; i < OT_MAPPED; i++)
        free(m->refs[i]);
}
