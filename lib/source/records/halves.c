/* Begins and ends that are records of their own, as push and pop of a range, or "B" and "E" events:
 * sorted by process, scope and time, then joined with a stack of the open ones.
 *
 * In the sorter:
 *
 *     key[0] process   key[1] scope   key[2] time   key[3] place, the order in which they were
 * written data: a half, then, of a begin, its arguments: arg_head and the bytes of the value, each
 */
#include <stdlib.h>

#include "source/records/run.h"

typedef struct half {
    rocl_region region; /* indexes and texts; arg_count arguments follow */
    uint64_t id, piece, line, where;
    rocl_kind kind;
    bool begins;
} half;

typedef struct arg_head {
    uint32_t type, name;
    size_t size;
} arg_head;

/* The begins of a scope that have no end so far, the last one on top. */
typedef struct open_halves {
    uint8_t **all; /* copies of their data */
    size_t count, cap;
} open_halves;

/* How far down an end looks for the begin with its id. */
enum { LOOK_DOWN_MAX = 1024 };

rocl_status rocl_half_add(rocl_records *w, const rocl_source_record *r, rocl_error *err)
{
    const uint64_t key[4] = {r->process, r->scope, (uint64_t)r->as.e.start,
                             rocl_place(w, r->where)};
    half h = {.region = r->as.region,
              .id = r->id,
              .piece = (uint64_t)(w->piece - w->in->pieces),
              .line = w->line,
              .where = r->where,
              .kind = r->kind,
              .begins = r->half == ROCL_BEGINS};
    rocl_buf data = {0};
    h.region.arg_count = h.begins ? (uint32_t)w->pending_args : 0;
    rocl_buf_put(&data, &h, sizeof h);
    for (size_t i = 0; i < h.region.arg_count; i++) {
        const rocl_arg *a = &w->out.args[w->out.arg_count - w->pending_args + i];
        const arg_head head = {a->type, a->name, a->value_len};
        rocl_buf_put(&data, &head, sizeof head);
        rocl_buf_put(&data, a->value, a->value_len);
    }
    w->out.arg_count -= w->pending_args;
    rocl_status st = data.failed ? rocl_fail_memory(err)
                                 : rocl_sorter_add(w->in->run->joining, w->number, key, data.data,
                                                   data.len, err);
    rocl_buf_free(&data);
    return st;
}

/* The second pass: a begin that has its end goes out. */
static rocl_status emit_joined(rocl_records *w, const uint8_t *data, int64_t end, rocl_error *err)
{
    half h;
    rocl_status st = ROCL_OK;
    memcpy(&h, data, sizeof h);
    rocl_region *g = rocl_batcher_next(&w->out, h.kind, &st, err);
    if (!g)
        return st;
    *g = h.region;
    g->e.end = end;
    g->e.duration = end - g->e.start;
    g->arg_first = (uint32_t)w->out.arg_count;
    data += sizeof h;
    for (uint32_t i = 0; i < g->arg_count; i++) {
        arg_head head;
        memcpy(&head, data, sizeof head);
        char *value = rocl_arena_dup(&w->out.arg_text, (const char *)data + sizeof head, head.size);
        if (!value || !ROCL_GROW(w->out.args, w->out.arg_cap, w->out.arg_count + 1))
            return rocl_fail_memory(err);
        w->out.args[w->out.arg_count++] = (rocl_arg){head.type, head.name, value, head.size};
        data += sizeof head + head.size;
    }
    return ROCL_OK;
}

static void count_unjoined(rocl_records *w, const uint8_t *data)
{
    half h;
    memcpy(&h, data, sizeof h);
    if (w->indexing)
        rocl_bad_record_add(
            w, h.piece, h.line, h.where, h.begins ? ROCL_FAULT_NO_END : ROCL_FAULT_BAD_LINE,
            h.begins ? "a range that never ends" : "the end of a range that never began");
}

static void drop_open(rocl_records *w, open_halves *o)
{
    while (o->count) {
        count_unjoined(w, o->all[--o->count]);
        free(o->all[o->count]);
    }
}

/* Takes the begin that an end belongs to out of the open ones: that with its id, else the last. */
static uint8_t *take_open(open_halves *o, uint64_t id)
{
    size_t at = o->count;
    for (size_t i = o->count; i > 0 && o->count - i < LOOK_DOWN_MAX; i--) {
        uint64_t have;
        memcpy(&have, o->all[i - 1] + offsetof(half, id), sizeof have);
        if (have == id) {
            at = i;
            break;
        }
    }
    uint8_t *data = o->all[at - 1];
    memmove(&o->all[at - 1], &o->all[at], (o->count - at) * sizeof *o->all);
    o->count--;
    return data;
}

rocl_status rocl_halves_join(rocl_records *w, rocl_error *err)
{
    rocl_sorter *sorter = w->in->run->joining;
    open_halves open = {0};
    uint64_t process = 0, scope = 0;
    rocl_sort_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(sorter, &rec, &more, err)) == ROCL_OK && more) {
        half h;
        memcpy(&h, rec.data, sizeof h);
        if (process != rec.key[0] || scope != rec.key[1])
            drop_open(w, &open);
        process = rec.key[0];
        scope = rec.key[1];
        if (h.begins) {
            uint8_t *copy = malloc(rec.len);
            if (!copy || !ROCL_GROW(open.all, open.cap, open.count + 1)) {
                free(copy);
                st = rocl_fail_memory(err);
                break;
            }
            memcpy(copy, rec.data, rec.len);
            open.all[open.count++] = copy;
        } else if (!open.count) {
            count_unjoined(w, rec.data);
        } else {
            uint8_t *begin = take_open(&open, h.id);
            if (!w->indexing)
                st = emit_joined(w, begin, h.region.e.start, err);
            free(begin);
        }
    }
    drop_open(w, &open);
    free(open.all);
    return st;
}
