/* Words that options take: the nearest one to an unknown word. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "rocline.h"

enum { LONGEST = 63 };

static char fold_letter(char c)
{
    return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The edit distance: letters that change, or neighbours that are swapped. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][LONGEST + 1]; /* of this letter of a, and of the two before it */
    if (n > LONGEST || m > LONGEST)
        return SIZE_MAX;
    for (size_t i = 0; i <= n; i++) {
        size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            if (i == 0) {
                row[j] = j;
                continue;
            }
            size_t change = last[j - 1] + (fold_letter(a[i - 1]) != fold_letter(b[j - 1]));
            row[j] = min_size(change, min_size(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && fold_letter(a[i - 1]) == fold_letter(b[j - 2]) &&
                fold_letter(a[i - 2]) == fold_letter(b[j - 1]))
                row[j] = min_size(row[j], older[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *rocl_nearest_word(const char *text, size_t len, rocl_word_fn *words, const void *ctx)
{
    const char *word;
    size_t best = SIZE_MAX, best_distance = 4;
    for (size_t i = 0; (word = words(ctx, i)); i++) {
        size_t d = edit_distance(text, len, word, strlen(word));
        if (d < best_distance && d * 3 <= len + 1) { /* one letter in four, two in five */
            best = i;
            best_distance = d;
        }
    }
    return best == SIZE_MAX ? NULL : words(ctx, best);
}
