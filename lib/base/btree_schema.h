/* The schema of a SQLite 3 database, read from the pages of the file: the table that has page 1 as
 * its root. */
#ifndef ROCL_BASE_BTREE_SCHEMA_H
#define ROCL_BASE_BTREE_SCHEMA_H

#include "base/btree.h"
#include "base/buf.h"

/* A row of sqlite_schema. The texts are offsets into rocl_schema.text, NUL-terminated. */
typedef struct rocl_schema_row {
    uint32_t type, name, table, sql; /* sql: of an empty text where it is NULL */
    uint32_t root;                   /* 0: none */
} rocl_schema_row;

typedef struct rocl_schema {
    rocl_buf text; /* the four texts of each row, one after the other */
    rocl_schema_row *rows;
    size_t count, cap;
} rocl_schema;

/* False when the schema is large or in any way unusual, damaged among others, or memory is out:
 * then it is SQLite that must say what it means, and `s` is empty. */
bool rocl_btree_schema(rocl_schema *s, const rocl_btree_file *f);
void rocl_schema_free(rocl_schema *s);

static inline const char *rocl_schema_text(const rocl_schema *s, uint32_t offset)
{
    return (const char *)s->text.data + offset;
}

#endif
