/* Names in a comparison: both sides have the same ids for them. */
#pragma once

#include "base/strings.h"
#include "model/trace.h"

/* The id of a name in a domain; ROCL_NONE: memory is out. keys: of both sides, each a byte for the
 * domain, then the name. */
uint32_t rocl_side_key(rocl_strings *keys, rocl_domain d, const char *name, size_t n);

static inline rocl_domain rocl_key_domain(const char *key)
{
    return (rocl_domain)key[0];
}

/* The domain is in the byte before it. */
static inline rocl_view rocl_key_name(const rocl_strings *keys, uint32_t id)
{
    size_t n;
    const char *key = rocl_strings_get(keys, id, &n);
    return (rocl_view){key + 1, n - 1};
}
