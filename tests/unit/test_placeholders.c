/* Keys in the names of outputs: a command line, and what becomes of a name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/output.h"

static void check_name(const char *command, const char *from, const char *expected)
{
    common c = {0};
    strings words = {0};
    char *text = strdup(command), *rest = NULL;
    const char *name = from;
    for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
        strings_add(&words, w);
    strings_add(&words, NULL);
    words.n--;
    assert_int_equal(output_fill_name(&c, &words, "-o", &name), -1);
    assert_string_equal(name, expected);
    free(words.v);
    free(text);
}

static void test_arguments(void **state)
{
    (void)state;
    static const struct {
        const char *command, *from, *expected;
    } cases[] = {
        {"/usr/bin/x a b", "%tag%", "x"},
        {"/usr/bin/x a b", "%argv%", "usr_bin_x_a_b"},
        {"/usr/bin/x a b", "%args%", "a_b"},
        {"/usr/bin/x a b", "%argt%", "xa_b"},
        {"/usr/bin/x a b", "%arg0%-%arg1%-%arg2%", "usr_bin_x-a-b"},
        {"/usr/bin/x a b", "{tag}/{arg2}", "x/b"},
        {"./x ../a/b .__c", "%args%", "a_b_c"},
        {"./x ../a/b .__c", "%argv%", "x_a_b_c"},
        {"x", "%none%{none}%arg%", "%none%{none}%arg%"},
        {"x", "100%", "100%"},
        {"%pid% {tag}", "%tag%", "%pid%"}, /* values are not searched for keys */
        {"$ENV{HOME}", "%tag%", "$ENV{HOME}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_name(cases[i].command, cases[i].from, cases[i].expected);
}

static void test_run(void **state)
{
    (void)state;
    char pid[16], twice[64];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    snprintf(twice, sizeof twice, "%s.%s.%s", pid, pid, pid);
    check_name("x", "%pid%.{pid}.%p", twice);
    static const char *const variables[] = {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                            "PMIX_RANK",    "FLUX_TASK_RANK",       "MPI_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    unsetenv("SLURM_JOB_ID");
    check_name("x", "%rank%-%r-%job%-%j", "0-0-0-0");
    check_name("x", "%nid%", pid);
    setenv("MPI_RANK", "7", 1);
    setenv("SLURM_JOB_ID", "9", 1);
    check_name("x", "%rank%-%r-%job%-%j-%nid%", "7-7-9-9-7");
    setenv("ROCPROF_DATE_FORMAT", "D", 1);
    setenv("ROCPROF_TIME_FORMAT", "T", 1);
    check_name("x", "%launch_date%%launch_time%", "DT");
}

static void test_variables(void **state)
{
    (void)state;
    setenv("ROCLINE_TEST", "a/b .c", 1);
    check_name("x", "%env{ROCLINE_TEST}%", "a_b_.c");
    check_name("x", "$ENV{ROCLINE_TEST}-$env{ROCLINE_TEST}", "a_b_.c-a_b_.c");
    check_name("x", "%q{ROCLINE_TEST}", "a_b_.c");
    check_name("x", "%env{ROCLINE_TEST}", "%env{ROCLINE_TEST}");
    common c = {0};
    strings none = {0};
    const char *name = "%env{ROCLINE_NOT_SET}%";
    assert_int_equal(output_fill_name(&c, &none, "-o", &name), ROCL_USAGE);
    name = "%arg3%";
    assert_int_equal(output_fill_name(&c, &none, "-o", &name), ROCL_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_variables),
    };
    return cmocka_run_group_tests_name("placeholders", tests, NULL, NULL);
}
