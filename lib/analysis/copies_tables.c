/* The tables of copies: by direction and agents, and by size as well. */
#include <stdlib.h>

#include "analysis/summary.h"

/* Classes end at 1 KiB, 4 KiB, ..., 1 GiB; the last one has no end. */
enum { SIZE_CLASSES = 11 };

static int64_t limit_of(int size_class)
{
    return size_class < 0 ? 0 : INT64_C(1024) << 2 * size_class;
}

int rocl_size_class(uint64_t bytes)
{
    int c = 0;
    while (c < SIZE_CLASSES && bytes >= (uint64_t)limit_of(c))
        c++;
    return c;
}

enum {
    C_DIRECTION,
    C_SRC,
    C_DST,
    C_FROM_SIZE,
    C_TO_SIZE,
    C_RANK,
    C_STREAM,
    C_CALLS,
    C_BYTES,
    C_TOTAL,
    C_AVERAGE,
    C_MEDIAN,
    C_MAX,
    C_BANDWIDTH,
    C_MAX_BANDWIDTH,
    C_COLUMNS
};

static const rocl_table_column copy_columns[C_COLUMNS] = {
    [C_DIRECTION] = {"direction", "Direction", ROCL_UNIT_TEXT},
    [C_SRC] = {"src", "From", ROCL_UNIT_TEXT},
    [C_DST] = {"dst", "To", ROCL_UNIT_TEXT},
    [C_FROM_SIZE] = {"from_bytes", "Size from", ROCL_UNIT_BYTES},
    [C_TO_SIZE] = {"to_bytes", "below", ROCL_UNIT_BYTES},
    [C_RANK] = {"rank", "Rank", ROCL_UNIT_COUNT},
    [C_STREAM] = {"stream", "Stream", ROCL_UNIT_TEXT},
    [C_CALLS] = {"calls", "Calls", ROCL_UNIT_COUNT},
    [C_BYTES] = {"bytes", "Bytes", ROCL_UNIT_BYTES},
    [C_TOTAL] = {"total_ns", "Total", ROCL_UNIT_NS},
    [C_AVERAGE] = {"average_ns", "Average", ROCL_UNIT_NS},
    [C_MEDIAN] = {"median_ns", "Median", ROCL_UNIT_NS},
    [C_MAX] = {"max_ns", "Max", ROCL_UNIT_NS},
    [C_BANDWIDTH] = {"bandwidth", "Bandwidth", ROCL_UNIT_RATE},
    [C_MAX_BANDWIDTH] = {"max_bandwidth", "Max bandwidth", ROCL_UNIT_RATE},
};

static uint64_t shown_columns(const rocl_stats_options *o, bool sizes)
{
    uint64_t hidden = sizes ? 0 : UINT64_C(1) << C_FROM_SIZE | UINT64_C(1) << C_TO_SIZE;
    hidden |= o->by_rank ? 0 : UINT64_C(1) << C_RANK;
    return ~(hidden | (o->by_stream ? 0 : UINT64_C(1) << C_STREAM));
}

/* What is known of several groups as well. */
static rocl_datum copy_sum_cell(const summary_group *g, unsigned column)
{
    switch (column) {
    case C_CALLS:
        return rocl_datum_int((int64_t)g->d.taken);
    case C_BYTES:
        return rocl_datum_int(g->copied.bytes);
    case C_TOTAL:
        return rocl_datum_int(g->d.total);
    case C_AVERAGE:
        return rocl_datum_real(rocl_distribution_average(&g->d));
    case C_MAX:
        return rocl_datum_int(g->d.max);
    case C_BANDWIDTH:
        return g->d.total > 0 ? rocl_datum_real((double)g->copied.bytes * 1e9 / (double)g->d.total)
                              : (rocl_datum){0};
    case C_MAX_BANDWIDTH:
        return rocl_datum_real(g->copied.best_rate);
    default:
        return (rocl_datum){0};
    }
}

static rocl_datum copy_cell(const summary *s, rocl_tables *out, const summary_group *g,
                            unsigned column)
{
    switch (column) {
    case C_DIRECTION:
        return rocl_cell_of_text(s->c.trace, out, g->key.name);
    case C_SRC:
        return rocl_cell_of_text(s->c.trace, out, g->key.agent);
    case C_DST:
        return rocl_cell_of_text(s->c.trace, out, g->key.other_agent);
    case C_FROM_SIZE:
        return rocl_datum_int(limit_of(g->key.size_class - 1));
    case C_TO_SIZE:
        return g->key.size_class < SIZE_CLASSES ? rocl_datum_int(limit_of(g->key.size_class))
                                                : (rocl_datum){0};
    case C_RANK:
        return rocl_id_datum(g->key.rank);
    case C_STREAM:
        return g->key.stream ? rocl_cell_of_text(s->c.trace, out, g->key.stream) : (rocl_datum){0};
    case C_MEDIAN:
        return rocl_datum_int(g->d.median);
    default:
        return copy_sum_cell(g, column);
    }
}

static bool rest_row(rocl_tables *out, rocl_table *t, uint64_t shown, summary_group *const *list,
                     size_t n)
{
    summary_group sum = {.d = rocl_summary_sum(list, n)};
    rocl_datum cells[C_COLUMNS] = {[C_DIRECTION] = rocl_others_datum(out, n)};
    for (size_t i = 0; i < n; i++) {
        sum.copied.bytes = rocl_add_saturated(sum.copied.bytes, list[i]->copied.bytes);
        if (list[i]->copied.best_rate > sum.copied.best_rate)
            sum.copied.best_rate = list[i]->copied.best_rate;
    }
    for (unsigned c = C_CALLS; c < C_COLUMNS; c++)
        cells[c] = copy_sum_cell(&sum, c);
    return rocl_table_row_some(t, cells, C_COLUMNS, shown);
}

static rocl_status copy_table(const summary *s, rocl_tables *out, const char *key,
                              const char *title, summary_of of, rocl_error *err)
{
    size_t n = 0;
    uint64_t shown = shown_columns(s->c.options, of == OF_COPY_SIZES);
    rocl_table *t = rocl_tables_add_some(out, key, title, copy_columns, C_COLUMNS, shown);
    summary_group **list =
        t ? rocl_summary_select(s, 1u << ROCL_DOMAIN_MEMORY_COPIES, of, &n) : NULL;
    bool good = list;
    size_t rows = rocl_rows_shown(s->c.options, n);
    for (size_t i = 0; i < rows && good; i++) {
        rocl_datum cells[C_COLUMNS];
        for (unsigned c = 0; c < C_COLUMNS; c++)
            cells[c] = copy_cell(s, out, list[i], c);
        good = rocl_table_row_some(t, cells, C_COLUMNS, shown);
    }
    if (good && rows < n)
        good = rest_row(out, t, shown, list + rows, n - rows);
    free(list);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_copy_tables(const summary *s, rocl_tables *out, rocl_error *err)
{
    rocl_status st = copy_table(s, out, "copies", "Memory copies", OF_COPIES, err);
    return st == ROCL_OK && !s->c.options->brief
               ? copy_table(s, out, "copy_sizes", "Memory copies by size", OF_COPY_SIZES, err)
               : st;
}
