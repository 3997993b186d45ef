/* Names in a comparison. */
#include "analysis/side_key.h"

#include <stdlib.h>
#include <string.h>

uint32_t rocl_side_key(rocl_strings *keys, rocl_domain d, const char *name, size_t n)
{
    char *key = malloc(n + 1);
    if (!key)
        return ROCL_NONE;
    key[0] = (char)d;
    memcpy(key + 1, name, n);
    const uint32_t id = rocl_strings_put(keys, key, n + 1);
    free(key);
    return id;
}
