/* Records of rocprofv3's JSON. The members of all arrays have the same names where they mean the
 * same, so one function reads them; what is put then depends on the array. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "source/rocprof/row.h"
#include "source/rocprofv3/rocprofv3.h"

/* In the order of the files, where the reader finds them without searching: some members stand at
 * two places. */
#define MEMBERS(X)                                                                                 \
    X(STRUCT_SIZE, "size")                                                                         \
    X(KIND, "kind")                                                                                \
    X(OPERATION, "operation")                                                                      \
    X(THREAD, "thread_id")                                                                         \
    X(LINK, "correlation_id")                                                                      \
    X(START, "start_timestamp")                                                                    \
    X(END, "end_timestamp")                                                                        \
    X(DISPATCH_INFO, "dispatch_info")                                                              \
    X(STREAM, "stream_id")                                                                         \
    X(CALLING_THREAD, "thread_id")                                                                 \
    X(ARGS, "args")                                                                                \
    X(RETURNED, "retval")                                                                          \
    X(STREAM_OF_CALL, "stream_id")                                                                 \
    X(DESTINATION, "dst_agent_id")                                                                 \
    X(SOURCE, "src_agent_id")                                                                      \
    X(BYTES, "bytes")                                                                              \
    X(AGENT, "agent_id")                                                                           \
    X(QUEUE, "queue_id")                                                                           \
    X(FLAGS, "flags")                                                                              \
    X(ADDRESS, "address")                                                                          \
    X(ALLOCATION_SIZE, "allocation_size")                                                          \
    X(GRAPH_EXEC, "graph_exec_id")                                                                 \
    X(GRAPH_NODE, "graph_node_id")                                                                 \
    X(DISPATCH_DATA, "dispatch_data")                                                              \
    X(DISPATCH, "dispatch_id")                                                                     \
    X(VALUES, "records")                                                                           \
    X(RECORD, "record")                                                                            \
    X(TIME, "timestamp")                                                                           \
    X(SNAPSHOT, "snapshot")                                                                        \
    X(INSTRUCTION, "inst_index")                                                                   \
    X(KERNEL, "kernel_id")                                                                         \
    X(PRIVATE_SEGMENT, "private_segment_size")                                                     \
    X(GROUP_SEGMENT, "group_segment_size")                                                         \
    X(WORKGROUP, "workgroup_size")                                                                 \
    X(GRID, "grid_size")

typedef enum member {
#define MEMBER(member, key) MEMBER_##member,
    MEMBERS(MEMBER)
#undef MEMBER
        MEMBER_COUNT
} member;

static const rocl_view member_keys[MEMBER_COUNT] = {
#define MEMBER(member, key) ROCL_JSON_KEY(key),
    MEMBERS(MEMBER)
#undef MEMBER
};

/* A counter's values, those of its instances summed, or a value at a time. */
typedef struct counter_value {
    uint64_t id;
    double value;
    int64_t time;
    uint32_t instances; /* of which it is the sum; 0: of a single one, or they are not known */
    double min, max;    /* of them */
} counter_value;

/* Of a worker: bytes of the block at hand, texts without their escapes, and the counter values of
 * the record at hand. */
enum { TEXT_TYPE, TEXT_NAME, TEXT_VALUE, TEXTS };

typedef struct json_worker {
    rocl_buf block, text[TEXTS];
    counter_value *values;
    size_t value_count, value_cap;
} json_worker;

void rocprofv3_free_worker(void *state)
{
    json_worker *w = state;
    if (!w)
        return;
    rocl_buf_free(&w->block);
    for (int i = 0; i < TEXTS; i++)
        rocl_buf_free(&w->text[i]);
    free(w->values);
    free(w);
}

