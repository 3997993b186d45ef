/* counter_defs.yaml of rocprofv3, in both of its layouts:
 *
 *     rocprofiler-sdk:                              NAME:                      until ROCm 6.2
 *       counters:                                     architectures:
 *       - name: NAME                                    gfx90a/gfx942:
 *         description: ...                                expression: A/B
 *         definitions:                                    description: ...
 *         - architectures: [gfx90a, gfx942]
 *           expression: A/B                         or block: SQ, event: 4
 *
 * libyaml reads the document, and this takes what it knows from it. */
#include <yaml.h>

#include "derive/tree.h"

typedef struct defs {
    rocl_derive *d;
    yaml_document_t *doc;
    rocl_error *err;
} defs;

static rocl_status fail_yaml(const defs *y, const yaml_node_t *at, const char *what)
{
    return rocl_fail(y->err, ROCL_INPUT, "line %zu: %s", at->start_mark.line + 1, what);
}

static rocl_view scalar_text(const yaml_node_t *n)
{
    return n && n->type == YAML_SCALAR_NODE
               ? (rocl_view){(const char *)n->data.scalar.value, n->data.scalar.length}
               : (rocl_view){0};
}

/* The value of a key of a map; NULL: it has none. */
static yaml_node_t *find_key(const defs *y, const yaml_node_t *map, const char *key)
{
    if (!map || map->type != YAML_MAPPING_NODE)
        return NULL;
    for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
         p++)
        if (rocl_view_is(scalar_text(yaml_document_get_node(y->doc, p->key)), key))
            return yaml_document_get_node(y->doc, p->value);
    return NULL;
}

/* Adds a definition for each architecture of a list, or of a text with / between them. */
static rocl_status add_definitions(const defs *y, rocl_view name, const yaml_node_t *archs,
                                   const yaml_node_t *def, rocl_view description)
{
    rocl_derive *d = y->d;
    const yaml_node_t *expression = find_key(y, def, "expression");
    rocl_view block = scalar_text(find_key(y, def, "block")),
              own = scalar_text(find_key(y, def, "description"));
    rocl_view all = scalar_text(archs);
    derive_definition to = {
        .name = rocl_derive_symbol(d, name.p, name.n),
        .expression = ROCL_NONE,
        .block = block.n ? rocl_derive_symbol(d, block.p, block.n) : 0,
        .unit = derive_unit_of(own.n ? own : description),
    };
    if (!name.n || memchr(name.p, 0, name.n))
        return fail_yaml(y, def, "a counter without a name");
    if (expression && expression->type != YAML_SCALAR_NODE)
        return fail_yaml(y, expression, "an expression is not a string");
    rocl_status st = expression
                         ? derive_parse_expression(d, &derive_rocprofv3, scalar_text(expression),
                                                   &to.expression, y->err)
                         : ROCL_OK;
    if (st == ROCL_INPUT)
        return rocl_wrap(y->err, "line %zu: %.*s", expression->start_mark.line + 1,
                         (int)(name.n & 0xff), name.p),
               st;
    if (archs && archs->type == YAML_SEQUENCE_NODE) {
        for (const yaml_node_item_t *i = archs->data.sequence.items.start;
             i < archs->data.sequence.items.top && st == ROCL_OK; i++) {
            rocl_view arch = scalar_text(yaml_document_get_node(y->doc, *i));
            if (!arch.n)
                return fail_yaml(y, archs, "an architecture is not a string");
            to.arch = rocl_derive_symbol(d, arch.p, arch.n);
            st = derive_add_definition(d, &to, y->err);
        }
        return st;
    }
    if (!all.n)
        return fail_yaml(y, def, "a definition without architectures");
    while (st == ROCL_OK && all.n) {
        rocl_view arch = rocl_view_until(all, '/');
        size_t used = arch.n + (arch.n < all.n);
        all = (rocl_view){all.p + used, all.n - used};
        if (!arch.n)
            continue;
        to.arch = rocl_derive_symbol(d, arch.p, arch.n);
        st = derive_add_definition(d, &to, y->err);
    }
    return st;
}

