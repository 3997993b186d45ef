/* Which rank is late, by how much, and why. Ranks meet in collectives, in calls of RCCL if there
 * are no kernels of collectives, in MPI; if there is none of these, at the ends of steps. In a
 * meeting
 *
 *     wait of a rank = arrival of the last - its own arrival, but at most up to its own end
 *     gain           = wait of the last but one; lost: that of all
 *
 * An arrival is the begin, if the clocks of the ranks are one, or aligned; else minus the duration,
 * as those who wait for each other leave at one time. A rank is late if it is the last more often
 * than by chance, and the others wait for it for a share of the time. The cause is what it takes
 * longer for than the others, between meetings. In memory are sums by rank. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/distribution.h"
#include "analysis/doctor.h"
#include "analysis/facts.h"
#include "analysis/ranks.h"
#include "base/array.h"
#include "model/steps.h"

enum { LEAST_MEETINGS = 5, MOST_KINDS = 16 };
#define LATE        0.001 /* probability that it is chance */
#define MAYBE_LATE  0.05
#define LEAST_SHARE 0.01 /* of the wall time */

/* In the order in which equal ones count. */
typedef enum cause { KERNELS, COPIES, LAUNCHES, HOST, CAUSES } cause;
static const char *const cause_names[CAUSES + 1] = {"kernels", "copies", "launches", "host", NULL};

/* A rank in the meetings of a kind. */
typedef struct late_rank {
    uint64_t meetings, last;
    double chance; /* sum of the shares of ranks that were the last */
    int64_t late, gain, lost, mean_lost;
    int64_t inside, others;      /* its time in meetings, and that of the others in the same */
    int64_t first, until;        /* from its first meeting to its last */
    int64_t longest, begin, end; /* the meeting with the longest wait */
    rocl_event_ref event;
    int64_t took[CAUSES]; /* between meetings, for each GPU; launches: in all */
} late_rank;

typedef struct kind {
    uint32_t meeting, stem; /* of steps: text */
    uint64_t meetings;
    uint32_t met; /* ranks */
    bool by_duration;
    late_rank *ranks;
} kind;

/* A rank in a meeting: it arrives at `at`, and does not wait beyond `until`. */
typedef struct arrival {
    uint32_t rank, member;
    int64_t start, end, at, until;
} arrival;

struct rocl_late_ranks {
    const rocl_collector *c;
    const rocl_collectives *match;
    kind kinds[MOST_KINDS];
    unsigned kind_count;
    arrival *all; /* of one meeting */
    int64_t *sorted;
    size_t all_cap, sorted_cap;
    rocl_cover (*covers)[MOST_KINDS][ROCL_UNIONS]; /* by GPU, of one rank */
};

rocl_status rocl_late_ranks_open(rocl_late_ranks **out, const rocl_collector *c,
                                 const rocl_collectives *match, rocl_error *err)
{
    const size_t gpus = c->trace->gpu_count + 1;
    rocl_late_ranks *l = *out = calloc(1, sizeof *l);
    if (!l || !(l->covers = calloc(gpus, sizeof *l->covers)))
        return rocl_fail_memory(err);
    l->c = c;
    l->match = match;
    for (size_t i = 0; i < gpus * MOST_KINDS; i++)
        rocl_covers_begin(l->covers[i / MOST_KINDS][i % MOST_KINDS]);
    return ROCL_OK;
}

void rocl_late_ranks_close(rocl_late_ranks *l)
{
    if (!l)
        return;
    for (unsigned i = 0; i < l->kind_count; i++)
        free(l->kinds[i].ranks);
    free(l->all);
    free(l->sorted);
    free(l->covers);
    free(l);
}

/* ---- meetings -------------------------------------------------------------------------------- */

/* Each series of steps is a kind of its own. NULL: there are too many. */
static kind *find_kind(rocl_late_ranks *l, const rocl_communicator *c)
{
    const uint32_t stem = c->meeting == ROCL_MEET_STEPS ? c->name : 0;
    for (unsigned i = 0; i < l->kind_count; i++)
        if (l->kinds[i].meeting == c->meeting && l->kinds[i].stem == stem)
            return &l->kinds[i];
    kind *k = l->kind_count < MOST_KINDS ? &l->kinds[l->kind_count++] : NULL;
    if (k)
        *k = (kind){c->meeting, stem, .ranks = calloc(l->match->ranks.count, sizeof *k->ranks)};
    return k;
}

