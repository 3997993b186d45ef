/* Reads a file of definitions, in whichever form it is. */
#include <stdlib.h>

#include "base/unpack.h"
#include "derive/tree.h"

/* XML begins with a tag or includes; in both forms, lines with # may come before. */
static bool looks_like_xml(const char *p, size_t n)
{
    static const char include[] = "#include";
    for (const char *end = p + n; p < end;) {
        size_t line = rocl_view_until(rocl_view_between(p, end), '\n').n;
        const char *q = p;
        while (q < p + line && (*q == ' ' || *q == '\t' || *q == '\r'))
            q++;
        if (q < p + line && (*q == '<' || ((size_t)(p + line - q) >= sizeof include - 1 &&
                                           !memcmp(q, include, sizeof include - 1))))
            return true;
        if (q < p + line && *q != '#')
            return false;
        p += line + (p + line < end);
    }
    return false;
}

rocl_status rocl_derive_parse(rocl_derive *d, const char *path, const char *text, size_t n,
                              rocl_error *err)
{
    rocl_status st = looks_like_xml(text, n) ? derive_read_xml(d, path, text, n, 0, err)
                                             : derive_read_yaml(d, text, n, err);
    if (st != ROCL_OK)
        return rocl_wrap(err, "%s", path), st;
    return ROCL_OK;
}

rocl_status rocl_derive_read(rocl_derive *d, const char *path, rocl_error *err)
{
    char *text;
    size_t n;
    rocl_status st = rocl_unpack_file(path, DERIVE_FILE_MAX, &text, &n, err);
    if (st == ROCL_OK)
        st = rocl_derive_parse(d, path, text, n, err);
    free(text);
    return st;
}
