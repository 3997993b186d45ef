/* Answers to programs: what `rocline COMMAND --format json` prints instead of another format. It
 * includes errors, even those of the command line. */
#pragma once

#include "common/common.h"

/* Runs a command of rocline. If its command line asks for JSON, messages are collected meanwhile,
 * and an answer is printed when it is done, unless it has only printed help. Commands without an
 * option --format need not know: their answer says what they have written. */
int answer_run(const program *p, int argc, char **argv);

/* For a program that is no command of rocline, once it knows that it answers: collects messages
 * from now on. */
void answer_begin(const char *command);
/* Prints the answer, if one is wanted. Returns the exit code. */
int answer_end(int code);

/* Is an answer wanted? */
bool answer_is_wanted(void);
/* Is it an answer of the latter kind? Then standard output is not for data, and the run calls
 * answer_open() before it closes the trace. */
bool answer_lists_outputs(void);
/* An output is complete: a file, or several. */
void answer_add_output(const char *path, uint64_t files, uint64_t bytes);
/* As they were named, for the files of messages. */
void answer_set_inputs(const strings *inputs);
/* Sets the name of the command, if it is not that of its program. */
void answer_set_command(const char *command);

/* Where tables go, and in which format. */
typedef struct table_output {
    rocl_table_options table;
    unsigned budget;     /* tokens, 0: any number; see BUDGET_OPTION */
    const rocl_trace *b; /* of a comparison the other trace, for answers; may be NULL */
} table_output;

/* An option of the tool's struct, and what is wrong with it. */
#define BUDGET_OPTION(to)                                                                          \
    {                                                                                              \
        "budget", 0, OPT_NUMBER, to, "N", NULL, 1, BUDGET_MAX,                                     \
            "json, md: print at most N tokens, counted as 4 bytes each; rows beyond that "         \
            "are counted and summed up in the last one of their table"                             \
    }
enum { BUDGET_MAX = 100000000 };
int budget_check(const table_output *o);
/* The part of it for rows, without the end of the envelope; 0: no budget. */
size_t budget_bytes(unsigned budget);

/* Where the tables of a command go: by its --format (NULL: text), --output-file and --budget.
 * Returns -1, or the exit code of a usage error. */
int tables_prepare(common *c, const char *format_name, table_output *o);
/* Writes the tables: as an answer with a description of the trace (may be NULL), or alone. */
rocl_status tables_write(const table_output *o, const rocl_trace *t, rocl_tables *tables,
                         rocl_error *err);
/* For commands that write their data themselves: opens the answer, with the trace in it, at this
 * path ("-": standard output). It is closed by answer_run(). */
rocl_status answer_open(const char *path, const rocl_trace *t, unsigned budget,
                        rocl_answer **answer, rocl_error *err);
