/* Values meet their owners: two sorted streams, merged in parts that need nothing of each other. */
#include "source/rocpd/join.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/map.h"

typedef struct merge { /* of a part */
    const rocpd_join *join;
    size_t part;
    rocl_sort_record value, owner; /* heads of the two streams */
    bool more_values, more_owners;
    rocl_buf group;    /* values of the present owner: rocpd_values, for args followed by text */
    rocl_buf sums;     /* of one dispatch: rocl_counter_value, one per counter */
    rocl_buf samples;  /* of the present event: samples */
    rocl_map by_track; /* name of a track -> its first sample that has no value yet */
    rocl_map many;     /* counter and place -> its values at the present event */
    bool of_dispatch;  /* the present event is also one of a dispatch */
} merge;

typedef struct sample {
    rocl_region g;
    uint32_t next; /* of the same track; ROCL_NONE: it is the last */
} sample;

/* ---- the values of an owner ------------------------------------------------------------------ */

static rocl_status add_to_sum(merge *m, const rocl_dispatch *d, const rocpd_value *v)
{
    const rocl_counter *counters = m->join->set->capture->pub.counters;
    rocl_counter_value *sums = (rocl_counter_value *)(void *)m->sums.data;
    size_t n = m->sums.len / sizeof *sums;
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
    rocl_buf_put(&m->sums, &fresh, sizeof fresh);
    return m->sums.failed ? ROCL_INTERNAL : ROCL_OK;
}

static rocl_status emit_sums(merge *m, rocpd_worker *w, const rocl_dispatch *d, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    m->sums.len = 0;
    for (size_t at = 0; at + sizeof(rocpd_value) <= m->group.len; at += sizeof(rocpd_value)) {
        rocpd_value v;
        memcpy(&v, m->group.data + at, sizeof v);
        if (add_to_sum(m, d, &v) != ROCL_OK)
            return rocl_fail_memory(err);
    }
    for (size_t at = 0; at < m->sums.len && st == ROCL_OK; at += sizeof(rocl_counter_value))
        st = rocpd_batch_add(m->join->set, w, ROCL_COUNTER, m->sums.data + at,
                             sizeof(rocl_counter_value), err);
    return st;
}

static rocl_status emit_sample(const merge *m, rocpd_worker *w, rocl_kind kind,
                               const rocl_region *g, const rocpd_value *v, rocl_error *err)
{
    const rocl_capture *c = &m->join->set->capture->pub;
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
        out.agent = c->counters[v->counter].agent;
        out.e.name = c->counters[v->counter].name;
    }
    return rocpd_batch_add(m->join->set, w, kind, &out, sizeof out, err);
}

/* Streamed values point to the sample that they are of. */
static rocl_status emit_streamed(merge *m, rocpd_worker *w, const rocl_region *g, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (!(m->join->set->kinds & ROCL_BIT(ROCL_SPM)))
        return ROCL_OK;
    for (size_t at = 0; at + sizeof(rocpd_value) <= m->group.len && st == ROCL_OK;
         at += sizeof(rocpd_value)) {
        rocpd_value v;
        memcpy(&v, m->group.data + at, sizeof v);
        st = emit_sample(m, w, ROCL_SPM, g, &v, err);
    }
    return st;
}

/* ---- sampled values ---- */

/* rocprofiler-systems writes one event per tick, and for every counter a value and a sample of this
 * event. Nothing but its name says to which of the samples a value belongs: that of the counter is
 * that of the track, in some versions with a device after it. All have one time, so that another
 * sample of the event will do. */
static rocl_status keep_sample(merge *m, const rocl_region *g, rocl_error *err)
{
    sample s = {*g, ROCL_NONE};
    rocl_buf_put(&m->samples, &s, sizeof s);
    return m->samples.failed ? rocl_fail_memory(err) : ROCL_OK;
}

