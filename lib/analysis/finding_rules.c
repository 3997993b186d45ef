/* The rules of findings: each reads evidence, and says what stands out in it. */
#include "analysis/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/doctor.h"

/* ---- reading evidence ------------------------------------------------------------------------ */

enum { SOME = 100, MANY = 1000 }; /* kernels, copies, calls */

/* Has the GPU of a row work enough to say something about it? */
static bool has_work(const rocl_table *overlap, size_t row)
{
    return number_in(overlap, row, "kernels") + number_in(overlap, row, "copies") >= LEAST_WORK;
}

/* The largest share of a column in the time of a GPU, and its row; 0: no row has any. */
static double largest_share(const rocl_table *overlap, const char *part, size_t *row)
{
    double most = 0;
    for (size_t i = 0; i < overlap->row_count; i++) {
        const double wall = number_in(overlap, i, "wall_ns");
        const double share = wall > 0 ? number_in(overlap, i, part) / wall : 0;
        if (share > most && has_work(overlap, i)) {
            most = share;
            *row = i;
        }
    }
    return most;
}

static bool is_class(const rocl_table *t, size_t row, const char *class)
{
    return !strcmp(text_in(t, row, "class"), class);
}

/* ---- adding findings ------------------------------------------------------------------------- */

static finding *add_finding(engine *a, const char *what_stands_out, double gain, const char *fmt,
                            ...) __attribute__((format(printf, 4, 5)));

/* gain: ns; 0: unknown. The rest of the arguments is the evidence. The caller may fill in more. */
static finding *add_finding(engine *a, const char *what_stands_out, double gain, const char *fmt,
                            ...)
{
    char evidence[640];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(evidence, sizeof evidence, fmt, ap);
    va_end(ap);
    a->made++;
    finding *f = &a->list[a->count];
    a->count += a->count < MOST_FINDINGS;
    *f = (finding){.level = "gain",
                   .finding = keep(a, what_stands_out),
                   .evidence = keep(a, evidence),
                   .what = a->rule->remedy,
                   .report = a->rule->report,
                   .rule = a->rule->name,
                   .threshold = a->rule->threshold,
                   .gain = gain >= 1 ? (int64_t)fmin(gain, (double)a->wall) : -1,
                   .rank = -1,
                   .places = -1,
                   .begin = -1,
                   .end = -1,
                   .by = a->rule};
    return f;
}

/* Its place is the GPU of a row. */
static void place_at_gpu(finding *f, const rocl_table *overlap, size_t row)
{
    const rocl_datum *rank = rocl_table_find_cell(overlap, row, "rank");
    f->where = text_in(overlap, row, "gpu");
    f->rank = rank->type == ROCL_DATUM_INT ? rank->i : -1;
}

/* A name in a sentence, "%.*s%s": it is cut after a whole character. */
#define NAME_LEN(name) rocl_name_prefix(name, 60)
#define CUT(name)      NAME_LEN(name), (name), (name)[NAME_LEN(name)] ? "..." : ""

static const char no_copies[] = "no copies were recorded";

/* ---- rules on GPUs that wait ----------------------------------------------------------------- */

/* The time of a class of gaps on the GPU of a row; *known: the classes have most of its idle time.
 * Its gaps are the rows from *at on, which ends behind them: both tables have GPUs in one order. */
static double time_of_class(const rocl_table *gaps, size_t *at, const rocl_table *overlap,
                            size_t row, const char *class, double *count, bool *known)
{
    double all = 0, own = 0;
    for (;
         *at < gaps->row_count && !strcmp(text_in(gaps, *at, "gpu"), text_in(overlap, row, "gpu"));
         ++*at) {
        const char *of = text_in(gaps, *at, "class");
        if (!strcmp(of, "tail") || !strcmp(of, "copy")) /* while copies run, it is not idle */
            continue;
        all += number_in(gaps, *at, "total_ns");
        if (strcmp(of, class) != 0)
            continue;
        own += number_in(gaps, *at, "total_ns");
        *count = number_in(gaps, *at, "count");
    }
    *known = number_in(overlap, row, "idle_ns") - all <= own;
    return own;
}

/* The row of its longest gap of the class; row_count: none. */
static size_t longest_gap(const rocl_table *t, const char *gpu, const char *class)
{
    size_t i = 0;
    while (i < t->row_count && (strcmp(text_in(t, i, "gpu"), gpu) != 0 || !is_class(t, i, class)))
        i++;
    return i;
}

static void point_at_gap(finding *f, const rocl_table *t, size_t row)
{
    if (row == t->row_count)
        return;
    f->begin = (int64_t)number_in(t, row, "start_ns");
    f->end = f->begin + (int64_t)number_in(t, row, "gap_ns");
    f->name = text_or_none(t, row, "host");
    f->event = text_or_none(t, row, "after_id");
}

/* The GPU that waits for the largest share of its time for that cause. Where its gaps are `long_ns`
 * on average, it is another thing. */
