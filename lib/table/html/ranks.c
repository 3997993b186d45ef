/* Heat maps of ranks: a line for each name or rank, a cell for each rank, step or slice of time. */
#include "table/html/html.h"

#include <math.h>
#include <stdio.h>

/* A line for each name, with a cell for each rank, from cold (half of the mean of the ranks, or
 * less) to warm (1.5 times, or more). Rows of a name follow each other. */
void rocl_html_put_rank_times(rocl_buf *b, const rocl_table *t)
{
    static const rocl_legend legend[] = {{"c0", "less than the mean of the ranks that have it"},
                                         {"c1", "more; full colour from 1.5 times"}};
    const size_t name = rocl_table_find_column(t, "name");
    const size_t relative = rocl_table_find_column(t, "relative");
    const size_t place = rocl_table_find_column(t, "place");
    const size_t total = rocl_table_find_column(t, "total_ns");
    size_t rows[FIGURE_MOST_ROWS], count = 0, most = 0, longest = 0;
    rocl_figure f;
    for (size_t i = 0, n = 0; i < t->row_count; i++) {
        const bool first = !i || !rocl_cell_is_same(t, i, i - 1, name);
        if (first && count == FIGURE_MOST_ROWS)
            break;
        if (first)
            rows[count++] = i;
        n = first ? 1 : n + 1;
        if (n > most) {
            most = n;
            longest = rows[count - 1];
        }
    }
    if (most < 2 || !rocl_figure_open(&f, b, count, FIGURE_BAR + 4, NULL))
        return;
    for (size_t r = 0; r < count; r++) {
        rocl_datum_put_displayed(&f.full[r], rocl_table_cell(t, rows[r], 0), ROCL_UNIT_TEXT);
        rocl_buf_str(&f.full[r], " · ");
        rocl_datum_put_displayed(&f.full[r], rocl_table_cell(t, rows[r], name), ROCL_UNIT_TEXT);
    }
    if (!rocl_figure_begin(&f, t->title))
        return;
    rocl_figure_put_legend(&f, legend, 2);
    const double width = (double)FIGURE_WIDTH / (double)most;
    for (size_t r = 0; r < count; r++) {
        rocl_figure_begin_row(&f);
        for (size_t i = rows[r]; i < t->row_count && rocl_cell_is_same(t, i, rows[r], name); i++) {
            if (!rocl_datum_has_value(rocl_table_cell(t, i, relative)))
                continue;
            const double v = rocl_cell_length(t, i, relative), off = fmin(fabs(v - 1) * 2, 1);
            rocl_html_put(b,
                          "<rect class=\"%s\" fill-opacity=\"%.2f\" x=\"%.1f\" y=\"1\" "
                          "width=\"%.1f\" height=\"%d\"><title>",
                          v < 1 ? "c0" : "c1", 0.06 + 0.94 * off, width * (double)(i - rows[r]),
                          fmax(width - 2, 0.5), FIGURE_BAR + 2);
            rocl_html_put_cell(b, t, i, place);
            rocl_buf_str(b, ": ");
            rocl_html_put_cell(b, t, i, total);
            rocl_html_put(b, ", %.3f of the mean</title></rect>", v);
        }
        rocl_figure_end_plot(&f);
        rocl_figure_end_row(&f);
    }
    /* Ranks below their columns, as many as there is room for. */
    const size_t step = (most + 7) / 8;
    rocl_buf_str(b, "<div class=\"l\"></div><div class=\"a\">");
    for (size_t i = 0; i < most; i += step) {
        rocl_html_put(b, "<span style=\"left:%.1f%%\">", ((double)i + 0.5) * 100 / (double)most);
        rocl_html_put_cell(b, t, longest + i, place);
        rocl_buf_str(b, "</span>");
    }
    rocl_buf_str(b, "</div><div class=\"v\"></div>\n");
    rocl_figure_end(&f, NULL);
}

enum { SHADES = 8 };

/* A line for each rank, with a cell for each step: the darker, the longer. The axis is the number
 * of the step. */
