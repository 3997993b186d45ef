/* The report as one HTML file, private to lib/table/html/: nothing is loaded from anywhere.
 *
 *     page.c              tabs and tables
 *     overview.c          the first tab: what was traced, and what matters of the other tabs
 *     chart.c             the picture above a table
 *     flame.c             the one of a tree
 *     figure.c            what pictures are made of: rows, axes, legends
 *     put.c               text and numbers as HTML
 *     page.css, page.js   what the page looks like, and what it does
 *
 * A figure is a grid of rows: a label, a plot, a value. Plots are SVG, FIGURE_WIDTH units wide
 * whatever the width of the page is: they are stretched, while all text is HTML and is not. On a
 * narrow page labels stand above their plots. */
#ifndef ROCL_TABLE_HTML_HTML_H
#define ROCL_TABLE_HTML_HTML_H

#include "table/format.h"

/* A panel that is made of something else than tables. */
typedef struct rocl_html_panel {
    const char *id, *title;
    const char *of;                    /* the files of the trace, where no table names them */
    bool front;                        /* it is the first one, and not behind the overview */
    const char *style, *script, *hash; /* of the script: SHA-256 in base64 */
    rocl_status (*put)(void *ctx, rocl_out *out, rocl_error *err); /* writes what is in it */
    void *ctx;
} rocl_html_panel;

/* Writes the page of some tables, or of none, with a panel. */
rocl_status rocl_html_write_page(const rocl_tables *t, const rocl_html_panel *panel, rocl_out *out,
                                 rocl_error *err);

/* A printf that knows %s, %.*s, %d, %.Nf and %%. The format is HTML; in texts the characters that
 * mean something there are escaped. */
void rocl_html_put(rocl_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A cell as people read it, escaped. */
void rocl_html_put_cell(rocl_buf *b, const rocl_table *t, size_t row, size_t column);

/* A picture of the table, where one says more than its numbers; else nothing. `most`: rows of
 * bars, at most. */
void rocl_html_put_chart(rocl_buf *b, const rocl_table *t, size_t most);

/* The one of a tree. */
void rocl_html_put_flame(rocl_buf *b, const rocl_table *t);

/* The panel of the first tab. */
void rocl_html_put_overview(rocl_table_writer *w);

/* ---- figure.c -------------------------------------------------------------------------------- */

enum { FIGURE_WIDTH = 1000, FIGURE_TICKS = 12 };

/* The horizontal axis of a figure: which value is where. */
typedef struct rocl_axis {
    double from, to; /* from < to */
    rocl_unit unit;
    bool log; /* decades are equally wide; 0 < from */
} rocl_axis;

/* Of a value, from 0 to FIGURE_WIDTH. */
double rocl_axis_x(const rocl_axis *a, double v);
/* Of a value on the upright axis of a plot so high: from the bottom, `height`, up to near 0. */
double rocl_axis_y(const rocl_axis *a, double v, int height);

/* What a colour stands for: a class of the style sheet, and its name. */
typedef struct rocl_legend {
    const char *colour, *title;
} rocl_legend;

typedef struct rocl_figure {
    rocl_buf *b;
    const rocl_axis *axis;
    const rocl_axis *upright; /* of the plot that begins next; NULL: heights measure nothing */
    rocl_buf *full, *labels;  /* of all rows, and what is displayed of them */
    size_t count, next;       /* rows, and which comes next */
    int height;               /* of the plots, in pixels and in units */
} rocl_figure;

/* What a row of a table is of: its columns before the first that measures something. */
void rocl_figure_put_label(rocl_buf *to, const rocl_table *t, size_t row);
/* Of those before a column only. */
void rocl_figure_put_label_before(rocl_buf *to, const rocl_table *t, size_t row, size_t past);

/* Allocates the labels of so many rows, which the caller puts into f->full[]; then the figure
 * begins. False: memory is out, and there is no figure. */
bool rocl_figure_open(rocl_figure *f, rocl_buf *b, size_t count, int height, const rocl_axis *axis);
bool rocl_figure_begin(rocl_figure *f, const char *title);
/* Both, for these rows of a table. */
bool rocl_figure_begin_table(rocl_figure *f, rocl_buf *b, const rocl_table *t, const size_t *rows,
                             size_t count, int height, const rocl_axis *axis);
void rocl_figure_put_legend(rocl_figure *f, const rocl_legend *legend, size_t n);
/* Between these two the plot of a row is written, and behind them its value. */
void rocl_figure_begin_row(rocl_figure *f);
void rocl_figure_end_plot(rocl_figure *f);
void rocl_figure_end_row(rocl_figure *f);
/* Writes the axis and what it is of (NULL: nothing to say), and frees what the figure holds. */
void rocl_figure_end(rocl_figure *f, const char *axis_title);

#endif
