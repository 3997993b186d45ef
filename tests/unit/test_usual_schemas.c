/* Schemas that the reader knows from the start: what it takes for their layouts is what SQLite
 * says. With files as arguments it prints what lib/source/db/usual_schemas.inc would have of them:
 *
 *     build/tests/test_usual_schemas FILE... */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/db/connection.h"

/* Opens a database whose layouts all come from SQLite. False: it has no schema that SQLite need not
 * be asked about. */
static bool ask_sqlite(const char *path, rocl_db **db, rocl_schema *s, const rocl_btree_file **file)
{
    const rocl_layout *layout;
    const char *why;
    *db = NULL;
    if (rocl_db_open(db, &(rocl_db_options){.path = path}, NULL) != ROCL_OK ||
        rocl_db_pages(*db, file, &why, NULL) != ROCL_OK || !*file || !rocl_btree_schema(s, *file))
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(rocl_schema_text(s, s->rows[i].type), "table") &&
            rocl_db_layout(*db, rocl_schema_text(s, s->rows[i].name), &layout, NULL) != ROCL_OK)
            return false;
    return true;
}

static void expect_same(const rocl_layout *is, const rocl_layout *said)
{
    assert_string_equal(is->table, said->table);
    assert_int_equal(is->root, said->root);
    assert_true(is->known && said->known);
    assert_null(said->why);
    assert_int_equal(is->count, said->count);
    assert_int_equal(is->id, said->id);
    assert_int_equal(is->no_id, said->no_id);
    for (unsigned i = 0; i < is->count; i++) {
        assert_string_equal(is->columns[i].name, said->columns[i].name);
        assert_int_equal(is->columns[i].real, said->columns[i].real);
        assert_int_equal(is->columns[i].has_default, said->columns[i].has_default);
    }
}

/* Is the schema of the file a usual one? */
static bool check_file(const char *path)
{
    rocl_schema_cache *cache = rocl_schema_cache_new();
    rocl_layouts known = {0};
    rocl_schema s = {0};
    const rocl_btree_file *file;
    rocl_db *db;
    bool found =
        ask_sqlite(path, &db, &s, &file) && rocl_schema_cache_find(cache, &s, file, &known);
    if (found) {
        assert_int_equal(known.count, db->layouts.count);
        for (size_t i = 0; i < known.count; i++)
            expect_same(known.list[i], db->layouts.list[i]);
    }
    rocl_layouts_free(&known);
    rocl_schema_free(&s);
    rocl_db_close(db);
    rocl_schema_cache_free(cache);
    return found;
}

/* The number of files of that form whose schemas are usual ones. */
static size_t check_files(const char *folder, const char *form)
{
    glob_t found = {0};
    size_t usual = 0;
    char pattern[1024];
    snprintf(pattern, sizeof pattern, "%s/%s", folder, form);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            usual += check_file(found.gl_pathv[i]);
    globfree(&found);
    return usual;
}

static void fixtures(void **unused)
{
    (void)unused;
    const char *folder = getenv("FIXTURES");
    if (!folder)
        skip();
    check_files(folder, "*.db");
}

static void profilers(void **unused)
{
    (void)unused;
    const char *folder = getenv("ROCLINE_DATA");
    if (!folder)
        skip();
    assert_int_equal(check_files(folder, "amd/*.db"), 3);
    assert_int_equal(check_files(folder, "rocpd/*.db"), 2);
    assert_int_equal(check_files(folder, "rpd/*.rpd"), 1);
    check_files(folder, "*/*/results.db");
}

static int print_entries(char **paths, int count)
{
    rocl_buf text = {0};
    int failed = 0;
    for (int i = 0; i < count; i++) {
        rocl_schema s = {0};
        rocl_db *db;
        const rocl_btree_file *file;
        size_t begin = text.len;
        bool can = ask_sqlite(paths[i], &db, &s, &file) &&
                   rocl_schema_write_usual(&s, &db->layouts, &text);
        if (!can) {
            fprintf(stderr, "%s: SQLite has to be asked about it\n", paths[i]);
            failed = 1;
        }
        if (!can || (begin && memmem(text.data, begin, text.data + begin, text.len - begin)))
            text.len = begin; /* one of before */
        rocl_schema_free(&s);
        rocl_db_close(db);
    }
    fwrite(text.data, 1, text.len, stdout);
    rocl_buf_free(&text);
    return failed;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures),
        cmocka_unit_test(profilers),
    };
    return argc > 1 ? print_entries(argv + 1, argc - 1) : cmocka_run_group_tests(tests, NULL, NULL);
}
