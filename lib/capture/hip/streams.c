/* Which stream work is put on. */
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/hip/hip.h"

/* Values that stand for streams, in hip_runtime_api.h of some versions. */
enum { LEGACY = 1, PER_THREAD = 2 };

/* No address has its highest bit set. */
static rocl_def *stream_of_thread(void)
{
    static __thread uint64_t handle;
    if (!handle)
        handle = (uint64_t)1 << 63 | (uint64_t)syscall(SYS_gettid);
    return rocl_cap_stream(handle);
}

rocl_def *rocl_hip_stream(hipStream_t s)
{
    uint64_t handle = (uint64_t)(uintptr_t)s;
    if (handle == PER_THREAD)
        return stream_of_thread();
    return rocl_cap_stream(handle == LEGACY ? 0 : handle);
}

rocl_def *rocl_hip_stream_ends(hipStream_t s)
{
    rocl_cap_stream_gone((uint64_t)(uintptr_t)s);
    return NULL;
}

rocl_def *rocl_hip_streams_end(void)
{
    rocl_cap_streams_gone();
    return NULL;
}

rocl_def *rocl_hip_stream_spt(hipStream_t s)
{
    return s ? rocl_hip_stream(s) : stream_of_thread();
}
