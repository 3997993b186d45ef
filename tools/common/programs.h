/* The tools: each is a binary of its own (tools/main.c), and a command of rocline. */
#pragma once

#include "common/options.h"

extern const program convert_program, export_program, query_program, rocline_program,
    rocmerge_program, rocpd2csv_program, rocpd2otf2_program, rocpd2pftrace_program, rocrec_program,
    rocstats_program, rpt_program, rtg2json_program, view_program;
