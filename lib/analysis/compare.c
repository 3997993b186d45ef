/* Two traces side by side: what is new, gone, renamed, slower or faster, the largest change first.
 *
 * The events of both traces go through one external sort by domain and name, duration and trace:
 * what comes out is the merge of two sorted samples for each name, from which percentiles and Mann
 * and Whitney's U follow exactly, in bounded memory. The durations of kernels that were renamed are
 * set aside, and sorted once more under one name. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/baseline.h"
#include "analysis/causes.h"
#include "analysis/change.h"
#include "analysis/compare_renamed.h"
#include "analysis/compare_runs.h"
#include "analysis/compare_sequence.h"
#include "analysis/compare_side.h"
#include "analysis/compare_steps.h"
#include "analysis/limits.h"
#include "analysis/distribution.h"
#include "analysis/domains.h"
#include "analysis/report.h"
#include "analysis/mann_whitney.h"
#include "base/array.h"
#include "model/kernel_class.h"
#include "model/steps.h"

#define LEVEL 0.01  /* level of significance */
#define SMALL 0.001 /* changes below this share of the whole do not fail */
#define LIKE  90    /* percent: so much of the time is in kernels of both, or they are others */

enum { A, B, SIDES };

/* From CHANGED on it is in both traces. */
typedef enum status { ADDED, REMOVED, CHANGED, RENAMED, SAME } status;

/* A name in both traces; a row of the table as well. What the table has no value for is not a
 * number, or NULL. */
typedef struct pair {
    rocl_domain domain;
    rocl_view name, name_b; /* owned by the keys; name_b: NULL unless a kernel was renamed */
    double likeness;        /* how like both names are, in percent */
    struct pair *other;     /* if a kernel was renamed: the name that it has in the other trace */
    rocl_distribution of[SIDES];
    rocl_probability test; /* of those that are in both */
    status status;
    const char *significant;
    bool differ;       /* not the same durations, each as often */
    bool tested;       /* limits are for it */
    bool further_step; /* only B has it, but it is a step, of which A has others */
    int64_t change, calls_change, duration_change; /* the latter INT64_MIN unless it is in both */
    double change_percent, average_percent;
    const char *class; /* NULL unless it is a kernel */
    uint64_t names;    /* names that kernels of a class have */
} pair;

/* What is compared: one of both. */
typedef struct compared {
    rocl_trace *trace;
    const rocl_baseline *baseline;
} compared;

typedef struct pairs {
    rocl_strings *keys; /* a byte for the domain, then the name */
    pair *all;          /* by id of the key, from 1 */
    size_t count;
    size_t renamed, by_place; /* by_place: of the former those whose names alone would not do */
    uint32_t *same;           /* by key: the key that it counts as, of a new name that in A */
} pairs;

/* ---- pairs ----------------------------------------------------------------------------------- */

static rocl_status make_pairs(pairs *p, const rocl_side *sides, rocl_error *err)
{
    size_t n = rocl_strings_count(p->keys);
    p->all = calloc(n, sizeof *p->all);
    if (!p->all)
        return rocl_fail_memory(err);
    for (uint32_t id = 1; id < n; id++) { /* 0 is "", no key */
        pair *pr = &p->all[id - 1];
        pr->name = rocl_key_name(p->keys, id);
        pr->domain = rocl_key_domain(pr->name.p - 1);
        pr->likeness = NAN;
        for (unsigned k = A; k <= B; k++)
            rocl_distribution_begin(&pr->of[k], rocl_side_name_of(&sides[k], id).count);
    }
    p->count = n - 1;
    return ROCL_OK;
}

/* ---- kernels that were renamed ---- */

