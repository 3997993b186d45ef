#include "filter/stages.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

/* A word of --include or --exclude is a kind of event, or else the beginning of a category up to an
 * underscore: "hip" is HIP_RUNTIME_API_EXT and all other HIP_*, "hip_runtime_api" too. Case and
 * '-' for '_' do not matter, nor does the ROCM_ that other writers begin their categories with. */

/* Verdicts on a category. */
enum { INCLUDED = 1, EXCLUDED = 2 };

#define HOST_KINDS                                                                                 \
    (ROCL_ALL_KINDS & ~(ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY) | ROCL_BIT(ROCL_ALLOC) |     \
                        ROCL_BIT(ROCL_SCRATCH) | ROCL_BIT(ROCL_COUNTER) | ROCL_BIT(ROCL_SPM) |     \
                        ROCL_BIT(ROCL_BARRIER)))

/* Other words for kinds than rocl_kind_name() and its plural. */
static const struct {
    const char *word;
    uint32_t kinds;
    const char *category;
} aliases[] = {
    /* ROCTx marks are instants, and pausing the profiler is a region: both are MARKER_*. */
    {"marker", ROCL_BIT(ROCL_MARKER), "marker"},
    {"roctx", ROCL_BIT(ROCL_MARKER), "marker"},
    {"api", ROCL_BIT(ROCL_REGION), NULL},
    {"mark", ROCL_BIT(ROCL_INSTANT), NULL},
    {"dispatch", ROCL_BIT(ROCL_DISPATCH), NULL},
    {"dispatches", ROCL_BIT(ROCL_DISPATCH), NULL},
    {"kernel_dispatch", ROCL_BIT(ROCL_DISPATCH), NULL},
    {"copies", ROCL_BIT(ROCL_COPY), NULL},
    {"memcpy", ROCL_BIT(ROCL_COPY), NULL},
    {"memory_copy", ROCL_BIT(ROCL_COPY), NULL},
    {"allocation", ROCL_BIT(ROCL_ALLOC), NULL},
    {"memory_allocation", ROCL_BIT(ROCL_ALLOC), NULL},
    {"scratch_memory", ROCL_BIT(ROCL_SCRATCH), NULL},
    {"pmc", ROCL_BIT(ROCL_COUNTER), NULL},
    {"graph_launch", ROCL_BIT(ROCL_GRAPH), NULL},
};

/* Categories that only host calls have. With these the tables of GPU work need not be read. */
static const char *const host_groups[] = {"hip",       "hsa",     "rccl", "nccl", "marker",
                                          "rocdecode", "rocjpeg", "ompt", "mpi"};

/* The categories that profilers write, and more that --include knows without having met them. */
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

/* Kinds, other words for them, groups of categories, categories. */
const char *rocl_include_word(const void *ctx, size_t i)
{
    const size_t groups = sizeof host_groups / sizeof *host_groups;
    const size_t names = sizeof aliases / sizeof *aliases;
    const size_t rest = sizeof categories / sizeof *categories;
    (void)ctx;
    if (i < ROCL_KINDS)
        return rocl_kind_name((rocl_kind)i);
    i -= ROCL_KINDS;
    if (i < names)
        return aliases[i].word;
    i -= names;
    if (i < groups)
        return host_groups[i];
    i -= groups;
    return i < rest ? categories[i] : NULL;
}

static char fold(char c)
{
    return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

/* Does `text` begin with `word`, up to its end or an underscore? */
static bool begins(const char *text, const char *word)
{
    for (; *word; text++, word++) {
        if (fold(*text) != fold(*word))
            return false;
    }
    return !*text || *text == '_';
}

/* Is `text` the word, or its plural? */
static bool means(const char *text, const char *word)
{
    for (; *word && fold(*text) == fold(*word); text++)
        word++;
    return !*word && (!*text || (fold(*text) == 's' && !text[1]));
}

/* ---- reading the options --------------------------------------------------------------------- */

/* True when the word is the name of a kind. */
static bool find_kind(rocl_kind_word *w, const char **category)
{
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (means(w->text, aliases[i].word)) {
            w->kinds = aliases[i].kinds;
            *category = aliases[i].category;
            return true;
        }
    }
    for (unsigned k = 0; k < ROCL_KINDS; k++) {
        if (means(w->text, rocl_kind_name((rocl_kind)k))) {
            w->kinds = ROCL_BIT(k);
            return true;
        }
    }
    return false;
}

