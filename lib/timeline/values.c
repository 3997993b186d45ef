/* Values over time: bytes that are allocated, bytes that copies move, counters of dispatches, which
 * are shown as long as their dispatch runs, and samples. */
#include "timeline/timeline.h"

#include "base/array.h"
#include "base/error.h"

/* Defines the track of a meter when it is first drawn on: tracks without values do not appear. */
static rocl_status define_meter(rocl_drawing *p, uint32_t meter, rocl_track track, rocl_error *err)
{
    track.thread = ROCL_NONE;
    track.gpu = rocl_is_gpu(p->timeline->capture, track.agent);
    p->meters[meter].defined = true;
    return p->timeline->ops->define(p, &track, &p->meters[meter].track, err);
}

static uint32_t at_most(uint32_t index, uint32_t count)
{
    return index < count ? index : count;
}

/* ---- bytes over time, a running sum per agent ---- */

static rocl_status draw_sum(rocl_drawing *p, uint32_t agent, int64_t time, rocl_error *err)
{
    const rocl_capture *c = p->timeline->capture;
    rocl_meter *m = &p->meters[agent];
    rocl_status st = ROCL_OK;
    if (!m->defined)
        st = define_meter(p, agent,
                          (rocl_track){.kind = p->value_kind,
                                       .process = p->process,
                                       .agent = agent < c->agent_count ? agent : ROCL_NONE,
                                       .id = ROCL_NONE},
                          err);
    p->counts.values++;
    const rocl_timeline_ops *ops = p->timeline->ops;
    if (st == ROCL_OK && ops->bytes)
        ops->bytes(p, m->track, time, (int64_t)m->sum);
    else if (st == ROCL_OK)
        ops->value(p, m->track, time, (double)(int64_t)m->sum);
    return st;
}

static rocl_status draw_copied(rocl_drawing *p, rocl_error *err)
{
    const rocl_track_event *e = &p->event;
    uint32_t agent = at_most(e->agent, p->timeline->capture->agent_count);
    p->meters[agent].sum += e->op ? 0 - e->size : e->size;
    return draw_sum(p, agent, e->time, err);
}

/* What was allocated before the window is shown at its begin. */
static rocl_status enter_window(rocl_drawing *p, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (uint32_t i = 0; i < p->meter_count && st == ROCL_OK && !p->in_window; i++)
        if (p->meters[i].sum)
            st = draw_sum(p, i, p->timeline->from, err);
    p->in_window = true;
    return st;
}

static rocl_status draw_allocated(rocl_drawing *p, rocl_error *err)
{
    const rocl_timeline *t = p->timeline;
    const rocl_track_event *e = &p->event;
    uint32_t agent = at_most(e->agent, t->capture->agent_count);
    rocl_status st = e->time >= t->from ? enter_window(p, err) : ROCL_OK;
    if (st != ROCL_OK || e->time > t->to)
        return st;
    p->meters[agent].sum += (uint64_t)e->delta;
    return p->in_window && e->delta ? draw_sum(p, agent, e->time, err) : ROCL_OK;
}

/* ---- counters of dispatches ---- */

/* Values whose dispatch has ended at or before `until` go back to 0, in the order of time. Not that
 * of the successor, which gets a new value at `until`: no zero in between. */
static void draw_zeros(rocl_drawing *p, int64_t until, uint32_t successor)
{
    while (p->shown_count) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < p->shown_count; i++)
            if (p->meters[p->shown[i]].end < p->meters[p->shown[first]].end)
                first = i;
        uint32_t counter = p->shown[first];
        rocl_meter *m = &p->meters[counter];
        int64_t when = m->end;
        if (when > until)
            return;
        m->end = INT64_MIN;
        p->shown[first] = p->shown[--p->shown_count];
        if (when == until && counter == successor)
            continue;
        p->timeline->ops->value(p, m->track, when, 0);
        p->counts.values++;
    }
}

