/* A file for each domain, and one for all, as `rocpd summary`, `rocprofv3 --stats` and `rocprof
 * --stats` leave them. */
#include "table/styles.h"

#include "base/num.h"
#include "base/repr.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILES_MAX = 16 }; /* more than there are domains */

typedef struct files {
    const rocl_tables *tables;
    const rocl_style_options *opt;
    rocl_buf text;
    rocl_out *outs[FILES_MAX]; /* complete, without their names yet */
    size_t count;
    uint64_t bytes;
} files;

/* ---- values ---------------------------------------------------------------------------------- */

/* Names come first: every number has a comma before it. */
static void put_int(rocl_buf *b, int64_t v)
{
    char text[ROCL_NUM_MAX];
    rocl_buf_byte(b, ',');
    rocl_buf_put(b, text, (size_t)(rocl_put_i64(text, v) - text));
}

static void put_repr(rocl_buf *b, double v)
{
    rocl_buf_byte(b, ',');
    rocl_repr_put(b, v);
}

/* %.Nf or %.Ne, whatever the locale has for a point. */
static void put_fixed(rocl_buf *b, const char *format, int decimals, double v)
{
    char text[400];
    int n = snprintf(text, sizeof text, format, decimals, v);
    rocl_buf_byte(b, ',');
    for (int i = 0; i < n && i < (int)sizeof text - 1; i++) {
        bool digit = strchr("0123456789+-e", text[i]);
        if (digit || (i && strchr("0123456789", text[i - 1])))
            rocl_buf_byte(b, digit ? (uint8_t)text[i] : '.');
    }
}

/* Always in quotes, inner ones doubled. */
static void put_quoted(rocl_buf *b, const uint8_t *p, size_t n)
{
    rocl_buf_byte(b, '"');
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '"')
            rocl_buf_byte(b, '"');
        rocl_buf_byte(b, p[i]);
    }
    rocl_buf_byte(b, '"');
}

static bool needs_quotes(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strchr("\",\r\n", p[i]) && p[i])
            return true;
    return false;
}

