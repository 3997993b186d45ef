/* The report "timeline": how busy each GPU was, slice by slice. The time from the first start to
 * the last end of all work on the GPUs of a machine (whose clocks are one) is cut into equal
 * slices. Work comes by GPU and start, so that what a piece adds to a union lies behind all that
 * was added before: slices are filled in one walk, one GPU after the other. */
#include <stdlib.h>
#include <string.h>

#include "analysis/shares.h"
#include "base/array.h"
#include "base/wide.h"
#include "analysis/slices.h"

enum { PEOPLE_SLICES = 60, DATA_SLICES = 1000 };

typedef enum part { KERNEL, COPY, EITHER, PARTS } part;

typedef struct slice {
    int64_t ns[PARTS];
    int64_t kernels; /* started in it */
} slice;

/* A GPU that was swept, as other ranks of a team send it. */
typedef struct swept_gpu {
    uint64_t gpu;
    slice *slices;
} swept_gpu;

typedef struct utilisation {
    rocl_collector c;
    rocl_sorter *sorter; /* by GPU, start, end, part: equal records are the same work to us */
    rocl_extent *spans;  /* by worker and machine; in the end those of worker 0 hold for all */
    size_t cap;          /* how many slices */
    /* The GPU that is swept: */
    uint64_t gpu;
    rocl_slices time;
    int64_t until[PARTS]; /* covered up to here */
    slice *slices;
    /* Of a team: */
    rocl_shares shares;   /* GPUs */
    swept_gpu *elsewhere; /* there of other ranks, here those that rank 0 is to have; by GPU */
    size_t elsewhere_count, elsewhere_cap;
    size_t shown; /* of them */
} utilisation;

/* ---- events ---------------------------------------------------------------------------------- */

static rocl_status add_utilisation_batch(void *self, unsigned worker, const rocl_batch *b,
                                         rocl_error *err)
{
    utilisation *u = self;
    rocl_extent *spans = &u->spans[worker * u->c.trace->machine_count];
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const rocl_gpu *gpus[2];
        const unsigned n = rocl_gpus_of(b, i, gpus);
        for (unsigned k = 0; k < n && st == ROCL_OK; k++) {
            const uint64_t key[4] = {(uint64_t)(gpus[k] - u->c.trace->gpus), (uint64_t)e->start,
                                     (uint64_t)e->end, b->kind == ROCL_COPY ? COPY : KERNEL};
            rocl_extent_add(&spans[gpus[k]->machine], e->start, e->end);
            rocl_shares_note(&u->shares, worker, key[0]);
            st = rocl_sorter_add(u->sorter, worker, key, NULL, 0, err);
        }
    }
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* For programs: a slice. */
typedef struct slice_row {
    const rocl_gpu *gpu;
    uint64_t slice;
    int64_t start, end, ns[PARTS], idle, kernels;
    double percent[PARTS];
} slice_row;

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(slice_row, field)

static const rocl_column slice_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"slice", "Slice", ROCL_UNIT_COUNT, CELL(slice)},
    {"start_ns", "Start", ROCL_UNIT_TIME, CELL(start)},
    {"end_ns", "End", ROCL_UNIT_TIME, CELL(end)},
    {"kernel_ns", "Kernels", ROCL_UNIT_NS, CELL(ns[KERNEL])},
    {"kernel_percent", "Kernels %", ROCL_UNIT_PERCENT, CELL(percent[KERNEL])},
    {"copy_ns", "Copies", ROCL_UNIT_NS, CELL(ns[COPY])},
    {"copy_percent", "Copies %", ROCL_UNIT_PERCENT, CELL(percent[COPY])},
    {"busy_ns", "Busy", ROCL_UNIT_NS, CELL(ns[EITHER])},
    {"busy_percent", "Busy %", ROCL_UNIT_PERCENT, CELL(percent[EITHER])},
    {"idle_ns", "Idle", ROCL_UNIT_NS, CELL(idle)},
    {"kernels", "Started", ROCL_UNIT_COUNT, CELL(kernels)},
};

/* For people: a line of characters for all slices. */
typedef struct line_row {
    const rocl_gpu *gpu;
    const char *part, *line;
    double slice_ns, percent;
} line_row;

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(line_row, field)

static const rocl_column line_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"what", "What", ROCL_UNIT_TEXT, CELL(part)},
    {"line", "Share of each slice", ROCL_UNIT_TEXT, CELL(line)},
    {"slice_ns", "Slice", ROCL_UNIT_NS, CELL(slice_ns)},
    {"average_percent", "Average %", ROCL_UNIT_PERCENT, CELL(percent)},
};

static const rocl_table_def slice_table = {&rocl_utilisation_report.tab, "timeline",
                                           "Timeline per GPU", ROCL_COLUMNS(slice_columns)};
