/* How busy each GPU was, slice by slice: the time from the first start to the last end of all work
 * on the GPUs of a machine (whose clocks are one) is cut into equal slices. Work comes by GPU and
 * start, so that what a piece adds to a union lies behind all that was added before: slices are
 * filled in one walk, one GPU after the other. */
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/slices.h"

enum { PEOPLE_SLICES = 60, DATA_SLICES = 1000 };

typedef enum part { KERNEL, COPY, EITHER, PARTS } part;

/* Of the work on a machine. */
typedef struct span {
    int64_t first, last;
    bool any;
} span;

typedef struct slice {
    int64_t ns[PARTS];
    int64_t kernels; /* started in it */
} slice;

typedef struct timeline {
    rocl_trace *trace;
    const rocl_stats_options *options;
    rocl_gpus gpus;
    rocl_sorter *sorter; /* by GPU, start, end, part: equal records are the same work to us */
    span *spans;         /* by worker and machine; in the end those of worker 0 hold for all */
    slice *slices;       /* of the GPU that is swept */
    size_t cap;          /* how many */
} timeline;

/* ---- taking events ---- */

static void widen(span *s, int64_t first, int64_t last)
{
    if (!s->any || first < s->first)
        s->first = first;
    if (!s->any || last > s->last)
        s->last = last;
    s->any = true;
}

static rocl_status add(timeline *l, unsigned worker, const rocl_capture *c, const rocl_event *e,
                       part p, uint32_t agent, rocl_error *err)
{
    const rocl_gpu *g = rocl_gpus_find(&l->gpus, c, agent);
    if (!g)
        return ROCL_OK;
    const uint64_t key[4] = {(uint64_t)(g - l->gpus.all), (uint64_t)e->start, (uint64_t)e->end, p};
    widen(&l->spans[worker * l->trace->machine_count + g->machine], e->start, e->end);
    return rocl_sorter_add(l->sorter, worker, key, NULL, 0, err);
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    timeline *l = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        if (b->kind == ROCL_DISPATCH) {
            const rocl_dispatch *d = &b->dispatches[i];
            st = add(l, worker, b->capture, &d->e, KERNEL, d->agent, err);
        } else {
            const rocl_copy *k = &b->copies[i];
            st = add(l, worker, b->capture, &k->e, COPY, k->dst, err);
            if (st == ROCL_OK && k->src != k->dst)
                st = add(l, worker, b->capture, &k->e, COPY, k->src, err);
        }
    }
    return st;
}

static rocl_status end_task(void *self, unsigned worker, rocl_error *err)
{
    timeline *l = self;
    return rocl_sorter_seal(l->sorter, worker, err);
}

/* ---- slices ---- */

/* A GPU while it is swept. */
typedef struct sweep {
    rocl_slices slices;
    int64_t until[PARTS]; /* covered up to here */
    uint64_t gpu;
} sweep;

static void fill(timeline *l, const sweep *s, part p, int64_t from, int64_t to)
{
    for (uint64_t i = rocl_slice_at(&s->slices, from); from < to; i++) {
        int64_t end =
            rocl_slice_begin(&s->slices, i + 1) < to ? rocl_slice_begin(&s->slices, i + 1) : to;
        l->slices[i].ns[p] += end - from;
        from = end;
    }
}

static void extend(timeline *l, sweep *s, part p, int64_t start, int64_t end)
{
    fill(l, s, p, start > s->until[p] ? start : s->until[p], end);
    if (end > s->until[p])
        s->until[p] = end;
}

static void begin_gpu(timeline *l, sweep *s, uint64_t gpu)
{
    const span *all = &l->spans[l->gpus.all[gpu].machine];
    *s = (sweep){.gpu = gpu, .slices = rocl_slices_of(all->first, all->last, l->cap)};
    for (part p = 0; p < PARTS; p++)
        s->until[p] = s->slices.first;
    memset(l->slices, 0, l->cap * sizeof *l->slices);
}

/* ---- rows ---- */

