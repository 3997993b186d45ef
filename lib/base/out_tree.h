/* Files and folders that appear together, or not at all; for formats of more than one file. */
#pragma once

#include "base/status.h"

typedef struct rocl_out_tree rocl_out_tree;

/* Refuses a name that belongs to something other than a regular file, or to a write-protected
 * one. */
rocl_status rocl_out_tree_check(const char *path, rocl_error *err);

/* Makes a folder with a hidden name in `folder`, which must exist ("": the current one). */
rocl_status rocl_out_tree_open(rocl_out_tree **t, const char *folder, rocl_error *err);
/* The hidden folder, in which files are written. */
const char *rocl_out_tree_path(const rocl_out_tree *t);

/* Replaces the hidden folder in an error by the one in which files are to appear. */
rocl_status rocl_out_tree_explain(const rocl_out_tree *t, rocl_status st, rocl_error *err);

/* Moves `names` one after the other out of the hidden folder, in place of the files with these
 * names, which are removed even if nothing replaces them. Frees t; after an error everything is as
 * before. */
rocl_status rocl_out_tree_commit(rocl_out_tree *t, const char *const *names, size_t count,
                                 rocl_error *err);
/* Removes the hidden folder with all that is in it, frees t. NULL is fine. */
void rocl_out_tree_discard(rocl_out_tree *t);
