/* Where an output file is to appear: its folder, its name there, the hidden name until then. */
#include "base/destination.h"

#include "base/error.h"
#include "base/guard.h"
#include "base/out.h"
#include "base/sync.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_TRIES = 100 };

static rocl_status fail_errno(rocl_error *err, const char *path, const char *what)
{
    return rocl_fail(err, ROCL_OUTPUT, "%s: %s: %s", path, what, strerror(errno));
}

/* ---- finding the folder and name ----------------------------------------------------------- */

/* Folders that stay open as long as an output in them does: most outputs of a run are in one. More
 * folders than these are not shared. This allocates no memory, as its lack may be why an output is
 * given up. */
enum { SHARED_FOLDERS = 16 };
typedef struct rocl_open_folder {
    int fd;
    dev_t device;
    ino_t inode;
    unsigned users; /* 0: the entry is free */
} rocl_open_folder;

static pthread_mutex_t folders_lock = PTHREAD_MUTEX_INITIALIZER;
static rocl_open_folder open_folders[SHARED_FOLDERS];

/* Called under the lock. *info describes the folder. False: see errno. */
static bool take_folder(rocl_destination *pl, struct stat *info)
{
    const bool there = stat(pl->folder, info) == 0;
    rocl_open_folder *open_one = NULL, *unused = NULL;
    for (rocl_open_folder *f = open_folders; f < open_folders + SHARED_FOLDERS; f++)
        if (!f->users)
            unused = f;
        else if (there && f->device == info->st_dev && f->inode == info->st_ino)
            open_one = f;
    const int fd = open_one ? open_one->fd : open(pl->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!open_one && (fd < 0 || fstat(fd, info) != 0)) {
        const int why = errno;
        if (fd >= 0)
            close(fd);
        errno = why;
        return false;
    }
    if (!open_one && unused) {
        *unused = (rocl_open_folder){.fd = fd, .device = info->st_dev, .inode = info->st_ino};
        open_one = unused;
    }
    if (open_one)
        open_one->users++;
    pl->shared = open_one;
    pl->dir = fd;
    return true;
}

static void close_folder(rocl_destination *pl)
{
    pthread_mutex_lock(&folders_lock);
    if (pl->replaces && pl->dir >= 0 && (!pl->shared || --pl->shared->users == 0))
        close(pl->dir);
    pl->shared = NULL;
    pl->dir = -1;
    pthread_mutex_unlock(&folders_lock);
}

rocl_status rocl_destination_resume(rocl_destination *pl, const char *path, rocl_error *err)
{
    struct stat info;
    if (!pl->replaces || pl->dir >= 0)
        return ROCL_OK;
    pthread_mutex_lock(&folders_lock);
    const bool taken = take_folder(pl, &info);
    const int why = errno;
    pthread_mutex_unlock(&folders_lock);
    if (!taken && why == ENOENT)
        return rocl_fail(err, ROCL_OUTPUT, "%s: the folder %s does not exist", path, pl->folder);
    if (!taken)
        return rocl_fail(err, ROCL_OUTPUT, "%s: the folder %s: %s", path, pl->folder,
                         strerror(why));
    if (pl->inode && (info.st_dev != pl->device || info.st_ino != pl->inode)) {
        close_folder(pl);
        return rocl_fail(err, ROCL_OUTPUT, "%s: the folder %s was replaced meanwhile", path,
                         pl->folder);
    }
    pl->device = info.st_dev;
    pl->inode = info.st_ino;
    return ROCL_OK;
}

/* Opens the folder of `path`, keeps the name. */
static rocl_status open_folder(rocl_destination *pl, const char *at, const char *path,
                               rocl_error *err)
{
    const char *slash = strrchr(at, '/'), *name = slash ? slash + 1 : at;
    if (!*name)
        return rocl_fail(err, ROCL_OUTPUT, "%s: is not a file name", *path ? path : "\"\"");
    close_folder(pl);
    pl->inode = 0;
    free(pl->folder);
    free(pl->name);
    pl->name = strdup(name);
    pl->folder = !slash ? strdup(".") : strndup(at, slash == at ? 1 : (size_t)(slash - at));
    return pl->folder && pl->name ? rocl_destination_resume(pl, path, err) : rocl_fail_memory(err);
}

