/* Gaps between profile lines, device by device: the time from the end of an event to the start of
 * the next one, negative where they overlap in part; events wholly inside the one before do not
 * count. The arithmetic is that of doubles, in µs, as the script's. */
#include "legacy/timeline_impl.h"

#include "base/error.h"
#include "base/repr.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

rocl_status tl_gaps_add(tl_worker *w, uint64_t device, uint64_t start, uint64_t stop,
                        rocl_error *err)
{
    /* The highest device comes first. */
    const uint64_t key[4] = {~device, start, w->block, w->gap_count++};
    return rocl_sorter_add(w->gaps, w->number, key, &stop, sizeof stop, err);
}

typedef struct gap_event {
    uint64_t device;
    double ts, dur;
} gap_event;

typedef struct walk {
    rocl_buf *b;
    tl_gap_counts *counts;
    bool begun;   /* some event of the device was met */
    bool any_end; /* and the end of one is known */
    uint64_t device;
    double end;
} walk;

static const char *gap_name(double us)
{
    static const struct {
        double below;
        const char *name;
    } names[] = {{10, "gap10"},     {20, "gap20"},       {50, "gap50"},        {100, "gap100"},
                 {1000, "gap1000"}, {10000, "gap10000"}, {100000, "gap100000"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (us < names[i].below)
            return names[i].name;
    return "gapHUGE";
}

static void put_gap(walk *w, double ts)
{
    char pid[48];
    double dur = ts - w->end;
    rocl_buf_str(w->b, "{\"name\":\"");
    rocl_buf_str(w->b, gap_name(dur));
    rocl_buf_str(w->b, "\", \"ph\":\"X\", \"ts\":");
    rocl_repr_put(w->b, w->end);
    rocl_buf_str(w->b, ", \"dur\":");
    rocl_repr_put(w->b, dur);
    snprintf(pid, sizeof pid, ", \"pid\":-%" PRIu64 ", \"tid\":0},\n", w->device + 1001);
    rocl_buf_str(w->b, pid);
}

static void begin_device(walk *w, uint64_t device)
{
    char text[160];
    w->begun = true;
    w->device = device;
    w->any_end = false;
    snprintf(text, sizeof text,
             "{\"name\":\"process_name\", \"ph\":\"M\", \"pid\":-%" PRIu64
             ", \"args\":{\"name\":\"GAP GPU %" PRIu64 "\"}},\n",
             device + 1001, device);
    rocl_buf_str(w->b, text);
}

static void step(walk *w, const gap_event *e)
{
    double end = e->ts + e->dur;
    if (!w->begun || w->device != e->device)
        begin_device(w, e->device);
    if (!w->any_end) {
        w->end = end;
        w->any_end = end != 0; /* an end of 0 counts as none */
        return;
    }
    if (e->ts < w->end && end < w->end) {
        w->counts->wrapped++;
        return;
    }
    w->counts->okay++;
    put_gap(w, e->ts);
    w->end = end;
    w->any_end = end != 0;
}

static gap_event event_of(const rocl_sort_record *r)
{
    uint64_t start = r->key[1], stop;
    memcpy(&stop, r->data, sizeof stop);
    double dur = stop < start ? -tl_us(start - stop) : tl_us(stop - start);
    return (gap_event){~r->key[0], tl_us(start), dur};
}

rocl_status tl_gaps_put(rocl_sorter *gaps, rocl_buf *b, tl_gap_counts *counts, tl_out *out,
                        rocl_error *err)
{
    walk w = {.b = b, .counts = counts};
    gap_event held = {0};
    bool holding = false, more = true;
    rocl_status st = rocl_sorter_start(gaps, err);
    while (st == ROCL_OK && more) {
        rocl_sort_record r;
        st = rocl_sorter_next(gaps, &r, &more, err);
        if (st != ROCL_OK)
            break;
        gap_event e = more ? event_of(&r) : (gap_event){0};
        if (more && holding && e.device == held.device && e.ts == held.ts) {
            counts->duplicate++; /* of one start the longest counts */
            held.dur = e.dur > held.dur ? e.dur : held.dur;
            continue;
        }
        if (holding)
            step(&w, &held);
        held = e;
        holding = more;
        st = tl_out_take(out, b, err);
    }
    return st;
}
