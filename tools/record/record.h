/* rocrec in two parts: main.c is what to do, child.c runs the command. */
#ifndef TOOLS_RECORD_H
#define TOOLS_RECORD_H

#include "common/common.h"

/* How a front end comes into the program. */
typedef enum how { BY_PRELOAD, BY_HSA_TOOLS } how;

typedef struct front_end {
    const char *name, *file;
    how how;
} front_end;

extern const front_end front_ends[];

typedef struct cli {
    common common;
    strings command; /* the operands, while the inputs are what it has left behind */
    strings use;     /* names of front ends; none: all that are built */
    unsigned policy; /* index of the word */
    size_t limit;    /* bytes */
    size_t chunk;    /* bytes */
    bool dump, monotonic;
    unsigned format;
    int level;
    const char *folder; /* of the files of processes */
    char made[4096];    /* the same, where it is ours to remove */
    int status;         /* of the command, as wait has it */
} cli;

/* Finds the folder of the front ends; NULL: none of them is installed. Static storage. */
const char *library_folder(void);

/* Runs c->command, recorded into c->folder. Returns -1 and sets
 * c->status, or the exit code that says why it could not be run. */
int run_command(cli *c, const char *libraries);

/* The exit code for a status of wait; ends by the same signal when there was one. */
int pass_on(int status);

#endif
