/* Copies: which ends are on a GPU, by what profilers call them. */
#pragma once

#include <stdbool.h>

#include "base/view.h"

/* "MEMORY_COPY_HOST_TO_DEVICE", "CopyHostToDevice", "Memcpy HtoD (Host -> Device)": which ends are
 * in the memory of the GPU that copies. False, and nothing is set, if the name does not say it. */
bool rocl_copy_ends(rocl_view name, bool *src, bool *dst);
