/* The report "histogram": how long the runs of each kernel took, as counts by name and class of
 * duration. Nothing else is kept, so that memory depends on how many names there are, not on how
 * many events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/gather.h"
#include "base/array.h"
#include "base/map.h"

/* Classes begin at 0, 1, 2, 5, 10, 20, 50, ... ns; the last at 5e18. */
enum { CLASSES = 58, CLASS_BITS = 6, BAR = 20 };
_Static_assert(CLASSES <= 1 << CLASS_BITS, "a class fits into a key beside its name");

typedef struct class
{
    int64_t count, total;
} class;

/* Of a worker: the classes that occur, by name << CLASS_BITS | class. */
typedef struct tally {
    rocl_map index;
    class *classes;
    size_t count, cap;
} tally;

typedef struct kernel {
    const char *name;
    size_t name_len;
    bool others; /* it stands for rows that --top cuts off */
    class all, classes[CLASSES];
} kernel;

typedef struct histogram {
    rocl_collector c;
    int64_t begins[CLASSES];
    tally *tallies; /* by worker */
    rocl_map index; /* of kernels by name, in the end */
    kernel *kernels;
    size_t count, cap;
} histogram;

static void add_class(class *to, const class *c)
{
    to->count += c->count;
    to->total = rocl_add_saturated(to->total, c->total);
}

/* ---- collecting ------------------------------------------------------------------------------ */

/* NULL: memory is out. */
static class *find_class(tally *t, uint32_t name, unsigned n)
{
    uint64_t key = (uint64_t)name << CLASS_BITS | n;
    uint32_t index = rocl_map_get(&t->index, key, UINT32_MAX);
    if (index != UINT32_MAX)
        return &t->classes[index];
    if (!ROCL_GROW(t->classes, t->cap, t->count + 1) ||
        !rocl_map_put(&t->index, key, (uint32_t)t->count))
        return NULL;
    t->classes[t->count] = (class){0};
    return &t->classes[t->count++];
}

static rocl_status add_dispatches(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    histogram *h = self;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = &b->dispatches[i].e;
        int64_t ns = e->end - e->start;
        unsigned n = 0;
        while (n + 1 < CLASSES && ns >= h->begins[n + 1])
            n++;
        class *c = find_class(&h->tallies[worker], e->name, n);
        if (!c)
            return rocl_fail_memory(err);
        add_class(c, &(class){1, ns});
    }
    return ROCL_OK;
}

