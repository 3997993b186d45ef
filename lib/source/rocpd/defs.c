/* Info tables -> definitions. They are small next to the events, so they are read whole, each with
 * its ids in a map: ids are sparse (a node's is a hash) and never indexes. */
#include <stdlib.h>

#include "base/array.h"
#include "source/reader.h"
#include "source/rocpd/rocpd.h"

typedef rocl_status row_fn(rocpd_set *s, const rocpd_row *r, rocl_error *err);

static rocl_status each_row(rocpd_set *s, rocl_db *db, rocpd_table table,
                            const char *const *columns, unsigned count, row_fn *fn, rocl_error *err)
{
    rocpd_row r = {.set = s, .table = table};
    rocl_rows *rows;
    unsigned n = 0;
    if (!s->tables[table])
        return ROCL_OK;
    rocl_status st = rocl_rows_open(&rows, db, s->tables[table], columns, count, err);
    if (st != ROCL_OK)
        return st;
    r.rows = rows;
    st = rocl_rows_seek(rows, INT64_MIN, INT64_MAX, err);
    while (st == ROCL_OK && (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK && n)
        for (r.row = 0; r.row < n && st == ROCL_OK; r.row++)
            st = fn(s, &r, err);
    rocl_rows_close(rows);
    return st;
}

#define EACH_ROW(s, db, table, columns, fn, err)                                                   \
    each_row(s, db, table, columns, (unsigned)(sizeof(columns) / sizeof *(columns)), fn, err)

/* Appends a zeroed element to an array of the capture (its address) and maps the id to it. */
static void *define(int64_t id, const void *array_field, uint32_t *count, size_t size,
                    rocl_ids *map, rocl_error *err)
{
    void **array = (void **)(uintptr_t)array_field;
    size_t cap = rocl_array_cap(*count);
    if (!rocl_array_reserve(array, &cap, *count + (size_t)1, size) ||
        !rocl_ids_put(map, (uint64_t)id, *count)) {
        rocl_fail_memory(err);
        return NULL;
    }
    return (char *)*array + (*count)++ * size;
}

static uint32_t text_of(const rocpd_row *r, unsigned col)
{
    size_t n;
    const char *p = rocl_cell_text(r->rows, col, r->row, &n);
    return rocl_strings_put(r->set->trace->strings, p, n);
}

/* Integers of definitions: what is no integer is unknown, as a missing column is. */
static int64_t int_of(const rocpd_row *r, unsigned col, int64_t missing)
{
    bool bad = false;
    int64_t v = missing;
    rocl_cell_int(r->rows, col, r->row, &v, &bad);
    return v;
}

static uint32_t ref_of(const rocpd_row *r, unsigned col, const rocl_ids *map)
{
    bool bad = false;
    int64_t id;
    if (!rocl_cell_int(r->rows, col, r->row, &id, &bad))
        return ROCL_NONE;
    uint32_t index = rocl_ids_get(map, (uint64_t)id);
    return index == ROCPD_NOBODY ? ROCL_NONE : index;
}

/* Does the row stand for none, by its name? Then what refers to it refers to nothing. */
static bool is_nobody(rocpd_set *s, const rocpd_row *r, unsigned name, rocl_ids *map,
                      rocl_status *st, rocl_error *err)
{
    *st = ROCL_OK;
    if (text_of(r, name) != s->nobody)
        return false;
    if (!rocl_ids_put(map, (uint64_t)r->rows->id[r->row], ROCPD_NOBODY))
        *st = rocl_fail_memory(err);
    return true;
}

/* ---- strings ---- */

static const char *const string_columns[] = {"string"};

static rocl_status take_string(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    uint32_t text = text_of(r, 0);
    if (text == ROCL_NONE || !rocl_ids_put(&s->strings, (uint64_t)r->rows->id[r->row], text))
        return rocl_fail_memory(err);
    return ROCL_OK;
}

static const char *const category_columns[] = {"name"};

static rocl_status take_category(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    uint32_t text = text_of(r, 0);
    if (text == ROCL_NONE || !rocl_ids_put(&s->categories, (uint64_t)r->rows->id[r->row], text))
        return rocl_fail_memory(err);
    return ROCL_OK;
}

/* ---- node, process, thread ---- */

static const char *const node_columns[] = {"machine_id", "system_name", "hostname",
                                           "release",    "version",     "hardware_name"};

static rocl_status take_node(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_status st;
    if (is_nobody(s, r, 2, &s->nodes, &st, err))
        return st;
    rocl_node *n =
        define(r->rows->id[r->row], &c->nodes, &c->node_count, sizeof *n, &s->nodes, err);
    if (!n)
        return ROCL_INTERNAL;
    n->id = r->rows->id[r->row];
    n->machine_id = text_of(r, 0);
    n->system_name = text_of(r, 1);
    n->hostname = text_of(r, 2);
    n->release = text_of(r, 3);
    n->version = text_of(r, 4);
    n->hardware = text_of(r, 5);
    return ROCL_OK;
}

static const char *const process_columns[] = {"nid",   "pid", "ppid",    "init",        "fini",
                                              "start", "end", "command", "environment", "guid"};

static rocl_status take_process(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_process *p = define(r->rows->id[r->row], &c->processes, &c->process_count, sizeof *p,
                             &s->processes, err);
    size_t n;
    if (!p)
        return ROCL_INTERNAL;
    p->id = r->rows->id[r->row];
    p->node = ref_of(r, 0, &s->nodes);
    p->pid = int_of(r, 1, p->id);
    p->ppid = int_of(r, 2, 0);
    p->init = int_of(r, 3, 0);
    p->fini = int_of(r, 4, 0);
    p->start = int_of(r, 5, 0);
    p->end = int_of(r, 6, 0);
    p->command = text_of(r, 7);
    if (!rocpd_rank_of(rocl_cell_text(r->rows, 8, r->row, &n), &p->rank))
        return rocl_fail_memory(err);
    if (!c->guid)
        c->guid = text_of(r, 9);
    if (c->process_count == 1)
        c->rank = p->rank;
    return ROCL_OK;
}

static const char *const thread_columns[] = {"pid", "tid", "name"};

static rocl_status take_thread(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_status st;
    if (is_nobody(s, r, 2, &s->threads, &st, err))
        return st;
    rocl_thread *t =
        define(r->rows->id[r->row], &c->threads, &c->thread_count, sizeof *t, &s->threads, err);
    if (!t)
        return ROCL_INTERNAL;
    t->id = r->rows->id[r->row];
    t->process = ref_of(r, 0, &s->processes);
    t->tid = int_of(r, 1, t->id);
    t->name = text_of(r, 2);
    return ROCL_OK;
}

/* ---- agents, queues, streams ---- */

static const char *const agent_columns[] = {
    "nid",  "pid",        "type",        "absolute_index", "logical_index", "type_index",
    "name", "model_name", "vendor_name", "product_name",   "user_name"};

static rocl_agent_type agent_type(const char *type)
{
    if (!strcmp(type, "GPU"))
        return ROCL_AGENT_GPU;
    if (!strcmp(type, "CPU"))
        return ROCL_AGENT_CPU;
    return !strcmp(type, "NIC") ? ROCL_AGENT_NIC : ROCL_AGENT_OTHER;
}

static rocl_status take_agent(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_status st;
    if (is_nobody(s, r, 6, &s->agents, &st, err))
        return st;
    rocl_agent *a =
        define(r->rows->id[r->row], &c->agents, &c->agent_count, sizeof *a, &s->agents, err);
    if (!a)
        return ROCL_INTERNAL;
    a->id = r->rows->id[r->row];
    a->node = ref_of(r, 0, &s->nodes);
    a->process = ref_of(r, 1, &s->processes);
    a->type_name = text_of(r, 2);
    a->type = agent_type(rocl_str(s->trace, a->type_name));
    a->absolute_index = int_of(r, 3, -1);
    a->logical_index = int_of(r, 4, -1);
    a->type_index = int_of(r, 5, -1);
    a->name = text_of(r, 6);
    a->model = text_of(r, 7);
    a->vendor = text_of(r, 8);
    a->product = text_of(r, 9);
    a->user_name = text_of(r, 10);
    rocl_label_agent(s->trace, a);
    return ROCL_OK;
}

static const char *const queue_columns[] = {"pid", "name", "extdata"};

/* That by which it is known, where it is not its id. */
static int64_t number_of(const rocpd_row *r, unsigned extdata, int64_t id)
{
    size_t n;
    uint64_t number = 0;
    if (rocl_cell_kind(r->rows, extdata, r->row) != ROCL_CELL_TEXT)
        return id;
    const char *json = rocl_cell_text(r->rows, extdata, r->row, &n);
    bool any = n > 2 && rocl_json_number(r->set->trace, json, n, "number", &number);
    return any && number <= INT64_MAX ? (int64_t)number : id;
}

static rocl_status take_queue_like(const rocpd_row *r, const void *array, uint32_t *count,
                                   rocl_ids *map, rocl_error *err)
{
    rocl_queue *q = define(r->rows->id[r->row], array, count, sizeof *q, map, err);
    if (!q)
        return ROCL_INTERNAL;
    q->id = number_of(r, 2, r->rows->id[r->row]);
    q->process = ref_of(r, 0, &r->set->processes);
    q->name = text_of(r, 1);
    return ROCL_OK;
}

static rocl_status take_queue(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_status st;
    if (is_nobody(s, r, 1, &s->queues, &st, err))
        return st;
    return take_queue_like(r, &c->queues, &c->queue_count, &s->queues, err);
}

static rocl_status take_stream(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    return take_queue_like(r, &c->streams, &c->stream_count, &s->streams, err);
}

/* ---- kernels ---- */

static const char *const code_object_columns[] = {"agent_id"};

static rocl_status take_code_object(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    uint32_t agent = ref_of(r, 0, &s->agents);
    return rocl_ids_put(&s->code_objects, (uint64_t)r->rows->id[r->row], agent)
               ? ROCL_OK
               : rocl_fail_memory(err);
}

enum { KERNEL_NAME = 2, KERNEL_DISPLAY, KERNEL_OBJECT = 9, KERNEL_EXTDATA };

static const char *const kernel_columns[] = {"pid",
                                             "code_object_id",
                                             "kernel_name",
                                             "display_name",
                                             "group_segment_size",
                                             "private_segment_size",
                                             "sgpr_count",
                                             "arch_vgpr_count",
                                             "accum_vgpr_count",
                                             "kernel_object",
                                             "extdata"};

/* A row for the sake of a name: the kernel is not known. */
static rocl_status take_unnamed(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    uint32_t index = ROCPD_UNNAMED + (uint32_t)s->unnamed_count;
    if (!ROCL_GROW(s->unnamed, s->unnamed_cap, s->unnamed_count + 1) ||
        !rocl_ids_put(&s->kernels, (uint64_t)r->rows->id[r->row], index))
        return rocl_fail_memory(err);
    bool named = rocl_cell_kind(r->rows, KERNEL_DISPLAY, r->row) != ROCL_CELL_NULL;
    s->unnamed[s->unnamed_count++] = (rocpd_unnamed){named ? text_of(r, KERNEL_DISPLAY) : ROCL_NONE,
                                                     int_of(r, KERNEL_OBJECT, 0)};
    return ROCL_OK;
}

static rocl_status take_kernel(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    if (text_of(r, KERNEL_NAME) == s->nobody)
        return take_unnamed(s, r, err);
    rocl_kernel *k =
        define(r->rows->id[r->row], &c->kernels, &c->kernel_count, sizeof *k, &s->kernels, err);
    size_t n = 0;
    const char *extdata = "";
    if (!k)
        return ROCL_INTERNAL;
    k->id = r->rows->id[r->row];
    k->process = ref_of(r, 0, &s->processes);
    k->agent = ref_of(r, 1, &s->code_objects);
    k->mangled = rocl_kernel_without_kd(s->trace, text_of(r, 2));
    k->display = text_of(r, 3);
    if (!k->display)
        k->display = k->mangled;
    k->group_segment = int_of(r, 4, 0);
    k->private_segment = int_of(r, 5, 0);
    k->sgpr = int_of(r, 6, 0);
    k->arch_vgpr = int_of(r, 7, 0);
    k->accum_vgpr = int_of(r, 8, 0);
    if (r->rows->column_count > KERNEL_EXTDATA &&
        rocl_cell_kind(r->rows, KERNEL_EXTDATA, r->row) == ROCL_CELL_TEXT)
        extdata = rocl_cell_text(r->rows, KERNEL_EXTDATA, r->row, &n);
    rocpd_name_kernel(s->trace, k, extdata, n);
    return ROCL_OK;
}

/* The JSON of tens of thousands of symbols that are never dispatched is read only where the name
 * asked for is in there. */
static rocl_status read_kernels(rocpd_set *s, rocl_db *db, rocl_error *err)
{
    bool need = s->trace->opt.kernel_names == ROCL_NAMES_TRUNCATED;
    return each_row(s, db, ROCPD_INFO_KERNEL_SYMBOL, kernel_columns,
                    need ? KERNEL_EXTDATA + 1 : KERNEL_EXTDATA, take_kernel, err);
}

/* ---- counters, tracks ---- */

static const char *const counter_columns[] = {"pid",    "agent_id",    "name",
                                              "symbol", "description", "component",
                                              "units",  "value_type",  "block"};

static rocl_status define_counter(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_counter *k =
        define(r->rows->id[r->row], &c->counters, &c->counter_count, sizeof *k, &s->counters, err);
    if (!k)
        return ROCL_INTERNAL;
    k->id = r->rows->id[r->row];
    k->process = ref_of(r, 0, &s->processes);
    k->agent = ref_of(r, 1, &s->agents);
    k->name = text_of(r, 2);
    k->symbol = text_of(r, 3);
    k->description = text_of(r, 4);
    k->component = text_of(r, 5);
    k->units = text_of(r, 6);
    k->value_type = text_of(r, 7);
    k->block = text_of(r, 8);
    return ROCL_OK;
}

/* Some versions of rocprofiler-systems give two counters one name: the row of the resident memory,
 * which comes first, then stands for page faults as well. */
static bool is_shared(const rocpd_row *r)
{
    size_t n;
    return !strcmp(rocl_cell_text(r->rows, 2, r->row, &n), "process_page_fault") &&
           !strcmp(rocl_cell_text(r->rows, 3, r->row, &n), "Memory Usage");
}

/* The id means the counter that is defined last. */
static rocl_status take_counter(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    rocl_strings *strings = s->trace->strings;
    rocl_status st = define_counter(s, r, err);
    if (st != ROCL_OK || !is_shared(r))
        return st;
    if ((st = define_counter(s, r, err)) != ROCL_OK)
        return st;
    const rocl_capture *c = &s->capture->pub;
    rocl_counter *faults = (rocl_counter *)(uintptr_t)&c->counters[c->counter_count - 2];
    faults[0].symbol = rocl_strings_put(strings, "Page Faults", strlen("Page Faults"));
    faults[0].units = faults[0].description = 0;
    faults[1].name = rocl_strings_put(strings, "process_page", strlen("process_page"));
    return faults[0].symbol == ROCL_NONE || faults[1].name == ROCL_NONE ? rocl_fail_memory(err)
                                                                        : ROCL_OK;
}

static const char *const track_columns[] = {"pid",      "tid",       "agent_id",
                                            "queue_id", "stream_id", "name_id"};

static rocl_status take_track(rocpd_set *s, const rocpd_row *r, rocl_error *err)
{
    rocpd_track_def *t =
        define(r->rows->id[r->row], &s->track_defs, &s->track_count, sizeof *t, &s->tracks, err);
    if (!t)
        return ROCL_INTERNAL;
    t->process = ref_of(r, 0, &s->processes);
    t->thread = ref_of(r, 1, &s->threads);
    t->agent = ref_of(r, 2, &s->agents);
    t->queue = ref_of(r, 3, &s->queues);
    t->stream = ref_of(r, 4, &s->streams);
    t->name = ref_of(r, 5, &s->strings);
    return ROCL_OK;
}

/* What has no table is not dangling. */
static void note_missing_tables(rocpd_set *s)
{
    s->strings.absent = !s->tables[ROCPD_STRING];
    s->processes.absent = !s->tables[ROCPD_INFO_PROCESS];
    s->threads.absent = !s->tables[ROCPD_INFO_THREAD];
    s->agents.absent = !s->tables[ROCPD_INFO_AGENT];
    s->queues.absent = !s->tables[ROCPD_INFO_QUEUE];
    s->streams.absent = !s->tables[ROCPD_INFO_STREAM];
    s->kernels.absent = !s->tables[ROCPD_INFO_KERNEL_SYMBOL];
    s->counters.absent = !s->tables[ROCPD_INFO_PMC];
    s->tracks.absent = !s->tables[ROCPD_TRACK];
}

/* ---- definitions without an info table ------------------------------------------------------- */

/* A file may lack an info table (older or other writers). The ids that its events use are all there
 * is then to tell threads, queues, streams and agents apart, so each id becomes a definition. */
static rocl_status guess_thread(rocpd_set *s, int64_t id, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_thread *t = define(id, &c->threads, &c->thread_count, sizeof *t, &s->threads, err);
    if (!t)
        return ROCL_INTERNAL;
    *t = (rocl_thread){.id = id, .process = ROCL_NONE, .tid = id};
    return ROCL_OK;
}

static rocl_status guess_agent(rocpd_set *s, int64_t id, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    rocl_agent *a = define(id, &c->agents, &c->agent_count, sizeof *a, &s->agents, err);
    if (!a)
        return ROCL_INTERNAL;
    *a = (rocl_agent){.id = id,
                      .node = ROCL_NONE,
                      .process = ROCL_NONE,
                      .absolute_index = -1,
                      .logical_index = -1,
                      .type_index = -1};
    rocl_label_agent(s->trace, a);
    return ROCL_OK;
}

static rocl_status guess_queue_like(int64_t id, const void *array, uint32_t *count, rocl_ids *ids,
                                    rocl_error *err)
{
    rocl_queue *q = define(id, array, count, sizeof *q, ids, err);
    if (!q)
        return ROCL_INTERNAL;
    *q = (rocl_queue){.id = id, .process = ROCL_NONE};
    return ROCL_OK;
}

static rocl_status guess_queue(rocpd_set *s, int64_t id, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    return guess_queue_like(id, &c->queues, &c->queue_count, &s->queues, err);
}

static rocl_status guess_stream(rocpd_set *s, int64_t id, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    return guess_queue_like(id, &c->streams, &c->stream_count, &s->streams, err);
}

typedef rocl_status guess_fn(rocpd_set *s, int64_t id, rocl_error *err);

/* Columns of events that refer to an info table. */
static const struct {
    rocpd_table info, events;
    const char *column;
    guess_fn *guess;
} references[] = {
    {ROCPD_INFO_THREAD, ROCPD_REGION, "tid", guess_thread},
    {ROCPD_INFO_THREAD, ROCPD_KERNEL_DISPATCH, "tid", guess_thread},
    {ROCPD_INFO_THREAD, ROCPD_MEMORY_COPY, "tid", guess_thread},
    {ROCPD_INFO_THREAD, ROCPD_MEMORY_ALLOCATE, "tid", guess_thread},
    {ROCPD_INFO_THREAD, ROCPD_TRACK, "tid", guess_thread},
    {ROCPD_INFO_AGENT, ROCPD_KERNEL_DISPATCH, "agent_id", guess_agent},
    {ROCPD_INFO_AGENT, ROCPD_MEMORY_COPY, "src_agent_id", guess_agent},
    {ROCPD_INFO_AGENT, ROCPD_MEMORY_COPY, "dst_agent_id", guess_agent},
    {ROCPD_INFO_AGENT, ROCPD_MEMORY_ALLOCATE, "agent_id", guess_agent},
    {ROCPD_INFO_AGENT, ROCPD_TRACK, "agent_id", guess_agent},
    {ROCPD_INFO_QUEUE, ROCPD_KERNEL_DISPATCH, "queue_id", guess_queue},
    {ROCPD_INFO_QUEUE, ROCPD_MEMORY_COPY, "queue_id", guess_queue},
    {ROCPD_INFO_QUEUE, ROCPD_MEMORY_ALLOCATE, "queue_id", guess_queue},
    {ROCPD_INFO_QUEUE, ROCPD_TRACK, "queue_id", guess_queue},
    {ROCPD_INFO_STREAM, ROCPD_KERNEL_DISPATCH, "stream_id", guess_stream},
    {ROCPD_INFO_STREAM, ROCPD_MEMORY_COPY, "stream_id", guess_stream},
    {ROCPD_INFO_STREAM, ROCPD_MEMORY_ALLOCATE, "stream_id", guess_stream},
    {ROCPD_INFO_STREAM, ROCPD_TRACK, "stream_id", guess_stream},
};

static const rocl_ids *ids_of(const rocpd_set *s, rocpd_table info)
{
    switch (info) {
    case ROCPD_INFO_THREAD:
        return &s->threads;
    case ROCPD_INFO_AGENT:
        return &s->agents;
    case ROCPD_INFO_QUEUE:
        return &s->queues;
    default:
        return &s->streams;
    }
}

static rocl_status guess_from(rocpd_set *s, rocl_db *db, size_t n, rocl_error *err)
{
    const char *column = references[n].column;
    rocl_rows *rows;
    unsigned count = 0;
    rocl_status st = rocl_rows_open(&rows, db, s->tables[references[n].events], &column, 1, err);
    if (st != ROCL_OK)
        return st;
    st = rocl_rows_seek(rows, INT64_MIN, INT64_MAX, err);
    while (st == ROCL_OK && (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &count, err)) == ROCL_OK &&
           count)
        for (unsigned i = 0; i < count && st == ROCL_OK; i++) {
            bool bad = false;
            int64_t id;
            if (rocl_cell_int(rows, 0, i, &id, &bad) &&
                rocl_ids_get(ids_of(s, references[n].info), (uint64_t)id) == ROCL_NONE)
                st = references[n].guess(s, id, err);
        }
    rocl_rows_close(rows);
    return st;
}