static const char *check_gaps(engine *a, const rocl_table *overlap, const char *class,
                              const char *what, double long_ns, const char *long_what)
{
    const rocl_table *gaps = find(a, "gap_classes");
    double most = 0, most_ns = 0, count = 0, most_count = 0;
    size_t row = 0, at = 0;
    bool known;
    for (size_t i = 0; i < overlap->row_count; i++) {
        const double wall = number_in(overlap, i, "wall_ns");
        const double ns = time_of_class(gaps, &at, overlap, i, class, &count, &known);
        if (known && wall > 0 && ns / wall > most && has_work(overlap, i)) {
            most = ns / wall;
            most_ns = ns;
            most_count = count;
            row = i;
        }
    }
    if (most <= 0.1)
        return NULL;
    const char *gpu = text_in(overlap, row, "gpu");
    const double idle = number_in(overlap, row, "idle_ns"),
                 kernels = number_in(overlap, row, "kernels");
    const rocl_table *longest = find(a, "longest_gaps");
    const size_t gap = longest_gap(longest, gpu, class);
    const char *host = gap < longest->row_count ? text_in(longest, gap, "host") : "";
    char each[32], kernel[32];
    const double work =
        number_in(overlap, row, "compute_ns") + number_in(overlap, row, "exposed_communication_ns");
    finding *f = add_finding(
        a, most_ns > long_ns * most_count ? long_what : what, most_ns,
        "%.80s is idle like that for %.1f %% of its time, %.1f %% of all its idle time: "
        "%.0f times, %s on average; its kernels take %s on average%s%.*s%s",
        gpu, 100 * most, 100 * most_ns / fmax(idle, 1), most_count,
        rocl_time_text(each, (int64_t)(most_ns / most_count)),
        rocl_time_text(kernel, kernels > 0 ? (int64_t)(work / kernels) : 0),
        *host ? "; in the longest gap the host was in " : "", CUT(host));
    place_at_gpu(f, overlap, row);
    point_at_gap(f, longest, gap);
    return NULL;
}

static const char *check_host_bound(engine *a, const rocl_table *t)
{
    return check_gaps(a, t, "host",
                      "Launch overhead: the host launches more slowly than a GPU computes", 1e5,
                      "A GPU waits for the host, which does other work");
}

static const char *check_sync_waits(engine *a, const rocl_table *t)
{
    return check_gaps(a, t, "sync",
                      "A GPU waits for a host that waited for the GPU: synchronize less often",
                      INFINITY, NULL);
}

static const char *check_launch_overhead(engine *a, const rocl_table *t)
{
    return check_gaps(a, t, "launch", "Launch overhead: a GPU waits for launches", 1e6,
                      "A GPU waits for calls that launch, and take long: they load code, or wait");
}

static const char *check_dependency_waits(engine *a, const rocl_table *t)
{
    return check_gaps(a, t, "dependency",
                      "Work for a GPU waits for other work: events, queues, other GPUs", INFINITY,
                      NULL);
}

static const char *check_idle(engine *a, const rocl_table *overlap)
{
    const rocl_table *gaps = find(a, "gap_classes");
    size_t row = 0;
    bool known;
    const double idle = largest_share(overlap, "idle_ns", &row);
    if (idle <= 0.1)
        return NULL;
    const char *gpu = text_in(overlap, row, "gpu");
    const double ns = number_in(overlap, row, "idle_ns");
    double count = 0;
    size_t at = 0;
    while (at < gaps->row_count && strcmp(text_in(gaps, at, "gpu"), gpu) != 0)
        at++;
    const double unknown = time_of_class(gaps, &at, overlap, row, "unknown", &count, &known);
    if (known && unknown < ns / 2)
        return NULL; /* the other rules have causes */
    finding *f = add_finding(a,
                             known ? "A GPU waits, and the trace does not tell for what"
                                   : "A GPU waits, mostly in gaps that options leave out",
                             ns, "%.80s is idle for %.1f %% of its time", gpu, 100 * idle);
    place_at_gpu(f, overlap, row);
    f->record = gaps->note; /* it says what to record */
    point_at_gap(f, find(a, "longest_gaps"), longest_gap(find(a, "longest_gaps"), gpu, "unknown"));
    return NULL;
}

/* ---- rules on what is not hidden ------------------------------------------------------------- */

static const char *check_exposed_communication(engine *a, const rocl_table *overlap)
{
    size_t row = 0;
    const double share = largest_share(overlap, "exposed_communication_ns", &row);
    if (share > 0.1)
        place_at_gpu(add_finding(a, "Communication is not hidden behind kernels",
                                 number_in(overlap, row, "exposed_communication_ns"),
                                 "%.1f %% of the time of %.80s is communication alone", 100 * share,
                                 text_in(overlap, row, "gpu")),
                     overlap, row);
    return NULL;
}

