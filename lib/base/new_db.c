/* SQLite opens files by name, but ours has none (O_TMPFILE). So we give it our own VFS, in which a
 * file is a descriptor that is already open. There are no locks and no journal: nobody else sees
 * the file, and after a failure it is thrown away. */
#include "base/new_db.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/destination.h"
#include "base/file.h"
#include "base/sqlite.h"

struct rocl_new_db {
    sqlite3 *handle;
    sqlite3_vfs vfs; /* registered while the database is open */
    char vfs_name[32];
    char *path;
    rocl_destination place;
    int fd;
    int broken; /* errno of the first write that failed */
};

/* SQLite's handle of an open file. */
typedef struct new_file {
    sqlite3_file base;
    rocl_new_db *db;
} new_file;

/* ---- one file ---- */

static int file_close(sqlite3_file *f)
{
    (void)f; /* the descriptor stays open: the file has yet to get its name */
    return SQLITE_OK;
}

static int file_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    rocl_new_db *db = ((new_file *)f)->db;
    ssize_t got = rocl_read_at(db->fd, to, (size_t)n, (uint64_t)at);
    if (got < 0) {
        db->broken = errno;
        return SQLITE_IOERR_READ;
    }
    if (got == n)
        return SQLITE_OK;
    memset((char *)to + got, 0, (size_t)(n - got)); /* beyond the end: zeros, by contract */
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
    rocl_new_db *db = ((new_file *)f)->db;
    if (rocl_write_at(db->fd, from, (size_t)n, (uint64_t)at))
        return SQLITE_OK;
    db->broken = db->broken ? db->broken : errno;
    return SQLITE_FULL; /* whatever the reason: see rocl_new_db_fail */
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return ftruncate(((new_file *)f)->db->fd, size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    struct stat st;
    if (fstat(((new_file *)f)->db->fd, &st) != 0)
        return SQLITE_IOERR_FSTAT;
    *size = st.st_size;
    return SQLITE_OK;
}

/* Locks, and syncs to a disk. */
static int do_nothing(sqlite3_file *f, int how)
{
    (void)f;
    (void)how;
    return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *f, int *reserved)
{
    (void)f;
    *reserved = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
    (void)f;
    (void)op;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int file_traits(sqlite3_file *f)
{
    (void)f;
    return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = do_nothing,
    .xFileSize = file_size,
    .xLock = do_nothing,
    .xUnlock = do_nothing,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xDeviceCharacteristics = file_traits,
};

/* ---- the VFS ---- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    new_file *file = (new_file *)f;
    (void)name;
    memset(file, 0, sizeof *file);
    if (!(flags & SQLITE_OPEN_MAIN_DB)) /* no journal, and temporary tables are in memory */
        return SQLITE_CANTOPEN;
    file->db = vfs->pAppData;
    file->base.pMethods = &methods;
    if (out)
        *out = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    (void)name;
    (void)sync;
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result)
{
    (void)vfs;
    (void)name;
    (void)flags;
    *result = 0;
    return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int size, char *to)
{
    (void)vfs;
    sqlite3_snprintf(size, to, "%s", name);
    return SQLITE_OK;
}

static void unregister_vfs(rocl_new_db *db)
{
    if (db->vfs.zName)
        sqlite3_vfs_unregister(&db->vfs);
    db->vfs.zName = NULL;
}

/* ---- what lies beside an older file of that name ----

   SQLite finds a log by the name of its database, and would apply one of the older file to ours. */

const char *const rocl_db_files[ROCL_DB_FILES] = {"", "-wal", "-shm", "-journal"};

enum { BESIDE = ROCL_DB_FILES - 1 };
static const char *const *const beside = rocl_db_files + 1;

typedef struct hidden_log {
    char name[NAME_MAX + 16];
    char hidden[48]; /* "": there is none */
} hidden_log;

static bool name_beside(const char *name, int i, char *to, size_t size)
{
    int n = snprintf(to, size, "%s%s", name, beside[i]);
    return n > 0 && (size_t)n < size;
}

/* Does somebody hold a lock on some of these bytes? */
static bool is_locked(int dir, const char *name, off_t first, off_t count)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = count};
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool locked = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return locked;
}

