/* Chunks -> events: contents made by hand, byte by byte as rocl(5) has them. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/crc32c.h"
#include "rocline.h"
#include "source/chunk/chunk.h"

static char path[] = "/tmp/test-chunk-XXXXXX";

/* ---- a file -------------------------------------------------------------------------------- */

/* A chunk under construction: set what is special, add records, put it behind the file. */
typedef struct chunk {
    rocl_chunk_header h;
    rocl_buf content;
    uint32_t events;
} chunk;

static rocl_buf file;

static chunk new_chunk(uint32_t writer, uint64_t seq)
{
    chunk c = {.h = {.major = 1,
                     .header_size = ROCL_CHUNK_HEADER,
                     .endian = ROCL_CHUNK_ENDIAN,
                     .pid = 40,
                     .tid = 40 + writer,
                     .writer = writer,
                     .seq = seq,
                     .clock = ROCL_CLOCK_MONOTONIC,
                     .tick_hz = 1000000000,
                     .base = 1000,
                     .begin = {1000, 1000, 501000, 21000}}};
    memcpy(c.h.magic, ROCL_CHUNK_MAGIC, 8);
    return c;
}

static void small(chunk *c, unsigned type, uint64_t delta, int n, ...)
{
    va_list ap;
    rocl_buf_byte(&c->content, (uint8_t)type);
    rocl_buf_varint(&c->content, delta);
    va_start(ap, n);
    while (n--)
        rocl_buf_varint(&c->content, va_arg(ap, unsigned));
    va_end(ap);
    c->events++;
}

static void sized(chunk *c, unsigned type, const void *body, size_t n)
{
    rocl_buf_byte(&c->content, (uint8_t)type);
    rocl_buf_varint(&c->content, n);
    rocl_buf_put(&c->content, body, n);
    c->events += type >= ROCL_REC_DISPATCH;
}

static void text(chunk *c, uint8_t id, const char *s)
{
    char body[64];
    body[0] = (char)id;
    memcpy(body + 1, s, strlen(s));
    sized(c, ROCL_REC_TEXT, body, 1 + strlen(s));
}

static void name(chunk *c, uint8_t id, const char *s)
{
    char body[64] = {(char)id, 3, 'H', 'I', 'P'};
    memcpy(body + 5, s, strlen(s));
    sized(c, ROCL_REC_NAME, body, 5 + strlen(s));
}

static void put_chunk(chunk *c)
{
    static const uint8_t zeros[ROCL_CHUNK_ALIGN];
    size_t n = c->content.len;
    c->h.size = (ROCL_CHUNK_HEADER + n + 7) / 8 * 8;
    atomic_store(&c->h.progress, (uint64_t)c->events << 32 | n);
    if (c->h.flags & ROCL_CHUNK_CLOSED) {
        c->h.crc = rocl_crc32c(0, c->content.data, n);
        chunk_turn_header(&c->h);
        const uint32_t sum = rocl_crc32c(0, &c->h, sizeof c->h);
        chunk_turn_header(&c->h);
        c->h.header_crc = sum;
    }
    const uint64_t size = c->h.size;
    chunk_turn_header(&c->h);
    rocl_buf_put(&file, &c->h, sizeof c->h);
    rocl_buf_put(&file, c->content.data, n);
    rocl_buf_put(&file, zeros, size - sizeof c->h - n);
    rocl_buf_free(&c->content);
}

/* ---- what comes out ------------------------------------------------------------------------ */

typedef struct result {
    const rocl_trace *trace;
    pthread_mutex_t lock;
    char rows[64][128];
    size_t count;
    rocl_status status;
    uint64_t faults[ROCL_FAULTS];
    char error[256];
    char agent[64], stream[64]; /* the first of each: label and name */
} result;

