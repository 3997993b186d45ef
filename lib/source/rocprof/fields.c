/* Lines of named fields: see fields.h. */
#include "source/rocprof/fields.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "source/rtg/line_match.h"

enum { CACHED_NAMES = 256, CACHED_LENGTH = 40 };

/* The state of a dispatch of results.txt, whose counters are in lines of their own. */
typedef enum dispatch_state {
    NO_DISPATCH,
    BAD_DISPATCH, /* its counters are ignored */
    TIMED_DISPATCH,
    UNTIMED_DISPATCH, /* only its counters count, none so far */
    COUNTED_DISPATCH
} dispatch_state;

struct rocprof_fields {
    struct {
        char name[CACHED_LENGTH];
        uint8_t length; /* 0: empty */
        uint8_t column;
    } cache[CACHED_NAMES]; /* names of columns recur in every line */
    rocprof_row row;
    rocprof_counter *counters; /* those of the row */
    size_t counter_cap;
    bool failed; /* memory was out */
    dispatch_state dispatch;
    uint64_t line; /* of the dispatch, whose row has views of `text` */
    char *text;
    size_t text_cap;
};

rocprof_fields *rocprof_fields_of(rocl_records *to)
{
    return rocl_records_own(to, sizeof(rocprof_fields));
}

void rocprof_fields_free(void *fields)
{
    rocprof_fields *f = fields;
    free(f->counters);
    free(f->text);
    free(f);
}

/* ---- what a line is -------------------------------------------------------------------------- */

static const char *skip_dispatch_number(const char *p, const char *end)
{
    rocl_view digits;
    p = rtg_field(p, end, "dispatch[", &digits);
    return p && digits.n < 20 ? rtg_lit(p, end, "], ") : NULL;
}

bool rocprof_has_fields(const char *p, size_t n)
{
    const char *end = p + n;
    return n && (*p == 'd' ? rtg_lit(p, end, "dispatch[") != NULL
                           : *p == 'D' &&
                                 (rtg_lit(p, end, "Domain(") || rtg_lit(p, end, "Dispatch_ID(")));
}

