/* Several runs against several runs: each is a sample, and Welch's test says whether a difference
 * is larger than what runs of one side differ among themselves. Of each run only sums by name stay.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/baseline.h"
#include "analysis/causes.h"
#include "analysis/change.h"
#include "analysis/compare_renamed.h"
#include "analysis/compare_runs.h"
#include "analysis/domains.h"
#include "analysis/limits.h"
#include "analysis/student.h"
#include "base/array.h"
#include "model/steps.h"

#define LEVEL 0.01  /* level of significance */
#define SMALL 0.001 /* changes below this share of the domain do not fail */

enum { A, B, SIDES };

struct rocl_runs {
    rocl_strings *keys;
    rocl_side *all; /* in the order in which they came; bit: of A or B */
    size_t count, cap;
    rocl_status outcome;
};

/* ---- runs ------------------------------------------------------------------------------------ */

rocl_status rocl_runs_new(rocl_runs **out, rocl_error *err)
{
    rocl_runs *r = calloc(1, sizeof *r);
    if (r)
        r->keys = rocl_strings_new();
    if (!r || !r->keys) {
        rocl_runs_free(r);
        return rocl_fail_memory(err);
    }
    *out = r;
    return ROCL_OK;
}

void rocl_runs_free(rocl_runs *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++)
        rocl_side_free(&r->all[i]);
    free(r->all);
    rocl_strings_free(r->keys);
    free(r);
}

static rocl_side *new_run(rocl_runs *r, bool b)
{
    if (!ROCL_GROW(r->all, r->cap, r->count + 1))
        return NULL;
    rocl_side *s = &r->all[r->count++];
    *s = (rocl_side){.keys = r->keys, .bit = b};
    return s;
}

rocl_status rocl_runs_add(rocl_runs *r, bool b, rocl_trace *t, rocl_error *err)
{
    rocl_side *s = new_run(r, b);
    rocl_sort_space *space = rocl_sort_space_new(t->opt.memory, t->opt.jobs, t->opt.tmpdir);
    rocl_status st = s && space ? rocl_side_read(s, t, space, err) : rocl_fail_memory(err);
    rocl_sort_space_free(space);
    if (st == ROCL_OK) {
        st = rocl_trace_outcome_utf8(t);
        r->outcome = st != ROCL_OK ? st : r->outcome;
    }
    return st;
}

rocl_status rocl_runs_add_baseline(rocl_runs *r, bool b, const rocl_baseline *of, rocl_error *err)
{
    rocl_side *s = new_run(r, b);
    return s ? rocl_side_read_baseline(s, of, err) : rocl_fail_memory(err);
}

/* ---- samples --------------------------------------------------------------------------------- */

typedef struct run_row {
    const char *domain;
    unsigned place;         /* a rocl_domain; ROCL_DOMAINS: of GPUs */
    bool judged;            /* limits are for it */
    rocl_view name, name_b; /* owned by the keys, or static; name_b: if a kernel was renamed */
    double likeness;
    const char *status, *class;
    uint64_t runs[SIDES]; /* that have it */
    double calls[SIDES];  /* in a run, on average */
    rocl_sample_mean of[SIDES];
    double change, percent, p;
    double low, high; /* the change is in this interval */
    bool significant;
} run_row;

typedef struct run_rows {
    run_row *all;
    size_t count, cap;
    size_t runs[SIDES];
    double *values[SIDES]; /* scratch: a value of each run */
} run_rows;

static void describe_row(run_row *row, const run_rows *rows)
{
    for (unsigned k = A; k <= B; k++)
        row->of[k] = rocl_sample_of(rows->values[k], rows->runs[k]);
    row->change = row->of[B].mean - row->of[A].mean;
    row->percent = row->of[A].mean > 0 ? 100 * row->change / row->of[A].mean : NAN;
    row->p = rocl_welch_p(&row->of[A], &row->of[B]);
    const double margin = rocl_welch_margin(&row->of[A], &row->of[B], LEVEL);
    row->low = row->change - margin;
    row->high = row->change + margin;
    row->significant = row->p < LEVEL;
    row->status = !row->runs[A]   ? "added"
                  : !row->runs[B] ? "removed"
                  : row->name_b.p ? "renamed"
                                  : "both";
}

