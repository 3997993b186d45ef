/* results.json of rocprof v1 and *_output.json of rocprofv2: Chrome's trace events, whose arguments
 * are the columns of the tables of results.db. The process number of an event, its section, says
 * which table it is of. Times are those of the arguments, to the nanosecond; v2 has microseconds
 * only. Strings of v1 may hold quotes that lack a backslash. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/json_index.h"
#include "base/json_masks.h"
#include "base/map.h"
#include "base/num.h"
#include "source/rocprof/flows.h"
#include "source/rocprof/rocprof.h"
#include "source/rocprof/row.h"
#include "source/rocprof/who.h"

/* The sections of v1; of GPU n it is FIRST_GPU + n. Those of v2. */
enum { SECTION_RANGES, SECTION_COPY, SECTION_HIP, SECTION_HSA, SECTION_KFD, SECTION_FIRST_GPU = 6 };
enum { SECTION2_CPU = 1, SECTION2_GPU, SECTION2_COPY, SECTION2_BLIT };

/* The most names of arguments that a worker remembers; others are looked up each time. */
enum { NAMES_MAX = 1 << 16 };

typedef struct json_file {
    rocprof_words words;
    uint32_t kfd; /* the category of its calls */
    bool v2;
    unsigned flags; /* of readers of blocks */
    rocprof_flows flows;
    rocprof_who who;
    atomic_bool is_old; /* before ROCm 4.3 */
} json_file;

/* The name of an argument, and which column it is. The text and the `":"` behind it are compared as
 * two words where they fit. */
typedef struct json_name {
    char *text;
    size_t n;
    uint64_t word[2], mask[2]; /* mask[0] 0: they do not fit */
    rocprof_column column;
    size_t next[2]; /* the name that mostly follows it: of calls and ranges, of work on GPUs */
} json_name;

typedef struct json_worker {
    rocl_buf bytes, unescaped;
    json_name *names;
    size_t name_count, name_cap, last_name;
    rocl_map name_index; /* by hash */
    json_name unknown;   /* a name that is not remembered: its text is in the block */
    rocprof_row row;
    rocprof_counter *counters; /* those of the row */
    size_t counter_cap;
    bool failed; /* memory was out */
    rocl_lookup_pages pages;
    /* the begin of an arrow */
    bool in_arrow;
    uint64_t arrow_id;
    rocprof_spot arrow;
} json_worker;

/* An event without its arguments. */
typedef struct json_event {
    char phase; /* 0: none */
    uint64_t pid, tid, id;
    int64_t ts, dur; /* nanoseconds */
    rocl_view name;
    bool bad, no_row;     /* a number is malformed; tid is -1 */
    const char *bad_time; /* what is wrong with a time; NULL: nothing */
} json_event;

