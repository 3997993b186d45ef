/* Orders of plain numbers, for qsort() and bsearch(); the place of a key in a sorted array. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/view.h"

#define ROCL_COMPARE_NUMBERS(name, type)                                                           \
    static inline int name(const void *a, const void *b)                                           \
    {                                                                                              \
        const type x = *(const type *)a, y = *(const type *)b;                                     \
        return (x > y) - (x < y);                                                                  \
    }
ROCL_COMPARE_NUMBERS(rocl_compare_u32, uint32_t)
ROCL_COMPARE_NUMBERS(rocl_compare_u64, uint64_t)
ROCL_COMPARE_NUMBERS(rocl_compare_i64, int64_t)
ROCL_COMPARE_NUMBERS(rocl_compare_double, double) /* no NAN among them */
#undef ROCL_COMPARE_NUMBERS

/* Defines a comparison function: by one member of a struct that is a number, then by another. */
#define ROCL_COMPARE_MEMBERS(name, type, first, second)                                            \
    static inline int name(const void *a, const void *b)                                           \
    {                                                                                              \
        const type *x = a, *y = b;                                                                 \
        const int by = (x->first > y->first) - (x->first < y->first);                              \
        return by ? by : (x->second > y->second) - (x->second < y->second);                        \
    }

/* Compares two values; for comparison functions with several keys. */
static inline int rocl_number_order(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* Of two texts by their bytes, then by their lengths. */
static inline int rocl_compare_bytes(const char *a, size_t n, const char *b, size_t m)
{
    const int c = memcmp(a, b, n < m ? n : m);
    return c ? c : (n > m) - (n < m);
}

static inline int rocl_compare_views(rocl_view a, rocl_view b)
{
    return rocl_compare_bytes(a.n ? a.p : "", a.n, b.n ? b.p : "", b.n);
}

/* How many of `count` sorted items of `size` bytes are before the key: the index of the first that
 * is not. `compare` gets an item and the key. */
static inline size_t rocl_count_before(const void *key, const void *items, size_t count,
                                       size_t size, int (*compare)(const void *, const void *))
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare((const char *)items + middle * size, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The bits of a double as a number in the order of the values, and back. */
static inline uint64_t rocl_bits_of_value(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static inline double rocl_value_of_bits(uint64_t bits)
{
    double v;
    bits = bits >> 63 ? bits & ~(UINT64_C(1) << 63) : ~bits;
    memcpy(&v, &bits, sizeof v);
    return v;
}