static run_row *new_row(run_rows *rows)
{
    if (!ROCL_GROW(rows->all, rows->cap, rows->count + 1))
        return NULL;
    rows->all[rows->count] = (run_row){.likeness = NAN};
    return &rows->all[rows->count++];
}

/* A name, of which each run has a total, or 0. id_b: its name in B. */
static bool add_name(run_rows *rows, const rocl_runs *r, uint32_t id, uint32_t id_b,
                     unsigned likeness, const rocl_kernel_classes *classes)
{
    run_row *row = new_row(rows);
    size_t n[SIDES] = {0};
    if (!row)
        return false;
    const rocl_view name = row->name = rocl_key_name(r->keys, id);
    row->place = rocl_key_domain(name.p - 1);
    row->judged = true;
    row->domain = rocl_domain_name(row->place);
    if (row->place == ROCL_DOMAIN_KERNELS)
        row->class = rocl_kernel_class_name(classes, rocl_classify_kernel(classes, name.p, name.n));
    if (id_b != id) {
        row->name_b = rocl_key_name(r->keys, id_b);
        row->likeness = likeness / 100.0;
    }
    for (size_t i = 0; i < r->count; i++) {
        const unsigned k = r->all[i].bit;
        const rocl_side_name sums = rocl_side_name_of(&r->all[i], k == A ? id : id_b);
        rows->values[k][n[k]++] = (double)sums.ns;
        row->runs[k] += sums.count > 0;
        row->calls[k] += (double)sums.count / (double)rows->runs[k];
    }
    describe_row(row, rows);
    return true;
}

/* Sums over the GPUs of a run, in ns. */
static bool add_gpus(run_rows *rows, const rocl_runs *r)
{
    enum { WALL, BUSY, IDLE, MEASURES };
    static const char *const names[MEASURES] = {"wall time", "busy", "idle"};
    bool any = false;
    for (size_t i = 0; i < r->count; i++)
        any |= r->all[i].gpu_time.gpus > 0;
    for (size_t m = 0; any && m < MEASURES; m++) {
        run_row *row = new_row(rows);
        size_t n[SIDES] = {0};
        if (!row)
            return false;
        row->domain = "GPUS";
        row->place = ROCL_DOMAINS;
        row->judged = m == WALL;
        row->name = (rocl_view){names[m], strlen(names[m])};
        for (size_t i = 0; i < r->count; i++) {
            const unsigned k = r->all[i].bit;
            const rocl_gpu_sums *g = &r->all[i].gpu_time;
            rows->values[k][n[k]++] = (double)(m == WALL   ? g->whole[ROCL_WALL_GPU]
                                               : m == BUSY ? g->work - g->beside
                                                           : g->idle[ROCL_WALL_GPU]);
            row->runs[k] += g->gpus > 0;
        }
        row->calls[A] = row->calls[B] = NAN;
        describe_row(row, rows);
    }
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const run_row *x = a, *y = b;
    int c = rocl_number_order(y->significant, x->significant);
    c = c ? c : rocl_compare_double(&(double){fabs(y->change)}, &(double){fabs(x->change)});
    c = c ? c : strcmp(x->domain, y->domain);
    return c ? c : rocl_compare_views(x->name, y->name);
}

