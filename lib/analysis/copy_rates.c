/* Bandwidth of copies over time, for the report "queues": the time of a machine is cut into equal
 * slices, and the bytes of each copy are spread evenly over its time. Copies come by link - what is
 * called the same, between two agents - and start: the slices of one link are filled after the
 * other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/activity.h"
#include "analysis/report.h"
#include "analysis/slices.h"
#include "base/order.h"

enum { SLICES = 200, MOST_DRAWN = 32 /* links */ };

/* Interned as bytes: no holes. */
typedef struct link_key {
    rocl_agent_key src, dst;
    uint32_t name, machine;
    int64_t rank; /* -1: not wanted */
} link_key;

_Static_assert(sizeof(link_key) == 2 * sizeof(rocl_agent_key) + 16, "no holes");

typedef struct link {
    link_key key;
    uint64_t calls;
    uint64_t unsized;         /* copies of which no size is known */
    rocl_u128 sum;            /* sum of bytes */
    rocl_cover active, sized; /* while any copy runs; while one with a size does */
    double *slices;           /* bytes of each; NULL: not yet */
    /* For its row: */
    int64_t bytes, peak_at; /* -1: none is known; bytes saturate */
    double average, wall_average, active_percent, peak, median, slice_ns;
} link;

typedef struct copy_rates {
    rocl_collector c;
    rocl_strings *keys; /* their ids are the links */
    rocl_sorter *copies;
    rocl_extent *spans; /* by worker and machine; in the end those of worker 0 hold for all */
    link *links;        /* [0] is none */
    size_t link_count;
    uint64_t slice_count;
    double *sorted; /* space for the rates of a link */
} copy_rates;

/* Is the size of a copy known? */
static bool is_sized(const link *l)
{
    return l->calls > l->unsized;
}

static int64_t known_bytes(const link *l)
{
    return is_sized(l) ? rocl_cut_sum(l->sum) : -1;
}

/* ---- events ---------------------------------------------------------------------------------- */

static rocl_status add_copy_batch(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    copy_rates *r = self;
    const rocl_capture *c = b->capture;
    rocl_extent *seen = &r->spans[worker * r->c.trace->machine_count];
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_copy *copy = &b->copies[i];
        const rocl_event *e = &copy->e;
        const link_key k = {
            .src = rocl_agent_key_of(c, copy->src, -1),
            .dst = rocl_agent_key_of(c, copy->dst, -1),
            .name = e->name == ROCL_NONE ? 0 : e->name,
            .machine = rocl_machine_of(c, e->process),
            .rank = r->c.options->by_rank ? c->processes[e->process].rank : -1,
        };
        const uint32_t id = rocl_strings_put(r->keys, (const char *)&k, sizeof k);
        if (id == ROCL_NONE)
            return rocl_fail_memory(err);
        rocl_extent_add(&seen[k.machine], e->start, e->end);
        /* Equal records are the same to us. */
        const uint64_t key[4] = {id, (uint64_t)e->start, (uint64_t)e->end, (uint64_t)copy->size};
        st = rocl_sorter_add(r->copies, worker, key, NULL, 0, err);
    }
    return st;
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static rocl_slices slices_of(const copy_rates *r, const link *l)
{
    const rocl_extent *all = &r->spans[l->key.machine];
    return rocl_slices_of(all->first, all->last, r->slice_count);
}

/* All of it at once if it took no time. */
static void spread_bytes(link *l, const rocl_slices *time, int64_t start, int64_t end,
                         uint64_t bytes)
{
    int64_t from = start;
    uint64_t i = rocl_slice_at(time, start);
    if (start == end)
        l->slices[i] += (double)bytes;
    for (; from < end && i < time->count; i++) {
        const int64_t next = rocl_slice_begin(time, i + 1), to = next < end ? next : end;
        l->slices[i] += (double)bytes * ((double)(to - from) / (double)(end - start));
        from = to;
    }
}

/* NAN: not known, as the sizes of the link. */
static double slice_rate(const link *l, const rocl_slices *time, uint64_t i)
{
    if (!is_sized(l))
        return NAN;
    return rocl_ratio(l->slices[i] * 1e9,
                      (double)(rocl_slice_begin(time, i + 1) - rocl_slice_begin(time, i)));
}

