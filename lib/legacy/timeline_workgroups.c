/* The distinct work-group sizes of host dispatches, as the script prints them: by the number of
 * work-items, then by the texts of the dimensions, then by kernel. */
#include "legacy/timeline_impl.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct group {
    unsigned __int128 size;
    rtg_span part[TL_TEXTS]; /* x, y, z, kernel */
} group;

static int compare_spans(rtg_span a, rtg_span b)
{
    int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

static int compare(const void *x, const void *y)
{
    const group *a = x, *b = y;
    int order = (a->size > b->size) - (a->size < b->size);
    for (int i = 0; i < TL_TEXTS && !order; i++)
        order = compare_spans(a->part[i], b->part[i]);
    return order;
}

static group parse(const char *p)
{
    tl_texts t;
    group g = {.size = 1};
    memcpy(&t, p, sizeof t);
    p += sizeof t;
    for (int i = 0; i < TL_TEXTS; i++) {
        uint64_t v = 0;
        g.part[i] = (rtg_span){p, t.len[i]};
        if (i < 3 && rtg_number(g.part[i], &v))
            g.size *= v;
        p += t.len[i];
    }
    return g;
}

static void put_size(rocl_buf *b, unsigned __int128 v)
{
    char text[48];
    size_t n = sizeof text;
    do
        text[--n] = (char)('0' + (int)(v % 10));
    while (v /= 10);
    rocl_buf_put(b, text + n, sizeof text - n);
}

static void put_line(rocl_buf *b, const group *g)
{
    put_size(b, g->size);
    for (int i = 0; i < 3; i++) {
        rocl_buf_str(b, i ? ", '" : " ('");
        rocl_buf_put(b, g->part[i].p, g->part[i].n);
        rocl_buf_byte(b, '\'');
    }
    rocl_buf_str(b, ") ");
    rocl_buf_put(b, g->part[3].p, g->part[3].n);
}

rocl_status tl_workgroups_say(const rocl_strings *groups, rocl_say_fn *say, void *ctx,
                              rocl_error *err)
{
    size_t n = rocl_strings_count(groups); /* the first is "" */
    group *all = malloc((n + 1) * sizeof *all);
    rocl_buf b = {0};
    if (!all)
        return rocl_fail_memory(err);
    for (size_t i = 1; i < n; i++)
        all[i] = parse(rocl_strings_get(groups, (uint32_t)i, NULL));
    qsort(all + 1, n ? n - 1 : 0, sizeof *all, compare);
    for (size_t i = 1; i < n && say; i++) {
        b.len = 0;
        put_line(&b, &all[i]);
        say(ctx, (const char *)b.data, b.len);
    }
    free(all);
    rocl_buf_free(&b);
    return ROCL_OK;
}
