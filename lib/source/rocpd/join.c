/* Counter values and API arguments meet the events that own them. Both lie in tables that point to
 * an event by id, in any order and without an index. First pass: the values go into a sorter by
 * event id, arguments also by their position, and the ids into a set. Second pass: an event whose
 * id is in the set (an owner) goes into a sorter as well. Then the two sorted streams are merged,
 * in ranges that need nothing of each other, and every owner meets its values. */
#include <math.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/map.h"
#include "model/collectives.h"
#include "source/rocpd/rocpd.h"

/* What the id of an owner means: ids of events and of samples are different numbers. */
typedef enum owner_class { JOIN_BY_EVENT, JOIN_BY_SAMPLE, JOIN_BY_ARGS, JOIN_CLASSES } owner_class;

/* Stands for the kind of an owner that is not in the trace. */
enum { JOIN_DROPPED = 0xff };

/* The key of a value; that of an owner has its row after the first two words. The place is the
 * class and as much of the owner's id as fits. */
enum { JOIN_PLACE, JOIN_OWNER, JOIN_POSITION, JOIN_ROW, JOIN_KEYS };
#define JOIN_CLASS_SHIFT 62

static void set_key(uint64_t *key, owner_class class, uint64_t owner)
{
    key[JOIN_PLACE] = (uint64_t) class << JOIN_CLASS_SHIFT | owner >> (64 - JOIN_CLASS_SHIFT);
    key[JOIN_OWNER] = owner;
}

static owner_class key_class(const uint64_t *key)
{
    return (owner_class)(key[JOIN_PLACE] >> JOIN_CLASS_SHIFT);
}

/* A record holds only its beginning: up to the counter without a place (most values of dispatches),
 * up to the name if a text follows, or all of it. */
typedef struct join_value {
    double number;
    uint32_t counter;
    uint32_t type, name; /* of an argument */
    int64_t place[5];    /* xcc, shader_engine, instance, shader_array, wgp; -1: none */
    uint64_t row;        /* of the table of values, from the key: collect_group() */
} join_value;

static const join_value value_nowhere = {.place = {-1, -1, -1, -1, -1}};

#define JOIN_PLAIN_SIZE  offsetof(join_value, type)
#define JOIN_ARG_SIZE    offsetof(join_value, place)
#define JOIN_PLACED_SIZE offsetof(join_value, row)

/* The owners that values of one class point to. */
typedef struct join_owners {
    rocl_idset ids;
    uint64_t values;      /* how many */
    uint64_t first, last; /* places */
} join_owners;

typedef struct join_worker { /* by a worker */
    alignas(ROCL_CACHE_LINE) join_owners of[JOIN_CLASSES];
} join_worker;

struct rocpd_join {
    rocpd_set *set;
    rocl_sorter *values, *owners;
    join_worker *seen;
    unsigned workers;
};

