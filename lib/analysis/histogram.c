/* The report "histogram": how long the runs of each kernel took, as counts by name and class of
 * duration. Nothing else is kept, so that memory depends on how many names there are, not on how
 * many events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "analysis/keyed.h"

/* Classes begin at 0, 1, 2, 5, 10, 20, 50, ... ns; the last at 5e18. */
enum { CLASSES = 58, BAR = 20 };

/* Interned as bytes: no holes. */
typedef struct class_key {
    uint32_t name, class;
} class_key;

typedef struct class_sums {
    uint64_t count;
    int64_t total;
} class_sums;

static const rocl_member key_members[] = {ROCL_MEMBER(class_key, name, KEY_TEXT),
                                          ROCL_MEMBER_BELOW(class_key, class, KEY_NUMBER, CLASSES)};
static const rocl_member sum_members[] = {ROCL_MEMBER(class_sums, count, SUM_COUNT),
                                          ROCL_MEMBER(class_sums, total, SUM_INT)};
static const rocl_keyed_def classes = {.key_size = sizeof(class_key),
                                       .sum_size = sizeof(class_sums),
                                       ROCL_KEY_MEMBERS(key_members),
                                       ROCL_SUM_MEMBERS(sum_members)};

/* A class of a kernel. */
typedef struct class_row {
    class_key key;
    class_sums c;
    class_sums all;     /* of the kernel */
    bool first;         /* of the kernel */
    const char *others; /* what the rows that --top cuts off are called; NULL: it is not one */
    int64_t from, to;
    double count_percent, total_percent;
} class_row;

typedef struct histogram {
    rocl_collector c;
    int64_t begins[CLASSES];
    rocl_keyed sums;
} histogram;

/* ---- collecting ------------------------------------------------------------------------------ */

static rocl_status add_dispatches(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    histogram *h = self;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = &b->dispatches[i].e;
        const int64_t ns = e->end - e->start;
        class_key key = {.name = rocl_name_of(e)};
        while (key.class + 1 < CLASSES && ns >= h->begins[key.class + 1])
            key.class ++;
        class_sums *sums = rocl_keyed_at(&h->sums, worker, &key);
        if (!sums)
            return rocl_fail_memory(err);
        sums->count++;
        sums->total = rocl_add_saturated(sums->total, ns);
    }
    return ROCL_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* People read a name once. */
static rocl_datum field_kernel_name(const rocl_report_rows *r, const void *row)
{
    const class_row *c = row;
    if (!c->first && r->c->options->pictures)
        return rocl_datum_text(r->out, "", 0);
    return c->others ? rocl_field_string(r, &c->others) : rocl_field_text(r, &c->key.name);
}

/* The others are of any class. */
static rocl_datum field_class(const rocl_report_rows *r, const void *row)
{
    const class_row *c = row;
    if (c->others || (!c->first && r->c->options->pictures))
        return (rocl_datum){0};
    return rocl_field_class(r, &c->key.name);
}

/* In steps of 1/8 of a character, or of a whole one, rounded up, so that small values show. */
static rocl_datum field_bar(const rocl_report_rows *r, const void *row)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const class_row *c = row;
    const bool ascii = r->c->options->ascii;
    const uint64_t all = c->all.count, steps = ascii ? 1 : 8;
    uint64_t n = (c->c.count * BAR * steps + all - 1) / all;
    char text[3 * BAR + 4], *end = text;
    for (; n >= steps; n -= steps)
        end = stpcpy(end, ascii ? "#" : "█");
    end = stpcpy(end, eighths[n]);
    return rocl_datum_text(r->out, text, (size_t)(end - text));
}

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(class_row, field)

static const rocl_column columns[] = {
    {"name", "Kernel", ROCL_UNIT_TEXT, ROCL_ALWAYS, field_kernel_name, 0},
    {"from_ns", "From", ROCL_UNIT_NS, CELL(from)},
    {"to_ns", "To", ROCL_UNIT_NS, ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_known, class_row, to)},
    {"count", "Count", ROCL_UNIT_COUNT, CELL(c.count)},
    {"count_percent", "Of its calls %", ROCL_UNIT_PERCENT, ROCL_MINOR,
     ROCL_CELL(class_row, count_percent)},
    {"total_ns", "Total", ROCL_UNIT_NS, CELL(c.total)},
    {"total_percent", "Of its time %", ROCL_UNIT_PERCENT, ROCL_MINOR,
     ROCL_CELL(class_row, total_percent)},
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_MINOR, field_class, 0},
    {"bar", "Share of the count", ROCL_UNIT_TEXT, ROCL_IF_PICTURES, field_bar, 0},
};

