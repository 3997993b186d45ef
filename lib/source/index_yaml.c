/* The list of databases in an index.yaml. libyaml parses the document; this interprets it. */
#include "source/index_yaml.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/array.h"
#include "base/error.h"
#include "base/view.h"

/* Writers nest three deep; anything deeper than this is not an index. */
#define DEPTH_MAX 32

/* Which section of the document a value is. */
typedef enum section {
    SECTION_TOP,
    SECTION_TOOL,  /* rocprofiler-sdk: */
    SECTION_ROCPD, /* rocprofiler-sdk: rocpd: */
    SECTION_FILES,
    SECTION_FILE, /* an item of files */
    SECTION_PATH,
    SECTION_OTHER,
} section;

/* A list or map that has begun and not ended. */
typedef struct collection {
    section is;
    bool map;
    bool value_next; /* of a map: a key came last, and `value` is the section that it names */
    section value;
} collection;

typedef struct reader {
    yaml_parser_t parser;
    collection open[DEPTH_MAX];
    unsigned depth;
    bool has_bytes; /* see hide_bytes */
    rocl_index *out;
    rocl_error *err;
} reader;

static rocl_status fail_at(const reader *r, size_t line, const char *what)
{
    return rocl_fail(r->err, ROCL_INPUT, "line %zu: %s", line + 1, what);
}

/* ---- bytes that are not UTF-8 ---------------------------------------------------------------- */

/* Python writes such a byte of a name as the escape of a lone surrogate ("\udce9"), which libyaml
 * refuses. It is replaced by a private-use character with an escape of the same length until
 * libyaml has read the text. */
enum { PRIVATE = 0xf700 };

/* Changes the text; expects such escapes only in double quotes. */
static bool hide_bytes(char *text, size_t len)
{
    static const char private_begin[] = "\\uf7";
    bool any = false;
    for (size_t i = 0; i + 6 <= len; i++) {
        bool escape = text[i] == '\\' && text[i + 1] == 'u' && (text[i + 2] | 32) == 'd' &&
                      (text[i + 3] | 32) == 'c' && text[i + 4] &&
                      strchr("89abcdefABCDEF", text[i + 4]);
        if (text[i] == '\\' && !escape)
            i++; /* an escaped character does not begin an escape */
        if (!escape)
            continue;
        memcpy(text + i, private_begin, 4);
        any = true;
    }
    return any;
}

/* In place: a private-use character takes three bytes of UTF-8. */
static void show_bytes(char *name)
{
    char *to = name;
    for (const unsigned char *p = (const unsigned char *)name; *p;) {
        unsigned c = p[0] == 0xef && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80
                         ? (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu)
                         : 0;
        bool hidden = c >= PRIVATE + 0x80 && c <= PRIVATE + 0xff;
        *to++ = (char)(hidden ? c & 0xff : *p);
        p += hidden ? 3 : 1;
    }
    *to = '\0';
}

/* ---- what the values mean -------------------------------------------------------------------- */

/* The section that the node is which begins. *key: it is a key, not a value. */
static section find_section(reader *r, const yaml_event_t *e, bool *key)
{
    static const struct {
        section in;
        const char *key;
        section names;
    } keys[] = {{SECTION_TOP, "rocprofiler-sdk", SECTION_TOOL},
                {SECTION_TOOL, "rocpd", SECTION_ROCPD},
                {SECTION_ROCPD, "files", SECTION_FILES},
                {SECTION_ROCPD, "path", SECTION_PATH}};
    collection *in = r->depth ? &r->open[r->depth - 1] : NULL;
    *key = in && in->map && !in->value_next;
    if (!in)
        return SECTION_TOP;
    if (!in->map)
        return in->is == SECTION_FILES ? SECTION_FILE : SECTION_OTHER;
    in->value_next = *key;
    if (!*key)
        return in->value;
    const rocl_view text = {(const char *)e->data.scalar.value, e->data.scalar.length};
    in->value = SECTION_OTHER;
    for (size_t i = 0; e->type == YAML_SCALAR_EVENT && i < sizeof keys / sizeof *keys; i++)
        if (keys[i].in == in->is && rocl_view_is(text, keys[i].key))
            in->value = keys[i].names;
    return SECTION_OTHER;
}

