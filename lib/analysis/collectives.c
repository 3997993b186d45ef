/* The report of ranks, whose parts are in ranks.h; and collectives across ranks: how late ranks
 * arrive, how long the others wait, and how fast data moves. A rank waits in its kernel until the
 * last one has begun its own, so
 *
 *     wait of a rank = start of the last kernel - start of its own      needs equal clocks
 *     latency        = shortest kernel: that of a rank which waited little     does not
 *     algorithm bandwidth = bytes / latency; bus bandwidth: times a factor of the kind
 *
 * How kernels of ranks become one collective is in model/collectives.h. How much of communication
 * is exposed, beside no compute kernel of its GPU, is found by a sweep over each rank's work, which
 * is sorted by start. In memory are sums by group and rank, and the worst. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/facts.h"
#include "analysis/ranks.h"
#include "base/array.h"

enum { WORST = 20 };

/* What makes a group; interned as bytes, so without holes. */
typedef struct group_key {
    uint32_t communicator; /* in their order */
    uint32_t kind, name;   /* text: the kernel's; 0: the kind says it */
    uint32_t ranks;
    uint64_t bytes; /* 0: unknown */
} group_key;

/* Times saturate. */
typedef struct group {
    group_key key;
    uint64_t count, whole; /* collectives; those of which all is known */
    uint64_t members;      /* kernels of the whole ones */
    int64_t total;         /* sum over all kernels */
    int64_t latency, skew, wait, max_wait;
    /* For its row: */
    double mean_latency, mean_skew, mean_wait, algorithm, bus;
} group;

typedef struct communicator_row {
    rocl_communicator key;
    uint64_t kernels, collectives, whole, incomplete, mixed, single;
    uint32_t seen;
} communicator_row;

typedef struct rank_row {
    rocl_rank is;
    const rocl_gpu *gpu;
    uint64_t kernels, whole, last, first;
    int64_t wait;
    double mean_wait;
    int64_t communication, exposed;
    double exposed_percent;
} rank_row;

typedef struct instance {
    group_key key;
    uint64_t number;
    int64_t start, skew, latency, ends; /* ends: from the first to the last */
    uint32_t last, first;               /* participants */
    rocl_event_ref event;
} instance;

typedef struct collectives {
    rocl_collector c;
    rocl_collectives match;
    rocl_rank_sums sums;
    rocl_late_ranks *late;
    rocl_sorter *work; /* kernels, and of several ranks copies and launches, by rank and time */
    rocl_strings *keys;
    group *groups;
    size_t group_cap;
    communicator_row *communicators;
    rank_row *ranks; /* by participant */
    instance worst[WORST];
    unsigned worst_count;
    uint64_t kernels;
} collectives;

/* ---- events ---------------------------------------------------------------------------------- */

static rocl_status add_work(collectives *k, unsigned worker, const rocl_batch *b,
                            const rocl_event *e, rocl_activity what, const rocl_gpu *gpu,
                            rocl_error *err)
{
    const uint64_t key[4] = {k->match.ranks.of[b->capture->index][e->process], (uint64_t)e->start,
                             b->capture->index, rocl_row_word(e->id, b->kind)};
    const uint64_t numbers[] = {what, (uint64_t)(e->end - e->start),
                                gpu ? (uint64_t)(gpu - k->c.trace->gpus) + 1 : 0};
    return rocl_add_numbers(k->work, worker, key, numbers, 3, err);
}

static rocl_status add_collective_batch(void *self, unsigned worker, const rocl_batch *b,
                                        rocl_error *err)
{
    collectives *k = self;
    const bool several = k->match.ranks.count > 1;
    rocl_status st =
        b->kind == ROCL_COPY ? ROCL_OK : rocl_collectives_add(&k->match, worker, b, err);
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const rocl_gpu *gpus[2] = {NULL};
        rocl_activity what = ROCL_ACTIVITY_COPY;
        uint32_t traits;
        unsigned n = 0;
        st = rocl_rank_sums_add(&k->sums, worker, b, e, &traits, err);
        if (b->kind == ROCL_DISPATCH) {
            what = traits & ROCL_RANK_WAITS ? ROCL_ACTIVITY_COMMUNICATION : ROCL_ACTIVITY_COMPUTE;
            gpus[n++] = rocl_gpu_of(b->capture, b->dispatches[i].agent);
        } else if (b->kind == ROCL_COPY && several) {
            n = rocl_gpus_of(b, i, gpus);
        } else if (traits & ROCL_RANK_LAUNCHES && several) {
            what = ROCL_ACTIVITIES;
            n = 1;
        }
        for (unsigned g = 0; g < n && st == ROCL_OK; g++)
            st = add_work(k, worker, b, e, what, gpus[g], err);
    }
    return st;
}