static rocl_status match_renamed(pairs *p, const rocl_side *sides,
                                 const rocl_kernel_classes *classes, rocl_error *err)
{
    rocl_renamed *renamed;
    rocl_status st = rocl_find_renamed(&renamed, &p->renamed, sides, classes, err);
    p->same = malloc((p->count + 1) * sizeof *p->same);
    if (st == ROCL_OK && !p->same)
        st = rocl_fail_memory(err);
    for (uint32_t id = 0; id <= p->count && st == ROCL_OK; id++) {
        const uint32_t partner = renamed[id].partner;
        p->same[id] = partner && !rocl_side_name_of(&sides[A], id).count ? partner : id;
        if (!partner || p->same[id] != id)
            continue;
        pair *gone = &p->all[id - 1], *added = &p->all[partner - 1];
        gone->name_b = added->name;
        gone->likeness = renamed[id].likeness / 100.0;
        gone->other = added;
        added->other = gone;
        gone->of[B] = added->of[B];
        p->by_place += renamed[id].by_place;
    }
    free(renamed);
    return st;
}

/* ---- durations ---- */

/* Values come by pair and in ascending order: a run is how often one is there in A and in B. aside:
 * gets those of kernels that were renamed, under their name in A; NULL: there are no such ones. */
static rocl_status fill_pairs(pairs *p, rocl_sorter *sorter, rocl_sorter *aside, rocl_error *err)
{
    rocl_mann_whitney *test = calloc(1, sizeof *test);
    rocl_status st = test ? rocl_sorter_start(sorter, err) : rocl_fail_memory(err);
    pair *of_run = NULL;
    int64_t ns_of_run = 0;
    uint64_t run[SIDES] = {0};
    for (bool more = true; st == ROCL_OK && more;) {
        rocl_sort_record rec;
        st = rocl_sorter_next(sorter, &rec, &more, err);
        if (st != ROCL_OK)
            break;
        pair *next = more ? &p->all[rec.key[0] - 1] : NULL;
        if (more && aside && next->other) {
            const pair *first = next->name_b.p ? next : next->other;
            const uint64_t key[2] = {(uint64_t)(first - p->all) + 1, rec.key[1]};
            st = rocl_sorter_add(aside, 0, key, NULL, 0, err);
            continue;
        }
        int64_t ns = more ? (int64_t)(rec.key[1] >> 1) : 0;
        if (of_run && (next != of_run || ns != ns_of_run)) {
            of_run->differ |= run[A] != run[B];
            rocl_mann_whitney_add(test, run[A], run[B]);
            run[A] = run[B] = 0;
        }
        if (of_run && next != of_run) {
            if (!of_run->differ)
                test->m = 0; /* nothing needs to be computed of equal samples */
            of_run->test = rocl_mann_whitney_end(test);
        }
        if (!more)
            break;
        unsigned which = rec.key[1] & 1;
        run[which]++;
        rocl_distribution_take(&next->of[which], ns);
        of_run = next;
        ns_of_run = ns;
    }
    free(test);
    return st;
}

/* Totals are not negative, so that the change does not overflow. */
static void compute_change(pair *p)
{
    p->change = p->of[B].total - p->of[A].total;
    p->change_percent = rocl_percent(p->change, p->of[A].total);
}

static void describe_pair(pair *p)
{
    const rocl_distribution *a = &p->of[A], *b = &p->of[B];
    p->status = !a->taken     ? ADDED
                : !b->taken   ? REMOVED
                : p->name_b.p ? RENAMED
                : p->differ   ? CHANGED
                              : SAME;
    compute_change(p);
    p->calls_change = p->duration_change = INT64_MIN;
    p->average_percent = NAN;
    if (p->status < CHANGED) {
        p->test.p = NAN;
        return;
    }
    rocl_i128 calls, duration;
    rocl_split_change(a, b, &calls, &duration);
    p->calls_change = rocl_narrow(calls);
    p->duration_change = rocl_narrow(duration);
    p->significant = p->test.p < LEVEL ? "yes" : "no";
    const double before = rocl_distribution_average(a);
    if (a->total > 0)
        p->average_percent = 100 * (rocl_distribution_average(b) - before) / before;
}

/* Is its name that of the steps of A, except for the number? */
static bool is_like_steps(const pair *p, const rocl_side_steps *a)
{
    const size_t n = a->marker_len;
    size_t digits = n;
    while (digits < p->name.n && isdigit((unsigned char)p->name.p[digits]))
        digits++;
    return a->marker && p->domain == ROCL_DOMAIN_MARKERS && p->name.n > n &&
           !memcmp(p->name.p, a->marker, n) && digits == p->name.n;
}

