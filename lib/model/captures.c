/* The captures of a trace, once all have their definitions: their order, which does not depend on
 * the order of the inputs, their machines, the labels of their queues and streams, and the GPUs of
 * their agents. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/order.h"
#include "model/gpus.h"
#include "model/trace.h"

/* ---- order ---- */

/* "node10" comes after "node2", and nameless ones last. */
static int compare_names(const rocl_trace *t, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    if (!a || !b)
        return a ? -1 : 1;
    return strverscmp(rocl_str(t, a), rocl_str(t, b));
}

static rocl_machine machine_of(const rocl_capture *c)
{
    if (!c->node_count)
        return (rocl_machine){.first = c->index};
    return (rocl_machine){c->nodes[0].hostname, c->nodes[0].machine_id, c->index};
}

/* By rank, then pid, those without one last. Processes of one node with one pid came one after the
 * other, or out of several containers. */
static int compare_processes(const rocl_process *a, const rocl_process *b)
{
    int by =
        rocl_number_order(a->rank >= 0 ? a->rank : INT64_MAX, b->rank >= 0 ? b->rank : INT64_MAX);
    if (!by)
        by = rocl_number_order(a->pid > 0 ? a->pid : INT64_MAX, b->pid > 0 ? b->pid : INT64_MAX);
    return by ? by : rocl_number_order(a->init, b->init);
}

static int compare_captures(const void *a, const void *b)
{
    const rocl_capture *x = &(*(rocl_model_capture *const *)a)->pub;
    const rocl_capture *y = &(*(rocl_model_capture *const *)b)->pub;
    const rocl_machine m = machine_of(x), n = machine_of(y);
    int by = compare_names(x->trace, m.hostname, n.hostname);
    if (!by)
        by = compare_names(x->trace, m.machine_id, n.machine_id);
    if (!by && x->process_count && y->process_count)
        by = compare_processes(&x->processes[0], &y->processes[0]);
    if (!by)
        by = rocl_number_order(x->process_count > 0, y->process_count > 0);
    if (!by)
        by = compare_names(x->trace, x->guid, y->guid);
    return by ? by : rocl_number_order(x->index, y->index); /* the order they were opened in */
}

/* ---- machines ---- */

/* Nodes from one container image share a machine id, and many hosts are called "localhost": so all
 * that both have must agree, and they must have something in common. */
static bool is_same_machine(const rocl_machine *a, const rocl_machine *b)
{
    bool known = (a->hostname && b->hostname) || (a->machine_id && b->machine_id);
    bool unknown = !(a->hostname | a->machine_id | b->hostname | b->machine_id);
    bool names_differ = a->hostname && b->hostname && a->hostname != b->hostname;
    bool ids_differ = a->machine_id && b->machine_id && a->machine_id != b->machine_id;
    return (known || unknown) && !names_differ && !ids_differ;
}

static rocl_status number_machine(rocl_trace *t, rocl_capture *c, rocl_error *err)
{
    rocl_machine own = machine_of(c), *m = t->machines;
    for (c->machine = 0; c->machine < t->machine_count; c->machine++, m++) {
        if (!is_same_machine(m, &own))
            continue;
        m->hostname = m->hostname ? m->hostname : own.hostname;
        m->machine_id = m->machine_id ? m->machine_id : own.machine_id;
        return ROCL_OK;
    }
    m = realloc(t->machines, (t->machine_count + 1) * sizeof *m);
    if (!m)
        return rocl_fail_memory(err);
    t->machines = m;
    t->machines[t->machine_count++] = own;
    return ROCL_OK;
}

void rocl_captures_sort(rocl_model_capture **captures, size_t count)
{
    if (count)
        qsort(captures, count, sizeof *captures, compare_captures);
}

rocl_status rocl_trace_order(rocl_trace *t, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    rocl_captures_sort(t->captures, t->capture_count);
    t->machine_count = 0; /* it may be done again, with more of them */
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        t->captures[i]->pub.index = (uint32_t)i;
        st = number_machine(t, &t->captures[i]->pub, err);
    }
    return st;
}

const char *rocl_machine_name(const rocl_trace *t, uint32_t machine)
{
    const rocl_machine *m = machine < t->machine_count ? &t->machines[machine] : NULL;
    uint32_t text = !m ? 0 : m->hostname ? m->hostname : m->machine_id;
    return text ? rocl_str(t, text) : "-";
}

/* ---- clocks ---- */

void rocl_set_clock_of(rocl_model_capture *c)
{
    for (uint32_t i = 0; i < c->pub.process_count; i++) {
        rocl_process *p = (rocl_process *)(uintptr_t)&c->pub.processes[i];
        int64_t *const times[] = {&p->init, &p->fini, &p->start, &p->end};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            if (*times[k] > 0 && /* 0: unknown */
                (!rocl_set_clock(c, times[k]) || *times[k] < 0))
                *times[k] = 0;
    }
}

