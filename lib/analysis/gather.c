/* Questions of rank 0 and the answers of the others: see gather.h. */
#include "analysis/gather.h"

#include <stdlib.h>

#include "analysis/percentiles.h"

#include "base/array.h"

/* Bytes of an answer after which it is cut. */
#define PIECE ((size_t)1 << 20)

/* In the place of a collector: calls are to be looked up. */
#define CALLS UINT64_C(0)

/* What a question to a collector is about. */
typedef enum about { OWN, SUMS, VALUES } about;

struct rocl_gather {
    rocl_trace *trace;
    rocl_collector *const *collectors;
    unsigned count;
    /* On rank 0: */
    rocl_taken_texts *texts; /* by rank */
    about about;             /* the subject of this round */
    /* On another rank: */
    uint32_t *numbers; /* by text: of those that rank 0 has, + 1 */
    size_t number_cap;
    uint32_t sent;  /* so many */
    rocl_buf fresh; /* texts that rank 0 has not yet: length and bytes of each */
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
    if (!rocl_joint_leads(t->joint))
        return ROCL_OK;
    made->texts = calloc(rocl_team_size(t->opt.team), sizeof *made->texts);
    return made->texts ? ROCL_OK : rocl_fail_memory(err);
}

void rocl_gather_free(rocl_gather *g)
{
    if (!g)
        return;
    for (unsigned i = 0; g->texts && i < rocl_team_size(g->trace->opt.team); i++)
        free(g->texts[i].ids);
    free(g->texts);
    free(g->numbers);
    rocl_buf_free(&g->fresh);
    free(g);
}

/* ---- on rank 0 ------------------------------------------------------------------------------- */

static rocl_status take_texts(rocl_gather *g, unsigned rank, rocl_byte_reader *from,
                              rocl_error *err)
{
    rocl_taken_texts *m = &g->texts[rank];
    for (uint64_t n = rocl_next_number(from); n && !from->bad; n--) {
        const uint64_t len = rocl_next_number(from);
        const uint8_t *p = rocl_next_bytes(from, len);
        if (!p)
            return rocl_team_bad_message(err);
        if (!ROCL_GROW(m->ids, m->cap, m->count + 1))
            return rocl_fail_memory(err);
        m->ids[m->count++] = rocl_strings_put(g->trace->strings, (const char *)p, len);
    }
    return from->bad ? rocl_team_bad_message(err) : ROCL_OK;
}

static rocl_status hear_piece(void *ctx, unsigned rank, rocl_byte_reader *answer, rocl_error *err)
{
    rocl_gather *g = ctx;
    rocl_status st = take_texts(g, rank, answer, err);
    const uint64_t number = rocl_next_number(answer);
    if (st != ROCL_OK)
        return st;
    if (number >= g->count || !g->collectors[number])
        return rocl_team_bad_message(err);
    rocl_collector *c = g->collectors[number];
    const rocl_gather_def *def = c->def->gather;
    rocl_taken taken = {*answer, &g->texts[rank]};
    st = g->about == OWN    ? def->hear(c, rank, &taken, err)
         : g->about == SUMS ? def->take(c, rank, &taken, err)
                            : rocl_percentiles_hear(def->samples(c), rank, &taken, err);
    return st == ROCL_OK && taken.r.bad ? rocl_team_bad_message(err) : st;
}

/* NULL: it looks for no percentiles. */
static rocl_percentiles *samples_of(rocl_collector *c)
{
    return c->def->gather->samples ? c->def->gather->samples(c) : NULL;
}

/* What all collectors ask of a rank. *any: that is something. */
static rocl_status ask_rank(rocl_gather *g, unsigned round, unsigned rank, bool *any,
                            rocl_error *err)
{
    rocl_put question = {.g = g};
    rocl_buf b = {0};
    rocl_status st = ROCL_OK;
    rocl_buf_byte(&b, ROCL_TEAM_ASK);
    for (unsigned i = 0; i < g->count && st == ROCL_OK; i++) {
        rocl_collector *c = g->collectors[i];
        if (!c)
            continue;
        question.b.len = 0;
        rocl_put_number(&question, g->about);
        const size_t empty = question.b.len;
        if (g->about == OWN && c->def->gather->ask)
            st = c->def->gather->ask(c, round, rank, &question, err);
        if (g->about == VALUES && samples_of(c))
            rocl_percentiles_ask(samples_of(c), rank, &question);
        if (g->about != SUMS && question.b.len == empty)
            continue;
        rocl_buf_varint(&b, i + 1);
        rocl_buf_varint(&b, question.b.len);
        rocl_buf_put(&b, question.b.data, question.b.len);
    }
    rocl_buf_free_into(&question.b, &b);
    const bool asks = b.len > 1;
    if (st == ROCL_OK && (asks || b.failed))
        st = rocl_joint_ask(g->trace->joint, rank, &b, err);
    *any |= asks;
    rocl_buf_free(&b);
    return st;
}

/* Prepares questions; or, while others answer, does the same work here. */
static rocl_status work_here(const rocl_gather *g, unsigned round, bool answers, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (unsigned i = 0; i < g->count && st == ROCL_OK; i++) {
        rocl_collector *c = g->collectors[i];
        const rocl_gather_def *def = c ? c->def->gather : NULL;
        if (def && g->about == VALUES && samples_of(c))
            st = (answers ? rocl_percentiles_answer_own : rocl_percentiles_prepare)(samples_of(c),
                                                                                    err);
        else if (def && g->about == OWN && def->prepare && !answers)
            st = def->prepare(c, round, err);
        else if (def && g->about == SUMS && def->settle && answers)
            st = def->settle(c, err);
    }
    return st;
}

