/* HIP, interposed by LD_PRELOAD: a function for each that the headers declare and the library has.
 *
 *     calls.c    the functions
 *     real.c     those of the library, and names of kernels
 *     streams.c  which stream work is put on */
#ifndef ROCL_CAPTURE_HIP_HIP_H
#define ROCL_CAPTURE_HIP_HIP_H

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <hip/amd_detail/amd_hip_runtime_pt_api.h>

/* clang-format off */
#define ROCL_KINDS_MORE                                                                            \
    hipStream_t *: ROCL_KIND_OUT,                                                                  \
    hipEvent_t *: ROCL_KIND_OUT,                                                                   \
    hipModule_t *: ROCL_KIND_OUT,                                                                  \
    hipFunction_t *: ROCL_KIND_OUT,                                                                \
    hipGraph_t *: ROCL_KIND_OUT,                                                                   \
    hipGraphExec_t *: ROCL_KIND_OUT,                                                               \
    hipGraphNode_t *: ROCL_KIND_OUT,
/* clang-format on */
#include "capture/rtg/rtg.h"

/* What is special about a call: most of all, does it have the name of a kernel? */
typedef enum rocl_hip_trait {
    ROCL_HIP_PLAIN,
    ROCL_HIP_POINTER,  /* by what the first argument points to on the host */
    ROCL_HIP_FUNCTION, /* the first argument is a hipFunction_t */
    ROCL_HIP_ENDS_STREAMS,
} rocl_hip_trait;

typedef struct rocl_hip_call {
    rocl_call call;
    const char *symbol;
    _Atomic(void *) real;
} rocl_hip_call;

/* The function of the library; NULL: it has none. */
void *rocl_hip_find(rocl_hip_call *c);
/* Is it to be traced? Asked once, as soon as that is known. */
bool rocl_hip_decide(rocl_hip_call *c);
/* NULL: not known, or not a launch. */
const char *rocl_hip_kernel(rocl_hip_trait trait, const rocl_arg *args);

/* A stream by its handle. spt: of a call for which the handle 0 is a stream of the thread. */
rocl_def *rocl_hip_stream(hipStream_t s);
rocl_def *rocl_hip_stream_spt(hipStream_t s);
/* That one goes, or all of them do; the default stream stays. To be called before the library may
 * use the handle for another one, whether the call is traced or not. Gives back the stream of the
 * call. */
rocl_def *rocl_hip_stream_ends(hipStream_t s);
rocl_def *rocl_hip_streams_end(void);

static inline void *rocl_hip_real(rocl_hip_call *c)
{
    void *real = atomic_load_explicit(&c->real, memory_order_relaxed);
    return __builtin_expect(real != NULL, 1) ? real : rocl_hip_find(c);
}

static inline bool rocl_hip_wants(rocl_hip_call *c)
{
    int wanted = atomic_load_explicit(&c->call.wanted, memory_order_relaxed);
    return wanted > 0 || (!wanted && rocl_hip_decide(c));
}

#endif
