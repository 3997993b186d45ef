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
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/activity.h"
#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "analysis/keyed.h"
#include "analysis/op_work.h"
#include "analysis/peaks.h"
#include "base/array.h"

/* What makes a group; interned as bytes, so without holes. */
typedef struct op_key {
    uint32_t name, shapes; /* texts */
    uint32_t type;         /* rocl_number_type */
    uint32_t unused;
    double flops, bytes; /* in one call */
} op_key;

typedef struct op_sums {
    uint64_t calls, kernels; /* calls with work */
    int64_t time;            /* sum of the unions of their work; saturates */
} op_sums;

typedef struct op_row {
    op_key key;
    op_sums sums;
    int64_t all; /* GPU time of the trace */
    double flops, bytes, flop_rate, byte_rate, intensity, percent, of_peak;
    int64_t least; /* at the peak; -1: it is not known */
    const char *type, *bound;
} op_row;

typedef struct roofline {
    rocl_collector c;
    rocl_sorter *work, *host;
    rocl_keyed ops;
    rocl_peak peak;
    rocl_buf no_peak;   /* why not */
    int64_t all;        /* GPU time */
    uint64_t shapeless; /* known operators whose shapes or types do not tell */
    atomic_ullong lost; /* these while they come */
} roofline;

#define KEY(member, type) ROCL_MEMBER(op_key, member, KEY_##type)
static const rocl_member key_members[] = {
    KEY(name, TEXT),
    KEY(shapes, TEXT),
    ROCL_MEMBER_BELOW(op_key, type, KEY_NUMBER, ROCL_NUMBER_TYPES),
    KEY(flops, REAL),
    KEY(bytes, REAL),
};
static const rocl_member sum_members[] = {
    ROCL_MEMBER(op_sums, calls, SUM_COUNT),
    ROCL_MEMBER(op_sums, kernels, SUM_COUNT),
    ROCL_MEMBER(op_sums, time, SUM_INT),
};
static const rocl_member totals[] = {
    ROCL_MEMBER(roofline, all, SUM_INT),
    ROCL_MEMBER(roofline, shapeless, SUM_COUNT),
};
static const rocl_keyed_def op_table = {.key_size = sizeof(op_key),
                                        .sum_size = sizeof(op_sums),
                                        ROCL_KEY_MEMBERS(key_members),
                                        ROCL_SUM_MEMBERS(sum_members),
                                        ROCL_TOTALS(totals)};

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
        atomic_fetch_add_explicit(&f->lost, 1, memory_order_relaxed);
        return ROCL_OK;
    }
    put_shapes(&text, args[DIMS]);
    op_key key = {.name = rocl_name_of(&r->e), .type = w.type, .flops = w.flops, .bytes = w.bytes};
    key.shapes =
        text.failed ? ROCL_NONE : rocl_strings_put(t->strings, (const char *)text.data, text.len);
    rocl_buf_free(&text);
    const uint64_t id = key.shapes == ROCL_NONE ? ROCL_NONE : rocl_keyed_group(&f->ops, &key);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    const uint64_t host[4] = {(uint64_t)c->index << 32 | r->e.thread, (uint64_t)r->e.start,
                              (uint64_t)(INT64_MAX - r->e.end), rocl_row_word(r->e.id, b->kind)};
    return rocl_add_numbers(f->host, worker, host, &id, 1, err);
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
    piece *pieces; /* pieces of work that it launched */
    size_t count, cap;
} open_op;

typedef struct nest {
    uint64_t thread;
    open_op *open; /* the outermost first; those behind `count` keep their arrays */
    size_t count, cap;
} nest;

ROCL_COMPARE_MEMBERS(compare_pieces, piece, start, end)

/* sums: of all groups. */
static void close_op(op_sums *sums, open_op *o)
{
    rocl_cover busy = {.until = INT64_MIN};
    op_sums *g = &sums[o->group];
    if (o->count)
        qsort(o->pieces, o->count, sizeof *o->pieces, compare_pieces);
    for (size_t i = 0; i < o->count; i++)
        rocl_cover_extend(&busy, o->pieces[i].start, o->pieces[i].end);
    g->calls += o->count > 0;
    g->kernels += o->count;
    g->time = rocl_add_saturated(g->time, busy.measure);
    o->count = 0;
}

static void close_ended(op_sums *sums, nest *n, int64_t until)
{
    size_t kept = 0;
    for (size_t i = 0; i < n->count; i++) {
        const open_op o = n->open[i];
        if (o.end <= until) {
            close_op(sums, &n->open[i]);
        } else { /* the arrays change places */
            n->open[i] = n->open[kept];
            n->open[kept++] = o;
        }
    }
    n->count = kept;
}