static void free_worker(void *state)
{
    json_worker *w = state;
    for (size_t i = 0; i < w->name_count; i++)
        free(w->names[i].text);
    free(w->names);
    rocl_map_free(&w->name_index);
    free(w->counters);
    rocl_buf_free(&w->bytes);
    rocl_buf_free(&w->unescaped);
    free(w->pages.entries);
    free(w);
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* The text of a string without escapes, which is never longer: replaces the string in place. */
static rocl_view unescape_in_place(json_worker *w, const rocl_json_token *t)
{
    if (!t->escaped)
        return t->text;
    w->unescaped.len = 0;
    rocl_json_unescape(&w->unescaped, t->text);
    if (w->unescaped.failed || w->unescaped.len > t->text.n)
        return t->text;
    memcpy((char *)(uintptr_t)t->text.p, w->unescaped.data, w->unescaped.len);
    return (rocl_view){t->text.p, w->unescaped.len};
}

static bool is_name(const json_name *n, rocl_view text)
{
    return n->n == text.n && !memcmp(n->text, text.p, text.n);
}

/* The name of an argument, until the next one is asked for. NULL: memory is out. */
static const json_name *find_name(json_worker *w, rocl_view text, bool work)
{
    size_t i = w->name_count ? w->names[w->last_name].next[work] : 0;
    bool known = i < w->name_count && is_name(&w->names[i], text);
    uint64_t hash = text.n;
    for (size_t at = 0; at < text.n && !known; at += 8) {
        uint64_t word = 0;
        memcpy(&word, text.p + at, text.n - at < 8 ? text.n - at : 8);
        hash = rocl_mix64(hash ^ word);
    }
    if (!known) {
        i = rocl_map_get(&w->name_index, hash, (uint32_t)w->name_count);
        known = i < w->name_count && is_name(&w->names[i], text);
    }
    if (!known && (i < w->name_count || i == NAMES_MAX)) { /* another has its hash */
        w->unknown = (json_name){
            .text = (char *)(uintptr_t)text.p, .n = text.n, .column = rocprof_column_of(text)};
        return &w->unknown;
    }
    if (!known) {
        char *copy = malloc(text.n + 1);
        if (!copy || !ROCL_GROW(w->names, w->name_cap, i + 1) ||
            !rocl_map_put(&w->name_index, hash, (uint32_t)i)) {
            free(copy);
            w->failed = true;
            return NULL;
        }
        json_name *n = &w->names[w->name_count++];
        *n = (json_name){.text = copy, .n = text.n, .column = rocprof_column_of(text)};
        memcpy(copy, text.p, text.n); /* may contain NULs, which are not JSON, but occur */
        if (text.n + 3 <= sizeof n->word) {
            memcpy(n->word, text.p, text.n);
            memcpy((char *)n->word + text.n, "\":\"", 3);
            memset(n->mask, 0xff, text.n + 3);
        }
    }
    w->names[w->last_name].next[work] = i;
    w->last_name = i;
    return &w->names[i];
}

static void add_number(rocprof_row *row, rocprof_column c, int64_t number)
{
    row->value[c] = (rocprof_value){.number = number};
    row->has |= (uint64_t)1 << c;
}

/* An argument of a column, or a counter. */
static void add_arg(json_worker *w, const json_name *n, rocl_view text)
{
    rocprof_row *row = &w->row;
    if (n->column == ROCPROF_IGNORED ||
        (n->column == ROCPROF_THREAD && rocl_view_is(text, "-1"))) /* no call was found */
        return;
    if (n->column != ROCPROF_OTHER)
        rocprof_row_add(row, n->column, text);
    else if (ROCL_GROW(w->counters, w->counter_cap, row->counter_count + 1))
        w->counters[row->counter_count++] =
            (rocprof_counter){.name = {n->text, n->n}, .value = {.text = text}};
    else
        w->failed = true;
}

/* The object of arguments, which the reader has entered. */
static void read_args(json_worker *w, rocl_json *r, bool work)
{
    rocl_json_token key, value;
    while (rocl_json_next(r, &key) == ROCL_JSON_KEY) {
        const json_name *n = find_name(w, key.text, work);
        if (!rocl_json_element(r, &value))
            return;
        if (value.kind == ROCL_JSON_OBJECT || value.kind == ROCL_JSON_ARRAY)
            rocl_json_skip(r);
        else if (n && (value.kind == ROCL_JSON_STRING || value.kind == ROCL_JSON_NUMBER))
            add_arg(w, n, unescape_in_place(w, &value));
    }
}

static bool is_work(const json_event *e)
{
    return e->pid == SECTION_COPY || e->pid >= SECTION_FIRST_GPU;
}

/* ---- events by their text -------------------------------------------------------------------- */

/* v1 writes nearly all of its events alike, to the blank:
 *
 *     {"ph":"X","name":"NAME","pid":2,"tid":"4242","ts":"6503","dur":"1",
 *       "args":{
 *         "BeginNs":"6503123",
 *         "Name":"NAME"
 *       }
 *     }
 *     {"ts":6503,"ph":"s","cat":"DataFlow","id":1,"pid":2,"tid":4242,"name":"dep"}
 *
 * Such events are taken as text, in half the time that JSON takes. Those that are written otherwise
 * or whose strings hold a backslash or a quote are left to the reader of JSON. */
typedef struct json_cursor {
    const char *p, *end;
} json_cursor;

static inline bool take_constant(json_cursor *c, const char *text, size_t n)
{
    if ((size_t)(c->end - c->p) < n || memcmp(c->p, text, n) != 0)
        return false;
    c->p += n;
    return true;
}

#define TAKE(c, text) take_constant(c, "" text, sizeof(text) - 1)

/* A number, which may stand in quotes. */
static inline bool take_number(json_cursor *c, uint64_t *v)
{
    const bool quoted = TAKE(c, "\"");
    const char *digits = c->p;
    c->p = rocl_get_digits(digits, c->end, v);
    const size_t n = (size_t)(c->p - digits);
    return n && n < 19 && (*digits != '0' || n == 1) && (!quoted || TAKE(c, "\""));
}

/* Microseconds as nanoseconds. */
static inline bool take_time(json_cursor *c, int64_t *ns)
{
    uint64_t us;
    if (!take_number(c, &us) || us > INT64_MAX / 1000)
        return false;
    *ns = (int64_t)us * 1000;
    return true;
}

static inline bool take_string(json_cursor *c, rocl_view *text)
{
    const char *from = c->p;
    c->p = rocl_json_special(from, c->end);
    *text = rocl_view_between(from, c->p);
    return TAKE(c, "\"");
}

/* The name of an argument up to the quote that begins its value. */
static inline const json_name *take_name(json_worker *w, json_cursor *c, bool work)
{
    uint64_t at[2];
    rocl_view text;
    if (w->name_count && c->end - c->p >= (ptrdiff_t)sizeof at) {
        const size_t i = w->names[w->last_name].next[work];
        const json_name *n = &w->names[i];
        memcpy(at, c->p, sizeof at);
        if (n->mask[0] && !((at[0] ^ n->word[0]) & n->mask[0]) &&
            !((at[1] ^ n->word[1]) & n->mask[1])) {
            w->last_name = i;
            c->p += n->n + 3;
            return n;
        }
    }
    return take_string(c, &text) && TAKE(c, ":\"") ? find_name(w, text, work) : NULL;
}

static bool take_event(json_worker *w, json_cursor *c, json_event *e)
{
    rocl_view value;
    if (TAKE(c, "\"ts\":")) {
        if (!take_time(c, &e->ts) || !TAKE(c, ",\"ph\":\"") || c->p == c->end)
            return false;
        e->phase = *c->p++;
        return TAKE(c, "\",\"cat\":\"DataFlow\",\"id\":") && take_number(c, &e->id) &&
               TAKE(c, ",\"pid\":") && take_number(c, &e->pid) && TAKE(c, ",\"tid\":") &&
               take_number(c, &e->tid) && TAKE(c, ",\"name\":\"dep\"}");
    }
    if (!TAKE(c, "\"ph\":\"X\",\"name\":\"") || !take_string(c, &e->name) ||
        !TAKE(c, ",\"pid\":") || !take_number(c, &e->pid) || !TAKE(c, ",\"tid\":") ||
        !take_number(c, &e->tid) || !TAKE(c, ",\"ts\":") || !take_time(c, &e->ts) ||
        !TAKE(c, ",\"dur\":") || !take_time(c, &e->dur) || !TAKE(c, ",\n  \"args\":{"))
        return false;
    e->phase = 'X';
    const bool work = is_work(e);
    do {
        const json_name *n = TAKE(c, "\n    \"") ? take_name(w, c, work) : NULL;
        if (!n || !take_string(c, &value))
            return false;
        add_arg(w, n, value);
    } while (TAKE(c, ","));
    return TAKE(c, "\n  }\n}");
}

/* ---- events ---------------------------------------------------------------------------------- */

static int64_t end_of(const json_event *e)
{
    int64_t end;
    return __builtin_add_overflow(e->ts, e->dur, &end) ? INT64_MAX : end;
}

/* Sets the link of a call. Work is linked to its call when all arrows are known: until then it has
 * its spot. */
static rocl_status prepare_link(rocl_records *to, json_file *f, json_worker *w, const json_event *e,
                                bool call, rocl_error *err)
{
    const uint64_t from = (uint64_t)e->ts / 1000, last = from + (uint64_t)e->dur / 1000;
    const rocprof_spot at = {rocprof_lane(e->pid, e->tid), from};
    const bool launches = !(e->name.n > 5 && !memcmp(e->name.p, "__hip", 5));
    if (!call) {
        w->row.scope = at.lane;
        w->row.id = at.time;
        return ROCL_OK;
    }
    add_number(&w->row, ROCPROF_LINK, (int64_t)w->row.where);
    return launches && rocl_records_first_pass(to)
               ? rocprof_flows_call(&f->flows, rocl_records_worker(to), at, last, w->row.where, err)
               : ROCL_OK;
}

/* Finds the call that launched the work. */
static rocl_status complete_link(rocl_records *to, rocl_plain_record *r, rocl_error *err)
{
    const json_file *f = rocl_records_input_of(to)->state;
    if (f->v2 || r->half != ROCL_WHOLE || !r->scope)
        return ROCL_OK;
    json_worker *w = rocl_records_own(to, sizeof *w);
    const rocl_lookup_key lane_and_time = {r->scope, r->id};
    return w ? rocl_lookup_find(f->flows.links, &w->pages, lane_and_time, &r->link, err)
             : rocl_fail_memory(err);
}

static rocl_status put_v1(rocl_records *to, json_file *f, json_worker *w, const json_event *e,
                          rocl_error *err)
{
    rocprof_row *row = &w->row;
    rocprof_table table = ROCPROF_OPS;
    uint32_t category = 0;
    /* Before 4.3 the pid of a row was its section, the tid of GPU work its stream, and only that
     * work has the process of its calls. */
    const rocl_view pid = row->value[ROCPROF_PROCESS].text;
    uint64_t section;
    if (row->has & ROCPROF_BIT(PROCESS) && !(row->has & ROCPROF_BIT(KERNEL_NAME)) &&
        rocl_json_uint(pid, &section) && section == e->pid) {
        row->has &= ~ROCPROF_BIT(PROCESS);
        atomic_store_explicit(&f->is_old, true, memory_order_relaxed);
        if (row->has & ROCPROF_BIT(AGENT) && row->has & ROCPROF_BIT(THREAD)) {
            rocprof_row_add(row, ROCPROF_STREAM, row->value[ROCPROF_THREAD].text);
            row->has &= ~ROCPROF_BIT(THREAD);
        }
    }
    /* Only old files have copies among the work of a GPU. */
    row->no_copy = e->pid >= SECTION_FIRST_GPU && row->has & ROCPROF_BIT(PROCESS);
    if (row->has & ROCPROF_BIT(KERNEL_NAME))
        table = ROCPROF_DISPATCHES;
    else if (e->pid == SECTION_RANGES)
        table = ROCPROF_RANGES;
    else if (e->pid >= SECTION_HIP && e->pid < SECTION_FIRST_GPU)
        table = ROCPROF_CALLS;
    if (table == ROCPROF_CALLS)
        category = e->pid == SECTION_HIP   ? f->words.hip
                   : e->pid == SECTION_HSA ? f->words.hsa
                   : e->pid == SECTION_KFD ? f->kfd
                                           : 0; /* the row says it */
    if (!(row->has & ROCPROF_BIT(START)) || !(row->has & ROCPROF_BIT(END))) {
        add_number(row, ROCPROF_START, e->ts);
        add_number(row, ROCPROF_END, end_of(e));
    }
    if (table == ROCPROF_RANGES) {
        /* Started and stopped ranges are on row 0 and end 1 ns too late; old files have no thread
         * for them. Other ranges are on the row of their thread, -1 if unknown. */
        uint64_t end;
        row->started = !e->tid && !e->no_row;
        if (row->started) {
            if (row->value[ROCPROF_END].text.p &&
                rocl_json_uint(row->value[ROCPROF_END].text, &end) && end)
                add_number(row, ROCPROF_END, (int64_t)end - 1);
            if (row->has & ROCPROF_BIT(THREAD) &&
                rocl_view_is(row->value[ROCPROF_THREAD].text, "0"))
                row->has &= ~ROCPROF_BIT(THREAD);
        }
    }
    if (table != ROCPROF_DISPATCHES)
        rocprof_row_add(row, ROCPROF_NAME, e->name);
    if (e->pid == SECTION_COPY && table == ROCPROF_OPS && !rocprof_is_copy(e->name) &&
        !rocprof_is_kernel_among_copies(e->name)) {
        table = ROCPROF_COPIES; /* whatever it is called */
        rocprof_row_add(row, ROCPROF_DIRECTION, e->name);
    }
    rocl_status st = ROCL_OK;
    if (table != ROCPROF_RANGES)
        st = prepare_link(to, f, w, e, table == ROCPROF_CALLS, err);
    return st ? st : rocprof_row_put(to, &f->words, table, row, category, err);
}

static rocl_status put_v2(rocl_records *to, const json_file *f, json_worker *w, const json_event *e,
                          rocl_error *err)
{
    rocprof_row *row = &w->row;
    rocprof_table table = ROCPROF_OPS;
    uint32_t category = 0;
    add_number(row, ROCPROF_START, e->ts);
    add_number(row, ROCPROF_END, end_of(e));
    rocprof_row_add(row, ROCPROF_NAME, e->name);
    if (e->pid == SECTION2_CPU) {
        const bool hip = memmem(e->name.p, e->name.n < 8 ? e->name.n : 8, "hip", 3);
        const bool hsa = e->name.n > 4 && !memcmp(e->name.p, "hsa_", 4);
        add_number(row, ROCPROF_THREAD, (int64_t)e->tid);
        table = hip || hsa ? ROCPROF_CALLS : ROCPROF_RANGES;
        category = hip ? f->words.hip : f->words.hsa;
        if (table == ROCPROF_RANGES) /* each end is an event of its own */
            add_number(row, ROCPROF_END, e->ts);
    } else if (e->pid == SECTION2_COPY) {
        table = ROCPROF_COPIES;
        rocprof_row_add(row, ROCPROF_DIRECTION, e->name);
    } else if (e->pid == SECTION2_GPU && e->tid) {
        add_number(row, ROCPROF_AGENT, (int64_t)e->tid - 1);
    }
    return rocprof_row_put(to, &f->words, table, row, category, err);
}

/* The two ends of an arrow stand one after the other. */
static rocl_status put_arrow(rocl_records *to, json_file *f, json_worker *w, const json_event *e,
                             rocl_error *err)
{
    const rocprof_spot spot = {rocprof_lane(e->pid, e->tid), (uint64_t)e->ts / 1000};
    const bool ends = e->phase == 't' && w->in_arrow && w->arrow_id == e->id;
    w->in_arrow = e->phase == 's' && e->pid >= SECTION_HIP && e->pid < SECTION_FIRST_GPU;
    if (ends && !f->v2 && rocl_records_first_pass(to))
        return rocprof_flows_arrow(&f->flows, rocl_records_worker(to), w->arrow, spot, w->row.where,
                                   err);
    w->arrow = spot;
    w->arrow_id = e->id;
    return ROCL_OK;
}

static rocl_status put_event(rocl_records *to, json_file *f, json_worker *w, const json_event *e,
                             rocl_error *err)
{
    const uint64_t where = w->row.where;
    if (e->bad_time)
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_TIME, e->bad_time);
    if (e->bad)
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE, "a field is not a number");
    switch (e->phase) {
    case 0: /* the first one is empty */
    case 'M':
        return ROCL_OK;
    case 's':
    case 't':
    case 'f':
        return put_arrow(to, f, w, e, err);
    case 'X':
        if (e->ts < 0 || e->dur < 0)
            return rocl_record_fault(to, where, ROCL_FAULT_BAD_TIME, "a negative time");
        return f->v2 ? put_v2(to, f, w, e, err) : put_v1(to, f, w, e, err);
    default:
        return rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE,
                                 "an event of a kind that rocprof does not write");
    }
}

