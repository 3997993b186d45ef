/* Read-only SQLite connections that leave the file and its folder alone.
 *
 * SQLite itself makes -shm and -wal files beside a database in WAL mode even for a reader, rolls
 * back a hot journal, and takes locks. So: without a log beside the file it is opened `immutable`,
 * which does none of that; with a filled -wal it is opened without locks, all files for reading,
 * the index of the log in our own memory (exclusive mode), and never checkpointed. Nothing stops a
 * writer then, hence rocl_db_check_unchanged(). */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/btree_schema.h"
#include "base/sqlite_fail.h"
#include "base/wal.h"
#include "source/db/known_schemas.h"
#include "source/db/connection.h"

/* Under this name of its VFS SQLite opens whatever it opens for reading, see below. */
#define READING_VFS "rocline-reading"
#define PLAIN_VFS   "unix"

struct rocl_db {
    sqlite3 *handle; /* NULL: not needed so far */
    char *path;
    char *real; /* path without links: what lies beside the file is there */
    char *wal;  /* path of the log */
    rocl_db_state state;
    bool has_log;
    bool torn_log;         /* it ends in a transaction that is not whole */
    bool looks_for_damage; /* while SQLite said that memory is out */
    bool probed;           /* SQLite has read the schema */
    rocl_reader reader;
    int fd; /* for reading pages; -1: not opened yet, or not to be */
    rocl_btree_file pages;
    const char *no_pages; /* why */
    rocl_layouts layouts;
    rocl_schema schema; /* read from the pages; empty: not so */
};

sqlite3 *rocl_db_handle(rocl_db *db)
{
    return db->handle;
}

const char *rocl_db_path(const rocl_db *db)
{
    return db->path;
}

rocl_reader rocl_db_reader(const rocl_db *db)
{
    return db->reader;
}

rocl_layouts *rocl_db_layouts(rocl_db *db)
{
    return &db->layouts;
}

rocl_schema *rocl_db_schema(rocl_db *db)
{
    return &db->schema;
}

static bool is_missing(int why)
{
    return why == ENOENT || why == ENOTDIR;
}

/* Fails where a rollback journal lies beside the file that SQLite would play back: it has a header
 * of other than zeros. */