static const char *check_memory_transfers(engine *a, const rocl_table *overlap)
{
    size_t row = 0;
    const double share = largest_share(overlap, "exposed_copy_ns", &row);
    const double ns = number_in(overlap, row, "exposed_copy_ns");
    if (share > 0.1)
        place_at_gpu(
            add_finding(a,
                        ns > number_in(overlap, row, "compute_ns")
                            ? "Memory transfers are the bottleneck: copies run alone for longer "
                              "than kernels run"
                            : "Copies are not hidden behind kernels",
                        ns, "%.1f %% of the time of %.80s is copies alone", 100 * share,
                        text_in(overlap, row, "gpu")),
            overlap, row);
    return sum_of(overlap, "copies") > 0 ? NULL : no_copies;
}

static const char *check_good_pipelining(engine *a, const rocl_table *overlap)
{
    size_t row;
    if (largest_share(overlap, "exposed_copy_ns", &row) > 0.1)
        return NULL;
    for (size_t i = 0; i < overlap->row_count; i++) {
        const double wall = number_in(overlap, i, "wall_ns"),
                     copy = number_in(overlap, i, "copy_ns");
        const double both = number_in(overlap, i, "both_ns");
        if (wall <= 0 || !has_work(overlap, i) || copy < 0.1 * wall || both < 0.9 * copy ||
            number_in(overlap, i, "idle_ns") > 0.1 * wall)
            continue;
        finding *f = add_finding(a, "Good pipelining: copies are hidden behind kernels", 0,
                                 "copies run for %.1f %% of the time of %.80s, %.1f %% of that "
                                 "beside kernels",
                                 100 * copy / wall, text_in(overlap, i, "gpu"), 100 * both / copy);
        f->level = "good";
        place_at_gpu(f, overlap, i);
        break;
    }
    return sum_of(overlap, "copies") > 0 ? NULL : no_copies;
}

/* Pinned memory moves at tens of GB/s, pageable memory at a few. What they could gain is at most
 * what of copies is not hidden. */
static const char *check_copies(engine *a, const rocl_table *copies, bool large_ones)
{
    const double large = 1 << 20, small = 64 << 10, slow = 8e9, link = 25e9;
    const double exposed = sum_of(find(a, "overlap"), "exposed_copy_ns");
    const char *why = copies->row_count ? "no copies from or to the host" : no_copies;
    for (size_t i = 0; i < copies->row_count; i++) {
        const char *direction = text_in(copies, i, "direction");
        const double rate = number_in(copies, i, "bandwidth");
        const double calls = number_in(copies, i, "calls") - number_in(copies, i, "unsized");
        const double bytes = calls > 0 ? number_in(copies, i, "bytes") / calls : 0;
        const double ns = number_in(copies, i, "total_ns");
        const double gain = fmin(ns - number_in(copies, i, "bytes") / link * 1e9, exposed);
        if (!strcasestr(direction, "host") && !strcasestr(direction, "DtoH") &&
            !strcasestr(direction, "HtoD"))
            continue;
        why = NULL;
        if (gain < 0.01 * (double)a->wall)
            continue;
        if (large_ones && bytes >= large && rate > 0 && rate < slow && !strstr(direction, "Pinned"))
            add_finding(a, "Slow copies: host memory may be pageable, not pinned", gain,
                        "%.60s: %.1f GB/s at %.1f MiB each", direction, rate / 1e9, bytes / large);
        else if (!large_ones && calls >= SOME && bytes > 0 && bytes < small)
            add_finding(a, "Many small copies: combine them", gain, "%.60s: %.0f of %.1f KiB each",
                        direction, calls, bytes / 1024);
    }
    return why;
}

static const char *check_slow_copies(engine *a, const rocl_table *copies)
{
    return check_copies(a, copies, true);
}

static const char *check_small_copies(engine *a, const rocl_table *copies)
{
    return check_copies(a, copies, false);
}

/* ---- rules on the host ----------------------------------------------------------------------- */

/* Programs that keep their memory allocate now and then, not for every few kernels. PyTorch's
 * allocations are points in time: only calls of the runtime take some. */
static const char *check_memory_churn(engine *a, const rocl_table *domains)
{
    const rocl_table *host = find(a, "memory_calls");
    const double ns = sum_of(host, "total_ns"), calls = sum_of(host, "calls");
    const double each = ns / fmax(sum_of(host, "processes"), 1);
    double kernels = 0, allocs = 0;
    size_t row = 0;
    for (size_t i = 0; i < domains->row_count; i++) {
        const char *name = text_in(domains, i, "name");
        kernels += strcmp(name, "KERNELS") ? 0 : number_in(domains, i, "calls");
        allocs += strcmp(name, "MEMORY_ALLOCATIONS") ? 0 : number_in(domains, i, "calls");
    }
    const rocl_table *overlap = find(a, "overlap");
    largest_share(overlap, "idle_ns", &row);
    const double idle = number_in(overlap, row, "idle_ns");
    const bool costs = calls >= LEAST_WORK && calls > kernels / 10 && each > 0.1 * (double)a->wall;
    if (costs || (allocs >= MANY && allocs > kernels / 10))
        add_finding(a, "Memory is allocated and freed all the time: keep it, or use a pool",
                    costs ? fmin(each, idle) : 0,
                    "%.0f allocations and frees, with %.0f kernels; %.1f ms in calls for that",
                    fmax(calls, allocs), kernels, ns / 1e6);
    return calls + allocs > 0 ? NULL : "no allocations were recorded";
}

