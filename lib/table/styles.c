/* Summaries as AMD's profilers leave them, made of the tables "summary", "domains" and
 * "summary_groups": what `rocprofv3 -S` prints, and the files of `rocpd summary`, `rocprofv3
 * --stats` and `rocprof --stats`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"
#include "base/order.h"
#include "base/text.h"
#include "model/kinds.h"
#include "model/trace.h"
#include "table/format.h"

/* A domain that the profilers know: its names are in rocl_domain_infos. */
typedef struct domain {
    rocl_domain id;
    const char *operation; /* what rocprofv3 begins the names of its operations with, or "" */
    const char *v1;        /* rocprof: the end of a file's name; NULL: it has no file */
} domain;

/* In the order in which rocprofv3 reports them. */
static const domain domains[] = {
    {ROCL_DOMAIN_HSA, "", "hsa_stats"},
    {ROCL_DOMAIN_HIP, "", "hip_stats"},
    {ROCL_DOMAIN_KERNELS, "", "stats"},
    {ROCL_DOMAIN_MEMORY_COPIES, "", "copy_stats"},
    {ROCL_DOMAIN_MEMORY_ALLOCATIONS, "MEMORY_ALLOCATION_", NULL},
    {ROCL_DOMAIN_SCRATCH_MEMORY, "SCRATCH_MEMORY_", NULL},
    {ROCL_DOMAIN_MARKERS, "", NULL},
    {ROCL_DOMAIN_RCCL, "", NULL},
    {ROCL_DOMAIN_ROCDECODE, "", NULL},
    {ROCL_DOMAIN_ROCJPEG, "", NULL},
    {ROCL_DOMAIN_KFD, "", "kfd_stats"},
};

enum { DOMAINS = sizeof domains / sizeof *domains };

#define ALL_DOMAINS UINT32_MAX /* also those of no group */

/* NULL: the profilers do not know it. */
static const domain *find_domain(const char *key)
{
    for (size_t i = 0; i < DOMAINS; i++)
        if (!strcmp(rocl_domain_infos[domains[i].id].name, key))
            return &domains[i];
    return NULL;
}

static const char *profiler_name(const domain *d)
{
    return rocl_domain_infos[d->id].profiler;
}

/* A row of a summary. */
typedef struct summary_row {
    const char *domain;
    rocl_view name;
    int64_t calls, total, min, max;
    double average, percent, stddev; /* stddev: of one call 0 */
    bool single;                     /* one call: no deviation */
    bool range;                      /* min, max and stddev are known: no sum of other rows */
} summary_row;

static int64_t find_integer(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = rocl_table_find_cell(t, row, key);
    return d->type == ROCL_DATUM_INT ? d->i : (int64_t)rocl_datum_number(d);
}

static summary_row read_row(const rocl_table *t, size_t row)
{
    const rocl_datum *name = rocl_table_find_cell(t, row, "name");
    const rocl_datum *stddev = rocl_table_find_cell(t, row, "stddev_ns");
    return (summary_row){
        .domain = rocl_datum_str(rocl_table_find_cell(t, row, "domain")),
        .name = {rocl_datum_str(name), name->type == ROCL_DATUM_TEXT ? name->len : 0},
        .calls = find_integer(t, row, "calls"),
        .total = find_integer(t, row, "total_ns"),
        .min = find_integer(t, row, "min_ns"),
        .max = find_integer(t, row, "max_ns"),
        .average = rocl_datum_number(rocl_table_find_cell(t, row, "average_ns")),
        .percent = rocl_datum_number(rocl_table_find_cell(t, row, "percent")),
        .stddev = rocl_datum_number(stddev),
        .single = !rocl_datum_has_value(stddev),
        .range = rocl_datum_has_value(rocl_table_find_cell(t, row, "min_ns")),
    };
}

/* As rocprofv3 has it: MEMORY_ALLOCATION_FREE. */
static void put_rocprofv3_name(rocl_buf *b, const domain *d, const summary_row *r)
{
    if (!rocl_view_begins(r->name, d->operation))
        rocl_buf_str(b, d->operation);
    rocl_buf_put(b, r->name.p, r->name.n);
}