rocl_status rocpd_join_new(rocpd_join **out, rocpd_set *s, rocl_error *err)
{
    rocpd_join *j = *out = calloc(1, sizeof *j);
    if (!j)
        return rocl_fail_memory(err);
    j->set = s;
    j->workers = s->trace->opt.jobs;
    j->values = rocl_sorter_new(s->trace->space, JOIN_KEYS);
    j->owners = rocl_sorter_new(s->trace->space, 3);
    j->seen = rocl_cache_line_calloc(j->workers, sizeof *j->seen);
    return j->values && j->owners && j->seen ? ROCL_OK : rocl_fail_memory(err);
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

/* ---- first pass: values ------------------------------------------------------------------- */

enum { V_EVENT, V_COUNTER, V_VALUE, V_SAMPLE, V_PLACE };

static const char *const value_columns[] = {"event_id",  "pmc_id",       "value",
                                            "sample_id", "xcc",          "shader_engine",
                                            "instance",  "shader_array", "wgp"};

typedef struct value_reader {
    rocpd_join *join;
    unsigned worker;
    rocl_buf scratch;
} value_reader;

static rocl_status add_value(const value_reader *to, const uint64_t *key, const void *p, size_t n,
                             rocl_error *err)
{
    join_owners *o = &to->join->seen[to->worker].of[key_class(key)];
    const uint64_t place = key[JOIN_PLACE];
    if (!rocl_idset_add(&o->ids, key[JOIN_OWNER]))
        return rocl_fail_memory(err);
    if (!o->values++ || place < o->first)
        o->first = place;
    if (place > o->last)
        o->last = place;
    return rocl_sorter_add(to->join->values, to->worker, key, p, n, err);
}

static rocl_status read_value(const rocpd_row *r, void *ctx, rocl_error *err)
{
    const value_reader *to = ctx;
    join_value v = value_nowhere;
    int64_t event, sample;
    bool bad = false;
    rocl_status st = rocpd_read_ref(r, V_COUNTER, &r->set->counters, ROCL_FAULT_DANGLING_COUNTER,
                                    &v.counter, err);
    if (st != ROCL_OK)
        return st;
    bool any = rocl_cell_real(r->rows, V_VALUE, r->row, &v.number, &bad);
    if (bad || !any || !isfinite(v.number)) /* SQLite keeps NaN as NULL */
        return rocpd_count_fault(r, ROCL_FAULT_NO_NUMBER, err);
    for (unsigned i = 0; i < 5; i++)
        rocl_cell_int(r->rows, V_PLACE + i, r->row, &v.place[i], &bad);
    uint64_t key[JOIN_KEYS] = {[JOIN_ROW] = (uint64_t)r->rows->id[r->row]};
    if (rocl_cell_int(r->rows, V_SAMPLE, r->row, &sample, &bad))
        set_key(key, JOIN_BY_SAMPLE, (uint64_t)sample);
    else if (rocl_cell_int(r->rows, V_EVENT, r->row, &event, &bad))
        set_key(key, JOIN_BY_EVENT, (uint64_t)event);
    else
        return rocpd_count_fault(r, ROCL_FAULT_ORPHAN_VALUE, err);
    bool placed = memcmp(v.place, value_nowhere.place, sizeof v.place) != 0;
    return add_value(to, key, &v, placed ? JOIN_PLACED_SIZE : JOIN_PLAIN_SIZE, err);
}

enum { G_EVENT, G_POSITION, G_TYPE, G_NAME, G_VALUE };

static const char *const arg_columns[] = {"event_id", "position", "type", "name", "value"};

static rocl_status read_arg(const rocpd_row *r, void *ctx, rocl_error *err)
{
    value_reader *to = ctx;
    rocl_buf *scratch = &to->scratch;
    rocl_strings *strings = r->set->trace->strings;
    join_value v = {0};
    int64_t event = 0, position = 0;
    bool bad = false;
    size_t n;
    const char *p;
    if (!rocl_cell_int(r->rows, G_EVENT, r->row, &event, &bad))
        return rocpd_count_fault(r, ROCL_FAULT_ORPHAN_VALUE, err);
    rocl_cell_int(r->rows, G_POSITION, r->row, &position, &bad);
    p = rocl_cell_text(r->rows, G_NAME, r->row, &n);
    const rocl_trace *t = r->set->trace;
    if (!t->opt.args && !rocl_is_handle(p, n) &&
        !(t->opt.collectives && rocl_is_of_collective(p, n)))
        return ROCL_OK;
    v.name = rocl_strings_put(strings, p, n);
    p = rocl_cell_text(r->rows, G_TYPE, r->row, &n);
    v.type = rocl_strings_put(strings, p, n);
    p = rocl_cell_text(r->rows, G_VALUE, r->row, &n);
    scratch->len = 0;
    rocl_buf_put(scratch, &v, JOIN_ARG_SIZE);
    rocl_buf_put(scratch, p, n);
    if (scratch->failed || v.type == ROCL_NONE || v.name == ROCL_NONE)
        return rocl_fail_memory(err);
    /* As unsigned numbers, in the order of signed ones. */
    uint64_t key[JOIN_KEYS] = {[JOIN_POSITION] = (uint64_t)position ^ (UINT64_C(1) << 63),
                               [JOIN_ROW] = (uint64_t)r->rows->id[r->row]};
    set_key(key, JOIN_BY_ARGS, (uint64_t)event);
    return add_value(to, key, scratch->data, scratch->len, err);
}

rocl_status rocpd_join_values(rocpd_join *j, rocpd_worker *w, const rocl_task *task,
                              rocl_error *err)
{
    const bool args = task->table == SCHEMA_ARG;
    rocpd_row r = {
        .set = j->set, .table = (schema_table)task->table, .progress = !w->out.to->quiet};
    value_reader to = {.join = j, .worker = w->out.worker};
    rocl_status st =
        args
            ? rocpd_each_row(&r, w->db, arg_columns, sizeof arg_columns / sizeof *arg_columns, task,
                             read_arg, &to, err)
            : rocpd_each_row(&r, w->db, value_columns, sizeof value_columns / sizeof *value_columns,
                             task, read_value, &to, err);
    rocl_buf_free(&to.scratch);
    return st ? st : rocl_sorter_seal(j->values, to.worker, err);
}

/* ---- second pass: owners ------------------------------------------------------------------ */

/* What follows the kind in an owner's record; its length says whether there is a packet. */
typedef union owner_record {
    rocl_dispatch d;
    struct {
        rocl_dispatch d;
        rocl_packet packet;
    } with;
    rocl_region g;
} owner_record;

static owner_class class_of(rocl_kind kind)
{
    if (kind == ROCL_SPM)
        return JOIN_BY_SAMPLE;
    return kind == ROCL_COUNTER || kind == ROCL_SAMPLE ? JOIN_BY_EVENT : JOIN_BY_ARGS;
}

bool rocpd_join_wants(const rocpd_join *j, rocl_kind kind, uint64_t key)
{
    owner_class class = class_of(kind);
    for (unsigned w = 0; w < j->workers; w++) {
        const rocl_idset *ids = &j->seen[w].of[class].ids;
        if (ids->count && rocl_idset_has(ids, key))
            return true;
    }
    return false;
}

bool rocpd_join_wants_any(const rocpd_join *j, rocl_kind kind)
{
    owner_class class = class_of(kind);
    unsigned w = 0;
    while (w < j->workers && !j->seen[w].of[class].ids.count)
        w++;
    return w < j->workers;
}

rocl_status rocpd_join_add_owner(rocpd_join *j, unsigned worker, rocl_kind kind, uint64_t id,
                                 uint64_t row, const void *record, const rocl_packet *packet,
                                 rocl_error *err)
{
    /* The owner of SPM and sampled values is a sample row: a region record. */
    const bool work = kind == ROCL_DISPATCH || kind == ROCL_COUNTER;
    const rocl_kind as = work ? ROCL_DISPATCH : ROCL_REGION;
    size_t n = record ? rocl_kind_size(as) : 0;
    uint8_t bytes[1 + sizeof(owner_record)] = {record ? (uint8_t)kind : JOIN_DROPPED};
    uint64_t key[3] = {[2] = row};
    set_key(key, class_of(kind), id);
    if (n)
        memcpy(bytes + 1, record, n);
    if (packet) {
        memcpy(bytes + 1 + offsetof(owner_record, with.packet), packet, sizeof *packet);
        n = offsetof(owner_record, with.packet) + sizeof *packet;
    }
    return rocl_sorter_add(j->owners, worker, key, bytes, 1 + n, err);
}

rocl_status rocpd_join_seal(rocpd_join *j, unsigned worker, rocl_error *err)
{
    return rocl_sorter_seal(j->owners, worker, err);
}

/* ---- the merge ------------------------------------------------------------------------------- */

typedef struct merge { /* of a range of keys */
    const rocpd_join *join;
    rocl_batcher *out;
    size_t range;
    rocl_sort_record value, owner; /* heads of the two streams */
    bool more_values, more_owners;
    rocl_buf group;    /* values of the present owner: join_values, for args followed by text */
    rocl_buf sums;     /* of one dispatch: rocl_counter_value, one per counter */
    rocl_buf samples;  /* of the present event: samples */
    rocl_map by_track; /* name of a track -> its first sample that has no value yet */
    rocl_map many;     /* counter and position -> its values at the present event */
    bool of_dispatch;  /* the present event is also one of a dispatch */
} merge;

typedef struct sample {
    rocl_region g;
    uint32_t next; /* of the same track; ROCL_NONE: it is the last */
} sample;

/* Copies the next value of the group; false at its end. For values without a text behind. */
static bool next_of_group(const merge *m, size_t *at, join_value *v)
{
    if (*at + sizeof *v > m->group.len)
        return false;
    memcpy(v, m->group.data + *at, sizeof *v);
    *at += sizeof *v;
    return true;
}

/* ---- values of a dispatch -------------------------------------------------------------------- */

/* Instances of one counter may have definitions of their own with the same name and agent. */
static bool is_same_counter(const merge *m, uint32_t a, uint32_t b)
{
    if (a == b || a == ROCL_NONE || b == ROCL_NONE)
        return a == b;
    const rocl_counter *counters = m->join->set->capture->pub.counters;
    return counters[a].name == counters[b].name && counters[a].agent == counters[b].agent;
}

/* Adds the instances of the sum that was added last. */
static rocl_status add_instances(merge *m, uint32_t counter, uint32_t *first, rocl_error *err)
{
    join_value v;
    *first = 0;
    for (size_t at = 0; next_of_group(m, &at, &v);) {
        if (!is_same_counter(m, v.counter, counter))
            continue;
        int32_t place[5];
        for (unsigned i = 0; i < 5; i++)
            place[i] = v.place[i] < 0 || v.place[i] > INT32_MAX ? -1 : (int32_t)v.place[i];
        const uint32_t index = rocl_batcher_instance(
            m->out, &(rocl_instance){v.number, place[0], place[1], place[2], place[3], place[4]});
        if (!index)
            return rocl_fail_memory(err);
        *first = *first ? *first : index;
    }
    return ROCL_OK;
}

/* Emits the sum of each counter over its instances, or each value where that is wanted. */
static rocl_status emit_values(merge *m, const rocl_dispatch *d, const rocl_packet *packet,
                               rocl_error *err)
{
    const bool each = m->out->to->fields & ROCL_FIELD_INSTANCES;
    rocl_status st = ROCL_OK;
    join_value v;
    m->sums.len = 0;
    for (size_t at = 0; next_of_group(m, &at, &v);) {
        rocl_counter_value *sums = (rocl_counter_value *)(void *)m->sums.data;
        size_t n = m->sums.len / sizeof *sums, i = 0;
        while (i < n && (each || !is_same_counter(m, v.counter, sums[i].counter)))
            i++;
        if (i < n) {
            sums[i].value += v.number;
            sums[i].instances += sums[i].instances ? 1 : 2;
            if (v.number < sums[i].min)
                sums[i].min = v.number;
            if (v.number > sums[i].max)
                sums[i].max = v.number;
            continue;
        }
        /* A single row may already be a sum, so the number of instances is unknown. */
        rocl_counter_value fresh = {.d = *d,
                                    .counter = v.counter,
                                    .value = v.number,
                                    .min = v.number,
                                    .max = v.number,
                                    .row = v.row};
        rocl_buf_put(&m->sums, &fresh, sizeof fresh);
        if (m->sums.failed)
            return rocl_fail_memory(err);
    }
    for (size_t at = 0; at < m->sums.len && st == ROCL_OK; at += sizeof(rocl_counter_value)) {
        rocl_counter_value *of = (rocl_counter_value *)(void *)(m->sums.data + at);
        if (of->instances && m->out->to->fields & ROCL_FIELD_PLACES) {
            if (m->out->out[ROCL_COUNTER].count == m->out->max) /* which forgets instances */
                st = rocl_batcher_flush(m->out, err);
            if (st == ROCL_OK)
                st = add_instances(m, of->counter, &of->instance, err);
        }
        if (st == ROCL_OK)
            st = rocl_batcher_add_dispatch(m->out, ROCL_COUNTER, &of->d, packet, err);
    }
    return st;
}

/* ---- sampled and streamed values ------------------------------------------------------------- */

static rocl_status emit_sample(const merge *m, rocl_kind kind, const rocl_region *g,
                               const join_value *v, rocl_error *err)
{
    rocl_sample_value out = {.e = g->e,
                             .counter = v->counter,
                             .agent = ROCL_NONE,
                             .value = v->number,
                             .xcc = v->place[0],
                             .shader_engine = v->place[1],
                             .instance = v->place[2],
                             .shader_array = v->place[3],
                             .wgp = v->place[4]};
    if (v->counter != ROCL_NONE) {
        const rocl_counter *c = &m->join->set->capture->pub.counters[v->counter];
        out.agent = c->agent;
        out.e.name = c->name;
    }
    return rocl_batcher_add(m->out, kind, &out, sizeof out, err);
}

/* rocprofiler-systems writes one event per tick, and for every counter a value and a sample of this
 * event. Only its name tells which sample a value belongs to: the name of the counter is that of
 * the track, in some versions followed by a device. All have the same time, so any other sample of
 * the event will do, too. */
static const sample *find_sample(merge *m, const join_value *v)
{
    const sample *all = (const sample *)(const void *)m->samples.data;
    if (v->counter == ROCL_NONE)
        return all;
    const uint64_t track = m->join->set->capture->pub.counters[v->counter].name;
    uint32_t i = rocl_map_get(&m->by_track, track, ROCL_NONE);
    if (i == ROCL_NONE)
        return all;
    if (all[i].next != ROCL_NONE)
        rocl_map_replace(&m->by_track, track, all[i].next);
    return &all[i];
}

/* Hashes a counter at a position. */
static uint64_t hash_series(const join_value *v)
{
    uint64_t key = v->counter;
    for (unsigned i = 0; i < sizeof v->place / sizeof *v->place; i++)
        key = rocl_mix64(key ^ (uint64_t)v->place[i]);
    return key;
}

/* Emits every value once. */
static rocl_status emit_samples(merge *m, rocl_error *err)
{
    const rocl_counter *counters = m->join->set->capture->pub.counters;
    sample *all = (sample *)(void *)m->samples.data;
    rocl_map nth = {0};
    rocl_status st = ROCL_OK;
    join_value v;
    bool ok = true;
    for (size_t i = m->samples.len / sizeof *all; i-- && ok;) {
        const uint64_t track = all[i].g.function;
        all[i].next = rocl_map_get(&m->by_track, track, ROCL_NONE);
        ok = rocl_map_put(&m->by_track, track, (uint32_t)i);
    }
    for (size_t at = 0; ok && next_of_group(m, &at, &v);) {
        const uint64_t key = hash_series(&v);
        ok = rocl_map_put(&m->many, key, rocl_map_get(&m->many, key, 0) + 1);
    }
    if (!ok)
        st = rocl_fail_memory(err);
    for (size_t at = 0; st == ROCL_OK && next_of_group(m, &at, &v);) {
        const uint64_t key = hash_series(&v);
        const sample *s = find_sample(m, &v);
        /* Several values of a counter at one time: either there are two counters (a row of
         * rocpd_info_pmc for two has two consecutive definitions), or it has instances whose
         * numbers are not stored. */
        if (rocl_map_get(&m->many, key, 0) > 1) {
            uint32_t n = rocl_map_get(&nth, key, 0), c = v.counter;
            if (c && c != ROCL_NONE && counters[c - 1].id == counters[c].id)
                v.counter -= n & 1;
            else if (v.place[2] < 0)
                v.place[2] = n;
            if (!rocl_map_put(&nth, key, n + 1))
                st = rocl_fail_memory(err);
        }
        if (st == ROCL_OK)
            st = emit_sample(m, ROCL_SAMPLE, &s->g, &v, err);
    }
    rocl_map_free(&nth);
    rocl_map_free(&m->many);
    rocl_map_free(&m->by_track);
    return st;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* Adds the arguments in the group to the pending ones. A flush drops those, so it comes first if
 * the batch of the kind has no room for their owner. */
static rocl_status take_args(merge *m, rocl_kind kind, uint32_t *first, uint32_t *count,
                             rocl_error *err)
{
    rocl_batcher *out = m->out;
    rocl_status st = ROCL_OK;
    if (out->out[kind].count == out->max)
        st = rocl_batcher_flush(out, err);
    *first = (uint32_t)out->arg_count;
    join_value v;
    for (size_t at = 0; st == ROCL_OK && next_of_group(m, &at, &v);) {
        uint64_t n;
        memcpy(&n, m->group.data + at, sizeof n);
        at += sizeof n;
        if (!rocl_batcher_arg(out, v.type, v.name, (const char *)m->group.data + at, n))
            return rocl_fail_memory(err);
        at += n;
        ++*count;
    }
    return st;
}

/* ---- owners ---------------------------------------------------------------------------------- */

/* Emits the values in the group with the owner at the head, or keeps it among the samples. */
static rocl_status emit_owner(merge *m, rocl_error *err)
{
    const uint32_t kinds = m->join->set->kinds;
    uint8_t kind = m->owner.data[0];
    rocl_status st = ROCL_OK;
    owner_record u;
    join_value v;
    memcpy(&u, m->owner.data + 1, m->owner.len - 1);
    const rocl_packet *packet = m->owner.len - 1 > sizeof u.d ? &u.with.packet : NULL;
    switch (kind) {
    case JOIN_DROPPED:
        return ROCL_OK;
    case ROCL_COUNTER:
        m->of_dispatch = true;
        return kinds & ROCL_BIT(ROCL_COUNTER) ? emit_values(m, &u.d, packet, err) : ROCL_OK;
    case ROCL_DISPATCH:
        st = take_args(m, ROCL_DISPATCH, &u.d.arg_first, &u.d.arg_count, err);
        return st ? st : rocl_batcher_add_dispatch(m->out, ROCL_DISPATCH, &u.d, packet, err);
    case ROCL_SPM: /* streamed values point to the sample that they are of */
        for (size_t at = 0;
             kinds & ROCL_BIT(ROCL_SPM) && st == ROCL_OK && next_of_group(m, &at, &v);)
            st = emit_sample(m, ROCL_SPM, &u.g, &v, err);
        return st;
    case ROCL_SAMPLE:
        if (!(kinds & ROCL_BIT(ROCL_SAMPLE)))
            return ROCL_OK;
        rocl_buf_put(&m->samples, &(sample){u.g, ROCL_NONE}, sizeof(sample));
        return m->samples.failed ? rocl_fail_memory(err) : ROCL_OK;
    default:
        st = take_args(m, (rocl_kind)kind, &u.g.arg_first, &u.g.arg_count, err);
        return st ? st : rocl_batcher_add(m->out, (rocl_kind)kind, &u.g, sizeof u.g, err);
    }
}

static rocl_status next_value(merge *m, rocl_error *err)
{
    return rocl_sorter_next_of(m->join->values, m->range, &m->value, &m->more_values, err);
}

static rocl_status next_owner(merge *m, rocl_error *err)
{
    return rocl_sorter_next_of(m->join->owners, m->range, &m->owner, &m->more_owners, err);
}

static int compare_owner(const uint64_t *a, const uint64_t *b)
{
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return a[1] == b[1] ? 0 : a[1] < b[1] ? -1 : 1;
}

/* Collects the values of one owner in the group. */
static rocl_status collect_group(merge *m, const uint64_t *key, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    m->group.len = 0;
    while (st == ROCL_OK && m->more_values && compare_owner(m->value.key, key) == 0) {
        join_value v = value_nowhere;
        bool arg = key_class(key) == JOIN_BY_ARGS;
        memcpy(&v, m->value.data, arg ? JOIN_ARG_SIZE : m->value.len);
        v.row = m->value.key[JOIN_ROW];
        rocl_buf_put(&m->group, &v, sizeof v);
        if (arg) {
            uint64_t n = m->value.len - JOIN_ARG_SIZE;
            rocl_buf_put(&m->group, &n, sizeof n);
            rocl_buf_put(&m->group, m->value.data + JOIN_ARG_SIZE, n);
        }
        st = m->group.failed ? rocl_fail_memory(err) : next_value(m, err);
    }
    return st;
}

rocl_status rocpd_join_range(const rocpd_join *j, size_t range, rocpd_worker *w, rocl_error *err)
{
    const uint32_t samples = ROCL_BIT(ROCL_INSTANT) | ROCL_BIT(ROCL_SPM) | ROCL_BIT(ROCL_SAMPLE);
    const rocpd_set *s = j->set;
    merge m = {.join = j, .out = &w->out, .range = range};
    rocl_status st = next_value(&m, err);
    if (st == ROCL_OK)
        st = next_owner(&m, err);
    while (st == ROCL_OK && m.more_values) {
        if (!m.more_owners || compare_owner(m.value.key, m.owner.key) < 0) {
            /* No owner in the trace. Arguments of events of other kinds (copies, marks) are not
             * faults, nor is a value whose owner may be in a table that was not read. */
            if (key_class(m.value.key) != JOIN_BY_ARGS &&
                (!s->tables[SCHEMA_DISPATCH] || s->kinds & ROCL_BIT(ROCL_COUNTER)) &&
                (!s->tables[SCHEMA_SAMPLE] || s->kinds & samples))
                st = rocl_fault_count(s->trace, ROCL_FAULT_ORPHAN_VALUE, err,
                                      "%s: table %s: id %lld", s->capture->pub.path,
                                      s->tables[SCHEMA_VALUE], (long long)m.value.key[JOIN_ROW]);
            if (st == ROCL_OK)
                st = next_value(&m, err);
            continue;
        }
        uint64_t key[2] = {m.owner.key[0], m.owner.key[1]};
        st = collect_group(&m, key, err);
        m.samples.len = 0;
        m.of_dispatch = false;
        while (st == ROCL_OK && m.more_owners && compare_owner(m.owner.key, key) == 0) {
            st = emit_owner(&m, err);
            if (st == ROCL_OK)
                st = next_owner(&m, err);
        }
        if (st == ROCL_OK && m.samples.len && !m.of_dispatch)
            st = emit_samples(&m, err);
    }
    if (st == ROCL_OK)
        st = rocl_batcher_flush(m.out, err);
    rocl_buf_free(&m.group);
    rocl_buf_free(&m.sums);
    rocl_buf_free(&m.samples);
    return st;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Approximate number of values of a range: enough to be worth a task. */
#define RANGE_VALUES 16384
#define RANGES_MAX   64

rocl_status rocpd_join_start(rocpd_join *j, size_t most, size_t *ranges, rocl_error *err)
{
    join_owners sums[JOIN_CLASSES];
    rocl_sort_bound bounds[RANGES_MAX];
    uint64_t total = 0;
    size_t n = 0;
    most = most < RANGES_MAX ? most : RANGES_MAX;
    for (unsigned k = 0; k < JOIN_CLASSES; k++) {
        sums[k] = (join_owners){.first = UINT64_MAX};
        for (unsigned w = 0; w < j->workers; w++) {
            const join_owners *o = &j->seen[w].of[k];
            if (!o->values)
                continue;
            sums[k].values += o->values;
            sums[k].first = o->first < sums[k].first ? o->first : sums[k].first;
            sums[k].last = o->last > sums[k].last ? o->last : sums[k].last;
        }
        total += sums[k].values;
    }
    /* Assumes that values are evenly spread over all places, which is roughly so. */
    uint64_t values = total / most > RANGE_VALUES ? total / most : RANGE_VALUES;
    for (unsigned k = 0; k < JOIN_CLASSES && most > 1; k++) {
        uint64_t pieces = sums[k].values / values;
        uint64_t step = pieces ? (sums[k].last - sums[k].first) / pieces : 0;
        for (uint64_t i = 1; i < pieces && step && n < most - 1; i++)
            bounds[n++] = (rocl_sort_bound){{sums[k].first + i * step, 0}};
    }
    *ranges = n + 1;
    rocl_status st = rocl_sorter_start_ranges(j->values, bounds, n, err);
    return st ? st : rocl_sorter_start_ranges(j->owners, bounds, n, err);
}
