/* Outputs that are not complete yet, and the folders made for them. One lock for all: files get and
 * lose names only under it, so that rocl_abandon_outputs() misses nothing. */
#include "base/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sync.h"

/* Recursive: outputs that are completed together hold it for the whole time. It is made when first
 * taken, as not every C library has an initializer for such locks. */
static pthread_once_t lock_made = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock;
static rocl_unfinished *all_unfinished;

static void make_lock(void)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

void rocl_unfinished_hold(void)
{
    pthread_once(&lock_made, make_lock);
    pthread_mutex_lock(&lock);
}

void rocl_unfinished_release(void)
{
    pthread_mutex_unlock(&lock);
}

/* A folder is locked by a lock on its open file: it ends with the process, however that ends, and
 * leaves nothing behind. It is taken first, so that waiting for it does not block
 * rocl_abandon_outputs(). The wait is limited, as the folder may be locked by somebody who waits
 * for us. */
enum { LOCK_TRIES = 1000, LOCK_PAUSE_US = 10000 };
static _Thread_local struct {
    int depth, fd;
} folder_lock;

void rocl_unfinished_hold_folder(const char *folder)
{
    if (folder_lock.depth++ == 0) {
        const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
            if (flock(fd, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR))
                break;
            usleep(LOCK_PAUSE_US);
        }
        folder_lock.fd = fd;
    }
    rocl_unfinished_hold();
}

void rocl_unfinished_release_folder(void)
{
    rocl_unfinished_release();
    if (--folder_lock.depth == 0 && folder_lock.fd >= 0)
        close(folder_lock.fd);
}

bool rocl_unfinished_add(rocl_unfinished *u, const char *path)
{
    u->path = strdup(path);
    if (!u->path)
        return false;
    u->next = all_unfinished;
    u->link = &all_unfinished;
    if (all_unfinished)
        all_unfinished->link = &u->next;
    all_unfinished = u;
    return true;
}

void rocl_unfinished_drop(rocl_unfinished *u)
{
    if (!u->path)
        return;
    rocl_unfinished_hold();
    *u->link = u->next;
    if (u->next)
        u->next->link = u->link;
    rocl_unfinished_release();
    free(u->path);
    *u = (rocl_unfinished){0};
}

/* Outputs are one or two folders deep; anything deeper belongs to others. */
enum { DEEPEST = 32 };

/* Removes a file, or a folder with its contents. Anything that stays behind has a hidden name. No
 * call here needs memory: the lack of it may be why the output is given up. */
static bool remove_at(int folder, const char *name, int depth)
{
    if (unlinkat(folder, name, 0) == 0)
        return true;
    if (unlinkat(folder, name, AT_REMOVEDIR) == 0)
        return true;
    int fd = -1;
    for (int tries = 0; fd < 0 && tries < 3; tries++) /* files may be closed meanwhile */
        fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool again = depth < DEEPEST; /* some file systems skip names when others are removed */
    while (again) {
        alignas(struct dirent64) char entries[2048];
        bool removed = false;
        for (ssize_t n; (n = getdents64(fd, (void *)entries, sizeof entries)) > 0;)
            for (ssize_t at = 0; at < n;) {
                const struct dirent64 *e = (const struct dirent64 *)(entries + at);
                at += e->d_reclen;
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                    removed |= remove_at(fd, e->d_name, depth + 1);
            }
        again = removed && lseek(fd, 0, SEEK_SET) == 0;
    }
    close(fd);
    return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

void rocl_unfinished_remove(const char *path)
{
    remove_at(AT_FDCWD, path, 0);
}

/* ---- folders of outputs: made with their parents, removed where they stay empty ------------ */

/* Folders that were made, the last one first; under the lock of unfinished outputs. */
typedef struct made_dir {
    struct made_dir *before;
    char path[];
} made_dir;

static made_dir *made_dirs;

/* Most exist: then nothing is made or noted, and no lock is needed. */
static int make_dir(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0)
        return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
    made_dir *m =
        malloc(sizeof *m + strlen(path) + 1); /* allocated before there is a folder to remove */
    if (!m)
        return ENOMEM;
    rocl_unfinished_hold();
    const bool fresh = mkdir(path, 0777) == 0;
    const int why = errno; /* EEXIST, but also EROFS or EACCES if it exists */
    if (fresh) {
        strcpy(m->path, path);
        m->before = made_dirs;
        made_dirs = m;
    }
    rocl_unfinished_release();
    if (!fresh)
        free(m);
    if (fresh) {
        char parent[PATH_MAX];
        const char *slash = strrchr(path, '/');
        const int n = slash ? (int)(slash - path) + 1 : 0;
        return snprintf(parent, sizeof parent, "%.*s", n, path) >= PATH_MAX ||
                       rocl_sync_folder(AT_FDCWD, n ? parent : ".")
                   ? 0
                   : errno;
    }
    if (stat(path, &info))
        return why == EEXIST ? errno : why;
    return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

static void remove_empty_dirs(void)
{
    while (made_dirs) {
        made_dir *m = made_dirs;
        made_dirs = m->before;
        rmdir(m->path);
        free(m);
    }
}

void rocl_remove_empty_dirs(void)
{
    rocl_unfinished_hold();
    remove_empty_dirs();
    rocl_unfinished_release();
}

rocl_status rocl_make_dirs(const char *path, rocl_error *err)
{
    if (!*path)
        return rocl_fail(err, ROCL_OUTPUT, "\"\": is not a folder name");
    char *copy = strdup(path);
    if (!copy)
        return rocl_fail_memory(err);
    /* Every prefix that ends at a slash, then the whole path unless it ends at one. */
    int why = 0;
    char *p = copy + 1;
    for (; *p && !why; p++) {
        if (*p != '/' || p[-1] == '/')
            continue;
        *p = '\0';
        why = make_dir(copy);
        *p = '/';
    }
    if (!why && p[-1] != '/')
        why = make_dir(copy);
    free(copy);
    if (why == ENOMEM)
        return rocl_fail_memory(err);
    if (why)
        return rocl_fail(err, ROCL_OUTPUT, "%s: cannot create the folder: %s", path, strerror(why));
    return ROCL_OK;
}

/* ---- the end by a signal ------------------------------------------------------------------- */

void rocl_abandon_outputs(void)
{
    rocl_unfinished_hold(); /* never released: nothing must be completed from now on */
    for (const rocl_unfinished *u = all_unfinished; u; u = u->next) {
        /* Renamed first, so that nobody can put more files into the folder. */
        char gone[PATH_MAX];
        int n = snprintf(gone, sizeof gone, "%s-", u->path);
        bool moved = n < PATH_MAX && rename(u->path, gone) == 0;
        rocl_unfinished_remove(moved ? gone : u->path);
    }
    remove_empty_dirs();
}
