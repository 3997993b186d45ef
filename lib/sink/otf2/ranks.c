/* Copies name the other end by its rank in the process, which has to be known when they are
 * written: the encoder has noted which ends there are. */
#include <stdlib.h>

#include "base/error.h"
#include "sink/otf2/ot.h"

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t process_of(uint64_t end)
{
    return (uint32_t)(end >> 32);
}

/* What all workers have noted, each end once. */
static rocl_status collect(ot_ends *e, const rocl_encoder *p, rocl_error *err)
{
    size_t n = 0, count = 0;
    uint32_t one;
    for (unsigned w = 0; w < p->trace->opt.jobs; w++)
        n += p->workers[w].ends.count;
    e->all = reallocarray(NULL, n + 1, sizeof *e->all);
    if (!e->all)
        return rocl_fail_memory(err);
    for (unsigned w = 0; w < p->trace->opt.jobs; w++)
        for (size_t at = 0; rocl_map_next(&p->workers[w].ends, &at, &e->all[count], &one);)
            count++;
    qsort(e->all, count, sizeof *e->all, by_number);
    for (size_t i = 0; i < count; i++)
        if (!e->count || e->all[e->count - 1] != e->all[i])
            e->all[e->count++] = e->all[i];
    return ROCL_OK;
}

rocl_status ot_ends_begin(ot_sink *s, rocl_error *err)
{
    ot_ends *e = &s->ends;
    uint32_t rank = 0;
    rocl_status st = collect(e, &s->encoder, err);
    size_t processes = s->world.capture->process_count;
    e->windows = calloc(processes + 1, sizeof *e->windows);
    e->used = calloc(processes + 1, sizeof *e->used);
    if (st == ROCL_OK && !(e->windows && e->used))
        st = rocl_fail_memory(err);
    for (size_t i = 0; i < e->count && st == ROCL_OK; i++) {
        uint32_t process = process_of(e->all[i]);
        if (!i || process_of(e->all[i - 1]) != process) {
            rank = 0;
            e->windows[process] = e->next_window++;
        }
        if (!rocl_map_put(&e->ranks, e->all[i], rank++))
            st = rocl_fail_memory(err);
    }
    return st;
}

void ot_ends_forget(ot_ends *e)
{
    free(e->all);
    free(e->windows);
    free(e->used);
    rocl_map_free(&e->ranks);
    *e = (ot_ends){.next_window = e->next_window};
}

/* In the order in which they were numbered. */
static void rank_end(ot_sink *s, uint64_t end)
{
    ot_world *w = &s->world;
    uint32_t process = process_of(end), agent = (uint32_t)end;
    uint32_t creator = ot_process_group(w, process);
    uint32_t group = agent ? ot_agent_group(w, process, agent - 1) : creator;
    w->groups[creator].window = s->ends.windows[process];
    ot_rank_new(w, ot_group_location(w, group));
}

void ot_ends_join(ot_sink *s)
{
    ot_ends *e = &s->ends;
    for (uint32_t i = 0; i < s->found_count; i++)
        e->used[s->found[i].process] |= s->found[i].copies;
    for (size_t i = 0; i < e->count; i++)
        if (e->used[process_of(e->all[i])])
            rank_end(s, e->all[i]);
    for (uint32_t i = 0; i < s->found_count; i++)
        if (s->found[i].copies)
            ot_rank_new(&s->world, s->found[i].location);
}
