/* The formats of files that this field knows, told by how they begin, decompressed: those that are
 * read, and those that people hand in by mistake or in hope. */
#ifndef ROCL_SOURCE_FORMATS_H
#define ROCL_SOURCE_FORMATS_H

#include "source/source.h"

typedef struct rocl_format {
    const char *name;           /* with its article, as its users call it */
    const char *advice;         /* what to do with it; NULL where it is read */
    const rocl_source_ops *ops; /* who reads it; NULL: nobody so far */
} rocl_format;

/* NULL: none of them. `whole`: the head is all there is. */
const rocl_format *rocl_format_of(const char *head, size_t n, bool whole);

/* Fails with the name of the file, what it is or looks like, and what to do. */
rocl_status rocl_fail_foreign(const char *path, const char *head, size_t n, bool whole,
                              rocl_error *err);

/* Of other databases, told by their tables; NULL: none of them. Both texts are as above. */
typedef bool rocl_has_table_fn(const void *ctx, const char *table);
const rocl_format *rocl_format_of_tables(rocl_has_table_fn *has, const void *ctx);

#endif
