/* How the clocks of several machines are put in line: what --align asks for, from the events of a
 * trace or from a file of offsets. */
#pragma once

#include "model/trace.h"

typedef struct rocl_aligner rocl_aligner;

/* Checks what the trace's options say. ROCL_USAGE errors name the option. */
rocl_status rocl_aligner_new(rocl_aligner **a, rocl_trace *t, rocl_error *err);
void rocl_aligner_free(rocl_aligner *a);

/* The kinds of events it must see, every one of the trace; 0: none. */
uint32_t rocl_aligner_kinds(const rocl_aligner *a);
/* The `events` of a sink whose `self` is the aligner. Concurrent. */
rocl_status rocl_aligner_see(void *aligner, unsigned worker, rocl_batch *b, rocl_error *err);

/* At the end: ns to add to the times of each machine. The first keeps its clock, except with
 * offsets from a file, which also sets rocl_model_capture.clocks. ROCL_USAGE for a machine without
 * the marker, ROCL_INPUT for a file that lacks one. */
rocl_status rocl_aligner_offsets(rocl_aligner *a, int64_t *offsets, rocl_error *err);
