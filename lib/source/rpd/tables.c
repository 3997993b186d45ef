/* Tables of an RPD file: their names in all versions, cells, and rows that others refer to. */
#include "source/rpd/tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/order.h"

/* Rows read at once around a lookup; more if no column is read. */
enum { LOOKUP_ROWS = 64 };

const struct rpd_table_columns rpd_tables[RPD_TABLES] = {
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

/* Tables that version 1 kept by operation, and their names. */
static const char *const v1_names[RPD_TABLES] = {
    [RPD_KERNEL] = "rocpd_kernelop", [RPD_COPY] = "rocpd_copyop"};

rocl_status rpd_find_tables(rpd_file *f, rocl_db *db, rocl_error *err)
{
    rocl_db_object *objects = NULL;
    size_t count = 0;
    const rocl_status st = rocl_db_objects(db, &objects, &count, err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        for (size_t t = 0; t < RPD_TABLES && !objects[i].is_view; t++) {
            if (!strcmp(objects[i].name, rpd_tables[t].name))
                f->names[t] = rpd_tables[t].name;
            if (v1_names[t] && !strcmp(objects[i].name, v1_names[t]) && !f->names[t]) {
                f->names[t] = v1_names[t];
                f->by_op = true;
            }
        }
    rocl_db_objects_free(objects, count);
    return st;
}

/* ---- cells ----------------------------------------------------------------------------------- */

bool rpd_read_int(const rocl_rows *rows, unsigned column, unsigned i, int64_t *v, bool *bad)
{
    size_t n = 1;
    *v = 0;
    if (rocl_cell_kind(rows, column, i) == ROCL_CELL_TEXT)
        rocl_cell_text(rows, column, i, &n);
    return n && rocl_cell_int(rows, column, i, v, bad);
}

uint64_t rpd_read_key(const rocl_rows *rows, unsigned column, unsigned i, bool *bad)
{
    int64_t v;
    if (!rpd_read_int(rows, column, i, &v, bad))
        return ROCL_NO_KEY;
    *bad |= v < 0;
    return v < 0 ? ROCL_NO_KEY : (uint64_t)v;
}

uint64_t rpd_read_queue(const rocl_rows *rows, unsigned column, unsigned i, bool *bad)
{
    int64_t v;
    return rpd_read_int(rows, column, i, &v, bad) ? (uint64_t)v & UINT32_MAX : ROCL_NO_KEY;
}

static const char *read_time(const rocl_rows *rows, unsigned column, unsigned i, int64_t *time)
{
    bool bad = false;
    char number[32];
    double v;
    if (rpd_read_int(rows, column, i, time, &bad))
        return NULL;
    if (rocl_cell_kind(rows, column, i) != ROCL_CELL_REAL ||
        !rocl_cell_real(rows, column, i, &v, &bad))
        return rocl_time_fault(rpd_read_text(rows, column, i), 1);
    return rocl_time_fault((rocl_view){number, (size_t)snprintf(number, sizeof number, "%.17g", v)},
                           1);
}

const char *rpd_read_times(const rocl_rows *rows, unsigned start, unsigned i, rocl_event *e)
{
    const char *why = read_time(rows, start, i, &e->start);
    return why ? why : read_time(rows, start + 1, i, &e->end);
}

rocl_view rpd_read_text(const rocl_rows *rows, unsigned column, unsigned i)
{
    rocl_view s;
    s.p = rocl_cell_text(rows, column, i, &s.n);
    return s;
}

uint64_t rpd_read_stream(const rocl_rows *rows, unsigned column, unsigned i)
{
    uint64_t v;
    return rocl_json_uint(rpd_read_text(rows, column, i), &v) ? v : ROCL_NO_KEY;
}

bool rpd_read_real(const rocl_rows *rows, unsigned column, unsigned i, double *v)
{
    const rocl_view s = rpd_read_text(rows, column, i);
    bool bad = false;
    if (rocl_cell_kind(rows, column, i) != ROCL_CELL_TEXT)
        return rocl_cell_real(rows, column, i, v, &bad) && *v - *v == 0;
    return rocl_json_double(s, v) && *v - *v == 0;
}

void rpd_set_process(const rpd_file *f, rocl_source_record *r, uint64_t pid)
{
    r->process = pid;
    if (f->pid_stride && pid != ROCL_NO_KEY && pid >= f->pid_stride)
        r->pid = pid % f->pid_stride;
}

/* ---- joins ----------------------------------------------------------------------------------- */

void rpd_free_worker(void *state)
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

rocl_status rpd_open_rows(const rpd_file *f, rocl_db *db, rpd_table t, rocl_rows **rows,
                          rocl_error *err)
{
    unsigned n = 0;
    while (n < RPD_COLUMNS_MAX && rpd_tables[t].columns[n])
        n++;
    return *rows ? ROCL_OK : rocl_rows_open(rows, db, f->names[t], rpd_tables[t].columns, n, err);
}

rocl_status rpd_find_row(const rpd_file *f, rpd_worker *w, rpd_table t, uint64_t id,
                         const rocl_rows **found, unsigned *i, rocl_error *err)
{
    rocl_rows **rows = &w->joined[t];
    rocl_status st;
    unsigned *n = &w->count[t];
    *found = NULL;
    if (!f->names[t] || id > INT64_MAX)
        return ROCL_OK;
    if (t == RPD_OP && !*rows) { /* only types and existence are needed */
        const char *columns[] = {[O_TYPE] = f->counters ? rpd_tables[t].columns[O_TYPE] : NULL};
        st = rocl_rows_open(rows, w->db, f->names[t], columns, O_TYPE + 1, err);
    } else {
        st = rpd_open_rows(f, w->db, t, rows, err);
    }
    if (st != ROCL_OK)
        return st;
    if (!*n || (int64_t)id < (*rows)->id[0] || (int64_t)id > (*rows)->id[*n - 1]) {
        *n = 0;
        st = rocl_rows_seek(*rows, (int64_t)id, INT64_MAX, err);
        if (st == ROCL_OK)
            st = rocl_rows_next(*rows, t == RPD_OP ? ROCL_ROWS_BATCH : LOOKUP_ROWS, n, err);
        if (st != ROCL_OK)
            return st;
    }
    const unsigned at =
        (unsigned)rocl_count_before(&id, (*rows)->id, *n, sizeof id, rocl_compare_i64);
    if (at < *n && (*rows)->id[at] == (int64_t)id) {
        *found = *rows;
        *i = at;
    }
    return ROCL_OK;
}

rocl_status rpd_find_text(const rpd_file *f, rocl_records *to, rpd_worker *w, uint64_t id,
                          uint32_t *text, rocl_error *err)
{
    const rocl_rows *rows;
    unsigned i;
    *text = rocl_map_get(&w->texts, id, ROCL_NONE);
    if (*text != ROCL_NONE || id == ROCL_NO_KEY)
        return ROCL_OK;
    rocl_status st = rpd_find_row(f, w, RPD_STRING, id, &rows, &i, err);
    if (st != ROCL_OK || !rows)
        return st;
    *text = rocl_records_text(to, rpd_read_text(rows, S_STRING, i));
    return *text != ROCL_NONE && rocl_map_put(&w->texts, id, *text) ? ROCL_OK
                                                                    : rocl_fail_memory(err);
}

/* The writer forgets to add the number of the session to the id. */
rocl_status rpd_find_frame_text(const rpd_file *f, rocl_records *to, rpd_worker *w, uint64_t api,
                                uint64_t name, uint32_t *text, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    *text = ROCL_NONE;
    if (!rpd_session_of(name) && rpd_session_of(api))
        st = rpd_find_text(f, to, w, rpd_session_of(api) << 32 | name, text, err);
    return st != ROCL_OK || *text != ROCL_NONE ? st : rpd_find_text(f, to, w, name, text, err);
}

/* Tables are nearly always in this order, but need not be. */
rocl_status rpd_sort_table(rpd_file *f, rocl_trace *t, rocl_db *db, rpd_table table, int owner,
                           int order, int value, rocl_lookup **lookup, rocl_error *err)
{
    rocl_rows *rows = NULL;
    rocl_sorter *sorter = NULL;
    rocl_sort_record rec;
    rocl_lookup_key key = {ROCL_NO_KEY, 0};
    unsigned n = 1;
    if (!f->names[table])
        return ROCL_OK;
    rocl_status st = rocl_lookup_new(lookup, t, err);
    if (st == ROCL_OK && !(sorter = rocl_sorter_new(t->space, 3)))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = rpd_open_rows(f, db, table, &rows, err);
    if (st == ROCL_OK)
        st = rocl_rows_seek(rows, INT64_MIN, INT64_MAX, err);
    while (st == ROCL_OK && n && (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK)
        for (unsigned i = 0; i < n && st == ROCL_OK; i++) {
            const int columns[3] = {owner, order, value};
            uint64_t keys[3];
            bool bad = false, all = true;
            for (int k = 0; k < 3; k++) {
                keys[k] = columns[k] < 0 ? (uint64_t)rows->id[i]
                                         : rpd_read_key(rows, (unsigned)columns[k], i, &bad);
                all &= keys[k] != ROCL_NO_KEY;
            }
            if (all)
                st = rocl_sorter_add(sorter, 0, keys, NULL, 0, err);
        }
    if (st == ROCL_OK)
        st = rocl_sorter_start(sorter, err);
    while (rocl_sorter_take(sorter, &rec, &st, err)) {
        key.minor = rec.key[0] == key.major ? key.minor + 1 : 0;
        key.major = rec.key[0];
        st = rocl_lookup_add(*lookup, key, rec.key[2], err);
    }
    rocl_rows_close(rows);
    rocl_sorter_free(sorter);
    return st ? st : rocl_lookup_finish(*lookup, err);
}
