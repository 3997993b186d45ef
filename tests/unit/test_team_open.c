/* Traces that a team opens: a failure leaves nothing behind that the next trace would find, and
 * what rank 0 reads by itself, is what one process reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rocline.h"
#include "tests/unit/rocpd.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rocl_error *err;
static rocl_team *team;

static rocl_status count_events(void *ctx, unsigned worker, const rocl_batch *b, rocl_error *e)
{
    (void)worker, (void)e;
    atomic_fetch_add((atomic_size_t *)ctx, b->count);
    return ROCL_OK;
}

static size_t count_in(rocl_trace *t)
{
    atomic_size_t n = 0;
    assert_true(rocl_trace_scan(t, ROCL_ALL_KINDS, 0, count_events, &n, err) <= ROCL_PARTIAL);
    return n;
}

static rocl_status open_two(rocl_trace **t, const char *a, const char *b, bool writes)
{
    const rocl_options o = {.jobs = 2, .team = team, .team_writes = writes};
    return rocl_trace_open(t, (const char *[]){a, b}, 2, &o, err);
}

/* Ranks 1 and 2 both fail to find an input, and rank 0 stops at the first of them that says so. */
static void test_what_still_comes(void **state)
{
    char a[512], b[512];
    rocl_trace *t, *alone = open_fixtures("rank0 rank1", NULL);
    (void)state;
    snprintf(a, sizeof a, "%s/rank0.db", fixtures_folder());
    snprintf(b, sizeof b, "%s/rank1.db", fixtures_folder());
    for (int i = 0; i < 20; i++) {
        assert_int_equal(open_two(&t, "n2:missing.db", "n3:missing.db", false), ROCL_INPUT);
        assert_non_null(strstr(rocl_error_text(err), ":missing.db: no such file"));
        assert_int_equal(open_two(&t, a, b, i % 2), ROCL_OK);
        assert_int_equal(count_in(t), count_in(alone));
        rocl_trace_close(t);
    }
    rocl_trace_close(alone);
}

/* Two traces at once, of which one cannot be opened; a damaged file is rank 0's to tell. */
static void test_two_traces(void **state)
{
    char a[512], b[512], bad[512];
    rocl_trace *t, *u;
    (void)state;
    snprintf(a, sizeof a, "%s/rank0.db", fixtures_folder());
    snprintf(b, sizeof b, "%s/rank1.db", fixtures_folder());
    snprintf(bad, sizeof bad, "%s/truncated.db", fixtures_folder());
    assert_int_equal(open_two(&t, a, b, true), ROCL_OK);
    const size_t n = count_in(t);
    assert_int_equal(open_two(&u, bad, a, true), ROCL_INPUT);
    assert_non_null(strstr(rocl_error_text(err), bad));
    assert_int_equal(open_two(&u, b, a, false), ROCL_OK);
    assert_int_equal(count_in(u), n);
    assert_int_equal(count_in(t), n);
    rocl_trace_close(t);
    rocl_trace_close(u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_still_comes),
                                       cmocka_unit_test(test_two_traces)};
    setenv("ROCLINE_TEAM_HOSTS", "n1,n2,n3", 1);
    err = rocl_error_new();
    if (!err || rocl_team_fork(&team, 3, err) != ROCL_OK)
        return 1;
    if (rocl_team_rank(team)) {
        const rocl_status st = rocl_team_serve(team, &(rocl_options){.jobs = 2}, NULL, NULL, err);
        rocl_team_close(team);
        rocl_error_free(err);
        return (int)st;
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rocl_team_close(team);
    rocl_error_free(err);
    return failed;
}
