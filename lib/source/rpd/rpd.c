/* An RPD file as records:
 *
 *     rocpd_api      calls, ranges and marks ("UserMarker"), and the tracer's own work
 *     rocpd_op       kernels and copies; rocpd_api_ops says which call launched which of them,
 *                    rocpd_kernelapi and rocpd_copyapi what that call asked for
 *     rocpd_counter  values of an operation
 *     rocpd_monitor  values of a device from one time to another
 *     rocpd_stackframe  where the program stood when it called
 *
 * The versions of the schema (1 of 2020, 2 of 2022, 3 of 2026) differ in columns: one that is
 * missing reads as NULL. Where nothing is known there is '' in columns of numbers. Every process
 * that is traced is a session of the file, whose number is in the upper 32 bits of its ids: those
 * of several sessions are mixed in one table.
 *
 * Tables are joined row by row: what an operation refers to lies near to what the one before it
 * refers to, so each worker keeps the rows around the last one that it looked up. Tables whose rows
 * have ids of their own are sorted by what they belong to when the file is opened; in the first
 * pass each of their rows is checked, so that those that belong to nothing are counted. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/json.h"
#include "base/map.h"
#include "source/db/connection.h"
#include "source/records/lookup.h"
#include "source/rocprof/row.h"
#include "source/rpd/rpd.h"

enum {
    LOOKUP_ROWS =
        64, /* read at once around a row that is looked up; more, where no column is read */
    TABLE_SHIFT = 42, /* of the place of a record: its table, then its id without upper bits */
    STREAM_MAX = 32
};

/* ---- tables ---------------------------------------------------------------------------------- */

/* Of the place of a sample at the end of its row. */
#define MONITOR_ENDS ((uint64_t)1 << (TABLE_SHIFT - 1))

typedef enum rpd_table {
    RPD_API,
    RPD_HSA_API, /* before version 1 */
    RPD_OP,
    RPD_MONITOR,
    RPD_API_OPS,
    RPD_FRAME,
    RPD_COUNTER,
    RPD_RECORDS, /* the tables above hold records, or rows of which each belongs to a record */
    RPD_KERNEL = RPD_RECORDS,
    RPD_COPY,
    RPD_STRING,
    RPD_USTRING,
    RPD_AUTOGRAD,
    RPD_TABLES
} rpd_table;

enum { A_PID, A_TID, A_START, A_END, A_NAME, A_ARGS, A_DOMAIN };
enum { O_GPU, O_QUEUE, O_START, O_END, O_DESCRIPTION, O_TYPE };
enum { M_TYPE, M_DEVICE, M_MONITOR, M_START, M_END, M_VALUE };
enum { L_API, L_OP };
enum { F_API, F_DEPTH, F_NAME };
enum { V_VALUE, V_OP, V_NAME };
enum { K_STREAM, K_GRID, K_WORKGROUP = K_GRID + 3, K_GROUP = K_WORKGROUP + 3, K_PRIVATE, K_NAME };
enum { C_STREAM, C_SIZE, C_WIDTH, C_HEIGHT };
enum { S_STRING };
enum { G_NAME, G_SEQ, G_OP, G_SIZES, G_INPUTS };

#define COLUMNS_MAX 10

static const struct {
    const char *name;
    const char *columns[COLUMNS_MAX]; /* up to NULL */
} tables[RPD_TABLES] = {
    [RPD_API] = {"rocpd_api", {"pid", "tid", "start", "end", "apiName_id", "args_id", "domain_id"}},
    [RPD_HSA_API] = {"rocpd_hsaApi",
                     {"pid", "tid", "start", "end", "apiName_id", "args_id", "domain_id"}},
    [RPD_OP] = {"rocpd_op", {"gpuId", "queueId", "start", "end", "description_id", "opType_id"}},
    [RPD_MONITOR] = {"rocpd_monitor",
                     {"deviceType", "deviceId", "monitorType", "start", "end", "value"}},
    [RPD_API_OPS] = {"rocpd_api_ops", {"api_id", "op_id"}},
    [RPD_FRAME] = {"rocpd_stackframe", {"api_ptr_id", "depth", "name_id"}},
    [RPD_COUNTER] = {"rocpd_counter", {"value", "op_id", "name_id"}},
    [RPD_KERNEL] = {"rocpd_kernelapi",
                    {"stream", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ",
                     "groupSegmentSize", "privateSegmentSize", "kernelName_id"}},
    [RPD_COPY] = {"rocpd_copyapi", {"stream", "size", "width", "height", "kind", "src", "dst"}},
    [RPD_STRING] = {"rocpd_string", {"string"}},
    [RPD_USTRING] = {"rocpd_ustring", {"string"}},
    [RPD_AUTOGRAD] = {"ext_autogradapi",
                      {"autogradName_id", "seq", "op_id", "sizes", "input_op_ids"}},
};

/* What version 1 kept by operation, and called so. */
static const char *const v1_names[RPD_TABLES] = {
    [RPD_KERNEL] = "rocpd_kernelop", [RPD_COPY] = "rocpd_copyop"};

/* A process that was traced. */
typedef struct rpd_session {
    uint64_t number;
    uint64_t pid;
    int64_t first, last; /* about when its first call began and its last one ended */
    int64_t latest;      /* last of this session and of those before it in the array */
} rpd_session;

typedef struct rpd_file {
    rocprof_words words;
    uint32_t tracer, cuda, user; /* categories */
    rocl_db_state state;
    const char *names[RPD_TABLES]; /* of those that are there; NULL else */
    bool by_op;                    /* rocpd_kernelop and rocpd_copyop: keys are operations */
    rpd_session *sessions;         /* by their first call */
    size_t session_count;
    rocl_idset
        item_sessions; /* numbers of those whose launches all give their grid in work-items */
    uint64_t pid_stride, gpu_stride;
    rocl_lookup *links;            /* operation, 0 -> the call that launched it */
    rocl_lookup *frames;           /* call, index -> string of the frame, innermost first */
    rocl_lookup *counters;         /* operation, index -> row of rocpd_counter */
    rocl_map last_monitored;       /* rows of rocpd_monitor, the last ones of what they are about */
    atomic_uint_fast64_t sizeless; /* copies */
} rpd_file;

typedef struct rpd_worker {
    rocl_db *db;
    rocl_rows *rows[RPD_RECORDS];  /* cursors of records */
    rocl_rows *joined[RPD_TABLES]; /* cursors of what they refer to */
    unsigned count[RPD_TABLES];    /* rows that the latter have at hand */
    rocl_map texts;                /* id of a string -> text */
    rocl_lookup_pages links, frames, counters;
    rocl_buf stack; /* frames of the call at hand */
} rpd_worker;

/* ---- cells ----------------------------------------------------------------------------------- */

/* False: NULL, '' or no number (*bad). */
static bool read_int(const rocl_rows *rows, unsigned column, unsigned i, int64_t *v, bool *bad)
{
    size_t n = 1;
    *v = 0;
    if (rocl_cell_kind(rows, column, i) == ROCL_CELL_TEXT)
        rocl_cell_text(rows, column, i, &n);
    return n && rocl_cell_int(rows, column, i, v, bad);
}

