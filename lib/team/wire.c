/* Batches of events as bytes: the columns of each kind of record, and both ways. */
#include "team/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- the columns of records ---- */

typedef enum column_kind {
    PLAIN,
    SPAN,  /* the end: what the event takes */
    AGAIN, /* the duration: what it is other than that */
    INDEX, /* ROCL_NONE is a small number */
    TEXT,  /* an index of texts */
    REAL,  /* double: 8 bytes as they are */
    FIRST, /* the first argument: follows from the others */
} column_kind;

typedef struct column {
    uint16_t at;
    uint8_t width; /* 1, 4 or 8 */
    uint8_t kind;
} column;

#define COLUMN(record, field, kind)                                                                \
    {                                                                                              \
        offsetof(record, field), sizeof(((record *)0)->field), kind                                \
    }

static const column event_columns[] = {
    COLUMN(rocl_event, start, PLAIN),
    COLUMN(rocl_event, end, SPAN),
    COLUMN(rocl_event, duration, AGAIN),
    COLUMN(rocl_event, id, PLAIN),
    COLUMN(rocl_event, event_id, PLAIN),
    COLUMN(rocl_event, stack_id, PLAIN),
    COLUMN(rocl_event, parent_stack_id, PLAIN),
    COLUMN(rocl_event, correlation_id, PLAIN),
    COLUMN(rocl_event, process, INDEX),
    COLUMN(rocl_event, thread, INDEX),
    COLUMN(rocl_event, name, TEXT),
    COLUMN(rocl_event, category, TEXT),
};

static const column region_columns[] = {
    COLUMN(rocl_region, function, TEXT),
    COLUMN(rocl_region, arg_count, PLAIN),
    COLUMN(rocl_region, arg_first, FIRST),
};

static const column dispatch_columns[] = {
    COLUMN(rocl_dispatch, agent, INDEX),           COLUMN(rocl_dispatch, queue, INDEX),
    COLUMN(rocl_dispatch, stream, INDEX),          COLUMN(rocl_dispatch, kernel, INDEX),
    COLUMN(rocl_dispatch, dispatch_id, PLAIN),     COLUMN(rocl_dispatch, kernel_id, PLAIN),
    COLUMN(rocl_dispatch, region_name, TEXT),      COLUMN(rocl_dispatch, packet, PLAIN),
    COLUMN(rocl_dispatch, private_segment, PLAIN), COLUMN(rocl_dispatch, group_segment, PLAIN),
    COLUMN(rocl_dispatch, workgroup[0], PLAIN),    COLUMN(rocl_dispatch, workgroup[1], PLAIN),
    COLUMN(rocl_dispatch, workgroup[2], PLAIN),    COLUMN(rocl_dispatch, grid[0], PLAIN),
    COLUMN(rocl_dispatch, grid[1], PLAIN),         COLUMN(rocl_dispatch, grid[2], PLAIN),
    COLUMN(rocl_dispatch, graph_exec_id, PLAIN),   COLUMN(rocl_dispatch, graph_node_id, PLAIN),
    COLUMN(rocl_dispatch, arg_count, PLAIN),       COLUMN(rocl_dispatch, arg_first, FIRST),
};

static const column copy_columns[] = {
    COLUMN(rocl_copy, src, INDEX),         COLUMN(rocl_copy, dst, INDEX),
    COLUMN(rocl_copy, queue, INDEX),       COLUMN(rocl_copy, stream, INDEX),
    COLUMN(rocl_copy, size, PLAIN),        COLUMN(rocl_copy, src_address, PLAIN),
    COLUMN(rocl_copy, dst_address, PLAIN),
};

static const column alloc_columns[] = {
    COLUMN(rocl_alloc, agent, INDEX),   COLUMN(rocl_alloc, queue, INDEX),
    COLUMN(rocl_alloc, stream, INDEX),  COLUMN(rocl_alloc, op, PLAIN),
    COLUMN(rocl_alloc, level, PLAIN),   COLUMN(rocl_alloc, size, PLAIN),
    COLUMN(rocl_alloc, address, PLAIN), COLUMN(rocl_alloc, flags, PLAIN),
    COLUMN(rocl_alloc, owner, INDEX),   COLUMN(rocl_alloc, block, PLAIN),
    COLUMN(rocl_alloc, delta, PLAIN),   COLUMN(rocl_alloc, unpaired, PLAIN),
};

