/* Results of SQL as text. Rows are written as they come; only a table for people waits for the
 * first ones, to know how wide its columns are. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "base/out.h"
#include "base/text.h"
#include "model/trace.h"
#include "query/columns.h"
#include "table/format.h"

enum {
    ROWS_WAITING = 1000, /* of a table, until its columns have their widths */
    WIDTH_MAX = 120,     /* of a column, however long its texts */
    WIDTH_LEAST = 16,    /* of a column whose texts are cut */
    OUT_BYTES = 64 << 10
};

typedef struct waiting_cell {
    size_t offset, len; /* in the texts */
    bool number;
} waiting_cell;

typedef struct row_writer {
    rocl_out *out;
    rocl_answer *answer; /* NULL: `out` */
    size_t budget;       /* bytes of everything; 0: any */
    uint64_t left_out;   /* rows of this statement that would have passed it */
    rocl_rows_format format;
    bool as_python;
    unsigned width;    /* of the terminal; 0: any */
    rocl_buf text;     /* to be written */
    rocl_buf cell;     /* at hand */
    uint64_t rows;     /* of all statements */
    uint64_t row;      /* of this one */
    uint64_t garbled;  /* texts that are not UTF-8 */
    uint64_t infinite; /* numbers that JSON has none for */
    size_t results;    /* begun */
    /* of a table */
    rocl_buf texts;
    waiting_cell *cells; /* row after row, the first one the titles */
    size_t cell_count, cell_cap;
    size_t columns, *widths, width_cap;
    bool *numbers; /* columns set against their right edge */
    size_t number_cap;
    bool waiting;
} row_writer;

/* ---- cells ----------------------------------------------------------------------------------- */

/* A cell as bare text. */
static inline void put_value(rocl_buf *to, const rocl_sql_value *v, const char *null)
{
    if (v->type == ROCL_SQL_INTEGER)
        rocl_buf_i64(to, v->integer);
    else if (v->type == ROCL_SQL_REAL)
        rocl_buf_double(to, v->real);
    else if (v->type == ROCL_SQL_NULL)
        rocl_buf_str(to, null);
    else if (v->type == ROCL_SQL_BLOB)
        rocl_blob_put(to, v->text, v->len);
    else
        rocl_buf_put(to, v->text, v->len);
}

static bool is_number(const rocl_sql_value *v)
{
    return v->type == ROCL_SQL_INTEGER || v->type == ROCL_SQL_REAL;
}

/* What a terminal shows of it: no control characters, which begin with 0xc2 from U+0080 on; ends of
 * lines and tabs are blanks. */
static void put_plain_text(rocl_buf *to, const char *p, size_t n)
{
    const size_t from = to->len;
    rocl_utf8_put(to, p, n);
    for (size_t i = from; i < to->len; i++) {
        uint8_t *c = &to->data[i];
        if (*c < 0x20 || *c == 0x7f)
            *c = ' ';
        else if (*c == 0xc2 && i + 1 < to->len && c[1] < 0xa0)
            c[0] = c[1] = ' ';
    }
    if (to->len > from) /* what turns the direction of a text */
        to->len = from + rocl_hide_controls((char *)to->data + from, to->len - from, false);
}

static void put_json_cell(rocl_buf *to, const rocl_sql_value *v)
{
    if (v->type == ROCL_SQL_TEXT) {
        rocl_json_put_string(to, v->text, v->len);
    } else if (v->type == ROCL_SQL_BLOB) {
        rocl_buf_byte(to, '"');
        rocl_blob_put(to, v->text, v->len);
        rocl_buf_byte(to, '"');
    } else if (v->type == ROCL_SQL_REAL && !isfinite(v->real)) {
        rocl_buf_str(to, "null");
    } else {
        put_value(to, v, "null");
    }
}

static void put_csv_cell(row_writer *w, const rocl_sql_value *v)
{
    if (v->type == ROCL_SQL_TEXT) {
        rocl_csv_put_quoted(&w->text, v->text, v->len);
    } else if (w->as_python && v->type == ROCL_SQL_NULL) {
        rocl_buf_str(&w->text, "\"\"");
    } else if (w->as_python && v->type == ROCL_SQL_REAL && isfinite(v->real)) {
        rocl_repr_put(&w->text, v->real);
    } else {
        put_value(&w->text, v, "");
    }
}

