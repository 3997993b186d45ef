/* Which GPU work is a step's. */
#include "analysis/step_work.h"

#include <stdlib.h>

#include "base/array.h"

/* In the word of kind and name. AGAIN: the piece is in a step of an earlier series, too. */
#define WITHOUT_CALL UINT64_C(0x80)
#define AGAIN        UINT64_C(0x40)
_Static_assert(ROCL_KINDS < AGAIN, "kinds and the bits are in one byte");

/* ---- events ---------------------------------------------------------------------------------- */

rocl_status rocl_step_work_open(rocl_step_work *w, rocl_trace *t, rocl_sorter *marks,
                                rocl_sorter *work, rocl_sorter *owned, rocl_error *err)
{
    *w = (rocl_step_work){.trace = t,
                          .marks = marks,
                          .work = work,
                          .owned = owned,
                          .caches = calloc(t->opt.jobs, sizeof *w->caches),
                          .linked = calloc(t->capture_count + 1, sizeof *w->linked)};
    return marks && work && owned && w->caches && w->linked ? ROCL_OK : rocl_fail_memory(err);
}

void rocl_step_work_close(rocl_step_work *w)
{
    for (unsigned k = 0; w->caches && k < w->trace->opt.jobs; k++)
        free(w->caches[k].known);
    free(w->caches);
    free(w->linked);
    free(w->launches);
    free(w->kernels);
    rocl_steps_free(&w->steps);
}

rocl_status rocl_step_work_add_batch(rocl_step_work *w, unsigned worker, const rocl_batch *b,
                                     rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        uint32_t lane = 0;
        if (b->kind == ROCL_MARKER) {
            const uint64_t key[4] = {rocl_process_word(b->capture, e), (uint64_t)e->start,
                                     e->thread, rocl_row_word(e->id, b->kind)};
            const uint64_t numbers[] = {(uint64_t)e->end, rocl_name_of(e)};
            bool is;
            st = rocl_is_step(w->trace, &w->caches[worker], e->name, &is, err);
            if (st == ROCL_OK && is)
                st = rocl_add_numbers(w->marks, worker, key, numbers, 2, err);
            continue;
        }
        if (w->lanes && b->kind == ROCL_DISPATCH) {
            const rocl_step_lane k = {rocl_lane_of(b, i), b->dispatches[i].agent};
            lane = rocl_strings_put(w->lanes, (const char *)&k, sizeof k);
            if (lane == ROCL_NONE)
                return rocl_fail_memory(err);
        }
        const uint64_t numbers[] = {(uint64_t)(e->end - e->start),
                                    (uint64_t)rocl_name_of(e) << 8 | b->kind, lane};
        st = rocl_calls_ask(w->work, worker, b, e, numbers, lane ? 3 : 2, err);
    }
    return st;
}

/* ---- steps ----------------------------------------------------------------------------------- */

rocl_status rocl_step_work_resolve(rocl_step_work *w, rocl_error *err)
{
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(w->marks, err);
    while (rocl_next_record(w->marks, &rec, &st, err)) {
        uint64_t v[2]; /* end, name */
        rocl_read_numbers(&rec, v, 2);
        const rocl_step step = {.process = rec.key[0],
                                .start = (int64_t)rec.key[1],
                                .thread = (uint32_t)rec.key[2],
                                .row = rec.key[3],
                                .end = (int64_t)v[0],
                                .name = (uint32_t)v[1]};
        if (w->mark_count++ < ROCL_STEPS_MOST && !rocl_steps_add(&w->steps, &step))
            st = rocl_fail_memory(err);
    }
    if (w->mark_count > ROCL_STEPS_MOST)
        w->steps.count = 0;
    if (st == ROCL_OK)
        st = rocl_steps_resolve(&w->steps, w->trace, err);
    w->series_count =
        (uint32_t)(w->steps.series_count < ROCL_STEP_SERIES_MOST ? w->steps.series_count
                                                                 : ROCL_STEP_SERIES_MOST);
    w->launches = calloc(w->steps.count + 1, sizeof *w->launches);
    w->kernels = calloc(w->steps.count + 1, sizeof *w->kernels);
    return st == ROCL_OK && (!w->launches || !w->kernels) ? rocl_fail_memory(err) : st;
}

/* ---- the work of steps ----------------------------------------------------------------------- */

static rocl_status add_work(void *ctx, const rocl_sort_record *question, const rocl_call *call,
                            rocl_error *err)
{
    rocl_step_work *w = ctx;
    uint64_t v[3]; /* duration, kind and name, lane */
    const unsigned numbers = rocl_read_numbers(question, v, 3);
    const int64_t start = (int64_t)question->key[2];
    w->linked[question->key[0] >> 32] |= call != NULL;
    const bool same_call =
        call && w->last_call[0] == question->key[0] && w->last_call[1] == question->key[1];
    memcpy(w->last_call, question->key, sizeof w->last_call);
    uint64_t bits = call ? 0 : WITHOUT_CALL;
    for (uint32_t k = 0; k < w->series_count; k++) {
        const size_t of =
            rocl_steps_find(&w->steps, &w->steps.series[w->series + k], question->key[0],
                            call ? call->thread : ROCL_NONE, call ? call->start : start);
        if (of == SIZE_MAX)
            continue;
        const uint64_t key[4] = {of, question->key[2], question->key[2] + v[0], question->key[3]};
        w->launches[of] += call && !same_call;
        w->kernels[of] += (v[1] & 0xff) == ROCL_DISPATCH;
        const uint64_t what[] = {v[1] | bits, v[2]};
        bits |= AGAIN;
        const rocl_status st = rocl_add_numbers(w->owned, 0, key, what, numbers - 1, err);
        if (st != ROCL_OK)
            return st;
    }
    w->outside += !(bits & AGAIN);
    return ROCL_OK;
}

rocl_status rocl_step_work_look_up(rocl_step_work *w, rocl_calls *calls, rocl_error *err)
{
    return rocl_calls_look_up(calls, w->work, add_work, w, err);
}

bool rocl_step_work_next(rocl_step_work *w, rocl_step_piece *p, rocl_status *st, rocl_error *err)
{
    const rocl_options *o = &w->trace->opt;
    /* If earlier events are filtered out, some calls are left out whose work begins later: it
     * belongs to none of the remaining steps. */
    const bool drop =
        o->start || o->start_marker || o->steps || o->warmup || (o->periods && o->periods[0]);
    rocl_sort_record rec;
    while (rocl_next_record(w->owned, &rec, st, err)) {
        uint64_t v[2]; /* kind and name, lane */
        rocl_read_numbers(&rec, v, 2);
        const rocl_step *step = &w->steps.all[rec.key[0]];
        if (drop && v[0] & WITHOUT_CALL && w->linked[step->process >> 32]) {
            w->outside += !(v[0] & AGAIN);
            continue;
        }
        *p = (rocl_step_piece){.step = rec.key[0],
                               .start = (int64_t)rec.key[1],
                               .end = (int64_t)rec.key[2],
                               .kind = (rocl_kind)(v[0] & (AGAIN - 1)),
                               .name = (uint32_t)(v[0] >> 8),
                               .lane = (uint32_t)v[1]};
        return true;
    }
    return false;
}
