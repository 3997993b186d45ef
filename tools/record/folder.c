/* The folder into which the processes write, each a file of its own. */
#include "record/record.h"

#include "common/output.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The next name with the ending of recordings. NULL: there are no more, and errno is 0, or the
 * folder cannot be read. */
static const char *next_file(DIR *d)
{
    struct dirent *e;
    errno = 0;
    while ((e = readdir(d)) && !ends_with(e->d_name, ".rocl"))
        errno = 0;
    return e ? e->d_name : NULL;
}

/* Closes what may be NULL. Returns -1, or the exit code if the folder was not read to its end. */
static int close_folder(const cli *c, DIR *d)
{
    const int why = errno;
    if (d)
        closedir(d);
    if (!why)
        return -1;
    msg_error("%s: cannot read the folder: %s", c->folder, strerror(why));
    return why == ENOMEM ? ROCL_INTERNAL : ROCL_INPUT;
}

int count_files(const cli *c, size_t *count)
{
    char path[8192];
    DIR *d = opendir(c->folder);
    *count = 0;
    for (const char *name; d && (name = next_file(d));) {
        snprintf(path, sizeof path, "%s/%s", c->folder, name);
        bool empty = rocl_is_empty_recording(path);
        *count += !empty;
        if (empty && c->folder == c->made)
            unlink(path);
    }
    return close_folder(c, d);
}

int list_own_files(const cli *c, strings *to)
{
    char path[8192];
    uint8_t session[sizeof c->session];
    DIR *d = opendir(c->folder);
    for (const char *name; d && (name = next_file(d));) {
        snprintf(path, sizeof path, "%s/%s", c->folder, name);
        const bool known = rocl_session_of(path, session);
        if (!known && errno && errno != ENOENT) { /* it may be of this run */
            const int why = errno;
            msg_error("%s: cannot read: %s", path, strerror(why));
            closedir(d);
            return why == ENOMEM ? ROCL_INTERNAL : ROCL_INPUT;
        }
        if (known && !memcmp(session, c->session, sizeof session) && !rocl_is_empty_recording(path))
            strings_add(to, must_have(strdup(path)));
    }
    return close_folder(c, d);
}

static const cli *unsettled; /* whose folder is neither removed nor said to be there */

/* At an exit for want of memory, for example. */
static void settle_folder(void)
{
    if (unsettled && rmdir(unsettled->made) != 0 && errno != ENOENT)
        msg_error("the recorded files are in %s", unsettled->made);
}

void keep_folder(const cli *c)
{
    unsettled = NULL;
    if (*c->made && access(c->made, F_OK) == 0)
        msg_error("the recorded files are in %s", c->made);
}

void remove_folder(const cli *c)
{
    if (!c->folder || c->folder != c->made)
        return;
    unsettled = NULL;
    char path[8192];
    DIR *d = opendir(c->made);
    for (const char *name; d && (name = next_file(d));) {
        snprintf(path, sizeof path, "%s/%s", c->made, name);
        unlink(path);
    }
    if (d)
        closedir(d);
    if (rmdir(c->made) != 0 && errno != ENOENT)
        msg_error("%s: the folder of the recorded files cannot be removed: %s", c->made,
                  strerror(errno));
}

/* Beside the output: on the same disk, which has to have the space. */
int make_folder(cli *c)
{
    if (c->folder) {
        const rocl_status made = output_make_folder(c->folder);
        return made == ROCL_OK ? -1 : (int)made;
    }
    struct stat s;
    bool device =
        stat(c->common.output_file, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
    int n = snprintf(c->made, sizeof c->made, "%s%s.XXXXXX",
                     device ? get_variable("TMPDIR", "/var/tmp") : c->common.output_file,
                     device ? "/rocrec" : "");
    if (n < 0 || (size_t)n >= sizeof c->made) {
        *c->made = '\0';
        return name_too_long();
    }
    if (!mkdtemp(c->made)) {
        *c->made = '\0';
        const int why = errno;
        msg_error("%s: cannot make a folder beside it: %s", c->common.output_file, strerror(why));
        return why == ENOMEM ? ROCL_INTERNAL : ROCL_OUTPUT;
    }
    c->folder = c->made;
    unsettled = c;
    atexit(settle_folder);
    return -1;
}

/* A trace in the folder would be read as one of its files, now or the next time. */
int check_output(const cli *c)
{
    struct stat s, t;
    const char *name = c->common.output_file;
    if (!name || c->format == FORMAT_CSV)
        return -1;
    if (stat(name, &s) == 0 && S_ISDIR(s.st_mode)) {
        msg_error("%s: is a folder", name);
        return ROCL_OUTPUT;
    }
    bool is_input = c->format == FORMAT_ROCL || c->format == FORMAT_ROCPD;
    char *copy = must_have(strdup(name)), *slash = strrchr(copy, '/');
    if (slash)
        slash[slash == copy] = '\0';
    bool inside = is_input && stat(slash ? copy : ".", &s) == 0 && stat(c->folder, &t) == 0 &&
                  s.st_dev == t.st_dev && s.st_ino == t.st_ino;
    free(copy);
    return inside ? usage_error("%s: the trace cannot be in the folder of the files, %s", name,
                                c->folder)
                  : -1;
}
