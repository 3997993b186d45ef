/* What a worker has of its own. */
#include <stdlib.h>

#include "source/rtg/rtg.h"

rtg_worker *rtg_worker_get(rtg_file *f, unsigned number, const rocl_emitter *to, rocl_error *err)
{
    rtg_worker *w = f->workers[number];
    if (!w && (w = f->workers[number] = calloc(1, sizeof *w))) {
        w->file = f;
        w->number = w->out.worker = number;
        w->out.capture = &f->capture->pub;
        w->out.max = rtg_sizes_used.batch_max;
        w->names = rtg_names_new(f->trace);
    }
    if (!w || !w->names) {
        rocl_fail_memory(err);
        return NULL;
    }
    w->out.to = to;
    return w;
}

void rtg_workers_free(rtg_file *f)
{
    for (unsigned i = 0; f->workers && i < f->trace->opt.jobs; i++) {
        rtg_worker *w = f->workers[i];
        if (!w)
            continue;
        rocl_batcher_free(&w->out);
        rtg_reader_free(&w->reader);
        rtg_names_free(w->names);
        rtg_pairs_free(&w->pairs);
        free(w);
    }
    free(f->workers);
    f->workers = NULL;
}
