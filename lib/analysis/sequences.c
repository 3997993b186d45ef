/* The report "sequences": sequences of kernels that repeat. The names of the kernels of all streams
 * are one text. Its suffixes are sorted by their first MOST_LENGTH names, doubling the length in
 * each round; common prefixes of neighbours are the sequences that repeat. Left are those that
 * cannot be made longer on either side without losing an occurrence, and that are no repetition of
 * a shorter one; and of these, by time, those that are not nearly always inside one that was
 * taken before.
 *
 * In memory are 37 bytes for each kernel, of at most MOST_KERNELS. */
#include <stdlib.h>
#include <string.h>

#include "analysis/calls.h"
#include "analysis/distribution.h"
#include "analysis/lanes.h"
#include "base/array.h"
#include "base/map.h"
#include "base/wide.h"

enum {
    MOST_LENGTH = 128,
    MOST_KERNELS = 1 << 21,
    LEAST_PER_LANE = 4096, /* the least share of MOST_KERNELS, if there are many lanes */
    CANDIDATES = 200,      /* that are measured */
    MOST_SEQUENCES = 50
};

/* The name of kernels without a name: 0 is the terminator of a lane. */
#define NO_NAME (ROCL_NONE - 1)

/* A kernel of the text. Those of a lane are adjacent, followed by a terminator without a name. */
typedef struct position {
    int64_t ns;  /* its duration */
    int64_t gap; /* before its start */
} position;

/* A sequence that repeats: its occurrences are a range of the sorted suffixes. */
typedef struct sequence {
    uint32_t from, count; /* in the sorted suffixes */
    uint32_t length;
    uint32_t at;      /* an occurrence */
    int64_t estimate; /* its time, with occurrences that overlap */
    /* Sums over occurrences that do not overlap: */
    uint64_t calls, lanes;
    rocl_u128 time, gap_time;
    /* For its row: */
    uint64_t number;
    int64_t total, gaps;
    uint32_t first, last; /* texts */
    double percent, average, gap_average;
} sequence;

/* A kernel in a sequence. */
typedef struct place_row {
    uint64_t number, place, calls;
    uint32_t name;
    rocl_u128 time, gap_time;
    int64_t total;
    double average, gap_average;
} place_row;

/* All kernels of a name. */
typedef struct name_time {
    uint64_t calls;
    int64_t ns; /* saturates */
} name_time;

typedef struct sequences {
    rocl_collector c;
    rocl_strings *keys; /* keys of lanes */
    rocl_sorter *kernels;
    /* The text, by position: */
    uint32_t *symbols; /* equal where names are; 0 behind lanes: of those no two are equal */
    position *positions;
    uint32_t *suffixes, *ranks, *order;
    uint32_t *space; /* for sorting; then occurrences of the current sequence, by position */
    uint8_t *common; /* of a suffix with the one before it in the order */
    uint32_t count;
    uint32_t *names;  /* by symbol: texts */
    name_time *times; /* likewise; [0]: none */
    size_t name_count, name_cap, time_cap;
    uint64_t left_out; /* kernels beyond the limits */
    rocl_u128 all;     /* time of the text */
    sequence found[CANDIDATES + 1];
    unsigned found_count;
    uint64_t *marks; /* a bit for each position */
} sequences;

/* ---- the text -------------------------------------------------------------------------------- */

static rocl_status add_sequence_batch(void *self, unsigned worker, const rocl_batch *b,
                                      rocl_error *err)
{
    sequences *s = self;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < b->count && st == ROCL_OK; i++) {
        const rocl_event *e = rocl_batch_event(b, i);
        const rocl_lane_key k = rocl_lane_of(b, i);
        const uint32_t id = rocl_strings_put(s->keys, (const char *)&k, sizeof k);
        if (id == ROCL_NONE)
            return rocl_fail_memory(err);
        const uint64_t key[4] = {id, (uint64_t)e->start, (uint64_t)e->end, e->id};
        const uint64_t name = rocl_name_of(e);
        st = rocl_add_numbers(s->kernels, worker, key, &name, 1, err);
    }
    return st;
}

