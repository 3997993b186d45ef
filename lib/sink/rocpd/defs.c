/* Definitions: their ids, their rows, and references to them, even to unknown ones. A row is
 * written when it is first referred to. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"
#include "model/identity.h"
#include "sink/rocpd/newset.h"

/* ---- ids: those of the trace, where they are unique ---- */

typedef struct definitions {
    schema_table t;
    const void *all;
    size_t size, id; /* of an element; where its id is */
    uint32_t count;
} definitions;

/* Beyond this no ids would be left for placeholder rows. */
#define ID_MAX ((int64_t)1 << 62)

/* clang-format off */
#define TABLE(t, array, type) {t, array##s, sizeof(type), offsetof(type, id), array##_count}
/* clang-format on */

/* The first keeps its id, others with the same one get new ones behind all. */
static rocl_status keep_ids(newset_defs *defs, const definitions *d, rocl_error *err)
{
    rocl_map seen = {0};
    bool ok = true;
    defs->last = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        int64_t id;
        memcpy(&id, (const char *)d->all + i * d->size + d->id, sizeof id);
        defs->ids[i] = id;
        defs->last = id > defs->last && id < ID_MAX ? id : defs->last;
    }
    for (uint32_t i = 0; i < d->count && ok; i++) {
        uint64_t id = (uint64_t)defs->ids[i];
        if (rocl_map_get(&seen, id, ROCL_NONE) != ROCL_NONE || defs->ids[i] >= ID_MAX)
            defs->ids[i] = ++defs->last;
        ok = rocl_map_put(&seen, id, i);
    }
    rocl_map_free(&seen);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

static void renumber_ids(newset_defs *defs, int64_t used)
{
    for (uint32_t i = 0; i < defs->count; i++)
        defs->ids[i] = used + 1 + i;
    defs->last = used + defs->count;
}

/* Definitions with other well-known numbers (processes, threads, agents) keep their order, in which
 * they are read back. */
static rocl_status give_ids(newset *s, const definitions *d, rocl_error *err)
{
    newset_defs *defs = &s->defs[d->t];
    defs->count = d->count;
    defs->ids = calloc((size_t)d->count + 1, sizeof *defs->ids);
    defs->written = calloc((size_t)d->count + 1, sizeof *defs->written);
    if (!defs->ids || !defs->written)
        return rocl_fail_memory(err);
    if (s->to->flat) {
        renumber_ids(defs, s->to->used[d->t]);
        return ROCL_OK;
    }
    rocl_status st = keep_ids(defs, d, err);
    if (st != ROCL_OK || (d->t != SCHEMA_AGENT && d->t != SCHEMA_CODE_OBJECT &&
                          d->t != SCHEMA_THREAD && d->t != SCHEMA_PROCESS))
        return st;
    for (uint32_t i = 1; i < defs->count; i++)
        if (defs->ids[i] <= defs->ids[i - 1]) {
            renumber_ids(defs, 0);
            break;
        }
    return ROCL_OK;
}

rocl_status newset_ids_give(newset *s, rocl_error *err)
{
    const rocl_capture *c = s->capture;
    const definitions tables[] = {
        TABLE(SCHEMA_NODE, c->node, rocl_node),
        {SCHEMA_PROCESS, c->processes, sizeof(rocl_process), offsetof(rocl_process, id),
         c->process_count},
        TABLE(SCHEMA_THREAD, c->thread, rocl_thread),
        TABLE(SCHEMA_AGENT, c->agent, rocl_agent),
        TABLE(SCHEMA_QUEUE, c->queue, rocl_queue),
        TABLE(SCHEMA_STREAM, c->stream, rocl_stream),
        TABLE(SCHEMA_KERNEL, c->kernel, rocl_kernel),
        TABLE(SCHEMA_COUNTER, c->counter, rocl_counter),
        /* without code objects, one for each agent */
        c->code_object_count
            ? (definitions)TABLE(SCHEMA_CODE_OBJECT, c->code_object, rocl_code_object)
            : (definitions)TABLE(SCHEMA_CODE_OBJECT, c->agent, rocl_agent),
    };
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && st == ROCL_OK; i++)
        st = give_ids(s, &tables[i], err);
    return st;
}

