/* What each GPU did when: its kernels, copies and collective kernels as sets of time, and the gaps
 * in their union. A set's measure is taken in one sweep by start: a piece is added as far as it
 * reaches beyond what the set has covered. Everything else follows from unions of sets:
 *
 *     both         = compute + copy - (compute or copy)
 *     exposed copy = all - (compute or communication)
 *     wall         = compute + exposed communication + exposed copy + idle
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/buf.h"

typedef enum part { COMPUTE, COMMUNICATION, COPY, PARTS } part;

/* Unions that are measured, as sets of parts. */
enum {
    U_COMPUTE = 1 << COMPUTE,
    U_KERNELS = 1 << COMPUTE | 1 << COMMUNICATION,
    U_COPY = 1 << COPY,
    U_ALL = (1 << PARTS) - 1,
};

typedef struct cover {
    uint32_t parts;
    int64_t until; /* covered up to here */
    int64_t measure;
} cover;

#define LONGEST 20

typedef struct gap {
    int64_t start, length;
    uint32_t before, after; /* texts */
} gap;

/* A GPU while it is swept. */
typedef struct sweep {
    cover covers[4];
    int64_t first, last;
    uint64_t kernels, copies;
    uint32_t last_name; /* of the event that ends last so far */
    gap longest[LONGEST];
    unsigned longest_count;
    uint64_t gap_count;
    int64_t gap_total;
    uint64_t bucket_count[8];
    int64_t bucket_total[8];
} sweep;

typedef struct busy {
    rocl_trace *trace;
    const rocl_stats_options *options;
    rocl_gpus gpus;
    rocl_sorter *sorter, *gaps; /* events by GPU and start; gap lengths by GPU */
} busy;

/* ---- taking events ---- */

static bool is_collective(const char *name)
{
    return !strncmp(name, "nccl", 4) || !strncmp(name, "rccl", 4);
}

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
            part p = is_collective(rocl_str(b->trace, d->e.name)) ? COMMUNICATION : COMPUTE;
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
    return rocl_sorter_seal(b->sorter, worker, err);
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

static rocl_status sweep_event(busy *b, sweep *s, const uint64_t *key, part p, uint32_t name,
                               rocl_error *err)
{
    int64_t start = (int64_t)key[1], end = (int64_t)key[2];
    rocl_status st = ROCL_OK;
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
    for (unsigned i = 0; i < 4; i++)
        if (s->covers[i].parts >> p & 1)
            extend(&s->covers[i], start, end);
    return st;
}

static void begin_sweep(sweep *s)
{
    static const uint32_t unions[4] = {U_COMPUTE, U_KERNELS, U_COPY, U_ALL};
    *s = (sweep){0};
    for (unsigned i = 0; i < 4; i++)
        s->covers[i] = (cover){unions[i], INT64_MIN, 0};
}

/* ---- tables ---- */

static const rocl_table_column overlap_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"wall_ns", "Wall", ROCL_UNIT_NS},
    {"busy_ns", "Busy", ROCL_UNIT_NS},
    {"busy_percent", "Busy %", ROCL_UNIT_PERCENT},
    {"compute_ns", "Compute", ROCL_UNIT_NS},
    {"exposed_communication_ns", "Exposed comm.", ROCL_UNIT_NS},
    {"copy_ns", "Copy", ROCL_UNIT_NS},
    {"both_ns", "Both", ROCL_UNIT_NS},
    {"exposed_copy_ns", "Exposed copy", ROCL_UNIT_NS},
    {"hidden_copy_percent", "Hidden copy %", ROCL_UNIT_PERCENT},
    {"idle_ns", "Idle", ROCL_UNIT_NS},
    {"kernels", "Kernels", ROCL_UNIT_COUNT},
    {"copies", "Copies", ROCL_UNIT_COUNT},
};

