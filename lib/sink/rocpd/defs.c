/* Definitions -> rows. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json_put.h"
#include "sink/rocpd/newset.h"

typedef rocl_status write_fn(newset *s, uint32_t index, newset_cell id, rocl_error *err);

/* ---- what rows share ----------------------------------------------------------------------- */

/* The process that a row belongs to, and its node: two cells. */
rocl_status newset_owner(newset *s, uint32_t process, newset_cell *cells, rocl_error *err)
{
    const rocl_capture *c = s->capture;
    uint32_t node = process < c->process_count ? c->processes[process].node
                    : c->node_count            ? 0
                                               : ROCL_NONE;
    cells[0] = cells[1] = newset_null();
    rocl_status st = newset_must_ref(s, SCHEMA_NODE, node, &cells[0], err);
    return st ? st : newset_ref(s, SCHEMA_PROCESS, process, &cells[1], err);
}

static newset_cell number(int64_t v)
{
    return v < 0 ? newset_null() : newset_int(v);
}

/* ---- node, process, thread ----------------------------------------------------------------- */

/* The same for the same machine. */
static int64_t hash_of(const newset *s, const rocl_node *n)
{
    uint64_t hash = 0;
    const uint32_t texts[] = {n->machine_id, n->hostname};
    if (n->id)
        return n->id;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (const char *p = rocl_str(s->trace, texts[i]); *p; p++)
            hash = rocl_mix64(hash + (uint8_t)*p);
    return (int64_t)(hash >> 1);
}

static rocl_status write_node(newset *s, uint32_t index, newset_cell id, rocl_error *err)
{
    const rocl_node *n = &s->capture->nodes[index];
    const newset_cell row[] = {id,
                               newset_int(hash_of(s, n)),
                               newset_text(s, n->machine_id),
                               newset_text(s, n->system_name),
                               newset_text(s, n->hostname),
                               newset_text(s, n->release),
                               newset_text(s, n->version),
                               newset_text(s, n->hardware)};
    bool found = false;
    rocl_status st = ROCL_OK;
    if (s->to->flat)
        st = newset_find_node(s, &row[2], &row[1], &s->defs[SCHEMA_NODE].ids[index], &found, err);
    return st || found ? st : newset_insert(s, SCHEMA_NODE, row, err);
}

/* Readers leave out what ended before its process began. */
static int64_t begin_of(newset *s, uint32_t index)
{
    int64_t init = s->capture->processes[index].init, first = s->first_ends[index];
    if (init <= 0 || first >= init)
        return init;
    s->early++;
    return first;
}

/* Nothing of the environment is known but the rank. A flat set has a guid of its own. */
static rocl_status write_process(newset *s, uint32_t index, newset_cell id, rocl_error *err)
{
    const rocl_process *p = &s->capture->processes[index];
    char rank[40] = "{}";
    newset_cell guid = newset_text(s, s->capture->guid), nid;
    if (p->rank >= 0)
        snprintf(rank, sizeof rank, "{\"RANK\": \"%d\"}", p->rank);
    s->text.len = 0;
    if (s->to->flat) {
        rocl_buf_str(&s->text, "{\"guid\": \"");
        s->garbled += rocl_json_put(&s->text, guid.p, guid.n) > 0;
        rocl_buf_str(&s->text, "\"}");
    } else {
        rocl_buf_str(&s->text, "{}");
    }
    rocl_status st = s->text.failed ? rocl_fail_memory(err)
                                    : newset_must_ref(s, SCHEMA_NODE, p->node, &nid, err);
    if (st != ROCL_OK)
        return st;
    const newset_cell row[] = {id,
                               nid,
                               newset_int(p->ppid),
                               newset_int(p->pid),
                               newset_int(begin_of(s, index)),
                               newset_int(p->fini),
                               newset_int(p->start),
                               newset_int(p->end),
                               newset_text(s, p->command),
                               newset_literal(rank),
                               newset_bytes(s->text.data, s->text.len)};
    return newset_insert(s, SCHEMA_PROCESS, row, err);
}

