/* Charts: bars for what adds up by name, stacked bars for what makes a whole, areas for what runs
 * over time, a heat map of ranks. They are plain SVG, with their numbers in the table below them.
 */
#include "table/html/html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* In units of the picture, which the browser scales: of the whole, of the labels on the left, of a
 * bar, of an area. */
enum { WIDTH = 1100, LABEL = 330, BAR = 22, AREA = 54, MOST_BARS = 15, MOST_AREAS = 32 };

/* One colour of a picture: a column, less another one where that is part of it. */
typedef struct part {
    const char *key, *less, *title, *colour;
} part;

/* What is not a number, or negative, has no length; `column` may be column_count. */
static double length_of(const rocl_table *t, size_t row, size_t column)
{
    return column < t->column_count ? fmax(rocl_datum_number(rocl_table_cell(t, row, column)), 0)
                                    : 0;
}

static void put_displayed(rocl_buf *b, const rocl_table *t, size_t row, size_t column)
{
    rocl_buf text = {0};
    rocl_datum_put_displayed(&text, rocl_table_cell(t, row, column), t->columns[column].unit);
    rocl_html_put(b, "%.*s", (int)text.len, (const char *)text.data);
    rocl_buf_free_into(&text, b);
}

static void begin_svg(rocl_buf *b, int height, const char *title)
{
    rocl_html_put(b, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">", WIDTH,
                  height, title);
}

static void end_svg(rocl_buf *b)
{
    rocl_buf_str(b, "</svg></figure>\n");
}

/* What a row is of: the columns [from, to) before the first that measures something. Processes and
 * ranks are numbers that do not. */
static void put_label(rocl_buf *b, const rocl_table *t, size_t row, size_t from, size_t to,
                      double y)
{
    enum { MOST = 44 };
    rocl_buf text = {0};
    for (size_t c = from; c < to; c++) {
        const rocl_table_column *column = &t->columns[c];
        const rocl_datum *d = rocl_table_cell(t, row, c);
        if (column->unit != ROCL_UNIT_TEXT && strcmp(column->key, "pid") != 0 &&
            strcmp(column->key, "rank") != 0)
            break;
        if (!rocl_datum_has_value(d) || (d->type == ROCL_DATUM_TEXT && !d->len))
            continue;
        rocl_buf_str(&text, text.len ? " · " : "");
        if (d->type != ROCL_DATUM_TEXT) {
            rocl_buf_str(&text, column->key);
            rocl_buf_byte(&text, ' ');
        }
        rocl_datum_put_displayed(&text, d, column->unit);
    }
    size_t n = 0;
    for (size_t width = 0; n < text.len; n++) {
        width += (text.data[n] & 0xc0) != 0x80;
        if (width > MOST)
            break;
    }
    rocl_html_put(b, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.*s%s</text>", LABEL - 8, y,
                  (int)n, (const char *)text.data, n < text.len ? "…" : "");
    rocl_buf_free_into(&text, b);
}

static void put_legend(rocl_buf *b, const part *parts, size_t n)
{
    int x = LABEL;
    for (size_t i = 0; i < n; i++) {
        rocl_html_put(b,
                      "<rect class=\"%s\" x=\"%d\" y=\"3\" width=\"12\" height=\"12\" rx=\"2\"/>"
                      "<text x=\"%d\" y=\"13\">%s</text>",
                      parts[i].colour, x, x + 17, parts[i].title);
        x += 34 + 7 * (int)strlen(parts[i].title);
    }
}

/* ---- bars ------------------------------------------------------------------------------------ */

static void put_bars(rocl_buf *b, const rocl_table *t, size_t column)
{
    int n = t->row_count < MOST_BARS ? (int)t->row_count : MOST_BARS;
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, length_of(t, (size_t)i, column));
    if (most <= 0)
        return;
    begin_svg(b, n * BAR + 4, t->title);
    for (int i = 0, y = 0; i < n; i++, y += BAR) {
        double w = fmax(length_of(t, (size_t)i, column) / most * (WIDTH - LABEL - 90), 1);
        put_label(b, t, (size_t)i, 0, t->column_count, y + 15);
        rocl_html_put(b,
                      "<rect class=\"c0\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
                      "rx=\"2\"/><text class=\"d\" x=\"%.1f\" y=\"%d\">",
                      LABEL, y + 3, w, BAR - 6, LABEL + w + 6, y + 15);
        put_displayed(b, t, (size_t)i, column);
        rocl_buf_str(b, "</text>");
    }
    end_svg(b);
}

/* ---- parts of a whole ------------------------------------------------------------------------ */

enum { MOST_PARTS = 4 };

