/* The tables of a rocpd database, for its writers: those of schema 3 with their columns in order,
 * and the table that a column of some name refers to. */
#pragma once

#include "rocline.h"

/* In an order in which each table comes before those that it refers to. */
typedef enum schema_table {
    SCHEMA_REGION,
    SCHEMA_SAMPLE,
    SCHEMA_DISPATCH,
    SCHEMA_COPY,
    SCHEMA_ALLOCATE,
    SCHEMA_GRAPH,
    SCHEMA_HIP,
    SCHEMA_VALUE, /* rocpd_pmc_event */
    SCHEMA_ARG,
    SCHEMA_LINE_INFO,
    SCHEMA_CALL_STACK,
    SCHEMA_OTHER, /* a table that is not known */
    SCHEMA_EVENT,
    SCHEMA_TRACK,
    SCHEMA_KERNEL,
    SCHEMA_CODE_OBJECT,
    SCHEMA_COUNTER,
    SCHEMA_SOURCE_CODE,
    SCHEMA_PC,
    SCHEMA_ADDRESS_RANGE,
    SCHEMA_QUEUE,
    SCHEMA_STREAM,
    SCHEMA_AGENT,
    SCHEMA_THREAD,
    SCHEMA_PROCESS,
    SCHEMA_NODE,
    SCHEMA_STRING,
    SCHEMA_CATEGORY, /* of schema 4: its rows become strings */
    SCHEMA_METADATA,
    SCHEMA_TABLES
} schema_table;

#define SCHEMA_EVENT_TABLES                                                                        \
    SCHEMA_VALUE /* the tables before it hold what the model calls events                          \
                  */

/* Which rows of a table a selection of events keeps. */
typedef enum schema_rule {
    SCHEMA_WHOLE,    /* all */
    SCHEMA_SELECTED, /* the events selected */
    SCHEMA_USED,     /* what something kept refers to */
    SCHEMA_BY_EVENT, /* what belongs to an event kept */
    SCHEMA_VALUES    /* values of counters selected */
} schema_rule;

const char *schema_table_name(schema_table t); /* "rocpd_region"; "" for SCHEMA_OTHER */
schema_table schema_table_of(const char *name);
schema_rule schema_rule_of(schema_table t);
bool schema_is_base(schema_table t); /* every database of schema 3 has it */

typedef struct schema_column {
    const char *name, *type;
    bool base; /* every database of schema 3 has it */
    bool four; /* only those of schema 4 have it */
} schema_column;

/* A view on the data, and what follows "CREATE VIEW name AS". schema_views.c */
typedef struct schema_view {
    const char *name, *query;
} schema_view;

const schema_view *schema_views(size_t *count);

/* The table that events of a kind are rows of. */
schema_table schema_table_of_kind(rocl_kind kind);

/* Columns after "id", in order. */
const schema_column *schema_columns_of(schema_table t, size_t *count);

/* The table whose ids a column holds; SCHEMA_OTHER: none. */
schema_table schema_refers_to(schema_table t, const char *column);

/* The tag in the metadata of a slice of the time: "2/4 FROM WIDTH", the second of four, or
 * "1,3/4 FROM WIDTH", two of them put together. */
#define SCHEMA_SLICE_TAG "rocline_slice"

/* Numbers that are unique within one process, and 0 for none. */
typedef enum schema_serial {
    SCHEMA_STACK,
    SCHEMA_DISPATCH_ID,
    SCHEMA_GRAPH_ID,
    SCHEMA_SERIALS
} schema_serial;

/* The series a column counts in; SCHEMA_SERIALS: none. */
schema_serial schema_serial_of(const char *column);
/* A flat set has no number left for one of this file. */
#define SCHEMA_SERIAL_TOO_LARGE                                                                    \
    "a number that links events, behind those of the files before it, would be too large: merge "  \
    "without --flat"

/* A column of schema 3 that schema 4 replaces by track_id. */
bool schema_in_track(const char *column);

/* What a database that is written here says where a trace knows nothing, though others look for a
 * row: the name of a node, thread, agent or queue that stands for none, and in the place of the
 * kernel_name for a kernel of which nothing is known but its display_name. */
#define SCHEMA_NOBODY "unknown (rocline)"

/* The extdata of a queue or stream that has another number than its id: that of the user. */
#define SCHEMA_NUMBER "{\"number\":%lld}"

/* The extdata of an event in rocpd_hip_event that is a barrier packet of a queue. */
#define SCHEMA_BARRIER "{\"kind\":\"barrier\"}"
