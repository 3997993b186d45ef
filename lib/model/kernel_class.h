/* What a kernel computes, as far as its name tells. Each class has the same colour in all reports
 * and pictures. Rules are lines of text: those of a file of the user, then the shipped ones
 * (lib/model/kernel-classes). */
#pragma once

#include <stddef.h>

#include "base/status.h"

/* The classes that are shipped; those that a file adds come after them. */
enum {
    ROCL_CLASS_GEMM,
    ROCL_CLASS_ATTENTION,
    ROCL_CLASS_CONVOLUTION,
    ROCL_CLASS_NORMALISATION,
    ROCL_CLASS_ELEMENTWISE,
    ROCL_CLASS_REDUCTION,
    ROCL_CLASS_COMMUNICATION,
    ROCL_CLASS_COPY,
    ROCL_CLASS_TRITON, /* made by a compiler of fused operators; its purpose is unknown */
    ROCL_CLASS_OTHER,
    ROCL_SHIPPED_CLASSES,
    ROCL_CLASSES = 16 /* at most: each has a colour in table/html/page.css */
};

/* Rules, and the classes that they name. Does not change once it is made: any thread may use it. */
typedef struct rocl_kernel_classes rocl_kernel_classes;

/* path: a file of rules; NULL: only those that are shipped. Errors name the file and the line.
 * Free it. */
rocl_status rocl_kernel_classes_new(rocl_kernel_classes **classes, const char *path,
                                    rocl_error *err);
/* NULL is fine. */
void rocl_kernel_classes_free(rocl_kernel_classes *k);

unsigned rocl_kernel_class_count(const rocl_kernel_classes *k);
/* "GEMM", "attention". It lives as long as the classes. */
const char *rocl_kernel_class_name(const rocl_kernel_classes *k, unsigned c);
/* By the first rule that holds: a kernel of attention may also be called a GEMM. Takes some
 * microseconds: classify a name once. */
unsigned rocl_classify_kernel(const rocl_kernel_classes *k, const char *name, size_t n);