static rocl_status take(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    result *r = ctx;
    (void)worker, (void)err;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < b->count && r->count < 64; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        char *to = r->rows[r->count++];
        int n = snprintf(to, sizeof r->rows[0], "%lld %lld %s %s", (long long)e->start,
                         (long long)e->end, rocl_kind_name(b->kind),
                         rocl_text(r->trace, e->name, NULL));
        for (uint32_t a = 0; b->kind <= ROCL_INSTANT && a < b->regions[i].arg_count && n < 100; a++)
            n += snprintf(to + n, sizeof r->rows[0] - (size_t)n, " %.20s",
                          b->args[b->regions[i].arg_first + a].value);
        if (e->stack_id | e->parent_stack_id)
            snprintf(to + n, sizeof r->rows[0] - (size_t)n, " #%llu in %llu",
                     (unsigned long long)e->stack_id, (unsigned long long)e->parent_stack_id);
    }
    pthread_mutex_unlock(&r->lock);
    return ROCL_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void take_names(result *r, const rocl_trace *t)
{
    const rocl_capture *c = rocl_trace_capture(t, 0);
    if (c->agent_count)
        snprintf(r->agent, sizeof r->agent, "%s", rocl_text(t, c->agents[0].label, NULL));
    if (c->stream_count)
        snprintf(r->stream, sizeof r->stream, "%s", rocl_text(t, c->streams[0].name, NULL));
}

static result read_file(unsigned jobs)
{
    static result r;
    const char *input = path;
    rocl_options o = {.jobs = jobs, .args = true};
    rocl_error *err = rocl_error_new();
    rocl_trace *t = NULL;
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fwrite(file.data, 1, file.len, f);
    fclose(f);
    r = (result){.lock = PTHREAD_MUTEX_INITIALIZER};
    r.status = rocl_trace_open(&t, &input, 1, &o, err);
    if (r.status == ROCL_OK) {
        r.trace = t;
        take_names(&r, t);
        r.status = rocl_trace_scan(t, ROCL_ALL_KINDS, ROCL_ALL_FIELDS, take, &r, err);
        for (int i = 0; i < ROCL_FAULTS; i++)
            r.faults[i] = rocl_trace_faults(t, (rocl_fault)i);
    }
    snprintf(r.error, sizeof r.error, "%s", rocl_error_text(err));
    qsort(r.rows, r.count, sizeof r.rows[0], by_text);
    rocl_trace_close(t);
    rocl_error_free(err);
    return r;
}

/* The events of the file, sorted as texts, the same with one worker and three. */
static result expect(const char *const *rows)
{
    size_t n = 0;
    result r = read_file(3);
    result one = read_file(1);
    assert_int_equal(r.count, one.count);
    for (; rows[n]; n++) {
        assert_true(n < r.count);
        assert_string_equal(r.rows[n], rows[n]);
        assert_string_equal(one.rows[n], rows[n]);
    }
    assert_int_equal(r.count, n);
    return r;
}

#define EXPECT(...) expect((const char *const[]){__VA_ARGS__, NULL})

static int begin_file(void **state)
{
    (void)state;
    file.len = 0;
    return 0;
}

/* ---- tests --------------------------------------------------------------------------------- */

static void sums(void **state)
{
    (void)state;
    char bytes[300];
    assert_int_equal(rocl_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(rocl_crc32c(0, "", 0), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    uint32_t whole = rocl_crc32c(0, bytes, sizeof bytes);
    for (size_t i = 0; i <= sizeof bytes; i++)
        assert_int_equal(rocl_crc32c(rocl_crc32c(0, bytes, i), bytes + i, sizeof bytes - i), whole);
}

static void times_are_of_boottime(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0);
    name(&c, 1, "call");
    text(&c, 1, "range");
    small(&c, ROCL_REC_BEGIN, 5, 1, 1);
    small(&c, ROCL_REC_PUSH, 5, 1, 1);
    small(&c, ROCL_REC_MARK, 1, 1, 1);
    small(&c, ROCL_REC_END, 300, 0); /* it nests with calls only */
    small(&c, ROCL_REC_POP, 0, 0);
    put_chunk(&c);
    result r =
        EXPECT("21005 21311 region call", "21010 21311 marker range", "21011 21011 instant range");
    assert_int_equal(r.status, ROCL_OK);
}

static void records_of_later_versions(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0);
    c.h.minor = 9;
    c.h.flags = 1u << 30 | ROCL_CHUNK_CLOSED | ROCL_CHUNK_LAST;
    text(&c, 1, "a");
    sized(&c, 0x5f, "whatever", 8);
    small(&c, ROCL_REC_MARK, 1, 1, 1);
    sized(&c, 0xfe, "an event", 8);
    small(&c, ROCL_REC_MARK, 1, 1, 1);
    put_chunk(&c);
    result r = EXPECT("21001 21001 instant a", "21002 21002 instant a");
    assert_int_equal(r.status, ROCL_OK);
}

