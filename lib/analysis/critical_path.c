/* The critical path: what the end of a trace waited for, what that waited for, and so on back to
 * its begin. Every instant of the time between is on it once: in a host call, in a launch, in GPU
 * work, in what delayed it. dependencies.c says what waits for what; here the path is read, and
 * added up. In memory are sums by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/what_if.h"
#include "base/map.h"

enum { LONGEST = 20, DATA_SLICES = 1000 };

static const char *const class_names[ROCL_TIME_CLASSES] = {
    [ROCL_TIME_HOST] = "host calls",
    [ROCL_TIME_OUTSIDE] = "host outside of calls",
    [ROCL_TIME_LAUNCH] = "launch",
    [ROCL_TIME_KERNEL] = "kernels",
    [ROCL_TIME_COMMUNICATION] = "communication",
    [ROCL_TIME_COPY] = "copies",
    [ROCL_TIME_QUEUE] = "behind other work",
    [ROCL_TIME_RETURN] = "return from waiting",
    [ROCL_TIME_ELSEWHERE] = "waiting for another rank",
    [ROCL_TIME_BEFORE] = "before the trace",
    [ROCL_TIME_UNEXPLAINED] = "not explained",
};

static const char *const detail_names[] = {
    [ROCL_TIME_NO_RANGE] = "(no range is open)",
    [ROCL_TIME_NO_CALL] = "(before work without a call)",
    [ROCL_TIME_NO_BEGIN] = "(before the thread's first range)",
};

typedef struct stretch {
    int64_t start, ns;
    rocl_time_key key;
} stretch;

/* The path of a rank that stays in it. */
typedef struct rank_path {
    const rocl_rank *rank;
    int64_t wall, ns[ROCL_TIME_CLASSES];
} rank_path;

/* What a rank waits for another one on its path. */
typedef struct rank_wait {
    const rocl_rank *rank;
    uint32_t late; /* text */
    uint64_t count;
    int64_t ns;
    double percent;
} rank_wait;

typedef struct critical_path {
    rocl_collector c;
    rocl_dependencies *d;
    rocl_time_sum *sums; /* by `what` */
    size_t sum_count;
    stretch longest[LONGEST];
    unsigned longest_count;
    rank_path *ranks; /* by rank */
    rank_wait *waits;
    size_t wait_count, wait_cap;
    rocl_map wait_of; /* by rank and late one */
} critical_path;

/* ---- the path -------------------------------------------------------------------------------- */

static int compare_stretches(const void *a, const void *b)
{
    const stretch *x = a, *y = b;
    const int c = rocl_number_order(y->ns, x->ns);
    return c ? c : rocl_number_order(x->start, y->start);
}

static rocl_status add_time(void *ctx, size_t i, int64_t start, int64_t end, uint32_t what,
                            rocl_error *err)
{
    critical_path *p = ctx;
    rocl_time_sum *s = &p->sums[what];
    (void)i, (void)err;
    s->count++;
    s->ns += end - start;
    rocl_keep_first(p->longest, &p->longest_count, LONGEST, sizeof *p->longest,
                    &(stretch){start + p->d->origin, end - start, s->key}, compare_stretches);
    return ROCL_OK;
}

static rocl_status walk_path(critical_path *p, rocl_error *err)
{
    p->sum_count = rocl_strings_count(p->d->keys);
    p->sums = calloc(p->sum_count, sizeof *p->sums);
    if (!p->sums)
        return rocl_fail_memory(err);
    for (size_t i = 1; i < p->sum_count; i++)
        memcpy(&p->sums[i].key, rocl_strings_get(p->d->keys, (uint32_t)i, NULL),
               sizeof(rocl_time_key));
    return rocl_path_walk(p->d->path, &p->d->end, 1, false, add_time, p, err);
}

static rocl_status add_rank_time(void *ctx, size_t rank, int64_t start, int64_t end, uint32_t what,
                                 rocl_error *err)
{
    critical_path *p = ctx;
    const rocl_time_key *k = &p->sums[what].key;
    const uint64_t key = (uint64_t)rank << 32 | k->name;
    p->ranks[rank].ns[k->class] += end - start;
    if (k->class != ROCL_TIME_ELSEWHERE)
        return ROCL_OK;
    uint32_t i = rocl_map_get(&p->wait_of, key, ROCL_NONE);
    if (i == ROCL_NONE) {
        i = (uint32_t)p->wait_count;
        if (!ROCL_GROW(p->waits, p->wait_cap, p->wait_count + 1) ||
            !rocl_map_put(&p->wait_of, key, i))
            return rocl_fail_memory(err);
        p->waits[p->wait_count++] = (rank_wait){.rank = p->ranks[rank].rank, .late = k->name};
    }
    p->waits[i].count++;
    p->waits[i].ns += end - start;
    return ROCL_OK;
}

