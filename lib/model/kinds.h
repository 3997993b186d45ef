/* Kinds of events and domains of calls: two tables hold what the library knows of them. A row is
 * all that is needed for names, sizes, sets of kinds, words of options and the domain of an event.
 *
 * How a batch of events lies in memory:
 *
 *     rocl_batch                      records, rocl_kind_size(kind) bytes apart
 *     +---------+                     +------------+---------------+------------+-----
 *     | capture |   +---------------->| rocl_event | rest of its   | rocl_event | ...
 *     | kind    |   |                 | (80 bytes) | record        |            |
 *     | count   |   |                 +------------+---------------+------------+-----
 *     | any     |---+                                  | rocl_region.arg_first, arg_count
 *     | args    |----------> +----------+----------+---v------+-----
 *     +---------+            | rocl_arg | rocl_arg | rocl_arg | ...
 *                            +----------+----------+----------+-----
 *
 * Every record begins with its rocl_event, so any kind can be read as events; `any` and its typed
 * names in the union are one pointer. The worker of the source that hands out the batch owns the
 * records, the args and the texts of their values, and uses them again after the call: whoever
 * needs an event later keeps its own copy. The records may be changed and moved together in place
 * (filters do so, and arg_first stays right), the args may not. */
#pragma once

#include <string.h>

#include "base/view.h"
#include "rocline.h"

/* ---- domains ---- */

/* The domains of AMD's summaries, and those that they do not know. X(domain, our word, what
 * rocprofv3 calls it, and in names of files, whether it is one of calls). ROCL_DOMAIN_MARKERS has
 * the name "MARKERS". */
#define ROCL_DOMAIN_TABLE(X)                                                                       \
    X(KERNELS, "kernels", "KERNEL_DISPATCH", "kernel", false)                                      \
    X(HIP, "hip", "HIP_API", "hip_api", true)                                                      \
    X(HSA, "hsa", "HSA_API", "hsa_api", true)                                                      \
    X(MARKERS, "markers", "MARKER_API", "marker_api", true)                                        \
    X(MEMORY_COPIES, "memory_copies", "MEMORY_COPY", "memory_copy", false)                         \
    X(MEMORY_ALLOCATIONS, "memory_allocations", "MEMORY_ALLOCATION", "memory_allocation", false)   \
    X(SCRATCH_MEMORY, "scratch_memory", "SCRATCH_MEMORY", "scratch_memory", false)                 \
    X(RCCL, "rccl", "RCCL_API", "rccl_api", true)                                                  \
    X(ROCDECODE, "rocdecode", "ROCDECODE_API", "rocdecode_api", true)                              \
    X(ROCJPEG, "rocjpeg", "ROCJPEG_API", "rocjpeg_api", true)                                      \
    X(KFD, "kfd", "KFD_API", "kfd_api", true)                                                      \
    X(GRAPHS, "graphs", NULL, NULL, false)                                                         \
    X(HIP_EVENTS, "hip_events", NULL, NULL, false)                                                 \
    X(BARRIERS, "barriers", NULL, NULL, false)                                                     \
    X(OTHER, "other", NULL, NULL, true)

typedef enum rocl_domain {
#define ROCL_DOMAIN_ROW(domain, ...) ROCL_DOMAIN_##domain,
    ROCL_DOMAIN_TABLE(ROCL_DOMAIN_ROW)
#undef ROCL_DOMAIN_ROW
        ROCL_DOMAINS
} rocl_domain;

typedef struct rocl_domain_info {
    const char *name;     /* "MEMORY_COPIES" */
    const char *word;     /* "memory_copies" */
    const char *profiler; /* "MEMORY_COPY": what rocprofv3 calls it; NULL: it does not know it */
    const char *file;     /* "memory_copy": its word in names of files; NULL like that */
    bool calls;           /* host calls and markers, told apart by their category */
} rocl_domain_info;

extern const rocl_domain_info rocl_domain_infos[ROCL_DOMAINS];

/* The first word of categories of calls, up to an underscore or the end: "hip" for HIP_API and
 * HIP_RUNTIME_API_EXT. Only host calls, markers and related kinds have such categories. */
typedef struct rocl_call_group {
    const char *word; /* small letters */
    rocl_domain domain;
} rocl_call_group;

enum { ROCL_CALL_GROUPS = 10 };
extern const rocl_call_group rocl_call_groups[ROCL_CALL_GROUPS];

/* The group of a category, ignoring case; NULL: none. */
const rocl_call_group *rocl_call_group_of(const char *category);
/* A category as AMD's profilers write it: rocprofiler-systems puts "rocm_" in front. */
const char *rocl_bare_category(const char *category);

/* ---- kinds ---- */

