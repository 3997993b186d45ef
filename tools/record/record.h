/* rocrec in its parts:
 *
 *     main.c    what to do
 *     folder.c  where the processes write
 *     child.c   runs the command
 *     sample.c  samples its processes and the machine meanwhile
 *     trace.c   what becomes of what they wrote */
#pragma once

#include "common/common.h"

#include <sys/types.h>

/* How a front end comes into the program. */
typedef enum how { BY_PRELOAD, BY_HSA_TOOLS } how;

typedef struct front_end {
    const char *name, *file;
    how how;
} front_end;

extern const front_end front_ends[];
/* NULL: there is none of that name. */
const front_end *find_front_end(const char *name);

/* Indexes of the words of --format. */
enum {
    FORMAT_AUTO,
    FORMAT_ROCL,
    FORMAT_PFTRACE,
    FORMAT_JSON,
    FORMAT_CSV,
    FORMAT_ROCPD,
    FORMAT_OTF2
};

typedef struct cli {
    common common;
    strings command; /* the operands, while the inputs are what it has left behind */
    strings use;     /* names of front ends; none: all that are built */
    unsigned policy; /* index of the word */
    size_t limit;    /* bytes */
    size_t chunk;    /* bytes */
    bool dump, monotonic;
    const char *hsa_calls; /* filter; "": all; NULL: none */
    const char *sample;    /* how often a second; "": as often as is usual; NULL: not at all */
    const char *sysfs;     /* read in the place of /sys; NULL: that */
    unsigned format;
    int level;           /* below 0: not given */
    bool gzip;           /* JSON, that is */
    char name[4096];     /* of JSON, whose ending says whether it is */
    const char *folder;  /* of the files of processes */
    char made[4096];     /* the same, where it is ours to remove */
    int status;          /* of the command, as wait has it */
    uint8_t session[16]; /* in the headers of all that is recorded now */
} cli;

/* Makes the folder of the user, or one beside the output. Returns -1, or the exit code. */
int make_folder(cli *c);
/* How many .rocl files with something in them there are in the folder; those without are removed
 * where the folder is ours. Returns -1, or the exit code. */
int count_files(const cli *c, size_t *count);
/* Lists the files of this session only: others may write into the folder, too. Returns -1, or the
 * exit code. */
int list_own_files(const cli *c, strings *to);
/* With what is in it, if it is ours. */
void remove_folder(const cli *c);
/* Says where the files are that are not removed. */
void keep_folder(const cli *c);
/* What would fail only when the command has run. Returns -1, or the exit code. */
int check_output(const cli *c);

/* Sets the format that was asked for, or that the name says, and the name of JSON. Returns -1, or
 * the exit code. */
int choose_format(cli *c);
/* For common_run; ctx is the cli. The second writes nothing: it says what is in the files. */
common_write_fn write_output, say_recorded;

/* Is it installed in that folder? */
bool has_front_end(const front_end *f, const char *libraries);

/* Finds the folder of the front ends; NULL: none of them is installed. Static storage. */
const char *library_folder(void);

/* Why the front ends are not loaded into a program, to be put after its name; NULL: its file says
 * nothing against it. */
const char *why_not_loaded(const char *name);

/* Sets the variables that tell what is loaded into a program what to record, and where.
 * False: memory is out. */
bool set_recording(const cli *c);
/* Samples the processes of the command until stop_sampling, if that is wanted. */
void start_sampling(const cli *c, const char *libraries, pid_t pid);
void stop_sampling(void);

/* Runs c->command, recorded into c->folder. Returns -1 and sets
 * c->status, or the exit code that says why it could not be run. */
int run_command(cli *c, const char *libraries);

/* The exit code for a status of wait; ends by the same signal when there was one. */
int pass_on(int status);
