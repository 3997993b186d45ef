/* Questions about slices: one by its number, searches, links between calls and work, sums by name.
 * Columns are looked through from end to end where they must be: 10^7 numbers take some
 * milliseconds. */
#include "picture/picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/regex.h"

/* The row of a reference, with the lock held; NULL: it is not there, or not yet. */
static const picture_row *get_row(const rocl_picture *p, uint32_t track, uint32_t row)
{
    if (track >= p->track_count || !p->tracks[track]->loaded || row >= p->tracks[track]->row_count)
        return NULL;
    return p->tracks[track]->rows[row];
}

bool rocl_picture_get(rocl_picture *p, rocl_picture_ref ref, rocl_picture_slice *s)
{
    pthread_mutex_lock(&p->lock);
    const picture_row *r = get_row(p, ref.track, ref.row);
    const bool there = r && ref.index < r->count;
    const uint32_t i = ref.index;
    if (there && r->values) {
        *s = (rocl_picture_slice){.start = r->start[i],
                                  .end = i + 1 < r->count ? r->start[i + 1] : r->start[i],
                                  .is_value = true,
                                  .value = r->value[i]};
        s->capture = &p->trace->captures[p->tracks[ref.track]->capture]->pub;
    } else if (there) {
        const picture_detail *d = &p->details[r->detail[i]];
        *s = (rocl_picture_slice){.capture = &p->trace->captures[d->capture]->pub,
                                  .kind = (rocl_kind)d->kind,
                                  .start = r->start[i],
                                  .end = picture_end(r, i),
                                  .name = r->name[i],
                                  .category = d->category,
                                  .id = picture_wide_get(&r->id, i),
                                  .stack_id = picture_wide_get(&r->stack, i),
                                  .bytes = picture_wide_get(&r->bytes, i),
                                  .agent = d->agent,
                                  .other_agent = d->other_agent,
                                  .queue = d->queue,
                                  .stream = d->stream,
                                  .to_agent = d->to_agent,
                                  .private_segment = d->private_segment,
                                  .group_segment = d->group_segment};
        memcpy(s->workgroup, d->workgroup, sizeof s->workgroup);
        memcpy(s->grid, d->grid, sizeof s->grid);
    }
    pthread_mutex_unlock(&p->lock);
    return there;
}

double rocl_picture_peak(rocl_picture *p, uint32_t track, uint32_t row)
{
    double most = 0;
    pthread_mutex_lock(&p->lock);
    const picture_row *r = get_row(p, track, row);
    for (uint32_t i = 0; r && r->values && i < r->count; i++)
        most = r->value[i] > most ? r->value[i] : most;
    pthread_mutex_unlock(&p->lock);
    return most;
}

/* ---- the next slice of which something is true ----------------------------------------------- */

typedef struct picture_test {
    uint32_t track, row;   /* in which rows: see rocl_picture_step; track ROCL_NONE: all */
    uint32_t capture;      /* ROCL_NONE: any */
    const uint64_t *names; /* bits by text; NULL: any name */
    uint64_t stack;        /* 0: any */
    uint32_t kinds;        /* of those with this stack id */
} picture_test;

/* Is the row one of those? */
static bool concerns_row(const rocl_picture *p, uint32_t track, uint32_t row, const picture_test *t)
{
    const picture_row *r = p->tracks[track]->rows[row];
    if (t->track == ROCL_NONE)
        return !r->values && (t->capture == ROCL_NONE || p->tracks[track]->capture == t->capture);
    if (t->row != ROCL_NONE)
        return track == t->track && row == t->row;
    if (r->values || r->depth)
        return false;
    while (track != t->track && track != ROCL_NONE)
        track = p->tracks[track]->key.parent;
    return track == t->track;
}

static bool passes_test(const rocl_picture *p, const picture_row *r, uint32_t i,
                        const picture_test *t)
{
    if (t->names)
        return r->name[i] < p->match_texts && t->names[r->name[i] / 64] >> r->name[i] % 64 & 1;
    if (!t->stack)
        return true;
    if (r->stack.lo[i] != (uint32_t)t->stack || picture_wide_get(&r->stack, i) != t->stack)
        return false;
    return t->kinds >> p->details[r->detail[i]].kind & 1;
}