static uint64_t read_key(const rocl_rows *rows, unsigned column, unsigned i, bool *bad)
{
    int64_t v;
    if (!read_int(rows, column, i, &v, bad))
        return ROCL_NO_KEY;
    *bad |= v < 0;
    return v < 0 ? ROCL_NO_KEY : (uint64_t)v;
}

/* The number of a queue: handles are cut to 32 bits with a sign. */
static uint64_t read_queue(const rocl_rows *rows, unsigned column, unsigned i, bool *bad)
{
    int64_t v;
    return read_int(rows, column, i, &v, bad) ? (uint64_t)v & UINT32_MAX : ROCL_NO_KEY;
}

/* The times of a row; false: one of them is missing or no number. */
static bool read_times(const rocl_rows *rows, unsigned start, unsigned i, rocl_event *e)
{
    bool bad = false;
    return read_int(rows, start, i, &e->start, &bad) && read_int(rows, start + 1, i, &e->end, &bad);
}

static rocl_view read_text(const rocl_rows *rows, unsigned column, unsigned i)
{
    rocl_view s;
    s.p = rocl_cell_text(rows, column, i, &s.n);
    return s;
}

/* "0x7f..": what rocprof's streams are, as well. */
static uint64_t read_stream(const rocl_rows *rows, unsigned column, unsigned i)
{
    uint64_t v;
    return rocl_json_uint(read_text(rows, column, i), &v) ? v : ROCL_NO_KEY;
}

/* ---- joins ----------------------------------------------------------------------------------- */

static void free_worker(void *state)
{
    rpd_worker *w = state;
    for (size_t t = 0; t < RPD_TABLES; t++)
        rocl_rows_close(w->joined[t]);
    for (size_t t = 0; t < RPD_RECORDS; t++)
        rocl_rows_close(w->rows[t]);
    rocl_db_close(w->db);
    rocl_map_free(&w->texts);
    free(w->links.entries);
    free(w->frames.entries);
    free(w->counters.entries);
    rocl_buf_free(&w->stack);
    free(w);
}

static rocl_status open_rows(const rpd_file *f, rocl_db *db, rpd_table t, rocl_rows **rows,
                             rocl_error *err)
{
    unsigned n = 0;
    while (n < COLUMNS_MAX && tables[t].columns[n])
        n++;
    return *rows ? ROCL_OK : rocl_rows_open(rows, db, f->names[t], tables[t].columns, n, err);
}

/* For rows that are looked up. Of operations only their types are, and that they are there. */
static rocl_status open_joined(const rpd_file *f, rpd_worker *w, rpd_table t, rocl_error *err)
{
    const char *columns[COLUMNS_MAX] = {[O_TYPE] =
                                            f->counters ? tables[RPD_OP].columns[O_TYPE] : NULL};
    if (t != RPD_OP || w->joined[t])
        return open_rows(f, w->db, t, &w->joined[t], err);
    return rocl_rows_open(&w->joined[t], w->db, f->names[t], columns, O_TYPE + 1, err);
}

/* The row of a table with this id: *found is the cursor it is in, at row *i; NULL: there is none.
 */
static rocl_status find_row(const rpd_file *f, rpd_worker *w, rpd_table t, uint64_t id,
                            const rocl_rows **found, unsigned *i, rocl_error *err)
{
    rocl_rows **rows = &w->joined[t];
    rocl_status st;
    unsigned *n = &w->count[t];
    *found = NULL;
    if (!f->names[t] || id > INT64_MAX)
        return ROCL_OK;
    if ((st = open_joined(f, w, t, err)) != ROCL_OK)
        return st;
    if (!*n || (int64_t)id < (*rows)->id[0] || (int64_t)id > (*rows)->id[*n - 1]) {
        *n = 0;
        st = rocl_rows_seek(*rows, (int64_t)id, INT64_MAX, err);
        if (st == ROCL_OK)
            st = rocl_rows_next(*rows, t == RPD_OP ? ROCL_ROWS_BATCH : LOOKUP_ROWS, n, err);
        if (st != ROCL_OK)
            return st;
    }
    unsigned low = 0, high = *n;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if ((*rows)->id[middle] < (int64_t)id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < *n && (*rows)->id[low] == (int64_t)id) {
        *found = *rows;
        *i = low;
    }
    return ROCL_OK;
}

