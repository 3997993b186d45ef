/* Text from files on its way to a terminal; rocl_hide_controls() is declared in status.h. */
#ifndef ROCL_BASE_CLEAN_H
#define ROCL_BASE_CLEAN_H

#include "base/status.h"

/* How many bytes at the end are the begin of a character that may go on: 0 to 3. */
size_t rocl_begun_character(const char *text, size_t n);

#endif