/* ---- rocprofv3 -S: a block for each domain, for each group of domains, and for all ----------- */

enum { NAME_MIN = 40, DOMAIN_MIN = 12, COLUMNS = 9 };

typedef struct line {
    summary_row row;
    const domain *domain;
    uint32_t bit; /* of the domain in a set */
    size_t index; /* in the report */
} line;

static const struct {
    const char *name;
    double ns;
} summary_units[] = {[ROCL_SUMMARY_NSEC] = {"nsec", 1},
                     [ROCL_SUMMARY_USEC] = {"usec", 1e3},
                     [ROCL_SUMMARY_MSEC] = {"msec", 1e6},
                     [ROCL_SUMMARY_SEC] = {"sec", 1e9}};

static void put_head(rocl_table_writer *w, uint32_t set, size_t name_width, size_t domain_width)
{
    static const char *const titles[COLUMNS] = {"NAME",       "DOMAIN",    "CALLS",
                                                "DURATION (", "AVERAGE (", "PERCENT (INC)",
                                                "MIN (",      "MAX (",     "STDDEV"};
    rocl_buf *b = &w->buf;
    const size_t widths[COLUMNS] = {name_width + 2, domain_width + 2, 17, 17, 17, 15, 17, 17, 17};
    rocl_buf_str(b, "\n");
    rocl_buf_fill(b, ' ', w->summary.indent);
    rocl_buf_str(b, "ROCPROFV3 ");
    const char *before = "";
    for (size_t i = 0; i < DOMAINS && set != ALL_DOMAINS; i++) {
        if (!(set >> i & 1))
            continue;
        rocl_buf_str(b, before);
        rocl_buf_str(b, profiler_name(&domains[i]));
        before = " + ";
    }
    rocl_buf_str(b, set == ALL_DOMAINS ? "SUMMARY:\n\n" : " SUMMARY:\n\n");
    rocl_buf_fill(b, ' ', w->summary.indent);
    rocl_buf_byte(b, '|');
    for (int i = 0; i < COLUMNS; i++) {
        char title[32];
        const bool time = titles[i][strlen(titles[i]) - 1] == '(';
        snprintf(title, sizeof title, "%s%s%s", titles[i],
                 time ? summary_units[w->summary.unit].name : "", time ? ")" : "");
        size_t n = strlen(title), blanks = widths[i] - n;
        rocl_buf_fill(b, ' ', blanks / 2);
        rocl_buf_str(b, title);
        rocl_buf_fill(b, ' ', blanks - blanks / 2);
        rocl_buf_byte(b, '|');
    }
    rocl_buf_byte(b, '\n');
    rocl_buf_fill(b, ' ', w->summary.indent);
    rocl_buf_byte(b, '|');
    for (int i = 0; i < COLUMNS; i++) {
        rocl_buf_fill(b, '-', widths[i]);
        rocl_buf_byte(b, '|');
    }
    rocl_buf_byte(b, '\n');
}

static size_t measure_name(rocl_table_writer *w, const line *l)
{
    w->scratch.len = 0;
    put_rocprofv3_name(&w->scratch, l->domain, &l->row);
    return rocl_text_width(w->scratch.data, w->scratch.len);
}

/* Whole nanoseconds, or the shortest text in another unit; right-aligned in 15 columns. */
static void put_summary_time(rocl_buf *b, int64_t ns, rocl_summary_unit unit)
{
    char text[ROCL_NUM_MAX];
    char *end = unit == ROCL_SUMMARY_NSEC
                    ? rocl_put_i64(text, ns)
                    : rocl_put_double(text, (double)ns / summary_units[unit].ns);
    const size_t n = (size_t)(end - text);
    rocl_buf_byte(b, ' ');
    rocl_buf_fill(b, ' ', n < 15 ? 15 - n : 0);
    rocl_buf_put(b, text, n);
    rocl_buf_str(b, " |");
}

