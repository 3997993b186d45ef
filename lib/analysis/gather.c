/* Questions of rank 0 and the answers of the others: see gather.h. */
#include "analysis/gather.h"

#include <stdlib.h>

#include "base/array.h"

/* Bytes of an answer after which it is cut. */
#define PIECE ((size_t)1 << 20)

/* In the place of a collector: calls are to be looked up. */
#define CALLS UINT64_C(0)

typedef struct text_map {
    uint32_t *ids; /* ours by theirs */
    size_t cap;
} text_map;

struct rocl_gather {
    rocl_trace *trace;
    rocl_collector *const *collectors;
    unsigned count;
    text_map *maps; /* on rank 0: by rank */
    /* On another rank: */
    uint8_t *sent; /* by text: rank 0 has it */
    size_t sent_cap;
    rocl_buf fresh; /* texts that rank 0 has not: id, length, bytes of each */
    uint64_t fresh_count;
    unsigned at; /* the collector that answers */
};

rocl_status rocl_gather_new(rocl_gather **g, rocl_trace *t, rocl_collector *const *collectors,
                            unsigned count, rocl_error *err)
{
    rocl_gather *made = *g = calloc(1, sizeof *made);
    if (!made)
        return rocl_fail_memory(err);
    *made = (rocl_gather){.trace = t, .collectors = collectors, .count = count};
    if (!rocl_parts_leads(t->parts))
        return ROCL_OK;
    made->maps = calloc(rocl_team_size(t->opt.team), sizeof *made->maps);
    return made->maps ? ROCL_OK : rocl_fail_memory(err);
}

void rocl_gather_free(rocl_gather *g)
{
    if (!g)
        return;
    for (unsigned r = 0; g->maps && r < rocl_team_size(g->trace->opt.team); r++)
        free(g->maps[r].ids);
    free(g->maps);
    free(g->sent);
    rocl_buf_free(&g->fresh);
    free(g);
}

/* ---- on rank 0 ------------------------------------------------------------------------------- */

static rocl_status take_texts(rocl_gather *g, unsigned rank, rocl_team_reader *from,
                              rocl_error *err)
{
    text_map *m = &g->maps[rank];
    for (uint64_t n = rocl_team_number(from); n && !from->bad; n--) {
        const uint64_t id = rocl_team_number(from), len = rocl_team_number(from);
        const uint8_t *p = rocl_team_bytes(from, len);
        if (!p || id >= ROCL_NONE)
            return rocl_team_bad_message(err);
        if (!ROCL_GROW(m->ids, m->cap, (size_t)id + 1))
            return rocl_fail_memory(err);
        m->ids[id] = rocl_strings_put(g->trace->strings, (const char *)p, len);
    }
    return from->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

static rocl_status hear_piece(void *ctx, unsigned rank, rocl_team_reader *answer, rocl_error *err)
{
    rocl_gather *g = ctx;
    rocl_status st = take_texts(g, rank, answer, err);
    const uint64_t number = rocl_team_number(answer);
    if (st != ROCL_OK)
        return st;
    if (number >= g->count || !g->collectors[number])
        return rocl_team_bad_message(err);
    rocl_collector *c = g->collectors[number];
    rocl_taken taken = {*answer, g->maps[rank].ids, g->maps[rank].cap};
    st = c->def->gather->hear(c, rank, &taken, err);
    return st == ROCL_OK && taken.r.bad ? rocl_team_bad_message(err) : st;
}

/* What all collectors ask of a rank. *any: that is something. */
static rocl_status ask_rank(rocl_gather *g, rocl_gather_stage stage, unsigned round, unsigned rank,
                            bool *any, rocl_error *err)
{
    rocl_put question = {.g = g};
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_ASK);
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < g->count && st == ROCL_OK; i++) {
        rocl_collector *c = g->collectors[i];
        question.b.len = 0;
        if (c)
            st = c->def->gather->ask(c, stage, round, rank, &question, err);
        if (!question.b.len)
            continue;
        rocl_buf_varint(&b, i + 1);
        rocl_buf_varint(&b, question.b.len);
        rocl_buf_put(&b, question.b.data, question.b.len);
    }
    rocl_buf_free_into(&question.b, &b);
    const bool asks = b.len > 1;
    if (st == ROCL_OK && (asks || b.failed))
        st = rocl_parts_ask(g->trace->parts, rank, &b, err);
    *any |= asks;
    rocl_buf_free(&b);
    return st;
}

/* A function of all collectors that have it. */
#define EACH(g, function, ...)                                                                     \
    for (unsigned i = 0; i < (g)->count && st == ROCL_OK; i++)                                     \
        if ((g)->collectors[i] && (g)->collectors[i]->def->gather->function)                       \
            st = (g)->collectors[i]->def->gather->function((g)->collectors[i], __VA_ARGS__);

