/* --include and --exclude. A word of theirs is a kind of event, or else the beginning of a category
 * up to an underscore: "hip" is HIP_RUNTIME_API_EXT and all other HIP_*, "hip_runtime_api" too.
 * Case and '-' for '_' do not matter, nor does the ROCM_ that other writers begin their categories
 * with.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "filter/stages.h"

/* Which lists a category is in. */
enum { INCLUDED = 1, EXCLUDED = 2 };

/* ---- words ---- */

/* Other words for kinds than rocl_kind_name() and its plural. */
static const struct {
    const char *word;
    rocl_kind kind;
} aliases[] = {
    {"roctx", ROCL_MARKER},
    {"api", ROCL_REGION},
    {"mark", ROCL_INSTANT},
    {"dispatch", ROCL_DISPATCH},
    {"dispatches", ROCL_DISPATCH},
    {"kernel_dispatch", ROCL_DISPATCH},
    {"copies", ROCL_COPY},
    {"memcpy", ROCL_COPY},
    {"memory_copy", ROCL_COPY},
    {"allocation", ROCL_ALLOC},
    {"memory_allocation", ROCL_ALLOC},
    {"scratch_memory", ROCL_SCRATCH},
    {"pmc", ROCL_COUNTER},
    {"graph_launch", ROCL_GRAPH},
};

/* The categories that profilers write; --include knows the groups of calls, too, without having met
 * one of their categories. */
static const char *const categories[] = {"hip_runtime_api",
                                         "hip_runtime_api_ext",
                                         "hip_compiler_api",
                                         "hip_compiler_api_ext",
                                         "hip_api",
                                         "hsa_core_api",
                                         "hsa_amd_ext_api",
                                         "hsa_image_ext_api",
                                         "hsa_finalize_ext_api",
                                         "hsa_api",
                                         "marker_core_api",
                                         "marker_core_range_api",
                                         "marker_control_api",
                                         "marker_name_api",
                                         "rccl_api",
                                         "rocdecode_api",
                                         "rocdecode_api_ext",
                                         "rocjpeg_api",
                                         "kokkos",
                                         "host",
                                         "timer_sampling",
                                         "overflow_sampling",
                                         "hip_stream",
                                         "kfd"};

enum {
    ALIASES = sizeof aliases / sizeof *aliases,
    CATEGORIES = sizeof categories / sizeof *categories
};

const char *rocl_include_word(const void *ctx, size_t i)
{
    (void)ctx;
    if (i < ROCL_KINDS)
        return rocl_kind_name((rocl_kind)i);
    i -= ROCL_KINDS;
    if (i < ALIASES)
        return aliases[i].word;
    i -= ALIASES;
    if (i < ROCL_CALL_GROUPS)
        return rocl_call_groups[i].word;
    i -= ROCL_CALL_GROUPS;
    return i < CATEGORIES ? categories[i] : NULL;
}

static char fold_case(char c)
{
    return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

/* Does `text` begin with `word`, up to its end or an underscore? */
static bool begins_with(const char *text, const char *word)
{
    for (; *word; text++, word++)
        if (fold_case(*text) != fold_case(*word))
            return false;
    return !*text || *text == '_';
}

/* Is `text` the word, or its plural? */
static bool is_word(const char *text, size_t len, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; i < n; i++)
        if (i == len || fold_case(text[i]) != fold_case(word[i]))
            return false;
    return len == n || (len == n + 1 && fold_case(text[n]) == 's');
}

static bool is_of_category(const char *category, const char *word)
{
    return begins_with(category, word) || begins_with(rocl_bare_category(category), word);
}

bool rocl_find_kind(const char *word, size_t len, rocl_kind *kind)
{
    for (size_t i = 0; i < ALIASES; i++)
        if (is_word(word, len, aliases[i].word)) {
            *kind = aliases[i].kind;
            return true;
        }
    for (unsigned k = 0; k < ROCL_KINDS; k++)
        if (is_word(word, len, rocl_kind_name((rocl_kind)k))) {
            *kind = (rocl_kind)k;
            return true;
        }
    return false;
}

