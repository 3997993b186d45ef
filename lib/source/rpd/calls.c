/* rocpd_api: calls with their arguments, ranges and marks, and the tracer's own work. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "source/rpd/tables.h"

/* "ptr=0x7f.. | size=0x400", or an object of JSON. */
static void put_args(rocl_records *to, rocl_view text)
{
    rocl_json r;
    rocl_json_token key, member;
    rocl_json_open(&r, text.p, text.n, 0, 0);
    if (text.n && *text.p == '{') {
        if (!rocl_json_element(&r, &member) || !rocl_json_enter(&r, ROCL_JSON_OBJECT))
            return;
        while (rocl_json_next(&r, &key) == ROCL_JSON_KEY) {
            if (rocl_json_next(&r, &member) == ROCL_JSON_OBJECT || member.kind == ROCL_JSON_ARRAY) {
                rocl_json_leave(&r);
                member.text = rocl_view_between(member.text.p, r.at);
            }
            if (r.wrong)
                return;
            rocl_record_arg(to, key.text, member.text);
        }
        return;
    }
    while (text.n) {
        const char *bar = memmem(text.p, text.n, " | ", 3), *end = text.p + text.n;
        const rocl_view one = rocl_view_between(text.p, bar ? bar : end);
        rocl_view name = rocl_view_until(one, '='), value = {"", 0};
        if (name.n < one.n)
            value = rocl_view_between(name.p + name.n + 1, one.p + one.n);
        while (name.n && name.p[name.n - 1] == ' ')
            name.n--;
        while (value.n && *value.p == ' ')
            value = rocl_view_between(value.p + 1, value.p + value.n);
        rocl_record_arg(to, name, value);
        text = bar ? rocl_view_between(bar + 3, end) : (rocl_view){end, 0};
    }
}

/* Puts the columns from `first` on of a call's row in another table, without empty ones, with texts
 * instead of their ids. */
static rocl_status put_columns(const rpd_file *f, rocl_records *to, rpd_worker *w, rpd_table t,
                               uint64_t api, unsigned first, rocl_error *err)
{
    const rocl_rows *rows;
    unsigned i;
    rocl_status st = rpd_find_row(f, w, t, api, &rows, &i, err);
    for (unsigned k = first;
         st == ROCL_OK && rows && k < RPD_COLUMNS_MAX && rpd_tables[t].columns[k]; k++) {
        const rocl_view name = {rpd_tables[t].columns[k], strlen(rpd_tables[t].columns[k])};
        char digits[24];
        int64_t v;
        bool bad = false;
        if (t == RPD_KERNEL && k == K_NAME)
            continue;
        if (rocl_cell_kind(rows, k, i) != ROCL_CELL_INT) {
            const rocl_view s = rpd_read_text(rows, k, i);
            if (s.n)
                rocl_record_arg(to, name, s);
        } else if (rocl_cell_int(rows, k, i, &v, &bad)) {
            const int n = snprintf(digits, sizeof digits, "%lld", (long long)v);
            rocl_record_arg(to, name, (rocl_view){digits, (size_t)n});
        }
    }
    return st;
}

/* Device memory of hipMalloc() or hipFree(): "ptr=0x7f00 | size=0x1000". */
static rocl_status put_allocation(const rpd_file *f, rocl_records *to, rocl_source_record r,
                                  bool frees, rocl_view args, rocl_error *err)
{
    const rocl_event e = r.as.e;
    rocl_alloc *a = &r.as.alloc;
    bool sized = frees;
    memset(&r.as, 0, sizeof r.as);
    a->e = e;
    a->e.category = f->words.allocation;
    r.kind = ROCL_ALLOC;
    r.name = frees ? (rocl_view){"MEMORY_ALLOCATION_FREE", 22}
                   : (rocl_view){"MEMORY_ALLOCATION_ALLOCATE", 26};
    rocprof_alloc_operation(r.name, false, a);
    while (args.n) {
        const char *bar = memmem(args.p, args.n, " | ", 3), *end = args.p + args.n;
        const rocl_view one = rocl_view_between(args.p, bar ? bar : end);
        const char *equals = one.n ? memchr(one.p, '=', one.n) : NULL;
        uint64_t v;
        if (equals && rocl_json_uint(rocl_view_between(equals + 1, one.p + one.n), &v)) {
            const rocl_view name = rocl_view_between(one.p, equals);
            if (rocl_view_is(name, "ptr"))
                a->address = v;
            sized |= rocl_view_is(name, "size");
            if (rocl_view_is(name, "size"))
                a->size = v;
        }
        args = bar ? rocl_view_between(bar + 3, end) : (rocl_view){end, 0};
    }
    return a->address && sized ? rocl_record_put(to, &r, err) : ROCL_OK;
}

/* The tracer notes its own work, on threads of its own. */
static bool is_tracer(const char *name)
{
    static const char *const names[] = {"hcc_activity_callback", "rpdflush", "BLOCKING"};
    const char *method = strstr(name, "Table::writeRows");
    bool is = method && !strcmp(method, "Table::writeRows");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        is |= !strcmp(name, names[i]);
    return is;
}

