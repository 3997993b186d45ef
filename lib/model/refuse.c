/* Inputs are never changed, so no output takes the place of one. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "model/trace.h"

static bool is_same(const struct stat *a, const char *path)
{
    struct stat b;
    return stat(path, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

static bool is_folder_of(const struct stat *folder, const char *path)
{
    char real[PATH_MAX];
    if (!S_ISDIR(folder->st_mode) || !realpath(path, real))
        return false;
    *strrchr(real, '/') = '\0';
    return is_same(folder, *real ? real : "/");
}

static rocl_status refuse(const char *in, const struct stat *out, const char *path, rocl_error *err)
{
    if (is_same(out, in))
        return rocl_fail(err, ROCL_USAGE, "%s is an input: name another output", in);
    if (is_folder_of(out, in))
        return rocl_fail(err, ROCL_USAGE, "%s holds the input %s: name another output", path, in);
    return ROCL_OK;
}

rocl_status rocl_refuse_input(const rocl_trace *t, const char *path, rocl_error *err)
{
    struct stat out;
    if (stat(path, &out) != 0)
        return ROCL_OK;
    rocl_status st = ROCL_OK;
    for (size_t i = 0; i < t->capture_count && st == ROCL_OK; i++)
        st = refuse(t->captures[i]->pub.path, &out, path, err);
    for (size_t i = 0; t->joined && i < t->joined->count && st == ROCL_OK; i++)
        st = refuse(t->joined->paths[i], &out, path, err);
    return st;
}
