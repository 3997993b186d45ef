/* Faulty rows are counted as what they are. */
#include "tests/unit/rocpd.h"

#include "base/lz4.h"

/* What each broken row of the generator counts as; those that are not here are no faults. */
static const struct {
    const char *name;
    rocl_fault fault;
    unsigned times; /* a row */
} expected[] = {
    {"region_end_before_start", ROCL_FAULT_END_BEFORE_START, 1},
    {"region_end_zero", ROCL_FAULT_NO_END, 1},
    {"region_before_process", ROCL_FAULT_BEFORE_PROCESS, 1},
    {"region_dangling_name", ROCL_FAULT_DANGLING_NAME, 1},
    {"region_dangling_thread", ROCL_FAULT_DANGLING_THREAD, 1},
    {"region_dangling_process", ROCL_FAULT_DANGLING_PROCESS, 1},
    {"region_dangling_track", ROCL_FAULT_DANGLING_TRACK, 1},
    {"region_dangling_event", ROCL_FAULT_DANGLING_EVENT, 1},
    {"region_longest", ROCL_FAULT_BAD_TIME, 1},
    {"region_negative_time", ROCL_FAULT_BAD_TIME, 1},
    {"region_text_start", ROCL_FAULT_BAD_TIME, 1},
    {"region_real_start", ROCL_FAULT_BAD_TIME, 1},
    {"region_blob_end", ROCL_FAULT_BAD_TIME, 1},
    {"event_dangling_category", ROCL_FAULT_DANGLING_NAME, 1},
    {"event_extdata_not_json", ROCL_FAULT_BAD_JSON, 1},
    {"event_extdata_cut", ROCL_FAULT_BAD_JSON, 1},
    {"event_extdata_bad_frame", ROCL_FAULT_BAD_JSON, 1},
    {"event_extdata_blob", ROCL_FAULT_BAD_JSON, 1},
    {"message_lone_surrogate", ROCL_FAULT_BAD_JSON, 1},
    {"sample_dangling_track", ROCL_FAULT_DANGLING_TRACK, 1},
    {"sample_dangling_event", ROCL_FAULT_DANGLING_EVENT, 1},
    {"sample_time_zero", ROCL_FAULT_BEFORE_PROCESS, 1},
    {"kernel_end_before_start", ROCL_FAULT_END_BEFORE_START, 1},
    {"kernel_end_zero", ROCL_FAULT_NO_END, 1},
    {"kernel_both_zero", ROCL_FAULT_BAD_TIME, 1},
    {"kernel_before_process", ROCL_FAULT_BEFORE_PROCESS, 1},
    {"kernel_dangling_agent", ROCL_FAULT_DANGLING_AGENT, 1},
    {"kernel_text_agent", ROCL_FAULT_BAD_VALUE, 1},
    {"kernel_dangling_thread", ROCL_FAULT_DANGLING_THREAD, 1},
    {"kernel_dangling_queue", ROCL_FAULT_DANGLING_QUEUE, 1},
    {"kernel_dangling_stream", ROCL_FAULT_DANGLING_STREAM, 1},
    {"kernel_dangling_track", ROCL_FAULT_DANGLING_TRACK, 1},
    {"kernel_dangling_symbol", ROCL_FAULT_DANGLING_KERNEL, 1},
    {"kernel_dangling_region_name", ROCL_FAULT_DANGLING_NAME, 1},
    {"kernel_dangling_event", ROCL_FAULT_DANGLING_EVENT, 1},
    {"kernel_huge_grid", ROCL_FAULT_BAD_VALUE, 2},
    {"kernel_negative_sizes", ROCL_FAULT_BAD_VALUE, 2},
    {"copy_dangling_agents", ROCL_FAULT_DANGLING_AGENT, 2},
    {"copy_dangling_name", ROCL_FAULT_DANGLING_NAME, 1},
    {"copy_size_negative", ROCL_FAULT_BAD_VALUE, 1},
    {"alloc_dangling_agent", ROCL_FAULT_DANGLING_AGENT, 1},
    {"free_unknown_address", ROCL_FAULT_UNPAIRED_FREE, 1},
    /* Its event is as unknown as that of kernel_dangling_event, so it is that kernel's value. */
    {"pmc_dangling_event", ROCL_FAULT_ORPHAN_VALUE, 0},
    {"pmc_null_event", ROCL_FAULT_ORPHAN_VALUE, 1},
    {"pmc_dangling_counter", ROCL_FAULT_DANGLING_COUNTER, 1},
    {"pmc_dangling_counter", ROCL_FAULT_ORPHAN_VALUE, 1}, /* of an event of nothing */
    {"pmc_text_value", ROCL_FAULT_NO_NUMBER, 1},
    {"pmc_null_value", ROCL_FAULT_NO_NUMBER, 1}, /* as SQLite keeps what is no number */
};

static void expect(const char *file, uint64_t *faults)
{
    char path[512], line[256], name[128];
    unsigned rows;
    snprintf(path, sizeof path, "%s/%s.tsv", fixtures_folder(), file);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%127s %u", name, &rows) == 2)
            for (size_t i = 0; i < COUNT(expected); i++)
                if (!strcmp(name, expected[i].name))
                    faults[expected[i].fault] += (uint64_t)rows * expected[i].times;
    fclose(f);
}

static void test_faults(void **state)
{
    const char *file = *state;
    rocl_options o = {.jobs = 2};
    if (strstr(file, "lz4") && !*rocl_lz4_version())
        skip();
    uint64_t faults[ROCL_FAULTS] = {0};
    bool same = true;
    sums s;
    expect(file, faults);
    faults[ROCL_FAULT_UNPAIRED_FREE]++; /* the second row of free_twice */
    rocl_trace *t = scan(file, &o, &s);
    if (strstr(file, "sys")) /* does not know when the process began */
        faults[ROCL_FAULT_BEFORE_PROCESS] = 0;
    for (int f = 0; f < ROCL_FAULTS; f++)
        if (rocl_trace_faults(t, (rocl_fault)f) != faults[f]) {
            print_error("%s: %s: %llu, expected %llu\n", file, rocl_fault_text((rocl_fault)f),
                        (unsigned long long)rocl_trace_faults(t, (rocl_fault)f),
                        (unsigned long long)faults[f]);
            same = false;
        }
    rocl_trace_close(t);
    assert_true(same);
}

int main(void)
{
    static const char *const nasty[] = {NASTY};
    struct CMUnitTest tests[COUNT(nasty)];
    for (size_t i = 0; i < COUNT(nasty); i++)
        tests[i] =
            (struct CMUnitTest){nasty[i], test_faults, NULL, NULL, (void *)(uintptr_t)nasty[i]};
    return _cmocka_run_group_tests("rocpd faults", tests, COUNT(nasty), NULL, NULL);
}
