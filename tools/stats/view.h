/* rocstats view: a trace to look at. */
#ifndef TOOLS_VIEW_H
#define TOOLS_VIEW_H

#include "common/common.h"

typedef struct browse_options {
    bool group_by_queue;
} browse_options;

/* Is there a terminal? Else says what is missing, and returns the exit code; -1: there is. */
int browse_check(void);
/* Shows a trace on the terminal until the user leaves. Sets c->reported where it has said itself
 * what was left out. */
rocl_status browse(rocl_trace *t, common *c, const browse_options *o, rocl_error *err);

#endif