/* ---- collectives ----------------------------------------------------------------------------- */

static int compare_instances(const void *a, const void *b)
{
    const instance *x = a, *y = b;
    return rocl_number_order(y->skew, x->skew);
}

/* The first that arrived, and the last: of equal ones the lower rank; none if all are equal. */
static void add_whole(collectives *k, group *g, const rocl_collective *m)
{
    const rocl_collective_member *first = m->members, *last = m->members, *early = m->members,
                                 *late = m->members;
    int64_t latency = INT64_MAX;
    for (uint32_t i = 0; i < m->count; i++) {
        const rocl_collective_member *p = &m->members[i];
        first = p->start < first->start ? p : first;
        last = p->start > last->start ? p : last;
        early = p->end < early->end ? p : early;
        late = p->end > late->end ? p : late;
        latency = p->end - p->start < latency ? p->end - p->start : latency;
    }
    const int64_t skew = last->start - first->start;
    for (uint32_t i = 0; i < m->count; i++) {
        const rocl_collective_member *p = &m->members[i];
        rank_row *r = &k->ranks[p->participant];
        r->whole++;
        r->last += p == last && skew > 0;
        r->first += p == first && skew > 0;
        r->wait = rocl_add_saturated(r->wait, last->start - p->start);
        g->wait = rocl_add_saturated(g->wait, last->start - p->start);
    }
    g->whole++;
    g->members += m->count;
    g->latency = rocl_add_saturated(g->latency, latency);
    g->skew = rocl_add_saturated(g->skew, skew);
    g->max_wait = skew > g->max_wait ? skew : g->max_wait;
    const instance w = {g->key,
                        m->number,
                        first->start,
                        skew,
                        latency,
                        late->end - early->end,
                        last->participant,
                        first->participant,
                        {last->capture + 1, last->row}};
    if (skew > 0)
        rocl_keep_first(k->worst, &k->worst_count, WORST, sizeof w, &w, compare_instances);
}

/* Once participants and communicators are known. */
static rocl_status prepare_sums(collectives *k, rocl_error *err)
{
    const rocl_collectives *m = &k->match;
    if (k->ranks)
        return ROCL_OK;
    k->communicators = calloc((size_t)m->communicator_count + 1, sizeof *k->communicators);
    k->ranks = calloc((size_t)m->participant_count + 1, sizeof *k->ranks);
    if (!k->communicators || !k->ranks)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < m->communicator_count; i++)
        k->communicators[i].key = m->communicators[i];
    for (uint32_t i = 0; i < m->participant_count; i++)
        k->ranks[i] =
            (rank_row){.is = m->ranks.all[m->participants[i].rank], .gpu = m->participants[i].gpu};
    return ROCL_OK;
}

