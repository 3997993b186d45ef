/* Lines as they wait, packed: most are of the row of the line before, and neither long nor of long
 * work.
 *
 *     u32      0..15 size of the body, 16..17 op, 18..19 link, 20..22 sequence, 23..26 kind, flags
 *     u32 x 2  pid, tid; if it is of another row
 *     u32      size; if it is long
 *     u64      time
 *     u32      end - time; u64 if it is long */
#include "sink/chrome/chrome.h"

enum { OP = 16, LINK = 18, SEQUENCE = 20, KIND = 23 };
enum { OTHER_ROW = 1 << 27, LONG_BODY = 1 << 28, LONG_WORK = 1 << 29 };

_Static_assert(CHROME_VALUE < 4 && ROCL_LINK_WORK < 4 && ROCL_SEQUENCE_SAMPLED < 8, "they fit");

static uint8_t *put_u32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static uint8_t *put_u64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static const uint8_t *get_u32(const uint8_t *p, uint32_t *v)
{
    memcpy(v, p, sizeof *v);
    return p + sizeof *v;
}

static const uint8_t *get_u64(const uint8_t *p, uint64_t *v)
{
    memcpy(v, p, sizeof *v);
    return p + sizeof *v;
}

size_t chrome_line_put(uint8_t *to, const chrome_line *line, chrome_row *row)
{
    const uint64_t duration = (uint64_t)line->end - (uint64_t)line->time;
    const bool other = line->pid != row->pid || line->tid != row->tid;
    const bool body = line->size > UINT16_MAX, work = duration > UINT32_MAX;
    uint8_t *p =
        put_u32(to, (body ? (uint32_t)LONG_BODY : line->size) | (uint32_t)line->op << OP |
                        (uint32_t)line->link << LINK | (uint32_t)line->sequence << SEQUENCE |
                        (uint32_t)line->kind << KIND | (other ? (uint32_t)OTHER_ROW : 0) |
                        (work ? (uint32_t)LONG_WORK : 0));
    if (other)
        p = put_u32(put_u32(p, line->pid), line->tid);
    if (body)
        p = put_u32(p, line->size);
    p = put_u64(p, (uint64_t)line->time);
    p = work ? put_u64(p, duration) : put_u32(p, (uint32_t)duration);
    *row = (chrome_row){line->pid, line->tid};
    return (size_t)(p - to);
}

const uint8_t *chrome_line_get(const uint8_t *p, chrome_line *line, chrome_row *row)
{
    uint32_t word, few;
    uint64_t time, duration;
    p = get_u32(p, &word);
    if (word & OTHER_ROW)
        p = get_u32(get_u32(p, &row->pid), &row->tid);
    *line = (chrome_line){.size = word & UINT16_MAX,
                          .pid = row->pid,
                          .tid = row->tid,
                          .op = word >> OP & 3,
                          .link = word >> LINK & 3,
                          .sequence = word >> SEQUENCE & 7,
                          .kind = word >> KIND & 15};
    if (word & LONG_BODY)
        p = get_u32(p, &line->size);
    p = get_u64(p, &time);
    if (word & LONG_WORK) {
        p = get_u64(p, &duration);
    } else {
        p = get_u32(p, &few);
        duration = few;
    }
    line->time = (int64_t)time;
    line->end = (int64_t)(time + duration);
    return p;
}