static bool make_text(sequences *s, size_t n)
{
    s->symbols = calloc(n, sizeof *s->symbols);
    s->positions = malloc(n * sizeof *s->positions);
    s->suffixes = malloc(n * sizeof *s->suffixes);
    s->ranks = malloc(n * sizeof *s->ranks);
    s->space = malloc(n * sizeof *s->space);
    s->order = malloc((n + 2) * sizeof *s->order);
    s->common = calloc(n + 1, sizeof *s->common);
    s->marks = calloc(n / 64 + 1, sizeof *s->marks);
    return s->symbols && s->positions && s->suffixes && s->ranks && s->space && s->order &&
           s->common && s->marks;
}

static rocl_status put_kernel(sequences *s, rocl_ids *symbol_of, uint32_t name, int64_t ns,
                              int64_t gap, rocl_error *err)
{
    uint32_t symbol = name ? rocl_ids_get(symbol_of, name) : 0;
    if (symbol == ROCL_NONE) {
        symbol = (uint32_t)s->name_count++;
        if (!ROCL_GROW(s->names, s->name_cap, s->name_count) ||
            !ROCL_GROW(s->times, s->time_cap, s->name_count) ||
            !rocl_ids_put(symbol_of, name, symbol))
            return rocl_fail_memory(err);
        s->names[symbol] = name;
    }
    s->symbols[s->count] = symbol;
    s->positions[s->count] = (position){ns, gap};
    s->all += (uint64_t)ns;
    if (symbol) {
        s->times[symbol].calls++;
        s->times[symbol].ns = rocl_add_saturated(s->times[symbol].ns, ns);
    }
    s->count++;
    return ROCL_OK;
}

static rocl_status read_text(sequences *s, rocl_error *err)
{
    const size_t lanes = rocl_strings_count(s->keys) - 1;
    const uint64_t all = rocl_sorter_count(s->kernels);
    uint64_t per_lane = lanes ? MOST_KERNELS / lanes : 0, of = 0, taken = 0;
    per_lane = per_lane > LEAST_PER_LANE ? per_lane : LEAST_PER_LANE;
    const size_t most = (size_t)(all < per_lane * lanes ? all : per_lane * lanes) + lanes + 1;
    int64_t until = 0;
    rocl_ids symbol_of = {0};
    rocl_sort_record rec;
    s->name_count = 1;
    rocl_status st = all && make_text(s, most) ? rocl_sorter_start(s->kernels, err)
                     : all                     ? rocl_fail_memory(err)
                                               : ROCL_OK;
    while (all && rocl_next_record(s->kernels, &rec, &st, err)) {
        const int64_t start = (int64_t)rec.key[1], end = (int64_t)rec.key[2];
        uint64_t name;
        rocl_read_numbers(&rec, &name, 1);
        if (rec.key[0] != of) {
            if (of)
                st = put_kernel(s, &symbol_of, 0, 0, 0, err);
            of = rec.key[0];
            taken = 0;
            until = start;
        }
        if (taken++ >= per_lane) {
            s->left_out++;
            continue;
        }
        if (st == ROCL_OK)
            st = put_kernel(s, &symbol_of, name ? (uint32_t)name : NO_NAME, end - start,
                            start > until ? start - until : 0, err);
        until = end > until ? end : until;
    }
    if (st == ROCL_OK && s->count)
        st = put_kernel(s, &symbol_of, 0, 0, 0, err);
    rocl_ids_free(&symbol_of);
    rocl_collector_free_sorter(&s->c, &s->kernels);
    return st;
}

/* ---- sorted suffixes ------------------------------------------------------------------------- */

/* Sorts positions in `from` by rank, those of one rank in their order, into suffixes. counts: space
 * for one number per rank and one more. */
static void sort_by_rank(sequences *s, const uint32_t *from, uint32_t ranks, uint32_t *counts)
{
    memset(counts, 0, ((size_t)ranks + 1) * sizeof *counts);
    for (uint32_t i = 0; i < s->count; i++)
        counts[s->ranks[i] + 1]++;
    for (uint32_t r = 0; r < ranks; r++)
        counts[r + 1] += counts[r];
    for (uint32_t i = 0; i < s->count; i++)
        s->suffixes[counts[s->ranks[from[i]]]++] = from[i];
}

/* Ranks of suffixes that are sorted by `length` names, and so by twice as many when their second
 * half is looked up: into space. Returns how many there are. */
