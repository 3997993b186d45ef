/* The few facts that hide in JSON columns. */
#include "source/json.h"

#include "base/json_read.h"

#include <stdlib.h>
#include <string.h>

/* {"message":"..."} without escapes is what every ROCTx event holds: taken without a parser. */
static bool plain_message(const char *json, size_t len, const char *key, const char **p, size_t *n)
{
    size_t k = strlen(key);
    if (len < k + 7 || json[0] != '{' || json[1] != '"' || memcmp(json + 2, key, k) ||
        memcmp(json + 2 + k, "\":", 2))
        return false;
    size_t at = k + 4;
    if (json[at] == ' ')
        at++;
    if (at + 3 > len || json[at] != '"' || json[len - 1] != '}' || json[len - 2] != '"')
        return false;
    *p = json + at + 1;
    *n = len - 2 - (at + 1);
    return !memchr(*p, '"', *n) && !memchr(*p, '\\', *n);
}

uint32_t rocl_json_text(rocl_trace *t, const char *json, size_t len, const char *key, bool *bad)
{
    const char *p;
    size_t n;
    uint32_t text = ROCL_NONE;
    if (plain_message(json, len, key, &p, &n))
        return rocl_strings_put(t->strings, p, n);
    cJSON *root;
    if (!rocl_json_read(&root, json, len))
        rocl_strings_note_lost(t->strings);
    else if (!root)
        *bad = true;
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(root, key);
    if (cJSON_IsString(v))
        text = rocl_strings_put(t->strings, v->valuestring, strlen(v->valuestring));
    cJSON_Delete(root);
    return text;
}

bool rocl_json_number(rocl_trace *t, const char *json, size_t len, const char *key, uint64_t *v)
{
    cJSON *root;
    if (!rocl_json_read(&root, json, len))
        rocl_strings_note_lost(t->strings);
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);
    bool ok = false;
    if (item && cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 18e18) {
        *v = (uint64_t)item->valuedouble;
        ok = true;
    } else if (item && cJSON_IsString(item) && item->valuestring[0]) {
        char *end;
        *v = strtoull(item->valuestring, &end, 0);
        ok = !*end;
    }
    cJSON_Delete(root);
    return ok;
}
