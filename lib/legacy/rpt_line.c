/* A profile line: fields between semicolons. What is wrong in one is noticed in the order in which
 * the script would, since it says so in its report. */
#include "legacy/rpt.h"

enum { FIELDS = 8 }; /* that anything is known of */

typedef struct fields {
    rocl_view f[FIELDS];
    unsigned count;
} fields;

static void split(fields *to, const char *p, size_t n)
{
    const char *end = p + n;
    to->count = 0;
    while (to->count < FIELDS) {
        const char *semicolon = memchr(p, ';', (size_t)(end - p));
        const char *stop = semicolon ? semicolon : end;
        to->f[to->count++] = (rocl_view){p, (size_t)(stop - p)};
        if (!semicolon)
            break;
        p = semicolon + 1;
    }
}

static rocl_view until(rocl_view s, char c)
{
    const char *end = s.n ? memchr(s.p, c, s.n) : NULL;
    return end ? (rocl_view){s.p, (size_t)(end - s.p)} : s;
}

/* ---- what the script says of it -------------------------------------------------------------- */

/* A warning ends with the field that is meant. Where there is none the script fails half-way, and
 * takes the line for unparsable. */
static bool warn(rocl_rpt_line *l, const char *what, const fields *f, unsigned field)
{
    rocl_rpt_item(&l->say, what, strlen(what));
    if (field >= f->count)
        return false;
    rocl_view s = rocl_py_strip(f->f[field]);
    rocl_rpt_item(&l->say, s.p, s.n);
    rocl_rpt_newline(&l->say);
    return true;
}

static rocl_rpt_verdict unparsable(rocl_rpt_line *l, const char *p, size_t n)
{
    static const char what[] = "warning: ignored unparsable profile line:";
    rocl_rpt_item(&l->say, what, sizeof what - 1);
    rocl_rpt_item(&l->say, p, n);
    return ROCL_RPT_UNPARSABLE;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool read_time(const fields *f, unsigned field, int64_t *v)
{
    return field < f->count && rocl_py_int(f->f[field], v) &&
           *v<ROCL_RPT_TIME_MAX && * v> - ROCL_RPT_TIME_MAX;
}

/* Start and stop, of newer runtimes after the time of the call; *next is the field behind them. */
static bool read_times(const fields *f, rocl_rpt_record *r, unsigned *next)
{
    int64_t third;
    *next = 5;
    if (!read_time(f, 3, &r->start) || !read_time(f, 4, &r->stop))
        return false;
    if (r->start > r->stop || !read_time(f, 5, &third))
        return true;
    *next = 6;
    r->start = r->stop;
    r->stop = third;
    return true;
}

/* "#device.queue.command" */
static bool read_tag(const fields *f, unsigned field, rocl_rpt_record *r)
{
    int64_t v[3];
    if (field >= f->count)
        return false;
    rocl_view s = rocl_py_strip(f->f[field]);
    while (s.n && *s.p == '#')
        s = (rocl_view){s.p + 1, s.n - 1};
    for (unsigned i = 0; i < 3; i++) {
        rocl_view part = i < 2 ? until(s, '.') : s;
        if ((i < 2 && part.n == s.n) || !rocl_py_int(part, &v[i]))
            return false;
        s = i < 2 ? (rocl_view){s.p + part.n + 1, s.n - part.n - 1} : s;
    }
    r->device = v[0];
    r->queue = v[1];
    r->command = v[2];
    return true;
}

/* "depcnt=N,acq=A,rel=R" */
static bool has_three_parts(rocl_view name)
{
    rocl_view a = until(name, ',');
    if (a.n == name.n)
        return false;
    rocl_view rest = {name.p + a.n + 1, name.n - a.n - 1}, b = until(rest, ',');
    return b.n < rest.n && !memchr(b.p + b.n + 1, ',', rest.n - b.n - 1);
}

/* A copy's name tells its size, "N bytes". */
static bool add_size(rocl_rpt_line *l, const fields *f, unsigned field, rocl_view *name)
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
    rocl_rpt_put_int(&l->name, bytes, 0);
    rocl_buf_str(&l->name, "_bytes");
    *name = (rocl_view){(const char *)l->name.data, l->name.len};
    return true;
}

/* Most are of a few types; an id need not be looked up for those. */
static uint32_t type_of(const rocl_rpt *r, rocl_view s)
{
    if (s.n == 6 && memcmp(s.p, "kernel", 6) == 0)
        return r->kernel;
    if (s.n == 7 && memcmp(s.p, "barrier", 7) == 0)
        return r->barrier;
    if (s.n == 4 && memcmp(s.p, "copy", 4) == 0)
        return r->copy;
    return rocl_strings_put(r->strings, s.p, s.n);
}

/* ---- the line -------------------------------------------------------------------------------- */

static bool read_head(rocl_rpt_line *l, const fields *f, rocl_rpt_record *r, unsigned *next)
{
    const size_t word = sizeof "profile:" - 1;
    rocl_view type = {f->f[0].p + word, f->f[0].n - word};
    r->type = type_of(l->rpt, rocl_py_strip(until(type, ':')));
    return f->count > 2 && rocl_py_float(until(rocl_py_strip(f->f[2]), ' ')) &&
           read_times(f, r, next);
}

rocl_rpt_verdict rocl_rpt_line_parse(rocl_rpt_line *l, const char *p, size_t n, rocl_rpt_record *r)
{
    const rocl_rpt *rpt = l->rpt;
    rocl_rpt_verdict verdict = ROCL_RPT_FINE;
    unsigned next;
    fields f;
    *r = (rocl_rpt_record){0};
    split(&f, p, n);
    if (!read_head(l, &f, r, &next))
        return unparsable(l, p, n);
    rocl_view name = rocl_py_strip(f.f[1]);
    if (!read_tag(&f, next, r)) {
        /* The script has no command number then and fails where it must print one; this is 0. */
        if (!warn(l, "warning: unknown opid tag=", &f, next))
            return unparsable(l, p, n);
        verdict = ROCL_RPT_REPAIRED;
    }
    /* Such a barrier waits for others: its start says when it was queued. */
    if (r->type == rpt->barrier && has_three_parts(name))
        r->start = r->stop;
    if (rocl_rpt_is_copy(rpt, r->type) && !add_size(l, &f, next + 1, &name)) {
        if (!warn(l, "warning: can't find copy size in", &f, next + 1))
            return unparsable(l, p, n);
        verdict = ROCL_RPT_REPAIRED;
    }
    r->name = rocl_strings_put(rpt->strings, name.p, name.n);
    return r->name == ROCL_NONE || r->type == ROCL_NONE ? ROCL_RPT_NO_MEMORY : verdict;
}
