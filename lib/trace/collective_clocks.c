/* Clocks from the ends of collectives: see collective_clocks.h.
 *
 *     ends of each collective on two clocks a and b, x on b:
 *         a - b = offset + drift * (x - middle)        by the medians of Theil and Sen
 *     clocks that are not compared with the first are reached through others, on the way of the
 *     least uncertainty */
#include "trace/collective_clocks.h"

#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/order.h"
#include "model/collectives.h"
#include "model/identity.h"
#include "trace/pipeline.h"

#define OPTION "--align collectives"

/* Beyond this every second sample is dropped, and so on, as slopes of all pairs are taken. */
enum { SAMPLES_MAX = 1024, SAMPLES_MIN = 8 };
/* A larger uncertainty is refused: it would be worse than the clocks of most clusters. */
#define UNCERTAINTY_MAX 1e6 /* ns */

typedef struct sample {
    int64_t x, y; /* end on clock b; end on clock a minus x */
} sample;

/* Two clocks, and collectives on both. */
typedef struct pair {
    uint32_t a, b;
    uint64_t seen, step; /* how many there were; each step-th is kept */
    sample *samples;
    size_t count, cap;
} pair;

/* Converts from one clock to another: t + offset + drift * (t - from). */
typedef struct way {
    int64_t offset, from;
    double drift;
    double uncertainty; /* ns */
    uint64_t collectives;
} way;

typedef struct clocks {
    rocl_trace *trace;
    rocl_collectives match;
    rocl_sorter *kernels, *members;
    uint32_t *of; /* by capture */
    uint32_t count;
    rocl_map index; /* of pairs by both clocks, mixed */
    pair *pairs;
    size_t pair_count, pair_cap;
    struct clock_end {
        uint32_t clock;
        int64_t end;
    } * ends; /* of one collective */
    size_t end_cap;
} clocks;

/* ---- collectives ----------------------------------------------------------------------------- */

static bool is_named(const rocl_trace *t, uint32_t machine)
{
    return t->machines[machine].hostname || t->machines[machine].machine_id;
}

static rocl_status see_batch(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    return rocl_collectives_add(&((clocks *)self)->match, worker, b, err);
}

static rocl_status seal_sorter(void *self, unsigned worker, rocl_error *err)
{
    return rocl_sorter_seal(((clocks *)self)->kernels, worker, err);
}

/* False: memory is out. */
static bool add_sample(clocks *k, uint32_t a, uint32_t b, int64_t end_a, int64_t end_b)
{
    const uint64_t key = rocl_mix64((uint64_t)a << 32 | b);
    uint32_t i = rocl_map_get(&k->index, key, ROCL_NONE);
    if (i == ROCL_NONE) {
        i = (uint32_t)k->pair_count;
        if (!ROCL_GROW(k->pairs, k->pair_cap, k->pair_count + 1) ||
            !rocl_map_put(&k->index, key, i))
            return false;
        k->pairs[k->pair_count++] = (pair){.a = a, .b = b, .step = 1};
    }
    pair *p = &k->pairs[i];
    if (p->seen++ % p->step)
        return true;
    if (p->count == SAMPLES_MAX) {
        for (size_t s = 0; s < SAMPLES_MAX / 2; s++)
            p->samples[s] = p->samples[2 * s];
        p->count = SAMPLES_MAX / 2;
        p->step *= 2;
    }
    if (!ROCL_GROW(p->samples, p->cap, p->count + 1))
        return false;
    p->samples[p->count++] = (sample){end_b, end_a - end_b};
    return true;
}

ROCL_COMPARE_MEMBERS(compare_ends, struct clock_end, clock, end)

