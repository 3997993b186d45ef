/* Statistics against AMD's own summaries of the same database, where they are at hand. */
#include "tests/unit/stats.h"

typedef struct amd_row {
    char name[4096];
    double calls, total, average, percent, min, max, stddev; /* not a number: empty */
} amd_row;

static const char *data_folder(void)
{
    const char *s = getenv("ROCLINE_DATA");
    if (!s)
        s = "../shared/data";
    char path[512];
    snprintf(path, sizeof path, "%s/amd/e4/summary", s);
    if (access(path, R_OK))
        skip();
    return s;
}

/* name,calls,total,average,percent,min,max,stddev; the name may be in quotes. */
static bool next_row(FILE *f, amd_row *r)
{
    char line[8192], *p = line, *to = r->name;
    double *fields[] = {&r->calls, &r->total, &r->average, &r->percent,
                        &r->min,   &r->max,   &r->stddev};
    if (!fgets(line, sizeof line, f))
        return false;
    bool quoted = *p == '"';
    for (p += quoted; quoted ? *p != '"' || p[1] == '"' : *p != ','; *to++ = *p++)
        p += quoted && *p == '"';
    *to = 0;
    p += quoted;
    for (size_t i = 0; i < COUNT(fields); i++) {
        char *end;
        assert_true(*p == ',');
        *fields[i] = strtod(++p, &end);
        if (end == p)
            *fields[i] = (double)NAN;
        p = end;
    }
    return true;
}

static FILE *open_summary(const char *name)
{
    char path[512], line[256];
    snprintf(path, sizeof path, "%s/amd/e4/summary/out_%s_summary.csv", data_folder(), name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    return f;
}

static size_t row_of(const rocl_table *t, const char *domain, const char *name)
{
    size_t row = find_row(t, domain, name);
    if (row == t->row_count)
        fail_msg("no row %s %s", domain ? domain : "", name);
    return row;
}

static void check_amd(const rocl_table *t, const char *file, const char *domain)
{
    FILE *f = open_summary(file);
    amd_row r;
    size_t theirs = 0, ours = 0;
    for (; next_row(f, &r); theirs++) {
        size_t row = row_of(t, domain, r.name);
        check_int(t, row, "calls", (int64_t)r.calls);
        check_int(t, row, "total_ns", (int64_t)r.total);
        check_int(t, row, "min_ns", (int64_t)r.min);
        check_int(t, row, "max_ns", (int64_t)r.max);
        check_real(t, row, "average_ns", r.average);
        check_real(t, row, "percent", r.percent);
        check_real(t, row, "stddev_ns", r.stddev);
    }
    for (size_t i = 0; i < t->row_count; i++)
        ours += !strcmp(text_of(t, i, "domain"), domain);
    assert_int_equal(theirs, ours);
    assert_true(theirs > 0);
    fclose(f);
}

/* Theirs: averages and deviations of domains are sums of those of the names, and scratch memory is
 * among the allocations. */
static void check_amd_domains(const rocl_table *t)
{
    FILE *f = open_summary("domain");
    amd_row r;
    size_t scratch = row_of(t, NULL, "SCRATCH_MEMORY"), rows = 0;
    for (; next_row(f, &r); rows++) {
        size_t row = row_of(t, NULL, r.name);
        bool both = !strcmp(r.name, "MEMORY_ALLOCATIONS");
        check_int(t, row, "calls", (int64_t)r.calls - (both ? int_of(t, scratch, "calls") : 0));
        check_int(t, row, "total_ns",
                  (int64_t)r.total - (both ? int_of(t, scratch, "total_ns") : 0));
        check_int(t, row, "max_ns", (int64_t)r.max);
        if (!both)
            check_int(t, row, "min_ns", (int64_t)r.min);
    }
    assert_int_equal(rows, t->row_count);
    fclose(f);
}

static void check_amd_totals(const rocl_table *t, const char *file, const char *name,
                             const char *other)
{
    FILE *f = open_summary(file);
    amd_row r;
    size_t row = row_of(t, NULL, name);
    int64_t calls = int_of(t, row, "calls"), total = int_of(t, row, "total_ns");
    if (other) {
        row = row_of(t, NULL, other);
        calls += int_of(t, row, "calls");
        total += int_of(t, row, "total_ns");
    }
    while (next_row(f, &r)) {
        calls -= (int64_t)r.calls;
        total -= (int64_t)r.total;
    }
    assert_int_equal(calls, 0);
    assert_int_equal(total, 0);
    fclose(f);
}

static void test_amd(void **state)
{
    static const char *const files[][2] = {{"kernels", "KERNELS"},
                                           {"hip", "HIP"},
                                           {"hsa", "HSA"},
                                           {"markers", "MARKERS"},
                                           {"memory_copies", "MEMORY_COPIES"}};
    const rocl_options o = {.jobs = 2};
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s/amd/e4.db", data_folder());
    rocl_trace *t = open_trace(path, &o);
    rocl_tables *all = all_stats_of(t, (rocl_stats_options){0});
    for (size_t i = 0; i < COUNT(files); i++)
        check_amd(table_of(all, "summary"), files[i][0], files[i][1]);
    check_amd_domains(table_of(all, "domains"));
    check_amd_totals(table_of(all, "domains"), "memory_allocations", "MEMORY_ALLOCATIONS",
                     "SCRATCH_MEMORY");
    check_amd_totals(table_of(all, "domains"), "scratch_memory", "SCRATCH_MEMORY", NULL);
    rocl_tables_free(all);
    rocl_trace_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_amd)};
    return cmocka_run_group_tests_name("stats amd", tests, NULL, NULL);
}
