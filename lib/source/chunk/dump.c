/* Records as lines of text, for people: what is in the file, in its order. The lines go to
 * the function of the caller. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/num.h"
#include "base/text.h"
#include "source/chunk/chunk.h"

enum { FIELDS_MAX = 900 }; /* bytes of the fields of a record, and a NUL */

typedef struct dumper {
    chunk_clock clock; /* of the process */
    chunk_reader reader;
    rocl_line_fn *fn;
    void *ctx;
    rocl_buf text; /* of the fields of a record */
    bool stopped;  /* the caller wants no more */
} dumper;

static void __attribute__((format(printf, 2, 3))) put_line(dumper *d, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    d->stopped = d->stopped || !d->fn(d->ctx, text, len);
}

/* ---- records -------------------------------------------------------------------------------- */

/* Names, and the fields of a body: n number, z signed number, s text with its length, r the rest, p
 * number of pairs of texts and the pairs, v values with their forms. */
static const struct {
    const char *name, *fields;
} types[256] = {
    [ROCL_REC_BEGIN] = {"begin", ""},
    [ROCL_REC_END] = {"end", ""},
    [ROCL_REC_PUSH] = {"push", ""},
    [ROCL_REC_POP] = {"pop", ""},
    [ROCL_REC_MARK] = {"mark", ""},
    [ROCL_REC_START] = {"start", ""},
    [ROCL_REC_STOP] = {"stop", ""},
    [ROCL_REC_TEXT] = {"text", "nr"},
    [ROCL_REC_NAME] = {"name", "nsr"},
    [ROCL_REC_NODE] = {"node", "ssssss"},
    [ROCL_REC_PROCESS] = {"process", "nnns"},
    [ROCL_REC_THREAD] = {"thread", "r"},
    [ROCL_REC_AGENT] = {"agent", "nnnzzzssss"},
    [ROCL_REC_QUEUE] = {"queue", "nns"},
    [ROCL_REC_STREAM] = {"stream", "nns"},
    [ROCL_REC_KERNEL] = {"kernel", "nnnzzzzzss"},
    [ROCL_REC_COUNTER] = {"counter", "nnnssss"},
    [ROCL_REC_PROCESS_NAME] = {"process-name", "r"},
    [ROCL_REC_OPEN_REGION] = {"open-region", "nnn"},
    [ROCL_REC_OPEN_RANGE] = {"open-range", "nn"},
    [ROCL_REC_LOST] = {"lost", "n"},
    [ROCL_REC_CORRELATE] = {"correlate", "nn"},
    [ROCL_REC_PARAMETERS] = {"parameters", "np"},
    [ROCL_REC_LABEL] = {"label", "nnr"},
    [ROCL_REC_SUBJECT] = {"subject", "nnnnns"},
    [ROCL_REC_ARG] = {"arg", "nnr"},
    [ROCL_REC_ARGS] = {"args", "nv"},
    [ROCL_REC_DISPATCH] = {"dispatch", "nnnnnnnnnnnnn"},
    [ROCL_REC_COPY] = {"copy", "nnnnnnnn"},
    [ROCL_REC_ALLOC] = {"alloc", "nnnnnnnnn"},
    [ROCL_REC_BARRIER] = {"barrier", "nnnn"},
    [ROCL_REC_SAMPLE] = {"sample", "nnn"},
    [ROCL_REC_GRAPH] = {"graph", "nnnnnn"},
};

/* As much of a text as fits on a line, in quotes, safe to print. */
static void put_quoted(rocl_buf *b, rocl_view s)
{
    size_t n = s.n < 160 ? s.n : 160;
    bool valid = rocl_utf8_valid(s.p, n);
    rocl_buf_str(b, " \"");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        rocl_buf_byte(b, c < ' ' || c == 0x7f || (c >= 0x80 && !valid) ? '?' : c);
    }
    rocl_buf_byte(b, '"');
}

static void put_number(rocl_buf *b, char before, uint64_t v)
{
    rocl_buf_byte(b, (uint8_t)before);
    rocl_buf_u64(b, v);
}

static void put_signed(rocl_buf *b, char before, int64_t v)
{
    rocl_buf_byte(b, (uint8_t)before);
    rocl_buf_i64(b, v);
}

/* " FORM:VALUE" of each, as numbers. */
static void put_values(rocl_buf *b, chunk_record *r)
{
    while (r->p < r->end && b->len < FIELDS_MAX) {
        uint8_t form = *r->p++;
        put_number(b, ' ', form);
        if (form == ROCL_FORM_NONE)
            rocl_buf_byte(b, ':');
        for (int i = 0; i < (form == ROCL_FORM_SIZES ? 3 : form != ROCL_FORM_NONE); i++) {
            uint64_t v = chunk_read_number(r);
            char before = i ? ',' : ':';
            if (form == ROCL_FORM_SIGNED)
                put_signed(b, before, rocl_unzigzag(v));
            else
                put_number(b, before, v);
        }
    }
}

