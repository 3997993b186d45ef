/* Events -> rows, those of GPUs and their counters, too. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "format/packet.h"
#include "sink/rocpd/newset.h"

/* ---- a row in the making ---- */

enum { CELLS_MAX = 24 };

/* Cells are added in the order of the columns of rows.c. The first failure stays, and is what
 * insert_row() returns. */
typedef struct row_builder {
    newset *s;
    schema_table table;
    rocl_error *err;
    rocl_status st;
    unsigned count;
    newset_cell cells[CELLS_MAX];
} row_builder;

/* The cells are not cleared: a row takes long enough. */
static void start_row(row_builder *r, newset *s, schema_table t, rocl_error *err)
{
    r->s = s;
    r->table = t;
    r->err = err;
    r->st = ROCL_OK;
    r->count = 0;
}

static inline void add_cell(row_builder *r, newset_cell c)
{
    r->cells[r->count++] = c;
}

static inline void add_int(row_builder *r, int64_t v)
{
    add_cell(r, newset_int(v));
}

static void add_times(row_builder *r, const rocl_event *e)
{
    add_int(r, e->start);
    add_int(r, e->end);
}

/* The id of a string; the string of ROCL_NONE is NULL. */
static void add_string(row_builder *r, uint32_t text)
{
    newset_cell id = newset_null();
    if (r->st == ROCL_OK)
        r->st = newset_string(r->s, text, &id, r->err);
    add_cell(r, id);
}

static void add_ref(row_builder *r, schema_table t, uint32_t index)
{
    newset_cell id = newset_null();
    if (r->st == ROCL_OK)
        r->st = newset_ref(r->s, t, index, &id, r->err);
    add_cell(r, id);
}

static void add_must_ref(row_builder *r, schema_table t, uint32_t index)
{
    newset_cell id = newset_null();
    if (r->st == ROCL_OK)
        r->st = newset_must_ref(r->s, t, index, &id, r->err);
    add_cell(r, id);
}

/* What counts in a series begins behind those of former sets. */
static void add_serial(row_builder *r, schema_serial series, uint64_t v)
{
    newset *s = r->s;
    int64_t number = (int64_t)v;
    if (s->to->flat && number > 0) {
        if (__builtin_add_overflow(number, s->to->base[series], &number) && r->st == ROCL_OK)
            r->st = rocl_fail(r->err, ROCL_INPUT, "%s: " SCHEMA_SERIAL_TOO_LARGE, s->capture->path);
        else if (number > s->to->last[series])
            s->to->last[series] = number;
    }
    add_int(r, number);
}

static rocl_status insert_row(const row_builder *r)
{
    return r->st ? r->st : newset_insert(r->s, r->table, r->cells, r->err);
}

/* ---- the row in rocpd_event ---- */

static rocl_status put_event(newset *s, const rocl_event *e, newset_cell extdata, newset_cell *id,
                             rocl_error *err)
{
    row_builder r;
    start_row(&r, s, SCHEMA_EVENT, err);
    *id = newset_int(s->next[SCHEMA_EVENT] + 1);
    add_cell(&r, *id);
    add_string(&r, e->category);
    add_serial(&r, SCHEMA_STACK, e->stack_id);
    add_serial(&r, SCHEMA_STACK, e->parent_stack_id);
    add_int(&r, e->correlation_id);
    add_cell(&r, newset_literal("{}"));
    add_cell(&r, newset_literal("{}"));
    add_cell(&r, extdata);
    s->next[SCHEMA_EVENT]++;
    if (s->text.failed)
        r.st = rocl_fail_memory(err);
    return insert_row(&r);
}

/* extdata with the name of an event, which its row does not hold. */
static newset_cell make_message(newset *s, const rocl_event *e)
{
    newset_cell name = newset_text(s, e->name);
    s->text.len = 0;
    rocl_buf_str(&s->text, "{\"message\":\"");
    s->garbled += rocl_json_put(&s->text, name.p, name.n) > 0;
    rocl_buf_str(&s->text, "\"}");
    return newset_bytes(s->text.data, s->text.len);
}

/* The text of a marker is in the event; the name is that of the function. */
static newset_cell region_extdata(newset *s, const rocl_region *g)
{
    return g->e.name == g->function ? newset_literal("{}") : make_message(s, &g->e);
}