static uint32_t rank_suffixes(sequences *s, uint32_t length)
{
    uint32_t ranks = 0, *to = s->space;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t a = s->suffixes[i], b = i ? s->suffixes[i - 1] : a;
        const bool same = i && s->ranks[a] == s->ranks[b] && a + length < s->count &&
                          b + length < s->count && s->ranks[a + length] == s->ranks[b + length];
        ranks += i && !same;
        to[a] = ranks;
    }
    s->space = s->ranks;
    s->ranks = to;
    return ranks + 1;
}

static void sort_suffixes(sequences *s)
{
    /* Each end of a lane has a rank of its own. */
    uint32_t ends = 0, ranks = (uint32_t)s->name_count;
    for (uint32_t i = 0; i < s->count; i++) {
        s->ranks[i] = s->symbols[i] ? s->symbols[i] : ranks + ends++;
        s->space[i] = i;
    }
    ranks += ends;
    sort_by_rank(s, s->space, ranks, s->order);
    for (uint32_t length = 1; length < MOST_LENGTH && ranks < s->count; length *= 2) {
        /* Sorted by the names after the first ones; at the end there are none. */
        uint32_t n = 0;
        for (uint32_t i = s->count - (length < s->count ? length : s->count); i < s->count; i++)
            s->space[n++] = i;
        for (uint32_t i = 0; i < s->count; i++)
            if (s->suffixes[i] >= length)
                s->space[n++] = s->suffixes[i] - length;
        sort_by_rank(s, s->space, ranks, s->order);
        ranks = rank_suffixes(s, length);
    }
}

/* The length of the common prefix of neighbouring suffixes: without its first name it is also
 * common to the suffixes one position later, if these are in the same order (as in Kasai's
 * algorithm). */
static void find_common(sequences *s)
{
    uint32_t *place = s->ranks, known = 0;
    for (uint32_t i = 0; i < s->count; i++)
        place[s->suffixes[i]] = i;
    for (uint32_t a = 0; a < s->count; a++) {
        if (!place[a]) {
            known = 0;
            continue;
        }
        const uint32_t b = s->suffixes[place[a] - 1];
        uint32_t n = known;
        while (n < MOST_LENGTH && s->symbols[a + n] && s->symbols[a + n] == s->symbols[b + n])
            n++;
        s->common[place[a]] = (uint8_t)n;
        known =
            n && a + 1 < s->count && b + 1 < s->count && place[b + 1] < place[a + 1] ? n - 1 : 0;
    }
}

/* ---- what repeats ---------------------------------------------------------------------------- */

static uint32_t name_at(const sequences *s, uint32_t at)
{
    const uint32_t name = s->names[s->symbols[at]];
    return name == NO_NAME ? 0 : name;
}

/* The names of two sequences: never by symbols, which depend on -j. */
static int compare_contents(const sequences *s, const sequence *a, const sequence *b)
{
    int c = rocl_number_order(a->length, b->length);
    for (uint32_t i = 0; i < a->length && !c; i++) {
        const uint32_t x = name_at(s, a->at + i), y = name_at(s, b->at + i);
        if (x != y)
            c = rocl_compare_texts(s->c.trace, x, y);
    }
    return c;
}

/* After how many kernels it is the same again. */
static uint32_t find_period(const sequences *s, uint32_t at, uint32_t length)
{
    const uint32_t *t = s->symbols + at;
    uint32_t border[MOST_LENGTH] = {0};
    for (uint32_t i = 1, k = 0; i < length; i++) {
        while (k && t[i] != t[k])
            k = border[k - 1];
        k += t[i] == t[k];
        border[i] = k;
    }
    return length - border[length - 1];
}

/* A range of sorted suffixes with a common prefix of this length. */
typedef struct stretch {
    uint32_t from, length;
    uint32_t before; /* the symbol before all of them; 0: it is not the same */
} stretch;

static uint32_t symbol_before(const sequences *s, uint32_t at)
{
    return at ? s->symbols[at - 1] : 0;
}

/* If each kernel took the mean of its name, in the order of the text, which does not change it. */
static int64_t estimate_time(const sequences *s, uint32_t at, uint32_t length)
{
    int64_t ns = 0;
    for (uint32_t i = at; i < at + length; i++) {
        const name_time *t = &s->times[s->symbols[i]];
        ns = rocl_add_saturated(ns, t->calls ? t->ns / (int64_t)t->calls : 0);
    }
    return ns;
}

