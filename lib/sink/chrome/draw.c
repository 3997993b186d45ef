/* What the timeline draws, as lines of the file. A row is a pid and a tid: tracks of threads and of
 * GPU work are rows, and so are their lanes, which share a name. Readers tell counters by process
 * and name. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "format/perfetto.h"
#include "sink/chrome/chrome.h"

static uint64_t make_row(uint32_t pid, uint32_t tid)
{
    return (uint64_t)pid << 32 | tid;
}

/* ---- rows ---- */

static uint64_t define_thread(chrome_sink *c, const rocl_track *t)
{
    uint32_t pid = c->world.processes[t->process].pid, tid = (uint32_t)t->base;
    char name[64];
    if (!t->lane)
        return make_row(pid, chrome_thread_row(&c->world, t->process, t->thread));
    snprintf(name, sizeof name, PF_OVERLAPPING_CALLS " of %u (%u)", tid, t->lane + 1);
    return make_row(pid, chrome_new_row(&c->world, pid, name, INT32_MAX));
}

/* Work of agents that are no GPU is shown with its process. Rows have names like "Stream 1 (pid 12)
 * (2)"; they are shown by kind, then stream or queue, then lane: 4, 17 and 10 bits. */
static uint64_t define_work(chrome_sink *c, const rocl_track *t)
{
    char base[160], name[256], whose[40] = "", number[24] = "";
    uint32_t pid = chrome_gpu_pid(&c->world, t->agent);
    rocl_work_label(c->trace, c->world.capture, t, !t->gpu, base, sizeof base);
    if (t->gpu)
        chrome_whose(&c->world, t->process, whose, sizeof whose);
    else
        pid = c->world.processes[t->process].pid;
    if (t->lane)
        snprintf(number, sizeof number, " (%u)", t->lane + 1);
    const char *unknown = !t->gpu && t->kind <= ROCL_TRACK_QUEUE ? " (unknown agent)" : "";
    snprintf(name, sizeof name, "%s%s%s%s", base, unknown, whose, number);
    uint32_t id = t->id == ROCL_NONE ? 0 : t->id < 0x1fffe ? t->id + 1 : 0x1ffff;
    uint32_t sort = (uint32_t)t->kind << 27 | id << 10 | (t->lane < 1023 ? t->lane : 1023);
    return make_row(pid, chrome_new_row(&c->world, pid, name, sort));
}

/* ---- counters ---- */

/* Of the GPU's process, or else of its own; "name (unit) (pid 12)" */
static rocl_status define_counter(chrome_sink *c, const rocl_track *t, uint64_t *id,
                                  rocl_error *err)
{
    const rocl_capture *capture = c->world.capture;
    const rocl_counter *k = t->id < capture->counter_count ? &capture->counters[t->id] : NULL;
    char words[96] = "", place[ROCL_PLACE_LABEL_MAX] = "", name[384], whose[40] = "";
    bool bytes = t->kind == ROCL_TRACK_ALLOCATED;
    const char *unit = bytes ? "bytes" : k ? rocl_str(c->trace, k->units) : "";
    if (!ROCL_GROW(c->counters, c->counter_cap, c->counter_count + (size_t)1))
        return rocl_fail_memory(err);
    chrome_counter *s = &c->counters[c->counter_count];
    *id = c->counter_count++;
    s->name.len = 0;
    s->pid = bytes ? 0 : chrome_gpu_pid(&c->world, t->agent);
    if (s->pid) {
        chrome_whose(&c->world, t->process, whose, sizeof whose);
    } else {
        s->pid = c->world.processes[t->process].pid;
        rocl_agent_label(&c->world.gpus, capture, t->agent, words, sizeof words);
    }
    if (t->kind == ROCL_TRACK_SAMPLES)
        rocl_place_label(t->place, place);
    snprintf(name, sizeof name, "%s%s%s%s%s", t->spm ? "SPM " : "", words, words[0] ? " " : "",
             bytes ? "allocated"
             : k   ? rocl_str(c->trace, k->name)
                   : "unknown counter",
             place);
    rocl_json_put(&s->name, name, strlen(name));
    if (*unit) {
        rocl_buf_str(&s->name, " (");
        rocl_json_put(&s->name, unit, strlen(unit));
        rocl_buf_byte(&s->name, ')');
    }
    rocl_buf_str(&s->name, whose);
    return ROCL_OK;
}