static rocl_status add_collective(void *ctx, const rocl_collective *m, rocl_error *err)
{
    collectives *k = ctx;
    rocl_status st = prepare_sums(k, err);
    if (st == ROCL_OK)
        st = rocl_late_ranks_meet(k->late, m, err);
    if (st != ROCL_OK || k->match.communicators[m->communicator].meeting != ROCL_MEET_KERNELS)
        return st;
    const bool named = m->kind != ROCL_COLLECTIVE_OTHER;
    const group_key key = {m->communicator, m->kind, named ? 0 : m->name, m->expected, m->bytes};
    const uint32_t id = rocl_strings_put(k->keys, (const char *)&key, sizeof key);
    if (id == ROCL_NONE || !ROCL_GROW(k->groups, k->group_cap, (size_t)id + 1))
        return rocl_fail_memory(err);
    group *g = &k->groups[id];
    communicator_row *c = &k->communicators[m->communicator];
    g->key = key;
    g->count++;
    for (uint32_t i = 0; i < m->count; i++) {
        g->total = rocl_add_saturated(g->total, m->members[i].end - m->members[i].start);
        k->ranks[m->members[i].participant].kernels++;
    }
    k->kernels += m->count;
    c->kernels += m->count;
    if (m->kind == ROCL_COLLECTIVE_POINT) {
        c->single++;
        return ROCL_OK;
    }
    c->collectives++;
    c->mixed += m->mixed;
    c->whole += rocl_collective_is_whole(m);
    c->incomplete += !m->mixed && m->count != m->expected;
    if (rocl_collective_is_whole(m))
        add_whole(k, g, m);
    return ROCL_OK;
}

/* ---- what is exposed ------------------------------------------------------------------------- */

/* The work of a rank has come: covers by GPU, + 1. They begin anew. */
static void end_rank(collectives *k, uint32_t rank, rocl_cover (*covers)[ROCL_UNIONS])
{
    for (size_t g = 0; g <= k->c.trace->gpu_count; g++) {
        const uint32_t at =
            rocl_collectives_find(&k->match, rank, g ? &k->c.trace->gpus[g - 1] : NULL);
        int64_t ns[ROCL_UNIONS];
        for (unsigned u = 0; u < ROCL_UNIONS; u++)
            ns[u] = rocl_cover_before(&covers[g][u], INT64_MAX);
        rocl_covers_begin(covers[g]);
        if (at == ROCL_NONE) /* a GPU without communication */
            continue;
        rank_row *r = &k->ranks[at];
        r->communication = ns[ROCL_UNION_COMMUNICATION];
        r->exposed = ns[ROCL_UNION_KERNELS] - ns[ROCL_UNION_COMPUTE];
        r->exposed_percent = rocl_percent(r->exposed, r->communication);
        r->mean_wait = rocl_mean(r->wait, r->whole);
    }
    rocl_late_ranks_end(k->late, rank);
}