static void parameters(chunk *c, uint8_t id)
{
    char body[160] = {(char)id, 9};
    size_t n = 2;
    for (int i = 0; i < 9; i++)
        n += (size_t)sprintf(body + n, "%chsa_agent_t%cv", 11, 1);
    sized(c, ROCL_REC_PARAMETERS, body, n);
}

/* A value of each form; then fewer than there are parameters; then one of a form that is not known,
 * behind which nothing can be read; then of a list that was not told. */
static void values_of_arguments(void **state)
{
    (void)state;
    static const uint8_t all[] = {7,    0,    1,    3,    2,    44, 3, 0x80, 0xfe, 1,    4,    12,
                                  5,    0x80, 0x80, 0x80, 0xfc, 3,  6, 0x80, 0x80, 0x80, 0x80, 0x80,
                                  0x80, 0x80, 0xfc, 0x3f, 7,    1,  2, 3,    8,    2};
    static const uint8_t few[] = {7, 2, 1, 2, 2}, unknown[] = {7, 2, 1, 99, 5, 2, 3};
    static const uint8_t untold[] = {8, 2, 1};
    chunk c = new_chunk(1, 0);
    name(&c, 1, "call");
    text(&c, 2, "a text");
    parameters(&c, 7);
    small(&c, ROCL_REC_BEGIN, 1, 1, 1);
    sized(&c, ROCL_REC_ARGS, all, sizeof all);
    small(&c, ROCL_REC_END, 1, 0);
    small(&c, ROCL_REC_BEGIN, 1, 1, 1);
    sized(&c, ROCL_REC_ARGS, few, sizeof few);
    small(&c, ROCL_REC_END, 1, 0);
    small(&c, ROCL_REC_BEGIN, 1, 1, 1);
    sized(&c, ROCL_REC_ARGS, unknown, sizeof unknown);
    sized(&c, ROCL_REC_ARGS, untold, sizeof untold);
    small(&c, ROCL_REC_END, 1, 0);
    put_chunk(&c);
    result r = EXPECT("21001 21002 region call -2 44 0x7f00 agent_12 1 1.5 {1,2,3} a text",
                      "21003 21004 region call 1 2", "21005 21006 region call 1");
    assert_int_equal(r.status, ROCL_PARTIAL);
    assert_int_equal(r.faults[ROCL_FAULT_BAD_VALUE], 1);
    assert_int_equal(r.faults[ROCL_FAULT_DANGLING_NAME], 1);
}

/* One text may be named many times, but not without end. */
static void values_that_are_one_long_text(void **state)
{
    enum { TEXT = 1 << 20 };
    static char long_text[TEXT + 1], list[2 * 7 + 1];
    chunk c = new_chunk(1, 0);
    (void)state;
    name(&c, 1, "call");
    memset(long_text, 'x', sizeof long_text);
    long_text[0] = 2;
    sized(&c, ROCL_REC_TEXT, long_text, sizeof long_text);
    parameters(&c, 7);
    small(&c, ROCL_REC_BEGIN, 1, 1, 1);
    list[0] = 7;
    for (int i = 0; i < 7; i++) {
        list[1 + 2 * i] = ROCL_FORM_TEXT;
        list[2 + 2 * i] = 2;
    }
    for (int i = 0; i < 4; i++)
        sized(&c, ROCL_REC_ARGS, list, sizeof list);
    small(&c, ROCL_REC_END, 1, 0);
    small(&c, ROCL_REC_BEGIN, 1, 1, 1);
    sized(&c, ROCL_REC_ARGS, list, sizeof list);
    small(&c, ROCL_REC_END, 1, 0);
    put_chunk(&c);
    result r = read_file(1);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.status, ROCL_PARTIAL);
    assert_int_equal(r.faults[ROCL_FAULT_BAD_VALUE], 2); /* of the third record, and the fourth */
}

