/* A comparison as a comment of a CI system on a change: the verdict, the totals and what changed
 * the most; all tables are folded below. */
#include <stdlib.h>

#include "table/format.h"

enum { MOST_ROWS = 10, NAME_WIDTH = 80, MOST_COLUMNS = 8 };

/* Some rows with the columns of these keys, of which the first is a name. */
static void put_rows(rocl_table_writer *w, const rocl_table *t, const size_t *rows, size_t n,
                     const char *const *keys)
{
    rocl_buf names[MOST_ROWS] = {{0}};
    size_t columns[MOST_COLUMNS], count = 0;
    for (; keys[count]; count++)
        columns[count] = rocl_table_find_column(t, keys[count]);
    for (size_t i = 0; i < n; i++)
        rocl_datum_put_displayed(&names[i], rocl_table_cell(t, rows[i], columns[0]),
                                 ROCL_UNIT_TEXT);
    w->buf.failed |= !rocl_table_shorten(names, n, NAME_WIDTH);
    for (size_t c = 0; c < count; c++) {
        rocl_buf_str(&w->buf, "| ");
        rocl_buf_str(&w->buf, t->columns[columns[c]].title);
        rocl_buf_byte(&w->buf, ' ');
    }
    rocl_buf_str(&w->buf, "|\n");
    for (size_t c = 0; c < count; c++)
        rocl_buf_str(&w->buf, rocl_column_is_number(&t->columns[columns[c]]) ? "|---:" : "|---");
    rocl_buf_str(&w->buf, "|\n");
    for (size_t i = 0; i < n; i++) {
        /* The first columns of names that are shortened. */
        const rocl_buf *name = &names[i];
        rocl_buf_str(&w->buf, "| ");
        rocl_table_put_escaped(&w->buf, name->data, name->len);
        rocl_buf_byte(&w->buf, ' ');
        for (size_t c = 1; c < count; c++)
            rocl_table_put_markdown_cell(w, t, rocl_table_cell(t, rows[i], columns[c]), columns[c]);
        rocl_buf_str(&w->buf, "|\n");
        rocl_buf_free_into(&names[i], &w->buf);
    }
    rocl_buf_byte(&w->buf, '\n');
}

static bool is_cell(const rocl_table *t, size_t row, const char *key, const char *text)
{
    return !strcmp(rocl_datum_str(rocl_table_find_cell(t, row, key)), text);
}

static void put_totals(rocl_table_writer *w, const rocl_table *causes)
{
    static const char *const keys[] = {"cause", "class", "change_ns", "change_percent", NULL};
    size_t rows[MOST_ROWS], n = 0;
    if (!causes->row_count || !causes->note)
        return;
    rocl_buf_str(&w->buf, "What it comes from, ");
    rocl_table_put_escaped(&w->buf, causes->note, strlen(causes->note));
    rocl_buf_str(&w->buf, ":\n\n");
    for (size_t i = 1; i < causes->row_count && n < MOST_ROWS / 2; i++)
        rows[n++] = i;
    put_rows(w, causes, rows, n, keys);
}

/* The differences in the order of kernels: those rows come first, after the row for everything. */
static void put_edits(rocl_table_writer *w, const rocl_table *t)
{
    static const char *const keys[] = {"name",       "name_b",     "edit",      "times",
                                       "total_a_ns", "total_b_ns", "change_ns", NULL};
    size_t rows[MOST_ROWS], n = 0;
    for (size_t i = 1; i < t->row_count && n < MOST_ROWS / 2; i++)
        if (!is_cell(t, i, "edit", "same") &&
            rocl_datum_has_value(rocl_table_find_cell(t, i, "times")))
            rows[n++] = i;
    if (!t->row_count || !t->note)
        return;
    rocl_buf_str(&w->buf, "Kernels in their order, ");
    rocl_table_put_escaped(&w->buf, t->note, strlen(t->note));
    rocl_buf_str(&w->buf, n ? ":\n\n" : ".\n\n");
    if (n)
        put_rows(w, t, rows, n, keys);
}

