/* Arguments: facts that other formats have as columns, for GPU work; values of counters of a
 * dispatch; and all others, which are passed on. */
#include <inttypes.h>
#include <stdio.h>

#include "source/pftrace/worker.h"
#include "source/rocprof/row.h"

enum { AS_NUMBER, AS_SIZES, AS_TEXT, AS_NOTHING };

#define FACT(name, as, on, member)                                                                 \
    {                                                                                              \
        name, AS_##as, on, offsetof(pfr_facts, member)                                             \
    }
static const struct {
    const char *name;
    uint8_t as, on;
    uint16_t offset;
} words[] = {
    FACT("corr_id", NUMBER, PFR_OF_CALLS | PFR_OF_WORK, correlation),
    FACT("ancestor_id", NUMBER, PFR_OF_CALLS | PFR_OF_WORK, ancestor),
    FACT("stack_id", NUMBER, PFR_OF_CALLS | PFR_OF_WORK, stack),
    FACT("begin_ns", NUMBER, PFR_OF_CALLS | PFR_OF_WORK, begin),
    FACT("end_ns", NUMBER, PFR_OF_CALLS | PFR_OF_WORK, end),
    {"delta_ns", AS_NOTHING, PFR_OF_CALLS | PFR_OF_WORK, 0},
    {"kind", AS_NOTHING, PFR_OF_WORK, 0},
    {"operation", AS_NOTHING, PFR_OF_WORK, 0},
    {"agent_type", AS_NOTHING, PFR_OF_WORK, 0},
    {"bytes_per_second", AS_NOTHING, PFR_OF_WORK, 0},
    FACT("tid", NUMBER, PFR_OF_WORK, tid),
    FACT("queue", NUMBER, PFR_OF_WORK, queue),
    FACT("queue_id", NUMBER, PFR_OF_WORK, queue),
    FACT("stream", NUMBER, PFR_OF_WORK, stream),
    FACT("stream_id", NUMBER, PFR_OF_WORK, stream),
    FACT("stream_ID", NUMBER, PFR_OF_WORK, stream),
    FACT("device", NUMBER, PFR_OF_WORK, device),
    FACT("dispatch_id", NUMBER, PFR_OF_WORK, dispatch),
    FACT("kernel_id", NUMBER, PFR_OF_WORK, kernel_id),
    FACT("copy_bytes", NUMBER, PFR_OF_WORK, bytes),
    FACT("bytes", NUMBER, PFR_OF_WORK, bytes),
    FACT("allocation_size", NUMBER, PFR_OF_WORK, bytes),
    FACT("address", NUMBER, PFR_OF_WORK, address),
    FACT("kernels", NUMBER, PFR_OF_WORK, kernels),
    FACT("thread_count", NUMBER, PFR_OF_WORK, items),
    FACT("LDS_Block_Size", NUMBER, PFR_OF_WORK, lds),
    FACT("lds_bytes", NUMBER, PFR_OF_WORK, lds),
    FACT("group_segment_size", NUMBER, PFR_OF_WORK, lds),
    FACT("Scratch_Size", NUMBER, PFR_OF_WORK, scratch),
    FACT("scratch_bytes", NUMBER, PFR_OF_WORK, scratch),
    FACT("private_segment_size", NUMBER, PFR_OF_WORK, scratch),
    FACT("VGPR_Count", NUMBER, PFR_OF_WORK, vgpr),
    FACT("registers_per_thread", NUMBER, PFR_OF_WORK, vgpr),
    FACT("Accum_VGPR_Count", NUMBER, PFR_OF_WORK, accum_vgpr),
    FACT("accum_vgpr_count", NUMBER, PFR_OF_WORK, accum_vgpr),
    FACT("SGPR_Count", NUMBER, PFR_OF_WORK, sgpr),
    FACT("sgpr_count", NUMBER, PFR_OF_WORK, sgpr),
    FACT("shared_mem_static", NUMBER, PFR_OF_WORK, static_lds),
    FACT("workgroup_size", SIZES, PFR_OF_WORK, workgroup),
    FACT("grid_size", SIZES, PFR_OF_WORK, grid),
    FACT("workgroup", SIZES, PFR_OF_WORK, workgroup),
    FACT("grid", SIZES, PFR_OF_WORK, grid),
    FACT("agent", TEXT, PFR_OF_WORK, agent),
    FACT("src_agent", TEXT, PFR_OF_WORK, src),
    FACT("src", TEXT, PFR_OF_WORK, src),
    FACT("dst_agent", TEXT, PFR_OF_WORK, dst),
    FACT("dst", TEXT, PFR_OF_WORK, dst),
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

void pfr_begin_facts(pfr_worker *w, pfr_facts *f)
{
    w->counted_count = 0;
    *f = (pfr_facts){.agent = {"", 0}, .src = {"", 0}, .dst = {"", 0}};
    f->correlation = f->ancestor = f->stack = f->queue = f->stream = f->tid = f->device =
        ROCL_NO_KEY;
}

static void set_fact(pfr_facts *f, unsigned word, bool is_text, uint64_t number, rocl_view text)
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
        /* "(256, 1, 1)"; a single number is a product, which is useless. */
        for (size_t i = 0, at = 0; is_text && i < 3; i++) {
            number = 0;
            while (at < text.n && (text.p[at] < '0' || text.p[at] > '9'))
                at++;
            for (; at < text.n && text.p[at] >= '0' && text.p[at] <= '9'; at++)
                number = number <= UINT32_MAX ? number * 10 + (uint64_t)(text.p[at] - '0') : number;
            ((uint32_t *)to)[i] = number <= UINT32_MAX ? (uint32_t)number : 0;
        }
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
    uint32_t name_bytes; /* ROCL_NONE: the name is not interned */
    uint32_t kind;       /* field of DebugAnnotation; 0: it has no value */
    rocl_view whole;
} note;

