/* Batches of events as bytes and back: a column for each field of model/fields.h, but for the first
 * arguments, which follow from how many there are. */
#include "team/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/fields.h"

static inline uint64_t load_field(const char *record, const rocl_field *f)
{
    uint64_t v = 0;
    uint32_t w;
    if (f->width == sizeof v) {
        memcpy(&v, record + f->offset, sizeof v);
    } else if (f->width == sizeof w) {
        memcpy(&w, record + f->offset, sizeof w);
        v = w;
    } else {
        v = (uint8_t)record[f->offset];
    }
    return v;
}

static inline void store_field(char *record, const rocl_field *f, uint64_t v)
{
    const uint32_t w = (uint32_t)v;
    if (f->width == sizeof v)
        memcpy(record + f->offset, &v, sizeof v);
    else if (f->width == sizeof w)
        memcpy(record + f->offset, &w, sizeof w);
    else
        record[f->offset] = (char)(v != 0);
}

/* Where the arguments of a record are counted, or which is the first; NULL: its kind has none. */
static const rocl_field *find_arg_field(rocl_kind kind, rocl_field_type type)
{
    const rocl_field_list *l = &rocl_field_lists[kind];
    for (size_t i = 0; i < l->count; i++)
        if (l->all[i].type == type)
            return &l->all[i];
    return NULL;
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

/* The value of a field as it is sent. */
__attribute__((always_inline)) static inline uint64_t encode_field(const char *record,
                                                                   const rocl_field *f)
{
    const rocl_event *e = (const rocl_event *)(const void *)record;
    switch ((rocl_field_type)f->type) {
    case ROCL_AS_END:
        return (uint64_t)e->end - (uint64_t)e->start;
    case ROCL_AS_DURATION:
        return (uint64_t)e->duration - ((uint64_t)e->end - (uint64_t)e->start);
    case ROCL_AS_INDEX:
    case ROCL_AS_TEXT:
        return (uint32_t)(load_field(record, f) + 1);
    default:
        return load_field(record, f);
    }
}

/* A byte: are all values the same? Then one follows, else the first and the differences. */
__attribute__((always_inline)) static inline void
put_values(rocl_buf *to, const rocl_batch *b, const rocl_field *f, rocl_wire_texts *t)
{
    const size_t size = rocl_kind_size(b->kind);
    const char *record = b->any, *past = record + b->count * size;
    const uint64_t first = encode_field(record, f);
    const char *other = record;
    while (other < past && encode_field(other, f) == first)
        other += size;
    if (!rocl_buf_reserve(to, 1 + ROCL_VARINT_MAX * (other == past ? 1 : b->count)))
        return;
    uint8_t *q = to->data + to->len;
    *q++ = other == past;
    uint64_t last = 0;
    for (; record < past; record += size) {
        const uint64_t v = encode_field(record, f);
        if (f->type == ROCL_AS_REAL) {
            rocl_le64_set(q, v);
            q += sizeof v;
        } else {
            q = rocl_varint_put(q, rocl_zigzag((int64_t)(v - last)));
        }
        if (f->type == ROCL_AS_TEXT && (v != last || record == b->any))
            note_text(t, (uint32_t)v - 1);
        last = v;
        if (other == past)
            break;
    }
    to->len = (size_t)(q - to->data);
}

/* A loop for each type that has a form of its own, else for each width, so that none has to ask
 * which it is for every value. */
#define EACH_SHAPE(CALL, f)                                                                        \
    switch ((rocl_field_type)(f)->type) {                                                          \
    case ROCL_AS_END:                                                                              \
        CALL(ROCL_AS_END, 8);                                                                      \
        break;                                                                                     \
    case ROCL_AS_DURATION:                                                                         \
        CALL(ROCL_AS_DURATION, 8);                                                                 \
        break;                                                                                     \
    case ROCL_AS_INDEX:                                                                            \
        CALL(ROCL_AS_INDEX, 4);                                                                    \
        break;                                                                                     \
    case ROCL_AS_TEXT:                                                                             \
        CALL(ROCL_AS_TEXT, 4);                                                                     \
        break;                                                                                     \
    case ROCL_AS_REAL:                                                                             \
        CALL(ROCL_AS_REAL, 8);                                                                     \
        break;                                                                                     \
    case ROCL_AS_ARG_FIRST:                                                                        \
        break;                                                                                     \
    default:                                                                                       \
        if ((f)->width == 8)                                                                       \
            CALL(ROCL_AS_U64, 8);                                                                  \
        else if ((f)->width == 4)                                                                  \
            CALL(ROCL_AS_U32, 4);                                                                  \
        else                                                                                       \
            CALL(ROCL_AS_BOOL, 1);                                                                 \
    }

static void put_column(rocl_buf *to, const rocl_batch *b, const rocl_field *f, rocl_wire_texts *t)
{
#define PUT(type, width) put_values(to, b, &(const rocl_field){NULL, f->offset, width, type}, t)
    EACH_SHAPE(PUT, f)
#undef PUT
}

static void put_args(rocl_buf *to, const rocl_batch *b, rocl_wire_texts *t)
{
    const size_t size = rocl_kind_size(b->kind);
    const rocl_field *count = find_arg_field(b->kind, ROCL_AS_ARG_COUNT);
    const rocl_field *first = find_arg_field(b->kind, ROCL_AS_ARG_FIRST);
    for (size_t i = 0; i < b->count; i++) {
        const char *record = (const char *)b->any + i * size;
        const uint64_t n = load_field(record, count);
        for (uint64_t k = 0; k < n; k++) {
            const rocl_arg *a = &b->args[load_field(record, first) + k];
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
    const rocl_field *count = find_arg_field(b->kind, ROCL_AS_ARG_COUNT);
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
    for (size_t i = 0; b->count && i < rocl_field_lists[b->kind].count; i++)
        put_column(to, b, &rocl_field_lists[b->kind].all[i], t);
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
static inline uint32_t map_text(const rocl_wire_map *texts, uint64_t v, rocl_byte_reader *from)
{
    if (v <= 1)
        return v ? 0 : ROCL_NONE;
    if (v - 1 >= texts->count) {
        from->bad = true;
        return 0;
    }
    return texts->ids[v - 1];
}

__attribute__((always_inline)) static inline void decode_field(char *record, const rocl_field *f,
                                                               uint64_t v,
                                                               const rocl_wire_map *texts,
                                                               rocl_byte_reader *from)
{
    rocl_event *e = (rocl_event *)(void *)record;
    switch ((rocl_field_type)f->type) {
    case ROCL_AS_END:
        e->end = (int64_t)((uint64_t)e->start + v);
        break;
    case ROCL_AS_DURATION:
        e->duration = (int64_t)((uint64_t)e->end - (uint64_t)e->start + v);
        break;
    case ROCL_AS_INDEX:
        store_field(record, f, (uint32_t)(v - 1));
        break;
    case ROCL_AS_TEXT:
        store_field(record, f, map_text(texts, v, from));
        break;
    default:
        store_field(record, f, v);
    }
}

__attribute__((always_inline)) static inline void get_values(const rocl_batch *b,
                                                             const rocl_field *f,
                                                             rocl_byte_reader *from,
                                                             const rocl_wire_map *texts)
{
    const size_t size = rocl_kind_size(b->kind);
    const bool number = f->type == ROCL_AS_U64 || f->type == ROCL_AS_U32 || f->type == ROCL_AS_BOOL;
    const uint8_t *same = rocl_next_bytes(from, 1);
    char *record = b->any;
    uint64_t v = 0;
    for (size_t i = 0; i < b->count && !from->bad; i++, record += size) {
        if ((i == 0 || !*same) && f->type == ROCL_AS_REAL) {
            const uint8_t *p = rocl_next_bytes(from, sizeof v);
            v = p ? rocl_le64(p) : 0;
        } else if (i == 0 || !*same) {
            const bool one = from->p < from->end && *from->p < 0x80;
            v += (uint64_t)rocl_unzigzag(one ? *from->p++ : rocl_next_number(from));
        }
        if (number && *same && !v) /* as the record is */
            return;
        decode_field(record, f, v, texts, from);
    }
}

static void get_column(const rocl_batch *b, const rocl_field *f, rocl_byte_reader *from,
                       const rocl_wire_map *texts)
{
#define GET(type, width)                                                                           \
    get_values(b, &(const rocl_field){NULL, f->offset, width, type}, from, texts)
    EACH_SHAPE(GET, f)
#undef GET
}

static void get_args(rocl_wire_batch *b, size_t count, rocl_byte_reader *from,
                     const rocl_wire_map *texts)
{
    for (rocl_arg *a = b->args; a < b->args + count && !from->bad; a++) {
        a->type = map_text(texts, rocl_next_number(from), from);
        a->name = map_text(texts, rocl_next_number(from), from);
        const uint64_t n = rocl_next_number(from);
        a->value = n ? (const char *)rocl_next_bytes(from, n) : NULL;
        a->value_len = n ? (size_t)(n - 1) : 0;
    }
}

/* Arguments lie in the order of the records that they are of. */
static void number_args(rocl_batch *b, uint64_t args, rocl_byte_reader *from)
{
    const size_t size = rocl_kind_size(b->kind);
    const rocl_field *count = find_arg_field(b->kind, ROCL_AS_ARG_COUNT);
    const rocl_field *first = find_arg_field(b->kind, ROCL_AS_ARG_FIRST);
    uint64_t n = 0;
    for (size_t i = 0; count && i < b->count; i++) {
        char *record = (char *)b->any + i * size;
        const uint64_t own = load_field(record, count);
        if (own)
            store_field(record, first, n);
        n += own;
    }
    from->bad |= n != args;
}

rocl_status rocl_wire_get_batch(rocl_wire_batch *b, rocl_byte_reader *from,
                                const rocl_wire_map *texts, rocl_error *err)
{
    const uint64_t kind = rocl_next_number(from), count = rocl_next_number(from);
    const uint64_t packets = rocl_next_number(from), instances = rocl_next_number(from);
    const uint64_t args = rocl_next_number(from), left = (uint64_t)(from->end - from->p);
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
    const uint8_t *p = rocl_next_bytes(from, packets * sizeof *b->packets);
    const uint8_t *q = rocl_next_bytes(from, instances * sizeof *b->instances);
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
    for (size_t i = 0; count && i < rocl_field_lists[kind].count; i++)
        get_column(&b->b, &rocl_field_lists[kind].all[i], from, texts);
    number_args(&b->b, args, from);
    if (!from->bad)
        get_args(b, args, from, texts);
    return from->bad ? rocl_team_bad_message(err) : ROCL_OK;
}
