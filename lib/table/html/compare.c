/* Charts of tables that compare two sides, A and B: waterfalls from A to B, lines of both, changes
 * with their intervals. */
#include "table/html/html.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An axis that does not begin at 0 says so. */
static void end_figure(rocl_figure *f, const char *title, const rocl_axis *axis)
{
    rocl_buf text = {0};
    rocl_buf_str(&text, title);
    if (axis->from > 0) {
        rocl_buf_str(&text, "; the axis begins at ");
        rocl_datum_put_displayed(&text, &(rocl_datum){.type = ROCL_DATUM_REAL, .r = axis->from},
                                 axis->unit);
        rocl_buf_str(&text, ", not at 0");
    }
    rocl_buf_byte(&text, '\0');
    rocl_figure_end(f, text.failed ? title : (const char *)text.data);
    rocl_buf_free_into(&text, f->b);
}

/* ---- waterfalls ------------------------------------------------------------------------------ */

enum { MOST_STEPS = 12 };

static int compare_changes(const void *a, const void *b, void *table)
{
    const rocl_table *t = table;
    const size_t column = rocl_table_find_column(t, "change_ns");
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const double u = fabs(rocl_cell_number(t, x, column)), v = fabs(rocl_cell_number(t, y, column));
    return u > v ? -1 : u < v ? 1 : x < y ? -1 : x > y;
}

static void put_step(rocl_figure *f, const char *colour, double from, double to, double value)
{
    rocl_figure_begin_row(f);
    rocl_figure_put_rect(f->b, colour, rocl_axis_x(f->axis, fmin(from, to)),
                         rocl_axis_x(f->axis, fmax(from, to)), FIGURE_BAR);
    rocl_buf_str(f->b, "</rect>");
    rocl_figure_end_plot(f);
    rocl_datum_put_displayed(f->b, &(rocl_datum){.type = ROCL_DATUM_REAL, .r = value},
                             ROCL_UNIT_NS);
    rocl_figure_end_row(f);
}

/* Bars that lead from A to B: the rows of a table with the largest changes, and all others as one.
 */
typedef struct waterfall {
    const char *key; /* of the table */
    const char *title, *quantity, *first, *last, *whole;
    const char *labels[3]; /* keys of columns; "": none */
    bool summed;           /* the first row is the sum of the others, the axis need not begin at 0;
                            * else the rows of kernels are added up */
} waterfall;

/* rows: the largest change first; a: the total of A. */
static void put_waterfall(rocl_buf *b, const waterfall *w, const rocl_table *t, const size_t *rows,
                          size_t n, double a)
{
    const size_t column = rocl_table_find_column(t, "change_ns");
    const size_t named = n > MOST_STEPS ? MOST_STEPS : n, steps = named + (n > named);
    double change[MOST_STEPS + 1] = {0}, sum = a, highest = a, lowest = a;
    rocl_figure f;
    for (size_t i = 0; i < n; i++)
        change[i < named ? i : MOST_STEPS] += rocl_cell_number(t, rows[i], column);
    for (size_t i = 0; i < steps; i++) {
        sum += change[i];
        highest = fmax(highest, sum);
        lowest = fmin(lowest, sum);
    }
    /* Small changes of a long time are seen only where the axis begins near them. */
    const double margin = 0.25 * (highest - lowest);
    const double from = lowest < 0 ? lowest - margin : fmax(lowest - margin, 0);
    /* It then shows changes from A: in three digits all totals would look the same. */
    const double zero = w->summed && highest - from < 0.05 * highest ? a : 0;
    const rocl_axis axis = {(w->summed ? from : 0) - zero, highest - zero, ROCL_UNIT_NS, false};
    if (axis.to <= axis.from || !rocl_figure_open(&f, b, steps + 2, FIGURE_BAR, &axis))
        return;
    rocl_buf_str(&f.full[0], w->first);
    for (size_t i = 0; i < named; i++)
        for (unsigned k = 0; k < 3; k++) {
            const size_t at = rocl_table_find_column(t, w->labels[k]);
            if (at == t->column_count)
                break;
            const rocl_datum *label = rocl_table_cell(t, rows[i], at);
            if (k && rocl_datum_has_value(label))
                rocl_buf_str(&f.full[i + 1], ": ");
            if (!k || rocl_datum_has_value(label))
                rocl_datum_put_displayed(&f.full[i + 1], label, ROCL_UNIT_TEXT);
        }
    if (steps > named)
        rocl_buf_str(&f.full[steps], "all others");
    rocl_buf_str(&f.full[steps + 1], w->last);
    if (!rocl_figure_begin(&f, w->title))
        return;
    const rocl_legend legend[] = {{"c4", w->whole}, {"c1", "longer in B"}, {"c3", "shorter in B"}};
    rocl_figure_put_legend(&f, legend, 3);
    const double left = fmax(axis.from, -zero);
    put_step(&f, "c4", left, a - zero, a);
    sum = a - zero;
    for (size_t i = 0; i < steps; i++) {
        put_step(&f, change[i] > 0 ? "c1" : "c3", sum, sum + change[i], change[i]);
        sum += change[i];
    }
    put_step(&f, "c4", left, sum, sum + zero);
    char title[96];
    snprintf(title, sizeof title, "%s: %s", w->quantity,
             zero != 0 ? "change from A" : "from A, step by step, to B");
    end_figure(&f, title, &axis);
}