/* Bytes that SQLite locks, see its os.h and os_unix.c: a process that is about to write holds one
 * of the first two; one that has a database open in WAL mode always holds one of the others. */
static rocl_status refuse_open(int dir, const char *name, const char *path, rocl_error *err)
{
    enum { PENDING = 0x40000000, WRITERS = 2, ALL = 512, LOG_LOCKS = 120, LOG_LOCK_COUNT = 9 };
    char wal[PATH_MAX], shm[PATH_MAX];
    bool open = is_locked(dir, name, PENDING, WRITERS);
    if (!open && name_beside(name, 0, wal, sizeof wal) && name_beside(name, 1, shm, sizeof shm) &&
        faccessat(dir, wal, F_OK, 0) == 0)
        open = is_locked(dir, name, PENDING, ALL) || is_locked(dir, shm, LOG_LOCKS, LOG_LOCK_COUNT);
    return !open ? ROCL_OK
                 : rocl_fail(err, ROCL_OUTPUT,
                             "%s: another program has this database open: close it there, or name "
                             "another output",
                             path);
}

rocl_status rocl_new_db_refuse_open(const char *path, rocl_error *err)
{
    return refuse_open(AT_FDCWD, path, path, err);
}

static void restore_logs(const rocl_destination *pl, hidden_log *all)
{
    for (int i = 0; i < BESIDE; i++)
        if (all[i].hidden[0])
            renameat(pl->dir, all[i].hidden, pl->dir, all[i].name);
}

