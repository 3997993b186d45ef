/* Records as lines of text, for people: what is in the file, in its order. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "source/chunk/chunk.h"

typedef struct dumper {
    const chunk_file *file;
    const chunk_info *chunk;
    chunk_clock clock; /* of the process */
    chunk_reader reader;
    rocl_line_fn *line;
    void *ctx;
    bool stopped; /* the caller has seen enough */
} dumper;

static void line(dumper *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void line(dumper *d, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    d->stopped = d->stopped || !d->line(d->ctx, text, len);
}

/* As much of a text as fits on a line, in quotes, as one may print it. */
typedef struct shown {
    char text[164];
} shown;

static shown show(chunk_string s)
{
    shown x;
    size_t n = s.n < 160 ? s.n : 160, at = 0;
    bool valid = rocl_utf8_valid(s.s, n);
    x.text[at++] = '"';
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        x.text[at++] = c < ' ' || c == 0x7f || (c >= 0x80 && !valid) ? '?' : (char)c;
    }
    x.text[at++] = '"';
    x.text[at] = '\0';
    return x;
}

/* ---- records --------------------------------------------------------------------------------- */

static const char *const names[256] = {
    [ROCL_REC_BEGIN] = "begin",
    [ROCL_REC_END] = "end",
    [ROCL_REC_PUSH] = "push",
    [ROCL_REC_POP] = "pop",
    [ROCL_REC_MARK] = "mark",
    [ROCL_REC_START] = "start",
    [ROCL_REC_STOP] = "stop",
    [ROCL_REC_TEXT] = "text",
    [ROCL_REC_NAME] = "name",
    [ROCL_REC_NODE] = "node",
    [ROCL_REC_PROCESS] = "process",
    [ROCL_REC_THREAD] = "thread",
    [ROCL_REC_AGENT] = "agent",
    [ROCL_REC_QUEUE] = "queue",
    [ROCL_REC_STREAM] = "stream",
    [ROCL_REC_KERNEL] = "kernel",
    [ROCL_REC_COUNTER] = "counter",
    [ROCL_REC_PROCESS_NAME] = "process-name",
    [ROCL_REC_OPEN_REGION] = "open-region",
    [ROCL_REC_OPEN_RANGE] = "open-range",
    [ROCL_REC_LOST] = "lost",
    [ROCL_REC_CORRELATE] = "correlate",
    [ROCL_REC_PARAMETERS] = "parameters",
    [ROCL_REC_LABEL] = "label",
    [ROCL_REC_ARG] = "arg",
    [ROCL_REC_ARGS] = "args",
    [ROCL_REC_DISPATCH] = "dispatch",
    [ROCL_REC_COPY] = "copy",
    [ROCL_REC_ALLOC] = "alloc",
    [ROCL_REC_BARRIER] = "barrier",
    [ROCL_REC_SAMPLE] = "sample",
    [ROCL_REC_GRAPH] = "graph",
};

/* What the fields of a body are: n number, z signed number, s text with its length, r the rest, p
 * pairs of texts with their number, v values with their forms. */
static const char *const fields[256] = {
    [ROCL_REC_TEXT] = "nr",           [ROCL_REC_NAME] = "nsr",
    [ROCL_REC_NODE] = "ssssss",       [ROCL_REC_PROCESS] = "nnns",
    [ROCL_REC_THREAD] = "r",          [ROCL_REC_AGENT] = "nnnzzzssss",
    [ROCL_REC_QUEUE] = "nns",         [ROCL_REC_STREAM] = "nns",
    [ROCL_REC_KERNEL] = "nnnzzzzzss", [ROCL_REC_COUNTER] = "nnnsss",
    [ROCL_REC_PROCESS_NAME] = "r",    [ROCL_REC_OPEN_REGION] = "nnn",
    [ROCL_REC_OPEN_RANGE] = "nn",     [ROCL_REC_LOST] = "n",
    [ROCL_REC_CORRELATE] = "nn",      [ROCL_REC_PARAMETERS] = "np",
    [ROCL_REC_LABEL] = "nnr",         [ROCL_REC_ARG] = "nnr",
    [ROCL_REC_ARGS] = "nv",           [ROCL_REC_DISPATCH] = "nnnnnnnnnnnnn",
    [ROCL_REC_COPY] = "nnnnnnnn",     [ROCL_REC_ALLOC] = "nnnnnnnnn",
    [ROCL_REC_BARRIER] = "nnnn",      [ROCL_REC_SAMPLE] = "nn",
    [ROCL_REC_GRAPH] = "nnnnnn",
};

static int put_parameters(char *to, size_t size, chunk_record *r)
{
    size_t n = 0;
    uint64_t count = chunk_number(r);
    for (uint64_t i = 0; i < count && r->p < r->end && n < size; i++) {
        shown type = show(chunk_text(r)), name = show(chunk_text(r));
        int k = snprintf(to + n, size - n, " %s %s", type.text, name.text);
        n += k > 0 ? (size_t)k : 0;
    }
    return (int)n;
}

/* " FORM:VALUE" of each, as numbers. */
static int put_values(char *to, size_t size, chunk_record *r)
{
    size_t n = 0;
    while (r->p < r->end && n < size) {
        uint8_t form = *r->p++;
        int k = snprintf(to + n, size - n, " %u:", form);
        n += k > 0 ? (size_t)k : 0;
        for (int i = 0; i < (form == ROCL_FORM_SIZES ? 3 : form != ROCL_FORM_NONE); i++) {
            uint64_t v = chunk_number(r);
            k = form == ROCL_FORM_SIGNED
                    ? snprintf(to + n, n < size ? size - n : 0, "%" PRId64, rocl_unzigzag(v))
                    : snprintf(to + n, n < size ? size - n : 0, i ? ",%" PRIu64 : "%" PRIu64, v);
            n += k > 0 ? (size_t)k : 0;
        }
    }
    return (int)n;
}

