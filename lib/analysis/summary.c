/* Calls and time by domain and name, and by what else is wanted: the reports domains, summary,
 * kernels and copies. Every event adds its duration to the samples of its group, a copy to those of
 * two more: percentiles are exact for any number of events, and nothing depends on the number of
 * workers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distribution.h"
#include "analysis/domains.h"
#include "analysis/keyed.h"
#include "analysis/lanes.h"
#include "model/kernel_class.h"

/* What groups are of. A copy is in all. */
typedef enum group_set { OF_NAMES, OF_COPIES, OF_COPY_SIZES } group_set;

/* Classes of sizes end at 1 KiB, 4 KiB, ..., 1 GiB; the last one is open. After them come copies of
 * unknown size. */
enum { SIZE_CLASSES = 11, UNSIZED };

/* What makes a group; interned as bytes, so without holes and zeroed. workgroup and grid are bytes
 * only if dimensions are wanted. */
typedef struct summary_key {
    uint32_t of;        /* group_set */
    int32_t size_class; /* class of sizes of copies; else -1 */
    uint32_t domain;
    uint32_t name, agent, other_agent, stream; /* texts */
    int32_t rank;
    uint32_t workgroup[3], grid[3];
} summary_key;

/* What groups have beside their durations: of copies the bytes, if ids are wanted the longest. */
typedef struct group_sums {
    uint64_t sized;    /* copies whose input says their size: only these count */
    int64_t bytes, ns; /* they saturate */
    double best_rate;  /* bytes per second of the fastest copy */
    rocl_longest longest;
} group_sums;

/* There may be millions: what is only in a table is made for its row. */
typedef struct summary_group {
    summary_key key;
    rocl_distribution d;
} summary_group;

typedef struct summary_row {
    summary_group g; /* first: rows and groups have one order */
    group_sums sums;
    const char *group, *domain;        /* domain: NULL of several */
    uint64_t names;                    /* names that kernels of a class have */
    int64_t all, from_bytes, to_bytes; /* all: the time that its share is of */
    uint64_t unsized;                  /* copies */
    int64_t bytes;                     /* -1: of no copy is it known */
    double percent, bandwidth, max_bandwidth;
} summary_row;

/* Where events of a group come from. Most events are of a few hundred groups: those of late are not
 * looked up. */
typedef struct origin { /* no holes */
    uint32_t name, category, kind, capture, process, agent;
    uint32_t stream; /* its name */
    uint32_t group;  /* 0: of none */
} origin;

enum { RECENT_BITS = 10, RECENT = 1 << RECENT_BITS };
#define HASH_FACTOR UINT32_C(0x9e3779b1)

typedef struct summary {
    rocl_collector c;
    rocl_keyed keyed;
    origin **recent;                            /* RECENT of each worker */
    bool with_names, with_kernels, with_copies; /* a table of these by name is wanted */
    summary_group *groups;
    size_t group_count;
} summary;

/* Does a table show them? The one of domains does not. */
static bool has_percentiles(const void *self, const void *key)
{
    const summary *s = self;
    const summary_key *k = key;
    return k->of != OF_NAMES || s->with_names ||
           (k->domain == ROCL_DOMAIN_KERNELS && s->with_kernels);
}

#define KEY(member, type)              ROCL_MEMBER(summary_key, member, KEY_##type)
#define KEY_BELOW(member, type, below) ROCL_MEMBER_BELOW(summary_key, member, KEY_##type, below)

static const rocl_member key_members[] = {
    KEY(name, TEXT),
    KEY(agent, TEXT),
    KEY(other_agent, TEXT),
    KEY(rank, ID),
    KEY(stream, TEXT),
    KEY_BELOW(size_class, ID, UNSIZED + 1),
    KEY(workgroup, SIZES),
    KEY(grid, SIZES),
    KEY_BELOW(domain, NUMBER, ROCL_DOMAINS),
    KEY_BELOW(of, NUMBER, OF_COPY_SIZES + 1),
};
static const rocl_member sum_members[] = {
    ROCL_MEMBER(group_sums, sized, SUM_COUNT),
    ROCL_MEMBER(group_sums, bytes, SUM_INT),
    ROCL_MEMBER(group_sums, ns, SUM_INT),
    ROCL_MEMBER(group_sums, best_rate, SUM_REAL_GREATEST),
    ROCL_MEMBER(group_sums, longest, SUM_LONGEST),
};
static const rocl_keyed_def summary_groups = {.key_size = sizeof(summary_key),
                                              .sum_size = sizeof(group_sums),
                                              ROCL_KEY_MEMBERS(key_members),
                                              ROCL_SUM_MEMBERS(sum_members),
                                              .has_percentiles = has_percentiles};

