/* Calls of HIP, as a program in C makes them. Without a GPU there are few that can be called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

#define MUST(call) must((call) == hipSuccess, #call)

static void must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

static void use_device(void)
{
    hipStream_t stream;
    hipEvent_t begin, end;
    char host[4096] = {0};
    float ms = -1;
    void *p;
    MUST(hipStreamCreate(&stream));
    MUST(hipEventCreate(&begin));
    MUST(hipEventCreate(&end));
    MUST(hipMalloc(&p, sizeof host));
    MUST(hipEventRecord(begin, stream));
    MUST(hipMemcpyAsync(p, host, sizeof host, hipMemcpyHostToDevice, stream));
    MUST(hipMemsetAsync(p, 1, sizeof host, stream));
    MUST(hipEventRecord(end, stream));
    MUST(hipStreamSynchronize(stream));
    MUST(hipEventElapsedTime(&ms, begin, end));
    must(ms >= 0, "time between events");
    MUST(hipMemcpy(host, p, sizeof host, hipMemcpyDeviceToHost));
    MUST(hipFree(p));
    MUST(hipEventDestroy(begin));
    MUST(hipEventDestroy(end));
    MUST(hipStreamDestroy(stream));
    MUST(hipDeviceSynchronize());
}

int main(void)
{
    int n = 0, version = 0;
    MUST(hipInit(0));
    hipError_t error = hipGetDeviceCount(&n);
    must(n ? error == hipSuccess : error == hipErrorNoDevice, "number of devices");
    MUST(hipRuntimeGetVersion(&version));
    must(!strcmp(hipGetErrorName(hipErrorNoDevice), "hipErrorNoDevice"), "name of an error");
    if (n)
        use_device();
    return 0;
}
