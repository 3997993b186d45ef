/* The tables that `rocprofv3 -S` prints: one for each domain, then all in one. */
#include "sink/styles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MIN = 40, DOMAIN_MIN = 12, COLUMNS = 9 };

typedef struct line {
    rocl_style_row row;
    const rocl_style_domain *domain;
    size_t place; /* in the report */
} line;

typedef struct widths {
    size_t name, domain;
} widths;

static size_t name_width(const line *l)
{
    rocl_buf name = {0};
    rocl_style_put_name(&name, l->domain, &l->row);
    size_t n = rocl_table_text_width(name.data, name.len);
    rocl_buf_free(&name);
    return n;
}

static void put_repeated(rocl_buf *b, char c, size_t n)
{
    for (; n; n--)
        rocl_buf_byte(b, (uint8_t)c);
}

static void put_centred(rocl_buf *b, const char *text, size_t width)
{
    size_t n = strlen(text), before = width > n ? (width - n) / 2 : 0;
    put_repeated(b, ' ', before);
    rocl_buf_str(b, text);
    put_repeated(b, ' ', width > n + before ? width - n - before : 0);
    rocl_buf_byte(b, '|');
}

static void put_head(rocl_buf *b, const char *title, const widths *w)
{
    static const char *const titles[COLUMNS] = {
        "NAME",          "DOMAIN",     "CALLS",      "DURATION (nsec)", "AVERAGE (nsec)",
        "PERCENT (INC)", "MIN (nsec)", "MAX (nsec)", "STDDEV"};
    const size_t width[COLUMNS] = {w->name + 2, w->domain + 2, 17, 17, 17, 15, 17, 17, 17};
    rocl_buf_str(b, "\nROCPROFV3 ");
    rocl_buf_str(b, title);
    rocl_buf_str(b, *title ? " SUMMARY:\n\n|" : "SUMMARY:\n\n|");
    for (int i = 0; i < COLUMNS; i++)
        put_centred(b, titles[i], width[i]);
    rocl_buf_str(b, "\n|");
    for (int i = 0; i < COLUMNS; i++) {
        put_repeated(b, '-', width[i]);
        rocl_buf_byte(b, '|');
    }
    rocl_buf_byte(b, '\n');
}

static void put_line(rocl_buf *b, const line *l, const widths *w, double percent)
{
    char text[256];
    const rocl_style_row *r = &l->row;
    rocl_buf_str(b, "| ");
    rocl_style_put_name(b, l->domain, r);
    put_repeated(b, ' ', w->name - name_width(l));
    rocl_buf_str(b, " | ");
    rocl_buf_str(b, l->domain->name);
    put_repeated(b, ' ', w->domain - strlen(l->domain->name));
    snprintf(text, sizeof text,
             " | %15lld | %15lld | %15.3e | %13.6f | %15lld | %15lld | %15.3e |\n",
             (long long)r->calls, (long long)r->total, r->average, percent, (long long)r->min,
             (long long)r->max, r->stddev);
    rocl_buf_str(b, text);
}

static void measure(widths *w, const line *l)
{
    size_t name = name_width(l), domain = strlen(l->domain->name);
    w->name = name > w->name ? name : w->name;
    w->domain = domain > w->domain ? domain : w->domain;
}

static bool put_block(rocl_table_writer *out, const line *lines, size_t n,
                      const rocl_style_domain *only)
{
    widths w = {NAME_MIN, DOMAIN_MIN};
    double total = 0;
    bool any = false, more = true;
    for (size_t i = 0; i < n; i++) {
        if (only && lines[i].domain != only)
            continue;
        measure(&w, &lines[i]);
        total += (double)lines[i].row.total;
        any = true;
    }
    if (any)
        put_head(&out->buf, only ? only->name : "", &w);
    for (size_t i = 0; i < n && any && more; i++) {
        if (only && lines[i].domain != only)
            continue;
        put_line(&out->buf, &lines[i], &w,
                 total > 0 ? 100 * (double)lines[i].row.total / total : 0);
        more = rocl_table_row_end(out);
    }
    if (any)
        rocl_buf_byte(&out->buf, '\n');
    return more;
}

static const rocl_style_domain *domain_of(const char *name)
{
    for (size_t i = 0; i < rocl_style_domain_count; i++)
        if (!strcmp(rocl_style_domains[i].domain, name))
            return &rocl_style_domains[i];
    return NULL;
}

/* The longest first; of equals the order of the report. */
static int by_total(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (x->row.total != y->row.total)
        return x->row.total < y->row.total ? 1 : -1;
    return x->place < y->place ? -1 : x->place > y->place;
}

void rocl_table_write_console(rocl_table_writer *w)
{
    const rocl_table *t = rocl_style_table(w->tables, "summary");
    line *lines = t ? calloc(t->row_count + 1, sizeof *lines) : NULL;
    size_t n = 0;
    if (!t)
        w->status = rocl_fail(w->err, ROCL_USAGE, "this format is of the report summary");
    else if (!lines)
        w->status = rocl_fail_memory(w->err);
    for (size_t i = 0; lines && i < t->row_count; i++) {
        lines[n].row = rocl_style_row_of(t, i);
        lines[n].place = i;
        lines[n].domain = domain_of(lines[n].row.domain);
        n += lines[n].domain != NULL;
    }
    bool more = lines;
    for (size_t i = 0; more && i < rocl_style_domain_count; i++)
        more = put_block(w, lines, n, &rocl_style_domains[i]);
    if (more && n) {
        qsort(lines, n, sizeof *lines, by_total);
        put_block(w, lines, n, NULL);
    }
    free(lines);
}
