/* The report "timeline": how busy each GPU was, slice by slice. The time from the first start to
 * the last end of all work on the GPUs of a machine (whose clocks are one) is cut into equal
 * slices. Work comes by GPU and start, so that what a piece adds to a union lies behind all that
 * was added before: slices are filled in one walk, one GPU after the other. */
#include <stdlib.h>
#include <string.h>

#include "analysis/sweep.h"
#include "base/wide.h"

enum { PEOPLE_SLICES = 60, DATA_SLICES = 1000 };

typedef enum measure { KERNEL, COPY, EITHER, MEASURES } measure;

typedef struct slice {
    int64_t ns[MEASURES];
    int64_t kernels; /* started in it */
} slice;

enum { SLICE_VALUES = sizeof(slice) / sizeof(int64_t) };

typedef struct timeline {
    rocl_sweep sweep;        /* by GPU, start, end, measure; results are slices */
    size_t cap;              /* how many slices */
    rocl_slices time;        /* slices of the GPU that is swept */
    int64_t until[MEASURES]; /* covered up to here */
} timeline;

/* ---- events ---------------------------------------------------------------------------------- */

static rocl_status add_timeline_batch(void *self, unsigned worker, const rocl_batch *b,
                                      rocl_error *err)
{
    timeline *tl = self;
    const rocl_trace *t = tl->sweep.c.trace;
    rocl_extent *spans = &tl->sweep.extents[worker * t->machine_count];
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const rocl_gpu *gpus[2];
        const unsigned n = rocl_gpus_of(b, i, gpus);
        for (unsigned k = 0; k < n && st == ROCL_OK; k++) {
            const uint64_t key[4] = {(uint64_t)(gpus[k] - t->gpus), (uint64_t)e->start,
                                     (uint64_t)e->end, b->kind == ROCL_COPY ? COPY : KERNEL};
            rocl_extent_add(&spans[gpus[k]->machine], e->start, e->end);
            st = rocl_sweep_add(&tl->sweep, worker, key, err);
        }
    }
    return st;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static rocl_slices slices_of(const timeline *tl, uint64_t gpu)
{
    const rocl_extent *all = &tl->sweep.extents[tl->sweep.c.trace->gpus[gpu].machine];
    return rocl_slices_of(all->first, all->last, tl->cap);
}

static bool is_possible(const void *self, const uint64_t *key)
{
    const timeline *tl = self;
    const rocl_extent *all = &tl->sweep.extents[tl->sweep.c.trace->gpus[key[0]].machine];
    return (int64_t)key[1] >= all->first && (int64_t)key[2] <= all->last &&
           (int64_t)key[1] <= (int64_t)key[2] && key[3] <= COPY;
}

/* Adds what the work before does not cover. */
static void extend_union(timeline *tl, slice *slices, measure a, int64_t start, int64_t end)
{
    int64_t from = start > tl->until[a] ? start : tl->until[a];
    for (uint64_t i = rocl_slice_at(&tl->time, from); from < end; i++) {
        const int64_t next = rocl_slice_begin(&tl->time, i + 1), to = next < end ? next : end;
        slices[i].ns[a] += to - from;
        from = to;
    }
    tl->until[a] = end > tl->until[a] ? end : tl->until[a];
}

/* Equal records are the same work to us. */
static rocl_status add_work(void *self, const uint64_t *key, int64_t *result, bool first,
                            rocl_error *err)
{
    timeline *tl = self;
    slice *slices = (slice *)(void *)result;
    const int64_t start = (int64_t)key[1], end = (int64_t)key[2];
    (void)err;
    if (first) {
        tl->time = slices_of(tl, key[0]);
        for (measure a = 0; a < MEASURES; a++)
            tl->until[a] = tl->time.first;
    }
    slices[rocl_slice_at(&tl->time, start)].kernels += key[3] == KERNEL;
    extend_union(tl, slices, (measure)key[3], start, end);
    extend_union(tl, slices, EITHER, start, end);
    return ROCL_OK;
}

static const rocl_sweep_def sweep_def = {
    .words = 4, .is_possible = is_possible, .extend = add_work};

/* ---- rows ------------------------------------------------------------------------------------ */

/* For programs: a slice. */
typedef struct slice_row {
    const rocl_gpu *gpu;
    uint64_t slice;
    int64_t start, end, ns[MEASURES], idle, kernels;
    double percent[MEASURES];
} slice_row;

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(slice_row, field)

