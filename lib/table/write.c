/* Tables to a file, in the format that is asked for, with the formats that need little: CSV, TSV,
 * Markdown and folded stacks. To add a format, add a row to `formats`. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "table/format.h"

/* ---- CSV and TSV: for programs, line by line ------------------------------------------------- */

/* CSV is as RFC 4180 has it, with plain newlines. Several tables have an empty line between them
 * and a first column `report` with the key of the table, so that a pipe can tell their rows apart.
 */
static void put_csv_cell(rocl_buf *to, const rocl_datum *d, char separator)
{
    if (!rocl_datum_has_value(d))
        return;
    if (d->type != ROCL_DATUM_TEXT) {
        rocl_datum_put_exact(to, d);
    } else if (separator == ',') {
        rocl_csv_put_quoted(to, d->text, d->len);
    } else {
        /* A program that reads TSV splits at every tab and newline: they cannot stay. */
        const size_t from = to->len;
        rocl_csv_put_bare(to, d->text, d->len);
        for (size_t i = from; i < to->len; i++)
            to->data[i] = to->data[i] < ' ' ? ' ' : to->data[i];
    }
}

static void put_lines(rocl_table_writer *w, const rocl_table *t, char separator)
{
    const bool several = w->tables->count > 1;
    rocl_buf *b = &w->buf;
    if (several)
        rocl_buf_str(b, "report");
    for (size_t c = 0; c < t->column_count; c++) {
        if (c || several)
            rocl_buf_byte(b, (uint8_t)separator);
        rocl_buf_str(b, t->columns[c].key);
    }
    rocl_buf_byte(b, '\n');
    for (size_t r = 0; r < t->row_count; r++) {
        if (several)
            rocl_buf_str(b, t->key);
        for (size_t c = 0; c < t->column_count; c++) {
            if (c || several)
                rocl_buf_byte(b, (uint8_t)separator);
            put_csv_cell(b, rocl_table_cell(t, r, c), separator);
        }
        rocl_buf_byte(b, '\n');
        rocl_table_end_row(w);
    }
}

static void put_csv(rocl_table_writer *w, const rocl_table *t)
{
    put_lines(w, t, ',');
}

static void put_tsv(rocl_table_writer *w, const rocl_table *t)
{
    put_lines(w, t, '\t');
}

/* ---- folded stacks: for flamegraph.pl, inferno and speedscope -------------------------------- */

/* A tree has a column for the depth of its rows; each row comes before those below it. A line is a
 * stack, and how much of its total is in none of those below it. */
static void put_folded(rocl_table_writer *w, const rocl_table *t)
{
    const size_t depth_column = rocl_table_find_column(t, "depth");
    const size_t total_column = rocl_table_find_column(t, "total_ns");
    if (depth_column == t->column_count || total_column == t->column_count)
        return;
    int64_t *own = malloc((t->row_count + 1) * sizeof *own);
    size_t *path = malloc((t->row_count + 1) * sizeof *path); /* rows by depth */
    w->buf.failed |= !own || !path;
    for (unsigned pass = 0; pass < 2 && !w->buf.failed; pass++) {
        for (size_t r = 0; r < t->row_count; r++) {
            const rocl_datum *depth_cell = rocl_table_cell(t, r, depth_column);
            const size_t depth = (size_t)depth_cell->i;
            path[depth] = r; /* the row for rows that were cut off has no depth: it is outermost */
            if (!pass) {
                own[r] = rocl_table_cell(t, r, total_column)->i;
                if (depth)
                    own[path[depth - 1]] -= own[r];
            } else if (own[r] > 0) {
                for (size_t d = 0; d <= depth; d++) {
                    rocl_buf_str(&w->buf, d ? ";" : "");
                    /* What separates the names of a stack cannot stand in one. */
                    const size_t from = w->buf.len;
                    rocl_datum_put_displayed(&w->buf, rocl_table_cell(t, path[d], 0),
                                             ROCL_UNIT_TEXT);
                    for (size_t i = from; i < w->buf.len; i++)
                        w->buf.data[i] = w->buf.data[i] == ';' ? ':' : w->buf.data[i];
                    if (w->buf.len == from)
                        rocl_buf_byte(&w->buf, '?');
                }
                rocl_buf_printf(&w->buf, " %" PRId64 "\n", own[r]);
                rocl_table_end_row(w);
            }
        }
    }
    free(own);
    free(path);
}

