/* Rows of CSV files of rocprof, as text. */
#pragma once

#include <stdint.h>

#include "base/view.h"

/* Splits a row of n bytes at p, which are written to, into fields without their quotes. Doubled
 * quotes are one, as RFC 4180 says; where a row does not read so, quotes stand for themselves, as
 * AMD's writers leave them, and end a field before a comma or the end. If there are to be `want`
 * fields (0: any number) and are not, the one at text_column (SIZE_MAX: none) may hold quotes with
 * commas behind them. Returns how many there are, at most fields_max. SIZE_MAX: the quotes are not
 * sound, and there are not as many as wanted. ROCPROF_CSV_OPEN, with `more` only: the quotes of a
 * field do not end, and may in a line that follows. */
#define ROCPROF_CSV_OPEN (SIZE_MAX - 1)
size_t rocprof_csv_fields(char *p, size_t n, size_t want, size_t text_column, rocl_view *fields,
                          size_t fields_max, bool more);
/* Splits text that stays as it is: quotes that are doubled, which *has_doubled says, stay so.
 * doubled false: quotes stand for themselves. */
size_t rocprof_csv_split(const char *p, const char *end, bool doubled, rocl_view *fields,
                         size_t fields_max, bool *has_doubled);
/* Is the line not the begin of a row, but part of a text of the row before? */
bool rocprof_csv_continues(const char *p, size_t n);

/* What the files of one run share in a name without its ending: "PREFIX_" of PREFIX_KIND, as
 * rocprofv3 and rocpd call them ("" of KIND), "NAME" of KIND_NAME, as rocprof v2 does
 * (*kind_first). False: it ends in none of the kinds. */
bool rocprof_csv_run(rocl_view name, rocl_view *run, bool *kind_first);
