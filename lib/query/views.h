/* Views on the relations (relation/relation.h): those of ROCm's databases, that of Perfetto's trace
 * processor, and ours. */
#ifndef ROCL_QUERY_VIEWS_H
#define ROCL_QUERY_VIEWS_H

#include <stddef.h>

typedef struct rocl_query_view {
    const char *name, *select, *purpose;
} rocl_query_view;

extern const rocl_query_view rocl_query_views[];
extern const size_t rocl_query_view_count;

#endif
