/* The two readers behind the row cursor against each other: on the fixtures, on real traces where
 * they are beside the checkout, and on some hundred databases that are made to be difficult. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <unistd.h>

#include "tests/rows_compare.h"
#include "tests/unit/one_file.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static uint64_t state = 88172645463325252u;

static uint64_t random64(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1du;
}

static unsigned below(unsigned n)
{
    return (unsigned)(random64() >> 33) % n;
}

/* ---- comparing whole files ---- */

static void expect_same(const rows_pair *p, verdict v, const char *file, const char *table)
{
    if (v == ROWS_DIFFERENT)
        fail_msg("%s: %s", file, p->what);
    for (int i = 0; i < READERS; i++)
        if (v != ROWS_BOTH_FAIL && p->st[i])
            fail_msg("%s: table %s: only %s fails: %s", file, table, i ? "pages" : "sqlite",
                     rocl_error_text(p->err[i]));
}

/* All rows of these columns, and then some ranges. */
static void compare_columns(rows_pair *p, const char *file, const char *table,
                            const char *const *columns, unsigned count, unsigned ranges)
{
    int64_t first = 0, last = 0;
    bool any = false;
    verdict v = rows_open(p, table, columns, count);
    expect_same(p, v, file, table);
    if (v != ROWS_SAME)
        return;
    v = rows_compare(p, table, INT64_MIN, INT64_MAX, (unsigned[]){512, 512}, UINT64_MAX);
    expect_same(p, v, file, table);
    if (v != ROWS_SAME)
        return;
    assert_int_equal(rocl_db_id_range(p->db[0], table, &first, &last, &any, p->err[0]), ROCL_OK);
    for (unsigned i = 0; i < ranges && any && v == ROWS_SAME; i++) {
        uint64_t span = (uint64_t)last - (uint64_t)first;
        uint64_t step = span == UINT64_MAX ? random64() : random64() % (span + 1);
        int64_t from = below(8) ? (int64_t)((uint64_t)first + step) : (int64_t)random64();
        int64_t to = below(2) ? INT64_MAX : (int64_t)((uint64_t)from + below(300));
        const unsigned batch[READERS] = {1 + below(512), 1 + below(below(2) ? 16 : 512)};
        v = rows_compare(p, table, from, to, batch, 1 + below(1000));
        expect_same(p, v, file, table);
    }
}

/* Every column, in groups of as many as a cursor takes, then some columns in a random order. */
static void compare_table(rows_pair *p, const char *file, const char *table)
{
    column_names c;
    const char *some[ROCL_ROWS_COLUMNS_MAX];
    columns_of(p->db[0], table, &c);
    for (unsigned i = 0; i < c.count; i += ROCL_ROWS_COLUMNS_MAX) {
        unsigned n = c.count - i < ROCL_ROWS_COLUMNS_MAX ? c.count - i : ROCL_ROWS_COLUMNS_MAX;
        compare_columns(p, file, table, (const char *const *)c.name + i, n, 10);
    }
    for (int round = 0; round < 3 && c.count; round++) {
        unsigned n = below(6);
        for (unsigned i = 0; i < n; i++)
            some[i] = below(8) ? c.name[below(c.count)] : below(2) ? "no such column" : NULL;
        compare_columns(p, file, table, some, n, 10);
    }
    columns_free(&c);
}

/* Returns how many tables the pages were read of. */
static unsigned compare_file(const char *file)
{
    rows_pair p;
    rocl_db_object *objects;
    size_t count;
    unsigned direct = 0;
    if (!rows_pair_init(&p, file)) {
        assert_int_equal(p.st[0], p.st[1]);
        rows_pair_free(&p);
        return 0;
    }
    assert_int_equal(rocl_db_objects(p.db[0], &objects, &count, p.err[0]), ROCL_OK);
    for (size_t i = 0; i < count; i++) {
        compare_table(&p, file, objects[i].name);
        direct += p.rows[BY_PAGES] && !rows_why(&p, objects[i].name);
    }
    rocl_db_objects_free(objects, count);
    rows_pair_free(&p);
    return direct;
}

static void compare_glob(const char *dir, const char *pattern)
{
    char all[512];
    glob_t found;
    unsigned direct = 0;
    snprintf(all, sizeof all, "%s/%s", dir, pattern);
    if (glob(all, 0, NULL, &found) != 0)
        skip();
    for (size_t i = 0; i < found.gl_pathc; i++)
        direct += compare_file(found.gl_pathv[i]);
    globfree(&found);
    assert_true(direct > 0);
}

