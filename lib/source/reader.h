/* What the readers of formats share: captures and their definitions, tasks, batches under
 * construction, connections to databases, labels of agents, names of kernels, facts in JSON.
 * Records that cannot be used are counted by rocl_fault_count(), with the file and line or id. */
#ifndef ROCL_SOURCE_READER_H
#define ROCL_SOURCE_READER_H

#include "base/array.h"
#include "base/map.h"
#include "source/db/rows.h"
#include "source/source.h"

/* For `open`: a new capture, zeroed, behind those that the source has, owned by the trace. NULL
 * when memory is out. */
rocl_model_capture *rocl_trace_add_capture(rocl_trace *t, rocl_source *s, rocl_error *err);

/* Another connection to the database of a source, which must be in the state `as` (NULL: in any).
 */
rocl_status rocl_source_connect(rocl_db **db, const rocl_trace *t, const rocl_source *s,
                                const rocl_db_state *as, rocl_error *err);

/* For `open` of a text format: its file ends within a value. A notice says so, and the outcome is
 * partial; under --strict it is an error. */
rocl_status rocl_source_truncated(rocl_source *s, const rocl_trace *t, rocl_error *err);

/* Adds a task to a plan. */
rocl_status rocl_plan_add(rocl_plan *p, const rocl_task *task, rocl_error *err);

/* Interns n words that events will have in common. False when memory is out. */
bool rocl_intern_words(rocl_trace *t, const char *const *words, size_t n, uint32_t *texts);

/* ---- definitions ----------------------------------------------------------------------------- */

/* A capture has an array of each kind. */
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

/* Adds a definition of a kind (a rocl_node, rocl_process, ...) to a capture, zeroed, behind those
 * that are there, which may move. NULL when memory is out. */
void *rocl_define(rocl_capture *c, rocl_definition kind);
/* The definition that has a key (a handle, an id or a hash of names in the input); the map knows
 * which keys have one, and at which index. A key that is new gets one as from rocl_define(), and
 * *fresh says so. NULL when memory is out. */
void *rocl_define_once(rocl_capture *c, rocl_definition kind, rocl_map *map, uint64_t key,
                       bool *fresh);
/* The definition at an index, to change it. */
void *rocl_definition_at(rocl_capture *c, rocl_definition kind, uint32_t index);
/* Frees all definitions that were made so: as `free_capture` of a reader. */
void rocl_definitions_free(rocl_model_capture *c);

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
    rocl_arena arg_text;  /* where their texts may be: until the batches are emitted */
    rocl_packet *packets; /* those of the dispatches of all batches */
    size_t packet_count, packet_cap;
    rocl_instance *instances; /* those of the counter values of all batches */
    size_t instance_count, instance_cap;
} rocl_batcher;

/* The next record of a batch, zeroed; all batches go out first when it is full. NULL: it failed. */
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
/* The same for a record that the caller fills, all of it; NULL: there is no room in the batch at
 * hand. */
static inline void *rocl_batcher_room(rocl_batcher *b, rocl_kind kind, size_t size)
{
    rocl_batch *out = &b->out[kind];
    return out->any && out->count < b->max ? (char *)out->any + out->count++ * size : NULL;
}
/* Adds a packet, unless it is the same as the last one. What rocl_dispatch.packet is then; 0:
 * memory is out. */
uint32_t rocl_batcher_packet(rocl_batcher *b, const rocl_packet *packet);
/* Adds a dispatch, or a record that begins with one, with its packet, unless that is NULL. */
rocl_status rocl_batcher_add_dispatch(rocl_batcher *b, rocl_kind kind, rocl_dispatch *record,
                                      const rocl_packet *packet, rocl_error *err);
/* Adds an instance of the counter value that was added last. Its index + 1; 0: memory is out. */
uint32_t rocl_batcher_instance(rocl_batcher *b, const rocl_instance *instance);
rocl_status rocl_batcher_flush(rocl_batcher *b, rocl_error *err);
void rocl_batcher_free(rocl_batcher *b);

/* ---- what definitions are called ------------------------------------------------------------- */

/* Sets the label of an agent by --agent-index-value. */
void rocl_label_agent(rocl_trace *t, rocl_agent *a);
/* What a text calls an agent: "GPU 0", "GPU-0", "GPU [0]", "CPU 1", "Agent 2" (of no type) and the
 * like, whatever follows. False: nothing of these. */
bool rocl_read_agent(rocl_view text, rocl_agent_type *type, uint32_t *number);
/* The same with the name that the program gave it behind: "Agent 2 (trainer)". */
void rocl_label_named_agent(rocl_trace *t, rocl_agent *a);

/* The length of a kernel's name without the ".kd" of its descriptor, which AMD's profilers leave
 * on, and which demanglers take for the mark of a clone. */
size_t rocl_kernel_length(const char *name, size_t n);
/* The same for a text. */
uint32_t rocl_kernel_without_kd(rocl_trace *t, uint32_t text);
/* The short form of a name (text): that text itself where there is none. */
uint32_t rocl_kernel_short(rocl_trace *t, uint32_t full);
/* The name that --kernel-names asks for. mangled, truncated: texts, 0 or ROCL_NONE where the source
 * has none. */
uint32_t rocl_kernel_shown(rocl_trace *t, uint32_t mangled, uint32_t display, uint32_t truncated);

/* ---- facts in JSON columns: one not found for want of memory is noted as a lost text ----------
 */

/* The string at a top-level key of a JSON object, as a text; ROCL_NONE when it has none. *bad when
 * the JSON does not parse. */
uint32_t rocl_json_text(rocl_trace *t, const char *json, size_t len, const char *key, bool *bad);
/* An unsigned number at a key, written as number or string; false when there is none. */
bool rocl_json_number(rocl_trace *t, const char *json, size_t len, const char *key, uint64_t *v);

/* How the line at an offset begins, as one may print it, for messages: fills `text`, which has
 * `size` bytes. */
void rocl_quote_line(const rocl_spool *spool, uint64_t offset, char *text, size_t size);

#endif
