/* Gaps between profile lines, device by device: the time from the end of an event to the start of
 * the next one, negative where they overlap in part; events wholly inside the one before do not
 * count. The arithmetic is that of doubles, in µs, as the script's. */
#include "legacy/rtg_timeline/timeline.h"

#include <inttypes.h>

#include "base/num.h"

typedef struct gap_event {
    uint64_t device;
    double ts, dur;
} gap_event;

static void put_gap(rocl_buf *b, uint64_t device, double start, double duration)
{
    static const struct {
        double below;
        const char *name;
    } names[] = {{10, "gap10"},     {20, "gap20"},       {50, "gap50"},         {100, "gap100"},
                 {1000, "gap1000"}, {10000, "gap10000"}, {100000, "gap100000"}, {0, "gapHUGE"}};
    size_t i = 0;
    while (i + 1 < sizeof names / sizeof *names && !(duration < names[i].below))
        i++;
    rocl_buf_str(b, "{\"name\":\"");
    rocl_buf_str(b, names[i].name);
    rocl_buf_str(b, "\", \"ph\":\"X\", \"ts\":");
    rocl_repr_put(b, start);
    rocl_buf_str(b, ", \"dur\":");
    rocl_repr_put(b, duration);
    rocl_buf_str_u64(b, ", \"pid\":-", device + 1001);
    rocl_buf_str(b, ", \"tid\":0},\n");
}

rocl_status tl_gaps_write(rocl_sorter *gaps, tl_gap_counts *counts, tl_writer *to, rocl_error *err)
{
    rocl_buf *b = &to->text;
    gap_event held = {0};
    bool holding = false, more = true;
    bool begun = false, any_end = false; /* any_end: that of an event of the device is known */
    uint64_t device = 0;
    double end = 0;
    rocl_sort_record r;
    rocl_status st = rocl_sorter_start(gaps, err);
    while (st == ROCL_OK && more && (st = rocl_sorter_next(gaps, &r, &more, err)) == ROCL_OK) {
        gap_event e = {0};
        if (more) {
            uint64_t start = r.key[1], stop;
            memcpy(&stop, r.data, sizeof stop);
            double dur = stop < start ? -rocl_py_us(start - stop) : rocl_py_us(stop - start);
            e = (gap_event){~r.key[0], rocl_py_us(start), dur};
        }
        if (more && holding && e.device == held.device && e.ts == held.ts) {
            counts->duplicate++; /* of one start the longest counts */
            held.dur = e.dur > held.dur ? e.dur : held.dur;
            continue;
        }
        const double stop = held.ts + held.dur;
        if (holding && (!begun || device != held.device)) {
            begun = true;
            device = held.device;
            any_end = false;
            rocl_buf_printf(b,
                            "{\"name\":\"process_name\", \"ph\":\"M\", \"pid\":-%" PRIu64
                            ", \"args\":{\"name\":\"GAP GPU %" PRIu64 "\"}},\n",
                            device + 1001, device);
        }
        if (holding && any_end && held.ts < end && stop < end) {
            counts->wrapped++;
        } else if (holding) {
            if (any_end) {
                counts->okay++;
                put_gap(b, device, end, held.ts - end);
            }
            end = stop;
            any_end = end != 0; /* an end of 0 counts as none */
        }
        held = e;
        holding = more;
        st = tl_write_text(to, err);
    }
    return st;
}
