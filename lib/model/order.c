/* The order of captures, and the machines they are of. */
#include <stdlib.h>
#include <string.h>

#include "model/trace.h"

/* ---- order ---- */

/* "node10" comes after "node2", and what has no name last. */
static int compare_names(const rocl_trace *t, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    if (!a || !b)
        return a ? -1 : 1;
    return strverscmp(rocl_str(t, a), rocl_str(t, b));
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static rocl_machine machine_of(const rocl_capture *c)
{
    if (!c->node_count)
        return (rocl_machine){0};
    return (rocl_machine){c->nodes[0].hostname, c->nodes[0].machine_id};
}

static int compare_nodes(const rocl_capture *a, const rocl_capture *b)
{
    rocl_machine x = machine_of(a), y = machine_of(b);
    int by = compare_names(a->trace, x.hostname, y.hostname);
    return by ? by : compare_names(a->trace, x.machine_id, y.machine_id);
}

/* Without one: behind all others. */
static int64_t rank_of(const rocl_process *p)
{
    return p->rank >= 0 ? p->rank : INT64_MAX;
}

static int64_t pid_of(const rocl_process *p)
{
    return p->pid > 0 ? p->pid : INT64_MAX;
}

/* Processes of one node with one pid came one after the other, or out of several containers. */
static int compare_processes(const rocl_process *a, const rocl_process *b)
{
    int by = compare_numbers(rank_of(a), rank_of(b));
    if (!by)
        by = compare_numbers(pid_of(a), pid_of(b));
    return by ? by : compare_numbers(a->init, b->init);
}

static int compare_captures(const void *a, const void *b)
{
    const rocl_capture *x = &(*(rocl_model_capture *const *)a)->pub;
    const rocl_capture *y = &(*(rocl_model_capture *const *)b)->pub;
    int by = compare_nodes(x, y);
    if (!by && x->process_count && y->process_count)
        by = compare_processes(&x->processes[0], &y->processes[0]);
    if (!by)
        by = compare_numbers(x->process_count > 0, y->process_count > 0);
    if (!by)
        by = compare_names(x->trace, x->guid, y->guid);
    return by ? by : compare_numbers(x->index, y->index); /* the order they were opened in */
}

/* ---- machines ---- */

static bool agree(uint32_t a, uint32_t b)
{
    return a == b || !a || !b;
}

/* Nodes out of one container image have one machine id, and "localhost" is many a host's name: what
 * both know must be the same, and they must both know something. */
static bool is_machine(const rocl_machine *a, const rocl_machine *b)
{
    bool known = (a->hostname && b->hostname) || (a->machine_id && b->machine_id);
    bool unknown = !(a->hostname | a->machine_id | b->hostname | b->machine_id);
    return agree(a->hostname, b->hostname) && agree(a->machine_id, b->machine_id) &&
           (known || unknown);
}

static rocl_status number_machine(rocl_trace *t, rocl_capture *c, rocl_error *err)
{
    rocl_machine own = machine_of(c), *m = t->machines;
    for (c->machine = 0; c->machine < t->machine_count; c->machine++, m++) {
        if (!is_machine(m, &own))
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

rocl_status rocl_trace_order(rocl_trace *t, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (t->capture_count)
        qsort(t->captures, t->capture_count, sizeof(rocl_model_capture *), compare_captures);
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
