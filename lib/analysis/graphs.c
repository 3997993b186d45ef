/* The report "graphs": what each launch of a HIP graph ran, as one unit. Work looks up its call;
 * that of one call follows each other, by start. Launches are of one graph if they ran the same
 * kernels and copies, each as often, or if the profiler recorded which graph it is.
 *
 * In memory are the graphs, the names in each of them, and the names of the launch at hand. */
#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "analysis/facts.h"
#include "analysis/activity.h"
#include "analysis/percentiles.h"
#include "base/array.h"

/* What identifies a graph; interned as bytes, so without holes. Followed by the names, if those
 * identify it. */
typedef struct graph_key {
    uint64_t process; /* word + 1; 0: of any, as it has no id */
    uint64_t exec_id; /* 0: not recorded */
    int64_t rank;     /* -1: unknown, or not wanted */
} graph_key;

typedef struct known_name {
    uint64_t what; /* kind and name */
    uint64_t count;
} known_name;

typedef struct graph {
    graph_key key;
    uint32_t first_name; /* text: of the first work of the first launch */
    uint64_t first_process, first_stack;
    int64_t first; /* start of that launch */
    uint64_t launches, work, kernels, copies;
    uint64_t least, most; /* pieces of work of a launch */
    rocl_u128 kernel_ns;  /* durations added up */
    rocl_u128 calls, spans, busy, delays;
    int64_t longest_gap;
    /* For its row: */
    uint64_t number;
    const char *name;
    rocl_distribution span;
    int64_t all_ns, busy_ns, idle_ns, work_ns;
    double per_launch, idle_percent, call_average, call_per_work, delay_average, idle_average;
} graph;

/* A name in a graph; interned likewise. */
typedef struct member_key {
    uint64_t graph;
    uint64_t what;
} member_key;

typedef struct member {
    member_key key;
    rocl_distribution d;
    /* For its row: */
    const graph *of;
    const char *graph, *kind;
    uint32_t name; /* text */
    double per_launch, percent;
} member;

/* A name in the launch at hand. */
typedef struct slot {
    uint64_t what, launch; /* launch: the last that had it */
    uint64_t count;
    rocl_distribution d;
} slot;

/* The launch at hand. */
typedef struct unit {
    uint64_t process, stack_id, exec_id;
    rocl_call call;
    bool open;
    uint64_t number; /* among all launches, from 1 */
    uint32_t first_name;
    int64_t first, last, gap;
    rocl_u128 kernel_ns;
    rocl_cover busy;
    uint64_t kernels, copies;
    uint32_t *slots; /* that it has */
    size_t slot_count, slot_cap;
} unit;

typedef struct graphs {
    rocl_collector c;
    rocl_sorter *work;
    rocl_percentiles *spans; /* by graph */
    rocl_strings *keys, *member_keys;
    graph *all;
    member *members;
    size_t cap, member_cap;
    rocl_ids slot_of; /* by kind and name */
    slot *slots;
    size_t slot_count, slot_cap;
    rocl_ids class_of; /* by name of a call: whether it launches graphs */
    unit unit;
    rocl_buf key;
} graphs;

/* ---- events ---------------------------------------------------------------------------------- */

static rocl_status add_graph_batch(void *self, unsigned worker, const rocl_batch *b,
                                   rocl_error *err)
{
    graphs *g = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const uint64_t numbers[] = {(uint64_t)(e->end - e->start),
                                    rocl_row_word(rocl_name_of(e), b->kind),
                                    b->kind == ROCL_DISPATCH ? b->dispatches[i].graph_exec_id : 0};
        if (e->stack_id)
            st = rocl_calls_ask(g->work, worker, b, e, numbers, 3, err);
    }
    return st;
}

/* ---- a launch -------------------------------------------------------------------------------- */

static int compare_slots(const void *a, const void *b, void *ctx)
{
    const graphs *g = ctx;
    const uint64_t x = g->slots[*(const uint32_t *)a].what, y = g->slots[*(const uint32_t *)b].what;
    return x < y ? -1 : x > y;
}