/* Writes the event, and begins the row of its table: the id, node, process and thread. */
static void start_event_row(row_builder *r, newset *s, schema_table t, const rocl_event *e,
                            newset_cell extdata, newset_cell *event, rocl_error *err)
{
    start_row(r, s, t, err);
    r->st = put_event(s, e, extdata, event, err);
    add_int(r, ++s->next[t]);
    if (r->st == ROCL_OK)
        r->st = newset_who(s, e->process, e->thread, &r->cells[r->count], err);
    r->count += 3;
}

/* Writes the arguments of the event that was written last. */
static rocl_status put_args(newset *s, const newset_event *e, newset_cell event, rocl_error *err)
{
    newset_event at = {.args = e->args, .args_end = e->args_end};
    rocl_arg a;
    rocl_status st = ROCL_OK;
    for (int64_t i = 0; st == ROCL_OK && newset_next_arg(&at, &a); i++) {
        const newset_cell row[] = {newset_int(++s->next[SCHEMA_ARG]),
                                   event,
                                   newset_int(i),
                                   newset_text(s, a.type),
                                   newset_text(s, a.name),
                                   newset_bytes(a.value, a.value_len)};
        st = newset_insert(s, SCHEMA_ARG, row, err);
    }
    return st;
}

/* ---- the host ---- */

static rocl_status put_region(void *ctx, const newset_event *e, rocl_error *err)
{
    newset *s = ctx;
    const rocl_region *g = &e->r.region;
    newset_cell event;
    row_builder r;
    start_event_row(&r, s, SCHEMA_REGION, &g->e, region_extdata(s, g), &event, err);
    add_times(&r, &g->e);
    add_string(&r, g->function);
    add_cell(&r, event);
    rocl_status st = insert_row(&r);
    return st ? st : put_args(s, e, event, err);
}

/* ---- values, and what they are of ---- */

/* Is it of the dispatch or sample that was written last? */
static bool is_same_owner(const newset *s, rocl_kind kind, const rocl_event *e)
{
    return s->has_owner && s->owner_kind == kind && s->owner == e->id &&
           (s->owner_start == e->start || !e->start);
}

static void note_owner(newset *s, rocl_kind kind, const rocl_event *e, newset_cell event,
                       newset_cell row)
{
    s->has_owner = true;
    s->owner_kind = kind;
    s->owner = e->id;
    s->owner_start = e->start;
    s->owner_event = event.i;
    s->owner_row = row.i;
}

/* dimensions: xcc, shader engine and array, wgp, instance; negative: unknown. */
static rocl_status put_value(newset *s, uint32_t counter, double value, bool of_sample,
                             const int64_t dimensions[5], rocl_error *err)
{
    row_builder r;
    start_row(&r, s, SCHEMA_VALUE, err);
    add_int(&r, ++s->next[SCHEMA_VALUE]);
    add_int(&r, s->owner_event);
    add_ref(&r, SCHEMA_COUNTER, counter);
    add_cell(&r, of_sample ? newset_int(s->owner_row) : newset_null());
    for (int i = 0; i < 5; i++)
        add_cell(&r, dimensions[i] < 0 ? newset_null() : newset_int(dimensions[i]));
    add_cell(&r, newset_real(value));
    return insert_row(&r);
}

/* Values of one moment share its row. */
static rocl_status put_sample(void *ctx, const newset_event *e, rocl_error *err)
{
    newset *s = ctx;
    const rocl_event *head = &e->r.e;
    const rocl_sample_value *v = &e->r.sample;
    bool instant = e->kind == ROCL_INSTANT;
    if (instant || !is_same_owner(s, e->kind, head)) {
        newset_cell row[4];
        newset_cell extdata = instant ? region_extdata(s, &e->r.region) : newset_literal("{}");
        uint32_t name = instant ? e->r.region.function : head->name;
        rocl_status st = put_event(s, head, extdata, &row[3], err);
        if (st == ROCL_OK)
            st = newset_track(s, head->process, head->thread, name, &row[1], err);
        if (st != ROCL_OK)
            return st;
        row[0] = newset_int(++s->next[SCHEMA_SAMPLE]);
        row[2] = newset_int(head->start);
        note_owner(s, e->kind, head, row[3], row[0]);
        st = newset_insert(s, SCHEMA_SAMPLE, row, err);
        if (st || instant)
            return st;
    }
    const int64_t dimensions[] = {v->xcc, v->shader_engine, v->shader_array, v->wgp, v->instance};
    return put_value(s, v->counter, v->value, e->kind == ROCL_SPM, dimensions, err);
}

