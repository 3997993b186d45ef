/* The relations and their columns. The columns of a relation are a list X(column, type, fields,
 * cell), where the cell is an expression of the record `r`, its event `e`, the batch `b` and its
 * capture `c`. Columns that are fields of a record come from the lists of model/fields.h, with what
 * they say; `docs` says what the others do. */
#include "relation/relation.h"

#include <string.h>

#include "model/fields.h"
#include "model/identity.h"

/* ---- cells ----------------------------------------------------------------------------------- */

static inline int64_t text_cell(uint32_t text)
{
    return text == ROCL_NONE ? ROCL_CELL_NULL : (int64_t)text;
}

/* Ids from 1 on; 0 is none. */
static inline int64_t id_cell(uint64_t id)
{
    return id ? (int64_t)id : ROCL_CELL_NULL;
}

static inline int64_t known_cell(int64_t v)
{
    return v < 0 ? ROCL_CELL_NULL : v;
}

static int64_t word_cell(rocl_trace *t, const char *word)
{
    return text_cell(rocl_strings_put(t->strings, word, strlen(word)));
}

/* A member of the definition that an index refers to. */
#define OF(list, index, member)                                                                    \
    ((index) < c->list##_count_of ? (int64_t)c->list##_of[index].member : ROCL_CELL_NULL)
#define nodes_of              nodes
#define nodes_count_of        node_count
#define processes_of          processes
#define processes_count_of    process_count
#define threads_of            threads
#define threads_count_of      thread_count
#define agents_of             agents
#define agents_count_of       agent_count
#define queues_of             queues
#define queues_count_of       queue_count
#define streams_of            streams
#define streams_count_of      stream_count
#define kernels_of            kernels
#define kernels_count_of      kernel_count
#define counters_of           counters
#define counters_count_of     counter_count
#define code_objects_of       code_objects
#define code_objects_count_of code_object_count
#define TEXT_OF(list, index, member)                                                               \
    ((index) < c->list##_count_of ? text_cell(c->list##_of[index].member) : ROCL_CELL_NULL)
/* An unknown counter has the name of the event. */
#define COUNTER_NAME(index)                                                                        \
    ((index) < c->counter_count ? text_cell(c->counters[index].name) : text_cell(e->name))
#define NODE_OF(process) ((process) < c->process_count ? c->processes[process].node : ROCL_NONE)

/* The host of a process, as identity decided it; of a capture read elsewhere, that of its node. */
static int64_t host_cell(const rocl_capture *c, uint32_t process)
{
    const rocl_machine *m = rocl_machine_at(c, process);
    const uint32_t node = rocl_node_or_only(c, NODE_OF(process));
    return id_cell(m && m->hostname       ? m->hostname
                   : node < c->node_count ? c->nodes[node].hostname
                                          : 0);
}

static int64_t agent_host_cell(const rocl_capture *c, const rocl_agent *a)
{
    const rocl_trace *t = c->trace;
    return a->machine < t->machine_count ? id_cell(t->machines[a->machine].hostname)
                                         : host_cell(c, a->process);
}

static const char *const alloc_words[] = {[ROCL_OP_OTHER] = "OTHER",
                                          [ROCL_OP_ALLOC] = "ALLOC",
                                          [ROCL_OP_FREE] = "FREE",
                                          [ROCL_OP_REALLOC] = "REALLOC",
                                          [ROCL_OP_RECLAIM] = "RECLAIM"};
static const char *const level_words[] = {[ROCL_LEVEL_OTHER] = "OTHER",
                                          [ROCL_LEVEL_REAL] = "REAL",
                                          [ROCL_LEVEL_VIRTUAL] = "VIRTUAL",
                                          [ROCL_LEVEL_SCRATCH] = "SCRATCH"};

/* Threads, and queues of GPU work (streams where there is no queue), of all captures. */
static int64_t track_number(const rocl_batch *b, const rocl_event *e)
{
    const rocl_work_place w = rocl_work_place_of(b->kind, e);
    const bool gpu = rocl_kind_in(b->kind, ROCL_WORK_KINDS);
    const uint32_t index = !gpu ? e->thread : w.queue != ROCL_NONE ? w.queue : w.stream;
    return (int64_t)b->capture->index << 34 |
           (int64_t)(!gpu                   ? 0
                     : w.queue != ROCL_NONE ? 1
                                            : 2)
               << 32 |
           index;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* clang-format off */
/* A row of a list of fields as a column of the record d. */
#define FIELD_COLUMN(member, type, column, needs, shown, doc, ...) \
    FIELD_##shown(type, column, needs, member, __VA_ARGS__)
#define FIELD_SHOWN(type, column, needs, member, X, d, ...) \
    FIELD_##type(X, column, needs, (d)->member, __VA_ARGS__)
#define FIELD_DETAIL(type, ...) FIELD_SHOWN(type, __VA_ARGS__)
#define FIELD_HIDDEN(...)
#define FIELD_U32(X, column, needs, v, ...)   X(column, INTEGER, needs, v, __VA_ARGS__)
#define FIELD_U64(X, column, needs, v, ...)   X(column, INTEGER, needs, v, __VA_ARGS__)
#define FIELD_I64(X, column, needs, v, ...)   X(column, INTEGER, needs, v, __VA_ARGS__)
#define FIELD_ID(X, column, needs, v, ...)    X(column, INTEGER, needs, id_cell(v), __VA_ARGS__)
#define FIELD_KNOWN(X, column, needs, v, ...) X(column, INTEGER, needs, known_cell(v), __VA_ARGS__)
#define FIELD_TEXT(X, column, needs, v, ...)  X(column, TEXT, needs, text_cell(v), __VA_ARGS__)
#define FIELD_REAL(X, column, needs, v, ...)  X(column, REAL, needs, rocl_real_cell(v), __VA_ARGS__)

#define WHO_COLUMNS(X, ...)                                                                             \
    X(rank, INTEGER, 0, known_cell(OF(processes, e->process, rank)), __VA_ARGS__) \
    X(guid, TEXT, 0, text_cell(c->guid), __VA_ARGS__) \
    X(hostname, TEXT, 0, host_cell(c, e->process), __VA_ARGS__) \
    X(nid, INTEGER, 0, OF(nodes, NODE_OF(e->process), id), __VA_ARGS__) \
    X(pid, INTEGER, 0, OF(processes, e->process, pid), __VA_ARGS__) \
    X(tid, INTEGER, 0, OF(threads, e->thread, tid), __VA_ARGS__)
#define EVENT_COLUMNS(X, ...)                                                                           \
    X(id, INTEGER, 0, e->id, __VA_ARGS__) \
    X(name, TEXT, 0, text_cell(e->name), __VA_ARGS__) \
    X(start, INTEGER, 0, e->start, __VA_ARGS__) \
    X(end, INTEGER, 0, e->end, __VA_ARGS__) \
    X(duration, INTEGER, 0, e->end - e->start, __VA_ARGS__) \
    X(category, TEXT, 0, text_cell(e->category), __VA_ARGS__) \
    X(kind, TEXT, 0, word, __VA_ARGS__) \
    WHO_COLUMNS(X, __VA_ARGS__) \
    X(thread, TEXT, 0, TEXT_OF(threads, e->thread, name), __VA_ARGS__) \
    ROCL_EVENT_LINKS(FIELD_COLUMN, X, e, __VA_ARGS__)
#define AGENT_COLUMNS(X, prefix, index, ...)                                                            \
    X(prefix, TEXT, 0, TEXT_OF(agents, index, device), __VA_ARGS__) \
    X(prefix##_name, TEXT, 0, TEXT_OF(agents, index, name), __VA_ARGS__) \
    X(prefix##_abs_index, INTEGER, 0, known_cell(OF(agents, index, absolute_index)), __VA_ARGS__) \
    X(prefix##_log_index, INTEGER, 0, known_cell(OF(agents, index, logical_index)), __VA_ARGS__) \
    X(prefix##_type_index, INTEGER, 0, known_cell(OF(agents, index, type_index)), __VA_ARGS__) \
    X(prefix##_type, TEXT, 0, TEXT_OF(agents, index, type_name), __VA_ARGS__) \
    X(prefix##_id, INTEGER, 0, OF(agents, index, id), __VA_ARGS__)
/* `at`: a record or a rocl_work_place. */
#define QUEUE_COLUMNS(X, at, ...)                                                                       \
    X(queue, TEXT, 0, TEXT_OF(queues, (at).queue, name), __VA_ARGS__) \
    X(queue_id, INTEGER, 0, OF(queues, (at).queue, id), __VA_ARGS__) \
    X(stream, TEXT, 0, TEXT_OF(streams, (at).stream, name), __VA_ARGS__) \
    X(stream_id, INTEGER, 0, OF(streams, (at).stream, id), __VA_ARGS__)

#define HOST_COLUMNS(X, ...)                                                                            \
    EVENT_COLUMNS(X, __VA_ARGS__) \
    ROCL_REGION_FIELDS(FIELD_COLUMN, X, r, __VA_ARGS__)
/* The records are as rocl_relation.arguments says. */
#define ARGUMENT_COLUMNS(X, ...)                                                                        \
    EVENT_COLUMNS(X, __VA_ARGS__) \
    X(position, INTEGER, 0, r->arg_count, __VA_ARGS__) \
    X(arg_type, TEXT, 0, text_cell(b->args[r->arg_first].type), __VA_ARGS__) \
    X(arg_name, TEXT, 0, text_cell(b->args[r->arg_first].name), __VA_ARGS__) \
    X(arg_value, TEXT, 0, text_cell(rocl_strings_put(t->strings, b->args[r->arg_first].value, \
                                                     b->args[r->arg_first].value_len)), __VA_ARGS__)
#define KERNEL_COLUMNS(X, ...)                                                                          \
    EVENT_COLUMNS(X, __VA_ARGS__) \
    DISPATCH_COLUMNS(X, r, __VA_ARGS__)
#define DISPATCH_COLUMNS(X, d, ...)                                                                     \
    AGENT_COLUMNS(X, agent, d->agent, __VA_ARGS__) \
    QUEUE_COLUMNS(X, *d, __VA_ARGS__) \
    ROCL_DISPATCH_IDS(FIELD_COLUMN, X, d, __VA_ARGS__) \
    X(kernel, TEXT, 0, TEXT_OF(kernels, d->kernel, display), __VA_ARGS__) \
    ROCL_DISPATCH_LABEL(FIELD_COLUMN, X, d, __VA_ARGS__) \
    X(code_object_id, INTEGER, 0, code_object_cell(c, d->kernel), __VA_ARGS__) \
    ROCL_DISPATCH_SIZES(FIELD_COLUMN, X, d, __VA_ARGS__) \
    X(vgpr_count, INTEGER, 0, OF(kernels, d->kernel, arch_vgpr), __VA_ARGS__) \
    X(accum_vgpr_count, INTEGER, 0, OF(kernels, d->kernel, accum_vgpr), __VA_ARGS__) \
    X(sgpr_count, INTEGER, 0, OF(kernels, d->kernel, sgpr), __VA_ARGS__) \
    X(static_lds_size, INTEGER, 0, OF(kernels, d->kernel, group_segment), __VA_ARGS__) \
    X(static_scratch_size, INTEGER, 0, OF(kernels, d->kernel, private_segment), __VA_ARGS__) \
    ROCL_DISPATCH_GRAPH(FIELD_COLUMN, X, d, __VA_ARGS__)
#define COPY_COLUMNS(X, ...)                                                                            \
    EVENT_COLUMNS(X, __VA_ARGS__) \
    ROCL_COPY_SIZE(FIELD_COLUMN, X, r, __VA_ARGS__) \
    AGENT_COLUMNS(X, src_agent, r->src, __VA_ARGS__) \
    AGENT_COLUMNS(X, dst_agent, r->dst, __VA_ARGS__) \
    QUEUE_COLUMNS(X, *r, __VA_ARGS__) \
    ROCL_COPY_ADDRESSES(FIELD_COLUMN, X, r, __VA_ARGS__)
#define ALLOC_COLUMNS(X, ...)                                                                           \
    EVENT_COLUMNS(X, __VA_ARGS__) \
    X(type, TEXT, 0, word_cell(t, alloc_words[r->op]), __VA_ARGS__) \
    X(level, TEXT, 0, word_cell(t, level_words[r->level]), __VA_ARGS__) \
    ROCL_ALLOC_SIZE(FIELD_COLUMN, X, r, __VA_ARGS__) \
    AGENT_COLUMNS(X, agent, r->agent, __VA_ARGS__) \
    AGENT_COLUMNS(X, owner, r->owner, __VA_ARGS__) \
    ROCL_ALLOC_BLOCK(FIELD_COLUMN, X, r, __VA_ARGS__) \
    QUEUE_COLUMNS(X, *r, __VA_ARGS__)
#define COUNTER_COLUMNS(X, ...)                                                                         \
    EVENT_COLUMNS(X, __VA_ARGS__) \
    X(counter, TEXT, 0, COUNTER_NAME(r->counter), __VA_ARGS__) \
    ROCL_COUNTER_VALUE(FIELD_COLUMN, X, r, __VA_ARGS__) \
    X(counter_id, INTEGER, 0, OF(counters, r->counter, id), __VA_ARGS__) \
    X(units, TEXT, 0, TEXT_OF(counters, r->counter, units), __VA_ARGS__) \
    X(symbol, TEXT, 0, TEXT_OF(counters, r->counter, symbol), __VA_ARGS__) \
    X(component, TEXT, 0, TEXT_OF(counters, r->counter, component), __VA_ARGS__) \
    X(description, TEXT, 0, TEXT_OF(counters, r->counter, description), __VA_ARGS__) \
    X(block, TEXT, 0, TEXT_OF(counters, r->counter, block), __VA_ARGS__) \
    X(value_type, TEXT, 0, TEXT_OF(counters, r->counter, value_type), __VA_ARGS__) \
    ROCL_COUNTER_ROW(FIELD_COLUMN, X, r, __VA_ARGS__) \
    DISPATCH_COLUMNS(X, (&r->d), __VA_ARGS__)
#define SAMPLE_COLUMNS(X, ...)                                                                          \
    EVENT_COLUMNS(X, __VA_ARGS__) \
    X(counter, TEXT, 0, COUNTER_NAME(r->counter), __VA_ARGS__) \
    ROCL_COUNTER_VALUE(FIELD_COLUMN, X, r, __VA_ARGS__) \
    X(counter_id, INTEGER, 0, OF(counters, r->counter, id), __VA_ARGS__) \
    X(units, TEXT, 0, TEXT_OF(counters, r->counter, units), __VA_ARGS__) \
    AGENT_COLUMNS(X, agent, r->agent, __VA_ARGS__) \
    ROCL_SAMPLE_INSTANCE(FIELD_COLUMN, X, r, __VA_ARGS__)
#define HIP_COLUMNS(X, ...)                                                                             \
    EVENT_COLUMNS(X, __VA_ARGS__) \
    AGENT_COLUMNS(X, agent, r->agent, __VA_ARGS__) \
    QUEUE_COLUMNS(X, *r, __VA_ARGS__) \
    X(source_queue_id, INTEGER, 0, OF(queues, r->source_queue, id), __VA_ARGS__) \
    ROCL_HIP_GRAPH(FIELD_COLUMN, X, r, __VA_ARGS__)
#define ALL_COLUMNS(X, ...)                                                                             \
    EVENT_COLUMNS(X, __VA_ARGS__) \
    AGENT_COLUMNS(X, agent, rocl_work_place_of(b->kind, e).agent, __VA_ARGS__) \
    QUEUE_COLUMNS(X, rocl_work_place_of(b->kind, e), __VA_ARGS__) \
    X(track_id, INTEGER, 0, track_number(b, e), __VA_ARGS__) \
    X(slice_id, INTEGER, 0, rocl_row_word(e->id, b->kind), __VA_ARGS__)

/* The caller, who has all rows, fills the last two: rocl_relation.nested. */
#define NESTED_COLUMNS(X, ...)                                                                          \
    ALL_COLUMNS(X, __VA_ARGS__) \
    X(depth, INTEGER, 0, ROCL_CELL_NULL, __VA_ARGS__) \
    X(parent_id, INTEGER, 0, ROCL_CELL_NULL, __VA_ARGS__)

#define OWN_COLUMNS(X, ...)                                                                             \
    X(id, INTEGER, 0, r->id, __VA_ARGS__) \
    X(guid, TEXT, 0, text_cell(c->guid), __VA_ARGS__)
#define NODE_COLUMNS(X, ...)                                                                            \
    OWN_COLUMNS(X, __VA_ARGS__) \
    X(hostname, TEXT, 0, text_cell(r->hostname), __VA_ARGS__) \
    X(machine_id, TEXT, 0, text_cell(r->machine_id), __VA_ARGS__) \
    X(system_name, TEXT, 0, text_cell(r->system_name), __VA_ARGS__) \
    X(release, TEXT, 0, text_cell(r->release), __VA_ARGS__) \
    X(version, TEXT, 0, text_cell(r->version), __VA_ARGS__) \
    X(hardware, TEXT, 0, text_cell(r->hardware), __VA_ARGS__)
#define PROCESS_COLUMNS(X, ...)                                                                         \
    OWN_COLUMNS(X, __VA_ARGS__) \
    X(rank, INTEGER, 0, known_cell(r->rank), __VA_ARGS__) \
    X(hostname, TEXT, 0, host_cell(c, (uint32_t)(r - c->processes)), __VA_ARGS__) \
    X(nid, INTEGER, 0, OF(nodes, r->node, id), __VA_ARGS__) \
    X(pid, INTEGER, 0, r->pid, __VA_ARGS__) \
    X(ppid, INTEGER, 0, r->ppid, __VA_ARGS__) \
    X(command, TEXT, 0, text_cell(r->command), __VA_ARGS__) \
    X(init, INTEGER, 0, id_cell((uint64_t)r->init), __VA_ARGS__) \
    X(start, INTEGER, 0, id_cell((uint64_t)r->start), __VA_ARGS__) \
    X(end, INTEGER, 0, id_cell((uint64_t)r->end), __VA_ARGS__) \
    X(fini, INTEGER, 0, id_cell((uint64_t)r->fini), __VA_ARGS__) \
    X(path, TEXT, 0, word_cell(t, c->path), __VA_ARGS__)
#define THREAD_COLUMNS(X, ...)                                                                          \
    OWN_COLUMNS(X, __VA_ARGS__) \
    X(rank, INTEGER, 0, known_cell(OF(processes, r->process, rank)), __VA_ARGS__) \
    X(hostname, TEXT, 0, host_cell(c, r->process), __VA_ARGS__) \
    X(nid, INTEGER, 0, OF(nodes, NODE_OF(r->process), id), __VA_ARGS__) \
    X(pid, INTEGER, 0, OF(processes, r->process, pid), __VA_ARGS__) \
    X(ppid, INTEGER, 0, OF(processes, r->process, ppid), __VA_ARGS__) \
    X(tid, INTEGER, 0, r->tid, __VA_ARGS__) \
    X(name, TEXT, 0, text_cell(r->name), __VA_ARGS__)
#define AGENT_TABLE_COLUMNS(X, ...)                                                                     \
    OWN_COLUMNS(X, __VA_ARGS__) \
    X(rank, INTEGER, 0, known_cell(OF(processes, r->process, rank)), __VA_ARGS__) \
    X(hostname, TEXT, 0, agent_host_cell(c, r), __VA_ARGS__) \
    X(nid, INTEGER, 0, OF(nodes, r->node, id), __VA_ARGS__) \
    X(pid, INTEGER, 0, OF(processes, r->process, pid), __VA_ARGS__) \
    X(uuid, TEXT, 0, id_cell(r->uuid), __VA_ARGS__) \
    X(pci, TEXT, 0, id_cell(r->pci), __VA_ARGS__) \
    X(label, TEXT, 0, text_cell(r->device), __VA_ARGS__) \
    X(type, TEXT, 0, text_cell(r->type_name), __VA_ARGS__) \
    X(absolute_index, INTEGER, 0, known_cell(r->absolute_index), __VA_ARGS__) \
    X(logical_index, INTEGER, 0, known_cell(r->logical_index), __VA_ARGS__) \
    X(type_index, INTEGER, 0, known_cell(r->type_index), __VA_ARGS__) \
    X(name, TEXT, 0, text_cell(r->name), __VA_ARGS__) \
    X(model_name, TEXT, 0, text_cell(r->model), __VA_ARGS__) \
    X(vendor_name, TEXT, 0, text_cell(r->vendor), __VA_ARGS__) \
    X(product_name, TEXT, 0, text_cell(r->product), __VA_ARGS__) \
    X(user_name, TEXT, 0, text_cell(r->user_name), __VA_ARGS__)
#define QUEUE_TABLE_COLUMNS(X, ...)                                                                     \
    OWN_COLUMNS(X, __VA_ARGS__) \
    X(pid, INTEGER, 0, OF(processes, r->process, pid), __VA_ARGS__) \
    X(name, TEXT, 0, text_cell(r->name), __VA_ARGS__) \
    X(label, TEXT, 0, text_cell(r->label), __VA_ARGS__)
#define SYMBOL_COLUMNS(X, ...)                                                                          \
    OWN_COLUMNS(X, __VA_ARGS__) \
    X(pid, INTEGER, 0, OF(processes, r->process, pid), __VA_ARGS__) \
    X(code_object_id, INTEGER, 0, OF(code_objects, r->code_object, id), __VA_ARGS__) \
    X(kernel_name, TEXT, 0, text_cell(r->mangled), __VA_ARGS__) \
    X(display_name, TEXT, 0, text_cell(r->display), __VA_ARGS__) \
    X(is_function, INTEGER, 0, r->is_function, __VA_ARGS__) \
    X(nid, INTEGER, 0, OF(nodes, NODE_OF(r->process), id), __VA_ARGS__) \
    X(group_segment_size, INTEGER, 0, r->group_segment, __VA_ARGS__) \
    X(private_segment_size, INTEGER, 0, r->private_segment, __VA_ARGS__) \
    X(sgpr_count, INTEGER, 0, r->sgpr, __VA_ARGS__) \
    X(arch_vgpr_count, INTEGER, 0, r->arch_vgpr, __VA_ARGS__) \
    X(accum_vgpr_count, INTEGER, 0, r->accum_vgpr, __VA_ARGS__)
#define CODE_OBJECT_COLUMNS(X, ...)                                                                     \
    OWN_COLUMNS(X, __VA_ARGS__) \
    X(nid, INTEGER, 0, OF(nodes, NODE_OF(r->process), id), __VA_ARGS__) \
    X(pid, INTEGER, 0, OF(processes, r->process, pid), __VA_ARGS__) \
    X(agent_abs_index, INTEGER, 0, known_cell(OF(agents, r->agent, absolute_index)), __VA_ARGS__)
#define COUNTER_INFO_COLUMNS(X, ...)                                                                    \
    OWN_COLUMNS(X, __VA_ARGS__) \
    X(nid, INTEGER, 0, OF(nodes, NODE_OF(r->process), id), __VA_ARGS__) \
    X(pid, INTEGER, 0, OF(processes, r->process, pid), __VA_ARGS__) \
    X(agent, TEXT, 0, TEXT_OF(agents, r->agent, device), __VA_ARGS__) \
    X(agent_abs_index, INTEGER, 0, known_cell(OF(agents, r->agent, absolute_index)), __VA_ARGS__) \
    X(name, TEXT, 0, text_cell(r->name), __VA_ARGS__) \
    X(symbol, TEXT, 0, text_cell(r->symbol), __VA_ARGS__) \
    X(description, TEXT, 0, text_cell(r->description), __VA_ARGS__) \
    X(component, TEXT, 0, text_cell(r->component), __VA_ARGS__) \
    X(units, TEXT, 0, text_cell(r->units), __VA_ARGS__) \
    X(value_type, TEXT, 0, text_cell(r->value_type), __VA_ARGS__) \
    X(block, TEXT, 0, text_cell(r->block), __VA_ARGS__)

/* The relations: X(name, its columns, records, event of a record, kinds or list of definitions). Views
 * of SQL stand on those whose name begins with '_'. */
#define EVENT_TABLES(X)                                                                            \
    X(kernel, KERNEL_COLUMNS, rocl_dispatch, &r->e, ROCL_BIT(ROCL_DISPATCH), 0,                       \
      "kernel dispatches")                                                                         \
    X(region, HOST_COLUMNS, rocl_region, &r->e, ROCL_BIT(ROCL_REGION), 0, "host API calls")           \
    X(marker, HOST_COLUMNS, rocl_region, &r->e, ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_INSTANT), 0,    \
      "ROCTx and Kokkos ranges and marks")                                                         \
    X(memory_copy, COPY_COLUMNS, rocl_copy, &r->e, ROCL_BIT(ROCL_COPY), 0, "memory copies")           \
    X(memory_allocation, ALLOC_COLUMNS, rocl_alloc, &r->e, ROCL_BIT(ROCL_ALLOC), 0,                   \
      "allocations and frees of memory")                                                           \
    X(scratch, ALLOC_COLUMNS, rocl_alloc, &r->e, ROCL_BIT(ROCL_SCRATCH), 0,                           \
      "operations on scratch memory")                                                              \
    X(counter, COUNTER_COLUMNS, rocl_counter_value, &r->d.e, ROCL_BIT(ROCL_COUNTER), 0,               \
      "values of counters of dispatches, summed over their instances")                             \
    X(sample, SAMPLE_COLUMNS, rocl_sample_value, &r->e, ROCL_BIT(ROCL_SAMPLE) | ROCL_BIT(ROCL_SPM), 0,\
      "values sampled over time")                                                                  \
    X(graph, HIP_COLUMNS, rocl_hip, &r->e, ROCL_BIT(ROCL_GRAPH), 0, "HIP graph launches")             \
    X(hip_event, HIP_COLUMNS, rocl_hip, &r->e, ROCL_BIT(ROCL_HIP_EVENT), 0, "HIP events")             \
    X(barrier, HIP_COLUMNS, rocl_hip, &r->e, ROCL_BIT(ROCL_BARRIER), 0, "barriers of queues")         \
    X(event, NESTED_COLUMNS, rocl_event, e_at(b, first + i),                                          \
      ROCL_ALL_KINDS & ~(ROCL_BIT(ROCL_COUNTER) | ROCL_BIT(ROCL_SPM) | ROCL_BIT(ROCL_SAMPLE)), 0,     \
      "all calls, markers and GPU work")                                                           \
    X(_range, HOST_COLUMNS, rocl_region, &r->e, ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER), 0,     \
      NULL)                                                                                        \
    X(_allocation, ALLOC_COLUMNS, rocl_alloc, &r->e, ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH), 0,   \
      NULL)                                                                                        \
    X(_counter_instance, COUNTER_COLUMNS, rocl_counter_value, &r->d.e, ROCL_BIT(ROCL_COUNTER), ROCL_FIELD_INSTANCES,     \
      NULL)                                                                                        \
    X(_argument, ARGUMENT_COLUMNS, rocl_region, &r->e,                                             \
      ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_INSTANT), 0, NULL)             \
    X(_instant, HOST_COLUMNS, rocl_region, &r->e, ROCL_BIT(ROCL_INSTANT), 0, NULL)                    \
    X(_work, ALL_COLUMNS, rocl_event, e_at(b, first + i), ROCL_WORK_KINDS, 0, NULL)                   \
    X(_gpu_work, ALL_COLUMNS, rocl_event, e_at(b, first + i),                                      \
      ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY), 0, NULL)
#define DEFINITION_TABLES(X)                                                                       \
    X(node, NODE_COLUMNS, rocl_node, nodes, node_count, "machines")                                \
    X(process, PROCESS_COLUMNS, rocl_process, processes, process_count, "processes")               \
    X(thread, THREAD_COLUMNS, rocl_thread, threads, thread_count, "threads")                       \
    X(agent, AGENT_TABLE_COLUMNS, rocl_agent, agents, agent_count, "CPUs, GPUs and NICs")          \
    X(queue, QUEUE_TABLE_COLUMNS, rocl_queue, queues, queue_count, "HSA queues")                   \
    X(stream, QUEUE_TABLE_COLUMNS, rocl_stream, streams, stream_count, "HIP streams")              \
    X(kernel_symbol, SYMBOL_COLUMNS, rocl_kernel, kernels, kernel_count,                           \
      "kernels that were loaded, dispatched or not")                                               \
    X(counter_info, COUNTER_INFO_COLUMNS, rocl_counter, counters, counter_count,                   \
      "counters that were recorded")                                                               \
    X(_code_object, CODE_OBJECT_COLUMNS, rocl_code_object, code_objects, code_object_count, NULL)
/* clang-format on */

static int64_t code_object_cell(const rocl_capture *c, uint32_t kernel)
{
    const uint32_t object = kernel < c->kernel_count ? c->kernels[kernel].code_object : ROCL_NONE;
    return OF(code_objects, object, id);
}

static inline const rocl_event *e_at(const rocl_batch *b, size_t i)
{
    return rocl_event_at(b, rocl_kind_infos[b->kind].size, i);
}

/* ---- a function for each column, and the rows of the relations ---------------------------------
 */

/* Only the column `kind` has a word that is the same for all rows of a batch. */
#define IS_KIND(column) (!__builtin_strcmp(#column, "kind"))
#define FILL(column, type, fields, cell, table, record, event)                                     \
    static void fill_##table##_##column(rocl_trace *t, const rocl_batch *b, size_t first,          \
                                        size_t n, int64_t *cells)                                  \
    {                                                                                              \
        const rocl_capture *c = b->capture;                                                        \
        const record *r = (const record *)b->any + first;                                          \
        const int64_t word =                                                                       \
            IS_KIND(column) ? word_cell(t, rocl_kind_infos[b->kind].name) : ROCL_CELL_NULL;        \
        (void)t, (void)c, (void)word;                                                              \
        for (size_t i = 0; i < n; i++, r++) {                                                      \
            const rocl_event *e = event;                                                           \
            (void)e;                                                                               \
            cells[i] = (int64_t)(cell);                                                            \
        }                                                                                          \
    }
#define ROW(column, type, fields, cell, table, record, event)                                      \
    {#column, ROCL_CELL_##type, fields, fill_##table##_##column},

/* The columns of a table: the functions, then the rows. */
#define EVENT_TABLE_COLUMNS(table, columns, record, event, ...)                                    \
    columns(FILL, table, record, event) static const rocl_relation_column columns_##table[] = {    \
        columns(ROW, table, record, event)};                                                       \
    _Static_assert(sizeof columns_##table / sizeof *columns_##table <= ROCL_RELATION_COLUMNS_MAX,  \
                   "a set of columns is 64 bits");
#define DEFINITION_TABLE_COLUMNS(table, columns, record, list, number, ...)                        \
    EVENT_TABLE_COLUMNS(table, columns, record, NULL, 0)                                           \
    static void list_##table(rocl_batch *b)                                                        \
    {                                                                                              \
        b->any = (void *)(uintptr_t)b->capture->list;                                              \
        b->count = b->capture->number;                                                             \
    }

/* clang-format off */
EVENT_TABLES(EVENT_TABLE_COLUMNS)
DEFINITION_TABLES(DEFINITION_TABLE_COLUMNS)

#define NUMBER_OF(table) sizeof columns_##table / sizeof *columns_##table
#define NESTED(table)    (!__builtin_strcmp(#table, "event") ? UINT64_C(3) << (NUMBER_OF(table) - 2) : 0)
#define ARGUMENTS(table) !__builtin_strcmp(#table, "_argument")
#define EVENT_TABLE(table, columns, record, event, kinds, fields, purpose)                         \
    {#table, kinds, fields, NULL, columns_##table, NUMBER_OF(table), purpose, NESTED(table),       \
     ARGUMENTS(table)},
#define DEFINITION_TABLE(table, columns, record, list, number, purpose)                            \
    {#table, 0, 0, list_##table, columns_##table, NUMBER_OF(table), purpose, 0, false},

const rocl_relation rocl_relations[] = {
    EVENT_TABLES(EVENT_TABLE)
    DEFINITION_TABLES(DEFINITION_TABLE)
};
/* clang-format on */
const size_t rocl_relation_count = sizeof rocl_relations / sizeof *rocl_relations;

const rocl_relation *rocl_relation_named(const char *name)
{
    for (size_t i = 0; i < rocl_relation_count; i++)
        if (!strcmp(rocl_relations[i].name, name))
            return &rocl_relations[i];
    return NULL;
}

unsigned rocl_relation_find(const rocl_relation *r, const char *column)
{
    unsigned i = 0;
    while (i < r->column_count && strcmp(r->columns[i].name, column) != 0)
        i++;
    return i;
}

/* ---- what columns say ------------------------------------------------------------------------ */

typedef struct column_doc {
    const char *column, *doc;
    bool detail;
} column_doc;

static const column_doc docs[] = {
#define DOC(member, type, column, needs, shown, doc, ...) DOC_##shown(column, doc)
#define DOC_SHOWN(column, doc)                            {#column, doc, false},
#define DOC_DETAIL(column, doc)                           {#column, doc, true},
#define DOC_HIDDEN(column, doc)
    ROCL_EVENT_FIELDS(DOC, )
    ROCL_REGION_FIELDS(DOC, )
    ROCL_DISPATCH_FIELDS(DOC, )
    ROCL_COPY_FIELDS(DOC, )
    ROCL_ALLOC_FIELDS(DOC, )
    ROCL_COUNTER_FIELDS(DOC, )
    ROCL_SAMPLE_FIELDS(DOC, )
    ROCL_HIP_FIELDS(DOC, )
#define AGENT_DOCS(prefix, whose, detail) \
    {#prefix "_abs_index", "index among all agents of the node: " whose, true}, \
    {#prefix "_id", "id in the input: " whose, true}, \
    {#prefix "_log_index", "index among the agents that the process sees: " whose, true}, \
    {#prefix "_name", "name of the " whose, true}, \
    {#prefix "_type", "GPU, CPU or NIC: " whose, detail}, \
    {#prefix "_type_index", "index among agents of its type: " whose, true},
    AGENT_DOCS(agent, "agent", false)
    AGENT_DOCS(src_agent, "agent the copy reads from", true)
    AGENT_DOCS(dst_agent, "agent the copy writes to", true)
    AGENT_DOCS(owner, "agent whose memory it is, also of a free", true)
    /* Columns with an own expression, and those of definitions: */
    {"absolute_index", "index among all agents of the node", false},
    {"accum_vgpr_count", "accumulation registers of the kernel", false},
    {"agent", "what the device is called in the whole trace: \"GPU 0\", \"GPU 0 on node7\"", false},
    {"arch_vgpr_count", "vector registers", false},
    {"arg_name", "name of the argument", false},
    {"arg_type", "type of the argument, as the profiler names it", false},
    {"arg_value", "value of the argument, as text", false},
    {"block", "hardware block of the counter", true},
    {"category", "what the profiler calls its kind: HIP_RUNTIME_API_EXT, KERNEL_DISPATCH, ...",
     false},
    {"code_object_id", "id of the code object of the kernel", true},
    {"command", "command line", false},
    {"component", "component the counter is of", true},
    {"counter", "name of the counter", false},
    {"counter_id", "id of the counter", true},
    {"depth", "how many slices of its track it is within", false},
    {"description", "what the counter counts", true},
    {"display_name", "name as the profiler displayed it", false},
    {"dst_agent", "the device the copy writes to, see agent", false},
    {"duration", "ns: end - start", false},
    {"end", "end, ns on the clock of the node", false},
    {"fini", "when the profiler ended, ns", false},
    {"group_segment_size", "LDS, bytes", false},
    {"guid", "the recording of one process that it is from", false},
    {"hardware", "architecture of the machine", false},
    {"hostname", "host of the process", false},
    {"id", "row of its table in the input, unique within guid (and kind)", false},
    {"init", "when the profiler was loaded, ns", false},
    {"is_function", "1: the profiler named the function, 0: its descriptor", false},
    {"kernel", "name of the kernel as the profiler displayed it", true},
    {"kernel_name", "mangled name", false},
    {"kind", "kind of the event, as ids and --include have it", false},
    {"label", "what it is called in every output", false},
    {"level", "REAL, VIRTUAL or SCRATCH", false},
    {"logical_index", "index among the agents that the process sees", false},
    {"machine_id", "machine id", false},
    {"model_name", "model", false},
    {"name", "what it is called; of an event what is displayed: kernel, call, message, direction",
     false},
    {"nid", "id of the node in the input", true},
    {"owner", "the device whose memory it is, also of a free; see agent", false},
    {"parent_id", "slice_id of the slice around it on its track, NULL: none", false},
    {"path", "the input", false},
    {"pci", "PCI address of the GPU, NULL: unknown", false},
    {"pid", "process id", false},
    {"ppid", "process id of the parent", false},
    {"position", "of the argument among those of its event, from 0", false},
    {"private_segment_size", "scratch memory, bytes", false},
    {"product_name", "product", false},
    {"queue", "name of the HSA queue", false},
    {"queue_id", "id of the HSA queue", false},
    {"rank", "MPI rank of the process", false},
    {"release", "release of the operating system", false},
    {"sgpr_count", "scalar registers of the kernel", false},
    {"slice_id", "number of the event, unique within guid", false},
    {"source_queue_id", "id of the queue waited for", false},
    {"src_agent", "the device the copy reads from, see agent", false},
    {"start", "begin, ns on the clock of the node", false},
    {"static_lds_size", "LDS of the kernel symbol, bytes", true},
    {"static_scratch_size", "scratch memory of the kernel symbol, bytes", true},
    {"stream", "name of the HIP stream", false},
    {"stream_id", "id of the HIP stream", false},
    {"symbol", "symbol of the counter", true},
    {"system_name", "operating system", false},
    {"thread", "name of the thread", true},
    {"tid", "thread id", false},
    {"track_id", "track it is on: a thread, queue or stream", false},
    {"type", "what kind of it it is: ALLOC, FREE, ...; of an agent GPU, CPU, NIC", false},
    {"type_index", "index among agents of its type", false},
    {"units", "unit of the values", false},
    {"user_name", "name given by the user", false},
    {"uuid", "of the GPU, NULL: unknown", false},
    {"value_type", "how values are to be read", true},
    {"vendor_name", "vendor", false},
    {"version", "version of the operating system", false},
    {"vgpr_count", "vector registers of the kernel", false},
};

static const column_doc *find_doc(const char *column)
{
    static const column_doc none = {"", "", false};
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++)
        if (!strcmp(docs[i].column, column))
            return &docs[i];
    return &none;
}

const char *rocl_relation_column_doc(const char *column)
{
    return find_doc(column)->doc;
}

bool rocl_relation_is_detail(const rocl_relation *r, const char *column)
{
    if (!strcmp(column, "kind")) /* the same in every row, except of several kinds */
        return !(r->kinds & (r->kinds - 1));
    return r->kinds && find_doc(column)->detail;
}
