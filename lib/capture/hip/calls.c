/* The functions, made from the headers. */
#include "capture/hip/hip.h"

/* Some of them are. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Types and lists cannot stand in parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#define BEGIN(category, trait, stream, result, f, linked, parameters, missing, direct)             \
    static rocl_hip_call call = {                                                                  \
        .call = {.site = {category, #f, 0},                                                        \
                 .launches = (trait) == ROCL_HIP_POINTER || (trait) == ROCL_HIP_FUNCTION},         \
        .symbol = linked};                                                                         \
    result(*real) parameters = (result(*) parameters)rocl_hip_real(&call);                         \
    rocl_open_call open;                                                                           \
    if (!real)                                                                                     \
        missing;                                                                                   \
    if ((trait) == ROCL_HIP_ENDS_STREAMS)                                                          \
        (void)(stream);                                                                            \
    if (!rocl_hip_wants(&call)) {                                                                  \
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
                          rocl_hip_kernel(trait, list));                                           \
        return r;                                                                                  \
    }

/* What these give back is no number. */
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
