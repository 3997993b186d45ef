/* How long the runs of each kernel took: counts by name and class of duration. Nothing else is
 * kept, so that memory depends on how many names there are, not on how many events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "base/array.h"
#include "base/map.h"

/* Classes begin at 0, 1, 2, 5, 10, 20, 50, ... ns; the last at 5e18. */
enum { CLASSES = 58, CLASS_BITS = 6, BAR = 20 };

typedef struct class
{
    int64_t count, total;
} class;

/* Of a worker: classes that occur, found by name and number. */
typedef struct tally {
    rocl_map index;
    class *classes;
    size_t count, cap;
} tally;

typedef struct kernel {
    const char *name;
    size_t len;
    int64_t count, total;
    class classes[CLASSES];
} kernel;

typedef struct histogram {
    rocl_collector c;
    int64_t begins[CLASSES];
    tally *tallies; /* by worker */
    rocl_map index; /* in the end: name to kernel */
    kernel *kernels;
    size_t count, cap;
} histogram;

/* ---- taking events ---- */

static void fill_begins(int64_t *begins)
{
    int64_t power = 1;
    begins[0] = 0;
    for (unsigned i = 1; i < CLASSES; i += 3) {
        begins[i] = power;
        begins[i + 1] = 2 * power;
        begins[i + 2] = 5 * power;
        power *= i + 3 < CLASSES ? 10 : 1;
    }
}

static unsigned class_of(const histogram *h, int64_t ns)
{
    unsigned n = 0;
    while (n + 1 < CLASSES && ns >= h->begins[n + 1])
        n++;
    return n;
}

static class *find_class(tally *t, uint32_t name, unsigned n)
{
    uint64_t key = (uint64_t)name << CLASS_BITS | n;
    uint32_t at = rocl_map_get(&t->index, key, UINT32_MAX);
    if (at != UINT32_MAX)
        return &t->classes[at];
    if (!ROCL_GROW(t->classes, t->cap, t->count + 1) ||
        !rocl_map_put(&t->index, key, (uint32_t)t->count))
        return NULL;
    t->classes[t->count] = (class){0};
    return &t->classes[t->count++];
}

static rocl_status take(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    histogram *h = self;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = &b->dispatches[i].e;
        int64_t ns = e->end - e->start;
        class *c = find_class(&h->tallies[worker], e->name, class_of(h, ns));
        if (!c)
            return rocl_fail_memory(err);
        c->count++;
        c->total = rocl_add_saturated(c->total, ns);
    }
    return ROCL_OK;
}

/* ---- kernels ---- */

static kernel *find_kernel(histogram *h, uint32_t name)
{
    uint32_t at = rocl_map_get(&h->index, name, UINT32_MAX);
    if (at != UINT32_MAX)
        return &h->kernels[at];
    if (!ROCL_GROW(h->kernels, h->cap, h->count + 1) ||
        !rocl_map_put(&h->index, name, (uint32_t)h->count))
        return NULL;
    kernel *k = &h->kernels[h->count++];
    *k = (kernel){0};
    k->name = rocl_strings_get(h->c.trace->strings, name, &k->len);
    return k;
}

static void add_class(kernel *k, unsigned n, const class *c)
{
    k->count += c->count;
    k->total = rocl_add_saturated(k->total, c->total);
    k->classes[n].count += c->count;
    k->classes[n].total = rocl_add_saturated(k->classes[n].total, c->total);
}

/* Sums do not depend on the order in which they are made, so any order will do. */
static bool join(histogram *h, const tally *t)
{
    size_t pos = 0;
    uint64_t key;
    uint32_t at;
    while (rocl_map_next(&t->index, &pos, &key, &at)) {
        kernel *k = find_kernel(h, (uint32_t)(key >> CLASS_BITS));
        if (!k)
            return false;
        add_class(k, (unsigned)(key & ((1 << CLASS_BITS) - 1)), &t->classes[at]);
    }
    return true;
}

static int by_total(const void *a, const void *b)
{
    const kernel *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    int order = memcmp(x->name, y->name, x->len < y->len ? x->len : y->len);
    return order ? order : x->len < y->len ? -1 : x->len > y->len;
}

/* What --top cuts off becomes one kernel. */
static void join_others(histogram *h, size_t top, char *name, size_t size)
{
    if (!top || h->count <= top)
        return;
    kernel others = {.name = name};
    others.len = (size_t)snprintf(name, size, "(%zu others)", h->count - top);
    for (size_t i = top; i < h->count; i++)
        for (unsigned n = 0; n < CLASSES; n++)
            add_class(&others, n, &h->kernels[i].classes[n]);
    h->kernels[top] = others;
    h->count = top + 1;
}

/* ---- rows ---- */

