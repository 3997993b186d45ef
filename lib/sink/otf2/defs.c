/* Strings, regions, attributes and metrics, each defined once. They are asked for in the order of
 * the sorted events, so that their numbers are the same for every number of workers. */
#include <stdlib.h>

#include "base/error.h"
#include "base/utf8.h"
#include "sink/otf2/ot.h"

void ot_defs_free(ot_defs *d)
{
    free(d->strings);
    free(d->regions);
    free(d->attributes);
    free(d->members);
    free(d->metrics);
    rocl_map_free(&d->string_index);
    rocl_map_free(&d->region_index);
    rocl_map_free(&d->attribute_index);
    rocl_map_free(&d->member_index);
    *d = (ot_defs){0};
}

uint32_t ot_text(ot_defs *d, const char *s)
{
    uint32_t text = rocl_strings_put(d->trace->strings, s, strlen(s));
    d->failed |= text == ROCL_NONE;
    return text == ROCL_NONE ? 0 : text;
}

/* Of a text; in UTF-8 it becomes three times as much at worst. */
#define TEXT_MAX (1u << 20)

/* libotf2 cannot write what is larger than a chunk. */
static size_t fit(ot_defs *d, const char *p, size_t n)
{
    if (n <= TEXT_MAX)
        return n;
    d->cut++;
    for (n = TEXT_MAX; n && ((uint8_t)p[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

void ot_put_text(rocl_buf *b, ot_defs *d, uint32_t text)
{
    size_t n, part;
    const char *p = rocl_strings_get(d->trace->strings, text, &n);
    n = fit(d, p, n);
    while ((part = strnlen(p, n)) < n) {
        rocl_utf8_put(b, p, part);
        rocl_buf_str(b, "\xef\xbf\xbd");
        p += part + 1;
        n -= part + 1;
    }
    rocl_utf8_put(b, p, n);
    rocl_buf_byte(b, 0);
}

OTF2_StringRef ot_string(ot_defs *d, uint32_t text)
{
    if (text == ROCL_NONE)
        text = 0;
    uint32_t at = rocl_map_get(&d->string_index, text, ROCL_NONE);
    if (at != ROCL_NONE)
        return at;
    if (!ROCL_GROW(d->strings, d->string_cap, d->string_count + (size_t)1) ||
        !rocl_map_put(&d->string_index, text, d->string_count)) {
        d->failed = true;
        return 0;
    }
    d->strings[d->string_count] = text;
    return d->string_count++;
}

OTF2_StringRef ot_string_of(ot_defs *d, const char *s)
{
    return ot_string(d, ot_text(d, s));
}

static bool same_region(const ot_region *a, const ot_region *b)
{
    return a->name == b->name && a->category == b->category && a->paradigm == b->paradigm &&
           a->role == b->role;
}

/* Of different ones with one hash the next takes the next key. */
OTF2_RegionRef ot_region_of(ot_defs *d, const ot_region *r)
{
    uint64_t key = rocl_mix64((uint64_t)r->name << 32 | r->category) ^
                   rocl_mix64((uint64_t)r->paradigm << 8 | r->role);
    uint32_t at;
    for (; (at = rocl_map_get(&d->region_index, key, ROCL_NONE)) != ROCL_NONE; key++)
        if (same_region(&d->regions[at], r))
            return at;
    if (!ROCL_GROW(d->regions, d->region_cap, d->region_count + (size_t)1) ||
        !rocl_map_put(&d->region_index, key, d->region_count)) {
        d->failed = true;
        return 0;
    }
    d->regions[d->region_count] = *r;
    return d->region_count++;
}

OTF2_AttributeRef ot_attribute_of(ot_defs *d, uint32_t name, OTF2_Type type)
{
    uint64_t key = (uint64_t)type << 32 | name;
    uint32_t at = rocl_map_get(&d->attribute_index, key, ROCL_NONE);
    if (at != ROCL_NONE)
        return at;
    if (!ROCL_GROW(d->attributes, d->attribute_cap, d->attribute_count + (size_t)1) ||
        !rocl_map_put(&d->attribute_index, key, d->attribute_count)) {
        d->failed = true;
        return 0;
    }
    d->attributes[d->attribute_count] = (ot_attribute){name, type};
    return d->attribute_count++;
}

static uint32_t add_metric(ot_defs *d, const ot_metric *m)
{
    if (!ROCL_GROW(d->metrics, d->metric_cap, d->metric_count + (size_t)1)) {
        d->failed = true;
        return ROCL_NONE;
    }
    d->metrics[d->metric_count] = *m;
    return d->metric_count++;
}

static bool same_member(const ot_member *a, const ot_member *b)
{
    return a->name == b->name && a->unit == b->unit && a->description == b->description &&
           a->type == b->type && a->mode == b->mode;
}

/* The class of a member. Of different ones with one hash the next takes the next key. */
static uint32_t class_of(ot_defs *d, const ot_member *m)
{
    uint64_t key = rocl_mix64(rocl_mix64((uint64_t)m->name << 32 | m->unit) ^
                              ((uint64_t)m->description << 32 | (uint64_t)m->type << 8 | m->mode));
    uint32_t at;
    for (; (at = rocl_map_get(&d->member_index, key, ROCL_NONE)) != ROCL_NONE; key++)
        if (same_member(&d->members[d->metrics[at].member], m))
            return at;
    at = add_metric(d, &(ot_metric){.class = ROCL_NONE, .member = d->member_count});
    if (at == ROCL_NONE || !ROCL_GROW(d->members, d->member_cap, d->member_count + (size_t)1) ||
        !rocl_map_put(&d->member_index, key, at)) {
        d->failed = true;
        return ROCL_NONE;
    }
    d->members[d->member_count++] = *m;
    return at;
}

uint32_t ot_metric_of(ot_defs *d, const ot_member *m, const ot_metric *instance)
{
    ot_metric own = *instance;
    own.class = class_of(d, m);
    return own.class == ROCL_NONE ? 0 : add_metric(d, &own);
}

/* ---- of a part to those of the archive ------------------------------------------------------- */

static uint32_t join_metric(ot_defs *all, const ot_defs *part, uint32_t i)
{
    const ot_metric *m = &part->metrics[i];
    if (m->class == ROCL_NONE)
        return class_of(all, &part->members[m->member]);
    return ot_metric_of(all, &part->members[part->metrics[m->class].member], m);
}

static uint32_t join_one(ot_defs *all, const ot_defs *part, ot_numbered what, uint32_t i)
{
    switch (what) {
    case OT_STRINGS:
        return ot_string(all, part->strings[i]);
    case OT_ATTRIBUTES:
        return ot_attribute_of(all, part->attributes[i].name, part->attributes[i].type);
    case OT_REGIONS:
        return ot_region_of(all, &part->regions[i]);
    default:
        return join_metric(all, part, i);
    }
}

static rocl_status join_all(ot_defs *all, const ot_defs *part, ot_numbered what, uint32_t count,
                            ot_table *t, rocl_error *err)
{
    uint32_t *refs = count ? reallocarray(NULL, count, sizeof *refs) : NULL;
    bool same = true;
    t->refs[what] = refs;
    t->counts[what] = count;
    if (count && !refs)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        refs[i] = join_one(all, part, what, i);
        same &= refs[i] == i;
    }
    if (same) {
        free(refs);
        t->refs[what] = NULL;
    }
    return ROCL_OK;
}

rocl_status ot_defs_join(ot_defs *all, const ot_defs *part, ot_table *t, rocl_error *err)
{
    const uint32_t counts[OT_NUMBERED] = {[OT_STRINGS] = part->string_count,
                                          [OT_ATTRIBUTES] = part->attribute_count,
                                          [OT_REGIONS] = part->region_count,
                                          [OT_METRICS] = part->metric_count};
    rocl_status st = ROCL_OK;
    *t = (ot_table){0};
    for (unsigned i = 0; i < OT_NUMBERED && st == ROCL_OK; i++)
        st = join_all(all, part, (ot_numbered)i, counts[i], t, err);
    return st;
}

bool ot_table_is_needed(const ot_table *t)
{
    bool any = false;
    for (unsigned i = 0; i < OT_NUMBERED; i++)
        any |= t->refs[i] != NULL;
    return any;
}

void ot_table_free(ot_table *t)
{
    for (unsigned i = 0; i < OT_NUMBERED; i++)
        free(t->refs[i]);
}