static rocl_status measure_work(collectives *k, rocl_error *err)
{
    const rocl_trace *t = k->c.trace;
    rocl_sort_record rec;
    uint32_t rank = ROCL_NONE;
    rocl_cover(*covers)[ROCL_UNIONS] = calloc(t->gpu_count + 1, sizeof *covers);
    if (!covers)
        return rocl_fail_memory(err);
    for (size_t g = 0; g <= t->gpu_count; g++)
        rocl_covers_begin(covers[g]);
    rocl_status st = rocl_sorter_start(k->work, err);
    while (rocl_next_record(k->work, &rec, &st, err)) {
        uint64_t v[3]; /* what, duration, GPU */
        rocl_read_numbers(&rec, v, 3);
        const int64_t start = (int64_t)rec.key[1], end = start + (int64_t)v[1];
        if (rank != ROCL_NONE && rank != (uint32_t)rec.key[0])
            end_rank(k, rank, covers);
        rank = (uint32_t)rec.key[0];
        if (v[0] != ROCL_ACTIVITIES)
            rocl_covers_extend(covers[v[2]], (rocl_activity)v[0], start, end);
        rocl_late_ranks_work(k->late, rank, (rocl_activity)v[0], v[2], start, end);
    }
    if (rank != ROCL_NONE)
        end_rank(k, rank, covers);
    free(covers);
    return st;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static const collectives *self_of(const rocl_report_rows *r)
{
    return (const collectives *)(const void *)r->c;
}

/* uint32_t: a participant. */
static rocl_datum field_participant(const rocl_report_rows *r, const void *field)
{
    const rocl_collectives *m = &self_of(r)->match;
    const rocl_participant *p = &m->participants[*(const uint32_t *)field];
    const uint32_t i = *(const uint32_t *)field, of = p->rank;
    /* One before it without a GPU is its ranges. */
    const bool several =
        (i + 1 < m->participant_count && p[1].rank == of) || (i && p[-1].rank == of && p[-1].gpu);
    char name[48], text[96];
    rocl_rank_name(&m->ranks.all[p->rank], name);
    const int n = several && p->gpu ? snprintf(text, sizeof text, "%s, GPU %u", name, p->gpu->id)
                                    : snprintf(text, sizeof text, "%s", name);
    return rocl_datum_text(r->out, text, (size_t)n);
}

/* uint64_t: bytes; 0: unknown. */
static rocl_datum field_bytes(const rocl_report_rows *r, const void *field)
{
    const uint64_t bytes = *(const uint64_t *)field;
    (void)r;
    return bytes && bytes <= INT64_MAX ? rocl_datum_int((int64_t)bytes) : (rocl_datum){0};
}

/* rocl_communicator; no value if unknown. */
static rocl_datum field_communicator_key(const rocl_report_rows *r, const void *field)
{
    const rocl_communicator *c = field;
    return c->kernel ? (rocl_datum){0} : rocl_field_text(r, &c->name);
}

/* uint32_t: a communicator. */
static rocl_datum field_communicator(const rocl_report_rows *r, const void *field)
{
    return field_communicator_key(r, &self_of(r)->match.communicators[*(const uint32_t *)field]);
}

/* Its ranks, as it says; else the kernels that it stands for. */
static rocl_datum field_communicator_ranks(const rocl_report_rows *r, const void *field)
{
    const rocl_communicator *c = field;
    return rocl_field_text(r, c->kernel ? &c->kernel : &c->ranks);
}

/* uint32_t: how many; 0: unknown. */
static rocl_datum field_ranks(const rocl_report_rows *r, const void *field)
{
    const uint32_t n = *(const uint32_t *)field;
    (void)r;
    return n ? rocl_datum_int(n) : (rocl_datum){0};
}

/* uint32_t [2]: a kind, and the name of the kernel where the kind does not say it. */
static rocl_datum field_collective(const rocl_report_rows *r, const void *field)
{
    const uint32_t *of = field;
    const char *name = rocl_collective_name((rocl_collective_kind)of[0]);
    return of[0] == ROCL_COLLECTIVE_OTHER ? rocl_field_text(r, &of[1])
                                          : rocl_datum_text(r->out, name, strlen(name));
}
_Static_assert(offsetof(group_key, name) == offsetof(group_key, kind) + 4,
               "field_collective reads the kind and the name");

/* ---- tables ---------------------------------------------------------------------------------- */

#define CELL(field) ROCL_CELL(group, field)
static const rocl_column group_columns[] = {
    {"collective", "Collective", ROCL_UNIT_TEXT, ROCL_OTHERS,
     ROCL_CELL_BY(field_collective, group, key.kind)},
    {"communicator", "Communicator", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(field_communicator, group, key.communicator)},
    {"ranks", "Ranks", ROCL_UNIT_COUNT, ROCL_ALWAYS, ROCL_CELL_BY(field_ranks, group, key.ranks)},
    {"bytes", "Size", ROCL_UNIT_BYTES, ROCL_ALWAYS, ROCL_CELL_BY(field_bytes, group, key.bytes)},
    {"count", "Count", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(count)},
    {"matched", "Matched", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, CELL(whole)},
    {"total_ns", "Kernel time", ROCL_UNIT_NS, ROCL_IN_REST, CELL(total)},
    {"latency_ns", "Latency", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(mean_latency)},
    {"skew_ns", "Skew", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(mean_skew)},
    {"wait_ns", "Wait", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(mean_wait)},
    {"max_wait_ns", "Wait max", ROCL_UNIT_NS, ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_known, group, max_wait)},
    {"algorithm_bandwidth", "Algorithm bandwidth", ROCL_UNIT_RATE, ROCL_ALWAYS, CELL(algorithm)},
    {"bus_bandwidth", "Bus bandwidth", ROCL_UNIT_RATE, ROCL_ALWAYS, CELL(bus)},
};

