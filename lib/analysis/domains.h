/* Domains as options and reports name them. */
#ifndef ROCL_ANALYSIS_DOMAINS_H
#define ROCL_ANALYSIS_DOMAINS_H

#include "base/error.h"
#include "model/trace.h"

/* Kinds that have a duration, not a value. */
#define ROCL_TIMED_KINDS (ROCL_ALL_KINDS & ~(uint32_t)ROCL_VALUE_KINDS)

static inline const char *rocl_domain_name(rocl_domain d)
{
    return rocl_domain_infos[d].name;
}

/* Is it in the list of names? Everything is in NULL. A name is written in any case, with '-' as
 * good as '_', and may be without its plural s or what follows a '_', as in `rocpd summary`; NONE
 * stands for all that are not of host calls. */
bool rocl_domain_listed(const char *const *list, rocl_domain d);
/* ROCL_USAGE when a name of the list is of no domain. */
rocl_status rocl_domains_check(const char *const *list, rocl_error *err);
/* Those (1 << domain) whose name, or that of rocprofv3, matches the POSIX extended regular
 * expression as a whole, in any case. ROCL_USAGE: there is none, or it is no such expression. */
rocl_status rocl_domains_matching(const char *regex, uint32_t *domains, rocl_error *err);

#endif
