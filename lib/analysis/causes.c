/* Causes of a difference. A name that both traces have changes by
 *
 *     calls    = (calls in B - calls in A) * average in A
 *     duration = total in B - total in A - calls
 *
 * and the GPUs by what is in gpu_time.h: the changes of all names, of work that ran beside other
 * work, and of idle time have the change of the whole as their sum. */
#include "analysis/causes.h"

#include <inttypes.h>
#include <stdlib.h>

const rocl_table_tab rocl_compare_tab = {"compare", "From A to B by domain and name"};

/* ---- sums ------------------------------------------------------------------------------------ */

static rocl_i128 distance(rocl_i128 v)
{
    return v < 0 ? -v : v;
}

int rocl_compare_changes(int64_t a, int64_t b)
{
    const rocl_i128 x = distance(a), y = distance(b);
    return (x < y) - (x > y);
}

int64_t rocl_narrow(rocl_i128 v)
{
    return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

void rocl_split_change(const rocl_distribution *a, const rocl_distribution *b, rocl_i128 *calls,
                       rocl_i128 *duration)
{
    const rocl_i128 more = (rocl_i128)b->taken - (rocl_i128)a->taken;
    *calls = more * a->total / (rocl_i128)a->taken;
    *duration = (rocl_i128)b->sum - (rocl_i128)a->sum - *calls;
}

void rocl_causes_add(rocl_causes *c, rocl_cause cause, unsigned class, rocl_view name,
                     const rocl_i128 total[2], rocl_i128 change)
{
    rocl_cause_sum *s = &c->of[cause][cause < ROCL_CAUSE_KERNELS ? class : 0];
    s->total[0] += total[0];
    s->total[1] += total[1];
    if (change == 0)
        return;
    const rocl_i128 is = distance(change), was = distance(s->most_change);
    if (is > was || (is == was && rocl_compare_views(name, s->most) < 0)) {
        s->most_change = change;
        s->most = name;
    }
    s->change += change;
    s->names++;
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct cause_row {
    rocl_cause cause; /* ROCL_CAUSES: all together */
    const char *class;
    uint64_t names;
    int64_t total[2], change, most_change; /* INT64_MIN: makes no sense */
    double percent;
    rocl_view most;
} cause_row;

static rocl_datum field_cause(const rocl_report_rows *r, const void *field)
{
    static const char *const names[] = {[ROCL_CAUSE_CALLS] = "more or fewer calls",
                                        [ROCL_CAUSE_DURATION] = "longer or shorter",
                                        [ROCL_CAUSE_ADDED] = "added kernels",
                                        [ROCL_CAUSE_REMOVED] = "removed kernels",
                                        [ROCL_CAUSE_RENAMED] = "renamed kernels",
                                        [ROCL_CAUSE_COPIES] = "copies",
                                        [ROCL_CAUSE_BESIDE] = "work at once",
                                        [ROCL_CAUSE_IDLE] = "idle",
                                        [ROCL_CAUSES] = "all together"};
    return rocl_field_string(r, &names[*(const rocl_cause *)field]);
}

#define CELL(field)   ROCL_CELL(cause_row, field)
#define BY(fn, field) ROCL_CELL_BY(rocl_field_##fn, cause_row, field)

static const rocl_column columns[] = {
    {"cause", "Cause", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL_BY(field_cause, cause_row, cause)},
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(class)},
    {"names", "Names", ROCL_UNIT_COUNT, ROCL_ALWAYS, BY(some, names)},
    {"total_a_ns", "A", ROCL_UNIT_NS, ROCL_ALWAYS, BY(or_none, total[0])},
    {"total_b_ns", "B", ROCL_UNIT_NS, ROCL_ALWAYS, BY(or_none, total[1])},
    {"change_ns", "Change", ROCL_UNIT_NS, ROCL_IN_REST, CELL(change)},
    {"change_percent", "Of A %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
    {"most_change_ns", "The most", ROCL_UNIT_NS, ROCL_MINOR, BY(or_none, most_change)},
    {"most", "By", ROCL_UNIT_TEXT, ROCL_MINOR, CELL(most)},
};

const rocl_table_def rocl_causes_table = {&rocl_compare_tab, "compare_causes",
                                          "What the difference comes from", ROCL_COLUMNS(columns)};

static int compare_rows(const void *a, const void *b)
{
    const cause_row *x = a, *y = b;
    int c = rocl_compare_changes(x->change, y->change);
    c = c ? c : rocl_number_order(x->cause, y->cause);
    return c ? c : x->class && y->class ? strcmp(x->class, y->class) : 0;
}

static void add_row(void *sum, const void *row)
{
    cause_row *s = sum;
    const cause_row *c = row;
    s->change = rocl_narrow((rocl_i128)s->change + c->change);
    s->percent += c->percent;
}

static cause_row row_of_sum(rocl_cause cause, const char *class, const rocl_cause_sum *s)
{
    const bool piece = cause < ROCL_CAUSE_ADDED; /* of what names changed by: it has no totals */
    return (cause_row){.cause = cause,
                       .class = class,
                       .names = s->names,
                       .total = {piece ? INT64_MIN : rocl_narrow(s->total[0]),
                                 piece ? INT64_MIN : rocl_narrow(s->total[1])},
                       .change = rocl_narrow(s->change),
                       .most_change = rocl_narrow(s->most_change),
                       .most = s->most};
}

static cause_row row_of_times(rocl_cause cause, rocl_i128 a, rocl_i128 b)
{
    return (cause_row){.cause = cause,
                       .total = {rocl_narrow(a), rocl_narrow(b)},
                       .change = rocl_narrow(b - a),
                       .most_change = INT64_MIN};
}

static void put_note(const rocl_report_rows *r, const rocl_gpu_sums of[2], rocl_wall wall)
{
    const char *from = wall == ROCL_WALL_GPU
                           ? "from its first to its last kernel or copy, as A and B recorded "
                             "different things"
                           : "from the first to the last event";
    if (of[0].gpus == 1 && of[1].gpus == 1)
        rocl_set_note(r, "the wall time of the GPU, %s", from);
    else if (of[0].gpus == of[1].gpus)
        rocl_set_note(r, "the wall time of %" PRIu64 " GPUs, added up, each %s", of[0].gpus, from);
    else
        rocl_set_note(
            r, "the wall time of GPUs, added up, of %" PRIu64 " in A and %" PRIu64 " in B, each %s",
            of[0].gpus, of[1].gpus, from);
}

void rocl_causes_put(const rocl_causes *causes, const rocl_gpu_sums of[2], rocl_wall wall,
                     rocl_tables *out, const rocl_collector *c)
{
    enum { MOST = (ROCL_CAUSE_KERNELS + 1) * ROCL_CLASSES + 3 };
    const rocl_kernel_classes *k = c->trace->classes;
    const rocl_report_rows r = rocl_begin_table(c, out, &rocl_causes_table, 0);
    cause_row rows[MOST];
    size_t n = 0;
    if (!of[0].gpus && !of[1].gpus) {
        rocl_set_note(&r, "neither A nor B has GPU work");
        return;
    }
    put_note(&r, of, wall);
    rows[n++] = row_of_times(ROCL_CAUSES, of[0].whole[wall], of[1].whole[wall]);
    for (rocl_cause i = 0; i <= ROCL_CAUSE_COPIES; i++)
        for (unsigned class = 0; class < ROCL_CLASSES; class ++)
            if (causes->of[i][class].names)
                rows[n++] =
                    row_of_sum(i, i < ROCL_CAUSE_KERNELS ? rocl_kernel_class_name(k, class) : NULL,
                               &causes->of[i][class]);
    rows[n++] = row_of_times(ROCL_CAUSE_BESIDE, -of[0].beside, -of[1].beside);
    rows[n++] = row_of_times(ROCL_CAUSE_IDLE, of[0].idle[wall], of[1].idle[wall]);
    for (size_t i = 0; i < n; i++)
        rows[i].percent = rocl_percent(rows[i].change, rows[0].total[0]);
    qsort(rows + 1, n - 1, sizeof *rows, compare_rows);
    rocl_add_top_rows(&r, rows, n, sizeof *rows, add_row);
}
