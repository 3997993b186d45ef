/* What stands out in a trace, first whether it can be trusted, then where time could be gained.
 *
 *     collectors --> evidence: whole tables --> rules --> table "findings"
 *     doctor -------------------------------------^
 *
 * A rule is a row of rocl_finding_rules (finding_rules.c): what it reads, which doubts of doctor it
 * cannot be said with, its threshold, and what to try. Evidence has all rows and columns that rules
 * need, whatever is printed: so every form of a report has the same findings. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/findings.h"

/* ---- doctor ---------------------------------------------------------------------------------- */

/* What a doubt is about; `least`: its share of all GPU work below which it changes nothing. */
static const struct {
    const char *rule;
    unsigned about;
    double least;
} doubts[] = {
    {"no-gpu-work", WORK_LOST, 0},
    {"mostly-left-out", WORK_LOST, 0},
    {"process-without-kernels", WORK_LOST, 0.05},
    {"launches-without-kernels", WORK_LOST, 0.05},
    {"graphs-without-kernels", WORK_LOST, 0.05},
    {"round-number", WORK_LOST, 0.05},
    {"clocks-apart", CLOCKS_WRONG, 0},
    {"before-launch", CLOCKS_WRONG, 0.05},
    {"no-durations", TIMES_WRONG, 0.05},
    {"long-kernels", TIMES_WRONG, 0},
    {"outlasts", TIMES_WRONG, 0},
    {"one-long-call", TIMES_WRONG, 0},
    {"impossible-times", TIMES_WRONG, 0},
    {"hosts-apart", RANKS_WRONG, 0},
    {"several-runs", RANKS_WRONG, 0},
    {"process-twice", RANKS_WRONG, 0},
    {"two-recordings", RANKS_WRONG, 0},
};

/* The doubts that rules must heed; *why[i] is the finding of bit i. */
static unsigned take_doctor(engine *a, const char *why[KINDS_OF_DOUBT])
{
    const rocl_table *t = find(a, "doctor_findings"), *overlap = find(a, "overlap");
    const double work = sum_of(overlap, "kernels") + sum_of(overlap, "copies");
    unsigned all = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        const char *key = text_in(t, i, "rule");
        const double events = number_in(t, i, "events");
        for (size_t k = 0; k < sizeof doubts / sizeof *doubts; k++) {
            if (strcmp(key, doubts[k].rule) != 0 || events < doubts[k].least * (work + events))
                continue;
            for (unsigned bit = 0; bit < KINDS_OF_DOUBT; bit++)
                if (doubts[k].about >> bit & 1 && !why[bit])
                    why[bit] = key;
            all |= doubts[k].about;
        }
        if (a->count == MOST_FINDINGS)
            continue;
        const rocl_datum *places = rocl_table_find_cell(t, i, "places");
        a->list[a->count++] = (finding){
            .level = text_in(t, i, "level"),
            .finding = text_in(t, i, "finding"),
            .evidence = text_in(t, i, "evidence"),
            .where = text_or_none(t, i, "where"),
            .cause = text_or_none(t, i, "cause"),
            .record = text_or_none(t, i, "record"),
            .report = "doctor",
            .rule = key,
            .event = text_or_none(t, i, "event"),
            .gain = -1,
            .rank = -1,
            .places = places->type == ROCL_DATUM_INT ? places->i : -1,
            .begin = -1,
            .end = -1,
        };
    }
    return all;
}

/* ---- the tables ------------------------------------------------------------------------------ */

static const rocl_table_tab tab = {"findings", "Findings"};

#define CELL(field)  ROCL_ALWAYS, ROCL_CELL(finding, field)
#define MINOR(field) ROCL_MINOR, ROCL_CELL(finding, field)
#define KNOWN(field) ROCL_CELL_BY(rocl_field_known, finding, field)

static const rocl_column finding_columns[] = {
    {"level", "Level", ROCL_UNIT_TEXT, CELL(level)},
    {"finding", "Finding", ROCL_UNIT_SENTENCE, CELL(finding)},
    {"evidence", "Evidence", ROCL_UNIT_SENTENCE, CELL(evidence)},
    {"gain_ns", "Could gain", ROCL_UNIT_NS, ROCL_ALWAYS, KNOWN(gain)},
    {"gain_percent", "Of the trace %", ROCL_UNIT_PERCENT, CELL(percent)},
    {"where", "Where", ROCL_UNIT_TEXT, CELL(where)},
    {"places", "Affected", ROCL_UNIT_COUNT, ROCL_ALWAYS, KNOWN(places)},
    {"event", "Event", ROCL_UNIT_TEXT, ROCL_IF_OWN, ROCL_CELL(finding, event)},
    {"cause", "Likely cause", ROCL_UNIT_SENTENCE, CELL(cause)},
    {"try", "What to try", ROCL_UNIT_SENTENCE, CELL(what)},
    {"record", "What helps", ROCL_UNIT_SENTENCE, CELL(record)},
    {"report", "Look at", ROCL_UNIT_TEXT, CELL(report)},
    {"rule", "Rule", ROCL_UNIT_TEXT, CELL(rule)},
    {"threshold", "Threshold", ROCL_UNIT_SENTENCE, MINOR(threshold)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_MINOR, KNOWN(rank)},
    {"name", "Name", ROCL_UNIT_TEXT, MINOR(name)},
    {"begin_ns", "Begin", ROCL_UNIT_TIME, ROCL_MINOR, KNOWN(begin)},
    {"end_ns", "End", ROCL_UNIT_TIME, ROCL_MINOR, KNOWN(end)},
    {"overlaps_with", "Overlaps with", ROCL_UNIT_TEXT, MINOR(overlaps)},
};
static const rocl_table_def finding_table = {&tab, "findings", "Findings",
                                             ROCL_COLUMNS(finding_columns)};

