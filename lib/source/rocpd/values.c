/* Counter values and API arguments, and the events that own them, on their way into sorters. */
#include <stdlib.h>

#include "base/array.h"
#include "source/rocpd/join.h"

rocl_status rocpd_join_new(rocpd_join **out, rocpd_set *s, rocl_error *err)
{
    rocpd_join *j = calloc(1, sizeof *j);
    if (!j)
        return rocl_fail_memory(err);
    j->set = s;
    j->workers = s->trace->opt.jobs;
    j->values = rocl_sorter_new(s->trace->space, JOIN_KEYS);
    j->owners = rocl_sorter_new(s->trace->space, 3);
    j->seen = rocl_cache_line_calloc(j->workers, sizeof *j->seen);
    if (!j->values || !j->owners || !j->seen) {
        rocpd_join_free(j);
        return rocl_fail_memory(err);
    }
    *out = j;
    return ROCL_OK;
}

void rocpd_join_free(rocpd_join *j)
{
    if (!j)
        return;
    rocl_sorter_free(j->values);
    rocl_sorter_free(j->owners);
    for (unsigned w = 0; j->seen && w < j->workers; w++)
        for (unsigned k = 0; k < JOIN_CLASSES; k++)
            rocl_idset_free(&j->seen[w].of[k].ids);
    free(j->seen);
    free(j);
}

/* ---- first pass ---- */

enum { V_EVENT, V_COUNTER, V_VALUE, V_SAMPLE, V_PLACE };

static const char *const value_columns[] = {"event_id",  "pmc_id",       "value",
                                            "sample_id", "xcc",          "shader_engine",
                                            "instance",  "shader_array", "wgp"};

static rocl_status add_value(rocpd_join *j, unsigned worker, const uint64_t *key, const void *p,
                             size_t n, rocl_error *err)
{
    rocpd_owners *o = &j->seen[worker].of[rocpd_join_class(key)];
    const uint64_t place = key[JOIN_PLACE];
    if (!rocl_idset_add(&o->ids, key[JOIN_OWNER]))
        return rocl_fail_memory(err);
    if (!o->values++ || place < o->first)
        o->first = place;
    if (place > o->last)
        o->last = place;
    return rocl_sorter_add(j->values, worker, key, p, n, err);
}

static rocl_status take_value(rocpd_join *j, unsigned worker, const rocpd_row *r, rocl_error *err)
{
    rocpd_value v = rocpd_value_nowhere;
    int64_t event, sample;
    bool bad = false;
    rocl_status st =
        rocpd_ref(r, V_COUNTER, &r->set->counters, ROCL_FAULT_DANGLING_COUNTER, &v.counter, err);
    if (st != ROCL_OK)
        return st;
    bool any = rocl_cell_real(r->rows, V_VALUE, r->row, &v.number, &bad);
    if (bad || !any) /* SQLite keeps NaN as NULL */
        return rocpd_fault(r, ROCL_FAULT_NO_NUMBER, err);
    for (unsigned i = 0; i < 5; i++)
        rocl_cell_int(r->rows, V_PLACE + i, r->row, &v.place[i], &bad);
    uint64_t key[JOIN_KEYS] = {[JOIN_ROW] = (uint64_t)r->rows->id[r->row]};
    if (rocl_cell_int(r->rows, V_SAMPLE, r->row, &sample, &bad))
        rocpd_join_key(key, JOIN_BY_SAMPLE, (uint64_t)sample);
    else if (rocl_cell_int(r->rows, V_EVENT, r->row, &event, &bad))
        rocpd_join_key(key, JOIN_BY_EVENT, (uint64_t)event);
    else
        return rocpd_fault(r, ROCL_FAULT_ORPHAN_VALUE, err);
    bool placed = memcmp(v.place, rocpd_value_nowhere.place, sizeof v.place) != 0;
    return add_value(j, worker, key, &v, placed ? sizeof v : JOIN_PLAIN_SIZE, err);
}

enum { G_EVENT, G_POSITION, G_TYPE, G_NAME, G_VALUE };

static const char *const arg_columns[] = {"event_id", "position", "type", "name", "value"};

