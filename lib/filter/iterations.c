/* --kernel-iterations: the n-th dispatches of each kernel name in a process. All dispatches are
 * sorted once; what is kept of them is where each wanted range of a name begins and ends. */
#include "filter/stages.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- the option ---- */

/* rocprofv3 takes brackets where they please: "[1-2],[5]", "[1, 3, [8-12]]", "1-2". */
rocl_status rocl_ranges_parse(const char *option, const char *text, int64_t least,
                              rocl_range **ranges, size_t *count, rocl_error *err)
{
    static const char between[] = " \t[],";
    size_t cap = 0, n = 0, kept = 0;
    bool good = true;
    *ranges = NULL;
    for (const char *at = text + strspn(text, between); *at; at += strspn(at, between)) {
        int64_t first, last;
        if (!ROCL_GROW(*ranges, cap, n + 1))
            return rocl_fail_memory(err);
        at = rocl_parse_range(at, &first, &last);
        if (at && *at == '-' && (!at[1] || strchr(between, at[1]))) { /* "4-" */
            last = INT64_MAX;
            at++;
        }
        good = at && first >= least && (!*at || strchr(between, *at));
        if (!good)
            break;
        (*ranges)[n++] = (rocl_range){(uint64_t)first, (uint64_t)last};
    }
    if (!n || !good)
        return rocl_fail(
            err, ROCL_USAGE,
            "%s: \"%.100s\" is not a list of numbers, from %d on, or ranges, such as %s", option,
            text, (int)least,
            strcmp(option, "--steps") ? "1,[5-8]"
                                      : "3,5-8 or 4-; --step-markers REGEX says which "
                                        "markers are steps");
    rocl_range *r = *ranges;
    qsort(r, n, sizeof *r, rocl_compare_u64); /* by `first` */
    for (size_t i = 1; i < n; i++)
        if (r[i].first > r[kept].last)
            r[++kept] = r[i];
        else if (r[i].last > r[kept].last)
            r[kept].last = r[i].last;
    *count = kept + 1;
    return ROCL_OK;
}

rocl_status rocl_iterations_new(rocl_iterations *it, rocl_trace *t, rocl_error *err)
{
    *it = (rocl_iterations){0};
    if (!t->opt.kernel_iterations)
        return ROCL_OK;
    rocl_status st = rocl_ranges_parse("--kernel-iterations", t->opt.kernel_iterations, 1,
                                       &it->ranges, &it->range_count, err);
    if (st == ROCL_OK && !(it->seen = rocl_sorter_new(t->space, 4)))
        st = rocl_fail_memory(err);
    return st;
}

void rocl_iterations_free(rocl_iterations *it)
{
    rocl_sorter_free(it->seen);
    free(it->ranges);
    free(it->groups);
    free(it->spans);
}

/* ---- which dispatches are meant ---- */

static uint64_t process_key(const rocl_batch *b, const rocl_event *e)
{
    return (uint64_t)b->capture->index << 32 | e->process;
}

/* Counters have the event of their dispatch where the input knows events. */
static uint64_t id_of_dispatch(const rocl_event *e)
{
    return e->event_id ? e->event_id : e->id;
}

rocl_status rocl_iterations_see(rocl_iterations *it, unsigned worker, const rocl_batch *b,
                                rocl_error *err)
{
    const size_t size = rocl_kind_size(b->kind);
    rocl_status st = ROCL_OK;
    for (size_t i = 0; it->seen && i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        const uint64_t key[4] = {process_key(b, e), rocl_kernel_name_at(b, i),
                                 (uint64_t)e->start ^ UINT64_C(1) << 63, id_of_dispatch(e)};
        st = rocl_sorter_add(it->seen, worker, key, NULL, 0, err);
    }
    return st;
}

/* Where the groups so far end, and another may begin. */
static bool add_group(rocl_iterations *it, uint64_t process, uint32_t name)
{
    if (!ROCL_GROW(it->groups, it->group_cap, it->group_count + 1))
        return false;
    it->groups[it->group_count++] =
        (rocl_iteration_group){.process = process, .name = name, .spans = it->span_count};
    return true;
}

rocl_status rocl_iterations_resolve(rocl_iterations *it, rocl_error *err)
{
    rocl_sort_record rec;
    bool more = true;
    uint64_t n = 0; /* which dispatch of its name it is, from 1 */
    size_t range = 0;
    const rocl_iteration_group *last = NULL;
    rocl_status st = it->seen ? rocl_sorter_start(it->seen, err) : ROCL_OK;
    while (it->seen && st == ROCL_OK) {
        st = rocl_sorter_next(it->seen, &rec, &more, err);
        if (st != ROCL_OK || !more)
            break;
        const uint32_t name = (uint32_t)rec.key[1];
        const rocl_iteration own = {(int64_t)(rec.key[2] ^ UINT64_C(1) << 63), rec.key[3]};
        if (!last || last->process != rec.key[0] || last->name != name) {
            if (!add_group(it, rec.key[0], name))
                st = rocl_fail_memory(err);
            last = it->groups + it->group_count - 1;
            n = 0;
            range = 0;
        }
        n++;
        while (range < it->range_count && n > it->ranges[range].last)
            range++;
        if (st != ROCL_OK || range == it->range_count || n < it->ranges[range].first)
            continue;
        if (n > it->ranges[range].first)
            it->spans[it->span_count - 1].last = own;
        else if (ROCL_GROW(it->spans, it->span_cap, it->span_count + 1))
            it->spans[it->span_count++] = (rocl_iteration_span){own, own};
        else
            st = rocl_fail_memory(err);
    }
    if (it->seen && st == ROCL_OK && !add_group(it, UINT64_MAX, ROCL_NONE))
        st = rocl_fail_memory(err);
    rocl_sorter_free(it->seen);
    it->seen = NULL;
    return st;
}

/* ---- the events ---- */

/* by_start: of those that start at once, any. */
static bool comes_before(rocl_iteration a, rocl_iteration b, bool by_start)
{
    return a.start < b.start || (a.start == b.start && a.id < b.id && !by_start);
}

void rocl_iterations_test(const rocl_iterations *it, const rocl_batch *b, uint8_t *keep)
{
    const size_t size = rocl_kind_size(b->kind);
    const rocl_iteration_group *g = NULL;
    if (!it->range_count || !rocl_kind_in(b->kind, ROCL_KERNEL_KINDS))
        return;
    for (size_t i = 0; i < b->count; i++) {
        const rocl_event *e = rocl_event_at(b, size, i);
        const uint64_t process = process_key(b, e);
        const uint32_t name = rocl_kernel_name_at(b, i);
        const rocl_iteration own = {e->start, id_of_dispatch(e)};
        const bool by_start = b->kind == ROCL_COUNTER && !e->event_id;
        if (!keep[i])
            continue;
        if (!g || g->process != process || g->name != name)
            g = bsearch(&(rocl_iteration_group){.process = process, .name = name}, it->groups,
                        it->group_count - 1, sizeof *g, rocl_compare_groups); /* the last ends */
        bool wanted = false;
        for (size_t k = g ? g->spans : 0; g && k < g[1].spans && !wanted; k++)
            wanted = !comes_before(own, it->spans[k].first, by_start) &&
                     !comes_before(it->spans[k].last, own, by_start);
        keep[i] = wanted;
    }
}