/* Each rank on its own, if there are several. */
static rocl_status walk_ranks(critical_path *p, rocl_error *err)
{
    const rocl_rank_list *list = p->d->points->ranks;
    size_t ends = 0;
    for (uint32_t i = 0; i < list->count; i++)
        ends += p->d->rank_ends[i] > 0;
    if (ends < 2)
        return ROCL_OK;
    p->ranks = calloc(list->count, sizeof *p->ranks);
    if (!p->ranks)
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < list->count; i++)
        p->ranks[i] = (rank_path){.rank = &list->all[i],
                                  .wall = rocl_path_time(p->d->path, p->d->rank_ends[i])};
    return rocl_path_walk(p->d->path, p->d->rank_ends, list->count, true, add_rank_time, p, err);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static rocl_datum field_class_name(const rocl_report_rows *r, const void *field)
{
    const char *name = class_names[*(const uint32_t *)field];
    return rocl_datum_text(r->out, name, strlen(name));
}

static rocl_datum field_key_name(const rocl_report_rows *r, const void *field)
{
    const rocl_time_key *k = field;
    const char *name = k->detail ? detail_names[k->detail] : NULL;
    return name ? rocl_datum_text(r->out, name, strlen(name)) : rocl_field_text(r, &k->name);
}

#define CELL(field) ROCL_CELL(rocl_time_sum, field)
static const rocl_column class_columns[] = {
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_OTHERS,
     ROCL_CELL_BY(field_class_name, rocl_time_sum, key.class)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(key.rank)},
    {"count", "Count", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, CELL(count)},
    {"time_ns", "On the path", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_SUM, CELL(ns)},
    {"percent", "Of path %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
};

static const rocl_column name_columns[] = {
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL_BY(field_key_name, rocl_time_sum, key)},
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(field_class_name, rocl_time_sum, key.class)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(key.rank)},
    {"count", "Count", ROCL_UNIT_COUNT, ROCL_IN_REST, CELL(count)},
    {"time_ns", "On the path", ROCL_UNIT_NS, ROCL_IN_REST, CELL(ns)},
    {"percent", "Of path %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
};

#undef CELL
#define CELL(field) ROCL_CELL(stretch, field)
static const rocl_column stretch_columns[] = {
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL_BY(field_key_name, stretch, key)},
    {"class", "Class", ROCL_UNIT_TEXT, ROCL_ALWAYS,
     ROCL_CELL_BY(field_class_name, stretch, key.class)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, CELL(key.rank)},
    {"start_ns", "Start", ROCL_UNIT_TIME, ROCL_ALWAYS, CELL(start)},
    {"length_ns", "Length", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(ns)},
};

#undef CELL
#define CELL(field) ROCL_IN_REST, ROCL_CELL(rank_path, field)
static const rocl_column rank_columns[] = {
    {"place", "Rank", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(rank_path, rank)},
    {"wall_ns", "Wall", ROCL_UNIT_NS, ROCL_ALWAYS, ROCL_CELL(rank_path, wall)},
    {"elsewhere_ns", "Waits for ranks", ROCL_UNIT_NS, CELL(ns[ROCL_TIME_ELSEWHERE])},
    {"host_ns", "Host calls", ROCL_UNIT_NS, CELL(ns[ROCL_TIME_HOST])},
    {"outside_ns", "Outside", ROCL_UNIT_NS, CELL(ns[ROCL_TIME_OUTSIDE])},
    {"launch_ns", "Launch", ROCL_UNIT_NS, CELL(ns[ROCL_TIME_LAUNCH])},
    {"kernel_ns", "Kernels", ROCL_UNIT_NS, CELL(ns[ROCL_TIME_KERNEL])},
    {"communication_ns", "Communication", ROCL_UNIT_NS, CELL(ns[ROCL_TIME_COMMUNICATION])},
    {"copy_ns", "Copies", ROCL_UNIT_NS, CELL(ns[ROCL_TIME_COPY])},
    {"queue_ns", "Behind other work", ROCL_UNIT_NS, CELL(ns[ROCL_TIME_QUEUE])},
    {"return_ns", "Return", ROCL_UNIT_NS, CELL(ns[ROCL_TIME_RETURN])},
    {"before_ns", "Before the trace", ROCL_UNIT_NS, CELL(ns[ROCL_TIME_BEFORE])},
    {"unexplained_ns", "Not explained", ROCL_UNIT_NS, CELL(ns[ROCL_TIME_UNEXPLAINED])},
};

