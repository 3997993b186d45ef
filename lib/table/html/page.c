/* The report as one HTML file: a tab for each report, its tables with their charts. */
#include "table/html/html.h"

#include <stdio.h>
#include <string.h>

void rocl_html_put_text(rocl_buf *b, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        switch (p[i]) {
        case '&':
            rocl_buf_str(b, "&amp;");
            break;
        case '<':
            rocl_buf_str(b, "&lt;");
            break;
        case '>':
            rocl_buf_str(b, "&gt;");
            break;
        case '"':
            rocl_buf_str(b, "&quot;");
            break;
        default:
            rocl_buf_byte(b, (uint8_t)p[i]);
        }
    }
}

static void put_string(rocl_buf *b, const char *s)
{
    rocl_html_put_text(b, s, strlen(s));
}

/* ---- tabs: tables that belong together ------------------------------------------------------- */

/* Tables whose key has the word in it go to the tab; the first word that fits counts. */
static const struct {
    const char *word, *tab, *title;
} families[] = {{"domain", "domain", "Domains"},
                {"summary", "summary", "Summary"},
                {"advice", "advice", "Advice"},
                {"kernel", "kernel", "Kernels"},
                {"copies", "copies", "Copies"},
                {"copy", "copies", "Copies"},
                {"overlap", "overlap", "Overlap"},
                {"communication", "overlap", "Overlap"},
                {"concurrency", "overlap", "Overlap"},
                {"gap", "gap", "Gaps"},
                {"memory", "memory", "Memory"},
                {"timeline", "timeline", "Timeline"},
                {"histogram", "histogram", "Histogram"},
                {"launch", "launch", "Launch"},
                {"marker", "marker", "Markers"},
                {"rank", "rank", "Ranks"},
                {"leak", "memory", "Memory"},
                {"scratch", "memory", "Memory"},
                {"counter", "counter", "Counters"},
                {"sample", "counter", "Counters"},
                {"stream", "stream", "Streams"},
                {"queue", "stream", "Streams"}};

static size_t family_index(const rocl_table *t)
{
    size_t i = 0;
    while (i < sizeof families / sizeof *families && !strstr(t->key, families[i].word))
        i++;
    return i;
}

static const char *family_of(const rocl_table *t)
{
    size_t i = family_index(t);
    return i < sizeof families / sizeof *families ? families[i].tab : t->key;
}

static const char *family_title(const rocl_table *t)
{
    size_t i = family_index(t);
    return i < sizeof families / sizeof *families ? families[i].title : t->title;
}

static bool begins_family(const rocl_tables *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(family_of(&all->tables[k]), family_of(&all->tables[i])))
            return false;
    return true;
}