static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    int c = rocl_compare_changes(x->change, y->change);
    c = c ? c : rocl_number_order(x->domain, y->domain);
    return c ? c : rocl_compare_views(x->name, y->name);
}

/* Goes over both. Free the pairs and the sides also after a failure. */
static rocl_status collect_pairs(pairs *p, rocl_side *sides, const compared *of, rocl_error *err)
{
    const rocl_options *o = &of[B].trace->opt;
    const unsigned in_a = of[A].trace ? of[A].trace->opt.jobs : 1;
    /* Not the traces' own spaces: those are laid out for their own numbers of workers. */
    rocl_sort_space *space =
        rocl_sort_space_new(o->memory, in_a > o->jobs ? in_a : o->jobs, o->tmpdir);
    rocl_sorter *sorter = space ? rocl_sorter_new(space, 2) : NULL, *aside = NULL;
    p->keys = rocl_strings_new();
    rocl_status st = sorter && p->keys ? ROCL_OK : rocl_fail_memory(err);
    for (unsigned k = A; k <= B && st == ROCL_OK; k++) {
        sides[k] = (rocl_side){.keys = p->keys,
                               .sorter = sorter,
                               .bit = k,
                               .wants_steps = true,
                               .other = k == B ? &sides[A].steps : NULL};
        st = of[k].trace ? rocl_side_read(&sides[k], of[k].trace, space, err)
                         : rocl_side_read_baseline(&sides[k], of[k].baseline, err);
    }
    if (st == ROCL_OK)
        st = make_pairs(p, sides, err);
    if (st == ROCL_OK)
        st = match_renamed(p, sides, of[B].trace->classes, err);
    if (st == ROCL_OK && p->renamed && !(aside = rocl_sorter_new(space, 2)))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = fill_pairs(p, sorter, aside, err);
    if (st == ROCL_OK && aside)
        st = fill_pairs(p, aside, NULL, err);
    /* Kernels that were renamed are in the list once, under their name in A. */
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++)
        if (!p->all[i].other || p->all[i].name_b.p)
            p->all[n++] = p->all[i];
    p->count = n;
    for (size_t i = 0; i < p->count && st == ROCL_OK; i++) {
        pair *pr = &p->all[i];
        describe_pair(pr);
        pr->further_step = pr->status == ADDED && is_like_steps(pr, &sides[A].steps);
    }
    if (st == ROCL_OK)
        qsort(p->all, p->count, sizeof *p->all, compare_pairs);
    rocl_sorter_free(sorter);
    rocl_sorter_free(aside);
    rocl_sort_space_free(space);
    return st;
}

/* ---- the table ------------------------------------------------------------------------------- */

static rocl_datum field_domain(const rocl_report_rows *r, const void *field)
{
    return rocl_field_string(r, &(const char *){rocl_domain_name(*(const rocl_domain *)field)});
}

static rocl_datum field_status(const rocl_report_rows *r, const void *field)
{
    static const char *const names[] = {"added", "removed", "changed", "renamed", "same"};
    return rocl_field_string(r, &names[*(const status *)field]);
}

static rocl_datum field_median(const rocl_report_rows *r, const void *field)
{
    const rocl_distribution *d = field;
    (void)r;
    return d->taken ? rocl_datum_int(d->median) : (rocl_datum){0};
}

static rocl_datum field_pair_class(const rocl_report_rows *r, const void *row)
{
    const pair *p = row;
    return p->domain == ROCL_DOMAIN_KERNELS ? rocl_class_datum(r, p->name.p, p->name.n)
                                            : (rocl_datum){0};
}

#define BY(fn, field) ROCL_CELL_BY(fn, pair, field)
#define CELL(field)   ROCL_CELL(pair, field)
#define SUM(field)    ROCL_IN_REST, CELL(field)
#define FULL          ROCL_IF_FULL /* the averages can be had from what is left in brief */