static void fixtures(void **unused)
{
    (void)unused;
    const char *dir = getenv("FIXTURES");
    compare_glob(dir ? dir : "build/fixtures", "*.db");
}

static void real_traces(void **unused)
{
    (void)unused;
    const char *data = getenv("ROCLINE_DATA");
    compare_glob(data ? data : "../shared/data", "*/*.db");
}

/* ---- databases that are made ---- */

static void run(sqlite3 *db, const char *fmt, ...)
{
    va_list ap;
    char *why = NULL;
    va_start(ap, fmt);
    char *sql = sqlite3_vmprintf(fmt, ap);
    va_end(ap);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    sqlite3_free(sql);
}

static sqlite3 *create(int page_size, int reserved, int auto_vacuum)
{
    sqlite3 *db;
    unlink(path);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    run(db,
        "PRAGMA page_size=%d; PRAGMA auto_vacuum=%d; PRAGMA journal_mode=OFF; "
        "PRAGMA synchronous=OFF",
        page_size, auto_vacuum);
#ifdef SQLITE_FCNTL_RESERVE_BYTES
    sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
#endif
    return db;
}

static int64_t some_integer(void)
{
    static const unsigned bits[] = {0, 1, 7, 8, 15, 16, 23, 24, 31, 32, 47, 48, 62, 63};
    if (below(3) == 0)
        return (int64_t)(random64() >> below(64));
    uint64_t v = ((uint64_t)1 << bits[below(COUNT(bits))]) + below(3) - 1;
    return (int64_t)(below(2) ? v : 0 - v);
}

/* Around what changes the shape of a record: one more byte of type, an overflow page, two. */
static size_t some_length(int page_size)
{
    const size_t page = (size_t)page_size;
    const size_t edges[] = {0, 2, 57, 121, page / 4, page - 40, page, 2 * page, 5 * page};
    size_t n = edges[below(COUNT(edges))] + below(9);
    return below(3) && n > 200 ? below(40) : n;
}

static void bind_bytes(sqlite3_stmt *stmt, int at, int page_size)
{
    static char bytes[6 * 65536 + 16];
    size_t n = some_length(page_size);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)('!' + random64() % 90);
    if (below(3) == 0) {
        n = 2;
        memcpy(bytes, "{}", 2);
    }
    if (below(4))
        sqlite3_bind_text(stmt, at, bytes, (int)n, SQLITE_TRANSIENT);
    else
        sqlite3_bind_blob(stmt, at, bytes, (int)n, SQLITE_TRANSIENT);
}

static void bind_value(sqlite3_stmt *stmt, int at, int page_size)
{
    static const double reals[] = {0.0, -0.0, 1.0, -3.0, 0.5, 1e300, INFINITY, 9007199254740993.0};
    switch (below(7)) {
    case 0:
        sqlite3_bind_null(stmt, at);
        break;
    case 1:
        sqlite3_bind_double(stmt, at, reals[below(COUNT(reals))]);
        break;
    case 2:
        sqlite3_bind_double(stmt, at, (double)some_integer() / 8);
        break;
    case 3:
        bind_bytes(stmt, at, page_size);
        break;
    default:
        sqlite3_bind_int64(stmt, at, some_integer());
    }
}

enum { IDS_IN_ORDER, IDS_SPREAD, IDS_ANY, ID_ORDERS };

/* Rows that exist already are replaced. */
static void fill(sqlite3 *db, int page_size, int columns, unsigned rows, unsigned ids)
{
    sqlite3_stmt *stmt;
    rocl_buf sql = {0};
    rocl_buf_str(&sql, "INSERT OR REPLACE INTO t VALUES(?");
    for (int i = 1; i < columns; i++)
        rocl_buf_str(&sql, ",?");
    rocl_buf_put(&sql, ")", 2);
    assert_int_equal(sqlite3_prepare_v2(db, (char *)sql.data, -1, &stmt, NULL), SQLITE_OK);
    run(db, "BEGIN");
    for (unsigned row = 0; row < rows; row++) {
        for (int i = 1; i <= columns; i++)
            bind_value(stmt, i, page_size);
        /* The third column is the id. */
        int64_t id = ids == IDS_IN_ORDER ? (int64_t)row + 1
                     : ids == IDS_SPREAD ? (int64_t)row * 1000 - 70000
                                         : some_integer();
        sqlite3_bind_int64(stmt, 3, id);
        assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
        sqlite3_reset(stmt);
    }
    run(db, "COMMIT");
    sqlite3_finalize(stmt);
    rocl_buf_free(&sql);
}

