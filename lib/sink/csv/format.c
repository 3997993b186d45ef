/* Records as rows. The inner loop of the sink: nothing is allocated here but memory for the rows.
 */
#include "sink/csv/csv.h"

#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a row without long texts: numbers, words, quotes, commas. */
enum { WORD = sizeof((rocl_csv_word *)0)->bytes, ROW_RESERVE = CSV_COLUMNS_MAX * (WORD + 8) };

_Static_assert(ROCL_NUM_MAX <= WORD, "numbers must fit where words do");

/* ---- texts ---- */

static char *put_bytes(char *p, const char *s, size_t n)
{
    memcpy(p, s, n);
    return p + n;
}

/* Reserves n bytes for a text at p, beside those for the rest of the row; p may move. NULL when
 * memory is out. */
static char *reserve_text(rocl_buf *out, char *p, size_t n)
{
    size_t used = (size_t)(p - (char *)out->data);
    if (out->cap - used >= n + ROW_RESERVE)
        return p;
    out->len = used;
    return rocl_buf_grow(out, n + ROW_RESERVE) ? (char *)out->data + used : NULL;
}

/* Without memory the row is cut short: out->failed tells. */
static char *put_long_quoted(rocl_csv_formatter *f, char *p, uint32_t text)
{
    const rocl_cached_text *q = rocl_text_cache_get(&f->quotes, text);
    if (!q) {
        f->out->failed = true;
        return p;
    }
    char *at = reserve_text(f->out, p, q->len);
    if (!at)
        return p;
    if (q->own)
        return put_bytes(at, q->bytes, q->len);
    *at++ = '"';
    at = put_bytes(at, q->bytes, q->len);
    *at++ = '"';
    return at;
}

/* A text in quotes; ROCL_NONE is empty as "" is. */
static inline char *put_quoted(rocl_csv_formatter *f, char *p, uint32_t text)
{
    if (text == ROCL_NONE)
        text = 0;
    rocl_csv_word *w = &f->words[text % CSV_WORDS];
    if (w->text == text + 1) {
        memcpy(p, w->bytes, sizeof w->bytes);
        return p + w->len;
    }
    size_t before = (size_t)(p - (char *)f->out->data);
    p = put_long_quoted(f, p, text);
    const char *begin = (const char *)f->out->data + before;
    const size_t n = (size_t)(p - begin);
    if (!f->out->failed && n <= sizeof w->bytes) {
        w->text = text + 1;
        w->len = (uint32_t)n;
        memcpy(w->bytes, begin, n);
    }
    return p;
}

static inline char *put_guid(rocl_csv_formatter *f, char *p, uint32_t process, bool bare)
{
    const uint32_t guid = rocl_csv_guid_of(f->guids, f->capture, process);
    const size_t before = (size_t)(p - (char *)f->out->data);
    char *end = put_quoted(f, p, guid);
    if (!bare || f->out->failed)
        return end;
    char *begin = (char *)f->out->data + before;
    memmove(begin, begin + 1, (size_t)(end - begin - 2));
    return end - 2;
}

/* ---- numbers ---- */

/* "%f", whatever the locale's point looks like. */
static char *put_fixed(char *p, double v)
{
    char text[400];
    if (fabs(v) < 1e15 && v == (double)(int64_t)v && !signbit(v))
        return put_bytes(rocl_put_u64(p, (uint64_t)v), ".000000", 7);
    if (!isfinite(v) || fabs(v) >= 1e20)
        return rocl_put_double(p, v);
    size_t n = (size_t)snprintf(text, sizeof text, "%.6f", v);
    size_t whole = strspn(text, "-0123456789");
    p = put_bytes(p, text, whole);
    *p++ = '.';
    return put_bytes(p, text + n - 6, 6);
}

/* As Python prints a float: always with a point or an exponent, that from 1e16 on. */
static char *put_python(char *p, double v)
{
    if (isnan(v))
        return put_bytes(p, "\"\"", 2);
    if (fabs(v) < 1e16 && v == (double)(int64_t)v) {
        if (signbit(v))
            *p++ = '-';
        return put_bytes(rocl_put_u64(p, (uint64_t)fabs(v)), ".0", 2);
    }
    char *end = rocl_put_double(p, v);
    if (fabs(v) < 1e16 || isinf(v) || memchr(p, 'e', (size_t)(end - p)))
        return end;
    /* The digits of an integer become "d.ddde+NN". */
    p += *p == '-';
    size_t n = (size_t)(end - p), shown = n;
    while (shown > 1 && p[shown - 1] == '0')
        shown--;
    if (shown > 1) {
        memmove(p + 2, p + 1, shown - 1);
        p[1] = '.';
        shown++;
    }
    return rocl_put_u64(put_bytes(p + shown, "e+", 2), n - 1);
}

/* ---- definitions: an unknown number is an empty field ---- */

static char *format_number(char *p, const rocl_capture *c, rocl_csv_op op, uint32_t i)
{
    switch (op) {
    case CSV_PROCESS:
        return i < c->process_count ? rocl_put_i64(p, c->processes[i].pid) : p;
    case CSV_THREAD:
        return i < c->thread_count ? rocl_put_i64(p, c->threads[i].tid) : p;
    case CSV_QUEUE:
        return i < c->queue_count ? rocl_put_i64(p, c->queues[i].id) : p;
    case CSV_STREAM:
        return i < c->stream_count ? rocl_put_i64(p, c->streams[i].id) : p;
    case CSV_VGPR:
        return i < c->kernel_count ? rocl_put_i64(p, c->kernels[i].arch_vgpr) : p;
    case CSV_ACCUM_VGPR:
        return i < c->kernel_count ? rocl_put_i64(p, c->kernels[i].accum_vgpr) : p;
    default:
        return i < c->kernel_count ? rocl_put_i64(p, c->kernels[i].sgpr) : p;
    }
}

