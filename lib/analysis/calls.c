#include "analysis/calls.h"

#include <stdlib.h>

#include "base/buf.h"

enum { ASKERS = 4 };

typedef struct asker {
    rocl_sorter *questions;
    rocl_call_fn *answer;
    void *ctx;
    rocl_sort_record next;
    bool more;
} asker;

struct rocl_calls {
    rocl_collector c;
    rocl_sorter *calls; /* by process, stack id, start, id: see timeline/links.h */
    asker askers[ASKERS];
    unsigned asker_count;
};

/* ---- taking calls ---- */

static rocl_status add_calls(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    const rocl_calls *c = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = &b->regions[i].e;
        uint8_t payload[3 * ROCL_VARINT_MAX], *q = payload;
        const uint64_t key[4] = {rocl_process_word(b->capture, e), e->stack_id, (uint64_t)e->start,
                                 e->id};
        if (!e->stack_id)
            continue;
        q = rocl_varint_put(q, (uint64_t)e->end - (uint64_t)e->start);
        q = rocl_varint_put(q, rocl_name_of(e));
        q = rocl_varint_put(q, e->thread);
        st = rocl_sorter_add(c->calls, worker, key, payload, (size_t)(q - payload), err);
    }
    return st;
}

/* ---- answering ---- */

rocl_status rocl_calls_ask(rocl_calls *c, rocl_sorter *questions, rocl_call_fn *answer, void *ctx,
                           rocl_error *err)
{
    if (c->asker_count == ASKERS)
        return rocl_fail(err, ROCL_INTERNAL, "too many reports ask for calls");
    asker *a = &c->askers[c->asker_count++];
    *a = (asker){.questions = questions, .answer = answer, .ctx = ctx};
    rocl_status st = rocl_sorter_start(questions, err);
    return st == ROCL_OK ? rocl_sorter_next(questions, &a->next, &a->more, err) : st;
}

static int compare(const uint64_t *a, const uint64_t *b)
{
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return a[1] < b[1] ? -1 : a[1] > b[1];
}

/* Answers an asker's questions below `key`, or up to it where there is a call for it. NULL: all
 * that are left. */
static rocl_status answer(asker *a, const uint64_t *key, const rocl_call *call, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && a->more) {
        int order = key ? compare(a->next.key, key) : -1;
        if (order > 0 || (order == 0 && !call))
            break;
        st = a->answer(a->ctx, &a->next, order ? NULL : call, err);
        if (st == ROCL_OK)
            st = rocl_sorter_next(a->questions, &a->next, &a->more, err);
    }
    return st;
}

static rocl_call read_call(const rocl_sort_record *rec)
{
    const uint8_t *p = rec->data, *past = rec->data + rec->len;
    uint64_t v[3] = {0};
    for (int i = 0; i < 3; i++)
        rocl_varint_get(&p, past, &v[i]);
    return (rocl_call){(int64_t)rec->key[2], (int64_t)(rec->key[2] + v[0]), (uint32_t)v[1],
                       (uint32_t)v[2]};
}

/* Later calls of a stack id find its questions answered. */
static rocl_status answer_call(rocl_calls *c, const rocl_sort_record *rec, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    rocl_call call;
    bool read = false;
    for (unsigned i = 0; i < c->asker_count && st == ROCL_OK; i++) {
        asker *a = &c->askers[i];
        if (!a->more || compare(a->next.key, rec->key) > 0)
            continue;
        if (!read)
            call = read_call(rec);
        read = true;
        st = answer(a, rec->key, &call, err);
    }
    return st;
}

rocl_status rocl_calls_answer(rocl_calls *c, rocl_error *err)
{
    rocl_sort_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(c->calls, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(c->calls, &rec, &more, err)) == ROCL_OK && more)
        st = answer_call(c, &rec, err);
    for (unsigned i = 0; i < c->asker_count && st == ROCL_OK; i++)
        st = answer(&c->askers[i], NULL, NULL, err);
    rocl_collector_free_sorter(&c->c,
                               &c->calls); /* its memory is for what is made of the answers */
    return st;
}

/* ---- as a collector ---- */

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    (void)self, (void)out, (void)err;
    return ROCL_OK;
}

static rocl_status open_calls(void *self, rocl_error *err)
{
    rocl_calls *c = self;
    c->calls = rocl_collector_sorter(&c->c, 4);
    return c->calls ? ROCL_OK : rocl_fail_memory(err);
}

const rocl_collector_def rocl_calls_collector = {
    .reports = 1u << ROCL_REPORT_LAUNCH | 1u << ROCL_REPORT_GAPS,
    .kinds = ROCL_BIT(ROCL_REGION),
    .size = sizeof(rocl_calls),
    .open = open_calls,
    .add_batch = add_calls,
    .finish = finish,
};
