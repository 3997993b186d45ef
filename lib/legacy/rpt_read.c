/* A log passes through a pipe in blocks of whole lines. Workers look for profile lines and parse
 * them; whoever writes a block in its turn numbers the lines, prints what the script would print,
 * gives records the application's text before them, and adds them to the sorter. */
#include "legacy/rpt.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/pool.h"

enum { BLOCK = 256 << 10, WORD = sizeof "profile:" - 1 };

/* ---- records as the sorter has them: key (start, line), and the rest ------------------------- */

static uint64_t key_of(int64_t v)
{
    return (uint64_t)v ^ (uint64_t)1 << 63;
}

static size_t pack(const rocl_rpt_record *record, bool with_text, uint8_t *to)
{
    uint8_t *p = rocl_varint_put(to, rocl_zigzag(record->stop - record->start));
    p = rocl_varint_put(p, record->name);
    p = rocl_varint_put(p, record->type);
    p = rocl_varint_put(p, rocl_zigzag(record->device));
    p = rocl_varint_put(p, rocl_zigzag(record->queue));
    p = rocl_varint_put(p, rocl_zigzag(record->command));
    if (with_text && record->text_size) {
        p = rocl_varint_put(p, record->text_at);
        p = rocl_varint_put(p, record->text_size);
        p = rocl_varint_put(p, record->text_line);
        p = rocl_varint_put(p, record->text_lines);
    }
    return (size_t)(p - to);
}

void rocl_rpt_unpack(const rocl_sort_record *packed, rocl_rpt_record *record)
{
    uint64_t v[10] = {0};
    const uint8_t *p = packed->data, *end = p + packed->len;
    for (unsigned i = 0; i < 10 && p < end && rocl_varint_get(&p, end, &v[i]); i++)
        ;
    *record = (rocl_rpt_record){
        .start = (int64_t)key_of((int64_t)packed->key[0]),
        .name = (uint32_t)v[1],
        .type = (uint32_t)v[2],
        .device = rocl_unzigzag(v[3]),
        .queue = rocl_unzigzag(v[4]),
        .command = rocl_unzigzag(v[5]),
        .line = packed->key[1],
        .text_at = v[6],
        .text_size = v[7],
        .text_line = v[8],
        .text_lines = v[9],
    };
    record->stop = record->start + rocl_unzigzag(v[0]);
}

rocl_status rocl_rpt_add(rocl_rpt *r, const rocl_rpt_record *record, rocl_error *err)
{
    uint8_t packed[10 * ROCL_VARINT_MAX];
    uint64_t key[2] = {key_of(record->start), record->line};
    bool any = r->first.line;
    /* The script's sort is stable: of equal starts the first line is first. */
    if (!any || record->start < r->first.start)
        r->first = *record;
    if (!any || record->start >= r->last.start)
        r->last = *record;
    r->backwards += record->stop < record->start;
    rocl_rpt_roi_see(r, record);
    return rocl_sorter_add(r->sorter, 0, key, packed, pack(record, r->keep_text, packed), err);
}

/* ---- what a worker finds in a block ---------------------------------------------------------- */

typedef enum finding_kind {
    FOUND_RECORD,
    FOUND_NONE, /* a profile line that gives no record */
    FOUND_END,  /* of the block */
} finding_kind;

/* One after the other in the chunk's `out`; `said` bytes of what the script says follow. */
typedef struct finding {
    rocl_rpt_record record;
    finding_kind kind;
    rocl_rpt_verdict verdict;
    bool apart;         /* for the printer, after what is said */
    uint64_t line;      /* number in the block, from 0; at the end, newlines in the block */
    size_t begin, stop; /* of the line in the block */
    size_t said;
} finding;

typedef struct reading {
    rocl_rpt *rpt;
    rocl_rpt_line *lines; /* by worker */
    /* of the producer */
    rocl_buf rest; /* the last line read, not complete yet */
    bool inside;   /* a line of text that is longer than a block */
    /* of the writer */
    uint64_t at, line;           /* where the block begins, and how many lines did before it */
    uint64_t text_at, text_line; /* where text begins that belongs to nothing yet */
    rocl_rpt_record last;        /* not added yet: its text may change */
    bool any, last_is_newest;    /* no profile line without a record has come after it */
} reading;

