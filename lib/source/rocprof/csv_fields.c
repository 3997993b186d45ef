/* The fields of a row of CSV, 64 bytes at a time: see csv.h. */
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "source/rocprof/csv.h"

enum { STRIDE = 64 };

/* Which of 64 bytes are c. */
static inline uint64_t find_bytes(const char *p, char c)
{
    uint64_t mask = 0;
#ifdef __SSE2__
    for (unsigned i = 0; i < 4; i++) {
        const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)))
                << 16 * i;
    }
#else
    for (unsigned i = 0; i < STRIDE; i++)
        mask |= (uint64_t)(p[i] == c) << i;
#endif
    return mask;
}

/* Splits a row; SIZE_MAX: bad quotes. *has_doubled: fields hold doubled quotes. Goes from one quote
 * or comma to the next, within quotes from quote to quote. */
size_t rocprof_csv_split(const char *p, const char *end, bool doubled, rocl_view *fields,
                         size_t fields_max, bool *has_doubled)
{
    const size_t n = (size_t)(end - p);
    size_t count = 0, begin = 0; /* of the field at hand */
    size_t skip = SIZE_MAX;      /* a byte that was looked at with the one before it */
    bool quoted = false;
    char rest[STRIDE];
    *has_doubled = false;
    for (size_t at = 0; at < n; at += STRIDE) {
        const char *block = p + at;
        if (n - at < STRIDE) {
            memset(rest, 0, sizeof rest);
            block = memcpy(rest, block, n - at);
        }
        const uint64_t commas = find_bytes(block, ','), quotes = find_bytes(block, '"');
        uint64_t live = ~(uint64_t)0, found;
        while ((found = (quoted ? quotes : commas | quotes) & live)) {
            const uint64_t bit = found & (0 - found);
            const size_t i = at + (size_t)__builtin_ctzll(found);
            live = ~(bit | (bit - 1));
            if (!quoted && commas & bit) {
                if (i == skip)
                    continue;
                fields[count++] = rocl_view_between(p + begin, p + i);
                begin = i + 1;
            } else if (i == skip) {
                continue;
            } else if (!quoted) { /* a quote in the middle of a field is an ordinary character */
                quoted = i == begin;
            } else if (doubled && i + 1 < n && p[i + 1] == '"') {
                *has_doubled = true;
                skip = i + 1;
            } else if (i + 1 == n || p[i + 1] == ',') {
                fields[count++] = rocl_view_between(p + begin + 1, p + i);
                if (i + 1 == n)
                    return count;
                quoted = false;
                begin = i + 2;
                skip = i + 1;
            } else if (doubled) {
                return SIZE_MAX;
            }
            if (count == fields_max)
                return count;
        }
    }
    if (quoted)
        return ROCPROF_CSV_OPEN;
    fields[count++] = rocl_view_between(p + begin, end);
    return count;
}

/* The fields of a row whose quoted text column holds bare quotes and commas: fields before it are
 * counted from the left, those after it from the right. */
static bool split_around_text(char *p, const char *end, size_t want, size_t column,
                              rocl_view *fields)
{
    for (size_t i = 0; i < column; i++) {
        const char *stop = p;
        if (p < end && *p == '"')
            stop = memmem(p + 1, (size_t)(end - p - 1), "\",", 2);
        fields[i] = rocl_view_between(*p == '"' ? p + 1 : p, stop ? stop : end);
        const char *comma = stop ? memchr(stop, ',', (size_t)(end - stop)) : NULL;
        if (!comma)
            return false;
        if (*p != '"')
            fields[i].n = (size_t)(comma - p);
        p += comma + 1 - p;
    }
    for (size_t i = want - 1; i > column; i--) {
        const char *comma = end > p ? memrchr(p, ',', (size_t)(end - p)) : NULL;
        while (comma && end[-1] == '"' && (comma[1] != '"' || comma + 2 == end))
            comma = memrchr(p, ',', (size_t)(comma - p));
        if (!comma)
            return false;
        const bool quoted = end[-1] == '"' && comma + 2 < end;
        fields[i] =
            quoted ? rocl_view_between(comma + 2, end - 1) : rocl_view_between(comma + 1, end);
        end = comma;
    }
    if (end - p < 2 || *p != '"' || end[-1] != '"')
        return false;
    fields[column] = rocl_view_between(p + 1, end - 1);
    return true;
}

size_t rocprof_csv_fields(char *p, size_t n, size_t want, size_t text_column, rocl_view *fields,
                          size_t fields_max, bool more)
{
    bool has_doubled;
    size_t count = rocprof_csv_split(p, p + n, true, fields, fields_max, &has_doubled);
    if (count == ROCPROF_CSV_OPEN && more)
        return ROCPROF_CSV_OPEN;
    /* A sound row with doubled quotes is accepted, whatever its fields are. */
    if (count >= ROCPROF_CSV_OPEN || (want && count != want && !has_doubled)) {
        const size_t rfc = count == ROCPROF_CSV_OPEN ? SIZE_MAX : count;
        count = rocprof_csv_split(p, p + n, false, fields, fields_max, &has_doubled);
        if (want && count != want && text_column < want &&
            split_around_text(p, p + n, want, text_column, fields))
            return want;
        return count >= ROCPROF_CSV_OPEN || (want && count != want) ? rfc : count;
    }
    for (size_t i = 0; has_doubled && i < count; i++) { /* two quotes become one, in place */
        char *from = (char *)(uintptr_t)fields[i].p, *to = from;
        for (size_t k = 0; k < fields[i].n; k++) {
            *to++ = from[k];
            k += from[k] == '"' && k + 1 < fields[i].n && from[k + 1] == '"';
        }
        fields[i] = rocl_view_between(from, to);
    }
    return count;
}

/* Rows begin with a number, a guid, a word in quotes or one in capitals, followed by a comma,
 * without blanks. */
bool rocprof_csv_continues(const char *p, size_t n)
{
    size_t i = 0;
    if (n && *p == '"') {
        const char *quote = memchr(p + 1, '"', (n < 80 ? n : 80) - 1);
        i = quote ? (size_t)(quote + 1 - p) : n;
    } else {
        for (; i < n && i < 80; i++) {
            const char c = p[i];
            if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'f') &&
                c != '_' && c != '-' && c != '.')
                break;
        }
    }
    return i + 1 >= n || p[i] != ',' || p[i + 1] == ' ';
}
