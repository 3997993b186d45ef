/* Fuzz target: a database image, converted to a Perfetto trace. The last two bytes of the input
 * choose the reader and options, the bytes before them are the file. Under libFuzzer half of the
 * mutations are made by SQL: a cell of some row gets a value that nobody expects, which a flipped
 * byte hardly ever does. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rocline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));

/* ---- the target ---- */

static char path[64];

static void remove_file(void)
{
    unlink(path);
}

/* SQLite opens files by name only, and one in memory is quicker than one on disk. */
static int image_file(void)
{
    static int fd = -1;
    static const char *const folders[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; fd < 0 && i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/fuzz-rocpd-XXXXXX", folders[i]);
        fd = mkstemp(path);
    }
    if (fd < 0)
        abort();
    return fd;
}

static void convert(unsigned reader, unsigned config)
{
    const char *input = path;
    rocl_options o = {.jobs = 1, .memory = (size_t)16 << 20};
    rocl_pftrace_options p = {.path = "/dev/null", .level = 0};
    rocl_error *err = rocl_error_new();
    rocl_trace *t = NULL;
    o.reader = reader & 1 ? ROCL_READER_SQLITE : ROCL_READER_AUTO;
    p.legacy_tracks = config & 1;
    p.group_by_queue = config & 2;
    o.args = config & 4;
    o.kernel_names = (rocl_kernel_names)(config >> 3 & 3);
    o.agent_index = config & 32 ? ROCL_INDEX_TYPE_RELATIVE : ROCL_INDEX_RELATIVE;
    o.kernel_rename = config & 64;
    if (config & 128) {
        o.start = "20%";
        o.end = "+1ms";
        o.window_mode = ROCL_WINDOW_CLIP;
    }
    if (rocl_trace_open(&t, &input, 1, &o, err) == ROCL_OK)
        rocl_write_pftrace(t, &p, NULL, err);
    if (rocl_error_status(err) == ROCL_INTERNAL) {
        fprintf(stderr, "%s\n", rocl_error_text(err));
        abort(); /* no input may be the fault of ours */
    }
    rocl_trace_close(t);
    rocl_error_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (size < 2)
        return 0;
    size -= 2;
    if (fd < 0) {
        fd = image_file();
        atexit(remove_file);
    }
    if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    convert(data[size], data[size + 1]);
    return 0;
}

/* ---- mutations by SQL ---- */

static uint32_t state;

static uint32_t pick(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)state * n >> 32);
}

static const char *const values[] = {
    "NULL",
    "0",
    "1",
    "2",
    "-1",
    "3",
    "7",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "4611686018427387904",
    "1152921504606846976",
    "987654321",
    "0.5",
    "1e300",
    "-1e300",
    "9e999",
    "-9e999",
    "1e18",
    "''",
    "'{}'",
    "'soon'",
    "'12'",
    "' 7'",
    "x''",
    "x'7b7d'",
    "x'00ff'",
    "x'04224d186040', 'x'",
    "'{\"message\":\"m\"}'",
    "'{\"message\":\"'",
    "'{\"message\": \"\\ud800\"}'",
    "'{\"flags\":-1}'",
    "'{\"flags\":\"0x10\"}'",
    "'GPU'",
    "'CPU'",
    "'NIC'",
    "'ALLOC'",
    "'FREE'",
    "'REALLOC'",
    "'RECLAIM'",
    "'VIRTUAL'",
    "'SCRATCH'",
    "'MARKER_CORE_RANGE_API'",
    "'MARKER_CORE_API'",
    "'void a::b<c(d)>::e(f)'",
    "CAST(x'c328' AS TEXT)",
    "CAST(x'610062' AS TEXT)",
    "printf('%.*c', 300, 'x')",
    "printf('%.*c', 9000, '<')",
    "'{\"RANK\":\"99999999999\"}'",
    "'{\"RANK\":3}'",
};

static sqlite3_stmt *prepare(sqlite3 *db, char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sql)
        sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    sqlite3_free(sql);
    return stmt;
}

/* The text of the first cell of a random row of a query; to be freed. */
static char *one_of(sqlite3 *db, char *sql)
{
    sqlite3_stmt *stmt = prepare(db, sql);
    char *text = NULL;
    for (uint32_t n = pick(24); stmt && sqlite3_step(stmt) == SQLITE_ROW; n--) {
        sqlite3_free(text);
        text = sqlite3_mprintf("%s", (const char *)sqlite3_column_text(stmt, 0));
        if (!n)
            break;
    }
    sqlite3_finalize(stmt);
    return text;
}

static void change_cell(sqlite3 *db)
{
    char *table = one_of(db, sqlite3_mprintf("SELECT name FROM sqlite_master WHERE type = 'table' "
                                             "AND name LIKE 'rocpd%%' ORDER BY name LIKE "
                                             "'%%info%%', random()"));
    char *column = table ? one_of(db, sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q) "
                                                      "ORDER BY random()",
                                                      table))
                         : NULL;
    const char *value = values[pick(sizeof values / sizeof *values)];
    char *sql = NULL;
    if (column && pick(8))
        sql =
            sqlite3_mprintf("UPDATE OR REPLACE \"%w\" SET \"%w\" = %s WHERE id IN (SELECT id FROM "
                            "\"%w\" ORDER BY random() LIMIT %u)",
                            table, column, value, table, 1 + pick(3));
    else if (column) /* two columns of one row alike: ids that refer to the row itself, end = start
                      */
        sql = sqlite3_mprintf("UPDATE OR REPLACE \"%w\" SET \"%w\" = (SELECT id + %d FROM \"%w\" "
                              "ORDER BY random() LIMIT 1)",
                              table, column, (int)pick(3) - 1, table);
    if (sql)
        sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    sqlite3_free(column);
    sqlite3_free(table);
}

static size_t mutate_by_sql(uint8_t *data, size_t size, size_t max)
{
    sqlite3 *db = NULL;
    size_t done = 0;
    sqlite3_int64 n = 0;
    unsigned char *copy = sqlite3_malloc64(size);
    if (!copy || sqlite3_open(":memory:", &db) != SQLITE_OK)
        abort();
    memcpy(copy, data, size - 2);
    if (sqlite3_deserialize(db, "main", copy, (sqlite3_int64)size - 2, (sqlite3_int64)size - 2,
                            SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ==
        SQLITE_OK) {
        sqlite3_exec(db, "PRAGMA ignore_check_constraints = 1; PRAGMA journal_mode = OFF", NULL,
                     NULL, NULL);
        for (uint32_t i = 1 + pick(4); i; i--)
            change_cell(db);
        unsigned char *image = sqlite3_serialize(db, "main", &n, 0);
        if (image && n > 0 && (size_t)n + 2 <= max) {
            memcpy(data, image, (size_t)n);
            data[n] = (uint8_t)pick(256);
            data[n + 1] = (uint8_t)pick(256);
            done = (size_t)n + 2;
        }
        sqlite3_free(image);
    }
    sqlite3_close(db);
    return done;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    size_t n = 0;
    state = seed;
    if (size > 513 && pick(4))
        n = mutate_by_sql(data, size, max);
    return n ? n : LLVMFuzzerMutate(data, size, max);
}
