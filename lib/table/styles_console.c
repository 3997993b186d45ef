/* The tables that `rocprofv3 -S` prints: one for each domain, then all in one. */
#include "table/styles.h"

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

static size_t name_width(rocl_buf *b, const line *l)
{
    rocl_buf name = {0};
    rocl_style_put_name(&name, l->domain, &l->row);
    size_t n = rocl_table_text_width(name.data, name.len);
    rocl_buf_free_into(&name, b);
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
    size_t width = name_width(b, l);
    put_repeated(b, ' ', w->name > width ? w->name - width : 0);
    rocl_buf_str(b, " | ");
    rocl_buf_str(b, l->domain->name);
    put_repeated(b, ' ', w->domain - strlen(l->domain->name));
    snprintf(text, sizeof text, " | %15lld | %15lld | %15.3e | %13.6f |", (long long)r->calls,
             (long long)r->total, r->average, percent);
    rocl_buf_str(b, text);
    if (r->range)
        snprintf(text, sizeof text, " %15lld | %15lld | %15.3e |\n", (long long)r->min,
                 (long long)r->max, r->stddev);
    else
        snprintf(text, sizeof text, " %15s | %15s | %15s |\n", "", "", "");
    rocl_buf_str(b, text);
}

static void measure(rocl_buf *b, widths *w, const line *l)
{
    size_t name = name_width(b, l), domain = strlen(l->domain->name);
    w->name = name > w->name ? name : w->name;
    w->domain = domain > w->domain ? domain : w->domain;
}

/* A domain as a set. */
static uint32_t bit_of(const rocl_style_domain *d)
{
    return 1u << (d - rocl_style_domains);
}

static bool put_block(rocl_table_writer *out, const line *lines, size_t n, uint32_t domains,
                      const char *title)
{
    widths w = {NAME_MIN, DOMAIN_MIN};
    double total = 0;
    bool any = false, more = true;
    for (size_t i = 0; i < n; i++) {
        if (!(bit_of(lines[i].domain) & domains))
            continue;
        measure(&out->buf, &w, &lines[i]);
        total += (double)lines[i].row.total;
        any = true;
    }
    if (any)
        put_head(&out->buf, title, &w);
    for (size_t i = 0; i < n && any && more; i++) {
        if (!(bit_of(lines[i].domain) & domains))
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

/* The domains of a group of the table from `row` on; *row becomes that of the next. */
static uint32_t next_group(const rocl_table *t, size_t *row)
{
    const rocl_datum *group = rocl_table_cell(t, *row, 0);
    uint32_t domains = 0;
    for (; *row < t->row_count; (*row)++) {
        const rocl_datum *g = rocl_table_cell(t, *row, 0);
        if (g->len != group->len || memcmp(g->text, group->text, g->len) != 0)
            break;
        const rocl_style_domain *d = domain_of(rocl_style_row_of(t, *row).domain);
        domains |= d ? bit_of(d) : 0;
    }
    return domains;
}

/* "HIP_API + MEMORY_COPY" */
static bool put_group(rocl_table_writer *w, const line *lines, size_t n, uint32_t domains)
{
    rocl_buf title = {0};
    for (size_t i = 0; i < rocl_style_domain_count; i++)
        if (domains >> i & 1) {
            rocl_buf_str(&title, title.len ? " + " : "");
            rocl_buf_str(&title, rocl_style_domains[i].name);
        }
    rocl_buf_byte(&title, 0);
    bool more = !title.failed && put_block(w, lines, n, domains, (const char *)title.data);
    rocl_buf_free_into(&title, &w->buf);
    return more;
}

/* Lines are in order of the report. */
static void put_blocks(rocl_table_writer *w, line *lines, size_t n)
{
    const rocl_table *groups = rocl_style_table(w->tables, "summary_groups");
    bool more = true;
    for (size_t i = 0; more && i < rocl_style_domain_count; i++)
        more = put_block(w, lines, n, 1u << i, rocl_style_domains[i].name);
    qsort(lines, n, sizeof *lines, by_total);
    for (size_t row = 0; more && groups && row < groups->row_count;)
        more = put_group(w, lines, n, next_group(groups, &row));
    if (more && n)
        put_block(w, lines, n, UINT32_MAX, "");
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
    if (lines)
        put_blocks(w, lines, n);
    free(lines);
}
