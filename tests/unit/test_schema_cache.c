/* Databases of one form: SQLite is asked about the first, and what it said is true of the others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "source/db/connection.h"
#include "tests/unit/one_file.h"

/* A table with a guid and one with a number; %1$s is the ending, %2$s the same as a guid. */
#define TABLES                                                                                     \
    "CREATE TABLE \"name_%1$s\"(id INTEGER PRIMARY KEY, guid TEXT DEFAULT '%2$s', x TEXT);"        \
    "CREATE TABLE \"number_%1$s\"(id INTEGER PRIMARY KEY, x REAL);"                                \
    "CREATE INDEX \"by_%1$s\" ON \"name_%1$s\"(x);"                                                \
    "CREATE VIEW name AS SELECT * FROM \"name_%1$s\";"
#define ROWS                                                                                       \
    "INSERT INTO \"number_%1$s\" VALUES(7, 3); INSERT INTO \"name_%1$s\"(x) VALUES('%1$s');"

#define ONE "00aa_11bb", "00aa-11bb"
#define TWO "00cc_22dd", "00cc-22dd"

static void make(const char *sql, ...) __attribute__((format(printf, 1, 2)));
static void make(const char *sql, ...)
{
    sqlite3 *db;
    char *text;
    va_list ap;
    va_start(ap, sql);
    assert_true(vasprintf(&text, sql, ap) > 0);
    va_end(ap);
    unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    free(text);
}

static rocl_reader reader = ROCL_READER_AUTO;

static rocl_db *open_one(rocl_schema_cache *cache)
{
    rocl_db *db;
    assert_int_equal(
        rocl_db_open(&db, &(rocl_db_options){.path = path, .reader = reader, .schemas = cache},
                     NULL),
        ROCL_OK);
    return db;
}

/* Was SQLite asked? */
static bool asked(rocl_schema_cache *cache)
{
    rocl_db *db = open_one(cache);
    bool is = db->asked;
    rocl_db_close(db);
    return is;
}

static void expect_row(rocl_db *db, const char *table, int64_t id, rocl_cell_type type)
{
    static const char *const columns[] = {"x", "guid"};
    rocl_rows *rows;
    int64_t first, last;
    bool any;
    unsigned n;
    assert_int_equal(rocl_db_id_range(db, table, &first, &last, &any, NULL), ROCL_OK);
    assert_true(any && first == id && last == id);
    assert_int_equal(rocl_rows_open(&rows, db, table, columns, 2, NULL), ROCL_OK);
    assert_int_equal(rocl_rows_seek(rows, INT64_MIN, INT64_MAX, NULL), ROCL_OK);
    assert_int_equal(rocl_rows_next(rows, 10, &n, NULL), ROCL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(rocl_cell_kind(rows, 0, 0), type);
    assert_int_equal(rocl_rows_has(rows, 1), type == ROCL_CELL_TEXT);
    rocl_rows_close(rows);
}

static void another_ending(void **unused)
{
    (void)unused;
    static const char *const names[] = {"name_00cc_22dd", "number_00cc_22dd", "name"};
    rocl_schema_cache *cache = rocl_schema_cache_new();
    rocl_db_object *objects;
    size_t count;
    make(TABLES ROWS, ONE);
    assert_true(asked(cache));
    assert_false(asked(cache));
    make("CREATE TABLE gone(x); INSERT INTO gone SELECT zeroblob(20000);" TABLES ROWS
         "DROP TABLE gone",
         TWO);
    rocl_db *db = open_one(cache);
    assert_int_equal(rocl_db_objects(db, &objects, &count, NULL), ROCL_OK);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(objects[i].name, names[i]);
        assert_int_equal(objects[i].is_view, i == 2);
    }
    expect_row(db, names[0], 1, ROCL_CELL_TEXT);
    expect_row(db, names[1], 7, ROCL_CELL_REAL);
    assert_false(db->asked);
    rocl_db_objects_free(objects, count);
    rocl_db_close(db);
    rocl_schema_cache_free(cache);
}

/* Who comes while others have the shared cache has what they asked; with the last it is gone. */
static void shared_while_used(void **unused)
{
    (void)unused;
    make(TABLES, ONE);
    rocl_schema_cache *first = rocl_schema_cache_share(), *second = rocl_schema_cache_share();
    assert_ptr_equal(first, second);
    assert_true(asked(first));
    rocl_schema_cache_release(first);
    assert_false(asked(second));
    rocl_schema_cache_release(second);
    rocl_schema_cache_release(NULL);
    first = rocl_schema_cache_share();
    assert_true(asked(first));
    rocl_schema_cache_release(first);
}

