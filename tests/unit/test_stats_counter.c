/* The report on counters, against sums over all events for each row. */
#include "test_csv_world.h"
#include "tests/unit/stats_records.h"

#define VALUES   (1u << ROCL_COUNTER)
#define SAMPLES  (1u << ROCL_SPM | 1u << ROCL_SAMPLE)
#define COUNTERS (1u << ROCL_REPORT_COUNTERS)

/* ---- the other side ---- */

static const char *counter_name(const rocl_trace *t, const record *r, uint32_t counter)
{
    const rocl_capture *c = r->capture;
    if (counter < c->counter_count)
        return rocl_text(t, c->counters[counter].name, NULL);
    return r->kind == ROCL_COUNTER ? "" : rocl_text(t, r->e.name, NULL);
}

/* Is a record of the agent and rank that a row is of? */
static bool of_place(const rocl_trace *t, const rocl_table *table, size_t row, const record *r,
                     uint32_t agent, uint32_t counter)
{
    const rocl_capture *c = r->capture;
    char name[320], host[128] = "";
    if (has_column(table, "rank")) {
        const rocl_datum *d = cell(table, row, "rank");
        if ((d->type == ROCL_DATUM_INT ? d->i : -1) != c->processes[r->e.process].rank)
            return false;
    }
    if (!has_column(table, "agent"))
        return true;
    if (agent == ROCL_NONE && counter < c->counter_count)
        agent = c->counters[counter].agent;
    if (rocl_trace_machines(t) > 1)
        snprintf(host, sizeof host, " on %s", rocl_text(t, c->nodes[0].hostname, NULL));
    snprintf(name, sizeof name, "%s%s",
             agent == ROCL_NONE ? "unknown" : rocl_text(t, c->agents[agent].device, NULL),
             agent == ROCL_NONE ? host : "");
    return !strcmp(name, text_if_any(table, row, "agent"));
}

static bool unit_is(const rocl_trace *t, const rocl_table *table, size_t row, const record *r,
                    uint32_t counter)
{
    const rocl_capture *c = r->capture;
    const char *unit =
        counter < c->counter_count ? rocl_text(t, c->counters[counter].units, NULL) : "";
    return !strcmp(unit, text_if_any(table, row, "unit"));
}

static bool in_counter_row(const rocl_trace *t, const rocl_table *table, size_t row,
                           const record *r)
{
    uint32_t counter = r->counter.counter;
    return !strcmp(rocl_text(t, r->e.name, NULL), text_if_any(table, row, "kernel")) &&
           !strcmp(counter_name(t, r, counter), text_if_any(table, row, "counter")) &&
           unit_is(t, table, row, r, counter) &&
           of_place(t, table, row, r, r->counter.d.agent, counter);
}

static void check_counters(const rocl_trace *t, const rocl_tables *tables, records *all)
{
    const rocl_table *table = table_of(tables, "counters");
    size_t seen = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        long double sum = 0;
        double min = INFINITY, max = -INFINITY;
        int64_t n = 0;
        for (size_t i = 0; i < all->count; i++) {
            if (all->all[i].seen || !in_counter_row(t, table, row, &all->all[i]))
                continue;
            double v = all->all[i].counter.value;
            all->all[i].seen = true;
            n++;
            sum += v;
            min = fmin(min, v);
            max = fmax(max, v);
        }
        check_int(table, row, "dispatches", n);
        check_real(table, row, "sum", (double)sum);
        check_real(table, row, "mean", (double)(sum / n));
        check_real(table, row, "min", min);
        check_real(table, row, "max", max);
        seen += (size_t)n;
    }
    assert_int_equal(seen, all->count);
}

static bool same_series(const record *a, const record *b)
{
    const rocl_sample_value *x = &a->sample, *y = &b->sample;
    return a->capture == b->capture && a->kind == b->kind && x->counter == y->counter &&
           x->agent == y->agent && x->xcc == y->xcc && x->shader_engine == y->shader_engine &&
           x->instance == y->instance && x->shader_array == y->shader_array && x->wgp == y->wgp &&
           x->e.name == y->e.name && x->e.process == y->e.process;
}

static bool in_sample_row(const rocl_trace *t, const rocl_table *table, size_t row, const record *r)
{
    uint32_t counter = r->sample.counter;
    return !strcmp(rocl_kind_name(r->kind), text_if_any(table, row, "kind")) &&
           !strcmp(counter_name(t, r, counter), text_if_any(table, row, "counter")) &&
           unit_is(t, table, row, r, counter) &&
           of_place(t, table, row, r, r->sample.agent, counter);
}

