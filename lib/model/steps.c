/* Steps: their names, and which range is which step of which series. */
#include "model/steps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/order.h"
#include "base/regex.h"

struct rocl_step_names {
    bool by_pattern;
    regex_t pattern;
};

/* ---- names ----------------------------------------------------------------------------------- */

rocl_status rocl_step_names_new(rocl_step_names **names, const char *pattern, rocl_error *err)
{
    rocl_step_names *n = calloc(1, sizeof *n);
    rocl_status st = n ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK && pattern) {
        st = *pattern ? rocl_regex_compile(&n->pattern, "--step-markers", pattern, pattern,
                                           REG_NOSUB, err)
                      : rocl_fail(err, ROCL_USAGE,
                                  "--step-markers: \"\": an extended regular expression is needed");
        n->by_pattern = st == ROCL_OK;
    }
    if (st != ROCL_OK) {
        free(n);
        n = NULL;
    }
    *names = n;
    return st;
}

void rocl_step_names_free(rocl_step_names *n)
{
    if (n && n->by_pattern)
        regfree(&n->pattern);
    free(n);
}

/* How many characters are before the digits at the end; n: there are none, or too many. */
static size_t find_digits(const char *name, size_t n)
{
    size_t digits = n;
    while (digits && isdigit((unsigned char)name[digits - 1]))
        digits--;
    return n - digits > 18 ? n : digits;
}

bool rocl_read_step(const char *name, size_t n, size_t *stem, uint64_t *number)
{
    static const char *const words[] = {"step", "iter", "iteration", "epoch", "batch"};
    const size_t digits = find_digits(name, n);
    if (digits == n)
        return false;
    size_t end = digits;
    while (end && strchr(" #:=_-.", name[end - 1]))
        end--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t len = strlen(words[i]);
        if (end >= len && !strncasecmp(name + end - len, words[i], len)) {
            *stem = digits;
            *number = strtoull(name + digits, NULL, 10);
            return true;
        }
    }
    return false;
}

bool rocl_step_names_match(const rocl_step_names *s, const char *name, size_t n, size_t *stem,
                           uint64_t *number)
{
    if (!s->by_pattern)
        return rocl_read_step(name, n, stem, number);
    if (!rocl_regex_matches(&s->pattern, name, n))
        return false;
    *stem = find_digits(name, n);
    *number = *stem < n ? strtoull(name + *stem, NULL, 10) : ROCL_STEP_UNNUMBERED;
    return true;
}

rocl_status rocl_is_step(const rocl_trace *t, rocl_step_cache *cache, uint32_t text, bool *is,
                         rocl_error *err)
{
    enum { NO = 1, YES };
    const size_t i = text == ROCL_NONE ? 0 : text;
    if (!ROCL_GROW(cache->known, cache->cap, i + 1))
        return rocl_fail_memory(err);
    if (!cache->known[i]) {
        size_t n, stem;
        uint64_t number;
        const char *name = rocl_strings_get(t->strings, (uint32_t)i, &n);
        cache->known[i] = rocl_step_names_match(t->steps, name, n, &stem, &number) ? YES : NO;
    }
    *is = cache->known[i] == YES;
    return ROCL_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

bool rocl_steps_add(rocl_steps *s, const rocl_step *step)
{
    if (!ROCL_GROW(s->all, s->cap, s->count + 1))
        return false;
    s->all[s->count++] = *step;
    return true;
}

void rocl_steps_free(rocl_steps *s)
{
    free(s->all);
    free(s->series);
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_steps(const void *a, const void *b)
{
    const rocl_step *x = a, *y = b;
    int c = rocl_compare_bytes(x->stem, x->stem_len, y->stem, y->stem_len);
    c = c ? c : ORDER(x->process, y->process);
    c = c ? c : ORDER(x->start, y->start);
    c = c ? c : ORDER(x->thread, y->thread);
    return c ? c : ORDER(x->row, y->row);
}

static int compare_series(const void *a, const void *b)
{
    const rocl_step_series *x = a, *y = b;
    const int c = ORDER(y->total, x->total);
    return c ? c : rocl_compare_bytes(x->stem, x->stem_len, y->stem, y->stem_len);
}

rocl_status rocl_steps_resolve(rocl_steps *s, const rocl_trace *t, rocl_error *err)
{
    size_t cap = 0, of_process = 0;
    for (size_t i = 0; i < s->count; i++) {
        rocl_step *p = &s->all[i];
        size_t n;
        p->stem = rocl_strings_get(t->strings, p->name, &n);
        p->stem_len = n;
        rocl_step_names_match(t->steps, p->stem, n, &p->stem_len, &p->number);
    }
    if (s->count)
        qsort(s->all, s->count, sizeof *s->all, compare_steps);
    for (size_t i = 0; i < s->count; i++) {
        rocl_step *p = &s->all[i];
        const rocl_step *before = i ? &s->all[i - 1] : NULL;
        if (!before ||
            rocl_compare_bytes(before->stem, before->stem_len, p->stem, p->stem_len) != 0) {
            if (!ROCL_GROW(s->series, cap, s->series_count + 1))
                return rocl_fail_memory(err);
            s->series[s->series_count++] =
                (rocl_step_series){.stem = p->stem, .stem_len = p->stem_len, .first = i};
            before = NULL;
        }
        rocl_step_series *own = &s->series[s->series_count - 1];
        if (before && before->process != p->process)
            before = NULL;
        own->count++;
        if (__builtin_add_overflow(own->total, p->end - p->start, &own->total))
            own->total = INT64_MAX;
        of_process = before ? of_process + 1 : 0;
        if (p->number == ROCL_STEP_UNNUMBERED)
            p->number = of_process;
        p->until = before && before->until > p->end ? before->until : p->end;
    }
    if (s->series_count)
        qsort(s->series, s->series_count, sizeof *s->series, compare_series);
    for (size_t k = 0; k < s->series_count; k++)
        for (size_t i = 0; i < s->series[k].count; i++)
            s->all[s->series[k].first + i].series = (uint32_t)k;
    return ROCL_OK;
}

size_t rocl_steps_find(const rocl_steps *s, const rocl_step_series *series, uint64_t process,
                       uint32_t thread, int64_t time)
{
    size_t low = series->first, high = series->first + series->count, other = SIZE_MAX;
    while (low < high) { /* the first that begins later */
        const size_t middle = low + (high - low) / 2;
        const rocl_step *p = &s->all[middle];
        if (p->process < process || (p->process == process && p->start <= time))
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i-- > series->first;) {
        const rocl_step *p = &s->all[i];
        if (p->process != process || (p->until <= time && p->start < time))
            break;
        if (p->end <= time && p->start < time)
            continue;
        if (p->thread == thread)
            return i;
        other = other == SIZE_MAX ? i : other;
    }
    return other;
}