/* All affinities, and the id in the middle. */
#define COLUMNS                                                                                    \
    "a, r REAL, id INTEGER PRIMARY KEY, t TEXT, i INT, n NUMERIC, d DOUBLE PRECISION, b BLOB, "    \
    "p \"FLOATING POINT\", x FLOAT DEFAULT 1.5"

static void make_one(int page_size, unsigned i)
{
    sqlite3 *db = create(page_size, i % 5 == 1 ? 8 + (int)below(24) : 0, i % 3 == 2 ? 1 : 0);
    unsigned rows = i % 7 == 0 ? below(3) : 20 + below(i % 4 ? 200 : 2000);
    if (page_size > 4096)
        rows = 20 + below(100);
    run(db, "CREATE TABLE other(id INTEGER PRIMARY KEY, x); CREATE TABLE t(" COLUMNS ")");
    fill(db, page_size, 10, rows, below(ID_ORDERS));
    if (i % 2)
        run(db, "DELETE FROM t WHERE abs(random()) %% 3 = 0");
    if (i % 4 == 1)
        run(db, "DELETE FROM t WHERE id BETWEEN 10 AND 150");
    if (i % 6 == 5)
        run(db, "VACUUM");
    if (i % 3 == 0) {
        run(db, "ALTER TABLE t ADD COLUMN late1; ALTER TABLE t ADD COLUMN late2 DEFAULT 'text'; "
                "ALTER TABLE t ADD COLUMN late3 REAL DEFAULT 3; "
                "ALTER TABLE t ADD COLUMN late4 TEXT DEFAULT '{}' NOT NULL; "
                "ALTER TABLE t ADD COLUMN late5 BLOB DEFAULT x'0001'");
        fill(db, page_size, 15, rows / 4, below(ID_ORDERS));
    }
    sqlite3_close(db);
}

static void made(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 360; i++) {
        int page_size = 512 << i % 8;
        state = 88172645463325252u + i;
        make_one(page_size, i);
        if (compare_file(path) != 2)
            fail_msg("database %u: pages were not read", i);
    }
}

/* The id in the first and last place, and as many columns as make the header two bytes long. */
static void many_columns(void **unused)
{
    (void)unused;
    sqlite3 *db = create(1024, 0, 0);
    rocl_buf sql = {0};
    rocl_buf_str(&sql, "CREATE TABLE t(id INTEGER PRIMARY KEY");
    for (int i = 0; i < 300; i++) {
        char column[16];
        snprintf(column, sizeof column, ",c%d", i);
        rocl_buf_str(&sql, column);
    }
    rocl_buf_put(&sql, ")", 2);
    run(db, "%s", (char *)sql.data);
    run(db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<50) "
            "INSERT INTO t(id,c0,c7,c31,c63,c298,c299) SELECT i, i*i, 'x'||i, 1, i/2.0, "
            "hex(zeroblob(i*30)), i FROM n");
    sqlite3_close(db);
    rocl_buf_free(&sql);
    rows_pair p;
    const char *columns[] = {"c299", "c7", "ID", "c31", "c298", "c63", "C0", "rowid", "c299"};
    assert_true(rows_pair_init(&p, path));
    for (unsigned n = 0; n <= COUNT(columns); n++)
        compare_columns(&p, path, "t", columns, n, 20);
    rows_pair_free(&p);
}

/* ---- which reader ---- */

