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

typedef struct chrome_counter { /* as distinguished by readers */
    uint32_t pid;
    uint32_t process; /* whose it is, where the name says so; else 0 */
    rocl_buf name;    /* escaped */
} chrome_counter;

typedef struct chrome_drawing {
    alignas(ROCL_CACHE_LINE) rocl_drawing drawing; /* first */
    chrome_sink *sink;
    chrome_lines *lines; /* its own, or those of the block that the file has at hand */
    chrome_lines own;
    rocl_buf text; /* of a line */
    /* of the sequence at hand */
    uint64_t rows; /* of GPU work */
    chrome_counter *counters;
    size_t counter_count, counter_cap;
} chrome_drawing;

static chrome_drawing *drawing_of(rocl_drawing *p)
{
    return (chrome_drawing *)p;
}

static uint64_t make_row(uint32_t pid, uint32_t tid)
{
    return (uint64_t)pid << 32 | tid;
}

/* ---- rows ---- */

/* The lane of a thread, from 1. */
static rocl_status define_lane(chrome_drawing *p, chrome_lines *describe, uint64_t lane,
                               uint64_t *row, rocl_error *err)
{
    const chrome_numbers *w = &p->sink->numbers;
    const uint32_t index = p->drawing.event.index;
    uint32_t tid, thread;
    const uint32_t pid = w->processes[rocl_host_process(w->capture, index, &thread)].pid;
    char name[64];
    const rocl_status st = chrome_number_row(w, p->drawing.at, lane, &tid, err);
    snprintf(name, sizeof name, PF_OVERLAPPING_CALLS " of %u (%" PRIu64 ")", w->host_rows[index],
             lane + 1);
    if (st == ROCL_OK && describe)
        chrome_describe_row(describe, &p->text, pid, tid, name, INT32_MAX);
    *row = make_row(pid, tid);
    return st;
}

/* Lanes of further pieces are described when those of earlier pieces are known. */
static rocl_status define_thread(chrome_drawing *p, const rocl_track *t, uint64_t *row,
                                 rocl_error *err)
{
    const chrome_numbers *w = &p->sink->numbers;
    if (t->lane)
        return define_lane(p, p->drawing.piece ? NULL : p->lines, t->lane, row, err);
    *row = make_row(w->processes[t->process].pid, w->host_rows[p->drawing.event.index]);
    return ROCL_OK;
}

/* Work of agents that are not GPUs is shown with its process. Rows have names like "Stream 1 (pid
 * 12) (2)" and are ordered by kind, then stream or queue, then lane: 4, 17 and 10 bits. */
static rocl_status define_work(chrome_drawing *p, const rocl_track *t, uint64_t *row,
                               rocl_error *err)
{
    const chrome_numbers *w = &p->sink->numbers;
    char base[160], name[256], whose[40] = "", number[24] = "";
    uint32_t pid = chrome_gpu_pid(w, t->agent), tid;
    const rocl_status st = chrome_number_row(w, p->drawing.at, p->rows++, &tid, err);
    if (st != ROCL_OK)
        return st;
    rocl_work_label(w->trace, w->capture, t, !t->gpu, base, sizeof base);
    if (t->gpu)
        chrome_whose(w, t->process, whose, sizeof whose);
    else
        pid = w->processes[t->process].pid;
    if (t->lane)
        snprintf(number, sizeof number, " (%u)", t->lane + 1);
    const char *unknown = !t->gpu && t->kind <= ROCL_TRACK_QUEUE ? " (unknown agent)" : "";
    rocl_label(name, sizeof name, "%s%s%s%s", base, unknown, whose, number);
    uint32_t id = t->id == ROCL_NONE ? 0 : t->id < 0x1fffe ? t->id + 1 : 0x1ffff;
    uint32_t sort = (uint32_t)t->kind << 27 | id << 10 | (t->lane < 1023 ? t->lane : 1023);
    chrome_describe_row(p->lines, &p->text, pid, tid, name, sort);
    *row = make_row(pid, tid);
    return ROCL_OK;
}

/* ---- the timeline's sink ---- */

static rocl_status begin_sequence(rocl_drawing *base, int64_t from, rocl_error *err)
{
    chrome_drawing *p = drawing_of(base);
    (void)from, (void)err;
    p->counter_count = 0;
    p->rows = 0;
    return ROCL_OK;
}

