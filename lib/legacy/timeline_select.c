/* Filters are of traces: the lines whose events pass them are picked by a run of the pipeline, and
 * then converted like all others. */
#include "legacy/timeline_impl.h"

#include "base/error.h"
#include "base/num.h"
#include "filter/filter.h"
#include "trace/pipeline.h"
#include "source/source.h"

#include <string.h>

typedef struct picker {
    const rocl_trace *trace;
    rocl_sorter *lines;
    bool clip;
    int64_t from, to; /* of the window */
} picker;

/* The id of an event is the offset of its line, from 1. */
static rocl_status pick(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    const picker *p = self;
    size_t named = p->trace->captures[b->capture->index]->source->named;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const uint64_t key[2] = {named, e->id - 1};
        const int64_t times[2] = {e->start, e->end};
        bool cut = p->clip && e->end - e->start != e->duration;
        st = rocl_sorter_add(p->lines, worker, key, times, cut ? sizeof times : 0, err);
    }
    return st;
}

static rocl_status advance(tl_selection *s, rocl_error *err)
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

rocl_status tl_select(tl_selection *s, rocl_trace *t, rocl_error *err)
{
    picker p = {.trace = t,
                .lines = rocl_sorter_new(t->space, 2),
                .clip = t->opt.window_mode == ROCL_WINDOW_CLIP};
    rocl_sink sink = {.self = &p, .kinds = ROCL_ALL_KINDS, .events = pick};
    s->lines = p.lines;
    if (!p.lines)
        return rocl_fail_memory(err);
    rocl_status st = rocl_pipeline_run(t, &sink, err);
    if (st == ROCL_OK)
        st = rocl_sorter_start(p.lines, err);
    return st ? st : advance(s, err);
}

void tl_selection_free(tl_selection *s)
{
    rocl_sorter_free(s->lines);
}

rocl_status tl_selection_take(tl_selection *s, uint32_t capture, uint64_t offset, rocl_buf *to,
                              size_t *count, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && s->more &&
           (s->capture < capture || (s->capture == capture && s->next.offset < offset))) {
        if (s->capture == capture) {
            rocl_buf_put(to, &s->next, sizeof s->next);
            ++*count;
        }
        st = advance(s, err);
    }
    return st;
}

/* ---- events that the window cuts ------------------------------------------------------------ */

static rtg_span put_digits(char *room, int64_t v)
{
    return (rtg_span){room, (size_t)(rocl_put_u64(room, v < 0 ? 0 : (uint64_t)v) - room)};
}

/* "seconds.fraction" with as many digits as the script needs to see µs. */
static rtg_span put_seconds(char *room, int64_t ns)
{
    char *p = rocl_put_u64(room, (uint64_t)ns / 1000000000);
    uint64_t rest = (uint64_t)ns % 1000000000;
    *p++ = '.';
    for (int i = 9; i-- > 0; rest /= 10)
        p[i] = (char)('0' + rest % 10);
    return (rtg_span){room, (size_t)(p + 9 - room)};
}

void tl_cut_line(rtg_line *l, const tl_wanted *w, tl_digits room)
{
    int64_t start = w->start < 0 ? 0 : w->start;
    int64_t end = w->end < start ? start : w->end;
    switch (l->shape) {
    case RTG_HIP:
    case RTG_HSA:
        l->start = put_digits(room[0], start);
        l->stop = put_digits(room[1], end - start);
        break;
    case RTG_STRACE_COMPLETE:
    case RTG_STRACE_RESUMED:
        l->start = put_seconds(room[0], start);
        l->start.n -= 10;
        l->fraction = (rtg_span){l->start.p + l->start.n + 1, 6};
        l->took = put_seconds(room[1], end - start);
        break;
    default:
        l->start = put_digits(room[0], start);
        l->stop = put_digits(room[1], end);
    }
}
