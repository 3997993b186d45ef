/* Text that other programs can read. */
#include "base/text.h"

#include <cjson/cJSON.h>
#include <csv.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"

/* ---- UTF-8 --------------------------------------------------------------------------------- */

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Length of the valid sequence at p (1..4), 0: none, or a NUL. Table 3-7 of the Unicode
 * standard. */
static size_t sequence_length(const unsigned char *p, size_t n)
{
    if (p[0] < 0x80)
        return p[0] != 0;
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
        return 0;
    unsigned lo = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned hi = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < lo || p[1] > hi)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

bool rocl_utf8_valid(const char *p, size_t n)
{
    const unsigned char *s = (const unsigned char *)p;
    size_t i = 0;
    for (uint64_t w; i + sizeof w <= n; i += sizeof w) {
        memcpy(&w, s + i, sizeof w);
        if ((w | (w - EACH(1))) & EACH(0x80)) /* beyond ASCII, or NUL */
            break;
    }
    for (size_t len; i < n; i += len)
        if (!(len = sequence_length(s + i, n - i)))
            return false;
    return true;
}

/* U+202A to U+202E, U+2066 to U+2069: they turn the direction of what follows, or isolate it. */
static bool is_bidi_control(const unsigned char p[static 3])
{
    return p[0] == 0xe2 && ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
                            (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

size_t rocl_hide_controls(char *text, size_t n, bool layout)
{
    size_t to = 0;
    for (size_t i = 0, len; i < n; i += len) {
        const unsigned char *p = (const unsigned char *)text + i;
        len = sequence_length(p, n - i);
        const bool kept = layout && (*p == '\n' || *p == '\r' || *p == '\t');
        const bool c1 = len ? *p == 0xc2 && p[1] < 0xa0 : *p >= 0x80 && *p < 0xa0;
        len = len ? len : 1;
        if ((*p < 0x20 && !kept) || *p == 0x7f || c1 || (len == 3 && is_bidi_control(p))) {
            text[to++] = '?';
        } else {
            memmove(text + to, p, len);
            to += len;
        }
    }
    return to;
}

size_t rocl_utf8_incomplete(const char *text, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        const unsigned char c = (unsigned char)text[n - back];
        if ((c & 0xc0) != 0x80)
            return c >= 0xc2 && c < 0xf5 &&
                           (c >= 0xf0   ? 4u
                            : c >= 0xe0 ? 3u
                                        : 2u) > back
                       ? back
                       : 0;
    }
    return 0;
}

char *rocl_new_text(const char *format, ...)
{
    char *text;
    va_list ap;
    va_start(ap, format);
    const int n = vasprintf(&text, format, ap);
    va_end(ap);
    return n < 0 ? NULL : text;
}

void rocl_label(char *to, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(to, size, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n >= size)
        to[size - 1 - rocl_utf8_incomplete(to, size - 1)] = '\0';
}

void rocl_utf8_put(rocl_buf *b, const char *p, size_t n)
{
    const unsigned char *s = (const unsigned char *)p;
    for (size_t i = 0; i < n;) {
        size_t len = sequence_length(s + i, n - i);
        if (len)
            rocl_buf_put(b, s + i, len);
        else
            rocl_buf_str(b, "\xef\xbf\xbd");
        i += len ? len : 1;
    }
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* Is any of the eight bytes a control character, a quote, a backslash, or beyond ASCII? */
static bool has_special(uint64_t w)
{
    uint64_t quote = w ^ EACH('"'), slash = w ^ EACH('\\');
    return ((w - EACH(0x20)) | w | (quote - EACH(1)) | (slash - EACH(1))) & EACH(0x80);
}

static void put_escaped(rocl_buf *b, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char names[] = "btn?fr"; /* of \b (8) to \r (13) */
    char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    size_t n = 6;
    if (c == '"' || c == '\\' || (c >= 8 && c <= 13 && c != 11)) {
        text[1] = c > 13 ? (char)c : names[c - 8];
        n = 2;
    }
    rocl_buf_put(b, text, n);
}

static size_t put_beyond_ascii(rocl_buf *b, const char *p, size_t n)
{
    size_t bad = 0;
    if (rocl_utf8_valid(p, n)) {
        rocl_buf_put(b, p, n);
        return 0;
    }
    for (size_t i = 0, len; i < n; i += len) {
        for (len = 1; len < 4 && i + len < n && (p[i + len] & 0xc0) == 0x80;)
            len++;
        while (len > 1 && !rocl_utf8_valid(p + i, len))
            len--;
        bad += !rocl_utf8_valid(p + i, len);
        rocl_utf8_put(b, p + i, len);
    }
    return bad;
}

size_t rocl_json_put(rocl_buf *b, const char *p, size_t n)
{
    size_t bad = 0;
    while (n) {
        uint64_t w;
        if (!rocl_buf_reserve(b, n + 8) || !b->data)
            return bad;
        uint8_t *to = b->data + b->len;
        for (; n >= 8; p += 8, n -= 8, to += 8) {
            memcpy(&w, p, 8);
            if (has_special(w))
                break;
            memcpy(to, &w, 8);
        }
        for (; n && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\' && !(*p & 0x80); p++, n--)
            *to++ = (uint8_t)*p;
        b->len = (size_t)(to - b->data);
        if (n) {
            size_t run = 0; /* of bytes beyond ASCII */
            while (run < n && (p[run] & 0x80))
                run++;
            if (run)
                bad += put_beyond_ascii(b, p, run);
            else if (*p)
                put_escaped(b, (unsigned char)*p);
            else
                bad += put_beyond_ascii(b, p, 1);
            p += run ? run : 1;
            n -= run ? run : 1;
        }
    }
    return bad;
}

void rocl_json_put_string(rocl_buf *b, const char *p, size_t n)
{
    rocl_buf_byte(b, '"');
    rocl_json_put(b, p, n);
    rocl_buf_byte(b, '"');
}

bool rocl_json_plain(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] < 0x20 || p[i] == '"' || p[i] == '\\')
            return false;
    return rocl_utf8_valid(p, n);
}

void rocl_json_make_text(rocl_buf *to, const char *p, size_t n)
{
    if (!rocl_json_plain(p, n))
        rocl_json_put(to, p, n);
}

bool rocl_json_read(cJSON **root, const char *text, size_t len)
{
    *root = cJSON_ParseWithLength(text, len);
    if (*root)
        return true;
    /* What cJSON needs at most: an element for every two characters of "[1,1,1]". */
    void *p = malloc((len + 64) * sizeof(cJSON));
    free(p);
    if (p) /* it may be available again only now */
        *root = cJSON_ParseWithLength(text, len);
    return p;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static atomic_bool formulas_guarded;

void rocl_guard_formulas(bool on)
{
    atomic_store(&formulas_guarded, on);
}

/* A sign, digits and a point, an exponent. */
static bool is_number(const char *p, size_t n)
{
    size_t i = *p == '-' || *p == '+', digits = 0;
    for (bool point = false; i < n && (isdigit((unsigned char)p[i]) || (p[i] == '.' && !point));
         i++) {
        point |= p[i] == '.';
        digits += p[i] != '.';
    }
    if (digits && i + 1 < n && (p[i] == 'e' || p[i] == 'E')) {
        i += p[i + 1] == '-' || p[i + 1] == '+' ? 2 : 1;
        for (digits = 0; i < n && isdigit((unsigned char)p[i]); i++)
            digits++;
    }
    return digits && i == n;
}

bool rocl_is_guarded_formula(const char *p, size_t n)
{
    return n && memchr("=+-@\t\r\n", *p, 7) && atomic_load(&formulas_guarded) && !is_number(p, n);
}

void rocl_csv_put_bare(rocl_buf *to, const char *p, size_t n)
{
    rocl_buf_put(to, "'", rocl_is_guarded_formula(p, n));
    if (rocl_utf8_valid(p, n))
        rocl_buf_put(to, p, n);
    else
        rocl_utf8_put(to, p, n);
}

void rocl_csv_quote(rocl_buf *to, const char *p, size_t n)
{
    if (memchr(p, '"', n) || rocl_is_guarded_formula(p, n) || !rocl_utf8_valid(p, n))
        rocl_csv_put_quoted(to, p, n);
}

void rocl_csv_put_quoted(rocl_buf *to, const char *p, size_t n)
{
    rocl_buf valid = {0};
    if (rocl_is_guarded_formula(p, n) || !rocl_utf8_valid(p, n)) {
        rocl_csv_put_bare(&valid, p, n);
        p = (const char *)valid.data;
        n = valid.len;
    }
    if (!valid.failed && rocl_buf_reserve(to, 2 * n + 2))
        to->len += csv_write(to->data + to->len, 2 * n + 2, p, n);
    rocl_buf_free_into(&valid, to);
}

/* ---- SQL ----------------------------------------------------------------------------------- */

void rocl_blob_put(rocl_buf *to, const char *p, size_t n)
{
    rocl_buf_str(to, "X'");
    for (size_t i = 0; i < n; i++) {
        char digits[ROCL_NUM_MAX];
        const char *end = rocl_put_hex(digits, (uint8_t)p[i], 2, true);
        rocl_buf_put(to, digits, (size_t)(end - digits));
    }
    rocl_buf_byte(to, '\'');
}

/* ---- HTML and XML -------------------------------------------------------------------------- */

void rocl_markup_put(rocl_buf *b, const char *p, size_t n)
{
    static const char marks[] = "&<>\"";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    size_t from = 0; /* start of the text to be copied unchanged */
    for (size_t i = 0; i < n; i++) {
        const char *mark = memchr(marks, p[i], sizeof marks - 1);
        if (!mark)
            continue;
        rocl_buf_put(b, p + from, i - from);
        rocl_buf_str(b, entities[mark - marks]);
        from = i + 1;
    }
    if (from < n) /* an empty text may be NULL */
        rocl_buf_put(b, p + from, n - from);
}