static void put_fields(char *to, size_t size, const char *form, chunk_record *r)
{
    size_t n = 0;
    for (; *form && n < size; form++) {
        int k = 0;
        if (*form == 'n')
            k = snprintf(to + n, size - n, " %" PRIu64, chunk_number(r));
        else if (*form == 'z')
            k = snprintf(to + n, size - n, " %" PRId64, chunk_signed(r));
        else if (*form == 'p')
            k = put_parameters(to + n, size - n, r);
        else if (*form == 'v')
            k = put_values(to + n, size - n, r);
        else
            k = snprintf(to + n, size - n, " %s",
                         show(*form == 's' ? chunk_text(r) : chunk_rest(r)).text);
        n += k > 0 ? (size_t)k : 0;
    }
}

static void dump_sized(dumper *d, chunk_record *r)
{
    char text[900] = "";
    const char *name = names[r->type];
    if (!name) {
        line(d, "  record of type 0x%02x, %zu bytes", r->type, (size_t)(r->end - r->p));
        return;
    }
    size_t n = 0;
    if (r->type >= ROCL_REC_DISPATCH) {
        chunk_times t = chunk_read_times(&d->reader, r);
        int64_t start = chunk_clock_ns(&d->clock, t.clock, t.start);
        n = (size_t)snprintf(text, sizeof text,
                             " %" PRId64 " +%" PRIu64 " tid %" PRIu64 " for %" PRIu64, start,
                             t.end - t.start, t.tid, t.correlation);
    }
    put_fields(text + n, sizeof text - n, fields[r->type], r);
    line(d, "  %s%s", name, text);
}

static void dump_small(dumper *d, const chunk_record *r)
{
    int64_t ns = chunk_clock_ns(&d->clock, ROCL_CLOCK_TICKS, d->reader.now);
    const char *name = names[r->type];
    if (r->type == ROCL_REC_START)
        line(d, "  %s %" PRId64 " %" PRIu64 " %" PRIu64, name, ns, r->a, r->b);
    else if (r->type == ROCL_REC_END || r->type == ROCL_REC_POP)
        line(d, "  %s %" PRId64, name, ns);
    else
        line(d, "  %s %" PRId64 " %" PRIu64, name, ns, r->a);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void dump_header(dumper *d)
{
    const chunk_info *c = d->chunk;
    const rocl_chunk_header *h = &c->h;
    line(d,
         "chunk at %" PRIu64 ": pid %u tid %u writer %u number %" PRIu64 ": %" PRIu64
         " events in %" PRIu64 " bytes%s%s%s%s%s, dropped %" PRIu64,
         c->offset, h->pid, h->tid, h->writer, h->seq, chunk_events(c), chunk_content(c),
         h->features & ROCL_CHUNK_DEFLATE ? ", deflated" : "",
         h->flags & ROCL_CHUNK_CLOSED && !(h->flags & ROCL_CHUNK_OPEN) ? "" : ", not closed",
         h->flags & ROCL_CHUNK_LAST ? ", the last" : "",
         h->flags & ROCL_CHUNK_RING ? ", of a ring" : "", c->damaged ? ", damaged" : "",
         atomic_load(&((chunk_info *)(uintptr_t)c)->h.dropped));
}

static void dump_chunk(dumper *d, const uint8_t *content, size_t n)
{
    chunk_record r;
    dump_header(d);
    if (d->chunk->damaged)
        return;
    chunk_reader_begin(&d->reader, d->chunk, content, n);
    while (!d->stopped && chunk_next(&d->reader, &r)) {
        if (r.type < ROCL_REC_SIZED)
            dump_small(d, &r);
        else
            dump_sized(d, &r);
    }
    if (d->reader.broken)
        line(d, "  broken from byte %zu of the content", (size_t)(d->reader.p - content) - 1);
    if (d->chunk->lost)
        line(d, "  %" PRIu64 " events are missing", d->chunk->lost);
}

static const chunk_process *process_of(const chunk_file *f, const chunk_info *c)
{
    const chunk_process *p = f->processes;
    while (p + 1 < f->processes + f->count &&
           !(p->any->h.process == c->h.process && p->any->h.pid == c->h.pid))
        p++;
    return p;
}

rocl_status chunk_dump(chunk_file *f, rocl_line_fn *fn, void *ctx, bool *more, rocl_error *err)
{
    dumper d = {.file = f, .line = fn, .ctx = ctx};
    rocl_buf content = {0};
    chunk_state state;
    size_t n;
    rocl_status st = rocl_spool_resume(f->spool, err);
    for (size_t i = 0; i < f->list.count && st == ROCL_OK && !d.stopped; i++) {
        d.chunk = &f->list.all[i];
        d.clock = process_of(f, d.chunk)->clock;
        st = chunk_load(f->spool, d.chunk, &content, &n, &state, err);
        if (st == ROCL_OK)
            dump_chunk(&d, content.data, n);
    }
    rocl_buf_free(&content);
    rocl_spool_suspend(f->spool);
    if (f->list.garbage && st == ROCL_OK)
        line(&d, "damaged or cut off, no chunk: %" PRIu64, f->list.garbage);
    for (size_t i = 0; i < f->count && st == ROCL_OK; i++)
        st = chunk_count_faults(&f->processes[i], err);
    *more = !d.stopped;
    return st;
}