static rocl_status write_thread(newset *s, uint32_t index, newset_cell id, rocl_error *err)
{
    const rocl_capture *c = s->capture;
    const rocl_thread *t = &c->threads[index];
    newset_cell by[2];
    rocl_status st = newset_owner(s, t->process, by, err);
    int64_t ppid = t->process < c->process_count ? c->processes[t->process].ppid : 0;
    const newset_cell row[] = {
        id, by[0], newset_int(ppid), by[1], newset_int(t->tid), newset_text(s, t->name)};
    return st ? st : newset_insert(s, SCHEMA_THREAD, row, err);
}

/* ---- agents, queues, streams --------------------------------------------------------------- */

static rocl_status write_agent(newset *s, uint32_t index, newset_cell id, rocl_error *err)
{
    const rocl_agent *a = &s->capture->agents[index];
    char *json = NULL;
    newset_cell pid, nid;
    rocl_status st = newset_ref(s, SCHEMA_PROCESS, a->process, &pid, err);
    if (st == ROCL_OK)
        st = newset_ref(s, SCHEMA_NODE, a->node, &nid, err);
    if (st == ROCL_OK)
        st = rocl_agent_json(s->trace, s->capture, index, &json, err);
    if (st != ROCL_OK)
        return st;
    const newset_cell row[] = {id,
                               nid,
                               pid,
                               newset_text(s, a->type_name),
                               number(a->absolute_index),
                               number(a->logical_index),
                               number(a->type_index),
                               newset_text(s, a->name),
                               newset_text(s, a->model),
                               newset_text(s, a->vendor),
                               newset_text(s, a->product),
                               newset_text(s, a->user_name),
                               newset_literal(json)};
    st = newset_insert(s, SCHEMA_AGENT, row, err);
    free(json);
    return st;
}

/* People know it by a number that another may have: then that is not its id. */
static rocl_status write_place(newset *s, schema_table t, const rocl_queue *q, newset_cell id,
                               rocl_error *err)
{
    newset_cell by[2];
    char number[64] = "{}";
    rocl_status st = newset_owner(s, q->process, by, err);
    if (!s->to->flat && id.i != q->id)
        snprintf(number, sizeof number, SCHEMA_NUMBER, (long long)q->id);
    const newset_cell row[] = {id, by[0], by[1], newset_text(s, q->name), newset_literal(number)};
    return st ? st : newset_insert(s, t, row, err);
}

static rocl_status write_queue(newset *s, uint32_t index, newset_cell id, rocl_error *err)
{
    return write_place(s, SCHEMA_QUEUE, &s->capture->queues[index], id, err);
}

static rocl_status write_stream(newset *s, uint32_t index, newset_cell id, rocl_error *err)
{
    return write_place(s, SCHEMA_STREAM, &s->capture->streams[index], id, err);
}

/* ---- kernels, counters --------------------------------------------------------------------- */

static rocl_status write_code_object(newset *s, uint32_t agent, newset_cell id, rocl_error *err)
{
    newset_cell by[2], at = newset_null();
    rocl_status st = newset_owner(s, s->capture->agents[agent].process, by, err);
    if (st == ROCL_OK)
        st = newset_ref(s, SCHEMA_AGENT, agent, &at, err);
    const newset_cell row[] = {id, by[0], by[1], at};
    return st ? st : newset_insert(s, SCHEMA_CODE_OBJECT, row, err);
}

/* The name of the descriptor, as profilers have it. */
static newset_cell descriptor(newset *s, uint32_t mangled)
{
    newset_cell name = newset_text(s, mangled);
    if (!name.n)
        return name;
    s->text.len = 0;
    rocl_buf_put(&s->text, name.p, name.n);
    rocl_buf_str(&s->text, ".kd");
    return newset_bytes(s->text.data, s->text.len);
}

