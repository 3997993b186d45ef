/* Which ranks of a team have work of things that all ranks number alike, such as GPUs. If one rank
 * has all work of a thing, it measures it; else the work comes to rank 0. */
#ifndef ROCL_ANALYSIS_SHARES_H
#define ROCL_ANALYSIS_SHARES_H

#include "analysis/gather.h"

typedef struct rocl_shares {
    size_t count, workers;
    bool *noted;      /* by worker and thing: there was work of it here */
    unsigned *had_by; /* on rank 0, by thing: the rank that has it + 1, or several; 0: none */
    bool *sent;       /* on another rank, by thing: rank 0 wants its work */
    unsigned asked;   /* on rank 0: the round */
} rocl_shares;

bool rocl_shares_open(rocl_shares *s, size_t count, size_t workers); /* false: memory is out */
void rocl_shares_close(rocl_shares *s);

/* Concurrent. Written once: workers are next to each other. */
static inline void rocl_shares_note(rocl_shares *s, unsigned worker, uint64_t thing)
{
    bool *noted = &s->noted[worker * s->count + thing];
    if (!*noted)
        *noted = true;
}

/* Another rank puts what it has, rank 0 takes that. */
void rocl_shares_put(const rocl_shares *s, rocl_put *to);
rocl_status rocl_shares_take(rocl_shares *s, unsigned rank, rocl_taken *from, rocl_error *err);
/* Then, on rank 0: do several have it, rank 0 among them? */
bool rocl_shares_several(const rocl_shares *s, size_t thing);
/* The question of a round: first who has what; then for the work of shared things; then none. */
enum { ROCL_ASK_WHO, ROCL_ASK_WORK };
void rocl_shares_ask(rocl_shares *s, unsigned round, rocl_put *to);
/* On another rank: was it asked who has what? Then puts the answer. Else it is asked for work. */
bool rocl_shares_answer_who(rocl_shares *s, rocl_taken *question, rocl_put *to);

/* Rank 0 puts what several have, another rank takes that: s->sent. */
void rocl_shares_put_shared(const rocl_shares *s, rocl_put *to);
void rocl_shares_take_shared(rocl_shares *s, rocl_taken *from);

#endif
