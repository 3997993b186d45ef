/* Tables that fit a budget of bytes: the largest shares stay, since tables are in that order, and
 * a last row counts and sums up the others, so that the sums are the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/format.h"

/* What a table costs, and how much of it stays. */
typedef struct budget {
    size_t head;  /* bytes of its titles */
    size_t rest;  /* bytes that its last row may take */
    size_t shown; /* rows */
    bool full;    /* no more rows fit */
} budget;

static size_t measure_row(rocl_table_writer *w, const rocl_table *t, const rocl_datum *cells,
                          rocl_table_format format)
{
    w->buf.len = 0;
    if (format == ROCL_TABLE_JSON)
        rocl_table_put_json_row(w, t, cells);
    else
        rocl_table_put_markdown_row(w, t, cells);
    return w->buf.len + (format == ROCL_TABLE_JSON ? 8 : 0); /* ",\n      " before it */
}

/* The row for those from `shown` on. */
static void fold_rows(rocl_tables *all, const rocl_table *t, size_t shown, rocl_datum *to)
{
    if (shown < t->rest_count) {
        memcpy(to, t->rests + shown * t->column_count, t->column_count * sizeof *to);
        return;
    }
    bool counted = false;
    for (size_t c = 0; c < t->column_count; c++) {
        const rocl_table_column *column = &t->columns[c];
        const rocl_fold fold = t->folds ? t->folds[c] : ROCL_FOLD_NONE;
        to[c] = (rocl_datum){0};
        if (fold == ROCL_FOLD_OTHERS || (!counted && column->unit == ROCL_UNIT_TEXT)) {
            char text[64];
            int n = snprintf(text, sizeof text, "(%zu others)", t->row_count - shown);
            to[c] = counted ? (rocl_datum){0} : rocl_datum_text(all, text, (size_t)n);
            counted = true;
        } else if (fold == ROCL_FOLD_SUM) {
            for (size_t r = shown; r < t->row_count; r++) {
                const rocl_datum *d = rocl_table_cell(t, r, c);
                int64_t sum;
                if (!rocl_datum_has_value(d))
                    continue;
                if (d->type == ROCL_DATUM_INT && to[c].type != ROCL_DATUM_REAL) {
                    const int64_t before = to[c].type == ROCL_DATUM_INT ? to[c].i : 0;
                    to[c] = __builtin_add_overflow(before, d->i, &sum) ? rocl_datum_int(INT64_MAX)
                                                                       : rocl_datum_int(sum);
                } else {
                    to[c] = rocl_datum_real(rocl_datum_number(&to[c]) + rocl_datum_number(d));
                }
            }
        }
    }
}

/* A table with its rest row is never longer than without: a single row is not summed up. */
static void cut_table(rocl_tables *all, rocl_table *t, size_t shown)
{
    if (shown + 1 >= t->row_count)
        return;
    rocl_datum *last = calloc(t->column_count, sizeof *last);
    all->incomplete |= !last;
    if (!last)
        return;
    fold_rows(all, t, shown, last);
    memcpy(t->cells + shown * t->column_count, last, t->column_count * sizeof *last);
    t->row_count = shown + 1;
    free(last);
}

size_t rocl_tables_cut(rocl_tables *all, rocl_table_format format, size_t bytes, bool *fits)
{
    rocl_table_writer w = {.tables = all};
    budget *budgets = calloc(all->count + 1, sizeof *budgets);
    size_t used = 0, tables = all->count, left = all->count;
    all->incomplete |= !budgets;
    *fits = true;
    for (size_t i = 0; budgets && i < all->count; i++) {
        const rocl_table *t = &all->tables[i];
        /* Titles, notes and punctuation. */
        size_t n = strlen(t->title) + (t->note ? strlen(t->note) : 0) + 8;
        for (size_t c = 0; c < t->column_count; c++)
            n += format == ROCL_TABLE_JSON
                     ? strlen(t->columns[c].key) + strlen(rocl_unit_name(t->columns[c].unit)) + 26
                     : strlen(t->columns[c].title) + 8;
        budgets[i].head = n + (format == ROCL_TABLE_JSON ? 2 * strlen(t->key) + 80 : 0);
        /* A row for the others is at most as long as the longest of the first ones, except for
         * names; if there is only one other row, that itself is shown. */
        for (size_t r = 0; r < t->row_count; r++) {
            if (r == 4)
                r = t->row_count - 1;
            n = measure_row(&w, t, rocl_table_cell(t, r, 0), format);
            budgets[i].rest = n > budgets[i].rest ? n : budgets[i].rest;
        }
        used += budgets[i].head + budgets[i].rest;
    }
    /* Fewer tables with rows in them say more than titles of all. */
    for (; budgets && used > bytes / 2 && left > 1; left--) {
        /* The one that goes next moves to the end: the last that is not essential, the first never.
         */
        size_t at = left - 1;
        while (at > 1 && all->tables[at].essential)
            at--;
        if (all->tables[at].essential)
            at = left - 1;
        const rocl_table t = all->tables[at];
        const budget s = budgets[at];
        memmove(&all->tables[at], &all->tables[at + 1], (left - 1 - at) * sizeof t);
        memmove(&budgets[at], &budgets[at + 1], (left - 1 - at) * sizeof s);
        all->tables[left - 1] = t;
        budgets[left - 1] = s;
        used -= budgets[left - 1].head + budgets[left - 1].rest;
    }
    *fits = used <= bytes;
    /* A row of each table in turn, as long as there is one that fits. */
    for (size_t open = left; budgets && open;) {
        open = 0;
        for (size_t i = 0; i < left; i++) {
            const rocl_table *t = &all->tables[i];
            budget *s = &budgets[i];
            if (s->full || s->shown == t->row_count)
                continue;
            const size_t n = measure_row(&w, t, rocl_table_cell(t, s->shown, 0), format);
            s->full = used + n > bytes;
            if (s->full)
                continue;
            used += n;
            s->shown++;
            /* Shown whole, without a row for others. */
            if (s->shown == t->row_count)
                used -= s->rest;
            open++;
        }
    }
    for (size_t i = 0; budgets && i < left; i++)
        cut_table(all, &all->tables[i], budgets[i].shown);
    for (size_t i = left; i < tables; i++)
        free(all->tables[i].cells);
    all->count = left;
    all->incomplete |= w.buf.failed || w.scratch.failed;
    rocl_buf_free(&w.buf);
    rocl_buf_free(&w.scratch);
    free(budgets);
    return tables - left;
}
