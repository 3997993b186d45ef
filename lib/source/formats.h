/* The table of input formats: those that are read, and those that people hand in by mistake or in
 * hope. A format is recognised by how the file begins, decompressed, or if it is a SQLite database
 * by the names of its tables; nowhere else and never by the name of the file. */
#ifndef ROCL_SOURCE_FORMATS_H
#define ROCL_SOURCE_FORMATS_H

#include "source/db/rows.h"
#include "source/source.h"

/* What is true of the inputs of a format. */
enum {
    /* Its reader opens a SQLite database: `open` finds it open in source->db, and more connections
     * come from rocl_source_connect(). What is compressed or comes through a pipe is unpacked into
     * a file for that; other readers have the bytes in source->spool. */
    ROCL_FORMAT_DATABASE = 1 << 0,
    /* To open and to read an input needs nothing of those before it: several are opened at once,
     * and small ones are prefetched. `unchanged` must be there. */
    ROCL_FORMAT_INDEPENDENT = 1 << 1,
    /* A guid is of one process: two inputs with the same one are refused. */
    ROCL_FORMAT_UNIQUE_GUID = 1 << 2,
    /* Folders are searched for it. */
    ROCL_FORMAT_IN_FOLDERS = 1 << 3,
    /* The state is that of source/rocpd: table sets that can be merged as they are. */
    ROCL_FORMAT_TABLE_SETS = 1 << 4,
    /* Lines that say anything may come before its first record: all of a text is searched for it.
     */
    ROCL_FORMAT_LATE_RECORDS = 1 << 5,
    /* Scripts read it before rocline did, and the tools that stand in for them do the same. */
    ROCL_FORMAT_SCRIPT_INPUT = 1 << 6,
    ROCL_FORMAT_PROFILE_LINES = 1 << 7, /* of these scripts rpt */
    /* A folder without databases and recordings is searched for it. Of several files of a run that
     * is read which says most: these are in that order. */
    ROCL_FORMAT_V3_JSON = 1 << 8,
    ROCL_FORMAT_V1_TEXT = 1 << 9, /* those of one folder are one run, whatever they are called */
    ROCL_FORMAT_CSV = 1 << 10,
    ROCL_FORMAT_V1_JSON = 1 << 11,
    ROCL_FORMAT_KINETO = 1 << 12,
    /* In the form that the scripts write: beside their text it is an output of before. */
    ROCL_FORMAT_SCRIPT_OUTPUT = 1 << 13,
    ROCL_FORMAT_RUN_FILES = ROCL_FORMAT_V3_JSON | ROCL_FORMAT_V1_TEXT | ROCL_FORMAT_CSV |
                            ROCL_FORMAT_V1_JSON | ROCL_FORMAT_KINETO
};

typedef struct rocl_format {
    const char *name;           /* with its article, as its users call it */
    const char *advice;         /* what to do with it; NULL where it is read */
    const rocl_source_ops *ops; /* who reads it; NULL: nobody so far, or see _DATABASE */
    const char *writer;         /* the only program that writes it; NULL: there are several */
    unsigned flags;
} rocl_format;

/* The format of a file that begins so; NULL: unknown. `whole`: the head is all there is. Of a
 * database it is a row without ops, until rocl_format_of_tables() says more. */
const rocl_format *rocl_format_of(const char *head, size_t n, bool whole);
/* One that is read, by its name; NULL: there is none. */
const rocl_format *rocl_format_named(const char *name);
const rocl_format *rocl_format_of_tables(const rocl_db_object *objects, size_t count);

/* What to do with an input that the layout script of rtg2json cannot read. */
#define ROCL_OTHER_LAYOUT ": choose --layout trace"

/* Fails with the name of the file, what it is or looks like, and what to do. */
rocl_status rocl_fail_foreign(const char *path, const char *head, size_t n, bool whole,
                              rocl_error *err);
rocl_status rocl_fail_format(const char *path, const rocl_format *f, rocl_error *err);

#endif