/* A piece that is read, and the record at hand. */
typedef struct json_piece {
    rocl_records *to;
    const rocprofv3_run *run;
    const rocprofv3_process *p;
    rocprofv3_array array;
    json_worker *w;
    rocl_json json;
    rocl_status st;
    /* the record */
    rocl_source_record r;
    rocl_json_token kind, operation, stall;
    uint64_t internal, external; /* correlation ids: the profiler's, and that of the user */
    uint64_t kernel_id;          /* of a dispatch */
    uint64_t agent_handle;       /* of what is no copy */
    int64_t instruction;         /* of a PC sample: index; -1 */
    bool has_start, has_end, bad, bad_time;
} json_piece;

/* ---- values ---------------------------------------------------------------------------------- */

static rocl_view plain_text(json_worker *w, const rocl_json_token *v, int slot)
{
    rocl_buf *b = &w->text[slot];
    if (!v->escaped)
        return v->text;
    b->len = 0;
    rocl_json_unescape(b, v->text);
    return (rocl_view){(const char *)b->data, b->len};
}

static bool is_scalar(const rocl_json_token *v)
{
    return v->kind == ROCL_JSON_NUMBER || v->kind == ROCL_JSON_STRING;
}

static uint64_t take_uint(const rocl_json_token *v, bool *bad)
{
    uint64_t n = 0;
    if (!is_scalar(v) || !rocl_json_uint(v->text, &n))
        *bad = true;
    return n;
}

static int64_t take_int(const rocl_json_token *v, bool *bad)
{
    int64_t n = 0;
    if (!is_scalar(v) || !rocl_json_int(v->text, &n))
        *bad = true;
    return n;
}

/* {"handle": number}, or the number alone. */
static uint64_t take_handle(json_piece *c, const rocl_json_token *v)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("handle")};
    rocl_json_token n;
    uint64_t handle = 0;
    if (rocl_json_uints(&c->json, keys, 1, &handle))
        return handle;
    if (!rocl_json_enter(&c->json, ROCL_JSON_OBJECT))
        return take_uint(v, &c->bad);
    while (rocl_json_member(&c->json, keys, 1, &n) >= 0)
        handle = take_uint(&n, &c->bad);
    return handle;
}

static void take_dimensions(json_piece *c, uint32_t to[3])
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("x"), ROCL_JSON_KEY("y"), ROCL_JSON_KEY("z")};
    rocl_json_token v;
    uint64_t sizes[3] = {0};
    if (!rocl_json_uints(&c->json, keys, 3, sizes)) {
        if (!rocl_json_enter(&c->json, ROCL_JSON_OBJECT))
            c->bad = true;
        else
            for (int k; (k = rocl_json_member(&c->json, keys, 3, &v)) >= 0;)
                sizes[k] = take_uint(&v, &c->bad);
    }
    for (int i = 0; i < 3; i++) {
        c->bad |= sizes[i] > UINT32_MAX;
        to[i] = sizes[i] > UINT32_MAX ? 0 : (uint32_t)sizes[i];
    }
}

static void take_link(json_piece *c)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("internal"), ROCL_JSON_KEY("external"),
                                     ROCL_JSON_KEY("ancestor")};
    rocl_json_token v;
    uint64_t ids[3] = {0};
    if (!rocl_json_uints(&c->json, keys, 2, ids) && !rocl_json_uints(&c->json, keys, 3, ids) &&
        rocl_json_enter(&c->json, ROCL_JSON_OBJECT))
        for (int k; (k = rocl_json_member(&c->json, keys, 3, &v)) >= 0;)
            ids[k] = take_uint(&v, &c->bad);
    c->internal = ids[0];
    c->external = ids[1];
    c->r.parent = ids[2] ? ids[2] : ROCL_NO_KEY; /* 0 is none */
}

/* ---- lists inside records -------------------------------------------------------------------- */

