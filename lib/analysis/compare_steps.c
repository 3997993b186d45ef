/* The steps of A and of B side by side. Those of a process of A are aligned with those of its
 * partner (rocl_partner_process): by their numbers, the second step of a number with the second
 * one, if at least half of the shorter list finds a partner so; else by their order. */
#include "analysis/compare_steps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes.h"
#include "analysis/distribution.h"
#include "base/array.h"
#include "model/ranks.h"

enum { A, B, SIDES };

/* ---- pairs ----------------------------------------------------------------------------------- */

enum { NUMBER, WALL, BUSY, KERNEL_TIME, KERNELS, QUANTITIES, CHANGE = SIDES };

/* Sums if it stands for several steps; changes of those that both sides have. */
typedef struct step_row {
    const char *place[SIDES], *aligned;
    int64_t of[QUANTITIES][SIDES + 1]; /* of A, of B, the change; INT64_MIN: none */
    double percent;
} step_row;

typedef struct step_pairs {
    const rocl_side_steps *side[SIDES];
    rocl_tables *out; /* owns the texts */
    step_row *all;
    size_t count, cap;
    size_t by_number, by_order;
} step_pairs;

/* The steps of a process. */
typedef struct stretch {
    size_t begin, end;
} stretch;

/* By process; the caller's. NULL: memory is out. */
static stretch *part_steps(const rocl_side_steps *s)
{
    stretch *all = calloc(s->process_count + 1, sizeof *all);
    for (size_t i = 0; all && i < s->step_count; i++) {
        stretch *r = &all[s->steps[i].process];
        r->begin = r->end ? r->begin : i;
        r->end = i + 1;
    }
    return all;
}

typedef struct numbered {
    uint64_t number;
    size_t step;
} numbered;

ROCL_COMPARE_MEMBERS(compare_numbers, numbered, number, step)

static numbered *sort_numbers(const rocl_side_steps *s, stretch r)
{
    numbered *all = malloc((r.end - r.begin + 1) * sizeof *all);
    for (size_t i = r.begin; all && i < r.end; i++)
        all[i - r.begin] = (numbered){s->steps[i].number, i};
    if (all && r.end > r.begin)
        qsort(all, r.end - r.begin, sizeof *all, compare_numbers);
    return all;
}

/* partner: by step of A, from a.begin on. Returns how many have one; SIZE_MAX: memory is out. */
static size_t match_numbers(const step_pairs *p, stretch a, stretch b, size_t *partner)
{
    numbered *x = sort_numbers(p->side[A], a), *y = sort_numbers(p->side[B], b);
    const size_t n = a.end - a.begin, m = b.end - b.begin;
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        partner[i] = SIZE_MAX;
    for (size_t i = 0, k = 0; x && y && i < n && k < m;) {
        const uint64_t u = x[i].number, v = y[k].number;
        if (u == v) {
            partner[x[i].step - a.begin] = y[k].step;
            found++;
        }
        i += u <= v;
        k += u >= v;
    }
    const bool good = x && y;
    free(x);
    free(y);
    return good ? found : SIZE_MAX;
}

/* Steps of both sides, or SIZE_MAX where a side has none. */
static step_row describe_pair(const step_pairs *p, const size_t step[SIDES], bool by_number)
{
    step_row row = {.percent = NAN};
    const bool both = step[A] != SIZE_MAX && step[B] != SIZE_MAX;
    for (unsigned q = 0; q < QUANTITIES; q++)
        for (unsigned k = A; k <= CHANGE; k++)
            row.of[q][k] = INT64_MIN;
    for (unsigned k = A; k <= B; k++) {
        char label[48];
        if (step[k] == SIZE_MAX)
            continue;
        const rocl_side_step *s = &p->side[k]->steps[step[k]];
        const rocl_side_process *of = &p->side[k]->processes[s->process];
        const int64_t values[QUANTITIES] = {(int64_t)s->number, s->wall, s->busy, s->kernel_ns,
                                            (int64_t)s->kernels};
        for (unsigned q = 0; q < QUANTITIES; q++)
            row.of[q][k] = values[q];
        rocl_rank_name(&(rocl_rank){.number = of->rank, .pid = of->pid}, label);
        row.place[k] = rocl_tables_text(p->out, label, strlen(label));
    }
    for (unsigned q = WALL; q <= KERNEL_TIME && both; q++)
        row.of[q][CHANGE] = row.of[q][B] - row.of[q][A];
    if (both) {
        row.aligned = by_number ? "number" : "order";
        row.percent = rocl_percent(row.of[WALL][CHANGE], row.of[WALL][A]);
    }
    return row;
}

