/* Files and folders that have only a hidden name as yet: a program ended by a signal removes them
 * with rocl_abandon_outputs(). */
#pragma once

#include <stdbool.h>

/* Zeroed to begin with; it must stay where it is until it is dropped. */
typedef struct rocl_unfinished {
    char *path;
    struct rocl_unfinished *next, **link;
} rocl_unfinished;

/* Call it between rocl_unfinished_hold() and _release(), where the file is made, too. False: memory
 * is out, and it is not added. */
bool rocl_unfinished_add(rocl_unfinished *u, const char *path);
/* It was removed, or has its name. Fine if it was not added. */
void rocl_unfinished_drop(rocl_unfinished *u);

/* Removes a file, or a folder with all that is in it. */
void rocl_unfinished_remove(const char *path);

/* Between hold and release rocl_abandon_outputs() removes nothing. */
void rocl_unfinished_hold(void);
void rocl_unfinished_release(void);

/* To be called around several names in one folder, for one program at a time: if two programs write
 * the same names, one gets all of them. It waits for another program for some seconds at most.
 * Without effect on file systems without such locks. May be nested in a thread; only the outermost
 * folder is locked. */
void rocl_unfinished_hold_folder(const char *folder);
void rocl_unfinished_release_folder(void);
