#include "base/out_place.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* The path that a symbolic link stands for, relative ones taken from the link's folder. NULL with
 * errno set; EINVAL: path is no link. */
static char *follow_link(const char *path)
{
    char to[PATH_MAX];
    ssize_t n = readlink(path, to, sizeof to - 1);
    if (n < 0)
        return NULL;
    to[n] = '\0';
    const char *slash = strrchr(path, '/');
    if (to[0] == '/' || !slash)
        return strdup(to);
    char *joined = NULL;
    return asprintf(&joined, "%.*s/%s", (int)(slash - path), path, to) < 0 ? NULL : joined;
}

/* The end of a chain of links, which need not exist. */
static char *follow_links(const char *path)
{
    char *at = strdup(path);
    for (int i = 0; at && i < 40; i++) {
        char *next = follow_link(at);
        if (!next) {
            if (errno !=
                ENOMEM) /* no link; if it cannot even be reached, opening it will say why */
                return at;
            free(at);
            return NULL;
        }
        free(at);
        at = next;
    }
    if (!at)
        return NULL;
    free(at);
    errno = ELOOP;
    return NULL;
}

rocl_status rocl_place_wake(rocl_place *pl, const char *path, rocl_error *err)
{
    if (!pl->replaces || pl->dir >= 0)
        return ROCL_OK;
    pl->dir = open(pl->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (pl->dir >= 0)
        return ROCL_OK;
    if (errno == ENOENT)
        return rocl_fail(err, ROCL_OUTPUT, "%s: the folder %s does not exist", path, pl->folder);
    return rocl_fail(err, ROCL_OUTPUT, "%s: the folder %s: %s", path, pl->folder, strerror(errno));
}

/* `real` without its links: opens its folder, keeps its name. */
static rocl_status open_folder(rocl_place *pl, char *real, const char *path, rocl_error *err)
{
    char *slash = strrchr(real, '/');
    const char *name = slash ? slash + 1 : real;
    if (!*name)
        return rocl_fail(err, ROCL_OUTPUT, "%s: is not a file name", *path ? path : "\"\"");
    pl->name = strdup(name);
    if (!pl->name)
        return rocl_fail_memory(err);
    if (slash)
        slash[slash == real] = '\0';
    pl->folder = strdup(slash ? real : ".");
    return pl->folder ? rocl_place_wake(pl, path, err) : rocl_fail_memory(err);
}

static rocl_status find_folder(rocl_place *pl, const char *path, rocl_error *err)
{
    char *real = follow_links(path);
    if (!real)
        return fail_errno(err, path, "cannot follow the link");
    rocl_status st = open_folder(pl, real, path, err);
    free(real);
    return st;
}

/* ---- the file without its name ------------------------------------------------------------- */

static void hidden_name(rocl_place *pl)
{
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) < 0)
        random = (uint64_t)(uintptr_t)pl ^ (uint64_t)getpid() << 32;
    snprintf(pl->hidden, sizeof pl->hidden, ".rocline-%016llx", (unsigned long long)random);
}

static void proc_path(char *p, size_t size, int fd)
{
    snprintf(p, size, "/proc/self/fd/%d", fd);
}