static rocl_status write_kernel(newset *s, uint32_t index, newset_cell id, rocl_error *err)
{
    const rocl_kernel *k = &s->capture->kernels[index];
    rocl_buf json = {0};
    newset_cell by[2], code;
    rocl_status st = newset_owner(s, k->process, by, err);
    if (st == ROCL_OK)
        st = newset_ref(s, SCHEMA_CODE_OBJECT, k->agent, &code, err);
    if (st == ROCL_OK)
        st = rocl_kernel_json(s->trace, s->capture, index, &json, err);
    newset_cell name = descriptor(s, k->mangled);
    if (st == ROCL_OK && (s->text.failed || json.failed))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        const newset_cell row[] = {id,
                                   by[0],
                                   by[1],
                                   code,
                                   name,
                                   newset_text(s, k->display),
                                   newset_null(),
                                   newset_int(k->group_segment),
                                   newset_int(k->private_segment),
                                   newset_int(k->sgpr),
                                   newset_int(k->arch_vgpr),
                                   newset_int(k->accum_vgpr),
                                   json.len ? newset_bytes(json.data, json.len)
                                            : newset_literal("{}")};
        st = newset_insert(s, SCHEMA_KERNEL, row, err);
    }
    rocl_buf_free(&json);
    return st;
}

static rocl_status write_counter(newset *s, uint32_t index, newset_cell id, rocl_error *err)
{
    const rocl_counter *k = &s->capture->counters[index];
    newset_cell by[2], at = newset_null();
    rocl_status st = newset_owner(s, k->process, by, err);
    if (st == ROCL_OK)
        st = newset_ref(s, SCHEMA_AGENT, k->agent, &at, err);
    bool known = k->agent < s->capture->agent_count;
    const newset_cell row[] = {id,
                               by[0],
                               by[1],
                               at,
                               known ? newset_text(s, s->capture->agents[k->agent].type_name)
                                     : newset_null(),
                               newset_text(s, k->name),
                               newset_text(s, k->symbol),
                               newset_text(s, k->description),
                               newset_text(s, k->component),
                               newset_text(s, k->units),
                               newset_text(s, k->value_type),
                               newset_text(s, k->block)};
    return st ? st : newset_insert(s, SCHEMA_COUNTER, row, err);
}

/* ---- all ----------------------------------------------------------------------------------- */

static write_fn *const writers[SCHEMA_TABLES] = {
    [SCHEMA_NODE] = write_node,      [SCHEMA_PROCESS] = write_process,
    [SCHEMA_THREAD] = write_thread,  [SCHEMA_AGENT] = write_agent,
    [SCHEMA_QUEUE] = write_queue,    [SCHEMA_STREAM] = write_stream,
    [SCHEMA_KERNEL] = write_kernel,  [SCHEMA_CODE_OBJECT] = write_code_object,
    [SCHEMA_COUNTER] = write_counter};

rocl_status newset_def_write(newset *s, schema_table t, uint32_t index, rocl_error *err)
{
    return writers[t](s, index, newset_int(s->defs[t].ids[index]), err);
}

rocl_status newset_defs_write(newset *s, rocl_error *err)
{
    static const schema_table tables[] = {SCHEMA_NODE,   SCHEMA_PROCESS, SCHEMA_AGENT,
                                          SCHEMA_THREAD, SCHEMA_QUEUE,   SCHEMA_STREAM,
                                          SCHEMA_KERNEL, SCHEMA_COUNTER};
    enum { ALWAYS = 3 };
    size_t n = s->to->whole ? sizeof tables / sizeof *tables : ALWAYS;
    newset_cell id;
    rocl_status st = ROCL_OK;
    s->unnamed_after = s->defs[SCHEMA_KERNEL].last;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < s->defs[tables[i]].count && st == ROCL_OK; k++)
            st = newset_ref(s, tables[i], k, &id, err);
    return st;
}
