/* Names come in thousands of lines and few kinds: a small table that is a worker's own saves the
 * way to the shared one. */
#include <stdlib.h>

#include "source/reader.h"
#include "source/rtg/line_match.h"
#include "source/rtg/rtg.h"

rtg_names *rtg_names_new(rocl_trace *t)
{
    rtg_names *n = calloc(1, sizeof *n);
    for (size_t i = 0; n && i < RTG_NAMES; i++)
        n->recent[i].text = ROCL_NONE;
    if (n)
        n->trace = t;
    return n;
}

void rtg_names_free(rtg_names *n)
{
    if (n)
        rocl_map_free(&n->displayed);
    free(n);
}

static uint64_t load_bytes(const char *p, size_t n)
{
    uint64_t v = 0;
    memcpy(&v, p, n < 8 ? n : 8);
    return v;
}

/* Only tells names that are at hand apart: begin, middle and end do. */
static uint64_t hash_name(rocl_view s)
{
    uint64_t h = s.n ^ load_bytes(s.p, s.n);
    if (s.n > 8)
        h = rocl_mix64(h) ^ load_bytes(s.p + s.n - 8, 8);
    if (s.n > 24)
        h = rocl_mix64(h) ^ load_bytes(s.p + s.n / 2 - 4, 8);
    return rocl_mix64(h);
}

static size_t find_slot(rtg_names *n, rocl_view s)
{
    uint64_t h = hash_name(s);
    size_t i = h % RTG_NAMES, len;
    if (n->recent[i].text != ROCL_NONE && n->recent[i].hash == h) {
        const char *have = rocl_strings_get(n->trace->strings, n->recent[i].text, &len);
        if (len == s.n && !memcmp(have, s.p, len))
            return i;
    }
    n->recent[i].hash = h;
    n->recent[i].text = rocl_strings_put(n->trace->strings, s.p, s.n);
    n->recent[i].displayed = ROCL_NONE;
    n->failed |= n->recent[i].text == ROCL_NONE;
    return i;
}

uint32_t rtg_intern_name(rtg_names *n, rocl_view s)
{
    return n->recent[find_slot(n, s)].text;
}

uint32_t rtg_intern_kernel(rtg_names *n, rocl_view s)
{
    size_t i = find_slot(n, s);
    uint32_t text = n->recent[i].text;
    if (n->recent[i].displayed == ROCL_NONE) {
        uint32_t displayed = rocl_map_get(&n->displayed, text, ROCL_NONE);
        if (displayed == ROCL_NONE) {
            bool mangled = rtg_lit(s.p, s.p + s.n, "_Z");
            size_t len = rocl_kernel_length(s.p, s.n);
            uint32_t name = rocl_strings_put(n->trace->strings, s.p, len);
            if (name != ROCL_NONE)
                displayed = rocl_kernel_shown(n->trace, mangled ? name : 0, name, 0);
            n->failed |= displayed == ROCL_NONE || !rocl_map_put(&n->displayed, text, displayed);
        }
        n->recent[i].displayed = displayed;
    }
    return n->recent[i].displayed;
}
