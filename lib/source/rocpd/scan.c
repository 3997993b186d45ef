/* Event-like tables -> batches of events. */
#include <stdlib.h>

#include "source/reader.h"
#include "source/rocpd/rocpd.h"

/* Every table of events begins with these; a column that a table or schema lacks reads as NULL. */
#define COMMON_COLUMNS "pid", "tid", "track_id", "start", "end", "event_id", "name_id"

enum { PID, TID, TRACK, START, END, EVENT, NAME, OWN };

static const char *const region_columns[] = {COMMON_COLUMNS};

enum {
    D_AGENT = OWN,
    D_QUEUE,
    D_STREAM,
    D_KERNEL,
    D_DISPATCH,
    D_PRIVATE,
    D_GROUP,
    D_WORKGROUP,
    D_GRID = D_WORKGROUP + 3,
    D_REGION_NAME = D_GRID + 3,
    D_GRAPH_EXEC,
    D_GRAPH_NODE
};

static const char *const dispatch_columns[] = {COMMON_COLUMNS,
                                               "agent_id",
                                               "queue_id",
                                               "stream_id",
                                               "kernel_id",
                                               "dispatch_id",
                                               "private_segment_size",
                                               "group_segment_size",
                                               "workgroup_size_x",
                                               "workgroup_size_y",
                                               "workgroup_size_z",
                                               "grid_size_x",
                                               "grid_size_y",
                                               "grid_size_z",
                                               "region_name_id",
                                               "graph_exec_id",
                                               "graph_node_id"};

enum { C_SRC = OWN, C_DST, C_QUEUE, C_STREAM, C_SIZE, C_SRC_ADDRESS, C_DST_ADDRESS };

static const char *const copy_columns[] = {COMMON_COLUMNS, "src_agent_id", "dst_agent_id",
                                           "queue_id",     "stream_id",    "size",
                                           "src_address",  "dst_address"};

enum { A_AGENT = OWN, A_QUEUE, A_STREAM, A_TYPE, A_LEVEL, A_SIZE, A_ADDRESS, A_EXTDATA };

static const char *const alloc_columns[] = {COMMON_COLUMNS, "agent_id", "queue_id",
                                            "stream_id",    "type",     "level",
                                            "size",         "address",  "extdata"};

enum { S_TIME = OWN };

static const char *const sample_columns[] = {COMMON_COLUMNS, "timestamp"};

enum { H_AGENT = OWN, H_QUEUE, H_STREAM, H_SOURCE, H_EXEC, H_COUNT };

static const char *const hip_columns[] = {
    COMMON_COLUMNS,         "agent_id", "queue_id", "stream_id", "source_queue_id", "graph_exec_id",
    "kernel_dispatch_count"};

/* ---- batches ---- */

rocl_status rocpd_batch_flush(rocpd_set *s, rocpd_worker *w, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (int k = 0; k < ROCL_KINDS && st == ROCL_OK; k++) {
        rocl_batch *b = &w->out[k];
        if (!b->count)
            continue;
        b->capture = &s->capture->pub;
        b->kind = (rocl_kind)k;
        b->args = w->args;
        st = w->to->emit(w->to->ctx, w->number, b, err);
        b->count = 0;
    }
    w->arg_count = 0;
    rocl_arena_free(&w->arg_text);
    return st;
}

rocl_status rocpd_batch_room(rocpd_set *s, rocpd_worker *w, rocl_kind kind, rocl_error *err)
{
    rocl_batch *b = &w->out[kind];
    if (b->count == ROCL_ROWS_BATCH) {
        rocl_status st = rocpd_batch_flush(s, w, err);
        if (st != ROCL_OK)
            return st;
    }
    if (!b->any && !(b->any = malloc(ROCL_ROWS_BATCH * rocl_kind_size(kind))))
        return rocl_fail_memory(err);
    return ROCL_OK;
}

void rocpd_worker_close(rocpd_worker *w)
{
    for (int k = 0; k < ROCL_KINDS; k++)
        free(w->out[k].any);
    free(w->args);
    rocl_arena_free(&w->arg_text);
    rocpd_events_close(w->events);
    rocl_idset_free(&w->region_events);
    memset(w, 0, sizeof *w);
}

/* ---- what all records share ---- */