static const rocl_table_column data_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT},         {"slice", "Slice", ROCL_UNIT_COUNT},
    {"start_ns", "Start", ROCL_UNIT_COUNT}, {"end_ns", "End", ROCL_UNIT_COUNT},
    {"kernel_ns", "Kernels", ROCL_UNIT_NS}, {"kernel_percent", "Kernels %", ROCL_UNIT_PERCENT},
    {"copy_ns", "Copies", ROCL_UNIT_NS},    {"copy_percent", "Copies %", ROCL_UNIT_PERCENT},
    {"busy_ns", "Busy", ROCL_UNIT_NS},      {"busy_percent", "Busy %", ROCL_UNIT_PERCENT},
    {"idle_ns", "Idle", ROCL_UNIT_NS},      {"kernels", "Started", ROCL_UNIT_COUNT},
};

static rocl_status data_row(timeline *l, rocl_tables *out, rocl_table *t, const sweep *s,
                            uint64_t i, rocl_error *err)
{
    const slice *now = &l->slices[i];
    int64_t start = rocl_slice_begin(&s->slices, i),
            length = rocl_slice_begin(&s->slices, i + 1) - start, busy = now->ns[EITHER];
    if (busy > length || busy < now->ns[KERNEL] || busy < now->ns[COPY])
        return rocl_fail(err, ROCL_INTERNAL, "the times of a slice do not add up");
    rocl_datum *r = rocl_table_row(t);
    if (!r)
        return rocl_fail_memory(err);
    r[0] = rocl_cell_of_gpu(l->trace, out, &l->gpus.all[s->gpu]);
    r[1] = rocl_datum_int((int64_t)i);
    r[2] = rocl_datum_int(start);
    r[3] = rocl_datum_int(start + length);
    for (part p = 0; p < PARTS; p++) {
        r[4 + 2 * p] = rocl_datum_int(now->ns[p]);
        r[5 + 2 * p] = rocl_cell_of_share(now->ns[p], length);
    }
    r[10] = rocl_datum_int(length - busy);
    r[11] = rocl_datum_int(now->kernels);
    return ROCL_OK;
}

static const rocl_table_column picture_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"what", "What", ROCL_UNIT_TEXT},
    {"line", "Share of each slice", ROCL_UNIT_TEXT},
    {"slice_ns", "Slice", ROCL_UNIT_NS},
    {"average_percent", "Average %", ROCL_UNIT_PERCENT},
};

