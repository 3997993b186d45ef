/* --name and --exclude-name, and those for kernels: each name is matched once per worker, and once
 * per kind of event where a pattern is for one kind. */
#include "filter/stages.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/regex.h"

/* The outcome for a name takes two bits by text id; pages come into being when an id on them is
 * met.
 */
#define PAGE_BITS  14
#define PAGE_IDS   (1u << PAGE_BITS)
#define PAGE_BYTES (PAGE_IDS / 4)

enum { UNKNOWN = 0, DROPPED = 1, PASSED = 2 };

static size_t list_length(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

void rocl_names_new(rocl_names *n, const rocl_options *o, bool of_kernels)
{
    n->of_kernels = of_kernels;
    n->name_option = of_kernels ? "--name kernel:REGEX" : "--name";
    n->exclude_option = of_kernels ? "--exclude-name kernel:REGEX" : "--exclude-name";
    n->name = of_kernels ? o->kernel_include : o->names;
    n->exclude = of_kernels ? o->kernel_exclude : o->exclude_names;
    n->name_count = list_length(n->name);
    n->exclude_count = list_length(n->exclude);
    atomic_init(&n->tested, false);
    atomic_init(&n->hit, false);
    atomic_init(&n->excluded, false);
}

rocl_status rocl_names_compile(const rocl_names *n, rocl_name_cache *cache, rocl_error *err)
{
    size_t count = n->name_count + n->exclude_count;
    rocl_kind kind;
    if (count && !cache->patterns && !(cache->patterns = calloc(count, sizeof *cache->patterns)))
        return rocl_fail_memory(err);
    for (; cache->count < count; cache->count++) {
        size_t i = cache->count;
        bool wanted = i < n->name_count;
        const char *option = wanted ? n->name_option : n->exclude_option;
        const char *pattern = wanted ? n->name[i] : n->exclude[i - n->name_count];
        const size_t word = n->of_kernels ? 0 : strcspn(pattern, ":");
        const bool of_kind = word && pattern[word] && rocl_find_kind(pattern, word, &kind);
        const char *regex = of_kind ? pattern + word + 1 : pattern;
        if (!*regex)
            return rocl_fail(err, ROCL_USAGE,
                             "%s: \"%s\": an extended regular expression is needed", option,
                             pattern);
        rocl_status st =
            rocl_regex_compile(&cache->patterns[i].regex, option, pattern, regex, REG_NOSUB, err);
        if (st != ROCL_OK)
            return st;
        cache->patterns[i].kinds = of_kind ? ROCL_BIT(kind) : ROCL_ALL_KINDS;
        cache->by_kind |= of_kind;
    }
    return ROCL_OK;
}

void rocl_name_cache_free(rocl_name_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++)
        regfree(&cache->patterns[i].regex);
    for (size_t i = 0; i < cache->page_count; i++)
        free(cache->pages[i]);
    free(cache->patterns);
    free(cache->pages);
}

/* Does a name match any of the patterns for its kind? *any: there are some. */
static bool matches_any(const rocl_name_pattern *p, size_t count, rocl_kind kind, const char *text,
                        size_t len, bool *any)
{
    for (size_t i = 0; i < count; i++) {
        const bool is_for = p[i].kinds == ROCL_ALL_KINDS || rocl_kind_in(kind, p[i].kinds);
        *any |= is_for;
        if (is_for && rocl_regex_matches(&p[i].regex, text, len))
            return true;
    }
    return false;
}

static bool match_name(rocl_names *n, const rocl_name_cache *cache, const rocl_trace *t,
                       rocl_kind kind, uint32_t id)
{
    size_t len;
    const char *text = rocl_strings_get(t->strings, id, &len);
    bool wanted = false, unwanted = false;
    const bool hit = matches_any(cache->patterns, n->name_count, kind, text, len, &wanted);
    const bool excluded =
        matches_any(cache->patterns + n->name_count, n->exclude_count, kind, text, len, &unwanted);
    if (wanted || unwanted)
        atomic_store_explicit(&n->tested, true, memory_order_relaxed);
    if (hit)
        atomic_store_explicit(&n->hit, true, memory_order_relaxed);
    if (excluded)
        atomic_store_explicit(&n->excluded, true, memory_order_relaxed);
    return (hit || !wanted) && !excluded;
}

rocl_status rocl_names_test(rocl_names *n, rocl_name_cache *cache, const rocl_trace *t,
                            const rocl_batch *b, uint8_t *keep, rocl_error *err)
{
    size_t size = rocl_kind_size(b->kind);
    if (!n->name_count && !n->exclude_count)
        return ROCL_OK;
    if (n->of_kernels && !rocl_kind_in(b->kind, ROCL_KERNEL_KINDS))
        return ROCL_OK;
    rocl_status st = rocl_names_compile(n, cache, err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        if (!keep[i])
            continue;
        uint32_t id = n->of_kernels ? rocl_kernel_name_at(b, i) : rocl_event_at(b, size, i)->name;
        id = id == ROCL_NONE ? 0 : id; /* both are "" */
        size_t page = id >> PAGE_BITS;
        if (cache->by_kind)
            page = page * ROCL_KINDS + b->kind;
        if (!ROCL_GROW(cache->pages, cache->page_count, page + 1) ||
            (!cache->pages[page] && !(cache->pages[page] = calloc(1, PAGE_BYTES))))
            return rocl_fail_memory(err);
        uint8_t *byte = &cache->pages[page][(id & (PAGE_IDS - 1)) / 4];
        unsigned shift = 2 * (id % 4);
        if (((*byte >> shift) & 3) == UNKNOWN)
            *byte |= (uint8_t)((match_name(n, cache, t, b->kind, id) ? PASSED : DROPPED) << shift);
        keep[i] = ((*byte >> shift) & 3) == PASSED;
    }
    return st;
}

void rocl_names_report(const rocl_names *n, const rocl_trace *t)
{
    const char *what = n->of_kernels ? "kernel" : "event";
    if (n->name_count && atomic_load(&n->tested) && !atomic_load(&n->hit))
        rocl_notice(t, "%s: no %s has a matching name", n->name_option, what);
    if (n->exclude_count && atomic_load(&n->tested) && !atomic_load(&n->excluded))
        rocl_notice(t, "%s: no %s has a matching name", n->exclude_option, what);
}