/* Keeps it as a candidate, by its estimated time. */
static void end_stretch(sequences *s, const stretch *t, uint32_t past)
{
    sequence q = {.from = t->from, .count = past - t->from, .length = t->length};
    if (t->length < 2 || t->before)
        return;
    q.at = s->suffixes[t->from];
    const uint32_t period = find_period(s, q.at, q.length);
    if (period * 2 <= q.length || (q.length == MOST_LENGTH && period < q.length))
        return; /* a repetition of a shorter one */
    /* Occurrences overlap where one begins after each period. */
    const rocl_u128 all = (rocl_u128)estimate_time(s, q.at, q.length) * q.count;
    q.estimate = rocl_cut_sum(all / q.length * period);
    unsigned at = s->found_count;
    while (at && (q.estimate > s->found[at - 1].estimate ||
                  (q.estimate == s->found[at - 1].estimate &&
                   compare_contents(s, &q, &s->found[at - 1]) < 0)))
        at--;
    if (at >= CANDIDATES)
        return;
    memmove(s->found + at + 1, s->found + at, (s->found_count - at) * sizeof q);
    s->found[at] = q;
    s->found_count += s->found_count < CANDIDATES;
}

/* Stretches lie in each other: those of fewer names around those of more. */
static void find_repeats(sequences *s)
{
    stretch open[MOST_LENGTH + 2] = {{0, 0, 0}};
    unsigned depth = 0; /* how deep the innermost is */
    for (uint32_t i = 1; i <= s->count; i++) {
        const uint32_t n = i < s->count ? s->common[i] : 0;
        uint32_t from = i - 1, before = symbol_before(s, s->suffixes[i - 1]);
        while (open[depth].length > n) {
            const stretch *t = &open[depth];
            stretch *around = &open[depth - 1];
            end_stretch(s, t, i);
            from = t->from;
            before = t->before;
            around->before = around->before == before ? before : 0;
            depth--;
        }
        if (n > open[depth].length)
            open[++depth] = (stretch){from, n, before};
        if (i < s->count) {
            const uint32_t own = symbol_before(s, s->suffixes[i]);
            open[depth].before = open[depth].before == own ? own : 0;
        }
    }
}

/* ---- those that are shown -------------------------------------------------------------------- */

/* The occurrences that do not overlap, from the first on, into `space`. */
static void measure_sequence(sequences *s, sequence *q)
{
    uint32_t n = 0, until = 0, lane_until = 0;
    for (uint32_t i = q->from; i < q->from + q->count; i++)
        s->marks[s->suffixes[i] / 64] |= UINT64_C(1) << s->suffixes[i] % 64;
    for (uint32_t w = 0; n < q->count; w++) /* positions of all of them, in order */
        for (; s->marks[w]; s->marks[w] &= s->marks[w] - 1)
            s->space[n++] = w * 64 + (uint32_t)__builtin_ctzll(s->marks[w]);
    n = 0;
    q->time = q->gap_time = 0;
    q->lanes = 0;
    for (uint32_t i = 0; i < q->count; i++) {
        const uint32_t a = s->space[i], past = a + q->length;
        if (a < until)
            continue;
        until = past;
        s->space[n++] = a;
        for (uint32_t k = a; k < past; k++) {
            q->time += (uint64_t)s->positions[k].ns;
            q->gap_time += k > a ? (uint64_t)s->positions[k].gap : 0;
        }
        if (a >= lane_until) {
            q->lanes++;
            lane_until = s->order[a]; /* end of the lane */
        }
    }
    q->calls = n;
}

static int compare_sequences(const void *a, const void *b, void *ctx)
{
    const sequences *s = ctx;
    const sequence *x = a, *y = b;
    const int c = (y->time > x->time) - (y->time < x->time);
    return c ? c : compare_contents(s, y, x);
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const sequences *s = ctx;
    const sequence *x = a, *y = b;
    const int c = rocl_compare_values(
        s->c.options->sort, &(rocl_sort_values){x->total, x->total, x->calls, x->average},
        &(rocl_sort_values){y->total, y->total, y->calls, y->average});
    return c ? c : compare_sequences(a, b, ctx);
}