static const char *check_short_kernels(engine *a, const rocl_table *kernels)
{
    const double short_ns = 10000;
    const double calls = sum_of(kernels, "calls");
    const double average = calls > 0 ? sum_of(kernels, "total_ns") / calls : 0;
    const rocl_table *overlap = find(a, "overlap");
    if (calls >= MANY && average < short_ns &&
        sum_of(overlap, "compute_ns") > 0.25 * sum_of(overlap, "wall_ns"))
        add_finding(a, "Many short kernels: fuse them, or launch them as a graph", 0,
                    "%.0f kernels of %.2f us on average", calls, average / 1000);
    return calls > 0 ? NULL : "no kernels were recorded";
}

/* ---- rules on streams, GPUs and ranks -------------------------------------------------------- */

/* Several streams do things one after the other: at best all of them run beside the longest one of
 * their GPU. Who communicates waits for others. */
static const char *check_serialised_execution(engine *a, const rocl_table *streams)
{
    const rocl_table *t = find(a, "stream_activity");
    const double gpus = fmax((double)t->row_count, 1);
    double all = 0, longest = 0;
    size_t used = 0, row = 0;
    for (size_t i = 0; i < streams->row_count; i++) {
        if (number_in(streams, i, "kernels") < LEAST_WORK)
            continue;
        used++;
        all += number_in(streams, i, "busy_ns");
        longest = fmax(longest, number_in(streams, i, "busy_ns"));
    }
    if ((double)used <= gpus)
        return "no GPU with two streams of 20 kernels";
    while (row < t->row_count &&
           (number_in(t, row, "average_busy") <= 0 || number_in(t, row, "average_busy") >= 1.05))
        row++;
    const double gain =
        (all - sum_of(find(a, "overlap"), "exposed_communication_ns")) / gpus - longest;
    if (row == t->row_count || gain <= 0.1 * number_in(t, row, "wall_ns"))
        return NULL;
    finding *f =
        add_finding(a, "Serialised execution: streams run one after the other", gain,
                    "%zu streams have %d kernels or more, but %.2f are active at once on "
                    "%.80s",
                    used, LEAST_WORK, number_in(t, row, "average_busy"), text_in(t, row, "gpu"));
    f->where = text_in(t, row, "gpu");
    return NULL;
}

/* One of several has more work than the others, or is slower at it. Communication waits for others:
 * it is no work. */
static const char *check_unequal_gpus(engine *a, const rocl_table *overlap, bool slower)
{
    const size_t gpus = overlap->row_count;
    double most = 0, all = 0, kernels = 0;
    size_t row = 0;
    for (size_t i = 0; i < gpus; i++) {
        const double ns = number_in(overlap, i, "compute_ns");
        all += ns;
        kernels += number_in(overlap, i, "kernels");
        row = ns > most ? i : row;
        most = fmax(most, ns);
    }
    if (gpus < 2 || all <= 0)
        return "fewer than two GPUs with kernels";
    const double own = number_in(overlap, row, "kernels"), count = (double)gpus - 1;
    const double others = (all - most) / count, their = (kernels - own) / count;
    const bool alike = own >= LEAST_WORK && own < 1.02 * their && own > 0.98 * their;
    if (others <= 0 || !has_work(overlap, row) || alike != slower ||
        most / others <= (slower ? 1.1 : 1.25))
        return NULL;
    const char *gpu = text_in(overlap, row, "gpu");
    finding *f = add_finding(
        a,
        slower ? "One GPU is slower than the others: as many kernels take longer"
               : "GPUs have unequal shares of the work",
        most - others,
        gpus == 2 ? "%.80s computes for %.2f times the time of the other GPU, with %.0f kernels"
                  : "%.80s computes for %.2f times the mean of the other GPUs, with %.0f kernels",
        gpu, most / others, own);
    place_at_gpu(f, overlap, row);
    return NULL;
}

static const char *check_shares_of_gpus(engine *a, const rocl_table *overlap)
{
    return check_unequal_gpus(a, overlap, false);
}

static const char *check_slow_gpu(engine *a, const rocl_table *overlap)
{
    return check_unequal_gpus(a, overlap, true);
}

