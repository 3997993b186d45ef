/* The events of a capture, collected: a sorter for each table of events. The order of rows, and so
 * every byte of the output, then depends only on the times, not on the workers. An event is a
 * record of a varint for each field, in the order of the lists below; the arguments of a region
 * follow, or the packet of a dispatch; times, id and kind are in the key. */
#include <inttypes.h>
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

/* ---- the fields of a record, for both ways ---- */

typedef enum field_type {
    REF,  /* uint32_t; ROCL_NONE is 0 */
    U32,  /* uint32_t or an enum */
    U64,  /* uint64_t */
    I64,  /* int64_t, mostly small */
    REAL, /* double; round ones have zeros in their low bytes: turned around they are short */
    END
} field_type;

typedef struct field {
    uint16_t offset;
    uint8_t type; /* field_type */
} field;

/* clang-format off */
#define FIELD(record, member, type) {offsetof(record, member), type}
#define LAST {0, END}
/* clang-format on */

static const field event_fields[] = {
    FIELD(rocl_event, stack_id, U64),       FIELD(rocl_event, parent_stack_id, U64),
    FIELD(rocl_event, correlation_id, I64), FIELD(rocl_event, process, REF),
    FIELD(rocl_event, thread, REF),         FIELD(rocl_event, name, REF),
    FIELD(rocl_event, category, REF),       LAST};

static const field region_fields[] = {FIELD(rocl_region, function, REF),
                                      FIELD(rocl_region, arg_count, U32), LAST};

static const field dispatch_fields[] = {
    FIELD(rocl_dispatch, agent, REF),         FIELD(rocl_dispatch, queue, REF),
    FIELD(rocl_dispatch, stream, REF),        FIELD(rocl_dispatch, kernel, REF),
    FIELD(rocl_dispatch, dispatch_id, U64),   FIELD(rocl_dispatch, kernel_id, I64),
    FIELD(rocl_dispatch, region_name, REF),   FIELD(rocl_dispatch, private_segment, I64),
    FIELD(rocl_dispatch, group_segment, I64), FIELD(rocl_dispatch, workgroup[0], U32),
    FIELD(rocl_dispatch, workgroup[1], U32),  FIELD(rocl_dispatch, workgroup[2], U32),
    FIELD(rocl_dispatch, grid[0], U32),       FIELD(rocl_dispatch, grid[1], U32),
    FIELD(rocl_dispatch, grid[2], U32),       FIELD(rocl_dispatch, graph_exec_id, U64),
    FIELD(rocl_dispatch, graph_node_id, U64), LAST};

static const field copy_fields[] = {
    FIELD(rocl_copy, src, REF),         FIELD(rocl_copy, dst, REF),
    FIELD(rocl_copy, queue, REF),       FIELD(rocl_copy, stream, REF),
    FIELD(rocl_copy, size, U64),        FIELD(rocl_copy, src_address, U64),
    FIELD(rocl_copy, dst_address, U64), LAST};

static const field alloc_fields[] = {
    FIELD(rocl_alloc, agent, REF),   FIELD(rocl_alloc, queue, REF), FIELD(rocl_alloc, stream, REF),
    FIELD(rocl_alloc, op, U32),      FIELD(rocl_alloc, level, U32), FIELD(rocl_alloc, size, U64),
    FIELD(rocl_alloc, address, U64), FIELD(rocl_alloc, flags, U64), LAST};

static const field counter_fields[] = {FIELD(rocl_counter_value, counter, REF),
                                       FIELD(rocl_counter_value, value, REAL), LAST};

static const field sample_fields[] = {
    FIELD(rocl_sample_value, counter, REF),  FIELD(rocl_sample_value, value, REAL),
    FIELD(rocl_sample_value, xcc, I64),      FIELD(rocl_sample_value, shader_engine, I64),
    FIELD(rocl_sample_value, instance, I64), FIELD(rocl_sample_value, shader_array, I64),
    FIELD(rocl_sample_value, wgp, I64),      LAST};

static const field hip_fields[] = {FIELD(rocl_hip, agent, REF),
                                   FIELD(rocl_hip, queue, REF),
                                   FIELD(rocl_hip, stream, REF),
                                   FIELD(rocl_hip, source_queue, REF),
                                   FIELD(rocl_hip, graph_exec_id, U64),
                                   FIELD(rocl_hip, kernel_count, U64),
                                   LAST};

static const field flow_fields[] = {LAST}; /* never written: a database has no place for them */

