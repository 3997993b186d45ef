/* Arguments of regions: values -> texts, which are kept until their region ends. */
#include "source/chunk/chunk.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/num.h"

/* Values other than texts are shorter, except handles of a type with a long name. */
enum { VALUE_MAX = 128 };

/* The most bytes of a call: a chunk can name a long text any number of times. */
enum { ARGS_MAX = 16 << 20 };

/* False: too much for one call. The value must stay valid, and ends with a NUL. */
static bool add_value(chunk_worker *w, uint32_t type, uint32_t name, rocl_view value)
{
    chunk_open *call = &w->regions.all[w->regions.depth - 1];
    if (value.n > ARGS_MAX - call->args) {
        chunk_count_fault(w, ROCL_FAULT_BAD_VALUE);
        return false;
    }
    call->args += value.n;
    if (!ROCL_GROW(w->args, w->arg_cap, w->arg_count + 1))
        chunk_fail_memory(w);
    else
        w->args[w->arg_count++] =
            (chunk_waiting_arg){w->regions.depth, {type, name, value.p, value.n}};
    return true;
}

/* Values made here live until the batch is emitted. */
static bool add_copied_value(chunk_worker *w, uint32_t type, uint32_t name, rocl_view value)
{
    value.p = rocl_arena_dup(&w->values, value.p, value.n);
    if (!value.p)
        chunk_fail_memory(w);
    return value.p && add_value(w, type, name, value);
}

void chunk_add_arg(chunk_worker *w, chunk_record *r)
{
    if (!w->process->args || !w->regions.depth)
        return;
    uint32_t name = chunk_find_text(w, chunk_read_number(r));
    uint32_t type = chunk_find_text(w, chunk_read_number(r));
    add_copied_value(w, type, name, chunk_read_rest(r));
}

/* ---- lists of parameters -------------------------------------------------------------------- */

/* A parameter is two strings, and so at least two bytes. */
void chunk_add_parameters(chunk_worker *w, chunk_record *r)
{
    uint64_t id = chunk_read_number(r);
    uint64_t count = chunk_read_number(r);
    uint64_t most = (uint64_t)(r->end - r->p) / 2;
    chunk_list_of_parameters list = {w->parameter_count, (size_t)(count < most ? count : most)};
    if (!w->process->args)
        return;
    if (!ROCL_GROW(w->parameters, w->parameter_cap, w->parameter_count + list.count) ||
        !ROCL_GROW(w->lists_all, w->list_cap, w->list_count + 1) ||
        !rocl_map_put(&w->lists, id, (uint32_t)w->list_count)) {
        chunk_fail_memory(w);
        return;
    }
    for (size_t i = 0; i < list.count; i++) {
        uint32_t type = chunk_intern(w, chunk_read_text(r));
        w->parameters[w->parameter_count++] =
            (chunk_parameter){.type = type, .name = chunk_intern(w, chunk_read_text(r))};
    }
    w->lists_all[w->list_count++] = list;
}

/* ---- values --------------------------------------------------------------------------------- */

/* "hsa_agent_t": "agent_" and the number. */
static char *put_handle(const chunk_worker *w, char *to, uint32_t type, uint64_t v)
{
    const char *name = rocl_str(w->process->file->trace, type);
    size_t n = strlen(name), cut = n > 6 ? n - 6 : 0;
    if (cut > VALUE_MAX - ROCL_NUM_MAX - 2)
        cut = 0;
    if (cut)
        memcpy(to, name + 4, cut);
    to[cut] = '_';
    return rocl_put_u64(to + cut + (cut > 0), v);
}

/* A value as text, in `to` if it is not a text itself; false: its form is unknown, and what follows
 * cannot be read. */
static bool format_value(chunk_worker *w, const chunk_parameter *a, uint8_t form, chunk_record *r,
                         char to[VALUE_MAX], rocl_view *value)
{
    rocl_strings *strings = w->process->file->trace->strings;
    uint64_t v = 0;
    char *end = to;
    if (form == ROCL_FORM_TEXT) {
        value->p = rocl_strings_get(strings, chunk_find_text(w, chunk_read_number(r)), &value->n);
        return true;
    }
    if (form <= ROCL_FORM_DOUBLE)
        v = chunk_read_number(r);
    switch (form) {
    case ROCL_FORM_SIGNED:
        end = rocl_put_i64(to, rocl_unzigzag(v));
        break;
    case ROCL_FORM_UNSIGNED:
        end = rocl_put_u64(to, v);
        break;
    case ROCL_FORM_POINTER:
        memcpy(to, "0x", 2);
        end = rocl_put_hex(to + 2, v, 1, false);
        break;
    case ROCL_FORM_HANDLE:
        end = put_handle(w, to, a->type, v);
        break;
    case ROCL_FORM_FLOAT:
    case ROCL_FORM_DOUBLE: {
        uint32_t word = (uint32_t)v;
        double d;
        float f;
        memcpy(&d, &v, sizeof d);
        memcpy(&f, &word, sizeof f);
        int n = snprintf(to, VALUE_MAX, "%g", form == ROCL_FORM_FLOAT ? (double)f : d);
        end += n > 0 ? n : 0;
        break;
    }
    case ROCL_FORM_SIZES:
        for (int i = 0; i < 3; i++) {
            *end++ = i ? ',' : '{';
            end = rocl_put_u64(end, chunk_read_number(r));
        }
        *end++ = '}';
        break;
    default:
        return false;
    }
    *value = rocl_view_between(to, end);
    return true;
}

void chunk_add_args(chunk_worker *w, chunk_record *r)
{
    char text[VALUE_MAX];
    if (!w->process->args || !w->regions.depth)
        return;
    uint32_t at = rocl_map_get(&w->lists, chunk_read_number(r), ROCL_NONE);
    if (at == ROCL_NONE) {
        chunk_count_fault(w, ROCL_FAULT_DANGLING_NAME);
        return;
    }
    chunk_list_of_parameters list = w->lists_all[at];
    for (size_t i = 0; i < list.count && r->p < r->end; i++) {
        const chunk_parameter *a = &w->parameters[list.first + i];
        uint8_t form = *r->p++;
        rocl_view value;
        if (form == ROCL_FORM_NONE)
            continue;
        if (!format_value(w, a, form, r, text, &value)) {
            chunk_count_fault(w, ROCL_FAULT_BAD_VALUE);
            return;
        }
        if (!(form == ROCL_FORM_TEXT ? add_value : add_copied_value)(w, a->type, a->name, value))
            return;
    }
}

/* ---- at the end of a region ----------------------------------------------------------------- */

/* They are the last pending ones. */
void chunk_move_args(chunk_worker *w, size_t depth, rocl_region *g)
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
        chunk_fail_memory(w);
        return;
    }
    g->arg_first = (uint32_t)b->arg_count;
    g->arg_count = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        b->args[b->arg_count++] = w->args[first + i].arg;
}
