/* Opens a JSON file of rocprofv3: its processes, the pieces of its arrays of records, and the
 * definitions that these use. */
#include "source/rocprofv3/rocprofv3.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"

/* ---- processes and pieces -------------------------------------------------------------------- */

/* The blocks of the arrays of records of a process. */
static bool add_pieces(rocl_records_input *in, rocl_source *s, size_t process, size_t node)
{
    rocprofv3_run *run = in->state;
    const rocl_json_index *x = &run->index;
    bool ok = true;
    for (size_t i = node + 1; i < x->count && ok && x->nodes[i].parent >= node; i++) {
        const rocl_json_node *array = &x->nodes[i], *group = &x->nodes[array->parent];
        if (group->parent != node || array->kind != ROCL_JSON_ARRAY || !array->elements ||
            (strcmp(group->key, "buffer_records") != 0 &&
             strcmp(group->key, "callback_records") != 0))
            continue;
        const rocprofv3_array of = rocprofv3_array_of(array->key);
        /* The first one of repeated keys counts. */
        if (of == ROCPROFV3_ARRAYS || rocl_json_child(x, group, array->key) != array) {
            /* Reports unknown arrays once, with their number of records. */
            char key[41];
            size_t n = 0;
            for (; array->key[n] && n < sizeof key - 1; n++)
                key[n] = array->key[n] > ' ' && array->key[n] < 0x7f ? array->key[n] : '?';
            key[n] = '\0';
            rocl_notice(run->trace, "%s: %" PRIu64 " record%s of '%s' %s left out: not known",
                        run->path, array->elements, array->elements == 1 ? "" : "s", key,
                        array->elements == 1 ? "is" : "are");
            s->truncated = true;
            continue;
        }
        run->processes[process].has_dispatches |= of == ROCPROFV3_DISPATCHES;
        ok = rocl_records_add_blocks(in, x, array, rocprofv3_part(process, of));
    }
    return ok;
}

static rocl_status add_process(rocl_records_input *in, rocl_source *s, size_t node, rocl_error *err)
{
    rocprofv3_run *run = in->state;
    const size_t at = run->count;
    if (!ROCL_GROW(run->processes, run->cap, at + 1))
        return rocl_fail_memory(err);
    rocprofv3_process *p = &run->processes[run->count++];
    p->about.rank = -1;
    p->about.node = ROCL_NONE;
    rocl_status st = rocprofv3_read_tables(run, p, &run->index.nodes[node], err);
    if (st != ROCL_OK)
        return st;
    /* The key of a process is its pid; without one, or with that of another, it is a new number. */
    const int64_t pid = p->about.id = p->about.pid;
    bool taken = pid < 0;
    for (size_t i = 0; i + 1 < run->count && !taken; i++)
        taken = run->processes[i].about.pid == pid;
    p->key = taken ? (uint64_t)run->count << 48 | ((uint64_t)pid & UINT32_MAX) : (uint64_t)pid;
    bool ok = rocl_records_define(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, p->key}, NULL);
    for (size_t i = 0; i < p->agent_count && ok; i++)
        ok = rocl_records_define(in, ROCL_KEY_AGENT, (rocl_key){p->key, 0, p->agents[i].handle},
                                 &(rocl_key_facts){.type = p->agents[i].about.type});
    return ok && add_pieces(in, s, at, node) ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- the file -------------------------------------------------------------------------------- */

static rocl_status add_processes(rocl_records_input *in, rocl_source *s, rocl_error *err)
{
    rocprofv3_run *run = in->state;
    const rocl_json_index *x = &run->index;
    const rocl_json_node *top =
        x->count ? rocl_json_child(x, x->nodes, "rocprofiler-sdk-tool") : NULL;
    rocl_status st = ROCL_OK;
    if (!top || (top->kind != ROCL_JSON_ARRAY && top->kind != ROCL_JSON_OBJECT))
        return rocl_fail(err, ROCL_INPUT, "%s: no list of processes: not as rocprofv3 writes it",
                         run->path);
    const size_t list = (size_t)(top - x->nodes);
    if (top->kind == ROCL_JSON_OBJECT)
        return add_process(in, s, list, err);
    for (size_t i = list + 1; i < x->count && st == ROCL_OK && x->nodes[i].parent >= list; i++)
        if (x->nodes[i].parent == list && x->nodes[i].kind == ROCL_JSON_OBJECT)
            st = add_process(in, s, i, err);
    return st;
}