/* ---- labels of queues and streams ---- */

/* format: takes the name and the id. */
static uint32_t put_label(rocl_trace *t, const char *name, const char *format, int64_t id)
{
    char *text;
    int len = asprintf(&text, format, name, id);
    if (len < 0)
        return ROCL_NONE;
    const uint32_t label = rocl_strings_put(t->strings, text, (size_t)len);
    free(text);
    return label;
}

/* Labels are names, or the word and the id. Reports group by the label of a stream: if several in a
 * process have the same name, the id is appended to the later ones. Queues of several GPUs may
 * share a name, and an id. */
static rocl_status label_queues(rocl_trace *t, rocl_queue *all, uint32_t count, bool streams,
                                rocl_error *err)
{
    rocl_map seen = {0};
    rocl_status st = ROCL_OK;
    for (uint32_t i = 0; i < count && st == ROCL_OK; i++) {
        rocl_queue *q = &all[i];
        const uint64_t process = (uint64_t)q->process << 32;
        q->label = *rocl_str(t, q->name)
                       ? q->name
                       : put_label(t, streams ? "Stream" : "Queue", "%s %" PRId64, q->id);
        if (streams && rocl_map_get(&seen, process | q->label, 0))
            q->label = put_label(t, rocl_str(t, q->label), "%s [%" PRId64 "]", q->id);
        if (q->label == ROCL_NONE || !rocl_map_put(&seen, process | q->label, 1))
            st = rocl_fail_memory(err);
    }
    rocl_map_free(&seen);
    return st;
}

rocl_status rocl_trace_label_queues(rocl_trace *t, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        st = label_queues(t, (rocl_queue *)(uintptr_t)c->queues, c->queue_count, false, err);
        if (st == ROCL_OK)
            st = label_queues(t, (rocl_queue *)(uintptr_t)c->streams, c->stream_count, true, err);
    }
    return st;
}

/* ---- GPUs ---- */

static int64_t key_of(const rocl_agent *a)
{
    return a->absolute_index >= 0 ? a->absolute_index : a->id;
}

static int compare_gpus(const void *a, const void *b)
{
    const rocl_gpu *x = a, *y = b;
    int by = rocl_number_order(x->machine, y->machine);
    return by ? by : rocl_number_order(x->key, y->key);
}

static int compare_first_met(const void *a, const void *b)
{
    const rocl_gpu *x = a, *y = b;
    const int by = compare_gpus(x, y);
    return by ? by : rocl_number_order(x->id, y->id);
}

/* Processes of a machine have the same GPUs: keeps the first of each. GPUs of a machine are
 * adjacent, unless the machine is known by several names. */
static void drop_repeated_gpus(rocl_gpus *g)
{
    size_t n = 0;
    if (g->count)
        qsort(g->all, g->count, sizeof *g->all, compare_first_met);
    for (size_t i = 0; i < g->count; i++)
        if (!n || compare_gpus(&g->all[n - 1], &g->all[i]) != 0)
            g->all[n++] = g->all[i];
    g->count = n;
}

/* begin: of those of the machine that was met last. */
static rocl_status add_gpu(rocl_gpus *g, size_t *cap, size_t begin, uint32_t machine,
                           const rocl_agent *a, rocl_error *err)
{
    for (size_t i = begin; i < g->count; i++)
        if (g->all[i].key == key_of(a))
            return ROCL_OK;
    if (!ROCL_GROW(g->all, *cap, g->count + 1))
        return rocl_fail_memory(err);
    g->all[g->count] = (rocl_gpu){machine, key_of(a), (uint32_t)g->count, a};
    g->count++;
    return ROCL_OK;
}

rocl_status rocl_gpus_collect(rocl_gpus *g, const rocl_trace *t, rocl_error *err)
{
    size_t cap = 0, begin = 0;
    rocl_status st = ROCL_OK;
    *g = (rocl_gpus){0};
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        if (i && t->captures[i - 1]->pub.machine != c->machine)
            begin = g->count;
        for (uint32_t k = 0; k < c->agent_count && st == ROCL_OK; k++)
            if (c->agents[k].type == ROCL_AGENT_GPU)
                st = add_gpu(g, &cap, begin, c->machine, &c->agents[k], err);
    }
    if (st != ROCL_OK)
        return st;
    drop_repeated_gpus(g);
    for (size_t first = 0, end; first < g->count; first = end) {
        bool given = true; /* numbers of GPUs that come from the source are kept */
        for (end = first; end < g->count && g->all[end].machine == g->all[first].machine; end++)
            given &=
                g->all[end].key == g->all[end].agent->type_index && g->all[end].key <= INT32_MAX;
        for (size_t k = first; k < end; k++)
            g->all[k].id = given ? (uint32_t)g->all[k].key : (uint32_t)(k - first);
    }
    return ROCL_OK;
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
    return bsearch(&probe, g->all, g->count, sizeof probe, compare_gpus);
}