bool rocprof_is_counter_line(const char *p, size_t n)
{
    const char *end = p + n, *name = rtg_skip_space(p, end), *value;
    if (name == p || n < 5 || end[-1] != ')' || !(value = rtg_last(name, end, '(')))
        return false;
    /* No blank in the name, and one behind it. */
    const char *blank = memchr(name, ' ', (size_t)(value - name));
    if (!blank || blank == name || blank + 1 != value)
        return false;
    if (++value == end - 1)
        return false;
    for (; value < end - 1; value++)
        if (!rtg_word(*value) && *value != '.' && *value != '-' && *value != '+')
            return false;
    return true;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Does a field end with the parenthesis at p? */
static bool is_field_end(const char *p, const char *end)
{
    return p + 1 == end || p[1] == ',';
}

/* The end of the value at p: its parenthesis. Names of kernels may be quoted or not, and hold
 * paired parentheses, and commas. */
static const char *find_value_end(const char *p, const char *end)
{
    const bool quoted = p < end && *p == '"';
    const char *q = quoted ? p + 1 : p;
    if (quoted) {
        while ((q = memchr(q, '"', (size_t)(end - q)))) {
            if (q + 1 < end && q[1] == ')' && is_field_end(q + 1, end))
                return q + 1;
            q++;
        }
        return NULL;
    }
    for (size_t depth = 0; q < end; q++) {
        if (*q == '(')
            depth++;
        else if (*q == ')' && depth)
            depth--;
        else if (*q == ')' && is_field_end(q, end))
            return q;
    }
    /* Not paired: the first possible end is the end. */
    for (q = p; (q = memchr(q, ')', (size_t)(end - q))); q++)
        if (is_field_end(q, end))
            return q;
    return NULL;
}

/* A field, and where the next one begins; NULL: none is whole. */
static const char *read_field(const char *p, const char *end, rocl_view *name, rocl_view *value)
{
    const char *open = memchr(p, '(', (size_t)(end - p));
    if (!open || open == p)
        return NULL;
    *name = rocl_view_between(p, open);
    /* A message is the last field and may hold anything. */
    const char *close = rocl_view_is(*name, "ROCTX_Message") ? rtg_last(open + 1, end, ')')
                                                             : find_value_end(open + 1, end);
    if (!close)
        return NULL;
    *value = rocl_view_between(open + 1, close);
    p = close + 1;
    if (p == end)
        return p;
    if (*p != ',')
        return NULL;
    return p + 1 == end ? end : p[1] == ' ' ? p + 2 : NULL;
}

bool rocprof_fields_are_whole(const char *p, size_t n)
{
    const char *end = p + n;
    rocl_view name, value;
    if (*p == 'd')
        p = skip_dispatch_number(p, end);
    while (p && p < end)
        p = read_field(p, end, &name, &value);
    return p != NULL;
}

/* "time(DISPATCH,BEGIN,END,COMPLETE)" of v1 */
static bool take_times(rocprof_row *row, rocl_view times)
{
    const char *p = times.p, *end = p + times.n;
    rocl_view time[4];
    for (int i = 0; i < 4; i++) {
        const char *comma = i < 3 ? memchr(p, ',', (size_t)(end - p)) : end;
        if (!comma)
            return false;
        time[i] = rocl_view_between(p, comma);
        p = comma + (i < 3);
    }
    rocprof_row_add(row, ROCPROF_SUBMITTED, time[0]);
    rocprof_row_add(row, ROCPROF_START, time[1]);
    rocprof_row_add(row, ROCPROF_END, time[2]);
    rocprof_row_add(row, ROCPROF_COMPLETED, time[3]);
    return true;
}

static bool add_counter(rocprof_fields *f, rocprof_counter counter)
{
    f->failed |= !ROCL_GROW(f->counters, f->counter_cap, f->row.counter_count + 1);
    if (!f->failed)
        f->counters[f->row.counter_count++] = counter;
    f->row.counters = f->counters;
    return !f->failed;
}

/* The fields of a line as a row; false: it is cut or damaged. */
static bool read_row(rocprof_fields *f, const char *p, const char *end)
{
    rocprof_row *row = &f->row;
    rocl_view name, value;
    row->has = row->has_packet = 0;
    row->of_v1 = *p == 'd';
    row->counter_count = 0;
    if (*p == 'd') {
        const char *number = p + 9;
        if (!(p = skip_dispatch_number(p, end)))
            return false;
        rocprof_row_add(row, ROCPROF_INDEX, rocl_view_between(number, p - 3));
    }
    while (p < end) {
        if (!(p = read_field(p, end, &name, &value)))
            return false;
        rocprof_column c;
        if (name.n < CACHED_LENGTH) {
            uint64_t h = 0;
            memcpy(&h, name.p + (name.n < 8 ? 0 : name.n - 8), name.n < 8 ? name.n : 8);
            const size_t at = (size_t)rocl_mix64(h ^ name.n << 56) % CACHED_NAMES;
            if (f->cache[at].length != name.n || memcmp(f->cache[at].name, name.p, name.n) != 0) {
                memcpy(f->cache[at].name, name.p, name.n);
                f->cache[at].length = (uint8_t)name.n;
                f->cache[at].column = (uint8_t)rocprof_column_of(name);
            }
            c = f->cache[at].column;
        } else {
            c = rocprof_column_of(name);
        }
        if (c != ROCPROF_OTHER)
            rocprof_row_add(row, c, value);
        else if (rocl_view_is(name, "time")) {
            if (!take_times(row, value))
                return false;
        } else if (!add_counter(f, (rocprof_counter){name, {.text = value}, 0}))
            return false;
    }
    return true;
}

/* ---- records --------------------------------------------------------------------------------- */

void rocprof_fields_end_dispatch(rocl_records *to, rocprof_fields *f)
{
    if (f->dispatch == UNTIMED_DISPATCH)
        rocl_record_fault_at(to, f->line, f->row.where, ROCL_FAULT_BAD_TIME,
                             "a dispatch without times");
    f->dispatch = NO_DISPATCH;
}

static rocl_status put_bad_line(rocl_records *to, rocprof_fields *f, uint64_t where,
                                rocl_error *err)
{
    if (f->failed)
        return rocl_fail_memory(err);
    f->dispatch = BAD_DISPATCH;
    return rocl_record_fault(to, where, ROCL_FAULT_BAD_LINE, "a record that is cut or damaged");
}

rocl_status rocprof_fields_put(rocl_records *to, const rocprof_words *w, rocprof_fields *f,
                               const char *p, size_t n, uint64_t where, rocl_error *err)
{
    f->row.where = where;
    if (*p != 'd') { /* v2 */
        const bool whole = read_row(f, p, p + n);
        const rocprof_table table = whole ? rocprof_table_of(f->row.has) : ROCPROF_UNKNOWN;
        return table == ROCPROF_UNKNOWN ? put_bad_line(to, f, where, err)
                                        : rocprof_row_put(to, w, table, &f->row, 0, err);
    }
    /* Its counters follow: they need the text as well. */
    if (n + 1 > f->text_cap) {
        char *more = realloc(f->text, 2 * n + 1);
        if (!more)
            return rocl_fail_memory(err);
        f->text = more;
        f->text_cap = 2 * n + 1;
    }
    memcpy(f->text, p, n);
    f->line = rocl_records_line_number(to);
    if (!read_row(f, f->text, f->text + n) || !(f->row.has & ROCPROF_BIT(KERNEL_NAME)))
        return put_bad_line(to, f, where, err);
    f->row.counter_count = 0; /* an unknown field is not a counter */
    if (!(f->row.has & ROCPROF_BIT(START))) {
        f->dispatch = UNTIMED_DISPATCH;
        return ROCL_OK;
    }
    f->dispatch = TIMED_DISPATCH;
    return rocprof_row_put(to, w, ROCPROF_DISPATCHES, &f->row, 0, err);
}

rocl_status rocprof_counter_line_put(rocl_records *to, const rocprof_words *w, rocprof_fields *f,
                                     const char *p, size_t n, uint64_t where, rocl_error *err)
{
    const char *end = p + n, *name = rtg_skip_space(p, end), *open = rtg_last(name, end, '(');
    if (f->dispatch == NO_DISPATCH)
        return ROCL_OK; /* a line of the program */
    if (f->dispatch == BAD_DISPATCH)
        return rocl_record_fault(to, where, ROCL_FAULT_ORPHAN_VALUE,
                                 "a counter whose dispatch cannot be read");
    f->dispatch = f->dispatch == UNTIMED_DISPATCH ? COUNTED_DISPATCH : f->dispatch;
    f->row.counter_count = 0;
    if (!add_counter(f, (rocprof_counter){rocl_view_between(name, open - 1),
                                          {.text = rocl_view_between(open + 1, end - 1)},
                                          0}))
        return rocl_fail_memory(err);
    return rocprof_row_put(to, w, ROCPROF_COUNTERS, &f->row, 0, err);
}
