/* Times and durations as options take them: "123", "10%", "+1.5ms". */
#include "filter/stages.h"
#include "base/wide.h"

#include <string.h>

#define FRACTION UINT64_C(1000000000000) /* decimals are kept to twelve places */

#define UNITS "ns, us, ms, s, min, h, d"

#define TIME_SYNTAX                                                                                \
    "a time is N (ns on the clock of the trace), N%% of the trace, +N after its first event or "   \
    "-N before the end of its last, in ns or with one of " UNITS

/* Kept as two integers: a double has too few digits for nanoseconds since boot. */
typedef struct decimal {
    int64_t whole;
    uint64_t fraction; /* in units of 1 / FRACTION */
    bool too_large;
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool add_digit(int64_t *value, char c)
{
    return !__builtin_mul_overflow(*value, 10, value) &&
           !__builtin_add_overflow(*value, c - '0', value);
}

const char *rocl_parse_number(const char *s, int64_t *value)
{
    if (!is_digit(*s))
        return NULL;
    *value = 0;
    for (; is_digit(*s); s++) {
        if (!add_digit(value, *s))
            return NULL;
    }
    return s;
}

const char *rocl_parse_range(const char *s, int64_t *first, int64_t *last)
{
    s = rocl_parse_number(s, first);
    if (!s)
        return NULL;
    *last = *first;
    s = rocl_skip_blanks(s);
    if (*s == '-' && !(s = rocl_parse_number(rocl_skip_blanks(s + 1), last)))
        return NULL;
    return *last < *first ? NULL : rocl_skip_blanks(s);
}

/* "e14", "e-3" after a number: its length, 0 when there is none. */
static size_t parse_exponent(const char *s, int *exponent)
{
    size_t n = s[0] && (s[1] == '+' || s[1] == '-') ? 2 : 1;
    *exponent = 0;
    if ((*s != 'e' && *s != 'E') || !is_digit(s[n]))
        return 0;
    for (; is_digit(s[n]); n++)
        if (*exponent < 1000) /* far beyond what any digits make up for */
            *exponent = *exponent * 10 + (s[n] - '0');
    *exponent = s[1] == '-' ? -*exponent : *exponent;
    return n;
}

/* The end of the number, NULL when there is none. Independent of the locale, unlike strtod(). */
static const char *parse_decimal(const char *s, decimal *d)
{
    size_t before = strspn(s, "0123456789");
    size_t after = s[before] == '.' ? strspn(s + before + 1, "0123456789") : 0;
    const char *end = s + before + (s[before] == '.' ? 1 + after : 0);
    int exponent;
    *d = (decimal){0};
    if (before + after == 0)
        return NULL;
    end += parse_exponent(end, &exponent);
    int64_t point = (int64_t)before + exponent, digits = (int64_t)(before + after);
    uint64_t weight = FRACTION;
    for (int64_t i = point; i < 0; i++)
        weight /= 10;
    for (int64_t i = 0; i < digits || i < point; i++) {
        char c = i >= digits ? '0' : s[i >= (int64_t)before ? i + 1 : i];
        if (i < point)
            d->too_large = d->too_large || !add_digit(&d->whole, c);
        else
            d->fraction += (weight /= 10) * (uint64_t)(c - '0');
    }
    return end;
}

/* d times unit, rounded down; false when it is beyond int64. */
static bool scale_decimal(const decimal *d, uint64_t unit, int64_t *ns)
{
    rocl_u128 v = (rocl_u128)d->whole * unit + (rocl_u128)d->fraction * unit / FRACTION;
    if (d->too_large || v > INT64_MAX)
        return false;
    *ns = (int64_t)v;
    return true;
}

/* An optional unit up to the end of the text, in ns; 0: unknown. */
static uint64_t parse_unit(const char *s)
{
    const uint64_t second = UINT64_C(1000000000);
    const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"", 1},
                 {"ns", 1},
                 {"us", 1000},
                 {"ms", 1000000},
                 {"s", second},
                 {"m", 60 * second},
                 {"min", 60 * second},
                 {"h", 3600 * second},
                 {"d", 86400 * second}};
    size_t len = strcspn(s, " \t");
    if (*rocl_skip_blanks(s + len))
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strlen(units[i].name) == len && memcmp(units[i].name, s, len) == 0)
            return units[i].ns;
    }
    return 0;
}

