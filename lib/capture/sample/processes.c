/* The processes of the command: the first one, those whose parent is one of them, and those that
 * have the session of the recording in their environment, which also finds those whose parent has
 * ended. Processes are looked for when the kernel has given out new numbers since the last time.
 *
 * Two processes never share a number at a time; one that comes after another with the same number
 * has another begin. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/order.h"
#include "capture/sample/sample.h"

enum { MOST = 4096, TEXT = 4096, THREADS = 64, EMPTY_LOOKS = 8, UNSURE_LOOKS = 64 };

/* Files that stay open. */
enum { STAT, STATM, STATUS, FILES };
static const char *const file_names[FILES] = {"stat", "statm", "status"};

enum { VIRTUAL, RESIDENT, PEAK, FAULTS, SWITCHES, USER, SYSTEM, COUNTERS };

/* Names and units of rocprofiler-systems. */
static const struct {
    const char *name, *description, *units, *type;
} counters[COUNTERS] = {
    [VIRTUAL] = {"process_virtual_memory", "Virtual memory", "MB", "ABS"},
    [RESIDENT] = {"process_page", "Resident memory", "MB", "ABS"},
    [PEAK] = {"process_memory_hwm", "Peak of resident memory", "MB", "ABS"},
    [FAULTS] = {"process_page_fault", "Page faults, minor and major", "", "ACCUM"},
    [SWITCHES] = {"process_context_switch", "Context switches of the threads that live", "",
                  "ACCUM"},
    [USER] = {"process_user_cpu_time", "CPU time in user mode", "sec", "ACCUM"},
    [SYSTEM] = {"process_kernel_cpu_time", "CPU time in the kernel", "sec", "ACCUM"},
};

typedef struct process {
    uint32_t pid;
    uint32_t ppid;
    uint64_t start;
    int fds[FILES];
    rocl_def *subject;
    char name[32];        /* of the program that it runs */
    uint64_t arguments;   /* their address */
    char *command;        /* its command line */
    unsigned empty_looks; /* looks in a row that found none, up to EMPTY_LOOKS */
    uint64_t switches;
} process;

/* A process that is not of the command as far as is known. In the middle of an exec a process has
 * no environment: it is asked again until it has one, at most UNSURE_LOOKS times. */
typedef struct other {
    uint32_t pid;         /* first: rocl_compare_u32() orders them */
    unsigned empty_looks; /* looks in a row that found no environment; 0: it is not asked again */
} other;

struct sample_processes {
    char variable[64]; /* "ROCLINE_SESSION=..." */
    process *all;
    size_t count;
    uint64_t number; /* of the last one */
    other *others;   /* by pid, as of the last look */
    size_t other_count;
    bool again;        /* some wait for the next look */
    uint32_t last_pid; /* that the kernel had given out then */
    int loadavg;       /* a file; -1: there is none */
    double ticks;      /* of a second */
    double page;       /* MB */
    rocl_def *counters[COUNTERS];
};

/* ---- one process ----------------------------------------------------------------------------- */

static void close_process(process *p)
{
    for (int i = 0; i < FILES; i++)
        if (p->fds[i] >= 0)
            close(p->fds[i]);
    free(p->command);
}

static bool is_unnamed(const process *p)
{
    return p->empty_looks > 0 && p->empty_looks < EMPTY_LOOKS;
}

/* What the process runs is known when it is found, and may change by exec: it is another subject
 * then, as it is another process to all that record. In the middle of an exec it has no command
 * line: it keeps its subject until it has one, and is a process without after EMPTY_LOOKS. */
static void name_process(sample_processes *s, process *p, const sample_stat *stat)
{
    char path[64], command[1024];
    snprintf(path, sizeof path, "/proc/%u/cmdline", p->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, command, sizeof command - 1);
    if (fd >= 0)
        close(fd);
    n = n > 0 ? n : 0;
    while (n > 0 && !command[n - 1])
        n--;
    for (ssize_t i = 0; i < n; i++)
        command[i] = command[i] ? command[i] : ' ';
    command[n] = '\0';
    p->empty_looks = n == 0 ? p->empty_looks + 1 : 0;
    if (is_unnamed(p))
        return;
    snprintf(p->name, sizeof p->name, "%s", stat->name);
    p->arguments = stat->arguments;
    if (p->subject && p->command && !strcmp(command, p->command))
        return;
    free(p->command);
    p->command = strdup(command);
    /* The clock of times since the begin of a process lacks nothing to CLOCK_BOOTTIME. */
    p->subject = rocl_cap_define_subject(
        &(rocl_cap_subject){.number = ++s->number,
                            .pid = p->pid,
                            .ppid = p->ppid,
                            .start = (uint64_t)((double)p->start / s->ticks * 1e9),
                            .command = command});
}

