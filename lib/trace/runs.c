#include "trace/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/order.h"
#include "model/identity.h"
#include "source/source.h"
#include "trace/clocks.h"

/* A capture, and then a group of them. */
typedef struct span {
    uint32_t clock, capture;
    int64_t first, last;
    uint32_t run;
    bool told; /* by ranks */
} span;

/* A process with a rank. */
typedef struct occurrence {
    int32_t rank;
    uint32_t capture, group, machine, run;
    int64_t pid;
    uint32_t before; /* the occurrence of that rank in an earlier group; ROCL_NONE: none */
} occurrence;

typedef struct finder {
    rocl_trace *trace;
    span *groups; /* by time */
    uint32_t group_count;
    uint32_t *group_of; /* by capture; ROCL_NONE: its times are unknown */
    occurrence *all;    /* by group, then rank */
    size_t count;
} finder;

/* ---- what is there --------------------------------------------------------------------------- */

/* Is there a rank in two inputs? Nearly always there is none, and no times are looked up. */
static rocl_status repeats_rank(const rocl_trace *t, bool *repeats, rocl_error *err)
{
    rocl_map source_of = {0};
    bool good = true;
    *repeats = false;
    for (size_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        const uint32_t source = (uint32_t)t->captures[i]->source->number;
        for (uint32_t k = 0; k < c->process_count && good && !*repeats; k++) {
            if (c->processes[k].rank < 0)
                continue;
            const uint64_t rank = (uint64_t)c->processes[k].rank;
            *repeats = rocl_map_get(&source_of, rank, source) != source;
            good = rocl_map_put(&source_of, rank, source);
        }
    }
    rocl_map_free(&source_of);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

ROCL_COMPARE_MEMBERS(compare_by_clock, span, clock, first)
ROCL_COMPARE_MEMBERS(compare_by_time, span, first, clock)
ROCL_COMPARE_MEMBERS(compare_by_rank, occurrence, rank, run)

static int compare_occurrences(const void *a, const void *b)
{
    const occurrence *x = a, *y = b;
    int by = rocl_number_order(x->group, y->group);
    by = by ? by : rocl_number_order(x->rank, y->rank);
    return by ? by : rocl_number_order(x->capture, y->capture);
}

static rocl_status make_groups(finder *f, rocl_error *err)
{
    rocl_trace *t = f->trace;
    span *all = malloc((t->capture_count + 1) * sizeof *all);
    uint32_t n = 0;
    f->groups = malloc((t->capture_count + 1) * sizeof *f->groups);
    f->group_of = malloc((t->capture_count + 1) * sizeof *f->group_of);
    if (!all || !f->groups || !f->group_of) {
        free(all);
        return rocl_fail_memory(err);
    }
    for (uint32_t i = 0; i < t->capture_count; i++) {
        f->group_of[i] = ROCL_NONE;
        all[n] = (span){rocl_clock_of(&t->captures[i]->pub), i, INT64_MAX, INT64_MIN, 1, false};
        rocl_widen_to_capture(t, t->captures[i], &all[n].first, &all[n].last);
        n += all[n].first <= all[n].last;
    }
    qsort(all, n, sizeof *all, compare_by_clock);
    for (uint32_t i = 0; i < n; i++) {
        span *g = f->group_count ? &f->groups[f->group_count - 1] : NULL;
        if (!g || g->clock != all[i].clock || g->last < all[i].first)
            *(g = &f->groups[f->group_count++]) = all[i];
        g->last = all[i].last > g->last ? all[i].last : g->last;
    }
    qsort(f->groups, f->group_count, sizeof *f->groups, compare_by_time);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t g = 0; g < f->group_count && f->group_of[all[i].capture] == ROCL_NONE; g++)
            if (f->groups[g].clock == all[i].clock && f->groups[g].first <= all[i].first &&
                all[i].first <= f->groups[g].last)
                f->group_of[all[i].capture] = g;
    free(all);
    return ROCL_OK;
}

static rocl_status list_occurrences(finder *f, rocl_error *err)
{
    const rocl_trace *t = f->trace;
    size_t cap = 0;
    for (uint32_t i = 0; i < t->capture_count; i++) {
        const rocl_capture *c = &t->captures[i]->pub;
        for (uint32_t k = 0; k < c->process_count && f->group_of[i] != ROCL_NONE; k++) {
            const rocl_process *p = &c->processes[k];
            if (p->rank < 0)
                continue;
            if (!ROCL_GROW(f->all, cap, f->count + 1))
                return rocl_fail_memory(err);
            f->all[f->count++] =
                (occurrence){p->rank, i, f->group_of[i], p->machine, 0, p->pid, ROCL_NONE};
        }
    }
    if (f->count)
        qsort(f->all, f->count, sizeof *f->all, compare_occurrences);
    return ROCL_OK;
}

/* ---- their numbers --------------------------------------------------------------------------- */

/* Are they of different runs, b after a? */
static bool ran_again(const finder *f, const occurrence *a, const occurrence *b)
{
    const rocl_trace *t = f->trace;
    const bool same_process = a->pid > 0 && a->pid == b->pid && a->machine == b->machine;
    const rocl_machine *x = &t->machines[a->machine], *y = &t->machines[b->machine];
    /* A run has a rank on one host; what names no host may count time from another begin. */
    const bool comparable =
        x->clock == y->clock || (rocl_machine_is_named(x) && rocl_machine_is_named(y));
    return t->captures[a->capture]->source != t->captures[b->capture]->source && !same_process &&
           comparable && f->groups[a->group].last < f->groups[b->group].first;
}

