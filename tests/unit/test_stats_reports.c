/* The definitions of all reports, held against the manual: rocstats(1) has every report with its
 * line of help, and rocstats-REPORT(1) every table and column of it by its key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/report.h"

/* The text of a page; free() it. */
static char *read_page(const char *name)
{
    char path[128], *page = calloc(1, 1 << 18);
    snprintf(path, sizeof path, "man/%s", name);
    FILE *f = fopen(path, "rb");
    if (!f || !page)
        fail_msg("%s cannot be read", path);
    else
        assert_int_not_equal(fread(page, 1, (1 << 18) - 1, f), 0);
    if (f)
        fclose(f);
    return page;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/* The line of the page that has the macro and the word behind it, as in `.It Li min_ns , max_ns`;
 * or NULL. */
static const char *find_line(const char *page, const char *macro, const char *word)
{
    size_t n = strlen(word);
    for (const char *line = page, *end; *line; line = *end ? end + 1 : end) {
        end = strchrnul(line, '\n');
        const char *at = memmem(line, (size_t)(end - line), macro, strlen(macro));
        if (*line != '.' || !at)
            continue;
        for (at += strlen(macro); (at = memmem(at, (size_t)(end - at), word, n)); at += n)
            if (!is_word(at[-1]) && !is_word(at[n]))
                return line;
    }
    return NULL;
}

/* Does each entry for the word say what is divided by what, or why it is no share? */
static bool is_share_explained(const char *page, const char *word)
{
    static const char *const signs[] = {"/", "in percent", "allowed", "as above", "as in"};
    for (const char *line = page; (line = find_line(line, ".It Li ", word)); line++) {
        const char *end = strstr(line, "\n.El"), *item_end = strstr(line, "\n.It ");
        end = !end || (item_end && item_end < end) ? item_end : end;
        bool explained = false;
        for (size_t i = 0; i < sizeof signs / sizeof *signs && end; i++)
            explained |= memmem(line, (size_t)(end - line), signs[i], strlen(signs[i])) != NULL;
        if (!explained)
            return false;
    }
    return true;
}

static void test_names(void **state)
{
    char *page = read_page("rocstats.1");
    (void)state;
    for (unsigned i = 0; i < ROCL_REPORTS; i++) {
        const rocl_report_def *d = &rocl_report_defs[i];
        assert_string_equal(rocl_report_name((rocl_report)i), d->name);
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(d->name, rocl_report_defs[k].name);
        char help[256];
        snprintf(help, sizeof help, ".It Cm %s\n%s\n", d->name, d->help);
        if (!strstr(page, help))
            fail_msg("rocstats(1) does not say of %s: %s", d->name, d->help);
    }
    free(page);
}

/* Columns that many tables have are in rocstats(5). */
static void check_table(const rocl_table_def *t, const char *name)
{
    char *page = read_page(name), *common = read_page("rocstats.5");
    if (!find_line(page, ".Ss ", t->key) && !find_line(page, ".It Li ", t->key))
        fail_msg("%s does not document the table %s", name, t->key);
    if (!find_line(common, ".Li ", t->key))
        fail_msg("rocstats.5 does not list the table %s", t->key);
    assert_in_range(t->column_count, 1, 64);
    for (size_t c = 0; c < t->column_count; c++) {
        const char *key = t->columns[c].key;
        if (!find_line(page, "Li ", key) && !find_line(common, ".It Li ", key))
            fail_msg("%s does not document the column %s of the table %s", name, key, t->key);
        if (t->columns[c].unit == ROCL_UNIT_PERCENT && !is_share_explained(page, key))
            fail_msg("%s does not say of what %s of %s is a share", name, key, t->key);
    }
    free(page);
    free(common);
}

/* Each report has a table of its name; no two tables have one name. */
static void test_tables_and_columns(void **state)
{
    const rocl_table_def *t;
    unsigned own = 0;
    (void)state;
    for (size_t i = 0; (t = rocl_report_table_def(i)); i++) {
        char name[64] = "";
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(t->key, rocl_report_table_def(k)->key);
        for (unsigned r = 0; r < ROCL_REPORTS; r++) {
            const rocl_report_def *d = &rocl_report_defs[r];
            if (t->tab != &d->tab)
                continue;
            snprintf(name, sizeof name, "rocstats-%s.1", d->name);
            own += strlen(t->key) == strlen(d->name) &&
                   !strncmp(t->key, d->name, strcspn(t->key, "_"));
        }
        assert_string_not_equal(name, "");
        check_table(t, name);
    }
    assert_int_equal(own, ROCL_REPORTS);
    for (size_t i = 0; (t = rocl_compare_tables[i]); i++)
        check_table(t, "rocstats-compare.1");
    for (size_t i = 0; (t = rocl_finding_tables[i]); i++)
        check_table(t, "rocstats-findings.7");
}

/* Is there one entry of this title, and is the table among its tables? */
static bool is_share_listed(const char *shares, const char *title, const char *table)
{
    char entry[128];
    snprintf(entry, sizeof entry, "\n.It %s\n", title);
    const char *at = strstr(shares, entry);
    if (!at || strstr(at + 1, entry))
        return false;
    const char *tables = strstr(at, "\n.Li ") + 1, *next = strstr(at + 1, "\n.It ");
    return tables && (!next || tables < next) && find_line(tables, ".Li ", table) == tables;
}

static void check_shares(const rocl_table_def *t, const char *shares)
{
    for (size_t c = 0; c < t->column_count; c++) {
        const rocl_column *column = &t->columns[c];
        const bool percent = strchr(column->title, '%');
        if (percent != (column->unit == ROCL_UNIT_PERCENT))
            fail_msg("%s.%s: a share has %% in its title", t->key, column->key);
        for (size_t i = 0; percent && i < c; i++)
            if (!strcmp(t->columns[i].title, column->title))
                fail_msg("%s has two columns \"%s\"", t->key, column->title);
        if (percent && !is_share_listed(shares, column->title, t->key))
            fail_msg("rocline(7), SHARES: one entry \"%s\" with the table %s is missing",
                     column->title, t->key);
    }
}

static bool has_column(const rocl_table_def *t, const char *title, size_t n)
{
    for (size_t c = 0; c < t->column_count; c++)
        if (strlen(t->columns[c].title) == n && !memcmp(t->columns[c].title, title, n))
            return true;
    return false;
}

/* Tables of an entry that do not have its title. */
static void check_entry(const rocl_table_def *t, const char *shares)
{
    for (const char *at = shares; (at = strstr(at, "\n.It ")); at++) {
        const char *title = at + 5, *tables = strstr(at, "\n.Li ") + 1;
        const size_t n = strcspn(title, "\n");
        if (find_line(tables, ".Li ", t->key) == tables && !has_column(t, title, n))
            fail_msg("rocline(7), SHARES: %s has no column \"%.*s\"", t->key, (int)n, title);
    }
}

/* Every title that is a share has one whole, in all tables. What the manual lists, there is. */
static void test_shares(void **state)
{
    char *page = read_page("rocline.7"), *shares = strstr(page, "\n.Sh SHARES\n");
    const rocl_table_def *t;
    (void)state;
    assert_non_null(shares);
    *strstr(shares, "\n.El\n") = '\0';
    for (size_t i = 0; (t = rocl_report_table_def(i)); i++) {
        check_shares(t, shares);
        check_entry(t, shares);
    }
    const rocl_table_def *const *const others[] = {
        rocl_compare_tables,     rocl_finding_tables, rocl_show_tables, rocl_correlate_tables,
        rocl_description_tables, rocl_recipe_tables,  rocl_check_tables};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        for (size_t i = 0; (t = others[k][i]); i++)
            check_shares(t, shares);
    free(page);
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
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_rest_rows),
    };
    return cmocka_run_group_tests_name("stats reports", tests, NULL, NULL);
}
