/* Orders of plain numbers, for qsort() and bsearch(). */
#ifndef ROCL_BASE_ORDER_H
#define ROCL_BASE_ORDER_H

#include <stdint.h>

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

/* Compares two values; for comparison functions with several keys. */
static inline int rocl_number_order(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

#endif
