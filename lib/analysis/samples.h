/* What the tables of the report "samples" share (samples.c, energy.c). */
#pragma once

#include "analysis/report.h"

extern const rocl_table_def rocl_energy_table, rocl_kernel_energy_table; /* energy.c */

/* The watts of a unit of power: 1e-3 for "mW", ignoring case. 0: not a unit of power. */
double rocl_watts_of_unit(const char *unit);

/* No value where a number is infinite or none. */
static inline rocl_datum rocl_datum_if_finite(double v)
{
    return __builtin_isfinite(v) ? rocl_datum_real(v) : (rocl_datum){0};
}
