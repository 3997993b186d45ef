/* Arguments of calls: as text, and as values. */
#include <stdio.h>
#include <string.h>

#include "capture/rtg/rtg.h"

/* Sizes that the compiler knows: it reads them at once. */
static uint64_t bits_of(const rocl_arg *a)
{
    uint64_t v;
    uint32_t word;
    uint16_t half;
    switch (a->size) {
    case 8:
        memcpy(&v, a->value, 8);
        return v;
    case 4:
        memcpy(&word, a->value, 4);
        return word;
    case 2:
        memcpy(&half, a->value, 2);
        return half;
    default:
        return *(const unsigned char *)a->value;
    }
}

static int64_t signed_of(const rocl_arg *a)
{
    uint64_t v = bits_of(a);
    return a->size == 4   ? (int32_t)v
           : a->size == 2 ? (int16_t)v
           : a->size == 1 ? (int8_t)v
                          : (int64_t)v;
}

static const void *pointer_of(const rocl_arg *a)
{
    const void *p;
    memcpy(&p, a->value, sizeof p);
    return p;
}

/* NULL: the call has set nothing, or it is not known where. */
static const void *set_by_call(const rocl_arg *a, bool done)
{
    return done && rocl_kind_is_out(a->kind) ? pointer_of(a) : NULL;
}

static bool is_size(const rocl_arg *a)
{
    return a->kind == ROCL_KIND_OUT && strstr(a->type, "size_t");
}

static double double_of(const rocl_arg *a)
{
    double d = 0;
    float f = 0;
    if (a->kind == ROCL_KIND_DOUBLE)
        memcpy(&d, a->value, sizeof d);
    else
        memcpy(&f, a->value, sizeof f);
    return a->kind == ROCL_KIND_DOUBLE ? d : (double)f;
}

/* "hsa_agent_t": "agent_" and its handle. */
static bool is_handle(const rocl_arg *a)
{
    return a->size == sizeof(uint64_t) && strlen(a->type) > 6;
}

static void put_handle(rocl_line *l, const rocl_arg *a)
{
    if (!is_handle(a)) {
        rocl_line_text(l, "_omitted_", 9);
        return;
    }
    rocl_line_text(l, a->type + 4, strlen(a->type) - 6);
    rocl_line_text(l, "_", 1);
    rocl_line_u64(l, bits_of(a));
}

static void put_text(rocl_line *l, const char *s)
{
    if (s)
        rocl_line_text(l, s, strlen(s));
}

static void put_pointer(rocl_line *l, const void *p, const char *null)
{
    if (p)
        rocl_line_add(l, "%p", p);
    else
        put_text(l, null);
}

static void put_plain(rocl_line *l, const rocl_arg *a, const char *null)
{
    switch (a->kind) {
    case ROCL_KIND_SIGNED:
        rocl_line_add(l, "%ld", (long)signed_of(a));
        break;
    case ROCL_KIND_UNSIGNED:
        rocl_line_u64(l, bits_of(a));
        break;
    case ROCL_KIND_FLOAT:
    case ROCL_KIND_DOUBLE:
        rocl_line_add(l, "%g", double_of(a));
        break;
    default:
        put_pointer(l, pointer_of(a), null);
    }
}

void rocl_line_hsa_args(rocl_line *l, const rocl_arg *args)
{
    for (const rocl_arg *a = args; a->type; a++) {
        if (a > args)
            rocl_line_text(l, ", ", 2);
        if (a->kind == ROCL_KIND_RECORD)
            put_handle(l, a);
        else if (a->kind == ROCL_KIND_TEXT)
            put_text(l, pointer_of(a));
        else
            put_plain(l, a, "0");
    }
}

/* ---- HIP ------------------------------------------------------------------------------------- */

static void put_record(rocl_line *l, const rocl_arg *a)
{
    uint32_t v[3];
    if (strcmp(a->type, "dim3") != 0 || a->size != sizeof v) {
        put_text(l, a->type);
        return;
    }
    memcpy(v, a->value, sizeof v);
    rocl_line_add(l, "{%u,%u,%u}", v[0], v[1], v[2]);
}