static void dump_record(dumper *d, chunk_record *r)
{
    const char *name = types[r->type].name;
    rocl_buf *b = &d->text;
    b->len = 0;
    if (!name) {
        put_line(d, "  record of type 0x%02x, %zu bytes", r->type, (size_t)(r->end - r->p));
        return;
    }
    if (r->type < ROCL_REC_SIZED) {
        put_signed(b, ' ', chunk_clock_to_ns(&d->clock, ROCL_CLOCK_TICKS, d->reader.now));
        if (r->type != ROCL_REC_END && r->type != ROCL_REC_POP)
            put_number(b, ' ', r->a);
        if (r->type == ROCL_REC_START)
            put_number(b, ' ', r->b);
    } else if (r->type >= ROCL_REC_DISPATCH) {
        chunk_times t = chunk_read_times(&d->reader, r);
        rocl_buf_printf(b, " %" PRId64 " +%" PRIu64 " tid %" PRIu64 " for %" PRIu64,
                        chunk_clock_to_ns(&d->clock, t.clock, t.start), t.end - t.start, t.tid,
                        t.correlation);
    }
    for (const char *f = types[r->type].fields; *f && b->len < FIELDS_MAX; f++) {
        uint64_t count = 0;
        switch (*f) {
        case 'n':
            put_number(b, ' ', chunk_read_number(r));
            break;
        case 'z':
            put_signed(b, ' ', chunk_read_signed(r));
            break;
        case 'p':
            count = chunk_read_number(r);
            for (uint64_t i = 0; i < count && r->p < r->end && b->len < FIELDS_MAX; i++) {
                put_quoted(b, chunk_read_text(r));
                put_quoted(b, chunk_read_text(r));
            }
            break;
        case 'v':
            put_values(b, r);
            break;
        default:
            put_quoted(b, *f == 's' ? chunk_read_text(r) : chunk_read_rest(r));
        }
    }
    put_line(d, "  %s%.*s", name, (int)(b->len < FIELDS_MAX ? b->len : FIELDS_MAX - 1),
             b->len ? (const char *)b->data : "");
}

/* ---- chunks --------------------------------------------------------------------------------- */

static rocl_status dump_file(dumper *d, const chunk_file *f, rocl_error *err)
{
    rocl_buf content = {0};
    chunk_state state;
    size_t n;
    rocl_status st = rocl_spool_resume(f->spool, err);
    for (size_t i = 0; i < f->list.count && st == ROCL_OK && !d->stopped; i++) {
        const chunk_info *c = &f->list.all[i];
        const chunk_process *p = f->processes, *last = p + f->count - 1;
        while (p < last && !(p->any->h.process == c->h.process && p->any->h.pid == c->h.pid))
            p++;
        d->clock = p->clock;
        st = chunk_load(f->spool, c, &content, &n, &state, err);
        if (st != ROCL_OK)
            break;
        const rocl_chunk_header *h = &c->h;
        put_line(d,
                 "chunk at %" PRIu64 ": pid %u tid %u writer %u number %" PRIu64 ": %" PRIu64
                 " events in %" PRIu64 " bytes%s%s%s%s%s, dropped %" PRIu64,
                 c->offset, h->pid, h->tid, h->writer, h->seq, chunk_events(c), chunk_content(c),
                 h->features & ROCL_CHUNK_DEFLATE ? ", deflated" : "",
                 h->flags & ROCL_CHUNK_CLOSED && !(h->flags & ROCL_CHUNK_OPEN) ? ""
                                                                               : ", not closed",
                 h->flags & ROCL_CHUNK_LAST ? ", the last" : "",
                 h->flags & ROCL_CHUNK_RING ? ", of a ring" : "", c->damaged ? ", damaged" : "",
                 atomic_load(&((chunk_info *)(uintptr_t)c)->h.dropped));
        if (c->damaged)
            continue;
        chunk_record r;
        chunk_reader_begin(&d->reader, c, content.data, n);
        while (!d->stopped && chunk_read_record(&d->reader, &r))
            dump_record(d, &r);
        if (d->reader.broken)
            put_line(d, "  broken from byte %zu of the content",
                     (size_t)(d->reader.p - content.data) - 1);
        if (c->lost)
            put_line(d, "  %" PRIu64 " events are missing", c->lost);
    }
    rocl_buf_free(&content);
    rocl_spool_suspend(f->spool);
    if (f->list.garbage && st == ROCL_OK)
        put_line(d, "damaged or cut off, no chunk: %" PRIu64, f->list.garbage);
    for (size_t i = 0; i < f->count && st == ROCL_OK; i++)
        st = chunk_count_faults(&f->processes[i], err);
    return st == ROCL_OK && d->text.failed ? rocl_fail_memory(err) : st;
}

rocl_status rocl_dump_chunks(rocl_trace *t, rocl_line_fn *fn, void *ctx, rocl_error *err)
{
    dumper d = {.fn = fn, .ctx = ctx};
    rocl_status st = chunk_refuse_others(t, err);
    for (size_t i = 0; i < t->source_count && st == ROCL_OK && !d.stopped; i++)
        st = dump_file(&d, t->sources[i]->state, err);
    rocl_buf_free(&d.text);
    return st == ROCL_OK ? rocl_trace_outcome(t) : st;
}
