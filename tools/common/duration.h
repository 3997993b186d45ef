/* Durations on the command line. */
#ifndef TOOLS_DURATION_H
#define TOOLS_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* "5000" (ns), "5us", "1.5ms": what --min-duration takes, with the same units, rounded down to
 * nanoseconds. false: it is none, or more than 2^63 - 1 ns. */
bool parse_duration(const char *text, int64_t *ns);

#endif
