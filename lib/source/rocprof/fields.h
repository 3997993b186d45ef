/* Lines of named fields, `NAME(VALUE), NAME(VALUE)`: the dispatches and counters of results.txt of
 * rocprof v1, and all that the text plugin of rocprofv2 writes. */
#pragma once

#include "source/rocprof/row.h"

/* Does the line begin like one of these? It may be cut. */
bool rocprof_has_fields(const char *p, size_t n);
/* Is it complete? For recognition only. */
bool rocprof_fields_are_whole(const char *p, size_t n);
/* "  NAME (VALUE)": a counter of the dispatch in the lines before. */
bool rocprof_is_counter_line(const char *p, size_t n);

/* What a worker keeps from line to line. */
typedef struct rocprof_fields rocprof_fields;

rocprof_fields *rocprof_fields_of(rocl_records *to); /* made when needed; NULL: memory is out */
void rocprof_fields_free(void *fields);

/* Puts the record or records of a line for which rocprof_has_fields(). */
rocl_status rocprof_fields_put(rocl_records *to, const rocprof_words *w, rocprof_fields *f,
                               const char *p, size_t n, uint64_t where, rocl_error *err);
/* Puts the counter of a line for which rocprof_is_counter_line(). */
rocl_status rocprof_counter_line_put(rocl_records *to, const rocprof_words *w, rocprof_fields *f,
                                     const char *p, size_t n, uint64_t where, rocl_error *err);
/* A line that is no counter, or the end of the piece: a dispatch is complete. */
void rocprof_fields_end_dispatch(rocl_records *to, rocprof_fields *f);