void rocl_html_put_rank_cells(rocl_buf *b, const rocl_table *t)
{
    enum { MOST_CELLS = 400, MOST_RANKS = 512 };
    const size_t place = rocl_table_find_column(t, "place");
    const size_t number = rocl_table_find_column(t, "number");
    const size_t value = rocl_table_find_column(t, "wall_ns");
    const size_t marker = rocl_table_find_column(t, "marker");
    double first = INFINITY, last = -INFINITY, least = INFINITY, most = 0;
    size_t rows[MOST_RANKS], count = 0, past = t->row_count;
    rocl_figure f;
    for (size_t i = 1; i < past; i++)
        if (!rocl_cell_is_same(t, i, 0, marker)) /* only the first of several kinds of steps */
            past = i;
    for (size_t i = 0; i < past; i++) {
        if (!i || !rocl_cell_is_same(t, i, i - 1, place)) {
            if (count == MOST_RANKS)
                break;
            rows[count++] = i;
        }
        first = fmin(first, rocl_cell_number(t, i, number));
        last = fmax(last, rocl_cell_number(t, i, number) + 1);
        least = fmin(least, rocl_cell_length(t, i, value));
        most = fmax(most, rocl_cell_length(t, i, value));
    }
    const rocl_axis axis = {first, last, ROCL_UNIT_COUNT, false};
    if (!(last > first) || !rocl_figure_open(&f, b, count, FIGURE_BAR + 4, &axis))
        return;
    for (size_t r = 0; r < count; r++)
        rocl_datum_put_displayed(&f.full[r], rocl_table_cell(t, rows[r], place), ROCL_UNIT_TEXT);
    if (!rocl_figure_begin(&f, t->title))
        return;
    const double shade = (most - least) / SHADES;
    /* A colour for each `shade` of time from `least` on; one if all are equally long. */
    char titles[SHADES][48], colours[SHADES][4];
    rocl_legend legend[SHADES];
    for (unsigned k = 0; k < SHADES; k++) {
        rocl_buf text = {0};
        rocl_datum_put_displayed(
            &text, &(rocl_datum){.type = ROCL_DATUM_REAL, .r = least + shade * k}, ROCL_UNIT_NS);
        snprintf(titles[k], sizeof titles[k], "from %.*s", (int)text.len,
                 text.len ? (const char *)text.data : "");
        rocl_buf_free_into(&text, f.b);
        snprintf(colours[k], sizeof colours[k], "s%u", k);
        legend[k] = (rocl_legend){colours[k], titles[k]};
    }
    rocl_figure_put_legend(&f, legend, shade > 0 ? SHADES : 1);
    for (size_t r = 0; r < count; r++) {
        double sum = 0;
        rocl_figure_begin_row(&f);
        for (size_t i = rows[r]; i < past && rocl_cell_is_same(t, i, rows[r], place); i++) {
            const double v = rocl_cell_length(t, i, value);
            const double x = rocl_axis_x(&axis, rocl_cell_number(t, i, number));
            const double to = rocl_axis_x(&axis, rocl_cell_number(t, i, number) + 1);
            const double k = shade > 0 ? fmin((v - least) / shade, SHADES - 1) : 0;
            sum += v;
            rocl_html_put(b, "<rect class=\"s%d\" x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"%d\">",
                          (int)k, x, fmax(to - x - (to - x > 4), 0.5), FIGURE_BAR + 2);
            if (t->row_count <= (size_t)MOST_CELLS * count) {
                rocl_buf_str(b, "<title>");
                rocl_html_put_cell(b, t, i, rocl_table_find_column(t, "step"));
                rocl_buf_str(b, ": ");
                rocl_html_put_cell(b, t, i, value);
                rocl_buf_str(b, "</title>");
            }
            rocl_buf_str(b, "</rect>");
        }
        rocl_figure_end_plot(&f);
        rocl_datum_put_displayed(b, &(rocl_datum){.type = ROCL_DATUM_REAL, .r = sum}, ROCL_UNIT_NS);
        rocl_figure_end_row(&f);
    }
    rocl_figure_end(&f, "number of the step; on the right the time of all steps");
}