static bool add_pair(step_pairs *p, size_t a, size_t b, bool by_number)
{
    if (!ROCL_GROW(p->all, p->cap, p->count + 1))
        return false;
    p->all[p->count++] = describe_pair(p, (const size_t[]){a, b}, by_number);
    if (a != SIZE_MAX && b != SIZE_MAX)
        *(by_number ? &p->by_number : &p->by_order) += 1;
    return true;
}

/* In the order of A; steps that only B has stand before the next one of B that A has, too. */
static bool pair_steps(step_pairs *p, stretch a, stretch b)
{
    const size_t n = a.end - a.begin, m = b.end - b.begin, shorter = n < m ? n : m;
    size_t *partner = malloc((n + 1) * sizeof *partner);
    bool *has = calloc(m + 1, sizeof *has); /* a step of B has a partner, or is in the list */
    size_t found = partner ? match_numbers(p, a, b, partner) : SIZE_MAX;
    bool good = has && found != SIZE_MAX;
    const bool by_number = good && found > 0 && found * 2 >= shorter;
    for (size_t i = 0; good && i < n && !by_number; i++)
        partner[i] = i < m ? b.begin + i : SIZE_MAX;
    for (size_t i = 0; good && i < n; i++)
        if (partner[i] != SIZE_MAX)
            has[partner[i] - b.begin] = true;
    size_t next = b.begin;
    for (size_t i = 0; good && i < n; i++) {
        for (; good && partner[i] != SIZE_MAX && next < partner[i]; next++)
            good = has[next - b.begin] || add_pair(p, SIZE_MAX, next, by_number);
        good = good && add_pair(p, a.begin + i, partner[i], by_number);
    }
    for (; good && next < b.end; next++)
        good = has[next - b.begin] || add_pair(p, SIZE_MAX, next, by_number);
    free(partner);
    free(has);
    return good;
}

