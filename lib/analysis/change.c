/* The change of the whole, in a sentence and in numbers. */
#include "analysis/change.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes.h"
#include "analysis/student.h"
#include "table/format.h"

#define LEVEL 0.01 /* level of significance */

/* In ns; not a number: not known. */
static double length_of(const rocl_side *s, bool by_gpus)
{
    const rocl_datum *d = &s->header[ROCL_HEADER_DURATION];
    if (by_gpus)
        return s->gpu_time.gpus ? (double)s->gpu_time.whole[ROCL_WALL_GPU] : NAN;
    return d->type == ROCL_DATUM_INT ? (double)d->i : NAN;
}

rocl_change rocl_change_of(const rocl_side *sides, size_t n)
{
    rocl_change c = {.p = NAN, .cause_change = NAN};
    rocl_sample_mean mean[2];
    bool by_gpus = true;
    double *values = malloc((n + 1) * sizeof *values);
    for (size_t i = 0; i < n; i++)
        by_gpus &= isnan(length_of(&sides[i], false));
    for (unsigned k = 0; k < 2 && values; k++) {
        for (size_t i = 0; i < n; i++)
            if (sides[i].bit == k) {
                values[c.runs[k]++] = length_of(&sides[i], by_gpus);
                c.gpus = sides[i].gpu_time.gpus > c.gpus ? sides[i].gpu_time.gpus : c.gpus;
            }
        mean[k] = rocl_sample_of(values, c.runs[k]);
        c.total[k] = mean[k].mean;
    }
    c.quantity = by_gpus ? "wall time of GPUs" : "wall time of the trace";
    c.change = c.total[1] - c.total[0];
    c.percent = c.total[0] > 0 ? 100 * c.change / c.total[0] : NAN;
    if (n > 2 && values)
        c.p = rocl_welch_p(&mean[0], &mean[1]);
    free(values);
    return c;
}

void rocl_change_explain(rocl_change *c, const rocl_tables *out)
{
    const rocl_table *t = rocl_tables_find(out, "compare_causes");
    size_t i = 1; /* the first row is the whole */
    while (t && i < t->row_count &&
           !(rocl_datum_number(rocl_table_find_cell(t, i, "change_ns")) * c->change > 0))
        i++;
    if (!t || i >= t->row_count)
        return;
    const rocl_datum *class = rocl_table_find_cell(t, i, "class");
    const rocl_datum *most = rocl_table_find_cell(t, i, "most");
    c->cause = rocl_datum_str(rocl_table_find_cell(t, i, "cause"));
    c->class = class->type == ROCL_DATUM_TEXT ? class->text : NULL;
    if (most->type == ROCL_DATUM_TEXT)
        c->most = (rocl_view){most->text, most->len};
    c->cause_change = rocl_datum_number(rocl_table_find_cell(t, i, "change_ns"));
}

/* ---- the table ------------------------------------------------------------------------------- */

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(rocl_change, field)
#define NS(field)   ROCL_UNIT_NS, ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_number, rocl_change, field)

static const rocl_column columns[] = {
    {"quantity", "Of", ROCL_UNIT_SENTENCE, CELL(quantity)},
    {"total_a_ns", "A", NS(total[0])},
    {"total_b_ns", "B", NS(total[1])},
    {"change_ns", "Change", NS(change)},
    {"change_percent", "Change %", ROCL_UNIT_PERCENT, CELL(percent)},
    {"p", "p", ROCL_UNIT_NUMBER, ROCL_IF_OWN, ROCL_CELL(rocl_change, p)},
    {"cause", "Largest cause", ROCL_UNIT_TEXT, CELL(cause)},
    {"class", "Class", ROCL_UNIT_TEXT, CELL(class)},
    {"cause_change_ns", "By it", NS(cause_change)},
    {"most", "The most by", ROCL_UNIT_TEXT, CELL(most)},
};

const rocl_table_def rocl_change_table = {&rocl_compare_tab, "compare_change", "Change",
                                          ROCL_COLUMNS(columns)};

static void put_ns(rocl_buf *b, double ns)
{
    rocl_datum_put_displayed(b, &(rocl_datum){.type = ROCL_DATUM_REAL, .r = ns}, ROCL_UNIT_NS);
}

/* Less than what a sentence shows of it is no change. */
static void put_sentence(rocl_buf *b, const rocl_change *c)
{
    const bool same = c->change == 0 || fabs(c->percent) < 0.05;
    if (!isfinite(c->total[0]) || !isfinite(c->total[1])) {
        rocl_buf_printf(b, "nothing to compare, as %s no events",
                        isfinite(c->total[0])   ? "B has"
                        : isfinite(c->total[1]) ? "A has"
                                                : "A and B have");
        return;
    }
    if (same)
        rocl_buf_str(b, "B takes as long as A: ");
    else if (!isfinite(c->percent))
        rocl_buf_str(b, "B is slower: ");
    else if (c->percent >= 900)
        rocl_buf_printf(b, "B takes %.0f times as long: ", c->total[1] / c->total[0]);
    else
        rocl_buf_printf(b, "B is %.1f %% %s: ", fabs(c->percent),
                        c->percent > 0 ? "slower" : "faster");
    put_ns(b, c->total[0]);
    rocl_buf_str(b, " -> ");
    put_ns(b, c->total[1]);
    rocl_buf_printf(b, ", %s", c->quantity);
    if (isfinite(c->p))
        rocl_buf_printf(b, ", means of %zu and %zu runs, %s the noise between runs (p = %.2g)",
                        c->runs[0], c->runs[1], c->p < LEVEL ? "more than" : "within", c->p);
    if (!c->cause || same)
        return;
    rocl_buf_printf(b, "; largest cause: %s%s%s%s, ", c->cause, c->class ? " (" : "",
                    c->class ? c->class : "", c->class ? ")" : "");
    put_ns(b, c->cause_change);
    if (c->gpus > 1)
        rocl_buf_printf(b, " on %" PRIu64 " GPUs together", c->gpus);
}

void rocl_change_put(const rocl_change *c, rocl_tables *out, const rocl_collector *of)
{
    rocl_buf text = {0};
    const rocl_report_rows r =
        rocl_begin_table(of, out, &rocl_change_table, isfinite(c->p) ? ROCL_IF_OWN : 0);
    put_sentence(&text, c);
    out->incomplete |= text.failed;
    if (!text.failed)
        rocl_set_note(&r, "%.*s", (int)text.len, (const char *)text.data);
    rocl_buf_free(&text);
    rocl_add_row(&r, c);
    if (!r.table)
        return;
    r.table->essential = true;
    const rocl_table last = out->tables[out->count - 1];
    memmove(out->tables + 1, out->tables, (out->count - 1) * sizeof last);
    out->tables[0] = last;
}