static bool add_process(sample_processes *s, uint32_t pid, const sample_stat *stat)
{
    char path[64];
    process p = {.pid = pid, .ppid = stat->ppid, .start = stat->start};
    bool open_all = true;
    if (s->count == MOST || stat->state == 'Z' || stat->state == 'X')
        return false;
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "/proc/%u/%s", pid, file_names[i]);
        p.fds[i] = open(path, O_RDONLY | O_CLOEXEC);
        open_all = open_all && p.fds[i] >= 0;
    }
    if (!open_all) {
        close_process(&p);
        return false;
    }
    name_process(s, &p, stat);
    s->all[s->count++] = p;
    return true;
}

static process *find_process(const sample_processes *s, uint32_t pid)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->all[i].pid == pid)
            return &s->all[i];
    return NULL;
}

static void drop_process(sample_processes *s, size_t i)
{
    close_process(&s->all[i]);
    s->all[i] = s->all[--s->count];
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool is_unsure(const other *o)
{
    return o->empty_looks > 0 && o->empty_looks < UNSURE_LOOKS;
}

/* Only of users whom we may look at. *empty: it has no environment. */
static bool is_of_session(const sample_processes *s, uint32_t pid, bool *empty)
{
    static char environment[256 << 10];
    char path[64];
    ssize_t n = 0, more;
    snprintf(path, sizeof path, "/proc/%u/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && n < (ssize_t)sizeof environment - 1 &&
           (more = read(fd, environment + n, sizeof environment - 1 - (size_t)n)) > 0)
        n += more;
    if (fd >= 0)
        close(fd);
    environment[n] = '\0';
    *empty = fd >= 0 && n == 0;
    return sample_has_variable(environment, (size_t)n, s->variable);
}

static bool read_stat_of(uint32_t pid, sample_stat *stat)
{
    char path[64], text[TEXT];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    return sample_read_file(path, text, sizeof text) > 0 && sample_parse_stat(text, stat);
}

/* Has the kernel given out numbers since the last look? */
static bool may_be_new(sample_processes *s)
{
    char text[256];
    if (s->loadavg < 0 || sample_pread(s->loadavg, text, sizeof text) < 0)
        return true;
    const char *last = strrchr(text, ' ');
    const uint32_t pid = last ? (uint32_t)strtoul(last, NULL, 10) : 0;
    const bool same = pid && pid == s->last_pid;
    s->last_pid = pid;
    return !same;
}

/* Takes processes of the command, and ended ones, out of `fresh`. Children may have smaller numbers
 * than their parents, so this repeats until no more are found. */
static void add_fresh(sample_processes *s, other *fresh, size_t *count)
{
    for (bool first = true, more = true; more; first = false) {
        size_t kept = 0;
        more = false;
        for (size_t i = 0; i < *count; i++) {
            other o = fresh[i];
            sample_stat stat;
            bool empty = false;
            if (!read_stat_of(o.pid, &stat))
                continue;
            if ((find_process(s, stat.ppid) || is_of_session(s, o.pid, &empty)) &&
                add_process(s, o.pid, &stat)) {
                more = true;
                continue;
            }
            o.empty_looks = empty && !stat.kernel ? o.empty_looks + first : 0;
            fresh[kept++] = o;
        }
        *count = kept;
    }
}

void sample_processes_find(sample_processes *s)
{
    other fresh[1024], *others = NULL;
    size_t fresh_count = 0, count = 0, cap = 0;
    if (!may_be_new(s) && !s->again)
        return;
    s->again = false;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        char *end;
        const unsigned long pid = strtoul(e->d_name, &end, 10);
        if (*e->d_name < '1' || *e->d_name > '9' || *end || pid > UINT32_MAX ||
            find_process(s, (uint32_t)pid))
            continue;
        const uint32_t key = (uint32_t)pid;
        const other *known = s->other_count ? bsearch(&key, s->others, s->other_count,
                                                      sizeof *s->others, rocl_compare_u32)
                                            : NULL;
        if (!known || is_unsure(known)) {
            /* More than that at once wait for the next look. */
            if (fresh_count == sizeof fresh / sizeof *fresh)
                s->again = true;
            else
                fresh[fresh_count++] = known ? *known : (other){.pid = (uint32_t)pid};
            continue;
        }
        if (count == cap) {
            other *more = realloc(others, (cap ? 2 * cap : 256) * sizeof *more);
            if (!more)
                break;
            others = more;
            cap = cap ? 2 * cap : 256;
        }
        others[count++] = *known;
    }
    if (d)
        closedir(d);
    add_fresh(s, fresh, &fresh_count);
    /* Those that are not of the command are not asked again, as long as they are there. */
    other *all = realloc(others, (count + fresh_count + 1) * sizeof *all);
    if (!all) {
        free(others);
        return;
    }
    memcpy(all + count, fresh, fresh_count * sizeof *fresh);
    free(s->others);
    s->others = all;
    s->other_count = count + fresh_count;
    qsort(all, s->other_count, sizeof *all, rocl_compare_u32);
    for (size_t i = 0; i < fresh_count; i++)
        s->again = s->again || is_unsure(&fresh[i]);
}