/* Is it the beginning of a category that somebody is known to write? */
static bool is_known_category(const char *word)
{
    const char *bare = rocl_bare_category(word);
    for (size_t i = 0; i < ROCL_CALL_GROUPS; i++)
        if (!strcasecmp(word, rocl_call_groups[i].word))
            return true;
    for (size_t i = 0; i < CATEGORIES; i++)
        if (begins_with(categories[i], bare) || is_word(word, strlen(word), categories[i]))
            return true;
    return false;
}

/* Sources know their texts before their events: what no text begins with will not be met. */
static bool is_in_trace(const rocl_trace *t, const char *word)
{
    size_t n = rocl_strings_count(t->strings);
    for (uint32_t i = 1; i < n; i++)
        if (is_of_category(rocl_str(t, i), word))
            return true;
    return false;
}

static rocl_status fail_unknown(const rocl_kind_words *k, const char *word, rocl_error *err)
{
    const char *near = rocl_nearest_word(word, strlen(word), rocl_include_word, NULL);
    if (near)
        return rocl_fail(err, ROCL_USAGE,
                         "%s: \"%.100s\" is neither a kind of event nor a category of the trace; "
                         "did you mean %s?",
                         k->option, word, near);
    return rocl_fail(err, ROCL_USAGE,
                     "%s: \"%.100s\" is neither a kind of event (region, marker, kernel, copy, "
                     "...) nor a category of the trace (hip, hsa, HIP_RUNTIME_API_EXT, ...)",
                     k->option, word);
}

/* ---- reading the options ---- */

static rocl_status add_word(rocl_kind_words *k, const rocl_trace *t, const char *text, size_t len,
                            rocl_error *err)
{
    if (!ROCL_GROW(k->words, k->cap, k->count + 1))
        return rocl_fail_memory(err);
    rocl_kind_word *w = &k->words[k->count++];
    atomic_init(&w->hit, false);
    w->text = strndup(text, len);
    if (!w->text)
        return rocl_fail_memory(err);
    rocl_kind kind;
    if (rocl_find_kind(text, len, &kind)) {
        w->kinds = ROCL_BIT(kind);
        /* ROCTx marks are instants, and pausing the profiler is a region: both are MARKER_*. */
        w->category = kind == ROCL_MARKER ? "marker" : NULL;
    } else {
        w->category = w->text;
        w->unknown = !is_known_category(w->text);
        /* In a team rank 0 has looked in all inputs. */
        if (w->unknown && !t->joint && !is_in_trace(t, w->text))
            return fail_unknown(k, w->text, err);
    }
    k->kinds |= w->kinds;
    k->by_category |= w->category != NULL;
    return ROCL_OK;
}

static rocl_status read_words(rocl_kind_words *k, const rocl_trace *t, const char *option,
                              const char *const *list, rocl_error *err)
{
    *k = (rocl_kind_words){.option = option};
    for (; list && *list; list++) {
        size_t before = k->count;
        for (const char *s = *list; *s; s += *s == ',') {
            s += strspn(s, " \t");
            size_t len = strcspn(s, ","), trimmed = len;
            while (trimmed && (s[trimmed - 1] == ' ' || s[trimmed - 1] == '\t'))
                trimmed--;
            rocl_status st = trimmed ? add_word(k, t, s, trimmed, err) : ROCL_OK;
            if (st != ROCL_OK)
                return st;
            s += len;
        }
        if (k->count == before)
            return rocl_fail(err, ROCL_USAGE,
                             "%s: \"%.100s\": kinds of events (region, marker, kernel, copy, ...) "
                             "or categories (hip, hsa, HIP_RUNTIME_API_EXT, ...) are allowed",
                             option, *list);
    }
    return ROCL_OK;
}

rocl_status rocl_kinds_new(rocl_kinds *k, const rocl_trace *t, rocl_error *err)
{
    *k = (rocl_kinds){0};
    rocl_status st = read_words(&k->include, t, "--include", t->opt.include, err);
    if (st == ROCL_OK)
        st = read_words(&k->exclude, t, "--exclude", t->opt.exclude, err);
    /* Categories of calls are those of some kinds: then the tables of the others need not be read.
     */
    k->possible = k->include.count ? k->include.kinds : ROCL_ALL_KINDS;
    for (size_t i = 0; i < k->include.count; i++) {
        const char *category = k->include.words[i].category;
        if (category)
            k->possible |=
                rocl_call_group_of(category) ? (uint32_t)ROCL_CALL_KINDS : ROCL_ALL_KINDS;
    }
    k->possible &= ~k->exclude.kinds;
    return st;
}