static const char *check_late_rank(engine *a, const rocl_table *t)
{
    static const struct {
        const char *cause, *remedy, *rest; /* its number is between them */
    } causes[] = {
        {"kernels",
         "compare its kernels with those of another rank (rocstats compare): sizes, clocks", NULL},
        {"copies", "look at its copies (rocstats copies --rank ", "): sizes, pinned memory, links"},
        {"launches", "look at its host (rocstats launch --rank ",
         "): cores, other processes, profilers"},
        {"host", "look at what its host does (rocstats gaps --rank ",
         "): data, cores, other processes"},
    };
    enum { CAUSES = sizeof causes / sizeof *causes };
    for (size_t i = 0; i < t->row_count && i < 3; i++) {
        const bool ranked = rocl_table_find_cell(t, i, "rank")->type == ROCL_DATUM_INT;
        const double number = number_in(t, i, ranked ? "rank" : "pid");
        const double gain = number_in(t, i, "gain_ns"), share = number_in(t, i, "lost_percent");
        const char *cause = text_in(t, i, "cause"), *name = text_in(t, i, "name");
        char who[32], text[256], lost[32], of[64] = "";
        size_t k = 0;
        bool said = false; /* of another kind of meetings */
        snprintf(who, sizeof who, ranked ? "rank %.0f" : "process %.0f", number);
        for (size_t n = 0; n < a->count; n++)
            said |= a->list[n].by == a->rule && !strcmp(a->list[n].where, who);
        if (said || gain < 0.01 * (double)a->wall)
            continue;
        while (k < CAUSES && strcmp(causes[k].cause, cause) != 0)
            k++;
        if (share > 0) /* it is not known of all kinds of meetings */
            snprintf(of, sizeof of, ", %.1f %% of their time in them", share);
        snprintf(text, sizeof text, "%c%s is late, and the others wait for it%s%s%s",
                 *who - 'a' + 'A', who + 1, k < CAUSES ? ": its " : "", k < CAUSES ? cause : "",
                 k == CAUSES              ? ""
                 : !strcmp(cause, "host") ? " takes longer"
                                          : " take longer");
        finding *f = add_finding(
            a, text, gain, "the last in %.0f of %.0f %.40s%s; the others wait for %s%s%s%.*s%s",
            number_in(t, i, "last"), number_in(t, i, "meetings"), text_in(t, i, "meeting"),
            strcmp(text_in(t, i, "meeting"), "MPI") ? "" : " calls",
            rocl_time_text(lost, (int64_t)number_in(t, i, "lost_ns")), of,
            *name ? "; the most in " : "", CUT(name));
        f->where = keep(a, who);
        f->rank = ranked ? (int64_t)number : -1;
        f->name = text_or_none(t, i, "name");
        f->begin = (int64_t)number_in(t, i, "begin_ns");
        f->end = (int64_t)number_in(t, i, "end_ns");
        f->event = text_or_none(t, i, "event");
        if (k < CAUSES && !causes[k].rest)
            f->what = causes[k].remedy;
        if (k == CAUSES || !causes[k].rest || !ranked)
            continue;
        snprintf(text, sizeof text, "%s%.0f%s", causes[k].remedy, number, causes[k].rest);
        f->what = keep(a, text);
    }
    return t->row_count || !t->note ? NULL : t->note;
}

/* ---- rules on kernels ------------------------------------------------------------------------ */

/* Finds the kernel with the most time of those that have the reason and take a tenth of the time.
 */
