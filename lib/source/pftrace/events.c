/* Track events and GPU events -> records. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/kinds.h"
#include "source/pftrace/pftrace.h"
#include "source/rocprof/row.h"

/* ---- a worker -------------------------------------------------------------------------------- */

/* A sequence as it is at the packet at hand. */
typedef struct open_sequence {
    uint32_t number;
    pfr_state state;
    rocl_map interned; /* table << 56 | iid -> bytes, of what this piece has used or said */
} open_sequence;

/* What is known of a text of the file: made once. */
typedef struct text_facts {
    uint32_t text; /* of the trace, + 1; 0: not made yet */
    uint8_t word;  /* of an annotation's name, + 1 */
    uint8_t class; /* of a category, + 1 */
} text_facts;

typedef struct worker {
    pfr_file *file;
    rocl_records *to;
    pfr_walk walk;
    rocl_buf bytes; /* of the piece */
    rocl_buf name, value;
    open_sequence *open;
    size_t open_count, open_cap;
    uint32_t last;     /* index in open of the sequence of the packet before */
    rocl_map numbers;  /* of a sequence -> index in open */
    text_facts *texts; /* by bytes */
    size_t text_cap;
    rocl_map sums; /* sequence and track -> index in values */
    pfr_sum *values;
    size_t value_count, value_cap;
    struct counted {   /* counters of the dispatch at hand */
        uint32_t name; /* bytes */
        double value;
    } * counted;
    size_t counted_count, counted_cap;
    uint32_t piece;
    uint64_t begin; /* position of the piece */
    /* the packet at hand */
    const pfr_packet *packet;
    open_sequence *sequence;
} worker;

static void forget_piece(worker *w)
{
    for (size_t i = 0; i < w->open_count; i++)
        rocl_map_free(&w->open[i].interned);
    w->open_count = w->value_count = 0;
    rocl_map_free(&w->numbers);
    rocl_map_free(&w->sums);
}

void pfr_free_worker(void *state)
{
    worker *w = state;
    forget_piece(w);
    pfr_walk_free(&w->walk);
    rocl_buf_free(&w->bytes);
    rocl_buf_free(&w->name);
    rocl_buf_free(&w->value);
    free(w->open);
    free(w->texts);
    free(w->values);
    free(w->counted);
    free(w);
}

/* ---- interned texts -------------------------------------------------------------------------- */

static open_sequence *find_sequence(worker *w, const pfr_packet *p)
{
    const uint32_t number = pfr_sequence(w->file, p);
    if (w->last < w->open_count && w->open[w->last].number == number)
        return &w->open[w->last];
    w->last = rocl_map_get(&w->numbers, number, ROCL_NONE);
    if (w->last == ROCL_NONE) {
        if (!ROCL_GROW(w->open, w->open_cap, w->open_count + 1) ||
            !rocl_map_put(&w->numbers, number, (uint32_t)w->open_count))
            return NULL;
        w->last = (uint32_t)w->open_count++;
        w->open[w->last] =
            (open_sequence){.number = number, .state = pfr_state_before(w->file, number, w->piece)};
    }
    return &w->open[w->last];
}

static uint64_t interned_key(unsigned table, uint64_t iid)
{
    return iid ^ rocl_mix64(table);
}

/* What a packet interns is known to the index; here it is noted for the packets of the piece. */
static bool note_interned(worker *w, const pfr_packet *p)
{
    rocl_pb r = rocl_pb_of(p->interned);
    unsigned table;
    uint64_t iid;
    rocl_view bytes;
    while (pfr_interned_next(&r, &table, &iid, &bytes)) {
        const uint32_t id = rocl_strings_put(w->file->bytes, bytes.p, bytes.n);
        if (id == ROCL_NONE || !rocl_map_put(&w->sequence->interned, interned_key(table, iid), id))
            return false;
    }
    return true;
}

/* The bytes that an iid stands for; 0: nothing. */
static uint32_t find_interned(worker *w, unsigned table, uint64_t iid)
{
    open_sequence *s = w->sequence;
    const uint64_t key = interned_key(table, iid);
    uint32_t id = rocl_map_get(&s->interned, key, ROCL_NONE);
    if (id == ROCL_NONE && s->state.cleared <= w->begin) {
        id = pfr_interned_before(w->file, s->number, table, iid, w->begin, s->state.cleared);
        if (!rocl_map_put(&s->interned, key, id))
            w->walk.failed = true;
    }
    return id == ROCL_NONE ? 0 : id;
}

static text_facts *facts_of(worker *w, uint32_t bytes)
{
    static text_facts none;
    if (bytes == ROCL_NONE || !ROCL_GROW(w->texts, w->text_cap, bytes + (size_t)1)) {
        w->walk.failed = true;
        none = (text_facts){0};
        return &none;
    }
    return &w->texts[bytes];
}

/* The text of the trace that has these bytes. */
static uint32_t text_of(worker *w, uint32_t bytes)
{
    text_facts *f = facts_of(w, bytes);
    if (!bytes)
        return 0;
    if (!f->text)
        f->text = rocl_records_text(w->to, pfr_bytes(w->file, bytes)) + 1;
    return f->text - 1;
}

/* ---- what arguments say ---------------------------------------------------------------------- */

/* The annotations that producers write for what is a column elsewhere. */
typedef struct event_facts {
    uint64_t correlation, ancestor, stack, queue, stream, dispatch, bytes, kernel_id, tid, device;
    uint64_t lds, static_lds, scratch, vgpr, accum_vgpr, sgpr, items, kernels, address;
    int64_t begin, end;
    uint32_t grid[3], workgroup[3];
    rocl_view agent, src, dst;
    char numbered[3][24]; /* of them, those that were numbers: "Agent 2" */
} event_facts;

enum { OF_CALLS = 1, OF_WORK = 2 }; /* on which events a word is no argument */
enum { AS_NUMBER, AS_SIZES, AS_TEXT, AS_NOTHING };

#define FACT(name, as, on, member)                                                                 \
    {                                                                                              \
        name, AS_##as, on, offsetof(event_facts, member)                                           \
    }
static const struct {
    const char *name;
    uint8_t as, on;
    uint16_t offset;
} words[] = {
    FACT("corr_id", NUMBER, OF_CALLS | OF_WORK, correlation),
    FACT("ancestor_id", NUMBER, OF_CALLS | OF_WORK, ancestor),
    FACT("stack_id", NUMBER, OF_CALLS | OF_WORK, stack),
    FACT("begin_ns", NUMBER, OF_CALLS | OF_WORK, begin),
    FACT("end_ns", NUMBER, OF_CALLS | OF_WORK, end),
    {"delta_ns", AS_NOTHING, OF_CALLS | OF_WORK, 0},
    {"kind", AS_NOTHING, OF_WORK, 0},
    {"operation", AS_NOTHING, OF_WORK, 0},
    {"agent_type", AS_NOTHING, OF_WORK, 0},
    {"bytes_per_second", AS_NOTHING, OF_WORK, 0},
    FACT("tid", NUMBER, OF_WORK, tid),
    FACT("queue", NUMBER, OF_WORK, queue),
    FACT("queue_id", NUMBER, OF_WORK, queue),
    FACT("stream", NUMBER, OF_WORK, stream),
    FACT("stream_id", NUMBER, OF_WORK, stream),
    FACT("stream_ID", NUMBER, OF_WORK, stream),
    FACT("device", NUMBER, OF_WORK, device),
    FACT("dispatch_id", NUMBER, OF_WORK, dispatch),
    FACT("kernel_id", NUMBER, OF_WORK, kernel_id),
    FACT("copy_bytes", NUMBER, OF_WORK, bytes),
    FACT("bytes", NUMBER, OF_WORK, bytes),
    FACT("allocation_size", NUMBER, OF_WORK, bytes),
    FACT("address", NUMBER, OF_WORK, address),
    FACT("kernels", NUMBER, OF_WORK, kernels),
    FACT("thread_count", NUMBER, OF_WORK, items),
    FACT("LDS_Block_Size", NUMBER, OF_WORK, lds),
    FACT("lds_bytes", NUMBER, OF_WORK, lds),
    FACT("group_segment_size", NUMBER, OF_WORK, lds),
    FACT("Scratch_Size", NUMBER, OF_WORK, scratch),
    FACT("scratch_bytes", NUMBER, OF_WORK, scratch),
    FACT("private_segment_size", NUMBER, OF_WORK, scratch),
    FACT("VGPR_Count", NUMBER, OF_WORK, vgpr),
    FACT("registers_per_thread", NUMBER, OF_WORK, vgpr),
    FACT("Accum_VGPR_Count", NUMBER, OF_WORK, accum_vgpr),
    FACT("accum_vgpr_count", NUMBER, OF_WORK, accum_vgpr),
    FACT("SGPR_Count", NUMBER, OF_WORK, sgpr),
    FACT("sgpr_count", NUMBER, OF_WORK, sgpr),
    FACT("shared_mem_static", NUMBER, OF_WORK, static_lds),
    FACT("workgroup_size", SIZES, OF_WORK, workgroup),
    FACT("grid_size", SIZES, OF_WORK, grid),
    FACT("workgroup", SIZES, OF_WORK, workgroup),
    FACT("grid", SIZES, OF_WORK, grid),
    FACT("agent", TEXT, OF_WORK, agent),
    FACT("src_agent", TEXT, OF_WORK, src),
    FACT("src", TEXT, OF_WORK, src),
    FACT("dst_agent", TEXT, OF_WORK, dst),
    FACT("dst", TEXT, OF_WORK, dst),
};
enum { WORDS = sizeof words / sizeof *words };
_Static_assert(WORDS < 254, "a word and a mark must fit in a byte");

