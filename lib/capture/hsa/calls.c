/* Calls of the host: a function for each entry of the tables, made from the headers. */
#include <errno.h>

#include "capture/hsa/hsa.h"

/* A result is a number or, of few functions, a pointer. */
#define RESULT(type, r)                                                                            \
    {                                                                                              \
        type, (int64_t)(r), __builtin_types_compatible_p(__typeof__(r), hsa_status_t) && (r) != 0  \
    }

#define ROCL_HSA_CALL(table, category, result, f, parameters, arguments, ...)                      \
    static rocl_call call_##f = {.site = {category, #f, 0}};                                       \
    static result traced_##f parameters                                                            \
    {                                                                                              \
        rocl_open_call open;                                                                       \
        rocl_call_begin(&open, &call_##f);                                                         \
        result r = rocl_hsa_next.table.f##_fn arguments;                                           \
        const rocl_arg list[] = {__VA_ARGS__{0}};                                                  \
        ROCL_CALL_FITS(list);                                                                      \
        rocl_hsa_call_end(&open, &call_##f, list, &(rocl_result)RESULT(#result, r));               \
        return r;                                                                                  \
    }

#define ROCL_HSA_VOID(table, category, result, f, parameters, arguments, ...)                      \
    static rocl_call call_##f = {.site = {category, #f, 0}};                                       \
    static void traced_##f parameters                                                              \
    {                                                                                              \
        rocl_open_call open;                                                                       \
        rocl_call_begin(&open, &call_##f);                                                         \
        rocl_hsa_next.table.f##_fn arguments;                                                      \
        const rocl_arg list[] = {__VA_ARGS__{0}};                                                  \
        ROCL_CALL_FITS(list);                                                                      \
        rocl_hsa_call_end(&open, &call_##f, list, &(rocl_result){0});                              \
    }

#include "hsa_calls.h"
#undef ROCL_HSA_CALL
#undef ROCL_HSA_VOID

#define IN_core  "core"
#define IN_amd   "ext"
#define IN_image "ext"

#define ROCL_HSA_CALL(table, category, result, f, ...)                                             \
    if (ROCL_HSA_HAS(table, f) && rocl_rtg_wants_hsa(IN_##table, #f))                              \
        root->table->f##_fn = traced_##f;
#define ROCL_HSA_VOID ROCL_HSA_CALL

void rocl_hsa_trace_calls(rocl_hsa_root *root)
{
#include "hsa_calls.h"
}
