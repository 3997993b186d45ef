/* One database that is written: its plan, its file, what copies into it. */
#ifndef ROCL_MERGE_WRITER_H
#define ROCL_MERGE_WRITER_H

#include "merge/copier.h"

typedef struct merge_writer {
    merge_plan plan;
    merge_copier copier;
    rocl_new_db *db; /* NULL: nothing is being written */
} merge_writer;

/* Begins the database `path`: of all files of the trace, or of one. Says what will not be in it. */
rocl_status merge_writer_open(merge_writer *w, rocl_trace *t, const rocl_source *source,
                              const rocl_rocpd_options *o, const char *path, rocl_error *err);
/* Copies a capture; selection NULL: all of it. */
rocl_status merge_writer_add(merge_writer *w, const rocl_capture *c, merge_selection *selection,
                             rocl_error *err);
/* Completes the file, which has no name yet, and adds to the report. The caller's to commit. */
rocl_status merge_writer_close(merge_writer *w, rocl_new_db **db, rocl_written *report,
                               rocl_error *err);
/* Forgets what is not closed. */
void merge_writer_free(merge_writer *w);

/* slices.c: the trace cut as the options say. */
rocl_status merge_write_slices(rocl_trace *t, const rocl_rocpd_options *o,
                               rocl_written *report, rocl_error *err);

#endif
