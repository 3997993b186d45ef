#include "source/index_yaml.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/error.h"

/* A writer nests three deep; what is deeper than this is no index, and recursion has to end. */
#define DEPTH_MAX 32

/* Where in the document a value is. */
typedef enum place {
    AT_TOP,
    AT_TOOL,  /* rocprofiler-sdk: */
    AT_ROCPD, /* rocprofiler-sdk: rocpd: */
    AT_FILES,
    AT_FILE, /* an item of files */
    AT_PATH,
    AT_OTHER,
} place;

/* `at` is always on a character of the document or on its end; `begin` is where its line begins.
 * The block functions are entered with `at` on the first character of what they read and leave it
 * on the first character of the next content, whose column says whose it is. */
typedef struct parser {
    const char *at, *end, *begin;
    unsigned long line;
    unsigned depth;
    rocl_buf scalar;
    rocl_index *out;
    rocl_error *err;
} parser;

static rocl_status read_node(parser *p, place where, size_t parent, bool has_parent);
static rocl_status read_flow(parser *p, place where);

static rocl_status bad(parser *p, const char *what)
{
    return rocl_fail(p->err, ROCL_INPUT, "line %lu: %s", p->line, what);
}

/* ---- characters ------------------------------------------------------------------------------ */

static bool at_end(const parser *p)
{
    return p->at == p->end;
}

/* The character n further on, NUL beyond the end. */
static char peek(const parser *p, size_t n)
{
    return (size_t)(p->end - p->at) > n ? p->at[n] : '\0';
}

/* Is n further on a line break, or the end? */
static bool is_break(const parser *p, size_t n)
{
    char c = peek(p, n);
    return c == '\n' || (c == '\r' && peek(p, n + 1) == '\n') || (size_t)(p->end - p->at) <= n;
}

static bool is_space(const parser *p, size_t n)
{
    return peek(p, n) == ' ' || peek(p, n) == '\t' || is_break(p, n);
}

static size_t column(const parser *p)
{
    return (size_t)(p->at - p->begin);
}

static void next_line(parser *p)
{
    const char *nl = memchr(p->at, '\n', (size_t)(p->end - p->at));
    p->at = nl ? nl + 1 : p->end;
    p->begin = p->at;
    p->line += nl != NULL;
}

static void skip_blanks(parser *p)
{
    while (peek(p, 0) == ' ' || peek(p, 0) == '\t')
        p->at++;
}

/* A comment begins a line or follows a blank. */
static bool at_comment(const parser *p)
{
    return peek(p, 0) == '#' && (p->at == p->begin || p->at[-1] == ' ' || p->at[-1] == '\t');
}

static bool line_done(const parser *p)
{
    return is_break(p, 0) || at_comment(p);
}

/* "---" or "..." at the beginning of a line. */
static bool at_marker(const parser *p, const char *marker)
{
    return p->at == p->begin && p->end - p->at >= 3 && memcmp(p->at, marker, 3) == 0 &&
           is_space(p, 3);
}

/* The end of the first document is the end. */
static void end_at_marker(parser *p)
{
    if (at_marker(p, "---") || at_marker(p, "..."))
        p->end = p->at;
}

/* To the next content. */
static void skip_to_content(parser *p)
{
    for (;;) {
        end_at_marker(p);
        skip_blanks(p);
        if (at_end(p) || !line_done(p))
            return;
        next_line(p);
    }
}

/* The same, and content that is indented with a tab is refused: its column depends on the editor.
 */
static rocl_status next_content(parser *p)
{
    skip_to_content(p);
    if (!at_end(p) && memchr(p->begin, '\t', column(p)))
        return bad(p, "a tab in the indentation");
    return ROCL_OK;
}

/* Nothing but a comment may follow on this line. */
static rocl_status finish_line(parser *p)
{
    skip_blanks(p);
    if (!line_done(p))
        return bad(p, "unexpected text after a value");
    return next_content(p);
}

/* ---- scalars: their bytes go to p->scalar ---------------------------------------------------- */

