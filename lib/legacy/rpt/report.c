/* The report. Its widths, words and signs are a format that other tools read. */
#include "legacy/rpt/rpt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"

/* ---- print statements ----------------------------------------------------------------------- */

enum { FLUSH_AT = 32 << 10 };

rocl_status rpt_flush(rpt_printer *p)
{
    if (!p->status && p->text.failed)
        p->status = rocl_fail_memory(p->err);
    if (!p->status && p->out)
        p->status = rocl_out_write(p->out, p->text.data, p->text.len, p->err);
    if (p->out)
        p->text.len = 0;
    return p->status;
}

void rpt_print_item(rpt_printer *p, const char *s, size_t n)
{
    if (p->blank_due)
        rocl_buf_byte(&p->text, ' ');
    rocl_buf_put(&p->text, s, n);
    p->blank_due = !n || !rocl_py_space(s[n - 1]) || s[n - 1] == ' ';
}

void rpt_end_line(rpt_printer *p)
{
    rocl_buf_byte(&p->text, '\n');
    p->blank_due = false;
    if (p->out && p->text.len > FLUSH_AT)
        rpt_flush(p);
}

static void print_lines(rpt_printer *p, const char *lines)
{
    rpt_print_item(p, lines, strlen(lines));
    rpt_end_line(p);
}

/* Begins an item that is put together in the printer's text. It ends with a blank or a name: never
 * with what would end a line. */