/* ---- definitions of what is used ------------------------------------------------------------- */

static uint32_t find_agent(const rocl_records_input *in, const rocprofv3_process *p, uint32_t at)
{
    return at == ROCL_NONE
               ? ROCL_NONE
               : rocl_records_find(in, ROCL_KEY_AGENT, (rocl_key){p->key, 0, p->agents[at].handle});
}

/* All of them: code that was never dispatched may have been sampled. */
static bool define_code_objects(rocl_records_input *in, rocprofv3_process *p, uint32_t process)
{
    rocl_capture *c = &in->capture->pub;
    p->first_code_object = c->code_object_count;
    for (size_t i = 0; i < p->code_object_count; i++) {
        rocl_code_object *to = rocl_define(c, ROCL_DEFINE_CODE_OBJECT);
        if (!to)
            return false;
        const rocprofv3_code_object *from = &p->code_objects[i];
        *to = (rocl_code_object){(int64_t)from->id, process,
                                 find_agent(in, p, rocl_ids_get(&p->agent_ids, from->agent))};
    }
    return true;
}

/* Symbols of kernels that were dispatched; the others stay in the file. */
static rocl_status refine_kernels(rocl_records_input *in, rocprofv3_process *p, rocl_error *err)
{
    rocl_capture *c = &in->capture->pub;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < p->symbol_count && st == ROCL_OK; i++) {
        const rocprofv3_symbol *s = &p->symbols[i];
        const uint32_t at = rocl_records_find(in, ROCL_KEY_KERNEL, (rocl_key){p->key, 0, s->id});
        uint64_t code;
        if (at == ROCL_NONE || rocl_ids_get(&p->symbol_ids, s->id) != i)
            continue;
        rocl_kernel *k = rocl_definition_at(c, ROCL_DEFINE_KERNEL, at);
        st = rocprofv3_read_symbol(in->state, s, k, &code, err);
        const uint32_t of = st == ROCL_OK ? rocl_ids_get(&p->code_object_ids, code) : ROCL_NONE;
        if (of != ROCL_NONE) {
            k->code_object = p->first_code_object + of;
            k->agent = c->code_objects[k->code_object].agent;
        }
    }
    return st;
}

static rocl_status refine_definitions(rocl_records_input *in, rocl_error *err)
{
    rocprofv3_run *run = in->state;
    rocl_capture *c = &in->capture->pub;
    rocl_map nodes = {0};
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < run->count && st == ROCL_OK; i++) {
        rocprofv3_process *p = &run->processes[i];
        const uint32_t at = rocl_records_find(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, p->key});
        if (at == ROCL_NONE)
            continue;
        rocl_process *process = rocl_definition_at(c, ROCL_DEFINE_PROCESS, at);
        *process = p->about;
        process->start = p->about.init;
        process->end = p->about.fini;
        if (p->has_node) { /* machines have numbers, or are one each */
            bool fresh = true;
            rocl_node *node = p->machine < 0 ? rocl_define(c, ROCL_DEFINE_NODE)
                                             : rocl_define_once(c, ROCL_DEFINE_NODE, &nodes,
                                                                (uint64_t)p->machine, &fresh);
            if (node && fresh)
                *node = p->node;
            process->node = node ? (uint32_t)(node - c->nodes) : ROCL_NONE;
            st = node ? st : rocl_fail_memory(err);
        }
        for (uint32_t k = 0; k < p->agent_count; k++) {
            const uint32_t used = find_agent(in, p, k);
            if (used == ROCL_NONE)
                continue;
            rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, used), known = *a;
            *a = p->agents[k].about;
            a->id = known.id;
            a->process = known.process;
            a->type = a->type == ROCL_AGENT_OTHER ? known.type : a->type;
            a->type_name = run->types[a->type];
            a->node = process->node;
            rocl_label_agent(in->trace, a);
        }
        for (uint32_t k = 0; k < c->counter_count; k++) {
            rocl_counter *counter = rocl_definition_at(c, ROCL_DEFINE_COUNTER, k);
            size_t n = 0;
            while (n < p->counter_count && p->counters[n].name != counter->name)
                n++;
            if (counter->process != at || n == p->counter_count)
                continue;
            counter->description = p->counters[n].description;
            counter->block = p->counters[n].block;
            counter->component = run->component;
            counter->value_type = run->value_type;
        }
        if (st == ROCL_OK)
            st =
                define_code_objects(in, p, at) ? refine_kernels(in, p, err) : rocl_fail_memory(err);
    }
    rocl_map_free(&nodes);
    return st;
}

