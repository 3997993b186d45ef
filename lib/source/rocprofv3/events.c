/* Records of rocprofv3's JSON. The members of all arrays have the same names where they mean the
 * same, so one function reads them; what is put then depends on the array. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "source/rocprof/row.h"
#include "source/rocprofv3/rocprofv3.h"

/* In the order of the files, so that the reader finds them without searching: some members occur at
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
    X(GRID, "grid_size")                                                                           \
    X(HARDWARE, "hw_id")                                                                           \
    X(PC, "pc")                                                                                    \
    X(EXEC_MASK, "exec_mask")                                                                      \
    X(WAVE_ISSUED, "wave_issued")                                                                  \
    X(INSTRUCTION_TYPE, "inst_type")                                                               \
    X(WAVE_COUNT, "wave_cnt")                                                                      \
    X(PID, "pid")                                                                                  \
    X(BEGIN_ADDRESS, "start_address")                                                              \
    X(END_ADDRESS, "end_address")                                                                  \
    X(FROM_AGENT, "src_agent")                                                                     \
    X(TO_AGENT, "dst_agent")                                                                       \
    X(PREFETCH_AGENT, "prefetch_agent")                                                            \
    X(PREFERRED_AGENT, "preferred_agent")                                                          \
    X(ERROR_CODE, "error_code")                                                                    \
    X(LOST, "count")                                                                               \
    X(DISPATCHES, "dispatch_count")                                                                \
    X(KERNEL_DISPATCHES, "kernel_dispatch_count")

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
    uint32_t instances; /* number of summed instances; 0: a single one, or unknown */
    double min, max;    /* of them */
} counter_value;

/* What a worker keeps: bytes of the block at hand, texts without their escapes, and the counter
 * values of the record at hand. */
enum { TEXT_TYPE, TEXT_NAME, TEXT_VALUE, TEXTS };

enum { ARGUMENTS_MAX = 24 };

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

/* A member that becomes an argument of a record without a list of arguments. */
typedef struct json_argument {
    rocl_view type, name, value;
} json_argument;

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
    rocl_json_token kind, operation;
    json_argument arguments[ARGUMENTS_MAX];
    size_t argument_count;
    uint32_t members;            /* of a KFD event: which of them it has, by SAYS() */
    uint64_t internal, external; /* correlation ids: the profiler's, and that of the user */
    uint64_t kernel_id;          /* of a dispatch */
    int64_t instruction;         /* of a PC sample: index; -1 */
    bool has_start, has_end, is_moment, bad, bad_args;
    const char *bad_time; /* what is wrong with a time; NULL: nothing */
    const rocl_records_input *in;
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

static int64_t take_time(json_piece *c, const rocl_json_token *v)
{
    bool bad = false;
    const int64_t time = take_int(v, &bad);
    if (bad)
        c->bad_time = rocl_time_fault(is_scalar(v) ? v->text : (rocl_view){"?", 1}, 1);
    return time;
}

/* {"handle": number}, or just the number. */
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
    rocl_json args = c->json; /* errors in them affect no records: c->json skips them */
    if (!rocl_records_want_args(c->to) || !rocl_json_enter(&args, ROCL_JSON_ARRAY))
        return;
    while (rocl_json_element(&args, &v)) {
        rocl_view text[TEXTS] = {{"", 0}, {"", 0}, {"", 0}};
        if (!rocl_json_enter(&args, ROCL_JSON_OBJECT))
            continue;
        for (int k; (k = rocl_json_member(&args, keys, TEXTS, &v)) >= 0;)
            if (v.kind >= ROCL_JSON_STRING) /* neither an object nor an array */
                text[k] = plain_text(c->w, &v, k);
        if (!args.wrong)
            rocl_record_typed_arg(c->to, text[TEXT_TYPE], text[TEXT_NAME], text[TEXT_VALUE]);
    }
    c->bad_args |= args.wrong != NULL;
}