/* Behind those of its dispatch. */
static const column counter_columns[] = {
    COLUMN(rocl_counter_value, counter, INDEX),  COLUMN(rocl_counter_value, instances, PLAIN),
    COLUMN(rocl_counter_value, instance, PLAIN), COLUMN(rocl_counter_value, value, REAL),
    COLUMN(rocl_counter_value, min, REAL),       COLUMN(rocl_counter_value, max, REAL),
    COLUMN(rocl_counter_value, row, PLAIN),
};

static const column sample_columns[] = {
    COLUMN(rocl_sample_value, counter, INDEX),       COLUMN(rocl_sample_value, agent, INDEX),
    COLUMN(rocl_sample_value, value, REAL),          COLUMN(rocl_sample_value, xcc, PLAIN),
    COLUMN(rocl_sample_value, shader_engine, PLAIN), COLUMN(rocl_sample_value, instance, PLAIN),
    COLUMN(rocl_sample_value, shader_array, PLAIN),  COLUMN(rocl_sample_value, wgp, PLAIN),
};

static const column hip_columns[] = {
    COLUMN(rocl_hip, agent, INDEX),         COLUMN(rocl_hip, queue, INDEX),
    COLUMN(rocl_hip, stream, INDEX),        COLUMN(rocl_hip, source_queue, INDEX),
    COLUMN(rocl_hip, graph_exec_id, PLAIN), COLUMN(rocl_hip, kernel_count, PLAIN),
};

static const column flow_columns[] = {
    COLUMN(rocl_flow, flow, PLAIN),
    COLUMN(rocl_flow, end, PLAIN),
    COLUMN(rocl_flow, next, PLAIN),
};

/* A field that is added to a record must be added here: test_team finds fields that are not
 * sent. */
enum { GROUPS = 3 };

typedef struct column_group {
    const column *columns;
    size_t count;
} column_group;

#define COLUMNS(c)                                                                                 \
    {                                                                                              \
        c, sizeof(c) / sizeof *(c)                                                                 \
    }

static const column_group layouts[ROCL_KINDS][GROUPS] = {
    [ROCL_REGION] = {COLUMNS(event_columns), COLUMNS(region_columns)},
    [ROCL_MARKER] = {COLUMNS(event_columns), COLUMNS(region_columns)},
    [ROCL_INSTANT] = {COLUMNS(event_columns), COLUMNS(region_columns)},
    [ROCL_DISPATCH] = {COLUMNS(event_columns), COLUMNS(dispatch_columns)},
    [ROCL_COPY] = {COLUMNS(event_columns), COLUMNS(copy_columns)},
    [ROCL_ALLOC] = {COLUMNS(event_columns), COLUMNS(alloc_columns)},
    [ROCL_SCRATCH] = {COLUMNS(event_columns), COLUMNS(alloc_columns)},
    [ROCL_COUNTER] = {COLUMNS(event_columns), COLUMNS(dispatch_columns), COLUMNS(counter_columns)},
    [ROCL_SPM] = {COLUMNS(event_columns), COLUMNS(sample_columns)},
    [ROCL_SAMPLE] = {COLUMNS(event_columns), COLUMNS(sample_columns)},
    [ROCL_GRAPH] = {COLUMNS(event_columns), COLUMNS(hip_columns)},
    [ROCL_HIP_EVENT] = {COLUMNS(event_columns), COLUMNS(hip_columns)},
    [ROCL_BARRIER] = {COLUMNS(event_columns), COLUMNS(hip_columns)},
    [ROCL_FLOW] = {COLUMNS(event_columns), COLUMNS(flow_columns)},
};

static inline uint64_t load_field(const char *record, const column *c)
{
    uint64_t v = 0;
    uint32_t w;
    if (c->width == sizeof v) {
        memcpy(&v, record + c->at, sizeof v);
    } else if (c->width == sizeof w) {
        memcpy(&w, record + c->at, sizeof w);
        v = w;
    } else {
        v = (uint8_t)record[c->at];
    }
    return v;
}

static inline void store_field(char *record, const column *c, uint64_t v)
{
    const uint32_t w = (uint32_t)v;
    if (c->width == sizeof v)
        memcpy(record + c->at, &v, sizeof v);
    else if (c->width == sizeof w)
        memcpy(record + c->at, &w, sizeof w);
    else
        record[c->at] = (char)(v != 0);
}

/* Where the arguments of a record are counted; NULL: its kind has none. */
static const column *arg_count_of(rocl_kind kind)
{
    static const column region = COLUMN(rocl_region, arg_count, PLAIN);
    static const column dispatch = COLUMN(rocl_dispatch, arg_count, PLAIN);
    return layouts[kind][1].columns == region_columns     ? &region
           : layouts[kind][1].columns == dispatch_columns ? &dispatch
                                                          : NULL;
}