/* A package of one file has its name without a list, an empty one has ''. */
static rocl_status add_text(reader *r, const yaml_event_t *e, section is)
{
    const size_t len = e->data.scalar.length, line = e->start_mark.line;
    rocl_index *x = r->out;
    if (is != SECTION_PATH && is != SECTION_FILE && !(is == SECTION_FILES && len))
        return ROCL_OK;
    if (!len && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return ROCL_OK; /* empty: null */
    if (!len && is == SECTION_FILE)
        return fail_at(r, line, "a file name is empty");
    if (memchr(e->data.scalar.value, 0, len))
        return fail_at(r, line, "a name has a NUL byte");
    char *text = strndup((const char *)e->data.scalar.value, len);
    if (!text || (is != SECTION_PATH && !ROCL_GROW(x->files, x->cap, x->count + 1))) {
        free(text);
        return rocl_fail_memory(r->err);
    }
    if (r->has_bytes)
        show_bytes(text);
    if (is != SECTION_PATH) {
        x->files[x->count++] = (rocl_index_file){text, line + 1};
        return ROCL_OK;
    }
    free(x->path);
    x->path = text;
    return ROCL_OK;
}

static rocl_status read_event(reader *r, const yaml_event_t *e)
{
    const bool map = e->type == YAML_MAPPING_START_EVENT;
    const size_t line = e->start_mark.line;
    bool key;
    section is;
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        is = find_section(r, e, &key);
        return key ? ROCL_OK : add_text(r, e, is);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        is = find_section(r, e, &key);
        if (is == SECTION_PATH)
            return fail_at(r, line, "path is not a string");
        if (is == SECTION_FILE || (is == SECTION_FILES && map))
            return fail_at(r, line, "files is not a list of file names");
        if (r->depth == DEPTH_MAX)
            return fail_at(r, line, "nested too deeply for an index");
        r->open[r->depth++] = (collection){.is = is, .map = map};
        return ROCL_OK;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        r->depth--;
        return ROCL_OK;
    case YAML_ALIAS_EVENT:
        return fail_at(r, line, "aliases are not supported");
    default:
        return ROCL_OK;
    }
}

/* ---- the document ---------------------------------------------------------------------------- */

/* For encoding errors only the offset in the text is known. */
static rocl_status fail_to_parse(const reader *r, const char *text, size_t len)
{
    const yaml_parser_t *p = &r->parser;
    size_t line = p->problem_mark.line;
    if (p->error == YAML_MEMORY_ERROR)
        return rocl_fail_memory(r->err);
    if (p->error == YAML_READER_ERROR) {
        line = 0;
        for (size_t i = 0; i < p->problem_offset && i < len; i++)
            line += text[i] == '\n';
    }
    if (!p->context)
        return fail_at(r, line, p->problem ? p->problem : "not valid YAML");
    return rocl_fail(r->err, ROCL_INPUT, "line %zu: %s (%s in line %zu)", line + 1, p->problem,
                     p->context, p->context_mark.line + 1);
}

rocl_status rocl_index_parse(rocl_index *x, const char *text, size_t len, rocl_error *err)
{
    reader r = {.out = x, .err = err};
    char *copy = malloc(len + 1);
    *x = (rocl_index){0};
    if (!copy || !yaml_parser_initialize(&r.parser)) {
        free(copy);
        return rocl_fail_memory(err);
    }
    memcpy(copy, text, len);
    r.has_bytes = hide_bytes(copy, len);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)copy, len);
    rocl_status st = ROCL_OK;
    for (bool more = true; more && st == ROCL_OK;) { /* the first document is the index */
        yaml_event_t e;
        if (!yaml_parser_parse(&r.parser, &e)) {
            st = fail_to_parse(&r, text, len);
            break;
        }
        more = e.type != YAML_DOCUMENT_END_EVENT && e.type != YAML_STREAM_END_EVENT;
        st = read_event(&r, &e);
        yaml_event_delete(&e);
    }
    yaml_parser_delete(&r.parser);
    free(copy);
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

bool rocl_is_index_name(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (!strcasecmp(dot, ".yaml") || !strcasecmp(dot, ".yml"));
}
