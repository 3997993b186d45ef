/* Begins and ends that are records of their own, as push and pop of a range, or "B" and "E" events,
 * and that were not joined while they were parsed (see scopes.c): sorted by process, scope and
 * time, then joined by source/ranges.h.
 *
 * In the sorter:
 *
 *     key[0] process   key[1] scope   key[2] time   key[3] place, the order in which they are
 *
 * and, in the first pass, a half and its origin; in the second a half, of a begin its event,
 * arguments: arg_head and the bytes of the value, each. */
#include <stdlib.h>

#include "source/records/run.h"

typedef struct half {
    uint64_t id;
    uint32_t arg_count; /* after the event, which has the size of its kind */
    uint8_t kind;
    bool begins;
    bool timed; /* a begin whose event has its end */
} half;

/* The place of a half, for messages. */
typedef struct origin {
    uint32_t piece, line; /* pieces have some MiB */
    uint64_t where;
} origin;

typedef struct arg_head {
    uint32_t type, name;
    size_t size;
} arg_head;

bool rocl_args_put_aside(rocl_records *w, rocl_buf *to)
{
    if (!w->pending_args)
        return !to->failed;
    const rocl_arg *args = &w->out.args[w->out.arg_count - w->pending_args];
    for (size_t i = 0; i < w->pending_args; i++) {
        const arg_head head = {args[i].type, args[i].name, args[i].value_len};
        rocl_buf_put(to, &head, sizeof head);
        rocl_buf_put(to, args[i].value, args[i].value_len);
    }
    w->out.arg_count -= w->pending_args;
    w->pending_args = 0;
    return !to->failed;
}

bool rocl_args_add(rocl_records *w, const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        arg_head head;
        memcpy(&head, bytes, sizeof head);
        if (!rocl_batcher_arg(&w->out, head.type, head.name, (const char *)bytes + sizeof head,
                              head.size))
            return false;
        bytes += sizeof head + head.size;
    }
    return true;
}

rocl_status rocl_half_note(rocl_records *w, uint64_t process, uint64_t scope, bool begins,
                           const rocl_half_place *at, rocl_error *err)
{
    const uint64_t key[4] = {process, scope, at->time, rocl_place(w, at->where)};
    const half h = {.id = at->id, .begins = begins};
    const origin o = {(uint32_t)(w->piece - w->in->pieces), (uint32_t)at->line, at->where};
    uint8_t data[sizeof h + sizeof o];
    memcpy(data, &h, sizeof h);
    memcpy(data + sizeof h, &o, sizeof o);
    return rocl_sorter_add(w->in->run->joining, w->number, key, data, sizeof data, err);
}

rocl_status rocl_half_add(rocl_records *w, const rocl_plain_record *r, const rocl_any_record *event,
                          rocl_error *err)
{
    const uint64_t time = (uint64_t)(r->at > 0 ? r->at : r->as.e.start);
    const uint64_t process = rocl_process_key(w, r);
    const bool begins = r->half == ROCL_BEGINS;
    if (w->indexing)
        return rocl_half_note(w, process, r->scope, begins,
                              &(rocl_half_place){time, r->where, w->line, r->id}, err);
    const uint64_t key[4] = {process, r->scope, time, rocl_place(w, r->where)};
    const half h = {.id = r->id,
                    .arg_count = (uint32_t)w->pending_args,
                    .kind = r->kind,
                    .begins = begins,
                    .timed = r->at > 0};
    rocl_buf *data = &w->half;
    data->len = 0;
    rocl_buf_put(data, &h, sizeof h);
    if (begins)
        rocl_buf_put(data, event, rocl_kind_size((rocl_kind)h.kind));
    return rocl_args_put_aside(w, data)
               ? rocl_sorter_add(w->in->run->joining, w->number, key, data->data, data->len, err)
               : rocl_fail_memory(err);
}

/* Adds the arguments of a half with these bytes. */
static bool add_args(rocl_records *w, const uint8_t *data)
{
    half h;
    memcpy(&h, data, sizeof h);
    data += sizeof h + (h.begins ? rocl_kind_size((rocl_kind)h.kind) : 0);
    return rocl_args_add(w, data, h.arg_count);
}

/* The second pass: emits a begin with its end, as a record of its kind. */
static rocl_status emit_joined(rocl_records *w, const uint8_t *begin, const uint8_t *end,
                               int64_t time, rocl_error *err)
{
    half h;
    rocl_any_record as;
    rocl_status st = ROCL_OK;
    memcpy(&h, begin, sizeof h);
    const rocl_kind kind = (rocl_kind)h.kind;
    if (!rocl_kind_in(kind, w->in->run->kinds))
        return ROCL_OK;
    memcpy(&as, begin + sizeof h, rocl_kind_size(kind));
    if (!h.timed)
        as.e.end = time;
    as.e.duration = as.e.end - as.e.start;
    if (kind == ROCL_ALLOC || kind == ROCL_SCRATCH)
        return rocl_allocs_add(w->in->run->allocations, w->number, &as.alloc, err);
    void *to = rocl_batcher_next(&w->out, kind, &st, err); /* may emit the arguments so far */
    if (!to)
        return st;
    const size_t first = w->out.arg_count;
    const bool call = rocl_kind_in(kind, ROCL_HOST_KINDS), kernel = kind == ROCL_DISPATCH;
    if ((call || kernel) && (!add_args(w, begin) || !add_args(w, end)))
        return rocl_fail_memory(err);
    if (call) {
        as.region.arg_first = (uint32_t)first;
        as.region.arg_count = (uint32_t)(w->out.arg_count - first);
    } else if (kernel) {
        as.dispatch.arg_first = (uint32_t)first;
        as.dispatch.arg_count = (uint32_t)(w->out.arg_count - first);
    }
    memcpy(to, &as, rocl_kind_size(kind));
    return ROCL_OK;
}

/* Takes a range: emits it in the second pass; in the first, counts a half that has no other. */
static rocl_status put_range(void *ctx, const uint8_t *begin, const rocl_sort_record *end,
                             rocl_error *err)
{
    rocl_records *w = ctx;
    origin o;
    if (!w->indexing)
        return begin && end ? emit_joined(w, begin, end->data, (int64_t)end->key[2], err) : ROCL_OK;
    if (!begin || !end) {
        memcpy(&o, (begin ? begin : end->data) + sizeof(half), sizeof o);
        const rocl_bad_record bad = {o.piece, o.line, o.where,
                                     begin ? "a range that never ends"
                                           : "the end of a range that never began"};
        rocl_bad_records_add(&w->in->run->bad, &bad,
                             begin ? ROCL_FAULT_NO_END : ROCL_FAULT_BAD_LINE, 1);
    }
    return ROCL_OK;
}

static rocl_range_half read_half(const uint8_t *data)
{
    half h;
    memcpy(&h, data, sizeof h);
    return (rocl_range_half){h.id, h.begins};
}

rocl_status rocl_halves_join(rocl_records *w, rocl_error *err)
{
    static const rocl_range_format format = {2, ROCL_RANGES_NEST, read_half, put_range};
    return rocl_ranges_join(w->in->run->joining, &format, w, err);
}
