/* floor: how fast can rocpd databases be read at all? Steps, single threaded, through exactly the
 * columns that a converter to Perfetto or CSV needs and does nothing with them. A converter's time
 * divided by this one is what its own work costs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clock_gettime */
#endif

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sqlite3.h>

/* Columns: ":t" = text, ":r" = real, else integer; a leading '-' = not needed for CSV. */
struct table {
    const char *name, *columns;
};

static const struct table tables[] = {
    {"event", "id category_id stack_id -parent_stack_id -correlation_id extdata:t"},
    {"region", "id pid tid track_id start end name_id event_id"},
    {"kernel_dispatch",
     "id pid tid agent_id kernel_id dispatch_id queue_id stream_id track_id start end "
     "private_segment_size group_segment_size workgroup_size_x workgroup_size_y workgroup_size_z "
     "grid_size_x grid_size_y grid_size_z region_name_id event_id"},
    {"memory_copy", "id pid tid track_id start end name_id dst_agent_id src_agent_id -size "
                    "-queue_id stream_id event_id"},
    {"memory_allocate", "id pid tid track_id agent_id type:t level:t start end address size "
                        "queue_id stream_id event_id extdata:t"},
    {"sample", "id track_id timestamp event_id"},
    {"pmc_event", "id event_id pmc_id value:r"},
};

enum { MAX_COLUMNS = 32, SUFFIX_SIZE = 256, NAME_SIZE = 320 };

struct totals {
    int64_t rows;
    uint64_t checksum;
};

static const char *program = "floor";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool failed(sqlite3 *db, const char *path)
{
    fprintf(stderr, "%s: %s: %s\n", program, path, sqlite3_errmsg(db));
    return false;
}