#undef CELL
#define CELL(field) ROCL_IN_REST, ROCL_CELL(rank_wait, field)
static const rocl_column wait_columns[] = {
    {"place", "Rank", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(rank_wait, rank)},
    {"waits_for", "Waits for", ROCL_UNIT_TEXT, ROCL_ALWAYS, ROCL_CELL(rank_wait, late)},
    {"count", "Count", ROCL_UNIT_COUNT, CELL(count)},
    {"time_ns", "On its path", ROCL_UNIT_NS, CELL(ns)},
    {"percent", "Of path %", ROCL_UNIT_PERCENT, ROCL_ALWAYS, ROCL_CELL(rank_wait, percent)},
};

static const rocl_table_def class_table = {ROCL_TAB(CRITICAL_PATH), "critical_path",
                                           "Critical path", ROCL_COLUMNS(class_columns)},
                            name_table = {ROCL_TAB(CRITICAL_PATH), "critical_path_names",
                                          "Critical path by name", ROCL_COLUMNS(name_columns)},
                            stretch_table = {ROCL_TAB(CRITICAL_PATH), "critical_path_longest",
                                             "Longest times on the critical path",
                                             ROCL_COLUMNS(stretch_columns)},
                            rank_table = {ROCL_TAB(CRITICAL_PATH), "critical_path_ranks",
                                          "Critical path of each rank", ROCL_COLUMNS(rank_columns)},
                            wait_table = {ROCL_TAB(CRITICAL_PATH), "critical_path_waits",
                                          "What ranks wait for on their paths",
                                          ROCL_COLUMNS(wait_columns)};

static int compare_sums(const void *a, const void *b, void *ctx)
{
    const rocl_time_sum *x = a, *y = b;
    const critical_path *p = ctx;
    const rocl_sort_values of[] = {{x->ns, x->ns, x->count, rocl_mean(x->ns, x->count)},
                                   {y->ns, y->ns, y->count, rocl_mean(y->ns, y->count)}};
    int c = rocl_compare_values(p->c.options->sort, &of[0], &of[1]);
    c = c ? c : rocl_compare_texts(p->c.trace, x->key.name, y->key.name);
    c = c ? c : rocl_number_order(x->key.class, y->key.class);
    c = c ? c : rocl_number_order(x->key.detail, y->key.detail);
    return c ? c : rocl_number_order(x->key.rank, y->key.rank);
}

static void add_sum(void *into, const void *from)
{
    rocl_time_sum *s = into;
    const rocl_time_sum *f = from;
    s->count += f->count;
    s->ns += f->ns;
    s->percent += f->percent;
}

/* In the order of the classes, and of ranks. */
static int compare_classes(const void *a, const void *b)
{
    const rocl_time_sum *x = a, *y = b;
    const int c = rocl_number_order(x->key.class, y->key.class);
    return c ? c : rocl_number_order(x->key.rank, y->key.rank);
}

static rocl_status put_classes(const critical_path *p, rocl_tables *out, int64_t wall,
                               rocl_error *err)
{
    size_t n = 0;
    rocl_time_sum *rows = calloc(p->sum_count, sizeof *rows);
    if (!rows)
        return rocl_fail_memory(err);
    /* Anything that takes time is a row, even if none of it is on the path. */
    for (size_t i = 1; i < p->sum_count; i++)
        if (p->sums[i].count || rocl_takes_time(p->sums[i].key.class))
            rows[n++] = p->sums[i];
    qsort(rows, n, sizeof *rows, compare_classes);
    const rocl_report_rows r = rocl_begin_table(&p->c, out, &class_table, 0);
    char unlinked[96] = "", waits[128] = "";
    if (p->d->points->unlinked)
        snprintf(unlinked, sizeof unlinked,
                 "; the calls of %llu of %llu kernels and copies are not in the trace",
                 ROCL_N(p->d->points->unlinked), ROCL_N(p->d->points->work));
    if (p->d->named < p->d->waits)
        snprintf(waits, sizeof waits,
                 "; %llu of %llu calls that wait for a stream or an event do not say for which",
                 ROCL_N(p->d->waits - p->d->named), ROCL_N(p->d->waits));
    if (n)
        rocl_set_note(&r, "%.6f s from the first begin to the last end%s%s", (double)wall / 1e9,
                      unlinked, waits);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && !compare_classes(&rows[i], &rows[next]); next++)
            add_sum(&rows[i], &rows[next]);
        rows[i].percent = rocl_percent(rows[i].ns, wall);
        rocl_add_row(&r, &rows[i]);
    }
    free(rows);
    return ROCL_OK;
}

static void add_rank_path(void *into, const void *from)
{
    for (unsigned i = 0; i < ROCL_TIME_CLASSES; i++)
        ((rank_path *)into)->ns[i] += ((const rank_path *)from)->ns[i];
}

