/* The inputs that the user named, as a list of files. */
#pragma once

#include "base/guard.h"
#include "rocline.h"

enum { ROCL_UNNEEDED_NAMED = 8 }; /* how many of those files are named in the notice */

/* A file when it was found. */
typedef struct rocl_input_file {
    uint64_t device, inode; /* UINT64_MAX: standard input */
    uint64_t bytes;         /* 0: not a regular file */
    int64_t modified;       /* s */
    int64_t modified_ns;    /* plus these */
} rocl_input_file;

typedef struct rocl_inputs {
    char **paths;           /* in the order given; within a directory or glob sorted by name */
    rocl_input_file *files; /* of each */
    size_t count;
    size_t repeated;     /* how many times files were repeated; each is in paths once */
    char *again, *first; /* the first repeated name, and the name of that file in paths */
    size_t blank;        /* files of a directory without any chunk; they are not in paths */
    char *blank_name;    /* the first one */
    size_t copies;       /* compressed files of a directory that exist uncompressed, too */
    char *copy_name;     /* the first one; they are not in paths */
    size_t less;         /* files of a directory with a more complete file of the same run */
    char *less_name, *more_name; /* the first one, and that other; it is not in paths */
    size_t unsearched;           /* folders that a pattern reaches, but that may not be searched */
    char *unsearched_name;       /* the first one */
    size_t unneeded;             /* other files of a directory that are not in paths */
    char *unneeded_names;        /* the first ones of them */
} rocl_inputs;

/* Expands what the user named, each name in turn:
 * - a file is itself, also a pipe or "-" (standard input; whether that can be read is for the
 * source to say);
 * - *.yaml and *.yml (unless it is a database) is an index: its files, relative to its folder, or
 *   else to its `path`; they may be globs;
 * - a directory (an .rpdb folder is one) is its index.yaml, or else all files in it that are called
 *   *.db or *.rocl (or so with .gz or .zst behind) or begin as such files do; hidden files and
 * subdirectories are left alone, and so is a recording whose process was killed before it had begun
 * a chunk, and a compressed file when the file without .gz or .zst is taken from there as well; if
 * there are none, the files that begin as JSON, text or CSV of rocprof: of each run those that say
 * most (see ROCL_FORMAT_RUN_FILES), so that nothing is read twice;
 * - a glob, when no file has that name, is what it matches.
 * Directories and globs are sorted bytewise. The same file twice (by device and inode) counts once,
 * but for standard input, which is refused; so is a directory or an index without files, and a glob
 * that matches nothing but reaches a folder that may not be searched. Failures
 * are ROCL_INPUT "NAME: ..." (no name at all: ROCL_USAGE), and `in` is empty then. Files and
 * indexes are added to the guard. */
rocl_status rocl_inputs_expand(rocl_inputs *in, rocl_guard *guard, const char *const *names,
                               size_t count, rocl_error *err);
/* Expands names likewise, without a guard; a directory holds databases and recordings only. */
rocl_status rocl_inputs_expand_databases(rocl_inputs *in, const char *const *names, size_t count,
                                         rocl_error *err);
/* Reports an unsearched folder as an error. */
rocl_status rocl_fail_unsearched(const rocl_inputs *in, rocl_error *err);
void rocl_inputs_free(rocl_inputs *in);
