/* Summaries in the layouts of AMD's profilers: made of the tables "summary" and "domains". For
 * lib/table/styles*.c and write.c only. */
#ifndef ROCL_TABLE_STYLES_H
#define ROCL_TABLE_STYLES_H

#include "table/forms.h"

/* What the profilers call a domain. */
typedef struct rocl_style_domain {
    const char *domain;    /* of the table */
    const char *rocpd;     /* part of a file name */
    const char *api;       /* rocprofv3: part of a file name */
    const char *name;      /* rocprofv3 */
    const char *v1;        /* rocprof: part of a file name; NULL: it has none */
    const char *operation; /* rocprofv3: what operations are called with in front, or "" */
} rocl_style_domain;

extern const rocl_style_domain rocl_style_domains[];
extern const size_t rocl_style_domain_count;

/* A row of a summary. */
typedef struct rocl_style_row {
    const char *domain, *name;
    size_t name_len;
    int64_t calls, total, min, max;
    double average, percent, stddev; /* stddev: of one call 0 */
    bool single;                     /* one call: there is no deviation */
    bool range;                      /* min, max and stddev are known: no sum of other rows */
} rocl_style_row;

/* The table with this key, or NULL. */
const rocl_table *rocl_style_table(const rocl_tables *t, const char *key);
rocl_style_row rocl_style_row_of(const rocl_table *t, size_t row);
/* The name that rocprofv3 has for an operation of a domain: MEMORY_ALLOCATION_FREE. */
void rocl_style_put_name(rocl_buf *b, const rocl_style_domain *d, const rocl_style_row *r);

#endif
