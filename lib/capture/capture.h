/* The capture core: what a front end (ROCTx, HSA tool, HIP interception) calls to record events.
 *
 * Every thread has a writer of its own, made with its first event: a chunk of a file that is
 * mapped into memory (model/chunk.h). Recording an event reads the clock and stores some bytes
 * there: no lock, no allocation, no system call. About once in 4 KiB of events the clocks are
 * compared (vDSO), and when a chunk is full the next one is mapped; errno is kept. What was
 * recorded survives the process, however it ends, since the pages belong to the file.
 *
 * Nothing here fails, prints or exits. Without ROCLINE_OUTPUT in the environment, or when its
 * folder cannot be written, nothing is recorded. Events that cannot be kept (full disk,
 * ROCLINE_LIMIT) are counted in the chunk. All functions may be called from any thread, from
 * signal handlers (events that interrupt the recording of another one on the same thread are
 * counted as dropped), in a forked child (it gets a file of its own), and during exit.
 *
 * Pointers given to functions are not kept, but for sites and categories, which must live as long
 * as the process. Texts are UTF-8 by custom; any bytes are kept. Longer ones than ROCL_CAP_TEXT_MAX
 * bytes are too long for an event, which is dropped and counted.
 *
 * Environment (rocrec(1) sets it):
 *   ROCLINE_OUTPUT   folder of the files; it must exist
 *   ROCLINE_SESSION  32 hexadecimal digits; else random
 *   ROCLINE_POLICY   drop (default): at the limit, or when the disk is full, count what is lost
 *                    block: wait for space instead; ring: give up the oldest chunks
 *   ROCLINE_LIMIT    MiB of a process, or with b, k, m or g bytes, KiB ...; 0 or not set: no limit
 *                    (of ring: 64)
 *   ROCLINE_CHUNK    KiB of the largest chunks (default 1024)
 *   ROCLINE_CLOCK    monotonic: do not use the TSC */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/chunk.h"

#define ROCL_CAP_API      __attribute__((visibility("default")))
#define ROCL_CAP_TEXT_MAX ((size_t)1 << 20)

/* Is anything recorded at all? Front ends that would change how a program runs should ask this
 * first, once. A pause does not count. */
ROCL_CAP_API bool rocl_cap_on(void);

/* ---- what a program gives up (guard/) -------------------------------------------------------- */

/* The file will no longer be reachable by name, so keep it open, if there is one. false: it was
 * already open, or there is none. */
ROCL_CAP_API bool rocl_cap_keep(void);
ROCL_CAP_API void rocl_cap_let_go(void); /* it will not */
/* From now on system calls may end the process: recording goes on in the space that it has, and
 * what does not fit is counted; without a clock all is. false: it was so before, or nothing is
 * recorded.
 */
ROCL_CAP_API bool rocl_cap_seal(bool has_clock);
ROCL_CAP_API void rocl_cap_unseal(void); /* they may not */

/* ---- calls of the host ----------------------------------------------------------------------- */

/* One per API function or other place that is traced, static:
 *     static rocl_site site = ROCL_SITE("HIP_RUNTIME_API_EXT", "hipMalloc");
 * The id is given with the first use and is what a call costs to name. */
typedef struct rocl_site {
    const char *category; /* as rocprofv3 has it: HSA_CORE_API, MARKER_CORE_API, ... */
    const char *name;
    _Atomic uint32_t id; /* of the core; 0: not used yet */
} rocl_site;

#define ROCL_SITE(category, name)                                                                  \
    {                                                                                              \
        (category), (name), 0                                                                      \
    }

/* A region of the calling thread. Regions nest: end closes the one that began last. */
ROCL_CAP_API void rocl_cap_begin(rocl_site *site);
ROCL_CAP_API void rocl_cap_end(void);
/* Ends it at a time of before (rocl_cap_now), when other things were done since. */
ROCL_CAP_API void rocl_cap_end_at(uint64_t ticks);

/* Gives the outermost open region of the thread a number, unique in the process and never 0, and
 * returns it. That is the call made by the program, whatever calls it makes in turn. GPU records
 * with this number were caused by this region. 0: there is none, or recording is off. */
