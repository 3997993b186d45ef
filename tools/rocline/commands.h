/* Commands of rocline that are not separate tools. */
#pragma once

#include "common/options.h"

extern const program show_program, correlate_program; /* event.c */
extern const program info_program, check_program;     /* info.c */
extern const program schema_program, recipes_program; /* schema.c */
extern const program rocpd_program;                   /* main.c */
extern const program rocpd_summary_program;           /* rocpd.c */
extern const program rocpd_query_program;             /* query.c */