static rocl_status make_rows(run_rows *rows, const rocl_runs *r, const rocl_kernel_classes *classes,
                             rocl_error *err)
{
    rocl_side sides[SIDES] = {{0}}; /* all runs of a side as one, to find renamed kernels */
    rocl_renamed *renamed = NULL;
    size_t pairs;
    rocl_status st = ROCL_OK;
    for (unsigned k = A; k <= B; k++) {
        rows->values[k] = calloc(r->count + 1, sizeof *rows->values[k]);
        sides[k] = (rocl_side){.keys = r->keys, .bit = k};
        if (!rows->values[k] ||
            !ROCL_GROW(sides[k].names, sides[k].name_cap, rocl_strings_count(r->keys)))
            st = rocl_fail_memory(err);
    }
    for (size_t i = 0; i < r->count && st == ROCL_OK; i++)
        for (uint32_t id = 0; id < r->all[i].name_cap && id < rocl_strings_count(r->keys); id++) {
            const rocl_side_name from = rocl_side_name_of(&r->all[i], id);
            rocl_side_name *to = &sides[r->all[i].bit].names[id];
            to->count += from.count;
            to->ns += from.ns;
            to->items += from.items;
        }
    if (st == ROCL_OK)
        st = rocl_find_renamed(&renamed, &pairs, sides, classes, err);
    for (uint32_t id = 1; st == ROCL_OK && id < rocl_strings_count(r->keys); id++) {
        const uint32_t partner = renamed[id].partner;
        if (partner && !rocl_side_name_of(&sides[A], id).count)
            continue; /* it is the second name of another row */
        if (!add_name(rows, r, id, partner ? partner : id, renamed[id].likeness, classes))
            st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK && !add_gpus(rows, r))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && rows->count)
        qsort(rows->all, rows->count, sizeof *rows->all, compare_rows);
    for (unsigned k = A; k <= B; k++) {
        free(rows->values[k]);
        rocl_side_free(&sides[k]);
    }
    free(renamed);
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static rocl_datum field_yes(const rocl_report_rows *r, const void *field)
{
    return rocl_field_string(r, &(const char *){*(const bool *)field ? "yes" : "no"});
}

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(run_row, field)
#define FULL(field) ROCL_IF_FULL, ROCL_CELL(run_row, field)

static const rocl_column columns[] = {
    {"domain", "Domain", ROCL_UNIT_TEXT, CELL(domain)},
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(run_row, name)},
    {"status", "Status", ROCL_UNIT_TEXT, CELL(status)},
    {"runs_a", "Runs A", ROCL_UNIT_COUNT, FULL(runs[A])},
    {"runs_b", "Runs B", ROCL_UNIT_COUNT, FULL(runs[B])},
    {"calls_a", "Calls A", ROCL_UNIT_NUMBER, FULL(calls[A])},
    {"calls_b", "Calls B", ROCL_UNIT_NUMBER, FULL(calls[B])},
    {"mean_a_ns", "Mean A", ROCL_UNIT_NS, CELL(of[A].mean)},
    {"deviation_a_ns", "Deviation A", ROCL_UNIT_NS, CELL(of[A].deviation)},
    {"mean_b_ns", "Mean B", ROCL_UNIT_NS, CELL(of[B].mean)},
    {"deviation_b_ns", "Deviation B", ROCL_UNIT_NS, CELL(of[B].deviation)},
    {"change_ns", "Change", ROCL_UNIT_NS, CELL(change)},
    {"change_percent", "Change %", ROCL_UNIT_PERCENT, CELL(percent)},
    {"p", "p", ROCL_UNIT_NUMBER, CELL(p)},
    {"significant", "Significant", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(field_yes, run_row, significant)},
    {"class", "Class", ROCL_UNIT_TEXT, FULL(class)},
    {"name_b", "Name in B", ROCL_UNIT_TEXT, ROCL_IF_OWN, ROCL_CELL(run_row, name_b)},
    {"likeness", "Likeness %", ROCL_UNIT_PERCENT, ROCL_IF_OWN, ROCL_CELL(run_row, likeness)},
    {"change_low_ns", "Change from", ROCL_UNIT_NS, FULL(low)},
    {"change_high_ns", "Change to", ROCL_UNIT_NS, FULL(high)},
};

const rocl_table_def rocl_runs_table = {&rocl_compare_tab, "compare_runs",
                                        "From the runs of A to those of B", ROCL_COLUMNS(columns)};

