/* A write-ahead log of SQLite, looked at as SQLite does before it reads it: what of it counts.
 * https://www.sqlite.org/fileformat2.html, section 4. */
#ifndef ROCL_BASE_WAL_H
#define ROCL_BASE_WAL_H

#include "base/error.h"

typedef struct rocl_wal {
    bool any;         /* a transaction is in it */
    bool unfinished;  /* more follows the last one that is whole: SQLite reads none of that */
    uint64_t missing; /* pages that neither the log nor a file of `bytes` has */
} rocl_wal;

/* Reads the log; `bytes` is the size of the database. ROCL_INPUT, without the file's name, where
 * its header is damaged: SQLite would read nothing of it. */
rocl_status rocl_wal_read(rocl_wal *w, int fd, uint64_t bytes, rocl_error *err);

#endif
