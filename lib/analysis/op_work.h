/* How much an operator of PyTorch has to compute and to move, from the shapes and types of its
 * inputs as the profiler recorded them. */
#pragma once

#include <stdbool.h>

#include "base/view.h"

/* What numbers are; each has a peak of its own. */
typedef enum rocl_number_type {
    ROCL_FP64,
    ROCL_FP32,
    ROCL_FP16,
    ROCL_BF16,
    ROCL_FP8,
    ROCL_INT8,
    ROCL_NUMBER_TYPES
} rocl_number_type;

extern const char *const rocl_number_type_names[ROCL_NUMBER_TYPES]; /* "fp64" */

typedef struct rocl_op_work {
    double flops; /* a product and a sum are two */
    double bytes; /* inputs and outputs, each once */
    rocl_number_type type;
} rocl_op_work;

/* Is anything known of operators of this name? Cheap. */
bool rocl_op_is_known(rocl_view name);

/* dims, types, concrete: the JSON of "Input Dims", "Input type" and "Concrete Inputs" of the event.
 * False: nothing is known of the operator, or the shapes do not tell. */
bool rocl_op_work_of(rocl_view name, rocl_view dims, rocl_view types, rocl_view concrete,
                     rocl_op_work *w);