static void describe_link(copy_rates *r, link *l)
{
    const rocl_slices time = slices_of(r, l);
    size_t n = 0;
    l->bytes = known_bytes(l);
    l->peak = NAN;
    l->peak_at = -1;
    for (uint64_t i = 0; i < time.count; i++) {
        const double rate = slice_rate(l, &time, i);
        if (!(rate > 0))
            continue;
        r->sorted[n++] = rate;
        if (!(rate <= l->peak)) {
            l->peak = rate;
            l->peak_at = rocl_slice_begin(&time, i);
        }
    }
    qsort(r->sorted, n, sizeof *r->sorted, rocl_compare_double);
    l->median = n ? (r->sorted[(n - 1) / 2] + r->sorted[n / 2]) / 2 : NAN;
    l->average = rocl_ratio((double)l->sum * 1e9, (double)l->sized.measure);
    l->wall_average = is_sized(l) ? rocl_ratio((double)l->sum * 1e9, (double)time.length) : NAN;
    l->active_percent = rocl_percent(l->active.measure, (int64_t)time.length);
    l->slice_ns = (double)time.length / (double)time.count;
}

static rocl_status sweep_copies(copy_rates *r, rocl_error *err)
{
    uint64_t at = 0;
    rocl_slices time = {0};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(r->copies, err);
    while (rocl_next_record(r->copies, &rec, &st, err)) {
        link *l = &r->links[rec.key[0]];
        if (rec.key[0] != at) {
            at = rec.key[0];
            time = slices_of(r, l);
            l->active.until = l->sized.until = INT64_MIN;
            if (!(l->slices = calloc(r->slice_count, sizeof *l->slices)))
                return rocl_fail_memory(err);
        }
        l->calls++;
        l->sum += rec.key[3];
        l->unsized += !rec.key[3];
        rocl_cover_extend(&l->active, (int64_t)rec.key[1], (int64_t)rec.key[2]);
        if (!rec.key[3])
            continue;
        rocl_cover_extend(&l->sized, (int64_t)rec.key[1], (int64_t)rec.key[2]);
        spread_bytes(l, &time, (int64_t)rec.key[1], (int64_t)rec.key[2], rec.key[3]);
    }
    for (size_t i = 1; i < r->link_count && st == ROCL_OK; i++)
        describe_link(r, &r->links[i]);
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The direction is what is called the same. */
#define LINK_COLUMNS(row, member)                                                                  \
    {"direction", "Direction", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(row, member.name)},          \
        {"src", "From", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(row, member.src)},                  \
        {"dst", "To", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(row, member.dst)},                    \
    {                                                                                              \
        "rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK,                                             \
            ROCL_CELL_BY(rocl_field_known, row, member.rank)                                       \
    }

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(link, field)

static const rocl_column rate_columns[] = {
    LINK_COLUMNS(link, key),
    {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, ROCL_CELL(link, calls)},
    {"bytes", "Bytes", ROCL_UNIT_BYTES, ROCL_IN_REST | ROCL_SUM,
     ROCL_CELL_BY(rocl_field_known, link, bytes)},
    {"active_ns", "Active", ROCL_UNIT_NS, CELL(active.measure)},
    {"active_percent", "Active %", ROCL_UNIT_PERCENT, ROCL_MINOR, ROCL_CELL(link, active_percent)},
    {"active_bandwidth", "While active", ROCL_UNIT_RATE, CELL(average)},
    {"wall_bandwidth", "Of all time", ROCL_UNIT_RATE, CELL(wall_average)},
    {"peak_bandwidth", "Peak", ROCL_UNIT_RATE, CELL(peak)},
    {"peak_at_ns", "Peak at", ROCL_UNIT_TIME, ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_known, link, peak_at)},
    {"median_bandwidth", "Median", ROCL_UNIT_RATE, CELL(median)},
    {"slice_ns", "Slice", ROCL_UNIT_NS, CELL(slice_ns)},
};

typedef struct slice_row {
    link_key key;
    uint64_t slice;
    int64_t start, end;
    double rate;
} slice_row;

#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(slice_row, field)

static const rocl_column slice_columns[] = {
    LINK_COLUMNS(slice_row, key),
    {"slice", "Slice", ROCL_UNIT_COUNT, CELL(slice)},
    {"start_ns", "Start", ROCL_UNIT_TIME, CELL(start)},
    {"end_ns", "End", ROCL_UNIT_TIME, CELL(end)},
    {"bandwidth", "Bandwidth", ROCL_UNIT_RATE, CELL(rate)},
};

/* The tab of the report. */
static const rocl_table_tab tab = {"queue", "Queues"};
const rocl_table_def rocl_copy_rate_table = {
    &tab, "copy_bandwidth", "Bandwidth of copies over time", ROCL_COLUMNS(rate_columns)};
const rocl_table_def rocl_copy_slice_table = {
    &tab, "copy_timeline", "Bandwidth of copies by slice of time", ROCL_COLUMNS(slice_columns)};

static int compare_links(const void *a, const void *b, void *ctx)
{
    const copy_rates *r = ctx;
    const link *l = a, *m = b;
    int c = rocl_compare_values(
        r->c.options->sort,
        &(rocl_sort_values){l->active.measure, (int64_t)(l->peak > 0 ? l->peak : 0), l->calls,
                            l->average > 0 ? l->average : 0},
        &(rocl_sort_values){m->active.measure, (int64_t)(m->peak > 0 ? m->peak : 0), m->calls,
                            m->average > 0 ? m->average : 0});
    if (!c)
        c = rocl_compare_texts(r->c.trace, l->key.name, m->key.name);
    c = c ? c : rocl_number_order(l->key.machine, m->key.machine);
    c = c ? c : rocl_compare_agents(&l->key.src, &m->key.src);
    c = c ? c : rocl_compare_agents(&l->key.dst, &m->key.dst);
    return c ? c : rocl_number_order(l->key.rank, m->key.rank);
}

static void add_link(void *into, const void *from)
{
    link *sum = into;
    const link *l = from;
    sum->calls += l->calls;
    sum->sum += l->sum;
    sum->unsized += l->unsized;
    sum->bytes = known_bytes(sum);
}

static rocl_status finish_copy_rates(void *self, rocl_tables *out, rocl_error *err)
{
    copy_rates *r = self;
    const rocl_trace *t = r->c.trace;
    r->links = rocl_groups_new(r->keys, sizeof(link_key), sizeof *r->links, &r->link_count);
    if (!r->links)
        return rocl_fail_memory(err);
    rocl_extents_join(r->spans, t->machine_count, t->opt.jobs);
    const rocl_status st = sweep_copies(r, err);
    if (st != ROCL_OK)
        return st;
    link *l = r->links + 1;
    const size_t n = r->link_count - 1;
    qsort_r(l, n, sizeof *l, compare_links, r);
    uint64_t unsized = 0;
    for (size_t i = 0; i < n; i++)
        unsized += l[i].unsized;
    rocl_report_rows rows = rocl_begin_table(&r->c, out, &rocl_copy_rate_table, 0);
    rocl_note_unsized(&rows, unsized);
    rocl_add_top_rows(&rows, l, n, sizeof *l, add_link);
    if (r->c.options->pictures)
        return ROCL_OK;
    rows = rocl_begin_table(&r->c, out, &rocl_copy_slice_table, 0);
    if (n > MOST_DRAWN)
        rocl_set_note(&rows, "the first %d", MOST_DRAWN);
    for (size_t i = 0; i < n && i < MOST_DRAWN; i++) {
        const rocl_slices time = slices_of(r, &l[i]);
        for (uint64_t k = 0; k < time.count; k++)
            rocl_add_row(&rows,
                         &(slice_row){l[i].key, k, rocl_slice_begin(&time, k),
                                      rocl_slice_begin(&time, k + 1), slice_rate(&l[i], &time, k)});
    }
    return ROCL_OK;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_copy_rates(void *self, rocl_error *err)
{
    copy_rates *r = self;
    const rocl_trace *t = r->c.trace;
    const size_t spans = t->machine_count * t->opt.jobs;
    r->slice_count = r->c.options->slices ? r->c.options->slices : SLICES;
    r->keys = rocl_strings_new();
    r->copies = rocl_collector_sorter(&r->c, 4);
    r->spans = calloc(spans + 1, sizeof *r->spans);
    r->sorted = calloc(r->slice_count, sizeof *r->sorted);
    return r->keys && r->copies && r->spans && r->sorted ? ROCL_OK : rocl_fail_memory(err);
}

static void close_copy_rates(void *self)
{
    copy_rates *r = self;
    rocl_strings_free(r->keys);
    for (size_t i = 1; r->links && i < r->link_count; i++)
        free(r->links[i].slices);
    free(r->links);
    free(r->spans);
    free(r->sorted);
}

const rocl_collector_def rocl_copy_rates_collector = {
    .reports = 1u << ROCL_REPORT_QUEUES,
    .kinds = ROCL_BIT(ROCL_COPY),
    .size = sizeof(copy_rates),
    .open = open_copy_rates,
    .add_batch = add_copy_batch,
    .finish = finish_copy_rates,
    .close = close_copy_rates,
};