/* The outermost call has the number; in a file of version 1.0 the innermost. */
static void numbers_of_calls(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0);
    name(&c, 1, "outer");
    name(&c, 2, "inner");
    small(&c, ROCL_REC_BEGIN, 1, 1, 1);
    small(&c, ROCL_REC_BEGIN, 1, 1, 2);
    sized(&c, ROCL_REC_CORRELATE, "\5\1", 2);
    small(&c, ROCL_REC_END, 1, 0);
    small(&c, ROCL_REC_BEGIN, 1, 1, 2);
    sized(&c, ROCL_REC_CORRELATE, "\6", 1);
    sized(&c, ROCL_REC_CORRELATE, "\7\11", 2); /* of one that is not open */
    small(&c, ROCL_REC_END, 1, 0);
    small(&c, ROCL_REC_END, 1, 0);
    put_chunk(&c);
    result r = EXPECT("21001 21006 region outer #5 in 0", "21002 21003 region inner #0 in 5",
                      "21004 21005 region inner #6 in 5");
    assert_int_equal(r.status, ROCL_OK);
}

/* Names by what things are known by; the last one holds, and an empty one is none. */
static void names_that_were_given(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        size_t len;
        const char *agent, *stream;
    } cases[] = {
        {"\1\7train", 7, "Agent 1 (train)", ""},   {"\2\0gpu", 5, "Agent 1 (gpu)", ""},
        {"\3\2copies", 8, "Agent 1", "copies"},    {"\1\6another", 9, "Agent 1", ""},
        {"\2\1another", 9, "Agent 1", ""},         {"\3\7another", 9, "Agent 1", ""},
        {"\11\7not known yet", 15, "Agent 1", ""}, {"\1\7", 2, "Agent 1", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        chunk c = new_chunk(1, 0);
        sized(&c, ROCL_REC_LABEL, "\1\7first", i == 7 ? 7 : 0);
        sized(&c, ROCL_REC_LABEL, cases[i].label, cases[i].len);
        sized(&c, ROCL_REC_AGENT, "\1\7\2\2\2\0\0\0\0\0", 10);
        sized(&c, ROCL_REC_STREAM, "\2\2\0", 3);
        put_chunk(&c);
        result r = read_file(1);
        assert_string_equal(r.agent, cases[i].agent);
        assert_string_equal(r.stream, cases[i].stream);
        file.len = 0;
    }
}

static void refused(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0);
    c.h.major = 2;
    put_chunk(&c);
    assert_int_equal(read_file(1).status, ROCL_INPUT);
    file.len = 0;
    c = new_chunk(1, 0);
    c.h.features = 4;
    put_chunk(&c);
    result r = read_file(1);
    assert_int_equal(r.status, ROCL_INPUT);
    assert_non_null(strstr(r.error, "unknown features: 0x4"));
    file.len = 0;
    c = new_chunk(1, 0);
    c.h.endian = 0x04030201;
    put_chunk(&c);
    assert_int_equal(read_file(1).status, ROCL_INPUT);
}

static void broken_records(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0);
    text(&c, 1, "a");
    small(&c, ROCL_REC_MARK, 1, 1, 1);
    small(&c, 0x33, 1, 1, 1); /* nobody knows how long this is */
    small(&c, ROCL_REC_MARK, 1, 1, 1);
    put_chunk(&c);
    chunk d = new_chunk(2, 0);
    text(&d, 1, "b");
    small(&d, ROCL_REC_MARK, 1, 1, 1);
    d.content.data[d.content.len - 1] = 0x80; /* a number without an end */
    put_chunk(&d);
    chunk e = new_chunk(3, 0);
    small(&e, ROCL_REC_MARK, 1, 1, 7); /* a text that is not there */
    put_chunk(&e);
    result r = EXPECT("21001 21001 instant ", "21001 21001 instant a");
    assert_int_equal(r.status, ROCL_PARTIAL);
    assert_int_equal(r.faults[ROCL_FAULT_TORN], 3);
    assert_int_equal(r.faults[ROCL_FAULT_DANGLING_NAME], 1);
}