/* The string with an id, which many rows have; ROCL_NONE: there is none. */
static rocl_status find_text(const rpd_file *f, rocl_records *to, rpd_worker *w, uint64_t id,
                             uint32_t *text, rocl_error *err)
{
    const rocl_rows *rows;
    unsigned i;
    *text = rocl_map_get(&w->texts, id, ROCL_NONE);
    if (*text != ROCL_NONE || id == ROCL_NO_KEY)
        return ROCL_OK;
    rocl_status st = find_row(f, w, RPD_STRING, id, &rows, &i, err);
    if (st != ROCL_OK || !rows)
        return st;
    *text = rocl_records_text(to, read_text(rows, S_STRING, i));
    return *text != ROCL_NONE && rocl_map_put(&w->texts, id, *text) ? ROCL_OK
                                                                    : rocl_fail_memory(err);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The members of an object of JSON. */
static void put_json_args(rocl_records *to, rocl_view text)
{
    rocl_json r;
    rocl_json_token key, value;
    rocl_json_open(&r, text.p, text.n, 0, 0);
    if (!rocl_json_element(&r, &value) || !rocl_json_enter(&r, ROCL_JSON_OBJECT))
        return;
    while (rocl_json_next(&r, &key) == ROCL_JSON_KEY) {
        if (rocl_json_next(&r, &value) == ROCL_JSON_OBJECT || value.kind == ROCL_JSON_ARRAY) {
            rocl_json_leave(&r);
            value.text = rocl_view_between(value.text.p, r.at);
        }
        if (r.wrong)
            return;
        rocl_record_arg(to, key.text, value.text);
    }
}

/* "ptr=0x7f.. | size=0x400", or an object of JSON. */
static void put_args(rocl_records *to, rocl_view text)
{
    if (text.n && *text.p == '{') {
        put_json_args(to, text);
        return;
    }
    while (text.n) {
        const char *bar = memmem(text.p, text.n, " | ", 3), *end = text.p + text.n;
        const rocl_view one = rocl_view_between(text.p, bar ? bar : end);
        rocl_view name = rocl_view_until(one, '='), value = {"", 0};
        if (name.n < one.n)
            value = rocl_view_between(name.p + name.n + 1, one.p + one.n);
        while (name.n && name.p[name.n - 1] == ' ')
            name.n--;
        while (value.n && *value.p == ' ')
            value = rocl_view_between(value.p + 1, value.p + value.n);
        rocl_record_arg(to, name, value);
        text = bar ? rocl_view_between(bar + 3, end) : (rocl_view){end, 0};
    }
}

/* Columns from `first` on of the row that another table has of a call, but for empty ones and for
 * texts by their ids. */
static rocl_status put_columns(const rpd_file *f, rocl_records *to, rpd_worker *w, rpd_table t,
                               uint64_t api, unsigned first, rocl_error *err)
{
    const rocl_rows *rows;
    unsigned i;
    rocl_status st = find_row(f, w, t, api, &rows, &i, err);
    for (unsigned k = first; st == ROCL_OK && rows && k < COLUMNS_MAX && tables[t].columns[k];
         k++) {
        const rocl_view name = {tables[t].columns[k], strlen(tables[t].columns[k])};
        char digits[24];
        int64_t v;
        bool bad = false;
        if (t == RPD_KERNEL && k == K_NAME)
            continue;
        if (rocl_cell_kind(rows, k, i) != ROCL_CELL_INT) {
            const rocl_view s = read_text(rows, k, i);
            if (s.n)
                rocl_record_arg(to, name, s);
        } else if (rocl_cell_int(rows, k, i, &v, &bad)) {
            const int n = snprintf(digits, sizeof digits, "%lld", (long long)v);
            rocl_record_arg(to, name, (rocl_view){digits, (size_t)n});
        }
    }
    return st;
}

/* Memory of a device that hipMalloc() or hipFree() says: "ptr=0x7f00 | size=0x1000". */
static rocl_status put_allocation(const rpd_file *f, rocl_records *to, rocl_source_record r,
                                  bool frees, rocl_view args, rocl_error *err)
{
    const rocl_event e = r.as.e;
    rocl_alloc *a = &r.as.alloc;
    bool sized = frees;
    memset(&r.as, 0, sizeof r.as);
    a->e = e;
    a->e.category = f->words.allocation;
    r.kind = ROCL_ALLOC;
    r.name = frees ? (rocl_view){"MEMORY_ALLOCATION_FREE", 22}
                   : (rocl_view){"MEMORY_ALLOCATION_ALLOCATE", 26};
    rocprof_alloc_operation(r.name, false, a);
    while (args.n) {
        const char *bar = memmem(args.p, args.n, " | ", 3), *end = args.p + args.n;
        const rocl_view one = rocl_view_between(args.p, bar ? bar : end);
        const char *equals = one.n ? memchr(one.p, '=', one.n) : NULL;
        uint64_t v;
        if (equals && rocl_json_uint(rocl_view_between(equals + 1, one.p + one.n), &v)) {
            const rocl_view name = rocl_view_between(one.p, equals);
            if (rocl_view_is(name, "ptr"))
                a->address = v;
            sized |= rocl_view_is(name, "size");
            if (rocl_view_is(name, "size"))
                a->size = v;
        }
        args = bar ? rocl_view_between(bar + 3, end) : (rocl_view){end, 0};
    }
    return a->address && sized ? rocl_record_put(to, &r, err) : ROCL_OK;
}

/* The tracer notes its own work, on threads of its own. */
static bool is_tracer(const char *name)
{
    static const char *const names[] = {"hcc_activity_callback", "rpdflush", "BLOCKING"};
    const char *method = strstr(name, "Table::writeRows");
    bool is = method && !strcmp(method, "Table::writeRows");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is |= !strcmp(name, names[i]);
    return is;
}

static uint32_t category_of(const rpd_file *f, rpd_table t, const char *name)
{
    return is_tracer(name)                                          ? f->tracer
           : t == RPD_HSA_API || !strncmp(name, "hsa_", 4)          ? f->words.hsa
           : !strncmp(name, "hip", 3) || !strncmp(name, "__hip", 5) ? f->words.hip
           : !strncmp(name, "cu", 2)                                ? f->cuda
                                                                    : f->user;
}

/* A process of a machine, where a file is of several. */
static void set_process(const rpd_file *f, rocl_source_record *r, uint64_t pid)
{
    r->process = pid;
    if (f->pid_stride && pid != ROCL_NO_KEY && pid >= f->pid_stride)
        r->pid = pid % f->pid_stride;
}

/* The number of the session in which a row was written. */
static uint64_t session_of(uint64_t id)
{
    return id >> 32;
}

/* The text of a frame. Its writer forgets to add the number of the session to the id. */
static rocl_status find_frame_text(const rpd_file *f, rocl_records *to, rpd_worker *w, uint64_t api,
                                   uint64_t name, uint32_t *text, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    *text = ROCL_NONE;
    if (!session_of(name) && session_of(api))
        st = find_text(f, to, w, session_of(api) << 32 | name, text, err);
    return st != ROCL_OK || *text != ROCL_NONE ? st : find_text(f, to, w, name, text, err);
}

/* Where the program stood when it called, one frame below the other, as debuggers show it. */
static rocl_status put_frames(const rpd_file *f, rocl_records *to, rpd_worker *w, uint64_t api,
                              rocl_error *err)
{
    static const rocl_view call_stack = {"call_stack", 10};
    rocl_status st = ROCL_OK;
    w->stack.len = 0;
    for (uint64_t k = 0; f->frames && st == ROCL_OK; k++) {
        uint64_t name = ROCL_NO_KEY;
        uint32_t text;
        size_t n;
        st = rocl_lookup_find(f->frames, &w->frames, (rocl_lookup_key){api, k}, &name, err);
        if (st != ROCL_OK || name == ROCL_NO_KEY)
            break;
        if ((st = find_frame_text(f, to, w, api, name, &text, err)) != ROCL_OK)
            break;
        const char *frame =
            rocl_text(rocl_records_input_of(to)->trace, text == ROCL_NONE ? 0 : text, &n);
        if (k)
            rocl_buf_byte(&w->stack, '\n');
        rocl_buf_put(&w->stack, frame, n);
    }
    if (st == ROCL_OK && w->stack.failed)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && w->stack.len)
        rocl_record_arg(to, call_stack, (rocl_view){(const char *)w->stack.data, w->stack.len});
    return st;
}

/* What a call was given, in its text (empty: none) and in the tables that go by its id. */
static rocl_status put_call_args(const rpd_file *f, rocl_records *to, rpd_worker *w, uint64_t id,
                                 rocl_view text, rocl_error *err)
{
    put_args(to, text);
    rocl_status st = put_columns(f, to, w, RPD_AUTOGRAD, id, G_SEQ, err);
    if (st == ROCL_OK && !f->by_op)
        st = put_columns(f, to, w, RPD_KERNEL, id, K_STREAM, err);
    if (st == ROCL_OK && !f->by_op)
        st = put_columns(f, to, w, RPD_COPY, id, C_STREAM, err);
    return st ? st : put_frames(f, to, w, id, err);
}

