/* The table of input formats: those that are read, and others that people try by mistake. A format
 * is recognised by the first bytes of the file, decompressed, or, for an SQLite database, by the
 * names of its tables; only here and never by the name of the file. */
#pragma once

#include "source/db/rows.h"
#include "source/source.h"

/* Properties of the inputs of a format. */
enum {
    /* Its reader needs an SQLite database: `open` finds it open in source->db, and
     * rocl_source_connect() makes more connections. Compressed inputs and pipes are unpacked into a
     * file for that; other readers have the bytes in source->spool. */
    ROCL_FORMAT_DATABASE = 1 << 0,
    /* An input can be opened and read independently of those before it: several are opened at once,
     * and small ones are prefetched. Needs `unchanged`. */
    ROCL_FORMAT_INDEPENDENT = 1 << 1,
    /* A guid identifies one process: two inputs with the same guid are refused. */
    ROCL_FORMAT_UNIQUE_GUID = 1 << 2,
    /* It is searched for in folders. */
    ROCL_FORMAT_IN_FOLDERS = 1 << 3,
    /* Its state is that of source/rocpd: table sets that can be merged as they are. */
    ROCL_FORMAT_TABLE_SETS = 1 << 4,
    /* Any lines may come before its first record: the whole text is searched for one. */
    ROCL_FORMAT_LATE_RECORDS = 1 << 5,
    /* The older scripts read it, and so do the tools that replace them. */
    ROCL_FORMAT_SCRIPT_INPUT = 1 << 6,
    ROCL_FORMAT_PROFILE_LINES = 1 << 7, /* of these scripts: rpt */
    /* It is searched for in folders without databases and recordings. Of several files of a run the
     * most complete is read: these are in that order. */
    ROCL_FORMAT_V3_JSON = 1 << 8,
    ROCL_FORMAT_V1_TEXT = 1 << 9, /* files of one folder are one run, whatever their names */
    ROCL_FORMAT_CSV = 1 << 10,
    ROCL_FORMAT_V1_JSON = 1 << 11,
    ROCL_FORMAT_KINETO = 1 << 12,
    /* In the form that the scripts write: next to their text it is an older output. */
    ROCL_FORMAT_SCRIPT_OUTPUT = 1 << 13,
    /* Its tool writes HOST/PID_....: the folder of a file is named after the host. */
    ROCL_FORMAT_HOST_FOLDER = 1 << 14,
    ROCL_FORMAT_RUN_FILES = ROCL_FORMAT_V3_JSON | ROCL_FORMAT_V1_TEXT | ROCL_FORMAT_CSV |
                            ROCL_FORMAT_V1_JSON | ROCL_FORMAT_KINETO
};

typedef struct rocl_format {
    const char *name;           /* with its article, as users call it */
    const char *advice;         /* what to do with it; NULL where it is read */
    const rocl_source_ops *ops; /* its reader; NULL: none, or see _DATABASE */
    const char *writer;         /* the only program that writes it; NULL: there are several */
    unsigned flags;
} rocl_format;

/* The format of a file with this head; NULL: unknown. `whole`: the head is the whole file. For a
 * database it is a row without ops: see rocl_format_of_tables(). */
const rocl_format *rocl_format_of(const char *head, size_t n, bool whole);
/* A format that is read, by its name; NULL: there is none. */
const rocl_format *rocl_format_named(const char *name);
const rocl_format *rocl_format_of_tables(const rocl_db_object *objects, size_t count);

/* What to do with an input that the layout script of rtg2json cannot read. */
#define ROCL_OTHER_LAYOUT ": choose --style trace"

/* Fails with the name of the file, what it is or looks like, and what to do. */
rocl_status rocl_fail_foreign(const char *path, const char *head, size_t n, bool whole,
                              rocl_error *err);
rocl_status rocl_fail_format(const char *path, const rocl_format *f, rocl_error *err);