static bool pair_all(step_pairs *p)
{
    const rocl_side_steps *a = p->side[A], *b = p->side[B];
    stretch *of_a = part_steps(a), *of_b = part_steps(b);
    bool *has = calloc(b->process_count + 1, sizeof *has);
    bool good = of_a && of_b && has;
    for (uint32_t i = 0; good && i < a->process_count; i++) {
        const uint32_t other = rocl_partner_process(a, i, b);
        if (other != ROCL_NONE)
            has[other] = true;
        good = pair_steps(p, of_a[i], other != ROCL_NONE ? of_b[other] : (stretch){0, 0});
    }
    for (uint32_t k = 0; good && k < b->process_count; k++)
        if (!has[k])
            good = pair_steps(p, (stretch){0, 0}, of_b[k]);
    free(of_a);
    free(of_b);
    free(has);
    return good;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define CELL(field)              ROCL_CELL(step_row, field)
#define QUANTITY(quantity, side) ROCL_CELL_BY(rocl_field_or_none, step_row, of[quantity][side])
#define SUM(quantity, side)      ROCL_IN_REST, QUANTITY(quantity, side)

static const rocl_column columns[] = {
    {"place_a", "Rank A", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(place[A])},
    {"place_b", "Rank B", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(place[B])},
    {"number_a", "Step A", ROCL_UNIT_COUNT, ROCL_ALWAYS, QUANTITY(NUMBER, A)},
    {"number_b", "Step B", ROCL_UNIT_COUNT, ROCL_ALWAYS, QUANTITY(NUMBER, B)},
    {"aligned", "Aligned by", ROCL_UNIT_TEXT, ROCL_MINOR, CELL(aligned)},
    {"wall_a_ns", "Wall A", ROCL_UNIT_NS, SUM(WALL, A)},
    {"wall_b_ns", "Wall B", ROCL_UNIT_NS, SUM(WALL, B)},
    {"wall_change_ns", "Change", ROCL_UNIT_NS, SUM(WALL, CHANGE)},
    {"wall_change_percent", "Change %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, CELL(percent)},
    {"busy_a_ns", "Busy A", ROCL_UNIT_NS, SUM(BUSY, A)},
    {"busy_b_ns", "Busy B", ROCL_UNIT_NS, SUM(BUSY, B)},
    {"busy_change_ns", "Change", ROCL_UNIT_NS, SUM(BUSY, CHANGE)},
    {"kernel_a_ns", "Kernel time A", ROCL_UNIT_NS, SUM(KERNEL_TIME, A)},
    {"kernel_b_ns", "Kernel time B", ROCL_UNIT_NS, SUM(KERNEL_TIME, B)},
    {"kernel_change_ns", "Change", ROCL_UNIT_NS, SUM(KERNEL_TIME, CHANGE)},
    {"kernels_a", "Kernels A", ROCL_UNIT_COUNT, ROCL_MINOR | SUM(KERNELS, A)},
    {"kernels_b", "Kernels B", ROCL_UNIT_COUNT, ROCL_MINOR | SUM(KERNELS, B)},
};

const rocl_table_def rocl_compare_steps_table = {&rocl_compare_tab, "compare_steps",
                                                 "Steps from A to B", ROCL_COLUMNS(columns)};

static void add_row(void *into, const void *from)
{
    step_row *sum = into;
    const step_row *row = from;
    for (unsigned q = WALL; q < QUANTITIES; q++)
        for (unsigned k = A; k <= CHANGE; k++) {
            int64_t *to = &sum->of[q][k];
            if (row->of[q][k] != INT64_MIN)
                *to = rocl_narrow((rocl_i128)(*to == INT64_MIN ? 0 : *to) + row->of[q][k]);
            else if (k == CHANGE && *to == INT64_MIN && sum->of[q][A] >= 0 && sum->of[q][B] >= 0)
                *to = 0; /* there are steps of both sides, though none is aligned */
        }
}

rocl_status rocl_compare_steps_put(const rocl_side_steps *a, const rocl_side_steps *b,
                                   rocl_tables *out, const rocl_collector *c, rocl_error *err)
{
    step_pairs p = {.side = {a, b}, .out = out};
    if (!a->marker || !b->marker)
        return ROCL_OK;
    const bool good = pair_all(&p);
    if (good) {
        const rocl_report_rows r = rocl_begin_table(c, out, &rocl_compare_steps_table, 0);
        char marker[200], number[48] = "", order[48] = "";
        out->incomplete |= !rocl_print_marker(marker, sizeof marker, a);
        if (p.by_number)
            snprintf(number, sizeof number, ", %zu aligned by number", p.by_number);
        if (p.by_order)
            snprintf(order, sizeof order, ", %zu aligned by order", p.by_order);
        rocl_set_note(&r, "\"%s\": %zu step%s of A and %zu of B%s%s", marker, a->step_count,
                      a->step_count == 1 ? "" : "s", b->step_count, number, order);
        rocl_add_top_rows(&r, p.all, p.count, sizeof *p.all, add_row);
    }
    free(p.all);
    return good ? ROCL_OK : rocl_fail_memory(err);
}
