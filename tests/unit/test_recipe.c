/* The report that lib/README.md tells people to write: it is compiled from that text, and run as a
 * collector over the trace of the demo. */
#include "stats.h"

#include "analysis/report.h"
#include "trace/pipeline.h"

/* The first step of the recipe: here it takes the place of another report. */
#define ROCL_REPORT_HOST_CALLS ROCL_REPORT_DOCTOR

#include "tests/recipe_report.h"

static rocl_status add_batch(void *self, unsigned worker, rocl_batch *b, rocl_error *err)
{
    return rocl_host_calls_collector.add_batch(self, worker, b, err);
}

static rocl_status add_call(void *sum, unsigned worker, const rocl_batch *b, rocl_error *err)
{
    (void)worker;
    (void)err;
    for (size_t i = 0; i < b->count; i++)
        *(int64_t *)sum += b->regions[i].e.end - b->regions[i].e.start;
    return ROCL_OK;
}

/* The sums of all workers are those of a loop over the events. */
static void test_report(void **state)
{
    (void)state;
    for (unsigned jobs = 1; jobs <= 4; jobs++) {
        const rocl_options o = {.jobs = jobs}, one = {.jobs = 1};
        const rocl_stats_options s = {.reports = BIT(ROCL_REPORT_HOST_CALLS)};
        rocl_error *err = rocl_error_new();
        int64_t total = 0;
        rocl_trace *t = open_trace("demo", &o), *alone = open_trace("demo", &one);
        host_calls h = {.c = {.def = &rocl_host_calls_collector, .trace = t, .options = &s}};
        const rocl_sink sink = {
            .self = &h, .kinds = rocl_host_calls_collector.kinds, .events = add_batch};
        rocl_tables *tables = rocl_tables_new();
        assert_int_equal(rocl_pipeline_run(t, &sink, err), ROCL_OK);
        assert_int_equal(rocl_host_calls_collector.finish(&h, tables, err), ROCL_OK);
        const rocl_table *made = table_of(tables, "host_calls");
        assert_int_equal(made->row_count, 1);
        assert_int_equal(rocl_trace_scan(alone, BIT(ROCL_REGION), 0, add_call, &total, err),
                         ROCL_OK);
        check_int(made, 0, "total_ns", total);
        rocl_tables_free(tables);
        rocl_error_free(err);
        rocl_trace_close(alone);
        rocl_trace_close(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_report)};
    return cmocka_run_group_tests_name("recipe", tests, NULL, NULL);
}