enum {
    ROCL_IS_HOST = 1,     /* its record is a rocl_region, at a thread */
    ROCL_IS_WORK = 2,     /* of a GPU: at a queue or stream; a call may have caused it */
    ROCL_IS_VALUE = 4,    /* the value of a counter */
    ROCL_IS_POINT = 8,    /* has a time, but no duration */
    ROCL_HAS_CALL = 16,   /* its category may be that of a call */
    ROCL_AGENT_FREE = 32, /* need not have an agent: those without pass --agent */
};

/* X(kind, name, record, domain, traits, members of the record that are its agents, its queue). The
 * domain of regions and instants goes by their category. `e`: it has none. */
/* clang-format off */
#define ROCL_KIND_TABLE(X)                                                                         \
    X(REGION, "region", rocl_region, OTHER, ROCL_IS_HOST | ROCL_HAS_CALL, e, e, e)                 \
    X(MARKER, "marker", rocl_region, MARKERS, ROCL_IS_HOST | ROCL_HAS_CALL, e, e, e)               \
    X(INSTANT, "instant", rocl_region, OTHER, ROCL_IS_HOST | ROCL_HAS_CALL | ROCL_IS_POINT,        \
      e, e, e)                                                                                     \
    X(DISPATCH, "kernel", rocl_dispatch, KERNELS, ROCL_IS_WORK, agent, agent, queue)               \
    X(COPY, "copy", rocl_copy, MEMORY_COPIES, ROCL_IS_WORK, src, dst, queue)                       \
    X(ALLOC, "alloc", rocl_alloc, MEMORY_ALLOCATIONS, ROCL_IS_WORK, owner, owner, queue)           \
    X(SCRATCH, "scratch", rocl_alloc, SCRATCH_MEMORY, ROCL_IS_WORK, owner, owner, queue)           \
    X(COUNTER, "counter", rocl_counter_value, OTHER, ROCL_IS_VALUE, d.agent, d.agent, d.queue)     \
    X(SPM, "spm", rocl_sample_value, OTHER, ROCL_IS_VALUE | ROCL_IS_POINT, agent, agent, e)        \
    X(SAMPLE, "sample", rocl_sample_value, OTHER,                                                  \
      ROCL_IS_VALUE | ROCL_IS_POINT | ROCL_HAS_CALL | ROCL_AGENT_FREE, agent, agent, e)            \
    X(GRAPH, "graph", rocl_hip, GRAPHS, ROCL_IS_WORK | ROCL_HAS_CALL | ROCL_AGENT_FREE,            \
      agent, agent, queue)                                                                         \
    X(HIP_EVENT, "hip-event", rocl_hip, HIP_EVENTS,                                                \
      ROCL_IS_WORK | ROCL_HAS_CALL | ROCL_AGENT_FREE, agent, agent, queue)                         \
    X(BARRIER, "barrier", rocl_hip, BARRIERS, ROCL_IS_WORK | ROCL_AGENT_FREE,                      \
      agent, agent, queue)                                                                         \
    X(FLOW, "flow", rocl_flow, OTHER, ROCL_IS_POINT, e, e, e)
/* clang-format on */

typedef struct rocl_kind_info {
    const char *name;   /* "kernel": as --include takes it */
    uint16_t size;      /* bytes of its record */
    uint16_t agents[2]; /* offsets of its agents in the record; 0: it has none */
    uint16_t queue;     /* offset of its queue, which its stream follows; 0: it has neither */
    uint8_t domain;     /* rocl_domain */
    uint8_t traits;     /* ROCL_IS_... */
} rocl_kind_info;

extern const rocl_kind_info rocl_kind_infos[ROCL_KINDS];

/* Memory for an event of any kind. */
typedef union rocl_any_record {
    rocl_event e;
    rocl_region region;
    rocl_dispatch dispatch;
    rocl_copy copy;
    rocl_alloc alloc;
    rocl_counter_value counter;
    rocl_sample_value sample;
    rocl_hip hip;
    rocl_flow flow;
} rocl_any_record;

static inline uint32_t rocl_name_of(const rocl_event *e)
{
    return e->name == ROCL_NONE ? 0 : e->name;
}

/* The i-th event of a batch whose records have `size` bytes: rocl_batch_event() for loops. */
static inline rocl_event *rocl_event_at(const rocl_batch *b, size_t size, size_t i)
{
    return (rocl_event *)(void *)((char *)b->any + i * size);
}

/* Where GPU work was done, or on which GPU a value was read: indexes of the capture. */
typedef struct rocl_work_place {
    uint32_t agent, queue, stream;
} rocl_work_place;

/* ROCL_NONE: the event does not say, or its kind has none. The agent of a copy is the one that it
 * comes to, that of an allocation or a free the one whose memory it is. */
static inline rocl_work_place rocl_work_place_of(rocl_kind kind, const rocl_event *e)
{
    const rocl_kind_info *k = &rocl_kind_infos[kind];
    rocl_work_place p = {ROCL_NONE, ROCL_NONE, ROCL_NONE};
    if (k->agents[1])
        memcpy(&p.agent, (const char *)e + k->agents[1], sizeof p.agent);
    if (k->queue)
        memcpy(&p.queue, (const char *)e + k->queue, sizeof p.queue + sizeof p.stream);
    return p;
}

