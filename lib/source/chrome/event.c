/* An event of Chrome's trace JSON: its members and arguments. See event.h. */
#include "source/chrome/event.h"

#include <stdlib.h>
#include <string.h>

void chrome_free_worker(void *state)
{
    chrome_worker *w = state;
    rocl_buf_free(&w->bytes);
    rocl_buf_free(&w->text[0]);
    rocl_buf_free(&w->text[1]);
    free(w->callers.owners.entries);
    free(w);
}

rocl_view chrome_unescape(rocl_buf *b, rocl_view text, bool escaped)
{
    if (!escaped)
        return text;
    b->len = 0;
    rocl_json_unescape(b, text);
    return (rocl_view){(const char *)b->data, b->len};
}

uint64_t chrome_key_of(rocl_records *to, const rocl_json_token *t)
{
    uint64_t number;
    if (t->kind != ROCL_JSON_NUMBER && t->kind != ROCL_JSON_STRING)
        return ROCL_NO_KEY;
    if (t->kind == ROCL_JSON_STRING && memchr(t->text.p, '.', t->text.n)) /* a name: 1.0 is not 1 */
        return ROCL_KEY_OF_TEXT | rocl_records_text(to, t->text);
    if (rocl_json_uint(t->text, &number) && number < ROCL_KEY_OF_TEXT)
        return number;
    /* Numbers below 0, as of rows that are not threads, are also treated as names. */
    return t->text.n ? ROCL_KEY_OF_TEXT | rocl_records_text(to, t->text) : ROCL_NO_KEY;
}

/* ---- members --------------------------------------------------------------------------------- */

void chrome_read_event(chrome_worker *w, chrome_event *e)
{
    rocl_json *r = &w->r;
    enum { PH, CAT, NAME, PID, TID, TS, DUR, ARGS };
    enum { ID = ARGS + 1, SCOPE, BP, BIND, FLOW_IN, FLOW_OUT, ID2, KEYS };
    static const rocl_view keys[KEYS] = {
        [PH] = ROCL_JSON_KEY("ph"),           [CAT] = ROCL_JSON_KEY("cat"),
        [NAME] = ROCL_JSON_KEY("name"),       [PID] = ROCL_JSON_KEY("pid"),
        [TID] = ROCL_JSON_KEY("tid"),         [TS] = ROCL_JSON_KEY("ts"),
        [DUR] = ROCL_JSON_KEY("dur"),         [ARGS] = ROCL_JSON_KEY("args"),
        [ID] = ROCL_JSON_KEY("id"),           [SCOPE] = ROCL_JSON_KEY("scope"),
        [BP] = ROCL_JSON_KEY("bp"),           [BIND] = ROCL_JSON_KEY("bind_id"),
        [FLOW_IN] = ROCL_JSON_KEY("flow_in"), [FLOW_OUT] = ROCL_JSON_KEY("flow_out"),
        [ID2] = ROCL_JSON_KEY("id2")};
    static const rocl_view id_keys[] = {ROCL_JSON_KEY("local"), ROCL_JSON_KEY("global")};
    static const rocl_view none = {"", 0};
    rocl_view *const texts[KEYS] = {
        [PH] = &e->ph,     [CAT] = &e->cat, [NAME] = &e->name,   [TS] = &e->ts, [DUR] = &e->dur,
        [BIND] = &e->bind, [ID] = &e->id,   [SCOPE] = &e->scope, [BP] = &e->bp};
    rocl_json_token v;
    *e = (chrome_event){.ph = none, .cat = none, .name = none, .id = none, .scope = none};
    e->ts = e->dur = e->bp = e->bind = e->pid.text = e->tid.text = none;
    w->has_args = false;
    for (int key; (key = rocl_json_member(r, keys, KEYS, &v)) >= 0;) {
        if (texts[key])
            *texts[key] = v.text;
        switch (key) {
        case NAME:
            e->name_escaped = v.escaped;
            break;
        case PID:
            e->pid = v;
            break;
        case TID:
            e->tid = v;
            break;
        case TS:
            e->has_ts = true;
            break;
        case DUR:
            e->has_dur = true;
            break;
        case FLOW_IN:
            e->flow_in = v.kind == ROCL_JSON_TRUE;
            break;
        case FLOW_OUT:
            e->flow_out = v.kind == ROCL_JSON_TRUE;
            break;
        case ID2: { /* {"local": id} of a process, {"global": id} */
            rocl_json ids = *r;
            e->id = none;
            if (rocl_json_enter(&ids, ROCL_JSON_OBJECT) &&
                rocl_json_member(&ids, id_keys, 2, &v) >= 0)
                e->id = v.text;
            break;
        }
        case ARGS: /* the whole event tells whether any are wanted */
            w->args = *r;
            w->has_args = rocl_json_enter(&w->args, ROCL_JSON_OBJECT);
            break;
        default:
            break;
        }
    }
}

/* ---- arguments ------------------------------------------------------------------------------- */

const chrome_args chrome_no_args = {.correlation = ROCL_NO_KEY,
                                    .device = ROCL_NO_KEY,
                                    .stream = ROCL_NO_KEY,
                                    .pid = ROCL_NO_KEY,
                                    .bytes = ROCL_NO_KEY,
                                    .address = ROCL_NO_KEY,
                                    .device_type = ROCL_NO_KEY,
                                    .reserved = ROCL_NO_KEY,
                                    .allocated = ROCL_NO_KEY,
                                    .rank = ROCL_NO_KEY,
                                    .raw_pid = ROCL_NO_KEY};

