/* The report. Its widths, words and signs are a format that other tools read. */
#include "legacy/rpt.h"

#include <stdlib.h>

static void put_name(rocl_rpt *r, rocl_buf *b, uint32_t text, int width)
{
    size_t n;
    const char *p = rocl_strings_get(r->strings, text, &n);
    rocl_rpt_put_text(b, p, n, width);
}

/* Begins an item that is put together in the printer's text. It ends with a blank or a name: never
 * with what would end a line. */
static rocl_buf *begin_item(rocl_rpt_printer *p)
{
    rocl_rpt_item(p, "", 0);
    return &p->text;
}

/* ---- a record -------------------------------------------------------------------------------- */

void rocl_rpt_print_unknown(rocl_rpt *r, uint32_t type)
{
    rocl_buf *b = begin_item(&r->print);
    rocl_buf_str(b, "warning:unknown type='");
    put_name(r, b, type, 0);
    rocl_buf_byte(b, '\'');
    rocl_rpt_newline(&r->print);
}

/* "GPU0      12.345678:   +9.10 ", the begin of lines for commands and gaps. The script looks for
 * the resource first, and warns again when there is none. */
static rocl_buf *begin_line(rocl_rpt *r, const rocl_rpt_record *record, int64_t at, int64_t ns)
{
    rocl_rpt_resource_kind kind = rocl_rpt_kind(r, record->type);
    if (kind == ROCL_RPT_NONE)
        rocl_rpt_print_unknown(r, record->type);
    rocl_buf *b = begin_item(&r->print);
    if (kind == ROCL_RPT_GPU) {
        rocl_buf_str(b, "GPU");
        rocl_rpt_put_int(b, record->device, 0);
    } else {
        rocl_buf_str(b, kind == ROCL_RPT_DATA ? "DATA" : "None");
    }
    rocl_buf_byte(b, ' ');
    rocl_rpt_put_real(b, (double)at / 1e6, 6, 16, false);
    rocl_buf_str(b, ": ");
    rocl_rpt_put_real(b, (double)ns / 1e3, 2, 10, true);
    rocl_buf_byte(b, ' ');
    return b;
}

static void print_command(rocl_rpt *r, const rocl_rpt_record *record, int64_t critical)
{
    rocl_buf *b = begin_line(r, record, record->start - r->from.record.start, critical);
    put_name(r, b, record->type, -7);
    rocl_buf_str(b, " #");
    rocl_rpt_put_int(b, record->device, 0);
    rocl_buf_byte(b, '.');
    rocl_rpt_put_int(b, record->queue, 0);
    rocl_buf_byte(b, '.');
    rocl_rpt_put_int(b, record->command, 0);
    rocl_buf_byte(b, ' ');
    rocl_rpt_put_int(b, (int64_t)record->line, 8);
    rocl_buf_str(b, ": ");
    put_name(r, b, record->name, -30);
    rocl_buf_byte(b, ' ');
    rocl_rpt_newline(&r->print);
}

/* The longer, the more signs: two for each limit up to the one that it stays below. */
static void print_gap(rocl_rpt *r, const rocl_rpt_record *record, const rocl_rpt_share *share)
{
    size_t limits = r->bucket_count - 1, n = share->bucket < limits ? share->bucket + 1 : limits;
    rocl_buf *b =
        begin_line(r, record, record->start - share->gap - r->from.record.start, share->gap);
    rocl_rpt_put_text(b, "gap", 3, -7);
    rocl_buf_byte(b, ' ');
    rocl_rpt_put_text(b, "", 0, 10);
    rocl_buf_byte(b, ' ');
    for (size_t i = 0; i < n; i++)
        rocl_buf_str(b, "==");
    rocl_rpt_put_text(b, "", 0, n < 15 ? 30 - (int)(2 * n) : 0);
    rocl_rpt_newline(&r->print);
}

/* The application's lines, each behind "> ". */
static rocl_status print_text(rocl_rpt *r, const rocl_rpt_record *record, rocl_error *err)
{
    uint64_t at = record->text_at, end = at + record->text_size;
    bool begins = true;
    rocl_view part;
    for (; at < end; at += part.n) {
        rocl_status st = rocl_rpt_log_text(r->log, at, end - at, &part, err);
        if (st)
            return st;
        const char *newline = memchr(part.p, '\n', part.n);
        part.n = newline ? (size_t)(newline - part.p) + 1 : part.n;
        if (begins)
            rocl_rpt_item(&r->print, ">", 1);
        else
            r->print.apart = false;
        rocl_rpt_item(&r->print, part.p, part.n);
        begins = newline;
        if (r->print.text.len > (32 << 10))
            rocl_rpt_flush(&r->print);
    }
    return r->print.status;
}

rocl_status rocl_rpt_print_record(rocl_rpt *r, const rocl_rpt_record *record,
                                  const rocl_rpt_share *share, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    if (record->text_size && !r->o.hide_app_text)
        st = print_text(r, record, err);
    if (share->gap && !r->o.no_gaps)
        print_gap(r, record, share);
    print_command(r, record, share->critical);
    return st ? st : r->print.status;
}

