/* Arguments of calls as text. */
#include <stdio.h>
#include <string.h>

#include "capture/rtg/rtg.h"

static uint64_t bits_of(const rocl_arg *a)
{
    uint64_t v = 0;
    memcpy(&v, a->value, a->size < sizeof v ? a->size : sizeof v);
    return v;
}

static int64_t signed_of(const rocl_arg *a)
{
    unsigned unused = 64 - 8u * (a->size < 8 ? a->size : 8u);
    return (int64_t)(bits_of(a) << unused) >> unused;
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

bool rocl_arg_is_number(const rocl_arg *a, bool done, int64_t *v)
{
    const void *set = set_by_call(a, done);
    if (a->kind == ROCL_KIND_SIGNED)
        *v = signed_of(a);
    else if (a->kind == ROCL_KIND_UNSIGNED)
        *v = (int64_t)bits_of(a);
    else if (set && a->kind == ROCL_KIND_OUT_INT)
        *v = *(const int *)set;
    else if (set && is_size(a))
        *v = (int64_t) * (const size_t *)set;
    else
        return false;
    return a->kind != ROCL_KIND_UNSIGNED || *v >= 0;
}

bool rocl_arg_is_pointer(const rocl_arg *a, bool done, const void **p)
{
    const void *set = set_by_call(a, done);
    if (a->kind != ROCL_KIND_POINTER && !rocl_kind_is_out(a->kind))
        return false;
    if (set && a->kind != ROCL_KIND_OUT)
        return false;
    *p = set ? *(void *const *)set : pointer_of(a);
    return true;
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
static void put_handle(rocl_line *l, const rocl_arg *a)
{
    size_t n = strlen(a->type);
    if (n <= 6 || a->size != sizeof(uint64_t)) {
        rocl_line_text(l, "_omitted_", 9);
        return;
    }
    rocl_line_text(l, a->type + 4, n - 6);
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
