/* What operators of PyTorch computed and moved, by the shapes of their inputs, in the time that the
 * GPUs worked for them: rates, and how far they are from the peak of the GPU.
 *
 *     work    GPU work by process and stack id: looks up the calls that launched it
 *     host    operators by thread and start, and behind those that start before them the launching
 *             calls: a sweep over each thread finds the innermost operator around each call
 *
 * In memory are the groups (operators of one name with inputs of one shape and type), the operators
 * that are open at a time on a thread, and the work of these. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "analysis/gather.h"
#include "analysis/op_work.h"
#include "analysis/peaks.h"
#include "base/array.h"

/* What makes a group; interned as bytes, so without holes. */
typedef struct op_key {
    uint32_t name, shapes; /* text; of op_shapes */
    uint32_t type;         /* rocl_number_type */
    uint32_t unused;
    double flops, bytes; /* of one call */
} op_key;

typedef struct op_group {
    op_key key;
    uint64_t calls, kernels; /* calls with work */
    int64_t time;            /* of the unions of their work; saturates */
    int64_t all;             /* GPU time of the trace, see its share */
    /* For its row: */
    double flops, bytes, flop_rate, byte_rate, intensity, percent, of_peak;
    int64_t least; /* at the peak; -1: it is not known */
    const char *type, *bound;
} op_group;

typedef struct roofline {
    rocl_collector c;
    rocl_sorter *work, *host;
    rocl_strings *keys, *shapes; /* ids of the former are the groups */
    op_group *groups, *taken;    /* the latter: sums of other ranks of a team */
    size_t group_count, taken_count;
    rocl_peak peak;     /* name NULL: none was named */
    int64_t all;        /* GPU time */
    uint64_t shapeless; /* known operators whose shapes or types do not tell */
    uint64_t *lost;     /* the same by worker */
} roofline;

/* In the third word of a key of `host`: launched work, after all operators that start with its
 * call.
 */
#define LAUNCH (UINT64_C(1) << 63)

/* ---- events ---------------------------------------------------------------------------------- */

/* JSON without the blanks between its tokens: shapes have no strings. */
static void put_shapes(rocl_buf *to, rocl_view dims)
{
    to->len = 0;
    for (size_t i = 0; i < dims.n; i++)
        if (!strchr(" \n\r\t", dims.p[i]) || !dims.p[i])
            rocl_buf_byte(to, (uint8_t)dims.p[i]);
    /* Arguments after the last tensor are meaningless. */
    while (to->len > 4 && !memcmp(to->data + to->len - 4, ",[]]", 4))
        to->data[(to->len -= 3) - 1] = ']';
}

static rocl_status add_operator(roofline *f, unsigned worker, const rocl_batch *b, size_t i,
                                rocl_error *err)
{
    enum { DIMS, TYPES, CONCRETE, ARGS };
    static const char *const names[ARGS] = {"Input Dims", "Input type", "Concrete Inputs"};
    const rocl_capture *c = b->capture;
    const rocl_region *r = &b->regions[i];
    const rocl_trace *t = f->c.trace;
    rocl_view name, args[ARGS] = {{0}};
    name.p = rocl_strings_get(t->strings, rocl_name_of(&r->e), &name.n);
    if (!rocl_op_is_known(name) || r->e.thread >= c->thread_count)
        return ROCL_OK;
    for (uint32_t k = 0; k < r->arg_count; k++) {
        const rocl_arg *a = &b->args[r->arg_first + k];
        for (unsigned n = 0; n < ARGS; n++)
            if (!strcmp(rocl_str(t, a->name), names[n]))
                args[n] = (rocl_view){a->value, a->value_len};
    }
    rocl_op_work w;
    rocl_buf text = {0};
    if (!rocl_op_work_of(name, args[DIMS], args[TYPES], args[CONCRETE], &w)) {
        f->lost[worker]++;
        return ROCL_OK;
    }
    put_shapes(&text, args[DIMS]);
    op_key key = {.name = rocl_name_of(&r->e), .type = w.type, .flops = w.flops, .bytes = w.bytes};
    key.shapes =
        text.failed ? ROCL_NONE : rocl_strings_put(f->shapes, (const char *)text.data, text.len);
    rocl_buf_free(&text);
    const uint32_t id = key.shapes == ROCL_NONE
                            ? ROCL_NONE
                            : rocl_strings_put(f->keys, (const char *)&key, sizeof key);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    const uint64_t host[4] = {(uint64_t)c->index << 32 | r->e.thread, (uint64_t)r->e.start,
                              (uint64_t)(INT64_MAX - r->e.end), rocl_row_word(r->e.id, b->kind)};
    const uint64_t number = id;
    return rocl_add_numbers(f->host, worker, host, &number, 1, err);
}