/* ---- all formats ----------------------------------------------------------------------------- */

/* A format writes all tables at once, or each, with an empty line between them. */
static const struct {
    rocl_table_write_fn *write;
    void (*put_table)(rocl_table_writer *w, const rocl_table *t);
} formats[] = {
    [ROCL_TABLE_TEXT] = {.put_table = rocl_table_put_text},
    [ROCL_TABLE_CSV] = {.put_table = put_csv},
    [ROCL_TABLE_TSV] = {.put_table = put_tsv},
    [ROCL_TABLE_JSON] = {.write = rocl_table_write_json},
    [ROCL_TABLE_MARKDOWN] = {.put_table = rocl_table_put_markdown},
    [ROCL_TABLE_CONSOLE] = {.write = rocl_table_write_console},
    [ROCL_TABLE_HTML] = {.write = rocl_table_write_html},
    [ROCL_TABLE_FOLDED] = {.put_table = put_folded},
    [ROCL_TABLE_JUNIT] = {.write = rocl_table_write_junit},
    [ROCL_TABLE_GITHUB] = {.write = rocl_table_write_github},
};

bool rocl_table_format_named(const char *name, rocl_table_format *format)
{
    static const rocl_table_format named[] = {
        /* by word of the names */
        ROCL_TABLE_TEXT,     ROCL_TABLE_CSV,      ROCL_TABLE_TSV,     ROCL_TABLE_JSON,
        ROCL_TABLE_MARKDOWN, ROCL_TABLE_MARKDOWN, ROCL_TABLE_CONSOLE, ROCL_TABLE_HTML,
        ROCL_TABLE_FOLDED,   ROCL_TABLE_JUNIT,    ROCL_TABLE_GITHUB};
    const char *word = ROCL_TABLE_FORMAT_NAMES;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const size_t n = strcspn(word, "|");
        if (strlen(name) == n && !memcmp(name, word, n)) {
            *format = named[i];
            return true;
        }
        word += n + (word[n] == '|');
    }
    return false;
}

static void put_tables(rocl_table_writer *w, rocl_table_format format)
{
    const bool comment = format == ROCL_TABLE_MARKDOWN && rocl_tables_are_comparison(w->tables);
    if (comment)
        rocl_table_write_comment(w);
    else if (formats[format].write)
        formats[format].write(w);
    for (size_t i = 0; i < w->tables->count && formats[format].put_table && !comment; i++) {
        if (i)
            rocl_buf_byte(&w->buf, '\n');
        formats[format].put_table(w, &w->tables->tables[i]);
    }
    rocl_table_flush(w);
    rocl_buf_free(&w->scratch);
}

static rocl_status check_format(const rocl_table_options *o, rocl_error *err)
{
    if ((size_t)o->format < sizeof formats / sizeof *formats)
        return ROCL_OK;
    return rocl_fail(err, ROCL_USAGE, "unknown format of tables: %d", (int)o->format);
}

rocl_status rocl_write_tables(const rocl_tables *t, const rocl_table_options *o, rocl_error *err)
{
    rocl_table_writer w = {.tables = t, .width = o->width, .summary = o->summary, .err = err};
    rocl_status st = check_format(o, err);
    if (st == ROCL_OK)
        st = rocl_out_open_as_named(&w.out, o->path, err);
    if (st != ROCL_OK)
        return st;
    put_tables(&w, o->format);
    rocl_buf_free(&w.buf);
    return rocl_out_end(w.out, w.status, err);
}

rocl_status rocl_print_tables(const rocl_tables *t, const rocl_table_options *o, char **text,
                              size_t *len, rocl_error *err)
{
    rocl_table_writer w = {.tables = t, .width = o->width, .summary = o->summary, .err = err};
    *text = NULL;
    *len = 0;
    const rocl_status st = check_format(o, err);
    if (st != ROCL_OK)
        return st;
    put_tables(&w, o->format);
    const size_t written = w.buf.len;
    rocl_buf_byte(&w.buf, '\0');
    if (w.status == ROCL_OK && w.buf.failed)
        w.status = rocl_fail_memory(err);
    if (w.status != ROCL_OK) {
        rocl_buf_free(&w.buf);
        return w.status;
    }
    *text = (char *)w.buf.data;
    *len = written;
    return ROCL_OK;
}