/* ---- the region, and what columns are -------------------------------------------------------- */

static void print_match(rocl_rpt *r, const rocl_rpt_end *e)
{
    if (!e->matched_line)
        return;
    rocl_buf *b = begin_item(&r->print);
    rocl_buf_str(b, "info: %roi regular expression matched @");
    rocl_rpt_put_int(b, (int64_t)e->matched_line, 0);
    rocl_buf_str(b, " '");
    rocl_buf_put(b, e->matched.data, e->matched.len);
    rocl_buf_byte(b, '\'');
    rocl_rpt_newline(&r->print);
}

void rocl_rpt_print_ends(rocl_rpt *r)
{
    const rocl_rpt_record *from = &r->from.record, *to = &r->to.record;
    print_match(r, &r->from);
    print_match(r, &r->to);
    rocl_rpt_item(&r->print, "ROI_START:", 10);
    print_command(r, from, 0);
    rocl_rpt_item(&r->print, "ROI_STOP :", 10);
    print_command(r, to, 0);
    rocl_buf *b = begin_item(&r->print);
    rocl_buf_str(b, "ROI_TIME=");
    rocl_rpt_put_real(b, (double)(to->stop - from->start) / 1e9, 3, 8, false);
    rocl_buf_str(b, " secs");
    rocl_rpt_newline(&r->print);
}

void rocl_rpt_print_header(rocl_rpt *r)
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
    if (r->o.info)
        rocl_rpt_say(&r->print, info);
    rocl_rpt_say(&r->print, "Resource        Start(ms) +Time(us)    Type #Dev.Q.Cmd    LineNum "
                            "Name                          ");
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The script would divide by zero where there is no time at all. */
static double percent_of(int64_t part, int64_t whole)
{
    return whole ? (double)part * 100.0 / (double)whole : 0;
}

static void print_row(rocl_rpt *r, const rocl_rpt_summary *s, int64_t whole)
{
    rocl_buf *b = begin_item(&r->print);
    double us = (double)s->total / 1e3;
    rocl_rpt_put_real(b, percent_of(s->total, whole), 2, 13, false);
    rocl_buf_str(b, "% ");
    rocl_rpt_put_real(b, us, 1, 10, false);
    rocl_buf_byte(b, ' ');
    rocl_rpt_put_int(b, (int64_t)s->count, 8);
    rocl_buf_byte(b, ' ');
    rocl_rpt_put_real(b, us / (double)s->count, 1, 8, false);
    rocl_buf_byte(b, ' ');
    rocl_rpt_put_real(b, (double)s->min / 1e3, 1, 8, false);
    rocl_buf_byte(b, ' ');
    rocl_rpt_put_real(b, (double)s->max / 1e3, 1, 8, false);
    rocl_buf_str(b, "  ");
    put_name(r, b, s->name, -30);
    rocl_rpt_newline(&r->print);
}

static void print_title(rocl_rpt *r, const rocl_rpt_resource *res, int64_t roi)
{
    bool all = r->o.topn < 0 || (uint64_t)r->o.topn > res->count;
    rocl_buf *b = begin_item(&r->print);
    rocl_buf_str(b, "Resource=");
    put_name(r, b, res->name, 0);
    rocl_buf_str(b, " Showing ");
    rocl_rpt_put_int(b, all ? (int64_t)res->count : r->o.topn, 0);
    rocl_buf_byte(b, '/');
    rocl_rpt_put_int(b, (int64_t)res->count, 0);
    rocl_buf_str(b, " records  ");
    rocl_rpt_put_real(b, percent_of(res->busy, roi), 2, 6, false);
    rocl_buf_str(b, "% busy");
    rocl_rpt_newline(&r->print);
    rocl_rpt_say(&r->print, "      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  "
                            "Name                          ");
}

/* Rows that are not shown count among those that are asked for; topn 0 is no limit. */
static rocl_status print_table(rocl_rpt *r, const rocl_rpt_resource *res, rocl_error *err)
{
    int64_t roi = r->to.record.stop - r->from.record.start;
    uint32_t *order = rocl_rpt_summary_order(r, res);
    if (!order)
        return rocl_fail_memory(err);
    rocl_rpt_newline(&r->print);
    print_title(r, res, roi);
    for (size_t i = 0; i < res->count && (r->o.topn <= 0 || i < (uint64_t)r->o.topn); i++) {
        const rocl_rpt_summary *s = &res->summaries[order[i]];
        if (!r->o.no_gaps || !s->is_gap)
            print_row(r, s, r->o.no_gaps ? res->busy : roi);
    }
    free(order);
    return r->print.status;
}

rocl_status rocl_rpt_print_tables(rocl_rpt *r, rocl_error *err)
{
    uint32_t *order = rocl_rpt_resource_order(r);
    rocl_status st = order ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < r->resource_count && st == ROCL_OK; i++)
        st = print_table(r, &r->resources[order[i]], err);
    free(order);
    return st;
}
