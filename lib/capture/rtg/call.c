/* Calls of the host: their arguments and results, as regions in chunks and as lines of text. */
#include <errno.h>
#include <string.h>

#include "capture/rtg/rtg.h"

__thread rocl_def *rocl_call_stream;

/* ---- arguments ------------------------------------------------------------------------------- */

/* Sizes that the compiler knows: it reads them at once. */
static uint64_t read_bits(const rocl_arg *a)
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

static int64_t read_signed(const rocl_arg *a)
{
    uint64_t v = read_bits(a);
    return a->size == 4   ? (int32_t)v
           : a->size == 2 ? (int16_t)v
           : a->size == 1 ? (int8_t)v
                          : (int64_t)v;
}

static const void *read_pointer(const rocl_arg *a)
{
    const void *p;
    memcpy(&p, a->value, sizeof p);
    return p;
}

/* NULL: the call has set nothing, or it is not known where. */
static const void *find_output(const rocl_arg *a, bool done)
{
    return done && rocl_kind_is_out(a->kind) ? read_pointer(a) : NULL;
}

static bool is_size(const rocl_arg *a)
{
    return a->kind == ROCL_KIND_OUT && strstr(a->type, "size_t");
}

/* "hsa_agent_t": "agent_" and its handle. */
static bool is_handle(const rocl_arg *a)
{
    return a->size == sizeof(uint64_t) && strlen(a->type) > 6;
}

