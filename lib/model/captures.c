/* The captures of a trace, once all have their definitions: their order, which does not depend on
 * the order of the inputs, their clocks, and the labels of their queues and streams. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/order.h"
#include "model/identity.h"
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

static rocl_node node_of(const rocl_capture *c)
{
    return c->node_count ? c->nodes[0] : (rocl_node){0};
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
    const rocl_node m = node_of(x), n = node_of(y);
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

/* ---- all of them ---- */

void rocl_captures_sort(rocl_model_capture **captures, size_t count)
{
    if (count)
        qsort(captures, count, sizeof *captures, compare_captures);
}

rocl_status rocl_trace_order(rocl_trace *t, rocl_error *err)
{
    rocl_captures_sort(t->captures, t->capture_count);
    for (size_t i = 0; i < t->capture_count; i++)
        t->captures[i]->pub.index = (uint32_t)i;
    return rocl_identity_make(t, err);
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
