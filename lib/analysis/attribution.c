/* Which ranges of the host the GPUs worked for: markers, operators, functions and calls that were
 * open when a piece of GPU work was launched, as a tree with the work itself as leaves.
 *
 *     work    GPU work by process and stack id: looks up the calls that launched it
 *     host    ranges by thread and start, and behind those that start before them the launching
 *             calls: a sweep over each thread finds the ranges that are open around each call
 *
 * In memory are the tree, a node for each path of names, and the ranges that are open at a time on
 * a thread. Nodes are made when the first work is launched below them, each after its parent; the
 * time of such a range on the host counts for its node, and as own time where it is in none below.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "analysis/marker_kernels.h"
#include "base/array.h"
#include "base/map.h"

/* What a node is of; ROCL_DISPATCH and ROCL_COPY are of work, ROCL_MARKER and ROCL_REGION of
 * ranges.
 */
enum { OF_RANK = ROCL_KINDS, OF_NO_CALL };

enum { FIRST_SLOTS = 64 };

/* Most nodes are of work: what only those around it have is apart. */
typedef struct node {
    uint32_t parent, kind, name; /* 0: none; text, of OF_RANK the rank, as its bits */
    uint32_t range;              /* in `ranges`; 0 of work */
    uint64_t count;              /* ranges that launched work, or pieces of work */
    int64_t total;               /* saturates */
} node;

typedef struct range {
    uint64_t kernels, copies;
    int64_t own;                  /* saturates */
    int64_t host_own, host_total; /* on the host; -1: not a range there */
    uint32_t depth;
    uint32_t category; /* text: of the first one; 0: none */
} range;

typedef struct attribution {
    rocl_collector c;
    rocl_sorter *work, *host;
    node *nodes; /* [0] is around all, and so is ranges[0] */
    range *ranges;
    size_t node_count, node_cap, range_count, range_cap;
    uint32_t *slots;  /* nodes by a hash of what makes them: open addressing; 0: none */
    size_t slot_cap;  /* a power of two, or 0 */
    rocl_keyed pairs; /* kernels by marker */
    int64_t all;      /* GPU time; saturates */
    uint64_t without_call;
} attribution;

/* In the third word of a key of `host`: launched work, after all ranges that start with its call.
 */
#define LAUNCH (UINT64_C(1) << 63)

/* What ranges are that have no category. */
static const char *const kind_names[] = {
    [ROCL_MARKER] = "marker", [ROCL_REGION] = "call", [ROCL_DISPATCH] = "kernel",
    [ROCL_COPY] = "copy",     [OF_RANK] = "rank",     [OF_NO_CALL] = "no call"};

/* ---- events ---------------------------------------------------------------------------------- */

static uint64_t thread_word(const rocl_capture *c, uint32_t thread)
{
    return (uint64_t)c->index << 32 | thread;
}

static rocl_status add_attribution_batch(void *self, unsigned worker, const rocl_batch *b,
                                         rocl_error *err)
{
    attribution *a = self;
    const rocl_capture *c = b->capture;
    const bool is_range = b->kind == ROCL_MARKER || b->kind == ROCL_REGION;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const uint64_t what = (uint64_t)rocl_name_of(e) << 8 | b->kind;
        if (!is_range) {
            const uint64_t numbers[] = {(uint64_t)(e->end - e->start), what};
            st = rocl_calls_ask(a->work, worker, b, e, numbers, 2, err);
        } else if (e->thread < c->thread_count) { /* of ranges with one start the longest first */
            const uint64_t key[4] = {thread_word(c, e->thread), (uint64_t)e->start,
                                     (uint64_t)(INT64_MAX - e->end), rocl_row_word(e->id, b->kind)};
            const uint64_t numbers[] = {what, e->category == ROCL_NONE ? 0 : e->category};
            st = rocl_add_numbers(a->host, worker, key, numbers, 2, err);
        }
    }
    return st;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* The slot of the node of a name below another, or the empty one where it belongs. */
static uint32_t *find_slot(const attribution *a, uint32_t parent, uint32_t kind, uint32_t name)
{
    const uint64_t hash = rocl_mix64(((uint64_t)parent << 32 | name) + kind * UINT64_C(0x9e3779b9));
    for (size_t i = (size_t)hash & (a->slot_cap - 1);; i = (i + 1) & (a->slot_cap - 1)) {
        const node *n = &a->nodes[a->slots[i]];
        if (!a->slots[i] || (n->parent == parent && n->name == name && n->kind == kind))
            return &a->slots[i];
    }
}