static const rocl_column slice_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"slice", "Slice", ROCL_UNIT_COUNT, CELL(slice)},
    {"start_ns", "Start", ROCL_UNIT_TIME, CELL(start)},
    {"end_ns", "End", ROCL_UNIT_TIME, CELL(end)},
    {"kernel_ns", "Kernels", ROCL_UNIT_NS, CELL(ns[KERNEL])},
    {"kernel_percent", "Kernels of slice %", ROCL_UNIT_PERCENT, CELL(percent[KERNEL])},
    {"copy_ns", "Copies", ROCL_UNIT_NS, CELL(ns[COPY])},
    {"copy_percent", "Copies of slice %", ROCL_UNIT_PERCENT, CELL(percent[COPY])},
    {"busy_ns", "Busy", ROCL_UNIT_NS, CELL(ns[EITHER])},
    {"busy_percent", "Busy of slice %", ROCL_UNIT_PERCENT, CELL(percent[EITHER])},
    {"idle_ns", "Idle", ROCL_UNIT_NS, CELL(idle)},
    {"kernels", "Started", ROCL_UNIT_COUNT, CELL(kernels)},
};

/* For people: a line of characters for all slices. */
typedef struct line_row {
    const rocl_gpu *gpu;
    const char *measure, *line;
    double slice_ns;
} line_row;

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(line_row, field)

static const rocl_column line_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT, CELL(gpu)},
    {"what", "What", ROCL_UNIT_TEXT, CELL(measure)},
    {"line", "Share of each slice", ROCL_UNIT_TEXT, CELL(line)},
    {"slice_ns", "Slice", ROCL_UNIT_NS, CELL(slice_ns)},
};

static const rocl_table_def slice_table = {ROCL_TAB(OVERLAP), "timeline", "Timeline per GPU",
                                           ROCL_COLUMNS(slice_columns)};
static const rocl_table_def line_table = {ROCL_TAB(OVERLAP), "timeline", "Timeline per GPU",
                                          ROCL_COLUMNS(line_columns)};

static rocl_status add_slice_rows(const timeline *tl, uint64_t gpu, const slice *slices,
                                  const rocl_report_rows *r, rocl_error *err)
{
    const rocl_slices time = slices_of(tl, gpu);
    for (uint64_t i = 0; i < time.count; i++) {
        const slice *s = &slices[i];
        slice_row row = {.gpu = &tl->sweep.c.trace->gpus[gpu],
                         .slice = i,
                         .start = rocl_slice_begin(&time, i),
                         .end = rocl_slice_begin(&time, i + 1),
                         .kernels = s->kernels};
        int64_t length = row.end - row.start, busy = s->ns[EITHER];
        if (busy > length || busy < s->ns[KERNEL] || busy < s->ns[COPY])
            return rocl_fail(err, ROCL_INTERNAL, "the times of a slice do not add up");
        for (measure a = 0; a < MEASURES; a++) {
            row.ns[a] = s->ns[a];
            row.percent[a] = rocl_percent(s->ns[a], length);
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

static rocl_status add_line_rows(const timeline *tl, uint64_t gpu, const slice *slices,
                                 const rocl_report_rows *r, rocl_error *err)
{
    static const char *const names[MEASURES] = {"kernels", "copies", "busy"};
    const rocl_slices time = slices_of(tl, gpu);
    char *line = malloc(time.count * 3 + 1);
    if (!line)
        return rocl_fail_memory(err);
    for (measure a = 0; a < MEASURES; a++) {
        char *end = line;
        for (uint64_t i = 0; i < time.count; i++) {
            int64_t length = rocl_slice_begin(&time, i + 1) - rocl_slice_begin(&time, i);
            end = stpcpy(end, level_sign(slices[i].ns[a], length, tl->sweep.c.options->ascii));
        }
        rocl_add_row(r, &(line_row){.gpu = &tl->sweep.c.trace->gpus[gpu],
                                    .measure = names[a],
                                    .line = line,
                                    .slice_ns = (double)time.length / (double)time.count});
    }
    free(line);
    return ROCL_OK;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_timeline(void *self, rocl_error *err)
{
    timeline *tl = self;
    const rocl_stats_options *o = tl->sweep.c.options;
    tl->cap = o->slices ? o->slices : o->pictures ? PEOPLE_SLICES : DATA_SLICES;
    return rocl_sweep_open(&tl->sweep, &sweep_def, tl->cap * SLICE_VALUES, err);
}

static rocl_status finish_timeline(void *self, rocl_tables *out, rocl_error *err)
{
    timeline *tl = self;
    const rocl_collector *c = &tl->sweep.c;
    const bool pictures = c->options->pictures;
    const rocl_report_rows r = rocl_begin_table(c, out, pictures ? &line_table : &slice_table, 0);
    rocl_status st = rocl_sweep_finish(&tl->sweep, err);
    for (size_t i = 0; i < c->trace->gpu_count && st == ROCL_OK; i++) {
        const slice *slices = (const void *)tl->sweep.results[i];
        if (slices)
            st = (pictures ? add_line_rows : add_slice_rows)(tl, i, slices, &r, err);
    }
    return st;
}

static void close_timeline(void *self)
{
    rocl_sweep_close(self);
}

const rocl_collector_def rocl_timeline_collector = {
    .tables = (const rocl_table_def *const[]){&slice_table, NULL},
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(timeline),
    .open = open_timeline,
    .add_batch = add_timeline_batch,
    .finish = finish_timeline,
    .close = close_timeline,
    .gather = &rocl_sweep_gather,
};