static void put_tabs(rocl_table_writer *w)
{
    rocl_buf_str(&w->buf, "<div role=\"tablist\" aria-label=\"Reports\">");
    for (size_t i = 0; i < w->tables->count; i++) {
        const rocl_table *t = &w->tables->tables[i];
        if (!begins_family(w->tables, i))
            continue;
        rocl_buf_str(&w->buf, "<button role=\"tab\" id=\"tab-");
        put_string(&w->buf, family_of(t));
        rocl_buf_str(&w->buf, "\" aria-controls=\"panel-");
        put_string(&w->buf, family_of(t));
        rocl_buf_str(&w->buf, "\">");
        put_string(&w->buf, family_title(t));
        rocl_buf_str(&w->buf, "</button>");
    }
    rocl_buf_str(&w->buf, "</div>\n");
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void put_titles(rocl_buf *b, const rocl_table *t)
{
    rocl_buf_str(b, "<thead><tr>");
    for (size_t c = 0; c < t->column_count; c++) {
        bool text = !rocl_table_is_number(&t->columns[c]);
        rocl_buf_str(b, text ? "<th scope=\"col\" class=\"t\"" : "<th scope=\"col\"");
        rocl_buf_str(b, " aria-sort=\"none\"><button>");
        put_string(b, t->columns[c].title);
        rocl_buf_str(b, "</button></th>");
    }
    rocl_buf_str(b, "</tr></thead>\n<tbody>\n");
}

/* The value itself is in the cell as well, for sorting; an empty one sorts last. */
static void put_cell(rocl_buf *b, rocl_buf *scratch, const rocl_table *t, size_t row, size_t c)
{
    const rocl_datum *d = rocl_table_cell(t, row, c);
    bool text = !rocl_table_is_number(&t->columns[c]);
    scratch->len = 0;
    rocl_table_put_scaled(scratch, d, t->columns[c].unit);
    if (text) {
        rocl_buf_str(b, "<td class=\"t\" title=\"");
        rocl_html_put_text(b, (const char *)scratch->data, scratch->len);
        rocl_buf_str(b, "\">");
    } else {
        rocl_buf_str(b, "<td data-v=\"");
        if (rocl_table_has_value(d) && d->is != ROCL_DATUM_TEXT)
            rocl_table_put_raw(b, d);
        rocl_buf_str(b, "\">");
    }
    rocl_html_put_text(b, (const char *)scratch->data, scratch->len);
    rocl_buf_str(b, "</td>");
}

static bool put_rows(rocl_table_writer *w, const rocl_table *t)
{
    rocl_buf scratch = {0};
    bool more = true;
    for (size_t r = 0; r < t->row_count && more; r++) {
        rocl_buf_str(&w->buf, "<tr>");
        for (size_t c = 0; c < t->column_count; c++)
            put_cell(&w->buf, &scratch, t, r, c);
        rocl_buf_str(&w->buf, "</tr>\n");
        more = rocl_table_row_end(w);
    }
    rocl_buf_free_into(&scratch, &w->buf);
    return more;
}

static bool put_table(rocl_table_writer *w, const rocl_table *t)
{
    rocl_buf *b = &w->buf;
    rocl_buf_str(b, "<h2>");
    put_string(b, t->title);
    rocl_buf_str(b, "</h2>\n");
    if (t->note) {
        rocl_buf_str(b, "<p class=\"note\">");
        put_string(b, t->note);
        rocl_buf_str(b, "</p>\n");
    }
    if (!t->row_count) {
        rocl_buf_str(b, "<p class=\"note\">Nothing of the kind in this trace.</p>\n");
        return rocl_table_row_end(w);
    }
    rocl_html_put_chart(b, t);
    rocl_buf_str(b, "<div class=\"scroll\" tabindex=\"0\"><table id=\"");
    put_string(b, t->key);
    rocl_buf_str(b, "\"><caption hidden>");
    put_string(b, t->title);
    rocl_buf_str(b, "</caption>");
    put_titles(b, t);
    bool more = put_rows(w, t);
    rocl_buf_str(b, "</tbody></table></div>\n");
    return more;
}

static bool put_panel(rocl_table_writer *w, const char *family)
{
    bool more = true;
    rocl_buf_str(&w->buf, "<section role=\"tabpanel\" id=\"panel-");
    put_string(&w->buf, family);
    rocl_buf_str(&w->buf, "\" aria-labelledby=\"tab-");
    put_string(&w->buf, family);
    rocl_buf_str(&w->buf, "\">\n");
    for (size_t i = 0; i < w->tables->count && more; i++)
        if (!strcmp(family_of(&w->tables->tables[i]), family))
            more = put_table(w, &w->tables->tables[i]);
    rocl_buf_str(&w->buf, "</section>\n");
    return more;
}

void rocl_table_write_html(rocl_table_writer *w)
{
    rocl_buf *b = &w->buf;
    bool more = true;
    rocl_buf_str(b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<meta name=\"generator\" content=\"rocline " ROCLINE_VERSION "\">\n"
                    "<title>rocstats</title>\n<style>\n");
    rocl_buf_str(b, rocl_html_style);
    rocl_buf_str(b, "</style></head>\n<body><header><h1>Where the time went</h1>"
                    "<button id=\"theme\">Light / dark</button></header>\n");
    put_tabs(w);
    rocl_buf_str(b, "<main>\n");
    for (size_t i = 0; i < w->tables->count && more; i++)
        if (begins_family(w->tables, i))
            more = put_panel(w, family_of(&w->tables->tables[i]));
    rocl_buf_str(b, "</main>\n<script>\n");
    rocl_buf_str(b, rocl_html_script);
    rocl_buf_str(b, "</script></body></html>\n");
}
