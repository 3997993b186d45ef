/* Limits of growth, and the verdict on each name. */
#include "analysis/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes.h"
#include "analysis/domains.h"
#include "base/array.h"
#include "model/kernel_class.h"

rocl_limits rocl_limits_begin(rocl_gate *g)
{
    *g = (rocl_gate){.average = g->average, .total = g->total, .totals = g->totals, .all = g->all};
    return (rocl_limits){.gate = g};
}

/* Kernels of communication wait for other ranks, and calls of the host for GPUs. A copy has no name
 * but its direction, so that its average says how large copies are. */
bool rocl_limits_test(rocl_limits *l, const rocl_collector *c, unsigned domain, rocl_view name,
                      const uint64_t calls[2])
{
    const bool tested = l->gate->all || (domain == ROCL_DOMAIN_KERNELS &&
                                         rocl_classify_kernel(c->trace->classes, name.p, name.n) !=
                                             ROCL_CLASS_COMMUNICATION);
    for (unsigned k = 0; k < 2; k++)
        *(tested ? &l->has[k] : &l->has_more[k]) |= calls[k] > 0;
    return tested;
}

void rocl_judge(rocl_judgement *j, const char *ignored, const char *doubt, rocl_verdict doubtful)
{
    j->percent = !j->added && j->after <= j->before ? 0
                 : !j->added && j->before > 0       ? 100 * (j->after - j->before) / j->before
                                                    : INFINITY;
    const bool grew = j->percent > j->limit;
    j->verdict = ignored              ? ROCL_VERDICT_IGNORED
                 : !grew              ? ROCL_VERDICT_PASSED
                 : doubt && !j->added ? doubtful
                                      : ROCL_VERDICT_FAILED;
    j->reason = ignored ? ignored : !grew ? NULL : j->added ? "it is new" : doubt;
}

void rocl_limits_add(rocl_limits *l, const rocl_judgement *j, rocl_growth *grown, bool listed,
                     rocl_tables *out)
{
    const bool counts = j->verdict == ROCL_VERDICT_FAILED || j->verdict == ROCL_VERDICT_NOT_TESTED;
    if (grown && counts && (!grown->count++ || j->cost > grown->cost)) {
        grown->cost = j->cost;
        grown->percent = j->percent;
        grown->added = j->added;
        grown->domain = j->domain;
        grown->name = j->name.p ? rocl_tables_text(out, j->name.p, j->name.n) : NULL;
    }
    if (!listed)
        return;
    if (ROCL_GROW(l->all, l->cap, l->count + 1))
        l->all[l->count++] = *j;
    else
        l->failed = true;
}

static rocl_datum field_verdict(const rocl_report_rows *r, const void *field)
{
    static const char *const names[] = {"failed", "not tested", "passed", "ignored"};
    return rocl_field_string(r, &names[*(const rocl_verdict *)field]);
}

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(rocl_judgement, field)

static const rocl_column columns[] = {
    {"rule", "Rule", ROCL_UNIT_TEXT, CELL(rule)},
    {"domain", "Domain", ROCL_UNIT_TEXT, CELL(domain)},
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(rocl_judgement, name)},
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
    int c = rocl_number_order(x->verdict, y->verdict);
    c = c ? c : rocl_compare_double(&y->cost, &x->cost);
    c = c ? c : strcmp(x->rule, y->rule);
    c = c ? c : strcmp(x->domain ? x->domain : "", y->domain ? y->domain : "");
    return c ? c : rocl_compare_views(x->name, y->name);
}

/* Where one side has nothing to test, what the other has is neither good nor bad. */
static void find_untested(rocl_limits *l, rocl_tables *out)
{
    rocl_gate *g = l->gate;
    const char *what = g->all ? "events" : "kernels that compute";
    char why[128];
    bool judged = false, more = false;
    for (size_t i = 0; i < l->count; i++)
        judged |= l->all[i].name.p && (l->all[i].verdict == ROCL_VERDICT_FAILED ||
                                       l->all[i].verdict == ROCL_VERDICT_PASSED);
    for (unsigned k = 0; k < 2; k++)
        more |= !l->has[k] && l->has_more[k];
    if (judged && l->has[0] && l->has[1])
        return;
    if (l->has[0] && l->has[1])
        snprintf(why, sizeof why, "all names are ignored, or have too few calls");
    else
        snprintf(why, sizeof why, "%s no %s%s",
                 l->has[0]   ? "B has"
                 : l->has[1] ? "A has"
                             : "A and B have",
                 what, more ? "; --include names what else is tested" : "");
    rocl_limits_begin(g);
    g->untested = rocl_tables_text(out, why, strlen(why));
    for (size_t i = 0; i < l->count; i++)
        if (l->all[i].verdict < ROCL_VERDICT_IGNORED) {
            l->all[i].verdict = ROCL_VERDICT_NOT_TESTED;
            l->all[i].reason = "nothing to compare with";
        }
}

void rocl_limits_put(rocl_limits *l, rocl_tables *out, const rocl_collector *c)
{
    size_t of[ROCL_VERDICT_IGNORED + 1] = {0};
    out->incomplete |= l->failed;
    if (isfinite(l->gate->average) || l->gate->totals) {
        find_untested(l, out);
        if (c->options->comparability) {
            const rocl_report_rows r = rocl_begin_table(c, out, &rocl_limits_table, 0);
            for (size_t i = 0; i < l->count; i++)
                of[l->all[i].verdict]++;
            if (l->gate->untested)
                rocl_set_note(&r, "nothing was tested: %s", l->gate->untested);
            else
                rocl_set_note(&r,
                              "%zu failed, %zu passed, %zu could not be tested, %zu are ignored",
                              of[ROCL_VERDICT_FAILED], of[ROCL_VERDICT_PASSED],
                              of[ROCL_VERDICT_NOT_TESTED], of[ROCL_VERDICT_IGNORED]);
            if (r.table)
                r.table->why_empty = r.table->note;
            if (l->count)
                qsort(l->all, l->count, sizeof *l->all, compare_judgements);
            rocl_add_top_rows(&r, l->all, l->count, sizeof *l->all, NULL);
        }
    }
    free(l->all);
}