/* The graph of the launch at hand. 0: memory is out. */
static uint32_t find_graph_of_unit(graphs *g)
{
    unit *u = &g->unit;
    const rocl_capture *c = &g->c.trace->captures[u->process >> 32]->pub;
    const graph_key key = {.process = u->exec_id ? u->process + 1 : 0,
                           .exec_id = u->exec_id,
                           .rank = g->c.options->by_rank ? c->processes[(uint32_t)u->process].rank
                                                         : -1};
    g->key.len = 0;
    rocl_buf_put(&g->key, &key, sizeof key);
    if (u->slot_count)
        qsort_r(u->slots, u->slot_count, sizeof *u->slots, compare_slots, g);
    for (size_t i = 0; i < u->slot_count && !u->exec_id; i++) {
        const slot *s = &g->slots[u->slots[i]];
        rocl_buf_put(&g->key, &(known_name){s->what, s->count}, sizeof(known_name));
    }
    if (g->key.failed)
        return 0;
    const size_t before = rocl_strings_count(g->keys);
    const uint32_t id = rocl_strings_put(g->keys, (const char *)g->key.data, g->key.len);
    if (id == ROCL_NONE || !ROCL_GROW(g->all, g->cap, (size_t)id + 1))
        return 0;
    if (id >= before)
        g->all[id] = (graph){.key = key};
    return id;
}

static rocl_status end_unit(graphs *g, rocl_error *err)
{
    unit *u = &g->unit;
    if (!u->open)
        return ROCL_OK;
    const uint32_t id = find_graph_of_unit(g);
    if (!id)
        return rocl_fail_memory(err);
    const uint64_t work = u->kernels + u->copies;
    const int64_t span = u->last - u->first;
    graph *of = &g->all[id];
    if (!of->launches || u->first < of->first ||
        (u->first == of->first && u->process < of->first_process)) {
        of->first = u->first;
        of->first_process = u->process;
        of->first_stack = u->stack_id;
        of->first_name = u->first_name;
    }
    of->least = of->launches && of->least < work ? of->least : work;
    of->most = of->most > work ? of->most : work;
    of->launches++;
    of->work += work;
    of->kernels += u->kernels;
    of->copies += u->copies;
    of->kernel_ns += u->kernel_ns;
    of->calls += (uint64_t)(u->call.end - u->call.start);
    of->spans += (uint64_t)span;
    of->busy += (uint64_t)u->busy.measure;
    of->delays += u->first > u->call.end ? (uint64_t)(u->first - u->call.end) : 0;
    of->longest_gap = of->longest_gap > u->gap ? of->longest_gap : u->gap;
    for (size_t i = 0; i < u->slot_count; i++) {
        const slot *s = &g->slots[u->slots[i]];
        const member_key key = {id, s->what};
        const uint32_t m = rocl_strings_put(g->member_keys, (const char *)&key, sizeof key);
        if (m == ROCL_NONE || !ROCL_GROW(g->members, g->member_cap, (size_t)m + 1))
            return rocl_fail_memory(err);
        g->members[m].key = key;
        rocl_distribution_merge(&g->members[m].d, &s->d);
    }
    u->open = false;
    return rocl_percentiles_add(g->spans, 0, id, span, err);
}

/* The kernels of a graph have one call; a profiler may say that they are of a graph, whatever it
 * was that launched it. */
static bool launches_graph(graphs *g, const rocl_call *call, uint64_t exec_id, bool *complete)
{
    if (exec_id)
        return true;
    uint32_t known = rocl_ids_get(&g->class_of, call->name);
    if (known == ROCL_NONE) {
        known = rocl_classify_call(rocl_str(g->c.trace, call->name)) == ROCL_CALL_GRAPH;
        *complete = rocl_ids_put(&g->class_of, call->name, known);
    }
    return known;
}

