/* Domains as options and reports name them: the words of --domain and --region-categories. */
#include <ctype.h>
#include <regex.h>
#include <string.h>

#include "analysis/domains.h"
#include "base/regex.h"

static bool is_name(const char *word, const char *name)
{
    for (; *word && *name; word++, name++)
        if (toupper((unsigned char)(*word == '-' ? '_' : *word)) != *name)
            return false;
    return !*word && (!*name || *name == '_' || !strcmp(name, "S"));
}

static bool is_listed(const char *word, rocl_domain d)
{
    return is_name(word, "NONE") ? !rocl_domain_infos[d].calls
                                 : is_name(word, rocl_domain_infos[d].name);
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

const char *rocl_domain_word(const void *ctx, size_t i)
{
    (void)ctx;
    return i < ROCL_DOMAINS ? rocl_domain_infos[i].word : i == ROCL_DOMAINS ? "none" : NULL;
}

/* "kernels, hip, ..." */
#define WORD(domain, word, ...) ", " word
static const char known_words[] = ROCL_DOMAIN_TABLE(WORD);
#define KNOWN (known_words + 2)

rocl_status rocl_domains_check(const char *const *list, rocl_error *err)
{
    for (; list && *list; list++) {
        unsigned d = 0;
        while (d < ROCL_DOMAINS && !is_listed(*list, (rocl_domain)d))
            d++;
        if (d < ROCL_DOMAINS)
            continue;
        const char *near = rocl_nearest_word(*list, strlen(*list), rocl_domain_word, NULL);
        return rocl_fail(err, ROCL_USAGE, "\"%.60s\" is not a domain; known: %s%s%s%s", *list,
                         KNOWN, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    return ROCL_OK;
}

static bool matches_all(const regex_t *re, const char *name)
{
    regmatch_t m;
    return !regexec(re, name, 1, &m, 0) && !m.rm_so && !name[m.rm_eo];
}

rocl_status rocl_domains_matching(const char *regex, uint32_t *domains, rocl_error *err)
{
    regex_t re;
    rocl_status st = rocl_regex_compile(&re, "--summary-groups", regex, regex, REG_ICASE, err);
    if (st != ROCL_OK)
        return st;
    *domains = 0;
    for (unsigned d = 0; d < ROCL_DOMAINS; d++) {
        const rocl_domain_info *i = &rocl_domain_infos[d];
        if (matches_all(&re, i->name) || (i->profiler && matches_all(&re, i->profiler)))
            *domains |= 1u << d;
    }
    regfree(&re);
    return *domains
               ? ROCL_OK
               : rocl_fail(err, ROCL_USAGE, "\"%.60s\" matches no domain; known: %s", regex, KNOWN);
}
