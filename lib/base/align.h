/* Two sequences of symbols side by side: which of one are which of the other, in the same order in
 * both, so that as many as possible are. */
#ifndef ROCL_BASE_ALIGN_H
#define ROCL_BASE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the two differ very much the search for the most pairs ends, and the result may have fewer:
 * with more differences in a stretch, or after so many steps in all, from when on only few
 * differences are looked for at a time. */
enum {
    ROCL_ALIGN_DIFFERENCES = 2048, /* from either end of a stretch */
    ROCL_ALIGN_STEPS = 1 << 23,    /* a step follows a diagonal */
    ROCL_ALIGN_FEW = 64
};

/* Sets match[i] for each symbol of a: the index in b of its partner, + 1; 0: it has none. Partners
 * are equal, and ascend. *minimal: no other choice has more pairs. Memory: 24 bytes a symbol.
 * False: memory is out. */
bool rocl_align_symbols(const uint32_t *a, size_t n, const uint32_t *b, size_t m, uint32_t *match,
                        bool *minimal);

#endif