static void put_text(rocl_buf *b, const rocl_buf *name, bool always)
{
    if (always || needs_quotes(name->data, name->len))
        put_quoted(b, name->data, name->len);
    else
        rocl_buf_put(b, name->data, name->len);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_range(rocl_buf *b, const rocl_style_row *r)
{
    if (!r->range) {
        rocl_buf_str(b, ",,");
        return;
    }
    put_int(b, r->min);
    put_int(b, r->max);
}

/* As Python prints them; a deviation of one value is none. */
static void put_rocpd(rocl_buf *b, const rocl_style_row *r)
{
    put_int(b, r->calls);
    put_int(b, r->total);
    put_repr(b, r->average);
    put_repr(b, r->percent);
    put_range(b, r);
    if (r->single || !r->range)
        rocl_buf_byte(b, ',');
    else
        put_repr(b, r->stddev);
}

/* Shares from 1 % on with two decimals, smaller ones with four, tiny ones with an exponent. */
static void put_share(rocl_buf *b, double percent)
{
    if (percent >= 1)
        put_fixed(b, "%.*f", 2, percent);
    else if (percent >= 0.01)
        put_fixed(b, "%.*f", 4, percent);
    else
        put_fixed(b, "%.*e", 3, percent);
}

static void put_rocprofv3(rocl_buf *b, const rocl_style_row *r)
{
    put_int(b, r->calls);
    put_int(b, r->total);
    put_fixed(b, "%.*f", 6, r->average);
    put_share(b, r->percent);
    put_range(b, r);
    if (r->range)
        put_fixed(b, r->stddev > 0 ? "%.*f" : "%.*e", r->stddev > 0 ? 6 : 8, r->stddev);
    else
        rocl_buf_byte(b, ',');
}

/* Averages are whole numbers there. */
static void put_rocprof(rocl_buf *b, const rocl_style_row *r)
{
    put_int(b, r->calls);
    put_int(b, r->total);
    put_int(b, r->calls ? r->total / r->calls : 0);
    put_repr(b, r->percent);
}

/* MEMORY_COPY_HOST_TO_DEVICE is CopyHostToDevice. */
static void put_v1_copy(rocl_buf *b, const rocl_style_row *r)
{
    static const char before[] = "MEMORY_COPY_";
    size_t i = sizeof before - 1;
    if (r->name_len < i || memcmp(r->name, before, i) != 0) {
        rocl_buf_put(b, r->name, r->name_len);
        return;
    }
    rocl_buf_str(b, "Copy");
    for (bool first = true; i < r->name_len; i++) {
        char c = r->name[i];
        if (c != '_')
            rocl_buf_byte(b, (uint8_t)(first || c < 'A' || c > 'Z' ? c : c + ('a' - 'A')));
        first = c == '_';
    }
}

/* rocpd has ALLOC and FREE for what rocprofv3 calls MEMORY_ALLOCATION_ALLOCATE and ..._FREE. */
static void put_rocpd_name(rocl_buf *b, const rocl_style_domain *d, const rocl_style_row *r)
{
    size_t n = strlen(d->operation);
    bool operation = n && r->name_len > n && !memcmp(r->name, d->operation, n);
    const char *name = r->name + (operation ? n : 0);
    size_t len = r->name_len - (operation ? n : 0);
    if (operation && len == 8 && !memcmp(name, "ALLOCATE", 8))
        len = 5;
    rocl_buf_put(b, name, len);
}

/* rocprof demangles the name of the descriptor: foo.kd, but void foo<int>(int) [clone .kd]. */
static void put_v1_kernel(rocl_buf *b, const rocl_style_row *r)
{
    rocl_buf_put(b, r->name, r->name_len);
    if (r->name_len)
        rocl_buf_str(b, memchr(r->name, '(', r->name_len) ? " [clone .kd]" : ".kd");
}

static void put_name(const files *f, rocl_buf *name, const rocl_style_domain *d,
                     const rocl_style_row *r)
{
    rocl_buf raw = {0};
    if (f->opt->style == ROCL_STYLE_ROCPROFV3)
        rocl_style_put_name(&raw, d, r);
    else if (f->opt->style == ROCL_STYLE_ROCPROF && !strcmp(d->api, "memory_copy"))
        put_v1_copy(&raw, r);
    else if (f->opt->style == ROCL_STYLE_ROCPROF && !strcmp(d->api, "kernel") &&
             f->opt->descriptors)
        put_v1_kernel(&raw, r);
    else
        put_rocpd_name(&raw, d, r);
    rocl_utf8_put(name, (const char *)raw.data, raw.len);
    rocl_buf_free_into(&raw, name);
}

static void put_row(files *f, const rocl_style_domain *d, const rocl_style_row *r)
{
    rocl_buf name = {0}, *b = &f->text;
    rocl_stats_style style = f->opt->style;
    bool kernel = !strcmp(d->api, "kernel");
    put_name(f, &name, d, r);
    put_text(b, &name, style == ROCL_STYLE_ROCPROFV3 || (style == ROCL_STYLE_ROCPROF && kernel));
    if (style == ROCL_STYLE_ROCPD)
        put_rocpd(b, r);
    else if (style == ROCL_STYLE_ROCPROFV3)
        put_rocprofv3(b, r);
    else
        put_rocprof(b, r);
    rocl_buf_byte(b, '\n');
    rocl_buf_free_into(&name, b);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void put_header(files *f)
{
    static const char *const headers[] = {
        [ROCL_STYLE_ROCPD] = "Name,Calls,DURATION (nsec),AVERAGE (nsec),PERCENT (INC),MIN "
                             "(nsec),MAX (nsec),STD_DEV\n",
        [ROCL_STYLE_ROCPROFV3] = "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\","
                                 "\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n",
        [ROCL_STYLE_ROCPROF] =
            "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n",
    };
    rocl_buf_str(&f->text, headers[f->opt->style]);
}

/* "out_kernel_stats.csv", "out_kernels_summary.csv", "results.stats.csv" */
static rocl_status write_file(files *f, const char *part, rocl_error *err)
{
    static const char *const forms[] = {[ROCL_STYLE_ROCPD] = "%s%s%s_%s_summary.csv",
                                        [ROCL_STYLE_ROCPROFV3] = "%s%s%s_%s_stats.csv",
                                        [ROCL_STYLE_ROCPROF] = "%s%s%s.%s.csv"};
    char path[4096];
    rocl_out **out = &f->outs[f->count];
    const char *dir = f->opt->directory ? f->opt->directory : "";
    int n = snprintf(path, sizeof path, forms[f->opt->style], dir, *dir ? "/" : "", f->opt->prefix,
                     part);
    if (f->text.failed)
        return rocl_fail_memory(err);
    if (n < 0 || (size_t)n >= sizeof path)
        return rocl_fail(err, ROCL_USAGE, "%s: the name of the output is too long", dir);
    rocl_status st = *dir ? rocl_make_dirs(dir, err) : ROCL_OK;
    if (st == ROCL_OK)
        st = rocl_out_open(out, path, err);
    f->count += st == ROCL_OK;
    f->bytes += f->text.len;
    return st ? st : rocl_out_write(*out, f->text.data, f->text.len, err);
}

static rocl_status write_domain(files *f, const rocl_table *t, const rocl_style_domain *d,
                                rocl_error *err)
{
    bool any = false;
    f->text.len = 0;
    put_header(f);
    for (size_t i = 0; i < t->row_count; i++) {
        rocl_style_row r = rocl_style_row_of(t, i);
        if (strcmp(r.domain, d->domain) != 0)
            continue;
        put_row(f, d, &r);
        any = true;
    }
    const char *part = f->opt->style == ROCL_STYLE_ROCPD       ? d->rocpd
                       : f->opt->style == ROCL_STYLE_ROCPROFV3 ? d->api
                                                               : d->v1;
    return any && part ? write_file(f, part, err) : ROCL_OK;
}

/* rocprof has no such file. */
static rocl_status write_domains(files *f, const rocl_table *t, rocl_error *err)
{
    f->text.len = 0;
    put_header(f);
    for (size_t i = 0; i < t->row_count; i++) {
        rocl_style_row r = rocl_style_row_of(t, i);
        rocl_style_domain named = {.api = "", .operation = ""};
        for (size_t k = 0; k < rocl_style_domain_count; k++)
            if (!strcmp(r.name, rocl_style_domains[k].domain) &&
                f->opt->style == ROCL_STYLE_ROCPROFV3) {
                r.name = rocl_style_domains[k].name;
                r.name_len = strlen(r.name);
            }
        put_row(f, &named, &r);
    }
    return t->row_count ? write_file(f, "domain", err) : ROCL_OK;
}

rocl_status rocl_write_style(const rocl_tables *t, const rocl_style_options *o,
                             rocl_files_report *report, rocl_error *err)
{
    files f = {.tables = t, .opt = o};
    const rocl_table *summary = rocl_style_table(t, "summary");
    const rocl_table *domains = rocl_style_table(t, "domains");
    rocl_status st = ROCL_OK;
    if (!summary || !domains)
        return rocl_fail(err, ROCL_USAGE, "a style is made of the reports domains and summary");
    for (size_t i = 0; i < rocl_style_domain_count && st == ROCL_OK; i++)
        st = write_domain(&f, summary, &rocl_style_domains[i], err);
    if (st == ROCL_OK && o->style != ROCL_STYLE_ROCPROF)
        st = write_domains(&f, domains, err);
    rocl_buf_free(&f.text);
    if (report)
        *report = (rocl_files_report){f.count, f.bytes};
    if (st == ROCL_OK)
        return rocl_out_commit_all(f.outs, f.count, err);
    for (size_t i = 0; i < f.count; i++)
        rocl_out_discard(f.outs[i]);
    return st;
}
