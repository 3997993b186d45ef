/* Counter values and API arguments. Both lie in tables that point to an event by id, in any order
 * and without an index. First pass: the values go into a sorter by event id, arguments also by
 * their position, and the ids into a set. Second pass: an event whose id is in the set (an owner)
 * goes into a sorter as well. Then the two sorted streams are merged, and every owner meets its
 * values. */
#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "source/rocpd/rocpd.h"

/* What the id of an owner means: ids of events and of samples are different numbers. */
enum { BY_EVENT, BY_SAMPLE, BY_ARGS, CLASSES };

enum { DROPPED = 0xff };

/* The key of a value; that of an owner is class, owner, row. */
enum { VALUE_CLASS, VALUE_OWNER, VALUE_POSITION, VALUE_ROW, VALUE_KEYS };

/* A record holds it up to the counter where there is no place (of dispatches, of which there are
 * many), up to the name where there is a text, which follows, or all of it. */
typedef struct value {
    double number;
    uint32_t counter;
    uint32_t type, name; /* of an argument */
    int64_t place[5];    /* xcc, shader_engine, instance, shader_array, wgp; -1: none */
} value;

static const value nowhere = {.place = {-1, -1, -1, -1, -1}};

#define PLAIN_SIZE offsetof(value, type)
#define ARG_SIZE   offsetof(value, place)

struct rocpd_join {
    rocpd_set *set;
    rocl_sorter *values, *owners;
    rocl_idset *ids; /* [worker * CLASSES + class] */
    unsigned workers;
    rocl_record value, owner; /* heads of the two streams */
    bool more_values, more_owners;
    rocl_buf group; /* values of the present owner: value structs, for args followed by text */
    rocl_buf sums;  /* of one dispatch: rocl_counter_value, one per counter */
};