/* ---- reading --------------------------------------------------------------------------------- */

void sample_processes_read(sample_processes *s)
{
    char text[TEXT];
    sample_stat stat;
    uint64_t size, resident;
    for (size_t i = 0; i < s->count; i++) {
        process *p = &s->all[i];
        /* The files of an ended process give ESRCH; a zombie no longer has memory. */
        if (sample_pread(p->fds[STAT], text, sizeof text) <= 0 || !sample_parse_stat(text, &stat) ||
            stat.state == 'Z' || stat.state == 'X') {
            drop_process(s, i--);
            continue;
        }
        if (is_unnamed(p) || strcmp(stat.name, p->name) != 0 || stat.arguments != p->arguments)
            name_process(s, p, &stat);
        if (is_unnamed(p))
            continue;
        sample_put(s->counters[FAULTS], p->subject, (double)stat.faults);
        sample_put(s->counters[USER], p->subject, (double)stat.user / s->ticks);
        sample_put(s->counters[SYSTEM], p->subject, (double)stat.system / s->ticks);
        if (sample_pread(p->fds[STATM], text, sizeof text) <= 0 ||
            !sample_parse_statm(text, &size, &resident) || !size) /* about to end */
            continue;
        sample_put(s->counters[VIRTUAL], p->subject, (double)size * s->page);
        sample_put(s->counters[RESIDENT], p->subject, (double)resident * s->page);
    }
}

/* Adds the switches of a thread, or of the first one. */
static bool parse_switches(const char *text, uint64_t *n)
{
    uint64_t voluntary, forced;
    if (!sample_parse_field(text, "voluntary_ctxt_switches", &voluntary) ||
        !sample_parse_field(text, "nonvoluntary_ctxt_switches", &forced))
        return false;
    *n += voluntary + forced;
    return true;
}

/* The kernel tells them of each thread. Those of threads that have ended are lost; the number does
 * not fall, all the same. */
static bool count_switches(uint32_t pid, uint64_t *n)
{
    char path[320], text[TEXT];
    unsigned threads = 0;
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d)) && threads < THREADS;) {
        if (*e->d_name < '1' || *e->d_name > '9')
            continue;
        snprintf(path, sizeof path, "/proc/%u/task/%s/status", pid, e->d_name);
        threads += sample_read_file(path, text, sizeof text) > 0 && parse_switches(text, n);
    }
    if (d)
        closedir(d);
    return threads;
}

void sample_processes_count(sample_processes *s)
{
    char text[TEXT];
    for (size_t i = 0; i < s->count; i++) {
        process *p = &s->all[i];
        uint64_t peak, n = 0, threads = 0;
        if (is_unnamed(p) || sample_pread(p->fds[STATUS], text, sizeof text) <= 0)
            continue;
        if (sample_parse_field(text, "VmHWM", &peak))
            sample_put(s->counters[PEAK], p->subject, (double)peak * 1024 / 1e6);
        sample_parse_field(text, "Threads", &threads);
        if (threads > 1 ? !count_switches(p->pid, &n) : !parse_switches(text, &n))
            continue;
        p->switches = n > p->switches ? n : p->switches;
        sample_put(s->counters[SWITCHES], p->subject, (double)p->switches);
    }
}

/* ---- begin and end --------------------------------------------------------------------------- */

sample_processes *sample_processes_new(uint32_t pid, const char *session)
{
    sample_processes *s = calloc(1, sizeof *s);
    struct rlimit files;
    sample_stat stat;
    if (!s || !(s->all = calloc(MOST, sizeof *s->all))) {
        free(s);
        return NULL;
    }
    /* Some files of each process stay open. */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    snprintf(s->variable, sizeof s->variable, "ROCLINE_SESSION=%s", session);
    s->ticks = (double)sysconf(_SC_CLK_TCK);
    s->page = (double)sysconf(_SC_PAGESIZE) / 1e6;
    s->loadavg = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    for (unsigned i = 0; i < COUNTERS; i++)
        s->counters[i] =
            rocl_cap_define_counter(&(rocl_cap_counter){.id = 1 + i,
                                                        .name = counters[i].name,
                                                        .description = counters[i].description,
                                                        .units = counters[i].units,
                                                        .value_type = counters[i].type});
    if (read_stat_of(pid, &stat))
        add_process(s, pid, &stat);
    return s;
}

void sample_processes_free(sample_processes *s)
{
    if (!s)
        return;
    while (s->count)
        drop_process(s, s->count - 1);
    if (s->loadavg >= 0)
        close(s->loadavg);
    free(s->others);
    free(s->all);
    free(s);
}
