#include "model/gpus.h"

#include <stdlib.h>

#include "base/array.h"

static int64_t key_of(const rocl_agent *a)
{
    return a->absolute_index >= 0 ? a->absolute_index : a->id;
}

static int by_machine_and_key(const void *a, const void *b)
{
    const rocl_gpu *x = a, *y = b;
    if (x->machine != y->machine)
        return x->machine < y->machine ? -1 : 1;
    return x->key == y->key ? 0 : x->key < y->key ? -1 : 1;
}

static rocl_status add(rocl_gpus *g, uint32_t machine, const rocl_agent *a, size_t *cap,
                       rocl_error *err)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->all[i].machine == machine && g->all[i].key == key_of(a))
            return ROCL_OK;
    if (!ROCL_GROW(g->all, *cap, g->count + 1))
        return rocl_fail_memory(err);
    g->all[g->count++] = (rocl_gpu){machine, key_of(a), 0, a};
    return ROCL_OK;
}

/* GPUs of one machine from `first` on: a source that numbers them itself is believed. */
static size_t number(rocl_gpus *g, size_t first)
{
    bool given = true;
    size_t end = first;
    for (; end < g->count && g->all[end].machine == g->all[first].machine; end++)
        given &= g->all[end].key == g->all[end].agent->type_index && g->all[end].key <= INT32_MAX;
    for (size_t i = first; i < end; i++)
        g->all[i].id = given ? (uint32_t)g->all[i].key : (uint32_t)(i - first);
    return end;
}

rocl_status rocl_gpus_collect(rocl_gpus *g, const rocl_trace *t, rocl_error *err)
{
    size_t cap = 0;
    rocl_status st = ROCL_OK;
    *g = (rocl_gpus){0};
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->agent_count && st == ROCL_OK; k++)
            if (c->agents[k].type == ROCL_AGENT_GPU)
                st = add(g, c->machine, &c->agents[k], &cap, err);
    }
    if (g->count)
        qsort(g->all, g->count, sizeof *g->all, by_machine_and_key);
    for (size_t i = 0; i < g->count;)
        i = number(g, i);
    return st;
}

void rocl_gpus_free(rocl_gpus *g)
{
    free(g->all);
    *g = (rocl_gpus){0};
}

const rocl_gpu *rocl_gpus_find(const rocl_gpus *g, const rocl_capture *c, uint32_t agent)
{
    if (agent >= c->agent_count || c->agents[agent].type != ROCL_AGENT_GPU || !g->count)
        return NULL;
    rocl_gpu probe = {.machine = c->machine, .key = key_of(&c->agents[agent])};
    return bsearch(&probe, g->all, g->count, sizeof probe, by_machine_and_key);
}