/* Of each record, beside event_fields. */
#define FIELDS_rocl_region        region_fields
#define FIELDS_rocl_dispatch      dispatch_fields
#define FIELDS_rocl_copy          copy_fields
#define FIELDS_rocl_alloc         alloc_fields
#define FIELDS_rocl_counter_value dispatch_fields, counter_fields
#define FIELDS_rocl_sample_value  sample_fields
#define FIELDS_rocl_hip           hip_fields
#define FIELDS_rocl_flow          flow_fields

enum { LISTS = 3 };

static const field *const lists[ROCL_KINDS][LISTS] = {
#define ROW(kind, name, record, ...) [ROCL_##kind] = {event_fields, FIELDS_##record},
    ROCL_KIND_TABLE(ROW)
#undef ROW
};

static uint64_t read_field(const char *at, field_type type)
{
    uint32_t small;
    uint64_t large;
    if (type == REF || type == U32) {
        memcpy(&small, at, sizeof small);
        return type == REF ? small + 1 : small; /* wraps to 0 */
    }
    memcpy(&large, at, sizeof large);
    return type == I64    ? rocl_zigzag((int64_t)large)
           : type == REAL ? __builtin_bswap64(large)
                          : large;
}

static void write_field(char *at, field_type type, uint64_t v)
{
    uint32_t small = (uint32_t)(type == REF ? v - 1 : v);
    uint64_t large = type == I64    ? (uint64_t)rocl_unzigzag(v)
                     : type == REAL ? __builtin_bswap64(v)
                                    : v;
    if (type == REF || type == U32)
        memcpy(at, &small, sizeof small);
    else
        memcpy(at, &large, sizeof large);
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

static uint64_t flip_sign(int64_t t)
{
    return (uint64_t)t ^ (uint64_t)1 << 63;
}

static bool has_packet(rocl_kind kind)
{
    return kind == ROCL_DISPATCH || kind == ROCL_COUNTER;
}

static void put_arg(rocl_buf *to, const rocl_arg *a)
{
    rocl_buf_varint(to, (uint32_t)(a->type + 1));
    rocl_buf_varint(to, (uint32_t)(a->name + 1));
    rocl_buf_varint(to, a->value_len);
    rocl_buf_put(to, a->value, a->value_len);
    rocl_buf_byte(to, 0);
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
    for (unsigned i = 0; i < LISTS && lists[b->kind][i]; i++)
        for (const field *f = lists[b->kind][i]; f->type != END; f++)
            rocl_buf_varint(to, read_field((const char *)event + f->offset, f->type));
    if (has_packet(b->kind)) {
        const uint32_t packet = ((const rocl_dispatch *)event)->packet;
        rocl_buf_byte(to, packet != 0);
        if (packet)
            rocl_buf_put(to, &b->packets[packet - 1], sizeof *b->packets);
    }
    uint32_t first = 0, count = 0;
    if (rocl_kind_in(b->kind, ROCL_HOST_KINDS)) {
        first = ((const rocl_region *)event)->arg_first;
        count = ((const rocl_region *)event)->arg_count;
    } else if (b->kind == ROCL_DISPATCH) {
        first = ((const rocl_dispatch *)event)->arg_first;
        count = ((const rocl_dispatch *)event)->arg_count;
    }
    for (uint32_t i = 0; i < count; i++)
        put_arg(to, &b->args[first + i]);
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
    key[order->start] = flip_sign(event->start);
    key[order->end] = ~flip_sign(event->end);
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
    uint64_t v;
    e->kind = (rocl_kind)(rec->key[order->kind] >> KIND_SHIFT);
    for (unsigned i = 0; i < LISTS && lists[e->kind][i]; i++)
        for (const field *f = lists[e->kind][i]; f->type != END; f++) {
            if (!rocl_varint_get(&p, end, &v))
                return false;
            write_field((char *)&e->r + f->offset, f->type, v);
        }
    e->r.e.start = (int64_t)flip_sign((int64_t)rec->key[order->start]);
    e->r.e.end = (int64_t)flip_sign((int64_t)~rec->key[order->end]);
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
    bool more = true;
    uint64_t n = 0;
    newset_event event = {.kind = ROCL_REGION};
    rocl_status st = rocl_sorter_start(e->sorters[t], err);
    while (st == ROCL_OK && (st = rocl_sorter_next(e->sorters[t], &rec, &more, err)) == ROCL_OK &&
           more) {
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
