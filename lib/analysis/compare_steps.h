/* The steps of two sides of a comparison, one by one. */
#pragma once

#include "analysis/side_steps.h"

extern const rocl_table_def rocl_compare_steps_table;

/* Adds the table, if A has steps and B has the same ones. */
rocl_status rocl_compare_steps_put(const rocl_side_steps *a, const rocl_side_steps *b,
                                   rocl_tables *out, const rocl_collector *c, rocl_error *err);