static rocl_status overlap_row(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                               uint64_t gpu, rocl_error *err)
{
    int64_t wall = s->last - s->first, compute = s->covers[0].measure,
            kernels = s->covers[1].measure, copy = s->covers[2].measure, all = s->covers[3].measure;
    int64_t exposed_communication = kernels - compute, exposed_copy = all - kernels;
    int64_t both = copy - exposed_copy, idle = wall - all;
    if (idle < 0 || both < 0 || compute + exposed_communication + exposed_copy + idle != wall)
        return rocl_fail(err, ROCL_INTERNAL, "busy and idle time do not add up");
    rocl_datum *r = rocl_table_row(t);
    if (!r)
        return rocl_fail_memory(err);
    r[0] = rocl_cell_of_gpu(b->trace, out, &b->gpus.all[gpu]);
    r[1] = rocl_datum_int(wall);
    r[2] = rocl_datum_int(all);
    r[3] = rocl_cell_of_share(all, wall);
    r[4] = rocl_datum_int(compute);
    r[5] = rocl_datum_int(exposed_communication);
    r[6] = rocl_datum_int(copy);
    r[7] = rocl_datum_int(both);
    r[8] = rocl_datum_int(exposed_copy);
    r[9] = rocl_cell_of_share(both, copy);
    r[10] = rocl_datum_int(idle);
    r[11] = rocl_datum_int((int64_t)s->kernels);
    r[12] = rocl_datum_int((int64_t)s->copies);
    return ROCL_OK;
}

static const rocl_table_column gap_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT},      {"gaps", "Gaps", ROCL_UNIT_COUNT},
    {"total_ns", "Total", ROCL_UNIT_NS}, {"wall_percent", "Of wall %", ROCL_UNIT_PERCENT},
    {"min_ns", "Min", ROCL_UNIT_NS},     {"median_ns", "Median", ROCL_UNIT_NS},
    {"p90_ns", "P90", ROCL_UNIT_NS},     {"p99_ns", "P99", ROCL_UNIT_NS},
    {"max_ns", "Max", ROCL_UNIT_NS},
};

static rocl_status gap_row(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                           uint64_t gpu, const rocl_distribution *d, rocl_error *err)
{
    rocl_datum *r = rocl_table_row(t);
    if (!r)
        return rocl_fail_memory(err);
    r[0] = rocl_cell_of_gpu(b->trace, out, &b->gpus.all[gpu]);
    r[1] = rocl_datum_int((int64_t)s->gap_count);
    r[2] = rocl_datum_int(s->gap_total);
    r[3] = rocl_cell_of_share(s->gap_total, s->last - s->first);
    if (!s->gap_count)
        return ROCL_OK;
    r[4] = rocl_datum_int(d->min);
    r[5] = rocl_datum_int(d->median);
    r[6] = rocl_datum_int(d->p90);
    r[7] = rocl_datum_int(d->p99);
    r[8] = rocl_datum_int(d->max);
    return ROCL_OK;
}

static const rocl_table_column bucket_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"bucket", "Gap", ROCL_UNIT_TEXT},
    {"count", "Count", ROCL_UNIT_COUNT},
    {"total_ns", "Total", ROCL_UNIT_NS},
    {"percent", "Of idle %", ROCL_UNIT_PERCENT},
};

static rocl_status bucket_rows(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                               uint64_t gpu, rocl_error *err)
{
    static const char *const names[8] = {"< 1 us",  "< 10 us",  "< 100 us", "< 1 ms",
                                         "< 10 ms", "< 100 ms", "< 1 s",    ">= 1 s"};
    for (unsigned i = 0; i < 8; i++) {
        rocl_datum *r = s->bucket_count[i] ? rocl_table_row(t) : NULL;
        if (!s->bucket_count[i])
            continue;
        if (!r)
            return rocl_fail_memory(err);
        r[0] = rocl_cell_of_gpu(b->trace, out, &b->gpus.all[gpu]);
        r[1] = rocl_datum_text(out, names[i], strlen(names[i]));
        r[2] = rocl_datum_int((int64_t)s->bucket_count[i]);
        r[3] = rocl_datum_int(s->bucket_total[i]);
        r[4] = rocl_cell_of_share(s->bucket_total[i], s->gap_total);
    }
    return ROCL_OK;
}

static const rocl_table_column longest_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT},         {"start_ns", "Start", ROCL_UNIT_COUNT},
    {"gap_ns", "Gap", ROCL_UNIT_NS},        {"before", "Ran before", ROCL_UNIT_TEXT},
    {"after", "Ran after", ROCL_UNIT_TEXT},
};