static const struct {
    const char *sql, *why; /* NULL: the pages are read */
} choices[] = {
    {"CREATE TABLE t(id INTEGER PRIMARY KEY, x)", NULL},
    {"CREATE TABLE t(\"ID\" integer NOT NULL PRIMARY KEY AUTOINCREMENT, x)", NULL},
    {"CREATE TABLE t(x, id INTEGER, PRIMARY KEY(id))", NULL},
    {"CREATE TABLE t(x UNIQUE, id INTEGER PRIMARY KEY)", NULL},
    {"CREATE TABLE t(id INTEGER PRIMARY KEY, x) WITHOUT ROWID", "not the rowid"},
    {"CREATE TABLE t(id INT PRIMARY KEY, x)", "not the rowid"},
    {"CREATE TABLE t(id INTEGER PRIMARY KEY DESC, x)", "not the rowid"},
    {"CREATE TABLE t(id INTEGER, x, PRIMARY KEY(id, x))", "not the rowid"},
    {"CREATE TABLE t(id TEXT PRIMARY KEY, x)", "not the rowid"},
    {"CREATE TABLE t(id, x)", "not the rowid"},
    {"CREATE TABLE t(id INTEGER PRIMARY KEY, x, y AS (x+1))", "generated"},
    {"CREATE TABLE t(id INTEGER PRIMARY KEY, y AS (x+1) STORED, x)", "generated"},
    {"CREATE TABLE u(id INTEGER PRIMARY KEY, x); CREATE VIEW t AS SELECT * FROM u", "table t"},
    {"PRAGMA encoding='UTF-16le'; CREATE TABLE t(id INTEGER PRIMARY KEY, x)", "UTF-16"},
};

static void choice(void **unused)
{
    (void)unused;
    const char *column = "x";
    for (unsigned i = 0; i < COUNT(choices); i++) {
        rocl_rows *rows = NULL;
        rocl_db *by_pages;
        rows_pair p;
        sqlite3 *db = create(4096, 0, 0);
        run(db, "%s", choices[i].sql);
        run(db, strstr(choices[i].sql, "VIEW") ? "INSERT INTO u VALUES(1,5)"
                                               : "INSERT INTO t(id,x) VALUES(1,5)");
        sqlite3_close(db);
        assert_true(rows_pair_init(&p, path));
        compare_columns(&p, path, "t", &column, 1, 4);
        const char *why = p.rows[1] ? rows_why(&p, "t") : rocl_error_text(p.err[1]);
        if (!why != !choices[i].why || (why && !strstr(why, choices[i].why)))
            fail_msg("%s: %s", choices[i].sql, why ? why : "pages are read");
        assert_int_equal(rocl_db_open(&by_pages,
                                      &(rocl_db_options){.path = path, .reader = ROCL_READER_PAGES},
                                      p.err[0]),
                         ROCL_OK);
        rocl_status st = rocl_rows_open(&rows, by_pages, "t", &column, 1, p.err[0]);
        assert_int_equal(st, why ? ROCL_INPUT : ROCL_OK);
        if (why)
            assert_non_null(strstr(rocl_error_text(p.err[0]), choices[i].why));
        rocl_rows_close(rows);
        rocl_db_close(by_pages);
        rows_pair_free(&p);
    }
}

/* ---- parts ---- */

static int64_t rows_up_to(sqlite3 *db, int64_t id)
{
    sqlite3_stmt *stmt;
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT count(*) FROM t WHERE id <= ?", -1, &stmt, NULL), SQLITE_OK);
    sqlite3_bind_int64(stmt, 1, id);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return n;
}

/* Parts are ascending, about as large as each other, and as many as asked for where there are
 * pages enough. */
static void check_parts(rocl_db *by_pages, sqlite3 *db, size_t parts, int64_t rows, int64_t pages)
{
    int64_t ends[100], before = 0;
    size_t n;
    assert_int_equal(rocl_db_split(by_pages, "t", parts, ends, &n, NULL), ROCL_OK);
    assert_true(n < parts);
    if (pages > 8 * (int64_t)parts)
        assert_int_equal(n, parts - 1);
    for (size_t i = 0; i <= n; i++) {
        int64_t to = i < n ? rows_up_to(db, ends[i]) : rows;
        int64_t fair = rows / (int64_t)(n + 1), leaf = rows / pages + 1;
        assert_true(to > before || rows == 0);
        if (to - before > 2 * fair + 2 * leaf)
            fail_msg("part %zu of %zu has %lld of %lld rows", i, n + 1, (long long)(to - before),
                     (long long)rows);
        before = to;
    }
}

