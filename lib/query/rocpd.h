/* The tables of ROCm's databases in SQL, as they are in a file: rocpd_string, rocpd_event, ...
 *
 *     inputs are databases, and no filter       the files are attached, and read by SQLite alone
 *     anything else                             a temporary database, as rocmerge(1) writes it
 *
 * This header needs no SQLite of a host: the loadable extension does not have these tables. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

#include "rocline.h"

/* The characters of words in SQL that are looked for. */
#define ROCL_QUERY_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

typedef struct rocl_rocpd_tables rocl_rocpd_tables;

/* Attaches the databases to a connection, in exclusive locking mode, and makes a temporary view for
 * each table of them (rocpd_string) over all its table sets, with the columns that any of them has;
 * a single set's own tables (rocpd_string_GUID) can be named as well. Views whose `select` stands
 * on these tables alone come in the place of those of the same name. To be freed before the trace
 * is closed, and after its statements. */
rocl_status rocl_rocpd_open(rocl_rocpd_tables **r, sqlite3 *db, rocl_trace *t, rocl_error *err);
void rocl_rocpd_free(rocl_rocpd_tables *r);

/* After statements that ended with `st`: fails when a file has changed since it was attached. */
rocl_status rocl_rocpd_check(const rocl_rocpd_tables *r, const rocl_trace *t, rocl_status st,
                             rocl_error *err);

/* Does a text of SQL name one of the tables, or a view that needs them? */
bool rocl_rocpd_is_named(const rocl_trace *t, const char *sql);
