/* How the rows of a table are stored, as SQLite understands its schema. */
#ifndef ROCL_SOURCE_DB_LAYOUT_H
#define ROCL_SOURCE_DB_LAYOUT_H

#include "base/map.h"
#include "source/db/rows.h"

typedef struct rocl_layout_column {
    char *name;
    bool real;        /* REAL affinity */
    bool has_default; /* for rows that were there before the column was */
} rocl_layout_column;

typedef struct rocl_layout {
    char *table;
    bool known;      /* what follows has been asked for */
    const char *why; /* not to be read from the pages; NULL: it can be, then the rest is set */
    uint32_t root;
    rocl_layout_column *columns; /* in the order they are stored in */
    unsigned count;
    unsigned id;   /* the column "id", which is the rowid */
    bool borrowed; /* the columns are of a layout that outlives this one */
} rocl_layout;

/* All tables of a database: a merged one has thousands. */
typedef struct rocl_layouts {
    rocl_layout **list;
    size_t count;
    rocl_map by_name; /* a hash of the name -> index in list */
    bool read;
} rocl_layouts;

/* The layout of a table, looked up once per connection and owned by it. */
rocl_status rocl_layout_find(rocl_db *db, const char *table, const rocl_layout **layout,
                             rocl_error *err);
void rocl_layouts_free(rocl_layouts *l);

/* Adds a table of which all is known: it is as another one, whose columns it borrows. False: memory
 * is out. */
bool rocl_layouts_add_as(rocl_layouts *all, const rocl_layout *as, const char *table,
                         uint32_t root);

/* The column of that name (in any case), or layout->id for names of the rowid; -1: there is none.
 */
int rocl_layout_column_of(const rocl_layout *l, const char *name);

#endif