static unsigned word_of(rocl_view name)
{
    unsigned i = 0;
    while (i < WORDS && !rocl_view_is(name, words[i].name))
        i++;
    return i;
}

static void begin_facts(event_facts *f)
{
    *f = (event_facts){.agent = {"", 0}, .src = {"", 0}, .dst = {"", 0}};
    f->correlation = f->ancestor = f->stack = f->queue = f->stream = f->tid = f->device =
        ROCL_NO_KEY;
}

/* "(256, 1, 1)"; a number alone is a product, which says nothing. */
static void read_sizes(rocl_view v, uint32_t to[3])
{
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t n = 0;
        while (at < v.n && (v.p[at] < '0' || v.p[at] > '9'))
            at++;
        for (; at < v.n && v.p[at] >= '0' && v.p[at] <= '9'; at++)
            n = n <= UINT32_MAX ? n * 10 + (uint64_t)(v.p[at] - '0') : n;
        to[i] = n <= UINT32_MAX ? (uint32_t)n : 0;
    }
}

static void set_fact(event_facts *f, unsigned word, bool is_text, uint64_t number, rocl_view text)
{
    void *to = (char *)f + words[word].offset;
    switch (words[word].as) {
    case AS_NUMBER:
        if (is_text) {
            size_t i = 0;
            for (number = 0; i < text.n && i < 19 && text.p[i] >= '0' && text.p[i] <= '9'; i++)
                number = number * 10 + (uint64_t)(text.p[i] - '0');
            if (!i || i < text.n)
                return;
        }
        *(uint64_t *)to = number;
        break;
    case AS_SIZES:
        if (is_text)
            read_sizes(text, to);
        break;
    case AS_TEXT:
        if (!is_text) {
            char *label = f->numbered[to == &f->agent ? 0 : to == &f->src ? 1 : 2];
            text = (rocl_view){label, (size_t)snprintf(label, sizeof f->numbered[0],
                                                       "Agent %" PRIu32, (uint32_t)number)};
        }
        *(rocl_view *)to = text;
        break;
    default:
        break;
    }
}

/* ---- annotations ----------------------------------------------------------------------------- */

typedef struct note {
    rocl_view name, text;
    uint64_t number;
    uint32_t name_bytes; /* ROCL_NONE: the name is no interned one */
    uint32_t kind;       /* field of DebugAnnotation; 0: it has no value */
    rocl_view whole;
} note;

static note read_note(worker *w, rocl_view message)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field f;
    note n = {.name = {"", 0}, .text = {"", 0}, .name_bytes = ROCL_NONE, .whole = message};
    while (rocl_pb_next(&r, &f)) {
        const bool bytes = f.kind == ROCL_PB_BYTES;
        switch (f.number) {
        case NOTE_NAME_IID:
            n.name_bytes = find_interned(w, INTERNED_ANNOTATIONS, f.value);
            n.name = pfr_bytes(w->file, n.name_bytes);
            break;
        case NOTE_NAME:
            if (bytes)
                n.name = f.bytes;
            break;
        case NOTE_STRING_IID:
            n.text = pfr_bytes(w->file, find_interned(w, INTERNED_STRINGS, f.value));
            n.kind = NOTE_STRING;
            break;
        case NOTE_STRING:
        case NOTE_JSON:
        case NOTE_DICT:
        case NOTE_ARRAY:
        case NOTE_NESTED:
            if (bytes) {
                n.text = f.bytes;
                n.kind = f.number;
            }
            break;
        case NOTE_BOOL:
        case NOTE_UINT:
        case NOTE_INT:
        case NOTE_DOUBLE:
        case NOTE_POINTER:
            n.number = f.value;
            n.kind = f.number;
            break;
        default:
            break;
        }
    }
    return n;
}

static unsigned note_word(worker *w, const note *n)
{
    if (n->name_bytes == ROCL_NONE)
        return word_of(n->name);
    text_facts *f = facts_of(w, n->name_bytes);
    if (!f->word)
        f->word = (uint8_t)(word_of(n->name) + 1);
    return f->word - 1u;
}

enum { NOTE_DEPTH_MAX = 16 };

/* A number of an annotation as text, which has room for 40 characters. */
static rocl_view number_text(char *text, uint32_t kind, uint64_t number)
{
    double d;
    int n;
    memcpy(&d, &number, sizeof d);
    switch (kind) {
    case NOTE_BOOL:
        return number ? (rocl_view){"true", 4} : (rocl_view){"false", 5};
    case NOTE_UINT:
        n = snprintf(text, 40, "%" PRIu64, number);
        break;
    case NOTE_INT:
        n = snprintf(text, 40, "%" PRId64, (int64_t)number);
        break;
    case NOTE_POINTER:
        n = snprintf(text, 40, "0x%" PRIx64, number);
        break;
    default:
        n = snprintf(text, 40, "%.17g", d);
    }
    return (rocl_view){text, (size_t)n};
}

/* A NestedValue under the name in w->name: a value, or a dictionary or array of some. */
static void pass_nested(worker *w, rocl_view message, int depth)
{
    static const uint8_t kinds[] = {
        [NESTED_INT] = NOTE_INT, [NESTED_DOUBLE] = NOTE_DOUBLE, [NESTED_BOOL] = NOTE_BOOL};
    const size_t name = w->name.len;
    rocl_pb r = rocl_pb_of(message), keys = r;
    rocl_pb_field f, key;
    unsigned elements = 0;
    char text[40];
    for (; depth < NOTE_DEPTH_MAX && rocl_pb_next(&r, &f); w->name.len = name) {
        rocl_view value = {NULL, 0};
        if (f.number == NESTED_VALUES && f.kind == ROCL_PB_BYTES) {
            do /* the values have the keys one by one */
                key = (rocl_pb_field){.bytes = {"", 0}};
            while (rocl_pb_next(&keys, &key) &&
                   (key.number != NESTED_KEYS || key.kind != ROCL_PB_BYTES));
            rocl_buf_byte(&w->name, '.');
            rocl_buf_put(&w->name, key.bytes.p, key.bytes.n);
            pass_nested(w, f.bytes, depth + 1);
        } else if (f.number == NESTED_ELEMENTS && f.kind == ROCL_PB_BYTES) {
            rocl_buf_printf(&w->name, "[%u]", elements++);
            pass_nested(w, f.bytes, depth + 1);
        } else if (f.number == NESTED_STRING && f.kind == ROCL_PB_BYTES) {
            value = f.bytes;
        } else if (f.number >= NESTED_INT && f.number <= NESTED_BOOL && f.kind != ROCL_PB_BYTES) {
            value = number_text(text, kinds[f.number], f.value);
        }
        if (value.p)
            rocl_record_arg(w->to, (rocl_view){(const char *)w->name.data, w->name.len}, value);
    }
}