/* Has slots for one node more. False: memory is out. */
static bool reserve_slot(attribution *a)
{
    if (a->node_count < a->slot_cap / 8 * 5)
        return true;
    const size_t cap = a->slot_cap ? 2 * a->slot_cap : FIRST_SLOTS;
    uint32_t *slots = calloc(cap, sizeof *slots);
    if (!slots)
        return false;
    free(a->slots);
    a->slots = slots;
    a->slot_cap = cap;
    for (size_t i = 1; i < a->node_count; i++) {
        const node *n = &a->nodes[i];
        *find_slot(a, n->parent, n->kind, n->name) = (uint32_t)i;
    }
    return true;
}

static bool is_work(uint32_t kind)
{
    return kind == ROCL_DISPATCH || kind == ROCL_COPY;
}

static range *range_of(const attribution *a, uint32_t id)
{
    return &a->ranges[a->nodes[id].range];
}

/* The node of a name below another, made if there is none. 0: memory is out. */
static uint32_t find_node(attribution *a, uint32_t parent, uint32_t kind, uint32_t name)
{
    if (!reserve_slot(a))
        return 0;
    uint32_t *slot = find_slot(a, parent, kind, name);
    if (*slot)
        return *slot;
    if (a->node_count >= UINT32_MAX || !ROCL_GROW(a->nodes, a->node_cap, a->node_count + 1) ||
        !ROCL_GROW(a->ranges, a->range_cap, a->range_count + 1))
        return 0;
    node n = {.parent = parent, .kind = kind, .name = name};
    if (!is_work(kind)) {
        const int64_t host = kind == ROCL_MARKER || kind == ROCL_REGION ? 0 : -1;
        n.range = (uint32_t)a->range_count++;
        a->ranges[n.range] = (range){.depth = parent ? range_of(a, parent)->depth + 1 : 0,
                                     .host_own = host,
                                     .host_total = host};
    }
    a->nodes[a->node_count] = n;
    return *slot = (uint32_t)a->node_count++;
}

/* Below what all ranges of a process are. */
static rocl_status find_root(attribution *a, const rocl_capture *c, uint32_t process,
                             uint32_t *root, rocl_error *err)
{
    *root = 0;
    if (!a->c.options->by_rank)
        return ROCL_OK;
    *root = find_node(a, 0, OF_RANK, (uint32_t)c->processes[process].rank);
    if (!*root)
        return rocl_fail_memory(err);
    return ROCL_OK;
}

/* what: kind and name, as in records. call, outer: the nodes of the call that launched it and of
 * the range around that; 0: there is none. */
static rocl_status add_work(attribution *a, uint32_t below, uint64_t what, int64_t ns,
                            uint32_t call, uint32_t outer, rocl_error *err)
{
    const uint32_t leaf = find_node(a, below, (uint32_t)(what & 0xff), (uint32_t)(what >> 8));
    if (!leaf)
        return rocl_fail_memory(err);
    node *n = &a->nodes[leaf];
    n->count++;
    n->total = rocl_add_saturated(n->total, ns);
    a->all = rocl_add_saturated(a->all, ns);
    for (unsigned i = 0; i < 2; i++) {
        range *of = range_of(a, i ? outer : call);
        of->own = rocl_add_saturated(of->own, ns);
    }
    return ROCL_OK;
}

/* ---- the ranges around calls ----------------------------------------------------------------- */

typedef struct open_range {
    int64_t start, end;
    int64_t since;     /* start, or when its path changed */
    uint64_t what;     /* kind and name */
    uint32_t category; /* text */
    uint32_t node;     /* 0: no work was launched below it yet */
} open_range;

/* The ranges that are open on the thread that is swept, the outermost first. */
typedef struct nest {
    uint64_t thread;
    open_range *open;
    size_t count, cap;
} nest;

/* The time of a range on its path ends. */
static void end_path(attribution *a, nest *n, size_t i, int64_t until)
{
    open_range *r = &n->open[i];
    const int64_t ns = until - r->since;
    if (r->node) {
        range *of = range_of(a, r->node);
        of->host_total = rocl_add_saturated(of->host_total, ns);
        of->host_own += ns;
        if (i)
            range_of(a, n->open[i - 1].node)->host_own -= ns;
    }
    r->since = until;
    r->node = 0;
}

