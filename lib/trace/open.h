/* What is known of the inputs of a trace, for outputs that name them; rocline.h has the rest. */
#pragma once

#include "base/buf.h"
#include "model/trace.h"

/* "a.db, 5 x b.db, c.db and 2 more": files without their folders, which may be private. */
void rocl_put_input_names(rocl_buf *to, const rocl_trace *t);
