/* Reads tables through the row cursor with each of its readers: the columns that floor.c reads, and
 * a table by random seeks as the event table is read. Prints rows per second and a checksum, which
 * must be the same for both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "source/db/rows.h"

static const struct table {
    const char *name, *columns;
} tables[] = {
    {"event", "category_id stack_id parent_stack_id correlation_id extdata"},
    {"event", "category_id stack_id extdata"},
    {"event", ""},
    {"region", "pid tid track_id start end name_id event_id"},
    {"region", "start end name_id"},
    {"kernel_dispatch",
     "pid tid agent_id kernel_id dispatch_id queue_id stream_id track_id start end "
     "private_segment_size group_segment_size workgroup_size_x workgroup_size_y workgroup_size_z "
     "grid_size_x grid_size_y grid_size_z region_name_id event_id"},
    {"kernel_dispatch", "agent_id kernel_id queue_id stream_id start end grid_size_x grid_size_y "
                        "grid_size_z event_id"},
    {"memory_copy", "pid tid track_id start end name_id dst_agent_id src_agent_id size queue_id "
                    "stream_id event_id"},
    {"memory_allocate", "pid tid track_id agent_id type level start end address size queue_id "
                        "stream_id event_id extdata"},
    {"sample", "track_id timestamp event_id"},
    {"pmc_event", "event_id pmc_id value"},
};

typedef struct result {
    double seconds;
    uint64_t rows, sum;
} result;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t column_sum(const rocl_rows *r, unsigned col, unsigned n)
{
    uint64_t sum = 0;
    const rocl_column *c = &r->columns[col];
    for (unsigned i = 0; i < n; i++) {
        if (c->type[i] == ROCL_CELL_INT || c->type[i] == ROCL_CELL_REAL)
            sum += (uint64_t)c->num[i];
        else if (c->type[i] == ROCL_CELL_TEXT)
            sum += c->len[i] + (c->len[i] ? (unsigned char)r->text[c->num[i]] : 0);
        sum += c->type[i];
    }
    return sum;
}

static uint64_t batch_sum(const rocl_rows *r, unsigned n)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += (uint64_t)r->id[i];
    for (unsigned i = 0; i < r->column_count; i++)
        sum += column_sum(r, i, n);
    return sum;
}

static rocl_status scan(rocl_rows *r, result *to, rocl_error *err)
{
    unsigned n = 0;
    double begin = now();
    rocl_status st = rocl_rows_seek(r, INT64_MIN, INT64_MAX, err);
    while (st == ROCL_OK && (st = rocl_rows_next(r, ROCL_ROWS_BATCH, &n, err)) == ROCL_OK && n) {
        to->sum += batch_sum(r, n);
        to->rows += n;
    }
    to->seconds = now() - begin;
    return st;
}

/* Eight rows at a random place, many times. */
static rocl_status hop(rocl_rows *r, int64_t first, int64_t last, result *to, rocl_error *err)
{
    unsigned n = 0;
    uint64_t x = 88172645463325252u, span = (uint64_t)last - (uint64_t)first + 1;
    double begin = now();
    rocl_status st = ROCL_OK;
    for (int i = 0; i < 100000 && st == ROCL_OK; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        st = rocl_rows_seek(r, first + (int64_t)(x % span), INT64_MAX, err);
        if (st == ROCL_OK)
            st = rocl_rows_next(r, 8, &n, err);
        to->sum += batch_sum(r, n);
        to->rows++;
    }
    to->seconds = now() - begin;
    return st;
}

static unsigned split(char *list, const char **columns)
{
    unsigned n = 0;
    for (char *c = strtok(list, " "); c; c = strtok(NULL, " "))
        columns[n++] = c;
    return n;
}