/* Passes an annotation on as an argument; entries of dictionaries as "name.key", of arrays as
 * "name[0]". */
static void pass_note(worker *w, const note *n, int depth)
{
    const size_t name = w->name.len;
    char text[40];
    rocl_buf_put(&w->name, n->name.p, n->name.n);
    if (n->kind == NOTE_NESTED) {
        pass_nested(w, n->text, depth);
        w->name.len = name;
        return;
    }
    if (n->kind == NOTE_DICT || n->kind == NOTE_ARRAY) {
        rocl_pb r = rocl_pb_of(n->whole);
        rocl_pb_field f;
        const size_t inner = w->name.len;
        for (unsigned i = 0; depth < NOTE_DEPTH_MAX && rocl_pb_next(&r, &f);) {
            if (f.number != n->kind || f.kind != ROCL_PB_BYTES)
                continue;
            note entry = read_note(w, f.bytes);
            w->name.len = inner;
            if (n->kind == NOTE_DICT)
                rocl_buf_byte(&w->name, '.');
            else
                rocl_buf_printf(&w->name, "[%u]", i++);
            pass_note(w, &entry, depth + 1);
        }
        w->name.len = name;
        return;
    }
    const bool is_text = !n->kind || n->kind == NOTE_STRING || n->kind == NOTE_JSON;
    rocl_record_arg(w->to, (rocl_view){(const char *)w->name.data, w->name.len},
                    is_text ? n->text : number_text(text, n->kind, n->number));
    w->name.len = name;
}

/* Is it the value of a counter of the dispatch? Then it is kept for put_counters. */
static bool keep_counter(worker *w, uint32_t name, double value)
{
    if (name == ROCL_NONE || rocl_map_get(&w->file->of_kernels, name, 0) != 2)
        return false;
    if (ROCL_GROW(w->counted, w->counted_cap, w->counted_count + 1))
        w->counted[w->counted_count++] = (struct counted){name, value};
    else
        w->walk.failed = true;
    return true;
}

static bool is_counter_note(worker *w, const note *n)
{
    double v;
    memcpy(&v, &n->number, sizeof v);
    if (n->kind == NOTE_DOUBLE)
        return keep_counter(w, n->name_bytes, v);
    return (n->kind == NOTE_INT || n->kind == NOTE_UINT) &&
           keep_counter(w, n->name_bytes, (double)(int64_t)n->number);
}

/* The counters of a dispatch, which has been put, as records of their own. */
static rocl_status put_counters(worker *w, const rocl_source_record *dispatch, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (!rocl_records_want(w->to, ROCL_COUNTER))
        return ROCL_OK;
    for (size_t i = 0; i < w->counted_count && st == ROCL_OK; i++) {
        const double value = w->counted[i].value;
        rocl_source_record r = *dispatch;
        r.kind = ROCL_COUNTER;
        r.half = ROCL_WHOLE;
        r.at = 0;
        r.counter = pfr_bytes(w->file, w->counted[i].name);
        r.as.counter = (rocl_counter_value){.d = dispatch->as.dispatch, .value = value};
        st = value - value != 0 ? rocl_record_fault(w->to, r.where, ROCL_FAULT_NO_NUMBER,
                                                    "the value of a counter is no number", err)
                                : rocl_record_put(w->to, &r, err);
    }
    return st;
}

/* Annotations of an event: facts, and unless `args` is false arguments of the next record. */
static void read_notes(worker *w, rocl_view event, unsigned on, event_facts *facts, bool args)
{
    rocl_pb r = rocl_pb_of(event);
    rocl_pb_field f;
    while (rocl_pb_next(&r, &f)) {
        if (f.number != EV_ANNOTATION || f.kind != ROCL_PB_BYTES)
            continue;
        const note n = read_note(w, f.bytes);
        const unsigned word = note_word(w, &n);
        if (word < WORDS && words[word].on & on)
            set_fact(facts, word, n.kind == NOTE_STRING, n.number, n.text);
        else if (on == OF_WORK && is_counter_note(w, &n))
            continue;
        else if (args)
            pass_note(w, &n, 0);
    }
}

/* ---- track events ---------------------------------------------------------------------------- */

typedef enum event_class {
    CLASS_CALL,
    CLASS_MARKER,
    CLASS_KERNEL,
    CLASS_COPY,
    CLASS_STREAM, /* kernels and copies */
    CLASS_ALLOCATION,
    CLASS_SCRATCH,
    CLASS_GRAPH,
    CLASS_HIP_EVENT,
    CLASS_BARRIER
} event_class;

static event_class class_of(const char *category)
{
    static const struct {
        const char *category;
        event_class class;
    } classes[] = {{"kernel_dispatch", CLASS_KERNEL},
                   {"memory_copy", CLASS_COPY},
                   {"hip_stream", CLASS_STREAM},
                   {"memory_allocation", CLASS_ALLOCATION},
                   {"memory_allocate", CLASS_ALLOCATION},
                   {"scratch_memory", CLASS_SCRATCH},
                   {"graph_launch", CLASS_GRAPH},
                   {"hip_event", CLASS_HIP_EVENT},
                   {"barrier", CLASS_BARRIER},
                   {"user", CLASS_MARKER},
                   {"python", CLASS_MARKER},
                   {"kokkos", CLASS_MARKER}};
    const char *bare = rocl_bare_category(category);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (!strcmp(bare, classes[i].category))
            return classes[i].class;
    const rocl_call_group *g = rocl_call_group_of(bare);
    return g && g->domain == ROCL_DOMAIN_MARKERS ? CLASS_MARKER : CLASS_CALL;
}

/* What a phase of Chrome's is besides the types of track events. */
enum { TYPE_COMPLETE = 256, TYPE_ARROW, TYPE_OF_CHROME };

/* A LegacyEvent. */
typedef struct legacy_event {
    uint64_t id, bind;
    int64_t duration_us, pid, tid;
    rocl_view scope;
    char phase;
    uint8_t direction;
    bool has_phase, has_id, has_bind, has_pid, has_tid, local, enclosing;
    bool of_thread; /* an instant may be of its process, or of all */
} legacy_event;

static legacy_event read_legacy(rocl_view message)
{
    legacy_event l = {.scope = {"", 0}, .of_thread = true};
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field f;
    while (rocl_pb_next(&r, &f)) {
        switch (f.number) {
        case LEGACY_PHASE:
            l.phase = f.value < 128 ? (char)f.value : '?';
            l.has_phase = true;
            break;
        case LEGACY_DURATION:
            l.duration_us = (int64_t)f.value;
            break;
        case LEGACY_ID:
        case LEGACY_LOCAL_ID:
        case LEGACY_GLOBAL_ID:
            l.id = f.value;
            l.local = f.number == LEGACY_LOCAL_ID;
            l.has_id = true;
            break;
        case LEGACY_ID_SCOPE:
            l.scope = f.kind == ROCL_PB_BYTES ? f.bytes : l.scope;
            break;
        case LEGACY_BIND_ID:
            l.bind = f.value;
            l.has_bind = true;
            break;
        case LEGACY_ENCLOSING:
            l.enclosing = f.value;
            break;
        case LEGACY_DIRECTION:
            l.direction = (uint8_t)(f.value & (DIRECTION_IN | DIRECTION_OUT));
            break;
        case LEGACY_INSTANT_SCOPE:
            l.of_thread = f.value != INSTANT_OF_ALL && f.value != INSTANT_OF_PROCESS;
            break;
        case LEGACY_PID:
            l.pid = (int32_t)f.value;
            l.has_pid = true;
            break;
        case LEGACY_TID:
            l.tid = (int32_t)f.value;
            l.has_tid = true;
            break;
        default:
            break;
        }
    }
    return l;
}