void newset_ids_free(newset *s)
{
    for (schema_table t = 0; t < SCHEMA_TABLES; t++) {
        free(s->defs[t].ids);
        free(s->defs[t].written);
    }
}

/* ---- rows ---- */

/* The process that a row belongs to, and its node: two cells. */
static rocl_status put_owner(newset *s, uint32_t process, newset_cell *cells, rocl_error *err)
{
    const rocl_capture *c = s->capture;
    const uint32_t node = process < c->process_count
                              ? rocl_node_or_only(c, c->processes[process].node)
                          : c->node_count ? 0
                                          : ROCL_NONE;
    cells[0] = cells[1] = newset_null();
    rocl_status st = newset_must_ref(s, SCHEMA_NODE, node, &cells[0], err);
    return st ? st : newset_ref(s, SCHEMA_PROCESS, process, &cells[1], err);
}

static newset_cell int_or_null(int64_t v)
{
    return v < 0 ? newset_null() : newset_int(v);
}

/* ---- node, process, thread ---- */

/* A machine has one hash, whatever the file. */
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

static rocl_status write_node(newset *s, schema_table table, uint32_t index, newset_cell id,
                              rocl_error *err)
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
    if (s->to->flat && (n->hostname || n->machine_id)) /* others may be different machines */
        st = newset_find_node(s, row, &s->defs[table].ids[index], &found, err);
    return st || found ? st : newset_insert(s, table, row, err);
}

/* Only the rank of the environment is known. A flat set has its own guid: its processes keep their
 * original ones. */
static rocl_status write_process(newset *s, schema_table table, uint32_t index, newset_cell id,
                                 rocl_error *err)
{
    const rocl_process *p = &s->capture->processes[index];
    char rank[40] = "{}";
    newset_cell guid = newset_text(s, p->guid ? p->guid : s->capture->guid), nid;
    if (p->rank >= 0)
        snprintf(rank, sizeof rank, "{\"RANK\": \"%d\"}", p->rank);
    s->text.len = 0;
    if (s->to->flat || p->guid) {
        rocl_buf_str(&s->text, "{\"guid\": \"");
        s->garbled += rocl_json_put(&s->text, guid.p, guid.n) > 0;
        rocl_buf_str(&s->text, "\"}");
    } else {
        rocl_buf_str(&s->text, "{}");
    }
    rocl_status st =
        s->text.failed
            ? rocl_fail_memory(err)
            : newset_must_ref(s, SCHEMA_NODE, rocl_node_or_only(s->capture, p->node), &nid, err);
    if (st != ROCL_OK)
        return st;
    /* Readers leave out what ended before its process began. */
    int64_t init = p->init;
    if (init > 0 && s->first_ends[index] < init) {
        init = s->first_ends[index];
        s->late_processes++;
    }
    const newset_cell row[] = {id,
                               nid,
                               newset_int(p->ppid),
                               newset_int(p->pid),
                               newset_int(init),
                               newset_int(p->fini),
                               newset_int(p->start),
                               newset_int(p->end),
                               newset_text(s, p->command),
                               newset_literal(rank),
                               newset_bytes(s->text.data, s->text.len)};
    return newset_insert(s, table, row, err);
}

static rocl_status write_thread(newset *s, schema_table table, uint32_t index, newset_cell id,
                                rocl_error *err)
{
    const rocl_capture *c = s->capture;
    const rocl_thread *t = &c->threads[index];
    newset_cell by[2];
    rocl_status st = put_owner(s, t->process, by, err);
    int64_t ppid = t->process < c->process_count ? c->processes[t->process].ppid : 0;
    const newset_cell row[] = {
        id, by[0], newset_int(ppid), by[1], newset_int(t->tid), newset_text(s, t->name)};
    return st ? st : newset_insert(s, table, row, err);
}

/* ---- agents, queues, streams ---- */

static rocl_status write_agent(newset *s, schema_table table, uint32_t index, newset_cell id,
                               rocl_error *err)
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
                               int_or_null(a->absolute_index),
                               int_or_null(a->logical_index),
                               int_or_null(a->type_index),
                               newset_text(s, a->name),
                               newset_text(s, a->model),
                               newset_text(s, a->vendor),
                               newset_text(s, a->product),
                               newset_text(s, a->user_name),
                               newset_literal(json)};
    st = newset_insert(s, table, row, err);
    free(json);
    return st;
}