/* A reference that neighbours share, but that is in no array. */
static inline rocl_status take_shared(const rocpd_row *r, unsigned col, const rocl_ids *ids,
                                      rocl_fault fault, rocpd_recent *recent, uint32_t *index,
                                      rocl_error *err)
{
    const rocl_column *c = &r->rows->columns[col];
    if (c->type[r->row] != ROCL_CELL_INT)
        return rocpd_ref(r, col, ids, fault, index, err);
    int64_t id = c->num[r->row];
    unsigned slot = (unsigned)id % ROCPD_RECENT;
    if (recent->slots[slot].known && recent->slots[slot].id == id) {
        *index = recent->slots[slot].index;
        return ROCL_OK;
    }
    rocl_status st = rocpd_ref(r, col, ids, fault, index, err);
    recent->slots[slot].known = *index != ROCL_NONE;
    recent->slots[slot].id = id;
    recent->slots[slot].index = *index;
    return st;
}

/* Schema 4 keeps who and where in a track, schema 3 in columns. */
static rocl_status take_who(const rocpd_row *r, rocpd_worker *w, rocl_event *e,
                            const rocpd_track_def **track, rocl_error *err)
{
    const rocpd_set *s = r->set;
    uint32_t t;
    *track = NULL;
    rocl_status st = rocpd_ref(r, TRACK, &s->tracks, ROCL_FAULT_DANGLING_TRACK, &t, err);
    if (st == ROCL_OK && t != ROCL_NONE) {
        *track = &s->track_defs[t];
        e->process = (*track)->process;
        e->thread = (*track)->thread;
    } else if (st == ROCL_OK) {
        st = take_shared(r, PID, &s->processes, ROCL_FAULT_DANGLING_PROCESS, &w->processes,
                         &e->process, err);
        if (st == ROCL_OK)
            st = take_shared(r, TID, &s->threads, ROCL_FAULT_DANGLING_THREAD, &w->threads,
                             &e->thread, err);
    }
    if (e->process == ROCL_NONE)
        e->process = 0; /* the capture's first: every event belongs to some process */
    return st;
}

/* A reference that schema 4 keeps in the track. */
static rocl_status take_placed(const rocpd_row *r, unsigned col, const rocl_ids *map,
                               rocl_fault fault, uint32_t from_track, uint32_t *index,
                               rocl_error *err)
{
    rocl_status st = rocpd_ref(r, col, map, fault, index, err);
    if (*index == ROCL_NONE)
        *index = from_track;
    return st;
}

static rocl_status take_event(const rocpd_row *r, rocpd_worker *w, rocl_event *e,
                              rocpd_event_row *row, rocl_error *err)
{
    int64_t id = 0;
    bool bad = false, found = false;
    memset(row, 0, sizeof *row);
    row->category = ROCL_NONE;
    row->extdata = "";
    if (rocl_cell_int(r->rows, EVENT, r->row, &id, &bad)) {
        rocl_status st = rocpd_events_find(w->events, id, row, &found, err);
        row->exists = found;
        if (st == ROCL_OK && !found)
            st = rocpd_fault(r, ROCL_FAULT_DANGLING_EVENT, err);
        if (st != ROCL_OK)
            return st;
    }
    e->id = (uint64_t)r->rows->id[r->row];
    e->event_id = (uint64_t)id;
    e->stack_id = row->stack_id;
    e->parent_stack_id = row->parent_stack_id;
    e->correlation_id = row->correlation_id;
    e->category = row->category;
    if (row->bad_category) {
        rocl_status st = rocpd_fault(r, ROCL_FAULT_DANGLING_NAME, err);
        if (st != ROCL_OK)
            return st;
    }
    return bad ? rocpd_fault(r, ROCL_FAULT_BAD_VALUE, err) : ROCL_OK;
}

/* Who, when, event. *keep false: the record is left out. */
static rocl_status take_head(const rocpd_row *r, rocpd_worker *w, rocl_event *e,
                             rocpd_event_row *row, const rocpd_track_def **track, bool *keep,
                             rocl_error *err)
{
    rocl_status st = take_who(r, w, e, track, err);
    if (st == ROCL_OK)
        st = rocpd_times(r, START, END, &r->set->capture->pub.processes[e->process], e, keep, err);
    if (st == ROCL_OK && *keep)
        st = take_event(r, w, e, row, err);
    return st;
}

