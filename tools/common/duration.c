#include "common/duration.h"

#include <stddef.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

#define FRACTION UINT64_C(1000000000000) /* twelve decimals, as the library keeps */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* In ns; 0: not a unit. */
static uint64_t unit_of(const char *s, size_t len)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"", 1},         {"ns", 1},         {"us", 1000},
                 {"ms", 1000000}, {"s", 1000000000}, {"m", UINT64_C(60000000000)}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == len && memcmp(units[i].name, s, len) == 0)
            return units[i].ns;
    }
    return 0;
}

/* Not strtod(): it depends on the locale, and a double has too few digits. */
bool parse_duration(const char *text, int64_t *ns)
{
    const char *s = text + strspn(text, " \t");
    uint64_t whole = 0, fraction = 0;
    size_t digits = 0;
    for (; is_digit(*s); s++, digits++) {
        if (whole > INT64_MAX / 10)
            return false;
        whole = 10 * whole + (uint64_t)(*s - '0');
    }
    if (*s == '.') {
        uint64_t place = FRACTION / 10;
        for (s++; is_digit(*s); s++, digits++, place /= 10)
            fraction += place * (uint64_t)(*s - '0');
    }
    size_t len = strcspn(s, " \t");
    uint64_t unit = unit_of(s, len);
    s += len;
    u128 v = (u128)whole * unit + (u128)fraction * unit / FRACTION;
    if (digits == 0 || unit == 0 || s[strspn(s, " \t")] || v > INT64_MAX)
        return false;
    *ns = (int64_t)v;
    return true;
}
