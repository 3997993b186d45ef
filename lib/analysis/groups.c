/* What groups of events are made of: domains, and the names of these. */
#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"

const char *rocl_domain_name(rocl_domain d)
{
    static const char *const names[ROCL_DOMAINS] = {
        "KERNELS",        "HIP",  "HSA",       "MARKERS", "MEMORY_COPIES", "MEMORY_ALLOCATIONS",
        "SCRATCH_MEMORY", "RCCL", "ROCDECODE", "ROCJPEG", "GRAPHS",        "HIP_EVENTS",
        "BARRIERS",       "OTHER"};
    return names[d];
}

static bool is_name(const char *word, const char *name)
{
    for (; *word && *name; word++, name++)
        if (toupper((unsigned char)(*word == '-' ? '_' : *word)) != *name)
            return false;
    return !*word && (!*name || *name == '_' || !strcmp(name, "S"));
}

static bool is_of_calls(rocl_domain d)
{
    return d == ROCL_DOMAIN_HIP || d == ROCL_DOMAIN_HSA || d == ROCL_DOMAIN_MARKERS ||
           d == ROCL_DOMAIN_RCCL || d == ROCL_DOMAIN_ROCDECODE || d == ROCL_DOMAIN_ROCJPEG ||
           d == ROCL_DOMAIN_OTHER;
}

static bool is_listed(const char *word, rocl_domain d)
{
    return is_name(word, "NONE") ? !is_of_calls(d) : is_name(word, rocl_domain_name(d));
}

bool rocl_domain_listed(const char *const *list, rocl_domain d)
{
    if (!list)
        return true;
    for (; *list; list++)
        if (is_listed(*list, d))
            return true;
    return false;
}

#define KNOWN                                                                                      \
    "kernels, hip, hsa, markers, memory_copies, memory_allocations, scratch_memory, rccl, "        \
    "rocdecode, rocjpeg, graphs, hip_events, barriers, other"

const char *rocl_domain_word(const void *ctx, size_t i)
{
    static const char *const words[] = {
        "kernels",        "hip",   "hsa",       "markers", "memory_copies", "memory_allocations",
        "scratch_memory", "rccl",  "rocdecode", "rocjpeg", "graphs",        "hip_events",
        "barriers",       "other", "none",      NULL};
    (void)ctx;
    return i < sizeof words / sizeof *words ? words[i] : NULL;
}

rocl_status rocl_domains_check(const char *const *list, rocl_error *err)
{
    for (; list && *list; list++) {
        unsigned d = 0;
        while (d < ROCL_DOMAINS && !is_listed(*list, (rocl_domain)d))
            d++;
        if (d < ROCL_DOMAINS)
            continue;
        const char *near = rocl_nearest_word(*list, strlen(*list), rocl_domain_word, NULL);
        return rocl_fail(err, ROCL_USAGE, "\"%.60s\" is no domain; known: " KNOWN "%s%s%s", *list,
                         near ? "; is " : "", near ? near : "", near ? " meant?" : "");
    }
    return ROCL_OK;
}

static const char *profiler_name(rocl_domain d)
{
    static const char *const names[ROCL_DOMAINS] = {
        [ROCL_DOMAIN_KERNELS] = "KERNEL_DISPATCH",
        [ROCL_DOMAIN_HIP] = "HIP_API",
        [ROCL_DOMAIN_HSA] = "HSA_API",
        [ROCL_DOMAIN_MARKERS] = "MARKER_API",
        [ROCL_DOMAIN_COPIES] = "MEMORY_COPY",
        [ROCL_DOMAIN_ALLOCATIONS] = "MEMORY_ALLOCATION",
        [ROCL_DOMAIN_SCRATCH] = "SCRATCH_MEMORY",
        [ROCL_DOMAIN_RCCL] = "RCCL_API",
        [ROCL_DOMAIN_ROCDECODE] = "ROCDECODE_API",
        [ROCL_DOMAIN_ROCJPEG] = "ROCJPEG_API",
    };
    return names[d] ? names[d] : rocl_domain_name(d);
}

static bool matches_all(const regex_t *re, const char *name)
{
    regmatch_t m;
    return !regexec(re, name, 1, &m, 0) && !m.rm_so && !name[m.rm_eo];
}

rocl_status rocl_domains_matching(const char *regex, uint32_t *domains, rocl_error *err)
{
    regex_t re;
    char why[128];
    int bad = regcomp(&re, regex, REG_EXTENDED | REG_ICASE);
    if (bad) {
        regerror(bad, &re, why, sizeof why);
        return rocl_fail(err, ROCL_USAGE, "\"%.60s\": %s", regex, why);
    }
    *domains = 0;
    for (unsigned d = 0; d < ROCL_DOMAINS; d++)
        if (matches_all(&re, rocl_domain_name((rocl_domain)d)) ||
            matches_all(&re, profiler_name((rocl_domain)d)))
            *domains |= 1u << d;
    regfree(&re);
    return *domains
               ? ROCL_OK
               : rocl_fail(err, ROCL_USAGE, "\"%.60s\" matches no domain; known: " KNOWN, regex);
}

rocl_domain rocl_domain_of(const rocl_trace *t, rocl_kind kind, uint32_t category)
{
    static const struct {
        const char *prefix;
        rocl_domain domain;
    } prefixes[] = {{"HIP_", ROCL_DOMAIN_HIP},
                    {"HSA_", ROCL_DOMAIN_HSA},
                    {"MARKER", ROCL_DOMAIN_MARKERS},
                    {"RCCL_", ROCL_DOMAIN_RCCL},
                    {"ROCDECODE_", ROCL_DOMAIN_ROCDECODE},
                    {"ROCJPEG_", ROCL_DOMAIN_ROCJPEG}};
    static const uint8_t kinds[ROCL_KINDS] = {
        [ROCL_DISPATCH] = ROCL_DOMAIN_KERNELS,     [ROCL_COPY] = ROCL_DOMAIN_COPIES,
        [ROCL_ALLOC] = ROCL_DOMAIN_ALLOCATIONS,    [ROCL_SCRATCH] = ROCL_DOMAIN_SCRATCH,
        [ROCL_GRAPH] = ROCL_DOMAIN_GRAPHS,         [ROCL_BARRIER] = ROCL_DOMAIN_BARRIERS,
        [ROCL_HIP_EVENT] = ROCL_DOMAIN_HIP_EVENTS, [ROCL_MARKER] = ROCL_DOMAIN_MARKERS};
    if (kind != ROCL_REGION && kind != ROCL_INSTANT)
        return (rocl_domain)kinds[kind];
    const char *s = rocl_str(t, category);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(s, prefixes[i].prefix, strlen(prefixes[i].prefix)))
            return prefixes[i].domain;
    return ROCL_DOMAIN_OTHER;
}
