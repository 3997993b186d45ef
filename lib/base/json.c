/* Reads JSON without building a tree. */
#include "base/json.h"

#include "base/error.h"
#include "base/json_masks.h"
#include "base/num.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

const char rocl_json_cut_off[] = "the text ends within a value";

/* What may come next. */
enum {
    VALUE,       /* after a key or a comma, or the outermost */
    FIRST_VALUE, /* or the end of the array */
    KEY,         /* after a comma */
    FIRST_KEY,   /* or the end of the object */
    MORE,        /* a comma or the end */
    PENDING,     /* an object or array was returned and not entered */
    DONE,        /* only blanks */
    NOTHING      /* nothing, after an error */
};

static bool set_wrong(rocl_json *r, const char *at, const char *why)
{
    r->at = at;
    r->expect = NOTHING;
    r->wrong = at < r->end ? why : rocl_json_cut_off;
    return false;
}

void rocl_json_open(rocl_json *r, const char *p, size_t n, uint64_t offset, unsigned flags)
{
    p = p ? p : ""; /* NULL + 0 is not defined */
    *r = (rocl_json){.begin = p, .at = p, .end = p + n, .offset = offset, .flags = flags};
    r->expect = flags & ROCL_JSON_ELEMENTS ? FIRST_VALUE : VALUE;
}

rocl_status rocl_json_fail(const rocl_json *r, const char *name, rocl_error *err)
{
    return rocl_fail(err, ROCL_INPUT, "%s: byte %" PRIu64 ": %s", name,
                     r->offset + (uint64_t)(r->at - r->begin), r->wrong);
}