static rocl_status take_u32(const rocpd_row *r, unsigned col, uint32_t *v, rocl_error *err)
{
    int64_t x;
    rocl_status st = rocpd_int(r, col, &x, err);
    if (st == ROCL_OK && (x < 0 || x > UINT32_MAX)) {
        x = 0;
        st = rocpd_fault(r, ROCL_FAULT_BAD_VALUE, err);
    }
    *v = (uint32_t)x;
    return st;
}

static rocl_status take_u64(const rocpd_row *r, unsigned col, uint64_t *v, rocl_error *err)
{
    int64_t x;
    rocl_status st = rocpd_int(r, col, &x, err);
    *v = (uint64_t)x;
    return st;
}

/* No size and no count is below 0 (an address may look so). */
static rocl_status take_size(const rocpd_row *r, unsigned col, uint64_t *v, rocl_error *err)
{
    int64_t x;
    rocl_status st = rocpd_int(r, col, &x, err);
    if (st == ROCL_OK && x < 0) {
        x = 0;
        st = rocpd_fault(r, ROCL_FAULT_BAD_VALUE, err);
    }
    *v = (uint64_t)x;
    return st;
}

/* ---- one function per table ---- */

static bool is_marker(const rocl_trace *t, rocpd_worker *w, uint32_t category)
{
    rocpd_category *c = &w->categories[category % ROCPD_CATEGORIES];
    if (c->text != category + 1)
        *c = (rocpd_category){category + 1,
                              rocl_domain_of(t, ROCL_REGION, category) == ROCL_DOMAIN_MARKERS};
    return c->marker;
}

/* The text of a ROCTx call is in the event's extdata, the name column holds the function. */
static rocl_status take_message(const rocpd_row *r, const rocpd_event_row *row, rocl_event *e,
                                rocl_error *err)
{
    bool bad = false;
    if (!row->extdata_len)
        return ROCL_OK;
    uint32_t message =
        rocl_json_text(r->set->trace, row->extdata, row->extdata_len, "message", &bad);
    if (message != ROCL_NONE)
        e->name = message;
    return bad ? rocpd_fault(r, ROCL_FAULT_BAD_JSON, err) : ROCL_OK;
}

static rocl_status emit_region(const rocpd_row *r, rocpd_worker *w, const rocl_region *g,
                               rocl_kind kind, rocl_error *err)
{
    rocpd_set *s = r->set;
    if (!(s->kinds & ROCL_BIT(kind)))
        return ROCL_OK;
    if (s->join && kind != ROCL_INSTANT && rocpd_join_wants(s->join, kind, g->e.event_id))
        return rocpd_join_owner(s->join, w->number, kind, g->e.event_id, g->e.id, g, err);
    return rocpd_batch_add(s, w, kind, g, sizeof *g, err);
}

/* rocprofiler-systems writes a frame of a call stack as a region and as a sample, which have one
 * event. Notes the events of a batch of regions, also of those that are left out. */
