/* Dispatches that several records hold, as those of a table of counter values do: each row is a
 * value and repeats the dispatch. They are sorted by process, row and place; the first of each row
 * goes out. */
#include "source/records/run.h"

rocl_status rocl_once_add(rocl_records *w, const rocl_source_record *r, rocl_error *err)
{
    const uint64_t key[3] = {r->as.e.process, r->row, rocl_place(w, r->where)};
    return rocl_sorter_add(w->in->run->unique, w->number, key, &r->as.dispatch,
                           sizeof r->as.dispatch, err);
}

rocl_status rocl_once_emit(rocl_records *w, rocl_error *err)
{
    rocl_sorter *sorter = w->in->run->unique;
    uint64_t process = 0, row = 0;
    rocl_sort_record rec;
    bool more, any = false;
    rocl_status st = rocl_sorter_start(sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(sorter, &rec, &more, err)) == ROCL_OK && more) {
        if (any && process == rec.key[0] && row == rec.key[1])
            continue;
        any = true;
        process = rec.key[0];
        row = rec.key[1];
        st = rocl_batcher_add(&w->out, ROCL_DISPATCH, rec.data, sizeof(rocl_dispatch), err);
    }
    return st;
}
