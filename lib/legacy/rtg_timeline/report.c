/* What the script prints at its end: how many lines of each shape there were, and the distinct
 * work-group sizes of host dispatches. */
#include "legacy/rtg_timeline/timeline.h"
#include "base/wide.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

void tl_say_counts(const rocl_timeline_options *o, const uint64_t shapes[RTG_SHAPES],
                   const tl_gap_counts *gaps)
{
    const struct {
        const char *label;
        uint64_t count;
    } counts[] = {
        {"total skipped lines", shapes[RTG_TEXT]},
        {"api hsa lines", shapes[RTG_HSA]},
        {"host dispatch hsa lines", shapes[RTG_HOST_DISPATCH]},
        {"dispatch hsa lines", shapes[RTG_DISPATCH]},
        {"host barrier hsa lines", shapes[RTG_HOST_BARRIER]},
        {"barrier hsa lines", shapes[RTG_BARRIER]},
        {"copy hsa lines", shapes[RTG_COPY]},
        {"missed hsa lines", shapes[RTG_HSA_MISSED]},
        {"api hip lines", shapes[RTG_HIP]},
        {"missed hip lines", shapes[RTG_HIP_MISSED]},
        {"prof ts opx hcc lines", shapes[RTG_HCC]},
        {"prof ts op hcc lines", shapes[RTG_HCC_BARE]},
        {"prof ts hcc lines", shapes[RTG_HCC_TIMES]},
        {"prof op hcc lines", shapes[RTG_HCC_ID]},
        {"prof hcc lines", shapes[RTG_HCC_SPAN]},
        {"missed hcc lines", shapes[RTG_HCC_MISSED]},
        {"unfinished strace lines", shapes[RTG_STRACE_UNFINISHED]},
        {"resumed strace lines", shapes[RTG_STRACE_RESUMED]},
        {"complete strace lines", shapes[RTG_STRACE_COMPLETE]},
        {"duplicate gap ts", gaps->duplicate},
        {"wrapped gap event", gaps->wrapped},
        {"okay gap event", gaps->okay},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char text[96];
        int n = snprintf(text, sizeof text, "%23s: %" PRIu64, counts[i].label, counts[i].count);
        tl_say(o, text, (size_t)n);
    }
}

/* ---- work-groups ---------------------------------------------------------------------------- */

typedef struct workgroup {
    rocl_u128 size;
    rocl_view field[TL_TEXTS]; /* x, y, z, kernel */
} workgroup;

/* By the number of work-items, then by the texts of the dimensions, then by kernel. */
static int compare_workgroups(const void *x, const void *y)
{
    const workgroup *a = x, *b = y;
    int order = (a->size > b->size) - (a->size < b->size);
    for (int i = 0; i < TL_TEXTS && !order; i++) {
        size_t n = a->field[i].n, m = b->field[i].n;
        order = memcmp(a->field[i].p, b->field[i].p, n < m ? n : m);
        order = order ? order : (n > m) - (n < m);
    }
    return order;
}

static workgroup decode_workgroup(const char *p)
{
    tl_texts t;
    workgroup g = {.size = 1};
    memcpy(&t, p, sizeof t);
    p += sizeof t;
    for (int i = 0; i < TL_TEXTS; p += t.len[i++]) {
        uint64_t v = 0;
        g.field[i] = (rocl_view){p, t.len[i]};
        if (i < 3 && rtg_number(g.field[i], &v))
            g.size *= v;
    }
    return g;
}

rocl_status tl_say_workgroups(const rocl_timeline_options *o, const rocl_strings *groups,
                              rocl_error *err)
{
    size_t n = rocl_strings_count(groups); /* the first is "" */
    workgroup *all = malloc((n + 1) * sizeof *all);
    rocl_buf b = {0};
    if (!all)
        return rocl_fail_memory(err);
    for (size_t i = 1; i < n; i++)
        all[i] = decode_workgroup(rocl_strings_get(groups, (uint32_t)i, NULL));
    qsort(all + 1, n ? n - 1 : 0, sizeof *all, compare_workgroups);
    for (size_t i = 1; i < n; i++) {
        const workgroup *g = &all[i];
        char digits[48];
        size_t at = sizeof digits;
        rocl_u128 v = g->size;
        do
            digits[--at] = (char)('0' + (int)(v % 10));
        while (v /= 10);
        b.len = 0;
        rocl_buf_put(&b, digits + at, sizeof digits - at);
        for (int k = 0; k < 3; k++) {
            rocl_buf_str(&b, k ? ", '" : " ('");
            rocl_buf_put(&b, g->field[k].p, g->field[k].n);
            rocl_buf_byte(&b, '\'');
        }
        rocl_buf_str(&b, ") ");
        rocl_buf_put(&b, g->field[3].p, g->field[3].n);
        tl_say(o, (const char *)b.data, b.len);
    }
    free(all);
    rocl_buf_free(&b);
    return ROCL_OK;
}
