/* Files and folders that appear together: made in a hidden folder and moved out of it. */
#include "base/out_tree.h"

#include "base/error.h"
#include "base/sync.h"
#include "base/text.h"
#include "base/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct rocl_out_tree {
    char *folder; /* "DIR/" or "" */
    char *hidden; /* folder with a random name in it */
    char *former; /* a folder in that one, for files that are replaced */
    rocl_unfinished unfinished;
};

/* For a name of a commit: its final path, its present path, and where the file that it replaces is
 * kept. */
typedef struct commit_name {
    char at[PATH_MAX], fresh[PATH_MAX], old[PATH_MAX];
} commit_name;

const char *rocl_out_tree_path(const rocl_out_tree *t)
{
    return t->hidden;
}

void rocl_out_tree_discard(rocl_out_tree *t)
{
    if (!t)
        return;
    if (t->hidden)
        rocl_unfinished_remove(t->hidden);
    rocl_unfinished_drop(&t->unfinished);
    free(t->folder);
    free(t->hidden);
    free(t->former);
    free(t);
}

rocl_status rocl_out_tree_open(rocl_out_tree **out, const char *folder, rocl_error *err)
{
    const size_t n = strlen(folder);
    rocl_out_tree *t = calloc(1, sizeof *t);
    if (!t)
        return rocl_fail_memory(err);
    rocl_status st = ROCL_OK;
    t->folder = rocl_new_text("%s%s", folder, n && folder[n - 1] != '/' ? "/" : "");
    if (t->folder)
        t->hidden = rocl_new_text("%s.rocline-XXXXXX", t->folder);
    if (!t->hidden) {
        rocl_out_tree_discard(t);
        return rocl_fail_memory(err);
    }
    /* mkdtemp makes the folder private; files in it get the umask like other outputs. */
    rocl_unfinished_hold();
    bool made = mkdtemp(t->hidden) != NULL;
    bool noted = made && rocl_unfinished_add(&t->unfinished, t->hidden);
    int why = errno;
    if (made && !noted)
        rmdir(t->hidden);
    rocl_unfinished_release();
    if (!noted) {
        st = why == ENOMEM ? rocl_fail_memory(err)
                           : rocl_fail(err, ROCL_OUTPUT, "%s: cannot create a folder here: %s",
                                       *t->folder ? t->folder : ".", strerror(why));
        free(t->hidden);
        t->hidden = NULL;
    } else if (!(t->former = rocl_new_text("%s/.former", t->hidden))) {
        st = rocl_fail_memory(err);
    }
    if (st == ROCL_OK)
        *out = t;
    else
        rocl_out_tree_discard(t);
    return st;
}

rocl_status rocl_out_tree_check(const char *path, rocl_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0 && errno != ENOENT)
        return rocl_fail(err, ROCL_OUTPUT, "%s: cannot create: %s", path, strerror(errno));
    if (stat(path, &info) != 0)
        return ROCL_OK;
    if (!S_ISREG(info.st_mode))
        return rocl_fail(err, ROCL_OUTPUT, "%s: is not a regular file", path);
    if (access(path, W_OK) != 0)
        return rocl_fail_write(err, path, errno);
    return ROCL_OK;
}

rocl_status rocl_out_tree_explain(const rocl_out_tree *t, rocl_status st, rocl_error *err)
{
    if (st != ROCL_OK && t) {
        char hidden[PATH_MAX];
        snprintf(hidden, sizeof hidden, "%s/", t->hidden);
        rocl_error_rename(err, hidden, t->folder);
    }
    return st;
}

static bool name_paths(const rocl_out_tree *t, commit_name *s, const char *name)
{
    int a = snprintf(s->at, PATH_MAX, "%s%s", t->folder, name);
    int b = snprintf(s->fresh, PATH_MAX, "%s/%s", t->hidden, name);
    int c = snprintf(s->old, PATH_MAX, "%s/%s", t->former, name);
    return a < PATH_MAX && b < PATH_MAX && c < PATH_MAX;
}

rocl_status rocl_out_tree_commit(rocl_out_tree *t, const char *const *names, size_t count,
                                 rocl_error *err)
{
    size_t done = 0;
    commit_name s;
    struct stat info;
    rocl_status st = ROCL_OK;
    if (!rocl_sync_tree(AT_FDCWD, t->hidden))
        st = rocl_fail_system(err, ROCL_OUTPUT, t->hidden, errno);
    /* Replaced files are in the hidden folder for a while. */
    rocl_unfinished_hold_folder(*t->folder ? t->folder : ".");
    if (st == ROCL_OK && mkdir(t->former, 0700) != 0)
        st = rocl_fail(err, ROCL_OUTPUT, "%s: cannot create: %s", t->former, strerror(errno));
    for (; st == ROCL_OK && done < count; done += st == ROCL_OK) {
        if (!name_paths(t, &s, names[done])) {
            st = rocl_fail(err, ROCL_OUTPUT, "%s%s: the name is too long", t->folder, names[done]);
        } else if (rename(s.at, s.old) != 0 && errno != ENOENT) {
            st = rocl_fail(err, ROCL_OUTPUT, "%s: cannot replace: %s", s.at, strerror(errno));
        } else if (rename(s.fresh, s.at) != 0 && errno != ENOENT) {
            st = rocl_fail(err, ROCL_OUTPUT, "%s: cannot create: %s", s.at, strerror(errno));
            rename(s.old, s.at);
        }
    }
    if (st == ROCL_OK && !rocl_sync_folder(AT_FDCWD, *t->folder ? t->folder : "."))
        st = rocl_fail(err, ROCL_OUTPUT, "%s: cannot sync the folder: %s",
                       *t->folder ? t->folder : ".", strerror(errno));
    while (st != ROCL_OK && done-- > 0) {
        if (!name_paths(t, &s, names[done]))
            continue;
        if (lstat(s.fresh, &info) != 0) /* it has already been moved */
            rename(s.at, s.fresh);
        rename(s.old, s.at);
    }
    rocl_unfinished_release_folder();
    rocl_out_tree_discard(t);
    return st;
}