static void add_argument(json_piece *c, rocl_view type, rocl_view name, rocl_view value)
{
    if (value.n && c->argument_count < ARGUMENTS_MAX && rocl_records_want_args(c->to))
        c->arguments[c->argument_count++] = (json_argument){type, name, value};
}

/* Takes the members of an object with one of the names. */
static void take_arguments(json_piece *c, const rocl_view *names, unsigned count)
{
    rocl_json_token v;
    if (rocl_json_enter(&c->json, ROCL_JSON_OBJECT))
        for (int k; (k = rocl_json_member(&c->json, names, count, &v)) >= 0;)
            if (is_scalar(&v))
                add_argument(c, (rocl_view){"", 0}, names[k], v.text);
}

/* {"uint64_t_retval": number}: an argument unless it is 0, which nearly all calls return. */
static void take_returned(json_piece *c)
{
    rocl_json_token v, key = {0};
    if (!rocl_json_enter(&c->json, ROCL_JSON_OBJECT))
        return;
    while (rocl_json_next(&c->json, &v) && v.kind != ROCL_JSON_OBJECT_END)
        if (v.kind == ROCL_JSON_KEY) {
            key = v;
        } else if (v.kind == ROCL_JSON_OBJECT || v.kind == ROCL_JSON_ARRAY) {
            rocl_json_leave(&c->json);
        } else if (is_scalar(&v) && !rocl_view_is(v.text, "0") && !key.escaped) {
            const size_t n = key.text.n;
            const bool typed = n > 7 && !memcmp(key.text.p + n - 7, "_retval", 7);
            add_argument(c, (rocl_view){key.text.p, typed ? n - 7 : 0}, (rocl_view){"retval", 6},
                         v.text);
        }
}