static void check_launches(engine *a, const rocl_table *t, const char *what, const char *try,
                           bool (*is_reason)(const rocl_table *t, size_t row, char why[96]))
{
    const double much = 10; /* percent */
    double most = 0;
    size_t row = 0, count = 0;
    char why[96], others[48] = "";
    for (size_t i = 0; i < t->row_count; i++) {
        const double share = number_in(t, i, "percent");
        if (share < much || !is_reason(t, i, why))
            continue;
        row = share > most ? i : row;
        most = fmax(most, share);
        count++;
    }
    if (!count)
        return;
    is_reason(t, row, why);
    const char *name = text_in(t, row, "name");
    if (count > 1)
        snprintf(others, sizeof others, "; %zu more like that", count - 1);
    finding *f = add_finding(a, what, 0, "%.1f %% of the kernel time: %.*s%s: %s%s", most,
                             CUT(name), why, others);
    f->name = name;
    f->what = try;
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

static const char *check_occupancy(engine *a, const rocl_table *t)
{
    check_launches(a, t, "Registers or local memory limit the occupancy of a kernel",
                   "fewer registers (__launch_bounds__), less LDS", has_few_waves);
    check_launches(a, t, "A kernel fills only a part of the GPU",
                   "give it more work or smaller workgroups, or run others at the same time",
                   has_small_grid);
    check_launches(a, t, "A kernel uses scratch memory: its registers may be spilled",
                   "fewer registers, smaller arrays of a work-item", has_scratch);
    return t->row_count ? NULL : "no kernels were recorded";
}

/* The rows of a name may be those of ranks or streams: a name with more than half of all time wins
 * a vote by time. Who communicates waits for others: these kernels are none to make faster. */
static const char *check_dominant_kernel(engine *a, const rocl_table *kernels)
{
    const rocl_table *overlap = find(a, "overlap");
    const char *name = "";
    double votes = 0, all = 0, own = 0, others = 0;
    for (size_t i = 0; i < kernels->row_count; i++) {
        const double ns = number_in(kernels, i, "total_ns");
        const bool same = !strcmp(text_in(kernels, i, "name"), name);
        if (is_class(kernels, i, "communication")) {
            others += ns;
            continue;
        }
        all += ns;
        name = same || votes >= ns ? name : text_in(kernels, i, "name");
        votes = fabs(same ? votes + ns : votes - ns);
    }
    for (size_t i = 0; i < kernels->row_count; i++)
        if (!strcmp(text_in(kernels, i, "name"), name))
            own += number_in(kernels, i, "total_ns");
    if (own >= all)
        return "fewer than two kernels that do not communicate";
    if (own > 0.5 * all && sum_of(overlap, "compute_ns") > 0.25 * sum_of(overlap, "wall_ns"))
        add_finding(a, "One kernel takes most of the kernel time", 0, "%.1f %%%s: %.*s%s",
                    100 * own / all, others > 0 ? " without communication" : "", CUT(name))
            ->name = name;
    return NULL;
}

/* Most calls of a name take as long as each other, and a few take much longer. */
static const char *check_kernel_outliers(engine *a, const rocl_table *kernels)
{
    const rocl_table *overlap = find(a, "overlap");
    double all = 0, most = 0;
    size_t row = 0, names = 0;
    for (size_t i = 0; i < kernels->row_count; i++) {
        const double calls = number_in(kernels, i, "calls");
        const double median = number_in(kernels, i, "median_ns");
        const double more = number_in(kernels, i, "total_ns") - calls * median;
        if (calls < SOME || median <= 0 || number_in(kernels, i, "p90_ns") > 1.2 * median ||
            2 * median > number_in(kernels, i, "max_ns") || is_class(kernels, i, "communication"))
            continue;
        all += more;
        names++;
        row = more > most ? i : row;
        most = fmax(most, more);
    }
    if (all <= 0.1 * sum_of(overlap, "compute_ns"))
        return NULL;
    const char *name = text_in(kernels, row, "name");
    char longest[32], typical[32], others[48] = "";
    if (names > 1)
        snprintf(others, sizeof others, "; %zu more like that", names - 1);
    add_finding(a, "A few calls of a kernel take much longer than the others",
                all / fmax((double)overlap->row_count, 1),
                "%.0f calls of %.*s%s typically take %s, but up to %s%s",
                number_in(kernels, row, "calls"), CUT(name),
                rocl_time_text(typical, (int64_t)number_in(kernels, row, "median_ns")),
                rocl_time_text(longest, (int64_t)number_in(kernels, row, "max_ns")), others)
        ->name = name;
    return NULL;
}

/* ---- rules of reports that were asked for ---------------------------------------------------- */

/* A name that would make all shorter if it were faster, where the path has many sections. */
static const char *check_critical_path(engine *a, const rocl_table *t)
{
    const rocl_table *names = find(a, "critical_path_what_if");
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
        add_finding(a,
                    "The host limits the run time, not the GPU: launch earlier, fuse kernels, or "
                    "use graphs",
                    0, "%.1f %% of the critical path is on the host", of_host);
    for (size_t i = 0; i < names->row_count; i++) {
        const char *name = text_in(names, i, "name");
        const double saved = number_in(names, i, "saved_percent");
        if (saved >= much && number_in(names, i, "factor") == 2)
            add_finding(a, "A faster kernel, copy or call would shorten the run",
                        number_in(names, i, "saved_ns"),
                        "%.1f %% less if this were twice as fast: %.*s%s", saved, CUT(name))
                ->name = name;
    }
    return NULL;
}

static const char *check_graph_gaps(engine *a, const rocl_table *t)
{
    const double few = 10;
    const char *why = t->row_count ? "no graph with 10 launches" : "no launches of graphs";
    for (size_t i = 0; i < t->row_count; i++) {
        const double launches = number_in(t, i, "launches"), gaps = number_in(t, i, "gaps_percent");
        if (launches < few)
            continue;
        why = NULL;
        if (gaps > 20)
            add_finding(
                a, "A graph leaves the GPU idle between its kernels", number_in(t, i, "gaps_ns"),
                "graph %.60s: %.1f %% of %.1f us on average, %.0f launches", text_in(t, i, "graph"),
                gaps, number_in(t, i, "average_ns") / 1000, launches);
    }
    return why;
}

/* Where graphs run most of them, nothing is left to do. */
static const char *check_sequences(engine *a, const rocl_table *t)
{
    const double short_ns = 10000, much = 10, in_graphs = sum_of(find(a, "graphs"), "kernels");
    for (size_t i = 0; i < t->row_count; i++) {
        const double calls = number_in(t, i, "calls"), length = number_in(t, i, "length");
        const double each = number_in(t, i, "average_ns") / fmax(length, 1);
        const char *name = text_in(t, i, "first_kernel");
        if (calls < SOME || number_in(t, i, "percent") < much || each >= short_ns ||
            in_graphs * 2 >= calls * length)
            continue;
        add_finding(a, "The same short kernels run again and again: make them a graph", 0,
                    "%.0f times %.0f kernels of %.2f us on average, from %.*s%s on", calls, length,
                    each / 1000, CUT(name))
            ->name = name;
        break;
    }
    return t->row_count ? NULL : "no kernels follow each other again";
}

static bool is_first_step(const rocl_table *t, size_t row)
{
    return !row || strcmp(text_in(t, row, "place"), text_in(t, row - 1, "place")) != 0 ||
           strcmp(text_in(t, row, "marker"), text_in(t, row - 1, "marker")) != 0;
}

/* The step that takes the most times the median, of those that are slow outliers: of the first
 * steps of ranks, or of the others. */
static const char *check_steps(engine *a, const rocl_table *t, bool first, const char *what)
{
    double most = 0, gain = 0;
    size_t row = 0, slow = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        const double ratio = number_in(t, i, "of_median"), wall = number_in(t, i, "wall_ns");
        if (is_first_step(t, i) != first || strcmp(text_in(t, i, "outlier"), "slow") != 0 ||
            !(ratio > 1.5))
            continue;
        slow++;
        gain += wall - wall / ratio;
        row = ratio > most ? i : row;
        most = fmax(most, ratio);
    }
    if (slow) {
        const char *step = text_in(t, row, "step");
        finding *f =
            add_finding(a, what, gain, "%zu of %zu; %.*s of %.40s takes %.2f times the median",
                        slow, t->row_count, NAME_LEN(step), step, text_in(t, row, "place"), most);
        f->name = step;
        f->begin = (int64_t)number_in(t, row, "start_ns");
        f->end = f->begin + (int64_t)number_in(t, row, "wall_ns");
    }
    return t->row_count >= 5 ? NULL : "fewer than 5 steps";
}

