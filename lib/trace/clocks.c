#include "trace/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "filter/align.h"
#include "filter/filter.h"
#include "trace/pipeline.h"
#include "source/source.h"

/* ---- setting them ---- */

static rocl_status see(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    (void)worker;
    return rocl_aligner_see(self, b, err);
}

static void set_time(int64_t *time, int64_t offset)
{
    int64_t at;
    if (*time > 0) /* 0: unknown */
        *time = __builtin_add_overflow(*time, offset, &at) || at < 0 ? 0 : at;
}

static void set_clock(rocl_model_capture *c, int64_t offset)
{
    c->offset = offset;
    for (uint32_t i = 0; i < c->pub.process_count; i++) {
        rocl_process *p = (rocl_process *)(uintptr_t)&c->pub.processes[i];
        set_time(&p->init, offset);
        set_time(&p->fini, offset);
        set_time(&p->start, offset);
        set_time(&p->end, offset);
    }
}

static rocl_status set_clocks(rocl_trace *t, rocl_aligner *a, rocl_error *err)
{
    int64_t *offsets = calloc(t->machine_count + 1, sizeof *offsets);
    if (!offsets)
        return rocl_fail_memory(err);
    rocl_status st = rocl_aligner_offsets(a, offsets, err);
    for (size_t i = 0; t->machine_count > 1 && i < t->capture_count && st == ROCL_OK; i++)
        set_clock(t->captures[i], offsets[t->captures[i]->pub.machine]);
    free(offsets);
    return st;
}

rocl_status rocl_align_clocks(rocl_trace *t, rocl_error *err)
{
    rocl_aligner *a = NULL;
    /* Of one node nothing is set, but what the option names must be there. */
    if (t->opt.align <= ROCL_ALIGN_NONE ||
        (t->machine_count < 2 && t->opt.align == ROCL_ALIGN_START))
        return ROCL_OK;
    rocl_status st = rocl_aligner_new(&a, t, err);
    if (st == ROCL_OK && rocl_aligner_kinds(a)) {
        const rocl_sink sink = {.self = a, .kinds = rocl_aligner_kinds(a), .events = see};
        st = rocl_pipeline_survey(t, &sink, err);
    }
    if (st == ROCL_OK)
        st = set_clocks(t, a, err);
    rocl_aligner_free(a);
    return st;
}

/* ---- do they differ? ---- */

typedef struct span {
    uint32_t machine;
    int64_t first, last;
} span;

static void widen(span *s, int64_t first, int64_t last)
{
    s->first = first < s->first ? first : s->first;
    s->last = last > s->last ? last : s->last;
}

/* From the begin to the end of its processes; where a profiler did not note them, some events. */
static void widen_by(rocl_trace *t, rocl_model_capture *c, span *s)
{
    bool known = c->pub.process_count > 0, any = false;
    int64_t first = 0, last = 0;
    for (uint32_t i = 0; i < c->pub.process_count; i++) {
        const rocl_process *p = &c->pub.processes[i];
        known &= p->init > 0 && p->fini >= p->init;
        if (p->init > 0 && p->fini >= p->init)
            widen(s, p->init, p->fini);
    }
    if (known || !c->source->ops->peek_times)
        return;
    /* What cannot be read is said when the events are. */
    if (c->source->ops->peek_times(t, c, &first, &last, &any, NULL) == ROCL_OK && any)
        widen(s, first + c->offset, last + c->offset);
}

static int by_first(const void *a, const void *b)
{
    const span *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->machine > y->machine) - (x->machine < y->machine);
}

static const char *name_of(const rocl_trace *t, const span *s)
{
    const char *name = rocl_machine_name(t, s->machine);
    return strcmp(name, "-") ? name : "a node without a name";
}

static void say(const rocl_trace *t, const span *before, const span *after)
{
    rocl_notice(
        t,
        "the clocks of the nodes seem to differ: the times of %s end %.6g s before those of "
        "%s begin; see --align",
        name_of(t, before), (double)((uint64_t)after->first - (uint64_t)before->last) / 1e9,
        name_of(t, after));
}

static void check_spans(const rocl_trace *t, span *spans)
{
    size_t n = t->machine_count, latest = 0;
    qsort(spans, n, sizeof *spans, by_first);
    for (size_t i = 1; i < n && spans[i].first <= spans[i].last; i++) {
        if (spans[i].first > spans[latest].last) {
            say(t, &spans[latest], &spans[i]);
            return;
        }
        latest = spans[i].last > spans[latest].last ? i : latest;
    }
}

void rocl_align_check(rocl_trace *t)
{
    if (t->machine_count < 2 || t->opt.align != ROCL_ALIGN_DEFAULT || !t->opt.notice)
        return;
    span *spans = malloc(t->machine_count * sizeof *spans);
    for (uint32_t i = 0; spans && i < t->machine_count; i++)
        spans[i] = (span){i, INT64_MAX, INT64_MIN};
    for (size_t i = 0; spans && i < t->capture_count; i++) {
        rocl_model_capture *c = t->captures[i];
        if (rocl_filter_takes_capture(t->filter, &c->pub))
            widen_by(t, c, &spans[c->pub.machine]);
    }
    if (spans)
        check_spans(t, spans);
    free(spans);
}
