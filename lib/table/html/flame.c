/* A flame graph of a table that is a tree: a row for each depth, in which each row of the table is
 * as wide as its share of the total, below its parent. page.js zooms to what is clicked. */
#include "table/html/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 128, LINE = 18, MOST_FRAMES = 4000 };
#define LEAST_SHARE 0.0005 /* of the whole: narrower frames are left out */

static const rocl_legend legend[] = {{"c3", "markers and other ranges"},
                                     {"c1", "operators and functions"},
                                     {"c4", "calls of HIP, HSA and CUDA"},
                                     {"c0", "kernels and copies"}};

static const char *colour_of(const rocl_datum *kind)
{
    const char *k = rocl_datum_str(kind);
    return !strcmp(k, "kernel") || !strcmp(k, "copy")                                    ? "c0"
           : !strncmp(k, "HIP_", 4) || !strncmp(k, "HSA_", 4) || !strncmp(k, "cuda_", 5) ? "c4"
           : !strncmp(k, "MARKER", 6) || !strcmp(k, "marker") || !strcmp(k, "rank")      ? "c3"
                                                                                         : "c1";
}

void rocl_html_put_flame(rocl_buf *b, const rocl_table *t)
{
    const size_t name = rocl_table_find_column(t, "name"), kind = rocl_table_find_column(t, "kind");
    const size_t depth = rocl_table_find_column(t, "depth");
    const size_t total = rocl_table_find_column(t, "total_ns");
    double whole = 0, next[DEEPEST + 1] = {0}; /* by depth: where the next frame begins */
    size_t deepest = 0, frames = 0, narrow = 0;
    if (depth == t->column_count || total == t->column_count)
        return;
    for (size_t r = 0; r < t->row_count; r++) {
        const rocl_datum *d = rocl_table_cell(t, r, depth);
        const bool known = d->type == ROCL_DATUM_INT;
        whole += known && !d->i ? rocl_datum_number(rocl_table_cell(t, r, total)) : 0;
        if (known && d->i < DEEPEST && (size_t)d->i > deepest)
            deepest = (size_t)d->i;
    }
    if (whole <= 0)
        return;
    rocl_figure_put_legend(&(rocl_figure){.b = b}, legend, sizeof legend / sizeof *legend);
    rocl_html_put(b,
                  "<div class=\"flame\" role=\"img\" aria-label=\"Flame graph; its numbers "
                  "are in the table below\" style=\"height:%dpx\">\n",
                  (int)(deepest + 1) * LINE);
    for (size_t r = 0; r < t->row_count; r++) {
        const rocl_datum *d = rocl_table_cell(t, r, depth);
        if (d->type != ROCL_DATUM_INT || d->i >= DEEPEST)
            continue;
        const double v = rocl_datum_number(rocl_table_cell(t, r, total)), from = next[d->i];
        next[d->i] += v;
        next[d->i + 1] = from;
        if (v / whole < LEAST_SHARE || frames == MOST_FRAMES) {
            narrow++;
            continue;
        }
        frames++;
        rocl_html_put(b, "<b class=\"%s\" style=\"left:%.4f%%;width:%.4f%%;top:%dpx\" title=\"",
                      colour_of(rocl_table_cell(t, r, kind)), from / whole * 100, v / whole * 100,
                      (int)d->i * LINE);
        rocl_html_put_cell(b, t, r, name);
        rocl_buf_str(b, ": ");
        rocl_html_put_cell(b, t, r, total);
        rocl_html_put(b, ", %.2f %%\">", v / whole * 100);
        rocl_html_put_cell(b, t, r, name);
        rocl_buf_str(b, "</b>\n");
    }
    rocl_buf_str(b,
                 "</div>\n<p class=\"note\">GPU time from left to right; click on a frame to make "
                 "it as wide as the page, and on one above it, or press Escape, to go back");
    if (narrow)
        rocl_html_put(b, "; %d narrow ones are only in the table", (int)narrow);
    rocl_buf_str(b, ".</p>\n");
}
