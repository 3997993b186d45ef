/* Plans: which conditions and orders of a statement are left to a scan. SQLite asks for a plan when
 * it prepares a statement (rocl_plan_scan), and hands it back with the values of its arguments when
 * the scan is to begin (rocl_plan_read). SQLite tests all conditions again: a scan may only leave
 * out rows that would fail. */
#pragma once

#include "query/sql.h"

typedef struct rocl_event_table {
    sqlite3_vtab base; /* first */
    const rocl_relation *table;
    const rocl_table_host *host;
    uint64_t rows; /* about how many; 0: not known */
} rocl_event_table;

/* xBestIndex. */
int rocl_plan_scan(sqlite3_vtab *vtab, sqlite3_index_info *info);

/* What a plan and its arguments ask for. */
typedef struct rocl_plan_request {
    rocl_scan_spec spec;
    uint64_t keys;                                /* columns */
    int64_t key_cells[ROCL_RELATION_COLUMNS_MAX]; /* by column */
    rocl_test ranges[ROCL_TESTS_MAX];
    unsigned range_count;
    rocl_order_term order[ROCL_ORDER_MAX];
    unsigned order_count;
    bool grouped, nothing;
} rocl_plan_request;

/* Fills a zeroed request. `again`: the cursor was filtered before, so lists may differ from those
 * of the first time, and are left to SQLite. Free its contents with rocl_plan_release(). */
void rocl_plan_read(rocl_plan_request *q, const rocl_event_table *t, const char *plan, int argc,
                    sqlite3_value **argv, bool again, rocl_strings *strings);
void rocl_plan_release(rocl_plan_request *q);
/* Which argument is the path of the trace, of hosts whose tables are functions of one. */
int rocl_plan_path(const char *plan);