/* ---- work of GPUs ---- */

static rocl_status put_dispatch_row(newset *s, const newset_event *e, rocl_error *err)
{
    const rocl_dispatch *d = &e->r.dispatch;
    newset_cell event, kernel = newset_null(), extdata = newset_literal("{}");
    rocl_packet packet;
    row_builder r;
    if (newset_packet(e, &packet)) {
        s->text.len = 0;
        schema_put_packet(&s->text, &packet);
        extdata = newset_bytes(s->text.data, s->text.len);
    }
    start_event_row(&r, s, SCHEMA_DISPATCH, &d->e, extdata, &event, err);
    add_must_ref(&r, SCHEMA_AGENT, d->agent);
    if (r.st == ROCL_OK)
        r.st = newset_kernel(s, d, &kernel, err);
    add_cell(&r, kernel);
    add_serial(&r, SCHEMA_DISPATCH_ID, d->dispatch_id);
    add_must_ref(&r, SCHEMA_QUEUE, d->queue);
    add_ref(&r, SCHEMA_STREAM, d->stream);
    add_times(&r, &d->e);
    add_int(&r, d->private_segment);
    add_int(&r, d->group_segment);
    for (int i = 0; i < 3; i++)
        add_int(&r, d->workgroup[i]);
    for (int i = 0; i < 3; i++)
        add_int(&r, d->grid[i]);
    add_serial(&r, SCHEMA_GRAPH_ID, d->graph_exec_id);
    add_int(&r, (int64_t)d->graph_node_id);
    /* ROCm's views look for a string, which is empty where there is no label. */
    add_string(&r, d->region_name == ROCL_NONE ? 0 : d->region_name);
    add_cell(&r, event);
    note_owner(s, ROCL_DISPATCH, &d->e, event, r.cells[0]);
    rocl_status st = insert_row(&r);
    return st ? st : put_args(s, e, event, err);
}

/* A value says nothing without its dispatch, which may not have passed the filters by itself. */
static rocl_status put_dispatch(void *ctx, const newset_event *e, rocl_error *err)
{
    static const int64_t unknown[] = {-1, -1, -1, -1, -1};
    newset *s = ctx;
    rocl_status st = ROCL_OK;
    if (e->kind == ROCL_DISPATCH || !is_same_owner(s, ROCL_DISPATCH, &e->r.e))
        st = put_dispatch_row(s, e, err);
    if (st || e->kind == ROCL_DISPATCH)
        return st;
    return put_value(s, e->r.counter.counter, e->r.counter.value, false, unknown, err);
}

static rocl_status put_copy(void *ctx, const newset_event *e, rocl_error *err)
{
    const rocl_copy *c = &e->r.copy;
    newset_cell event;
    row_builder r;
    start_event_row(&r, ctx, SCHEMA_COPY, &c->e, newset_literal("{}"), &event, err);
    add_times(&r, &c->e);
    add_string(&r, c->e.name);
    add_must_ref(&r, SCHEMA_AGENT, c->dst);
    add_int(&r, (int64_t)c->dst_address);
    add_must_ref(&r, SCHEMA_AGENT, c->src);
    add_int(&r, (int64_t)c->src_address);
    add_int(&r, (int64_t)c->size);
    add_ref(&r, SCHEMA_QUEUE, c->queue);
    add_ref(&r, SCHEMA_STREAM, c->stream);
    add_string(&r, 0);
    add_cell(&r, event);
    return insert_row(&r);
}

static rocl_status put_alloc(void *ctx, const newset_event *e, rocl_error *err)
{
    static const char *const types[] = {NULL, "ALLOC", "FREE", "REALLOC", "RECLAIM"};
    static const char *const levels[] = {NULL, "REAL", "VIRTUAL", "SCRATCH"};
    newset *s = ctx;
    const rocl_alloc *a = &e->r.alloc;
    char flags[64] = "{}", usual[ROCL_ALLOC_NAME_MAX];
    newset_cell event;
    rocl_alloc_name(usual, a->level, a->op);
    bool is_usual = strcmp(usual, rocl_str(s->trace, a->e.name)) == 0;
    row_builder r;
    start_event_row(&r, s, SCHEMA_ALLOCATE, &a->e,
                    is_usual ? newset_literal("{}") : make_message(s, &a->e), &event, err);
    add_ref(&r, SCHEMA_AGENT, a->agent);
    add_cell(&r, types[a->op] ? newset_literal(types[a->op]) : newset_null());
    add_cell(&r, levels[a->level] ? newset_literal(levels[a->level]) : newset_null());
    add_times(&r, &a->e);
    add_int(&r, (int64_t)a->address);
    add_int(&r, (int64_t)a->size);
    add_ref(&r, SCHEMA_QUEUE, a->queue);
    add_ref(&r, SCHEMA_STREAM, a->stream);
    add_cell(&r, event);
    /* As a number up to where all readers of JSON are exact. */
    const char *quote = a->flags >> 53 ? "\"" : "";
    if (a->flags)
        snprintf(flags, sizeof flags, "{\"flags\": %s%" PRIu64 "%s}", quote, a->flags, quote);
    add_cell(&r, newset_literal(flags));
    return insert_row(&r);
}