static void take_args(json_piece *c)
{
    static const rocl_view keys[TEXTS] = {[TEXT_TYPE] = ROCL_JSON_KEY("type"),
                                          [TEXT_NAME] = ROCL_JSON_KEY("name"),
                                          [TEXT_VALUE] = ROCL_JSON_KEY("value")};
    rocl_json_token v;
    if (!rocl_records_want_args(c->to) || !rocl_json_enter(&c->json, ROCL_JSON_ARRAY))
        return;
    while (rocl_json_element(&c->json, &v)) {
        rocl_view text[TEXTS] = {{"", 0}, {"", 0}, {"", 0}};
        if (!rocl_json_enter(&c->json, ROCL_JSON_OBJECT))
            continue;
        for (int k; (k = rocl_json_member(&c->json, keys, TEXTS, &v)) >= 0;)
            if (v.kind >= ROCL_JSON_STRING) /* no object, no array */
                text[k] = plain_text(c->w, &v, k);
        if (!c->json.wrong)
            rocl_record_typed_arg(c->to, text[TEXT_TYPE], text[TEXT_NAME], text[TEXT_VALUE]);
    }
}

/* [{"counter_id": handle, "value": number, "timestamp": ns}, ...]. With `sums`, a record for each
 * instance of the hardware, which all have the id of the counter. */
static void take_values(json_piece *c, bool sums, rocl_error *err)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("counter_id"), ROCL_JSON_KEY("value"),
                                     ROCL_JSON_KEY("timestamp")};
    json_worker *w = c->w;
    rocl_json_token v;
    if (!rocl_json_enter(&c->json, ROCL_JSON_ARRAY))
        return;
    while (rocl_json_element(&c->json, &v)) {
        counter_value n = {0};
        bool number = false;
        if (!rocl_json_enter(&c->json, ROCL_JSON_OBJECT))
            continue;
        for (int k; (k = rocl_json_member(&c->json, keys, 3, &v)) >= 0;)
            if (k == 0)
                n.id = take_handle(c, &v);
            else if (k == 1)
                number =
                    is_scalar(&v) && rocl_json_double(v.text, &n.value) && n.value - n.value == 0;
            else
                n.time = take_int(&v, &c->bad_time);
        if (c->json.wrong)
            return;
        if (!number) {
            c->st = rocl_record_fault(c->to, c->r.where, ROCL_FAULT_NO_NUMBER,
                                      "the value of a counter is no number", err);
            continue;
        }
        n.min = n.max = n.value;
        size_t at = sums ? 0 : w->value_count;
        /* Instances of a counter stand next to each other. */
        if (sums && w->value_count && w->values[w->value_count - 1].id == n.id)
            at = w->value_count - 1;
        while (at < w->value_count && w->values[at].id != n.id)
            at++;
        if (at < w->value_count) {
            counter_value *sum = &w->values[at];
            sum->value += n.value;
            sum->instances += sum->instances ? 1 : 2;
            sum->min = n.value < sum->min ? n.value : sum->min;
            sum->max = n.value > sum->max ? n.value : sum->max;
        } else if (ROCL_GROW(w->values, w->value_cap, w->value_count + 1)) {
            w->values[w->value_count++] = n;
        } else {
            c->st = rocl_fail_memory(err);
            return;
        }
    }
}

/* What is wanted of the snapshot of a PC sample. */
static void take_snapshot(json_piece *c)
{
    static const rocl_view keys[] = {ROCL_JSON_KEY("stall_reason")};
    rocl_json_token v;
    if (rocl_json_enter(&c->json, ROCL_JSON_OBJECT))
        while (rocl_json_member(&c->json, keys, 1, &v) >= 0)
            c->stall = v;
}

/* ---- the members of a record ----------------------------------------------------------------- */

/* What a member of a call, a copy, an operation on memory or a dispatch says. */
static void take_memory_member(json_piece *c, member m, const rocl_json_token *v)
{
    rocl_any_record *as = &c->r.as;
    const bool copy = c->array == ROCPROFV3_COPIES,
               alloc = c->array == ROCPROFV3_ALLOCATIONS || c->array == ROCPROFV3_SCRATCHES;
    if (m == MEMBER_DESTINATION && copy)
        c->r.dst = take_handle(c, v);
    else if (m == MEMBER_SOURCE && copy)
        c->r.src = take_handle(c, v);
    else if (m == MEMBER_BYTES && copy)
        as->copy.size = take_uint(v, &c->bad);
    else if (m == MEMBER_FLAGS && alloc)
        as->alloc.flags = take_uint(v, &c->bad);
    else if (m == MEMBER_ADDRESS && alloc)
        as->alloc.address = v->kind == ROCL_JSON_OBJECT ? take_handle(c, v) : take_uint(v, &c->bad);
    else if (m == MEMBER_ALLOCATION_SIZE && alloc)
        as->alloc.size = take_uint(v, &c->bad);
}