static const rocl_column columns[] = {
    {"domain", "Domain", ROCL_UNIT_TEXT, ROCL_ALWAYS, BY(field_domain, domain)},
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(name)},
    {"status", "Status", ROCL_UNIT_TEXT, ROCL_ALWAYS, BY(field_status, status)},
    {"calls_a", "Calls A", ROCL_UNIT_COUNT, SUM(of[A].taken)},
    {"calls_b", "Calls B", ROCL_UNIT_COUNT, SUM(of[B].taken)},
    {"total_a_ns", "Total A", ROCL_UNIT_NS, SUM(of[A].total)},
    {"total_b_ns", "Total B", ROCL_UNIT_NS, SUM(of[B].total)},
    {"change_ns", "Change", ROCL_UNIT_NS, SUM(change)},
    {"change_percent", "Change %", ROCL_UNIT_PERCENT, SUM(change_percent)},
    {"average_a_ns", "Average A", ROCL_UNIT_NS, FULL, BY(rocl_field_average, of[A])},
    {"average_b_ns", "Average B", ROCL_UNIT_NS, FULL, BY(rocl_field_average, of[B])},
    {"average_change_percent", "Average %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, CELL(average_percent)},
    {"median_a_ns", "Median A", ROCL_UNIT_NS, FULL, BY(field_median, of[A])},
    {"median_b_ns", "Median B", ROCL_UNIT_NS, FULL, BY(field_median, of[B])},
    {"p", "p", ROCL_UNIT_NUMBER, FULL, CELL(test.p)},
    {"significant", "Significant", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(significant)},
    {"class", "Class", ROCL_UNIT_TEXT, FULL, field_pair_class, 0},
    {"calls_change_ns", "By calls", ROCL_UNIT_NS, FULL, BY(rocl_field_or_none, calls_change)},
    {"duration_change_ns", "By durations", ROCL_UNIT_NS, FULL,
     BY(rocl_field_or_none, duration_change)},
    {"name_b", "Name in B", ROCL_UNIT_TEXT, ROCL_IF_OWN, CELL(name_b)},
    {"likeness", "Likeness %", ROCL_UNIT_PERCENT, ROCL_IF_OWN, CELL(likeness)},
};

static const rocl_table_def compare_table = {
    &rocl_compare_tab, "compare", "From A to B by domain and name", ROCL_COLUMNS(columns)};

static const rocl_column class_columns[] = {
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(class)},
    {"names", "Names", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(names)},
    {"calls_a", "Calls A", ROCL_UNIT_COUNT, SUM(of[A].taken)},
    {"calls_b", "Calls B", ROCL_UNIT_COUNT, SUM(of[B].taken)},
    {"total_a_ns", "Total A", ROCL_UNIT_NS, SUM(of[A].total)},
    {"total_b_ns", "Total B", ROCL_UNIT_NS, SUM(of[B].total)},
    {"change_ns", "Change", ROCL_UNIT_NS, SUM(change)},
    {"change_percent", "Change %", ROCL_UNIT_PERCENT, SUM(change_percent)},
};

static const rocl_table_def class_table = {&rocl_compare_tab, "compare_classes",
                                           "Kernels from A to B by class",
                                           ROCL_COLUMNS(class_columns)};

static void add_pair(void *sum, const void *row)
{
    pair *s = sum;
    const pair *p = row;
    for (unsigned k = A; k <= B; k++)
        rocl_distribution_merge(&s->of[k], &p->of[k]);
    compute_change(s);
}

static void put_pairs(const pairs *p, rocl_tables *out, const rocl_collector *c)
{
    const bool two_names = p->renamed || !c->options->brief;
    rocl_report_rows r = rocl_begin_table(c, out, &compare_table, two_names ? ROCL_IF_OWN : 0);
    const size_t matched[2] = {p->renamed - p->by_place, p->by_place};
    char texts[2][64] = {"", ""};
    for (unsigned i = 0; i < 2; i++)
        if (matched[i])
            snprintf(texts[i], sizeof texts[i], "; %zu kernel%s matched by %s", matched[i],
                     matched[i] == 1 ? " is" : "s are", i ? "place" : "similar names");
    rocl_set_note(&r, "significant is p < 0.01 in Mann and Whitney's test%s%s", texts[0], texts[1]);
    rocl_add_top_rows(&r, p->all, p->count, sizeof *p->all, add_pair);
}

