/* What to look at first: rules on the tables of other reports. A rule speaks only if its numbers
 * do, and gives them and its threshold; for a rule that had nothing to check, the reason is
 * given. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report.h"

enum { MOST_FINDINGS = 16 };

typedef struct adviser {
    rocl_tables *tables;
    rocl_table *advice;
    const char *threshold; /* the one of the rule that is checked */
    size_t findings;       /* that the rule has made */
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

static bool is_class(const rocl_table *t, size_t row, const char *class)
{
    return !strcmp(text_in(t, row, "class"), class);
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
static const char no_calls[] = "no HIP calls were recorded";

/* A GPU waits, most of the time for one cause: a class of gaps. */
static const char *check_idle(adviser *a, const rocl_table *overlap)
{
    static const struct {
        const char *class, *finding;
    } causes[] = {
        {"host", "A GPU waits for the host, which does other work"},
        {"sync", "A GPU waits for a host that waited for the GPU: synchronize less often"},
        {"launch", "A GPU waits for launches"},
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
        /* While copies run, it is not idle. */
        if (strcmp(text_in(gaps, i, "gpu"), gpu) != 0 || !strcmp(class, "tail") ||
            !strcmp(class, "copy"))
            continue;
        all += ns;
        cause = ns > most ? class : cause;
        most = fmax(most, ns);
    }
    const double idle_ns = number_in(overlap, row, "idle_ns");
    const bool known = idle_ns - all <= most;
    for (size_t i = 0; known && i < sizeof causes / sizeof *causes; i++)
        if (!strcmp(causes[i].class, cause)) {
            add_finding(a, "gaps", causes[i].finding,
                        "%.80s is idle for %.1f %% of its time, %.1f %% of that for this cause",
                        gpu, 100 * idle, most > 0 ? 100 * most / fmax(all, idle_ns) : 0);
            return NULL;
        }
    if (gaps && gaps->note) /* it says what to record */
        add_finding(a, "gaps", "A GPU waits, and the trace does not tell for what",
                    "%.80s is idle for %.1f %% of its time; %.200s", gpu, 100 * idle, gaps->note);
    else
        add_finding(a, "gaps",
                    known || !gaps ? "A GPU waits for the host or for others"
                                   : "A GPU waits, mostly in gaps that options leave out",
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
        double rate = number_in(copies, i, "bandwidth");
        double calls = number_in(copies, i, "calls") - number_in(copies, i, "unsized");
        double bytes = calls > 0 ? number_in(copies, i, "bytes") / calls : 0;
        if (!strcasestr(direction, "host") && !strcasestr(direction, "DtoH") &&
            !strcasestr(direction, "HtoD"))
            continue;
        why = NULL;
        if (bytes >= large && rate > 0 && rate < slow && !strstr(direction, "Pinned"))
            add_finding(a, "copies", "Slow copies: host memory may be pageable, not pinned",
                        "%.60s: %.1f GB/s at %.1f MiB each", direction, rate / 1e9, bytes / large);
        else if (calls >= MANY && bytes > 0 && bytes < small)
            add_finding(a, "copies", "Many small copies: combine them",
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
    char in[32] = ""; /* PyTorch's are points in time */
    if (ns > 0)
        snprintf(in, sizeof in, " in %.1f ms", ns / 1e6);
    if (allocs >= MANY && allocs > kernels / 10)
        add_finding(a, "memory",
                    "Memory is allocated and freed all the time: keep it, or use a pool",
                    "%.0f allocations and frees%s, with %.0f kernels", allocs, in, kernels);
    return allocs > 0 ? NULL : "no allocations were recorded";
}

/* Several streams do things one after the other. */
static const char *check_serial_streams(adviser *a, const rocl_table *streams)
{
    const rocl_table *t = rocl_tables_find(a->tables, "stream_activity");
    size_t used = 0;
    for (size_t i = 0; i < streams->row_count; i++) {
        if (is_rest(text_in(streams, i, "name")))
            return "--top leaves out streams";
        used += number_in(streams, i, "kernels") >= SOME;
    }
    for (size_t i = 0; t && used > t->row_count && i < t->row_count; i++) {
        double average = number_in(t, i, "average_busy");
        if (average <= 0 || average >= 1.05)
            continue;
        add_finding(a, "streams", "Streams run one after the other",
                    "%zu streams have %d kernels or more, but %.2f are active at once on %.80s",
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
        /* Communication waits for others. */
        double busy =
            number_in(overlap, i, "busy_ns") - number_in(overlap, i, "exposed_communication_ns");
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
        double ns = number_in(t, i, "kernels_ns") - number_in(t, i, "communication_ns");
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

/* A name in a sentence, "%.*s%s": it is cut after a whole character. */
#define NAME_LEN(name) rocl_name_prefix(name, 60)
#define CUT(name)      NAME_LEN(name), (name), (name)[NAME_LEN(name)] ? "..." : ""

/* Finds reasons in kernels that take a tenth of the time and more. */
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
                        CUT(name), why);
    }
}

/* Matrix products have few waves, each with much to do at once; and communication waits for
 * others. */
static bool has_few_waves(const rocl_table *t, size_t row, char why[96])
{
    const double few = 25; /* percent */
    const char *limit = text_in(t, row, "limit");
    const rocl_datum *occupancy = rocl_table_find_cell(t, row, "occupancy_percent");
    snprintf(why, 96, "%.1f %% occupancy, limited by %s", rocl_datum_number(occupancy), limit);
    return occupancy->type != ROCL_DATUM_NONE && rocl_datum_number(occupancy) <= few &&
           (strstr(limit, "GPRs") || !strcmp(limit, "LDS")) && !is_class(t, row, "GEMM") &&
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
    check_launches(a, t, "Registers or local memory limit the occupancy of a kernel",
                   has_few_waves);
    check_launches(
        a, t,
        "A kernel fills only a part of the GPU: give it more work, or run others at the same time",
        has_small_grid);
    check_launches(a, t, "A kernel uses scratch memory: its registers may be spilled", has_scratch);
    return t->row_count ? NULL : "no kernels were recorded";
}

/* Who communicates waits for others: these kernels are none to make faster. */
static const char *check_dominant_kernel(adviser *a, const rocl_table *kernels)
{
    double all = 0;
    size_t count = 0;
    for (size_t i = 0; i < kernels->row_count; i++)
        if (!is_class(kernels, i, "communication")) {
            all += number_in(kernels, i, "total_ns");
            count++;
        }
    for (size_t i = 0; all > 0 && i < kernels->row_count; i++) {
        double share = number_in(kernels, i, "total_ns") / all;
        const char *name = text_in(kernels, i, "name");
        if (share > 0.5 && count > 1 && !is_rest(name) && !is_class(kernels, i, "communication"))
            add_finding(a, "kernels", "One kernel takes most of the kernel time",
                        "%.1f %%%s: %.*s%s", 100 * share,
                        count < kernels->row_count ? " without communication" : "", CUT(name));
    }
    return count > 1                ? NULL
           : kernels->row_count > 1 ? "fewer than two kernels that do not communicate"
                                    : "fewer than two kernels";
}

/* A name that would make all shorter if it were faster, where the path has many sections. */
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
        add_finding(a, "critical-path",
                    "The host limits the run time, not the GPU: launch earlier, fuse kernels, or "
                    "use graphs",
                    "%.1f %% of the critical path is on the host", of_host);
    for (size_t i = 0; names && i < names->row_count; i++) {
        const char *name = text_in(names, i, "name");
        const double saved = number_in(names, i, "saved_percent");
        if (saved >= much && number_in(names, i, "factor") == 2 && !is_rest(name))
            add_finding(a, "critical-path", "A faster kernel, copy or call would shorten the run",
                        "%.1f %% less if this were twice as fast: %.*s%s", saved, CUT(name));
    }
    return NULL;
}

/* ---- rules on queues, graphs and sequences --------------------------------------------------- */

/* Nothing is outstanding in any stream of the process: others_ns is the time in which other streams
 * have some. */
static const char *check_empty_queues(adviser *a, const rocl_table *t)
{
    double most = 0;
    size_t row = 0;
    bool enough = false, launched = false;
    for (size_t i = 0; i < t->row_count; i++) {
        const double wall = number_in(t, i, "wall_ns"), kernels = number_in(t, i, "kernels");
        const double empty = number_in(t, i, "empty_ns") - number_in(t, i, "others_ns");
        if (is_rest(text_in(t, i, "name")) || kernels < SOME || wall <= 0)
            continue;
        enough = true;
        if (number_in(t, i, "unlinked") >= kernels) /* it is unknown when they were launched */
            continue;
        launched = true;
        row = empty / wall > most ? i : row;
        most = fmax(most, empty / wall);
    }
    if (most > 0.3)
        add_finding(a, "queues",
                    "A program leaves its GPUs without work: launch earlier, or use graphs",
                    "process %.0f has no outstanding work in any stream for %.1f %% of %.1f ms",
                    number_in(t, row, "pid"), 100 * most, number_in(t, row, "wall_ns") / 1e6);
    return launched       ? NULL
           : enough       ? no_calls
           : t->row_count ? "no stream with 100 kernels"
                          : no_work;
}

static const char *check_dependencies(adviser *a, const rocl_table *t)
{
    const rocl_table *lengths = rocl_tables_find(a->tables, "queue_lengths");
    double wall = 0;
    for (size_t i = 0; lengths && i < lengths->row_count; i++)
        wall = fmax(wall, number_in(lengths, i, "wall_ns"));
    for (size_t i = 0; i < t->row_count; i++) {
        const double count = number_in(t, i, "count"), ns = number_in(t, i, "total_ns");
        if (strcmp(text_in(t, i, "cause"), "dependency") != 0)
            continue;
        if (count >= SOME && wall > 0 && ns > 0.1 * wall)
            add_finding(a, "queues",
                        "Work waits though its stream is idle: for events, or for other queues",
                        "%.0f launches wait for %.1f us on average", count, ns / count / 1000);
    }
    return t->row_count ? NULL : no_calls;
}

static const char *check_graph_gaps(adviser *a, const rocl_table *t)
{
    const double few = 10;
    const char *why = t->row_count ? "no graph with 10 launches" : "no launches of graphs";
    for (size_t i = 0; i < t->row_count; i++) {
        const double launches = number_in(t, i, "launches"), gaps = number_in(t, i, "gaps_percent");
        if (launches < few || is_rest(text_in(t, i, "graph")))
            continue;
        why = NULL;
        if (gaps > 20)
            add_finding(a, "graphs", "A graph leaves the GPU idle between its kernels",
                        "graph %.60s: %.1f %% of %.1f us on average, %.0f launches",
                        text_in(t, i, "graph"), gaps, number_in(t, i, "average_ns") / 1000,
                        launches);
    }
    return why;
}

/* Where graphs run most of them, nothing is left to do. */
static const char *check_sequences(adviser *a, const rocl_table *t)
{
    const double short_ns = 10000, much = 10;
    const rocl_table *graphs = rocl_tables_find(a->tables, "graphs");
    const double in_graphs = graphs ? sum_of(graphs, "kernels") : 0;
    for (size_t i = 0; i < t->row_count; i++) {
        const double calls = number_in(t, i, "calls"), length = number_in(t, i, "length");
        const double each = number_in(t, i, "average_ns") / fmax(length, 1);
        const char *name = text_in(t, i, "first_kernel");
        if (is_rest(name) || calls < SOME || number_in(t, i, "percent") < much ||
            each >= short_ns || in_graphs * 2 >= calls * length)
            continue;
        add_finding(a, "sequences", "The same short kernels run again and again: make them a graph",
                    "%.0f times %.0f kernels of %.2f us on average, from %.*s%s on", calls, length,
                    each / 1000, CUT(name));
        break;
    }
    return t->row_count ? NULL : "no kernels follow each other again";
}

/* ---- rules on steps and ranks ---------------------------------------------------------------- */

static bool is_first_step(const rocl_table *t, size_t row)
{
    return !row || strcmp(text_in(t, row, "place"), text_in(t, row - 1, "place")) != 0 ||
           strcmp(text_in(t, row, "marker"), text_in(t, row - 1, "marker")) != 0;
}

/* The step that takes the most times the median, of those that are slow outliers: of the first
 * steps of ranks, or of the others. */
static const char *check_steps(adviser *a, const rocl_table *t, bool first, const char *finding)
{
    double most = 0;
    size_t row = 0, slow = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        const double ratio = number_in(t, i, "of_median");
        if (is_rest(text_in(t, i, "step")))
            return "--top leaves out steps";
        if (is_first_step(t, i) != first || strcmp(text_in(t, i, "outlier"), "slow") != 0 ||
            !(ratio > 1.5))
            continue;
        slow++;
        row = ratio > most ? i : row;
        most = fmax(most, ratio);
    }
    if (slow)
        add_finding(a, "steps", finding, "%zu of %zu; %.*s of %.40s takes %.2f times the median",
                    slow, t->row_count, NAME_LEN(text_in(t, row, "step")), text_in(t, row, "step"),
                    text_in(t, row, "place"), most);
    return t->row_count >= 5 ? NULL : "fewer than 5 steps";
}

static const char *check_slow_steps(adviser *a, const rocl_table *t)
{
    return check_steps(a, t, false, "Some steps take much longer than the others");
}

static const char *check_first_steps(adviser *a, const rocl_table *t)
{
    return check_steps(a, t, true, "The first step includes warm-up: leave it out with --warmup 1");
}

/* The late rank waits least. */
static const char *check_late_rank(adviser *a, const rocl_table *t)
{
    double communication = 0, wait = 0, ranks = 0;
    size_t late = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        if (is_rest(text_in(t, i, "gpu")))
            return "--top leaves out ranks";
        if (number_in(t, i, "matched") < SOME)
            continue;
        ranks++;
        late = ranks < 2 || number_in(t, i, "last") > number_in(t, late, "last") ? i : late;
    }
    if (ranks < 2)
        return "fewer than two ranks with 100 collectives that all have";
    for (size_t i = 0; i < t->row_count; i++) {
        communication += i == late ? 0 : number_in(t, i, "communication_ns");
        wait += i == late ? 0 : number_in(t, i, "total_wait_ns");
    }
    const double share = number_in(t, late, "last") / number_in(t, late, "matched");
    if (communication > 0 && wait > 0.1 * communication && share > (ranks > 2 ? 0.5 : 0.75))
        add_finding(a, "collectives", "A rank arrives late at collectives, and the others wait",
                    "rank %.0f is the last in %.1f %%; the others wait for %.1f %% of their "
                    "communication",
                    number_in(t, late, "rank"), 100 * share, 100 * wait / communication);
    return NULL;
}