static void take_dispatch_member(json_piece *c, member m, const rocl_json_token *v)
{
    rocl_dispatch *d = &c->r.as.dispatch; /* a counter value begins with its dispatch */
    if (c->array != ROCPROFV3_DISPATCHES && c->array != ROCPROFV3_COUNTERS)
        return;
    switch (m) {
    case MEMBER_KERNEL:
        c->kernel_id = take_uint(v, &c->bad);
        break;
    case MEMBER_PRIVATE_SEGMENT:
        d->private_segment = take_int(v, &c->bad);
        break;
    case MEMBER_GROUP_SEGMENT:
        d->group_segment = take_int(v, &c->bad);
        break;
    case MEMBER_WORKGROUP:
        take_dimensions(c, d->workgroup);
        break;
    case MEMBER_GRID:
        take_dimensions(c, d->grid);
        break;
    case MEMBER_GRAPH_EXEC:
        d->graph_exec_id = take_handle(c, v);
        break;
    case MEMBER_GRAPH_NODE:
        d->graph_node_id = take_handle(c, v);
        break;
    default:
        break;
    }
}

/* The members of the object that was entered, and of those inside it that are parts of the record:
 * how deep they may be is for the first of them the depth of a record. */
static void take_members(json_piece *c, unsigned depth, rocl_error *err)
{
    rocl_json_token v;
    for (int m; (m = rocl_json_member(&c->json, member_keys, MEMBER_COUNT, &v)) >= 0;)
        switch ((member)m) {
        case MEMBER_STRUCT_SIZE:
        case MEMBER_RETURNED:
            break;
        case MEMBER_KIND:
            c->kind = v;
            break;
        case MEMBER_OPERATION:
            c->operation = v;
            break;
        case MEMBER_THREAD:
        case MEMBER_CALLING_THREAD:
            c->r.thread = take_uint(&v, &c->bad);
            break;
        case MEMBER_LINK:
            take_link(c);
            break;
        case MEMBER_START:
            c->has_start = true;
            c->r.as.e.start = take_int(&v, &c->bad_time);
            break;
        case MEMBER_END:
            c->has_end = true;
            c->r.as.e.end = take_int(&v, &c->bad_time);
            break;
        case MEMBER_TIME:
            c->has_start = c->has_end = true;
            c->r.as.e.start = c->r.as.e.end = take_int(&v, &c->bad_time);
            break;
        case MEMBER_STREAM:
        case MEMBER_STREAM_OF_CALL:
            c->r.stream = take_handle(c, &v);
            break;
        case MEMBER_AGENT:
            c->r.agent = take_handle(c, &v);
            break;
        case MEMBER_QUEUE:
            c->r.queue = take_handle(c, &v);
            break;
        case MEMBER_DISPATCH:
            c->r.row = take_uint(&v, &c->bad);
            break;
        case MEMBER_DISPATCH_INFO:
        case MEMBER_DISPATCH_DATA:
        case MEMBER_RECORD:
            if (depth < 3 && rocl_json_enter(&c->json, ROCL_JSON_OBJECT))
                take_members(c, depth + 1, err);
            break;
        case MEMBER_ARGS:
            take_args(c);
            break;
        case MEMBER_VALUES:
            take_values(c, c->array == ROCPROFV3_COUNTERS, err);
            break;
        case MEMBER_SNAPSHOT:
            take_snapshot(c);
            break;
        case MEMBER_INSTRUCTION:
            c->instruction = take_int(&v, &c->bad);
            break;
        case MEMBER_DESTINATION:
        case MEMBER_SOURCE:
        case MEMBER_BYTES:
        case MEMBER_FLAGS:
        case MEMBER_ADDRESS:
        case MEMBER_ALLOCATION_SIZE:
            take_memory_member(c, (member)m, &v);
            break;
        default:
            take_dispatch_member(c, (member)m, &v);
        }
}