static uint64_t type_of_phase(char phase)
{
    static const struct {
        const char *phases;
        uint64_t type;
    } types[] = {{"BbS", TYPE_BEGIN},  {"EeF", TYPE_END},   {"iIRnTp", TYPE_INSTANT},
                 {"X", TYPE_COMPLETE}, {"stf", TYPE_ARROW}, {"M", TYPE_OF_CHROME}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (phase && strchr(types[i].phases, phase))
            return types[i].type;
    return UINT64_MAX;
}

static uint64_t hash_text(uint64_t h, rocl_view v)
{
    for (size_t i = 0; i < v.n; i++)
        h = (h ^ (uint8_t)v.p[i]) * 0x100000001b3u;
    return rocl_mix64(h ^ v.n);
}

/* The fields of a TrackEvent. */
typedef struct track_event {
    uint64_t type, uuid, correlation, flow;
    rocl_view name, category;
    uint32_t name_bytes, category_bytes; /* ROCL_NONE: the view has it */
    bool has_track, has_name, has_value, has_extra;
    double value;
    bool is_legacy;
    legacy_event legacy;
    uint64_t thread; /* key, of calls */
} track_event;

static track_event read_track_event(worker *w, rocl_view message)
{
    rocl_pb r = rocl_pb_of(message), inner;
    rocl_pb_field f, g;
    const pfr_state *s = &w->sequence->state;
    track_event e = {.uuid = pfr_track_unsaid(s),
                     .has_track = pfr_track_unsaid(s) != 0,
                     .correlation = ROCL_NO_KEY,
                     .flow = ROCL_NO_KEY,
                     .name = {"", 0},
                     .category = {"", 0},
                     .name_bytes = ROCL_NONE,
                     .category_bytes = ROCL_NONE};
    while (rocl_pb_next(&r, &f)) {
        switch (f.number) {
        case EV_TYPE:
            e.type = f.value;
            break;
        case EV_TRACK:
            e.uuid = f.value;
            e.has_track = true;
            break;
        case EV_NAME_IID:
            e.name_bytes = find_interned(w, INTERNED_NAMES, f.value);
            e.has_name = true;
            break;
        case EV_NAME:
            if (f.kind == ROCL_PB_BYTES) {
                e.name = f.bytes;
                e.has_name = true;
            }
            break;
        case EV_CATEGORY_IID:
            if (e.category_bytes == ROCL_NONE && f.kind == ROCL_PB_VARINT)
                e.category_bytes = find_interned(w, INTERNED_CATEGORIES, f.value);
            break;
        case EV_CATEGORY:
            if (!e.category.n && f.kind == ROCL_PB_BYTES)
                e.category = f.bytes;
            break;
        case EV_COUNTER_VALUE:
            e.value = (double)(int64_t)f.value;
            e.has_value = true;
            break;
        case EV_DOUBLE_VALUE:
            e.value = f.kind == ROCL_PB_FIXED64 ? rocl_pb_double(&f) : 0;
            e.has_value = true;
            break;
        case EV_EXTRA_VALUES:
        case EV_EXTRA_DOUBLE_VALUES:
            e.has_extra = true;
            break;
        case EV_FLOW:
        case EV_FLOW_END:
        case EV_OLD_FLOW:
        case EV_OLD_FLOW_END:
            e.flow = e.flow == ROCL_NO_KEY && f.kind != ROCL_PB_BYTES ? f.value : e.flow;
            break;
        case EV_LEGACY:
            e.is_legacy = f.kind == ROCL_PB_BYTES;
            if (e.is_legacy)
                e.legacy = read_legacy(f.bytes);
            break;
        case EV_GPU_CORRELATION:
            inner = f.kind == ROCL_PB_BYTES ? rocl_pb_of(f.bytes) : (rocl_pb){0};
            while (rocl_pb_next(&inner, &g))
                if (g.number == CORRELATION_SUBMISSION && g.kind == ROCL_PB_VARINT)
                    e.correlation = g.value;
            break;
        default:
            break;
        }
    }
    if (!e.type && e.is_legacy && e.legacy.has_phase) {
        e.type = type_of_phase(e.legacy.phase);
        e.uuid = e.uuid || !e.legacy.of_thread ? e.uuid : s->thread_track; /* 0: none is said */
    }
    return e;
}

static rocl_view name_of(const worker *w, const track_event *e)
{
    return e->name.n || e->name_bytes == ROCL_NONE ? e->name : pfr_bytes(w->file, e->name_bytes);
}

static rocl_view category_of(const worker *w, const track_event *e)
{
    return e->category_bytes == ROCL_NONE ? e->category : pfr_bytes(w->file, e->category_bytes);
}

static uint32_t name_text(worker *w, const track_event *e)
{
    return e->name.n || e->name_bytes == ROCL_NONE ? rocl_records_text(w->to, e->name)
                                                   : text_of(w, e->name_bytes);
}

/* Ours hold the number of the input among others in their upper bits: records of one process have
 * the same. */
static uint64_t plain_link(uint64_t link)
{
    return link >> 63 ? link : link & (((uint64_t)1 << 40) - 1);
}

static void set_agent(uint64_t *number, rocl_agent_type *type, const pfr_agent *a)
{
    *number = a->number;
    *type = a->type;
}

static void agent_of_text(const pfr_file *f, rocl_view text, uint64_t *number,
                          rocl_agent_type *type)
{
    pfr_agent a;
    if (pfr_find_agent(f, text, &a))
        set_agent(number, type, &a);
}

/* A dispatch, copy, ... by its facts. */
static void fill_work(worker *w, rocl_source_record *r, const event_facts *a,
                      rocl_key_facts *symbol)
{
    const pfr_file *f = w->file;
    r->stream = a->stream;
    r->queue = a->queue;
    r->thread = a->tid;
    r->agent_type = ROCL_AGENT_GPU;
    agent_of_text(f, a->agent, &r->agent, &r->agent_type);
    switch (r->kind) {
    case ROCL_DISPATCH: {
        rocl_dispatch *d = &r->as.dispatch;
        d->e.category = f->words[0];
        d->dispatch_id = a->dispatch;
        d->kernel_id = (int64_t)a->kernel_id;
        d->group_segment = (int64_t)a->lds;
        d->private_segment = (int64_t)a->scratch;
        memcpy(d->grid, a->grid, sizeof d->grid);
        memcpy(d->workgroup, a->workgroup, sizeof d->workgroup);
        r->agent_type = ROCL_AGENT_GPU;
        symbol->id = (int64_t)a->kernel_id;
        symbol->group_segment = (int64_t)a->static_lds;
        symbol->arch_vgpr = (int64_t)a->vgpr;
        symbol->accum_vgpr = (int64_t)a->accum_vgpr;
        symbol->sgpr = (int64_t)a->sgpr;
        r->symbol = symbol;
        break;
    }
    case ROCL_COPY:
        r->as.e.category = f->words[1];
        r->as.copy.size = a->bytes;
        agent_of_text(f, a->src, &r->src, &r->src_type);
        agent_of_text(f, a->dst, &r->dst, &r->dst_type);
        r->agent = ROCL_NO_KEY;
        break;
    case ROCL_ALLOC:
    case ROCL_SCRATCH:
        r->as.e.category = f->words[r->kind == ROCL_ALLOC ? 2 : 3];
        rocprof_alloc_operation(r->name, r->kind == ROCL_SCRATCH, &r->as.alloc);
        r->as.alloc.size = a->bytes;
        r->as.alloc.address = a->address;
        break;
    default:
        r->as.hip.kernel_count = a->kernels;
        break;
    }
}

static rocl_kind kind_of_class(event_class c, rocl_view name)
{
    static const rocl_kind kinds[] = {
        [CLASS_CALL] = ROCL_REGION,         [CLASS_MARKER] = ROCL_MARKER,
        [CLASS_KERNEL] = ROCL_DISPATCH,     [CLASS_COPY] = ROCL_COPY,
        [CLASS_STREAM] = ROCL_DISPATCH,     [CLASS_ALLOCATION] = ROCL_ALLOC,
        [CLASS_SCRATCH] = ROCL_SCRATCH,     [CLASS_GRAPH] = ROCL_GRAPH,
        [CLASS_HIP_EVENT] = ROCL_HIP_EVENT, [CLASS_BARRIER] = ROCL_BARRIER};
    const bool copy = c == CLASS_STREAM && name.n >= 12 && !memcmp(name.p, "MEMORY_COPY_", 12);
    return copy ? ROCL_COPY : kinds[c];
}

/* An end of an arrow, at a call or instant. */
static rocl_status put_flow(worker *w, const rocl_source_record *at, rocl_view name, uint64_t flow,
                            rocl_flow_end end, bool next, rocl_error *err)
{
    rocl_source_record r;
    rocl_record_begin(&r, ROCL_FLOW, at->where);
    r.process = at->process;
    r.thread = at->thread;
    r.name = rocl_view_is(name, PF_UNNAMED) ? (rocl_view){"", 0} : name;
    r.as.e.start = r.as.e.end = at->as.e.start;
    r.as.e.category = at->as.e.category;
    r.as.flow.flow = flow;
    r.as.flow.end = end;
    r.as.flow.next = next;
    return rocl_record_put(w->to, &r, err);
}

/* Arrows between calls, of the packet at hand. Those to GPU work are known by its correlation. */
static rocl_status put_flows(worker *w, const rocl_source_record *at, const track_event *e,
                             rocl_error *err)
{
    const rocl_view name = name_of(w, e);
    rocl_pb p = rocl_pb_of(w->packet->body);
    rocl_pb_field f;
    rocl_status st = ROCL_OK;
    if (!rocl_records_want(w->to, ROCL_FLOW))
        return ROCL_OK;
    while (st == ROCL_OK && e->flow != ROCL_NO_KEY && rocl_pb_next(&p, &f)) {
        const bool ends = f.number == EV_FLOW_END || f.number == EV_OLD_FLOW_END;
        if ((f.number == EV_FLOW || f.number == EV_OLD_FLOW || ends) && f.kind != ROCL_PB_BYTES)
            st = put_flow(w, at, name, f.value, ends ? ROCL_FLOW_ENDS : ROCL_FLOW_BEGINS, false,
                          err);
    }
    const unsigned direction = e->legacy.has_bind ? e->legacy.direction : 0;
    if (st == ROCL_OK && direction)
        st = put_flow(w, at, name, e->legacy.bind,
                      direction == DIRECTION_IN    ? ROCL_FLOW_ENDS
                      : direction == DIRECTION_OUT ? ROCL_FLOW_BEGINS
                                                   : ROCL_FLOW_GOES_ON,
                      false, err);
    return st;
}

/* A slice begins, or an instant. */
static rocl_status put_begin(worker *w, rocl_source_record *r, const track_event *e,
                             const pfr_track *t, rocl_error *err)
{
    const uint32_t category = e->category_bytes == ROCL_NONE
                                  ? rocl_strings_put(w->file->bytes, e->category.p, e->category.n)
                                  : e->category_bytes;
    text_facts *known = facts_of(w, category);
    if (!known->class)
        known->class = (uint8_t)(class_of(pfr_bytes(w->file, category).p) + 1);
    const rocl_view name = name_of(w, e);
    const rocl_kind kind =
        r->kind == ROCL_INSTANT ? ROCL_INSTANT : kind_of_class(known->class - 1u, name);
    const bool call = kind <= ROCL_INSTANT;
    bool timed = r->half == ROCL_WHOLE;
    event_facts a;
    rocl_key_facts symbol = {0};
    begin_facts(&a);
    w->counted_count = 0;
    r->kind = kind;
    r->id = name_text(w, e) + (uint64_t)1;
    read_notes(w, w->packet->body, call ? OF_CALLS : OF_WORK, &a,
               (call || kind == ROCL_DISPATCH) && rocl_records_want_args(w->to) &&
                   rocl_records_want(w->to, kind));
    r->link = a.stack != ROCL_NO_KEY && a.stack               ? a.stack
              : a.correlation != ROCL_NO_KEY && a.correlation ? a.correlation
              : e->correlation != ROCL_NO_KEY                 ? plain_link(e->correlation)
              : call                                          ? ROCL_NO_KEY
                                                              : e->flow;
    r->parent = a.ancestor && a.ancestor != a.correlation ? a.ancestor : ROCL_NO_KEY;
    if (call) {
        r->thread = e->thread;
        r->as.e.category = text_of(w, category);
        r->as.e.name = (uint32_t)(r->id - 1);
        if (rocl_view_is(name, PF_UNNAMED))
            r->as.e.name = ROCL_NONE;
        const rocl_status st = rocl_record_put(w->to, r, err);
        return st == ROCL_OK && r->link == ROCL_NO_KEY ? put_flows(w, r, e, err) : st;
    }
    r->name = name;
    fill_work(w, r, &a, &symbol);
    if (kind == ROCL_DISPATCH && a.kernel_id && a.kernel_id <= INT32_MAX)
        r->kernel = a.kernel_id << 32 | (uint32_t)(r->id - 1); /* symbols may share a name */
    if (t && t->place == PFR_STREAM && r->stream == ROCL_NO_KEY)
        r->stream = t->number;
    if (t && t->place == PFR_QUEUE && r->queue == ROCL_NO_KEY)
        r->queue = t->number;
    if (t && t->agent.number != ROCL_NO_KEY && kind == ROCL_COPY && r->dst == ROCL_NO_KEY)
        set_agent(&r->dst, &r->dst_type, &t->agent);
    else if (t && t->agent.number != ROCL_NO_KEY && kind != ROCL_COPY && r->agent == ROCL_NO_KEY)
        r->agent = t->agent.number;
    /* What overlapped on its track was cut; these are the times before. */
    if (a.begin > 0 && a.end >= a.begin) {
        const uint32_t clock =
            w->packet->has_clock ? w->packet->clock : w->sequence->state.default_clock;
        const bool local = clock >= CLOCK_IS_DELTA && clock < CLOCKS_LOCAL_END;
        const uint32_t machine = w->packet->machine;
        uint64_t begin = (uint64_t)a.begin, end = (uint64_t)a.end;
        r->at = r->as.e.start;
        if (!local && (!pfr_clocks_convert(&w->file->clocks, machine, clock, &begin) ||
                       !pfr_clocks_convert(&w->file->clocks, machine, clock, &end)))
            begin = end = UINT64_MAX;
        r->as.e.start = (int64_t)begin;
        r->as.e.end = (int64_t)end;
        if (r->as.e.start < 0 || r->as.e.end < 0)
            return rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_TIME, "a time is too large",
                                     err);
        timed = true;
    }
    const rocl_status st = rocl_record_put(w->to, r, err);
    return st == ROCL_OK && timed && kind == ROCL_DISPATCH ? put_counters(w, r, err) : st;
}

