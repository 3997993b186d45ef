/* Event-like tables -> batches of events. */
#include <stddef.h>

#include "format/packet.h"
#include "source/rocpd/rocpd.h"

/* ---- columns ----------------------------------------------------------------------------------
 */

/* Every table of events begins with these; a column that a table or schema lacks reads as NULL. */
enum { PID, TID, TRACK, START, END, EVENT, NAME, OWN };

static const char *const common_columns[OWN] = {"pid", "tid",      "track_id", "start",
                                                "end", "event_id", "name_id"};

/* Columns of tables after the common ones, and what they become: X(how it is read, member of the
 * record, column, list of definitions in rocpd_set, fault if it dangles). A list makes the names of
 * columns and the function that reads them. READ_TRACK_REF: schema 4 keeps it in the track.
 * READ_U64: an id or an address, which may look as if it were below 0; READ_SIZE never is.
 * READ_NOTHING: the function that makes the record does it. */
/* clang-format off */
#define DISPATCH_CELLS(X)                                                \
    X(READ_TRACK_REF, agent, "agent_id", agents, AGENT)                  \
    X(READ_TRACK_REF, queue, "queue_id", queues, QUEUE)                  \
    X(READ_TRACK_REF, stream, "stream_id", streams, STREAM)              \
    X(READ_REF, kernel, "kernel_id", kernels, KERNEL)                    \
    X(READ_U64, dispatch_id, "dispatch_id", 0, 0)                        \
    X(READ_SIZE, private_segment, "private_segment_size", 0, 0)          \
    X(READ_SIZE, group_segment, "group_segment_size", 0, 0)              \
    X(READ_U64, graph_exec_id, "graph_exec_id", 0, 0)                    \
    X(READ_U64, graph_node_id, "graph_node_id", 0, 0)                    \
    X(READ_U32, workgroup[0], "workgroup_size_x", 0, 0)                  \
    X(READ_U32, grid[0], "grid_size_x", 0, 0)                            \
    X(READ_U32, workgroup[1], "workgroup_size_y", 0, 0)                  \
    X(READ_U32, grid[1], "grid_size_y", 0, 0)                            \
    X(READ_U32, workgroup[2], "workgroup_size_z", 0, 0)                  \
    X(READ_U32, grid[2], "grid_size_z", 0, 0)                            \
    X(READ_REF, region_name, "region_name_id", strings, NAME)
#define COPY_CELLS(X)                                                    \
    X(READ_REF, src, "src_agent_id", agents, AGENT)                      \
    X(READ_REF, dst, "dst_agent_id", agents, AGENT)                      \
    X(READ_TRACK_REF, queue, "queue_id", queues, QUEUE)                  \
    X(READ_TRACK_REF, stream, "stream_id", streams, STREAM)              \
    X(READ_SIZE, size, "size", 0, 0)                                     \
    X(READ_U64, src_address, "src_address", 0, 0)                        \
    X(READ_U64, dst_address, "dst_address", 0, 0)
#define ALLOC_CELLS(X)                                                   \
    X(READ_TRACK_REF, agent, "agent_id", agents, AGENT)                  \
    X(READ_TRACK_REF, queue, "queue_id", queues, QUEUE)                  \
    X(READ_TRACK_REF, stream, "stream_id", streams, STREAM)              \
    X(READ_SIZE, size, "size", 0, 0)                                     \
    X(READ_U64, address, "address", 0, 0)                                \
    X(READ_NOTHING, op, "type", 0, 0)                                    \
    X(READ_NOTHING, level, "level", 0, 0)                                \
    X(READ_NOTHING, flags, "extdata", 0, 0)
#define SAMPLE_CELLS(X)                                                  \
    X(READ_NOTHING, start, "timestamp", 0, 0)
#define HIP_CELLS(X)                                                     \
    X(READ_REF, agent, "agent_id", agents, AGENT)                        \
    X(READ_REF, queue, "queue_id", queues, QUEUE)                        \
    X(READ_REF, stream, "stream_id", streams, STREAM)                    \
    X(READ_REF, source_queue, "source_queue_id", queues, QUEUE)          \
    X(READ_U64, graph_exec_id, "graph_exec_id", 0, 0)                    \
    X(READ_SIZE, kernel_count, "kernel_dispatch_count", 0, 0)