/* The range that ends first, of those that end at a time or before it; the inner one of equal ones.
 * count: there is none. */
static size_t find_ended(const nest *n, int64_t until)
{
    size_t first = n->count;
    for (size_t i = n->count; i-- > 0;) {
        const open_range *r = &n->open[i];
        if (r->end <= until && r->start != until &&
            (first == n->count || r->end < n->open[first].end))
            first = i;
    }
    return first;
}

/* Ranges that are started and stopped by hand may cross: those that stay where one around them ends
 * have another path then. */
static void close_ended(attribution *a, nest *n, int64_t until)
{
    for (size_t i; (i = find_ended(n, until)) < n->count; n->count--) {
        const int64_t end = n->open[i].end;
        for (size_t k = n->count; k-- > i;)
            end_path(a, n, k, end);
        memmove(n->open + i, n->open + i + 1, (n->count - i - 1) * sizeof *n->open);
    }
}

/* Counts a kernel for each name of a marker that is open. */
static rocl_status add_to_markers(attribution *a, const nest *n, size_t depth, uint64_t what,
                                  int32_t rank, int64_t ns, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < depth && st == ROCL_OK; i++) {
        const uint64_t marker = n->open[i].what;
        bool again = (marker & 0xff) != ROCL_MARKER;
        for (size_t k = 0; k < i && !again; k++)
            again = n->open[k].what == marker;
        if (!again)
            st = rocl_marker_kernels_add(&a->pairs, &a->c, (uint32_t)(marker >> 8),
                                         (uint32_t)(what >> 8), rank, ns, err);
    }
    return st;
}

static rocl_status launch_work(attribution *a, nest *n, const rocl_sort_record *rec,
                               rocl_error *err)
{
    uint64_t v[4]; /* duration, kind and name, end of the call, process */
    rocl_read_numbers(rec, v, 4);
    const int64_t start = (int64_t)rec->key[1], end = (int64_t)v[2];
    /* Ranges inside the call that start with it come after it. */
    size_t depth = n->count;
    while (depth && !(n->open[depth - 1].start == start && n->open[depth - 1].end == end))
        depth--;
    depth = depth ? depth : n->count;
    const rocl_capture *c = &a->c.trace->captures[rec->key[0] >> 32]->pub;
    uint32_t below, around = 0;
    rocl_status st = find_root(a, c, (uint32_t)v[3], &below, err);
    for (size_t i = 0; i < depth && st == ROCL_OK; i++) {
        open_range *r = &n->open[i];
        if (!r->node) {
            r->node = find_node(a, below, (uint32_t)(r->what & 0xff), (uint32_t)(r->what >> 8));
            if (!r->node)
                return rocl_fail_memory(err);
            range *made = range_of(a, r->node);
            if (!a->nodes[r->node].count++)
                made->category = r->category;
        }
        around = i + 1 < depth ? r->node : around;
        below = r->node;
    }
    if (st == ROCL_OK && (v[1] & 0xff) == ROCL_DISPATCH)
        st = add_to_markers(a, n, depth, v[1], c->processes[v[3]].rank, (int64_t)v[0], err);
    return st == ROCL_OK ? add_work(a, below, v[1], (int64_t)v[0], depth ? below : 0, around, err)
                         : st;
}

static rocl_status sweep_host(attribution *a, rocl_error *err)
{
    nest n = {.thread = UINT64_MAX};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(a->host, err);
    while (rocl_next_record(a->host, &rec, &st, err)) {
        if (rec.key[0] != n.thread)
            close_ended(a, &n, INT64_MAX);
        n.thread = rec.key[0];
        if (rec.key[2] & LAUNCH) {
            st = launch_work(a, &n, &rec, err);
            continue;
        }
        uint64_t v[2];
        rocl_read_numbers(&rec, v, 2);
        const open_range r = {.start = (int64_t)rec.key[1],
                              .since = (int64_t)rec.key[1],
                              .end = INT64_MAX - (int64_t)rec.key[2],
                              .what = v[0],
                              .category = (uint32_t)v[1]};
        close_ended(a, &n, r.start);
        if (ROCL_GROW(n.open, n.cap, n.count + 1))
            n.open[n.count++] = r;
        else
            st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK)
        close_ended(a, &n, INT64_MAX);
    free(n.open);
    return st;
}