/* How long a value lasts: until the next of its series by time, row and value. */
static int64_t lasts(const records *all, size_t at)
{
    const record *r = &all->all[at];
    const record *next = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const record *o = &all->all[i];
        bool later = o->e.start != r->e.start ? o->e.start > r->e.start : o->e.id > r->e.id;
        if (i == at || !later || !same_series(r, o))
            continue;
        if (!next || o->e.start < next->e.start)
            next = o;
    }
    return next ? next->e.start - r->e.start : 0;
}

static void check_samples(const rocl_trace *t, const rocl_tables *tables, records *all)
{
    const rocl_table *table = table_of(tables, "samples");
    size_t seen = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        long double sum = 0, weighted = 0, ns = 0;
        double min = INFINITY, max = -INFINITY;
        int64_t n = 0;
        for (size_t i = 0; i < all->count; i++) {
            if (all->all[i].seen || !in_sample_row(t, table, row, &all->all[i]))
                continue;
            double v = all->all[i].sample.value;
            long double last = (long double)lasts(all, i);
            all->all[i].seen = true;
            n++;
            sum += v;
            weighted += v * last;
            ns += last;
            min = fmin(min, v);
            max = fmax(max, v);
        }
        check_int(table, row, "samples", n);
        check_real(table, row, "mean", (double)(ns > 0 ? weighted / ns : sum / n));
        check_real(table, row, "min", min);
        check_real(table, row, "max", max);
        seen += (size_t)n;
    }
    assert_int_equal(seen, all->count);
}

static void check_report(rocl_trace *t, const rocl_stats_options *o)
{
    rocl_tables *tables = stats_of(t, o);
    records values = records_of(t, VALUES), samples = records_of(t, SAMPLES);
    check_counters(t, tables, &values);
    check_samples(t, tables, &samples);
    free(values.all);
    free(samples.all);
    rocl_tables_free(tables);
}

/* ---- fixtures ---- */

static const char *const traces[] = {
    "everything",    "schema-3.0.0", "schema-4.1.0", "sampled",
    "sampled-4.1.0", "spm",          "spm-3.0.5",    "nasty-3.0.0",
    "no-pmc",        "merged",       "rank0 rank1",  "node-rank0 node-rank1",
};

static void test_fixtures(void **state)
{
    const rocl_options o = {.jobs = 2};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++)
        for (unsigned by = 0; by < 4; by++) {
            const rocl_stats_options s = {
                .reports = COUNTERS, .by_rank = by & 1, .by_agent = by & 2, .sort = by};
            rocl_trace *t = open_trace(traces[i], &o);
            check_report(t, &s);
            rocl_trace_close(t);
        }
}

/* Within a counter in the order that was asked for. */
static void test_sorts(void **state)
{
    static const char *const keys[] = {[ROCL_BY_TOTAL] = "sum",
                                       [ROCL_BY_CALLS] = "dispatches",
                                       [ROCL_BY_AVERAGE] = "mean",
                                       [ROCL_BY_MAX] = "max"};
    const rocl_options o = {.jobs = 2};
    (void)state;
    for (unsigned by = ROCL_BY_TOTAL; by <= ROCL_BY_NAME; by++) {
        const rocl_stats_options s = {.reports = COUNTERS, .sort = by};
        rocl_trace *t = open_trace("sampled", &o);
        rocl_tables *tables = stats_of(t, &s);
        const rocl_table *table = table_of(tables, "counters");
        for (size_t row = 1; row < table->row_count; row++) {
            int c =
                strcmp(text_if_any(table, row - 1, "counter"), text_if_any(table, row, "counter"));
            assert_true(c <= 0);
            if (c < 0)
                continue;
            if (by == ROCL_BY_NAME) {
                assert_true(strcmp(text_if_any(table, row - 1, "kernel"),
                                   text_if_any(table, row, "kernel")) < 0);
                continue;
            }
            const rocl_datum *a = cell(table, row - 1, keys[by]), *b = cell(table, row, keys[by]);
            assert_true((a->type == ROCL_DATUM_INT ? (double)a->i : a->r) >=
                        (b->type == ROCL_DATUM_INT ? (double)b->i : b->r));
        }
        rocl_tables_free(tables);
        rocl_trace_close(t);
    }
}

static int64_t dispatches_of(const rocl_table *t)
{
    int64_t n = 0;
    for (size_t row = 0; row < t->row_count; row++)
        n += int_of(t, row, "dispatches");
    return n;
}

