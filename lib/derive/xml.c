/* metrics.xml of rocprof: like XML, but values need no quotes, and lines begin with # as in a
 * script.
 *
 *     #include "other.xml"                          beside this file
 *     <gfx90a base="gfx9">                          a copy of all that <gfx9> has until here
 *       # comment
 *       <metric name="X" block=SQ event=4 descr="..."></metric>
 *       <metric name="Y" expr=X/2 descr="..."></metric>
 *     </gfx90a>
 *
 * <gfx90a_expr> is of gfx90a as well, and <global> of all. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unpack.h"
#include "derive/tree.h"

enum { INCLUDED_MAX = 8 };

typedef struct xml {
    rocl_derive *d;
    const char *path;
    const char *at, *end, *begin;
    rocl_view open; /* the tag of an architecture that is open */
    uint32_t tag, arch;
    unsigned depth;
    rocl_error *err;
} xml;

static size_t line_of(const xml *x, const char *at)
{
    size_t line = 1;
    for (const char *p = x->begin; p < at; p++)
        line += *p == '\n';
    return line;
}

static rocl_status fail_xml(const xml *x, const char *at, const char *what)
{
    return rocl_fail(x->err, ROCL_INPUT, "line %zu: %s", line_of(x, at), what);
}

static void skip_spaces(xml *x)
{
    while (x->at < x->end && derive_is_blank(*x->at))
        x->at++;
}

/* ---- lines with # ---------------------------------------------------------------------------- */

static rocl_status read_include(xml *x, rocl_view name)
{
    const char *slash = strrchr(x->path, '/');
    size_t folder = name.p[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - x->path), n;
    rocl_buf path = {0};
    char *text = NULL;
    rocl_buf_printf(&path, "%.*s%.*s", (int)folder, x->path, (int)name.n, name.p);
    const size_t plain = path.len;
    rocl_buf_put(&path, ".gz", sizeof ".gz");
    if (path.failed) {
        rocl_buf_free(&path);
        return rocl_fail_memory(x->err);
    }
    if (access((char *)path.data, F_OK) != 0) /* not compressed, as the file that includes it */
        path.data[plain] = '\0';
    struct stat info;
    rocl_status st = stat((char *)path.data, &info) == 0 && !S_ISREG(info.st_mode)
                         ? rocl_fail(x->err, ROCL_INPUT, "%s: not a file", (char *)path.data)
                         : rocl_unpack_file((char *)path.data, DERIVE_FILE_MAX, &text, &n, x->err);
    if (st == ROCL_OK)
        st = derive_read_xml(x->d, (char *)path.data, text, n, x->depth + 1, x->err);
    if (st != ROCL_OK && text)
        rocl_wrap(x->err, "%s", (char *)path.data);
    free(text);
    rocl_buf_free(&path);
    return st;
}

/* A comment or #include "name". */
static rocl_status read_hash(xml *x)
{
    static const char word[] = "#include";
    const char *from = x->at;
    x->at += rocl_view_until(rocl_view_between(x->at, x->end), '\n').n;
    rocl_view line = rocl_view_between(from, x->at);
    if (line.n < sizeof word || memcmp(line.p, word, sizeof word - 1) ||
        !derive_is_blank(line.p[sizeof word - 1]))
        return ROCL_OK;
    const char *open = memchr(line.p, '"', line.n);
    const char *close = open ? memchr(open + 1, '"', (size_t)(x->at - open - 1)) : NULL;
    if (!close || close == open + 1 || memchr(open, 0, (size_t)(close - open)))
        return fail_xml(x, from, "no name in quotes behind #include");
    if (x->depth == INCLUDED_MAX)
        return fail_xml(x, from, "files include each other too deeply");
    return read_include(x, rocl_view_between(open + 1, close));
}

/* ---- tags ------------------------------------------------------------------------------------ */

enum { A_NAME, A_EXPR, A_BLOCK, A_DESCR, A_BASE, ATTRIBUTES };

static const char *const attribute_names[ATTRIBUTES] = {"name", "expr", "block", "descr", "base"};

/* Up to the end of the tag. *closed: it ends with "/>". */
static rocl_status read_attributes(xml *x, rocl_view *values, bool *closed)
{
    *closed = false;
    for (;;) {
        skip_spaces(x);
        if (x->at >= x->end)
            return fail_xml(x, x->end, "the file ends in a tag");
        if (*x->at == '>') {
            x->at++;
            return ROCL_OK;
        }
        if (*x->at == '/' || *x->at == '?') {
            *closed |= *x->at++ == '/';
            continue;
        }
        const char *from = x->at;
        while (x->at < x->end && !derive_is_blank(*x->at) && *x->at != '=' && *x->at != '>' &&
               *x->at != '"')
            x->at++;
        rocl_view key = rocl_view_between(from, x->at), value = {0};
        skip_spaces(x);
        if (!key.n || x->at >= x->end || *x->at != '=')
            return fail_xml(x, from, "NAME=VALUE is expected in a tag");
        x->at++;
        skip_spaces(x);
        if (x->at < x->end && (*x->at == '"' || *x->at == '\'')) {
            const char *quote = x->at++;
            const char *close = memchr(x->at, *quote, (size_t)(x->end - x->at));
            if (!close)
                return fail_xml(x, quote, "a quote does not end");
            value = rocl_view_between(x->at, close);
            x->at = close + 1;
        } else {
            from = x->at;
            while (x->at < x->end && !derive_is_blank(*x->at) && *x->at != '>')
                x->at++;
            value = rocl_view_between(from, x->at);
            if (value.n && value.p[value.n - 1] == '/' && x->at < x->end && *x->at == '>') {
                value.n--; /* VALUE/> */
                x->at--;
            }
        }
        for (unsigned i = 0; i < ATTRIBUTES; i++)
            if (rocl_view_is(key, attribute_names[i]))
                values[i] = value;
    }
}

