/* Arguments of regions: values -> texts, which wait until their region ends. */
#include "source/chunk/chunk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/num.h"

enum { VALUE_MAX = 128 }; /* what is no text is shorter, but for a handle of a long type */

/* Bytes of a call: a chunk can name a long text any number of times. */
enum { ARGS_MAX = 16 << 20 };

/* False: that is too much for one call. The value lives on and ends with a NUL. */
static bool add(chunk_worker *w, uint32_t type, uint32_t name, chunk_string value)
{
    chunk_open *call = &w->regions.all[w->regions.depth - 1];
    if (value.n > ARGS_MAX - call->args) {
        chunk_fault(w, ROCL_FAULT_BAD_VALUE);
        return false;
    }
    call->args += value.n;
    if (!ROCL_GROW(w->args, w->arg_cap, w->arg_count + 1))
        chunk_out_of_memory(w);
    else
        w->args[w->arg_count++] =
            (chunk_waiting_arg){w->regions.depth, {type, name, value.s, value.n}};
    return true;
}

/* Values that are made here live until the batch goes out. */
static bool add_copy(chunk_worker *w, uint32_t type, uint32_t name, chunk_string value)
{
    value.s = rocl_arena_dup(&w->values, value.s, value.n);
    if (!value.s)
        chunk_out_of_memory(w);
    return value.s && add(w, type, name, value);
}

void chunk_take_arg(chunk_worker *w, chunk_record *r)
{
    if (!w->process->args || !w->regions.depth)
        return;
    uint32_t name = chunk_text_of(w, chunk_number(r)), type = chunk_text_of(w, chunk_number(r));
    add_copy(w, type, name, chunk_rest(r));
}

/* ---- lists of parameters --------------------------------------------------------------------- */

/* A parameter is two strings, and so at least two bytes. */
void chunk_take_parameters(chunk_worker *w, chunk_record *r)
{
    uint64_t id = chunk_number(r), count = chunk_number(r), most = (uint64_t)(r->end - r->p) / 2;
    chunk_list_of_parameters list = {w->parameter_count, (size_t)(count < most ? count : most)};
    if (!w->process->args)
        return;
    if (!ROCL_GROW(w->parameters, w->parameter_cap, w->parameter_count + list.count) ||
        !ROCL_GROW(w->lists_all, w->list_cap, w->list_count + 1) ||
        !rocl_map_put(&w->lists, id, (uint32_t)w->list_count)) {
        chunk_out_of_memory(w);
        return;
    }
    for (size_t i = 0; i < list.count; i++) {
        uint32_t type = chunk_intern(w, chunk_text(r));
        w->parameters[w->parameter_count++] =
            (chunk_parameter){.type = type, .name = chunk_intern(w, chunk_text(r))};
    }
    w->lists_all[w->list_count++] = list;
}

/* ---- values ---------------------------------------------------------------------------------- */

static size_t show_real(char *to, uint8_t form, uint64_t bits)
{
    uint32_t word = (uint32_t)bits;
    double d;
    float f;
    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &word, sizeof f);
    int n = snprintf(to, VALUE_MAX, "%g", form == ROCL_FORM_FLOAT ? (double)f : d);
    return n > 0 ? (size_t)n : 0;
}

/* "hsa_agent_t": "agent_" and the number. */
static size_t show_handle(const chunk_worker *w, char *to, uint32_t type, uint64_t v)
{
    const char *name = rocl_str(w->process->file->trace, type);
    size_t n = strlen(name), cut = n > 6 ? n - 6 : 0;
    if (cut > VALUE_MAX - ROCL_NUM_MAX - 2)
        cut = 0;
    if (cut)
        memcpy(to, name + 4, cut);
    to[cut] = '_';
    size_t at = cut + (cut > 0);
    return (size_t)(rocl_put_u64(to + at, v) - to);
}

static size_t show_sizes(char *to, chunk_record *r)
{
    char *p = to;
    for (int i = 0; i < 3; i++) {
        *p++ = i ? ',' : '{';
        p = rocl_put_u64(p, chunk_number(r));
    }
    *p++ = '}';
    return (size_t)(p - to);
}

static size_t show_pointer(char *to, uint64_t v)
{
    memcpy(to, "0x", 2);
    return (size_t)(rocl_put_hex(to + 2, v, 1, false) - to);
}

/* What the bytes of a value are, as text; false: of a form that is not known, and what follows
 * cannot be read. */
static bool show(chunk_worker *w, const chunk_parameter *a, uint8_t form, chunk_record *r,
                 char *room, chunk_string *value)
{
    *value = (chunk_string){room, 0};
    switch (form) {
    case ROCL_FORM_SIGNED:
        value->n = (size_t)(rocl_put_i64(room, chunk_signed(r)) - room);
        return true;
    case ROCL_FORM_UNSIGNED:
        value->n = (size_t)(rocl_put_u64(room, chunk_number(r)) - room);
        return true;
    case ROCL_FORM_POINTER:
        value->n = show_pointer(room, chunk_number(r));
        return true;
    case ROCL_FORM_HANDLE:
        value->n = show_handle(w, room, a->type, chunk_number(r));
        return true;
    case ROCL_FORM_FLOAT:
    case ROCL_FORM_DOUBLE:
        value->n = show_real(room, form, chunk_number(r));
        return true;
    case ROCL_FORM_SIZES:
        value->n = show_sizes(room, r);
        return true;
    case ROCL_FORM_TEXT:
        value->s = rocl_strings_get(w->process->file->trace->strings,
                                    chunk_text_of(w, chunk_number(r)), &value->n);
        return true;
    default:
        return false;
    }
}

void chunk_take_args(chunk_worker *w, chunk_record *r)
{
    char room[VALUE_MAX];
    if (!w->process->args || !w->regions.depth)
        return;
    uint32_t at = rocl_map_get(&w->lists, chunk_number(r), ROCL_NONE);
    if (at == ROCL_NONE) {
        chunk_fault(w, ROCL_FAULT_DANGLING_NAME);
        return;
    }
    chunk_list_of_parameters list = w->lists_all[at];
    for (size_t i = 0; i < list.count && r->p < r->end; i++) {
        const chunk_parameter *a = &w->parameters[list.first + i];
        uint8_t form = *r->p++;
        chunk_string value;
        if (form == ROCL_FORM_NONE)
            continue;
        if (!show(w, a, form, r, room, &value)) {
            chunk_fault(w, ROCL_FAULT_BAD_VALUE);
            return;
        }
        bool fits = (form == ROCL_FORM_TEXT ? add : add_copy)(w, a->type, a->name, value);
        if (!fits)
            return;
    }
}

/* ---- at the end of a region ------------------------------------------------------------------ */

/* They are the last ones that wait. */
void chunk_args_move(chunk_worker *w, size_t depth, rocl_region *g)
{
    size_t first = w->arg_count;
    while (first && w->args[first - 1].depth >= depth)
        first--;
    size_t n = w->arg_count - first;
    w->arg_count = first;
    if (!g || !n)
        return;
    rocl_batcher *b = &w->out;
    if (!ROCL_GROW(b->args, b->arg_cap, b->arg_count + n)) {
        chunk_out_of_memory(w);
        return;
    }
    g->arg_first = (uint32_t)b->arg_count;
    g->arg_count = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        b->args[b->arg_count++] = w->args[first + i].arg;
}
