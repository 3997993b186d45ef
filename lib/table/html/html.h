/* The report as one HTML file, private to lib/table/html/: nothing is loaded from anywhere.
 *
 *     page.c              tabs and tables
 *     overview.c          the first tab: what was traced, and what matters of the other tabs
 *     chart.c             the picture above a table: which one, and most of them
 *     compare.c           those of comparisons of two sides
 *     flame.c             that of a tree
 *     figure.c            what pictures are made of: rows, axes, legends
 *     put.c               text and numbers as HTML
 *     page.css, page.js   what the page looks like, and what it does
 *
 * A figure is a grid of rows: a label, a plot, a value. Plots are SVG, FIGURE_WIDTH units wide
 * whatever the width of the page is: they are stretched, while all text is HTML and is not. On a
 * narrow page labels stand above their plots. */
#pragma once

#include "table/format.h"

/* A panel that is not made of tables. */
typedef struct rocl_html_panel {
    const char *id, *title;
    const char *of;                    /* the files of the trace, if no table names them */
    bool front;                        /* it comes before the overview */
    const char *style, *script, *hash; /* the hash is that of the script: SHA-256 in base64 */
    rocl_status (*put)(void *ctx, rocl_out *out, rocl_error *err); /* writes what is in it */
    void *ctx;
} rocl_html_panel;

/* Writes the page of some tables, or of none, with a panel. */
rocl_status rocl_html_write_page(const rocl_tables *t, const rocl_html_panel *panel, rocl_out *out,
                                 rocl_error *err);

/* A printf that knows %s, %.*s, %d, %.Nf and %%. The format is HTML; texts are escaped. */
void rocl_html_put(rocl_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A cell as people read it, escaped. */
void rocl_html_put_cell(rocl_buf *b, const rocl_table *t, size_t row, size_t column);

/* A picture of the table, if its kind has one; else nothing. At most `most` rows of bars. */
void rocl_html_put_chart(rocl_buf *b, const rocl_table *t, size_t most);

/* The picture of a tree. */
void rocl_html_put_flame(rocl_buf *b, const rocl_table *t);
/* Heat maps of ranks: the times of each name, and of each step or slice of time. */
void rocl_html_put_rank_times(rocl_buf *b, const rocl_table *t);
void rocl_html_put_rank_cells(rocl_buf *b, const rocl_table *t);

/* Charts of comparisons, by table: compare, compare_causes and compare_sequence; compare_steps;
 * compare_runs. */
void rocl_html_put_changes(rocl_buf *b, const rocl_table *t);
void rocl_html_put_compared_steps(rocl_buf *b, const rocl_table *t);
void rocl_html_put_run_changes(rocl_buf *b, const rocl_table *t);

/* The panel of the first tab. */
void rocl_html_put_overview(rocl_table_writer *w);

/* ---- figure.c -------------------------------------------------------------------------------- */

enum { FIGURE_WIDTH = 1000, FIGURE_TICKS = 12 };
/* Heights of plots: bars, and areas or lines that want more room. */
enum { FIGURE_BAR = 16, FIGURE_HIGH_AREA = 96 };
/* Rows of a figure at most, where it says nothing else: of bars by name, and of GPUs or ranks. */
enum { FIGURE_MOST_BARS = 15, FIGURE_MOST_ROWS = 32 };

/* The horizontal axis of a figure: which value is where. */
typedef struct rocl_axis {
    double from, to; /* from < to */
    rocl_unit unit;
    bool log; /* decades are equally wide; 0 < from */
} rocl_axis;

/* Where a value is, from 0 to FIGURE_WIDTH. */
double rocl_axis_x(const rocl_axis *a, double v);
/* Where a value is on the upright axis of a plot: from `height`, the bottom, up to nearly 0. */
double rocl_axis_y(const rocl_axis *a, double v, int height);

/* What a colour stands for: a class of the style sheet, and its name. */
typedef struct rocl_legend {
    const char *colour, *title;
} rocl_legend;

typedef struct rocl_figure {
    rocl_buf *b;
    const rocl_axis *axis;
    const rocl_axis *upright; /* of the plot that begins next; NULL: heights measure nothing */
    rocl_buf *full, *labels;  /* labels of all rows, and as displayed: shortened */
    size_t count, next;       /* number of rows, and which is next */
    int height;               /* of the plots, in pixels and in units */
} rocl_figure;

/* The label of a row of a table: its columns before the first that measures something. */
void rocl_figure_put_label(rocl_buf *to, const rocl_table *t, size_t row);
/* Its label by the columns before `past`. */
void rocl_figure_put_label_before(rocl_buf *to, const rocl_table *t, size_t row, size_t past);

/* rocl_figure_open allocates labels for `count` rows; the caller writes them to f->full[], then
 * calls rocl_figure_begin. False: memory is out, and there is no figure. */
bool rocl_figure_open(rocl_figure *f, rocl_buf *b, size_t count, int height, const rocl_axis *axis);
bool rocl_figure_begin(rocl_figure *f, const char *title);
/* Both, for rows of a table. */
bool rocl_figure_begin_table(rocl_figure *f, rocl_buf *b, const rocl_table *t, const size_t *rows,
                             size_t count, int height, const rocl_axis *axis);
void rocl_figure_put_legend(rocl_figure *f, const rocl_legend *legend, size_t n);
/* The plot of a row is written between these two, its value between rocl_figure_end_plot and
 * rocl_figure_end_row. */
void rocl_figure_begin_row(rocl_figure *f);
void rocl_figure_end_plot(rocl_figure *f);
void rocl_figure_end_row(rocl_figure *f);
/* Begins a bar from x to `to` in a plot so high; the caller ends it with "</rect>". */
void rocl_figure_put_rect(rocl_buf *b, const char *colour, double x, double to, int height);
/* Writes the axis and its title (NULL: none), and frees what the figure holds. */
void rocl_figure_end(rocl_figure *f, const char *axis_title);
/* Does that for an axis of time. */
void rocl_figure_end_over_time(rocl_figure *f, const rocl_table *t);