/* Sums do not depend on the order in which they are made, so any order will do. */
static rocl_status join_tallies(histogram *h, rocl_error *err)
{
    for (unsigned w = 0; w < h->c.trace->opt.jobs; w++) {
        const tally *t = &h->tallies[w];
        size_t pos = 0;
        uint64_t key;
        uint32_t index;
        while (rocl_map_next(&t->index, &pos, &key, &index)) {
            const uint32_t name = (uint32_t)(key >> CLASS_BITS);
            uint32_t k = rocl_map_get(&h->index, name, UINT32_MAX);
            if (k == UINT32_MAX) {
                k = (uint32_t)h->count;
                if (!ROCL_GROW(h->kernels, h->cap, h->count + 1) ||
                    !rocl_map_put(&h->index, name, k))
                    return rocl_fail_memory(err);
                h->kernels[k] = (kernel){0};
                h->kernels[k].name =
                    rocl_strings_get(h->c.trace->strings, name, &h->kernels[k].name_len);
                h->count++;
            }
            add_class(&h->kernels[k].all, &t->classes[index]);
            add_class(&h->kernels[k].classes[key & ((1 << CLASS_BITS) - 1)], &t->classes[index]);
        }
    }
    return ROCL_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

static int compare_by_total(const void *a, const void *b)
{
    const kernel *x = a, *y = b;
    int c = rocl_number_order(y->all.total, x->all.total);
    return c ? c : rocl_compare_bytes(x->name, x->name_len, y->name, y->name_len);
}

/* A class of a kernel. */
typedef struct class_row {
    const kernel *kernel;
    bool first; /* of the kernel */
    int64_t from, to;
    class c;
    double count_percent, total_percent;
} class_row;

/* People read a name once. */
static rocl_datum field_kernel_name(const rocl_report_rows *r, const void *row)
{
    const class_row *c = row;
    bool named = c->first || !r->c->options->pictures;
    return rocl_datum_text(r->out, c->kernel->name, named ? c->kernel->name_len : 0);
}

/* The others are of any class. */
static rocl_datum field_class(const rocl_report_rows *r, const void *row)
{
    const class_row *c = row;
    if (c->kernel->others || (!c->first && r->c->options->pictures))
        return (rocl_datum){0};
    return rocl_class_datum(r, c->kernel->name, c->kernel->name_len);
}

/* In steps of 1/8 of a character, or of a whole one, rounded up, so that small values show. */
static rocl_datum field_bar(const rocl_report_rows *r, const void *row)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const class_row *c = row;
    const bool ascii = r->c->options->ascii;
    const int64_t all = c->kernel->all.count, steps = ascii ? 1 : 8;
    int64_t n = (c->c.count * BAR * steps + all - 1) / all;
    char text[3 * BAR + 4], *end = text;
    for (; n >= steps; n -= steps)
        end = stpcpy(end, ascii ? "#" : "█");
    end = stpcpy(end, parts[n]);
    return rocl_datum_text(r->out, text, (size_t)(end - text));
}

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(class_row, field)

static const rocl_column columns[] = {
    {"name", "Kernel", ROCL_UNIT_TEXT, ROCL_ALWAYS, field_kernel_name, 0},
    {"from_ns", "From", ROCL_UNIT_NS, CELL(from)},
    {"to_ns", "To", ROCL_UNIT_NS, ROCL_ALWAYS, ROCL_CELL_BY(rocl_field_known, class_row, to)},
    {"count", "Count", ROCL_UNIT_COUNT, CELL(c.count)},
    {"count_percent", "Count %", ROCL_UNIT_PERCENT, ROCL_MINOR,
     ROCL_CELL(class_row, count_percent)},
    {"total_ns", "Total", ROCL_UNIT_NS, CELL(c.total)},
    {"total_percent", "Total %", ROCL_UNIT_PERCENT, ROCL_MINOR,
     ROCL_CELL(class_row, total_percent)},
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_MINOR, field_class, 0},
    {"bar", "Share of the count", ROCL_UNIT_TEXT, ROCL_IF_PICTURES, field_bar, 0},
};

static const rocl_table_def table = {&rocl_histogram_report.tab, "histogram",
                                     "Durations of kernels", ROCL_COLUMNS(columns)};

const rocl_report_def rocl_histogram_report = {"histogram",
                                               {"histogram", "Histogram"},
                                               "kernels by name and duration",
                                               (const rocl_table_def *const[]){&table, NULL}};

static void add_kernel_rows(const histogram *h, const rocl_report_rows *r, const kernel *k)
{
    class_row row = {.kernel = k, .first = true};
    for (unsigned n = 0; n < CLASSES; n++) {
        if (!k->classes[n].count)
            continue;
        row.c = k->classes[n];
        row.from = h->begins[n];
        row.to = n + 1 < CLASSES ? h->begins[n + 1] : -1;
        row.count_percent = rocl_percent(row.c.count, k->all.count);
        row.total_percent = rocl_percent(row.c.total, k->all.total);
        rocl_add_row(r, &row);
        row.first = false;
    }
}

