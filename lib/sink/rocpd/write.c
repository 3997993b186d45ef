/* Events -> rows. */
#include <inttypes.h>

#include "base/json_put.h"
#include "sink/rocpd/newset.h"

/* ---- the row in rocpd_event ---------------------------------------------------------------- */

/* What counts in a series begins behind those of former sets. */
rocl_status newset_serial(newset *s, schema_serial series, uint64_t v, newset_cell *cell,
                          rocl_error *err)
{
    int64_t old = (int64_t)v;
    *cell = newset_int(old);
    if (!s->to->flat || old <= 0)
        return ROCL_OK;
    if (__builtin_add_overflow(old, s->to->base[series], &cell->i))
        return rocl_fail(err, ROCL_INPUT, "%s: a correlation id is too large to be numbered anew",
                         s->capture->path);
    if (cell->i > s->to->last[series])
        s->to->last[series] = cell->i;
    return ROCL_OK;
}

rocl_status newset_put_event(newset *s, const rocl_event *e, const char *extdata, size_t len,
                             newset_cell *id, rocl_error *err)
{
    const newset_cell json = newset_bytes("{}", 2);
    newset_cell category, stack, parent;
    rocl_status st;
    if ((st = newset_string(s, e->category, &category, err)) ||
        (st = newset_serial(s, SCHEMA_STACK, e->stack_id, &stack, err)) ||
        (st = newset_serial(s, SCHEMA_STACK, e->parent_stack_id, &parent, err)))
        return st;
    *id = newset_int(++s->next[SCHEMA_EVENT]);
    const newset_cell row[] = {*id,
                               category,
                               stack,
                               parent,
                               newset_int(e->correlation_id),
                               json,
                               json,
                               newset_bytes(extdata, len)};
    return newset_insert(s, SCHEMA_EVENT, row, err);
}

rocl_status newset_put_plain_event(newset *s, const rocl_event *e, newset_cell *id, rocl_error *err)
{
    return newset_put_event(s, e, "{}", 2, id, err);
}

/* The text of a marker is in the event; the name is that of the function. So is what else is called
 * as its row does not say. */
rocl_status newset_put_message(newset *s, const rocl_event *e, newset_cell *id, rocl_error *err)
{
    newset_cell name = newset_text(s, e->name);
    s->text.len = 0;
    rocl_buf_str(&s->text, "{\"message\":\"");
    s->garbled += rocl_json_put(&s->text, name.p, name.n) > 0;
    rocl_buf_str(&s->text, "\"}");
    return s->text.failed
               ? rocl_fail_memory(err)
               : newset_put_event(s, e, (const char *)s->text.data, s->text.len, id, err);
}

static rocl_status put_region_event(newset *s, const rocl_region *g, newset_cell *id,
                                    rocl_error *err)
{
    return g->e.name == g->function ? newset_put_plain_event(s, &g->e, id, err)
                                    : newset_put_message(s, &g->e, id, err);
}

/* ---- the host ------------------------------------------------------------------------------ */

