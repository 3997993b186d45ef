/* What streams and queues did, as tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/streams.h"

/* ---- order ---- */

static const rocl_capture *capture_of(const streams *s, const lane *l)
{
    return &s->c.trace->captures[l->key.capture]->pub;
}

static const rocl_process *process_of(const streams *s, const lane *l)
{
    return &capture_of(s, l)->processes[l->key.process];
}

static const rocl_queue *definition_of(const streams *s, const lane *l)
{
    const rocl_capture *c = capture_of(s, l);
    return l->key.kind == OF_STREAM ? &c->streams[l->key.index] : &c->queues[l->key.index];
}

static int by_place(const streams *s, const lane *a, const lane *b)
{
    int64_t x = process_of(s, a)->pid, y = process_of(s, b)->pid;
    if (a->key.capture != b->key.capture)
        return a->key.capture < b->key.capture ? -1 : 1;
    if (x != y)
        return x < y ? -1 : 1;
    if (a->key.process != b->key.process)
        return a->key.process < b->key.process ? -1 : 1;
    if (a->key.kind != b->key.kind)
        return a->key.kind < b->key.kind ? -1 : 1;
    x = a->key.kind == OF_NONE ? 0 : definition_of(s, a)->id;
    y = b->key.kind == OF_NONE ? 0 : definition_of(s, b)->id;
    if (x != y)
        return x < y ? -1 : 1;
    return a->key.index < b->key.index ? -1 : a->key.index > b->key.index;
}

static double order_of(const lane *l, rocl_sort_by by)
{
    switch (by) {
    case ROCL_BY_TOTAL:
        return (double)l->busy;
    case ROCL_BY_CALLS:
        return (double)(l->kernels + l->copies);
    case ROCL_BY_AVERAGE:
        return (double)l->busy / (double)(l->kernels + l->copies);
    case ROCL_BY_MAX:
        return (double)l->gap;
    case ROCL_BY_NAME:
        break;
    }
    return 0;
}

static int by_order(const void *a, const void *b, void *ctx)
{
    const streams *s = ctx;
    const lane *l = a, *m = b;
    double x = order_of(l, s->c.options->sort), y = order_of(m, s->c.options->sort);
    if (l->key.table != m->key.table)
        return l->key.table < m->key.table ? -1 : 1;
    return x != y ? (x > y ? -1 : 1) : by_place(s, l, m);
}

/* ---- tables ---- */

#define COLUMNS(c) (c), sizeof(c) / sizeof *(c)

enum { L_HOST = 1, L_RANK };

enum { LANE_COLUMNS = 11 };

#define LANE(title)                                                                                \
    {                                                                                              \
        {"pid", "Process", ROCL_UNIT_COUNT}, {"host", "Host", ROCL_UNIT_TEXT},                     \
            {"rank", "Rank", ROCL_UNIT_COUNT}, {"name", title, ROCL_UNIT_TEXT},                    \
            {"kernels", "Kernels", ROCL_UNIT_COUNT}, {"copies", "Copies", ROCL_UNIT_COUNT},        \
            {"busy_ns", "Busy", ROCL_UNIT_NS}, {"busy_percent", "Busy %", ROCL_UNIT_PERCENT},      \
            {"first_ns", "First start", ROCL_UNIT_NS}, {"last_ns", "Last end", ROCL_UNIT_NS},      \
        {                                                                                          \
            "longest_gap_ns", "Longest gap", ROCL_UNIT_NS                                          \
        }                                                                                          \
    }

static const rocl_table_column stream_columns[LANE_COLUMNS] = LANE("Stream");
static const rocl_table_column queue_columns[LANE_COLUMNS] = LANE("Queue");

static rocl_datum name_cell(const streams *s, rocl_tables *out, const lane *l)
{
    if (l->key.kind == OF_NONE)
        return (rocl_datum){0};
    return rocl_cell_of_text(s->c.trace, out, definition_of(s, l)->label);
}

static uint64_t shown_columns(const streams *s)
{
    uint64_t shown = UINT64_MAX;
    if (!s->c.options->by_rank)
        shown &= ~(UINT64_C(1) << L_RANK);
    return s->c.trace->machine_count > 1 ? shown : shown & ~(UINT64_C(1) << L_HOST);
}