/* A value of a counter track. */
static rocl_status put_value(worker *w, rocl_source_record *r, uint64_t uuid, double value,
                             rocl_error *err)
{
    const pfr_file *f = w->file;
    const pfr_track *t = pfr_track_of(f, w->packet->machine, uuid, w->packet->at);
    rocl_sample_value *s = &r->as.sample;
    if (!t || !t->is_counter)
        return rocl_record_fault(w->to, r->where, ROCL_FAULT_ORPHAN_VALUE,
                                 "the value of a counter that is not described", err);
    if (t->incremental) {
        const uint64_t key = (uint64_t)w->sequence->number << 32 | (uint64_t)(t - f->tracks);
        uint32_t at = rocl_map_get(&w->sums, key, ROCL_NONE);
        if (at == ROCL_NONE) {
            at = (uint32_t)w->value_count;
            if (!ROCL_GROW(w->values, w->value_cap, w->value_count + 1) ||
                !rocl_map_put(&w->sums, key, at))
                return rocl_fail_memory(err);
            w->values[w->value_count++] = pfr_sum_before(f, key, w->piece);
        }
        value = pfr_sum_add(&w->values[at], &w->sequence->state, value);
    }
    if (t->derived)
        return ROCL_OK;
    value *= (double)t->multiplier;
    r->kind = ROCL_SAMPLE;
    r->half = ROCL_WHOLE;
    r->process = t->process;
    r->agent = t->agent.number;
    r->agent_type = t->agent.type;
    r->counter = pfr_bytes(f, t->counter);
    s->xcc = s->shader_engine = s->instance = s->shader_array = s->wgp = -1;
    s->value = value;
    if (value - value != 0)
        return rocl_record_fault(w->to, r->where, ROCL_FAULT_NO_NUMBER,
                                 "the value of a counter is no number", err);
    return rocl_record_put(w->to, r, err);
}