void chrome_read_sizes(rocl_json *r, uint32_t to[3])
{
    rocl_json_token v;
    if (!rocl_json_enter(r, ROCL_JSON_ARRAY))
        return;
    for (int i = 0; rocl_json_element(r, &v); i++) {
        uint64_t n;
        if (i < 3 && rocl_json_uint(v.text, &n) && n <= UINT32_MAX)
            to[i] = (uint32_t)n;
    }
}

void chrome_read_args(rocl_json *r, chrome_args *a)
{
    enum { CORRELATION, DEVICE, STREAM, PROCESS, GRID, BLOCK, BYTES, SIZE, SHARED, NAME };
    enum { ADDR = NAME + 1, MEMORY, DEVICE_TYPE, DEVICE_ID, RESERVED, ALLOCATED };
    enum { RANK = ALLOCATED + 1, RAW_PID, KEYS };
    static const rocl_view keys[KEYS] = {[CORRELATION] = ROCL_JSON_KEY("correlation"),
                                         [DEVICE] = ROCL_JSON_KEY("device"),
                                         [STREAM] = ROCL_JSON_KEY("stream"),
                                         [PROCESS] = ROCL_JSON_KEY("pid"),
                                         [GRID] = ROCL_JSON_KEY("grid"),
                                         [BLOCK] = ROCL_JSON_KEY("block"),
                                         [BYTES] = ROCL_JSON_KEY("bytes"),
                                         [SIZE] = ROCL_JSON_KEY("size"),
                                         [SHARED] = ROCL_JSON_KEY("shared memory"),
                                         [NAME] = ROCL_JSON_KEY("name"),
                                         [ADDR] = ROCL_JSON_KEY("Addr"),
                                         [MEMORY] = ROCL_JSON_KEY("Bytes"),
                                         [DEVICE_TYPE] = ROCL_JSON_KEY("Device Type"),
                                         [DEVICE_ID] = ROCL_JSON_KEY("Device Id"),
                                         [RESERVED] = ROCL_JSON_KEY("Total Reserved"),
                                         [ALLOCATED] = ROCL_JSON_KEY("Total Allocated"),
                                         [RANK] = ROCL_JSON_KEY("rank"),
                                         [RAW_PID] = ROCL_JSON_KEY("pid_raw")};
    uint64_t *const numbers[KEYS] = {[CORRELATION] = &a->correlation,
                                     [DEVICE] = &a->device,
                                     [STREAM] = &a->stream,
                                     [PROCESS] = &a->pid,
                                     [BYTES] = &a->bytes,
                                     [SIZE] = &a->bytes,
                                     [ADDR] = &a->address,
                                     [RESERVED] = &a->reserved,
                                     [ALLOCATED] = &a->allocated,
                                     [DEVICE_ID] = &a->device_id,
                                     [DEVICE_TYPE] = &a->device_type,
                                     [RANK] = &a->rank,
                                     [RAW_PID] = &a->raw_pid};
    rocl_json_token v;
    for (int key; (key = rocl_json_member(r, keys, KEYS, &v)) >= 0;) {
        uint64_t *number = numbers[key], n;
        int64_t i;
        if (number && rocl_json_uint(v.text, &n)) {
            *number = n;
        } else if (key == GRID) {
            chrome_read_sizes(r, a->grid);
        } else if (key == BLOCK) {
            chrome_read_sizes(r, a->block);
        } else if (key == SHARED && rocl_json_int(v.text, &i)) {
            a->shared = i;
        } else if (key == MEMORY && rocl_json_int(v.text, &i)) {
            a->memory = i;
        } else if (key == NAME && v.kind == ROCL_JSON_STRING) {
            a->name = v.text;
            a->name_escaped = v.escaped;
        } else if (v.kind == ROCL_JSON_NUMBER && key < RANK &&
                   !rocl_json_int(v.text, &i)) { /* -1 is none */
            a->bad = true;
        }
    }
}

void chrome_pass_args(rocl_records *to, chrome_worker *w, rocl_json r, rocl_kind kind_of_record)
{
    static const char *const own_args[] = {"device",        "stream",         "correlation",
                                           "pid",           "grid",           "block",
                                           "shared memory", "kernel_details", "correlation_id"};
    static const rocl_view any_type = ROCL_JSON_KEY(""), string_type = ROCL_JSON_KEY("string");
    rocl_json_token key, v;
    while (rocl_json_next(&r, &key) == ROCL_JSON_KEY) {
        rocl_json_kind kind = rocl_json_next(&r, &v);
        if (kind == ROCL_JSON_OBJECT || kind == ROCL_JSON_ARRAY) {
            rocl_json_leave(&r);
            v.text.n = (size_t)(r.at - v.text.p);
        }
        if (r.wrong) /* the skipped arguments are only parsed now */
            return;
        if (kind_of_record == ROCL_DISPATCH
                ? rocl_view_is_among(key.text, own_args, sizeof own_args / sizeof *own_args)
                : rocl_records_want_only_handles(to) && !rocl_is_handle(key.text.p, key.text.n))
            continue;
        const rocl_view name = chrome_unescape(&w->text[0], key.text, key.escaped);
        const bool text = kind == ROCL_JSON_STRING;
        rocl_record_typed_arg(to, text ? string_type : any_type, name,
                              chrome_unescape(&w->text[1], v.text, text && v.escaped));
    }
}

rocl_status chrome_count_bad_args(rocl_records *to, uint64_t where)
{
    return rocl_record_fault(to, where, ROCL_FAULT_BAD_JSON, "arguments that are no JSON");
}
