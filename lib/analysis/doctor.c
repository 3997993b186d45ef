/* Can the trace be trusted? Rules on facts of the recording: what others of the same trace have and
 * one has not, what does not fit together, what was lost. Each says its evidence, the likely cause,
 * and how to record it right. They are silent on sound traces: rocstats(1) has the thresholds. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts.h"
#include "base/array.h"

/* ---- what can be found ----------------------------------------------------------------------- */

typedef enum level { NOTE, DOUBT, UNUSABLE, LEVELS } level;

static const char *const level_names[LEVELS] = {"note", "doubt", "unusable"};
static const char *const verdicts[LEVELS] = {"sound", "doubts", "unusable"};

/* What helps, in the words of the profiler that made the trace. */
typedef enum remedy {
    NOTHING,
    RECORD_ALL,
    END_WELL,
    RECORD_LESS,
    RECORD_RANKS,
    ALIGN,
    ONE_TOOL,
    COUNTERS,
    REMEDIES
} remedy;
typedef enum profiler { ROCPROFV3, ROCPROF, PYTORCH, RPD, ROCREC, PROFILERS } profiler;

/* Those of rocprofv3 stand for others where they have none. */
static const char *const remedies[REMEDIES][PROFILERS] = {
    [RECORD_ALL] = {[ROCPROFV3] = "rocprofv3 --runtime-trace --output-format rocpd -- PROGRAM",
                    [ROCPROF] = "rocprof --hip-trace --roctx-trace PROGRAM",
                    [PYTORCH] = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
                    [RPD] = "runTracer.sh -o trace.rpd PROGRAM",
                    [ROCREC] = "rocrec -- PROGRAM"},
    [END_WELL] = {[ROCPROFV3] = "wait for the GPU (hipDeviceSynchronize) before the program ends, "
                                "and let it end by itself",
                  [PYTORCH] = "call torch.cuda.synchronize() before the profiler stops"},
    [RECORD_LESS] = {[ROCPROFV3] = "record less at once: rocprofv3 --collection-period, or fewer "
                                   "domains",
                     [ROCPROF] = "record less at once: rocprof --trace-period, or fewer domains",
                     [PYTORCH] = "record fewer steps: schedule(wait=1, warmup=1, active=3)",
                     [RPD] = "record less at once: a shorter run",
                     [ROCREC] = "record less at once: a shorter run, or fewer front ends (--use)"},
    [RECORD_RANKS] = {[ROCPROFV3] = "run every rank under the profiler, and name the files of all",
                      [PYTORCH] = "let every rank export its trace, and name the files of all"},
    [ALIGN] = {[ROCPROFV3] = "set the clocks: --align start, --align marker NAME or --align "
                             "offsets FILE"},
    [ONE_TOOL] = {[ROCPROFV3] = "name one recording of each process"},
    [COUNTERS] = {[ROCPROFV3] = "rocprofv3 --pmc with fewer counters at once; rocprofv3-avail "
                                "list tells what the GPU has"},
};

/* Unique; the order is that of the table, the worst first. */
typedef enum rule {
    EMPTY,
    MOSTLY_LEFT_OUT,
    NO_GPU_WORK,
    CLOCKS_APART,
    LEFT_OUT,
    REPAIRED,
    PROCESS_WITHOUT_KERNELS,
    CUT_TAIL,
    LAUNCHES_WITHOUT_KERNELS,
    GRAPHS_WITHOUT_KERNELS,
    KERNELS_WITHOUT_CALLS,
    BEFORE_LAUNCH,
    AFTER_END,
    HOSTS_APART,
    ROUND_NUMBER,
    MISSING_IDS,
    COUNTERS_ZERO,
    NO_DURATIONS,
    LONG_KERNELS,
    RANKS_MISSING,
    RANK_LACKS,
    RANK_SHORT,
    RANK_GPUS,
    RANK_STEPS,
    PROCESS_TWICE,
    TWO_RECORDINGS,
    CAPTURED_LAUNCHES,
    LAUNCHED_BEFORE,
    NO_CALLS,
    NO_COPIES,
    COUNTER_ZERO,
    WHOLE_US,
    RANK_STREAMS,
    RULES
} rule;

