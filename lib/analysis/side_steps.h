/* What a comparison knows of the steps of one side, and of the kernels of one of them in their
 * order.
 *
 * Steps are those of the series with the most time, as --steps and --warmup have them. The step
 * whose kernels are kept is the one of the median wall time of those with kernels: of an even
 * number the shorter one of both in the middle, of equal ones the first. B has no choice: its steps
 * are those of the same series, and its step is one of the process that is A's. A side without
 * steps has all of its kernels, if they are not too many.
 *
 * What A keeps does not depend on B, so that a baseline can stand for A. */
#pragma once

#include "analysis/step_work.h"

enum {
    ROCL_SEQUENCE_MOST = 65536, /* kernels: of a step the first of them, of a trace without steps
                                   all or none */
    ROCL_SEQUENCE_LANES = 64    /* what runs in further ones is one lane */
};

typedef struct rocl_side_process {
    int32_t rank; /* -1: not known */
    int64_t pid;
} rocl_side_process;

typedef struct rocl_side_step {
    uint32_t process; /* index */
    uint64_t number;
    int64_t wall, busy; /* busy: any kernel or copy of it ran */
    int64_t kernel_ns;  /* sum of durations; saturates */
    uint64_t kernels;
} rocl_side_step;

/* What ran one after the other: a stream or queue of a GPU. */
typedef struct rocl_side_lane {
    uint32_t process; /* index */
    char *name;
} rocl_side_lane;

typedef struct rocl_side_kernel {
    uint32_t key;  /* for its name, see rocl_side_key() */
    uint32_t lane; /* index */
    int64_t ns;
} rocl_side_kernel;

/* Why there are no kernels to align. */
typedef enum rocl_side_lack {
    ROCL_LACKS_NOTHING,
    ROCL_LACKS_MEMBERS,         /* a baseline was written by an older rocline */
    ROCL_LACKS_STEPS_TOO_MANY,  /* more than ROCL_STEPS_MOST */
    ROCL_LACKS_KERNELS_TOO_MANY /* more than ROCL_SEQUENCE_MOST, and no steps */
} rocl_side_lack;

typedef struct rocl_side_steps {
    char *marker; /* the name of steps without the number, "ProfilerStep#"; NULL: no steps */
    size_t marker_len;
    rocl_side_process *processes;
    rocl_side_step *steps; /* by process and time; a process has at least one, if there are any */
    size_t process_count, process_cap, step_count, step_cap;
    size_t chosen;             /* the step of the kernels; SIZE_MAX: none */
    rocl_side_lane *lanes;     /* in the order of their first kernels */
    rocl_side_kernel *kernels; /* by process, start and end */
    size_t lane_count, lane_cap, kernel_count, kernel_cap;
    uint64_t left_out; /* kernels of the step beyond ROCL_SEQUENCE_MOST */
    int64_t left_ns;
    rocl_side_lack lack;
} rocl_side_steps;

void rocl_side_steps_free(rocl_side_steps *s);

/* The marker for people, in one line and cut if it is very long. size: at least 64. False: memory
 * is out. */
bool rocl_print_marker(char *to, size_t size, const rocl_side_steps *s);

/* The process of B that corresponds to one of A, or ROCL_NONE: that of the same rank, or, if no
 * rank is in both, that at the same place in the list. */
uint32_t rocl_partner_process(const rocl_side_steps *a, uint32_t process, const rocl_side_steps *b);

/* ---- reading a trace ------------------------------------------------------------------------- */

typedef struct rocl_step_reader rocl_step_reader;

/* Close it also after a failure. space: of its sorters, as long as it lives. */
rocl_status rocl_step_reader_open(rocl_step_reader **r, rocl_trace *t, rocl_sort_space *space,
                                  rocl_error *err);
void rocl_step_reader_close(rocl_step_reader *r);
/* Concurrent. Pass batches of all kinds; it picks what it needs. */
rocl_status rocl_step_reader_add_batch(rocl_step_reader *r, unsigned worker, const rocl_batch *b,
                                       rocl_error *err);
rocl_status rocl_step_reader_seal(rocl_step_reader *r, unsigned worker, rocl_error *err);
/* When all events have come; once. `to` is zeroed, and the caller's also after a failure. a: the
 * other side, if that is A; else NULL. keys: of names, see rocl_side_key(). */
rocl_status rocl_step_reader_finish(rocl_step_reader *r, rocl_side_steps *to,
                                    const rocl_side_steps *a, rocl_strings *keys, rocl_error *err);