/* Steps of 1/8, or of 1/10; the first stands for none at all, the second for little. */
static const char *level(int64_t ns, int64_t length, bool ascii)
{
    static const char *const blocks[] = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const digits[] = {".", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    const unsigned steps = ascii ? 10 : 8;
    unsigned n = 0;
    if (ns > 0)
        n = (unsigned)(((unsigned __int128)ns * steps + (uint64_t)length - 1) / (uint64_t)length);
    return ascii ? digits[n] : blocks[n];
}

static rocl_datum line(timeline *l, rocl_tables *out, const sweep *s, part p, int64_t *sum)
{
    char *text = malloc(s->slices.count * 3 + 1);
    size_t n = 0;
    if (!text) {
        out->incomplete = true;
        return (rocl_datum){0};
    }
    for (uint64_t i = 0; i < s->slices.count; i++) {
        int64_t ns = l->slices[i].ns[p];
        const char *sign =
            level(ns, rocl_slice_begin(&s->slices, i + 1) - rocl_slice_begin(&s->slices, i),
                  l->options->ascii);
        for (; *sign; sign++)
            text[n++] = *sign;
        *sum += ns;
    }
    rocl_datum d = rocl_datum_text(out, text, n);
    free(text);
    return d;
}

static rocl_status picture_row(timeline *l, rocl_tables *out, rocl_table *t, const sweep *s,
                               uint64_t p, rocl_error *err)
{
    static const char *const names[PARTS] = {"kernels", "copies", "busy"};
    int64_t sum = 0;
    rocl_datum *r = rocl_table_row(t);
    if (!r)
        return rocl_fail_memory(err);
    r[0] = rocl_cell_of_gpu(l->trace, out, &l->gpus.all[s->gpu]);
    r[1] = rocl_datum_text(out, names[p], strlen(names[p]));
    r[2] = line(l, out, s, (part)p, &sum);
    r[3] = rocl_datum_real((double)s->slices.length / (double)s->slices.count);
    r[4] = rocl_cell_of_share(sum, (int64_t)s->slices.length);
    return ROCL_OK;
}

static rocl_status gpu_rows(timeline *l, rocl_tables *out, rocl_table *t, const sweep *s,
                            rocl_error *err)
{
    bool pictures = l->options->pictures;
    uint64_t rows = pictures ? PARTS : s->slices.count;
    rocl_status st = ROCL_OK;
    for (uint64_t i = 0; i < rows && st == ROCL_OK; i++)
        st = (pictures ? picture_row : data_row)(l, out, t, s, i, err);
    return st;
}

/* ---- the end ---- */

static void sweep_event(timeline *l, sweep *s, const uint64_t *key)
{
    int64_t start = (int64_t)key[1], end = (int64_t)key[2];
    part p = (part)key[3];
    l->slices[rocl_slice_at(&s->slices, start)].kernels += p == KERNEL;
    extend(l, s, p, start, end);
    extend(l, s, EITHER, start, end);
}

static rocl_status sweep_all(timeline *l, rocl_tables *out, rocl_table *t, rocl_error *err)
{
    sweep s = {.gpu = UINT64_MAX};
    rocl_sort_record rec;
    bool more = true;
    rocl_status st = rocl_sorter_start(l->sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(l->sorter, &rec, &more, err)) == ROCL_OK &&
           more) {
        if (rec.key[0] != s.gpu) {
            uint64_t gpu = rec.key[0];
            st = s.gpu != UINT64_MAX ? gpu_rows(l, out, t, &s, err) : ROCL_OK;
            begin_gpu(l, &s, gpu);
        }
        sweep_event(l, &s, rec.key);
    }
    return st == ROCL_OK && s.gpu != UINT64_MAX ? gpu_rows(l, out, t, &s, err) : st;
}

static void join_spans(timeline *l)
{
    size_t machines = l->trace->machine_count;
    for (size_t i = machines; i < machines * l->trace->opt.jobs; i++)
        if (l->spans[i].any)
            widen(&l->spans[i % machines], l->spans[i].first, l->spans[i].last);
}

#define COLUMNS(c) (c), sizeof(c) / sizeof *(c)

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    timeline *l = self;
    rocl_table *t;
    if (l->options->pictures)
        t = rocl_tables_add(out, "timeline", "Timeline per GPU", COLUMNS(picture_columns));
    else
        t = rocl_tables_add(out, "timeline", "Timeline per GPU", COLUMNS(data_columns));
    if (!t)
        return rocl_fail_memory(err);
    join_spans(l);
    return sweep_all(l, out, t, err);
}

static void free_timeline(void *self)
{
    timeline *l = self;
    rocl_gpus_free(&l->gpus);
    rocl_sorter_free(l->sorter);
    free(l->spans);
    free(l->slices);
    free(l);
}

rocl_status rocl_timeline_collector(rocl_collector *c, rocl_trace *t, const rocl_stats_options *o,
                                    rocl_error *err)
{
    timeline *l = calloc(1, sizeof *l);
    if (!l)
        return rocl_fail_memory(err);
    *c = (rocl_collector){.self = l,
                          .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
                          .events = take,
                          .end_task = end_task,
                          .finish = finish,
                          .free = free_timeline};
    l->trace = t;
    l->options = o;
    l->cap = o->slices ? o->slices : o->pictures ? PEOPLE_SLICES : DATA_SLICES;
    l->sorter = rocl_sorter_new(t->space, 4);
    l->spans = calloc(t->machine_count * t->opt.jobs + 1, sizeof *l->spans);
    l->slices = calloc(l->cap, sizeof *l->slices);
    if (!l->sorter || !l->spans || !l->slices)
        return rocl_fail_memory(err);
    return rocl_gpus_collect(&l->gpus, t, err);
}
