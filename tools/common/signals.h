/* What signals do to a tool. */
#pragma once

/* Before the first thread is made. A pipe without a reader and a file that may not grow are errors
 * of writing; SIGINT, SIGTERM and SIGHUP end the program, but what it has not completed is removed
 * first. */
void signals_prepare(void);

/* What is done before that, by a thread of its own: restoring the terminal. NULL: nothing. */
void signals_before_end(void (*fn)(void));