/* ---- the calls of work ----------------------------------------------------------------------- */

static rocl_status add_launch(void *ctx, const rocl_sort_record *question, const rocl_call *call,
                              rocl_error *err)
{
    attribution *a = ctx;
    const rocl_capture *c = &a->c.trace->captures[question->key[0] >> 32]->pub;
    const uint32_t process = (uint32_t)question->key[0];
    uint64_t v[2]; /* duration, kind and name */
    rocl_read_numbers(question, v, 2);
    if (call && call->thread < c->thread_count) {
        const uint64_t key[4] = {thread_word(c, call->thread), (uint64_t)call->start, LAUNCH,
                                 question->key[3]};
        const uint64_t numbers[] = {v[0], v[1], (uint64_t)call->end, process};
        return rocl_add_numbers(a->host, 0, key, numbers, 4, err);
    }
    uint32_t below;
    rocl_status st = find_root(a, c, process, &below, err);
    if (st == ROCL_OK && call) {
        below = find_node(a, below, ROCL_REGION, call->name);
    } else if (st == ROCL_OK) {
        below = find_node(a, below, OF_NO_CALL, 0);
        a->without_call++;
    }
    if (st != ROCL_OK || !below)
        return st != ROCL_OK ? st : rocl_fail_memory(err);
    a->nodes[below].count++;
    return add_work(a, below, v[1], (int64_t)v[0], below, 0, err);
}

