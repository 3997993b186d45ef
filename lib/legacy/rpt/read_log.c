/* A log passes through a pipe in blocks of whole lines. Workers look for profile lines and parse
 * them; whoever writes a block in its turn numbers the lines, prints what the script would print,
 * gives records the application's text before them, and adds them to the sorter. */
#include "legacy/rpt/rpt.h"

#include <stdlib.h>

#include "base/pool.h"

enum { BLOCK = 256 << 10, WORD = sizeof "profile:" - 1 };

typedef enum finding_kind {
    PROFILE_RECORD,
    PROFILE_NO_RECORD, /* a profile line that gives no record */
    BLOCK_END,         /* of the block */
} finding_kind;

/* What a worker finds in a block: one after the other in the block's `out`, each followed by
 * `printed` bytes of what the script prints of it. */
typedef struct finding {
    rpt_record record;
    finding_kind kind;
    rpt_outcome outcome;
    bool blank_due;     /* for the printer, after what is printed */
    uint64_t line;      /* number in the block, from 0; at the end, newlines in the block */
    size_t begin, stop; /* of the line in the block */
    size_t printed;
} finding;

typedef struct log_reader {
    rpt *rpt;
    rpt_parser *parsers; /* by worker */
    /* of the producer */
    rocl_buf rest; /* the last line read, not complete yet */
    bool inside;   /* a line of text that is longer than a block */
    /* of the writer */
    uint64_t at, line;           /* where the block begins, and how many lines did before it */
    uint64_t text_at, text_line; /* where text begins that belongs to nothing yet */
    rpt_record last;             /* not added yet: its text may change */
    bool any, last_is_newest;    /* no profile line without a record has come after it */
} log_reader;

/* ---- on any worker -------------------------------------------------------------------------- */

static void put_finding(rocl_buf *to, finding *f, rpt_printer *print)
{
    f->printed = print->text.len;
    f->blank_due = print->blank_due;
    print->blank_due = false;
    rocl_buf_put(to, f, sizeof *f);
    rocl_buf_put(to, print->text.data, print->text.len);
    print->text.len = 0;
}

static rocl_status find_records(void *ctx, unsigned worker, rocl_block *b, rocl_error *err)
{
    const log_reader *rd = ctx;
    const rpt *r = rd->rpt;
    rpt_parser *parser = &rd->parsers[worker];
    const char *block = (const char *)b->in.data, *end = block + b->in.len, *p = block;
    finding f = {0};
    bool inside = b->user;
    for (const char *next; p < end; p = next) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        next = newline ? newline + 1 : end;
        size_t n = (size_t)(next - p);
        if (!inside && n >= WORD && memcmp(p, "profile:", WORD) == 0) {
            if (r->o.raw) {
                rpt_print_item(&parser->print, "raw:", 4);
                rpt_print_item(&parser->print, p, n);
                rpt_end_line(&parser->print);
            }
            f.begin = (size_t)(p - block);
            f.stop = (size_t)(next - block);
            f.outcome = rpt_parse_line(parser, p, n, &f.record);
            bool none = f.outcome == RPT_UNPARSABLE ||
                        (r->o.ignore_barriers && f.record.type == r->barrier);
            f.kind = none ? PROFILE_NO_RECORD : PROFILE_RECORD;
            put_finding(&b->out, &f, &parser->print);
            if (f.outcome == RPT_NO_MEMORY || parser->print.text.failed || parser->name.failed)
                return rocl_fail_memory(err);
        }
        inside = false;
        f.line += newline != NULL;
    }
    f.kind = BLOCK_END;
    put_finding(&b->out, &f, &parser->print);
    return ROCL_OK;
}

/* ---- in order ------------------------------------------------------------------------------- */

/* The text up to `at`, before so many lines, goes to the last record. */
static void give_text(log_reader *rd, uint64_t at, uint64_t lines)
{
    rd->last.text_at = rd->text_at;
    rd->last.text_size = at - rd->text_at;
    rd->last.text_line = rd->text_line;
    rd->last.text_lines = lines + 1 - rd->text_line;
}