static rocl_status run(const char *path, rocl_reader reader, const char *name,
                       const struct table *t, bool hops, result *to, rocl_error *err)
{
    char list[512];
    const char *columns[ROCL_ROWS_COLUMNS_MAX];
    int64_t first = 0, last = 0;
    bool any = false;
    rocl_rows *rows = NULL;
    rocl_db *db;
    snprintf(list, sizeof list, "%s", t->columns);
    unsigned n = split(list, columns);
    memset(to, 0, sizeof *to);
    rocl_status st = rocl_db_open(&db, &(rocl_db_options){.path = path, .reader = reader}, err);
    if (st != ROCL_OK)
        return st;
    st = rocl_rows_open(&rows, db, name, columns, n, err);
    if (st == ROCL_OK && hops)
        st = rocl_db_id_range(db, name, &first, &last, &any, err);
    if (st == ROCL_OK)
        st = any ? hop(rows, first, last, to, err) : scan(rows, to, err);
    rocl_rows_close(rows);
    rocl_db_close(db);
    return st;
}

/* Best of three. */
static rocl_status best(const char *path, rocl_reader reader, const char *name,
                        const struct table *t, bool hops, result *to, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    for (int i = 0; i < 3 && st == ROCL_OK; i++) {
        result one;
        st = run(path, reader, name, t, hops, &one, err);
        if (i == 0 || one.seconds < to->seconds)
            *to = one;
    }
    return st;
}

static unsigned words(const char *s)
{
    unsigned n = *s != 0;
    for (; *s; s++)
        n += *s == ' ';
    return n;
}

static rocl_status compare(const char *path, const char *name, const struct table *t, bool hops,
                           double *total, rocl_error *err)
{
    result sqlite, pages;
    rocl_status st = best(path, ROCL_READER_SQLITE, name, t, hops, &sqlite, err);
    if (st == ROCL_OK)
        st = best(path, ROCL_READER_PAGES, name, t, hops, &pages, err);
    if (st != ROCL_OK || !sqlite.rows)
        return st;
    printf("%-16s %2u %9llu %9.2f %9.2f %7.2f%s\n", hops ? "  seeks" : t->name, words(t->columns),
           (unsigned long long)sqlite.rows, (double)sqlite.rows / sqlite.seconds / 1e6,
           (double)pages.rows / pages.seconds / 1e6, sqlite.seconds / pages.seconds,
           sqlite.sum == pages.sum && sqlite.rows == pages.rows ? "" : "  DIFFERENT");
    total[0] += sqlite.seconds;
    total[1] += pages.seconds;
    return st;
}

static rocl_status find_and_compare(const char *path, const struct table *t, double *total,
                                    rocl_error *err)
{
    rocl_db *db;
    rocl_db_object *objects = NULL;
    size_t count = 0;
    char begin[64];
    int n = snprintf(begin, sizeof begin, "rocpd_%s_0", t->name);
    rocl_status st =
        rocl_db_open(&db, &(rocl_db_options){.path = path, .reader = ROCL_READER_AUTO}, err);
    if (st != ROCL_OK)
        return st;
    st = rocl_db_objects(db, &objects, &count, err);
    for (size_t i = 0; i < count && st == ROCL_OK; i++)
        if (!objects[i].is_view && !strncmp(objects[i].name, begin, (size_t)n)) {
            st = compare(path, objects[i].name, t, false, total, err);
            if (st == ROCL_OK && t == tables)
                st = compare(path, objects[i].name, t, true, (double[2]){0}, err);
        }
    rocl_db_objects_free(objects, count);
    rocl_db_close(db);
    return st;
}

int main(int argc, char **argv)
{
    rocl_error *err = rocl_error_new();
    double total[2] = {0, 0};
    if (argc != 2) {
        fputs("usage: readers FILE\n", stderr);
        return 2;
    }
    printf("%-16s %2s %9s %9s %9s %7s\n", "", "n", "rows", "sqlite", "pages", "ratio");
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && st == ROCL_OK; i++)
        st = find_and_compare(argv[1], &tables[i], total, err);
    if (st != ROCL_OK)
        fprintf(stderr, "readers: %s\n", rocl_error_text(err));
    else
        printf("seconds %9.3f %9.3f, %.2f times; rates are in 1e6 a second\n", total[0], total[1],
               total[0] / total[1]);
    rocl_error_free(err);
    return (int)st;
}
