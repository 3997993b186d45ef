/* For the tests of the rocpd source: each event as a row of values, by the library and by SQL, and
 * sums over hashes of rows, which are the same when the rows are, in any order.
 *
 * Needs FIXTURES, the folder that make-fixtures.sh filled. */
#ifndef TEST_ROCPD_H
#define TEST_ROCPD_H

#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rocline.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Fixtures with faulty rows. */
#define NASTY "nasty-3.0.0", "nasty-3.0.5", "nasty-4.1.0", "nasty-lz4", "nasty-sys"

/* ---- rocpd_rows.c ---------------------------------------------------------------------------- */

typedef struct digest {
    uint64_t rows, start, end, hash; /* sums, modulo 2^64 */
} digest;

typedef struct row {
    uint64_t hash;
} row;

#define CAPTURES_MAX 8

typedef struct sums {
    digest of[CAPTURES_MAX][ROCL_KINDS];
    digest names[CAPTURES_MAX][ROCL_KINDS]; /* of id and name shown */
    rocl_trace *trace;
    pthread_mutex_t lock;
} sums;

void put_int(row *r, int64_t v);
void put_null(row *r);
void put_bytes(row *r, const char *p, size_t n);
void put_text(row *r, const rocl_trace *t, uint32_t text);
void put_real(row *r, double v);
void add_row(digest *d, const row *r, int64_t start, int64_t end);
void assert_same(const char *what, const digest *ours, const digest *sql);

const char *fixtures_folder(void);
/* Inputs (names apart by spaces) of that folder. */
rocl_trace *open_fixtures(const char *names, const rocl_options *o);
/* The same, and all of their events. */
rocl_trace *scan(const char *names, const rocl_options *o, sums *s);

/* ---- rocpd_sql.c ----------------------------------------------------------------------------- */

typedef struct base { /* of one capture */
    sqlite3 *db;
    char suffix[64];
    bool by_track, has_graph, has_spm, has_place, has_source;
    bool lz4;
} base;

void open_base(base *b, const rocl_trace *t, const rocl_capture *c);
bool has_table_column(const base *b, const char *table, const char *column);
/* The digest of a query's rows. `timed`: the second and third column are start and end. */
void query(const base *b, const char *sql, bool timed, digest *d);
uint64_t number_of(const base *b, const char *sql);

#endif
