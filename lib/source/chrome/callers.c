/* Which process GPU work belongs to: see callers.h. */
#include "source/chrome/callers.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

/* For correlations of calls in several processes: how often work on a row could belong to a process
 * (all), and how often it began before the call of that process (early). */
typedef struct chrome_claim {
    uint64_t row, process, all, early;
} chrome_claim;

typedef struct first_call {
    uint64_t process;
    int64_t start;
} first_call;

enum { CALLERS_MAX = 256 }; /* most processes with one correlation; of more nothing is compared */

void chrome_callers_open(chrome_callers *c)
{
    pthread_mutex_init(&c->lock, NULL);
}

void chrome_callers_close(chrome_callers *c)
{
    pthread_mutex_destroy(&c->lock);
    rocl_idset_free(&c->processes);
    rocl_sorter_free(c->calls);
    rocl_lookup_free(c->owners);
    rocl_map_free(&c->row_index);
    free(c->row_owners);
    rocl_map_free(&c->claim_index);
    free(c->claims);
}

void chrome_callers_worker_free(chrome_callers_worker *w)
{
    free(w->owners.entries);
}

rocl_status chrome_note_call(chrome_callers *c, chrome_callers_worker *w, rocl_records *to,
                             const rocl_source_record *r, rocl_error *err)
{
    bool ok = true;
    if (!rocl_records_first_pass(to) || r->link == ROCL_NO_KEY || r->process == ROCL_NO_KEY)
        return ROCL_OK;
    if (c->pass == PASS_SORTS_CALLS)
        return rocl_sorter_add(c->calls, rocl_records_worker(to),
                               (const uint64_t[]){r->link, 0, r->process}, &r->as.e.start,
                               sizeof r->as.e.start, err);
    if (w->last == r->process + 1)
        return ROCL_OK;
    w->last = r->process + 1;
    pthread_mutex_lock(&c->lock);
    ok = rocl_idset_add(&c->processes, r->process);
    c->one = r->process;
    pthread_mutex_unlock(&c->lock);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status chrome_find_caller(const chrome_callers *c, chrome_callers_worker *w, rocl_records *to,
                               uint64_t row, rocl_source_record *r, rocl_error *err)
{
    const uint64_t link = r->link;
    rocl_status st = ROCL_OK;
    if (r->process != ROCL_NO_KEY)
        return ROCL_OK;
    if (c->pass == PASS_SORTS_CALLS && rocl_records_first_pass(to) && link != ROCL_NO_KEY)
        return rocl_sorter_add(c->calls, rocl_records_worker(to), (const uint64_t[]){link, 1, row},
                               &r->as.e.start, sizeof r->as.e.start, err);
    if (!c->owners)
        return ROCL_OK;
    if (link != ROCL_NO_KEY)
        st = rocl_lookup_find(c->owners, &w->owners, (rocl_lookup_key){link, 0}, &r->process, err);
    const uint32_t i = rocl_map_get(&c->row_index, rocl_mix64(row), ROCL_NONE);
    if (st == ROCL_OK && r->process == ROCL_NO_KEY && i != ROCL_NONE)
        r->process = c->row_owners[i];
    return st;
}

static bool own_row(chrome_callers *c, uint64_t row, uint64_t process)
{
    const uint64_t key = rocl_mix64(row);
    if (rocl_map_get(&c->row_index, key, ROCL_NONE) != ROCL_NONE)
        return true;
    if (!ROCL_GROW(c->row_owners, c->row_cap, c->row_count + 1) ||
        !rocl_map_put(&c->row_index, key, (uint32_t)c->row_count))
        return false;
    c->row_owners[c->row_count++] = process;
    return true;
}

static bool weigh_claims(chrome_callers *c, uint64_t row, int64_t start, const first_call *calls,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = rocl_mix64(row ^ rocl_mix64(calls[i].process));
        uint32_t at = rocl_map_get(&c->claim_index, key, ROCL_NONE);
        if (at == ROCL_NONE) {
            at = (uint32_t)c->claim_count;
            if (!ROCL_GROW(c->claims, c->claim_cap, c->claim_count + 1) ||
                !rocl_map_put(&c->claim_index, key, at))
                return false;
            c->claims[c->claim_count++] = (chrome_claim){row, calls[i].process, 0, 0};
        }
        c->claims[at].all++;
        c->claims[at].early += start < calls[i].start;
    }
    return true;
}

