/* A row of slices that do not overlap: its columns, its levels, and how full cells of time are. The
 * time that slices take together is a difference of two sums, so that every cell is exact however
 * many slices are in it. */
#include "picture/picture.h"

#include <stdlib.h>
#include <string.h>

enum { FAN = 1 << PICTURE_FAN_BITS };

/* ---- adding ---------------------------------------------------------------------------------- */

static bool resize_array(void *array, size_t size, size_t n)
{
    void *old, *fresh;
    memcpy(&old, array, sizeof old);
    if (!(fresh = realloc(old, n ? n * size : 1)))
        return false;
    memcpy(array, &fresh, sizeof fresh);
    return true;
}

/* The entries of a column that is there and of which the first `used` are in use; new ones are 0.
 */
static bool resize_numbers(uint32_t **column, size_t used, size_t n)
{
    if (!*column)
        return true;
    if (!resize_array(column, sizeof **column, n))
        return false;
    if (n > used)
        memset(*column + used, 0, (n - used) * sizeof **column);
    return true;
}

static bool resize_row(picture_row *r, size_t n)
{
    const size_t used = r->cap < n ? r->cap : n;
    if (!resize_array(&r->start, sizeof *r->start, n))
        return false;
    if (r->values) {
        if (!resize_array(&r->value, sizeof *r->value, n))
            return false;
    } else if (!resize_array(&r->name, sizeof *r->name, n) ||
               !resize_array(&r->detail, sizeof *r->detail, n) ||
               !resize_array(&r->duration.lo, sizeof *r->duration.lo, n) ||
               !resize_array(&r->id.lo, sizeof *r->id.lo, n) ||
               !resize_array(&r->stack.lo, sizeof *r->stack.lo, n) ||
               !resize_numbers(&r->duration.hi, used, n) || !resize_numbers(&r->id.hi, used, n) ||
               !resize_numbers(&r->stack.hi, used, n) || !resize_numbers(&r->bytes.lo, used, n) ||
               !resize_numbers(&r->bytes.hi, used, n)) {
        return false;
    }
    r->cap = n;
    return true;
}

static bool reserve_entry(picture_row *r)
{
    if (r->count < r->cap)
        return true;
    return r->count < UINT32_MAX - 1 && resize_row(r, r->cap ? r->cap + r->cap / 2 : 32);
}

static bool set_wide(picture_wide *w, const picture_row *r, uint64_t v)
{
    if (v >> 32 && !w->hi && !(w->hi = calloc(r->cap, sizeof *w->hi)))
        return false;
    w->lo[r->count] = (uint32_t)v;
    if (w->hi)
        w->hi[r->count] = (uint32_t)(v >> 32);
    return true;
}

bool picture_add_slice(picture_row *r, const picture_slice *s)
{
    if (!reserve_entry(r))
        return false;
    if (s->bytes && !r->bytes.lo && !(r->bytes.lo = calloc(r->cap, sizeof *r->bytes.lo)))
        return false;
    r->start[r->count] = s->start;
    r->name[r->count] = s->name;
    r->detail[r->count] = s->detail;
    if (!set_wide(&r->duration, r, (uint64_t)s->end - (uint64_t)s->start) ||
        !set_wide(&r->id, r, s->id) || !set_wide(&r->stack, r, s->stack) ||
        (r->bytes.lo && !set_wide(&r->bytes, r, s->bytes)))
        return false;
    r->count++;
    return true;
}

bool picture_add_value(picture_row *r, int64_t time, double value)
{
    r->values = true;
    if (!reserve_entry(r))
        return false;
    r->start[r->count] = time;
    r->value[r->count++] = value;
    return true;
}

/* ---- levels ---------------------------------------------------------------------------------- */

static bool is_longer(const picture_row *r, uint32_t a, uint32_t b)
{
    return r->values ? r->value[a] > r->value[b]
                     : picture_wide_get(&r->duration, a) > picture_wide_get(&r->duration, b);
}