/* The well-known number of a queue may be shared: then it is not its id. One without a name gets
 * its label, as every queue and stream of a profiler has a name. */
static rocl_status write_queue(newset *s, schema_table table, uint32_t index, newset_cell id,
                               rocl_error *err)
{
    const rocl_capture *c = s->capture;
    const rocl_queue *q = table == SCHEMA_QUEUE ? &c->queues[index] : &c->streams[index];
    newset_cell by[2];
    char number[64] = "{}";
    rocl_status st = put_owner(s, q->process, by, err);
    if (!s->to->flat && id.i != q->id)
        snprintf(number, sizeof number, SCHEMA_NUMBER, (long long)q->id);
    const uint32_t name = *rocl_str(s->trace, q->name) ? q->name : q->label;
    const newset_cell row[] = {id, by[0], by[1], newset_text(s, name), newset_literal(number)};
    return st ? st : newset_insert(s, table, row, err);
}

/* ---- kernels, counters ---- */

/* Cells of members of the JSON object that an input keeps of a definition: numbers, and at most one
 * string, which is in s->text; else NULL. */
static void read_json_cells(newset *s, const rocl_buf *json, const rocl_view *keys,
                            newset_cell *cells, unsigned count)
{
    rocl_json r;
    rocl_json_token v;
    uint64_t number;
    for (unsigned i = 0; i < count; i++)
        cells[i] = newset_null();
    rocl_json_open(&r, (const char *)json->data, json->len, 0, 0);
    if (!rocl_json_element(&r, &v) || !rocl_json_enter(&r, ROCL_JSON_OBJECT))
        return;
    for (int k; (k = rocl_json_member(&r, keys, count, &v)) >= 0;)
        if (v.kind == ROCL_JSON_STRING) {
            s->text.len = 0;
            rocl_json_unescape(&s->text, v.text);
            cells[k] = newset_bytes(s->text.data, s->text.len);
        } else if (v.kind == ROCL_JSON_NUMBER && rocl_json_uint(v.text, &number)) {
            cells[k] = newset_int((int64_t)number);
        }
}

/* The columns repeat the JSON, as in profilers. */
static rocl_status write_code_object(newset *s, schema_table table, uint32_t index, newset_cell id,
                                     rocl_error *err)
{
    const rocl_capture *c = s->capture;
    const bool known = c->code_object_count;
    const uint32_t agent = known ? c->code_objects[index].agent : index;
    rocl_buf json = {0};
    static const rocl_view keys[] = {ROCL_JSON_KEY("uri"), ROCL_JSON_KEY("load_base"),
                                     ROCL_JSON_KEY("load_size"), ROCL_JSON_KEY("load_delta")};
    newset_cell by[2], at = newset_null(), said[4];
    rocl_status st =
        put_owner(s, known ? c->code_objects[index].process : c->agents[index].process, by, err);
    if (st == ROCL_OK)
        st = newset_ref(s, SCHEMA_AGENT, agent, &at, err);
    if (st == ROCL_OK && known)
        st = rocl_code_object_json(s->trace, c, index, &json, err);
    read_json_cells(s, &json, keys, said, 4);
    if (st == ROCL_OK && (json.failed || s->text.failed))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        const newset_cell row[] = {
            id,      by[0],   by[1],
            at,      said[0], said[1],
            said[2], said[3], json.len ? newset_bytes(json.data, json.len) : newset_literal("{}")};
        st = newset_insert(s, table, row, err);
    }
    rocl_buf_free(&json);
    return st;
}

