/* The result of a statement as columns of a file: Parquet and Arrow. */
#pragma once

#include "rocline.h"

/* rocl_query_write() for these formats. */
rocl_status rocl_query_write_columns(rocl_query *q, const char *sql, const rocl_rows_options *o,
                                     uint64_t *rows, rocl_error *err);

/* What a query is of, and how many bytes of rows it may keep in memory (query.c). */
rocl_trace *rocl_query_trace(const rocl_query *q);
size_t rocl_query_memory(const rocl_query *q);
