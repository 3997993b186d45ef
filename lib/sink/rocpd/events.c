/* What is collected: a sorter for each table of events. The order of rows, and so every byte of the
 * output, is then that of the times, whoever has read what first. */
#include <stdlib.h>

#include "base/array.h"
#include "sink/rocpd/newset.h"

typedef struct newset_worker {
    alignas(ROCL_CACHE_LINE) rocl_buf scratch;
    uint64_t values; /* that it has brought */
} newset_worker;

struct newset_events {
    rocl_trace *trace;
    const rocl_capture *capture;
    rocl_sorter *sorters[SCHEMA_EVENT_TABLES];
    newset_worker *workers;
    int64_t *first_ends; /* by worker and process */
};

enum { KEYS = 4, KIND_SHIFT = 56 };

static bool make_first_ends(newset_events *e)
{
    size_t n = (size_t)e->trace->opt.jobs * e->capture->process_count;
    e->first_ends = malloc((n + 1) * sizeof *e->first_ends);
    for (size_t i = 0; e->first_ends && i < n; i++)
        e->first_ends[i] = INT64_MAX;
    return e->first_ends;
}

rocl_status newset_events_new(newset_events **out, rocl_trace *t, const rocl_capture *c,
                              rocl_error *err)
{
    newset_events *e = calloc(1, sizeof *e);
    *out = e;
    if (!e)
        return rocl_fail_memory(err);
    e->trace = t;
    e->capture = c;
    bool ok = (e->workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *e->workers)) &&
              make_first_ends(e);
    for (schema_table i = 0; i < SCHEMA_EVENT_TABLES && ok; i++)
        ok = (e->sorters[i] = rocl_sorter_new(t->space, KEYS));
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

void newset_events_free(newset_events *e)
{
    if (!e)
        return;
    for (schema_table i = 0; i < SCHEMA_EVENT_TABLES; i++)
        rocl_sorter_free(e->sorters[i]);
    for (unsigned i = 0; e->workers && i < e->trace->opt.jobs; i++)
        rocl_buf_free(&e->workers[i].scratch);
    free(e->workers);
    free(e->first_ends);
    free(e);
}

void newset_events_of(const newset_events *e, rocl_trace **trace, const rocl_capture **capture)
{
    *trace = e->trace;
    *capture = e->capture;
}

const int64_t *newset_events_first_ends(newset_events *e)
{
    size_t processes = e->capture->process_count;
    for (unsigned w = 1; w < e->trace->opt.jobs; w++)
        for (size_t i = 0; i < processes; i++) {
            int64_t end = e->first_ends[w * processes + i];
            e->first_ends[i] = end < e->first_ends[i] ? end : e->first_ends[i];
        }
    return e->first_ends;
}

/* ---- records ------------------------------------------------------------------------------- */

static uint64_t ascending(int64_t t)
{
    return (uint64_t)t ^ (uint64_t)1 << 63;
}

static int64_t descended(uint64_t t)
{
    return (int64_t)(t ^ (uint64_t)1 << 63);
}

/* Values follow the dispatch or sample that they are of, in the order in which they came: those of
 * one come from one worker. */
static uint64_t last_word(newset_events *e, unsigned worker, rocl_kind kind)
{
    bool value = kind == ROCL_COUNTER || kind == ROCL_SPM || kind == ROCL_SAMPLE;
    return (uint64_t)kind << KIND_SHIFT | (value ? ++e->workers[worker].values : 0);
}

static void pack_args(rocl_buf *to, const rocl_batch *b, const rocl_region *g)
{
    for (uint32_t i = 0; i < g->arg_count; i++) {
        const rocl_arg *a = &b->args[g->arg_first + i];
        rocl_buf_varint(to, (uint32_t)(a->type + 1));
        rocl_buf_varint(to, (uint32_t)(a->name + 1));
        rocl_buf_varint(to, a->value_len);
        rocl_buf_put(to, a->value, a->value_len);
        rocl_buf_byte(to, 0);
    }
}

