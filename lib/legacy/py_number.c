#include "legacy/py.h"

static rocl_span skip_space(rocl_span s)
{
    while (s.n && rocl_py_space(*s.p)) {
        s.p++;
        s.n--;
    }
    return s;
}

/* White space may also follow the sign ("- 5"): two functions each skip it. */
static bool int_in_full(rocl_span s, int64_t *v)
{
    s = rocl_py_strip(s);
    bool negative = s.n && *s.p == '-';
    if (s.n && (*s.p == '-' || *s.p == '+'))
        s = skip_space((rocl_span){s.p + 1, s.n - 1});
    if (!s.n)
        return false;
    int64_t sum = 0;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned)(s.p[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_sub_overflow(sum, (int64_t)digit, &sum))
            return false;
    }
    if (!negative && sum == INT64_MIN)
        return false;
    *v = negative ? sum : -sum;
    return true;
}

/* Nearly all of them: white space, then a few digits. */
bool rocl_py_int(rocl_span s, int64_t *v)
{
    const char *p = s.p, *end = p + s.n;
    while (p < end && rocl_py_space(*p))
        p++;
    const char *first = p;
    uint64_t sum = 0;
    for (; p < end && (unsigned char)(*p - '0') < 10; p++)
        sum = sum * 10 + (unsigned)(*p - '0');
    if (p == end && p > first && p - first <= 18) {
        *v = (int64_t)sum;
        return true;
    }
    if (p == first && (p == end || (*p != '-' && *p != '+')))
        return false;
    return int_in_full(s, v);
}

static size_t count_digits(const char *p, const char *end)
{
    const char *first = p;
    while (p < end && (unsigned char)(*p - '0') < 10)
        p++;
    return (size_t)(p - first);
}

/* In any case, whatever the locale has for one. */
static bool is_word(rocl_span s, const char *word)
{
    size_t i = 0;
    while (i < s.n && (s.p[i] | 0x20) == word[i] && word[i])
        i++;
    return i == s.n && !word[i];
}

bool rocl_py_float(rocl_span s)
{
    s = rocl_py_strip(s);
    if (s.n && (*s.p == '-' || *s.p == '+'))
        s = (rocl_span){s.p + 1, s.n - 1};
    const char *p = s.p, *end = p + s.n;
    size_t digits = count_digits(p, end);
    p += digits;
    if (p < end && *p == '.') {
        size_t more = count_digits(++p, end);
        p += more;
        digits += more;
    }
    if (!digits)
        return is_word(s, "inf") || is_word(s, "infinity") || is_word(s, "nan");
    if (p < end && (*p == 'e' || *p == 'E')) {
        p += p + 1 < end && (p[1] == '-' || p[1] == '+') ? 2 : 1;
        digits = count_digits(p, end);
        p += digits;
    }
    return p == end && digits;
}
