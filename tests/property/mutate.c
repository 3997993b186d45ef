/* One number makes one damage of a file: bytes, ranges, lines, numbers, or cells of a database. */
#include "tests/property/property.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64, from Steele, Lea and Flood, "Fast splittable pseudorandom number generators". */
static uint64_t draw_word(draw *d)
{
    uint64_t z = d->state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

draw draw_seeded(const char *name, uint64_t number)
{
    draw d = {number};
    for (const char *p = name; *p; p++)
        d.state = d.state * 31 + (unsigned char)*p;
    d.state ^= draw_word(&d);
    return d;
}

uint64_t draw_below(draw *d, uint64_t below)
{
    return below ? draw_word(d) % below : 0;
}

#define SAY(...)                                                                                   \
    do {                                                                                           \
        size_t used_ = strlen(words);                                                              \
        snprintf(words + used_, size - used_, __VA_ARGS__);                                        \
    } while (0)

/* ---- bytes ---- */

/* Puts n bytes in place of `cut` bytes at `at`. */
static void replace_range(bytes *b, size_t at, size_t cut, const char *p, size_t n)
{
    char *all = malloc(b->n - cut + n + 1);
    if (!all)
        abort();
    memcpy(all, b->p, at);
    memcpy(all + at, p, n);
    memcpy(all + at + n, b->p + at + cut, b->n - at - cut);
    b->n += n - cut;
    all[b->n] = '\0';
    free(b->p);
    b->p = all;
}

/* The line that holds a byte, with its end. */
static size_t find_line(const bytes *b, size_t at, size_t *n)
{
    size_t begin = at, end = at;
    while (begin > 0 && b->p[begin - 1] != '\n')
        begin--;
    while (end < b->n && b->p[end] != '\n')
        end++;
    *n = end - begin + (end < b->n);
    return begin;
}

static const char *const extremes[] = {"0",
                                       "-1",
                                       "1",
                                       "9223372036854775807",
                                       "9223372036854775808",
                                       "18446744073709551615",
                                       "-9223372036854775808",
                                       "1e300",
                                       "1e400",
                                       "NaN",
                                       "",
                                       "null",
                                       "0x7f",
                                       "1.5",
                                       "99999999999999999999999",
                                       "\"\"",
                                       "\"",
                                       "{}",
                                       "[]",
                                       "true",
                                       "00",
                                       "4294967296",
                                       "2147483648"};

static void change_number(bytes *b, draw *d, char *words, size_t size)
{
    size_t at = draw_below(d, b->n), begin;
    while (at < b->n && !(b->p[at] >= '0' && b->p[at] <= '9'))
        at++;
    begin = at;
    while (begin > 0 && b->p[begin - 1] >= '0' && b->p[begin - 1] <= '9')
        begin--;
    while (at < b->n && b->p[at] >= '0' && b->p[at] <= '9')
        at++;
    const char *to = extremes[draw_below(d, sizeof extremes / sizeof *extremes)];
    SAY("; number at %zu: %.*s -> %s", begin, (int)(at - begin > 30 ? 30 : at - begin),
        b->p + begin, to);
    replace_range(b, begin, at - begin, to, strlen(to));
}

static void change_bytes(bytes *b, draw *d, char *words, size_t size)
{
    static const char special[] = "\0\377\"'\\,;:{}[]()\n\r\t 09-.e<>\200";
    const size_t at = draw_below(d, b->n);
    size_t n, m, other;
    switch (b->n ? draw_below(d, 11) : 9) {
    case 0:
        SAY("; bit of byte %zu", at);
        b->p[at] = (char)(b->p[at] ^ 1 << draw_below(d, 8));
        break;
    case 1:
        b->p[at] = special[draw_below(d, sizeof special - 1)];
        SAY("; byte %zu is %02x", at, (unsigned char)b->p[at]);
        break;
    case 2:
        SAY("; cut to %zu of %zu bytes", at, b->n);
        replace_range(b, at, b->n - at, "", 0);
        break;
    case 3:
        n = 1 + draw_below(d, b->n - at < 200 ? b->n - at : 200);
        n = n > b->n - at ? b->n - at : n;
        SAY("; without bytes %zu to %zu", at, at + n);
        replace_range(b, at, n, "", 0);
        break;
    case 4: { /* a copy: what is copied moves */
        n = 1 + draw_below(d, b->n - at < 400 ? b->n - at : 400);
        n = n > b->n - at ? b->n - at : n;
        char *copy = malloc(n);
        if (!copy)
            abort();
        memcpy(copy, b->p + at, n);
        SAY("; bytes %zu to %zu twice", at, at + n);
        replace_range(b, at, 0, copy, n);
        free(copy);
        break;
    }
    case 5:
        other = find_line(b, at, &n);
        SAY("; without the line at %zu", other);
        replace_range(b, other, n, "", 0);
        break;
    case 6: {
        other = find_line(b, at, &n);
        char *copy = malloc(n + 1);
        if (!copy)
            abort();
        memcpy(copy, b->p + other, n);
        m = find_line(b, draw_below(d, b->n), &(size_t){0});
        SAY("; line at %zu again at %zu", other, m);
        replace_range(b, m, 0, copy, n);
        free(copy);
        break;
    }
    case 7:
    case 8:
        change_number(b, d, words, size);
        break;
    case 9: {
        const char *to = extremes[draw_below(d, sizeof extremes / sizeof *extremes)];
        SAY("; '%s' put in at %zu", to, at);
        replace_range(b, at, 0, to, strlen(to));
        break;
    }
    default: { /* the header of a page, its cell pointers, or the begin of a cell */
        const size_t page = 4096;
        size_t where = at - at % page;
        where += draw_below(d, 2) && where + page <= b->n
                     ? page - 1 - draw_below(d, 512)
                     : draw_below(d, where + 64 < b->n ? 64 : b->n - where);
        b->p[where] = (char)draw_below(d, 256);
        SAY("; byte %zu is %02x", where, (unsigned char)b->p[where]);
    }
    }
}

/* ---- cells ---- */

static bool is_database(const bytes *b)
{
    return b->n >= 100 && !memcmp(b->p, "SQLite format 3", 16);
}

/* One text of the database, "" if there is none. */
static void query_text(sqlite3 *db, const char *sql, char *to, size_t size)
{
    sqlite3_stmt *s = NULL;
    to[0] = '\0';
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW &&
        sqlite3_column_text(s, 0))
        snprintf(to, size, "%s", (const char *)sqlite3_column_text(s, 0));
    sqlite3_finalize(s);
}

