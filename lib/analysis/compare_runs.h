/* Tables of several runs against several runs. */
#pragma once

#include "analysis/report.h"

extern const rocl_table_def rocl_run_list_table, rocl_runs_table;
