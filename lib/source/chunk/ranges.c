/* Ranges of a process: begun on one thread, ended on any, so perhaps in different runs. They are
 * sorted by their numbers, which brings begin and end together. */
#include "source/chunk/chunk.h"

/* What is kept while it is sorted. */
typedef struct half {
    uint64_t ticks, id;
    uint32_t thread, text;
} half;

void chunk_take_range(chunk_worker *w, const chunk_record *rec)
{
    chunk_process *p = w->process;
    bool stop = rec->type == ROCL_REC_STOP;
    half h = {.ticks = w->reader.now, .id = w->next_id++, .thread = w->thread};
    uint64_t number = stop ? rec->a : rec->b;
    if (!p->ranges || w->st != ROCL_OK)
        return;
    if (!stop) {
        h.text = rocl_map_get(&w->texts, rec->a, ROCL_NONE);
        if (h.text == ROCL_NONE)
            chunk_fault(w, ROCL_FAULT_DANGLING_NAME);
    }
    const uint64_t key[] = {number, h.ticks, h.id << 1 | stop};
    if (w->st == ROCL_OK)
        w->st = rocl_sorter_add(p->ranges, w->out.worker, key, &h, sizeof h, w->err);
}

static void emit(chunk_worker *w, const half *begin, const half *end)
{
    const chunk_process *p = w->process;
    const uint32_t *words = p->file->words;
    uint64_t until = end ? end->ticks : p->last_ticks;
    int64_t from = chunk_clock_ns(&p->clock, ROCL_CLOCK_TICKS, begin->ticks);
    int64_t to = chunk_clock_ns(&p->clock, ROCL_CLOCK_TICKS, until);
    chunk_name name = {words[CHUNK_W_RANGE_API], begin->text == ROCL_NONE ? 0 : begin->text};
    w->thread = begin->thread;
    w->next_id = begin->id;
    if (!end)
        chunk_fault(w, ROCL_FAULT_UNFINISHED);
    rocl_region *g = chunk_event(w, ROCL_MARKER, from, to, name);
    if (g)
        g->function = words[CHUNK_W_START];
}

/* A number that is begun again before its end: the former one was never ended. An end alone is of a
 * range that was begun while nothing was recorded. */
static rocl_status join_all(chunk_worker *w, rocl_sorter *s, rocl_error *err)
{
    half begin, end;
    uint64_t number = 0;
    bool open = false, more = true;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(s, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(s, &rec, &more, err)) == ROCL_OK && more) {
        bool same = open && rec.key[0] == number, stop = rec.key[2] & 1;
        if (open && !(same && stop))
            emit(w, &begin, NULL);
        if (stop && same) {
            memcpy(&end, rec.data, sizeof end);
            emit(w, &begin, &end);
        }
        open = !stop;
        if (open) {
            memcpy(&begin, rec.data, sizeof begin);
            number = rec.key[0];
        }
        st = w->st;
    }
    if (st == ROCL_OK && open)
        emit(w, &begin, NULL);
    return st ? st : w->st;
}

rocl_status chunk_ranges_finish(chunk_process *p, const rocl_emitter *to, rocl_error *err)
{
    if (!p->ranges || !p->count)
        return ROCL_OK;
    chunk_worker *w = chunk_worker_get(p, 0, to, err);
    if (!w)
        return ROCL_INTERNAL;
    w->chunk = p->chunks[0];
    rocl_status st = join_all(w, p->ranges, err);
    return st ? st : rocl_batcher_flush(&w->out, err);
}
