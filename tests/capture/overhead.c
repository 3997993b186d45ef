/* What recording an event costs: overhead WHAT EVENTS THREADS prints ns of a thread per event, the
 * smallest of some rounds. WHAT: nothing, clock, regions, ranges (all through the library, which
 * records if ROCLINE_OUTPUT is set), args (calls with four arguments, as HIP's are recorded; with
 * RTG_HIP_API_ARGS=1), fprintf (a line per event, as rtg_tracer writes it), lttng.
 * `work` prints the seconds that a fixed amount of work takes with an event about every 10 us. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/rtg/rtg.h"

#ifdef WITH_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/capture/lttng_probe.h"
#endif

int roctxRangePushA(const char *message);
int roctxRangePop(void);

static uint64_t ns_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- what is measured: n events ---- */

static volatile uint64_t sink;

static void nothing(long n)
{
    for (long i = 0; i < n; i++)
        sink = (uint64_t)i;
}

static void read_clock(long n)
{
    uint64_t sum = 0;
    for (long i = 0; i < n; i++)
        sum += rocl_cap_now();
    sink = sum;
}

static void regions(long n)
{
    static rocl_site site = ROCL_SITE("HIP_RUNTIME_API_EXT", "hipMalloc");
    for (long i = 0; i < n; i += 2) {
        rocl_cap_begin(&site);
        rocl_cap_end();
    }
}

/* hipMemcpyAsync, which has a result besides. */
static void args(long n)
{
    static rocl_call call = {.site = ROCL_SITE("HIP_RUNTIME_API_EXT", "hipMemcpyAsync")};
    char *dst = (char *)&call;
    const char *src = "text";
    for (long i = 0; i < n; i += 2) {
        size_t sizeBytes = (size_t)i;
        void *to = dst + i;
        const void *from = src;
        int kind = 1;
        rocl_open_call open;
        rocl_call_begin(&open, &call);
        const rocl_arg list[] = {ROCL_ARG("void *", to) ROCL_ARG("const void *", from) ROCL_ARG(
            "size_t", sizeBytes) ROCL_ARG("hipMemcpyKind", kind){0}};
        rocl_hip_call_end(&open, &call, list, &(rocl_result){"hipError_t", 0, false}, NULL);
    }
}

static void ranges(long n)
{
    for (long i = 0; i < n; i += 2) {
        roctxRangePushA("a range of middle length");
        roctxRangePop();
    }
}

/* rtg_tracer writes a line for begin and end together, and flushes it. */
static void with_fprintf(long n)
{
    static FILE *file;
    if (!file)
        file = fopen("fprintf.txt", "w");
    for (long i = 0; file && i < n; i += 2) {
        uint64_t begin = ns_of(CLOCK_MONOTONIC), end = ns_of(CLOCK_MONOTONIC);
        fprintf(file, "HIP: pid:%d tid:%lu %s ret=0 @%lu +%lu\n", getpid(),
                (unsigned long)pthread_self(), "hipMalloc", (unsigned long)begin,
                (unsigned long)(end - begin));
        fflush(file);
    }
}

static void lttng(long n)
{
#ifdef WITH_LTTNG
    for (long i = 0; i < n; i++)
        lttng_ust_tracepoint(rocline_bench, event, (int)i);
#else
    (void)n;
#endif
}

static const struct {
    const char *name;
    void (*run)(long n);
} kinds[] = {{"nothing", nothing}, {"clock", read_clock}, {"regions", regions},
             {"ranges", ranges},   {"args", args},        {"fprintf", with_fprintf},
             {"lttng", lttng}};

/* ---- threads ---- */

typedef struct job {
    pthread_t thread;
    void (*run)(long n);
    long n;
    double best; /* ns of the thread's own time per event */
} job;

static void *measure(void *arg)
{
    job *j = arg;
    enum { ROUNDS = 10 };
    j->run(j->n / ROUNDS);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t before = ns_of(CLOCK_THREAD_CPUTIME_ID);
        j->run(j->n / ROUNDS);
        double ns = (double)(ns_of(CLOCK_THREAD_CPUTIME_ID) - before) * ROUNDS / (double)j->n;
        if (i == 0 || ns < j->best)
            j->best = ns;
    }
    return NULL;
}

static double measure_all(void (*run)(long n), long n, long threads)
{
    double sum = 0;
    job *jobs = calloc((size_t)threads, sizeof *jobs);
    for (long i = 0; i < threads; i++) {
        jobs[i] = (job){.run = run, .n = n};
        pthread_create(&jobs[i].thread, NULL, measure, &jobs[i]);
    }
    for (long i = 0; i < threads; i++) {
        pthread_join(jobs[i].thread, NULL);
        sum += jobs[i].best;
    }
    free(jobs);
    return sum / (double)threads;
}

/* Ten microseconds or so of work, with an event in between. */
static void work(long n)
{
    uint64_t before = ns_of(CLOCK_PROCESS_CPUTIME_ID), x = 1;
    for (long i = 0; i < n; i++) {
        if (i % 2)
            roctxRangePop();
        else
            roctxRangePushA("step");
        for (int k = 0; k < 8000; k++)
            x = x * 6364136223846793005u + 1442695040888963407u;
    }
    sink = x;
    printf("%.4f\n", (double)(ns_of(CLOCK_PROCESS_CPUTIME_ID) - before) / 1e9);
}

int main(int argc, char **argv)
{
    long n = argc > 2 ? atol(argv[2]) : 1000000, threads = argc > 3 ? atol(argv[3]) : 1;
    if (argc > 1 && !strcmp(argv[1], "work")) {
        work(n);
        return 0;
    }
    for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, argv[1])) {
            printf("%.2f\n", measure_all(kinds[i].run, n, threads));
            return 0;
        }
    return 2;
}
