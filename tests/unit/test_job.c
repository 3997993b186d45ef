/* Job files: what is read of each form, as one line; errors with line and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/job.h"

typedef struct parse_case {
    job_format format;
    const char *text, *expected;
} parse_case;

/* "key=value,value key | key": settings of a job, then those of the next. */
static void put_jobs(char *to, size_t size, const job_file *f)
{
    size_t n = 0;
    *to = '\0';
    for (size_t i = 0; i < f->count; i++) {
        n += (size_t)snprintf(to + n, size - n, "%s", i ? "|" : "");
        for (size_t k = 0; k < f->jobs[i].count; k++) {
            const job_setting *s = &f->jobs[i].settings[k];
            n += (size_t)snprintf(to + n, size - n, "%s%s", k ? " " : "", s->key->name);
            for (size_t v = 0; v < s->values.n; v++)
                n += (size_t)snprintf(to + n, size - n, "%c%s", v ? ',' : '=', s->values.v[v]);
        }
    }
}

static void check_cases(const parse_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char got[512];
        job_file f;
        job_error err = {0};
        if (job_file_parse(&f, cases[i].format, cases[i].text, strlen(cases[i].text), &err))
            put_jobs(got, sizeof got, &f);
        else
            snprintf(got, sizeof got, "%u:%u: %s", err.line, err.column, err.text);
        assert_string_equal(got, cases[i].expected);
        job_file_free(&f);
    }
}

#define CHECK(cases) check_cases(cases, sizeof(cases) / sizeof *(cases))

static void test_forms(void **state)
{
    (void)state;
    const parse_case cases[] = {
        {JOB_YAML, "jobs:\n- stats: true\n- pmc: [A, B]\n", "stats=true|pmc=A,B"},
        {JOB_YAML, "stats: true\noutput-file: 'x y'\n", "stats=true output_file=x y"},
        {JOB_YAML, "pmc_groups: [[A, B], [C]]\n", "pmc_groups=A,B,C"},
        {JOB_YAML, "output_file:\nstats: ~\nsummary: null\n", "output_file stats summary"},
        {JOB_YAML, "output_file: ''\n", "output_file="},
        {JOB_YAML, "kernel_include_regex: \"\\\\d\"\n", "kernel_include_regex=\\d"},
        {JOB_YAML, "minimum-output-data: 1\nhsa_finalize_trace: 1\nhsa_finalizer_trace: 1\n",
         "minimum_output_data=1 hsa_finalize_trace=1 hsa_finalizer_trace=1"},
        {JOB_YAML, "att_perfcounters: {a: [b], c: d}\nstats: 1\n",
         "att_perfcounters=a,b,c,d stats=1"},
        {JOB_YAML, "jobs:\n- {}\n", ""},
        {JOB_JSON, "{\"jobs\":[{\"stats\":true},{}]}", "stats=true|"},
        {JOB_JSON, "{\n\t\"jobs\"\t:\t[\n\t{\t\"output_file\"\t:\t\"a\\tb\\u0041\\/\"\t}\t]\n\t}",
         "output_file=a\tbA/"},
        {JOB_LINES, "pmc: A B\n", "pmc=A,B"},
        {JOB_LINES, "  pmc:\tA:device=0\t# pmc: B\r\n# pmc: C\nrange: 1\npmc:\npmc: D",
         "pmc=A:device=0|pmc|pmc=D"},
    };
    CHECK(cases);
}

static void test_errors(void **state)
{
    (void)state;
    const parse_case cases[] = {
        {JOB_YAML, "", "0:0: there is no job in it"},
        {JOB_LINES, "", "0:0: there is no job in it"},
        {JOB_YAML, "jobs: []", "0:0: there is no job in it"},
        {JOB_YAML, "jobs:\n- stats: 1\n  stat: 1\n",
         "3:3: unknown key \"stat\"; did you mean stats?"},
        {JOB_YAML, "jobs:\n- stats: 1\n  stats: 1\n", "3:3: stats stands twice, first in line 2"},
        {JOB_YAML, "stats: {}\n", "1:8: stats is a value or a list of values"},
        {JOB_YAML, "jobs:\n- 1\n", "2:3: a job is a list of keys with values"},
        {JOB_YAML, "jobs: {}\n", "1:7: jobs is a list"},
        {JOB_YAML, "x", "1:1: expected: jobs, or the keys of one job"},
        {JOB_YAML, "? [a]\n: b\n", "1:3: a key is expected"},
        {JOB_YAML, "pmc: *x\n", "1:6: aliases are not supported"},
        {JOB_YAML, "pmc: [[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]\n", "1:22: nested too deeply"},
        {JOB_YAML, "pmc: \"\\0\"\n", "1:6: a value has a NUL byte"},
        {JOB_YAML, "pmc: 1\n---\npmc: 2\n", "2:1: a second document"},
        {JOB_YAML, "pmc: 1\nstats: a\xff", "2:9: invalid leading UTF-8 octet"},
    };
    CHECK(cases);
}

/* Every name is found with '_' and with '-', and nothing else is. */
static void test_keys(void **state)
{
    (void)state;
    const char *name;
    size_t n = 0;
    for (; (name = job_key_word(NULL, n)); n++) {
        char other[64];
        snprintf(other, sizeof other, "%s", name);
        for (char *p = other; *p; p++)
            *p = *p == '_' ? '-' : *p;
        assert_string_equal(job_key_find(name, strlen(name))->name, name);
        assert_string_equal(job_key_find(other, strlen(other))->name, name);
    }
    assert_true(n > 60);
    assert_null(job_key_find("", 0));
    assert_null(job_key_find("pm", 2));
    assert_null(job_key_find("pmcs", 4));
    assert_null(job_key_find("PMC", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