static const struct {
    const char *key, *finding, *cause;
    level level;
    remedy remedy;
} rules[RULES] = {
    [EMPTY] = {"empty", "There are no events",
               "the program used no GPU, or the profiler was not active", UNUSABLE, RECORD_ALL},
    [MOSTLY_LEFT_OUT] = {"mostly-left-out", "More records are left out than can be used",
                         "the file is damaged, or its writer was stopped", UNUSABLE, END_WELL},
    [NO_GPU_WORK] = {"no-gpu-work", "Kernels are launched, but no process has any",
                     "kernels were not recorded, or were never written", UNUSABLE, RECORD_ALL},
    [CLOCKS_APART] = {"clocks-apart", "Host calls and GPU work are at different times",
                      "they are on different clocks: the machine was suspended, or the profiler "
                      "did not convert GPU times",
                      UNUSABLE, RECORD_ALL},
    [LEFT_OUT] = {"left-out", "Records are left out",
                  "a damaged or truncated file, or a tracer that dropped them; `rocline check` "
                  "says where",
                  DOUBT, END_WELL},
    [REPAIRED] = {"repaired", "Records are repaired",
                  "they refer to what is not in the file, or never ended; `rocline check` says "
                  "where",
                  DOUBT, NOTHING},
    [PROCESS_WITHOUT_KERNELS] = {"process-without-kernels",
                                 "A process launches kernels, but has none",
                                 "it ended before its buffers were written", DOUBT, END_WELL},
    [CUT_TAIL] = {"cut-tail", "The last launches have no kernels",
                  "the process was killed, or the recording ended before the GPU was done", DOUBT,
                  END_WELL},
    [LAUNCHES_WITHOUT_KERNELS] = {"launches-without-kernels", "Launches have no kernels",
                                  "the profiler lost records, or the calls failed", DOUBT,
                                  RECORD_LESS},
    [GRAPHS_WITHOUT_KERNELS] = {"graphs-without-kernels", "Launches of graphs have no kernels",
                                "the profiler does not record kernels in graphs, or lost them",
                                DOUBT, RECORD_ALL},
    [KERNELS_WITHOUT_CALLS] = {"kernels-without-calls", "Kernels have no call that launched them",
                               "records of calls were lost, or the launch was not a recorded "
                               "function",
                               DOUBT, RECORD_ALL},
    [BEFORE_LAUNCH] = {"before-launch", "GPU work begins before it is launched",
                       "clocks of host and GPU that drift apart, or wrong links", DOUBT,
                       RECORD_ALL},
    [AFTER_END] = {"after-end", "GPU work ends after its process did",
                   "clocks of host and GPU that drift apart", DOUBT, RECORD_ALL},
    [HOSTS_APART] = {"hosts-apart", "Hosts have nothing at the same time",
                     "their clocks are not set, or these are different runs", DOUBT, ALIGN},
    [ROUND_NUMBER] = {"round-number", "Events stop at a round number, while others go on",
                      "a buffer was full, or a limit was reached", DOUBT, RECORD_LESS},
    [MISSING_IDS] = {"missing-ids", "Correlation ids are missing in a row",
                     "calls were lost, or not recorded for a time", DOUBT, RECORD_LESS},
    [COUNTERS_ZERO] = {"counters-zero", "All counters are always 0",
                       "the GPU does not have them, or lets nobody read them", DOUBT, COUNTERS},
    [NO_DURATIONS] = {"no-durations", "Kernels took no time",
                      "their times were not recorded, or not converted", DOUBT, RECORD_ALL},
    [LONG_KERNELS] = {"long-kernels", "Kernels run for more than an hour",
                      "a wrong time: its begin or its end was not recorded", DOUBT, RECORD_ALL},
    [RANKS_MISSING] = {"ranks-missing", "Ranks are missing",
                       "their files were not named, or not written", DOUBT, RECORD_RANKS},
    [RANK_LACKS] = {"rank-lacks", "A rank has nothing of what the others have",
                    "it was recorded with other options, or its file was cut", DOUBT, RECORD_RANKS},
    [RANK_SHORT] = {"rank-short", "A rank has less than half of what the others have",
                    "it ended early, or lost records", DOUBT, END_WELL},
    [RANK_GPUS] = {"rank-gpus", "A rank has work on another number of GPUs",
                   "GPUs were not recorded, or the ranks differ", DOUBT, RECORD_RANKS},
    [RANK_STEPS] = {"rank-steps", "A rank has other steps than the others",
                    "the recording of a rank began later or ended earlier", DOUBT, RECORD_RANKS},
    [PROCESS_TWICE] = {"process-twice", "A process is there twice",
                       "a copy of a file was named, too", DOUBT, ONE_TOOL},
    [TWO_RECORDINGS] = {"two-recordings", "A process has two recordings of the same time",
                        "two profilers were active: each slows down what the other one sees", DOUBT,
                        ONE_TOOL},
    [CAPTURED_LAUNCHES] = {"captured-launches",
                           "Launches have no kernels, in a process that captures graphs",
                           "a captured launch runs only when its graph is launched", NOTE, NOTHING},
    [LAUNCHED_BEFORE] = {"launched-before", "Kernels were launched before the recording began",
                         "the recording begins in the middle of the program", NOTE, NOTHING},
    [NO_CALLS] = {"no-calls", "No calls of the HIP runtime were recorded",
                  "only GPU work was traced: why GPUs were idle, and what launches cost, "
                  "cannot be told",
                  NOTE, RECORD_ALL},
    [NO_COPIES] = {"no-copies", "Memory is copied, but no copies were recorded",
                   "copies were not recorded; small ones may be kernels", NOTE, RECORD_ALL},
    [COUNTER_ZERO] = {"counter-zero", "A counter is always 0",
                      "there was nothing to count, or the GPU does not have it", NOTE, NOTHING},
    [WHOLE_US] = {"whole-us", "Kernels took no time, as times are whole microseconds",
                  "an older profiler rounds times", NOTE, NOTHING},
    [RANK_STREAMS] = {"rank-streams", "A rank uses another number of streams",
                      "streams were not recorded, or the ranks differ", NOTE, NOTHING},
};

/* A row of the table: of a rule the process with most of it, and how many others there are. */
typedef struct finding {
    rule rule;
    const char *level, *key, *finding, *cause, *record;
    const char *where; /* owned by the tables, as evidence */
    const char *evidence;
    uint64_t events, places;
    rocl_event_ref event;
} finding;

typedef struct doctor {
    rocl_collector c;
    rocl_facts facts;
    rocl_strings *step_keys;   /* step_key */
    struct step_worker *steps; /* by worker */
    rocl_tables *out;
    finding found[RULES]; /* events 0: nothing */
} doctor;

/* ---- steps: markers that count --------------------------------------------------------------- */

/* Interned as bytes: without holes. */
typedef struct step_key {
    uint32_t process; /* of all processes */
    uint32_t name;    /* text */
} step_key;

