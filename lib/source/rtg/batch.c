/* Batches under construction: what a worker has of its own. */
#include <stdlib.h>

#include "source/rtg/rtg.h"

rocl_status rtg_batch_flush(rtg_worker *w, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (int k = 0; k < ROCL_KINDS && st == ROCL_OK; k++) {
        rocl_batch *b = &w->out[k];
        if (!b->count)
            continue;
        b->capture = &w->file->capture->pub;
        b->kind = (rocl_kind)k;
        b->args = w->args;
        st = w->to->emit(w->to->ctx, w->number, b, err);
        b->count = 0;
    }
    w->arg_count = 0;
    return st;
}

void *rtg_batch_next(rtg_worker *w, rocl_kind kind, rocl_status *st, rocl_error *err)
{
    rocl_batch *b = &w->out[kind];
    size_t size = rocl_kind_size(kind);
    if (b->count == rtg_sizes_used.batch_max && (*st = rtg_batch_flush(w, err)) != ROCL_OK)
        return NULL;
    if (!b->any && !(b->any = malloc(rtg_sizes_used.batch_max * size))) {
        *st = rocl_fail_memory(err);
        return NULL;
    }
    return memset((char *)b->any + b->count++ * size, 0, size);
}

rtg_worker *rtg_worker_get(rtg_file *f, unsigned number, const rocl_emitter *to, rocl_error *err)
{
    rtg_worker *w = f->workers[number];
    if (!w && (w = f->workers[number] = calloc(1, sizeof *w))) {
        w->file = f;
        w->number = number;
        w->names = rtg_names_new(f->trace);
    }
    if (!w || !w->names) {
        rocl_fail_memory(err);
        return NULL;
    }
    w->to = to;
    return w;
}

void rtg_workers_free(rtg_file *f)
{
    for (unsigned i = 0; f->workers && i < f->trace->opt.jobs; i++) {
        rtg_worker *w = f->workers[i];
        if (!w)
            continue;
        for (int k = 0; k < ROCL_KINDS; k++)
            free(w->out[k].any);
        free(w->args);
        rtg_reader_free(&w->reader);
        rtg_names_free(w->names);
        rtg_pairs_free(&w->pairs);
        free(w);
    }
    free(f->workers);
    f->workers = NULL;
}