/* By rank, the longest first. */
static int compare_waits(const void *a, const void *b, void *ctx)
{
    const rank_wait *x = a, *y = b;
    int c = rocl_number_order(x->rank - y->rank, 0);
    c = c ? c : rocl_number_order(y->ns, x->ns);
    return c ? c : rocl_compare_texts(((const critical_path *)ctx)->c.trace, x->late, y->late);
}

static void add_wait(void *into, const void *from)
{
    ((rank_wait *)into)->count += ((const rank_wait *)from)->count;
    ((rank_wait *)into)->ns += ((const rank_wait *)from)->ns;
}

static void put_ranks(critical_path *p, rocl_tables *out)
{
    const rocl_rank_list *list = p->d->points->ranks;
    size_t n = 0;
    for (rank_wait *w = p->waits; w < p->waits + p->wait_count; w++)
        w->percent = rocl_percent(w->ns, p->ranks[w->rank - list->all].wall);
    for (uint32_t i = 0; i < list->count; i++) /* in place: no more lookups */
        if (p->d->rank_ends[i])
            p->ranks[n++] = p->ranks[i];
    rocl_report_rows r = rocl_begin_table(&p->c, out, &rank_table, 0);
    rocl_set_note(&r, "what the end of each rank waited for, in the rank itself");
    rocl_add_top_rows(&r, p->ranks, n, sizeof *p->ranks, add_rank_path);
    if (p->wait_count)
        qsort_r(p->waits, p->wait_count, sizeof *p->waits, compare_waits, p);
    r = rocl_begin_table(&p->c, out, &wait_table, 0);
    rocl_add_top_rows(&r, p->waits, p->wait_count, sizeof *p->waits, add_wait);
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_critical_path(void *self, rocl_error *err)
{
    critical_path *p = self;
    const rocl_status st = rocl_what_ifs_check(p->c.options, err);
    p->c.needs_calls = true;
    return st == ROCL_OK ? rocl_dependencies_open(&p->d, &p->c, err) : st;
}

static rocl_status add_path_batch(void *self, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    return rocl_points_add_batch(((critical_path *)self)->d->points, worker, b, err);
}

static rocl_status look_up_calls(void *self, rocl_calls *calls, rocl_error *err)
{
    return rocl_points_look_up_calls(((critical_path *)self)->d->points, calls, err);
}

static rocl_status finish_critical_path(void *self, rocl_tables *out, rocl_error *err)
{
    critical_path *p = self;
    rocl_status st = rocl_dependencies_follow(p->d, err);
    if (st == ROCL_OK)
        st = walk_path(p, err);
    if (st == ROCL_OK)
        st = walk_ranks(p, err);
    const int64_t wall = rocl_path_time(p->d->path, p->d->end);
    if (st == ROCL_OK)
        st = put_classes(p, out, wall, err);
    if (st == ROCL_OK)
        st = rocl_what_ifs_put(&p->c, p->d, p->sums, p->sum_count, out, err);
    if (st != ROCL_OK)
        return st;
    /* In place: the sums are no longer looked up by key. */
    size_t n = 0;
    for (size_t i = 1; i < p->sum_count; i++)
        if (p->sums[i].count) {
            p->sums[n] = p->sums[i];
            p->sums[n++].percent = rocl_percent(p->sums[i].ns, wall);
        }
    qsort_r(p->sums, n, sizeof *p->sums, compare_sums, p);
    rocl_report_rows r = rocl_begin_table(&p->c, out, &name_table, 0);
    rocl_add_top_rows(&r, p->sums, n, sizeof *p->sums, add_sum);
    r = rocl_begin_table(&p->c, out, &stretch_table, 0);
    rocl_add_top_rows(&r, p->longest, p->longest_count, sizeof *p->longest, NULL);
    if (p->ranks)
        put_ranks(p, out);
    return ROCL_OK;
}

static void close_critical_path(void *self)
{
    critical_path *p = self;
    rocl_dependencies_close(p->d);
    free(p->sums);
    free(p->ranks);
    free(p->waits);
    rocl_map_free(&p->wait_of);
}

const rocl_collector_def rocl_critical_path_collector = {
    .tables = (const rocl_table_def *const[]){&class_table, &rocl_what_if_table, &name_table,
                                              &stretch_table, &rank_table, &wait_table, NULL},
    .kinds = ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_DISPATCH) |
             ROCL_BIT(ROCL_COPY),
    .size = sizeof(critical_path),
    .slow = true,
    .open = open_critical_path,
    .add_batch = add_path_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_critical_path,
    .close = close_critical_path,
};
