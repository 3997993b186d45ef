/* The report `doctor`: its rules, and how their findings get into its table. findings.c has their
 * words, doctor.c the rules on the whole trace and on one process, doctor_ranks.c those on several
 * processes. */
#ifndef ROCL_ANALYSIS_DOCTOR_H
#define ROCL_ANALYSIS_DOCTOR_H

#include "analysis/facts.h"

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
    ROCL_RULE_ROUND_NUMBER,
    ROCL_RULE_MISSING_IDS,
    ROCL_RULE_COUNTERS_ZERO,
    ROCL_RULE_NO_DURATIONS,
    ROCL_RULE_LONG_KERNELS,
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
    ROCL_RULE_COUNTER_ZERO,
    ROCL_RULE_WHOLE_US,
    ROCL_RULE_RANK_STREAMS,
    ROCL_RULE_OVERWRITTEN,
    ROCL_RULES
} rocl_rule;

/* What a rank of a team puts. */
enum { ROCL_DOCTOR_FACTS, ROCL_DOCTOR_STEP };

/* A process, or a rank, that a rule is about. */
typedef struct rocl_subject {
    const rocl_capture *capture; /* NULL: the whole trace */
    const rocl_process *process; /* NULL: all of the capture */
} rocl_subject;

/* A row of the table: of a rule the process with most of it, and how many others there are. */
typedef struct rocl_finding {
    rocl_rule rule;
    const char *level, *key, *finding, *cause, *record;
    const char *where; /* owned by the tables, as evidence */
    const char *evidence;
    uint64_t events, places;
    rocl_event_ref event;
} rocl_finding;

typedef struct rocl_step_worker {
    alignas(ROCL_CACHE_LINE)
        uint8_t *known; /* by text: whether it is the name of a step; 0: not looked at */
    size_t known_cap;
} rocl_step_worker;

typedef struct rocl_doctor {
    rocl_collector c;
    rocl_facts facts;
    rocl_strings *step_keys; /* step_key */
    rocl_step_worker *steps; /* by worker */
    rocl_tables *out;
    rocl_finding found[ROCL_RULES]; /* events 0: nothing */
} rocl_doctor;

/* Adds what a rule has found; events: how many are concerned, at least 1, which decides whose
 * evidence is displayed. The rest of the arguments is the evidence. */
void rocl_doctor_find(rocl_doctor *d, rocl_rule r, const rocl_subject *s, uint64_t events,
                      rocl_event_ref event, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

#define ROCL_NO_EVENT ((rocl_event_ref){0})
#define ROCL_N(count) (unsigned long long)(count)

/* A process by its number among all of the trace. */
rocl_subject rocl_subject_of(const rocl_doctor *d, size_t process);
/* Without its folder: the same wherever the file is. */
const char *rocl_capture_file(const rocl_capture *c);
/* "1.25 s", in a unit that makes it short. */
const char *rocl_time_text(char text[32], int64_t ns);

rocl_finding_level rocl_rule_level(rocl_rule r);

/* doctor_ranks.c: */
/* Notes markers that count steps. Concurrent. */
rocl_status rocl_note_steps(rocl_doctor *d, unsigned worker, const rocl_batch *b, rocl_error *err);
/* Of a team: the steps that a rank has noted; and one on rank 0. */
rocl_status rocl_put_steps(rocl_doctor *d, rocl_put *to, rocl_error *err);
rocl_status rocl_take_step(rocl_doctor *d, rocl_taken *from, rocl_error *err);
void rocl_check_ranks(rocl_doctor *d);
void rocl_check_steps(rocl_doctor *d);
void rocl_check_recordings(rocl_doctor *d);

#endif