static rocl_status add_roofline_batch(void *self, unsigned worker, const rocl_batch *b,
                                      rocl_error *err)
{
    roofline *f = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        if (b->kind == ROCL_REGION) {
            st = add_operator(f, worker, b, i, err);
            continue;
        }
        const rocl_event *e = rocl_batch_event(b, i);
        const uint64_t end = (uint64_t)e->end;
        st = rocl_calls_ask(f->work, worker, b, e, &end, 1, err);
    }
    return st;
}

/* ---- the operators around calls -------------------------------------------------------------- */

typedef struct piece {
    int64_t start, end;
} piece;

typedef struct open_op {
    int64_t end;
    uint32_t group;
    piece *pieces; /* of work that it launched */
    size_t count, cap;
} open_op;

typedef struct nest {
    uint64_t thread;
    open_op *open; /* the outermost first; those behind `count` keep their arrays */
    size_t count, cap;
} nest;

static int compare_pieces(const void *a, const void *b)
{
    const piece *p = a, *q = b;
    const int c = rocl_number_order(p->start, q->start);
    return c ? c : rocl_number_order(p->end, q->end);
}

static void close_op(roofline *f, open_op *o)
{
    int64_t until = INT64_MIN, time = 0;
    op_group *g = &f->groups[o->group];
    if (o->count)
        qsort(o->pieces, o->count, sizeof *o->pieces, compare_pieces);
    for (size_t i = 0; i < o->count; i++) {
        const piece *p = &o->pieces[i];
        const int64_t from = p->start > until ? p->start : until;
        time = rocl_add_saturated(time, p->end > from ? p->end - from : 0);
        until = p->end > until ? p->end : until;
    }
    g->calls += o->count > 0;
    g->kernels += o->count;
    g->time = rocl_add_saturated(g->time, time);
    o->count = 0;
}

static void close_ended(roofline *f, nest *n, int64_t until)
{
    size_t kept = 0;
    for (size_t i = 0; i < n->count; i++) {
        if (n->open[i].end <= until) {
            close_op(f, &n->open[i]);
            continue;
        }
        if (kept < i) { /* the arrays change places */
            const open_op ended = n->open[kept];
            n->open[kept] = n->open[i];
            n->open[i] = ended;
        }
        kept++;
    }
    n->count = kept;
}

static rocl_status open_op_of(nest *n, int64_t end, uint32_t group, rocl_error *err)
{
    if (!ROCL_GROW(n->open, n->cap, n->count + 1))
        return rocl_fail_memory(err);
    open_op *o = &n->open[n->count++];
    o->end = end;
    o->group = group;
    o->count = 0;
    return ROCL_OK;
}

static rocl_status sweep_operators(roofline *f, rocl_error *err)
{
    nest n = {.thread = UINT64_MAX};
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(f->host, err);
    while (rocl_next_record(f->host, &rec, &st, err)) {
        uint64_t v[2];
        if (rec.key[0] != n.thread)
            close_ended(f, &n, INT64_MAX);
        n.thread = rec.key[0];
        close_ended(f, &n, (int64_t)rec.key[1]);
        rocl_read_numbers(&rec, v, 2);
        if (!(rec.key[2] & LAUNCH)) {
            st = open_op_of(&n, INT64_MAX - (int64_t)rec.key[2], (uint32_t)v[0], err);
        } else if (n.count) {
            open_op *o = &n.open[n.count - 1];
            if (ROCL_GROW(o->pieces, o->cap, o->count + 1))
                o->pieces[o->count++] = (piece){(int64_t)v[0], (int64_t)v[1]};
            else
                st = rocl_fail_memory(err);
        }
    }
    close_ended(f, &n, INT64_MAX);
    for (size_t i = 0; i < n.cap; i++)
        free(n.open[i].pieces);
    free(n.open);
    return st;
}

