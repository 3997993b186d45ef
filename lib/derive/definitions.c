/* The definitions of all files: names, expressions, units. */
#include <stdlib.h>

#include "derive/tree.h"

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

bool rocl_derive_needs_instances(const rocl_derive *d)
{
    return d->needs_instances;
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
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (rocl_view_begins(text, phrases[i].begins))
            return phrases[i].unit;
    return "";
}