static rocl_buf *begin_item(rpt_printer *p)
{
    rpt_print_item(p, "", 0);
    return &p->text;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* %*s; negative width: to the left. */
static void put_padded(rocl_buf *b, const char *s, size_t n, int width)
{
    size_t wide = (size_t)(width < 0 ? -width : width), missing = wide > n ? wide - n : 0;
    if (width > 0)
        rocl_buf_fill(b, ' ', missing);
    rocl_buf_put(b, s, n);
    if (width < 0)
        rocl_buf_fill(b, ' ', missing);
}

static void put_name(rpt *r, rocl_buf *b, uint32_t text, int width)
{
    size_t n;
    const char *p = rocl_strings_get(r->strings, text, &n);
    put_padded(b, p, n, width);
}

/* %*lld */
static void put_int(rocl_buf *b, int64_t v, int width)
{
    char digits[ROCL_NUM_MAX];
    put_padded(b, digits, (size_t)(rocl_put_i64(digits, v) - digits), width);
}

/* %*.*f; plus: %+*.*f. printf prints the decimal that is nearest to v exactly. That is the nearest
 * integer of units of 10^-decimals wherever v in units, rounded, is clearly nearer to one integer
 * than to the next. */
static void put_real(rocl_buf *b, double v, unsigned decimals, int width, bool plus)
{
    static const double powers[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    double scaled = fabs(v) * powers[decimals], below = floor(scaled), rest = scaled - below;
    if (!(scaled < 1e14) || (rest > 0.45 && rest < 0.55)) {
        /* printf's text, with a point whatever the locale has. */
        char text[400], *to = text;
        int n = snprintf(text, sizeof text, plus ? "%+.*f" : "%.*f", (int)decimals, v);
        bool point = false;
        for (int i = 0; i < n; i++) {
            if (strchr("+-0123456789", text[i]) || !isfinite(v)) {
                *to++ = text[i];
            } else if (!point) {
                *to++ = '.';
                point = true;
            }
        }
        put_padded(b, text, (size_t)(to - text), width);
        return;
    }
    uint64_t units = (uint64_t)below + (rest > 0.5);
    char digits[2 * ROCL_NUM_MAX], *end = digits + sizeof digits, *p = end;
    for (unsigned i = 0; i < decimals; i++, units /= 10)
        *--p = (char)('0' + units % 10);
    *--p = '.';
    do
        *--p = (char)('0' + units % 10);
    while (units /= 10);
    if (signbit(v) || plus)
        *--p = signbit(v) ? '-' : '+';
    put_padded(b, p, (size_t)(end - p), width);
}

/* ---- a record ------------------------------------------------------------------------------- */

void rpt_print_unknown(rpt *r, uint32_t type)
{
    rocl_buf *b = begin_item(&r->print);
    rocl_buf_str(b, "warning:unknown type='");
    put_name(r, b, type, 0);
    rocl_buf_byte(b, '\'');
    rpt_end_line(&r->print);
}

/* "GPU0      12.345678:   +9.10 ", the begin of lines for commands and gaps. The script looks for
 * the resource first, and warns again when there is none. */
static rocl_buf *begin_line(rpt *r, const rpt_record *record, int64_t at, int64_t ns)
{
    rpt_resource_kind kind = rpt_kind_of(r, record->type);
    if (kind == RPT_NONE)
        rpt_print_unknown(r, record->type);
    rocl_buf *b = begin_item(&r->print);
    if (kind == RPT_GPU) {
        rocl_buf_str_i64(b, "GPU", record->device);
    } else {
        rocl_buf_str(b, kind == RPT_DATA ? "DATA" : "None");
    }
    rocl_buf_byte(b, ' ');
    put_real(b, (double)at / 1e6, 6, 16, false);
    rocl_buf_str(b, ": ");
    put_real(b, (double)ns / 1e3, 2, 10, true);
    rocl_buf_byte(b, ' ');
    return b;
}

static void print_command(rpt *r, const rpt_record *record, int64_t critical)
{
    rocl_buf *b = begin_line(r, record, record->start - r->from.record.start, critical);
    put_name(r, b, record->type, -7);
    rocl_buf_str_i64(b, " #", record->device);
    rocl_buf_byte(b, '.');
    rocl_buf_i64(b, record->queue);
    rocl_buf_byte(b, '.');
    rocl_buf_i64(b, record->command);
    rocl_buf_byte(b, ' ');
    put_int(b, (int64_t)record->line, 8);
    rocl_buf_str(b, ": ");
    put_name(r, b, record->name, -30);
    rocl_buf_byte(b, ' ');
    rpt_end_line(&r->print);
}

rocl_status rpt_print_record(rpt *r, const rpt_record *record, const rpt_timing *timing,
                             rocl_error *err)
{
    rpt_printer *print = &r->print;
    uint64_t at = record->text_at, end = r->o.hide_app_text ? at : at + record->text_size;
    bool begins = true;
    rocl_view piece;
    /* The application's lines, each behind "> ". */
    for (; at < end; at += piece.n) {
        rocl_status st = rpt_log_text(r->log, at, end - at, &piece, err);
        if (st)
            return st;
        const char *newline = memchr(piece.p, '\n', piece.n);
        piece.n = newline ? (size_t)(newline - piece.p) + 1 : piece.n;
        if (begins)
            rpt_print_item(print, ">", 1);
        else
            print->blank_due = false;
        rpt_print_item(print, piece.p, piece.n);
        begins = newline;
        if (print->text.len > FLUSH_AT)
            rpt_flush(print);
    }
    if (timing->gap && !r->o.no_gaps) {
        /* The longer, the more signs: two for each limit up to the one that it stays below. */
        size_t limits = r->bucket_count - 1,
               n = timing->bucket < limits ? timing->bucket + 1 : limits;
        rocl_buf *b =
            begin_line(r, record, record->start - timing->gap - r->from.record.start, timing->gap);
        rocl_buf_str(b, "gap                ");
        for (size_t i = 0; i < n; i++)
            rocl_buf_str(b, "==");
        rocl_buf_fill(b, ' ', n < 15 ? 30 - 2 * n : 0);
        rpt_end_line(print);
    }
    print_command(r, record, timing->critical);
    return print->status;
}

/* ---- the region, and what the columns of records are ----------------------------------------- */

void rpt_print_region(rpt *r)
{
    static const char info[] =
        "Display each of the profiling events on a single line.  Fields:\n"
        "  Resource : The resource this command executed on.  May be GPU# for a specific GPU or "
        "DATA to indicate data transfer command\n"
        "  Start(ms) : Start time of the command, displayed in ms.  Command start from time 0\n"
        "  +Time(us) : Time which the command contributed to the 'critical' path \n"
        "  Type  : Type of the command (kernel, barrier, copy)\n"
        "  Dev.Q.Cmd : The command sequm is a unique mononotically increasing number per-queue, so "
        "the triple of device.queue.cmdseqnum uniquely identifies the command during the process "
        "execution.\n"
        "  LineNum : Line number from the input HCC_PROF_FILE\n"
        "  Name  : Name of the record.  For kernels, the kernel name.  For copy commands, the name "
        "contains the direction and size.  For barrier commands the name contains dependency "
        "counts and acquire and release fences.";
    rpt_end *ends[] = {&r->from, &r->to};
    rocl_buf *b;
    for (unsigned i = 0; i < 2; i++) {
        if (!ends[i]->matched_line)
            continue;
        b = begin_item(&r->print);
        rocl_buf_str_i64(b, "info: %roi regular expression matched @",
                         (int64_t)ends[i]->matched_line);
        rocl_buf_str(b, " '");
        rocl_buf_put(b, ends[i]->matched.data, ends[i]->matched.len);
        rocl_buf_byte(b, '\'');
        rpt_end_line(&r->print);
    }
    for (unsigned i = 0; i < 2; i++) {
        rpt_print_item(&r->print, i ? "ROI_STOP :" : "ROI_START:", 10);
        print_command(r, &ends[i]->record, 0);
    }
    b = begin_item(&r->print);
    rocl_buf_str(b, "ROI_TIME=");
    put_real(b, (double)(r->to.record.stop - r->from.record.start) / 1e9, 3, 8, false);
    rocl_buf_str(b, " secs");
    rpt_end_line(&r->print);
    if (!r->o.text_trace)
        return;
    if (r->o.info)
        print_lines(&r->print, info);
    print_lines(&r->print, "Resource        Start(ms) +Time(us)    Type #Dev.Q.Cmd    LineNum "
                           "Name                          ");
}

/* ---- tables --------------------------------------------------------------------------------- */

/* The script would divide by zero if there is no time at all. */
static double percent_of(int64_t ns, int64_t whole)
{
    return whole ? (double)ns * 100.0 / (double)whole : 0;
}

/* Rows that are not shown count among those that are asked for; topn 0 is no limit. */
static rocl_status print_table(rpt *r, const rpt_resource *res, rocl_error *err)
{
    int64_t roi = r->to.record.stop - r->from.record.start;
    uint32_t *order = rpt_summary_order(r, res);
    if (!order)
        return rocl_fail_memory(err);
    rpt_end_line(&r->print);
    bool all = r->o.topn < 0 || (uint64_t)r->o.topn > res->count;
    rocl_buf *b = begin_item(&r->print);
    rocl_buf_str(b, "Resource=");
    put_name(r, b, res->name, 0);
    rocl_buf_str_i64(b, " Showing ", all ? (int64_t)res->count : r->o.topn);
    rocl_buf_byte(b, '/');
    rocl_buf_i64(b, (int64_t)res->count);
    rocl_buf_str(b, " records  ");
    put_real(b, percent_of(res->busy, roi), 2, 6, false);
    rocl_buf_str(b, "% busy");
    rpt_end_line(&r->print);
    print_lines(&r->print, "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  "
                           "Name                          ");
    for (size_t i = 0; i < res->count && (r->o.topn <= 0 || i < (uint64_t)r->o.topn); i++) {
        const rpt_summary *s = &res->summaries[order[i]];
        const double us = (double)s->total / 1e3;
        if (r->o.no_gaps && s->is_gap)
            continue;
        b = begin_item(&r->print);
        put_real(b, percent_of(s->total, r->o.no_gaps ? res->busy : roi), 2, 13, false);
        rocl_buf_str(b, "% ");
        put_real(b, us, 1, 10, false);
        rocl_buf_byte(b, ' ');
        put_int(b, (int64_t)s->count, 8);
        rocl_buf_byte(b, ' ');
        put_real(b, us / (double)s->count, 1, 8, false);
        rocl_buf_byte(b, ' ');
        put_real(b, (double)s->min / 1e3, 1, 8, false);
        rocl_buf_byte(b, ' ');
        put_real(b, (double)s->max / 1e3, 1, 8, false);
        rocl_buf_str(b, "  ");
        put_name(r, b, s->name, -30);
        rpt_end_line(&r->print);
    }
    free(order);
    return r->print.status;
}

rocl_status rpt_print_tables(rpt *r, rocl_error *err)
{
    uint32_t *order = rpt_resource_order(r);
    rocl_status st = order ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < r->resource_count && st == ROCL_OK; i++)
        st = print_table(r, &r->resources[order[i]], err);
    free(order);
    return st;
}
