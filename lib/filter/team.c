/* What ranks of a team tell each other of their filters. All have made theirs from the same options
 * and the same definitions; what follows from events of the whole trace, rank 0 has found, and what
 * a filter has met, each rank has met of its own. */
#include "filter/filter.h"

#include <stdlib.h>
#include <string.h>

#include "filter/state.h"

static void take_into(rocl_byte_reader *from, void *to, size_t n)
{
    const uint8_t *p = rocl_next_bytes(from, n);
    if (p && n)
        memcpy(to, p, n);
}

/* ---- what follows from all events ------------------------------------------------------------ */

/* What is as it is in memory: both ends are this program. */
#define STATE_FIELDS(X)                                                                            \
    X(f->first)                                                                                    \
    X(f->last)                                                                                     \
    X(f->window.from)                                                                              \
    X(f->window.to)                                                                                \
    X(f->periods.first)                                                                            \
    X(f->iterations.group_count) X(f->iterations.span_count) X(f->steps.time_count)

void rocl_filter_put_state(const rocl_filter *f, rocl_buf *to)
{
    if (!f)
        return;
#define PUT(field) rocl_buf_put(to, &(field), sizeof(field));
    STATE_FIELDS(PUT)
#undef PUT
    for (size_t i = 0; i < f->iterations.group_count; i++) {
        const rocl_iteration_group *g = &f->iterations.groups[i];
        size_t n;
        const char *name = rocl_strings_get(f->trace->strings, g->name, &n);
        rocl_buf_varint(to, g->process);
        rocl_buf_varint(to, g->spans);
        rocl_buf_varint(to, g->name == ROCL_NONE ? 0 : n + 1);
        rocl_buf_put(to, name, g->name == ROCL_NONE ? 0 : n);
    }
    rocl_buf_put(to, f->iterations.spans, f->iterations.span_count * sizeof *f->iterations.spans);
    rocl_buf_put(to, f->steps.times, f->steps.time_count * sizeof *f->steps.times);
}

/* Groups are in the order of their names' ids, which are ours: sorted anew, each with its spans. */
typedef struct taken_group {
    rocl_iteration_group group; /* first */
    size_t end;                 /* of its spans */
} taken_group;

static rocl_status sort_groups(rocl_iterations *it, rocl_error *err)
{
    const size_t n = it->group_count ? it->group_count - 1 : 0; /* the last is an end */
    taken_group *all = calloc(n + 1, sizeof *all);
    rocl_iteration_span *spans = calloc(it->span_count + 1, sizeof *spans);
    size_t used = 0;
    if (!all || !spans) {
        free(all);
        free(spans);
        return rocl_fail_memory(err);
    }
    for (size_t i = 0; i < n; i++)
        all[i] = (taken_group){it->groups[i], it->groups[i + 1].spans};
    qsort(all, n, sizeof *all, rocl_compare_groups);
    for (size_t i = 0; i < n; i++) {
        it->groups[i] = all[i].group;
        it->groups[i].spans = used;
        for (size_t k = all[i].group.spans; k < all[i].end && used < it->span_count; k++)
            spans[used++] = it->spans[k];
    }
    free(all);
    free(it->spans);
    it->spans = spans;
    return ROCL_OK;
}

static rocl_status take_iterations(rocl_filter *f, rocl_byte_reader *b, rocl_error *err)
{
    rocl_iterations *it = &f->iterations;
    const size_t left = (size_t)(b->end - b->p);
    if (it->group_count > left || it->span_count > left)
        b->bad = true;
    rocl_sorter_free(it->seen);
    it->seen = NULL;
    it->groups = b->bad ? NULL : calloc(it->group_count + 1, sizeof *it->groups);
    it->spans = b->bad ? NULL : calloc(it->span_count + 1, sizeof *it->spans);
    if (!it->groups || !it->spans)
        return b->bad ? ROCL_OK : rocl_fail_memory(err);
    for (size_t i = 0; i < it->group_count && !b->bad; i++) {
        rocl_iteration_group *g = &it->groups[i];
        g->process = rocl_next_number(b);
        g->spans = (size_t)rocl_next_number(b);
        const uint64_t n = rocl_next_number(b);
        const char *name = n ? (const char *)rocl_next_bytes(b, n - 1) : NULL;
        g->name = name ? rocl_strings_put(f->trace->strings, name, n - 1) : ROCL_NONE;
        b->bad |= g->spans > it->span_count;
    }
    take_into(b, it->spans, it->span_count * sizeof *it->spans);
    return b->bad ? ROCL_OK : sort_groups(it, err);
}

rocl_status rocl_filter_take_state(rocl_filter *f, rocl_byte_reader *from, rocl_error *err)
{
    if (!f)
        return ROCL_OK;
#define TAKE(field) take_into(from, &(field), sizeof(field));
    STATE_FIELDS(TAKE)
#undef TAKE
    rocl_status st = take_iterations(f, from, err);
    const size_t bytes_of_times = f->steps.time_count * sizeof *f->steps.times;
    from->bad |= f->steps.time_count > (size_t)(from->end - from->p);
    f->steps.times = from->bad ? NULL : malloc(bytes_of_times + 1);
    if (st == ROCL_OK && !from->bad && !f->steps.times)
        st = rocl_fail_memory(err);
    if (f->steps.times)
        take_into(from, f->steps.times, bytes_of_times);
    f->resolved = true;
    if (!from->bad || st != ROCL_OK)
        return st;
    f->iterations.group_count = f->steps.time_count = 0;
    return rocl_fail(err, ROCL_INTERNAL, "the state of a filter is damaged");
}

/* ---- what was met ---------------------------------------------------------------------------- */

/* In an order that follows from the options. NULL: memory is out. */
static atomic_bool **list_flags(rocl_filter *f, size_t *count)
{
    rocl_kind_words *const words[] = {&f->kinds.include, &f->kinds.exclude};
    rocl_names *const names[] = {&f->names, &f->kernel_names};
    atomic_bool **flags = calloc(words[0]->count + words[1]->count + 6, sizeof(atomic_bool *));
    *count = 0;
    for (size_t i = 0; flags && i < 2; i++)
        for (size_t k = 0; k < words[i]->count; k++)
            flags[(*count)++] = &words[i]->words[k].hit;
    for (size_t i = 0; flags && i < 2; i++) {
        flags[(*count)++] = &names[i]->tested;
        flags[(*count)++] = &names[i]->hit;
        flags[(*count)++] = &names[i]->excluded;
    }
    return flags;
}

void rocl_filter_put_hits(rocl_filter *f, rocl_buf *to)
{
    size_t n = 0;
    atomic_bool **flags = f ? list_flags(f, &n) : NULL;
    to->failed |= f && !flags;
    rocl_buf_varint(to, n);
    for (size_t i = 0; i < n; i++)
        rocl_buf_byte(to, atomic_load(flags[i]));
    free(flags);
}

void rocl_filter_add_hits(rocl_filter *f, rocl_byte_reader *from)
{
    size_t n = 0;
    atomic_bool **flags = f ? list_flags(f, &n) : NULL;
    from->bad |= rocl_next_number(from) != n || (f && !flags);
    const uint8_t *hits = rocl_next_bytes(from, n);
    for (size_t i = 0; hits && i < n; i++)
        if (hits[i])
            atomic_store(flags[i], true);
    free(flags);
}
