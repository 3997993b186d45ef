#include "base/unfinished.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static rocl_unfinished *all;

void rocl_unfinished_hold(void)
{
    pthread_mutex_lock(&lock);
}

void rocl_unfinished_release(void)
{
    pthread_mutex_unlock(&lock);
}

bool rocl_unfinished_add(rocl_unfinished *u, const char *path)
{
    u->path = strdup(path);
    if (!u->path)
        return false;
    u->next = all;
    u->link = &all;
    if (all)
        all->link = &u->next;
    all = u;
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

/* Outputs have a folder or two in one another; what is deeper is not ours. */
enum { DEEPEST = 32 };

static void empty_folder(int folder, int depth);

/* What stays behind has no name that anybody looks for. */
static bool remove_in(int folder, const char *name, int depth)
{
    if (unlinkat(folder, name, 0) == 0)
        return true;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (depth < DEEPEST)
        empty_folder(fd, depth + 1);
    close(fd);
    return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* Without a call that needs memory: it may be why the output is given up. */
static void empty_folder(int folder, int depth)
{
    alignas(struct dirent64) char entries[2048];
    bool removed = false;
    for (ssize_t n; (n = getdents64(folder, entries, sizeof entries)) > 0;)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const struct dirent64 *)(entries + at);
            at += e->d_reclen;
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                removed |= remove_in(folder, e->d_name, depth);
        }
    /* Some file systems skip names when others go. */
    if (removed && lseek(folder, 0, SEEK_SET) == 0)
        empty_folder(folder, depth);
}

void rocl_unfinished_remove(const char *path)
{
    remove_in(AT_FDCWD, path, 0);
}

/* Under another name first: then nobody can put more files into a folder. */
static void abandon(const rocl_unfinished *u)
{
    char gone[PATH_MAX];
    int n = snprintf(gone, sizeof gone, "%s-", u->path);
    bool moved = n < PATH_MAX && rename(u->path, gone) == 0;
    rocl_unfinished_remove(moved ? gone : u->path);
}

void rocl_abandon_outputs(void)
{
    rocl_unfinished_hold(); /* for good: nothing must be completed from now on */
    for (const rocl_unfinished *u = all; u; u = u->next)
        abandon(u);
    rocl_unfinished_dirs();
}