/* ---- events ---------------------------------------------------------------------------------- */

/* *lane: what its stream is called, or else its queue; 0. Values, graphs and HIP events are of the
 * whole process here. */
static void read_agent_and_lane(const rocl_batch *b, size_t i, uint32_t *agent, uint32_t *lane)
{
    const uint32_t placed = ROCL_WORK_KINDS & ~(ROCL_BIT(ROCL_GRAPH) | ROCL_BIT(ROCL_HIP_EVENT));
    rocl_work_place at = {ROCL_NONE, ROCL_NONE, ROCL_NONE};
    if (rocl_kind_in(b->kind, placed))
        at = rocl_work_place_of(b->kind, rocl_batch_event(b, i));
    *agent = at.agent;
    *lane = rocl_lane_label(b->capture, at.stream, at.queue);
}

static uint32_t agent_label(const rocl_capture *c, uint32_t agent)
{
    return agent < c->agent_count ? c->agents[agent].device : 0;
}

static void make_key(const summary *s, const rocl_batch *b, size_t i, summary_key *k)
{
    const rocl_capture *c = b->capture;
    const rocl_event *e = rocl_batch_event(b, i);
    const rocl_stats_options *o = s->c.options;
    uint32_t agent, lane;
    read_agent_and_lane(b, i, &agent, &lane);
    *k = (summary_key){.size_class = -1,
                       .domain = rocl_domain_of(s->c.trace, b->kind, e->category),
                       .name = e->name == ROCL_NONE ? 0 : e->name};
    k->rank = o->by_rank ? c->processes[e->process].rank : -1;
    k->agent = o->by_agent ? agent_label(c, agent) : 0;
    k->stream = o->by_stream ? lane : 0;
    if (o->by_dims && b->kind == ROCL_DISPATCH) {
        memcpy(k->workgroup, b->dispatches[i].workgroup, sizeof k->workgroup);
        memcpy(k->grid, b->dispatches[i].grid, sizeof k->grid);
    }
}

/* The group of an event where groups are of names, and nothing else, if its name was among the last
 * ones; 0: it was not. */
static inline uint32_t find_group_of_name(const summary *s, unsigned worker, rocl_kind kind,
                                          const rocl_event *e)
{
    const uint32_t hash = (e->name ^ e->category << 7 ^ (uint32_t)kind << 3) * HASH_FACTOR;
    const origin *slot = &s->recent[worker][hash >> (32 - RECENT_BITS)];
    return slot->name == e->name && slot->category == e->category && slot->kind == kind
               ? slot->group
               : 0;
}

/* The group of an event; ROCL_NONE: memory is out. */
static uint32_t find_group(summary *s, unsigned worker, const rocl_batch *b, size_t i)
{
    const rocl_event *e = rocl_batch_event(b, i);
    const rocl_stats_options *o = s->c.options;
    origin f = {.name = e->name, .category = e->category, .kind = b->kind};
    if (o->by_rank || o->by_agent || o->by_stream) {
        read_agent_and_lane(b, i, &f.agent, &f.stream);
        f.capture = b->capture->index + 1;
        f.process = o->by_rank ? e->process : 0;
        f.agent = o->by_agent ? f.agent : 0;
        f.stream = o->by_stream ? f.stream : 0;
    }
    uint32_t hash = (f.name ^ f.category << 7 ^ f.kind << 3 ^ f.agent << 5 ^ f.stream << 9 ^
                     f.process << 11 ^ f.capture << 13) *
                    HASH_FACTOR;
    origin *slot = &s->recent[worker][hash >> (32 - RECENT_BITS)];
    if (slot->group && !memcmp(&f, slot, offsetof(origin, group)) && !o->by_dims)
        return slot->group;
    summary_key k;
    make_key(s, b, i, &k);
    f.group = rocl_keyed_group(&s->keyed, &k);
    *slot = f;
    if (f.group == ROCL_NONE)
        slot->group = 0;
    return f.group;
}

static int64_t end_of_class(int size_class)
{
    return size_class < 0 ? 0 : INT64_C(1024) << 2 * size_class;
}

