/* Texts of a baseline. */
#include "analysis/baseline_text.h"

#include <stdlib.h>

#include "base/text.h"

void rocl_baseline_put_text(rocl_buf *to, const char *key, const char *p, size_t n)
{
    if (rocl_utf8_valid(p, n)) {
        rocl_buf_printf(to, "\"%s\":", key);
        rocl_json_put_string(to, p, n);
        return;
    }
    rocl_buf_str(to, "\"bytes\":\"");
    for (size_t i = 0; i < n; i++)
        rocl_buf_printf(to, "%02x", (unsigned)(uint8_t)p[i]);
    rocl_buf_byte(to, '"');
}

static bool read_hex(rocl_buf *to, rocl_view hex)
{
    for (size_t i = 0; i + 1 < hex.n; i += 2) {
        const char pair[3] = {hex.p[i], hex.p[i + 1], '\0'};
        char *end;
        const unsigned long byte = strtoul(pair, &end, 16);
        if (end != pair + 2 || pair[0] == '-' || pair[0] == '+' || pair[0] == ' ')
            return false;
        rocl_buf_byte(to, (uint8_t)byte);
    }
    return hex.n % 2 == 0;
}

bool rocl_baseline_read_text(rocl_buf *to, const rocl_json_token *v, bool hex)
{
    if (v->kind != ROCL_JSON_STRING)
        return false;
    if (hex)
        return read_hex(to, v->text);
    rocl_json_unescape(to, v->text);
    return true;
}