static void split(void **unused)
{
    static const int counts[] = {0, 1, 40, 3000, 60000};
    static const size_t parts[] = {1, 2, 3, 16, 100};
    (void)unused;
    for (unsigned i = 0; i < 2 * COUNT(counts); i++) {
        rocl_db *by_pages, *by_sqlite;
        int64_t ends[4];
        size_t n = 1;
        sqlite3 *db = create(i % 2 ? 512 : 4096, 0, 0);
        run(db,
            "CREATE TABLE t(id INTEGER PRIMARY KEY, x);"
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) "
            "INSERT OR IGNORE INTO t SELECT %s, 'a text' FROM n WHERE i <= %d",
            counts[i / 2], i % 3 ? "random()" : "i", counts[i / 2]);
        int64_t rows = rows_up_to(db, INT64_MAX), pages = rows / (i % 2 ? 20 : 180) + 1;
        assert_int_equal(rocl_db_open(&by_pages,
                                      &(rocl_db_options){.path = path, .reader = ROCL_READER_AUTO},
                                      NULL),
                         ROCL_OK);
        for (size_t k = 0; k < COUNT(parts); k++)
            check_parts(by_pages, db, parts[k], rows, pages);
        rocl_db_close(by_pages);
        assert_int_equal(
            rocl_db_open(&by_sqlite, &(rocl_db_options){.path = path, .reader = ROCL_READER_SQLITE},
                         NULL),
            ROCL_OK);
        assert_int_equal(rocl_db_split(by_sqlite, "t", 4, ends, &n, NULL), ROCL_OK);
        assert_int_equal(n, 0);
        rocl_db_close(by_sqlite);
        sqlite3_close(db);
    }
}

/* ---- not in the page cache ---- */

/* Where the file system has a page cache and does as it is told; else the reads are warm. */
static void make_cold(void)
{
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

/* Rows 1..count with squares, all of them and in their order. */
static void check_squares(rocl_db *db, int64_t count)
{
    const char *column = "x";
    rocl_rows *rows;
    int64_t expected = 0, x = 0;
    unsigned n = 0;
    bool bad = false;
    assert_int_equal(rocl_rows_open(&rows, db, "t", &column, 1, NULL), ROCL_OK);
    assert_int_equal(rocl_rows_seek(rows, INT64_MIN, INT64_MAX, NULL), ROCL_OK);
    while (rocl_rows_next(rows, ROCL_ROWS_BATCH, &n, NULL) == ROCL_OK && n)
        for (unsigned i = 0; i < n; i++) {
            assert_int_equal(rows->id[i], ++expected);
            assert_true(rocl_cell_int(rows, 0, i, &x, &bad) && x == expected * expected);
        }
    assert_int_equal(expected, count);
    rocl_rows_close(rows);
}

/* Two tables whose pages lie between each other, in trees of two levels and of three. */
static void cold(void **unused)
{
    static const int page_sizes[] = {512, 4096, 65536};
    const int count = 60000, step = 600;
    (void)unused;
    for (unsigned i = 0; i < COUNT(page_sizes); i++) {
        rocl_db *by_pages;
        sqlite3 *db = create(page_sizes[i], 0, 0);
        run(db, "BEGIN; CREATE TABLE t(id INTEGER PRIMARY KEY, x, y); CREATE TABLE u AS SELECT 1");
        for (int k = 0; k < count; k += step)
            run(db,
                "WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i+1 FROM n LIMIT %d) "
                "INSERT INTO t SELECT i, i*i, 'a text of some length' FROM n;"
                "INSERT INTO u SELECT zeroblob(%d)",
                k + 1, step, 40 * (k % 7000));
        run(db, "COMMIT");
        make_cold();
        assert_int_equal(rocl_db_open(&by_pages,
                                      &(rocl_db_options){.path = path, .reader = ROCL_READER_PAGES},
                                      NULL),
                         ROCL_OK);
        check_parts(by_pages, db, 100, count, (int64_t)count * 36 / page_sizes[i] + 1);
        make_cold();
        check_squares(by_pages, count);
        rocl_db_close(by_pages);
        sqlite3_close(db);
    }
}

/* ---- damage ---- */

static void overwrite(long offset, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, offset, SEEK_SET);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void make_deep(void)
{
    sqlite3 *db = create(512, 0, 0);
    run(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, x, y);"
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5000) "
            "INSERT INTO t SELECT i, i*i, 'some text' FROM n");
    sqlite3_close(db);
}

