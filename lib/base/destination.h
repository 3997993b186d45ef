/* Where an output file is to appear, and the way there. For out.c and new_db.c only. */
#pragma once

#include "base/unfinished.h"
#include "base/status.h"

#include <sys/types.h>

typedef struct rocl_destination {
    bool replaces; /* false: the file is written in place and none of the rest is used */
    bool named;    /* rocl_destination_publish has given it its name */
    bool for_good; /* the name cannot be taken back */
    int dir;       /* O_PATH descriptor of its folder, -1 while it is suspended */
    struct rocl_open_folder *shared; /* owner of that descriptor; NULL: it is our own */
    dev_t device;                    /* of that folder */
    ino_t inode;                     /* the same */
    char *folder;                    /* its path, links resolved */
    char *name;                      /* name in that folder, symbolic links resolved */
    char hidden[40];                 /* the temporary name that exists now, or "" */
    char former[40]; /* the name of what was there before rocl_destination_publish, or "" */
    rocl_unfinished unfinished, replaced; /* of these two names */
} rocl_destination;

/* Opens a file for writing `path`. */
rocl_status rocl_destination_open(rocl_destination *pl, int *fd, const char *path, rocl_error *err);
/* Makes sure that the complete file has a name, hidden or (if that was free) its own. */
rocl_status rocl_destination_link(rocl_destination *pl, int fd, const char *path, rocl_error *err);
/* Gives the file a hidden name, so that it can be closed; with `close` its folder is closed. */
rocl_status rocl_destination_suspend(rocl_destination *pl, int fd, bool close, const char *path,
                                     rocl_error *err);
/* Gives it a hidden name as well, by which others can open it: *shown, to be freed. */
rocl_status rocl_destination_show(rocl_destination *pl, int fd, char **shown, const char *path,
                                  rocl_error *err);
/* Opens the folder again. */
rocl_status rocl_destination_resume(rocl_destination *pl, const char *path, rocl_error *err);
/* Moves a hidden file over the target, and waits until its name is on disk; closes the folder. */
rocl_status rocl_destination_replace(rocl_destination *pl, const char *path, rocl_error *err);

/* The last step after rocl_destination_publish: waits until the name is on disk. */
rocl_status rocl_destination_sync_folder(const rocl_destination *pl, rocl_error *err);

/* For files that appear together, each suspended: publish gives the file its name and keeps the
 * file that had the name until rocl_destination_close; the other undoes that. Call both between
 * rocl_unfinished_hold() and _release(). */
rocl_status rocl_destination_publish(rocl_destination *pl, const char *path, rocl_error *err);
void rocl_destination_revert(rocl_destination *pl);

/* Removes what still has a hidden name, and frees. */
void rocl_destination_close(rocl_destination *pl);