typedef struct run_line {
    const char *side;
    rocl_view files;
    int64_t wall, busy, idle;
    uint64_t kernels;
} run_line;

static const rocl_column line_columns[] = {
    {"side", "Side", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(run_line, side)},
    {"files", "Files", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(run_line, files)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL(run_line, kernels)},
    {"wall_ns", "Wall", ROCL_UNIT_NS, ROCL_ALWAYS, ROCL_CELL(run_line, wall)},
    {"busy_ns", "Busy", ROCL_UNIT_NS, ROCL_ALWAYS, ROCL_CELL(run_line, busy)},
    {"idle_ns", "Idle", ROCL_UNIT_NS, ROCL_ALWAYS, ROCL_CELL(run_line, idle)},
};

const rocl_table_def rocl_run_list_table = {&rocl_compare_tab, "compare_run_list", "Runs",
                                            ROCL_COLUMNS(line_columns)};

static void put_lines(const rocl_runs *r, rocl_tables *out, const rocl_collector *c)
{
    const rocl_report_rows t = rocl_begin_table(c, out, &rocl_run_list_table, 0);
    rocl_set_note(&t, "wall time of all GPUs together, from the first to the last kernel or copy");
    for (unsigned k = A; k <= B; k++)
        for (size_t i = 0; i < r->count; i++) {
            const rocl_side *s = &r->all[i];
            run_line line = {.side = k == A ? "A" : "B",

                             .wall = rocl_narrow(s->gpu_time.whole[ROCL_WALL_GPU]),
                             .busy = rocl_narrow(s->gpu_time.work - s->gpu_time.beside),
                             .idle = rocl_narrow(s->gpu_time.idle[ROCL_WALL_GPU])};
            if (s->bit != k)
                continue;
            if (s->header[0].type == ROCL_DATUM_TEXT)
                line.files = (rocl_view){s->header[0].text, s->header[0].len};
            for (uint32_t id = 1; id < rocl_strings_count(r->keys); id++)
                if (rocl_key_domain(rocl_strings_get(r->keys, id, NULL)) == ROCL_DOMAIN_KERNELS)
                    line.kernels += rocl_side_name_of(s, id).count;
            rocl_add_row(&t, &line);
        }
}

static void put_rows(const run_rows *rows, rocl_tables *out, const rocl_collector *c)
{
    size_t renamed = 0, significant = 0;
    for (size_t i = 0; i < rows->count; i++) {
        renamed += rows->all[i].name_b.p != NULL;
        significant += rows->all[i].significant;
    }
    const rocl_report_rows t =
        rocl_begin_table(c, out, &rocl_runs_table, renamed || !c->options->brief ? ROCL_IF_OWN : 0);
    rocl_set_note(&t,
                  "%zu run%s against %zu; %zu of %zu rows differ significantly: p < 0.01 in "
                  "Welch's test of the totals of runs",
                  rows->runs[A], rows->runs[A] == 1 ? "" : "s", rows->runs[B], significant,
                  rows->count);
    rocl_add_top_rows(&t, rows->all, rows->count, sizeof *rows->all, NULL);
}

/* The cause is the row of GPU work, or of idle time, that changed most in the direction of the
 * whole, of those that are no noise. */
