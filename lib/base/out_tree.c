#include "base/out_tree.h"

#include "base/error.h"
#include "base/unfinished.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct rocl_out_tree {
    char *folder; /* "DIR/" or "" */
    char *hidden; /* folder with a random name in it */
    char *aside;  /* a folder in that one: what was there before */
    rocl_unfinished unfinished;
};

/* Name `i` of a commit in its three places. */
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
    free(t->aside);
    free(t);
}

static rocl_status name_folders(rocl_out_tree *t, const char *folder, rocl_error *err)
{
    size_t n = strlen(folder);
    bool slash = n && folder[n - 1] != '/';
    if (asprintf(&t->folder, "%s%s", folder, slash ? "/" : "") < 0)
        t->folder = NULL;
    if (!t->folder || asprintf(&t->hidden, "%s.rocline-XXXXXX", t->folder) < 0)
        t->hidden = NULL;
    return t->hidden ? ROCL_OK : rocl_fail_memory(err);
}

/* mkdtemp keeps the folder private; what is in it takes the umask as other outputs do. */
static bool make_hidden(rocl_out_tree *t)
{
    rocl_unfinished_hold();
    bool made = mkdtemp(t->hidden) != NULL;
    bool noted = made && rocl_unfinished_add(&t->unfinished, t->hidden);
    int why = errno;
    if (made && !noted)
        rmdir(t->hidden);
    rocl_unfinished_release();
    errno = why;
    return noted;
}

static rocl_status make_folders(rocl_out_tree *t, rocl_error *err)
{
    if (!make_hidden(t)) {
        rocl_status st = rocl_fail(err, ROCL_OUTPUT, "%s: cannot create a folder here: %s",
                                   *t->folder ? t->folder : ".", strerror(errno));
        free(t->hidden);
        t->hidden = NULL;
        return st;
    }
    if (asprintf(&t->aside, "%s/.aside", t->hidden) < 0) {
        t->aside = NULL;
        return rocl_fail_memory(err);
    }
    return ROCL_OK;
}

rocl_status rocl_out_tree_open(rocl_out_tree **out, const char *folder, rocl_error *err)
{
    rocl_out_tree *t = calloc(1, sizeof *t);
    if (!t)
        return rocl_fail_memory(err);
    rocl_status st = name_folders(t, folder, err);
    if (st == ROCL_OK)
        st = make_folders(t, err);
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
        return rocl_fail(err, ROCL_OUTPUT, "%s: is no regular file", path);
    if (access(path, W_OK) != 0)
        return rocl_fail(err, ROCL_OUTPUT, "%s: cannot write: %s", path, strerror(errno));
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
    int c = snprintf(s->old, PATH_MAX, "%s/%s", t->aside, name);
    return a < PATH_MAX && b < PATH_MAX && c < PATH_MAX;
}

/* A rename that is fine with nothing to be moved. */
static bool rename_if_there(const char *from, const char *to)
{
    return rename(from, to) == 0 || errno == ENOENT;
}

static void undo_moves(const rocl_out_tree *t, const char *const *names, size_t count)
{
    commit_name s;
    for (size_t i = count; i-- > 0;) {
        if (!name_paths(t, &s, names[i]))
            continue;
        struct stat info;
        if (lstat(s.fresh, &info) != 0) /* it has been moved */
            rename(s.at, s.fresh);
        rename(s.old, s.at);
    }
}

static rocl_status move_all(const rocl_out_tree *t, const char *const *names, size_t count,
                            size_t *done, rocl_error *err)
{
    commit_name s;
    if (mkdir(t->aside, 0700) != 0)
        return rocl_fail(err, ROCL_OUTPUT, "%s: cannot create: %s", t->aside, strerror(errno));
    for (*done = 0; *done < count; ++*done) {
        if (!name_paths(t, &s, names[*done]))
            return rocl_fail(err, ROCL_OUTPUT, "%s%s: the name is too long", t->folder,
                             names[*done]);
        if (!rename_if_there(s.at, s.old))
            return rocl_fail(err, ROCL_OUTPUT, "%s: cannot replace: %s", s.at, strerror(errno));
        if (!rename_if_there(s.fresh, s.at)) {
            rocl_fail(err, ROCL_OUTPUT, "%s: cannot create: %s", s.at, strerror(errno));
            rename(s.old, s.at);
            return ROCL_OUTPUT;
        }
    }
    return ROCL_OK;
}

rocl_status rocl_out_tree_commit(rocl_out_tree *t, const char *const *names, size_t count,
                                 rocl_error *err)
{
    size_t done = 0;
    rocl_unfinished_hold(); /* what is put aside is in the hidden folder */
    rocl_status st = move_all(t, names, count, &done, err);
    if (st != ROCL_OK)
        undo_moves(t, names, done);
    rocl_unfinished_release();
    rocl_out_tree_discard(t);
    return st;
}