static rocl_status put_call(const rpd_file *f, rocl_records *to, rpd_worker *w, rpd_table t,
                            unsigned i, rocl_error *err)
{
    const rocl_rows *rows = w->rows[t], *strings;
    const uint64_t id = (uint64_t)rows->id[i];
    rocl_source_record r;
    rocl_status st;
    unsigned k;
    bool bad = false;
    uint32_t name, domain = ROCL_NONE;
    rocl_record_begin(&r, ROCL_REGION,
                      (uint64_t)t << TABLE_SHIFT | (id & (((uint64_t)1 << TABLE_SHIFT) - 1)));
    set_process(f, &r, read_key(rows, A_PID, i, &bad));
    r.thread = read_key(rows, A_TID, i, &bad);
    r.link = id;
    if (!read_times(rows, A_START, i, &r.as.e))
        return rocl_record_fault(to, r.where, ROCL_FAULT_BAD_TIME, "a time is no number", err);
    const uint64_t args = read_key(rows, A_ARGS, i, &bad);
    if ((st = find_text(f, to, w, read_key(rows, A_NAME, i, &bad), &name, err)) != ROCL_OK ||
        (st = find_text(f, to, w, read_key(rows, A_DOMAIN, i, &bad), &domain, err)) != ROCL_OK)
        return st;
    if (name == ROCL_NONE)
        st = rocl_record_fault(to, r.where, ROCL_FAULT_DANGLING_NAME, "its name is not there", err);
    else if (bad)
        st = rocl_record_fault(to, r.where, ROCL_FAULT_BAD_VALUE, "a field is no number", err);
    if (st != ROCL_OK)
        return st;
    const rocl_trace *trace = rocl_records_input_of(to)->trace;
    const char *called = name == ROCL_NONE ? "" : rocl_str(trace, name);
    const bool marks = !strcmp(called, "UserMarker"), is_mark = r.as.e.start == r.as.e.end;
    if (marks)
        r.kind = is_mark ? ROCL_INSTANT : ROCL_MARKER;
    if (marks && !r.as.e.start && r.as.e.end > 0) /* the tracer saw only its pop */
        return rocl_record_fault(to, r.where, ROCL_FAULT_BAD_TIME, "a range without a begin", err);
    if (!marks) {
        r.as.e.name = name == ROCL_NONE ? 0 : name;
        r.as.e.category = category_of(f, t, called);
        if (r.as.e.category == f->user && is_mark) /* of rpd_mark */
            r.kind = ROCL_INSTANT;
        if (r.as.e.category == f->user && domain != ROCL_NONE && domain)
            r.as.e.category = domain; /* of rpd_mark and rpd_rangePush */
    }
    const bool wants_args = rocl_records_want_args(to) && rocl_records_want(to, r.kind),
               frees = !strncmp(called, "hipFree", 7),
               allocates = frees || !strncmp(called, "hipMalloc", 9) ||
                           !strncmp(called, "hipExtMalloc", 12),
               wants_alloc = allocates && rocl_records_want(to, ROCL_ALLOC);
    const rpd_table texts = f->names[RPD_USTRING] ? RPD_USTRING : RPD_STRING;
    if (marks || wants_args || wants_alloc) {
        if ((st = find_row(f, w, texts, args, &strings, &k, err)) != ROCL_OK)
            return st;
        const rocl_view text = strings ? read_text(strings, S_STRING, k) : (rocl_view){"", 0};
        if (marks && !strings)
            st = rocl_record_fault(to, r.where, ROCL_FAULT_DANGLING_NAME, "its text is not there",
                                   err);
        if (marks) {
            r.as.e.category = is_mark ? f->words.mark : f->words.range;
            r.name = text;
            r.link = ROCL_NO_KEY;
        } else if (wants_alloc) {
            st = put_allocation(f, to, r, frees, text, err);
        }
        if (wants_args && st == ROCL_OK)
            st = put_call_args(f, to, w, id, marks ? (rocl_view){0} : text, err);
    }
    return st == ROCL_OK ? rocl_record_put(to, &r, err) : st;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* What a launch asked for. Grids are counted in blocks, except by calls that count work-items. */
static rocl_status add_launch(const rpd_file *f, rocl_records *to, rpd_worker *w,
                              rocl_source_record *r, uint64_t key, const char *api, uint32_t *name,
                              rocl_error *err)
{
    const bool items = rocl_idset_has(&f->item_sessions, session_of(r->as.dispatch.dispatch_id)) ||
                       !strcmp(api, "hipExtModuleLaunchKernel") ||
                       !strcmp(api, "hipHccModuleLaunchKernel") || r->queue > UINT16_MAX;
    rocl_dispatch *d = &r->as.dispatch;
    const rocl_rows *rows;
    unsigned i;
    int64_t v;
    bool bad = false;
    rocl_status st = find_row(f, w, RPD_KERNEL, key, &rows, &i, err);
    if (st != ROCL_OK || !rows)
        return st;
    r->stream = read_stream(rows, K_STREAM, i);
    for (unsigned axis = 0; axis < 3; axis++) {
        int64_t size;
        read_int(rows, K_WORKGROUP + axis, i, &size, &bad);
        read_int(rows, K_GRID + axis, i, &v, &bad);
        if (size <= 0 || v <= 0 || size > UINT32_MAX || v > UINT32_MAX)
            continue;
        const uint64_t grid = (uint64_t)v * (items ? 1 : (uint64_t)size);
        d->workgroup[axis] = (uint32_t)size;
        d->grid[axis] = grid > UINT32_MAX ? 0 : (uint32_t)grid;
        bad |= grid > UINT32_MAX;
    }
    read_int(rows, K_GROUP, i, &d->group_segment, &bad);
    read_int(rows, K_PRIVATE, i, &d->private_segment, &bad);
    if (bad)
        st = rocl_record_fault(to, r->where, ROCL_FAULT_BAD_VALUE, "a field is no number", err);
    return st == ROCL_OK && !*name ? find_text(f, to, w, read_key(rows, K_NAME, i, &bad), name, err)
                                   : st;
}

static rocl_status add_copy(rpd_file *f, rocl_records *to, rpd_worker *w, rocl_source_record *r,
                            uint64_t key, rocl_error *err)
{
    const rocl_rows *rows;
    unsigned i;
    int64_t size, width, height;
    bool bad = false;
    rocl_status st = find_row(f, w, RPD_COPY, key, &rows, &i, err);
    if (st != ROCL_OK || !rows)
        return st;
    r->stream = read_stream(rows, C_STREAM, i);
    if (!read_int(rows, C_SIZE, i, &size, &bad) && read_int(rows, C_WIDTH, i, &width, &bad) &&
        read_int(rows, C_HEIGHT, i, &height, &bad) && width > 0 && height > 0 &&
        width < INT32_MAX && height < INT32_MAX)
        size = width * height;
    r->as.copy.size = size > 0 ? (uint64_t)size : 0;
    if (size <= 0 && rocl_records_first_pass(to))
        atomic_fetch_add(&f->sizeless, 1);
    return ROCL_OK;
}

/* A number, also as a text: values of monitors are, "2100" or "95.5". */
static bool read_real(const rocl_rows *rows, unsigned column, unsigned i, double *v)
{
    const rocl_view s = read_text(rows, column, i);
    bool bad = false;
    if (rocl_cell_kind(rows, column, i) != ROCL_CELL_TEXT)
        return rocl_cell_real(rows, column, i, v, &bad) && *v - *v == 0;
    return rocl_json_double(s, v) && *v - *v == 0;
}

/* Values of counters that rocpd_counter has of a kernel. */
static rocl_status put_counters(const rpd_file *f, rocl_records *to, rpd_worker *w,
                                const rocl_source_record *dispatch, rocl_error *err)
{
    const uint64_t op = dispatch->as.dispatch.dispatch_id;
    rocl_source_record r = *dispatch;
    rocl_status st = ROCL_OK;
    r.kind = ROCL_COUNTER;
    for (uint64_t k = 0; st == ROCL_OK; k++) {
        uint64_t id = ROCL_NO_KEY;
        const rocl_rows *rows;
        uint32_t name;
        unsigned i;
        bool bad = false;
        st = rocl_lookup_find(f->counters, &w->counters, (rocl_lookup_key){op, k}, &id, err);
        if (st != ROCL_OK || id == ROCL_NO_KEY)
            break;
        if ((st = find_row(f, w, RPD_COUNTER, id, &rows, &i, err)) != ROCL_OK || !rows ||
            !read_real(rows, V_VALUE, i, &r.as.counter.value))
            continue; /* check_counter() counts it */
        st = find_text(f, to, w, read_key(rows, V_NAME, i, &bad), &name, err);
        if (st != ROCL_OK || name == ROCL_NONE)
            continue;
        r.counter.p =
            rocl_strings_get(rocl_records_input_of(to)->trace->strings, name, &r.counter.n);
        st = rocl_record_put(to, &r, err);
    }
    return st;
}

static rocl_status put_op(rpd_file *f, rocl_records *to, rpd_worker *w, unsigned i, rocl_error *err)
{
    static const rocl_key_facts function = {.is_function = true};
    const rocl_rows *rows = w->rows[RPD_OP], *calls = NULL;
    const uint64_t id = (uint64_t)rows->id[i];
    const rocl_trace *trace = rocl_records_input_of(to)->trace;
    const char *api = "";
    rocl_source_record r;
    rocl_status st;
    unsigned k;
    bool bad = false;
    uint32_t name, type, called = ROCL_NONE;
    rocl_record_begin(&r, ROCL_DISPATCH,
                      (uint64_t)RPD_OP << TABLE_SHIFT | (id & (((uint64_t)1 << TABLE_SHIFT) - 1)));
    if (!read_times(rows, O_START, i, &r.as.e))
        return rocl_record_fault(to, r.where, ROCL_FAULT_BAD_TIME, "a time is no number", err);
    r.agent = read_key(rows, O_GPU, i, &bad);
    r.queue = read_queue(rows, O_QUEUE, i, &bad);
    if (f->gpu_stride && r.queue != ROCL_NO_KEY)
        r.queue %= f->gpu_stride;
    const rocl_lookup_key operation_key = {id, 0};
    if (f->links &&
        (st = rocl_lookup_find(f->links, &w->links, operation_key, &r.link, err)) != ROCL_OK)
        return st;
    if ((st = find_text(f, to, w, read_key(rows, O_DESCRIPTION, i, &bad), &name, err)) != ROCL_OK ||
        (st = find_text(f, to, w, read_key(rows, O_TYPE, i, &bad), &type, err)) != ROCL_OK ||
        (st = find_row(f, w, RPD_API, r.link, &calls, &k, err)) != ROCL_OK)
        return st;
    if (calls) {
        set_process(f, &r, read_key(calls, A_PID, k, &bad));
        r.thread = read_key(calls, A_TID, k, &bad);
        st = find_text(f, to, w, read_key(calls, A_NAME, k, &bad), &called, err);
        api = called == ROCL_NONE ? "" : rocl_str(trace, called);
    } else if (r.link != ROCL_NO_KEY) {
        st = rocl_record_fault(to, r.where, ROCL_FAULT_DANGLING_EVENT,
                               "the call that launched it is not there", err);
        r.link = ROCL_NO_KEY;
    }
    if (st == ROCL_OK && (name == ROCL_NONE || type == ROCL_NONE))
        st = rocl_record_fault(to, r.where, ROCL_FAULT_DANGLING_NAME, "its name is not there", err);
    else if (st == ROCL_OK && bad)
        st = rocl_record_fault(to, r.where, ROCL_FAULT_BAD_VALUE, "a field is no number", err);
    if (st != ROCL_OK)
        return st;
    name = name == ROCL_NONE ? 0 : name;
    const char *kind = type == ROCL_NONE ? "" : rocl_str(trace, type);
    const uint64_t key = f->by_op ? id : r.link;
    const rocl_view operation = {kind, strlen(kind)};
    if (*kind && rocprof_is_copy(operation)) {
        st = add_copy(f, to, w, &r, key, err);
        return st == ROCL_OK ? rocprof_op_put(to, &f->words, &r, operation, err) : st;
    }
    /* KernelExecution; Task: a kernel of a graph */
    r.as.dispatch.dispatch_id = id;
    if ((st = add_launch(f, to, w, &r, key, api, &name, err)) != ROCL_OK)
        return st;
    r.symbol = &function;
    r.as.e.category = f->words.kernel;
    r.name = operation;
    if (name != ROCL_NONE && name)
        r.name.p = rocl_strings_get(trace->strings, name, &r.name.n);
    if ((st = rocl_record_put(to, &r, err)) != ROCL_OK || !f->counters)
        return st;
    return put_counters(f, to, w, &r, err);
}

/* ---- monitors -------------------------------------------------------------------------------- */

/* The session that noted a value of a device, which the row does not say: of those that run at a
 * time it is the one that began first. NULL: the file has no calls. */
static const rpd_session *find_monitoring_session(const rpd_file *f, int64_t when)
{
    size_t low = 0, high = f->session_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (f->sessions[middle].latest < when)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == f->session_count && low)
        low--;
    return low < f->session_count ? &f->sessions[low] : NULL;
}

