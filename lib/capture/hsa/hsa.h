/* The HSA tool: HSA_TOOLS_LIB names it, ROCr loads it in hsa_init and hands it the tables that all
 * calls go through.
 *
 *     tool.c     OnLoad, OnUnload: which entries of the tables are replaced; calls of the host
 *     agents.c   what agents there are, and the clock of the runtime
 *     kernels.c  names of kernels by the objects that packets hold
 *     flights.c  GPU work in flight: its signals, what happens when it is done
 *     queue.c    queues and their packets
 *     copy.c     asynchronous copies
 *     memory.c   allocations
 *     lines.c    lines of text about GPU work
 *
 * Three forms of the tables: what the runtime has (rocl_hsa_real), which this library calls itself;
 * what interception makes of it (rocl_hsa_next), which traced calls lead to; and that of the
 * runtime, which programs use. An entry that is neither traced nor intercepted stays as it is. */
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>

#include "capture/rtg/rtg.h"

/* ---- the tables, as hsa_api_trace.h declares them for C++ ------------------------------------ */

typedef void (*hsa_amd_queue_intercept_packet_writer)(const void *packets, uint64_t count);
typedef void (*hsa_amd_queue_intercept_handler)(const void *packets, uint64_t count, uint64_t index,
                                                void *data,
                                                hsa_amd_queue_intercept_packet_writer writer);
typedef void (*hsa_amd_runtime_queue_notifier)(const hsa_queue_t *queue, hsa_agent_t agent,
                                               void *data);

typedef struct rocl_hsa_version {
    uint32_t major, minor; /* minor: bytes of the table */
    uint32_t step, reserved;
} rocl_hsa_version;

#define ROCL_HSA_TABLES
#include "hsa_calls.h"
#undef ROCL_HSA_TABLES

typedef struct rocl_hsa_root {
    rocl_hsa_version version;
    rocl_hsa_core *core;
    rocl_hsa_amd *amd;
    void *finalizer;
    rocl_hsa_image *image;
} rocl_hsa_root;

typedef struct rocl_hsa_tables {
    rocl_hsa_core core;
    rocl_hsa_amd amd;
    rocl_hsa_image image;
} rocl_hsa_tables;

extern rocl_hsa_tables rocl_hsa_real, rocl_hsa_next;

/* Has a table of the runtime this entry? Others are longer or shorter than those that this was
 * built with. */
#define ROCL_HSA_HAS(table, name)                                                                  \
    (rocl_hsa_real.table.version.minor >=                                                          \
         offsetof(rocl_hsa_##table, name##_fn) + sizeof(void *) &&                                 \
     rocl_hsa_real.table.name##_fn)

/* ---- agents.c -------------------------------------------------------------------------------- */

typedef struct rocl_hsa_agent {
    hsa_agent_t handle;
    rocl_def *def;
    bool gpu;
    _Atomic uint32_t number; /* HCC text: in order of first use, plus one */
    _Atomic uint32_t queues; /* of it, that have been numbered */
    _Atomic uint64_t copies;
    _Atomic uint32_t copy_queue; /* number of the queue that HCC text has for copies, plus one */
} rocl_hsa_agent;

void rocl_hsa_find_agents(void);
/* NULL: there is none with this handle. */
rocl_hsa_agent *rocl_hsa_agent_of(hsa_agent_t handle);
/* The number of an agent in HCC text. */
uint32_t rocl_hsa_agent_number(rocl_hsa_agent *a);

rocl_hsa_agent *rocl_hsa_any_cpu(void);
/* The number for copies of an agent, where queues have theirs. */
uint32_t rocl_hsa_copy_queue(rocl_hsa_agent *a);

extern rocl_chunk_clock rocl_hsa_clock; /* the one that times of the runtime are of */
uint64_t rocl_hsa_ns(uint64_t time);    /* a time of the runtime in ns */

/* ---- kernels.c ------------------------------------------------------------------------------- */

typedef struct rocl_hsa_kernel {
    uint64_t object;
    rocl_def *def;
    const char *symbol; /* as in the code object */
    const char *name;   /* demangled */
} rocl_hsa_kernel;

/* NULL: there is none. No lock. */
const rocl_hsa_kernel *rocl_hsa_kernel_of(uint64_t object);
hsa_status_t rocl_hsa_freeze(hsa_executable_t executable, const char *options);

/* ---- flights.c ------------------------------------------------------------------------------- */

typedef enum rocl_flight_kind { ROCL_KERNEL, ROCL_BARRIER, ROCL_COPY } rocl_flight_kind;

typedef struct rocl_hsa_queue {
    rocl_hsa_agent *agent;
    rocl_def *def;
    uint64_t id;
    uint32_t number;        /* in HCC text */
    _Atomic uint64_t seq;   /* of packets */
    _Atomic uint32_t users; /* the queue and flights; freed at 0 */
} rocl_hsa_queue;

/* Work in flight. It has a signal of ours in place of the program's, which is completed by the
 * host when ours is: so the program sees the times of the work itself on its own signal, and
 * nothing waits on the GPU for something that did not. */
typedef struct rocl_flight {
    hsa_signal_t signal, original; /* original: 0 when there was none */
    _Atomic uint32_t next;         /* index of a free one, plus one */
    uint32_t index;
    _Atomic int state;
    rocl_flight_kind kind;
    rocl_hsa_queue *queue; /* NULL of copies */
    rocl_hsa_agent *agent; /* that does it */
    uint64_t id;           /* of the dispatch */
    uint64_t seq;          /* in HCC text */
    uint64_t sent;         /* ns, monotonic */
    _Atomic bool in_chunk; /* is to be recorded there: it was not sent in a pause */
    uint64_t correlation;
    rocl_def *stream; /* NULL: unknown */
    uint32_t tid;
    union {
        struct {
            const rocl_hsa_kernel *kernel;
            uint32_t workgroup[3], grid[3], private_segment, group_segment;
        };
        struct {
            rocl_hsa_agent *src, *dst;
            uint64_t size, src_address, dst_address;
            bool timed; /* the program wants to know its times */
        };
    };
    uint64_t deps[5];
} rocl_flight;

/* The last of its users frees it. */
void rocl_hsa_queue_release(rocl_hsa_queue *q);

/* One that is filled but for what is above the union, kind, queue and agent; NULL: there is no
 * memory or no signal, or a pause, and the work goes untraced. No lock, but when there are more
 * than ever. */
rocl_flight *rocl_flight_new(hsa_signal_t original);
/* It is in flight now, and may land at once; false: it cannot be watched and has to go without. */
bool rocl_flight_watch(rocl_flight *f);
/* It was watched, and then not accepted by the runtime. The program's signal stays as it is. */
void rocl_flight_reject(rocl_flight *f);
/* The id of the calling thread. */
uint32_t rocl_hsa_tid(void);
/* Records finished work. wait: gives the GPU a quarter of a second for the rest; else the runtime
 * ends, and with it the flights. */
void rocl_flights_end(bool wait);

/* ---- queue.c, copy.c, memory.c ------------------------------------------------------------- */

/* A copy is done: the program, which has another signal, can ask for its times. */
void rocl_hsa_keep_copy_times(const rocl_flight *f);

void rocl_hsa_intercept_queues(void);
void rocl_hsa_intercept_copies(void);
void rocl_hsa_intercept_memory(void);

/* ---- lines.c --------------------------------------------------------------------------------- */

void rocl_hsa_line_sent(const rocl_flight *f);
void rocl_hsa_line_done(const rocl_flight *f, uint64_t start, uint64_t end);
