#include "source/db/layout.h"

#include <stdlib.h>

#include "base/array.h"
#include "source/db/connection.h"

void rocl_layouts_free(rocl_layouts *all)
{
    for (size_t k = 0; k < all->count; k++) {
        rocl_layout *l = all->list[k];
        for (unsigned i = 0; i < l->count && !l->borrowed; i++)
            free(l->columns[i].name);
        if (!l->borrowed)
            free(l->columns);
        free(l->table);
        free(l);
    }
    free(all->list);
    rocl_map_free(&all->by_name);
    *all = (rocl_layouts){0};
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
    rocl_layouts *all;
    rocl_layout *l;
    bool id;     /* INTEGER, and in the primary key */
    bool hidden; /* columns that are not stored, or not as the others */
    bool index;  /* of the primary key */
} answers;

typedef bool row_fn(answers *a, sqlite3_stmt *stmt); /* false: memory is out */

/* Runs a statement that asks about the table, or all of them: %Q in `sql`. */
static rocl_status ask(rocl_db *db, answers *a, const char *sql, row_fn *fn, rocl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    const char *table = a->l ? a->l->table : "sqlite_master";
    rocl_status st = rocl_db_sqlite(db, err);
    char *text = st == ROCL_OK ? sqlite3_mprintf(sql, table) : NULL;
    if (!text)
        return st ? st : rocl_fail_memory(err);
    int rc = sqlite3_prepare_v2(rocl_db_handle(db), text, -1, &stmt, NULL);
    sqlite3_free(text);
    bool memory = true;
    while (rc == SQLITE_OK && memory && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        memory = fn(a, stmt);
        rc = SQLITE_OK;
    }
    if (!memory)
        st = rocl_fail_memory(err);
    else if (rc != SQLITE_DONE)
        st = rocl_sqlite_fail(db, table, err);
    sqlite3_finalize(stmt);
    return st;
}

/* Of the name as SQLite compares names, whatever the case. */
static uint64_t hash_of(const char *name)
{
    uint64_t h = 0;
    for (; *name; name++) {
        bool upper = *name >= 'A' && *name <= 'Z';
        h = rocl_mix64(h ^ (uint8_t)(upper ? *name - 'A' + 'a' : *name)) + 1;
    }
    return h;
}

static rocl_layout *add_layout(rocl_layouts *all, const char *table)
{
    rocl_layout **more = realloc(all->list, (all->count + 1) * sizeof(rocl_layout *));
    if (more)
        all->list = more;
    rocl_layout *l = more ? calloc(1, sizeof *l) : NULL;
    if (!l || !(l->table = strdup(table)) ||
        !rocl_map_put(&all->by_name, hash_of(table), (uint32_t)all->count)) {
        if (l)
            free(l->table);
        free(l);
        return NULL;
    }
    return all->list[all->count++] = l;
}

bool rocl_layouts_add_as(rocl_layouts *all, const rocl_layout *as, const char *table, uint32_t root)
{
    rocl_layout *l = add_layout(all, table);
    if (!l)
        return false;
    char *own = l->table;
    *l = *as;
    l->table = own;
    l->root = root;
    l->borrowed = true;
    return true;
}

/* Two names of one hash do not happen by chance; if so, the second is asked for in vain. */
static rocl_layout *find_layout(const rocl_layouts *all, const char *table)
{
    uint32_t i = rocl_map_get(&all->by_name, hash_of(table), ROCL_NONE);
    return i != ROCL_NONE && !sqlite3_stricmp(all->list[i]->table, table) ? all->list[i] : NULL;
}

/* name, rootpage */
static bool take_root(answers *a, sqlite3_stmt *stmt)
{
    sqlite3_int64 root = sqlite3_column_int64(stmt, 1);
    rocl_layout *l = add_layout(a->all, text_of(stmt, 0));
    if (l)
        l->root = root > 1 && root <= UINT32_MAX ? (uint32_t)root : 0;
    return l;
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

static rocl_status ask_about(rocl_db *db, rocl_layout *l, rocl_error *err)
{
    answers a = {.l = l};
    if (!l->why && !l->root)
        l->why = "it is no ordinary table";
    if (l->why)
        return ROCL_OK;
    rocl_status st = ask(db, &a, "PRAGMA main.table_xinfo(%Q)", take_column, err);
    if (st == ROCL_OK)
        st = ask(db, &a, "PRAGMA main.index_list(%Q)", take_index, err);
    if (a.hidden)
        l->why = "it has generated columns";
    else if (!a.id || a.index)
        l->why = "its column id is not the rowid";
    return st;
}

/* One pass over the schema: to look for each table in it takes long when there are many. */
static rocl_status read_roots(rocl_db *db, rocl_layouts *all, rocl_error *err)
{
    answers a = {.all = all};
    if (all->read)
        return ROCL_OK;
    rocl_status st = ask(db, &a, "SELECT name, rootpage FROM main.sqlite_master WHERE type='table'",
                         take_root, err);
    all->read = st == ROCL_OK;
    return st;
}

rocl_status rocl_layout_find(rocl_db *db, const char *table, const rocl_layout **layout,
                             rocl_error *err)
{
    rocl_layouts *all = rocl_db_layouts(db);
    const rocl_btree_file *file;
    const char *why;
    rocl_status st = rocl_db_pages(db, &file, &why, err);
    if (st == ROCL_OK && !why)
        st = read_roots(db, all, err);
    if (st != ROCL_OK)
        return st;
    rocl_layout *l = find_layout(all, table);
    if (!l)
        l = add_layout(all, table);
    if (!l)
        return rocl_fail_memory(err);
    if (!l->known) {
        l->why = why;
        st = ask_about(db, l, err);
        l->known = st == ROCL_OK;
    }
    *layout = l;
    return st;
}