static inline char *put_number(rocl_csv_formatter *f, rocl_csv_op op, uint32_t i, char *p)
{
    rocl_csv_number *n = &f->numbers[op - CSV_PROCESS][i % CSV_NUMBERS];
    if (n->index_plus1 != i + 1) {
        n->index_plus1 = i + 1;
        n->len = (uint32_t)(format_number(n->bytes, f->capture, op, i) - n->bytes);
    }
    memcpy(p, n->bytes, sizeof n->bytes);
    return p + n->len;
}

/* An unknown counter has the name of its event. */
static uint32_t find_text(const rocl_capture *c, rocl_csv_op op, const uint64_t *v, uint32_t i)
{
    if (op == CSV_AGENT)
        return i < c->agent_count ? c->agents[i].label : ROCL_NONE;
    if (op == CSV_COUNTER_NAME)
        return i < c->counter_count ? c->counters[i].name : (uint32_t)v[CSV_F_NAME] - 1;
    return i < c->counter_count ? c->counters[i].units : ROCL_NONE;
}

/* ---- rows ---- */

static char *put_time(rocl_csv_formatter *f, char *p, int64_t v)
{
    return v < 0 ? rocl_put_i64(p, v) : rocl_put_near(p, (uint64_t)v, &f->time);
}

static char *put_column(rocl_csv_formatter *f, const rocl_csv_column *c, const uint64_t *v, char *p)
{
    uint64_t x = v[c->field];
    switch (c->op) {
    case CSV_GUID:
    case CSV_GUID_BARE:
        return put_guid(f, p, (uint32_t)x - 1, c->op == CSV_GUID_BARE);
    case CSV_LITERAL:
        return put_bytes(p, c->literal, strlen(c->literal));
    case CSV_TEXT:
        return put_quoted(f, p, (uint32_t)x - 1);
    case CSV_U64:
        return rocl_put_u64(p, x);
    case CSV_I64:
        return rocl_put_i64(p, rocl_unzigzag(x));
    case CSV_HEX:
        p = rocl_put_hex(put_bytes(p, "\"0x", 3), x, 16, f->style == ROCL_CSV_ROCPD_1_1);
        *p++ = '"';
        return p;
    case CSV_FLAGS:
        if (f->style != ROCL_CSV_ROCPD_1_1)
            return rocl_put_u64(p, x);
        *p++ = '"';
        p = rocl_put_u64(p, x);
        *p++ = '"';
        return p;
    case CSV_VALUE:
        return f->style == ROCL_CSV_ROCPD_1_1   ? put_python(p, rocl_unturn_real(x))
               : f->style == ROCL_CSV_ROCPROFV3 ? put_fixed(p, rocl_unturn_real(x))
                                                : rocl_put_double(p, rocl_unturn_real(x));
    case CSV_UNIT:
        return rocl_unzigzag(x) < 0 ? p : rocl_put_i64(p, rocl_unzigzag(x));
    case CSV_START:
        return put_time(f, p, (int64_t)v[CSV_F_START]);
    case CSV_END:
        return put_time(f, p, (int64_t)v[CSV_F_END]);
    case CSV_DURATION:
        return rocl_put_u64(p, v[CSV_F_END] - v[CSV_F_START]);
    case CSV_PROCESS:
    case CSV_THREAD:
    case CSV_QUEUE:
    case CSV_STREAM:
    case CSV_VGPR:
    case CSV_ACCUM_VGPR:
    case CSV_SGPR:
        return put_number(f, c->op, (uint32_t)x - 1, p);
    default:
        return put_quoted(f, p, find_text(f->capture, c->op, v, (uint32_t)x - 1));
    }
}

static bool read_record(const uint8_t **in, const uint8_t *end, unsigned fields, uint64_t *v)
{
    uint64_t times[2];
    if ((size_t)(end - *in) < CSV_TIMES)
        return false;
    memcpy(times, *in, CSV_TIMES);
    *in += CSV_TIMES;
    v[CSV_F_START] = (uint64_t)rocl_unflip_sign(times[0]);
    v[CSV_F_END] = (uint64_t)rocl_unflip_sign(~times[1]);
    for (unsigned i = CSV_F_NAME; i < fields; i++) {
        if (*in < end && **in < 0x80)
            v[i] = *(*in)++;
        else if (!rocl_varint_get(in, end, &v[i]))
            return false;
    }
    return true;
}

rocl_status rocl_csv_format_rows(rocl_csv_formatter *f, rocl_csv_file_id file,
                                 const rocl_csv_plan *plan, const uint8_t *in, const uint8_t *end,
                                 rocl_error *err)
{
    rocl_buf *out = f->out;
    uint64_t v[CSV_FIELDS_MAX] = {0};
    if (f->numbered != f->capture)
        memset(f->numbers, 0, sizeof f->numbers);
    f->numbered = f->capture;
    while (in < end && !out->failed) {
        if (!read_record(&in, end, rocl_csv_files[file].fields, v))
            return rocl_fail(err, ROCL_INTERNAL, "a CSV record is cut");
        if (!rocl_buf_reserve(out, ROW_RESERVE))
            break;
        char *p = (char *)out->data + out->len;
        for (unsigned i = 0; i < plan->count; i++) {
            p = put_column(f, plan->columns[i], v, p);
            *p++ = ',';
        }
        p[-1] = '\n';
        out->len = (size_t)(p - (char *)out->data);
    }
    return out->failed ? rocl_fail_memory(err) : ROCL_OK;
}
