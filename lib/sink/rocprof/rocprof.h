/* Shared by the outputs of rocprof v1: results.json and results.csv. */
#pragma once

#include "model/trace.h"

/* Writes results.csv; see rocl_write_csv(). */
rocl_status rocl_write_rocprof_csv(rocl_trace *t, const rocl_csv_options *o, rocl_written *report,
                                   rocl_error *err);

static inline int64_t v1_tid_of(const rocl_capture *c, uint32_t thread)
{
    return thread < c->thread_count ? c->threads[thread].tid : -1;
}

static inline int64_t v1_pid_of(const rocl_capture *c, uint32_t process)
{
    return process < c->process_count ? c->processes[process].pid : 0;
}

/* The number of a GPU: that of its node, as since ROCm 5.5. -1: unknown. */
static inline int64_t v1_device_of(const rocl_capture *c, uint32_t agent)
{
    const rocl_agent *a = agent < c->agent_count ? &c->agents[agent] : NULL;
    return !a ? -1 : a->absolute_index >= 0 ? a->absolute_index : a->id;
}

/* Sizes are products there. */
static inline int64_t v1_multiply_sizes(const uint32_t v[3])
{
    const uint64_t n = (uint64_t)v[0] * (v[1] ? v[1] : 1) * (v[2] ? v[2] : 1);
    return (int64_t)n;
}

/* The suffix of a kernel's name: rocprof demangles the name of the descriptor, foo.kd or void
 * foo<int>(int) [clone .kd]. Its traces of HIP, and short names, have the names of functions. */
static inline const char *v1_kernel_suffix(const rocl_trace *t, const rocl_kernel *k, uint32_t name)
{
    const rocl_kernel_names names = t->opt.kernel_names;
    if (!k || k->is_function || t->opt.kernel_rename || name != k->shown || !*rocl_str(t, name) ||
        (names != ROCL_NAMES_DISPLAY && names != ROCL_NAMES_MANGLED))
        return "";
    return strchr(rocl_str(t, name), '(') ? " [clone .kd]" : ".kd";
}
