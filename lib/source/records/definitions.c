/* The definitions of an input of records, made from the keys of its first pass. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/records/run.h"

static uint32_t intern_text(rocl_trace *t, const char *s)
{
    return rocl_strings_put(t->strings, s, strlen(s));
}

/* Records that name no process belong to the only process that others name, else to the likely
 * one. */
static bool adopt_unknown_process(rocl_records_input *in)
{
    rocl_records_run *run = in->run;
    rocl_registry *processes = &run->keys[ROCL_KEY_PROCESS];
    const rocl_key unknown = {0, 0, ROCL_NO_KEY};
    uint64_t only = 0, others = 0;
    if (!rocl_registry_find(processes, &unknown))
        return true;
    for (size_t i = 0; i < processes->count; i++)
        if (processes->entries[i].key.number != ROCL_NO_KEY) {
            only = processes->entries[i].key.number;
            others++;
        }
    in->only_process = others == 1 ? only : in->likely_process;
    for (int of = 0; of < ROCL_KEYS; of++) {
        rocl_registry renamed = {0}, *old = &run->keys[of];
        bool ok = true;
        for (size_t i = 0; i < old->count && ok; i++) {
            rocl_key_entry *e = &old->entries[i];
            uint64_t *process = of == ROCL_KEY_PROCESS ? &e->key.number : &e->key.process;
            if (*process == ROCL_NO_KEY)
                *process = in->only_process;
            ok = rocl_registry_note(&renamed, &e->key, e->first, &e->facts);
        }
        rocl_registry_free(old);
        *old = renamed;
        if (!ok)
            return false;
    }
    return true;
}

/* Agents that were defined for every process become agents of each. */
static bool give_agents_to_all(rocl_records_input *in)
{
    rocl_registry given = {0}, *agents = &in->run->keys[ROCL_KEY_AGENT];
    const rocl_registry *processes = &in->run->keys[ROCL_KEY_PROCESS];
    bool ok = true;
    for (size_t i = 0; i < agents->count && ok; i++) {
        const rocl_key_entry *e = &agents->entries[i];
        if (e->key.process != ROCL_NO_KEY)
            ok = rocl_registry_note(&given, &e->key, e->first, &e->facts);
        for (size_t k = 0; k < processes->count && ok && e->key.process == ROCL_NO_KEY; k++) {
            const rocl_key key = {processes->entries[k].key.number, 0, e->key.number};
            if (!in->format->sees || in->format->sees(in, key.process, e->key.agent))
                ok = rocl_registry_note(&given, &key, e->first, &e->facts);
        }
    }
    rocl_registry_free(agents);
    *agents = given;
    return ok;
}

static uint32_t process_of(const rocl_records_input *in, const rocl_key_entry *e)
{
    return rocl_records_find(in, ROCL_KEY_PROCESS, (rocl_key){0, 0, e->key.process});
}

/* The name that a record gave a process or thread; 0: none. */
static uint32_t name_of_key(const rocl_records_input *in, rocl_key_of of, const rocl_key_entry *e)
{
    const rocl_key_entry *name = rocl_registry_find(&in->run->names_of[of], &e->key);
    if (!name && of != ROCL_KEY_PROCESS && e->key.process == in->only_process) {
        const rocl_key unknown = {ROCL_NO_KEY, e->key.agent,
                                  e->key.number}; /* the record named no process */
        name = rocl_registry_find(&in->run->names_of[of], &unknown);
    }
    return name ? name->facts.name : 0;
}

/* The number of a process or thread; those with only a name are counted, skipping numbers in
 * use. */
static int64_t number_of_key(const rocl_records_input *in, rocl_key_of of, const rocl_key_entry *e)
{
    const rocl_registry *all = &in->run->keys[of];
    if (!(e->key.number & ROCL_KEY_OF_TEXT))
        return (int64_t)e->key.number;
    rocl_key number = e->key;
    for (number.number = e->index; rocl_registry_find(all, &number);)
        number.number += all->count; /* counted ones stay distinct */
    return (int64_t)number.number;
}

static void define_process(rocl_records_input *in, rocl_key_of of, const rocl_key_entry *e,
                           void *to)
{
    const bool by_text = e->key.number & ROCL_KEY_OF_TEXT;
    const int64_t number = number_of_key(in, of, e);
    *(rocl_process *)to =
        (rocl_process){.id = number,
                       .node = ROCL_NONE,
                       .pid = by_text || e->facts.pid ? (int64_t)e->facts.pid : number,
                       .command = name_of_key(in, of, e),
                       .rank = -1};
}

static void define_thread(rocl_records_input *in, rocl_key_of of, const rocl_key_entry *e, void *to)
{
    const int64_t number = number_of_key(in, of, e);
    *(rocl_thread *)to = (rocl_thread){
        .id = number, .process = process_of(in, e), .tid = number, .name = name_of_key(in, of, e)};
}

/* Only the number of the device is known: it is the same GPU in every process of the input. */
static void define_agent(rocl_records_input *in, rocl_key_of of, const rocl_key_entry *e, void *to)
{
    static const char *const types[] = {[ROCL_AGENT_OTHER] = "Agent",
                                        [ROCL_AGENT_CPU] = "CPU",
                                        [ROCL_AGENT_GPU] = "GPU",
                                        [ROCL_AGENT_NIC] = "NIC"};
    const bool typed = e->facts.type && e->key.number >> 32 == (uint64_t)e->facts.type;
    const int64_t number = (int64_t)(typed ? e->key.number & UINT32_MAX : e->key.number);
    const char *type = types[e->facts.type];
    char label[40];
    (void)of;
    snprintf(label, sizeof label, "%s %" PRIu64, type, (uint64_t)number);
    *(rocl_agent *)to = (rocl_agent){.id = (int64_t)e->key.number,
                                     .node = ROCL_NONE,
                                     .process = process_of(in, e),
                                     .type = e->facts.type,
                                     .absolute_index = number,
                                     .logical_index = number,
                                     .type_index = number,
                                     .type_name = intern_text(in->trace, type),
                                     .label = intern_text(in->trace, label)};
}