static void put_change(const rocl_runs *r, const run_rows *rows, rocl_tables *out,
                       const rocl_collector *c)
{
    rocl_change change = rocl_change_of(r->all, r->count);
    for (size_t i = 0; i < rows->count && !change.cause; i++) {
        const run_row *row = &rows->all[i];
        if (row->significant && row->change * change.change > 0 &&
            (row->place == ROCL_DOMAIN_KERNELS || row->place == ROCL_DOMAIN_MEMORY_COPIES ||
             (row->place == ROCL_DOMAINS && rocl_view_is(row->name, "idle")))) {
            change.cause = row->domain;
            change.class = row->class;
            change.most = row->name;
            change.cause_change = row->change;
        }
    }
    rocl_change_put(&change, out, c);
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Only B has it, but it is a step, of which A has others. */
static bool is_further_step(const run_rows *rows, const run_row *row)
{
    size_t stem, other;
    uint64_t number;
    if (row->runs[A] || row->place != ROCL_DOMAIN_MARKERS ||
        !rocl_read_step(row->name.p, row->name.n, &stem, &number))
        return false;
    for (size_t i = 0; i < rows->count; i++) {
        const run_row *r = &rows->all[i];
        if (r->runs[A] && r->place == ROCL_DOMAIN_MARKERS &&
            rocl_read_step(r->name.p, r->name.n, &other, &number) && other == stem &&
            !memcmp(r->name.p, row->name.p, stem))
            return true;
    }
    return false;
}

static rocl_judgement judge_row(const run_rows *rows, const run_row *row, bool average,
                                double limit, double domain)
{
    rocl_judgement j = {.rule = average ? "average" : "total",
                        .domain = row->domain,
                        .name = row->name,
                        .before = row->of[A].mean,
                        .after = row->of[B].mean,
                        .limit = limit,
                        .cost = row->change,
                        .added = !row->runs[A]};
    rocl_judge(&j,
               !row->runs[B]                              ? "it is not in B"
               : is_further_step(rows, row)               ? "a step, of which A has others"
               : j.after <= 0 || j.after < SMALL * domain ? "below 0.1 % of its domain"
                                                          : NULL,
               average && !row->significant ? "within the noise of runs" : NULL,
               ROCL_VERDICT_PASSED);
    return j;
}

static void check_runs(rocl_gate *g, const run_rows *rows, rocl_tables *out,
                       const rocl_collector *c)
{
    rocl_limits limits = rocl_limits_begin(g);
    double domains[ROCL_DOMAINS + 1] = {0};
    for (size_t i = 0; i < rows->count; i++)
        if (rows->all[i].place < ROCL_DOMAINS)
            domains[rows->all[i].place] += rows->all[i].of[B].mean;
    for (size_t i = 0; i < rows->count; i++) {
        const run_row *row = &rows->all[i];
        const double domain = domains[row->place];
        if (!row->judged || !rocl_limits_test(&limits, c, row->place, row->name, row->runs))
            continue;
        const rocl_judgement average = judge_row(rows, row, true, g->average, domain);
        const rocl_judgement total = judge_row(rows, row, false, g->total, domain);
        if (isfinite(g->average))
            rocl_limits_add(&limits, &average, &g->grown, true, out);
        if (g->totals)
            rocl_limits_add(&limits, &total, &g->total_names, true, out);
    }
    rocl_limits_put(&limits, out, c);
}

/* ---- all ------------------------------------------------------------------------------------- */

rocl_status rocl_runs_compare(rocl_runs *r, rocl_trace *t, const rocl_stats_options *o,
                              rocl_gate *gate, rocl_tables **tables, rocl_error *err)
{
    const rocl_collector c = {.trace = t, .options = o};
    run_rows rows = {0};
    rocl_tables *out = rocl_tables_new();
    for (size_t i = 0; i < r->count; i++)
        rows.runs[r->all[i].bit]++;
    rocl_status st = ROCL_OK;
    if (!out)
        st = rocl_fail_memory(err);
    else if (!rows.runs[A] || !rows.runs[B])
        st = rocl_fail(err, ROCL_USAGE, "A and B each need a run");
    else if (r->count < 3)
        st = rocl_fail(err, ROCL_USAGE, "a run of A and one of B are two traces, not several runs");
    if (st == ROCL_OK)
        st = make_rows(&rows, r, t->classes, err);
    if (st == ROCL_OK) {
        if (o->comparability)
            put_lines(r, out, &c);
        put_rows(&rows, out, &c);
        if (gate)
            check_runs(gate, &rows, out, &c);
        if (o->comparability)
            put_change(r, &rows, out, &c);
        st = rocl_check_complete(out, t, err);
    }
    free(rows.all);
    if (st != ROCL_OK) {
        rocl_tables_free(out);
        return st;
    }
    *tables = out;
    return r->outcome;
}
