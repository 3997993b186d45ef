/* index.yaml: the list of databases that `rocpd package` writes. */
#pragma once

#include "rocline.h"

typedef struct rocl_index_file {
    char *name;         /* as written; no NUL in it, not empty */
    unsigned long line; /* where, from 1 */
} rocl_index_file;

typedef struct rocl_index {
    rocl_index_file *files;
    size_t count, cap;
    char *path; /* of rocprofiler-sdk: rocpd: path, NULL without */
} rocl_index;

/* Is it the name of an index? */
bool rocl_is_index_name(const char *path);
/* Reads the subset of YAML that an index may use: block and flow collections, plain and quoted
 * scalars over any number of lines, comments. Other keys than those of the list are skipped. Errors
 * are ROCL_INPUT "line N: ..."; free `x` even then. */
rocl_status rocl_index_parse(rocl_index *x, const char *text, size_t len, rocl_error *err);
void rocl_index_free(rocl_index *x);