static uint32_t domains_of(const pairs *p, unsigned which)
{
    uint32_t domains = 0;
    for (size_t i = 0; i < p->count; i++)
        if (p->all[i].of[which].taken)
            domains |= UINT32_C(1) << p->all[i].domain;
    return domains;
}

static void add_causes_of(rocl_causes *c, const pair *p, const rocl_kernel_classes *k)
{
    static const rocl_cause causes[] = {
        [ADDED] = ROCL_CAUSE_ADDED, [REMOVED] = ROCL_CAUSE_REMOVED, [RENAMED] = ROCL_CAUSE_RENAMED};
    const rocl_distribution *a = &p->of[A], *b = &p->of[B];
    const rocl_i128 total[SIDES] = {(rocl_i128)a->sum, (rocl_i128)b->sum};
    const rocl_i128 change = total[B] - total[A];
    rocl_i128 calls, duration;
    if (p->domain == ROCL_DOMAIN_MEMORY_COPIES) {
        rocl_causes_add(c, ROCL_CAUSE_COPIES, 0, p->name, total, change);
        return;
    }
    if (p->domain != ROCL_DOMAIN_KERNELS)
        return;
    const unsigned class = rocl_classify_kernel(k, p->name.p, p->name.n);
    if (p->status != CHANGED && p->status != SAME) {
        rocl_causes_add(c, causes[p->status], class, p->name, total, change);
        return;
    }
    rocl_split_change(a, b, &calls, &duration);
    rocl_causes_add(c, ROCL_CAUSE_CALLS, class, p->name, total, calls);
    rocl_causes_add(c, ROCL_CAUSE_DURATION, class, p->name, total, duration);
}

static void put_causes(const pairs *p, const rocl_side *sides, rocl_tables *out,
                       const rocl_collector *c)
{
    const rocl_wall wall = domains_of(p, A) == domains_of(p, B) ? ROCL_WALL_EVENTS : ROCL_WALL_GPU;
    rocl_causes *causes = calloc(1, sizeof *causes);
    if (!causes) {
        out->incomplete = true;
        return;
    }
    for (size_t i = 0; i < p->count; i++)
        add_causes_of(causes, &p->all[i], c->trace->classes);
    rocl_causes_put(causes, (const rocl_gpu_sums[]){sides[A].gpu_time, sides[B].gpu_time}, wall,
                    out, c);
    free(causes);
}

static int compare_class_sums(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    const int c = rocl_compare_changes(x->change, y->change);
    return c ? c : strcmp(x->class, y->class);
}

static void put_classes(const pairs *p, const rocl_kernel_classes *k, rocl_tables *out,
                        const rocl_collector *c)
{
    pair sums[ROCL_CLASSES];
    size_t n = 0;
    memset(sums, 0, sizeof sums);
    for (size_t i = 0; i < p->count; i++) {
        const pair *pr = &p->all[i];
        if (pr->domain != ROCL_DOMAIN_KERNELS)
            continue;
        pair *sum = &sums[rocl_classify_kernel(k, pr->name.p, pr->name.n)];
        add_pair(sum, pr);
        sum->names++;
    }
    for (unsigned class = 0; class < rocl_kernel_class_count(k); class ++)
        if (sums[class].names) {
            sums[n] = sums[class];
            sums[n++].class = rocl_kernel_class_name(k, class);
        }
    qsort(sums, n, sizeof *sums, compare_class_sums);
    rocl_report_rows r = rocl_begin_table(c, out, &class_table, 0);
    rocl_add_top_rows(&r, sums, n, sizeof *sums, add_pair);
}

/* ---- can they be compared? ------------------------------------------------------------------- */

/* What should be the same in both for times to mean something. */
typedef struct likeness {
    const char *property, *a, *b; /* owned by the tables, except the property */
    const char *same;
} likeness;

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(likeness, field)

