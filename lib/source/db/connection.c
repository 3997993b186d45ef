/* Read-only SQLite connections that leave the file and its folder alone.
 *
 * SQLite itself makes -shm and -wal files beside a database in WAL mode even for a reader, rolls
 * back a hot journal, and takes locks. So: without a log beside the file it is opened `immutable`,
 * which does none of that; with a filled -wal it is opened without locks, all files for reading,
 * the index of the log in our own memory (exclusive mode), and never checkpointed. Nothing stops a
 * writer then, hence rocl_db_check_unchanged(). */
#include "source/db/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/btree_record.h"
#include "base/file.h"
#include "base/sqlite.h"

static bool is_missing(int why)
{
    return why == ENOENT || why == ENOTDIR;
}

/* ---- the files ------------------------------------------------------------------------------- */

static void fill_state(const struct stat *st, uint64_t *words)
{
    words[0] = (uint64_t)st->st_dev;
    words[1] = (uint64_t)st->st_ino;
    words[2] = (uint64_t)st->st_size;
    words[3] = (uint64_t)st->st_mtim.tv_sec;
    words[4] = (uint64_t)st->st_mtim.tv_nsec;
}

/* An empty log counts as none. */
static rocl_status read_state(const rocl_db *db, rocl_db_state *state, rocl_error *err)
{
    struct stat st;
    *state = (rocl_db_state){0};
    if (stat(db->path, &st) != 0)
        return rocl_fail_system(err, ROCL_INPUT, db->name, errno);
    fill_state(&st, state->file);
    if (stat(db->wal, &st) == 0) {
        if (st.st_size > 0)
            fill_state(&st, state->log);
        return ROCL_OK;
    }
    return is_missing(errno) ? ROCL_OK : rocl_fail_system(err, ROCL_INPUT, db->wal, errno);
}

void rocl_db_state_read(const char *path, rocl_db_state *state)
{
    struct stat st;
    char *real = realpath(path, NULL), *log = real ? rocl_concat(real, "-wal") : NULL;
    *state = (rocl_db_state){0};
    if (log && stat(real, &st) == 0 && S_ISREG(st.st_mode)) {
        fill_state(&st, state->file);
        if (stat(log, &st) == 0 && st.st_size > 0)
            fill_state(&st, state->log);
    }
    free(real);
    free(log);
}

/* Fails if there is a rollback journal beside the file that SQLite would play back: one whose
 * header is not all zeros. */
static rocl_status refuse_hot_journal(const rocl_db *db, rocl_error *err)
{
    char *name = rocl_concat(db->real, "-journal");
    unsigned char head[8] = {0};
    ssize_t got = 0;
    if (!name)
        return rocl_fail_memory(err);
    int fd = open(name, O_RDONLY | O_CLOEXEC), why = fd < 0 ? errno : 0;
    if (fd >= 0) {
        got = rocl_read_at(fd, head, sizeof head, 0);
        why = errno;
        close(fd);
    }
    rocl_status st = ROCL_OK;
    if ((fd < 0 && !is_missing(why)) || got < 0)
        st = rocl_fail_system(err, ROCL_INPUT, name, why);
    else if (got == (ssize_t)sizeof head && head[0] == 0xd9)
        st = rocl_fail(err, ROCL_INPUT,
                       "%s: a transaction is in progress or was interrupted (%s-journal): wait for "
                       "the writer, or copy both files elsewhere and let sqlite3 recover the copy",
                       db->name, db->name);
    free(name);
    return st;
}

static void close_pages(rocl_db *db)
{
    if (db->fd >= 0)
        close(db->fd);
    db->fd = -1;
    db->no_pages = NULL;
}

