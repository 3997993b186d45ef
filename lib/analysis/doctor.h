/* The report `doctor`: its rules, and how their findings get into its table (doctor_rules.c).
 * doctor.c has those on the whole trace and on one process, doctor_ranks.c those on several
 * processes. */
#pragma once

#include "analysis/facts.h"
#include "model/identity.h"

enum { ROCL_NOTE, ROCL_DOUBT, ROCL_UNUSABLE, ROCL_LEVELS };

/* X(rule, key, level, what helps, finding, likely cause). Keys are unique; the order is that of the
 * table of findings, the worst first. */
#define ROCL_RULE_TABLE(X)                                                                         \
    X(EMPTY, "empty", UNUSABLE, record_all, "There are no events",                                 \
      "the program used no GPU, or the profiler was not active")                                   \
    X(MOSTLY_LEFT_OUT, "mostly-left-out", UNUSABLE, end_well,                                      \
      "More records are left out than can be used",                                                \
      "the file is damaged, its writer was stopped, or a tracer dropped them")                     \
    X(NO_GPU_WORK, "no-gpu-work", UNUSABLE, record_all,                                            \
      "Kernels are launched, but no process has any",                                              \
      "kernels were not recorded, or were never written")                                          \
    X(CLOCKS_APART, "clocks-apart", UNUSABLE, shift_clock,                                         \
      "Host calls and GPU work are at different times",                                            \
      "they are on different clocks: the machine was suspended, or the profiler did not convert "  \
      "the times of the GPU")                                                                      \
    X(LEFT_OUT, "left-out", DOUBT, end_well, "Records are left out",                               \
      "the file is damaged or truncated, or a tracer dropped them; `rocline check` says where")    \
    X(REPAIRED, "repaired", DOUBT, nothing, "Records are repaired",                                \
      "they refer to what is not in the file, or never ended; `rocline check` says where")         \
    X(PROCESS_WITHOUT_KERNELS, "process-without-kernels", DOUBT, end_well,                         \
      "A process launches kernels, but has none", "it ended before its buffers were written")      \
    X(CUT_TAIL, "cut-tail", DOUBT, end_well, "The last launches have no kernels",                  \
      "the process was killed, or the recording ended before the GPU was done")                    \
    X(LAUNCHES_WITHOUT_KERNELS, "launches-without-kernels", DOUBT, record_less,                    \
      "Launches have no kernels", "the profiler lost records, or the calls failed")                \
    X(GRAPHS_WITHOUT_KERNELS, "graphs-without-kernels", DOUBT, record_all,                         \
      "Launches of graphs have no kernels",                                                        \
      "the profiler does not record kernels in graphs, or lost them")                              \
    X(KERNELS_WITHOUT_CALLS, "kernels-without-calls", DOUBT, record_all,                           \
      "Kernels have no call that launched them",                                                   \
      "records of calls were lost, or a function launched them that is not recorded")              \
    X(BEFORE_LAUNCH, "before-launch", DOUBT, shift_clock, "GPU work begins before it is launched", \
      "the clocks of host and GPU drift apart, or the links are wrong")                            \
    X(AFTER_END, "after-end", DOUBT, record_all, "GPU work ends after its process did",            \
      "the clocks of host and GPU drift apart")                                                    \
    X(HOSTS_APART, "hosts-apart", DOUBT, align, "A host has no event at the time of any other",    \
      "the clocks are not synchronized, or these are different runs")                              \
    X(SEVERAL_RUNS, "several-runs", DOUBT, one_run, "The inputs are several runs",                 \
      "files of an earlier run are in the same folder, or match the same names")                   \
    X(ROUND_NUMBER, "round-number", DOUBT, record_less,                                            \
      "Events stop at a round number, while others go on",                                         \
      "a buffer was full, or a limit was reached")                                                 \
    X(MISSING_IDS, "missing-ids", DOUBT, record_less, "Many correlation ids in a row are missing", \
      "calls were lost, or not recorded for a time")                                               \
    X(COUNTERS_ZERO, "counters-zero", DOUBT, counters, "All counters are always 0",                \
      "the GPU does not have them, or does not permit to read them")                               \
    X(IMPOSSIBLE_TIMES, "impossible-times", DOUBT, window, "Events of a process are a year apart", \
      "times are damaged, or were never recorded")                                                 \
    X(NO_DURATIONS, "no-durations", DOUBT, record_all, "Kernels took no time",                     \
      "their times were not recorded, or not converted")                                           \
    X(LONG_KERNELS, "long-kernels", DOUBT, record_all, "Kernels run for more than an hour",        \
      "the begin or the end was not recorded")                                                     \
    X(OUTLASTS, "outlasts", DOUBT, record_all,                                                     \
      "A kernel outlasts those that come after it on its stream",                                  \
      "its end was not recorded, or not converted")                                                \
    X(ONE_LONG_CALL, "one-long-call", DOUBT, window,                                               \
      "A single kernel or copy took a large share of the time",                                    \
      "it waited for something, such as another rank, or its times are wrong: totals and "         \
      "averages of its name say nothing")                                                          \
    X(NEVER_CLOSED, "never-closed", DOUBT, close_ranges, "Ranges were never closed",               \
      "the profiler missed their returns, and ended them at the end")                              \
    X(RANGES_AS_POINTS, "ranges-as-points", DOUBT, record_all, "Ranges of markers took no time",   \
      "their begins and ends are recorded as calls of their own")                                  \
    X(IMPOSSIBLE_SIZES, "impossible-sizes", DOUBT, record_all,                                     \
      "Kernels have sizes that no kernel can have",                                                \
      "a grid is counted in workgroups, or the values are damaged")                                \
    X(IMPOSSIBLE_RATES, "impossible-rates", DOUBT, record_all,                                     \
      "Copies are faster than any memory", "their times or sizes are wrong")                       \
    X(COPY_DIRECTIONS, "copy-directions", DOUBT, record_all,                                       \
      "Names of copies contradict where these come from or go to",                                 \
      "the agents are wrong, or the directions")                                                   \
    X(RANKS_MISSING, "ranks-missing", DOUBT, record_ranks, "Ranks are missing",                    \
      "their files were not named, or not written")                                                \
    X(RANK_LACKS, "rank-lacks", DOUBT, record_alike,                                               \
      "A rank lacks a kind of events that others have",                                            \
      "it was recorded with other options, or its file was cut")                                   \
    X(RANK_SHORT, "rank-short", DOUBT, end_well,                                                   \
      "A rank has less than half of what the others have", "it ended early, or lost records")      \
    X(RANK_GPUS, "rank-gpus", DOUBT, record_alike, "A rank uses another number of GPUs",           \
      "GPUs were not recorded, or the ranks differ")                                               \
    X(RANK_STEPS, "rank-steps", DOUBT, record_alike, "A rank has other steps than the others",     \
      "the recording of a rank began later or ended earlier")                                      \
    X(PROCESS_TWICE, "process-twice", DOUBT, one_tool, "A process occurs twice",                   \
      "a file and a copy of it were named")                                                        \
    X(TWO_RECORDINGS, "two-recordings", DOUBT, one_tool,                                           \
      "A process has two recordings of the same time",                                             \
      "two profilers were active: each slows down what the other one sees")                        \
    X(CAPTURED_LAUNCHES, "captured-launches", NOTE, nothing,                                       \
      "Launches have no kernels, in a process that captures graphs",                               \
      "a captured launch runs only when its graph is launched")                                    \
    X(LAUNCHED_BEFORE, "launched-before", NOTE, nothing,                                           \
      "Kernels were launched before the recording began",                                          \
      "the recording begins in the middle of the program")                                         \
    X(NO_LINKS, "no-links", NOTE, record_all, "No call says which kernels it launched",            \
      "the format has no ids for it: nothing can be said about the cost of launches and the "      \
      "causes of idle time")                                                                       \
    X(NO_CALLS, "no-calls", NOTE, record_all, "No calls of the HIP runtime were recorded",         \
      "only GPU work was traced: nothing can be said about the cost of launches and the causes "   \
      "of idle time")                                                                              \
    X(NO_COPIES, "no-copies", NOTE, record_all, "Memory is copied, but no copies were recorded",   \
      "copies were not recorded, or kernels did them")                                             \
    X(COPIES_WITHOUT_SIZE, "copies-without-size", NOTE, record_all, "Most copies have no size",    \
      "the profiler did not record it: they are not in bytes and bandwidths")                      \
    X(MEMORY_BEFORE, "memory-before", NOTE, nothing,                                               \
      "Memory was in use before the recording began",                                              \
      "the recording begins in the middle of the program: peaks of memory are too low")            \
    X(ONE_LONG_LAUNCH, "one-long-launch", NOTE, window,                                            \
      "A single launch took a large share of the time",                                            \
      "the first one loads code; later ones wait for a full queue")                                \
    X(COUNTER_ZERO, "counter-zero", NOTE, nothing, "A counter is always 0",                        \
      "there was nothing to count, or the GPU does not have it")                                   \
    X(WHOLE_US, "whole-us", NOTE, nothing,                                                         \
      "Kernels took no time, as times are in whole microseconds",                                  \
      "an older profiler rounded the times")                                                       \
    X(RANK_STREAMS, "rank-streams", NOTE, nothing, "A rank uses another number of streams",        \
      "streams were not recorded, or the ranks differ")                                            \
    X(OVERWRITTEN, "overwritten", NOTE, larger_ring, "A ring has overwritten older records",       \
      "its memory was too small for all of them")

