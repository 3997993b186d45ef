/* Texts of a column that is too narrow for them. Those that differ stay different: first both ends
 * of each are displayed, then, of those that look alike, the place where they differ, and in the
 * end a number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/format.h"

typedef struct entry {
    const uint8_t *full; /* without an uninformative type */
    size_t n, left_out;  /* bytes before it */
    rocl_buf displayed;
} entry;

/* The first byte of code point `number`. */
static size_t offset_of(const uint8_t *p, size_t n, size_t number)
{
    size_t i = 0;
    for (; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80 && number-- == 0)
            break;
    }
    return i;
}

/* Both ends say more of a long name than its begin: "gemm<fl...2>(float*)". All kernels return
 * void, which is left out of those that are too long. */
static void display_ends(entry *e, size_t width)
{
    static const char type[] = "void ";
    const size_t type_len = sizeof type - 1, keep = width - 3, tail = keep / 2;
    size_t has = rocl_text_width(e->full, e->n);
    if (has > width && e->n > type_len && !memcmp(e->full, type, type_len)) {
        e->full += type_len;
        e->n -= type_len;
        e->left_out = type_len;
        has -= type_len;
    }
    if (has <= width) {
        rocl_buf_put(&e->displayed, e->full, e->n);
        return;
    }
    const size_t from = offset_of(e->full, e->n, has - tail);
    rocl_buf_put(&e->displayed, e->full, offset_of(e->full, e->n, keep - tail));
    rocl_buf_str(&e->displayed, "...");
    rocl_buf_put(&e->displayed, e->full + from, e->n - from);
}

static int compare_bytes(const uint8_t *a, size_t n, const uint8_t *b, size_t m)
{
    const int c = n && m ? memcmp(a, b, n < m ? n : m) : 0;
    return c ? c : n < m ? -1 : n > m;
}

static int compare_displayed(const entry *a, const entry *b)
{
    return compare_bytes(a->displayed.data, a->displayed.len, b->displayed.data, b->displayed.len);
}

static int compare_full(const entry *a, const entry *b)
{
    int c = compare_bytes(a->full, a->n, b->full, b->n);
    return c ? c : a->left_out < b->left_out ? -1 : a->left_out > b->left_out;
}

static int compare_entries(const void *a, const void *b)
{
    const entry *x = *(entry *const *)a, *y = *(entry *const *)b;
    int c = compare_displayed(x, y);
    return c ? c : compare_full(x, y);
}

/* In sorted entries, what the first and the last have in common all have. */
static void display_difference(entry **group, size_t n, size_t width)
{
    const entry *a = group[0], *b = group[n - 1];
    size_t i = 0, points = 0;
    for (; i < a->n && i < b->n && a->full[i] == b->full[i]; i++)
        points += (a->full[i] & 0xc0) != 0x80;
    if (i < a->n && (a->full[i] & 0xc0) == 0x80)
        points--; /* they differ within it */
    for (i = 0; i < n; i++) {
        /* At this code point: after everything before it, if that fits, "gemm<2, tru...", else
         * after a little of the begin, "gemm...2, tr...". */
        entry *e = group[i];
        const size_t text = width - 6, head = text / 3;
        const bool whole = points + head <= width - 3;
        const size_t from = whole ? 0 : offset_of(e->full, e->n, points);
        const size_t to = offset_of(e->full, e->n, whole ? width - 3 : points + text - head);
        e->displayed.len = 0;
        if (!whole) {
            rocl_buf_put(&e->displayed, e->full, offset_of(e->full, e->n, head));
            rocl_buf_str(&e->displayed, "...");
        }
        rocl_buf_put(&e->displayed, e->full + from, to - from);
        if (to < e->n)
            rocl_buf_str(&e->displayed, "...");
    }
}

/* "gemm<fl...2>(float#2" */
static void display_number(entry **group, size_t n, size_t width)
{
    for (size_t i = 1, number = 1; i < n; i++) {
        number += compare_full(group[i - 1], group[i]) != 0;
        if (number == 1)
            continue;
        char text[24];
        const size_t len = (size_t)snprintf(text, sizeof text, "#%zu", number);
        rocl_buf *b = &group[i]->displayed;
        b->len = offset_of(b->data, b->len, width - len);
        rocl_buf_str(b, text);
    }
}

/* Calls `change` with each group of texts that differ but look alike. */
static void change_alike(entry **order, size_t n, size_t width,
                         void (*change)(entry **group, size_t n, size_t width))
{
    qsort(order, n, sizeof *order, compare_entries);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && !compare_displayed(order[i], order[next]);)
            next++;
        if (compare_full(order[i], order[next - 1]) != 0)
            change(order + i, next - i, width);
    }
}

bool rocl_table_shorten(rocl_buf *texts, size_t count, size_t width)
{
    entry *all = calloc(count + 1, sizeof *all), **order = calloc(count + 1, sizeof(entry *));
    bool good = all && order;
    for (size_t i = 0; good && i < count; i++) {
        all[i] = (entry){.full = texts[i].data, .n = texts[i].len};
        order[i] = &all[i];
        display_ends(&all[i], width);
        good = !all[i].displayed.failed;
    }
    if (good) {
        /* What is alike up to its first difference may differ further on. */
        for (int round = 0; round < 3; round++)
            change_alike(order, count, width, display_difference);
        change_alike(order, count, width, display_number);
    }
    for (size_t i = 0; all && i < count; i++) {
        good = good && !all[i].displayed.failed;
        rocl_buf_free(&texts[i]);
        texts[i] = all[i].displayed;
    }
    free(all);
    free(order);
    return good;
}