static rocl_status note_events(const rocl_rows *rows, unsigned n, rocpd_worker *w, rocl_error *err)
{
    const rocl_column *c = &rows->columns[EVENT];
    const uint8_t *type = c->type;
    const int64_t *num = c->num;
    bool bad;
    for (unsigned row = 0; row < n; row++) {
        int64_t id = 0; /* no event */
        if (type[row] == ROCL_CELL_INT)
            id = num[row];
        else
            rocl_cell_int(rows, EVENT, row, &id, &bad); /* bad: counted with the row */
        if (!rocl_idset_add(&w->region_events, (uint64_t)id))
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

static rocl_status share_events(rocpd_set *s, rocpd_worker *w, rocl_error *err)
{
    if (!w->region_events.count)
        return ROCL_OK;
    pthread_mutex_lock(&s->lock);
    bool good = rocl_idset_merge(&s->region_events, &w->region_events);
    pthread_mutex_unlock(&s->lock);
    rocl_idset_free(&w->region_events);
    return good ? ROCL_OK : rocl_fail_memory(err);
}

static bool wants_regions(const rocpd_set *s)
{
    return s->kinds & rocpd_table_kinds(ROCPD_REGION);
}

static rocl_status scan_region(const rocpd_row *r, rocpd_worker *w, rocl_error *err)
{
    const rocpd_track_def *track;
    rocpd_event_row row;
    rocl_region g = {0};
    bool keep = false;
    rocl_status st = take_head(r, w, &g.e, &row, &track, &keep, err);
    if (st != ROCL_OK || !keep)
        return st;
    st = rocpd_ref(r, NAME, &r->set->strings, ROCL_FAULT_DANGLING_NAME, &g.function, err);
    g.e.name = g.function;
    if (st == ROCL_OK)
        st = take_message(r, &row, &g.e, err);
    if (st != ROCL_OK)
        return st;
    return emit_region(r, w, &g,
                       is_marker(r->set->trace, w, g.e.category) ? ROCL_MARKER : ROCL_REGION, err);
}

static rocl_status take_dispatch(const rocpd_row *r, const rocpd_track_def *track, rocl_dispatch *d,
                                 rocl_error *err)
{
    const rocpd_set *s = r->set;
    uint64_t private_size, group_size;
    rocl_status st;
    if ((st = take_placed(r, D_AGENT, &s->agents, ROCL_FAULT_DANGLING_AGENT,
                          track ? track->agent : ROCL_NONE, &d->agent, err)) ||
        (st = take_placed(r, D_QUEUE, &s->queues, ROCL_FAULT_DANGLING_QUEUE,
                          track ? track->queue : ROCL_NONE, &d->queue, err)) ||
        (st = take_placed(r, D_STREAM, &s->streams, ROCL_FAULT_DANGLING_STREAM,
                          track ? track->stream : ROCL_NONE, &d->stream, err)) ||
        (st = rocpd_ref(r, D_KERNEL, &s->kernels, ROCL_FAULT_DANGLING_KERNEL, &d->kernel, err)) ||
        (st = take_u64(r, D_DISPATCH, &d->dispatch_id, err)) ||
        (st = take_size(r, D_PRIVATE, &private_size, err)) ||
        (st = take_size(r, D_GROUP, &group_size, err)) ||
        (st = take_u64(r, D_GRAPH_EXEC, &d->graph_exec_id, err)) ||
        (st = take_u64(r, D_GRAPH_NODE, &d->graph_node_id, err)))
        return st;
    d->private_segment = (int64_t)private_size;
    d->group_segment = (int64_t)group_size;
    rocl_cell_int(r->rows, D_KERNEL, r->row, &d->kernel_id,
                  &(bool){false}); /* bad: counted above */
    for (unsigned i = 0; i < 3; i++)
        if ((st = take_u32(r, D_WORKGROUP + i, &d->workgroup[i], err)) ||
            (st = take_u32(r, D_GRID + i, &d->grid[i], err)))
            return st;
    return rocpd_ref(r, D_REGION_NAME, &s->strings, ROCL_FAULT_DANGLING_NAME, &d->region_name, err);
}

static void name_dispatch(const rocpd_set *s, rocl_dispatch *d)
{
    if (d->kernel >= ROCPD_UNNAMED && d->kernel != ROCL_NONE) {
        const rocpd_unnamed *k = &s->unnamed[d->kernel - ROCPD_UNNAMED];
        d->e.name = k->name;
        d->kernel_id = k->kernel_id;
        d->kernel = ROCL_NONE;
        return;
    }
    d->e.name = d->kernel == ROCL_NONE ? ROCL_NONE : s->capture->pub.kernels[d->kernel].shown;
    if (s->trace->opt.kernel_rename && d->region_name != ROCL_NONE && d->region_name != 0)
        d->e.name = d->region_name;
}

/* The values of a record that is left out belong to something, so they are no orphans. */
static rocl_status drop_owner(const rocpd_row *r, rocpd_worker *w, rocl_error *err)
{
    int64_t id;
    bool bad = false;
    if (!r->set->join || !rocl_cell_int(r->rows, EVENT, r->row, &id, &bad))
        return ROCL_OK;
    return rocpd_join_dropped(r->set->join, w->number, (uint64_t)id, (uint64_t)r->rows->id[r->row],
                              err);
}

static rocl_status scan_dispatch(const rocpd_row *r, rocpd_worker *w, rocl_error *err)
{
    rocpd_set *s = r->set;
    const rocpd_track_def *track;
    rocpd_event_row row;
    rocl_dispatch d = {0};
    bool keep = false;
    rocl_status st = take_head(r, w, &d.e, &row, &track, &keep, err);
    if (st != ROCL_OK || !keep)
        return st ? st : drop_owner(r, w, err);
    st = take_dispatch(r, track, &d, err);
    if (st != ROCL_OK)
        return st;
    name_dispatch(s, &d);
    if (s->join && rocpd_join_wants(s->join, ROCL_COUNTER, d.e.event_id))
        st = rocpd_join_owner(s->join, w->number, ROCL_DISPATCH, d.e.event_id, d.e.id, &d, err);
    if (st != ROCL_OK || !(s->kinds & ROCL_BIT(ROCL_DISPATCH)))
        return st;
    return rocpd_batch_add(s, w, ROCL_DISPATCH, &d, sizeof d, err);
}

static rocl_status scan_copy(const rocpd_row *r, rocpd_worker *w, rocl_error *err)
{
    rocpd_set *s = r->set;
    const rocpd_track_def *track;
    rocpd_event_row row;
    rocl_copy c = {0};
    bool keep = false;
    rocl_status st = take_head(r, w, &c.e, &row, &track, &keep, err);
    if (st != ROCL_OK || !keep)
        return st;
    if ((st = rocpd_ref(r, NAME, &s->strings, ROCL_FAULT_DANGLING_NAME, &c.e.name, err)) ||
        (st = rocpd_ref(r, C_SRC, &s->agents, ROCL_FAULT_DANGLING_AGENT, &c.src, err)) ||
        (st = rocpd_ref(r, C_DST, &s->agents, ROCL_FAULT_DANGLING_AGENT, &c.dst, err)) ||
        (st = take_placed(r, C_QUEUE, &s->queues, ROCL_FAULT_DANGLING_QUEUE,
                          track ? track->queue : ROCL_NONE, &c.queue, err)) ||
        (st = take_placed(r, C_STREAM, &s->streams, ROCL_FAULT_DANGLING_STREAM,
                          track ? track->stream : ROCL_NONE, &c.stream, err)) ||
        (st = take_size(r, C_SIZE, &c.size, err)) ||
        (st = take_u64(r, C_SRC_ADDRESS, &c.src_address, err)) ||
        (st = take_u64(r, C_DST_ADDRESS, &c.dst_address, err)))
        return st;
    return rocpd_batch_add(s, w, ROCL_COPY, &c, sizeof c, err);
}

static rocl_alloc_op alloc_op(const char *s)
{
    static const char *const names[] = {"", "ALLOC", "FREE", "REALLOC", "RECLAIM"};
    for (unsigned i = 1; i < sizeof names / sizeof *names; i++)
        if (!strcmp(s, names[i]))
            return (rocl_alloc_op)i;
    return ROCL_OP_OTHER;
}

static rocl_alloc_level alloc_level(const char *s)
{
    static const char *const names[] = {"", "REAL", "VIRTUAL", "SCRATCH"};
    for (unsigned i = 1; i < sizeof names / sizeof *names; i++)
        if (!strcmp(s, names[i]))
            return (rocl_alloc_level)i;
    return ROCL_LEVEL_OTHER;
}

static rocl_status take_alloc(const rocpd_row *r, const rocpd_track_def *track, rocl_alloc *a,
                              rocl_error *err)
{
    const rocpd_set *s = r->set;
    size_t n;
    rocl_status st;
    a->op = alloc_op(rocl_cell_text(r->rows, A_TYPE, r->row, &n));
    a->level = alloc_level(rocl_cell_text(r->rows, A_LEVEL, r->row, &n));
    a->e.name = s->alloc_names[a->level][a->op];
    if ((st = take_placed(r, A_AGENT, &s->agents, ROCL_FAULT_DANGLING_AGENT,
                          track ? track->agent : ROCL_NONE, &a->agent, err)) ||
        (st = take_placed(r, A_QUEUE, &s->queues, ROCL_FAULT_DANGLING_QUEUE,
                          track ? track->queue : ROCL_NONE, &a->queue, err)) ||
        (st = take_placed(r, A_STREAM, &s->streams, ROCL_FAULT_DANGLING_STREAM,
                          track ? track->stream : ROCL_NONE, &a->stream, err)) ||
        (st = take_size(r, A_SIZE, &a->size, err)) ||
        (st = take_u64(r, A_ADDRESS, &a->address, err)))
        return st;
    if (rocl_cell_kind(r->rows, A_EXTDATA, r->row) == ROCL_CELL_TEXT) {
        const char *json = rocl_cell_text(r->rows, A_EXTDATA, r->row, &n);
        rocl_json_number(r->set->trace, json, n, "flags", &a->flags);
    }
    return ROCL_OK;
}

static rocl_status scan_alloc(const rocpd_row *r, rocpd_worker *w, rocl_error *err)
{
    const rocpd_track_def *track;
    rocpd_event_row row;
    rocl_alloc a = {0};
    bool keep = false;
    rocl_status st = take_head(r, w, &a.e, &row, &track, &keep, err);
    if (st == ROCL_OK && keep)
        st = take_alloc(r, track, &a, err);
    if (st != ROCL_OK || !keep)
        return st;
    st = take_message(r, &row, &a.e, err);
    if (st != ROCL_OK)
        return st;
    return rocl_allocs_add(r->set->allocs, w->number, &a, err);
}

/* A sample is a value's moment (its value is in rocpd_pmc_event), a moment of its own (a ROCTx
 * mark, or an API call without duration), or says again what a region of its event says. */
static rocl_status scan_sample(const rocpd_row *r, rocpd_worker *w, rocl_error *err)
{
    rocpd_set *s = r->set;
    const rocpd_track_def *track;
    rocpd_event_row row;
    rocl_region g = {0};
    bool keep = false;
    rocl_status st = take_who(r, w, &g.e, &track, err);
    if (st == ROCL_OK)
        st = rocpd_times(r, S_TIME, S_TIME, &s->capture->pub.processes[g.e.process], &g.e, &keep,
                         err);
    if (st != ROCL_OK || !keep)
        return st ? st : drop_owner(r, w, err);
    if ((st = take_event(r, w, &g.e, &row, err)) ||
        (st = rocpd_ref(r, NAME, &s->strings, ROCL_FAULT_DANGLING_NAME, &g.function, err)))
        return st;
    if (g.function == ROCL_NONE && track)
        g.function = track->name;
    g.e.name = g.function;
    if ((st = take_message(r, &row, &g.e, err)))
        return st;
    if (s->join && rocpd_join_wants(s->join, ROCL_SPM, g.e.id))
        return rocpd_join_owner(s->join, w->number, ROCL_SPM, g.e.id, g.e.id, &g, err);
    if (s->join && rocpd_join_wants(s->join, ROCL_SAMPLE, g.e.event_id))
        return rocpd_join_owner(s->join, w->number, ROCL_SAMPLE, g.e.event_id, g.e.id, &g, err);
    if (s->paired && row.exists && g.e.event_id && rocl_idset_has(&s->region_events, g.e.event_id))
        return ROCL_OK;
    return emit_region(r, w, &g, ROCL_INSTANT, err);
}

static rocl_status scan_hip(const rocpd_row *r, rocpd_worker *w, rocl_error *err)
{
    rocpd_set *s = r->set;
    const rocpd_track_def *track;
    rocpd_event_row row;
    rocl_hip h = {0};
    bool keep = false;
    rocl_status st = take_head(r, w, &h.e, &row, &track, &keep, err);
    if (st != ROCL_OK || !keep)
        return st;
    if ((st = rocpd_ref(r, NAME, &s->strings, ROCL_FAULT_DANGLING_NAME, &h.e.name, err)) ||
        (st = rocpd_ref(r, H_AGENT, &s->agents, ROCL_FAULT_DANGLING_AGENT, &h.agent, err)) ||
        (st = rocpd_ref(r, H_QUEUE, &s->queues, ROCL_FAULT_DANGLING_QUEUE, &h.queue, err)) ||
        (st = rocpd_ref(r, H_STREAM, &s->streams, ROCL_FAULT_DANGLING_STREAM, &h.stream, err)) ||
        (st =
             rocpd_ref(r, H_SOURCE, &s->queues, ROCL_FAULT_DANGLING_QUEUE, &h.source_queue, err)) ||
        (st = take_u64(r, H_EXEC, &h.graph_exec_id, err)) ||
        (st = take_size(r, H_COUNT, &h.kernel_count, err)))
        return st;
    bool barrier = row.extdata_len == sizeof SCHEMA_BARRIER - 1 &&
                   !memcmp(row.extdata, SCHEMA_BARRIER, row.extdata_len);
    rocl_kind kind = r->table == ROCPD_GRAPH_LAUNCH ? ROCL_GRAPH
                     : barrier                      ? ROCL_BARRIER
                                                    : ROCL_HIP_EVENT;
    if (!(s->kinds & ROCL_BIT(kind)))
        return ROCL_OK;
    if (h.e.name == ROCL_NONE)
        h.e.name =
            rocl_strings_put(s->trace->strings, kind == ROCL_GRAPH ? "hipGraphLaunch" : "HIP_EVENT",
                             kind == ROCL_GRAPH ? 14 : 9);
    return rocpd_batch_add(s, w, kind, &h, sizeof h, err);
}

/* ---- tables ---- */

typedef rocl_status scan_fn(const rocpd_row *r, rocpd_worker *w, rocl_error *err);

#define SCAN(columns, fn, kinds)                                                                   \
    {                                                                                              \
        columns, sizeof(columns) / sizeof *(columns), fn, kinds                                    \
    }

static const struct {
    const char *const *columns;
    unsigned count;
    scan_fn *scan;
    uint32_t kinds;
} scans[ROCPD_TABLES] = {
    [ROCPD_REGION] =
        SCAN(region_columns, scan_region, ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER)),
    [ROCPD_KERNEL_DISPATCH] =
        SCAN(dispatch_columns, scan_dispatch, ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COUNTER)),
    [ROCPD_MEMORY_COPY] = SCAN(copy_columns, scan_copy, ROCL_BIT(ROCL_COPY)),
    [ROCPD_MEMORY_ALLOCATE] =
        SCAN(alloc_columns, scan_alloc, ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH)),
    [ROCPD_SAMPLE] = SCAN(sample_columns, scan_sample,
                          ROCL_BIT(ROCL_INSTANT) | ROCL_BIT(ROCL_SPM) | ROCL_BIT(ROCL_SAMPLE)),
    [ROCPD_GRAPH_LAUNCH] = SCAN(hip_columns, scan_hip, ROCL_BIT(ROCL_GRAPH)),
    [ROCPD_HIP_EVENT] =
        SCAN(hip_columns, scan_hip, ROCL_BIT(ROCL_HIP_EVENT) | ROCL_BIT(ROCL_BARRIER)),
};

