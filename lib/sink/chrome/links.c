/* Arrows. Who is linked with whom is found by sorting calls and work by stack id and time; what
 * comes out are sets of rows, some bits an event. A reader wants an arrow to begin once, where both
 * ends are, and not after its end. */
#include "sink/chrome/chrome.h"

/* What a record keeps of an id. Events with larger ones have no arrows; that they do not get those
 * of the events they look like is seen by their stack ids. */
#define ROW_BITS (64 - ROCL_KIND_BITS)

#define CALLS (ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_INSTANT))

rocl_status chrome_links_open(chrome_links *l, rocl_trace *t, rocl_error *err)
{
    *l = (chrome_links){.sorter = rocl_sorter_new(t->space, 3)};
    return l->sorter ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status chrome_links_add(chrome_links *l, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    bool work = rocl_kind_in(b->kind, ROCL_WORK_KINDS);
    rocl_status st = ROCL_OK;
    if (!work && !(CALLS & ROCL_BIT(b->kind)))
        return ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const uint64_t key[3] = {e->stack_id, (uint64_t)e->start << 1 | work,
                                 rocl_row_word(e->id, b->kind)};
        if (e->stack_id && !(e->id >> ROW_BITS))
            st = rocl_sorter_add(l->sorter, worker, key, NULL, 0, err);
    }
    return st;
}

/* The call that the records of a stack id begin with, if they do. */
typedef struct source {
    uint64_t stack_id, row;
    rocl_kind kind;
    bool linked;
} source;

static bool resolve_one(chrome_links *l, source *s, const uint64_t *key)
{
    uint64_t row = rocl_word_row(key[2]);
    rocl_kind kind = rocl_word_kind(key[2]);
    if (CALLS & ROCL_BIT(kind)) {
        if (s->stack_id != key[0])
            *s = (source){key[0], row, kind, false};
        return true;
    }
    if (s->stack_id != key[0])
        return true;
    if (!s->linked &&
        (!rocl_idset_add(&l->rows[s->kind], s->row) || !rocl_idset_add(&l->stacks, s->stack_id)))
        return false;
    s->linked = true;
    return rocl_idset_add(&l->rows[kind], row);
}

rocl_status chrome_links_resolve(chrome_links *l, rocl_error *err)
{
    source s = {0};
    bool more = true;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(l->sorter, err);
    while (st == ROCL_OK) {
        st = rocl_sorter_next(l->sorter, &rec, &more, err);
        if (st != ROCL_OK || !more)
            break;
        if (!resolve_one(l, &s, rec.key))
            st = rocl_fail_memory(err);
    }
    rocl_sorter_free(l->sorter);
    l->sorter = NULL;
    return st;
}

uint8_t chrome_links_of(chrome_links *l, const rocl_track_event *e)
{
    if (!e->stack_id || !rocl_idset_next(&l->stacks, e->stack_id))
        return 0;
    if (!rocl_idset_next(&l->rows[e->kind], e->row))
        return 0;
    return CALLS & ROCL_BIT(e->kind) ? CHROME_FLOW_OUT : CHROME_FLOW_IN;
}

void chrome_links_free(chrome_links *l)
{
    rocl_sorter_free(l->sorter);
    rocl_idset_free(&l->stacks);
    for (int k = 0; k < ROCL_KINDS; k++)
        rocl_idset_free(&l->rows[k]);
}