static const rocl_column likeness_columns[] = {
    {"property", "Property", ROCL_UNIT_TEXT, CELL(property)},
    {"a", "A", ROCL_UNIT_TEXT, CELL(a)},
    {"b", "B", ROCL_UNIT_TEXT, CELL(b)},
    {"same", "Same", ROCL_UNIT_TEXT, CELL(same)},
};

static const rocl_table_def likeness_table = {&rocl_compare_tab, "comparability", "Comparability",
                                              ROCL_COLUMNS(likeness_columns)};

const rocl_table_def *const rocl_compare_tables[] = {&rocl_change_table,
                                                     &rocl_header_tables[ROCL_HEADER_A],
                                                     &rocl_header_tables[ROCL_HEADER_B],
                                                     &likeness_table,
                                                     &rocl_causes_table,
                                                     &compare_table,
                                                     &class_table,
                                                     &rocl_compare_steps_table,
                                                     &rocl_compare_sequence_table,
                                                     &rocl_limits_table,
                                                     &rocl_run_list_table,
                                                     &rocl_runs_table,
                                                     NULL};

static void put_likeness(const pairs *p, const rocl_side *sides, rocl_tables *out,
                         const rocl_collector *c)
{
    enum { GPUS, PROCESSES, DOMAINS, STEPS, KERNELS, PROPERTIES };
    static const char *const names[PROPERTIES] = {"GPUs", "processes", "recorded", "steps",
                                                  "kernel time in common kernels"};
    rocl_buf texts[PROPERTIES][SIDES] = {{{0}}}, differ = {0};
    double known[SIDES]; /* the share of kernel time in kernels which the other side has, too */
    for (unsigned which = A; which <= B; which++) {
        int64_t both = 0, all = 0;
        uint64_t steps = 0; /* instances of markers that count */
        rocl_buf_put(&texts[GPUS][which], sides[which].gpus.data, sides[which].gpus.len);
        rocl_buf_printf(&texts[PROCESSES][which], "%" PRIu64, sides[which].processes);
        const uint32_t domains = domains_of(p, which);
        rocl_buf *to = &texts[DOMAINS][which];
        for (rocl_domain d = 0; d < ROCL_DOMAINS; d++)
            if (domains >> d & 1)
                rocl_buf_printf(to, "%s%s", to->len ? ", " : "", rocl_domain_infos[d].word);
        for (size_t i = 0; i < p->count; i++) {
            const pair *pr = &p->all[i];
            const int64_t total = pr->domain == ROCL_DOMAIN_KERNELS ? pr->of[which].total : 0;
            size_t stem;
            uint64_t number;
            all = rocl_add_saturated(all, total);
            both = rocl_add_saturated(both, pr->of[!which].taken ? total : 0);
            if (pr->domain == ROCL_DOMAIN_MARKERS &&
                rocl_read_step(pr->name.p, pr->name.n, &stem, &number))
                steps += pr->of[which].taken;
        }
        rocl_buf_printf(&texts[STEPS][which], "%" PRIu64, steps);
        known[which] = all > 0 ? 100 * (double)both / (double)all : 100;
        rocl_buf_printf(&texts[KERNELS][which], "%.1f %%", known[which]);
    }
    rocl_report_rows r = rocl_begin_table(c, out, &likeness_table, 0);
    for (unsigned i = 0; i < PROPERTIES; i++) {
        const rocl_buf *x = &texts[i][A], *y = &texts[i][B];
        const bool same = i == KERNELS
                              ? known[A] >= LIKE && known[B] >= LIKE
                              : x->len == y->len && (!x->len || !memcmp(x->data, y->data, x->len));
        out->incomplete |= x->failed || y->failed;
        if (!same)
            rocl_buf_printf(&differ, "%s%s", differ.len ? ", " : "", names[i]);
        rocl_add_row(&r, &(likeness){names[i], rocl_tables_text(out, (const char *)x->data, x->len),
                                     rocl_tables_text(out, (const char *)y->data, y->len),
                                     same ? "yes" : "no"});
        rocl_buf_free(&texts[i][A]);
        rocl_buf_free(&texts[i][B]);
    }
    out->incomplete |= differ.failed;
    if (differ.len)
        rocl_set_note(&r, "with care, as these differ: %.*s", (int)differ.len,
                      (const char *)differ.data);
    else
        rocl_set_note(&r, "A and B are of the same kind");
    rocl_buf_free(&differ);
}