typedef struct step_worker {
    uint8_t *known; /* by text: STEP_*, 0: not looked at */
    size_t known_cap;
} step_worker;

enum { STEP_NO = 1, STEP_YES };

static rocl_status note_steps(doctor *d, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    step_worker *w = &d->steps[worker];
    const rocl_trace *t = d->c.trace;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = &b->regions[i].e;
        size_t n, stem;
        uint64_t number;
        if (e->name == ROCL_NONE)
            continue;
        if (!ROCL_GROW(w->known, w->known_cap, (size_t)e->name + 1))
            return rocl_fail_memory(err);
        if (!w->known[e->name]) {
            const char *name = rocl_strings_get(t->strings, e->name, &n);
            w->known[e->name] = rocl_read_step(name, n, &stem, &number) ? STEP_YES : STEP_NO;
        }
        if (w->known[e->name] == STEP_NO)
            continue;
        const step_key key = {(uint32_t)d->facts.first_process[b->capture->index] + e->process,
                              e->name};
        if (rocl_strings_put(d->step_keys, (const char *)&key, sizeof key) == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* ---- findings -------------------------------------------------------------------------------- */

/* A process, or a rank, that a rule is about. */
typedef struct subject {
    const rocl_capture *capture; /* NULL: the whole trace */
    const rocl_process *process; /* NULL: all of the capture */
} subject;

/* Without its folder: the same wherever the file is. */
static const char *file_name(const rocl_capture *c)
{
    const char *slash = strrchr(c->path, '/');
    return slash ? slash + 1 : c->path;
}

static const char *subject_text(const doctor *d, const subject *s)
{
    char text[384];
    int n = 0;
    if (!s->capture)
        return NULL;
    if (s->process && s->process->rank >= 0)
        n = snprintf(text, sizeof text, "rank %d", s->process->rank);
    else if (s->process && s->process->pid > 0)
        n = snprintf(text, sizeof text, "process %lld", (long long)s->process->pid);
    else
        n = snprintf(text, sizeof text, "%s", file_name(s->capture));
    if (d->c.trace->machine_count > 1 && n < (int)sizeof text)
        n += snprintf(text + n, sizeof text - (size_t)n, " on %s",
                      rocl_host_name(d->c.trace, s->capture->machine));
    return rocl_tables_text(d->out, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

static profiler profiler_of(const rocl_trace *t, const rocl_capture *c)
{
    static const struct {
        const char *part;
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
            if (strstr(in.format, formats[k].part))
                return formats[k].profiler;
        break;
    }
    return ROCPROFV3;
}

static void add_finding(doctor *d, rule r, const subject *s, uint64_t events, rocl_event_ref event,
                        const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* events: how many are concerned, at least 1; the rest of the arguments is the evidence. */
static void add_finding(doctor *d, rule r, const subject *s, uint64_t events, rocl_event_ref event,
                        const char *fmt, ...)
{
    finding *f = &d->found[r];
    f->places++;
    if (events <= f->events)
        return;
    char evidence[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(evidence, sizeof evidence, fmt, ap);
    va_end(ap);
    const profiler by = profiler_of(d->c.trace, s->capture);
    const char *const *help = remedies[rules[r].remedy];
    *f = (finding){.rule = r,
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

static const rocl_event_ref no_event;

/* "1.25 s", in a unit that makes it short. */
static const char *time_text(char text[32], int64_t ns)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{86400e9, "days"}, {3600e9, "h"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if ((double)ns >= units[i].ns) {
            snprintf(text, 32, "%.3g %s", (double)ns / units[i].ns, units[i].name);
            return text;
        }
    snprintf(text, 32, "%lld ns", (long long)ns);
    return text;
}

#define N(count) (unsigned long long)(count)

/* ---- rules on the whole trace ---------------------------------------------------------------- */

static void check_records(doctor *d)
{
    const rocl_trace *t = d->c.trace;
    const subject all = {0};
    uint64_t events = 0, sums[2] = {0, 0};
    char texts[2][400] = {"", ""};
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        events += rocl_trace_events(t, k);
    for (rocl_fault f = 0; f < ROCL_FAULTS; f++) {
        const uint64_t n = rocl_trace_faults(t, f);
        const bool drops = rocl_fault_drops(f);
        const size_t len = strlen(texts[drops]);
        if (!n)
            continue;
        sums[drops] += n;
        snprintf(texts[drops] + len, sizeof texts[drops] - len, "%s%s (%llu)", len ? ", " : "",
                 rocl_fault_text(f), N(n));
    }
    if (!events && !sums[true])
        add_finding(d, EMPTY, &all, 1, no_event, "%zu files without an event",
                    rocl_trace_inputs(t));
    else if (sums[true] > events)
        add_finding(d, MOSTLY_LEFT_OUT, &all, sums[true], no_event, "%llu of %llu: %s",
                    N(sums[true]), N(sums[true] + events), texts[true]);
    else if (sums[true])
        add_finding(d, LEFT_OUT, &all, sums[true], no_event, "%llu of %llu: %s", N(sums[true]),
                    N(sums[true] + events), texts[true]);
    if (sums[false])
        add_finding(d, REPAIRED, &all, sums[false], no_event, "%llu of %llu: %s", N(sums[false]),
                    N(events), texts[false]);
}

static rocl_extent extent_of_all(const rocl_process_facts *p)
{
    rocl_extent all = {0};
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        if (ROCL_BIT(k) & ~(uint32_t)ROCL_VALUE_KINDS)
            rocl_extent_join(&all, &p->kinds[k]);
    return all;
}

static rocl_extent gpu_extent(const rocl_process_facts *p)
{
    rocl_extent gpu = p->kinds[ROCL_DISPATCH];
    rocl_extent_join(&gpu, &p->kinds[ROCL_COPY]);
    return gpu;
}

/* How long one of them begins after the other one has ended; 0: they touch, or one is empty. */
static int64_t time_between(const rocl_extent *a, const rocl_extent *b)
{
    if (!a->count || !b->count)
        return 0;
    return a->first > b->last ? a->first - b->last : b->first > a->last ? b->first - a->last : 0;
}

/* A host that has nothing in common with all others. */
static void check_hosts(doctor *d)
{
    const rocl_trace *t = d->c.trace;
    rocl_extent *hosts = calloc(t->machine_count + 1, sizeof *hosts);
    const rocl_capture **of = calloc(t->machine_count + 1, sizeof *of);
    d->out->incomplete |= !hosts || !of;
    for (size_t i = 0; hosts && of && i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->process_count; k++) {
            const rocl_extent all =
                extent_of_all(&d->facts.processes[d->facts.first_process[i] + k]);
            rocl_extent_join(&hosts[c->machine], &all);
            of[c->machine] = c;
        }
    }
    for (size_t m = 0; hosts && of && m < t->machine_count && t->machine_count > 1; m++) {
        int64_t least = INT64_MAX;
        for (size_t k = 0; k < t->machine_count; k++) {
            const int64_t ns = time_between(&hosts[m], &hosts[k]);
            if (k != m && hosts[k].count)
                least = ns < least ? ns : least;
        }
        char text[32];
        if (least > 0 && least < INT64_MAX && hosts[m].count)
            add_finding(d, HOSTS_APART, &(subject){of[m], NULL}, (uint64_t)least, no_event,
                        "%s from the events of any other host", time_text(text, least));
    }
    free(hosts);
    free(of);
}

/* ---- rules on one process -------------------------------------------------------------------- */

/* Clocks that are apart differ by much more than a program waits before its first kernel. */
#define APART_NS 1000000000
#define LATE_NS  1000000
#define HOUR_NS  3600000000000
enum { ROUND_LEAST = 4096, HOLE_LEAST = 100, FEW = 10 };

static void check_launches(doctor *d, const subject *s, const rocl_process_facts *p)
{
    const uint64_t launches = p->calls[ROCL_CALL_LAUNCH], kernels = p->kinds[ROCL_DISPATCH].count;
    const bool captures = p->calls[ROCL_CALL_CAPTURE] || p->calls[ROCL_CALL_GRAPH];
    if (launches + p->calls[ROCL_CALL_GRAPH] && !kernels) {
        add_finding(d, PROCESS_WITHOUT_KERNELS, s, launches + p->calls[ROCL_CALL_GRAPH],
                    p->lost.event, "%llu launches, no kernels",
                    N(launches + p->calls[ROCL_CALL_GRAPH]));
        return;
    }
    if (p->lost.count && captures && p->lost_in_a_row < p->lost.count)
        add_finding(d, CAPTURED_LAUNCHES, s, p->lost.count, p->lost.event, "%llu of %llu launches",
                    N(p->lost.count), N(launches));
    else if (p->lost.count && p->lost_in_a_row == p->lost.count)
        add_finding(d, captures ? CAPTURED_LAUNCHES : CUT_TAIL, s, p->lost.count, p->lost.event,
                    "the last %llu of %llu launches", N(p->lost.count), N(launches));
    else if (p->lost.count)
        add_finding(d, LAUNCHES_WITHOUT_KERNELS, s, p->lost.count, p->lost.event,
                    "%llu of %llu launches, %llu of them the last ones", N(p->lost.count),
                    N(launches), N(p->lost_in_a_row));
    if (p->lost_graphs.count)
        add_finding(d, GRAPHS_WITHOUT_KERNELS, s, p->lost_graphs.count, p->lost_graphs.event,
                    "%llu of %llu launches of graphs", N(p->lost_graphs.count),
                    N(p->calls[ROCL_CALL_GRAPH]));
}

static void check_calls(doctor *d, const subject *s, const rocl_process_facts *p)
{
    const uint64_t kernels = p->kinds[ROCL_DISPATCH].count;
    char text[32];
    if (kernels && !p->kinds[ROCL_REGION].count) {
        add_finding(d, NO_CALLS, s, kernels, no_event, "%llu kernels, no calls", N(kernels));
        return;
    }
    if (p->unlinked.count)
        add_finding(d, KERNELS_WITHOUT_CALLS, s, p->unlinked.count, p->unlinked.event,
                    "%llu of %llu kernels", N(p->unlinked.count), N(kernels));
    if (p->unlinked_before.count)
        add_finding(d, LAUNCHED_BEFORE, s, p->unlinked_before.count, p->unlinked_before.event,
                    "%llu of %llu kernels", N(p->unlinked_before.count), N(kernels));
    if (p->early.count)
        add_finding(d, BEFORE_LAUNCH, s, p->early.count, p->early.event,
                    "%llu of %llu kernels and copies, by up to %s", N(p->early.count), N(p->linked),
                    time_text(text, p->early.amount));
    if (p->calls[ROCL_CALL_COPY] && !p->kinds[ROCL_COPY].count)
        add_finding(d, NO_COPIES, s, p->calls[ROCL_CALL_COPY], no_event,
                    "%llu calls that copy, no copies", N(p->calls[ROCL_CALL_COPY]));
    if (p->ids > HOLE_LEAST && p->hole >= HOLE_LEAST &&
        p->steps_of_one + p->ids / 100 >= p->ids - 1)
        add_finding(d, MISSING_IDS, s, p->hole, no_event,
                    "%llu in a row, of %llu calls whose ids follow each other", N(p->hole),
                    N(p->ids));
}

static void check_times(doctor *d, const subject *s, const rocl_process_facts *p)
{
    const rocl_extent gpu = gpu_extent(p);
    const int64_t apart = time_between(&p->runtime, &gpu);
    const int64_t end = s->process->end ? s->process->end : s->process->fini;
    const uint64_t kernels = p->kinds[ROCL_DISPATCH].count;
    char text[32];
    if (apart > APART_NS)
        add_finding(d, CLOCKS_APART, s, gpu.count, no_event,
                    "%s between the calls of the runtime and all GPU work", time_text(text, apart));
    else if (end > 0 && gpu.count && gpu.last - end > LATE_NS)
        add_finding(d, AFTER_END, s, gpu.count, no_event, "the last by %s",
                    time_text(text, gpu.last - end));
    if (p->zero.count)
        add_finding(d, p->finer_than_us ? NO_DURATIONS : WHOLE_US, s, p->zero.count, p->zero.event,
                    "%llu of %llu kernels", N(p->zero.count), N(kernels));
    if (p->longest.amount > HOUR_NS)
        add_finding(d, LONG_KERNELS, s, (uint64_t)p->longest.amount, p->longest.event,
                    "the longest: %s", time_text(text, p->longest.amount));
}

/* A power of two, or whole hundred thousands. */
static bool is_round(uint64_t n)
{
    return n >= ROUND_LEAST && ((n & (n - 1)) == 0 || n % 100000 == 0);
}

static void check_numbers(doctor *d, const subject *s, const rocl_process_facts *p)
{
    const rocl_extent all = extent_of_all(p);
    for (rocl_kind k = 0; k < ROCL_KINDS; k++) {
        const rocl_extent *e = &p->kinds[k];
        const int64_t after = all.last - e->last;
        char text[32];
        if (is_round(e->count) && after > LATE_NS && after > (all.last - all.first) / 100)
            add_finding(d, ROUND_NUMBER, s, e->count, no_event,
                        "exactly %llu of kind %s, and %s of other events behind them", N(e->count),
                        rocl_kind_name(k), time_text(text, after));
    }
}

static void check_counters(doctor *d)
{
    const rocl_trace *t = d->c.trace;
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        const subject s = {c, c->process_count ? &c->processes[0] : NULL};
        uint64_t values = 0;
        uint32_t seen = 0, zero = 0, first = ROCL_NONE;
        for (uint32_t k = 0; k < c->process_count; k++)
            values += d->facts.processes[d->facts.first_process[i] + k].kinds[ROCL_COUNTER].count;
        for (uint32_t k = 0; k < c->counter_count; k++) {
            const unsigned state = d->facts.counter_state[d->facts.first_counter[i] + k];
            seen += state != 0;
            if (state != ROCL_COUNTER_SEEN)
                continue;
            first = zero++ ? first : k;
        }
        if (!zero || values < FEW)
            continue;
        add_finding(d, zero == seen ? COUNTERS_ZERO : COUNTER_ZERO, &s, zero, no_event,
                    "%u of %u counters, the first: %.100s", zero, seen,
                    rocl_str(t, c->counters[first].name));
    }
}

/* ---- rules on ranks -------------------------------------------------------------------------- */

/* The processes of one rank. */
typedef struct rank_facts {
    int32_t number;
    subject subject; /* of its first process */
    uint64_t kernels, calls, copies, markers, gpus, streams;
    int64_t length;
} rank_facts;

static int compare_ranks(const void *a, const void *b)
{
    return rocl_number_order(((const rank_facts *)a)->number, ((const rank_facts *)b)->number);
}

static uint64_t count_used(const atomic_bool *used, uint32_t count)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += used[i];
    return n;
}

/* NULL: memory is out. */
static rank_facts *collect_ranks(const doctor *d, size_t *count)
{
    const rocl_trace *t = d->c.trace;
    const rocl_facts *f = &d->facts;
    rank_facts *all = calloc(f->process_count + 1, sizeof *all);
    size_t n = 0, kept = 0;
    for (size_t i = 0; all && i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->process_count; k++) {
            const rocl_process_facts *p = &f->processes[f->first_process[i] + k];
            const rocl_extent whole = extent_of_all(p);
            if (c->processes[k].rank < 0)
                continue;
            uint64_t gpus = 0;
            for (uint32_t a = 0; k == 0 && a < c->agent_count; a++)
                gpus += c->agents[a].type == ROCL_AGENT_GPU && f->agent_used[f->first_agent[i] + a];
            all[n++] = (rank_facts){
                .number = c->processes[k].rank,
                .subject = {c, &c->processes[k]},
                .kernels = p->kinds[ROCL_DISPATCH].count,
                .calls = p->runtime.count,
                .copies = p->kinds[ROCL_COPY].count,
                .markers = p->kinds[ROCL_MARKER].count,
                .gpus = gpus,
                .streams = k ? 0 : count_used(f->stream_used + f->first_stream[i], c->stream_count),
                .length = whole.last - whole.first};
        }
    }
    if (n)
        qsort(all, n, sizeof *all, compare_ranks);
    for (size_t i = 0; i < n; i++) {
        rank_facts *to = kept ? &all[kept - 1] : NULL;
        if (!to || to->number != all[i].number) {
            all[kept++] = all[i];
            continue;
        }
        to->kernels += all[i].kernels;
        to->calls += all[i].calls;
        to->copies += all[i].copies;
        to->markers += all[i].markers;
        to->gpus += all[i].gpus;
        to->streams += all[i].streams;
        to->length = all[i].length > to->length ? all[i].length : to->length;
    }
    *count = kept;
    return all;
}

static int compare_numbers(const void *a, const void *b)
{
    return rocl_number_order(*(const int64_t *)a, *(const int64_t *)b);
}

/* The upper median of a field of all ranks. */
static int64_t median_of(const rank_facts *all, size_t n, size_t field, int64_t *scratch)
{
    for (size_t i = 0; i < n; i++)
        memcpy(&scratch[i], (const char *)&all[i] + field, sizeof *scratch);
    qsort(scratch, n, sizeof *scratch, compare_numbers);
    return scratch[n / 2];
}

/* What all should have, and how much of it. */
static const struct {
    const char *name;
    size_t field;
    bool amount; /* half of it is little; else only nothing is */
} rank_fields[] = {
    {"kernels", offsetof(rank_facts, kernels), true},
    {"calls of the runtime", offsetof(rank_facts, calls), false},
    {"copies", offsetof(rank_facts, copies), false},
    {"markers", offsetof(rank_facts, markers), false},
};

static void compare_rank(doctor *d, const rank_facts *all, size_t n, int64_t *scratch)
{
    char text[2][32];
    for (size_t k = 0; k < sizeof rank_fields / sizeof *rank_fields; k++) {
        const int64_t median = median_of(all, n, rank_fields[k].field, scratch);
        for (size_t i = 0; i < n && median; i++) {
            int64_t own;
            memcpy(&own, (const char *)&all[i] + rank_fields[k].field, sizeof own);
            if (!own)
                add_finding(d, RANK_LACKS, &all[i].subject, (uint64_t)median, no_event,
                            "no %s; others have %lld", rank_fields[k].name, (long long)median);
            else if (rank_fields[k].amount && own < median / 2)
                add_finding(d, RANK_SHORT, &all[i].subject, (uint64_t)(median - own), no_event,
                            "%lld %s; others have %lld", (long long)own, rank_fields[k].name,
                            (long long)median);
        }
    }
    const int64_t length = median_of(all, n, offsetof(rank_facts, length), scratch);
    const int64_t gpus = median_of(all, n, offsetof(rank_facts, gpus), scratch);
    const int64_t streams = median_of(all, n, offsetof(rank_facts, streams), scratch);
    for (size_t i = 0; i < n; i++) {
        const rank_facts *r = &all[i];
        if (r->length < length / 2)
            add_finding(d, RANK_SHORT, &r->subject, (uint64_t)(length - r->length), no_event,
                        "its events take %s, those of others %s", time_text(text[0], r->length),
                        time_text(text[1], length));
        if (r->gpus && (int64_t)r->gpus != gpus)
            add_finding(d, RANK_GPUS, &r->subject, 1, no_event, "%llu; others have %lld",
                        N(r->gpus), (long long)gpus);
        if (r->streams && (int64_t)r->streams != streams)
            add_finding(d, RANK_STREAMS, &r->subject, 1, no_event, "%llu; others have %lld",
                        N(r->streams), (long long)streams);
    }
}

static void check_ranks(doctor *d)
{
    size_t n = 0;
    rank_facts *all = collect_ranks(d, &n);
    int64_t *scratch = calloc(n + 1, sizeof *scratch);
    d->out->incomplete |= !all || !scratch;
    if (all && scratch && n > 1) {
        const uint64_t missing = (uint64_t)all[n - 1].number + 1 - n;
        int32_t first = 0;
        while ((size_t)first < n && all[first].number == first)
            first++;
        if (missing)
            add_finding(d, RANKS_MISSING, &(subject){0}, missing, no_event,
                        "%llu of at least %d, the first: rank %d", N(missing),
                        all[n - 1].number + 1, first);
        compare_rank(d, all, n, scratch);
    }
    free(all);
    free(scratch);
}

/* ---- steps of ranks -------------------------------------------------------------------------- */

/* The steps of a process that are called the same but for their number. */
typedef struct step_range {
    const char *stem; /* in the text of a marker */
    size_t stem_len;
    size_t process;
    uint64_t first, last;
} step_range;

static int compare_stems(const step_range *x, const step_range *y)
{
    return rocl_compare_bytes(x->stem, x->stem_len, y->stem, y->stem_len);
}

static int compare_steps(const void *a, const void *b)
{
    const step_range *x = a, *y = b;
    const int c = compare_stems(x, y);
    return c ? c : rocl_number_order((int64_t)x->process, (int64_t)y->process);
}

static int compare_ranges(const void *a, const void *b)
{
    const step_range *x = a, *y = b;
    int c = rocl_number_order((int64_t)x->first, (int64_t)y->first);
    if (!c)
        c = rocl_number_order((int64_t)x->last, (int64_t)y->last);
    return c ? c : compare_steps(a, b);
}

static bool same_range(const step_range *a, const step_range *b)
{
    return a->first == b->first && a->last == b->last;
}

static subject subject_of(const doctor *d, size_t process)
{
    size_t i = 0;
    while (process >= d->facts.first_process[i + 1])
        i++;
    const rocl_capture *c = &d->c.trace->captures[i]->pub;
    return (subject){c, &c->processes[process - d->facts.first_process[i]]};
}

/* Of steps with one name, the ranges that are not those which most ranks have. */
static void compare_step_ranges(doctor *d, step_range *r, size_t n)
{
    const step_range *common = r;
    size_t most = 0, run = 0;
    qsort(r, n, sizeof *r, compare_ranges);
    for (size_t i = 0; i < n; i++) {
        run = i && same_range(&r[i], &r[i - 1]) ? run + 1 : 1;
        common = run > most ? &r[i] : common;
        most = run > most ? run : most;
    }
    for (size_t i = 0; i < n; i++) {
        const subject s = subject_of(d, r[i].process);
        if (!same_range(&r[i], common))
            add_finding(d, RANK_STEPS, &s, 1, no_event,
                        "%.*s%llu to %llu; others have %llu to %llu",
                        (int)(r[i].stem_len < 80 ? r[i].stem_len : 80), r[i].stem, N(r[i].first),
                        N(r[i].last), N(common->first), N(common->last));
    }
}

static void check_steps(doctor *d)
{
    const size_t keys = rocl_strings_count(d->step_keys);
    step_range *all = calloc(keys + 1, sizeof *all);
    size_t n = 0, kept = 0;
    d->out->incomplete |= !all;
    for (uint32_t i = 1; all && i < keys; i++) {
        const step_key *key = (const void *)rocl_strings_get(d->step_keys, i, NULL);
        const subject s = subject_of(d, key->process);
        step_range r = {.process = key->process};
        size_t len;
        r.stem = rocl_strings_get(d->c.trace->strings, key->name, &len);
        if (s.process->rank >= 0 && rocl_read_step(r.stem, len, &r.stem_len, &r.first)) {
            r.last = r.first;
            all[n++] = r;
        }
    }
    if (n)
        qsort(all, n, sizeof *all, compare_steps);
    for (size_t i = 0; i < n; i++) {
        step_range *to = kept ? &all[kept - 1] : NULL;
        if (!to || compare_steps(to, &all[i])) {
            all[kept++] = all[i];
            continue;
        }
        to->first = all[i].first < to->first ? all[i].first : to->first;
        to->last = all[i].last > to->last ? all[i].last : to->last;
    }
    for (size_t i = 0, end; i < kept; i = end) {
        for (end = i + 1; end < kept && !compare_stems(&all[i], &all[end]);)
            end++;
        compare_step_ranges(d, all + i, end - i);
    }
    free(all);
}

/* ---- rules on processes that are there twice ------------------------------------------------- */

typedef struct process_ref {
    size_t process; /* of all */
    uint32_t machine;
    int64_t pid;
} process_ref;

static int compare_processes(const void *a, const void *b)
{
    const process_ref *x = a, *y = b;
    int c = rocl_number_order(x->machine, y->machine);
    if (!c)
        c = rocl_number_order(x->pid, y->pid);
    return c ? c : rocl_number_order((int64_t)x->process, (int64_t)y->process);
}

/* Two captures that say they are of one process. */
static void compare_recordings(doctor *d, size_t first, size_t second)
{
    const rocl_process_facts *a = &d->facts.processes[first], *b = &d->facts.processes[second];
    const subject s = subject_of(d, second), of_first = subject_of(d, first);
    const rocl_extent x = extent_of_all(a), y = extent_of_all(b);
    if (!x.count || !y.count || s.process->rank != of_first.process->rank)
        return;
    if (!memcmp(a->kinds, b->kinds, sizeof a->kinds))
        add_finding(d, PROCESS_TWICE, &s, y.count, no_event, "%llu events, as %.200s has them",
                    N(y.count), file_name(of_first.capture));
    else if (x.first < y.last && y.first < x.last)
        add_finding(d, TWO_RECORDINGS, &s, y.count, no_event,
                    "%llu events, while %.200s has %llu others", N(y.count),
                    file_name(of_first.capture), N(x.count));
}

static void check_recordings(doctor *d)
{
    const rocl_trace *t = d->c.trace;
    process_ref *all = calloc(d->facts.process_count + 1, sizeof *all);
    size_t n = 0;
    d->out->incomplete |= !all;
    for (size_t i = 0; all && i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->process_count; k++)
            if (c->processes[k].pid > 0)
                all[n++] =
                    (process_ref){d->facts.first_process[i] + k, c->machine, c->processes[k].pid};
    }
    if (n)
        qsort(all, n, sizeof *all, compare_processes);
    for (size_t i = 1; i < n; i++)
        if (all[i].machine == all[i - 1].machine && all[i].pid == all[i - 1].pid)
            compare_recordings(d, all[i - 1].process, all[i].process);
    free(all);
}

/* ---- tables ---------------------------------------------------------------------------------- */

typedef struct verdict_row {
    const char *verdict;
    uint64_t levels[LEVELS], processes, events;
} verdict_row;

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(verdict_row, field)

static const rocl_column verdict_columns[] = {
    {"verdict", "Verdict", ROCL_UNIT_TEXT, CELL(verdict)},
    {"unusable", "Unusable", ROCL_UNIT_COUNT, CELL(levels[UNUSABLE])},
    {"doubts", "Doubts", ROCL_UNIT_COUNT, CELL(levels[DOUBT])},
    {"notes", "Notes", ROCL_UNIT_COUNT, CELL(levels[NOTE])},
    {"processes", "Processes", ROCL_UNIT_COUNT, CELL(processes)},
    {"events", "Events", ROCL_UNIT_COUNT, CELL(events)},
};

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(finding, field)

static const rocl_column finding_columns[] = {
    {"level", "Level", ROCL_UNIT_TEXT, CELL(level)},
    {"finding", "Finding", ROCL_UNIT_SENTENCE, CELL(finding)},
    {"evidence", "Evidence", ROCL_UNIT_SENTENCE, CELL(evidence)},
    {"where", "Where", ROCL_UNIT_TEXT, CELL(where)},
    {"places", "Processes", ROCL_UNIT_COUNT, CELL(places)},
    {"event", "Event", ROCL_UNIT_TEXT, ROCL_IF_IDS, ROCL_CELL(finding, event)},
    {"cause", "Likely cause", ROCL_UNIT_SENTENCE, CELL(cause)},
    {"record", "What helps", ROCL_UNIT_SENTENCE, CELL(record)},
    {"rule", "Rule", ROCL_UNIT_TEXT, CELL(key)},
};

static const rocl_table_def verdict_table = {
    &rocl_doctor_report.tab, "doctor", "Can the trace be trusted?", ROCL_COLUMNS(verdict_columns)};
static const rocl_table_def finding_table = {&rocl_doctor_report.tab, "findings", "Findings",
                                             ROCL_COLUMNS(finding_columns)};

const rocl_report_def rocl_doctor_report = {
    "doctor",
    {"doctor", "Doctor"},
    "whether the trace can be trusted: what is missing in it, does not fit together, or was lost",
    (const rocl_table_def *const[]){&verdict_table, &finding_table, NULL}};

static rocl_status finish_doctor(void *self, rocl_tables *out, rocl_error *err)
{
    doctor *d = self;
    const rocl_trace *t = d->c.trace;
    const rocl_facts *f = &d->facts;
    d->out = out;
    rocl_report_rows verdict = rocl_begin_table(&d->c, out, &verdict_table, 0);
    if (t->filter) {
        rocl_set_note(&verdict, "not checked, as filters hide a part of it");
        return ROCL_OK;
    }
    rocl_status st = rocl_facts_match(&d->facts, err);
    if (st != ROCL_OK)
        return st;
    verdict_row row = {.processes = f->process_count};
    uint64_t launches = 0, kernels = 0;
    for (size_t i = 0; i < f->process_count; i++) {
        const rocl_process_facts *p = &f->processes[i];
        const subject s = subject_of(d, i);
        check_launches(d, &s, p);
        check_calls(d, &s, p);
        check_times(d, &s, p);
        check_numbers(d, &s, p);
        launches += p->calls[ROCL_CALL_LAUNCH] + p->calls[ROCL_CALL_GRAPH];
        kernels += p->kinds[ROCL_DISPATCH].count;
    }
    check_records(d);
    check_hosts(d);
    check_counters(d);
    check_ranks(d);
    check_steps(d);
    check_recordings(d);
    if (launches && !kernels) {
        d->found[PROCESS_WITHOUT_KERNELS].events = 0;
        add_finding(d, NO_GPU_WORK, &(subject){0}, launches, no_event, "%llu launches, no kernels",
                    N(launches));
    }
    level worst = NOTE;
    for (unsigned i = 0; i < RULES; i++)
        if (d->found[i].events) {
            row.levels[rules[i].level]++;
            worst = rules[i].level > worst ? rules[i].level : worst;
        }
    row.verdict = verdicts[worst];
    for (rocl_kind k = 0; k < ROCL_KINDS; k++)
        row.events += rocl_trace_events(t, k);
    if (verdict.table)
        verdict.table->fields = verdict.table->essential = true;
    rocl_add_row(&verdict, &row);
    const rocl_report_rows r = rocl_begin_table(&d->c, out, &finding_table, 0);
    for (unsigned i = 0; i < RULES; i++)
        if (d->found[i].events)
            rocl_add_row(&r, &d->found[i]);
    if (r.table)
        r.table->fields = true;
    return ROCL_OK;
}

rocl_trust rocl_tables_trust(const rocl_tables *tables)
{
    const rocl_table *t = rocl_tables_find(tables, "doctor");
    for (size_t i = 0; t && t->row_count && i < LEVELS; i++)
        if (!strcmp(rocl_datum_str(rocl_table_find_cell(t, 0, "verdict")), verdicts[i]))
            return (rocl_trust)i;
    return ROCL_TRUST_SOUND;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_doctor(void *self, rocl_error *err)
{
    doctor *d = self;
    d->step_keys = rocl_strings_new();
    d->steps = rocl_cache_line_calloc(d->c.trace->opt.jobs, sizeof *d->steps);
    rocl_status st = rocl_facts_open(&d->facts, &d->c, err);
    return d->step_keys && d->steps ? st : rocl_fail_memory(err);
}

static rocl_status add_doctor_batch(void *self, unsigned worker, const rocl_batch *b,
                                    rocl_error *err)
{
    doctor *d = self;
    if (d->c.trace->filter)
        return ROCL_OK;
    rocl_status st = rocl_facts_add_batch(&d->facts, worker, b, err);
    return st == ROCL_OK && b->kind == ROCL_MARKER ? note_steps(d, worker, b, err) : st;
}

static void close_doctor(void *self)
{
    doctor *d = self;
    for (unsigned w = 0; d->steps && w < d->c.trace->opt.jobs; w++)
        free(d->steps[w].known);
    free(d->steps);
    rocl_strings_free(d->step_keys);
    rocl_facts_free(&d->facts);
}

const rocl_collector_def rocl_doctor_collector = {
    .reports = 1u << ROCL_REPORT_DOCTOR,
    .kinds = ROCL_ALL_KINDS,
    .size = sizeof(doctor),
    .slow = true,
    .open = open_doctor,
    .add_batch = add_doctor_batch,
    .finish = finish_doctor,
    .close = close_doctor,
};
