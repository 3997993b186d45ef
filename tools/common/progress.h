/* The progress line on stderr. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/common.h"

/* Would anybody see it? Not without a terminal, and not across data that go to a terminal or a
 * pipe. */
bool progress_wanted(const common *c);

/* A rocl_progress_fn. */
void progress_update(void *ctx, const char *phase, uint64_t done, uint64_t total);

/* What progress_update() gets goes to this function, NULL: to the line again. Not while a call of
 * the library runs. */
void progress_redirect(rocl_progress_fn *fn, void *ctx);

/* Removes the line. */
void progress_end(void);