static rocl_status put_args(newset *s, newset_event *e, newset_cell event, rocl_error *err)
{
    rocl_arg a;
    rocl_status st = ROCL_OK;
    for (int64_t i = 0; st == ROCL_OK && newset_next_arg(e, &a); i++) {
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

static rocl_status put_region(void *ctx, const newset_event *e, rocl_error *err)
{
    newset *s = ctx;
    newset_event copy = {.args = e->args, .args_end = e->args_end};
    const rocl_region *g = &e->r.region;
    newset_cell row[8];
    rocl_status st;
    if ((st = put_region_event(s, g, &row[7], err)) ||
        (st = newset_who(s, g->e.process, g->e.thread, &row[1], err)) ||
        (st = newset_string(s, g->function, &row[6], err)))
        return st;
    row[0] = newset_int(++s->next[SCHEMA_REGION]);
    row[4] = newset_int(g->e.start);
    row[5] = newset_int(g->e.end);
    st = newset_insert(s, SCHEMA_REGION, row, err);
    return st ? st : put_args(s, &copy, row[7], err);
}

/* ---- values, and what they are of ---------------------------------------------------------- */

/* Is it of the dispatch or sample that was written last? */
static bool same_owner(const newset *s, rocl_kind kind, const rocl_event *e)
{
    return s->has_owner && s->owner_kind == kind && s->owner == e->id && s->owner_start == e->start;
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

static newset_cell unit(int64_t v)
{
    return v < 0 ? newset_null() : newset_int(v);
}

static rocl_status put_value(newset *s, uint32_t counter, double value, bool of_sample,
                             const int64_t *place, rocl_error *err)
{
    newset_cell pmc;
    rocl_status st = newset_ref(s, SCHEMA_COUNTER, counter, &pmc, err);
    const newset_cell row[] = {newset_int(++s->next[SCHEMA_VALUE]),
                               newset_int(s->owner_event),
                               pmc,
                               of_sample ? newset_int(s->owner_row) : newset_null(),
                               unit(place[0]),
                               unit(place[1]),
                               unit(place[2]),
                               unit(place[3]),
                               unit(place[4]),
                               newset_real(value)};
    return st ? st : newset_insert(s, SCHEMA_VALUE, row, err);
}

static rocl_status put_sample_row(newset *s, const newset_event *e, rocl_error *err)
{
    const rocl_event *head = &e->r.e;
    bool instant = e->kind == ROCL_INSTANT;
    uint32_t name = instant ? e->r.region.function : head->name;
    newset_cell row[4];
    rocl_status st = instant ? put_region_event(s, &e->r.region, &row[3], err)
                             : newset_put_plain_event(s, head, &row[3], err);
    if (st == ROCL_OK)
        st = newset_track(s, head->process, head->thread, name, &row[1], err);
    if (st != ROCL_OK)
        return st;
    row[0] = newset_int(++s->next[SCHEMA_SAMPLE]);
    row[2] = newset_int(head->start);
    note_owner(s, e->kind, head, row[3], row[0]);
    return newset_insert(s, SCHEMA_SAMPLE, row, err);
}

/* Values of one moment share its row. */
static rocl_status put_sample(void *ctx, const newset_event *e, rocl_error *err)
{
    newset *s = ctx;
    const rocl_sample_value *v = &e->r.sample;
    rocl_status st = ROCL_OK;
    if (e->kind == ROCL_INSTANT || !same_owner(s, e->kind, &e->r.e))
        st = put_sample_row(s, e, err);
    if (st || e->kind == ROCL_INSTANT)
        return st;
    const int64_t place[] = {v->xcc, v->shader_engine, v->shader_array, v->wgp, v->instance};
    return put_value(s, v->counter, v->value, e->kind == ROCL_SPM, place, err);
}

/* ROCm's views look for a string, which is empty where there is no label. */
static uint32_t label_of(const rocl_dispatch *d)
{
    return d->region_name == ROCL_NONE ? 0 : d->region_name;
}

static rocl_status put_dispatch_row(newset *s, const rocl_dispatch *d, rocl_error *err)
{
    newset_cell row[23];
    rocl_status st;
    if ((st = newset_put_plain_event(s, &d->e, &row[22], err)) ||
        (st = newset_who(s, d->e.process, d->e.thread, &row[1], err)) ||
        (st = newset_must_ref(s, SCHEMA_AGENT, d->agent, &row[4], err)) ||
        (st = newset_kernel(s, d, &row[5], err)) ||
        (st = newset_serial(s, SCHEMA_DISPATCH_ID, d->dispatch_id, &row[6], err)) ||
        (st = newset_must_ref(s, SCHEMA_QUEUE, d->queue, &row[7], err)) ||
        (st = newset_ref(s, SCHEMA_STREAM, d->stream, &row[8], err)) ||
        (st = newset_serial(s, SCHEMA_GRAPH_ID, d->graph_exec_id, &row[19], err)) ||
        (st = newset_string(s, label_of(d), &row[21], err)))
        return st;
    row[0] = newset_int(++s->next[SCHEMA_DISPATCH]);
    row[9] = newset_int(d->e.start);
    row[10] = newset_int(d->e.end);
    row[11] = newset_int(d->private_segment);
    row[12] = newset_int(d->group_segment);
    for (int i = 0; i < 3; i++) {
        row[13 + i] = newset_int(d->workgroup[i]);
        row[16 + i] = newset_int(d->grid[i]);
    }
    row[20] = newset_int((int64_t)d->graph_node_id);
    note_owner(s, ROCL_DISPATCH, &d->e, row[22], row[0]);
    return newset_insert(s, SCHEMA_DISPATCH, row, err);
}

/* A value says nothing without its dispatch, which may not have passed the filters by itself. */
static rocl_status put_dispatch(void *ctx, const newset_event *e, rocl_error *err)
{
    static const int64_t nowhere[] = {-1, -1, -1, -1, -1};
    newset *s = ctx;
    rocl_status st = ROCL_OK;
    if (e->kind == ROCL_DISPATCH || !same_owner(s, ROCL_DISPATCH, &e->r.e))
        st = put_dispatch_row(s, &e->r.dispatch, err);
    if (st || e->kind == ROCL_DISPATCH)
        return st;
    return put_value(s, e->r.counter.counter, e->r.counter.value, false, nowhere, err);
}

/* ---- all ----------------------------------------------------------------------------------- */

static newset_event_fn *const puts_of[SCHEMA_EVENT_TABLES] = {
    [SCHEMA_REGION] = put_region,         [SCHEMA_SAMPLE] = put_sample,
    [SCHEMA_DISPATCH] = put_dispatch,     [SCHEMA_COPY] = newset_put_copy,
    [SCHEMA_ALLOCATE] = newset_put_alloc, [SCHEMA_GRAPH] = newset_put_graph,
    [SCHEMA_HIP] = newset_put_hip};

static void say_changes(const newset *s)
{
    if (s->garbled)
        rocl_notice(s->trace,
                    "%s: %" PRIu64 " text%s not UTF-8: U+FFFD stands for each byte that is not",
                    s->capture->path, s->garbled, s->garbled == 1 ? " is" : "s are");
    if (s->early)
        rocl_notice(s->trace,
                    "%s: events end before their process began: written as begun with the first "
                    "of them",
                    s->capture->path);
}

/* Ids that other sets must not use. */
static void note_used(newset *s)
{
    newset_target *to = s->to;
    for (schema_table t = 0; t < SCHEMA_TABLES && to->flat; t++)
        to->used[t] = s->defs[t].ids ? s->defs[t].last : s->next[t];
    to->changed += s->garbled;
}

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
        st = newset_events_each(e, t, puts_of[t], &s, err);
    if (st == ROCL_OK) {
        say_changes(&s);
        note_used(&s);
    }
    newset_rows_free(&s);
    newset_ids_free(&s);
    return st;
}