/* ---- what numbers stand for ------------------------------------------------------------------ */

static rocl_status count_dangling(json_piece *c, rocl_fault fault, const char *why, rocl_error *err)
{
    return c->st ? c->st : rocl_record_fault(c->to, c->r.where, fault, why, err);
}

/* Category and name by kind and operation, which some writers store as texts. */
static void name_record(json_piece *c, rocl_kind *call, rocl_error *err)
{
    const rocprofv3_process *p = c->p;
    const rocprofv3_kind *kind = NULL;
    const rocl_strings *strings = c->run->trace->strings;
    rocl_event *e = &c->r.as.e;
    uint64_t n;
    e->category = c->run->categories[c->array];
    if (c->kind.kind == ROCL_JSON_STRING && c->kind.text.n)
        e->category = rocl_records_text(c->to, plain_text(c->w, &c->kind, TEXT_NAME));
    else if (c->kind.kind == ROCL_JSON_NUMBER && rocl_json_uint(c->kind.text, &n) &&
             n < p->kind_count && p->kinds[n].name) {
        kind = &p->kinds[n];
        e->category = kind->name;
    }
    *call = ROCL_REGION;
    if (c->operation.kind == ROCL_JSON_STRING && !rocl_json_uint(c->operation.text, &n)) {
        e->name = rocl_records_text(c->to, plain_text(c->w, &c->operation, TEXT_NAME));
        *call = rocprofv3_call_kind(rocl_strings_get(strings, e->category, NULL),
                                    rocl_strings_get(strings, e->name, NULL));
        return;
    }
    const rocprofv3_operation *o = is_scalar(&c->operation) && rocl_json_uint(c->operation.text, &n)
                                       ? rocprofv3_operation_at(kind, n)
                                       : NULL;
    if (o) {
        e->name = o->name;
        *call = o->call;
    } else {
        c->st = count_dangling(c, ROCL_FAULT_DANGLING_NAME, "an operation without a name", err);
    }
}

/* An agent that a record names by its handle: 0 is none, unless there is one. */
static void find_agent(json_piece *c, uint64_t *handle, rocl_error *err)
{
    const rocprofv3_process *p = c->p;
    if (*handle == ROCL_NO_KEY || rocl_ids_get(&p->agent_ids, *handle) != ROCL_NONE)
        return;
    if (!*handle)
        *handle = ROCL_NO_KEY;
    else if (p->agent_count)
        c->st = count_dangling(c, ROCL_FAULT_DANGLING_AGENT, "an agent that is not listed", err);
}

static void find_kernel(json_piece *c, char *name, size_t size, rocl_error *err)
{
    if (c->kernel_id == ROCL_NO_KEY)
        return;
    c->r.kernel = c->kernel_id;
    c->r.as.dispatch.kernel_id = (int64_t)c->kernel_id;
    if (rocl_ids_get(&c->p->symbol_ids, c->kernel_id) != ROCL_NONE)
        return;
    c->r.name.n = (size_t)snprintf(name, size, "kernel %" PRIu64, c->kernel_id);
    c->r.name.p = name;
    c->st = count_dangling(c, ROCL_FAULT_DANGLING_KERNEL, "a kernel without a symbol", err);
}

/* ---- records --------------------------------------------------------------------------------- */