static int size_class_of(uint64_t bytes)
{
    int c = 0;
    if (!bytes)
        return UNSIZED;
    while (c < SIZE_CLASSES && bytes >= (uint64_t)end_of_class(c))
        c++;
    return c;
}

/* By its agents, whatever else is wanted; and by its size. */
static rocl_status add_copy(summary *s, unsigned worker, const rocl_batch *b, size_t i,
                            rocl_error *err)
{
    const rocl_copy *c = &b->copies[i];
    const int64_t ns = c->e.end - c->e.start;
    const group_sums own = {.sized = c->size > 0,
                            .bytes = (int64_t)(c->size < INT64_MAX ? c->size : INT64_MAX),
                            .ns = ns,
                            .best_rate = ns > 0 ? (double)c->size * 1e9 / (double)ns : 0};
    rocl_status st = ROCL_OK;
    summary_key k;
    make_key(s, b, i, &k);
    k.agent = agent_label(b->capture, c->src);
    k.other_agent = agent_label(b->capture, c->dst);
    for (k.of = OF_COPIES; k.of <= OF_COPY_SIZES && st == ROCL_OK; k.of++) {
        if (k.of == OF_COPY_SIZES && s->c.options->brief)
            break;
        k.size_class = k.of == OF_COPY_SIZES ? size_class_of(c->size) : -1;
        const uint32_t group = rocl_keyed_group(&s->keyed, &k);
        group_sums *sums = group == ROCL_NONE ? NULL : rocl_keyed_sums(&s->keyed, worker, group);
        if (!sums)
            return rocl_fail_memory(err);
        rocl_keyed_add(&summary_groups, sums, &own);
        st = rocl_percentiles_add(s->keyed.values, worker, group, ns, err);
    }
    return st;
}

static rocl_status add_summary_batch(void *self, unsigned worker, const rocl_batch *b,
                                     rocl_error *err)
{
    summary *s = self;
    const rocl_stats_options *o = s->c.options;
    const bool copies = b->kind == ROCL_COPY && s->with_copies;
    const bool by_name = !o->by_rank && !o->by_agent && !o->by_stream && !o->by_dims;
    const size_t size = rocl_kind_size(b->kind);
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        uint32_t group = by_name ? find_group_of_name(s, worker, b->kind, e) : 0;
        if (!group)
            group = find_group(s, worker, b, i);
        group_sums *sums = NULL;
        if (group == ROCL_NONE || (s->c.ids && !(sums = rocl_keyed_sums(&s->keyed, worker, group))))
            return rocl_fail_memory(err);
        if (sums)
            rocl_keep_longest(&sums->longest, &(rocl_longest){e->end - e->start,
                                                              e->start,
                                                              {b->capture->index + 1,
                                                               rocl_row_word(e->id, b->kind)}});
        st = rocl_percentiles_add(s->keyed.values, worker, group, e->end - e->start, err);
        if (st == ROCL_OK && copies)
            st = add_copy(s, worker, b, i, err);
    }
    return st;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static rocl_status open_groups(summary *s, rocl_error *err)
{
    size_t n = 0;
    s->groups =
        rocl_groups_new(s->keyed.keys, s->keyed.key_size, sizeof *s->groups, &s->group_count);
    rocl_described *described =
        s->groups ? reallocarray(NULL, s->group_count + 1, sizeof *described) : NULL;
    if (!described)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < s->group_count; i++) {
        summary_group *g = &s->groups[i];
        if (has_percentiles(s, &g->key))
            described[n++] = (rocl_described){i, &g->d};
        else
            g->d = rocl_percentiles_sum(s->keyed.values, i);
    }
    const rocl_status st = rocl_percentiles_describe_all(s->keyed.values, described, n, err);
    free(described);
    return st;
}

/* By what the options say; then by name and the rest of the key, never by ids, which depend on the
 * number of workers. */
static int compare_summary_groups(const summary *s, const summary_group *p, const summary_group *q)
{
    const int c = rocl_compare_values(
        s->c.options->sort,
        &(rocl_sort_values){p->d.total, p->d.max, p->d.taken, rocl_distribution_average(&p->d)},
        &(rocl_sort_values){q->d.total, q->d.max, q->d.taken, rocl_distribution_average(&q->d)});
    return c ? c : rocl_keyed_compare(&summary_groups, s->c.trace, &p->key, &q->key);
}

