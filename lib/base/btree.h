/* Tables of a SQLite 3 database, read from the pages of the file without SQLite: a walk over the
 * leaves of a table's b-tree in order of rowid, and the payload of each row. Read-only, nothing is
 * locked: the caller sees to it that nobody writes.
 *
 * "Section N" in comments here and in btree*.[ch] means https://www.sqlite.org/fileformat2.html.
 * Nothing in the file is trusted: an error says "page N: what is wrong", nothing is skipped. Rows
 * must ascend strictly and lie between the keys of the pages above, which also means that no page
 * is visited twice in a walk, whatever the file says. */
#pragma once

#include "base/error.h"

/* Bytes after the end of a payload that may be read, but are not used. */
#define ROCL_BTREE_SLACK 64

/* As in SQLite: a tree with more levels is damaged. */
#define ROCL_BTREE_DEPTH 20

typedef struct rocl_btree_file {
    int fd; /* the caller's */
    uint32_t page_size;
    uint32_t usable; /* of a page: without its reserved bytes */
    uint32_t page_count;
    uint32_t lock_page; /* the page that is never used */
    uint32_t
        read_size; /* bytes of neighbouring pages that are read at once; 0: the fastest number */
    bool waits;    /* this file system has no read that does not wait for the disk */
} rocl_btree_file;

/* Reads the header into a zeroed *f. Sets *why if the file cannot be read this way, which does not
 * mean that it is broken. A file that is too short is an error: SQLite would read the missing bytes
 * of its last page as zeros. */
rocl_status rocl_btree_file_read(rocl_btree_file *f, int fd, const char **why, rocl_error *err);

typedef struct rocl_btree_cell {
    uint32_t offset; /* of the payload in its page */
    uint32_t size;   /* of the payload, including overflow pages */
    uint32_t local;  /* of it in this page */
} rocl_btree_cell;

/* A walk over a table. Members above the line are the current leaf: rows at..count-1 are to come;
 * count 0: there are no more. Valid until the next call of seek or next. */
typedef struct rocl_btree {
    const uint8_t *page;
    int64_t *rowids;
    rocl_btree_cell *cells;
    unsigned at, count;
    uint32_t page_number; /* 0: none */
    /* ---- */
    const rocl_btree_file *file;
    uint32_t root;
    struct rocl_btree_walk *walk;
} rocl_btree;

rocl_status rocl_btree_open(rocl_btree *b, const rocl_btree_file *f, uint32_t root,
                            rocl_error *err);
void rocl_btree_close(rocl_btree *b); /* fine for zeros */

/* Goes to the first row with rowid >= first. Cheap if that is in or near the current leaf. */
rocl_status rocl_btree_seek(rocl_btree *b, int64_t first, rocl_error *err);
/* Goes to the next leaf. */
rocl_status rocl_btree_next(rocl_btree *b, rocl_error *err);

/* The first `need` bytes (<= size) of a row's payload in one piece, including those in overflow
 * pages. Valid until the next call of this, seek or next. */
rocl_status rocl_btree_payload(rocl_btree *b, unsigned row, uint32_t need, const uint8_t **payload,
                               rocl_error *err);

/* The first and the last rowid; *any false when there are no rows. Moves the walk. */
rocl_status rocl_btree_range(rocl_btree *b, int64_t *first, int64_t *last, bool *any,
                             rocl_error *err);

/* Cuts the table into at most `ranges` ranges of about the same number of pages: ends[] gets the
 * last rowids of all but the last range, ascending; *count < ranges is their number. A table of one
 * page is one range. Moves the walk. */
rocl_status rocl_btree_split(rocl_btree *b, size_t ranges, int64_t *ends, size_t *count,
                             rocl_error *err);

/* "page N: what", where N is the current page. */
rocl_status rocl_btree_damaged(const rocl_btree *b, const char *what, rocl_error *err);