static const rocl_table_def line_table = {&rocl_utilisation_report.tab, "timeline",
                                          "Timeline per GPU", ROCL_COLUMNS(line_columns)};

const rocl_report_def rocl_utilisation_report = {
    "timeline",
    {"timeline", "Utilisation"},
    "for each GPU: how busy it was over time",
    (const rocl_table_def *const[]){&slice_table, &line_table, NULL}};

static rocl_status add_slice_rows(const utilisation *u, const rocl_report_rows *r, rocl_error *err)
{
    for (uint64_t i = 0; i < u->time.count; i++) {
        const slice *s = &u->slices[i];
        slice_row row = {.gpu = &u->c.trace->gpus[u->gpu],
                         .slice = i,
                         .start = rocl_slice_begin(&u->time, i),
                         .end = rocl_slice_begin(&u->time, i + 1),
                         .kernels = s->kernels};
        int64_t length = row.end - row.start, busy = s->ns[EITHER];
        if (busy > length || busy < s->ns[KERNEL] || busy < s->ns[COPY])
            return rocl_fail(err, ROCL_INTERNAL, "the times of a slice do not add up");
        for (part p = 0; p < PARTS; p++) {
            row.ns[p] = s->ns[p];
            row.percent[p] = rocl_percent(s->ns[p], length);
        }
        row.idle = length - busy;
        rocl_add_row(r, &row);
    }
    return ROCL_OK;
}

