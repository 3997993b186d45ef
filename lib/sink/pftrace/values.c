/* Values over time: counter tracks, and the typed counters of GPUs. */
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sink/pftrace/pf.h"

/* "GPU 0", or AMD's "Agent [2] (GPU)", with its type if requested. */
static void agent_words(const pf_sink *p, uint32_t agent, bool type, char *s, size_t size)
{
    if (!p->opt.legacy_tracks || !pf_legacy_agent(p, agent, type, s, size))
        rocl_agent_label(p->owners.capture, agent, s, size);
}

/* ---- counters of a GPU ---- */

/* For the agent of the current sequence. GPU counters are declared for their GPU; all others are
 * counter tracks. */
void pf_begin_counters(pf_drawing *p)
{
    const pf_owners *w = &p->sink->owners;
    const rocl_capture *c = w->capture;
    uint32_t agent = p->drawing.event.index;
    p->gpu = pf_gpu_place(p, agent);
    if (p->sink->opt.legacy_tracks || p->gpu == ROCL_NONE)
        return;
    rocl_buf *b = &p->seq.pending;
    size_t all = rocl_pb_begin(b, INTERNED_COUNTERS);
    rocl_pb_uint(b, IID, 1);
    size_t body = rocl_pb_begin(b, INTERNED_COUNTER_BODY);
    for (uint32_t i = 0; i < c->counter_count; i++)
        if (c->counters[i].agent == agent) {
            const rocl_counter *k = &c->counters[i];
            const char *units = rocl_str(w->trace, k->units),
                       *text = rocl_str(w->trace, k->description);
            unsigned unit = rocl_perfetto_unit(units);
            size_t at = rocl_pb_begin(b, COUNTER_SPECS);
            rocl_pb_uint(b, CSPEC_ID, i + 1);
            pf_text(b, CSPEC_NAME, w->trace, k->name);
            size_t description = rocl_pb_begin(b, CSPEC_DESCRIPTION);
            rocl_utf8_put(b, text, strlen(text));
            if (*units && !unit) {
                rocl_buf_str(b, *text ? " [" : "[");
                rocl_utf8_put(b, units, strlen(units));
                rocl_buf_byte(b, ']');
            }
            rocl_pb_end(b, description);
            if (unit)
                rocl_pb_uint(b, CSPEC_UNIT, unit);
            rocl_pb_uint(b, CSPEC_GROUP, GROUP_COMPUTE);
            rocl_pb_uint(b, CSPEC_DIRECTION, DIRECTION_FORWARDS);
            rocl_pb_end(b, at);
        }
    rocl_pb_end(b, body);
    rocl_pb_int(b, INTERNED_COUNTER_GPU, p->gpu);
    rocl_pb_end(b, all);
}

/* Marks ids of GPU counters from pf_define_values. */
#define GPU_COUNTER ((uint64_t)1 << 63)

void pf_write_value(rocl_drawing *base, uint64_t track, int64_t time, double v)
{
    pf_drawing *p = pf_drawing_of(base);
    const bool gpu = track & GPU_COUNTER;
    rocl_buf *b = pf_event_begin(&p->seq, gpu ? PKT_GPU_COUNTER : PKT_TRACK_EVENT, time);
    if (b->failed)
        return;
    uint8_t *at = b->data + b->len;
    if (gpu) {
        at = rocl_pb_put_uint(at, GPU_COUNTER_IID, 1);
        uint8_t *value = at = rocl_pb_open(at, GPU_COUNTER_VALUES);
        at = rocl_pb_put_uint(at, VALUE_ID, (uint32_t)track + 1);
        at = pf_put_number(at, VALUE_INT, VALUE_DOUBLE, v);
        at = rocl_pb_close(value, at);
        at = rocl_pb_put_uint(at, GPU_COUNTER_GPU, p->gpu);
    } else {
        at = rocl_pb_put_uint(at, EV_TYPE, TYPE_COUNTER);
        at = rocl_pb_put_uint(at, EV_TRACK, track);
        at = pf_put_number(at, EV_COUNTER_VALUE, EV_DOUBLE_VALUE, v);
    }
    b->len = (size_t)(at - b->data);
    pf_event_end(&p->seq);
}

/* ---- tracks ---- */

uint64_t pf_define_values(pf_drawing *p, const rocl_track *t)
{
    const pf_sink *s = p->sink;
    const rocl_capture *c = s->owners.capture;
    const rocl_counter *k = t->id < c->counter_count ? &c->counters[t->id] : NULL;
    char words[96] = "", name[320], place[ROCL_PLACE_LABEL_MAX];
    if (t->kind == ROCL_TRACK_ALLOCATED || t->kind == ROCL_TRACK_BANDWIDTH) {
        /* "GPU 0 allocated", or AMD's "ALLOCATE BYTES on Agent [2] (GPU)" */
        bool legacy = s->opt.legacy_tracks, rate = t->kind == ROCL_TRACK_BANDWIDTH && !legacy;
        agent_words(s, t->agent, true, words, sizeof words);
        if (legacy)
            snprintf(name, sizeof name, "%s %s",
                     t->kind == ROCL_TRACK_BANDWIDTH ? PF_LEGACY_COPIED : PF_LEGACY_ALLOCATED,
                     words);
        else
            snprintf(name, sizeof name, "%s %s", words, rate ? PF_BANDWIDTH : PF_ALLOCATED);
        const pf_unit unit = {rate ? 0 : UNIT_BYTES, rate ? "bytes/s" : NULL};
        return pf_new_track(p, s->owners.processes[t->process].uuid, name, &unit);
    }
    if (t->kind == ROCL_TRACK_COUNTER) {
        if (k && k->agent == t->agent && p->gpu != ROCL_NONE && !s->opt.legacy_tracks)
            return GPU_COUNTER | t->id;
        agent_words(s, t->agent, false, words, sizeof words);
        snprintf(name, sizeof name, "%s PMC %s", words,
                 k ? rocl_str(s->trace, k->name) : "unknown");
    } else {
        if (t->agent != ROCL_NONE)
            agent_words(s, t->agent, false, words, sizeof words);
        rocl_place_label(t->place, place);
        snprintf(name, sizeof name, "%s%s%s%s%s", t->spm ? "SPM " : "", words, words[0] ? " " : "",
                 k ? rocl_str(s->trace, k->name) : "unknown counter", place);
    }
    const char *units = k ? rocl_str(s->trace, k->units) : "";
    const pf_unit unit = {!strcmp(units, "bytes") ? UNIT_BYTES : 0, units};
    return pf_new_track(p, s->owners.processes[t->process].uuid, name, &unit);
}