uint32_t rocpd_table_kinds(rocpd_table table)
{
    return scans[table].kinds;
}

/* Columns whose field nobody wants. */
static const struct {
    const char *column;
    uint32_t field;
} optional_columns[] = {
    {"src_address", ROCL_FIELD_ADDRESSES},
    {"dst_address", ROCL_FIELD_ADDRESSES},
    {"graph_node_id", ROCL_FIELD_GRAPH},
    {"dispatch_id", ROCL_FIELD_DISPATCH_ID},
};

static void wanted_columns(const rocpd_set *s, rocpd_table table, uint32_t fields,
                           const char **columns)
{
    memcpy(columns, scans[table].columns, scans[table].count * sizeof *columns);
    for (unsigned i = 0; i < scans[table].count; i++)
        if (table == ROCPD_REGION && !wants_regions(s) && i != EVENT)
            columns[i] = NULL;
    for (unsigned i = 0; i < scans[table].count; i++)
        for (unsigned k = 0; k < sizeof optional_columns / sizeof *optional_columns; k++)
            if (columns[i] && !(fields & optional_columns[k].field) &&
                !strcmp(columns[i], optional_columns[k].column)) {
                columns[i] = NULL;
                break;
            }
}

rocl_status rocpd_scan_table(rocpd_set *s, rocpd_worker *w, const rocl_task *task, rocl_error *err)
{
    rocpd_row r = {.set = s, .table = (rocpd_table)task->table};
    const char *columns[ROCL_ROWS_COLUMNS_MAX];
    rocl_rows *rows;
    unsigned n = 0;
    const bool wanted = r.table != ROCPD_REGION || wants_regions(s); /* else only their events */
    wanted_columns(s, r.table, w->to->fields, columns);
    rocl_status st = rocl_rows_open(&rows, w->db, s->tables[task->table], columns,
                                    scans[task->table].count, err);
    if (st != ROCL_OK)
        return st;
    r.rows = rows;
    st = rocl_rows_seek(rows, task->first, task->last, err);
    while (st == ROCL_OK && (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK && n) {
        if (r.table == ROCPD_REGION && s->paired)
            st = note_events(rows, n, w, err);
        for (r.row = 0; r.row < n && wanted && st == ROCL_OK; r.row++)
            st = scans[task->table].scan(&r, w, err);
        if (!w->to->quiet)
            rocl_progress(s->trace, n);
    }
    rocl_rows_close(rows);
    if (st == ROCL_OK)
        st = share_events(s, w, err);
    return st ? st : rocpd_batch_flush(s, w, err);
}