static void put_stacks(rocl_buf *b, const rocl_table *t, const part *parts, size_t n)
{
    int rows = t->row_count < MOST_AREAS ? (int)t->row_count : MOST_AREAS, y = 25;
    begin_svg(b, rows * BAR + 26, t->title);
    put_legend(b, parts, n);
    for (size_t r = 0; r < (size_t)rows; r++, y += BAR) {
        double v[MOST_PARTS], sum = 0, x = LABEL;
        for (size_t i = 0; i < n; i++) {
            v[i] = length_of(t, r, rocl_table_find_column(t, parts[i].key));
            if (parts[i].less)
                v[i] = fmax(v[i] - length_of(t, r, rocl_table_find_column(t, parts[i].less)), 0);
            sum += v[i];
        }
        put_label(b, t, r, 0, t->column_count, y + 12);
        for (size_t i = 0; i < n && sum > 0; i++) {
            double share = v[i] / sum, w = share * (WIDTH - LABEL - 10);
            rocl_html_put(b,
                          "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\">"
                          "<title>%s %.1f %%</title></rect>",
                          parts[i].colour, x, y, w, BAR - 6, parts[i].title, share * 100);
            x += w;
        }
    }
    end_svg(b);
}

static void put_overlap(rocl_buf *b, const rocl_table *t)
{
    static const part parts[MOST_PARTS] = {{"compute_ns", "both_ns", "kernels alone", "c0"},
                                           {"both_ns", NULL, "kernels and copies", "c2"},
                                           {"exposed_copy_ns", NULL, "copies alone", "c1"},
                                           {"idle_ns", NULL, "idle", "c4"}};
    put_stacks(b, t, parts, MOST_PARTS);
}

static void put_energy(rocl_buf *b, const rocl_table *t)
{
    static const part parts[] = {{"kernel_joules", NULL, "energy while kernels ran", "c0"},
                                 {"copy_joules", NULL, "copies alone", "c1"},
                                 {"idle_joules", NULL, "idle", "c4"}};
    put_stacks(b, t, parts, 3);
}

static void put_kernel_energy(rocl_buf *b, const rocl_table *t)
{
    put_bars(b, t, rocl_table_find_column(t, "joules"));
}

/* ---- over time ------------------------------------------------------------------------------- */

static bool is_same_text(const rocl_table *t, size_t a, size_t b, size_t column)
{
    const rocl_datum *x = rocl_table_cell(t, a, column), *y = rocl_table_cell(t, b, column);
    return x->type == y->type && x->len == y->len && (!x->len || !memcmp(x->text, y->text, x->len));
}

/* Rows from `from` on that are slices of one thing: of a GPU, or of an agent, and of a rank where
 * there is one. */
static size_t end_of_area(const rocl_table *t, size_t from)
{
    size_t to = from + 1, rank = rocl_table_find_column(t, "rank");
    while (to < t->row_count && is_same_text(t, from, to, 0) &&
           length_of(t, from, rank) == length_of(t, to, rank))
        to++;
    return to;
}

static int height_of_areas(const rocl_table *t)
{
    int n = 0;
    for (size_t from = 0; from < t->row_count && n < MOST_AREAS; n++)
        from = end_of_area(t, from);
    return n * AREA + 24;
}

/* Of the largest of a column in the rows [from, to). */
static size_t find_largest(const rocl_table *t, size_t from, size_t to, size_t column)
{
    size_t largest = from;
    for (size_t i = from; i < to; i++)
        if (length_of(t, i, column) > length_of(t, largest, column))
            largest = i;
    return largest;
}

/* An area for each thing, with all parts over each other. Their height is the share of `most`; if
 * that is 0, of the slice's length, and if it is negative, of the largest of the area. */
static void put_areas(rocl_buf *b, const rocl_table *t, const part *parts, size_t n, double most)
{
    const size_t begin = rocl_table_find_column(t, "start_ns");
    const size_t end = rocl_table_find_column(t, "end_ns");
    int bottom = 22 + AREA - 6, areas = 0;
    for (size_t from = 0, to; from < t->row_count && areas < MOST_AREAS; from = to, areas++) {
        to = end_of_area(t, from);
        const size_t first = rocl_table_find_column(t, parts[0].key);
        const size_t largest = most < 0 ? find_largest(t, from, to, first) : from;
        const double full = most < 0 ? length_of(t, largest, first) : most;
        const double step = (double)(WIDTH - LABEL - 10) / (double)(to - from);
        put_label(b, t, from, 0, t->column_count, bottom - (AREA - 6) + AREA / 2.0 + 4);
        rocl_html_put(b, "<line class=\"x\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>", LABEL,
                      bottom, WIDTH - 10, bottom);
        for (size_t k = 0; k < n; k++) {
            const size_t column = rocl_table_find_column(t, parts[k].key);
            rocl_html_put(b, "<path class=\"%s\" fill-opacity=\".75\" d=\"M%d %d", parts[k].colour,
                          LABEL, bottom);
            for (size_t i = from; i < to; i++) {
                double whole = most != 0 ? full : length_of(t, i, end) - length_of(t, i, begin);
                double share = whole > 0 ? fmin(length_of(t, i, column) / whole, 1) : 0;
                double x = LABEL + step * (double)(i - from), top = bottom - share * (AREA - 12);
                char points[128]; /* the bulk of a page: one printf for all four numbers */
                snprintf(points, sizeof points, "L%.1f %.1fL%.1f %.1f", x, top, x + step, top);
                rocl_buf_str(b, points);
            }
            rocl_html_put(b, "L%d %dZ\"/>", WIDTH - 10, bottom);
        }
        if (most < 0) {
            rocl_html_put(b, "<text x=\"%d\" y=\"%d\">", LABEL + 4, bottom - AREA + 18);
            put_displayed(b, t, largest, first);
            rocl_buf_str(b, "</text>");
        }
        bottom += AREA;
    }
}

