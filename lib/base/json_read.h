/* JSON text as a tree of cJSON. */
#ifndef ROCL_BASE_JSON_READ_H
#define ROCL_BASE_JSON_READ_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* *root: the caller's, with cJSON_Delete; NULL when the text does not parse. False: out of memory,
 * of which cJSON says nothing. */
bool rocl_json_read(cJSON **root, const char *text, size_t len);

#endif
