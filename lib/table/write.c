/* Tables to a file, in the format asked for. */
#include "table/forms.h"

#include "base/num.h"

#include <math.h>

enum { FLUSH_AT = 64 << 10 };

bool rocl_table_has_value(const rocl_datum *d)
{
    return d->is != ROCL_DATUM_NONE && (d->is != ROCL_DATUM_REAL || isfinite(d->r));
}

void rocl_table_put_raw(rocl_buf *to, const rocl_datum *d)
{
    if (!rocl_buf_reserve(to, ROCL_NUM_MAX))
        return;
    char *p = (char *)to->data + to->len;
    char *end = d->is == ROCL_DATUM_INT ? rocl_put_i64(p, d->i) : rocl_put_double(p, d->r);
    to->len += (size_t)(end - p);
}

static void flush(rocl_table_writer *w)
{
    if (w->status == ROCL_OK && w->buf.failed)
        w->status = rocl_fail_memory(w->err);
    if (w->status == ROCL_OK)
        w->status = rocl_out_write(w->out, w->buf.data, w->buf.len, w->err);
    w->buf.len = 0;
}

bool rocl_table_row_end(rocl_table_writer *w)
{
    if (w->buf.len >= FLUSH_AT || w->buf.failed)
        flush(w);
    return w->status == ROCL_OK;
}

rocl_status rocl_write_tables(const rocl_tables *t, const rocl_table_options *o, rocl_error *err)
{
    static void (*const formats[])(rocl_table_writer *) = {
        [ROCL_TABLE_TEXT] = rocl_table_write_text,
        [ROCL_TABLE_CSV] = rocl_table_write_csv,
        [ROCL_TABLE_TSV] = rocl_table_write_tsv,
        [ROCL_TABLE_JSON] = rocl_table_write_json,
        [ROCL_TABLE_MARKDOWN] = rocl_table_write_markdown,
        [ROCL_TABLE_CONSOLE] = rocl_table_write_console,
        [ROCL_TABLE_HTML] = rocl_table_write_html,
    };
    if ((size_t)o->format >= sizeof formats / sizeof *formats)
        return rocl_fail(err, ROCL_USAGE, "unknown format of tables: %d", (int)o->format);
    rocl_table_writer w = {.tables = t, .width = o->width, .err = err};
    w.status = rocl_out_open_as_named(&w.out, o->path, err);
    if (w.status != ROCL_OK)
        return w.status;
    formats[o->format](&w);
    flush(&w);
    rocl_buf_free(&w.buf);
    return rocl_out_end(w.out, w.status, err);
}
