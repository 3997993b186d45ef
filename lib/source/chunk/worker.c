/* A worker of the second pass: the names of its current chunk, and the batches that it fills. */
#include "source/chunk/chunk.h"

#include <stdlib.h>

/* ---- workers -------------------------------------------------------------------------------- */

enum { BATCH_MAX = 1024 };

chunk_worker *chunk_worker_get(chunk_process *p, unsigned number, const rocl_emitter *to,
                               rocl_error *err)
{
    chunk_worker *w = p->workers[number];
    if (!w && (w = p->workers[number] = calloc(1, sizeof *w))) {
        w->process = p;
        w->out.capture = &p->capture->pub;
        w->out.worker = number;
        w->out.max = BATCH_MAX;
    }
    if (!w) {
        rocl_fail_memory(err);
        return NULL;
    }
    w->out.to = to;
    w->st = ROCL_OK;
    w->err = err;
    return w;
}

void chunk_worker_forget(chunk_worker *w)
{
    rocl_map_free(&w->texts);
    rocl_map_free(&w->names);
    rocl_map_free(&w->defs);
    rocl_map_free(&w->lists);
    w->name_count = w->list_count = w->parameter_count = 0;
}

void chunk_workers_free(chunk_process *p)
{
    for (unsigned i = 0; p->workers && i < p->file->trace->opt.jobs; i++) {
        chunk_worker *w = p->workers[i];
        if (!w)
            continue;
        chunk_worker_forget(w);
        rocl_batcher_free(&w->out);
        rocl_buf_free(&w->content);
        rocl_arena_free(&w->values);
        free(w->name_list);
        free(w->regions.all);
        free(w->ranges.all);
        free(w->args);
        free(w->lists_all);
        free(w->parameters);
        free(w);
    }
    free(p->workers);
    p->workers = NULL;
}

void chunk_fail_memory(chunk_worker *w)
{
    if (w->st == ROCL_OK)
        w->st = rocl_fail_memory(w->err);
}

void chunk_count_fault(chunk_worker *w, rocl_fault f)
{
    const chunk_process *p = w->process;
    rocl_status st = rocl_fault_count(p->file->trace, f, w->err, "%s: chunk at byte %llu",
                                      p->file->path, (unsigned long long)w->chunk->offset);
    if (w->st == ROCL_OK)
        w->st = st;
}

/* ---- names ---------------------------------------------------------------------------------- */

uint32_t chunk_intern(chunk_worker *w, rocl_view s)
{
    uint32_t id = rocl_strings_put(w->process->file->trace->strings, s.p, s.n);
    if (id == ROCL_NONE)
        chunk_fail_memory(w);
    return id;
}

chunk_name chunk_find_name(chunk_worker *w, uint64_t id)
{
    uint32_t at = rocl_map_get(&w->names, id, ROCL_NONE);
    if (at != ROCL_NONE)
        return w->name_list[at];
    chunk_count_fault(w, ROCL_FAULT_DANGLING_NAME);
    return (chunk_name){0, 0};
}

uint32_t chunk_find_text(chunk_worker *w, uint64_t id)
{
    uint32_t text = rocl_map_get(&w->texts, id, ROCL_NONE);
    if (text != ROCL_NONE)
        return text;
    chunk_count_fault(w, ROCL_FAULT_DANGLING_NAME);
    return 0;
}

/* ---- events --------------------------------------------------------------------------------- */

bool chunk_event_head(chunk_worker *w, rocl_kind kind, int64_t start, int64_t end, chunk_name name,
                      rocl_event *e)
{
    uint64_t id = w->next_id++;
    if (w->st != ROCL_OK || !(w->process->kinds & ROCL_BIT(kind)))
        return false;
    if (start < 0 || end < start) {
        bool bad = start < 0 || end < 0;
        chunk_count_fault(w, bad ? ROCL_FAULT_BAD_TIME : ROCL_FAULT_END_BEFORE_START);
        return false;
    }
    *e = (rocl_event){.start = start,
                      .end = end,
                      .duration = end - start,
                      .id = id,
                      .process = 0,
                      .thread = w->thread,
                      .name = name.name,
                      .category = name.category};
    return true;
}

void *chunk_event(chunk_worker *w, rocl_kind kind, int64_t start, int64_t end, chunk_name name)
{
    rocl_event head;
    if (!chunk_event_head(w, kind, start, end, name, &head))
        return NULL;
    rocl_event *e = rocl_batcher_next(&w->out, kind, &w->st, w->err);
    if (e)
        *e = head;
    return e;
}