static void begin_event(json_worker *w, json_event *e, uint64_t where)
{
    *e = (json_event){.name = {"", 0}};
    w->row.has = w->row.has_packet = 0;
    w->row.counter_count = 0;
    w->row.scope = w->row.id = 0;
    w->row.where = where;
}

/* An event that the reader has entered. */
static void take_or_read_event(const json_file *f, json_worker *w, rocl_json *r, json_event *e)
{
    json_cursor c = {r->at, r->end};
    if (!f->v2 && take_event(w, &c, e)) {
        rocl_json_left(r, c.p);
        return;
    }
    begin_event(w, e, w->row.where);
    /* The members of an event, which the reader has entered; arguments become the row. */
    enum { PHASE, NAME, PID, TID, TS, DUR, ARGS, ID, KEYS };
    static const rocl_view keys[KEYS] = {
        ROCL_JSON_KEY("ph"), ROCL_JSON_KEY("name"), ROCL_JSON_KEY("pid"),  ROCL_JSON_KEY("tid"),
        ROCL_JSON_KEY("ts"), ROCL_JSON_KEY("dur"),  ROCL_JSON_KEY("args"), ROCL_JSON_KEY("id")};
    rocl_json_token v;
    for (int key; (key = rocl_json_member(r, keys, KEYS, &v)) >= 0;) {
        switch (key) {
        case PHASE:
            e->phase = v.text.n == 1 ? *v.text.p : '?';
            break;
        case NAME:
            e->name = unescape_in_place(w, &v);
            break;
        case PID:
        case ID:
            e->bad |= !rocl_json_uint(v.text, key == PID ? &e->pid : &e->id);
            break;
        case TID:
            e->no_row = rocl_view_is(v.text, "-1");
            e->bad |= !e->no_row && !rocl_json_uint(v.text, &e->tid);
            break;
        case TS:
        case DUR:
            if (!rocl_json_decimal(v.text, 3, key == TS ? &e->ts : &e->dur))
                e->bad_time = rocl_time_fault(v.text, 1000);
            break;
        case ARGS:
            if (rocl_json_enter(r, ROCL_JSON_OBJECT))
                read_args(w, r, is_work(e));
            break;
        default:
            break;
        }
    }
}

