/* Outputs are on disk before they get their names, and names are on disk before a tool reports
 * success: after a loss of power there is the whole file, or the one that was there before. */
#include "base/sync.h"

#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_bool off;

void rocl_sync_outputs(bool on)
{
    atomic_store(&off, !on);
}

rocl_status rocl_sync_outputs_in(const char *folder, rocl_error *err)
{
    return rocl_sync_tree(AT_FDCWD, folder) ? ROCL_OK : rocl_fail_write(err, folder, errno);
}

bool rocl_sync_file(int fd)
{
    int rc;
    if (atomic_load(&off))
        return true;
    do
        rc = fsync(fd);
    while (rc != 0 && errno == EINTR);
    return rc == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == EROFS;
}

bool rocl_sync_folder(int dir, const char *path)
{
    if (atomic_load(&off))
        return true;
    int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) /* one may create names in a folder without being allowed to read it */
        return errno == EACCES;
    const bool done = rocl_sync_file(fd);
    const int why = errno;
    close(fd);
    errno = why;
    return done;
}

/* Outputs are one or two folders deep. */
enum { DEEPEST = 8 };

/* Syncs the files of a folder, and its folders. Closes fd. */
static bool sync_entries(int fd, int depth)
{
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return false;
    }
    bool done = depth < DEEPEST;
    errno = done ? 0 : ELOOP;
    for (struct dirent *e; done && (e = readdir(d)); errno = done ? 0 : errno) {
        struct stat info;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        done = fstatat(fd, e->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0;
        if (!done || (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
            continue;
        const int own = openat(fd, e->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        done = own >= 0 &&
               (S_ISDIR(info.st_mode) ? sync_entries(own, depth + 1) : rocl_sync_file(own));
        const int why = errno;
        if (own >= 0 && S_ISREG(info.st_mode))
            close(own);
        errno = why;
    }
    done = done && errno == 0 && rocl_sync_file(fd);
    const int why = errno;
    closedir(d);
    errno = why;
    return done;
}

bool rocl_sync_tree(int dir, const char *path)
{
    if (atomic_load(&off))
        return true;
    int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 && sync_entries(fd, 0);
}