/* Further values of an event: their tracks stand beside them, or in the defaults. */
static rocl_status put_extra(worker *w, const rocl_source_record *base, rocl_error *err)
{
    uint64_t tracks[2][PFR_EXTRA_TRACKS];
    size_t count[2] = {0}, at[2] = {0};
    rocl_pb r = rocl_pb_of(w->packet->body);
    rocl_pb_field f;
    rocl_status st = ROCL_OK;
    pfr_extra_tracks(w->file, &w->sequence->state, w->packet->body, tracks, count);
    while (st == ROCL_OK && rocl_pb_next(&r, &f)) {
        const int real = f.number == EV_EXTRA_DOUBLE_VALUES;
        if (f.number != EV_EXTRA_VALUES && !real)
            continue;
        rocl_source_record value = *base;
        value.where += 1 + at[0] + at[1];
        if (at[real] < count[real])
            st = put_value(w, &value, tracks[real][at[real]],
                           real ? rocl_pb_double(&f) : (double)(int64_t)f.value, err);
        else
            st = rocl_record_fault(w->to, value.where, ROCL_FAULT_ORPHAN_VALUE,
                                   "the value of a counter that has no track", err);
        at[real]++;
    }
    return st;
}

/* Names of the process and thread that an event is of. */
static rocl_status name_track(worker *w, const rocl_source_record *r, const pfr_track *t,
                              rocl_error *err)
{
    if (!t || !t->thread_name || r->thread == ROCL_NO_KEY)
        return ROCL_OK;
    return rocl_record_name(w->to, ROCL_KEY_THREAD, r, pfr_bytes(w->file, t->thread_name), err);
}

/* Asynchronous events of Chrome's belong together by their id within a category, or those of old
 * kinds within a name; all others by their track. False: it has no id. */
static bool find_scope(const worker *w, rocl_source_record *r, const track_event *e,
                       const pfr_track *t)
{
    const legacy_event *l = &e->legacy;
    r->scope = t ? (uint64_t)(t - w->file->tracks)
                 : rocl_mix64(e->has_track ? e->uuid : ~(uint64_t)w->sequence->number) | (uint64_t)1
                                                                                             << 63;
    if (!e->is_legacy || !l->phase || !strchr("beSF", l->phase)) {
        if (l->has_pid || l->has_tid)
            r->scope = rocl_mix64(e->thread ^ rocl_mix64(r->process)) | (uint64_t)1 << 63;
        return true;
    }
    const bool old = l->phase == 'S' || l->phase == 'F';
    uint64_t h = hash_text(l->id, l->scope);
    h = hash_text(h, old && !l->scope.n ? name_of(w, e) : category_of(w, e));
    r->scope = h | (uint64_t)1 << 63;
    return l->has_id;
}

/* Chrome's arrows: they end in the slice that begins next unless they say otherwise. */
static rocl_status put_arrow(worker *w, rocl_source_record *r, const track_event *e,
                             rocl_error *err)
{
    const char phase = e->legacy.phase;
    const rocl_view name = name_of(w, e), category = category_of(w, e);
    if (!e->legacy.has_id)
        return rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_LINE, "an arrow without an id",
                                 err);
    if (!rocl_records_want(w->to, ROCL_FLOW))
        return ROCL_OK;
    r->thread = e->thread;
    r->as.e.category = rocl_records_text(w->to, category);
    return put_flow(w, r, name, hash_text(hash_text(e->legacy.id, category), name),
                    phase == 's'   ? ROCL_FLOW_BEGINS
                    : phase == 't' ? ROCL_FLOW_GOES_ON
                                   : ROCL_FLOW_ENDS,
                    phase == 'f' && !e->legacy.enclosing, err);
}

/* An end brings arguments, and arrows: they are drawn a ns earlier, where the slice still is. */
static rocl_status put_end(worker *w, rocl_source_record *r, const track_event *e, rocl_error *err)
{
    event_facts a; /* of calls: an end of work says nothing new */
    begin_facts(&a);
    r->half = ROCL_ENDS;
    r->id = e->has_name ? name_text(w, e) + (uint64_t)1 : 0;
    if (rocl_records_want_args(w->to))
        read_notes(w, w->packet->body, OF_CALLS, &a, true);
    rocl_status st = rocl_record_put(w->to, r, err);
    if (st != ROCL_OK || (e->flow == ROCL_NO_KEY && !e->legacy.has_bind) || r->as.e.start <= 0)
        return st;
    rocl_source_record at = *r;
    at.thread = e->thread;
    at.as.e.start--;
    at.as.e.category = rocl_records_text(w->to, category_of(w, e));
    return put_flows(w, &at, e, err);
}

static rocl_status put_track_event(worker *w, rocl_source_record *r, rocl_error *err)
{
    track_event e = read_track_event(w, w->packet->body);
    const legacy_event *l = &e.legacy;
    const pfr_track *t =
        e.has_track ? pfr_track_of(w->file, w->packet->machine, e.uuid, w->packet->at) : NULL;
    const char *why = NULL;
    rocl_status st = ROCL_OK;
    if (e.has_extra)
        st = put_extra(w, r, err);
    if (st != ROCL_OK)
        return st;
    r->process = t ? t->process : ROCL_NO_KEY;
    e.thread = t ? t->thread : ROCL_KEY_OF_TEXT | (uint64_t)1 << 41;
    if (l->has_pid)
        r->process = pfr_process_key(w->packet->machine, l->pid);
    if (l->has_pid || l->has_tid) {
        e.thread = l->has_tid ? (uint64_t)(uint32_t)l->tid : ROCL_KEY_OF_TEXT | (uint64_t)1 << 41;
        t = NULL;
    }
    if (!find_scope(w, r, &e, t))
        return rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_LINE,
                                 "an asynchronous event without an id", err);
    switch (e.type) {
    case TYPE_COMPLETE:
        if (l->duration_us < 0 || __builtin_mul_overflow(l->duration_us, 1000, &r->as.e.end) ||
            __builtin_add_overflow(r->as.e.end, r->as.e.start, &r->as.e.end))
            return rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_TIME,
                                     "a duration that is negative or too large", err);
        /* fallthrough */
    case TYPE_BEGIN:
    case TYPE_INSTANT:
    case TYPE_STATE: /* it changes to its name at this moment */
        if (e.type == TYPE_STATE && !e.has_name)
            return ROCL_OK;
        r->kind = e.type >= TYPE_INSTANT && e.type != TYPE_COMPLETE ? ROCL_INSTANT : ROCL_REGION;
        r->half = e.type == TYPE_BEGIN ? ROCL_BEGINS : ROCL_WHOLE;
        st = put_begin(w, r, &e, t, err);
        return st == ROCL_OK && r->kind <= ROCL_INSTANT ? name_track(w, r, t, err) : st;
    case TYPE_END:
        return put_end(w, r, &e, err);
    case TYPE_ARROW:
        return put_arrow(w, r, &e, err);
    case TYPE_COUNTER:
        return e.has_value || !e.has_extra ? put_value(w, r, e.uuid, e.value, err) : ROCL_OK;
    case TYPE_OF_CHROME:
        return ROCL_OK;
    case 0:
        why = e.has_extra ? NULL : "a track event without a type";
        break;
    default:
        why = e.type == UINT64_MAX ? "an event of Chrome's of an unknown phase"
                                   : "a track event of an unknown type";
    }
    return why ? rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_LINE, why, err) : ROCL_OK;
}

/* ---- GPU events ------------------------------------------------------------------------------ */

