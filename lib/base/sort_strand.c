/* Records that come in order are packed as they come. Traces are nearly sorted: a few sorted
 * sequences (one per thread or queue), shuffled together. Each finds a strand of its own; what
 * continues no strand goes to the buffer, to be sorted there. */
#include "base/sort_impl.h"

#include "base/array.h"
#include "base/error.h"
#include "base/sort_pack.h"

#include <stdlib.h>

typedef rocl_sort_strand strand;
typedef rocl_sort_strands strands;

/* ---- the run that a strand is at ------------------------------------------------------------- */

/* A run that begins with a record of `need` bytes. */
static bool begin_run(rocl_sort_runs *to, strand *t, const uint64_t *key, size_t need)
{
    uint8_t *block = need <= to->space->block ? rocl_space_block(to->space) : NULL;
    if (!block)
        return false;
    *t = (strand){.memory = block, .at = block, .end = block + to->space->block};
    memcpy(t->first, key, to->words * sizeof *key);
    return true;
}

static rocl_status end_run(rocl_sort_runs *to, strand *t, rocl_error *err)
{
    rocl_sort_run run = {.memory = t->memory,
                         .block = true,
                         .size = (size_t)(t->at - t->memory),
                         .next = ROCL_NO_RUN};
    memcpy(run.first, t->first, sizeof run.first);
    memcpy(run.last, t->last, sizeof run.last);
    rocl_space_unexpand(to->space, to->space->block);
    return rocl_sort_keep(to, &run, err);
}

/* ---- which strand ---------------------------------------------------------------------------- */

/* The first of those, the largest last key first, that the key is not before. It leaves the others
 * the most to take. */
static size_t find(const strands *s, const uint64_t *key, unsigned words)
{
    size_t i = 0;
    while (i < s->count && rocl_sort_less(key, s->all[i].last, words))
        i++;
    return i;
}

static void take_out(strands *s, size_t i)
{
    memmove(&s->all[i], &s->all[i + 1], (--s->count - i) * sizeof s->all[0]);
}

/* A new strand at place i, which keeps them in order. */
static bool put_in(rocl_sort_runs *to, strands *s, size_t i, const uint64_t *key, size_t need)
{
    strand t;
    if (s->count == ROCL_SORT_STRANDS || !ROCL_GROW(s->all, s->cap, s->count + 1) ||
        !begin_run(to, &t, key, need))
        return false;
    memmove(&s->all[i + 1], &s->all[i], (s->count++ - i) * sizeof t);
    s->all[i] = t;
    return true;
}

/* ---- records --------------------------------------------------------------------------------- */

static inline void pack(strand *t, const uint64_t *key, unsigned words, const void *payload,
                        size_t len)
{
    t->at = rocl_pack_key(t->at, key, t->last, words, (uint32_t)len);
    if (len)
        memcpy(t->at, payload, len);
    t->at += len;
}

bool rocl_strands_take(const rocl_sort_runs *to, strands *s, const uint64_t *key,
                       const void *payload, size_t len)
{
    size_t i = find(s, key, to->words);
    if (i == s->count)
        return false;
    strand *t = &s->all[i];
    if ((size_t)(t->end - t->at) < ROCL_PACK_HEAD + len ||
        rocl_sort_parted(key, t->last, to->shift))
        return false;
    pack(t, key, to->words, payload, len);
    s->records++;
    return true;
}

rocl_status rocl_strands_begin(rocl_sort_runs *to, strands *s, const uint64_t *key,
                               const void *payload, size_t len, bool *taken, rocl_error *err)
{
    size_t i = find(s, key, to->words);
    rocl_status st = ROCL_OK;
    if (i == s->count || rocl_sort_parted(key, s->all[i].last, to->shift)) {
        *taken = put_in(to, s, i, key, ROCL_PACK_HEAD + len);
    } else {
        st = end_run(to, &s->all[i], err);
        *taken = st == ROCL_OK && begin_run(to, &s->all[i], key, ROCL_PACK_HEAD + len);
        if (!*taken)
            take_out(s, i);
    }
    if (*taken)
        pack(&s->all[i], key, to->words, payload, len);
    s->records += *taken;
    return st;
}

rocl_status rocl_strands_end(rocl_sort_runs *to, strands *s, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    while (s->count && st == ROCL_OK)
        st = end_run(to, &s->all[--s->count], err);
    return st;
}

void rocl_strands_drop(rocl_sort_runs *to, strands *s)
{
    while (s->count) {
        rocl_space_unexpand(to->space, to->space->block);
        rocl_space_unblock(to->space, s->all[--s->count].memory);
    }
    free(s->all);
}
