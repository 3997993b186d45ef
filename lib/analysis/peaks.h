/* What a GPU can do at most: shipped for those that are known, or from a file. */
#pragma once

#include "analysis/op_work.h"
#include "base/buf.h"
#include "model/trace.h"

typedef struct rocl_peak {
    char *name;                      /* NULL: none is known */
    double bandwidth;                /* bytes per second; 0: not known, as below */
    double flops[ROCL_NUMBER_TYPES]; /* per second */
} rocl_peak;

/* What a trace says of a GPU. Texts are those of the trace. */
enum { ROCL_GPU_NAMES = 4 };
typedef struct rocl_gpu_facts {
    const char *names[ROCL_GPU_NAMES]; /* the product's first; behind the last NULL */
    const char *arch;                  /* "gfx942"; "" unknown */
    double cus, memory;                /* compute units, bytes; 0 unknown */
    uint32_t id;                       /* of the product, as PCI has it; 0 unknown */
} rocl_gpu_facts;

rocl_status rocl_gpu_facts_read(rocl_gpu_facts *g, rocl_trace *t, const rocl_capture *c,
                                uint32_t agent, rocl_error *err);

/* The peak of this name, in small or capital letters, or of a gfx name that only GPUs of one peak
 * have: from the file at `path` (NULL: none), else one of those that are shipped. A file has lines
 * NAME KEY=VALUE ...; see rocstats-roofline(1). ROCL_USAGE lists what there is where the name is
 * not. */
rocl_status rocl_peak_find(rocl_peak *p, const char *name, const char *path, rocl_error *err);
/* The peak of the GPUs of a trace, or why there is none (appended to `why`). */
rocl_status rocl_peak_of_gpus(rocl_peak *p, rocl_buf *why, rocl_trace *t, const char *path,
                              rocl_error *err);
void rocl_peak_free(rocl_peak *p);