typedef enum rocl_rule {
#define ROCL_RULE_ROW(rule, ...) ROCL_RULE_##rule,
    ROCL_RULE_TABLE(ROCL_RULE_ROW)
#undef ROCL_RULE_ROW
        ROCL_RULES
} rocl_rule;

/* What a rule is about: a process, a rank by its first process, or a host. */
typedef struct rocl_subject {
    const rocl_capture *capture;
    const rocl_process *process; /* NULL: the host of the capture */
} rocl_subject;

/* A row of the table: of a rule the subject with most of it, and how many there are. */
typedef struct rocl_finding {
    const char *level, *key, *finding, *cause, *record;
    const char *where; /* owned by the tables, as evidence */
    const char *evidence;
    unsigned of_level;
    uint64_t events;
    int64_t places; /* -1: the whole trace */
    rocl_event_ref event;
} rocl_finding;

/* What ranks are compared by: of each process its steps, as they come; of each rank the GPUs and
 * streams that it uses. Interned as bytes: without holes. */
typedef struct rocl_noted {
    enum { ROCL_NOTED_STEP = 1, ROCL_NOTED_GPU, ROCL_NOTED_STREAM } what;
    uint32_t of;    /* the process, of all; or the rank */
    uint32_t value; /* text; index in `gpus`; index of a stream in its capture */
    uint32_t pid;   /* of a stream */
} rocl_noted;

