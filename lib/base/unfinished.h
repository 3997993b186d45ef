/* Files and folders that have only a hidden name as yet: a program that is ended by a signal
 * removes them by rocl_abandon_outputs(). */
#ifndef ROCL_BASE_UNFINISHED_H
#define ROCL_BASE_UNFINISHED_H

#include <stdbool.h>

/* Zeroed to begin with; it must stay where it is until it is dropped. */
typedef struct rocl_unfinished {
    char *path;
    struct rocl_unfinished *next, **link;
} rocl_unfinished;

/* Between rocl_unfinished_hold() and _release(), in which it is made, too. False when memory is
 * out: then it is not added. */
bool rocl_unfinished_add(rocl_unfinished *u, const char *path);
/* It is gone, or has got its name. What was not added is fine. */
void rocl_unfinished_drop(rocl_unfinished *u);

/* Removes a file, or a folder with all that is in it. */
void rocl_unfinished_remove(const char *path);

/* Between these two rocl_abandon_outputs() removes nothing. */
void rocl_unfinished_hold(void);
void rocl_unfinished_release(void);

/* The same around several names in one folder, by one program at a time: of two programs that write
 * the same names, one has all of them. Another one is waited for, for seconds at most; where there
 * are no such locks there is none. May be nested in a thread; only the outermost folder is locked.
 */
void rocl_unfinished_hold_folder(const char *folder);
void rocl_unfinished_release_folder(void);

#endif
