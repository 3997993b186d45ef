/* A profile line: fields between semicolons. What is wrong in one is noticed in the order in which
 * the script would, since it says so in its report. */
#include "legacy/rpt/rpt.h"

#include "base/num.h"

enum { FIELDS = 8 }; /* that anything is known of */

typedef struct fields {
    rocl_view f[FIELDS];
    unsigned count;
} fields;

/* Prints a warning that ends with the field that is meant. False where there is none: the script
 * fails half-way, and takes the line for unparsable. */
static bool warn_of_field(rpt_parser *l, const char *what, const fields *f, unsigned field)
{
    rpt_print_item(&l->print, what, strlen(what));
    if (field >= f->count)
        return false;
    rocl_view s = rocl_py_strip(f->f[field]);
    rpt_print_item(&l->print, s.p, s.n);
    rpt_end_line(&l->print);
    return true;
}

/* ---- fields --------------------------------------------------------------------------------- */

static bool read_time(const fields *f, unsigned field, int64_t *v)
{
    return field < f->count && rocl_py_int(f->f[field], v) &&
           *v<RPT_TIME_MAX && * v> - RPT_TIME_MAX;
}

/* "#device.queue.command" */
static bool read_tag(const fields *f, unsigned field, rpt_record *r)
{
    int64_t v[3];
    if (field >= f->count)
        return false;
    rocl_view s = rocl_py_strip(f->f[field]);
    while (s.n && *s.p == '#')
        s = (rocl_view){s.p + 1, s.n - 1};
    for (unsigned i = 0; i < 3; i++) {
        rocl_view number = i < 2 ? rocl_view_until(s, '.') : s;
        if ((i < 2 && number.n == s.n) || !rocl_py_int(number, &v[i]))
            return false;
        s = i < 2 ? (rocl_view){s.p + number.n + 1, s.n - number.n - 1} : s;
    }
    r->device = v[0];
    r->queue = v[1];
    r->command = v[2];
    return true;
}

/* A copy's name tells its size, "N bytes". */
static bool add_size(rpt_parser *l, const fields *f, unsigned field, rocl_view *name)
{
    int64_t bytes;
    if (field >= f->count)
        return false;
    rocl_view s = rocl_py_strip(f->f[field]);
    size_t n = 0;
    while (n < s.n && !rocl_py_space(s.p[n]))
        n++;
    if (!rocl_py_int((rocl_view){s.p, n}, &bytes))
        return false;
    l->name.len = 0;
    rocl_buf_put(&l->name, name->p, name->n);
    rocl_buf_byte(&l->name, '_');
    rocl_buf_i64(&l->name, bytes);
    rocl_buf_str(&l->name, "_bytes");
    *name = (rocl_view){(const char *)l->name.data, l->name.len};
    return true;
}

/* ---- the line ------------------------------------------------------------------------------- */

static rpt_outcome parse_fields(rpt_parser *l, const fields *f, rpt_record *r)
{
    const rpt *report = l->rpt;
    const size_t word = sizeof "profile:" - 1;
    rpt_outcome outcome = RPT_FINE;
    rocl_view type = {f->f[0].p + word, f->f[0].n - word};
    type = rocl_py_strip(rocl_view_until(type, ':'));
    /* Most are of a few types; an id need not be looked up for those. */
    r->type = rocl_view_is(type, "kernel")    ? report->kernel
              : rocl_view_is(type, "barrier") ? report->barrier
              : rocl_view_is(type, "copy")    ? report->copy
                                              : rocl_strings_put(report->strings, type.p, type.n);
    if (f->count <= 2 || !rocl_py_float(rocl_view_until(rocl_py_strip(f->f[2]), ' ')) ||
        !read_time(f, 3, &r->start) || !read_time(f, 4, &r->stop))
        return RPT_UNPARSABLE;
    /* Newer runtimes put the time of the call before start and stop. */
    int64_t third;
    unsigned next = 5; /* the field after the times */
    if (r->start <= r->stop && read_time(f, 5, &third)) {
        next = 6;
        r->start = r->stop;
        r->stop = third;
    }
    rocl_view name = rocl_py_strip(f->f[1]);
    if (!read_tag(f, next, r)) {
        /* The script has no command number then and fails where it must print one; this is 0. */
        if (!warn_of_field(l, "warning: unknown opid tag=", f, next))
            return RPT_UNPARSABLE;
        outcome = RPT_REPAIRED;
    }
    /* Such a barrier waits for others: its start says when it was queued. */
    if (r->type == report->barrier) {
        size_t commas = 0; /* "depcnt=N,acq=A,rel=R" */
        for (size_t i = 0; i < name.n; i++)
            commas += name.p[i] == ',';
        r->start = commas == 2 ? r->stop : r->start;
    }
    if (rpt_is_copy(report, r->type) && !add_size(l, f, next + 1, &name)) {
        if (!warn_of_field(l, "warning: can't find copy size in", f, next + 1))
            return RPT_UNPARSABLE;
        outcome = RPT_REPAIRED;
    }
    r->name = rocl_strings_put(report->strings, name.p, name.n);
    return r->name == ROCL_NONE || r->type == ROCL_NONE ? RPT_NO_MEMORY : outcome;
}

rpt_outcome rpt_parse_line(rpt_parser *l, const char *p, size_t n, rpt_record *r)
{
    static const char warning[] = "warning: ignored unparsable profile line:";
    fields f;
    f.count = 0;
    *r = (rpt_record){0};
    for (const char *at = p, *end = p + n; f.count < FIELDS;) {
        const char *semicolon = memchr(at, ';', (size_t)(end - at));
        f.f[f.count++] = rocl_view_between(at, semicolon ? semicolon : end);
        if (!semicolon)
            break;
        at = semicolon + 1;
    }
    rpt_outcome outcome = parse_fields(l, &f, r);
    if (outcome == RPT_UNPARSABLE) {
        rpt_print_item(&l->print, warning, sizeof warning - 1);
        rpt_print_item(&l->print, p, n);
    }
    return outcome;
}
