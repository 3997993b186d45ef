/* What the ranks of a team tell each other of a Chrome trace:
 *
 *     rank 0                              rank r
 *              -- ASK -->
 *              <-- ANSWER times, first capture with lines, GPUs --
 *              -- ASK base, first capture with lines -->
 *
 * Then each makes the text of its lines, and commits. */
#include "base/error.h"
#include "sink/chrome/chrome.h"

#include <stdlib.h>

static rocl_status hear_rank(void *ctx, unsigned rank, rocl_byte_reader *r, rocl_error *err)
{
    chrome_sink *c = ((void **)ctx)[0];
    chrome_span *all = ((void **)ctx)[1];
    (void)rank;
    const int64_t first = rocl_unzigzag(rocl_next_number(r));
    const int64_t last = rocl_unzigzag(rocl_next_number(r));
    const uint32_t begins = (uint32_t)rocl_next_number(r);
    all->first = first < all->first ? first : all->first;
    all->last = last > all->last ? last : all->last;
    c->begins = begins < c->begins ? begins : c->begins;
    const uint8_t *seen = rocl_next_bytes(r, c->numbers.trace->gpu_count);
    for (size_t i = 0; seen && i < c->numbers.trace->gpu_count; i++)
        if (seen[i])
            c->numbers.gpu_seen[i] = true;
    return r->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

rocl_status chrome_team_hear(chrome_sink *c, chrome_span *all, rocl_error *err)
{
    rocl_buf b = {0};
    void *ctx[] = {c, all};
    rocl_buf_byte(&b, ROCL_TEAM_ASK);
    const rocl_status st = rocl_joint_ask_all(c->trace->joint, &b, err);
    rocl_buf_free(&b);
    return st ? st : rocl_joint_hear(c->trace->joint, hear_rank, ctx, err);
}

rocl_status chrome_team_tell(const chrome_sink *c, rocl_error *err)
{
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_ASK);
    rocl_buf_varint(&b, rocl_zigzag(c->stream.base));
    rocl_buf_varint(&b, c->begins);
    const rocl_status st = rocl_joint_ask_all(c->trace->joint, &b, err);
    rocl_buf_free(&b);
    return st;
}

rocl_status chrome_team_answer(chrome_sink *c, const chrome_span *own, rocl_error *err)
{
    rocl_byte_reader r;
    rocl_status st = rocl_joint_next_question(c->trace->joint, &r, err);
    if (st == ROCL_OK) {
        rocl_buf b = {0};
        rocl_buf_byte(&b, ROCL_TEAM_ANSWER);
        rocl_buf_varint(&b, rocl_zigzag(own->first));
        rocl_buf_varint(&b, rocl_zigzag(own->last));
        rocl_buf_varint(&b, c->begins);
        for (size_t i = 0; i < c->numbers.trace->gpu_count; i++)
            rocl_buf_byte(&b, c->numbers.gpu_seen[i]);
        st = rocl_joint_answer(c->trace->joint, &b, err);
        rocl_buf_free(&b);
    }
    if (st == ROCL_OK)
        st = rocl_joint_end_answer(c->trace->joint, err);
    if (st == ROCL_OK)
        st = rocl_joint_next_question(c->trace->joint, &r, err);
    if (st != ROCL_OK)
        return st;
    chrome_stream_set_base(&c->stream, rocl_unzigzag(rocl_next_number(&r)));
    c->begins = (uint32_t)rocl_next_number(&r);
    return r.bad ? rocl_team_bad_message(err) : ROCL_OK;
}