static rocl_status refuse_hot_journal(const rocl_db *db, rocl_error *err)
{
    char *name = rocl_concat(db->real, "-journal");
    unsigned char head[8] = {0};
    ssize_t got = 0;
    if (!name)
        return rocl_fail_memory(err);
    int fd = open(name, O_RDONLY | O_CLOEXEC), why = fd < 0 ? errno : 0;
    while (fd >= 0 && (got = read(fd, head, sizeof head)) < 0 && (why = errno) == EINTR)
        ;
    if (fd >= 0)
        close(fd);
    rocl_status st = ROCL_OK;
    if ((fd < 0 && !is_missing(why)) || got < 0)
        st = rocl_fail_system(err, ROCL_INPUT, name, why);
    else if (got == (ssize_t)sizeof head && head[0] == 0xd9)
        st = rocl_fail(err, ROCL_INPUT,
                       "%s: a transaction is under way or was cut off (%s-journal): wait for the "
                       "writer, or copy both files elsewhere and let sqlite3 recover the copy",
                       db->path, db->path);
    free(name);
    return st;
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

/* "file:" + the path with what an URI would take apart written as %XX + the query. */
static char *uri_of(const char *path, const char *query)
{
    static const char hex[] = "0123456789abcdef";
    rocl_buf u = {0};
    rocl_buf_str(&u, path[0] == '/' ? "file://" : "file:");
    for (const char *p = path; *p; p++) {
        if (strchr("%?#", *p)) {
            char esc[3] = {'%', hex[(unsigned char)*p >> 4], hex[*p & 15]};
            rocl_buf_put(&u, esc, sizeof esc);
        } else {
            rocl_buf_byte(&u, (uint8_t)*p);
        }
    }
    rocl_buf_str(&u, query);
    rocl_buf_byte(&u, 0);
    if (u.failed)
        rocl_buf_free(&u);
    return (char *)u.data;
}

char *rocl_db_uri(const rocl_db *db)
{
    return uri_of(db->path,
                  db->has_log ? "?vfs=" READING_VFS : "?immutable=1&mode=ro&vfs=" PLAIN_VFS);
}

/* ---- files for reading only ---- */

/* SQLite opens a log for writing, makes it when it has just gone, and as root gives it to the owner
 * of the database. Here it does none of that. */
static sqlite3_vfs reading_vfs, *plain_vfs;

static int open_for_reading(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                            int *out)
{
    (void)vfs;
    flags &= ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) /* a sort whose owner is left alone */
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

static void register_vfs(void)
{
    plain_vfs = sqlite3_vfs_find("unix-none"); /* takes no locks */
    if (!plain_vfs)
        return;
    reading_vfs = *plain_vfs;
    reading_vfs.zName = READING_VFS;
    reading_vfs.xOpen = open_for_reading;
    reading_vfs.xDelete = never_delete;
    sqlite3_vfs_register(&reading_vfs, 0);
}

/* ---- open ---- */

/* SQLite also says that memory is out where damage makes it ask for too much. The pages tell which
 * of the two it is. */
static rocl_status look_for_damage(rocl_db *db, const char *table, rocl_error *err)
{
    const rocl_layout *layout;
    if (db->looks_for_damage)
        return rocl_fail_memory(err);
    db->looks_for_damage = true;
    rocl_status st = rocl_layout_find(db, table, &layout, err);
    if (st == ROCL_OK && !layout->why)
        st = rocl_rows_check_pages(db, layout, INT64_MIN, INT64_MAX, err);
    db->looks_for_damage = false;
    return st == ROCL_INPUT ? st : rocl_fail_memory(err);
}

rocl_status rocl_sqlite_fail(rocl_db *db, const char *table, rocl_error *err)
{
    char *place = sqlite3_mprintf("%s: table %s", db->path, table);
    rocl_status st = place ? rocl_sqlite_error(db->handle, place, err) : rocl_fail_memory(err);
    sqlite3_free(place);
    return st == ROCL_INTERNAL ? look_for_damage(db, table, err) : st;
}

void rocl_db_limit_lengths(const rocl_db *db, sqlite3 *handle)
{
    rocl_sqlite_limit_lengths(handle, db->state.file[2] + db->state.log[2]);
}

static rocl_status open_handle(rocl_db *db, rocl_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *query = db->has_log ? "?vfs=" READING_VFS : "?immutable=1";
    pthread_once(&once, register_vfs);
    char *uri = uri_of(db->path, query);
    if (!uri)
        return rocl_fail_memory(err);
    int rc = sqlite3_open_v2(uri, &db->handle,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(uri);
    if (!db->handle || rc == SQLITE_NOMEM)
        return rocl_fail_memory(err);
    if (rc != SQLITE_OK)
        return rocl_sqlite_error(db->handle, db->path, err);
    rocl_db_limit_lengths(db, db->handle);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (db->has_log)
        sqlite3_exec(db->handle, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
    return ROCL_OK;
}

/* Reads the schema, which is where a file that is no sound database is found out. */
static rocl_status probe(rocl_db *db, rocl_error *err)
{
    int rc = sqlite3_exec(db->handle, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        return ROCL_OK;
    if (rc == SQLITE_NOTADB)
        return rocl_fail(err, ROCL_INPUT, "%s: not a SQLite database, or an encrypted one",
                         db->path);
    rocl_status st = rocl_sqlite_error(db->handle, db->path, err);
    return st == ROCL_INPUT && db->has_log
               ? rocl_fail(err, st, "%s; or the log beside it (-wal) is another database's",
                           rocl_error_text(err))
               : st;
}

static void describe(const struct stat *st, uint64_t *words)
{
    words[0] = (uint64_t)st->st_dev;
    words[1] = (uint64_t)st->st_ino;
    words[2] = (uint64_t)st->st_size;
    words[3] = (uint64_t)st->st_mtim.tv_sec;
    words[4] = (uint64_t)st->st_mtim.tv_nsec;
}

/* An empty log is as good as none. */
static rocl_status look_at(const rocl_db *db, rocl_db_state *state, rocl_error *err)
{
    struct stat st;
    *state = (rocl_db_state){0};
    if (stat(db->path, &st) != 0)
        return rocl_fail_system(err, ROCL_INPUT, db->path, errno);
    describe(&st, state->file);
    if (stat(db->wal, &st) == 0) {
        if (st.st_size > 0)
            describe(&st, state->log);
        return ROCL_OK;
    }
    return is_missing(errno) ? ROCL_OK : rocl_fail_system(err, ROCL_INPUT, db->wal, errno);
}

static bool same_state(const rocl_db_state *a, const rocl_db_state *b)
{
    return !memcmp(a, b, sizeof *a);
}

static rocl_status changed(const rocl_db *db, rocl_error *err)
{
    return rocl_fail(err, ROCL_INPUT,
                     "%s: the file changed while it was read: try again when its writer is done",
                     db->path);
}

static rocl_status look_at_files(rocl_db *db, const rocl_db_state *as, rocl_error *err)
{
    rocl_status st = look_at(db, &db->state, err);
    if (st == ROCL_OK && as && !same_state(as, &db->state))
        st = changed(db, err);
    if (st != ROCL_OK)
        return st;
    db->has_log = db->state.log[2] > 0;
    return refuse_hot_journal(db, err);
}

rocl_status rocl_db_sqlite(rocl_db *db, rocl_error *err)
{
    rocl_status st = db->handle ? ROCL_OK : open_handle(db, err);
    if (st == ROCL_OK && !db->probed)
        st = probe(db, err);
    db->probed = st == ROCL_OK;
    return st;
}

static void close_pages(rocl_db *db)
{
    if (db->fd >= 0)
        close(db->fd);
    db->fd = -1;
    db->no_pages = NULL;
}

/* Is the file all there? Whoever reads it then: SQLite takes what is missing for zeros. */
static rocl_status check_size(rocl_db *db, rocl_error *err)
{
    const rocl_btree_file *file;
    const char *why;
    return rocl_db_pages(db, &file, &why, err);
}

/* What SQLite would leave out of the log without a word. */
static rocl_status check_log(rocl_db *db, rocl_error *err)
{
    rocl_wal log = {0};
    const char *why;
    int fd = open(db->wal, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return rocl_fail_system(err, ROCL_INPUT, db->wal, errno);
    rocl_status st = rocl_wal_read(&log, fd, db->state.file[2], err);
    close(fd);
    db->torn_log = log.unfinished;
    if (st == ROCL_OK && log.missing)
        st = rocl_fail(err, ROCL_INPUT,
                       "the database is cut off, or the log beside it (-wal) is another "
                       "database's: pages that neither of them has: %llu",
                       (unsigned long long)log.missing);
    if (st == ROCL_OK && !log.any) {
        rocl_btree_file file = {0};
        fd = open(db->path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return rocl_fail_system(err, ROCL_INPUT, db->path, errno);
        st = rocl_btree_file_read(&file, fd, &why, err);
        close(fd);
    }
    if (st == ROCL_INPUT)
        rocl_wrap(err, "%s", db->path);
    return st;
}

bool rocl_db_torn_log(const rocl_db *db)
{
    return db->torn_log;
}

static rocl_status understand(rocl_db *db, rocl_db_forms *forms, rocl_error *err)
{
    rocl_status st = db->has_log ? check_log(db, err) : check_size(db, err);
    if (st != ROCL_OK)
        return st;
    if (forms && !db->has_log && db->reader != ROCL_READER_SQLITE &&
        rocl_db_forms_recognise(forms, db))
        return ROCL_OK;
    if (db->reader == ROCL_READER_SQLITE)
        close_pages(db);
    st = rocl_db_sqlite(db, err);
    if (st == ROCL_OK && forms)
        rocl_db_forms_learn(forms, db);
    return st;
}

static rocl_status open_db(rocl_db **out, const char *path, rocl_reader reader,
                           rocl_db_forms *forms, const rocl_db_state *as, rocl_error *err)
{
    rocl_db *db = calloc(1, sizeof *db);
    if (!db)
        return rocl_fail_memory(err);
    db->fd = -1;
    db->reader = reader;
    db->pages.ahead = forms ? rocl_db_forms_ahead(forms) : 0;
    db->path = strdup(path);
    db->real = realpath(path, NULL);
    if (!db->real) {
        rocl_status st = rocl_fail_system(err, ROCL_INPUT, path, errno);
        rocl_db_close(db);
        return st;
    }
    db->wal = rocl_concat(db->real, "-wal");
    rocl_status st = db->path && db->wal ? ROCL_OK : rocl_fail_memory(err);
    if (st == ROCL_OK)
        st = look_at_files(db, as, err);
    if (st == ROCL_OK)
        st = understand(db, forms, err);
    if (st != ROCL_OK) {
        rocl_db_close(db);
        return st;
    }
    *out = db;
    return ROCL_OK;
}

rocl_status rocl_db_open(rocl_db **db, const char *path, rocl_reader reader,
                         const rocl_db_state *as, rocl_error *err)
{
    return open_db(db, path, reader, NULL, as, err);
}

rocl_status rocl_db_open_form(rocl_db **db, const char *path, rocl_db_forms *forms,
                              const rocl_db_state *as, rocl_error *err)
{
    return open_db(db, path, rocl_db_forms_reader(forms), forms, as, err);
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
    free(db->real);
    free(db->wal);
    free(db);
}

void rocl_db_state_of(const rocl_db *db, rocl_db_state *state)
{
    *state = db->state;
}

rocl_status rocl_db_check_unchanged(rocl_db *db, rocl_error *err)
{
    rocl_db_state state;
    rocl_status st = look_at(db, &state, err);
    bool same = st == ROCL_OK && same_state(&state, &db->state);
    return same || st == ROCL_INTERNAL ? st : changed(db, err);
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
            rocl_status read = rocl_fail_system(err, ROCL_INPUT, db->path, errno);
            close_pages(db);
            return read;
        }
        describe(&st, file);
        if (memcmp(file, db->state.file, sizeof file)) {
            close_pages(db);
            return changed(db, err);
        }
        rocl_status read = rocl_btree_file_read(&db->pages, db->fd, &db->no_pages, err);
        if (read != ROCL_OK) {
            close_pages(db);
            if (read == ROCL_INPUT)
                rocl_wrap(err, "%s", db->path);
            return read;
        }
    }
    *why = db->no_pages;
    if (!*why)
        *f = &db->pages;
    return ROCL_OK;
}

static rocl_status objects_of_schema(const rocl_schema *s, rocl_db_object **objects, size_t *count,
                                     rocl_error *err)
{
    rocl_db_object *list = calloc(s->count, sizeof *list);
    size_t n = 0;
    bool memory = list;
    for (size_t i = 0; memory && i < s->count; i++) {
        const char *type = rocl_schema_text(s, s->rows[i].type);
        bool view = !strcmp(type, "view");
        if (!view && strcmp(type, "table") != 0)
            continue;
        list[n] = (rocl_db_object){strdup(rocl_schema_text(s, s->rows[i].name)), view};
        memory = list[n++].name;
    }
    if (!memory) {
        rocl_db_objects_free(list, n);
        return rocl_fail_memory(err);
    }
    *objects = list;
    *count = n;
    return ROCL_OK;
}

rocl_status rocl_db_objects(rocl_db *db, rocl_db_object **objects, size_t *count, rocl_error *err)
{
    if (!db->handle)
        return objects_of_schema(&db->schema, objects, count, err);

    static const char sql[] = "SELECT name, type='view' FROM main.sqlite_master WHERE type IN "
                              "('table','view') ORDER BY rowid";
    sqlite3_stmt *stmt = NULL;
    rocl_db_object *list = NULL;
    size_t n = 0, cap = 0;
    int rc = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        rc = SQLITE_OK;
        if (!ROCL_GROW(list, cap, n + 1))
            break;
        list[n] = (rocl_db_object){strdup(name ? name : ""), sqlite3_column_int(stmt, 1) != 0};
        if (!list[n].name)
            break;
        n++;
    }
    sqlite3_finalize(stmt);
    if (rc != SQLITE_DONE) {
        rocl_db_objects_free(list, n);
        return rc == SQLITE_OK ? rocl_fail_memory(err) : rocl_sqlite_fail(db, "sqlite_master", err);
    }
    *objects = list;
    *count = n;
    return ROCL_OK;
}

void rocl_db_objects_free(rocl_db_object *objects, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(objects[i].name);
    free(objects);
}
