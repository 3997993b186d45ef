#include "base/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int rocl_temp_file(const char *dir)
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