static rocl_status add_work(void *ctx, const rocl_sort_record *question, const rocl_call *call,
                            rocl_error *err)
{
    graphs *g = ctx;
    unit *u = &g->unit;
    uint64_t v[3]; /* duration, kind and name, id of the graph */
    bool complete = true;
    rocl_read_numbers(question, v, 3);
    if (!call || !launches_graph(g, call, v[2], &complete))
        return complete ? ROCL_OK : rocl_fail_memory(err);
    const int64_t start = (int64_t)question->key[2], end = start + (int64_t)v[0];
    if (!u->open || u->process != question->key[0] || u->stack_id != question->key[1]) {
        const rocl_status st = end_unit(g, err);
        if (st != ROCL_OK)
            return st;
        u->process = question->key[0];
        u->stack_id = question->key[1];
        u->exec_id = v[2];
        u->call = *call;
        u->open = true;
        u->number++;
        u->first_name = (uint32_t)(v[1] >> ROCL_KIND_BITS);
        u->first = u->last = start;
        u->busy = (rocl_cover){.until = INT64_MIN};
        u->gap = 0;
        u->kernel_ns = 0;
        u->kernels = u->copies = 0;
        u->slot_count = 0;
    }
    u->gap = start - u->last > u->gap ? start - u->last : u->gap;
    u->last = end > u->last ? end : u->last;
    rocl_cover_extend(&u->busy, start, end);
    u->kernels += rocl_word_kind(v[1]) == ROCL_DISPATCH;
    u->copies += rocl_word_kind(v[1]) == ROCL_COPY;
    u->kernel_ns += (uint64_t)(end - start);
    uint32_t i = rocl_ids_get(&g->slot_of, v[1]);
    if (i == ROCL_NONE) {
        i = (uint32_t)g->slot_count;
        if (!ROCL_GROW(g->slots, g->slot_cap, g->slot_count + 1) ||
            !rocl_ids_put(&g->slot_of, v[1], i))
            return rocl_fail_memory(err);
        g->slots[g->slot_count++] = (slot){.what = v[1]};
    }
    slot *s = &g->slots[i];
    if (s->launch != u->number) {
        if (!ROCL_GROW(u->slots, u->slot_cap, u->slot_count + 1))
            return rocl_fail_memory(err);
        u->slots[u->slot_count++] = i;
        *s = (slot){.what = v[1], .launch = u->number};
    }
    s->count++;
    rocl_distribution_count(&s->d, end - start);
    return ROCL_OK;
}

static rocl_status look_up_calls(void *self, rocl_calls *calls, rocl_error *err)
{
    graphs *g = self;
    return rocl_calls_look_up(calls, g->work, add_work, g, err);
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define CELL(field)  ROCL_ALWAYS, ROCL_CELL(graph, field)
#define MINOR(field) ROCL_MINOR, ROCL_CELL(graph, field)
#define SUM(field)   ROCL_IN_REST | ROCL_SUM, ROCL_CELL(graph, field)

static const rocl_column graph_columns[] = {
    {"graph", "Graph", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(graph, name)},
    {"first_kernel", "Begins with", ROCL_UNIT_TEXT, CELL(first_name)},
    {"rank", "Rank", ROCL_UNIT_COUNT, ROCL_IF_RANK, ROCL_CELL(graph, key.rank)},
    {"launches", "Launches", ROCL_UNIT_COUNT, SUM(launches)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, SUM(kernels)},
    {"copies", "Copies", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM | ROCL_MINOR,
     ROCL_CELL(graph, copies)},
    {"per_launch", "Per launch", ROCL_UNIT_NUMBER, CELL(per_launch)},
    {"least", "Least", ROCL_UNIT_COUNT, MINOR(least)},
    {"most", "Most", ROCL_UNIT_COUNT, MINOR(most)},
    {"total_ns", "Total", ROCL_UNIT_NS, SUM(all_ns)},
    {"average_ns", "Average", ROCL_UNIT_NS, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_average, graph, span)},
    {"median_ns", "Median", ROCL_UNIT_NS, CELL(span.median)},
    {"p99_ns", "P99", ROCL_UNIT_NS, MINOR(span.p99)},
    {"min_ns", "Min", ROCL_UNIT_NS, MINOR(span.min)},
    {"max_ns", "Max", ROCL_UNIT_NS, CELL(span.max)},
    {"busy_ns", "Busy", ROCL_UNIT_NS, SUM(busy_ns)},
    {"gaps_ns", "Gaps", ROCL_UNIT_NS, SUM(idle_ns)},
    {"gaps_percent", "Gaps %", ROCL_UNIT_PERCENT, CELL(idle_percent)},
    {"gaps_average_ns", "Gaps, average", ROCL_UNIT_NS, MINOR(idle_average)},
    {"longest_gap_ns", "Longest gap", ROCL_UNIT_NS, MINOR(longest_gap)},
    {"work_ns", "Work", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_SUM | ROCL_MINOR,
     ROCL_CELL(graph, work_ns)},
    {"call_average_ns", "Call", ROCL_UNIT_NS, CELL(call_average)},
    {"call_per_kernel_ns", "Call per kernel", ROCL_UNIT_NS, MINOR(call_per_work)},
    {"delay_average_ns", "Delay", ROCL_UNIT_NS, CELL(delay_average)},
};