/* The ranks of a meeting, by number. Several GPUs of a rank are as late as the last of them. */
static uint32_t list_arrivals(rocl_late_ranks *l, const rocl_collective *k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        const rocl_collective_member *m = &k->members[i];
        const uint32_t rank = l->match->participants[m->participant].rank;
        arrival *a = n ? &l->all[n - 1] : NULL;
        if (!a || a->rank != rank) {
            l->all[n++] = (arrival){rank, i, m->start, m->end, 0, 0};
            continue;
        }
        a->member = m->start > a->start ? i : a->member;
        a->start = m->start > a->start ? m->start : a->start;
        a->end = m->end > a->end ? m->end : a->end;
    }
    return n;
}

/* Are the begins of all of them on one clock? */
static bool share_clock(const rocl_late_ranks *l, uint32_t n)
{
    const rocl_trace *t = l->c->trace;
    const rocl_rank *ranks = l->match->ranks.all;
    const uint32_t first = t->machines[ranks[l->all[0].rank].machine].clock;
    uint32_t i = 1;
    while (i < n && t->machines[ranks[l->all[i].rank].machine].clock == first)
        i++;
    return t->opt.align == ROCL_ALIGN_COLLECTIVES || t->opt.align == ROCL_ALIGN_OFFSETS || i == n;
}

/* When each of them arrives. False: it cannot be said; or one leaves before another comes, so that
 * it is no meeting. */
static bool find_arrivals(rocl_late_ranks *l, const rocl_collective *c, kind *k, uint32_t n)
{
    const bool steps = k->meeting == ROCL_MEET_STEPS, calls = k->meeting == ROCL_MEET_CALLS;
    const bool apart = !steps && !share_clock(l, n);
    /* Does anybody leave before all have come? */
    const bool early = c->kind == ROCL_COLLECTIVE_BROADCAST || c->kind == ROCL_COLLECTIVE_REDUCE ||
                       c->kind == ROCL_COLLECTIVE_GATHER || c->kind == ROCL_COLLECTIVE_SCATTER;
    int64_t first_end = INT64_MAX;
    k->by_duration |= apart;
    if (apart && (calls || early))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        arrival *a = &l->all[i];
        const int64_t ns = a->end - a->start;
        a->at = steps ? ns : apart ? -ns : a->start;
        a->until = steps || calls ? INT64_MAX : apart ? 0 : a->end;
        l->sorted[i] = a->at;
        first_end = a->until < first_end ? a->until : first_end;
    }
    qsort(l->sorted, n, sizeof *l->sorted, rocl_compare_i64);
    return early || first_end == INT64_MAX ||
           (double)(l->sorted[n - 1] - first_end) <= l->c->trace->clock_uncertainty;
}

/* The median of all but one of n > 1 sorted numbers. */
static int64_t median_without(const int64_t *sorted, uint32_t n, int64_t one)
{
    const int64_t *at = bsearch(&one, sorted, n, sizeof one, rocl_compare_i64);
    const uint32_t skip = (uint32_t)(at - sorted), half = (n - 1) / 2;
    const int64_t high = sorted[half + (half >= skip)];
    const int64_t low = n % 2 ? sorted[half - 1 + (half - 1 >= skip)] : high;
    return low + (high - low) / 2;
}

/* The others wait for the last one, or for each of several. Returns the share of ranks that are the
 * last; 0: nobody waits. */
