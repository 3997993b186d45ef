/* ROCTx, as libroctx64 and librocprofiler-sdk-roctx have it: the same functions, results and symbol
 * version, each call recorded. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/capture.h"

#define ROCTX_API __attribute__((visibility("default")))

typedef uint64_t roctx_range_id_t;
typedef uint64_t roctx_thread_id_t;
struct hsa_agent_s;
struct ihipStream_t;

/* No header of ROCm's is needed to build this; these are what its headers declare. */
ROCTX_API uint32_t roctx_version_major(void);
ROCTX_API uint32_t roctx_version_minor(void);
ROCTX_API void roctxMarkA(const char *message);
ROCTX_API int roctxRangePushA(const char *message);
ROCTX_API int roctxRangePop(void);
ROCTX_API roctx_range_id_t roctxRangeStartA(const char *message);
ROCTX_API void roctxRangeStop(roctx_range_id_t id);
ROCTX_API int roctxGetThreadId(roctx_thread_id_t *tid);
ROCTX_API int roctxProfilerPause(roctx_thread_id_t tid);
ROCTX_API int roctxProfilerResume(roctx_thread_id_t tid);
ROCTX_API int roctxNameOsThread(const char *name);
ROCTX_API int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent);
ROCTX_API int roctxNameHipDevice(const char *name, int device);
ROCTX_API int roctxNameHipStream(const char *name, const struct ihipStream_t *stream);
ROCTX_API void roctxRegisterTracerCallback(int (*function)(uint32_t, uint32_t, void *));

static __thread int level __attribute__((tls_model("initial-exec")));
static _Atomic uint64_t last_range;

uint32_t roctx_version_major(void)
{
    return 4;
}

uint32_t roctx_version_minor(void)
{
    return 1;
}

void roctxMarkA(const char *message)
{
    rocl_cap_mark(message);
}

int roctxRangePushA(const char *message)
{
    rocl_cap_push(message);
    return level++;
}

int roctxRangePop(void)
{
    if (!level)
        return -1;
    rocl_cap_pop();
    return --level;
}

roctx_range_id_t roctxRangeStartA(const char *message)
{
    roctx_range_id_t id = ++last_range;
    rocl_cap_start(message, id);
    return id;
}

void roctxRangeStop(roctx_range_id_t id)
{
    rocl_cap_stop(id);
}

int roctxGetThreadId(roctx_thread_id_t *tid)
{
    *tid = (roctx_thread_id_t)syscall(SYS_gettid);
    return 0;
}

int roctxProfilerPause(roctx_thread_id_t tid)
{
    rocl_cap_pause((uint32_t)tid);
    return 0;
}

int roctxProfilerResume(roctx_thread_id_t tid)
{
    rocl_cap_resume((uint32_t)tid);
    return 0;
}

int roctxNameOsThread(const char *name)
{
    rocl_cap_thread_name(name);
    return 0;
}

/* The struct is in HSA's headers: a handle. */
int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent)
{
    uint64_t handle;
    if (!agent)
        return -1;
    memcpy(&handle, agent, sizeof handle);
    rocl_cap_name(ROCL_NAMED_AGENT, handle, name);
    return 0;
}

/* Which of the GPUs a device of HIP is: the program may have been given a list of them. -1: that
 * cannot be told from here. */
static long find_gpu_of_device(long device)
{
    const char *list = getenv("HIP_VISIBLE_DEVICES");
    char *end;
    if (!list || !*list)
        list = getenv("CUDA_VISIBLE_DEVICES");
    if (!list || !*list)
        return device;
    for (long i = 0;; i++, list = end + 1) {
        long gpu = strtol(list, &end, 10);
        if (end == list || gpu < 0 || (*end && *end != ','))
            return -1;
        if (i == device)
            return gpu;
        if (!*end)
            return -1;
    }
}

int roctxNameHipDevice(const char *name, int device)
{
    long gpu = device < 0 ? -1 : find_gpu_of_device(device);
    if (gpu >= 0)
        rocl_cap_name(ROCL_NAMED_GPU, (uint64_t)gpu, name);
    return device < 0 ? -1 : 0;
}

int roctxNameHipStream(const char *name, const struct ihipStream_t *stream)
{
    rocl_cap_name_stream((uint64_t)(uintptr_t)stream, name);
    return 0;
}

/* Other tools listen to ROCTx through this one. They are not called while rocline is in its place.
 */
void roctxRegisterTracerCallback(int (*function)(uint32_t, uint32_t, void *))
{
    (void)function;
}
