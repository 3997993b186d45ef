/* Workflow commands of GitHub Actions: annotations of a run, from the tables of a comparison. */
#include <string.h>

#include "base/text.h"
#include "table/format.h"

enum { MOST_ERRORS = 9 }; /* GitHub shows ten of a step, of which one says how many there are */

/* The title of a command ends at a colon, and the next property begins at a comma. */
static void put_data(rocl_buf *to, const void *text, size_t n, bool title)
{
    const uint8_t *p = text;
    for (size_t i = 0; i < n; i++)
        if (p[i] == '%' || p[i] == '\r' || p[i] == '\n' || (title && (p[i] == ':' || p[i] == ',')))
            rocl_buf_printf(to, "%%%02X", p[i]);
        else
            rocl_buf_byte(to, p[i]);
}

static void put_command(rocl_table_writer *w, const char *command, const char *title, size_t n,
                        const char *text, size_t len)
{
    rocl_buf_printf(&w->buf, "::%s title=", command);
    put_data(&w->buf, title, n, true);
    rocl_buf_str(&w->buf, "::");
    put_data(&w->buf, text, len, false);
    rocl_buf_byte(&w->buf, '\n');
    rocl_table_end_row(w);
}

static void put_line(rocl_table_writer *w, const char *command, const char *title, const char *text)
{
    put_command(w, command, title, strlen(title), text, strlen(text));
}

/* "KERNELS gemm", "all together". Names keep their ends of lines, but no other controls. */
static void put_title(rocl_buf *to, const rocl_table *t, size_t row)
{
    const rocl_datum *name = rocl_table_find_cell(t, row, "name");
    const char *domain = rocl_datum_str(rocl_table_find_cell(t, row, "domain"));
    rocl_buf_str(to, *domain ? domain : "all together");
    if (name->type != ROCL_DATUM_TEXT)
        return;
    rocl_buf_byte(to, ' ');
    const size_t from = to->len;
    rocl_utf8_put(to, name->text, name->len);
    if (to->len > from)
        to->len = from + rocl_hide_controls((char *)to->data + from, to->len - from, true);
}

static void put_failures(rocl_table_writer *w, const rocl_table *t)
{
    static const char *const keys[] = {"before_ns", "after_ns"};
    size_t failed = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        rocl_buf title = {0}, text = {0};
        if (!rocl_cell_is(t, i, "verdict", "failed") || failed++ >= MOST_ERRORS)
            continue;
        put_title(&title, t, i);
        rocl_limit_put(&text, t, i);
        for (unsigned k = 0; k < 2; k++) {
            rocl_buf_str(&text, k ? " -> " : "; ");
            rocl_datum_put_displayed(&text, rocl_table_find_cell(t, i, keys[k]), ROCL_UNIT_NS);
        }
        put_command(w, "error", (const char *)title.data, title.len, (const char *)text.data,
                    text.len);
        rocl_buf_free_into(&title, &w->buf);
        rocl_buf_free_into(&text, &w->buf);
    }
    if (t->note)
        put_line(w, failed || rocl_limits_untested(t) ? "error" : "notice", "Limits", t->note);
}

void rocl_table_write_github(rocl_table_writer *w)
{
    static const char *const headers[] = {"trace_a", "trace_b"};
    const rocl_table *change = rocl_tables_find(w->tables, "compare_change");
    const rocl_table *limits = rocl_tables_find(w->tables, "compare_limits");
    if (change && change->note)
        put_line(w, "notice", "From A to B", change->note);
    if (limits)
        put_failures(w, limits);
    for (unsigned i = 0; i < 2; i++) {
        const rocl_table *t = rocl_tables_find(w->tables, headers[i]);
        const char *left_out = t ? rocl_datum_str(rocl_table_find_cell(t, 0, "left_out")) : "";
        if (*left_out && strcmp(left_out, "nothing") != 0)
            put_line(w, "warning",
                     i ? "B: records left out or repaired" : "A: records left out or repaired",
                     left_out);
    }
}