static void put_arguments(json_piece *c)
{
    for (size_t i = 0; i < c->argument_count; i++)
        rocl_record_typed_arg(c->to, c->arguments[i].type, c->arguments[i].name,
                              c->arguments[i].value);
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
                n.time = take_time(c, &v);
        if (c->json.wrong)
            return;
        if (!number) {
            rocl_record_fault(c->to, c->r.where, ROCL_FAULT_NO_NUMBER,
                              "the value of a counter is not a number");
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

/* Takes a member of a PC sample about its wave. */
static void take_sample_member(json_piece *c, member m, const rocl_json_token *v)
{
    static const rocl_view hardware[] = {
        ROCL_JSON_KEY("chiplet"),         ROCL_JSON_KEY("wave_id"),
        ROCL_JSON_KEY("simd_id"),         ROCL_JSON_KEY("cu_or_wgp_id"),
        ROCL_JSON_KEY("shader_array_id"), ROCL_JSON_KEY("shader_engine_id")};
    static const rocl_view pc[] = {ROCL_JSON_KEY("code_object_id"),
                                   ROCL_JSON_KEY("code_object_offset")};
    static const rocl_view snapshot[] = {ROCL_JSON_KEY("stall_reason")};
    if (m == MEMBER_HARDWARE)
        take_arguments(c, hardware, sizeof hardware / sizeof *hardware);
    else if (m == MEMBER_PC)
        take_arguments(c, pc, 2);
    else if (m == MEMBER_SNAPSHOT)
        take_arguments(c, snapshot, 1);
    else if (m == MEMBER_INSTRUCTION)
        c->instruction = take_int(v, &c->bad);
    else if (m >= MEMBER_EXEC_MASK && m <= MEMBER_WAVE_COUNT && is_scalar(v))
        add_argument(c, (rocl_view){"", 0}, member_keys[m], v->text);
}

/* The members of a KFD event tell its kind if the file does not. */
#define SAYS(member) (1u << (MEMBER_##member - MEMBER_PID))

/* Takes a member of a driver event: numbers, and agents by handle. */
static void take_kfd_member(json_piece *c, member m, const rocl_json_token *v)
{
    const rocl_capture *capture = &rocl_records_input_of(c->to)->capture->pub;
    uint64_t number;
    c->members |= m == MEMBER_ADDRESS ? 1u << 31 : m >= MEMBER_PID ? 1u << (m - MEMBER_PID) : 0;
    if (m == MEMBER_AGENT || (m >= MEMBER_FROM_AGENT && m <= MEMBER_PREFERRED_AGENT)) {
        static const rocl_view names[] = {ROCL_JSON_KEY("src_agent"), ROCL_JSON_KEY("dst_agent"),
                                          ROCL_JSON_KEY("prefetch_agent"),
                                          ROCL_JSON_KEY("preferred_agent")};
        const uint32_t at = rocl_records_find(rocl_records_input_of(c->to), ROCL_KEY_AGENT,
                                              (rocl_key){c->p->key, 0, take_handle(c, v)});
        rocl_view label = {"", 0};
        if (at < capture->agent_count)
            label.p = rocl_strings_get(c->run->trace->strings, capture->agents[at].label, &label.n);
        add_argument(c, (rocl_view){"", 0},
                     m == MEMBER_AGENT ? (rocl_view){"agent", 5} : names[m - MEMBER_FROM_AGENT],
                     label);
    } else if (v->kind == ROCL_JSON_OBJECT) { /* an address as a handle */
        static const rocl_view handle[] = {ROCL_JSON_KEY("handle"), ROCL_JSON_KEY("value")};
        rocl_json_token n;
        rocl_json_enter(&c->json, ROCL_JSON_OBJECT);
        while (rocl_json_member(&c->json, handle, 2, &n) >= 0)
            if (is_scalar(&n))
                add_argument(c, (rocl_view){"", 0}, member_keys[m], n.text);
    } else if (is_scalar(v) && (m != MEMBER_PID || (rocl_json_uint(v->text, &number) &&
                                                    number != (uint64_t)c->p->about.pid))) {
        add_argument(c, (rocl_view){"", 0}, member_keys[m], v->text);
    }
}

/* ---- the members of a record ----------------------------------------------------------------- */

static void take_dispatch_member(json_piece *c, member m, const rocl_json_token *v)
{
    rocl_dispatch *d = &c->r.as.dispatch; /* a counter value begins with its dispatch */
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

/* Takes a member of a copy, an operation on memory or the launch of a graph. */
static void take_work_member(json_piece *c, member m, const rocl_json_token *v)
{
    rocl_any_record *as = &c->r.as;
    const bool copy = c->array == ROCPROFV3_COPIES, graph = c->array == ROCPROFV3_GRAPHS,
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
    else if (m == MEMBER_GRAPH_EXEC && graph)
        as->hip.graph_exec_id = take_handle(c, v);
    else if ((m == MEMBER_DISPATCHES || m == MEMBER_KERNEL_DISPATCHES) && graph)
        as->hip.kernel_count = take_uint(v, &c->bad);
}

/* Takes the members of the entered object, and of nested objects that are parts of the record.
 * `depth`: the levels of nesting still allowed. */
static void take_members(json_piece *c, unsigned depth, rocl_error *err)
{
    rocl_json_token v;
    for (int m; (m = rocl_json_member(&c->json, member_keys, MEMBER_COUNT, &v)) >= 0;)
        switch ((member)m) {
        case MEMBER_STRUCT_SIZE:
            break;
        case MEMBER_RETURNED:
            take_returned(c);
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
            c->r.as.e.start = take_time(c, &v);
            break;
        case MEMBER_END:
            c->has_end = true;
            c->r.as.e.end = take_time(c, &v);
            break;
        case MEMBER_TIME:
            c->has_start = c->has_end = c->is_moment = true;
            c->r.as.e.start = c->r.as.e.end = take_time(c, &v);
            break;
        case MEMBER_STREAM:
        case MEMBER_STREAM_OF_CALL:
            c->r.stream = take_handle(c, &v);
            break;
        case MEMBER_AGENT:
            if (c->array == ROCPROFV3_KFD)
                take_kfd_member(c, MEMBER_AGENT, &v);
            else
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
            take_values(c,
                        c->array == ROCPROFV3_COUNTERS &&
                            !rocl_records_want_fields(c->to, ROCL_FIELD_INSTANCES),
                        err);
            break;
        default:
            if (c->array == ROCPROFV3_DISPATCHES || c->array == ROCPROFV3_COUNTERS)
                take_dispatch_member(c, (member)m, &v);
            else if (c->array == ROCPROFV3_PC_SAMPLES ||
                     c->array == ROCPROFV3_STOCHASTIC_PC_SAMPLES)
                take_sample_member(c, (member)m, &v);
            else if (c->array == ROCPROFV3_KFD)
                take_kfd_member(c, (member)m, &v);
            else
                take_work_member(c, (member)m, &v);
        }
}

/* ---- what numbers stand for ------------------------------------------------------------------ */

/* Sets category and name by kind and operation, which some writers store as texts. Returns which
 * kind of call it is. */
static rocl_kind name_record(json_piece *c)
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
    if (c->operation.kind == ROCL_JSON_STRING && !rocl_json_uint(c->operation.text, &n)) {
        e->name = rocl_records_text(c->to, plain_text(c->w, &c->operation, TEXT_NAME));
        return rocprofv3_call_kind(rocl_strings_get(strings, e->category, NULL),
                                   rocl_strings_get(strings, e->name, NULL));
    }
    const rocprofv3_operation *o = is_scalar(&c->operation) && rocl_json_uint(c->operation.text, &n)
                                       ? rocprofv3_operation_at(kind, n)
                                       : NULL;
    if (o)
        e->name = o->name;
    else
        rocl_record_fault(c->to, c->r.where, ROCL_FAULT_DANGLING_NAME,
                          "an operation without a name");
    return o ? o->call : ROCL_REGION;
}

/* An agent that a record names by its handle: 0 is none, unless there is one. */
static void find_agent(json_piece *c, uint64_t *handle)
{
    const rocprofv3_process *p = c->p;
    if (*handle == ROCL_NO_KEY || rocl_ids_get(&p->agent_ids, *handle) != ROCL_NONE)
        return;
    if (!*handle)
        *handle = ROCL_NO_KEY;
    else if (p->agent_count)
        rocl_record_fault(c->to, c->r.where, ROCL_FAULT_DANGLING_AGENT,
                          "an agent that is not listed");
}

/* ---- records --------------------------------------------------------------------------------- */

static rocl_status put_dispatch(json_piece *c, rocl_error *err)
{
    rocl_source_record *r = &c->r;
    char name[40];
    if (c->internal && r->parent == ROCL_NO_KEY)
        r->parent = c->internal;
    r->as.dispatch.dispatch_id = r->row == ROCL_NO_KEY ? 0 : r->row;
    r->as.e.category = c->run->categories[c->array];
    const uint32_t label = c->external ? rocl_ids_get(&c->p->labels, c->external) : ROCL_NONE;
    r->label = label == ROCL_NONE ? 0 : label;
    find_agent(c, &r->agent);
    if (c->kernel_id != ROCL_NO_KEY) {
        r->kernel = c->kernel_id;
        r->as.dispatch.kernel_id = (int64_t)c->kernel_id;
    }
    if (c->kernel_id != ROCL_NO_KEY && rocl_ids_get(&c->p->symbol_ids, c->kernel_id) == ROCL_NONE) {
        const uint32_t host_name = rocl_ids_get(&c->p->host_functions, c->kernel_id);
        if (host_name != ROCL_NONE) {
            r->name.p = rocl_strings_get(c->run->trace->strings, host_name, &r->name.n);
        } else {
            r->name.n = (size_t)snprintf(name, sizeof name, "kernel %" PRIu64, c->kernel_id);
            r->name.p = name;
            rocl_record_fault(c->to, c->r.where, ROCL_FAULT_DANGLING_KERNEL,
                              "a kernel without a symbol");
        }
    }
    if (c->array == ROCPROFV3_DISPATCHES)
        return rocl_record_put(c->to, r, err);
    /* With counters alone the profiler writes no list of dispatches. */
    if (!c->p->has_dispatches && c->has_start && c->has_end && r->row != ROCL_NO_KEY) {
        r->once = true;
        c->st = rocl_record_put(c->to, r, err);
        r->once = false;
    }
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
            rocl_record_fault(c->to, c->r.where, ROCL_FAULT_DANGLING_COUNTER,
                              "a counter without a name");
        }
        c->st = rocl_record_put(c->to, r, err);
    }
    return c->st;
}

