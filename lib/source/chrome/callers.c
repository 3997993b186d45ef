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

enum {
    CALLERS_MAX = 256, /* most processes with one correlation; of more nothing is compared */
    ROUNDS_MAX = 256   /* in which rows are given to processes that have none yet */
};

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

/* calls: it is a process with calls, not a row that needs to be given to one. */
static rocl_status note_caller(chrome_callers *c, chrome_callers_worker *w, uint64_t process,
                               bool calls, rocl_error *err)
{
    if (w->last == process + 1)
        return ROCL_OK;
    w->last = process + 1;
    pthread_mutex_lock(&c->lock);
    const bool ok = rocl_idset_add(&c->processes, process);
    c->one = calls ? process : c->one;
    pthread_mutex_unlock(&c->lock);
    return ok ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status chrome_note_call(chrome_callers *c, chrome_callers_worker *w, rocl_records *to,
                             uint64_t group, const rocl_source_record *r, rocl_error *err)
{
    if (!rocl_records_first_pass(to) || r->link == ROCL_NO_KEY || r->process == ROCL_NO_KEY)
        return ROCL_OK;
    if (c->pass == PASS_SORTS_CALLS)
        return rocl_sorter_add(c->calls, rocl_records_worker(to),
                               (const uint64_t[]){group, r->link, 0, r->process}, &r->as.e.start,
                               sizeof r->as.e.start, err);
    return note_caller(c, w, r->process, true, err);
}

static uint64_t mix_row(uint64_t group, uint64_t row)
{
    return rocl_mix64(group ? row ^ rocl_mix64(group) : row);
}

static uint64_t find_owner(const chrome_callers *c, uint64_t key)
{
    const uint32_t i = rocl_map_get(&c->row_index, key, ROCL_NONE);
    return i == ROCL_NONE ? ROCL_NO_KEY : c->row_owners[i];
}

rocl_status chrome_find_caller(chrome_callers *c, chrome_callers_worker *w, rocl_records *to,
                               uint64_t group, uint64_t row, rocl_source_record *r, rocl_error *err)
{
    const uint64_t link = r->link;
    rocl_status st = ROCL_OK;
    if (r->process != ROCL_NO_KEY)
        return ROCL_OK;
    if (c->pass == PASS_SORTS_CALLS && rocl_records_first_pass(to) && link != ROCL_NO_KEY)
        return rocl_sorter_add(c->calls, rocl_records_worker(to),
                               (const uint64_t[]){group, link, 1, mix_row(group, row)},
                               &r->as.e.start, sizeof r->as.e.start, err);
    if (c->pass == PASS_FINDS_CALLERS && group)
        return note_caller(c, w, row, false, err);
    if (!c->owners)
        return ROCL_OK;
    if (link != ROCL_NO_KEY)
        st = rocl_lookup_find(c->owners, &w->owners, (rocl_lookup_key){group, link}, &r->process,
                              err);
    if (r->process == ROCL_NO_KEY)
        r->process = find_owner(c, mix_row(group, row));
    if (r->process == ROCL_NO_KEY && group)
        r->process = find_owner(c, rocl_mix64(~group));
    if (r->process == ROCL_NO_KEY && group) /* at least it is of no other group */
        r->process = row;
    return st;
}

uint64_t chrome_number_in_file(const chrome_callers *c, uint64_t process, uint64_t number)
{
    return c->owners && number != ROCL_NO_KEY ? rocl_mix64(number ^ rocl_mix64(process)) : number;
}

static bool own_row(chrome_callers *c, uint64_t key, uint64_t process)
{
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

/* A round: rows get their owners, unless two rows would get the same process that has none yet.
 * have: processes that have a row, which are not asked; or NULL. *more: some rows got one. */
static bool give_rows(chrome_callers *c, const rocl_idset *have, bool *more)
{
    rocl_idset once = {0}, twice = {0};
    bool ok = true;
    *more = false;
    for (int step = have ? 0 : 1; step < 2 && ok; step++)
        for (size_t i = 0, n; i < c->claim_count && ok; i += n) {
            const chrome_claim *k = &c->claims[i];
            for (n = 1; i + n < c->claim_count && k[n].row == k->row; n++)
                ;
            if (find_owner(c, k->row) != ROCL_NO_KEY)
                continue;
            /* The one process that the row can be of, by its claims. */
            const chrome_claim *found = NULL;
            bool doubt = false;
            for (const chrome_claim *claim = k; claim < k + n; claim++) {
                const bool likely = claim->early <= claim->all / 100;
                if (have && rocl_idset_has(have, claim->process))
                    continue;
                doubt |= likely ? found != NULL : claim->early <= claim->all / 10;
                found = likely ? claim : found;
            }
            if (!found || doubt || (step && rocl_idset_has(&twice, found->process)))
                continue;
            const uint64_t process = found->process;
            if (!step) {
                ok = rocl_idset_add(rocl_idset_has(&once, process) ? &twice : &once, process);
            } else {
                ok = own_row(c, k->row, process);
                *more = true;
            }
        }
    rocl_idset_free(&once);
    rocl_idset_free(&twice);
    return ok;
}

/* Work does not begin before its call, except for clock errors: a row belongs to the one process
 * for which this holds, if it cannot hold for any other. Where it holds for several, as of ranks
 * that follow each other, the row is that of the only one of them that has no row. */
static bool settle_claims(chrome_callers *c)
{
    bool more = true, ok;
    if (c->claim_count)
        qsort(c->claims, c->claim_count, sizeof *c->claims, compare_claims);
    ok = give_rows(c, NULL, &more);
    more = c->claim_count > 0;
    for (int round = 0; round < ROUNDS_MAX && ok && more; round++) {
        rocl_idset have = {0};
        for (size_t i = 0; i < c->row_count && ok; i++)
            ok = c->row_owners[i] == ROCL_NO_KEY || rocl_idset_add(&have, c->row_owners[i]);
        ok = ok && give_rows(c, &have, &more);
        rocl_idset_free(&have);
    }
    return ok;
}

/* Goes through the calls and the work of each correlation. */
static rocl_status join_calls(chrome_callers *c, rocl_trace *t, rocl_error *err)
{
    uint64_t group = 0, correlation = 0;
    first_call calls[CALLERS_MAX];
    size_t processes = 0;
    bool more, any = false, ok = true;
    rocl_sort_record rec;
    rocl_status st = rocl_lookup_new(&c->owners, t, err);
    if (st == ROCL_OK)
        st = rocl_sorter_start(c->calls, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(c->calls, &rec, &more, err)) == ROCL_OK &&
           (more || processes == 1)) {
        const bool next = !any || !more || rec.key[0] != group || rec.key[1] != correlation;
        if (any && next && processes == 1)
            st = rocl_lookup_add(c->owners, (rocl_lookup_key){group, correlation}, calls->process,
                                 err);
        if (!more || st != ROCL_OK)
            break;
        processes = next ? 0 : processes;
        any = true;
        group = rec.key[0];
        correlation = rec.key[1];
        const uint64_t value = rec.key[3];
        int64_t start;
        memcpy(&start, rec.data, sizeof start);
        if (!rec.key[2]) { /* calls of a process follow each other */
            first_call *last = &calls[processes && processes <= CALLERS_MAX ? processes - 1 : 0];
            if (!processes || (processes <= CALLERS_MAX && value != last->process)) {
                if (processes < CALLERS_MAX)
                    calls[processes] = (first_call){value, start};
                processes++;
            } else if (processes <= CALLERS_MAX && start < last->start) {
                last->start = start;
            }
            c->collided |= processes > 1 && !group;
            if (group) { /* what no call tells is of no process where its group has several */
                const uint64_t key = rocl_mix64(~group);
                const uint32_t i = rocl_map_get(&c->row_index, key, ROCL_NONE);
                if (i == ROCL_NONE)
                    ok = own_row(c, key, value);
                else if (c->row_owners[i] != value)
                    c->row_owners[i] = ROCL_NO_KEY;
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
    else if (*again && !(c->calls = rocl_sorter_new(in->trace->space, 4)))
        st = rocl_fail_memory(err);
    else if (callers == 1)
        in->likely_process = c->one;
    c->pass = *again && c->pass == PASS_FINDS_CALLERS ? PASS_SORTS_CALLS : PASS_KNOWS_CALLERS;
    return st;
}