static rocl_status longest_rows(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                                uint64_t gpu, rocl_error *err)
{
    size_t limit = b->options->top ? b->options->top : LONGEST;
    if (b->options->brief)
        limit = 3;
    for (unsigned i = 0; i < s->longest_count && i < limit; i++) {
        const gap *g = &s->longest[i];
        rocl_datum *r = rocl_table_row(t);
        if (!r)
            return rocl_fail_memory(err);
        r[0] = rocl_cell_of_gpu(b->trace, out, &b->gpus.all[gpu]);
        r[1] = rocl_datum_int(g->start);
        r[2] = rocl_datum_int(g->length);
        r[3] = rocl_cell_of_text(b->trace, out, g->before);
        r[4] = rocl_cell_of_text(b->trace, out, g->after);
    }
    return ROCL_OK;
}

/* ---- the end ---- */

/* One sweep per GPU, in their order; those without work stay empty. */
static rocl_status sweep_all(busy *b, sweep *sweeps, rocl_error *err)
{
    rocl_record rec;
    bool more;
    rocl_status st = rocl_sorter_start(b->sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(b->sorter, &rec, &more, err)) == ROCL_OK &&
           more) {
        const uint8_t *p = rec.data, *end = rec.data + rec.len;
        uint64_t which = 0, name = 0;
        rocl_varint_get(&p, end, &which);
        rocl_varint_get(&p, end, &name);
        st = sweep_event(b, &sweeps[rec.key[0]], rec.key, (part)which, (uint32_t)name, err);
    }
    return st;
}

static rocl_status gap_distributions(busy *b, const sweep *sweeps, rocl_distribution *d,
                                     rocl_error *err)
{
    rocl_record rec;
    bool more;
    for (size_t i = 0; i < b->gpus.count; i++)
        rocl_distribution_begin(&d[i], sweeps[i].gap_count);
    rocl_status st = rocl_sorter_start(b->gaps, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(b->gaps, &rec, &more, err)) == ROCL_OK && more)
        rocl_distribution_take(&d[rec.key[0]], (int64_t)rec.key[1]);
    return st;
}

typedef rocl_status rows_fn(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                            uint64_t gpu, rocl_error *err);

static rocl_status add_table(busy *b, rocl_tables *out, const sweep *sweeps, const char *key,
                             const char *title, const rocl_table_column *columns, size_t count,
                             rows_fn *rows, rocl_error *err)
{
    rocl_table *t = rocl_tables_add(out, key, title, columns, count);
    rocl_status st = t ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < b->gpus.count && st == ROCL_OK; i++)
        if (sweeps[i].kernels + sweeps[i].copies)
            st = rows(b, out, t, &sweeps[i], i, err);
    return st;
}

#define COLUMNS(c) (c), sizeof(c) / sizeof *(c)

static rocl_status gap_tables(busy *b, rocl_tables *out, const sweep *sweeps, rocl_error *err)
{
    rocl_distribution *d = calloc(b->gpus.count + 1, sizeof *d);
    rocl_table *t = rocl_tables_add(out, "gaps", "Idle gaps per GPU", COLUMNS(gap_columns));
    rocl_status st = d && t ? gap_distributions(b, sweeps, d, err) : rocl_fail_memory(err);
    for (size_t i = 0; i < b->gpus.count && st == ROCL_OK; i++)
        if (sweeps[i].kernels + sweeps[i].copies)
            st = gap_row(b, out, t, &sweeps[i], i, &d[i], err);
    free(d);
    if (st == ROCL_OK)
        st = add_table(b, out, sweeps, "gap_buckets", "Idle gaps by length",
                       COLUMNS(bucket_columns), bucket_rows, err);
    if (st == ROCL_OK)
        st = add_table(b, out, sweeps, "longest_gaps", "Longest idle gaps",
                       COLUMNS(longest_columns), longest_rows, err);
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
        st = add_table(b, out, sweeps, "overlap", "Compute and copies per GPU",
                       COLUMNS(overlap_columns), overlap_row, err);
    if (st == ROCL_OK && rocl_report_wanted(b->options, ROCL_REPORT_GAPS))
        st = gap_tables(b, out, sweeps, err);
    free(sweeps);
    return st;
}

static void free_busy(void *self)
{
    busy *b = self;
    rocl_gpus_free(&b->gpus);
    rocl_sorter_free(b->sorter);
    rocl_sorter_free(b->gaps);
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
    if (!b->sorter || !b->gaps)
        return rocl_fail_memory(err);
    return rocl_gpus_collect(&b->gpus, t, err);
}
