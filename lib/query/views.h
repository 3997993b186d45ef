/* Views on the relations (relation/relation.h): those of ROCm's databases, that of Perfetto's trace
 * processor, and ours. */
#pragma once

#include <stddef.h>

typedef struct rocl_query_view {
    const char *name, *select, *purpose;
    /* The select where all inputs are databases of schema 3 and nothing is left out of them: their
     * tables (rocpd.h) say more. NULL: the same. */
    const char *on_tables;
} rocl_query_view;

/* It is that of format/schema.h. */
#define ROCL_SCHEMA_VIEW ""

extern const rocl_query_view rocl_query_views[];
extern const size_t rocl_query_view_count;