/* -1 where the file system has no O_TMPFILE, or there is no /proc to give a name through. */
static int open_nameless(const rocl_place *pl)
{
    int fd = openat(pl->dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    char proc[40];
    proc_path(proc, sizeof proc, fd);
    if (access(proc, F_OK) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The file that has just got its hidden name is not to outlive a signal. */
static void note_hidden(rocl_place *pl)
{
    char *path;
    if (!pl->hidden[0] || asprintf(&path, "%s/%s", pl->folder, pl->hidden) < 0)
        return;
    rocl_unfinished_add(&pl->unfinished, path);
    free(path);
}

static int create_hidden(rocl_place *pl)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        hidden_name(pl);
        int fd = openat(pl->dir, pl->hidden, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            break;
    }
    pl->hidden[0] = '\0';
    return -1;
}

static int open_hidden(rocl_place *pl)
{
    rocl_unfinished_hold();
    int fd = create_hidden(pl), why = errno;
    note_hidden(pl);
    rocl_unfinished_release();
    errno = why;
    return fd;
}

static rocl_status open_replacement(rocl_place *pl, int *fd, const char *path, rocl_error *err)
{
    rocl_status st = find_folder(pl, path, err);
    if (st)
        return st;
    *fd = open_nameless(pl);
    if (*fd < 0)
        *fd = open_hidden(pl);
    return *fd < 0 ? fail_errno(err, path, "cannot create") : ROCL_OK;
}

rocl_status rocl_place_open(rocl_place *pl, int *fd, const char *path, rocl_error *err)
{
    *pl = (rocl_place){.dir = -1};
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return rocl_fail(err, ROCL_OUTPUT, "%s: is a folder", path);
    if (exists && !S_ISREG(info.st_mode)) {
        *fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return *fd < 0 ? fail_errno(err, path, "cannot open") : ROCL_OK;
    }
    /* A rename would not ask whether the file is write-protected. */
    if (exists && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
        return fail_errno(err, path, "cannot write");
    pl->replaces = true;
    rocl_status st = open_replacement(pl, fd, path, err);
    if (st)
        rocl_place_close(pl);
    return st;
}

/* ---- its name ------------------------------------------------------------------------------ */

/* Under a name that is free; 0, or -1 with errno. */
static int link_hidden(rocl_place *pl, const char *proc)
{
    int rc = -1;
    rocl_unfinished_hold();
    errno = EEXIST;
    for (int i = 0; rc && errno == EEXIST && i < NAME_TRIES; i++) {
        hidden_name(pl);
        rc = linkat(AT_FDCWD, proc, pl->dir, pl->hidden, AT_SYMLINK_FOLLOW);
    }
    int why = errno;
    if (rc)
        pl->hidden[0] = '\0';
    note_hidden(pl);
    rocl_unfinished_release();
    errno = why;
    return rc;
}

rocl_status rocl_place_rest(rocl_place *pl, int fd, const char *path, rocl_error *err)
{
    char proc[40];
    if (!pl->replaces)
        return ROCL_OK;
    proc_path(proc, sizeof proc, fd);
    if (!pl->hidden[0] && link_hidden(pl, proc))
        return fail_errno(err, path, "cannot create");
    close(pl->dir);
    pl->dir = -1;
    return ROCL_OK;
}

rocl_status rocl_place_link(rocl_place *pl, int fd, const char *path, rocl_error *err)
{
    if (!pl->replaces || pl->hidden[0])
        return ROCL_OK;
    char proc[40];
    proc_path(proc, sizeof proc, fd);
    int rc = linkat(AT_FDCWD, proc, pl->dir, pl->name, AT_SYMLINK_FOLLOW);
    /* The target exists: only a rename replaces it, and a rename needs a name. */
    if (rc && errno == EEXIST)
        rc = link_hidden(pl, proc);
    return rc ? fail_errno(err, path, "cannot create") : ROCL_OK;
}

rocl_status rocl_place_rename(rocl_place *pl, const char *path, rocl_error *err)
{
    if (!pl->hidden[0])
        return ROCL_OK;
    if (renameat(pl->dir, pl->hidden, pl->dir, pl->name))
        return fail_errno(err, path, "cannot replace");
    rocl_unfinished_drop(&pl->unfinished);
    pl->hidden[0] = '\0';
    return ROCL_OK;
}

void rocl_place_close(rocl_place *pl)
{
    if (!pl->replaces)
        return;
    if (pl->hidden[0] && rocl_place_wake(pl, pl->name, NULL) == ROCL_OK)
        unlinkat(pl->dir, pl->hidden, 0);
    rocl_unfinished_drop(&pl->unfinished);
    if (pl->dir >= 0)
        close(pl->dir);
    free(pl->folder);
    free(pl->name);
    *pl = (rocl_place){.dir = -1};
}