#undef CELL
#undef MINOR
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(member, field)

static const rocl_column member_columns[] = {
    {"graph", "Graph", ROCL_UNIT_TEXT, CELL(graph)},
    {"name", "Name", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(member, name)},
    {"kind", "Kind", ROCL_UNIT_TEXT, ROCL_MINOR, ROCL_CELL(member, kind)},
    {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_IN_REST, ROCL_CELL(member, d.taken)},
    {"per_launch", "Per launch", ROCL_UNIT_NUMBER, CELL(per_launch)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST, ROCL_CELL(member, d.total)},
    {"percent", "Of graph %", ROCL_UNIT_PERCENT, CELL(percent)},
    {"average_ns", "Average", ROCL_UNIT_NS, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_average, member, d)},
    {"min_ns", "Min", ROCL_UNIT_NS, CELL(d.min)},
    {"max_ns", "Max", ROCL_UNIT_NS, CELL(d.max)},
};

static const rocl_table_def graph_table = {ROCL_TAB(LAUNCH), "graphs", "HIP graphs",
                                           ROCL_COLUMNS(graph_columns)};
static const rocl_table_def member_table = {ROCL_TAB(LAUNCH), "graph_kernels",
                                            "Kernels and copies of HIP graphs",
                                            ROCL_COLUMNS(member_columns)};

static int compare_first(const void *a, const void *b)
{
    const graph *x = *(graph *const *)a, *y = *(graph *const *)b;
    const int c = rocl_number_order(x->first, y->first);
    if (c || x->first_process != y->first_process)
        return c ? c : x->first_process < y->first_process ? -1 : 1;
    return x->first_stack < y->first_stack ? -1 : x->first_stack > y->first_stack;
}

static int compare_graphs(const void *a, const void *b, void *ctx)
{
    const graphs *g = ctx;
    const graph *x = *(graph *const *)a, *y = *(graph *const *)b;
    const int c = rocl_compare_values(g->c.options->sort,
                                      &(rocl_sort_values){x->all_ns, x->span.max, x->launches,
                                                          rocl_mean_of_sum(x->spans, x->launches)},
                                      &(rocl_sort_values){y->all_ns, y->span.max, y->launches,
                                                          rocl_mean_of_sum(y->spans, y->launches)});
    return c ? c : rocl_number_order((int64_t)x->number, (int64_t)y->number);
}

static void cut_sums(graph *g)
{
    g->all_ns = rocl_cut_sum(g->spans);
    g->busy_ns = rocl_cut_sum(g->busy);
    g->idle_ns = rocl_cut_sum(g->spans - g->busy);
    g->work_ns = rocl_cut_sum(g->kernel_ns);
}

static void add_graph(void *into, const void *from)
{
    graph *sum = into;
    const graph *g = from;
    sum->launches += g->launches;
    sum->kernels += g->kernels;
    sum->copies += g->copies;
    sum->spans += g->spans;
    sum->busy += g->busy;
    sum->kernel_ns += g->kernel_ns;
    cut_sums(sum);
}

static rocl_status describe_graph(graphs *g, graph *to, uint64_t number, rocl_tables *out,
                                  rocl_error *err)
{
    rocl_buf b = {0};
    to->number = number;
    if (to->key.exec_id)
        rocl_buf_printf(&b, "%llu (0x%llx)", (unsigned long long)number,
                        (unsigned long long)to->key.exec_id);
    else
        rocl_buf_printf(&b, "%llu", (unsigned long long)number);
    out->incomplete |= b.failed;
    to->name = rocl_tables_text(out, b.len ? (const char *)b.data : "", b.len);
    rocl_buf_free(&b);
    cut_sums(to);
    const rocl_u128 idle = to->spans - to->busy;
    to->per_launch = rocl_mean_of_sum(to->work, to->launches);
    to->idle_percent = rocl_ratio(100.0 * (double)idle, (double)to->spans);
    to->idle_average = rocl_mean_of_sum(idle, to->launches);
    to->call_average = rocl_mean_of_sum(to->calls, to->launches);
    to->call_per_work = rocl_mean_of_sum(to->calls, to->work);
    to->delay_average = rocl_mean_of_sum(to->delays, to->launches);
    return rocl_percentiles_describe(g->spans, (uint32_t)(to - g->all), &to->span, err);
}

