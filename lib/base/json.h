/* Reads JSON without building a tree: a reader walks over bytes in memory, and the caller takes
 * from each object the members it knows. Texts stay where they are; numbers stay text until they
 * are asked for, so that nothing passes through a double. What is not wanted is skipped at a GB/s.
 *
 * Files of many GB are read in blocks of whole array elements, by several threads: json_index.h
 * cuts them. This is all that a thread does with its block:
 *
 *     enum { NAME, TS, ARGS, KEYS };
 *     static const rocl_view keys[KEYS] = {
 *         [NAME] = ROCL_JSON_KEY("name"),
 *         [TS] = ROCL_JSON_KEY("ts"),
 *         [ARGS] = ROCL_JSON_KEY("args"),
 *     };
 *     rocl_json r;
 *     rocl_json_token v;
 *     rocl_json_open(&r, bytes, n, offset, ROCL_JSON_ELEMENTS);
 *     while (rocl_json_element(&r, &v)) {
 *         rocl_view name = {0};
 *         int64_t ns = 0;
 *         if (!rocl_json_enter(&r, ROCL_JSON_OBJECT))
 *             continue; // no object: it is skipped
 *         for (int key; (key = rocl_json_member(&r, keys, KEYS, &v)) >= 0;)
 *             switch (key) {
 *             case NAME:
 *                 name = v.text; // if v.escaped: rocl_json_unescape()
 *                 break;
 *             case TS: // 12.345 and "12.345" alike
 *                 bad = !rocl_json_decimal(v.text, 3, &ns);
 *                 break;
 *             case ARGS:
 *                 if (rocl_json_enter(&r, ROCL_JSON_OBJECT))
 *                     while (rocl_json_member(&r, arg_keys, ARG_KEYS, &v) >= 0)
 *                         ...
 *                 break;
 *             }
 *         ...
 *     }
 *     if (r.wrong)
 *         return rocl_json_fail(&r, path, err);
 *
 * A reader belongs to one thread, needs no memory and nothing to be freed. An error is sticky:
 * every function then says that there is nothing more. */
#pragma once

#include "base/buf.h"
#include "base/status.h"
#include "base/view.h"

typedef enum rocl_json_kind {
    ROCL_JSON_NOTHING, /* the end, or an error: see `wrong` */
    ROCL_JSON_OBJECT,
    ROCL_JSON_OBJECT_END,
    ROCL_JSON_ARRAY,
    ROCL_JSON_ARRAY_END,
    ROCL_JSON_KEY,
    ROCL_JSON_STRING,
    ROCL_JSON_NUMBER,
    ROCL_JSON_TRUE,
    ROCL_JSON_FALSE,
    ROCL_JSON_NULL
} rocl_json_kind;

typedef struct rocl_json_token {
    rocl_json_kind kind;
    bool escaped;   /* a key or string that holds backslashes */
    rocl_view text; /* as it stands there, without quotes; of an object or array only its bracket */
} rocl_json_token;

/* How a text may differ from JSON. */
enum {
    /* The bytes are elements of an array, without its brackets; a comma may follow the last. */
    ROCL_JSON_ELEMENTS = 1,
    /* Quotes and control characters in strings may lack the backslash. A quote ends a string where
     * JSON goes on behind it: a key before a colon; a value before a bracket, before a comma and
     * the next key, or where a line ends behind it or its comma. Slower where values are skipped.
     */
    ROCL_JSON_QUOTES = 2,
    /* Numbers may be nan, inf, NaN, Infinity, with a sign. */
    ROCL_JSON_NANS = 4
};

enum { ROCL_JSON_DEPTH = 128 }; /* deeper nesting is an error, except in skipped values */

typedef struct rocl_json {
    const char *begin, *at, *end;
    uint64_t offset; /* of `begin` in the file */
    unsigned flags;
    unsigned depth;
    bool in_object;
    int expect;        /* what comes next: see json.c */
    const char *wrong; /* the error at `at`; NULL: none */
    uint64_t
        objects[ROCL_JSON_DEPTH / 64]; /* a bit for each level: it is an object, not an array */
    uint8_t next_key[ROCL_JSON_DEPTH]; /* for each level the key that is likely next */
} rocl_json;

/* Reads n bytes, which the caller keeps unchanged. */
void rocl_json_open(rocl_json *r, const char *p, size_t n, uint64_t offset, unsigned flags);

/* ---- walking --------------------------------------------------------------------------------- */

/* The next element of the current array, or the only value outside of arrays. False at the end of
 * the array, which the reader then leaves. A scalar is taken; an object or array is skipped by the
 * next call unless it is entered. */
bool rocl_json_element(rocl_json *r, rocl_json_token *v);

/* The next member of the current object whose key is one of `keys` (at most 255): returns the index
 * of the key; *v is its value, as above. Others are skipped. -1 at the end of the object, which the
 * reader then leaves. Keys in the order of the table are found at once. Escaped keys match
 * nothing. */
int rocl_json_member(rocl_json *r, const rocl_view *keys, unsigned count, rocl_json_token *v);
#define ROCL_JSON_KEY(text)                                                                        \
    {                                                                                              \
        "" text, sizeof(text) - 1                                                                  \
    }

/* Takes the object that was just returned if it is written as {"KEY":number,...} with exactly these
 * keys in this order, no blanks and no signs: many small objects are. False: it is not; nothing
 * happens, and it can be entered. */
bool rocl_json_uints(rocl_json *r, const rocl_view *keys, unsigned count, uint64_t *to);

/* Enters the object or array that was just returned. False: it is of another kind; nothing
 * happens. */
bool rocl_json_enter(rocl_json *r, rocl_json_kind kind);

/* Skips the rest of the current object or array, and leaves it. */
void rocl_json_leave(rocl_json *r);

/* The next token of any kind; enters objects and arrays. ROCL_JSON_NOTHING after the last. */
rocl_json_kind rocl_json_next(rocl_json *r, rocl_json_token *t);

/* Skips the next value, looking only at strings and brackets in it. */
void rocl_json_skip(rocl_json *r);

/* Where a token is in the file. */
static inline uint64_t rocl_json_offset(const rocl_json *r, const rocl_json_token *t)
{
    return r->offset + (uint64_t)(t->text.p - r->begin);
}

/* ROCL_INPUT "NAME: byte 123: what is wrong", after an error of the reader. */
rocl_status rocl_json_fail(const rocl_json *r, const char *name, rocl_error *err);

/* ---- values: of numbers, and of strings that hold one -------------------------------------- */

/* The exact integer, also from "0x1f" and "31.0"; false: not an integer, or it does not fit. */
bool rocl_json_uint(rocl_view text, uint64_t *v);
bool rocl_json_int(rocl_view text, int64_t *v);

/* The number times 10^digits (0 to 18), rounded to the nearest integer, half away from zero; exact
 * until then. Microseconds as nanoseconds: digits is 3. False where it does not fit. */
bool rocl_json_decimal(rocl_view text, unsigned digits, int64_t *v);

/* The nearest double; also nan and inf. */
bool rocl_json_double(rocl_view text, double *v);

/* Appends the text of a string or key with its escapes resolved. Half a surrogate pair becomes
 * U+FFFD; other invalid UTF-8 stays. */
void rocl_json_unescape(rocl_buf *b, rocl_view text);