/* *target is the path that the last name of the path links to; NULL: it is not a link. Replacing
 * the link meanwhile has no effect: the link that is checked is the one that is read. As the kernel
 * does with fs.protected_symlinks, links of other users are not followed in folders where everybody
 * may create links. The kernel cannot decide that for us, since it follows a link to nothing only
 * when it creates the file. */
static rocl_status follow_link(const rocl_destination *pl, char **target, const char *path,
                               rocl_error *err)
{
    char to[PATH_MAX];
    struct stat folder = {0}, link = {0};
    ssize_t n = -1;
    *target = NULL;
    int fd = openat(pl->dir, pl->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) /* if it cannot be reached, opening it will say why */
        return ROCL_OK;
    bool known = fstat(fd, &link) == 0 && fstat(pl->dir, &folder) == 0;
    bool is_link = known && S_ISLNK(link.st_mode);
    errno = EACCES;
    bool shared = (folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH);
    if (is_link && (!shared || link.st_uid == geteuid() || link.st_uid == folder.st_uid))
        n = readlinkat(fd, "", to, sizeof to - 1);
    rocl_status st = is_link && n < 0 ? fail_errno(err, path, "cannot follow the link") : ROCL_OK;
    close(fd);
    if (n < 0)
        return st;
    to[n] = '\0';
    *target = to[0] == '/' ? strdup(to) : rocl_new_text("%s/%s", pl->folder, to);
    return *target ? ROCL_OK : rocl_fail_memory(err);
}

/* ---- the file without its name ------------------------------------------------------------- */

static void hidden_name(char name[static 40])
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) < 0)
        random = (uint64_t)(uintptr_t)name ^ (uint64_t)getpid() << 32;
    snprintf(name, 40, ".rocline-%016llx", (unsigned long long)random);
}

/* The file that has just got a hidden name must not outlive a signal. */
static void note_unfinished(rocl_unfinished *u, const rocl_destination *pl, const char *name)
{
    char *path = *name ? rocl_new_text("%s/%s", pl->folder, name) : NULL;
    if (path)
        rocl_unfinished_add(u, path);
    free(path);
}

/* Creates the file: without a name, or under a hidden one where the file system has no O_TMPFILE or
 * there is no /proc to give a name through. -1 and errno. */
