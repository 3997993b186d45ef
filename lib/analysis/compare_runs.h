/* Tables of several runs against several runs. */
#ifndef ROCL_ANALYSIS_COMPARE_RUNS_H
#define ROCL_ANALYSIS_COMPARE_RUNS_H

#include "analysis/report.h"

extern const rocl_table_def rocl_run_list_table, rocl_runs_table;

#endif