static rocl_status number_by_ranks(finder *f, rocl_error *err)
{
    rocl_map latest = {0};
    bool good = true;
    for (uint32_t i = 0; i < f->count && good; i++) {
        occurrence *o = &f->all[i];
        span *g = &f->groups[o->group];
        o->before = rocl_map_get(&latest, (uint64_t)o->rank, ROCL_NONE);
        good = rocl_map_put(&latest, (uint64_t)o->rank, i);
        for (uint32_t k = o->before; k != ROCL_NONE; k = f->all[k].before) {
            span *earlier = &f->groups[f->all[k].group];
            if (!ran_again(f, &f->all[k], o))
                continue;
            g->told = earlier->told = true;
            g->run = earlier->run + 1 > g->run ? earlier->run + 1 : g->run;
        }
    }
    rocl_map_free(&latest);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- what is said ---------------------------------------------------------------------------- */

enum { MOST_NAMED = 4 };

/* "rank 0 is in each", "ranks 0 to 7 are in each", "ranks 0, 3 and 5 are in each", "12 ranks are in
 * each". */
static void name_common_ranks(finder *f, char *text, size_t size)
{
    int32_t named[MOST_NAMED] = {0}, last = 0;
    size_t n = 0, at = 0;
    bool gaps = false;
    for (size_t i = 0; i < f->count; i++)
        f->all[i].run = f->groups[f->all[i].group].run;
    qsort(f->all, f->count, sizeof *f->all, compare_by_rank);
    for (size_t i = 0, runs = 0; i < f->count; i++) {
        const bool same = i && f->all[i].rank == f->all[i - 1].rank;
        runs = !same ? 1 : runs + (f->all[i].run != f->all[i - 1].run);
        const bool ends = i + 1 == f->count || f->all[i + 1].rank != f->all[i].rank;
        if (!ends || runs != f->trace->run_count)
            continue;
        gaps |= n && f->all[i].rank != last + 1;
        last = f->all[i].rank;
        if (n < MOST_NAMED)
            named[n] = last;
        n++;
    }
    if (!n)
        snprintf(text, size, "each has ranks of another");
    else if (n == 1)
        snprintf(text, size, "rank %" PRId32 " is in each", named[0]);
    else if (!gaps && n > 2)
        snprintf(text, size, "ranks %" PRId32 " to %" PRId32 " are in each", named[0], last);
    else if (n > MOST_NAMED)
        snprintf(text, size, "%zu ranks are in each", n);
    else {
        at = (size_t)snprintf(text, size, "ranks %" PRId32, named[0]);
        for (size_t i = 1; i < n; i++)
            at += (size_t)snprintf(text + at, size - at, "%s%" PRId32, i + 1 < n ? ", " : " and ",
                                   named[i]);
        snprintf(text + at, size - at, " are in each");
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static rocl_status find_runs(finder *f, rocl_error *err)
{
    rocl_trace *t = f->trace;
    rocl_status st = make_groups(f, err);
    if (st == ROCL_OK)
        st = list_occurrences(f, err);
    if (st == ROCL_OK)
        st = number_by_ranks(f, err);
    if (st != ROCL_OK)
        return st;
    for (uint32_t i = 0; i < f->group_count; i++) { /* groups without a rank that ran again */
        span *g = &f->groups[i];
        for (uint32_t k = 0; k < f->group_count && !g->told; k++) {
            const span *other = &f->groups[k];
            if (!other->told || other->last < g->first || g->last < other->first)
                continue;
            g->run = other->run;
            break;
        }
    }
    for (uint32_t g = 0; g < f->group_count; g++)
        t->run_count = f->groups[g].run > t->run_count ? f->groups[g].run : t->run_count;
    for (uint32_t i = 0; i < t->capture_count; i++)
        t->captures[i]->run = f->group_of[i] == ROCL_NONE ? 1 : f->groups[f->group_of[i]].run;
    if (t->run_count < 2 || t->opt.run)
        return ROCL_OK;
    char ranks[128], choice[64] = "--run 1 or --run 2";
    name_common_ranks(f, ranks, sizeof ranks);
    if (t->run_count > 2)
        snprintf(choice, sizeof choice, "--run N, with N from 1 to %u,", t->run_count);
    rocl_notice(t, "these inputs are %u runs: %s, at times that do not overlap; %s chooses one",
                t->run_count, ranks, choice);
    return ROCL_OK;
}

rocl_status rocl_find_runs(rocl_trace *t, rocl_error *err)
{
    finder f = {.trace = t};
    bool repeats;
    rocl_status st = repeats_rank(t, &repeats, err);
    t->run_count = 1;
    for (size_t i = 0; i < t->capture_count; i++)
        t->captures[i]->run = 1;
    if (st == ROCL_OK && repeats)
        st = find_runs(&f, err);
    free(f.groups);
    free(f.group_of);
    free(f.all);
    if (st == ROCL_OK && t->opt.run > t->run_count)
        st = rocl_fail(err, ROCL_USAGE,
                       t->run_count == 1 ? "--run %u: the inputs are %u run"
                                         : "--run %u: the inputs are %u runs",
                       t->opt.run, t->run_count);
    return st;
}
