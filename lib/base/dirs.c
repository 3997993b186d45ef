/* Folders of outputs: made with their parents, and removed again where they stay empty. */
#include "base/error.h"
#include "base/unfinished.h"
#include "base/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Those that were made, the last one first; under the lock of unfinished outputs. */
typedef struct made {
    struct made *before;
    char path[];
} made;

static made *all;

static void remember(const char *path)
{
    size_t n = strlen(path) + 1;
    made *m = malloc(sizeof *m + n);
    if (!m)
        return;
    memcpy(m->path, path, n);
    m->before = all;
    all = m;
}

static int make_dir(const char *path)
{
    rocl_unfinished_hold();
    bool fresh = mkdir(path, 0777) == 0;
    int why = errno; /* EEXIST, but also EROFS or EACCES for one that is there */
    if (fresh)
        remember(path);
    rocl_unfinished_release();
    if (fresh)
        return 0;
    struct stat info;
    if (stat(path, &info))
        return why;
    return S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
}

void rocl_unfinished_dirs(void)
{
    while (all) {
        made *m = all;
        all = m->before;
        rmdir(m->path);
        free(m);
    }
}

void rocl_remove_empty_dirs(void)
{
    rocl_unfinished_hold();
    rocl_unfinished_dirs();
    rocl_unfinished_release();
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