/* clang-format on */

enum { D_KERNEL = OWN + 3, A_TYPE = OWN + 5, A_LEVEL, A_EXTDATA, S_TIME = OWN };

#define COLUMN_OF(how, member, column, ids, fault) column,
static const char *const dispatch_columns[] = {DISPATCH_CELLS(COLUMN_OF)};
static const char *const copy_columns[] = {COPY_CELLS(COLUMN_OF)};
static const char *const alloc_columns[] = {ALLOC_CELLS(COLUMN_OF)};
static const char *const sample_columns[] = {SAMPLE_CELLS(COLUMN_OF)};
static const char *const hip_columns[] = {HIP_CELLS(COLUMN_OF)};
#undef COLUMN_OF

#define COLUMNS(names) names, sizeof(names) / sizeof *(names)

/* ---- cells ----------------------------------------------------------------------------------- */

/* Reads a reference as rocpd_read_ref does, one that neighbours have in common, but that is in no
 * array. */
static inline rocl_status read_shared_ref(const rocpd_row *r, unsigned col, const rocl_ids *ids,
                                          rocl_fault fault, rocpd_recent *recent, uint32_t *index,
                                          rocl_error *err)
{
    const rocl_column *c = &r->rows->columns[col];
    if (c->type[r->row] != ROCL_CELL_INT)
        return rocpd_read_ref(r, col, ids, fault, index, err);
    int64_t id = c->num[r->row];
    unsigned slot = (unsigned)id % ROCPD_RECENT;
    if (recent->slots[slot].known && recent->slots[slot].id == id) {
        *index = recent->slots[slot].index;
        return ROCL_OK;
    }
    rocl_status st = rocpd_read_ref(r, col, ids, fault, index, err);
    recent->slots[slot].known = *index != ROCL_NONE;
    recent->slots[slot].id = id;
    recent->slots[slot].index = *index;
    return st;
}

/* 0 for NULL; 0 and a fault for anything but an integer from `least` to `most`. */
static inline rocl_status read_int(const rocpd_row *r, unsigned col, int64_t least, int64_t most,
                                   int64_t *v, rocl_error *err)
{
    bool bad = false;
    *v = 0;
    rocl_cell_int(r->rows, col, r->row, v, &bad);
    if (!bad && *v >= least && *v <= most)
        return ROCL_OK;
    *v = 0;
    return rocpd_count_fault(r, ROCL_FAULT_BAD_VALUE, err);
}

