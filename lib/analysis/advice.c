/* What to look at first: rules on the tables of other reports. Each says something only when its
 * numbers do, and says them. The thresholds are in rocstats(1). */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"

static const rocl_table_column columns[] = {
    {"finding", "Finding", ROCL_UNIT_SENTENCE},
    {"evidence", "Evidence", ROCL_UNIT_SENTENCE},
    {"report", "Look at", ROCL_UNIT_TEXT},
};

typedef struct adviser {
    rocl_tables *tables;
    size_t count;
    rocl_datum found[16][3];
} adviser;

/* ---- reading tables ---- */

static const rocl_table *table(const adviser *a, const char *key)
{
    for (size_t i = 0; i < a->tables->count; i++)
        if (!strcmp(a->tables->tables[i].key, key))
            return &a->tables->tables[i];
    return NULL;
}

static const rocl_datum *cell(const rocl_table *t, size_t row, const char *key)
{
    static const rocl_datum none;
    for (size_t c = 0; c < t->column_count; c++)
        if (!strcmp(t->columns[c].key, key))
            return &t->cells[row * t->column_count + c];
    return &none;
}

static double number(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    return d->is == ROCL_DATUM_INT ? (double)d->i : d->is == ROCL_DATUM_REAL ? d->r : 0;
}

static const char *text(const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = cell(t, row, key);
    return d->is == ROCL_DATUM_TEXT ? d->text : "";
}

static double sum(const rocl_table *t, const char *key)
{
    double v = 0;
    for (size_t i = 0; i < t->row_count; i++)
        v += number(t, i, key);
    return v;
}

/* The row with the largest share of one column in another; ROCL_NONE: no row has any. */
static size_t worst(const rocl_table *t, const char *part, const char *whole, double *share)
{
    size_t row = ROCL_NONE;
    *share = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        double w = number(t, i, whole), s = w > 0 ? number(t, i, part) / w : 0;
        if (s > *share) {
            *share = s;
            row = i;
        }
    }
    return row;
}