static int compare_claims(const void *a, const void *b)
{
    const chrome_claim *x = a, *y = b;
    return x->row != y->row ? (x->row > y->row) - (x->row < y->row)
                            : (x->process > y->process) - (x->process < y->process);
}

/* Work does not begin before its call, except for clock errors: a row belongs to the one process
 * for which this holds, if it cannot hold for any other. */
static bool settle_claims(chrome_callers *c)
{
    bool ok = true;
    if (c->claim_count)
        qsort(c->claims, c->claim_count, sizeof *c->claims, compare_claims);
    for (size_t i = 0, n; i < c->claim_count && ok; i += n) {
        const chrome_claim *found = NULL;
        bool doubt = false;
        for (n = 0; i + n < c->claim_count && c->claims[i + n].row == c->claims[i].row; n++) {
            const chrome_claim *k = &c->claims[i + n];
            const bool likely = k->early <= k->all / 100;
            doubt |= likely ? found != NULL : k->early <= k->all / 10;
            found = likely ? k : found;
        }
        ok = !found || doubt || own_row(c, found->row, found->process);
    }
    return ok;
}

/* Goes through the calls and the work of each correlation. */
static rocl_status join_calls(chrome_callers *c, rocl_trace *t, rocl_error *err)
{
    uint64_t correlation = 0;
    first_call calls[CALLERS_MAX];
    size_t processes = 0;
    bool more, any = false, ok = true;
    rocl_sort_record rec;
    rocl_status st = rocl_lookup_new(&c->owners, t, err);
    if (st == ROCL_OK)
        st = rocl_sorter_start(c->calls, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(c->calls, &rec, &more, err)) == ROCL_OK &&
           (more || processes == 1)) {
        if (any && (!more || rec.key[0] != correlation) && processes == 1)
            st = rocl_lookup_add(c->owners, (rocl_lookup_key){correlation, 0}, calls->process, err);
        if (!more || st != ROCL_OK)
            break;
        if (!any || rec.key[0] != correlation)
            processes = 0;
        any = true;
        correlation = rec.key[0];
        const uint64_t value = rec.key[2];
        int64_t start;
        memcpy(&start, rec.data, sizeof start);
        if (!rec.key[1]) { /* calls of a process follow each other */
            first_call *last = &calls[processes && processes <= CALLERS_MAX ? processes - 1 : 0];
            if (!processes || (processes <= CALLERS_MAX && value != last->process)) {
                if (processes < CALLERS_MAX)
                    calls[processes] = (first_call){value, start};
                processes++;
            } else if (processes <= CALLERS_MAX && start < last->start) {
                last->start = start;
            }
        } else if (processes == 1) {
            ok = own_row(c, value, calls->process);
        } else if (processes <= CALLERS_MAX) {
            ok = weigh_claims(c, value, start, calls, processes);
        }
        if (!ok)
            return rocl_fail_memory(err);
    }
    if (st == ROCL_OK && !settle_claims(c))
        st = rocl_fail_memory(err);
    rocl_sorter_free(c->calls);
    c->calls = NULL;
    return st ? st : rocl_lookup_finish(c->owners, err);
}

rocl_status chrome_learn_callers(chrome_callers *c, rocl_records_input *in, bool *again,
                                 rocl_error *err)
{
    rocl_status st = ROCL_OK;
    const size_t callers = rocl_idset_size(&c->processes);
    *again = c->pass == PASS_SORTS_CALLS || (c->pass == PASS_FINDS_CALLERS && callers > 1);
    if (c->pass == PASS_SORTS_CALLS)
        st = join_calls(c, in->trace, err);
    else if (*again && !(c->calls = rocl_sorter_new(in->trace->space, 3)))
        st = rocl_fail_memory(err);
    else if (callers == 1)
        in->likely_process = c->one;
    c->pass = *again && c->pass == PASS_FINDS_CALLERS ? PASS_SORTS_CALLS : PASS_KNOWS_CALLERS;
    return st;
}
