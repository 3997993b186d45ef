/* How many events begin when, and which stretch of time has every event in a page that cannot have
 * all. */
#include "page/page.h"

#include <string.h>

void page_times_open(page_times *t)
{
    *t = (page_times){.first = INT64_MAX, .last = INT64_MIN};
}

static uint64_t *bin_of(page_times *t, int64_t number)
{
    return &t->bins[(uint64_t)number % PAGE_BINS];
}

/* Makes the bins twice as long. */
static void double_bins(page_times *t)
{
    uint64_t old[PAGE_BINS];
    memcpy(old, t->bins, sizeof old);
    memset(t->bins, 0, sizeof t->bins);
    for (int64_t n = t->low; n <= t->high; n++)
        *bin_of(t, n >> 1) += old[(uint64_t)n % PAGE_BINS];
    t->shift++;
    t->low >>= 1;
    t->high >>= 1;
}

static void widen_bins(page_times *t, int64_t first, int64_t last)
{
    for (;; double_bins(t)) {
        const int64_t low = first >> t->shift < t->low ? first >> t->shift : t->low;
        const int64_t high = last >> t->shift > t->high ? last >> t->shift : t->high;
        if ((uint64_t)high - (uint64_t)low < PAGE_BINS) {
            t->low = low;
            t->high = high;
            return;
        }
    }
}

void page_times_add(page_times *t, int64_t begin, int64_t end, unsigned events)
{
    if (t->first > t->last)
        t->low = t->high = begin >> t->shift;
    t->first = begin < t->first ? begin : t->first;
    t->last = end > t->last ? end : t->last;
    const int64_t n = begin >> t->shift;
    if (n < t->low || n > t->high)
        widen_bins(t, begin, begin);
    *bin_of(t, begin >> t->shift) += events;
}

void page_times_join(page_times *to, const page_times *from)
{
    if (from->first > from->last)
        return;
    page_times more = *from;
    if (to->first > to->last) {
        *to = more;
        return;
    }
    to->first = more.first < to->first ? more.first : to->first;
    to->last = more.last > to->last ? more.last : to->last;
    while (more.shift < to->shift)
        double_bins(&more);
    while (to->shift < more.shift)
        double_bins(to);
    widen_bins(to, more.low * ((int64_t)1 << more.shift), more.high * ((int64_t)1 << more.shift));
    while (more.shift < to->shift)
        double_bins(&more);
    for (int64_t n = more.low; n <= more.high; n++)
        *bin_of(to, n) += *bin_of(&more, n);
}

/* Takes the stretches of bins that cannot be longer without having more than `most` events, of
 * them those that have nearly as many as any, and of these the one with most events in its time. A
 * bin alone that has more is cut as if they were even in it. */
void page_times_densest(const page_times *t, uint64_t most, int64_t *from, int64_t *to)
{
    page_times *bins = (page_times *)(uintptr_t)t;
    int64_t best = t->low, best_end = t->low + 1;
    uint64_t best_events = 0, largest = 0;
    for (int pass = 0; pass < 2; pass++) { /* the first finds the largest */
        int64_t end = t->low;
        uint64_t events = 0;
        for (int64_t begin = t->low; begin <= t->high; begin++) {
            if (end <= begin) {
                end = begin + 1;
                events = *bin_of(bins, begin);
            }
            while (end <= t->high && events + *bin_of(bins, end) <= most)
                events += *bin_of(bins, end++);
            if (!pass)
                largest = events > largest ? events : largest;
            else if (events >= largest - largest / 10 &&
                     (double)events * (double)(best_end - best) >
                         (double)best_events * (double)(end - begin)) {
                best = begin;
                best_end = end;
                best_events = events;
            }
            events -= *bin_of(bins, begin);
        }
    }
    *from = best * ((int64_t)1 << t->shift);
    *to = (int64_t)(((uint64_t)best_end << t->shift) - 1);
    if (best_events > most) /* one bin */
        *to = *from + (int64_t)((double)(*to - *from) * (double)most / (double)best_events);
}