static const char *check_slow_steps(engine *a, const rocl_table *t)
{
    return check_steps(a, t, false, "Some steps take much longer than the others");
}

static const char *check_first_steps(engine *a, const rocl_table *t)
{
    return check_steps(a, t, true, "The first step includes warm-up: leave it out with --warmup 1");
}

static const char *check_roofline(engine *a, const rocl_table *t)
{
    const double much = 10, low = 30; /* percent */
    bool named = false;
    for (size_t i = 0; i < t->row_count; i++) {
        const rocl_datum *of_peak = rocl_table_find_cell(t, i, "peak_percent");
        const char *name = text_in(t, i, "name");
        const double share = number_in(t, i, "percent");
        if (of_peak->type == ROCL_DATUM_NONE)
            continue;
        named = true;
        if (share >= much && rocl_datum_number(of_peak) < low)
            add_finding(a, "An operator that takes much of the time is far from the peak", 0,
                        "%.1f %% of the time: %.*s%s reaches %.1f %% of it", share, CUT(name),
                        rocl_datum_number(of_peak))
                ->name = name;
    }
    return named          ? NULL
           : t->row_count ? "no peak is known: --peak names one"
                          : "no operators with the shapes of their inputs were recorded";
}

/* ---- the rules ------------------------------------------------------------------------------- */

