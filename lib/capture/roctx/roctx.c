/* ROCTx, as libroctx64 and librocprofiler-sdk-roctx have it: the same functions, results and symbol
 * version, each call recorded. */
#include <stdint.h>
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

/* Names of agents, devices and streams are what a front end for HSA or HIP can use. */
int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent)
{
    (void)name, (void)agent;
    return 0;
}

int roctxNameHipDevice(const char *name, int device)
{
    (void)name, (void)device;
    return 0;
}

int roctxNameHipStream(const char *name, const struct ihipStream_t *stream)
{
    (void)name, (void)stream;
    return 0;
}

/* Other tools listen to ROCTx through this one. They hear nothing while rocline is in its place. */
void roctxRegisterTracerCallback(int (*function)(uint32_t, uint32_t, void *))
{
    (void)function;
}
