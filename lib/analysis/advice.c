/* What to look at first: rules on the tables of other reports. Each says something only when its
 * numbers do, and says them and its threshold; of a rule that had nothing to check it is said why.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report.h"

enum { MOST_FINDINGS = 16 };

typedef struct adviser {
    rocl_tables *tables;
    rocl_table *advice;
    const char *threshold; /* of the rule that is checked */
    size_t findings;       /* of it */
} adviser;

/* ---- reading tables, and adding to the advice ------------------------------------------------ */

static double number_in(const rocl_table *t, size_t row, const char *key)
{
    return rocl_datum_number(rocl_table_find_cell(t, row, key));
}

static const char *text_in(const rocl_table *t, size_t row, const char *key)
{
    return rocl_datum_str(rocl_table_find_cell(t, row, key));
}

static double sum_of(const rocl_table *t, const char *key)
{
    double sum = 0;
    for (size_t i = 0; i < t->row_count; i++)
        sum += number_in(t, i, key);
    return sum;
}

/* The largest share of one column in another, and its row; 0: no row has any. */
static double largest_share(const rocl_table *t, const char *part, const char *whole, size_t *row)
{
    double most = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        double w = number_in(t, i, whole), share = w > 0 ? number_in(t, i, part) / w : 0;
        if (share > most) {
            most = share;
            *row = i;
        }
    }
    return most;
}

/* Is it the row for what --top cuts off? */
static bool is_rest(const char *name)
{
    const char *end = strstr(name, " others)");
    return name[0] == '(' && end && !end[8];
}

