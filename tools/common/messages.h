/* What a tool says to its user: "PROG: text" on stderr, whole lines, from any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rocline.h"

typedef enum msg_level { MSG_QUIET, MSG_NORMAL, MSG_VERBOSE } msg_level;

/* Works before msg_init too, without a name. Colours need a terminal and no NO_COLOR. */
void msg_init(const char *program);
void msg_set_level(msg_level level);
const char *msg_program(void);

void msg_error(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* always */
/* "path: why" of a file of the user's that cannot be read, in the words of the library. */
void msg_unread(const char *path, int why);
void msg_notice(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* not with -q */
/* A notice about records that were left out or repaired. */
void msg_partial(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Only on a terminal, and not with -v, which says more. */
void msg_done(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void msg_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* with -v */
void msg_plain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));   /* always, no name */

/* While on, no messages at all: another process gives the same ones. */
void msg_mute(bool on);
bool msg_is_mute(void);
const char *msg_unsaid(void); /* the first error that was not said because of that; empty: none */

/* Also gets errors and notices, whatever the level; NULL: none. Called by the thread that gives
 * them, one at a time. */
typedef void msg_listener(bool error, rocl_status code, const char *text);
void msg_set_listener(msg_listener *fn);

/* Three digits of a number and its unit: "4.56 M". A unit for each power of 1000, then NULL. */
void msg_put_scaled(char *to, size_t size, double n, const char *const *units);

/* A line that the next message or the next one of its kind replaces; "" removes it. Only on a
 * terminal. */
void msg_status(const char *line);
