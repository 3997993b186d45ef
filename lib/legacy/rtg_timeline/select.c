/* Filters are of traces: the lines whose events pass them are selected by a run of the pipeline,
 * and then converted like all others. */
#include "legacy/rtg_timeline/timeline.h"

#include "base/error.h"
#include "base/num.h"
#include "filter/filter.h"
#include "source/source.h"
#include "trace/pipeline.h"

typedef struct selector {
    const rocl_trace *trace;
    rocl_sorter *lines;
    bool clip;
} selector;

/* The id of an event is the offset of its line, from 1. */
static rocl_status select_events(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    const selector *s = self;
    size_t named = s->trace->captures[b->capture->index]->source->named;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const uint64_t key[2] = {named, e->id - 1};
        const int64_t times[2] = {e->start, e->end};
        bool cut = s->clip && e->end - e->start != e->duration;
        st = rocl_sorter_add(s->lines, worker, key, times, cut ? sizeof times : 0, err);
    }
    return st;
}

static rocl_status read_next(tl_selection *s, rocl_error *err)
{
    rocl_sort_record r;
    rocl_status st = rocl_sorter_next(s->lines, &r, &s->more, err);
    if (st != ROCL_OK || !s->more)
        return st;
    s->capture = r.key[0];
    s->next = (tl_wanted){.offset = r.key[1], .cut = r.len > 0};
    if (r.len) {
        memcpy(&s->next.start, r.data, sizeof s->next.start);
        memcpy(&s->next.end, r.data + sizeof s->next.start, sizeof s->next.end);
    }
    return ROCL_OK;
}

rocl_status tl_select_lines(tl_selection *s, rocl_trace *t, rocl_error *err)
{
    selector all = {.trace = t,
                    .lines = s->lines = rocl_sorter_new(t->space, 2),
                    .clip = t->opt.window_mode == ROCL_WINDOW_CLIP};
    rocl_sink sink = {.self = &all, .kinds = ROCL_ALL_KINDS, .events = select_events};
    if (!s->lines)
        return rocl_fail_memory(err);
    rocl_status st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = rocl_sorter_start(s->lines, err);
    return st ? st : read_next(s, err);
}

void tl_selection_free(tl_selection *s)
{
    rocl_sorter_free(s->lines);
}

rocl_status tl_selection_read(tl_selection *s, uint32_t capture, uint64_t offset, rocl_buf *to,
                              size_t *count, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && s->more &&
           (s->capture < capture || (s->capture == capture && s->next.offset < offset))) {
        if (s->capture == capture) {
            rocl_buf_put(to, &s->next, sizeof s->next);
            ++*count;
        }
        st = read_next(s, err);
    }
    return st;
}

/* ---- events that the window cuts ------------------------------------------------------------ */

static rocl_view put_digits(char *to, int64_t v)
{
    return rocl_view_between(to, rocl_put_u64(to, v < 0 ? 0 : (uint64_t)v));
}

/* "seconds.fraction" with as many digits as the script needs to see µs. */
static rocl_view put_seconds(char *to, int64_t ns)
{
    char *p = rocl_put_u64(to, (uint64_t)ns / 1000000000);
    uint64_t rest = (uint64_t)ns % 1000000000;
    *p++ = '.';
    for (int i = 9; i-- > 0; rest /= 10)
        p[i] = (char)('0' + rest % 10);
    return rocl_view_between(to, p + 9);
}

void tl_cut_line(rtg_line *l, const tl_wanted *w, tl_digits digits)
{
    int64_t start = w->start < 0 ? 0 : w->start;
    int64_t end = w->end < start ? start : w->end;
    switch (l->shape) {
    case RTG_HIP:
    case RTG_HSA:
        l->start = put_digits(digits[0], start);
        l->stop = put_digits(digits[1], end - start);
        break;
    case RTG_STRACE_COMPLETE:
    case RTG_STRACE_RESUMED:
        l->start = put_seconds(digits[0], start);
        l->start.n -= 10;
        l->fraction = (rocl_view){l->start.p + l->start.n + 1, 6};
        l->took = put_seconds(digits[1], end - start);
        break;
    default:
        l->start = put_digits(digits[0], start);
        l->stop = put_digits(digits[1], end);
    }
}