/* Once: for the ranks of a team, or when the report is finished. */
static rocl_status sweep_operators(void *self, rocl_error *err)
{
    roofline *f = self;
    nest n = {.thread = UINT64_MAX};
    rocl_sort_record rec;
    if (!f->host)
        return ROCL_OK;
    op_sums *sums = rocl_keyed_all(&f->ops);
    rocl_status st = sums ? rocl_sorter_start(f->host, err) : rocl_fail_memory(err);
    while (rocl_next_record(f->host, &rec, &st, err)) {
        uint64_t v[2];
        close_ended(sums, &n, rec.key[0] == n.thread ? (int64_t)rec.key[1] : INT64_MAX);
        n.thread = rec.key[0];
        rocl_read_numbers(&rec, v, 2);
        if (!(rec.key[2] & LAUNCH)) {
            if (!ROCL_GROW(n.open, n.cap, n.count + 1)) {
                st = rocl_fail_memory(err);
                continue;
            }
            open_op *o = &n.open[n.count++];
            o->end = INT64_MAX - (int64_t)rec.key[2];
            o->group = (uint32_t)v[0];
        } else if (n.count) {
            open_op *o = &n.open[n.count - 1];
            if (ROCL_GROW(o->pieces, o->cap, o->count + 1))
                o->pieces[o->count++] = (piece){(int64_t)v[0], (int64_t)v[1]};
            else
                st = rocl_fail_memory(err);
        }
    }
    close_ended(sums, &n, INT64_MAX);
    for (size_t i = 0; i < n.cap; i++)
        free(n.open[i].pieces);
    free(n.open);
    f->shapeless += f->lost;
    rocl_collector_free_sorter(&f->c, &f->host);
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

#define CELL(field) ROCL_CELL(op_row, field)
/* Where a peak is known. */
#define IF_PEAK ROCL_IF_OWN

static const rocl_column columns[] = {
    {"name", "Operator", ROCL_UNIT_TEXT, ROCL_OTHERS, CELL(key.name)},
    {"shapes", "Shapes", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(key.shapes)},
    {"type", "Type", ROCL_UNIT_TEXT, ROCL_ALWAYS, CELL(type)},
    {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_SUM, CELL(sums.calls)},
    {"kernels", "Kernels", ROCL_UNIT_COUNT, ROCL_IN_REST | ROCL_MINOR, CELL(sums.kernels)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST | ROCL_SUM, CELL(sums.time)},
    {"percent", "Of GPU time %", ROCL_UNIT_PERCENT, ROCL_IN_REST, CELL(percent)},
    {"flops", "FLOP", ROCL_UNIT_NUMBER, ROCL_IN_REST | ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_number, op_row, flops)},
    {"bytes", "Bytes", ROCL_UNIT_BYTES, ROCL_IN_REST | ROCL_MINOR,
     ROCL_CELL_BY(rocl_field_number, op_row, bytes)},
    {"tflops_per_s", "TFLOP/s", ROCL_UNIT_NUMBER, ROCL_IN_REST, CELL(flop_rate)},
    {"bandwidth", "Bandwidth", ROCL_UNIT_RATE, ROCL_IN_REST, CELL(byte_rate)},
    {"flops_per_byte", "FLOP/B", ROCL_UNIT_NUMBER, ROCL_ALWAYS, CELL(intensity)},
    {"bound", "Bound by", ROCL_UNIT_TEXT, IF_PEAK, CELL(bound)},
    {"peak_percent", "Of peak %", ROCL_UNIT_PERCENT, IF_PEAK, CELL(of_peak)},
    {"peak_ns", "At peak", ROCL_UNIT_NS, IF_PEAK, ROCL_CELL_BY(rocl_field_known, op_row, least)},
};

static const rocl_table_def roofline_table = {ROCL_TAB(ROOFLINE), "roofline",
                                              "Work done by operators", ROCL_COLUMNS(columns)};

/* The rates of a row, or of a sum of rows. */
static void compute_rates(op_row *r)
{
    r->flop_rate = rocl_ratio(r->flops / 1e3, (double)r->sums.time);
    r->byte_rate = rocl_ratio(r->bytes * 1e9, (double)r->sums.time);
    r->percent = rocl_percent(r->sums.time, r->all);
}

