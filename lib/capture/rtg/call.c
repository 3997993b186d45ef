/* Calls of the host: regions in chunks, and lines. */
#include <errno.h>
#include <string.h>

#include "capture/rtg/rtg.h"

__thread rocl_def *rocl_call_stream;

static rocl_cap_value name_of_kernel(const char *kernel)
{
    return (rocl_cap_value){.type = "const char *",
                            .name = "kernel",
                            .form = kernel ? ROCL_FORM_TEXT : ROCL_FORM_NONE,
                            .text = kernel,
                            .len = kernel ? strlen(kernel) : 0};
}

/* What went well is not worth the room. */
static rocl_cap_value value_of_result(const rocl_result *r, bool with_args)
{
    bool shown = with_args || r->failed;
    return (rocl_cap_value){.type = r->type,
                            .name = "return",
                            .form = shown ? ROCL_FORM_SIGNED : ROCL_FORM_NONE,
                            .bits = (uint64_t)r->value};
}

/* The call ends where it came back, before the time that this takes. */
static void record_values(rocl_call *c, const rocl_arg *args, const rocl_result *r,
                          const char *kernel, bool hip, bool with_args)
{
    rocl_cap_value v[ROCL_CAP_ARGS];
    uint64_t now = rocl_cap_now();
    bool front = hip && !r->failed;
    size_t n = 0;
    if (c->launches)
        v[n++] = name_of_kernel(kernel);
    for (const rocl_arg *a = args; with_args && a->type; a++) {
        front = front && rocl_kind_is_out(a->kind);
        rocl_arg_value(&v[n++], a, hip, front);
    }
    if (r->type)
        v[n++] = value_of_result(r, with_args);
    rocl_cap_args(&c->parameters, v, n);
    rocl_cap_end_at(now);
}

static inline void record(rocl_call *c, const rocl_arg *args, const rocl_result *r,
                          const char *kernel, bool hip, bool with_args)
{
    if (with_args || c->launches || r->failed)
        record_values(c, args, r, kernel, hip, with_args);
    else
        rocl_cap_end();
}

static void write_end(rocl_line *l, const rocl_open_call *o, uint64_t now)
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
        record(c, args, r, NULL, false, true);
    if (o->began) {
        rocl_line_who(&l, "HSA");
        rocl_line_text(&l, c->site.name, strlen(c->site.name));
        rocl_line_text(&l, " (", 2);
        rocl_line_hsa_args(&l, args);
        if (r->type)
            rocl_line_add(&l, ") ret=%ld", (long)r->value);
        else
            rocl_line_add(&l, ") ret=void");
        write_end(&l, o, now);
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
        record(c, args, r, kernel, true, rocl_rtg.hip_args);
    }
    if (o->began) {
        rocl_line_who(&l, "HIP");
        rocl_line_text(&l, c->site.name, strlen(c->site.name));
        if (rocl_rtg.hip_args)
            rocl_line_hip_args(&l, args, !r->failed);
        if (kernel) {
            rocl_line_text(&l, " [", 2);
            rocl_line_text(&l, kernel, strlen(kernel));
            rocl_line_text(&l, "]", 1);
        }
        rocl_line_add(&l, " ret=%ld", (long)r->value);
        write_end(&l, o, now);
    }
    errno = saved;
}
