#include "base/unfinished.h"

#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocline.h"

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

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    remove(path); /* what stays behind has no name that anybody looks for */
    return 0;
}

void rocl_unfinished_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Under another name first: then nobody can put more files into a folder. */
static void abandon(const rocl_unfinished *u)
{
    char *gone;
    if (asprintf(&gone, "%s-", u->path) < 0)
        return;
    rocl_unfinished_remove(rename(u->path, gone) == 0 ? gone : u->path);
    free(gone);
}

void rocl_abandon_outputs(void)
{
    rocl_unfinished_hold(); /* for good: nothing must be completed from now on */
    for (const rocl_unfinished *u = all; u; u = u->next)
        abandon(u);
}
