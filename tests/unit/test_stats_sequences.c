/* The report on sequences of kernels, by counting all parts of short texts. */
#include "test_csv_world.h"
#include "model/identity.h"
#include "tests/unit/stats_records.h"

#define SEQUENCES (1u << ROCL_REPORT_STEPS)

enum { STREAMS = 3, PER_STREAM = 50, EVENTS = STREAMS * PER_STREAM, MOST = 8000 };

/* ---- the other side ---- */

typedef struct kernel {
    char name;
    int64_t start, end;
} kernel;

typedef struct text {
    kernel all[PER_STREAM];
    size_t count;
} text_of_stream;

typedef struct part {
    char names[PER_STREAM + 1];
    size_t length, found; /* found: also where they overlap */
    size_t calls, streams;
    int64_t total, gaps;
} part;

typedef struct ground {
    text_of_stream streams[STREAMS];
    part parts[MOST];
    size_t count;
    bool known[STREAMS][PER_STREAM];
} ground;

static bool is_at(const text_of_stream *t, size_t at, const char *names, size_t length)
{
    if (at + length > t->count)
        return false;
    for (size_t i = 0; i < length; i++)
        if (t->all[at + i].name != names[i])
            return false;
    return true;
}

/* What stands before or behind each occurrence; 0: not the same, or nothing. */
static char neighbour_of(const ground *g, const part *p, bool behind)
{
    char all = 1;
    for (size_t k = 0; k < STREAMS; k++)
        for (size_t i = 0; i < g->streams[k].count; i++) {
            const text_of_stream *t = &g->streams[k];
            if (!is_at(t, i, p->names, p->length))
                continue;
            const size_t at = behind ? i + p->length : i - 1;
            const char own = at < t->count ? t->all[at].name : 0;
            all = all == 1 || all == own ? own : 0;
            if (!own)
                return 0;
        }
    return all;
}

static bool is_repetition(const part *p)
{
    for (size_t period = 1; period * 2 <= p->length; period++) {
        size_t i = period;
        while (i < p->length && p->names[i] == p->names[i - period])
            i++;
        if (i == p->length)
            return true;
    }
    return false;
}

/* Calls fn for the occurrences that do not overlap. */
static void for_each(ground *g, part *p, void (*fn)(ground *g, part *p, size_t stream, size_t at))
{
    for (size_t k = 0; k < STREAMS; k++)
        for (size_t i = 0; i < g->streams[k].count;) {
            const bool is = is_at(&g->streams[k], i, p->names, p->length);
            if (is)
                fn(g, p, k, i);
            i += is ? p->length : 1;
        }
}

static void add_call(ground *g, part *p, size_t stream, size_t at)
{
    static size_t last;
    const kernel *k = &g->streams[stream].all[at];
    p->streams += !p->calls || last != stream;
    last = stream;
    p->calls++;
    for (size_t i = 0; i < p->length; i++) {
        p->total += k[i].end - k[i].start;
        p->gaps += i ? k[i].start - k[i - 1].end : 0;
    }
}

static size_t known;

static void count_known(ground *g, part *p, size_t stream, size_t at)
{
    for (size_t i = 0; i < p->length; i++)
        known += g->known[stream][at + i];
}

static void set_known(ground *g, part *p, size_t stream, size_t at)
{
    for (size_t i = 0; i < p->length; i++)
        g->known[stream][at + i] = true;
}

static int by_total(const void *a, const void *b)
{
    const part *x = a, *y = b;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return strcmp(y->names, x->names);
}

static void find_parts(ground *g)
{
    for (size_t k = 0; k < STREAMS; k++)
        for (size_t at = 0; at < g->streams[k].count; at++)
            for (size_t length = 2; at + length <= g->streams[k].count; length++) {
                part p = {.length = length};
                bool old = false;
                for (size_t i = 0; i < length; i++)
                    p.names[i] = g->streams[k].all[at + i].name;
                for (size_t i = 0; i < g->count && !old; i++)
                    old = !strcmp(g->parts[i].names, p.names);
                for (size_t s = 0; s < STREAMS && !old; s++)
                    for (size_t i = 0; i < g->streams[s].count; i++)
                        p.found += is_at(&g->streams[s], i, p.names, length);
                if (old || p.found < 2 || neighbour_of(g, &p, false) || neighbour_of(g, &p, true) ||
                    is_repetition(&p))
                    continue;
                for_each(g, &p, add_call);
                assert_true(g->count < MOST);
                g->parts[g->count++] = p;
            }
    qsort(g->parts, g->count, sizeof *g->parts, by_total);
    size_t kept = 0;
    for (size_t i = 0; i < g->count && kept < 50; i++) {
        part *p = &g->parts[i];
        known = 0;
        for_each(g, p, count_known);
        if (p->calls < 2 || known * 2 > p->calls * p->length)
            continue;
        for_each(g, p, set_known);
        g->parts[kept++] = *p;
    }
    g->count = kept;
}

/* ---- tables ---- */

