/* Host calls, looked up by the work that they launched: a merge of all calls with the questions. */
#include <fnmatch.h>
#include <stdlib.h>

#include "analysis/calls.h"

enum { LOOK_UPS = 12 };

rocl_waits_for rocl_call_waits_for(const char *call)
{
    static const struct {
        const char *pattern;
        rocl_waits_for what;
    } calls[] = {{"hip*StreamSynchronize*", ROCL_WAITS_FOR_STREAM},
                 {"hip*EventSynchronize*", ROCL_WAITS_FOR_EVENT},
                 {"hip*Synchronize*", ROCL_WAITS_FOR_DEVICE},
                 {"hsa_*signal_wait*", ROCL_WAITS_FOR_EVENT},
                 {"hipFree*", ROCL_WAITS_FOR_DEVICE},
                 {"hipMemcpy*", ROCL_WAITS_FOR_COPY},
                 {"cu*StreamSynchronize*", ROCL_WAITS_FOR_STREAM},
                 {"cu*EventSynchronize*", ROCL_WAITS_FOR_EVENT},
                 {"cu*Synchronize*", ROCL_WAITS_FOR_DEVICE},
                 {"cudaFree*", ROCL_WAITS_FOR_DEVICE},
                 {"cudaMemcpy*", ROCL_WAITS_FOR_COPY}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!fnmatch(calls[i].pattern, call, 0))
            return fnmatch("*Async*", call, 0) ? calls[i].what : ROCL_WAITS_FOR_NOTHING;
    return ROCL_WAITS_FOR_NOTHING;
}

typedef struct look_up {
    rocl_sorter *questions;
    rocl_call_fn *fn;
    rocl_see_call_fn *see; /* NULL: it does not want all calls */
    void *ctx;
    rocl_sort_record next;
    bool more;
} look_up;

struct rocl_calls {
    rocl_collector c;
    rocl_sorter *calls; /* by process, stack id, start, id: see timeline/links.h */
    look_up look_ups[LOOK_UPS];
    unsigned count;
};

rocl_status rocl_calls_add_batch(rocl_calls *c, unsigned worker, const rocl_batch *b,
                                 rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = &b->regions[i].e;
        const uint64_t key[4] = {rocl_process_word(b->capture, e), e->stack_id, (uint64_t)e->start,
                                 e->id};
        const uint64_t numbers[] = {(uint64_t)e->end - (uint64_t)e->start, rocl_name_of(e),
                                    e->thread};
        if (e->stack_id)
            st = rocl_add_numbers(c->calls, worker, key, numbers, 3, err);
    }
    return st;
}

rocl_status rocl_calls_ask(rocl_sorter *questions, unsigned worker, const rocl_batch *b,
                           const rocl_event *work, const uint64_t *numbers, unsigned n,
                           rocl_error *err)
{
    const uint64_t key[4] = {rocl_process_word(b->capture, work), work->stack_id,
                             (uint64_t)work->start, rocl_row_word(work->id, b->kind)};
    return rocl_add_numbers(questions, worker, key, numbers, n, err);
}

rocl_status rocl_calls_look_up(rocl_calls *c, rocl_sorter *questions, rocl_call_fn *fn, void *ctx,
                               rocl_error *err)
{
    if (c->count == LOOK_UPS)
        return rocl_fail(err, ROCL_INTERNAL, "too many reports look up calls");
    look_up *l = &c->look_ups[c->count++];
    *l = (look_up){.questions = questions, .fn = fn, .ctx = ctx};
    rocl_status st = rocl_sorter_start(questions, err);
    return st == ROCL_OK ? rocl_sorter_next(questions, &l->next, &l->more, err) : st;
}

static int compare_ids(const uint64_t *a, const uint64_t *b)
{
    unsigned i = a[0] == b[0];
    return a[i] < b[i] ? -1 : a[i] > b[i];
}

void rocl_calls_see_all(rocl_calls *c, rocl_see_call_fn *see)
{
    c->look_ups[c->count - 1].see = see;
}

/* Resolves the questions below `key`, and those of it, whose call it is; without a call only those
 * below. Key NULL: all others. */
static rocl_status resolve_until(look_up *l, const uint64_t *key, const rocl_call *call,
                                 rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && l->more) {
        int order = key ? compare_ids(l->next.key, key) : -1;
        if (order > 0 || (!order && !call))
            break;
        st = l->fn(l->ctx, &l->next, order ? NULL : call, err);
        if (st == ROCL_OK)
            st = rocl_sorter_next(l->questions, &l->next, &l->more, err);
    }
    return st;
}

/* Later calls of a stack id find its questions resolved. */
rocl_status rocl_calls_resolve(rocl_calls *c, rocl_error *err)
{
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(c->calls, err);
    while (rocl_next_record(c->calls, &rec, &st, err)) {
        rocl_call call = {0};
        bool read = false;
        for (unsigned i = 0; i < c->count && st == ROCL_OK; i++) {
            look_up *l = &c->look_ups[i];
            if (!l->see && (!l->more || compare_ids(l->next.key, rec.key) > 0))
                continue;
            if (!read) {
                uint64_t v[3];
                rocl_read_numbers(&rec, v, 3);
                call = (rocl_call){(int64_t)rec.key[2], (int64_t)(rec.key[2] + v[0]),
                                   (uint32_t)v[1], (uint32_t)v[2]};
                read = true;
            }
            if (l->see && (st = resolve_until(l, rec.key, NULL, err)) == ROCL_OK)
                l->see(l->ctx, rec.key, &call);
            if (st == ROCL_OK)
                st = resolve_until(l, rec.key, &call, err);
        }
    }
    for (unsigned i = 0; i < c->count && st == ROCL_OK; i++)
        st = resolve_until(&c->look_ups[i], NULL, NULL, err);
    rocl_collector_free_sorter(&c->c, &c->calls); /* others need its memory */
    return st;
}

rocl_calls *rocl_calls_new(rocl_sorter *calls)
{
    rocl_calls *c = calloc(1, sizeof *c);
    if (c)
        c->calls = calls;
    else
        rocl_sorter_free(calls);
    return c;
}

void rocl_calls_free(rocl_calls *c)
{
    if (c)
        rocl_sorter_free(c->calls);
    free(c);
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status add_call_batch(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    return rocl_calls_add_batch(self, worker, b, err);
}

static rocl_status open_calls(void *self, rocl_error *err)
{
    rocl_calls *c = self;
    c->calls = rocl_collector_sorter(&c->c, 4);
    return c->calls ? ROCL_OK : rocl_fail_memory(err);
}

const rocl_collector_def rocl_calls_collector = {
    .kinds = ROCL_BIT(ROCL_REGION),
    .size = sizeof(rocl_calls),
    .open = open_calls,
    .add_batch = add_call_batch,
};
