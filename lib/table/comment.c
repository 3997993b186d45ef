/* A comparison as a comment of a CI system on a change: the verdict, the totals and what changed
 * the most; all tables are folded below. */
#include <stdlib.h>

#include "table/format.h"

enum { MOST_ROWS = 10, NAME_WIDTH = 80, MOST_COLUMNS = 8 };

/* What is said of a table: its note, and its first rows. Texts for no rows, and for some. */
typedef struct section {
    const char *table;
    bool always;              /* also of a table that is empty */
    const char *before[2];    /* the note; NULL: it is left out */
    const char *after[2];     /* what follows it */
    const char *column, *has; /* rows with this value there, or if `but`, with another one */
    bool but;
    const char *known;                  /* and a value in that column; NULL: in none */
    size_t from, most;                  /* rows */
    const char *keys[MOST_COLUMNS + 1]; /* columns, of which the first is a name */
} section;

static const section sections[] = {
    {.table = "compare_limits",
     .always = true,
     .before = {"**Passed**: ", "**Failed**: "},
     .after = {".\n\n", ".\n\n"},
     .column = "verdict",
     .has = "failed",
     .most = MOST_ROWS,
     .keys = {"name", "domain", "rule", "before_ns", "after_ns", "growth_percent",
              "limit_percent"}},
    {.table = "comparability", .before = {"Comparability: "}, .after = {".\n\n"}},
    {.table = "compare_causes",
     .before = {"", "What it comes from, "},
     .after = {"", ":\n\n"},
     .from = 1,
     .most = MOST_ROWS / 2,
     .keys = {"cause", "class", "change_ns", "change_percent"}},
    {.table = "compare_runs",
     .always = true,
     .before = {"", ""},
     .after = {".\n\nNo significant change.\n\n", ".\n\nSignificant changes:\n\n"},
     .column = "significant",
     .has = "yes",
     .most = MOST_ROWS,
     .keys = {"name", "domain", "status", "mean_a_ns", "deviation_a_ns", "mean_b_ns",
              "deviation_b_ns", "change_percent"}},
    {.table = "compare",
     .always = true,
     .after = {"No name changed.\n\n", "Largest changes:\n\n"},
     .column = "status",
     .has = "same",
     .but = true,
     .known = "status",
     .most = MOST_ROWS,
     .keys = {"name", "domain", "status", "total_a_ns", "total_b_ns", "change_ns", "change_percent",
              "significant"}},
    /* The differences in the order of kernels: those rows come first, after the row for everything.
     */
    {.table = "compare_sequence",
     .before = {"Kernels in their order, ", "Kernels in their order, "},
     .after = {".\n\n", ":\n\n"},
     .column = "edit",
     .has = "same",
     .but = true,
     .known = "times",
     .most = MOST_ROWS / 2,
     .keys = {"name", "name_b", "edit", "times", "total_a_ns", "total_b_ns", "change_ns"}},
};

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
    for (size_t c = 0; c < count; c++)
        rocl_buf_printf(&w->buf, "| %s ", t->columns[columns[c]].title);
    rocl_buf_str(&w->buf, "|\n");
    for (size_t c = 0; c < count; c++)
        rocl_buf_str(&w->buf, rocl_column_is_number(&t->columns[columns[c]]) ? "|---:" : "|---");
    rocl_buf_str(&w->buf, "|\n");
    for (size_t i = 0; i < n; i++) {
        /* The first columns of names that are shortened. */
        rocl_buf_str(&w->buf, "| ");
        rocl_table_put_escaped(&w->buf, names[i].data, names[i].len);
        rocl_buf_byte(&w->buf, ' ');
        for (size_t c = 1; c < count; c++)
            rocl_table_put_markdown_cell(w, t, rocl_table_cell(t, rows[i], columns[c]), columns[c]);
        rocl_buf_str(&w->buf, "|\n");
        rocl_buf_free_into(&names[i], &w->buf);
    }
    rocl_buf_byte(&w->buf, '\n');
}

static void put_section(rocl_table_writer *w, const rocl_table *t, const section *s)
{
    size_t rows[MOST_ROWS], n = 0;
    for (size_t i = s->from; i < t->row_count && n < s->most; i++)
        if ((!s->column || rocl_cell_is(t, i, s->column, s->has) != s->but) &&
            (!s->known || rocl_datum_has_value(rocl_table_find_cell(t, i, s->known))))
            rows[n++] = i;
    if ((!t->row_count && !s->always) || (s->before[0] && !t->note))
        return;
    if (s->before[0]) {
        rocl_buf_str(&w->buf, s->before[n || rocl_limits_untested(t)]);
        rocl_table_put_escaped(&w->buf, t->note, strlen(t->note));
    }
    rocl_buf_str(&w->buf, s->after[n > 0]);
    if (n)
        put_rows(w, t, rows, n, s->keys);
}

bool rocl_tables_are_comparison(const rocl_tables *all)
{
    return rocl_tables_find(all, "compare") || rocl_tables_find(all, "compare_runs");
}

void rocl_table_write_comment(rocl_table_writer *w)
{
    const rocl_table *change = rocl_tables_find(w->tables, "compare_change");
    rocl_buf_str(&w->buf, "## ");
    if (change && change->note)
        rocl_table_put_escaped(&w->buf, change->note, strlen(change->note));
    else
        rocl_buf_str(&w->buf, "From A to B");
    rocl_buf_str(&w->buf, "\n\n");
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const rocl_table *t = rocl_tables_find(w->tables, sections[i].table);
        if (t)
            put_section(w, t, &sections[i]);
    }
    rocl_buf_str(&w->buf, "<details><summary>All tables</summary>\n");
    for (size_t i = 0; i < w->tables->count; i++) {
        rocl_buf_byte(&w->buf, '\n');
        rocl_table_put_markdown(w, &w->tables->tables[i]);
    }
    rocl_buf_str(&w->buf, "\n</details>\n");
}