static const char *check_roofline(adviser *a, const rocl_table *t)
{
    const double much = 10, low = 30; /* percent */
    bool named = false;
    for (size_t i = 0; i < t->row_count; i++) {
        const rocl_datum *of_peak = rocl_table_find_cell(t, i, "peak_percent");
        const char *name = text_in(t, i, "name");
        const double share = number_in(t, i, "percent");
        if (of_peak->type == ROCL_DATUM_NONE || is_rest(name))
            continue;
        named = true;
        if (share >= much && rocl_datum_number(of_peak) < low)
            add_finding(a, "roofline",
                        "An operator that takes much of the time is far from the peak",
                        "%.1f %% of the time: %.*s%s reaches %.1f %% of it", share, CUT(name),
                        rocl_datum_number(of_peak));
    }
    return named          ? NULL
           : t->row_count ? "no peak is known: --peak names one"
                          : "no operators with the shapes of their inputs were recorded";
}

static const rocl_table_tab tab = {"advice", "Advice"};
static const rocl_column advice_columns[] = {
    {"finding", "Finding", ROCL_UNIT_SENTENCE, ROCL_ALWAYS, NULL, 0},
    {"evidence", "Evidence", ROCL_UNIT_SENTENCE, ROCL_ALWAYS, NULL, 0},
    {"report", "Look at", ROCL_UNIT_TEXT, ROCL_ALWAYS, NULL, 0},
    {"threshold", "Threshold", ROCL_UNIT_SENTENCE, ROCL_MINOR, NULL, 0},
};
static const rocl_table_def advice_table = {&tab, "advice", "What to look at",
                                            ROCL_COLUMNS(advice_columns)};