ROCL_CAP_API uint64_t rocl_cap_correlate(void);

/* Arguments and results of the innermost open region. type ("size_t", "hipError_t") and name are
 * static texts. */
typedef struct rocl_cap_value {
    const char *type, *name;
    rocl_chunk_form form;
    union {
        uint64_t bits; /* of numbers and pointers; SIGNED: of an int64_t */
        const char *text;
        uint32_t sizes[3];
    };
    size_t len; /* of the text */
} rocl_cap_value;

/* Static, one for each place that calls rocl_cap_args; all zero at first. */
typedef struct rocl_parameters {
    _Atomic uint32_t id;
} rocl_parameters;

enum { ROCL_CAP_ARGS = 32 };

/* At most ROCL_CAP_ARGS, of which number, types and names are the same whenever this list is used:
 * what an argument has not this time has ROCL_FORM_NONE. */
ROCL_CAP_API void rocl_cap_args(rocl_parameters *list, const rocl_cap_value *values, size_t count);
/* One alone, shown as it is. */
ROCL_CAP_API void rocl_cap_arg(const char *type, const char *name, const char *value, size_t len);

/* ---- markers --------------------------------------------------------------------------------- */

ROCL_CAP_API void rocl_cap_mark(const char *text);
/* Ranges of the calling thread; they nest independently of regions. */
ROCL_CAP_API void rocl_cap_push(const char *text);
ROCL_CAP_API void rocl_cap_pop(void);
/* Ranges of the process, begun and ended by any threads. The number is the caller's, unique in the
 * process. */
ROCL_CAP_API void rocl_cap_start(const char *text, uint64_t number);
ROCL_CAP_API void rocl_cap_stop(uint64_t number);

ROCL_CAP_API void rocl_cap_thread_name(const char *name); /* of the calling thread */

/* tid 0: all threads. What is paused is neither recorded nor counted, but regions and ranges that
 * were recorded when they began are also ended. */
ROCL_CAP_API void rocl_cap_pause(uint32_t tid);
ROCL_CAP_API void rocl_cap_resume(uint32_t tid);
ROCL_CAP_API bool rocl_cap_is_paused(void); /* the calling thread */

/* ---- definitions ----------------------------------------------------------------------------- */

/* What records refer to. Made once (this takes a lock and memory), never freed; NULL: memory is
 * out. Records that refer to NULL have no such reference. After a fork the child may use those of
 * its parent. */
typedef struct rocl_def rocl_def;

/* Unknown numbers are -1, unknown texts NULL. */
typedef struct rocl_cap_agent {
    uint64_t handle; /* what the front end knows it by */
    uint32_t type;   /* rocl_agent_type: 1 CPU, 2 GPU, 3 NIC */
    int64_t absolute_index, logical_index, type_index;
    const char *name, *model, *vendor, *product; /* "gfx942", ... */
    const char *uuid, *pci; /* of a GPU: "GPU-" and 16 digits, "0000:c1:00.0" */
} rocl_cap_agent;

typedef struct rocl_cap_kernel_symbol {
    uint64_t id; /* unique in the process */
    const rocl_def *agent;
    const char *name;    /* as in the code object, with or without ".kd" */
    const char *display; /* demangled; NULL: the name is shown */
    int64_t group_segment, private_segment, sgpr, arch_vgpr, accum_vgpr;
} rocl_cap_kernel_symbol;

typedef struct rocl_cap_counter {
    uint64_t id;
    const rocl_def *agent;
    const char *name, *description, *units;
    const char *value_type; /* "ABS", or "ACCUM" if it only grows */
} rocl_cap_counter;

/* Another process, of which values are sampled from outside. */
typedef struct rocl_cap_subject {
    uint64_t number; /* unique in the process that records */
    uint32_t pid, ppid;
    uint64_t start; /* ns of CLOCK_BOOTTIME */
    const char *command;
} rocl_cap_subject;