bool picture_seal_row(picture_row *r)
{
    if (!resize_row(r, r->count))
        return false;
    const uint32_t blocks = r->count / FAN + 1;
    if (!r->values && !(r->busy = malloc(blocks * sizeof *r->busy)))
        return false;
    uint64_t sum = 0;
    for (uint32_t i = 0; !r->values && i < r->count; i++) {
        if (i % FAN == 0)
            r->busy[i / FAN] = sum;
        sum += picture_wide_get(&r->duration, i);
    }
    if (!r->values && r->count % FAN == 0)
        r->busy[r->count / FAN] = sum;
    const uint32_t *below = NULL;
    uint32_t n = r->count;
    for (unsigned l = 0; l < PICTURE_LEVELS && n >= FAN; l++) {
        const uint32_t entries = n / FAN; /* whole ones */
        if (!(r->longest[l] = malloc(entries * sizeof **r->longest)))
            return false;
        for (uint32_t i = 0; i < entries; i++) {
            uint32_t best = below ? below[i * FAN] : i * FAN;
            for (uint32_t k = i * FAN + 1; k < (i + 1) * FAN; k++) {
                const uint32_t other = below ? below[k] : k;
                best = is_longer(r, other, best) ? other : best;
            }
            r->longest[l][i] = best;
        }
        below = r->longest[l];
        n = entries;
    }
    return true;
}

void picture_free_row(picture_row *r)
{
    void *const columns[] = {r->start,       r->value,    r->name,  r->detail,   r->duration.lo,
                             r->duration.hi, r->id.lo,    r->id.hi, r->stack.lo, r->stack.hi,
                             r->bytes.lo,    r->bytes.hi, r->busy};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        free(columns[i]);
    for (unsigned l = 0; l < PICTURE_LEVELS; l++)
        free(r->longest[l]);
    free(r);
}

/* ---- asking ---------------------------------------------------------------------------------- */

uint32_t picture_first_from(const picture_row *r, int64_t time)
{
    uint32_t lo = 0, hi = r->count;
    while (lo < hi) {
        const uint32_t middle = lo + (hi - lo) / 2;
        if (r->start[middle] < time)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* The durations of slices [0, n). */
static uint64_t sum_durations(const picture_row *r, uint32_t n)
{
    uint64_t sum = r->busy[n / FAN];
    for (uint32_t i = n / FAN * FAN; i < n; i++)
        sum += picture_wide_get(&r->duration, i);
    return sum;
}

/* The longest of slices [i, last), of which there is one at least. */
static uint32_t find_longest(const picture_row *r, uint32_t i, uint32_t last)
{
    uint32_t best = i;
    while (i < last) {
        unsigned l = 0;
        uint64_t size = 1;
        while (l < PICTURE_LEVELS && i % (size * FAN) == 0 && i + size * FAN <= last) {
            size *= FAN;
            l++;
        }
        const uint32_t other = l ? r->longest[l - 1][i / size] : i;
        best = is_longer(r, other, best) ? other : best;
        i += (uint32_t)size;
    }
    return best;
}

static int64_t edge_of_cell(int64_t from, int64_t to, size_t n, size_t i)
{
    return (int64_t)(from + ((__int128)to - from) * (__int128)i / (__int128)n);
}

void picture_fill_cells(const picture_row *r, uint32_t track, uint32_t row, int64_t from,
                        int64_t to, size_t n, rocl_cell *cells)
{
    uint32_t first = picture_first_from(r, from);
    for (size_t k = 0; k < n; k++) {
        rocl_cell *c = &cells[k];
        const int64_t a = edge_of_cell(from, to, n, k), b = edge_of_cell(from, to, n, k + 1);
        /* Where cells are shorter than a nanosecond, some are empty: they are the next moment. */
        const int64_t until = b > a ? b : a + 1;
        uint32_t i = first, last = first;
        const uint32_t far = k + 1 < n && first + 64 < r->count && r->start[first + 64] >= until
                                 ? first + 64
                                 : r->count;
        if (far == r->count)
            last = picture_first_from(r, until);
        else
            while (last < far && r->start[last] < until)
                last++;
        first = b > a ? last : first;
        if (i > 0 && (r->values || picture_end(r, i - 1) > a))
            i--;
        if (i == last)
            continue;
        const uint32_t longest = find_longest(r, i, last);
        c->count += last - i;
        if (r->values) {
            c->value = c->longest.index == ROCL_NONE || r->value[longest] > c->value
                           ? r->value[longest]
                           : c->value;
            c->longest = (rocl_picture_ref){track, row, longest};
            continue;
        }
        uint64_t busy = sum_durations(r, last) - sum_durations(r, i);
        const int64_t end = picture_end(r, last - 1);
        busy -= r->start[i] < a ? (uint64_t)a - (uint64_t)r->start[i] : 0;
        busy -= end > until ? (uint64_t)end - (uint64_t)until : 0;
        if (c->longest.index == ROCL_NONE || busy >= c->busy) {
            c->busy = busy;
            c->longest = (rocl_picture_ref){track, row, longest};
        }
    }
}
