/* How the rows of a table are stored, as SQLite understands its schema (a layout), and a cache of
 * the layouts of schemas that SQLite has parsed before. The files of a job have the same schema,
 * each with its own ending of table names; having SQLite parse it takes longer than reading all
 * rows of a small file. */
#pragma once

#include "base/btree_record.h"
#include "base/map.h"

typedef struct rocl_layout_column {
    char *name;
    bool real;        /* REAL affinity */
    bool has_default; /* for rows that are older than the column */
} rocl_layout_column;

typedef struct rocl_layout {
    char *table;
    bool known;      /* the members below are set */
    const char *why; /* why it cannot be read from the pages; NULL: it can, and the rest is set */
    uint32_t root;
    rocl_layout_column *columns; /* in the order they are stored in */
    unsigned count;
    /* The column that is the rowid: "id" if there is one; count: none is. */
    unsigned id;
    bool no_id;    /* no column is called "id" */
    bool borrowed; /* the columns belong to a layout that outlives this one */
} rocl_layout;

/* All tables of a database: a merged one has thousands. */
typedef struct rocl_layouts {
    rocl_layout **list;
    size_t count;
    rocl_map by_name; /* a hash of the name -> index in list */
    bool read;        /* every table is there, with its root */
} rocl_layouts;

/* Adds a table without a known layout; NULL: memory is out. */
rocl_layout *rocl_layouts_add(rocl_layouts *all, const char *table);
/* The table of that name (in any case); NULL: there is none. */
rocl_layout *rocl_layouts_find(const rocl_layouts *all, const char *table);
void rocl_layouts_free(rocl_layouts *all);

/* The column of that name (in any case), or layout->id for names of the rowid; -1: there is none.
 */
int rocl_layout_column_of(const rocl_layout *l, const char *name);

/* Thread-safe. What was opened with it must be closed before it is freed. */
typedef struct rocl_schema_cache rocl_schema_cache;

rocl_schema_cache *rocl_schema_cache_new(void); /* NULL when memory is out */
void rocl_schema_cache_free(rocl_schema_cache *c);

/* The cache that all open traces share, so that files with the same schema ask SQLite only once.
 * Made by the first user (NULL: memory is out), freed when the last one releases it. */
rocl_schema_cache *rocl_schema_cache_share(void);
void rocl_schema_cache_release(rocl_schema_cache *c); /* fine for NULL */

/* Is the schema of the file in the cache? Then `to` gets the layouts of its tables, which borrow
 * columns from the cache. */
bool rocl_schema_cache_find(rocl_schema_cache *c, const rocl_schema *s, const rocl_btree_file *file,
                            rocl_layouts *to);
/* Keeps the layouts of all tables of a schema that was not known; `layouts` then borrows from the
 * cache, or is empty. */
void rocl_schema_cache_add(rocl_schema_cache *c, const rocl_schema *s, const rocl_btree_file *file,
                           rocl_layouts *layouts);

/* Appends the layouts of a schema as an entry of usual_schemas.inc: those of profilers and of our
 * own databases are in the cache from the start. False: it cannot be one. */
bool rocl_schema_write_usual(const rocl_schema *s, const rocl_layouts *layouts, rocl_buf *to);
