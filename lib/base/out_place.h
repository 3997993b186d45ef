/* Where an output file is to appear, and the way there. For out.c and new_db.c only. */
#ifndef ROCL_BASE_OUT_PLACE_H
#define ROCL_BASE_OUT_PLACE_H

#include "base/unfinished.h"
#include "rocline.h"

typedef struct rocl_place {
    bool replaces;   /* false: the file is written in place and none of the rest is used */
    int dir;         /* O_PATH descriptor of its folder, -1 while it rests */
    char *folder;    /* by its path, links followed */
    char *name;      /* in that folder, symbolic links followed */
    char hidden[40]; /* the temporary name that exists now, or "" */
    rocl_unfinished unfinished;
} rocl_place;

/* Opens a file to write to for `path`. */
rocl_status rocl_place_open(rocl_place *pl, int *fd, const char *path, rocl_error *err);
/* Makes sure that the complete file has a name, hidden or (when it was free) its own. */
rocl_status rocl_place_link(rocl_place *pl, int fd, const char *path, rocl_error *err);
/* Gives the file a hidden name, so that it can be closed, and closes its folder. */
rocl_status rocl_place_rest(rocl_place *pl, int fd, const char *path, rocl_error *err);
/* Opens the folder again. */
rocl_status rocl_place_wake(rocl_place *pl, const char *path, rocl_error *err);
/* Moves a hidden file over the target. */
rocl_status rocl_place_rename(rocl_place *pl, const char *path, rocl_error *err);
/* Removes what still has a hidden name, and frees. */
void rocl_place_close(rocl_place *pl);

#endif