static rocl_status put_dispatch(json_piece *c, rocl_error *err)
{
    rocl_source_record *r = &c->r;
    char name[40];
    r->as.dispatch.dispatch_id = r->row == ROCL_NO_KEY ? 0 : r->row;
    r->as.e.category = c->run->categories[c->array];
    const uint32_t label = c->external ? rocl_ids_get(&c->p->labels, c->external) : ROCL_NONE;
    r->label = label == ROCL_NONE ? 0 : label;
    find_agent(c, &r->agent, err);
    find_kernel(c, name, sizeof name, err);
    if (c->st != ROCL_OK || c->array == ROCPROFV3_DISPATCHES)
        return c->st ? c->st : rocl_record_put(c->to, r, err);
    for (size_t i = 0; i < c->w->value_count && c->st == ROCL_OK; i++) {
        const counter_value *v = &c->w->values[i];
        const uint32_t at = rocl_ids_get(&c->p->counter_ids, v->id);
        char text[40];
        r->kind = ROCL_COUNTER;
        r->as.counter.value = v->value;
        r->as.counter.instances = v->instances;
        r->as.counter.min = v->min;
        r->as.counter.max = v->max;
        if (at != ROCL_NONE) {
            r->counter.p =
                rocl_strings_get(c->run->trace->strings, c->p->counters[at].name, &r->counter.n);
        } else {
            r->counter.n = (size_t)snprintf(text, sizeof text, "counter %" PRIu64, v->id);
            r->counter.p = text;
            c->st = count_dangling(c, ROCL_FAULT_DANGLING_COUNTER, "a counter without a name", err);
        }
        c->st = c->st ? c->st : rocl_record_put(c->to, r, err);
    }
    return c->st;
}

/* Values of counters that were read while kernels ran. The first version that wrote them stored the
 * value in place of the time, too. */
static rocl_status put_streamed_values(json_piece *c, rocl_error *err)
{
    rocl_source_record *r = &c->r;
    find_agent(c, &r->agent, err);
    r->kind = ROCL_SPM;
    r->row = ROCL_NO_KEY;
    for (size_t i = 0; i < c->w->value_count && c->st == ROCL_OK; i++) {
        const counter_value *v = &c->w->values[i];
        const uint32_t at = rocl_ids_get(&c->p->counter_ids, v->id);
        rocl_sample_value *s = &r->as.sample;
        if (at == ROCL_NONE) {
            c->st = rocl_record_fault(c->to, r->where, ROCL_FAULT_ORPHAN_VALUE,
                                      "a value of an unknown counter", err);
            continue;
        }
        if (v->time <= 0 || (double)v->time == v->value) {
            c->st = rocl_record_fault(c->to, r->where, ROCL_FAULT_BAD_TIME,
                                      "the time of a counter's value is its value", err);
            continue;
        }
        memset(s, 0, sizeof *s);
        s->e.category = c->run->categories[c->array];
        s->e.start = s->e.end = v->time;
        s->value = v->value;
        s->xcc = s->shader_engine = s->instance = s->shader_array = s->wgp = -1;
        r->counter.p =
            rocl_strings_get(c->run->trace->strings, c->p->counters[at].name, &r->counter.n);
        c->st = rocl_record_put(c->to, r, err);
        r->where++; /* which makes the id */
    }
    return c->st;
}

/* Where a wave was at a moment: an instant that is called as the instruction. */
static rocl_status put_pc_sample(json_piece *c, rocl_error *err)
{
    static const rocl_view names[] = {ROCL_JSON_KEY("comment"), ROCL_JSON_KEY("stall_reason"),
                                      ROCL_JSON_KEY("dispatch_id")};
    rocl_source_record *r = &c->r;
    const rocl_strings *strings = c->run->trace->strings;
    const size_t at = c->instruction < 0 ? SIZE_MAX : (size_t)c->instruction;
    const rocprofv3_texts *instructions = &c->p->instructions, *comments = &c->p->comments;
    r->kind = ROCL_INSTANT;
    r->link = ROCL_NO_KEY;
    r->as.e.category = c->run->categories[c->array];
    if (at < instructions->count)
        r->name.p = rocl_strings_get(strings, instructions->all[at], &r->name.n);
    if (!r->name.n)
        r->name = (rocl_view){"(not decoded)", 13};
    if (rocl_records_want_args(c->to)) {
        char number[24];
        rocl_view values[3] = {{0}};
        if (at < comments->count)
            values[0].p = rocl_strings_get(strings, comments->all[at], &values[0].n);
        if (c->stall.kind == ROCL_JSON_STRING)
            values[1] = plain_text(c->w, &c->stall, TEXT_VALUE);
        if (r->row != ROCL_NO_KEY) {
            values[2].n = (size_t)snprintf(number, sizeof number, "%" PRIu64, r->row);
            values[2].p = number;
        }
        for (int i = 0; i < 3; i++)
            if (values[i].n)
                rocl_record_arg(c->to, names[i], values[i]);
    }
    r->row = ROCL_NO_KEY; /* many samples are of one dispatch */
    return rocl_record_put(c->to, r, err);
}