static int compare_members(const void *a, const void *b, void *ctx)
{
    const graphs *g = ctx;
    const member *x = a, *y = b;
    int c = compare_graphs(&x->of, &y->of, ctx);
    c = c ? c : rocl_number_order(y->d.total, x->d.total);
    c = c ? c : rocl_compare_texts(g->c.trace, x->name, y->name);
    return c ? c : strcmp(y->kind, x->kind);
}

static void add_member_row(void *into, const void *from)
{
    rocl_distribution_merge(&((member *)into)->d, &((const member *)from)->d);
}

static void put_members(graphs *g, rocl_tables *out)
{
    const size_t count = rocl_strings_count(g->member_keys);
    member *m = g->members + 1;
    for (size_t i = 0; i + 1 < count; i++) {
        m[i].of = &g->all[m[i].key.graph];
        m[i].graph = m[i].of->name;
        m[i].kind = rocl_word_kind(m[i].key.what) == ROCL_DISPATCH ? "kernel" : "copy";
        m[i].name = (uint32_t)(m[i].key.what >> ROCL_KIND_BITS);
        m[i].per_launch = rocl_mean_of_sum(m[i].d.taken, m[i].of->launches);
        m[i].percent = rocl_ratio(100.0 * (double)m[i].d.sum, (double)m[i].of->kernel_ns);
    }
    qsort_r(m, count - 1, sizeof *m, compare_members, g);
    const rocl_report_rows r = rocl_begin_table(&g->c, out, &member_table, 0);
    rocl_add_top_rows(&r, m, count - 1, sizeof *m, add_member_row);
}

static rocl_status finish_graphs(void *self, rocl_tables *out, rocl_error *err)
{
    graphs *g = self;
    rocl_status st = end_unit(g, err);
    rocl_collector_free_sorter(&g->c, &g->work);
    const size_t count = rocl_strings_count(g->keys) - 1;
    graph **order = calloc(count + 1, sizeof *order);
    graph *rows = calloc(count + 1, sizeof *rows);
    if (st == ROCL_OK && (!order || !rows))
        st = rocl_fail_memory(err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        order[i] = &g->all[i + 1];
    if (st == ROCL_OK && count)
        qsort(order, count, sizeof *order, compare_first);
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        st = describe_graph(g, order[i], i + 1, out, err);
    if (st == ROCL_OK) {
        const rocl_report_rows r = rocl_begin_table(&g->c, out, &graph_table, 0);
        if (!count && r.table)
            r.table->why_empty = "no call launched a graph with kernels that were recorded";
        if (count)
            qsort_r(order, count, sizeof *order, compare_graphs, g);
        for (size_t i = 0; i < count; i++)
            rows[i] = *order[i];
        rocl_add_top_rows(&r, rows, count, sizeof *rows, add_graph);
        if (count)
            put_members(g, out);
    }
    free(order);
    free(rows);
    return st;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_graphs(void *self, rocl_error *err)
{
    graphs *g = self;
    g->c.needs_calls = true;
    g->c.fields = ROCL_FIELD_GRAPH;
    g->work = rocl_collector_sorter(&g->c, 4);
    g->spans = rocl_percentiles_new(g->c.trace->space, g->c.trace->opt.jobs);
    g->keys = rocl_strings_new();
    g->member_keys = rocl_strings_new();
    return g->work && g->spans && g->keys && g->member_keys && ROCL_GROW(g->all, g->cap, 1) &&
                   ROCL_GROW(g->members, g->member_cap, 1)
               ? ROCL_OK
               : rocl_fail_memory(err);
}

static void close_graphs(void *self)
{
    graphs *g = self;
    rocl_percentiles_free(g->spans);
    rocl_strings_free(g->keys);
    rocl_strings_free(g->member_keys);
    free(g->all);
    free(g->members);
    rocl_ids_free(&g->slot_of);
    rocl_ids_free(&g->class_of);
    free(g->slots);
    free(g->unit.slots);
    rocl_buf_free(&g->key);
}

const rocl_collector_def rocl_graphs_collector = {
    .tables = (const rocl_table_def *const[]){&graph_table, &member_table, NULL},
    .kinds = ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(graphs),
    .open = open_graphs,
    .add_batch = add_graph_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_graphs,
    .close = close_graphs,
};
