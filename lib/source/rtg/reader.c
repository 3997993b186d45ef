/* Lines of a range of a file. LF, CR LF and CR end a line. A line belongs to the range in which its
 * first byte is, and is read to its end whatever range that is in. */
#include <stdlib.h>

#include "source/rtg/rtg.h"

rtg_sizes rtg_sizes_used = {.range = (size_t)4 << 20,
                            .block = (size_t)512 << 10,
                            .line_max = (size_t)64 << 20,
                            .batch_max = 1024};

void rtg_reader_begin(rtg_reader *r, const rocl_spool *s, uint64_t begin, uint64_t end)
{
    char *data = r->data;
    size_t cap = r->cap;
    *r = (rtg_reader){.spool = s, .end = end, .data = data, .cap = cap};
    /* The byte before tells whether a line begins at `begin`: the line that it is in is thrown
     * away. */
    r->discard = begin > 0;
    r->offset = begin - r->discard;
}

void rtg_reader_free(rtg_reader *r)
{
    free(r->data);
    r->data = NULL;
}

rocl_status rtg_reader_fill(rtg_reader *r, bool *more, rocl_error *err)
{
    size_t got = 0;
    *more = !r->over && !(r->eof && r->at == r->len && !r->long_line);
    if (!*more)
        return ROCL_OK;
    if (r->at) /* the lines that were handed out are forgotten */
        memmove(r->data, r->data + r->at, r->len - r->at);
    r->offset += r->at;
    r->len -= r->at;
    r->seen -= r->at;
    r->at = 0;
    if (!r->discard && r->len > rtg_sizes_used.line_max) {
        /* The line at hand is longer than allowed: only how it begins is kept. */
        memcpy(r->long_head, r->data, r->len < sizeof r->long_head ? r->len : sizeof r->long_head);
        r->long_offset = r->offset;
        r->long_line = r->discard = true;
    }
    if (r->discard && r->len && r->seen == r->len) { /* nothing in it but that line */
        r->offset += r->len;
        r->len = r->seen = 0;
    }
    /* A byte behind the text may be written to. The rest need not be zero, as ROCL_GROW makes it.
     */
    const size_t need = r->len + rtg_sizes_used.block + 1;
    if (r->cap < need) {
        const size_t cap = need > 2 * r->cap ? need : 2 * r->cap;
        char *data = realloc(r->data, cap);
        if (!data)
            return rocl_fail_memory(err);
        r->data = data;
        r->cap = cap;
    }
    rocl_status st = rocl_spool_read(r->spool, r->data + r->len, rtg_sizes_used.block,
                                     r->offset + r->len, &got, err);
    r->len += got;
    r->eof = got < rtg_sizes_used.block;
    r->cr = 0;
    return st;
}

bool rtg_reader_line(rtg_reader *r, rtg_text *line)
{
    for (;;) {
        if (!r->discard && r->offset + r->at >= r->end) {
            r->over = true;
            return false;
        }
        /* The first line end at or after `seen`; len: none. */
        const char *lf = memchr(r->data + r->seen, '\n', r->len - r->seen);
        if (r->cr < r->seen || !r->cr) {
            const char *cr = memchr(r->data + r->seen, '\r', r->len - r->seen);
            r->cr = cr ? (size_t)(cr - r->data) : r->len;
        }
        size_t end = lf ? (size_t)(lf - r->data) : r->len;
        end = r->cr < end ? r->cr : end;
        size_t next = end + 1;
        bool found = end < r->len;
        if (found && r->data[end] == '\r') {
            if (next < r->len)
                next += r->data[next] == '\n';
            else if (!r->eof)
                found = false; /* an LF may follow */
        }
        if (!found && !r->eof) {
            r->seen = end;
            /* Only what begins in the range is of interest. */
            r->over = r->discard && !r->long_line && r->offset + end > r->end;
            return false;
        }
        if (!found && (r->at == r->len && !r->long_line))
            return false;
        size_t from = r->at;
        r->at = r->seen = found ? next : r->len;
        if (!r->discard) {
            bool too_long = end - from > rtg_sizes_used.line_max;
            *line = (rtg_text){r->data + from, end - from, r->offset + from, found, too_long};
            return true;
        }
        /* Nothing was kept of a line that is thrown away; of one that was too long, its begin. */
        r->discard = false;
        if (r->long_line) {
            r->long_line = false;
            *line = (rtg_text){r->long_head, sizeof r->long_head - 1, r->long_offset, true, true};
            return true;
        }
        if (!found)
            return false;
    }
}
