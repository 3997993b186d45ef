/* JSON as rocprofv3 (ROCm 7.0) writes it: what json.c (events, the file) and definitions.c (what
 * stands before the records) share. An element of the top array is a process. */
#pragma once

#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/text.h"
#include "model/kinds.h"
#include "model/trace.h"

/* The kinds of buffer records that are written; their numbers are those of ROCm 7.0. After them,
 * two pseudo-kinds with names like operations: the labels around dispatches, and kernels without a
 * known symbol. */
typedef enum v3_kind {
    V3_HSA_CORE_API = 1,
    V3_MARKER_CORE_API = 7,
    V3_MEMORY_COPY = 10,
    V3_KERNEL_DISPATCH = 11,
    V3_SCRATCH_MEMORY = 12,
    V3_RCCL_API = 14,
    V3_MEMORY_ALLOCATION = 16,
    V3_ROCJPEG_API = 19,
    V3_HIP_RUNTIME_API_EXT = 21,
    V3_ROCDECODE_API_EXT = 23,
    V3_MARKER_CORE_RANGE_API = 32,
    V3_KINDS,
    V3_LABEL = V3_KINDS,
    V3_NAMED_KERNEL,
} v3_kind;

/* The number of a kind by its name, which must be of the domain; `otherwise` where there is none.
 */
v3_kind v3_kind_of(const char *name, rocl_domain domain, v3_kind otherwise);

/* A name that the records of an element use. */
typedef struct v3_name {
    uint64_t key; /* of v3_name_key() */
    uint64_t number;
    const char *text;
    size_t len;
} v3_name;

static inline uint64_t v3_name_key(uint32_t element, v3_kind kind, uint32_t text)
{
    return (uint64_t)element << 38 | (uint64_t)kind << 32 | text;
}

enum { V3_ELEMENTS_MAX = 1 << 26 };

/* All names, by element, kind and text, with their numbers. */
typedef struct v3_names {
    v3_name *all;
    size_t count, cap;
    rocl_map index;
} v3_names;

/* Adds a name that is not there. False: memory is out. */
bool v3_names_add(v3_names *n, const rocl_trace *t, uint64_t key) ROCL_CHECKED;
/* Puts them in order and numbers them: of a kind as its operations; of labels by their bytes. */
bool v3_names_number(v3_names *n) ROCL_CHECKED;
void v3_names_free(v3_names *n);
/* The number of a name that is there. */
uint64_t v3_number_of(const v3_names *n, uint64_t key);

/* The number of a label: by its bytes, as the profiler did it until ROCm 6.4. */
uint64_t v3_label_number(const char *text, size_t len);

/* The numbers that definitions of a capture have in the file. */
typedef struct v3_ids {
    uint64_t *agents, *counters, *kernels; /* by index */
    /* By index; behind them one for each agent that has kernels of no code object, else 0. */
    uint64_t *code_objects;
    uint64_t kernel_end, code_object_end; /* above the last */
} v3_ids;

rocl_status v3_ids_make(v3_ids *ids, rocl_trace *t, const rocl_capture *c, rocl_error *err);
void v3_ids_free(v3_ids *ids);

/* Does a definition belong to a process? Those without an owner belong to all. */
static inline bool v3_is_of(const rocl_capture *c, uint32_t owner, uint32_t process)
{
    return owner == process || owner >= c->process_count || c->process_count < 2;
}

/* An element: a process of a capture. */
typedef struct v3_element {
    rocl_trace *trace;
    const rocl_capture *capture;
    const v3_ids *ids;
    const v3_names *names;
    uint32_t index, process;
    bool shared; /* the file has others as well */
} v3_element;

/* Appends the element from its begin to the messages of markers, and from the labels around
 * dispatches to the counter records. */
rocl_status v3_put_begin(rocl_buf *b, const v3_element *e, rocl_error *err);
rocl_status v3_put_middle(rocl_buf *b, const v3_element *e, rocl_error *err);

/* ---- text ---- */

/* With the quotes. */
static inline void v3_put_string(rocl_buf *b, const char *before, const char *p, size_t n)
{
    rocl_buf_str(b, before);
    rocl_json_put_string(b, p, n);
}

static inline void v3_put_text(rocl_buf *b, const char *before, const rocl_trace *t, uint32_t text)
{
    size_t n;
    const char *p = rocl_text(t, text, &n);
    v3_put_string(b, before, p, n);
}
