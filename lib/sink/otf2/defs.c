/* Strings, regions, attributes and metrics, each defined once. They are asked for in the order of
 * the sorted events, so that their numbers are the same for every number of workers. */
#include <stdlib.h>

#include "base/utf8.h"
#include "sink/otf2/ot.h"

void ot_defs_free(ot_defs *d)
{
    free(d->string_refs);
    free(d->strings);
    free(d->regions);
    free(d->attributes);
    free(d->members);
    free(d->metrics);
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

static bool text_room(ot_defs *d, uint32_t text)
{
    uint32_t cap = d->text_cap ? d->text_cap : 1024;
    while (cap <= text && cap < ROCL_NONE / 2)
        cap *= 2;
    uint32_t *more = cap > text ? realloc(d->string_refs, cap * sizeof *more) : NULL;
    if (!more)
        return false;
    memset(more + d->text_cap, 0, (cap - d->text_cap) * sizeof *more);
    d->string_refs = more;
    d->text_cap = cap;
    return true;
}

OTF2_StringRef ot_string(ot_defs *d, uint32_t text)
{
    if (text == ROCL_NONE)
        text = 0;
    if (text < d->text_cap && d->string_refs[text])
        return d->string_refs[text] - 1;
    if ((text >= d->text_cap && !text_room(d, text)) ||
        !ROCL_GROW(d->strings, d->string_cap, d->string_count + (size_t)1)) {
        d->failed = true;
        return 0;
    }
    d->strings[d->string_count++] = text;
    d->string_refs[text] = d->string_count;
    return d->string_count - 1;
}

OTF2_StringRef ot_string_of(ot_defs *d, const char *s)
{
    return ot_string(d, ot_text(d, s));
}

OTF2_RegionRef ot_region_of(ot_defs *d, uint32_t name, uint32_t category, OTF2_Paradigm paradigm,
                            OTF2_RegionRole role)
{
    uint64_t key = (uint64_t)role << 40 | (uint64_t)paradigm << 32 | name;
    uint32_t at = rocl_map_get(&d->region_index, key, ROCL_NONE);
    if (at != ROCL_NONE)
        return at;
    if (!ROCL_GROW(d->regions, d->region_cap, d->region_count + (size_t)1) ||
        !rocl_map_put(&d->region_index, key, d->region_count)) {
        d->failed = true;
        return 0;
    }
    d->regions[d->region_count] = (ot_region){name, category, paradigm, role};
    ot_string(d, name);
    ot_string(d, category);
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
    ot_string(d, name);
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
    ot_string(d, m->name);
    ot_string(d, m->description);
    ot_string(d, m->unit);
    return at;
}

uint32_t ot_metric_of(ot_defs *d, const ot_member *m, uint32_t recorder, uint32_t group)
{
    uint32_t class = class_of(d, m);
    if (class == ROCL_NONE)
        return 0;
    return add_metric(d, &(ot_metric){.class = class, .recorder = recorder, .group = group});
}