static void describe_summary_row(summary_row *r)
{
    const group_sums *c = &r->sums;
    r->percent = rocl_percent(r->g.d.total, r->all);
    r->unsized = r->g.d.taken - c->sized;
    r->bytes = c->sized ? c->bytes : -1;
    r->bandwidth = c->sized ? rocl_ratio((double)c->bytes * 1e9, (double)c->ns) : NAN;
    r->max_bandwidth = c->sized ? c->best_rate : NAN;
}

static void add_summary_row(void *into, const void *from)
{
    summary_row *sum = into;
    const summary_row *r = from;
    rocl_distribution_merge(&sum->g.d, &r->g.d);
    rocl_keyed_add(&summary_groups, &sum->sums, &r->sums);
    describe_summary_row(sum);
}

/* Groups in the order of their rows. */
typedef struct group_list {
    const summary *s;
    uint32_t *groups;
    const char *name; /* name of the group of domains; NULL: it is in none */
    int64_t all;
} group_list;

static void make_group_row(const void *ctx, size_t i, void *row)
{
    const group_list *l = ctx;
    const summary_group *g = &l->s->groups[l->groups[i]];
    const int c = g->key.size_class;
    summary_row *r = row;
    *r = (summary_row){.g = *g,
                       .group = l->name,
                       .domain = rocl_domain_name(g->key.domain),
                       .all = l->all,
                       .from_bytes = c < UNSIZED ? end_of_class(c - 1) : -1,
                       .to_bytes = c < SIZE_CLASSES ? end_of_class(c) : -1};
    rocl_keyed_join(&l->s->keyed, &l->s->c, l->groups[i], &r->sums);
    describe_summary_row(r);
}

static int compare_listed_groups(const void *a, const void *b, void *ctx)
{
    const summary *s = ctx;
    return compare_summary_groups(s, &s->groups[*(const uint32_t *)a],
                                  &s->groups[*(const uint32_t *)b]);
}

/* The groups of some domains (1 << domain), in one order. */
static rocl_status put_groups(const summary *s, const rocl_report_rows *r, uint32_t domains,
                              group_set of, const char *name, rocl_error *err)
{
    group_list l = {.s = s, .groups = malloc(s->group_count * sizeof *l.groups), .name = name};
    size_t n = 0;
    if (!l.groups)
        return rocl_fail_memory(err);
    for (uint32_t i = 1; i < s->group_count; i++) {
        const summary_group *g = &s->groups[i];
        if (!(domains >> g->key.domain & 1) || g->key.of != of || !g->d.taken)
            continue;
        l.groups[n++] = i;
        l.all = rocl_add_saturated(l.all, g->d.total);
    }
    qsort_r(l.groups, n, sizeof *l.groups, compare_listed_groups, (void *)s);
    rocl_add_made_rows(r, make_group_row, &l, n, sizeof(summary_row), add_summary_row);
    free(l.groups);
    return ROCL_OK;
}

/* ---- domains --------------------------------------------------------------------------------- */

#define CELL(field)        ROCL_CELL(summary_row, field)
#define CELL_BY(fn, field) ROCL_CELL_BY(rocl_field_##fn, summary_row, field)

static const rocl_column domain_columns[] = {
    {"name", "Domain", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(domain)},
    {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_SUM, CELL(g.d.taken)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_SUM, CELL(g.d.total)},
    {"average_ns", "Average", ROCL_UNIT_NS, ROCL_ALWAYS, CELL_BY(average, g.d)},
    {"percent", "Of GPU time %", ROCL_UNIT_PERCENT, ROCL_SUM, CELL(percent)},
    {"min_ns", "Min", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(g.d.min)},
    {"max_ns", "Max", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(g.d.max)},
    {"stddev_ns", "StdDev", ROCL_UNIT_NS, ROCL_ALWAYS, CELL_BY(stddev, g.d)},
};

static const rocl_table_def domain_table = {ROCL_TAB(SUMMARY), "domains", "Time by domain",
                                            ROCL_COLUMNS(domain_columns)};

static int compare_domains(const void *a, const void *b)
{
    const summary_row *x = a, *y = b;
    int c = rocl_number_order(y->g.d.total, x->g.d.total);
    return c ? c : rocl_number_order(x->g.key.domain, y->g.key.domain);
}

static bool is_gpu_work(rocl_domain d)
{
    return d == ROCL_DOMAIN_KERNELS || d == ROCL_DOMAIN_MEMORY_COPIES;
}

/* From the events, not from averages of averages: groups are merged exactly. Host times are nested,
 * and run beside those of GPUs: shares are only of the time of GPU work. */