/* The end of the arrow that began with the last event of a piece is the first event of the next. */
static rocl_status end_arrow(rocl_records_input *in, rocl_records *to, const rocl_piece *next,
                             rocl_error *err)
{
    enum { ARROW_BYTES = 1024 }; /* an event that is longer is none */
    json_file *f = in->state;
    json_worker *w = rocl_records_own(to, sizeof *w);
    const uint64_t left = next->last - next->first;
    rocl_json r;
    rocl_json_token v;
    json_event e;
    rocl_status st =
        rocl_json_load(&r, &w->bytes, in->files[0].spool, next->first,
                       next->first + (left < ARROW_BYTES ? left : ARROW_BYTES), f->flags, err);
    if (st != ROCL_OK || !rocl_json_element(&r, &v))
        return st;
    begin_event(w, &e, rocl_json_offset(&r, &v));
    if (rocl_json_enter(&r, ROCL_JSON_OBJECT))
        take_or_read_event(f, w, &r, &e);
    return e.phase == 't' && !e.bad && !e.bad_time && !r.wrong ? put_arrow(to, f, w, &e, err)
                                                               : ROCL_OK;
}

static rocl_status parse_piece(rocl_records_input *in, rocl_records *to, const rocl_piece *piece,
                               rocl_error *err)
{
    json_file *f = in->state;
    json_worker *w = rocl_records_own(to, sizeof *w);
    rocl_json r;
    rocl_json_token v;
    rocl_status st = ROCL_OK;
    if (!w)
        return rocl_fail_memory(err);
    st =
        rocl_json_load(&r, &w->bytes, in->files[0].spool, piece->first, piece->last, f->flags, err);
    w->row.of_v1 = !f->v2;
    w->in_arrow = false;
    for (bool more = st == ROCL_OK; more && st == ROCL_OK;) {
        while (st == ROCL_OK && rocl_json_element(&r, &v)) {
            json_event e;
            begin_event(w, &e, rocl_json_offset(&r, &v));
            if (!rocl_json_enter(&r, ROCL_JSON_OBJECT)) {
                rocl_record_fault(to, w->row.where, ROCL_FAULT_BAD_LINE,
                                  "an event that is not an object");
                continue;
            }
            take_or_read_event(f, w, &r, &e);
            w->row.counters = w->counters;
            if (w->failed)
                st = rocl_fail_memory(err);
            else if (!r.wrong)
                st = put_event(to, f, w, &e, err);
        }
        more = st == ROCL_OK && r.wrong;
        if (more)
            rocl_record_fault(to, r.offset + (uint64_t)(r.at - r.begin), ROCL_FAULT_BAD_LINE,
                              r.wrong);
        /* After invalid JSON: opens the reader where the next event of v1 begins. */
        const char *next = more ? memmem(r.at, (size_t)(r.end - r.at), "\n,{", 3) : NULL;
        if (next)
            rocl_json_open(&r, next + 2, (size_t)(r.end - next - 2),
                           r.offset + (uint64_t)(next + 2 - r.begin), f->flags);
        more = next;
    }
    if (st == ROCL_OK && w->in_arrow && piece + 1 < in->pieces + in->piece_count)
        st = end_arrow(in, to, piece + 1, err);
    if (w->unescaped.failed)
        st = rocl_fail_memory(err);
    return st;
}