/* Its number is mostly an address; one that would be negative as an id becomes its name. */
static void define_lane(rocl_records_input *in, rocl_key_of of, const rocl_key_entry *e, void *to)
{
    const uint32_t name = name_of_key(in, of, e);
    rocl_queue *q = to;
    char label[40];
    snprintf(label, sizeof label, "%s %" PRIu64, of == ROCL_KEY_QUEUE ? "Queue" : "Stream",
             e->key.number);
    *q = (rocl_queue){.id = (int64_t)e->key.number, .process = process_of(in, e), .name = name};
    if (!name && q->id < 0)
        q->name = intern_text(in->trace, label);
}

static void define_kernel(rocl_records_input *in, rocl_key_of of, const rocl_key_entry *e, void *to)
{
    rocl_trace *t = in->trace;
    const rocl_key_facts *f = &e->facts;
    (void)of;
    const uint32_t name = rocl_kernel_without_kd(t, f->name);
    const uint32_t mangled = f->mangled                             ? f->mangled
                             : !strncmp(rocl_str(t, name), "_Z", 2) ? name
                                                                    : 0;
    *(rocl_kernel *)to = (rocl_kernel){.id = f->id ? f->id : (int64_t)e->index + 1,
                                       .process = process_of(in, e),
                                       .agent = ROCL_NONE,
                                       .code_object = ROCL_NONE,
                                       .mangled = mangled,
                                       .display = name,
                                       .shown = rocl_kernel_shown(t, mangled, name, 0),
                                       .is_function = f->is_function,
                                       .group_segment = f->group_segment,
                                       .private_segment = f->private_segment,
                                       .sgpr = f->sgpr,
                                       .arch_vgpr = f->arch_vgpr,
                                       .accum_vgpr = f->accum_vgpr};
}

static void define_counter(rocl_records_input *in, rocl_key_of of, const rocl_key_entry *e,
                           void *to)
{
    (void)of;
    *(rocl_counter *)to = (rocl_counter){
        .id = (int64_t)e->index + 1,
        .process = process_of(in, e),
        .agent = rocl_records_find(in, ROCL_KEY_AGENT, (rocl_key){e->key.process, 0, e->key.agent}),
        .name = e->facts.name,
        .symbol = e->facts.name};
}

/* How each kind of key becomes a definition, in an order in which each refers only to earlier
 * ones. */
static const struct {
    rocl_definition kind;
    void (*fill)(rocl_records_input *in, rocl_key_of of, const rocl_key_entry *e, void *to);
} definitions[ROCL_KEYS] = {
    [ROCL_KEY_PROCESS] = {ROCL_DEFINE_PROCESS, define_process},
    [ROCL_KEY_THREAD] = {ROCL_DEFINE_THREAD, define_thread},
    [ROCL_KEY_AGENT] = {ROCL_DEFINE_AGENT, define_agent},
    [ROCL_KEY_QUEUE] = {ROCL_DEFINE_QUEUE, define_lane},
    [ROCL_KEY_STREAM] = {ROCL_DEFINE_STREAM, define_lane},
    [ROCL_KEY_KERNEL] = {ROCL_DEFINE_KERNEL, define_kernel},
    [ROCL_KEY_COUNTER] = {ROCL_DEFINE_COUNTER, define_counter},
};

rocl_status rocl_records_define_all(rocl_records_input *in, rocl_error *err)
{
    rocl_records_run *run = in->run;
    rocl_registry *processes = &run->keys[ROCL_KEY_PROCESS];
    bool ok = adopt_unknown_process(in);
    if (ok && !processes->count) { /* there is always one */
        in->only_process = in->only_process == ROCL_NO_KEY ? in->likely_process : in->only_process;
        ok = rocl_registry_note(processes, &(rocl_key){0, 0, in->only_process}, 0, NULL);
    }
    ok = ok && give_agents_to_all(in);
    for (int of = 0; of < ROCL_KEYS && ok; of++) {
        rocl_registry *r = &run->keys[of];
        if (r->count >= ROCL_NONE)
            return rocl_fail(err, ROCL_INPUT, "%s: too many threads, queues or kernels",
                             in->source->path);
        rocl_key_entry **list = rocl_registry_order(r);
        ok = list;
        for (size_t i = 0; ok && i < r->count; i++) {
            void *to = rocl_define(&in->capture->pub, definitions[of].kind);
            ok = to;
            if (ok)
                definitions[of].fill(in, (rocl_key_of)of, list[i], to);
        }
        free(list);
    }
    if (!ok)
        return rocl_fail_memory(err);
    return in->format->refine ? in->format->refine(in, err) : ROCL_OK;
}

uint32_t rocl_records_find(const rocl_records_input *in, rocl_key_of of, rocl_key key)
{
    const rocl_key_entry *e = rocl_registry_find(&in->run->keys[of], &key);
    return e ? e->index : ROCL_NONE;
}

bool rocl_records_define(rocl_records_input *in, rocl_key_of of, rocl_key key,
                         const rocl_key_facts *facts)
{
    return rocl_registry_note(&in->run->keys[of], &key, in->run->defined++, facts);
}