static void a_damaged_chunk_is_left_out(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        chunk c = new_chunk(1, i);
        c.h.flags = ROCL_CHUNK_CLOSED;
        text(&c, 1, "abc");
        small(&c, ROCL_REC_MARK, i, 1, 1);
        small(&c, ROCL_REC_MARK, 0, 1, 1);
        put_chunk(&c);
        if (i == 1)
            file.data[file.len - 10] ^= 1;
    }
    result r = EXPECT("21000 21000 instant abc", "21000 21000 instant abc",
                      "21002 21002 instant abc", "21002 21002 instant abc");
    assert_int_equal(r.faults[ROCL_FAULT_TORN], 2);
}

/* What is open goes on in the next chunk, with its arguments where that is the one after it. */
static void regions_across_chunks(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0);
    name(&c, 1, "outer");
    text(&c, 1, "int");
    small(&c, ROCL_REC_BEGIN, 0, 1, 1);
    sized(&c, ROCL_REC_ARG, "\1\1first", 7);
    put_chunk(&c);
    chunk d = new_chunk(1, 1);
    d.h.base = 1500;
    name(&d, 1, "outer");
    text(&d, 2, "int");
    sized(&d, ROCL_REC_OPEN_REGION, "\xf4\3\1\0", 4); /* 500 ticks ago */
    sized(&d, ROCL_REC_ARG, "\2\2second", 8);
    small(&d, ROCL_REC_END, 100, 0);
    put_chunk(&d);
    result r = EXPECT("21000 21600 region outer first second");
    assert_int_equal(r.status, ROCL_OK);
}

static void a_chunk_is_missing(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0), d = new_chunk(1, 3);
    text(&c, 1, "first");
    small(&c, ROCL_REC_PUSH, 0, 1, 1);
    put_chunk(&c);
    d.h.base = 2000;
    text(&d, 1, "other");
    sized(&d, ROCL_REC_OPEN_RANGE, "\144\1", 2);
    small(&d, ROCL_REC_POP, 10, 0);
    small(&d, ROCL_REC_POP, 10, 0);
    put_chunk(&d);
    result r = EXPECT("21900 22010 marker other");
    assert_int_equal(r.faults[ROCL_FAULT_TORN], 2); /* 1 and 2 */
}

/* A chunk with an event, as its writer has closed it. */
static void put_closed(uint32_t writer, uint64_t seq, uint32_t flags)
{
    chunk c = new_chunk(writer, seq);
    c.h.minor = 1;
    c.h.flags = flags;
    text(&c, 1, "a");
    small(&c, ROCL_REC_MARK, 1, 1, 1);
    put_chunk(&c);
}

static void put_process(uint64_t chunks, uint32_t flags)
{
    chunk c = new_chunk(0, 0);
    c.h.minor = 1;
    c.h.flags = ROCL_CHUNK_PROCESS | flags;
    c.h.chunks = chunks;
    put_chunk(&c);
}

static void expect_missing(uint64_t n)
{
    result r = read_file(1);
    assert_int_equal(r.faults[ROCL_FAULT_TORN], n);
    assert_int_equal(r.status, n ? ROCL_PARTIAL : ROCL_OK);
    file.len = 0;
}

