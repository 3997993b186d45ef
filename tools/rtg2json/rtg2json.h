/* rtg2json is three programs in one: the timeline script, a writer of Chrome JSON for any trace,
 * and the report of rpt. */
#pragma once

#include <stdio.h>

#include "common/common.h"

typedef enum layout {
    LAYOUT_AUTO,
    LAYOUT_SCRIPT,
    LAYOUT_TRACE,
    LAYOUT_ROCPROF,
    LAYOUT_ROCPROFV3,
    LAYOUT_KINETO
} layout;

typedef struct cli {
    common common;
    bool flows, gaps, kernel_names, by_process, workgroups, gzip, group_by_queue, rpt;
    int gzip_level;
    unsigned layout;
    const char *path; /* of the output */
    FILE *say;        /* where the lines of the script go; NULL: nowhere */
    strings inputs;   /* those that there are, then those that were named */
    bool missing;     /* of some there is no file */
} cli;

/* script.c: legacy text in the layout of the script. */
int convert_script(cli *c);
/* What an input looks like. -1, or the exit code when that could not be found out, which is told.
 */
int input_look(const char *path, rocl_look *look);

void on_notice(void *ctx, const char *text);