/* ---- the rules that may fail ----------------------------------------------------------------- */

static bool is_small(int64_t total, int64_t whole)
{
    return total <= 0 || (double)total < SMALL * (double)whole;
}

/* rule: of the average, or of the total. */
static rocl_judgement judge_pair(const pair *p, bool average, bool small, double limit)
{
    const rocl_distribution *a = &p->of[A], *b = &p->of[B];
    const bool added = p->status == ADDED;
    rocl_judgement j = {
        .rule = average ? "average" : "total",
        .domain = rocl_domain_name(p->domain),
        .name = p->name,
        .before = average && a->taken ? rocl_distribution_average(a) : (double)a->total,
        .after = average && b->taken ? rocl_distribution_average(b) : (double)b->total,
        .limit = limit,
        .added = added};
    j.cost = (j.after - j.before) * (average && !added ? (double)b->taken : 1);
    j.cost = added ? (double)b->total : j.cost;
    /* Where the largest difference there can be of so few calls is not significant, nothing can be
     * said of the average. */
    const bool open = p->test.least >= LEVEL, doubt = average && !(p->test.p < LEVEL);
    rocl_judge(&j,
               !p->tested             ? "communication: --include kernel tests it"
               : !small               ? NULL
               : p->status == REMOVED ? "it is not in B"
               : p->further_step      ? "a step, of which A has others"
                                      : "below 0.1 % of its domain",
               !doubt ? NULL
               : open ? "too few calls"
                      : "not significant",
               open ? ROCL_VERDICT_NOT_TESTED : ROCL_VERDICT_PASSED);
    return j;
}

/* Names that are small each can grow together. domain NULL: all of them. */
static rocl_judgement judge_domain(const char *domain, const int64_t total[SIDES], bool small,
                                   double limit)
{
    rocl_judgement j = {.rule = "total",
                        .domain = domain,
                        .before = (double)total[A],
                        .after = (double)total[B],
                        .limit = limit,
                        .cost = (double)total[B] - (double)total[A],
                        .added = total[A] <= 0 && total[B] > 0};
    rocl_judge(&j, small ? "below 0.1 % of all domains" : NULL, NULL, ROCL_VERDICT_PASSED);
    return j;
}

static void check_gate(rocl_gate *g, const pairs *p, rocl_tables *out, const rocl_collector *c)
{
    rocl_limits limits = rocl_limits_begin(g);
    int64_t totals[ROCL_DOMAINS][SIDES] = {{0}}, all[SIDES] = {0};
    const bool averages = isfinite(g->average);
    for (size_t i = 0; i < p->count; i++) {
        pair *pr = &p->all[i];
        pr->tested = rocl_limits_test(&limits, c, pr->domain, pr->name,
                                      (const uint64_t[]){pr->of[A].taken, pr->of[B].taken});
        for (unsigned k = A; pr->tested && k <= B; k++) {
            totals[pr->domain][k] = rocl_add_saturated(totals[pr->domain][k], pr->of[k].total);
            all[k] = rocl_add_saturated(all[k], pr->of[k].total);
        }
    }
    for (size_t i = 0; i < p->count; i++) {
        const pair *pr = &p->all[i];
        const bool small = pr->further_step || is_small(pr->of[B].total, totals[pr->domain][B]);
        if (!pr->tested && pr->domain != ROCL_DOMAIN_KERNELS)
            continue;
        const rocl_judgement j[] = {judge_pair(pr, true, small, g->average),
                                    judge_pair(pr, false, small, g->total)};
        rocl_limits_add(&limits, &j[0],
                        j[0].verdict == ROCL_VERDICT_FAILED ? &g->grown : &g->not_judged, averages,
                        out);
        rocl_limits_add(&limits, &j[1], &g->total_names, g->totals, out);
    }
    for (unsigned d = 0; d < ROCL_DOMAINS; d++) {
        const rocl_judgement j = judge_domain(rocl_domain_name((rocl_domain)d), totals[d],
                                              is_small(totals[d][B], all[B]), g->total);
        rocl_limits_add(&limits, &j, &g->total_domains, g->totals && (totals[d][A] || totals[d][B]),
                        out);
    }
    const rocl_judgement j = judge_domain(NULL, all, false, g->total);
    rocl_limits_add(&limits, &j, &g->total_trace, g->totals, out);
    rocl_limits_put(&limits, out, c);
}

