/* Which sequences a capture has, and of how many records: by worker while they are packed. And what
 * of them is written side by side. */
#include "timeline/record.h"

#include "base/array.h"
#include "base/error.h"

#include <stdlib.h>

bool rocl_sequence_count_other(rocl_sequence_counts *c, uint64_t sequence)
{
    uint32_t i = rocl_map_get(&c->places, sequence, ROCL_NONE);
    if (i == ROCL_NONE) {
        i = (uint32_t)c->count;
        if (!ROCL_GROW(c->all, c->cap, c->count + 1) || !rocl_map_put(&c->places, sequence, i))
            return false;
        c->all[c->count++] = (rocl_sequence){.number = sequence};
    }
    c->all[i].records++;
    c->recent[sequence % ROCL_SEQUENCES_RECENT] = i;
    return true;
}

void rocl_sequence_counts_free(rocl_sequence_counts *c)
{
    rocl_map_free(&c->places);
    free(c->all);
    *c = (rocl_sequence_counts){0};
}

static int by_number(const void *a, const void *b)
{
    const rocl_sequence *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

rocl_status rocl_encoder_sequences(const rocl_encoder *p, rocl_sequence **all, size_t *count,
                                   rocl_error *err)
{
    size_t n = 0;
    *count = 0;
    for (unsigned w = 0; w < p->trace->opt.jobs; w++)
        n += p->workers[w].counts.count;
    rocl_sequence *s = *all = reallocarray(NULL, n ? n : 1, sizeof *s);
    if (!s)
        return rocl_fail_memory(err);
    n = 0;
    for (unsigned w = 0; w < p->trace->opt.jobs; w++)
        for (size_t i = 0; i < p->workers[w].counts.count; i++)
            s[n++] = p->workers[w].counts.all[i];
    if (n)
        qsort(s, n, sizeof *s, by_number);
    for (size_t i = 0; i < n; i++)
        if (*count && s[*count - 1].number == s[i].number)
            s[*count - 1].records += s[i].records;
        else
            s[(*count)++] = s[i];
    return ROCL_OK;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Parts are made until there are about so many, some of them only half as large: what it takes to
 * keep some ten cores busy, and little enough to hold what is at hand of each. */
#define WANTED (ROCL_PARTS_MAX / 2)

size_t rocl_cut_parts(const rocl_sequence *all, size_t count,
                      uint64_t (*weight)(const rocl_sequence *), uint64_t least,
                      rocl_part_range parts[ROCL_PARTS_MAX])
{
    uint64_t total = 0;
    size_t n = 1;
    for (size_t i = 0; i < count; i++)
        total += weight(&all[i]);
    uint64_t enough = total / WANTED > least ? total / WANTED : least;
    rocl_part_range *p = parts;
    *p = (rocl_part_range){0};
    for (size_t i = 0; i < count; i++) {
        uint64_t more = weight(&all[i]);
        if (p->weight >= enough / 2 && p->weight + more > enough + enough / 2 &&
            n < ROCL_PARTS_MAX) {
            p = &parts[n++];
            *p = (rocl_part_range){.first = i};
        }
        p->weight += more;
        p->last = i + 1;
    }
    return n;
}

rocl_status rocl_start_parts(rocl_sorter *s, const rocl_sequence *all, const rocl_part_range *parts,
                             size_t count, rocl_error *err)
{
    uint64_t bounds[ROCL_PARTS_MAX];
    for (size_t i = 1; i < count; i++)
        bounds[i - 1] = all[parts[i].first].number << ROCL_SEQUENCE_SHIFT;
    return rocl_sorter_start_parts(s, bounds, count - 1, err);
}