/* ---- to bytes ---- */

void rocl_wire_texts_free(rocl_wire_texts *t)
{
    free(t->known);
    free(t->fresh);
    *t = (rocl_wire_texts){0};
}

/* Text 0 is "" everywhere. */
static void note_text(rocl_wire_texts *t, uint32_t text)
{
    if (text == 0 || text == ROCL_NONE || (text < t->cap && t->known[text]))
        return;
    if (!ROCL_GROW(t->known, t->cap, (size_t)text + 1) ||
        !ROCL_GROW(t->fresh, t->fresh_cap, t->fresh_count + 1)) {
        t->failed = true;
        return;
    }
    t->known[text] = 1;
    t->fresh[t->fresh_count++] = text;
}

/* The value of a column as it is sent. */
__attribute__((always_inline)) static inline uint64_t encode_field(const char *record,
                                                                   const column *c)
{
    const rocl_event *e = (const rocl_event *)(const void *)record;
    switch ((column_kind)c->kind) {
    case SPAN:
        return (uint64_t)e->end - (uint64_t)e->start;
    case AGAIN:
        return (uint64_t)e->duration - ((uint64_t)e->end - (uint64_t)e->start);
    case INDEX:
    case TEXT:
        return (uint32_t)(load_field(record, c) + 1);
    default:
        return load_field(record, c);
    }
}

/* A byte: are all values the same? Then one follows, else the first and the differences. */
__attribute__((always_inline)) static inline void put_values(rocl_buf *to, const rocl_batch *b,
                                                             const column *c, rocl_wire_texts *t)
{
    const size_t size = rocl_kind_size(b->kind);
    const char *record = b->any, *past = record + b->count * size;
    const uint64_t first = encode_field(record, c);
    const char *other = record;
    while (other < past && encode_field(other, c) == first)
        other += size;
    if (!rocl_buf_reserve(to, 1 + ROCL_VARINT_MAX * (other == past ? 1 : b->count)))
        return;
    uint8_t *q = to->data + to->len;
    *q++ = other == past;
    uint64_t last = 0;
    for (; record < past; record += size) {
        const uint64_t v = encode_field(record, c);
        if (c->kind == REAL) {
            rocl_le64_set(q, v);
            q += sizeof v;
        } else {
            q = rocl_varint_put(q, rocl_zigzag((int64_t)(v - last)));
        }
        if (c->kind == TEXT && (v != last || record == b->any))
            note_text(t, (uint32_t)v - 1);
        last = v;
        if (other == past)
            break;
    }
    to->len = (size_t)(q - to->data);
}

/* A loop for each kind and width, so that none has to ask which it is for every value. */
#define EACH_SHAPE(CALL, c)                                                                        \
    switch ((column_kind)(c)->kind) {                                                              \
    case SPAN:                                                                                     \
        CALL(SPAN, 8);                                                                             \
        break;                                                                                     \
    case AGAIN:                                                                                    \
        CALL(AGAIN, 8);                                                                            \
        break;                                                                                     \
    case INDEX:                                                                                    \
        CALL(INDEX, 4);                                                                            \
        break;                                                                                     \
    case TEXT:                                                                                     \
        CALL(TEXT, 4);                                                                             \
        break;                                                                                     \
    case REAL:                                                                                     \
        CALL(REAL, 8);                                                                             \
        break;                                                                                     \
    case PLAIN:                                                                                    \
        if ((c)->width == 8)                                                                       \
            CALL(PLAIN, 8);                                                                        \
        else if ((c)->width == 4)                                                                  \
            CALL(PLAIN, 4);                                                                        \
        else                                                                                       \
            CALL(PLAIN, 1);                                                                        \
        break;                                                                                     \
    case FIRST:                                                                                    \
        break;                                                                                     \
    }

static void put_column(rocl_buf *to, const rocl_batch *b, const column *c, rocl_wire_texts *t)
{
#define PUT(kind, width) put_values(to, b, &(const column){c->at, width, kind}, t)
    EACH_SHAPE(PUT, c)
#undef PUT
}