static void note_end(newset_events *e, unsigned worker, const rocl_event *event)
{
    size_t processes = e->capture->process_count;
    if (event->process >= processes)
        return;
    int64_t *first = &e->first_ends[worker * processes + event->process];
    if (event->end < *first)
        *first = event->end;
}

rocl_status newset_events_add(newset_events *e, unsigned worker, const rocl_batch *b,
                              const rocl_event *event, rocl_error *err)
{
    rocl_buf *to = &e->workers[worker].scratch;
    to->len = 0;
    newset_pack(to, b->kind, event);
    if (b->kind <= ROCL_INSTANT)
        pack_args(to, b, (const rocl_region *)event);
    if (to->failed)
        return rocl_fail_memory(err);
    note_end(e, worker, event);
    const uint64_t key[KEYS] = {ascending(event->start), ~ascending(event->end), event->id,
                                last_word(e, worker, b->kind)};
    return rocl_sorter_add(e->sorters[schema_table_of_kind(b->kind)], worker, key, to->data,
                           to->len, err);
}

rocl_status newset_events_seal(newset_events *e, unsigned worker, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (schema_table i = 0; i < SCHEMA_EVENT_TABLES && st == ROCL_OK; i++)
        st = rocl_sorter_seal(e->sorters[i], worker, err);
    return st;
}

uint64_t newset_events_count(const newset_events *e)
{
    uint64_t n = 0;
    for (schema_table i = 0; i < SCHEMA_EVENT_TABLES; i++)
        n += rocl_sorter_count(e->sorters[i]);
    return n;
}

/* ---- and back ------------------------------------------------------------------------------ */

static bool read_event(newset_event *e, const rocl_sort_record *rec)
{
    const uint8_t *p = rec->data;
    e->kind = (rocl_kind)(rec->key[3] >> KIND_SHIFT);
    if (!newset_unpack(&p, rec->data + rec->len, e->kind, &e->r))
        return false;
    e->r.e.start = descended(rec->key[0]);
    e->r.e.end = descended(~rec->key[1]);
    e->r.e.id = rec->key[2];
    e->args = p;
    e->args_end = rec->data + rec->len;
    return true;
}

bool newset_next_arg(newset_event *e, rocl_arg *arg)
{
    uint64_t type, name, n;
    if (e->args >= e->args_end || !rocl_varint_get(&e->args, e->args_end, &type) ||
        !rocl_varint_get(&e->args, e->args_end, &name) ||
        !rocl_varint_get(&e->args, e->args_end, &n))
        return false;
    *arg = (rocl_arg){(uint32_t)type - 1, (uint32_t)name - 1, (const char *)e->args, (size_t)n};
    e->args += n + 1;
    return true;
}

enum { PROGRESS_ROWS = 4096 };

rocl_status newset_events_each(newset_events *e, schema_table t, newset_event_fn *fn, void *ctx,
                               rocl_error *err)
{
    rocl_sort_record rec;
    bool more = true;
    uint64_t n = 0;
    newset_event event = {.kind = ROCL_REGION};
    rocl_status st = rocl_sorter_start(e->sorters[t], err);
    while (st == ROCL_OK && (st = rocl_sorter_next(e->sorters[t], &rec, &more, err)) == ROCL_OK &&
           more) {
        st = read_event(&event, &rec) ? fn(ctx, &event, err)
                                      : rocl_fail(err, ROCL_INTERNAL, "a sorted event is cut");
        if (++n % PROGRESS_ROWS == 0)
            rocl_progress(e->trace, PROGRESS_ROWS);
    }
    rocl_progress(e->trace, n % PROGRESS_ROWS);
    rocl_sorter_free(e->sorters[t]); /* its memory is for those that are still to come */
    e->sorters[t] = NULL;
    return st;
}