/* agent: an index of the capture, or ROCL_NONE. */
static inline bool rocl_is_gpu(const rocl_capture *c, uint32_t agent)
{
    return agent < c->agent_count && c->agents[agent].type == ROCL_AGENT_GPU;
}

/* The place of an event, but of a copy that does not come to a GPU the agent that it comes from. */
static inline rocl_work_place rocl_work_place_on_gpu(const rocl_capture *c, rocl_kind kind,
                                                     const rocl_event *e)
{
    rocl_work_place p = rocl_work_place_of(kind, e);
    if (kind == ROCL_COPY && !rocl_is_gpu(c, p.agent))
        p.agent = ((const rocl_copy *)(const void *)e)->src;
    return p;
}

/* The arguments of an event of a batch; 0 of kinds without. */
const rocl_arg *rocl_event_args(const rocl_batch *b, const rocl_event *e, uint32_t *count);

/* The domain of an event: that of its kind, or of the category (a text of the trace) of a call. */
rocl_domain rocl_domain_of(const rocl_trace *t, rocl_kind kind, uint32_t category);
/* Does a call of rocTX mark a range or an instant? Those that pause the profiler, name something,
 * end a range or return a number are calls, though their domain is markers. */
bool rocl_roctx_call_marks(rocl_view category, rocl_view function);

/* Prints the name of an operation on memory: "MEMORY_ALLOCATION_FREE". Returns the length. */
#define ROCL_ALLOC_NAME_MAX 64
size_t rocl_alloc_name(char *to, rocl_alloc_level level, rocl_alloc_op op);

/* ---- sets of kinds (ROCL_BIT) ---- */

/* Those with a trait. */
enum {
#define ROCL_KIND_BIT_IF(trait, kind, traits)      | ((traits) & (trait) ? ROCL_BIT(ROCL_##kind) : 0u)
#define ROCL_HOST_ROW(kind, n, r, d, traits, ...)  ROCL_KIND_BIT_IF(ROCL_IS_HOST, kind, traits)
#define ROCL_WORK_ROW(kind, n, r, d, traits, ...)  ROCL_KIND_BIT_IF(ROCL_IS_WORK, kind, traits)
#define ROCL_VALUE_ROW(kind, n, r, d, traits, ...) ROCL_KIND_BIT_IF(ROCL_IS_VALUE, kind, traits)
#define ROCL_POINT_ROW(kind, n, r, d, traits, ...) ROCL_KIND_BIT_IF(ROCL_IS_POINT, kind, traits)
#define ROCL_CALL_ROW(kind, n, r, d, traits, ...)  ROCL_KIND_BIT_IF(ROCL_HAS_CALL, kind, traits)
    ROCL_HOST_KINDS = 0 ROCL_KIND_TABLE(ROCL_HOST_ROW),
    ROCL_WORK_KINDS = 0 ROCL_KIND_TABLE(ROCL_WORK_ROW),
    ROCL_VALUE_KINDS = 0 ROCL_KIND_TABLE(ROCL_VALUE_ROW),
    ROCL_POINT_KINDS = 0 ROCL_KIND_TABLE(ROCL_POINT_ROW),
    ROCL_CALL_KINDS = 0 ROCL_KIND_TABLE(ROCL_CALL_ROW),
#undef ROCL_HOST_ROW
#undef ROCL_WORK_ROW
#undef ROCL_VALUE_ROW
#undef ROCL_POINT_ROW
#undef ROCL_CALL_ROW
#undef ROCL_KIND_BIT_IF
    /* Their times are those of a GPU. */
    ROCL_GPU_CLOCK_KINDS =
        (ROCL_WORK_KINDS & ~ROCL_BIT(ROCL_ALLOC)) | ROCL_BIT(ROCL_COUNTER) | ROCL_BIT(ROCL_SPM),
};

static inline bool rocl_kind_in(rocl_kind kind, uint32_t kinds)
{
    return kinds >> kind & 1;
}

/* ---- an event as one word of a key ---- */

/* The row of its table, and the kind in the last bits. Of rows from 2^60 on the first bits are
 * lost. */
#define ROCL_KIND_BITS 4
_Static_assert(ROCL_KINDS <= 1 << ROCL_KIND_BITS, "a kind must fit in the word of an event");

static inline uint64_t rocl_row_word(uint64_t row, rocl_kind kind)
{
    return row << ROCL_KIND_BITS | (uint64_t)kind;
}

static inline uint64_t rocl_word_row(uint64_t word)
{
    return word >> ROCL_KIND_BITS;
}

static inline rocl_kind rocl_word_kind(uint64_t word)
{
    return (rocl_kind)(word & ((1u << ROCL_KIND_BITS) - 1));
}