static void put_tsv_cell(row_writer *w, const rocl_sql_value *v)
{
    static const char special[] = "\t\n\r\\", letters[] = "tnr\\";
    rocl_buf *plain = &w->cell;
    plain->len = 0;
    if (v->type == ROCL_SQL_TEXT)
        rocl_csv_put_bare(plain, v->text, v->len);
    else
        put_value(plain, v, "");
    for (size_t i = 0; i < plain->len; i++) {
        const char c = (char)plain->data[i], *at = c ? strchr(special, c) : NULL;
        if (at) {
            rocl_buf_byte(&w->text, '\\');
            rocl_buf_byte(&w->text, (uint8_t)letters[at - special]);
        } else {
            rocl_buf_byte(&w->text, (uint8_t)c);
        }
    }
}

/* For Markdown and HTML. */
static void put_markup_cell(row_writer *w, const rocl_sql_value *v)
{
    rocl_buf plain = {0};
    w->cell.len = 0;
    put_value(&w->cell, v, "");
    put_plain_text(&plain, w->cell.len ? (const char *)w->cell.data : "", w->cell.len);
    if (w->format == ROCL_ROWS_HTML)
        rocl_markup_put(&w->text, (const char *)plain.data, plain.len);
    for (size_t i = 0; i < plain.len && w->format == ROCL_ROWS_MARKDOWN; i++) {
        if (strchr("|\\`*_<>[]", plain.data[i]))
            rocl_buf_byte(&w->text, '\\');
        rocl_buf_byte(&w->text, plain.data[i]);
    }
    rocl_buf_free_into(&plain, &w->text);
}

/* ---- tables for people ----------------------------------------------------------------------- */

/* The first n code points of a text: how many bytes they are. */
static size_t bytes_of(const uint8_t *p, size_t len, size_t n)
{
    size_t i = 0;
    while (i < len && (n > 0 || (p[i] & 0xc0) == 0x80)) {
        n -= (p[i] & 0xc0) != 0x80;
        i++;
    }
    return i;
}

/* Columns of text become narrower, the widest first, until a row fits. */
static void fit_columns(row_writer *w)
{
    for (;;) {
        size_t sum = 2 * (w->columns - 1), widest = w->columns, second = WIDTH_LEAST;
        for (size_t i = 0; i < w->columns; i++) {
            sum += w->widths[i];
            if (!w->numbers[i] && w->widths[i] > WIDTH_LEAST &&
                (widest == w->columns || w->widths[i] > w->widths[widest]))
                widest = i;
        }
        if (sum <= w->width || widest == w->columns)
            return;
        for (size_t i = 0; i < w->columns; i++)
            if (!w->numbers[i] && w->widths[i] < w->widths[widest] && w->widths[i] > second)
                second = w->widths[i];
        const size_t over = sum - w->width, step = w->widths[widest] - second;
        w->widths[widest] -= over < step ? over : step;
    }
}

static void put_padded(row_writer *w, size_t column, const uint8_t *p, size_t n, bool number)
{
    const size_t has = rocl_text_width(p, n), wants = w->widths[column];
    const bool last = column + 1 == w->columns;
    const size_t pad = has < wants ? wants - has : 0;
    for (size_t i = 0; number && i < pad; i++)
        rocl_buf_byte(&w->text, ' ');
    if (w->width && has > wants && wants >= WIDTH_LEAST) { /* it keeps its begin and its end */
        const size_t end = (wants - 3) / 3, skip = bytes_of(p, n, has - end);
        rocl_buf_put(&w->text, p, bytes_of(p, n, wants - 3 - end));
        rocl_buf_str(&w->text, "...");
        rocl_buf_put(&w->text, p + skip, n - skip);
    } else {
        rocl_buf_put(&w->text, p, n);
    }
    for (size_t i = 0; !number && !last && i < pad; i++)
        rocl_buf_byte(&w->text, ' ');
    rocl_buf_str(&w->text, last ? "\n" : "  ");
}

