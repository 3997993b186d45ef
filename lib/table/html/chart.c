/* Charts: bars for what adds up by name, stacked bars for what makes a whole, areas for what runs
 * over time. They are plain SVG, with their numbers in the table below them. */
#include "table/html/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 1100, LABEL = 330, BAR = 22, MOST_BARS = 15, MOST_AREAS = 32, AREA = 54 };

size_t rocl_html_column(const rocl_table *t, const char *key)
{
    size_t c = 0;
    while (c < t->column_count && strcmp(t->columns[c].key, key) != 0)
        c++;
    return c;
}

static double number(const rocl_table *t, size_t row, size_t column)
{
    if (column >= t->column_count)
        return 0;
    const rocl_datum *d = rocl_table_cell(t, row, column);
    double v = d->is == ROCL_DATUM_INT ? (double)d->i : rocl_table_has_value(d) ? d->r : 0;
    return d->is == ROCL_DATUM_TEXT || v < 0 ? 0 : v;
}

static void put_scaled(rocl_buf *b, const rocl_table *t, size_t row, size_t column)
{
    rocl_buf text = {0};
    rocl_table_put_scaled(&text, rocl_table_cell(t, row, column), t->columns[column].unit);
    rocl_html_put_text(b, (const char *)text.data, text.len);
    rocl_buf_free_into(&text, b);
}