/* Renames all logs to hidden names. */
static rocl_status hide_logs(const rocl_new_db *db, hidden_log *all, rocl_error *err)
{
    const rocl_destination *pl = &db->place;
    for (int i = 0; i < BESIDE; i++) {
        uint64_t random;
        struct stat st;
        sqlite3_randomness(sizeof random, &random);
        if (!name_beside(pl->name, i, all[i].name, sizeof all[i].name) ||
            fstatat(pl->dir, all[i].name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        snprintf(all[i].hidden, sizeof all[i].hidden, ".rocline-%016llx",
                 (unsigned long long)random);
        if (renameat(pl->dir, all[i].name, pl->dir, all[i].hidden) == 0)
            continue;
        rocl_fail(err, ROCL_OUTPUT, "%s%s: the log of an older database cannot be removed: %s",
                  db->path, beside[i], strerror(errno));
        all[i].hidden[0] = '\0';
        restore_logs(pl, all);
        return ROCL_OUTPUT;
    }
    return ROCL_OK;
}

/* ---- the database ---- */

sqlite3 *rocl_new_db_handle(rocl_new_db *db)
{
    return db->handle;
}

rocl_status rocl_new_db_fail(rocl_new_db *db, const char *what, rocl_error *err)
{
    int rc = sqlite3_errcode(db->handle);
    if (db->broken)
        return rocl_fail_write(err, db->path, db->broken);
    if (rc == SQLITE_FULL)
        return rocl_fail(err, ROCL_OUTPUT, "%s: %s", what, sqlite3_errmsg(db->handle));
    return rocl_sqlite_error(db->handle, what, err);
}

rocl_status rocl_new_db_exec(rocl_new_db *db, const char *sql, rocl_error *err)
{
    if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK)
        return ROCL_OK;
    rocl_status st = rocl_new_db_fail(db, db->path, err);
    return st == ROCL_INPUT ? rocl_fail(err, ROCL_INTERNAL, "%s: %s: %.200s", db->path,
                                        sqlite3_errmsg(db->handle), sql)
                            : st;
}

static rocl_status refuse_special_file(const char *path, rocl_error *err)
{
    return rocl_fail(err, ROCL_OUTPUT, "%s: a database can only be written to a regular file",
                     path);
}

rocl_status rocl_new_db_open(rocl_new_db **out, const char *path, size_t cache, rocl_error *err)
{
    rocl_new_db *db = calloc(1, sizeof *db);
    *out = NULL;
    if (!db)
        return rocl_fail_memory(err);
    db->fd = -1;
    db->path = strdup(path);
    struct stat info; /* opening a pipe would wait for its reader */
    const bool special = stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
    rocl_status st = !db->path ? rocl_fail_memory(err)
                     : special ? refuse_special_file(path, err)
                               : rocl_destination_open(&db->place, &db->fd, path, err);
    if (st == ROCL_OK && !db->place.replaces) /* it has become special meanwhile */
        st = refuse_special_file(path, err);
    if (st == ROCL_OK)
        st = refuse_open(db->place.dir, db->place.name, path, err);
    const sqlite3_vfs *plain = sqlite3_vfs_find(NULL);
    if (st == ROCL_OK && !plain)
        st = rocl_fail(err, ROCL_INTERNAL, "SQLite knows no file system");
    if (st == ROCL_OK) {
        db->vfs = *plain; /* for random numbers and the time */
        sqlite3_snprintf(sizeof db->vfs_name, db->vfs_name, "rocline-new-%d", db->fd);
        db->vfs.zName = db->vfs_name;
        db->vfs.pAppData = db;
        db->vfs.pNext = NULL;
        db->vfs.szOsFile = (int)sizeof(new_file);
        db->vfs.xOpen = vfs_open;
        db->vfs.xDelete = vfs_delete;
        db->vfs.xAccess = vfs_access;
        db->vfs.xFullPathname = vfs_full_path;
        if (sqlite3_vfs_register(&db->vfs, 0) != SQLITE_OK)
            st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK) {
        int rc = sqlite3_open_v2("new", &db->handle,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI |
                                     SQLITE_OPEN_NOMUTEX,
                                 db->vfs_name);
        if (!db->handle || rc == SQLITE_NOMEM)
            st = rocl_fail_memory(err);
        else if (rc != SQLITE_OK)
            st = rocl_new_db_fail(db, path, err);
    }
    if (st == ROCL_OK) {
        char pragmas[160];
        sqlite3_snprintf(sizeof pragmas, pragmas,
                         "PRAGMA temp_store=MEMORY; PRAGMA main.journal_mode=OFF; "
                         "PRAGMA main.synchronous=OFF; PRAGMA main.cache_size=-%lld",
                         (long long)(cache >> 10));
        st = rocl_new_db_exec(db, pragmas, err);
        rocl_sqlite_harden(db->handle, false); /* its schema is copied row by row */
    }
    if (st != ROCL_OK) {
        rocl_new_db_discard(db);
        return st;
    }
    *out = db;
    return ROCL_OK;
}

rocl_status rocl_new_db_close(rocl_new_db *db, uint64_t *bytes, rocl_error *err)
{
    struct stat st;
    if (sqlite3_close(db->handle) != SQLITE_OK)
        return rocl_new_db_fail(db, db->path, err);
    db->handle = NULL;
    unregister_vfs(db);
    if (db->broken || fstat(db->fd, &st) != 0)
        return rocl_fail_write(err, db->path, db->broken ? db->broken : errno);
    *bytes = (uint64_t)st.st_size;
    return ROCL_OK;
}

rocl_status rocl_new_db_commit(rocl_new_db *db, rocl_error *err)
{
    hidden_log logs[BESIDE] = {{.name = ""}};
    rocl_status st = refuse_open(db->place.dir, db->place.name, db->path, err);
    if (st == ROCL_OK)
        st = hide_logs(db, logs, err);
    if (st == ROCL_OK)
        st = rocl_destination_link(&db->place, db->fd, db->path, err);
    if (st == ROCL_OK)
        st = rocl_destination_replace(&db->place, db->path, err);
    /* The folder was closed; if it no longer exists, neither do the logs. */
    if (rocl_destination_resume(&db->place, db->path, NULL) == ROCL_OK) {
        for (int i = 0; i < BESIDE && st == ROCL_OK; i++)
            if (logs[i].hidden[0])
                unlinkat(db->place.dir, logs[i].hidden, 0);
        if (st != ROCL_OK)
            restore_logs(&db->place, logs);
    }
    rocl_new_db_discard(db);
    return st;
}

void rocl_new_db_discard(rocl_new_db *db)
{
    if (!db)
        return;
    sqlite3_close(db->handle);
    unregister_vfs(db);
    if (db->fd >= 0)
        close(db->fd);
    rocl_destination_close(&db->place);
    free(db->path);
    free(db);
}