rocl_status rocl_gather_run(rocl_gather *g, rocl_gather_stage stage, rocl_error *err)
{
    rocl_parts *p = g->trace->parts;
    rocl_status st = ROCL_OK;
    bool any = true;
    for (unsigned round = 0; any && st == ROCL_OK; round++) {
        any = false;
        EACH(g, prepare, stage, round, err)
        for (unsigned r = 1; r < rocl_team_size(g->trace->opt.team) && st == ROCL_OK; r++)
            if (rocl_parts_reads(p, r))
                st = ask_rank(g, stage, round, r, &any, err);
        if (any)
            EACH(g, answer_own, stage, round, err)
        if (st == ROCL_OK && any)
            st = rocl_parts_hear(p, hear_piece, g, err);
    }
    return st;
}

rocl_status rocl_gather_look_up_calls(rocl_gather *g, rocl_look_up_fn *look_up_calls, void *ctx,
                                      rocl_error *err)
{
    rocl_buf b = {0};
    rocl_status st = ROCL_OK;
    rocl_buf_byte(&b, ROCL_TEAM_ASK);
    rocl_buf_varint(&b, CALLS);
    for (unsigned r = 1; r < rocl_team_size(g->trace->opt.team) && st == ROCL_OK; r++)
        if (rocl_parts_reads(g->trace->parts, r))
            st = rocl_parts_ask(g->trace->parts, r, &b, err);
    rocl_buf_free(&b);
    if (st == ROCL_OK)
        st = look_up_calls(ctx, err);
    return st == ROCL_OK ? rocl_parts_hear(g->trace->parts, hear_piece, g, err) : st;
}

/* ---- on another rank ------------------------------------------------------------------------- */

void rocl_put_text(rocl_put *p, uint32_t text)
{
    rocl_gather *g = p->g;
    rocl_put_number(p, (uint32_t)(text + 1));
    if (text == 0 || text == ROCL_NONE)
        return;
    if (!ROCL_GROW(g->sent, g->sent_cap, (size_t)text + 1)) {
        p->b.failed = true;
        return;
    }
    if (g->sent[text])
        return;
    size_t len;
    const char *bytes = rocl_strings_get(g->trace->strings, text, &len);
    g->sent[text] = 1;
    rocl_buf_varint(&g->fresh, text);
    rocl_team_put_text(&g->fresh, bytes, len);
    g->fresh_count++;
}

static rocl_status send_piece(rocl_put *p, rocl_error *err)
{
    rocl_gather *g = p->g;
    rocl_buf b = {0};
    rocl_buf_byte(&b, ROCL_TEAM_ANSWER);
    rocl_buf_varint(&b, g->fresh_count);
    rocl_buf_put(&b, g->fresh.data, g->fresh.len);
    rocl_buf_varint(&b, g->at);
    rocl_buf_put(&b, p->b.data, p->b.len);
    b.failed |= g->fresh.failed || p->b.failed;
    g->fresh.len = 0;
    g->fresh_count = 0;
    p->b.len = 0;
    return rocl_parts_answer(g->trace->parts, &b, err);
}

rocl_status rocl_put_piece(rocl_put *p, rocl_error *err)
{
    return p->b.len >= PIECE || p->b.failed ? send_piece(p, err) : ROCL_OK;
}

static rocl_status answer_one(rocl_gather *g, uint64_t number, rocl_taken *question,
                              rocl_error *err)
{
    rocl_put to = {.g = g};
    if (number >= g->count || !g->collectors[number])
        return rocl_team_bad_message(err);
    rocl_collector *c = g->collectors[number];
    g->at = (unsigned)number;
    rocl_status st = c->def->gather->answer(c, question, &to, err);
    if (st == ROCL_OK && question->r.bad)
        st = rocl_team_bad_message(err);
    if (st == ROCL_OK && (to.b.len || to.b.failed))
        st = send_piece(&to, err);
    rocl_buf_free(&to.b);
    return st;
}

rocl_status rocl_gather_answer(rocl_gather *g, rocl_look_up_fn *look_up_calls, void *ctx,
                               rocl_error *err)
{
    rocl_parts *p = g->trace->parts;
    rocl_team_reader q;
    rocl_status st = rocl_parts_question(p, &q, err);
    while (st == ROCL_OK && q.p) {
        while (st == ROCL_OK && q.p < q.end && !q.bad) {
            const uint64_t number = rocl_team_number(&q);
            if (number == CALLS) {
                st = look_up_calls(ctx, err);
                continue;
            }
            const uint64_t len = rocl_team_number(&q);
            const uint8_t *bytes = rocl_team_bytes(&q, len);
            rocl_taken question = {{bytes, bytes ? bytes + len : NULL, !bytes}, NULL, 0};
            st = answer_one(g, number - 1, &question, err);
        }
        rocl_buf end = {0};
        rocl_buf_byte(&end, ROCL_TEAM_ANSWER);
        if (st == ROCL_OK && q.bad)
            st = rocl_team_bad_message(err);
        if (st == ROCL_OK)
            st = rocl_parts_answer(p, &end, err);
        rocl_buf_free(&end);
        if (st == ROCL_OK)
            st = rocl_parts_question(p, &q, err);
    }
    return st;
}