typedef struct rule_row {
    const char *rule, *threshold, *outcome, *why;
} rule_row;

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(rule_row, field)

static const rocl_column rule_columns[] = {
    {"rule", "Rule", ROCL_UNIT_SENTENCE, CELL(rule)},
    {"threshold", "Threshold", ROCL_UNIT_SENTENCE, CELL(threshold)},
    {"outcome", "Outcome", ROCL_UNIT_SENTENCE, CELL(outcome)},
    {"why", "Why", ROCL_UNIT_SENTENCE, CELL(why)},
};
static const rocl_table_def rule_table = {&tab, "advice_rules", "Rules of the advice",
                                          ROCL_COLUMNS(rule_columns)};
static const rocl_column short_columns[] = {
    {"rule", "Rule", ROCL_UNIT_SENTENCE, CELL(rule)},
    {"why", "Why", ROCL_UNIT_SENTENCE, CELL(why)},
};
static const rocl_table_def short_table = {&tab, "advice_rules", "Rules that did not apply",
                                           ROCL_COLUMNS(short_columns)};
const rocl_table_def *const rocl_advice_tables[] = {&advice_table, &rule_table, NULL};

/* In the order of the advice. A rule is checked if its table exists. */
static const struct {
    rocl_advice_rule pub;
    const char *table;
    const char *(*check)(adviser *a, const rocl_table *t);
} rules[] = {
    {{"idle GPU", "overlap", "idle for more than 30 % of its time",
      "A GPU has no work for much of the time between its first and its last work.",
      "idle_ns / wall_ns of each GPU; the cause is the class of gaps with the longest total",
      "rocstats gaps shows what the host did meanwhile: launch earlier, synchronize less often, "
      "load data in other threads, use graphs",
      "GPU 0 is idle for 37.4 % of its time, 100.0 % of that for this cause",
      "the host waited for each of 200 kernels of 10 us; now it waits once, after the last",
      "3.20 ms become 2.01 ms"},
     "overlap",
     check_idle},
    {{"exposed copies", "overlap", "more than 10 % of a GPU's time",
      "Copies run while no kernel does.", "exposed_copy_ns / wall_ns of each GPU",
      "copy from pinned memory with hipMemcpyAsync in a stream of its own, one step ahead",
      "20.4 % of the time of GPU 0 is copies alone",
      "batches of 2.5 MB were copied in the stream of the kernels; now in one of their own, for "
      "which the kernels wait",
      "9.81 ms become 7.91 ms"},
     "overlap",
     check_exposed_copies},
    {{"exposed communication", "overlap", "more than 10 % of a GPU's time",
      "Kernels that communicate run while no other kernel does.",
      "exposed_communication_ns / wall_ns of each GPU",
      "overlap it with the backward pass, use larger buckets, or look for a late rank in rocstats "
      "ranks",
      "20.4 % of the time of GPU 0 is communication alone",
      "one all-reduce followed six kernels of the backward pass; now three run beside them",
      "9.81 ms become 8.61 ms"},
     "overlap",
     check_exposed_communication},
    {{"short kernels", "kernels", "1000 kernels or more, below 10 us on average",
      "A kernel takes about as long to launch as to run.", "sum of total_ns / sum of calls",
      "fuse kernels, make batches larger, or launch them as a HIP graph",
      "2400 kernels of 3.00 us on average",
      "six kernels did one thing each to the same numbers; now one of 7 us does all",
      "7.21 ms become 2.81 ms"},
     "kernels",
     check_short_kernels},
    {{"slow or small copies", "copies",
      "1 MiB or more on average at below 8 GB/s; or 1000 copies or more, below 64 KiB on average",
      "Copies from or to the host are far below the bandwidth of the link.",
      "bandwidth, and bytes / (calls - unsized), of each direction",
      "allocate host memory with hipHostMalloc; combine small copies into large ones",
      "Memcpy HtoD (Pageable -> Device): 4.0 GB/s at 16.0 MiB each",
      "the host memory came from malloc; now it comes from hipHostMalloc, which reaches 25 GB/s",
      "41.95 ms become 6.72 ms"},
     "copies",
     check_copies},
    {{"allocations", "summary",
      "1000 allocations and frees or more, and more than 1 for 10 kernels",
      "Memory is allocated and freed all the time; to free it may wait for the GPU.",
      "calls of MEMORY_ALLOCATIONS / calls of KERNELS",
      "keep buffers, or use a pool, hipMallocAsync or the caching allocator",
      "1200 allocations and frees, with 600 kernels",
      "each kernel had a buffer of its own; now one is kept, and hipFree no longer waits for "
      "kernels",
      "18.00 ms become 6.02 ms"},
     "domains",
     check_allocations},
    {{"streams in sequence", "streams", "below 1.05 streams active at once",
      "A program uses several streams, but their work does not run side by side.",
      "average_busy of each GPU, where more streams than GPUs have 100 kernels or more",
      "look for events, and for kernels that fill the GPU alone; GPU_MAX_HW_QUEUES sets how many "
      "hardware queues streams share",
      "2 streams have 100 kernels or more, but 1.00 are active at once on GPU 0",
      "each stream waited for an event of the other; now the host waits for both at the end",
      "12.01 ms become 6.01 ms"},
     "streams",
     check_serial_streams},
    {{"unequal GPUs", "overlap", "busy for more than 1.25 times the mean, without communication",
      "One of several GPUs has more work than the others, which wait for it.",
      "the largest (busy_ns - exposed_communication_ns) / the mean of all GPUs",
      "divide the work by its time, not by its size",
      "GPU 0 is busy for 1.50 times the mean of 2 GPUs",
      "one GPU had 90 of 120 kernels; now each has 60", "9.01 ms become 6.01 ms"},
     "overlap",
     check_balance_of_gpus},
    {{"slow rank", "ranks", "more than 1.1 times the mean kernel time, without communication",
      "One rank computes longer, and the others wait for it.",
      "the largest (kernels_ns - communication_ns) / the mean of all ranks",
      "look for what differs from another rank with rocstats compare: clocks, sizes, kernels",
      "rank 1: 1.13 times the mean kernel time of 2 ranks",
      "its kernels took 130 us where those of rank 0 took 100 us, because of lower clocks; now "
      "both take 100 us",
      "7.81 ms become 6.01 ms"},
     "ranks",
     check_slow_rank},
    {{"dominant kernel", "kernels", "more than 50 % of the kernel time, without communication",
      "One kernel takes most of the time: it is the one to make faster.",
      "total_ns / the sum of all total_ns but those of the class communication",
      "rocstats roofline and rocstats counters show what limits it", "57.1 %: attention",
      "another kernel for attention takes 60 us instead of 400 us", "21.01 ms become 10.81 ms"},
     "kernels",
     check_dominant_kernel},
    {{"low occupancy", "roofline",
      "10 % of the kernel time or more: an occupancy of 25 % or less, half of the GPU empty, or "
      "scratch",
      "A kernel that takes much of the time has too few waves on the GPU.",
      "occupancy_percent with limit VGPRs or LDS, rounds below 0.5, scratch_bytes above 0",
      "fewer registers (__launch_bounds__), less LDS, more workgroups",
      "25.5 % of the kernel time: norm: 25.0 % occupancy, limited by VGPRs",
      "__launch_bounds__ halved its 256 registers: twice as many waves fit, and it takes 70 us "
      "instead of 120 us",
      "4.70 ms become 4.20 ms"},
     "occupancy",
     check_occupancy},
    {{"empty queues", "streams", "no outstanding work for more than 30 % of the time",
      "All work that the program has launched is done, and its GPUs wait for more.",
      "(empty_ns - others_ns) / wall_ns of a stream with 100 kernels or more",
      "launch earlier, synchronize less often, use graphs; rocstats gaps shows what the host did",
      "process 7000 has no outstanding work in any stream for 44.7 % of 19.2 ms",
      "the host waited for each kernel of 50 us, then prepared the next one for 40 us; now it "
      "prepares it meanwhile",
      "19.20 ms become 10.01 ms"},
     "queue_lengths",
     check_empty_queues},
    {{"dependencies", "launch",
      "100 launches or more wait, together for more than 10 % of the time",
      "Launched work begins late, though the work before it in its stream has ended and its GPU is "
      "idle.",
      "total_ns of the cause dependency / the longest wall_ns of queue_lengths",
      "look for hipStreamWaitEvent, host functions and streams that share a hardware queue",
      "149 launches wait for 40.0 us on average",
      "a host function ran between any two kernels (hipLaunchHostFunc); now one runs, after the "
      "last kernel",
      "15.01 ms become 9.01 ms"},
     "delay_causes",
     check_dependencies},
    {{"gaps in graphs", "launch", "10 launches or more, idle for more than 20 % of their time",
      "A HIP graph leaves its GPU idle between its kernels.", "gaps_percent of each graph",
      "fewer dependencies between its nodes, larger kernels, fewer copies and fills",
      "graph 1: 25.0 % of 160.0 us on average, 50 launches",
      "nodes depended on each other through an empty node, with 8 us between kernels; now "
      "directly, with 1 us",
      "8.06 ms become 6.31 ms"},
     "graphs",
     check_graph_gaps},
    {{"repeated kernels", "steps",
      "100 times or more, 10 % of the kernel time or more, below 10 us for each kernel",
      "The same short kernels run in the same order again and again, and not in a graph.",
      "calls, percent and average_ns / length of each sequence",
      "launch them as a HIP graph, or fuse them (torch.compile, Triton)",
      "150 times 6 kernels of 5.00 us on average, from embed on",
      "each of six kernels had a launch of its own; now one call launches a graph of them",
      "5.55 ms become 4.51 ms"},
     "sequences",
     check_sequences},
    {{"slow steps", "steps", "an outlier of more than 1.5 times the median",
      "Some steps take much longer than the others; first steps of ranks do not count.",
      "of_median of the steps whose outlier is slow",
      "look at such a step with --step N: input data, garbage collection, checkpoints",
      "2 of 20; ProfilerStep#19 of pid 7000 takes 2.64 times the median",
      "every tenth step wrote a checkpoint; now another thread does", "28.44 ms become 24.44 ms"},
     "steps",
     check_slow_steps},
    {{"first steps", "steps", "an outlier of more than 1.5 times the median",
      "The first step allocates, compiles and tunes: it is not like the others.",
      "of_median of the first step of each rank, if its outlier is slow",
      "leave it out with --warmup 1, or start the profiler later",
      "1 of 10; ProfilerStep#0 of pid 7000 takes 4.27 times the median",
      "the first step compiled for 4 ms; now the profiler begins after it",
      "16.21 ms become 11.00 ms"},
     "steps",
     check_first_steps},
    {{"late rank", "ranks",
      "the last in more than 50 % (of two ranks: 75 %); the others wait for more than 10 % of "
      "their communication",
      "A rank arrives late at collectives, and the others wait for it.",
      "last / matched of a rank; total_wait_ns / communication_ns of the others",
      "look at what that rank does before collectives: data, host, clocks, work",
      "rank 1 is the last in 100.0 %; the others wait for 72.6 % of their communication",
      "rank 1 loaded data for 100 us before each all-reduce; now another thread does",
      "75.13 ms become 62.41 ms"},
     "collective_ranks",
     check_late_rank},
    {{"far from the peak", "roofline", "10 % of the time or more, below 30 % of the peak",
      "An operator that takes much of the time is far below the peak of the GPU.",
      "peak_percent of each operator and shape, with --peak",
      "other shapes or types, another library or tuning, fusion with its neighbours",
      "100.0 % of the time: aten::mm reaches 8.4 % of it",
      "32 products had 128 rows each; now one has all 4096", "2.57 ms become 0.26 ms"},
     "roofline",
     check_roofline},
    {{"critical path", "critical-path",
      "60 % of it on the host; or a name that would save 10 % if it were twice as fast",
      "The chain of calls and work that determines the run time.",
      "percent of the host's classes; saved_percent of critical_path_what_if at factor 2",
      "make that name faster; if it is the host, launch earlier, fuse kernels, or use graphs",
      "99.7 % of the critical path is on the host",
      "the host spent 12 us on each launch of a kernel of 4 us; now one call launches a graph of "
      "six",
      "3.60 ms become 1.21 ms"},
     "critical_path",
     check_critical_path},
};

