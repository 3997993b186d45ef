/* Copies table sets into a database, one after the other. Files, each calls those below it only:
 *
 *     copier.c   a database: begin, a set, end, what is done in which order
 *     tables.c   the tables of a set: made, filled, hidden; views over all sets
 *     ids.c      which rows the events selected use; ids of a flat set; categories
 *     values.c   the SQL of a row of the output, and what that SQL calls
 */
#ifndef ROCL_MERGE_COPIER_H
#define ROCL_MERGE_COPIER_H

#include "base/new_db.h"
#include "merge/plan.h"
#include "merge/select.h"

/* Ids of one table in a flat set. Those of small tables are looked up, those of large ones moved.
 */
typedef struct merge_numbers {
    rocl_map ids;      /* id -> new id */
    int64_t low, high; /* ids of the input that are moved */
    bool present;      /* the input has such a table */
    bool moved, any;   /* moved: else looked up */
    int64_t used;      /* new ids given out before this set */
} merge_numbers;

typedef struct merge_categories {
    rocl_map index; /* id of a category -> index */
    int64_t *strings;
    char **fresh; /* its name where no string of the set has it; NULL */
    size_t count;
} merge_categories;

/* A table as its row of the schema says. */
typedef struct merge_hidden {
    char *name, *sql;
    int64_t root;
} merge_hidden;

typedef struct merge_copier {
    const merge_plan *plan;
    rocl_new_db *out;
    bool keep_environment;
    char slice[96]; /* SCHEMA_SLICE_TAG, where ids are those of the input; "": it is whole */
    bool clip;      /* events at [from, to] */
    int64_t from, to;
    int64_t offset; /* of the clock of the set at hand: added to its times */
    uint64_t early; /* times that are before time 0 then, or out of range */
    merge_reader reader;
    bool attached, flat_begun;
    rocl_db *checked; /* the file that is read, once more; NULL: not opened yet */

    bool *made; /* by set and table of the plan: it is in the output */
    size_t in_schema;
    merge_hidden *hidden;
    size_t hidden_count, hidden_cap;

    /* the set in hand */
    const plan_set *set;
    merge_selection *selection; /* NULL: everything */
    merge_ids used[SCHEMA_TABLES];
    rocl_map counters; /* id -> index */
    merge_numbers numbers[SCHEMA_TABLES];
    int64_t serial_base[SCHEMA_SERIALS], serial_last[SCHEMA_SERIALS];
    merge_categories categories;

    uint64_t rows;           /* copied */
    uint64_t changed;        /* rows of events that are not as these were */
    uint64_t left, per_tick; /* of the table in hand, for progress */
} merge_copier;

/* copier.c */
rocl_status merge_copier_begin(merge_copier *c, const merge_plan *plan, rocl_new_db *out,
                               rocl_error *err);
/* Copies the set of a capture; selection NULL: all of it. */
rocl_status merge_copier_add(merge_copier *c, const rocl_capture *capture,
                             merge_selection *selection, rocl_error *err);
/* Views, and the input is let go. */
rocl_status merge_copier_end(merge_copier *c, rocl_error *err);
/* Frees what the copier holds; `plan` and `out` are the caller's. */
void merge_copier_free(merge_copier *c);

/* Runs a statement, NULL when there was no memory to write it; frees it. The failure is one of
 * reading a table of the input. */
rocl_status merge_run(merge_copier *c, const char *table, rocl_buf *sql, rocl_error *err);
/* The same, with each row handed to fn. */
typedef rocl_status merge_row_fn(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err);
rocl_status merge_query(merge_copier *c, const char *table, rocl_buf *sql, merge_row_fn *fn,
                        void *ctx, rocl_error *err);
/* "database"."table" in quotes; the table of the output for a base name. */
void merge_put_source(rocl_buf *sql, const merge_source *s);
void merge_put_target(const merge_copier *c, rocl_buf *sql, const char *base);
void merge_put_joined(rocl_buf *sql, const char *a, const char *b); /* a name of two parts */

/* Copies the set in hand, and fails where a reader of its rows would. */
rocl_status merge_check_and(merge_copier *c, rocl_status (*copy)(merge_copier *c, rocl_error *err),
                            rocl_error *err);

/* tables.c */
rocl_status merge_create_tables(merge_copier *c, rocl_error *err);
rocl_status merge_copy_tables(merge_copier *c, rocl_error *err);
void merge_watch_progress(merge_copier *c);

/* values.c: functions for SQL */
rocl_status merge_functions_add(merge_copier *c, rocl_error *err);

/* values.c: a column of the row S as it is stored; NULL where the input lacks it, the rowid for
 * the "id". */
void merge_put_field(rocl_buf *sql, const merge_source *s, const char *column);
/* The value of a column of the output, in terms of the row S of the input (and its track
 * T); *plain is set to false when it is anything but the column itself. */
void merge_put_value(const merge_copier *c, rocl_buf *sql, const merge_source *s,
                     const plan_column *column, bool *plain);
/* " FROM ...", with S and, where it is needed, T. */
void merge_put_from(const merge_copier *c, rocl_buf *sql, const merge_source *s);
/* " WHERE ..." for the rows that go into the output, or nothing. */
void merge_put_where(const merge_copier *c, rocl_buf *sql, const merge_source *s);

/* ids.c: fills `used` for the selection. */
rocl_status merge_mark(merge_copier *c, rocl_error *err);

/* ids.c: new ids of a flat set */
rocl_status merge_number_set(merge_copier *c, rocl_error *err);
void merge_number_next(merge_copier *c); /* the set is done */
/* New ids; -1 for what refers to nothing. */
int64_t merge_number_of(const merge_copier *c, schema_table t, int64_t id);

/* ids.c: categories */
rocl_status merge_categories_read(merge_copier *c, rocl_error *err);
rocl_status merge_categories_write(merge_copier *c, rocl_error *err);
void merge_categories_free(merge_categories *k);

/* tables.c: SQLite searches the whole schema whenever a table is made, which takes long when there
 * are thousands. So the tables of sets that are done are taken out of the schema from time to time,
 * and all of them put back in the end, when nothing has to read them any more. */
rocl_status merge_hide_tables(merge_copier *c, rocl_error *err);
rocl_status merge_show_tables(merge_copier *c, rocl_error *err);
void merge_hidden_free(merge_copier *c);

/* tables.c: views */
rocl_status merge_views_make(merge_copier *c, rocl_error *err);

/* Are there rows of its process in the output already, of another slice? */
static inline bool merge_joins(const merge_copier *c)
{
    return &c->plan->sets[c->set->first] != c->set;
}

static inline bool *merge_made(const merge_copier *c, const plan_set *set, const plan_table *t)
{
    size_t i = set->first, k = (size_t)(t - c->plan->tables);
    return &c->made[i * c->plan->table_count + k];
}

/* ---- one database: its plan, its file, what copies into it --------------------------------- */

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

#endif