static void put_args(rocl_buf *to, const rocl_batch *b, rocl_wire_texts *t)
{
    const size_t size = rocl_kind_size(b->kind);
    const column *count = arg_count_of(b->kind);
    const bool dispatch = layouts[b->kind][1].columns == dispatch_columns;
    for (size_t i = 0; count && i < b->count; i++) {
        const char *record = (const char *)b->any + i * size;
        const uint64_t n = load_field(record, count);
        if (!n)
            continue;
        const rocl_arg *a =
            b->args + (dispatch ? ((const rocl_dispatch *)(const void *)record)->arg_first
                                : ((const rocl_region *)(const void *)record)->arg_first);
        for (const rocl_arg *past = a + n; a < past; a++) {
            note_text(t, a->type);
            note_text(t, a->name);
            rocl_buf_varint(to, (uint32_t)(a->type + 1));
            rocl_buf_varint(to, (uint32_t)(a->name + 1));
            rocl_buf_varint(to, a->value ? a->value_len + 1 : 0);
            if (a->value) {
                rocl_buf_put(to, a->value, a->value_len);
                rocl_buf_byte(to, 0);
            }
        }
    }
}

static uint64_t count_args(const rocl_batch *b)
{
    const size_t size = rocl_kind_size(b->kind);
    const column *count = arg_count_of(b->kind);
    uint64_t n = 0;
    for (size_t i = 0; count && i < b->count; i++)
        n += load_field((const char *)b->any + i * size, count);
    return n;
}

static size_t count_instances(const rocl_batch *b)
{
    size_t n = 0;
    for (size_t i = 0; b->kind == ROCL_COUNTER && b->instances && i < b->count; i++) {
        const rocl_counter_value *v = &b->counters[i];
        const size_t past = v->instance ? (size_t)v->instance - 1 + v->instances : 0;
        n = past > n ? past : n;
    }
    return n;
}

void rocl_wire_put_batch(rocl_buf *to, const rocl_batch *b, rocl_wire_texts *t)
{
    const bool packets = b->kind == ROCL_DISPATCH || b->kind == ROCL_COUNTER;
    const size_t packet_count = packets && b->packets ? b->packet_count : 0;
    const size_t instance_count = count_instances(b);
    const uint64_t arg_count = count_args(b);
    t->fresh_count = 0;
    rocl_buf_varint(to, b->kind);
    rocl_buf_varint(to, b->count);
    rocl_buf_varint(to, packet_count);
    rocl_buf_varint(to, instance_count);
    rocl_buf_varint(to, arg_count);
    rocl_buf_put(to, b->packets, packet_count * sizeof *b->packets);
    rocl_buf_put(to, b->instances, instance_count * sizeof *b->instances);
    for (unsigned g = 0; b->count && g < GROUPS; g++)
        for (size_t i = 0; i < layouts[b->kind][g].count; i++)
            put_column(to, b, &layouts[b->kind][g].columns[i], t);
    if (arg_count)
        put_args(to, b, t);
    to->failed |= t->failed;
}

/* ---- and back ---- */

void rocl_wire_batch_free(rocl_wire_batch *b)
{
    free(b->records);
    free(b->args);
    free(b->packets);
    free(b->instances);
    *b = (rocl_wire_batch){0};
}

/* v: a text of the sender + 1. */
static inline uint32_t map_text(const rocl_wire_map *texts, uint64_t v, rocl_team_reader *from)
{
    if (v <= 1)
        return v ? 0 : ROCL_NONE;
    if (v - 1 >= texts->count) {
        from->bad = true;
        return 0;
    }
    return texts->ids[v - 1];
}

__attribute__((always_inline)) static inline void decode_field(char *record, const column *c,
                                                               uint64_t v,
                                                               const rocl_wire_map *texts,
                                                               rocl_team_reader *from)
{
    rocl_event *e = (rocl_event *)(void *)record;
    switch ((column_kind)c->kind) {
    case SPAN: /* behind the start, and before the duration */
        e->end = (int64_t)((uint64_t)e->start + v);
        break;
    case AGAIN:
        e->duration = (int64_t)((uint64_t)e->end - (uint64_t)e->start + v);
        break;
    case INDEX:
        store_field(record, c, (uint32_t)(v - 1));
        break;
    case TEXT:
        store_field(record, c, map_text(texts, v, from));
        break;
    default:
        store_field(record, c, v);
    }
}

