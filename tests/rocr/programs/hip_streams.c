/* Work on several streams, which have names where ROCTx is loaded: 1 kernel on the default stream,
 * 2 on `first`, 3 on `second`, 4 on one that is made when the second is gone (and may get its
 * handle), 5 on that of the thread; each is a memset. Then one of a call that names no stream, and
 * a copy of another such. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <hsa/hsa.h>

#define MUST(call) must((call) == hipSuccess, #call)

static void must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void *memory;

static void set(hipStream_t stream, int count)
{
    for (int i = 0; i < count; i++)
        MUST(hipMemsetAsync(memory, i, 4096, stream));
    MUST(hipStreamSynchronize(stream));
}

static void name_stream(const char *name, hipStream_t stream)
{
    int (*f)(const char *, hipStream_t) =
        (int (*)(const char *, hipStream_t))dlsym(RTLD_DEFAULT, "roctxNameHipStream");
    must(!f || f(name, stream) == 0, "name of a stream");
}

static hsa_status_t name_cpu(hsa_agent_t agent, void *data)
{
    int (*f)(const char *, const hsa_agent_t *) =
        (int (*)(const char *, const hsa_agent_t *))dlsym(RTLD_DEFAULT, "roctxNameHsaAgent");
    hsa_device_type_t type;
    (void)data;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    must(type == HSA_DEVICE_TYPE_GPU || !f || f("the host", &agent) == 0, "name of an agent");
    return HSA_STATUS_SUCCESS;
}

static void name_devices(void)
{
    int (*f)(const char *, int) =
        (int (*)(const char *, int))dlsym(RTLD_DEFAULT, "roctxNameHipDevice");
    must(!f || f("train, \"er\"", 0) == 0, "name of a device");
    hsa_init();
    hsa_iterate_agents(name_cpu, NULL);
    hsa_shut_down();
}

int main(void)
{
    hipStream_t first, second, third;
    char host[4096];
    MUST(hipInit(0));
    name_devices();
    MUST(hipMalloc(&memory, sizeof host));
    MUST(hipStreamCreate(&first));
    MUST(hipStreamCreate(&second));
    name_stream("compute \"1\"", first);
    set(NULL, 1);
    set(first, 1);
    must(hipStreamDestroy(NULL) != hipSuccess, "the default stream stays");
    set(first, 1);
    set(second, 3);
    name_stream("late", second);
    MUST(hipStreamDestroy(second));
    MUST(hipStreamCreate(&third));
    set(third, 4);
    set((hipStream_t)2, 5);
    MUST(hipMemset(memory, 0, sizeof host));
    MUST(hipMemcpy(host, memory, sizeof host, hipMemcpyDeviceToHost));
    MUST(hipFree(memory));
    return 0;
}