static rocl_status write_kernel(newset *s, schema_table table, uint32_t index, newset_cell id,
                                rocl_error *err)
{
    const rocl_kernel *k = &s->capture->kernels[index];
    static const rocl_view keys[] = {ROCL_JSON_KEY("kernel_object"),
                                     ROCL_JSON_KEY("kernarg_segment_size"),
                                     ROCL_JSON_KEY("kernarg_segment_alignment")};
    rocl_buf json = {0};
    newset_cell by[2], code, said[3];
    rocl_status st = put_owner(s, k->process, by, err);
    if (st == ROCL_OK)
        st = newset_ref(s, SCHEMA_CODE_OBJECT,
                        s->capture->code_object_count ? k->code_object : k->agent, &code, err);
    if (st == ROCL_OK)
        st = rocl_kernel_json(s->trace, s->capture, index, &json, err);
    read_json_cells(s, &json, keys, said, 3);
    newset_cell name = newset_text(s, k->mangled || !k->is_function ? k->mangled : k->display);
    if (name.n && !k->is_function) { /* the name of the descriptor, as in profilers */
        s->text.len = 0;
        rocl_buf_put(&s->text, name.p, name.n);
        rocl_buf_str(&s->text, ".kd");
        name = newset_bytes(s->text.data, s->text.len);
    }
    if (st == ROCL_OK && (s->text.failed || json.failed))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK) {
        const newset_cell row[] = {id,
                                   by[0],
                                   by[1],
                                   code,
                                   name,
                                   newset_text(s, k->display),
                                   said[0],
                                   said[1],
                                   said[2],
                                   newset_int(k->group_segment),
                                   newset_int(k->private_segment),
                                   newset_int(k->sgpr),
                                   newset_int(k->arch_vgpr),
                                   newset_int(k->accum_vgpr),
                                   json.len ? newset_bytes(json.data, json.len)
                                            : newset_literal("{}")};
        st = newset_insert(s, table, row, err);
    }
    rocl_buf_free(&json);
    return st;
}

static rocl_status write_counter(newset *s, schema_table table, uint32_t index, newset_cell id,
                                 rocl_error *err)
{
    const rocl_counter *k = &s->capture->counters[index];
    newset_cell by[2], at = newset_null();
    rocl_status st = put_owner(s, k->process, by, err);
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
    return st ? st : newset_insert(s, table, row, err);
}

/* ---- references ---- */

typedef rocl_status write_fn(newset *s, schema_table t, uint32_t index, newset_cell id,
                             rocl_error *err);

static write_fn *const writers[SCHEMA_TABLES] = {
    [SCHEMA_NODE] = write_node,      [SCHEMA_PROCESS] = write_process,
    [SCHEMA_THREAD] = write_thread,  [SCHEMA_AGENT] = write_agent,
    [SCHEMA_QUEUE] = write_queue,    [SCHEMA_STREAM] = write_queue,
    [SCHEMA_KERNEL] = write_kernel,  [SCHEMA_CODE_OBJECT] = write_code_object,
    [SCHEMA_COUNTER] = write_counter};

rocl_status newset_ref(newset *s, schema_table t, uint32_t index, newset_cell *id, rocl_error *err)
{
    newset_defs *d = &s->defs[t];
    rocl_status st = ROCL_OK;
    *id = newset_null();
    if (index >= d->count)
        return ROCL_OK;
    if (!d->written[index]) {
        d->written[index] = true;
        st = writers[t](s, t, index, newset_int(d->ids[index]), err);
    }
    *id = newset_int(d->ids[index]); /* a flat set may have had it */
    return st;
}

/* A row that stands for none. */
static rocl_status write_placeholder(newset *s, schema_table t, newset_cell id, rocl_error *err)
{
    newset_cell by[2] = {newset_null(), newset_null()}, name = newset_literal(SCHEMA_NOBODY);
    const newset_cell none = newset_null(), empty = newset_literal("");
    rocl_status st = t == SCHEMA_NODE ? ROCL_OK : put_owner(s, 0, by, err);
    const newset_cell node[] = {id, newset_int(0), empty, empty, name, empty, empty, empty};
    const newset_cell thread[] = {id, by[0], none, by[1], newset_int(0), name};
    const newset_cell queue[] = {id, by[0], by[1], name, newset_literal("{}")};
    const newset_cell agent[] = {
        id,    by[0], by[1], newset_literal("CPU"), none, none, none, name, empty,
        empty, empty, empty, newset_literal("{}")};
    if (st != ROCL_OK)
        return st;
    return newset_insert(s, t,
                         t == SCHEMA_NODE     ? node
                         : t == SCHEMA_THREAD ? thread
                         : t == SCHEMA_QUEUE  ? queue
                                              : agent,
                         err);
}