__attribute__((always_inline)) static inline void
get_values(const rocl_batch *b, const column *c, rocl_team_reader *from, const rocl_wire_map *texts)
{
    const size_t size = rocl_kind_size(b->kind);
    const uint8_t *same = rocl_team_bytes(from, 1);
    char *record = b->any;
    uint64_t v = 0;
    for (size_t i = 0; i < b->count && !from->bad; i++, record += size) {
        if ((i == 0 || !*same) && c->kind == REAL) {
            const uint8_t *p = rocl_team_bytes(from, sizeof v);
            v = p ? rocl_le64(p) : 0;
        } else if (i == 0 || !*same) {
            const bool one = from->p < from->end && *from->p < 0x80;
            v += (uint64_t)rocl_unzigzag(one ? *from->p++ : rocl_team_number(from));
        }
        if (c->kind == PLAIN && *same && !v) /* as the record is */
            return;
        decode_field(record, c, v, texts, from);
    }
}

static void get_column(const rocl_batch *b, const column *c, rocl_team_reader *from,
                       const rocl_wire_map *texts)
{
#define GET(kind, width) get_values(b, &(const column){c->at, width, kind}, from, texts)
    EACH_SHAPE(GET, c)
#undef GET
}

static void get_args(rocl_wire_batch *b, size_t count, rocl_team_reader *from,
                     const rocl_wire_map *texts)
{
    for (rocl_arg *a = b->args; a < b->args + count && !from->bad; a++) {
        a->type = map_text(texts, rocl_team_number(from), from);
        a->name = map_text(texts, rocl_team_number(from), from);
        const uint64_t n = rocl_team_number(from);
        a->value = n ? (const char *)rocl_team_bytes(from, n) : NULL;
        a->value_len = n ? (size_t)(n - 1) : 0;
    }
}

/* Arguments lie in the order of the records that they are of. */
static void number_args(rocl_batch *b, uint64_t count, rocl_team_reader *from)
{
    const size_t size = rocl_kind_size(b->kind);
    const column *c = arg_count_of(b->kind);
    const bool dispatch = layouts[b->kind][1].columns == dispatch_columns;
    uint64_t first = 0;
    for (size_t i = 0; c && i < b->count; i++) {
        char *record = (char *)b->any + i * size;
        const uint64_t n = load_field(record, c);
        if (!n)
            continue;
        if (dispatch)
            ((rocl_dispatch *)(void *)record)->arg_first = (uint32_t)first;
        else
            ((rocl_region *)(void *)record)->arg_first = (uint32_t)first;
        first += n;
    }
    from->bad |= first != count;
}

rocl_status rocl_wire_get_batch(rocl_wire_batch *b, rocl_team_reader *from,
                                const rocl_wire_map *texts, rocl_error *err)
{
    const uint64_t kind = rocl_team_number(from), count = rocl_team_number(from);
    const uint64_t packets = rocl_team_number(from), instances = rocl_team_number(from);
    const uint64_t args = rocl_team_number(from), left = (uint64_t)(from->end - from->p);
    /* A record may take no byte of its own; a sender makes batches of some thousand. */
    if (from->bad || kind >= ROCL_KINDS || count > UINT32_MAX || packets > left ||
        instances > left || args > left)
        return rocl_team_bad_message(err);
    const size_t bytes = count * rocl_kind_size((rocl_kind)kind);
    char *records = b->records;
    if (!ROCL_GROW(records, b->record_cap, bytes + 1))
        return rocl_fail_memory(err);
    b->records = records;
    if (!ROCL_GROW(b->packets, b->packet_cap, packets + 1) ||
        !ROCL_GROW(b->instances, b->instance_cap, instances + 1) ||
        !ROCL_GROW(b->args, b->arg_cap, args + 1))
        return rocl_fail_memory(err);
    const uint8_t *p = rocl_team_bytes(from, packets * sizeof *b->packets);
    const uint8_t *q = rocl_team_bytes(from, instances * sizeof *b->instances);
    if (p && packets)
        memcpy(b->packets, p, packets * sizeof *b->packets);
    if (q && instances)
        memcpy(b->instances, q, instances * sizeof *b->instances);
    memset(b->records, 0, bytes);
    b->b = (rocl_batch){.kind = (rocl_kind)kind,
                        .count = count,
                        .any = b->records,
                        .args = args ? b->args : NULL,
                        .packets = packets ? b->packets : NULL,
                        .packet_count = packets,
                        .instances = instances ? b->instances : NULL};
    for (unsigned g = 0; count && g < GROUPS; g++)
        for (size_t i = 0; i < layouts[kind][g].count; i++)
            get_column(&b->b, &layouts[kind][g].columns[i], from, texts);
    number_args(&b->b, args, from);
    if (!from->bad)
        get_args(b, args, from, texts);
    return from->bad ? rocl_team_bad_message(err) : ROCL_OK;
}