static inline const char *skip_blanks(const char *p, const char *end)
{
    const uint64_t blanks = (uint64_t)1 << ' ' | 1 << '\n' | 1 << '\t' | 1 << '\r';
    while (p < end && (unsigned char)*p <= ' ' && blanks >> *p & 1)
        p++;
    return p;
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Does a quote before p end the string, in a text whose strings may hold quotes? See
 * ROCL_JSON_QUOTES. */
static bool quote_ends(const rocl_json *r, const char *p, bool key)
{
    const char *q = skip_blanks(p, r->end);
    if (q == r->end || key)
        return q == r->end || *q == ':';
    if (*q != ',' && *q != '}' && *q != ']')
        return false;
    const char *next = skip_blanks(q + 1, r->end);
    if (next == r->end || memchr(p, '\n', (size_t)(next - p)))
        return true;
    if (*q != ',')
        return *next == ',' || *next == '}' || *next == ']';
    if (!r->in_object)
        return strchr("\"{[-0123456789tfn", *next) && *next;
    if (*next != '"')
        return false;
    const char *over = rocl_json_special(next + 1, r->end);
    while (r->end - over >= 2 && *over == '\\')
        over = rocl_json_special(over + 2, r->end);
    if (over < r->end && *over == '"')
        over = skip_blanks(over + 1, r->end);
    return over == r->end || *over == ':';
}

static int hex_digit(char c)
{
    return is_digit(c) ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* The four digits of \u at p; -1: they are none. */
static int hex_code(const char *p, const char *end)
{
    int code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = p + i < end ? hex_digit(p[i]) : -1;
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* Takes a string; the reader is at its first quote. */
static bool take_string(rocl_json *r, rocl_json_token *t, bool key)
{
    const char *from = r->at + 1, *p = from, *end = r->end;
    const bool quotes = r->flags & ROCL_JSON_QUOTES;
    t->escaped = false;
    for (;; p++) {
        p = rocl_json_special(p, end);
        if (p == end)
            return set_wrong(r, p, NULL);
        if (*p == '"') {
            if (!quotes || quote_ends(r, p + 1, key))
                break;
        } else if (*p == '\\') {
            t->escaped = true;
            if (++p == end)
                return set_wrong(r, p, NULL);
            if (quotes)
                continue;
            if (*p == 'u' && hex_code(p + 1, end) < 0)
                return set_wrong(r, end - p < 5 && !memchr(p, '"', (size_t)(end - p)) ? end : p - 1,
                                 "a \\u without four hex digits");
            if (!strchr("\"\\/bfnrtu", *p) || !*p)
                return set_wrong(r, p - 1, "a backslash before a character that needs none");
        } else if (!quotes) {
            return set_wrong(r, p, "a control character in a string");
        }
    }
    t->text = rocl_view_between(from, p);
    r->at = p + 1;
    return true;
}

static void put_code(rocl_buf *b, uint32_t c)
{
    if (c < 0x80) {
        rocl_buf_byte(b, (uint8_t)c);
        return;
    }
    if (c < 0x800) {
        rocl_buf_byte(b, (uint8_t)(0xc0 | c >> 6));
    } else {
        if (c < 0x10000) {
            rocl_buf_byte(b, (uint8_t)(0xe0 | c >> 12));
        } else {
            rocl_buf_byte(b, (uint8_t)(0xf0 | c >> 18));
            rocl_buf_byte(b, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
        }
        rocl_buf_byte(b, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
    }
    rocl_buf_byte(b, (uint8_t)(0x80 | (c & 0x3f)));
}

void rocl_json_unescape(rocl_buf *b, rocl_view text)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (!text.n)
        return;
    const char *p = text.p, *end = p + text.n;
    while (p < end) {
        const char *backslash = memchr(p, '\\', (size_t)(end - p));
        rocl_buf_put(b, p, (size_t)((backslash ? backslash : end) - p));
        if (!backslash)
            return;
        p = backslash + 1;
        const char *name = p < end && *p ? strchr(names, *p) : NULL;
        int code = p < end && *p == 'u' ? hex_code(p + 1, end) : -1;
        if (name) {
            rocl_buf_byte(b, (uint8_t)meant[name - names]);
            p++;
        } else if (code < 0) { /* text that is not quite JSON: keep the backslash */
            rocl_buf_byte(b, '\\');
        } else {
            p += 5;
            int low = end - p >= 6 && p[0] == '\\' && p[1] == 'u' ? hex_code(p + 2, end) : -1;
            if (code >= 0xd800 && code < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                p += 6;
            } else if (code >= 0xd800 && code < 0xe000) {
                code = 0xfffd;
            }
            put_code(b, (uint32_t)code);
        }
    }
}

/* ---- the text of numbers --------------------------------------------------------------------- */

/* The end of the digits at p. */
static inline const char *skip_digits(const char *p, const char *end)
{
    while (end - p >= 8) {
        const uint64_t others = rocl_find_no_digits(p);
        if (others)
            return p + __builtin_ctzll(others) / 8;
        p += 8;
    }
    while (p < end && is_digit(*p))
        p++;
    return p;
}

/* The end of the number at p; NULL: none. */
static inline const char *number_end(const char *p, const char *end)
{
    p += p < end && *p == '-';
    if (p == end || !is_digit(*p))
        return NULL;
    if (*p++ != '0')
        p = skip_digits(p, end);
    if (end - p >= 2 && *p == '.' && is_digit(p[1]))
        p = skip_digits(p + 1, end);
    if (p < end && (*p | 32) == 'e') {
        const char *exponent = p + 1;
        exponent += exponent < end && (*exponent == '+' || *exponent == '-');
        if (exponent < end && is_digit(*exponent))
            for (p = exponent; p < end && is_digit(*p);)
                p++;
    }
    return p;
}

/* The end of nan, inf, NaN or Infinity at p; NULL: none. */
static const char *nan_end(const char *p, const char *end)
{
    static const rocl_view names[] = {ROCL_JSON_KEY("nan"), ROCL_JSON_KEY("NaN"),
                                      ROCL_JSON_KEY("Infinity"), ROCL_JSON_KEY("inf")};
    p += p < end && *p == '-';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((size_t)(end - p) >= names[i].n && !memcmp(p, names[i].p, names[i].n))
            return p + names[i].n;
    return NULL;
}

/* ---- walking --------------------------------------------------------------------------------- */

static inline int expect_behind_value(const rocl_json *r)
{
    return r->depth || r->flags & ROCL_JSON_ELEMENTS ? MORE : DONE;
}

void rocl_json_left(rocl_json *r, const char *at)
{
    r->at = at;
    r->depth--;
    r->in_object = r->depth && r->objects[(r->depth - 1) / 64] >> (r->depth - 1) % 64 & 1;
    r->expect = expect_behind_value(r);
}

/* Does what find_next() says, for anything but a comma. */
static bool find_other(rocl_json *r)
{
    if (r->wrong)
        return false;
    const bool list = !r->depth && r->flags & ROCL_JSON_ELEMENTS;
    const char *p = r->at = skip_blanks(r->at, r->end);
    if (p == r->end)
        return r->expect != DONE && !list && set_wrong(r, p, NULL);
    if (r->expect == DONE)
        return set_wrong(r, p, "something follows the outermost value");
    if (r->expect != MORE && r->expect != FIRST_KEY && r->expect != FIRST_VALUE)
        return true;
    if (r->depth && *p == (r->in_object ? '}' : ']')) {
        rocl_json_left(r, p + 1);
        return false;
    }
    if (r->expect == MORE)
        return set_wrong(
            r, p, list ? "a comma was expected" : "a comma or a closing bracket was expected");
    return true;
}

/* Goes over blanks and a comma to the next value or key. False at the end of the object or array,
 * which is left, at the end of all, and where something is wrong. */
static inline bool find_next(rocl_json *r)
{
    if (r->expect == PENDING)
        rocl_json_skip(r);
    if (r->expect != MORE)
        return find_other(r);
    r->at = skip_blanks(r->at, r->end);
    if (r->at == r->end || *r->at != ',')
        return find_other(r);
    r->at = skip_blanks(r->at + 1, r->end);
    r->expect = r->in_object ? KEY : r->depth ? VALUE : FIRST_VALUE;
    return r->at < r->end || find_other(r);
}

/* Takes a key and its colon. */
static bool take_key(rocl_json *r, rocl_json_token *t)
{
    t->kind = ROCL_JSON_KEY;
    if (*r->at != '"')
        return set_wrong(r, r->at, "a key in quotes was expected");
    if (!take_string(r, t, true))
        return false;
    r->at = skip_blanks(r->at, r->end);
    if (r->at == r->end || *r->at != ':')
        return set_wrong(r, r->at, "a colon was expected");
    r->at++;
    r->expect = VALUE;
    return true;
}

/* Takes the value at the reader's position; of an object or array only its kind. */
static bool take_value(rocl_json *r, rocl_json_token *v)
{
    static const struct {
        rocl_view text;
        rocl_json_kind kind;
    } names[] = {{ROCL_JSON_KEY("true"), ROCL_JSON_TRUE},
                 {ROCL_JSON_KEY("false"), ROCL_JSON_FALSE},
                 {ROCL_JSON_KEY("null"), ROCL_JSON_NULL}};
    const char *p = r->at, *end = NULL;
    const size_t left = (size_t)(r->end - p);
    bool cut = !left || (left == 1 && *p == '-');
    v->escaped = false;
    if (left && *p == '"') {
        v->kind = ROCL_JSON_STRING;
        r->expect = expect_behind_value(r);
        return take_string(r, v, false);
    }
    if (left && (*p == '{' || *p == '[')) {
        v->kind = *p == '{' ? ROCL_JSON_OBJECT : ROCL_JSON_ARRAY;
        v->text = (rocl_view){p, 1};
        r->expect = PENDING;
        return true;
    }
    v->kind = ROCL_JSON_NUMBER;
    end = number_end(p, r->end);
    if (end && end < r->end &&
        (*end == '.' || (*end | 32) == 'e')) /* not a number, or half of one */
        cut = r->end - end == 1 || (r->end - end == 2 && (end[1] == '+' || end[1] == '-'));
    for (size_t i = 0; !end && !cut && i < sizeof names / sizeof *names; i++) {
        const rocl_view name = names[i].text;
        if (memcmp(p, name.p, left < name.n ? left : name.n) != 0)
            continue;
        cut = left < name.n;
        end = p + name.n;
        v->kind = names[i].kind;
    }
    if (!end && r->flags & ROCL_JSON_NANS)
        end = nan_end(p, r->end);
    if (!end || cut)
        return set_wrong(r, cut ? r->end : p, "a value was expected");
    v->text = rocl_view_between(p, end);
    r->at = end;
    r->expect = expect_behind_value(r);
    return true;
}

bool rocl_json_enter(rocl_json *r, rocl_json_kind kind)
{
    const bool object = kind == ROCL_JSON_OBJECT;
    if (r->wrong || r->expect != PENDING || *r->at != (object ? '{' : '['))
        return false;
    if (r->depth == ROCL_JSON_DEPTH)
        return set_wrong(r, r->at, "objects and arrays are nested too deeply");
    const uint64_t bit = (uint64_t)1 << r->depth % 64;
    uint64_t *word = &r->objects[r->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    r->next_key[r->depth++] = 0;
    r->in_object = object;
    r->expect = object ? FIRST_KEY : FIRST_VALUE;
    r->at++;
    return true;
}

rocl_json_kind rocl_json_next(rocl_json *r, rocl_json_token *t)
{
    const unsigned depth = r->depth;
    bool ok = r->expect == PENDING;
    t->kind = ROCL_JSON_NOTHING;
    if (ok) {
        t->kind = *r->at == '{' ? ROCL_JSON_OBJECT : ROCL_JSON_ARRAY;
        t->text = (rocl_view){r->at, 1};
    } else if (find_next(r)) {
        ok = r->expect == KEY || r->expect == FIRST_KEY ? take_key(r, t) : take_value(r, t);
    } else if (r->depth < depth) {
        t->text = (rocl_view){r->at - 1, 1};
        t->kind = *t->text.p == '}' ? ROCL_JSON_OBJECT_END : ROCL_JSON_ARRAY_END;
        return t->kind;
    }
    if (ok && r->expect == PENDING)
        ok = rocl_json_enter(r, t->kind);
    if (!ok)
        t->kind = ROCL_JSON_NOTHING;
    return t->kind;
}

/* The end of `depth` nested objects or arrays that are open at p; NULL: they do not end. */
static const char *skip_nested(const char *p, const char *end, size_t depth)
{
    rocl_json_carry carry = {0};
    for (; p < end; p += ROCL_JSON_STRIDE) {
        char last[ROCL_JSON_STRIDE];
        const char *at = p;
        if (end - p < ROCL_JSON_STRIDE) {
            memset(last, ' ', sizeof last);
            at = memcpy(last, p, (size_t)(end - p));
        }
        const rocl_json_masks m = rocl_json_look(at, &carry);
        const size_t closed = (size_t)__builtin_popcountll(m.close);
        if (depth > closed) {
            depth = depth + (size_t)__builtin_popcountll(m.open) - closed;
            continue;
        }
        for (uint64_t both = m.open | m.close; both; both &= both - 1) {
            if (m.open & both & -both)
                depth++;
            else if (--depth == 0)
                return p + __builtin_ctzll(both) + 1;
        }
    }
    return NULL;
}

void rocl_json_leave(rocl_json *r)
{
    rocl_json_token t;
    const unsigned depth = r->depth;
    if (r->wrong || !depth)
        return;
    if (r->flags & ROCL_JSON_QUOTES) {
        while (r->depth >= depth && rocl_json_next(r, &t))
            ;
        return;
    }
    const char *over = skip_nested(r->at, r->end, 1);
    if (over)
        rocl_json_left(r, over);
    else
        set_wrong(r, r->end, NULL);
}

void rocl_json_skip(rocl_json *r)
{
    rocl_json_token v;
    if (r->expect != PENDING && (!find_next(r) || !take_value(r, &v)))
        return;
    if (r->wrong || r->expect != PENDING)
        return;
    if (r->flags & ROCL_JSON_QUOTES) {
        if (rocl_json_enter(r, *r->at == '{' ? ROCL_JSON_OBJECT : ROCL_JSON_ARRAY))
            rocl_json_leave(r);
        return;
    }
    const char *over = skip_nested(r->at, r->end, 0);
    if (!over) {
        set_wrong(r, r->end, NULL);
        return;
    }
    r->at = over;
    r->expect = expect_behind_value(r);
}

bool rocl_json_element(rocl_json *r, rocl_json_token *v)
{
    return find_next(r) && take_value(r, v);
}

/* memcmp() without a call for keys of usual lengths. */
static inline bool is_same(const char *a, const char *b, size_t n)
{
    uint64_t x[2], y[2];
    uint32_t v[2], w[2];
    if (n >= 4 && n < 8) { /* two words that overlap */
        memcpy(&v[0], a, 4);
        memcpy(&w[0], b, 4);
        memcpy(&v[1], a + n - 4, 4);
        memcpy(&w[1], b + n - 4, 4);
        return v[0] == w[0] && v[1] == w[1];
    }
    if (n < 8 || n > 16)
        return !memcmp(a, b, n);
    memcpy(&x[0], a, 8);
    memcpy(&y[0], b, 8);
    memcpy(&x[1], a + n - 8, 8);
    memcpy(&y[1], b + n - 8, 8);
    return x[0] == y[0] && x[1] == y[1];
}

bool rocl_json_uints(rocl_json *r, const rocl_view *keys, unsigned count, uint64_t *to)
{
    const char *p = r->at, *end = r->end;
    if (r->expect != PENDING || !count)
        return false;
    for (unsigned k = 0; k < count; k++) {
        const size_t n = keys[k].n;
        if ((size_t)(end - p) < n + 6 || p[0] != (k ? ',' : '{') || p[1] != '"' ||
            !is_same(p + 2, keys[k].p, n) || p[n + 2] != '"' || p[n + 3] != ':')
            return false;
        const char *digits = p += n + 4;
        uint64_t v = 0;
        for (; p < end && is_digit(*p) && p - digits < 19; p++)
            v = v * 10 + (uint64_t)(*p - '0');
        if (p == digits || p == end || (*digits == '0' && p - digits > 1) ||
            *p != (k + 1 < count ? ',' : '}'))
            return false;
        to[k] = v;
    }
    r->at = p + 1;
    r->expect = expect_behind_value(r);
    return true;
}

int rocl_json_member(rocl_json *r, const rocl_view *keys, unsigned count, rocl_json_token *v)
{
    while (r->in_object && find_next(r)) {
        uint8_t *next = &r->next_key[r->depth - 1];
        unsigned k = *next < count ? *next : 0;
        const char *p = r->at + 1;
        const size_t n = count ? keys[k].n : 0;
        /* Programs write keys in the same order: try the key that came next the last time. */
        bool known = count && *r->at == '"' && (size_t)(r->end - p) >= n + 2 && p[n] == '"' &&
                     p[n + 1] == ':' && is_same(p, keys[k].p, n);
        if (known) {
            r->at = p + n + 2;
            r->expect = VALUE;
        } else if (!take_key(r, v)) {
            return -1;
        }
        for (unsigned i = 0; i < count && !known; i++, k += !known) {
            k = k < count ? k : 0;
            known = keys[k].n == v->text.n && is_same(keys[k].p, v->text.p, v->text.n);
        }
        if (known) {
            *next = (uint8_t)(k + 1);
            r->at = skip_blanks(r->at, r->end);
            return take_value(r, v) ? (int)k : -1;
        }
        rocl_json_skip(r);
    }
    return -1;
}

/* ---- values ---------------------------------------------------------------------------------- */

bool rocl_json_uint(rocl_view text, uint64_t *v)
{
    const char *p = text.p, *end = p + text.n;
    uint64_t n = 0;
    if (text.n > 2 && p[0] == '0' && (p[1] | 32) == 'x') {
        for (p += 2; p < end && hex_digit(*p) >= 0 && n >> 60 == 0; p++)
            n = n << 4 | (uint64_t)hex_digit(*p);
    } else {
        for (; p < end && is_digit(*p) && end - text.p - (end - p) < 19; p++)
            n = n * 10 + (uint64_t)(*p - '0');
        for (; p < end && is_digit(*p); p++)
            if (__builtin_mul_overflow(n, 10, &n) ||
                __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
                return false;
        if (end - p > 1 && *p == '.' && p > text.p) /* 12.0 is the number 12 */
            for (p++; p < end && *p == '0'; p++)
                ;
    }
    *v = n;
    return p == end && text.n;
}

bool rocl_json_int(rocl_view text, int64_t *v)
{
    const bool minus = text.n && *text.p == '-';
    uint64_t n;
    if (!rocl_json_uint((rocl_view){text.p + minus, text.n - minus}, &n) ||
        n > (uint64_t)INT64_MAX + minus)
        return false;
    *v = (int64_t)(minus ? 0 - n : n);
    return true;
}

/* digits * 10^exponent, where digits has up to 19. */
typedef struct number {
    uint64_t digits;
    int exponent;
    bool minus;
    bool cut;     /* there are further digits */
    bool half_up; /* the first of them is 5 or more */
} number;

static bool split_number(rocl_view text, number *n)
{
    const char *p = text.p, *end = p + text.n;
    bool point = false;
    int e = 0;
    *n = (number){.minus = text.n && *p == '-'};
    if (number_end(p, end) != end)
        return false;
    for (p += n->minus; p < end && (*p | 32) != 'e'; p++) {
        if (*p == '.') {
            point = true;
        } else if (n->digits < 1000000000000000000) {
            n->digits = n->digits * 10 + (uint64_t)(*p - '0');
            n->exponent -= point;
        } else {
            n->half_up |= !n->cut && *p >= '5';
            n->cut = true;
            n->exponent += !point;
        }
    }
    if (p < end) {
        const bool minus = *++p == '-';
        for (p += minus || *p == '+'; p < end; p++)
            e = e < 100000 ? e * 10 + (*p - '0') : e;
        n->exponent += minus ? -e : e;
    }
    return true;
}

/* The common form of decimals: digits, or digits, a point and no more digits than wanted. False: it
 * has another form, or may not fit. */
static bool read_plain_decimal(rocl_view text, unsigned digits, int64_t *v)
{
    const char *p = text.p, *const end = p + text.n;
    uint64_t n = 0;
    if (text.n > 19 || text.n < 2 || *p == '0')
        return false;
    while (end - p >= 8 && !rocl_find_no_digits(p)) {
        uint64_t x = rocl_le64(p); /* becomes numbers of two, four, eight digits */
        x = (x & 0x0f0f0f0f0f0f0f0f) * (1 + (10 << 8)) >> 8;
        x = (x & 0x00ff00ff00ff00ff) * (1 + (100 << 16)) >> 16;
        n = n * 100000000 + ((x & 0x0000ffff0000ffff) * (1 + ((uint64_t)10000 << 32)) >> 32);
        p += 8;
    }
    for (; p < end && is_digit(*p); p++)
        n = n * 10 + (uint64_t)(*p - '0');
    if (p == end || *p != '.' || p == text.p || end - p < 2 || (size_t)(end - p) - 1 > digits)
        return false;
    for (p++; p < end && is_digit(*p); p++, digits--)
        n = n * 10 + (uint64_t)(*p - '0');
    for (; digits; digits--)
        if (__builtin_mul_overflow(n, 10, &n))
            return false;
    if (p != end || n > INT64_MAX)
        return false;
    *v = (int64_t)n;
    return true;
}

bool rocl_json_decimal(rocl_view text, unsigned digits, int64_t *v)
{
    number n;
    if (read_plain_decimal(text, digits, v))
        return true;
    if (!split_number(text, &n))
        return false;
    int shift = n.exponent + (int)digits;
    for (; shift > 0 && n.digits; shift--)
        if (__builtin_mul_overflow(n.digits, 10, &n.digits))
            return false;
    /* The first digit that is dropped says whether it is at least half of the last that stays. */
    for (; shift < 0 && (n.digits || n.half_up); shift++) {
        n.half_up = n.digits % 10 >= 5;
        n.digits /= 10;
    }
    n.digits += n.half_up;
    if (n.digits > (uint64_t)INT64_MAX + n.minus)
        return false;
    *v = (int64_t)(n.minus ? 0 - n.digits : n.digits);
    return true;
}

static locale_t c_locale;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool rocl_json_double(rocl_view text, double *v)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char copy[512];
    number n;
    if (nan_end(text.p, text.p + text.n) == text.p + text.n && text.n) {
        const bool minus = *text.p == '-';
        *v = (text.p[minus] | 32) == 'n' ? (double)NAN : minus ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    if (!split_number(text, &n))
        return false;
    /* Both are exact, so there is only one rounding. */
    if (!n.cut && n.digits <= (uint64_t)1 << 53 && n.exponent >= -22 && n.exponent <= 22) {
        const double d = (double)n.digits;
        *v = n.exponent < 0 ? d / powers[-n.exponent] : d * powers[n.exponent];
        *v = n.minus ? -*v : *v;
        return true;
    }
    if (text.n >= sizeof copy || pthread_once(&once, make_locale) != 0 || !c_locale)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    *v = strtod_l(copy, NULL, c_locale);
    return true;
}