static void read_dim(rocl_view message, uint32_t to[3])
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field f;
    while (rocl_pb_next(&r, &f))
        if (f.number >= 1 && f.number <= 3 && f.kind == ROCL_PB_VARINT)
            to[f.number - 1] = (uint32_t)f.value;
}

/* An ExtraComputeArg. */
static void read_arg(worker *w, rocl_view message, event_facts *a)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field f;
    unsigned word = WORDS;
    uint64_t number = 0;
    uint32_t counter = ROCL_NONE;
    double value = 0;
    rocl_view text = {"", 0};
    bool is_text = false;
    while (rocl_pb_next(&r, &f)) {
        if (f.number == ARG_NAME_IID) {
            const uint32_t name = find_interned(w, INTERNED_ARG_NAMES, f.value);
            const note n = {.name = pfr_bytes(w->file, name), .name_bytes = name};
            word = note_word(w, &n);
            counter = name;
        } else if (f.number == ARG_NAME && f.kind == ROCL_PB_BYTES) {
            word = word_of(f.bytes);
        } else if (f.number == ARG_INT || f.number == ARG_UINT) {
            number = f.value;
            value = (double)(int64_t)number;
        } else if (f.number == ARG_DOUBLE && f.kind == ROCL_PB_FIXED64) {
            value = rocl_pb_double(&f);
        } else if (f.number == ARG_STRING && f.kind == ROCL_PB_BYTES) {
            text = f.bytes;
            is_text = true;
        } else if (f.number == ARG_STRING_IID) {
            text = pfr_bytes(w->file, find_interned(w, INTERNED_STRINGS, f.value));
            is_text = true;
        }
    }
    if (word < WORDS)
        set_fact(a, word, is_text, number, text);
    else if (!is_text)
        keep_counter(w, counter, value);
}

/* Perfetto counts groups, AMD work-items. Where the last group of a row is not full, the number of
 * all items tells the size of a grid of one dimension. */
static void read_launch(worker *w, rocl_view message, event_facts *a)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field f;
    uint64_t items = 1;
    unsigned rows = 0, row = 0;
    while (rocl_pb_next(&r, &f)) {
        if (f.kind != ROCL_PB_BYTES)
            continue;
        if (f.number == LAUNCH_GRID)
            read_dim(f.bytes, a->grid);
        else if (f.number == LAUNCH_WORKGROUP)
            read_dim(f.bytes, a->workgroup);
        else if (f.number == LAUNCH_ARGS)
            read_arg(w, f.bytes, a);
    }
    for (unsigned i = 0; i < 3; i++) {
        a->grid[i] *= a->workgroup[i] ? a->workgroup[i] : 1;
        items *= a->grid[i];
        if (a->grid[i] > 1) {
            rows++;
            row = i;
        }
    }
    if (rows == 1 && a->items && a->items < items)
        a->grid[row] = (uint32_t)a->items;
}

/* A field that is a text of an interned message; or a number. */
static rocl_view message_text(rocl_view message, uint32_t field)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field f;
    rocl_view v = {"", 0};
    while (rocl_pb_next(&r, &f))
        if (f.number == field && f.kind == ROCL_PB_BYTES)
            v = f.bytes;
    return v;
}

static rocl_kind kind_of_stage(rocl_view stage, uint64_t category)
{
    static const struct {
        const char *stage;
        rocl_kind kind;
    } stages[] = {{PF_STAGE_KERNEL, ROCL_DISPATCH},  {PF_STAGE_COPY, ROCL_COPY},
                  {PF_STAGE_ALLOCATION, ROCL_ALLOC}, {PF_STAGE_SCRATCH, ROCL_SCRATCH},
                  {PF_STAGE_GRAPH, ROCL_GRAPH},      {PF_STAGE_HIP_EVENT, ROCL_HIP_EVENT},
                  {PF_STAGE_BARRIER, ROCL_BARRIER}};
    (void)category;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (rocl_view_is(stage, stages[i].stage))
            return stages[i].kind;
    return ROCL_DISPATCH;
}

/* Ours have the number of their stream as an argument, or that of their queue where they have none,
 * and what they are drawn by in the name of the hardware queue. */
static void place_stage(rocl_source_record *r, rocl_view queue, const event_facts *a)
{
    const uint64_t number = a->stream;
    char plain[40];
    r->stream = r->queue = ROCL_NO_KEY;
    if (number == ROCL_NO_KEY || (queue.n >= 3 && !memcmp(queue.p, "No ", 3)))
        return;
    if (queue.n > 6 && queue.n < sizeof plain && !memcmp(queue.p, "Queue ", 6)) {
        snprintf(plain, sizeof plain, "%.*s", (int)queue.n, queue.p);
        r->queue = strtoull(plain + 6, NULL, 10);
        r->stream = number == r->queue ? ROCL_NO_KEY : number;
        return;
    }
    static const char *const others[] = {"Copies", "Memory", "Scratch", "Graph launches", "Host "};
    bool other = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const size_t n = strlen(others[i]);
        if (queue.n < n || memcmp(queue.p, others[i], n) != 0)
            continue;
        if (!number)
            return;
        other = r->kind != ROCL_COPY; /* their queues are not known to us */
    }
    *(other ? &r->queue : &r->stream) = number;
}

/* Ours have it behind their name where a trace has several processes. */
static rocl_view without_pid(rocl_view queue)
{
    size_t n = queue.n && queue.p[queue.n - 1] == ')' ? queue.n - 1 : 0;
    while (n && queue.p[n - 1] >= '0' && queue.p[n - 1] <= '9')
        n--;
    return n > 6 && !memcmp(queue.p + n - 6, " (pid ", 6) ? (rocl_view){queue.p, n - 6} : queue;
}

static rocl_status put_stage(worker *w, rocl_source_record *r, rocl_error *err)
{
    rocl_pb p = rocl_pb_of(w->packet->body), inner;
    rocl_pb_field f, g;
    uint64_t duration = 0, gpu = 0, event = 0;
    rocl_view queue = {"", 0}, stage = {"", 0}, kernel = {"", 0}, launch = {"", 0};
    event_facts a;
    rocl_key_facts symbol = {0};
    begin_facts(&a);
    w->counted_count = 0;
    r->name = queue;
    while (rocl_pb_next(&p, &f)) {
        rocl_view v = {"", 0};
        switch (f.number) {
        case STAGE_EVENT_ID:
            event = f.value;
            break;
        case STAGE_DURATION:
            duration = f.value;
            break;
        case STAGE_GPU:
            gpu = f.value;
            break;
        case STAGE_CONTEXT:
            v = pfr_bytes(w->file, find_interned(w, INTERNED_CONTEXTS, f.value));
            inner = rocl_pb_of(v);
            while (rocl_pb_next(&inner, &g))
                if (g.number == CONTEXT_PID)
                    r->process = pfr_process_key(w->packet->machine, (int32_t)g.value);
            break;
        case STAGE_QUEUE_IID:
            v = pfr_bytes(w->file, find_interned(w, INTERNED_SPECS, f.value));
            queue = without_pid(message_text(v, SPEC_NAME));
            break;
        case STAGE_IID:
            v = pfr_bytes(w->file, find_interned(w, INTERNED_SPECS, f.value));
            stage = message_text(v, SPEC_NAME);
            break;
        case STAGE_KERNEL_IID:
            kernel = pfr_bytes(w->file, find_interned(w, INTERNED_KERNELS, f.value));
            break;
        case STAGE_NAME_IID:
            r->name = pfr_bytes(w->file, find_interned(w, INTERNED_NAMES, f.value));
            break;
        case STAGE_NAME:
            r->name = f.kind == ROCL_PB_BYTES ? f.bytes : r->name;
            break;
        case STAGE_LAUNCH:
            launch = f.kind == ROCL_PB_BYTES ? f.bytes : launch;
            break;
        default:
            break;
        }
    }
    r->kind = kind_of_stage(stage, 0);
    if (!rocl_records_want(w->to, r->kind))
        return ROCL_OK;
    if (__builtin_add_overflow(r->as.e.start, (int64_t)duration, &r->as.e.end))
        return rocl_record_fault(w->to, r->where, ROCL_FAULT_BAD_TIME, "a time is too large", err);
    inner = rocl_pb_of(kernel);
    while (rocl_pb_next(&inner, &g))
        if (g.number == KERNEL_ARGS && g.kind == ROCL_PB_BYTES)
            read_arg(w, g.bytes, &a);
    read_launch(w, launch, &a);
    if (!r->name.n)
        r->name = stage;
    if (rocl_view_is(r->name, PF_UNNAMED))
        r->name = (rocl_view){"", 0};
    const rocl_view mangled = message_text(kernel, KERNEL_NAME);
    if (r->kind == ROCL_DISPATCH && mangled.n) {
        symbol.mangled = rocl_records_text(w->to, mangled);
        r->kernel = (uint64_t)symbol.mangled << 32 | rocl_records_text(w->to, r->name);
    }
    for (p = rocl_pb_of(w->packet->body);
         r->kind == ROCL_DISPATCH && rocl_records_want_args(w->to) && rocl_pb_next(&p, &f);)
        if (f.number == STAGE_EXTRA && f.kind == ROCL_PB_BYTES)
            rocl_record_arg(w->to, message_text(f.bytes, EXTRA_NAME),
                            message_text(f.bytes, EXTRA_VALUE));
    fill_work(w, r, &a, &symbol);
    place_stage(r, queue, &a);
    char plain[40];
    snprintf(plain, sizeof plain, "Stream %" PRIu64, r->stream);
    if (r->stream != ROCL_NO_KEY && !rocl_view_is(queue, plain)) {
        const rocl_status st = rocl_record_name(w->to, ROCL_KEY_STREAM, r, queue, err);
        if (st != ROCL_OK)
            return st;
    }
    const pfr_gpu *known = pfr_gpu_of(w->file, w->packet->machine, gpu);
    const pfr_agent device =
        known ? known->agent
              : (pfr_agent){(uint64_t)ROCL_AGENT_GPU << 32 | (uint32_t)gpu, ROCL_AGENT_GPU};
    if (r->kind != ROCL_COPY && !(queue.n >= 5 && !memcmp(queue.p, "Host ", 5)))
        r->agent = device.number;
    r->link = event ? plain_link(event) : ROCL_NO_KEY;
    const rocl_status st = rocl_record_put(w->to, r, err);
    return st == ROCL_OK && r->kind == ROCL_DISPATCH ? put_counters(w, r, err) : st;
}