/* The call stack of a call, one frame below the other, as debuggers show it. */
static rocl_status put_frames(const rpd_file *f, rocl_records *to, rpd_worker *w, uint64_t api,
                              rocl_error *err)
{
    static const rocl_view call_stack = {"call_stack", 10};
    rocl_status st = ROCL_OK;
    w->stack.len = 0;
    for (uint64_t k = 0; f->frames && st == ROCL_OK; k++) {
        uint64_t name = ROCL_NO_KEY;
        uint32_t text;
        size_t n;
        st = rocl_lookup_find(f->frames, &w->frames, (rocl_lookup_key){api, k}, &name, err);
        if (st != ROCL_OK || name == ROCL_NO_KEY)
            break;
        if ((st = rpd_find_frame_text(f, to, w, api, name, &text, err)) != ROCL_OK)
            break;
        const char *frame =
            rocl_text(rocl_records_input_of(to)->trace, text == ROCL_NONE ? 0 : text, &n);
        if (k)
            rocl_buf_byte(&w->stack, '\n');
        rocl_buf_put(&w->stack, frame, n);
    }
    if (st == ROCL_OK && w->stack.failed)
        st = rocl_fail_memory(err);
    if (st == ROCL_OK && w->stack.len)
        rocl_record_arg(to, call_stack, (rocl_view){(const char *)w->stack.data, w->stack.len});
    return st;
}

rocl_status rpd_put_call(const rpd_file *f, rocl_records *to, rpd_worker *w, rpd_table t,
                         unsigned i, rocl_error *err)
{
    const rocl_rows *rows = w->rows[t], *strings;
    const uint64_t id = (uint64_t)rows->id[i];
    rocl_source_record r;
    rocl_status st;
    unsigned k;
    bool bad = false;
    uint32_t name, domain = ROCL_NONE;
    rocl_record_begin(&r, ROCL_REGION, rpd_place(t, id));
    rpd_set_process(f, &r, rpd_read_key(rows, A_PID, i, &bad));
    r.thread = rpd_read_key(rows, A_TID, i, &bad);
    r.link = id;
    const char *why = rpd_read_times(rows, A_START, i, &r.as.e);
    if (why)
        return rocl_record_fault(to, r.where, ROCL_FAULT_BAD_TIME, why);
    const uint64_t args = rpd_read_key(rows, A_ARGS, i, &bad);
    if ((st = rpd_find_text(f, to, w, rpd_read_key(rows, A_NAME, i, &bad), &name, err)) !=
            ROCL_OK ||
        (st = rpd_find_text(f, to, w, rpd_read_key(rows, A_DOMAIN, i, &bad), &domain, err)) !=
            ROCL_OK)
        return st;
    if (name == ROCL_NONE)
        rocl_record_fault(to, r.where, ROCL_FAULT_DANGLING_NAME, "its name is not there");
    else if (bad)
        rocl_record_fault(to, r.where, ROCL_FAULT_BAD_VALUE, "a field is not a number");
    const rocl_trace *trace = rocl_records_input_of(to)->trace;
    const char *called = name == ROCL_NONE ? "" : rocl_str(trace, name);
    const bool marks = !strcmp(called, "UserMarker"), is_mark = r.as.e.start == r.as.e.end;
    if (marks)
        r.kind = is_mark ? ROCL_INSTANT : ROCL_MARKER;
    if (marks && !r.as.e.start && r.as.e.end > 0) /* the tracer saw only its pop */
        return rocl_record_fault(to, r.where, ROCL_FAULT_BAD_TIME, "a range without a begin");
    if (!marks) {
        r.as.e.name = name == ROCL_NONE ? 0 : name;
        r.as.e.category = is_tracer(called)                                 ? f->tracer
                          : t == RPD_HSA_API || !strncmp(called, "hsa_", 4) ? f->words.hsa
                          : !strncmp(called, "hip", 3) || !strncmp(called, "__hip", 5)
                              ? f->words.hip
                          : !strncmp(called, "cu", 2) ? f->cuda
                                                      : f->user;
        if (r.as.e.category == f->user && is_mark) /* of rpd_mark */
            r.kind = ROCL_INSTANT;
        if (r.as.e.category == f->user && domain != ROCL_NONE && domain)
            r.as.e.category = domain; /* of rpd_mark and rpd_rangePush */
    }
    const bool wants_args = rocl_records_want_args(to) && rocl_records_want(to, r.kind),
               frees = !strncmp(called, "hipFree", 7),
               allocates = frees || !strncmp(called, "hipMalloc", 9) ||
                           !strncmp(called, "hipExtMalloc", 12),
               wants_alloc = allocates && rocl_records_want(to, ROCL_ALLOC);
    const rpd_table texts = f->names[RPD_USTRING] ? RPD_USTRING : RPD_STRING;
    if (marks || wants_args || wants_alloc) {
        if ((st = rpd_find_row(f, w, texts, args, &strings, &k, err)) != ROCL_OK)
            return st;
        const rocl_view text = strings ? rpd_read_text(strings, S_STRING, k) : (rocl_view){"", 0};
        if (marks && !strings)
            rocl_record_fault(to, r.where, ROCL_FAULT_DANGLING_NAME, "its text is not there");
        if (marks) {
            r.as.e.category = is_mark ? f->words.mark : f->words.range;
            r.name = text;
            r.link = ROCL_NO_KEY;
        } else if (wants_alloc) {
            st = put_allocation(f, to, r, frees, text, err);
        }
        if (wants_args && st == ROCL_OK) { /* from its text and from the tables with its id */
            if (!marks)
                put_args(to, text);
            st = put_columns(f, to, w, RPD_AUTOGRAD, id, G_SEQ, err);
            if (st == ROCL_OK && !f->by_op)
                st = put_columns(f, to, w, RPD_KERNEL, id, K_STREAM, err);
            if (st == ROCL_OK && !f->by_op)
                st = put_columns(f, to, w, RPD_COPY, id, C_STREAM, err);
            st = st ? st : put_frames(f, to, w, id, err);
        }
    }
    return st == ROCL_OK ? rocl_record_put(to, &r, err) : st;
}
