/* Copies table sets into a database, one after the other. Files, each calls those below it only:
 *
 *     copier.c   a database: begin, a set, end, what is done in which order
 *     plan.c     what the output will hold
 *     tables.c   the tables of a set: made, filled, hidden; views over all sets
 *     ids.c      which rows the events selected use; ids of a flat set; categories
 *     values.c   the SQL of a row of the output, and what that SQL calls
 */
#pragma once

#include "base/new_db.h"
#include "merge/select.h"
#include "merge/set.h"

/* ---- plan.c: what the output will hold ------------------------------------------------------- */

/* The tables and columns of all inputs, so that every set gets the same ones, and the names of the
 * sets. */

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

/* ---- copies ---------------------------------------------------------------------------------- */

/* Ids of one table in a flat set. Those of small tables are looked up, those of large ones moved.
 */
typedef struct merge_numbers {
    rocl_map ids;      /* id -> new id */
    int64_t low, high; /* ids of the input that are moved */
    bool present;      /* the input has such a table */
    bool moved, any;   /* moved: else looked up */
    int64_t used;      /* new ids given out before this set */
    rocl_map dangling; /* id of the input that no row has -> its number among these */
    uint32_t dangling_used;
} merge_numbers;

typedef struct merge_categories {
    rocl_map index; /* id of a category -> index */
    struct {
        int64_t string;
        char *fresh; /* its name where no string of the set has it; NULL */
    } * all;
    size_t count, cap;
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
    bool clip;      /* times of events: see rocl_filter_clip_time */
    int64_t offset; /* of the clock of the set at hand: added to its times */
    rocl_process_clock clock;            /* and those of its process */
    uint64_t early;                      /* times that are before time 0 then, or out of range */
    merge_reader readers[MERGE_READERS]; /* attached as src0, src1 and so on */
    merge_reader *reader;                /* of the set in hand */
    bool flat_begun;

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

/* ---- SQL. src%d (of merge_src_number) is the input and main the output; names are written with
 * %w, texts with %Q, the table of a set as main."%w%w" from base name and suffix ---- */

static inline int merge_src_number(const merge_copier *c)
{
    return (int)(c->reader - c->readers);
}

/* values.c: runs a statement and frees it; fn (may be NULL) is called with each row. The failure is
 * one of reading a table of the input. */
typedef rocl_status merge_row_fn(merge_copier *c, sqlite3_stmt *row, void *ctx, rocl_error *err);
rocl_status merge_query(merge_copier *c, const char *table, sqlite3_str *sql, merge_row_fn *fn,
                        void *ctx, rocl_error *err);
/* Runs a statement in the format of sqlite3_mprintf likewise; the second one ignores its rows. */
rocl_status merge_ask(merge_copier *c, const char *table, merge_row_fn *fn, void *ctx,
                      rocl_error *err, const char *fmt, ...);
#define merge_run(c, table, err, ...) merge_ask(c, table, NULL, NULL, err, __VA_ARGS__)

/* A column of the row S of the input, of a literal name; NULL where the input lacks it. */
#define MERGE_FIELD(s, column) (merge_source_field(s, column) ? "S.\"" column "\"" : "NULL")
/* The "id" of the row S, or its rowid. */
const char *merge_id_of(const merge_source *s);
/* The value of a column of the output, in terms of the row S of the input (and its track T).
 * Returns whether it is the column itself. */
bool merge_put_value(const merge_copier *c, sqlite3_str *sql, const merge_source *s,
                     const plan_column *column);
/* " FROM ...", with S and, if needed, T. */
void merge_put_from(const merge_copier *c, sqlite3_str *sql, const merge_source *s);
/* " WHERE ..." for the rows that go into the output, or nothing. */
void merge_put_where(const merge_copier *c, sqlite3_str *sql, const merge_source *s);

/* values.c: functions for SQL */
rocl_status merge_add_functions(merge_copier *c, rocl_error *err);

/* tables.c */
rocl_status merge_create_tables(merge_copier *c, rocl_error *err);
rocl_status merge_copy_tables(merge_copier *c, rocl_error *err);

/* ids.c: fills `used` for the selection. */
rocl_status merge_mark_used(merge_copier *c, rocl_error *err);

/* ids.c: new ids of a flat set */
rocl_status merge_number_set(merge_copier *c, rocl_error *err);
void merge_end_numbers(merge_copier *c); /* the set is done */

/* ids.c: categories */
rocl_status merge_read_categories(merge_copier *c, rocl_error *err);
rocl_status merge_write_categories(merge_copier *c, rocl_error *err);
void merge_free_categories(merge_categories *k);

/* tables.c: SQLite searches the whole schema whenever a table is made, which takes long when there
 * are thousands. So the tables of sets that are done are taken out of the schema from time to time,
 * and all of them put back in the end, when nothing has to read them any more. */
rocl_status merge_hide_tables(merge_copier *c, rocl_error *err);
rocl_status merge_show_tables(merge_copier *c, rocl_error *err);
void merge_free_hidden(merge_copier *c);

/* tables.c: views */
rocl_status merge_make_views(merge_copier *c, rocl_error *err);

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
    rocl_new_db *db;              /* NULL: nothing is being written */
    uint64_t copied, copied_rows; /* captures copied without reading their events, and their rows */
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