static void change_cells(const char *path, draw *d, char *words, size_t size)
{
    static const char *const cells[] = {"NULL",
                                        "''",
                                        "'x'",
                                        "-1",
                                        "0",
                                        "1",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "1e300",
                                        "1e999",
                                        "x'00ff'",
                                        "'17'",
                                        "1.5",
                                        "'{\"'",
                                        "4294967296",
                                        "9223372036854775808.0",
                                        "2147483647"};
    sqlite3 *db = NULL;
    char table[256], column[256], sql[3072], where[128];
    if (sqlite3_open(path, &db) != SQLITE_OK) {
        sqlite3_close(db);
        return;
    }
    /* Tables with rows are what matters: an empty one is drawn again. */
    for (int i = 0; i < 8; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%%' "
                 "ORDER BY name LIMIT 1 OFFSET %llu %% (SELECT max(1, count(*)) FROM sqlite_master "
                 "WHERE type = 'table' AND name NOT LIKE 'sqlite%%')",
                 (unsigned long long)draw_below(d, 1000000));
        query_text(db, sql, table, sizeof table);
        snprintf(sql, sizeof sql, "SELECT 1 FROM \"%s\" LIMIT 1", table);
        query_text(db, sql, where, sizeof where);
        if (where[0])
            break;
    }
    snprintf(sql, sizeof sql,
             "SELECT name FROM pragma_table_info('%s') LIMIT 1 OFFSET %llu %% (SELECT max(1, "
             "count(*)) FROM pragma_table_info('%s'))",
             table, (unsigned long long)draw_below(d, 1000), table);
    query_text(db, sql, column, sizeof column);
    snprintf(where, sizeof where, "%llu", (unsigned long long)draw_below(d, 1000000));
    char row[1024];
    snprintf(
        row, sizeof row,
        "rowid IN (SELECT rowid FROM \"%s\" LIMIT 1 OFFSET %s %% (SELECT max(1, count(*)) FROM "
        "\"%s\"))",
        table, where, table);
    const char *cell = cells[draw_below(d, sizeof cells / sizeof *cells)];
    switch (draw_below(d, 12)) {
    case 0:
        snprintf(sql, sizeof sql, "DELETE FROM \"%s\" WHERE %s", table, row);
        break;
    case 1: /* all cells of a column */
        snprintf(sql, sizeof sql, "UPDATE OR IGNORE \"%s\" SET \"%s\" = %s", table, column, cell);
        break;
    case 2:
        snprintf(sql, sizeof sql, "DELETE FROM \"%s\" WHERE rowid %% 3 = %s %% 3", table, where);
        break;
    case 3:
        snprintf(sql, sizeof sql, "DROP TABLE \"%s\"", table);
        break;
    case 4:
        snprintf(sql, sizeof sql, "ALTER TABLE \"%s\" RENAME COLUMN \"%s\" TO renamed", table,
                 column);
        break;
    case 5: /* a cell of another row */
        snprintf(sql, sizeof sql,
                 "UPDATE \"%s\" SET \"%s\" = (SELECT \"%s\" FROM \"%s\" ORDER BY rowid DESC LIMIT "
                 "1) WHERE %s",
                 table, column, column, table, row);
        break;
    default:
        snprintf(sql, sizeof sql, "UPDATE OR REPLACE \"%s\" SET \"%s\" = %s WHERE %s", table,
                 column, cell, row);
    }
    if (sqlite3_exec(db, "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON", NULL, NULL,
                     NULL) == SQLITE_OK &&
        sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK && sqlite3_changes(db) >= 0)
        SAY("; %s", sql);
    sqlite3_close(db);
}

void mutate_file(const char *path, draw *d, char *words, size_t size)
{
    bytes b;
    if (!bytes_read(&b, path))
        return;
    const uint64_t times = 1 + draw_below(d, 3);
    if (is_database(&b) && draw_below(d, 3) > 0) {
        for (uint64_t i = 0; i < times; i++)
            change_cells(path, d, words, size);
    } else {
        for (uint64_t i = 0; i < times; i++)
            change_bytes(&b, d, words, size);
        bytes_write(path, b.p, b.n);
    }
    free(b.p);
}
