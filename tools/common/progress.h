/* The progress line on stderr. */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Would anybody see it? Not without a terminal, and not across data on the same terminal. */
bool progress_wanted(bool stdout_is_data);

/* A rocl_progress_fn. */
void progress_update(void *ctx, const char *phase, uint64_t done, uint64_t total);

/* Removes the line. */
void progress_end(void);

#endif
