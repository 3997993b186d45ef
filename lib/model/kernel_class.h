/* What a kernel computes, as far as its name tells. Reports and pictures give each class a colour,
 * the same everywhere. */
#ifndef ROCL_MODEL_KERNEL_CLASS_H
#define ROCL_MODEL_KERNEL_CLASS_H

#include <stddef.h>

typedef enum rocl_kernel_class {
    ROCL_CLASS_GEMM,
    ROCL_CLASS_ATTENTION,
    ROCL_CLASS_CONVOLUTION,
    ROCL_CLASS_NORMALISATION,
    ROCL_CLASS_ELEMENTWISE,
    ROCL_CLASS_REDUCTION,
    ROCL_CLASS_COMMUNICATION,
    ROCL_CLASS_COPY,
    ROCL_CLASS_TRITON, /* made by a compiler of fused operators, which says no more */
    ROCL_CLASS_OTHER,
    ROCL_CLASSES
} rocl_kernel_class;

/* A part of a name, in small letters; ^ at its begin: the name begins so. */
typedef struct rocl_class_rule {
    rocl_kernel_class class;
    const char *part;
} rocl_class_rule;

/* By the first rule that holds: a kernel of attention may also be called a GEMM. */
rocl_kernel_class rocl_classify_kernel(const char *name, size_t n);
/* "GEMM", "attention". */
const char *rocl_kernel_class_name(rocl_kernel_class c);

#endif
