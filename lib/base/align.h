/* Aligns two sequences of symbols: pairs equal symbols, in the same order in both, as many as
 * possible. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of the search for the most pairs, beyond which the result may have fewer: differences in a
 * stretch; and steps in all, after which it looks only for few differences at a time. */
enum {
    ROCL_ALIGN_DIFFERENCES = 2048, /* from either end of a stretch */
    ROCL_ALIGN_STEPS = 1 << 23,    /* a step follows a diagonal */
    ROCL_ALIGN_FEW = 64
};

/* Sets match[i] for each symbol of a: the index in b of its partner, plus 1; 0: none. Partners are
 * equal, and ascend. *minimal: no other choice has more pairs. Memory: 24 bytes a symbol. False:
 * memory is out. */
bool rocl_align_symbols(const uint32_t *a, size_t n, const uint32_t *b, size_t m, uint32_t *match,
                        bool *minimal);