bool rocl_tables_are_comparison(const rocl_tables *all)
{
    return rocl_tables_find(all, "compare") || rocl_tables_find(all, "compare_runs");
}

void rocl_table_write_comment(rocl_table_writer *w)
{
    const rocl_table *limits = rocl_tables_find(w->tables, "compare_limits");
    const rocl_table *likeness = rocl_tables_find(w->tables, "comparability");
    const rocl_table *causes = rocl_tables_find(w->tables, "compare_causes");
    const rocl_table *runs = rocl_tables_find(w->tables, "compare_runs");
    const rocl_table *sequence = rocl_tables_find(w->tables, "compare_sequence");
    const rocl_table *change = rocl_tables_find(w->tables, "compare_change");
    rocl_buf_str(&w->buf, "## ");
    if (change && change->note)
        rocl_table_put_escaped(&w->buf, change->note, strlen(change->note));
    else
        rocl_buf_str(&w->buf, "From A to B");
    rocl_buf_str(&w->buf, "\n\n");
    if (limits) {
        static const char *const keys[] = {"name",          "domain",   "rule",
                                           "before_ns",     "after_ns", "growth_percent",
                                           "limit_percent", NULL};
        size_t rows[MOST_ROWS], n = 0, failed = 0;
        for (size_t i = 0; i < limits->row_count; i++)
            if (is_cell(limits, i, "verdict", "failed")) {
                failed++;
                if (n < MOST_ROWS)
                    rows[n++] = i;
            }
        const char *note = limits->note ? limits->note : "";
        rocl_buf_printf(&w->buf, "**%s**: %s.\n\n",
                        failed || rocl_limits_untested(limits) ? "Failed" : "Passed", note);
        if (n)
            put_rows(w, limits, rows, n, keys);
    }
    if (likeness && likeness->note) {
        rocl_buf_str(&w->buf, "Comparability: ");
        rocl_table_put_escaped(&w->buf, likeness->note, strlen(likeness->note));
        rocl_buf_str(&w->buf, ".\n\n");
    }
    if (causes)
        put_totals(w, causes);
    if (runs) {
        static const char *const keys[] = {"name",           "domain",         "status",
                                           "mean_a_ns",      "deviation_a_ns", "mean_b_ns",
                                           "deviation_b_ns", "change_percent", NULL};
        size_t rows[MOST_ROWS], n = 0;
        for (size_t i = 0; i < runs->row_count && n < MOST_ROWS; i++)
            if (is_cell(runs, i, "significant", "yes"))
                rows[n++] = i;
        if (runs->note) {
            rocl_table_put_escaped(&w->buf, runs->note, strlen(runs->note));
            rocl_buf_str(&w->buf, ".\n\n");
        }
        rocl_buf_str(&w->buf, n ? "Significant changes:\n\n" : "No significant change.\n\n");
        if (n)
            put_rows(w, runs, rows, n, keys);
    } else {
        const rocl_table *t = rocl_tables_find(w->tables, "compare");
        static const char *const keys[] = {"name",           "domain",      "status",
                                           "total_a_ns",     "total_b_ns",  "change_ns",
                                           "change_percent", "significant", NULL};
        size_t rows[MOST_ROWS], n = 0;
        for (size_t i = 0; i < t->row_count && n < MOST_ROWS; i++)
            if (!is_cell(t, i, "status", "same") && !is_cell(t, i, "status", ""))
                rows[n++] = i;
        rocl_buf_str(&w->buf, n ? "Largest changes:\n\n" : "No name changed.\n\n");
        if (n)
            put_rows(w, t, rows, n, keys);
    }
    if (sequence)
        put_edits(w, sequence);
    rocl_buf_str(&w->buf, "<details><summary>All tables</summary>\n");
    for (size_t i = 0; i < w->tables->count; i++) {
        rocl_buf_byte(&w->buf, '\n');
        rocl_table_put_markdown(w, &w->tables->tables[i]);
    }
    rocl_buf_str(&w->buf, "\n</details>\n");
}
