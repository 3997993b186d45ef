/* The definitions of all reports, held against rocstats(1): it documents every report by its name,
 * and every table and column by its key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/report.h"

static char *page;

static int read_page(void **state)
{
    FILE *f = fopen("man/rocstats.1", "rb");
    size_t size = 0;
    (void)state;
    page = calloc(1, 1 << 20);
    if (f && page)
        size = fread(page, 1, (1 << 20) - 1, f);
    if (f)
        fclose(f);
    return size ? 0 : -1;
}

static int free_page(void **state)
{
    (void)state;
    free(page);
    return 0;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* Is the word on a line of the page that has the macro, as in `.It Li min_ns , max_ns`? */
static bool is_documented(const char *macro, const char *word)
{
    size_t n = strlen(word);
    for (const char *line = page, *end; *line; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        const char *at = memmem(line, (size_t)(end - line), macro, strlen(macro));
        if (*line != '.' || !at)
            continue;
        for (at += strlen(macro); (at = memmem(at, (size_t)(end - at), word, n)); at += n)
            if (!is_word(at[-1]) && !is_word(at[n]))
                return true;
    }
    return false;
}

static void test_names(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROCL_REPORTS; i++) {
        const rocl_report_def *d = &rocl_report_defs[i];
        assert_string_equal(rocl_report_name((rocl_report)i), d->name);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(d->name, rocl_report_defs[k].name);
        if (!is_documented("It Cm ", d->name))
            fail_msg("rocstats(1) does not document the report %s", d->name);
    }
}

/* Each report has a table of its name; no two tables have one name. */
static void test_tables_and_columns(void **state)
{
    unsigned own = 0;
    (void)state;
    const rocl_table_def *t;
    for (size_t i = 0; (t = rocl_report_table_def(i)); i++) {
        assert_in_range(t->column_count, 1, 64);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(t->key, rocl_report_table_def(k)->key);
        if (!is_documented("Li ", t->key) && !is_documented("It Cm ", t->key))
            fail_msg("rocstats(1) does not document the table %s", t->key);
        for (size_t c = 0; c < t->column_count; c++)
            if (!is_documented("Li ", t->columns[c].key))
                fail_msg("rocstats(1) does not document the column %s of the table %s",
                         t->columns[c].key, t->key);
        for (unsigned r = 0; r < ROCL_REPORTS; r++)
            own += t->tab == &rocl_report_defs[r].tab &&
                   !strncmp(t->key, rocl_report_defs[r].name, strcspn(t->key, "_")) &&
                   strlen(t->key) == strlen(rocl_report_defs[r].name);
    }
    assert_int_equal(own, ROCL_REPORTS);
}

/* The row of the others says how many they are, in one column. */
static void test_rest_rows(void **state)
{
    const rocl_table_def *t;
    (void)state;
    for (size_t i = 0; (t = rocl_report_table_def(i)); i++) {
        unsigned others = 0;
        for (size_t c = 0; c < t->column_count; c++)
            others += (t->columns[c].when & ROCL_OTHERS) != 0;
        if (others > 1)
            fail_msg("%u columns of the table %s name the others", others, t->key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_tables_and_columns),
        cmocka_unit_test(test_rest_rows),
    };
    return cmocka_run_group_tests_name("stats reports", tests, read_page, free_page);
}
