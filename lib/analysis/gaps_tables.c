/* The tables of idle times. */
#include <string.h>

#include "analysis/busy.h"

#define LANE                                                                                       \
    {"process", "Process", ROCL_UNIT_COUNT}, {"lane", "Lane", ROCL_UNIT_TEXT},                     \
    {                                                                                              \
        "name", "Name", ROCL_UNIT_TEXT                                                             \
    }

/* Those of LANE are for lanes only. */
static const rocl_table_column gap_columns[] = {
    LANE,
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"gaps", "Gaps", ROCL_UNIT_COUNT},
    {"total_ns", "Total", ROCL_UNIT_NS},
    {"wall_percent", "Of wall %", ROCL_UNIT_PERCENT},
    {"min_ns", "Min", ROCL_UNIT_NS},
    {"median_ns", "Median", ROCL_UNIT_NS},
    {"p90_ns", "P90", ROCL_UNIT_NS},
    {"p99_ns", "P99", ROCL_UNIT_NS},
    {"max_ns", "Max", ROCL_UNIT_NS},
};

static rocl_status gap_row(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                           const rocl_distribution *d, rocl_error *err)
{
    rocl_datum *r = rocl_busy_row(b, out, t, s);
    if (!r)
        return rocl_fail_memory(err);
    r[1] = rocl_datum_int((int64_t)s->idle.count);
    r[2] = rocl_datum_int(s->idle.total);
    r[3] = rocl_cell_of_share(s->idle.total, s->idle.last - s->idle.first);
    if (!s->idle.count)
        return ROCL_OK;
    r[4] = rocl_datum_int(d->min);
    r[5] = rocl_datum_int(d->median);
    r[6] = rocl_datum_int(d->p90);
    r[7] = rocl_datum_int(d->p99);
    r[8] = rocl_datum_int(d->max);
    return ROCL_OK;
}

static const rocl_table_column bucket_columns[] = {
    LANE,
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"bucket", "Gap", ROCL_UNIT_TEXT},
    {"count", "Count", ROCL_UNIT_COUNT},
    {"total_ns", "Total", ROCL_UNIT_NS},
    {"percent", "Of idle %", ROCL_UNIT_PERCENT},
};

static rocl_status bucket_rows(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                               rocl_error *err)
{
    static const char *const names[BUCKETS] = {"< 1 us",  "< 10 us",  "< 100 us", "< 1 ms",
                                               "< 10 ms", "< 100 ms", "< 1 s",    ">= 1 s"};
    for (unsigned i = 0; i < BUCKETS; i++) {
        rocl_datum *r = s->idle.bucket_count[i] ? rocl_busy_row(b, out, t, s) : NULL;
        if (!s->idle.bucket_count[i])
            continue;
        if (!r)
            return rocl_fail_memory(err);
        r[1] = rocl_datum_text(out, names[i], strlen(names[i]));
        r[2] = rocl_datum_int((int64_t)s->idle.bucket_count[i]);
        r[3] = rocl_datum_int(s->idle.bucket_total[i]);
        r[4] = rocl_cell_of_share(s->idle.bucket_total[i], s->idle.total);
    }
    return ROCL_OK;
}

static const rocl_table_column longest_columns[] = {
    LANE,
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"start_ns", "Start", ROCL_UNIT_COUNT},
    {"gap_ns", "Gap", ROCL_UNIT_NS},
    {"before", "Ran before", ROCL_UNIT_TEXT},
    {"after", "Ran after", ROCL_UNIT_TEXT},
    {"class", "Class", ROCL_UNIT_TEXT},
    {"call", "Ended by", ROCL_UNIT_TEXT},
    {"host", "Host meanwhile", ROCL_UNIT_TEXT},
    {"host_ns", "For", ROCL_UNIT_NS},
};

enum { CAUSE_COLUMNS = 4 };

static void fill_cause(const busy *b, rocl_tables *out, rocl_datum *r, const gap *g)
{
    r[0] = rocl_cell_of_string(out, rocl_gap_class_name(g->why));
    if (g->call != ROCL_NONE)
        r[1] = rocl_cell_of_text(b->c.trace, out, g->call);
    if (g->host != ROCL_NONE) {
        r[2] = rocl_cell_of_text(b->c.trace, out, g->host);
        r[3] = rocl_datum_int(g->host_ns);
    }
}