/* Until nothing is asked any more; sums are asked for once. */
static rocl_status run_rounds(rocl_gather *g, about what, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    bool any = true;
    g->about = what;
    for (unsigned round = 0; any && st == ROCL_OK; round++) {
        any = false;
        st = work_here(g, round, false, err);
        for (unsigned r = 1; r < rocl_team_size(g->trace->opt.team) && st == ROCL_OK; r++)
            if (rocl_joint_reads(g->trace->joint, r))
                st = ask_rank(g, round, r, &any, err);
        if (st == ROCL_OK && any)
            st = work_here(g, round, true, err);
        if (st == ROCL_OK && any)
            st = rocl_joint_hear(g->trace->joint, hear_piece, g, err);
        any &= what != SUMS;
    }
    return st;
}

rocl_status rocl_gather_run(rocl_gather *g, rocl_look_up_fn *look_up_calls, void *ctx,
                            rocl_error *err)
{
    rocl_buf b = {0};
    rocl_status st = run_rounds(g, OWN, err);
    rocl_buf_byte(&b, ROCL_TEAM_ASK);
    rocl_buf_varint(&b, CALLS);
    if (st == ROCL_OK) /* all ranks look up calls at once */
        st = rocl_joint_ask_all(g->trace->joint, &b, err);
    rocl_buf_free(&b);
    if (st == ROCL_OK)
        st = look_up_calls(ctx, err);
    if (st == ROCL_OK)
        st = rocl_joint_hear(g->trace->joint, hear_piece, g, err);
    if (st == ROCL_OK)
        st = run_rounds(g, SUMS, err);
    return st == ROCL_OK ? run_rounds(g, VALUES, err) : st;
}

/* ---- on another rank ------------------------------------------------------------------------- */

/* ROCL_NONE is 0, "" is 1, others follow. */
void rocl_put_text(rocl_put *p, uint32_t text)
{
    rocl_gather *g = p->g;
    if (text == 0 || text == ROCL_NONE) {
        rocl_put_number(p, text == 0);
        return;
    }
    if (!ROCL_GROW(g->numbers, g->number_cap, (size_t)text + 1)) {
        p->b.failed = true;
        return;
    }
    if (!g->numbers[text]) {
        size_t len;
        const char *bytes = rocl_strings_get(g->trace->strings, text, &len);
        g->numbers[text] = ++g->sent;
        rocl_team_put_text(&g->fresh, bytes, len);
        g->fresh_count++;
    }
    rocl_put_number(p, (uint64_t)g->numbers[text] + 1);
}

void rocl_put_exact(rocl_put *p, const rocl_exact_sum *s)
{
    rocl_put_bytes(p, s->near, sizeof s->near);
    rocl_put_number(p, s->special);
    rocl_put_number(p, s->far != NULL);
    if (s->far)
        rocl_put_bytes(p, s->far, ROCL_EXACT_FAR * sizeof *s->far);
}

bool rocl_take_exact(rocl_taken *t, rocl_exact_sum *s)
{
    rocl_take_bytes(t, s->near, sizeof s->near);
    s->special = (unsigned)rocl_take_number(t);
    if (!rocl_take_number(t))
        return true;
    s->far = calloc(ROCL_EXACT_FAR, sizeof *s->far);
    if (s->far)
        rocl_take_bytes(t, s->far, ROCL_EXACT_FAR * sizeof *s->far);
    return s->far;
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
    return rocl_joint_answer(g->trace->joint, &b, err);
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
    const rocl_gather_def *def = c->def->gather;
    const uint64_t what = rocl_take_number(question);
    rocl_status st = what == SUMS && def->settle ? def->settle(c, err) : ROCL_OK;
    if (st == ROCL_OK)
        st = what == OWN && def->answer ? def->answer(c, question, &to, err)
             : what == SUMS             ? def->put(c, &to, err)
             : what == VALUES && samples_of(c)
                 ? rocl_percentiles_answer(samples_of(c), question, &to, err)
                 : rocl_team_bad_message(err);
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
    rocl_joint *p = g->trace->joint;
    rocl_byte_reader q;
    rocl_status st = rocl_joint_question(p, &q, err);
    while (st == ROCL_OK && q.p) {
        while (st == ROCL_OK && q.p < q.end && !q.bad) {
            const uint64_t number = rocl_next_number(&q);
            if (number == CALLS) {
                st = look_up_calls(ctx, err);
                continue;
            }
            const uint64_t len = rocl_next_number(&q);
            const uint8_t *bytes = rocl_next_bytes(&q, len);
            rocl_taken question = {{bytes, bytes ? bytes + len : NULL, !bytes}, NULL};
            st = answer_one(g, number - 1, &question, err);
        }
        if (st == ROCL_OK && q.bad)
            st = rocl_team_bad_message(err);
        if (st == ROCL_OK)
            st = rocl_joint_end_answer(p, err);
        if (st == ROCL_OK)
            st = rocl_joint_question(p, &q, err);
    }
    return st;
}
