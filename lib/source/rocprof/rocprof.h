/* Readers of what rocprof v1 and v2 and roctracer wrote: texts, databases, CSV and JSON, as records
 * (source/records). */
#pragma once

#include "source/records/records.h"

extern const rocl_source_ops rocl_rocprof_text_ops; /* raw texts, singly or as a folder */
extern const rocl_source_ops rocl_rocprof_db_ops;   /* results.db of v1 */
extern const rocl_source_ops rocl_rocprof_csv_ops;  /* CSV files of any version */
extern const rocl_source_ops rocl_rocprof_json_ops; /* results.json of v1, *_output.json of v2 */

/* Is there a line among these first bytes that only the raw texts have? */
bool rocprof_is_text(const char *head, size_t n, bool whole);
/* Do they begin with the header of one of the CSV files? */
bool rocprof_is_csv(const char *head, size_t n, bool whole);
/* Do they, with another separator, as spreadsheets write it? */
bool rocprof_has_semicolons(const char *head, size_t n, bool whole);
bool rocprof_has_tabs(const char *head, size_t n, bool whole);