static void put_domains(const summary *s, rocl_tables *out)
{
    summary_row sums[ROCL_DOMAINS];
    int64_t all = 0;
    memset(sums, 0, sizeof sums);
    for (size_t i = 1; i < s->group_count; i++)
        if (s->groups[i].key.of == OF_NAMES)
            rocl_distribution_merge(&sums[s->groups[i].key.domain].g.d, &s->groups[i].d);
    for (unsigned d = 0; d < ROCL_DOMAINS; d++) {
        sums[d].g.key.domain = d;
        sums[d].domain = rocl_domain_name((rocl_domain)d);
        sums[d].group = d == ROCL_DOMAIN_KERNELS || d == ROCL_DOMAIN_MEMORY_COPIES ? "GPU" : "host";
        if (!rocl_domain_listed(s->c.options->domains, (rocl_domain)d))
            sums[d].g.d.taken = 0;
        else if (is_gpu_work((rocl_domain)d))
            all = rocl_add_saturated(all, sums[d].g.d.total);
    }
    qsort(sums, ROCL_DOMAINS, sizeof *sums, compare_domains);
    rocl_report_rows r = rocl_begin_table(&s->c, out, &domain_table, 0);
    for (unsigned d = 0; d < ROCL_DOMAINS; d++) {
        sums[d].all = is_gpu_work(sums[d].g.key.domain) ? all : 0;
        describe_summary_row(&sums[d]);
        if (sums[d].g.d.taken)
            rocl_add_row(&r, &sums[d]);
    }
}

/* ---- summary and kernels --------------------------------------------------------------------- */

static rocl_datum field_dims(const rocl_report_rows *r, const void *field)
{
    char text[48];
    const uint32_t *d = field;
    if (!d[0] && !d[1] && !d[2])
        return (rocl_datum){0};
    int n = snprintf(text, sizeof text, "%ux%ux%u", d[0], d[1], d[2]);
    return rocl_datum_text(r->out, text, (size_t)n);
}

/* The groups of --summary-groups are of several domains, and so is the row of the others. */
#define IF_DOMAINS ROCL_IF_OWN
#define IF_GROUPS  ROCL_IF_OWN_2

#define NAME_COLUMNS(of)                                                                           \
    {"group", "Group", ROCL_UNIT_TEXT, IF_GROUPS | ROCL_IN_REST, CELL(group)},                     \
        {"domain", "Domain", ROCL_UNIT_TEXT, IF_GROUPS, CELL(domain)},                             \
        {"domain", "Domain", ROCL_UNIT_TEXT, IF_DOMAINS | ROCL_IN_REST, CELL(domain)},             \
        {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(g.key.name)},                           \
        {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(g.key.rank)},                         \
        {"agent", "Agent", ROCL_UNIT_TEXT, ROCL_IF_AGENT, CELL_BY(label, g.key.agent)},            \
        {"stream", "Stream", ROCL_UNIT_TEXT, ROCL_IF_STREAM, CELL_BY(label, g.key.stream)},        \
        {"workgroup", "Workgroup", ROCL_UNIT_TEXT, ROCL_IF_DIMS,                                   \
         ROCL_CELL_BY(field_dims, summary_row, g.key.workgroup)},                                  \
        {"grid", "Grid", ROCL_UNIT_TEXT, ROCL_IF_DIMS,                                             \
         ROCL_CELL_BY(field_dims, summary_row, g.key.grid)},                                       \
        {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, CELL(g.d.taken)},             \
        {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_SUM, CELL(g.d.total)},             \
        {"average_ns", "Average", ROCL_UNIT_NS, ROCL_IN_REST, CELL_BY(average, g.d)},              \
        {"percent", "Of " of " %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},                \
        {"min_ns", "Min", ROCL_UNIT_NS, ROCL_IF_FULL, CELL(g.d.min)},                              \
        {"median_ns", "Median", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(g.d.median)},                      \
        {"p90_ns", "P90", ROCL_UNIT_NS, ROCL_IF_FULL, CELL(g.d.p90)},                              \
        {"p95_ns", "P95", ROCL_UNIT_NS, ROCL_IF_FULL, CELL(g.d.p95)},                              \
        {"p99_ns", "P99", ROCL_UNIT_NS, ROCL_MINOR, CELL(g.d.p99)},                                \
        {"max_ns", "Max", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(g.d.max)},                               \
        {"stddev_ns", "StdDev", ROCL_UNIT_NS, ROCL_IF_FULL, CELL_BY(stddev, g.d)},                 \
        {"rsd_percent", "RSD %", ROCL_UNIT_PERCENT, ROCL_IF_FULL, CELL_BY(rsd, g.d)},              \
    {                                                                                              \
        "longest_id", "Id of the longest", ROCL_UNIT_TEXT, ROCL_IF_IDS, CELL(sums.longest.event)   \
    }

static const rocl_column name_columns[] = {NAME_COLUMNS("domain")};
static const rocl_column group_columns[] = {NAME_COLUMNS("group")};
static const rocl_column kernel_columns[] = {
    NAME_COLUMNS("kernels"),
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_IF_FULL, CELL_BY(class, g.key.name)},
};