static int create_file(rocl_destination *pl)
{
    static atomic_bool has_proc;
    char proc[40];
    int fd = openat(pl->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666), why = EEXIST;
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    if (fd >= 0 && (atomic_load(&has_proc) || access(proc, F_OK) == 0)) {
        atomic_store(&has_proc, true);
        return fd;
    }
    if (fd >= 0)
        close(fd);
    fd = -1;
    rocl_unfinished_hold();
    for (int i = 0; fd < 0 && i < NAME_TRIES && why == EEXIST; i++) {
        hidden_name(pl->hidden);
        fd = openat(pl->dir, pl->hidden, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
        why = errno;
    }
    if (fd < 0)
        pl->hidden[0] = '\0';
    note_unfinished(&pl->unfinished, pl, pl->hidden);
    rocl_unfinished_release();
    errno = why;
    return fd;
}

rocl_status rocl_destination_open(rocl_destination *pl, int *fd, const char *path, rocl_error *err)
{
    *pl = (rocl_destination){.dir = -1};
    struct stat info;
    bool exists = stat(path, &info) == 0;
    int why = exists ? 0 : errno;
    if (exists && S_ISDIR(info.st_mode))
        return rocl_fail(err, ROCL_OUTPUT, "%s: is a folder", path);
    if (exists && !S_ISREG(info.st_mode)) {
        /* A device or a pipe. If it has become a file since then, it is not overwritten. */
        *fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (*fd < 0)
            return fail_errno(err, path, "cannot open");
        if (fstat(*fd, &info) == 0 && !S_ISREG(info.st_mode))
            return ROCL_OK;
        close(*fd);
        *fd = -1;
        return rocl_fail(err, ROCL_OUTPUT, "%s: was replaced meanwhile", path);
    }
    if (exists && rocl_guard_check(&info, err) != ROCL_OK)
        return ROCL_USAGE;
    /* A rename would not check whether the file is write-protected. */
    if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
        return rocl_fail_write(err, path, errno);
    pl->replaces = true;
    char *to = NULL;
    rocl_status st = open_folder(pl, path, path, err);
    /* Goes to the end of a chain of links, which need not exist. */
    for (int i = 0; st == ROCL_OK && (st = follow_link(pl, &to, path, err)) == ROCL_OK && to; i++) {
        errno = ELOOP;
        st = i < 40 ? open_folder(pl, to, path, err)
                    : fail_errno(err, path, "cannot follow the link");
        free(to);
    }
    errno = why; /* other than ENOENT: a name that is too long, for example */
    if (st == ROCL_OK && ((why && why != ENOENT) || (*fd = create_file(pl)) < 0))
        st = fail_errno(err, path, "cannot create");
    if (st)
        rocl_destination_close(pl);
    return st;
}

/* ---- its name ------------------------------------------------------------------------------ */

/* After ENOENT: another run, which failed, found the folder empty and removed it. */
static bool make_folder_again(rocl_destination *pl)
{
    if (errno != ENOENT)
        return false;
    close_folder(pl);
    pl->inode = 0;
    bool made = rocl_make_dirs(pl->folder, NULL) == ROCL_OK &&
                rocl_destination_resume(pl, pl->name, NULL) == ROCL_OK;
    errno = ENOENT;
    return made;
}

/* Gives a nameless file a hidden name that is free. */
static rocl_status hide_file(rocl_destination *pl, int fd, const char *path, rocl_error *err)
{
    char proc[40];
    int rc = -1;
    if (pl->hidden[0])
        return ROCL_OK;
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    for (int tries = 0; rc && (!tries || (tries == 1 && make_folder_again(pl))); tries++) {
        rocl_unfinished_hold();
        errno = EEXIST;
        for (int i = 0; rc && errno == EEXIST && i < NAME_TRIES; i++) {
            hidden_name(pl->hidden);
            rc = linkat(AT_FDCWD, proc, pl->dir, pl->hidden, AT_SYMLINK_FOLLOW);
        }
        int why = errno;
        if (rc)
            pl->hidden[0] = '\0';
        note_unfinished(&pl->unfinished, pl, pl->hidden);
        rocl_unfinished_release();
        errno = why;
    }
    return rc ? fail_errno(err, path, "cannot create") : ROCL_OK;
}

/* Before the file has its name: after a loss of power there must be no name without the bytes. A
 * closed file (-1) was synced before. */
static rocl_status sync_bytes(const rocl_destination *pl, int fd, const char *path, rocl_error *err)
{
    return !pl->replaces || fd < 0 || rocl_sync_file(fd) ? ROCL_OK
                                                         : fail_errno(err, path, "cannot write");
}

rocl_status rocl_destination_suspend(rocl_destination *pl, int fd, bool close, const char *path,
                                     rocl_error *err)
{
    rocl_status st = sync_bytes(pl, fd, path, err);
    if (st == ROCL_OK && pl->replaces)
        st = hide_file(pl, fd, path, err);
    if (st == ROCL_OK && close)
        close_folder(pl);
    return st;
}

rocl_status rocl_destination_show(rocl_destination *pl, int fd, char **shown, const char *path,
                                  rocl_error *err)
{
    *shown = NULL;
    const rocl_status st = hide_file(pl, fd, path, err);
    if (st != ROCL_OK)
        return st;
    char *folder = realpath(pl->folder, NULL);
    if (!folder)
        return fail_errno(err, path, "cannot create");
    *shown = rocl_new_text("%s/%s", folder, pl->hidden);
    free(folder);
    return *shown ? ROCL_OK : rocl_fail_memory(err);
}

rocl_status rocl_destination_link(rocl_destination *pl, int fd, const char *path, rocl_error *err)
{
    rocl_status st = sync_bytes(pl, fd, path, err);
    if (st != ROCL_OK || !pl->replaces || pl->hidden[0])
        return st;
    char proc[40];
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
    int rc = linkat(AT_FDCWD, proc, pl->dir, pl->name, AT_SYMLINK_FOLLOW);
    if (rc && make_folder_again(pl))
        rc = linkat(AT_FDCWD, proc, pl->dir, pl->name, AT_SYMLINK_FOLLOW);
    /* The target exists: only a rename replaces it, and a rename needs a name. */
    if (rc && errno == EEXIST)
        return hide_file(pl, fd, path, err);
    return rc ? fail_errno(err, path, "cannot create") : ROCL_OK;
}

rocl_status rocl_destination_sync_folder(const rocl_destination *pl, rocl_error *err)
{
    return !pl->replaces || rocl_sync_folder(AT_FDCWD, pl->folder)
               ? ROCL_OK
               : fail_errno(err, pl->folder, "cannot sync the folder");
}

rocl_status rocl_destination_publish(rocl_destination *pl, const char *path, rocl_error *err)
{
    if (!pl->replaces)
        return ROCL_OK;
    rocl_status st = rocl_destination_resume(pl, path, err);
    if (st)
        return st;
    /* The former file keeps a second name; if the file system cannot do that, there is no way
     * back. */
    hidden_name(pl->former);
    if (linkat(pl->dir, pl->name, pl->dir, pl->former, 0)) {
        pl->for_good = errno != ENOENT;
        pl->former[0] = '\0';
    }
    note_unfinished(&pl->replaced, pl, pl->former);
    pl->named = renameat(pl->dir, pl->hidden, pl->dir, pl->name) == 0;
    st = pl->named ? ROCL_OK : fail_errno(err, path, "cannot replace");
    close_folder(pl);
    return st;
}

void rocl_destination_revert(rocl_destination *pl)
{
    if (!pl->named || pl->for_good)
        return;
    const char *from = *pl->former ? pl->former : pl->name;
    const char *to = *pl->former ? pl->name : pl->hidden;
    char from_path[PATH_MAX], to_path[PATH_MAX];
    /* By their paths if the folder cannot be opened again. */
    const bool open = rocl_destination_resume(pl, pl->name, NULL) == ROCL_OK;
    snprintf(from_path, sizeof from_path, "%s/%s", pl->folder, from);
    snprintf(to_path, sizeof to_path, "%s/%s", pl->folder, to);
    if ((open ? renameat(pl->dir, from, pl->dir, to) : rename(from_path, to_path)) == 0)
        pl->named = false;
    close_folder(pl);
}

/* What was there before is kept until the new name is on disk. */
rocl_status rocl_destination_replace(rocl_destination *pl, const char *path, rocl_error *err)
{
    if (!pl->replaces)
        return ROCL_OK;
    const bool hidden = pl->hidden[0];
    rocl_unfinished_hold();
    rocl_status st = hidden ? rocl_destination_publish(pl, path, err) : ROCL_OK;
    if (st == ROCL_OK)
        st = rocl_destination_sync_folder(pl, err);
    if (st != ROCL_OK && hidden)
        rocl_destination_revert(pl);
    else if (st != ROCL_OK)
        unlinkat(pl->dir, pl->name, 0);
    rocl_unfinished_release();
    return st;
}

static void remove_hidden(rocl_destination *pl, rocl_unfinished *u, const char *name)
{
    if (*name && rocl_destination_resume(pl, pl->name, NULL) == ROCL_OK)
        unlinkat(pl->dir, name, 0);
    else if (*name && u->path) /* a name of 64 random bits is ours, even by its path */
        unlink(u->path);
    rocl_unfinished_drop(u);
}

void rocl_destination_close(rocl_destination *pl)
{
    if (!pl->replaces)
        return;
    remove_hidden(pl, &pl->unfinished, pl->named ? "" : pl->hidden);
    remove_hidden(pl, &pl->replaced, pl->former);
    close_folder(pl);
    free(pl->folder);
    free(pl->name);
    *pl = (rocl_destination){.dir = -1};
}