static double add_wait(rocl_late_ranks *l, kind *k, const rocl_collective *c, uint32_t n)
{
    const int64_t last = l->sorted[n - 1];
    int64_t lost = 0, gain = 0, begin = INT64_MAX;
    uint32_t lasts = 0;
    for (uint32_t i = 0; i < n; i++) {
        const arrival *a = &l->all[i];
        const int64_t until = last < a->until ? last : a->until;
        const int64_t wait = until > a->at ? until - a->at : 0;
        lost = rocl_add_saturated(lost, wait);
        gain = a->at == l->sorted[n - 2] ? wait : gain;
        begin = a->start < begin ? a->start : begin;
        lasts += a->at == last;
    }
    for (uint32_t i = 0; i < n && lost; i++) {
        const arrival *a = &l->all[i];
        const rocl_collective_member *m = &c->members[a->member];
        late_rank *r = &k->ranks[a->rank];
        if (a->at != last)
            continue;
        r->last++;
        r->gain = rocl_add_saturated(r->gain, gain);
        r->lost = rocl_add_saturated(r->lost, lost);
        r->mean_lost = rocl_add_saturated(r->mean_lost, lost / (n - 1));
        if (lost <= r->longest)
            continue;
        r->longest = lost;
        r->begin = a->at == a->start ? begin : a->start; /* of others it is on their clocks */
        r->end = a->end;
        r->event = (rocl_event_ref){m->capture + 1, m->row};
    }
    return lost ? (double)lasts / n : 0;
}

rocl_status rocl_late_ranks_meet(rocl_late_ranks *l, const rocl_collective *c, rocl_error *err)
{
    if (!rocl_collective_is_whole(c) || c->count < 2)
        return ROCL_OK;
    if (!ROCL_GROW(l->all, l->all_cap, c->count) || !ROCL_GROW(l->sorted, l->sorted_cap, c->count))
        return rocl_fail_memory(err);
    const uint32_t n = list_arrivals(l, c);
    kind *k = n > 1 ? find_kind(l, &l->match->communicators[c->communicator]) : NULL;
    if (k && !k->ranks)
        return rocl_fail_memory(err);
    if (!k || !find_arrivals(l, c, k, n))
        return ROCL_OK;
    const double share = add_wait(l, k, c, n);
    int64_t inside = 0;
    for (uint32_t i = 0; i < n; i++)
        inside = rocl_add_saturated(inside, l->all[i].end - l->all[i].start);
    for (uint32_t i = 0; i < n; i++) {
        const arrival *a = &l->all[i];
        late_rank *r = &k->ranks[a->rank];
        const bool first = !r->meetings++;
        k->met += first;
        r->chance += share;
        r->late += a->at - median_without(l->sorted, n, a->at);
        r->inside = rocl_add_saturated(r->inside, a->end - a->start);
        r->others = rocl_add_saturated(r->others, inside - (a->end - a->start));
        r->first = first || a->start < r->first ? a->start : r->first;
        r->until = first || a->end > r->until ? a->end : r->until;
    }
    k->meetings++;
    return ROCL_OK;
}

/* ---- what ranks do between meetings ---------------------------------------------------------- */

void rocl_late_ranks_work(rocl_late_ranks *l, uint32_t rank, rocl_activity what, size_t gpu_plus1,
                          int64_t start, int64_t end)
{
    for (unsigned i = 0; i < l->kind_count; i++) {
        late_rank *r = &l->kinds[i].ranks[rank];
        if (!r->meetings || start < r->first || start > r->until)
            continue;
        if (what == ROCL_ACTIVITIES)
            r->took[LAUNCHES] = rocl_add_saturated(r->took[LAUNCHES], end - start);
        else
            rocl_covers_extend(l->covers[gpu_plus1][i], what, start, end);
    }
}

void rocl_late_ranks_end(rocl_late_ranks *l, uint32_t rank)
{
    for (unsigned i = 0; i < l->kind_count; i++) {
        late_rank *r = &l->kinds[i].ranks[rank];
        int64_t gpus = 0, ns[ROCL_UNIONS] = {0};
        for (size_t g = 0; g <= l->c->trace->gpu_count; g++) {
            rocl_cover *c = l->covers[g][i];
            gpus += c[ROCL_UNION_ALL].measure > 0;
            for (unsigned u = 0; u < ROCL_UNIONS; u++)
                ns[u] += c[u].measure;
            rocl_covers_begin(c);
        }
        gpus += !gpus;
        r->took[KERNELS] = ns[ROCL_UNION_COMPUTE] / gpus;
        r->took[COPIES] = (ns[ROCL_UNION_ALL] - ns[ROCL_UNION_KERNELS]) / gpus;
        if (l->kinds[i].meeting == ROCL_MEET_KERNELS) /* which may run side by side */
            r->inside = ns[ROCL_UNION_COMMUNICATION] / gpus;
    }
}

