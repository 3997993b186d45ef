/* The report "timeline": how busy each GPU was, slice by slice. The time from the first start to
 * the last end of all work on the GPUs of a machine (whose clocks are one) is cut into equal
 * slices. Work comes by GPU and start, so that what a piece adds to a union lies behind all that
 * was added before: slices are filled in one walk, one GPU after the other. */
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "base/wide.h"
#include "analysis/slices.h"

enum { PEOPLE_SLICES = 60, DATA_SLICES = 1000 };

typedef enum part { KERNEL, COPY, EITHER, PARTS } part;

typedef struct slice {
    int64_t ns[PARTS];
    int64_t kernels; /* started in it */
} slice;

typedef struct utilisation {
    rocl_collector c;
    rocl_gpus gpus;
    rocl_sorter *sorter; /* by GPU, start, end, part: equal records are the same work to us */
    rocl_extent *spans;  /* by worker and machine; in the end those of worker 0 hold for all */
    size_t cap;          /* how many slices */
    /* The GPU that is swept: */
    uint64_t gpu;
    rocl_slices time;
    int64_t until[PARTS]; /* covered up to here */
    slice *slices;
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
        const unsigned n = rocl_gpus_of(&u->gpus, b, i, gpus);
        for (unsigned k = 0; k < n && st == ROCL_OK; k++) {
            const uint64_t key[4] = {(uint64_t)(gpus[k] - u->gpus.all), (uint64_t)e->start,
                                     (uint64_t)e->end, b->kind == ROCL_COPY ? COPY : KERNEL};
            rocl_extent_add(&spans[gpus[k]->machine], e->start, e->end);
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
        slice_row row = {.gpu = &u->gpus.all[u->gpu],
                         .slice = i,
                         .start = rocl_slice_begin(&u->time, i),
                         .end = rocl_slice_begin(&u->time, i + 1),
                         .kernels = s->kernels};
        int64_t length = row.end - row.start, busy = s->ns[EITHER];
        if (busy > length || busy < s->ns[KERNEL] || busy < s->ns[COPY])
            return rocl_fail(err, ROCL_INTERNAL, "the times of a slice do not add up");
        for (part p = 0; p < PARTS; p++) {
            row.ns[p] = s->ns[p];
            row.percent[p] = rocl_share(s->ns[p], length);
        }
        row.idle = length - busy;
        rocl_add_row(r, &row);
    }
    return ROCL_OK;
}

/* Steps of 1/8, or of 1/10; the first stands for none at all, the second for little. */
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
        rocl_add_row(r, &(line_row){.gpu = &u->gpus.all[u->gpu],
                                    .part = names[p],
                                    .line = line,
                                    .slice_ns = (double)u->time.length / (double)u->time.count,
                                    .percent = rocl_share(sum, (int64_t)u->time.length)});
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

static rocl_status finish_utilisation(void *self, rocl_tables *out, rocl_error *err)
{
    utilisation *u = self;
    bool pictures = u->c.options->pictures, any = false;
    rocl_report_rows r = rocl_begin_table(&u->c, out, pictures ? &line_table : &slice_table, 0);
    size_t machines = u->c.trace->machine_count;
    rocl_sort_record rec;
    rocl_extents_join(u->spans, machines, u->c.trace->opt.jobs);
    rocl_status st = rocl_sorter_start(u->sorter, err);
    while (rocl_next_record(u->sorter, &rec, &st, err)) {
        int64_t start = (int64_t)rec.key[1], end = (int64_t)rec.key[2];
        part p = (part)rec.key[3];
        if (!any || rec.key[0] != u->gpu) {
            uint64_t gpu = rec.key[0];
            if (any)
                st = (pictures ? add_line_rows : add_slice_rows)(u, &r, err);
            const rocl_extent *all = &u->spans[u->gpus.all[gpu].machine];
            u->gpu = gpu;
            u->time = rocl_slices_of(all->first, all->last, u->cap);
            for (part k = 0; k < PARTS; k++)
                u->until[k] = u->time.first;
            memset(u->slices, 0, u->cap * sizeof *u->slices);
            any = true;
        }
        u->slices[rocl_slice_at(&u->time, start)].kernels += p == KERNEL;
        extend_union(u, p, start, end);
        extend_union(u, EITHER, start, end);
    }
    return st == ROCL_OK && any ? (pictures ? add_line_rows : add_slice_rows)(u, &r, err) : st;
}

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
    return rocl_gpus_collect(&u->gpus, t, err);
}

static void close_utilisation(void *self)
{
    utilisation *u = self;
    rocl_gpus_free(&u->gpus);
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
};