const finding_rule rocl_finding_rules[] = {
    {"late-rank", "ranks", "late_ranks", check_late_rank, TIMES_WRONG | RANKS_WRONG, false, NULL,
     "the last more often than by chance (p < 0.002 / ranks), of 5 meetings or more; the others "
     "wait for 1 % of the time or more",
     "look at what that rank does before it meets the others: data, host, clocks, work"},
    {"host-bound", "gaps", "overlap", check_host_bound, IDLE_TIMES, false, "memory-churn late-rank",
     "more than 10 % of the time of a GPU",
     "rocstats gaps shows what the host did meanwhile: launch earlier, load data in other threads, "
     "use graphs"},
    {"sync-waits", "gaps", "overlap", check_sync_waits, IDLE_TIMES, false, "memory-churn late-rank",
     "more than 10 % of the time of a GPU",
     "synchronize once for many kernels; wait for events instead of the whole GPU"},
    {"launch-overhead", "gaps", "overlap", check_launch_overhead, IDLE_TIMES, false, NULL,
     "more than 10 % of the time of a GPU",
     "fuse kernels, make batches larger, or launch them as a HIP graph"},
    {"dependency-waits", "gaps", "overlap", check_dependency_waits, IDLE_TIMES, false, NULL,
     "more than 10 % of the time of a GPU",
     "look for hipStreamWaitEvent, host functions and streams that share a hardware queue"},
    {"idle-gpu", "gaps", "overlap", check_idle, IDLE_TIMES, false, NULL,
     "more than 10 % of its time", "record the calls of the host, too"},
    {"memory-churn", "memory", "domains", check_memory_churn, WORK_TIMES, false, NULL,
     "20 calls or more, more than 1 for 10 kernels, for more than 10 % of the time; or 1000 "
     "allocations, more than 1 for 10 kernels",
     "keep buffers, or use a pool, hipMallocAsync or the caching allocator"},
    {"exposed-communication", "overlap", "overlap", check_exposed_communication, WORK_TIMES, false,
     "late-rank", "more than 10 % of the time of a GPU",
     "overlap it with the backward pass, or use larger buckets"},
    {"memory-transfers", "overlap", "overlap", check_memory_transfers, WORK_TIMES, false,
     "slow-copies small-copies", "more than 10 % of the time of a GPU",
     "copy from pinned memory with hipMemcpyAsync in a stream of its own, one step ahead"},
    {"slow-copies", "copies", "copies", check_slow_copies, WORK_TIMES, false, NULL,
     "1 MiB or more on average at below 8 GB/s, not from pinned memory",
     "allocate host memory with hipHostMalloc"},
    {"small-copies", "copies", "copies", check_small_copies, WORK_TIMES, false, NULL,
     "100 copies or more, below 64 KiB on average", "combine small copies into large ones"},
    {"serialised-execution", "streams", "streams", check_serialised_execution, WORK_TIMES, false,
     NULL, "below 1.05 streams active at once",
     "look for events, and for kernels that fill the GPU alone; GPU_MAX_HW_QUEUES sets how many "
     "hardware queues streams share"},
    {"slow-gpu", "overlap", "overlap", check_slow_gpu, WORK_LOST | TIMES_WRONG, false, "late-rank",
     "as many kernels take more than 1.1 times as long as on the others",
     "compare clocks, power and temperature of the GPUs (rocstats counters, amd-smi)"},
    {"unequal-gpus", "overlap", "overlap", check_shares_of_gpus, WORK_LOST | TIMES_WRONG, false,
     "late-rank", "more than 1.25 times the compute time of the others",
     "divide the work by its time, not by its size"},
    {"good-pipelining", "overlap", "overlap", check_good_pipelining, WORK_TIMES, false, NULL,
     "copies run for 10 % of the time or more, 90 % of that beside kernels; idle for less than 10 "
     "%",
     "keep it so"},
    {"short-kernels", "kernels", "kernels", check_short_kernels, WORK_TIMES, false, NULL,
     "1000 kernels or more, below 10 us on average, of GPUs that compute for 25 % of their time",
     "fuse kernels, make batches larger, or launch them as a HIP graph"},
    {"dominant-kernel", "kernels", "kernels", check_dominant_kernel, WORK_LOST | TIMES_WRONG, false,
     NULL,
     "more than 50 % of the kernel time, without communication; GPUs compute for 25 % of their "
     "time or more",
     "rocstats roofline and rocstats counters show what limits it"},
    {"kernel-outliers", "kernels", "kernels", check_kernel_outliers, WORK_TIMES, false, NULL,
     "100 calls or more, 90 % of them within 1.2 times the median; what others take longer is more "
     "than 10 % of the compute time",
     "look at the longest with rocstats kernels --ids: clocks, other processes, page faults"},
    {"low-occupancy", "roofline", "occupancy", check_occupancy, WORK_TIMES, false, NULL,
     "10 % of the kernel time or more: an occupancy of 25 % or less, half of the GPU empty, or "
     "scratch",
     "fewer registers (__launch_bounds__), less LDS, more workgroups"},
    {"graph-gaps", "launch", "graphs", check_graph_gaps, IDLE_TIMES, true, NULL,
     "10 launches or more, idle for more than 20 % of their time",
     "fewer dependencies between its nodes, larger kernels, fewer copies and fills"},
    {"repeated-kernels", "steps", "sequences", check_sequences, WORK_TIMES, true, NULL,
     "100 times or more, 10 % of the kernel time or more, below 10 us for each kernel",
     "launch them as a HIP graph, or fuse them (torch.compile, Triton)"},
    {"slow-steps", "steps", "steps", check_slow_steps, TIMES_WRONG, true, NULL,
     "an outlier of more than 1.5 times the median",
     "look at such a step with --steps N: input data, garbage collection, checkpoints"},
    {"first-steps", "steps", "steps", check_first_steps, TIMES_WRONG, true, NULL,
     "an outlier of more than 1.5 times the median",
     "leave it out with --warmup 1, or start the profiler later"},
    {"far-from-peak", "roofline", "roofline", check_roofline, WORK_TIMES, true, NULL,
     "10 % of the time or more, below 30 % of the peak",
     "other shapes or types, another library or tuning, fusion with its neighbours"},
    {"critical-path", "critical-path", "critical_path", check_critical_path, IDLE_TIMES, true, NULL,
     "60 % of it on the host; or a name that would save 10 % if it were twice as fast",
     "make that name faster; if it is the host, launch earlier, fuse kernels, or use graphs"},
};

const size_t rocl_finding_rule_count = sizeof rocl_finding_rules / sizeof *rocl_finding_rules;