static rocl_status define_track(rocl_drawing *base, const rocl_track *t, uint64_t *id,
                                rocl_error *err)
{
    chrome_drawing *p = drawing_of(base);
    if (t->kind > ROCL_TRACK_THREAD) {
        /* A counter of the GPU's process, else of its own; "name (unit) (pid 12)" */
        const chrome_numbers *w = &p->sink->numbers;
        const rocl_capture *capture = w->capture;
        const rocl_counter *k = t->id < capture->counter_count ? &capture->counters[t->id] : NULL;
        char words[96] = "", place[ROCL_PLACE_LABEL_MAX] = "", name[384], whose[40] = "";
        bool bytes = t->kind == ROCL_TRACK_ALLOCATED;
        const char *unit = bytes ? "bytes" : k ? rocl_str(w->trace, k->units) : "";
        if (!ROCL_GROW(p->counters, p->counter_cap, p->counter_count + (size_t)1))
            return rocl_fail_memory(err);
        chrome_counter *s = &p->counters[p->counter_count];
        *id = p->counter_count++;
        s->name.len = 0;
        s->process = 0;
        s->pid = bytes ? 0 : chrome_gpu_pid(w, t->agent);
        if (s->pid) {
            chrome_whose(w, t->process, whose, sizeof whose);
            s->process = *whose ? w->processes[t->process].pid : 0;
        } else {
            s->pid = w->processes[t->process].pid;
            rocl_agent_label(capture, t->agent, words, sizeof words);
        }
        if (t->kind == ROCL_TRACK_SAMPLES)
            rocl_place_label(t->place, place);
        rocl_label(name, sizeof name, "%s%s%s%s%s", t->spm ? "SPM " : "", words,
                   words[0] ? " " : "",
                   bytes ? "allocated"
                   : k   ? rocl_str(w->trace, k->name)
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
    return (t->kind == ROCL_TRACK_THREAD ? define_thread : define_work)(p, t, id, err);
}

/* An end of an arrow, at its time or at the begin of its slice. Numbers count in each capture. */
static void put_flow(chrome_drawing *p, uint64_t row, const rocl_flow_mark *f, int64_t time)
{
    static const char phases[] = {
        [ROCL_FLOW_BEGINS] = 's', [ROCL_FLOW_GOES_ON] = 't', [ROCL_FLOW_ENDS] = 'f'};
    const uint32_t texts[] = {f->name, f->category};
    static const char *const keys[] = {"{\"name\":\"", "\",\"cat\":\""};
    const chrome_numbers *w = &p->sink->numbers;
    rocl_buf *b = &p->text;
    b->len = 0;
    for (unsigned i = 0; i < 2; i++) {
        size_t n;
        const char *text = rocl_text(w->trace, texts[i], &n);
        rocl_buf_str(b, keys[i]);
        rocl_json_put(b, text, n);
    }
    rocl_buf_printf(
        b, "\",\"ph\":\"%c\",\"id\":\"0x%" PRIx64 "\",\"pid\":%u,\"tid\":%u,\"ts\":%c%s}",
        phases[f->end], rocl_mix64(rocl_mix64(f->flow) ^ w->capture->index), (unsigned)(row >> 32),
        (unsigned)row, CHROME_TIME, f->end == ROCL_FLOW_ENDS ? ",\"bp\":\"e\"" : "");
    chrome_put_text(p->lines, time, b);
}

static rocl_status put_lone_flow(rocl_drawing *p, uint64_t row, const rocl_flow_mark *f,
                                 rocl_error *err)
{
    (void)err;
    put_flow(drawing_of(p), row, f, f->time);
    return ROCL_OK;
}

static rocl_status put_event(rocl_drawing *base, uint64_t row, rocl_error *err)
{
    chrome_drawing *p = drawing_of(base);
    const rocl_track_event *e = &base->event;
    chrome_line line = {.pid = (uint32_t)(row >> 32),
                        .tid = (uint32_t)row,
                        .link = (uint8_t)rocl_timeline_link(base)};
    (void)err;
    chrome_put_event(p->lines, &line, &base->record, e->name == ROCL_NONE ? 0 : e->name);
    for (uint32_t i = 0; i < base->flow_count && e->kind != ROCL_INSTANT; i++)
        put_flow(p, row, &base->flows[i], e->time);
    return ROCL_OK;
}

static void put_value(rocl_drawing *base, uint64_t counter, int64_t time, double v)
{
    const chrome_drawing *p = drawing_of(base);
    const chrome_counter *c = &p->counters[counter];
    chrome_put_value(p->lines, (chrome_row){c->pid, c->process}, time, v, &c->name);
}

const rocl_timeline_ops chrome_timeline_ops = {.link_slices = true,
                                               .begin = begin_sequence,
                                               .define = define_track,
                                               .call = put_event,
                                               .work = put_event,
                                               .instant = put_event,
                                               .flow = put_lone_flow,
                                               .value = put_value};

/* ---- drawings ---- */

/* Bytes of text of an event or a value, about. */
enum { EVENT_BYTES = 220, VALUE_BYTES = 110, LEAST_BYTES = 2 << 20 };

static uint64_t estimate_bytes(const rocl_sequence *s)
{
    const bool slices = rocl_sequence_kind_of(s->number) <= ROCL_SEQUENCE_MEMORY;
    return s->records * (slices ? EVENT_BYTES : VALUE_BYTES);
}

static void open_drawing(rocl_drawing *base, void *sink)
{
    chrome_drawing *p = drawing_of(base);
    p->sink = sink;
    p->own = (chrome_lines){.trace = p->sink->trace,
                            .head = {.capture = p->sink->numbers.capture->index}};
}

/* Lanes that only this piece has are described with the file's next lines. */
static void close_drawing(rocl_drawing *base, uint64_t lanes)
{
    chrome_drawing *p = drawing_of(base);
    const uint64_t here = base->counts.lanes - base->lanes_before;
    base->at = base->cut;
    for (uint64_t row, lane = lanes + 1; base->piece && lane <= here; lane++)
        define_lane(p, chrome_stream_lines(&p->sink->stream), lane, &row, NULL);
    for (size_t i = 0; i < p->counter_cap; i++)
        rocl_buf_free(&p->counters[i].name);
    free(p->counters);
    rocl_buf_free(&p->text);
}

static void begin_block(rocl_drawing *base, rocl_buf *block)
{
    chrome_drawing *p = drawing_of(base);
    p->lines = block ? &p->own : chrome_stream_lines(&p->sink->stream);
    if (block)
        chrome_begin_block(p->lines, block);
    base->filled = &p->lines->weight;
}

static rocl_status flush_stream(void *sink, bool all, rocl_error *err)
{
    return chrome_stream_flush(&((chrome_sink *)sink)->stream, all, err);
}

const rocl_drawing_ops chrome_drawing_ops = {.drawing_size = sizeof(chrome_drawing),
                                             .weigh = estimate_bytes,
                                             .least = LEAST_BYTES,
                                             .full = CHROME_BLOCK_WEIGHT,
                                             .open = open_drawing,
                                             .close = close_drawing,
                                             .begin_block = begin_block,
                                             .flush = flush_stream};