#undef CELL
#define CELL(field) ROCL_CELL(rank_row, field)
static const rocl_column rank_columns[] = {
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(is.number)},
    {"pid", "Process", ROCL_UNIT_COUNT, ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_known, rank_row, is.pid)},
    {"host", "Host", ROCL_UNIT_TEXT, ROCL_MINOR, ROCL_CELL_BY(rocl_field_label, rank_row, is.host)},
    {"gpu", "GPU", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(gpu)},
    {"matched", "Matched", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(whole)},
    {"last", "Last", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(last)},
    {"first", "First", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(first)},
    {"total_wait_ns", "Total wait", ROCL_UNIT_NS, ROCL_IN_REST, CELL(wait)},
    {"wait_ns", "Wait", ROCL_UNIT_NS, ROCL_IN_REST, CELL(mean_wait)},
    {"communication_ns", "Communication", ROCL_UNIT_NS, ROCL_IN_REST, CELL(communication)},
    {"exposed_ns", "Exposed", ROCL_UNIT_NS, ROCL_IN_REST, CELL(exposed)},
    {"exposed_percent", "Exposed of comm. %", ROCL_UNIT_PERCENT, ROCL_IN_REST,
     CELL(exposed_percent)},
};

#undef CELL
#define CELL(field) ROCL_CELL(instance, field)
static const rocl_column instance_columns[] = {
    {"collective", "Collective", ROCL_UNIT_TEXT, ROCL_OTHERS,
     ROCL_CELL_BY(field_collective, instance, key.kind)},
    {"communicator", "Communicator", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(field_communicator, instance, key.communicator)},
    {"number", "Number", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(number)},
    {"ranks", "Ranks", ROCL_UNIT_COUNT, ROCL_MINOR, ROCL_CELL_BY(field_ranks, instance, key.ranks)},
    {"bytes", "Size", ROCL_UNIT_BYTES, ROCL_ALWAYS, ROCL_CELL_BY(field_bytes, instance, key.bytes)},
    {"start_ns", "Start", ROCL_UNIT_TIME, ROCL_ALWAYS, CELL(start)},
    {"skew_ns", "Skew", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(skew)},
    {"latency_ns", "Latency", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(latency)},
    {"end_skew_ns", "Skew of ends", ROCL_UNIT_NS, ROCL_MINOR, CELL(ends)},
    {"last", "Last", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL_BY(field_participant, instance, last)},
    {"first", "First", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(field_participant, instance, first)},
    {"id", "Id of the last", ROCL_UNIT_TEXT, ROCL_IF_IDS, CELL(event)},
};

#undef CELL
#define CELL(field) ROCL_CELL(communicator_row, field)
static const rocl_column communicator_columns[] = {
    {"communicator", "Communicator", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(field_communicator_key, communicator_row, key)},
    {"members", "Ranks, or kernel", ROCL_UNIT_TEXT, ROCL_OTHERS,
     ROCL_CELL_BY(field_communicator_ranks, communicator_row, key)},
    {"size", "Size", ROCL_UNIT_COUNT, ROCL_ALWAYS,
     ROCL_CELL_BY(field_ranks, communicator_row, key.size)},
    {"seen", "In the trace", ROCL_UNIT_COUNT, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_count, communicator_row, seen)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(kernels)},
    {"collectives", "Collectives", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(collectives)},
    {"matched", "Matched", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(whole)},
    {"incomplete", "Ranks missing", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(incomplete)},
    {"mixed", "Not alike", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(mixed)},
    {"point_to_point", "Point to point", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(single)},
};

static const rocl_table_def group_table = {ROCL_TAB(RANKS), "collectives", "Collectives",
                                           ROCL_COLUMNS(group_columns)},
                            rank_table = {ROCL_TAB(RANKS), "collective_ranks",
                                          "Collectives by rank", ROCL_COLUMNS(rank_columns)},
                            instance_table = {ROCL_TAB(RANKS), "collective_waits",
                                              "Collectives that were waited for longest",
                                              ROCL_COLUMNS(instance_columns)},
                            communicator_table = {ROCL_TAB(RANKS), "communicators", "Communicators",
                                                  ROCL_COLUMNS(communicator_columns)};

/* ---- rows ------------------------------------------------------------------------------------ */

