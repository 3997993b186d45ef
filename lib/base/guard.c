#include "base/guard.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

typedef struct guarded {
    uint64_t device, inode;
    char *name;
} guarded;

struct rocl_guard {
    guarded *files;
    size_t count, cap;
    rocl_guard *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static rocl_guard *guards;

rocl_guard *rocl_guard_new(void)
{
    rocl_guard *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    pthread_mutex_lock(&lock);
    g->next = guards;
    guards = g;
    pthread_mutex_unlock(&lock);
    return g;
}

void rocl_guard_free(rocl_guard *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&lock);
    rocl_guard **at = &guards;
    while (*at != g)
        at = &(*at)->next;
    *at = g->next;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < g->count; i++)
        free(g->files[i].name);
    free(g->files);
    free(g);
}

bool rocl_guard_add(rocl_guard *g, const char *name, uint64_t device, uint64_t inode)
{
    char *copy = strdup(name);
    pthread_mutex_lock(&lock);
    const bool added = copy && ROCL_GROW(g->files, g->cap, g->count + 1);
    if (added)
        g->files[g->count++] = (guarded){device, inode, copy};
    pthread_mutex_unlock(&lock);
    if (!added)
        free(copy);
    return added;
}

rocl_status rocl_guard_check(const struct stat *file, rocl_error *err)
{
    rocl_status st = ROCL_OK;
    pthread_mutex_lock(&lock);
    for (const rocl_guard *g = guards; g && st == ROCL_OK; g = g->next)
        for (size_t i = 0; i < g->count && st == ROCL_OK; i++)
            if (g->files[i].device == (uint64_t)file->st_dev &&
                g->files[i].inode == (uint64_t)file->st_ino)
                st = rocl_fail(err, ROCL_USAGE, "%s is an input: name another output",
                               g->files[i].name);
    pthread_mutex_unlock(&lock);
    return st;
}