/* ---- the timeline's sink ---- */

static chrome_sink *sink_of(rocl_timeline_part *p)
{
    return ((chrome_part *)p)->sink;
}

static rocl_status begin_sequence(rocl_timeline_part *p, int64_t from, rocl_error *err)
{
    (void)from, (void)err;
    sink_of(p)->counter_count = 0;
    return ROCL_OK;
}

static rocl_status define_track(rocl_timeline_part *p, const rocl_track *t, uint64_t *id,
                                rocl_error *err)
{
    chrome_sink *c = sink_of(p);
    if (t->kind > ROCL_TRACK_THREAD)
        return define_counter(c, t, id, err);
    *id = t->kind == ROCL_TRACK_THREAD ? define_thread(c, t) : define_work(c, t);
    return ROCL_OK;
}

/* An end of an arrow, at its time or at the begin of its slice. Numbers count in each capture. */
static void put_flow(chrome_sink *c, uint64_t row, const rocl_flow_mark *f, int64_t time)
{
    static const char phases[] = {
        [ROCL_FLOW_BEGINS] = 's', [ROCL_FLOW_GOES_ON] = 't', [ROCL_FLOW_ENDS] = 'f'};
    const uint32_t texts[] = {f->name, f->category};
    static const char *const keys[] = {"{\"name\":\"", "\",\"cat\":\""};
    rocl_buf *b = &c->world.line;
    b->len = 0;
    for (unsigned i = 0; i < 2; i++) {
        size_t n;
        const char *text = rocl_text(c->trace, texts[i], &n);
        rocl_buf_str(b, keys[i]);
        rocl_json_put(b, text, n);
    }
    rocl_buf_printf(b,
                    "\",\"ph\":\"%c\",\"id\":\"0x%" PRIx64 "\",\"pid\":%u,\"tid\":%c,\"ts\":%c%s}",
                    phases[f->end], rocl_mix64(rocl_mix64(f->flow) ^ c->world.capture->index),
                    (unsigned)(row >> 32), CHROME_TID, CHROME_TIME,
                    f->end == ROCL_FLOW_ENDS ? ",\"bp\":\"e\"" : "");
    chrome_put_text(&c->stream, CHROME_TEXT, (uint32_t)row, time, b);
}

static rocl_status put_lone_flow(rocl_timeline_part *p, uint64_t row, const rocl_flow_mark *f,
                                 rocl_error *err)
{
    (void)err;
    put_flow(sink_of(p), row, f, f->time);
    return ROCL_OK;
}

static rocl_status put_event(rocl_timeline_part *p, uint64_t row, rocl_error *err)
{
    chrome_sink *c = sink_of(p);
    chrome_line line = {
        .pid = (uint32_t)(row >> 32), .tid = (uint32_t)row, .link = (uint8_t)rocl_timeline_link(p)};
    (void)err;
    chrome_put_event(&c->stream, &line, &p->record, p->event.name == ROCL_NONE ? 0 : p->event.name);
    for (uint32_t i = 0; i < p->flow_count && p->event.kind != ROCL_INSTANT; i++)
        put_flow(c, row, &p->flows[i], p->event.time);
    return ROCL_OK;
}

static void put_value(rocl_timeline_part *p, uint64_t counter, int64_t time, double v)
{
    chrome_sink *c = sink_of(p);
    const chrome_counter *s = &c->counters[counter];
    chrome_put_value(&c->stream, s->pid, time, v, &s->name);
}

static void put_bytes(rocl_timeline_part *p, uint64_t counter, int64_t time, int64_t v)
{
    put_value(p, counter, time, (double)v);
}

const rocl_timeline_ops chrome_timeline_ops = {.link_slices = true,
                                               .begin = begin_sequence,
                                               .define = define_track,
                                               .call = put_event,
                                               .work = put_event,
                                               .instant = put_event,
                                               .flow = put_lone_flow,
                                               .value = put_value,
                                               .bytes = put_bytes};