static void check_tables(ground *g, const rocl_tables *all, int64_t time)
{
    const rocl_table *t = table_of(all, "sequences"), *places = table_of(all, "sequence_kernels");
    size_t place = 0;
    assert_int_equal(t->row_count, g->count);
    for (size_t row = 0; row < t->row_count; row++) {
        const part *p = &g->parts[row];
        const char first[2] = {p->names[0]}, last[2] = {p->names[p->length - 1]};
        check_int(t, row, "sequence", (int64_t)row + 1);
        check_text(t, row, "first_kernel", first);
        check_text(t, row, "last_kernel", last);
        check_int(t, row, "length", (int64_t)p->length);
        check_int(t, row, "calls", (int64_t)p->calls);
        check_int(t, row, "streams", (int64_t)p->streams);
        check_int(t, row, "total_ns", p->total);
        check_int(t, row, "gaps_ns", p->gaps);
        check_real(t, row, "percent", 100.0 * (double)p->total / (double)time);
        check_real(t, row, "average_ns", (double)p->total / (double)p->calls);
        int64_t sum = 0;
        for (size_t i = 0; i < p->length; i++, place++) {
            const char name[2] = {p->names[i]};
            check_int(places, place, "sequence", (int64_t)row + 1);
            check_int(places, place, "place", (int64_t)i + 1);
            check_text(places, place, "name", name);
            check_int(places, place, "calls", (int64_t)p->calls);
            sum += int_of(places, place, "total_ns");
        }
        assert_int_equal(sum, p->total);
    }
    assert_int_equal(place, places->row_count);
}

/* Loops of a few names, with noise. */
static char next_name(uint64_t *dice, uint64_t seed, size_t i)
{
    static const char *const loops[] = {"ab", "abc", "aab", "abcdab", "abcde"};
    const char *loop = loops[seed % COUNT(loops)];
    if (draw_from(dice, 100) < seed % 40)
        return (char)('a' + draw_from(dice, 2 + seed % 4));
    return loop[i % strlen(loop)];
}

static void test_random(void **state)
{
    static world_event events[EVENTS];
    rocl_stream streams[STREAMS] = {{.id = 5}, {.id = 6}, {.id = 4}};
    (void)state;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        uint64_t dice = seed;
        ground *g = calloc(1, sizeof *g);
        world w;
        size_t n = 0;
        int64_t time = 0;
        assert_non_null(g);
        world_open(&w, (unsigned)(1 + seed % 3), events, 0);
        for (size_t k = 0; k < STREAMS; k++) {
            int64_t now = (int64_t)draw_from(&dice, 100);
            const size_t count = seed % 7 ? draw_from(&dice, PER_STREAM + 1) : seed % 3;
            for (size_t i = 0; i < count; i++) {
                const char name[2] = {next_name(&dice, seed, i)};
                world_event *e = &events[n++];
                *e = (world_event){.kind = ROCL_DISPATCH};
                now += (int64_t)draw_from(&dice, 10);
                e->as.e.start = now;
                now += 1 + (int64_t)draw_from(&dice, 20);
                e->as.e.end = now;
                e->as.e.id = n;
                e->as.e.name = text(&w, name);
                e->as.dispatch.stream = (uint32_t)k;
                e->as.dispatch.queue = ROCL_NONE;
                g->streams[k].all[i] = (kernel){name[0], e->as.e.start, now};
                time += now - e->as.e.start;
            }
            g->streams[k].count = count;
        }
        w.count = n;
        w.capture.pub.streams = streams;
        w.capture.pub.stream_count = STREAMS;
        assert_int_equal(rocl_identity_make(&w.trace, NULL), ROCL_OK);
        w.tasks = 1 + seed % 5;
        find_parts(g);
        const rocl_stats_options s = {.reports = SEQUENCES};
        rocl_tables *all = stats_of(&w.trace, &s);
        check_tables(g, all, time);
        rocl_tables_free(all);
        world_close(&w);
        free(g);
    }
}

static world_event kernel_at(world *w, size_t i, uint32_t name)
{
    world_event e = {.kind = ROCL_DISPATCH};
    char label[16];
    snprintf(label, sizeof label, "k%u", name);
    e.as.e = (rocl_event){.id = i + 1,
                          .start = (int64_t)i * 10,
                          .end = (int64_t)i * 10 + 7,
                          .duration = 7,
                          .name = text(w, label)};
    e.as.dispatch.stream = 0;
    e.as.dispatch.queue = ROCL_NONE;
    return e;
}

/* A loop of 200 different kernels is longer than what is looked for; one of 20 is found whole. */
static void test_loops(void **state)
{
    enum { COUNT_OF_KERNELS = 2000 };
    static world_event events[COUNT_OF_KERNELS];
    static const uint32_t periods[] = {20, 128, 200, 1};
    (void)state;
    for (size_t k = 0; k < COUNT(periods); k++) {
        const rocl_stats_options s = {.reports = SEQUENCES};
        world w;
        world_open(&w, 1, events, COUNT_OF_KERNELS);
        assert_int_equal(rocl_identity_make(&w.trace, NULL), ROCL_OK);
        for (size_t i = 0; i < COUNT_OF_KERNELS; i++)
            events[i] = kernel_at(&w, i, (uint32_t)i % periods[k]);
        rocl_tables *all = stats_of(&w.trace, &s);
        const rocl_table *t = table_of(all, "sequences");
        if (periods[k] == 1) {
            assert_int_equal(t->row_count, 0);
        } else {
            check_int(t, 0, "length", periods[k] < 128 ? periods[k] : 128);
            check_int(t, 0, "calls", COUNT_OF_KERNELS / periods[k]);
            check_int(t, 0, "gaps_ns", int_of(t, 0, "calls") * (int_of(t, 0, "length") - 1) * 3);
        }
        rocl_tables_free(all);
        world_close(&w);
    }
}

static void test_same_bytes(void **state)
{
    static const char *const traces[] = {"everything", "schema-3.0.5", "nasty-3.0.0", "graph",
                                         "rank0 rank1"};
    const rocl_stats_options s = {.reports = SEQUENCES};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++)
        check_same_bytes(traces[i], &s);
}

static void test_nothing(void **state)
{
    (void)state;
    check_nothing(SEQUENCES, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests_name("stats_sequences", tests, enter, leave);
}