/* Writes the titles and the rows that have waited. */
static void flush_table(row_writer *w)
{
    const size_t n = w->columns;
    if (!w->waiting || w->text.failed || w->texts.failed || !n)
        return;
    w->waiting = false;
    for (size_t i = 0; i < w->cell_count; i++) {
        const waiting_cell *c = &w->cells[i];
        const size_t width = rocl_text_width(w->texts.data + c->offset, c->len);
        const size_t at = i % n;
        if (width > w->widths[at])
            w->widths[at] = width < WIDTH_MAX ? width : WIDTH_MAX;
        if (i >= n && c->number)
            w->numbers[at] = true;
    }
    if (w->width)
        fit_columns(w);
    for (size_t i = 0; i < w->cell_count; i++) {
        const waiting_cell *c = &w->cells[i];
        put_padded(w, i % n, w->texts.data + c->offset, c->len, i < n ? w->numbers[i] : c->number);
        for (size_t k = 0; i + 1 == n && k < n; k++) { /* below the titles */
            for (size_t dash = 0; dash < w->widths[k]; dash++)
                rocl_buf_byte(&w->text, '-');
            rocl_buf_str(&w->text, k + 1 == n ? "\n" : "  ");
        }
    }
    w->cell_count = 0;
    w->texts.len = 0;
}

static void put_table_cell(row_writer *w, size_t column, const rocl_sql_value *v)
{
    rocl_buf *to = w->waiting ? &w->texts : &w->cell;
    if (!w->waiting)
        to->len = 0;
    const size_t from = to->len;
    if (v->type == ROCL_SQL_TEXT)
        put_plain_text(to, v->text, v->len);
    else
        put_value(to, v, "NULL");
    if (!w->waiting) {
        put_padded(w, column, to->data, to->len, is_number(v));
        return;
    }
    if (!ROCL_GROW(w->cells, w->cell_cap, w->cell_count + 1)) {
        w->texts.failed = true;
        return;
    }
    w->cells[w->cell_count++] = (waiting_cell){from, to->len - from, is_number(v)};
}

/* ---- results --------------------------------------------------------------------------------- */

/* A cell of a row or of the titles, with what is before and after it. */
static void put_cell(row_writer *w, size_t column, const rocl_sql_value *v, bool title)
{
    switch (w->format) {
    case ROCL_ROWS_TABLE:
        put_table_cell(w, column, v);
        break;
    case ROCL_ROWS_CSV:
        rocl_buf_str(&w->text, column ? "," : "");
        put_csv_cell(w, v);
        break;
    case ROCL_ROWS_TSV:
        rocl_buf_str(&w->text, column ? "\t" : "");
        put_tsv_cell(w, v);
        break;
    case ROCL_ROWS_MARKDOWN:
        rocl_buf_str(&w->text, column ? " | " : "| ");
        put_markup_cell(w, v);
        break;
    case ROCL_ROWS_HTML:
        rocl_buf_str(&w->text, title ? "<th>" : "<td>");
        put_markup_cell(w, v);
        rocl_buf_str(&w->text, title ? "</th>" : "</td>");
        break;
    default: /* JSON has others, and columns.c */
        break;
    }
}

static void put_titles(row_writer *w, const rocl_result_row *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const rocl_sql_value v = {ROCL_SQL_TEXT, 0, 0, r->columns[i], strlen(r->columns[i])};
        const size_t first = w->text.len + (i > 0);
        put_cell(w, i, &v, true);
        for (size_t k = first + 1; w->as_python && w->format == ROCL_ROWS_CSV && k < w->text.len;
             k++)
            w->text.data[k] = (uint8_t)(isalpha(w->text.data[k - 1]) ? tolower(w->text.data[k])
                                                                     : toupper(w->text.data[k]));
    }
}

static void end_result(row_writer *w)
{
    if (!w->results)
        return;
    if (w->format == ROCL_ROWS_TABLE)
        flush_table(w);
    else if (w->answer)
        rocl_buf_printf(&w->text, "],\n     \"left_out\": %llu}", (unsigned long long)w->left_out);
    else if (w->format == ROCL_ROWS_JSON)
        rocl_buf_str(&w->text, w->row ? "\n]\n" : "]\n");
    else if (w->format == ROCL_ROWS_MARKDOWN && w->left_out)
        rocl_buf_printf(&w->text, "\n%llu more rows\n", (unsigned long long)w->left_out);
    else if (w->format == ROCL_ROWS_HTML)
        rocl_buf_str(&w->text, "</tbody></table>\n");
}