static note read_note(pfr_worker *w, rocl_view message)
{
    rocl_pb r = rocl_pb_of(message);
    rocl_pb_field f;
    note n = {.name = {"", 0}, .text = {"", 0}, .name_bytes = ROCL_NONE, .whole = message};
    while (rocl_pb_next(&r, &f)) {
        const bool bytes = f.kind == ROCL_PB_BYTES;
        switch (f.number) {
        case NOTE_NAME_IID:
            n.name_bytes = pfr_find_interned(w, INTERNED_ANNOTATIONS, f.value);
            n.name = pfr_bytes(w->file, n.name_bytes);
            break;
        case NOTE_NAME:
            if (bytes)
                n.name = f.bytes;
            break;
        case NOTE_STRING_IID:
            n.text = pfr_bytes(w->file, pfr_find_interned(w, INTERNED_STRINGS, f.value));
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

static unsigned note_word(pfr_worker *w, const note *n)
{
    if (n->name_bytes == ROCL_NONE)
        return word_of(n->name);
    pfr_text *f = pfr_text_of(w, n->name_bytes);
    if (!f->word)
        f->word = (uint8_t)(word_of(n->name) + 1);
    return f->word - 1u;
}

enum { NOTE_DEPTH_MAX = 16 };

/* A number of an annotation as text; `text` has room for 40 characters. */
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

/* A NestedValue with the name in w->name: a value, or a dictionary or array of values. */
static void pass_nested(pfr_worker *w, rocl_view message, int depth)
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
            do /* keys and values correspond one by one */
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
static void pass_note(pfr_worker *w, const note *n, int depth)
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
        rocl_view message;
        const size_t inner = w->name.len;
        for (unsigned i = 0; depth < NOTE_DEPTH_MAX && pfr_next_bytes(&r, n->kind, &message);) {
            const note entry = read_note(w, message);
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

/* Is it the value of a counter of the dispatch? Then it is kept for pfr_put_counters. */
static bool keep_counter(pfr_worker *w, uint32_t name, double value)
{
    if (name == ROCL_NONE || rocl_map_get(&w->file->of_kernels, name, 0) != 2)
        return false;
    if (ROCL_GROW(w->counted, w->counted_cap, w->counted_count + 1))
        w->counted[w->counted_count++] = (struct pfr_counted){name, value};
    else
        w->walk.failed = true;
    return true;
}

void pfr_read_notes(pfr_worker *w, rocl_view event, unsigned on, pfr_facts *facts, bool args)
{
    rocl_pb r = rocl_pb_of(event);
    rocl_view message;
    while (pfr_next_bytes(&r, EV_ANNOTATION, &message)) {
        const note n = read_note(w, message);
        const unsigned word = note_word(w, &n);
        double real;
        memcpy(&real, &n.number, sizeof real);
        if (word < WORDS && words[word].on & on)
            set_fact(facts, word, n.kind == NOTE_STRING, n.number, n.text);
        else if (on == PFR_OF_WORK && n.kind == NOTE_DOUBLE && keep_counter(w, n.name_bytes, real))
            continue;
        else if (on == PFR_OF_WORK && (n.kind == NOTE_INT || n.kind == NOTE_UINT) &&
                 keep_counter(w, n.name_bytes, (double)(int64_t)n.number))
            continue;
        else if (args)
            pass_note(w, &n, 0);
    }
}

void pfr_read_arg(pfr_worker *w, rocl_view message, pfr_facts *a)
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
            const uint32_t name = pfr_find_interned(w, INTERNED_ARG_NAMES, f.value);
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
            text = pfr_bytes(w->file, pfr_find_interned(w, INTERNED_STRINGS, f.value));
            is_text = true;
        }
    }
    if (word < WORDS)
        set_fact(a, word, is_text, number, text);
    else if (!is_text)
        keep_counter(w, counter, value);
}

/* ---- GPU work -------------------------------------------------------------------------------- */

/* Links that we wrote have the number of the input in their upper bits, which is the same for all
 * records of a process. */
uint64_t pfr_plain_link(uint64_t link)
{
    return link >> 63 ? link : link & (((uint64_t)1 << 40) - 1);
}

void pfr_set_agent(uint64_t *number, rocl_agent_type *type, const pfr_agent *a)
{
    *number = a->number;
    *type = a->type;
}

static void agent_of_text(const pfr_file *f, rocl_view text, uint64_t *number,
                          rocl_agent_type *type)
{
    pfr_agent a;
    if (pfr_find_agent(f, text, &a))
        pfr_set_agent(number, type, &a);
}

void pfr_fill_work(pfr_worker *w, rocl_source_record *r, const pfr_facts *a, rocl_key_facts *symbol)
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

rocl_status pfr_put_counters(pfr_worker *w, const rocl_source_record *dispatch, rocl_error *err)
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
                                                    "the value of a counter is not a number")
                                : rocl_record_put(w->to, &r, err);
    }
    return st;
}
