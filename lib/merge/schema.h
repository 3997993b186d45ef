/* The tables of schema 3, as far as a merge must know them: their columns in order, and what a
 * column of some name refers to. Whatever else a file has is copied as it is. */
#ifndef ROCL_MERGE_SCHEMA_H
#define ROCL_MERGE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

/* In an order in which who refers comes before who is referred to. */
typedef enum merge_table {
    MERGE_REGION,
    MERGE_SAMPLE,
    MERGE_DISPATCH,
    MERGE_COPY,
    MERGE_ALLOCATE,
    MERGE_GRAPH,
    MERGE_HIP,
    MERGE_VALUE, /* rocpd_pmc_event */
    MERGE_ARG,
    MERGE_LINE_INFO,
    MERGE_CALL_STACK,
    MERGE_OTHER, /* a table that is not known */
    MERGE_EVENT,
    MERGE_TRACK,
    MERGE_KERNEL,
    MERGE_CODE_OBJECT,
    MERGE_COUNTER,
    MERGE_SOURCE_CODE,
    MERGE_PC,
    MERGE_ADDRESS_RANGE,
    MERGE_QUEUE,
    MERGE_STREAM,
    MERGE_AGENT,
    MERGE_THREAD,
    MERGE_PROCESS,
    MERGE_NODE,
    MERGE_STRING,
    MERGE_CATEGORY, /* of schema 4: its rows become strings */
    MERGE_METADATA,
    MERGE_TABLES
} merge_table;

#define MERGE_EVENT_TABLES MERGE_VALUE /* the tables before it hold what the model calls events */

/* Which rows of a table a selection of events keeps. */
typedef enum merge_rule {
    MERGE_WHOLE,    /* all */
    MERGE_SELECTED, /* the events selected */
    MERGE_USED,     /* what something kept refers to */
    MERGE_BY_EVENT, /* what belongs to an event kept */
    MERGE_VALUES    /* values of counters selected */
} merge_rule;

const char *merge_table_name(merge_table t); /* "rocpd_region"; "" for MERGE_OTHER */
merge_table merge_table_of(const char *name);
merge_rule merge_rule_of(merge_table t);
bool merge_table_is_base(merge_table t); /* every database of schema 3 has it */

typedef struct merge_column {
    const char *name, *type;
    bool base; /* every database of schema 3 has it */
} merge_column;

/* Columns after "id", in order. */
const merge_column *merge_columns_of(merge_table t, size_t *count);

/* The table whose ids a column holds; MERGE_OTHER: none. */
merge_table merge_refers_to(merge_table t, const char *column);

/* Numbers that are unique within one process, and 0 for none. */
typedef enum merge_serial {
    MERGE_STACK,
    MERGE_DISPATCH_ID,
    MERGE_GRAPH_ID,
    MERGE_SERIALS
} merge_serial;

/* The series a column counts in; MERGE_SERIALS: none. */
merge_serial merge_serial_of(const char *column);

/* A column of schema 4 whose track_id stands for columns of schema 3. */
bool merge_in_track(const char *column);

#endif
