/* How many work-items a dispatch had stands in the line of the host that submitted it, what became
 * of it in a line of the GPU some time later. Both meet in a sorter, by process and id. */
#include "source/rtg/rtg.h"

/* Offsets make the order unique, and a line of the GPU belongs to the last one of the host before
 * it: ids may come twice. */
static void make_key(uint64_t key[3], uint32_t process, uint64_t id, uint64_t offset, bool gpu)
{
    key[0] = process;
    key[1] = id;
    key[2] = offset << 1 | gpu;
}

rocl_status rtg_join_dims(rtg_worker *w, const rtg_item *i, uint32_t process, uint64_t offset,
                          rocl_error *err)
{
    uint64_t key[3];
    uint32_t dims[6];
    memcpy(dims, i->workgroup, sizeof i->workgroup);
    memcpy(dims + 3, i->grid, sizeof i->grid);
    make_key(key, process, i->id, offset, false);
    return rocl_sorter_add(w->file->join, w->number, key, dims, sizeof dims, err);
}

/* What is left of a dispatch while it is sorted. */
typedef struct record {
    int64_t start, end;
    uint32_t name, agent, queue;
} record;

rocl_status rtg_join_dispatch(rtg_worker *w, const rocl_dispatch *d, rocl_error *err)
{
    uint64_t key[3];
    record r = {d->e.start, d->e.end, d->e.name, d->agent, d->queue};
    make_key(key, d->e.process, d->dispatch_id, d->e.id - 1, true);
    return rocl_sorter_add(w->file->join, w->number, key, &r, sizeof r, err);
}

static rocl_status emit(rtg_worker *w, const rocl_sort_record *rec, const uint32_t *dims,
                        rocl_error *err)
{
    const rtg_file *f = w->file;
    rocl_status st = ROCL_OK;
    record r;
    rocl_dispatch *d = rocl_batcher_next(&w->out, ROCL_DISPATCH, &st, err);
    if (!d)
        return st;
    memcpy(&r, rec->data, sizeof r);
    d->e = (rocl_event){.start = r.start,
                        .end = r.end,
                        .duration = r.end - r.start,
                        .id = (rec->key[2] >> 1) + 1,
                        .stack_id = rtg_stack_id((uint32_t)rec->key[0], rec->key[1]),
                        .process = (uint32_t)rec->key[0],
                        .thread = ROCL_NONE,
                        .name = r.name,
                        .category = f->words[RTG_W_KERNEL_DISPATCH]};
    d->agent = r.agent;
    d->queue = r.queue;
    d->stream = d->kernel = d->region_name = ROCL_NONE;
    d->dispatch_id = rec->key[1];
    if (dims) {
        memcpy(d->workgroup, dims, sizeof d->workgroup);
        memcpy(d->grid, dims + 3, sizeof d->grid);
    }
    return ROCL_OK;
}

rocl_status rtg_join_finish(rtg_file *f, rtg_worker *w, rocl_error *err)
{
    rocl_sort_record rec;
    bool more, known = false;
    uint32_t dims[6] = {0};
    uint64_t whose[2] = {0};
    rocl_status st = rocl_sorter_start(f->join, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(f->join, &rec, &more, err)) == ROCL_OK && more) {
        known = known && whose[0] == rec.key[0] && whose[1] == rec.key[1];
        if (rec.key[2] & 1) {
            st = emit(w, &rec, known ? dims : NULL, err);
            continue;
        }
        memcpy(dims, rec.data, sizeof dims);
        memcpy(whose, rec.key, sizeof whose);
        known = true;
    }
    return st ? st : rocl_batcher_flush(&w->out, err);
}