/* ---- properties ------------------------------------------------------------------------------ */

/* Copies the object of a definition from the file. */
static rocl_status put_properties(rocl_trace *t, rocl_model_capture *c, rocl_property_of of,
                                  uint32_t index, rocl_buf *json, rocl_error *err)
{
    rocl_records_input *in = c->state;
    const rocprofv3_run *run = in->state;
    const rocl_capture *pub = &c->pub;
    const bool agent = of == ROCL_PROPERTIES_OF_AGENT, kernel = of == ROCL_PROPERTIES_OF_KERNEL;
    const uint32_t process = agent    ? pub->agents[index].process
                             : kernel ? pub->kernels[index].process
                                      : pub->code_objects[index].process;
    uint64_t begin = 0, end = 0;
    (void)t;
    for (size_t i = 0; i < run->count && !end; i++) {
        const rocprofv3_process *p = &run->processes[i];
        if (process != rocl_records_find(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, p->key}))
            continue;
        const uint32_t at = agent ? rocl_ids_get(&p->agent_ids, (uint64_t)pub->agents[index].id)
                            : kernel
                                ? rocl_ids_get(&p->symbol_ids, (uint64_t)pub->kernels[index].id)
                                : index - p->first_code_object;
        if (at == ROCL_NONE)
            continue;
        begin = agent    ? p->agents[at].begin
                : kernel ? p->symbols[at].begin
                         : p->code_objects[at].begin;
        end = agent ? p->agents[at].end : kernel ? p->symbols[at].end : p->code_objects[at].end;
    }
    if (!end)
        return ROCL_OK;
    rocl_status st = rocl_records_hold_files(in, err);
    if (st != ROCL_OK)
        return st;
    st = rocprofv3_copy_properties(run, of, begin, end, json, err);
    rocl_records_release_files(in);
    return st;
}

/* ---- the source ------------------------------------------------------------------------------ */

static void close_run(rocl_records_input *in)
{
    rocprofv3_run *run = in->state;
    for (size_t i = 0; i < run->count; i++)
        rocprofv3_free_tables(&run->processes[i]);
    free(run->processes);
    rocl_json_index_free(&run->index);
    rocl_buf_free(&run->bytes);
    rocl_buf_free(&run->text);
}

