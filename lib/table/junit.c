/* JUnit XML for CI systems: a test case for each row of the table "compare_limits". */
#include <inttypes.h>

#include "base/text.h"
#include "table/format.h"

/* As an attribute: valid UTF-8, without characters that XML does not have. */
static void put_xml(rocl_table_writer *w, const char *p, size_t n)
{
    rocl_buf *text = &w->scratch;
    size_t length = 0;
    text->len = 0;
    rocl_utf8_put(text, p, n);
    for (size_t i = 0; i < text->len; i++) {
        const uint8_t *c = text->data + i;
        const bool none = text->len - i > 2 && c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe;
        text->data[length++] = *c < ' ' || *c == 0x7f || none ? '?' : *c;
        i += none ? 2 : 0;
    }
    rocl_markup_put(&w->buf, (const char *)text->data, length);
}

static void put_value(rocl_buf *to, const rocl_table *t, size_t row, const char *key)
{
    const rocl_datum *d = rocl_table_find_cell(t, row, key);
    if (rocl_datum_has_value(d))
        rocl_cell_put_displayed(to, t, d, rocl_table_find_column(t, key));
}

static void put_cell(rocl_table_writer *w, const rocl_table *t, size_t row, const char *key)
{
    rocl_buf text = {0};
    put_value(&text, t, row, key);
    put_xml(w, (const char *)text.data, text.len);
    rocl_buf_free_into(&text, &w->buf);
}

/* "average grew by 100.00 %, limit 50.00 %", or "average, limit 50.00 %: it is new". */
void rocl_limit_put(rocl_buf *to, const rocl_table *t, size_t row)
{
    const bool grew = rocl_datum_has_value(rocl_table_find_cell(t, row, "growth_percent"));
    const bool why = rocl_datum_has_value(rocl_table_find_cell(t, row, "reason"));
    put_value(to, t, row, "rule");
    rocl_buf_str(to, grew ? " grew by " : "");
    put_value(to, t, row, "growth_percent");
    rocl_buf_str(to, grew ? " %, limit " : ", limit ");
    put_value(to, t, row, "limit_percent");
    rocl_buf_str(to, why ? " %: " : grew ? " %" : " %: it took no time before");
    put_value(to, t, row, "reason");
}

static void put_case(rocl_table_writer *w, const rocl_table *t, size_t row)
{
    rocl_buf *b = &w->buf;
    const rocl_datum *name = rocl_table_find_cell(t, row, "name");
    const bool failed = rocl_cell_is(t, row, "verdict", "failed"),
               passed = rocl_cell_is(t, row, "verdict", "passed");
    const bool whole = !rocl_datum_has_value(rocl_table_find_cell(t, row, "domain"));
    rocl_buf_str(b, "    <testcase classname=\"");
    put_cell(w, t, row, "rule");
    rocl_buf_str(b, whole ? "" : ".");
    put_cell(w, t, row, "domain");
    rocl_buf_str(b, "\" name=\"");
    if (!rocl_datum_has_value(name))
        rocl_buf_str(b, whole ? "all domains together" : "all names together");
    else if (name->len)
        put_xml(w, name->text, name->len);
    else
        rocl_buf_str(b, "(no name)");
    if (passed) {
        rocl_buf_str(b, "\"/>\n");
        return;
    }
    rocl_buf_str(b, failed ? "\">\n      <failure type=\"" : "\">\n      <skipped message=\"");
    if (failed) {
        put_cell(w, t, row, "rule");
        rocl_buf_str(b, "\" message=\"");
    }
    rocl_buf text = {0};
    rocl_limit_put(&text, t, row);
    put_xml(w, (const char *)text.data, text.len);
    rocl_buf_free_into(&text, b);
    rocl_buf_str(b, failed ? "\">" : "\"/>\n");
    if (failed) {
        static const char *const keys[] = {"before_ns", "after_ns"};
        for (unsigned i = 0; i < 2; i++) {
            rocl_buf_str(b, i ? "\nB: " : "A: ");
            put_cell(w, t, row, keys[i]);
            rocl_buf_str(b, " (");
            rocl_datum_put_exact(b, rocl_table_find_cell(t, row, keys[i]));
            rocl_buf_str(b, " ns)");
        }
        rocl_buf_str(b, "\n</failure>\n");
    }
    rocl_buf_str(b, "    </testcase>\n");
}

/* The change of the whole, and what tells damaged records from limits. */
static void put_properties(rocl_table_writer *w)
{
    static const char *const headers[] = {"trace_a", "trace_b"}, *const keys[] = {"files",
                                                                                  "left_out"};
    const rocl_table *change = rocl_tables_find(w->tables, "compare_change");
    rocl_buf_str(&w->buf, "    <properties>\n");
    for (unsigned i = 0; i < 4; i++) {
        const rocl_table *t = rocl_tables_find(w->tables, headers[i / 2]);
        if (!t)
            continue;
        rocl_buf_printf(&w->buf, "      <property name=\"%s.%s\" value=\"", headers[i / 2],
                        keys[i % 2]);
        put_cell(w, t, 0, keys[i % 2]);
        rocl_buf_str(&w->buf, "\"/>\n");
    }
    if (change && change->note) {
        rocl_buf_str(&w->buf, "      <property name=\"change\" value=\"");
        put_xml(w, change->note, strlen(change->note));
        rocl_buf_str(&w->buf, "\"/>\n");
    }
    rocl_buf_str(&w->buf, "    </properties>\n");
}

bool rocl_limits_untested(const rocl_table *limits)
{
    static const char nothing[] = "nothing was tested";
    return limits && limits->note && !strncmp(limits->note, nothing, strlen(nothing));
}

void rocl_table_write_junit(rocl_table_writer *w)
{
    const rocl_table *t = rocl_tables_find(w->tables, "compare_limits");
    size_t failed = 0, skipped = 0;
    const size_t n = t ? t->row_count : 0, untested = rocl_limits_untested(t);
    for (size_t i = 0; i < n; i++) {
        const bool fails = rocl_cell_is(t, i, "verdict", "failed");
        failed += fails;
        skipped += !fails && !rocl_cell_is(t, i, "verdict", "passed");
    }
    rocl_buf_str(&w->buf, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    for (unsigned i = 0; i < 2; i++)
        rocl_buf_printf(&w->buf,
                        "%s name=\"rocstats compare\" tests=\"%zu\" failures=\"%zu\" "
                        "errors=\"%zu\" skipped=\"%zu\">\n",
                        i ? "  <testsuite" : "<testsuites", n + untested, failed, untested,
                        skipped);
    put_properties(w);
    if (untested) {
        rocl_buf_str(&w->buf, "    <testcase classname=\"limits\" name=\"something is tested\">\n"
                              "      <error type=\"input\" message=\"");
        put_xml(w, t->note, strlen(t->note));
        rocl_buf_str(&w->buf, "\"/>\n    </testcase>\n");
    }
    for (size_t i = 0; i < n; i++) {
        put_case(w, t, i);
        rocl_table_end_row(w);
    }
    rocl_buf_str(&w->buf, "  </testsuite>\n</testsuites>\n");
}