static const rocl_table_def summary_table = {ROCL_TAB(SUMMARY), "summary",
                                             "Time by domain and name", ROCL_COLUMNS(name_columns)};
static const rocl_table_def group_table = {
    ROCL_TAB(SUMMARY), "summary_groups", "Time by groups of domains", ROCL_COLUMNS(group_columns)};
static const rocl_table_def kernel_table = {ROCL_TAB(KERNELS), "kernels", "Kernels",
                                            ROCL_COLUMNS(kernel_columns)};

static const rocl_column class_columns[] = {
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(group)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(g.key.rank)},
    {"agent", "Agent", ROCL_UNIT_TEXT, ROCL_IF_AGENT, CELL_BY(label, g.key.agent)},
    {"stream", "Stream", ROCL_UNIT_TEXT, ROCL_IF_STREAM, CELL_BY(label, g.key.stream)},
    {"names", "Names", ROCL_UNIT_COUNT, ROCL_ALWAYS, CELL(names)},
    {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, CELL(g.d.taken)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_SUM, CELL(g.d.total)},
    {"average_ns", "Average", ROCL_UNIT_NS, ROCL_IN_REST, CELL_BY(average, g.d)},
    {"percent", "Of kernels %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
    {"min_ns", "Min", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(g.d.min)},
    {"max_ns", "Max", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(g.d.max)},
};

static const rocl_table_def class_table = {ROCL_TAB(KERNELS), "classes", "Kernels by class",
                                           ROCL_COLUMNS(class_columns)};

static rocl_status put_summary(const summary *s, rocl_tables *out, rocl_error *err)
{
    const rocl_stats_options *o = s->c.options;
    rocl_report_rows r = rocl_begin_table(&s->c, out, &summary_table, IF_DOMAINS);
    rocl_status st = ROCL_OK;
    for (unsigned d = 0; d < ROCL_DOMAINS && st == ROCL_OK; d++)
        if (rocl_domain_listed(o->domains, (rocl_domain)d))
            st = put_groups(s, &r, 1u << d, OF_NAMES, NULL, err);
    if (st != ROCL_OK || !o->summary_groups)
        return st;
    r = rocl_begin_table(&s->c, out, &group_table, IF_GROUPS);
    for (const char *const *g = o->summary_groups; *g && st == ROCL_OK; g++) {
        uint32_t domains = 0;
        st = rocl_domains_matching(*g, &domains, err);
        if (st == ROCL_OK)
            st = put_groups(s, &r, domains, OF_NAMES, *g, err);
    }
    return st;
}

/* A group of kernels, and what these compute. */
typedef struct class_member {
    const char *class;
    const summary_group *of;
} class_member;

/* Which row of the table of classes it belongs to. */
static int compare_class_members(const class_member *a, const class_member *b)
{
    const summary_key *x = &a->of->key, *y = &b->of->key;
    int c = strcmp(a->class, b->class);
    if (!c)
        c = rocl_number_order(x->rank, y->rank);
    if (!c)
        c = rocl_number_order(x->agent, y->agent);
    return c ? c : rocl_number_order(x->stream, y->stream);
}

static int compare_class_names(const void *a, const void *b)
{
    const class_member *p = a, *q = b;
    int c = compare_class_members(p, q);
    return c ? c : rocl_number_order(p->of->key.name, q->of->key.name);
}

static int compare_class_rows(const void *a, const void *b, void *s)
{
    const rocl_stats_options *o = ((const summary *)s)->c.options;
    const summary_row *p = a, *q = b;
    const int by_class = strcmp(p->group, q->group);
    int c = o->sort == ROCL_BY_NAME ? by_class : 0;
    c = c ? c : compare_summary_groups(s, &p->g, &q->g);
    return c ? c : by_class;
}

