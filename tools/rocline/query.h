/* What rocline query and its shell share. */
#pragma once

#include "common/common.h"

typedef struct query_cli {
    common common;
    strings operands; /* SQL and inputs */
    strings queries, scripts, commands, parameters;
    unsigned format; /* of QUERY_FORMATS */
    unsigned timeout, budget;
    size_t heap;
    rocl_trace *trace;
    bool attach;
    bool shell;
    const char *path;
    rocl_query *query;
    bool as_amd; /* rocpd query: formats and names of files are those of AMD's command */
    unsigned amd_format;
} query_cli;

/* The first ones are rocl_rows_formats, the others their names elsewhere. */
#define QUERY_FORMATS ROCL_ROWS_FORMAT_NAMES "|console|text|markdown|jsonlines"
extern const unsigned char query_format_of[];

/* Runs statements in the format and to the path of `c`. Reports failures. */
rocl_status query_run(query_cli *c, const char *sql);
/* All of a file, or of standard input, to be freed; NULL, and said: it cannot be read. */
char *query_read_text(const char *path);

rocl_status shell_run(query_cli *c);
/* A command of the shell, which begins with a dot. False: it ends the shell. */
bool shell_run_command(query_cli *c, const char *line);
