/* Tables as JSON: alone, as rocstats(5) describes it, and in the envelope of rocline(1), which is
 * written front to back, so that data may be larger than memory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/view.h"
#include "table/format.h"
#include "table/json.h"

/* ---- values ---------------------------------------------------------------------------------- */

/* What is before it, its key and a colon. */
static void put_key(rocl_buf *to, const char *before, const char *key)
{
    rocl_buf_str(to, before);
    rocl_json_put_string(to, key, strlen(key));
    rocl_buf_str(to, ": ");
}

/* Does that with a text, or null. */
static void put_text(rocl_buf *to, const char *before, const char *key, rocl_view text)
{
    put_key(to, before, key);
    if (text.p)
        rocl_json_put_string(to, text.p, text.n);
    else
        rocl_buf_str(to, "null");
}

static void put_member(rocl_buf *to, const char *before, const char *key, const char *value)
{
    put_text(to, before, key, (rocl_view){value, value ? strlen(value) : 0});
}

/* ---- tables ---------------------------------------------------------------------------------- */

void rocl_table_put_json_row(rocl_table_writer *w, const rocl_table *t, const rocl_datum *cells)
{
    rocl_buf *b = &w->buf;
    rocl_buf_byte(b, '{');
    for (size_t c = 0; c < t->column_count; c++) {
        put_key(b, c ? ", " : "", t->columns[c].key);
        if (!rocl_datum_has_value(&cells[c]))
            rocl_buf_str(b, "null");
        else if (cells[c].type == ROCL_DATUM_TEXT)
            rocl_json_put_string(b, cells[c].text, cells[c].len);
        else
            rocl_datum_put_exact(b, &cells[c]);
    }
    rocl_buf_byte(b, '}');
}

/* The first rows, `most` at most. */
static void put_json_rows(rocl_table_writer *w, const rocl_table *t, size_t most)
{
    rocl_buf_byte(&w->buf, '[');
    for (size_t r = 0; r < t->row_count && r < most; r++) {
        rocl_buf_str(&w->buf, r ? ",\n      " : "\n      ");
        rocl_table_put_json_row(w, t, rocl_table_cell(t, r, 0));
        rocl_table_end_row(w);
    }
    rocl_buf_byte(&w->buf, ']');
}

static void put_json_table(rocl_table_writer *w, const rocl_table *t)
{
    rocl_buf *b = &w->buf;
    put_member(b, "{", "key", t->key);
    put_member(b, ", ", "title", t->title);
    put_member(b, ", ", "note", t->note);
    put_key(b, ",\n     ", "columns");
    rocl_buf_byte(b, '[');
    for (size_t c = 0; c < t->column_count; c++) {
        put_member(b, c ? ", {" : "{", "key", t->columns[c].key);
        put_member(b, ", ", "unit", rocl_unit_name(t->columns[c].unit));
        rocl_buf_byte(b, '}');
    }
    rocl_buf_byte(b, ']');
    put_key(b, ",\n     ", "rows");
    put_json_rows(w, t, SIZE_MAX);
    rocl_buf_byte(b, '}');
}

void rocl_table_write_json(rocl_table_writer *w)
{
    put_member(&w->buf, "{", "rocline", ROCLINE_VERSION);
    for (size_t i = 0; i < w->tables->count; i++) {
        const rocl_table *t = &w->tables->tables[i];
        if (!t->header || !t->row_count)
            continue;
        put_key(&w->buf, ",\n ", t->key);
        rocl_table_put_json_row(w, t, t->cells);
    }
    put_key(&w->buf, ",\n ", "tables");
    rocl_buf_byte(&w->buf, '[');
    const char *between = "\n    ";
    for (size_t i = 0; i < w->tables->count; i++) {
        if (w->tables->tables[i].header)
            continue;
        rocl_buf_str(&w->buf, between);
        put_json_table(w, &w->tables->tables[i]);
        between = ",\n    ";
    }
    rocl_buf_str(&w->buf, "]}\n");
}

/* ---- the envelope ---------------------------------------------------------------------------- */

const rocl_answer_member rocl_answer_members[ROCL_ANSWER_MEMBERS] = {
    [ROCL_ANSWER_ROCLINE] = {"rocline", "version of rocline"},
    [ROCL_ANSWER_SCHEMA_NUMBER] = {"schema", "version of this schema: it is raised when a member "
                                             "goes or changes its meaning, not when one is added"},
    [ROCL_ANSWER_COMMAND] = {"command", "the command that was asked"},
    [ROCL_ANSWER_TRACE] = {"trace", "what was read; null where the command reads no trace, or "
                                    "could not open it; of a comparison A, and null if that is "
                                    "a baseline or several runs"},
    [ROCL_ANSWER_TRACE_B] = {"trace_b", "of compare only: B; null if that is several runs"},
    [ROCL_ANSWER_DATA] = {"data", "the answer; null after an error"},
    [ROCL_ANSWER_WARNINGS] = {"warnings", "what to know of the answer"},
    [ROCL_ANSWER_ERRORS] = {"errors", "why there is no answer, or not all of it"},
    [ROCL_ANSWER_EXIT_CODE] = {"exit_code",
                               "0 done; 1 done, but records were left out or repaired; "
                               "2 wrong usage; 3 input, 4 output, 5 internal error; 6 done, "
                               "but a limit is exceeded"},
};

