/* Texts of a column that is too narrow for them. Those that differ stay different. */
#include "table/forms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    const uint8_t *full; /* but for what says nothing */
    size_t n, left_out;  /* bytes before it */
    rocl_buf shown;
} entry;

/* The first byte of the code point number `at`. */
static size_t offset_of(const uint8_t *p, size_t n, size_t at)
{
    size_t i = 0;
    for (; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80 && at-- == 0)
            break;
    }
    return i;
}

/* All kernels return this. */
static void leave_out_type(entry *e, size_t width)
{
    static const char type[] = "void ";
    const size_t n = sizeof type - 1;
    if (e->n > n && !memcmp(e->full, type, n) && rocl_table_text_width(e->full, e->n) > width) {
        e->full += n;
        e->n -= n;
        e->left_out = n;
    }
}

/* Both ends say more of a long name than its begin: "gemm<fl...2>(float*)". */
static void keep_ends(entry *e, size_t width)
{
    size_t has = rocl_table_text_width(e->full, e->n), keep = width - 3, tail = keep / 2;
    if (has <= width) {
        if (e->n)
            rocl_buf_put(&e->shown, e->full, e->n);
        return;
    }
    size_t from = offset_of(e->full, e->n, has - tail);
    rocl_buf_put(&e->shown, e->full, offset_of(e->full, e->n, keep - tail));
    rocl_buf_str(&e->shown, "...");
    rocl_buf_put(&e->shown, e->full + from, e->n - from);
}

/* What stands at the code point `at`: behind all that is before it, where there is room for that,
 * "gemm<2, tru...", else behind a little of the begin, "gemm...2, tr...". */
static void keep_middle(entry *e, size_t width, size_t at)
{
    const size_t room = width - 6, head = room / 3;
    if (at + head <= width - 3) {
        const size_t shown = offset_of(e->full, e->n, width - 3);
        e->shown.len = 0;
        rocl_buf_put(&e->shown, e->full, shown);
        if (shown < e->n)
            rocl_buf_str(&e->shown, "...");
        return;
    }
    const size_t from = offset_of(e->full, e->n, at),
                 to = offset_of(e->full, e->n, at + room - head);
    e->shown.len = 0;
    rocl_buf_put(&e->shown, e->full, offset_of(e->full, e->n, head));
    rocl_buf_str(&e->shown, "...");
    rocl_buf_put(&e->shown, e->full + from, to - from);
    if (to < e->n)
        rocl_buf_str(&e->shown, "...");
}

static void put_number(entry *e, size_t width, size_t number)
{
    char text[24];
    const size_t n = (size_t)snprintf(text, sizeof text, "#%zu", number);
    e->shown.len = offset_of(e->shown.data, e->shown.len, width - n);
    rocl_buf_str(&e->shown, text);
}

static int compare_bytes(const uint8_t *a, size_t n, const uint8_t *b, size_t m)
{
    const int c = n && m ? memcmp(a, b, n < m ? n : m) : 0;
    return c ? c : n < m ? -1 : n > m;
}

static int by_shown(const void *a, const void *b)
{
    const entry *x = *(entry *const *)a, *y = *(entry *const *)b;
    int c = compare_bytes(x->shown.data, x->shown.len, y->shown.data, y->shown.len);
    c = c ? c : compare_bytes(x->full, x->n, y->full, y->n);
    return c ? c : x->left_out < y->left_out ? -1 : x->left_out > y->left_out;
}

static bool same_shown(const entry *a, const entry *b)
{
    return !compare_bytes(a->shown.data, a->shown.len, b->shown.data, b->shown.len);
}

static bool same_full(const entry *a, const entry *b)
{
    return a->left_out == b->left_out && !compare_bytes(a->full, a->n, b->full, b->n);
}

/* Code points that both begin with. */
static size_t common(const entry *a, const entry *b)
{
    size_t i = 0, points = 0;
    for (; i < a->n && i < b->n && a->full[i] == b->full[i]; i++)
        points += (a->full[i] & 0xc0) != 0x80;
    if (i < a->n && (a->full[i] & 0xc0) == 0x80)
        points--; /* they differ within it */
    return points;
}

typedef void apart_fn(entry **group, size_t n, size_t width);

/* They are sorted: what the first and the last have in common, all have. */
static void show_difference(entry **group, size_t n, size_t width)
{
    const size_t at = common(group[0], group[n - 1]);
    for (size_t i = 0; i < n; i++)
        keep_middle(group[i], width, at);
}

static void number_them(entry **group, size_t n, size_t width)
{
    for (size_t i = 1, number = 1; i < n; i++) {
        number += !same_full(group[i - 1], group[i]);
        if (number > 1)
            put_number(group[i], width, number);
    }
}

/* Different texts that are shown alike are told apart. */
static void tell_apart(entry **order, size_t n, size_t width, apart_fn *fn)
{
    qsort(order, n, sizeof *order, by_shown);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && same_shown(order[i], order[next]);)
            next++;
        if (!same_full(order[i], order[next - 1]))
            fn(order + i, next - i, width);
    }
}

bool rocl_table_shorten(rocl_buf *texts, size_t count, size_t width)
{
    entry *all = calloc(count + 1, sizeof *all), **order = calloc(count + 1, sizeof(entry *));
    bool good = all && order;
    for (size_t i = 0; good && i < count; i++) {
        all[i] = (entry){.full = texts[i].data, .n = texts[i].len};
        order[i] = &all[i];
        leave_out_type(&all[i], width);
        keep_ends(&all[i], width);
        good = !all[i].shown.failed;
    }
    if (good) {
        /* What is alike up to its first difference may differ further on. */
        for (int round = 0; round < 3; round++)
            tell_apart(order, count, width, show_difference);
        tell_apart(order, count, width, number_them);
    }
    for (size_t i = 0; all && i < count; i++) {
        good = good && !all[i].shown.failed;
        rocl_buf_free(&texts[i]);
        texts[i] = all[i].shown;
    }
    free(all);
    free(order);
    return good;
}