static rocl_status index_samples(merge *m, rocl_error *err)
{
    sample *all = (sample *)(void *)m->samples.data;
    for (size_t i = m->samples.len / sizeof *all; i--;) {
        const uint64_t track = all[i].g.function;
        all[i].next = rocl_map_get(&m->by_track, track, ROCL_NONE);
        if (!rocl_map_put(&m->by_track, track, (uint32_t)i))
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

static const sample *sample_of(merge *m, const rocpd_value *v)
{
    const sample *all = (const sample *)(const void *)m->samples.data;
    const rocl_counter *counters = m->join->set->capture->pub.counters;
    if (v->counter == ROCL_NONE)
        return all;
    const uint64_t track = counters[v->counter].name;
    uint32_t i = rocl_map_get(&m->by_track, track, ROCL_NONE);
    if (i == ROCL_NONE)
        return all;
    if (all[i].next != ROCL_NONE)
        rocl_map_replace(&m->by_track, track, all[i].next);
    return &all[i];
}

static uint64_t series_of(const rocpd_value *v)
{
    uint64_t key = v->counter;
    for (unsigned i = 0; i < sizeof v->place / sizeof *v->place; i++)
        key = rocl_mix64(key ^ (uint64_t)v->place[i]);
    return key;
}

static rocl_status count_series(merge *m, rocl_error *err)
{
    for (size_t at = 0; at < m->group.len; at += sizeof(rocpd_value)) {
        rocpd_value v;
        memcpy(&v, m->group.data + at, sizeof v);
        const uint64_t key = series_of(&v);
        if (!rocl_map_put(&m->many, key, rocl_map_get(&m->many, key, 0) + 1))
            return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

/* A row of rocpd_info_pmc that stands for two counters has two definitions, one after the other. */
static bool has_twin(const rocl_capture *c, uint32_t counter)
{
    return counter && counter != ROCL_NONE &&
           c->counters[counter - 1].id == c->counters[counter].id;
}

/* The n-th value of a counter at one time, of several: there are two counters, or it has instances
 * whose number is not stored. */
static void tell_apart(const merge *m, rocpd_value *v, uint32_t n)
{
    if (has_twin(&m->join->set->capture->pub, v->counter))
        v->counter -= n & 1;
    else if (v->place[2] < 0)
        v->place[2] = n;
}

/* Every value once. */
static rocl_status emit_samples(merge *m, rocpd_worker *w, rocl_error *err)
{
    rocl_map nth = {0};
    rocl_status st = index_samples(m, err);
    if (st == ROCL_OK)
        st = count_series(m, err);
    for (size_t at = 0; at < m->group.len && st == ROCL_OK; at += sizeof(rocpd_value)) {
        rocpd_value v;
        memcpy(&v, m->group.data + at, sizeof v);
        const uint64_t key = series_of(&v);
        const sample *s = sample_of(m, &v);
        if (rocl_map_get(&m->many, key, 0) > 1) {
            uint32_t n = rocl_map_get(&nth, key, 0);
            tell_apart(m, &v, n);
            if (!rocl_map_put(&nth, key, n + 1))
                st = rocl_fail_memory(err);
        }
        if (st == ROCL_OK)
            st = emit_sample(m, w, ROCL_SAMPLE, &s->g, &v, err);
    }
    rocl_map_free(&nth);
    rocl_map_free(&m->many);
    rocl_map_free(&m->by_track);
    return st;
}

static rocl_status push_arg(rocpd_worker *w, const rocpd_value *v, const uint8_t *text, size_t n,
                            rocl_error *err)
{
    char *copy = rocl_arena_dup(&w->arg_text, (const char *)text, n);
    if (!copy || !ROCL_GROW(w->args, w->arg_cap, w->arg_count + 1))
        return rocl_fail_memory(err);
    w->args[w->arg_count++] = (rocl_arg){v->type, v->name, copy, n};
    return ROCL_OK;
}

static rocl_status emit_with_args(merge *m, rocpd_worker *w, rocl_kind kind, rocl_region *g,
                                  rocl_error *err)
{
    rocl_status st = ROCL_OK;
    /* A flush forgets the arguments in hand: it must not come between them and their region. */
    if (w->out[kind].count == ROCL_ROWS_BATCH)
        st = rocpd_batch_flush(m->join->set, w, err);
    g->arg_first = (uint32_t)w->arg_count;
    for (size_t at = 0; at < m->group.len && st == ROCL_OK;) {
        rocpd_value v;
        uint64_t n;
        memcpy(&v, m->group.data + at, sizeof v);
        memcpy(&n, m->group.data + at + sizeof v, sizeof n);
        at += sizeof v + sizeof n;
        st = push_arg(w, &v, m->group.data + at, n, err);
        at += n;
        g->arg_count++;
    }
    return st ? st : rocpd_batch_add(m->join->set, w, kind, g, sizeof *g, err);
}

static rocl_status serve_owner(merge *m, rocpd_worker *w, rocl_error *err)
{
    uint8_t kind = m->owner.data[0];
    union {
        rocl_dispatch d;
        rocl_region g;
    } u;
    memcpy(&u, m->owner.data + 1, m->owner.len - 1);
    switch (kind) {
    case JOIN_DROPPED:
        return ROCL_OK;
    case ROCL_DISPATCH:
        m->of_dispatch = true;
        return m->join->set->kinds & ROCL_BIT(ROCL_COUNTER) ? emit_sums(m, w, &u.d, err) : ROCL_OK;
    case ROCL_SPM:
        return emit_streamed(m, w, &u.g, err);
    case ROCL_SAMPLE:
        return m->join->set->kinds & ROCL_BIT(ROCL_SAMPLE) ? keep_sample(m, &u.g, err) : ROCL_OK;
    default:
        return emit_with_args(m, w, (rocl_kind)kind, &u.g, err);
    }
}

static rocl_status next_value(merge *m, rocl_error *err)
{
    return rocl_sorter_next_of(m->join->values, m->part, &m->value, &m->more_values, err);
}

static rocl_status next_owner(merge *m, rocl_error *err)
{
    return rocl_sorter_next_of(m->join->owners, m->part, &m->owner, &m->more_owners, err);
}

static int compare_owner(const uint64_t *a, const uint64_t *b)
{
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return a[1] == b[1] ? 0 : a[1] < b[1] ? -1 : 1;
}

/* Takes the values of one owner into the group. */
static rocl_status gather(merge *m, const uint64_t *key, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    m->group.len = 0;
    while (st == ROCL_OK && m->more_values && compare_owner(m->value.key, key) == 0) {
        rocpd_value v = rocpd_value_nowhere;
        bool arg = rocpd_join_class(key) == JOIN_BY_ARGS;
        memcpy(&v, m->value.data, arg ? JOIN_ARG_SIZE : m->value.len);
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

/* Was every table read that could hold the owner of a counter value? */
static bool saw_all_owners(const merge *m)
{
    const uint32_t samples = ROCL_BIT(ROCL_INSTANT) | ROCL_BIT(ROCL_SPM) | ROCL_BIT(ROCL_SAMPLE);
    const rocpd_set *s = m->join->set;
    return (!s->tables[ROCPD_KERNEL_DISPATCH] || s->kinds & ROCL_BIT(ROCL_COUNTER)) &&
           (!s->tables[ROCPD_SAMPLE] || s->kinds & samples);
}

static rocl_status orphan(merge *m, rocl_error *err)
{
    rocpd_table table =
        rocpd_join_class(m->value.key) == JOIN_BY_ARGS ? ROCPD_ARG : ROCPD_PMC_EVENT;
    rocl_status st = ROCL_OK;
    /* Arguments of events of other kinds (copies, marks) are nobody's fault. */
    if (table == ROCPD_PMC_EVENT && saw_all_owners(m))
        st = rocl_fault_count(m->join->set->trace, ROCL_FAULT_ORPHAN_VALUE, err,
                              "%s: table %s: id %lld", m->join->set->capture->pub.path,
                              m->join->set->tables[table], (long long)m->value.key[JOIN_ROW]);
    return st ? st : next_value(m, err);
}

static rocl_status merge_part(merge *m, rocpd_worker *w, rocl_error *err)
{
    rocl_status st = next_value(m, err);
    if (st == ROCL_OK)
        st = next_owner(m, err);
    while (st == ROCL_OK && m->more_values) {
        if (!m->more_owners || compare_owner(m->value.key, m->owner.key) < 0) {
            st = orphan(m, err);
            continue;
        }
        uint64_t key[2] = {m->owner.key[0], m->owner.key[1]};
        st = gather(m, key, err);
        m->samples.len = 0;
        m->of_dispatch = false;
        while (st == ROCL_OK && m->more_owners && compare_owner(m->owner.key, key) == 0) {
            st = serve_owner(m, w, err);
            if (st == ROCL_OK)
                st = next_owner(m, err);
        }
        if (st == ROCL_OK && m->samples.len && !m->of_dispatch)
            st = emit_samples(m, w, err);
    }
    return st ? st : rocpd_batch_flush(m->join->set, w, err);
}

rocl_status rocpd_join_part(const rocpd_join *j, size_t part, rocpd_worker *w, rocl_error *err)
{
    merge m = {.join = j, .part = part};
    rocl_status st = merge_part(&m, w, err);
    rocl_buf_free(&m.group);
    rocl_buf_free(&m.sums);
    rocl_buf_free(&m.samples);
    return st;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Values of a part, about: enough to be worth a task. */
#define PART_VALUES 16384
#define PARTS_MAX   64

static rocpd_owners owners_of(const rocpd_join *j, unsigned class)
{
    rocpd_owners sum = {.first = UINT64_MAX};
    for (unsigned w = 0; w < j->workers; w++) {
        const rocpd_owners *o = &j->seen[w].of[class];
        if (!o->values)
            continue;
        sum.values += o->values;
        sum.first = o->first < sum.first ? o->first : sum.first;
        sum.last = o->last > sum.last ? o->last : sum.last;
    }
    return sum;
}

/* As if all places from the first to the last had as many values, which they about have. */
static size_t cut(const rocpd_owners *o, uint64_t values, uint64_t *bounds, size_t room)
{
    uint64_t pieces = o->values / values, step = pieces ? (o->last - o->first) / pieces : 0;
    size_t n = 0;
    for (uint64_t i = 1; i < pieces && step && n < room; i++)
        bounds[n++] = o->first + i * step;
    return n;
}

rocl_status rocpd_join_start(rocpd_join *j, size_t most, size_t *parts, rocl_error *err)
{
    uint64_t bounds[PARTS_MAX], total = 0;
    size_t n = 0;
    most = most < PARTS_MAX ? most : PARTS_MAX;
    for (unsigned k = 0; k < JOIN_CLASSES; k++)
        total += owners_of(j, k).values;
    uint64_t share = total / most > PART_VALUES ? total / most : PART_VALUES;
    for (unsigned k = 0; k < JOIN_CLASSES && most > 1; k++) {
        const rocpd_owners o = owners_of(j, k);
        n += cut(&o, share, bounds + n, most - 1 - n);
    }
    *parts = n + 1;
    rocl_status st = rocl_sorter_start_parts(j->values, bounds, n, err);
    return st ? st : rocl_sorter_start_parts(j->owners, bounds, n, err);
}