/* What the call has set; before, or when it has failed, that may be anything. */
static void put_out(rocl_line *l, const rocl_arg *a)
{
    const void *p = pointer_of(a);
    if (a->kind == ROCL_KIND_OUT_FLOAT)
        rocl_line_add(l, "%g", (double)*(const float *)p);
    else if (a->kind == ROCL_KIND_OUT_INT)
        rocl_line_add(l, "%d", *(const int *)p);
    else if (is_size(a))
        rocl_line_add(l, "%zu", *(const size_t *)p);
    else
        put_pointer(l, *(void *const *)p, "NULL");
}

static void put_hip(rocl_line *l, const rocl_arg *a, bool done)
{
    if (a->kind == ROCL_KIND_RECORD)
        put_record(l, a);
    else if (a->kind == ROCL_KIND_TEXT && pointer_of(a))
        put_text(l, pointer_of(a));
    else if (set_by_call(a, done))
        put_out(l, a);
    else
        put_plain(l, a, "NULL");
}

void rocl_line_hip_args(rocl_line *l, const rocl_arg *args, bool done)
{
    /* Only those at the front are known to be what the call gives back: later ones may be lists,
     * which can be empty. */
    bool front = done;
    rocl_line_text(l, "(", 1);
    for (const rocl_arg *a = args; a->type; a++) {
        front = front && rocl_kind_is_out(a->kind);
        rocl_line_add(l, "%s%s=", a > args ? ", " : "", a->name);
        put_hip(l, a, front);
    }
    rocl_line_text(l, ")", 1);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void set_number(rocl_cap_value *v, rocl_chunk_form form, uint64_t bits)
{
    v->form = form;
    v->bits = bits;
}

static void set_text(rocl_cap_value *v, const char *text)
{
    v->form = ROCL_FORM_TEXT;
    v->text = text ? text : "";
    v->len = strlen(v->text);
}

static void set_record(rocl_cap_value *v, const rocl_arg *a, bool hip)
{
    if (!hip && is_handle(a)) {
        set_number(v, ROCL_FORM_HANDLE, bits_of(a));
    } else if (hip && !strcmp(a->type, "dim3") && a->size == sizeof v->sizes) {
        v->form = ROCL_FORM_SIZES;
        memcpy(v->sizes, a->value, sizeof v->sizes);
    } else {
        set_text(v, hip ? a->type : "_omitted_");
    }
}

/* What the call has put where the argument points to. */
static void set_out(rocl_cap_value *v, const rocl_arg *a, const void *at)
{
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
    if (a->kind == ROCL_KIND_OUT_INT)
        set_number(v, ROCL_FORM_SIGNED, (uint64_t)(int32_t)bits);
    else if (a->kind == ROCL_KIND_OUT_FLOAT)
        set_number(v, ROCL_FORM_FLOAT, bits);
    else if (is_size(a))
        set_number(v, ROCL_FORM_UNSIGNED, *(const size_t *)at);
    else
        set_number(v, ROCL_FORM_POINTER, (uint64_t) * (void *const *)at);
}

void rocl_arg_value(rocl_cap_value *v, const rocl_arg *a, bool hip, bool done)
{
    const void *out = set_by_call(a, done);
    v->type = a->type;
    v->name = a->name;
    if (out)
        set_out(v, a, out);
    else if (a->kind == ROCL_KIND_RECORD)
        set_record(v, a, hip);
    else if (a->kind == ROCL_KIND_TEXT)
        set_text(v, pointer_of(a));
    else if (a->kind == ROCL_KIND_SIGNED)
        set_number(v, ROCL_FORM_SIGNED, (uint64_t)signed_of(a));
    else
        set_number(v,
                   a->kind == ROCL_KIND_UNSIGNED ? ROCL_FORM_UNSIGNED
                   : a->kind == ROCL_KIND_FLOAT  ? ROCL_FORM_FLOAT
                   : a->kind == ROCL_KIND_DOUBLE ? ROCL_FORM_DOUBLE
                                                 : ROCL_FORM_POINTER,
                   bits_of(a));
}