/* Steps of 1/8, or of 1/10; the first means none at all, the second little. */
static const char *level_sign(int64_t ns, int64_t length, bool ascii)
{
    static const char *const blocks[] = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const digits[] = {".", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    const unsigned steps = ascii ? 10 : 8;
    unsigned n = 0;
    if (ns > 0)
        n = (unsigned)(((rocl_u128)ns * steps + (uint64_t)length - 1) / (uint64_t)length);
    return ascii ? digits[n] : blocks[n];
}

static rocl_status add_line_rows(const utilisation *u, const rocl_report_rows *r, rocl_error *err)
{
    static const char *const names[PARTS] = {"kernels", "copies", "busy"};
    char *line = malloc(u->time.count * 3 + 1);
    if (!line)
        return rocl_fail_memory(err);
    for (part p = 0; p < PARTS; p++) {
        char *end = line;
        int64_t sum = 0;
        for (uint64_t i = 0; i < u->time.count; i++) {
            int64_t length = rocl_slice_begin(&u->time, i + 1) - rocl_slice_begin(&u->time, i);
            end = stpcpy(end, level_sign(u->slices[i].ns[p], length, u->c.options->ascii));
            sum += u->slices[i].ns[p];
        }
        rocl_add_row(r, &(line_row){.gpu = &u->c.trace->gpus[u->gpu],
                                    .part = names[p],
                                    .line = line,
                                    .slice_ns = (double)u->time.length / (double)u->time.count,
                                    .percent = rocl_percent(sum, (int64_t)u->time.length)});
    }
    free(line);
    return ROCL_OK;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* Adds what the work before does not cover. */
static void extend_union(utilisation *u, part p, int64_t start, int64_t end)
{
    int64_t from = start > u->until[p] ? start : u->until[p];
    for (uint64_t i = rocl_slice_at(&u->time, from); from < end; i++) {
        int64_t next = rocl_slice_begin(&u->time, i + 1), to = next < end ? next : end;
        u->slices[i].ns[p] += to - from;
        from = to;
    }
    u->until[p] = end > u->until[p] ? end : u->until[p];
}

static void begin_gpu(utilisation *u, uint64_t gpu)
{
    const rocl_extent *all = &u->spans[u->c.trace->gpus[gpu].machine];
    u->gpu = gpu;
    u->time = rocl_slices_of(all->first, all->last, u->cap);
}

static rocl_status add_rows(utilisation *u, const rocl_report_rows *r, rocl_error *err)
{
    return (u->c.options->pictures ? add_line_rows : add_slice_rows)(u, r, err);
}

/* Of the GPUs before one those that other ranks have swept. */
static rocl_status add_rows_before(utilisation *u, uint64_t gpu, const rocl_report_rows *r,
                                   rocl_error *err)
{
    slice *own = u->slices;
    rocl_status st = ROCL_OK;
    for (; u->shown < u->elsewhere_count && u->elsewhere[u->shown].gpu < gpu && st == ROCL_OK;
         u->shown++) {
        begin_gpu(u, u->elsewhere[u->shown].gpu);
        u->slices = u->elsewhere[u->shown].slices;
        st = add_rows(u, r, err);
    }
    u->slices = own;
    return st;
}

/* Where a GPU has been swept: into rows, or to another rank's store. */
typedef rocl_status end_gpu_fn(utilisation *u, void *ctx, rocl_error *err);

static rocl_status show_gpu(utilisation *u, void *ctx, rocl_error *err)
{
    const uint64_t gpu = u->gpu;
    const rocl_slices time = u->time;
    const rocl_status st = add_rows_before(u, gpu, ctx, err);
    u->gpu = gpu;
    u->time = time;
    return st == ROCL_OK ? add_rows(u, ctx, err) : st;
}

/* to: of GPUs that rank 0 sweeps, their work is put there. */
static rocl_status sweep_gpus(utilisation *u, rocl_put *to, end_gpu_fn *end_gpu, void *ctx,
                              rocl_error *err)
{
    bool any = false;
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(u->sorter, err);
    while (rocl_next_record(u->sorter, &rec, &st, err)) {
        int64_t start = (int64_t)rec.key[1], end = (int64_t)rec.key[2];
        part p = (part)rec.key[3];
        if (to && u->shares.sent[rec.key[0]]) {
            rocl_put_number(to, rec.key[0]);
            rocl_put_signed(to, start);
            rocl_put_number(to, (uint64_t)(end - start));
            rocl_put_number(to, p);
            st = rocl_put_piece(to, err);
            continue;
        }
        if (!any || rec.key[0] != u->gpu) {
            uint64_t gpu = rec.key[0];
            if (any)
                st = end_gpu(u, ctx, err);
            begin_gpu(u, gpu);
            for (part k = 0; k < PARTS; k++)
                u->until[k] = u->time.first;
            memset(u->slices, 0, u->cap * sizeof *u->slices);
            any = true;
        }
        u->slices[rocl_slice_at(&u->time, start)].kernels += p == KERNEL;
        extend_union(u, p, start, end);
        extend_union(u, EITHER, start, end);
    }
    return st == ROCL_OK && any ? end_gpu(u, ctx, err) : st;
}

static int compare_swept(const void *a, const void *b)
{
    const swept_gpu *x = a, *y = b;
    return (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

static rocl_status finish_utilisation(void *self, rocl_tables *out, rocl_error *err)
{
    utilisation *u = self;
    rocl_report_rows r =
        rocl_begin_table(&u->c, out, u->c.options->pictures ? &line_table : &slice_table, 0);
    rocl_extents_join(u->spans, u->c.trace->machine_count, u->c.trace->opt.jobs);
    if (u->elsewhere_count)
        qsort(u->elsewhere, u->elsewhere_count, sizeof *u->elsewhere, compare_swept);
    rocl_status st = sweep_gpus(u, NULL, show_gpu, &r, err);
    return st == ROCL_OK ? add_rows_before(u, UINT64_MAX, &r, err) : st;
}

/* ---- of a team ------------------------------------------------------------------------------- */

/* First which GPUs had work, and when all work of a machine was; then work, or slices. */
static void put_spans(const utilisation *u, rocl_put *to)
{
    rocl_put_bytes(to, u->spans, u->c.trace->machine_count * sizeof *u->spans);
}

static rocl_status ask_utilisation(void *self, unsigned round, unsigned rank, rocl_put *to,
                                   rocl_error *err)
{
    utilisation *u = self;
    (void)rank, (void)err;
    rocl_shares_ask(&u->shares, round, to);
    if (round != ROCL_ASK_WORK)
        return ROCL_OK;
    rocl_extents_join(u->spans, u->c.trace->machine_count, u->c.trace->opt.jobs);
    put_spans(u, to);
    return ROCL_OK;
}

/* NULL: memory is out. */
static swept_gpu *add_elsewhere(utilisation *u, uint64_t gpu)
{
    if (!ROCL_GROW(u->elsewhere, u->elsewhere_cap, u->elsewhere_count + 1))
        return NULL;
    swept_gpu *s = &u->elsewhere[u->elsewhere_count];
    *s = (swept_gpu){gpu, calloc(u->cap, sizeof *s->slices)};
    u->elsewhere_count += s->slices != NULL;
    return s->slices ? s : NULL;
}

static rocl_status keep_gpu(utilisation *u, void *ctx, rocl_error *err)
{
    swept_gpu *s = add_elsewhere(u, u->gpu);
    (void)ctx;
    if (!s)
        return rocl_fail_memory(err);
    memcpy(s->slices, u->slices, u->cap * sizeof *s->slices);
    return ROCL_OK;
}

static rocl_status answer_utilisation(void *self, rocl_taken *question, rocl_put *to,
                                      rocl_error *err)
{
    utilisation *u = self;
    if (rocl_shares_answer_who(&u->shares, question, to)) {
        rocl_extents_join(u->spans, u->c.trace->machine_count, u->c.trace->opt.jobs);
        put_spans(u, to);
        return ROCL_OK;
    }
    rocl_take_bytes(question, u->spans, u->c.trace->machine_count * sizeof *u->spans);
    return sweep_gpus(u, to, keep_gpu, NULL, err);
}

static rocl_status hear_utilisation(void *self, unsigned rank, rocl_taken *answer, rocl_error *err)
{
    utilisation *u = self;
    rocl_status st = ROCL_OK;
    if (u->shares.asked == ROCL_ASK_WHO) {
        st = rocl_shares_take(&u->shares, rank, answer, err);
        for (size_t i = 0; i < u->c.trace->machine_count && st == ROCL_OK; i++) {
            rocl_extent x;
            rocl_take_bytes(answer, &x, sizeof x);
            rocl_extent_join(&u->spans[i], &x);
        }
        return st;
    }
    while (!rocl_taken_all(answer) && st == ROCL_OK) {
        uint64_t key[4] = {rocl_take_number(answer)};
        key[1] = (uint64_t)rocl_take_signed(answer);
        key[2] = key[1] + rocl_take_number(answer);
        key[3] = rocl_take_number(answer);
        if (answer->r.bad || key[0] >= u->c.trace->gpu_count || key[3] > COPY)
            return rocl_team_bad_message(err);
        st = rocl_sorter_add(u->sorter, 0, key, NULL, 0, err);
    }
    return st;
}

/* Slices in which nothing was are left out. */
static rocl_status put_slices(void *self, rocl_put *to, rocl_error *err)
{
    static const slice none;
    utilisation *u = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < u->elsewhere_count && st == ROCL_OK; i++) {
        const swept_gpu *s = &u->elsewhere[i];
        size_t last = 0;
        rocl_put_number(to, s->gpu);
        for (size_t k = 0; k < u->cap; k++) {
            if (!memcmp(&s->slices[k], &none, sizeof none))
                continue;
            rocl_put_number(to, k - last + 1);
            for (part p = 0; p < PARTS; p++)
                rocl_put_number(to, (uint64_t)s->slices[k].ns[p]);
            rocl_put_number(to, (uint64_t)s->slices[k].kernels);
            last = k;
        }
        rocl_put_number(to, 0);
        st = rocl_put_piece(to, err);
    }
    return st;
}

static rocl_status take_slices(void *self, unsigned rank, rocl_taken *from, rocl_error *err)
{
    utilisation *u = self;
    (void)rank;
    while (!rocl_taken_all(from)) {
        const uint64_t gpu = rocl_take_number(from);
        if (gpu >= u->c.trace->gpu_count)
            return rocl_team_bad_message(err);
        swept_gpu *s = add_elsewhere(u, gpu);
        uint64_t step, k = 0;
        if (!s)
            return rocl_fail_memory(err);
        while ((step = rocl_take_number(from))) {
            k += step - 1;
            if (k >= u->cap)
                return rocl_team_bad_message(err);
            for (part p = 0; p < PARTS; p++)
                s->slices[k].ns[p] = (int64_t)rocl_take_number(from);
            s->slices[k].kernels = (int64_t)rocl_take_number(from);
        }
    }
    return ROCL_OK;
}

static const rocl_gather_def gather_utilisation = {.ask = ask_utilisation,
                                                   .answer = answer_utilisation,
                                                   .hear = hear_utilisation,
                                                   .put = put_slices,
                                                   .take = take_slices};

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_utilisation(void *self, rocl_error *err)
{
    utilisation *u = self;
    const rocl_trace *t = u->c.trace;
    const rocl_stats_options *o = u->c.options;
    u->cap = o->slices ? o->slices : o->pictures ? PEOPLE_SLICES : DATA_SLICES;
    u->sorter = rocl_collector_sorter(&u->c, 4);
    u->spans = calloc(t->machine_count * t->opt.jobs + 1, sizeof *u->spans);
    u->slices = calloc(u->cap, sizeof *u->slices);
    if (!u->sorter || !u->spans || !u->slices)
        return rocl_fail_memory(err);
    return rocl_shares_open(&u->shares, t->gpu_count, t->opt.jobs) ? ROCL_OK
                                                                   : rocl_fail_memory(err);
}

static void close_utilisation(void *self)
{
    utilisation *u = self;
    rocl_shares_close(&u->shares);
    for (size_t i = 0; i < u->elsewhere_count; i++)
        free(u->elsewhere[i].slices);
    free(u->elsewhere);
    free(u->spans);
    free(u->slices);
}

const rocl_collector_def rocl_utilisation_collector = {
    .reports = 1u << ROCL_REPORT_TIMELINE,
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(utilisation),
    .open = open_utilisation,
    .add_batch = add_utilisation_batch,
    .finish = finish_utilisation,
    .close = close_utilisation,
    .gather = &gather_utilisation,
};