/* ---- the file -------------------------------------------------------------------------------- */

static rocl_status refine_file(rocl_records_input *in, rocl_error *err)
{
    json_file *f = in->state;
    in->capture->pub.rocm_end = atomic_load(&f->is_old) ? 43 : 0;
    const rocl_status st = rocprof_who_apply(&f->who, in, err);
    return st ? st : rocprof_flows_join(&f->flows, err);
}

static void close_file(rocl_records_input *in)
{
    json_file *f = in->state;
    rocprof_flows_close(&f->flows);
    rocprof_who_free(&f->who);
}

/* "4242_output.json", "NAME_4242_output.json" of v2. */
static uint64_t read_file_pid(const char *path)
{
    const char *tail = NULL;
    for (const char *p = path; (p = strstr(p, "_output.json")); p++)
        tail = p;
    uint64_t pid;
    const char *p = tail;
    while (p > path && p[-1] >= '0' && p[-1] <= '9')
        p--;
    return tail && rocl_json_uint(rocl_view_between(p, tail), &pid) ? pid : ROCL_NO_KEY;
}

/* The pieces of the file, and what it says of processes and GPUs. */
static rocl_status outline_file(rocl_records_input *in, json_file *f, rocl_error *err)
{
    rocl_json_outline how = {.objects = 1, .block = rocl_piece_bytes};
    rocl_json_index x = {0};
    rocl_buf bytes = {0};
    rocl_json r;
    rocl_status st = rocl_records_outline(in, &x, &how, err);
    f->flags = how.flags | ROCL_JSON_ELEMENTS;
    const rocl_json_node *events =
        st == ROCL_OK ? rocl_json_child(&x, x.nodes, "traceEvents") : NULL;
    for (; events && st == ROCL_OK; events = rocl_json_same(&x, events)) /* there may be several */
        if (!rocl_records_add_blocks(in, &x, events, 0))
            st = rocl_fail_memory(err);
    if (st == ROCL_OK && x.truncated)
        st = rocl_source_truncated(in->source, in->trace, err);
    const rocl_json_node *other = st == ROCL_OK ? rocl_json_child(&x, x.nodes, "otherData") : NULL;
    if (other && other->kind == ROCL_JSON_OBJECT) {
        st = rocl_json_load(&r, &bytes, in->files[0].spool, other->begin, other->end, how.flags,
                            err);
        if (st == ROCL_OK && !rocprof_who_read(&f->who, in->trace, &r))
            st = rocl_fail_memory(err);
    }
    rocl_buf_free(&bytes);
    rocl_json_index_free(&x);
    return st;
}