void rocl_html_put_changes(rocl_buf *b, const rocl_table *t)
{
    static const waterfall waterfalls[] = {
        {"compare", "What changed the time of kernels", "time of kernels", "all kernels of A",
         "all kernels of B", "all kernels", .labels = {"name", "", ""}},
        {"compare_causes", "What the difference comes from", "wall time of GPUs", "A", "B",
         "all together", .labels = {"cause", "class", ""}, .summed = true},
        {"compare_sequence", "What the difference of the kernels comes from", "time of kernels",
         "A", "B", "all together", .labels = {"edit", "name", "name_b"}, .summed = true}};
    const size_t domain = rocl_table_find_column(t, "domain");
    const size_t in_a = rocl_table_find_column(t, "total_a_ns");
    const waterfall *w = waterfalls;
    while (strcmp(w->key, t->key) != 0)
        w++;
    size_t *rows = malloc((t->row_count + 1) * sizeof *rows), n = 0;
    double a = w->summed && t->row_count ? rocl_cell_number(t, 0, in_a) : 0;
    b->failed |= !rows;
    for (size_t i = w->summed; rows && i < t->row_count; i++) {
        if (!w->summed && !rocl_datum_is(rocl_table_cell(t, i, domain), "KERNELS"))
            continue;
        a += w->summed ? 0 : rocl_cell_length(t, i, in_a);
        rows[n++] = i;
    }
    if (n) {
        qsort_r(rows, n, sizeof *rows, compare_changes, (void *)(uintptr_t)t);
        put_waterfall(b, w, t, rows, n, a);
    }
    free(rows);
}

/* ---- steps of both sides --------------------------------------------------------------------- */

/* Are two rows of compare_steps of one rank? By the rank in A, or in B where A has none. */
static bool is_same_rank(const rocl_table *t, size_t a, size_t b, const size_t place[2])
{
    for (unsigned k = 0; k < 2; k++)
        if (rocl_datum_has_value(rocl_table_cell(t, a, place[k])) &&
            rocl_datum_has_value(rocl_table_cell(t, b, place[k])))
            return rocl_cell_is_same(t, a, b, place[k]);
    /* One side each: neighbours of one list of steps. */
    return true;
}

static double step_x(size_t i, size_t longest)
{
    return ((double)i + 1) / ((double)longest + 1) * FIGURE_WIDTH;
}

/* For each rank a line per side over its steps, in their order. A step that only one side has is a
 * gap in the line of the other. */
