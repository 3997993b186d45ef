/* The library behind the functions. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "capture/hip/hip.h"

static int is_hip(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (strncmp(slash ? slash + 1 : info->dlpi_name, "libamdhip64.so", 14) != 0)
        return 0;
    *(void **)data = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return 1;
}

/* It comes behind this one, but where it was loaded by dlopen for one library alone. */
static void *find(const char *symbol)
{
    void *f = dlsym(RTLD_NEXT, symbol), *library = NULL;
    if (!f && dl_iterate_phdr(is_hip, &library) && library)
        f = dlsym(library, symbol);
    return f;
}

void *rocl_hip_find(rocl_hip_call *c)
{
    int saved = errno;
    void *real = find(c->symbol);
    atomic_store_explicit(&c->real, real, memory_order_relaxed);
    errno = saved;
    return real;
}

bool rocl_hip_decide(rocl_hip_call *c)
{
    /* Constructors of other libraries may call before those of this one ran. */
    if (!rocl_rtg.filename)
        return false;
    rocl_rtg_say_settings();
    rocl_rtg.chunks = rocl_rtg.chunks && rocl_cap_on();
    bool wanted = (rocl_rtg.chunks || rocl_rtg.text) && rocl_rtg_wants_hip(c->call.site.name);
    if (rocl_rtg.verbose > 1)
        fprintf(stderr, "rocline: %s is %straced\n", c->call.site.name, wanted ? "" : "not ");
    atomic_store_explicit(&c->call.wanted, wanted ? 1 : -1, memory_order_relaxed);
    return wanted;
}

/* ---- names of kernels ------------------------------------------------------------------------ */

static const void *first(const rocl_arg *args)
{
    const void *p;
    memcpy(&p, args->value, sizeof p);
    return p;
}

static hipStream_t stream_of(const rocl_arg *args)
{
    hipStream_t s = NULL;
    for (; args->type; args++)
        if (!strcmp(args->type, "hipStream_t"))
            memcpy(&s, args->value, sizeof s);
    return s;
}

const char *rocl_hip_kernel(rocl_hip_trait trait, const rocl_arg *args)
{
    static rocl_hip_call by_pointer = {.symbol = "hipKernelNameRefByPtr"};
    static rocl_hip_call by_function = {.symbol = "hipKernelNameRef"};
    const char *(*of_pointer)(const void *, hipStream_t);
    const char *(*of_function)(hipFunction_t);
    if ((trait != ROCL_HIP_POINTER && trait != ROCL_HIP_FUNCTION) || !first(args))
        return NULL;
    if (trait == ROCL_HIP_POINTER) {
        of_pointer = (const char *(*)(const void *, hipStream_t))rocl_hip_real(&by_pointer);
        return of_pointer ? of_pointer(first(args), stream_of(args)) : NULL;
    }
    of_function = (const char *(*)(hipFunction_t))rocl_hip_real(&by_function);
    return of_function ? of_function((hipFunction_t)(uintptr_t)first(args)) : NULL;
}
