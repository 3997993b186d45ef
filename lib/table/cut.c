/* Tables that fit a budget of bytes: the largest shares stay, since tables are in that order, and
 * a last row counts and sums up the others, so that the sums are the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/format.h"

enum { MORE_DIGITS = 18 };

/* What a table costs, and how much of it stays. */
typedef struct budget {
    int64_t head; /* bytes of its titles */
    int64_t rest; /* bytes that a row for the others may take */
    size_t shown; /* rows */
    int64_t used; /* bytes of what is shown at least */
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
                int64_t sum; /* no value is 0 */
                if (!rocl_datum_has_value(d))
                    continue;
                if (d->type != ROCL_DATUM_INT || to[c].type == ROCL_DATUM_REAL)
                    to[c] = rocl_datum_real(rocl_datum_number(&to[c]) + rocl_datum_number(d));
                else if (__builtin_add_overflow(to[c].i, d->i, &sum))
                    to[c] = rocl_datum_int(INT64_MAX);
                else
                    to[c] = rocl_datum_int(sum);
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

/* The next rows: the last two come together, as a row for the others of one is none. */
static size_t count_next(const rocl_table *t, const budget *s)
{
    return s->shown + 2 == t->row_count ? 2 : 1;
}

/* What these take more, without the row for the others behind the last. */
static int64_t cost_of_next(rocl_table_writer *w, const rocl_table *t, const budget *s,
                            rocl_table_format format)
{
    const size_t n = count_next(t, s);
    int64_t bytes = s->shown + n == t->row_count ? -s->rest : 0;
    for (size_t k = 0; k < n; k++)
        bytes += (int64_t)measure_row(w, t, rocl_table_cell(t, s->shown + k, 0), format);
    return bytes;
}

/* Shows the first `rows`, at least. */
static void begin_table(rocl_table_writer *w, const rocl_table *t, budget *s, size_t rows,
                        rocl_table_format format)
{
    for (s->used = s->head + s->rest, s->shown = 0; s->shown < rows; s->shown += count_next(t, s))
        s->used += cost_of_next(w, t, s, format);
}

static void measure_table(rocl_table_writer *w, rocl_tables *all, const rocl_table *t, budget *s,
                          rocl_table_format format)
{
    const bool json = format == ROCL_TABLE_JSON;
    /* Titles, notes and punctuation. */
    size_t n = strlen(t->title) + (t->note ? strlen(t->note) : 0) + 8;
    for (size_t c = 0; c < t->column_count; c++)
        n += json ? strlen(t->columns[c].key) + strlen(rocl_unit_name(t->columns[c].unit)) + 26
                  : strlen(t->columns[c].title) + 8;
    s->head = (int64_t)(n + (json ? 2 * strlen(t->key) + 80 : 0));
    rocl_datum *others = t->row_count > 2 ? calloc(t->column_count, sizeof *others) : NULL;
    all->incomplete |= t->row_count > 2 && !others;
    if (!others)
        return;
    fold_rows(all, t, 1, others);
    s->rest = (int64_t)measure_row(w, t, others, format);
    for (size_t c = 0; c < t->column_count; c++) /* of fewer others numbers may be longer */
        s->rest += others[c].type == ROCL_DATUM_REAL ? MORE_DIGITS : 4;
    free(others);
}

/* The table that goes next moves to the end: the last that is not essential; the only one stays.
 * False: there is none. */
static bool drop_table(rocl_tables *all, budget *budgets, size_t left)
{
    size_t at = left;
    while (at && (all->tables[at - 1].essential || all->tables[at - 1].header))
        at--;
    if (!at-- || left == 1)
        return false;
    const rocl_table t = all->tables[at];
    const budget s = budgets[at];
    memmove(&all->tables[at], &all->tables[at + 1], (left - 1 - at) * sizeof t);
    memmove(&budgets[at], &budgets[at + 1], (left - 1 - at) * sizeof s);
    all->tables[left - 1] = t;
    budgets[left - 1] = s;
    return true;
}

size_t rocl_tables_cut(rocl_tables *all, rocl_table_format format, size_t bytes, bool *fits)
{
    rocl_table_writer w = {.tables = all};
    budget *budgets = calloc(all->count + 1, sizeof *budgets);
    const size_t tables = all->count;
    const int64_t room = bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
    size_t left = budgets ? tables : 0;
    int64_t used = 0;
    all->incomplete |= !budgets;
    for (size_t i = 0; i < left; i++) {
        const rocl_table *t = &all->tables[i];
        measure_table(&w, all, t, &budgets[i], format);
        begin_table(&w, t, &budgets[i], t->essential ? t->row_count : t->row_count > 0, format);
        used += budgets[i].used;
    }
    /* First rows of all say more than many rows of some. */
    for (; used > room && drop_table(all, budgets, left); left--)
        used -= budgets[left - 1].used;
    for (size_t i = left; i-- && used > room;) {
        used -= budgets[i].used;
        begin_table(&w, &all->tables[i], &budgets[i], all->tables[i].row_count > 0, format);
        used += budgets[i].used;
    }
    *fits = used <= room;
    /* A row of each table in turn, as long as there is one that fits. */
    for (size_t open = left; open;) {
        open = 0;
        for (size_t i = 0; i < left; i++) {
            const rocl_table *t = &all->tables[i];
            budget *s = &budgets[i];
            if (s->full || s->shown == t->row_count)
                continue;
            const int64_t n = cost_of_next(&w, t, s, format);
            s->full = used + n > room;
            if (s->full)
                continue;
            used += n;
            s->shown += count_next(t, s);
            open++;
        }
    }
    for (size_t i = 0; i < left; i++)
        cut_table(all, &all->tables[i], budgets[i].shown);
    for (size_t i = left; budgets && i < tables; i++)
        free(all->tables[i].cells);
    all->count = budgets ? left : tables;
    all->incomplete |= w.buf.failed || w.scratch.failed;
    rocl_buf_free(&w.buf);
    rocl_buf_free(&w.scratch);
    free(budgets);
    return tables - all->count;
}
