/* What the rules of the report `doctor` say: findings, likely causes, and what helps. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/doctor.h"

/* ---- what can be found ----------------------------------------------------------------------- */

static const char *const level_names[ROCL_LEVELS] = {"note", "doubt", "unusable"};

/* What helps, in the words of the profiler that made the trace. */
typedef enum remedy {
    NOTHING,
    RECORD_ALL,
    END_WELL,
    RECORD_LESS,
    RECORD_RANKS,
    RECORD_ALIKE,
    ALIGN,
    ONE_TOOL,
    ONE_RUN,
    COUNTERS,
    LARGER_RING,
    WINDOW,
    CLOSE_RANGES,
    SHIFT_CLOCK,
    REMEDIES
} remedy;
typedef enum profiler { ROCPROFV3, ROCPROF, PYTORCH, RPD, ROCREC, PROFILERS } profiler;

/* Profilers without their own have those of rocprofv3. */
static const char *const remedies[REMEDIES][PROFILERS] = {
    [RECORD_ALL] = {[ROCPROFV3] = "rocprofv3 --runtime-trace --output-format rocpd -- PROGRAM",
                    [ROCPROF] = "rocprof --hip-trace --roctx-trace PROGRAM",
                    [PYTORCH] = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
                    [RPD] = "runTracer.sh -o trace.rpd PROGRAM",
                    [ROCREC] = "rocrec -- PROGRAM"},
    [END_WELL] = {[ROCPROFV3] = "wait for the GPU (hipDeviceSynchronize) before the program ends, "
                                "and let it end by itself",
                  [PYTORCH] = "call torch.cuda.synchronize() before the profiler stops",
                  [ROCREC] =
                      "give the recording space: a larger rocrec --limit, a disk that is not "
                      "full; wait for the GPU (hipDeviceSynchronize) before the program ends"},
    [RECORD_LESS] = {[ROCPROFV3] = "record less at once: rocprofv3 --collection-period, or fewer "
                                   "domains",
                     [ROCPROF] = "record less at once: rocprof --trace-period, or fewer domains",
                     [PYTORCH] = "record fewer steps: schedule(wait=1, warmup=1, active=3)",
                     [RPD] = "record less at once: a shorter run",
                     [ROCREC] = "record less at once: a shorter run, or fewer front ends (--use)"},
    [RECORD_RANKS] = {[ROCPROFV3] = "run every rank under the profiler, and name the files of all",
                      [PYTORCH] = "let every rank export its trace, and name the files of all"},
    [RECORD_ALIKE] = {[ROCPROFV3] =
                          "record all ranks with the same options, from the same step on"},
    [ALIGN] = {[ROCPROFV3] =
                   "align the clocks: --align start, --align marker NAME, --align collectives "
                   "or --align offsets FILE"},
    [ONE_TOOL] = {[ROCPROFV3] = "name only one recording of each process"},
    [ONE_RUN] = {[ROCPROFV3] = "name the files of one run only"},
    [COUNTERS] = {[ROCPROFV3] = "rocprofv3 --pmc with fewer counters at once; rocprofv3-avail "
                                "list prints those of the GPU"},
    [WINDOW] = {[ROCPROFV3] = "look at the rest alone: --start TIME, --end TIME or --warmup N"},
    [CLOSE_RANGES] = {[ROCPROFV3] = "end each range that is begun: roctxRangePop, roctxRangeStop",
                      [PYTORCH] = "record without frames of Python: with_stack=False"},
    [SHIFT_CLOCK] = {[ROCPROFV3] = "record again, or shift the clock of the GPU: --align offsets "
                                   "FILE, with a line \"gpu PID OFFSET\""},
    [LARGER_RING] = {[ROCPROFV3] = "give the ring more memory: rocrec --policy ring --limit SIZE"},
};

