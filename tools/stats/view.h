/* rocstats view: a trace to look at. */
#pragma once

#include "common/common.h"

typedef struct browse_options {
    bool group_by_queue;
} browse_options;

/* -1: there is a terminal. Else reports what is missing, and returns the exit code. */
int browse_check(void);
/* Shows a trace on the terminal until the user leaves. Sets c->reported if it has itself reported
 * what was left out. */
rocl_status browse(rocl_trace *t, common *c, const browse_options *o, rocl_error *err);