static rocl_status draw_counter(rocl_drawing *p, rocl_error *err)
{
    const rocl_capture *c = p->timeline->capture;
    const rocl_track_event *e = &p->event;
    uint32_t counter = at_most(e->counter, c->counter_count);
    rocl_meter *m = &p->meters[counter];
    rocl_status st = ROCL_OK;
    if (!m->defined)
        st = define_meter(p, counter,
                          (rocl_track){.kind = ROCL_TRACK_COUNTER,
                                       .process = rocl_counter_process(c, counter),
                                       .agent = e->index < c->agent_count ? e->index : ROCL_NONE,
                                       .id = counter},
                          err);
    draw_zeros(p, e->time, counter);
    p->timeline->ops->value(p, m->track, e->time, e->value);
    p->counts.values++;
    if (m->end == INT64_MIN) {
        if (!ROCL_GROW(p->shown, p->shown_cap, p->shown_count + (size_t)1))
            return rocl_fail_memory(err);
        p->shown[p->shown_count++] = counter;
    }
    m->end = e->end;
    return st;
}

static rocl_status finish_counters(rocl_drawing *p, rocl_error *err)
{
    (void)err;
    draw_zeros(p, INT64_MAX, ROCL_NONE);
    return ROCL_OK;
}

/* ---- samples: a meter for each place of the counter ---- */

static rocl_status draw_sample(rocl_drawing *p, rocl_error *err)
{
    const rocl_capture *c = p->timeline->capture;
    const rocl_track_event *e = &p->event;
    uint64_t key = rocl_mix64(e->address ^ e->thread);
    uint32_t meter = rocl_map_get(&p->track_index, key, ROCL_NONE);
    if (meter == ROCL_NONE) {
        bool known = e->index < c->counter_count;
        meter = p->meter_count;
        if (!ROCL_GROW(p->meters, p->meter_cap, p->meter_count + (size_t)1) ||
            !rocl_map_put(&p->track_index, key, meter))
            return rocl_fail_memory(err);
        p->meters[p->meter_count++] = (rocl_meter){0};
        rocl_status st =
            define_meter(p, meter,
                         (rocl_track){.kind = ROCL_TRACK_SAMPLES,
                                      .process = e->thread,
                                      .agent = known ? c->counters[e->index].agent : ROCL_NONE,
                                      .id = e->index,
                                      .spm = e->kind == ROCL_SPM,
                                      .place = e->place},
                         err);
        if (st != ROCL_OK)
            return st;
    }
    p->timeline->ops->value(p, p->meters[meter].track, e->time, e->value);
    p->counts.values++;
    return ROCL_OK;
}

/* ---- sequences ---- */

rocl_status rocl_begin_values(rocl_drawing *p, rocl_error *err)
{
    const rocl_timeline *t = p->timeline;
    const rocl_capture *c = t->capture;
    uint32_t meters = 0;
    switch (p->event.sequence) {
    case ROCL_SEQUENCE_ALLOCATED:
        p->draw = draw_allocated;
        p->finish = enter_window;
        p->in_window = p->event.time >= t->from;
        p->value_kind = ROCL_TRACK_ALLOCATED;
        meters = c->agent_count + 1;
        break;
    case ROCL_SEQUENCE_BANDWIDTH:
        p->draw = draw_copied;
        p->value_kind = ROCL_TRACK_BANDWIDTH;
        meters = c->agent_count + 1;
        break;
    case ROCL_SEQUENCE_PMC:
        p->draw = draw_counter;
        p->finish = finish_counters;
        meters = c->counter_count + 1;
        break;
    default:
        p->draw = draw_sample;
    }
    if (!ROCL_GROW(p->meters, p->meter_cap, meters))
        return rocl_fail_memory(err);
    for (uint32_t i = 0; i < meters; i++)
        p->meters[i] = (rocl_meter){.end = INT64_MIN};
    p->meter_count = meters;
    return ROCL_OK;
}
