/* What the output will hold: the tables and columns of all inputs, so that every set gets the same
 * ones, and the names of the sets. */
#ifndef ROCL_MERGE_PLAN_H
#define ROCL_MERGE_PLAN_H

#include "merge/set.h"

typedef struct plan_column {
    char *name, *declared;
} plan_column;

typedef struct plan_table {
    char *base;
    schema_table table;
    plan_column *columns; /* after "id" */
    size_t count;
} plan_table;

typedef struct plan_set {
    const rocl_capture *capture;
    bool fresh;   /* its rows are made of events, not copied */
    size_t first; /* the set that has its tables: itself, or a slice of the same process */
    char *slices; /* in the first: SCHEMA_SLICE_TAG of all of one cut, "1,3/4 ..."; NULL: none */
    char *suffix; /* of its tables in the output */
    char *guid;
} plan_set;

typedef struct plan_view {
    char *name, *sql, *version;
} plan_view;

typedef struct merge_plan {
    rocl_trace *trace;
    bool flat;    /* one set for all: every plan_set has the same names */
    bool rebuild; /* no rows are copied */
    plan_table *tables;
    size_t table_count;
    plan_set *sets;
    size_t set_count;
    plan_view *views;
    size_t view_count;
    char *version;   /* schema_version of the output */
    size_t by_track; /* sets of schema 4 */
    size_t left_out; /* tables that belong to no set, or have no place in a flat one */
    char *left_name; /* the first of them */
    char *left_path;
    uint64_t rows; /* about how many there are */
} merge_plan;

/* Plans the captures that the filters leave; `source` NULL: of all files. To be freed after errors,
 * too. */
rocl_status merge_plan_make(merge_plan *p, rocl_trace *t, const rocl_source *source, bool flat,
                            bool rebuild, rocl_error *err);
void merge_plan_free(merge_plan *p);

const plan_table *merge_plan_table(const merge_plan *p, const char *base);

#endif