/* A value holds until the next row of its device, that of the last one until the row ends. The
 * numbers of devices are those of the system management, which need not be those of operations:
 * they stay in the name. */
static rocl_status put_monitor(rocl_records *to, const rpd_file *f, rpd_worker *w, unsigned i,
                               rocl_error *err)
{
    const rocl_rows *rows = w->rows[RPD_MONITOR];
    const rocl_view kind = read_text(rows, M_TYPE, i), what = read_text(rows, M_MONITOR, i);
    char name[128];
    rocl_source_record r;
    int64_t device;
    bool bad = false;
    rocl_record_begin(&r, ROCL_SAMPLE,
                      (uint64_t)RPD_MONITOR << TABLE_SHIFT |
                          ((uint64_t)rows->id[i] & (((uint64_t)1 << TABLE_SHIFT) - 1)));
    read_int(rows, M_DEVICE, i, &device, &bad);
    if (!read_times(rows, M_START, i, &r.as.e))
        return rocl_record_fault(to, r.where, ROCL_FAULT_BAD_TIME, "a time is no number", err);
    if (bad || !read_real(rows, M_VALUE, i, &r.as.sample.value))
        return rocl_record_fault(to, r.where, ROCL_FAULT_NO_NUMBER,
                                 "the value of a counter is no number", err);
    const int64_t end = r.as.e.end;
    rocl_sample_value *s = &r.as.sample;
    s->xcc = s->shader_engine = s->instance = s->shader_array = s->wgp = -1;
    r.as.e.end = r.as.e.start;
    r.as.e.category = f->words.spm;
    const rpd_session *session = find_monitoring_session(f, r.as.e.start);
    if (session)
        set_process(f, &r, session->pid);
    const int n = snprintf(name, sizeof name, "%.*s of %.*s %lld", (int)(what.n < 48 ? what.n : 48),
                           what.p, (int)(kind.n < 32 ? kind.n : 32), kind.p, (long long)device);
    r.counter = (rocl_view){name, (size_t)n};
    rocl_status st = rocl_record_put(to, &r, err);
    if (st != ROCL_OK || end <= r.as.e.start ||
        !rocl_map_get(&f->last_monitored, (uint64_t)rows->id[i], 0))
        return st;
    r.as.e.start = r.as.e.end = end;
    r.where |= MONITOR_ENDS;
    return rocl_record_put(to, &r, err);
}