typedef struct rule_row {
    const char *rule, *report, *threshold, *remedy, *outcome, *why;
} rule_row;

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(rule_row, field)

static const rocl_column rule_columns[] = {
    {"rule", "Rule", ROCL_UNIT_TEXT, CELL(rule)},
    {"report", "Look at", ROCL_UNIT_TEXT, CELL(report)},
    {"threshold", "Threshold", ROCL_UNIT_SENTENCE, CELL(threshold)},
    {"try", "What to try", ROCL_UNIT_SENTENCE, CELL(remedy)},
    {"outcome", "Outcome", ROCL_UNIT_SENTENCE, CELL(outcome)},
    {"why", "Why", ROCL_UNIT_SENTENCE, CELL(why)},
};
static const rocl_table_def rule_table = {&tab, "rules", "Rules of the findings",
                                          ROCL_COLUMNS(rule_columns)};
const rocl_table_def *const rocl_finding_tables[] = {&finding_table, &rule_table, NULL};

/* ---- all together ---------------------------------------------------------------------------- */

static rule_row check_rule(engine *a, const finding_rule *r, unsigned doubted,
                           const char *const why[KINDS_OF_DOUBT])
{
    rule_row row = {r->name, r->report, r->threshold, r->remedy, "does not apply", NULL};
    const rocl_table *t = a->evidence ? rocl_tables_find(a->evidence, r->table) : NULL;
    char text[128];
    for (unsigned bit = 0; bit < KINDS_OF_DOUBT && !row.why; bit++)
        if (doubted & r->doubts & 1u << bit) {
            snprintf(text, sizeof text, "the trace cannot tell: doctor found %.60s", why[bit]);
            row.why = keep(a, text);
        }
    if (!row.why && !t) {
        snprintf(text, sizeof text, "it needs the report %s", r->report);
        row.why = keep(a, text);
    }
    if (!row.why && !a->enough && strcmp(r->table, "late_ranks") != 0)
        row.why = "fewer than 20 kernels and copies";
    a->rule = r;
    a->made = 0;
    row.why = row.why ? row.why : r->check(a, t);
    if (!row.why)
        row.outcome = a->made ? "stands out" : "does not stand out";
    return row;
}

/* Is the rule among those of a list "a b"? */
static bool is_listed(const char *list, const char *key)
{
    const char *at = list ? strstr(list, key) : NULL;
    return at && (at == list || at[-1] == ' ') && strchr(" ", at[strlen(key)]);
}

/* What a late rank has more than others is the gain of that; of all ranks it is the rest. */
static void take_from_late_ranks(engine *a)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < a->count; k++) {
            finding *f = &a->list[i], *late = &a->list[k];
            if (late->by != rocl_finding_rules || f->by == rocl_finding_rules || f->rank < 0 ||
                f->rank != late->rank || f->gain < 0)
                continue;
            f->overlaps = late->rule;
            f->gain = f->gain > late->gain ? f->gain - late->gain : -1;
        }
}

/* Takes away what others explain, and says of the rest what it has in common with others. */
static void relate_findings(engine *a)
{
    size_t n = 0;
    take_from_late_ranks(a);
    for (size_t i = 0; i < a->count; i++) {
        finding *f = &a->list[i];
        bool explained = false;
        for (size_t k = 0; k < a->count && f->by; k++)
            explained |= is_listed(f->by->explained_by, a->list[k].rule) && f->gain > 0 &&
                         2 * a->list[k].gain >= f->gain;
        if (explained)
            f->level = NULL;
    }
    for (size_t i = 0; i < a->count; i++)
        if (a->list[i].level)
            a->list[n++] = a->list[i];
    a->count = n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            finding *f = &a->list[i], *other = &a->list[k];
            if (f != other && f->gain > 0 && other->gain > 0 && !f->overlaps &&
                f->gain + other->gain > a->wall)
                f->overlaps = other->rule;
        }
}

static int rank_of_level(const finding *f)
{
    static const char *const levels[] = {"unusable", "doubt", "gain", "good", "note"};
    int i = 0;
    while (i < 4 && strcmp(levels[i], f->level) != 0)
        i++;
    return i;
}

/* The worst doubts first, as doctor has them; then what could gain the most. */
static int compare_findings(const void *a, const void *b)
{
    const finding *x = a, *y = b;
    const int c = rank_of_level(x) - rank_of_level(y);
    if (c || !x->by || !y->by)
        return c;
    return x->gain != y->gain ? (x->gain > y->gain ? -1 : 1) : (x->by > y->by) - (x->by < y->by);
}