static void found(adviser *a, const char *report, const char *finding, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static void found(adviser *a, const char *report, const char *finding, const char *fmt, ...)
{
    char evidence[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(evidence, sizeof evidence, fmt, ap);
    va_end(ap);
    if (a->count == sizeof a->found / sizeof *a->found)
        return;
    rocl_datum *r = a->found[a->count++];
    r[0] = rocl_datum_text(a->tables, finding, strlen(finding));
    r[1] = rocl_datum_text(a->tables, evidence, strlen(evidence));
    r[2] = rocl_datum_text(a->tables, report, strlen(report));
}

/* ---- rules ---- */

enum {
    SOME = 100,
    MANY = 1000,
    SHORT_NS = 10000,
    LARGE = 1 << 20,
    SMALL = 64 << 10,
    NAME_PART = 60
};

static void short_kernels(adviser *a)
{
    const rocl_table *t = table(a, "kernels");
    if (!t)
        return;
    double calls = sum(t, "calls"), average = calls > 0 ? sum(t, "total_ns") / calls : 0;
    if (calls >= MANY && average < SHORT_NS)
        found(a, "launch", "Many short kernels: fuse them, or launch them as a graph",
              "%.0f kernels of %.2f us on average", calls, average / 1000);
}

/* The row for what --top cuts off. */
static bool is_rest(const char *name)
{
    const char *end = strstr(name, " others)");
    return name[0] == '(' && end && !end[8];
}

/* A sentence has room for so many bytes of a name, in whole characters. */
static int part_of_name(const char *name)
{
    size_t n = strnlen(name, NAME_PART + 1);
    if (n <= NAME_PART)
        return (int)n;
    for (n = NAME_PART; n && ((unsigned char)name[n] & 0xc0) == 0x80;)
        n--;
    return (int)n;
}

static void one_kernel(adviser *a)
{
    const rocl_table *t = table(a, "kernels");
    if (!t)
        return;
    double all = sum(t, "total_ns");
    for (size_t i = 0; all > 0 && i < t->row_count; i++) {
        double share = number(t, i, "total_ns") / all;
        const char *name = text(t, i, "name");
        const int part = part_of_name(name);
        if (share > 0.5 && t->row_count > 1 && !is_rest(name))
            found(a, "kernels", "One kernel takes most of the kernel time", "%.1f %%: %.*s%s",
                  100 * share, part, name, name[part] ? "..." : "");
    }
}

/* Why a GPU is idle most of its idle time: a class of gaps, "" where none is known. */
static const char *main_cause(const adviser *a, const char *gpu, double *share)
{
    const rocl_table *t = table(a, "gap_classes");
    const char *cause = "";
    double most = 0, all = 0;
    for (size_t i = 0; t && i < t->row_count; i++) {
        double ns = number(t, i, "total_ns");
        const char *class = text(t, i, "class");
        if (strcmp(text(t, i, "gpu"), gpu) != 0 || !strcmp(class, "tail"))
            continue;
        all += ns;
        cause = ns > most ? class : cause;
        most = fmax(most, ns);
    }
    *share = all > 0 ? most / all : 0;
    return cause;
}

static const char *finding_of(const char *cause)
{
    static const char *const findings[][2] = {
        {"host", "A GPU waits for the host, which has other things to do"},
        {"sync", "A GPU waits for a host that waited for the GPU: synchronize less often"},
        {"launch", "A GPU waits for launches, again and again"},
        {"dependency", "Work for a GPU waits for other work: events, queues, other GPUs"},
    };
    for (size_t i = 0; i < sizeof findings / sizeof *findings; i++)
        if (!strcmp(findings[i][0], cause))
            return findings[i][1];
    return NULL;
}

static void idle(adviser *a)
{
    const rocl_table *t = table(a, "overlap");
    double share = 0, of_idle = 0;
    size_t row = t ? worst(t, "idle_ns", "wall_ns", &share) : ROCL_NONE;
    if (row == ROCL_NONE || share <= 0.3)
        return;
    const char *gpu = text(t, row, "gpu");
    const char *finding = finding_of(main_cause(a, gpu, &of_idle));
    if (finding)
        found(a, "gaps", finding,
              "%.80s is idle for %.1f %% of its time, %.1f %% of that for this cause", gpu,
              100 * share, 100 * of_idle);
    else
        found(a, "gaps", "A GPU waits for the host or for others",
              "%.80s is idle for %.1f %% of its time", gpu, 100 * share);
}

/* Programs that keep their memory allocate now and then, not for every few kernels. */
static void allocations(adviser *a)
{
    const rocl_table *t = table(a, "domains");
    double kernels = 0, allocs = 0, ns = 0;
    for (size_t i = 0; t && i < t->row_count; i++) {
        if (!strcmp(text(t, i, "name"), "KERNELS"))
            kernels = number(t, i, "calls");
        if (!strcmp(text(t, i, "name"), "MEMORY_ALLOCATIONS")) {
            allocs = number(t, i, "calls");
            ns = number(t, i, "total_ns");
        }
    }
    if (allocs >= MANY && allocs > kernels / 10)
        found(a, "memory", "Memory is allocated and freed all the time: keep it, or use a pool",
              "%.0f allocations and frees in %.1f ms, with %.0f kernels", allocs, ns / 1e6,
              kernels);
}

/* Several streams do things one after the other. */
static void serial_streams(adviser *a)
{
    const rocl_table *streams = table(a, "streams"), *t = table(a, "stream_activity");
    size_t used = 0;
    for (size_t i = 0; streams && i < streams->row_count; i++)
        used += number(streams, i, "kernels") >= SOME;
    for (size_t i = 0; t && used > t->row_count && i < t->row_count; i++) {
        double average = number(t, i, "average_busy");
        if (average <= 0 || average >= 1.05)
            continue;
        found(a, "streams", "Streams run one after the other",
              "%zu streams have %d kernels and more, but %.2f are active at once on %.80s", used,
              SOME, average, text(t, i, "gpu"));
        return;
    }
}

static void exposed(adviser *a, const char *column, const char *finding, const char *what)
{
    const rocl_table *t = table(a, "overlap");
    double share = 0;
    size_t row = t ? worst(t, column, "wall_ns", &share) : ROCL_NONE;
    if (row != ROCL_NONE && share > 0.1)
        found(a, "overlap", finding, "%.1f %% of the time of %.80s is %s alone", 100 * share,
              text(t, row, "gpu"), what);
}

static void uneven(adviser *a)
{
    const rocl_table *t = table(a, "overlap");
    double most = 0, mean = 0;
    size_t row = 0;
    for (size_t i = 0; t && i < t->row_count; i++) {
        double busy = number(t, i, "busy_ns");
        mean += busy / (double)t->row_count;
        row = busy > most ? i : row;
        most = fmax(most, busy);
    }
    if (t && t->row_count > 1 && mean > 0 && most / mean > 1.25)
        found(a, "timeline", "GPUs have unequal shares of the work",
              "%.80s is busy for %.2f times the mean of %zu GPUs", text(t, row, "gpu"), most / mean,
              t->row_count);
}

/* What one rank computes longer, the others wait for. */
static void slow_rank(adviser *a)
{
    const rocl_table *t = table(a, "ranks");
    double most = 0, mean = 0, ranks = 0;
    size_t row = 0;
    for (size_t i = 0; t && i < t->row_count; i++) {
        double ns = number(t, i, "kernels_ns");
        if (is_rest(text(t, i, "host")))
            return; /* --top: the mean of all is not known */
        ranks += ns > 0;
        mean += ns;
        row = ns > most ? i : row;
        most = fmax(most, ns);
    }
    mean = ranks > 0 ? mean / ranks : 0;
    if (ranks < 2 || most <= 1.1 * mean)
        return;
    bool known = cell(t, row, "rank")->is == ROCL_DATUM_INT;
    found(a, "ranks", "One rank computes longer than the others, which wait for it",
          "%s %.0f: %.2f times the mean kernel time of %.0f ranks", known ? "rank" : "process",
          number(t, row, known ? "rank" : "pid"), most / mean, ranks);
}

/* Pinned memory moves at tens of GB/s, pageable memory at a few. */
static void copies(adviser *a)
{
    const rocl_table *t = table(a, "copies");
    for (size_t i = 0; t && i < t->row_count; i++) {
        const char *direction = text(t, i, "direction");
        double calls = number(t, i, "calls"), bytes = number(t, i, "bytes");
        double rate = number(t, i, "bandwidth"), each = calls > 0 ? bytes / calls : 0;
        if (!strstr(direction, "HOST"))
            continue;
        if (each >= LARGE && rate > 0 && rate < 8e9)
            found(a, "copies", "Slow copies: host memory may be pageable, not pinned",
                  "%.60s: %.1f GB/s at %.1f MiB each", direction, rate / 1e9, each / LARGE);
        else if (calls >= MANY && each < SMALL)
            found(a, "copies", "Many small copies: gather them", "%.60s: %.0f of %.1f KiB each",
                  direction, calls, each / 1024);
    }
}

rocl_status rocl_advise(rocl_tables *tables, rocl_error *err)
{
    adviser a = {.tables = tables};
    idle(&a);
    exposed(&a, "exposed_copy_ns", "Copies are not hidden behind kernels", "copies");
    exposed(&a, "exposed_communication_ns", "Communication is not hidden behind kernels",
            "communication");
    short_kernels(&a);
    copies(&a);
    allocations(&a);
    serial_streams(&a);
    uneven(&a);
    slow_rank(&a);
    one_kernel(&a);
    rocl_table *t = rocl_tables_add(tables, "advice", "What to look at", columns,
                                    sizeof columns / sizeof *columns);
    if (!t)
        return rocl_fail_memory(err);
    t->note = a.count ? NULL : "nothing stands out";
    for (size_t i = 0; i < a.count; i++) {
        rocl_datum *r = rocl_table_row(t);
        if (!r)
            return rocl_fail_memory(err);
        memcpy(r, a.found[i], sizeof a.found[i]);
    }
    return ROCL_OK;
}