/* The lines whose domain is in the set; nothing if there are none. */
static void put_block(rocl_table_writer *w, const line *lines, size_t n, uint32_t set)
{
    rocl_buf *b = &w->buf;
    size_t name_width = NAME_MIN, domain_width = DOMAIN_MIN;
    double total = 0;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (!(lines[i].bit & set))
            continue;
        size_t name = measure_name(w, &lines[i]), n_domain = strlen(profiler_name(lines[i].domain));
        name_width = name > name_width ? name : name_width;
        domain_width = n_domain > domain_width ? n_domain : domain_width;
        total += (double)lines[i].row.total;
        any = true;
    }
    if (!any)
        return;
    put_head(w, set, name_width, domain_width);
    const double unit = summary_units[w->summary.unit].ns;
    for (size_t i = 0; i < n; i++) {
        const summary_row *r = &lines[i].row;
        if (!(lines[i].bit & set))
            continue;
        size_t name = measure_name(w, &lines[i]);
        rocl_buf_fill(b, ' ', w->summary.indent);
        rocl_buf_str(b, "| ");
        rocl_buf_put(b, w->scratch.data, w->scratch.len);
        rocl_buf_fill(b, ' ', name_width - name);
        rocl_buf_printf(b, " | %-*s | %15lld |", (int)domain_width, profiler_name(lines[i].domain),
                        (long long)r->calls);
        put_summary_time(b, r->total, w->summary.unit);
        rocl_buf_printf(b, " %15.3e | %13.6f |", r->average / unit,
                        total > 0 ? 100 * (double)r->total / total : 0);
        if (r->range) {
            put_summary_time(b, r->min, w->summary.unit);
            put_summary_time(b, r->max, w->summary.unit);
            rocl_buf_printf(b, " %15.3e |\n", r->stddev / unit);
        } else {
            rocl_buf_printf(b, " %15s | %15s | %15s |\n", "", "", "");
        }
        rocl_table_end_row(w);
    }
    rocl_buf_byte(b, '\n');
}

/* The longest first; of equals the order of the report. */
static int compare_by_total(const void *a, const void *b)
{
    const line *x = a, *y = b;
    const int c = rocl_number_order(y->row.total, x->row.total);
    return c ? c : rocl_number_order((int64_t)x->index, (int64_t)y->index);
}

void rocl_table_write_console(rocl_table_writer *w)
{
    const rocl_table *t = rocl_tables_find(w->tables, "summary");
    const rocl_table *groups = rocl_tables_find(w->tables, "summary_groups");
    line *lines = t ? calloc(t->row_count + 1, sizeof *lines) : NULL;
    size_t n = 0;
    const rocl_summary_options *o = &w->summary;
    const bool all = !(o->domains || o->groups || o->whole);
    if (!lines) {
        w->status = t ? rocl_fail_memory(w->err)
                      : rocl_fail(w->err, ROCL_USAGE, "this format is only for the report summary");
        return;
    }
    for (size_t i = 0; i < t->row_count; i++) {
        lines[n] = (line){.row = read_row(t, i), .index = i};
        lines[n].domain = find_domain(lines[n].row.domain);
        if (lines[n].domain) {
            lines[n].bit = 1u << (lines[n].domain - domains);
            n++;
        }
    }
    for (size_t i = 0; (all || o->domains) && i < DOMAINS; i++)
        put_block(w, lines, n, 1u << i);
    qsort(lines, n, sizeof *lines, compare_by_total);
    /* Rows of the same group follow each other. */
    for (size_t row = 0; (all || o->groups) && groups && row < groups->row_count;) {
        const size_t first = row;
        uint32_t set = 0;
        for (; row < groups->row_count && rocl_cell_is_same(groups, first, row, 0); row++) {
            const domain *d =
                find_domain(rocl_datum_str(rocl_table_find_cell(groups, row, "domain")));
            set |= d ? 1u << (d - domains) : 0;
        }
        put_block(w, lines, n, set);
    }
    if (all || o->whole)
        put_block(w, lines, n, ALL_DOMAINS);
    free(lines);
}

