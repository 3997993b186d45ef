/* Loaded before a program: what a loss of power could take. Of each file and folder it is known
 * whether it was changed since it was last synced. NO_POWER_LOG names a file that gets a line for
 * each file that was not synced when it got a name that is not hidden, and, at the end, for each
 * folder whose names were not. */
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum { MOST = 1024 };

typedef struct thing {
    dev_t dev;
    ino_t ino;
    bool dirty, folder;
    char name[4096];
} thing;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static thing things[MOST];
static size_t count;

static void report(const char *fmt, ...)
{
    const char *name = getenv("NO_POWER_LOG");
    va_list args;
    int fd = name ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    if (fd < 0)
        return;
    va_start(args, fmt);
    vdprintf(fd, fmt, args);
    va_end(args);
    REAL(close)(fd);
}

static thing *find_thing(const struct stat *info)
{
    for (size_t i = 0; i < count; i++)
        if (things[i].dev == info->st_dev && things[i].ino == info->st_ino)
            return &things[i];
    if (count == MOST)
        return NULL;
    things[count] = (thing){.dev = info->st_dev, .ino = info->st_ino};
    things[count].folder = S_ISDIR(info->st_mode);
    things[count].dirty =
        !things[count].folder; /* the C library writes by calls that are not seen */
    return &things[count++];
}

static void mark(const struct stat *info, bool dirty, const char *name)
{
    if (!S_ISREG(info->st_mode) && !S_ISDIR(info->st_mode))
        return;
    pthread_mutex_lock(&lock);
    thing *t = find_thing(info);
    if (t)
        t->dirty = dirty;
    if (t && name)
        snprintf(t->name, sizeof t->name, "%s", name);
    pthread_mutex_unlock(&lock);
}

static void mark_fd(int fd, bool dirty)
{
    struct stat info;
    if (fstat(fd, &info) == 0)
        mark(&info, dirty, NULL);
}

static int check_named(const char *path, const struct stat *info, int what, struct FTW *at)
{
    (void)what;
    if (S_ISREG(info->st_mode)) {
        pthread_mutex_lock(&lock);
        const thing *t = find_thing(info);
        if (t && t->dirty)
            report("%s has its name before it is on disk\n", path + at->base);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

/* A name is made or goes: its folder has changed, and what has the name must be on disk. */
static void name_changed(int dir, const char *path, bool made)
{
    struct stat info;
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (strstr(path, ".rocline-")) /* hidden: nobody looks for it */
        return;
    if (fstatat(dir, folder, &info, 0) == 0)
        mark(&info, true, folder);
    char whole[4096];
    snprintf(whole, sizeof whole, "/proc/self/fd/%d/%s", dir, path);
    if (made)
        nftw(dir == AT_FDCWD || *path == '/' ? path : whole, check_named, 8, FTW_PHYS);
}

__attribute__((destructor)) static void end(void)
{
    for (size_t i = 0; i < count; i++)
        if (things[i].folder && things[i].dirty)
            report("names in %s are not on disk\n", things[i].name);
}

ssize_t write(int fd, const void *p, size_t n)
{
    ssize_t done = REAL(write)(fd, p, n);
    mark_fd(fd, true);
    return done;
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t to)
{
    ssize_t done = REAL(pwrite)(fd, p, n, to);
    mark_fd(fd, true);
    return done;
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t to)
{
    ssize_t done = REAL(pwrite64)(fd, p, n, to);
    mark_fd(fd, true);
    return done;
}

int ftruncate(int fd, off_t n)
{
    int rc = REAL(ftruncate)(fd, n);
    mark_fd(fd, true);
    return rc;
}

int fsync(int fd)
{
    int rc = REAL(fsync)(fd);
    if (rc == 0)
        mark_fd(fd, false);
    return rc;
}

int rename(const char *from, const char *to)
{
    int rc = REAL(rename)(from, to);
    if (rc == 0)
        name_changed(AT_FDCWD, to, true);
    return rc;
}

int renameat(int a, const char *from, int b, const char *to)
{
    int rc = REAL(renameat)(a, from, b, to);
    if (rc == 0)
        name_changed(b, to, true);
    return rc;
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    int rc = REAL(linkat)(a, from, b, to, flags);
    if (rc == 0)
        name_changed(b, to, true);
    return rc;
}

int mkdir(const char *path, mode_t mode)
{
    int rc = REAL(mkdir)(path, mode);
    if (rc == 0)
        name_changed(AT_FDCWD, path, false);
    return rc;
}