static void put_timeline(rocl_buf *b, const rocl_table *t)
{
    static const part parts[] = {{"kernel_ns", NULL, "kernels", "c0"},
                                 {"copy_ns", NULL, "copies", "c1"}};
    begin_svg(b, height_of_areas(t), t->title);
    put_legend(b, parts, 2);
    put_areas(b, t, parts, 2, 0);
    end_svg(b);
}

/* All on one scale, which the largest sets. */
static void put_memory(rocl_buf *b, const rocl_table *t)
{
    static const part peak = {.key = "peak_bytes", .colour = "c2"};
    size_t column = rocl_table_find_column(t, peak.key);
    size_t largest = find_largest(t, 0, t->row_count, column);
    begin_svg(b, height_of_areas(t), t->title);
    rocl_html_put(b, "<text x=\"%d\" y=\"13\">full height: ", LABEL);
    put_displayed(b, t, largest, column);
    rocl_buf_str(b, "</text>");
    put_areas(b, t, &peak, 1, length_of(t, largest, column));
    end_svg(b);
}

/* Each on a scale of its own: they have different units. */
static void put_samples(rocl_buf *b, const rocl_table *t)
{
    static const part mean = {.key = "mean", .colour = "c2"};
    begin_svg(b, height_of_areas(t), t->title);
    put_areas(b, t, &mean, 1, -1);
    end_svg(b);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* A line for each name, with a cell for each rank: less than the mean of all ranks is cold, more is
 * warm, from half to one and a half. Rows of a name follow each other. */
static void put_heat_map(rocl_buf *b, const rocl_table *t)
{
    static const part parts[] = {{"", NULL, "less than the mean of those that have it", "c0"},
                                 {"", NULL, "more, full colour from 1.5 times", "c1"}};
    const size_t name = rocl_table_find_column(t, "name");
    const size_t relative = rocl_table_find_column(t, "relative");
    size_t lines = 0, most = 0;
    for (size_t i = 0, n = 0; i < t->row_count; i++) {
        bool first = !i || !is_same_text(t, i, i - 1, name);
        n = first ? 1 : n + 1;
        lines += first;
        most = n > most ? n : most;
    }
    if (most < 2)
        return;
    const double w = (double)(WIDTH - LABEL - 10) / (double)most;
    begin_svg(b, (int)lines * BAR + 26, t->title);
    put_legend(b, parts, 2);
    int y = 24 - BAR;
    for (size_t i = 0, n = 0; i < t->row_count; i++, n++) {
        if (!i || !is_same_text(t, i, i - 1, name)) {
            n = 0;
            y += BAR;
            put_label(b, t, i, name, name + 1, y + 13);
        }
        if (!rocl_datum_has_value(rocl_table_cell(t, i, relative)))
            continue;
        double v = length_of(t, i, relative), off = fmin(fabs(v - 1) * 2, 1);
        rocl_html_put(b,
                      "<rect class=\"%s\" fill-opacity=\"%.2f\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
                      "height=\"%d\"><title>",
                      v < 1 ? "c0" : "c1", 0.06 + 0.94 * off, LABEL + w * (double)n, y,
                      fmax(w - 1, 0.5), BAR - 3);
        put_displayed(b, t, i, rocl_table_find_column(t, "place"));
        rocl_buf_str(b, ": ");
        put_displayed(b, t, i, rocl_table_find_column(t, "total_ns"));
        rocl_html_put(b, ", %.3f of the mean</title></rect>", v);
    }
    end_svg(b);
}

/* ---- which chart ----------------------------------------------------------------------------- */

void rocl_html_put_chart(rocl_buf *b, const rocl_table *t)
{
    static const struct {
        const char *table;
        void (*put)(rocl_buf *, const rocl_table *);
    } charts[] = {{"timeline", put_timeline},          {"memory_timeline", put_memory},
                  {"rank_times", put_heat_map},        {"overlap", put_overlap},
                  {"sample_timeline", put_samples},    {"energy", put_energy},
                  {"kernel_energy", put_kernel_energy}};
    static const char *const bars[] = {"total_ns", "time_ns", "busy_ns", "peak_bytes"};
    for (size_t i = 0; i < sizeof charts / sizeof *charts; i++)
        if (!strcmp(t->key, charts[i].table)) {
            charts[i].put(b, t);
            return;
        }
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
        size_t column = rocl_table_find_column(t, bars[i]);
        if (column < t->column_count) {
            put_bars(b, t, column);
            return;
        }
    }
}