static void put_finding(rocl_buf *to, finding *f, rocl_rpt_line *l)
{
    f->said = l->say.text.len;
    f->apart = l->say.apart;
    l->say.apart = false;
    rocl_buf_put(to, f, sizeof *f);
    rocl_buf_put(to, l->say.text.data, l->say.text.len);
    l->say.text.len = 0;
}

static bool find_in_line(rocl_rpt_line *l, rocl_buf *to, const char *p, finding *f)
{
    const rocl_rpt *r = l->rpt;
    size_t n = f->stop - f->begin;
    if (r->o.raw) {
        rocl_rpt_item(&l->say, "raw:", 4);
        rocl_rpt_item(&l->say, p, n);
        rocl_rpt_newline(&l->say);
    }
    f->verdict = rocl_rpt_line_parse(l, p, n, &f->record);
    bool none =
        f->verdict == ROCL_RPT_UNPARSABLE || (r->o.ignore_barriers && f->record.type == r->barrier);
    f->kind = none ? FOUND_NONE : FOUND_RECORD;
    put_finding(to, f, l);
    return f->verdict != ROCL_RPT_NO_MEMORY && !l->say.text.failed && !l->name.failed;
}

static rocl_status find(void *ctx, unsigned worker, rocl_block *chunk, rocl_error *err)
{
    reading *rd = ctx;
    rocl_rpt_line *l = &rd->lines[worker];
    const char *block = (const char *)chunk->in.data, *end = block + chunk->in.len, *p = block;
    finding f = {0};
    bool inside = chunk->user;
    for (const char *next; p < end; p = next) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        next = newline ? newline + 1 : end;
        f.begin = (size_t)(p - block);
        f.stop = (size_t)(next - block);
        if (!inside && f.stop - f.begin >= WORD && memcmp(p, "profile:", WORD) == 0 &&
            !find_in_line(l, &chunk->out, p, &f))
            return rocl_fail_memory(err);
        inside = false;
        f.line += newline != NULL;
    }
    f.kind = FOUND_END;
    put_finding(&chunk->out, &f, l);
    return ROCL_OK;
}

/* ---- in order -------------------------------------------------------------------------------- */

static rocl_status add_last(reading *rd, rocl_error *err)
{
    return rd->any ? rocl_rpt_add(rd->rpt, &rd->last, err) : ROCL_OK;
}

/* The text up to `at` goes to the last record. */
static void give_text(reading *rd, uint64_t at, uint64_t lines)
{
    rd->last.text_at = rd->text_at;
    rd->last.text_size = at - rd->text_at;
    rd->last.text_line = rd->text_line;
    rd->last.text_lines = lines + 1 - rd->text_line;
}

static rocl_status take(reading *rd, const finding *f, rocl_error *err)
{
    rocl_rpt *r = rd->rpt;
    r->unparsable += f->verdict == ROCL_RPT_UNPARSABLE;
    rd->last_is_newest = f->kind == FOUND_RECORD;
    if (f->kind == FOUND_NONE)
        return ROCL_OK;
    rocl_status st = add_last(rd, err);
    r->repaired += f->verdict == ROCL_RPT_REPAIRED;
    rd->any = true;
    rd->last = f->record;
    rd->last.line = rd->line + f->line + 1;
    give_text(rd, rd->at + f->begin, rd->last.line - 1);
    rd->text_at = rd->at + f->stop;
    rd->text_line = rd->last.line + 1;
    return st;
}

/* By whichever worker: what goes wrong is told where that worker's pipe looks for it. */
static rocl_status say(rocl_rpt_printer *print, const finding *f, const uint8_t *p, rocl_error *err)
{
    rocl_error *usual = print->err;
    if (!f->said)
        return ROCL_OK;
    print->err = err;
    rocl_buf_put(&print->text, p, f->said);
    print->apart = f->apart;
    rocl_status st = rocl_rpt_flush(print);
    print->err = usual;
    return st;
}

