/* Domains as options and reports name them. */
#pragma once

#include "base/error.h"
#include "model/trace.h"

/* Kinds that have a duration, not a value. */
#define ROCL_TIMED_KINDS (ROCL_ALL_KINDS & ~(uint32_t)ROCL_VALUE_KINDS)

static inline const char *rocl_domain_name(rocl_domain d)
{
    return rocl_domain_infos[d].name;
}

/* Is it in the list of names? Everything is in NULL. Names ignore case, may have '-' for '_', and
 * may lack the plural s or the part after a '_', as in `rocpd summary`; NONE stands for all domains
 * other than host calls. */
bool rocl_domain_listed(const char *const *list, rocl_domain d);
/* ROCL_USAGE when a name of the list is of no domain. */
rocl_status rocl_domains_check(const char *const *list, rocl_error *err);
/* The domains (1 << domain) whose whole name, or rocprofv3's, matches the POSIX extended regular
 * expression, ignoring case. ROCL_USAGE: there are none, or it is not such an expression. */
rocl_status rocl_domains_matching(const char *regex, uint32_t *domains, rocl_error *err);