static void put(rocl_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(rocl_buf *b, const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (n > 0)
        rocl_buf_put(b, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void begin_svg(rocl_buf *b, int height, const char *what)
{
    put(b, "<figure><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">", WIDTH, height,
        what);
}

static void end_svg(rocl_buf *b)
{
    rocl_buf_str(b, "</svg></figure>\n");
}

/* Processes and ranks are numbers that tell what a row is of. */
static bool is_number_of_row(const rocl_table_column *c)
{
    return !strcmp(c->key, "pid") || !strcmp(c->key, "rank");
}

static void put_part_of_label(rocl_buf *text, const rocl_table_column *c, const rocl_datum *d)
{
    if (!rocl_table_has_value(d) || (d->is == ROCL_DATUM_TEXT && !d->len))
        return;
    rocl_buf_str(text, text->len ? " · " : "");
    if (d->is != ROCL_DATUM_TEXT) {
        rocl_buf_str(text, c->key);
        rocl_buf_byte(text, ' ');
    }
    rocl_table_put_scaled(text, d, c->unit);
}

/* The columns [from, to) before the first that measures something: what the row is of. At most
 * `most` characters. */
static void put_label(rocl_buf *b, const rocl_table *t, size_t row, size_t from, size_t to,
                      size_t most)
{
    rocl_buf text = {0};
    for (size_t c = from;
         c < to && (t->columns[c].unit == ROCL_UNIT_TEXT || is_number_of_row(&t->columns[c])); c++)
        put_part_of_label(&text, &t->columns[c], rocl_table_cell(t, row, c));
    size_t n = 0, width = 0;
    while (n < text.len && width < most) {
        n++;
        while (n < text.len && (text.data[n] & 0xc0) == 0x80)
            n++;
        width++;
    }
    rocl_html_put_text(b, (const char *)text.data, n);
    if (n < text.len)
        rocl_buf_str(b, "…");
    rocl_buf_free_into(&text, b);
}

static void put_label_of(rocl_buf *b, const rocl_table *t, size_t row, size_t from, size_t to,
                         double y)
{
    put(b, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LABEL - 8, y);
    put_label(b, t, row, from, to, 44);
    rocl_buf_str(b, "</text>");
}

static void put_row_label(rocl_buf *b, const rocl_table *t, size_t row, double y)
{
    put_label_of(b, t, row, 0, t->column_count, y);
}

/* ---- bars ------------------------------------------------------------------------------------ */

static void put_bars(rocl_buf *b, const rocl_table *t, size_t column)
{
    int n = t->row_count < MOST_BARS ? (int)t->row_count : MOST_BARS;
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, number(t, (size_t)i, column));
    if (!n || most <= 0)
        return;
    begin_svg(b, n * BAR + 4, t->title);
    for (int i = 0; i < n; i++) {
        double w = number(t, (size_t)i, column) / most * (WIDTH - LABEL - 90);
        put_row_label(b, t, (size_t)i, i * BAR + 15.0);
        put(b, "<rect class=\"c0\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>",
            LABEL, i * BAR + 3, fmax(w, 1), BAR - 6);
        put(b, "<text class=\"d\" x=\"%.1f\" y=\"%d\">", LABEL + fmax(w, 1) + 6, i * BAR + 15);
        put_scaled(b, t, (size_t)i, column);
        rocl_buf_str(b, "</text>");
    }
    end_svg(b);
}

/* ---- parts of a whole ------------------------------------------------------------------------ */

/* A column, less another one where that is part of it. */
typedef struct part {
    const char *key, *less, *title, *colour;
} part;

static double part_of(const rocl_table *t, size_t row, const part *p)
{
    double v = number(t, row, rocl_html_column(t, p->key));
    return p->less ? fmax(v - number(t, row, rocl_html_column(t, p->less)), 0) : v;
}

static void put_legend(rocl_buf *b, const part *parts, size_t n)
{
    int x = LABEL;
    for (size_t i = 0; i < n; i++) {
        put(b,
            "<rect class=\"%s\" x=\"%d\" y=\"3\" width=\"12\" height=\"12\" rx=\"2\"/>"
            "<text x=\"%d\" y=\"13\">%s</text>",
            parts[i].colour, x, x + 17, parts[i].title);
        x += 34 + 7 * (int)strlen(parts[i].title);
    }
}

static void put_stack(rocl_buf *b, const rocl_table *t, size_t row, const part *parts, size_t n,
                      int y)
{
    double sum = 0, x = LABEL;
    for (size_t i = 0; i < n; i++)
        sum += part_of(t, row, &parts[i]);
    put_row_label(b, t, row, y + 12);
    for (size_t i = 0; i < n && sum > 0; i++) {
        double share = part_of(t, row, &parts[i]) / sum, w = share * (WIDTH - LABEL - 10);
        put(b,
            "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>%s "
            "%.1f %%</title></rect>",
            parts[i].colour, x, y, w, BAR - 6, parts[i].title, share * 100);
        x += w;
    }
}

static void put_stacked(rocl_buf *b, const rocl_table *t, const part *parts, size_t n)
{
    int rows = t->row_count < MOST_AREAS ? (int)t->row_count : MOST_AREAS;
    if (!rows)
        return;
    begin_svg(b, rows * BAR + 26, t->title);
    put_legend(b, parts, n);
    for (int r = 0; r < rows; r++)
        put_stack(b, t, (size_t)r, parts, n, r * BAR + 25);
    end_svg(b);
}

/* ---- over time ------------------------------------------------------------------------------- */

static bool same_text(const rocl_table *t, size_t a, size_t b, size_t column)
{
    const rocl_datum *x = rocl_table_cell(t, a, column), *y = rocl_table_cell(t, b, column);
    return x->is == y->is && x->len == y->len && (!x->len || !memcmp(x->text, y->text, x->len));
}

/* Slices of one thing: of a GPU, or of an agent, and a rank where there is one. */
static bool same_label(const rocl_table *t, size_t a, size_t b)
{
    size_t rank = rocl_html_column(t, "rank");
    return same_text(t, a, b, 0) &&
           (rank == t->column_count || number(t, a, rank) == number(t, b, rank));
}

/* What an area shows of a slice: a value, as a share of the slice's length or of the largest. */
typedef struct layer {
    const char *key, *colour;
    bool of_time;
} layer;

static double largest(const rocl_table *t, size_t from, size_t to, size_t column)
{
    double most = 0;
    for (size_t i = from; i < to; i++)
        most = fmax(most, number(t, i, column));
    return most;
}

static void put_layer(rocl_buf *b, const rocl_table *t, size_t from, size_t to, const layer *l,
                      double most, int y)
{
    size_t column = rocl_html_column(t, l->key);
    size_t begin = rocl_html_column(t, "start_ns"), end = rocl_html_column(t, "end_ns");
    double step = (double)(WIDTH - LABEL - 10) / (double)(to - from);
    put(b, "<path class=\"%s\" fill-opacity=\".75\" d=\"M%d %d", l->colour, LABEL, y + AREA - 6);
    for (size_t i = from; i < to; i++) {
        double whole = l->of_time ? number(t, i, end) - number(t, i, begin) : most;
        double share = whole > 0 ? fmin(number(t, i, column) / whole, 1) : 0;
        double x = LABEL + step * (double)(i - from), top = y + (AREA - 6) - share * (AREA - 12);
        put(b, "L%.1f %.1fL%.1f %.1f", x, top, x + step, top);
    }
    put(b, "L%d %dZ\"/>", WIDTH - 10, y + AREA - 6);
}

/* Rows [from, to) are the slices of one label. */
static void put_area(rocl_buf *b, const rocl_table *t, size_t from, size_t to, const layer *layers,
                     size_t n, double most, int y)
{
    put_row_label(b, t, from, y + AREA / 2.0 + 4);
    put(b, "<line class=\"x\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>", LABEL, y + AREA - 6,
        WIDTH - 10, y + AREA - 6);
    for (size_t i = 0; i < n; i++)
        put_layer(b, t, from, to, &layers[i], most, y);
}

static size_t end_of_label(const rocl_table *t, size_t from)
{
    size_t to = from + 1;
    while (to < t->row_count && same_label(t, from, to))
        to++;
    return to;
}

static void put_areas(rocl_buf *b, const rocl_table *t, const layer *layers, size_t n, double most,
                      int y)
{
    int areas = 0;
    for (size_t from = 0; from < t->row_count && areas < MOST_AREAS; areas++) {
        size_t to = end_of_label(t, from);
        put_area(b, t, from, to, layers, n, most, y + areas * AREA);
        from = to;
    }
}

static int count_areas(const rocl_table *t)
{
    int n = 0;
    for (size_t from = 0; from < t->row_count && n < MOST_AREAS; n++)
        from = end_of_label(t, from);
    return n;
}

static void put_timeline(rocl_buf *b, const rocl_table *t)
{
    static const part parts[] = {{"", NULL, "kernels", "c0"}, {"", NULL, "copies", "c1"}};
    static const layer layers[] = {{"kernel_ns", "c0", true}, {"copy_ns", "c1", true}};
    begin_svg(b, count_areas(t) * AREA + 24, t->title);
    put_legend(b, parts, 2);
    put_areas(b, t, layers, 2, 0, 22);
    end_svg(b);
}

/* All on one scale, which the largest sets. */
static void put_memory(rocl_buf *b, const rocl_table *t)
{
    static const layer layers[] = {{"peak_bytes", "c2", false}};
    size_t column = rocl_html_column(t, "peak_bytes"), row = 0;
    double most = largest(t, 0, t->row_count, column);
    while (row + 1 < t->row_count && number(t, row, column) < most)
        row++;
    begin_svg(b, count_areas(t) * AREA + 24, t->title);
    put(b, "<text x=\"%d\" y=\"13\">full height: ", LABEL);
    put_scaled(b, t, row, column);
    rocl_buf_str(b, "</text>");
    put_areas(b, t, layers, 1, most, 22);
    end_svg(b);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* A line for each name; less than the mean of all ranks is cold, more is warm, from half to
 * one and a half. */
static void put_heat_cell(rocl_buf *b, const rocl_table *t, size_t row, double x, int y, double w)
{
    size_t relative = rocl_html_column(t, "relative");
    double v = number(t, row, relative), off = fmin(fabs(v - 1) * 2, 1);
    if (!rocl_table_has_value(rocl_table_cell(t, row, relative)))
        return;
    put(b,
        "<rect class=\"%s\" fill-opacity=\"%.2f\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
        "height=\"%d\"><title>",
        v < 1 ? "c0" : "c1", 0.06 + 0.94 * off, x, y, fmax(w - 1, 0.5), BAR - 3);
    put_scaled(b, t, row, rocl_html_column(t, "place"));
    rocl_buf_str(b, ": ");
    put_scaled(b, t, row, rocl_html_column(t, "total_ns"));
    put(b, ", %.3f of the mean</title></rect>", v);
}

static void put_heat_map(rocl_buf *b, const rocl_table *t)
{
    size_t name = rocl_html_column(t, "name"), lines = 0, most = 0;
    for (size_t i = 0, n = 0; i < t->row_count; i++) {
        bool first = !i || !same_text(t, i, i - 1, name);
        n = first ? 1 : n + 1;
        lines += first;
        most = n > most ? n : most;
    }
    if (most < 2)
        return;
    static const part parts[] = {{"", NULL, "less than the mean of those that have it", "c0"},
                                 {"", NULL, "more, full colour from 1.5 times", "c1"}};
    double w = (double)(WIDTH - LABEL - 10) / (double)most;
    begin_svg(b, (int)lines * BAR + 26, t->title);
    put_legend(b, parts, 2);
    int y = 24 - BAR;
    for (size_t i = 0, n = 0; i < t->row_count; i++, n++) {
        if (!i || !same_text(t, i, i - 1, name)) {
            n = 0;
            y += BAR;
            put_label_of(b, t, i, name, name + 1, y + 13);
        }
        put_heat_cell(b, t, i, LABEL + w * (double)n, y, w);
    }
    end_svg(b);
}

/* ---- which chart ----------------------------------------------------------------------------- */

void rocl_html_put_chart(rocl_buf *b, const rocl_table *t)
{
    static const part overlap[] = {{"compute_ns", "both_ns", "kernels alone", "c0"},
                                   {"both_ns", NULL, "kernels and copies", "c2"},
                                   {"exposed_copy_ns", NULL, "copies alone", "c1"},
                                   {"idle_ns", NULL, "idle", "c4"}};
    static const char *const bars[] = {"total_ns", "time_ns", "busy_ns", "peak_bytes"};
    if (!strcmp(t->key, "timeline")) {
        put_timeline(b, t);
    } else if (!strcmp(t->key, "memory_timeline")) {
        put_memory(b, t);
    } else if (!strcmp(t->key, "rank_times")) {
        put_heat_map(b, t);
    } else if (!strcmp(t->key, "overlap")) {
        put_stacked(b, t, overlap, sizeof overlap / sizeof *overlap);
    } else {
        for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
            size_t column = rocl_html_column(t, bars[i]);
            if (column == t->column_count)
                continue;
            put_bars(b, t, column);
            return;
        }
    }
}