bool rocl_answer_has(const char *command, unsigned member)
{
    return member != ROCL_ANSWER_TRACE_B || (command && !strcmp(command, "compare"));
}

const rocl_answer_member rocl_message_members[ROCL_MESSAGE_MEMBERS] = {
    {"code", "one of partial, usage, input, output, internal, limit, notice"},
    {"file", "the file that it is about"},
    {"place", "where in the file, as \"byte 123\" or \"table rocpd_region\""},
    {"text", "the whole message, with file and place"},
};

typedef struct message {
    bool error;
    rocl_status code;
    char *text;
} message;

struct rocl_answer {
    rocl_table_writer w;
    char *path, *command;
    const char *const *inputs;
    message *messages;
    size_t count, cap;
    bool has[ROCL_ANSWER_MEMBERS];
    bool lost;  /* memory for a message was out */
    bool whole; /* all of its data are put: errors are about what they say */
};

static void begin_member(rocl_answer *a, unsigned member)
{
    put_key(&a->w.buf, member == ROCL_ANSWER_ROCLINE ? "{" : ",\n ",
            rocl_answer_members[member].key);
    a->has[member] = true;
}

static void put_head(rocl_answer *a)
{
    begin_member(a, ROCL_ANSWER_ROCLINE);
    rocl_json_put_string(&a->w.buf, ROCLINE_VERSION, strlen(ROCLINE_VERSION));
    begin_member(a, ROCL_ANSWER_SCHEMA_NUMBER);
    rocl_buf_printf(&a->w.buf, "%d", ROCL_ANSWER_SCHEMA);
    begin_member(a, ROCL_ANSWER_COMMAND);
    rocl_json_put_string(&a->w.buf, a->command, strlen(a->command));
}

static void free_answer(rocl_answer *a)
{
    for (size_t i = 0; i < a->count; i++)
        free(a->messages[i].text);
    free(a->messages);
    rocl_buf_free(&a->w.buf);
    rocl_buf_free(&a->w.scratch);
    free(a->path);
    free(a->command);
    free(a);
}

rocl_status rocl_answer_open(rocl_answer **answer, const char *path, const char *command,
                             const char *const *inputs, rocl_error *err)
{
    rocl_answer *a = calloc(1, sizeof *a);
    if (!a)
        return rocl_fail_memory(err);
    a->path = strdup(path);
    a->command = strdup(command);
    a->inputs = inputs;
    if (!a->path || !a->command) {
        free_answer(a);
        return rocl_fail_memory(err);
    }
    put_head(a);
    *answer = a;
    return ROCL_OK;
}

/* Opened with the first data, so that an error before leaves the file of an output alone. */
static rocl_status open_output(rocl_answer *a, rocl_error *err)
{
    a->w.err = err;
    return a->w.out ? ROCL_OK : rocl_out_open_as_named(&a->w.out, a->path, err);
}

/* The rows of its tables alone; a table of one thing is an object. */
void rocl_answer_put_trace(rocl_answer *a, bool b, const rocl_tables *description, size_t most)
{
    begin_member(a, b ? ROCL_ANSWER_TRACE_B : ROCL_ANSWER_TRACE);
    for (size_t i = 0; i < description->count; i++) {
        const rocl_table *t = &description->tables[i];
        put_key(&a->w.buf, i ? ",\n   " : "{", t->key);
        if (t->fields && t->row_count)
            rocl_table_put_json_row(&a->w, t, t->cells);
        else
            put_json_rows(&a->w, t, most);
    }
    rocl_buf_byte(&a->w.buf, '}');
}

rocl_status rocl_answer_put_tables(rocl_answer *a, const rocl_tables *data, rocl_error *err)
{
    rocl_status st = open_output(a, err);
    if (st != ROCL_OK)
        return st;
    begin_member(a, ROCL_ANSWER_DATA);
    rocl_buf_byte(&a->w.buf, '{');
    for (size_t i = 0; i < data->count; i++) {
        put_key(&a->w.buf, i ? ",\n   " : "\n   ", data->tables[i].key);
        put_json_table(&a->w, &data->tables[i]);
    }
    rocl_buf_byte(&a->w.buf, '}');
    a->whole = a->w.status == ROCL_OK;
    return a->w.status;
}

rocl_status rocl_answer_put_json(rocl_answer *a, const char *json, size_t len, rocl_error *err)
{
    rocl_status st = open_output(a, err);
    if (st != ROCL_OK)
        return st;
    if (!a->has[ROCL_ANSWER_DATA])
        begin_member(a, ROCL_ANSWER_DATA);
    rocl_buf_put(&a->w.buf, json, len);
    rocl_table_end_row(&a->w);
    return a->w.status;
}