static void chunks_that_should_be_there(void **state)
{
    enum { CLOSED = ROCL_CHUNK_CLOSED, LAST = ROCL_CHUNK_LAST, ENDED = CLOSED | LAST };
    (void)state;
    put_process(3, ENDED);
    put_closed(1, 0, CLOSED);
    put_closed(1, 1, ENDED);
    expect_missing(0);
    /* The last one of a writer, of a process that has ended and of one that was killed. */
    put_process(3, ENDED);
    put_closed(1, 0, CLOSED);
    expect_missing(1);
    put_process(0, 0);
    put_closed(1, 0, CLOSED);
    expect_missing(1);
    /* All of a writer; and more than was counted, which is none. */
    put_process(4, ENDED);
    put_closed(1, 0, ENDED);
    expect_missing(2);
    put_process(1, ENDED);
    put_closed(1, 0, ENDED);
    expect_missing(0);
    /* Of killed ones: not closed, and packed so; given up by a ring; of version 1.0. */
    put_closed(1, 0, 0);
    put_closed(2, 0, CLOSED | ROCL_CHUNK_OPEN);
    put_closed(3, 4, CLOSED | ROCL_CHUNK_RING);
    expect_missing(0);
    chunk c = new_chunk(1, 0);
    c.h.flags = CLOSED;
    put_chunk(&c);
    expect_missing(0);
    /* One that is damaged so that nobody knows whose it was is the one that is missing. */
    put_process(2, ENDED);
    put_closed(1, 0, ENDED);
    file.data[file.len - 100] ^= 1;
    put_closed(2, 0, ENDED);
    expect_missing(1);
}

/* The process was killed then: there is something, and none of it an event. */
static void chunks_that_were_being_made(void **state)
{
    chunk c = new_chunk(1, 1);
    (void)state;
    put_process(0, 0);
    put_closed(1, 0, 0);
    size_t at = file.len;
    text(&c, 1, "a");
    put_chunk(&c);
    memcpy(file.data + at, ROCL_CHUNK_BEGUN, 8);
    memset(file.data + at + 8, 0, 24); /* nothing is known but the size */
    put_closed(2, 0, 0);
    expect_missing(0);
    /* At the end of the file, and one of which no size is known. */
    for (int known = 1; known >= 0; known--) {
        c = new_chunk(1, 0);
        put_closed(2, 0, 0);
        at = file.len;
        text(&c, 1, "a");
        put_chunk(&c);
        memcpy(file.data + at, ROCL_CHUNK_BEGUN, 8);
        if (!known)
            memset(file.data + at + 32, 0, 8);
        expect_missing(!known);
    }
}

static void ranges_across_threads(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0), d = new_chunk(2, 0);
    text(&c, 1, "job");
    small(&c, ROCL_REC_START, 7, 2, 1, 99);
    small(&c, ROCL_REC_START, 1, 2, 1, 100); /* never stopped: the last moment is 900 */
    put_chunk(&c);
    small(&d, ROCL_REC_STOP, 800, 1, 99);
    small(&d, ROCL_REC_STOP, 100, 1, 5); /* of a range that was not recorded */
    put_chunk(&d);
    result r = EXPECT("21007 21800 marker job", "21008 21900 marker job");
    assert_int_equal(r.faults[ROCL_FAULT_UNFINISHED], 1);
}

static void what_is_open_at_the_end(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0);
    c.h.dropped = 3;
    name(&c, 1, "call");
    text(&c, 1, "range");
    small(&c, ROCL_REC_BEGIN, 0, 1, 1);
    small(&c, ROCL_REC_PUSH, 10, 1, 1);
    small(&c, ROCL_REC_MARK, 10, 1, 1);
    put_chunk(&c);
    result r =
        EXPECT("21000 21020 region call", "21010 21020 marker range", "21020 21020 instant range");
    assert_int_equal(r.faults[ROCL_FAULT_UNFINISHED], 2);
    assert_int_equal(r.faults[ROCL_FAULT_DROPPED], 3);
}