static rocl_status guess_definitions(rocpd_set *s, rocl_db *db, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < sizeof references / sizeof *references && st == ROCL_OK; i++)
        if (!s->tables[references[i].info] && s->tables[references[i].events])
            st = guess_from(s, db, i, err);
    return st;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* A trace of nothing but events still has a process to hang them on. */
static rocl_status ensure_process(rocpd_set *s, rocl_error *err)
{
    rocl_capture *c = &s->capture->pub;
    if (c->process_count)
        return ROCL_OK;
    rocl_process *p = calloc(64, sizeof *p);
    if (!p)
        return rocl_fail_memory(err);
    p->node = ROCL_NONE;
    p->rank = -1;
    c->processes = p;
    c->process_count = 1;
    return ROCL_OK;
}

rocl_status rocpd_read_definitions(rocpd_set *s, rocl_db *db, rocl_error *err)
{
    rocl_status st;
    s->capture->pub.rank = -1;
    s->nobody = rocl_strings_put(s->trace->strings, SCHEMA_NOBODY, strlen(SCHEMA_NOBODY));
    note_missing_tables(s);
    if ((st = EACH_ROW(s, db, ROCPD_STRING, string_columns, take_string, err)) ||
        (st = EACH_ROW(s, db, ROCPD_INFO_NODE, node_columns, take_node, err)) ||
        (st = EACH_ROW(s, db, ROCPD_INFO_PROCESS, process_columns, take_process, err)) ||
        (st = EACH_ROW(s, db, ROCPD_INFO_THREAD, thread_columns, take_thread, err)) ||
        (st = EACH_ROW(s, db, ROCPD_INFO_AGENT, agent_columns, take_agent, err)) ||
        (st = EACH_ROW(s, db, ROCPD_INFO_QUEUE, queue_columns, take_queue, err)) ||
        (st = EACH_ROW(s, db, ROCPD_INFO_STREAM, queue_columns, take_stream, err)) ||
        (st =
             EACH_ROW(s, db, ROCPD_INFO_CODE_OBJECT, code_object_columns, take_code_object, err)) ||
        (st = read_kernels(s, db, err)) ||
        (st = EACH_ROW(s, db, ROCPD_INFO_PMC, counter_columns, take_counter, err)) ||
        (st = guess_definitions(s, db, err)) ||
        (st = EACH_ROW(s, db, ROCPD_TRACK, track_columns, take_track, err)))
        return st;
    if (s->tables[ROCPD_INFO_CATEGORY]) {
        st = EACH_ROW(s, db, ROCPD_INFO_CATEGORY, category_columns, take_category, err);
    } else {
        s->categories = s->strings; /* schema 3: categories are strings */
    }
    return st ? st : ensure_process(s, err);
}