static rocl_status take_arg(rocpd_join *j, unsigned worker, rocl_buf *scratch, const rocpd_row *r,
                            rocl_error *err)
{
    rocl_strings *strings = r->set->trace->strings;
    rocpd_value v = {0};
    int64_t event = 0, position = 0;
    bool bad = false;
    size_t n;
    const char *p;
    if (!rocl_cell_int(r->rows, G_EVENT, r->row, &event, &bad))
        return rocpd_fault(r, ROCL_FAULT_ORPHAN_VALUE, err);
    rocl_cell_int(r->rows, G_POSITION, r->row, &position, &bad);
    p = rocl_cell_text(r->rows, G_TYPE, r->row, &n);
    v.type = rocl_strings_put(strings, p, n);
    p = rocl_cell_text(r->rows, G_NAME, r->row, &n);
    v.name = rocl_strings_put(strings, p, n);
    p = rocl_cell_text(r->rows, G_VALUE, r->row, &n);
    scratch->len = 0;
    rocl_buf_put(scratch, &v, JOIN_ARG_SIZE);
    rocl_buf_put(scratch, p, n);
    if (scratch->failed || v.type == ROCL_NONE || v.name == ROCL_NONE)
        return rocl_fail_memory(err);
    /* As unsigned numbers, in the order of signed ones. */
    uint64_t key[JOIN_KEYS] = {[JOIN_POSITION] = (uint64_t)position ^ (UINT64_C(1) << 63),
                               [JOIN_ROW] = (uint64_t)r->rows->id[r->row]};
    rocpd_join_key(key, JOIN_BY_ARGS, (uint64_t)event);
    return add_value(j, worker, key, scratch->data, scratch->len, err);
}

rocl_status rocpd_join_values(rocpd_join *j, rocpd_worker *w, const rocl_task *task,
                              rocl_error *err)
{
    bool args = task->table == ROCPD_ARG;
    rocpd_row r = {.set = j->set, .table = (rocpd_table)task->table};
    rocl_buf scratch = {0};
    rocl_rows *rows;
    unsigned n = 0;
    rocl_status st =
        args ? rocl_rows_open(&rows, w->db, j->set->tables[ROCPD_ARG], arg_columns,
                              sizeof arg_columns / sizeof *arg_columns, err)
             : rocl_rows_open(&rows, w->db, j->set->tables[ROCPD_PMC_EVENT], value_columns,
                              sizeof value_columns / sizeof *value_columns, err);
    if (st != ROCL_OK)
        return st;
    r.rows = rows;
    st = rocl_rows_seek(rows, task->first, task->last, err);
    while (st == ROCL_OK && (st = rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK && n) {
        for (r.row = 0; r.row < n && st == ROCL_OK; r.row++)
            st = args ? take_arg(j, w->number, &scratch, &r, err)
                      : take_value(j, w->number, &r, err);
        if (!w->to->quiet)
            rocl_progress(j->set->trace, n);
    }
    rocl_buf_free(&scratch);
    rocl_rows_close(rows);
    return st ? st : rocl_sorter_seal(j->values, w->number, err);
}

/* ---- second pass ---- */

static rocpd_class class_of(rocl_kind kind)
{
    if (kind == ROCL_SPM)
        return JOIN_BY_SAMPLE;
    return kind == ROCL_REGION || kind == ROCL_MARKER ? JOIN_BY_ARGS : JOIN_BY_EVENT;
}

bool rocpd_join_wants(const rocpd_join *j, rocl_kind kind, uint64_t key)
{
    rocpd_class class = class_of(kind);
    for (unsigned w = 0; w < j->workers; w++) {
        const rocl_idset *ids = &j->seen[w].of[class].ids;
        if (ids->count && rocl_idset_has(ids, key))
            return true;
    }
    return false;
}

static rocl_status add_owner(rocpd_join *j, unsigned worker, rocpd_class class, uint64_t id,
                             uint64_t row, uint8_t kind, const void *p, size_t n, rocl_error *err)
{
    uint8_t packed[1 + sizeof(rocl_dispatch)];
    uint64_t key[3] = {[2] = row};
    rocpd_join_key(key, class, id);
    packed[0] = kind;
    if (n)
        memcpy(packed + 1, p, n);
    return rocl_sorter_add(j->owners, worker, key, packed, 1 + n, err);
}

rocl_status rocpd_join_owner(rocpd_join *j, unsigned worker, rocl_kind kind, uint64_t id,
                             uint64_t row, const void *record, rocl_error *err)
{
    /* The owner of SPM and sampled values is a sample row: a region record. */
    rocl_kind as = kind == ROCL_DISPATCH ? ROCL_DISPATCH : ROCL_REGION;
    return add_owner(j, worker, class_of(kind), id, row, (uint8_t)kind, record, rocl_kind_size(as),
                     err);
}

rocl_status rocpd_join_dropped(rocpd_join *j, unsigned worker, uint64_t id, uint64_t row,
                               rocl_error *err)
{
    if (!rocpd_join_wants(j, ROCL_COUNTER, id))
        return ROCL_OK;
    return add_owner(j, worker, JOIN_BY_EVENT, id, row, JOIN_DROPPED, NULL, 0, err);
}

rocl_status rocpd_join_seal(rocpd_join *j, unsigned worker, rocl_error *err)
{
    return rocl_sorter_seal(j->owners, worker, err);
}