/* read_dispatch() and its like read the cells of a row into the members of a record. */
#define READ_REF(member, ids, fault)                                                               \
    rocpd_read_ref(r, col, &r->set->ids, ROCL_FAULT_DANGLING_##fault, &to->member, err)
#define READ_TRACK_REF(member, ids, fault)                                                         \
    READ_REF(member, ids, fault);                                                                  \
    to->member = to->member == ROCL_NONE ? track->member : to->member
#define READ_U32(member, ids, fault)                                                               \
    read_int(r, col, 0, UINT32_MAX, &v, err);                                                      \
    to->member = (uint32_t)v
#define READ_U64(member, ids, fault)                                                               \
    read_int(r, col, INT64_MIN, INT64_MAX, &v, err);                                               \
    to->member = (uint64_t)v
#define READ_SIZE(member, ids, fault)                                                              \
    read_int(r, col, 0, INT64_MAX, &v, err);                                                       \
    to->member = (__typeof__(to->member))v
#define READ_NOTHING(member, ids, fault) ROCL_OK
#define READ_CELL(how, member, column, ids, fault)                                                 \
    if (st != ROCL_OK)                                                                             \
        return st;                                                                                 \
    st = how(member, ids, fault);                                                                  \
    col++;
#define READER(name, record, cells)                                                                \
    static inline rocl_status name(const rocpd_row *r, const rocpd_track_def *track, record *to,   \
                                   rocl_error *err)                                                \
    {                                                                                              \
        rocl_status st = ROCL_OK;                                                                  \
        unsigned col = OWN;                                                                        \
        int64_t v;                                                                                 \
        (void)track;                                                                               \
        cells(READ_CELL) return st;                                                                \
    }
READER(read_dispatch, rocl_dispatch, DISPATCH_CELLS)
READER(read_copy, rocl_copy, COPY_CELLS)
READER(read_alloc, rocl_alloc, ALLOC_CELLS)
READER(read_hip, rocl_hip, HIP_CELLS)
#undef READER
#undef READ_CELL

/* ---- what all records share ------------------------------------------------------------------ */

/* What is read of a row of every table. */
typedef struct row_head {
    rocl_event e;
    rocpd_event_row event;
    const rocpd_track_def *track; /* of schema 4; else one that refers to nothing */
    bool untimed;                 /* a dispatch that is left out, but not its counters */
} row_head;

static const rocpd_track_def no_track = {0,         ROCL_NONE, ROCL_NONE, ROCL_NONE,
                                         ROCL_NONE, ROCL_NONE, ROCL_NONE};

/* Process and thread: schema 4 keeps them in a track, schema 3 in columns. */
static rocl_status read_thread(const rocpd_row *r, rocpd_worker *w, row_head *h, rocl_error *err)
{
    const rocpd_set *s = r->set;
    rocl_event *e = &h->e;
    uint32_t t;
    h->track = &no_track;
    rocl_status st = rocpd_read_ref(r, TRACK, &s->tracks, ROCL_FAULT_DANGLING_TRACK, &t, err);
    if (st == ROCL_OK && t != ROCL_NONE) {
        h->track = &s->track_defs[t];
        e->process = h->track->process;
        e->thread = h->track->thread;
    } else if (st == ROCL_OK) {
        st = read_shared_ref(r, PID, &s->processes, ROCL_FAULT_DANGLING_PROCESS, &w->processes,
                             &e->process, err);
        if (st == ROCL_OK)
            st = read_shared_ref(r, TID, &s->threads, ROCL_FAULT_DANGLING_THREAD, &w->threads,
                                 &e->thread, err);
    }
    if (e->process == ROCL_NONE)
        e->process = 0; /* the capture's first: every event belongs to some process */
    return st;
}

/* Start and end by the rules of rocline(7); *keep false: the record is left out. Dispatches from 0
 * to 0 were never timed; everything else may be at 0, where a trace's clock begins. */
static inline rocl_status read_times(const rocpd_row *r, unsigned start_col, unsigned end_col,
                                     rocl_event *e, bool *keep, rocl_error *err)
{
    const rocl_process *process = &r->set->capture->pub.processes[e->process];
    bool bad = false;
    *keep = false;
    if (!rocl_cell_int(r->rows, start_col, r->row, &e->start, &bad) ||
        !rocl_cell_int(r->rows, end_col, r->row, &e->end, &bad) || e->start < 0 || e->end < 0)
        return rocpd_count_fault(r, ROCL_FAULT_BAD_TIME, err);
    if (e->end == 0 && e->start > 0)
        return rocpd_count_fault(r, ROCL_FAULT_NO_END, err);
    if (e->end == 0 && r->table == SCHEMA_DISPATCH)
        return rocpd_count_fault(r, ROCL_FAULT_BAD_TIME, err);
    if (e->end < e->start)
        return rocpd_count_fault(r, ROCL_FAULT_END_BEFORE_START, err);
    /* A profiler that does not know when the process began stores 0. Events are still on the clock
     * of their node. */
    if (process->init > 0 && e->end < rocl_unset_clock(r->set->capture, process->init))
        return rocpd_count_fault(r, ROCL_FAULT_BEFORE_PROCESS, err);
    e->duration = e->end - e->start;
    *keep = true;
    return ROCL_OK;
}

/* Reads the row of the event table. */
static rocl_status read_event(const rocpd_row *r, rocpd_worker *w, row_head *h, rocl_error *err)
{
    rocl_event *e = &h->e;
    rocpd_event_row *row = &h->event;
    int64_t id = 0;
    bool bad = false;
    rocl_status st = ROCL_OK;
    memset(row, 0, sizeof *row);
    row->category = ROCL_NONE;
    row->extdata = "";
    if (rocl_cell_int(r->rows, EVENT, r->row, &id, &bad)) {
        st = rocpd_events_find(w->events, id, row, &row->exists, err);
        if (st == ROCL_OK && !row->exists)
            st = rocpd_count_fault(r, ROCL_FAULT_DANGLING_EVENT, err);
    }
    e->id = (uint64_t)r->rows->id[r->row];
    e->event_id = (uint64_t)id;
    e->stack_id = row->stack_id;
    e->parent_stack_id = row->parent_stack_id;
    e->correlation_id = row->correlation_id;
    e->category = row->category;
    if (st == ROCL_OK && row->bad_category)
        st = rocpd_count_fault(r, ROCL_FAULT_DANGLING_NAME, err);
    return st == ROCL_OK && bad ? rocpd_count_fault(r, ROCL_FAULT_BAD_VALUE, err) : st;
}

/* The text of a ROCTx call is in the event's extdata, the name column holds the function. */
static rocl_status read_message(const rocpd_row *r, const rocpd_event_row *row, rocl_event *e,
                                rocl_error *err)
{
    bool bad = false;
    if (!row->extdata_len)
        return ROCL_OK;
    uint32_t message =
        rocl_json_text(r->set->trace, row->extdata, row->extdata_len, "message", &bad);
    if (message != ROCL_NONE)
        e->name = message;
    return bad ? rocpd_count_fault(r, ROCL_FAULT_BAD_JSON, err) : ROCL_OK;
}

/* ---- regions and samples --------------------------------------------------------------------- */

/* Emits a record, or gives it to the join as the owner of values. */
static rocl_status add_region(const rocpd_row *r, rocpd_worker *w, const rocl_region *g,
                              rocl_kind kind, rocl_error *err)
{
    rocpd_set *s = r->set;
    if (!(s->kinds & ROCL_BIT(kind)))
        return ROCL_OK;
    if (s->join && kind != ROCL_INSTANT && rocpd_join_wants(s->join, kind, g->e.event_id))
        return rocpd_join_add_owner(s->join, w->out.worker, kind, g->e.event_id, g->e.id, g, NULL,
                                    err);
    return rocl_batcher_add(&w->out, kind, g, sizeof *g, err);
}

static rocl_status add_call(const rocpd_row *r, rocpd_worker *w, const row_head *h, rocl_error *err)
{
    rocl_region g = {.e = h->e};
    rocl_status st =
        rocpd_read_ref(r, NAME, &r->set->strings, ROCL_FAULT_DANGLING_NAME, &g.function, err);
    g.e.name = g.function;
    if (st == ROCL_OK)
        st = read_message(r, &h->event, &g.e, err);
    if (st != ROCL_OK)
        return st;
    rocpd_category *c = &w->categories[g.e.category % ROCPD_CATEGORIES];
    if (c->text != g.e.category + 1) {
        rocl_domain domain = rocl_domain_of(r->set->trace, ROCL_REGION, g.e.category);
        *c = (rocpd_category){g.e.category + 1, domain == ROCL_DOMAIN_MARKERS};
    }
    rocl_view category = {"", 0}, function = {"", 0};
    if (c->marker) {
        category.p = rocl_text(r->set->trace, g.e.category, &category.n);
        function.p = rocl_text(r->set->trace, g.function, &function.n);
    }
    const bool marks = c->marker && rocl_roctx_call_marks(category, function);
    return add_region(r, w, &g, marks ? ROCL_MARKER : ROCL_REGION, err);
}

/* A sample is the time of a value (in rocpd_pmc_event), an instant of its own (a ROCTx mark, or an
 * API call without duration), or a repetition of a region with the same event. */
static rocl_status add_sample(const rocpd_row *r, rocpd_worker *w, const row_head *h,
                              rocl_error *err)
{
    rocpd_set *s = r->set;
    rocl_region g = {.e = h->e};
    rocl_status st =
        rocpd_read_ref(r, NAME, &s->strings, ROCL_FAULT_DANGLING_NAME, &g.function, err);
    if (g.function == ROCL_NONE)
        g.function = h->track->name;
    g.e.name = g.function;
    if (st == ROCL_OK)
        st = read_message(r, &h->event, &g.e, err);
    if (st != ROCL_OK)
        return st;
    if (s->join && rocpd_join_wants(s->join, ROCL_SPM, g.e.id))
        return rocpd_join_add_owner(s->join, w->out.worker, ROCL_SPM, g.e.id, g.e.id, &g, NULL,
                                    err);
    if (s->join && rocpd_join_wants(s->join, ROCL_SAMPLE, g.e.event_id))
        return rocpd_join_add_owner(s->join, w->out.worker, ROCL_SAMPLE, g.e.event_id, g.e.id, &g,
                                    NULL, err);
    if (s->paired && h->event.exists && g.e.event_id &&
        rocl_idset_has(&s->region_events, g.e.event_id))
        return ROCL_OK;
    return add_region(r, w, &g, ROCL_INSTANT, err);
}

/* ---- GPU work -------------------------------------------------------------------------------- */

static rocl_status add_dispatch(const rocpd_row *r, rocpd_worker *w, const row_head *h,
                                rocl_error *err)
{
    rocpd_set *s = r->set;
    rocl_dispatch d = {.e = h->e};
    rocl_status st = read_dispatch(r, h->track, &d, err);
    if (st != ROCL_OK)
        return st;
    rocl_cell_int(r->rows, D_KERNEL, r->row, &d.kernel_id, &(bool){false}); /* bad: counted above */
    if (d.kernel >= ROCPD_UNNAMED && d.kernel != ROCL_NONE) {
        const rocpd_unnamed *k = &s->unnamed[d.kernel - ROCPD_UNNAMED];
        d.e.name = k->name;
        d.kernel_id = k->kernel_id;
        d.kernel = ROCL_NONE;
    } else {
        d.e.name = d.kernel == ROCL_NONE ? ROCL_NONE : s->capture->pub.kernels[d.kernel].shown;
        if (s->trace->opt.kernel_rename && d.region_name != ROCL_NONE && d.region_name != 0)
            d.e.name = d.region_name;
    }
    rocl_packet packet;
    const bool has_packet = w->out.to->fields & ROCL_FIELD_PACKET &&
                            schema_read_packet(h->event.extdata, h->event.extdata_len, &packet);
    if (s->join && rocpd_join_wants(s->join, ROCL_COUNTER, d.e.event_id))
        st = rocpd_join_add_owner(s->join, w->out.worker, ROCL_COUNTER, d.e.event_id, d.e.id, &d,
                                  has_packet ? &packet : NULL, err);
    if (st != ROCL_OK || h->untimed || !(s->kinds & ROCL_BIT(ROCL_DISPATCH)))
        return st;
    if (s->join && rocpd_join_wants(s->join, ROCL_DISPATCH, d.e.event_id))
        return rocpd_join_add_owner(s->join, w->out.worker, ROCL_DISPATCH, d.e.event_id, d.e.id, &d,
                                    has_packet ? &packet : NULL, err);
    return rocl_batcher_add_dispatch(&w->out, ROCL_DISPATCH, &d, has_packet ? &packet : NULL, err);
}

static rocl_status add_copy(const rocpd_row *r, rocpd_worker *w, const row_head *h, rocl_error *err)
{
    rocl_copy c = {.e = h->e};
    rocl_status st =
        rocpd_read_ref(r, NAME, &r->set->strings, ROCL_FAULT_DANGLING_NAME, &c.e.name, err);
    if (st == ROCL_OK)
        st = read_copy(r, h->track, &c, err);
    if (st != ROCL_OK)
        return st;
    return rocl_batcher_add(&w->out, ROCL_COPY, &c, sizeof c, err);
}

/* The index of the text of a cell among words, 0 when it is none of them. */
static unsigned match_word(const rocpd_row *r, unsigned col, const char *const *words,
                           unsigned count)
{
    size_t n;
    const char *text = rocl_cell_text(r->rows, col, r->row, &n);
    for (unsigned i = 1; i < count; i++)
        if (!strcmp(text, words[i]))
            return i;
    return 0;
}

static rocl_status add_alloc(const rocpd_row *r, rocpd_worker *w, const row_head *h,
                             rocl_error *err)
{
    static const char *const ops[] = {"", "ALLOC", "FREE", "REALLOC", "RECLAIM"};
    static const char *const levels[] = {"", "REAL", "VIRTUAL", "SCRATCH"};
    _Static_assert(ROCL_OP_OTHER == 0 && ROCL_OP_RECLAIM == 4, "an op is an index of ops");
    _Static_assert(ROCL_LEVEL_OTHER == 0 && ROCL_LEVEL_SCRATCH == 3, "and a level one of levels");
    const rocpd_set *s = r->set;
    rocl_alloc a = {.e = h->e};
    a.op = (rocl_alloc_op)match_word(r, A_TYPE, ops, sizeof ops / sizeof *ops);
    a.level = (rocl_alloc_level)match_word(r, A_LEVEL, levels, sizeof levels / sizeof *levels);
    a.e.name = s->alloc_names[a.level][a.op];
    rocl_status st = read_alloc(r, h->track, &a, err);
    if (st != ROCL_OK)
        return st;
    size_t n;
    const char *json = rocpd_read_json(&w->unpacked, r->rows, A_EXTDATA, r->row, &n);
    if (w->unpacked.text.failed)
        return rocl_fail_memory(err);
    if (n)
        rocl_json_number(s->trace, json, n, "flags", &a.flags);
    st = read_message(r, &h->event, &a.e, err);
    return st ? st : rocl_allocs_add(s->allocs, w->out.worker, &a, err);
}

/* Graph launches, and events of HIP on a GPU. */
static rocl_status add_hip(const rocpd_row *r, rocpd_worker *w, const row_head *h, rocl_error *err)
{
    const rocpd_set *s = r->set;
    const rocpd_event_row *event = &h->event;
    rocl_hip p = {.e = h->e};
    rocl_status st = rocpd_read_ref(r, NAME, &s->strings, ROCL_FAULT_DANGLING_NAME, &p.e.name, err);
    if (st == ROCL_OK)
        st = read_hip(r, h->track, &p, err);
    if (st != ROCL_OK)
        return st;
    bool barrier = event->extdata_len == sizeof SCHEMA_BARRIER - 1 &&
                   !memcmp(event->extdata, SCHEMA_BARRIER, event->extdata_len);
    rocl_kind kind = r->table == SCHEMA_GRAPH ? ROCL_GRAPH
                     : barrier                ? ROCL_BARRIER
                                              : ROCL_HIP_EVENT;
    if (!(s->kinds & ROCL_BIT(kind)))
        return ROCL_OK;
    if (p.e.name == ROCL_NONE) {
        const char *name = kind == ROCL_GRAPH ? "hipGraphLaunch" : "HIP_EVENT";
        p.e.name = rocl_strings_put(s->trace->strings, name, strlen(name));
    }
    return rocl_batcher_add(&w->out, kind, &p, sizeof p, err);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct {
    const char *const *columns;
    unsigned count;
    unsigned start, end; /* columns of the times */
    bool owns_counters;  /* rocpd_pmc_event may refer to its events */
    /* Makes a record of the row and passes it on. */
    rocl_status (*add)(const rocpd_row *r, rocpd_worker *w, const row_head *h, rocl_error *err);
    uint32_t kinds; /* that its rows may become */
} scans[SCHEMA_TABLES] = {
    [SCHEMA_REGION] = {NULL, 0, START, END, false, add_call,
                       ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_MARKER)},
    [SCHEMA_DISPATCH] = {COLUMNS(dispatch_columns), START, END, true, add_dispatch,
                         ROCL_BIT(ROCL_DISPATCH) | ROCL_BIT(ROCL_COUNTER)},
    [SCHEMA_COPY] = {COLUMNS(copy_columns), START, END, false, add_copy, ROCL_BIT(ROCL_COPY)},
    [SCHEMA_ALLOCATE] = {COLUMNS(alloc_columns), START, END, false, add_alloc,
                         ROCL_BIT(ROCL_ALLOC) | ROCL_BIT(ROCL_SCRATCH)},
    [SCHEMA_SAMPLE] = {COLUMNS(sample_columns), S_TIME, S_TIME, true, add_sample,
                       ROCL_BIT(ROCL_INSTANT) | ROCL_BIT(ROCL_SPM) | ROCL_BIT(ROCL_SAMPLE)},
    [SCHEMA_GRAPH] = {COLUMNS(hip_columns), START, END, false, add_hip, ROCL_BIT(ROCL_GRAPH)},
    [SCHEMA_HIP] = {COLUMNS(hip_columns), START, END, false, add_hip,
                    ROCL_BIT(ROCL_HIP_EVENT) | ROCL_BIT(ROCL_BARRIER)},
};

uint32_t rocpd_table_kinds(schema_table table)
{
    return scans[table].kinds;
}

static bool is_zero(const rocpd_row *r, unsigned col)
{
    int64_t value;
    return rocl_cell_int(r->rows, col, r->row, &value, &(bool){false}) && value == 0;
}

static rocl_status scan_row(const rocpd_row *r, void *ctx, rocl_error *err)
{
    rocpd_worker *w = ctx;
    rocpd_set *s = r->set;
    row_head h = {0};
    bool keep = false, bad = false;
    /* rocprofiler-systems writes a frame of a call stack as a region and as a sample, which have
     * one event. So the events of regions are noted, also of those that are left out. */
    if (s->paired && r->table == SCHEMA_REGION) {
        int64_t id = 0; /* no event, or a bad one, which is counted with the row */
        rocl_cell_int(r->rows, EVENT, r->row, &id, &bad);
        if (!rocl_idset_add(&w->region_events, (uint64_t)id))
            return rocl_fail_memory(err);
        if (!(s->kinds & scans[SCHEMA_REGION].kinds)) /* nothing else of them is wanted */
            return ROCL_OK;
    }
    rocl_status st = read_thread(r, w, &h, err);
    if (st == ROCL_OK)
        st = read_times(r, scans[r->table].start, scans[r->table].end, &h.e, &keep, err);
    if (st == ROCL_OK && keep)
        st = read_event(r, w, &h, err);
    if (st == ROCL_OK && keep)
        return scans[r->table].add(r, w, &h, err);
    int64_t id;
    if (st != ROCL_OK || !s->join || !scans[r->table].owns_counters ||
        !rocl_cell_int(r->rows, EVENT, r->row, &id, &bad) ||
        !rocpd_join_wants(s->join, ROCL_COUNTER, (uint64_t)id))
        return st;
    /* Profilers that only count do not time: rocmerge writes such dispatches for their counters. */
    h.untimed = r->table == SCHEMA_DISPATCH && is_zero(r, START) && is_zero(r, END);
    if (h.untimed) {
        st = read_event(r, w, &h, err);
        return st ? st : add_dispatch(r, w, &h, err);
    }
    /* The values of a record that is left out are not orphans. */
    return rocpd_join_add_owner(s->join, w->out.worker, ROCL_COUNTER, (uint64_t)id,
                                (uint64_t)r->rows->id[r->row], NULL, NULL, err);
}

/* ---- plain calls ----------------------------------------------------------------------------- */

/* Nearly all rows are plain calls: numbers in every column, a process, a thread and a category of
 * the rows before, an event without extdata. They are made here, with the same result as by
 * scan_row(). */

/* odd[i] is not 0: a value of row i has another type than in plain calls. Eight rows at once. */
static void find_odd_calls(const rocl_rows *rows, unsigned n, uint8_t odd[ROCL_ROWS_BATCH])
{
    _Static_assert(ROCL_ROWS_BATCH % 8 == 0 && ROCL_CELL_NULL == 0, "words of types; NULL is 0");
    const uint64_t number = UINT64_C(0x0101010101010101) * ROCL_CELL_INT;
    const rocl_column *c = rows->columns;
    for (unsigned i = 0; i < n; i += 8) {
        uint64_t type[6], differs;
        memcpy(&differs, c[TRACK].type + i, 8);
        memcpy(&type[0], c[PID].type + i, 8);
        memcpy(&type[1], c[TID].type + i, 8);
        memcpy(&type[2], c[START].type + i, 8);
        memcpy(&type[3], c[END].type + i, 8);
        memcpy(&type[4], c[EVENT].type + i, 8);
        memcpy(&type[5], c[NAME].type + i, 8);
        for (unsigned k = 0; k < 6; k++)
            differs |= type[k] ^ number;
        memcpy(odd + i, &differs, 8);
    }
}

/* The cached index of an id; false: it is not in the cache. */
static inline bool find_recent(const rocpd_recent *recent, int64_t id, uint32_t *index)
{
    const unsigned slot = (unsigned)id % ROCPD_RECENT;
    *index = recent->slots[slot].index;
    return recent->slots[slot].known && recent->slots[slot].id == id;
}

/* False: it is not a plain call, and nothing was done. */
static inline bool add_plain_call(const rocpd_row *r, rocpd_worker *w)
{
    rocpd_set *s = r->set;
    const rocl_column *c = r->rows->columns;
    const unsigned i = r->row;
    const int64_t start = c[START].num[i], end = c[END].num[i], event = c[EVENT].num[i];
    const uint32_t name = rocl_ids_get(&s->strings, (uint64_t)c[NAME].num[i]);
    uint32_t process, thread;
    rocpd_event_row row;
    if (start < 0 || end < start || !end || name >= ROCPD_NOBODY ||
        !find_recent(&w->processes, c[PID].num[i], &process) ||
        !find_recent(&w->threads, c[TID].num[i], &thread))
        return false;
    const int64_t init = s->capture->pub.processes[process].init;
    if ((init > 0 && end < rocl_unset_clock(s->capture, init)) ||
        !rocpd_events_peek(w->events, event, &row))
        return false;
    const rocpd_category *category = &w->categories[row.category % ROCPD_CATEGORIES];
    if (category->text != row.category + 1 || category->marker ||
        (s->paired && !rocl_idset_add(&w->region_events, (uint64_t)event)))
        return false;
    rocl_region *g = rocl_batcher_room(&w->out, ROCL_REGION, sizeof *g);
    if (!g)
        return false;
    rocpd_events_take(w->events);
    *g = (rocl_region){.e = {.start = start,
                             .end = end,
                             .duration = end - start,
                             .id = (uint64_t)r->rows->id[i],
                             .event_id = (uint64_t)event,
                             .stack_id = row.stack_id,
                             .parent_stack_id = row.parent_stack_id,
                             .correlation_id = row.correlation_id,
                             .process = process,
                             .thread = thread,
                             .name = name,
                             .category = row.category},
                       .function = name};
    return true;
}

static rocl_status scan_calls(rocpd_row *r, unsigned n, void *ctx, rocl_error *err)
{
    uint8_t odd[ROCL_ROWS_BATCH];
    rocl_status st = ROCL_OK;
    find_odd_calls(r->rows, n, odd);
    for (r->row = 0; r->row < n && st == ROCL_OK; r->row++)
        if (odd[r->row] || !add_plain_call(r, ctx))
            st = scan_row(r, ctx, err);
    return st;
}

/* ---- a task ---------------------------------------------------------------------------------- */

rocl_status rocpd_scan_table(rocpd_set *s, rocpd_worker *w, const rocl_task *task, rocl_error *err)
{
    static const struct {
        const char *column;
        uint32_t field; /* optional */
    } optional[] = {
        {"src_address", ROCL_FIELD_ADDRESSES},
        {"dst_address", ROCL_FIELD_ADDRESSES},
        {"graph_node_id", ROCL_FIELD_GRAPH},
        {"dispatch_id", ROCL_FIELD_DISPATCH_ID},
    };
    const rocl_emitter *to = w->out.to;
    rocpd_row r = {.set = s, .table = (schema_table)task->table, .progress = !to->quiet};
    const bool only_events = r.table == SCHEMA_REGION && !(s->kinds & scans[r.table].kinds);
    const char *columns[ROCL_ROWS_COLUMNS_MAX];
    const unsigned count = OWN + scans[r.table].count;
    for (unsigned i = 0; i < count; i++) {
        columns[i] = i < OWN ? common_columns[i] : scans[r.table].columns[i - OWN];
        if (only_events && i != EVENT)
            columns[i] = NULL;
        for (unsigned k = 0; k < sizeof optional / sizeof *optional && columns[i]; k++)
            if (!(to->fields & optional[k].field) && !strcmp(columns[i], optional[k].column))
                columns[i] = NULL;
    }
    const bool calls = r.table == SCHEMA_REGION && s->kinds & ROCL_BIT(ROCL_REGION) &&
                       !(s->join && rocpd_join_wants_any(s->join, ROCL_REGION));
    rocl_status st = calls ? rocpd_each_batch(&r, w->db, columns, count, task, scan_calls, w, err)
                           : rocpd_each_row(&r, w->db, columns, count, task, scan_row, w, err);
    if (st == ROCL_OK && w->region_events.count) {
        pthread_mutex_lock(&s->lock);
        bool merged = rocl_idset_merge(&s->region_events, &w->region_events);
        pthread_mutex_unlock(&s->lock);
        rocl_idset_free(&w->region_events);
        st = merged ? ROCL_OK : rocl_fail_memory(err);
    }
    return st ? st : rocl_batcher_flush(&w->out, err);
}