static rocl_status add_metric(xml *x, const char *at, const rocl_view *values)
{
    rocl_derive *d = x->d;
    if (!values[A_NAME].n)
        return fail_xml(x, at, "a metric without a name");
    derive_definition def = {
        .arch = x->arch,
        .tag = x->tag,
        .name = rocl_derive_symbol(d, values[A_NAME].p, values[A_NAME].n),
        .expression = ROCL_NONE,
        .block =
            values[A_BLOCK].n ? rocl_derive_symbol(d, values[A_BLOCK].p, values[A_BLOCK].n) : 0,
        .unit = derive_unit_of(values[A_DESCR]),
    };
    rocl_status st = ROCL_OK;
    if (values[A_EXPR].p)
        st = derive_parse_expression(d, &derive_rocprof, values[A_EXPR], &def.expression, x->err);
    if (st == ROCL_OK)
        st = derive_add_definition(d, &def, x->err);
    if (st == ROCL_INPUT)
        rocl_wrap(x->err, "line %zu: %.*s", line_of(x, at), (int)(values[A_NAME].n & 0xff),
                  values[A_NAME].p);
    return st;
}

static rocl_status open_arch(xml *x, const char *at, rocl_view tag, rocl_view base)
{
    static const char suffix[] = "_expr";
    rocl_derive *d = x->d;
    rocl_view arch = tag;
    if (arch.n > sizeof suffix - 1 &&
        !memcmp(arch.p + arch.n - (sizeof suffix - 1), suffix, sizeof suffix - 1))
        arch.n -= sizeof suffix - 1;
    x->open = tag;
    x->tag = rocl_derive_symbol(d, tag.p, tag.n);
    x->arch = rocl_view_is(arch, "global") ? 0 : rocl_derive_symbol(d, arch.p, arch.n);
    if (!base.n)
        return ROCL_OK;
    const uint32_t from = rocl_derive_symbol(d, base.p, base.n);
    const size_t count = d->definition_count;
    bool any = false;
    rocl_status st = ROCL_OK;
    if (from == x->tag)
        return fail_xml(x, at, "a tag is its own base");
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        if (d->definitions[i].tag == from) {
            derive_definition copy = d->definitions[i];
            copy.arch = x->arch;
            copy.tag = x->tag;
            st = derive_add_definition(d, &copy, x->err);
            any = true;
        }
    return st == ROCL_OK && !any ? fail_xml(x, at, "the base is not a tag with metrics above") : st;
}

static rocl_status read_tag(xml *x)
{
    const char *from = x->at;
    if (x->end - from >= 4 && !memcmp(from, "<!--", 4)) {
        for (x->at += 4; x->end - x->at >= 3 && memcmp(x->at, "-->", 3);)
            x->at++;
        if (x->end - x->at < 3)
            return fail_xml(x, from, "a comment does not end");
        x->at += 3;
        return ROCL_OK;
    }
    const bool ends = ++x->at < x->end && *x->at == '/';
    x->at += ends;
    const char *name_from = x->at;
    while (x->at < x->end && !derive_is_blank(*x->at) && *x->at != '>' && *x->at != '/')
        x->at++;
    rocl_view name = rocl_view_between(name_from, x->at), values[ATTRIBUTES] = {{0}};
    bool closed = false;
    rocl_status st =
        name.n ? read_attributes(x, values, &closed) : fail_xml(x, from, "a tag without a name");
    if (st != ROCL_OK || name.p[0] == '?')
        return st;
    const bool metric = rocl_view_is(name, "metric");
    if (ends) {
        if (metric)
            return ROCL_OK;
        if (name.n != x->open.n || memcmp(name.p, x->open.p, name.n))
            return fail_xml(x, from, "ends a tag that is not open");
        x->open = (rocl_view){0};
        return ROCL_OK;
    }
    if (metric && !x->open.n)
        return fail_xml(x, from, "a metric outside of the tag of an architecture");
    if (metric)
        return add_metric(x, from, values);
    if (x->open.n)
        return fail_xml(x, from, "a tag in the tag of an architecture that is not a metric");
    st = open_arch(x, from, name, values[A_BASE]);
    if (closed)
        x->open = (rocl_view){0};
    return st;
}

rocl_status derive_read_xml(rocl_derive *d, const char *path, const char *text, size_t n,
                            unsigned depth, rocl_error *err)
{
    xml x = {.d = d,
             .path = path,
             .at = text,
             .begin = text,
             .end = text + n,
             .depth = depth,
             .err = err};
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK) {
        skip_spaces(&x);
        if (x.at >= x.end)
            break;
        if (*x.at == '#')
            st = read_hash(&x);
        else if (*x.at == '<')
            st = read_tag(&x);
        else
            st = fail_xml(&x, x.at, "a tag is expected here");
    }
    if (st == ROCL_OK && x.open.n)
        st = fail_xml(&x, x.end, "the tag of an architecture does not end");
    return st;
}
