/* strace breaks off a call when another thread has something to say, and takes it up again later:
 * "read(3 <unfinished ...>", "<... read resumed> ...". A resumed line belongs to the last begin of
 * a call of this name (and thread, where lines say which), which may be in a range before. */
#include <stdlib.h>

#include "base/array.h"
#include "source/rtg/rtg.h"

static rtg_pair *pair_of(rtg_pairs *p, const rtg_key *k)
{
    bool fresh;
    rtg_entry *e = rtg_table_put(&p->keys, k, &fresh);
    if (e && fresh) {
        if (!ROCL_GROW(p->all, p->cap, p->count + 1))
            return NULL;
        e->index = (uint32_t)p->count;
        p->all[p->count++] = (rtg_pair){0};
    }
    return e ? &p->all[e->index] : NULL;
}

bool rtg_pairs_begin(rtg_pairs *p, const rtg_key *k, int64_t when, uint64_t line, uint64_t offset,
                     rtg_pair *former, bool *lost)
{
    rtg_pair *pair = pair_of(p, k);
    *lost = pair && pair->has_begun && !pair->used;
    if (!pair)
        return false;
    *former = *pair;
    pair->begun = when;
    pair->line = line;
    pair->offset = offset;
    pair->has_begun = true;
    pair->used = false;
    return true;
}

rtg_pair *rtg_pairs_end(rtg_pairs *p, const rtg_key *k, uint64_t line, uint64_t offset)
{
    rtg_pair *pair = pair_of(p, k);
    if (!pair)
        return NULL;
    if (pair->has_begun) {
        pair->used = true;
    } else if (!pair->resumed_count++) {
        pair->resumed_first = line;
        pair->resumed_offset = offset;
    }
    return pair;
}

void rtg_pairs_free(rtg_pairs *p)
{
    rtg_table_free(&p->keys);
    free(p->all);
    *p = (rtg_pairs){0};
}

void rtg_pairs_reset(rtg_pairs *p)
{
    if (p->keys.count)
        memset(p->keys.slots, 0, p->keys.cap * sizeof *p->keys.slots);
    p->keys.count = 0;
    p->count = 0;
}