static rocl_status finish_histogram(void *self, rocl_tables *out, rocl_error *err)
{
    histogram *h = self;
    rocl_report_rows r = rocl_begin_table(&h->c, out, &table, 0);
    rocl_status st = join_tallies(h, err);
    if (st != ROCL_OK)
        return st;
    if (h->count)
        qsort(h->kernels, h->count, sizeof *h->kernels, compare_by_total);
    const size_t displayed = rocl_rows_shown(h->c.options, h->count);
    for (size_t i = 0; i < displayed; i++)
        add_kernel_rows(h, &r, &h->kernels[i]);
    if (displayed < h->count) { /* what --top cuts off is one kernel */
        char name[48];
        kernel others = {.name = name, .others = true};
        others.name_len = (size_t)snprintf(name, sizeof name, "(%zu others)", h->count - displayed);
        for (size_t i = displayed; i < h->count; i++) {
            add_class(&others.all, &h->kernels[i].all);
            for (unsigned n = 0; n < CLASSES; n++)
                add_class(&others.classes[n], &h->kernels[i].classes[n]);
        }
        add_kernel_rows(h, &r, &others);
    }
    return ROCL_OK;
}

/* ---- of a team ------------------------------------------------------------------------------- */

static rocl_status put_classes(void *self, rocl_put *to, rocl_error *err)
{
    const histogram *h = self;
    rocl_status st = ROCL_OK;
    for (unsigned w = 0; w < h->c.trace->opt.jobs; w++) {
        const tally *t = &h->tallies[w];
        size_t pos = 0;
        uint64_t key;
        uint32_t index;
        while (st == ROCL_OK && rocl_map_next(&t->index, &pos, &key, &index)) {
            rocl_put_text(to, (uint32_t)(key >> CLASS_BITS));
            rocl_put_number(to, key & ((1 << CLASS_BITS) - 1));
            rocl_put_number(to, (uint64_t)t->classes[index].count);
            rocl_put_number(to, (uint64_t)t->classes[index].total);
            st = rocl_put_piece(to, err);
        }
    }
    return st;
}

static rocl_status take_classes(void *self, unsigned rank, rocl_taken *from, rocl_error *err)
{
    histogram *h = self;
    (void)rank;
    while (!rocl_taken_all(from)) {
        const uint32_t name = rocl_take_text(from);
        const uint64_t n = rocl_take_number(from);
        const class taken = {(int64_t)rocl_take_number(from), (int64_t)rocl_take_number(from)};
        if (from->r.bad || n >= CLASSES)
            return rocl_team_bad_message(err);
        class *c = find_class(&h->tallies[0], name, (unsigned)n);
        if (!c)
            return rocl_fail_memory(err);
        add_class(c, &taken);
    }
    return ROCL_OK;
}

static const rocl_gather_def gather_histogram = {.put = put_classes, .take = take_classes};

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_histogram(void *self, rocl_error *err)
{
    histogram *h = self;
    h->tallies = calloc(h->c.trace->opt.jobs, sizeof *h->tallies);
    int64_t power = 1;
    for (unsigned i = 1; i < CLASSES; i += 3) {
        h->begins[i] = power;
        h->begins[i + 1] = 2 * power;
        h->begins[i + 2] = 5 * power;
        power *= i + 3 < CLASSES ? 10 : 1;
    }
    return h->tallies ? ROCL_OK : rocl_fail_memory(err);
}

static void close_histogram(void *self)
{
    histogram *h = self;
    for (unsigned i = 0; h->tallies && i < h->c.trace->opt.jobs; i++) {
        rocl_map_free(&h->tallies[i].index);
        free(h->tallies[i].classes);
    }
    free(h->tallies);
    rocl_map_free(&h->index);
    free(h->kernels);
}

const rocl_collector_def rocl_histogram_collector = {
    .reports = 1u << ROCL_REPORT_HISTOGRAM,
    .kinds = ROCL_BIT(ROCL_DISPATCH),
    .size = sizeof(histogram),
    .open = open_histogram,
    .add_batch = add_dispatches,
    .finish = finish_histogram,
    .close = close_histogram,
    .gather = &gather_histogram,
};