static rocl_status fail_too_large(rocl_error *err, const char *option, const char *text)
{
    return rocl_fail(err, ROCL_USAGE, "%s: \"%.100s\": more than 2^63 - 1 ns", option, text);
}

rocl_status rocl_time_parse(rocl_time *time, const char *option, const char *text, rocl_error *err)
{
    const char *s = rocl_skip_blanks(text);
    char sign = *s == '+' || *s == '-' ? *s++ : '\0';
    decimal d;
    s = parse_decimal(s, &d);
    if (s && !sign && *s == '%' && !*rocl_skip_blanks(s + 1)) {
        time->base = ROCL_TIME_FRACTION;
        time->beyond = d.too_large || d.whole > 100 || (d.whole == 100 && d.fraction);
        time->value = time->beyond ? ROCL_TIME_WHOLE
                                   : d.whole * (ROCL_TIME_WHOLE / 100) + (int64_t)d.fraction;
        return ROCL_OK;
    }
    uint64_t unit = s ? parse_unit(s) : 0;
    if (!unit)
        return rocl_fail(err, ROCL_USAGE, "%s: \"%.100s\": " TIME_SYNTAX, option, text);
    /* A point of the clock takes no unit: "1.5s" most likely means "+1.5s", and would silently
     * select nothing. */
    if (!sign && *rocl_skip_blanks(s))
        return rocl_fail(err, ROCL_USAGE,
                         "%s: \"%.100s\": a time with a unit is relative: +%.100s is after the "
                         "first event, -%.100s before the end of the last",
                         option, text, rocl_skip_blanks(text), rocl_skip_blanks(text));
    time->base = !sign         ? ROCL_TIME_CLOCK
                 : sign == '+' ? ROCL_TIME_AFTER_FIRST
                               : ROCL_TIME_BEFORE_LAST;
    return scale_decimal(&d, unit, &time->value) ? ROCL_OK : fail_too_large(err, option, text);
}

rocl_status rocl_duration_parse(int64_t *ns, const char *option, const char *text, rocl_error *err)
{
    decimal d;
    const char *s = parse_decimal(rocl_skip_blanks(text), &d);
    uint64_t unit = s ? parse_unit(s) : 0;
    if (!unit)
        return rocl_fail(err, ROCL_USAGE,
                         "%s: \"%.100s\": a duration is N (ns) or N with one of " UNITS, option,
                         text);
    return scale_decimal(&d, unit, ns) ? ROCL_OK : fail_too_large(err, option, text);
}

bool rocl_read_duration(const char *text, int64_t *ns)
{
    return rocl_duration_parse(ns, "", text, NULL) == ROCL_OK;
}

bool rocl_offset_parse(int64_t *ns, const char *text)
{
    const char *s = rocl_skip_blanks(text);
    bool negative = *s == '-';
    s += negative || *s == '+';
    if (s != rocl_skip_blanks(s) || rocl_duration_parse(ns, "", s, NULL) != ROCL_OK)
        return false;
    *ns = negative ? -*ns : *ns;
    return true;
}

int64_t rocl_time_at(const rocl_time *time, int64_t first, int64_t last)
{
    int64_t at;
    switch (time->base) {
    case ROCL_TIME_FRACTION: {
        if (last <= first)
            return first;
        rocl_u128 offset = (rocl_u128)((uint64_t)last - (uint64_t)first) * (uint64_t)time->value /
                           (uint64_t)ROCL_TIME_WHOLE;
        return (int64_t)((uint64_t)first + (uint64_t)offset);
    }
    case ROCL_TIME_AFTER_FIRST:
        return __builtin_add_overflow(first, time->value, &at) ? INT64_MAX : at;
    case ROCL_TIME_BEFORE_LAST:
        return __builtin_sub_overflow(last, time->value, &at) ? INT64_MIN : at;
    case ROCL_TIME_CLOCK:
    case ROCL_TIME_UNSET:
        break;
    }
    return time->value;
}
