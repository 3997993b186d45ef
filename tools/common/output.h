/* Where outputs go, by AMD's rules and ours. */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include "common/common.h"

/* -o NAME or its default. */
const char *output_name(const common *c);

/* The folder, with its placeholders filled in: -d, or its default. Static storage. NULL when
 * it is too long. */
const char *output_folder(const common *c);

/* Makes a folder and its parents; complains and returns ROCL_OUTPUT when it cannot. */
rocl_status output_make_folder(const char *path);

bool ends_with(const char *text, const char *end);

#endif