/* Reads all of t; returns the text of the error. */
static const char *read_pages(rows_pair *p, const char *column)
{
    unsigned n = 0;
    rows_pair_init(p, path);
    rocl_error *err = p->err[BY_PAGES];
    rocl_status st = rocl_rows_open(&p->rows[1], p->db[1], "t", &column, 1, err);
    if (st == ROCL_OK)
        st = rocl_rows_seek(p->rows[1], INT64_MIN, INT64_MAX, err);
    while (st == ROCL_OK && (st = rocl_rows_next(p->rows[1], 512, &n, err)) == ROCL_OK && n) {
    }
    assert_int_equal(st, ROCL_INPUT);
    return rocl_error_text(err);
}

/* Page 2 is the root of t; what its first cell points to is a leaf or leads to one. */
static const struct {
    long offset; /* from the begin of page 2 */
    const char *bytes;
    size_t n;
    const char *says;
} damages[] = {
    {0, "\x0a", 1, "page 2: it is not a page of a table"},
    {0, "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa", 8, "page 2: it is not a page of a table"},
    {3, "\0\0", 2, "page 2: it has an impossible number of cells"},
    {3, "\xff\xff", 2, "page 2: it has an impossible number of cells"},
    {8, "\0\0\0\x02", 4, "page 2: its keys are out of order"},
    {8, "\0\xff\xff\xff", 4, "page 2: it has a child that is not a page of the file"},
    {8, "\0\0\0\x01", 4, "page 2: it has a child that is not a page of the file"},
    {12, "\x01\xff", 2, "page 2: a cell lies outside of the page"},
    {12, "\0\x0c", 2, "page 2: a cell lies outside of the page"},
};

static void damage(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < COUNT(damages); i++) {
        rows_pair p;
        char begin[128];
        make_deep();
        overwrite(512 + damages[i].offset, damages[i].bytes, damages[i].n);
        const char *text = read_pages(&p, "x");
        snprintf(begin, sizeof begin, "%s: table t: %s", path, damages[i].says);
        if (strcmp(text, begin) != 0)
            fail_msg("%u: \"%s\" instead of \"%s\"", i, text, begin);
        rows_pair_free(&p);
    }
}

/* Bytes at random: an error, or the same rows as SQLite. */
static void mutations(void **unused)
{
    (void)unused;
    unsigned errors = 0;
    for (unsigned i = 0; i < 600; i++) {
        rows_pair p;
        const char *columns[] = {"x", "y"};
        make_deep();
        for (unsigned k = 0; k < 1 + i % 4; k++) {
            uint8_t byte = (uint8_t)random64();
            overwrite(512 + (long)below(400 * 512), &byte, 1);
        }
        if (i % 8 == 0)
            make_cold();
        if (rows_pair_init(&p, path) && rows_open(&p, "t", columns, 2) == ROWS_SAME) {
            verdict v = rows_compare(&p, "t", INT64_MIN, INT64_MAX, (unsigned[]){512, 100}, 100000);
            if (v == ROWS_DIFFERENT)
                fail_msg("%u: %s", i, p.what);
            errors += p.st[BY_PAGES] != 0;
        }
        rows_pair_free(&p);
    }
    assert_true(errors > 20);
}

static void shrunk(void **unused)
{
    (void)unused;
    rows_pair p;
    unsigned n;
    const char *column = "y";
    make_deep();
    assert_true(rows_pair_init(&p, path));
    assert_int_equal(rows_open(&p, "t", &column, 1), ROWS_SAME);
    assert_int_equal(rocl_rows_seek(p.rows[1], 1, 5000, p.err[1]), ROCL_OK);
    assert_int_equal(truncate(path, 20 * 512), 0);
    rocl_status st = ROCL_OK;
    while (st == ROCL_OK && (st = rocl_rows_next(p.rows[1], 512, &n, p.err[1])) == ROCL_OK && n) {
    }
    assert_int_equal(st, ROCL_INPUT);
    assert_non_null(strstr(rocl_error_text(p.err[1]), "it was truncated while it was read"));
    assert_int_equal(rocl_db_check_unchanged(p.db[1], p.err[1]), ROCL_INPUT);
    rows_pair_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixtures), cmocka_unit_test(real_traces),  cmocka_unit_test(made),
        cmocka_unit_test(choice),   cmocka_unit_test(many_columns), cmocka_unit_test(split),
        cmocka_unit_test(cold),     cmocka_unit_test(damage),       cmocka_unit_test(mutations),
        cmocka_unit_test(shrunk),
    };
    return cmocka_run_group_tests_name("rows", tests, make_folder, remove_folder);
}
