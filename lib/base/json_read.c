#include "base/json_read.h"

#include <stdlib.h>

/* What cJSON needs of a text at most: an element for every two characters of "[1,1,1]". */
static bool has_memory(size_t len)
{
    void *p = malloc((len + 64) * sizeof(cJSON));
    free(p);
    return p != NULL;
}

bool rocl_json_read(cJSON **root, const char *text, size_t len)
{
    *root = cJSON_ParseWithLength(text, len);
    if (!*root && has_memory(len)) /* it may have come back only now */
        *root = cJSON_ParseWithLength(text, len);
    else if (!*root)
        return false;
    return true;
}
