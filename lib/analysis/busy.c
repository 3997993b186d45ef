/* What each GPU did when: its kernels, copies and collective kernels as sets of time, and the gaps
 * in their union. A set's measure is taken in one sweep by start: a piece is added as far as it
 * reaches beyond what the set has covered. Everything else follows from unions of sets:
 *
 *     both         = compute + copy - (compute or copy)
 *     exposed copy = all - (compute or communication)
 *     wall         = compute + exposed communication + exposed copy + idle
 */
#include <stdlib.h>

#include "analysis/busy.h"
#include "base/array.h"
#include "base/buf.h"

/* ---- taking events ---- */

/* What an event is to us. */
typedef struct item {
    const rocl_event *e;
    rocl_kind kind;
    part part;
    uint32_t queue, stream;
    uint64_t process;
} item;

static rocl_status add_to(busy *b, unsigned worker, const rocl_capture *c, const item *i,
                          uint64_t place, rocl_error *err)
{
    uint8_t payload[4 * ROCL_VARINT_MAX], *q = payload;
    if (place == ROCL_NO_PLACE)
        return ROCL_OK;
    const uint64_t key[4] = {place, (uint64_t)i->e->start, (uint64_t)i->e->end,
                             rocl_row_word(i->e->id, i->kind) ^ (uint64_t)c->index << 48};
    q = rocl_varint_put(q, i->part);
    q = rocl_varint_put(q, i->e->name);
    if (b->causes) {
        q = rocl_varint_put(q, i->process);
        q = rocl_varint_put(q, i->e->stack_id);
    }
    if (b->ends && i->part != COPY) {
        const uint64_t end[2] = {key[0], key[2]};
        rocl_status st = rocl_sorter_add(b->ends, worker, end, NULL, 0, err);
        if (st != ROCL_OK)
            return st;
    }
    return rocl_sorter_add(b->sorter, worker, key, payload, (size_t)(q - payload), err);
}

static rocl_status add(busy *b, unsigned worker, const rocl_capture *c, const item *i,
                       uint32_t agent, rocl_error *err)
{
    const rocl_gpu *g = rocl_gpus_find(&b->gpus, c, agent);
    if (!g)
        return ROCL_OK;
    uint64_t gpu = (uint64_t)(g - b->gpus.all);
    if (!b->lanes)
        return add_to(b, worker, c, i, gpu, err);
    rocl_status st = add_to(b, worker, c, i, rocl_busy_stream(b, gpu, c, i->stream), err);
    if (st == ROCL_OK)
        st = add_to(b, worker, c, i, rocl_busy_queue(b, gpu, c, i->queue), err);
    return st;
}

static rocl_status take_copy(busy *b, unsigned worker, const rocl_capture *c, const rocl_copy *k,
                             rocl_error *err)
{
    const item i = {&k->e, ROCL_COPY, COPY, k->queue, k->stream, rocl_process_word(c, &k->e)};
    rocl_status st = add(b, worker, c, &i, k->dst, err);
    return st == ROCL_OK && k->src != k->dst ? add(b, worker, c, &i, k->src, err) : st;
}

/* Found out once per name and worker. */
static bool part_of(busy *b, unsigned worker, uint32_t kernel, part *out)
{
    uint32_t known = rocl_ids_get(&b->parts[worker], kernel);
    if (known != ROCL_NONE) {
        *out = (part)known;
        return true;
    }
    *out = rocl_is_communication(rocl_str(b->c.trace, kernel)) ? COMMUNICATION : COMPUTE;
    return rocl_ids_put(&b->parts[worker], kernel, *out);
}

static rocl_status take_kernel(busy *b, unsigned worker, const rocl_capture *c,
                               const rocl_dispatch *d, rocl_error *err)
{
    item i = {&d->e, ROCL_DISPATCH, COMPUTE, d->queue, d->stream, rocl_process_word(c, &d->e)};
    return part_of(b, worker, d->e.name, &i.part) ? add(b, worker, c, &i, d->agent, err)
                                                  : rocl_fail_memory(err);
}