static int compare_groups(const void *a, const void *b, void *ctx)
{
    const group *x = a, *y = b;
    const collectives *k = ctx;
    const rocl_sort_values of[] = {{x->total, x->max_wait, x->count, x->mean_latency},
                                   {y->total, y->max_wait, y->count, y->mean_latency}};
    int c = rocl_compare_values(k->c.options->sort, &of[0], &of[1]);
    c = c ? c : rocl_number_order(x->key.kind, y->key.kind);
    c = c ? c : rocl_number_order(x->key.communicator, y->key.communicator);
    c = c ? c : rocl_compare_texts(k->c.trace, x->key.name, y->key.name);
    c = c ? c : rocl_number_order(x->key.ranks, y->key.ranks);
    return c ? c : rocl_number_order((int64_t)y->key.bytes, (int64_t)x->key.bytes);
}

static void add_group(void *sum, const void *row)
{
    group *s = sum;
    const group *g = row;
    s->count += g->count;
    s->whole += g->whole;
    s->total = rocl_add_saturated(s->total, g->total);
}

static void put_groups(collectives *k, rocl_tables *out)
{
    const size_t n = rocl_strings_count(k->keys) - 1;
    uint64_t unknown = 0;
    for (group *g = k->groups + 1; g <= k->groups + n; g++) {
        const double waits = g->members ? (double)g->members : __builtin_nan("");
        const double moved =
            g->key.bytes ? (double)g->key.bytes * (double)g->whole : __builtin_nan("");
        const double factor =
            rocl_collective_bus_factor((rocl_collective_kind)g->key.kind, g->key.ranks);
        g->mean_latency = rocl_mean(g->latency, g->whole);
        g->mean_skew = rocl_mean(g->skew, g->whole);
        g->mean_wait = (double)g->wait / waits;
        g->max_wait = g->whole ? g->max_wait : -1;
        g->algorithm = g->whole ? rocl_ratio(moved * 1e9, (double)g->latency) : waits;
        g->bus = factor > 0 ? g->algorithm * factor : __builtin_nan("");
        unknown += g->key.bytes ? 0 : g->count;
    }
    qsort_r(k->groups + 1, n, sizeof *k->groups, compare_groups, k);
    const rocl_report_rows r = rocl_begin_table(&k->c, out, &group_table, 0);
    const rocl_trace *t = k->c.trace;
    char sizes[96] = "", clocks[96] = "";
    if (unknown)
        snprintf(sizes, sizeof sizes, "; the sizes of %llu are not in the trace", ROCL_N(unknown));
    if (t->clock_uncertainty > 0)
        snprintf(clocks, sizeof clocks, "; the clocks of nodes are known to within %.3g us",
                 t->clock_uncertainty / 1e3);
    else if (t->clock_count > 1)
        snprintf(clocks, sizeof clocks,
                 "; skew and wait include how far the clocks of the %zu nodes are apart",
                 t->clock_count);
    if (n)
        rocl_set_note(&r, "latency: of the rank that is done fastest%s%s", clocks, sizes);
    rocl_add_top_rows(&r, k->groups + 1, n, sizeof *k->groups, add_group);
}

static void add_rank(void *sum, const void *row)
{
    rank_row *s = sum;
    const rank_row *r = row;
    s->whole += r->whole;
    s->last += r->last;
    s->first += r->first;
    s->wait = rocl_add_saturated(s->wait, r->wait);
    s->communication = rocl_add_saturated(s->communication, r->communication);
    s->exposed = rocl_add_saturated(s->exposed, r->exposed);
    s->exposed_percent = rocl_percent(s->exposed, s->communication);
    s->mean_wait = rocl_mean(s->wait, s->whole);
}

static void put_ranks(collectives *k, rocl_tables *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->match.participant_count; i++)
        if (k->ranks[i].kernels)
            k->ranks[n++] = k->ranks[i];
    const rocl_report_rows r = rocl_begin_table(&k->c, out, &rank_table, 0);
    rocl_add_top_rows(&r, k->ranks, n, sizeof *k->ranks, add_rank);
}