rocl_status newset_must_ref(newset *s, schema_table t, uint32_t index, newset_cell *id,
                            rocl_error *err)
{
    newset_defs *d = &s->defs[t];
    rocl_status st = ROCL_OK;
    if (index < d->count)
        return newset_ref(s, t, index, id, err);
    if (!d->has_placeholder) {
        d->has_placeholder = true;
        d->placeholder = ++d->last;
        st = write_placeholder(s, t, newset_int(d->placeholder), err);
    }
    *id = newset_int(d->placeholder);
    return st;
}

rocl_status newset_who(newset *s, uint32_t process, uint32_t thread, newset_cell *cells,
                       rocl_error *err)
{
    rocl_status st = put_owner(s, process, cells, err);
    return st ? st : newset_must_ref(s, SCHEMA_THREAD, thread, &cells[2], err);
}

/* ---- kernels of which only the name is known ---- */

/* The number of a 64-bit key, in order of appearance. */
static bool find_number(rocl_map *m, uint64_t key, uint32_t *number)
{
    *number = rocl_map_get(m, key, ROCL_NONE);
    if (*number != ROCL_NONE)
        return true;
    *number = (uint32_t)m->count;
    return rocl_map_put(m, key, *number);
}

rocl_status newset_kernel(newset *s, const rocl_dispatch *d, newset_cell *id, rocl_error *err)
{
    newset_defs *defs = &s->defs[SCHEMA_KERNEL];
    uint32_t own, at;
    if (d->kernel < defs->count)
        return newset_ref(s, SCHEMA_KERNEL, d->kernel, id, err);
    size_t before = s->unnamed.count;
    if (!find_number(&s->numbers, (uint64_t)d->kernel_id, &own) ||
        !find_number(&s->unnamed, (uint64_t)d->e.name << 32 | own, &at))
        return rocl_fail_memory(err);
    *id = newset_int(s->last_named + 1 + at);
    if (s->unnamed.count == before)
        return ROCL_OK;
    defs->last = id->i;
    newset_cell by[2];
    const newset_cell none = newset_null();
    const newset_cell name = d->e.name == ROCL_NONE ? none : newset_text(s, d->e.name);
    rocl_status st = put_owner(s, d->e.process, by, err);
    const newset_cell row[] = {*id,
                               by[0],
                               by[1],
                               none,
                               newset_literal(SCHEMA_NOBODY),
                               name,
                               newset_int(d->kernel_id),
                               none,
                               none,
                               none,
                               none,
                               none,
                               none,
                               none,
                               newset_literal("{}")};
    return st ? st : newset_insert(s, SCHEMA_KERNEL, row, err);
}

/* ---- tracks ---- */

rocl_status newset_track(newset *s, uint32_t process, uint32_t thread, uint32_t name,
                         newset_cell *id, rocl_error *err)
{
    size_t before = s->tracks.count;
    uint32_t owner, at;
    newset_cell row[5];
    if (!find_number(&s->threads, (uint64_t)process << 32 | thread, &owner) ||
        !find_number(&s->tracks, (uint64_t)owner << 32 | (name == ROCL_NONE ? 0 : name), &at))
        return rocl_fail_memory(err);
    *id = row[0] = newset_int(s->to->used[SCHEMA_TRACK] + 1 + at);
    if (s->tracks.count == before)
        return ROCL_OK;
    s->next[SCHEMA_TRACK] = id->i;
    rocl_status st = newset_who(s, process, thread, &row[1], err);
    if (st == ROCL_OK)
        st = newset_string(s, name, &row[4], err);
    return st ? st : newset_insert(s, SCHEMA_TRACK, row, err);
}

/* ---- all ---- */

rocl_status newset_defs_write(newset *s, rocl_error *err)
{
    static const schema_table tables[] = {SCHEMA_NODE,   SCHEMA_PROCESS, SCHEMA_AGENT,
                                          SCHEMA_THREAD, SCHEMA_QUEUE,   SCHEMA_STREAM,
                                          SCHEMA_KERNEL, SCHEMA_COUNTER};
    enum { ALWAYS = 3 };
    size_t n = s->to->whole ? sizeof tables / sizeof *tables : ALWAYS;
    newset_cell id;
    rocl_status st = ROCL_OK;
    s->last_named = s->defs[SCHEMA_KERNEL].last;
    for (size_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < s->defs[tables[i]].count && st == ROCL_OK; k++)
            st = newset_ref(s, tables[i], k, &id, err);
    return st;
}