static void begin_result(row_writer *w, const rocl_result_row *r)
{
    end_result(w);
    if (w->results++ && w->format != ROCL_ROWS_JSON && w->format != ROCL_ROWS_JSONL)
        rocl_buf_byte(&w->text, '\n');
    w->row = 0;
    w->left_out = 0;
    switch (w->format) {
    case ROCL_ROWS_TABLE:
        w->columns = r->count;
        w->waiting = true;
        if (ROCL_GROW(w->widths, w->width_cap, r->count) &&
            ROCL_GROW(w->numbers, w->number_cap, r->count)) {
            memset(w->widths, 0, r->count * sizeof *w->widths);
            memset(w->numbers, 0, r->count * sizeof *w->numbers);
        } else {
            w->texts.failed = true;
        }
        put_titles(w, r);
        break;
    case ROCL_ROWS_JSON:
        if (w->answer) {
            rocl_buf_str(&w->text,
                         w->results > 1 ? ",\n    {\"columns\": [" : "\n    {\"columns\": [");
            for (size_t i = 0; i < r->count; i++) {
                rocl_buf_str(&w->text, i ? ", " : "");
                rocl_json_put_string(&w->text, r->columns[i], strlen(r->columns[i]));
            }
            rocl_buf_str(&w->text, "],\n     \"rows\": [");
        } else {
            rocl_buf_byte(&w->text, '[');
        }
        break;
    case ROCL_ROWS_JSONL:
        break;
    case ROCL_ROWS_MARKDOWN:
        put_titles(w, r);
        rocl_buf_str(&w->text, " |\n|");
        for (size_t i = 0; i < r->count; i++)
            rocl_buf_str(&w->text, "---|");
        rocl_buf_byte(&w->text, '\n');
        break;
    case ROCL_ROWS_HTML:
        rocl_buf_str(&w->text, "<table><thead><tr>");
        put_titles(w, r);
        rocl_buf_str(&w->text, "</tr></thead><tbody>\n");
        break;
    default:
        put_titles(w, r);
        rocl_buf_byte(&w->text, '\n');
    }
}

static void put_object(row_writer *w, const rocl_result_row *r)
{
    rocl_buf_byte(&w->text, '{');
    for (size_t i = 0; i < r->count; i++) {
        rocl_buf_str(&w->text, i ? ", \"" : "\"");
        rocl_json_put(&w->text, r->columns[i], strlen(r->columns[i]));
        rocl_buf_str(&w->text, "\": ");
        put_json_cell(&w->text, &r->values[i]);
    }
    rocl_buf_byte(&w->text, '}');
}

static void put_row(row_writer *w, const rocl_result_row *r)
{
    const bool json = w->format == ROCL_ROWS_JSON || w->format == ROCL_ROWS_JSONL;
    if (w->format == ROCL_ROWS_HTML)
        rocl_buf_str(&w->text, "<tr>");
    for (size_t i = 0; i < r->count && !json; i++)
        put_cell(w, i, &r->values[i], false);
    switch (w->format) {
    case ROCL_ROWS_TABLE:
        if (w->waiting && w->row >= ROWS_WAITING)
            flush_table(w);
        break;
    case ROCL_ROWS_JSON:
        if (w->answer) {
            rocl_buf_str(&w->text, w->row ? ",\n      [" : "\n      [");
            for (size_t i = 0; i < r->count; i++) {
                rocl_buf_str(&w->text, i ? ", " : "");
                put_json_cell(&w->text, &r->values[i]);
            }
            rocl_buf_byte(&w->text, ']');
            break;
        }
        rocl_buf_str(&w->text, w->row ? ",\n  " : "\n  ");
        put_object(w, r);
        break;
    case ROCL_ROWS_JSONL:
        put_object(w, r);
        rocl_buf_byte(&w->text, '\n');
        break;
    default:
        rocl_buf_str(&w->text, w->format == ROCL_ROWS_MARKDOWN ? " |\n"
                               : w->format == ROCL_ROWS_HTML   ? "</tr>\n"
                                                               : "\n");
    }
    w->row++;
    w->rows++;
}

