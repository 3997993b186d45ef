/* The events of a capture, collected: a sorter for each table of events. The order of rows, and so
 * every byte of the output, then depends only on the times, not on the workers. Times, id and kind
 * of an event are in the key of its record, the rest as model/fields.h codes it; the packet of a
 * dispatch follows, and the arguments of a region or a dispatch. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/fields.h"
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

/* Words of a key: start, end, id, and the kind above a number that keeps values in order. */
enum { KEYS = 4, KIND_SHIFT = 56 };

/* The keys of an event: its start first, then, of most tables, the longest first, by id. Values of
 * counters may have other ends than their dispatch, which they follow by id; where they have no
 * times at all, dispatches are in the order of their ids. */
typedef struct key_order {
    unsigned start, end, id, kind;
} key_order;

static const key_order *order_of(const newset_events *e, schema_table table)
{
    static const key_order by_time = {0, 1, 2, 3}, by_start = {0, 3, 1, 2}, by_id = {2, 3, 0, 1};
    const rocl_model_capture *c = (const rocl_model_capture *)(const void *)e->capture;
    return table != SCHEMA_DISPATCH ? &by_time : c->has_untimed_values ? &by_id : &by_start;
}

/* ---- the collection ---- */

rocl_status newset_events_new(newset_events **out, rocl_trace *t, const rocl_capture *c,
                              rocl_error *err)
{
    newset_events *e = calloc(1, sizeof *e);
    *out = e;
    if (!e)
        return rocl_fail_memory(err);
    e->trace = t;
    e->capture = c;
    size_t ends = (size_t)t->opt.jobs * c->process_count;
    e->workers = rocl_cache_line_calloc(t->opt.jobs, sizeof *e->workers);
    e->first_ends = malloc((ends + 1) * sizeof *e->first_ends);
    bool ok = e->workers && e->first_ends;
    for (size_t i = 0; ok && i < ends; i++)
        e->first_ends[i] = INT64_MAX;
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

/* ---- adding events ---- */

static bool has_packet(rocl_kind kind)
{
    return kind == ROCL_DISPATCH || kind == ROCL_COUNTER;
}

rocl_status newset_events_add(newset_events *e, unsigned worker, const rocl_batch *b,
                              const rocl_event *event, rocl_error *err)
{
    newset_worker *w = &e->workers[worker];
    rocl_buf *to = &w->scratch;
    /* From 0 to 0 is how a database says that a dispatch was never timed. */
    if (b->kind == ROCL_DISPATCH && event->start == 0 && event->end == 0)
        return rocl_fault_count(e->trace, ROCL_FAULT_BAD_TIME, err,
                                "%s: dispatch %" PRIu64
                                ": a database has no place for work from 0 to 0",
                                e->capture->path, event->id);
    to->len = 0;
    if (!rocl_buf_reserve(to, ROCL_FIELDS_MAX))
        return rocl_fail_memory(err);
    to->len = (size_t)(rocl_fields_put(to->data, b->kind, event) - to->data);
    if (has_packet(b->kind)) {
        const uint32_t packet = ((const rocl_dispatch *)event)->packet;
        rocl_buf_byte(to, packet != 0);
        if (packet)
            rocl_buf_put(to, &b->packets[packet - 1], sizeof *b->packets);
    }
    uint32_t arg_count;
    const rocl_arg *args = rocl_event_args(b, event, &arg_count);
    for (uint32_t i = 0; i < arg_count; i++) {
        rocl_buf_varint(to, (uint32_t)(args[i].type + 1));
        rocl_buf_varint(to, (uint32_t)(args[i].name + 1));
        rocl_buf_varint(to, args[i].value_len);
        rocl_buf_put(to, args[i].value, args[i].value_len);
        rocl_buf_byte(to, 0);
    }
    if (to->failed)
        return rocl_fail_memory(err);
    size_t processes = e->capture->process_count;
    if (event->process < processes) {
        int64_t *end = &e->first_ends[worker * processes + event->process];
        *end = event->end < *end ? event->end : *end;
    }
    /* Values follow the dispatch or sample that they are of, in the order in which they came: those
     * of one come from one worker. */
    uint64_t value = rocl_kind_in(b->kind, ROCL_VALUE_KINDS) ? ++w->values : 0;
    const schema_table table = schema_table_of_kind(b->kind);
    const key_order *order = order_of(e, table);
    uint64_t key[KEYS];
    key[order->start] = rocl_flip_sign(event->start);
    key[order->end] = ~rocl_flip_sign(event->end);
    key[order->id] = event->id;
    key[order->kind] = (uint64_t)b->kind << KIND_SHIFT | value;
    return rocl_sorter_add(e->sorters[table], worker, key, to->data, to->len, err);
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

/* ---- reading them back, sorted ---- */

/* False: the bytes are cut (a bug). */
static bool read_event(newset_event *e, const rocl_sort_record *rec, const key_order *order)
{
    const uint8_t *p = rec->data, *end = rec->data + rec->len;
    e->kind = (rocl_kind)(rec->key[order->kind] >> KIND_SHIFT);
    if (!rocl_fields_get(&p, end, e->kind, &e->r.e))
        return false;
    e->r.e.start = rocl_unflip_sign(rec->key[order->start]);
    e->r.e.end = rocl_unflip_sign(~rec->key[order->end]);
    e->r.e.id = rec->key[order->id];
    e->packet = NULL;
    if (has_packet(e->kind)) {
        const bool some = p < end && *p++;
        if (some && (size_t)(end - p) < sizeof(rocl_packet))
            return false;
        e->packet = some ? p : NULL;
        p += some ? sizeof(rocl_packet) : 0;
    }
    e->args = p;
    e->args_end = end;
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

bool newset_packet(const newset_event *e, rocl_packet *packet)
{
    if (e->packet)
        memcpy(packet, e->packet, sizeof *packet);
    return e->packet;
}

enum { PROGRESS_ROWS = 4096 };

rocl_status newset_events_each(newset_events *e, schema_table t, newset_event_fn *fn, void *ctx,
                               rocl_error *err)
{
    rocl_sort_record rec;
    uint64_t n = 0;
    newset_event event = {.kind = ROCL_REGION};
    rocl_status st = rocl_sorter_start(e->sorters[t], err);
    while (rocl_sorter_take(e->sorters[t], &rec, &st, err)) {
        st =
            read_event(&event, &rec, order_of(e, t)) ? fn(ctx, &event, err) : rocl_fail_sorted(err);
        if (++n % PROGRESS_ROWS == 0)
            rocl_progress(e->trace, PROGRESS_ROWS);
    }
    rocl_progress(e->trace, n % PROGRESS_ROWS);
    rocl_sorter_free(e->sorters[t]); /* frees memory for the next ones */
    e->sorters[t] = NULL;
    return st;
}