static rocl_status look_up_calls(void *self, rocl_calls *calls, rocl_error *err)
{
    attribution *a = self;
    return rocl_calls_look_up(calls, a->work, add_launch, a, err);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* A node as a row of a table. */
typedef struct row {
    node of; /* first: the cells of names are given a row */
    range in;
    double own_percent, total_percent;
} row;

static void share_out(const attribution *a, row *r)
{
    r->own_percent = rocl_percent(r->in.own, a->all);
    r->total_percent = rocl_percent(r->of.total, a->all);
}

static row make_row(const attribution *a, uint32_t id)
{
    const node *n = &a->nodes[id];
    row r = {.of = *n, .in = *range_of(a, id)};
    if (is_work(n->kind))
        r.in = (range){.kernels = n->kind == ROCL_DISPATCH ? n->count : 0,
                       .copies = n->kind == ROCL_COPY ? n->count : 0,
                       .own = n->total,
                       .host_own = -1,
                       .host_total = -1,
                       .depth = n->parent ? range_of(a, n->parent)->depth + 1 : 0};
    share_out(a, &r);
    return r;
}

/* Its name; in a picture of the tree behind a dot for each range around it. */
static rocl_datum put_name(const rocl_report_rows *r, const row *n, bool indented)
{
    const char *dot = r->c->options->ascii ? ". " : "\u00b7 ";
    rocl_buf b = {0};
    for (uint32_t i = 0; indented && i < n->in.depth; i++)
        rocl_buf_str(&b, dot);
    size_t len;
    const char *name = rocl_strings_get(r->c->trace->strings, n->of.name, &len);
    if (n->of.kind == OF_RANK)
        rocl_buf_printf(&b, "rank %d", (int)n->of.name);
    else if (n->of.kind == OF_NO_CALL)
        rocl_buf_str(&b, "(no call in the trace)");
    else
        rocl_buf_put(&b, name, len);
    r->out->incomplete |= b.failed;
    const rocl_datum d = rocl_datum_text(r->out, b.len ? (const char *)b.data : "", b.len);
    rocl_buf_free(&b);
    return d;
}

static rocl_datum field_tree_name(const rocl_report_rows *r, const void *field)
{
    return put_name(r, field, r->c->options->pictures);
}

static rocl_datum field_name(const rocl_report_rows *r, const void *field)
{
    return put_name(r, field, false);
}

static rocl_datum field_kind(const rocl_report_rows *r, const void *field)
{
    const row *n = field;
    const char *name = kind_names[n->of.kind];
    return n->in.category ? rocl_field_text(r, &n->in.category)
                          : rocl_datum_text(r->out, name, strlen(name));
}

#define CELL(field) ROCL_CELL(row, field)
/* in_rest: of the columns of which the last row of a cut table has something. */
#define COLUMNS(in_rest)                                                                           \
    {"kind", "Kind", ROCL_UNIT_TEXT, ROCL_MINOR, ROCL_CELL_BY(field_kind, row, of)},               \
        {"count", "Count", ROCL_UNIT_COUNT, ROCL_MINOR, CELL(of.count)},                           \
        {"kernels", "Kernels", ROCL_UNIT_COUNT, in_rest, CELL(in.kernels)},                        \
        {"copies", "Copies", ROCL_UNIT_COUNT, ROCL_MINOR | in_rest, CELL(in.copies)},              \
        {"own_ns", "Own", ROCL_UNIT_NS, ROCL_ALWAYS, CELL(in.own)},                                \
        {"own_percent", "Own %", ROCL_UNIT_PERCENT, ROCL_MINOR, CELL(own_percent)},                \
        {"total_ns", "Total", ROCL_UNIT_NS, in_rest, CELL(of.total)},                              \
        {"total_percent", "Total %", ROCL_UNIT_PERCENT, in_rest, CELL(total_percent)},             \
        {"host_own_ns", "Host, own", ROCL_UNIT_NS, ROCL_ALWAYS,                                    \
         ROCL_CELL_BY(rocl_field_known, row, in.host_own)},                                        \
    {                                                                                              \
        "host_total_ns", "Host", ROCL_UNIT_NS, ROCL_ALWAYS,                                        \
            ROCL_CELL_BY(rocl_field_known, row, in.host_total)                                     \
    }

static const rocl_column list_columns[] = {
    {"name", "Launched inside", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL_BY(field_name, row, of)},
    COLUMNS(ROCL_ALWAYS),
};

static const rocl_column tree_columns[] = {
    {"name", "Launched inside", ROCL_UNIT_TEXT, ROCL_OTHERS,
     ROCL_CELL_BY(field_tree_name, row, of)},
    {"depth", "Depth", ROCL_UNIT_COUNT, ROCL_IF_OWN, ROCL_CELL_BY(rocl_field_count, row, in.depth)},
    COLUMNS(ROCL_IN_REST),
};

_Static_assert(offsetof(row, of) == 0, "the cells of names are given a row");

static const rocl_table_def list_table = {ROCL_TAB(ATTRIBUTION), "attribution",
                                          "GPU time by what launched it",
                                          ROCL_COLUMNS(list_columns)};
static const rocl_table_def tree_table = {ROCL_TAB(ATTRIBUTION), "attribution_tree",
                                          "GPU time by what launched it, as a tree",
                                          ROCL_COLUMNS(tree_columns)};

/* ---- the list -------------------------------------------------------------------------------- */

static int compare_names(const void *x, const void *y, void *ctx)
{
    const attribution *a = ctx;
    const node *k = x, *l = y;
    const int c = rocl_number_order(k->kind, l->kind);
    if (!c && k->kind == OF_RANK)
        return rocl_number_order((int32_t)k->name, (int32_t)l->name);
    return c ? c : rocl_compare_texts(a->c.trace, k->name, l->name);
}

static int compare_nodes(const node *n, const node *m, int64_t time, int64_t other, attribution *a)
{
    const rocl_sort_values of[] = {{time, time, n->count, rocl_mean(time, n->count)},
                                   {other, other, m->count, rocl_mean(other, m->count)}};
    int c = rocl_compare_values(a->c.options->sort, &of[0], &of[1]);
    c = c ? c : rocl_number_order(m->total, n->total);
    return c ? c : compare_names(n, m, a);
}

static int compare_own(const void *x, const void *y, void *ctx)
{
    const row *n = x, *m = y;
    return compare_nodes(&n->of, &m->of, n->in.own, m->in.own, ctx);
}

static bool is_like(const node *n, const node *m)
{
    return n->kind == m->kind && n->name == m->name;
}

/* False: memory is out. */
static bool put_list(attribution *a, rocl_tables *out)
{
    size_t n = 0, kept = 0;
    row *rows = malloc(a->range_count * sizeof *rows);
    if (!rows)
        return false;
    for (uint32_t i = 1; i < a->node_count; i++) {
        const node *of = &a->nodes[i], *in = &a->nodes[of->parent];
        if (is_work(of->kind)) {
            /* Own time of its call and of the range around that: of one name it counts once. */
            if (in->parent && is_like(in, &a->nodes[in->parent]))
                rows[in->range - 1].in.own -= of->total;
            continue;
        }
        row *r = &rows[n++];
        *r = make_row(a, i);
        /* A range inside one with its name adds to that one's total already. */
        uint32_t up = of->parent;
        while (up && !is_like(&a->nodes[up], of))
            up = a->nodes[up].parent;
        if (up) {
            r->of.total = 0;
            r->in.host_total = r->in.host_total < 0 ? -1 : 0;
            r->in.kernels = r->in.copies = 0;
        }
    }
    qsort_r(rows, n, sizeof *rows, compare_names, a);
    for (size_t i = 0; i < n; i++) {
        row *sum = &rows[kept ? kept - 1 : 0], *r = &rows[i];
        if (!kept || compare_names(sum, r, a)) {
            rows[kept++] = *r;
            continue;
        }
        sum->of.count += r->of.count;
        sum->in.kernels += r->in.kernels;
        sum->in.copies += r->in.copies;
        sum->in.own = rocl_add_saturated(sum->in.own, r->in.own);
        sum->of.total = rocl_add_saturated(sum->of.total, r->of.total);
        if (sum->in.host_total >= 0) {
            sum->in.host_own = rocl_add_saturated(sum->in.host_own, r->in.host_own);
            sum->in.host_total = rocl_add_saturated(sum->in.host_total, r->in.host_total);
        }
    }
    for (size_t i = 0; i < kept; i++)
        share_out(a, &rows[i]);
    qsort_r(rows, kept, sizeof *rows, compare_own, a);
    const rocl_report_rows r = rocl_begin_table(&a->c, out, &list_table, 0);
    rocl_set_note(&r, "own: launched inside it and inside nothing else but calls%s",
                  a->without_call ? "; the calls of some kernels or copies are not in the trace"
                                  : "");
    /* Totals overlap: their sum would say nothing. */
    rocl_add_top_rows(&r, rows, kept, sizeof *rows, NULL);
    free(rows);
    return true;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Children stand together, in the order of rows. */
static int compare_siblings(const void *x, const void *y, void *ctx)
{
    attribution *a = ctx;
    const node *n = &a->nodes[*(const uint32_t *)x], *m = &a->nodes[*(const uint32_t *)y];
    const int c = rocl_number_order(n->parent, m->parent);
    return c ? c : compare_nodes(n, m, n->total, m->total, a);
}

static int compare_totals(const void *x, const void *y)
{
    return rocl_number_order(*(const int64_t *)y, *(const int64_t *)x);
}

/* Keeps the nodes with the largest totals. A node has at least as much as those below it, and comes
 * before them, so the parents of kept nodes are kept. */
typedef struct limit {
    int64_t least; /* nodes with less go, ... */
    size_t equal;  /* ... and those with exactly that, after this many */
} limit;

/* totals: space for those of all nodes. */
static limit find_limit(const attribution *a, size_t shown, int64_t *totals)
{
    const size_t count = a->node_count;
    limit l = {0};
    for (size_t i = 1; i < count; i++)
        totals[i - 1] = a->nodes[i].total;
    qsort(totals, count - 1, sizeof *totals, compare_totals);
    l.least = totals[shown - 1];
    while (l.equal < shown && totals[shown - 1 - l.equal] == l.least)
        l.equal++;
    return l;
}

/* How the tree is walked. */
typedef struct walk {
    uint32_t *ids; /* all nodes but 0, siblings together */
    size_t *first; /* by node: of its children in ids */
    size_t *next;  /* by depth */
    int64_t *totals;
} walk;

static void put_walk(attribution *a, const walk *w, rocl_tables *out)
{
    const size_t count = a->node_count, all = count - 1, shown = rocl_rows_shown(a->c.options, all);
    /* Else the names show the depth. */
    const rocl_report_rows r =
        rocl_begin_table(&a->c, out, &tree_table, a->c.options->pictures ? 0 : ROCL_IF_OWN);
    limit l = {.equal = all};
    /* Everything outside of the rows. */
    row rest = {.of.total = a->nodes[0].total,
                .in = {.kernels = a->ranges[0].kernels, .copies = a->ranges[0].copies}};
    size_t depth = 0;
    if (shown < all)
        l = find_limit(a, shown, w->totals);
    for (size_t i = 1; i < count; i++) {
        w->ids[i - 1] = (uint32_t)i;
        w->first[a->nodes[i].parent + 1]++;
    }
    for (size_t i = 1; i <= count; i++)
        w->first[i] += w->first[i - 1];
    qsort_r(w->ids, all, sizeof *w->ids, compare_siblings, a);
    w->next[0] = w->first[0];
    for (uint32_t parent = 0; w->next[depth] < w->first[parent + 1] || depth;) {
        if (w->next[depth] == w->first[parent + 1]) {
            parent = a->nodes[parent].parent;
            depth--;
            continue;
        }
        const uint32_t id = w->ids[w->next[depth]++];
        const node *n = &a->nodes[id];
        if (n->total > l.least || (n->total == l.least && l.equal)) {
            l.equal -= n->total == l.least;
            const row shows = make_row(a, id);
            rocl_add_row(&r, &shows);
            rest.of.total -= depth ? 0 : n->total;
            rest.in.kernels -= depth ? 0 : shows.in.kernels;
            rest.in.copies -= depth ? 0 : shows.in.copies;
        }
        parent = id;
        w->next[++depth] = w->first[id];
    }
    share_out(a, &rest);
    if (shown < all)
        rocl_add_rest(&r, &rest, all - shown);
}

/* False: memory is out. */
static bool put_tree(attribution *a, rocl_tables *out)
{
    const size_t count = a->node_count;
    uint32_t deepest = 0; /* of ranges; work may be one below */
    for (size_t i = 1; i < a->range_count; i++)
        deepest = a->ranges[i].depth > deepest ? a->ranges[i].depth : deepest;
    const walk w = {malloc(count * sizeof *w.ids), calloc(count + 1, sizeof *w.first),
                    calloc(deepest + (size_t)3, sizeof *w.next), malloc(count * sizeof *w.totals)};
    const bool complete = w.ids && w.first && w.next && w.totals;
    if (complete)
        put_walk(a, &w, out);
    free(w.ids);
    free(w.first);
    free(w.next);
    free(w.totals);
    return complete;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_attribution(void *self, rocl_error *err)
{
    attribution *a = self;
    a->c.needs_calls = true;
    a->work = rocl_collector_sorter(&a->c, 4);
    a->host = rocl_collector_sorter(&a->c, 4);
    a->node_count = a->range_count = 1;
    if (!a->work || !a->host || !ROCL_GROW(a->nodes, a->node_cap, 1) ||
        !ROCL_GROW(a->ranges, a->range_cap, 1))
        return rocl_fail_memory(err);
    return rocl_marker_kernels_open(&a->pairs, &a->c, err);
}

static void free_tree(attribution *a)
{
    free(a->nodes);
    free(a->ranges);
    free(a->slots);
    a->nodes = NULL;
    a->ranges = NULL;
    a->slots = NULL;
}

static rocl_status finish_attribution(void *self, rocl_tables *out, rocl_error *err)
{
    attribution *a = self;
    rocl_collector_free_sorter(&a->c, &a->work);
    const rocl_status st = sweep_host(a, err);
    rocl_collector_free_sorter(&a->c, &a->host);
    if (st != ROCL_OK)
        return st;
    for (uint32_t i = (uint32_t)a->node_count; i-- > 1;) {
        const row n = make_row(a, i);
        node *up = &a->nodes[n.of.parent];
        range *in = &a->ranges[up->range];
        in->kernels += n.in.kernels;
        in->copies += n.in.copies;
        up->total = rocl_add_saturated(up->total, n.of.total);
    }
    if (!put_tree(a, out) || !put_list(a, out))
        return rocl_fail_memory(err);
    free_tree(a); /* the pairs need memory, too */
    return rocl_marker_kernels_put(&a->pairs, &a->c, out, err);
}

static void close_attribution(void *self)
{
    attribution *a = self;
    free_tree(a);
}

const rocl_collector_def rocl_attribution_collector = {
    .tables =
        (const rocl_table_def *const[]){&tree_table, &list_table, &rocl_marker_kernel_table, NULL},
    .kinds = ROCL_BIT(ROCL_MARKER) | ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_DISPATCH) |
             ROCL_BIT(ROCL_COPY),
    .size = sizeof(attribution),
    .slow = true,
    .large = true,
    .open = open_attribution,
    .add_batch = add_attribution_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_attribution,
    .close = close_attribution,
};
