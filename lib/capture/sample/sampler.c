/* The thread of the sampler: reads every source when it is due, and sleeps in between. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/core.h"
#include "capture/sample/sample.h"

/* The share of a core for each source at 10 Hz; all together use half a percent at most. */
#define SAMPLE_SHARE 0.001

typedef struct source {
    const void *of;  /* NULL: there is no such source */
    uint64_t period; /* ns */
    uint64_t due;    /* ns of CLOCK_MONOTONIC */
    double cost;     /* ns of CPU time, about */
} source;

enum { FIND, PROCESSES, COUNTS, CORES, CARDS, SOURCES };

static struct sampler {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool running, stop;
    double hz;
    uint64_t now;  /* ticks of the current values */
    uint64_t from; /* ns */
    uint64_t samples, rounds, cpu;
    source sources[SOURCES];
    sample_processes *processes;
    sample_cores *cores;
    sample_cards *cards;
} the;

/* ---- files ----------------------------------------------------------------------------------- */

ssize_t sample_pread(int fd, char *to, size_t size)
{
    size_t n = 0;
    ssize_t more = 1;
    enum { SHORT = 1024 }; /* comes whole from all files that are read here */
    while (n < size - 1 && (more = pread(fd, to + n, size - 1 - n, (off_t)n)) > 0) {
        n += (size_t)more;
        if (n < SHORT)
            more = 0;
        if (!more)
            break;
    }
    to[n] = '\0';
    return more == 0 ? (ssize_t)n : -1;
}

ssize_t sample_read_file(const char *path, char *to, size_t size)
{
    *to = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : sample_pread(fd, to, size);
    if (fd >= 0)
        close(fd);
    return n;
}

void sample_put(rocl_def *counter, rocl_def *subject, double value)
{
    rocl_cap_sampled(counter, subject, the.now, ROCL_CLOCK_TICKS, value);
    the.samples++;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* A source that takes more than its share is read less often. */
static void read_source(source *s, uint64_t now)
{
    const uint64_t before = rocl_ns(CLOCK_THREAD_CPUTIME_ID);
    the.now = rocl_cap_now();
    switch (s - the.sources) {
    case FIND:
        sample_processes_find(the.processes);
        break;
    case PROCESSES:
        sample_processes_read(the.processes);
        break;
    case COUNTS:
        sample_processes_count(the.processes);
        break;
    case CORES:
        sample_cores_read(the.cores);
        break;
    default:
        sample_cards_read(the.cards);
    }
    const double ns = (double)(rocl_ns(CLOCK_THREAD_CPUTIME_ID) - before);
    s->cost = s->cost > 0 ? s->cost + (ns - s->cost) / 8 : ns;
    const double least = s->cost / (SAMPLE_SHARE * (the.hz > 10 ? the.hz / 10 : 1));
    const uint64_t wait = (double)s->period > least ? s->period : (uint64_t)least;
    /* On a grid from the begin on, so that sources of one period are read together. */
    s->due =
        the.from + ((now - the.from) / s->period + (wait + s->period - 1) / s->period) * s->period;
}

static void *run_sampler(void *unused)
{
    (void)unused;
    rocl_cap_thread_name("sampler");
    pthread_mutex_lock(&the.lock);
    while (!the.stop) {
        const uint64_t now = rocl_ns(CLOCK_MONOTONIC);
        uint64_t next = UINT64_MAX;
        pthread_mutex_unlock(&the.lock);
        for (source *s = the.sources; s < the.sources + SOURCES; s++)
            if (s->of && s->due <= now)
                read_source(s, now);
        the.rounds++;
        for (source *s = the.sources; s < the.sources + SOURCES; s++)
            next = s->of && s->due < next ? s->due : next;
        pthread_mutex_lock(&the.lock);
        const struct timespec until = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};
        while (!the.stop && pthread_cond_timedwait(&the.wake, &the.lock, &until) == 0)
            ;
    }
    pthread_mutex_unlock(&the.lock);
    the.cpu = rocl_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

/* ---- begin and end --------------------------------------------------------------------------- */

const char *rocl_sampler_start(long pid, const char **notice)
{
    const char *hz = getenv("ROCLINE_SAMPLE"), *sysfs = getenv("ROCLINE_SAMPLE_SYSFS");
    const char *session = getenv("ROCLINE_SESSION");
    *notice = NULL;
    the.hz = hz ? strtod(hz, NULL) : 10;
    if (!(the.hz >= 0.01 && the.hz <= 1000))
        the.hz = 10;
    if (!rocl_cap_on())
        return "nothing can be written to the folder of the files";
    sysfs = sysfs && *sysfs ? sysfs : "/sys";
    the.processes = sample_processes_new((uint32_t)pid, session ? session : "");
    the.cores = sample_cores_new(sysfs);
    the.cards = sample_cards_new(sysfs);
    if (the.processes)
        sample_processes_find(the.processes); /* all that are on the machine: it takes a moment */
    if (!the.cards)
        *notice = "there is no AMD GPU in sysfs: only processes and cores are sampled";
    const uint64_t period = (uint64_t)(1e9 / the.hz), second = 1000000000u;
    const uint64_t slow = period > second ? period : second / period * period;
    the.from = rocl_ns(CLOCK_MONOTONIC);
    const source sources[SOURCES] = {[FIND] = {.of = the.processes, .period = period},
                                     [PROCESSES] = {.of = the.processes, .period = period},
                                     [COUNTS] = {.of = the.processes, .period = slow},
                                     [CORES] = {.of = the.cores, .period = period},
                                     [CARDS] = {.of = the.cards, .period = period}};
    memcpy(the.sources, sources, sizeof sources);
    /* Signals go to the threads of rocrec that wait for them. */
    sigset_t all, were;
    pthread_condattr_t clock;
    sigfillset(&all);
    pthread_mutex_init(&the.lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&the.wake, &clock);
    pthread_condattr_destroy(&clock);
    pthread_sigmask(SIG_SETMASK, &all, &were);
    int error = pthread_create(&the.thread, NULL, run_sampler, NULL);
    pthread_sigmask(SIG_SETMASK, &were, NULL);
    the.running = !error;
    return error ? strerror(error) : NULL;
}

const char *rocl_sampler_stop(void)
{
    static char text[160];
    if (!the.running)
        return NULL;
    pthread_mutex_lock(&the.lock);
    the.stop = true;
    pthread_cond_signal(&the.wake);
    pthread_mutex_unlock(&the.lock);
    pthread_join(the.thread, NULL);
    the.running = false;
    rocl_cap_finish();
    const double ns = (double)(rocl_ns(CLOCK_MONOTONIC) - the.from);
    sample_processes_free(the.processes);
    sample_cores_free(the.cores);
    sample_cards_free(the.cards);
    snprintf(text, sizeof text, "%llu samples, read in %llu rounds; %.2f %% of a core",
             (unsigned long long)the.samples, (unsigned long long)the.rounds,
             ns > 0 ? 100 * (double)the.cpu / ns : 0);
    return text;
}
