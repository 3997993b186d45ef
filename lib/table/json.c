/* Tables as one JSON object, written front to back; the form is in rocstats(1). */
#include "table/forms.h"

#include "base/num.h"
#include "base/json_put.h"

static void put_string(rocl_buf *to, const char *p, size_t n)
{
    rocl_buf_byte(to, '"');
    rocl_json_put(to, p, n);
    rocl_buf_byte(to, '"');
}

static void put_key(rocl_buf *to, const char *before, const char *key)
{
    rocl_buf_str(to, before);
    put_string(to, key, strlen(key));
    rocl_buf_str(to, ": ");
}

/* Static text; NULL is null. */
static void put_member(rocl_buf *to, const char *before, const char *key, const char *value)
{
    put_key(to, before, key);
    if (value)
        put_string(to, value, strlen(value));
    else
        rocl_buf_str(to, "null");
}

static const char *unit_name(rocl_unit unit)
{
    static const char *const names[] = {
        [ROCL_UNIT_TEXT] = "text",       [ROCL_UNIT_SENTENCE] = "text",
        [ROCL_UNIT_COUNT] = "count",     [ROCL_UNIT_NS] = "ns",
        [ROCL_UNIT_BYTES] = "bytes",     [ROCL_UNIT_RATE] = "bytes/s",
        [ROCL_UNIT_PERCENT] = "percent", [ROCL_UNIT_NUMBER] = "number",
    };
    return names[unit];
}

static void put_value(rocl_buf *to, const rocl_datum *d)
{
    if (!rocl_table_has_value(d))
        rocl_buf_str(to, "null");
    else if (d->is == ROCL_DATUM_TEXT)
        put_string(to, d->text, d->len);
    else
        rocl_table_put_raw(to, d);
}

static void put_columns(rocl_buf *to, const rocl_table *t)
{
    put_key(to, ",\n     ", "columns");
    for (size_t c = 0; c < t->column_count; c++) {
        put_member(to, c ? ", {" : "[{", "key", t->columns[c].key);
        put_member(to, ", ", "unit", unit_name(t->columns[c].unit));
        rocl_buf_byte(to, '}');
    }
    rocl_buf_str(to, t->column_count ? "]" : "[]");
}

static bool put_row(rocl_table_writer *w, const rocl_table *t, size_t row)
{
    rocl_buf_str(&w->buf, row ? ",\n      {" : "\n      {");
    for (size_t c = 0; c < t->column_count; c++) {
        put_key(&w->buf, c ? ", " : "", t->columns[c].key);
        put_value(&w->buf, rocl_table_cell(t, row, c));
    }
    rocl_buf_byte(&w->buf, '}');
    return rocl_table_row_end(w);
}

static bool put_table(rocl_table_writer *w, const rocl_table *t)
{
    put_member(&w->buf, "{", "key", t->key);
    put_member(&w->buf, ", ", "title", t->title);
    put_member(&w->buf, ", ", "note", t->note);
    put_columns(&w->buf, t);
    put_key(&w->buf, ",\n     ", "rows");
    rocl_buf_byte(&w->buf, '[');
    for (size_t r = 0; r < t->row_count; r++) {
        if (!put_row(w, t, r))
            return false;
    }
    rocl_buf_str(&w->buf, "]}");
    return rocl_table_row_end(w);
}

void rocl_table_write_json(rocl_table_writer *w)
{
    put_member(&w->buf, "{", "rocline", ROCLINE_VERSION);
    put_key(&w->buf, ",\n ", "tables");
    rocl_buf_byte(&w->buf, '[');
    for (size_t i = 0; i < w->tables->count; i++) {
        rocl_buf_str(&w->buf, i ? ",\n    " : "\n    ");
        if (!put_table(w, &w->tables->tables[i]))
            return;
    }
    rocl_buf_str(&w->buf, "]}\n");
}
