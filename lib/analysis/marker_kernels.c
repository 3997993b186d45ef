/* Kernels by the markers that were open where they were launched: a distribution for each pair. */
#include "analysis/marker_kernels.h"

#include <stdlib.h>

#include "analysis/distribution.h"

/* Interned as bytes: no holes. */
typedef struct pair_key {
    uint32_t marker, kernel; /* texts */
    int64_t rank;            /* -1: unknown, or not wanted */
} pair_key;

typedef struct pair {
    pair_key key; /* first */
    rocl_distribution d;
    int64_t all; /* all time of the marker */
    double percent;
} pair;

#define KEY(member, type) ROCL_MEMBER(pair_key, member, KEY_##type)
static const rocl_member key_members[] = {KEY(marker, TEXT), KEY(rank, INT), KEY(kernel, TEXT)};

static bool has_percentiles(const void *self, const void *key)
{
    (void)self;
    (void)key;
    return true;
}

static const rocl_keyed_def pair_table = {.key_size = sizeof(pair_key),
                                          ROCL_KEY_MEMBERS(key_members),
                                          .has_percentiles = has_percentiles};

rocl_status rocl_marker_kernels_open(rocl_keyed *pairs, rocl_collector *c, rocl_error *err)
{
    return rocl_keyed_open(pairs, &pair_table, c, err);
}

rocl_status rocl_marker_kernels_add(rocl_keyed *pairs, const rocl_collector *c, uint32_t marker,
                                    uint32_t kernel, int32_t rank, int64_t ns, rocl_error *err)
{
    const pair_key key = {marker, kernel, c->options->by_rank ? rank : -1};
    const uint32_t id = rocl_keyed_group(pairs, &key);
    return id == ROCL_NONE ? rocl_fail_memory(err)
                           : rocl_percentiles_add(pairs->values, 0, id, ns, err);
}

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(pair, field)

static const rocl_column pair_columns[] = {
    {"marker", "Marker", ROCL_UNIT_TEXT, CELL(key.marker)},
    {"name", "Kernel", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(pair, key.kernel)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, ROCL_CELL_BY(rocl_field_known, pair, key.rank)},
    {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_IN_REST, ROCL_CELL(pair, d.taken)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST, ROCL_CELL(pair, d.total)},
    {"percent", "Of marker %", ROCL_UNIT_PERCENT, CELL(percent)},
    {"average_ns", "Average", ROCL_UNIT_NS, ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_average, pair, d)},
    {"median_ns", "Median", ROCL_UNIT_NS, CELL(d.median)},
    {"min_ns", "Min", ROCL_UNIT_NS, ROCL_MINOR, ROCL_CELL(pair, d.min)},
    {"max_ns", "Max", ROCL_UNIT_NS, CELL(d.max)},
    {"stddev_ns", "Std. dev.", ROCL_UNIT_NS, ROCL_MINOR, ROCL_CELL_BY(rocl_field_stddev, pair, d)},
};

/* The tab of the report. */
const rocl_table_def rocl_marker_kernel_table = {ROCL_TAB(MARKERS), "marker_kernels",
                                                 "Kernels by marker", ROCL_COLUMNS(pair_columns)};

static int compare_by_marker(const void *a, const void *b, void *trace)
{
    return rocl_keyed_compare(&pair_table, trace, a, b);
}

/* Pairs that are equal in the requested order are grouped by marker. */
static int compare_pairs(const void *a, const void *b, void *ctx)
{
    const rocl_collector *c = ctx;
    const pair *p = a, *q = b;
    const int order = rocl_compare_values(
        c->options->sort,
        &(rocl_sort_values){p->d.total, p->d.max, p->d.taken, rocl_distribution_average(&p->d)},
        &(rocl_sort_values){q->d.total, q->d.max, q->d.taken, rocl_distribution_average(&q->d)});
    return order ? order : rocl_keyed_compare(&pair_table, c->trace, p, q);
}

static void add_pair(void *into, const void *from)
{
    rocl_distribution_merge(&((pair *)into)->d, &((const pair *)from)->d);
}

rocl_status rocl_marker_kernels_put(rocl_keyed *pairs, rocl_collector *c, rocl_tables *out,
                                    rocl_error *err)
{
    size_t count;
    pair *rows = rocl_groups_new(pairs->keys, sizeof(pair_key), sizeof *rows, &count);
    rocl_status st = rows ? ROCL_OK : rocl_fail_memory(err);
    const size_t n = count - 1;
    for (size_t i = 1; i <= n && st == ROCL_OK; i++)
        st = rocl_percentiles_describe(pairs->values, (uint32_t)i, &rows[i].d, err);
    if (st == ROCL_OK) {
        pair *p = rows + 1;
        qsort_r(p, n, sizeof *p, compare_by_marker, c->trace);
        for (size_t i = 0, k = 0; i < n; i = k) {
            int64_t all = 0;
            for (; k < n && p[k].key.marker == p[i].key.marker && p[k].key.rank == p[i].key.rank;
                 k++)
                all = rocl_add_saturated(all, p[k].d.total);
            for (size_t j = i; j < k; j++) {
                p[j].all = all;
                p[j].percent = rocl_percent(p[j].d.total, all);
            }
        }
        qsort_r(p, n, sizeof *p, compare_pairs, c);
        const rocl_report_rows r = rocl_begin_table(c, out, &rocl_marker_kernel_table, 0);
        rocl_set_note(&r, "a kernel counts for each marker around its launch");
        rocl_add_top_rows(&r, p, n, sizeof *p, add_pair);
    }
    free(rows);
    return st;
}