void rocl_html_put_compared_steps(rocl_buf *b, const rocl_table *t)
{
    enum { MOST_DOTS = 200 };
    static const rocl_legend legend[] = {{"q0", "A"}, {"q1", "B"}};
    const size_t place[] = {rocl_table_find_column(t, "place_a"),
                            rocl_table_find_column(t, "place_b")};
    const size_t number[] = {rocl_table_find_column(t, "number_a"),
                             rocl_table_find_column(t, "number_b")};
    const size_t wall[] = {rocl_table_find_column(t, "wall_a_ns"),
                           rocl_table_find_column(t, "wall_b_ns")};
    size_t rows[FIGURE_MOST_ROWS + 1], count = 0, longest = 1, past = 0;
    double least = INFINITY, most = 0;
    rocl_figure f;
    for (; past < t->row_count; past++) {
        const bool numbered = rocl_datum_has_value(rocl_table_cell(t, past, number[0])) ||
                              rocl_datum_has_value(rocl_table_cell(t, past, number[1]));
        const bool begins = !past || !is_same_rank(t, past - 1, past, place);
        if (!numbered || (begins && count == FIGURE_MOST_ROWS))
            break; /* the row that stands for the rest */
        if (begins)
            rows[count++] = past;
        longest = past + 1 - rows[count - 1] > longest ? past + 1 - rows[count - 1] : longest;
        for (unsigned k = 0; k < 2; k++)
            if (rocl_datum_has_value(rocl_table_cell(t, past, wall[k]))) {
                least = fmin(least, rocl_cell_length(t, past, wall[k]));
                most = fmax(most, rocl_cell_length(t, past, wall[k]));
            }
    }
    rows[count] = past;
    const double margin = fmax((most - least) * 0.1, most * 0.01);
    const rocl_axis upright = {fmax(least - margin, 0), most + margin, ROCL_UNIT_NS, false};
    if (!count || most <= 0 || !rocl_figure_open(&f, b, count, FIGURE_HIGH_AREA, NULL))
        return;
    for (size_t r = 0; r < count; r++)
        for (unsigned k = 0; k < 2; k++)
            if (!f.full[r].len && rocl_datum_has_value(rocl_table_cell(t, rows[r], place[k])))
                rocl_datum_put_displayed(&f.full[r], rocl_table_cell(t, rows[r], place[k]),
                                         ROCL_UNIT_TEXT);
    f.upright = &upright;
    if (!rocl_figure_begin(&f, t->title))
        return;
    rocl_figure_put_legend(&f, legend, 2);
    for (size_t r = 0; r < count; r++) {
        rocl_figure_begin_row(&f);
        for (unsigned k = 0; k < 2; k++) {
            bool drawn = false;
            rocl_html_put(b, "<path class=\"line %s\" d=\"", legend[k].colour);
            for (size_t i = rows[r]; i < rows[r + 1]; i++) {
                const bool has = rocl_datum_has_value(rocl_table_cell(t, i, wall[k]));
                if (has)
                    rocl_html_put(
                        b, "%s%.1f %.1f", drawn ? "L" : "M", step_x(i - rows[r], longest),
                        rocl_axis_y(&upright, rocl_cell_length(t, i, wall[k]), FIGURE_HIGH_AREA));
                drawn = has;
            }
            rocl_buf_str(b, "\"/>");
        }
        for (unsigned k = 0; k < 2; k++) {
            /* Dots on the line, with the step and its time as tooltips, unless there are too many
             * steps. */
            const rocl_legend *side = &legend[k];
            for (size_t i = rows[r]; i < rows[r + 1] && longest <= MOST_DOTS; i++) {
                if (!rocl_datum_has_value(rocl_table_cell(t, i, wall[k])))
                    continue;
                rocl_html_put(
                    b, "<path class=\"dot %s\" d=\"M%.1f %.1fh0\"><title>%s, step ", side->colour,
                    step_x(i - rows[r], longest),
                    rocl_axis_y(&upright, rocl_cell_length(t, i, wall[k]), FIGURE_HIGH_AREA),
                    side->title);
                rocl_html_put_cell(b, t, i, number[k]);
                rocl_buf_str(b, ": ");
                rocl_html_put_cell(b, t, i, wall[k]);
                rocl_buf_str(b, "</title></path>");
            }
        }
        rocl_figure_end_plot(&f);
        /* The change of the sum of all steps that both sides have. */
        const size_t change = rocl_table_find_column(t, "wall_change_ns");
        double sum = 0, more = 0;
        for (size_t i = rows[r]; i < rows[r + 1]; i++)
            if (rocl_datum_has_value(rocl_table_cell(t, i, change))) {
                sum += rocl_cell_length(t, i, wall[0]);
                more += rocl_cell_number(t, i, change);
            }
        if (sum > 0)
            rocl_html_put(b, "%s%.1f %%", more > 0 ? "+" : "", 100 * more / sum);
        rocl_figure_end_row(&f);
    }
    end_figure(&f,
               "wall time of aligned steps, one after the other; on the right the change of those "
               "that both have",
               &upright);
}

