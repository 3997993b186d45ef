/* Which picture a table has: bars for what adds up by name, stacked bars for pieces of a whole,
 * areas over time, points, a histogram. Those of comparisons are in compare.c, of ranks in ranks.c.
 * The numbers are in the table below the picture. */
#include "table/html/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/kernel_class.h"

enum { AREA = 48, PLANE = 320, MOST_PIECES = 8 };

static const rocl_axis percent_axis = {0, 100, ROCL_UNIT_PERCENT, false};

/* ---- classes of kernels ---------------------------------------------------------------------- */

/* The column "class" of a table of kernels; column_count: it has none. */
static size_t class_column(const rocl_table *t)
{
    /* Tables of gaps and of the critical path have classes of something else. */
    const bool of_kernels = !strstr(t->key, "gap") && strncmp(t->key, "critical_path", 13) != 0;
    return of_kernels ? rocl_table_find_column(t, "class") : t->column_count;
}

/* ROCL_CLASSES: the row has none, such as the row that stands for the rest. */
static unsigned class_of(const rocl_table *t, size_t row, size_t column)
{
    for (unsigned c = 0; column < t->column_count && t->classes && c < ROCL_CLASSES; c++)
        if (t->classes[c] && rocl_datum_is(rocl_table_cell(t, row, column), t->classes[c]))
            return c;
    return ROCL_CLASSES;
}

static const char *const class_colours[] = {"k0",  "k1",  "k2",  "k3",  "k4",  "k5",
                                            "k6",  "k7",  "k8",  "k9",  "k10", "k11",
                                            "k12", "k13", "k14", "k15", "c4"};
_Static_assert(sizeof class_colours / sizeof *class_colours == ROCL_CLASSES + 1,
               "each class has a colour in page.css");

/* A legend of the classes that these rows have, in the order of classes. */
static void put_class_legend(rocl_figure *f, const rocl_table *t, const size_t *rows, size_t n)
{
    const size_t column = class_column(t);
    bool used[ROCL_CLASSES + 1] = {false};
    rocl_legend legend[ROCL_CLASSES + 1];
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        used[class_of(t, rows[i], column)] = true;
    for (unsigned c = 0; c <= ROCL_CLASSES; c++)
        if (used[c])
            legend[count++] = (rocl_legend){
                class_colours[c], c < ROCL_CLASSES ? t->classes[c] : "of several classes"};
    rocl_figure_put_legend(f, legend, count);
}

/* ---- bars ------------------------------------------------------------------------------------ */

/* Bars of these rows. `where`: a further column of their labels, or column_count. */
static void put_bars_of(rocl_buf *b, const rocl_table *t, size_t column, const size_t *rows,
                        size_t n, size_t where, const char *axis_title)
{
    const size_t class = class_column(t);
    double largest = 0;
    rocl_figure f;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, rocl_cell_length(t, rows[i], column));
    const rocl_axis axis = {0, largest, t->columns[column].unit, false};
    if (largest <= 0 || !rocl_figure_open(&f, b, n, FIGURE_BAR, &axis))
        return;
    for (size_t i = 0; i < n; i++) {
        rocl_figure_put_label(&f.full[i], t, rows[i]);
        if (where < t->column_count) {
            rocl_buf_str(&f.full[i], " · ");
            rocl_cell_put_displayed(&f.full[i], t, rocl_table_cell(t, rows[i], where), where);
        }
    }
    if (!rocl_figure_begin(&f, t->title))
        return;
    if (class < t->column_count)
        put_class_legend(&f, t, rows, n);
    for (size_t i = 0; i < n; i++) {
        rocl_figure_begin_row(&f);
        rocl_figure_put_rect(
            b, class < t->column_count ? class_colours[class_of(t, rows[i], class)] : "c0", 0,
            rocl_axis_x(&axis, rocl_cell_length(t, rows[i], column)), FIGURE_BAR);
        rocl_buf_str(b, "</rect>");
        rocl_figure_end_plot(&f);
        rocl_html_put_cell(b, t, rows[i], column);
        rocl_figure_end_row(&f);
    }
    rocl_figure_end(&f, axis_title);
}