enum { RULES = sizeof rules / sizeof *rules };

const rocl_advice_rule *rocl_advice_rule_at(size_t i)
{
    return i < RULES ? &rules[i].pub : NULL;
}

rocl_status rocl_advise(rocl_tables *tables, const rocl_stats_options *o, rocl_error *err)
{
    const rocl_stats_options options = {.pictures = o->pictures};
    const rocl_collector c = {.options = &options};
    rule_row outcomes[RULES];
    char missing[RULES][64];
    size_t without = 0; /* rules without their report */
    adviser a = {.tables = tables, .advice = rocl_begin_table(&c, tables, &advice_table, 0).table};
    if (!a.advice)
        return rocl_fail_memory(err);
    a.advice->essential = true;
    for (size_t i = 0; i < RULES; i++) {
        const rocl_advice_rule *rule = &rules[i].pub;
        const rocl_table *t = rocl_tables_find(tables, rules[i].table);
        a.threshold = rule->threshold;
        a.findings = 0;
        snprintf(missing[i], sizeof missing[i], "it needs the report %s", rule->report);
        const char *why = t ? rules[i].check(&a, t) : missing[i];
        without += why == missing[i];
        outcomes[i] = (rule_row){rule->name, rule->threshold,
                                 why          ? "does not apply"
                                 : a.findings ? "stands out"
                                              : "does not stand out",
                                 why};
    }
    if (!a.advice->row_count)
        a.advice->note = "nothing stands out";
    const rocl_report_rows r =
        rocl_begin_table(&c, tables, o->brief ? &short_table : &rule_table, 0);
    if (o->brief && without) {
        rocl_set_note(&r,
                      "%zu more are about other reports, such as streams and steps: name these, "
                      "with --advice",
                      without);
        if (r.table)
            r.table->why_empty = r.table->note;
    }
    for (size_t i = 0; i < RULES; i++)
        if (!o->brief || (outcomes[i].why && outcomes[i].why != missing[i]))
            rocl_add_row(&r, &outcomes[i]);
    return ROCL_OK;
}
