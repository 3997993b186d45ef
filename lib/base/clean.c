/* Text from files on its way to a terminal: no name may move the cursor or change its colours. */
#include "base/clean.h"

#include <string.h>

/* Of the character that begins with this byte; 1 for bytes that begin none. */
static size_t character_length(unsigned char c)
{
    return c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
}

/* U+202A to U+202E, U+2066 to U+2069: they turn the direction of what follows, or hide it. */
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
        const size_t want = character_length(*p);
        for (len = 1; len < want && i + len < n && (p[len] & 0xc0) == 0x80;)
            len++;
        const bool whole = len == want;
        if (!whole)
            len = 1;
        const bool kept = layout && (*p == '\n' || *p == '\r' || *p == '\t');
        const bool c1 = len == 1 ? *p >= 0x80 && *p < 0xa0 : *p == 0xc2 && p[1] < 0xa0;
        if ((*p < 0x20 && !kept) || *p == 0x7f || c1 || (len == 3 && is_bidi_control(p))) {
            text[to++] = '?';
        } else {
            memmove(text + to, p, len);
            to += len;
        }
    }
    return to;
}

size_t rocl_begun_character(const char *text, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        const unsigned char c = (unsigned char)text[n - back];
        if ((c & 0xc0) != 0x80)
            return character_length(c) > back ? back : 0;
    }
    return 0;
}
