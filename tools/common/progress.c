/* The progress of a run, as a line of status: how much is read, how fast, how long it takes. */
#include "common/progress.h"

#include "common/messages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A run that is over by then says nothing. */
#define SECONDS_BEFORE     0.5
#define UPDATES_PER_SECOND 6

static rocl_progress_fn *redirected;
static void *redirected_ctx;

/* The library calls from one thread at a time, so no lock is needed. */
static char phase_displayed[64];
static double run_began, phase_began, last_displayed;

/* A terminal, or a pipe, of which nobody knows where its reader writes meanwhile. */
static bool is_watched(const char *path, bool standard)
{
    struct stat s;
    if ((standard ? fstat(STDOUT_FILENO, &s) : path ? stat(path, &s) : -1) != 0)
        return false;
    return !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

bool progress_wanted(const common *c)
{
    const char *term = getenv("TERM");
    return c->level > MSG_QUIET && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0 &&
           !is_watched(c->output_file, c->to_stdout);
}

/* As much as is known: "reading  42%  1.98 M rows/s  0:03 left". */
static void put_line(char *line, size_t size, uint64_t done, uint64_t total, double elapsed)
{
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    static const char *const units[] = {"", " k", " M", " G", NULL};
    char per_second[32];
    msg_put_scaled(per_second, sizeof per_second, rate, units);
    if (done == 0 || rate <= 0) {
        snprintf(line, size, "%s", phase_displayed);
    } else if (total == 0 || done > total) {
        snprintf(line, size, "%s  %" PRIu64 " rows  %s rows/s", phase_displayed, done, per_second);
    } else {
        unsigned left = (unsigned)((double)(total - done) / rate + 0.5);
        snprintf(line, size, "%s  %3u%%  %s rows/s  %u:%02u left", phase_displayed,
                 (unsigned)((double)done * 100 / (double)total), per_second, left / 60, left % 60);
    }
}

void progress_update(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
    (void)ctx;
    if (redirected) {
        redirected(redirected_ctx, phase, done, total);
        return;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double t = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    run_began = run_began > 0 ? run_began : t;
    if (strncmp(phase, phase_displayed, sizeof phase_displayed - 1) != 0 || phase_began <= 0) {
        snprintf(phase_displayed, sizeof phase_displayed, "%s", phase);
        phase_began = t;
        last_displayed = 0;
    }
    if (t - run_began < SECONDS_BEFORE || t - last_displayed < 1.0 / UPDATES_PER_SECOND)
        return;
    last_displayed = t;
    char line[160];
    put_line(line, sizeof line, done, total, t - phase_began);
    msg_status(line);
}

void progress_redirect(rocl_progress_fn *fn, void *ctx)
{
    redirected_ctx = ctx;
    redirected = fn;
}

void progress_end(void)
{
    msg_status("");
}