ROCL_CAP_API rocl_def *rocl_cap_define_agent(const rocl_cap_agent *a);
/* The id is shown; name may be NULL. */
ROCL_CAP_API rocl_def *rocl_cap_define_queue(uint64_t id, const char *name);
ROCL_CAP_API rocl_def *rocl_cap_define_stream(uint64_t id, const char *name);
ROCL_CAP_API rocl_def *rocl_cap_define_kernel(const rocl_cap_kernel_symbol *k);
ROCL_CAP_API rocl_def *rocl_cap_define_counter(const rocl_cap_counter *c);
ROCL_CAP_API rocl_def *rocl_cap_define_subject(const rocl_cap_subject *s);

/* Streams of a runtime, by their handles: each is defined with its first use. 0: the default one,
 * which has the number 0 and stays; the others have those from 1 on. gone: the handle may be used
 * again, or all may. */
ROCL_CAP_API rocl_def *rocl_cap_stream(uint64_t handle);
ROCL_CAP_API void rocl_cap_stream_gone(uint64_t handle);
ROCL_CAP_API void rocl_cap_streams_gone(void);

/* A name that the program gives to something that is or will be defined. */
ROCL_CAP_API void rocl_cap_name(rocl_chunk_named what, uint64_t number, const char *name);
ROCL_CAP_API void rocl_cap_name_stream(uint64_t handle, const char *name);

/* ---- GPU work and other events with times of their own ----------------------------------------
 */

/* Times are in ns of the clock named (ROCr's are BOOTTIME), or ROCL_CLOCK_TICKS of rocl_cap_now.
 * They may be recorded in any order, by any thread, long after the work was done, and also in a
 * pause: whether there was one when the work began is for the front end to ask. */
typedef struct rocl_cap_times {
    uint64_t start, end;
    rocl_chunk_clock clock;
    uint64_t correlation; /* of rocl_cap_correlate; 0: unknown */
    uint32_t tid;         /* of the thread that caused it; 0: unknown */
} rocl_cap_times;

ROCL_CAP_API uint64_t rocl_cap_now(void); /* ticks */

typedef struct rocl_cap_dispatch {
    rocl_cap_times t;
    rocl_def *agent, *queue, *stream, *kernel;
    uint64_t dispatch_id;
    uint32_t workgroup[3], grid[3]; /* in work-items */
    uint64_t private_segment, group_segment;
} rocl_cap_dispatch;

typedef struct rocl_cap_copy {
    rocl_cap_times t;
    rocl_site *name; /* ROCL_SITE("MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE") */
    rocl_def *src, *dst, *queue, *stream;
    uint64_t size, src_address, dst_address;
} rocl_cap_copy;

typedef struct rocl_cap_alloc {
    rocl_cap_times t;
    rocl_site *name; /* ROCL_SITE("MEMORY_ALLOCATION", "ALLOCATE") */
    rocl_def *agent, *queue, *stream;
    uint32_t op, level; /* rocl_alloc_op, rocl_alloc_level; scratch is a kind of its own by level */
    uint64_t size, address, flags;
} rocl_cap_alloc;

typedef struct rocl_cap_barrier {
    rocl_cap_times t;
    rocl_site *name;
    rocl_def *agent, *queue, *stream;
} rocl_cap_barrier;

ROCL_CAP_API void rocl_cap_dispatched(const rocl_cap_dispatch *d);
ROCL_CAP_API void rocl_cap_copied(const rocl_cap_copy *c);
ROCL_CAP_API void rocl_cap_allocated(const rocl_cap_alloc *a);
ROCL_CAP_API void rocl_cap_waited(const rocl_cap_barrier *b);
/* Work that would have been recorded, but cannot be: so many events are counted as dropped. */
ROCL_CAP_API void rocl_cap_lost(uint64_t events);
/* subject: the process that the value is of; NULL: this one. */
ROCL_CAP_API void rocl_cap_sampled(rocl_def *counter, rocl_def *subject, uint64_t time,
                                   rocl_chunk_clock clock, double value);

/* For a library in a process that continues, but records no more, as all its recording threads have
 * ended. Completes the file as if the process had exited. */
ROCL_CAP_API void rocl_cap_finish(void);