/* ---- files: values --------------------------------------------------------------------------- */

/* Names come first: every number has a comma before it. */
static void put_integer(rocl_buf *b, int64_t v)
{
    rocl_buf_byte(b, ',');
    rocl_buf_i64(b, v);
}

static void put_python_float(rocl_buf *b, double v)
{
    rocl_buf_byte(b, ',');
    rocl_repr_put(b, v);
}

/* %.Nf or %.Ne, whatever the locale has for a point. */
static void put_printed(rocl_buf *b, const char *format, int decimals, double v)
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

/* rocpd: as Python prints them; one value has no deviation. rocprofv3: shares from 1 % on have two
 * decimals, smaller ones four, tiny ones an exponent. rocprof: averages are whole numbers, and
 * there is no more. */
static void put_values(rocl_buf *b, rocl_stats_style s, const summary_row *r)
{
    const bool v3 = s == ROCL_STYLE_ROCPROFV3;
    put_integer(b, r->calls);
    put_integer(b, r->total);
    if (s == ROCL_STYLE_ROCPROF)
        put_integer(b, r->calls ? r->total / r->calls : 0);
    else if (v3)
        put_printed(b, "%.*f", 6, r->average);
    else
        put_python_float(b, r->average);
    if (!v3)
        put_python_float(b, r->percent);
    else if (r->percent >= 0.01)
        put_printed(b, "%.*f", r->percent >= 1 ? 2 : 4, r->percent);
    else
        put_printed(b, "%.*e", 3, r->percent);
    if (s == ROCL_STYLE_ROCPROF)
        return;
    if (!r->range) {
        rocl_buf_str(b, ",,,");
        return;
    }
    put_integer(b, r->min);
    put_integer(b, r->max);
    if (v3)
        put_printed(b, r->stddev > 0 ? "%.*f" : "%.*e", r->stddev > 0 ? 6 : 8, r->stddev);
    else if (r->single)
        rocl_buf_byte(b, ',');
    else
        put_python_float(b, r->stddev);
}

/* ---- files: names ---------------------------------------------------------------------------- */

/* rocpd has ALLOC and FREE for what rocprofv3 calls MEMORY_ALLOCATION_ALLOCATE and ..._FREE. */
static void put_rocpd_name(rocl_buf *b, const domain *d, const summary_row *r)
{
    size_t n = strlen(d->operation);
    bool operation = n && r->name.n > n && rocl_view_begins(r->name, d->operation);
    const rocl_view name = {r->name.p + (operation ? n : 0), r->name.n - (operation ? n : 0)};
    rocl_buf_put(b, name.p, operation && rocl_view_is(name, "ALLOCATE") ? 5 : name.n);
}

