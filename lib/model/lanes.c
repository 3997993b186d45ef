/* What queues and streams are called: one name each, in every output and report. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "model/trace.h"

static uint32_t put_label(rocl_trace *t, const char *name, const char *format, int64_t id)
{
    char own[160];
    const size_t room = strlen(name) + 32;
    char *text = room > sizeof own ? malloc(room) : own;
    if (!text)
        return ROCL_NONE;
    snprintf(text, room > sizeof own ? room : sizeof own, format, name, id);
    const uint32_t label = rocl_strings_put(t->strings, text, strlen(text));
    if (text != own)
        free(text);
    return label;
}

/* Their names; the word and the id where there is none. Reports group by the label of a stream: of
 * several with one name in a process the later ones have their id behind it. Queues of several GPUs
 * may have one name, and one id. */
static rocl_status label_all(rocl_trace *t, rocl_queue *all, uint32_t count, bool streams,
                             rocl_error *err)
{
    const char *const word = streams ? "Stream" : "Queue";
    rocl_map seen = {0};
    rocl_status st = ROCL_OK;
    for (uint32_t i = 0; i < count && st == ROCL_OK; i++) {
        rocl_queue *q = &all[i];
        const uint64_t process = (uint64_t)q->process << 32;
        q->label = *rocl_str(t, q->name) ? q->name : put_label(t, word, "%s %" PRId64, q->id);
        if (streams && rocl_map_get(&seen, process | q->label, 0))
            q->label = put_label(t, rocl_str(t, q->label), "%s [%" PRId64 "]", q->id);
        if (q->label == ROCL_NONE || !rocl_map_put(&seen, process | q->label, 1))
            st = rocl_fail_memory(err);
    }
    rocl_map_free(&seen);
    return st;
}

rocl_status rocl_trace_label_lanes(rocl_trace *t, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        st = label_all(t, (rocl_queue *)(uintptr_t)c->queues, c->queue_count, false, err);
        if (st == ROCL_OK)
            st = label_all(t, (rocl_queue *)(uintptr_t)c->streams, c->stream_count, true, err);
    }
    return st;
}
