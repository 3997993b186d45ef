/* bare: what it takes at least to read an input. Usage: bare lines|json|db|proto FILE
 *
 *     lines    reads the file and looks for the ends of lines
 *     json     reads the file and looks for quotes and brackets outside of strings
 *     proto    reads the file and all fields of its packets, two levels down
 *     db       steps through all columns of all tables of a database with SQLite
 *
 * and prints how many there are. A reader's time divided by this one is what its own work costs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fread_unlocked */
#endif

#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "base/json_masks.h"
#include "base/proto.h"

enum { BLOCK = 512 << 10 };
_Static_assert(BLOCK % ROCL_JSON_STRIDE == 0, "a block has whole strides");

static char block[BLOCK];

static uint64_t count_lines(FILE *f)
{
    uint64_t count = 0;
    for (size_t n; (n = fread_unlocked(block, 1, BLOCK, f)) > 0;)
        for (const char *p = block; (p = memchr(p, '\n', (size_t)(block + n - p))); p++)
            count++;
    return count;
}

static uint64_t count_tokens(FILE *f)
{
    uint64_t count = 0;
    rocl_json_carry carry = {0};
    for (size_t n; (n = fread_unlocked(block, 1, BLOCK, f)) > 0;) {
        memset(block + n, ' ', BLOCK - n);
        for (size_t i = 0; i < n; i += ROCL_JSON_STRIDE) {
            const rocl_json_masks m = rocl_json_look(block + i, &carry);
            count += (uint64_t)__builtin_popcountll(m.quotes | m.open | m.close);
        }
    }
    return count;
}

/* A message's fields, and those of its messages: what is no message ends at once. */
static uint64_t count_fields(rocl_pb r, int depth)
{
    uint64_t count = 0;
    rocl_pb_field f;
    for (; rocl_pb_next(&r, &f); count++)
        if (depth && f.kind == ROCL_PB_BYTES)
            count += count_fields(rocl_pb_of(f.bytes), depth - 1);
    return count;
}

static uint64_t count_file_fields(FILE *f)
{
    static char bytes[1 << 30];
    return count_fields(rocl_pb_read(bytes, fread_unlocked(bytes, 1, sizeof bytes, f)), 2);
}

/* Rows; UINT64_MAX: it failed. */
static uint64_t count_rows(sqlite3 *db)
{
    uint64_t count = 0;
    sqlite3_stmt *tables = NULL;
    if (sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master WHERE type = 'table'", -1, &tables,
                           NULL) != SQLITE_OK)
        return UINT64_MAX;
    while (sqlite3_step(tables) == SQLITE_ROW) {
        char sql[300];
        sqlite3_stmt *rows = NULL;
        snprintf(sql, sizeof sql, "SELECT * FROM \"%.200s\"",
                 (const char *)sqlite3_column_text(tables, 0));
        if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK)
            return UINT64_MAX;
        const int columns = sqlite3_column_count(rows);
        for (; sqlite3_step(rows) == SQLITE_ROW; count++)
            for (int i = 0; i < columns; i++)
                if (sqlite3_column_type(rows, i) == SQLITE_INTEGER)
                    sqlite3_column_int64(rows, i);
                else
                    sqlite3_column_text(rows, i);
        sqlite3_finalize(rows);
    }
    sqlite3_finalize(tables);
    return count;
}

int main(int argc, char **argv)
{
    const char *how = argc == 3 ? argv[1] : "";
    uint64_t count = UINT64_MAX;
    if (!strcmp(how, "db")) {
        sqlite3 *db = NULL;
        if (sqlite3_open_v2(argv[2], &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) ==
            SQLITE_OK)
            count = count_rows(db);
        sqlite3_close(db);
    } else if (!strcmp(how, "lines") || !strcmp(how, "json") || !strcmp(how, "proto")) {
        FILE *f = fopen(argv[2], "rb");
        if (f) {
            setvbuf(f, NULL, _IONBF, 0);
            count = *how == 'l'   ? count_lines(f)
                    : *how == 'j' ? count_tokens(f)
                                  : count_file_fields(f);
            fclose(f);
        }
    } else {
        fputs("usage: bare lines|json|db|proto FILE\n", stderr);
        return 2;
    }
    if (count == UINT64_MAX) {
        perror(argv[2]);
        return 1;
    }
    printf("%llu\n", (unsigned long long)count);
    return 0;
}