/* The last row of each device and what a session monitored of it. */
static rocl_status find_last_monitored(rpd_file *f, rocl_trace *t, rocl_db *db, rocl_error *err)
{
    rocl_rows *rows = NULL;
    rocl_map series = {0}; /* what a row is about -> index in `last` */
    int64_t *last = NULL;
    size_t count = 0, cap = 0;
    unsigned n = 1;
    bool ok = true;
    if (!f->names[RPD_MONITOR])
        return ROCL_OK;
    rocl_status st = open_rows(f, db, RPD_MONITOR, &rows, err);
    if (st == ROCL_OK)
        st = rocl_rows_seek(rows, INT64_MIN, INT64_MAX, err);
    while (st == ROCL_OK && ok && n &&
           (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK)
        for (unsigned i = 0; i < n && ok; i++) {
            const rocl_view what = read_text(rows, M_MONITOR, i);
            bool bad = false;
            const uint64_t device = read_key(rows, M_DEVICE, i, &bad);
            const uint32_t text = rocl_strings_put(t->strings, what.p, what.n);
            int64_t start;
            read_int(rows, M_START, i, &start, &bad);
            const rpd_session *session = find_monitoring_session(f, start);
            const uint64_t of = session ? session->number : 0;
            const uint64_t key = rocl_mix64(device ^ rocl_mix64(text ^ rocl_mix64(of)));
            uint32_t at = rocl_map_get(&series, key, ROCL_NONE);
            if (at == ROCL_NONE) {
                at = (uint32_t)count;
                ok = text != ROCL_NONE && ROCL_GROW(last, cap, count + 1) &&
                     rocl_map_put(&series, key, at);
                count += ok;
            }
            if (ok)
                last[at] = rows->id[i];
        }
    for (size_t i = 0; i < count && ok && st == ROCL_OK; i++)
        ok = rocl_map_put(&f->last_monitored, (uint64_t)last[i], 1);
    rocl_rows_close(rows);
    rocl_map_free(&series);
    free(last);
    return ok || st ? st : rocl_fail_memory(err);
}

/* ---- rows that belong to records ------------------------------------------------------------- */

/* Of a table whose rows belong to records: those that belong to none are counted. What they say
 * goes out with the records themselves. */
static rocl_status check_row(const rpd_file *f, rocl_records *to, rpd_worker *w, rpd_table t,
                             unsigned i, rocl_error *err)
{
    const rocl_rows *rows = w->rows[t], *owners = NULL;
    const bool of_call = t == RPD_FRAME;
    const uint64_t where =
        (uint64_t)t << TABLE_SHIFT | ((uint64_t)rows->id[i] & (((uint64_t)1 << TABLE_SHIFT) - 1));
    unsigned k = 0;
    bool bad = false;
    uint32_t text = 0;
    uint64_t first;
    double value;
    const uint64_t owner = read_key(rows,
                                    of_call            ? F_API
                                    : t == RPD_COUNTER ? V_OP
                                                       : L_OP,
                                    i, &bad);
    rocl_status st = find_row(f, w, of_call ? RPD_API : RPD_OP, owner, &owners, &k, err);
    if (st != ROCL_OK)
        return st;
    if (!owners)
        return rocl_record_fault(to, where, ROCL_FAULT_ORPHAN_VALUE,
                                 of_call ? "it belongs to no call" : "it belongs to no operation",
                                 err);
    switch (t) {
    case RPD_API_OPS: {
        const uint64_t api = first = read_key(rows, L_API, i, &bad);
        if (api == ROCL_NO_KEY)
            return rocl_record_fault(to, where, ROCL_FAULT_ORPHAN_VALUE, "it names no call", err);
        st = rocl_lookup_find(f->links, &w->links, (rocl_lookup_key){owner, 0}, &first, err);
        if (st == ROCL_OK && first != api)
            st = rocl_record_fault(to, where, ROCL_FAULT_ORPHAN_VALUE,
                                   "another call launched its operation", err);
        return st;
    }
    case RPD_FRAME:
        st = find_frame_text(f, to, w, owner, read_key(rows, F_NAME, i, &bad), &text, err);
        break;
    default:
        st = find_text(f, to, w, read_key(owners, O_TYPE, k, &bad), &text, err);
        if (st == ROCL_OK && text != ROCL_NONE && text) {
            const char *type = rocl_str(rocl_records_input_of(to)->trace, text);
            if (rocprof_is_copy((rocl_view){type, strlen(type)}))
                return rocl_record_fault(to, where, ROCL_FAULT_ORPHAN_VALUE, "it is of a copy",
                                         err);
        }
        if (!read_real(rows, V_VALUE, i, &value))
            return rocl_record_fault(to, where, ROCL_FAULT_NO_NUMBER,
                                     "the value of a counter is no number", err);
        if (st == ROCL_OK)
            st = find_text(f, to, w, read_key(rows, V_NAME, i, &bad), &text, err);
        if (st == ROCL_OK && text == ROCL_NONE)
            return rocl_record_fault(to, where, ROCL_FAULT_ORPHAN_VALUE, "its counter has no name",
                                     err);
    }
    if (st == ROCL_OK && text == ROCL_NONE)
        st = rocl_record_fault(to, where, ROCL_FAULT_DANGLING_NAME, "its name is not there", err);
    return st;
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* GPUs of several machines are called by both numbers: "GPU 2 (node 1)". */
static rocl_status label_gpus(const rpd_file *f, rocl_trace *t, rocl_capture *c, rocl_error *err)
{
    bool several = false;
    for (uint32_t i = 0; f->gpu_stride && i < c->agent_count; i++)
        several |= (uint64_t)c->agents[i].id >= f->gpu_stride;
    for (uint32_t i = 0; several && i < c->agent_count; i++) {
        rocl_agent *a = rocl_definition_at(c, ROCL_DEFINE_AGENT, i);
        const uint64_t number = (uint64_t)a->id;
        char label[64];
        const int n = snprintf(label, sizeof label, "GPU %llu (node %llu)",
                               (unsigned long long)(number % f->gpu_stride),
                               (unsigned long long)(number / f->gpu_stride));
        a->label = rocl_strings_put(t->strings, label, (size_t)n);
        if (a->label == ROCL_NONE)
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

static rocl_status name_units(rocl_trace *t, rocl_capture *c, rocl_error *err)
{
    static const struct {
        const char *begin, *unit;
    } units[] = {{"sclk of ", "MHz"}, {"mclk of ", "MHz"}, {"temp of ", "°C"}, {"power of ", "W"},
                 {"fan% of ", "%"},   {"vram% of ", "%"},  {"gpu% of ", "%"}};
    for (uint32_t i = 0; i < c->counter_count; i++)
        for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
            rocl_counter *counter = rocl_definition_at(c, ROCL_DEFINE_COUNTER, i);
            const char *name = rocl_str(t, counter->name);
            if (strncmp(name, units[k].begin, strlen(units[k].begin)) != 0)
                continue;
            counter->units = rocl_strings_put(t->strings, units[k].unit, strlen(units[k].unit));
            if (counter->units == ROCL_NONE)
                return rocl_fail_memory(err);
        }
    return ROCL_OK;
}

/* Sizes that are lost are no fault of a row, but of all sums of bytes: a remark says so. */
static rocl_status remark_on_sizes(rpd_file *f, rocl_records_input *in, rocl_error *err)
{
    const unsigned long long n = atomic_load(&f->sizeless);
    const char *before = in->source->remark;
    rocl_buf text = {0};
    if (!n)
        return ROCL_OK;
    rocl_buf_printf(&text, "%s%s%llu %s no size: RPD loses those of 2 GiB and more",
                    before ? before : "", before ? "; " : "", n,
                    n == 1 ? "copy has" : "copies have");
    const uint32_t id =
        text.failed ? ROCL_NONE
                    : rocl_strings_put(in->trace->strings, (const char *)text.data, text.len);
    rocl_buf_free(&text);
    if (id == ROCL_NONE)
        return rocl_fail_memory(err);
    in->source->remark = rocl_str(in->trace, id);
    return ROCL_OK;
}

static rocl_status refine_definitions(rocl_records_input *in, rocl_error *err)
{
    rpd_file *f = in->state;
    rocl_capture *c = &in->capture->pub;
    rocl_status st = label_gpus(f, in->trace, c, err);
    if (st == ROCL_OK)
        st = name_units(in->trace, c, err);
    return st ? st : remark_on_sizes(f, in, err);
}

/* ---- the input ------------------------------------------------------------------------------- */

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    rpd_file *f = in->state;
    void **state = rocl_records_state(to);
    rpd_worker *w = *state ? *state : calloc(1, sizeof *w);
    const rpd_table t = piece->part;
    const bool checks = t == RPD_API_OPS || t == RPD_FRAME || t == RPD_COUNTER;
    rocl_status st = ROCL_OK;
    unsigned n = 1;
    *state = w;
    if (!w)
        return rocl_fail_memory(err);
    if (checks && !rocl_records_first_pass(to))
        return ROCL_OK;
    if (!w->db)
        st = rocl_source_connect(&w->db, in->trace, in->source, &f->state, err);
    if (st == ROCL_OK)
        rocl_db_allow_rowids(w->db);
    if (st == ROCL_OK)
        st = open_rows(f, w->db, t, &w->rows[t], err);
    if (st == ROCL_OK)
        st = rocl_rows_seek(w->rows[t], (int64_t)piece->first, (int64_t)piece->last, err);
    while (st == ROCL_OK && n) {
        st = rocl_rows_next(w->rows[t], ROCL_ROWS_BATCH, &n, err);
        for (unsigned i = 0; i < n && st == ROCL_OK; i++)
            st = t == RPD_OP        ? put_op(f, to, w, i, err)
                 : t == RPD_MONITOR ? put_monitor(to, f, w, i, err)
                 : checks           ? check_row(f, to, w, t, i, err)
                                    : put_call(f, to, w, t, i, err);
    }
    return st ? st : rocl_db_check_unchanged(w->db, err);
}

/* Sorts a table outside of memory by what its rows belong to: owner, index -> value, by which the
 * rows of an owner are ordered, or by their numbers in `order`. Columns below 0 are the id. The
 * tables nearly always come in that order, but need not. */
static rocl_status sort_table(rpd_file *f, rocl_trace *t, rocl_db *db, rpd_table table, int owner,
                              int order, int value, rocl_lookup **lookup, rocl_error *err)
{
    rocl_rows *rows = NULL;
    rocl_sorter *sorter = NULL;
    rocl_sort_record rec;
    rocl_lookup_key key = {ROCL_NO_KEY, 0};
    unsigned n = 1;
    bool more;
    if (!f->names[table])
        return ROCL_OK;
    rocl_status st = rocl_lookup_new(lookup, t, err);
    if (st == ROCL_OK && !(sorter = rocl_sorter_new(t->space, 3)))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = open_rows(f, db, table, &rows, err);
    if (st == ROCL_OK)
        st = rocl_rows_seek(rows, INT64_MIN, INT64_MAX, err);
    while (st == ROCL_OK && n && (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK)
        for (unsigned i = 0; i < n && st == ROCL_OK; i++) {
            const int columns[3] = {owner, order, value};
            uint64_t keys[3];
            bool bad = false, all = true;
            for (int k = 0; k < 3; k++) {
                keys[k] = columns[k] < 0 ? (uint64_t)rows->id[i]
                                         : read_key(rows, (unsigned)columns[k], i, &bad);
                all &= keys[k] != ROCL_NO_KEY;
            }
            if (all)
                st = rocl_sorter_add(sorter, 0, keys, NULL, 0, err);
        }
    if (st == ROCL_OK)
        st = rocl_sorter_start(sorter, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(sorter, &rec, &more, err)) == ROCL_OK && more) {
        key.minor = rec.key[0] == key.major ? key.minor + 1 : 0;
        key.major = rec.key[0];
        st = rocl_lookup_add(*lookup, key, rec.key[2], err);
    }
    rocl_rows_close(rows);
    rocl_sorter_free(sorter);
    return st ? st : rocl_lookup_finish(*lookup, err);
}

static int compare_sessions(const void *a, const void *b)
{
    const rpd_session *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : (x->number > y->number) - (x->number < y->number);
}

/* The row of rocpd_api next to an id, on one side of it: its id, pid and a time; false: none. */
static bool find_next_call(sqlite3_stmt *s, uint64_t id, uint64_t *found, int64_t *pid,
                           int64_t *time)
{
    sqlite3_reset(s);
    sqlite3_bind_int64(s, 1, (sqlite3_int64)id);
    const bool any = sqlite3_step(s) == SQLITE_ROW;
    *found = any ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    *pid = any ? sqlite3_column_int64(s, 1) : 0;
    *time = any ? sqlite3_column_int64(s, 2) : 0;
    return any;
}

/* The sessions of which calls are there: pid and times of each by the first and last rows of both
 * series of ids, of calls and from 2^31 on of markers. */
static rocl_status find_sessions(rpd_file *f, sqlite3 *h, rocl_error *err)
{
    sqlite3_stmt *next = NULL, *before = NULL;
    size_t cap = 0;
    bool ok = true;
    int rc = sqlite3_prepare_v2(
        h, "SELECT id, pid, start FROM rocpd_api WHERE id >= ? ORDER BY id LIMIT 1", -1, &next,
        NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(
            h, "SELECT id, pid, end FROM rocpd_api WHERE id < ? ORDER BY id DESC LIMIT 1", -1,
            &before, NULL);
    for (uint64_t from = 0; rc == SQLITE_OK && ok && from < INT64_MAX;) {
        rpd_session s = {0};
        uint64_t id;
        int64_t pid, other_pid, time;
        if (!find_next_call(next, from, &id, &pid, &s.first))
            break;
        s.number = session_of(id);
        s.pid = (uint64_t)pid;
        const uint64_t begin = s.number << 32, markers = begin | (uint64_t)1 << 31;
        from = s.number < INT64_MAX >> 32 ? begin + ((uint64_t)1 << 32) : INT64_MAX;
        find_next_call(before, from, &id, &other_pid, &s.last);
        if (find_next_call(before, markers, &id, &other_pid, &time) && id >= begin && time > s.last)
            s.last = time;
        if (find_next_call(next, markers, &id, &other_pid, &time) && id < from && time < s.first)
            s.first = time;
        if (pid < 0)
            continue;
        ok = ROCL_GROW(f->sessions, cap, f->session_count + 1);
        if (ok)
            f->sessions[f->session_count++] = s;
    }
    sqlite3_finalize(next);
    sqlite3_finalize(before);
    if (!ok)
        return rocl_fail_memory(err);
    if (f->session_count)
        qsort(f->sessions, f->session_count, sizeof *f->sessions, compare_sessions);
    int64_t latest = INT64_MIN;
    for (size_t i = 0; i < f->session_count; i++) {
        latest = f->sessions[i].last > latest ? f->sessions[i].last : latest;
        f->sessions[i].latest = latest;
    }
    return ROCL_OK;
}

/* The sessions of the newer writer (rocprofiler-sdk), whose grids are all work-items: it names
 * copies otherwise, and notes arguments of launches as JSON. */
static rocl_status find_item_sessions(rpd_file *f, sqlite3 *h, rocl_error *err)
{
    sqlite3_stmt *s = NULL;
    char sql[400];
    bool ok = true;
    int rc = sqlite3_prepare_v2(h, "SELECT id FROM rocpd_string WHERE string GLOB 'MEMORY_COPY_*'",
                                -1, &s, NULL);
    while (rc == SQLITE_OK && ok && sqlite3_step(s) == SQLITE_ROW)
        ok = rocl_idset_add(&f->item_sessions, session_of((uint64_t)sqlite3_column_int64(s, 0)));
    sqlite3_finalize(s);
    s = NULL;
    snprintf(sql, sizeof sql,
             "SELECT 1 FROM (SELECT apiName_id, args_id FROM rocpd_api WHERE id BETWEEN ?1 AND ?2 "
             "LIMIT 100000) JOIN rocpd_string n ON n.id = apiName_id AND n.string GLOB "
             "'hip*Launch*' JOIN %s a ON a.id = args_id AND a.string GLOB '{*' LIMIT 1",
             tables[f->names[RPD_USTRING] ? RPD_USTRING : RPD_STRING].name);
    rc = sqlite3_prepare_v2(h, sql, -1, &s, NULL);
    for (size_t i = 0; rc == SQLITE_OK && ok && i < f->session_count; i++) {
        const uint64_t number = f->sessions[i].number;
        if (rocl_idset_has(&f->item_sessions, number))
            continue;
        sqlite3_reset(s);
        sqlite3_bind_int64(s, 1, (sqlite3_int64)(number << 32));
        sqlite3_bind_int64(s, 2, (sqlite3_int64)(number << 32 | UINT32_MAX));
        if (sqlite3_step(s) == SQLITE_ROW)
            ok = rocl_idset_add(&f->item_sessions, number);
    }
    sqlite3_finalize(s);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

/* Tags of rocpd_metadata, and what rows of others say of the sessions. */
static rocl_status read_metadata(rpd_file *f, rocl_db *db, rocl_error *err)
{
    sqlite3_stmt *s = NULL;
    rocl_status st = rocl_db_sqlite(db, err);
    if (st != ROCL_OK)
        return st;
    sqlite3 *h = rocl_db_handle(db);
    int rc = sqlite3_prepare_v2(h, "SELECT tag, CAST(value AS INTEGER) FROM rocpd_metadata", -1, &s,
                                NULL);
    while (rc == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW) {
        const char *tag = (const char *)sqlite3_column_text(s, 0);
        const sqlite3_int64 v = sqlite3_column_int64(s, 1);
        if (tag && v > 0 && !strcmp(tag, "pid_stride"))
            f->pid_stride = (uint64_t)v;
        if (tag && v > 0 && !strcmp(tag, "gpu_stride"))
            f->gpu_stride = (uint64_t)v;
    }
    sqlite3_finalize(s);
    st = find_sessions(f, h, err);
    return st ? st : find_item_sessions(f, h, err);
}

static const char *name_part(const rocl_records_input *in, const rocl_piece *piece)
{
    return ((const rpd_file *)in->state)->names[piece->part];
}

static void close_file(rocl_records_input *in)
{
    rpd_file *f = in->state;
    if (f) {
        rocl_lookup_free(f->links);
        rocl_lookup_free(f->frames);
        rocl_lookup_free(f->counters);
        rocl_idset_free(&f->item_sessions);
        free(f->sessions);
        rocl_map_free(&f->last_monitored);
    }
    free(f);
}

static const rocl_record_format format = {.places = ROCL_PLACES_ROWS,
                                          .row_bits = TABLE_SHIFT,
                                          .keeps = true,
                                          .parse = parse_piece,
                                          .free_worker = free_worker,
                                          .part_name = name_part,
                                          .refine = refine_definitions,
                                          .close = close_file};

/* Finds the tables that are read. */
static rocl_status find_tables(rpd_file *f, rocl_db *db, rocl_error *err)
{
    rocl_db_object *objects = NULL;
    size_t count = 0;
    const rocl_status st = rocl_db_objects(db, &objects, &count, err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        for (size_t t = 0; t < RPD_TABLES && !objects[i].is_view; t++) {
            if (!strcmp(objects[i].name, tables[t].name))
                f->names[t] = tables[t].name;
            if (v1_names[t] && !strcmp(objects[i].name, v1_names[t]) && !f->names[t]) {
                f->names[t] = v1_names[t];
                f->by_op = true;
            }
        }
    rocl_db_objects_free(objects, count);
    return st;
}

static rocl_status open_file(rocl_source *s, rocl_trace *t, rocl_error *err)
{
    rocl_records_input *in;
    rocl_status st = rocl_records_open(&in, s, t, &format, err);
    if (st != ROCL_OK)
        return st;
    rpd_file *f = in->state = calloc(1, sizeof *f);
    if (!f || !rocprof_intern_words(&f->words, t))
        return rocl_fail_memory(err);
    f->tracer = rocl_strings_put(t->strings, "RPD_TRACER", 10);
    f->cuda = rocl_strings_put(t->strings, "CUDA_API", 8);
    f->user = rocl_strings_put(t->strings, "USER_API", 8);
    if (f->tracer == ROCL_NONE || f->cuda == ROCL_NONE || f->user == ROCL_NONE)
        return rocl_fail_memory(err);
    rocl_db_state_of(s->db, &f->state);
    rocl_db_allow_rowids(s->db);
    if (rocl_db_log_truncated(s->db)) {
        s->truncated = true;
        s->remark = "the log beside it (-wal) ends in an incomplete transaction, which is left out";
    }
    if ((st = find_tables(f, s->db, err)) != ROCL_OK ||
        (st = read_metadata(f, s->db, err)) != ROCL_OK ||
        (st = sort_table(f, t, s->db, RPD_API_OPS, L_OP, L_API, L_API, &f->links, err)) ||
        (st = sort_table(f, t, s->db, RPD_FRAME, F_API, F_DEPTH, F_NAME, &f->frames, err)) ||
        (st = sort_table(f, t, s->db, RPD_COUNTER, V_OP, -1, -1, &f->counters, err)))
        return st;
    st = find_last_monitored(f, t, s->db, err);
    for (uint32_t k = 0; k < RPD_RECORDS && st == ROCL_OK; k++)
        if (f->names[k])
            st = rocl_records_cut_table(in, s->db, f->names[k], k, err);
    return st ? st : rocl_records_index(in, err);
}

const rocl_source_ops rocl_rpd_ops = {ROCL_RECORDS_OPS(open_file)};
