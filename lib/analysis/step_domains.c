/* Events of each domain in each step: see step_domains.h. */
#include "analysis/step_domains.h"

#include <stdlib.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"

rocl_status rocl_step_domains_open(rocl_step_domains *d, rocl_collector *c, rocl_error *err)
{
    d->c = c;
    d->timed = rocl_collector_sorter(c, 2);
    d->domain_of = calloc(c->trace->opt.jobs, sizeof *d->domain_of);
    return d->timed && d->domain_of ? ROCL_OK : rocl_fail_memory(err);
}

void rocl_step_domains_close(rocl_step_domains *d)
{
    for (unsigned w = 0; d->domain_of && w < d->c->trace->opt.jobs; w++)
        rocl_ids_free(&d->domain_of[w]);
    free(d->domain_of);
    for (unsigned i = 0; i < ROCL_DOMAINS; i++)
        free(d->of[i]);
}

/* False: memory is out. */
static bool find_domain(rocl_step_domains *d, unsigned worker, rocl_kind kind, uint32_t category,
                        uint32_t *domain)
{
    const bool by_category = rocl_kind_in(kind, ROCL_CALL_KINDS) && category != ROCL_NONE;
    *domain = by_category ? rocl_ids_get(&d->domain_of[worker], (uint64_t)category << 4 | kind)
                          : ROCL_NONE;
    if (*domain != ROCL_NONE)
        return true;
    *domain = rocl_domain_of(d->c->trace, kind, category);
    return !by_category ||
           rocl_ids_put(&d->domain_of[worker], (uint64_t)category << 4 | kind, *domain);
}

rocl_status rocl_step_domains_add_batch(rocl_step_domains *d, unsigned worker, const rocl_batch *b,
                                        rocl_error *err)
{
    const size_t size = rocl_kind_size(b->kind);
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        const uint64_t key[2] = {rocl_process_word(b->capture, e), (uint64_t)e->start};
        uint32_t domain;
        if (!find_domain(d, worker, b->kind, e->category, &domain))
            return rocl_fail_memory(err);
        const uint64_t numbers[] = {e->thread, (uint64_t)(e->end - e->start), domain,
                                    rocl_row_word(e->id, b->kind)};
        st = rocl_add_numbers(d->timed, worker, key, numbers, b->kind == ROCL_MARKER ? 4 : 3, err);
    }
    return st;
}

bool rocl_step_domains_add(rocl_step_domains *d, size_t step, size_t steps, rocl_domain domain,
                           rocl_step_sum more)
{
    if (!d->of[domain] && !(d->of[domain] = calloc(steps, sizeof *d->of[domain])))
        return false;
    rocl_step_sum *sum = &d->of[domain][step];
    sum->count += more.count;
    sum->ns = rocl_add_saturated(sum->ns, more.ns);
    return true;
}

rocl_status rocl_step_domains_count(rocl_step_domains *d, const rocl_steps *steps, size_t series,
                                    rocl_error *err)
{
    rocl_sort_record rec;
    rocl_status st = rocl_sorter_start(d->timed, err);
    while (rocl_next_record(d->timed, &rec, &st, err)) {
        uint64_t v[4]; /* thread, duration, domain; row of a marker */
        const unsigned n = rocl_read_numbers(&rec, v, 4);
        bool inside = false;
        for (size_t k = 0; k < series; k++) {
            const size_t of = rocl_steps_find(steps, &steps->series[k], rec.key[0], (uint32_t)v[0],
                                              (int64_t)rec.key[1]);
            inside |= of != SIZE_MAX;
            if (of == SIZE_MAX || (n == 4 && steps->all[of].row == v[3]))
                continue;
            if (!rocl_step_domains_add(d, of, steps->count, (rocl_domain)v[2],
                                       (rocl_step_sum){1, (int64_t)v[1]}))
                return rocl_fail_memory(err);
        }
        d->outside += series && !inside;
    }
    rocl_collector_free_sorter(d->c, &d->timed);
    return st;
}
