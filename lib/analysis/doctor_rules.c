/* What helps where rules of the report `doctor` find something, and how a finding is made. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/doctor.h"

/* ---- what can be found ----------------------------------------------------------------------- */

static const char *const level_names[ROCL_LEVELS] = {"note", "doubt", "unusable"};

/* What helps, in the words of the profiler that made the trace; those without their own have those
 * of the first. */
typedef enum profiler { ROCPROFV3, PYTORCH, RPD, ROCPROF, ROCREC, PROFILERS } profiler;
typedef const char *remedy[PROFILERS];

static const remedy nothing = {NULL};
static const remedy record_all = {
    [ROCPROFV3] = "rocprofv3 --runtime-trace --output-format rocpd -- PROGRAM",
    [ROCPROF] = "rocprof --hip-trace --roctx-trace PROGRAM",
    [PYTORCH] = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
    [RPD] = "runTracer.sh -o trace.rpd PROGRAM",
    [ROCREC] = "rocrec -- PROGRAM"};
static const remedy end_well = {
    [ROCPROFV3] = "wait for the GPU (hipDeviceSynchronize) before the program ends, "
                  "and let it end by itself",
    [PYTORCH] = "call torch.cuda.synchronize() before the profiler stops",
    [ROCREC] = "give the recording space: a larger rocrec --limit, a disk that is not "
               "full; wait for the GPU (hipDeviceSynchronize) before the program ends"};
static const remedy record_less = {
    [ROCPROFV3] = "record less at once: rocprofv3 --collection-period, or fewer domains",
    [ROCPROF] = "record less at once: rocprof --trace-period, or fewer domains",
    [PYTORCH] = "record fewer steps: schedule(wait=1, warmup=1, active=3)",
    [RPD] = "record less at once: a shorter run",
    [ROCREC] = "record less at once: a shorter run, or fewer front ends (--use)"};
static const remedy record_ranks = {
    [ROCPROFV3] = "run every rank under the profiler, and name the files of all",
    [PYTORCH] = "let every rank export its trace, and name the files of all"};
static const remedy record_alike = {
    "record all ranks with the same options, from the same step on"};
static const remedy align = {
    "align the clocks: --align start, --align marker NAME, --align collectives "
    "or --align offsets FILE"};
static const remedy one_tool = {"name only one recording of each process"};
static const remedy one_run = {"name the files of one run only"};
static const remedy counters = {"rocprofv3 --pmc with fewer counters at once; rocprofv3-avail "
                                "list prints those of the GPU"};
static const remedy window = {"look at the rest alone: --start TIME, --end TIME or --warmup N"};
static const remedy close_ranges = {
    [ROCPROFV3] = "end each range that is begun: roctxRangePop, roctxRangeStop",
    [PYTORCH] = "record without frames of Python: with_stack=False"};
static const remedy shift_clock = {"record again, or shift the clock of the GPU: --align offsets "
                                   "FILE, with a line \"gpu PID OFFSET\""};
static const remedy larger_ring = {"give the ring more memory: rocrec --policy ring --limit SIZE"};

static const struct {
    const char *key, *finding, *cause;
    unsigned level;
    const char *const *help;
} rules[ROCL_RULES] = {
#define RULE(rule, key, level, help, finding, cause) {key, finding, cause, ROCL_##level, help},
    ROCL_RULE_TABLE(RULE)
#undef RULE
};

/* ---- findings -------------------------------------------------------------------------------- */

const char *rocl_capture_file(const rocl_capture *c)
{
    const char *slash = strrchr(c->path, '/');
    return slash ? slash + 1 : c->path;
}

static const char *subject_text(const rocl_doctor *d, const rocl_subject *s)
{
    char text[384];
    int n = 0;
    if (!s)
        return NULL;
    const char *host =
        rocl_machine_name(d->c.trace, s->process ? s->process->machine : s->capture->machine);
    if (!s->process)
        return rocl_tables_text(d->out, host, strlen(host));
    if (s->process->rank >= 0)
        n = snprintf(text, sizeof text, "rank %d", s->process->rank);
    else if (s->process->pid > 0)
        n = snprintf(text, sizeof text, "process %lld", (long long)s->process->pid);
    else
        n = snprintf(text, sizeof text, "%s", rocl_capture_file(s->capture));
    if (d->c.trace->machine_count > 1 && d->c.trace->named_count && n < (int)sizeof text)
        n += snprintf(text + n, sizeof text - (size_t)n, " on %s", host);
    return rocl_tables_text(d->out, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

static profiler profiler_of(const rocl_trace *t, const rocl_capture *c)
{
    static const char *const words[PROFILERS] = {"rocprofv3", "PyTorch", "rocmProfileData",
                                                 "rocprof", "rocrec"};
    for (size_t i = 0; i < rocl_trace_inputs(t); i++) {
        const rocl_input in = rocl_trace_input(t, i);
        if (c && strcmp(in.path, c->path) != 0)
            continue;
        for (profiler k = ROCPROFV3; k < PROFILERS; k++)
            if (strstr(in.format, words[k]))
                return k;
        break;
    }
    return ROCPROFV3;
}

void rocl_doctor_find(rocl_doctor *d, rocl_rule r, const rocl_subject *s, rocl_sighting found,
                      const char *fmt, ...)
{
    rocl_finding *f = &d->found[r];
    if (s) { /* a rule may find something of a subject again */
        const uint32_t key[] = {r, s->capture->index,
                                s->process ? (uint32_t)(s->process - s->capture->processes) + 1
                                           : 0};
        const size_t before = rocl_strings_count(d->places);
        d->out->incomplete |=
            rocl_strings_put(d->places, (const char *)key, sizeof key) == ROCL_NONE;
        f->places += rocl_strings_count(d->places) > before;
    } else {
        f->places = -1;
    }
    if (found.count <= f->events)
        return;
    char evidence[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(evidence, sizeof evidence, fmt, ap);
    va_end(ap);
    const profiler by = profiler_of(d->c.trace, s ? s->capture : NULL);
    const char *const *help = rules[r].help;
    *f = (rocl_finding){.level = level_names[rules[r].level],
                        .key = rules[r].key,
                        .finding = rules[r].finding,
                        .cause = rules[r].cause,
                        .record = help[by] ? help[by] : help[ROCPROFV3],
                        .where = subject_text(d, s),
                        .evidence = rocl_tables_text(d->out, evidence, strlen(evidence)),
                        .of_level = rules[r].level,
                        .events = found.count,
                        .places = f->places,
                        .event = found.event};
}

const char *rocl_time_text(char text[32], int64_t ns)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{86400e9, "days"}, {3600e9, "h"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if ((double)ns >= units[i].ns) {
            const double n = (double)ns / units[i].ns;
            snprintf(text, 32, n < 999.5 ? "%.3g %s" : "%.0f %s", n, units[i].name);
            return text;
        }
    snprintf(text, 32, "%lld ns", (long long)ns);
    return text;
}

rocl_subject rocl_subject_of(const rocl_doctor *d, size_t process)
{
    const size_t i = rocl_count_before(&(size_t){process + 1}, d->facts.first_process,
                                       d->c.trace->capture_count, sizeof i, rocl_compare_u64) -
                     1;
    const rocl_capture *c = &d->c.trace->captures[i]->pub;
    return (rocl_subject){c, &c->processes[process - d->facts.first_process[i]]};
}
