/* RPD files of rocmProfileData: SQLite databases of calls, of operations on GPUs and of what links
 * them, of any number of processes, machines and runs. */
#pragma once

#include "source/source.h"

extern const rocl_source_ops rocl_rpd_ops;
