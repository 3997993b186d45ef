/* What a merge is made of: the database without a name, pieces of SQL, schema, sets of ids. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/new_db.h"
#include "merge/select.h"
#include "merge/set.h"
#include "tests/unit/one_file.h"

/* ---- the database without a name ---- */

static int64_t number(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return n;
}

static rocl_new_db *filled(int rows)
{
    rocl_new_db *db;
    char sql[200];
    assert_int_equal(rocl_new_db_open(&db, path, 64 << 10, NULL), ROCL_OK);
    snprintf(
        sql, sizeof sql,
        "CREATE TABLE t(x); BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n "
        "WHERE i<%d) INSERT INTO t SELECT zeroblob(100) FROM n; COMMIT; CREATE INDEX i ON t(x)",
        rows);
    assert_int_equal(rocl_new_db_exec(db, sql, NULL), ROCL_OK);
    return db;
}

static void database_appears_at_commit(void **state)
{
    (void)state;
    uint64_t bytes = 0;
    rocl_new_db *db = filled(20000); /* more than its cache: pages go out and come back */
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(rocl_new_db_close(db, &bytes, NULL), ROCL_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(rocl_new_db_commit(db, NULL), ROCL_OK);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, bytes);
    assert_int_equal(number("SELECT count(*) FROM t"), 20000);
    assert_int_equal(number("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
}

static void database_replaces_another(void **state)
{
    (void)state;
    uint64_t bytes;
    rocl_new_db *db = filled(3);
    assert_int_equal(number("SELECT count(*) FROM t"), 20000); /* of the test before */
    assert_int_equal(rocl_new_db_close(db, &bytes, NULL), ROCL_OK);
    assert_int_equal(rocl_new_db_commit(db, NULL), ROCL_OK);
    assert_int_equal(number("SELECT count(*) FROM t"), 3);
}

static void database_discarded_leaves_nothing(void **state)
{
    (void)state;
    uint64_t bytes;
    rocl_new_db_discard(filled(5));
    rocl_new_db *db = filled(5);
    assert_int_equal(rocl_new_db_close(db, &bytes, NULL), ROCL_OK);
    rocl_new_db_discard(db);
    rocl_new_db_discard(NULL);
    assert_int_equal(number("SELECT count(*) FROM t"), 3);
}

static void database_goes_to_regular_files_only(void **state)
{
    (void)state;
    rocl_error *err = rocl_error_new();
    rocl_new_db *db;
    assert_int_equal(rocl_new_db_open(&db, "/dev/null", 1 << 20, err), ROCL_OUTPUT);
    assert_non_null(strstr(rocl_error_text(err), "regular file"));
    assert_int_equal(rocl_new_db_open(&db, "/nowhere/x.db", 1 << 20, err), ROCL_OUTPUT);
    assert_null(db);
    rocl_error_free(err);
}

/* Two at once have nothing in common. */
static void databases_are_apart(void **state)
{
    (void)state;
    rocl_new_db *a = filled(7), *b = filled(8);
    uint64_t bytes;
    assert_int_equal(rocl_new_db_close(a, &bytes, NULL), ROCL_OK);
    assert_int_equal(rocl_new_db_close(b, &bytes, NULL), ROCL_OK);
    assert_int_equal(rocl_new_db_commit(a, NULL), ROCL_OK);
    assert_int_equal(number("SELECT count(*) FROM t"), 7);
    assert_int_equal(rocl_new_db_commit(b, NULL), ROCL_OK);
    assert_int_equal(number("SELECT count(*) FROM t"), 8);
}

/* ---- pieces of SQL ---- */

static void expect_default(const char *declared, const char *sql)
{
    sqlite3_str *b = sqlite3_str_new(NULL);
    merge_put_default(b, declared);
    char *text = sqlite3_str_finish(b);
    assert_string_equal(text, sql);
    sqlite3_free(text);
}

static void defaults_are_values(void **state)
{
    (void)state;
    expect_default("INTEGER", "NULL");
    expect_default("", "NULL");
    expect_default("INTEGER DEFAULT 0", "0");
    expect_default("TEXT DEFAULT 'it''s'", "'it''s'");
    expect_default("JSONB DEFAULT \"{}\"", "'{}'");
    expect_default("TEXT DEFAULT \"a \"\" b ' c\"", "'a \" b '' c'");
    expect_default("TEXT DEFAULT \"\"", "''");
}

/* ---- schema ---- */

static void references_come_before_what_they_refer_to(void **state)
{
    (void)state;
    for (schema_table t = 0; t < SCHEMA_TABLES; t++) {
        size_t n;
        const schema_column *columns = schema_columns_of(t, &n);
        assert_int_equal(schema_table_of(schema_table_name(t)), t);
        for (size_t i = 0; i < n; i++) {
            schema_table refers = schema_refers_to(t, columns[i].name);
            if (refers != SCHEMA_OTHER && schema_rule_of(refers) == SCHEMA_USED)
                assert_true(refers > t);
        }
    }
    assert_int_equal(schema_table_of("rocpd_weather"), SCHEMA_OTHER);
}

static void pids_of_the_system_are_no_references(void **state)
{
    (void)state;
    assert_int_equal(schema_refers_to(SCHEMA_PROCESS, "pid"), SCHEMA_OTHER);
    assert_int_equal(schema_refers_to(SCHEMA_THREAD, "tid"), SCHEMA_OTHER);
    assert_int_equal(schema_refers_to(SCHEMA_THREAD, "pid"), SCHEMA_PROCESS);
    assert_int_equal(schema_refers_to(SCHEMA_REGION, "tid"), SCHEMA_THREAD);
}

/* ---- sets ---- */

static void ids_know_their_ends(void **state)
{
    (void)state;
    merge_ids ids = {0};
    assert_false(merge_ids_has(&ids, 0));
    const int64_t some[] = {70000, 5, -3, INT64_MAX, 5};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        assert_true(merge_ids_add(&ids, some[i]));
    assert_int_equal(ids.first, -3);
    assert_true(ids.last == INT64_MAX);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        assert_true(merge_ids_has(&ids, some[i]));
    assert_false(merge_ids_has(&ids, 6));
    merge_ids_free(&ids);
    assert_false(merge_ids_has(&ids, 5));
}

/* ---- environment ---- */

static void expect_ranks(const char *environment, const char *ranks)
{
    char *text = rocpd_rank_environment(environment);
    assert_string_equal(text, ranks);
    int32_t cut = 0, whole = 0;
    assert_true(rocpd_rank_of(text, &cut) && rocpd_rank_of(environment, &whole));
    assert_int_equal(cut, whole);
    free(text);
}

static void environment_is_cut_to_ranks(void **state)
{
    (void)state;
    expect_ranks("{}", "{}");
    expect_ranks("", "{}");
    expect_ranks("no JSON", "{}");
    expect_ranks("[1]", "{}");
    expect_ranks("{\"PATH\": \"/bin\", \"SLURM_PROCID\": \"17\"}", "{\"SLURM_PROCID\": \"17\"}");
    expect_ranks("{\"RANK\": \"secret\", \"PMI_RANK\": 3, \"HOME\": 1}", "{\"PMI_RANK\": \"3\"}");
    expect_ranks("{\"RANK\": \"5 and more\", \"OMPI_COMM_WORLD_RANK\": \"4\"}",
                 "{\"OMPI_COMM_WORLD_RANK\": \"4\", \"RANK\": \"5\"}");
    expect_ranks("{\"RANK\": -1}", "{}");
}

/* ---- files that stay open ---- */

/* How often a file is opened when every process is read from all slices. */
static int count_opens(int slices, int processes, bool are_slices)
{
    merge_reader readers[MERGE_READERS] = {0};
    rocl_source *sources = calloc((size_t)slices, sizeof *sources);
    int opens = 0;
    assert_non_null(sources);
    for (int p = 0; p < processes; p++)
        for (int i = 0; i < slices; i++) {
            sources[i].slice = are_slices;
            merge_reader *r = merge_reader_choose(readers, &sources[i]);
            opens += r->source != &sources[i];
            r->source = &sources[i];
            assert_ptr_equal(merge_reader_choose(readers, &sources[i]), r);
        }
    free(sources);
    return opens;
}

static void slices_stay_open(void **state)
{
    (void)state;
    assert_int_equal(count_opens(2, 64, true), 2);
    assert_int_equal(count_opens(MERGE_READERS, 64, true), MERGE_READERS);
    /* Those beyond take turns. */
    assert_int_equal(count_opens(MERGE_READERS + 2, 64, true), MERGE_READERS - 1 + 3 * 64);
    /* Other files are read once: one is open. */
    assert_int_equal(count_opens(3, 1, false), 3);
    assert_int_equal(count_opens(3, 2, false), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(database_appears_at_commit),
        cmocka_unit_test(database_replaces_another),
        cmocka_unit_test(database_discarded_leaves_nothing),
        cmocka_unit_test(database_goes_to_regular_files_only),
        cmocka_unit_test(databases_are_apart),
        cmocka_unit_test(defaults_are_values),
        cmocka_unit_test(references_come_before_what_they_refer_to),
        cmocka_unit_test(pids_of_the_system_are_no_references),
        cmocka_unit_test(ids_know_their_ends),
        cmocka_unit_test(environment_is_cut_to_ranks),
        cmocka_unit_test(slices_stay_open),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