static const struct {
    const char *key, *finding, *cause;
    rocl_finding_level level;
    remedy remedy;
} rules[ROCL_RULES] = {
    [ROCL_RULE_EMPTY] = {"empty", "There are no events",
                         "the program used no GPU, or the profiler was not active", ROCL_UNUSABLE,
                         RECORD_ALL},
    [ROCL_RULE_MOSTLY_LEFT_OUT] =
        {"mostly-left-out", "More records are left out than can be used",
         "the file is damaged, its writer was stopped, or a tracer dropped them", ROCL_UNUSABLE,
         END_WELL},
    [ROCL_RULE_NO_GPU_WORK] = {"no-gpu-work", "Kernels are launched, but no process has any",
                               "kernels were not recorded, or were never written", ROCL_UNUSABLE,
                               RECORD_ALL},
    [ROCL_RULE_CLOCKS_APART] =
        {"clocks-apart", "Host calls and GPU work are at different times",
         "they are on different clocks: the machine was suspended, or the profiler "
         "did not convert the times of the GPU",
         ROCL_UNUSABLE, SHIFT_CLOCK},
    [ROCL_RULE_LEFT_OUT] =
        {"left-out", "Records are left out",
         "the file is damaged or truncated, or a tracer dropped them; `rocline check` "
         "says where",
         ROCL_DOUBT, END_WELL},
    [ROCL_RULE_REPAIRED] =
        {"repaired", "Records are repaired",
         "they refer to what is not in the file, or never ended; `rocline check` says "
         "where",
         ROCL_DOUBT, NOTHING},
    [ROCL_RULE_PROCESS_WITHOUT_KERNELS] = {"process-without-kernels",
                                           "A process launches kernels, but has none",
                                           "it ended before its buffers were written", ROCL_DOUBT,
                                           END_WELL},
    [ROCL_RULE_CUT_TAIL] =
        {"cut-tail", "The last launches have no kernels",
         "the process was killed, or the recording ended before the GPU was done", ROCL_DOUBT,
         END_WELL},
    [ROCL_RULE_LAUNCHES_WITHOUT_KERNELS] = {"launches-without-kernels", "Launches have no kernels",
                                            "the profiler lost records, or the calls failed",
                                            ROCL_DOUBT, RECORD_LESS},
    [ROCL_RULE_GRAPHS_WITHOUT_KERNELS] =
        {"graphs-without-kernels", "Launches of graphs have no kernels",
         "the profiler does not record kernels in graphs, or lost them", ROCL_DOUBT, RECORD_ALL},
    [ROCL_RULE_KERNELS_WITHOUT_CALLS] =
        {"kernels-without-calls", "Kernels have no call that launched them",
         "records of calls were lost, or a function launched them that is not recorded", ROCL_DOUBT,
         RECORD_ALL},
    [ROCL_RULE_BEFORE_LAUNCH] = {"before-launch", "GPU work begins before it is launched",
                                 "the clocks of host and GPU drift apart, or the links are wrong",
                                 ROCL_DOUBT, SHIFT_CLOCK},
    [ROCL_RULE_AFTER_END] = {"after-end", "GPU work ends after its process did",
                             "the clocks of host and GPU drift apart", ROCL_DOUBT, RECORD_ALL},
    [ROCL_RULE_HOSTS_APART] = {"hosts-apart", "A host has no event at the time of any other",
                               "the clocks are not synchronized, or these are different runs",
                               ROCL_DOUBT, ALIGN},
    [ROCL_RULE_SEVERAL_RUNS] =
        {"several-runs", "The inputs are several runs",
         "files of an earlier run are in the same folder, or match the same names", ROCL_DOUBT,
         ONE_RUN},
    [ROCL_RULE_ROUND_NUMBER] = {"round-number", "Events stop at a round number, while others go on",
                                "a buffer was full, or a limit was reached", ROCL_DOUBT,
                                RECORD_LESS},
    [ROCL_RULE_MISSING_IDS] = {"missing-ids", "Many correlation ids in a row are missing",
                               "calls were lost, or not recorded for a time", ROCL_DOUBT,
                               RECORD_LESS},
    [ROCL_RULE_COUNTERS_ZERO] = {"counters-zero", "All counters are always 0",
                                 "the GPU does not have them, or does not permit to read them",
                                 ROCL_DOUBT, COUNTERS},
    [ROCL_RULE_IMPOSSIBLE_TIMES] = {"impossible-times", "Events of a process are a year apart",
                                    "times are damaged, or were never recorded", ROCL_DOUBT,
                                    WINDOW},
    [ROCL_RULE_NO_DURATIONS] = {"no-durations", "Kernels took no time",
                                "their times were not recorded, or not converted", ROCL_DOUBT,
                                RECORD_ALL},
    [ROCL_RULE_LONG_KERNELS] = {"long-kernels", "Kernels run for more than an hour",
                                "the begin or the end was not recorded", ROCL_DOUBT, RECORD_ALL},
    [ROCL_RULE_OUTLASTS] = {"outlasts", "A kernel outlasts those that come after it on its stream",
                            "its end was not recorded, or not converted", ROCL_DOUBT, RECORD_ALL},
    [ROCL_RULE_ONE_LONG_CALL] =
        {"one-long-call", "A single kernel or copy took a large share of the time",
         "it waited for something, such as another rank, or its times are wrong: totals and "
         "averages of its name say nothing",
         ROCL_DOUBT, WINDOW},
    [ROCL_RULE_NEVER_CLOSED] = {"never-closed", "Ranges were never closed",
                                "the profiler missed their returns, and ended them at the end",
                                ROCL_DOUBT, CLOSE_RANGES},
    [ROCL_RULE_RANGES_AS_POINTS] = {"ranges-as-points", "Ranges of markers took no time",
                                    "their begins and ends are recorded as calls of their own",
                                    ROCL_DOUBT, RECORD_ALL},
    [ROCL_RULE_IMPOSSIBLE_SIZES] = {"impossible-sizes",
                                    "Kernels have sizes that no kernel can have",
                                    "a grid is counted in workgroups, or the values are damaged",
                                    ROCL_DOUBT, RECORD_ALL},
    [ROCL_RULE_IMPOSSIBLE_RATES] = {"impossible-rates", "Copies are faster than any memory",
                                    "their times or sizes are wrong", ROCL_DOUBT, RECORD_ALL},
    [ROCL_RULE_COPY_DIRECTIONS] = {"copy-directions",
                                   "Names of copies contradict where these come from or go to",
                                   "the agents are wrong, or the directions", ROCL_DOUBT,
                                   RECORD_ALL},
    [ROCL_RULE_RANKS_MISSING] = {"ranks-missing", "Ranks are missing",
                                 "their files were not named, or not written", ROCL_DOUBT,
                                 RECORD_RANKS},
    [ROCL_RULE_RANK_LACKS] = {"rank-lacks", "A rank lacks a kind of events that others have",
                              "it was recorded with other options, or its file was cut", ROCL_DOUBT,
                              RECORD_ALIKE},
    [ROCL_RULE_RANK_SHORT] = {"rank-short", "A rank has less than half of what the others have",
                              "it ended early, or lost records", ROCL_DOUBT, END_WELL},
    [ROCL_RULE_RANK_GPUS] = {"rank-gpus", "A rank uses another number of GPUs",
                             "GPUs were not recorded, or the ranks differ", ROCL_DOUBT,
                             RECORD_ALIKE},
    [ROCL_RULE_RANK_STEPS] = {"rank-steps", "A rank has other steps than the others",
                              "the recording of a rank began later or ended earlier", ROCL_DOUBT,
                              RECORD_ALIKE},
    [ROCL_RULE_PROCESS_TWICE] = {"process-twice", "A process occurs twice",
                                 "a file and a copy of it were named", ROCL_DOUBT, ONE_TOOL},
    [ROCL_RULE_TWO_RECORDINGS] =
        {"two-recordings", "A process has two recordings of the same time",
         "two profilers were active: each slows down what the other one sees", ROCL_DOUBT,
         ONE_TOOL},
    [ROCL_RULE_CAPTURED_LAUNCHES] = {"captured-launches",
                                     "Launches have no kernels, in a process that captures graphs",
                                     "a captured launch runs only when its graph is launched",
                                     ROCL_NOTE, NOTHING},
    [ROCL_RULE_LAUNCHED_BEFORE] = {"launched-before",
                                   "Kernels were launched before the recording began",
                                   "the recording begins in the middle of the program", ROCL_NOTE,
                                   NOTHING},
    [ROCL_RULE_NO_LINKS] =
        {"no-links", "No call says which kernels it launched",
         "the format has no ids for it: nothing can be said about the cost of launches and "
         "the causes of idle time",
         ROCL_NOTE, RECORD_ALL},
    [ROCL_RULE_NO_CALLS] =
        {"no-calls", "No calls of the HIP runtime were recorded",
         "only GPU work was traced: nothing can be said about the cost of launches and the "
         "causes of idle time",
         ROCL_NOTE, RECORD_ALL},
    [ROCL_RULE_NO_COPIES] = {"no-copies", "Memory is copied, but no copies were recorded",
                             "copies were not recorded, or kernels did them", ROCL_NOTE,
                             RECORD_ALL},
    [ROCL_RULE_COPIES_WITHOUT_SIZE] = {"copies-without-size", "Most copies have no size",
                                       "the profiler did not record it: they are not in bytes "
                                       "and bandwidths",
                                       ROCL_NOTE, RECORD_ALL},
    [ROCL_RULE_MEMORY_BEFORE] =
        {"memory-before", "Memory was in use before the recording began",
         "the recording begins in the middle of the program: peaks of memory are too low",
         ROCL_NOTE, NOTHING},
    [ROCL_RULE_ONE_LONG_LAUNCH] = {"one-long-launch",
                                   "A single launch took a large share of the time",
                                   "the first one loads code; later ones wait for a full queue",
                                   ROCL_NOTE, WINDOW},
    [ROCL_RULE_COUNTER_ZERO] = {"counter-zero", "A counter is always 0",
                                "there was nothing to count, or the GPU does not have it",
                                ROCL_NOTE, NOTHING},
    [ROCL_RULE_WHOLE_US] = {"whole-us", "Kernels took no time, as times are in whole microseconds",
                            "an older profiler rounded the times", ROCL_NOTE, NOTHING},
    [ROCL_RULE_RANK_STREAMS] = {"rank-streams", "A rank uses another number of streams",
                                "streams were not recorded, or the ranks differ", ROCL_NOTE,
                                NOTHING},
    [ROCL_RULE_OVERWRITTEN] = {"overwritten", "A ring has overwritten older records",
                               "its memory was too small for all of them", ROCL_NOTE, LARGER_RING},
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
    if (!s->capture)
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
    static const struct {
        const char *word;
        profiler profiler;
    } formats[] = {{"rocprofv3", ROCPROFV3},
                   {"PyTorch", PYTORCH},
                   {"rocmProfileData", RPD},
                   {"rocprof", ROCPROF},
                   {"rocrec", ROCREC}};
    for (size_t i = 0; i < rocl_trace_inputs(t); i++) {
        const rocl_input in = rocl_trace_input(t, i);
        if (c && strcmp(in.path, c->path) != 0)
            continue;
        for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
            if (strstr(in.format, formats[k].word))
                return formats[k].profiler;
        break;
    }
    return ROCPROFV3;
}

