/* Calls of the host: regions in chunks, and lines. */
#include <errno.h>
#include <string.h>

#include "capture/rtg/rtg.h"

static void record_text(const rocl_arg *a, const char *s)
{
    rocl_cap_arg(a->type, a->name, s ? s : "", s ? strlen(s) : 0);
}

/* What the line would show of it. */
static void record_shown(const rocl_arg *a, bool hip, bool done)
{
    rocl_arg one[2] = {*a, {0}};
    rocl_line l;
    rocl_line_begin(&l);
    size_t before = hip ? strlen(a->name) + 2 : 0; /* "(name=", and ")" behind it */
    if (hip)
        rocl_line_hip_args(&l, one, done);
    else
        rocl_line_hsa_args(&l, one);
    rocl_cap_arg(a->type, a->name, l.data + before, l.len - before - hip);
}

static void record_arg(const rocl_arg *a, bool hip, bool done)
{
    int64_t number;
    const void *p;
    if (a->kind == ROCL_KIND_TEXT)
        record_text(a, *(const char *const *)a->value);
    else if (rocl_arg_is_number(a, done, &number))
        rocl_cap_arg_number(a->type, a->name, number);
    else if (rocl_arg_is_pointer(a, done, &p))
        rocl_cap_arg_pointer(a->type, a->name, p);
    else
        record_shown(a, hip, done);
}

static void record(const rocl_arg *args, const rocl_result *r, bool hip, bool with_args)
{
    bool front = !r->failed;
    for (const rocl_arg *a = args; with_args && a->type; a++) {
        front = front && rocl_kind_is_out(a->kind);
        record_arg(a, hip, hip && front);
    }
    /* What went well is not worth the room. */
    if (r->type && (with_args || r->failed))
        rocl_cap_arg_number(r->type, "return", r->value);
    rocl_cap_end();
}

static void write_end(rocl_line *l, const rocl_open_call *o, uint64_t now)
{
    rocl_line_add(l, " @%lu +%lu", (unsigned long)o->began, (unsigned long)(now - o->began));
    rocl_line_write(l);
}

void rocl_hsa_call_end(const rocl_open_call *o, const rocl_call *c, const rocl_arg *args,
                       const rocl_result *r)
{
    int saved = errno;
    uint64_t now = o->began ? rocl_rtg_now() : 0;
    rocl_line l;
    if (rocl_rtg.chunks)
        record(args, r, false, true);
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

void rocl_hip_call_end(const rocl_open_call *o, const rocl_call *c, const rocl_arg *args,
                       const rocl_result *r, const char *kernel)
{
    int saved = errno;
    uint64_t now = o->began ? rocl_rtg_now() : 0;
    rocl_line l;
    if (rocl_rtg.chunks) {
        if (kernel)
            rocl_cap_arg("const char *", "kernel", kernel, strlen(kernel));
        record(args, r, true, rocl_rtg.hip_args);
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
