/* What sources give to a trace: captures, and batches of events under construction. */
#include "source/batch.h"

#include <stdlib.h>

#include "base/error.h"

rocl_model_capture *rocl_trace_add_capture(rocl_trace *t, rocl_source *s, rocl_error *err)
{
    rocl_model_capture *c = calloc(1, sizeof *c);
    rocl_model_capture **more = realloc(s->captures, (s->capture_count + 1) * sizeof *more);
    if (more)
        s->captures = more;
    if (!c || !more) {
        free(c);
        rocl_fail_memory(err);
        return NULL;
    }
    c->source = s;
    c->pub.trace = t;
    c->pub.path = s->path;
    c->pub.index = (uint32_t)s->capture_count;
    c->pub.rank = -1;
    s->captures[s->capture_count++] = c;
    return c;
}

rocl_status rocl_batcher_flush(rocl_batcher *b, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (int k = 0; k < ROCL_KINDS && st == ROCL_OK; k++) {
        rocl_batch *out = &b->out[k];
        if (!out->count)
            continue;
        out->capture = b->capture;
        out->kind = (rocl_kind)k;
        out->args = b->args;
        st = b->to->emit(b->to->ctx, b->worker, out, err);
        out->count = 0;
    }
    b->arg_count = 0;
    return st;
}

void *rocl_batcher_next(rocl_batcher *b, rocl_kind kind, rocl_status *st, rocl_error *err)
{
    rocl_batch *out = &b->out[kind];
    size_t size = rocl_kind_size(kind);
    if (out->count == b->max && (*st = rocl_batcher_flush(b, err)) != ROCL_OK)
        return NULL;
    if (!out->any && !(out->any = malloc(b->max * size))) {
        *st = rocl_fail_memory(err);
        return NULL;
    }
    return memset((char *)out->any + out->count++ * size, 0, size);
}

void rocl_batcher_free(rocl_batcher *b)
{
    for (int k = 0; k < ROCL_KINDS; k++)
        free(b->out[k].any);
    free(b->args);
    *b = (rocl_batcher){0};
}
