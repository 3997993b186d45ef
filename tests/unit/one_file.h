/* A folder for the tests of a program, with one file in it that they make anew as they like. */
#ifndef TEST_ONE_FILE_H
#define TEST_ONE_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/rocl-test-XXXXXX";
static char path[64]; /* the file's */

static inline int make_folder(void **unused)
{
    (void)unused;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/t.db", folder);
    return 0;
}

/* Fails when something else was left in it. */
static inline int remove_folder(void **unused)
{
    (void)unused;
    unlink(path);
    return rmdir(folder);
}

#endif