static void sort_findings(engine *a)
{
    for (size_t i = 1; i < a->count; i++) /* stable, as qsort is not */
        for (size_t k = i; k && compare_findings(&a->list[k - 1], &a->list[k]) > 0; k--) {
            const finding f = a->list[k];
            a->list[k] = a->list[k - 1];
            a->list[k - 1] = f;
        }
}

/* The verdict, and why there is nothing to say, in one sentence. */
static void put_verdict(const engine *a, const rocl_report_rows *r, const rocl_stats_options *o)
{
    const rocl_table *doctor = find(a, "doctor");
    const char *verdict = doctor->row_count ? text_in(doctor, 0, "verdict") : NULL;
    size_t unsure = 0, gains = 0;
    for (size_t i = 0; i < a->count; i++) {
        unsure += rank_of_level(&a->list[i]) < 2;
        gains += rank_of_level(&a->list[i]) == 2 || rank_of_level(&a->list[i]) == 3;
    }
    const char *rest = gains || !o->findings ? ""
                       : a->enough           ? "; nothing stands out"
                                   : "; fewer than 20 kernels and copies are too few to say more";
    const char *reasons = unsure == 1 ? "reason" : "reasons";
    if (!verdict)
        rocl_set_note(r, "the trace was not checked, as filters hide a part of it%s", rest);
    else if (!strcmp(verdict, "sound"))
        rocl_set_note(r, "the trace is sound%s", rest);
    else if (!strcmp(verdict, "doubts"))
        rocl_set_note(r, "%zu %s to doubt the trace%s", unsure, reasons, rest);
    else
        rocl_set_note(r, "the trace is unusable, for %zu %s%s", unsure, reasons, rest);
    if (r->table)
        r->table->why_empty = r->table->note;
}

static void move_table(rocl_tables *out, size_t from, size_t to)
{
    const rocl_table table = out->tables[from];
    if (from > to)
        memmove(out->tables + to + 1, out->tables + to, (from - to) * sizeof table);
    out->tables[from > to ? to : from] = table;
}

static size_t index_of(const rocl_tables *out, const char *key)
{
    const rocl_table *t = rocl_tables_find(out, key);
    return t ? (size_t)(t - out->tables) : out->count;
}

/* First what was found, then where the time of each GPU went; what doctor alone has found stands
 * behind its verdict. */
static void order_tables(rocl_tables *out, bool findings)
{
    size_t to = 0;
    while (out->tables[to].header)
        to++;
    move_table(out, out->count - 1, findings ? to : index_of(out, "doctor") + 1);
    const size_t overlap = index_of(out, "overlap");
    if (findings && overlap < out->count)
        move_table(out, overlap, to + 1);
}

rocl_status rocl_put_findings(rocl_tables *out, rocl_trace *t, int64_t wall,
                              const rocl_stats_options *o, rocl_error *err)
{
    const bool doctor = o->reports >> ROCL_REPORT_DOCTOR & 1;
    const char *why[KINDS_OF_DOUBT] = {NULL};
    enum { MOST_RULES = 64 };
    rule_row outcomes[MOST_RULES];
    const size_t rules =
        rocl_finding_rule_count < MOST_RULES ? rocl_finding_rule_count : MOST_RULES;
    bool printed = o->findings || (doctor && out->evidence && !o->tables);
    for (const char *const *key = o->tables; doctor && key && *key; key++)
        printed |= !strcmp(*key, finding_table.key);
    if (!printed)
        return ROCL_OK;
    engine a = {.evidence = out->evidence, .out = out, .wall = wall};
    const rocl_collector c = {.options = o, .trace = t};
    const rocl_table *overlap = find(&a, "overlap");
    a.enough = sum_of(overlap, "kernels") + sum_of(overlap, "copies") >= LEAST_WORK;
    const unsigned doubted = take_doctor(&a, why);
    for (size_t i = 0; i < rules && o->findings; i++)
        outcomes[i] = check_rule(&a, &rocl_finding_rules[i], doubted, why);
    relate_findings(&a);
    sort_findings(&a);
    rocl_report_rows r = rocl_begin_table(&c, out, &finding_table, o->ids ? ROCL_IF_OWN : 0);
    if (!r.table)
        return rocl_fail_memory(err);
    r.table->essential = r.table->fields = true;
    put_verdict(&a, &r, o);
    for (size_t i = 0; i < a.count; i++) {
        a.list[i].percent = rocl_percent(a.list[i].gain > 0 ? a.list[i].gain : -1, wall);
        if (a.list[i].gain <= 0)
            a.list[i].percent = NAN;
        rocl_add_row(&r, &a.list[i]);
    }
    order_tables(out, o->findings);
    if (o->findings && !o->brief) {
        r = rocl_begin_table(&c, out, &rule_table, 0);
        for (size_t i = 0; i < rules; i++)
            rocl_add_row(&r, &outcomes[i]);
    }
    return ROCL_OK;
}