static rocl_status flush_text(row_writer *w, rocl_error *err)
{
    if (w->text.failed || w->cell.failed || w->texts.failed)
        return rocl_fail_memory(err);
    rocl_status st =
        w->answer ? rocl_answer_put_json(w->answer, (const char *)w->text.data, w->text.len, err)
                  : rocl_out_write(w->out, w->text.data, w->text.len, err);
    w->text.len = 0;
    return st;
}

static rocl_status write_row(void *ctx, const rocl_result_row *r, rocl_error *err)
{
    row_writer *w = ctx;
    const size_t before = w->text.len;
    if (!r->values)
        begin_result(w, r);
    else if (w->left_out)
        w->left_out++;
    else
        put_row(w, r);
    const size_t written =
        w->answer ? rocl_answer_bytes(w->answer) : (size_t)rocl_out_bytes(w->out);
    if (w->budget && r->values && !w->left_out && written + w->text.len > w->budget) {
        w->text.len = before;
        w->row--;
        w->rows--;
        w->left_out = 1;
    }
    if (r->values && !w->left_out) { /* what the row says that the output cannot */
        const bool json = w->format == ROCL_ROWS_JSON || w->format == ROCL_ROWS_JSONL;
        for (size_t i = 0; i < r->count; i++) {
            const rocl_sql_value *v = &r->values[i];
            w->garbled += v->type == ROCL_SQL_TEXT && !rocl_utf8_valid(v->text, v->len);
            w->infinite += json && v->type == ROCL_SQL_REAL && !isfinite(v->real);
        }
    }
    return w->text.len < OUT_BYTES ? ROCL_OK : flush_text(w, err);
}

rocl_status rocl_query_write(rocl_query *q, const char *sql, const rocl_rows_options *o,
                             uint64_t *rows, rocl_error *err)
{
    if (o->format >= ROCL_ROWS_PARQUET)
        return rocl_query_write_columns(q, sql, o, rows, err);
    row_writer w = {.format = o->format,
                    .as_python = o->as_python,
                    .width = o->width,
                    .answer = o->answer,
                    .budget = o->budget};
    rocl_status st =
        o->answer ? ROCL_OK : rocl_out_open_as_named(&w.out, o->path ? o->path : "-", err);
    if (st != ROCL_OK)
        return st;
    if (o->answer)
        rocl_buf_str(&w.text, "{\"results\": [");
    rocl_status ran = rocl_query_run(q, sql, write_row, &w, err);
    if (ran == ROCL_OK || ran == ROCL_PARTIAL) {
        rocl_trace *t = rocl_query_trace(q);
        if (w.infinite)
            rocl_notice(t, "%" PRIu64 " value%s infinite: JSON has null in %s place", w.infinite,
                        w.infinite == 1 ? " is" : "s are", w.infinite == 1 ? "its" : "their");
        rocl_status changed = rocl_trace_outcome_texts(t, w.garbled);
        changed = w.infinite ? ROCL_PARTIAL : changed;
        ran = ran == ROCL_OK ? changed : ran;
    }
    const bool whole = ran <= ROCL_PARTIAL;
    const bool stream = !o->path || !strcmp(o->path, "-");
    if (!whole && !w.row && !o->answer) /* nothing but titles */
        w.results = 0;
    if (whole || stream) { /* what came before a failure is not lost on a terminal */
        end_result(&w);
        if (o->answer)
            rocl_buf_str(&w.text, "]}");
        st = flush_text(&w, whole ? err : NULL);
    }
    if (o->answer) {
        /* Whoever opened it closes it. */
    } else if (whole || stream) {
        const rocl_status ended = rocl_out_end(w.out, st, whole ? err : NULL);
        st = st == ROCL_OK ? ended : st;
    } else {
        rocl_out_discard(w.out);
    }
    if (rows)
        *rows = w.rows;
    rocl_buf_free(&w.text);
    rocl_buf_free(&w.cell);
    rocl_buf_free(&w.texts);
    free(w.cells);
    free(w.widths);
    free(w.numbers);
    return !whole ? ran : st == ROCL_OK ? ran : st;
}