/* An item of the list of counters. */
static rocl_status read_counter(const defs *y, const yaml_node_t *counter)
{
    const yaml_node_t *list = find_key(y, counter, "definitions");
    rocl_view name = scalar_text(find_key(y, counter, "name"));
    rocl_view description = scalar_text(find_key(y, counter, "description"));
    rocl_status st = ROCL_OK;
    if (!list || list->type != YAML_SEQUENCE_NODE)
        return fail_yaml(y, counter, "a counter without a list of definitions");
    for (const yaml_node_item_t *i = list->data.sequence.items.start;
         i < list->data.sequence.items.top && st == ROCL_OK; i++) {
        const yaml_node_t *def = yaml_document_get_node(y->doc, *i);
        st = add_definitions(y, name, find_key(y, def, "architectures"), def, description);
    }
    return st;
}

/* NAME: {architectures: {"gfx9/gfx90a": {...}}} */
static rocl_status read_named_counter(const defs *y, const yaml_node_t *name,
                                      const yaml_node_t *counter)
{
    const yaml_node_t *archs = find_key(y, counter, "architectures");
    rocl_status st = ROCL_OK;
    if (!archs || archs->type != YAML_MAPPING_NODE)
        return fail_yaml(y, counter,
                         "no definitions of counters: neither rocprofiler-sdk: "
                         "counters: nor NAME: architectures:");
    for (const yaml_node_pair_t *p = archs->data.mapping.pairs.start;
         p < archs->data.mapping.pairs.top && st == ROCL_OK; p++)
        st = add_definitions(y, scalar_text(name), yaml_document_get_node(y->doc, p->key),
                             yaml_document_get_node(y->doc, p->value),
                             scalar_text(find_key(y, counter, "description")));
    return st;
}

static rocl_status read_document(const defs *y)
{
    const yaml_node_t *top = yaml_document_get_root_node(y->doc);
    const yaml_node_t *list = find_key(y, find_key(y, top, "rocprofiler-sdk"), "counters");
    rocl_status st = ROCL_OK;
    if (!top)
        return rocl_fail(y->err, ROCL_INPUT, "no definitions of counters");
    if (list && list->type == YAML_SEQUENCE_NODE) {
        for (const yaml_node_item_t *i = list->data.sequence.items.start;
             i < list->data.sequence.items.top && st == ROCL_OK; i++)
            st = read_counter(y, yaml_document_get_node(y->doc, *i));
        return st;
    }
    if (top->type != YAML_MAPPING_NODE)
        return fail_yaml(y, top, "no definitions of counters");
    for (const yaml_node_pair_t *p = top->data.mapping.pairs.start;
         p < top->data.mapping.pairs.top && st == ROCL_OK; p++) {
        const yaml_node_t *name = yaml_document_get_node(y->doc, p->key);
        if (!rocl_view_is(scalar_text(name), "schema-version"))
            st = read_named_counter(y, name, yaml_document_get_node(y->doc, p->value));
    }
    return st;
}

rocl_status derive_read_yaml(rocl_derive *d, const char *text, size_t n, rocl_error *err)
{
    yaml_parser_t parser;
    yaml_document_t doc;
    if (!yaml_parser_initialize(&parser))
        return rocl_fail_memory(err);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, n);
    rocl_status st;
    if (yaml_parser_load(&parser, &doc)) {
        st = read_document(&(defs){d, &doc, err});
        yaml_document_delete(&doc);
    } else if (parser.error == YAML_MEMORY_ERROR) {
        st = rocl_fail_memory(err);
    } else {
        st = rocl_fail(err, ROCL_INPUT, "line %zu: %s", parser.problem_mark.line + 1,
                       parser.problem ? parser.problem : "not valid YAML");
    }
    yaml_parser_delete(&parser);
    return st;
}