static void put(parser *p, char c)
{
    rocl_buf_byte(&p->scalar, (uint8_t)c);
}

/* A line break within a scalar is a space; empty lines are line breaks. */
static void fold(parser *p)
{
    size_t breaks = 0;
    for (; !at_end(p) && is_break(p, 0); breaks++) {
        next_line(p);
        end_at_marker(p);
        skip_blanks(p);
    }
    if (breaks == 1)
        put(p, ' ');
    for (; breaks > 1; breaks--)
        put(p, '\n');
}

static void trim_blanks(rocl_buf *b)
{
    while (b->len && (b->data[b->len - 1] == ' ' || b->data[b->len - 1] == '\t'))
        b->len--;
}

static void put_utf8(parser *p, uint32_t c)
{
    /* Python writes the bytes of a name that is not UTF-8 as these surrogates. */
    if (c >= 0xdc80 && c <= 0xdcff) {
        put(p, (char)(c & 0xff));
    } else if (c < 0x80) {
        put(p, (char)c);
    } else if (c < 0x800) {
        put(p, (char)(0xc0 | c >> 6));
        put(p, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        put(p, (char)(0xe0 | c >> 12));
        put(p, (char)(0x80 | (c >> 6 & 0x3f)));
        put(p, (char)(0x80 | (c & 0x3f)));
    } else {
        put(p, (char)(0xf0 | c >> 18));
        put(p, (char)(0x80 | (c >> 12 & 0x3f)));
        put(p, (char)(0x80 | (c >> 6 & 0x3f)));
        put(p, (char)(0x80 | (c & 0x3f)));
    }
}

static rocl_status read_hex(parser *p, unsigned digits)
{
    uint32_t c = 0;
    for (; digits; digits--, p->at++) {
        static const char hex[] = "0123456789abcdef";
        char d = peek(p, 0);
        d = d >= 'A' && d <= 'F' ? (char)(d - 'A' + 'a') : d;
        const char *found = d ? strchr(hex, d) : NULL;
        if (!found)
            return bad(p, "a hexadecimal digit is missing in an escape");
        c = c << 4 | (uint32_t)(found - hex);
    }
    if (c == 0 || c > 0x10ffff)
        return bad(p, "an escape is no character");
    put_utf8(p, c);
    return ROCL_OK;
}

/* After a backslash in double quotes. */
static rocl_status read_escape(parser *p)
{
    static const char plain[] = "a\ab\bt\tn\nv\vf\fr\re\033  \"\"//\\\\\t\t"; /* pairs */
    if (!at_end(p) && is_break(p, 0)) { /* the line goes on, without a space */
        next_line(p);
        skip_blanks(p);
        return ROCL_OK;
    }
    char c = peek(p, 0);
    if (at_end(p))
        return ROCL_OK; /* the quote that is missing is the error */
    p->at++;
    switch (c) {
    case 'x':
        return read_hex(p, 2);
    case 'u':
        return read_hex(p, 4);
    case 'U':
        return read_hex(p, 8);
    case 'N':
        put_utf8(p, 0x85);
        return ROCL_OK;
    case '_':
        put_utf8(p, 0xa0);
        return ROCL_OK;
    case 'L':
        put_utf8(p, 0x2028);
        return ROCL_OK;
    case 'P':
        put_utf8(p, 0x2029);
        return ROCL_OK;
    default:
        for (const char *s = plain; *s; s += 2) {
            if (*s == c) {
                put(p, s[1]);
                return ROCL_OK;
            }
        }
        return bad(p, "an escape that YAML does not have");
    }
}

static rocl_status read_quoted(parser *p)
{
    char quote = *p->at++;
    unsigned long first = p->line;
    p->scalar.len = 0;
    while (!at_end(p)) {
        char c = *p->at;
        if (is_break(p, 0)) {
            trim_blanks(&p->scalar);
            fold(p);
            continue;
        }
        p->at++;
        if (c == '\0')
            return bad(p, "a NUL byte");
        if (c == '\\' && quote == '"') {
            rocl_status st = read_escape(p);
            if (st != ROCL_OK)
                return st;
        } else if (c != quote) {
            put(p, c);
        } else if (quote == '\'' && peek(p, 0) == '\'') {
            put(p, *p->at++);
        } else {
            return ROCL_OK;
        }
    }
    p->line = first;
    return bad(p, "a quote is not closed");
}

/* Does a plain scalar end here? `flow`: within brackets. */
static bool plain_ends(const parser *p, bool flow)
{
    char c = peek(p, 0);
    if (is_break(p, 0) || at_comment(p))
        return true;
    if (c == ':' && (is_space(p, 1) || (flow && strchr(",[]{}", peek(p, 1)))))
        return true;
    return flow && c && strchr(",[]{}", c);
}

/* The rest of one line of a plain scalar. */
static rocl_status read_plain_line(parser *p, bool flow)
{
    for (; !plain_ends(p, flow); p->at++) {
        if (*p->at == '\0')
            return bad(p, "a NUL byte");
        put(p, *p->at);
    }
    trim_blanks(&p->scalar);
    return ROCL_OK;
}

static rocl_status read_plain(parser *p, bool flow)
{
    char c = peek(p, 0);
    p->scalar.len = 0;
    if (c == '&' || c == '*' || c == '!')
        return bad(p, "anchors and tags are not supported in an index");
    if (c == '|' || c == '>')
        return bad(p, "block text is not supported in an index");
    if (!c || strchr("%@`,]}", c) || ((c == '-' || c == '?') && is_space(p, 1)))
        return bad(p, "unexpected character");
    return read_plain_line(p, flow);
}

/* ---- what is made of them -------------------------------------------------------------------- */

static bool scalar_is(const parser *p, const char *s)
{
    size_t len = strlen(s);
    return p->scalar.len == len && memcmp(p->scalar.data, s, len) == 0;
}

static place child(const parser *p, place where)
{
    if (where == AT_TOP && scalar_is(p, "rocprofiler-sdk"))
        return AT_TOOL;
    if (where == AT_TOOL && scalar_is(p, "rocpd"))
        return AT_ROCPD;
    if (where == AT_ROCPD && scalar_is(p, "files"))
        return AT_FILES;
    return where == AT_ROCPD && scalar_is(p, "path") ? AT_PATH : AT_OTHER;
}

static char *scalar_copy(const parser *p)
{
    if (p->scalar.failed)
        return NULL;
    return p->scalar.len ? strndup((const char *)p->scalar.data, p->scalar.len) : strdup("");
}

static rocl_status add_file(parser *p, unsigned long line)
{
    rocl_index *x = p->out;
    if (!ROCL_GROW(x->files, x->cap, x->count + 1))
        return rocl_fail_memory(p->err);
    char *name = scalar_copy(p);
    if (!name)
        return rocl_fail_memory(p->err);
    x->files[x->count++] = (rocl_index_file){name, line};
    return ROCL_OK;
}

/* A scalar that began on `line` is the value of `where`. A package of one file has it without a
 * list, one of none has ''. */
static rocl_status take_scalar(parser *p, place where, unsigned long line)
{
    if (p->scalar.failed)
        return rocl_fail_memory(p->err);
    if (where == AT_FILE && p->scalar.len == 0)
        return rocl_fail(p->err, ROCL_INPUT, "line %lu: a file name is empty", line);
    if ((where == AT_FILES && p->scalar.len) || where == AT_FILE)
        return add_file(p, line);
    if (where != AT_PATH)
        return ROCL_OK;
    free(p->out->path);
    p->out->path = scalar_copy(p);
    return p->out->path ? ROCL_OK : rocl_fail_memory(p->err);
}

static rocl_status check_place(parser *p, place where, bool sequence)
{
    if (where == AT_FILE || where == AT_PATH || (where == AT_FILES && !sequence))
        return bad(p,
                   where == AT_PATH ? "path is not a text" : "files is not a list of file names");
    return p->depth > DEPTH_MAX ? bad(p, "nested too deeply for an index") : ROCL_OK;
}

static place item_of(place where)
{
    return where == AT_FILES ? AT_FILE : AT_OTHER;
}

/* ---- flow: [a, b], {k: v} -------------------------------------------------------------------- */

static bool at_bracket(const parser *p)
{
    return peek(p, 0) == '[' || peek(p, 0) == '{';
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

static rocl_status read_flow_scalar(parser *p)
{
    if (is_quote(peek(p, 0)))
        return read_quoted(p);
    rocl_status st = read_plain(p, true);
    while (st == ROCL_OK && !at_end(p) && is_break(p, 0)) {
        fold(p);
        st = read_plain_line(p, true);
    }
    trim_blanks(&p->scalar);
    return st;
}

/* One item of a list (key false) or "key: value" of a map. */
static rocl_status read_flow_item(parser *p, place where, bool map)
{
    unsigned long line = p->line;
    if (!map && at_bracket(p))
        return read_flow(p, where);
    rocl_status st = read_flow_scalar(p);
    if (st != ROCL_OK || !map)
        return st != ROCL_OK ? st : take_scalar(p, where, line);
    place to = child(p, where);
    skip_to_content(p);
    if (peek(p, 0) != ':')
        return ROCL_OK; /* a key without a value */
    p->at++;
    skip_to_content(p);
    char c = peek(p, 0);
    return c == ',' || c == '}' ? ROCL_OK : read_flow_item(p, to, false);
}

static rocl_status read_flow_items(parser *p, place where, bool map, char close)
{
    unsigned long first = p->line;
    for (;;) {
        skip_to_content(p);
        if (peek(p, 0) == close) {
            p->at++;
            return ROCL_OK;
        }
        if (at_end(p)) {
            p->line = first;
            return bad(p, "a bracket is not closed");
        }
        rocl_status st = read_flow_item(p, where, map);
        if (st != ROCL_OK)
            return st;
        skip_to_content(p);
        if (peek(p, 0) == ',')
            p->at++;
        else if (peek(p, 0) != close && !at_end(p))
            return bad(p, "a comma or a closing bracket is missing");
    }
}

static rocl_status read_flow(parser *p, place where)
{
    bool map = *p->at == '{';
    p->depth++;
    rocl_status st = check_place(p, where, !map);
    if (st != ROCL_OK)
        return st;
    p->at++;
    st = read_flow_items(p, map ? where : item_of(where), map, map ? '}' : ']');
    p->depth--;
    return st;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool at_dash(const parser *p)
{
    return peek(p, 0) == '-' && is_space(p, 1);
}

/* Is what begins here "key:"? Looks no further than this line. */
static bool at_key(const parser *p)
{
    if (at_bracket(p))
        return false;
    parser look = *p;
    look.scalar = (rocl_buf){0};
    look.err = NULL;
    bool key = false;
    if (is_quote(peek(p, 0)))
        key = read_quoted(&look) == ROCL_OK && look.line == p->line;
    else
        key = read_plain(&look, false) == ROCL_OK;
    rocl_buf_free(&look.scalar);
    skip_blanks(&look);
    return key && peek(&look, 0) == ':' && is_space(&look, 1);
}

/* A scalar on this line and on the lines below that are further in than `parent`. */
static rocl_status read_block_scalar(parser *p, place where, size_t parent, bool has_parent)
{
    unsigned long line = p->line;
    bool quoted = is_quote(peek(p, 0));
    rocl_status st = quoted ? read_quoted(p) : read_plain(p, false);
    while (st == ROCL_OK && !quoted && !at_end(p) && is_break(p, 0)) {
        parser below = *p;
        skip_to_content(&below);
        if (at_end(&below) || (has_parent && column(&below) <= parent))
            break;
        if (at_key(&below))
            return bad(&below, "indented further than what it belongs to");
        fold(p);
        st = at_comment(p) ? ROCL_OK : read_plain_line(p, false);
    }
    if (st == ROCL_OK)
        st = finish_line(p);
    return st == ROCL_OK ? take_scalar(p, where, line) : st;
}

/* The value after "key:" or "-" at column `col`: on the same line, or below and further in. A list
 * may be as far out as its key. */
static rocl_status read_value(parser *p, place where, size_t col, bool after_key)
{
    skip_blanks(p);
    bool same_line = !line_done(p);
    if (!same_line) {
        rocl_status st = next_content(p);
        if (st != ROCL_OK)
            return st;
        bool list = after_key && column(p) == col && at_dash(p);
        if (at_end(p) || (column(p) <= col && !list))
            return ROCL_OK;
    } else if (after_key && (at_dash(p) || at_key(p))) {
        return bad(p, "a list or another key has to begin on a line of its own");
    }
    return read_node(p, where, col, true);
}

static rocl_status read_list(parser *p, place where)
{
    size_t col = column(p);
    while (!at_end(p) && column(p) == col && at_dash(p)) {
        p->at++;
        rocl_status st = read_value(p, item_of(where), col, false);
        if (st != ROCL_OK)
            return st;
    }
    return ROCL_OK;
}

static rocl_status read_map(parser *p, place where)
{
    size_t col = column(p);
    while (!at_end(p) && column(p) == col && at_key(p)) {
        rocl_status st = is_quote(peek(p, 0)) ? read_quoted(p) : read_plain(p, false);
        if (st != ROCL_OK)
            return st;
        place to = child(p, where);
        skip_blanks(p);
        p->at++;
        st = read_value(p, to, col, true);
        if (st != ROCL_OK)
            return st;
    }
    return ROCL_OK;
}

/* Whatever begins here: a child of what is at column `parent`. */
static rocl_status read_node(parser *p, place where, size_t parent, bool has_parent)
{
    bool list = at_dash(p);
    rocl_status st;
    p->depth++;
    if (!list && at_bracket(p)) {
        st = read_flow(p, where);
        st = st == ROCL_OK ? finish_line(p) : st;
    } else if (list || at_key(p)) {
        st = check_place(p, where, list);
        if (st == ROCL_OK)
            st = list ? read_list(p, where) : read_map(p, where);
    } else {
        st = read_block_scalar(p, where, parent, has_parent);
    }
    p->depth--;
    if (st == ROCL_OK && !at_end(p) && (!has_parent || column(p) > parent))
        return bad(p, "not understood, or indented differently from what it belongs to");
    return st;
}

/* ---- the document ---------------------------------------------------------------------------- */

static void skip_prologue(parser *p)
{
    if (p->end - p->at >= 3 && memcmp(p->at, "\xef\xbb\xbf", 3) == 0) {
        p->at += 3;
        p->begin = p->at;
    }
    for (;;) {
        skip_blanks(p);
        bool directive = peek(p, 0) == '%' && p->at == p->begin;
        if (at_end(p) || (!line_done(p) && !directive))
            break;
        next_line(p);
    }
    if (at_marker(p, "---"))
        p->at += 3;
}

rocl_status rocl_index_parse(rocl_index *x, const char *text, size_t len, rocl_error *err)
{
    *x = (rocl_index){0};
    parser p = {.at = text, .end = text + len, .begin = text, .line = 1, .out = x, .err = err};
    skip_prologue(&p);
    rocl_status st = next_content(&p);
    if (st == ROCL_OK && !at_end(&p))
        st = read_node(&p, AT_TOP, 0, false);
    rocl_buf_free(&p.scalar);
    if (st == ROCL_OK && x->count == 0)
        st = rocl_fail(err, ROCL_INPUT, "it lists no files under rocprofiler-sdk: rocpd: files");
    return st;
}

void rocl_index_free(rocl_index *x)
{
    for (size_t i = 0; i < x->count; i++)
        free(x->files[i].name);
    free(x->files);
    free(x->path);
    *x = (rocl_index){0};
}
