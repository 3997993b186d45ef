/* Kernels by the markers that were open where they were launched: a distribution for each pair. */
#include "analysis/marker_kernels.h"

#include <stdlib.h>

#include "analysis/distribution.h"
#include "analysis/percentiles.h"

/* Interned as bytes: no holes. */
typedef struct pair_key {
    uint32_t marker, kernel; /* texts */
    int64_t rank;            /* -1: unknown, or not wanted */
} pair_key;

typedef struct pair {
    pair_key key; /* first */
    rocl_distribution d;
    int64_t all; /* of the marker */
    double percent;
} pair;

struct rocl_marker_kernels {
    rocl_collector *c;
    rocl_strings *keys; /* their ids are the pairs */
    rocl_percentiles *times;
};

rocl_marker_kernels *rocl_marker_kernels_new(rocl_collector *c)
{
    rocl_marker_kernels *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->c = c;
    m->keys = rocl_strings_new();
    m->times = rocl_percentiles_new(c->trace->space, c->trace->opt.jobs);
    if (m->keys && m->times)
        return m;
    rocl_marker_kernels_free(m);
    return NULL;
}

void rocl_marker_kernels_free(rocl_marker_kernels *m)
{
    if (!m)
        return;
    rocl_strings_free(m->keys);
    rocl_percentiles_free(m->times);
    free(m);
}

rocl_status rocl_marker_kernels_add(rocl_marker_kernels *m, uint32_t marker, uint32_t kernel,
                                    int32_t rank, int64_t ns, rocl_error *err)
{
    const pair_key key = {marker, kernel, m->c->options->by_rank ? rank : -1};
    const uint32_t id = rocl_strings_put(m->keys, (const char *)&key, sizeof key);
    return id == ROCL_NONE ? rocl_fail_memory(err) : rocl_percentiles_add(m->times, 0, id, ns, err);
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
static const rocl_table_tab tab = {"attribution", "Attribution"};
const rocl_table_def rocl_marker_kernel_table = {&tab, "marker_kernels", "Kernels by marker",
                                                 ROCL_COLUMNS(pair_columns)};

static int compare_markers(const rocl_marker_kernels *m, const pair *p, const pair *q)
{
    const int c = rocl_compare_texts(m->c->trace, p->key.marker, q->key.marker);
    return c ? c : rocl_number_order(p->key.rank, q->key.rank);
}

static int compare_by_marker(const void *a, const void *b, void *ctx)
{
    return compare_markers(ctx, a, b);
}

/* Pairs that are equal in the requested order are grouped by marker. */
static int compare_pairs(const void *a, const void *b, void *ctx)
{
    const rocl_marker_kernels *m = ctx;
    const pair *p = a, *q = b;
    int c = rocl_compare_values(
        m->c->options->sort,
        &(rocl_sort_values){p->d.total, p->d.max, p->d.taken, rocl_distribution_average(&p->d)},
        &(rocl_sort_values){q->d.total, q->d.max, q->d.taken, rocl_distribution_average(&q->d)});
    c = c ? c : compare_markers(m, p, q);
    return c ? c : rocl_compare_texts(m->c->trace, p->key.kernel, q->key.kernel);
}

static void add_pair(void *into, const void *from)
{
    rocl_distribution_merge(&((pair *)into)->d, &((const pair *)from)->d);
}

rocl_status rocl_marker_kernels_put(rocl_marker_kernels *m, rocl_tables *out, rocl_error *err)
{
    size_t count;
    pair *pairs = rocl_groups_new(m->keys, sizeof(pair_key), sizeof *pairs, &count);
    rocl_status st = pairs ? ROCL_OK : rocl_fail_memory(err);
    const size_t n = count - 1;
    for (size_t i = 1; i <= n && st == ROCL_OK; i++)
        st = rocl_percentiles_describe(m->times, (uint32_t)i, &pairs[i].d, err);
    if (st == ROCL_OK) {
        pair *p = pairs + 1;
        qsort_r(p, n, sizeof *p, compare_by_marker, m);
        for (size_t i = 0, k = 0; i < n; i = k) {
            int64_t all = 0;
            for (; k < n && !compare_markers(m, &p[i], &p[k]); k++)
                all = rocl_add_saturated(all, p[k].d.total);
            for (size_t j = i; j < k; j++) {
                p[j].all = all;
                p[j].percent = rocl_percent(p[j].d.total, all);
            }
        }
        qsort_r(p, n, sizeof *p, compare_pairs, m);
        const rocl_report_rows r = rocl_begin_table(m->c, out, &rocl_marker_kernel_table, 0);
        rocl_set_note(&r, "a kernel counts for each marker around its launch");
        rocl_add_top_rows(&r, p, n, sizeof *p, add_pair);
    }
    free(pairs);
    return st;
}