rocl_status rocpd_join_new(rocpd_join **out, rocpd_set *s, rocl_error *err)
{
    rocpd_join *j = calloc(1, sizeof *j);
    if (!j)
        return rocl_fail_memory(err);
    j->set = s;
    j->workers = s->trace->opt.jobs;
    j->values = rocl_sorter_new(s->trace->space, VALUE_KEYS);
    j->owners = rocl_sorter_new(s->trace->space, 3);
    j->ids = calloc((size_t)j->workers * CLASSES, sizeof *j->ids);
    if (!j->values || !j->owners || !j->ids) {
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
    for (unsigned i = 0; j->ids && i < j->workers * CLASSES; i++)
        rocl_idset_free(&j->ids[i]);
    free(j->ids);
    rocl_buf_free(&j->group);
    rocl_buf_free(&j->sums);
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
    if (!rocl_idset_add(&j->ids[worker * CLASSES + key[VALUE_CLASS]], key[VALUE_OWNER]))
        return rocl_fail_memory(err);
    return rocl_sorter_add(j->values, worker, key, p, n, err);
}

static rocl_status take_value(rocpd_join *j, unsigned worker, const rocpd_row *r, rocl_error *err)
{
    value v = nowhere;
    int64_t event, sample;
    bool bad = false;
    rocl_status st =
        rocpd_ref(r, V_COUNTER, &r->set->counters, ROCL_FAULT_DANGLING_COUNTER, &v.counter, err);
    if (st != ROCL_OK)
        return st;
    bool any = rocl_cell_real(r->rows, V_VALUE, r->row, &v.number, &bad);
    if (bad)
        return rocpd_fault(r, ROCL_FAULT_BAD_VALUE, err);
    for (unsigned i = 0; i < 5; i++)
        rocl_cell_int(r->rows, V_PLACE + i, r->row, &v.place[i], &bad);
    uint64_t key[VALUE_KEYS] = {[VALUE_ROW] = (uint64_t)r->rows->id[r->row]};
    if (rocl_cell_int(r->rows, V_SAMPLE, r->row, &sample, &bad)) {
        key[VALUE_CLASS] = BY_SAMPLE;
        key[VALUE_OWNER] = (uint64_t)sample;
    } else if (rocl_cell_int(r->rows, V_EVENT, r->row, &event, &bad)) {
        key[VALUE_CLASS] = BY_EVENT;
        key[VALUE_OWNER] = (uint64_t)event;
    } else {
        return rocpd_fault(r, ROCL_FAULT_ORPHAN_VALUE, err);
    }
    if (!any) /* NULL: nothing was counted */
        return ROCL_OK;
    bool placed = memcmp(v.place, nowhere.place, sizeof v.place) != 0;
    return add_value(j, worker, key, &v, placed ? sizeof v : PLAIN_SIZE, err);
}

enum { G_EVENT, G_POSITION, G_TYPE, G_NAME, G_VALUE };

static const char *const arg_columns[] = {"event_id", "position", "type", "name", "value"};

static rocl_status take_arg(rocpd_join *j, unsigned worker, rocl_buf *scratch, const rocpd_row *r,
                            rocl_error *err)
{
    rocl_strings *strings = r->set->trace->strings;
    value v = {0};
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
    rocl_buf_put(scratch, &v, ARG_SIZE);
    rocl_buf_put(scratch, p, n);
    if (scratch->failed || v.type == ROCL_NONE || v.name == ROCL_NONE)
        return rocl_fail_memory(err);
    /* As unsigned numbers, in the order of signed ones. */
    const uint64_t key[VALUE_KEYS] = {BY_ARGS, (uint64_t)event,
                                      (uint64_t)position ^ (UINT64_C(1) << 63),
                                      (uint64_t)r->rows->id[r->row]};
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

static unsigned class_of(rocl_kind kind)
{
    if (kind == ROCL_SPM)
        return BY_SAMPLE;
    return kind == ROCL_REGION || kind == ROCL_MARKER ? BY_ARGS : BY_EVENT;
}

bool rocpd_join_wants(const rocpd_join *j, rocl_kind kind, uint64_t key)
{
    unsigned class = class_of(kind);
    for (unsigned w = 0; w < j->workers; w++) {
        const rocl_idset *ids = &j->ids[w * CLASSES + class];
        if (ids->count && rocl_idset_has(ids, key))
            return true;
    }
    return false;
}

static rocl_status add_owner(rocpd_join *j, unsigned worker, unsigned class, uint64_t id,
                             uint64_t row, uint8_t kind, const void *p, size_t n, rocl_error *err)
{
    uint8_t packed[1 + sizeof(rocl_dispatch)];
    const uint64_t key[3] = {class, id, row};
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
    return add_owner(j, worker, BY_EVENT, id, row, DROPPED, NULL, 0, err);
}

rocl_status rocpd_join_seal(rocpd_join *j, unsigned worker, rocl_error *err)
{
    return rocl_sorter_seal(j->owners, worker, err);
}

/* ---- the merge ---- */

static rocl_status add_to_sum(rocpd_join *j, const rocl_dispatch *d, const value *v)
{
    const rocl_counter *counters = j->set->capture->pub.counters;
    rocl_counter_value *sums = (rocl_counter_value *)(void *)j->sums.data;
    size_t n = j->sums.len / sizeof *sums;
    const rocl_counter *c = v->counter == ROCL_NONE ? NULL : &counters[v->counter];
    /* Instances of one counter may have definitions of their own with the same name and agent. */
    for (size_t i = 0; i < n; i++) {
        const rocl_counter *other =
            sums[i].counter == ROCL_NONE ? NULL : &counters[sums[i].counter];
        if (c == other || (c && other && c->name == other->name && c->agent == other->agent)) {
            sums[i].value += v->number;
            return ROCL_OK;
        }
    }
    rocl_counter_value fresh = {.d = *d, .counter = v->counter, .value = v->number};
    rocl_buf_put(&j->sums, &fresh, sizeof fresh);
    return j->sums.failed ? ROCL_INTERNAL : ROCL_OK;
}

static rocl_status emit_sums(rocpd_join *j, rocpd_worker *w, const rocl_dispatch *d,
                             rocl_error *err)
{
    rocl_status st = ROCL_OK;
    j->sums.len = 0;
    for (size_t at = 0; at + sizeof(value) <= j->group.len; at += sizeof(value)) {
        value v;
        memcpy(&v, j->group.data + at, sizeof v);
        if (add_to_sum(j, d, &v) != ROCL_OK)
            return rocl_fail_memory(err);
    }
    for (size_t at = 0; at < j->sums.len && st == ROCL_OK; at += sizeof(rocl_counter_value))
        st = rocpd_batch_add(j->set, w, ROCL_COUNTER, j->sums.data + at, sizeof(rocl_counter_value),
                             err);
    return st;
}

static rocl_status emit_samples(rocpd_join *j, rocpd_worker *w, rocl_kind kind,
                                const rocl_region *g, rocl_error *err)
{
    const rocl_capture *c = &j->set->capture->pub;
    rocl_status st = ROCL_OK;
    if (!(j->set->kinds & ROCL_BIT(kind)))
        return ROCL_OK;
    for (size_t at = 0; at + sizeof(value) <= j->group.len && st == ROCL_OK; at += sizeof(value)) {
        value v;
        memcpy(&v, j->group.data + at, sizeof v);
        rocl_sample_value out = {.e = g->e,
                                 .counter = v.counter,
                                 .agent = ROCL_NONE,
                                 .value = v.number,
                                 .xcc = v.place[0],
                                 .shader_engine = v.place[1],
                                 .instance = v.place[2],
                                 .shader_array = v.place[3],
                                 .wgp = v.place[4]};
        if (v.counter != ROCL_NONE) {
            out.agent = c->counters[v.counter].agent;
            out.e.name = c->counters[v.counter].name;
        }
        st = rocpd_batch_add(j->set, w, kind, &out, sizeof out, err);
    }
    return st;
}

static rocl_status push_arg(rocpd_worker *w, const value *v, const uint8_t *text, size_t n,
                            rocl_error *err)
{
    char *copy = rocl_arena_dup(&w->arg_text, (const char *)text, n);
    if (!copy || !ROCL_GROW(w->args, w->arg_cap, w->arg_count + 1))
        return rocl_fail_memory(err);
    w->args[w->arg_count++] = (rocl_arg){v->type, v->name, copy, n};
    return ROCL_OK;
}

static rocl_status emit_with_args(rocpd_join *j, rocpd_worker *w, rocl_kind kind, rocl_region *g,
                                  rocl_error *err)
{
    rocl_status st = ROCL_OK;
    /* A flush forgets the arguments in hand: it must not come between them and their region. */
    if (w->out[kind].count == ROCL_ROWS_BATCH)
        st = rocpd_batch_flush(j->set, w, err);
    g->arg_first = (uint32_t)w->arg_count;
    for (size_t at = 0; at < j->group.len && st == ROCL_OK;) {
        value v;
        uint64_t n;
        memcpy(&v, j->group.data + at, sizeof v);
        memcpy(&n, j->group.data + at + sizeof v, sizeof n);
        at += sizeof v + sizeof n;
        st = push_arg(w, &v, j->group.data + at, n, err);
        at += n;
        g->arg_count++;
    }
    return st ? st : rocpd_batch_add(j->set, w, kind, g, sizeof *g, err);
}

static rocl_status serve_owner(rocpd_join *j, rocpd_worker *w, rocl_error *err)
{
    uint8_t kind = j->owner.data[0];
    union {
        rocl_dispatch d;
        rocl_region g;
    } u;
    memcpy(&u, j->owner.data + 1, j->owner.len - 1);
    switch (kind) {
    case DROPPED:
        return ROCL_OK;
    case ROCL_DISPATCH:
        return j->set->kinds & ROCL_BIT(ROCL_COUNTER) ? emit_sums(j, w, &u.d, err) : ROCL_OK;
    case ROCL_SPM:
    case ROCL_SAMPLE:
        return emit_samples(j, w, (rocl_kind)kind, &u.g, err);
    default:
        return emit_with_args(j, w, (rocl_kind)kind, &u.g, err);
    }
}

static rocl_status next_value(rocpd_join *j, rocl_error *err)
{
    return rocl_sorter_next(j->values, &j->value, &j->more_values, err);
}

static rocl_status next_owner(rocpd_join *j, rocl_error *err)
{
    return rocl_sorter_next(j->owners, &j->owner, &j->more_owners, err);
}

static int compare_owner(const uint64_t *a, const uint64_t *b)
{
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return a[1] == b[1] ? 0 : a[1] < b[1] ? -1 : 1;
}

/* Takes the values of one owner into the group. */
static rocl_status gather(rocpd_join *j, const uint64_t *key, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    j->group.len = 0;
    while (st == ROCL_OK && j->more_values && compare_owner(j->value.key, key) == 0) {
        value v = nowhere;
        bool arg = key[0] == BY_ARGS;
        memcpy(&v, j->value.data, arg ? ARG_SIZE : j->value.len);
        rocl_buf_put(&j->group, &v, sizeof v);
        if (arg) {
            uint64_t n = j->value.len - ARG_SIZE;
            rocl_buf_put(&j->group, &n, sizeof n);
            rocl_buf_put(&j->group, j->value.data + ARG_SIZE, n);
        }
        st = j->group.failed ? rocl_fail_memory(err) : next_value(j, err);
    }
    return st;
}

/* Was every table read that could hold the owner of a counter value? */
static bool saw_all_owners(const rocpd_join *j)
{
    const uint32_t samples = ROCL_BIT(ROCL_INSTANT) | ROCL_BIT(ROCL_SPM) | ROCL_BIT(ROCL_SAMPLE);
    const rocpd_set *s = j->set;
    return (!s->tables[ROCPD_KERNEL_DISPATCH] || s->kinds & ROCL_BIT(ROCL_COUNTER)) &&
           (!s->tables[ROCPD_SAMPLE] || s->kinds & samples);
}

static rocl_status orphan(rocpd_join *j, rocl_error *err)
{
    rocpd_table table = j->value.key[VALUE_CLASS] == BY_ARGS ? ROCPD_ARG : ROCPD_PMC_EVENT;
    rocl_status st = ROCL_OK;
    /* Arguments of events of other kinds (copies, marks) are nobody's fault. */
    if (table == ROCPD_PMC_EVENT && saw_all_owners(j))
        st = rocl_fault_count(j->set->trace, ROCL_FAULT_ORPHAN_VALUE, err, "%s: table %s: id %lld",
                              j->set->capture->pub.path, j->set->tables[table],
                              (long long)j->value.key[VALUE_ROW]);
    return st ? st : next_value(j, err);
}

rocl_status rocpd_join_finish(rocpd_join *j, rocpd_worker *w, rocl_error *err)
{
    rocl_status st;
    if ((st = rocl_sorter_start(j->values, err)) || (st = rocl_sorter_start(j->owners, err)) ||
        (st = next_value(j, err)) || (st = next_owner(j, err)))
        return st;
    while (st == ROCL_OK && j->more_values) {
        if (!j->more_owners || compare_owner(j->value.key, j->owner.key) < 0) {
            st = orphan(j, err);
            continue;
        }
        uint64_t key[2] = {j->owner.key[0], j->owner.key[1]};
        st = gather(j, key, err);
        while (st == ROCL_OK && j->more_owners && compare_owner(j->owner.key, key) == 0) {
            st = serve_owner(j, w, err);
            if (st == ROCL_OK)
                st = next_owner(j, err);
        }
    }
    return st ? st : rocpd_batch_flush(j->set, w, err);
}