/* What differs in anything else is another form. */
static void another_schema(void **unused)
{
    (void)unused;
    rocl_schema_cache *cache = rocl_schema_cache_new();
    make(TABLES, ONE);
    assert_true(asked(cache));
    make(TABLES "CREATE VIEW more AS SELECT 1", ONE);
    assert_true(asked(cache));
    make(TABLES "CREATE TABLE \"more_%1$s\"(id INTEGER PRIMARY KEY)", TWO);
    assert_true(asked(cache));
    make(TABLES, "00cc_22dd", "00cc-22de");
    assert_true(asked(cache));
    make(TABLES, TWO);
    assert_false(asked(cache));
    rocl_schema_cache_free(cache);
    cache = rocl_schema_cache_new();
    reader = ROCL_READER_SQLITE;
    assert_true(asked(cache));
    assert_true(asked(cache));
    reader = ROCL_READER_AUTO;
    rocl_schema_cache_free(cache);
}

/* Names of columns are not looked for in another file's form. */
static void ending_in_column(void **unused)
{
    (void)unused;
    rocl_schema_cache *cache = rocl_schema_cache_new();
    for (int i = 0; i < 2; i++) {
        make(TABLES "ALTER TABLE \"name_%1$s\" ADD COLUMN \"of_%1$s\"", ONE);
        assert_true(asked(cache));
    }
    rocl_schema_cache_free(cache);
}

/* A value that rows lack is in the schema, and SQLite's to tell. */
static void default_value(void **unused)
{
    (void)unused;
    static const char *const column = "more";
    rocl_schema_cache *cache = rocl_schema_cache_new();
    rocl_rows *rows;
    unsigned n;
    size_t len;
    make(TABLES ROWS "ALTER TABLE \"number_%1$s\" ADD COLUMN more DEFAULT '%2$s'", ONE);
    assert_true(asked(cache));
    make(TABLES ROWS "ALTER TABLE \"number_%1$s\" ADD COLUMN more DEFAULT '%2$s'", TWO);
    rocl_db *db = open_one(cache);
    assert_false(db->asked);
    assert_int_equal(rocl_rows_open(&rows, db, "number_00cc_22dd", &column, 1, NULL), ROCL_OK);
    assert_int_equal(rocl_rows_seek(rows, 0, 10, NULL), ROCL_OK);
    assert_int_equal(rocl_rows_next(rows, 10, &n, NULL), ROCL_OK);
    assert_int_equal(n, 1);
    assert_string_equal(rocl_cell_text(rows, 0, 0, &len), "00cc-22dd");
    rocl_rows_close(rows);
    rocl_db_close(db);
    rocl_schema_cache_free(cache);
}

static void overwrite(long offset, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, offset, SEEK_SET);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* SQLite's words for one file depend on what was in its memory. */
static size_t before_detail(const char *message)
{
    return strcspn(message, "(");
}

/* Damage to the schema is found by SQLite, and said in its words. */
static void damage(void **unused)
{
    (void)unused;
    rocl_schema_cache *cache = rocl_schema_cache_new();
    rocl_error *known = rocl_error_new(), *plain = rocl_error_new();
    make(TABLES, ONE);
    assert_true(asked(cache));
    for (long at = 100; at < 112; at++) {
        rocl_db *db[2] = {NULL, NULL};
        make(TABLES, ONE);
        overwrite(at, "\xff", 1);
        rocl_status st =
            rocl_db_open(&db[0], &(rocl_db_options){.path = path, .schemas = cache}, known);
        assert_int_equal(st, rocl_db_open(&db[1], &(rocl_db_options){.path = path}, plain));
        if (st != ROCL_OK)
            assert_memory_equal(rocl_error_text(known), rocl_error_text(plain),
                                before_detail(rocl_error_text(plain)));
        rocl_db_close(db[0]);
        rocl_db_close(db[1]);
    }
    rocl_error_free(known);
    rocl_error_free(plain);
    rocl_schema_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_ending),   cmocka_unit_test(another_schema),
        cmocka_unit_test(ending_in_column), cmocka_unit_test(default_value),
        cmocka_unit_test(damage),           cmocka_unit_test(shared_while_used),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
