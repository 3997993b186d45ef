/* What pictures are made of: rows with a label, a plot and a value, an axis below them, a legend.
 */
#include "table/html/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 40 };         /* characters */
enum { TICKS = 5, TOP = 4 }; /* units above the highest value */

/* ---- axes ------------------------------------------------------------------------------------ */

double rocl_axis_x(const rocl_axis *a, double v)
{
    const double share = a->log
                             ? (log(fmax(v, a->from)) - log(a->from)) / (log(a->to) - log(a->from))
                             : (v - a->from) / (a->to - a->from);
    return share > 0 ? FIGURE_WIDTH * fmin(share, 1) : 0; /* no machine has -0 */
}

double rocl_axis_y(const rocl_axis *a, double v, int height)
{
    return height - rocl_axis_x(a, v) / FIGURE_WIDTH * (height - TOP);
}

/* 1, 2 or 5 times a power of ten, so that there are at most `most` steps; for bytes a power of
 * two. */
static double choose_step(double range, unsigned most, rocl_unit unit)
{
    if (unit == ROCL_UNIT_BYTES)
        return exp2(ceil(log2(range / most)));
    const double step = pow(10, floor(log10(range / most))), times = range / most / step;
    return step * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static size_t choose_ticks(const rocl_axis *a, unsigned most, double ticks[FIGURE_TICKS])
{
    size_t n = 0;
    if (a->log) {
        const double base = a->unit == ROCL_UNIT_BYTES ? 2 : 10, first = log2(a->from) / log2(base);
        const double powers = log2(a->to) / log2(base) - first;
        const double each = powers <= 8 ? 1 : powers <= 16 ? 2 : powers <= 32 ? 4 : 10;
        for (double i = ceil(first / each - 1e-9) * each; n < FIGURE_TICKS; i += each) {
            if ((ticks[n] = pow(base, i)) > a->to * 1.0001)
                break;
            n++;
        }
        return n;
    }
    const double step = choose_step(a->to - a->from, most, a->unit);
    for (double i = ceil(a->from / step - 1e-9); i * step <= a->to * (1 + 1e-9) && n < FIGURE_TICKS;
         i++)
        ticks[n++] = i * step;
    return n;
}

/* "1 ms" and not "1.00 ms". */
static void put_tick(rocl_buf *b, double v, rocl_unit unit)
{
    rocl_buf text = {0};
    rocl_datum_put_displayed(&text, &(rocl_datum){.type = ROCL_DATUM_REAL, .r = v}, unit);
    rocl_buf_byte(&text, '\0');
    if (!text.failed) {
        char *number = (char *)text.data, *point = strchr(number, '.');
        const size_t n = strspn(number, "-0123456789.");
        size_t keep = n;
        while (point && keep && number[keep - 1] == '0')
            keep--;
        keep -= point && keep && number[keep - 1] == '.';
        if (v == 0)
            rocl_buf_byte(b, '0');
        else
            rocl_html_put(b, "%.*s%s%s", (int)keep, number, number + n,
                          unit == ROCL_UNIT_PERCENT ? " %" : "");
    }
    rocl_buf_free_into(&text, b);
}

/* ---- figures --------------------------------------------------------------------------------- */

void rocl_figure_put_label(rocl_buf *to, const rocl_table *t, size_t row)
{
    rocl_figure_put_label_before(to, t, row, t->column_count);
}

void rocl_figure_put_label_before(rocl_buf *to, const rocl_table *t, size_t row, size_t past)
{
    const size_t from = to->len;
    for (size_t c = 0; c < past; c++) {
        const rocl_table_column *column = &t->columns[c];
        const rocl_datum *d = rocl_table_cell(t, row, c);
        static const char *const numbers[] = {"pid",        "process",  "rank",
                                              "from_bytes", "sequence", "place"};
        bool says_which = false; /* it measures nothing */
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            says_which |= !strcmp(column->key, numbers[i]);
        if (column->unit != ROCL_UNIT_TEXT && !says_which)
            break;
        if (!rocl_datum_has_value(d) || (d->type == ROCL_DATUM_TEXT && !d->len))
            continue;
        rocl_buf_str(to, to->len > from ? " · " : "");
        if (d->type != ROCL_DATUM_TEXT) {
            rocl_buf_put(to, column->key, strcspn(column->key, "_"));
            rocl_buf_byte(to, ' ');
        }
        /* All directions of copies begin so. */
        const size_t prefix = strlen("MEMORY_COPY_");
        rocl_datum shown = *d;
        if (!strcmp(column->key, "direction") && d->len > prefix &&
            !memcmp(d->text, "MEMORY_COPY_", prefix)) {
            shown.text += prefix;
            shown.len -= (uint32_t)prefix;
        }
        rocl_datum_put_displayed(to, &shown, column->unit);
    }
    if (to->len == from && past && t->columns[0].unit == ROCL_UNIT_TEXT)
        rocl_buf_str(to, "(no name)");
}

static void free_labels(rocl_figure *f)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->labels)
            rocl_buf_free(&f->labels[i]);
        if (f->full)
            rocl_buf_free(&f->full[i]);
    }
    free(f->labels);
    free(f->full);
}

bool rocl_figure_open(rocl_figure *f, rocl_buf *b, size_t count, int height, const rocl_axis *axis)
{
    *f = (rocl_figure){.b = b, .axis = axis, .count = count, .height = height};
    f->labels = calloc(count + 1, sizeof *f->labels);
    f->full = calloc(count + 1, sizeof *f->full);
    if (f->labels && f->full)
        return true;
    free_labels(f);
    b->failed = true;
    return false;
}

