/* The report as one HTML file: a tab for each report, its tables with their charts. */
#include "table/html/html.h"

#include <string.h>

static const char overview[] = "overview";

/* ---- tabs: tables that belong together ------------------------------------------------------- */

static rocl_table_tab tab_of(const rocl_table *t)
{
    return t->tab ? *t->tab : (rocl_table_tab){t->key, t->title};
}

/* Is it the first table of a tab of which some table has rows, or, with `empty`, none has? What
 * heads the first page has no tab. */
static bool begins_tab(const rocl_tables *all, size_t i, bool empty)
{
    const char *id = tab_of(&all->tables[i]).id;
    bool rows = false;
    if (!strcmp(id, overview))
        return false;
    for (size_t k = 0; k < all->count; k++) {
        if (strcmp(tab_of(&all->tables[k]).id, id) != 0)
            continue;
        if (k < i)
            return false;
        rows |= all->tables[k].row_count > 0;
    }
    return rows != empty;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* A number is in the cell as it is as well, for sorting; an empty one sorts last. */
static void put_cell(rocl_table_writer *w, const rocl_table *t, size_t row, size_t c)
{
    const rocl_datum *d = rocl_table_cell(t, row, c);
    const rocl_table_column *column = &t->columns[c];
    rocl_buf *b = &w->buf, *text = &w->scratch;
    if (rocl_column_is_number(column) && d->type != ROCL_DATUM_TEXT) {
        rocl_buf_str(b, "<td data-v=\"");
        if (rocl_datum_has_value(d))
            rocl_datum_put_exact(b, d);
        if (column->unit == ROCL_UNIT_TIME && rocl_datum_has_value(d)) {
            rocl_buf_str(b, "\" title=\"");
            rocl_datum_put_exact(b, d);
            rocl_buf_str(b, " ns on the clock of the trace");
        }
        rocl_buf_str(b, "\">");
        rocl_cell_put_displayed(b, t, d, c); /* no character of it means anything to HTML */
        rocl_buf_str(b, "</td>");
        return;
    }
    text->len = 0;
    rocl_cell_put_displayed(text, t, d, c);
    const int n = (int)text->len;
    const char *p = (const char *)text->data;
    if (rocl_column_is_number(column))
        rocl_html_put(b, "<td data-v=\"\">%.*s</td>", n, p);
    else
        rocl_html_put(b, "<td class=\"%s\" title=\"%.*s\">%.*s</td>",
                      column->unit == ROCL_UNIT_SENTENCE ? "t s" : "t", n, p, n, p);
}

static void put_table(rocl_table_writer *w, const rocl_table *t)
{
    rocl_buf *b = &w->buf;
    rocl_html_put(b, "<h2>%s</h2>\n", t->title);
    if (t->note)
        rocl_html_put(b, "<p class=\"note\">%s</p>\n", t->note);
    if (!t->row_count) {
        rocl_buf_str(b, "<p class=\"note\">Nothing of the kind in this trace.</p>\n");
        return;
    }
    rocl_html_put_chart(b, t, SIZE_MAX);
    rocl_html_put(b,
                  "<div class=\"scroll\" tabindex=\"0\"><table id=\"%s\"><caption hidden>%s"
                  "</caption><thead><tr>",
                  t->key, t->title);
    for (size_t c = 0; c < t->column_count; c++) {
        rocl_buf_str(b, rocl_column_is_number(&t->columns[c]) ? "<th scope=\"col\""
                                                              : "<th scope=\"col\" class=\"t\"");
        rocl_html_put(b, " aria-sort=\"none\"><button>%s</button></th>", t->columns[c].title);
    }
    rocl_buf_str(b, "</tr></thead>\n<tbody>\n");
    for (size_t r = 0; r < t->row_count; r++) {
        rocl_buf_str(b, "<tr>");
        for (size_t c = 0; c < t->column_count; c++)
            put_cell(w, t, r, c);
        rocl_buf_str(b, "</tr>\n");
        rocl_table_end_row(w);
    }
    rocl_buf_str(b, "</tbody></table></div>\n");
}

/* ---- the page -------------------------------------------------------------------------------- */

static const char style_sheet[] =
#include "table/html/page.css.h"
    ;
static const char script[] =
#include "table/html/page.js.h"
    ;

static void put_tab_button(rocl_buf *b, const char *id, const char *title)
{
    rocl_html_put(b, "<button role=\"tab\" id=\"tab-%s\" aria-controls=\"panel-%s\">%s</button>",
                  id, id, title);
}

static void begin_panel(rocl_buf *b, const char *id)
{
    rocl_html_put(b, "<section role=\"tabpanel\" id=\"panel-%s\" aria-labelledby=\"tab-%s\">\n", id,
                  id);
}

/* The heading of the page. */
static const char *heading_of(const rocl_tables *all, const rocl_html_panel *panel)
{
    return panel && !all->count              ? panel->title
           : rocl_tables_are_comparison(all) ? "From A to B"
                                             : "Where the time went";
}

/* Puts the files first, since browsers show the begin of a title in tabs and bookmarks; then the
 * heading, or the title of the only report. Findings belong to other reports. */
static void put_title(rocl_buf *b, const rocl_tables *all, const rocl_html_panel *panel)
{
    const char *report = heading_of(all, panel), *before = "";
    size_t reports = panel || rocl_tables_are_comparison(all) ? 1 : 0;
    for (size_t i = 0; i < all->count; i++) {
        const rocl_table *t = &all->tables[i];
        if (t->header && t->row_count) {
            rocl_html_put(b, "%s", before);
            rocl_html_put_cell(b, t, 0, 0);
            before = " and ";
        }
        if (begins_tab(all, i, false) && strcmp(tab_of(t).id, "findings") != 0)
            report = reports++ ? heading_of(all, panel) : tab_of(t).title;
    }
    if (!*before && panel && panel->of)
        rocl_html_put(b, "%s", before = panel->of);
    rocl_html_put(b, "%s%s", *before ? ": " : "", report);
}

/* panel: may be NULL; without tables it is the whole page. */
static void write_page(rocl_table_writer *w, const rocl_html_panel *panel)
{
    const rocl_tables *all = w->tables;
    const bool alone = panel && !all->count;
    rocl_buf *b = &w->buf;
    rocl_buf_str(b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<meta name=\"generator\" content=\"rocline " ROCLINE_VERSION "\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'; script-src 'sha256-"
#include "table/html/page.js.sha256"
                    "'");
    if (panel)
        rocl_html_put(b, " 'sha256-%s'", panel->hash);
    rocl_buf_str(b, "\">\n<title>");
    put_title(b, all, panel);
    rocl_buf_str(b, "</title>\n<style>\n");
    rocl_buf_str(b, style_sheet);
    if (panel)
        rocl_buf_str(b, panel->style);
    rocl_html_put(b,
                  "</style></head>\n<body><header><h1>%s</h1><button id=\"theme\">Light / dark"
                  "</button></header>\n<nav%s><div role=\"tablist\" aria-label=\"Reports\">",
                  heading_of(all, panel), alone ? " hidden" : "");
    if (panel && (panel->front || alone))
        put_tab_button(b, panel->id, panel->title);
    if (!alone)
        put_tab_button(b, overview, "Overview");
    if (panel && !panel->front && !alone)
        put_tab_button(b, panel->id, panel->title);
    for (size_t i = 0; i < all->count; i++) {
        rocl_table_tab tab = tab_of(&all->tables[i]);
        if (begins_tab(all, i, false))
            put_tab_button(b, tab.id, tab.title);
    }
    rocl_buf_str(b, "</div></nav>\n<main>\n");
    if (!alone) {
        begin_panel(b, overview);
        rocl_html_put_overview(w);
        /* The reports that found nothing have no tabs. */
        const char *before = "<p class=\"note\">Nothing in this trace for: ";
        for (size_t i = 0; i < all->count; i++) {
            if (!begins_tab(all, i, true))
                continue;
            rocl_buf_str(b, before);
            rocl_html_put(b, "%s", tab_of(&all->tables[i]).title);
            before = ", ";
        }
        rocl_buf_str(b, *before == ',' ? "</p>\n" : "");
        rocl_buf_str(b, "</section>\n");
    }
    for (size_t i = 0; i < all->count; i++) {
        const char *tab = tab_of(&all->tables[i]).id;
        if (!begins_tab(all, i, false))
            continue;
        begin_panel(b, tab);
        for (size_t k = i; k < all->count; k++)
            if (!strcmp(tab_of(&all->tables[k]).id, tab))
                put_table(w, &all->tables[k]);
        rocl_buf_str(b, "</section>\n");
    }
    if (panel) {
        begin_panel(b, panel->id);
        rocl_table_flush(w);
        if (w->status == ROCL_OK)
            w->status = panel->put(panel->ctx, w->out, w->err);
        rocl_buf_str(b, "</section>\n");
    }
    rocl_buf_str(b, "</main>\n<script>");
    rocl_buf_str(b, script);
    rocl_buf_str(b, "</script>");
    if (panel) {
        rocl_buf_str(b, "\n<script>");
        rocl_buf_str(b, panel->script);
        rocl_buf_str(b, "</script>");
    }
    rocl_buf_str(b, "</body></html>\n");
}

void rocl_table_write_html(rocl_table_writer *w)
{
    write_page(w, NULL);
}

rocl_status rocl_html_write_page(const rocl_tables *t, const rocl_html_panel *panel, rocl_out *out,
                                 rocl_error *err)
{
    rocl_table_writer w = {.tables = t, .out = out, .err = err};
    write_page(&w, panel);
    rocl_table_flush(&w);
    rocl_buf_free(&w.buf);
    rocl_buf_free(&w.scratch);
    return w.status;
}
