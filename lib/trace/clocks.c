/* Sets the clocks of the machines of a trace, and warns if they seem to differ. */
#include "trace/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "filter/align.h"
#include "filter/filter.h"
#include "model/identity.h"
#include "trace/collective_clocks.h"
#include "trace/pipeline.h"
#include "source/source.h"

/* ---- setting them ---- */

rocl_status rocl_align_clocks(rocl_trace *t, rocl_error *err)
{
    rocl_aligner *a = NULL;
    /* One node needs no alignment; but a named marker or file must still exist. */
    if (t->opt.align <= ROCL_ALIGN_NONE || (t->clock_count < 2 && t->opt.align == ROCL_ALIGN_START))
        return ROCL_OK;
    if (t->opt.align == ROCL_ALIGN_COLLECTIVES) {
        const bool collectives = t->opt.collectives;
        t->opt.collectives = true;
        const rocl_status fitted = rocl_fit_clocks(t, err);
        t->opt.collectives = collectives;
        for (size_t i = 0; i < t->capture_count && fitted == ROCL_OK; i++)
            rocl_set_clock_of(t->captures[i]);
        return fitted;
    }
    int64_t *offsets = calloc(t->machine_count + 1, sizeof *offsets);
    rocl_status st = offsets ? rocl_aligner_new(&a, t, err) : rocl_fail_memory(err);
    if (st == ROCL_OK && rocl_aligner_kinds(a)) {
        const rocl_sink sink = {
            .self = a, .kinds = rocl_aligner_kinds(a), .events = rocl_aligner_see};
        st = rocl_pipeline_survey(t, &sink, err);
    }
    if (st == ROCL_OK)
        st = rocl_aligner_offsets(a, offsets, err);
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++) {
        t->captures[i]->offset = offsets[rocl_clock_of(&t->captures[i]->pub)];
        rocl_set_clock_of(t->captures[i]);
    }
    rocl_aligner_free(a);
    free(offsets);
    return st;
}

/* ---- do they differ? ---- */

typedef struct span {
    uint32_t machine;
    int64_t first, last;
} span;

static void widen_span(int64_t *first, int64_t *last, int64_t to_first, int64_t to_last)
{
    *first = to_first < *first ? to_first : *first;
    *last = to_last > *last ? to_last : *last;
}

void rocl_widen_to_capture(rocl_trace *t, rocl_model_capture *c, int64_t *first, int64_t *last)
{
    bool any = false;
    int64_t from = 0, to = 0;
    for (uint32_t i = 0; i < c->pub.process_count; i++)
        if (rocl_knows_times(&c->pub.processes[i]))
            widen_span(first, last, c->pub.processes[i].init, c->pub.processes[i].fini);
    if (!rocl_peeks_at_times(c))
        return;
    /* Errors are reported when the events are read. Drift is negligible here. */
    if (c->source->ops->peek_times(t, c, &from, &to, &any, NULL) == ROCL_OK && any &&
        !__builtin_add_overflow(from, c->offset, &from) &&
        !__builtin_add_overflow(to, c->offset, &to))
        widen_span(first, last, from, to);
}

ROCL_COMPARE_MEMBERS(compare_by_first, span, first, machine)

void rocl_align_check(rocl_trace *t)
{
    if (t->clock_count < 2 || t->opt.align != ROCL_ALIGN_DEFAULT || !t->opt.notice)
        return;
    const size_t n = t->machine_count;
    span *spans = malloc(n * sizeof *spans);
    if (!spans)
        return;
    for (uint32_t i = 0; i < n; i++)
        spans[i] = (span){i, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < t->capture_count; i++) {
        rocl_model_capture *c = t->captures[i];
        span *s = &spans[rocl_clock_of(&c->pub)];
        if (rocl_filter_takes_capture(t->filter, &c->pub))
            rocl_widen_to_capture(t, c, &s->first, &s->last);
    }
    /* Are all times of some machine later than those of all machines before it? */
    qsort(spans, n, sizeof *spans, compare_by_first);
    for (size_t i = 1, latest = 0; i < n && spans[i].first <= spans[i].last; i++) {
        const span *before = &spans[latest], *after = &spans[i];
        if (after->first <= before->last) {
            latest = after->last > before->last ? i : latest;
            continue;
        }
        const char *names[] = {rocl_machine_name(t, before->machine),
                               rocl_machine_name(t, after->machine)};
        for (int k = 0; k < 2; k++)
            names[k] = strcmp(names[k], "-") ? names[k] : "a node without a name";
        rocl_notice(
            t,
            "the clocks of the nodes seem to differ: the times of %s end %.6g s before those of "
            "%s begin; see --align",
            names[0], (double)((uint64_t)after->first - (uint64_t)before->last) / 1e9, names[1]);
        break;
    }
    free(spans);
}