static rocl_status write_findings(void *ctx, rocl_block *b, rocl_error *err)
{
    log_reader *rd = ctx;
    rpt_printer *print = &rd->rpt->print;
    rocl_status st = ROCL_OK;
    const uint8_t *p = b->out.data, *end = p + b->out.len;
    finding f = {0};
    for (; p < end && st == ROCL_OK; p += sizeof f + f.printed) {
        memcpy(&f, p, sizeof f);
        if (f.printed) {
            /* By whichever worker: an error is reported where that worker's pipe looks for it. */
            rocl_error *usual = print->err;
            print->err = err;
            rocl_buf_put(&print->text, p + sizeof f, f.printed);
            print->blank_due = f.blank_due;
            st = rpt_flush(print);
            print->err = usual;
        }
        if (f.kind == BLOCK_END || st != ROCL_OK)
            continue;
        rd->rpt->unparsable += f.outcome == RPT_UNPARSABLE;
        rd->last_is_newest = f.kind == PROFILE_RECORD;
        if (f.kind == PROFILE_RECORD) /* the one before can be added: its text is known now */
        {
            st = rd->any ? rpt_add_record(rd->rpt, &rd->last, err) : ROCL_OK;
            rd->rpt->repaired += f.outcome == RPT_REPAIRED;
            rd->any = true;
            rd->last = f.record;
            rd->last.line = rd->line + f.line + 1;
            give_text(rd, rd->at + f.begin, rd->last.line - 1);
            rd->text_at = rd->at + f.stop;
            rd->text_line = rd->last.line + 1;
        }
    }
    rd->at += b->in.len;
    rd->line += f.line;
    return st;
}

/* ---- the blocks ----------------------------------------------------------------------------- */

/* Fills a block with lines. *more: there may be more; *open_line: it ends within a line. */
static rocl_status fill_block(log_reader *rd, rocl_block *b, bool *more, bool *open_line,
                              rocl_error *err)
{
    rocl_buf *block = &b->in;
    rocl_status st = ROCL_OK;
    bool whole = false;
    b->user = rd->inside ? rd : NULL;
    rocl_buf_put(block, rd->rest.data, rd->rest.len);
    rd->rest.len = 0;
    while (!whole && st == ROCL_OK) {
        size_t had = block->len;
        st = rpt_log_read(rd->rpt->log, block, BLOCK, err);
        *more = block->len > had;
        if (block->len)
            *open_line = block->data[block->len - 1] != '\n';
        if (!*more)
            break;
        if (st)
            break;
        /* What is behind the last newline is kept for the next block; there is none in the first
         * `had` bytes. A profile line must be whole, however long it is; other lines may come in
         * pieces. */
        const uint8_t *newline = memrchr(block->data + had, '\n', block->len - had);
        size_t n = newline ? (size_t)(newline + 1 - block->data) : block->len;
        bool text = block->len >= WORD && memcmp(block->data, "profile:", WORD) != 0;
        whole = newline || rd->inside || text;
        rd->inside = whole && !newline;
        rocl_buf_put(&rd->rest, block->data + n, block->len - n);
        block->len = n;
        if (rd->rest.failed)
            st = rocl_fail_memory(err);
    }
    return st;
}

rocl_status rpt_read_log(rpt *r, rocl_error *err)
{
    static const rocl_pipe_ops ops = {find_records, write_findings};
    log_reader rd = {.rpt = r, .text_line = 1, .parsers = calloc(r->o.jobs, sizeof *rd.parsers)};
    rocl_pipe *pipe;
    bool more = true, open_line = false;
    if (!rd.parsers)
        return rocl_fail_memory(err);
    for (unsigned i = 0; i < r->o.jobs; i++)
        rd.parsers[i].rpt = r;
    rocl_status st = rocl_pipe_new(&pipe, r->o.jobs, &ops, &rd, err);
    while (more && st == ROCL_OK) {
        rocl_block *b;
        st = rocl_pipe_get(pipe, &b, err);
        if (st)
            break;
        st = fill_block(&rd, b, &more, &open_line, err);
        rocl_status put = rocl_pipe_put(pipe, b, st ? NULL : err);
        st = st ? st : put;
    }
    if (st)
        rocl_pipe_abort(pipe);
    else
        st = rocl_pipe_finish(pipe, err);
    if (st == ROCL_OK && rd.any) {
        /* Text that nothing comes after replaces what the record before it had. */
        if (rd.at > rd.text_at && rd.last_is_newest)
            give_text(&rd, rd.at, rd.line + open_line);
        st = rpt_add_record(r, &rd.last, err);
    }
    for (unsigned i = 0; i < r->o.jobs; i++) {
        rocl_buf_free(&rd.parsers[i].print.text);
        rocl_buf_free(&rd.parsers[i].name);
    }
    free(rd.parsers);
    rocl_buf_free(&rd.rest);
    return st;
}
