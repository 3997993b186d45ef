/* A kernel that HIP compiles while the program runs, launched COUNT times (default 3) as a function
 * of a module, once by the call of AMD's that C++ knows, and once by a pointer of the host, as
 * programs that hipcc makes do. Exits with 77 where it cannot be compiled. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#define MUST(call) must((call) == hipSuccess, #call)

static void must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "failed: %s\n", what);
    exit(1);
}

/* As C++ calls it. */
hipError_t launch_ext(hipFunction_t f, uint32_t x, uint32_t y, uint32_t z, uint32_t wx, uint32_t wy,
                      uint32_t wz, size_t shared, hipStream_t stream, void **parameters,
                      void **extra, hipEvent_t start, hipEvent_t stop,
                      uint32_t flags) __asm__("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_"
                                              "tjjjjjjmP12ihipStream_tPPvS4_"
                                              "P11ihipEvent_tS6_j");
/* What hipcc's start code calls. */
void **__hipRegisterFatBinary(const void *data);
void __hipRegisterFunction(void **modules, const void *host, char *device, const char *name,
                           unsigned limit, void *tid, void *bid, void *block, void *grid,
                           int *wave);

static char *compiled(size_t *size)
{
    static const char source[] = "__global__ void scale(double *x, double by)\n"
                                 "{ x[threadIdx.x] *= by; }\n";
    const char *options[] = {"--gpu-architecture=gfx900"};
    hiprtcProgram program;
    if (hiprtcCreateProgram(&program, source, "scale.hip", 0, NULL, NULL) != HIPRTC_SUCCESS ||
        hiprtcCompileProgram(program, 1, options) != HIPRTC_SUCCESS ||
        hiprtcGetCodeSize(program, size) != HIPRTC_SUCCESS)
        exit(77);
    char *code = malloc(*size);
    must(code && hiprtcGetCode(program, code) == HIPRTC_SUCCESS, "code");
    return code;
}

/* Code as it is in a program: a bundle of one. */
static const void *bundled(const char *code, size_t size)
{
    static const char id[] = "hipv4-amdgcn-amd-amdhsa--gfx900";
    enum { AT = 4096 };
    char *bundle = aligned_alloc(AT, (AT + size + AT - 1) / AT * AT);
    uint64_t head[] = {1, AT, size, sizeof id - 1};
    must(bundle != NULL, "memory");
    memcpy(bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
    memcpy(bundle + 24, head, sizeof head);
    memcpy(bundle + 24 + sizeof head, id, sizeof id);
    memcpy(bundle + AT, code, size);
    return bundle;
}

static void host_function(void)
{
}

static void launch_by_pointer(const char *code, size_t size, void **parameters)
{
    static struct {
        uint32_t magic, version;
        const void *bundle, *unused;
    } binary = {0x48495046, 1, NULL, NULL};
    static char name[] = "_Z5scalePdd";
    const void *host = (const void *)(uintptr_t)host_function;
    binary.bundle = bundled(code, size);
    __hipRegisterFunction(__hipRegisterFatBinary(&binary), host, name, name, (unsigned)-1, NULL,
                          NULL, NULL, NULL, NULL);
    MUST(hipLaunchKernel(host, (dim3){4, 1, 1}, (dim3){64, 1, 1}, parameters, 0, NULL));
}

static void launch_from_module(const char *code, void **parameters, int count)
{
    hipModule_t module;
    hipFunction_t f;
    MUST(hipModuleLoadData(&module, code));
    MUST(hipModuleGetFunction(&f, module, "_Z5scalePdd"));
    for (int i = 0; i < count; i++)
        MUST(hipModuleLaunchKernel(f, 2, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL));
    MUST(launch_ext(f, 64, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL, NULL, NULL, 0));
    MUST(hipDeviceSynchronize());
    MUST(hipModuleUnload(module));
}

int main(int argc, char **argv)
{
    double by = 2;
    size_t size = 0;
    void *x;
    void *parameters[] = {&x, &by};
    char *code = compiled(&size);
    MUST(hipInit(0));
    MUST(hipMalloc(&x, 64 * sizeof(double)));
    launch_from_module(code, parameters, argc > 1 ? atoi(argv[1]) : 3);
    launch_by_pointer(code, size, parameters);
    MUST(hipDeviceSynchronize());
    MUST(hipFree(x));
    free(code);
    return 0;
}