static const char *without_rocm(const char *category)
{
    return strncasecmp(category, "rocm_", 5) == 0 ? category + 5 : category;
}

/* Is it the beginning of a category that somebody is known to write? */
static bool is_known(const char *word)
{
    for (size_t i = 0; i < sizeof host_groups / sizeof *host_groups; i++)
        if (begins(without_rocm(word), host_groups[i]) && strlen(word) <= strlen(host_groups[i]))
            return true;
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (begins(categories[i], without_rocm(word)) || means(word, categories[i]))
            return true;
    return false;
}

static rocl_status unknown_word(const rocl_kind_words *k, const char *word, rocl_error *err)
{
    const char *near = rocl_nearest_word(word, strlen(word), rocl_include_word, NULL);
    if (near)
        return rocl_fail(err, ROCL_USAGE,
                         "%s: \"%.100s\" is no kind of events and no category of the trace; is %s "
                         "meant?",
                         k->option, word, near);
    return rocl_fail(err, ROCL_USAGE,
                     "%s: \"%.100s\" is no kind of events (region, marker, kernel, copy, ...) and "
                     "no category of the trace (hip, hsa, HIP_RUNTIME_API_EXT, ...)",
                     k->option, word);
}

/* Sources know their texts before their events; what none begins with will not be met. */
static bool is_text_of(const rocl_trace *t, const char *word)
{
    size_t n = rocl_strings_count(t->strings);
    for (uint32_t i = 1; i < n; i++) {
        const char *text = rocl_str(t, i);
        if (begins(text, word) || begins(without_rocm(text), word))
            return true;
    }
    return false;
}

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
    const char *category = NULL;
    if (!find_kind(w, &category)) {
        category = w->text;
        w->unknown = !is_known(w->text);
    }
    if (w->unknown && !is_text_of(t, w->text))
        return unknown_word(k, w->text, err);
    if (category && !(w->category = strdup(category)))
        return rocl_fail_memory(err);
    k->kinds |= w->kinds;
    k->by_category |= category != NULL;
    return ROCL_OK;
}

static rocl_status add_words(rocl_kind_words *k, const rocl_trace *t, const char *text,
                             rocl_error *err)
{
    size_t before = k->count;
    for (const char *s = text; *s; s += *s == ',') {
        s += strspn(s, " \t");
        size_t len = strcspn(s, ","), trimmed = len;
        while (trimmed && (s[trimmed - 1] == ' ' || s[trimmed - 1] == '\t'))
            trimmed--;
        rocl_status st = trimmed ? add_word(k, t, s, trimmed, err) : ROCL_OK;
        if (st != ROCL_OK)
            return st;
        s += len;
    }
    if (k->count > before)
        return ROCL_OK;
    return rocl_fail(err, ROCL_USAGE,
                     "%s: \"%.100s\": kinds of events (region, marker, kernel, copy, ...) or "
                     "categories (hip, hsa, HIP_RUNTIME_API_EXT, ...) are allowed",
                     k->option, text);
}

static rocl_status read_words(rocl_kind_words *k, const rocl_trace *t, const char *option,
                              const char *const *list, rocl_error *err)
{
    *k = (rocl_kind_words){.option = option};
    for (; list && *list; list++) {
        rocl_status st = add_words(k, t, *list, err);
        if (st != ROCL_OK)
            return st;
    }
    return ROCL_OK;
}

static uint32_t kinds_of_category(const char *category)
{
    for (size_t i = 0; i < sizeof host_groups / sizeof host_groups[0]; i++) {
        if (begins(category, host_groups[i]))
            return HOST_KINDS;
    }
    return ROCL_ALL_KINDS;
}

static uint32_t possible_kinds(const rocl_kinds *k)
{
    uint32_t kinds = k->include.count ? k->include.kinds : ROCL_ALL_KINDS;
    for (size_t i = 0; i < k->include.count; i++) {
        if (k->include.words[i].category)
            kinds |= kinds_of_category(k->include.words[i].category);
    }
    return kinds & ~k->exclude.kinds;
}

