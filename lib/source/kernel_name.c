#include "source/kernel_name.h"

#include <string.h>

#include "source/short_name.h"

size_t rocl_kernel_length(const char *name, size_t n)
{
    static const char *const ends[] = {" [clone .kd]", ".kd"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t m = strlen(ends[i]);
        if (n > m && !memcmp(name + n - m, ends[i], m))
            return n - m;
    }
    return n;
}

uint32_t rocl_kernel_without_kd(rocl_trace *t, uint32_t text)
{
    size_t n;
    const char *s = rocl_strings_get(t->strings, text, &n);
    const size_t bare = rocl_kernel_length(s, n);
    return bare == n ? text : rocl_strings_put(t->strings, s, bare);
}

uint32_t rocl_kernel_short(rocl_trace *t, uint32_t full)
{
    size_t n;
    rocl_buf name = {0};
    const char *s = rocl_strings_get(t->strings, full, &n);
    rocl_short_name(&name, s, n);
    uint32_t text = full;
    if (name.len && !name.failed)
        text = rocl_strings_put(t->strings, (const char *)name.data, name.len);
    rocl_buf_free(&name);
    return text;
}

uint32_t rocl_kernel_shown(rocl_trace *t, uint32_t mangled, uint32_t display, uint32_t truncated)
{
    uint32_t text = ROCL_NONE;
    switch (t->opt.kernel_names) {
    case ROCL_NAMES_MANGLED:
        text = mangled && mangled != ROCL_NONE ? rocl_kernel_without_kd(t, mangled) : display;
        break;
    case ROCL_NAMES_SHORT:
        text = rocl_kernel_short(t, display);
        break;
    case ROCL_NAMES_TRUNCATED:
        if (truncated == ROCL_NONE || truncated == 0)
            truncated = rocl_kernel_short(t, display);
        text = rocl_kernel_without_kd(t, truncated);
        break;
    default:
        break;
    }
    return text == ROCL_NONE ? display : text;
}
