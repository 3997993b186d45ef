/* Lines as they wait, packed: most are of the row of the line before, and not of long work.
 *
 *     u32, u8 x 4   size of the body, op with flags, link, sequence, kind: as a chrome_line begins
 *     u32 x 2       pid, tid; if it is of another row
 *     u64           time
 *     u32           end - time; u64 if it is long */
#include "sink/chrome/chrome.h"

#include <stddef.h>

enum { OTHER_ROW = 64, LONG_WORK = 128, OP = OTHER_ROW - 1 };
enum { HEAD = offsetof(chrome_line, pid) };

_Static_assert(HEAD == 8 && sizeof(chrome_row) == 8, "they are copied");

size_t chrome_line_put(uint8_t *to, const chrome_line *line, chrome_row *row)
{
    const uint64_t duration = (uint64_t)line->end - (uint64_t)line->time;
    const uint32_t few = (uint32_t)duration;
    uint8_t *p = to + HEAD, *op = to + offsetof(chrome_line, op);
    memcpy(to, line, HEAD);
    if (line->pid != row->pid || line->tid != row->tid) {
        *op |= OTHER_ROW;
        *row = (chrome_row){line->pid, line->tid};
        memcpy(p, row, sizeof *row);
        p += sizeof *row;
    }
    memcpy(p, &line->time, sizeof line->time);
    p += sizeof line->time;
    if (few == duration) {
        memcpy(p, &few, sizeof few);
        return (size_t)(p - to) + sizeof few;
    }
    *op |= LONG_WORK;
    memcpy(p, &duration, sizeof duration);
    return (size_t)(p - to) + sizeof duration;
}

const uint8_t *chrome_line_get(const uint8_t *p, chrome_line *line, chrome_row *row)
{
    uint32_t few;
    uint64_t duration;
    memcpy(line, p, HEAD);
    p += HEAD;
    if (line->op & OTHER_ROW) {
        memcpy(row, p, sizeof *row);
        p += sizeof *row;
    }
    line->pid = row->pid;
    line->tid = row->tid;
    memcpy(&line->time, p, sizeof line->time);
    p += sizeof line->time;
    if (line->op & LONG_WORK) {
        memcpy(&duration, p, sizeof duration);
        p += sizeof duration;
    } else {
        memcpy(&few, p, sizeof few);
        p += sizeof few;
        duration = few;
    }
    line->end = (int64_t)((uint64_t)line->time + duration);
    line->op &= OP;
    return p;
}
