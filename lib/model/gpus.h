/* The GPUs of a trace: the processes of a machine see the same devices, each as an agent of its
 * own. */
#ifndef ROCL_MODEL_GPUS_H
#define ROCL_MODEL_GPUS_H

#include "model/trace.h"

typedef struct rocl_gpu {
    uint32_t machine;
    int64_t key; /* index by the driver, or the agent's id: the same in every process */
    uint32_t
        id; /* on its machine: from 0, in order of keys; or the keys, if all are such numbers */
    const rocl_agent *agent; /* of the first process that knows it */
} rocl_gpu;

typedef struct rocl_gpus {
    rocl_gpu *all; /* by machine, then id */
    size_t count;
} rocl_gpus;

rocl_status rocl_gpus_collect(rocl_gpus *g, const rocl_trace *t, rocl_error *err);
void rocl_gpus_free(rocl_gpus *g);

/* The GPU that an agent of a capture is; NULL for other agents and ROCL_NONE. */
const rocl_gpu *rocl_gpus_find(const rocl_gpus *g, const rocl_capture *c, uint32_t agent);

#endif