/* The order of all slices. */
static int compare_refs(int64_t a_start, const rocl_picture_ref *a, int64_t b_start,
                        const rocl_picture_ref *b)
{
    if (a_start != b_start)
        return a_start < b_start ? -1 : 1;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* The first one after *ref, which begins at `time`, or the last one before it; *ref becomes it. */
static bool find_next(rocl_picture *p, int64_t time, bool backward, const picture_test *t,
                      rocl_picture_ref *ref)
{
    const rocl_picture_ref from = *ref;
    int64_t best = 0;
    bool any = false;
    pthread_mutex_lock(&p->lock);
    for (uint32_t n = 0; n < p->track_count; n++) {
        for (uint32_t k = 0; k < p->tracks[n]->row_count; k++) {
            const picture_row *r = get_row(p, n, k);
            if (!r || !concerns_row(p, n, k, t))
                continue;
            uint32_t i = picture_first_from(r, time);
            while (backward && i < r->count && r->start[i] == time)
                i++;
            i -= backward; /* below 0: not an index */
            for (; i < r->count; i += backward ? UINT32_MAX : 1) {
                const rocl_picture_ref at = {n, k, i};
                if (any && (backward ? r->start[i] < best : r->start[i] > best))
                    break;
                if (!passes_test(p, r, i, t))
                    continue;
                const int order = compare_refs(r->start[i], &at, time, &from);
                if (from.row != ROCL_NONE && (backward ? order >= 0 : order <= 0))
                    continue;
                const int better = any ? compare_refs(r->start[i], &at, best, ref) : -1;
                if (any && (backward ? better <= 0 : better >= 0))
                    continue;
                any = true;
                best = r->start[i];
                *ref = at;
            }
        }
    }
    pthread_mutex_unlock(&p->lock);
    return any;
}

bool rocl_picture_step(rocl_picture *p, uint32_t track, uint32_t row, int64_t time, bool backward,
                       rocl_picture_ref *ref)
{
    const picture_test t = {.track = track, .row = row, .capture = ROCL_NONE};
    return find_next(p, time, backward, &t, ref);
}

/* ---- searches -------------------------------------------------------------------------------- */

rocl_status rocl_picture_search(rocl_picture *p, const char *pattern, rocl_error *err)
{
    regex_t re;
    bool small = true;
    for (const char *c = pattern; *c; c++)
        small &= !(*c >= 'A' && *c <= 'Z');
    rocl_status st = rocl_regex_compile(&re, "search", pattern, pattern,
                                        REG_NOSUB | (small ? REG_ICASE : 0), err);
    if (st != ROCL_OK)
        return st;
    pthread_mutex_lock(&p->lock);
    /* With the lock held: bits for the texts that are names of slices. NULL: memory is out. */
    const size_t texts = rocl_strings_count(p->trace->strings);
    uint64_t *names = calloc(texts / 64 + 1, sizeof *names);
    for (uint32_t n = 0; names && n < p->track_count; n++) {
        for (uint32_t k = 0; k < p->tracks[n]->row_count; k++) {
            const picture_row *r = get_row(p, n, k);
            for (uint32_t i = 0; r && !r->values && i < r->count; i++)
                if (r->name[i] < texts)
                    names[r->name[i] / 64] |= (uint64_t)1 << r->name[i] % 64;
        }
    }
    p->match_texts = texts;
    for (size_t i = 0; names && i < p->match_texts; i++) {
        size_t len;
        if (!(names[i / 64] >> i % 64 & 1))
            continue;
        const char *text = rocl_text(p->trace, (uint32_t)i, &len);
        if (!rocl_regex_matches(&re, text, len))
            names[i / 64] &= ~((uint64_t)1 << i % 64);
    }
    if (names) {
        free(p->matches);
        p->matches = names;
    }
    pthread_mutex_unlock(&p->lock);
    regfree(&re);
    return names ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_picture_search_name(rocl_picture *p, uint32_t name, rocl_error *err)
{
    uint64_t *names = calloc((size_t)name / 64 + 1, sizeof *names);
    if (!names)
        return rocl_fail_memory(err);
    names[name / 64] |= (uint64_t)1 << name % 64;
    free(p->matches);
    p->matches = names;
    p->match_texts = (size_t)name + 1;
    return ROCL_OK;
}

bool rocl_picture_matches(const rocl_picture *p, uint32_t name)
{
    return p->matches && name < p->match_texts && p->matches[name / 64] >> name % 64 & 1;
}

bool rocl_picture_next_match(rocl_picture *p, int64_t time, bool backward, rocl_picture_ref *ref)
{
    const picture_test t = {.track = ROCL_NONE, .capture = ROCL_NONE, .names = p->matches};
    return p->matches && find_next(p, time, backward, &t, ref);
}

/* ---- links ----------------------------------------------------------------------------------- */

static bool find_linked(rocl_picture *p, rocl_picture_ref ref, bool sibling,
                        rocl_picture_ref *other)
{
    rocl_picture_slice s;
    if (!rocl_picture_get(p, ref, &s) || s.is_value || !s.stack_id)
        return false;
    const bool to_work = sibling || (ROCL_LAUNCH_KINDS >> s.kind & 1);
    const picture_test t = {.track = ROCL_NONE,
                            .capture = s.capture->index,
                            .stack = s.stack_id,
                            .kinds = to_work ? ROCL_WORK_KINDS : ROCL_LAUNCH_KINDS};
    rocl_picture_ref found = sibling ? ref : (rocl_picture_ref){.row = ROCL_NONE};
    const bool there = find_next(p, sibling ? s.start : INT64_MIN, false, &t, &found);
    if (there)
        *other = found;
    return there;
}

bool rocl_picture_linked(rocl_picture *p, rocl_picture_ref ref, rocl_picture_ref *other)
{
    return find_linked(p, ref, false, other);
}

bool rocl_picture_next_linked(rocl_picture *p, rocl_picture_ref ref, rocl_picture_ref *other)
{
    return find_linked(p, ref, true, other);
}

/* ---- sums by name ---------------------------------------------------------------------------- */

rocl_status rocl_picture_sums(rocl_picture *p, uint32_t kinds, int64_t from, int64_t to,
                              rocl_picture_sum **sums, size_t *count, rocl_error *err)
{
    rocl_map index = {0};
    rocl_picture_sum *all = NULL;
    size_t n = 0, cap = 0;
    bool good = true;
    pthread_mutex_lock(&p->lock);
    for (uint32_t track = 0; good && track < p->track_count; track++) {
        for (uint32_t row = 0; good && row < p->tracks[track]->row_count; row++) {
            const picture_row *r = get_row(p, track, row);
            uint32_t recent = ROCL_NONE, at = ROCL_NONE; /* a name, and its sum */
            for (uint32_t i = r && !r->values ? picture_first_from(r, from) : UINT32_MAX;
                 good && r && i < r->count && r->start[i] < to; i++) {
                if (!(kinds >> p->details[r->detail[i]].kind & 1))
                    continue;
                if (r->name[i] != recent) {
                    recent = r->name[i];
                    at = rocl_map_get(&index, recent, ROCL_NONE);
                }
                if (at == ROCL_NONE) {
                    at = (uint32_t)n;
                    good = ROCL_GROW(all, cap, n + 1) && rocl_map_put(&index, recent, at);
                    if (!good)
                        break;
                    all[n++] =
                        (rocl_picture_sum){.name = recent, .shortest = INT64_MAX, .longest = -1};
                }
                rocl_picture_sum *s = &all[at];
                const int64_t duration = (int64_t)picture_wide_get(&r->duration, i);
                s->count++;
                s->bytes += picture_wide_get(&r->bytes, i);
                s->total += duration;
                s->shortest = duration < s->shortest ? duration : s->shortest;
                if (duration > s->longest) {
                    s->longest = duration;
                    s->where = (rocl_picture_ref){track, row, i};
                }
            }
        }
    }
    pthread_mutex_unlock(&p->lock);
    rocl_map_free(&index);
    if (!good) {
        free(all);
        return rocl_fail_memory(err);
    }
    *sums = all;
    *count = n;
    return ROCL_OK;
}
