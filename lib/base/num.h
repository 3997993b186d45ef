/* Numbers as text, fast and independent of the locale. Each writes at p without a NUL and returns
 * the end. */
#ifndef ROCL_BASE_NUM_H
#define ROCL_BASE_NUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define ROCL_NUM_MAX 32 /* bytes that any of these may write */

char *rocl_put_u64(char *p, uint64_t v);
char *rocl_put_i64(char *p, int64_t v);

/* All but the last eight digits of a number: times that are near each other have them in common.
 * Zeros at first. */
typedef struct rocl_upper_digits {
    uint64_t value;
    char text[16];
    unsigned len;
} rocl_upper_digits;

/* The same as rocl_put_u64; *upper is that of the number before, and becomes this one's. */
char *rocl_put_near(char *p, uint64_t v, rocl_upper_digits *upper);
/* At least `digits` (up to ROCL_NUM_MAX) hex digits, zero-padded, no 0x. */
char *rocl_put_hex(char *p, uint64_t v, unsigned digits, bool upper);
/* The shortest decimal that reads back as v: integers without point or exponent below 1e15
 * ("1757738"), else up to 17 digits ("40.62811724337926"); "-0", "nan", "inf", "-inf". */
char *rocl_put_double(char *p, double v);

/* Appends what repr() of CPython 3 gives: the fewest digits that read back as v, with ".0" for
 * whole numbers and an exponent from 1e16 on and below 1e-4. v is finite. */
void rocl_repr_put(rocl_buf *b, double v);

#endif