static rocl_status put_gpu_counters(worker *w, rocl_source_record *r, rocl_error *err)
{
    rocl_pb p = rocl_pb_of(w->packet->body);
    rocl_pb_field f, g;
    uint64_t gpu = 0, number = 0;
    uint32_t descriptor = 0;
    rocl_status st = ROCL_OK;
    while (rocl_pb_next(&p, &f)) {
        if (f.number == GPU_COUNTER_GPU)
            gpu = f.value;
        else if (f.number == GPU_COUNTER_IID)
            descriptor = find_interned(w, INTERNED_COUNTERS, f.value);
    }
    const pfr_gpu *known = pfr_gpu_of(w->file, w->packet->machine, gpu);
    r->kind = ROCL_SAMPLE;
    r->agent = known ? known->agent.number : (uint64_t)ROCL_AGENT_GPU << 32 | (uint32_t)gpu;
    rocl_sample_value *s = &r->as.sample;
    s->xcc = s->shader_engine = s->instance = s->shader_array = s->wgp = -1;
    for (p = rocl_pb_of(w->packet->body); st == ROCL_OK && rocl_pb_next(&p, &f);) {
        uint64_t id = ROCL_NO_KEY;
        if (f.number != GPU_COUNTER_VALUES || f.kind != ROCL_PB_BYTES)
            continue;
        rocl_pb inner = rocl_pb_of(f.bytes);
        s->value = 0;
        while (rocl_pb_next(&inner, &g)) {
            if (g.number == VALUE_ID)
                id = g.value;
            else if (g.number == VALUE_INT)
                s->value = (double)(int64_t)g.value;
            else if (g.number == VALUE_DOUBLE)
                s->value = rocl_pb_double(&g);
        }
        const uint32_t name = pfr_counter_name(w->file, descriptor, id);
        if (name && rocl_map_get(&w->file->of_kernels, name, 0) == 2)
            continue; /* dispatches have them */
        r->counter = pfr_bytes(w->file, name);
        r->where += number++ > 0;
        if (!name)
            st = rocl_record_fault(w->to, r->where, ROCL_FAULT_ORPHAN_VALUE,
                                   "the value of a counter that is not described", err);
        else if (s->value - s->value != 0)
            st = rocl_record_fault(w->to, r->where, ROCL_FAULT_NO_NUMBER,
                                   "the value of a counter is no number", err);
        else
            st = rocl_record_put(w->to, r, err);
    }
    return st;
}

/* ---- a piece --------------------------------------------------------------------------------- */

static rocl_status put_packet(worker *w, const pfr_packet *p, rocl_error *err)
{
    rocl_source_record r;
    open_sequence *s = w->sequence = find_sequence(w, p);
    w->packet = p;
    if (!s)
        return rocl_fail_memory(err);
    if (p->first || p->flags & SEQ_CLEARED)
        rocl_map_free(&s->interned);
    rocl_fault fault;
    pfr_moment m;
    pfr_state_step(&s->state, &w->file->clocks, w->file->bytes, p, &m);
    if (p->interned.n && s->state.valid && !note_interned(w, p))
        return rocl_fail_memory(err);
    rocl_status st = ROCL_OK;
    if (m.lost)
        st = rocl_record_fault(w->to, p->at, ROCL_FAULT_DROPPED,
                               "packets before this one were lost by the tracer", err);
    if (st == ROCL_OK && p->at + 1 == w->file->lost_at)
        st = rocl_record_fault(w->to, p->at, ROCL_FAULT_DROPPED,
                               "the tracer says that it overwrote or discarded data", err);
    const bool event = p->payload == PKT_TRACK_EVENT || p->payload == PKT_GPU_STAGE ||
                       p->payload == PKT_GPU_COUNTER;
    if (st != ROCL_OK || !event)
        return st;
    const char *why = pfr_packet_fault(p, &m, &fault);
    if (why)
        return rocl_record_fault(w->to, p->at, fault, why, err);
    rocl_record_begin(&r, ROCL_REGION, p->at);
    r.as.e.start = r.as.e.end = m.time;
    if (p->payload == PKT_TRACK_EVENT)
        return put_track_event(w, &r, err);
    return p->payload == PKT_GPU_STAGE ? put_stage(w, &r, err) : put_gpu_counters(w, &r, err);
}

rocl_status pfr_parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                            rocl_error *err)
{
    pfr_file *f = in->state;
    void **state = rocl_records_state(to);
    const size_t n = (size_t)(piece->last - piece->first);
    pfr_packet p;
    size_t got;
    if (!*state && !(*state = calloc(1, sizeof(worker))))
        return rocl_fail_memory(err);
    worker *w = *state;
    w->file = f;
    w->to = to;
    w->piece = piece->part;
    w->begin = f->bases[piece->part];
    w->last = ROCL_NONE;
    w->bytes.len = 0;
    if (!rocl_buf_reserve(&w->bytes, n))
        return rocl_fail_memory(err);
    rocl_status st =
        rocl_spool_read(in->files[piece->file].spool, w->bytes.data, n, piece->first, &got, err);
    if (st == ROCL_OK && got < n)
        st = rocl_fail(err, ROCL_INPUT, "%s: the file became shorter", in->files[0].path);
    if (st != ROCL_OK)
        return st;
    pfr_walk_begin(&w->walk, w->bytes.data, n, w->begin);
    while (st == ROCL_OK && pfr_walk_next(&w->walk, &p))
        st = p.why ? rocl_record_fault(to, p.at, ROCL_FAULT_BAD_LINE, p.why, err)
                   : put_packet(w, &p, err);
    forget_piece(w);
    return st == ROCL_OK && w->walk.failed ? rocl_fail_memory(err) : st;
}