static rocl_status add_launch(void *ctx, const rocl_sort_record *question, const rocl_call *call,
                              rocl_error *err)
{
    roofline *f = ctx;
    const rocl_capture *c = &f->c.trace->captures[question->key[0] >> 32]->pub;
    uint64_t end;
    rocl_read_numbers(question, &end, 1);
    f->all = rocl_add_saturated(f->all, (int64_t)(end - question->key[2]));
    if (!call || call->thread >= c->thread_count)
        return ROCL_OK;
    const uint64_t key[4] = {(uint64_t)c->index << 32 | call->thread, (uint64_t)call->start, LAUNCH,
                             question->key[3]};
    const uint64_t numbers[] = {question->key[2], end};
    return rocl_add_numbers(f->host, 0, key, numbers, 2, err);
}

static rocl_status look_up_calls(void *self, rocl_calls *calls, rocl_error *err)
{
    roofline *f = self;
    return rocl_calls_look_up(calls, f->work, add_launch, f, err);
}

/* ---- the table ------------------------------------------------------------------------------- */

static rocl_datum field_shapes(const rocl_report_rows *r, const void *row)
{
    size_t n;
    const op_group *g = row;
    const roofline *f = (const roofline *)r->c;
    const char *p = rocl_strings_get(f->shapes, g->key.shapes, &n);
    return rocl_datum_text(r->out, p, n);
}

#define CELL(field) ROCL_CELL(op_group, field)
/* Where a peak was named. */
#define IF_PEAK ROCL_IF_OWN

static const rocl_column columns[] = {
    {"name", "Operator", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(key.name)},
    {"shapes", "Shapes", ROCL_UNIT_TEXT, ROCL_ALWAYS, field_shapes, 0},
    {"type", "Type", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(type)},
    {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, CELL(calls)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, CELL(kernels)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_SUM, CELL(time)},
    {"percent", "%", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
    {"flops", "FLOP", ROCL_UNIT_NUMBER, ROCL_IN_REST | ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_number, op_group, flops)},
    {"bytes", "Bytes", ROCL_UNIT_BYTES, ROCL_IN_REST | ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_number, op_group, bytes)},
    {"tflops_per_s", "TFLOP/s", ROCL_UNIT_NUMBER, ROCL_IN_REST, CELL(flop_rate)},
    {"bandwidth", "Bandwidth", ROCL_UNIT_RATE, ROCL_IN_REST, CELL(byte_rate)},
    {"flops_per_byte", "FLOP/B", ROCL_UNIT_NUMBER, ROCL_ALWAYS, CELL(intensity)},
    {"bound", "Bound by", ROCL_UNIT_TEXT, IF_PEAK, CELL(bound)},
    {"peak_percent", "Of peak %", ROCL_UNIT_PERCENT, IF_PEAK, CELL(of_peak)},
    {"peak_ns", "At peak", ROCL_UNIT_NS, IF_PEAK, ROCL_CELL_BY(rocl_field_known, op_group, least)},
};

static const rocl_table_def roofline_table = {&rocl_roofline_report.tab, "roofline",
                                              "Work done by operators", ROCL_COLUMNS(columns)};

const rocl_report_def rocl_roofline_report = {
    "roofline",
    {"roofline", "Roofline"},
    "what operators of PyTorch computed and moved, by the shapes of their inputs, against a peak",
    (const rocl_table_def *const[]){&roofline_table, NULL}};

/* The rates of a row, or of a sum of rows. */
static void compute_rates(op_group *g)
{
    g->flop_rate = rocl_ratio(g->flops / 1e3, (double)g->time);
    g->byte_rate = rocl_ratio(g->bytes * 1e9, (double)g->time);
    g->percent = rocl_percent(g->time, g->all);
}

