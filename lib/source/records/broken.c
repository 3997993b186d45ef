/* Broken records, counted: see registry.h. */
#include "source/records/registry.h"

static bool is_before(const rocl_bad_record *a, const rocl_bad_record *b)
{
    if (a->piece != b->piece)
        return a->piece < b->piece;
    return a->line != b->line ? a->line < b->line : a->where < b->where;
}

void rocl_bad_records_add(rocl_bad_records *b, const rocl_bad_record *bad, rocl_fault fault,
                          uint64_t count)
{
    bool known = false; /* a fault that stops a reader hides all later ones */
    pthread_mutex_lock(&b->lock);
    unsigned at = b->first_count;
    b->counts[fault] += count;
    for (unsigned i = 0; i < b->first_count && !known; i++)
        known = !memcmp(&b->first[i], bad, sizeof *bad);
    while (at > 0 && is_before(bad, &b->first[at - 1]))
        at--;
    if (b->first_count < ROCL_FAULTS_REPORTED && !known)
        b->first_count++;
    if (at < b->first_count && !known) {
        memmove(&b->first[at + 1], &b->first[at], (b->first_count - 1 - at) * sizeof *b->first);
        b->first[at] = *bad;
    }
    pthread_mutex_unlock(&b->lock);
}