/* Two moments a second apart; ticks go at 3 GHz, and then at half of that. */
static void ticks_follow_the_clocks(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0);
    const uint64_t s = 1000000000;
    c.h.clock = ROCL_CLOCK_TSC;
    c.h.tick_hz = 3 * s;
    c.h.base = 3 * s;
    c.h.begin = (rocl_chunk_sync){3 * s, 10 * s, 50 * s, 10 * s};
    c.h.end = (rocl_chunk_sync){6 * s, 11 * s, 51 * s, 11 * s};
    text(&c, 1, "m");
    small(&c, ROCL_REC_MARK, 1500000000, 1, 1);
    small(&c, ROCL_REC_MARK, 1500000000, 1, 1);
    small(&c, ROCL_REC_MARK, 750000000, 1, 1);
    put_chunk(&c);
    chunk d = new_chunk(2, 0);
    d.h.clock = ROCL_CLOCK_TSC;
    d.h.tick_hz = 3 * s;
    d.h.base = 6 * s;
    d.h.begin = (rocl_chunk_sync){6 * s, 11 * s, 51 * s, 11 * s};
    d.h.end = (rocl_chunk_sync){7500000000, 12 * s, 52 * s, 12 * s};
    put_chunk(&d);
    EXPECT("10500000000 10500000000 instant m", "11000000000 11000000000 instant m",
           "11500000000 11500000000 instant m");
}

/* A copy: clock, start and duration (zigzag), thread, cause, then numbers that are 0 here. */
static void gpu_copy(chunk *c, uint8_t clock, uint8_t start)
{
    const uint8_t body[] = {clock, start, 20, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0};
    sized(c, ROCL_REC_COPY, body, sizeof body);
}

static void times_on_other_clocks(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0);
    name(&c, 1, "h2d");
    gpu_copy(&c, ROCL_CLOCK_TICKS, 2);
    gpu_copy(&c, ROCL_CLOCK_MONOTONIC, 4);
    gpu_copy(&c, ROCL_CLOCK_BOOTTIME, 6);
    gpu_copy(&c, ROCL_CLOCK_REALTIME, 8);
    gpu_copy(&c, ROCL_CLOCK_BOOTTIME, 3); /* two ns before the one before */
    put_chunk(&c);
    EXPECT("21001 21011 copy h2d", "21001 21011 copy h2d", "21002 21012 copy h2d",
           "21003 21013 copy h2d", "21004 21014 copy h2d");
}

static void lies(void **state)
{
    (void)state;
    chunk c = new_chunk(1, 0);
    text(&c, 1, "a");
    small(&c, ROCL_REC_MARK, 1, 1, 1);
    put_chunk(&c);
    rocl_chunk_header *h = (rocl_chunk_header *)(void *)file.data;
    rocl_le64_set(&h->progress, UINT64_MAX); /* more than there is */
    result r = EXPECT("21001 21001 instant a");
    assert_int_equal(r.faults[ROCL_FAULT_TORN], UINT32_MAX - 1);
    rocl_le64_set(&h->size, 1 << 20); /* ends beyond the file */
    EXPECT("21001 21001 instant a");
    rocl_le64_set(&h->size, 12);
    assert_int_equal(read_file(1).status, ROCL_INPUT);
    file.len = 0;
    text(&c, 1, "a");
    put_chunk(&c);
    h = (rocl_chunk_header *)(void *)file.data;
    rocl_le32_set(&h->features, ROCL_CHUNK_DEFLATE);
    rocl_le64_set(&h->stored, 3);
    rocl_le64_set(&h->progress, ROCL_CHUNK_MAX + 1); /* more than a chunk may hold */
    assert_int_equal(read_file(1).status, ROCL_INPUT);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, begin_file)
    const struct CMUnitTest tests[] = {
        TEST(sums),
        TEST(times_are_of_boottime),
        TEST(records_of_later_versions),
        TEST(names_that_were_given),
        TEST(values_of_arguments),
        TEST(values_that_are_one_long_text),
        TEST(numbers_of_calls),
        TEST(refused),
        TEST(broken_records),
        TEST(a_damaged_chunk_is_left_out),
        TEST(regions_across_chunks),
        TEST(a_chunk_is_missing),
        TEST(chunks_that_should_be_there),
        TEST(chunks_that_were_being_made),
        TEST(ranges_across_threads),
        TEST(what_is_open_at_the_end),
        TEST(ticks_follow_the_clocks),
        TEST(times_on_other_clocks),
        TEST(lies),
    };
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    rocl_buf_free(&file);
    return failed;
}
