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
#include "base/buf.h"

/* ---- taking events ---- */

/* What an event is to us. */
typedef struct item {
    const rocl_event *e;
    rocl_kind kind;
    part part;
    uint32_t queue, stream;
} item;

static rocl_status add_to(busy *b, unsigned worker, const rocl_capture *c, const item *i,
                          uint64_t place, rocl_error *err)
{
    uint8_t payload[2 * ROCL_VARINT_MAX], *q = payload;
    if (place == ROCL_NO_PLACE)
        return ROCL_OK;
    const uint64_t key[4] = {place, (uint64_t)i->e->start, (uint64_t)i->e->end,
                             (i->e->id << 4 | i->kind) ^ (uint64_t)c->index << 48};
    q = rocl_varint_put(q, i->part);
    q = rocl_varint_put(q, i->e->name);
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
    const item i = {&k->e, ROCL_COPY, COPY, k->queue, k->stream};
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
    *out = rocl_is_communication(rocl_str(b->trace, kernel)) ? COMMUNICATION : COMPUTE;
    return rocl_ids_put(&b->parts[worker], kernel, *out);
}

static rocl_status take_kernel(busy *b, unsigned worker, const rocl_capture *c,
                               const rocl_dispatch *d, rocl_error *err)
{
    item i = {&d->e, ROCL_DISPATCH, COMPUTE, d->queue, d->stream};
    return part_of(b, worker, d->e.name, &i.part) ? add(b, worker, c, &i, d->agent, err)
                                                  : rocl_fail_memory(err);
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *batch, rocl_error *err)
{
    busy *b = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < batch->count && st == ROCL_OK; i++)
        st = batch->kind == ROCL_DISPATCH
                 ? take_kernel(b, worker, batch->capture, &batch->dispatches[i], err)
                 : take_copy(b, worker, batch->capture, &batch->copies[i], err);
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    busy *b = self;
    rocl_status st = rocl_sorter_seal(b->sorter, worker, err);
    return st == ROCL_OK && b->ends ? rocl_sorter_seal(b->ends, worker, err) : st;
}

/* ---- sweeping ---- */

static unsigned bucket_of(int64_t ns)
{
    unsigned n = 0;
    for (int64_t limit = 1000; n < 7 && ns >= limit; limit *= 10)
        n++;
    return n;
}

static void remember_longest(sweep *s, const gap *g)
{
    unsigned at = s->longest_count;
    if (at == LONGEST && g->length <= s->longest[at - 1].length)
        return;
    if (at < LONGEST)
        s->longest_count++;
    else
        at--;
    for (; at > 0 && s->longest[at - 1].length < g->length; at--)
        s->longest[at] = s->longest[at - 1];
    s->longest[at] = *g;
}

static rocl_status take_gap(busy *b, sweep *s, const gap *g, rocl_error *err)
{
    unsigned n = bucket_of(g->length);
    if (g->length < b->options->min_gap)
        return ROCL_OK;
    s->gap_count++;
    s->gap_total += g->length;
    s->bucket_count[n]++;
    s->bucket_total[n] += g->length;
    remember_longest(s, g);
    const uint64_t key[2] = {(uint64_t)(s - b->sweeps), (uint64_t)g->length};
    return rocl_sorter_add(b->gaps, 0, key, NULL, 0, err);
}

static void extend(cover *c, int64_t start, int64_t end)
{
    int64_t from = start > c->until ? start : c->until;
    if (end > from)
        c->measure += end - from;
    if (end > c->until)
        c->until = end;
}

/* ---- how many kernels ran at once ---- */

static rocl_status next_end(busy *b, rocl_error *err)
{
    rocl_record rec;
    rocl_status st = rocl_sorter_next(b->ends, &rec, &b->more_ends, err);
    if (st == ROCL_OK && b->more_ends) {
        b->end[0] = rec.key[0];
        b->end[1] = rec.key[1];
    }
    return st;
}

/* A kernel of no length may end before its start is seen, at the same time: no time passes with a
 * negative number. */
static void pass_time(levels *l, int64_t until)
{
    if (until > l->time)
        l->ns[l->now < LEVELS ? l->now : LEVELS] += until - l->time;
    l->time = until;
}

/* The ends of kernels up to a time are taken before what starts then. */
static rocl_status take_ends(busy *b, levels *l, uint64_t place, int64_t until, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && b->more_ends && b->end[0] == place && (int64_t)b->end[1] <= until) {
        pass_time(l, (int64_t)b->end[1]);
        l->now--;
        st = next_end(b, err);
    }
    return st;
}

static rocl_status count_levels(busy *b, sweep *s, const uint64_t *key, part p, rocl_error *err)
{
    int64_t start = (int64_t)key[1];
    if (!(s->kernels + s->copies))
        s->levels.time = start;
    rocl_status st = take_ends(b, &s->levels, key[0], start, err);
    pass_time(&s->levels, start);
    s->levels.now += p != COPY;
    return st;
}

static rocl_status end_levels(busy *b, sweep *s, rocl_error *err)
{
    rocl_status st = take_ends(b, &s->levels, s->place, INT64_MAX, err);
    pass_time(&s->levels, s->last);
    return st;
}