static void describe_group(const roofline *f, op_group *g)
{
    g->type = rocl_number_type_names[g->key.type];
    g->flops = g->key.flops * (double)g->calls;
    g->bytes = g->key.bytes * (double)g->calls;
    g->intensity = rocl_ratio(g->key.flops, g->key.bytes);
    g->all = f->all;
    g->least = -1;
    g->of_peak = __builtin_nan("");
    compute_rates(g);
    const double rate = f->peak.flops[g->key.type], bandwidth = f->peak.bandwidth;
    if (!f->peak.name || !(bandwidth > 0) || (g->flops > 0 && !(rate > 0)))
        return;
    const double compute = g->flops > 0 ? g->flops / rate : 0, move = g->bytes / bandwidth;
    const double least = 1e9 * fmax(compute, move); /* ns */
    g->bound = compute > move ? "compute" : "memory";
    g->least = least < 9e18 ? (int64_t)least : -1;
    g->of_peak = 100 * rocl_ratio(least, (double)g->time);
}

static void add_times(op_group *to, const op_group *from)
{
    to->calls += from->calls;
    to->kernels += from->kernels;
    to->time = rocl_add_saturated(to->time, from->time);
}

static void add_group(void *into, const void *from)
{
    op_group *sum = into;
    const op_group *g = from;
    add_times(sum, g);
    sum->flops += g->flops;
    sum->bytes += g->bytes;
    compute_rates(sum);
}

static int compare_groups(const void *a, const void *b, void *ctx)
{
    const roofline *f = ctx;
    const op_group *p = a, *q = b;
    int c = rocl_compare_values(
        f->c.options->sort, &(rocl_sort_values){p->time, 0, p->calls, rocl_mean(p->time, p->calls)},
        &(rocl_sort_values){q->time, 0, q->calls, rocl_mean(q->time, q->calls)});
    if (!c)
        c = rocl_compare_texts(f->c.trace, p->key.name, q->key.name);
    if (!c) {
        size_t n, m;
        const char *x = rocl_strings_get(f->shapes, p->key.shapes, &n);
        const char *y = rocl_strings_get(f->shapes, q->key.shapes, &m);
        c = rocl_compare_bytes(x, n, y, m);
    }
    if (!c)
        c = rocl_number_order(p->key.type, q->key.type);
    if (!c)
        c = (p->key.flops > q->key.flops) - (p->key.flops < q->key.flops);
    return c ? c : (p->key.bytes > q->key.bytes) - (p->key.bytes < q->key.bytes);
}

static rocl_status measure_groups(roofline *f, rocl_error *err)
{
    f->groups = rocl_groups_new(f->keys, sizeof(op_key), sizeof *f->groups, &f->group_count);
    const rocl_status st = f->groups ? sweep_operators(f, err) : rocl_fail_memory(err);
    for (unsigned w = 0; w < f->c.trace->opt.jobs; w++)
        f->shapeless += f->lost[w];
    return st;
}

