/* The definitions of all files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/unpack.h"
#include "derive/tree.h"

enum { FILE_MAX = 64 << 20, UNIT_MAX = 24 };

rocl_derive *rocl_derive_new(void)
{
    rocl_derive *d = calloc(1, sizeof *d);
    if (d && (!(d->names = rocl_strings_new()) || !ROCL_GROW(d->nodes, d->node_cap, 1))) {
        rocl_derive_free(d);
        return NULL;
    }
    if (d)
        d->node_count = 1; /* none */
    return d;
}

void rocl_derive_free(rocl_derive *d)
{
    if (!d)
        return;
    rocl_arena_free(&d->arena);
    rocl_strings_free(d->names);
    free(d->nodes);
    free(d->expressions);
    free(d->definitions);
    free(d->items);
    free(d);
}

uint32_t rocl_derive_symbol(rocl_derive *d, const char *name, size_t n)
{
    return rocl_strings_put(d->names, name, n);
}

const char *rocl_derive_name(const rocl_derive *d, uint32_t symbol)
{
    return rocl_strings_get(d->names, symbol, NULL);
}

size_t rocl_derive_symbols(const rocl_derive *d)
{
    return rocl_strings_count(d->names);
}

rocl_status derive_add_definition(rocl_derive *d, const derive_definition *def, rocl_error *err)
{
    if (d->definition_count >= DERIVE_DEFINITIONS_MAX)
        return rocl_fail(err, ROCL_INPUT, "more than a million definitions");
    if (def->arch == ROCL_NONE || def->name == ROCL_NONE || def->block == ROCL_NONE ||
        def->tag == ROCL_NONE || !def->unit ||
        !ROCL_GROW(d->definitions, d->definition_cap, d->definition_count + 1))
        return rocl_fail_memory(err);
    d->definitions[d->definition_count++] = *def;
    return ROCL_OK;
}

/* "Unit: cycles", or what else AMD's descriptions begin with. */
const char *derive_unit_of(rocl_view text)
{
    static const struct {
        const char *begins, *unit;
    } phrases[] = {{"Unit: percent", "%"},
                   {"The percentage", "%"},
                   {"Percentage", "%"},
                   {"The total kilobytes", "KB"},
                   {"Unit: cycles", "cycles"},
                   {"Unit: bytes", "bytes"},
                   {"Unit: FLOP", "FLOP"},
                   {"Unit: IOP", "IOP"},
                   {"Unit: conflicts/access", "conflicts/access"}};
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        size_t n = strlen(phrases[i].begins);
        if (text.n >= n && !memcmp(text.p, phrases[i].begins, n))
            return phrases[i].unit;
    }
    return "";
}

rocl_status derive_load(const char *path, char **text, size_t *n, rocl_error *err)
{
    rocl_unpack *u = NULL;
    rocl_buf b = {0};
    size_t got = 1;
    *text = NULL;
    *n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return rocl_fail_system(err, ROCL_INPUT, path, errno);
    rocl_status st = rocl_unpack_open(&u, fd, path, err);
    while (st == ROCL_OK && got) {
        if (b.len > FILE_MAX)
            st = rocl_fail(err, ROCL_INPUT, "%s: larger than 64 MiB", path);
        else if (!rocl_buf_reserve(&b, 1 << 16))
            st = rocl_fail_memory(err);
        else
            st = rocl_unpack_read(u, b.data + b.len, 1 << 16, &got, err);
        b.len += st == ROCL_OK ? got : 0;
    }
    rocl_unpack_close(u);
    close(fd);
    if (st != ROCL_OK) {
        rocl_buf_free(&b);
        return st;
    }
    *text = (char *)b.data;
    *n = b.len;
    return ROCL_OK;
}

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
    rocl_status st = derive_load(path, &text, &n, err);
    if (st == ROCL_OK)
        st = rocl_derive_parse(d, path, text, n, err);
    free(text);
    return st;
}