static void put_bars(rocl_buf *b, const rocl_table *t, size_t column, size_t most)
{
    size_t rows[FIGURE_MOST_BARS] = {0}, n = 0;
    for (; n < t->row_count && n < most && n < FIGURE_MOST_BARS; n++)
        rows[n] = n;
    put_bars_of(b, t, column, rows, n, t->column_count,
                n < t->row_count && n < most ? "the first rows of the table" : NULL);
}

static int compare_gaps(const void *a, const void *b, void *table)
{
    const rocl_table *t = table;
    const size_t column = rocl_table_find_column(t, "gap_ns");
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const double u = rocl_cell_length(t, x, column), v = rocl_cell_length(t, y, column);
    return u > v ? -1 : u < v ? 1 : x < y ? -1 : x > y;
}

/* The table is ordered by GPU; the picture has the longest gaps of all GPUs. */
static void put_longest_gaps(rocl_buf *b, const rocl_table *t)
{
    size_t *rows = malloc((t->row_count + 1) * sizeof *rows);
    b->failed |= !rows;
    for (size_t i = 0; rows && i < t->row_count; i++)
        rows[i] = i;
    if (rows) {
        qsort_r(rows, t->row_count, sizeof *rows, compare_gaps, (void *)(uintptr_t)t);
        put_bars_of(b, t, rocl_table_find_column(t, "gap_ns"), rows,
                    t->row_count < FIGURE_MOST_BARS ? t->row_count : FIGURE_MOST_BARS,
                    rocl_table_find_column(t, "start_ns"),
                    t->row_count > FIGURE_MOST_BARS ? "the longest of the table" : NULL);
    }
    free(rows);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* Rows as points, by two columns on logarithmic axes. Rows where either is 0 are left out. */
typedef struct point_plot {
    const char *x, *y; /* columns */
    const char *title, *y_title, *x_title;
    const char *text;    /* of a point, with columns in braces */
    const char *of_peak; /* a column of percents: a line from each point ends at 100; or NULL */
    const char
        *colours_by; /* column whose texts are those of the legend; NULL: classes of kernels */
    rocl_legend legend[8]; /* other texts have the colour of the last */
    bool totals;           /* x times y is a total: lines where it is a power of 10 */
} point_plot;

static unsigned colour_of(const rocl_table *t, size_t row, const point_plot *p)
{
    const size_t column = rocl_table_find_column(t, p->colours_by);
    unsigned k = 0;
    while (p->legend[k + 1].title &&
           !rocl_datum_is(rocl_table_cell(t, row, column), p->legend[k].title))
        k++;
    return k;
}

static void put_points_legend(rocl_figure *f, const rocl_table *t, const point_plot *p,
                              const size_t *rows, size_t n)
{
    bool used[sizeof p->legend / sizeof *p->legend] = {false};
    rocl_legend legend[sizeof p->legend / sizeof *p->legend];
    size_t count = 0;
    if (!p->colours_by) {
        put_class_legend(f, t, rows, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        used[colour_of(t, rows[i], p)] = true;
    for (size_t k = 0; k < sizeof used / sizeof *used; k++)
        if (used[k])
            legend[count++] = p->legend[k];
    rocl_figure_put_legend(f, legend, count);
}

/* A point is a line of no length with round ends, which stays round however the plot is stretched.
 */
static void put_points(rocl_buf *b, const rocl_table *t, const point_plot *p)
{
    enum { MOST_POINTS = 1000 };
    const size_t x = rocl_table_find_column(t, p->x), y = rocl_table_find_column(t, p->y);
    const size_t class = p->colours_by ? t->column_count : class_column(t);
    const size_t share = p->of_peak ? rocl_table_find_column(t, p->of_peak) : t->column_count;
    double from = INFINITY, to = 0, least = INFINITY, most = 0;
    size_t *rows = malloc((t->row_count + 1) * sizeof *rows), n = 0;
    rocl_figure f;
    b->failed |= !rows;
    for (size_t i = 0; rows && i < t->row_count && n < MOST_POINTS; i++) {
        const double across = rocl_cell_length(t, i, x), up = rocl_cell_length(t, i, y);
        if (across <= 0 || up <= 0 || (!p->colours_by && class_of(t, i, class) == ROCL_CLASSES))
            continue;
        const double percent = rocl_cell_length(t, i, share);
        rows[n++] = i;
        from = fmin(from, across);
        to = fmax(to, across);
        least = fmin(least, up);
        most = fmax(most, percent > 0 ? fmax(up, up * 100 / percent) : up);
    }
    /* Room for the points at the edges, and a decade at least. */
    const rocl_axis axis = {from / 1.5, fmax(to, from * 10) * 1.5, t->columns[x].unit, true};
    const rocl_axis upright = {least / 1.5, fmax(most, least * 10) * 1.5, t->columns[y].unit, true};
    if (n < (p->totals ? 2u : 1u) || !rocl_figure_open(&f, b, 1, PLANE, &axis)) {
        free(rows);
        return;
    }
    f.upright = &upright;
    rocl_buf_str(&f.full[0], p->y_title);
    if (rocl_figure_begin(&f, p->title)) {
        put_points_legend(&f, t, p, rows, n);
        rocl_figure_begin_row(&f);
        if (p->totals) {
            /* Dashed lines on which x times y is a power of 10. */
            rocl_buf_str(b, "<path class=\"w\" d=\"");
            for (double v = pow(10, ceil(log10(axis.from * upright.from)));
                 v < axis.to * upright.to; v *= 10) {
                const double first = fmax(axis.from, v / upright.to);
                const double last = fmin(axis.to, v / upright.from);
                rocl_html_put(b, "M%.1f %.1fL%.1f %.1f", rocl_axis_x(&axis, first),
                              rocl_axis_y(&upright, v / first, PLANE), rocl_axis_x(&axis, last),
                              rocl_axis_y(&upright, v / last, PLANE));
            }
            rocl_buf_str(b, "\"/>");
        }
        for (size_t i = n; i-- > 0;) { /* backwards: the first rows are on top */
            const double up = rocl_cell_length(t, rows[i], y),
                         percent = rocl_cell_length(t, rows[i], share);
            const double at = rocl_axis_x(&axis, rocl_cell_length(t, rows[i], x));
            if (percent > 0)
                rocl_html_put(b, "<path class=\"w\" d=\"M%.1f %.1fV%.1f\"/>", at,
                              rocl_axis_y(&upright, up, PLANE),
                              rocl_axis_y(&upright, up * 100 / percent, PLANE));
            rocl_html_put(b, "<path class=\"dot %s\" d=\"M%.1f %.1fh0\"><title>",
                          p->colours_by ? p->legend[colour_of(t, rows[i], p)].colour
                                        : class_colours[class_of(t, rows[i], class)],
                          at, rocl_axis_y(&upright, up, PLANE));
            /* "{name}: {calls} calls" with the cells of a row. */
            const char *text = p->text;
            for (const char *open; (open = strchr(text, '{'));) {
                char key[32];
                const char *close = strchr(open, '}');
                rocl_html_put(b, "%.*s", (int)(open - text), text);
                snprintf(key, sizeof key, "%.*s", (int)(close - open - 1), open + 1);
                rocl_html_put_cell(b, t, rows[i], rocl_table_find_column(t, key));
                text = close + 1;
            }
            rocl_buf_str(b, text);
            rocl_buf_str(b, "</title></path>");
        }
        rocl_figure_end_plot(&f);
        rocl_figure_end_row(&f);
        char title[200];
        snprintf(title, sizeof title, "%s%s", p->x_title,
                 n == MOST_POINTS ? "; the first 1000 rows" : "");
        rocl_figure_end(&f, title);
    }
    free(rows);
}

/* Operators by operations per byte and operations per second. If peaks are known, a line from each
 * point ends at what the GPU could do there. */
static void put_roofline(rocl_buf *b, const rocl_table *t)
{
    point_plot p = {"flops_per_byte",
                    "tflops_per_s",
                    "Operators by operations for each byte, and by operations a second",
                    "TFLOP/s",
                    "operations for each byte",
                    "{name} {shapes}: {tflops_per_s} TFLOP/s, {flops_per_byte} FLOP/B",
                    .colours_by = "type",
                    .legend = {{"q7", "fp64"},
                               {"q0", "fp32"},
                               {"q2", "fp16"},
                               {"q1", "bf16"},
                               {"q4", "fp8"},
                               {"q6", "int8"}}};
    if (rocl_table_find_column(t, "peak_percent") < t->column_count) {
        p.of_peak = "peak_percent";
        p.x_title = "operations for each byte; a line ends at what the GPU could do";
    }
    put_points(b, t, &p);
}

static void put_collectives(rocl_buf *b, const rocl_table *t)
{
    static const point_plot p = {
        "bytes",
        "bus_bandwidth",
        "Collectives by size and bandwidth",
        "Bus bandwidth",
        "bytes of a rank",
        "{collective} of {ranks} ranks, {bytes}: {bus_bandwidth} on the bus, "
        "{count} times, mean wait {wait_ns}",
        .colours_by = "collective",
        .legend = {{"q0", "allreduce"},
                   {"q1", "allgather"},
                   {"q2", "reducescatter"},
                   {"q4", "alltoall"},
                   {"q6", "broadcast"},
                   {"q7", "others"}}};
    put_points(b, t, &p);
}

/* ---- charts that are rows of a table --------------------------------------------------------- */

/* A piece of a row: the column `key`, plus the column `more`, less the column `less`. */
typedef struct piece {
    const char *colour, *title, *key, *more, *less;
} piece;

/* What is drawn of a table. */
typedef struct chart {
    const char *table;
    enum {
        OF_ITS_OWN,     /* by `put` */
        STACKS,         /* a bar of 100 % for each row, made of its pieces */
        GROUPS,         /* a bar of 100 % for rows that are equal before the column `by` */
        AREAS_OF_SLICE, /* the pieces of each slice of time; its length is the full height */
        AREAS_OF_ALL,   /* the full height is the largest first piece of all rows */
        AREAS_OF_ONE,   /* or of the rows of the area: their units differ */
        BARS            /* the column `value` */
    } kind;
    void (*put)(rocl_buf *, const rocl_table *);
    piece pieces[MOST_PIECES];
    const char *by, *value; /* columns */
    const char *unit;       /* stands after what is in `by` */
    const char *colours;    /* with the number of a group of `by` */
} chart;

static size_t count_pieces(const chart *c)
{
    size_t n = 0;
    while (n < MOST_PIECES && c->pieces[n].colour)
        n++;
    return n;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static double length_of(const rocl_table *t, size_t row, const piece *p)
{
    const double v = rocl_cell_length(t, row, rocl_table_find_column(t, p->key));
    const double more = p->more ? rocl_cell_length(t, row, rocl_table_find_column(t, p->more)) : 0;
    const double less = p->less ? rocl_cell_length(t, row, rocl_table_find_column(t, p->less)) : 0;
    return fmax(v + more - less, 0);
}

/* The title of the axis says which share is on the right. */
static void end_stacks(rocl_figure *f, const char *first)
{
    char title[96];
    snprintf(title, sizeof title, "on the right the share of: %s", first);
    rocl_figure_end(f, title);
}

/* A stacked bar of 100 %, and the share of its first piece as the value. */
static void put_stack(rocl_figure *f, const double *v, const rocl_legend *legend, size_t n)
{
    double sum = 0, x = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    rocl_figure_begin_row(f);
    for (size_t i = 0; i < n && sum > 0; i++) {
        const double width = v[i] / sum * FIGURE_WIDTH;
        if (width > 0) {
            rocl_figure_put_rect(f->b, legend[i].colour, x, x + width, f->height);
            rocl_html_put(f->b, "<title>%s: %.1f %%</title></rect>", legend[i].title,
                          v[i] / sum * 100);
        }
        x += width;
    }
    rocl_figure_end_plot(f);
    if (sum > 0)
        rocl_html_put(f->b, "%.1f %%", v[0] / sum * 100);
    rocl_figure_end_row(f);
}

static void put_stacks(rocl_buf *b, const rocl_table *t, const chart *c)
{
    const size_t n = count_pieces(c);
    size_t rows[FIGURE_MOST_ROWS] = {0}, count = 0;
    rocl_legend legend[MOST_PIECES];
    rocl_figure f;
    for (; count < t->row_count && count < FIGURE_MOST_ROWS; count++)
        rows[count] = count;
    for (size_t i = 0; i < n; i++)
        legend[i] = (rocl_legend){c->pieces[i].colour, c->pieces[i].title};
    double all = 0;
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < n; i++)
            all += length_of(t, r, &c->pieces[i]);
    if (all <= 0 || !rocl_figure_begin_table(&f, b, t, rows, count, FIGURE_BAR, &percent_axis))
        return;
    rocl_figure_put_legend(&f, legend, n);
    for (size_t r = 0; r < count; r++) {
        double v[MOST_PIECES];
        for (size_t i = 0; i < n; i++)
            v[i] = length_of(t, r, &c->pieces[i]);
        put_stack(&f, v, legend, n);
    }
    end_stacks(&f, legend[0].title);
}

static bool is_same_group(const rocl_table *t, size_t a, size_t b, size_t past)
{
    for (size_t c = 0; c < past; c++)
        if (!rocl_cell_is_same(t, a, b, c))
            return false;
    return true;
}

/* Rows below the pieces that are none of the whole. */
static bool is_left_out(const rocl_datum *d)
{
    return rocl_datum_is(d, "tail");
}

/* The key that pieces are sorted by, if they are numbers or lengths ("< 10 us", ">= 1 s"); 0 for
 * others, which stay in order of appearance. */
static double order_of_piece(const rocl_table *t, size_t row, size_t column)
{
    const rocl_datum *d = rocl_table_cell(t, row, column);
    char text[24] = "", sign[3], unit[3];
    double v;
    if (rocl_column_is_number(&t->columns[column]))
        return rocl_cell_length(t, row, column);
    if (d->type == ROCL_DATUM_TEXT && d->len < sizeof text)
        memcpy(text, d->text, d->len);
    if ((*text != '<' && *text != '>') || sscanf(text, "%2s %lf %2s", sign, &v, unit) != 3)
        return 0;
    v *= !strcmp(unit, "us") ? 1e3 : !strcmp(unit, "ms") ? 1e6 : 1e9;
    return *sign == '>' ? v + 1 : v;
}

/* A bar for each run of rows that are equal in all columns before `by`. Its pieces are the values
 * of that column; those beyond MOST_PIECES count as the last one. */
static void put_groups(rocl_buf *b, const rocl_table *t, const chart *c)
{
    const size_t column = rocl_table_find_column(t, c->by);
    const size_t value = rocl_table_find_column(t, c->value);
    size_t rows[FIGURE_MOST_ROWS], count = 0, pieces = 0, first[MOST_PIECES];
    char names[MOST_PIECES][64], classes[MOST_PIECES][16];
    rocl_legend legend[MOST_PIECES];
    rocl_figure f;
    if (column == t->column_count || value == t->column_count)
        return;
    for (size_t i = 0; i < t->row_count && count < FIGURE_MOST_ROWS; i++)
        if ((!i || !is_same_group(t, i, i - 1, column)) &&
            !is_left_out(rocl_table_cell(t, i, column)))
            rows[count++] = i;
    for (size_t i = 0; i < t->row_count; i++) {
        size_t k = 0;
        while (k < pieces && !rocl_cell_is_same(t, first[k], i, column))
            k++;
        if (k < pieces || pieces == MOST_PIECES || is_left_out(rocl_table_cell(t, i, column)))
            continue;
        for (; k && order_of_piece(t, first[k - 1], column) > order_of_piece(t, i, column); k--)
            first[k] = first[k - 1];
        first[k] = i;
        pieces++;
    }
    for (size_t k = 0; k < pieces; k++) {
        rocl_buf name = {0};
        rocl_datum_put_displayed(&name, rocl_table_cell(t, first[k], column),
                                 t->columns[column].unit);
        snprintf(names[k], sizeof names[k], "%.*s%s", (int)(name.len < 40 ? name.len : 40),
                 name.len ? (const char *)name.data : "", c->unit);
        rocl_buf_free_into(&name, b);
        snprintf(classes[k], sizeof classes[k], "%s%u", c->colours, (uint8_t)k);
        legend[k] = (rocl_legend){classes[k], names[k]};
    }
    if (!pieces || !rocl_figure_open(&f, b, count, FIGURE_BAR, &percent_axis))
        return;
    for (size_t r = 0; r < count; r++)
        rocl_figure_put_label_before(&f.full[r], t, rows[r], column);
    if (!rocl_figure_begin(&f, t->title))
        return;
    rocl_figure_put_legend(&f, legend, pieces);
    for (size_t r = 0; r < count; r++) {
        double v[MOST_PIECES] = {0};
        for (size_t i = rows[r]; i < t->row_count && is_same_group(t, i, rows[r], column); i++) {
            size_t k = 0;
            while (k + 1 < pieces && !rocl_cell_is_same(t, first[k], i, column))
                k++;
            if (!is_left_out(rocl_table_cell(t, i, column)))
                v[k] += rocl_cell_length(t, i, value);
        }
        put_stack(&f, v, legend, pieces);
    }
    end_stacks(&f, legend[0].title);
}

/* ---- over time ------------------------------------------------------------------------------- */

/* The end of the rows from `from` on that are slices of one GPU, agent or link, and of one rank if
 * there are ranks. */
static size_t end_of_area(const rocl_table *t, size_t from)
{
    size_t to = from + 1, rank = rocl_table_find_column(t, "rank"), texts = 1;
    while (texts < t->column_count && t->columns[texts].unit == ROCL_UNIT_TEXT)
        texts++;
    while (to < t->row_count && is_same_group(t, from, to, texts) &&
           rocl_cell_length(t, from, rank) == rocl_cell_length(t, to, rank))
        to++;
    return to;
}

/* The row in [from, to) with the largest value of a column. */
static size_t find_largest(const rocl_table *t, size_t from, size_t to, size_t column)
{
    size_t largest = from;
    for (size_t i = from; i < to; i++)
        if (rocl_cell_length(t, i, column) > rocl_cell_length(t, largest, column))
            largest = i;
    return largest;
}

/* Pieces are stacked: each begins at the height where the one before it ends. */
static void put_areas(rocl_buf *b, const rocl_table *t, const chart *c)
{
    const size_t n = count_pieces(c);
    const size_t begin = rocl_table_find_column(t, "start_ns");
    const size_t end = rocl_table_find_column(t, "end_ns");
    const size_t first = rocl_table_find_column(t, c->pieces[0].key);
    size_t rows[FIGURE_MOST_ROWS], count = 0;
    double first_begin = INFINITY, last = -INFINITY;
    rocl_legend legend[MOST_PIECES];
    rocl_figure f;
    for (size_t from = 0, to; from < t->row_count && count < FIGURE_MOST_ROWS; from = to) {
        to = end_of_area(t, from);
        rows[count++] = from;
        first_begin = fmin(first_begin, rocl_cell_length(t, from, begin));
        last = fmax(last, rocl_cell_length(t, to - 1, end));
    }
    const double origin = (double)t->origin;
    const rocl_axis axis = {first_begin - origin, last - origin, ROCL_UNIT_NS, false};
    const int height = c->kind == AREAS_OF_SLICE ? AREA : FIGURE_HIGH_AREA;
    if (last <= first_begin || !rocl_figure_begin_table(&f, b, t, rows, count, height, &axis))
        return;
    for (size_t k = 0; k < n; k++)
        legend[k] = (rocl_legend){c->pieces[k].colour, c->pieces[k].title};
    rocl_figure_put_legend(&f, legend, n);
    const size_t most = find_largest(t, 0, t->row_count, first);
    for (size_t r = 0; r < count; r++) {
        const size_t to = end_of_area(t, rows[r]);
        const size_t largest = c->kind == AREAS_OF_ONE ? find_largest(t, rows[r], to, first) : most;
        const double full = rocl_cell_length(t, largest, first);
        const rocl_axis upright =
            c->kind == AREAS_OF_SLICE
                ? percent_axis
                : (rocl_axis){0, full > 0 ? full : 1, t->columns[first].unit, false};
        f.upright = &upright;
        rocl_figure_begin_row(&f);
        for (size_t k = 0; k < n; k++) {
            /* The outline of piece `k`, as steps. Slices in which it is 0 are left out. */
            const rocl_axis unit = {0, 1, ROCL_UNIT_PERCENT, false};
            char points[96]; /* the bulk of a page: one printf for all four numbers */
            rocl_html_put(b, "<path class=\"%s\" d=\"", c->pieces[k].colour);
            for (size_t i = rows[r]; i < to; i++) {
                const double from = rocl_cell_length(t, i, begin);
                const double past = rocl_cell_length(t, i, end);
                const double x = rocl_axis_x(&axis, from - origin);
                const double next = rocl_axis_x(&axis, past - origin);
                const double whole = c->kind == AREAS_OF_SLICE ? past - from : full;
                double below = 0;
                for (size_t p = 0; p < k; p++)
                    below += length_of(t, i, &c->pieces[p]);
                const double top = below + length_of(t, i, &c->pieces[k]);
                if (whole <= 0 || top <= below)
                    continue;
                snprintf(points, sizeof points, "M%.1f %.1fH%.1fV%.1fH%.1fz", x,
                         rocl_axis_y(&unit, below / whole, height), next,
                         rocl_axis_y(&unit, top / whole, height), x);
                rocl_buf_str(b, points);
            }
            rocl_buf_str(b, "\"/>");
        }
        rocl_figure_end_plot(&f);
        if (c->kind != AREAS_OF_SLICE)
            rocl_html_put_cell(b, t, find_largest(t, rows[r], to, first), first);
        rocl_figure_end_row(&f);
    }
    rocl_figure_end_over_time(&f, t);
}

/* ---- durations ------------------------------------------------------------------------------- */

/* A row for each name, with a bar for each bin of durations, as high as its share of the calls. */
static void put_histogram(rocl_buf *b, const rocl_table *t)
{
    const size_t from = rocl_table_find_column(t, "from_ns"),
                 to = rocl_table_find_column(t, "to_ns");
    const size_t calls = rocl_table_find_column(t, "count");
    size_t rows[FIGURE_MOST_BARS], count = 0;
    double least = INFINITY, most = 0;
    rocl_figure f;
    for (size_t i = 0; i < t->row_count; i++) {
        const bool first = !i || !rocl_cell_is_same(t, i, i - 1, 0);
        if (first && count == FIGURE_MOST_BARS)
            break;
        if (first)
            rows[count++] = i;
        least = fmin(least, fmax(rocl_cell_length(t, i, from), 1));
        most = fmax(most, rocl_cell_length(t, i, to));
    }
    const rocl_axis axis = {least, most, ROCL_UNIT_NS, true};
    const size_t class = class_column(t);
    if (most <= least || !rocl_figure_begin_table(&f, b, t, rows, count, AREA, &axis))
        return;
    put_class_legend(&f, t, rows, count);
    for (size_t r = 0; r < count; r++) {
        double largest = 0, sum = 0;
        size_t end = rows[r];
        for (; end < t->row_count && rocl_cell_is_same(t, rows[r], end, 0); end++) {
            largest = fmax(largest, rocl_cell_length(t, end, calls));
            sum += rocl_cell_length(t, end, calls);
        }
        const rocl_axis upright = {0, sum > 0 ? largest / sum * 100 : 100, ROCL_UNIT_PERCENT,
                                   false};
        f.upright = &upright;
        rocl_figure_begin_row(&f);
        for (size_t i = rows[r]; i < end && largest > 0; i++) {
            const double x = rocl_axis_x(&axis, fmax(rocl_cell_length(t, i, from), 1));
            const double y = rocl_axis_y(&upright, rocl_cell_length(t, i, calls) / sum * 100, AREA);
            rocl_html_put(b,
                          "<rect class=\"%s\" x=\"%.1f\" width=\"%.1f\" y=\"%.1f\" "
                          "height=\"%.1f\"><title>",
                          class_colours[class_of(t, rows[r], class)], x + 1,
                          fmax(rocl_axis_x(&axis, rocl_cell_length(t, i, to)) - x - 2, 1), y,
                          AREA - y);
            rocl_html_put_cell(b, t, i, from);
            rocl_buf_str(b, " to ");
            rocl_html_put_cell(b, t, i, to);
            rocl_html_put(b, ": %.0f calls</title></rect>", rocl_cell_length(t, i, calls));
        }
        rocl_figure_end_plot(&f);
        rocl_html_put(b, "%.0f calls", sum);
        rocl_figure_end_row(&f);
    }
    rocl_figure_end(&f, "duration of a call; upright: share of the calls of the name");
}

/* ---- which chart ----------------------------------------------------------------------------- */

static const chart charts[] = {
    {"timeline", AREAS_OF_SLICE,
     .pieces = {{"c0", "kernels alone", .key = "busy_ns", .less = "copy_ns"},
                {"c2", "kernels and copies", "kernel_ns", .more = "copy_ns", .less = "busy_ns"},
                {"c1", "copies alone", .key = "busy_ns", .less = "kernel_ns"}}},
    {"memory_timeline", AREAS_OF_ALL,
     .pieces = {{"c0", "memory in use at most; its peak on the right", "peak_bytes"}}},
    {"rank_times", .put = rocl_html_put_rank_times},
    {"steps", .put = rocl_html_put_rank_cells},
    {"overlap", STACKS,
     .pieces = {{"c0", "compute", .key = "compute_ns"},
                {"c3", "exposed communication", .key = "exposed_communication_ns"},
                {"c1", "exposed copies", .key = "exposed_copy_ns"},
                {"c4", "idle", .key = "idle_ns"}}},
    {"launch", STACKS,
     .pieces = {{"q5", "delay", .key = "delay_average_ns"},
                {"q3", "call", .key = "call_average_ns"},
                {"q0", "kernel", .key = "kernel_average_ns"}}},
    {"concurrency", GROUPS, .by = "kernels", .value = "time_ns", .unit = " at once",
     .colours = "s"},
    {"gap_classes", GROUPS, .by = "class", .value = "total_ns", .unit = "", .colours = "q"},
    {"gap_buckets", GROUPS, .by = "bucket", .value = "total_ns", .unit = "", .colours = "s"},
    {"longest_gaps", .put = put_longest_gaps},
    {"histogram", .put = put_histogram},
    {"compare", .put = rocl_html_put_changes},
    {"compare_causes", .put = rocl_html_put_changes},
    {"compare_sequence", .put = rocl_html_put_changes},
    {"compare_steps", .put = rocl_html_put_compared_steps},
    {"compare_runs", .put = rocl_html_put_run_changes},
    {"sample_timeline", AREAS_OF_ONE,
     .pieces = {{"c0", "mean; the largest on the right", .key = "mean"}}},
    {"energy", STACKS,
     .pieces = {{"c0", "energy while kernels ran", .key = "kernel_joules"},
                {"c1", "copies alone", .key = "copy_joules"},
                {"c4", "idle", .key = "idle_joules"}}},
    {"kernel_energy", BARS, .value = "joules"},
    {"roofline", .put = put_roofline},
    {"collectives", .put = put_collectives},
    {"critical_path_what_if", BARS, .value = "saved_ns"},
    {"critical_path_ranks", STACKS,
     .pieces = {{"q4", "waiting for another rank", .key = "elsewhere_ns"},
                {"q0", "kernels", .key = "kernel_ns"},
                {"q1", "communication", .key = "communication_ns"},
                {"q2", "copies", .key = "copy_ns"},
                {"q3", "host", .key = "host_ns", .more = "outside_ns"},
                {"q5", "launch", .key = "launch_ns"},
                {"q6", "behind other work, return from waiting", "queue_ns", "return_ns"},
                {"q7", "not explained, before the trace", "unexplained_ns", "before_ns"}}},
    {"attribution_tree", .put = rocl_html_put_flame}};

void rocl_html_put_chart(rocl_buf *b, const rocl_table *t, size_t most)
{
    static const char *const bars[] = {"own_ns", "total_ns",   "time_ns",       "busy_ns",
                                       "gap_ns", "peak_bytes", "total_wait_ns", "exposed_ns"};
    /* The time of kernels, and how it is made up of calls and their duration. Equal totals are on
     * straight lines from upper left to lower right: points far to the upper right are worth
     * optimising. */
    static const point_plot kernels = {
        "average_ns",
        "calls",
        "Kernels by duration and number of calls",
        "Calls",
        "average duration of a call; on a dashed line the totals are equal, "
        "10 times more on the next one",
        "{name}: {calls} calls of {average_ns}, {total_ns} in total",
        .totals = true};
    const chart *c = NULL;
    for (size_t i = 0; i < sizeof charts / sizeof *charts && !c; i++)
        c = strcmp(t->key, charts[i].table) ? NULL : &charts[i];
    if (!strcmp(t->key, "kernels")) {
        put_bars(b, t, rocl_table_find_column(t, "total_ns"), most);
        if (most > FIGURE_MOST_BARS)
            put_points(b, t, &kernels);
    } else if (!c) {
        for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
            const size_t column = rocl_table_find_column(t, bars[i]);
            if (column < t->column_count) {
                put_bars(b, t, column, most);
                return;
            }
        }
    } else if (c->kind == OF_ITS_OWN) {
        c->put(b, t);
    } else if (c->kind == BARS) {
        put_bars(b, t, rocl_table_find_column(t, c->value), FIGURE_MOST_BARS);
    } else {
        (c->kind == STACKS ? put_stacks : c->kind == GROUPS ? put_groups : put_areas)(b, t, c);
    }
}