static rocl_status put_graph(void *ctx, const newset_event *e, rocl_error *err)
{
    const rocl_hip *h = &e->r.hip;
    newset_cell event;
    row_builder r;
    start_event_row(&r, ctx, SCHEMA_GRAPH, &h->e, newset_literal("{}"), &event, err);
    add_ref(&r, SCHEMA_AGENT, h->agent);
    add_ref(&r, SCHEMA_QUEUE, h->queue);
    add_ref(&r, SCHEMA_STREAM, h->stream);
    add_times(&r, &h->e);
    add_string(&r, h->e.name);
    add_serial(&r, SCHEMA_GRAPH_ID, h->graph_exec_id);
    add_int(&r, (int64_t)h->kernel_count);
    add_cell(&r, event);
    return insert_row(&r);
}

static rocl_status put_hip(void *ctx, const newset_event *e, rocl_error *err)
{
    const rocl_hip *h = &e->r.hip;
    newset_cell event;
    row_builder r;
    start_event_row(&r, ctx, SCHEMA_HIP, &h->e,
                    newset_literal(e->kind == ROCL_BARRIER ? SCHEMA_BARRIER : "{}"), &event, err);
    add_ref(&r, SCHEMA_AGENT, h->agent);
    add_ref(&r, SCHEMA_QUEUE, h->queue);
    add_ref(&r, SCHEMA_QUEUE, h->source_queue);
    add_ref(&r, SCHEMA_STREAM, h->stream);
    add_times(&r, &h->e);
    add_string(&r, h->e.name);
    add_cell(&r, event);
    return insert_row(&r);
}

/* ---- all ---- */

static newset_event_fn *const writers[SCHEMA_EVENT_TABLES] = {
    [SCHEMA_REGION] = put_region, [SCHEMA_SAMPLE] = put_sample,  [SCHEMA_DISPATCH] = put_dispatch,
    [SCHEMA_COPY] = put_copy,     [SCHEMA_ALLOCATE] = put_alloc, [SCHEMA_GRAPH] = put_graph,
    [SCHEMA_HIP] = put_hip};

rocl_status newset_write(newset_events *e, newset_target *to, rocl_error *err)
{
    newset s = {.to = to};
    newset_events_of(e, &s.trace, &s.capture);
    for (schema_table t = 0; t < SCHEMA_TABLES; t++)
        s.next[t] = to->flat ? to->used[t] : 0;
    s.first_ends = newset_events_first_ends(e);
    rocl_progress_phase(s.trace, "writing", newset_events_count(e));
    rocl_status st = newset_ids_give(&s, err);
    if (st == ROCL_OK)
        st = newset_defs_write(&s, err);
    for (schema_table t = 0; t < SCHEMA_EVENT_TABLES && st == ROCL_OK; t++)
        st = newset_events_each(e, t, writers[t], &s, err);
    if (st == ROCL_OK && s.garbled)
        rocl_notice(s.trace, "%s: " ROCL_NOT_UTF8, s.capture->path, s.garbled,
                    s.garbled == 1 ? " holds" : "s hold");
    if (st == ROCL_OK && s.late_processes)
        rocl_notice(s.trace,
                    "%s: events end before their process began: its begin was moved to the end of "
                    "the first of them",
                    s.capture->path);
    /* Other sets must not use these ids. */
    for (schema_table t = 0; t < SCHEMA_TABLES && st == ROCL_OK && to->flat; t++)
        to->used[t] = s.defs[t].ids ? s.defs[t].last : s.next[t];
    to->changed += st == ROCL_OK ? s.garbled : 0;
    newset_rows_free(&s);
    newset_ids_free(&s);
    return st;
}
