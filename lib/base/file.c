/* Reads and writes that are repeated until they are complete, and temporary files. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

ssize_t rocl_read_at(int fd, void *to, size_t n, uint64_t offset)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = pread(fd, (char *)to + got, n - got, (off_t)(offset + got));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return -1;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

bool rocl_write_at(int fd, const void *from, size_t n, uint64_t offset)
{
    for (const char *p = from; n;) {
        ssize_t done = pwrite(fd, p, n, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done == 0)
            errno = ENOSPC;
        if (done <= 0)
            return false;
        p += done;
        n -= (size_t)done;
        offset += (uint64_t)done;
    }
    return true;
}

static int open_nameless(const char *dir)
{
    int fd = open(dir, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    char *name;
    if (asprintf(&name, "%s/rocline-XXXXXX", dir) < 0) {
        errno = ENOMEM;
        return -1;
    }
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
        unlink(name);
    int why = errno;
    free(name);
    errno = why;
    return fd;
}

/* The folder that the user named; NULL: none, use a default. */
static const char *wanted_temp_folder(const char *tmpdir)
{
    const char *wanted = tmpdir ? tmpdir : getenv("TMPDIR");
    return wanted && *wanted ? wanted : NULL;
}

int rocl_temp_file(const char *tmpdir, const char **dir)
{
    const char *wanted = wanted_temp_folder(tmpdir);
    *dir = wanted ? wanted : "/var/tmp";
    int fd = open_nameless(*dir), why = errno;
    if (fd < 0 && !wanted && (fd = open_nameless("/tmp")) >= 0)
        *dir = "/tmp";
    errno = why;
    return fd;
}

const char *rocl_temp_folder(const char *tmpdir)
{
    const char *wanted = wanted_temp_folder(tmpdir);
    return wanted ? wanted : access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}