bool rocl_figure_begin(rocl_figure *f, const char *title)
{
    bool good = true;
    for (size_t i = 0; i < f->count && good; i++) {
        rocl_buf_put(&f->labels[i], f->full[i].data, f->full[i].len);
        good = !f->full[i].failed && !f->labels[i].failed;
    }
    if (!good || !rocl_table_shorten(f->labels, f->count, LABEL)) {
        free_labels(f);
        f->b->failed = true;
        return false;
    }
    rocl_html_put(f->b, "<figure aria-label=\"%s\">", title);
    return true;
}

bool rocl_figure_begin_table(rocl_figure *f, rocl_buf *b, const rocl_table *t, const size_t *rows,
                             size_t count, int height, const rocl_axis *axis)
{
    if (!rocl_figure_open(f, b, count, height, axis))
        return false;
    for (size_t i = 0; i < count; i++)
        rocl_figure_put_label(&f->full[i], t, rows[i]);
    return rocl_figure_begin(f, t->title);
}

void rocl_figure_put_legend(rocl_figure *f, const rocl_legend *legend, size_t n)
{
    rocl_buf_str(f->b, "<p class=\"legend\">");
    for (size_t i = 0; i < n; i++)
        rocl_html_put(f->b, "<span><i class=\"%s\"></i>%s</span>", legend[i].colour,
                      legend[i].title);
    rocl_buf_str(f->b, "</p>\n");
}

/* A line of text is some 14 units high. */
static unsigned upright_ticks(const rocl_figure *f)
{
    return f->height < 60 ? 3 : 4;
}

void rocl_figure_begin_row(rocl_figure *f)
{
    const rocl_buf *label = &f->labels[f->next], *full = &f->full[f->next];
    double ticks[FIGURE_TICKS];
    if (!f->next)
        rocl_buf_str(f->b, "<div class=\"chart\">\n");
    f->next++;
    rocl_html_put(f->b, "<div class=\"l\" title=\"%.*s\">%.*s</div>", (int)full->len,
                  (const char *)full->data, (int)label->len, (const char *)label->data);
    rocl_html_put(f->b,
                  "<div class=\"p\"><svg viewBox=\"0 0 %d %d\" height=\"%d\" "
                  "preserveAspectRatio=\"none\" aria-hidden=\"true\">",
                  FIGURE_WIDTH, f->height, f->height);
    if (!f->axis)
        return;
    rocl_buf_str(f->b, "<path class=\"g\" d=\"");
    const size_t n = choose_ticks(f->axis, TICKS, ticks);
    for (size_t i = 0; i < n; i++)
        rocl_html_put(f->b, "M%.1f 0V%d", rocl_axis_x(f->axis, ticks[i]), f->height);
    const size_t up = f->upright ? choose_ticks(f->upright, upright_ticks(f), ticks) : 0;
    for (size_t i = 0; i < up; i++)
        rocl_html_put(f->b, "M0 %.1fH%d", rocl_axis_y(f->upright, ticks[i], f->height),
                      FIGURE_WIDTH);
    rocl_buf_str(f->b, "\"/>");
}

void rocl_figure_end_plot(rocl_figure *f)
{
    double ticks[FIGURE_TICKS];
    const size_t n = f->upright ? choose_ticks(f->upright, upright_ticks(f), ticks) : 0;
    rocl_buf_str(f->b, "</svg>");
    for (size_t i = 0; i < n; i++) {
        const double y = rocl_axis_y(f->upright, ticks[i], f->height);
        if (ticks[i] <= f->upright->from && !f->upright->log)
            continue; /* the bottom */
        rocl_html_put(f->b, "<span class=\"y\" style=\"top:%.1fpx\">", y);
        put_tick(f->b, ticks[i], f->upright->unit);
        rocl_buf_str(f->b, "</span>");
    }
    rocl_buf_str(f->b, "</div><div class=\"v\">");
}

void rocl_figure_end_row(rocl_figure *f)
{
    rocl_buf_str(f->b, "</div>\n");
}

void rocl_figure_put_rect(rocl_buf *b, const char *colour, double x, double to, int height)
{
    rocl_html_put(b, "<rect class=\"%s\" x=\"%.1f\" width=\"%.1f\" y=\"2\" height=\"%d\">", colour,
                  x, fmax(to - x, 0.6), height - 4);
}

void rocl_figure_end(rocl_figure *f, const char *axis_title)
{
    double ticks[FIGURE_TICKS];
    const size_t n = f->axis ? choose_ticks(f->axis, TICKS, ticks) : 0;
    if (n) {
        rocl_buf_str(f->b, "<div class=\"l\"></div><div class=\"a\">");
        for (size_t i = 0; i < n; i++) {
            const double x = rocl_axis_x(f->axis, ticks[i]) * 100 / FIGURE_WIDTH;
            rocl_html_put(f->b, "<span style=\"left:%.1f%%\">", x);
            put_tick(f->b, ticks[i], f->axis->unit);
            rocl_buf_str(f->b, "</span>");
        }
        rocl_buf_str(f->b, "</div><div class=\"v\"></div>\n");
    }
    rocl_buf_str(f->b, f->next ? "</div>\n" : "");
    if (axis_title)
        rocl_html_put(f->b, "<figcaption>%s</figcaption>", axis_title);
    rocl_buf_str(f->b, "</figure>\n");
    free_labels(f);
}

void rocl_figure_end_over_time(rocl_figure *f, const rocl_table *t)
{
    char title[128];
    snprintf(title, sizeof title, "time since the begin of the trace, %" PRId64 " ns on its clock",
             t->origin);
    rocl_figure_end(f, title);
}
