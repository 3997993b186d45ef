/* Shared by the readers of formats: captures and their definitions, tasks, batches under
 * construction, connections to databases, labels of agents, names of kernels, facts in JSON. Count
 * unusable records with rocl_fault_count(), with the file and line or id. */
#pragma once

#include "base/array.h"
#include "base/map.h"
#include "source/db/rows.h"
#include "source/source.h"

/* For `open`: adds a zeroed capture to the source, owned by the trace. NULL: memory is out. */
rocl_model_capture *rocl_trace_add_capture(rocl_trace *t, rocl_source *s, rocl_error *err);

/* Another connection to the database of a source, which must be in the state `as` (NULL: in any).
 */
rocl_status rocl_source_connect(rocl_db **db, const rocl_trace *t, const rocl_source *s,
                                const rocl_db_state *as, rocl_error *err);

/* For `open` of a text format whose file ends within a value. Gives a notice and a partial outcome;
 * with --strict an error. */
rocl_status rocl_source_truncated(rocl_source *s, const rocl_trace *t, rocl_error *err);

/* Adds a task to a plan. */
rocl_status rocl_plan_add(rocl_plan *p, const rocl_task *task, rocl_error *err);

/* Interns n words that events will have in common. False when memory is out. */
bool rocl_intern_words(rocl_trace *t, const char *const *words, size_t n, uint32_t *texts);

/* ---- definitions ----------------------------------------------------------------------------- */

/* The kinds of definitions; a capture has an array of each. */
typedef enum rocl_definition {
    ROCL_DEFINE_NODE,
    ROCL_DEFINE_PROCESS,
    ROCL_DEFINE_THREAD,
    ROCL_DEFINE_AGENT,
    ROCL_DEFINE_QUEUE,
    ROCL_DEFINE_STREAM,
    ROCL_DEFINE_CODE_OBJECT,
    ROCL_DEFINE_KERNEL,
    ROCL_DEFINE_COUNTER,
    ROCL_DEFINITIONS
} rocl_definition;

/* Adds a zeroed definition of a kind (a rocl_node, rocl_process, ...) to a capture; the others may
 * move. NULL: memory is out. */
void *rocl_define(rocl_capture *c, rocl_definition kind);
/* The definition of a key (a handle, an id or a hash of names in the input); the map has the
 * indexes of known keys. A new key gets one as from rocl_define(), and *fresh is set. NULL: memory
 * is out. */
void *rocl_define_once(rocl_capture *c, rocl_definition kind, rocl_map *map, uint64_t key,
                       bool *fresh);
/* The definition at an index, to change it. */
void *rocl_definition_at(rocl_capture *c, rocl_definition kind, uint32_t index);
/* Frees all definitions made by these functions: the `free_capture` of a reader. */
void rocl_definitions_free(rocl_model_capture *c);

/* Sets the uuid and the PCI address of an agent from the JSON object that rocprofiler-sdk writes of
 * it: "uuid":{"bytes":{"value0":...}}, "domain", "location_id". Stops behind these. */
void rocl_read_agent_place(rocl_trace *t, rocl_agent *a, const char *json, size_t n);

/* ---- batches --------------------------------------------------------------------------------- */

/* Batches that a worker fills: of each kind up to `max` events, with their arguments. When one is
 * full, all of them are emitted. */
typedef struct rocl_batcher {
    const rocl_capture *capture;
    const rocl_emitter *to;
    unsigned worker;
    size_t max; /* events in a batch */
    rocl_batch out[ROCL_KINDS];
    rocl_arg *args; /* those of all batches */
    size_t arg_count, arg_cap;
    rocl_arena arg_text;  /* for their texts, until the batches are emitted */
    rocl_packet *packets; /* those of the dispatches of all batches */
    size_t packet_count, packet_cap;
    rocl_instance *instances; /* those of the counter values of all batches */
    size_t instance_count, instance_cap;
} rocl_batcher;

/* The next record of a batch, zeroed; if it is full, all batches are emitted first. NULL: that
 * failed. */