/* MEMORY_COPY_HOST_TO_DEVICE is CopyHostToDevice. */
static void put_rocprof_name(rocl_buf *b, const domain *d, const summary_row *r)
{
    static const char copy[] = "MEMORY_COPY_";
    if (d->id != ROCL_DOMAIN_MEMORY_COPIES) {
        put_rocpd_name(b, d, r);
        return;
    }
    if (!rocl_view_begins(r->name, copy)) {
        rocl_buf_put(b, r->name.p, r->name.n);
        return;
    }
    rocl_buf_str(b, "Copy");
    bool first = true;
    for (size_t i = sizeof copy - 1; i < r->name.n; i++) {
        char c = r->name.p[i];
        if (c != '_')
            rocl_buf_byte(b, (uint8_t)(first || c < 'A' || c > 'Z' ? c : c + ('a' - 'A')));
        first = c == '_';
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static const struct {
    const char *path;   /* folder, "/" and what the caller gives, then the word for the domain */
    const char *prefix; /* where the caller gives none */
    const char *header;
    void (*put_name)(rocl_buf *, const domain *, const summary_row *);
    bool quotes_names; /* also where CSV needs no quotes */
    bool file_of_domains;
} styles[] = {
    [ROCL_STYLE_ROCPD] = {"%s%s%s_%s_summary.csv", "out", /* out_kernels_summary.csv */
                          "Name,Calls,DURATION (nsec),AVERAGE (nsec),PERCENT (INC),MIN (nsec),"
                          "MAX (nsec),STD_DEV\n",
                          put_rocpd_name, .file_of_domains = true},
    [ROCL_STYLE_ROCPROFV3] = {"%s%s%s_%s_stats.csv", "out", /* out_kernel_stats.csv */
                              "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\","
                              "\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n",
                              put_rocprofv3_name, .quotes_names = true, .file_of_domains = true},
    [ROCL_STYLE_ROCPROF] = {"%s%s%s.%s.csv", "results", /* results.stats.csv */
                            "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\","
                            "\"Percentage\"\n",
                            put_rocprof_name, .quotes_names = true},
};

/* Names of kernels, in order. */
typedef struct name_list {
    const char **names;
    size_t count, cap;
} name_list;

typedef struct files {
    const rocl_style_options *opt;
    name_list kernels[2];        /* known by their descriptors, and by their functions */
    rocl_buf text;               /* of the file that is being made */
    rocl_out *outs[DOMAINS + 1]; /* complete, without their names yet */
    size_t count;
    uint64_t bytes;
} files;

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has_name(const name_list *l, const char *name)
{
    return l->count && bsearch(&name, l->names, l->count, sizeof name, compare_names);
}

static rocl_status list_kernels(files *f, rocl_error *err)
{
    const rocl_trace *t = f->opt->trace;
    for (size_t i = 0; t && i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->kernel_count; k++) {
            const rocl_kernel *kernel = &c->kernels[k];
            name_list *to = &f->kernels[kernel->is_function];
            if (!ROCL_GROW(to->names, to->cap, to->count + 1))
                return rocl_fail_memory(err);
            to->names[to->count++] = rocl_str(t, kernel->shown);
        }
    }
    for (name_list *l = f->kernels; l < f->kernels + 2; l++)
        if (l->count)
            qsort(l->names, l->count, sizeof *l->names, compare_names);
    return ROCL_OK;
}

static void put_row(files *f, const domain *d, const summary_row *r)
{
    rocl_buf raw = {0}, name = {0};
    const rocl_stats_style s = f->opt->style;
    const bool kernel = d->id == ROCL_DOMAIN_KERNELS;
    styles[s].put_name(&raw, d, r);
    rocl_buf_byte(&raw, '\0');
    raw.len -= !raw.failed;
    const bool described = s == ROCL_STYLE_ROCPROF && kernel && raw.len &&
                           (!has_name(&f->kernels[true], (const char *)raw.data) ||
                            has_name(&f->kernels[false], (const char *)raw.data));
    /* rocprof demangles the name of the descriptor: foo.kd, but void foo<int>(int) [clone .kd]. */
    if (described && f->opt->descriptors)
        rocl_buf_str(&raw, memchr(raw.data, '(', raw.len) ? " [clone .kd]" : ".kd");
    rocl_utf8_put(&name, (const char *)raw.data, raw.len);
    /* Its database had names of descriptors in quotes, others were not put into any before 5.2. */
    const bool bare = s == ROCL_STYLE_ROCPROF && f->opt->bare_names && !described;
    bool quotes = !bare && styles[s].quotes_names;
    quotes |= name.len && rocl_is_guarded_formula((const char *)name.data, name.len);
    for (size_t i = 0; i < name.len && !quotes && !bare; i++)
        quotes = memchr("\",\r\n", name.data[i], 4) != NULL;
    if (quotes)
        rocl_csv_put_quoted(&f->text, name.len ? (const char *)name.data : "", name.len);
    else
        rocl_buf_put(&f->text, name.data, name.len);
    put_values(&f->text, s, r);
    rocl_buf_byte(&f->text, '\n');
    rocl_buf_free_into(&raw, &f->text);
    rocl_buf_free_into(&name, &f->text);
}

static rocl_status write_file(files *f, const char *of, rocl_error *err)
{
    char path[4096];
    const char *dir = f->opt->directory ? f->opt->directory : "";
    const char *prefix = f->opt->prefix ? f->opt->prefix : styles[f->opt->style].prefix;
    int n =
        snprintf(path, sizeof path, styles[f->opt->style].path, dir, *dir ? "/" : "", prefix, of);
    if (f->text.failed)
        return rocl_fail_memory(err);
    if (n < 0 || (size_t)n >= sizeof path)
        return rocl_fail(err, ROCL_USAGE, "%s: the name of the output is too long", dir);
    rocl_status st = *dir ? rocl_make_dirs(dir, err) : ROCL_OK;
    if (st == ROCL_OK)
        st = rocl_out_open(&f->outs[f->count], path, err);
    if (st != ROCL_OK)
        return st;
    f->bytes += f->text.len;
    return rocl_out_write(f->outs[f->count++], f->text.data, f->text.len, err);
}

rocl_status rocl_write_style(const rocl_tables *t, const rocl_style_options *o,
                             rocl_written *report, rocl_error *err)
{
    files f = {.opt = o};
    const rocl_table *summary = rocl_tables_find(t, "summary");
    const rocl_table *of_domains = rocl_tables_find(t, "domains");
    rocl_status st = ROCL_OK;
    if (!summary || !of_domains)
        return rocl_fail(err, ROCL_USAGE, "a style is made of the reports domains and summary");
    st = list_kernels(&f, err);
    for (size_t i = 0; i < DOMAINS && st == ROCL_OK; i++) {
        /* The rows of a domain; nothing if there are none. */
        const domain *d = &domains[i];
        const rocl_domain_info *info = &rocl_domain_infos[d->id];
        const char *name = o->style == ROCL_STYLE_ROCPD       ? info->word
                           : o->style == ROCL_STYLE_ROCPROFV3 ? info->file
                                                              : d->v1;
        bool any = false;
        f.text.len = 0;
        rocl_buf_str(&f.text, styles[o->style].header);
        for (size_t k = 0; k < summary->row_count && name; k++) {
            summary_row r = read_row(summary, k);
            if (!strcmp(r.domain, info->name)) {
                put_row(&f, d, &r);
                any = true;
            }
        }
        st = any ? write_file(&f, name, err) : ROCL_OK;
    }
    if (st == ROCL_OK && styles[o->style].file_of_domains) {
        /* A row for each domain. */
        static const domain none = {.id = ROCL_DOMAIN_OTHER, .operation = ""};
        f.text.len = 0;
        rocl_buf_str(&f.text, styles[o->style].header);
        double all = 0; /* as these tools have it: of hosts and GPUs together */
        for (size_t i = 0; i < of_domains->row_count; i++)
            all += (double)read_row(of_domains, i).total;
        for (size_t i = 0; i < of_domains->row_count; i++) {
            summary_row r = read_row(of_domains, i);
            r.percent = all > 0 ? 100.0 * (double)r.total / all : 0;
            const domain *d = o->style == ROCL_STYLE_ROCPROFV3 ? find_domain(r.name.p) : NULL;
            if (d) {
                r.name = (rocl_view){profiler_name(d), strlen(profiler_name(d))};
            }
            put_row(&f, &none, &r);
        }
        st = of_domains->row_count ? write_file(&f, "domain", err) : ROCL_OK;
    }
    rocl_buf_free(&f.text);
    free(f.kernels[false].names);
    free(f.kernels[true].names);
    if (report)
        *report = (rocl_written){.files = f.count, .bytes = f.bytes};
    if (st == ROCL_OK)
        return rocl_out_commit_all(f.outs, f.count, err);
    for (size_t i = 0; i < f.count; i++)
        rocl_out_discard(f.outs[i]);
    return st;
}