static const rocl_table_def table = {ROCL_TAB(KERNELS), "histogram", "Durations of kernels",
                                     ROCL_COLUMNS(columns)};

/* The classes of a kernel stand together; the kernel with the most time comes first. */
static int compare_rows(const void *a, const void *b, void *trace)
{
    const class_row *x = a, *y = b;
    const int c = rocl_number_order(y->all.total, x->all.total);
    return c ? c : rocl_keyed_compare(&classes, trace, x, y);
}

/* The rows of the kernel that the first of n rows is of. */
static size_t count_classes(const class_row *rows, size_t n)
{
    size_t count = 1;
    while (count < n && rows[count].key.name == rows[0].key.name)
        count++;
    return count;
}

/* The classes of one kernel, or of the others, with the kernel's sums. */
static void put_classes(const histogram *h, const rocl_report_rows *r, class_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        class_row *row = &rows[i];
        row->first = !i;
        row->from = h->begins[row->key.class];
        row->to = row->key.class + 1 < CLASSES ? h->begins[row->key.class + 1] : -1;
        row->count_percent = rocl_percent((int64_t)row->c.count, (int64_t)row->all.count);
        row->total_percent = rocl_percent(row->c.total, row->all.total);
        rocl_add_row(r, row);
    }
}

static rocl_status finish_histogram(void *self, rocl_tables *out, rocl_error *err)
{
    histogram *h = self;
    size_t n, kernels = 0, i = 0;
    class_row *rows = rocl_keyed_rows(&h->sums, &h->c, sizeof *rows, &n);
    if (!rows)
        return rocl_fail_memory(err);
    qsort_r(rows, n, sizeof *rows, compare_rows, h->c.trace); /* by name: there are no sums yet */
    for (size_t count; i < n; i += count, kernels++) {
        class_sums all = {0};
        count = count_classes(rows + i, n - i);
        for (size_t k = i; k < i + count; k++)
            rocl_keyed_add(&classes, &all, &rows[k].c);
        for (size_t k = i; k < i + count; k++)
            rows[k].all = all;
    }
    qsort_r(rows, n, sizeof *rows, compare_rows, h->c.trace);
    const rocl_report_rows r = rocl_begin_table(&h->c, out, &table, 0);
    const size_t displayed = rocl_rows_shown(h->c.options, kernels);
    i = 0;
    for (size_t k = 0, count; k < displayed; k++, i += count) {
        count = count_classes(rows + i, n - i);
        put_classes(h, &r, rows + i, count);
    }
    if (displayed < kernels) { /* what --top cuts off is one kernel */
        char name[48];
        class_row others[CLASSES];
        class_sums all = {0};
        size_t used = 0;
        memset(others, 0, sizeof others);
        snprintf(name, sizeof name, "(%zu others)", kernels - displayed);
        for (; i < n; i++) {
            rocl_keyed_add(&classes, &others[rows[i].key.class].c, &rows[i].c);
            rocl_keyed_add(&classes, &all, &rows[i].c);
        }
        for (uint32_t c = 0; c < CLASSES; c++)
            if (others[c].c.count)
                others[used++] =
                    (class_row){.key.class = c, .c = others[c].c, .all = all, .others = name};
        put_classes(h, &r, others, used);
    }
    free(rows);
    return ROCL_OK;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_histogram(void *self, rocl_error *err)
{
    histogram *h = self;
    int64_t power = 1;
    for (unsigned i = 1; i < CLASSES; i += 3) {
        h->begins[i] = power;
        h->begins[i + 1] = 2 * power;
        h->begins[i + 2] = 5 * power;
        power *= i + 3 < CLASSES ? 10 : 1;
    }
    return rocl_keyed_open(&h->sums, &classes, &h->c, err);
}

const rocl_collector_def rocl_histogram_collector = {
    .tables = (const rocl_table_def *const[]){&table, NULL},
    .kinds = ROCL_BIT(ROCL_DISPATCH),
    .size = sizeof(histogram),
    .open = open_histogram,
    .add_batch = add_dispatches,
    .finish = finish_histogram,
    .gather = &rocl_gather_keyed,
};
