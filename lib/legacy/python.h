/* What the scripts have of the interpreters that ran them: which texts are numbers, how numbers are
 * printed, and the order of a dictionary. rpt ran under CPython 2.7 (64 bits, hashes not
 * randomized), rocm-timeline-generator.py under Python 3. */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/view.h"

/* ---- texts of Python 2.7 -------------------------------------------------------------------- */

static inline bool rocl_py_space(char c)
{
    return c == ' ' || ((unsigned char)c >= '\t' && (unsigned char)c <= '\r');
}

/* The text without white space around it. Columns are filled up with blanks: eight at a time. */
static inline rocl_view rocl_py_strip(rocl_view s)
{
    for (; s.n >= 8 && memcmp(s.p, "        ", 8) == 0; s.n -= 8)
        s.p += 8;
    while (s.n && rocl_py_space(*s.p)) {
        s.p++;
        s.n--;
    }
    while (s.n && rocl_py_space(s.p[s.n - 1]))
        s.n--;
    return s;
}

/* int(s): false when it would raise, or the number needs more than 64 bits. */
bool rocl_py_int(rocl_view s, int64_t *v);
/* Whether float(s) would work. */
bool rocl_py_float(rocl_view s);

/* ---- dictionaries of Python 2.7 ------------------------------------------------------------- */

uint64_t rocl_py_hash(const char *p, size_t n); /* hash() of a str */
uint64_t rocl_py_hash_int(int64_t v);
/* hash(None) is made of an address. This is one that occurs: where images begin at page borders,
 * its low 8 bits are the same in every run of one build. */
#define ROCL_PY_HASH_NONE 8750977870302u

/* In which order a dict holds n distinct keys that were added with these hashes: order[i] is the
 * number of the key that comes i-th. False when memory is out. */
bool rocl_py_dict_order(const uint64_t *hashes, size_t n, uint32_t *order);

/* ---- ns as µs, as Python 3 prints int(digits) / 1000 ---------------------------------------- */

/* The correctly rounded quotient as repr() shows it. False when it is beyond a double. */
bool rocl_py_put_us(rocl_buf *b, rocl_view digits);
/* Puts stop - start in this way. */
void rocl_py_put_us_difference(rocl_buf *b, uint64_t start, uint64_t stop);
double rocl_py_us(uint64_t ns);
/* Digits without leading zeros, which JSON does not take. */
void rocl_py_put_integer(rocl_buf *b, rocl_view digits);
