/* What a report has of the interpreter that used to write it: which texts are numbers, and the
 * order of a dictionary. CPython 2.7, 64 bits, hashes not randomized. */
#ifndef ROCL_LEGACY_PY_H
#define ROCL_LEGACY_PY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct rocl_span {
    const char *p;
    size_t n;
} rocl_span;

static inline bool rocl_py_space(char c)
{
    return c == ' ' || ((unsigned char)c >= '\t' && (unsigned char)c <= '\r');
}

/* The text without white space around it. Columns are filled up with blanks: eight at a time. */
static inline rocl_span rocl_py_strip(rocl_span s)
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
bool rocl_py_int(rocl_span s, int64_t *v);
/* Whether float(s) would work. */
bool rocl_py_float(rocl_span s);

uint64_t rocl_py_hash(const char *p, size_t n); /* hash() of a str */
uint64_t rocl_py_hash_int(int64_t v);
/* hash(None) is made of an address. This is one that occurs: where images begin at page borders,
 * its low 8 bits are the same in every run of one build. */
#define ROCL_PY_HASH_NONE 8750977870302u

/* In which order a dict holds n distinct keys that were added with these hashes: order[i] is the
 * number of the key that comes i-th. False when memory is out. */
bool rocl_py_dict_order(const uint64_t *hashes, size_t n, uint32_t *order);

#endif