rocl_status rocl_db_pages(rocl_db *db, const rocl_btree_file **f, const char **why, rocl_error *err)
{
    struct stat st;
    uint64_t file[5];
    *f = NULL;
    *why = db->has_log ? "there is a write-ahead log beside the file" : NULL;
    if (*why)
        return ROCL_OK;
    if (db->fd < 0) {
        db->fd = open(db->path, O_RDONLY | O_CLOEXEC);
        if (db->fd < 0 || fstat(db->fd, &st) != 0) {
            rocl_status read = rocl_fail_system(err, ROCL_INPUT, db->name, errno);
            close_pages(db);
            return read;
        }
        fill_state(&st, file);
        if (memcmp(file, db->state.file, sizeof file)) {
            close_pages(db);
            return rocl_fail_changed(err, db->name);
        }
        rocl_status read = rocl_btree_file_read(&db->pages, db->fd, &db->no_pages, err);
        if (read != ROCL_OK) {
            close_pages(db);
            if (read == ROCL_INPUT)
                rocl_wrap(err, "%s", db->name);
            return read;
        }
    }
    *why = db->no_pages;
    if (!*why)
        *f = &db->pages;
    return ROCL_OK;
}

/* Checks for transactions of the log that SQLite would ignore silently. */
static rocl_status check_log(rocl_db *db, rocl_error *err)
{
    rocl_wal log = {0};
    const char *why;
    int fd = open(db->wal, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return rocl_fail_system(err, ROCL_INPUT, db->wal, errno);
    rocl_status st = rocl_wal_read(&log, fd, db->state.file[2], err);
    close(fd);
    db->log_is_truncated = log.unfinished;
    if (st == ROCL_OK && log.missing)
        st = rocl_fail(err, ROCL_INPUT,
                       "the database is truncated, or the log beside it (-wal) belongs to another "
                       "database: pages missing in both: %llu",
                       (unsigned long long)log.missing);
    if (st == ROCL_OK && !log.any) {
        rocl_btree_file file = {0};
        fd = open(db->path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return rocl_fail_system(err, ROCL_INPUT, db->name, errno);
        st = rocl_btree_file_read(&file, fd, &why, err);
        close(fd);
    }
    if (st == ROCL_INPUT)
        rocl_wrap(err, "%s", db->name);
    return st;
}

/* ---- files as SQLite opens them -------------------------------------------------------------- */

/* The VFS for all files that are opened here for reading. */
#define READING_VFS "rocline-reading"
/* A file without a name: it was unlinked, and is opened through its descriptor. SQLite does not
 * follow such a link. */
#define DESCRIPTORS "/proc/self/fd/"

static sqlite3_vfs reading_vfs, *plain_vfs;

typedef struct unnamed_file {
    sqlite3_file pub; /* first: SQLite holds a pointer to it */
    int fd;
} unnamed_file;

static int unnamed_close(sqlite3_file *f)
{
    close(((unnamed_file *)f)->fd);
    return SQLITE_OK;
}

static int unnamed_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    const ssize_t got = rocl_read_at(((unnamed_file *)f)->fd, to, (size_t)n, (uint64_t)at);
    if (got < 0)
        return SQLITE_IOERR_READ;
    if (got == n)
        return SQLITE_OK;
    memset((char *)to + got, 0, (size_t)(n - got));
    return SQLITE_IOERR_SHORT_READ;
}

static int unnamed_size(sqlite3_file *f, sqlite3_int64 *size)
{
    struct stat st;
    if (fstat(((unnamed_file *)f)->fd, &st) != 0)
        return SQLITE_IOERR_FSTAT;
    *size = st.st_size;
    return SQLITE_OK;
}

static int unnamed_control(sqlite3_file *f, int op, void *arg)
{
    (void)f;
    (void)op;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int unnamed_is_immutable(sqlite3_file *f)
{
    (void)f;
    return SQLITE_IOCAP_IMMUTABLE;
}

/* SQLite neither writes nor locks immutable files: it never calls the other methods. */
static const sqlite3_io_methods unnamed_methods = {
    .iVersion = 1,
    .xClose = unnamed_close,
    .xRead = unnamed_read,
    .xFileSize = unnamed_size,
    .xFileControl = unnamed_control,
    .xDeviceCharacteristics = unnamed_is_immutable,
};

/* SQLite would open a log for writing, create it if it has just vanished, and as root give it to
 * the owner of the database. This does none of that. */
static int open_for_reading(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                            int *out)
{
    (void)vfs;
    if (flags & SQLITE_OPEN_DELETEONCLOSE) /* for a sort */
        return plain_vfs->xOpen(plain_vfs, name, file, flags, out);
    if (name && !strncmp(name, DESCRIPTORS, strlen(DESCRIPTORS))) {
        unnamed_file *f = (unnamed_file *)file;
        *f = (unnamed_file){.fd = open(name, O_RDONLY | O_CLOEXEC)};
        f->pub.pMethods = f->fd < 0 ? NULL : &unnamed_methods;
        if (out)
            *out = SQLITE_OPEN_READONLY;
        return f->fd < 0 ? SQLITE_CANTOPEN : SQLITE_OK;
    }
    flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (flags &
        (SQLITE_OPEN_WAL |
         SQLITE_OPEN_MAIN_JOURNAL)) /* as another type of file, whose owner is not changed */
        flags = (flags & ~(SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) | SQLITE_OPEN_SUBJOURNAL;
    return plain_vfs->xOpen(plain_vfs, name, file, flags | SQLITE_OPEN_READONLY, out);
}

static int never_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    (void)name;
    (void)sync;
    return SQLITE_OK;
}

static int make_full_path(sqlite3_vfs *vfs, const char *name, int size, char *full)
{
    (void)vfs;
    if (strncmp(name, DESCRIPTORS, strlen(DESCRIPTORS)) != 0)
        return plain_vfs->xFullPathname(plain_vfs, name, size, full);
    sqlite3_snprintf(size, full, "%s", name);
    return SQLITE_OK;
}

static void register_vfs(void)
{
    plain_vfs = sqlite3_vfs_find("unix-none"); /* takes no locks */
    if (!plain_vfs)
        return;
    reading_vfs = *plain_vfs;
    reading_vfs.zName = READING_VFS;
    reading_vfs.mxPathname = PATH_MAX; /* not 512: the limit of the system */
    if (reading_vfs.szOsFile < (int)sizeof(unnamed_file))
        reading_vfs.szOsFile = (int)sizeof(unnamed_file);
    reading_vfs.xOpen = open_for_reading;
    reading_vfs.xDelete = never_delete;
    reading_vfs.xFullPathname = make_full_path;
    sqlite3_vfs_register(&reading_vfs, 0);
}

char *rocl_db_uri(const rocl_db *db)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const char hex[] = "0123456789abcdef";
    rocl_buf u = {0};
    pthread_once(&once, register_vfs);
    if (!sqlite3_vfs_find(READING_VFS)) /* SQLite had no memory to begin with */
        return NULL;
    rocl_buf_str(&u, db->path[0] == '/' ? "file://" : "file:");
    for (const char *p = db->path; *p; p++) {
        if (strchr("%?#", *p)) { /* these would end the path or begin an escape */
            char esc[3] = {'%', hex[(unsigned char)*p >> 4], hex[*p & 15]};
            rocl_buf_put(&u, esc, sizeof esc);
        } else {
            rocl_buf_byte(&u, (uint8_t)*p);
        }
    }
    rocl_buf_str(&u, db->has_log ? "?vfs=" READING_VFS : "?immutable=1&mode=ro&vfs=" READING_VFS);
    rocl_buf_byte(&u, 0);
    if (u.failed)
        rocl_buf_free(&u);
    return (char *)u.data;
}

void rocl_db_limit_lengths(const rocl_db *db, sqlite3 *handle)
{
    rocl_sqlite_limit_lengths(handle, db->state.file[2] + db->state.log[2]);
}

rocl_status rocl_db_sqlite(rocl_db *db, rocl_error *err)
{
    int rc;
    if (!db->handle) {
        char *uri = rocl_db_uri(db);
        db->asked = true;
        if (!uri)
            return rocl_fail_memory(err);
        rc = sqlite3_open_v2(uri, &db->handle,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
        free(uri);
        if (!db->handle || rc == SQLITE_NOMEM)
            return rocl_fail_memory(err);
        if (rc != SQLITE_OK)
            return rocl_sqlite_error(db->handle, db->name, err);
        rocl_db_limit_lengths(db, db->handle);
        rocl_sqlite_harden(db->handle, true);
        /* Only the schema and our own queries are parsed. */
        sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 0);
        sqlite3_limit(db->handle, SQLITE_LIMIT_EXPR_DEPTH, 200);
        sqlite3_limit(db->handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
        rc = db->has_log
                 ? sqlite3_exec(db->handle, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL)
                 : SQLITE_OK;
        if (rc != SQLITE_OK)
            return rocl_sqlite_error(db->handle, db->name, err);
    }
    if (db->probed)
        return ROCL_OK;
    /* Reads the schema, which fails if the file is not a sound database. */
    rc = sqlite3_exec(db->handle, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    db->probed = rc == SQLITE_OK;
    if (db->probed)
        return ROCL_OK;
    if (rc == SQLITE_NOTADB)
        return rocl_fail(err, ROCL_INPUT, "%s: not a SQLite database, or an encrypted one",
                         db->name);
    rocl_status st = rocl_sqlite_error(db->handle, db->name, err);
    return st == ROCL_INPUT && db->has_log
               ? rocl_fail(err, st, "%s; or the log beside it (-wal) belongs to another database",
                           rocl_error_text(err))
               : st;
}

rocl_status rocl_db_has_column(rocl_db *db, const char *table, const char *column, bool *has,
                               rocl_error *err)
{
    *has = false;
    rocl_status st = rocl_db_sqlite(db, err);
    if (st != ROCL_OK)
        return st;
    int rc = sqlite3_table_column_metadata(db->handle, "main", table, column, NULL, NULL, NULL,
                                           NULL, NULL);
    *has = rc == SQLITE_OK;
    return rc == SQLITE_OK || rc == SQLITE_ERROR ? ROCL_OK : rocl_sqlite_fail(db, table, err);
}

static const char *column_text(sqlite3_stmt *stmt, int column)
{
    const char *s = (const char *)sqlite3_column_text(stmt, column);
    return s ? s : "";
}

/* SQLite's own check for damage, for tables whose pages only SQLite reads. */
static rocl_status check_by_sqlite(rocl_db *db, const char *table, rocl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    rocl_status st = ROCL_OK;
    if (sqlite3_prepare_v2(db->handle, "PRAGMA main.quick_check(1)", -1, &stmt, NULL) ==
            SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW && strcmp(column_text(stmt, 0), "ok") != 0)
        st = rocl_fail(err, ROCL_INPUT, "%s: table %s: the database is damaged", db->name, table);
    sqlite3_finalize(stmt);
    return st;
}

/* SQLite also reports a lack of memory if damage makes it ask for too much. The pages tell which of
 * the two it is. */
rocl_status rocl_sqlite_fail(rocl_db *db, const char *table, rocl_error *err)
{
    const rocl_layout *layout;
    char *location = sqlite3_mprintf("%s: table %s", db->name, table);
    rocl_status st =
        location ? rocl_sqlite_error(db->handle, location, err) : rocl_fail_memory(err);
    sqlite3_free(location);
    if (st != ROCL_INTERNAL || db->checks_damage)
        return st;
    db->checks_damage = true;
    st = rocl_db_layout(db, table, &layout, err);
    if (st == ROCL_OK)
        st = layout->why ? check_by_sqlite(db, table, err) : rocl_db_check_pages(db, layout, err);
    db->checks_damage = false;
    return st == ROCL_INPUT ? st : rocl_fail_memory(err);
}

void rocl_db_allow_rowids(rocl_db *db)
{
    db->rowids = true;
}

/* ---- layouts: how tables are stored, as SQLite says ------------------------------------------ */

/* The last four letters of a text up to here, in small letters. */
static uint32_t add_letter(uint32_t last, char c)
{
    return last << 8 | (uint8_t)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}
#define LETTERS(a, b, c, d) ((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d))

/* https://www.sqlite.org/datatype3.html, 3.1: only the affinity REAL changes what is read; words of
 * other affinities in the declared type take precedence. */
static bool is_real(const char *type)
{
    bool real = false;
    for (uint32_t last = 0; *type; type++) {
        last = add_letter(last, *type);
        if ((last & 0xffffff) == LETTERS(0, 'i', 'n', 't') || last == LETTERS('c', 'h', 'a', 'r') ||
            last == LETTERS('c', 'l', 'o', 'b') || last == LETTERS('t', 'e', 'x', 't') ||
            last == LETTERS('b', 'l', 'o', 'b'))
            return false;
        real |= last == LETTERS('r', 'e', 'a', 'l') || last == LETTERS('f', 'l', 'o', 'a') ||
                last == LETTERS('d', 'o', 'u', 'b');
    }
    return real;
}

/* Collects the rows of answers. */
typedef struct answers {
    rocl_layouts *all;
    rocl_layout *l;
    bool id;            /* the column "id" is INTEGER, and in the primary key */
    unsigned keys, key; /* columns of the primary key; the last INTEGER one of them */
    bool key_is_integer;
    bool hidden; /* columns that are not stored, or stored differently */
    bool index;  /* of the primary key */
} answers;

typedef bool row_fn(answers *a, sqlite3_stmt *stmt); /* false: memory is out */

/* Runs a statement about a->l, or about all tables: %Q in `sql`. */
static rocl_status run_query(rocl_db *db, answers *a, const char *sql, row_fn *fn, rocl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    const char *table = a->l ? a->l->table : "sqlite_master";
    rocl_status st = rocl_db_sqlite(db, err);
    char *text = st == ROCL_OK ? sqlite3_mprintf(sql, table) : NULL;
    if (!text)
        return st ? st : rocl_fail_memory(err);
    int rc = sqlite3_prepare_v2(db->handle, text, -1, &stmt, NULL);
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

/* name, rootpage */
static bool add_table(answers *a, sqlite3_stmt *stmt)
{
    sqlite3_int64 root = sqlite3_column_int64(stmt, 1);
    rocl_layout *l = rocl_layouts_add(a->all, column_text(stmt, 0));
    if (l)
        l->root = root > 1 && root <= UINT32_MAX ? (uint32_t)root : 0;
    return l;
}

/* cid, name, type, notnull, dflt_value, pk, hidden */
static bool add_column(answers *a, sqlite3_stmt *stmt)
{
    rocl_layout *l = a->l;
    size_t cap = rocl_array_cap(l->count);
    if (!ROCL_GROW(l->columns, cap, l->count + (size_t)1))
        return false;
    const char *name = column_text(stmt, 1), *type = column_text(stmt, 2);
    a->hidden |= sqlite3_column_int(stmt, 6) != 0;
    if (!sqlite3_stricmp(name, "id")) {
        l->id = l->count;
        l->no_id = false;
        a->id = sqlite3_column_int(stmt, 5) && !sqlite3_stricmp(type, "INTEGER");
    }
    if (sqlite3_column_int(stmt, 5)) {
        a->keys++;
        a->key = l->count;
        a->key_is_integer = !sqlite3_stricmp(type, "INTEGER");
    }
    l->columns[l->count] = (rocl_layout_column){strdup(name), is_real(type),
                                                sqlite3_column_type(stmt, 4) != SQLITE_NULL};
    return l->columns[l->count++].name != NULL;
}

/* seq, name, unique, origin, partial: a primary key that is the rowid needs no index of its own;
 * the key of a table WITHOUT ROWID is listed as if it had one. */
static bool note_index(answers *a, sqlite3_stmt *stmt)
{
    a->index |= !strcmp(column_text(stmt, 3), "pk");
    return true;
}

/* A primary key of one INTEGER column is the rowid, except in a table WITHOUT ROWID and for a key
 * in DESC order: https://www.sqlite.org/lang_createtable.html#rowid. If the text of the table has
 * neither word, SQLite need not be asked. */
static bool key_is_rowid(const rocl_db *db, const answers *a)
{
    const rocl_schema *s = &db->schema;
    const char *sql = NULL;
    bool plain = true;
    if (a->keys != 1 || !a->key_is_integer)
        return false;
    for (size_t i = 0; i < s->count && !sql; i++)
        if (!strcmp(rocl_schema_text(s, s->rows[i].name), a->l->table) &&
            !strcmp(rocl_schema_text(s, s->rows[i].type), "table"))
            sql = rocl_schema_text(s, s->rows[i].sql);
    for (uint32_t last = 0; sql && *sql && plain; sql++) {
        last = add_letter(last, *sql);
        plain = last != LETTERS('w', 'i', 't', 'h') && last != LETTERS('d', 'e', 's', 'c');
    }
    return sql && plain;
}

/* Gets the roots of all tables in one pass over the schema: searching it for each table takes long
 * if there are many. */
rocl_status rocl_db_layout(rocl_db *db, const char *table, const rocl_layout **layout,
                           rocl_error *err)
{
    answers a = {.all = &db->layouts};
    const rocl_btree_file *file;
    const char *why;
    rocl_status st = rocl_db_pages(db, &file, &why, err);
    if (st == ROCL_OK && !why && !db->layouts.read) {
        st = run_query(db, &a, "SELECT name, rootpage FROM main.sqlite_master WHERE type='table'",
                       add_table, err);
        db->layouts.read = st == ROCL_OK;
    }
    if (st != ROCL_OK)
        return st;
    rocl_layout *l = rocl_layouts_find(&db->layouts, table);
    if (!l && !(l = rocl_layouts_add(&db->layouts, table)))
        return rocl_fail_memory(err);
    *layout = l;
    if (l->known)
        return ROCL_OK;
    a.l = l;
    l->why = why ? why : !l->root ? "it is not an ordinary table" : NULL;
    if (!l->why) {
        l->no_id = true;
        st = run_query(db, &a, "PRAGMA main.table_xinfo(%Q)", add_column, err);
        if (st == ROCL_OK && a.keys && !key_is_rowid(db, &a))
            st = run_query(db, &a, "PRAGMA main.index_list(%Q)", note_index, err);
        if (a.hidden)
            l->why = "it has generated columns";
        else if (l->no_id && !a.index && (!a.keys || (a.keys == 1 && a.key_is_integer)))
            l->id = a.keys ? a.key : l->count;
        else if (!a.id || a.index)
            l->why = "its column id is not the rowid";
    }
    l->known = st == ROCL_OK;
    return st;
}

/* ---- the b-tree of a table ------------------------------------------------------------------- */

rocl_status rocl_db_in_table(const rocl_db *db, const rocl_layout *layout, rocl_status st,
                             rocl_error *err)
{
    if (st == ROCL_INPUT)
        rocl_wrap(err, "%s: table %s", db->name, layout->table);
    return st;
}

rocl_status rocl_db_open_tree(rocl_btree *tree, rocl_db *db, const rocl_layout *layout,
                              rocl_error *err)
{
    const rocl_btree_file *file;
    const char *why;
    rocl_status st = rocl_db_pages(db, &file, &why, err);
    return st ? st : rocl_btree_open(tree, file, layout->root, err);
}

/* Checks the rows of the current leaf. A row in overflow pages, or with its header there, is put
 * together as by a reader. */
static rocl_status check_leaf(rocl_btree *t, rocl_header_cache *cache, rocl_error *err)
{
    rocl_cached_header *head = NULL; /* that of the row before, if it can be kept */
    rocl_status st = ROCL_OK;
    const char *what = NULL;
    for (unsigned i = t->at; i < t->count && !st && !what; i++) {
        const rocl_btree_cell *c = &t->cells[i];
        const uint8_t *payload = t->page + c->offset;
        if (head && rocl_cached_header_matches(cache, head, payload, c))
            continue;
        head = rocl_header_cache_entry(cache, payload);
        if (!head)
            return rocl_fail_memory(err);
        if (rocl_cached_header_matches(cache, head, payload, c))
            continue;
        head->used = rocl_cached_header_set(cache, head, payload, c);
        if (head->used)
            continue;
        head = NULL;
        rocl_record record;
        uint32_t need;
        st = rocl_btree_payload(t, i, c->size, &payload, err);
        if (st == ROCL_OK)
            what = rocl_record_parse(&record, &cache->plan, payload, c->size, c->size, &need);
    }
    return what ? rocl_btree_damaged(t, what, err) : st;
}

/* The header is read up to the last column, so all values before it are in the row. */
rocl_status rocl_db_check_pages(rocl_db *db, const rocl_layout *layout, rocl_error *err)
{
    rocl_btree tree = {0};
    rocl_header_cache cache = {.plan = {.column = {(uint16_t)(layout->count - 1)}, .count = 1}};
    rocl_header_cache_init(&cache);
    rocl_status st = rocl_db_open_tree(&tree, db, layout, err);
    if (st == ROCL_OK)
        st = rocl_btree_seek(&tree, INT64_MIN, err);
    while (st == ROCL_OK && tree.count) {
        st = check_leaf(&tree, &cache, err);
        if (st == ROCL_OK)
            st = rocl_btree_next(&tree, err);
    }
    rocl_btree_close(&tree);
    rocl_header_cache_free(&cache);
    return rocl_db_in_table(db, layout, st, err);
}

/* ---- open and close -------------------------------------------------------------------------- */

static void close_handle(rocl_db *db)
{
    sqlite3_close(db->handle);
    db->handle = NULL;
    db->probed = false;
}

/* Checks that the file is complete, as SQLite would read what is missing as zeros. If its schema is
 * known, SQLite need not parse it. */
static rocl_status read_schema(rocl_db *db, rocl_schema_cache *cache, rocl_error *err)
{
    const rocl_btree_file *file = NULL;
    const char *why = NULL;
    rocl_status st = db->has_log ? check_log(db, err) : rocl_db_pages(db, &file, &why, err);
    if (st != ROCL_OK)
        return st;
    bool cached =
        cache && file && db->reader != ROCL_READER_SQLITE && rocl_btree_schema(&db->schema, file);
    if (cached && rocl_schema_cache_find(cache, &db->schema, file, &db->layouts))
        return ROCL_OK;
    if (db->reader == ROCL_READER_SQLITE)
        close_pages(db);
    st = rocl_db_sqlite(db, err);
    if (st != ROCL_OK || !cached)
        return st;
    size_t tables = 0;
    for (size_t i = 0; i < db->schema.count; i++) {
        const rocl_layout *layout;
        const rocl_schema_row *row = &db->schema.rows[i];
        if (strcmp(rocl_schema_text(&db->schema, row->type), "table") != 0)
            continue;
        tables++;
        cached &=
            rocl_db_layout(db, rocl_schema_text(&db->schema, row->name), &layout, NULL) == ROCL_OK;
    }
    if (cached && tables == db->layouts.count)
        rocl_schema_cache_add(cache, &db->schema, file, &db->layouts);
    else
        rocl_layouts_free(&db->layouts); /* one may be incomplete */
    if (db->layouts.read)
        close_handle(db); /* most files need no further queries */
    return ROCL_OK;
}

rocl_status rocl_db_open(rocl_db **out, const rocl_db_options *o, rocl_error *err)
{
    struct stat info;
    rocl_db *db = calloc(1, sizeof *db);
    if (!db)
        return rocl_fail_memory(err);
    db->fd = -1;
    db->reader = o->reader;
    db->pages.read_size = o->read_ahead;
    db->path = strdup(o->path);
    db->name = strdup(o->name ? o->name : o->path);
    db->real = realpath(o->path, NULL);
    rocl_status st = ROCL_OK;
    if (!db->real && errno == ENOENT && stat(o->path, &info) == 0) /* it has no name */
        db->real = strdup(o->path);
    else if (!db->real && db->name)
        st = rocl_fail_system(err, ROCL_INPUT, db->name, errno);
    db->wal = db->real ? rocl_concat(db->real, "-wal") : NULL;
    if (st == ROCL_OK && !(db->path && db->name && db->wal))
        st = rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = read_state(db, &db->state, err);
    if (st == ROCL_OK && o->as && memcmp(o->as, &db->state, sizeof *o->as) != 0)
        st = rocl_fail_changed(err, db->name);
    db->has_log = db->state.log[2] > 0;
    if (st == ROCL_OK)
        st = refuse_hot_journal(db, err);
    if (st == ROCL_OK)
        st = read_schema(db, o->schemas, err);
    if (st == ROCL_OK)
        *out = db;
    else
        rocl_db_close(db);
    return st;
}

void rocl_db_close(rocl_db *db)
{
    if (!db)
        return;
    sqlite3_close(db->handle);
    rocl_layouts_free(&db->layouts);
    rocl_schema_free(&db->schema);
    if (db->fd >= 0)
        close(db->fd);
    free(db->path);
    free(db->name);
    free(db->real);
    free(db->wal);
    free(db);
}

void rocl_db_suspend(rocl_db *db)
{
    close_handle(db);
    close_pages(db);
    rocl_schema_free(&db->schema);
    db->suspended = true;
}

bool rocl_db_is_suspended(const rocl_db *db)
{
    return db->suspended;
}

rocl_status rocl_db_resume(rocl_db *db, rocl_error *err)
{
    rocl_status st = db->suspended ? rocl_db_check_unchanged(db, err) : ROCL_OK;
    if (st == ROCL_OK && db->suspended)
        st = refuse_hot_journal(db, err);
    db->suspended &= st != ROCL_OK;
    return st;
}

bool rocl_db_log_truncated(const rocl_db *db)
{
    return db->log_is_truncated;
}

void rocl_db_state_of(const rocl_db *db, rocl_db_state *state)
{
    *state = db->state;
}

rocl_status rocl_db_check_unchanged(rocl_db *db, rocl_error *err)
{
    rocl_db_state state;
    rocl_status st = read_state(db, &state, err);
    bool same = st == ROCL_OK && !memcmp(&state, &db->state, sizeof state);
    return same || st == ROCL_INTERNAL ? st : rocl_fail_changed(err, db->name);
}

/* False: memory is out. */
static bool add_object(rocl_db_object **list, size_t *n, size_t *cap, const char *name, bool view)
{
    char *copy = strdup(name);
    if (!copy || !ROCL_GROW(*list, *cap, *n + 1)) {
        free(copy);
        return false;
    }
    (*list)[(*n)++] = (rocl_db_object){copy, view};
    return true;
}

rocl_status rocl_db_objects(rocl_db *db, rocl_db_object **objects, size_t *count, rocl_error *err)
{
    static const char sql[] = "SELECT name, type='view' FROM main.sqlite_master WHERE type IN "
                              "('table','view') ORDER BY rowid";
    const rocl_schema *s = &db->schema;
    sqlite3_stmt *stmt = NULL;
    rocl_db_object *list = NULL;
    size_t n = 0, cap = 0;
    bool memory = true;
    int rc = SQLITE_DONE;
    rocl_status st = s->count ? ROCL_OK : rocl_db_sqlite(db, err);
    if (st != ROCL_OK)
        return st;
    for (size_t i = 0; !db->handle && memory && i < s->count; i++) {
        const char *type = rocl_schema_text(s, s->rows[i].type);
        bool view = !strcmp(type, "view");
        if (view || !strcmp(type, "table"))
            memory = add_object(&list, &n, &cap, rocl_schema_text(s, s->rows[i].name), view);
    }
    if (db->handle)
        rc = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL);
    while (rc == SQLITE_OK && memory && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        memory = add_object(&list, &n, &cap, column_text(stmt, 0), sqlite3_column_int(stmt, 1));
        rc = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    if (memory && rc == SQLITE_DONE) {
        *objects = list;
        *count = n;
        return ROCL_OK;
    }
    rocl_db_objects_free(list, n);
    return memory ? rocl_sqlite_fail(db, "sqlite_master", err) : rocl_fail_memory(err);
}

void rocl_db_objects_free(rocl_db_object *objects, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(objects[i].name);
    free(objects);
}
