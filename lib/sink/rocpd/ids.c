/* Ids of definitions. Those of the trace are kept where they are unique. What people know by other
 * numbers (processes, threads, agents) is rather kept in its order, in which it is read back. */
#include <stdlib.h>

#include "sink/rocpd/newset.h"

typedef struct table {
    schema_table t;
    const void *all;
    size_t size, id; /* of an element; where its id is */
    uint32_t count;
} table;

/* Behind this there would be no room for ids of rows that stand for none. */
#define ID_MAX ((int64_t)1 << 62)

#define TABLE(t, array, type)                                                                      \
    {                                                                                              \
        t, c->array##s, sizeof(type), offsetof(type, id), c->array##_count                         \
    }

static int64_t id_in(const table *d, uint32_t index)
{
    int64_t id;
    memcpy(&id, (const char *)d->all + index * d->size + d->id, sizeof id);
    return id;
}

/* The first keeps its id, others with the same one get new ones behind all. */
static rocl_status keep_ids(newset_defs *defs, const table *d, rocl_error *err)
{
    rocl_map seen = {0};
    bool ok = true;
    defs->last = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        int64_t id = defs->ids[i] = id_in(d, i);
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

static bool is_ascending(const newset_defs *defs)
{
    for (uint32_t i = 1; i < defs->count; i++)
        if (defs->ids[i] <= defs->ids[i - 1])
            return false;
    return true;
}

static void number_anew(newset_defs *defs, uint32_t count, int64_t used)
{
    for (uint32_t i = 0; i < count; i++)
        defs->ids[i] = used + 1 + i;
    defs->last = used + count;
}

static rocl_status give(newset *s, const table *d, rocl_error *err)
{
    newset_defs *defs = &s->defs[d->t];
    defs->count = d->count;
    defs->ids = calloc((size_t)d->count + 1, sizeof *defs->ids);
    defs->written = calloc((size_t)d->count + 1, sizeof *defs->written);
    if (!defs->ids || !defs->written)
        return rocl_fail_memory(err);
    if (s->to->flat) {
        number_anew(defs, d->count, s->to->used[d->t]);
        return ROCL_OK;
    }
    rocl_status st = keep_ids(defs, d, err);
    if (st != ROCL_OK)
        return st;
    bool known = d->t == SCHEMA_AGENT || d->t == SCHEMA_CODE_OBJECT || d->t == SCHEMA_THREAD ||
                 d->t == SCHEMA_PROCESS;
    if (known && !is_ascending(defs))
        number_anew(defs, d->count, 0);
    return ROCL_OK;
}

rocl_status newset_ids_give(newset *s, rocl_error *err)
{
    const rocl_capture *c = s->capture;
    const table tables[] = {
        TABLE(SCHEMA_NODE, node, rocl_node),
        {SCHEMA_PROCESS, c->processes, sizeof(rocl_process), offsetof(rocl_process, id),
         c->process_count},
        TABLE(SCHEMA_THREAD, thread, rocl_thread),
        TABLE(SCHEMA_AGENT, agent, rocl_agent),
        TABLE(SCHEMA_QUEUE, queue, rocl_queue),
        TABLE(SCHEMA_STREAM, stream, rocl_stream),
        TABLE(SCHEMA_KERNEL, kernel, rocl_kernel),
        TABLE(SCHEMA_COUNTER, counter, rocl_counter),
        /* one for each agent */
        {SCHEMA_CODE_OBJECT, c->agents, sizeof(rocl_agent), offsetof(rocl_agent, id),
         c->agent_count},
    };
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && st == ROCL_OK; i++)
        st = give(s, &tables[i], err);
    return st;
}

void newset_ids_free(newset *s)
{
    for (schema_table t = 0; t < SCHEMA_TABLES; t++) {
        free(s->defs[t].ids);
        free(s->defs[t].written);
    }
}
