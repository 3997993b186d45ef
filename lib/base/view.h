/* A view of bytes that belong to somebody else: a text that need not end with a NUL. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct rocl_view {
    const char *p;
    size_t n;
} rocl_view;

static inline rocl_view rocl_view_between(const char *from, const char *to)
{
    return (rocl_view){from, (size_t)(to - from)};
}

static inline bool rocl_view_is(rocl_view v, const char *text)
{
    return v.n == strlen(text) && !memcmp(v.p, text, v.n);
}

static inline bool rocl_view_begins(rocl_view v, const char *text)
{
    const size_t n = strlen(text);
    return v.n >= n && !memcmp(v.p, text, n);
}

static inline bool rocl_view_ends(rocl_view v, const char *text)
{
    const size_t n = strlen(text);
    return v.n >= n && !memcmp(v.p + v.n - n, text, n);
}

static inline bool rocl_view_is_among(rocl_view v, const char *const *texts, size_t count)
{
    size_t i = 0;
    while (i < count && !rocl_view_is(v, texts[i]))
        i++;
    return i < count;
}

/* The first place of a short word in a short text; NULL: none. (memmem() makes a table first.) */
static inline const char *rocl_view_find(rocl_view v, const char *word)
{
    const size_t n = strlen(word);
    const char *end = v.p + v.n;
    for (const char *p = v.p; (size_t)(end - p) >= n; p++) {
        p = memchr(p, *word, (size_t)(end - p) - n + 1);
        if (!p || !memcmp(p, word, n))
            return p;
    }
    return NULL;
}

/* What is before the first `c`; all of it if there is none. */
static inline rocl_view rocl_view_until(rocl_view v, char c)
{
    const char *end = v.n ? memchr(v.p, c, v.n) : NULL;
    return end ? rocl_view_between(v.p, end) : v;
}

/* Takes the next of words that are separated by single blanks; false: there is none left. */
static inline bool rocl_view_take_word(rocl_view *words, rocl_view *word)
{
    *word = rocl_view_until(*words, ' ');
    const char *end = words->p + words->n, *rest = word->p + word->n;
    *words = rocl_view_between(rest < end ? rest + 1 : end, end);
    return word->n;
}