static rocl_status open_file(rocl_records_input *in, rocl_error *err)
{
    json_file *f = in->state;
    char head[16];
    size_t got = 0;
    if (!rocprof_intern_words(&f->words, in->trace))
        return rocl_fail_memory(err);
    f->kfd = rocl_strings_put(in->trace->strings, "KFD_API", 7);
    rocl_status st = rocprof_flows_open(&f->flows, in->trace, err);
    if (st == ROCL_OK)
        st = rocl_spool_read(in->files[0].spool, head, sizeof head, 0, &got, err);
    /* The first event of v1 is empty. */
    f->v2 = st == ROCL_OK && (got < sizeof head || memcmp(head, "{ \"traceEvents\":", 16) != 0);
    in->only_process = f->v2 ? read_file_pid(in->source->path) : ROCL_NO_KEY;
    return st ? st : outline_file(in, f, err);
}

static const rocl_record_format format = {.state_size = sizeof(json_file),
                                          .open = open_file,
                                          .places = ROCL_PLACES_BYTES,
                                          .parse = parse_piece,
                                          .keeps = true,
                                          .complete = complete_link,
                                          .free_worker = free_worker,
                                          .refine = refine_file,
                                          .close = close_file};

const rocl_source_ops rocl_rocprof_json_ops = {ROCL_RECORDS_OPS(format)};