static const rocl_table_column data_columns[] = {
    {"name", "Kernel", ROCL_UNIT_TEXT},
    {"from_ns", "From", ROCL_UNIT_NS},
    {"to_ns", "To", ROCL_UNIT_NS},
    {"count", "Count", ROCL_UNIT_COUNT},
    {"count_percent", "Count %", ROCL_UNIT_PERCENT},
    {"total_ns", "Total", ROCL_UNIT_NS},
    {"total_percent", "Total %", ROCL_UNIT_PERCENT},
};

static const rocl_table_column picture_columns[] = {
    {"name", "Kernel", ROCL_UNIT_TEXT},
    {"from_ns", "From", ROCL_UNIT_NS},
    {"to_ns", "To", ROCL_UNIT_NS},
    {"count", "Count", ROCL_UNIT_COUNT},
    {"count_percent", "Count %", ROCL_UNIT_PERCENT},
    {"total_ns", "Total", ROCL_UNIT_NS},
    {"total_percent", "Total %", ROCL_UNIT_PERCENT},
    {"bar", "Share of the count", ROCL_UNIT_TEXT},
};

/* In steps of 1/8 of a character, or of a whole one, rounded up: what is there shows. */
static rocl_datum bar(rocl_tables *out, int64_t count, int64_t all, bool ascii)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int64_t steps = ascii ? 1 : 8, n = (count * BAR * steps + all - 1) / all;
    char text[3 * BAR + 4];
    size_t len = 0;
    for (; n >= steps; n -= steps)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", ascii ? "#" : "█");
    len += (size_t)snprintf(text + len, sizeof text - len, "%s", parts[n]);
    return rocl_datum_text(out, text, len);
}

/* People read a name once. */
static rocl_datum name_cell(const histogram *h, rocl_tables *out, const kernel *k, unsigned n)
{
    bool first = true;
    for (unsigned i = 0; i < n; i++)
        first = first && !k->classes[i].count;
    return rocl_datum_text(out, k->name, first || !h->c.options->pictures ? k->len : 0);
}

static rocl_status class_row(const histogram *h, rocl_tables *out, rocl_table *t, const kernel *k,
                             unsigned n, rocl_error *err)
{
    const class *c = &k->classes[n];
    rocl_datum *r = rocl_table_row(t);
    if (!r)
        return rocl_fail_memory(err);
    r[0] = name_cell(h, out, k, n);
    r[1] = rocl_datum_int(h->begins[n]);
    r[2] = n + 1 < CLASSES ? rocl_datum_int(h->begins[n + 1]) : (rocl_datum){0};
    r[3] = rocl_datum_int(c->count);
    r[4] = rocl_cell_of_share(c->count, k->count);
    r[5] = rocl_datum_int(c->total);
    r[6] = rocl_cell_of_share(c->total, k->total);
    if (h->c.options->pictures)
        r[7] = bar(out, c->count, k->count, h->c.options->ascii);
    return ROCL_OK;
}

static rocl_status rows(const histogram *h, rocl_tables *out, rocl_table *t, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < h->count; i++)
        for (unsigned n = 0; n < CLASSES && st == ROCL_OK; n++)
            if (h->kernels[i].classes[n].count)
                st = class_row(h, out, t, &h->kernels[i], n, err);
    return st;
}

/* ---- the end ---- */

#define COLUMNS(c) (c), sizeof(c) / sizeof *(c)

static rocl_table *add_table(rocl_tables *out, bool pictures)
{
    static const char *const title = "Durations of kernels";
    if (pictures)
        return rocl_tables_add(out, "histogram", title, COLUMNS(picture_columns));
    return rocl_tables_add(out, "histogram", title, COLUMNS(data_columns));
}

static rocl_status finish(void *self, rocl_tables *out, rocl_error *err)
{
    histogram *h = self;
    char others[48];
    rocl_table *t = add_table(out, h->c.options->pictures);
    if (!t)
        return rocl_fail_memory(err);
    for (unsigned i = 0; i < h->c.trace->opt.jobs; i++)
        if (!join(h, &h->tallies[i]))
            return rocl_fail_memory(err);
    if (h->count)
        qsort(h->kernels, h->count, sizeof *h->kernels, by_total);
    join_others(h, h->c.options->top, others, sizeof others);
    return rows(h, out, t, err);
}

static void free_histogram(void *self)
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

static rocl_status open_histogram(void *self, rocl_error *err)
{
    histogram *h = self;
    h->tallies = calloc(h->c.trace->opt.jobs, sizeof *h->tallies);
    fill_begins(h->begins);
    return h->tallies ? ROCL_OK : rocl_fail_memory(err);
}

const rocl_collector_def rocl_histogram_collector = {
    .reports = 1u << ROCL_REPORT_HISTOGRAM,
    .kinds = ROCL_BIT(ROCL_DISPATCH),
    .size = sizeof(histogram),
    .open = open_histogram,
    .add_batch = take,
    .finish = finish,
    .close = free_histogram,
};
