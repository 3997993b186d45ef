#include "tests/unit/stats_records.h"

#include "base/array.h"

static rocl_status keep_records(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    records *r = ctx;
    (void)worker, (void)err;
    if (!(r->kinds >> b->kind & 1))
        return ROCL_OK;
    pthread_mutex_lock(&r->lock);
    assert_true(ROCL_GROW(r->all, r->cap, r->count + b->count));
    for (size_t i = 0; i < b->count; i++) {
        record *to = &r->all[r->count++];
        to->capture = b->capture;
        to->kind = b->kind;
        memcpy(&to->e, rocl_batch_event(b, i), rocl_kind_size(b->kind));
    }
    pthread_mutex_unlock(&r->lock);
    return ROCL_OK;
}

records records_of(rocl_trace *t, uint32_t kinds)
{
    records r = {.kinds = kinds, .lock = PTHREAD_MUTEX_INITIALIZER};
    assert_true(rocl_trace_scan(t, ROCL_ALL_KINDS, ROCL_ALL_FIELDS, keep_records, &r, NULL) <=
                ROCL_PARTIAL);
    return r;
}

void check_nothing(uint32_t report, size_t tables)
{
    const rocl_options o = {.jobs = 2};
    const rocl_stats_options s = {.reports = report, .by_rank = true, .by_agent = true, .top = 1};
    rocl_trace *t = open_trace("empty-tables", &o);
    rocl_tables *all = stats_of(t, &s);
    assert_int_equal(all->count, tables);
    for (size_t i = 0; i < all->count; i++)
        assert_int_equal(all->tables[i].row_count, 0);
    free(bytes_of(all, ROCL_TABLE_JSON));
    rocl_tables_free(all);
    rocl_trace_close(t);
}
