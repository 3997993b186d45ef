/* Host calls, markers and marks, on the rows of their threads. */
#include <stdio.h>

#include "sink/chrome/chrome.h"

typedef struct host {
    chrome_sink *c;
    rocl_lanes lanes;
    uint32_t process, pid, tid;
} host;

static void open_thread(host *h, chrome_sink *c)
{
    const rocl_capture *capture = c->world.capture;
    uint32_t index = c->event.index, thread = ROCL_NONE;
    *h = (host){.c = c, .lanes = {.nest = true}};
    h->process = index >= capture->thread_count ? index - capture->thread_count : 0;
    if (index < capture->thread_count) {
        thread = index;
        if (capture->threads[index].process != ROCL_NONE)
            h->process = capture->threads[index].process;
    }
    h->pid = chrome_pid(&c->world, h->process);
    h->tid = chrome_tid(&c->world, h->process, thread);
}

static uint32_t new_lane(host *h, bool extra)
{
    char name[64];
    uint32_t tid = h->tid;
    if (extra) {
        snprintf(name, sizeof name, "overlapping calls of %u (%u)", h->tid, h->lanes.count + 1);
        tid = chrome_new_row(&h->c->world, h->pid, name, INT32_MAX);
        h->c->report.lanes++;
    }
    return rocl_lanes_add(&h->lanes, 0, tid);
}

static rocl_status write_slice(host *h, rocl_error *err)
{
    bool extra;
    rocl_open_slice ended;
    while (rocl_lanes_close(&h->lanes, h->c->event.time, &ended))
        ;
    uint32_t lane = rocl_lanes_find(&h->lanes, 0, h->c->event.end, &extra);
    if (lane == ROCL_NONE)
        lane = new_lane(h, extra);
    if (lane == ROCL_NONE || !rocl_lanes_push(&h->lanes, lane, h->c->event.end))
        return rocl_fail_memory(err);
    h->c->report.slices++;
    h->c->report.moved += lane > 0;
    chrome_event(h->c, h->pid, (uint32_t)h->lanes.lanes[lane].track);
    return ROCL_OK;
}

rocl_status chrome_write_host(chrome_sink *c, rocl_error *err)
{
    host h;
    uint32_t index = c->event.index;
    rocl_status st = ROCL_OK;
    open_thread(&h, c);
    while (st == ROCL_OK && chrome_same(c, ROCL_SEQUENCE_HOST, index)) {
        /* Only slices can have arrows: a mark with one becomes a slice without duration. */
        if (c->event.kind == ROCL_INSTANT && !chrome_flow(c))
            chrome_event(c, h.pid, h.tid);
        else
            st = write_slice(&h, err);
        if (st == ROCL_OK)
            st = chrome_next(c, err);
    }
    rocl_lanes_free(&h.lanes);
    return st;
}
