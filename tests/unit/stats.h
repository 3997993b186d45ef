/* What the tests of reports share: traces of fixtures, their tables, cells of those, and SQL.
 *
 * Needs FIXTURES, the folder that make-fixtures.sh filled, and is run in the project's folder. */
#ifndef TEST_STATS_H
#define TEST_STATS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "table/table.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef COUNT
#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#endif
#define BIT(report) (1u << (report))
#define ALL_REPORTS (BIT(ROCL_REPORTS) - 1)

/* For what is written: tests that do have `enter` and `leave` as setup and teardown of the group.
 */
extern char folder[64];
int enter(void **state);
int leave(void **state);

/* A number below n out of a seed, which moves on. */
uint64_t draw_from(uint64_t *seed, uint64_t n);

/* ---- traces and their tables ----------------------------------------------------------------- */

/* "demo" is shipped, what has a slash is a path, all else is a fixture. */
void path_of(char *path, size_t size, const char *name);
/* Names with a blank between them. */
rocl_trace *open_trace(const char *names, const rocl_options *o);
rocl_tables *stats_of(rocl_trace *t, const rocl_stats_options *o);
/* Of all reports, if none are named. */
rocl_tables *all_stats_of(rocl_trace *t, rocl_stats_options o);
rocl_tables *stats_of_inputs(const char *names, const rocl_options *o, rocl_stats_options so);

/* Fails when there is none. */
const rocl_table *table_of(const rocl_tables *all, const char *key);
/* The row of a name in a domain (NULL: in any); row_count: none. */
size_t find_row(const rocl_table *t, const char *domain, const char *name);

/* The tables as bytes, and NUL; the caller frees them. */
char *bytes_of(const rocl_tables *all, rocl_table_format format);
/* They are the same for one to four workers, with and without temporary files. */
void check_same_bytes(const char *names, const rocl_stats_options *s);

/* ---- cells ----------------------------------------------------------------------------------- */

bool has_column(const rocl_table *t, const char *key);
/* NULL: the table lacks the column. */
const rocl_datum *find_cell(const rocl_table *t, size_t row, const char *key);
const rocl_datum *cell(const rocl_table *t, size_t row, const char *key);
int64_t int_of(const rocl_table *t, size_t row, const char *key);
double real_of(const rocl_table *t, size_t row, const char *key);
const char *text_of(const rocl_table *t, size_t row, const char *key);
/* "" without a value. */
const char *text_if_any(const rocl_table *t, size_t row, const char *key);
void check_int(const rocl_table *t, size_t row, const char *key, int64_t expected);
/* Not a number: no value is expected. An integer is fine. */
void check_real(const rocl_table *t, size_t row, const char *key, double expected);
/* NULL: no value is expected. */
void check_text(const rocl_table *t, size_t row, const char *key, const char *expected);
void check_none(const rocl_table *t, size_t row, const char *key);

/* ---- SQL ------------------------------------------------------------------------------------- */

void run_sql(sqlite3 *db, const char *sql);
sqlite3_stmt *prepare(sqlite3 *db, const char *sql);
int64_t number(sqlite3 *db, const char *sql);

#endif