/* ---- the sweep ---- */

static rocl_status sweep_event(busy *b, sweep *s, const uint64_t *key, part p, uint32_t name,
                               rocl_error *err)
{
    int64_t start = (int64_t)key[1], end = (int64_t)key[2];
    rocl_status st = b->ends ? count_levels(b, s, key, p, err) : ROCL_OK;
    if (st != ROCL_OK)
        return st;
    if (!(s->kernels + s->copies)) {
        s->first = s->last = start;
        s->last_name = name;
    } else if (start > s->last) {
        gap g = {s->last, start - s->last, s->last_name, name};
        st = take_gap(b, s, &g, err);
    }
    if (end >= s->last) {
        s->last = end;
        s->last_name = name;
    }
    s->copies += p == COPY;
    s->kernels += p != COPY;
    s->communications += p == COMMUNICATION;
    for (unsigned i = 0; i < COVERS; i++)
        if (s->covers[i].parts >> p & 1)
            extend(&s->covers[i], start, end);
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
        st = end_levels(b, &b->sweeps[b->sweep_count - 1], err);
    if (st != ROCL_OK)
        return st;
    if (b->sweep_count == b->sweep_cap) {
        size_t cap = b->sweep_cap ? 2 * b->sweep_cap : 8;
        sweep *more = realloc(b->sweeps, cap * sizeof *more);
        if (!more)
            return rocl_fail_memory(err);
        b->sweeps = more;
        b->sweep_cap = cap;
    }
    begin_sweep(&b->sweeps[b->sweep_count++], place);
    return ROCL_OK;
}

static rocl_status sweep_record(busy *b, const rocl_record *rec, rocl_error *err)
{
    const uint8_t *p = rec->data, *end = rec->data + rec->len;
    uint64_t which = 0, name = 0;
    rocl_varint_get(&p, end, &which);
    rocl_varint_get(&p, end, &name);
    if (!b->sweep_count || b->sweeps[b->sweep_count - 1].place != rec->key[0]) {
        rocl_status st = next_place(b, rec->key[0], err);
        if (st != ROCL_OK)
            return st;
    }
    return sweep_event(b, &b->sweeps[b->sweep_count - 1], rec->key, (part)which, (uint32_t)name,
                       err);
}

static rocl_status sweep_all(busy *b, rocl_error *err)
{
    rocl_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(b->sorter, err);
    if (st == ROCL_OK && b->ends && (st = rocl_sorter_start(b->ends, err)) == ROCL_OK)
        st = next_end(b, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(b->sorter, &rec, &more, err)) == ROCL_OK && more)
        st = sweep_record(b, &rec, err);
    if (st == ROCL_OK && b->ends && b->sweep_count)
        st = end_levels(b, &b->sweeps[b->sweep_count - 1], err);
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

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    busy *b = self;
    rocl_status st = sweep_all(b, err);
    if (st == ROCL_OK && b->ends)
        st = rocl_overlap_tables(b, out, err);
    if (st == ROCL_OK && rocl_report_wanted(b->options, ROCL_REPORT_GAPS))
        st = rocl_gap_tables(b, out, err);
    return st;
}

static void free_busy(void *self)
{
    busy *b = self;
    rocl_gpus_free(&b->gpus);
    rocl_sorter_free(b->sorter);
    rocl_sorter_free(b->gaps);
    rocl_sorter_free(b->ends);
    free(b->first_stream);
    free(b->first_queue);
    free(b->sweeps);
    for (unsigned w = 0; b->parts && w < b->trace->opt.jobs; w++)
        rocl_ids_free(&b->parts[w]);
    free(b->parts);
    free(b);
}

static busy *new_busy(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o)
{
    busy *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    *c = (rocl_collector){.self = b,
                          .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
                          .events = take,
                          .end_task = end_task,
                          .finish = finish,
                          .free = free_busy};
    b->trace = t;
    b->options = o;
    b->sorter = rocl_sorter_new(t->space, 4);
    b->gaps = rocl_sorter_new(t->space, 2);
    b->parts = calloc(t->opt.jobs, sizeof *b->parts);
    return b->sorter && b->gaps && b->parts ? b : NULL;
}

rocl_status rocl_busy_collector(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o,
                                rocl_error *err)
{
    busy *b = new_busy(c, t, o);
    if (!b)
        return rocl_fail_memory(err);
    if (rocl_report_wanted(o, ROCL_REPORT_OVERLAP) && !(b->ends = rocl_sorter_new(t->space, 2)))
        return rocl_fail_memory(err);
    return rocl_gpus_collect(&b->gpus, t, err);
}

rocl_status rocl_lane_gaps_collector(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o,
                                     rocl_error *err)
{
    busy *b = new_busy(c, t, o);
    if (!b)
        return rocl_fail_memory(err);
    b->lanes = true;
    rocl_status st = rocl_gpus_collect(&b->gpus, t, err);
    return st == ROCL_OK ? rocl_busy_number_lanes(b, err) : st;
}
