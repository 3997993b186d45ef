/* Schemas that SQLite has explained once. The files of a job have the same one, each with an ending
 * of its own on the names of its tables, and to have SQLite parse it takes longer than to read all
 * rows of a small file. */
#ifndef ROCL_SOURCE_DB_KNOWN_SCHEMAS_H
#define ROCL_SOURCE_DB_KNOWN_SCHEMAS_H

#include "base/btree_schema.h"
#include "source/db/connection.h"

/* Is the schema of the file, which is read from its pages, of a form that is known? Then the
 * connection gets its schema and layouts, and SQLite need not look at it. */
bool rocl_db_forms_recognise(rocl_db_forms *forms, rocl_db *db);

/* The connection, on which SQLite is open, has a schema that was not recognised. */
void rocl_db_forms_learn(rocl_db_forms *forms, rocl_db *db);

#endif
