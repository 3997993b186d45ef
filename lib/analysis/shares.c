/* Which ranks of a team have work of what: see shares.h. */
#include "analysis/shares.h"

#include <limits.h>
#include <stdlib.h>

enum { SEVERAL = UINT_MAX };

bool rocl_shares_open(rocl_shares *s, size_t count, size_t workers)
{
    *s = (rocl_shares){.count = count, .workers = workers};
    s->noted = calloc(count * workers + 1, sizeof *s->noted);
    s->had_by = calloc(count + 1, sizeof *s->had_by);
    s->sent = calloc(count + 1, sizeof *s->sent);
    return s->noted && s->had_by && s->sent;
}

void rocl_shares_close(rocl_shares *s)
{
    free(s->noted);
    free(s->had_by);
    free(s->sent);
}

static bool is_here(const rocl_shares *s, size_t thing)
{
    bool here = false;
    for (size_t w = 0; w < s->workers; w++)
        here |= s->noted[w * s->count + thing];
    return here;
}

void rocl_shares_put(const rocl_shares *s, rocl_put *to)
{
    for (size_t i = 0; i < s->count; i++)
        if (is_here(s, i))
            rocl_put_number(to, i + 1);
    rocl_put_number(to, 0);
}

rocl_status rocl_shares_take(rocl_shares *s, unsigned rank, rocl_taken *from, rocl_error *err)
{
    uint64_t thing;
    while ((thing = rocl_take_number(from))) {
        if (thing > s->count)
            return rocl_team_bad_message(err);
        s->had_by[thing - 1] = s->had_by[thing - 1] ? SEVERAL : rank + 1;
    }
    return ROCL_OK;
}

bool rocl_shares_several(const rocl_shares *s, size_t thing)
{
    return s->had_by[thing] == SEVERAL || (s->had_by[thing] && is_here(s, thing));
}

void rocl_shares_put_shared(const rocl_shares *s, rocl_put *to)
{
    for (size_t i = 0; i < s->count; i++)
        if (rocl_shares_several(s, i))
            rocl_put_number(to, i + 1);
    rocl_put_number(to, 0);
}

void rocl_shares_take_shared(rocl_shares *s, rocl_taken *from)
{
    uint64_t thing;
    while ((thing = rocl_take_number(from)))
        if (thing <= s->count)
            s->sent[thing - 1] = true;
}

void rocl_shares_ask(rocl_shares *s, unsigned round, rocl_put *to)
{
    if (round > ROCL_ASK_WORK)
        return;
    s->asked = round;
    rocl_put_number(to, round);
    if (round == ROCL_ASK_WORK)
        rocl_shares_put_shared(s, to);
}

bool rocl_shares_answer_who(rocl_shares *s, rocl_taken *question, rocl_put *to)
{
    const bool who = rocl_take_number(question) == ROCL_ASK_WHO;
    if (who)
        rocl_shares_put(s, to);
    else
        rocl_shares_take_shared(s, question);
    return who;
}
