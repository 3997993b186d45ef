/* The sampler: a thread that reads, some times a second, what the kernel tells of processes, cores
 * and AMD GPUs, and records it as samples. rocrec loads it into itself, not into what it records.
 *
 *     sampler.c    the thread: begin, end, when each source is due
 *     processes.c  the processes of the command: found, sampled, gone
 *     machine.c    frequency of the cores, and sysfs of amdgpu
 *     parse.c      the texts of /proc and /sys
 *
 * Files stay open and are read by pread from their begin, which makes the kernel write them anew.
 * Every source may use a share of a core only (SAMPLE_SHARE); where reading it takes longer, it is
 * read less often.
 *
 * Environment (rocrec(1) sets it), beside that of the core (capture.h):
 *   ROCLINE_SAMPLE        how often a second
 *   ROCLINE_SAMPLE_SYSFS  folder in the place of /sys; for tests */
#pragma once

#include <sys/types.h>

#include "capture/capture.h"

/* ---- parse.c: nothing here trusts a byte; false: that is not what the file should hold ---- */

/* An integer alone on its line. */
bool sample_parse_number(const char *text, int64_t *v);

/* /proc/PID/stat: the name in it may hold anything, brackets and line ends too. */
typedef struct sample_stat {
    uint32_t ppid;
    char state;
    bool kernel;           /* a thread of the kernel, not a program */
    char name[32];         /* of the program; cut off */
    uint64_t faults;       /* minor and major */
    uint64_t user, system; /* clock ticks */
    uint64_t start;        /* clock ticks since the machine was booted */
    uint64_t arguments;    /* their address, another one after exec; 0: not told */
} sample_stat;

bool sample_parse_stat(const char *text, sample_stat *s);
/* /proc/PID/statm: pages. */
bool sample_parse_statm(const char *text, uint64_t *virtual_pages, uint64_t *resident_pages);
/* The number behind "KEY:" in the lines of a file, as "VmHWM:    1234 kB" in /proc/PID/status. */
bool sample_parse_field(const char *text, const char *key, uint64_t *v);
/* The next "cpu MHz : 2400.123" of /proc/cpuinfo from *at on, which moves behind it. */
bool sample_parse_cpuinfo(const char **at, double *mhz);
/* Has an environment (NUL-terminated texts, `len` bytes, NUL behind them) this "NAME=value"? */
bool sample_has_variable(const char *environment, size_t len, const char *variable);

/* ---- files ---- */

/* The text of an open file, NUL-terminated; its length, -1 if it cannot be read (errno), or is
 * longer than fits. */
ssize_t sample_pread(int fd, char *to, size_t size);
/* The text of a file that is opened for it, likewise. */
ssize_t sample_read_file(const char *path, char *to, size_t size);

/* Records a value, at the time that sample_begin_tick() noted. */
void sample_put(rocl_def *counter, rocl_def *subject, double value);

/* ---- sources ---- */

/* The processes of the command, pid and all that it starts. */
typedef struct sample_processes sample_processes;

sample_processes *sample_processes_new(uint32_t pid, const char *session); /* NULL: no memory */
void sample_processes_find(sample_processes *p);  /* new ones, if there may be any */
void sample_processes_read(sample_processes *p);  /* cheap values: memory, faults, time */
void sample_processes_count(sample_processes *p); /* peak of memory, context switches */
void sample_processes_free(sample_processes *p);

typedef struct sample_cores sample_cores;

sample_cores *sample_cores_new(const char *sysfs); /* NULL: nothing tells their frequency */
void sample_cores_read(sample_cores *c);
void sample_cores_free(sample_cores *c);

typedef struct sample_cards sample_cards;

sample_cards *sample_cards_new(const char *sysfs); /* NULL: there is no card of AMD */
void sample_cards_read(sample_cards *c);
void sample_cards_free(sample_cards *c);

/* ---- what rocrec calls ---- */

/* Begins to sample the processes of this one. Returns NULL, or why nothing is sampled. *notice is
 * what the user should know, or NULL. */
ROCL_CAP_API const char *rocl_sampler_start(long pid, const char **notice);
/* Ends it; returns what was sampled and what it cost, or NULL if it was not begun. Static storage.
 */
ROCL_CAP_API const char *rocl_sampler_stop(void);
