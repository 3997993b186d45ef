#include "source/layout.h"

#include <stdlib.h>

#include "base/array.h"
#include "source/db_sqlite.h"

void rocl_layouts_free(rocl_layout *l)
{
    while (l) {
        rocl_layout *next = l->next;
        for (unsigned i = 0; i < l->count; i++)
            free(l->columns[i].name);
        free(l->columns);
        free(l->table);
        free(l);
        l = next;
    }
}

int rocl_layout_column_of(const rocl_layout *l, const char *name)
{
    static const char *const rowid[] = {"rowid", "oid", "_rowid_"};
    for (unsigned i = 0; i < l->count; i++)
        if (!sqlite3_stricmp(l->columns[i].name, name))
            return (int)i;
    for (unsigned i = 0; i < sizeof rowid / sizeof *rowid; i++)
        if (!sqlite3_stricmp(rowid[i], name))
            return (int)l->id;
    return -1;
}

/* https://www.sqlite.org/datatype3.html, 3.1: the first of these that a declared type contains
 * decides, and only REAL changes what is read. */
static bool is_real(const char *type)
{
    static const char *const before[] = {"INT", "CHAR", "CLOB", "TEXT", "BLOB"};
    for (unsigned i = 0; i < sizeof before / sizeof *before; i++)
        if (strcasestr(type, before[i]))
            return false;
    return strcasestr(type, "REAL") || strcasestr(type, "FLOA") || strcasestr(type, "DOUB");
}

static const char *text_of(sqlite3_stmt *stmt, int column)
{
    const char *s = (const char *)sqlite3_column_text(stmt, column);
    return s ? s : "";
}

/* ---- answers of SQLite, a row at a time ---- */

typedef struct answers {
    rocl_layout *l;
    bool id;     /* INTEGER, and in the primary key */
    bool hidden; /* columns that are not stored, or not as the others */
    bool index;  /* of the primary key */
} answers;

typedef bool row_fn(answers *a, sqlite3_stmt *stmt); /* false: memory is out */

/* Runs a statement that asks about the table: %Q in `sql`. */
static rocl_status ask(rocl_db *db, answers *a, const char *sql, row_fn *fn, rocl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    char *text = sqlite3_mprintf(sql, a->l->table);
    if (!text)
        return rocl_fail_memory(err);
    int rc = sqlite3_prepare_v2(rocl_db_handle(db), text, -1, &stmt, NULL);
    sqlite3_free(text);
    bool memory = true;
    while (rc == SQLITE_OK && memory && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        memory = fn(a, stmt);
        rc = SQLITE_OK;
    }
    rocl_status st = ROCL_OK;
    if (!memory)
        st = rocl_fail_memory(err);
    else if (rc != SQLITE_DONE)
        st = rocl_sqlite_fail(db, a->l->table, err);
    sqlite3_finalize(stmt);
    return st;
}

static bool take_root(answers *a, sqlite3_stmt *stmt)
{
    sqlite3_int64 root = sqlite3_column_int64(stmt, 0);
    a->l->root = root > 1 && root <= UINT32_MAX ? (uint32_t)root : 0;
    return true;
}

/* cid, name, type, notnull, dflt_value, pk, hidden */
static bool take_column(answers *a, sqlite3_stmt *stmt)
{
    rocl_layout *l = a->l;
    size_t cap = rocl_array_cap(l->count);
    if (!ROCL_GROW(l->columns, cap, l->count + (size_t)1))
        return false;
    const char *name = text_of(stmt, 1), *type = text_of(stmt, 2);
    a->hidden |= sqlite3_column_int(stmt, 6) != 0;
    if (!sqlite3_stricmp(name, "id")) {
        l->id = l->count;
        a->id = sqlite3_column_int(stmt, 5) && !sqlite3_stricmp(type, "INTEGER");
    }
    l->columns[l->count] = (rocl_layout_column){strdup(name), is_real(type),
                                                sqlite3_column_type(stmt, 4) != SQLITE_NULL};
    return l->columns[l->count++].name != NULL;
}

/* seq, name, unique, origin, partial: a primary key that is the rowid needs no index of its own;
 * the key of a table WITHOUT ROWID is listed as if it had one. */
static bool take_index(answers *a, sqlite3_stmt *stmt)
{
    a->index |= !strcmp(text_of(stmt, 3), "pk");
    return true;
}

static rocl_status ask_all(rocl_db *db, rocl_layout *l, rocl_error *err)
{
    answers a = {.l = l};
    rocl_status st = ask(db, &a,
                         "SELECT rootpage FROM main.sqlite_master WHERE type='table' AND "
                         "name=%Q COLLATE NOCASE",
                         take_root, err);
    if (st == ROCL_OK && !l->root)
        l->why = "it is no ordinary table";
    if (st != ROCL_OK || l->why)
        return st;
    st = ask(db, &a, "PRAGMA main.table_xinfo(%Q)", take_column, err);
    if (st == ROCL_OK)
        st = ask(db, &a, "PRAGMA main.index_list(%Q)", take_index, err);
    if (a.hidden)
        l->why = "it has generated columns";
    else if (!a.id || a.index)
        l->why = "its column id is not the rowid";
    return st;
}

rocl_status rocl_layout_find(rocl_db *db, const char *table, const rocl_layout **layout,
                             rocl_error *err)
{
    rocl_layout **first = rocl_db_layouts(db), *l;
    const rocl_btree_file *file;
    for (l = *first; l; l = l->next)
        if (!strcmp(l->table, table)) {
            *layout = l;
            return ROCL_OK;
        }
    l = calloc(1, sizeof *l);
    if (!l || !(l->table = strdup(table))) {
        free(l);
        return rocl_fail_memory(err);
    }
    rocl_status st = rocl_db_pages(db, &file, &l->why, err);
    if (st == ROCL_OK && !l->why)
        st = ask_all(db, l, err);
    if (st != ROCL_OK) {
        rocl_layouts_free(l);
        return st;
    }
    l->next = *first;
    *first = l;
    *layout = l;
    return ROCL_OK;
}
