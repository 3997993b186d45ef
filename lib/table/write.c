/* Tables to a file, in the format that is asked for. To add a format, add a row. */
#include <string.h>

#include "table/format.h"

static const struct {
    const char *name, *alias;
    rocl_table_write_fn *write;
} formats[] = {
    [ROCL_TABLE_TEXT] = {"text", NULL, rocl_table_write_text},
    [ROCL_TABLE_CSV] = {"csv", NULL, rocl_table_write_csv},
    [ROCL_TABLE_TSV] = {"tsv", NULL, rocl_table_write_tsv},
    [ROCL_TABLE_JSON] = {"json", NULL, rocl_table_write_json},
    [ROCL_TABLE_MARKDOWN] = {"markdown", "md", rocl_table_write_markdown},
    [ROCL_TABLE_CONSOLE] = {"table", NULL, rocl_table_write_console},
    [ROCL_TABLE_HTML] = {"html", NULL, rocl_table_write_html},
};

enum { FORMATS = sizeof formats / sizeof *formats };

bool rocl_table_format_named(const char *name, rocl_table_format *format)
{
    for (unsigned i = 0; i < FORMATS; i++) {
        const char *alias = formats[i].alias;
        if (!strcmp(name, formats[i].name) || (alias && !strcmp(name, alias))) {
            *format = (rocl_table_format)i;
            return true;
        }
    }
    return false;
}

rocl_status rocl_write_tables(const rocl_tables *t, const rocl_table_options *o, rocl_error *err)
{
    if ((size_t)o->format >= FORMATS)
        return rocl_fail(err, ROCL_USAGE, "unknown format of tables: %d", (int)o->format);
    rocl_table_writer w = {.tables = t, .width = o->width, .err = err};
    w.status = rocl_out_open_as_named(&w.out, o->path, err);
    if (w.status != ROCL_OK)
        return w.status;
    formats[o->format].write(&w);
    rocl_table_flush(&w);
    rocl_buf_free(&w.buf);
    rocl_buf_free(&w.scratch);
    return rocl_out_end(w.out, w.status, err);
}