static bool is_dim3(const rocl_arg *a)
{
    return !strcmp(a->type, "dim3") && a->size == 3 * sizeof(uint32_t);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_text(rocl_line *l, const char *s)
{
    if (s)
        rocl_line_text(l, s, strlen(s));
}

static void add_pointer(rocl_line *l, const void *p, const char *null)
{
    if (p)
        rocl_line_add(l, "%p", p);
    else
        add_text(l, null);
}

static void add_plain_value(rocl_line *l, const rocl_arg *a, const char *null)
{
    double d;
    float f;
    switch (a->kind) {
    case ROCL_KIND_SIGNED:
        rocl_line_add(l, "%ld", (long)read_signed(a));
        break;
    case ROCL_KIND_UNSIGNED:
        rocl_line_u64(l, read_bits(a));
        break;
    case ROCL_KIND_FLOAT:
        memcpy(&f, a->value, sizeof f);
        rocl_line_add(l, "%g", (double)f);
        break;
    case ROCL_KIND_DOUBLE:
        memcpy(&d, a->value, sizeof d);
        rocl_line_add(l, "%g", d);
        break;
    default:
        add_pointer(l, read_pointer(a), null);
    }
}

static void add_hip_value(rocl_line *l, const rocl_arg *a, bool done)
{
    const void *out = find_output(a, done);
    uint32_t v[3];
    if (a->kind == ROCL_KIND_RECORD && is_dim3(a)) {
        memcpy(v, a->value, sizeof v);
        rocl_line_add(l, "{%u,%u,%u}", v[0], v[1], v[2]);
    } else if (a->kind == ROCL_KIND_RECORD) {
        add_text(l, a->type);
    } else if (a->kind == ROCL_KIND_TEXT && read_pointer(a)) {
        add_text(l, read_pointer(a));
    } else if (!out) {
        add_plain_value(l, a, "NULL");
    } else if (a->kind == ROCL_KIND_OUT_FLOAT) {
        rocl_line_add(l, "%g", (double)*(const float *)out);
    } else if (a->kind == ROCL_KIND_OUT_INT) {
        rocl_line_add(l, "%d", *(const int *)out);
    } else if (is_size(a)) {
        rocl_line_add(l, "%zu", *(const size_t *)out);
    } else {
        add_pointer(l, *(void *const *)out, "NULL");
    }
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

/* An argument in the form of chunks. done: the call has set what it points to. */
static void set_value(rocl_cap_value *v, const rocl_arg *a, bool hip, bool done)
{
    const void *out = find_output(a, done);
    uint32_t word;
    v->type = a->type;
    v->name = a->name;
    switch (a->kind) {
    case ROCL_KIND_SIGNED:
        set_number(v, ROCL_FORM_SIGNED, (uint64_t)read_signed(a));
        break;
    case ROCL_KIND_UNSIGNED:
        set_number(v, ROCL_FORM_UNSIGNED, read_bits(a));
        break;
    case ROCL_KIND_FLOAT:
        set_number(v, ROCL_FORM_FLOAT, read_bits(a));
        break;
    case ROCL_KIND_DOUBLE:
        set_number(v, ROCL_FORM_DOUBLE, read_bits(a));
        break;
    case ROCL_KIND_TEXT:
        set_text(v, read_pointer(a));
        break;
    case ROCL_KIND_RECORD:
        if (!hip && is_handle(a)) {
            set_number(v, ROCL_FORM_HANDLE, read_bits(a));
        } else if (hip && is_dim3(a)) {
            v->form = ROCL_FORM_SIZES;
            memcpy(v->sizes, a->value, sizeof v->sizes);
        } else {
            set_text(v, hip ? a->type : "_omitted_");
        }
        break;
    default: /* pointers: what the call stored there, if known */
        if (!out) {
            set_number(v, ROCL_FORM_POINTER, read_bits(a));
        } else if (a->kind == ROCL_KIND_OUT_INT) {
            memcpy(&word, out, sizeof word);
            set_number(v, ROCL_FORM_SIGNED, (uint64_t)(int32_t)word);
        } else if (a->kind == ROCL_KIND_OUT_FLOAT) {
            memcpy(&word, out, sizeof word);
            set_number(v, ROCL_FORM_FLOAT, word);
        } else if (is_size(a)) {
            set_number(v, ROCL_FORM_UNSIGNED, *(const size_t *)out);
        } else {
            set_number(v, ROCL_FORM_POINTER, (uint64_t) * (void *const *)out);
        }
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The call ends when it returned, before the time that this takes. */
static void record_values(rocl_call *c, const rocl_arg *args, const rocl_result *r,
                          const char *kernel, bool hip, bool with_args)
{
    rocl_cap_value v[ROCL_CAP_ARGS];
    uint64_t now = rocl_cap_now();
    bool front = hip && !r->failed;
    size_t n = 0;
    if (c->launches)
        v[n++] = (rocl_cap_value){.type = "const char *",
                                  .name = "kernel",
                                  .form = kernel ? ROCL_FORM_TEXT : ROCL_FORM_NONE,
                                  .text = kernel,
                                  .len = kernel ? strlen(kernel) : 0};
    for (const rocl_arg *a = args; with_args && a->type; a++) {
        front = front && rocl_kind_is_out(a->kind);
        set_value(&v[n++], a, hip, front);
    }
    if (r->type) /* a success alone is not worth its bytes */
        v[n++] =
            (rocl_cap_value){.type = r->type,
                             .name = "return",
                             .form = with_args || r->failed ? ROCL_FORM_SIGNED : ROCL_FORM_NONE,
                             .bits = (uint64_t)r->value};
    rocl_cap_args(&c->parameters, v, n);
    rocl_cap_end_at(now);
}

static inline void record_end(rocl_call *c, const rocl_arg *args, const rocl_result *r,
                              const char *kernel, bool hip, bool with_args)
{
    if (with_args || c->launches || r->failed)
        record_values(c, args, r, kernel, hip, with_args);
    else
        rocl_cap_end();
}

static void end_line(rocl_line *l, const rocl_open_call *o, uint64_t now)
{
    rocl_line_add(l, " @%lu +%lu", (unsigned long)o->began, (unsigned long)(now - o->began));
    rocl_line_write(l);
}

void rocl_hsa_call_end(const rocl_open_call *o, rocl_call *c, const rocl_arg *args,
                       const rocl_result *r)
{
    int saved = errno;
    uint64_t now = o->began ? rocl_rtg_now() : 0;
    rocl_line l;
    if (rocl_rtg.chunks)
        record_end(c, args, r, NULL, false, true);
    if (o->began) {
        rocl_line_who(&l, "HSA");
        rocl_line_text(&l, c->site.name, strlen(c->site.name));
        rocl_line_text(&l, " (", 2);
        /* As rtg_tracer prints them: "agent_1, 2, 0x7f00". */
        for (const rocl_arg *a = args; a->type; a++) {
            if (a > args)
                rocl_line_text(&l, ", ", 2);
            if (a->kind == ROCL_KIND_RECORD && is_handle(a)) {
                rocl_line_text(&l, a->type + 4, strlen(a->type) - 6);
                rocl_line_text(&l, "_", 1);
                rocl_line_u64(&l, read_bits(a));
            } else if (a->kind == ROCL_KIND_RECORD) {
                rocl_line_text(&l, "_omitted_", 9);
            } else if (a->kind == ROCL_KIND_TEXT) {
                add_text(&l, read_pointer(a));
            } else {
                add_plain_value(&l, a, "0");
            }
        }
        if (r->type)
            rocl_line_add(&l, ") ret=%ld", (long)r->value);
        else
            rocl_line_add(&l, ") ret=void");
        end_line(&l, o, now);
    }
    errno = saved;
}

void rocl_hip_call_end(const rocl_open_call *o, rocl_call *c, const rocl_arg *args,
                       const rocl_result *r, const char *kernel)
{
    int saved = errno;
    uint64_t now = o->began ? rocl_rtg_now() : 0;
    rocl_line l;
    if (rocl_rtg.chunks) {
        rocl_call_stream = o->stream;
        record_end(c, args, r, kernel, true, rocl_rtg.hip_args);
    }
    if (o->began) {
        rocl_line_who(&l, "HIP");
        rocl_line_text(&l, c->site.name, strlen(c->site.name));
        if (rocl_rtg.hip_args) {
            /* "(ptr=0x7f00, size=4096)". Values that the call sets are shown when it was done. Only
             * those at the front are known to be what the call gives back: later ones may be lists,
             * which can be empty. */
            bool front = !r->failed;
            rocl_line_text(&l, "(", 1);
            for (const rocl_arg *a = args; a->type; a++) {
                front = front && rocl_kind_is_out(a->kind);
                rocl_line_add(&l, "%s%s=", a > args ? ", " : "", a->name);
                add_hip_value(&l, a, front);
            }
            rocl_line_text(&l, ")", 1);
        }
        if (kernel) {
            rocl_line_text(&l, " [", 2);
            rocl_line_text(&l, kernel, strlen(kernel));
            rocl_line_text(&l, "]", 1);
        }
        rocl_line_add(&l, " ret=%ld", (long)r->value);
        end_line(&l, o, now);
    }
    errno = saved;
}