/* ---- both ------------------------------------------------------------------------------------ */

static rocl_status put_tables(const pairs *p, const rocl_side *sides, rocl_tables *out,
                              const rocl_collector *c, rocl_error *err)
{
    const rocl_stats_options *o = c->options;
    for (unsigned k = A; k <= B && o->header; k++)
        rocl_put_header_cells(out, sides[k].header, k == A ? ROCL_HEADER_A : ROCL_HEADER_B);
    if (o->comparability) {
        put_likeness(p, sides, out, c);
        put_causes(p, sides, out, c);
    }
    put_pairs(p, out, c);
    if (!o->comparability)
        return ROCL_OK;
    put_classes(p, c->trace->classes, out, c);
    /* The steps, and the kernels of one of them, if there are any kernels at all. */
    const rocl_side_steps *a = &sides[A].steps, *b = &sides[B].steps;
    bool kernels = false;
    for (size_t i = 0; i < p->count && !kernels; i++)
        kernels = p->all[i].domain == ROCL_DOMAIN_KERNELS;
    rocl_status st = rocl_compare_steps_put(a, b, out, c, err);
    return st == ROCL_OK && kernels ? rocl_compare_sequence_put(a, b, p->keys, p->same, out, c, err)
                                    : st;
}

static rocl_status compare_sides(const compared of[SIDES], const rocl_stats_options *o,
                                 rocl_gate *gate, rocl_tables **tables, rocl_error *err)
{
    rocl_trace *b = of[B].trace;
    const rocl_collector c = {.trace = b, .options = o};
    rocl_side sides[SIDES] = {{0}};
    pairs p = {0};
    rocl_tables *out = rocl_tables_new();
    rocl_status st = out ? rocl_domains_check(o->domains, err) : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = collect_pairs(&p, sides, of, err);
    if (st == ROCL_OK)
        st = put_tables(&p, sides, out, &c, err);
    if (st == ROCL_OK && gate)
        check_gate(gate, &p, out, &c);
    if (st == ROCL_OK && o->comparability) {
        rocl_change change = rocl_change_of(sides, SIDES);
        rocl_change_explain(&change, out);
        rocl_change_put(&change, out, &c);
    }
    free(p.all);
    free(p.same);
    rocl_strings_free(p.keys);
    rocl_side_free(&sides[A]);
    rocl_side_free(&sides[B]);
    if (st == ROCL_OK)
        st = rocl_check_complete(out, b, err);
    if (st != ROCL_OK) {
        rocl_tables_free(out);
        return st;
    }
    *tables = out;
    st = of[A].trace ? rocl_trace_outcome_utf8(of[A].trace) : ROCL_OK;
    return st == ROCL_OK ? rocl_report_outcome(out, b) : st;
}

rocl_status rocl_compare(rocl_trace *a, rocl_trace *b, const rocl_stats_options *o, rocl_gate *gate,
                         rocl_tables **tables, rocl_error *err)
{
    return compare_sides((const compared[]){{a, NULL}, {b, NULL}}, o, gate, tables, err);
}

rocl_status rocl_compare_baseline(const rocl_baseline *a, rocl_trace *b,
                                  const rocl_stats_options *o, rocl_gate *gate,
                                  rocl_tables **tables, rocl_error *err)
{
    return compare_sides((const compared[]){{NULL, a}, {b, NULL}}, o, gate, tables, err);
}