static bool lane_row(const streams *s, rocl_tables *out, rocl_table *t, const lane *l)
{
    const rocl_datum cells[] = {rocl_datum_int(process_of(s, l)->pid),
                                rocl_cell_of_host(s->c.trace, out, capture_of(s, l)->machine),
                                rocl_id_datum(process_of(s, l)->rank),
                                name_cell(s, out, l),
                                rocl_datum_int((int64_t)l->kernels),
                                rocl_datum_int((int64_t)l->copies),
                                rocl_datum_int(l->busy),
                                rocl_cell_of_share(l->busy, l->last - l->first),
                                rocl_datum_int(l->first - s->first),
                                rocl_datum_int(l->last - s->first),
                                rocl_datum_int(l->gap)};
    return rocl_table_row_some(t, cells, sizeof cells / sizeof *cells, shown_columns(s));
}

static bool rest_row(const streams *s, rocl_tables *out, rocl_table *t, const lane *l, size_t n)
{
    lane sum = {0};
    for (size_t i = 0; i < n; i++) {
        sum.kernels += l[i].kernels;
        sum.copies += l[i].copies;
        sum.busy = rocl_add_saturated(sum.busy, l[i].busy);
        sum.gap = l[i].gap > sum.gap ? l[i].gap : sum.gap;
    }
    const rocl_datum cells[LANE_COLUMNS] = {[3] = rocl_others_datum(out, n),
                                            [4] = rocl_datum_int((int64_t)sum.kernels),
                                            [5] = rocl_datum_int((int64_t)sum.copies),
                                            [6] = rocl_datum_int(sum.busy),
                                            [10] = rocl_datum_int(sum.gap)};
    return rocl_table_row_some(t, cells, sizeof cells / sizeof *cells, shown_columns(s));
}

/* The lanes of one table; they follow each other. */
static rocl_status lane_table(const streams *s, rocl_tables *out, const char *key,
                              const char *title, const rocl_table_column *columns, const lane *l,
                              size_t n, rocl_error *err)
{
    size_t shown = rocl_rows_shown(s->c.options, n);
    rocl_table *t = rocl_tables_add_some(out, key, title, columns, LANE_COLUMNS, shown_columns(s));
    bool good = t != NULL;
    for (size_t i = 0; good && i < shown; i++)
        good = lane_row(s, out, t, &l[i]);
    if (good && shown < n)
        good = rest_row(s, out, t, l + shown, n - shown);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static const rocl_table_column activity_columns[] = {
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"wall_ns", "Wall", ROCL_UNIT_NS},
    {"busy_ns", "Busy", ROCL_UNIT_NS},
    {"most", "Most at once", ROCL_UNIT_COUNT},
    {"most_at_ns", "First at", ROCL_UNIT_NS},
    {"average", "Average", ROCL_UNIT_NUMBER},
    {"average_busy", "Average when busy", ROCL_UNIT_NUMBER},
};

static rocl_status activity_table(const streams *s, rocl_tables *out, rocl_error *err)
{
    rocl_table *t = rocl_tables_add(out, "stream_activity", "Streams active at once per GPU",
                                    COLUMNS(activity_columns));
    bool good = t != NULL;
    for (size_t i = 0; good && i < s->gpus.count; i++) {
        const activity *a = &s->activities[i];
        const rocl_datum none = {0};
        double wall = (double)(a->last - a->first);
        const rocl_datum cells[] = {rocl_cell_of_gpu(s->c.trace, out, &s->gpus.all[i]),
                                    rocl_datum_int(a->last - a->first),
                                    rocl_datum_int(a->busy),
                                    rocl_datum_int((int64_t)a->most),
                                    a->most ? rocl_datum_int(a->at - s->first) : none,
                                    wall > 0 ? rocl_datum_real(a->sum / wall) : none,
                                    a->busy ? rocl_datum_real(a->sum / (double)a->busy) : none};
        if (a->any)
            good = rocl_table_row_some(t, cells, sizeof cells / sizeof *cells, UINT64_MAX);
    }
    return good ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_streams_tables(streams *s, rocl_tables *out, rocl_error *err)
{
    qsort_r(s->lanes + 1, s->lane_count - 1, sizeof *s->lanes, by_order, s);
    size_t n = 0, count = s->lane_count - 1;
    const lane *l = s->lanes + 1;
    while (n < count && l[n].key.table == 0)
        n++;
    rocl_status st = lane_table(s, out, "streams", "Streams", stream_columns, l, n, err);
    if (st == ROCL_OK)
        st = lane_table(s, out, "queues", "Queues", queue_columns, l + n, count - n, err);
    return st == ROCL_OK ? activity_table(s, out, err) : st;
}