static void add_communicator(void *sum, const void *row)
{
    communicator_row *s = sum;
    const communicator_row *c = row;
    s->kernels += c->kernels;
    s->collectives += c->collectives;
    s->whole += c->whole;
    s->incomplete += c->incomplete;
    s->mixed += c->mixed;
    s->single += c->single;
}

static void put_communicators(const collectives *k, rocl_tables *out)
{
    const rocl_report_rows r = rocl_begin_table(&k->c, out, &communicator_table, 0);
    uint32_t unknown = 0, n = 0;
    for (uint32_t i = 0; i < k->match.communicator_count; i++) {
        if (k->match.communicators[i].meeting != ROCL_MEET_KERNELS)
            continue;
        k->communicators[n] = k->communicators[i];
        k->communicators[n++].seen = k->match.seen[i];
        unknown += k->match.communicators[i].kernel != 0;
    }
    if (n)
        rocl_set_note(&r, "%llu kernels of communication%s", ROCL_N(k->kernels),
                      unknown ? "; those that do not name their communicator are matched by the "
                                "name of the kernel and their order"
                              : "");
    rocl_add_top_rows(&r, k->communicators, n, sizeof *k->communicators, add_communicator);
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_collectives(void *self, rocl_error *err)
{
    collectives *k = self;
    k->work = rocl_collector_sorter(&k->c, 4);
    k->keys = rocl_strings_new();
    k->match.meetings = ROCL_BIT(ROCL_MEETINGS) - 1;
    if (!k->work || !k->keys || !ROCL_GROW(k->groups, k->group_cap, 1))
        return rocl_fail_memory(err);
    rocl_status st = rocl_collectives_open(&k->match, k->c.trace, rocl_collector_sorter(&k->c, 4),
                                           rocl_collector_sorter(&k->c, 4), err);
    /* A single rank is not late: findings need nothing of it. */
    if (k->match.ranks.count < 2 && !(k->c.options->reports >> ROCL_REPORT_RANKS & 1))
        k->c.kinds = 0;
    if (st == ROCL_OK)
        st = rocl_rank_sums_open(&k->sums, &k->c, &k->match.ranks, err);
    return st == ROCL_OK ? rocl_late_ranks_open(&k->late, &k->c, &k->match, err) : st;
}

static rocl_status finish_collectives(void *self, rocl_tables *out, rocl_error *err)
{
    collectives *k = self;
    rocl_status st = rocl_collectives_match(&k->match, add_collective, k, err);
    if (st == ROCL_OK)
        st = prepare_sums(k, err);
    if (st == ROCL_OK)
        st = measure_work(k, err);
    if (st == ROCL_OK)
        st = rocl_rank_sums_finish(&k->sums, err);
    if (st == ROCL_OK)
        st = rocl_late_ranks_put(k->late, &k->sums, out, err);
    if (st == ROCL_OK)
        st = rocl_rank_sums_put(&k->sums, out, err);
    if (st != ROCL_OK)
        return st;
    put_groups(k, out);
    put_ranks(k, out);
    const rocl_report_rows r = rocl_begin_table(&k->c, out, &instance_table, 0);
    rocl_add_top_rows(&r, k->worst, k->worst_count, sizeof *k->worst, NULL);
    put_communicators(k, out);
    return ROCL_OK;
}

static void close_collectives(void *self)
{
    collectives *k = self;
    if (k->sums.c)
        rocl_rank_sums_close(&k->sums);
    rocl_late_ranks_close(k->late);
    if (k->match.trace)
        rocl_collectives_close(&k->match);
    rocl_strings_free(k->keys);
    free(k->groups);
    free(k->communicators);
    free(k->ranks);
}

const rocl_collector_def rocl_ranks_collector = {
    .tables = (const rocl_table_def *const[]){&rocl_late_ranks_table, &rocl_rank_table,
                                              &rocl_rank_times_table, &rocl_rank_imbalance_table,
                                              &group_table, &rank_table, &instance_table,
                                              &communicator_table, NULL},
    .kinds = ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_DISPATCH) |
             ROCL_BIT(ROCL_COPY),
    .size = sizeof(collectives),
    .open = open_collectives,
    .add_batch = add_collective_batch,
    .finish = finish_collectives,
    .close = close_collectives,
};
