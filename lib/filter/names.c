/* --name and --exclude-name, and those for kernels: each name is matched once per worker. */
#include "filter/stages.h"

#include <stdlib.h>

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
    n->name_option = of_kernels ? "--kernel-include" : "--name";
    n->exclude_option = of_kernels ? "--kernel-exclude" : "--exclude-name";
    n->name = of_kernels ? o->kernel_include : o->names;
    n->exclude = of_kernels ? o->kernel_exclude : o->exclude_names;
    n->name_count = list_length(n->name);
    n->exclude_count = list_length(n->exclude);
    atomic_init(&n->tested, false);
    atomic_init(&n->hit, false);
}

rocl_status rocl_names_compile(const rocl_names *n, rocl_name_cache *cache, rocl_error *err)
{
    size_t count = n->name_count + n->exclude_count;
    if (count && !cache->regs && !(cache->regs = calloc(count, sizeof *cache->regs)))
        return rocl_fail_memory(err);
    for (; cache->count < count; cache->count++) {
        size_t i = cache->count;
        bool wanted = i < n->name_count;
        const char *option = wanted ? n->name_option : n->exclude_option;
        const char *pattern = wanted ? n->name[i] : n->exclude[i - n->name_count];
        if (!*pattern)
            return rocl_fail(err, ROCL_USAGE, "%s: \"\": an extended regular expression is needed",
                             option);
        rocl_status st =
            rocl_regex_compile(&cache->regs[i], option, pattern, pattern, REG_NOSUB, err);
        if (st != ROCL_OK)
            return st;
    }
    return ROCL_OK;
}

void rocl_name_cache_free(rocl_name_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++)
        regfree(&cache->regs[i]);
    for (size_t i = 0; i < cache->page_count; i++)
        free(cache->pages[i]);
    free(cache->regs);
    free(cache->pages);
}

static bool matches_any(const regex_t *regs, size_t count, const char *text, size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (rocl_regex_matches(&regs[i], text, len))
            return true;
    return false;
}

static bool match_name(rocl_names *n, const rocl_name_cache *cache, const rocl_trace *t,
                       uint32_t id)
{
    size_t len;
    const char *text = rocl_strings_get(t->strings, id, &len);
    bool wanted = !n->name_count || matches_any(cache->regs, n->name_count, text, len);
    atomic_store_explicit(&n->tested, true, memory_order_relaxed);
    if (wanted)
        atomic_store_explicit(&n->hit, true, memory_order_relaxed);
    return wanted && !matches_any(cache->regs + n->name_count, n->exclude_count, text, len);
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
        if (!ROCL_GROW(cache->pages, cache->page_count, page + 1) ||
            (!cache->pages[page] && !(cache->pages[page] = calloc(1, PAGE_BYTES))))
            return rocl_fail_memory(err);
        uint8_t *byte = &cache->pages[page][(id & (PAGE_IDS - 1)) / 4];
        unsigned shift = 2 * (id % 4);
        if (((*byte >> shift) & 3) == UNKNOWN)
            *byte |= (uint8_t)((match_name(n, cache, t, id) ? PASSED : DROPPED) << shift);
        keep[i] = ((*byte >> shift) & 3) == PASSED;
    }
    return st;
}

void rocl_names_report(const rocl_names *n, const rocl_trace *t)
{
    if (n->name_count && atomic_load(&n->tested) && !atomic_load(&n->hit))
        rocl_notice(t, "%s: no %s has a matching name", n->name_option,
                    n->of_kernels ? "kernel" : "event");
}