static rocl_status longest_rows(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                                rocl_error *err)
{
    size_t limit = b->c.options->top ? b->c.options->top : LONGEST;
    if (b->c.options->brief)
        limit = 3;
    for (unsigned i = 0; i < s->idle.longest_count && i < limit; i++) {
        const gap *g = &s->idle.longest[i];
        rocl_datum *r = rocl_busy_row(b, out, t, s);
        if (!r)
            return rocl_fail_memory(err);
        r[1] = rocl_datum_int(g->start);
        r[2] = rocl_datum_int(g->length);
        r[3] = rocl_cell_of_text(b->c.trace, out, g->before);
        r[4] = rocl_cell_of_text(b->c.trace, out, g->after);
        if (!b->c.options->brief)
            fill_cause(b, out, r + 5, g);
    }
    return ROCL_OK;
}

static const rocl_table_column class_columns[] = {
    LANE,
    {"gpu", "GPU", ROCL_UNIT_TEXT},
    {"class", "Class", ROCL_UNIT_TEXT},
    {"count", "Count", ROCL_UNIT_COUNT},
    {"total_ns", "Total", ROCL_UNIT_NS},
    {"percent", "Of idle %", ROCL_UNIT_PERCENT},
};

static rocl_status class_row(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                             const char *name, uint64_t count, int64_t total, rocl_datum percent,
                             rocl_error *err)
{
    rocl_datum *r = rocl_busy_row(b, out, t, s);
    if (!r)
        return rocl_fail_memory(err);
    r[1] = rocl_cell_of_string(out, name);
    r[2] = rocl_datum_int((int64_t)count);
    r[3] = rocl_datum_int(total);
    r[4] = percent;
    return ROCL_OK;
}

/* Every gap is in one class. The tail is no gap, since no work ends it. */
static rocl_status class_rows(const busy *b, rocl_tables *out, rocl_table *t, const sweep *s,
                              rocl_error *err)
{
    const idleness *i = &s->idle;
    int64_t all = 0, tail = i->any && !b->lanes ? i->program_end - i->last : 0;
    rocl_status st = ROCL_OK;
    for (int c = 0; c < GAP_CLASSES && st == ROCL_OK; c++) {
        all += i->class_total[c];
        if (i->class_count[c])
            st = class_row(b, out, t, s, rocl_gap_class_name((gap_class)c), i->class_count[c],
                           i->class_total[c], rocl_cell_of_share(i->class_total[c], i->total), err);
    }
    if (st == ROCL_OK && all != i->total)
        return rocl_fail(err, ROCL_INTERNAL, "classes of gaps do not add up");
    return st == ROCL_OK && tail > 0
               ? class_row(b, out, t, s, "tail", 1, tail, (rocl_datum){0}, err)
               : st;
}

/* Columns of places; of GPUs they begin behind those of lanes. */
#define PLACE_COLUMNS(b, c)                                                                        \
    ((b)->lanes ? (c) : (c) + LANE_COLUMNS),                                                       \
        sizeof(c) / sizeof *(c) - ((b)->lanes ? 0 : LANE_COLUMNS)

static rocl_status gap_table(busy *b, rocl_tables *out, rocl_error *err)
{
    rocl_table *t =
        rocl_tables_add(out, b->lanes ? "lane_gaps" : "gaps",
                        b->lanes ? "Idle gaps per stream and queue" : "Idle gaps per GPU",
                        PLACE_COLUMNS(b, gap_columns));
    rocl_status st = t ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < b->sweep_count && st == ROCL_OK; i++) {
        rocl_distribution d;
        st = rocl_samples_describe(b->lengths, (uint32_t)i, &d, err);
        if (st == ROCL_OK)
            st = gap_row(b, out, t, &b->sweeps[i], &d, err);
    }
    return st;
}

rocl_status rocl_gap_tables(busy *b, rocl_tables *out, rocl_error *err)
{
    rocl_status st = gap_table(b, out, err);
    if (st == ROCL_OK && !b->c.options->brief)
        st = rocl_busy_table(b, out, b->lanes ? "lane_gap_buckets" : "gap_buckets",
                             b->lanes ? "Idle gaps of streams and queues by length"
                                      : "Idle gaps by length",
                             PLACE_COLUMNS(b, bucket_columns), bucket_rows, err);
    if (st == ROCL_OK)
        st = rocl_busy_table(b, out, b->lanes ? "lane_gap_classes" : "gap_classes",
                             b->lanes ? "Idle gaps of streams and queues by cause"
                                      : "Idle gaps by cause",
                             PLACE_COLUMNS(b, class_columns), class_rows, err);
    if (st == ROCL_OK)
        st = rocl_busy_table(
            b, out, b->lanes ? "longest_lane_gaps" : "longest_gaps",
            b->lanes ? "Longest idle gaps of streams and queues" : "Longest idle gaps",
            PLACE_COLUMNS(b, longest_columns) - (b->c.options->brief ? CAUSE_COLUMNS : 0),
            longest_rows, err);
    return st;
}