static rocl_status take_work(busy *b, unsigned worker, const rocl_batch *batch, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < batch->count && st == ROCL_OK; i++)
        st = batch->kind == ROCL_DISPATCH
                 ? take_kernel(b, worker, batch->capture, &batch->dispatches[i], err)
                 : take_copy(b, worker, batch->capture, &batch->copies[i], err);
    return st;
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *batch, rocl_error *err)
{
    busy *b = self;
    rocl_status st = b->causes ? rocl_gap_causes_see(b, worker, batch, err) : ROCL_OK;
    return st == ROCL_OK && batch->kind != ROCL_REGION ? take_work(b, worker, batch, err) : st;
}

/* ---- sweeping ---- */

static void extend(cover *c, int64_t start, int64_t end)
{
    int64_t from = start > c->until ? start : c->until;
    if (end > from)
        c->measure += end - from;
    if (end > c->until)
        c->until = end;
}

static rocl_status sweep_piece(busy *b, sweep *s, const piece *p, rocl_error *err)
{
    rocl_status st = b->ends ? rocl_levels_take(b, s, p, err) : ROCL_OK;
    if (st == ROCL_OK && rocl_report_wanted(b->c.options, ROCL_REPORT_GAPS))
        st = rocl_gaps_take(b, s, p, err);
    if (!(s->kernels + s->copies))
        s->first = s->last = p->start;
    s->last = p->end > s->last ? p->end : s->last;
    s->copies += p->part == COPY;
    s->kernels += p->part != COPY;
    s->communications += p->part == COMMUNICATION;
    for (unsigned i = 0; i < COVERS; i++)
        if (s->covers[i].parts >> p->part & 1)
            extend(&s->covers[i], p->start, p->end);
    return st;
}

static void begin_sweep(sweep *s, uint64_t place)
{
    static const uint32_t unions[COVERS] = {[C_COMPUTE] = U_COMPUTE,
                                            [C_KERNELS] = U_KERNELS,
                                            [C_COPY] = U_COPY,
                                            [C_ALL] = U_ALL,
                                            [C_COMMUNICATION] = U_COMMUNICATION};
    *s = (sweep){.place = place};
    for (unsigned i = 0; i < COVERS; i++)
        s->covers[i] = (cover){unions[i], INT64_MIN, 0};
}

/* ---- the end ---- */

/* A sweep more for the next place, after what is left of the one before. */
static rocl_status next_place(busy *b, uint64_t place, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (b->ends && b->sweep_count)
        st = rocl_levels_end(b, &b->sweeps[b->sweep_count - 1], err);
    if (st != ROCL_OK)
        return st;
    if (!ROCL_GROW(b->sweeps, b->sweep_cap, b->sweep_count + 1))
        return rocl_fail_memory(err);
    begin_sweep(&b->sweeps[b->sweep_count++], place);
    return ROCL_OK;
}

static piece read_piece(const rocl_sort_record *rec)
{
    const uint8_t *p = rec->data, *end = rec->data + rec->len;
    uint64_t v[4] = {0};
    for (int i = 0; i < 4 && rocl_varint_get(&p, end, &v[i]); i++)
        ;
    return (piece){(part)v[0], (int64_t)rec->key[1], (int64_t)rec->key[2], (uint32_t)v[1], v[2],
                   v[3]};
}

static rocl_status sweep_record(busy *b, const rocl_sort_record *rec, rocl_error *err)
{
    piece p = read_piece(rec);
    if (!b->sweep_count || b->sweeps[b->sweep_count - 1].place != rec->key[0]) {
        rocl_status st = next_place(b, rec->key[0], err);
        if (st != ROCL_OK)
            return st;
    }
    return sweep_piece(b, &b->sweeps[b->sweep_count - 1], &p, err);
}

