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

static rocl_status add(busy *b, unsigned worker, const rocl_capture *c, const rocl_event *e,
                       rocl_kind kind, part p, uint32_t agent, rocl_error *err)
{
    const rocl_gpu *g = rocl_gpus_find(&b->gpus, c, agent);
    uint8_t payload[2 * ROCL_VARINT_MAX], *q = payload;
    if (!g)
        return ROCL_OK;
    const uint64_t key[4] = {(uint64_t)(g - b->gpus.all), (uint64_t)e->start, (uint64_t)e->end,
                             (e->id << 4 | kind) ^ (uint64_t)c->index << 48};
    q = rocl_varint_put(q, p);
    q = rocl_varint_put(q, e->name);
    if (b->ends && p != COPY) {
        const uint64_t end[2] = {key[0], key[2]};
        rocl_status st = rocl_sorter_add(b->ends, worker, end, NULL, 0, err);
        if (st != ROCL_OK)
            return st;
    }
    return rocl_sorter_add(b->sorter, worker, key, payload, (size_t)(q - payload), err);
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *batch, rocl_error *err)
{
    busy *b = self;
    const rocl_capture *c = batch->capture;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < batch->count && st == ROCL_OK; i++) {
        if (batch->kind == ROCL_DISPATCH) {
            const rocl_dispatch *d = &batch->dispatches[i];
            part p = rocl_is_communication(rocl_str(b->trace, d->e.name)) ? COMMUNICATION : COMPUTE;
            st = add(b, worker, c, &d->e, batch->kind, p, d->agent, err);
        } else {
            const rocl_copy *k = &batch->copies[i];
            st = add(b, worker, c, &k->e, batch->kind, COPY, k->dst, err);
            if (st == ROCL_OK && k->src != k->dst)
                st = add(b, worker, c, &k->e, batch->kind, COPY, k->src, err);
        }
    }
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

static rocl_status take_gap(busy *b, sweep *s, uint64_t gpu, const gap *g, rocl_error *err)
{
    unsigned n = bucket_of(g->length);
    if (g->length < b->options->min_gap)
        return ROCL_OK;
    s->gap_count++;
    s->gap_total += g->length;
    s->bucket_count[n]++;
    s->bucket_total[n] += g->length;
    remember_longest(s, g);
    const uint64_t key[2] = {gpu, (uint64_t)g->length};
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
static rocl_status take_ends(busy *b, levels *l, uint64_t gpu, int64_t until, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && b->more_ends && b->end[0] == gpu && (int64_t)b->end[1] <= until) {
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

static rocl_status end_levels(busy *b, sweep *s, uint64_t gpu, rocl_error *err)
{
    rocl_status st = take_ends(b, &s->levels, gpu, INT64_MAX, err);
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
        st = take_gap(b, s, key[0], &g, err);
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

static void begin_sweep(sweep *s)
{
    static const uint32_t unions[COVERS] = {[C_COMPUTE] = U_COMPUTE,
                                            [C_KERNELS] = U_KERNELS,
                                            [C_COPY] = U_COPY,
                                            [C_ALL] = U_ALL,
                                            [C_COMMUNICATION] = U_COMMUNICATION};
    *s = (sweep){0};
    for (unsigned i = 0; i < COVERS; i++)
        s->covers[i] = (cover){unions[i], INT64_MIN, 0};
}

/* ---- the end ---- */

static rocl_status sweep_record(busy *b, sweep *sweeps, const rocl_record *rec, rocl_error *err)
{
    const uint8_t *p = rec->data, *end = rec->data + rec->len;
    uint64_t which = 0, name = 0;
    rocl_varint_get(&p, end, &which);
    rocl_varint_get(&p, end, &name);
    return sweep_event(b, &sweeps[rec->key[0]], rec->key, (part)which, (uint32_t)name, err);
}

/* One sweep per GPU, in their order; those without work stay empty. */
static rocl_status sweep_all(busy *b, sweep *sweeps, rocl_error *err)
{
    rocl_record rec;
    bool more;
    uint64_t gpu = UINT64_MAX;
    rocl_status st = rocl_sorter_start(b->sorter, err);
    if (st == ROCL_OK && b->ends && (st = rocl_sorter_start(b->ends, err)) == ROCL_OK)
        st = next_end(b, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(b->sorter, &rec, &more, err)) == ROCL_OK &&
           more) {
        if (b->ends && gpu != UINT64_MAX && gpu != rec.key[0])
            st = end_levels(b, &sweeps[gpu], gpu, err);
        gpu = rec.key[0];
        if (st == ROCL_OK)
            st = sweep_record(b, sweeps, &rec, err);
    }
    if (st == ROCL_OK && b->ends && gpu != UINT64_MAX)
        st = end_levels(b, &sweeps[gpu], gpu, err);
    return st;
}

rocl_status rocl_busy_table(busy *b, rocl_tables *out, const sweep *sweeps, const char *key,
                            const char *title, const rocl_table_column *columns, size_t count,
                            rocl_busy_rows *rows, rocl_error *err)
{
    rocl_table *t = rocl_tables_add(out, key, title, columns, count);
    rocl_status st = t ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < b->gpus.count && st == ROCL_OK; i++)
        if (sweeps[i].kernels + sweeps[i].copies)
            st = rows(b, out, t, &sweeps[i], i, err);
    return st;
}

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    busy *b = self;
    sweep *sweeps = calloc(b->gpus.count + 1, sizeof *sweeps);
    if (!sweeps)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < b->gpus.count; i++)
        begin_sweep(&sweeps[i]);
    rocl_status st = sweep_all(b, sweeps, err);
    if (st == ROCL_OK && rocl_report_wanted(b->options, ROCL_REPORT_OVERLAP))
        st = rocl_overlap_tables(b, out, sweeps, err);
    if (st == ROCL_OK && rocl_report_wanted(b->options, ROCL_REPORT_GAPS))
        st = rocl_gap_tables(b, out, sweeps, err);
    free(sweeps);
    return st;
}

static void free_busy(void *self)
{
    busy *b = self;
    rocl_gpus_free(&b->gpus);
    rocl_sorter_free(b->sorter);
    rocl_sorter_free(b->gaps);
    rocl_sorter_free(b->ends);
    free(b);
}

rocl_status rocl_busy_collector(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o,
                                rocl_error *err)
{
    busy *b = calloc(1, sizeof *b);
    if (!b)
        return rocl_fail_memory(err);
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
    if (rocl_report_wanted(o, ROCL_REPORT_OVERLAP))
        b->ends = rocl_sorter_new(t->space, 2);
    if (!b->sorter || !b->gaps || (rocl_report_wanted(o, ROCL_REPORT_OVERLAP) && !b->ends))
        return rocl_fail_memory(err);
    return rocl_gpus_collect(&b->gpus, t, err);
}