/* Are most of its kernels in sequences that are shown? */
static bool is_mostly_shown(const sequences *s, const sequence *q, const uint8_t *known)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < q->calls; i++)
        for (uint32_t k = 0; k < q->length; k++)
            n += known[s->space[i] + k];
    return n * 2 > q->calls * q->length;
}

/* Those that are shown come first in `found`. */
static void choose_sequences(sequences *s)
{
    uint8_t *known = s->common; /* not needed any more */
    unsigned kept = 0;
    for (uint32_t i = s->count, end = s->count; i-- > 0; s->order[i] = end)
        end = s->symbols[i] ? end : i;
    for (unsigned i = 0; i < s->found_count; i++)
        measure_sequence(s, &s->found[i]);
    qsort_r(s->found, s->found_count, sizeof *s->found, compare_sequences, s);
    memset(known, 0, s->count);
    for (unsigned i = 0; i < s->found_count && kept < MOST_SEQUENCES; i++) {
        sequence q = s->found[i];
        measure_sequence(s, &q);
        if (q.calls < 2 || is_mostly_shown(s, &q, known))
            continue;
        for (uint64_t k = 0; k < q.calls; k++)
            memset(known + s->space[k], 1, q.length);
        s->found[kept++] = q;
    }
    s->found_count = kept;
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define CELL(field) ROCL_ALWAYS, ROCL_CELL(sequence, field)
#define SUM(field)  ROCL_IN_REST, ROCL_CELL(sequence, field)

static const rocl_column sequence_columns[] = {
    {"sequence", "Sequence", ROCL_UNIT_COUNT, CELL(number)},
    {"first_kernel", "Begins with", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(sequence, first)},
    {"last_kernel", "Ends with", ROCL_UNIT_TEXT, CELL(last)},
    {"length", "Kernels", ROCL_UNIT_COUNT, ROCL_ALWAYS,
     ROCL_CELL_BY(rocl_field_count, sequence, length)},
    {"calls", "Calls", ROCL_UNIT_COUNT, SUM(calls)},
    {"streams", "Streams", ROCL_UNIT_COUNT, ROCL_MINOR, ROCL_CELL(sequence, lanes)},
    {"total_ns", "Total", ROCL_UNIT_NS, SUM(total)},
    {"percent", "Of kernels %", ROCL_UNIT_PERCENT, SUM(percent)},
    {"average_ns", "Average", ROCL_UNIT_NS, CELL(average)},
    {"gaps_ns", "Gaps", ROCL_UNIT_NS, SUM(gaps)},
    {"gaps_average_ns", "Gaps, average", ROCL_UNIT_NS, CELL(gap_average)},
};

#undef SUM
#undef CELL
#define CELL(field) ROCL_ALWAYS, ROCL_CELL(place_row, field)

static const rocl_column place_columns[] = {
    {"sequence", "Sequence", ROCL_UNIT_COUNT, CELL(number)},
    {"place", "Place", ROCL_UNIT_COUNT, CELL(place)},
    {"name", "Kernel", ROCL_UNIT_TEXT, ROCL_OTHERS, ROCL_CELL(place_row, name)},
    {"calls", "Calls", ROCL_UNIT_COUNT, ROCL_IN_REST, ROCL_CELL(place_row, calls)},
    {"total_ns", "Total", ROCL_UNIT_NS, ROCL_IN_REST, ROCL_CELL(place_row, total)},
    {"average_ns", "Average", ROCL_UNIT_NS, CELL(average)},
    {"gap_average_ns", "Gap before", ROCL_UNIT_NS, CELL(gap_average)},
};

static const rocl_table_def sequence_table = {
    ROCL_TAB(STEPS), "sequences", "Frequent sequences of kernels", ROCL_COLUMNS(sequence_columns)};
static const rocl_table_def place_table = {ROCL_TAB(STEPS), "sequence_kernels",
                                           "Kernels of frequent sequences",
                                           ROCL_COLUMNS(place_columns)};

static void add_sequence(void *into, const void *from)
{
    sequence *sum = into;
    const sequence *q = from;
    sum->calls += q->calls;
    sum->total = rocl_add_saturated(sum->total, q->total);
    sum->gaps = rocl_add_saturated(sum->gaps, q->gaps);
    sum->percent += q->percent;
}

static size_t describe_places(sequences *s, sequence *q, place_row *rows)
{
    measure_sequence(s, q);
    for (uint32_t n = 0; n < q->length; n++) {
        place_row *row = &rows[n];
        *row = (place_row){
            .number = q->number, .place = n + 1, .calls = q->calls, .name = name_at(s, q->at + n)};
        for (uint64_t i = 0; i < q->calls; i++) {
            const position *p = &s->positions[s->space[i] + n];
            row->time += (uint64_t)p->ns;
            row->gap_time += (uint64_t)p->gap;
        }
        row->total = rocl_cut_sum(row->time);
        row->average = rocl_mean_of_sum(row->time, row->calls);
        row->gap_average = n ? rocl_mean_of_sum(row->gap_time, row->calls) : __builtin_nan("");
    }
    return q->length;
}

static void add_place(void *into, const void *from)
{
    place_row *sum = into;
    sum->calls += ((const place_row *)from)->calls;
    sum->total = rocl_add_saturated(sum->total, ((const place_row *)from)->total);
}

static rocl_status finish_sequences(void *self, rocl_tables *out, rocl_error *err)
{
    sequences *s = self;
    rocl_status st = read_text(s, err);
    if (st != ROCL_OK)
        return st;
    if (s->count) {
        sort_suffixes(s);
        find_common(s);
        find_repeats(s);
        choose_sequences(s);
        for (unsigned i = 0; i < s->found_count; i++) {
            sequence *q = &s->found[i];
            q->first = name_at(s, q->at);
            q->last = name_at(s, q->at + q->length - 1);
            q->total = rocl_cut_sum(q->time);
            q->gaps = rocl_cut_sum(q->gap_time);
            q->percent = rocl_ratio(100.0 * (double)q->time, (double)s->all);
            q->average = rocl_mean_of_sum(q->time, q->calls);
            q->gap_average = rocl_mean_of_sum(q->gap_time, q->calls);
        }
        qsort_r(s->found, s->found_count, sizeof *s->found, compare_rows, s);
    }
    const size_t shown = rocl_rows_shown(s->c.options, s->found_count);
    rocl_report_rows r = rocl_begin_table(&s->c, out, &sequence_table, 0);
    if (s->left_out)
        rocl_set_note(&r, "of the first kernels of each stream; %llu kernels are left out",
                      (unsigned long long)s->left_out);
    if (!shown && r.table)
        r.table->why_empty = "no two kernels follow each other again";
    for (size_t i = 0; i < s->found_count; i++)
        s->found[i].number = i + 1;
    rocl_add_top_rows(&r, s->found, s->found_count, sizeof *s->found, add_sequence);
    size_t n = 0;
    place_row *places = malloc((size_t)MOST_SEQUENCES * MOST_LENGTH * sizeof *places);
    if (!places)
        return rocl_fail_memory(err);
    for (size_t i = 0; i < shown; i++)
        n += describe_places(s, &s->found[i], places + n);
    r = rocl_begin_table(&s->c, out, &place_table, 0);
    rocl_add_top_rows(&r, places, n, sizeof *places, add_place);
    free(places);
    return ROCL_OK;
}

/* ---- the collector --------------------------------------------------------------------------- */

static rocl_status open_sequences(void *self, rocl_error *err)
{
    sequences *s = self;
    s->keys = rocl_strings_new();
    s->kernels = rocl_collector_sorter(&s->c, 4);
    return s->keys && s->kernels && ROCL_GROW(s->names, s->name_cap, 1) ? ROCL_OK
                                                                        : rocl_fail_memory(err);
}

static void close_sequences(void *self)
{
    sequences *s = self;
    rocl_strings_free(s->keys);
    free(s->symbols);
    free(s->positions);
    free(s->suffixes);
    free(s->ranks);
    free(s->space);
    free(s->order);
    free(s->common);
    free(s->marks);
    free(s->names);
    free(s->times);
}

const rocl_collector_def rocl_sequences_collector = {
    .tables = (const rocl_table_def *const[]){&sequence_table, &place_table, NULL},
    .kinds = ROCL_BIT(ROCL_DISPATCH),
    .size = sizeof(sequences),
    .slow = true,
    .large = true,
    .open = open_sequences,
    .add_batch = add_sequence_batch,
    .finish = finish_sequences,
    .close = close_sequences,
};