/* By how much longer a rank took than the mean of the others; of the host all between meetings. */
static int64_t find_excess(const rocl_late_ranks *l, const kind *k, uint32_t rank, cause c)
{
    int64_t own = 0, sum = 0;
    for (uint32_t i = 0; i < l->match->ranks.count; i++) {
        const late_rank *r = &k->ranks[i];
        const int64_t ns = c != HOST                       ? r->took[c]
                           : k->meeting == ROCL_MEET_STEPS ? r->inside
                                                           : r->until - r->first - r->inside;
        own = i == rank ? ns : own;
        sum = rocl_add_saturated(sum, r->meetings ? ns : 0);
    }
    return own - (sum - own) / (k->met - 1);
}

/* Is it time of this cause? */
static bool is_cause(const rocl_late_ranks *l, cause c, const rocl_rank_key *k)
{
    size_t n, stem;
    uint64_t number;
    const char *name = rocl_strings_get(l->c->trace->strings, k->name, &n);
    const bool step = k->work == ROCL_RANK_MARKERS &&
                      rocl_step_names_match(l->c->trace->steps, name, n, &stem, &number);
    const cause of = k->work == ROCL_RANK_KERNELS     ? KERNELS
                     : k->work == ROCL_RANK_COPIES    ? COPIES
                     : k->traits & ROCL_RANK_LAUNCHES ? LAUNCHES
                                                      : HOST;
    return of == c && !step && !(k->traits & ROCL_RANK_WAITS);
}

/* The name of that cause of which the rank has most more than the others: at least *most, which
 * becomes how much. ROCL_NONE: none. */
static uint32_t find_name(const rocl_late_ranks *l, const kind *k, const rocl_rank_sums *s,
                          uint32_t rank, cause c, int64_t *most)
{
    uint32_t name = ROCL_NONE;
    for (size_t i = 0, next; i < s->cell_count; i = next) {
        const rocl_rank_key *key = &s->cells[i].key;
        int64_t own = 0, sum = 0;
        for (next = i; next < s->cell_count && s->cells[next].key.work == key->work &&
                       s->cells[next].key.name == key->name;
             next++) {
            const rocl_rank_cell *one = &s->cells[next];
            own = one->key.rank == rank ? one->sum.total : own;
            sum = rocl_add_saturated(sum, k->ranks[one->key.rank].meetings ? one->sum.total : 0);
        }
        const int64_t excess = own - (sum - own) / (k->met - 1);
        if (excess > *most && is_cause(l, c, key)) {
            *most = excess;
            name = key->name;
        }
    }
    return name;
}

/* ---- the table ------------------------------------------------------------------------------- */

typedef struct late_row {
    const char *meeting, *cause;
    const kind *kind;
    uint32_t index, name;
    rocl_rank is;
    int64_t cause_ns;
    double lost_percent;
    double chance; /* the probability that it came last so often; 1: it costs nothing */
    late_rank r;
} late_row;

/* The cause, and a name that is a quarter of it. A launch may wait for kernels before it, and the
 * host, if any of it is recorded, has the rest of the time. If ranks wait elsewhere, as for calls
 * of RCCL, only names of the host tell. */
static void find_cause(const rocl_late_ranks *l, const rocl_rank_sums *s, late_row *row)
{
    const rocl_rank_sum *all = s->totals[row->index];
    const bool host =
        all[ROCL_RANK_MARKERS].calls + all[ROCL_RANK_CALLS].calls + all[ROCL_RANK_OTHERS].calls > 0;
    int64_t ns[CAUSES], explained = 0;
    cause worst = CAUSES;
    for (cause c = KERNELS; c < (host ? CAUSES : HOST); c++) {
        ns[c] = find_excess(l, row->kind, row->index, c);
        ns[c] -= c == LAUNCHES && ns[KERNELS] > 0 ? ns[KERNELS] : c == HOST ? explained : 0;
        explained += ns[c] > 0 ? ns[c] : 0;
        worst = ns[c] > (worst < CAUSES ? ns[worst] : 0) ? c : worst;
    }
    int64_t least = (worst < CAUSES ? ns[worst] : row->r.late) / 4;
    row->name = find_name(l, row->kind, s, row->index, worst < CAUSES ? worst : HOST, &least);
    if (worst == CAUSES && row->name != ROCL_NONE)
        ns[worst = HOST] = least;
    row->cause = cause_names[worst];
    row->cause_ns = worst < CAUSES ? ns[worst] : -1;
}