size_t rocl_answer_bytes(const rocl_answer *a)
{
    return (a->w.out ? (size_t)rocl_out_bytes(a->w.out) : 0) + a->w.buf.len;
}

void rocl_answer_add_message(rocl_answer *a, bool error, rocl_status code, const char *text)
{
    message m = {error, code, strdup(text)};
    if (m.text && ROCL_GROW(a->messages, a->cap, a->count + 1)) {
        a->messages[a->count++] = m;
    } else {
        free(m.text);
        a->lost = true;
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Is it an input, or else a file? */
static bool is_file(const rocl_answer *a, rocl_view text)
{
    char path[4096];
    for (size_t i = 0; a->inputs && a->inputs[i]; i++)
        if (rocl_view_is(text, a->inputs[i]))
            return true;
    if (!text.n || text.n >= sizeof path)
        return false;
    memcpy(path, text.p, text.n);
    path[text.n] = '\0';
    return access(path, F_OK) == 0;
}

/* "byte 123", "table rocpd_region": a word and its number or name. */
static bool is_place(rocl_view text)
{
    static const char *const words[] = {"byte ",  "line ",  "row ",    "table ",  "page ",
                                        "chunk ", "block ", "record ", "column ", "element "};
    for (size_t i = 0; text.n < 128 && i < sizeof words / sizeof *words; i++) {
        const size_t n = strlen(words[i]);
        if (rocl_view_begins(text, words[i]) && text.n > n)
            return !memchr(text.p + n, ' ', text.n - n);
    }
    return false;
}

static void put_messages(rocl_answer *a, unsigned member, bool errors)
{
    static const char *const codes[] = {
        [ROCL_OK] = "notice",   [ROCL_PARTIAL] = "partial", [ROCL_USAGE] = "usage",
        [ROCL_INPUT] = "input", [ROCL_OUTPUT] = "output",   [ROCL_INTERNAL] = "internal",
        [ROCL_LIMIT] = "limit"};
    rocl_buf *b = &a->w.buf;
    size_t n = 0;
    begin_member(a, member);
    rocl_buf_byte(b, '[');
    for (size_t i = 0; i < a->count; i++)
        if (a->messages[i].error == errors) {
            rocl_buf_str(b, n++ ? ",\n   " : "");
            /* Messages about a file begin "FILE: " or "FILE: PLACE: ". */
            const message *m = &a->messages[i];
            const char *text = m->text, *colon = strstr(text, ": ");
            rocl_view file = {0}, place = {0};
            if (colon && is_file(a, rocl_view_between(text, colon))) {
                file = rocl_view_between(text, colon);
                text = colon + 2;
                colon = strstr(text, ": ");
                if (colon && is_place(rocl_view_between(text, colon)))
                    place = rocl_view_between(text, colon);
            }
            put_member(b, "{", rocl_message_members[0].key,
                       m->code <= ROCL_LIMIT ? codes[m->code] : "internal");
            put_text(b, ", ", rocl_message_members[1].key, file);
            put_text(b, ", ", rocl_message_members[2].key, place);
            put_member(b, ", ", rocl_message_members[3].key, m->text);
            rocl_buf_byte(b, '}');
        }
    rocl_buf_byte(b, ']');
}

rocl_status rocl_answer_end(rocl_answer *a, rocl_status status, rocl_error *err)
{
    if (!a)
        return ROCL_OK;
    const bool failed = status > ROCL_PARTIAL && !a->whole;
    rocl_status st = ROCL_OK;
    if (failed && a->w.out && strcmp(a->path, "-") != 0) {
        rocl_out_discard(a->w.out); /* an existing file stays; the caller gets the errors */
        a->w.out = NULL;
        a->w.buf.len = 0;
        memset(a->has, 0, sizeof a->has);
        put_head(a);
    }
    if (!a->w.out)
        st = rocl_out_open(&a->w.out, failed ? "-" : a->path, err);
    a->w.err = err;
    for (unsigned m = ROCL_ANSWER_TRACE; m <= ROCL_ANSWER_DATA; m++)
        if (!a->has[m] && rocl_answer_has(a->command, m)) {
            begin_member(a, m);
            rocl_buf_str(&a->w.buf, "null");
        }
    put_messages(a, ROCL_ANSWER_WARNINGS, false);
    put_messages(a, ROCL_ANSWER_ERRORS, true);
    begin_member(a, ROCL_ANSWER_EXIT_CODE);
    rocl_buf_printf(&a->w.buf, "%d}\n", (int)status);
    a->w.buf.failed |= a->lost;
    if (st == ROCL_OK) {
        rocl_table_flush(&a->w);
        st = rocl_out_end(a->w.out, a->w.status, err);
    }
    free_answer(a);
    return st;
}