/* The median counts where several ranks are on a clock. */
static rocl_status add_collective(void *ctx, const rocl_collective *m, rocl_error *err)
{
    clocks *k = ctx;
    if (m->mixed || m->kind == ROCL_COLLECTIVE_POINT || m->count < 2)
        return ROCL_OK;
    if (!ROCL_GROW(k->ends, k->end_cap, (size_t)m->count))
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < m->count; i++)
        k->ends[i] = (struct clock_end){k->of[m->members[i].capture], m->members[i].end};
    qsort(k->ends, m->count, sizeof *k->ends, compare_ends);
    int64_t first = 0;
    for (size_t i = 0, next; i < m->count; i = next) {
        for (next = i + 1; next < m->count && k->ends[next].clock == k->ends[i].clock;)
            next++;
        const int64_t end = k->ends[i + (next - i) / 2].end;
        if (!i)
            first = end;
        else if (!add_sample(k, k->ends[0].clock, k->ends[i].clock, first, end))
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* ---- the line through samples ---------------------------------------------------------------- */

static double take_median(double *v, size_t n)
{
    qsort(v, n, sizeof *v, rocl_compare_double);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* scratch: space for the slopes of all pairs. */
static void fit_line(const pair *p, way *w, double *scratch)
{
    const size_t n = p->count;
    int64_t low = INT64_MAX, high = INT64_MIN;
    size_t slopes = 0;
    for (size_t i = 0; i < n; i++) {
        low = p->samples[i].x < low ? p->samples[i].x : low;
        high = p->samples[i].x > high ? p->samples[i].x : high;
    }
    *w = (way){.from = low + (high - low) / 2, .collectives = p->seen};
    const int64_t base = p->samples[0].y;
    for (size_t i = 0; i < n; i++)
        for (size_t m = 0; m < i; m++)
            if (p->samples[i].x != p->samples[m].x)
                scratch[slopes++] = (double)(p->samples[i].y - p->samples[m].y) /
                                    (double)(p->samples[i].x - p->samples[m].x);
    w->drift = slopes ? take_median(scratch, slopes) : 0;
    for (size_t i = 0; i < n; i++)
        scratch[i] =
            (double)(p->samples[i].y - base) - w->drift * (double)(p->samples[i].x - w->from);
    const double offset = take_median(scratch, n);
    for (size_t i = 0; i < n; i++)
        scratch[i] = fabs(scratch[i] - offset);
    w->offset = base + (int64_t)llround(offset);
    /* The robust standard deviation of the ends around the line. The line itself is more certain by
     * the root of their number: at both ends of the time to s * sqrt(6.3 / n), of which four times
     * are added. */
    const double s = 1.4826 * take_median(scratch, n);
    w->uncertainty = s * (1 + 10 / sqrt((double)n)) + 1;
}

/* From clock a to clock b, instead of the other way. */
static way reverse_way(const way *w)
{
    way r = *w;
    r.from = w->from + w->offset;
    r.offset = -w->offset;
    r.drift = -w->drift / (1 + w->drift);
    return r;
}

/* First w, then the way `after` from where that leads. */
static way join_ways(const way *w, const way *after)
{
    const int64_t there = w->from + w->offset;
    way r = *w;
    r.offset =
        w->offset + after->offset + (int64_t)llround(after->drift * (double)(there - after->from));
    r.drift = (1 + w->drift) * (1 + after->drift) - 1;
    r.uncertainty = w->uncertainty + after->uncertainty;
    return r;
}

/* ---- the clocks ------------------------------------------------------------------------------ */

static rocl_status check_way(const clocks *k, uint32_t clock, const way *w, rocl_error *err)
{
    size_t i = 0;
    while (k->of[i] != clock)
        i++;
    const rocl_capture *c = &k->trace->captures[i]->pub;
    const char *name =
        is_named(k->trace, c->machine) ? rocl_machine_name(k->trace, c->machine) : c->path;
    if (!w->collectives)
        return rocl_fail(err, ROCL_USAGE,
                         OPTION ": %s has fewer than %d collectives in common with other nodes",
                         name, SAMPLES_MIN);
    if (w->uncertainty > UNCERTAINTY_MAX || fabs(w->drift) > 0.01)
        return rocl_fail(err, ROCL_USAGE,
                         OPTION ": the ends of the collectives of %s do not agree on its clock: "
                                "it is known only to within %.3g ms",
                         name, w->uncertainty / 1e6);
    rocl_notice(k->trace,
                OPTION ": %s: %+.9f s, drift %+.3f ppm, by %llu collectives, to within "
                       "%.3g us",
                name, (double)w->offset / 1e9, w->drift * 1e6, (unsigned long long)w->collectives,
                w->uncertainty / 1e3);
    return ROCL_OK;
}

static rocl_status set_clocks(clocks *k, rocl_error *err)
{
    way *lines = calloc(k->pair_count + 1, sizeof *lines),
        *ways = calloc(k->count + 1, sizeof *ways);
    bool *known = calloc((size_t)k->count + 1, sizeof *known);
    double *scratch = malloc((size_t)SAMPLES_MAX * SAMPLES_MAX / 2 * sizeof *scratch);
    rocl_status st = lines && ways && known && scratch ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < k->pair_count && st == ROCL_OK; i++)
        if (k->pairs[i].count >= SAMPLES_MIN)
            fit_line(&k->pairs[i], &lines[i], scratch);
    if (known)
        known[0] = true;
    for (bool more = true; more && st == ROCL_OK;) {
        way best = {.uncertainty = INFINITY};
        uint32_t reached = 0;
        for (size_t i = 0; i < k->pair_count; i++) {
            const pair *p = &k->pairs[i];
            if (!lines[i].collectives || known[p->a] == known[p->b])
                continue;
            const way back = reverse_way(&lines[i]);
            const way w =
                known[p->a] ? join_ways(&lines[i], &ways[p->a]) : join_ways(&back, &ways[p->b]);
            if (w.uncertainty < best.uncertainty) {
                best = w;
                reached = known[p->a] ? p->b : p->a;
            }
        }
        more = best.uncertainty < INFINITY;
        ways[reached] = more ? best : ways[reached];
        known[reached] = true;
    }
    for (uint32_t i = 1; i < k->count && st == ROCL_OK; i++)
        st = check_way(k, i, &ways[i], err);
    for (size_t i = 0; i < k->trace->capture_count && st == ROCL_OK; i++) {
        const way *w = &ways[k->of[i]];
        rocl_model_capture *c = k->trace->captures[i];
        c->offset = w->offset;
        c->drift = w->drift;
        c->drift_from = w->from;
        if (w->uncertainty > k->trace->clock_uncertainty)
            k->trace->clock_uncertainty = w->uncertainty;
    }
    free(lines);
    free(ways);
    free(known);
    free(scratch);
    return st;
}

rocl_status rocl_fit_clocks(rocl_trace *t, rocl_error *err)
{
    clocks k = {.trace = t};
    const rocl_sink sink = {
        .self = &k, .kinds = ROCL_BIT(ROCL_DISPATCH), .events = see_batch, .end_task = seal_sorter};
    k.of = calloc(t->capture_count + 1, sizeof *k.of);
    rocl_status st = k.of ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; k.of && i < t->capture_count; i++) {
        /* Captures of a machine follow each other. */
        const uint32_t machine = t->captures[i]->pub.machine;
        const bool same = i && is_named(t, machine) && t->captures[i - 1]->pub.machine == machine;
        k.of[i] = same ? k.of[i - 1] : k.count++;
    }
    if (st == ROCL_OK && k.count > 1) {
        k.kernels = rocl_sorter_new(t->space, 4);
        k.members = rocl_sorter_new(t->space, 4);
        st = k.kernels && k.members ? rocl_collectives_open(&k.match, t, k.kernels, k.members, err)
                                    : rocl_fail_memory(err);
        if (st == ROCL_OK)
            st = rocl_pipeline_survey(t, &sink, err);
        if (st <= ROCL_PARTIAL)
            st = rocl_collectives_match(&k.match, add_collective, &k, err);
        if (st == ROCL_OK)
            st = set_clocks(&k, err);
    }
    if (k.match.trace)
        rocl_collectives_close(&k.match);
    rocl_sorter_free(k.kernels);
    rocl_sorter_free(k.members);
    for (size_t i = 0; i < k.pair_count; i++)
        free(k.pairs[i].samples);
    rocl_map_free(&k.index);
    free(k.pairs);
    free(k.ends);
    free(k.of);
    return st;
}