static bool intern_words(rocprofv3_run *run)
{
    static const char *const categories[ROCPROFV3_ARRAYS] = {
        [ROCPROFV3_DISPATCHES] = "KERNEL_DISPATCH",
        [ROCPROFV3_COPIES] = "MEMORY_COPY",
        [ROCPROFV3_ALLOCATIONS] = "MEMORY_ALLOCATION",
        [ROCPROFV3_SCRATCHES] = "SCRATCH_MEMORY",
        [ROCPROFV3_COUNTERS] = "KERNEL_DISPATCH",
        [ROCPROFV3_SPM] = "SPM_COUNTER_COLLECTION",
        [ROCPROFV3_PC_SAMPLES] = "PC_SAMPLING",
        [ROCPROFV3_STOCHASTIC_PC_SAMPLES] = "PC_SAMPLING",
        [ROCPROFV3_KFD] = "KFD",
        [ROCPROFV3_GRAPHS] = "HIP_GRAPH",
        [ROCPROFV3_MARKERS] = "MARKER_CORE_RANGE_API",
        [ROCPROFV3_HIP] = "HIP_RUNTIME_API",
        [ROCPROFV3_HSA] = "HSA_CORE_API",
        [ROCPROFV3_CALLS] = "API",
    };
    static const char *const types[ROCPROFV3_AGENT_TYPES] = {[ROCL_AGENT_OTHER] = "Agent",
                                                             [ROCL_AGENT_CPU] = "CPU",
                                                             [ROCL_AGENT_GPU] = "GPU",
                                                             [ROCL_AGENT_NIC] = "NIC"};
    static const char *const kfd[ROCPROFV3_KFD_KINDS] = {
        [ROCPROFV3_KFD_EVENT_MIGRATE] = "KFD_EVENT_PAGE_MIGRATE",
        [ROCPROFV3_KFD_EVENT_FAULT] = "KFD_EVENT_PAGE_FAULT",
        [ROCPROFV3_KFD_EVENT_QUEUE] = "KFD_EVENT_QUEUE",
        [ROCPROFV3_KFD_EVENT_UNMAP] = "KFD_EVENT_UNMAP_FROM_GPU",
        [ROCPROFV3_KFD_EVENT_DROPPED] = "KFD_EVENT_DROPPED_EVENTS",
        [ROCPROFV3_KFD_MIGRATE] = "KFD_PAGE_MIGRATE",
        [ROCPROFV3_KFD_FAULT] = "KFD_PAGE_FAULT",
        [ROCPROFV3_KFD_QUEUE] = "KFD_QUEUE",
    };
    static const char *const counter_words[] = {"rocm", "ABS"}; /* as databases have them */
    uint32_t words[2];
    const bool ok = rocl_intern_words(run->trace, counter_words, 2, words);
    run->component = words[0];
    run->value_type = words[1];
    return ok && rocl_intern_words(run->trace, kfd, ROCPROFV3_KFD_KINDS, run->kfd) &&
           rocl_intern_words(run->trace, categories, ROCPROFV3_ARRAYS, run->categories) &&
           rocl_intern_words(run->trace, types, ROCPROFV3_AGENT_TYPES, run->types);
}

static rocl_status open_json(rocl_records_input *in, rocl_error *err)
{
    rocl_source *s = in->source;
    rocprofv3_run *run = in->state;
    run->trace = in->trace;
    run->path = s->path;
    run->spool = in->files[0].spool;
    if (!intern_words(run))
        return rocl_fail_memory(err);
    rocl_json_outline how = {
        .objects = 5, .arrays = 2, .flags = ROCL_JSON_NANS, .block = rocl_piece_bytes / 4};
    rocl_status st = rocl_records_outline(in, &run->index, &how, err);
    run->flags = how.flags;
    if (st == ROCL_OK)
        st = add_processes(in, s, err);
    if (st == ROCL_OK && run->index.truncated)
        st = rocl_source_truncated(s, in->trace, err);
    rocl_json_index_free(&run->index);
    return st;
}

static const rocl_record_format format = {.state_size = sizeof(rocprofv3_run),
                                          .open = open_json,
                                          .places = ROCL_PLACES_BYTES,
                                          .keeps = true,
                                          .parse = rocprofv3_parse_piece,
                                          .free_worker = rocprofv3_free_worker,
                                          .refine = refine_definitions,
                                          .close = close_run};

const rocl_source_ops rocl_rocprofv3_json_ops = {ROCL_RECORDS_OPS(format),
                                                 .properties = put_properties};