/* ---- many runs ------------------------------------------------------------------------------- */

/* The change of each name over many runs, in percent, with its confidence interval. */
void rocl_html_put_run_changes(rocl_buf *b, const rocl_table *t)
{
    static const rocl_legend legend[] = {
        {"q1", "longer in B"}, {"q2", "shorter in B"}, {"q3", "not significant"}};
    const size_t mean = rocl_table_find_column(t, "mean_a_ns");
    const size_t change = rocl_table_find_column(t, "change_ns");
    const size_t low = rocl_table_find_column(t, "change_low_ns");
    const size_t high = rocl_table_find_column(t, "change_high_ns");
    const size_t significant = rocl_table_find_column(t, "significant");
    size_t rows[FIGURE_MOST_BARS], n = 0;
    double from = 0, to = 0;
    rocl_figure f;
    for (size_t i = 0; i < t->row_count && n < FIGURE_MOST_BARS; i++) {
        const double whole = rocl_cell_number(t, i, mean);
        if (whole <= 0 || !rocl_datum_has_value(rocl_table_cell(t, i, low)) ||
            !(rocl_cell_number(t, i, low) < 0 || rocl_cell_number(t, i, high) > 0))
            continue; /* unknown, or no change at all */
        rows[n++] = i;
        /* A very wide interval may be cut off: its end says no more. */
        from = fmin(from, fmax(100 * rocl_cell_number(t, i, low) / whole, -100));
        to = fmax(to, fmin(100 * rocl_cell_number(t, i, high) / whole, 200));
        from = fmin(from, fmax(100 * rocl_cell_number(t, i, change) / whole, -100));
        to = fmax(to, fmin(100 * rocl_cell_number(t, i, change) / whole, 1000));
    }
    const double margin = (to - from) * 0.03;
    const rocl_axis axis = {from - margin, to + margin, ROCL_UNIT_PERCENT, false};
    if (to <= from || !rocl_figure_open(&f, b, n, FIGURE_BAR, &axis))
        return;
    for (size_t i = 0; i < n; i++)
        rocl_figure_put_label_before(&f.full[i], t, rows[i], rocl_table_find_column(t, "status"));
    if (!rocl_figure_begin(&f, t->title))
        return;
    rocl_figure_put_legend(&f, legend, 3);
    for (size_t i = 0; i < n; i++) {
        const double whole = rocl_cell_number(t, rows[i], mean) / 100;
        const double v = rocl_cell_number(t, rows[i], change) / whole;
        const bool sure = rocl_datum_is(rocl_table_cell(t, rows[i], significant), "yes");
        const char *colour = legend[!sure ? 2 : v > 0 ? 0 : 1].colour;
        const double zero = rocl_axis_x(&axis, 0), y = FIGURE_BAR / 2.0;
        rocl_figure_begin_row(&f);
        rocl_html_put(b, "<path class=\"w\" d=\"M%.1f 0V%d\"/>", zero, FIGURE_BAR);
        rocl_html_put(b, "<path class=\"line %s\" d=\"M%.1f %.1fH%.1f\"/>", colour,
                      rocl_axis_x(&axis, rocl_cell_number(t, rows[i], low) / whole), y,
                      rocl_axis_x(&axis, rocl_cell_number(t, rows[i], high) / whole));
        rocl_html_put(b, "<path class=\"dot %s\" d=\"M%.1f %.1fh0\"/>", colour,
                      rocl_axis_x(&axis, v), y);
        rocl_figure_end_plot(&f);
        rocl_html_put(b, "%s%.1f %%", v > 0 ? "+" : "", v);
        rocl_figure_end_row(&f);
    }
    rocl_figure_end(&f,
                    "change of the mean in percent of A, and the interval in which it is with a "
                    "probability of 99 %");
}
