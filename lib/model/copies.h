/* Copies: which ends are on a GPU, by what profilers call them. */
#pragma once

#include <stdbool.h>

#include "base/view.h"

/* "MEMORY_COPY_HOST_TO_DEVICE", "CopyHostToDevice", "Memcpy HtoD (Host -> Device)": which ends are
 * in the memory of the GPU that copies. How many ends the name tells: 2; 1, of peers, the source;
 * 0, and nothing is set. */
unsigned rocl_copy_ends(rocl_view name, bool *src, bool *dst);