/* --top is by counter, and a row holds the others of each. */
static void test_top(void **state)
{
    const rocl_options o = {.jobs = 2};
    (void)state;
    rocl_trace *t = open_trace("sampled", &o);
    rocl_tables *whole = stats_of(t, &(rocl_stats_options){.reports = COUNTERS});
    for (size_t top = 1; top < 5; top++) {
        rocl_tables *cut = stats_of(t, &(rocl_stats_options){.reports = COUNTERS, .top = top});
        const rocl_table *table = table_of(cut, "counters");
        size_t rows = 0;
        for (size_t row = 0; row < table->row_count; row++) {
            bool first = !row || strcmp(text_if_any(table, row - 1, "counter"),
                                        text_if_any(table, row, "counter"));
            rows = first ? 1 : rows + 1;
            assert_true(rows <= top + 1);
            assert_int_equal(rows == top + 1, text_if_any(table, row, "kernel")[0] == '(');
        }
        assert_int_equal(dispatches_of(table), dispatches_of(table_of(whole, "counters")));
        rocl_tables_free(cut);
    }
    rocl_tables_free(whole);
    rocl_trace_close(t);
}

static void test_same_bytes(void **state)
{
    const rocl_stats_options s = {.reports = COUNTERS, .by_agent = true, .by_rank = true};
    (void)state;
    for (size_t i = 0; i < COUNT(traces); i++)
        check_same_bytes(traces[i], &s);
}

static void test_nothing(void **state)
{
    (void)state;
    check_nothing(COUNTERS, 6);
}

/* ---- made-up events ---- */

static world_event random_sample(uint64_t *dice, size_t row, double value)
{
    world_event e = {.kind = draw_from(dice, 2) ? ROCL_SPM : ROCL_SAMPLE};
    rocl_sample_value *v = &e.as.sample;
    v->e.start = v->e.end = (int64_t)draw_from(dice, 100);
    v->e.id = row;
    v->counter = (uint32_t)draw_from(dice, 3);
    v->agent = (uint32_t)draw_from(dice, 2);
    v->value = value;
    v->xcc = (int64_t)draw_from(dice, 2);
    v->shader_engine = v->instance = v->shader_array = v->wgp = -1;
    return e;
}

static void test_random(void **state)
{
    static world_event events[400];
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const rocl_stats_options s = {.reports = COUNTERS, .by_agent = seed & 1};
        const char *const kernels[] = {"gemm", "copy", "fill"};
        uint64_t dice = seed;
        world w;
        world_open(&w, (unsigned)(1 + seed % 3), events, COUNT(events));
        for (size_t i = 0; i < COUNT(events); i++) {
            double value = (double)draw_from(&dice, 1 << 20) - (double)draw_from(&dice, 1 << 20);
            if (seed % 2)
                value *= 0.1;
            events[i] = random_sample(&dice, i + 1, value);
            if (draw_from(&dice, 2))
                continue;
            events[i] = (world_event){.kind = ROCL_COUNTER};
            rocl_counter_value *v = &events[i].as.counter;
            v->d.e.name = text(&w, kernels[draw_from(&dice, COUNT(kernels))]);
            v->d.agent = (uint32_t)draw_from(&dice, 2);
            v->counter = (uint32_t)draw_from(&dice, 3);
            v->value = value;
        }
        w.tasks = 1 + seed % 5;
        check_report(&w.trace, &s);
        world_close(&w);
    }
}

/* A small value is not lost beside large ones that cancel out; what is not finite is left out. */
static void test_exact(void **state)
{
    static world_event events[4];
    static const double values[2][4] = {{1e17, 1, -1e17, 0.5}, {INFINITY, 1, -INFINITY, 2}};
    const rocl_stats_options s = {.reports = COUNTERS};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        world w;
        world_open(&w, 1, events, COUNT(events));
        for (size_t i = 0; i < COUNT(events); i++) {
            events[i] = (world_event){.kind = ROCL_COUNTER};
            events[i].as.counter.d.e.name = text(&w, "k");
            events[i].as.counter.value = values[k][i];
        }
        rocl_tables *all = stats_of(&w.trace, &s);
        check_real(table_of(all, "counters"), 0, "sum", k ? 3 : 1.5);
        assert_int_equal(strlen(text_if_any(table_of(all, "counters"), 0, "unit")), 5);
        free(bytes_of(all, ROCL_TABLE_JSON));
        rocl_tables_free(all);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixtures), cmocka_unit_test(test_sorts),
        cmocka_unit_test(test_top),      cmocka_unit_test(test_random),
        cmocka_unit_test(test_exact),    cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