static void describe_row(const roofline *f, op_row *r)
{
    r->type = rocl_number_type_names[r->key.type];
    r->flops = r->key.flops * (double)r->sums.calls;
    r->bytes = r->key.bytes * (double)r->sums.calls;
    r->intensity = rocl_ratio(r->key.flops, r->key.bytes);
    r->all = f->all;
    r->least = -1;
    r->of_peak = __builtin_nan("");
    compute_rates(r);
    const double rate = f->peak.flops[r->key.type], bandwidth = f->peak.bandwidth;
    if (!f->peak.name || !(bandwidth > 0) || (r->flops > 0 && !(rate > 0)))
        return;
    const double compute = r->flops > 0 ? r->flops / rate : 0, move = r->bytes / bandwidth;
    const double least = 1e9 * fmax(compute, move); /* ns */
    r->least = least < 9e18 ? (int64_t)least : -1;
    r->of_peak = 100 * rocl_ratio(least, (double)r->sums.time);
    r->bound = r->of_peak > 100 ? "doubtful" : compute > move ? "compute" : "memory";
}

static void add_row(void *into, const void *from)
{
    op_row *sum = into;
    const op_row *r = from;
    rocl_keyed_add(&op_table, &sum->sums, &r->sums);
    sum->flops += r->flops;
    sum->bytes += r->bytes;
    compute_rates(sum);
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const roofline *f = ctx;
    const op_sums *p = &((const op_row *)a)->sums, *q = &((const op_row *)b)->sums;
    const int c = rocl_compare_values(
        f->c.options->sort, &(rocl_sort_values){p->time, 0, p->calls, rocl_mean(p->time, p->calls)},
        &(rocl_sort_values){q->time, 0, q->calls, rocl_mean(q->time, q->calls)});
    return c ? c : rocl_keyed_compare(&op_table, f->c.trace, a, b);
}

static rocl_status finish_roofline(void *self, rocl_tables *out, rocl_error *err)
{
    roofline *f = self;
    size_t n, above = 0;
    int64_t known = 0;
    char doubt[100] = "";
    const rocl_status st = sweep_operators(f, err);
    if (st != ROCL_OK)
        return st;
    op_row *rows = rocl_keyed_rows(&f->ops, &f->c, sizeof *rows, &n);
    if (!rows)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        known = rocl_add_saturated(known, rows[i].sums.time);
        describe_row(f, &rows[i]);
        above += rows[i].of_peak > 100;
    }
    if (above)
        snprintf(doubt, sizeof doubt, "; %zu above the peak: the shapes or the peak are wrong",
                 above);
    qsort_r(rows, n, sizeof *rows, compare_rows, f);
    const rocl_report_rows r =
        rocl_begin_table(&f->c, out, &roofline_table, f->peak.name ? IF_PEAK : 0);
    if (n)
        rocl_set_note(
            &r,
            "%.1f %% of the GPU time is of operators whose work is known; %s%.*s; of %llu "
            "calls of such operators the shapes or types do not tell%s",
            rocl_percent(known, f->all), f->peak.name ? "peak: " : "",
            f->peak.name ? rocl_name_prefix(f->peak.name, 40) : (int)f->no_peak.len,
            f->peak.name ? f->peak.name : (const char *)f->no_peak.data,
            (unsigned long long)f->shapeless, doubt);
    else
        rocl_set_note(&r, "no operators with shapes: record with record_shapes=True");
    rocl_add_top_rows(&r, rows, n, sizeof *rows, add_row);
    free(rows);
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
    if (!f->work || !f->host)
        return rocl_fail_memory(err);
    const rocl_status st = rocl_keyed_open(&f->ops, &op_table, &f->c, err);
    return st != ROCL_OK ? st
           : o->peak     ? rocl_peak_find(&f->peak, o->peak, o->peaks, err)
                         : rocl_peak_of_gpus(&f->peak, &f->no_peak, f->c.trace, o->peaks, err);
}

static void close_roofline(void *self)
{
    roofline *f = self;
    rocl_peak_free(&f->peak);
    rocl_buf_free(&f->no_peak);
}

/* Operators and their work are of one process: each rank measures its own. */
static const rocl_gather_def gather_roofline = {.settle = sweep_operators, ROCL_GATHER_KEYED};

const rocl_collector_def rocl_roofline_collector = {
    .tables = (const rocl_table_def *const[]){&roofline_table, NULL},
    .kinds = ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COPY),
    .size = sizeof(roofline),
    .open = open_roofline,
    .add_batch = add_roofline_batch,
    .look_up_calls = look_up_calls,
    .finish = finish_roofline,
    .close = close_roofline,
    .gather = &gather_roofline,
};
