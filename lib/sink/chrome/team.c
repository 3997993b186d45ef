/* What the ranks of a team tell each other of a Chrome trace:
 *
 *     rank 0                              rank r
 *              -- ASK -->
 *              <-- ANSWER times, captures: rows, GPUs --
 *              -- ASK base, first GPUs, first rows -->
 *
 * Then each makes the text of its lines, and commits. */
#include "base/error.h"
#include "sink/chrome/chrome.h"

#include <stdlib.h>

static rocl_status hear_captures(void *ctx, unsigned rank, rocl_team_reader *r, rocl_error *err)
{
    chrome_sink *c = ((void **)ctx)[0];
    chrome_span *all = ((void **)ctx)[1];
    (void)rank;
    const int64_t first = rocl_unzigzag(rocl_team_number(r));
    const int64_t last = rocl_unzigzag(rocl_team_number(r));
    all->first = first < all->first ? first : all->first;
    all->last = last > all->last ? last : all->last;
    for (uint64_t n = rocl_team_number(r); n && !r->bad; n--) {
        const uint64_t index = rocl_team_number(r);
        if (index >= c->trace->capture_count || c->captures[index].drawn)
            return rocl_team_bad_message(err);
        chrome_capture *at = &c->captures[index];
        at->drawn = true;
        at->new_rows = (uint32_t)rocl_team_number(r);
        const uint64_t gpus = rocl_team_number(r);
        if (r->bad || gpus > c->world.gpus.count)
            return rocl_team_bad_message(err);
        if (!(at->gpus = calloc(gpus + 1, sizeof *at->gpus)))
            return rocl_fail_memory(err);
        for (; at->gpu_count < gpus; at->gpu_count++) {
            const uint64_t gpu = rocl_team_number(r);
            r->bad |= gpu >= c->world.gpus.count;
            at->gpus[at->gpu_count] = r->bad ? 0 : (uint32_t)gpu;
        }
    }
    return r->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

rocl_status chrome_team_hear(chrome_sink *c, chrome_span *all, rocl_error *err)
{
    rocl_buf b = {0};
    void *ctx[] = {c, all};
    rocl_buf_byte(&b, ROCL_TEAM_ASK);
    const rocl_status st = rocl_parts_ask_all(c->trace->parts, &b, err);
    rocl_buf_free(&b);
    return st ? st : rocl_parts_hear(c->trace->parts, hear_captures, ctx, err);
}

rocl_status chrome_team_tell(const chrome_sink *c, const uint32_t *first_rows, uint32_t begins,
                             rocl_error *err)
{
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_ASK);
    rocl_buf_varint(&b, rocl_zigzag(c->stream.base));
    rocl_buf_varint(&b, begins);
    for (size_t i = 0; i < c->world.gpus.count; i++)
        rocl_buf_varint(&b, c->world.gpu_first[i]);
    for (size_t i = 0; i < c->trace->capture_count; i++)
        rocl_buf_varint(&b, first_rows[i]);
    const rocl_status st = rocl_parts_ask_all(c->trace->parts, &b, err);
    rocl_buf_free(&b);
    return st;
}

static rocl_status send_captures(const chrome_sink *c, const chrome_span *own, rocl_error *err)
{
    rocl_buf b = {0}, list = {0};
    uint64_t n = 0;
    for (size_t i = 0; i < c->trace->capture_count; i++) {
        const chrome_capture *at = &c->captures[i];
        if (!at->drawn)
            continue;
        n++;
        rocl_buf_varint(&list, i);
        rocl_buf_varint(&list, at->new_rows);
        rocl_buf_varint(&list, at->gpu_count);
        for (size_t k = 0; k < at->gpu_count; k++)
            rocl_buf_varint(&list, at->gpus[k]);
    }
    rocl_buf_byte(&b, ROCL_TEAM_ANSWER);
    rocl_buf_varint(&b, rocl_zigzag(own->first));
    rocl_buf_varint(&b, rocl_zigzag(own->last));
    rocl_buf_varint(&b, n);
    rocl_buf_put(&b, list.data, list.len);
    rocl_buf_free_into(&list, &b);
    const rocl_status st = rocl_parts_answer(c->trace->parts, &b, err);
    return st ? st : rocl_parts_end_answer(c->trace->parts, err);
}

rocl_status chrome_team_answer(chrome_sink *c, const chrome_span *own, uint32_t *first_rows,
                               uint32_t *begins, rocl_error *err)
{
    rocl_team_reader r;
    rocl_status st = rocl_parts_next_question(c->trace->parts, &r, err);
    if (st == ROCL_OK)
        st = send_captures(c, own, err);
    if (st == ROCL_OK)
        st = rocl_parts_next_question(c->trace->parts, &r, err);
    if (st != ROCL_OK)
        return st;
    chrome_stream_set_base(&c->stream, rocl_unzigzag(rocl_team_number(&r)));
    *begins = (uint32_t)rocl_team_number(&r);
    for (size_t i = 0; i < c->world.gpus.count; i++)
        c->world.gpu_first[i] = (uint32_t)rocl_team_number(&r);
    for (size_t i = 0; i < c->trace->capture_count; i++)
        first_rows[i] = (uint32_t)rocl_team_number(&r);
    return r.bad ? rocl_team_bad_message(err) : ROCL_OK;
}