static rocl_status sweep_all(busy *b, rocl_error *err)
{
    rocl_sort_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(b->sorter, err);
    if (st == ROCL_OK && b->ends)
        st = rocl_levels_begin(b, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(b->sorter, &rec, &more, err)) == ROCL_OK && more)
        st = sweep_record(b, &rec, err);
    if (st == ROCL_OK && b->ends && b->sweep_count)
        st = rocl_levels_end(b, &b->sweeps[b->sweep_count - 1], err);
    return st;
}

rocl_status rocl_busy_table(busy *b, rocl_tables *out, const char *key, const char *title,
                            const rocl_table_column *columns, size_t count, rocl_busy_rows *rows,
                            rocl_error *err)
{
    rocl_table *t = rocl_tables_add(out, key, title, columns, count);
    rocl_status st = t ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < b->sweep_count && st == ROCL_OK; i++)
        st = rows(b, out, t, &b->sweeps[i], err);
    return st;
}

static rocl_status ask(void *self, rocl_calls *calls, rocl_error *err)
{
    rocl_gap_causes_settle(self);
    rocl_status st = sweep_all(self, err);
    return st == ROCL_OK ? rocl_gap_causes_ask(self, calls, err) : st;
}

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    busy *b = self;
    rocl_status st = b->causes ? rocl_gap_causes_finish(b, err) : sweep_all(b, err);
    if (st == ROCL_OK && b->ends)
        st = rocl_overlap_tables(b, out, err);
    if (st == ROCL_OK && rocl_report_wanted(b->c.options, ROCL_REPORT_GAPS))
        st = rocl_gap_tables(b, out, err);
    return st;
}

static void free_busy(void *self)
{
    busy *b = self;
    rocl_gpus_free(&b->gpus);
    rocl_samples_free(b->lengths);
    free(b->first_stream);
    free(b->first_queue);
    free(b->sweeps);
    for (unsigned w = 0; b->parts && w < b->c.trace->opt.jobs; w++)
        rocl_ids_free(&b->parts[w]);
    free(b->parts);
    rocl_gap_causes_free(b->causes);
}

static rocl_status open_sweeps(busy *b, rocl_error *err)
{
    rocl_trace *t = b->c.trace;
    b->sorter = rocl_collector_sorter(&b->c, 4);
    b->lengths = rocl_samples_new(t->space, t->opt.jobs);
    b->parts = calloc(t->opt.jobs, sizeof *b->parts);
    if (!b->sorter || !b->lengths || !b->parts)
        return rocl_fail_memory(err);
    rocl_status st = rocl_gpus_collect(&b->gpus, t, err);
    if (st != ROCL_OK || !rocl_report_wanted(b->c.options, ROCL_REPORT_GAPS))
        return st;
    b->c.kinds |= ROCL_BIT(ROCL_REGION);
    b->c.needs_calls = true;
    return rocl_gap_causes_new(b, err);
}

static rocl_status open_busy(void *self, rocl_error *err)
{
    busy *b = self;
    if (rocl_report_wanted(b->c.options, ROCL_REPORT_OVERLAP) &&
        !(b->ends = rocl_collector_sorter(&b->c, 2)))
        return rocl_fail_memory(err);
    return open_sweeps(b, err);
}

static rocl_status open_lanes(void *self, rocl_error *err)
{
    busy *b = self;
    b->lanes = true;
    rocl_status st = open_sweeps(b, err);
    return st == ROCL_OK ? rocl_busy_number_lanes(b, err) : st;
}

const rocl_collector_def rocl_busy_collector = {
    .reports = 1u << ROCL_REPORT_OVERLAP | 1u << ROCL_REPORT_GAPS,
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(busy),
    .open = open_busy,
    .add_batch = take,
    .look_up_calls = ask,
    .finish = finish,
    .close = free_busy,
};

const rocl_collector_def rocl_lane_gaps_collector = {
    .reports = 1u << ROCL_REPORT_GAPS,
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(busy),
    .by_stream = true,
    .open = open_lanes,
    .add_batch = take,
    .look_up_calls = ask,
    .finish = finish,
    .close = free_busy,
};