/* A call; a range or mark of rocTX is called as its message. */
static rocl_status put_call(json_piece *c, rocl_error *err)
{
    rocl_source_record *r = &c->r;
    rocl_event *e = &r->as.e;
    rocl_kind call;
    name_record(c, &call, err);
    r->kind = call;
    if (c->st == ROCL_OK && call != ROCL_REGION) {
        const uint32_t message = rocl_ids_get(&c->p->messages, c->internal);
        r->as.region.function = e->name;
        if (message != ROCL_NONE)
            e->name = message;
    }
    return c->st ? c->st : rocl_record_put(c->to, r, err);
}

static rocl_status put_memory(json_piece *c, rocl_error *err)
{
    rocl_source_record *r = &c->r;
    rocl_kind call;
    name_record(c, &call, err);
    find_agent(c, &r->agent, err);
    find_agent(c, &r->src, err);
    find_agent(c, &r->dst, err);
    if (c->array == ROCPROFV3_COPIES) {
        r->kind = ROCL_COPY;
    } else {
        rocl_view name;
        const bool scratch = c->array == ROCPROFV3_SCRATCHES;
        name.p = rocl_strings_get(c->run->trace->strings, r->as.e.name, &name.n);
        r->kind = scratch ? ROCL_SCRATCH : ROCL_ALLOC;
        rocprof_alloc_operation(name, scratch, &r->as.alloc);
    }
    return c->st ? c->st : rocl_record_put(c->to, r, err);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* How the records of an array become events, and of which kinds these may be. */
static const struct {
    const char *key; /* what ends in "_api" is of calls */
    rocl_status (*put)(json_piece *c, rocl_error *err);
    uint32_t kinds;
} arrays[ROCPROFV3_ARRAYS] = {
    [ROCPROFV3_DISPATCHES] = {"kernel_dispatch", put_dispatch, ROCL_BIT(ROCL_DISPATCH)},
    [ROCPROFV3_COPIES] = {"memory_copy", put_memory, ROCL_BIT(ROCL_COPY)},
    [ROCPROFV3_ALLOCATIONS] = {"memory_allocation", put_memory, ROCL_BIT(ROCL_ALLOC)},
    [ROCPROFV3_SCRATCHES] = {"scratch_memory", put_memory, ROCL_BIT(ROCL_SCRATCH)},
    [ROCPROFV3_COUNTERS] = {"counter_collection", put_dispatch, ROCL_BIT(ROCL_COUNTER)},
    [ROCPROFV3_SPM] = {"spm_counter_collection", put_streamed_values, ROCL_BIT(ROCL_SPM)},
    [ROCPROFV3_PC_SAMPLES] = {"pc_sample_host_trap", put_pc_sample, ROCL_BIT(ROCL_INSTANT)},
    [ROCPROFV3_STOCHASTIC_PC_SAMPLES] = {"pc_sample_stochastic", put_pc_sample,
                                         ROCL_BIT(ROCL_INSTANT)},
    [ROCPROFV3_MARKERS] = {"marker_api", put_call, ROCL_HOST_KINDS},
    [ROCPROFV3_HIP] = {"hip_api", put_call, ROCL_BIT(ROCL_REGION)},
    [ROCPROFV3_HSA] = {"hsa_api", put_call, ROCL_BIT(ROCL_REGION)},
    [ROCPROFV3_CALLS] = {"_api", put_call, ROCL_BIT(ROCL_REGION)},
};

rocprofv3_array rocprofv3_array_of(const char *key)
{
    const size_t n = strlen(key);
    for (int i = 0; i < ROCPROFV3_CALLS; i++)
        if (!strcmp(key, arrays[i].key))
            return (rocprofv3_array)i;
    return n > 4 && !strcmp(key + n - 4, "_api") ? ROCPROFV3_CALLS : ROCPROFV3_ARRAYS;
}

/* The record that is the object which was just returned. */
static rocl_status parse_record(json_piece *c, uint64_t where, rocl_error *err)
{
    rocl_record_begin(&c->r, ROCL_DISPATCH, where);
    c->r.process = c->p->key;
    c->kind = c->operation = c->stall = (rocl_json_token){0};
    c->kernel_id = ROCL_NO_KEY;
    c->internal = c->external = 0;
    c->instruction = -1;
    c->has_start = c->has_end = c->bad = c->bad_time = false;
    c->w->value_count = 0;
    if (!rocl_json_enter(&c->json, ROCL_JSON_OBJECT))
        return rocl_record_fault(c->to, where, ROCL_FAULT_BAD_LINE, "no record", err);
    take_members(c, 0, err);
    if (c->json.wrong || c->st != ROCL_OK)
        return c->st;
    const bool needs_times = c->array != ROCPROFV3_COUNTERS && c->array != ROCPROFV3_SPM;
    if (c->bad_time || (needs_times && !(c->has_start && c->has_end)))
        return rocl_record_fault(c->to, where, ROCL_FAULT_BAD_TIME, "a time is no number", err);
    if (c->bad)
        c->st = rocl_record_fault(c->to, where, ROCL_FAULT_BAD_VALUE,
                                  "what should be a number is none", err);
    c->r.link = c->internal ? c->internal : ROCL_NO_KEY;
    c->r.as.e.correlation_id = (int64_t)c->external;
    return c->st ? c->st : arrays[c->array].put(c, err);
}

rocl_status rocprofv3_parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                                  rocl_error *err)
{
    rocprofv3_run *run = in->state;
    void **state = rocl_records_state(to);
    json_piece c = {.to = to,
                    .run = run,
                    .p = &run->processes[piece->part / ROCPROFV3_ARRAYS],
                    .array = (rocprofv3_array)(piece->part % ROCPROFV3_ARRAYS)};
    rocl_json_token v;
    bool wanted = false;
    for (int k = 0; k < ROCL_KINDS; k++)
        wanted |= rocl_kind_in((rocl_kind)k, arrays[c.array].kinds) &&
                  rocl_records_want(to, (rocl_kind)k);
    if (!wanted)
        return ROCL_OK;
    if (!*state && !(*state = calloc(1, sizeof(json_worker))))
        return rocl_fail_memory(err);
    c.w = *state;
    rocl_status st = rocl_json_load(&c.json, &c.w->block, run->spool, piece->first, piece->last,
                                    ROCL_JSON_ELEMENTS | run->flags, err);
    uint64_t count = 0;
    while (st == ROCL_OK && rocl_json_element(&c.json, &v)) {
        st = parse_record(&c, rocl_json_offset(&c.json, &v), err);
        count += !c.json.wrong;
    }
    /* What cannot be read hides the records behind it. */
    for (; st == ROCL_OK && c.json.wrong && count < piece->rows; count++)
        st = rocl_record_fault(to, c.json.offset + (uint64_t)(c.json.at - c.json.begin),
                               ROCL_FAULT_BAD_LINE, c.json.wrong, err);
    for (int i = 0; i < TEXTS; i++)
        if (st == ROCL_OK && c.w->text[i].failed)
            st = rocl_fail_memory(err);
    return st;
}
