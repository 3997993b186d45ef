/* The first tab: what was traced, how the GPUs spent the time, what stands out. Everything comes
 * from the tables of the page; sections without a table are left out. */
#include "table/html/html.h"

#include <string.h>

enum { MOST = 5 };

/* ---- what stands out ------------------------------------------------------------------------- */

/* What stands out, first: a finding names a report, which is a tab. */
static void put_findings(rocl_buf *b, const rocl_tables *all)
{
    static const struct { /* what else there is of a finding, in parentheses */
        const char *column, *before;
    } remarks[] = {{"level", ""},
                   {"gain_ns", "could gain "},
                   {"where", ""},
                   {"try", "try: "},
                   {"record", "record: "}};
    const rocl_table *t = rocl_tables_find(all, "findings");
    if (!t)
        return;
    rocl_html_put(b, "<h2>%s</h2>\n<p class=\"note\">%s</p>\n", t->title, t->note);
    rocl_buf_str(b, t->row_count ? "<ol class=\"findings\">" : "");
    for (size_t r = 0; r < t->row_count; r++) {
        rocl_buf_str(b, "<li><b>");
        rocl_html_put_cell(b, t, r, rocl_table_find_column(t, "finding"));
        rocl_buf_str(b, "</b>: ");
        rocl_html_put_cell(b, t, r, rocl_table_find_column(t, "evidence"));
        bool any = false;
        for (size_t k = 0; k < sizeof remarks / sizeof *remarks; k++) {
            const size_t column = rocl_table_find_column(t, remarks[k].column);
            if (column == t->column_count || !rocl_datum_has_value(rocl_table_cell(t, r, column)))
                continue;
            rocl_buf_str(b, any ? "; " : " <small>(");
            rocl_buf_str(b, remarks[k].before);
            rocl_html_put_cell(b, t, r, column);
            any = true;
        }
        rocl_buf_str(b, any ? ")</small>" : "");
        rocl_html_put(b, " <a href=\"#%s\">evidence</a></li>",
                      rocl_datum_str(rocl_table_find_cell(t, r, "report")));
    }
    rocl_buf_str(b, t->row_count ? "</ol>\n" : "");
}

void rocl_html_put_overview(rocl_table_writer *w)
{
    static const char *const headers[] = {"trace", "trace_a", "trace_b"};
    static const struct {
        const char *table, *title;
    } pictures[] = {{"overlap", "Where the time of each GPU went"},
                    {"timeline", "How busy each GPU was"},
                    {"kernels", "Kernels that take the most time"},
                    {"markers", "Markers that take the most time"},
                    {"compare_causes", "What the difference comes from"},
                    {"compare", "What changed the time of kernels"},
                    {"compare_runs", "From the runs of A to those of B"}};
    const rocl_tables *all = w->tables;
    const rocl_table *kernels = rocl_tables_find(all, "kernels");
    const rocl_table *markers = rocl_tables_find(all, "markers"); /* of a trace without kernels */
    const rocl_table *change = rocl_tables_find(all, "compare_change");
    const rocl_table *limits = rocl_tables_find(all, "compare_limits");
    rocl_buf *b = &w->buf;
    if (change && change->note)
        rocl_html_put(b, "<p><a href=\"#compare_causes\"><b>%s</b></a></p>\n", change->note);
    if (limits && limits->note)
        rocl_html_put(b, "<p><a href=\"#compare_limits\">Limits</a>: %s</p>\n", limits->note);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const rocl_table *t = rocl_tables_find(all, headers[i]);
        if (t) {
            /* "trace", or "trace_a" and "trace_b" of a comparison. */
            rocl_html_put(b, "<h2>%s</h2>\n<dl>", t->title);
            for (size_t c = 0; c < t->column_count && t->row_count; c++) {
                if (!rocl_datum_has_value(rocl_table_cell(t, 0, c)))
                    continue;
                rocl_html_put(b, "<dt>%s</dt><dd>", t->columns[c].title);
                rocl_html_put_cell(b, t, 0, c);
                rocl_buf_str(b, "</dd>");
            }
            rocl_buf_str(b, "</dl>\n");
        }
    }
    put_findings(b, all);
    const rocl_table *likeness = rocl_tables_find(all, "comparability");
    if (likeness && likeness->note)
        rocl_html_put(b, "<p><a href=\"#comparability\">Comparable</a>: %s</p>\n", likeness->note);
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        const rocl_table *t = rocl_tables_find(all, pictures[i].table);
        if (!t || !t->row_count || (t == markers && kernels && kernels->row_count))
            continue;
        const size_t before = b->len;
        rocl_html_put(b, "<h2><a href=\"#%s\">%s</a></h2>\n", t->key, pictures[i].title);
        const size_t titled = b->len;
        rocl_html_put_chart(b, t, MOST);
        if (b->len == titled) /* nothing took any time */
            b->len = before;
    }
    rocl_table_end_row(w);
}