void *rocl_batcher_next(rocl_batcher *b, rocl_kind kind, rocl_status *st, rocl_error *err);
/* Adds a copy of a record, which has the size of its kind. */
static inline rocl_status rocl_batcher_add(rocl_batcher *b, rocl_kind kind, const void *record,
                                           size_t size, rocl_error *err)
{
    rocl_batch *out = &b->out[kind];
    if (out->any && out->count < b->max) {
        memcpy((char *)out->any + out->count++ * size, record, size);
        return ROCL_OK;
    }
    rocl_status st = ROCL_OK;
    void *to = rocl_batcher_next(b, kind, &st, err);
    if (to)
        memcpy(to, record, size);
    return st;
}
/* The next record, for a caller that fills it completely; NULL: the batch is full. */
static inline void *rocl_batcher_room(rocl_batcher *b, rocl_kind kind, size_t size)
{
    rocl_batch *out = &b->out[kind];
    return out->any && out->count < b->max ? (char *)out->any + out->count++ * size : NULL;
}
/* Adds an argument, whose value is copied. False: memory is out. */
bool rocl_batcher_arg(rocl_batcher *b, uint32_t type, uint32_t name, const char *value, size_t n);
/* Adds a packet, unless it equals the last one. Returns the value for rocl_dispatch.packet; 0:
 * memory is out. */
uint32_t rocl_batcher_packet(rocl_batcher *b, const rocl_packet *packet);
/* Adds a dispatch, or a record that begins with one, with its packet, unless that is NULL. */
rocl_status rocl_batcher_add_dispatch(rocl_batcher *b, rocl_kind kind, rocl_dispatch *record,
                                      const rocl_packet *packet, rocl_error *err);
/* Adds an instance of the last counter value. Returns its index + 1; 0: memory is out. */
uint32_t rocl_batcher_instance(rocl_batcher *b, const rocl_instance *instance);
rocl_status rocl_batcher_flush(rocl_batcher *b, rocl_error *err);
void rocl_batcher_free(rocl_batcher *b);

/* ---- what definitions are called ------------------------------------------------------------- */

/* Sets the label of an agent by --agent-index-value. */
void rocl_label_agent(rocl_trace *t, rocl_agent *a);
/* Reads the name of an agent at the begin of a text: "GPU 0", "GPU-0", "GPU [0]", "CPU 1", "Agent
 * 2" (without a type) and the like. False: none. */
bool rocl_read_agent(rocl_view text, rocl_agent_type *type, uint32_t *number);
/* Sets it with the name that the program gave the agent: "Agent 2 (trainer)". */
void rocl_label_named_agent(rocl_trace *t, rocl_agent *a);

/* The length of a kernel's name without the ".kd" of its descriptor, which AMD's profilers leave
 * on, and demanglers take for the suffix of a clone. */
size_t rocl_kernel_length(const char *name, size_t n);
/* A name (text) without it. */
uint32_t rocl_kernel_without_kd(rocl_trace *t, uint32_t text);
/* The name by --kernel-names. mangled, truncated: texts; 0 or ROCL_NONE: the source has none. */
uint32_t rocl_kernel_shown(rocl_trace *t, uint32_t mangled, uint32_t display, uint32_t truncated);

/* ---- facts in JSON columns: one not found for want of memory is noted as a lost text ----------
 */

/* The string at a top-level key of a JSON object, as a text; ROCL_NONE: none. *bad: the JSON does
 * not parse. */
uint32_t rocl_json_text(rocl_trace *t, const char *json, size_t len, const char *key, bool *bad);
/* An unsigned number at a key, written as number or string; false when there is none. */
bool rocl_json_number(rocl_trace *t, const char *json, size_t len, const char *key, uint64_t *v);

/* The begin of the line at an offset, safe to print, for messages: fills `text` of `size` bytes. */
void rocl_quote_line(const rocl_spool *spool, uint64_t offset, char *text, size_t size);