/* In the order of compare_class_names(). */
static size_t list_class_members(const summary *s, class_member *list)
{
    const rocl_trace *t = s->c.trace;
    size_t n = 0;
    for (size_t i = 1; i < s->group_count; i++) {
        const summary_group *g = &s->groups[i];
        if (g->key.domain != ROCL_DOMAIN_KERNELS || g->key.of != OF_NAMES || !g->d.taken)
            continue;
        size_t len;
        const char *name = rocl_strings_get(t->strings, g->key.name, &len);
        list[n++] = (class_member){
            rocl_kernel_class_name(t->classes, rocl_classify_kernel(t->classes, name, len)), g};
    }
    qsort(list, n, sizeof *list, compare_class_names);
    return n;
}

static rocl_status put_kernel_classes(const summary *s, rocl_tables *out, rocl_error *err)
{
    class_member *list = malloc(s->group_count * sizeof *list);
    summary_row *rows = NULL;
    size_t count = 0, cap = 0;
    int64_t all = 0;
    rocl_status st = list ? ROCL_OK : rocl_fail_memory(err);
    const size_t n = list ? list_class_members(s, list) : 0;
    for (size_t i = 0; i < n && st == ROCL_OK; i++) {
        const summary_group *g = list[i].of;
        const bool same = i && !compare_class_members(&list[i - 1], &list[i]);
        if (!same && !ROCL_GROW(rows, cap, count + 1)) {
            st = rocl_fail_memory(err);
            break;
        }
        if (!same) {
            rows[count] = (summary_row){.group = list[i].class};
            rows[count++].g.key = (summary_key){.agent = g->key.agent,
                                                .stream = g->key.stream,
                                                .rank = g->key.rank,
                                                .size_class = -1};
        }
        rocl_distribution_merge(&rows[count - 1].g.d, &g->d);
        rows[count - 1].names += !same || g->key.name != list[i - 1].of->key.name;
        all = rocl_add_saturated(all, g->d.total);
    }
    for (size_t i = 0; i < count; i++) {
        rows[i].all = all;
        describe_summary_row(&rows[i]);
    }
    if (st == ROCL_OK) {
        if (count)
            qsort_r(rows, count, sizeof *rows, compare_class_rows, (void *)s);
        rocl_report_rows r = rocl_begin_table(&s->c, out, &class_table, 0);
        rocl_add_top_rows(&r, rows, count, sizeof *rows, add_summary_row);
    }
    free(list);
    free(rows);
    return st;
}

/* ---- copies ---------------------------------------------------------------------------------- */

#define IF_SIZES   ROCL_IF_OWN
#define IF_UNSIZED ROCL_IF_OWN_2

static const rocl_column copy_columns[] = {
    {"direction", "Direction", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(g.key.name)},
    {"src", "From", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(g.key.agent)},
    {"dst", "To", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(g.key.other_agent)},
    {"from_bytes", "Size from", ROCL_UNIT_BYTES, IF_SIZES, CELL_BY(known, from_bytes)},
    {"to_bytes", "below", ROCL_UNIT_BYTES, IF_SIZES, CELL_BY(known, to_bytes)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(g.key.rank)},
    {"stream", "Stream", ROCL_UNIT_TEXT, ROCL_IF_STREAM, CELL_BY(label, g.key.stream)},
    {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, CELL(g.d.taken)},
    {"bytes", "Bytes", ROCL_UNIT_BYTES, ROCL_IN_REST | ROCL_SUM, CELL_BY(known, bytes)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_SUM, CELL(g.d.total)},
    {"average_ns", "Average", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR, CELL_BY(average, g.d)},
    {"median_ns", "Median", ROCL_UNIT_NS, ROCL_MINOR, CELL(g.d.median)},
    {"max_ns", "Max", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_MINOR, CELL(g.d.max)},
    {"bandwidth", "Bandwidth", ROCL_UNIT_RATE, ROCL_IN_REST, CELL(bandwidth)},
    {"max_bandwidth", "Max bandwidth", ROCL_UNIT_RATE, ROCL_IN_REST | ROCL_MINOR,
     CELL(max_bandwidth)},
    {"unsized", "No size", ROCL_UNIT_COUNT, IF_UNSIZED | ROCL_IN_REST | ROCL_SUM, CELL(unsized)},
};

