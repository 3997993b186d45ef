/* A table set as an input has it. */
#pragma once

#include <sqlite3.h>

#include "format/schema.h"
#include "source/rocpd/rocpd.h"

typedef struct merge_field {
    char *name;
    char *declared;   /* "TEXT DEFAULT '{}'"; "" where nothing is known */
    bool is_declared; /* false: hidden, not to be copied */
} merge_field;

typedef struct merge_source {
    char *name; /* in the input */
    char *base; /* without the suffix: "rocpd_region" */
    schema_table table;
    merge_field *fields;
    size_t count;
    bool by_track; /* it has a track_id in the place of columns of schema 3 */
} merge_source;

typedef struct merge_set {
    const rocl_capture *capture;
    merge_source *tables;
    size_t count;
    char *version; /* schema_version */
    char *slice;   /* SCHEMA_SLICE_TAG; NULL: not a slice */
    size_t index;  /* among the sets of its file */
    bool by_track; /* some table is: schema 4 */
} merge_set;

const merge_source *merge_set_table(const merge_set *set, const char *base);
const merge_field *merge_source_field(const merge_source *s, const char *column);

/* A file that is open. Zeroed to begin with. */
typedef struct merge_reader {
    const rocl_source *source; /* NULL: no file is open */
    rocl_db *db;
    rocpd_found found;
    size_t *owners;   /* of the objects found */
    merge_set set;    /* of the capture that was read last */
    rocl_db *checked; /* the copier's: the file opened once more; NULL: not yet */
    bool attached;    /* the copier's: to its output */
} merge_reader;

/* Captures come process by process, so all slices of a trace are needed for each. To open one takes
 * as long as it has tables: as many of them stay open. SQLite can attach 10 files. */
enum { MERGE_READERS = 8 };

/* The one of the readers that has the file open, or is to open it (and to close what it has). Files
 * that are no slices have one reader in turn. */
merge_reader *merge_reader_choose(merge_reader readers[MERGE_READERS], const rocl_source *s);
/* Opens the file of a capture, unless it is open, and reads its set. *opened (may be NULL) is
 * whether the file was opened. */
rocl_status merge_reader_to(merge_reader *r, rocl_trace *t, const rocl_capture *c, bool *opened,
                            rocl_error *err);
/* Fails when the file changed meanwhile. To be called after errors, too. */
rocl_status merge_reader_close(merge_reader *r, rocl_error *err);

/* Appends the SQL of the value that a column declared so has in a row that lacks it: "NULL",
 * "'{}'". */
void merge_put_default(sqlite3_str *sql, const char *declared);