/* Values of counters that were read while kernels ran. The first version that wrote them stored the
 * value in the time, too. */
static rocl_status put_streamed_values(json_piece *c, rocl_error *err)
{
    rocl_source_record *r = &c->r;
    find_agent(c, &r->agent);
    r->kind = ROCL_SPM;
    r->row = ROCL_NO_KEY;
    for (size_t i = 0; i < c->w->value_count && c->st == ROCL_OK; i++) {
        const counter_value *v = &c->w->values[i];
        const uint32_t at = rocl_ids_get(&c->p->counter_ids, v->id);
        rocl_sample_value *s = &r->as.sample;
        if (at == ROCL_NONE) {
            rocl_record_fault(c->to, r->where, ROCL_FAULT_ORPHAN_VALUE,
                              "a value of an unknown counter");
            continue;
        }
        if (v->time <= 0 || (double)v->time == v->value) {
            rocl_record_fault(c->to, r->where, ROCL_FAULT_BAD_TIME,
                              "the time of a counter's value is its value");
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
        rocl_view comment = {"", 0}, dispatch = {number, 0};
        if (at < comments->count)
            comment.p = rocl_strings_get(strings, comments->all[at], &comment.n);
        if (r->row != ROCL_NO_KEY)
            dispatch.n = (size_t)snprintf(number, sizeof number, "%" PRIu64, r->row);
        if (comment.n)
            rocl_record_arg(c->to, (rocl_view){"comment", 7}, comment);
        if (dispatch.n)
            rocl_record_arg(c->to, (rocl_view){"dispatch_id", 11}, dispatch);
        put_arguments(c);
    }
    r->row = ROCL_NO_KEY; /* many samples are of one dispatch */
    return rocl_record_put(c->to, r, err);
}

/* A call; a range or mark of rocTX is named by its message. */
static rocl_status put_call(json_piece *c, rocl_error *err)
{
    rocl_source_record *r = &c->r;
    rocl_event *e = &r->as.e;
    r->kind = name_record(c);
    if (r->kind != ROCL_REGION) {
        const uint32_t message = rocl_ids_get(&c->p->messages, c->internal);
        r->as.region.function = e->name;
        if (message != ROCL_NONE)
            e->name = message;
    }
    put_arguments(c);
    return rocl_record_put(c->to, r, err);
}

/* An event of the driver, without a thread: mostly only its members tell its kind. */
static rocl_status put_kfd(json_piece *c, rocl_error *err)
{
    static const struct {
        uint32_t says;
        int of_time, of_moment; /* of run->kfd */
    } kinds[] = {{SAYS(FROM_AGENT), ROCPROFV3_KFD_MIGRATE, ROCPROFV3_KFD_EVENT_MIGRATE},
                 {1u << 31, ROCPROFV3_KFD_FAULT, ROCPROFV3_KFD_EVENT_FAULT},
                 {SAYS(BEGIN_ADDRESS), ROCPROFV3_KFD_EVENT_UNMAP, ROCPROFV3_KFD_EVENT_UNMAP},
                 {SAYS(LOST), ROCPROFV3_KFD_EVENT_DROPPED, ROCPROFV3_KFD_EVENT_DROPPED},
                 {0, ROCPROFV3_KFD_QUEUE, ROCPROFV3_KFD_EVENT_QUEUE}};
    rocl_source_record *r = &c->r;
    uint64_t operation;
    size_t at = 0, i = 0;
    if (c->kind.kind == ROCL_JSON_NUMBER || c->kind.kind == ROCL_JSON_STRING) {
        name_record(c);
    } else {
        while (kinds[i].says && !(kinds[i].says & c->members))
            i++;
        r->as.e.category = c->run->kfd[c->is_moment ? kinds[i].of_moment : kinds[i].of_time];
        while (at < c->p->kind_count && c->p->kinds[at].name != r->as.e.category)
            at++;
        const rocprofv3_operation *o = at < c->p->kind_count && is_scalar(&c->operation) &&
                                               rocl_json_uint(c->operation.text, &operation)
                                           ? rocprofv3_operation_at(&c->p->kinds[at], operation)
                                           : NULL;
        r->as.e.name = o ? o->name : r->as.e.category;
    }
    r->kind = c->is_moment ? ROCL_INSTANT : ROCL_REGION;
    put_arguments(c);
    return rocl_record_put(c->to, r, err);
}

/* The launch of a graph. */
static rocl_status put_graph(json_piece *c, rocl_error *err)
{
    name_record(c);
    find_agent(c, &c->r.agent);
    c->r.kind = ROCL_GRAPH;
    c->r.source_queue = ROCL_NO_KEY;
    return rocl_record_put(c->to, &c->r, err);
}

static rocl_status put_memory(json_piece *c, rocl_error *err)
{
    rocl_source_record *r = &c->r;
    name_record(c);
    find_agent(c, &r->agent);
    find_agent(c, &r->src);
    find_agent(c, &r->dst);
    if (c->array == ROCPROFV3_COPIES) {
        r->kind = ROCL_COPY;
        if (c->internal && r->parent == ROCL_NO_KEY) /* so databases have it, of dispatches too */
            r->parent = c->internal;
    } else {
        rocl_view name;
        const bool scratch = c->array == ROCPROFV3_SCRATCHES;
        name.p = rocl_strings_get(c->run->trace->strings, r->as.e.name, &name.n);
        r->kind = scratch ? ROCL_SCRATCH : ROCL_ALLOC;
        rocprof_alloc_operation(name, scratch, &r->as.alloc);
    }
    return rocl_record_put(c->to, r, err);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* How the records of an array become events, and of which kinds these may be. */
static const struct {
    const char *key; /* keys that end in "_api" are of calls */
    rocl_status (*put)(json_piece *c, rocl_error *err);
    uint32_t kinds;
} arrays[ROCPROFV3_ARRAYS] = {
    [ROCPROFV3_DISPATCHES] = {"kernel_dispatch", put_dispatch, ROCL_BIT(ROCL_DISPATCH)},
    [ROCPROFV3_COPIES] = {"memory_copy", put_memory, ROCL_BIT(ROCL_COPY)},
    [ROCPROFV3_ALLOCATIONS] = {"memory_allocation", put_memory, ROCL_BIT(ROCL_ALLOC)},
    [ROCPROFV3_SCRATCHES] = {"scratch_memory", put_memory, ROCL_BIT(ROCL_SCRATCH)},
    [ROCPROFV3_COUNTERS] = {"counter_collection", put_dispatch,
                            ROCL_BIT(ROCL_COUNTER) | ROCL_BIT(ROCL_DISPATCH)},
    [ROCPROFV3_SPM] = {"spm_counter_collection", put_streamed_values, ROCL_BIT(ROCL_SPM)},
    [ROCPROFV3_PC_SAMPLES] = {"pc_sample_host_trap", put_pc_sample, ROCL_BIT(ROCL_INSTANT)},
    [ROCPROFV3_STOCHASTIC_PC_SAMPLES] = {"pc_sample_stochastic", put_pc_sample,
                                         ROCL_BIT(ROCL_INSTANT)},
    [ROCPROFV3_KFD] = {"kfd", put_kfd, ROCL_BIT(ROCL_REGION) | ROCL_BIT(ROCL_INSTANT)},
    [ROCPROFV3_GRAPHS] = {"hip_graph", put_graph, ROCL_BIT(ROCL_GRAPH)},
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

/* Parses the object that was just returned as a record. */
static rocl_status parse_record(json_piece *c, uint64_t where, rocl_error *err)
{
    rocl_record_begin(&c->r, ROCL_DISPATCH, where);
    c->r.process = c->p->key;
    c->kind = c->operation = (rocl_json_token){0};
    c->argument_count = 0;
    c->members = 0;
    c->kernel_id = ROCL_NO_KEY;
    c->internal = c->external = 0;
    c->instruction = -1;
    c->has_start = c->has_end = c->is_moment = c->bad = c->bad_args = false;
    c->bad_time = NULL;
    c->w->value_count = 0;
    if (!rocl_json_enter(&c->json, ROCL_JSON_OBJECT))
        return rocl_record_fault(c->to, where, ROCL_FAULT_BAD_LINE, "no record");
    take_members(c, 0, err);
    if (c->json.wrong || c->st != ROCL_OK)
        return c->st;
    const bool needs_times = c->array != ROCPROFV3_COUNTERS && c->array != ROCPROFV3_SPM;
    if (!c->bad_time && needs_times && !(c->has_start && c->has_end))
        c->bad_time = rocl_time_fault((rocl_view){0}, 1);
    if (c->bad_time)
        return rocl_record_fault(c->to, where, ROCL_FAULT_BAD_TIME, c->bad_time);
    if (c->bad)
        rocl_record_fault(c->to, where, ROCL_FAULT_BAD_VALUE, "a field is not a number");
    if (c->bad_args) /* the first pass has not looked at them */
        c->st = rocl_fault_count(c->in->trace, ROCL_FAULT_BAD_JSON, err,
                                 "%s: byte %" PRIu64 ": arguments that are no JSON",
                                 c->in->files[0].path, where);
    c->r.link = c->internal ? c->internal : ROCL_NO_KEY;
    c->r.as.e.correlation_id = (int64_t)c->external;
    return c->st ? c->st : arrays[c->array].put(c, err);
}

rocl_status rocprofv3_parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                                  rocl_error *err)
{
    rocprofv3_run *run = in->state;
    json_piece c = {.to = to,
                    .in = in,
                    .run = run,
                    .p = &run->processes[piece->section / ROCPROFV3_ARRAYS],
                    .array = (rocprofv3_array)(piece->section % ROCPROFV3_ARRAYS)};
    rocl_json_token v;
    bool wanted = false;
    for (int k = 0; k < ROCL_KINDS; k++)
        wanted |= rocl_kind_in((rocl_kind)k, arrays[c.array].kinds) &&
                  rocl_records_want(to, (rocl_kind)k);
    if (!wanted)
        return ROCL_OK;
    if (!(c.w = rocl_records_own(to, sizeof *c.w)))
        return rocl_fail_memory(err);
    rocl_status st = rocl_json_load(&c.json, &c.w->block, run->spool, piece->first, piece->last,
                                    ROCL_JSON_ELEMENTS | run->flags, err);
    uint64_t count = 0;
    while (st == ROCL_OK && rocl_json_element(&c.json, &v)) {
        st = parse_record(&c, rocl_json_offset(&c.json, &v), err);
        count += !c.json.wrong;
    }
    /* An unreadable part hides the records after it. */
    for (; st == ROCL_OK && c.json.wrong && count < piece->rows; count++)
        rocl_record_fault(to, c.json.offset + (uint64_t)(c.json.at - c.json.begin),
                          ROCL_FAULT_BAD_LINE, c.json.wrong);
    for (int i = 0; i < TEXTS; i++)
        if (st == ROCL_OK && c.w->text[i].failed)
            st = rocl_fail_memory(err);
    return st;
}