static rocl_status finish_roofline(void *self, rocl_tables *out, rocl_error *err)
{
    roofline *f = self;
    size_t n = 0;
    int64_t known = 0;
    const rocl_status st = measure_groups(f, err);
    if (st != ROCL_OK)
        return st;
    for (size_t i = 1; i < f->group_count; i++) {
        if (i < f->taken_count)
            add_times(&f->groups[i], &f->taken[i]);
        if (!f->groups[i].calls)
            continue;
        f->groups[n] = f->groups[i];
        known = rocl_add_saturated(known, f->groups[n].time);
        describe_group(f, &f->groups[n++]);
    }
    qsort_r(f->groups, n, sizeof *f->groups, compare_groups, f);
    const rocl_report_rows r =
        rocl_begin_table(&f->c, out, &roofline_table, f->peak.name ? IF_PEAK : 0);
    if (n)
        rocl_set_note(&r,
                      "%.1f %% of the GPU time is of operators whose work is known%s%.40s; of %llu "
                      "calls of such operators the shapes or types do not tell",
                      rocl_percent(known, f->all), f->peak.name ? "; peak: " : "",
                      f->peak.name ? f->peak.name : "", (unsigned long long)f->shapeless);
    else
        rocl_set_note(&r, "no operators with shapes: record with record_shapes=True");
    rocl_add_top_rows(&r, f->groups, n, sizeof *f->groups, add_group);
    return ROCL_OK;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_roofline(void *self, rocl_error *err)
{
    roofline *f = self;
    const rocl_stats_options *o = f->c.options;
    f->c.needs_calls = f->c.needs_args = true;
    f->work = rocl_collector_sorter(&f->c, 4);
    f->host = rocl_collector_sorter(&f->c, 4);
    f->keys = rocl_strings_new();
    f->shapes = rocl_strings_new();
    f->lost = calloc(f->c.trace->opt.jobs, sizeof *f->lost);
    if (!f->work || !f->host || !f->keys || !f->shapes || !f->lost)
        return rocl_fail_memory(err);
    return o->peak ? rocl_peak_find(&f->peak, o->peak, o->peaks, err) : ROCL_OK;
}

static void close_roofline(void *self)
{
    roofline *f = self;
    rocl_strings_free(f->keys);
    rocl_strings_free(f->shapes);
    rocl_peak_free(&f->peak);
    free(f->groups);
    free(f->taken);
    free(f->lost);
}

/* ---- of a team ------------------------------------------------------------------------------- */

/* What is put: groups with calls, then sums. */
enum { GROUP, TOTALS };

/* Operators and their work are of one process: other ranks measure their own. */
static rocl_status put_roofline(void *self, rocl_put *to, rocl_error *err)
{
    roofline *f = self;
    rocl_status st = measure_groups(f, err);
    for (size_t i = 1; i < f->group_count && st == ROCL_OK; i++) {
        const op_group *g = &f->groups[i];
        size_t n;
        const char *shapes = rocl_strings_get(f->shapes, g->key.shapes, &n);
        if (!g->calls)
            continue;
        rocl_put_number(to, GROUP);
        rocl_put_text(to, g->key.name);
        rocl_team_put_text(&to->b, shapes, n);
        rocl_put_bytes(to, &g->key.type, sizeof g->key - offsetof(op_key, type));
        rocl_put_number(to, g->calls);
        rocl_put_number(to, g->kernels);
        rocl_put_number(to, (uint64_t)g->time);
        st = rocl_put_piece(to, err);
    }
    rocl_put_number(to, TOTALS);
    rocl_put_number(to, (uint64_t)f->all);
    rocl_put_number(to, f->shapeless);
    return st;
}

static rocl_status take_group(roofline *f, rocl_taken *from, rocl_error *err)
{
    op_group g = {.key.name = rocl_take_text(from)};
    const uint64_t n = rocl_team_number(&from->r);
    const uint8_t *shapes = rocl_team_bytes(&from->r, n);
    rocl_take_bytes(from, &g.key.type, sizeof g.key - offsetof(op_key, type));
    g.calls = rocl_take_number(from);
    g.kernels = rocl_take_number(from);
    g.time = (int64_t)rocl_take_number(from);
    if (from->r.bad || g.key.type >= ROCL_NUMBER_TYPES)
        return rocl_team_bad_message(err);
    g.key.shapes = rocl_strings_put(f->shapes, (const char *)shapes, n);
    const uint32_t id = g.key.shapes == ROCL_NONE
                            ? ROCL_NONE
                            : rocl_strings_put(f->keys, (const char *)&g.key, sizeof g.key);
    if (id == ROCL_NONE || !ROCL_GROW(f->taken, f->taken_count, (size_t)id + 1))
        return rocl_fail_memory(err);
    add_times(&f->taken[id], &g);
    return ROCL_OK;
}

static rocl_status take_roofline(void *self, unsigned rank, rocl_taken *from, rocl_error *err)
{
    roofline *f = self;
    rocl_status st = ROCL_OK;
    (void)rank;
    while (!rocl_taken_all(from) && st == ROCL_OK) {
        if (rocl_take_number(from) == GROUP) {
            st = take_group(f, from, err);
            continue;
        }
        f->all = rocl_add_saturated(f->all, (int64_t)rocl_take_number(from));
        f->shapeless += rocl_take_number(from);
    }
    return st;
}

static const rocl_gather_def gather_roofline = {.put = put_roofline, .take = take_roofline};

const rocl_collector_def rocl_roofline_collector = {
    .reports = 1u << ROCL_REPORT_ROOFLINE,
    .kinds = ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(roofline),
    .open = open_roofline,
    .add_batch = add_roofline_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_roofline,
    .close = close_roofline,
    .gather = &gather_roofline,
};