void rocl_doctor_find(rocl_doctor *d, rocl_rule r, const rocl_subject *s, uint64_t events,
                      rocl_event_ref event, const char *fmt, ...)
{
    rocl_finding *f = &d->found[r];
    if (s->capture) { /* a rule may find something of a subject again */
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
    if (events <= f->events)
        return;
    char evidence[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(evidence, sizeof evidence, fmt, ap);
    va_end(ap);
    const profiler by = profiler_of(d->c.trace, s->capture);
    const char *const *help = remedies[rules[r].remedy];
    *f = (rocl_finding){.rule = r,
                        .level = level_names[rules[r].level],
                        .key = rules[r].key,
                        .finding = rules[r].finding,
                        .cause = rules[r].cause,
                        .record = help[by] ? help[by] : help[ROCPROFV3],
                        .where = subject_text(d, s),
                        .evidence = rocl_tables_text(d->out, evidence, strlen(evidence)),
                        .events = events,
                        .places = f->places,
                        .event = event};
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
    size_t i = 0;
    while (process >= d->facts.first_process[i + 1])
        i++;
    const rocl_capture *c = &d->c.trace->captures[i]->pub;
    return (rocl_subject){c, &c->processes[process - d->facts.first_process[i]]};
}

rocl_finding_level rocl_rule_level(rocl_rule r)
{
    return rules[r].level;
}