#define CELL(field) ROCL_CELL(late_row, field)
static const rocl_column columns[] = {
    {"meeting", "Meeting", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(meeting)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(is.number)},
    {"pid", "Process", ROCL_UNIT_COUNT, ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_known, late_row, is.pid)},
    {"last", "Last", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(r.last)},
    {"meetings", "Meetings", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(r.meetings)},
    {"late_ns", "Late", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(r.late)},
    {"gain_ns", "Gain", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(r.gain)},
    {"lost_ns", "Others wait", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(r.lost)},
    {"lost_percent", "Of communication %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, CELL(lost_percent)},
    {"cause", "Longer", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(cause)},
    {"cause_ns", "By", ROCL_UNIT_NS, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_known, late_row, cause_ns)},
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_text_or_none, late_row, name)},
    {"begin_ns", "Longest from", ROCL_UNIT_TIME, ROCL_MINOR, CELL(r.begin)},
    {"end_ns", "To", ROCL_UNIT_TIME, ROCL_MINOR, CELL(r.end)},
    {"event", "Id of the last", ROCL_UNIT_TEXT, ROCL_IF_IDS, CELL(r.event)},
};
const rocl_table_def rocl_late_ranks_table = {ROCL_TAB(RANKS), "late_ranks", "Late ranks",
                                              ROCL_COLUMNS(columns)};

static const char *const meeting_names[ROCL_MEETINGS] = {"collectives", "RCCL calls", "MPI",
                                                         "steps"};

/* Is it one of the kinds that tell? Steps only if nothing else does, those that are the most. */
static bool is_counted(const rocl_late_ranks *l, const kind *k)
{
    uint32_t has = 0;
    const kind *most = k;
    for (unsigned i = 0; i < l->kind_count; i++) {
        const kind *o = &l->kinds[i];
        has |= o->meetings ? ROCL_BIT(o->meeting) : 0;
        most = o->meeting == ROCL_MEET_STEPS && o->meetings > most->meetings ? o : most;
    }
    return k->meeting == ROCL_MEET_STEPS   ? has == ROCL_BIT(ROCL_MEET_STEPS) && most == k
           : k->meeting == ROCL_MEET_CALLS ? !(has & ROCL_BIT(ROCL_MEET_KERNELS))
                                           : true;
}

/* The probability of k or more of n, where each comes with probability p. */
static double binomial_tail(uint64_t n, uint64_t k, double p)
{
    double sum = 0;
    for (uint64_t i = k; i <= n; i++) {
        const double one =
            exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) +
                (double)i * log(p) + (double)(n - i) * log1p(-p));
        sum += one;
        if (one < sum * 1e-12 && (double)i > p * (double)n)
            break;
    }
    return sum;
}

/* The probability that one of so many ranks is the last so often; 1 if that costs nothing. */
static double find_chance(const rocl_late_ranks *l, const kind *k, const late_rank *r, int64_t wall)
{
    const rocl_trace *t = l->c->trace;
    const bool fitted = t->opt.align == ROCL_ALIGN_COLLECTIVES && k->meeting != ROCL_MEET_STEPS;
    const double wait = (double)r->mean_lost;
    return r->meetings < LEAST_MEETINGS || r->late <= 0 || (double)r->last <= r->chance ||
                   wait < LEAST_SHARE * (double)wall ||
                   (fitted && wait <= t->clock_uncertainty * (double)r->last)
               ? 1
               : binomial_tail(r->meetings, r->last, r->chance / (double)r->meetings) * k->met / 2;
}

static int compare_rows(const void *a, const void *b)
{
    const late_row *x = a, *y = b;
    int c = rocl_number_order(y->r.gain, x->r.gain);
    c = c ? c : rocl_number_order(x->kind->meeting, y->kind->meeting);
    return c ? c : rocl_number_order(x->index, y->index);
}

