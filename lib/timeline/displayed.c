#include "timeline/displayed.h"

#include <stdlib.h>

bool rocl_displayed_open(rocl_displayed *s, uint32_t counters)
{
    *s = (rocl_displayed){.ends = malloc(counters * sizeof *s->ends),
                          .list = calloc(counters, sizeof *s->list)};
    for (uint32_t i = 0; s->ends && i < counters; i++)
        s->ends[i] = INT64_MIN;
    return s->ends && s->list;
}

void rocl_displayed_close(rocl_displayed *s)
{
    free(s->ends);
    free(s->list);
    *s = (rocl_displayed){0};
}

static uint32_t first_to_end(const rocl_displayed *s)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < s->count; i++)
        if (s->ends[s->list[i]] < s->ends[s->list[first]])
            first = i;
    return first;
}

bool rocl_displayed_end(rocl_displayed *s, int64_t until, uint32_t successor, uint32_t *counter,
                        int64_t *when)
{
    while (s->count) {
        uint32_t first = first_to_end(s);
        *counter = s->list[first];
        *when = s->ends[*counter];
        if (*when > until)
            return false;
        s->ends[*counter] = INT64_MIN;
        s->list[first] = s->list[--s->count];
        if (*when < until || *counter != successor)
            return true;
    }
    return false;
}

void rocl_displayed_set(rocl_displayed *s, uint32_t counter, int64_t end)
{
    if (s->ends[counter] == INT64_MIN)
        s->list[s->count++] = counter;
    s->ends[counter] = end;
}