static rocl_status write_findings(void *ctx, rocl_block *chunk, rocl_error *err)
{
    reading *rd = ctx;
    rocl_status st = ROCL_OK;
    const uint8_t *p = chunk->out.data, *end = p + chunk->out.len;
    finding f = {0};
    for (; p < end && st == ROCL_OK; p += sizeof f + f.said) {
        memcpy(&f, p, sizeof f);
        st = say(&rd->rpt->print, &f, p + sizeof f, err);
        if (f.kind != FOUND_END && st == ROCL_OK)
            st = take(rd, &f, err);
    }
    rd->at += chunk->in.len;
    rd->line += f.line;
    return st;
}

/* Text that nothing comes after replaces what the record before it had. */
static rocl_status finish(reading *rd, bool open_line, rocl_error *err)
{
    if (rd->at > rd->text_at && rd->any && rd->last_is_newest)
        give_text(rd, rd->at, rd->line + open_line);
    return add_last(rd, err);
}

/* ---- the blocks ------------------------------------------------------------------------------ */

/* Keeps what is behind the last newline for the next block; there is none in what the block had. A
 * profile line must be whole, however long it is; other lines may come in pieces. */
static rocl_status cut(reading *rd, rocl_buf *block, size_t had, bool *whole, rocl_error *err)
{
    const uint8_t *newline = memrchr(block->data + had, '\n', block->len - had);
    size_t n = newline ? (size_t)(newline + 1 - block->data) : 0;
    if (!n && (rd->inside || (block->len >= WORD && memcmp(block->data, "profile:", WORD)))) {
        *whole = rd->inside = true;
        return ROCL_OK;
    }
    *whole = n;
    if (!n)
        return ROCL_OK;
    rd->inside = false;
    rocl_buf_put(&rd->rest, block->data + n, block->len - n);
    block->len = n;
    return rd->rest.failed ? rocl_fail_memory(err) : ROCL_OK;
}

/* Fills a block with lines, and says whether there may be more. */
static rocl_status fill(reading *rd, rocl_block *chunk, bool *more, bool *open_line,
                        rocl_error *err)
{
    rocl_buf *block = &chunk->in;
    rocl_status st = ROCL_OK;
    bool whole = false;
    chunk->user = rd->inside ? rd : NULL;
    rocl_buf_put(block, rd->rest.data, rd->rest.len);
    rd->rest.len = 0;
    while (!whole && st == ROCL_OK) {
        size_t had = block->len;
        st = rocl_rpt_log_read(rd->rpt->log, block, BLOCK, err);
        *more = block->len > had;
        if (block->len)
            *open_line = block->data[block->len - 1] != '\n';
        if (!*more)
            break;
        if (st == ROCL_OK)
            st = cut(rd, block, had, &whole, err);
    }
    return st;
}

static rocl_status pump(reading *rd, bool *open_line, rocl_error *err)
{
    static const rocl_pipe_ops ops = {find, write_findings};
    rocl_pipe *pipe;
    bool more = true;
    rocl_status st = rocl_pipe_new(&pipe, rd->rpt->o.jobs, &ops, rd, err);
    while (more && st == ROCL_OK) {
        rocl_block *chunk;
        st = rocl_pipe_get(pipe, &chunk, err);
        if (st)
            break;
        st = fill(rd, chunk, &more, open_line, err);
        rocl_status put = rocl_pipe_put(pipe, chunk, st ? NULL : err);
        st = st ? st : put;
    }
    if (st) {
        rocl_pipe_abort(pipe);
        return st;
    }
    return rocl_pipe_finish(pipe, err);
}

rocl_status rocl_rpt_read_log(rocl_rpt *r, rocl_error *err)
{
    reading rd = {.rpt = r, .text_line = 1, .lines = calloc(r->o.jobs, sizeof *rd.lines)};
    bool open_line = false;
    rocl_status st = rd.lines ? ROCL_OK : rocl_fail_memory(err);
    for (unsigned i = 0; rd.lines && i < r->o.jobs; i++)
        rd.lines[i].rpt = r;
    if (st == ROCL_OK)
        st = pump(&rd, &open_line, err);
    if (st == ROCL_OK)
        st = finish(&rd, open_line, err);
    for (unsigned i = 0; rd.lines && i < r->o.jobs; i++) {
        rocl_buf_free(&rd.lines[i].say.text);
        rocl_buf_free(&rd.lines[i].name);
    }
    free(rd.lines);
    rocl_buf_free(&rd.rest);
    return st;
}
