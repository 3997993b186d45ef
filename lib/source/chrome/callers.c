/* Whose GPU work is: see callers.h. */
#include "source/chrome/callers.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

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
                               (const uint64_t[]){r->link, 0, r->process}, NULL, 0, err);
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
                               NULL, 0, err);
    if (!c->owners)
        return ROCL_OK;
    if (link != ROCL_NO_KEY)
        st = rocl_lookup_find(c->owners, &w->owners, (rocl_lookup_key){link, 0}, &r->process, err);
    const uint32_t i = rocl_map_get(&c->row_index, rocl_mix64(row), ROCL_NONE);
    if (st == ROCL_OK && r->process == ROCL_NO_KEY && i != ROCL_NONE)
        r->process = c->row_owners[i];
    return st;
}

/* Goes through the calls and the work of each correlation. */
static rocl_status join_calls(chrome_callers *c, rocl_trace *t, rocl_error *err)
{
    uint64_t correlation = 0, process = ROCL_NO_KEY;
    size_t processes = 0;
    bool more, any = false;
    rocl_sort_record rec;
    rocl_status st = rocl_lookup_new(&c->owners, t, err);
    if (st == ROCL_OK)
        st = rocl_sorter_start(c->calls, err);
    while (st == ROCL_OK && (st = rocl_sorter_next(c->calls, &rec, &more, err)) == ROCL_OK &&
           (more || processes == 1)) {
        if (any && (!more || rec.key[0] != correlation) && processes == 1)
            st = rocl_lookup_add(c->owners, (rocl_lookup_key){correlation, 0}, process, err);
        if (!more || st != ROCL_OK)
            break;
        if (!any || rec.key[0] != correlation)
            processes = 0;
        any = true;
        correlation = rec.key[0];
        const uint64_t value = rec.key[2], row = rocl_mix64(value);
        if (!rec.key[1]) {
            processes += !processes || value != process;
            process = value;
        } else if (processes == 1 && rocl_map_get(&c->row_index, row, ROCL_NONE) == ROCL_NONE) {
            if (!ROCL_GROW(c->row_owners, c->row_cap, c->row_count + 1) ||
                !rocl_map_put(&c->row_index, row, (uint32_t)c->row_count))
                return rocl_fail_memory(err);
            c->row_owners[c->row_count++] = process;
        }
    }
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
