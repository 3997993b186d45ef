/* HIP, interposed by LD_PRELOAD: a function for each that the headers declare and the library has,
 * made by gen/hip.awk. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* ---- the library behind the functions -------------------------------------------------------- */

static int is_hip(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (strncmp(slash ? slash + 1 : info->dlpi_name, "libamdhip64.so", 14) != 0)
        return 0;
    *(void **)data = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return 1;
}

/* NULL: the library does not have it. It comes after this one in the search order, unless it was
 * loaded by dlopen for one library only. */
static __attribute__((noinline)) void *find_real(rocl_hip_call *c)
{
    int saved = errno;
    void *real = dlsym(RTLD_NEXT, c->symbol), *library = NULL;
    if (!real && dl_iterate_phdr(is_hip, &library) && library)
        real = dlsym(library, c->symbol);
    atomic_store_explicit(&c->real, real, memory_order_relaxed);
    errno = saved;
    return real;
}

static inline void *get_real(rocl_hip_call *c)
{
    void *real = atomic_load_explicit(&c->real, memory_order_relaxed);
    return __builtin_expect(real != NULL, 1) ? real : find_real(c);
}

/* Is it to be traced? Decided once, as soon as that is known. */
static __attribute__((noinline)) bool decide_wanted(rocl_hip_call *c)
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

static inline bool is_wanted(rocl_hip_call *c)
{
    int wanted = atomic_load_explicit(&c->call.wanted, memory_order_relaxed);
    return wanted > 0 || (!wanted && decide_wanted(c));
}

/* ---- names of kernels ------------------------------------------------------------------------ */

/* NULL: not known, or not a launch. */
static const char *find_kernel_name(rocl_hip_trait trait, const rocl_arg *args)
{
    static rocl_hip_call by_pointer = {.symbol = "hipKernelNameRefByPtr"};
    static rocl_hip_call by_function = {.symbol = "hipKernelNameRef"};
    const void *first;
    if (trait != ROCL_HIP_POINTER && trait != ROCL_HIP_FUNCTION)
        return NULL;
    memcpy(&first, args->value, sizeof first);
    if (!first)
        return NULL;
    if (trait == ROCL_HIP_POINTER) {
        const char *(*of_pointer)(const void *, hipStream_t) =
            (const char *(*)(const void *, hipStream_t))get_real(&by_pointer);
        hipStream_t stream = NULL;
        for (const rocl_arg *a = args; a->type; a++)
            if (!strcmp(a->type, "hipStream_t"))
                memcpy(&stream, a->value, sizeof stream);
        return of_pointer ? of_pointer(first, stream) : NULL;
    }
    const char *(*of_function)(hipFunction_t) =
        (const char *(*)(hipFunction_t))get_real(&by_function);
    return of_function ? of_function((hipFunction_t)(uintptr_t)first) : NULL;
}

/* ---- which stream work is put on ------------------------------------------------------------- */

/* Values that stand for streams, in hip_runtime_api.h of some versions. */
enum { LEGACY = 1, PER_THREAD = 2 };

/* No address has its highest bit set. */
static rocl_def *get_stream_of_thread(void)
{
    static __thread uint64_t handle;
    if (!handle)
        handle = (uint64_t)1 << 63 | (uint64_t)syscall(SYS_gettid);
    return rocl_cap_stream(handle);
}

/* A stream by its handle. */
static rocl_def *get_stream(hipStream_t s)
{
    uint64_t handle = (uint64_t)(uintptr_t)s;
    if (handle == PER_THREAD)
        return get_stream_of_thread();
    return rocl_cap_stream(handle == LEGACY ? 0 : handle);
}

/* The stream of a call (_spt) for which the handle 0 is a stream of the thread. */
static __attribute__((unused)) rocl_def *get_stream_spt(hipStream_t s)
{
    return s ? get_stream(s) : get_stream_of_thread();
}

/* That one goes, or all of them do; the default stream stays. To be called before the library may
 * use the handle for another one, whether the call is traced or not. The calls have no stream. */
static rocl_def *end_stream(hipStream_t s)
{
    rocl_cap_stream_gone((uint64_t)(uintptr_t)s);
    return NULL;
}

static rocl_def *end_all_streams(void)
{
    rocl_cap_streams_gone();
    return NULL;
}

/* ---- the functions, made from the headers ---------------------------------------------------- */

/* Some of them are deprecated. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Types and lists cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#define BEGIN(category, trait, stream, result, f, linked, parameters, missing, direct)             \
    static rocl_hip_call call = {                                                                  \
        .call = {.site = {category, #f, 0},                                                        \
                 .launches = (trait) == ROCL_HIP_POINTER || (trait) == ROCL_HIP_FUNCTION},         \
        .symbol = linked};                                                                         \
    result(*real) parameters = (result(*) parameters)get_real(&call);                              \
    rocl_open_call open;                                                                           \
    if (!real)                                                                                     \
        missing;                                                                                   \
    if ((trait) == ROCL_HIP_ENDS_STREAMS)                                                          \
        (void)(stream);                                                                            \
    if (!is_wanted(&call)) {                                                                       \
        direct;                                                                                    \
    }                                                                                              \
    if (rocl_rtg.chunks)                                                                           \
        rocl_call_on_stream(&open, (trait) == ROCL_HIP_ENDS_STREAMS ? NULL : (stream));            \
    rocl_call_begin(&open, &call.call);

#define ROCL_HIP_CALL(category, trait, stream, result, f, linked, parameters, arguments, ...)      \
    ROCL_CAP_API result f parameters                                                               \
    {                                                                                              \
        BEGIN(category, trait, stream, result, f, linked, parameters, return hipErrorNotSupported, \
              return real arguments)                                                               \
        result r = real arguments;                                                                 \
        const rocl_arg list[] = {__VA_ARGS__{0}};                                                  \
        ROCL_CALL_FITS(list);                                                                      \
        rocl_hip_call_end(&open, &call.call, list, &(rocl_result){#result, (int)r, r != 0},        \
                          find_kernel_name(trait, list));                                          \
        return r;                                                                                  \
    }

/* These do not return numbers. */
#define ROCL_HIP_OTHER(category, trait, stream, result, f, linked, parameters, arguments, ...)     \
    ROCL_CAP_API result f parameters                                                               \
    {                                                                                              \
        static result none;                                                                        \
        BEGIN(category, trait, stream, result, f, linked, parameters, return none,                 \
              return real arguments)                                                               \
        result r = real arguments;                                                                 \
        const rocl_arg list[] = {__VA_ARGS__{0}};                                                  \
        ROCL_CALL_FITS(list);                                                                      \
        rocl_hip_call_end(&open, &call.call, list, &(rocl_result){0}, NULL);                       \
        return r;                                                                                  \
    }

#define ROCL_HIP_VOID(category, trait, stream, result, f, linked, parameters, arguments, ...)      \
    ROCL_CAP_API void f parameters                                                                 \
    {                                                                                              \
        BEGIN(category, trait, stream, void, f, linked, parameters, return, real arguments;        \
              return )                                                                             \
        real arguments;                                                                            \
        const rocl_arg list[] = {__VA_ARGS__{0}};                                                  \
        ROCL_CALL_FITS(list);                                                                      \
        rocl_hip_call_end(&open, &call.call, list, &(rocl_result){0}, NULL);                       \
    }

#include "hip_calls.h"
/* NOLINTEND(bugprone-macro-parentheses) */