rocl_status rocl_kinds_new(rocl_kinds *k, const rocl_trace *t, rocl_error *err)
{
    *k = (rocl_kinds){0};
    rocl_status st = read_words(&k->include, t, "--include", t->opt.include, err);
    if (st == ROCL_OK)
        st = read_words(&k->exclude, t, "--exclude", t->opt.exclude, err);
    k->possible = possible_kinds(k);
    return st;
}

static void free_words(rocl_kind_words *k)
{
    for (size_t i = 0; i < k->count; i++) {
        free(k->words[i].text);
        free(k->words[i].category);
    }
    free(k->words);
}

void rocl_kinds_free(rocl_kinds *k)
{
    free_words(&k->include);
    free_words(&k->exclude);
}

/* ---- judging --------------------------------------------------------------------------------- */

static void hit(rocl_kind_word *w)
{
    /* Looked at first: a store would take the cache line from the other workers every time. */
    if (!atomic_load_explicit(&w->hit, memory_order_relaxed))
        atomic_store_explicit(&w->hit, true, memory_order_relaxed);
}

static void hit_kind(rocl_kind_words *k, rocl_kind kind)
{
    for (size_t i = 0; i < k->count; i++) {
        if (k->words[i].kinds & ROCL_BIT(kind))
            hit(&k->words[i]);
    }
}

static bool hit_category(rocl_kind_words *k, const char *category)
{
    const char *bare = without_rocm(category);
    bool any = false;
    for (size_t i = 0; i < k->count; i++) {
        rocl_kind_word *w = &k->words[i];
        if (!w->category || (!begins(category, w->category) && !begins(bare, w->category)))
            continue;
        hit(w);
        any = true;
    }
    return any;
}

static rocl_status verdict_on(rocl_kinds *k, rocl_kind_cache *cache, const rocl_trace *t,
                              uint32_t category, uint32_t *verdict, rocl_error *err)
{
    if (cache->any && cache->last == category) {
        *verdict = cache->last_verdict;
        return ROCL_OK;
    }
    *verdict = rocl_map_get(&cache->verdicts, category, ROCL_NONE);
    if (*verdict == ROCL_NONE) {
        const char *text = rocl_str(t, category);
        *verdict = hit_category(&k->include, text) ? INCLUDED : 0;
        *verdict |= hit_category(&k->exclude, text) ? EXCLUDED : 0;
        if (!rocl_map_put(&cache->verdicts, category, *verdict))
            return rocl_fail_memory(err);
    }
    cache->any = true;
    cache->last = category;
    cache->last_verdict = *verdict;
    return ROCL_OK;
}

rocl_status rocl_kinds_judge(rocl_kinds *k, rocl_kind_cache *cache, const rocl_trace *t,
                             const rocl_batch *b, uint8_t *keep, rocl_error *err)
{
    uint32_t bit = ROCL_BIT(b->kind);
    bool included = !k->include.count || (k->include.kinds & bit);
    hit_kind(&k->include, b->kind);
    hit_kind(&k->exclude, b->kind);
    if (k->exclude.kinds & bit) {
        memset(keep, 0, b->count);
        return ROCL_OK;
    }
    if (!k->include.by_category && !k->exclude.by_category && included)
        return ROCL_OK;
    size_t size = rocl_kind_size(b->kind);
    for (size_t i = 0; i < b->count; i++) {
        uint32_t verdict;
        const rocl_event *e = rocl_event_at(b, size, i);
        rocl_status st = verdict_on(k, cache, t, e->category, &verdict, err);
        if (st != ROCL_OK)
            return st;
        keep[i] &= (uint8_t)((included || (verdict & INCLUDED)) && !(verdict & EXCLUDED));
    }
    return ROCL_OK;
}

/* Was everything read that the word can mean? Categories are those of host calls. */
static bool was_read(const rocl_kind_word *w, uint32_t kinds_read)
{
    const uint32_t calls = ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_INSTANT);
    uint32_t kinds = w->kinds | (w->category ? calls : 0);
    return (kinds & kinds_read) == kinds;
}

static rocl_status report_words(const rocl_kind_words *k, const rocl_trace *t, uint32_t kinds_read,
                                rocl_error *err)
{
    for (size_t i = 0; i < k->count; i++) {
        const rocl_kind_word *w = &k->words[i];
        if (!was_read(w, kinds_read) || atomic_load(&w->hit))
            continue;
        if (w->unknown)
            return unknown_word(k, w->text, err);
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
