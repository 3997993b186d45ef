/* Limits of growth, and the verdict on each name. */
#include "analysis/limits.h"

#include <stdlib.h>

#include "analysis/causes.h"
#include "base/array.h"

void rocl_limits_add(rocl_limits *l, const rocl_judgement *j)
{
    if (!ROCL_GROW(l->all, l->cap, l->count + 1)) {
        l->failed = true;
        return;
    }
    l->all[l->count++] = *j;
}

void rocl_count_growth(rocl_growth *g, const rocl_judgement *j, double *worst, rocl_tables *out)
{
    if (g->count++ && j->cost <= *worst)
        return;
    *worst = j->cost;
    g->percent = j->percent;
    g->added = j->added;
    g->domain = j->domain;
    g->name = j->name ? rocl_tables_text(out, j->name, j->len) : NULL;
}

static rocl_datum field_name(const rocl_report_rows *r, const void *row)
{
    const rocl_judgement *j = row;
    return j->name ? rocl_datum_text(r->out, j->name, j->len) : (rocl_datum){0};
}

static rocl_datum field_verdict(const rocl_report_rows *r, const void *field)
{
    static const char *const names[] = {"failed", "not tested", "passed", "ignored"};
    const char *name = names[*(const rocl_verdict *)field];
    return rocl_datum_text(r->out, name, strlen(name));
}

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(rocl_judgement, field)

static const rocl_column columns[] = {
    {"rule", "Rule", ROCL_UNIT_TEXT, CELL(rule)},
    {"domain", "Domain", ROCL_UNIT_TEXT, CELL(domain)},
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, field_name, 0},
    {"before_ns", "A", ROCL_UNIT_NS, CELL(before)},
    {"after_ns", "B", ROCL_UNIT_NS, CELL(after)},
    {"growth_percent", "Growth %", ROCL_UNIT_PERCENT, CELL(percent)},
    {"limit_percent", "Limit %", ROCL_UNIT_PERCENT, CELL(limit)},
    {"verdict", "Verdict", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(field_verdict, rocl_judgement, verdict)},
    {"reason", "Reason", ROCL_UNIT_TEXT, CELL(reason)},
};

const rocl_table_def rocl_limits_table = {&rocl_compare_tab, "compare_limits", "Limits",
                                          ROCL_COLUMNS(columns)};

static int compare_judgements(const void *a, const void *b)
{
    const rocl_judgement *x = a, *y = b;
    const double p = x->after - x->before, q = y->after - y->before;
    if (x->verdict != y->verdict)
        return x->verdict < y->verdict ? -1 : 1;
    if (p > q || p < q)
        return p > q ? -1 : 1;
    int c = strcmp(x->rule, y->rule);
    if (!c)
        c = strcmp(x->domain ? x->domain : "", y->domain ? y->domain : "");
    return c ? c
             : rocl_compare_bytes(x->name ? x->name : "", x->len, y->name ? y->name : "", y->len);
}

void rocl_limits_put(rocl_limits *l, rocl_tables *out, const rocl_collector *c)
{
    const rocl_report_rows r = rocl_begin_table(c, out, &rocl_limits_table, 0);
    size_t of[ROCL_VERDICT_IGNORED + 1] = {0};
    out->incomplete |= l->failed;
    for (size_t i = 0; i < l->count; i++)
        of[l->all[i].verdict]++;
    rocl_set_note(&r, "%zu failed, %zu passed, %zu could not be tested, %zu are ignored",
                  of[ROCL_VERDICT_FAILED], of[ROCL_VERDICT_PASSED], of[ROCL_VERDICT_NOT_TESTED],
                  of[ROCL_VERDICT_IGNORED]);
    if (l->count)
        qsort(l->all, l->count, sizeof *l->all, compare_judgements);
    rocl_add_top_rows(&r, l->all, l->count, sizeof *l->all, NULL);
    free(l->all);
    *l = (rocl_limits){0};
}
