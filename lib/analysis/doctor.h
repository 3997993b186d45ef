/* The report `doctor`: its rules, and how their findings get into its table. doctor_rules.c has
 * their words, doctor.c the rules on the whole trace and on one process, doctor_ranks.c those on
 * several processes. */
#pragma once

#include "analysis/facts.h"
#include "model/identity.h"

typedef enum rocl_finding_level {
    ROCL_NOTE,
    ROCL_DOUBT,
    ROCL_UNUSABLE,
    ROCL_LEVELS
} rocl_finding_level;

/* Unique; the order is that of the table, the worst first. */
typedef enum rocl_rule {
    ROCL_RULE_EMPTY,
    ROCL_RULE_MOSTLY_LEFT_OUT,
    ROCL_RULE_NO_GPU_WORK,
    ROCL_RULE_CLOCKS_APART,
    ROCL_RULE_LEFT_OUT,
    ROCL_RULE_REPAIRED,
    ROCL_RULE_PROCESS_WITHOUT_KERNELS,
    ROCL_RULE_CUT_TAIL,
    ROCL_RULE_LAUNCHES_WITHOUT_KERNELS,
    ROCL_RULE_GRAPHS_WITHOUT_KERNELS,
    ROCL_RULE_KERNELS_WITHOUT_CALLS,
    ROCL_RULE_BEFORE_LAUNCH,
    ROCL_RULE_AFTER_END,
    ROCL_RULE_HOSTS_APART,
    ROCL_RULE_SEVERAL_RUNS,
    ROCL_RULE_ROUND_NUMBER,
    ROCL_RULE_MISSING_IDS,
    ROCL_RULE_COUNTERS_ZERO,
    ROCL_RULE_IMPOSSIBLE_TIMES,
    ROCL_RULE_NO_DURATIONS,
    ROCL_RULE_LONG_KERNELS,
    ROCL_RULE_OUTLASTS,
    ROCL_RULE_ONE_LONG_CALL,
    ROCL_RULE_NEVER_CLOSED,
    ROCL_RULE_RANGES_AS_POINTS,
    ROCL_RULE_IMPOSSIBLE_SIZES,
    ROCL_RULE_IMPOSSIBLE_RATES,
    ROCL_RULE_COPY_DIRECTIONS,
    ROCL_RULE_RANKS_MISSING,
    ROCL_RULE_RANK_LACKS,
    ROCL_RULE_RANK_SHORT,
    ROCL_RULE_RANK_GPUS,
    ROCL_RULE_RANK_STEPS,
    ROCL_RULE_PROCESS_TWICE,
    ROCL_RULE_TWO_RECORDINGS,
    ROCL_RULE_CAPTURED_LAUNCHES,
    ROCL_RULE_LAUNCHED_BEFORE,
    ROCL_RULE_NO_LINKS,
    ROCL_RULE_NO_CALLS,
    ROCL_RULE_NO_COPIES,
    ROCL_RULE_COPIES_WITHOUT_SIZE,
    ROCL_RULE_MEMORY_BEFORE,
    ROCL_RULE_ONE_LONG_LAUNCH,
    ROCL_RULE_COUNTER_ZERO,
    ROCL_RULE_WHOLE_US,
    ROCL_RULE_RANK_STREAMS,
    ROCL_RULE_OVERWRITTEN,
    ROCL_RULES
} rocl_rule;

/* What a rule is about: a process, a rank by its first process, or a host. */
typedef struct rocl_subject {
    const rocl_capture *capture; /* NULL: the whole trace */
    const rocl_process *process; /* NULL: the host of the capture */
} rocl_subject;

/* A row of the table: of a rule the subject with most of it, and how many there are. */
typedef struct rocl_finding {
    rocl_rule rule;
    const char *level, *key, *finding, *cause, *record;
    const char *where; /* owned by the tables, as evidence */
    const char *evidence;
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

/* Adds what a rule has found; events: how many are concerned, at least 1, which decides whose
 * evidence is displayed. A rule may find several things of one subject. The rest of the arguments
 * is the evidence. */
void rocl_doctor_find(rocl_doctor *d, rocl_rule r, const rocl_subject *s, uint64_t events,
                      rocl_event_ref event, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

#define ROCL_NO_EVENT ((rocl_event_ref){0})
/* "1 kernel", "2 kernels": "%llu kernel%s". */
#define ROCL_PLURAL(count, ending) ROCL_N(count), (count) == 1 ? "" : (ending)

/* A process by its number among all of the trace. */
rocl_subject rocl_subject_of(const rocl_doctor *d, size_t process);
/* Without its folder: the same wherever the file is. */
const char *rocl_capture_file(const rocl_capture *c);
/* "1.25 s", in a unit that makes it short. */
const char *rocl_time_text(char text[32], int64_t ns);

rocl_finding_level rocl_rule_level(rocl_rule r);

/* doctor_ranks.c: */
/* Notes what ranks are compared by. Concurrent. */
rocl_status rocl_note_batch(rocl_doctor *d, unsigned worker, const rocl_batch *b, rocl_error *err);
void rocl_check_ranks(rocl_doctor *d);
void rocl_check_steps(rocl_doctor *d);
void rocl_check_recordings(rocl_doctor *d);
