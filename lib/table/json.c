/* Tables as one JSON object, written front to back; rocstats(1) describes its members. */
#include "base/text.h"
#include "table/format.h"

static void put_string(rocl_buf *to, const char *p, size_t n)
{
    rocl_buf_byte(to, '"');
    rocl_json_put(to, p, n);
    rocl_buf_byte(to, '"');
}

/* What is before it, its key and a colon. */
static void put_key(rocl_buf *to, const char *before, const char *key)
{
    rocl_buf_str(to, before);
    put_string(to, key, strlen(key));
    rocl_buf_str(to, ": ");
}

/* The same with a text, or null. */
static void put_member(rocl_buf *to, const char *before, const char *key, const char *value)
{
    put_key(to, before, key);
    if (value)
        put_string(to, value, strlen(value));
    else
        rocl_buf_str(to, "null");
}

static void put_table(rocl_table_writer *w, const rocl_table *t)
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
    rocl_buf_byte(b, '[');
    for (size_t r = 0; r < t->row_count; r++) {
        rocl_buf_str(b, r ? ",\n      {" : "\n      {");
        for (size_t c = 0; c < t->column_count; c++) {
            const rocl_datum *d = rocl_table_cell(t, r, c);
            put_key(b, c ? ", " : "", t->columns[c].key);
            if (!rocl_datum_has_value(d))
                rocl_buf_str(b, "null");
            else if (d->type == ROCL_DATUM_TEXT)
                put_string(b, d->text, d->len);
            else
                rocl_datum_put_exact(b, d);
        }
        rocl_buf_byte(b, '}');
        rocl_table_end_row(w);
    }
    rocl_buf_str(b, "]}");
}

void rocl_table_write_json(rocl_table_writer *w)
{
    put_member(&w->buf, "{", "rocline", ROCLINE_VERSION);
    put_key(&w->buf, ",\n ", "tables");
    rocl_buf_byte(&w->buf, '[');
    for (size_t i = 0; i < w->tables->count; i++) {
        rocl_buf_str(&w->buf, i ? ",\n    " : "\n    ");
        put_table(w, &w->tables->tables[i]);
    }
    rocl_buf_str(&w->buf, "]}\n");
}