/* The sentence that answers. row NULL: nobody meets. */
static void set_late_note(const rocl_late_ranks *l, const rocl_report_rows *t, const late_row *row)
{
    if (!row) {
        rocl_set_note(t, l->kind_count && l->kinds[0].by_duration
                             ? "the clocks of nodes may be apart, and durations do not tell"
                             : "fewer than two ranks meet");
        return;
    }
    const late_rank *r = &row->r;
    const char *words = row->kind->meeting == ROCL_MEET_MPI ? "collectives of MPI" : row->meeting;
    const bool late = row->chance < LATE, maybe = !late && row->chance < MAYBE_LATE;
    char name[48], share[96] = "", why[64] = "", clocks[96] = "", times[2][32];
    rocl_rank_name(&l->match->ranks.all[row->index], name);
    if (isfinite(row->lost_percent))
        snprintf(share, sizeof share, ", %.1f %% of their communication", row->lost_percent);
    if (row->cause)
        snprintf(why, sizeof why, "; its %s take%s %s longer", row->cause,
                 row->cause == cause_names[HOST] ? "s" : "",
                 rocl_time_text(times[0], row->cause_ns));
    if (row->kind->by_duration)
        snprintf(clocks, sizeof clocks, "; by durations, as the clocks of nodes may be apart");
    if (r->meetings < LEAST_MEETINGS)
        rocl_set_note(t, "too few %s to tell: %llu", words, ROCL_N(r->meetings));
    else if (!r->last)
        rocl_set_note(t, "no rank is late: none waits in %llu %s%s", ROCL_N(r->meetings), words,
                      clocks);
    else
        rocl_set_note(t, "%s%s %s last in %llu of %llu %s%s; the others wait %s%s%s%s",
                      late || maybe ? "" : "no rank is late: ", name,
                      late    ? "is late:"
                      : maybe ? "may be late:"
                              : "is",
                      ROCL_N(r->last), ROCL_N(r->meetings), words,
                      maybe ? ", which may be chance" : "", rocl_time_text(times[1], r->lost),
                      share, why, clocks);
}

rocl_status rocl_late_ranks_put(rocl_late_ranks *l, const rocl_rank_sums *s, rocl_tables *out,
                                rocl_error *err)
{
    const uint32_t ranks = l->match->ranks.count;
    late_row *rows = calloc((size_t)ranks * l->kind_count + 1, sizeof *rows), most = {0};
    int64_t wall = 0;
    size_t n = 0;
    if (!rows)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < ranks; i++) {
        const int64_t ns = s->extents[i].last - s->extents[i].first;
        wall = ns > wall ? ns : wall;
    }
    for (unsigned i = 0; i < l->kind_count; i++) {
        const kind *k = &l->kinds[i];
        for (uint32_t rank = 0; rank < ranks && is_counted(l, k); rank++) {
            const late_rank *r = &k->ranks[rank];
            const bool waits = k->meeting == ROCL_MEET_KERNELS || k->meeting == ROCL_MEET_MPI;
            late_row row = {.meeting = meeting_names[k->meeting],
                            .kind = k,
                            .index = rank,
                            .name = ROCL_NONE,
                            .is = l->match->ranks.all[rank],
                            .cause_ns = -1,
                            .lost_percent = rocl_percent(r->lost, waits ? r->others : 0),
                            .r = *r};
            if (!r->meetings)
                continue;
            row.chance = find_chance(l, k, r, wall);
            if (!most.kind ||
                (row.chance < MAYBE_LATE || most.chance < MAYBE_LATE ? row.chance < most.chance
                                                                     : r->lost > most.r.lost))
                most = row;
            if (row.chance >= LATE)
                continue;
            find_cause(l, s, &row);
            rows[n++] = row;
        }
    }
    qsort(rows, n, sizeof *rows, compare_rows);
    const rocl_report_rows t = rocl_begin_table(l->c, out, &rocl_late_ranks_table, 0);
    set_late_note(l, &t, n ? rows : most.kind ? &most : NULL);
    if (t.table && !n)
        t.table->why_empty = t.table->note;
    rocl_add_top_rows(&t, rows, n, sizeof *rows, NULL);
    free(rows);
    return ROCL_OK;
}