static void free_words(rocl_kind_words *k)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->words[i].text);
    free(k->words);
}

void rocl_kinds_free(rocl_kinds *k)
{
    free_words(&k->include);
    free_words(&k->exclude);
}

/* ---- events ---- */

static void mark_hit(rocl_kind_word *w)
{
    /* Looked at first: a store would take the cache line from the other workers every time. */
    if (!atomic_load_explicit(&w->hit, memory_order_relaxed))
        atomic_store_explicit(&w->hit, true, memory_order_relaxed);
}

static void mark_kind(rocl_kind_words *k, rocl_kind kind)
{
    for (size_t i = 0; i < k->count; i++)
        if (rocl_kind_in(kind, k->words[i].kinds))
            mark_hit(&k->words[i]);
}

/* Is a category meant by any of the words? Marks all that mean it. */
static bool mark_category(rocl_kind_words *k, const char *category)
{
    bool any = false;
    for (size_t i = 0; i < k->count; i++) {
        rocl_kind_word *w = &k->words[i];
        if (!w->category || !is_of_category(category, w->category))
            continue;
        mark_hit(w);
        any = true;
    }
    return any;
}

static rocl_status look_up_category(rocl_kinds *k, rocl_kind_cache *cache, const rocl_trace *t,
                                    uint32_t category, uint32_t *lists, rocl_error *err)
{
    if (cache->any && cache->last == category) {
        *lists = cache->last_lists;
        return ROCL_OK;
    }
    *lists = rocl_map_get(&cache->lists, category, ROCL_NONE);
    if (*lists == ROCL_NONE) {
        const char *text = rocl_str(t, category);
        *lists = mark_category(&k->include, text) ? INCLUDED : 0;
        *lists |= mark_category(&k->exclude, text) ? EXCLUDED : 0;
        if (!rocl_map_put(&cache->lists, category, *lists))
            return rocl_fail_memory(err);
    }
    cache->any = true;
    cache->last = category;
    cache->last_lists = *lists;
    return ROCL_OK;
}

rocl_status rocl_kinds_test(rocl_kinds *k, rocl_kind_cache *cache, const rocl_trace *t,
                            const rocl_batch *b, uint8_t *keep, rocl_error *err)
{
    bool included = !k->include.count || rocl_kind_in(b->kind, k->include.kinds);
    mark_kind(&k->include, b->kind);
    mark_kind(&k->exclude, b->kind);
    if (rocl_kind_in(b->kind, k->exclude.kinds)) {
        memset(keep, 0, b->count);
        return ROCL_OK;
    }
    if (!k->include.by_category && !k->exclude.by_category && included)
        return ROCL_OK;
    size_t size = rocl_kind_size(b->kind);
    for (size_t i = 0; i < b->count; i++) {
        uint32_t lists, category = rocl_event_at(b, size, i)->category;
        rocl_status st = look_up_category(k, cache, t, category, &lists, err);
        if (st != ROCL_OK)
            return st;
        keep[i] &= (uint8_t)((included || (lists & INCLUDED)) && !(lists & EXCLUDED));
    }
    return ROCL_OK;
}

/* ---- afterwards ---- */

/* Words that nothing was meant by, where everything was read that they can mean: categories are
 * those of host calls. */
static rocl_status report_words(const rocl_kind_words *k, const rocl_trace *t, uint32_t kinds_read,
                                rocl_error *err)
{
    for (size_t i = 0; i < k->count; i++) {
        const rocl_kind_word *w = &k->words[i];
        uint32_t kinds = w->kinds | (w->category ? (uint32_t)ROCL_HOST_KINDS : 0);
        if ((kinds & ~kinds_read) || atomic_load(&w->hit))
            continue;
        if (w->unknown)
            return fail_unknown(k, w->text, err);
        rocl_notice(t, "%s: \"%.100s\" matched nothing", k->option, w->text);
    }
    return ROCL_OK;
}

rocl_status rocl_kinds_report(const rocl_kinds *k, const rocl_trace *t, uint32_t kinds_read,
                              rocl_error *err)
{
    rocl_status st = report_words(&k->include, t, kinds_read, err);
    if (st != ROCL_OK)
        return st;
    return report_words(&k->exclude, t, kinds_read & ~k->exclude.kinds, err);
}