static bool has_column(sqlite3 *db, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(db, "main", table, column, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

/* Writes the SELECT of what exists into `sql` and the kinds of its columns into `kinds`. */
static int build_select(sqlite3 *db, const struct table *t, const char *full_name, bool csv,
                        char *sql, size_t size, char *kinds)
{
    char list[512];
    int count = 0;
    size_t used = (size_t)snprintf(sql, size, "SELECT ");
    snprintf(list, sizeof list, "%s", t->columns);
    for (char *c = strtok(list, " "); c && count < MAX_COLUMNS; c = strtok(NULL, " ")) {
        if (*c == '-' && csv)
            continue;
        c += *c == '-';
        char *kind = strchr(c, ':');
        if (kind)
            *kind++ = 0;
        if (!has_column(db, full_name, c))
            continue;
        used += (size_t)snprintf(sql + used, size - used, "%s\"%s\"", count ? ", " : "", c);
        kinds[count++] = kind ? *kind : 'i';
    }
    snprintf(sql + used, size - used, " FROM \"%s\"", full_name);
    return count;
}

static uint64_t text_sum(sqlite3_stmt *st, int column)
{
    const unsigned char *text = sqlite3_column_text(st, column);
    int bytes = sqlite3_column_bytes(st, column);
    return (uint64_t)bytes + (text && bytes ? text[bytes - 1] : 0);
}

static uint64_t row_sum(sqlite3_stmt *st, const char *kinds, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        if (kinds[i] == 'i')
            sum += (uint64_t)sqlite3_column_int64(st, i);
        else if (kinds[i] == 't')
            sum += text_sum(st, i);
        else
            sum += (uint64_t)(int64_t)(sqlite3_column_double(st, i) / 1e9);
    }
    return sum;
}

static bool read_table(sqlite3 *db, const char *path, const struct table *t, const char *suffix,
                       bool csv, struct totals *total)
{
    char name[NAME_SIZE], sql[2048], kinds[MAX_COLUMNS];
    snprintf(name, sizeof name, "rocpd_%s%s", t->name, suffix);
    int count = build_select(db, t, name, csv, sql, sizeof sql, kinds);
    if (!count)
        return true; /* no such table in this file */
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
        return failed(db, path);
    double begin = now();
    int64_t rows = 0;
    uint64_t sum = 0;
    int code;
    for (; (code = sqlite3_step(st)) == SQLITE_ROW; rows++)
        sum = sum * 31 + row_sum(st, kinds, count);
    double seconds = now() - begin;
    sqlite3_finalize(st);
    if (code != SQLITE_DONE)
        return failed(db, path);
    printf("%-16s %12lld rows %9.4f s %10.2f Mrows/s\n", t->name, (long long)rows, seconds,
           seconds > 0 ? (double)rows / seconds / 1e6 : 0.0);
    total->rows += rows;
    total->checksum = total->checksum * 31 + sum;
    return true;
}

static bool read_set(sqlite3 *db, const char *path, const char *uuid, bool csv,
                     struct totals *total)
{
    char suffix[SUFFIX_SIZE]; /* databases made by hand have a uuid without the leading '_' */
    snprintf(suffix, sizeof suffix, "%s%s", *uuid == '_' || !*uuid ? "" : "_", uuid);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (!read_table(db, path, &tables[i], suffix, csv, total))
            return false;
    return true;
}

/* Reads the table sets that one metadata table names. */
static bool read_metadata(sqlite3 *db, const char *path, const char *table, bool csv,
                          struct totals *total)
{
    char sql[NAME_SIZE + 64];
    sqlite3_stmt *st = NULL;
    snprintf(sql, sizeof sql, "SELECT value FROM \"%s\" WHERE tag = 'uuid'", table);
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
        return failed(db, path);
    bool good = true;
    while (good && sqlite3_step(st) == SQLITE_ROW) {
        const char *uuid = (const char *)sqlite3_column_text(st, 0);
        good = !uuid || read_set(db, path, uuid, csv, total);
    }
    sqlite3_finalize(st);
    return good;
}

static bool read_sets(sqlite3 *db, const char *path, bool csv, struct totals *total)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT name FROM sqlite_master WHERE type = 'table' "
                           "AND name LIKE 'rocpd\\_metadata\\_%' ESCAPE '\\' ORDER BY rowid",
                           -1, &st, NULL) != SQLITE_OK)
        return failed(db, path);
    bool good = true;
    int sets = 0;
    for (; good && sqlite3_step(st) == SQLITE_ROW; sets++)
        good = read_metadata(db, path, (const char *)sqlite3_column_text(st, 0), csv, total);
    sqlite3_finalize(st);
    if (good && !sets) {
        fprintf(stderr, "%s: %s: no rocpd tables\n", program, path);
        return false;
    }
    return good;
}

static bool read_file(const char *path, bool csv, struct totals *total)
{
    sqlite3 *db = NULL;
    bool good;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        good = failed(db, path);
    else
        good = read_sets(db, path, csv, total);
    sqlite3_close(db);
    return good;
}

static void print_usage(FILE *to)
{
    fputs("usage: floor pftrace|csv FILE...\n"
          "Reads what a converter needs from rocpd databases, as fast as SQLite allows on one\n"
          "thread, and prints rows, a checksum, seconds and rows per second.\n",
          to);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            print_usage(stdout);
            return 0;
        }
    bool csv = argc > 1 && strcmp(argv[1], "csv") == 0;
    if (argc < 3 || (!csv && strcmp(argv[1], "pftrace") != 0)) {
        print_usage(stderr);
        return 2;
    }
    struct totals total = {0};
    double begin = now();
    for (int i = 2; i < argc; i++)
        if (!read_file(argv[i], csv, &total))
            return 1;
    double seconds = now() - begin;
    printf("total: rows %lld checksum %016llx seconds %.4f rows/s %.0f\n", (long long)total.rows,
           (unsigned long long)total.checksum, seconds,
           seconds > 0 ? (double)total.rows / seconds : 0.0);
    return 0;
}
