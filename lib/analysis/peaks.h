/* What a GPU can do at most: shipped for those that are known, or from a file. */
#pragma once

#include "analysis/op_work.h"
#include "base/status.h"

typedef struct rocl_peak {
    char *name;
    double bandwidth;                /* bytes per second; 0: not known, as below */
    double flops[ROCL_NUMBER_TYPES]; /* per second */
} rocl_peak;

/* The peak of this name, in small or capital letters: from the file at `path` (NULL: none), else
 * one of those that are shipped. A file has lines NAME KEY=VALUE ..., with the keys bandwidth and
 * those of rocl_number_type_names, and k, M, G, T or P behind a value. ROCL_USAGE lists what there
 * is where the name is not. */
rocl_status rocl_peak_find(rocl_peak *p, const char *name, const char *path, rocl_error *err);
void rocl_peak_free(rocl_peak *p);