static const rocl_table_def copy_table = {ROCL_TAB(COPIES), "copies", "Memory copies",
                                          ROCL_COLUMNS(copy_columns)};
static const rocl_table_def size_table = {ROCL_TAB(COPIES), "copy_sizes", "Memory copies by size",
                                          ROCL_COLUMNS(copy_columns)};

static rocl_status put_copies(const summary *s, rocl_tables *out, rocl_error *err)
{
    const uint32_t copies = 1u << ROCL_DOMAIN_MEMORY_COPIES;
    uint64_t unsized = 0;
    for (uint32_t i = 1; i < s->group_count; i++)
        if (s->groups[i].key.of == OF_COPIES) {
            group_sums sums = {0};
            rocl_keyed_join(&s->keyed, &s->c, i, &sums);
            unsized += s->groups[i].d.taken - sums.sized;
        }
    rocl_report_rows r = rocl_begin_table(&s->c, out, &copy_table, unsized ? IF_UNSIZED : 0);
    rocl_note_unsized(&r, unsized);
    rocl_status st = put_groups(s, &r, copies, OF_COPIES, NULL, err);
    if (st != ROCL_OK || s->c.options->brief)
        return st;
    r = rocl_begin_table(&s->c, out, &size_table, IF_SIZES);
    rocl_note_unsized(&r, unsized);
    return put_groups(s, &r, copies, OF_COPY_SIZES, NULL, err);
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_summary(void *self, rocl_error *err)
{
    summary *s = self;
    unsigned jobs = s->c.trace->opt.jobs;
    const rocl_stats_options *o = s->c.options;
    s->with_names = rocl_table_wanted(o, &summary_table) || rocl_table_wanted(o, &group_table);
    if (s->with_names || rocl_table_wanted(o, &domain_table))
        s->c.kinds |= ROCL_TIMED_KINDS;
    s->with_kernels = rocl_table_wanted(o, &kernel_table);
    if (s->with_kernels || rocl_table_wanted(o, &class_table))
        s->c.kinds |= ROCL_BIT(ROCL_DISPATCH);
    s->with_copies = rocl_table_wanted(o, &copy_table) || rocl_table_wanted(o, &size_table);
    if (s->with_copies)
        s->c.kinds |= ROCL_BIT(ROCL_COPY);
    rocl_status st = rocl_keyed_open(&s->keyed, &summary_groups, &s->c, err);
    if (!s->c.options->by_dims)
        s->keyed.key_size = offsetof(summary_key, workgroup);
    s->recent = calloc(jobs, sizeof *s->recent);
    for (unsigned w = 0; s->recent && w < jobs && st == ROCL_OK; w++)
        if (!(s->recent[w] = calloc(RECENT, sizeof(origin))))
            st = rocl_fail_memory(err);
    return s->recent ? st : rocl_fail_memory(err);
}

static rocl_status finish_summary(void *self, rocl_tables *out, rocl_error *err)
{
    summary *s = self;
    const rocl_stats_options *o = s->c.options;
    rocl_status st = open_groups(s, err);
    if (st == ROCL_OK && rocl_table_wanted(o, &domain_table))
        put_domains(s, out);
    if (st == ROCL_OK && s->with_names)
        st = put_summary(s, out, err);
    if (st == ROCL_OK && s->with_kernels) {
        rocl_report_rows r = rocl_begin_table(&s->c, out, &kernel_table, 0);
        st = put_groups(s, &r, 1u << ROCL_DOMAIN_KERNELS, OF_NAMES, NULL, err);
    }
    if (st == ROCL_OK && rocl_table_wanted(o, &class_table))
        st = put_kernel_classes(s, out, err);
    if (st == ROCL_OK && s->with_copies)
        st = put_copies(s, out, err);
    return st;
}

static void close_summary(void *self)
{
    summary *s = self;
    for (unsigned w = 0; s->recent && w < s->c.trace->opt.jobs; w++)
        free(s->recent[w]);
    free(s->recent);
    free(s->groups);
}

const rocl_collector_def rocl_summary_collector = {
    .tables =
        (const rocl_table_def *const[]){&domain_table, &summary_table, &group_table, &kernel_table,
                                        &class_table, &copy_table, &size_table, NULL},
    .size = sizeof(summary),
    .open = open_summary,
    .add_batch = add_summary_batch,
    .finish = finish_summary,
    .close = close_summary,
    .gather = &rocl_gather_keyed,
};