typedef struct rocl_note_worker {
    alignas(ROCL_CACHE_LINE) uint8_t *known; /* by text: is it a step? 0: not looked at */
    size_t known_cap;
    rocl_noted last; /* step */
} rocl_note_worker;

typedef struct rocl_doctor {
    rocl_collector c;
    rocl_facts facts;
    rocl_strings *noted; /* rocl_noted */
    rocl_note_worker *workers;
    rocl_tables *out;
    rocl_strings *places;           /* the subjects of each rule */
    rocl_finding found[ROCL_RULES]; /* events 0: nothing */
} rocl_doctor;

/* Adds what a rule has found; s: NULL for the whole trace. The largest count, of what is concerned,
 * decides whose evidence is displayed. A rule may find several things of one subject. The rest of
 * the arguments is the evidence. */
void rocl_doctor_find(rocl_doctor *d, rocl_rule r, const rocl_subject *s, rocl_sighting found,
                      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Of no single event. */
#define ROCL_TIMES(n) ((rocl_sighting){.count = (uint64_t)(n)})
/* "1 kernel", "2 kernels": "%llu kernel%s". */
#define ROCL_PLURAL(count, ending) ROCL_N(count), (count) == 1 ? "" : (ending)

/* A process by its number among all of the trace. */
rocl_subject rocl_subject_of(const rocl_doctor *d, size_t process);
/* Without its folder: the same wherever the file is. */
const char *rocl_capture_file(const rocl_capture *c);
/* "1.25 s", in a unit that makes it short. */
const char *rocl_time_text(char text[32], int64_t ns);

/* doctor_ranks.c: */
/* Notes what ranks are compared by. Concurrent. */
rocl_status rocl_note_batch(rocl_doctor *d, unsigned worker, const rocl_batch *b, rocl_error *err);
void rocl_check_ranks(rocl_doctor *d);
void rocl_check_steps(rocl_doctor *d);
void rocl_check_recordings(rocl_doctor *d);