static void add_finding(adviser *a, const char *report, const char *finding, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* The rest of the arguments is the evidence. */
static void add_finding(adviser *a, const char *report, const char *finding, const char *fmt, ...)
{
    char evidence[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(evidence, sizeof evidence, fmt, ap);
    va_end(ap);
    a->findings++;
    if (a->advice->row_count == MOST_FINDINGS)
        return;
    rocl_datum *r = rocl_table_row(a->advice);
    a->tables->incomplete |= !r;
    if (!r)
        return;
    r[0] = rocl_datum_text(a->tables, finding, strlen(finding));
    r[1] = rocl_datum_text(a->tables, evidence, strlen(evidence));
    r[2] = rocl_datum_text(a->tables, report, strlen(report));
    r[3] = rocl_datum_text(a->tables, a->threshold, strlen(a->threshold));
}

/* ---- rules: why a rule does not apply, or NULL ----------------------------------------------- */

enum { SOME = 100, MANY = 1000 }; /* calls */

static const char no_work[] = "no work of GPUs was recorded";
static const char no_copies[] = "no copies were recorded";

/* A GPU waits, most of the time for one cause: a class of gaps. */
static const char *check_idle(adviser *a, const rocl_table *overlap)
{
    static const struct {
        const char *class, *finding;
    } causes[] = {
        {"host", "A GPU waits for the host, which has other things to do"},
        {"sync", "A GPU waits for a host that waited for the GPU: synchronize less often"},
        {"launch", "A GPU waits for launches, again and again"},
        {"dependency", "Work for a GPU waits for other work: events, queues, other GPUs"},
    };
    size_t row = 0;
    const double idle = largest_share(overlap, "idle_ns", "wall_ns", &row);
    if (!overlap->row_count)
        return no_work;
    if (idle <= 0.3)
        return NULL;
    const char *gpu = text_in(overlap, row, "gpu"), *cause = "";
    const rocl_table *gaps = rocl_tables_find(a->tables, "gap_classes");
    double most = 0, all = 0;
    for (size_t i = 0; gaps && i < gaps->row_count; i++) {
        double ns = number_in(gaps, i, "total_ns");
        const char *class = text_in(gaps, i, "class");
        if (strcmp(text_in(gaps, i, "gpu"), gpu) != 0 || !strcmp(class, "tail"))
            continue;
        all += ns;
        cause = ns > most ? class : cause;
        most = fmax(most, ns);
    }
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (!strcmp(causes[i].class, cause)) {
            add_finding(a, "gaps", causes[i].finding,
                        "%.80s is idle for %.1f %% of its time, %.1f %% of that for this cause",
                        gpu, 100 * idle, all > 0 ? 100 * most / all : 0);
            return NULL;
        }
    if (gaps && gaps->note) /* it says what to record */
        add_finding(a, "gaps", "A GPU waits, and the trace does not tell for what",
                    "%.80s is idle for %.1f %% of its time; %.200s", gpu, 100 * idle, gaps->note);
    else
        add_finding(a, "gaps", "A GPU waits for the host or for others",
                    "%.80s is idle for %.1f %% of its time", gpu, 100 * idle);
    return NULL;
}

static void check_exposed(adviser *a, const rocl_table *overlap, const char *column,
                          const char *work, const char *finding)
{
    size_t row = 0;
    const double share = largest_share(overlap, column, "wall_ns", &row);
    if (share > 0.1)
        add_finding(a, "overlap", finding, "%.1f %% of the time of %.80s is %s alone", 100 * share,
                    text_in(overlap, row, "gpu"), work);
}

static const char *check_exposed_copies(adviser *a, const rocl_table *overlap)
{
    check_exposed(a, overlap, "exposed_copy_ns", "copies", "Copies are not hidden behind kernels");
    return !overlap->row_count ? no_work : sum_of(overlap, "copy_ns") > 0 ? NULL : no_copies;
}

static const char *check_exposed_communication(adviser *a, const rocl_table *overlap)
{
    const rocl_table *t = rocl_tables_find(a->tables, "communication");
    check_exposed(a, overlap, "exposed_communication_ns", "communication",
                  "Communication is not hidden behind kernels");
    return !overlap->row_count  ? no_work
           : t && !t->row_count ? "no kernels of NCCL, RCCL or the like were recorded"
                                : NULL;
}

static const char *check_short_kernels(adviser *a, const rocl_table *kernels)
{
    const double short_ns = 10000;
    double calls = sum_of(kernels, "calls");
    double average = calls > 0 ? sum_of(kernels, "total_ns") / calls : 0;
    if (calls >= MANY && average < short_ns)
        add_finding(a, "launch", "Many short kernels: fuse them, or launch them as a graph",
                    "%.0f kernels of %.2f us on average", calls, average / 1000);
    return calls > 0 ? NULL : "no kernels were recorded";
}

/* Pinned memory moves at tens of GB/s, pageable memory at a few. */
static const char *check_copies(adviser *a, const rocl_table *copies)
{
    const double large = 1 << 20, small = 64 << 10, slow = 8e9;
    const char *why = copies->row_count ? "no copies from or to the host" : no_copies;
    for (size_t i = 0; i < copies->row_count; i++) {
        const char *direction = text_in(copies, i, "direction");
        double calls = number_in(copies, i, "calls"), rate = number_in(copies, i, "bandwidth");
        double bytes = calls > 0 ? number_in(copies, i, "bytes") / calls : 0;
        if (!strcasestr(direction, "host") && !strcasestr(direction, "DtoH") &&
            !strcasestr(direction, "HtoD"))
            continue;
        why = NULL;
        if (bytes >= large && rate > 0 && rate < slow && !strstr(direction, "Pinned"))
            add_finding(a, "copies", "Slow copies: host memory may be pageable, not pinned",
                        "%.60s: %.1f GB/s at %.1f MiB each", direction, rate / 1e9, bytes / large);
        else if (calls >= MANY && bytes < small)
            add_finding(a, "copies", "Many small copies: gather them",
                        "%.60s: %.0f of %.1f KiB each", direction, calls, bytes / 1024);
    }
    return why;
}

/* Programs that keep their memory allocate now and then, not for every few kernels. */
static const char *check_allocations(adviser *a, const rocl_table *domains)
{
    double kernels = 0, allocs = 0, ns = 0;
    for (size_t i = 0; i < domains->row_count; i++) {
        const char *name = text_in(domains, i, "name");
        if (!strcmp(name, "KERNELS"))
            kernels = number_in(domains, i, "calls");
        if (!strcmp(name, "MEMORY_ALLOCATIONS")) {
            allocs = number_in(domains, i, "calls");
            ns = number_in(domains, i, "total_ns");
        }
    }
    if (allocs >= MANY && allocs > kernels / 10)
        add_finding(
            a, "memory", "Memory is allocated and freed all the time: keep it, or use a pool",
            "%.0f allocations and frees in %.1f ms, with %.0f kernels", allocs, ns / 1e6, kernels);
    return allocs > 0 ? NULL : "no allocations were recorded";
}

/* Several streams do things one after the other. */
static const char *check_serial_streams(adviser *a, const rocl_table *streams)
{
    const rocl_table *t = rocl_tables_find(a->tables, "stream_activity");
    size_t used = 0;
    for (size_t i = 0; i < streams->row_count; i++)
        used += number_in(streams, i, "kernels") >= SOME;
    for (size_t i = 0; t && used > t->row_count && i < t->row_count; i++) {
        double average = number_in(t, i, "average_busy");
        if (average <= 0 || average >= 1.05)
            continue;
        add_finding(a, "streams", "Streams run one after the other",
                    "%zu streams have %d kernels and more, but %.2f are active at once on %.80s",
                    used, SOME, average, text_in(t, i, "gpu"));
        break;
    }
    return used > 1 ? NULL : "fewer than two streams with 100 kernels";
}

static const char *check_balance_of_gpus(adviser *a, const rocl_table *overlap)
{
    double most = 0, mean = 0;
    size_t row = 0;
    for (size_t i = 0; i < overlap->row_count; i++) {
        double busy = number_in(overlap, i, "busy_ns");
        mean += busy / (double)overlap->row_count;
        row = busy > most ? i : row;
        most = fmax(most, busy);
    }
    if (overlap->row_count > 1 && mean > 0 && most / mean > 1.25)
        add_finding(a, "timeline", "GPUs have unequal shares of the work",
                    "%.80s is busy for %.2f times the mean of %zu GPUs",
                    text_in(overlap, row, "gpu"), most / mean, overlap->row_count);
    return overlap->row_count > 1 ? NULL : "fewer than two GPUs with work";
}

/* What one rank computes longer, the others wait for. */
static const char *check_slow_rank(adviser *a, const rocl_table *t)
{
    double most = 0, mean = 0, ranks = 0;
    size_t row = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        double ns = number_in(t, i, "kernels_ns");
        if (is_rest(text_in(t, i, "host")))
            return "--top leaves out ranks";
        ranks += ns > 0;
        mean += ns;
        row = ns > most ? i : row;
        most = fmax(most, ns);
    }
    mean = ranks > 0 ? mean / ranks : 0;
    if (ranks < 2)
        return "fewer than two ranks with kernels";
    if (most <= 1.1 * mean)
        return NULL;
    bool known = rocl_table_find_cell(t, row, "rank")->type == ROCL_DATUM_INT;
    add_finding(a, "ranks", "One rank computes longer than the others, which wait for it",
                "%s %.0f: %.2f times the mean kernel time of %.0f ranks",
                known ? "rank" : "process", number_in(t, row, known ? "rank" : "pid"), most / mean,
                ranks);
    return NULL;
}

/* How much of a name a sentence has: so many bytes, in whole characters. */
static int name_part(const char *name)
{
    enum { NAME_PART = 60 };
    size_t n = strnlen(name, NAME_PART + 1);
    if (n > NAME_PART)
        for (n = NAME_PART; n && ((unsigned char)name[n] & 0xc0) == 0x80;)
            n--;
    return (int)n;
}

/* Of kernels with a tenth of the time and more. */
static void check_launches(adviser *a, const rocl_table *t, const char *finding,
                           bool (*is_reason)(const rocl_table *t, size_t row, char why[96]))
{
    const double much = 10; /* percent */
    for (size_t i = 0; i < t->row_count; i++) {
        const char *name = text_in(t, i, "name");
        const double share = number_in(t, i, "percent");
        char why[96];
        if (share >= much && !is_rest(name) && is_reason(t, i, why))
            add_finding(a, "occupancy", finding, "%.1f %% of the kernel time: %.*s%s: %s", share,
                        name_part(name), name, name[name_part(name)] ? "..." : "", why);
    }
}

static bool is_class(const rocl_table *t, size_t row, const char *class)
{
    return !strcmp(text_in(t, row, "class"), class);
}

/* Products of matrices have few waves, each with much to do at once; and whoever communicates waits
 * for others. */
static bool has_few_waves(const rocl_table *t, size_t row, char why[96])
{
    const double few = 25; /* percent */
    const char *limit = text_in(t, row, "limit");
    const rocl_datum *occupancy = rocl_table_find_cell(t, row, "occupancy_percent");
    snprintf(why, 96, "%.1f %% occupancy, limited by %s", rocl_datum_number(occupancy), limit);
    return occupancy->type != ROCL_DATUM_NONE && rocl_datum_number(occupancy) <= few &&
           (!strcmp(limit, "VGPRs") || !strcmp(limit, "LDS")) && !is_class(t, row, "GEMM") &&
           !is_class(t, row, "attention") && !is_class(t, row, "convolution") &&
           !is_class(t, row, "communication");
}

static bool has_small_grid(const rocl_table *t, size_t row, char why[96])
{
    const rocl_datum *rounds = rocl_table_find_cell(t, row, "rounds");
    snprintf(why, 96, "%.1f workgroups fill %.1f %% of the GPU", number_in(t, row, "workgroups"),
             100 * rocl_datum_number(rounds));
    return rounds->type != ROCL_DATUM_NONE && rocl_datum_number(rounds) < 0.5 &&
           !is_class(t, row, "communication");
}

static bool has_scratch(const rocl_table *t, size_t row, char why[96])
{
    const double bytes = number_in(t, row, "scratch_bytes");
    snprintf(why, 96, "%.0f bytes of each work-item", bytes);
    return bytes > 0 && !is_class(t, row, "communication");
}

static const char *check_occupancy(adviser *a, const rocl_table *t)
{
    check_launches(a, t, "Registers or local memory keep waves from a GPU", has_few_waves);
    check_launches(a, t,
                   "A kernel fills only a part of the GPU: give it more, or run others beside it",
                   has_small_grid);
    check_launches(a, t, "A kernel keeps registers in memory (scratch)", has_scratch);
    return t->row_count ? NULL : "no kernels were recorded";
}

static const char *check_dominant_kernel(adviser *a, const rocl_table *kernels)
{
    double all = sum_of(kernels, "total_ns");
    for (size_t i = 0; all > 0 && i < kernels->row_count; i++) {
        double share = number_in(kernels, i, "total_ns") / all;
        const char *name = text_in(kernels, i, "name");
        const int n = name_part(name);
        if (share > 0.5 && kernels->row_count > 1 && !is_rest(name))
            add_finding(a, "kernels", "One kernel takes most of the kernel time", "%.1f %%: %.*s%s",
                        100 * share, n, name, name[n] ? "..." : "");
    }
    return kernels->row_count > 1 ? NULL : "fewer than two kernels";
}

/* A name that would make all shorter if it were faster: of parts of the path that are many. */
static const char *check_critical_path(adviser *a, const rocl_table *t)
{
    const rocl_table *names = rocl_tables_find(a->tables, "critical_path_what_if");
    const double much = 10, host = 60; /* percent */
    double of_host = 0, of_work = 0;
    if (sum_of(t, "count") < SOME)
        return "the critical path has fewer than 100 parts";
    for (size_t i = 0; i < t->row_count; i++) {
        const char *class = text_in(t, i, "class");
        if (!strncmp(class, "host", 4))
            of_host += number_in(t, i, "percent");
        of_work += !strcmp(class, "kernels");
    }
    if (of_host >= host && of_work > 0)
        add_finding(
            a, "critical-path",
            "The host decides how long all takes, not the GPU: launch earlier, fuse, or use "
            "graphs",
            "%.1f %% of the critical path is on the host", of_host);
    for (size_t i = 0; names && i < names->row_count; i++) {
        const char *name = text_in(names, i, "name");
        const double saved = number_in(names, i, "saved_percent");
        const int n = name_part(name);
        if (saved >= much && number_in(names, i, "factor") == 2 && !is_rest(name))
            add_finding(a, "critical-path", "Making one name faster makes all faster",
                        "%.1f %% less if this were twice as fast: %.*s%s", saved, n, name,
                        name[n] ? "..." : "");
    }
    return NULL;
}

static const rocl_table_tab tab = {"advice", "Advice"};
static const rocl_column advice_columns[] = {
    {"finding", "Finding", ROCL_UNIT_SENTENCE, ROCL_ALWAYS, NULL, 0},
    {"evidence", "Evidence", ROCL_UNIT_SENTENCE, ROCL_ALWAYS, NULL, 0},
    {"report", "Look at", ROCL_UNIT_TEXT, ROCL_ALWAYS, NULL, 0},
    {"threshold", "Threshold", ROCL_UNIT_TEXT, ROCL_MINOR, NULL, 0},
};
static const rocl_table_def advice_table = {&tab, "advice", "What to look at",
                                            ROCL_COLUMNS(advice_columns)};

typedef struct rule_row {
    const char *rule, *threshold, *outcome, *why;
} rule_row;

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(rule_row, field)

static const rocl_column rule_columns[] = {
    {"rule", "Rule", ROCL_UNIT_TEXT, CELL(rule)},
    {"threshold", "Threshold", ROCL_UNIT_TEXT, CELL(threshold)},
    {"outcome", "Outcome", ROCL_UNIT_TEXT, CELL(outcome)},
    {"why", "Why", ROCL_UNIT_TEXT, CELL(why)},
};
static const rocl_table_def rule_table = {&tab, "advice_rules", "Rules of the advice",
                                          ROCL_COLUMNS(rule_columns)};
static const rocl_column short_columns[] = {
    {"rule", "Rule", ROCL_UNIT_TEXT, CELL(rule)},
    {"why", "Why", ROCL_UNIT_TEXT, CELL(why)},
};
static const rocl_table_def short_table = {&tab, "advice_rules", "Rules that did not apply",
                                           ROCL_COLUMNS(short_columns)};
const rocl_table_def *const rocl_advice_tables[] = {&advice_table, &rule_table, NULL};

rocl_status rocl_advise(rocl_tables *tables, const rocl_stats_options *o, rocl_error *err)
{
    /* In the order of the advice. A rule is checked where there is its table. */
    static const struct {
        const char *table, *rule, *threshold;
        const char *(*check)(adviser *a, const rocl_table *t);
    } rules[] = {
        {"overlap", "idle GPU", "idle for more than 30 % of its time", check_idle},
        {"overlap", "exposed copies", "more than 10 % of a GPU's time", check_exposed_copies},
        {"overlap", "exposed communication", "more than 10 % of a GPU's time",
         check_exposed_communication},
        {"kernels", "short kernels", "1000 kernels and more, below 10 us on average",
         check_short_kernels},
        {"copies", "slow or small copies",
         "1 MiB and more at below 8 GB/s; 1000 and more, below 64 KiB on average", check_copies},
        {"domains", "allocations", "1000 and more, and 1 for 10 kernels", check_allocations},
        {"streams", "streams in sequence", "below 1.05 active at once", check_serial_streams},
        {"overlap", "unequal GPUs", "busy for more than 1.25 times the mean",
         check_balance_of_gpus},
        {"ranks", "slow rank", "more than 1.1 times the mean kernel time", check_slow_rank},
        {"kernels", "dominant kernel", "more than 50 % of the kernel time", check_dominant_kernel},
        {"occupancy", "low occupancy",
         "10 % of the kernel time: occupancy of 25 % and less, half of the GPU empty, or scratch",
         check_occupancy},
        {"critical_path", "critical path",
         "60 % of it on the host; a name that makes all 10 % shorter if it is twice as fast",
         check_critical_path},
    };
    enum { RULES = sizeof rules / sizeof *rules };
    const rocl_stats_options options = {.pictures = o->pictures};
    const rocl_collector c = {.options = &options};
    rule_row outcomes[RULES];
    char missing[RULES][64];
    adviser a = {.tables = tables, .advice = rocl_begin_table(&c, tables, &advice_table, 0).table};
    if (!a.advice)
        return rocl_fail_memory(err);
    a.advice->essential = true;
    for (size_t i = 0; i < RULES; i++) {
        const rocl_table *t = rocl_tables_find(tables, rules[i].table);
        a.threshold = rules[i].threshold;
        a.findings = 0;
        snprintf(missing[i], sizeof missing[i], "it needs the report %s", rules[i].table);
        /* The key of a table, as its report is called. */
        for (char *at = missing[i]; (at = strchr(at, '_'));)
            *at = '-';
        const char *why = t ? rules[i].check(&a, t) : missing[i];
        outcomes[i] = (rule_row){rules[i].rule, rules[i].threshold,
                                 why          ? "does not apply"
                                 : a.findings ? "stands out"
                                              : "does not stand out",
                                 why};
    }
    if (!a.advice->row_count)
        a.advice->note = "nothing stands out";
    const rocl_report_rows r =
        rocl_begin_table(&c, tables, o->brief ? &short_table : &rule_table, 0);
    for (size_t i = 0; i < RULES; i++)
        if (outcomes[i].why || !o->brief)
            rocl_add_row(&r, &outcomes[i]);
    return ROCL_OK;
}
