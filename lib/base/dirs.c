#include "base/error.h"
#include "base/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int make_dir(const char *path)
{
    if (mkdir(path, 0777) == 0)
        return 0;
    int why = errno; /* EEXIST, but also EROFS or EACCES for one that is there */
    struct stat info;
    if (stat(path, &info))
        return why;
    return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

/* Makes the folder of every prefix that ends at a slash, then the whole. */
static int make_each(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p != '/' || p[-1] == '/')
            continue;
        *p = '\0';
        int why = make_dir(path);
        *p = '/';
        if (why)
            return why;
    }
    return make_dir(path);
}

rocl_status rocl_make_dirs(const char *path, rocl_error *err)
{
    if (!*path)
        return rocl_fail(err, ROCL_OUTPUT, "\"\": is not a folder name");
    char *copy = strdup(path);
    if (!copy)
        return rocl_fail_memory(err);
    int why = make_each(copy);
    free(copy);
    if (why)
        return rocl_fail(err, ROCL_OUTPUT, "%s: cannot make the folder: %s", path, strerror(why));
    return ROCL_OK;
}
